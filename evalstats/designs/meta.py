"""`meta`: a comparison of metrics, from human and metric scores of several systems.

The systems of that comparison are the metrics, and its segments are the segments of the test set.
Measures are a metric's agreement with human scores about two systems, in total or on each segment.
Differences between two systems are `(P, N)`, of P pairs on N segments. They are 0 if a score is
missing; `both` marks the segments with all scores of a pair.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import unit_name
from evalstats.analysis.options import Options
from evalstats.analysis.scores import distinct_names
from evalstats.analysis.settings import N_RESAMPLES, SEED, AdjustmentName, Alternative
from evalstats.analysis.tasks import as_pairs, as_task
from evalstats.checks import also_called, as_numbers, choice, is_missing, listed, meant
from evalstats.designs.swaps import swapped_pvalues
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean, Metric
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results.records import first_few
from evalstats.statistics.segments import SegmentStatistics, group_codes, shared_places, unit_scores
from evalstats.text.references import columns_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: A difference below this share of its error is rounding.
_NONE = 1e-9
#: Accuracies of two thresholds this close are equal except for rounding.
_EQUAL = 1e-12


@dataclass(frozen=True)
class PairwiseAccuracy(Metric):
    r"""The share of pairs of systems that a metric and human scores put in the same order.

    Statistics are differences d between the two systems of each pair, human and the metric's,
    and their squares. With sums D and Q, :math:`z = D/\sqrt{Q}` is nearly normal if the outputs of
    both systems are exchanged at random.

    Parameters
    ----------
    columns : tuple of str
        Names of the human D and Q of each pair, then of the metric's D and Q.
    """

    columns: tuple[str, ...]

    name = "PA"
    is_smooth: ClassVar[bool] = False
    uses_references: ClassVar[bool] = False
    reads_text: ClassVar[bool] = False
    scores_units: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def signature(self) -> str:
        """That systems are metrics, and the number of pairs."""
        return f"systems:metric|pairs:{len(self.columns) // 4}"

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Raise, since the statistics need the scores of all systems."""
        raise InputError(f"{self.name} requires the scores of several systems; use evalstats.meta")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the share of pairs in the same order, `(..., k) -> (...)`."""
        people, metric = (np.sign(np.where(np.abs(z) < _NONE, 0, z)) for z, _ in _sizes(totals))
        return np.asarray(np.mean(people == metric, axis=-1))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the expected accuracy if z has an error of 1.

        The accuracy itself is a step function.
        """
        from scipy.special import erf

        people, metric = (z for z, _ in _sizes(totals))
        return _by_sums(totals, erf(metric / np.sqrt(2)), erf(people / np.sqrt(2)))


@dataclass(frozen=True)
class SoftPairwiseAccuracy(PairwiseAccuracy):
    r"""1 minus the mean distance between a metric's and human p-values, over pairs.

    The p-values come from the permutation test that the first system is better, in closed form:
    :math:`\Phi(-z)` (Thompson, Mathur, Deutsch and Khayrallah, 2024).
    """

    name = "SPA"

    def score(self, totals: ArrayLike) -> Floats:
        """Return the soft accuracy, `(..., k) -> (...)`."""
        from scipy.special import ndtr

        people, metric = (ndtr(-z) for z, _ in _sizes(totals))
        return np.asarray(1 - np.mean(np.abs(people - metric), axis=-1))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the soft accuracy, `(..., k) -> (..., k)`."""
        people, metric = (z for z, _ in _sizes(totals))
        # p falls as z rises.
        farther = np.sign(metric - people)
        return _by_sums(totals, farther, -farther)


def _by_sums(totals: ArrayLike, *slopes: Floats) -> Floats:
    """Return a gradient by all sums from the gradient by z of people and metric, φ(z)·slope/P."""
    slopes_of_sums: list[Floats] = []
    for (z, error), slope in zip(_sizes(totals), slopes, strict=True):
        by_z = slope * np.exp(-z * z / 2) / (np.sqrt(2 * np.pi) * z.shape[-1])
        by_sum = _over(by_z, error)
        slopes_of_sums += [by_sum, -by_sum * _over(z, error) / 2]
    return np.concatenate(slopes_of_sums, axis=-1)


def _sizes(totals: ArrayLike) -> list[tuple[Floats, Floats]]:
    """Return D/√Q and √Q of people, and of the metric, `(..., P)` each."""
    parts = np.split(np.asarray(totals, dtype=np.float64), 4, axis=-1)
    errors = [np.sqrt(np.maximum(squares, 0.0)) for squares in parts[1::2]]
    return [(_over(x, error), error) for x, error in zip(parts[::2], errors, strict=True)]


def _over(a: Floats, b: Floats) -> Floats:
    """Return a/b, and 0 if b is 0."""
    return np.divide(a, b, where=b > 0, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)))


@dataclass(frozen=True)
class WithinSegments(Mean):
    """The mean over segments of agreement with human scores: `accuracy`, or a correlation."""

    bounds: tuple[float, float] = (-1.0, 1.0)  # type: ignore[misc]

    @property
    def signature(self) -> str:  # type: ignore[override]
        """That systems are metrics, and what is averaged; ties of shares are calibrated."""
        ties = "|ties:calibrated" if self.bounds[0] == 0 else ""
        return f"systems:metric|within:segments{ties}"


def kendall(people: Floats, metric: Floats) -> Floats:
    """Return Kendall's tau-b of the systems on each segment, `(P, N) -> (N,)`; NaN if undefined."""
    first, second = np.sign(people), np.sign(metric)
    apart = np.sum(np.abs(first), axis=0) * np.sum(np.abs(second), axis=0)
    return _defined(np.sum(first * second, axis=0), np.sqrt(apart), np.any(first, axis=0))


