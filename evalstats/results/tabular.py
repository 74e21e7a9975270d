"""Tables and numbers as text. Knows nothing of statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalstats.checks import is_unseen
from evalstats.results import widths

if TYPE_CHECKING:
    from evalstats.pictures.marks import Forest


@dataclass(frozen=True)
class Table:
    """A titled table of strings; columns align ``<`` or ``>``, the last rows are totals.

    `notes` say what is in the table, and `hints` where there is more: what is no matter of a paper.
    `spare` are the places of columns that one can do without where there is no room for all: the
    first of them goes first.
    `draw` returns what HTML and figures draw in the rows; text and LaTeX never call it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    notes: tuple[str, ...] = ()
    n_totals: int = 0
    hints: tuple[str, ...] = ()
    spare: tuple[int, ...] = ()
    draw: Callable[[], Forest] | None = None

    @cached_property
    def forest(self) -> Forest | None:
        """What is drawn in the rows, if anything."""
        return self.draw and self.draw()

    def lines(self, width: int | None = None) -> tuple[list[str], list[str]]:
        """Return aligned columns for a terminal, and what those are called that had no room."""
        columns = self.columns([list(map(printable, row)) for row in self.rows])
        blocks, left_out = [columns], list[int]()
        if width is not None:
            blocks, left_out = widths.fitted(columns, self.spare, width)
        lines = widths.wrapped(printable(self.title), width)
        for block in blocks:
            body = widths.side_by_side(block)
            n_heads, rule = len(body) - len(self.rows), "-" * max(map(widths.of, body))
            if 0 < self.n_totals < len(self.rows):
                body.insert(-self.n_totals, rule)
            lines += [rule, *body[:n_heads], rule, *body[n_heads:]]
        for note in (*self.notes, *self.hints):
            lines += widths.wrapped(printable(note), width)
        return lines, list(map(self.called, left_out))

    def columns(self, rows: Sequence[Sequence[str]]) -> list[widths.Column]:
        """Return the columns with the cells of such rows."""
        return [
            widths.Column(j, [printable(head)], [row[j] for row in rows], side)
            for j, (head, side) in enumerate(zip(self.header, self.align, strict=True))
        ]

    def called(self, place: int) -> str:
        """Return the header of a column; before that of an interval what it is of."""
        header = self.header[place]
        return f"{self.header[place - 1]} {header}" if header.startswith("[") else header


#: Header, side and what a record says there, or the cells of all.
Column = tuple[str, str, Callable[[Any], Any] | Sequence[str]]


def table_of(
    title: str,
    records: Iterable[Any],
    columns: Sequence[Column],
    notes: tuple[str, ...] = (),
    n_totals: int = 0,
    hints: tuple[str, ...] = (),
    spare: Sequence[str] = (),
    draw: Callable[[], Forest] | None = None,
) -> Table:
    """Return a table with a row a record.

    `spare` are headers of columns that narrow terminals leave out, the first of them first; of two
    columns with one header it is the left one.
    """
    records = list(records)
    cells = [list(map(cell, records)) if callable(cell) else cell for _, _, cell in columns]
    header = tuple(heading for heading, _, _ in columns)
    align = "".join(side for _, side, _ in columns)
    places = tuple(header.index(heading) for heading in spare if heading in header)
    rows = tuple(zip(*cells, strict=True))
    return Table(title, header, rows, align, notes, n_totals, hints=hints, spare=places, draw=draw)


