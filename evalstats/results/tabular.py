"""Tables and numbers as text, without any statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalstats.checks import is_unseen
from evalstats.results import widths

if TYPE_CHECKING:
    from evalstats.pictures.marks import Forest


@dataclass(frozen=True)
class Table:
    """A titled table of strings; columns align ``<`` or ``>``, the last rows are totals.

    `notes` explain the table, and `hints` name other ways to see more, which papers do not need. A
    note that begins with the name of a column, ``better than: ...``, is left out with the column.
    `spare` are the places of columns that are left out if there is not enough room, the first of
    them first. `last` are the places of columns that are left out on a terminal, or a phone, before
    names are cut. `details` are the places of columns that only verbose tables have; a whole table
    can be a detail too (`is_detail`).
    `draw` returns the drawing in the rows for HTML and figures; text and LaTeX never call it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    notes: tuple[str, ...] = ()
    n_totals: int = 0
    hints: tuple[str, ...] = ()
    spare: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    draw: Callable[[], Forest] | None = None
    details: tuple[int, ...] = ()
    is_detail: bool = False

    @cached_property
    def forest(self) -> Forest | None:
        """The drawing in the rows, or `None`."""
        return self.draw and self.draw()

    def brief(self) -> Table:
        """Return the table without details, and without spare columns of a single value.

        A note has the value that all rows share.
        """
        n = len(self.rows)
        single = [j for j in self.spare if n > 1 and len({row[j] for row in self.rows}) == 1]
        gone = {*self.details, *single}
        counts = [j for j in single if self.align[j] == ">" and j not in self.details]
        said = (f"{self.header[j]}: {self.rows[0][j]} in each row" for j in counts)
        kept = [j for j in range(len(self.header)) if j not in gone]

        def draw() -> Forest:
            assert self.forest is not None
            return replace(self.forest, at=sum(j < self.forest.at for j in kept))

        return replace(
            self,
            header=tuple(self.header[j] for j in kept),
            rows=tuple(tuple(row[j] for j in kept) for row in self.rows),
            align="".join(self.align[j] for j in kept),
            notes=(*self.notes_without(gone), *said),
            spare=tuple(kept.index(j) for j in self.spare if j in kept),
            last=tuple(kept.index(j) for j in self.last if j in kept),
            draw=self.draw and draw,
            details=(),
        )

    def notes_without(self, gone: Iterable[int]) -> tuple[str, ...]:
        """Return the notes, except notes on columns at these places."""
        names = tuple(f"{self.header[j]}:" for j in gone)
        return tuple(note for note in self.notes if not note.startswith(names))

    def lines(self, width: int | None = None) -> tuple[list[str], list[str]]:
        """Return aligned columns for a terminal, and the names of columns that were left out."""
        columns = self.columns([list(map(printable, row)) for row in self.rows])
        blocks, left_out = [columns], list[int]()
        if width is not None:
            first = (*self.details, *(j for j in self.spare if j not in self.details))
            blocks, left_out = widths.fitted(columns, first, width, last=self.last)
        lines = widths.wrapped(printable(self.title), width)
        for block in blocks:
            body = widths.side_by_side(block)
            n_heads, rule = len(body) - len(self.rows), "-" * max(map(widths.of, body))
            if 0 < self.n_totals < len(self.rows):
                body.insert(-self.n_totals, rule)
            lines += [rule, *body[:n_heads], rule, *body[n_heads:]]
        for note in (*self.notes_without(left_out), *self.hints):
            lines += widths.wrapped(printable(note), width)
        return lines, list(map(self.called, left_out))

    def columns(self, rows: Sequence[Sequence[str]]) -> list[widths.Column]:
        """Return the columns with the cells of these rows."""
        return [
            widths.Column(j, [printable(head)], [row[j] for row in rows], side)
            for j, (head, side) in enumerate(zip(self.header, self.align, strict=True))
        ]

    def called(self, place: int) -> str:
        """Return the header of a column; for an interval, after the name of its score."""
        header = self.header[place]
        return f"{self.header[place - 1]} {header}" if header.startswith("[") else header


