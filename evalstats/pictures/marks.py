"""Marks in the rows of a table, and curves, for figures and HTML.

HTML draws them in SVG (`markup`), and files of figures with matplotlib, in the same way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.results import tabular
from evalstats.results.layout import score_name
from evalstats.results.records import Difference, distinct
from evalstats.results.widths import cut

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate
    from evalstats.results.tabular import Table

Floats = NDArray[np.float64]
#: Margin of an axis on either side; the most ticks, and the most for whole numbers.
_PAD, _TICKS, _WHOLE_TICKS = 0.04, 5, 8
#: Share of replicates in a density, number of bins, and smoothing weights.
_SHOWN, _BINS, _SMOOTH = (0.003, 0.997), 48, np.array([1, 4, 6, 4, 1]) / 16
#: Extent of a density beyond its interval, as a share of the interval.
_TAIL = 0.2
#: Extent of a mark's own scale, on which intervals end at 1.
_FREE = 1.25
#: A text closer to an edge than this share is aligned to it instead of centred.
_EDGE = 0.3
#: Characters of a name beside an axis.
_SIDE = 16
#: The most rows with densities.
_DENSE = 30
#: A minus sign before a number, and one between two words.
_MINUS, LESS = re.compile(r"(?<![\w.)])-(?=\.?\d)"), re.compile(r"(?<= )-(?= )")


@dataclass(frozen=True)
class Limit:
    """A margin in points, or a recovery (a share of the baseline); for gates only of a loss.

    Without a baseline, `asked` is the requirement for a score.
    """

    margin: float | None = None
    recovery: float | None = None
    of_loss: bool = False
    asked: str = ""

    @property
    def is_none(self) -> bool:
        """Whether there is no limit."""
        return self.margin is None and self.recovery is None and not self.asked

    @property
    def said(self) -> str:
        """Meaning of dashed lines, if each row has its own."""
        if self.margin is None:
            return self.asked or f"{100 * (self.recovery or 0):.6g}% of the baseline"
        return f"a loss of {self.margin:g}" if self.of_loss else f"margin ±{self.margin:g}"

    def named(self, end: float) -> str:
        """Return the label of a limit: ``−0.5 allowed``, ``+0.5`` for a margin, ``0.9 kept``."""
        if self.margin is None:
            return self.asked or f"{self.recovery:g} kept"
        at = f"{end:+g}".replace("-", "−")
        return f"{at} allowed" if self.of_loss else at

    def bounds(self, d: Difference) -> tuple[float, float] | None:
        """Return the limits on the axis, infinite on a side without one.

        The limit of a loss is on the side where the system is worse: below 0 if higher is better.
        `None` if there is no limit, or none for this pair.
        """
        base = d.baseline_score
        if self.margin is not None:
            low, high = -self.margin, self.margin
        elif self.recovery is None or min(base, d.system_score) < 0:
            return None
        else:
            low, high = self.recovery * base - base, base / self.recovery - base
        if self.recovery is not None or self.of_loss:
            return (low, inf) if d.higher_is_better else (-inf, high)
        return low, high


@dataclass(frozen=True, eq=False)
class Mark:
    """A mark in a row: a value with its interval.

    `kind` is "better", "worse", "open" or "plain"; `wider` an interval around the interval;
    `limits` the allowed loss, infinite on a side without a limit. `replicates` returns scores, or
    differences, of the resamples, when their density is drawn.
    """

    value: float
    low: float
    high: float
    kind: str = "plain"
    is_total: bool = False
    limits: tuple[float, float] | None = None
    wider: tuple[float, float] | None = None
    replicates: Callable[[], ArrayLike] | None = None

    @property
    def ends(self) -> tuple[float, ...]:
        """The finite limits."""
        return tuple(x for x in self.limits or () if isfinite(x))

    def band(self, null: float | None) -> tuple[float, float] | None:
        """Return the band within the limits, from the null value on a side without a limit."""
        if self.limits is None:
            return None
        low, high = (x if isfinite(x) else null or 0.0 for x in self.limits)
        return low, high

    @cached_property
    def density(self) -> tuple[Floats, Floats] | None:
        """Places and heights, up to 1, of the density of the replicates, if any."""
        values = np.asarray(() if self.replicates is None else self.replicates(), np.float64)
        low, high = np.quantile(values, _SHOWN) if values.size else (0.0, 0.0)
        if not low < high:
            return None
        counts, edges = np.histogram(values, np.linspace(low, high, _BINS + 1))
        heights = np.convolve(counts, _SMOOTH, "same")
        return (edges[1:] + edges[:-1]) / 2, heights / heights.max()

    def on_own_scale(self, null: float, higher_is_better: bool) -> Mark:
        """Return the mark with its farther bound at distance 1 from 0, and better on the right."""
        size = max(abs(self.low - null), abs(self.high - null), abs(self.value - null)) or 1.0
        by, replicates = (1 if higher_is_better else -1) / size, self.replicates

        def scaled(*values: float) -> tuple[float, ...]:
            return tuple(sorted(by * (x - null) for x in values))

        low, high = scaled(self.low, self.high)
        limits = None if self.limits is None else scaled(*self.limits)
        return replace(
            self,
            value=scaled(self.value)[0],
            low=low,
            high=high,
            limits=limits,  # type: ignore[arg-type]
            replicates=replicates and (lambda: by * (np.asarray(replicates()) - null)),
        )


@dataclass(frozen=True, eq=False)
class Forest:
    """The drawing in the rows of a table: marks on one axis, in a cell before the column `at`.

    A row has no mark, one, or one of each of the `series`. `label` names the axis, `sides` the left
    and right of the null value, and `limit` the dashed lines. An axis of ranks `is_whole`. If rows
    have their own scales (`is_free`), it has no numbers. The tables in `among` have the same axis.
    """

    marks: tuple[tuple[Mark, ...], ...]
    at: int
    label: str
    null: float | None = None
    sides: tuple[str, str] | None = None
    limit: Limit | None = None
    is_whole: bool = False
    is_free: bool = False
    series: tuple[str, ...] = ()
    among: Sequence[Forest] = ()

    @property
    def _every(self) -> list[Mark]:
        return [mark for one in self.among or (self,) for row in one.marks for mark in row]

    @cached_property
    def axis(self) -> tuple[float, float]:
        """The ends of the axis."""
        marks = self._every
        ends = [x for m in marks for x in (m.value, *(m.wider or ()), *m.ends)]
        # A density extends beyond its interval, and may be drawn or not.
        tails = [(m.low, m.high, _TAIL * (m.high - m.low)) for m in marks]
        ends += [x for low, high, tail in tails for x in (low - tail, high + tail)]
        ends += [] if self.null is None else [self.null]
        low, high = min(ends), max(ends)
        if self.is_whole:
            last = max(m.high for m in marks)
            # Room for the dots at both ends.
            pad = max(0.5, _PAD * last)
            return 1 - pad, last + pad
        if self.is_free:
            # A limit without a number may be far from the marks.
            low, high = -_FREE, _FREE
        pad = _PAD * (high - low) or abs(low) * _PAD or 1.0
        return low - pad, high + pad

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the axis; for ranks 1, 5, 10 and so on."""
        low, high = self.axis
        if self.is_free:
            return [0.0]
        if self.is_whole:
            last = int(high)
            steps = (x * 10**k for k in range(9) for x in (5, 10))
            step = 1 if last <= _WHOLE_TICKS else next(x for x in steps if last <= x * _WHOLE_TICKS)
            return sorted({1.0, *(float(x) for x in range(step, last + 1, step))})
        return round_numbers(low, high)

    @property
    def named_ends(self) -> list[tuple[float, str, str]]:
        """Limits shared by all rows: their places, labels, and sides."""
        limits = {mark.ends for mark in self._every}
        if self.limit is None or len(limits) != 1:
            return []
        if self.is_free:
            return []
        (low, high), named = self.axis, []
        for end in limits.pop():
            place = (end - low) / (high - low)
            side = "left" if place < _EDGE else "right" if place > 1 - _EDGE else "center"
            named.append((end, self.limit.named(end), side))
        return named

    @property
    def said(self) -> str:
        """The label of the axis, and of limits that differ by row."""
        if self.limit is None or not any(mark.ends for mark in self._every):
            return self.label
        if self.named_ends and (self.limit.margin is None or self.limit.of_loss):
            # The line is labelled.
            return self.label
        return f"{self.label}; dashed: {self.limit.said}"


