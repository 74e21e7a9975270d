"""The command line: `evalstats compare`, `power`, `estimate`, `extract`, `audit` and `demo`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.power import power
from evalstats.auditing import Audit, audit
from evalstats.checks import integer
from evalstats.command_line import METRIC_OPTIONS, metrics_of, parser
from evalstats.errors import InputError
from evalstats.resampling.totals import MOST_RESAMPLES
from evalstats.results.results import Comparison, Result
from evalstats.statistics.extraction import extract
from evalstats.statistics.files import read_parallel, read_segments, system_names
from evalstats.statistics.sacrebleu_sets import test_set_files
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import References, from_streams

#: Work shorter than this shows no progress.
_QUIET_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 2 for bad input."""
    options = parser().parse_args(arguments)
    try:
        with _Progress(sys.stderr) as progress:
            result = _COMMANDS[options.command](options, progress)
        if result is not None:
            form = options.format
            text = str(result) if form == "text" else getattr(result, f"to_{form}")()
            _write(text, options.output)
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
    metrics = metrics_of(options)
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
    for names in METRIC_OPTIONS.values():
        texts.update({"--" + name.replace("_", "-"): name for name in names})
    for flag, name in texts.items():
        if getattr(options, name) is not None:
            raise InputError(
                f"{flag} is for texts: the statistics in {options.statistics[0]} have their own"
            )
    return ([SegmentStatistics.load(path) for path in options.statistics],)


def _settings(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the settings of these names and of the resampling."""
    settings: dict[str, Any] = {name: getattr(options, name) for name in names}
    if "groups" in names:
        settings["groups"] = read_segments(options.groups) if options.groups else None
    settings["n_resamples"] = integer(options.resamples, "--resamples", 2, MOST_RESAMPLES)
    settings["rng"] = integer(options.seed, "--seed", 0)
    return settings


def _compare(options: argparse.Namespace, progress: _Progress) -> Comparison:
    settings = _settings(
        options, "groups", "method", "confidence_level", "baseline", "test", "alternative",
        "adjustment", "significance_level",
    )  # fmt: skip
    return compare(*_read(options), progress=progress, **settings)


def _power(options: argparse.Namespace, progress: _Progress) -> Result:
    settings = _settings(
        options, "groups", "baseline", "difference", "power", "significance_level", "alternative",
        "confidence_level",
    )  # fmt: skip
    if options.segments is not None:
        settings["n_segments"] = integer(options.segments, "--segments", 2)
    return power(*_read(options), progress=progress, **settings)


def _estimate(options: argparse.Namespace, progress: _Progress) -> Result:
    settings = _settings(options, "groups", "method", "confidence_level")
    result: Result = estimate(*_read(options), progress=progress, **settings)
    return result


def _extract(options: argparse.Namespace, progress: _Progress) -> None:
    systems, references, metrics = _arguments(options)
    if len(metrics) > 1:
        raise InputError("-m needs one metric: a file holds the statistics of one")
    if Path(options.output).suffix != ".npz":
        raise InputError(f"-o must end in .npz, got {options.output}")
    ids = read_segments(options.ids) if options.ids else None
    table = extract(systems, references, metrics[0], segment_ids=ids, progress=progress)
    table.save(options.output)


def _audit(options: argparse.Namespace, progress: _Progress) -> Audit:
    return audit(
        *_read(options),
        n_bootstrap=integer(options.paired_bs_n, "--paired-bs-n", 2, MOST_RESAMPLES),
        n_randomization=integer(options.paired_ar_n, "--paired-ar-n", 2, MOST_RESAMPLES),
        progress=progress,
        **_settings(options, "baseline"),
    )


def _demo(options: argparse.Namespace, progress: _Progress) -> Comparison:
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


_COMMANDS: dict[str, Callable[[argparse.Namespace, _Progress], Result | None]] = {
    "compare": _compare,
    "power": _power,
    "estimate": _estimate,
    "extract": _extract,
    "audit": _audit,
    "demo": _demo,
}
