"""What can be typed: the commands of `evalstats` and their options."""

from __future__ import annotations

import argparse
import re
from typing import Any, NamedTuple, NoReturn

from evalstats.analysis.aggregates import AGGREGATES
from evalstats.analysis.options import (
    ADJUSTMENTS,
    ALTERNATIVES,
    METHODS,
    N_RESAMPLES,
    SCORE_METHODS,
    SEED,
    TESTS,
)
from evalstats.analysis.ranking import COMPOSITES, FAMILY_WISE
from evalstats.auditing import N_BOOTSTRAP, N_RANDOMIZATION
from evalstats.cli.metrics import add_metric_options, listed
from evalstats.cli.output import FORMATS, to_stdout
from evalstats.logs.joining import MISSING
from evalstats.metrics import NAMED
from evalstats.results.contrasts import CONTRASTS
from evalstats.results.signatures import version

_WIDTH = 100
Option = tuple[tuple[str, ...], dict[str, Any]]


def one_line(message: str) -> str:
    """Return a message that a terminal shows as one line, whatever was typed."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)


class _Once(argparse.Action):
    """Store a value; a second one would silently replace the first."""

    _is_given = False

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if self._is_given:
            raise argparse.ArgumentError(self, "is given more than once")
        self._is_given = True
        setattr(namespace, self.dest, values)


class _Version(argparse.Action):
    """Print the version, which takes time to find out, when somebody asks for it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        to_stdout(f"evalstats {version()}\n")
        parser.exit()


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help with an option a line where that can be: ``-m, --metrics METRIC...``."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=40, width=_WIDTH)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        values = self._format_args(action, str(action.metavar or "")) if action.nargs != 0 else ""
        return f"{', '.join(action.option_strings)} {values}".rstrip()

    def _format_args(self, action: argparse.Action, default: str) -> str:
        if action.metavar is None and action.choices:
            return "|".join(action.choices)
        return (
            f"{action.metavar}..." if action.nargs == "+" else super()._format_args(action, default)
        )