@dataclass(frozen=True)
class Page:
    """Tables with sentences above them, notes below them, and signatures below these.

    Lines of the sentences above have `opening` cells where no terminal says how many.
    """

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    signatures: Sequence[str] = ()
    above: Sequence[str] = ()
    opening: int | None = None

    def text(self, width: int | None = None) -> str:
        """Return what a terminal shows, in lines of so many cells at most."""
        parts, left_out = [], dict[str, None]()
        for table in self.tables:
            lines, names = table.lines(width)
            parts.append("\n".join(lines))
            left_out |= dict.fromkeys(names)
        # "std. dev." ends a sentence by itself.
        what = f"Left out to fit {width} columns: {', '.join(left_out).removesuffix('.')}. "
        hints = [f"{what}A wider terminal, or a file, shows all."] if left_out else []
        below = (*self.notes, *hints, *self.signatures)
        above, rest = (
            "\n".join(line for text in texts for line in widths.wrapped(printable(text), at))
            for texts, at in ((self.above, width or self.opening), (below, width))
        )
        return "\n\n".join([above, *parts, rest]).strip("\n")

    def fragment(self) -> str:
        """Return HTML to be put into a page: no script, nothing loaded."""
        from evalstats.pictures import markup

        return markup.fragment(self)


def record_table(title: str, record: Mapping[str, object]) -> Table:
    """Lay out named values, a row each; floats with six significant digits."""
    shown = {k: f"{v:.6g}" if isinstance(v, float) else str(v) for k, v in record.items()}
    return Table(title, ("field", "value"), tuple(shown.items()), "<<")


def direction(higher_is_better: bool) -> str:
    """Return the arrow that says which way is better."""
    return "↑" if higher_is_better else "↓"


def which_is_better(higher_is_better: bool) -> str:
    """Return ``↑ (higher is better)``."""
    return "↑ (higher is better)" if higher_is_better else "↓ (lower is better)"


#: In the place of a number of decimals: four digits, with a power of ten where there is no room.
POWERS = -1
#: Decimals of the smallest error that no table has room for. (Rounding leaves errors of 1e-17.)
_LEAST_PLACES, _MOST_PLACES = -14, 30
#: Up to it a limit of an interval may be 0 but for rounding.
_NOISE = 1e-12
#: An error so many times smaller than the largest does not decide how many decimals there are.
_FAR_BELOW = 20


def decimals(errors: Iterable[float | None], digits: int | None = None) -> int:
    """Return `digits`, or the decimals, 2 to 6, that give the smallest error above 0 two digits.

    Errors far below the largest, of a perfect or a useless system, ask for none. Errors that no
    table has room for, of sequence probabilities for example, ask for powers of ten.
    """
    positive = [error for error in errors if error is not None and error > 0]
    if digits is not None or not positive:
        return 2 if digits is None else digits
    least = min(error for error in positive if error * _FAR_BELOW >= max(positive))
    places = 1 - math.floor(math.log10(least))
    return min(max(places, 2), 6) if _LEAST_PLACES < places < _MOST_PLACES else POWERS


def number(value: float, decimals: int, sign: bool = False) -> str:
    """Return a number with that many decimals, or as `POWERS`, never as a negative zero."""
    if decimals == POWERS:
        return f"{value + 0.0:{'+' if sign and value else ''}.4g}"
    rounded = round(value, decimals) + 0.0
    return f"{rounded:+.{decimals}f}" if sign and rounded != 0 else f"{rounded:.{decimals}f}"


def interval(low: float, high: float, decimals: int, sign: bool = False) -> str:
    """Return ``[low, high]``; with signs, a limit that is not 0 shows on which side of it it is.

    >>> interval(0.0001, 0.1693, 3, sign=True), interval(0.0, 0.1693, 3, sign=True)
    ('[+0.000, +0.169]', '[0.000, +0.169]')
    """
    shown = [number(limit, decimals, sign) for limit in (low, high)]
    for i, limit in enumerate((low, high)):
        if sign and abs(limit) > _NOISE and shown[i][:1].isdigit():
            shown[i] = f"{'+' if limit > 0 else '-'}{shown[i]}"
    return f"[{shown[0]}, {shown[1]}]"


def level(confidence_level: float) -> str:
    """Return ``95 % interval``."""
    return f"{100 * confidence_level:.10g} % interval"


def pvalue(p: float) -> str:
    """Return a p-value with four decimals, and never as zero."""
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"


def p_is(p: float) -> str:
    """Return "p = 0.0123", or "p <0.0001"."""
    shown = pvalue(p)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def printable(text: str) -> str:
    """Return text on one line, in which what does not show is written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if is_unseen(c) else c for c in text)
