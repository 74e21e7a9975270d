"""Widths of texts and tables on a terminal or a page, and how tables are made narrower."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from itertools import islice, takewhile
from typing import NamedTuple, TextIO
from unicodedata import combining, east_asian_width

#: Terminals are assumed to be at least this wide.
_NARROWEST = 40
#: Where a line may end: after blanks, but not within ``p < 0.0001``; and after the bars of
#: signatures.
_BREAK = re.compile(r"(?<=\s)(?<![<>=≤≥±] )(?![<>=≤≥±] )(?=\S)|(?<=[^\s|]\|)(?=[^\s|])")
#: Where a line of a header may end: after blanks; and, in names, also after these signs.
_BETWEEN_WORDS, _IN_NAMES = re.compile(r"(?<= )"), re.compile(r"(?<=[ /_-])(?=[^ ])")
#: Sequences that make type bold or dim, and have no width.
_STYLE = re.compile(r"\x1b\[\dm")
#: Names are not cut below the first width; in a table that continues below itself, the second.
_SHORTEST, _READABLE = 8, 16


def of(text: str) -> int:
    """Return the number of terminal cells of a text: two for wide CJK, none for combining marks."""
    text = _STYLE.sub("", text) if "\x1b" in text else text
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def of_terminal(stream: TextIO | None = None) -> int | None:
    """Return the columns of the terminal that a stream is, standard output by default, or None."""
    stream = stream or sys.stdout
    is_terminal = stream is not None and stream.isatty()
    return shutil.get_terminal_size().columns if is_terminal else None


def is_styled(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal whose user does not refuse bold type (NO_COLOR)."""
    refuses = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream is not None and stream.isatty() and not refuses


