"""Which segments drive a difference, and how many of them carry it: `Influence`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalstats.results import influence_plot, report
from evalstats.results.forms import Result
from evalstats.results.records import plain_record
from evalstats.results.report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Segments of which the table shows text.
SHOWN = 10
#: Characters of a text that the table shows.
_WIDTH = 60


@dataclass(frozen=True)
class Influence(Result):
    """The influence of each segment, or group, on a difference; without which its sign turns.

    Segments go in the order of their influence, and of those that are left scores are computed
    again. Fewer may do; that many do is certain.

    Attributes
    ----------
    metric, system, baseline : str
        Whose difference it is, system minus baseline.
    difference, pvalue : float
        Those of the comparison, of this pair alone.
    unit : {"segment", "group"}
        What has an influence.
    ids : tuple of str
        Segments, the most influential first: their `segment_ids`, labels of groups, or numbers
        from 0.
    values : tuple of float
        Influence of each: without it, the difference would be less by about this much (the
        infinitesimal jackknife; Jaeckel, 1972).
    sign_without : tuple of str or None
        Segments that speak most for the better system, the first that have to go until the other is
        better; `None` where no number of them is enough.
    texts : tuple of tuple of str
        Outputs of baseline and system on the first ten, where texts were compared; else empty.
    n_strata : int or None
        Where there are strata: two of each always stay.
    """

    metric: str
    system: str
    baseline: str
    difference: float
    pvalue: float
    unit: str
    ids: tuple[str, ...] = field(repr=False)
    values: tuple[float, ...] = field(repr=False)
    sign_without: tuple[str, ...] | None
    significance_level: float
    higher_is_better: bool
    signature: str = field(repr=False)
    texts: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    n_strata: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain Python values."""
        return {**plain_record(self), "texts": [list(pair) for pair in self.texts]}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ten most influential segments, or groups, the first on top."""
        arrow = report.direction(self.higher_is_better)
        title = f"{self.metric} {arrow}, {self.system} − {self.baseline}"
        shown = self.ids[:SHOWN], self.values[:SHOWN]
        return influence_plot.influences(*shown, title, self.unit, ax)

    def _records(self) -> list[dict[str, Any]]:
        rows = zip(self.ids, self.values, strict=True)
        return [{self.unit: name, "influence": value} for name, value in rows]

    def _tables(self, digits: int | None = None) -> list[Table]:
        decimals = report.decimals([abs(v) for v in self.values[:SHOWN]])
        decimals = decimals if digits is None else digits
        header, align = [self.unit, "influence"], "<>"
        if self.texts:
            header, align = [*header, self.baseline, self.system], "<><<"
        rows: list[tuple[str, ...]] = [
            (name, report.number(value, decimals, sign=True))
            for name, value in zip(self.ids[:SHOWN], self.values, strict=False)
        ]
        if self.texts:
            rows = [(*row, *map(_line, texts)) for row, texts in zip(rows, self.texts, strict=True)]
        title = (
            f"{self.metric} {report.direction(self.higher_is_better)}, {self.system} - "
            f"{self.baseline}: {report.number(self.difference, decimals, sign=True)}, "
            f"{report.p_is(self.pvalue)}, {len(self.ids):,} {self.unit}s"
        )
        return [Table(title, tuple(header), tuple(rows), align)]

    def _footer(self) -> list[str]:
        unit = self.unit
        # Where scores are equal, the direction is that of a greater score.
        winner = self.system if (self.difference >= 0) == self.higher_is_better else self.baseline
        lines = [
            f"Influence of a {unit}: without it, the difference would be less by about this much."
        ]
        if self.difference == 0:
            lines.append(f"The scores are equal; what follows asks when {winner} is better.")
        elif self.sign_without is None:
            lines.append(f"No number of {unit}s that speak for {winner} decides who is better.")
        else:
            number = self._number(self.sign_without)
            lines.append(f"Without {number} that speak most for {winner}, the other is better.")
        lines.append(
            f"{unit.capitalize()}s go in the order of their influence, and the rest is scored "
            f"again (Broderick, Giordano and Meager, 2020); fewer may do."
        )
        if self.n_strata:
            lines.append(f"Two {unit}s of each of {self.n_strata} strata stay.")
        return [*lines, self.signature]

    def _number(self, ids: Sequence[str]) -> str:
        share = 100 * len(ids) / len(self.ids)
        plural = "s" if len(ids) > 1 else ""
        return f"the {len(ids):,} {self.unit}{plural} ({share:.2g} %)"


def _line(text: str) -> str:
    """Return a text on one line, its end cut off."""
    line = " ".join(text[: 4 * _WIDTH].split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1].rstrip() + "…"