#: Header, side, and a function from a record to its cell, or all cells.
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
    details: Sequence[str] = (),
    last: Sequence[int] = (),
) -> Table:
    """Return a table with one row per record.

    `spare` are headers of columns that narrow terminals leave out, the first of them first, and
    `details` are headers of columns that only verbose tables have. If two columns have the same
    header, it means the left one. `last` are places of columns that are left out before names are
    cut.
    """
    records = list(records)
    cells = [list(map(cell, records)) if callable(cell) else cell for _, _, cell in columns]
    header = tuple(heading for heading, _, _ in columns)
    align = "".join(side for _, side, _ in columns)
    few, more = (tuple(header.index(x) for x in names if x in header) for names in (spare, details))
    rows = tuple(zip(*cells, strict=True))
    return Table(title, header, rows, align, notes, n_totals, hints, few, tuple(last), draw, more)


#: The sequences for bold and dim type on a terminal.
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class Page:
    """Tables with sentences above them, notes below them, and signatures below these.

    Each sentence above has two parts: the verdict, or a caution, and then details. If there is
    little room, `short` is printed instead of the signatures.
    """

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    signatures: Sequence[str] = ()
    above: Sequence[tuple[str, str]] = ()
    short: str = ""

    def text(
        self,
        width: int | None = None,
        is_short: bool = False,
        is_styled: bool = False,
        of_sentences: int | None = None,
    ) -> str:
        """Return the text for a terminal, in lines of at most `width` cells.

        If it `is_short`, one line replaces the signatures. If it `is_styled`, verdicts are bold,
        and notes dim. Without a width, sentences have lines of `of_sentences` cells.
        """
        parts, left_out = [], dict[str, None]()
        for table in self.tables:
            lines, names = table.lines(width)
            parts.append("\n".join(lines))
            left_out |= dict.fromkeys(names)
        hints = [_hidden([f"'{name}'" for name in left_out])] if left_out else []
        signatures = self.signatures
        if is_short and signatures:
            more = "to_text(verbose=True) for the signature"
            signatures = [f"{self.short} · {more}" if self.short else more]
        below = [_lines(text, width or of_sentences) for text in (*self.notes, *hints)]
        below += [_lines(text, width) for text in signatures]
        sentences = []
        for verdict, more in self.above:
            said = _lines(f"{verdict} {more}".strip(), width or of_sentences)
            n = len(printable(verdict))
            sentences.append(f"{_BOLD}{said[:n]}{_PLAIN}{said[n:]}" if is_styled and n else said)
        above = "\n".join(sentences)
        rest = "\n".join(below)
        rest = f"{_DIM}{rest}{_PLAIN}" if is_styled and rest else rest
        return "\n\n".join([above, *parts, rest]).strip("\n")

    def fragment(self) -> str:
        """Return HTML for a part of a page, which has no script and loads nothing."""
        from evalstats.pictures import markup

        return markup.fragment(self)


def _hidden(names: Sequence[str]) -> str:
    """Return a sentence on columns that were left out, and how to see them."""
    *more, last = names
    what = f"The columns {', '.join(more)} and {last} are" if more else f"The column {last} is"
    return f"{what} hidden because the table is too wide. Use a wider terminal or write to a file."


def _lines(text: str, width: int | None) -> str:
    """Return a text in lines of a width."""
    return "\n".join(widths.wrapped(printable(text), width))


def record_table(title: str, record: Mapping[str, object]) -> Table:
    """Lay out named values, one per row; floats have six significant digits."""
    shown = {k: f"{v:.6g}" if isinstance(v, float) else str(v) for k, v in record.items()}
    return Table(title, ("field", "value"), tuple(shown.items()), "<<")