def wrapped(text: str, width: int | None) -> list[str]:
    """Return the lines of a text, broken after blanks and the bars of signatures.

    >>> wrapped("BLEU|case:mixed|eff:no|tok:13a|smooth:exp|nrefs:1", 40)
    ['BLEU|case:mixed|eff:no|tok:13a|', 'smooth:exp|nrefs:1']
    """
    if width is None or of(text) <= width:
        return [text]
    lines, width = [""], max(width, _NARROWEST)
    for piece in _BREAK.split(text):
        if of(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        for c in piece:
            if of(lines[-1] + c) > width and not c.isspace():
                lines.append("")
            lines[-1] += c
    return [line.rstrip() for line in lines]


class Column(NamedTuple):
    """A column of a table: its place, the lines of its header, its cells and their side.

    `gap` is the blank space before it, and `close` the space before an interval in a narrow table;
    `measure` returns the width of a text.
    """

    place: int
    head: Sequence[str]
    cells: Sequence[str]
    side: str
    gap: float = 2
    close: float = 1
    measure: Callable[[str], float] = of

    @property
    def width(self) -> float:
        """The width of the widest line."""
        return max(map(self.measure, (*self.head, *self.cells)))

    def tight(self, between: re.Pattern[str] = _BETWEEN_WORDS) -> Column:
        """Return the column with a header on several lines, and an interval close to its number."""
        whole = " ".join(self.head)
        pieces = between.split(whole)
        width, head = max(map(self.measure, (*map(str.rstrip, pieces), *self.cells))), [""]
        for piece in pieces:
            if head[-1] and self.measure((head[-1] + piece).rstrip()) > width:
                head.append("")
            head[-1] += piece
        gap = self.close if whole.startswith("[") else self.gap
        return self._replace(head=list(map(str.rstrip, head)), gap=gap)


def cut(texts: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return texts cut in the middle to a number of cells; different texts stay different.

    >>> cut(["general-a.en-cs", "general-b.en-cs"], [11, 11])
    ['general-a…s', 'general-b…s']
    """
    width, n_distinct = min(widths, default=1), len(set(texts))
    first: list[str] = []
    for n_last in sorted(range(width), key=lambda n: abs(n - width // 3)):
        pairs = zip(texts, widths, strict=True)
        shortened = [_ends(text, w - 1 - n_last, n_last) for text, w in pairs]
        if len(set(shortened)) == n_distinct:
            return shortened
        first = first or shortened
    # The texts differ in the middle, so a beginning that they share is cut.
    long = {text for text, w in zip(texts, widths, strict=True) if of(text) > w}
    alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*long, strict=False))
    n_shared = sum(1 for _ in alike)
    if len(long) == 1 or n_shared < 2:
        return first
    return cut([f"…{text[n_shared:]}" if text in long else text for text in texts], widths)


def _ends(text: str, n_first: int, n_last: int) -> str:
    """Return the first and last cells of a text that is wider than both and a dot."""
    if of(text) <= n_first + 1 + n_last:
        return text
    # A sign has one cell, or more.
    first, last = text[:n_first], text[max(len(text) - n_last, 0) :]
    while of(first) > n_first:
        first = first[:-1]
    while of(last) > n_last:
        last = last[1:]
    return f"{first}…{last}"


def fitted(
    columns: Sequence[Column],
    spare: Sequence[int],
    width: float,
    cuts: bool = True,
    last: Sequence[int] = (),
) -> tuple[list[list[Column]], list[int]]:
    """Return columns for lines of this width, and the places of columns that were left out.

    First, headers use several lines. Then columns are left out, the first of `spare` first. Then
    headers break within names, and columns of `last` are left out. Then the widest names are cut,
    and headers. At last the table continues below itself.
    """
    limit, left_out = max(width, _NARROWEST), list[int]()
    for gone in (*(spare[:n] for n in range(len(spare) + 1)), *[(*spare, *last)] * bool(last)):
        left_out = list(gone)
        kept = [column for j, column in enumerate(columns) if j not in left_out]
        tight = [column.tight() for column in kept]
        tightest = [column.tight(_IN_NAMES) for column in tight]
        for candidate in (kept, tight, *[tightest] * (len(gone) >= len(spare))):
            if total(candidate) <= limit:
                return [candidate], left_out
    cut_columns = tightest
    for shortest in (_SHORTEST, _READABLE) if cuts else ():
        cut_columns = _narrowed(tightest, int(limit), shortest)
        if total(cut_columns) <= limit:
            return [cut_columns], left_out
    # The first columns identify the row, so every part has them.
    names = cut_columns[: _n_names(cut_columns)] or cut_columns[:1]
    others = cut_columns[len(names) :]
    beside = max((column.width + column.gap for column in others), default=0)
    if cuts and total(names) + beside > limit:
        names = _narrowed(names, int(limit - beside), _SHORTEST)
    blocks = [list(names)]
    for column in others:
        if total([*blocks[-1], column]) > limit and len(blocks[-1]) > len(names):
            blocks.append(list(names))
        blocks[-1].append(column)
    return blocks, left_out


def side_by_side(columns: Sequence[Column]) -> list[str]:
    """Return the lines of columns side by side; headers come first, and end on the same line."""
    n_heads, made = max(len(column.head) for column in columns), []
    for i, column in enumerate(columns):
        texts = [""] * (n_heads - len(column.head)) + [*column.head, *column.cells]
        width, gap = max(map(of, texts)), " " * int(column.gap) if i else ""
        pads = [" " * (width - of(text)) for text in texts]
        both = zip(texts, pads, strict=True)
        made.append([gap + (t + pad if column.side == "<" else pad + t) for t, pad in both])
    return ["".join(line).rstrip() for line in zip(*made, strict=True)]


def total(columns: Sequence[Column]) -> float:
    """Return the width of columns side by side."""
    return sum(column.width + column.gap for column in columns) - columns[0].gap


def _n_names(columns: Sequence[Column]) -> int:
    """Return the number of columns that identify a row: its place, if it has one, and names."""
    n_places = int(len(columns) > 1 and columns[0].side == ">" and columns[1].side == "<")
    return n_places + sum(1 for _ in takewhile(lambda c: c.side == "<", columns[n_places:]))


def _narrowed(columns: Sequence[Column], limit: int, shortest: int) -> list[Column]:
    """Return columns whose widest are cut, one cell at a time, until there is enough room."""
    widths = [int(column.width) for column in columns]
    # Only the first columns, which have names, are cut; numbers and verdicts are not.
    n_names = _n_names(columns)
    are_names = [j < n_names and column.side == "<" for j, column in enumerate(columns)]
    # Names stay long enough to be read; in other columns only headers are cut.
    wholes = [[] if is_name else c.cells for is_name, c in zip(are_names, columns, strict=True)]
    least = [
        min(width, max(shortest, *map(of, cells))) if cells else min(width, shortest)
        for width, cells in zip(widths, wholes, strict=True)
    ]
    wanted = sum(widths) - (total(columns) - limit)
    while sum(widths) > wanted and widths != least:
        at = max(range(len(widths)), key=lambda j: (widths[j] > least[j], widths[j]))
        widths[at] -= 1
    # Headers are cut together, since some are names of systems.
    lines = [(line, w) for column, w in zip(columns, widths, strict=True) for line in column.head]
    heads = iter(cut([line for line, _ in lines], [w for _, w in lines]))
    made = []
    for is_name, column, w in zip(are_names, columns, widths, strict=True):
        cells = cut(column.cells, [w] * len(column.cells)) if is_name else column.cells
        made.append(column._replace(head=list(islice(heads, len(column.head))), cells=cells))
    return made
