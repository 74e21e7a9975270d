"""The command line: `evalstats compare`, `estimate`, `extract`, `audit` and `demo`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, NoReturn, TextIO, get_args, get_type_hints

from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.plan import ADJUSTMENTS, ALTERNATIVES, METHODS, TESTS
from evalstats.auditing import N_BOOTSTRAP, N_RANDOMIZATION, Audit, audit
from evalstats.checks import integer
from evalstats.errors import InputError
from evalstats.metrics import BLEU, BUILT_IN, NAMED, Metric
from evalstats.resampling.totals import MOST_RESAMPLES
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.results.signatures import version
from evalstats.statistics.extraction import extract
from evalstats.statistics.files import read_parallel, read_segments, system_names
from evalstats.statistics.sacrebleu_sets import test_set_files
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import References, from_streams

_FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "json": lambda result: result.to_json(),
    "markdown": lambda result: result.to_markdown(),
    "latex": lambda result: result.to_latex(),
    "html": lambda result: result.to_html(),
}
#: Work shorter than this shows no progress.
_QUIET_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 2 for bad input."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        result: Estimate | Estimates | Comparison | Audit | None = options.run(options)
        if result is not None:
            _write(_FORMATS[options.format](result), options.output)
    except InputError as error:
        message = str(error).replace("\n", "\\n")
        print(f"evalstats {options.command}: error: {message}", file=sys.stderr)
        return 2
    return 0


def run() -> None:
    """Run the command line as a program."""
    # The tables hold arrows; a terminal that says it cannot show them usually can.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A file name need not be text; an error message about it must not fail for that.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage in front of it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="evalstats",
        allow_abbrev=False,
        description="Is this difference real? Scores with intervals, differences with p-values.",
    )
    parser.add_argument("--version", action="version", version=f"evalstats {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    compare = commands.add_parser(
        "compare", help="compare systems: differences, intervals, p-values", allow_abbrev=False
    )
    _add_input(compare)
    compare.add_argument("--baseline", metavar="NAME", help="compare all others with this system")
    compare.add_argument(
        "--test", choices=TESTS, default="ar",
        help="approximate randomisation (default) or centred paired bootstrap",
    )  # fmt: skip
    compare.add_argument("--alternative", choices=ALTERNATIVES, default="two-sided")
    compare.add_argument(
        "--adjustment", choices=ADJUSTMENTS, default="holm",
        help="of p-values for several comparisons (default: holm)",
    )  # fmt: skip
    _add_resampling(compare)
    _add_metric_options(compare)
    compare.set_defaults(run=_compare)

    estimate = commands.add_parser(
        "estimate", help="score systems, with intervals", allow_abbrev=False
    )
    _add_input(estimate)
    _add_resampling(estimate)
    _add_metric_options(estimate)
    estimate.set_defaults(run=_estimate)

    extract = commands.add_parser(
        "extract",
        help="keep the statistics of systems, to compare them without texts",
        allow_abbrev=False,
    )
    _add_texts(extract)
    extract.add_argument("--ids", metavar="FILE", help="one name of a segment a line")
    extract.add_argument("-o", "--output", metavar="FILE", required=True,
                         help="write there; ends in .npz")  # fmt: skip
    _add_metric_options(extract)
    extract.set_defaults(run=_extract)

    audit = commands.add_parser(
        "audit",
        help="what sacreBLEU and evaluatio print for these texts, beside the calibrated p-value",
        allow_abbrev=False,
    )
    _add_input(audit)
    audit.add_argument(
        "--baseline", metavar="NAME",
        help="compare all others with this system (default: the first, as in sacreBLEU)",
    )  # fmt: skip
    audit.add_argument("--paired-bs-n", type=int, default=N_BOOTSTRAP, metavar="N",
                       help="sacreBLEU's resamples (default: its own)")  # fmt: skip
    audit.add_argument("--paired-ar-n", type=int, default=N_RANDOMIZATION, metavar="N",
                       help="sacreBLEU's trials (default: its own)")  # fmt: skip
    group = audit.add_argument_group("the calibrated test")
    _add_draws(group)
    _add_metric_options(audit)
    audit.set_defaults(run=_audit)

    demo = commands.add_parser("demo", help="compare four systems on the bundled sample")
    _add_output(demo)
    demo.set_defaults(run=_demo)
    return parser


def _add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("statistics", nargs="*", metavar="FILE.npz",
                        help="what `evalstats extract` wrote, in place of texts")  # fmt: skip
    _add_texts(parser)
    parser.add_argument("--groups", metavar="FILE",
                        help="one label a line (a document): resample whole groups")  # fmt: skip
    _add_output(parser)


def _add_texts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input: text files, UTF-8, one segment a line")
    group.add_argument("-i", "--input", nargs="+", metavar="FILE",
                       help="outputs, one file a system, named after its file")  # fmt: skip
    group.add_argument("--names", nargs="+", metavar="NAME", help="names of the systems")
    group.add_argument("-r", "--references", nargs="+", metavar="FILE",
                       help="references, one file a reference")  # fmt: skip
    group.add_argument("-t", "--test-set", metavar="NAME", help="sacreBLEU's test set, with -l")
    group.add_argument("-l", "--language-pair", metavar="SRC-TRG", help="for example en-de")
    group.add_argument("-m", "--metrics", nargs="+", choices=list(NAMED), metavar="METRIC",
                       help=f"{', '.join(NAMED)} (default: bleu)")  # fmt: skip


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--format", choices=list(_FORMATS), default="text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of stdout")


def _add_resampling(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("resampling")
    group.add_argument("--method", choices=METHODS, default="expanded",
                       help="confidence interval (default: expanded percentile)")  # fmt: skip
    group.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL")
    _add_draws(group)


def _add_draws(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--resamples", type=int, default=9999, metavar="N")
    group.add_argument("--seed", type=int, default=12345, metavar="N")


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
_METRIC_OPTIONS: dict[type[Metric], dict[str, Field[Any]]] = {
    kind: _options_of(kind) for kind in BUILT_IN if kind.uses_references
}


def _add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add the fields of all metrics, under sacreBLEU's names; None means not given."""
    group = parser.add_argument_group("metric options, named as sacreBLEU's")
    for kind, options in _METRIC_OPTIONS.items():
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


