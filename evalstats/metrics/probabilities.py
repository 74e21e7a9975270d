"""How well probabilities fit outcomes: Brier score, calibration error, perplexity.

`Perplexity` and `BitsPerUnit` take rows as harnesses log them: the log-likelihood of a text and its
number of words, bytes or tokens. Texts are resampled, because tokens of a text are dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_numbers, as_scores, check_same_index, choice, flag, integer
from evalstats.errors import InputError
from evalstats.metrics.base import Floats, Metric, keep, signature_of
from evalstats.metrics.confusion import Label, as_labels, checked_pair, codes_of
from evalstats.metrics.ratios import Quotient, ratio, ratio_gradient

#: Tolerance for sums of probabilities to 1, for printed and float16 numbers.
_TOLERANCE = 1e-3
#: The most bins allowed; most bins would be empty.
_MOST_BINS = 10_000
#: The units of a text; an "item" counts once, whatever its length.
UNITS = ("word", "byte", "character", "token", "item")


def _probabilities(values: object, name: str, n_columns: int | None = None) -> Floats:
    """Return probabilities `(N,)` or `(N, n_columns)`; others raise an `InputError`."""
    rows = as_scores(values, name) if n_columns is None else as_numbers(values, name, n_columns)
    for place in np.argwhere((rows < 0) | (rows > 1))[:1].tolist():
        raise InputError(
            f"{name}{place} is {rows[tuple(place)]:g}, but a probability must be between 0 and "
            "1. Divide percentages by 100, or apply a sigmoid or softmax to logits."
        )
    return rows


@dataclass(frozen=True)
class Brier(Quotient):
    r"""Brier score (1950): mean squared distance of probabilities from outcomes.

    For two outcomes, :math:`\frac1N \sum_i (p_i - y_i)^2` in [0, 1], with the probability of 1. For
    K classes, :math:`\frac1N \sum_i \sum_k (p_{ik} - y_{ik})^2` in [0, 2], as in Brier's paper and
    in lm-evaluation-harness (``brier_score``); for two classes it is twice the first.

    Parameters
    ----------
    labels : sequence of str or int, optional
        The K classes, at least 2, in the order of the columns of the probabilities, for example
        ``range(K)``; by default there are two outcomes, 0 and 1.

    Raises
    ------
    InputError
        For fewer than 2 labels; `statistics` raises it for unknown labels and for numbers that are
        not probabilities.

    Examples
    --------
    >>> brier = Brier()
    >>> print(brier.score(brier.statistics([0.9, 0.2], [1, 0]).sum(axis=0)).round(4))
    0.025
    """

    labels: tuple[Label, ...] | None = None

    name = "Brier score"
    columns = ("squared distance", "count")
    unsigned = "squares are not"
    higher_is_better = False

    def __post_init__(self) -> None:
        if self.labels is not None:
            keep(self, labels=as_labels(self.labels), entry_depth=1)

    @property
    def signature(self) -> str:
        """The number of classes."""
        return signature_of(
            brier="binary" if self.labels is None else f"{len(self.labels)} classes"
        )

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`, squared distance and 1.

        Takes N probabilities of outcome 1 and N outcomes, 0 or 1; or `(N, K)` probabilities of the
        classes, in rows that sum to 1, and N labels.
        """
        if self.labels is None:
            hypotheses, gold = checked_pair(hypotheses, references, "outcomes, 0 or 1")
            happened = codes_of(gold, (0, 1), "references").astype(np.float64)
            squared = (_probabilities(hypotheses, "hypotheses") - happened) ** 2
        else:
            check_same_index({"hypotheses": hypotheses, "references": references})
            forecasts = _probabilities(hypotheses, "hypotheses", len(self.labels))
            _, gold = checked_pair(forecasts, references, "gold labels")
            codes = codes_of(gold, self.labels, "references")
            sums = np.sum(forecasts, axis=1)
            for i in np.flatnonzero(np.abs(sums - 1) > _TOLERANCE)[:1]:
                raise InputError(
                    f"hypotheses[{i}] sums to {sums[i]:.6g}, but the probabilities of all "
                    "classes must sum to 1; divide each row by its sum, or pass all classes"
                )
            squared = np.sum((forecasts - np.eye(len(self.labels))[codes]) ** 2, axis=1)
        return np.stack([squared, np.ones_like(squared)], axis=-1)


