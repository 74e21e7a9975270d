"""Tables as figures: names and scores left, intervals on one axis, numbers and verdicts right.

At most as wide as two columns of a paper, with the same words as the table's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalstats.errors import InputError
from evalstats.pictures.figures import (
    BAND,
    BLUE,
    GREY,
    LINE,
    SERIES,
    SMALL,
    VERMILLION,
    AxesOfOne,
    font_of,
    inches,
    own_figure,
    panels_of,
    wrapped,
)
from evalstats.pictures.marks import Forest, Mark, drawing, minus, words, written
from evalstats.pictures.markup import verdict
from evalstats.results.tabular import Table

if TYPE_CHECKING:
    from evalstats.pictures.figures import Axes, Panels

#: Inches: two columns of a paper; least and largest axis; gaps between columns; margin.
_WIDE, _LEAST_AXIS, _MOST_AXIS, _BETWEEN, _AROUND = 6.9, 1.4, 2.6, 0.11, 0.06
#: Inches: extra height of a row, and of one with a density; and per mark of several.
_GAP, _HILL, _STEP = 0.075, 0.13, 0.085
#: Inches: title, head, axis, each line below it, gap between tables.
_TITLE, _HEAD, _TICKS, _APART = 0.2, 0.06, 0.21, 0.22
#: The most rows of a figure; characters of a name, and of a shortened one.
_MOST_ROWS, _LONG, _NAME, _SHORT = 120, 30, 22, 16
#: Characters by which a head may exceed its column; factor for bold letters.
_SLACK, _BOLD = 3, 1.12
_DIAMOND, _TITLE_POINTS = "D", 8
_COLOURS = {"better": BLUE, "worse": VERMILLION, "open": GREY, "plain": BLUE}


def tables(shown: Iterable[Table], ax: Panels | None = None) -> Panels:
    """Draw tables one below the other, and return their axes; a single one for one table."""
    plans = [_fitted(table) for table in drawing(shown)]
    if ax is not None:
        given = panels_of(ax, len(plans))
        for plan, axes in zip(plans, given, strict=True):
            _draw(plan, axes)
        return ax if len(plans) == 1 else given
    if not plans:
        raise InputError("there is nothing to draw in these tables")
    width = max(plan.width for plan in plans) + 2 * _AROUND
    height = sum(plan.height + _APART for plan in plans) - _APART + 2 * _AROUND
    figure, top, drawn = own_figure(height, width, layout=None), height - _AROUND, []
    for plan in plans:
        top -= plan.above + plan.rows
        left, size = _AROUND + plan.left, plan.axis
        box = (left / width, top / height, size / width, plan.rows / height)
        drawn.append(_draw(plan, figure.add_axes(box)))
        top -= plan.below + _APART
    return drawn[0] if len(drawn) == 1 else np.array(drawn).view(AxesOfOne)


@dataclass(frozen=True)
class _Text:
    """A column of text: its lines in each row, the side to which they are aligned, its totals."""

    head: str
    cells: Sequence[str]
    side: str
    totals: Sequence[str]

    @cached_property
    def width(self) -> float:
        """Inches."""
        bold = SMALL * _BOLD
        widths = (inches(x, bold if verdict(x) else SMALL) for x in self.cells)
        return max(inches(self.head), *widths, *(inches(x, bold) for x in self.totals))


@dataclass(frozen=True)
class _Plan:
    """The layout of a table, in inches."""

    table: Table
    forest: Forest
    columns: Sequence[_Text]
    n_left: int

    @cached_property
    def left(self) -> float:
        """Room for the columns on the left of the axis."""
        return sum(column.width + _BETWEEN for column in self.columns[: self.n_left])

    @cached_property
    def right(self) -> float:
        """Room for the columns on the right of the axis."""
        return sum(column.width + _BETWEEN for column in self.columns[self.n_left :])

    @property
    def axis(self) -> float:
        """The length of the axis."""
        return min(max(_WIDE - self.left - self.right, _LEAST_AXIS), _MOST_AXIS)

    @property
    def width(self) -> float:
        """Total width, with a wrapped title."""
        return self.left + self.axis + self.right

    @cached_property
    def title(self) -> str:
        """The title in lines."""
        return wrapped(words(self.table.title), int(self.width / inches("n", _TITLE_POINTS)))

    @cached_property
    def heights(self) -> list[float]:
        """Heights of the rows."""
        heights = []
        for i, marks in enumerate(self.forest.marks):
            lines = max(column.cells[i].count("\n") for column in self.columns) + 1
            hill = _HILL if self.is_dense(i) else _STEP * max(len(marks) - 1, 0)
            heights.append(_GAP + LINE * lines + hill)
        return heights

    def is_dense(self, row: int) -> bool:
        """Whether a row has a density."""
        return any(mark.density is not None for mark in self.forest.marks[row])

    @property
    def rows(self) -> float:
        """Height of all rows."""
        return sum(self.heights)

    @property
    def head_lines(self) -> int:
        """Lines above the rows."""
        return max(column.head.count("\n") for column in self.columns) + 1

    @property
    def above(self) -> float:
        """Height above the rows."""
        return _TITLE + self.title.count("\n") * LINE + self.head_lines * LINE + 2 * _HEAD

    @cached_property
    def under(self) -> str:
        """The text below the axis."""
        said = self.forest.said
        # It may be a little wider than the axis.
        if inches(said) <= self.axis + 4 * _BETWEEN:
            return wrapped(said, len(said))
        return wrapped(said, max(int(self.axis / inches("n")), _NAME))

    @property
    def height(self) -> float:
        """Total height."""
        return self.above + self.rows + self.below

    @property
    def below(self) -> float:
        """Height below the rows."""
        n = self.under.count("\n") + 1 + len(self.sides) + len(self.keys)
        return _TICKS + n * LINE

    @cached_property
    def keys(self) -> Sequence[Sequence[tuple[str, str, str]]]:
        """Sign, colour and name of each series, on one line, or a line each if they are long."""
        signs = dict(zip("os^DP", "●■▲◆✚", strict=True))
        series = zip(self.forest.series, SERIES, strict=False)
        both = [(signs[x], colour, wrapped(name, len(name))) for name, (colour, x) in series]
        fits = (
            sum(inches(f"{x} {name}") + _BETWEEN for x, _, name in both) <= self.axis + self.right
        )
        return ([both] if fits else [[one] for one in both]) if both else []

    @cached_property
    def sides(self) -> Sequence[Sequence[tuple[str, str]]]:
        """Labels of both sides, on one line, or on two if they are too long."""
        if self.forest.sides is None:
            return ()
        left, right = (wrapped(side, 2 * _NAME) for side in self.forest.sides)
        both = ("left", f"◂ {left}"), ("right", f"{right} ▸")
        fits = sum(inches(said) + _BETWEEN for _, said in both) <= self.axis
        return (both,) if fits else tuple((one,) for one in both)


def _fitted(table: Table) -> _Plan:
    """Return the plan of a table, without columns that do not fit."""
    if len(table.rows) > _MOST_ROWS:
        raise InputError(
            f"{len(table.rows)} rows are too many for a figure (at most {_MOST_ROWS}); draw some "
            "of them"
        )
    spare = list(table.spare)
    left_out: set[int] = set()
    while True:
        for name in (_LONG, _NAME, _SHORT):
            plan = _planned(table, left_out, name)
            if plan.left + plan.right + _LEAST_AXIS <= _WIDE:
                return plan
        if not spare:
            return plan
        left_out.add(spare.pop(0))


def _planned(table: Table, left_out: set[int], most: int) -> _Plan:
    assert table.forest is not None
    kept = [j for j in range(len(table.header)) if j not in left_out]
    columns = []
    for j in kept:
        is_number = table.align[j] == ">"
        cells = [row[j] for row in table.rows]
        shown = [minus(cell) if is_number else wrapped(cell, most) for cell in cells]
        room = max(max(len(line) for cell in shown for line in cell.split("\n")), 6)
        # A head is wrapped if it is much wider than its column, a name if it is long.
        named = words(table.header[j])
        room = max(room + _SLACK, min(most, max(map(len, named.split()), default=0)))
        head = wrapped(named, room)
        totals = shown[len(shown) - table.n_totals :]
        columns.append(_Text(head, shown, table.align[j], totals))
    return _Plan(table, table.forest, columns, sum(j < table.forest.at for j in kept))


def _draw(plan: _Plan, axes: Axes) -> Axes:
    """Draw a table around axes with its marks."""
    forest, edges = plan.forest, np.concatenate(([0.0], np.cumsum(plan.heights)))
    axes.set_ylim(float(edges[-1]), 0.0)
    axes.set_xlim(*forest.axis)
    axes.set_yticks([])
    axes.set_xticks(forest.ticks, [written(tick) for tick in forest.ticks])
    axes.tick_params(labelsize=SMALL, width=0.6, length=2.5, pad=1.5)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(side == "bottom")
    at, n = _Anchors(axes), len(plan.table.rows)
    places = []
    for i, (top, height) in enumerate(zip(edges[:-1], plan.heights, strict=True)):
        places.append(top + height / 2 + (_HILL / 2 if plan.is_dense(i) else 0.0))
        _row(axes, forest.marks[i], (top, places[-1], top + height), forest)
    if forest.null is not None:
        axes.axvline(forest.null, color=GREY, linewidth=0.6, zorder=0)
    _texts(plan, at, places)
    at.rule(0.0, plan.left, plan.right)
    if 0 < plan.table.n_totals < n:
        at.rule(float(edges[n - plan.table.n_totals]), plan.left, plan.right)
    bottom = float(edges[-1]) + _TICKS
    for line in plan.sides:
        for side, said in line:
            at.text(side, 0.0, bottom, said, ha=side, color=GREY)
        bottom += LINE
    for under in plan.under.split("\n"):
        at.text("left", plan.axis / 2, bottom, under, ha="center", color=GREY)
        bottom += LINE
    for keys in plan.keys:
        x = 0.0
        for sign, colour, name in keys:
            at.text("left", x, bottom, sign, color=colour)
            x += inches(f"{sign} ")
            at.text("left", x, bottom, name)
            x += inches(name) + _BETWEEN
        bottom += LINE
    for end, named, side in forest.named_ends:
        axes.annotate(
            named,
            (end, 0.0),
            (0, 2),
            textcoords="offset points",
            ha=side,
            fontsize=SMALL - 0.5,
            annotation_clip=False,
        )
    return axes


def _texts(plan: _Plan, at: _Anchors, places: Sequence[float]) -> None:
    """Write the title, the heads and all cells."""
    table, n = plan.table, len(places)
    head = -_HEAD - plan.head_lines * LINE
    style: dict[str, Any] = {"fontsize": _TITLE_POINTS, "weight": "bold", "va": "bottom"}
    at.text("left", -plan.left, head - _HEAD, plan.title, **style)
    x, side = -plan.left, "left"
    for j, column in enumerate(plan.columns):
        if j == plan.n_left:
            x, side = _BETWEEN, "right"
        is_right = column.side == ">"
        place, ha = (x + column.width, "right") if is_right else (x, "left")
        at.text(side, place, -_HEAD, column.head, ha=ha, va="baseline", color=GREY)
        for i, (y, cell) in enumerate(zip(places, column.cells, strict=True)):
            kind = verdict(cell) if j else ""
            is_bold = i >= n - table.n_totals or bool(kind)
            at.text(
                side,
                place,
                y,
                cell,
                ha=ha,
                weight="bold" if is_bold else "normal",
                color=_COLOURS[kind] if kind else "black",
            )
        x += column.width + _BETWEEN


class _Anchors:
    """Places in inches: across from the left or the right end of axes, and down their rows."""

    def __init__(self, axes: Axes) -> None:
        from matplotlib.transforms import ScaledTranslation, blended_transform_factory

        self.axes, scale = axes, axes.figure.dpi_scale_trans
        of_axes: Any = axes.transAxes
        self._across = {
            side: blended_transform_factory(
                scale + ScaledTranslation(x, 0, of_axes), axes.transData
            )
            for side, x in (("left", 0), ("right", 1))
        }

    def text(self, side: str, x: float, y: float, said: str, **given: Any) -> None:
        """Write at a distance from an end."""
        style: dict[str, Any] = {"va": "center", "fontsize": SMALL, "clip_on": False}
        style |= {**given, **font_of(said)}
        # A single line is centred on its small letters, so that rows are even.
        if style["va"] == "center" and "\n" not in said:
            style["va"] = "center_baseline"
        self.axes.text(x, y, said, transform=self._across[side], linespacing=1.1, **style)

    def rule(self, y: float, left: float, right: float) -> None:
        """Draw a line through the whole table."""
        from matplotlib.lines import Line2D

        for side, ends in (("left", (-left, 0.0)), ("right", (0.0, right))):
            transform = self._across[side]
            line = Line2D(ends, [y, y], color=GREY, linewidth=0.6, transform=transform)
            line.set_clip_on(False)
            line.set_gid("rule")
            self.axes.add_artist(line)
        self.axes.axhline(y, color=GREY, linewidth=0.6, clip_on=False)


def _row(
    axes: Axes, marks: Sequence[Mark], place: tuple[float, float, float], forest: Forest
) -> None:
    """Draw the marks of a row between its edges: limits, densities, intervals, values."""
    top, middle, bottom = place
    for mark in marks[:1]:
        # The range within the limits is a light band, and the limits are dashed.
        if band := mark.band(forest.null):
            axes.fill_betweenx([top, bottom], *band, color=BAND, linewidth=0, zorder=0)
        for end in mark.ends:
            axes.plot([end, end], [top, bottom], "--", color="black", linewidth=0.8, zorder=1)
    for i, mark in enumerate(marks):
        colour, shape = _COLOURS[mark.kind], "o"
        if forest.series:
            colour, shape = SERIES[i]
        y = middle + _STEP * (i - (len(marks) - 1) / 2)
        if mark.density is not None:
            xs, heights = mark.density
            hill = y - heights * 0.9 * (y - top)
            axes.fill_between(xs, hill, y, color=colour, alpha=0.22, linewidth=0, zorder=1)
        if mark.wider is not None:
            axes.hlines(y, *mark.wider, colors=colour, linewidth=0.8)
        axes.hlines(y, mark.low, mark.high, colors=colour, linewidth=1.6 if mark.wider else 1.2)
        face = "white" if mark.kind == "open" else colour
        shape = _DIAMOND if mark.is_total and not forest.series else shape
        axes.plot(mark.value, y, shape, color=colour, markerfacecolor=face, markersize=4, zorder=3)
