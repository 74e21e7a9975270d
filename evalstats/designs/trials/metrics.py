"""Trials: metrics of reliability from K right or wrong answers to each item.

pass^k, pass@k and the flip rate are functions of sums over items.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import (
    as_numbers,
    check_same_length,
    choice,
    integer,
    is_missing,
    label,
    listed,
    refuse_masked,
    shown,
)
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, keep, signature_of
from evalstats.metrics.ratios import ratio, ratio_gradient

if TYPE_CHECKING:
    from evalstats.analysis.design import Units
    from evalstats.statistics.segments import SegmentStatistics

#: The first columns of all metrics of trials.
_SHARED = ("items", "trials", "right")
#: Values of each parameter: over the whole range, then over the region of the posterior.
_GRID = 100
#: Parts of the posterior below this share of its maximum are left out.
_DENSITY = 1e-7


class Trials(Metric):
    """A score of items with several answers each: the base of `PassAll`, `PassAny` and others.

    Hypotheses are one list of 0/1 per item, one number per trial, or an `(N, K)` array. Items may
    have different numbers of trials; an item with fewer than the metric needs (`fewest`) raises an
    `InputError`. Leave trials that were not run out of the list; they are not failures.

    A metric of trials sets `name`, `own` (names of its columns besides the items, trials and right
    answers that all have), `fewest` and `of_items`; by default its score is the mean over items of
    the first of its own columns.

    Attributes
    ----------
    own : tuple of str
        Names of the statistics that `of_items` returns.
    fewest : int
        Trials that an item needs.

    Notes
    -----
    The page on agents shows how often intervals of 50 items with 4 trials contain the true value.
    They are too short if passes, or failures, are rare.

    Examples
    --------
    The share of items with mostly right trials:

    >>> import numpy as np
    >>> class Majority(Trials):
    ...     name, own = "majority", ("majorities",)
    ...
    ...     def of_items(self, trials, right):
    ...         return (2 * right > trials)[:, None]
    >>> rows = Majority().statistics([[1, 1, 0], [0, 1], [1]])
    >>> rows.tolist()
    [[1.0, 3.0, 2.0, 1.0], [1.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]
    >>> print(round(float(Majority().score(rows.sum(axis=0))), 3))
    0.667
    """

    own: tuple[str, ...] = ()
    fewest: int = 1
    uses_references: ClassVar[bool] = False
    reads_text: ClassVar[bool] = False
    unit_called: ClassVar[str] = "item"
    entry_depth = 1

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the statistics: items, trials, right answers, and the metric's own."""
        return (*_SHARED, *self.own)

    @abstractmethod
    def of_items(self, trials: Floats, right: Floats) -> NDArray[Any]:
        """Return the metric's own statistics of N items, `(N,)` and `(N,) -> (N, m)`."""

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 3 + m)`: 1, trials and right answers of each item, and the metric's own."""
        return self.counted(*_counts(hypotheses))

    def counted(self, trials: ArrayLike, right: ArrayLike, names: Sequence[str] = ()) -> Floats:
        """Return the statistics of items with so many trials, and right answers, `(N,)` each.

        Errors name items by their names, or by their places.
        """
        n, c = np.asarray(trials, np.float64), np.asarray(right, np.float64)
        for i in np.flatnonzero(n < self.fewest)[:1]:
            item = f"item {shown(names[i], 60)}" if len(names) else f"hypotheses[{i}]"
            have = "1 trial" if n[i] == 1 else f"{n[i]:g} trials"
            raise InputError(
                f"{item} has {have}, but {self.name} requires at least {self.fewest} per item; "
                "run more, leave the item out, or use a smaller k"
            )
        columns = np.asarray(self.of_items(n, c), np.float64).reshape(len(n), len(self.own))
        return np.column_stack([np.ones(len(n)), n, c, columns])

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse negative statistics, fractional counts, and more right answers than trials."""
        self._refuse(statistics < 0, f"is negative, but {self.name} counts")
        counted = statistics[..., : len(_SHARED)]
        self._refuse(counted != np.rint(counted), f"is not a whole number, but {self.name} counts")
        more = statistics[..., 2:3] > statistics[..., 1:2]
        self._refuse(more, "has more right answers than trials")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the mean over items of the first own statistic, `(..., k) -> (...)`."""
        sums = np.asarray(totals, dtype=np.float64)
        return ratio(sums[..., 3], sums[..., 0], 0.0)

    def answers(self, statistics: NDArray[Any]) -> Floats:
        """Return trials, right answers, and these again: squares of 0 and 1, `(..., 3)`."""
        return np.asarray(statistics[..., [1, 2, 2]], np.float64)

    @property
    def signature(self) -> str:
        """The kind of metric, and its number of trials."""
        return f"trials:{type(self).__name__}"


class MeanOverItems(Trials):
    """A mean over items of one statistic from 0 to 1, with the gradient of a mean."""

    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the mean, `(..., 4) -> (..., 4)`."""
        sums = np.asarray(totals, dtype=np.float64)
        slopes = np.zeros(sums.shape)
        slopes[..., 3], slopes[..., 0] = ratio_gradient(sums[..., 3], sums[..., 0], 1.0)
        return slopes

    def outcome_columns(self) -> tuple[int, int, float]:
        """Return the columns of the statistic and of items: pass^k with k trials is a share."""
        return 3, 0, 1.0


@dataclass(frozen=True)
class _Passes(MeanOverItems):
    """A mean share of subsets of k trials that pass."""

    k: int
    name: str = ""
    items: Literal["drawn", "all"] = field(default="drawn", repr=False)

    own = ("passes",)
    #: Which trials of a subset have to be right, and the printed name.
    passing: ClassVar[str] = ""
    title: ClassVar[str] = ""

    def __post_init__(self) -> None:
        k = integer(self.k, "k", 1)
        items = choice(self.items, ("drawn", "all"), "items")
        keep(self, k=k, fewest=k, items=items, name=label(self.name or f"{self.title}{k}", "name"))

    @property
    def signature(self) -> str:
        """k, and whether items are fixed."""
        fixed = {"items": "all"} if self.items == "all" else {}
        return signature_of(trials=self.passing, k=self.k, **fixed)

    def unseen(self, table: SegmentStatistics, units: Units) -> Floats | None:
        """Return the variance from trials, as in `Metric`, if no item shows any.

        If all items have the same share of right answers, neither 0 nor 1, trials still vary.
        """
        variances = np.zeros((len(table.systems), units.n))
        for variance, rows in zip(variances, table.values, strict=True):
            score = rows[0, 3]
            if 0 < score < 1 and np.all(rows[:, 3] == score):
                chance = replace(self, items="all").chance(rows)
                assert chance is not None
                variance[:] = chance / units.n
        return variances if np.any(variances) else None

    def chance(self, statistics: Floats) -> float | None:
        """Return the variance of the mean from trials, if items are fixed."""
        if self.items == "drawn":
            return None
        _, trials, right, *_ = statistics.T
        passing = right if self.passing == "all" else trials - right
        return float(np.sum(chance_in_trials(trials, passing, self.k))) / len(trials) ** 2


@dataclass(frozen=True)
class PassAll(_Passes):
    r"""pass^k: the chance that all of k trials of an item are right (Yao et al., 2024).

    .. math:: \frac{1}{N} \sum_i \binom{c_i}{k} \Big/ \binom{K_i}{k}

    for c of K trials right: the share of subsets of k trials that are all right, which is unbiased.
    ``PassAll(1)`` is the mean share of right answers.

    Parameters
    ----------
    k : int
        At least 1; every item needs k trials.
    name : str
        Name in tables, by default ``pass^k``.
    items : {"drawn", "all"}
        Whether items are a sample, or fixed, such as the tasks of a benchmark. With fixed items
        only trials vary; items' rates have a beta distribution (Skellam, 1948).

    Examples
    --------
    >>> pass_all = PassAll(2)
    >>> rows = pass_all.statistics([[1, 1, 0], [1, 1]])
    >>> print(round(float(pass_all.score(rows.sum(axis=0))), 4))
    0.6667
    """

    passing = "all"
    title = "pass^"

    def of_items(self, trials: Floats, right: Floats) -> Floats:
        """Return the share of subsets of k trials that are all right, `(N, 1)`."""
        return share_of_subsets(right, trials, self.k)[:, None]


@dataclass(frozen=True)
class PassAny(_Passes):
    r"""pass@k: the chance that one of k trials of an item is right (Chen et al., 2021).

    .. math:: \frac{1}{N} \sum_i 1 - \binom{K_i - c_i}{k} \Big/ \binom{K_i}{k}

    for c of K trials right. `pass_at_k` gives the same for each item, from counts.

    Parameters
    ----------
    k, name, items
        As in `PassAll`; the default name is ``pass@k``.

    Examples
    --------
    >>> pass_any = PassAny(2)
    >>> rows = pass_any.statistics([[1, 0, 0], [0, 0]])
    >>> print(round(float(pass_any.score(rows.sum(axis=0))), 4))
    0.3333
    """

    passing = "any"
    title = "pass@"

    def of_items(self, trials: Floats, right: Floats) -> Floats:
        """Return the share of subsets of k trials with a right one, `(N, 1)`."""
        return 1 - share_of_subsets(trials - right, trials, self.k)[:, None]


@dataclass(frozen=True)
class FlipRate(MeanOverItems):
    r"""Flip rate: the chance that k trials of an item do not all have the same result.

    .. math:: \frac{1}{N} \sum_i
        1 - \left[\binom{c_i}{k} + \binom{K_i - c_i}{k}\right] \Big/ \binom{K_i}{k}

    for c of K trials right. With all trials, the default, it is the share of items with both right
    and wrong trials. More trials flip more items, so all items of all systems must then have the
    same number. With k = 2 it is the rate at which two runs disagree, 2·p·(1 - p) for an item with
    rate p.

    Parameters
    ----------
    k : int, optional
        At least 2; by default all trials.
    name : str
        Name in tables, by default ``flips`` or ``flips@k``.

    Examples
    --------
    >>> rows = FlipRate().statistics([[1, 1, 1], [1, 0, 1]])
    >>> print(FlipRate().score(rows.sum(axis=0)))
    0.5
    >>> print(round(float(FlipRate(2).score(FlipRate(2).statistics([[1, 0, 1]])[0])), 4))
    0.6667
    """

    k: int | None = None
    name: str = ""

    own = ("flips",)
    higher_is_better = False

    def __post_init__(self) -> None:
        k = None if self.k is None else integer(self.k, "k", 2)
        name = self.name or ("flips" if k is None else f"flips@{k}")
        keep(self, k=k, fewest=k or 2, name=label(name, "name"))

    @property
    def signature(self) -> str:
        """k, or that all trials count."""
        return signature_of(trials="flips", k="all" if self.k is None else self.k)

    def of_items(self, trials: Floats, right: Floats) -> Floats:
        """Return the share of subsets of k trials that are not all alike, `(N, 1)`."""
        if self.k is None:
            # Items with different numbers are refused later, for all systems together.
            return np.asarray((right > 0) & (right < trials), np.float64)[:, None]
        alike = (share_of_subsets(counts, trials, self.k) for counts in (right, trials - right))
        return np.asarray(1 - sum(alike), np.float64)[:, None]

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse impossible counts, and different numbers of trials if all trials count."""
        super().check_statistics(statistics)
        items, trials = statistics[..., 0], statistics[..., 1]
        numbers = trials[items > 0] / items[items > 0]
        if self.k is None and numbers.size and np.ptp(numbers) > 0:
            least = int(np.min(numbers))
            raise InputError(
                f"{self.name} of all trials requires the same number of trials for every item, "
                f"got {least} to {np.max(numbers):g} (with more trials, more items flip). Pass a "
                f"number of trials k, for example FlipRate({max(least, 2)})."
            )


def _counts(hypotheses: Any) -> tuple[Floats, Floats]:
    """Return trials and right answers of each item, `(N,)` each."""
    refuse_masked(hypotheses, "hypotheses")
    if isinstance(hypotheses, np.ndarray) and hypotheses.ndim == 2:
        is_answer = (hypotheses == 0) | (hypotheses == 1)
        for i, j in np.argwhere(~np.asarray(is_answer, np.bool_))[:1].tolist():
            raise _no_answer(hypotheses[i, j], i, j)
        n, k = hypotheses.shape
        return np.full(n, float(k)), np.asarray(hypotheses, np.float64).sum(axis=1)
    items = listed(hypotheses, "hypotheses", "lists of 0 and 1, one per item")
    counts = np.zeros((2, len(items)))
    for i, answers in enumerate(items):
        if isinstance(answers, (str, bytes)) or not hasattr(answers, "__len__"):
            raise InputTypeError(
                f"hypotheses[{i}] must be a list of 0 and 1, one per trial, got "
                f"{shown(answers, 60)}"
            )
        for j, answer in enumerate(answers):
            if not isinstance(answer, (bool, int, float, np.generic)) or answer not in (0, 1):
                raise _no_answer(answer, i, j)
            counts[1, i] += answer
        counts[0, i] = len(answers)
    return counts[0], counts[1]


def _no_answer(value: object, i: int, j: int) -> InputError:
    """Return the error for an answer that is neither 0 nor 1."""
    gone = value is None or is_missing(value)
    what = (
        "leave out trials that were not run"
        if gone
        else "use 1 for a right answer and 0 for a wrong one"
    )
    return InputError(f"hypotheses[{i}][{j}] must be 0 or 1, got {shown(value, 60)}; {what}")


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> NDArray[np.float64]:
    r"""Return the unbiased estimate of pass@k for each problem (Chen et al., 2021).

    .. math:: 1 - \binom{n - c}{k} \Big/ \binom{n}{k}

    for n answers, c of them right: the share of subsets of k answers with a right one. Pass the
    result to `Mean`: problems are resampled, which also covers the chance in their answers.

    Parameters
    ----------
    n : int or array_like of int
        Number of answers per problem, at least k; a single number if it is the same for all.
    c : array_like of int, shape (N,)
        Number of right answers, 0 to n.
    k : int
        At least 1.

    Returns
    -------
    ndarray of float64, shape (N,)
        Estimates in [0, 1].

    Raises
    ------
    InputError
        For more right answers than answers, and for fewer answers than k.

    Examples
    --------
    >>> pass_at_k(10, [0, 3, 10], k=1).round(4).tolist()
    [0.0, 0.3, 1.0]
    >>> from evalstats import Mean, estimate
    >>> scores = pass_at_k([10, 10, 5, 10], [0, 3, 5, 1], k=2)
    >>> round(estimate(scores, metric=Mean("pass@2"), n_resamples=99).score, 4)
    0.4333
    """
    integer(k, "k", 1)
    right = _numbers(c, "c")
    answers = _numbers(n, "n")
    if np.ndim(n) == 0:
        answers = np.broadcast_to(answers, right.shape)
    check_same_length(n=answers, c=right)
    for i in np.flatnonzero(right > answers)[:1]:
        raise InputError(
            f"c[{i}] must be at most n, got {right[i]:g} right answers of {answers[i]:g}"
        )
    for i in np.flatnonzero(answers < k)[:1]:
        raise InputError(
            f"n must be at least k, but problem {i} has {answers[i]:g} answers, too few for "
            f"pass@{k}; sample more, or use a smaller k"
        )
    return np.asarray(1 - share_of_subsets(answers - right, answers, k))


def share_of_subsets(
    part: NDArray[np.float64], whole: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Return the share of subsets of k of the items that lie within `some`, `(N,)` each.

    C(some, k) / C(of, k), one drawn after the other: the products stay in [0, 1].
    """
    share = np.ones(part.shape)
    for drawn in range(k):
        share *= np.maximum(part - drawn, 0) / (whole - drawn)
    return share


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    counts = as_numbers(np.atleast_1d(np.asarray(values)), name, None)
    for i in np.flatnonzero((counts < 0) | (counts != np.rint(counts)))[:1]:
        raise InputError(f"{name}[{i}] must be a number of answers, got {counts[i]:g}")
    return counts


#: The metrics of trials by the values of the option `epochs`; K is a number.
OF_TRIALS: dict[str, Callable[..., Trials]] = {
    "pass^K": PassAll,
    "pass@K": PassAny,
    "flips": FlipRate,
    "flips@K": FlipRate,
}
#: Values of `epochs`.
EPOCHS = ("mean", "runs", *(word for word in OF_TRIALS if word != "flips@K"))


def trials_named(word: object, score: str = "") -> Trials | None:
    """Return the metric for a value of `epochs`, named after a score, or `None`.

    >>> trials_named("pass^4", "acc")
    PassAll(k=4, name='acc pass^4')
    """
    if not isinstance(word, str):
        return None
    for pattern, kind in OF_TRIALS.items():
        match = re.fullmatch(re.escape(pattern).replace("K", r"(\d{1,9})"), word, re.ASCII)
        if match is not None:
            return kind(*map(int, match.groups()), name=f"{score} {word}".strip())
    return None


def chance_in_trials(trials: Floats, right: Floats, k: int) -> Floats:
    """Return the variance from trials of C(c, k)/C(K, k), for c of K trials right, `(N,)`.

    It is the expected variance given the right answers; rates have a beta distribution with the
    posterior's means, the same for all k.

    >>> chance_in_trials(np.full(40, 4.0), np.repeat([4.0, 2.0], 20), 1).round(3)[[0, -1]].tolist()
    [0.025, 0.052]
    """
    from scipy.special import betaln, comb
    from scipy.stats import betabinom

    means, correlations, density = _posterior(trials, right)
    mean, correlation = (
        float(values @ density.sum(axis=1 - i) / density.sum())
        for i, values in enumerate((means, correlations))
    )
    size = 1 / correlation - 1
    variances = np.empty(len(trials))
    for n, c in np.unique(np.stack([trials, right]), axis=1).T:
        a, b = mean * size + c, (1 - mean) * size + n - c
        counts = np.arange(n + 1)
        square = np.sum((comb(counts, k) / comb(n, k)) ** 2 * betabinom.pmf(counts, n, a, b))
        squared = np.exp(betaln(a + 2 * k, b) - betaln(a, b))
        variances[(trials == n) & (right == c)] = max(square - squared, 0.0)
    return variances


def _posterior(trials: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Return values of mean and correlation, `(G,)` each, and the posterior there, `(G, G)`."""
    from scipy.special import betaln

    kinds, counts = np.unique(np.stack([trials, right]), axis=1, return_counts=True)
    low, high = np.zeros(2), np.ones(2)
    for is_last in (False, True):
        steps = (high - low) / _GRID
        mean, correlation = low[:, None] + steps[:, None] * (np.arange(_GRID) + 0.5)
        size = 1 / correlation - 1
        a, b = np.outer(mean, size), np.outer(1 - mean, size)
        logs = -len(trials) * betaln(a, b)
        for (n, c), count in zip(kinds.T, counts, strict=True):
            logs += count * betaln(a + c, b + n - c)
        density = np.exp(logs - np.max(logs))
        if not is_last:
            for i in range(2):
                along = np.max(density, axis=1 - i)
                first, *_, last = np.flatnonzero(along > _DENSITY).repeat(2)
                low[i], high[i] = low[i] + steps[i] * first, low[i] + steps[i] * (last + 1)
    return mean, correlation, density