@dataclass(frozen=True)
class ECE(Metric):
    r"""Expected calibration error: how far confidence and accuracy are apart, bin by bin.

    .. math:: \sum_b \frac{n_b}{N} \left| \frac{\text{correct}_b}{n_b}
              - \frac{\text{confidence}_b}{n_b} \right|

    with bins of equal width (Naeini et al., 2015; Guo et al., 2017). Only the first bin includes
    its lower edge. Rows are (confidence, correct) pairs; for an event, its probability and whether
    it happened.

    Absolute values do not cancel: a calibrated system scores above 0, by about
    :math:`\sqrt{\text{bins} / N}` / 3, and resamples score higher still. The Brier score, a mean,
    does not have this bias.

    Parameters
    ----------
    bins : int
        Number of bins, from 1 to 10,000.

    Raises
    ------
    InputError
        For another number of bins; `statistics` raises it for confidences outside [0, 1] and
        answers other than 0 and 1.

    Examples
    --------
    >>> ece = ECE(bins=2)
    >>> rows = ece.statistics([(0.9, 1), (0.8, 0), (0.3, 0), (0.4, 1)])
    >>> print(ece.score(rows.sum(axis=0)).round(4))
    0.25
    """

    bins: int = 15

    name = "ECE"
    higher_is_better = False
    uses_references: ClassVar[bool] = False
    reads_text: ClassVar[bool] = False
    scores_units: ClassVar[bool] = False
    entry_depth = 1

    def __post_init__(self) -> None:
        bins, parts = integer(self.bins, "bins", 1, _MOST_BINS), ("count", "confidence", "correct")
        keep(self, bins=bins, columns=tuple(f"{p} {b}" for b in range(bins) for p in parts))

    @property
    def signature(self) -> str:
        """The number of bins."""
        return signature_of(ece="width", bins=self.bins)

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 3 bins)`: 1, confidence and correct in the item's bin, 0 in the others.

        Rows `(N, 2)` contain the confidence in [0, 1] and whether the answer is right, 1 or 0.
        """
        pairs = _probabilities(hypotheses, "hypotheses", 2)
        for i in np.flatnonzero((pairs[:, 1] != 0) & (pairs[:, 1] != 1))[:1]:
            raise InputError(
                f"hypotheses[{i}] has correct={pairs[i, 1]:g}, but every row must be "
                "(confidence, correct), where correct is 1 for a right answer and 0 for a wrong "
                "one"
            )
        edges = np.linspace(0, 1, self.bins + 1)[1:-1]
        sums = np.zeros((len(pairs), self.bins, 3))
        place = np.searchsorted(edges, pairs[:, 0])
        sums[np.arange(len(pairs)), place] = np.insert(pairs, 0, 1, axis=1)
        return sums.reshape(len(pairs), -1)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse negative values, and more confidence or right answers than items."""
        self._refuse(statistics < 0, "is negative, but items are counted")
        bins = statistics.reshape(*statistics.shape[:-1], -1, 3)
        more = np.any(bins[..., 1:] > bins[..., :1], axis=(-2, -1))
        self._refuse(more, "has a sum in a bin that exceeds its number of items")

    def _gaps(self, totals: ArrayLike) -> tuple[Floats, Floats]:
        """Return confidence minus right answers per bin `(..., bins)`, and the items `(...)`."""
        sums = np.ascontiguousarray(totals, dtype=np.float64)
        return sums[..., 1::3] - sums[..., 2::3], np.sum(sums[..., 0::3], axis=-1)

    def score(self, totals: ArrayLike) -> Floats:
        """Return the error, `(..., 3 bins) -> (...)`, in [0, 1]; 0 without items."""
        gaps, items = self._gaps(totals)
        return ratio(np.sum(np.abs(gaps), axis=-1), items, 0.0)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient, of the shape of ``totals``; 0 for bins without a gap (a kink)."""
        gaps, items = self._gaps(totals)
        by_gap, by_items = ratio_gradient(np.sum(np.abs(gaps), axis=-1), items, 1.0)
        moved = by_gap[..., None] * np.sign(gaps)
        every = np.broadcast_to(by_items[..., None], gaps.shape)
        return np.stack([every, moved, -moved], axis=-1).reshape(np.shape(totals))


@dataclass(frozen=True)
class _PerUnit(Quotient):
    """A function of the mean negative log-likelihood per unit, in nats (0 without units)."""

    unit: str = "token"
    nll: bool = False

    columns = ("negative log-likelihood", "units")
    unsigned = "likelihoods are at most 1"
    higher_is_better = False
    uses_references: ClassVar[bool] = False
    #: Names of the score in tables and in signatures.
    title: ClassVar[str]
    key: ClassVar[str]

    def __post_init__(self) -> None:
        choice(self.unit, UNITS, "unit")
        keep(self, nll=flag(self.nll, "nll"))
        name = self.title.format(self.unit).removeprefix("item ")
        keep(self, name=name, entry_depth=int(self.unit != "item"))

    @property
    def signature(self) -> str:
        """The unit that is counted."""
        return signature_of(**{self.key: self.unit})

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`, negative log-likelihood and units; references are not used.

        Rows `(N, 2)` are the log-likelihood (natural logarithm, at most 0; at least 0 with `nll`)
        and the units (more than 0) of each text; for ``unit="item"`` the log-likelihood alone.
        """
        item = self.unit == "item"
        rows = as_numbers(hypotheses, "log-likelihoods", None if item else 2)
        rows = np.stack([rows, np.ones_like(rows)], axis=-1) if item else rows
        sign, kind = (1, "negative log-likelihood") if self.nll else (-1, "log-likelihood")
        for i in np.flatnonzero(sign * rows[:, 0] < 0)[:1]:
            raise InputError(
                f"log-likelihoods[{i}] is {rows[i, 0]:g}, but a {kind} must be at "
                f"{'least' if self.nll else 'most'} 0; if your numbers have the opposite sign, "
                f"pass nll={not self.nll}"
            )
        for i in np.flatnonzero(rows[:, 1] <= 0)[:1]:
            raise InputError(
                f"log-likelihoods[{i}] has {rows[i, 1]:g} {self.unit}s, but every row must be "
                f"(log-likelihood, number of {self.unit}s), with at least one {self.unit}. "
                "Leave empty texts out."
            )
        # 0 and not -0 for a text with probability 1.
        return np.stack([sign * rows[:, 0] + 0.0, rows[:, 1]], axis=-1)


@dataclass(frozen=True)
class Perplexity(_PerUnit):
    r"""Perplexity per word, byte, character, token or item.

    .. math:: \exp\left(-\sum_i \ell_i \,/\, \sum_i n_i\right)

    with :math:`\ell_i` the log-likelihood of text i and :math:`n_i` its units (Jelinek et al.,
    1977). lm-evaluation-harness's ``word_perplexity`` and ``byte_perplexity`` log such rows; its
    ``perplexity`` is per item. Compare models with different tokenisers per word, byte or
    character.

    Parameters
    ----------
    unit : {"token", "word", "byte", "character", "item"}
        What is counted.
    nll : bool
        Whether rows contain *negative* log-likelihoods (losses, summed over the text).

    Raises
    ------
    InputError
        For an unknown unit; `statistics` raises it for a wrong sign or a text without units.

    Examples
    --------
    >>> perplexity = Perplexity("word")
    >>> rows = perplexity.statistics([[-100.0, 20], [-50.0, 12]])
    >>> print(perplexity.score(rows.sum(axis=0)).round(3))
    108.581
    """

    title = "{} perplexity"
    key = "perplexity"

    def score(self, totals: ArrayLike) -> Floats:
        """Return the perplexity, `(..., 2) -> (...)`, at least 1; 1 for no units.

        Above 700 nats per unit it exceeds the range of doubles and is infinite.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(super().score(totals)))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the perplexity, `(..., 2) -> (..., 2)`; 0 for no units."""
        by_mean = super().gradient(totals)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.score(totals)[..., None] * by_mean)


@dataclass(frozen=True)
class BitsPerUnit(_PerUnit):
    r"""Bits per byte, word, character, token or item: the logarithm of perplexity.

    .. math:: -\sum_i \ell_i \,/\, \left(\ln 2 \sum_i n_i\right)

    Rows and errors are the same as for `Perplexity`. ``bits_per_byte`` of lm-evaluation-harness is
    ``BitsPerUnit("byte")``, the default.

    Parameters
    ----------
    unit, nll
        As in `Perplexity`.

    Examples
    --------
    >>> bits = BitsPerUnit("byte")
    >>> print(bits.score(bits.statistics([[-100.0, 120], [-50.0, 61]]).sum(axis=0)).round(4))
    1.1956
    """

    unit: str = "byte"
    title = "bits per {}"
    key = "bits"

    def score(self, totals: ArrayLike) -> Floats:
        """Return bits per unit, `(..., 2) -> (...)`, at least 0; 0 for no units."""
        return np.asarray(super().score(totals) / np.log(2))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of bits per unit, `(..., 2) -> (..., 2)`; 0 for no units."""
        return np.asarray(super().gradient(totals) / np.log(2))