def pearson(people: Floats, metric: Floats) -> Floats:
    """Return Pearson's correlation of the systems on each segment, `(P, N) -> (N,)`.

    For n systems, sums of products of differences over pairs are n times the sums about the means.
    """
    first, second = np.sum(people**2, axis=0), np.sum(metric**2, axis=0)
    return _defined(
        np.sum(people * metric, axis=0), np.sqrt(first) * np.sqrt(second), np.any(people, axis=0)
    )


def _defined(top: Floats, bottom: Floats, known: Flags) -> Floats:
    """Return a correlation; 0 if only the metric has all ties, NaN if people do."""
    return np.where(known, _over(top, bottom), np.nan)


def accuracy(people: Floats, metric: Floats, both: Flags, tie: float) -> Floats:
    """Return the share of pairs on each segment that metric and humans order, or tie, alike.

    Differences of the metric up to `tie` are ties (Deutsch, Foster and Freitag, 2023).
    """
    ordered = np.where(np.abs(metric) <= tie, 0, np.sign(metric))
    right = both & (np.sign(people) == ordered)
    n = np.sum(both, axis=0)
    return np.where(n > 0, np.sum(right, axis=0) / np.maximum(n, 1), np.nan)


def best_tie(people: Floats, metric: Floats, both: Flags) -> float:
    """Return the threshold of ties with the largest mean accuracy of the segments.

    The smallest one on a tie. All differences, and 0, are tried.
    """
    weights = (both / np.maximum(np.sum(both, axis=0), 1))[both]
    first, second = np.sign(people[both]), metric[both]
    # The changes in accuracy when a difference becomes a tie.
    gains = weights * ((first == 0) * 1.0 - (first == np.sign(second)))
    sizes = np.abs(second)
    order = np.argsort(sizes, kind="stable")
    thresholds = np.append(0.0, sizes[order])
    gained = np.append(0.0, np.cumsum(gains[order]))
    # All differences of one size become ties together.
    last = np.append(thresholds[1:] > thresholds[:-1], True)
    thresholds, gained = thresholds[last], gained[last]
    best = np.max(gained)
    return float(thresholds[np.argmax(gained >= best - _EQUAL * len(sizes))])


Measure = Literal["spa", "pa", "acc_eq", "pearson", "kendall"]
#: Measures of all segments together, and the method of their intervals.
_PAIRWISE: dict[str, tuple[type[PairwiseAccuracy], str]] = {
    "spa": (SoftPairwiseAccuracy, "t"),
    "pa": (PairwiseAccuracy, "percentile"),
}
#: Means over segments.
_WITHIN = {
    "acc_eq": WithinSegments("acc_eq", bounds=(0.0, 1.0)),
    "pearson": WithinSegments("Pearson"),
    "kendall": WithinSegments("Kendall"),
}


#: Step of swapped values, which are near 1: metrics that differ by rounding become equal.
_STEP = 2.0**-30


class _Scores(NamedTuple):
    """Scores of systems on N segments, higher is better, and the names of segments."""

    name: str
    of: Mapping[str, Floats]  # by system, (N,), NaN if one is missing
    ids: tuple[str, ...] | None = None
    labels: Mapping[str, tuple[str, ...]] = {}

    @property
    def n(self) -> int:
        """N, the number of segments."""
        return len(next(iter(self.of.values())))


