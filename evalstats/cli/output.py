"""Write results to standard output or to files, which are tested before the work begins."""

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

#: The name of standard input or standard output in place of a file.
STANDARD = "-"
FIGURES = ("png", "pdf", "svg")
#: Options that only some formats have (arguments of `to_text` and similar methods).
_OF_FORMS = {option.name: option.forms.split() for option in EVERY if option.forms}
#: Calls and arguments of the library in notes, as they are typed here.
_CALLS = {
    "to_text(verbose=True)": "--verbose",
    "to_csv()": "-o all.csv",
    "n_resamples=": "--resamples ",
    "plot()": "-o figure.png",
}
_ARGUMENT = re.compile(r"\b([a-z_]+)=\"([\w^@./ -]+)\"")
_ROLE = re.compile(r"\bcolumns=\{\"(\w+)\": \"(\w+)\"\}")
#: The width of sentences in a pipe or a file.
_USUAL = 100
#: Work shorter than this shows no progress.
_QUIET_SECONDS = 2.0


class UnwritableError(Exception):
    """Standard output cannot be written: its reader has stopped, or a disk is full."""


@contextmanager
def destination(path: str, inputs: Sequence[str] = ()) -> Iterator[Callable[[str | bytes], None]]:
    """Yield a function that writes to a file or to standard output.

    The file is first opened without changing it, and must not be one of the inputs. A new file is
    removed again if the work fails.
    """
    if path == STANDARD:
        if sys.stdout is None:
            raise InputError("standard output is closed; pass -o FILE")
        yield lambda content: to_stdout(str(content).rstrip("\n") + "\n" if content else "")
        return
    target = Path(path)
    for other in inputs:
        with suppress(OSError):  # A missing file is reported when it is read.
            if target.samefile(other):
                raise InputError(
                    f"-o {path} is the same file as the input {other}; use another file"
                )

    def write(content: str | bytes) -> None:
        if isinstance(content, str):
            content = (content.rstrip("\n") + "\n").encode()
        # The old file stays until all is written, because a disk may be full.
        with replacing(path) as file:
            file.write(content)

    from evalstats.results.files import replacing

    is_new = not os.path.lexists(target)
    with _writing(target):
        # Opening a pipe or a device would already change it.
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
    """Write to the files of a gate that there is no verdict, so that none has an old verdict.

    Figures, tables and files that cannot be written stay as they are.
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
    """Return XML for JUnit with one error."""
    from evalstats.results.files import as_junit

    return as_junit([("evalstats", "gate", "bad input", "error", message, said)])


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None


def to_stdout(text: str = "") -> None:
    """Write to standard output, and flush it."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise UnwritableError(error.strerror) from error


def complain(message: str) -> None:
    """Write to standard error; on a terminal, lines have its width and paths stay whole."""
    # Without a standard error, `print` would use standard output.
    if sys.stderr is None:
        return
    if width := _columns(sys.stderr):
        lines = message.split("\n")
        wrapped = partial(fill, width=width, break_long_words=False, break_on_hyphens=False)
        message = "\n".join(map(wrapped, lines))
    print(message, file=sys.stderr)


def _columns(stream: TextIO | None) -> int | None:
    """Return the width in COLUMNS, or the width of the terminal; `None` if there is neither."""
    # `evalstats --help` shows no result.
    from evalstats.results import widths

    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else widths.of_terminal(stream)


def outputs_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the path and the format of each output, (path, form), with standard output last.

    Results in files are printed as well, unless the command is quiet.
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
            raise InputError(f"-o {path} would be written as {of_suffix}, but -f is {asked}")
        form = asked or of_suffix
        if not form:
            known = " ".join(SUFFIXES)
            raise InputError(
                f"the format of -o {path} is unknown; use a name that ends in one of {known}, or "
                "pass -f"
            )
        outputs.append((path, form))
    is_described = options.describe and "text" not in dict(outputs).values()
    if STANDARD not in paths and (is_described or not options.quiet):
        outputs.append((STANDARD, "text"))
    for name, forms in _OF_FORMS.items():
        if getattr(options, name) is not None and not any(form in forms for _, form in outputs):
            what = "text, Markdown and LaTeX"
            if "latex" in forms and "text" not in forms:
                what = "LaTeX; pass -f latex, or -o FILE.tex"
            raise InputError(f"--{name} applies only to {what}")
    return sorted(outputs, key=lambda pair: pair[0] == STANDARD)


def rendered(
    result: Any,
    to: tuple[str, str],
    options: argparse.Namespace,
    texts: Texts | None = None,
    files: Sequence[str] = (),
) -> str | bytes:
    """Return a result in a format, as str or bytes; `texts` and `files` are for a report."""
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
        raise InputError(f"this result cannot be written as {form}; use another -f or -o")
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
    # Options may be longer than the calls that they replace.
    lines = as_typed(made).split("\n")
    return "\n".join(part for line in lines for part in widths.wrapped(line, width))


def _html_as_typed(page: str) -> str:
    """Return a page that names options as typed in sentences, but not in tables and outputs."""
    parts = re.split(r"(<(?:style|script).*?</(?:style|script)>|<[^>]*>)", page, flags=re.DOTALL)
    depth = 0  # depth in paragraphs and list items, which contain findings and notes
    for i, part in enumerate(parts):
        if i % 2:
            depth += bool(re.match(r"<(?:p|li)\b", part)) - (part in ("</p>", "</li>"))
        elif depth:
            parts[i] = as_typed(part.replace("&quot;", '"')).replace('"', "&quot;")
    return "".join(parts)


def as_typed(text: str) -> str:
    """Return text with flags instead of arguments, and options instead of calls."""
    for call, typed in _CALLS.items():
        text = text.replace(call, typed)
    text = _ROLE.sub(r"--columns \1=\2", text)
    return _ARGUMENT.sub(lambda match: f"{flag_of(match[1])} {quote(match[2])}", text)


@contextmanager
def on_terminal(stream: TextIO | None) -> Iterator[Progress]:
    """Yield a function that shows the progress of long work on a line of a terminal."""
    # `evalstats --help` does no work.
    from evalstats.resampling.executors import line_of

    say = line_of(stream if stream is not None and stream.isatty() else None, _QUIET_SECONDS)
    try:
        yield say
    finally:
        say(1, 1, "")
