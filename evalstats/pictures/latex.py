"""Tables as LaTeX, fitted to one of a paper's two columns; needs booktabs."""

from __future__ import annotations

import re
from functools import partial

from evalstats.errors import InputError
from evalstats.pictures.marks import LESS, minus
from evalstats.results import widths
from evalstats.results.tabular import Page, Table, printable

#: Width of a column and of a page of two-column A4 in points; sizes of type and gaps.
_COLUMN, _PAGE = 221, 345
_SIZES = (
    ("", 1.0, 12),
    (r"{\small\setlength{\tabcolsep}{3pt}", 0.93, 6),
    (r"{\footnotesize\setlength{\tabcolsep}{2pt}", 0.86, 4),
)
_LABEL = re.compile(r"[\w:./+-]+", re.ASCII)
#: Widths in points of characters of unusual width in Computer Modern.
_POINTS = {
    **dict.fromkeys("iljI.,:;'![]()| ", 3.0),
    **dict.fromkeys("mwMW%@+−<>=±≤↑↓…", 8.4),
    **dict.fromkeys("rstf", 4.0),
    # A minus before a number is wide, and a hyphen is not.
    "-": 7.0,
}
#: Escapes. After ? and ! some characters would become ligatures, babel makes quotation marks
#: active, and a row that begins with a bracket or * would be an argument of the previous row.
_SPECIAL = {
    **{c: rf"\{c}" for c in "{}&%$#_"},
    **{c: f"{{{c}}}" for c in "`[]*"},
    '"': r'\string"',
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "°": r"\textdegree{}",
    **dict(
        zip(
            "↑↓≤·Δ±†",
            (
                r"$\uparrow$",
                r"$\downarrow$",
                r"$\le$",
                r"$\cdot$",
                r"$\Delta$",
                r"$\pm$",
                r"$\dagger$",
            ),
            strict=True,
        )
    ),
    "−": "$-$",
}


def as_latex(page: Page, caption: str | None = None, label: str | None = None) -> str:
    """Return LaTeX that needs booktabs, with notes and signatures as comments.

    A note that explains a mark is printed below the table.
    """
    if label is not None and (caption is None or not _LABEL.fullmatch(label)):
        raise InputError(
            f"must consist of letters, digits and :.-_/+, and requires a caption; got {label!r}",
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
    above = "\n".join(f"% {printable(said)}" for said, _ in page.above)
    parts = [r"% \usepackage{booktabs}", above, *body, comments]
    return "\n\n".join(filter(None, parts)).rstrip() + "\n"


def _tabular(table: Table, is_float: bool) -> tuple[str, bool]:
    """Return booktabs tabulars below a title, and whether they are wider than one column.

    A table that is too wide is set in smaller type, then loses columns; then a float becomes as
    wide as the page, and a table in the text is continued below itself.
    """
    kinds = [latex if side == "<" else latex_number for side in table.align]
    begin, blocks, left_out = _fitted(table, _COLUMN)
    is_wide = is_float and len(blocks) > 1
    if is_wide:
        begin, blocks, left_out = _fitted(table, _PAGE)
    parts = [rf"\par\medskip\noindent {latex_words(table.title)}"]
    for block in blocks:
        n_heads = max(len(column.head) for column in block)
        above = [[""] * (n_heads - len(column.head)) + list(column.head) for column in block]
        heads = zip(*(map(latex_words, lines) for lines in above), strict=True)
        places = [column.place for column in block]
        cells = [[kinds[place](row[place]) for place in places] for row in table.rows]
        lines = [" & ".join(row) + r" \\" for row in [*heads, *cells]]
        if 0 < table.n_totals < len(cells):
            lines.insert(-table.n_totals, r"\midrule")
        sides = "".join("l" if column.side == "<" else "r" for column in block)
        parts += [
            rf"\par\medskip\noindent{begin}\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
            *(r"\toprule", *lines[:n_heads], r"\midrule", *lines[n_heads:], r"\bottomrule"),
            rf"\end{{tabular}}{'}' if begin else ''}",
        ]
    if left_out:
        parts.append(f"% No room for: {', '.join(map(table.called, left_out))}.")
    parts += map(_below, table.notes_without(left_out))
    return "\n".join([*parts, *(f"% {printable(hint)}" for hint in table.hints)]), is_wide


def _fitted(table: Table, room: float) -> tuple[str, list[list[widths.Column]], list[int]]:
    """Return the type size for a table to fit a width, its blocks, and the columns left out."""
    for size in _SIZES:
        begin, share, gap = size
        measure = partial(in_points, share=share)
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
    return rf"\par\smallskip{{\footnotesize {latex_words(note)}}}"


def latex(text: str) -> str:
    """Return text in which every character that is special in LaTeX is escaped."""
    escaped = "".join(_SPECIAL.get(c, c) for c in printable(text))
    # Repeated characters would become a dash, or quotation marks.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


def latex_number(text: str) -> str:
    """Return a cell of numbers as LaTeX, with minus signs, and a dash for none."""
    return "--" if text == "-" else latex(minus(text))


def latex_words(text: str) -> str:
    """Return a heading as LaTeX, with signs between words as mathematics."""
    return latex(LESS.sub("−", text).replace(" <= ", " ≤ "))


def in_points(text: str, share: float = 1.0) -> float:
    """Return the width of a text in LaTeX's type of 10 points, or a share of it."""
    return share * sum(_POINTS.get(c, 7.5 if c.isupper() else 5.2) for c in text)