class _Parser(argparse.ArgumentParser):
    """A parser of whole option names, whose errors are one line without the usage before it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Help, **options)
        self.register("action", None, _Once)

    def print_help(self, file: Any = None) -> None:
        to_stdout(self.format_help())

    def error(self, message: str) -> NoReturn:
        self.exit(2, one_line(f"{self.prog}: error: {message}") + "\n")


def _language_pair(text: str) -> str:
    """Return a pair of language codes as sacreBLEU writes them, or say what was expected."""
    if not re.fullmatch(r"[A-Za-z]{2,3}-[A-Za-z]{2,3}", text):
        raise argparse.ArgumentTypeError(f"expected SRC-TRG, for example en-de, got {text!r}")
    return text.lower()


def _option(*flags: str, **settings: Any) -> Option:
    return flags, settings


def _several(*flags: str, **settings: Any) -> Option:
    """An option of one value or more, which adds to what was given before."""
    return flags, {"nargs": "+", "action": "extend", **settings}


#: Where systems come from: logs and tables of scores, files of statistics, or texts.
_LOGS: list[Option] = [
    _option(
        "logs",
        nargs="*",
        action="extend",
        metavar="LOG",
        help="a log, a folder of logs, a table of scores, or FILE.npz",
    ),
    _several("--task", metavar="PATTERN", help="tasks of logs, such as 'mmlu*'"),
    _several("--filter", metavar="PATTERN", help="filters of lm-evaluation-harness"),
    _several("--systems", metavar="PATTERN", help="choose systems, and their order"),
    _option("--missing", choices=MISSING, help="where not all have all (default: error)"),
    _option(
        "--epochs", choices=("mean", "runs"), help="several answers to an item (default: mean)"
    ),
    _several("--higher-is-better", metavar="METRIC", help="likewise"),
]
_TEXTS: list[Option] = [
    _several("-i", "--input", metavar="FILE", help="outputs, a file a system, a segment a line"),
    _several("-r", "--references", metavar="FILE", help="a file a reference; - is standard input"),
    _option(
        "-t", "--test-set", metavar="NAME", help="sacreBLEU's test set in place of -r; with -l"
    ),
    _option(
        "-l",
        "--language-pair",
        type=_language_pair,
        metavar="SRC-TRG",
        help="for example en-de; the target chooses the tokeniser",
    ),
]
_CHOICE: list[Option] = [
    _several(
        "-m",
        "--metrics",
        "--metric",
        metavar="METRIC",
        help=f"{', '.join(NAMED)} of texts (default: bleu); which of logs",
    ),
    _several("--names", metavar="NAME", help="names of the systems, one a file"),
]
_SCORES: list[Option] = [
    _several("--scores", metavar="FILE", help="scores of the systems and lines of -i, as of COMET"),
]
_LABELS: list[Option] = [
    _option("--groups", metavar="NAME|FILE",
            help="of documents: a label of the items, or a file of a label a line"),
]  # fmt: skip
_STRATA: list[Option] = [
    _option("--strata", metavar="NAME|FILE", help="likewise a domain: drawn within each"),
    _option("--aggregate", choices=AGGREGATES, help="over strata or tasks: all together, or means"),
]
_BASELINE: Option = _option("--baseline", metavar="NAME", help="compare all with it; name or path")
_ALTERNATIVE: Option = _option("--alternative", choices=ALTERNATIVES, default="two-sided",
                               help="of the test (default: two-sided)")  # fmt: skip
_CONFIDENCE: Option = _option("--confidence-level", type=float, default=0.95, metavar="LEVEL",
                              help="default: 0.95; verdicts are at 1 - LEVEL")  # fmt: skip
_LEVEL: Option = _option("--significance-level", type=float, default=0.05, metavar="LEVEL",
                         help="how often one test may be wrong (default: 0.05)")  # fmt: skip
_DRAWS: list[Option] = [
    _option("--resamples", type=int, default=N_RESAMPLES, metavar="N",
            help=f"default: {N_RESAMPLES:,}"),
    _option("--seed", type=int, default=SEED, metavar="N", help=f"default: {SEED}"),
]  # fmt: skip
_LIMITS: list[Option] = [
    _option("--margin", type=float, metavar="POINTS", help="the difference, or loss, that matters"),
    _option("--recovery", type=float, metavar="SHARE", help="of the baseline's score, to be kept"),
]
_TESTS: list[Option] = [
    _BASELINE,
    _option("--test", choices=TESTS, default=TESTS[0], help="default: bootstrap"),
    _option("--method", choices=METHODS, default=METHODS[0], help="default: bootstrap"),
    _ALTERNATIVE,
    _option("--adjustment", "--adjust", choices=ADJUSTMENTS, default="max-t",
            help="of p-values (default: step-down max-T)"),
    *_LIMITS,
    _option("--contrast", choices=CONTRASTS, default=CONTRASTS[0], help="default: difference"),
    _CONFIDENCE,
    *_DRAWS,
]  # fmt: skip
_METHOD: Option = _option("--method", choices=SCORE_METHODS, default=SCORE_METHODS[0],
                          help="of intervals (default: bootstrap)")  # fmt: skip
_SHOWN: list[Option] = [
    _option("--verbose", action="store_true", help="all notes and signatures"),
    _option("--describe", action="store_true", help="print the sentence for a method section"),
]


def _output(*formats: str) -> list[Option]:
    return [
        _option("-o", "--output", metavar="FILE",
                help="in the form of its suffix: txt md tex html csv json png pdf svg"),
        _option("-f", "--format", choices=(*FORMATS, *formats), help="default: as -o, or text"),
    ]  # fmt: skip


_ANY = _LOGS + _TEXTS + _CHOICE


class Command(NamedTuple):
    """What a command is for, how it may be typed, and its options by heading."""

    about: str
    usage: str
    examples: tuple[str, str]
    options: dict[str, list[Option]]
    of_metrics: bool = True


_INPUT_USAGE = "LOG... | FILE.npz... | -i OUT... -r REF..."
COMMANDS = {
    "compare": Command(
        "which systems differ, by how much, and how sure that is",
        _INPUT_USAGE,
        ("-r ref.txt -i old.txt new.txt -m bleu chrf --baseline old", "logs/ --task 'mmlu*'"),
        {"input": _ANY + _SCORES, "units": _LABELS + _STRATA, "test": _TESTS,
         "output": [*_output(), *_SHOWN,
                    _option("--matrix", action="store_true", help="all pairs of many systems")]},
    ),
    "estimate": Command(
        "score systems, with intervals",
        _INPUT_USAGE,
        ("-r ref.txt -i system.txt -m chrf++", "scores.csv --groups document"),
        {"input": _ANY + _SCORES, "units": _LABELS + _STRATA,
         "interval": [_METHOD, _CONFIDENCE, *_DRAWS], "output": _output() + _SHOWN},
    ),
    "rank": Command(
        "ranks with their intervals, tiers of ties, a composite score",
        _INPUT_USAGE,
        ("-r ref.txt -i systems/*.txt -m bleu chrf", "scores.tsv --composite autorank"),
        {"input": _ANY + _SCORES, "units": _LABELS + _STRATA,
         "ranking": [
             _option("--composite", choices=COMPOSITES, help="one ranking of all metrics"),
             _option("--adjustment", "--adjust", choices=FAMILY_WISE,
                     help="of p-values of all pairs (default: step-down max-T)"),
             _METHOD, _CONFIDENCE, *_DRAWS],
         "output": _output() + _SHOWN[:1]},
    ),
    "power": Command(
        "from a pilot: which differences are found, how many segments they need",
        _INPUT_USAGE,
        ("-r ref.txt -i old.txt new.txt --difference 1", "pilot.csv --segments 2000"),
        {"input": _ANY, "units": _LABELS + _STRATA,
         "plan": [
             _BASELINE,
             _option("--difference", type=float, metavar="POINTS", help="a true difference"),
             _option("--segments", type=int, metavar="N", help="of the plan, or groups "
                     "(default: the pilot's)"),
             _option("--power", type=float, default=0.8, metavar="P", help="target (default: 0.8)"),
             _LEVEL, _ALTERNATIVE, _CONFIDENCE],
         "output": _output() + _SHOWN[:1]},
    ),
    "gate": Command(
        "may a new model take another's place? exit code 0 passed, 1 failed, 3 undecided",
        "NEW --baseline BASE --margin POINTS | --recovery SHARE",
        ("logs/new --baseline logs/old --recovery 0.99",
         "-i new.txt --baseline old.txt -r ref.txt --margin 1"),
        {"input": _ANY, "units": _LABELS,
         "limit": [
             _option("--baseline", metavar="BASE", required=True,
                     help="what is in use: a log, a file of outputs, or a system's name"),
             *_LIMITS, _LEVEL,
             _option("--undecided", choices=("pass", "fail"), help="exit with 0 or 1, not with 3"),
             *_DRAWS],
         "output": _output("junit") + _SHOWN[:1]},
    ),
    "show": Command(
        "what is in a log, a table of scores or a file of statistics",
        "LOG... | FILE.npz...",
        ("logs/", "scores.csv --metric acc"),
        {"input": [*_LOGS, *_CHOICE], "output": _output()},
        False,
    ),
    "extract": Command(
        "keep statistics, to compare without texts",
        "-i OUT... -r REF... -o FILE.npz",
        ("-r ref.txt -i system.txt -o system.npz", "-r ref.txt -i a.txt b.txt -m chrf -o chrf.npz"),
        {"input": _TEXTS + _CHOICE,
         "output": [
             _option("-o", "--output", metavar="FILE", required=True, help="ends in .npz"),
             _option("--ids", metavar="FILE", help="one name of a segment a line")]},
    ),
    "audit": Command(
        "what sacreBLEU and evaluatio print, beside the calibrated p-value",
        _INPUT_USAGE,
        ("-r ref.txt -i old.txt new.txt -m bleu chrf", "old.npz new.npz"),
        {"input": _ANY,
         "tests": [
             _BASELINE,
             _option("--paired-bs-n", type=int, default=N_BOOTSTRAP, metavar="N",
                     help="sacreBLEU's resamples (default: its own)"),
             _option("--paired-ar-n", type=int, default=N_RANDOMIZATION, metavar="N",
                     help="sacreBLEU's trials (default: its own)"),
             *_DRAWS],
         "output": _output()},
    ),
    "demo": Command(
        "compare four systems on the bundled sample", "", ("", "-o demo.html"),
        {"output": _output() + _SHOWN}, False,
    ),
}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Return the parser; what it parses has the name of the command as `command`."""
    whole = _Parser(
        prog="evalstats",
        description="Is this difference real? Scores with intervals, differences with p-values.",
    )
    whole.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        _add(commands, name, command)
    return whole


def _add(commands: Any, name: str, command: Command) -> None:
    examples = "\n".join(f"  evalstats {name} {words}".rstrip() for words in command.examples)
    made = commands.add_parser(
        name,
        help=command.about,
        usage=f"evalstats {name} {command.usage} [options]".replace("  ", " "),
        description=f"{examples}\n\n{command.about[0].upper()}{command.about[1:]}.",
    )
    for heading, options in command.options.items():
        group = made.add_argument_group(heading)
        for flags, settings in options:
            group.add_argument(*flags, **settings)
    if command.of_metrics:
        made.epilog = _wrapped(listed())
        add_metric_options(made)


def _wrapped(text: str) -> str:
    from textwrap import fill

    return fill(text, _WIDTH, break_on_hyphens=False)
