"""Which items a new system is to be run on: drawn, with what that will be worth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evalstats.analysis.design import Labels, as_units, check_enough, refuse_crossed, unit_name
from evalstats.analysis.options import SEED
from evalstats.analysis.tasks import as_task, is_statistics, labels_of
from evalstats.checks import also_called, choice, integer
from evalstats.designs.plans.drawing import (
    drawn,
    influence,
    penalty,
    probabilities,
    residual_squares,
    residuals,
)
from evalstats.designs.plans.plan import WAYS, Expected, LeftOut, Plan
from evalstats.errors import InputError
from evalstats.metrics import Mean
from evalstats.metrics.base import Floats
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.notes import FEW, FEW_GROUPS
from evalstats.results.records import counted
from evalstats.statistics.extraction import Metrics
from evalstats.statistics.interchange import identity, made_by
from evalstats.statistics.segments import SegmentStatistics


@also_called(systems="earlier", metric="metrics", seed="rng")
def plan(
    earlier: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    n: int,
    how: str = "equal",
    groups: Labels = None,
    strata: Labels = None,
    rng: Rng = SEED,
) -> Plan:
    """Draw the items that a new system is run on, so that its scores are those of all items.

    Parameters
    ----------
    earlier : mapping of str to sequence, or SegmentStatistics, or a list of them
        Systems that were run on all items, as `compare` takes them, or the tables of a log; or a
        list of a judge's scores of all outputs of one system, of which people label a part.
    references, metrics
        As in `compare`.
    n : int
        How many items to run; where groups are drawn, in the mean.
    how : {"equal", "active"}
        Whether all items are as likely to be drawn, or those more on which earlier systems, at
        least three, are hard to predict from one another.
    groups, strata : sequence or str, optional
        One label an item, or the name that statistics have for them: groups are drawn whole, and
        each stratum has its part. The comparison needs the same.
    rng : int or numpy.random.Generator, optional
        Seed of the draw.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    A drawn item counts 1/π times, with π the probability that it is drawn, and what is added for
    the others is λ times what the mean of earlier systems, and that of the systems that are run on
    all, let expect: the difference estimator (Horvitz and Thompson, 1952; Särndal, Swensson and
    Wretman, 1992), with the λ of the smallest variance (Angelopoulos, Duchi and Zrnic, 2023).
    Totals are unbiased whatever earlier systems are like; where these say little, the plan says so
    before anything is run. Active probabilities are three quarters in proportion to the root of
    earlier systems' squared residuals, shrunk to their mean, and one quarter equal (after Zrnic and
    Candès, 2024).

    Examples
    --------
    >>> import evalstats as es, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> easy = rng.normal(1, 2, size=400)
    >>> a, b, c, new = (easy + rng.normal(size=(4, 400)) > 0).astype(float)
    >>> plan = es.plan({"a": a, "b": b, "c": c}, metrics=es.Mean("solved"), n=100)
    >>> len(plan.items), round(plan.worth["solved"].difference)
    (100, 131)
    >>> part = [new[i] if i in plan.items else None for i in range(400)]
    >>> print(es.compare(plan.data({"a": a, "new": part})).notes[0])
    solved: new was run on 100 of 400 items; its difference counts as 132 would (...).
    """
    how = choice(how, WAYS, "how")
    is_named = isinstance(earlier, Mapping) or is_statistics(earlier) or hasattr(earlier, "columns")
    given = earlier if is_named else {"judge": earlier}
    task = as_task(given, references, metrics, groups=groups, strata=strata, executor=1)
    tables, n_items, n_earlier = task.tables, task.tables[0].n_segments, len(task.systems)
    for table in tables:
        _check_earlier(table)
    n = integer(n, "n", 2, n_items)
    if how == "active" and n_earlier < 3:
        raise InputError(
            f"'active' needs at least 3 earlier systems, of which it takes residuals, got "
            f"{n_earlier}; leave it out",
            argument="how",
        )
    of_groups, of_strata = labels_of(tables, groups, "groups"), labels_of(tables, strata, "strata")
    units = as_units(n_items, of_groups, of_strata, unit_name(groups), (tables[0].unit, ""))
    refuse_crossed(units, "plan")
    check_enough(units.n, units.unit)
    members, sizes = units.of_segments, np.bincount(units.of_segments).astype(np.float64)
    rows = tables if units.members is None else [table.grouped(members) for table in tables]
    each = [(table, row.values.astype(np.float64)) for table, row in zip(tables, rows, strict=True)]
    squares = None
    if how == "active":
        squares = np.sum([residual_squares(table.metric, x) for table, x in each], axis=0)
    chances, seed = probabilities(sizes, n, squares), as_seed(rng)
    codes = np.zeros(units.n, np.intp) if units.strata is None else units.strata
    got = drawn(chances, codes, np.random.default_rng(seed))
    whole, within = (() if of is None else tuple(map(str, of)) for of in (of_groups, of_strata))
    few = FEW if units.members is None else FEW_GROUPS
    rough = f"{counted(len(got), units.unit)} drawn: below {few}, intervals and p-values are rough."
    return Plan(
        drawn=tuple(np.flatnonzero(np.isin(members, got)).tolist()),
        n_items=n_items,
        n_earlier=n_earlier,
        chances=tuple(chances[members].tolist()),
        how=how,
        seed=seed,
        expected=tuple(
            Expected(
                json.dumps({**identity(table.metric), **made_by(table.metric)}),
                tuple(tuple(row) for row in np.sum(table.values, axis=0, dtype=float).tolist()),
                table.fingerprint,
            )
            for table in tables
        ),
        left_out=tuple(
            row for table, x in each for row in _left_out(table, x, sizes, n, chances, how)
        ),
        ids=tables[0].segment_ids or (),
        unit=units.unit,
        units=whole,
        stratum=unit_name(strata, "stratum") if within else "",
        strata=within,
        notes=(rough,) if len(got) < few else (),
        own_metrics=tuple(table.metric for table in tables),
    )


def _check_earlier(table: SegmentStatistics) -> None:
    """Refuse systems that lack an item, and scores of several runs, or of judge and people."""
    if hasattr(table.metric, "metric"):
        raise InputError(
            f"must have one score an item, got {table.metric.signature}; give means of runs",
            argument="earlier",
        )
    counts = table.values[..., 1:] if table.metric.columns == Mean.columns else table.values
    for i, item in np.argwhere(~np.any(counts != 0, axis=2))[:1]:
        raise InputError(
            f"must have been run on all items, and {table.systems[i]!r} was not on item {item} "
            f"(from 0); leave the system out, or the item",
            argument="earlier",
        )


def _left_out(
    table: SegmentStatistics,
    values: Floats,
    sizes: Floats,
    n: int,
    chances: Floats,
    how: str,
) -> Iterator[LeftOut]:
    """Yield what the plan is worth to each system of `(K, U, k)`, if only the others were known."""
    metric, n_items = table.metric, table.n_segments
    if len(values) == 1:
        yield LeftOut(metric.name, table.systems[0], None, None)
        return
    added = np.stack([influence(metric, of, of) for of in values])
    # What rounding leaves of no variance.
    nothing = (1e-12 * float(np.max(np.abs(metric.score(np.sum(values, axis=1)))))) ** 2
    if not np.any(np.sum((added - added[0]) ** 2, axis=1) > nothing):
        alike = "have the same score on every item, or are identical"
        raise InputError(
            f"{alike}, under {metric.name}: what does not vary says nothing of what a plan is "
            f"worth; give systems that differ",
            argument="earlier",
        )
    for i, system in enumerate(table.systems):
        others: Sequence[int] = [j for j in range(len(values)) if j != i]
        if how == "active" and len(others) > 2:
            chances = probabilities(sizes, n, residual_squares(metric, values[others]))
        # What the draw adds to the variance, and what is there if all are run.
        more = penalty(residuals(metric, values, i), chances)
        there = np.sum((added[i] - np.vstack([0 * added[i], added[others]])) ** 2, axis=1)
        worth = n_items * np.divide(there, there + more, out=np.ones(len(there)), where=there > 0)
        yield LeftOut(metric.name, system, float(worth[0]), float(np.mean(worth[1:])))
