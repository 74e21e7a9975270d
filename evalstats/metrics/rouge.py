"""ROUGE (Lin, 2004) with the numbers of the package rouge_score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import choice, flag
from evalstats.errors import InputError
from evalstats.metrics.base import Floats, keep, signature_of
from evalstats.metrics.ratios import Quotient, ratio
from evalstats.text.ids import Vocabulary, learn_ids, look_up_ids, shared_ids
from evalstats.text.levenshtein import common_lengths, summary_hits
from evalstats.text.ngrams import clipped_matches, shared_ngrams
from evalstats.text.ragged import Index, Lines, Ragged, offsets_of
from evalstats.text.references import References, as_pairs
from evalstats.text.tokenization import LANGUAGES, Tokens, alphanumeric_blocks, letter_counts

#: Orders of n-grams, and two variants with subsequences.
VARIANTS = (*map(str, range(1, 10)), "L", "Lsum")
MEASURES = ("fmeasure", "precision", "recall")

#: The least share of letters that must be in tokens.
_LEAST_READ = 0.5


@dataclass(frozen=True)
class ROUGE(Quotient):
    r"""ROUGE-1 to -9, ROUGE-L or ROUGE-Lsum, 0 to 1: the mean of the scores of all segments.

    .. math:: F = \frac{2 P R}{P + R}, \qquad P = \frac{\mathrm{hits}}{h}, \qquad
              R = \frac{\mathrm{hits}}{r}

    with h and r the numbers of n-grams of output and reference, and hits the clipped number of
    n-grams that both share. For ``"L"`` and ``"Lsum"``, h and r are numbers of tokens; hits are the
    length of a longest common subsequence (``"L"``), or, with sentences as lines, of the union of
    the longest common subsequences of each reference line with all output lines (``"Lsum"``) (Lin,
    2004). Numbers are the same as in rouge_score: tokens are runs of ASCII letters and digits in
    lower case, and if there are several references, the reference with the best F is used.

    Parameters
    ----------
    variant : str or int
        ``"1"`` to ``"9"``, ``"L"`` or ``"Lsum"``.
    stemmer : bool
        Whether to replace words of more than three characters by Porter's stems (1980, with NLTK's
        extensions); for English only.
    measure : {"fmeasure", "precision", "recall"}
        What is averaged.

    Raises
    ------
    InputError
        For another variant or measure.

    Notes
    -----
    Texts without ASCII letters and digits have no tokens and score 0. For Chinese or Russian,
    compute ROUGE with another tokeniser and pass the scores to `Mean`.

    Examples
    --------
    >>> rouge = ROUGE("L")
    >>> rows = rouge.statistics(["the cat sat on a mat"], ["the cat is on the mat"])
    >>> print(rouge.score(rows.sum(axis=0)).round(4))
    0.6667
    """

    variant: str = field(default="L", metadata={"by_name": True})
    stemmer: bool = False
    measure: str = field(default="fmeasure", metadata={"choices": MEASURES})

    columns = ("sum", "count")
    bounds: ClassVar[tuple[float, float]] = 0.0, 1.0
    reads_text: ClassVar[bool] = True
    unsigned = "ROUGE is not"

    def __post_init__(self) -> None:
        variant: object = self.variant
        # True is an int, but not an order.
        if isinstance(variant, (int, np.integer)) and not isinstance(variant, bool):
            variant = str(variant)
        if variant not in VARIANTS:
            raise InputError(
                f"must be one of {', '.join(VARIANTS)}, got {self.variant!r}", argument="variant"
            )
        measure = choice(self.measure, MEASURES, "measure")
        kind = "" if measure == "fmeasure" else f" {measure}"
        keep(
            self,
            variant=variant,
            stemmer=flag(self.stemmer, "stemmer"),
            measure=measure,
            name=f"ROUGE-{variant}{kind}",
        )

    @property
    def signature(self) -> str:
        """The variant, whether words are stemmed, and what is averaged."""
        return signature_of(rouge=self.variant, stem=self.stemmer, score=self.measure)

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`, score and 1, of N outputs, each against its best reference."""
        texts, refs = as_pairs(hypotheses, references)
        how = (alphanumeric_blocks, self.stemmer)
        # Hits, and the sizes of output and reference, for each of the R references.
        if self.variant == "Lsum":
            hyp_lines, ref_lines = _shared_lines(refs, texts, self.stemmer)
            pairs = hyp_lines.take(refs.owner)
            hits = summary_hits(pairs, ref_lines)
            sizes = [pairs.texts.lengths, ref_lines.texts.lengths]
        elif self.variant == "L":
            hyps, ids = shared_ids(refs, texts, *how)
            hyps = hyps.take(refs.owner)
            hits, sizes = common_lengths(hyps, ids), [hyps.lengths, ids.lengths]
        else:
            order = int(self.variant)
            hyps, prepared = shared_ngrams(refs, texts, order, False, *how)
            hits = clipped_matches(hyps, prepared)[:, -1]
            lengths = hyps.lengths[refs.owner], prepared.references.lengths
            sizes = [np.maximum(length - order + 1, 0) for length in lengths]
        precision, recall = (hits / np.maximum(size, 1) for size in sizes)
        # In the order of operations of rouge_score, to the last bit: it determines the best
        # reference.
        best = ratio(2 * precision * recall, precision + recall, 0.0)
        # By segment, then by falling F; the sort is stable.
        chosen = np.lexsort((-best, refs.owner))[refs.first]
        scores = {"fmeasure": best, "precision": precision, "recall": recall}[self.measure]
        return np.stack([scores[chosen], np.ones(len(chosen))], axis=-1)

    def unsuited(self, language: str) -> str:
        """Return that the language's script has few tokens, and what to use, or ""."""
        if language not in LANGUAGES:
            return ""
        kinds = "ASCII letters and digits"
        return f"its tokens are {kinds}, and {LANGUAGES[language]} has few. Use chrF (-m chrf)"

    def unread(self, texts: Sequence[str]) -> str:
        """Return that most letters of the texts are not in tokens, and what to use, or ""."""
        n_letters, n_ascii, _ = letter_counts(texts)
        if n_letters == n_ascii or n_ascii > _LEAST_READ * n_letters:
            return ""
        share = 1 - n_ascii / n_letters
        return (
            f"its tokens are ASCII letters and digits, so {share:.0%} of the letters of the "
            "references do not count. Use chrF (-m chrf)"
        )

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse negative values, and a mean above 1."""
        super().check_statistics(statistics)
        more = statistics[..., 0] > statistics[..., 1] * (1 + 1e-9)
        self._refuse(more, "has a score above 1")


def _shared_lines(refs: References, texts: Sequence[str], stemmer: bool) -> tuple[Lines, Lines]:
    """Return the token ids of N hypotheses and of all R references, line by line."""

    def learn(refs: References) -> tuple[Lines, Vocabulary]:
        blocks, edges = _by_line(refs.texts, stemmer)
        ids, vocabulary = learn_ids(blocks)
        return _lines(ids, edges), vocabulary

    lines, vocabulary = refs.prepared(("lines", alphanumeric_blocks, stemmer), learn)
    blocks, edges = _by_line(texts, stemmer)
    return _lines(look_up_ids(blocks, vocabulary), edges), lines


def _by_line(texts: Sequence[str], stemmer: bool) -> tuple[Iterator[Tokens], Index]:
    """Return the tokens of the lines of n texts in blocks, and where each text starts, (n + 1,)."""
    lines = [text.split("\n") for text in texts]
    edges = offsets_of(np.fromiter(map(len, lines), dtype=np.int64, count=len(lines)))
    return alphanumeric_blocks(list(chain.from_iterable(lines)), stemmer), edges


def _lines(ids: Ragged, edges: Index) -> Lines:
    """Return the lines, with tokens, of n texts that start at `edges`."""
    kept = ids.lengths > 0
    lines = Ragged(ids.values, offsets_of(ids.lengths[kept]))
    return Lines(lines, offsets_of(kept)[edges])