def direction(higher_is_better: bool) -> str:
    """Return the arrow in the direction of better scores."""
    return "↑" if higher_is_better else "↓"


def which_is_better(higher_is_better: bool) -> str:
    """Return ``↑ (higher is better)``."""
    return "↑ (higher is better)" if higher_is_better else "↓ (lower is better)"


#: Used instead of a number of decimals: four digits, with a power of ten if necessary.
POWERS = -1
#: Errors with so many decimals do not fit into tables. (Rounding leaves errors of 1e-17.)
_LEAST_PLACES, _MOST_PLACES = -14, 30
#: Up to this value a limit of an interval may be 0 except for rounding.
_NOISE = 1e-12
#: An error that is so many times smaller than the largest does not determine the decimals.
_FAR_BELOW = 20


def decimals(errors: Iterable[float | None], digits: int | None = None) -> int:
    """Return `digits`, or the decimals, 2 to 6, that give the smallest error above 0 two digits.

    Errors far below the largest, for example of a perfect or a useless system, are ignored. If
    errors do not fit into tables, for example of sequence probabilities, powers of ten are used.
    """
    positive = [error for error in errors if error is not None and error > 0]
    if digits is not None or not positive:
        return 2 if digits is None else digits
    least = min(error for error in positive if error * _FAR_BELOW >= max(positive))
    places = 1 - math.floor(math.log10(least))
    return min(max(places, 2), 6) if _LEAST_PLACES < places < _MOST_PLACES else POWERS


def number(value: float, decimals: int, sign: bool = False) -> str:
    """Return a number with that many decimals, or as `POWERS`, but not as a negative zero."""
    if decimals == POWERS:
        return f"{value + 0.0:{'+' if sign and value else ''}.4g}"
    rounded = round(value, decimals) + 0.0
    return f"{rounded:+.{decimals}f}" if sign and rounded != 0 else f"{rounded:.{decimals}f}"


def interval(low: float, high: float, decimals: int, sign: bool = False) -> str:
    """Return ``[low, high]``; with signs, a limit that is rounded to 0 keeps its sign.

    >>> interval(0.0001, 0.1693, 3, sign=True), interval(0.0, 0.1693, 3, sign=True)
    ('[+0.000, +0.169]', '[0.000, +0.169]')
    """
    shown = [number(limit, decimals, sign) for limit in (low, high)]
    for i, limit in enumerate((low, high)):
        if sign and abs(limit) > _NOISE and shown[i][:1].isdigit():
            shown[i] = f"{'+' if limit > 0 else '-'}{shown[i]}"
    return f"[{shown[0]}, {shown[1]}]"


def level(confidence_level: float) -> str:
    """Return ``95% interval``."""
    return f"{100 * confidence_level:.10g}% interval"


#: The smallest p-value printed as a number; the relative distance at which it is near a level.
_LEAST_P, _NEAR = 0.0001, 0.1


def pvalue(p: float, level: float = 0.05, digits: int | None = None) -> str:
    """Return a p-value with two significant digits, or `digits`, and never as zero.

    Near the level it has three or more, so that it does not read as the level itself.

    >>> [pvalue(p) for p in (0.5084, 0.0312, 0.0496, 0.04999, 0.00003, 1.0)]
    ['0.51', '0.031', '0.0496', '0.04999', '< 0.0001', '1.0']
    """
    if p < _LEAST_P and digits is None:
        return f"< {_LEAST_P}"
    least = 3 if abs(p - level) < _NEAR * level else 2
    shown = f"{p:#.{max(digits or 0, least)}g}"
    return shown if float(shown) != level or p == level else pvalue(p, level, (digits or least) + 1)


def p_is(p: float, level: float = 0.05) -> str:
    """Return "p = 0.012", or "p < 0.0001"."""
    shown = pvalue(p, level)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def printable(text: str) -> str:
    """Return text on one line, in which invisible characters are escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if is_unseen(c) else c for c in text)
