"""Tables, and how they look as text, Markdown, LaTeX and HTML. Knows nothing of statistics."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from unicodedata import combining, east_asian_width, normalize

from evalstats.checks import is_unseen
from evalstats.errors import InputError

#: Colours are those of the page around it (JupyterLab's variables first), lines a grey that shows
#: on black as on white: a notebook's theme and the browser's need not agree.
_STYLE = """<style>
.evalstats { color: var(--jp-content-font-color1, var(--vscode-foreground, inherit)); overflow-x:
  auto; }
.evalstats table { border-collapse: collapse; margin: 0.5em 0 1em; font-size: 0.9em;
  font-variant-numeric: tabular-nums; color: inherit; background: transparent; }
.evalstats caption { text-align: left; font-weight: bold; font-size: 1em; padding: 0.3em 0;
  color: inherit; }
.evalstats table tr, .evalstats table tbody tr:nth-child(odd) { background: transparent; }
.evalstats table th, .evalstats table td { padding: 0.2em 0.7em; text-align: right;
  white-space: nowrap; border: 0; max-width: none; vertical-align: baseline; }
.evalstats table th { font-weight: 600; border-bottom: 1px solid rgba(127, 127, 127, 0.8); }
.evalstats table td { border-bottom: 1px solid rgba(127, 127, 127, 0.3); }
.evalstats table tr.total td { font-weight: 600; }
.evalstats table :not(.total) + tr.total td { border-top: 2px solid rgba(127, 127, 127, 0.8); }
.evalstats table .text { text-align: left; white-space: normal; overflow-wrap: break-word;
  min-width: 6em; max-width: 24em; unicode-bidi: isolate; }
.evalstats p { margin: 0.3em 0; font-size: 0.9em; }
.evalstats code { font-size: 0.85em; overflow-wrap: anywhere; color: inherit;
  background: transparent; }
</style>"""
#: A number, and the mark or the blank behind it; marks as LaTeX writes them above the line.
_MARKED = r"(?s)(.*?)([*° ]?)"
_LATEX = {"*": "*", "°": r"\circ"}
_LABEL = re.compile(r"[\w:./+-]+", re.ASCII)
#: More notes than these are folded away.
_OPEN_NOTES = 3


@dataclass(frozen=True)
class Table:
    """A titled table of strings; columns align ``<`` or ``>``, the last rows are totals.

    Cells in `bold` are (row, column); a mark at their end, ``*`` or ``°``, is none of the number.
    `notes` say what is in the table, and `hints` where there is more: what is no matter of a paper.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    notes: tuple[str, ...] = ()
    n_totals: int = 0
    bold: frozenset[tuple[int, int]] = frozenset()
    hints: tuple[str, ...] = ()

    def text(self) -> str:
        """Return aligned columns for a terminal."""
        cells = self._cells([printable] * len(self.header), "_{}_", str)
        lines = [list(map(printable, self.header)), *cells]
        widths = [max(_width(line[j]) for line in lines) for j in range(len(self.header))]
        body = []
        for line in lines:
            blanks = [" " * (n - _width(cell)) for cell, n in zip(line, widths, strict=True)]
            sides = zip(line, blanks, self.align, strict=True)
            padded = [cell + b if side == "<" else b + cell for cell, b, side in sides]
            body.append("  ".join(padded).rstrip())
        rule = "-" * max(map(_width, body))
        notes = map(printable, (*self.notes, *self.hints))
        rows = self._set_off(body[1:], [rule])
        return "\n".join([printable(self.title), rule, body[0], rule, *rows, *notes])

    def _cells(
        self, kinds: Sequence[Callable[[str], str]], bold: str, mark: Callable[[str], str]
    ) -> list[list[str]]:
        """Return the cells, written as the kind of their column; bold are numbers without marks."""
        rows = [[kind(cell) for kind, cell in zip(kinds, row, strict=True)] for row in self.rows]
        if self.bold:
            for i, row in enumerate(self.rows):
                for j in range(1, len(row)):
                    number, end = re.fullmatch(_MARKED, row[j]).groups()  # type: ignore[union-attr]
                    shown = kinds[j](number)
                    shown = bold.format(shown) if (i, j) in self.bold else shown
                    rows[i][j] = shown + (mark(end) if end.strip() else end)
        return rows

    def _set_off(self, rows: list[str], rule: list[str]) -> list[str]:
        """Put a rule before the totals, where there are any, and rows before them."""
        n_before = len(rows) - self.n_totals
        return [*rows[:n_before], *(rule if 0 < n_before < len(rows) else []), *rows[n_before:]]

    def markdown(self) -> str:
        """Return a pipe table."""
        sides = {"<": ":--", ">": "--:"}
        rule = "|" + "|".join(sides[side] for side in self.align) + "|"
        rows = self._cells([markdown] * len(self.header), "**{}**", markdown)
        cells = [list(map(markdown, self.header)), *rows]
        for row in cells[len(cells) - self.n_totals :]:
            row[:] = [f"**{cell}**" if cell.strip() else cell for cell in row]
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        notes = list(map(markdown_line, (*self.notes, *self.hints)))
        return "\n".join(
            [f"**{markdown(self.title.strip())}**", "", lines[0], rule, *lines[1:]]
            + (["", *notes] if notes else [])
        )

    def latex(self) -> str:
        """Return a booktabs tabular."""
        columns = self.align.replace("<", "l").replace(">", "r")
        kinds = [latex if side == "<" else latex_numbers for side in self.align]
        # Marks take no room, so that digits stand below each other.
        rows = self._cells(kinds, r"\textbf{{{}}}", lambda end: rf"\rlap{{$^{{{_LATEX[end]}}}$}}")
        cells = [list(map(latex_words, self.header)), *rows]
        lines = [" & ".join(row) + r" \\" for row in cells]
        title = rf"\multicolumn{{{len(self.align)}}}{{l}}{{{latex_words(self.title)}}} \\"
        head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", title, r"\midrule", lines[0]]
        shown = self._set_off(lines[1:], [r"\midrule"])
        hints = [f"% {printable(hint)}" for hint in self.hints]
        foot = [r"\bottomrule", r"\end{tabular}", *map(_below, self.notes), *hints]
        return "\n".join([*head, r"\midrule", *shown, *foot])

    def html(self) -> str:
        """Return a table whose text is escaped and set apart from text of another direction."""
        kinds = [' class="text"' if side == "<" else "" for side in self.align]

        def line(tag: str, row: Sequence[str]) -> str:
            cells = zip(row, kinds, strict=True)
            return "".join(f"<{tag}{kind}>{cell}</{tag.split()[0]}>" for cell, kind in cells)

        rows = self._cells([html] * len(self.header), "<b>{}</b>", html)
        head = line('th scope="col"', list(map(html, self.header)))
        n_before = len(self.rows) - self.n_totals
        return "\n".join(
            [
                f"<table>\n<caption>{html(self.title)}</caption>",
                f"<thead><tr>{head}</tr></thead>\n<tbody>",
                *(f"<tr>{line('td', row)}</tr>" for row in rows[:n_before]),
                *(f'<tr class="total">{line("td", row)}</tr>' for row in rows[n_before:]),
                "</tbody>\n</table>",
                *(f"<p>{html(note)}</p>" for note in self.notes),
            ]
        )


