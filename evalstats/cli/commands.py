"""What each command of `evalstats` does: the call that its options make."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import evalstats
from evalstats.analysis.compare import compare
from evalstats.analysis.options import Options
from evalstats.analysis.suite import as_tasks
from evalstats.cli.inputs import Input, read
from evalstats.cli.options import options_of
from evalstats.data import load_sample
from evalstats.errors import InputError
from evalstats.logs.words import matches
from evalstats.resampling.executors import Reporting
from evalstats.results.forms import Result
from evalstats.results.ranking import Rankings
from evalstats.results.results import Comparison
from evalstats.statistics.extraction import Progress
from evalstats.statistics.files import read_lines

#: Options under the heading of a test that the call does not have.
_OURS = {"baseline", "composite", "undecided"}
#: What says how the segments, and the tasks, make a whole.
_PARTS = ("aggregate", "groups", "strata")
_UNDECIDED = 3


def _asked(
    options: argparse.Namespace, progress: Progress, least: int = 1
) -> tuple[Input, dict[str, Any]]:
    """Return what is analysed, and the other arguments of the call, checked before the work."""
    names = {option.name for option in options_of(options.command)["test"]} - _OURS
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    known = {"seed" if name == "rng" else name: value for name, value in given.items()}
    Options(**{field.name: known[field.name] for field in fields(Options) if field.name in known})
    found = read(options, progress, least)
    given |= {name: value for name, value in found.labels.items() if value is not None}
    if options.baseline is not None:
        given["baseline"] = found.system(options.baseline)
    if aggregate := getattr(options, "aggregate", None) or found.totals:
        given["aggregate"] = aggregate
    return found, given


def _compare(options: argparse.Namespace, progress: Progress) -> Result:
    for name in ("matrix", "describe"):
        if options.over and getattr(options, name):
            raise InputError(f"--{name} shows a comparison, and --over means of it; leave one out")
    found, asked = _asked(options, progress, 2)
    over = asked.pop("over", None)
    result = _compared(found, asked, progress)
    return result if over is None else result.over(over).noting(*found.notes)


def _compared(found: Input, asked: dict[str, Any], progress: Progress) -> Comparison:
    tasks = as_tasks(found.tasks, *(asked.pop(name, None) for name in _PARTS))
    return tasks.compare(executor=Reporting(None, progress), **asked).noting(*found.notes)


def _estimate(options: argparse.Namespace, progress: Progress) -> Result:
    found, asked = _asked(options, progress)
    tasks = as_tasks(found.tasks, *(asked.pop(name, None) for name in _PARTS))
    return tasks.estimate(executor=Reporting(None, progress), **asked).noting(*found.notes)


def _rank(options: argparse.Namespace, progress: Progress) -> Result:
    if options.composite:
        if options.adjustment:
            raise InputError("--adjustment has no effect with --composite, which has its own max-T")
        # That of each metric need not cost anything.
        options.adjustment = "holm"
        comparison = _compared(*_asked(options, progress, 2), progress)
        composite: Result = comparison.ranking(composite=options.composite)
        return composite
    comparison = _compared(*_asked(options, progress, 2), progress)
    metrics = dict.fromkeys(difference.metric for difference in comparison)
    rankings = [comparison.ranking(metric) for metric in metrics]
    return rankings[0] if len(rankings) == 1 else Rankings(tuple(rankings))


def _power(options: argparse.Namespace, progress: Progress) -> Result:
    found, asked = _asked(options, progress, 2)
    return evalstats.power(found.only(), progress=progress, **asked).noting(*found.notes)


def _gate(options: argparse.Namespace, progress: Progress) -> Result:
    if options.baseline is None:
        raise InputError("give --baseline, what is in use: a log, a file of outputs, or a name")
    if options.margin is None and options.recovery is None:
        raise InputError("give --margin, the loss that is too much, or --recovery, what to keep")
    if options.margin is not None and options.margin <= 0:
        # The library says to leave it out, for a gate that no command is.
        raise InputError(
            f"must be above 0, got {options.margin}: it is a size, and the metric says which side "
            f"is a loss",
            argument="margin",
        )
    for name in ("logs", "input"):
        given = getattr(options, name)
        # A path is one more input; a name is that of a system among them.
        if given and Path(options.baseline).exists() and options.baseline not in given:
            if options.names and len(options.names) != len(given):
                raise InputError(
                    f"--names names what comes before --baseline, {' '.join(given)}, got "
                    f"{' '.join(options.names)}; the baseline is called by its path"
                )
            given.insert(0, options.baseline)
            if options.names:
                options.names.insert(0, options.baseline)
    is_name = not Path(options.baseline).exists()
    if options.systems and is_name and not matches(options.baseline, options.systems):
        options.systems.append(options.baseline)
    found, asked = _asked(options, progress, 2)
    if len(found.systems) > 2:
        raise InputError(
            f"a gate is of one system and its baseline, and there are {', '.join(found.systems)}: "
            f"choose with --systems"
        )
    gate = evalstats.gate(found.tasks, executor=Reporting(None, progress), **asked)
    return gate.noting(*found.notes)


def exit_code(result: object, options: argparse.Namespace) -> int:
    """Return the exit code of a result: 0 but for gates."""
    code = int(getattr(result, "exit_code", 0))
    return {"pass": 0, "fail": 1}.get(options.undecided, code) if code == _UNDECIDED else code


def _show(options: argparse.Namespace, progress: Progress) -> Result:
    # Logs take long to import, and most commands are about texts.
    from evalstats.cli.logs import shown

    return shown(options)


def _extract(options: argparse.Namespace, progress: Progress) -> None:
    if Path(options.output or "").suffix != ".npz":
        raise InputError(f"-o must end in .npz, got {options.output}")
    if len(options.metrics or ["bleu"]) > 1:
        raise InputError("-m needs one metric: a file holds the statistics of one")
    ids = tuple(read_lines(options.ids, labels=True)) if options.ids else None
    (table,) = read(options, progress).only()
    replace(table, segment_ids=ids).save(options.output)


def _audit(options: argparse.Namespace, progress: Progress) -> Result:
    found, asked = _asked(options, progress, 2)
    return evalstats.audit(found.only(), progress=progress, **asked)


def _demo(options: argparse.Namespace, progress: Progress) -> Result:
    sample, metrics = load_sample(), ["bleu", "chrf", "ter"]
    return compare(sample.systems, sample.references, metrics, baseline="baseline")


COMMANDS: dict[str, Callable[[argparse.Namespace, Progress], Any]] = {
    "compare": _compare,
    "estimate": _estimate,
    "rank": _rank,
    "power": _power,
    "gate": _gate,
    "show": _show,
    "extract": _extract,
    "audit": _audit,
    "demo": _demo,
}
