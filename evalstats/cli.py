"""The command line: what each command of `evalstats` does."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from evalstats import cli_runs
from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.inputs import as_pairs
from evalstats.analysis.options import SCORE_METHODS, Options, option
from evalstats.analysis.power import power
from evalstats.auditing import Audit, audit
from evalstats.checks import integer, share
from evalstats.command_line import metrics_of, one_line, parser
from evalstats.destination import STANDARD, Destination, UnwritableError, to_stdout
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.resampling.executors import Reporting
from evalstats.resampling.totals import MOST_RESAMPLES
from evalstats.results.gate import Gate
from evalstats.results.ranking import Rankings
from evalstats.results.results import Comparison, Result
from evalstats.runs.comparing import compare_runs, estimate_runs
from evalstats.runs.gating import gate_runs
from evalstats.statistics.extraction_of_files import extract_files
from evalstats.statistics.files import Lines, check_parallel, read_lines, system_names
from evalstats.statistics.names import as_names, as_segment_ids, group_codes
from evalstats.statistics.sacrebleu_sets import test_set_files
from evalstats.statistics.segments import SegmentStatistics

#: Work shorter than this shows no progress.
_QUIET_SECONDS = 1.0
#: Options that name files to read.
_FILES = ("input", "references", "statistics", "scores", "runs", "groups", "strata", "ids")
#: Those with a label a segment.
_LABELS = ("groups", "strata")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 2 for bad input, or that of a gate."""
    whole = parser()
    options = whole.parse_args(arguments)
    if options.command is None:
        whole.print_help()
        return 0
    try:
        with Destination(options.output, _inputs(options)) as destination:
            with _Progress(sys.stderr) as progress:
                result = _COMMANDS[options.command](options, progress)
            if result is not None:
                form = options.format
                text = str(result) if form == "text" else getattr(result, f"to_{form}")()
                destination.write(text)
                return int(getattr(result, "exit_code", 0))
    except InputError as error:
        _complain(f"evalstats {options.command}: error: {error}")
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


def _inputs(options: argparse.Namespace) -> list[str]:
    """Return the files that are read, of which standard input can be one."""
    given = [getattr(options, name, None) or [] for name in _FILES]
    files = [path for some in given for path in ([some] if isinstance(some, str) else some)]
    if files.count(STANDARD) > 1:
        raise InputError("- is standard input, which can be read once; give files for the others")
    return files


def _names(options: argparse.Namespace) -> tuple[str, ...]:
    if not options.input:
        raise InputError("outputs are missing: give -i FILE ..., or paths of logs")
    return tuple(system_names(options.input, options.names))


def _references(options: argparse.Namespace) -> list[Lines]:
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
    streams = [Lines(path) for path in files]
    check_parallel(streams, files, "references")
    return streams


def _extracted(
    options: argparse.Namespace,
    metrics: list[Metric],
    progress: _Progress,
    *,
    labels: dict[str, list[str] | None] | None = None,
    ids: tuple[str, ...] | None = None,
) -> list[SegmentStatistics]:
    """Read and extract texts, one table a metric; what costs nothing is checked first."""
    names = _names(options)
    references = _references(options)
    n_segments = len(references[0])
    for name, given in (labels or {}).items():
        if given is not None:
            group_codes(given, n_segments, name)
    if ids is not None:
        as_segment_ids(ids, n_segments)
    systems = {}
    for name, path in zip(names, options.input, strict=True):
        systems[name] = Lines(path)
        if len(systems[name]) != n_segments:
            raise InputError(
                f"{path} has {len(systems[name])} lines but the references have {n_segments}"
            )
    as_names(names)
    return extract_files(systems, references, metrics, progress)


