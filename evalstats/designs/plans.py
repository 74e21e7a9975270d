r"""Plans: which items to run a new system on, and its estimated statistics for all items.

Items are drawn with known probabilities, and the expected precision is known beforehand. The row of
item i comes from the difference estimator (Horvitz and Thompson, 1952; Särndal, Swensson and
Wretman, 1992), which Zrnic and Candès (2024) call active inference:

.. math:: \lambda f_i + \frac{\xi_i}{\pi_i} (h_i - \lambda f_i)

with h the statistics of the system, f the statistics expected from earlier systems, π the
probability that the item is drawn and ξ whether it was. The sum over the items is unbiased for any
f and λ. Systems that were run on all items, such as the previous version of a new system, give a
second f with its own λ.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.design import Labels, as_units, check_enough, refuse_crossed, unit_name
from evalstats.analysis.settings import SEED
from evalstats.analysis.tasks import as_task, is_statistics, labels_of, tables_of
from evalstats.checks import (
    also_called,
    check_names,
    choice,
    integer,
    is_missing,
    label,
    listed,
    shown,
)
from evalstats.designs.judges import Judged, bounded_weights, less_mean
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.metrics import Mean
from evalstats.metrics.base import Correction, Floats, LabelledMetric, Metric, MetricSignature, keep
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results import files
from evalstats.results.convert import Count, FreeText, NotNegative, Seed, Share, Whole
from evalstats.results.forms import Finding, Several
from evalstats.results.notes import FEW, FEW_GROUPS, approximate_below
from evalstats.results.records import Record, counted, first_few, plural
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.extraction import Metrics, as_systems, extract_all
from evalstats.statistics.guards import text_cautions
from evalstats.statistics.interchange import identity, is_same_metric, made_by, rebuilt
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import References, as_references

if TYPE_CHECKING:
    from evalstats.analysis.design import Units

#: Equal probabilities, or larger ones for items with large residuals of earlier systems.
WAYS = ("equal", "active")
#: The share of active probabilities that is equal for all items, so that none is nearly 0.
_EQUAL = 0.25
_NEXT = "Run the new system on these items only (to_csv() lists them). Save plan.json as well."
Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class LeftOut(Record):
    """The precision of a plan for an earlier system, if only the other systems were known.

    `difference` is for the mean difference from the others; `None` if there is only one system.
    """

    metric: str
    system: str
    score: NotNegative | None
    difference: NotNegative | None

    def _title(self) -> str:
        return f"{self.system}, {self.metric}"


@dataclass(frozen=True)
class Expected(Record):
    """The sums of earlier systems' statistics of each item, `(N, k)`, for one metric.

    `metric` is its class and options, as JSON.
    """

    metric: FreeText
    sums: tuple[tuple[float, ...], ...]
    fingerprint: str | None


@dataclass(frozen=True, repr=False)
class Plan(Several[LeftOut]):
    """Which items to run (or label), and what earlier systems predict for the others.

    Made by `evalstats.plan`. Printing it shows its precision, `to_csv` and `to_dataframe` list the
    items to run, and iterating yields a `LeftOut` for each metric and earlier system.

    Attributes
    ----------
    drawn : tuple of int
        The places of the items to run, from 0.
    n_items, n_earlier : int
        Number of items, and of earlier systems that were run on all items.
    chances : tuple of float
        The probability that each item is drawn.
    how, seed : str, int
        How it was drawn: "equal" or "active".
    expected, left_out : tuple
        An `Expected` for each metric, a `LeftOut` for each metric and earlier system.
    ids : tuple of str
        The ids of all items, or empty.
    unit, units, stratum, strata : str or tuple of str
        The groups drawn whole and the strata drawn within: their names, and their labels for each
        item.

    Examples
    --------
    >>> import evalstats as es
    >>> earlier = {"a": [1, 0, 1, 1, 0, 1, 0, 1], "b": [1, 0, 0, 1, 0, 1, 1, 1]}
    >>> plan = es.plan(earlier, metrics=es.Mean("solved"), n=4)
    >>> plan.items
    (1, 3, 4, 7)
    >>> Plan.from_json(plan.to_json()) == plan
    True
    """

    drawn: tuple[Whole, ...]
    n_items: Count
    n_earlier: Count
    chances: tuple[Share, ...]
    how: str
    seed: Seed
    expected: tuple[Expected, ...]
    left_out: tuple[LeftOut, ...]
    ids: tuple[str, ...] = ()
    unit: str = "item"
    units: tuple[str, ...] = ()
    stratum: str = ""
    strata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: The metrics; files store their class and options.
    own_metrics: tuple[Metric, ...] = field(default=(), compare=False)

    def _check(self) -> None:
        super()._check()
        choice(self.how, WAYS, "how")
        columns = [self.chances, *(one.sums for one in self.expected)]
        columns += [x for x in (self.ids, self.units, self.strata) if x]
        places = set(self.drawn)
        if any(len(x) != self.n_items for x in columns) or not 0 < len(places) == len(self.drawn):
            raise InputError(f"a plan must have a value for each of its {self.n_items:,} items")
        if max(places) >= self.n_items or not all(self.chances[i] > 0 for i in places):
            raise InputError("items that were drawn must have a probability above 0")
        label(self.unit, "unit")
        check_names(self.ids, "ids")
        if len(set(self.ids)) < len(self.ids):
            raise InputError("ids of a plan must be unique, but some are repeated")
        of_units = dict(zip(self.units or range(self.n_items), self.chances, strict=True))
        n_drawn = len({self.units[i] for i in places} if self.units else places)
        if not np.isclose(sum(of_units.values()), n_drawn):
            raise InputError(f"probabilities must sum to {n_drawn:,}, the number of drawn items")

    @property
    def items(self) -> tuple[int, ...] | tuple[str, ...]:
        """The items to run: their ids, or their places from 0 if they have none."""
        return tuple(self.ids[i] for i in self.drawn) if self.ids else self.drawn

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the plan."""
        return self.own_metrics or tuple(rebuilt(json.loads(x.metric)) for x in self.expected)

    @property
    def worth(self) -> dict[str, LeftOut]:
        """The effective number of items by metric: the mean over earlier systems, each left out.

        For a difference from a system that is run on all items, and for a score; `system` is empty.
        """
        known: dict[str, list[tuple[float, float]]] = {}
        for row in self.left_out:
            if row.difference is not None and row.score is not None:
                known.setdefault(row.metric, []).append((row.difference, row.score))
        means = {name: np.mean(rows, axis=0).tolist() for name, rows in known.items()}
        return {
            name: LeftOut(name, "", score, difference)
            for name, (difference, score) in means.items()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as JSON, whole or not at all."""
        with files.replacing(path, "json") as file:
            file.write(self.to_json().encode())

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON, by default on one line: it has numbers for each item."""
        return super().to_json(indent)

    @classmethod
    def load(cls, path: str | os.PathLike[str], metrics: Sequence[Metric] = ()) -> Plan:
        """Read what `save` wrote; if metrics are your own, pass all of them in order.

        Raises
        ------
        InputError
            If the file cannot be read, is not a plan, or has other metrics.
        """
        try:
            plan = cls.from_json(Path(path).read_text(encoding="utf-8"))
            plan = replace(plan, own_metrics=tuple(metrics) or plan.metrics)
            for one, metric in zip(plan.expected, plan.metrics, strict=True):
                stated = json.loads(one.metric)
                if {**stated, **identity(metric)} != stated:
                    raise InputError(
                        "must be the metrics of the plan, in the same order", argument="metrics"
                    )
                if {*map(len, one.sums)} != {len(metric.columns)}:
                    raise InputError(f"sums of {metric.name} must have {len(metric.columns)} each")
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"cannot load {str(path)!r}, which must be a plan from 'evalstats plan -o "
                f"plan.json' or Plan.save: {error}"
            ) from None
        return plan

    def data(self, systems: Any, references: Any = None) -> list[SegmentStatistics]:
        """Return statistics estimated for all items, for `compare` or `estimate`, one per metric.

        Parameters
        ----------
        systems : mapping of str to sequence, or sequence, or SegmentStatistics, or a list of them
            N outputs of each system, run on all items or on exactly the items of the plan, with
            `None` elsewhere. In statistics, an item on which a system was not run is a row of
            zeros, or no row if items have ids.
        references : sequence, optional
            As in `compare`, for all N items.

        Returns
        -------
        list of SegmentStatistics
            The rows of the difference estimator, or the same as from `extract` if all systems were
            run on all items.

        Raises
        ------
        InputError
            If a system was run on other items, or if metrics or references differ from the plan's.
        """
        if is_statistics(systems):
            given = [systems] if isinstance(systems, SegmentStatistics) else systems
            tables = tables_of([self._placed(table) for table in given], references)
            is_run = [np.any(table.values != 0, axis=2) for table in tables]
        else:
            is_named = isinstance(systems, Mapping) or hasattr(systems, "columns")
            named = as_systems(systems if is_named else {"system": systems})
            tables, marks = self._extracted(named, references)
            is_run = [marks] * len(tables)
        asked = [table.metric for table in tables]
        if len(asked) != len(self.metrics) or not all(map(is_same_metric, asked, self.metrics)):
            raise InputError(
                f"must be the metrics of the plan ({', '.join(m.name for m in self.metrics)}) "
                f"with the same options, got {', '.join(m.signature for m in asked)}",
                argument="metrics",
            )
        return list(map(self._of_all, tables, is_run, self.expected))

    def _extracted(
        self, systems: Mapping[str, Any], references: Any
    ) -> tuple[list[SegmentStatistics], Marks]:
        """Return tables of outputs, and the items on which each system was run, `(S, N)`."""
        filled: dict[str, Any] = {}
        rows = []
        for name, outputs in systems.items():
            given = listed(outputs, f"hypotheses of system {name!r}", "outputs, one per item")
            if len(given) != self.n_items:
                raise InputError(
                    f"system {name!r} must have {self.n_items:,} outputs (None for items on "
                    f"which it was not run), got {len(given):,}"
                )
            # Any placeholder works for a missing output: its row is removed again.
            any_output = next((x for x in given if not is_missing(x)), None)
            filled[name] = [any_output if is_missing(x) else x for x in given]
            rows.append([not is_missing(x) for x in given])
        is_run = np.array(rows)
        self._check_run(tuple(filled), is_run)
        tables = extract_all(filled, references, list(self.metrics), segment_ids=self.ids or None)
        reading = [
            metric for metric in self.metrics if metric.uses_references and metric.reads_text
        ]
        drawn = {
            name: [filled[name][i] for i in self.drawn]
            for name, marks in zip(filled, is_run, strict=True)
            if reading and not np.all(marks)
        }
        if drawn:
            # What is said of the outputs that are there, and not of those that stand for none.
            gold = as_references(references, self.n_items)
            streams: Any = References([gold[i] for i in self.drawn]).streams()
            said = iter(text_cautions(reading, drawn, streams))
            for i, table in enumerate(tables):
                if table.metric in reading:
                    known = {name: x for name, x in table.cautions.items() if name not in drawn}
                    tables[i] = replace(table, cautions={**known, **next(said)})
        return tables, is_run

    def _placed(self, table: SegmentStatistics) -> SegmentStatistics:
        """Return a table with a row for each item, of zeros if there is none."""
        ids, places = table.segment_ids, {name: i for i, name in enumerate(self.ids)}
        if ids == self.ids or (table.n_segments == self.n_items and not (ids and places)):
            return table
        unknown = [name for name in ids or () if name not in places]
        if ids is None or unknown:
            what = (
                f"{shown(unknown[0])} is not one of them"
                if unknown
                else f"got {table.n_segments:,} rows"
            )
            raise InputError(f"statistics must have the plan's {self.n_items:,} items; {what}")
        values = np.zeros((len(table.systems), self.n_items, table.values.shape[2]))
        values[:, [places[name] for name in ids]] = table.values
        named = table.systems, table.metric, table.reference_label
        placed = SegmentStatistics(values, *named, segment_ids=self.ids, unit=table.unit)
        return replace(placed, cautions=table.cautions)

    def _check_run(self, systems: Sequence[str], is_run: Marks) -> None:
        """Refuse systems that were not run on exactly all items, or on exactly the drawn ones."""
        called, is_drawn = self.ids or range(self.n_items), np.zeros(self.n_items, np.bool_)
        is_drawn[list(self.drawn)] = True
        for name, marks in zip(systems, is_run, strict=True):
            odd = np.flatnonzero(marks != is_drawn)
            if len(odd) and not np.all(marks):
                first = shown(called[odd[0]])
                how = "was run on item {}, which was not drawn; pass None for it, or run all items"
                if is_drawn[odd[0]]:
                    how = "is missing item {}, which was drawn; run it, or score it as failed"
                raise InputError(f"system {name!r} {how.format(first)}")

    def _of_all(
        self, table: SegmentStatistics, is_run: Marks, expected: Expected
    ) -> SegmentStatistics:
        """Return the rows for all items from a table of systems run on these items, `(S, N)`."""
        known = {table.fingerprint, expected.fingerprint} - {None}
        if len(known) > 1:
            raise InputError(
                "must be the references that the plan was created with, but they are different",
                argument="references",
            )
        self._check_run(table.systems, is_run)
        is_whole = np.all(is_run, axis=1)
        if np.all(is_whole):
            return table
        weights = np.divide(1.0, self.chances) * is_run
        weights[is_whole] = 1.0
        weights = weights[:, :, None]
        values, first = table.values.astype(np.float64), np.divide(expected.sums, self.n_earlier)
        second = np.mean(values[is_whole], axis=0) if np.any(is_whole) else np.zeros_like(first)
        rows = [weights, weights * values, (1 - weights) * first, (1 - weights) * second]
        labels = {self.unit: self.units, self.stratum: self.strata}
        return replace(
            table,
            values=np.concatenate(rows, axis=2),
            metric=Planned(table.metric, None, self.unit if self.units else "", self.stratum),
            metric_signature="",
            labels={**table.labels, **{name: codes for name, codes in labels.items() if codes}},
            repeats=None,
        )

    def _rows(self) -> Sequence[LeftOut]:
        return self.left_out

    def _records(self) -> list[dict[str, Any]]:
        """Return the items to run, each with its probability."""
        rows = zip(self.items, self.drawn, strict=True)
        return [{"item": item, "probability": self.chances[i]} for item, i in rows]

    def _said(self) -> list[str]:
        n = f"{len(self.drawn):,} of {self.n_items:,} items"
        if not self.worth:
            return [f"The precision of {n} cannot be predicted from only one earlier system."]
        return [
            f"{name}: {n} give the precision of {_items(worth.difference)} randomly chosen ones if "
            f"you compare a new system with an earlier one, and of {_items(worth.score)} for the "
            f"score alone."
            for name, worth in self.worth.items()
        ]

    def _notes(self) -> Sequence[str]:
        return [*self._said(), *self.notes]

    def _headline(self) -> str:
        return f"{len(self.drawn):,} of {self.n_items:,} items to run a new system on"

    def _findings(self) -> list[Finding]:
        first, *more = map(Finding, self._said())
        return [first._replace(lines=[_NEXT]), *more]

    def _tables(self, digits: int | None = None) -> list[Table]:
        columns: list[Column] = [
            ("metric", "<", lambda row: row.metric),
            ("system", "<", lambda row: row.system),
            ("for differences", ">", lambda row: _items(row.difference)),
            ("for the score", ">", lambda row: _items(row.score)),
        ]
        title = "Randomly chosen items with the same precision, if each earlier system were new"
        drew = f"Items are drawn with {self.how} probabilities"
        drew += f", in whole {plural(self.unit)}" if self.units else ""
        drew += f", within each {self.stratum}." if self.strata else "."
        table = table_of(title, self.left_out, columns, (drew,), spare=("metric",))
        return [table] if self.worth else []


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
    """Return a `Plan`: a subset of items to run a new system on, to estimate its score on all.

    Parameters
    ----------
    earlier : mapping of str to sequence, or SegmentStatistics, or a list of them
        Systems that were run on all items, as in `compare`, or the tables of a log; or a list of a
        judge's scores of all outputs of one system, if people are to label some of them.
    references, metrics
        As in `compare`.
    n : int
        How many items to run; the expected number if groups are drawn.
    how : {"equal", "active"}
        Whether all items have equal probabilities, or items on which earlier systems (at least
        three) are hard to predict from one another have larger ones.
    groups, strata : sequence or str, optional
        One label per item, or the name of such a label in the statistics: groups are drawn whole,
        and each stratum gets its share. The comparison needs the same labels.
    rng : int or numpy.random.Generator, optional
        Seed of the draw.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    A drawn item counts 1/π times, with π the probability that it is drawn. For the other items, λ
    times the prediction from the mean of earlier systems, and from the mean of the systems run on
    all items, is added: the difference estimator (Horvitz and Thompson, 1952; Särndal, Swensson and
    Wretman, 1992), with the λ that minimises the variance (Angelopoulos, Duchi and Zrnic, 2023).
    Totals are unbiased for any earlier systems; if these predict little, the plan shows it before
    anything is run. Active probabilities are three quarters in proportion to the root of earlier
    systems' squared residuals, shrunk to their mean, and one quarter equal (after Zrnic and Candès,
    2024).

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
    solved: new was run on 100 of 400 segments. Its estimated difference is as ...
    """
    how = choice(how, WAYS, "how")
    is_named = isinstance(earlier, Mapping) or is_statistics(earlier) or hasattr(earlier, "columns")
    given = earlier if is_named else {"judge": earlier}
    task = as_task(given, references, metrics, groups=groups, strata=strata, executor=1)
    tables, n_items, n_earlier = task.statistics, task.statistics[0].n_segments, len(task.systems)
    for table in tables:
        _check_earlier(table)
    n = integer(n, "n", 2, n_items)
    if how == "active" and n_earlier < 3:
        raise InputError(
            ": 'active' requires at least 3 earlier systems to compute residuals, got "
            f"{n_earlier}; leave how out",
            argument="how",
        )
    of_groups, of_strata = labels_of(tables, groups, "groups"), labels_of(tables, strata, "strata")
    units = as_units(n_items, of_groups, of_strata, unit_name(groups), (tables[0].unit, ""))
    refuse_crossed(units, "plan")
    check_enough(units.n, units.unit)
    members, sizes = units.of_segments, np.bincount(units.of_segments).astype(np.float64)
    rows = tables if units.members is None else [table.grouped(members) for table in tables]
    sums = [(table, row.values.astype(np.float64)) for table, row in zip(tables, rows, strict=True)]
    squares = None
    if how == "active":
        squares = np.sum([residual_squares(table.metric, x) for table, x in sums], axis=0)
    chances, seed = probabilities(sizes, n, squares), as_seed(rng)
    codes = np.zeros(units.n, np.intp) if units.strata is None else units.strata
    got = drawn(chances, codes, np.random.default_rng(seed))
    if not len(got):
        raise InputError(
            f"must be at least {2 * int(np.max(sizes)):,}, because groups have up to "
            f"{int(np.max(sizes)):,} items and no group was drawn; got {n}",
            argument="n",
        )
    whole, within = (tuple(map(str, () if x is None else x)) for x in (of_groups, of_strata))
    few, unit = (FEW, "item") if units.members is None else (FEW_GROUPS, units.unit)
    rough = f"Only {counted(len(got), unit)} are drawn. {approximate_below(few)}."
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
            row for table, x in sums for row in _left_out(table, x, sizes, n, chances, how)
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
    if isinstance(table.metric, (MeanOfRuns, Judged, Planned)):
        raise InputError(
            f"must have one score per item, got {table.metric.signature}; average the runs",
            argument="earlier",
        )
    counts = table.values[..., 1:] if table.metric.columns == Mean.columns else table.values
    for i, item in np.argwhere(~np.any(counts != 0, axis=2))[:1]:
        raise InputError(
            f"must have been run on all items, but {table.systems[i]!r} was not run on item "
            f"{item} (counted from 0); leave out either the system or the item",
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
    """Yield the precision of the plan for each of the systems `(K, U, k)`, from the others."""
    metric, n_items = table.metric, table.n_segments
    if len(values) == 1:
        yield LeftOut(metric.name, table.systems[0], None, None)
        return
    added = np.stack([influence(metric, system_rows, system_rows) for system_rows in values])
    # A variance below this is rounding.
    nothing = (1e-12 * float(np.max(np.abs(metric.score(np.sum(values, axis=1)))))) ** 2
    if not np.any(np.sum((added - added[0]) ** 2, axis=1) > nothing):
        raise InputError(
            f": the systems are identical or have the same score on every item ({metric.name}), "
            "so the precision of a plan cannot be estimated; pass systems that differ",
            argument="earlier",
        )
    for i, system in enumerate(table.systems):
        others: Sequence[int] = [j for j in range(len(values)) if j != i]
        if how == "active" and len(others) > 2:
            chances = probabilities(sizes, n, residual_squares(metric, values[others]))
        # The variance added by the draw, and the variance if all items are run.
        more = penalty(residuals(metric, values, i), chances)
        there = np.sum((added[i] - np.vstack([0 * added[i], added[others]])) ** 2, axis=1)
        worth = n_items * np.divide(there, there + more, out=np.ones(len(there)), where=there > 0)
        yield LeftOut(metric.name, system, float(worth[0]), float(np.mean(worth[1:])))


def probabilities(sizes: Floats, n: int, squares: Floats | None = None) -> Floats:
    """Return the probability that each unit is drawn, `(U,)`, for n expected items.

    Equal for all, or proportional to the root of squared residuals over the size of the unit, mixed
    with equal probabilities. None is above 1.

    >>> probabilities(np.ones(4), 2, np.array([0.0, 1.0, 4.0, 9.0])).round(3).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    if squares is None or not np.any(squares > 0):
        return np.full(len(sizes), n / np.sum(sizes))
    roots = np.sqrt(squares / sizes)
    shares = _EQUAL / np.sum(sizes) + (1 - _EQUAL) * roots / np.sum(roots * sizes)
    # Units with probability 1 leave the rest to the others.
    sure = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        rest = n - np.sum(sizes[sure])
        chances = np.where(sure, 1.0, shares * rest / max(np.sum((shares * sizes)[~sure]), 1e-300))
        if not np.any(above := ~sure & (chances >= 1)):
            return chances
        sure |= above


def drawn(chances: Floats, strata: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return which units are drawn with these probabilities: a systematic draw in random order.

    Stratum by stratum, so that each gets its share up to one unit.
    """
    order = np.lexsort((rng.random(len(chances)), strata))
    # Sums of probabilities may be whole numbers up to rounding.
    steps = np.floor(np.round(np.cumsum(chances[order]), 9) + rng.random())
    return np.sort(order[np.diff(steps, prepend=0.0) > 0])


def influence(metric: Metric, values: Floats, rows: Floats) -> Floats:
    """Return the influence of rows `(U, k)` on the score of a system with these `values`."""
    added = rows @ metric.gradient(np.sum(values, axis=0))
    return np.asarray(added - np.mean(added))


def residuals(metric: Metric, values: Floats, i: int) -> Floats:
    """Return the residuals of system i from λ times the mean of the others, `(K, U, k) -> (U,)`.

    λ is from least squares.
    """
    added = influence(metric, values[i], values[i])
    others = influence(metric, values[i], np.mean(np.delete(values, i, axis=0), axis=0))
    squares = float(others @ others)
    weight = min(max(float(added @ others) / squares, 0.0), 1.0) if squares > 0 else 0.0
    return added - weight * others


def residual_squares(metric: Metric, values: Floats) -> Floats:
    """Return the expected squared residuals of units, over their mean, `(K, U, k) -> (U,)`.

    Means over few systems are mostly chance. They are shrunk to the mean of all units by the share
    of their variance that a mean of K has by chance.
    """
    squares = np.stack([residuals(metric, values, i) ** 2 for i in range(len(values))])
    means = np.mean(squares, axis=0)
    chance = float(np.mean(np.var(squares, axis=0, ddof=1))) / len(values)
    spread = float(np.var(means))
    kept = max(0.0, 1 - chance / spread) if spread > 0 else 0.0
    return np.asarray(kept * means / (np.mean(means) or 1.0) + (1 - kept))


def penalty(residual: Floats, chances: Floats) -> float:
    """Return the variance that the draw adds to a total of these residuals, `(U,)` (Hájek, 1964).

    Σ(1 - π)/π·(e - πB)², with B from least squares, since the number drawn is fixed.
    """
    odds = (1 - chances) / chances
    size = float(np.sum((1 - chances) * chances))
    level = float(np.sum((1 - chances) * residual)) / size if size > 0 else 0.0
    return float(np.sum(odds * (residual - chances * level) ** 2))


@dataclass(frozen=True)
class Planned(LabelledMetric):
    """A metric of rows ``(ξ/π, ξ/π·h, (1 - ξ/π)·f, (1 - ξ/π)·g)``; `Plan.data` makes them.

    f are the means of earlier systems, and g the means of the systems that were run on all items.

    Parameters
    ----------
    metric : Metric
        The metric to score: any metric of sums.
    weight : tuple of float, optional
        λ of f and of g. By default they minimise the standard error when systems are scored.
    groups, strata : str
        The groups that the plan drew whole, and the strata; "" if there are none.
    """

    metric: Metric
    weight: tuple[float, float] | None = None
    groups: str = ""
    strata: str = ""
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)
    reads_text: ClassVar[bool] = False
    scores_units: ClassVar[bool] = False
    undefined: ClassVar[str] = (
        "is not known, because few of {n:,} {units} were run; run {more}, or use method='t'"
    )

    def __post_init__(self) -> None:
        inner = self.metric
        parts = ("run", "expected", "run on all")
        columns = (f"{c} ({part})" for part in parts for c in inner.columns)
        keep(
            self,
            name=inner.name,
            higher_is_better=inner.higher_is_better,
            columns=("weight", *columns),
            bounds=inner.bounds,
        )

    @property
    def signature(self) -> str:
        """The signature of the metric, and how items that were not run are estimated."""
        fixed = "" if self.weight is None else ":" + "+".join(f"{w:.10g}" for w in self.weight)
        return str(MetricSignature.of(self.metric.signature).tagged(f"plan:difference{fixed}"))

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Raise, since rows need the plan."""
        raise InputError(f"{self.name} for a part of the items requires the plan; use Plan.data")

    def totals(self, sums: ArrayLike) -> Floats:
        """Return the estimated totals of the metric, `(..., 1 + 3k) -> (..., k)`."""
        run, *expected = np.split(np.asarray(sums, np.float64)[..., 1:], 3, axis=-1)
        total = run + sum(w * x for w, x in zip(self._weights, expected, strict=True))
        # Counts with a negative estimate become 0.
        return np.maximum(total, 0.0) if self.metric.counts else total

    def score(self, totals: ArrayLike) -> Floats:
        """Return the score of the estimated totals, `(..., 1 + 3k) -> (...)`."""
        return self.metric.score(self.totals(totals))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, of the shape `(..., 1 + 3k)` of ``totals``."""
        slopes = self.metric.gradient(self.totals(totals))
        parts = [weight * slopes for weight in (1.0, *self._weights)]
        return np.concatenate([0 * slopes[..., :1], *parts], axis=-1)

    @property
    def _weights(self) -> tuple[float, float]:
        return (1.0, 0.0) if self.weight is None else self.weight

    def pooled(self, metrics: Sequence[Metric], sizes: Sequence[int]) -> Planned:
        """Return the metric of all segments together, with the mean of the weights of its parts."""
        weights = [one._weights for one in metrics if isinstance(one, Planned)]
        first, second = np.average(weights, axis=0, weights=sizes).tolist()
        return replace(self, weight=(first, second))

    def labelled(self, statistics: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the items on which systems were run, `(..., 1 + 3k) -> (...)`."""
        return np.asarray(statistics[..., 0] > 0)

    def tuned(
        self, table: SegmentStatistics, units: Units, by_stratum: bool
    ) -> tuple[SegmentStatistics, PlanWorth, None]:
        """Return statistics under the metric with its λ, and the effective number of items.

        λ minimises the variance of the score of a single system, or of the differences of all
        pairs.
        """
        self._check(table, units, by_stratum)
        rows = table if units.members is None else table.grouped(units.members)
        metric = replace(self, weight=self._weights)
        # The slopes of the score hardly depend on λ.
        for _ in range(2 if self.weight is None else 0):
            run, *expected = (less_mean(x).ravel() for x in metric._influence(rows, units))
            products = [[float(x @ y) for y in expected] for x in expected]
            weights = bounded_weights([-float(run @ x) for x in expected], products)
            metric = replace(self, weight=(weights[0], weights[1]))
        worth = metric._worth(table, rows, units)
        return replace(table, metric=metric, metric_signature=""), worth, None

    def _check(self, table: SegmentStatistics, units: Units, by_stratum: bool) -> None:
        """Raise if units split what was drawn, or if strata are not the plan's."""
        drawn, strata = table.labels.get(self.groups), units.segment_strata
        # A single domain does not have these labels, but its units were already checked.
        is_split = bool(drawn) and not _lie_within(drawn or (), units.of_segments)
        if self.groups and (is_split or units.members is None or len(units.sides) > 1):
            raise InputError(
                f"must be the groups of the plan ({self.groups}), or labels that do not split them",
                argument="groups",
            )
        within = table.labels.get(self.strata)
        if strata is None:
            if within is not None:
                raise InputError(
                    "is required, because the plan drew items within each stratum; pass ",
                    Argument("strata", self.strata),
                    argument="strata",
                )
            return
        if within is None or not _lie_within(within, strata):
            drew = f"within each {self.strata}" if self.strata else "from all items together"
            raise InputError(
                f"must be the same as in the plan, but its items were drawn {drew}. Pass the "
                "strata to evalstats.plan, or leave them out here.",
                argument="strata",
            )
        for code, name in enumerate(units.labels) if by_stratum else ():
            n = int(np.min(np.sum(self.labelled(table.values[:, strata == code]), axis=1)))
            if n < 2:
                raise InputError(
                    f"requires that at least 2 items were run in each stratum, but {name!r} has "
                    f"only {n}; leave aggregate out",
                    argument="aggregate",
                )

    def _influence(self, rows: SegmentStatistics, units: Units) -> list[Floats]:
        """Return influence values of units: from run items, and predicted at λ = 1, `(S, N)`."""
        slopes = self.metric.gradient(self.totals(rows.totals))
        return [
            student.unbiased(np.einsum("snk,sk->sn", x, slopes), units.sizes, units.codes)
            for x in np.split(rows.values[:, :, 1:].astype(np.float64), 3, axis=-1)
        ]

    def _worth(self, table: SegmentStatistics, rows: SegmentStatistics, units: Units) -> PlanWorth:
        """Return how many items would give a score, or difference, this variance."""
        run, *expected = self._influence(rows, units)
        values = run + sum(w * x for w, x in zip(self._weights, expected, strict=True))
        slopes = self.metric.gradient(self.totals(rows.totals))
        added = np.einsum("snk,sk->sn", table.values[:, :, 1 : 1 + slopes.shape[1]], slopes)
        weights, members, n = table.values[:, :, 0], units.of_segments, table.n_segments

        def worth(i: int, j: int | None = None) -> float:
            # Scaled from the run items to all items, as if only these were known.
            single = added[i] if j is None else added[i] - weights[i] * added[j]
            single = single - weights[i] * np.sum(single) / np.sum(weights[i])
            left = float(np.sum((values[i] - (0.0 if j is None else values[j])) ** 2))
            of_units, weight, n_run = (
                np.bincount(members, x, units.n) for x in (single, weights[i], weights[i] > 0)
            )
            known = n_run > 0
            squares = float(np.sum((of_units**2 * n_run)[known] / weight[known]))
            # At least the number of items that were run.
            most = float(n if squares > 0 else np.sum(n_run))
            return min(n * squares / left, most) if squares * left > 0 else most

        is_run = self.labelled(table.values)
        part, whole = (
            np.flatnonzero(x).tolist() for x in (~is_run.all(axis=1), is_run.all(axis=1))
        )
        n_units = [len(np.unique(members[is_run[i]])) for i in part or whole]
        return PlanWorth(
            metric=self.name,
            n_labelled=int(np.min(np.sum(is_run, axis=1))),
            systems=tuple(table.systems[i] for i in part),
            n_items=n,
            weights=self._weights,
            scores=tuple(map(worth, part)),
            differences=tuple(worth(i, j) for i in part for j in whole),
            n_units=min(n_units),
            unit=units.unit,
            segment=units.segment,
        )


@dataclass(frozen=True)
class PlanWorth(Correction):
    """The precision of systems that were run on a subset of the items, under one metric."""

    systems: tuple[str, ...]  # that were run on a part
    n_items: int
    weights: tuple[float, float]
    scores: tuple[float, ...]  # effective number of items for each system's score
    differences: tuple[float, ...]  # likewise for differences from systems that were run on all
    n_units: int  # items or groups that were run, the fewest of any system
    unit: str
    segment: str

    def notes(self) -> Iterator[str]:
        """Return sentences on the number of items run, and the effective number."""
        if not self.systems:
            return
        few = FEW if self.unit == self.segment else FEW_GROUPS
        if self.n_units < few:
            yield (
                f"{self.metric}: only {counted(self.n_units, self.unit)} were run. "
                f"{approximate_below(few)}. Draw more."
            )
        were, known = "were" if len(self.systems) > 1 else "was", self.differences or self.scores
        what = "difference" if self.differences else "score"
        one, several = f"Its estimated {what} is as", f"Their estimated {what}s are as"
        whose = f"{one} precise as if it" if were == "was" else f"{several} precise as if they"
        items = " to ".join(dict.fromkeys(_items(edge(known)) for edge in (min, max)))
        yield (
            f"{self.metric}: {first_few(self.systems, ', ', 3, 'others')} {were} run on "
            f"{self.n_labelled:,} of {counted(self.n_items, self.segment)}. {whose} had been run "
            f"on {items} {plural(self.segment)} (difference estimator; λ = {self.weights[0]:.2f} "
            f"for predictions from earlier systems and {self.weights[1]:.2f} from systems that "
            f"were run on all {plural(self.segment)})."
        )


def _lie_within(labels: Sequence[str], codes: NDArray[np.intp]) -> bool:
    """Return whether each label has only one code, `(N,)` each."""
    return len(set(zip(labels, codes.tolist(), strict=True))) == len(set(labels))


def _items(number: float | None) -> str:
    """Return a number of items in words, or "" if it is not known."""
    return "" if number is None else f"{number:,.0f}"
