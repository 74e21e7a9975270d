"""What a pilot says about power: `Power`, and a `PairPower` for each pair and metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from evalstats.checks import choice
from evalstats.errors import InputError
from evalstats.results import plots, report
from evalstats.results.forms import Result
from evalstats.results.records import PairPower, RunPower, distinct
from evalstats.results.report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Of more pairs only those are shown that need most.
_MOST_PAIRS = 10
Show = Callable[[Any], str]
#: A header, and what a row shows under it.
Column = tuple[str, Show]


@dataclass(frozen=True, repr=False)
class Power(Result):
    """What a test finds on a test set like the pilot; iterating gives `PairPower`.

    Attributes
    ----------
    pairs : tuple of PairPower
        One record per pair and metric.
    n_pilot, n_segments : int
        Segments of the pilot and of the test set that is planned, or groups.
    unit : {"segment", "group"}
        What was counted.
    difference : float or None
        Size of the true difference, in points of the score, that was asked about.
    target : float
        Power that is aimed at.
    significance_level, alternative
        Of the test.
    confidence_level : float
        Of the intervals, which say what so small a pilot leaves uncertain.
    signatures : tuple of str
        Everything needed to make the numbers again, one for each metric.
    notes : tuple of str
        What a careful reader should know.
    n_runs, pilot_runs : int or None
        Runs of each system that are planned, and those of the pilot; `None` where there are none.
    """

    pairs: tuple[PairPower, ...]
    n_pilot: int
    n_segments: int
    unit: str
    difference: float | None
    target: float
    significance_level: float
    alternative: str
    confidence_level: float
    signatures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    n_runs: int | None = None
    pilot_runs: int | None = None

    def __getitem__(self, index: int) -> PairPower:
        """Return the record of a place."""
        return self.pairs[index]

    def __iter__(self) -> Iterator[PairPower]:
        """Iterate over the pairs, metric by metric."""
        return iter(self.pairs)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.pairs)

    def plot(
        self, metric: str | None = None, ax: Axes | None = None, *, over: str = "segments"
    ) -> Axes:
        """Draw power, or the least difference, over the number of segments, or of runs.

        Parameters
        ----------
        metric : str, optional
            Its printed name, in any case; by default all of them, each in a panel.
        ax : matplotlib Axes, or one for each metric, optional
            Where to draw.
        over : {"segments", "runs"}
            ``"runs"`` where the pilot has several of each system.
        """
        choice(over, ("segments", "runs"), "over")
        if over == "runs" and self.n_runs is None:
            raise InputError("over='runs' needs a pilot with several runs of each system")
        drawn: Axes = plots.power(
            self.pairs,
            "run" if over == "runs" else self.unit,
            self.n_runs if over == "runs" and self.n_runs else self.n_segments,
            difference=self.difference,
            target=self.target,
            metric=metric,
            ax=ax,
        )
        return drawn

    def _rows(self) -> Sequence[PairPower]:
        return self.pairs

    def _tables(self, digits: int | None = None) -> list[Table]:
        tables = []
        for metric in distinct(p.metric for p in self):
            pairs = [_flat(p) for p in self.pairs if p.metric == metric]
            tables += self._pair_tables(metric, pairs, digits)
            if len(pairs) == 1:
                curves = [(self.unit, "sizes", "minimums", "powers")]
                curves += [("run", "runs", "run_minimums", "run_powers")] if self.n_runs else []
                tables += [self._curve(pairs[0], *curve, digits) for curve in curves]
        return tables

    def _pair_tables(
        self, metric: str, pairs: Sequence[dict[str, Any]], digits: int | None
    ) -> list[Table]:
        """Lay out the pairs that need most, and what runs of each system add."""
        points, unit = _points([p["minimum"] for p in pairs], digits), self.unit
        level, notes = f"[{report.level(self.confidence_level)}]", list[str]()
        if len(pairs) > _MOST_PAIRS:
            pairs = sorted(pairs, key=lambda p: -np.inf if (x := p["minimum"]) is None else -x)
            most, least = (points(pairs[i]["minimum"]) for i in (_MOST_PAIRS, -1))
            notes.append(
                f"and {len(pairs) - _MOST_PAIRS:,} pairs with least differences from {least} to "
                f"{most}; CSV, JSON and data frames have all"
            )
            pairs = pairs[:_MOST_PAIRS]

        def bounded(header: str, name: str, show: Show) -> list[Column]:
            low, high = f"{name}_low", f"{name}_high"
            return [
                (header, lambda p: show(p[name])),
                (level, lambda p: f"[{show(p[low])}, {show(p[high])}]"),
            ]

        names: list[Column] = [(key, itemgetter(key)) for key in ("system", "baseline")]
        columns = [*names, ("std. dev.", lambda p: points(p["standard_deviation"]))]
        columns += bounded("least difference", "minimum", points)
        of_runs = [*names, ("std. dev. of runs", lambda p: points(p["run_deviation"]))]
        of_runs += [(f"least difference, any {unit}s", lambda p: points(p["limit"]))]
        if self.difference is not None:
            columns += bounded(f"power for {self.difference:g}", "power", _points([], 2))
            columns += bounded(f"{unit}s needed", "needed", _count)
            of_runs += bounded("runs needed", "runs_needed", _count)
            of_runs += [("fewest runs", lambda p: _count(p["fewest_runs"]))]
        runs = f", {self.n_runs:,} runs (pilot {self.pilot_runs})" if self.n_runs else ""
        title = (
            f"{metric} {report.direction(pairs[0]['higher_is_better'])}, {self.n_segments:,} "
            f"{unit}s (pilot {self.n_pilot:,}){runs}, power {self.target:g} at level "
            f"{self.significance_level:g}, {self.alternative}"
        )
        tables = [_table(title, columns, pairs, notes)]
        if self.n_runs:
            title = f"{metric}, runs of each system on {self.n_segments:,} {unit}s"
            tables.append(_table(title, of_runs, pairs))
        return tables

    def _curve(
        self, pair: dict[str, Any], unit: str, sizes: str, minimums: str, powers: str,
        digits: int | None,
    ) -> Table:  # fmt: skip
        points, share = _points(pair[minimums], digits), _points([], 2)
        columns: list[Column] = [
            (f"{unit}s", lambda i: _count(pair[sizes][i])),
            ("least difference", lambda i: points(pair[minimums][i])),
        ]
        if self.difference is not None:
            columns.append((f"power for {self.difference:g}", lambda i: share(pair[powers][i])))
        title = f"{pair['metric']}, {pair['system']} - {pair['baseline']}, by number of {unit}s"
        return _table(title, columns, range(len(pair[sizes])))


def _flat(pair: PairPower) -> dict[str, Any]:
    """Return the fields of a pair, and of its runs."""
    return {**vars(pair), **vars(pair.of_runs or RunPower())}


def _table(
    title: str, columns: Sequence[Column], rows: Sequence[Any], notes: Sequence[str] = ()
) -> Table:
    header = tuple(name for name, _ in columns)
    cells = tuple(tuple(show(row) for _, show in columns) for row in rows)
    align = "".join("<" if name in ("system", "baseline") else ">" for name in header)
    return Table(title, header, cells, align, tuple(notes))


def _points(values: Sequence[float | None], digits: int | None) -> Show:
    """Return how numbers are shown that have as many decimals as these need."""
    decimals = report.decimals([x for x in values if x]) if digits is None else digits
    return lambda x: "none" if x is None else report.number(x, decimals)


def _count(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"


def assumptions(result: Power, n_strata: int) -> Iterator[str]:
    """Say what is assumed, and what cannot be found."""
    unit, pilot, what = result.unit, f"{result.n_pilot:,}", f"{result.unit}s"
    if result.pilot_runs:
        what, pilot = f"{what}, and the next runs,", f"{pilot} and {result.pilot_runs} runs"
    yield (
        f"Assumes that differences of the next {what} vary as the pilot's do; the intervals "
        f"({100 * result.confidence_level:.10g} %) say what a pilot of {pilot} leaves uncertain."
    )
    if n_strata:
        yield f"Each of {n_strata} strata has the share of {unit}s that it has in the pilot."
    if counted := dict.fromkeys(p.metric for p in result if p.discordant is not None):
        yield (
            f"{', '.join(counted)}: 0/1 scores, McNemar's test; assumes that as many segments "
            f"differ as in the pilot, and the intervals are about that number."
        )
    if any(p.minimum is None for p in result):
        yield f"none: so few {unit}s find no difference with this power."
    if result.n_runs and result.difference is not None and any(p.needed is None for p in result):
        yield (
            f"{unit}s needed, none: with {result.n_runs} runs of each system no number of {unit}s "
            f"finds {result.difference:g} with this power, since runs alone vary too much; 'fewest "
            f"runs' says with how many some number does."
        )
