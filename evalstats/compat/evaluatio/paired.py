"""A paired test of per-segment scores: whether one system's mean is larger than another's.

For two lists of numbers: COMET, chrF of sentences, edits, scores of a judge. The permutation test
flips the sign of each difference at random (Fisher, 1935). For the bootstrap, which resamples
segments, use `evalstats.compare`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.options import checked
from evalstats.checks import also_called, as_scores, check_same_index, flag, integer, share
from evalstats.designs.swaps import Halves, all_swap_totals, randomization_pvalue
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.draws import monte_carlo_error, tie_tolerance
from evalstats.resampling import weighted
from evalstats.resampling.weighted import on_grid
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.records import Interval, Record

#: All 2^20 sign patterns take 100 MB and a tenth of a second.
_MOST_ENUMERATED = 20


@dataclass(frozen=True)
class PairedTestResult(Record):
    """The result of a paired test; ``difference, pvalue = result`` unpacks it.

    `difference` is the mean of x1 minus the mean of x2, `pvalue` in (0, 1], `pvalue_error` its
    Monte-Carlo standard error: 0 if `exact`, when all sign patterns are enumerated. `n_resamples`
    were drawn or enumerated; `seed` reproduces them. `standard_error` is for the difference.
    """

    difference: float
    pvalue: float
    pvalue_error: float
    exact: bool
    n_resamples: int
    seed: int
    alternative: str = "two-sided"
    n_segments: int = 1
    standard_error: float = 0.0

    @property
    def statistic(self) -> float:
        """The difference, by SciPy's name."""
        return self.difference

    def __iter__(self) -> Iterator[float]:
        """Iterate over the difference and the p-value."""
        return iter((self.difference, self.pvalue))

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the t interval of the difference, as SciPy's `ttest_rel`; one bound if one-sided.

        Raises `InputError` for one segment, or a level out of (0, 1).
        """
        level = share(confidence_level, "confidence_level")
        if self.n_segments < 2:
            raise InputError("uncertainty cannot be estimated from one segment; pass at least two")
        # A one-sided bound equals the bound of a two-sided interval with twice the alpha.
        alpha = (1 - level) * (1 if self.alternative == "two-sided" else 2)
        degrees = self.n_segments - 1.0
        low, high = student.interval(self.difference, self.standard_error, degrees, alpha)
        return Interval(
            -np.inf if self.alternative == "less" else low,
            np.inf if self.alternative == "greater" else high,
        )

    def _title(self) -> str:
        return "paired test"


class Pairs:
    """Scores of two systems on the exact grid, `(N, 2)`, mean difference and tie tolerance."""

    def __init__(self, x1: object, x2: object, least: int = 1) -> None:
        pairs = as_paired_scores(x1, x2)
        self.n: int = len(pairs)
        if self.n < least:
            raise InputError(
                f"x1 has {self.n} score, but the bootstrap requires at least two segments"
            )
        # From the scores as given, because rounding to the grid may make equal scores differ.
        self.differs = pairs[:, 0] != pairs[:, 1]
        self.columns = on_grid(pairs.T[:, :, None], ["x1 or x2"])[..., 0].T
        sums = np.sum(self.columns, axis=0)
        self.difference: float = float(self.mean_difference(sums))
        self.tie: float = tie_tolerance(float(np.max(np.abs(sums))) / self.n, self.n)

    def mean_difference(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return mean differences from totals of both systems, `(..., 2) -> (...)`."""
        return np.asarray((totals[..., 0] - totals[..., 1]) / self.n)

    def result(
        self, pvalue: float, exact: bool, n_resamples: int, seed: int, alternative: str
    ) -> PairedTestResult:
        """Return the result."""
        error = 0.0 if exact else monte_carlo_error(pvalue, n_resamples)
        moves = (self.columns[:, 0] - self.columns[:, 1] - self.difference) / self.n
        spread = student.spread(np.asarray(moves)).error if self.n > 1 else 0.0
        how = exact, n_resamples, seed, alternative
        return PairedTestResult(self.difference, pvalue, error, *how, self.n, spread)


@also_called(seed="rng")
def paired_permutation_test(
    x1: ArrayLike,
    x2: ArrayLike,
    *,
    alternative: str = "two-sided",
    exact: bool | None = None,
    n_resamples: int = 9999,
    rng: Rng = 12345,
) -> PairedTestResult:
    r"""Test the mean difference by flipping the signs of the differences.

    .. math:: p = \frac{\#\{|\bar d^*| \ge |\bar d|\} + 1}{B + 1}, \quad
        d^*_i = \pm (x_{1i} - x_{2i})

    (Phipson and Smyth, 2010), or the share of all 2^m sign patterns of the m differences that are
    not 0, the observed one among them, when these are enumerated.

    Parameters
    ----------
    x1, x2 : array_like of float, shape (N,)
        Finite scores of two systems, segment by segment.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: x1 is greater than x2.
    exact : bool, optional
        True enumerates (m at most 20), False draws; by default it enumerates where 2^m is at
        most `n_resamples`.
    n_resamples : int
        B, at least 1.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.

    Raises
    ------
    InputError
        For bad scores, an option out of range, or too many segments to enumerate.

    Examples
    --------
    >>> x1 = [0.85, 0.90, 0.78, 0.92, 0.88]
    >>> x2 = [0.80, 0.85, 0.75, 0.88, 0.82]
    >>> paired_permutation_test(x1, x2).pvalue    # 2 of 32 sign patterns
    0.0625
    """
    pairs = Pairs(x1, x2)
    alternative, seed = checked("alternative", alternative), as_seed(rng)
    n_resamples = integer(n_resamples, "n_resamples", 1, weighted.MOST_RESAMPLES)
    m = int(np.count_nonzero(pairs.differs))
    enumerate_all = 2**m <= n_resamples if exact is None else flag(exact, "exact")
    if enumerate_all and m > _MOST_ENUMERATED:
        raise InputError(
            f"exact requires all 2^{m} sign patterns, but at most 2^{_MOST_ENUMERATED} can be "
            "enumerated; leave it out to draw n_resamples of them"
        )
    if enumerate_all:
        halves = all_swap_totals(pairs.columns[pairs.differs])
    else:
        halves = weighted.weighted_totals(
            Halves(len(pairs.columns), seed), pairs.columns, n_resamples
        )
    flipped = pairs.difference - 2 * pairs.mean_difference(halves)
    pvalue = randomization_pvalue(pairs.difference, flipped, alternative, pairs.tie, enumerate_all)
    return pairs.result(pvalue, enumerate_all, len(halves), seed, alternative)


def as_paired_scores(x1: object, x2: object) -> NDArray[np.float64]:
    """Return two systems' scores of the same segments, `(N, 2)`."""
    check_same_index({"x1": x1, "x2": x2})
    first, second = as_scores(x1, "x1"), as_scores(x2, "x2")
    if len(first) != len(second):
        raise InputError(
            f"x1 and x2 must have the same length, with one score per segment, got {len(first)} "
            f"and {len(second)}"
        )
    return np.stack([first, second], axis=1)