@also_called(metric="metrics", seed="rng")
def meta(
    human: Any,
    metrics: Any,
    measure: Measure = "spa",
    *,
    lower_is_better: Iterable[str] = (),
    groups: str | Sequence[Hashable] | None = None,
    baseline: str | None = None,
    test: Literal["ar", "bootstrap", "t"] = "ar",
    alternative: Alternative = "two-sided",
    adjustment: AdjustmentName = "max-t",
    confidence_level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    rng: Rng = SEED,
    executor: Workers = None,
) -> Comparison:
    r"""Measure how well metrics agree with human scores of systems, and compare the metrics.

    Parameters
    ----------
    human : mapping, frame or SegmentStatistics
        Human scores of every system, one number per segment, `None` or NaN if there is none.
    metrics : mapping, or sequence of SegmentStatistics
        The same for every metric: ``{metric: {system: scores}}``. For statistics, for example from
        `evalstats.extract`, the scores of single segments are used.
    measure : {"spa", "pa", "acc_eq", "pearson", "kendall"}
        ``"spa"``, soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah, 2024): 1 minus
        the mean distance between the metric's and human p-values of two systems. ``"pa"``, the
        share of pairs of systems in the same order (Kocmi et al., 2021). The others are means over
        segments: ``"acc_eq"``, the share of pairs of outputs that metric and humans order, or tie,
        alike; differences of the metric up to its best threshold count as ties (Deutsch, Foster and
        Freitag, 2023); and the correlations of the outputs' scores. Segments with equal human
        scores have no correlation; if only the metric's scores are equal, it is 0.
    lower_is_better : iterable of str
        Metrics of errors; not needed for statistics.
    groups : str or sequence, optional
        One label per segment, or the name of a label: documents, whose segments are swapped
        together.
    baseline : str, optional
        The metric that all others are compared with; by default all pairs are.
    test : {"ar", "bootstrap", "t"}
        By default (``"ar"``) the scores of whole segments are swapped between two metrics, which
        makes no difference if both agree equally well with human scores. The pairwise measures have
        no other test: they are not smooth, and with nearly equal systems, resamples vary more than
        test sets.
    alternative, adjustment, confidence_level, n_resamples, rng, executor
        As in `evalstats.compare`. ``"spa"`` has t intervals, ``"pa"`` percentile intervals, and the
        others bootstrap intervals (t intervals with ``test="t"``).

    Returns
    -------
    Comparison
        Its systems are the metrics, and its only metric is the measure.

    Raises
    ------
    InputError
        If systems or segments do not match, or if the measure does not have this test.

    Notes
    -----
    A human or metric score that is missing is left out for all, so that metrics are compared on the
    same pairs of outputs. For the pairwise measures the differences of each metric are divided by
    the root of their mean square, so that they can be swapped between two metrics. The measures do
    not depend on the scale of a metric.

    Examples
    --------
    >>> import evalstats as es
    >>> human = {"A": [70, 82, 90, None], "B": [65, 80, 71, 60], "C": [40, 55, 70, 52]}
    >>> near = {"A": [7, 8, 9, 8], "B": [6, 8, 7, 6], "C": [4, 5, 7, 5]}
    >>> far = {"A": [3, 5, 4, 6], "B": [5, 4, 6, 6], "C": [4, 5, 5, 6]}
    >>> result = es.meta(human, {"near": near, "far": far})
    >>> print(f"{result.estimates['SPA', 'near'].score:.3f}, p = {result['far'].pvalue:.2f}")
    0.998, p = 0.12
    """
    kind = choice(measure, (*_PAIRWISE, *_WITHIN), "measure")
    is_swapped = choice(test, ("ar", "bootstrap", "t"), "test") == "ar"
    method: str = "bootstrap" if is_swapped else test
    if kind in _PAIRWISE:
        method = _PAIRWISE[kind][1]
        if not is_swapped:
            raise InputError(
                (
                    f"must be 'ar' for {kind}, because the bootstrap is not valid for it; got "
                    f"{test!r}"
                ),
                argument="test",
            )
    all_scores = [_scores(human, "human"), *_each(metrics, list(lower_is_better))]
    people, names = all_scores[0], tuple(one.name for one in all_scores[1:])
    labels = dict(people.labels)
    if groups is not None and not isinstance(groups, str):
        numbers = group_codes(groups, people.n)
        groups = unit_name(groups)
        labels[groups] = tuple(map(str, numbers))
    systems, places, scores, notes = _shared(all_scores)
    known = np.all(np.isfinite(scores), axis=0)
    if lost := known.size - int(np.sum(known)):
        notes.append(
            f"{lost:,} of {known.size:,} outputs are left out, because a score is missing."
        )
    a, b = np.triu_indices(len(systems), 1)
    both = known[a] & known[b]
    kept = np.any(both, axis=0)
    scores = np.where(known, scores, 0.0)
    pairs = np.where(both, scores[:, a] - scores[:, b], 0.0)
    # Where no pair has all scores that is said below.
    if np.any(both) and not np.any(pairs[0]):
        raise InputError("has equal scores for all systems on every segment", argument="human")
    metric: Metric
    if kind in _PAIRWISE:
        between = [f"{systems[i]} - {systems[j]}" for i, j in zip(a, b, strict=True)]
        for i in np.flatnonzero(~np.any(both, axis=1))[:1]:
            raise InputError(
                f"no segment has scores from all of {between[i]}; leave one of them out"
            )
        metric, values = _pairwise(kind, pairs, between)
        notes.append(
            "p-values come from swapping the scores of whole segments between two metrics. "
            f"Intervals are for the mean {metric.name} of test sets of this size. Verdicts are "
            "based on the p-values only."
        )
    else:
        values, said = _within(kind, pairs, both, names)
        metric, told = _WITHIN[kind], np.isfinite(values[0, :, 0])
        if n := int(np.sum(kept & ~told)):
            said.append(f"Segments with equal scores by people are left out ({n:,}).")
        kept &= told
        notes += said
    if not np.any(kept):
        raise InputError("has equal scores for all systems on every segment", argument="human")
    of_table = places[kept].tolist()
    table = SegmentStatistics(
        values[:, kept],
        names,
        metric,
        segment_ids=None if people.ids is None else tuple(people.ids[i] for i in of_table),
        labels={name: tuple(codes[i] for i in of_table) for name, codes in labels.items()},
    )
    options = Options(
        method=method,
        alternative=alternative,
        adjustment=adjustment,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        executor=executor,
        swapped=swapped_pvalues if is_swapped else None,
    )
    task, compared_pairs = as_task(table, groups=groups), as_pairs(names, baseline)
    return compared(Evaluation([task], compared_pairs, options), baseline).noting(*notes)


