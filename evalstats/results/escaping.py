"""Text made safe for where it goes: it stays text, on its own line and in its own cell."""

from __future__ import annotations

import json
import re
from html import escape
from unicodedata import normalize

from evalstats.checks import is_unseen

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
    return _RARE.sub(lambda found: _json_escape(found.group()), text)


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1] if is_unseen(character) else character


def spreadsheet_cell(value: object) -> object:
    """Return a value for a spreadsheet: text like a formula after an apostrophe (OWASP)."""
    if not isinstance(value, str):
        return value
    shown = printable(value)
    # A wide sign is a sign as well.
    formula = normalize("NFKC", value).lstrip()[:1] in tuple("=+-@")
    return f"'{shown}" if formula or value[:1] in tuple("\t\r\n") else shown
