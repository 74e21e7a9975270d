"""What is typed becomes options, help, or one line that says what is wrong with it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

from evalstats.checks import meant
from evalstats.cli.flags import COMMANDS, OPTIONS, Option, flag_of, options_of
from evalstats.cli.metrics import metric_options
from evalstats.cli.output import to_stdout
from evalstats.errors import Argument
from evalstats.results.signatures import version

_WIDTH, _INDENT = 100, 40
_METRICS = "options of metrics"


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command, whose name is `command`; help and errors end the program."""
    command, *rest = arguments or ["--help"]
    if command in ("-h", "--help", "--help-all", "--version"):
        to_stdout(f"evalstats {version()}\n" if command == "--version" else _overview())
        raise SystemExit(0)
    if command not in COMMANDS:
        _Parser("").error(f"there is no {command!r}; {meant(command, list(COMMANDS))}")
    parser = _Parser(command)
    for options in _options(command).values():
        for option in options:
            parser.add_argument(*option.flags, **_settings(option))
    # What another command is asked is not asked here: all options have a value, or None.
    every = {option.name: None for options in OPTIONS.values() for option in options}
    found = parser.parse_args(rest, argparse.Namespace(**every))
    if found.input:
        for word in found.logs or ():
            _check_no_second_value(parser, command, rest, word)
    if found.help or found.help_all:
        to_stdout(_help(command, found.help_all))
        raise SystemExit(0)
    return found


def one_line(message: str) -> str:
    """Return a message that a terminal shows as one line, whatever was typed."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)


def as_typed(argument: Argument, options: argparse.Namespace) -> str:
    """Return an argument as it is typed, ``--missing intersect``; one that is no option stays."""
    if argument.name == "directions":
        if not argument.has_value:
            return "--higher-is-better, --lower-is-better"
        return " ".join(f"--{better}-is-better {name}" for name, better in argument.value.items())
    if argument.name == "paired" and hasattr(options, "unpaired"):
        return "--unpaired"
    name = "metrics" if argument.name == "metric" else argument.name
    if not hasattr(options, name):
        return str(argument)
    value = argument.value if argument.has_value else ()
    words = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
    return " ".join(map(str, (flag_of(name), *words)))


#: What sacreBLEU calls what is here without being asked for.
_SACREBLEU = dict.fromkeys(
    ("--paired-bs", "--paired-ar", "-paired-bs", "-paired-ar"),
    "compare tests every pair without it; evalstats audit prints what sacreBLEU says",
)


def _check_no_second_value(
    parser: argparse.ArgumentParser, command: str, words: Sequence[str], stray: str
) -> None:
    """Say of a word that is no file, after the one value of an option, that it is one too many."""
    at = words.index(stray)
    if at < 2 or Path(stray).exists():
        return
    flag, value = words[at - 2 : at]
    single = {f: o for some in _options(command).values() for o in some for f in o.flags}
    option = single.get(flag)
    if option and option.value and not option.value.endswith("..."):
        parser.error(f"argument {flag} takes one value, got {value} {stray}")


class _Once(argparse.Action):
    """Store a value; a second one would silently replace the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "is given more than once")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser of whole option names, whose errors are one line without the usage before it."""

    def __init__(self, command: str) -> None:
        super().__init__(f"evalstats {command}".strip(), add_help=False, allow_abbrev=False)
        self.register("action", None, _Once)
        self.set_defaults(command=command)
        self.add_argument("-h", "--help", action="store_true")
        self.add_argument("--help-all", action="store_true")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(action, f"there is no {value!r}; {meant(value, known)}")

    def error(self, message: str) -> NoReturn:
        for flag, hint in _SACREBLEU.items():
            if message.startswith("unrecognized") and flag in message.split():
                message += f"; {hint}"
        self.exit(2, one_line(f"{self.prog}: error: {message}") + "\n")


def _settings(option: Option) -> dict[str, Any]:
    """Return what argparse is told of an option."""
    value = option.value
    if not value:
        return {"action": "store_true", "default": None, "dest": option.name}
    is_input = not option.flags[0].startswith("-")
    settings: dict[str, Any] = {} if is_input else {"dest": option.name}
    if value.endswith("..."):
        # What is given again adds to what was given before.
        settings |= {"nargs": "*" if is_input else "+", "action": "extend"}
    if option.again:
        settings["action"] = "append"
    if value.islower() and "|" in value:
        settings["choices"] = value.split("|")
    return {**settings, "metavar": value, "type": _TYPES.get(value, str)}


def _language_pair(text: str) -> str:
    """Return a pair of language codes as sacreBLEU writes them, or say what was expected."""
    if not re.fullmatch(r"[A-Za-z]{2,3}-[A-Za-z]{2,3}", text):
        raise argparse.ArgumentTypeError(f"expected SRC-TRG, for example en-de, got {text!r}")
    return text.lower()


def _number(text: str) -> float:
    """Return a number, or say what was expected."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None


def _prices(text: str) -> tuple[float, float]:
    """Return two prices, or say what was expected."""
    item, comma, trial = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"expected two prices, such as 10,1; got {text!r}")
    return _number(item), _number(trial)


def _share(text: str) -> float:
    """Return a share, which is no percentage."""
    if re.fullmatch(r"[\d.]+ ?%", text):
        share = f"{float(text.rstrip(' %')) / 100:.10g}"
        raise argparse.ArgumentTypeError(f"expected a share, got {text!r}: write {share}")
    return _number(text)


_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("POINTS", "NUMBER"), _number),
    **dict.fromkeys(("SHARE", "LEVEL"), _share),
    "N": int,
    "ITEM,TRIAL": _prices,
    "SRC-TRG": _language_pair,
}


def _overview() -> str:
    """Return the help of all commands."""
    rows = (_entry(name, command.about, 14) for name, command in COMMANDS.items())
    return (
        "usage: evalstats COMMAND ...\n\n"
        "Is this difference real? Scores with intervals, differences with p-values.\n\n"
        + "".join(f"{row}\n" for row in rows)
        + "\nevalstats COMMAND --help says how; evalstats --version prints the version.\n"
    )


def _help(name: str, everything: bool) -> str:
    """Return the help of a command: one screen, or all there is."""
    command = COMMANDS[name]
    lines = [f"usage: evalstats {name} {command.usage} [options]".replace("  ", " "), ""]
    lines += [f"  evalstats {name} {words}".rstrip() for words in command.examples]
    lines += ["", f"{command.about[0].upper()}{command.about[1:]}."]
    more = []
    for heading, options in _options(name).items():
        shown = [o for o in options if everything or not o.is_rare]
        more += [
            option.flags[0] if option.help else _METRICS for option in options if option.is_rare
        ]
        lines += ["", f"{heading}:", *(_entry(o.typed, o.help) for o in shown)]
    if more and not everything:
        lines += ["", fill(f"more, with --help-all: {', '.join(dict.fromkeys(more))}", _WIDTH)]
    return "\n".join([*lines, ""])


def _options(command: str) -> dict[str, list[Option]]:
    """Return the options of a command by heading; those for texts have the options of metrics."""
    found = options_of(command)
    if any("-i" in option.flags for option in found.get("input", [])):
        found["input"] += metric_options()
    return found


def _entry(typed: str, help: str, indent: int = _INDENT) -> str:
    """Return an option with its help beside it, or below where it is long."""
    typed = f"  {typed}"
    start = f"{typed:<{indent}}" if len(typed) < indent else f"{typed}\n{'':{indent}}"
    text = fill(help, _WIDTH - indent, break_on_hyphens=False, break_long_words=False)
    return start + text.replace("\n", f"\n{'':{indent}}")
