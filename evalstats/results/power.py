"""What a pilot says about power: `Power`, and a `PairPower` for each pair and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
#: Columns of tables, and the fields they show; some only where a difference was asked about.
_NAMES = {"system": "system", "baseline": "baseline"}
_OF_SIZES = {"least difference": "minimum", "power for {0.difference:g}": "power"}
_OF_PAIRS = {**_NAMES, "std. dev.": "standard_deviation", **_OF_SIZES, "{0.unit}s needed": "needed"}
_OF_RUNS = {
    **_NAMES,
    "std. dev. of runs": "run_deviation",
    "least difference, any {0.unit}s": "limit",
    "runs needed": "runs_needed",
    "fewest runs": "fewest_runs",
}
_ASKED = ("power", "needed", "runs_needed", "fewest_runs")
#: The two curves: their units, and their fields in a record.
_CURVE = ("size", "minimum", "power")
_CURVES = ((None, "sizes", "minimums", "powers"), ("run", "runs", "run_minimums", "run_powers"))


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
        tables, units = [], f"{self.n_segments:,} {self.unit}s"
        runs = f", {self.n_runs:,} runs (pilot {self.pilot_runs})" if self.n_runs else ""
        test = f"power {self.target:g} at level {self.significance_level:g}, {self.alternative}"
        for metric in distinct(p.metric for p in self):
            pairs = [_flat(p) for p in self.pairs if p.metric == metric]
            decimals, first = _decimals([p["minimum"] for p in pairs], digits), pairs[0]
            title = f"{metric} {report.direction(first['higher_is_better'])}, {units} "
            title += f"(pilot {self.n_pilot:,}){runs}, {test}"
            tables.append(self._table(title, _OF_PAIRS, pairs, decimals))
            if self.n_runs:
                title = f"{metric}, runs of each system on {units}"
                tables.append(self._table(title, _OF_RUNS, pairs, decimals))
            for unit, *curve in _CURVES if len(pairs) == 1 else ():
                sizes, minimums, powers = (first[name] for name in curve)
                if sizes:
                    unit = unit or self.unit
                    title = f"{metric}, {first['system']} - {first['baseline']}, "
                    rows = zip(sizes, minimums, powers or minimums, strict=True)
                    points = [dict(zip(_CURVE, row, strict=True)) for row in rows]
                    columns = {f"{unit}s": "size", **_OF_SIZES}
                    decimals = _decimals(minimums, digits)
                    title += f"by number of {unit}s"
                    tables.append(self._table(title, columns, points, decimals))
        return tables

    def _table(
        self, title: str, columns: dict[str, str], records: list[dict[str, Any]], decimals: int
    ) -> Table:
        """Lay out fields of the records that need most, with their intervals, if they have some."""
        notes, header, cells = [], [], []
        if "system" in columns and len(records) > _MOST_PAIRS:
            records = sorted(records, key=lambda r: r["minimum"] or np.inf, reverse=True)
            low, high = (_written(records[i]["minimum"], decimals) for i in (-1, _MOST_PAIRS))
            notes.append(
                f"and {len(records) - _MOST_PAIRS:,} pairs with least differences from {low} to "
                f"{high}; CSV, JSON and data frames have all"
            )
            records = records[:_MOST_PAIRS]
        for name, key in columns.items():
            if self.difference is not None or key not in _ASKED:
                places = 2 if key == "power" else decimals
                header.append(name.format(self))
                cells.append([_written(r[key], places) for r in records])
                if f"{key}_low" in records[0]:
                    header.append(f"[{report.level(self.confidence_level)}]")
                    lows, highs = (
                        [_written(r[f"{key}_{end}"], places) for r in records]
                        for end in ("low", "high")
                    )
                    cells.append([f"[{x}, {y}]" for x, y in zip(lows, highs, strict=True)])
        align = "".join("<" if name in _NAMES else ">" for name in header)
        return Table(title, tuple(header), tuple(zip(*cells, strict=True)), align, tuple(notes))


def _flat(pair: PairPower) -> dict[str, Any]:
    """Return the fields of a pair, and of its runs."""
    return {**vars(pair), **vars(pair.of_runs or RunPower())}


def _decimals(values: Sequence[float | None], digits: int | None) -> int:
    return report.decimals([x for x in values if x]) if digits is None else digits


def _written(value: Any, decimals: int) -> str:
    if isinstance(value, float):
        return report.number(value, decimals)
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


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
