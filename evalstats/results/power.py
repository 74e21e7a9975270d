"""What a pilot says about power: `Power`, and a `PairPower` for each pair and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalstats.checks import choice
from evalstats.errors import InputError
from evalstats.results import plots, report
from evalstats.results.forms import Result
from evalstats.results.records import PairPower, RunPower, distinct
from evalstats.results.report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
            Its printed name, in any case; can be left out where there is one.
        ax : matplotlib Axes, optional
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
        for metric in distinct([pair.metric for pair in self.pairs]):
            pairs = [pair for pair in self.pairs if pair.metric == metric]
            tables.append(self._pair_table(pairs, digits))
            if self.n_runs is not None:
                tables.append(self._run_table(pairs, digits))
            if len(pairs) == 1:
                (pair,) = pairs
                of_segments = pair.sizes, pair.minimums, pair.powers
                tables.append(self._curve_table(pair, self.unit, *of_segments, digits))
                if (of := pair.of_runs) is not None:
                    of_runs = of.runs, of.run_minimums, of.run_powers
                    tables.append(self._curve_table(pair, "run", *of_runs, digits))
        return tables

    def _pair_table(self, pairs: Sequence[PairPower], digits: int | None) -> Table:
        decimals = _decimals([pair.minimum for pair in pairs], digits)
        level = f"[{report.level(self.confidence_level)}]"
        header = ["system", "baseline", "std. dev.", "least difference", level]
        if self.difference is not None:
            header += [f"power for {self.difference:g}", level, f"{self.unit}s needed", level]
        rows = []
        for pair in pairs:
            minimums = [
                "none" if x is None else report.number(x, decimals)
                for x in (pair.minimum, pair.minimum_low, pair.minimum_high)
            ]
            row = [pair.system, pair.baseline, report.number(pair.standard_deviation, decimals)]
            row += _with_interval(minimums)
            if self.difference is not None:
                powers = (pair.power, pair.power_low, pair.power_high)
                row += _with_interval([report.number(x or 0.0, 2) for x in powers])
                needed = (pair.needed, pair.needed_low, pair.needed_high)
                row += _with_interval([_count(x) for x in needed])
            rows.append(tuple(row))
        arrow = report.direction(pairs[0].higher_is_better)
        runs = "" if not self.n_runs else f", {self.n_runs:,} runs (pilot {self.pilot_runs})"
        title = (
            f"{pairs[0].metric} {arrow}, {self.n_segments:,} {self.unit}s "
            f"(pilot {self.n_pilot:,}){runs}, power {self.target:g} at level "
            f"{self.significance_level:g}, {self.alternative}"
        )
        return Table(title, tuple(header), tuple(rows), "<<" + ">" * (len(header) - 2))

    def _run_table(self, pairs: Sequence[PairPower], digits: int | None) -> Table:
        """Return what runs add, and how many of them are needed."""
        decimals = _decimals([pair.minimum for pair in pairs], digits)
        header = ["system", "baseline", "std. dev. of runs", f"least difference, any {self.unit}s"]
        if self.difference is not None:
            header += ["runs needed", f"[{report.level(self.confidence_level)}]", "fewest runs"]
        rows = []
        for pair in pairs:
            of = pair.of_runs or RunPower()
            row = [pair.system, pair.baseline, report.number(of.run_deviation or 0.0, decimals)]
            row.append("none" if of.limit is None else report.number(of.limit, decimals))
            if self.difference is not None:
                needed = (of.runs_needed, of.runs_needed_low, of.runs_needed_high)
                row += _with_interval([_count(x) for x in needed])
                row.append(_count(of.fewest_runs))
            rows.append(tuple(row))
        title = f"{pairs[0].metric}, runs of each system on {self.n_segments:,} {self.unit}s"
        return Table(title, tuple(header), tuple(rows), "<<" + ">" * (len(header) - 2))

    def _curve_table(
        self,
        pair: PairPower,
        unit: str,
        sizes: Sequence[int],
        minimums: Sequence[float | None],
        powers: Sequence[float],
        digits: int | None,
    ) -> Table:
        decimals = _decimals(minimums, digits)
        header = [f"{unit}s", "least difference"]
        columns = [[f"{n:,}" for n in sizes]]
        columns.append(["none" if x is None else report.number(x, decimals) for x in minimums])
        if self.difference is not None:
            header.append(f"power for {self.difference:g}")
            columns.append([report.number(x, 2) for x in powers])
        title = f"{pair.metric}, {pair.system} - {pair.baseline}, by number of {unit}s"
        rows = tuple(zip(*columns, strict=True))
        return Table(title, tuple(header), rows, ">" * len(header))


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


def _count(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"


def _decimals(values: Sequence[float | None], digits: int | None) -> int:
    return report.decimals([x for x in values if x]) if digits is None else digits


def _with_interval(cells: Sequence[str]) -> tuple[str, str]:
    found, low, high = cells
    return found, f"[{low}, {high}]"
