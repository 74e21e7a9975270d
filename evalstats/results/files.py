"""Results for other programs: Markdown, LaTeX and JSON, and files written whole."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR
from functools import partial
from pathlib import Path
from typing import BinaryIO

from evalstats.checks import is_unseen, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.results import widths
from evalstats.results.tabular import Page, Table, printable

#: Points of a column of A4's two, and of its whole page; how type is set, its size, blanks between.
_COLUMN, _PAGE = 221, 345
_SIZES = (
    ("", 1.0, 12),
    (r"{\small\setlength{\tabcolsep}{3pt}", 0.93, 6),
    (r"{\footnotesize\setlength{\tabcolsep}{2pt}", 0.86, 4),
)
_LABEL = re.compile(r"[\w:./+-]+", re.ASCII)


def as_markdown(page: Page) -> str:
    """Return pipe tables, with the lines below as a list."""
    parts, sides = [], {"<": ":--", ">": "--:"}
    for table in page.tables:
        cells = [
            list(map(markdown, table.header)),
            *table.cells([markdown] * len(table.header)),
        ]
        for row in cells[len(cells) - table.n_totals :]:
            row[:] = [f"**{cell}**" if cell.strip() else cell for cell in row]
        head, *rows = ["| " + " | ".join(row) + " |" for row in cells]
        rule = "|" + "|".join(sides[side] for side in table.align) + "|"
        notes = list(map(markdown_line, (*table.notes, *table.hints)))
        lines = [f"**{markdown(table.title.strip())}**", "", head, rule, *rows]
        parts.append("\n".join(lines + (["", *notes] if notes else [])))
    below = list(map(markdown_line, page.notes))
    for line in map(printable, page.signatures):
        # A code span stands between more backticks than there are anywhere in it.
        fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
        # One blank on either side is taken off again.
        pad = " " if len(fence) > 1 or line.startswith(" ") else ""
        below.append(f"{fence}{pad}{line}{pad}{fence}")
    listed = "\n".join(f"- {line}" for line in below)
    above = list(map(markdown_line, page.above))
    return "\n\n".join([*above, *parts, listed]).rstrip() + "\n"


def as_latex(page: Page, caption: str | None = None, label: str | None = None) -> str:
    """Return LaTeX that needs booktabs, with notes and signatures as comments.

    A note that explains a mark of the table stands below it.
    """
    if label is not None and (caption is None or not _LABEL.fullmatch(label)):
        raise InputError(
            f"must be letters, digits and :.-_/+ and needs a caption, got {label!r}",
            argument="label",
        )
    marks = [note for note in page.notes if note.startswith("†")]
    tabulars = [_tabular(table, caption is not None) for table in page.tables]
    body = [*(shown for shown, _ in tabulars), "\n".join(map(_below, marks))]
    if caption is not None:
        kind = "table*" if any(is_wide for _, is_wide in tabulars) else "table"
        named = rf"\caption{{{latex(caption)}}}" + (rf"\label{{{label}}}" if label else "")
        body = [f"\\begin{{{kind}}}\n\\centering", *body, f"{named}\n\\end{{{kind}}}"]
    plain = [note for note in page.notes if note not in marks]
    comments = "\n".join(f"% {printable(line)}" for line in (*plain, *page.signatures))
    above = "\n".join(f"% {printable(line)}" for line in page.above)
    parts = [r"% \usepackage{booktabs}", above, *body, comments]
    return "\n\n".join(filter(None, parts)).rstrip() + "\n"


def _tabular(table: Table, is_float: bool) -> tuple[str, bool]:
    """Return booktabs tabulars below a title, and whether they are wider than a column of two.

    A table that has no room there is set smaller, then lacks columns; then a float is as wide as
    the page, and what stands in the text goes on below itself.
    """
    rows = table.cells([latex if side == "<" else latex_number for side in table.align])
    begin, blocks, left_out = _fitted(table, _COLUMN)
    is_wide = is_float and len(blocks) > 1
    if is_wide:
        begin, blocks, left_out = _fitted(table, _PAGE)
    parts = [rf"\par\medskip\noindent {latex_words(table.title)}"]
    for block in blocks:
        n_heads = max(len(column.head) for column in block)
        above = [[""] * (n_heads - len(column.head)) + list(column.head) for column in block]
        heads = zip(*(map(latex_words, lines) for lines in above), strict=True)
        cells = [[row[column.place] for column in block] for row in rows]
        lines = [" & ".join(row) + r" \\" for row in [*heads, *cells]]
        sides = "".join("l" if column.side == "<" else "r" for column in block)
        shown = table.set_off(lines[n_heads:], [r"\midrule"])
        parts += [
            rf"\par\medskip\noindent{begin}\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
            *(r"\toprule", *lines[:n_heads], r"\midrule", *shown, r"\bottomrule"),
            rf"\end{{tabular}}{'}' if begin else ''}",
        ]
    if left_out:
        parts.append(f"% No room for: {', '.join(map(table.called, left_out))}.")
    parts += map(_below, table.notes)
    return "\n".join([*parts, *(f"% {printable(hint)}" for hint in table.hints)]), is_wide


def _fitted(table: Table, room: float) -> tuple[str, list[list[widths.Column]], list[int]]:
    """Return how type is set for a table to fit a room, its blocks, and the columns left out."""
    for size in _SIZES:
        begin, share, gap = size
        measure = partial(widths.in_points, share=share)
        columns = [
            column._replace(gap=gap, close=gap, measure=measure)
            for column in table.columns(table.rows)
        ]
        blocks, left_out = widths.fitted(columns, table.spare, room, cuts=False)
        if len(blocks) == 1 and not left_out:
            break
    return begin, blocks, left_out


def _below(note: str) -> str:
    """Return a note as a line of LaTeX below a table."""
    return rf"\par{{\footnotesize {latex_words(note)}}}"


_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # After ? and ! this would be another sign, and babel makes commands of quotation marks.
    "`": "{`}",
    '"': r'\string"',
    # A row that began with one of these would be read as an argument of the row before.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "−": "$-$",
    "≤": r"$\le$",
    "·": r"$\cdot$",
    "Δ": r"$\Delta$",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "°": r"\textdegree{}",
}
#: A minus sign before a number, and one between two words.
_MINUS, _LESS = re.compile(r"(?<![\w.)])-(?=\.?\d)"), re.compile(r"(?<= )-(?= )")
#: All but printable ASCII and the ends of lines.
_RARE = re.compile(r"[^\n -~]")
#: Signs of Markdown's lines, of GitHub's tables, links, formulas and mentions; those of its blocks.
_MARKDOWN = re.compile(r"[\\|*_`~<>\[\]&$#@]|:(?=//)|(?<=www)\.")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")


def latex(text: str) -> str:
    """Return text in which every character that is special in LaTeX is escaped."""
    escaped = "".join(_LATEX_SPECIAL.get(c, c) for c in printable(text))
    # Neighbours would become a dash, or quotation marks.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


def minus(text: str) -> str:
    """Return text in which numbers below 0 have a minus sign, which screens read out."""
    return _MINUS.sub("−", text)


def words(text: str) -> str:
    """Return a heading with the signs that stand between words as mathematics."""
    return _LESS.sub("−", minus(text)).replace(" <= ", " ≤ ")


def latex_number(text: str) -> str:
    """Return a cell of numbers as LaTeX, with minus signs, and a dash for none."""
    return "--" if text == "-" else latex(minus(text))


def latex_words(text: str) -> str:
    """Return a heading as LaTeX, with the signs that stand between words as mathematics."""
    return latex(_LESS.sub("−", text).replace(" <= ", " ≤ "))


def markdown(text: str) -> str:
    """Return text for a cell, in which what may mean something in Markdown is escaped."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text))


