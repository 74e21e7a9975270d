"""A comparison taken apart: the segments of each stratum as a task of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalstats.analysis.inputs import Given
from evalstats.analysis.sampling import Sample
from evalstats.analysis.totals import Total, as_totals
from evalstats.errors import InputError
from evalstats.metrics.averages import MeanOfRuns
from evalstats.statistics.names import group_codes
from evalstats.statistics.segments import SegmentStatistics


def taken_apart(
    samples: Sequence[Sample], labels: Sequence[object], groups: Sequence[str] | None
) -> tuple[dict[str, Given], list[Total]]:
    """Return what is given of each stratum, by its label, and the total of all segments.

    `groups` are the labels of what is drawn, one a segment, where that is not segments.
    """
    if any(len(sample.of.blocks) > 1 for sample in samples):
        raise InputError(
            "takes a score of all segments together apart, and this one is an average over "
            "strata; leave aggregate out",
            argument="by",
        )
    if any(isinstance(sample.of.blocks[0].metric, MeanOfRuns) for sample in samples):
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
    unit, tables = samples[0].units.unit, {}
    for code, name in enumerate(names):
        places = np.flatnonzero(codes == code)
        own = {} if groups is None else {unit: tuple(groups[i] for i in places.tolist())}
        tables[name] = [_table(sample, places, own) for sample in samples]
    within = None if groups is None else unit
    given = {name: Given(tables[name], groups=within) for name in tables}
    of: dict[str, Any] = dict.fromkeys(tables, within) if within else {}
    return given, as_totals(tables, "micro", of)


def _table(sample: Sample, places: Any, labels: dict[str, tuple[str, ...]]) -> SegmentStatistics:
    """Return the statistics of some segments of a sample."""
    of = sample.of
    block = of.blocks[0]
    return SegmentStatistics(
        block.segments[:, places],
        of.systems,
        block.metric,
        reference_label=of.reference_label,
        labels=labels,
    )
