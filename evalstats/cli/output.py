"""Where a result goes, and in which form: standard output or a file, tried before the work."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from evalstats.errors import InputError
from evalstats.pictures.report import Texts, document
from evalstats.results.forms import SUFFIXES
from evalstats.statistics.extraction import Progress

#: What stands for standard input or standard output in place of a file.
STANDARD = "-"
FORMATS = ("text", "json", "markdown", "latex", "html", "csv")
FIGURES = ("png", "pdf", "svg")
_OF_LATEX = {"caption", "label"}
#: Forms that have tables.
_TABLES = {"text", "markdown", "latex", "html", "csv"}
#: Options of forms, arguments of `to_text` and its like, which have no effect on others.
_OF_FORMS = {
    **{"caption": {"latex", "html"}, "label": {"latex"}, "digits": {"text", "markdown", "latex"}},
    **{"verbose": {"text"}, "matrix": {"text"}, "layout": _TABLES},
}
#: Work shorter than this shows no progress.
_QUIET_SECONDS = 1.0


class UnwritableError(Exception):
    """Standard output takes no more: its reader has gone, or a disk is full."""


@contextmanager
def destination(path: str, inputs: Sequence[str] = ()) -> Iterator[Callable[[str | bytes], None]]:
    """Yield what writes to a file, tried before without changing it, or to standard output.

    The file may be none of the inputs. One that was not there is not there when the work fails.
    """
    if path == STANDARD:
        if sys.stdout is None:
            raise InputError("standard output is closed; give -o FILE")
        yield lambda content: to_stdout(str(content).rstrip("\n") + "\n")
        return
    target = Path(path)
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


def outputs_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return where a result goes, standard output last, and in which form: (path, form).

    A gate says its verdict on standard output, whatever else is written.
    """
    if options.command == "extract":
        return [(options.output or STANDARD, "")]
    paths = options.output or [STANDARD]
    for i, path in enumerate(paths):
        if any(Path(path).absolute() == Path(other).absolute() for other in paths[:i]):
            raise InputError(f"-o {path} is given more than once")
    found = [(path, form_of(path, options.format)) for path in paths]
    if options.command == "gate" and STANDARD not in paths:
        found.append((STANDARD, "text"))
    for name in _OF_FORMS:
        forms = _OF_FORMS[name]
        if getattr(options, name) is not None and forms.isdisjoint(form for _, form in found):
            what = "of tables: text, Markdown, LaTeX, HTML and CSV"
            if name != "layout":
                of_latex = name in _OF_LATEX
                what = "for LaTeX: -f latex, or -o FILE.tex" if of_latex else "for text, md and tex"
            raise InputError(f"--{name} is {what}")
    return sorted(found, key=lambda pair: pair[0] == STANDARD)


def form_of(output: str, format: str | None) -> str:
    """Return the form that was asked for, or that of the file's suffix; they have to agree."""
    if output == STANDARD:
        return format or "text"
    of_suffix = SUFFIXES.get(Path(output).suffix.lower())
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
    options: argparse.Namespace,
    texts: Texts | None = None,
    files: Sequence[str] = (),
) -> str | bytes:
    """Return a result in a form, as str or bytes; a report has texts, and names its files."""
    if form in FIGURES:
        return _figure(result, form)
    if form == "html" and not getattr(options, "layout", None):
        return document(result, texts, getattr(options, "caption", None), files)
    make = getattr(result, f"to_{form}", None)
    if make is None:
        raise InputError(f"{form} is no form of this result; give another -f or -o")
    how = {name: getattr(options, name) for name, forms in _OF_FORMS.items() if form in forms}
    if form == "html":
        # The caption is the title of a report alone.
        del how["caption"]
    # `matrix` is asked for of a comparison alone.
    text: str | bytes = make(**{k: value for k, value in how.items() if value is not None})
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