def _tables(
    options: argparse.Namespace, progress: _Progress, **labels: list[str] | None
) -> list[SegmentStatistics]:
    """Return what to analyse: statistics of texts, or those in files."""
    if not options.statistics:
        of_texts = _extracted(options, metrics_of(options), progress, labels=labels)
        if not getattr(options, "scores", None):
            return of_texts
        # Standard input cannot be read again.
        is_read = STANDARD in (options.references or [])
        references = [] if is_read else _references(options)
        return [*of_texts, *cli_runs.beside(options, of_texts, references)]
    for path in options.statistics:
        if Path(path).suffix != ".npz":
            raise InputError(f"{path} is not a file of statistics (.npz); give outputs as -i")
    why = f"the statistics in {options.statistics[0]} have their own"
    cli_runs.refuse_texts(options, why)
    return [SegmentStatistics.load(path) for path in options.statistics]


def _draws(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "n_resamples": integer(options.resamples, "--resamples", 2, MOST_RESAMPLES),
        "rng": integer(options.seed, "--seed", 0),
    }


def _sampling(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that `compare` and `estimate` share, checked before the work."""
    draws, level = _draws(options), options.confidence_level
    Options(level, options.method, n_resamples=draws["n_resamples"], seed=draws["rng"])
    return {
        **draws,
        **_labels(options),
        "aggregate": options.aggregate or "micro",
        "method": options.method,
        "confidence_level": level,
    }


def _labels(options: argparse.Namespace) -> dict[str, Any]:
    """Return what is in files of labels; runs have labels of their own, by name."""
    given = {name: getattr(options, name) for name in _LABELS}
    if cli_runs.are_given(options):
        return given
    return {name: read_lines(path) if path else None for name, path in given.items()}


def _compare(options: argparse.Namespace, progress: _Progress) -> Result:
    settings = _sampling(options)
    names = ("test", "alternative", "adjustment", "margin", "recovery", "contrast")
    settings |= {name: getattr(options, name) for name in names}
    # What costs nothing is checked before what costs seconds.
    Options(options.confidence_level, **{name: settings[name] for name in names})
    settings |= {"baseline": options.baseline, "executor": Reporting(None, progress)}
    if cli_runs.are_given(options):
        runs = cli_runs.given(options)
        settings |= {**cli_runs.part(options), "aggregate": options.aggregate}
        return compare_runs(runs, **settings)
    if not options.statistics:
        as_pairs(_names(options), options.baseline)
    tables = _tables(options, progress, **{name: settings[name] for name in _LABELS})
    return compare(tables, **settings)


def _of_one_task(
    options: argparse.Namespace, progress: _Progress, labels: dict[str, Any]
) -> tuple[list[SegmentStatistics], tuple[str, ...]]:
    """Return tables of texts, statistics or runs, and what is to be said of them."""
    if not cli_runs.are_given(options):
        return _tables(options, progress, **labels), ()
    found = cli_runs.tables(options, [name for name in labels.values() if name is not None])
    return next(iter(found.tasks.values())), tuple(found.notes)


def _rank(options: argparse.Namespace, progress: _Progress) -> Result:
    settings = _sampling(options)
    if options.composite and options.adjustment:
        raise InputError("--adjustment has no effect with --composite, which has max-T of its own")
    settings["adjustment"] = options.adjustment or "max-t"
    if options.composite:
        # It has a family of its own: that of each metric need not cost anything.
        settings["adjustment"] = "holm"
    if not options.statistics:
        as_pairs(_names(options), None, "rank")
    labels = {name: settings[name] for name in _LABELS}
    tables, notes = _of_one_task(options, progress, labels)
    result = compare(tables, executor=Reporting(None, progress), **settings).noting(*notes)
    if options.composite:
        found: Result = result.ranking(composite=options.composite)
        return found
    metrics = dict.fromkeys(estimate.metric for estimate in result.estimates)
    return Rankings(tuple(result.ranking(metric) for metric in metrics))


def _power(options: argparse.Namespace, progress: _Progress) -> Result:
    names = ("baseline", "difference", "power", "alternative")
    settings: dict[str, Any] = {name: getattr(options, name) for name in names}
    for name in ("significance_level", "confidence_level"):
        settings[name] = share(getattr(options, name), name)
    if options.segments is not None:
        settings["n_segments"] = integer(options.segments, "--segments", 2)
    if not options.statistics:
        as_pairs(_names(options), options.baseline, "power")
    labels = _labels(options)
    tables, notes = _of_one_task(options, progress, labels)
    settings |= {**labels, "aggregate": options.aggregate or "micro"}
    result = power(tables, progress=progress, **settings)
    return result.noting(*notes)


def _estimate(options: argparse.Namespace, progress: _Progress) -> Result:
    option(options.method, SCORE_METHODS, "method")
    settings = _sampling(options)
    if cli_runs.are_given(options):
        runs = cli_runs.given(options)
        settings |= {**cli_runs.part(options), "aggregate": options.aggregate}
        return estimate_runs(runs, progress=progress, **settings)
    tables = _tables(options, progress, **{name: settings[name] for name in _LABELS})
    result: Result = estimate(tables, progress=progress, **settings)
    return result


def _gate(options: argparse.Namespace, progress: _Progress) -> Gate:
    names = ("margin", "recovery", "significance_level", "groups")
    settings = {name: getattr(options, name) for name in names}
    settings |= {**cli_runs.part(options), **_draws(options)}
    return gate_runs(options.new, options.base, **settings)


def _show(options: argparse.Namespace, progress: _Progress) -> cli_runs.Shown:
    return cli_runs.show(options)


def _extract(options: argparse.Namespace, progress: _Progress) -> None:
    metrics = metrics_of(options)
    if len(metrics) > 1:
        raise InputError("-m needs one metric: a file holds the statistics of one")
    if Path(options.output).suffix != ".npz":
        raise InputError(f"-o must end in .npz, got {options.output}")
    ids = tuple(read_lines(options.ids)) if options.ids else None
    (table,) = _extracted(options, metrics, progress, ids=ids)
    replace(table, segment_ids=ids).save(options.output)


def _audit(options: argparse.Namespace, progress: _Progress) -> Audit:
    # Loaded here: sacreBLEU takes longer to load than this library.
    from evalstats.compat.sacrebleu.twins import to_sacrebleu

    n_bootstrap = integer(options.paired_bs_n, "--paired-bs-n", 2, MOST_RESAMPLES)
    n_randomization = integer(options.paired_ar_n, "--paired-ar-n", 2, MOST_RESAMPLES)
    draws = _draws(options)
    if not options.statistics:
        as_pairs(_names(options), options.baseline)
        for metric in metrics_of(options):
            to_sacrebleu(metric)
    return audit(
        _tables(options, progress),
        baseline=options.baseline,
        n_bootstrap=n_bootstrap,
        n_randomization=n_randomization,
        progress=progress,
        **draws,
    )


def _demo(options: argparse.Namespace, progress: _Progress) -> Comparison:
    from evalstats.data import load_sample

    sample = load_sample()
    return compare(sample.systems, sample.references, ["bleu", "chrf", "ter"], baseline="baseline")


class _Progress:
    """A line on a terminal that says how far long work has come."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._start = time.monotonic()
        self._shown = ""

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._write("")

    def __call__(self, done: int, total: int, label: str) -> None:
        line = f"{label} {100 * done // total} %"
        if line != self._shown and time.monotonic() - self._start > _QUIET_SECONDS:
            self._shown = line
            self._write(line)

    def _write(self, line: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\x1b[K{line}")
            self._stream.flush()


_COMMANDS: dict[str, Callable[[argparse.Namespace, _Progress], object]] = {
    "compare": _compare,
    "power": _power,
    "rank": _rank,
    "gate": _gate,
    "estimate": _estimate,
    "extract": _extract,
    "audit": _audit,
    "show": _show,
    "demo": _demo,
}
