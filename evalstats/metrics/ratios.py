"""Scores computed elsewhere: means of segment scores, ratios of sums, means over runs.

Use `Mean` for COMET, scores of a judge and accuracy; `Ratio` for micro-averaged F1 and any quotient
of sums. Both take per-segment numbers instead of hypotheses and need no references. `MeanOfRuns`,
the mean score of several runs, is a function of the sums of all runs, side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_numbers, integer, label, listed, number
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, MetricSignature, keep
from evalstats.metrics.directions import as_direction


def ratio(numerator: Floats, denominator: Floats, empty: ArrayLike) -> Floats:
    """Return the quotient, of the shape of the numerator, and `empty` for a denominator of 0."""
    out = np.array(np.broadcast_to(empty, np.shape(numerator)), dtype=np.float64)
    # The caller refuses values that are not finite.
    with np.errstate(over="ignore"):
        return np.divide(numerator, denominator, where=denominator != 0, out=out)


def ratio_gradient(numerator: Floats, denominator: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return the derivatives of scale·numerator/denominator, 0 if the denominator is 0."""
    by_numerator = ratio(np.full(np.shape(denominator), scale), denominator, 0.0)
    return by_numerator, -by_numerator * ratio(numerator, denominator, 0.0)


def root_ratio(top: Floats, first: Floats, second: Floats) -> Floats:
    """Return top/√(first·second), `(...)`, 0 if a factor is 0."""
    return ratio(top, np.sqrt(first * second), 0.0)


def root_ratio_gradient(
    values: tuple[Floats, Floats, Floats], slopes: tuple[Floats, Floats, Floats]
) -> Floats:
    """Return the gradient of `root_ratio` of values `(...)` with slopes `(..., k)`: `(..., k)`."""
    top, first, second = (value[..., None] for value in values)
    by_top, by_first, by_second = slopes
    root, score = np.sqrt(first * second), root_ratio(top, first, second)
    change = ratio(np.ones_like(root), root, 0.0) * by_top
    for side, by_side in ((first, by_first), (second, by_second)):
        change -= ratio(score, 2 * side, 0.0) * by_side
    return np.where(root > 0, change, 0.0)


class Quotient(Metric):
    """A score of two sums: `scale` times the first over the second, or a function of this ratio."""

    scale: float = 1.0
    #: The score if the second sum is 0.
    zero_division: float = 0.0
    reads_text: ClassVar[bool] = False
    #: Why the first sum cannot be negative; empty if it can.
    unsigned: ClassVar[str] = ""

    def _sums(self, totals: ArrayLike) -> tuple[Floats, Floats]:
        """Return both sums, `(..., k) -> (...)`."""
        sums = np.asarray(totals, dtype=np.float64)
        return sums[..., 0], sums[..., 1]

    def score(self, totals: ArrayLike) -> Floats:
        """Return the quotient of the sums, `(..., k) -> (...)`."""
        top, bottom = self._sums(totals)
        return np.where(bottom != 0, self.scale * ratio(top, bottom, 0.0), self.zero_division)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, `(..., k) -> (..., k)`; 0 if it is undefined."""
        return np.stack(ratio_gradient(*self._sums(totals), self.scale), axis=-1)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse negative counts, and negative sums unless `unsigned` is empty."""
        super().check_statistics(statistics)
        if self.unsigned:
            self._refuse(statistics < 0, f"is negative, but {self.unsigned}")
        self._refuse(statistics[..., 1] < 0, "has a negative count")