def _scores(given: Any, name: str, higher: bool = True) -> _Scores:
    """Return scores given by system, or as statistics of segments."""
    if isinstance(given, SegmentStatistics):
        sign = 1 if higher and given.metric.higher_is_better else -1
        scores = sign * unit_scores(given.metric, given.values)
        by_name = dict(zip(given.systems, scores, strict=True))
        return _Scores(name, by_name, given.segment_ids, given.labels)
    frame = columns_of(given)
    by_system = given if frame is None else dict(frame)
    if not isinstance(by_system, Mapping) or not by_system:
        kind = type(given).__name__
        raise InputTypeError(f"{name} must map systems to scores, one per segment, got {kind}")
    by_name = {}
    for system, values in by_system.items():
        where = f"{name}, {system}"
        values = listed(values, where, "scores, one per segment, None if there is none")
        gone = [is_missing(x) for x in values]
        there = [0.0 if no else x for x, no in zip(values, gone, strict=True)]
        numbers = as_numbers(there, where, None)
        if str(system) in by_name:
            said = f"{name} has two systems called {str(system)!r}; rename one of them"
            raise InputError(said)
        by_name[str(system)] = np.where(gone, np.nan, numbers if higher else -numbers)
    if len(sizes := {len(x) for x in by_name.values()}) > 1:
        raise InputError(
            f"{name} must have the same number of scores for every system (None if a score is "
            f"missing), got {min(sizes):,} to {max(sizes):,}"
        )
    return _Scores(name, by_name)


def _each(metrics: Any, lower: Sequence[str]) -> list[_Scores]:
    """Return the scores of each of at least two metrics."""
    if isinstance(metrics, Sequence) and all(isinstance(x, SegmentStatistics) for x in metrics):
        metrics = dict(zip(distinct_names([x.metric for x in metrics]), metrics, strict=True))
    if not isinstance(metrics, Mapping):
        kind = type(metrics).__name__
        said = f"must map metrics to scores by system, got {kind}"
        raise InputTypeError(said, argument="metrics")
    if len(metrics) < 2:
        raise InputError(
            f"must contain at least two metrics, got {len(metrics)}; pass metrics, or logs with "
            "their scores",
            argument="metrics",
        )
    for name in lower:
        if name not in metrics:
            raise InputError(
                f"contains the unknown metric {name!r}; {meant(name, metrics)}",
                argument="lower_is_better",
            )
    return [_scores(scores, str(name), name not in lower) for name, scores in metrics.items()]


