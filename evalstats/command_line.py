"""What can be typed: the commands of `evalstats` and their options, those of metrics among them."""

from __future__ import annotations

import argparse
import re
from dataclasses import Field, fields
from typing import Any, NoReturn, get_args, get_type_hints

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
from evalstats.destination import to_stdout
from evalstats.errors import InputError
from evalstats.logs.joining import MISSING
from evalstats.metrics import BLEU, BUILT_IN, NAMED, Metric, written
from evalstats.metrics.smoothing import NAMED as NAMED_SMOOTHING
from evalstats.results.contrasts import CONTRASTS
from evalstats.results.signatures import version

FORMATS = ("text", "json", "markdown", "latex", "html", "csv")


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


class _Parser(argparse.ArgumentParser):
    """A parser of whole option names, whose errors are one line without the usage before it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
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


# fmt: off
def parser() -> argparse.ArgumentParser:
    """Return the parser; what it parses has the name of the command as `command`."""
    whole = _Parser(
        prog="evalstats",
        description="Is this difference real? Scores with intervals, differences with p-values.",
    )
    whole.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND")

    compare = commands.add_parser("compare", help="systems' differences, intervals, p-values")
    _add_inputs(compare)
    compare.add_argument("--baseline", metavar="NAME", help="compare all others with this system")
    compare.add_argument("--test", choices=TESTS, default=TESTS[0],
                         help="bootstrap (default; of 0/1 scores McNemar's), t, or approximate "
                              "randomisation")
    compare.add_argument("--alternative", choices=ALTERNATIVES, default="two-sided")
    compare.add_argument("--adjustment", "--adjust", choices=ADJUSTMENTS, default="max-t",
                         help="of p-values for several comparisons (default: step-down max-T)")
    compare.add_argument("--margin", type=float, metavar="POINTS",
                         help="a difference that matters: say who is equivalent, who is not worse")
    compare.add_argument("--recovery", type=float, metavar="SHARE",
                         help="of the baseline's score: say who is shown to keep it")
    compare.add_argument("--contrast", choices=CONTRASTS, default=CONTRASTS[0],
                         help="what is shown of two scores: their difference (default), system / "
                              "baseline, or its logarithm")
    _add_resampling(compare, METHODS)
    _add_metric_options(compare)

    rank = commands.add_parser("rank", help="intervals of ranks, tiers of ties, a composite score")
    _add_inputs(rank)
    rank.add_argument("--composite", choices=COMPOSITES,
                      help="one ranking of all metrics: WMT25's AutoRank, or the mean rank")
    rank.add_argument("--adjustment", "--adjust", choices=FAMILY_WISE,
                      help="of p-values for all pairs (default: step-down max-T)")
    _add_resampling(rank)
    _add_metric_options(rank)

    power = commands.add_parser("power", help="from a pilot: segments needed, what can be found")
    _add_inputs(power)
    power.add_argument("--baseline", metavar="NAME", help="only pairs with this system")
    power.add_argument("--difference", type=float, metavar="POINTS",
                       help="size of a true difference: its power, and the segments it needs")
    power.add_argument("--segments", type=int, metavar="N",
                       help="of the planned test set, or groups (default: the pilot's)")
    power.add_argument("--power", type=float, default=0.8, help="target (default: 0.8)")
    power.add_argument("--significance-level", type=float, default=0.05, metavar="LEVEL",
                       help="of a single test (default: 0.05)")
    power.add_argument("--alternative", choices=ALTERNATIVES, default="two-sided")
    power.add_argument("--groups", metavar="FILE",
                       help="one label a line (a document), or the name of a label: count them")
    _add_strata(power)
    power.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL",
                       help="of what the pilot leaves uncertain (default: 0.95)")
    _add_metric_options(power)

    gate = commands.add_parser(
        "gate",
        help="may a new model take the place of another? exit code 0 passed, 1 failed, 3 undecided",
    )
    gate.add_argument("base", metavar="BASE", help="run of the model in use: a folder or a file")
    gate.add_argument("new", metavar="NEW", help="run of the model that may take its place")
    limit = gate.add_mutually_exclusive_group(required=True)
    limit.add_argument("--margin", type=float, metavar="POINTS", help="the loss that is too much")
    limit.add_argument("--recovery", type=float, metavar="SHARE",
                       help="of the baseline's score that has to be kept: 0.99")
    gate.add_argument("--significance-level", type=float, default=0.05, metavar="LEVEL",
                      help="how often a gate may be wrong, either way (default: 0.05)")
    _add_runs(gate)
    _add_missing(gate)
    gate.add_argument("--groups", metavar="LABEL", help="what says which items belong together")
    _add_output(gate, (*FORMATS, "junit"))
    _add_draws(gate)

    estimate = commands.add_parser("estimate", help="score systems, with intervals")
    _add_inputs(estimate)
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

    show = commands.add_parser("show", help="what is in a log or a table of scores")
    _add_runs(show, "runs")
    show.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    show.set_defaults(format="text", missing=None)

    demo = commands.add_parser("demo", help="compare four systems on the bundled sample")
    _add_output(demo)
    return whole


def _add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("statistics", nargs="*", action="extend", metavar="FILE.npz",
                        help="what `evalstats extract` wrote, in place of texts")
    _add_texts(parser)
    _add_output(parser)


def _add_runs(parser: argparse.ArgumentParser, name: str = "") -> None:
    """Add what says which runs, and which part of them."""
    group = parser.add_argument_group("input: logs of evaluation harnesses, tables of scores")
    if name:
        group.add_argument(name, nargs="*", action="extend", metavar="RUN",
                           help="a folder or a file, CSV and TSV among them; or FILE.npz, what "
                                "`evalstats extract` wrote")
    for part, example in (("task", "'mmlu*'"), ("metric", "acc, or acc,none with its filter"),
                          ("filter", "strict-match")):
        group.add_argument(f"--{part}", action="append", metavar="PATTERN",
                           help=f"which {part}, for example {example}; may be repeated")


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add runs, statistics and texts, with scores from elsewhere beside."""
    _add_runs(parser, "statistics")
    _add_missing(parser)
    _add_texts(parser)
    parser.add_argument("--scores", nargs="+", action="extend", metavar="FILE",
                        help="scores of the texts' systems and lines from elsewhere: one table")
    _add_output(parser)


