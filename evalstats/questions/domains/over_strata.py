"""Whether differences hold in other domains: strata as a sample, t over their differences."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import unit_name
from evalstats.analysis.drawn import Drawn
from evalstats.analysis.scores import ScoreSum, Segments
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.questions.domains.across import MeanDifference, OverStrata
from evalstats.questions.domains.by_stratum import labelled
from evalstats.results.records import Difference, distinct
from evalstats.statistics.names import group_codes
from evalstats.statistics.values import summed_within

Floats = NDArray[np.float64]


def over(
    comparison: Comparison, evaluation: Evaluation, by: str | Iterable[Hashable]
) -> OverStrata:
    """Return mean differences over strata: the tasks, or what labels of segments make."""
    if isinstance(by, str) and by == "task" and len(comparison.tasks) > 1:
        return over_tasks(comparison)
    if len(comparison.tasks) > 1:
        raise InputError(
            "takes labels of the segments of one task, and there are "
            f"{len(comparison.tasks)}; give 'task', or compare a task alone",
            argument="over",
        )
    drawn, names, _ = labelled(comparison, evaluation, by, "over")
    return over_labels(comparison, drawn, unit_name(by, "stratum"), names)


def over_tasks(comparison: Comparison) -> OverStrata:
    """Return the mean differences over the tasks of a comparison."""
    own: dict[tuple[str, str, str], dict[str, float]] = {}
    for d in comparison.rows:
        own.setdefault((d.metric, d.system, d.baseline), {})[d.task] = d.difference
    single = distinct(metric for (metric, _, _), of in own.items() if len(of) < 2)
    some = [d for d in comparison.rows if d.metric not in single]
    if not some:
        raise InputError(
            "over('task') needs a metric that at least 2 tasks have; "
            f"{', '.join(single)} has 1 task each"
        )
    notes = [f"{', '.join(single)}: of one task, and left out."] if single else []
    return _found(comparison, "task", some, lambda d: own[d.metric, d.system, d.baseline], notes)


def over_labels(
    comparison: Comparison, drawn: Mapping[str, Drawn], by: str, labels: Sequence[object]
) -> OverStrata:
    """Return the mean differences over the strata that the labels of segments make."""
    names = distinct(map(str, labels))
    if len(names) < 2:
        raise InputError(
            f"needs at least 2 strata, and all segments have {by} {names[0]!r}; give labels "
            f"that tell domains apart",
            argument="over",
        )
    scores = {metric: _of_strata(one.segments, labels, names) for metric, one in drawn.items()}

    def differences(d: Difference) -> dict[str, float]:
        systems = drawn[d.metric].of.systems
        a, b = (scores[d.metric][systems.index(name)] for name in (d.baseline, d.system))
        return dict(zip(names, (b - a).tolist(), strict=True))

    return _found(comparison, by, comparison.differences, differences)


def _of_strata(of: Segments, labels: Sequence[object], names: Sequence[str]) -> Floats:
    """Return the corpus score of each system in each stratum, `(S, k)`."""
    first = of.blocks[0]
    if any(isinstance(block.metric, ScoreSum) for block in of.blocks):
        raise InputError(
            "needs the statistics of every segment, and strata of one unit were drawn "
            "together as one score; compare without strata",
            argument="over",
        )
    # The blocks of an average over strata, one after the other, in the order of the segments.
    places = [np.arange(len(labels))[block.segment_places] for block in of.blocks]
    order = np.argsort(np.concatenate(places), kind="stable")
    segments = np.concatenate([block.segments for block in of.blocks], axis=1)[:, order]
    totals = summed_within(segments, group_codes(list(map(str, labels)), len(labels), "over"))
    scores = first.score(totals.astype(np.float64))
    if not np.all(np.isfinite(scores)):
        i, j = np.argwhere(~np.isfinite(scores))[0]
        raise InputError(
            f"{of.metric_name} of system {of.systems[i]!r} in {names[j]!r} is not finite; join "
            f"that stratum with another"
        )
    return scores


def _found(
    comparison: Comparison,
    by: str,
    some: Sequence[Difference],
    differences: Callable[[Difference], Mapping[str, float]],
    notes: Sequence[str] = (),
) -> OverStrata:
    level = comparison.confidence_level
    # Of several tasks each pair has one row here.
    firsts = {(d.metric, d.system, d.baseline): d for d in reversed(some)}
    rows = [d for d in some if firsts[d.metric, d.system, d.baseline] is d]
    return OverStrata(
        by=by,
        means=tuple(_mean_difference(d, differences(d), level) for d in rows),
        confidence_level=level,
        signatures=tuple(distinct(comparison.signature_of(d) for d in some)),
        notes=tuple(notes),
    )


def _mean_difference(d: Difference, of: Mapping[str, float], level: float) -> MeanDifference:
    values, k = np.array(list(of.values())), len(of)
    # Squares of large or small scores are no numbers.
    unit = float(student.unit_of(values))
    mean, spread = float(np.mean(values / unit)) * unit, float(np.std(values / unit, ddof=1)) * unit
    alpha = float(f"{1 - level:.12g}")
    low, high = student.interval(mean, spread / k**0.5, k - 1, alpha)
    below, above = student.interval(mean, spread * (1 + 1 / k) ** 0.5, k - 1, alpha)
    return MeanDifference(
        metric=d.metric,
        system=d.system,
        baseline=d.baseline,
        strata=tuple(of),
        differences=tuple(values.tolist()),
        difference=mean,
        standard_error=spread / k**0.5,
        low=low,
        high=high,
        predicted_low=below,
        predicted_high=above,
        higher_is_better=d.higher_is_better,
    )
