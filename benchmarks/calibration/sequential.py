"""Whole walks of `SequentialTest`: false passes where nothing should pass, items that are saved.

- *none*: it is asked whether a system is better that is not;
- *margin*: the loss is exactly the margin, so that either verdict is wrong;
- *gain*: it is better, and it is asked how often and on which share of the items that is found;
- *sequence*: a hundred looks without a plan;
- *far*, *far_sequence*: as *none* and *sequence*, and how often no note speaks of rare falls.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import evalstats as es
from benchmarks.calibration.questions import units
from benchmarks.calibration.samples import Happened, Sample


def _watch(sample: Sample, seed: int, n_looks: int, kind: str) -> Happened:
    (table,) = sample.tables
    ((name, (old, new)),) = sample.truth.items()
    limit: dict[str, Any] = {}
    if kind == "margin":
        limit["margin"] = float(old - new if table.metric.higher_is_better else new - old)
    # Counts decide about 0/1 scores; the bootstrap of others has no other levels, and takes longer.
    is_shares = set(np.unique(table.values)) <= {0, 1}
    n, plan = units(sample), None if "sequence" in kind else units(sample)
    method = "bootstrap" if is_shares else "t"
    test = es.SequentialTest(plan, n_looks, table.metric, test=method, rng=seed, **limit)
    labels = sample.labels.get("groups", np.arange(table.n_segments))
    for j in range(1, n_looks + 1):
        some = int(np.searchsorted(labels, -(-n * j // n_looks)))
        part = es.SegmentStatistics(table.values[:, :some], table.systems, table.metric)
        groups = {"groups": labels[:some]} if sample.labels else {}
        look = test.look(part, table.systems[0], **groups)
        if look.verdict != "go on":
            break
    is_wrong = look.pvalue_failed is not None and look.pvalue_failed <= look.level
    if kind == "gain":
        yield name, "found", look.verdict == "passed"
        yield name, "share of items", look.n_units / n
    else:
        yield name, "wrong pass", look.verdict == "passed"
        yield name, "wrong failure", look.verdict == "failed" and is_wrong
    if "far" in kind:
        is_told = any("falls far" in note for note in test.result.notes)
        yield name, "note", is_told
        yield name, "wrong pass without a note", look.verdict == "passed" and not is_told


none, margin, gain, sequence, far, far_sequence = (
    partial(_watch, kind=kind)
    for kind in ("none", "margin", "gain", "sequence", "far", "far sequence")
)