def _metrics(options: argparse.Namespace) -> list[Metric]:
    """Make the metrics, each with its own options; an option that none takes is an error."""
    names = options.metrics or ["bleu"]
    if options.language_pair and options.trg_lang is None and "bleu" in names:
        options.trg_lang = options.language_pair.partition("-")[2]
    makers = [NAMED[name] for name in names]
    given: dict[object, dict[str, Any]] = {}
    for kind, taken in _METRIC_OPTIONS.items():
        given[kind] = {
            field.name: getattr(options, option)
            for option, field in taken.items()
            if getattr(options, option) is not None
        }
        for option, field in taken.items():
            if field.name in given[kind] and kind not in [make.func for make in makers]:
                raise InputError(
                    f"--{option.replace('_', '-')} has no effect without -m {kind.__name__.lower()}"
                )
    return [make(**given[make.func]) for make in makers]


def _references(options: argparse.Namespace) -> References:
    if options.references and options.test_set:
        raise InputError("give either -r/--references or -t/--test-set, not both")
    if options.references:
        files = options.references
    elif options.test_set:
        if not options.language_pair:
            raise InputError("-t/--test-set needs -l/--language-pair, for example -l en-de")
        files = test_set_files(options.test_set, options.language_pair)
    else:
        raise InputError("references are missing: give -r FILE ..., or -t NAME -l SRC-TRG")
    return References(from_streams(*read_parallel(files, "references")))