def round_numbers(low: float, high: float) -> list[float]:
    """Return round numbers within a range, at most five."""
    step = 10.0 ** math.floor(math.log10((high - low) / _TICKS))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= _TICKS)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def round_sizes(low: float, high: float) -> list[float]:
    """Return powers of ten within a range, and 2 and 5 times these if there are few."""
    leads = (1, 2, 5) if high < 100 * low else (1,)
    first, last = (math.floor(math.log10(x)) for x in (low, high))
    sizes = (lead * 10.0**k for k in range(first, last + 1) for lead in leads)
    return [x for x in sizes if low <= x * (1 + 1e-9) and x <= high * (1 + 1e-9)]


def written(value: float) -> str:
    """Return a number at a tick, with a minus sign."""
    return f"{value:,.10g}".replace("-", "−")


def minus(text: str) -> str:
    """Return text with minus signs before negative numbers, for screen readers."""
    return _MINUS.sub("−", text)


def words(text: str) -> str:
    """Return a heading with signs between words as mathematics."""
    return LESS.sub("−", minus(text)).replace(" <= ", " ≤ ")


@dataclass(frozen=True, eq=False)
class Curve:
    """Lines over a size, on a logarithmic axis: `lines` are points by name.

    `across` and `up` name the axes. A plan is at the size `at`, and its target is the height
    `target`; without a target, heights have a logarithmic axis.
    """

    lines: Mapping[str, Sequence[tuple[float, float]]]
    title: str
    across: str
    up: str
    at: float
    target: float | None = None

    @property
    def axes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ends of both axes."""
        xs, ys = zip(*(point for line in self.lines.values() for point in line), strict=True)
        across = min(*xs, self.at), max(*xs, self.at)
        if self.target is not None:
            return across, (0.0, 1.0)
        return across, (min(ys) / 1.1, max(ys) * 1.1)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point, as shares of both axes from the lower left."""
        (left, right), (low, high) = self.axes
        if self.target is None:
            y, low, high = (math.log(z) for z in (y, low, high))
        return math.log(x / left) / math.log(right / left), (y - low) / (high - low)

    @property
    def ticks(self) -> tuple[list[float], list[float]]:
        """Round numbers on both axes, with the target if any."""
        across, up = self.axes
        if self.target is None:
            return round_sizes(*across), round_sizes(*up)
        return round_sizes(*across), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def of_scores(rows: Sequence[Sequence[Estimate]], at: int) -> Forest:
    """Return scores with their intervals: one system per row, or several per row."""
    several, first = len(rows[0]) > 1, rows[0][0]
    is_dense = len(rows) <= _DENSE and not several

    def mark(e: Estimate) -> Mark:
        replicates = (lambda: e.replicates) if is_dense and e.method != "t" else None
        return Mark(e.score, e.low, e.high, is_total=e.aggregate is not None, replicates=replicates)

    marks = tuple(tuple(map(mark, row)) for row in rows)
    label = f"{score_name(first)}, {tabular.level(first.confidence_level)}"
    series = tuple(distinct(e.system for row in rows for e in row)) if several else ()
    return Forest(marks, at, label, series=series)


