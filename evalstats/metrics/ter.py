"""TER (Snover et al., 2006), the counts of sacreBLEU's Tercom implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.metrics import _sacrebleu
from evalstats.metrics.averages import ratio, ratio_gradient
from evalstats.metrics.base import Metric, flag
from evalstats.metrics.texts import as_references, as_texts


@dataclass(frozen=True)
class TER(Metric):
    r"""Translation edit rate: edits, shifts of whole phrases included, per reference word.

    .. math:: 100 \cdot \sum \mathrm{edits} \,/\, \sum \mathrm{ref\_len}

    with the edits against the reference that needs fewest and the average length of the references
    (Snover, Dorr, Schwartz, Micciulla and Makhoul, 2006). Lower is better; above 100 is possible.
    Parameters, defaults and numbers are sacreBLEU's (Post, 2018).

    Parameters
    ----------
    normalized : bool
        Tokenise punctuation and undo XML entities.
    no_punct : bool
        Remove punctuation.
    asian_support : bool
        With `normalized`, split CJK text into characters; with `no_punct`, remove its punctuation.
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
    columns = ("edits", "ref_len")
    higher_is_better = False

    def __post_init__(self) -> None:
        for name in ("normalized", "no_punct", "asian_support", "case_sensitive"):
            flag(getattr(self, name), name)

    @property
    def signature(self) -> str:
        """Identity in the form of sacreBLEU's signatures."""
        return "|".join(
            (
                f"case:{'mixed' if self.case_sensitive else 'lc'}",
                "tok:tercom",
                f"norm:{'yes' if self.normalized else 'no'}",
                f"punct:{'no' if self.no_punct else 'yes'}",
                f"asian:{'yes' if self.asian_support else 'no'}",
                f"sacrebleu:{_sacrebleu.version()}",
            )
        )

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.float64]:
        """Return `(N, 2)`: edits, and the average reference length, which may be a fraction.

        Parameters
        ----------
        hypotheses : sequence of str
            N outputs.
        references
            One entry per segment: a string, a list of strings with `None` for an absent one, or
            a `References`.

        Returns
        -------
        ndarray of float64, shape (N, 2)

        Raises
        ------
        InputError
            For empty input, differing lengths, a segment without reference.
        """
        texts = as_texts(hypotheses)
        refs = as_references(references, len(texts))
        scorer = _sacrebleu.scorer(
            "TER",
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )
        rows = _sacrebleu.corpus_statistics(scorer, texts, refs)
        return _sacrebleu.as_array(rows, 2, np.float64)

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Score summed statistics, `(..., 2) -> (...)`; lower is better.

        Text against empty references scores 100, nothing against nothing 0 (sacreBLEU).
        """
        sums = np.asarray(totals, dtype=np.float64)
        empty = np.where(sums[..., 0] > 0, 1.0, 0.0)
        return 100.0 * ratio(sums[..., 0], sums[..., 1], empty)

    def gradient(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the gradient of the score, `(..., 2) -> (..., 2)`; 0 for empty references."""
        sums = np.asarray(totals, dtype=np.float64)
        return np.stack(ratio_gradient(sums[..., 0], sums[..., 1], 100.0), axis=-1)