@dataclass(frozen=True)
class Mean(Quotient):
    """Mean of per-segment scores, such as COMET, judge scores, or accuracy.

    Parameters
    ----------
    name : str
        What tables call the score: printable, on one line.
    higher_is_better : bool, optional
        Direction of the score. By default the words of the name decide: lower is better for an
        error rate, a loss, a perplexity or a latency, and higher for any other score.

    Examples
    --------
    >>> comet = Mean("COMET")
    >>> rows = comet.statistics([0.81, 0.79, 0.92])
    >>> rows.tolist()
    [[0.81, 1.0], [0.79, 1.0], [0.92, 1.0]]
    >>> print(comet.score(rows.sum(axis=0)))
    0.84
    """

    name: str
    higher_is_better: bool = cast("bool", None)

    columns = ("sum", "count")
    signature = "mean"
    uses_references: ClassVar[bool] = False

    def __post_init__(self) -> None:
        label(self.name, "name")
        keep(self, higher_is_better=as_direction(self.higher_is_better, self.name))

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`, score and 1, of N finite scores; references are not used."""
        scores = as_numbers(hypotheses, "scores", None)
        return np.stack([scores, np.ones_like(scores)], axis=-1)

    def outcome_columns(self) -> tuple[int, int, float] | None:
        """Return the columns of the sum and the count; `None` for subclasses."""
        return (0, 1, 1.0) if type(self) is Mean else None


@dataclass(frozen=True)
class Ratio(Quotient):
    r"""A ratio of sums of per-segment numbers: micro-averaged F1, error rates, shares.

    .. math:: \mathrm{scale} \cdot \sum_j a_j T_j \,/\, \sum_j b_j T_j

    with T the summed columns, a the `numerator` and b the `denominator`.

    Parameters
    ----------
    name : str
        What tables call the score: printable, on one line.
    columns : sequence of str
        Names of the k numbers given per segment.
    numerator, denominator : sequence of float
        Coefficients of the columns, k each.
    scale : float
        Factor on the ratio; 100 for percentages.
    higher_is_better : bool, optional
        Direction of the score. By default the words of the name decide: lower is better for an
        error rate, a loss, a perplexity or a latency, and higher for any other score.
    zero_division : float
        The score if the denominator is 0.

    Raises
    ------
    InputError
        For coefficients that are not finite, or not one per column.

    Examples
    --------
    >>> error_rate = Ratio("errors per word", higher_is_better=False)
    >>> rows = error_rate.statistics([[2, 10], [1, 20]])
    >>> print(error_rate.score(rows.sum(axis=0)))
    0.1
    >>> f1 = Ratio("F1", columns=("tp", "fp", "fn"), numerator=(2, 0, 0), denominator=(2, 1, 1))
    >>> print(f1.score(f1.statistics([[3, 1, 0], [2, 0, 2]]).sum(axis=0)).round(4))
    0.7692
    """

    name: str
    columns: tuple[str, ...] = ("numerator", "denominator")
    numerator: tuple[float, ...] = (1.0, 0.0)
    denominator: tuple[float, ...] = (0.0, 1.0)
    scale: float = 1.0
    higher_is_better: bool = cast("bool", None)
    zero_division: float = 0.0

    uses_references: ClassVar[bool] = False
    entry_depth = 1

    def __post_init__(self) -> None:
        label(self.name, "name")
        keep(self, higher_is_better=as_direction(self.higher_is_better, self.name))
        # Lists become tuples, which can be hashed.
        columns = tuple(label(c, "columns") for c in listed(self.columns, "columns", "names"))
        keep(self, columns=columns)
        for side in ("numerator", "denominator"):
            coefficients = as_numbers(getattr(self, side), side, None)
            if len(coefficients) != len(columns):
                raise InputError(
                    f"{side} must contain one coefficient for each of the {len(columns)} "
                    f"columns, got {len(coefficients)}"
                )
            keep(self, **{side: tuple(coefficients.tolist())})
        for option in ("scale", "zero_division"):
            keep(self, **{option: number(getattr(self, option), option, -np.inf)})

    @property
    def signature(self) -> str:
        """The coefficients of both sums."""
        sums = []
        for side in (self.numerator, self.denominator):
            terms = zip(side, self.columns, strict=True)
            sums.append("+".join(f"{c:g}*{column}" for c, column in terms if c != 0))
        return f"ratio:{self.scale:g}*({sums[0]})/({sums[1]})"

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return finite numbers `(N, k)`, in the order of `columns`; references are not used."""
        return as_numbers(hypotheses, "numbers", len(self.columns))

    def _sums(self, totals: ArrayLike) -> tuple[Floats, Floats]:
        sums = np.asarray(totals, dtype=np.float64)
        top, bottom = (sums @ np.array(side) for side in (self.numerator, self.denominator))
        return np.asarray(top), np.asarray(bottom)

    def outcome_columns(self) -> tuple[int, int, float] | None:
        """Return both columns if each side is a single column; `None` for subclasses."""
        above, below = np.array(self.numerator), np.array(self.denominator)
        is_of_two = np.count_nonzero(above) == 1 == np.count_nonzero(below)
        if type(self) is not Ratio or not is_of_two:
            return None
        scale = self.scale * float(above.max() / below.max()) if below.max() else 0.0
        return int(above.argmax()), int(below.argmax()), scale

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Accept all numbers."""

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, `(..., k) -> (..., k)`; 0 if it is undefined."""
        by_top, by_bottom = ratio_gradient(*self._sums(totals), self.scale)
        top, bottom = np.array(self.numerator), np.array(self.denominator)
        return np.asarray(by_top[..., None] * top + by_bottom[..., None] * bottom)


@dataclass(frozen=True)
class MeanOfRuns(Metric):
    """The mean score of several runs of a system: training seeds, sampled answers.

    The expected score of one more run, as papers report it (Clark et al., 2011): the mean of the
    runs' corpus scores, not the score of all outputs together.

    `metric` scores one run; `n_runs` is R, at least 2.

    Examples
    --------
    >>> from evalstats import Mean
    >>> accuracy = MeanOfRuns(Mean("accuracy"), n_runs=2)
    >>> rows = accuracy.statistics([[1, 0, 1], [1, 1, 1]])
    >>> rows.shape, round(float(accuracy.score(rows.sum(axis=0))), 4)
    ((3, 4), 0.8333)
    """

    metric: Metric
    n_runs: int
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        inner = self.metric
        if not isinstance(inner, Metric) or isinstance(inner, MeanOfRuns):
            raise InputTypeError(f"metric must score a single run, got {inner!r}")
        runs = integer(self.n_runs, "n_runs", 2)
        columns = tuple(f"{column}[{run}]" for run in range(runs) for column in inner.columns)
        better = inner.higher_is_better
        keep(self, n_runs=runs, name=inner.name, columns=columns, higher_is_better=better)
        keep(self, bounds=inner.bounds, scores_units=inner.scores_units)
        keep(self, empty_score=inner.empty_score)

    @property
    def signature(self) -> str:
        """The signature of the metric, and the number of runs."""
        return str(MetricSignature.of(self.metric.signature).tagged(f"runs:{self.n_runs}"))

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of every run side by side, `(N, R k)`, of R lists of N outputs."""
        runs: Sequence[Any] = listed(hypotheses, "hypotheses", "runs")
        if len(runs) != self.n_runs:
            raise InputError(f"hypotheses must have {self.n_runs} runs, got {len(runs)}")
        rows = [self.metric.statistics(run, references) for run in runs]
        if len({len(row) for row in rows}) > 1:
            lengths = ", ".join(str(len(row)) for row in rows)
            raise InputError(f"runs must have the same number of segments, got {lengths}")
        return np.concatenate(rows, axis=1)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse statistics that are impossible for one of the runs, `(..., R k)`."""
        self.metric.check_statistics(self._apart(statistics))

    def score(self, totals: ArrayLike) -> Floats:
        """Return the mean of the scores of the runs, `(..., R k) -> (...)`."""
        scores = self.metric.score(self._apart(totals))
        # One after the other: in a matrix product, sums would depend on the number of rows.
        return np.asarray(sum(1 / self.n_runs * scores[..., run] for run in range(self.n_runs)))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the mean, `(..., R k) -> (..., R k)`."""
        gradient = self.metric.gradient(self._apart(totals)) * (1 / self.n_runs)
        return np.asarray(gradient.reshape(np.shape(totals)))

    def _apart(self, totals: ArrayLike) -> Floats:
        """Return the totals of each run, `(..., R k) -> (..., R, k)`."""
        wide = np.asarray(totals, dtype=np.float64)
        return wide.reshape(*wide.shape[:-1], self.n_runs, len(self.metric.columns))

    def answers(self, statistics: NDArray[Any]) -> Floats | None:
        """Return number, sum and sum of squares of the runs' scores of an item, or `None`.

        `None` also if scores are so large that their squares overflow.
        """
        wide = np.asarray(statistics, np.float64)
        scores, there = wide[..., 0::2], wide[..., 1::2]
        if not isinstance(self.metric, Mean) or not np.all((there == 0) | (there == 1)):
            return None
        with np.errstate(over="ignore"):
            return np.stack([there.sum(-1), scores.sum(-1), (scores**2).sum(-1)], axis=-1)

    def bounds_of(self, statistics: NDArray[Any]) -> tuple[float, float]:
        """Return the bounds of the scores of single runs, `(..., N, R k)`."""
        return self.metric.bounds_of(self.of_runs(statistics))

    def of_runs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the statistics of each run, `(..., N, R k) -> (..., R, N, k)`."""
        apart = values.reshape(*values.shape[:-1], self.n_runs, len(self.metric.columns))
        return np.moveaxis(apart, -2, -3)