def of_comparison(
    c: Comparison, rows: Sequence[Difference | None], at: int, one_pair: bool = False
) -> Forest:
    """Return differences with their intervals, and densities if resamples were drawn."""

    def replicates(d: Difference) -> ArrayLike:
        base, new = c.scores_of(d)
        return new.replicates - base.replicates

    level, limit = tabular.level(c.confidence_level), Limit(c.margin, c.recovery)
    kinds = ["" if d is None else d.kind for d in rows]
    return of_differences(rows, kinds, at, level, limit, one_pair, replicates)


def of_differences(
    rows: Sequence[Difference | None],
    kinds: Sequence[str],
    at: int,
    level: str,
    limit: Limit,
    one_pair: bool = False,
    replicates: Callable[[Difference], ArrayLike] | None = None,
) -> Forest:
    """Return differences with their intervals; several metrics have separate scales.

    Each row has the kind of its mark; a row without a difference has none. `level` names the
    intervals, and `replicates` returns the replicates of a difference.
    """
    known = [d for d in rows if d is not None]
    first, is_free = known[0], len({d.metric for d in known}) > 1
    is_dense = len(rows) <= _DENSE
    marks: list[tuple[Mark, ...]] = []
    for d, kind in zip(rows, kinds, strict=True):
        if d is None:
            marks.append(())
            continue
        is_drawn = is_dense and d.n_differing and d.method != "t"
        mark = Mark(
            d.difference,
            d.low,
            d.high,
            kind,
            is_total=d.aggregate is not None,
            limits=limit.bounds(d),
            replicates=partial(replicates, d) if replicates and is_drawn else None,
        )
        shown = mark.on_own_scale(0.0, d.higher_is_better) if is_free else mark
        marks.append((shown,))
    # Labels left and right of the null value; on separate scales better is on the right.
    words = "worse", "better"
    if one_pair:
        names = (first.baseline, first.system)
        a, b = cut(names, [min(len(x), _SIDE) for x in names])
        words = f"{a} better", f"{b} better"
    return Forest(
        tuple(marks),
        at,
        f"{level}, each on its own scale" if is_free else f"difference, {level}",
        null=0.0,
        sides=words if first.higher_is_better or is_free else words[::-1],
        limit=None if limit.is_none else limit,
        is_free=is_free,
    )


def drawing(tables: Iterable[Table]) -> list[Table]:
    """Return the tables with drawings in their rows."""
    return [table for table in tables if table.draw is not None]