def _arguments(options: argparse.Namespace) -> tuple[dict[str, list[str]], References, Any]:
    """Read systems, references and metrics; what costs nothing is checked first."""
    if not options.input:
        raise InputError("outputs are missing: give -i FILE ...")
    metrics = _metrics(options)
    names = system_names(options.input, options.names)
    references = _references(options)
    systems = {}
    for name, path in zip(names, options.input, strict=True):
        systems[name] = read_segments(path)
        if len(systems[name]) != len(references):
            raise InputError(
                f"{path} has {len(systems[name])} lines but the references have {len(references)}"
            )
    return systems, references, metrics


def _read(options: argparse.Namespace) -> tuple[Any, ...]:
    """Return what to analyse: texts, references and metrics, or statistics from files."""
    if not options.statistics:
        return _arguments(options)
    for path in options.statistics:
        if Path(path).suffix != ".npz":
            raise InputError(f"{path} is not a file of statistics (.npz); give outputs as -i")
    texts = {"-i": "input", "--names": "names", "-r": "references", "-t": "test_set",
             "-l": "language_pair", "-m": "metrics"}  # fmt: skip
    for names in _METRIC_OPTIONS.values():
        texts.update({"--" + name.replace("_", "-"): name for name in names})
    for flag, name in texts.items():
        if getattr(options, name) is not None:
            raise InputError(
                f"{flag} is for texts: the statistics in {options.statistics[0]} have their own"
            )
    return ([SegmentStatistics.load(path) for path in options.statistics],)


def _resamples(options: argparse.Namespace) -> int:
    return integer(options.resamples, "--resamples", 2, MOST_RESAMPLES)


def _seed(options: argparse.Namespace) -> int:
    return integer(options.seed, "--seed", 0)


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "method": options.method,
        "confidence_level": options.confidence_level,
        "n_resamples": _resamples(options),
        "groups": read_segments(options.groups) if options.groups else None,
        "rng": _seed(options),
    }


def _compare(options: argparse.Namespace) -> Comparison:
    given = _read(options)
    with _Progress(sys.stderr) as progress:
        return compare(
            *given,
            baseline=options.baseline,
            test=options.test,
            alternative=options.alternative,
            adjustment=options.adjustment,
            progress=progress,
            **_settings(options),
        )


def _estimate(options: argparse.Namespace) -> Estimates:
    given = _read(options)
    with _Progress(sys.stderr) as progress:
        result: Estimates = estimate(*given, progress=progress, **_settings(options))
    return result


def _extract(options: argparse.Namespace) -> None:
    systems, references, metrics = _arguments(options)
    if len(metrics) > 1:
        raise InputError("-m needs one metric: a file holds the statistics of one")
    if Path(options.output).suffix != ".npz":
        raise InputError(f"-o must end in .npz, got {options.output}")
    ids = read_segments(options.ids) if options.ids else None
    with _Progress(sys.stderr) as progress:
        table = extract(systems, references, metrics[0], segment_ids=ids, progress=progress)
    table.save(options.output)


def _audit(options: argparse.Namespace) -> Audit:
    given = _read(options)
    with _Progress(sys.stderr) as progress:
        return audit(
            *given,
            baseline=options.baseline,
            n_bootstrap=integer(options.paired_bs_n, "--paired-bs-n", 2, MOST_RESAMPLES),
            n_randomization=integer(options.paired_ar_n, "--paired-ar-n", 2, MOST_RESAMPLES),
            n_resamples=_resamples(options),
            rng=_seed(options),
            progress=progress,
        )


def _demo(options: argparse.Namespace) -> Comparison:
    from evalstats.data import load_sample

    sample = load_sample()
    return compare(sample.systems, sample.references, ["bleu", "chrf", "ter"], baseline="baseline")


def _write(text: str, path: str | None) -> None:
    text = text.rstrip("\n") + "\n"
    if path is None:
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


class _Progress:
    """A line on a terminal that says what is being extracted, once the work is long."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._start = time.monotonic()
        self._shown = False

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def __call__(self, done: int, total: int, label: str) -> None:
        if self._stream.isatty() and time.monotonic() - self._start > _QUIET_SECONDS:
            self._shown = True
            self._stream.write(f"\r\x1b[Kextracting {done + 1}/{total}: {label}")
            self._stream.flush()
