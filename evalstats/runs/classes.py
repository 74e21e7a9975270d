"""The same classes for all runs: a log knows only those that were gold or predicted in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalstats.metrics import Confusion
from evalstats.statistics.segments import SegmentStatistics


def with_same_classes(tables: Sequence[SegmentStatistics]) -> list[SegmentStatistics]:
    """Return tables of `Confusion` with the classes of all of them; others as they are.

    A class that a log has not counts 0 items there, which changes no score but a macro-average that
    counts absent classes as 0: those are left as they are, and do not join.
    """
    metrics = [table.metric for table in tables]
    known = [metric for metric in metrics if isinstance(metric, Confusion)]
    if len(known) < len(metrics) or len({metric.labels for metric in known}) == 1:
        return list(tables)
    if any(m.measure.startswith("macro") and m.absent == "zero" for m in known):
        return list(tables)
    union = {name for metric in known for name in metric.labels}
    if len({type(name) for name in union}) > 1:
        return list(tables)
    labels = tuple(sorted(union))
    return [
        _with_classes(table, metric, labels) for table, metric in zip(tables, known, strict=True)
    ]


def _with_classes(
    table: SegmentStatistics, metric: Confusion, labels: tuple[str | int, ...]
) -> SegmentStatistics:
    wider = replace(metric, labels=labels)
    values = table.values
    if len(wider.columns) > len(metric.columns):
        values = np.zeros((*values.shape[:2], len(labels), 3), dtype=values.dtype)
        places = [labels.index(name) for name in metric.labels]
        values[:, :, places] = table.values.reshape(*values.shape[:2], -1, 3)
        values = values.reshape(*values.shape[:2], -1)
    return replace(table, metric=wider, values=values, metric_signature="")
