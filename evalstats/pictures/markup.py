"""Tables as HTML, and the marks of their rows as SVG, with places in percent of a cell.

All text is escaped; there is no script, and nothing is loaded. Colours are the page's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from evalstats.pictures.marks import Forest, Mark, minus, words, written
from evalstats.results.tabular import Page, Table, printable

#: Length from which text is wrapped, and number of columns from which a table drops spare columns
#: on narrow screens.
_LONG, _WIDE = 32, 7
#: The most notes that are not folded.
_OPEN_NOTES = 3
_VERDICTS = {"better": "better", "worse": "worse", "passed": "better", "failed": "worse"}
#: Shapes of the series in one row, as paths around 0; the first is a dot.
_SHAPES = ("", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M-5 0L0 5L5 0L0-5Z", "M-5-2H5V2H-5Z")
_DIAMOND, _SIGNS = _SHAPES[3], "●■▲◆▬"
#: Number of characters of both side labels that fit on a narrow axis.
_SIDES = 14
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def html(text: str) -> str:
    """Return text for the inside of an HTML element or of a quoted attribute."""
    return escape(printable(text))


def html_number(text: str) -> str:
    """Return a cell of numbers as HTML, with minus signs."""
    return html(minus(text))


def html_words(text: str) -> str:
    """Return a heading, or a sentence, as HTML, with signs between words as mathematics."""
    return html(words(text))


def _named(text: str) -> str:
    """Return a name as HTML that may break after strokes and underscores."""
    return re.sub("(?<=[/_])(?=[^/_])", "<wbr>", html(text))


def verdict(cell: str) -> str:
    """Return "better" or "worse" for a verdict, or "" for other cells."""
    return _VERDICTS.get(cell.rstrip(" *°†"), "")


@cache
def stylesheet(name: str) -> str:
    """Return a style sheet of this room."""
    return Path(__file__).with_name(f"{name}.css").read_text(encoding="utf-8")


def as_html(page: Page, title: str) -> str:
    """Return HTML of its own, light or dark as the reader's system is."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html(title)}</title>
