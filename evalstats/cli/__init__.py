"""The command line: the same words for texts, statistics and logs.

- `options`: what can be typed, a table of commands and one of options
- `parser`: what is typed becomes options, help or an error
- `metrics`: options of metrics, and the metrics that they make
- `inputs`: what is analysed, as tables by task: texts and files of statistics, or `logs`
- `commands`: the call that each command is
- `output`: where a result goes, and in which form

May import every room.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from evalstats.cli.commands import COMMANDS, exit_code
from evalstats.cli.inputs import files_of, texts_of
from evalstats.cli.options import flag_of
from evalstats.cli.output import (
    UnwritableError,
    destination,
    form_of,
    on_terminal,
    rendered,
    to_stdout,
)
from evalstats.cli.parser import one_line, parsed
from evalstats.errors import InputError

#: Python that the library's messages speak, and what is typed in its place.
_PYTHON = {
    r"directions=\{(['\"])(.+?)\1: 'higher'\}, or 'lower'": r"--higher-is-better \2, or "
    r"--lower-is-better \2",
    r"read_log\(\.\.\., labels=(['\"])(.+?)\1\)": r"--groups \2",
    r"name the logs: \{.*\}": "give --names",
    r"^metric must": "-m must",
    r"take the place of the outputs: metric=.*": "go as --scores, or alone as a table",
    r"^directions: ": "--higher-is-better, --lower-is-better: ",
    r"; leave it out to test for a loss of any size": "",
    r"to_text\(verbose=True\)": "--verbose",
    r"to_text\(matrix=True\), to_csv\(\)": "--matrix, -f csv",
}
#: The argument that a message is about.
_BEGINS = re.compile(r"(\w+)(?= must\b| has\b|:)")
#: Arguments with their values. No others: names of systems, such as lr=0.1, are left alone.
_ARGUMENT = re.compile(
    r"\b(aggregate|alternative|contrast|epochs|groups|method|metric|missing|strata|test)='([^']*)'"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 2 for bad input, or that of a gate."""
    options = parsed(sys.argv[1:] if arguments is None else arguments)
    try:
        form = "" if options.command == "extract" else form_of(options.output, options.format)
        with destination(options.output, files_of(options)) as write:
            with on_terminal(sys.stderr) as progress:
                result: Any = COMMANDS[options.command](options, progress)
            if result is None:
                return 0
            if options.describe:
                write(result.describe())
                return 0
            names = ("verbose", "matrix", "caption", "label")
            texts = texts_of(options) if form == "html" else None
            how = {name: getattr(options, name) for name in names}
            content = rendered(result, form, texts, **how)
            write(as_typed(str(content), options) if form == "text" else content)
            return exit_code(result, options)
    except InputError as error:
        _complain(f"evalstats {options.command}: error: {as_typed(str(error), options)}")
        return 2


def as_typed(message: str, options: argparse.Namespace) -> str:
    """Return a message of the library with options in place of arguments."""
    if (named := _BEGINS.match(message)) and hasattr(options, named[1]):
        message = flag_of(named[1]) + message[named.end() :]
    for python, typed in _PYTHON.items():
        message = re.sub(python, typed, message)
    return _ARGUMENT.sub(r"--\1 \2", message)


def run() -> None:
    """Run the command line as a program."""
    # The tables hold arrows; a terminal that says it cannot show them usually can.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A file name need not be text; an error message about it must not fail for that.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        try:
            code: Any = main()
        except SystemExit as stop:  # after --help and after what cannot be parsed
            code = stop.code
        to_stdout()
    except KeyboardInterrupt:
        code = 130
    except UnwritableError as error:
        # Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The reader (head, less) has seen enough.
        code = 141 if isinstance(error.__cause__, BrokenPipeError) else 2
        if code == 2:
            _complain(f"evalstats: error: cannot write standard output: {error}")
    sys.exit(code)


def _complain(message: str) -> None:
    # Without a standard error `print` would take standard output.
    if sys.stderr is not None:
        print(one_line(message), file=sys.stderr)
