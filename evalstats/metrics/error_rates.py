"""Word and character error rates: Levenshtein (1966) edits per word or character of reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import check_same_length, flag
from evalstats.metrics.base import Floats, keep, signature_of
from evalstats.metrics.ratios import Quotient
from evalstats.text.ids import (
    edit_table,
    is_plain,
    matches,
    shared_ids,
    shared_numbers,
    token_segments,
)
from evalstats.text.levenshtein import levenshtein
from evalstats.text.ragged import Ragged
from evalstats.text.references import References, as_pairs
from evalstats.text.tokenization import character_blocks


class ErrorRate(Quotient):
    """Edits per reference token, in percent; the base of `WER`, `CER` and `TER`.

    Text against empty references scores 100, nothing against nothing 0 (sacreBLEU).
    """

    columns = ("edits", "ref_len")
    scale = 100.0
    higher_is_better = False
    reads_text = True
    counts = True

    def _empty(self, top: Floats) -> ArrayLike:
        return np.where(top > 0, self.scale, 0.0)


@dataclass(frozen=True)
class WER(ErrorRate):
    r"""Word error rate of the corpus: edits of all segments per word of all references.

    .. math:: 100 \cdot \sum \mathrm{edits} \,/\, \sum \mathrm{ref\_len}

    Words are what `str.split` gives; an edit inserts, deletes or replaces one (Levenshtein, 1966).
    Above 100 is possible. Of several references the one that needs the fewest edits counts, the
    shorter one on a tie.

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
    #: How texts are split, as sacreBLEU's signatures say it.
    tokens: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        keep(self, lowercase=flag(self.lowercase, "lowercase"))

    @property
    def signature(self) -> str:
        """Identity in the form of sacreBLEU's signatures."""
        return signature_of(case="lc" if self.lowercase else "mixed", tok=self.tokens)

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.int64]:
        """Return `(N, 2)`: edits, and tokens of the reference that needs the fewest edits."""
        texts, refs = as_pairs(hypotheses, references)
        hyps, ids = self._ids(texts, refs)
        edits = levenshtein(hyps, ids)
        # Ordered by edits, then by length: lengths are below 2**31.
        best = np.minimum.reduceat(edits << 32 | ids.lengths, refs.first)
        return np.stack([best >> 32, best & 0xFFFFFFFF], axis=1)

    def _ids(self, texts: list[str], refs: References) -> tuple[Ragged, Ragged]:
        """Return the tokens of every reference's hypothesis, and of the reference."""
        hyps = (texts[segment] for segment in refs.owner.tolist())
        hyp_words, ref_words = (
            (text.lower().split() if self.lowercase else text.split() for text in side)
            for side in (hyps, refs.texts)
        )
        return shared_numbers(hyp_words, ref_words)


@dataclass(frozen=True)
class CER(WER):
    r"""Character error rate of the corpus: edits of all segments per character of all references.

    As `WER`, with Unicode code points for words: ``é`` may be one or two, and whitespace counts.

    Examples
    --------
    >>> cer = CER()
    >>> cer.statistics(["kitten"], ["sitting"]).tolist()
    [[3, 7]]
    """

    name = "CER"
    tokens = "char"

    def _ids(self, texts: list[str], refs: References) -> tuple[Ragged, Ragged]:
        hyps, ids = shared_ids(refs, texts, character_blocks, self.lowercase, True)
        return hyps.take(refs.owner), ids


def token_edits(
    hypotheses: Iterable[Iterable[Any]], references: Iterable[Iterable[Any]]
) -> NDArray[np.int64]:
    """Return edits and reference length of every segment, `(N, 2)`: the statistics of a rate.

    Edits are the fewest insertions, deletions and substitutions of tokens (Levenshtein, 1966).
    With `Ratio` they give an error rate over tokens of any kind, in `estimate` and `compare` too.

    Parameters
    ----------
    hypotheses, references : iterable of iterables
        One sequence of tokens per segment, of any type, compared by ``==``. Bare strings raise an
        `InputError`.

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
        rows[:, 0] = levenshtein(*shared_numbers(hyps, refs))
    else:
        pairs = zip(hyps, refs, strict=True)
        rows[:, 0] = [edit_table(matches(hyp, ref))[-1, -1] for hyp, ref in pairs]
    return rows
