"""What can be typed: the commands of `evalstats` and their options, those of metrics among them."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from typing import Any, NoReturn, get_args, get_type_hints

from evalstats.analysis.plan import ADJUSTMENTS, ALTERNATIVES, METHODS, MID_P, TESTS
from evalstats.analysis.power import N_RESAMPLES as N_DRAWN
from evalstats.auditing import N_BOOTSTRAP, N_RANDOMIZATION
from evalstats.errors import InputError
from evalstats.metrics import BLEU, BUILT_IN, NAMED, Metric
from evalstats.results.signatures import version

FORMATS = ("text", "json", "markdown", "latex", "html")


class _Parser(argparse.ArgumentParser):
    """A parser of whole option names, whose errors are one line without the usage before it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


# fmt: off
def parser() -> argparse.ArgumentParser:
    """Return the parser; what it parses has the name of the command as `command`."""
    whole = _Parser(
        prog="evalstats",
        description="Is this difference real? Scores with intervals, differences with p-values.",
    )
    whole.add_argument("--version", action="version", version=f"evalstats {version()}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")

    compare = commands.add_parser("compare", help="systems' differences, intervals, p-values")
    _add_input(compare)
    compare.add_argument("--baseline", metavar="NAME", help="compare all others with this system")
    compare.add_argument("--test", choices=(*TESTS, MID_P), default="studentized",
                         help="studentised (default) or plain approximate randomisation, centred "
                              "paired bootstrap, McNemar's mid-p (of 0/1 scores)")
    compare.add_argument("--significance-level", type=float, default=0.05, metavar="LEVEL",
                         help="of verdicts (default: 0.05)")
    compare.add_argument("--alternative", choices=ALTERNATIVES, default="two-sided")
    compare.add_argument("--adjustment", choices=ADJUSTMENTS, default="holm",
                         help="of p-values for several comparisons (default: holm)")
    _add_resampling(compare)
    _add_metric_options(compare)

    power = commands.add_parser("power", help="from a pilot: segments needed, what can be found")
    _add_input(power)
    power.add_argument("--baseline", metavar="NAME", help="only pairs with this system")
    power.add_argument("--difference", type=float, metavar="POINTS",
                       help="size of a true difference: its power, and the segments it needs")
    power.add_argument("--segments", type=int, metavar="N",
                       help="of the planned test set, or groups (default: the pilot's)")
    power.add_argument("--power", type=float, default=0.8, help="target (default: 0.8)")
    power.add_argument("--significance-level", type=float, default=0.05, metavar="LEVEL",
                       help="of a single test (default: 0.05)")
    power.add_argument("--alternative", choices=ALTERNATIVES, default="two-sided")
    power.add_argument("--groups", metavar="FILE", help="one label a line (a document): count them")
    power.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL",
                       help="of what the pilot leaves uncertain (default: 0.95)")
    _add_draws(power, N_DRAWN)
    _add_metric_options(power)

    estimate = commands.add_parser("estimate", help="score systems, with intervals")
    _add_input(estimate)
    _add_resampling(estimate)
    _add_metric_options(estimate)

    extract = commands.add_parser("extract", help="keep statistics, to compare without texts")
    _add_texts(extract)
    extract.add_argument("--ids", metavar="FILE", help="one name of a segment a line")
    extract.add_argument("-o", "--output", metavar="FILE", required=True,
                         help="write there; ends in .npz")
    _add_metric_options(extract)

    audit = commands.add_parser(
        "audit",
        help="what sacreBLEU and evaluatio print for these texts, beside the calibrated p-value",
    )
    _add_input(audit)
    audit.add_argument("--baseline", metavar="NAME",
                       help="compare all others with this system (default: the first)")
    audit.add_argument("--paired-bs-n", type=int, default=N_BOOTSTRAP, metavar="N",
                       help="sacreBLEU's resamples (default: its own)")
    audit.add_argument("--paired-ar-n", type=int, default=N_RANDOMIZATION, metavar="N",
                       help="sacreBLEU's trials (default: its own)")
    _add_draws(audit.add_argument_group("the calibrated test"))
    _add_metric_options(audit)

    demo = commands.add_parser("demo", help="compare four systems on the bundled sample")
    _add_output(demo)
    return whole


