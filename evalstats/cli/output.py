"""Where a result goes, and in which form: standard output or a file, tried before the work."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from evalstats.errors import InputError
from evalstats.results.page import Texts, document
from evalstats.results.writing import SUFFIXES
from evalstats.statistics.extraction import Progress

#: What stands for standard input or standard output in place of a file.
STANDARD = "-"
FORMATS = ("text", "json", "markdown", "latex", "html", "csv")
FIGURES = ("png", "pdf", "svg")
_OF_LATEX = {"caption", "label"}
#: Forms that have tables, which may be laid out otherwise.
_LAID_OUT = {"text", "markdown", "latex", "html", "csv"}
#: Work shorter than this shows no progress.
_QUIET_SECONDS = 1.0


class UnwritableError(Exception):
    """Standard output takes no more: its reader has gone, or a disk is full."""


@contextmanager
def destination(
    path: str | None, inputs: Sequence[str] = ()
) -> Iterator[Callable[[str | bytes], None]]:
    """Yield what writes to a file, tried before without changing it, or to standard output.

    The file may be none of the inputs. One that was not there is not there when the work fails.
    """
    if path in (None, STANDARD):
        if sys.stdout is None:
            raise InputError("standard output is closed; give -o FILE")
        yield lambda content: to_stdout(str(content).rstrip("\n") + "\n")
        return
    target = Path(str(path))
    for other in inputs:
        if _is_same(target, other):
            raise InputError(f"-o {path} is the input {other}; give another file")

    def write(content: str | bytes) -> None:
        if isinstance(content, str):
            content = (content.rstrip("\n") + "\n").encode()
        with _writing(target):
            target.write_bytes(content)

    is_new = not os.path.lexists(target)
    with _writing(target):
        # To open a pipe or a device already does something to it.
        if is_new or target.is_dir() or target.is_file():
            target.open("ab").close()
    try:
        yield write
    except BaseException:
        if is_new:
            with suppress(OSError):
                target.unlink()
        raise


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None


def _is_same(path: Path, other: str) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # What is not there is reported where it is read.
        return False


def to_stdout(text: str = "") -> None:
    """Write to standard output, through to what reads it."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise UnwritableError(error.strerror) from error


def form_of(output: str | None, format: str | None) -> str:
    """Return the form that was asked for, or that of the file's suffix; they have to agree."""
    if output in (None, STANDARD):
        return format or "text"
    of_suffix = SUFFIXES.get(Path(str(output)).suffix.lower())
    if format and of_suffix not in (None, format):
        raise InputError(f"-o {output} is a file of {of_suffix}, but -f asks for {format}")
    if form := format or of_suffix:
        return form
    raise InputError(
        f"-o {output} does not say its form; end it in one of {' '.join(SUFFIXES)}, or give -f"
    )


def rendered(
    result: Any,
    form: str,
    texts: Texts | None = None,
    files: Sequence[str] = (),
    **how: Any,
) -> str | bytes:
    """Return a result in a form; `how` goes to `to_text` and `to_latex`, the rest to a report."""
    asked = {name: value for name, value in how.items() if value}
    for name in _OF_LATEX & set(asked):
        if form != "latex" and (name, form) != ("caption", "html"):
            raise InputError(f"--{name} is for LaTeX: -f latex, or -o FILE.tex")
    if "layout" in asked and form not in _LAID_OUT:
        raise InputError("--layout is of tables: text, Markdown, LaTeX, HTML and CSV")
    if form in FIGURES:
        return _figure(result, form)
    if form == "html" and "layout" not in asked:
        return document(result, texts, asked.get("caption"), files)
    make = getattr(result, f"to_{form}", None)
    if make is None:
        raise InputError(f"{form} is no form of this result; give another -f or -o")
    known = {"text": set(how) - _OF_LATEX, "latex": {*_OF_LATEX, "layout"}}.get(form, {"layout"})
    text: str = make(**{name: asked[name] for name in known & set(asked)})
    return text


def _figure(result: Any, form: str) -> bytes:
    """Draw a result: all panels are in one figure."""
    if not hasattr(result, "plot"):
        raise InputError(f"this result has no figure; -o FILE.{form} is for those that have")
    panels = result.plot()
    figure = next(iter(getattr(panels, "flat", [panels]))).figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, bbox_inches="tight", dpi=150)
    return buffer.getvalue()


@contextmanager
def on_terminal(stream: TextIO | None) -> Iterator[Progress]:
    """Yield what says on a line of a terminal how far long work has come."""
    start, shown = time.monotonic(), ""

    def say(done: int, total: int, label: str) -> None:
        nonlocal shown
        line = f"{label} {100 * done // total} %"
        if line != shown and time.monotonic() - start > _QUIET_SECONDS:
            shown = line
            write(line)

    def write(line: str) -> None:
        if stream is not None and stream.isatty():
            stream.write(f"\r\x1b[K{line}")
            stream.flush()

    try:
        yield say
    finally:
        if shown:
            write("")
