"""A comparison taken apart: the segments of each stratum as a task of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalstats.analysis.blocks import Segments
from evalstats.analysis.drawn import Drawn
from evalstats.analysis.tasks import Task
from evalstats.analysis.totals import Total, as_totals
from evalstats.analysis.units import Labels
from evalstats.errors import InputError
from evalstats.statistics.names import group_codes
from evalstats.statistics.segments import SegmentStatistics


def taken_apart(
    drawn: Sequence[Drawn], labels: Sequence[object], groups: Sequence[str] | None
) -> list[Task | Total]:
    """Return a task for each stratum, by its label, and the totals of all segments.

    `groups` are the labels of what is drawn, one a segment, where that is not segments.
    """
    segments = [one.segments for one in drawn if one.segments is not None]
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
    unit = drawn[0].units.unit
    tables: dict[str, list[SegmentStatistics]] = {}
    for code, name in enumerate(names):
        places = np.flatnonzero(codes == code)
        groups_of = {} if groups is None else {unit: tuple(groups[i] for i in places.tolist())}
        tables[name] = [_table(of, places, groups_of) for of in segments]
    within = None if groups is None else unit
    of_tasks: dict[str, Labels] = dict.fromkeys(tables, within) if within else {}
    tasks = [Task(of, name, groups=within) for name, of in tables.items()]
    return [*tasks, *as_totals(tables, "micro", of_tasks)]


def _table(of: Segments, places: Any, labels: dict[str, tuple[str, ...]]) -> SegmentStatistics:
    """Return the statistics of the segments in these places."""
    (block,) = of.blocks
    assert block.metric is not None
    return SegmentStatistics(
        block.segments[:, places],
        of.systems,
        block.metric,
        reference_label=of.reference_label,
        labels=labels,
    )
