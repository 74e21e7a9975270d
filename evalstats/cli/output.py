"""Where a result goes, and in which form: standard output or a file, tried before the work."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from shlex import quote
from textwrap import fill
from typing import TYPE_CHECKING, Any, TextIO

from evalstats.cli.flags import EVERY, flag_of
from evalstats.errors import InputError

if TYPE_CHECKING:
    from evalstats.pictures.report import Texts
    from evalstats.resampling.executors import Progress

#: What stands for standard input or standard output in place of a file.
STANDARD = "-"
FIGURES = ("png", "pdf", "svg")
#: Options of forms, arguments of `to_text` and its like, which have no effect on others.
_OF_FORMS = {option.name: option.forms.split() for option in EVERY if option.forms}
#: Calls and arguments of the library in notes, as they are typed here.
_CALLS = {
    "to_text(verbose=True)": "--verbose",
    "to_csv()": "-o all.csv",
    "n_resamples=": "--resamples ",
    "plot()": "-o figure.png",
}
_ARGUMENT = re.compile(r"\b([a-z_]+)=\"([\w^@. -]+)\"")
_ROLE = re.compile(r"\bcolumns=\{\"(\w+)\": \"(\w+)\"\}")
#: Columns of sentences in a pipe or a file.
_USUAL = 100
#: Work shorter than this shows no progress.
_QUIET_SECONDS = 2.0


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
        yield lambda content: to_stdout(str(content).rstrip("\n") + "\n" if content else "")
        return
    target = Path(path)
    for other in inputs:
        with suppress(OSError):  # What is not there is reported where it is read.
            if target.samefile(other):
                raise InputError(f"-o {path} is the input {other}; give another file")

    def write(content: str | bytes) -> None:
        if isinstance(content, str):
            content = (content.rstrip("\n") + "\n").encode()
        # What was there stays until all of it is written: a disk may be full.
        with replacing(path) as file:
            file.write(content)

    from evalstats.results.files import replacing

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


def no_verdict(options: argparse.Namespace, message: str, inputs: Sequence[str]) -> None:
    """Write to the files of a gate that there is no verdict, so that none of them has an old one.

    Files of figures, of tables and of what cannot be written stay as they are.
    """
    from evalstats.pictures.markup import as_html
    from evalstats.results.tabular import Page

    said = f"NO VERDICT: bad input: {message}"
    contents: dict[str, Callable[[], str]] = {
        "text": lambda: said,
        "markdown": lambda: f"**{said}**",
        "html": lambda: as_html(Page((), above=[(said, "")]), "NO VERDICT"),
        "json": lambda: json.dumps({"verdict": None, "error": said}, ensure_ascii=False),
        "junit": lambda: _no_verdict_junit(message, said),
    }
    with suppress(InputError):
        for path, form in outputs_of(options):
            if path != STANDARD and form in contents:
                with suppress(InputError), destination(path, inputs) as write:
                    write(contents[form]())


def _no_verdict_junit(message: str, said: str) -> str:
    """Return JUnit's XML with one error."""
    from evalstats.results.files import as_junit

    return as_junit([("evalstats", "gate", "bad input", "error", message, said)])


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None


def to_stdout(text: str = "") -> None:
    """Write to standard output, through to what reads it."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise UnwritableError(error.strerror) from error


def complain(message: str) -> None:
    """Write to standard error, on a terminal in lines of its width that break no path."""
    # Without a standard error `print` would take standard output.
    if sys.stderr is None:
        return
    if width := _columns(sys.stderr):
        lines = message.split("\n")
        wrapped = partial(fill, width=width, break_long_words=False, break_on_hyphens=False)
        message = "\n".join(map(wrapped, lines))
    print(message, file=sys.stderr)


def _columns(stream: TextIO | None) -> int | None:
    """Return the width that is asked for, or of the terminal that a stream is; else None."""
    # `evalstats --help` shows no result.
    from evalstats.results import widths

    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else widths.of_terminal(stream)


def outputs_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return where a result goes, standard output last, and in which form: (path, form).

    What goes to files is printed as well, but for quiet ones.
    """
    if options.command == "extract":
        return [(options.output or STANDARD, "")]
    # `evalstats --help` writes no result.
    from evalstats.results.files import SUFFIXES

    paths = options.output or [STANDARD]
    for i, path in enumerate(paths):
        if any(Path(path).absolute() == Path(other).absolute() for other in paths[:i]):
            raise InputError(f"-o {path} is given more than once")
    outputs = []
    for path in paths:
        asked, of_suffix = options.format, SUFFIXES.get(Path(path).suffix.lower())
        if path == STANDARD:
            asked, of_suffix = asked or "text", None
        if asked and of_suffix not in (None, asked):
            raise InputError(f"-o {path} is a file of {of_suffix}, but -f asks for {asked}")
        form = asked or of_suffix
        if not form:
            known = " ".join(SUFFIXES)
            raise InputError(
                f"the form of -o {path} is unknown; end its name in one of {known}, or give -f"
            )
        outputs.append((path, form))
    is_described = options.describe and "text" not in dict(outputs).values()
    if STANDARD not in paths and (is_described or not options.quiet):
        outputs.append((STANDARD, "text"))
    for name, forms in _OF_FORMS.items():
        if getattr(options, name) is not None and not any(form in forms for _, form in outputs):
            what = "for text, md and tex"
            if "latex" in forms and "text" not in forms:
                what = "for LaTeX: -f latex, or -o FILE.tex"
            raise InputError(f"--{name} is {what}")
    return sorted(outputs, key=lambda pair: pair[0] == STANDARD)