def markdown_line(text: str) -> str:
    """Return text for a line of its own, which is no list, heading or code in it either."""
    return _BLOCK.sub(r"\1\\\2", markdown(text.strip()))


def json_text(text: str) -> str:
    """Return JSON in which all that does not show is escaped, not its first 32 signs only."""
    return _RARE.sub(lambda match: json.dumps(c)[1:-1] if is_unseen(c := match[0]) else c, text)


#: Forms of results by the suffix of their files.
SUFFIXES = {
    **{".txt": "text", ".json": "json", ".md": "markdown", ".tex": "latex"},
    **{".html": "html", ".csv": "csv", ".xml": "junit"},
    **{".png": "png", ".pdf": "pdf", ".svg": "svg"},
}


@contextmanager
def replacing(path: str | os.PathLike[str], form: str = "") -> Iterator[BinaryIO]:
    """Yield a file that takes the place of what is there when all of it is written.

    It is opened at once, so that a path that cannot be written is an `InputError` before the work.
    A pipe or a device stays what it is, and a link where it points. The suffix must not be that of
    another form than is written.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path, got {type(path).__name__}")
    known = SUFFIXES.get(Path(path).suffix.lower(), form)
    if form and known != form:
        raise InputError(
            f"path must end in .{form}, got {shown(os.fspath(path))}, a file of {known}"
        )
    try:
        # A NUL in a path is a ValueError.
        target = Path(os.path.realpath(path))
        is_stream = target.exists() and not (target.is_file() or target.is_dir())
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        # Written beside its place and moved there: Ctrl-C leaves the old file or the new one.
        beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        file = target.open("wb") if is_stream else beside.open("xb")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    try:
        with file:
            yield file
            if not is_stream:
                file.flush()
                os.fsync(file.fileno())
        if not is_stream:
            beside.replace(target)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def _unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"cannot write {shown(os.fspath(path))}: {reason}")
