"""What a pilot says about power: `Power`, and a `PairPower` for each pair and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalstats.results import power_plot, report
from evalstats.results.records import PairPower, distinct
from evalstats.results.report import Table
from evalstats.results.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Power(Result):
    """What the default test finds on a test set like the pilot; iterating gives `PairPower`.

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
    n_resamples, seed : int
        What was drawn.
    signatures : tuple of str
        Everything needed to make the numbers again, one for each metric.
    notes : tuple of str
        What a careful reader should know.
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
    n_resamples: int
    seed: int
    signatures: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[PairPower]:
        """Iterate over the pairs, metric by metric."""
        return iter(self.pairs)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return settings and pairs as plain Python values; `None` is what cannot be."""
        settings = ("n_pilot", "n_segments", "unit", "difference", "target", "significance_level")
        others = ("alternative", "confidence_level", "n_resamples", "seed")
        return {
            **{name: getattr(self, name) for name in (*settings, *others)},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "signatures": list(self.signatures),
            "notes": list(self.notes),
        }

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw power, or the least difference, over the number of segments: `plots.power`."""
        return power_plot.power(
            self.pairs,
            self.unit,
            self.n_segments,
            difference=self.difference,
            target=self.target,
            metric=metric,
            ax=ax,
        )

    def _records(self) -> list[dict[str, Any]]:
        curve = ("sizes", "powers", "minimums")
        records = [pair.to_dict() for pair in self.pairs]
        return [{k: v for k, v in record.items() if k not in curve} for record in records]

    def _tables(self, digits: int | None = None) -> list[Table]:
        tables = []
        for metric in distinct([pair.metric for pair in self.pairs]):
            pairs = [pair for pair in self.pairs if pair.metric == metric]
            tables.append(self._pair_table(pairs, digits))
            if len(pairs) == 1:
                tables.append(self._curve_table(pairs[0], digits))
        return tables

    def _footer(self) -> list[str]:
        return [*self.notes, *self.signatures]

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
                row += _with_interval(["none" if x is None else f"{x:,}" for x in needed])
            rows.append(tuple(row))
        arrow = report.direction(pairs[0].higher_is_better)
        title = (
            f"{pairs[0].metric} {arrow}, {self.n_segments:,} {self.unit}s "
            f"(pilot {self.n_pilot:,}), power {self.target:g} at level "
            f"{self.significance_level:g}, {self.alternative}"
        )
        return Table(title, tuple(header), tuple(rows), "<<" + ">" * (len(header) - 2))

    def _curve_table(self, pair: PairPower, digits: int | None) -> Table:
        decimals = _decimals(pair.minimums, digits)
        header = [f"{self.unit}s", "least difference"]
        columns = [[f"{n:,}" for n in pair.sizes]]
        columns.append(["none" if x is None else report.number(x, decimals) for x in pair.minimums])
        if self.difference is not None:
            header.append(f"power for {self.difference:g}")
            columns.append([report.number(x, 2) for x in pair.powers])
        title = f"{pair.metric}, {pair.system} - {pair.baseline}, by number of {self.unit}s"
        rows = tuple(zip(*columns, strict=True))
        return Table(title, tuple(header), rows, ">" * len(header))


def _decimals(values: Sequence[float | None], digits: int | None) -> int:
    return report.decimals([x for x in values if x]) if digits is None else digits


def _with_interval(cells: Sequence[str]) -> tuple[str, str]:
    found, low, high = cells
    return found, f"[{low}, {high}]"
