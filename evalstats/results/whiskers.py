"""The marks of a table's rows as SVG: places are percents of a cell, colours the page's."""

from __future__ import annotations

from html import escape

from evalstats.results.marks import Forest, Mark, written
from evalstats.results.tabular import printable

#: Shapes of what is told apart in one row, by a path around 0; the first is a dot.
_SHAPES = ("", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M-5 0L0 5L5 0L0-5Z", "M-5-2H5V2H-5Z")
_DIAMOND, _SIGNS = _SHAPES[3], "●■▲◆▬"
#: Characters of what lies on both sides that a narrow axis has room for.
_SIDES = 14
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def is_tall(forest: Forest, row: int) -> bool:
    """Return whether a row needs room for a density, or for several marks."""
    marks = forest.marks[row]
    return len(marks) > 1 or any(mark.density is not None for mark in marks)


def cell(forest: Forest, row: int) -> str:
    """Return what is drawn in a row: limits, densities, intervals, values."""
    marks = forest.marks[row]
    drawn = "" if forest.null is None else _upright(forest, forest.null, "null")
    for mark in marks[:1]:
        if band := mark.band(forest.null):
            drawn = f'<rect class="band" {_span(forest, *band)} height="100%"/>{drawn}'
        drawn += "".join(_upright(forest, x, "limit") for x in mark.ends)
    for i, mark in enumerate(marks):
        y = f"{100 * (i + 1) / (len(marks) + 1):g}%"
        kind = f"s{i}" if forest.series else mark.kind
        drawn += f'<g class="{kind}">{_mark(forest, mark, y, i if forest.series else 0)}</g>'
    return f'<svg aria-hidden="true">{drawn}</svg>'


def _mark(forest: Forest, mark: Mark, y: str, shape: int) -> str:
    """Draw a density, the intervals, and the value: of totals a diamond."""
    drawn = _density(forest, mark, y)
    for kind, ends in (("wider", mark.wider), ("whisker", (mark.low, mark.high))):
        if ends:
            low, high = (_at(forest, x) for x in ends)
            drawn += f'<line class="{kind}" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'
    x, path = _at(forest, mark.value), _DIAMOND if mark.is_total else _SHAPES[shape]
    if not path:
        return f'{drawn}<circle cx="{x}" cy="{y}" r="4"/>'
    return f'{drawn}<svg x="{x}" y="{y}"><path d="{path}"/></svg>'


def _density(forest: Forest, mark: Mark, y: str) -> str:
    """Draw a hill that stands on the line of a row."""
    if mark.density is None:
        return ""
    (places, heights), (left, right) = mark.density, forest.axis
    is_inside = (places >= left) & (places <= right)
    places, heights = places[is_inside], heights[is_inside]
    if len(places) < 2:
        return ""
    inside = _span(forest, float(places[0]), float(places[-1]))
    hill = "".join(f"L{i} {100 - 96 * height:.0f}" for i, height in enumerate(heights))
    return (
        f'<svg {inside} height="{y}" viewBox="0 0 {len(heights) - 1} 100" '
        f'preserveAspectRatio="none"><path class="density" d="M0 100{hill}V100Z"/></svg>'
    )


def axis(forest: Forest) -> str:
    """Return the axis below the rows: ticks with their numbers, and what lies on either side."""
    drawn = '<line x1="0" x2="100%" y1="0" y2="0"/>'
    for tick in forest.ticks:
        x = _at(forest, tick)
        drawn += f'<line x1="{x}" x2="{x}" y1="0" y2="4"/>'
        drawn += f'<text x="{x}" y="16" text-anchor="middle">{written(tick)}</text>'
    if forest.sides is None:
        return f'<svg height="22">{drawn}</svg>'
    left, right = (escape(printable(side)) for side in forest.sides)
    # Long names stand one below the other.
    low = 31 if len(left + right) <= _SIDES else 44
    drawn += f'<text x="0" y="31">◂ {left}</text>'
    drawn += f'<text x="100%" y="{low}" text-anchor="end">{right} ▸</text>'
    return f'<svg height="{low + 6}">{drawn}</svg>'


def head(forest: Forest) -> str:
    """Return what stands above the rows: what is drawn, whose, and where limits are."""
    said = escape(printable(forest.said)) + ("<br>" if forest.series else "")
    for i, name in enumerate(forest.series):
        # The colour is that of the marks, and the name that of the text.
        said += (
            f'<span class="s{i}" aria-hidden="true">{_SIGNS[i]}</span> {escape(printable(name))}'
        )
    ends = ""
    for end, named, side in forest.named_ends:
        x, anchor = _at(forest, end), _ANCHORS[side]
        ends += f'<text x="{x}" y="11" text-anchor="{anchor}">{escape(named)}</text>'
    return said + (f'<svg height="14" aria-hidden="true">{ends}</svg>' if ends else "")


def _place(forest: Forest, value: float) -> float:
    """Return the place of a value on the axis, in percent."""
    low, high = forest.axis
    return 100 * (value - low) / (high - low)


def _at(forest: Forest, value: float) -> str:
    return f"{_place(forest, value):.2f}%"


def _span(forest: Forest, low: float, high: float) -> str:
    """Return the attributes of what lies between two values."""
    a, b = _place(forest, low), _place(forest, high)
    return f'x="{a:.2f}%" width="{b - a:.2f}%"'


def _upright(forest: Forest, value: float, kind: str) -> str:
    x = _at(forest, value)
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="100%"/>'
