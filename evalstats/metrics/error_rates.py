"""Error rates, edits per reference word or character: WER and CER (Levenshtein, 1966) and TER.

TER (Snover et al., 2006) counts as sacreBLEU's Tercom implementation does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import check_same_length, flag
from evalstats.errors import Argument, InputError
from evalstats.metrics.base import Floats, keep, signature_of
from evalstats.metrics.ratios import Quotient
from evalstats.text.ids import (
    edit_table,
    is_plain,
    learn_ids,
    look_up_ids,
    matches,
    shared_ids,
    token_segments,
)
from evalstats.text.levenshtein import levenshtein
from evalstats.text.references import as_pairs
from evalstats.text.tercom import translation_edits
from evalstats.text.tokenization import (
    UNSPACED,
    Tokens,
    character_blocks,
    from_lists,
    sacrebleu_version,
    tercom_tokens,
    tokenize_blocks,
    unsplit,
)


class ErrorRate(Quotient):
    """Edits per reference token, in percent; the base of `WER`, `CER` and `TER`.

    Text against empty references scores 100; an empty output against empty references scores 0
    (sacreBLEU).
    """

    columns = ("edits", "ref_len")
    scale = 100.0
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    empty_score: ClassVar[float | None] = 100.0
    higher_is_better = False
    reads_text = True
    counts = True
    #: Whether tokens are characters, at least in languages without spaces between words.
    splits_characters = False

    def score(self, totals: ArrayLike) -> Floats:
        """Return edits per token in percent, `(..., 2) -> (...)`."""
        edits, length = self._sums(totals)
        return np.where((length == 0) & (edits > 0), 100.0, super().score(totals))

    def unread(self, texts: Sequence[str]) -> str:
        """Return that spaces do not split these texts, and what to use, or ""."""
        if self.splits_characters or "".join(texts).isascii():
            return ""
        why = unsplit(texts, sum(len(text.split()) for text in texts))
        return why and f"{why}. Use CER (-m cer)"


@dataclass(frozen=True)
class WER(ErrorRate):
    r"""Word error rate of the corpus: edits of all segments per word of all references.

    .. math:: 100 \cdot \sum \mathrm{edits} \,/\, \sum \mathrm{ref\_len}

    `str.split` gives the words, and an edit inserts, deletes or replaces a word (Levenshtein,
    1966). Lower is better, from 0 to above 100. If there are several references, the reference that
    needs the fewest edits is used, and the shorter one on a tie.

    Parameters
    ----------
    lowercase : bool
        Lowercase first.

    Examples
    --------
    >>> wer = WER()
    >>> rows = wer.statistics(["the cat sat", ""], ["a cat sat", "no one"])
    >>> rows.tolist()
    [[1, 3], [2, 2]]
    >>> print(wer.score(rows.sum(axis=0)))
    60.0
    """

    lowercase: bool = False

    name = "WER"
    #: How texts are split, in the words of sacreBLEU's signatures.
    tokens: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        keep(self, lowercase=flag(self.lowercase, "lowercase"))

    @property
    def signature(self) -> str:
        """Identity in the form of sacreBLEU's signatures."""
        return signature_of(case="lc" if self.lowercase else "mixed", tok=self.tokens)

    def unsuited(self, language: str) -> str:
        """Return that CER counts characters, for languages without spaces, or ""."""
        if self.splits_characters or language not in UNSPACED:
            return ""
        return f"{UNSPACED[language]} has no spaces between words. Use CER (-m cer)"

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.int64]:
        """Return `(N, 2)`: edits, and tokens of the reference that needs the fewest edits."""
        texts, refs = as_pairs(hypotheses, references)
        if self.splits_characters:
            hyps, ids = shared_ids(refs, texts, _characters, self.lowercase)
        else:
            hyps, ids = shared_ids(refs, texts, tokenize_blocks, self.tokens, self.lowercase)
        edits = levenshtein(hyps.take(refs.owner), ids)
        # Ordered by edits, then by length: lengths are below 2**31.
        best = np.minimum.reduceat(edits << 32 | ids.lengths, refs.first)
        return np.stack([best >> 32, best & 0xFFFFFFFF], axis=1)


def _characters(texts: Sequence[str], lowercase: bool) -> Iterable[Tokens]:
    """Split texts into characters, including whitespace but not trailing line ends."""
    return character_blocks([text.rstrip("\r\n") for text in texts], lowercase, True)


@dataclass(frozen=True)
class CER(WER):
    r"""Character error rate of the corpus: edits of all segments per character of all references.

    Like `WER`, with Unicode code points instead of words: ``é`` may be one or two. Whitespace
    counts, except line ends at the end of a text. Lower is better, from 0 to above 100.

    Parameters
    ----------
    lowercase : bool
        Lowercase first.

    Examples
    --------
    >>> cer = CER()
    >>> cer.statistics(["kitten"], ["sitting"]).tolist()
    [[3, 7]]
    """

    name = "CER"
    tokens = "char"
    splits_characters = True