def rendered(
    result: Any,
    to: tuple[str, str],
    options: argparse.Namespace,
    texts: Texts | None = None,
    files: Sequence[str] = (),
) -> str | bytes:
    """Return a result for a path in a form, as str or bytes; a report has texts and its files."""
    path, form = to
    from evalstats.results import widths

    width = _columns(sys.stdout) if path == STANDARD else None
    is_styled = path == STANDARD and widths.is_styled(sys.stdout)
    if options.describe and form == "text":
        return "\n".join(widths.wrapped(result.describe(), width))
    if form in FIGURES:
        with warnings.catch_warnings(record=True) as caught:
            panels, buffer = result.plot(), io.BytesIO()
            # All panels are in one figure.
            figure = next(iter(getattr(panels, "flat", [panels]))).figure
            figure.savefig(buffer, format=form, bbox_inches="tight", dpi=150)
        for said in dict.fromkeys(str(one.message) for one in caught):
            complain(f"evalstats {options.command}: warning: {said}")
        return buffer.getvalue()
    if form == "html":
        # Few results are reports.
        from evalstats.pictures.report import document

        return _html_as_typed(document(result, texts, options.caption, files))
    make = getattr(result, f"to_{form}", None)
    if make is None:
        raise InputError(f"this result cannot be written as {form}; give another -f or -o")
    how = {name: getattr(options, name) for name, forms in _OF_FORMS.items() if form in forms}
    how = {name: value for name, value in how.items() if value is not None}
    if form == "text":
        verbose, digits = bool(options.verbose), options.digits
        page = result._page(digits, verbose, not options.quiet, details=verbose)
        made = page.text(width, path == STANDARD and not verbose, is_styled, _USUAL)
    else:
        made = make(**how)
    if form not in ("text", "markdown"):
        return str(made)
    # What is typed may be longer than what is called.
    lines = as_typed(made).split("\n")
    return "\n".join(part for line in lines for part in widths.wrapped(line, width))


def _html_as_typed(page: str) -> str:
    """Return a page whose sentences have arguments as flags: not its tables, names and outputs."""
    parts = re.split(r"(<(?:style|script).*?</(?:style|script)>|<[^>]*>)", page, flags=re.DOTALL)
    depth = 0  # of paragraphs and items of lists, in which findings and notes are
    for i, part in enumerate(parts):
        if i % 2:
            depth += bool(re.match(r"<(?:p|li)\b", part)) - (part in ("</p>", "</li>"))
        elif depth:
            parts[i] = as_typed(part.replace("&quot;", '"')).replace('"', "&quot;")
    return "".join(parts)


def as_typed(text: str) -> str:
    """Return text in which options are called by flags, and calls are what does as much here."""
    for call, typed in _CALLS.items():
        text = text.replace(call, typed)
    text = _ROLE.sub(r"--columns \1=\2", text)
    return _ARGUMENT.sub(lambda match: f"{flag_of(match[1])} {quote(match[2])}", text)


@contextmanager
def on_terminal(stream: TextIO | None) -> Iterator[Progress]:
    """Yield what says on a line of a terminal how far long work has come."""
    # `evalstats --help` does no work.
    from evalstats.resampling.executors import line_of

    say = line_of(stream if stream is not None and stream.isatty() else None, _QUIET_SECONDS)
    try:
        yield say
    finally:
        say(1, 1, "")