def _add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("statistics", nargs="*", metavar="FILE.npz",
                        help="what `evalstats extract` wrote, in place of texts")
    _add_texts(parser)
    _add_output(parser)


def _add_texts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input: text files, UTF-8, one segment a line")
    group.add_argument("-i", "--input", nargs="+", metavar="FILE",
                       help="outputs, one file a system, named after its file")
    group.add_argument("--names", nargs="+", metavar="NAME", help="names of the systems")
    group.add_argument("-r", "--references", nargs="+", metavar="FILE",
                       help="references, one file a reference")
    group.add_argument("-t", "--test-set", metavar="NAME", help="sacreBLEU's test set, with -l")
    group.add_argument("-l", "--language-pair", metavar="SRC-TRG", help="for example en-de")
    group.add_argument("-m", "--metrics", nargs="+", choices=list(NAMED), metavar="METRIC",
                       help=f"{', '.join(NAMED)} (default: bleu)")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of stdout")


def _add_resampling(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("resampling")
    group.add_argument("--groups", metavar="FILE",
                       help="one label a line (a document): resample whole groups")
    group.add_argument("--method", choices=METHODS, default="auto",
                       help="confidence interval (default: t of differences, expanded percentile "
                            "of scores, Wilson and Tango of 0/1 scores)")
    group.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL")
    _add_draws(group)


def _add_draws(group: argparse._ActionsContainer, resamples: int = 9999) -> None:
    group.add_argument("--resamples", type=int, default=resamples, metavar="N")
    group.add_argument("--seed", type=int, default=12345, metavar="N")
# fmt: on


#: sacreBLEU's short forms of options.
_SHORT = {
    "tokenize": "-tok",
    "lowercase": "-lc",
    "smooth_method": "-s",
    "smooth_value": "-sv",
    "chrf_char_order": "-cc",
    "chrf_word_order": "-cw",
}


def _options_of(kind: type[Any]) -> dict[str, Field[Any]]:
    """Return the fields of a metric under the names of their options; BLEU's have no prefix."""
    prefix = "" if kind is BLEU else f"{kind.__name__.lower()}_"
    return {prefix + field.name: field for field in fields(kind)}


#: The metrics that read text, and the options of each.
METRIC_OPTIONS = {kind: _options_of(kind) for kind in BUILT_IN if kind.uses_references}


def _add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add the fields of all metrics, under sacreBLEU's names; None means not given."""
    group = parser.add_argument_group("metric options, named as sacreBLEU's")
    for kind, options in METRIC_OPTIONS.items():
        types = get_type_hints(kind)
        for option, field in options.items():
            flags = [_SHORT[option]] if option in _SHORT else []
            flags.append("--" + option.replace("_", "-"))
            # Of "float | None", the first is what a value is read as.
            of_value = (*get_args(types[field.name]), types[field.name])[0]
            if of_value is bool:
                group.add_argument(*flags, action="store_true", default=None)
                continue
            choices = field.metadata.get("choices")
            metavar = None if choices else "N" if of_value is int else field.name.split("_")[-1]
            group.add_argument(
                *flags, type=of_value, choices=choices, metavar=metavar and metavar.upper()
            )


def metrics_of(options: argparse.Namespace) -> list[Metric]:
    """Make the metrics, each with its own options; an option that none takes is an error."""
    names = options.metrics or ["bleu"]
    if options.language_pair and options.trg_lang is None and "bleu" in names:
        options.trg_lang = options.language_pair.partition("-")[2]
    makers = [NAMED[name] for name in names]
    given: dict[object, dict[str, Any]] = {make.func: {} for make in makers}
    for kind, taken in METRIC_OPTIONS.items():
        for option, field in taken.items():
            value = getattr(options, option)
            if value is None:
                continue
            if kind not in given:
                raise InputError(
                    f"--{option.replace('_', '-')} has no effect without -m {kind.__name__.lower()}"
                )
            given[kind][field.name] = value
    return [make(**given[make.func]) for make in makers]
