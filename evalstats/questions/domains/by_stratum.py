"""A comparison taken apart: the segments of each stratum as a task of their own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Labels
from evalstats.analysis.drawn import Drawn
from evalstats.analysis.scores import Segments
from evalstats.analysis.tasks import Task, Total, as_totals, labels_of
from evalstats.checks import listed
from evalstats.errors import InputError
from evalstats.questions.domains.heterogeneity import heterogeneity_notes
from evalstats.statistics.names import group_codes
from evalstats.statistics.segments import SegmentStatistics

T = TypeVar("T")


def labelled(
    comparison: Comparison, evaluation: Evaluation, labels: str | Iterable[Hashable], asking: str
) -> tuple[dict[str, Drawn], list[Hashable], Task]:
    """Return what is drawn under each metric, a label of each segment, and the only task."""
    each = [evaluation.with_segments(d, asking) for d in comparison.differences]
    task, drawn = each[0]
    assert isinstance(task, Task)
    names = listed(labels_of(task.tables, labels, asking), asking, "labels, one a segment")
    group_codes(names, drawn.units.n_segments, asking)
    return {one.of.name: one for _, one in each}, names, task


def by_stratum(
    comparison: Comparison, evaluation: Evaluation, labels: str | Iterable[Hashable]
) -> Comparison:
    """Return the comparison with a row for each stratum that the labels make."""
    if len(comparison.tasks) > 1:
        raise InputError(
            "takes one task apart, and there are several, which have rows of their own; leave "
            "it out, or compare a task alone",
            argument="by",
        )
    drawn, names, task = labelled(comparison, evaluation, labels, "by")
    strata = taken_apart(list(drawn.values()), names, task)
    of_strata = Evaluation(strata, evaluation.pairs, evaluation.options, evaluation.notes)
    result = compared(of_strata, comparison.baseline)
    return result.noting(*heterogeneity_notes(result))


def taken_apart(
    drawn: Sequence[Drawn], labels: Sequence[object], whole: Task
) -> list[Task | Total]:
    """Return a task for each stratum, by its label, and the totals of all segments.

    Segments keep the names and texts that they have in the whole task.
    """
    segments = [one.segments for one in drawn]
    if any(len(of.blocks) > 1 for of in segments):
        raise InputError(
            "takes a score of all segments together apart, and this one is an average over "
            "strata; leave aggregate out",
            argument="by",
        )
    if any(of.runs is not None for of in segments):
        raise InputError(
            "takes one run of each system apart, and there are several; give scores that are means "
            "of the runs",
            argument="by",
        )
    codes = group_codes(list(labels), len(labels), "by")
    names = list(dict.fromkeys(map(str, labels)))
    if len(names) < 2:
        raise InputError(
            f"needs at least 2 strata, and all segments are in {names[0]!r}; give labels that tell "
            f"domains apart",
            argument="by",
        )
    units, ids = drawn[0].units, whole.segment_names()
    within = None if units.members is None else units.unit
    groups = whole.unit_names() if within else []
    tasks: list[Task] = []
    for code, name in enumerate(names):
        places = np.flatnonzero(codes == code).tolist()
        labels_of = {within: _at(groups, places)} if within else {}
        tables = [_table(of, places, labels_of, _at(ids, places)) for of in segments]
        outputs = {system: _at(texts, places) for system, texts in whole.outputs.items()}
        references = _at(whole.references, places) if whole.references else ()
        tasks.append(Task(tables, name, groups=within, outputs=outputs, references=references))
    of_tasks: dict[str, Labels] = {task.name: within for task in tasks if within}
    return [*tasks, *as_totals({x.name: list(x.tables) for x in tasks}, "micro", of_tasks)]


def _at(values: Sequence[T], places: Sequence[int]) -> tuple[T, ...]:
    return tuple(values[i] for i in places)


def _table(
    of: Segments, places: Sequence[int], labels: dict[str, tuple[str, ...]], ids: tuple[str, ...]
) -> SegmentStatistics:
    """Return the statistics of the segments in these places."""
    (block,) = of.blocks
    return SegmentStatistics(
        block.segments[:, places],
        of.systems,
        block.metric,
        reference_label=of.reference_label,
        labels=labels,
        segment_ids=ids,
    )