#: Header, side and what a record says there.
Column = tuple[str, str, Callable[[Any], Any]]


def table_of(
    title: str,
    records: Iterable[Any],
    columns: Sequence[Column],
    notes: tuple[str, ...] = (),
    n_totals: int = 0,
    hints: tuple[str, ...] = (),
) -> Table:
    """Return a table with a row a record."""
    rows = tuple(tuple(cell(record) for _, _, cell in columns) for record in records)
    header = tuple(heading for heading, _, _ in columns)
    align = "".join(side for _, side, _ in columns)
    return Table(title, header, rows, align, notes=notes, n_totals=n_totals, hints=hints)


@dataclass(frozen=True)
class Page:
    """Tables with notes below them, and signatures below these."""

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    signatures: Sequence[str] = ()

    def text(self) -> str:
        """Return what a terminal shows."""
        lines = "\n".join(map(printable, [*self.notes, *self.signatures]))
        return "\n\n".join([*(table.text() for table in self.tables), lines]).rstrip()

    def markdown(self) -> str:
        """Return Markdown, with the lines below as a list."""
        below = [*map(markdown_line, self.notes), *map(markdown_code, self.signatures)]
        lines = "\n".join(f"- {line}" for line in below)
        return "\n\n".join([*(table.markdown() for table in self.tables), lines]).rstrip() + "\n"

    def latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Return LaTeX that needs booktabs, with notes and signatures as comments.

        A note that explains a mark of the table stands below it.
        """
        if label is not None and (caption is None or not _LABEL.fullmatch(label)):
            raise InputError(
                f"must be letters, digits and :.-_/+ and needs a caption, got {label!r}",
                argument="label",
            )
        marks = [note for note in self.notes if note.startswith("†")]
        body = [*(table.latex() for table in self.tables), "\n".join(map(_below, marks))]
        if caption is not None:
            named = rf"\caption{{{latex(caption)}}}" + (rf"\label{{{label}}}" if label else "")
            body = ["\\begin{table}\n\\centering", *body, f"{named}\n\\end{{table}}"]
        plain = [note for note in self.notes if note not in marks]
        comments = "\n".join(f"% {printable(line)}" for line in (*plain, *self.signatures))
        parts = [r"% \usepackage{booktabs}", *body, comments]
        return "\n\n".join(filter(None, parts)).rstrip() + "\n"

    def fragment(self) -> str:
        """Return HTML to be put into a page: no script, nothing loaded."""
        hints = [hint for table in self.tables for hint in table.hints]
        below = [f"<p>{html(line)}</p>" for line in (*self.notes, *hints)]
        if len(below) > _OPEN_NOTES:
            below = ["<details>", f"<summary>{len(below)} notes</summary>", *below, "</details>"]
        codes = [f"<p><code>{html(line)}</code></p>" for line in self.signatures]
        body = "\n".join([*(table.html() for table in self.tables), *below, *codes])
        return f'{_STYLE}\n<div class="evalstats">\n{body}\n</div>'

    def html(self, title: str) -> str:
        """Return HTML of its own, light or dark as the reader's system is."""
        return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html(title)}</title>
