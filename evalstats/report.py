"""Tables, and how they look as text, Markdown and LaTeX. Knows nothing of statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

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
    # A row that began with one of these would be read as an argument of the row before.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "±": r"$\pm$",
}
_ARROWS = {True: "↑", False: "↓"}


@dataclass(frozen=True)
class Table:
    """A titled table of strings; `align` has one of ``<`` and ``>`` for each column."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    note: str = ""

    def text(self) -> str:
        """Return aligned columns for a terminal."""
        lines = [self.header, *self.rows]
        widths = [max(_width(line[j]) for line in lines) for j in range(len(self.header))]
        body = [
            "  ".join(
                _pad(cell, width, side)
                for cell, width, side in zip(line, widths, self.align, strict=True)
            ).rstrip()
            for line in lines
        ]
        rule = "-" * max(map(_width, body))
        return "\n".join([self.title, rule, body[0], rule, *body[1:], *self._notes()])

    def markdown(self) -> str:
        """Return a pipe table."""
        sides = {"<": ":--", ">": "--:"}
        rule = "|" + "|".join(sides[side] for side in self.align) + "|"
        lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (self.header, *self.rows)]
        notes = [_markdown(note) for note in self._notes()]
        return "\n".join(
            [f"**{_markdown(self.title)}**", "", lines[0], rule, *lines[1:]]
            + (["", *notes] if notes else [])
        )

    def latex(self) -> str:
        """Return a booktabs tabular."""
        columns = self.align.replace("<", "l").replace(">", "r")
        lines = [" & ".join(map(latex_escape, row)) + r" \\" for row in (self.header, *self.rows)]
        return "\n".join(
            [
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                rf"\multicolumn{{{len(self.align)}}}{{l}}{{{latex_escape(self.title)}}} \\",
                r"\midrule",
                lines[0],
                r"\midrule",
                *lines[1:],
                r"\bottomrule",
                r"\end{tabular}",
                *(rf"\\ {latex_escape(note)}" for note in self._notes()),
            ]
        )

    def _notes(self) -> list[str]:
        return [self.note] if self.note else []


def document_text(tables: Sequence[Table], footer: Sequence[str]) -> str:
    """Join tables and footer lines for a terminal."""
    return "\n\n".join([*(table.text() for table in tables), "\n".join(footer)]).rstrip()


def document_markdown(tables: Sequence[Table], footer: Sequence[str]) -> str:
    """Join tables and footer lines as Markdown; the footer becomes a list."""
    lines = "\n".join(f"- `{line}`" if "|" in line else f"- {_markdown(line)}" for line in footer)
    return "\n\n".join([*(table.markdown() for table in tables), lines]).rstrip() + "\n"


def document_latex(tables: Sequence[Table], footer: Sequence[str]) -> str:
    """Join tables as LaTeX that needs the package booktabs; the footer becomes comments."""
    lines = "\n".join(f"% {line}" for line in footer)
    head = r"% \usepackage{booktabs}"
    return "\n\n".join([head, *(table.latex() for table in tables), lines]).rstrip() + "\n"


def direction(higher_is_better: bool) -> str:
    """Return the arrow that says which way is better."""
    return _ARROWS[higher_is_better]


def number(value: float, decimals: int, sign: bool = False) -> str:
    """Return a number with that many decimals, never as a negative zero."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:+.{decimals}f}" if sign and rounded != 0 else f"{rounded:.{decimals}f}"


def interval(low: float, high: float, decimals: int, sign: bool = False) -> str:
    """Return ``[low, high]``."""
    return f"[{number(low, decimals, sign)}, {number(high, decimals, sign)}]"


def pvalue(p: float) -> str:
    """Return a p-value with four decimals, and never as zero."""
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"


def latex_escape(text: str) -> str:
    """Return text in which every character that is special in LaTeX is escaped."""
    return "".join(_LATEX_SPECIAL.get(character, character) for character in text)


def _markdown(text: str) -> str:
    return "".join("\\" + c if c in "\\|*_`<>[]" else c for c in text)


def _width(text: str) -> int:
    """Return how many terminal cells a text takes: two for wide CJK, none for combining marks."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _pad(text: str, width: int, side: str) -> str:
    space = " " * (width - _width(text))
    return text + space if side == "<" else space + text
