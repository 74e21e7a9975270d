"""What documents, and runs, add to the error of a score: the design effect."""

from __future__ import annotations

from typing import Any

from evalstats.analysis import variances
from evalstats.analysis.sampling import Sample, moves_of
from evalstats.analysis.units import StratumRows


def design(sample: Sample, i: int) -> dict[str, float]:
    """Return fields of the `Estimate` of system i; none where segments of one run were drawn."""
    units = sample.units
    if units is None or sample.segments is None or not (units.grouped or sample.has_runs):
        return {}
    metric = sample.table.metric
    rows: Any = sample.segments.values[[i]]
    if isinstance(sample.values, StratumRows) and units.segment_strata is not None:
        rows = StratumRows(rows, units.segment_strata)
    alone = variances.of_segments(metric, rows, units.segment_strata)
    found = {"segment_error": alone}
    if units.grouped:
        moves = moves_of(sample, (i,))
        grouped = float(variances.of_units(moves, units.sizes, units.strata)[1])
        # Where nothing varies, documents add nothing.
        effect = (grouped / alone) ** 2 if alone > 0 and grouped > 0 else 1.0
        found["design_effect"] = effect
        found["effective_size"] = sample.segments.n_segments / effect
    if sample.has_runs:
        found["run_error"] = variances.of_runs(metric, sample.values[[i]])
    return found