def _shared(all_scores: Sequence[_Scores]) -> tuple[list[str], NDArray[np.intp], Floats, list[str]]:
    """Return shared systems, people's places of shared segments, and scores `(M, S, N)`."""
    people, notes = all_scores[0], []
    systems = [system for system in people.of if all(system in one.of for one in all_scores)]
    if len(systems) < 2:
        raise InputError(
            f"people and metrics must have at least 2 systems in common, got {len(systems)}: "
            f"people scored {first_few(people.of, ', ')}"
        )
    if others := [system for one in all_scores for system in one.of if system not in systems]:
        notes.append(
            "Systems that some metrics (or people) did not score are left out: "
            f"{first_few(others, ', ')}."
        )
    ids = [one.ids for one in all_scores if one.ids is not None]
    places = [np.arange(people.n)] * len(all_scores)
    if len(ids) == len(all_scores):
        places = shared_places(ids, [one.name for one in all_scores], "intersect")
    for one in all_scores if len(ids) < len(all_scores) else ():
        if one.n != people.n:
            raise InputError(
                f"{one.name} has {one.n:,} scores per system, but people have {people.n:,}; use "
                "None for missing scores"
            )
    at = zip(all_scores, places, strict=True)
    return systems, places[0], np.array([[x.of[s][i] for s in systems] for x, i in at]), notes


def _in_steps(pairs: Floats) -> Floats:
    """Return differences `(M, P, N)` in units of the root of their mean square, in whole steps."""
    # Scaled by a power of two first, which is exact, so that squares do not overflow.
    largest = np.exp2(np.frexp(np.max(np.abs(pairs), axis=(1, 2), keepdims=True))[1] - 1)
    pairs = pairs / largest
    sizes = np.sqrt(np.mean(np.square(pairs), axis=(1, 2), keepdims=True))
    units = np.where(sizes > 0, sizes, 1.0) * _STEP
    return np.asarray(np.rint(pairs / units) * _STEP)


def _pairwise(kind: str, pairs: Floats, between: Sequence[str]) -> tuple[Metric, Floats]:
    """Return a measure of all segments, and metrics' statistics, from differences `(1 + M, P, N)`.

    Differences are in units of their root mean square, so that they can be swapped between metrics.
    """
    pairs = np.swapaxes(_in_steps(pairs), 1, 2)
    both = np.concatenate([pairs, np.square(pairs)], axis=-1)
    sides = [np.broadcast_to(both[:1], both[1:].shape), both[1:]]
    columns = tuple(f"{x} of {name}" for x in ("D", "Q", "d", "q") for name in between)
    return _PAIRWISE[kind][0](columns), np.concatenate(sides, axis=-1)


def _within(
    kind: str, pairs: Floats, both: Flags, names: Sequence[str]
) -> tuple[Floats, list[str]]:
    """Return statistics of a mean over segments, NaN where it is undefined, and notes."""
    people, notes = pairs[0], []
    if kind == "acc_eq":
        # Differences due to rounding are ties, on any scale.
        steps = _in_steps(pairs)
        people = steps[0]
        ties = [best_tie(people, differences, both) for differences in steps[1:]]
        sides = zip(steps[1:], ties, strict=True)
        values = [accuracy(people, differences, both, tie) for differences, tie in sides]
        largest, most = (np.max(np.abs(x), axis=(1, 2)) for x in (pairs, steps))
        units = largest / np.maximum(most, _STEP)
        shown = zip(names, ties * units[1:], strict=True)
        said = ", ".join(f"{tie:.4g} ({name})" for name, tie in shown)
        how = f"differ by at most {said}" if np.any(ties) else "are equal"
        notes.append(f"Two outputs tie if their scores {how}.")
    else:
        correlation = kendall if kind == "kendall" else pearson
        values = [correlation(people, differences) for differences in pairs[1:]]
    rounded = np.rint(np.array(values) / _STEP) * _STEP
    return np.stack([rounded, np.ones(rounded.shape)], axis=-1), notes