<style>:root {{ color-scheme: light dark; }} \
body {{ font-family: system-ui, sans-serif; margin: 1.5em; }}</style>
</head>
<body>
{self.fragment()}
</body>
</html>
"""


def _below(note: str) -> str:
    """Return a note as a line of LaTeX below a table."""
    return rf"\par{{\footnotesize {latex_words(note)}}}"


def record_table(title: str, record: Mapping[str, object]) -> Table:
    """Lay out named values, a row each; floats with six significant digits."""
    shown = {k: f"{v:.6g}" if isinstance(v, float) else str(v) for k, v in record.items()}
    return Table(title, ("field", "value"), tuple(shown.items()), "<<")


def direction(higher_is_better: bool) -> str:
    """Return the arrow that says which way is better."""
    return "↑" if higher_is_better else "↓"


def which_is_better(higher_is_better: bool) -> str:
    """Return ``↑ (higher is better)``."""
    return f"{direction(higher_is_better)} ({'higher' if higher_is_better else 'lower'} is better)"


#: In the place of a number of decimals: four digits, with a power of ten where there is no room.
POWERS = -1
#: Decimals of the smallest error that no table has room for. (Rounding leaves errors of 1e-17.)
_LEAST_PLACES, _MOST_PLACES = -14, 30
#: Up to it a limit of an interval may be 0 but for rounding.
_NOISE = 1e-12


def decimals(errors: Iterable[float | None], digits: int | None = None) -> int:
    """Return `digits`, or the decimals, 2 to 6, that give the smallest error above 0 two digits.

    Errors that no table has room for, of sequence probabilities for example, ask for powers of ten.
    """
    positive = [error for error in errors if error is not None and error > 0]
    if digits is not None or not positive:
        return 2 if digits is None else digits
    places = 1 - math.floor(math.log10(min(positive)))
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


def _width(text: str) -> int:
    """Return how many terminal cells a text takes: two for wide CJK, none for combining marks."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


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


def printable(text: str) -> str:
    """Return text on one line, in which what does not show is written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if is_unseen(c) else c for c in text)


def latex(text: str) -> str:
    """Return text in which every character that is special in LaTeX is escaped."""
    escaped = "".join(_LATEX_SPECIAL.get(c, c) for c in printable(text))
    # Neighbours would become a dash, or quotation marks.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


def latex_numbers(text: str) -> str:
    """Return a cell of numbers as LaTeX, with minus signs, and a dash for none."""
    return "--" if text == "-" else latex(_MINUS.sub("−", text))


def latex_words(text: str) -> str:
    """Return a heading as LaTeX, with the signs that stand between words as mathematics."""
    return latex(_LESS.sub("−", text).replace(" <= ", " ≤ "))


def markdown(text: str) -> str:
    """Return text for a cell, in which what may mean something in Markdown is escaped."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text))


def markdown_line(text: str) -> str:
    """Return text for a line of its own, which is no list, heading or code in it either."""
    return _BLOCK.sub(r"\1\\\2", markdown(text.strip()))


def markdown_code(text: str) -> str:
    """Return text as a code span, between more backticks than stand anywhere in it."""
    shown = printable(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    # One blank on either side is taken off again.
    pad = " " if len(fence) > 1 or shown.startswith(" ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def html(text: str) -> str:
    """Return text for the inside of an HTML element or of a quoted attribute."""
    return escape(printable(text))


def json_text(text: str) -> str:
    """Return JSON in which all that does not show is escaped, not its first 32 signs only."""
    return _RARE.sub(lambda found: json.dumps(c)[1:-1] if is_unseen(c := found[0]) else c, text)


def spreadsheet_cell(value: object) -> object:
    """Return a value for a spreadsheet: text like a formula after an apostrophe (OWASP)."""
    if not isinstance(value, str):
        return value
    shown = printable(value)
    # A wide sign is a sign as well.
    formula = normalize("NFKC", value).lstrip()[:1] in tuple("=+-@")
    return f"'{shown}" if formula or value[:1] in tuple("\t\r\n") else shown