def _add_missing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--missing", choices=MISSING,
                        help="items or scores that not all runs have: refuse them (default), "
                             "leave them out, or take means of the scores that there are")


def _add_texts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input: text files, UTF-8, one segment a line")
    several: dict[str, Any] = {"nargs": "+", "action": "extend"}
    group.add_argument("-i", "--input", **several, metavar="FILE",
                       help="outputs, one file a system, named after its file; - is stdin")
    group.add_argument("--names", **several, metavar="NAME", help="names of the systems")
    group.add_argument("-r", "--references", **several, metavar="FILE",
                       help="references, one file a reference; - is stdin")
    group.add_argument("-t", "--test-set", metavar="NAME", help="sacreBLEU's test set, with -l")
    group.add_argument("-l", "--language-pair", type=_language_pair, metavar="SRC-TRG",
                       help="for example en-de; TRG chooses the tokeniser")
    group.add_argument("-m", "--metrics", **several, type=written, choices=list(NAMED),
                       metavar="METRIC", help=f"{', '.join(NAMED)} (default: bleu)")


def _add_output(parser: argparse.ArgumentParser, formats: tuple[str, ...] = FORMATS) -> None:
    parser.add_argument("-f", "--format", choices=formats, default="text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")


def _add_resampling(
    parser: argparse.ArgumentParser, methods: tuple[str, ...] = SCORE_METHODS
) -> None:
    group = parser.add_argument_group("resampling")
    group.add_argument("--groups", metavar="FILE",
                       help="one label a line (a document): resample whole groups; of runs the "
                            "name of a label, such as doc.passage_id")
    _add_strata(group)
    group.add_argument("--method", choices=methods, default=methods[0],
                       help="confidence interval (default: bootstrap; of 0/1 scores Wilson's, and "
                            "Tango's of differences)")
    group.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL",
                       help="of intervals; verdicts are at the level 1 - LEVEL (default: 0.95)")
    _add_draws(group)


def _add_strata(group: argparse._ActionsContainer) -> None:
    group.add_argument("--strata", metavar="FILE",
                       help="one label a line (a domain, a task): resample within strata")
    group.add_argument("--aggregate", choices=AGGREGATES,
                       help="score all segments together (default), or average over strata")


def _add_draws(group: argparse._ActionsContainer) -> None:
    group.add_argument("--resamples", type=int, default=N_RESAMPLES, metavar="N",
                       help=f"how many are drawn (default: {N_RESAMPLES})")
    group.add_argument("--seed", type=int, default=SEED, metavar="N",
                       help=f"of what is drawn (default: {SEED})")
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
METRIC_OPTIONS = {kind: _options_of(kind) for kind in BUILT_IN if kind.reads_text}


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
    """Make the metrics, each with its own options; one that would have no effect is an error."""
    names = options.metrics or ["bleu"]
    given = _given(options, {NAMED[name].func for name in names})
    if BLEU in given:
        _add_language(given[BLEU], options.language_pair)
        _check_smoothing(given[BLEU])
    metrics: list[Metric] = []
    for name in names:
        make = NAMED[name]
        for field, value in make.keywords.items():
            if given[make.func].get(field, value) != value:
                flag = f"--{make.func.__name__.lower()}-{field.replace('_', '-')}"
                raise InputError(
                    f"{flag} {given[make.func][field]} contradicts -m {name}, which has {value}"
                )
        metric = make(**given[make.func])
        if metric in metrics:
            raise InputError(f"-m must name different metrics, got {' '.join(names)}")
        metrics.append(metric)
    return metrics


def _given(options: argparse.Namespace, kinds: set[Any]) -> dict[Any, dict[str, Any]]:
    """Return the options that were given of each of these kinds of metrics; there are no others."""
    given: dict[Any, dict[str, Any]] = {kind: {} for kind in kinds}
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
    return given


def _add_language(bleu: dict[str, Any], language_pair: str | None) -> None:
    if language_pair is None:
        return
    target = language_pair.partition("-")[2]
    if bleu.setdefault("trg_lang", target) != target:
        raise InputError(f"--trg-lang {bleu['trg_lang']} contradicts -l {language_pair}")


def _check_smoothing(bleu: dict[str, Any]) -> None:
    method = bleu.get("smooth_method", BLEU.smooth_method)
    if "smooth_value" in bleu and NAMED_SMOOTHING[method].value is None:
        raise InputError(
            f"--smooth-value has no effect with --smooth-method {method}; give floor or add-k"
        )
