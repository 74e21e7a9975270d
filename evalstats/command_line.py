"""What can be typed: the commands of `evalstats` and their options, those of metrics among them."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from evalstats.analysis.plan import ADJUSTMENTS, ALTERNATIVES, METHODS, TESTS
from evalstats.auditing import N_BOOTSTRAP, N_RANDOMIZATION
from evalstats.errors import InputError
from evalstats.metrics import BLEU, CHRF, NAMED, TER, Metric
from evalstats.metrics.bleu import SMOOTH_METHODS
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

    compare = commands.add_parser(
        "compare", help="compare systems: differences, intervals, p-values"
    )
    _add_input(compare)
    compare.add_argument("--baseline", metavar="NAME", help="compare all others with this system")
    compare.add_argument("--test", choices=TESTS, default="ar",
                         help="approximate randomisation (default) or centred paired bootstrap")
    compare.add_argument("--alternative", choices=ALTERNATIVES, default="two-sided")
    compare.add_argument("--adjustment", choices=ADJUSTMENTS, default="holm",
                         help="of p-values for several comparisons (default: holm)")
    _add_resampling(compare)
    _add_metric_options(compare)

    estimate = commands.add_parser("estimate", help="score systems, with intervals")
    _add_input(estimate)
    _add_resampling(estimate)
    _add_metric_options(estimate)

    extract = commands.add_parser(
        "extract", help="keep the statistics of systems, to compare them without texts"
    )
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
    audit.add_argument(
        "--baseline", metavar="NAME",
        help="compare all others with this system (default: the first, as in sacreBLEU)",
    )
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
    parser.add_argument("--groups", metavar="FILE",
                        help="one label a line (a document): resample whole groups")
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
    group.add_argument("--method", choices=METHODS, default="expanded",
                       help="confidence interval (default: expanded percentile)")
    group.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL")
    _add_draws(group)


def _add_draws(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--resamples", type=int, default=9999, metavar="N")
    group.add_argument("--seed", type=int, default=12345, metavar="N")
# fmt: on


def _add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add sacreBLEU's metric options under sacreBLEU's names; None means not given."""
    group = parser.add_argument_group("metric options, named as sacreBLEU's")
    group.add_argument("-tok", "--tokenize", metavar="NAME")
    group.add_argument("-lc", "--lowercase", action="store_true", default=None)
    group.add_argument("-s", "--smooth-method", choices=SMOOTH_METHODS)
    group.add_argument("-sv", "--smooth-value", type=float, metavar="VALUE")
    group.add_argument("--max-ngram-order", type=int, metavar="N")
    group.add_argument("--effective-order", action="store_true", default=None)
    group.add_argument("--trg-lang", metavar="LANG")
    group.add_argument("-cc", "--chrf-char-order", type=int, metavar="N")
    group.add_argument("-cw", "--chrf-word-order", type=int, metavar="N")
    group.add_argument("--chrf-beta", type=float, metavar="BETA")
    for name in ("whitespace", "lowercase", "eps-smoothing"):
        group.add_argument(f"--chrf-{name}", action="store_true", default=None)
    for name in ("case-sensitive", "asian-support", "no-punct", "normalized"):
        group.add_argument(f"--ter-{name}", action="store_true", default=None)


#: Which metric each option belongs to, and under which name it takes it.
METRIC_OPTIONS: dict[type[Metric], dict[str, str]] = {
    BLEU: {
        name: name
        for name in (
            "tokenize",
            "lowercase",
            "smooth_method",
            "smooth_value",
            "max_ngram_order",
            "effective_order",
            "trg_lang",
        )
    },
    CHRF: {
        f"chrf_{name}": name
        for name in (
            "char_order",
            "word_order",
            "beta",
            "whitespace",
            "lowercase",
            "eps_smoothing",
        )
    },
    TER: {
        f"ter_{name}": name
        for name in ("case_sensitive", "asian_support", "no_punct", "normalized")
    },
}


def metrics_of(options: argparse.Namespace) -> list[Metric]:
    """Make the metrics, each with its own options; an option that none takes is an error."""
    names = options.metrics or ["bleu"]
    if options.language_pair and options.trg_lang is None and "bleu" in names:
        options.trg_lang = options.language_pair.partition("-")[2]
    metrics: list[Metric] = []
    kinds = []
    for name in names:
        default = NAMED[name]()
        kind = type(default)
        kinds.append(kind)
        given = {
            parameter: getattr(options, option)
            for option, parameter in METRIC_OPTIONS.get(kind, {}).items()
            if getattr(options, option) is not None
        }
        if name == "chrf++":
            given.setdefault("word_order", 2)
        metrics.append(kind(**given))
    for kind, taken in METRIC_OPTIONS.items():
        for option in taken:
            if kind not in kinds and getattr(options, option) is not None:
                raise InputError(
                    f"--{option.replace('_', '-')} has no effect without -m {kind.__name__.lower()}"
                )
    return metrics