@dataclass(frozen=True)
class TER(ErrorRate):
    r"""Translation edit rate: edits, shifts of whole phrases included, per reference word.

    .. math:: 100 \cdot \sum \mathrm{edits} \,/\, \sum \mathrm{ref\_len}

    with the edits to the reference that needs the fewest, and the average length of the references
    (Snover, Dorr, Schwartz, Micciulla and Makhoul, 2006). Lower is better, from 0 to above 100.
    Parameters, defaults and numbers are sacreBLEU's (Post, 2018).

    Parameters
    ----------
    normalized : bool
        Tokenise punctuation and undo XML entities.
    no_punct : bool
        Remove punctuation.
    asian_support : bool
        With `normalized`, split CJK text into characters; with `no_punct`, remove its punctuation.
        Without either it has no effect, and an `InputError` is raised.
    case_sensitive : bool
        Keep case; by default everything is lowercased.

    Examples
    --------
    >>> ter = TER()
    >>> rows = ter.statistics(["on the mat sat the cat"], ["the cat sat on the mat"])
    >>> rows.tolist()
    [[2.0, 6.0]]
    >>> print(ter.score(rows.sum(axis=0)).round(2))
    33.33
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    name = "TER"
    #: The average length of several references may be a fraction.
    whole: ClassVar[slice] = slice(0, 1)

    def __post_init__(self) -> None:
        for name in ("normalized", "no_punct", "asian_support", "case_sensitive"):
            keep(self, **{name: flag(getattr(self, name), name)})
        if self.asian_support and not (self.normalized or self.no_punct):
            raise InputError(
                "has no effect without ",
                Argument("normalized"),
                " or ",
                Argument("no_punct"),
                argument="asian_support",
            )
        keep(self, splits_characters=self.normalized and self.asian_support)

    @property
    def signature(self) -> str:
        """Identity in the form of sacreBLEU's signatures."""
        return signature_of(
            case="mixed" if self.case_sensitive else "lc",
            tok="tercom",
            norm=self.normalized,
            punct=not self.no_punct,
            asian=self.asian_support,
            sacrebleu=sacrebleu_version(),
        )

    def unsuited(self, language: str) -> str:
        """Return how to count characters in languages without spaces, or ""."""
        is_split = self.splits_characters and language != "th"
        if is_split or language not in UNSPACED:
            return ""
        how = "Pass normalized and asian_support (--ter-normalized --ter-asian-support)"
        how = "Use CER (-m cer)" if language == "th" else how
        return f"{UNSPACED[language]} has no spaces between words. {how}"

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`: edits, and the average reference length, which may be a fraction."""
        texts, refs = as_pairs(hypotheses, references)
        if self.normalized or self.no_punct:
            options = (self.normalized, self.no_punct, self.asian_support, self.case_sensitive)
            # sacreBLEU tokenises references twice, which can differ from once ("Squire's," becomes
            # three tokens, then four).
            ids, vocabulary = refs.prepared(
                ("tercom", *options),
                lambda refs: learn_ids([tercom_tokens(refs.texts, *options, twice=True)]),
            )
            hyps = look_up_ids([tercom_tokens(texts, *options)], vocabulary)
        else:
            # The tokeniser only lowercases and splits at whitespace.
            hyps, ids = shared_ids(refs, texts, tokenize_blocks, "none", not self.case_sensitive)
        edits = translation_edits(hyps.take(refs.owner), ids)
        fewest = np.minimum.reduceat(edits, refs.first)
        lengths = np.add.reduceat(ids.lengths, refs.first) / refs.counts
        return np.stack([fewest, lengths], axis=1)


def token_edits(
    hypotheses: Iterable[Iterable[Any]], references: Iterable[Iterable[Any]]
) -> NDArray[np.int64]:
    """Return edits and reference length of every segment, `(N, 2)`: the statistics of a rate.

    Edits are the fewest insertions, deletions and substitutions of tokens (Levenshtein, 1966).
    With `Ratio` they give an error rate over tokens of any kind, in `estimate` and `compare` too.

    Parameters
    ----------
    hypotheses, references : iterable of iterables
        One sequence of tokens per segment, of any type, compared by ``==``.

    Returns
    -------
    ndarray of int64, shape (N, 2)
        Edits, and tokens of the reference.

    Raises
    ------
    InputError
        For strings instead of sequences of tokens.

    Examples
    --------
    >>> rows = token_edits([["h", "ə", "l", "əʊ"]], [["h", "ɛ", "l", "əʊ"]])
    >>> rows.tolist()
    [[1, 4]]
    """
    hyps, refs = token_segments(hypotheses, "hypotheses"), token_segments(references, "references")
    check_same_length(references=refs, hypotheses=hyps)
    rows = np.zeros((len(refs), 2), dtype=np.int64)
    rows[:, 1] = [len(tokens) for tokens in refs]
    if all(map(is_plain, hyps + refs)):
        ids, vocabulary = learn_ids([from_lists(refs)])
        rows[:, 0] = levenshtein(look_up_ids([from_lists(hyps)], vocabulary), ids)
    else:
        pairs = zip(hyps, refs, strict=True)
        rows[:, 0] = [edit_table(matches(hyp, ref))[-1, -1] for hyp, ref in pairs]
    return rows