<style>:root {{ color-scheme: light dark; }} \
body {{ font-family: system-ui, sans-serif; margin: 1.5em; }} h1 {{ font-size: 1.2em; }}</style>
</head>
<body>
<main>
<h1>{html_words(title)}</h1>
{fragment(page)}
</main>
</body>
</html>
"""


def fragment(page: Page) -> str:
    """Return HTML for embedding into a page, without scripts or external resources."""
    hints = [hint for table in page.tables for hint in table.hints]
    below = [f"<p>{html_words(line)}</p>" for line in (*page.notes, *hints)]
    if len(below) > _OPEN_NOTES:
        below = ["<details>", f"<summary>{len(below)} notes</summary>", *below, "</details>"]
    codes = [f"<p><code>{html(line)}</code></p>" for line in page.signatures]
    if codes:
        codes = [f"<details><summary>{html(page.short)}</summary>", *codes, "</details>"]
    above = [f"<p><b>{html_words(said)}</b> {html_words(more)}</p>" for said, more in page.above]
    body = "\n".join([*above, *map(html_table, page.tables), *below, *codes])
    # Only tables with drawings need the second.
    style = stylesheet("table")
    style += stylesheet("forest") if any(table.draw for table in page.tables) else ""
    # Scrollable parts can be reached with keys.
    return f'<style>\n{style}</style>\n<div class="evalstats" tabindex="0">\n{body}\n</div>'


def html_table(table: Table) -> str:
    """Return a table with escaped text, isolated from text of another direction.

    Drawings of rows have their own column, with an axis below.
    """
    forest, n_before = table.forest, len(table.rows) - table.n_totals
    columns = zip(table.header, *table.rows, strict=True)
    is_long = [max(map(len, column)) > _LONG for column in columns]

    def line(
        cells: Sequence[str], drawn: str, kind: str = "", first: str = "row", tag: str = "td"
    ) -> str:
        elements = []
        for j, (side, cell) in enumerate(zip(table.align, cells, strict=True)):
            said = verdict(cell) if j else ""
            kinds = ["text"] * (side == "<") + [f"said-{said}"] * bool(said)
            kinds += ["long"] * is_long[j] + ["spare"] * (j in table.spare)
            kinds += ["last"] * (j in table.last)
            elements.append(_tagged(tag if j else first, cell, *kinds))
        if forest is not None:
            elements.insert(forest.at, _tagged(tag, drawn, "drawn"))
        return _tagged("tr", "".join(elements), kind)

    body, head = [], 'th scope="col"'
    heads = line([_named(words(name)) for name in table.header], _head(forest), "", head, head)
    for i, row in enumerate(table.rows):
        sides = zip(table.align, row, strict=True)
        cells = [html_number(cell) if side == ">" else _named(cell) for side, cell in sides]
        marks = forest.marks[i] if forest is not None else ()
        is_tall = len(marks) > 1 or any(mark.density is not None for mark in marks)
        kind = " ".join(["total"] * (i >= n_before) + ["tall"] * is_tall)
        # The first column is the header of a row.
        body.append(line(cells, _cell(forest, i), kind, 'th scope="row"'))
    foot = ""
    if forest is not None:
        empty = line([""] * len(table.header), _axis(forest), "", "td")
        foot = f'<tfoot aria-hidden="true">{empty}</tfoot>\n'
    kinds = ["forest", *(["wide"] * (len(table.header) > _WIDE))] if forest is not None else []
    inside = f"\n<caption>{html_words(table.title)}</caption>\n<thead>{heads}</thead>\n<tbody>\n"
    inside += "\n".join(body) + f"\n</tbody>\n{foot}"
    return "\n".join(
        [_tagged("table", inside, *kinds), *(f"<p>{html_words(note)}</p>" for note in table.notes)]
    )


def _tagged(tag: str, inside: str, *classes: str) -> str:
    """Return an element with these classes."""
    kind = f' class="{" ".join(classes)}"' if any(classes) else ""
    return f"<{tag}{kind}>{inside}</{tag.split()[0]}>"


def _head(forest: Forest | None) -> str:
    """Return the head above the rows: label of the drawing, series, and limits."""
    if forest is None:
        return ""
    said = html(forest.said) + ("<br>" if forest.series else "")
    for i, name in enumerate(forest.series):
        # The sign has the colour of the marks, the name the colour of the text.
        said += f'<span class="s{i}" aria-hidden="true">{_SIGNS[i]}</span> {html(name)}'
    ends = ""
    for end, named, side in forest.named_ends:
        x, anchor = _at(forest, end), _ANCHORS[side]
        ends += f'<text x="{x}" y="11" text-anchor="{anchor}">{escape(named)}</text>'
    return said + (f'<svg height="14" aria-hidden="true">{ends}</svg>' if ends else "")


def _cell(forest: Forest | None, row: int) -> str:
    """Return the drawing of a row: limits, densities, intervals, values."""
    if forest is None:
        return ""
    marks, drawn = forest.marks[row], ""
    uprights = [] if forest.null is None else [(forest.null, "null")]
    for mark in marks[:1]:
        if band := mark.band(forest.null):
            drawn = f'<rect class="band" {_span(forest, *band)} height="100%"/>'
        uprights += [(x, "limit") for x in mark.ends]
    for value, kind in uprights:
        x = _at(forest, value)
        drawn += f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="100%"/>'
    for i, mark in enumerate(marks):
        y = f"{100 * (i + 1) / (len(marks) + 1):g}%"
        kind = f"s{i}" if forest.series else mark.kind
        drawn += f'<g class="{kind}">{_mark(forest, mark, y, i if forest.series else 0)}</g>'
    return f'<svg aria-hidden="true">{drawn}</svg>'


def _mark(forest: Forest, mark: Mark, y: str, shape: int) -> str:
    """Draw a density, the intervals, and the value (a diamond for totals)."""
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
    """Draw a density on the line of a row."""
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


def _axis(forest: Forest) -> str:
    """Return the axis below the rows: ticks with numbers, and labels of both sides."""
    drawn = '<line x1="0" x2="100%" y1="0" y2="0"/>'
    for tick in forest.ticks:
        x = _at(forest, tick)
        drawn += f'<line x1="{x}" x2="{x}" y1="0" y2="4"/>'
        drawn += f'<text x="{x}" y="16" text-anchor="middle">{written(tick)}</text>'
    if forest.sides is None:
        return f'<svg height="22">{drawn}</svg>'
    left, right = map(html, forest.sides)
    # Long names are placed one below the other.
    low = 31 if len(left + right) <= _SIDES else 44
    drawn += f'<text x="0" y="31">◂ {left}</text>'
    drawn += f'<text x="100%" y="{low}" text-anchor="end">{right} ▸</text>'
    return f'<svg height="{low + 6}">{drawn}</svg>'


def _place(forest: Forest, value: float) -> float:
    """Return the place of a value on the axis, in percent."""
    low, high = forest.axis
    return 100 * (value - low) / (high - low)


def _at(forest: Forest, value: float) -> str:
    return f"{_place(forest, value):.2f}%"


def _span(forest: Forest, low: float, high: float) -> str:
    """Return the attributes of a rectangle between two values."""
    a, b = _place(forest, low), _place(forest, high)
    return f'x="{a:.2f}%" width="{b - a:.2f}%"'
