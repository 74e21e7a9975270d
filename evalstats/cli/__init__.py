"""The command line: the same words for texts, statistics and logs.

- `flags`: the table of commands, and the table of options; a question is an entry in one of them
- `parser`: from words to options, metrics, help or an error; errors name options as they are typed
- `inputs`: texts, files of statistics and logs, as tables by task
- `commands`: the call that each command makes
- `output`: to which files a result is written, and in which format

May import every room.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from traceback import format_exc
from typing import Any

from evalstats.cli import output
from evalstats.cli.flags import COMMANDS, overview
from evalstats.errors import InputError
from evalstats.results.version import intruder, version


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 2 for bad input, or the code of a gate."""
    words = [*(sys.argv[1:] if arguments is None else arguments)] or ["--help"]
    if words[0] in ("--version", "-h", "--help", "--help-all"):
        asked = words[0] == "--version"
        output.to_stdout(f"evalstats {version()}\n" if asked else overview())
        if asked and (other := intruder()):
            output.complain(f"evalstats: warning: {other}")
        return 0
    # The version is printed without importing NumPy, and help without importing the analysis.
    from evalstats.cli.parser import as_typed, parsed

    options = parsed(words)
    from evalstats.cli import commands
    from evalstats.cli.inputs import files_of, texts_of

    try:
        outputs, inputs = output.outputs_of(options), files_of(options)
        with ExitStack() as stack:
            writes = [stack.enter_context(output.destination(path, inputs)) for path, _ in outputs]
            with output.on_terminal(sys.stderr) as progress:
                asks = COMMANDS[options.command].asks
                call = commands.answer if asks else getattr(commands, options.command)
                result: Any = call(options, progress)
            if result is None:
                return 0
            texts = texts_of(options) if "html" in dict(outputs).values() else None
            # A baseline that was read is now an input; otherwise it is a name, even of a folder.
            read = [*(options.logs or ()), *(options.input or ())]
            inputs = [path for path in inputs if path != options.baseline or path in read]
            # Nothing is written until everything is ready.
            contents = [output.rendered(result, to, options, texts, inputs) for to in outputs]
            for write, content in zip(writes, contents, strict=True):
                write(content)
            return int(getattr(result, "exit_code", 0))
    except InputError as error:
        message = error.spelled(partial(as_typed, options=options))
        output.complain(f"evalstats {options.command}: error: {message}")
        if options.command == "gate":
            output.no_verdict(options, message, files_of(options))
        return 2


def run() -> None:
    """Run the command line as a program."""
    # Tables have arrows, which most terminals can show, whatever their encoding.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A file name may not be text; an error message about it must not fail.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        try:
            code: Any = main()
        except SystemExit as stop:  # after --help and after what cannot be parsed
            code = stop.code
        output.to_stdout()
    except KeyboardInterrupt:
        code = 130
    except output.UnwritableError as error:
        # Nothing may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The reader (head, less) has seen enough.
        code = 141 if isinstance(error.__cause__, BrokenPipeError) else 2
        if code == 2:
            output.complain(f"evalstats: error: cannot write standard output: {error}")
    except Exception as error:
        # EX_SOFTWARE of BSD: Python's own exit code, 1, means that a gate failed.
        what = f"{type(error).__name__} is an error in evalstats itself, not a verdict"
        output.complain(f"{format_exc()}evalstats: error: {what}")
        code = 70
    sys.exit(code)
