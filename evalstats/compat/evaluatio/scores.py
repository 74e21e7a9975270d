"""`evaluatio.inference.ci` and `evaluatio.inference.hypothesis`: its intervals and its tests.

`x`, `x1` and `x2` are finite scores of one or two systems, segment by segment. Unlike the
bootstrap of `evalstats.compare`, evaluatio's corrects nothing for few segments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import as_scores, check_same_length, flag, integer, share
from evalstats.compat.evaluatio import paired
from evalstats.errors import InputError, InputTypeError
from evalstats.inference.randomisation import randomization_pvalue
from evalstats.metrics import Mean
from evalstats.resampling.weighted import MOST_RESAMPLES, bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.results import tabular

Array = NDArray[Any]


class ConfidenceInterval(NamedTuple):
    """A confidence interval around an observed score, which evaluatio calls `mean`.

    Examples
    --------
    >>> from evalstats import bleu_ci
    >>> references = [["a cat sat", "a cat"], ["it is so"]]
    >>> found = bleu_ci(references, ["a cat sat", "it was so"], 99, 0.05)
    >>> found.lower <= found.mean <= found.upper
    True
    """

    mean: float
    lower: float
    upper: float

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, a row for each field."""
        return tabular.Page([tabular.record_table("interval", self._asdict())]).fragment()


def bootstrap_confidence_interval(
    x: Iterable[float], iterations: int, alpha: float, *, rng: Rng = 12345
) -> ConfidenceInterval:
    """Return the mean of scores, of which there must be one, with its interval."""
    n_resamples, level = resamples(iterations), share(alpha, "alpha")
    metric = Mean("mean")
    statistics = metric.statistics(as_scores(x, "x"))
    totals = bootstrap_totals(statistics, n_resamples, rng)
    return interval(metric.score, statistics, totals, level, _order_statistics)


def error_rate_ci(
    counts: Iterable[int],
    exposure: Iterable[int],
    iterations: int,
    alpha: float,
    *,
    rng: Rng = 12345,
) -> ConfidenceInterval:
    """Return sum of counts over sum of exposures with its interval.

    Counts are errors and exposures tokens, whole numbers of at least 0, one of each for every
    segment. A resample without errors and without tokens has no rate, and raises an `InputError`.
    """
    n_resamples, level = resamples(iterations), share(alpha, "alpha")
    columns = [_counts(counts, "counts"), _counts(exposure, "exposure")]
    check_same_length(counts=columns[0], exposure=columns[1])
    statistics = np.stack(columns, axis=1)
    totals = bootstrap_totals(statistics, n_resamples, rng)
    if not np.all(np.any(totals, axis=1)):
        raise InputError(
            f"exposure is 0 in {np.count_nonzero(columns[1] == 0)} of {len(statistics)} segments, "
            f"and one resample had neither exposure nor errors: 0/0 is no rate; leave them out"
        )
    return interval(rates, statistics, totals, level, _order_statistics)


def interval(
    score: Callable[[Array], Array],
    statistics: Array,
    totals: Array,
    level: float,
    bounds: Callable[[Array, float], tuple[Any, Any]],
) -> ConfidenceInterval:
    """Return the score of all segments, `(N, k)`, with bounds from the totals of B resamples."""
    low, high = map(float, bounds(score(totals), level))
    return ConfidenceInterval(float(score(np.sum(statistics, axis=0))), low, high)


def resamples(iterations: int) -> int:
    """Return the number of resamples, at least 1."""
    return integer(iterations, "iterations", 1, MOST_RESAMPLES)


def rates(statistics: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return errors per token, `(..., 2) -> (...)`: infinite without tokens, NaN for nothing."""
    numbers = np.asarray(statistics, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numbers[..., 0] / numbers[..., 1])


def _counts(value: Iterable[int], name: str) -> NDArray[np.int64]:
    array = np.asarray(value if isinstance(value, np.ndarray) else list(value))
    if array.size and array.dtype.kind not in "bui":
        raise InputTypeError(f"{name} must be integers, got {array.dtype} values")
    numbers = as_scores(array, name)
    if np.any(numbers < 0):
        i = int(np.flatnonzero(numbers < 0)[0])
        raise InputError(f"{name}[{i}] must not be negative, got {array[i]}")
    return array.astype(np.int64)


def _order_statistics(replicates: Array, alpha: float) -> tuple[float, float]:
    """Return evaluatio's bounds: order statistics ⌊α/2·B⌋ and ⌊(1 - α/2)·B⌋."""
    n = len(replicates)
    low, high = (min(int(np.floor(part * n)), n - 1) for part in (alpha / 2, 1 - alpha / 2))
    ordered = np.partition(replicates, [low, high])
    return ordered[low], ordered[high]


def paired_bootstrap_test(
    x1: Iterable[float], x2: Iterable[float], iterations: int, *, rng: Rng = 12345
) -> float:
    """Return the two-sided p-value of the centred bootstrap, for two segments or more.

    (count + 1)/(B + 1) over the resamples in which the mean difference moves by at least as much
    as it lies from 0, ``|Δ* - Δ| >= |Δ|`` (Hall and Wilson, 1991, first guideline).
    """
    n_resamples, pairs = resamples(iterations), paired.Pairs(x1, x2, least=2)
    drawn = pairs.mean_difference(bootstrap_totals(pairs.columns, n_resamples, rng))
    return randomization_pvalue(pairs.difference, drawn - pairs.difference, tolerance=pairs.tie)


def paired_permutation_test(
    x1: Iterable[float],
    x2: Iterable[float],
    iterations: int,
    two_tailed: bool = True,
    *,
    exact: bool = False,
    rng: Rng = 12345,
) -> float:
    """Return the p-value of random sign flips; with ``two_tailed=False``, for x1 greater than x2.

    With ``exact=True`` all sign patterns of at most 20 differences are enumerated, none drawn.
    """
    return paired.paired_permutation_test(
        cast(Any, x1),
        cast(Any, x2),
        alternative="two-sided" if flag(two_tailed, "two_tailed") else "greater",
        exact=flag(exact, "exact"),
        n_resamples=resamples(iterations),
        rng=rng,
    ).pvalue
