"""Results for other programs: Markdown, JSON and JUnit's XML, and files written whole."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EISDIR
from pathlib import Path
from typing import BinaryIO, TypeAlias

from evalstats.checks import is_unseen, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.results.tabular import Page, printable


def as_markdown(page: Page) -> str:
    """Return pipe tables, with the lines below as a list."""
    parts, sides = [], {"<": ":--", ">": "--:"}
    for table in page.tables:
        cells = [list(map(markdown, row)) for row in (table.header, *table.rows)]
        for row in cells[len(cells) - table.n_totals :]:
            row[:] = [f"**{cell}**" if cell.strip() else cell for cell in row]
        head, *rows = ["| " + " | ".join(row) + " |" for row in cells]
        rule = "|" + "|".join(sides[side] for side in table.align) + "|"
        notes = list(map(markdown_line, (*table.notes, *table.hints)))
        lines = [f"**{markdown(table.title.strip())}**", "", head, rule, *rows]
        parts.append("\n".join(lines + (["", *notes] if notes else [])))
    below = list(map(markdown_line, page.notes))
    for line in map(printable, page.signatures):
        # A code span needs more backticks around it than it contains.
        fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
        # Markdown removes one blank on either side.
        pad = " " if len(fence) > 1 or line.startswith(" ") else ""
        below.append(f"{fence}{pad}{line}{pad}{fence}")
    listed = "\n".join(f"- {line}" for line in below)
    above = [markdown_line(f"{said} {more}") for said, more in page.above]
    return "\n\n".join([*above, *parts, listed]).rstrip() + "\n"


#: All characters except printable ASCII and line ends.
_RARE = re.compile(r"[^\n -~]")
#: Special characters in lines of Markdown and GitHub, and at the beginning of blocks.
_MARKDOWN = re.compile(r"[\\|*_`~<>\[\]&$#@]|:(?=//)|(?<=www)\.")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")


def markdown(text: str) -> str:
    """Return text for a cell, with the special characters of Markdown escaped."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text))


def markdown_line(text: str) -> str:
    """Return text for a separate line, which does not become a list, a heading or code."""
    return _BLOCK.sub(r"\1\\\2", markdown(text.strip()))


def as_json(values: object, indent: int | None) -> str:
    """Return JSON in which all invisible characters are escaped."""
    text = json.dumps(values, indent=indent, ensure_ascii=False, allow_nan=False)
    return _RARE.sub(lambda match: json.dumps(c)[1:-1] if is_unseen(c := match[0]) else c, text)


#: Forms of results by the suffix of their files.
SUFFIXES = {
    **{".txt": "text", ".json": "json", ".md": "markdown", ".tex": "latex"},
    **{".html": "html", ".csv": "csv", ".xml": "junit"},
    **{".png": "png", ".pdf": "pdf", ".svg": "svg"},
}


#: A test case of JUnit's XML: class, name, verdict, element, text, and reason.
JunitCase: TypeAlias = tuple[str, str, str, str, str, str]


def as_junit(cases: Sequence[JunitCase]) -> str:
    """Return JUnit's XML of a gate."""
    from xml.etree import ElementTree

    kinds = [kind for *_, kind, _, _ in cases]
    counts = {"tests": len(kinds), "failures": kinds.count("failure")}
    counts |= {"errors": kinds.count("error"), "skipped": kinds.count("skipped")}
    suite = ElementTree.Element("testsuite", {"name": "evalstats gate"})
    suite.attrib.update((name, str(count)) for name, count in counts.items())
    for classname, name, verdict, kind, text, message in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=name)
        inside = ElementTree.SubElement(case, kind)
        inside.text = text
        if kind != "system-out":
            inside.attrib.update(type=verdict, message=message)
    ElementTree.indent(suite)
    xml: str = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n'


@contextmanager
def replacing(path: str | os.PathLike[str], form: str = "") -> Iterator[BinaryIO]:
    """Yield a file that replaces an existing file when it is completely written.

    It is opened at once, so that a path that cannot be written raises an `InputError` before the
    work. Pipes and devices are written directly, and links are followed. The suffix must not be the
    suffix of another form.
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
        # Written beside its place, then moved, so that Ctrl-C leaves the old file or the new one.
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
