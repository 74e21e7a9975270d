"""What each command of `evalstats` does: the call that its options make."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import fields, replace
from math import comb
from pathlib import Path
from typing import Any

import evalstats
from evalstats.analysis.compare import compare
from evalstats.analysis.comparison import Comparison
from evalstats.analysis.options import Options
from evalstats.analysis.suite import Suite
from evalstats.cli.flags import flag_of, options_of
from evalstats.cli.inputs import Input, read
from evalstats.cli.output import FIGURES, outputs_of, to_stdout
from evalstats.data import load_sample
from evalstats.designs.looks.sequential import Looks
from evalstats.errors import InputError
from evalstats.logs.words import matches
from evalstats.questions.ranking.rankings import Rankings
from evalstats.resampling.executors import Reporting
from evalstats.results.forms import Result, replacing
from evalstats.statistics.extraction import Progress
from evalstats.statistics.files import read_lines, system_names

#: Options under the heading of a test that the call does not have.
_OURS = {"baseline", "composite"}
#: Options of a gate that is looked at while items come in.
_OF_LOOKS = ("of", "looks", "state")
#: What says how the segments, and the tasks, make a whole.
_PARTS = ("aggregate", "groups", "strata")


def _asked(
    options: argparse.Namespace, progress: Progress, least: int = 1
) -> tuple[Input, dict[str, Any]]:
    """Return what is analysed, and the other arguments of the call, checked before the work."""
    names = {option.name for option in options_of(options.command)["test"]} - _OURS
    asked = {name: value for name in names if (value := getattr(options, name)) is not None}
    known = {"seed" if name == "rng" else name: value for name, value in asked.items()}
    Options(**{field.name: known[field.name] for field in fields(Options) if field.name in known})
    inputs = read(options, progress, least)
    asked |= {name: value for name, value in inputs.labels.items() if value is not None}
    if getattr(options, "unpaired", None):
        asked["paired"] = False
    if getattr(options, "paired_runs", None):
        asked["paired_runs"] = True
    if options.baseline is not None:
        asked["baseline"] = inputs.system(options.baseline)
    if aggregate := getattr(options, "aggregate", None) or inputs.totals:
        asked["aggregate"] = aggregate
    return inputs, asked


def _compare(options: argparse.Namespace, progress: Progress) -> Result:
    for name in ("matrix", "describe"):
        if options.over and getattr(options, name):
            raise InputError(f"--{name} shows a comparison, and --over means of it; leave one out")
    if options.over and options.by:
        raise InputError("--by shows each domain, and --over means of them; leave one out")
    inputs, asked = _asked(options, progress, 2)
    _check_drawable(inputs, options)
    over, by = asked.pop("over", None), asked.pop("by", None)
    result = _compared(inputs, asked, progress)
    if by is not None:
        result = result.by(by)
    return result if over is None else result.over(over).noting(*inputs.notes)


def _check_drawable(inputs: Input, options: argparse.Namespace) -> None:
    """Refuse a figure of more pairs than one holds before the work that they are."""
    # Most comparisons are not drawn.
    from evalstats.pictures.plots import MOST_PAIRS

    n_pairs = comb(len(inputs.systems), 2)
    if options.baseline or len(inputs.tasks) > 1 or options.over or n_pairs <= MOST_PAIRS:
        return
    for path, form in outputs_of(options):
        if form in FIGURES:
            raise InputError(
                f"-o {path}: {n_pairs} pairs are too many rows for a figure; give --baseline, or "
                f"draw ranks: evalstats rank -o {path}"
            )


def _compared(inputs: Input, asked: dict[str, Any], progress: Progress) -> Comparison:
    return _suite(inputs, asked).compare(executor=Reporting(None, progress), **asked)


def _suite(inputs: Input, asked: dict[str, Any]) -> Suite:
    """Return the tasks of an input, with the arguments that are about them."""
    about = {name: asked.pop(name, None) for name in _PARTS}
    paired = asked.pop("paired", True)
    return Suite.of(inputs.tasks, **about, notes=inputs.notes, texts=inputs.texts, paired=paired)


def _estimate(options: argparse.Namespace, progress: Progress) -> Result:
    inputs, asked = _asked(options, progress)
    return _suite(inputs, asked).estimate(executor=Reporting(None, progress), **asked)


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
    inputs, asked = _asked(options, progress, 2)
    return evalstats.power(inputs.only(), progress=progress, **asked).noting(*inputs.notes)


def _gate(options: argparse.Namespace, progress: Progress) -> Result:
    if not options.baseline:
        raise InputError("give --baseline, what is in use: a log, a file of outputs, or a name")
    is_growing = any(getattr(options, name) is not None for name in _OF_LOOKS)
    if is_growing and options.state is None:
        raise InputError("--of and --looks need --state FILE, which keeps what was seen")
    for path in options.output or () if is_growing else ():
        if Path(path).absolute() == Path(options.state).absolute():
            raise InputError(f"-o {path} is the state; give another file")
    if not is_growing and options.margin is None and options.recovery is None:
        raise InputError("give --margin, the loss that is too much, or --recovery, what to keep")
    if options.margin is not None and options.margin <= 0:
        # The library says to leave it out, for a gate that no command is.
        raise InputError(
            f"must be above 0, got {options.margin}: it is a size, and the metric says which side "
            f"is a loss",
            argument="margin",
        )
    notes = _add_baseline(options)
    inputs, asked = _asked(options, progress, 2)
    if len(inputs.systems) > 2:
        raise InputError(
            f"a gate is of one system and its baseline, and there are {', '.join(inputs.systems)}: "
            f"choose with --systems"
        )
    if is_growing:
        return _look(inputs, asked, options.state).noting(*notes, *inputs.notes)
    gate = evalstats.gate(inputs.tasks, executor=Reporting(None, progress), **asked)
    return gate.noting(*notes, *inputs.notes)


def _cases(options: argparse.Namespace, progress: Progress) -> Result:
    if not options.baseline:
        raise InputError("give --baseline, what is in use: a log, or a name")
    notes = _add_baseline(options)
    inputs, asked = _asked(options, progress, 2)
    if len(inputs.systems) > 2:
        raise InputError(
            f"cases are of one system and its baseline, and there are {', '.join(inputs.systems)}: "
            f"choose with --systems"
        )
    return _compared(inputs, asked, progress).noting(*notes).cases()


def _add_baseline(options: argparse.Namespace) -> tuple[str, ...]:
    """Make a baseline that is a path one more input, and one that is a name a system.

    A folder and a system of a table may have one name: the system is meant, and a note says so.
    """
    name, table = options.baseline, None
    if Path(name).is_dir() and options.logs:
        from evalstats.cli.logs import table_with

        table = table_with(options, name)
    is_path = Path(name).exists() and table is None
    for kind in ("logs", "input"):
        paths = getattr(options, kind)
        # A path is one more input; a name is that of a system among them.
        if paths and is_path and name not in paths:
            if options.names and len(options.names) != len(paths):
                raise InputError(
                    f"--names needs one name for each of {' '.join(paths)}, got "
                    f"{' '.join(options.names)}; the baseline is called after its path"
                )
            if options.names:
                called = system_names([name], None)[0] if kind == "input" else name
                options.names.insert(0, called)
            paths.insert(0, name)
    if options.systems and not is_path and not matches(name, options.systems):
        options.systems.append(name)
    if table is None:
        return ()
    return (f"The baseline is {name} in {table}; for the folder {name} give --baseline ./{name}.",)


def _look(inputs: Input, asked: dict[str, Any], path: str) -> Looks:
    """Return the looks of the test that a file keeps, with one more at what is there now."""
    for name in ("on", "undecided", "paired_runs"):
        if name in asked:
            raise InputError(
                f"{flag_of(name)} is for one gate, and --state keeps one of many looks"
            )
    if not asked.pop("paired", True):
        raise InputError(
            "--unpaired is for one gate: at a look of --state both systems have the same items"
        )
    tables, state, baseline = inputs.only(), Path(path), asked.pop("baseline")
    if len(tables) > 1:
        names = ", ".join(table.metric.name for table in tables)
        raise InputError(f"--metrics must choose one of {names}: a look has one metric")
    labels = {name: asked.pop(name) for name in _PARTS if name in asked}
    if not isinstance(labels.get("aggregate", ""), str):
        del labels["aggregate"]
    del asked["state"]
    test = evalstats.SequentialTest(metric=tables[0].metric, **asked)
    if state.exists():
        try:
            test.load_state_dict(json.loads(state.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            reason = error if isinstance(error, InputError) else f"it is no JSON ({error})"
            raise InputError(f"--state {path}: {reason}") from None
    test.look(tables[0], baseline, **labels)
    with replacing(path, "json") as file:
        file.write(f"{json.dumps(test.state_dict())}\n".encode())
    return test.result


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
    inputs, asked = _asked(options, progress, 2)
    return evalstats.audit(inputs.only(), progress=progress, **asked)


def _demo(options: argparse.Namespace, progress: Progress) -> Result | None:
    if options.files is not None:
        shown = ("output", "format", "verbose", "describe", "caption", "label")
        for name in (name for name in shown if getattr(options, name)):
            raise InputError(f"{flag_of(name)} is about the table, and --files writes none")
        # Few ask for files, and no other command needs what makes them.
        from evalstats.data import examples

        examples.write(Path(options.files))
        to_stdout(
            f"The files of the pages are in {options.files}. There:\n"
            f"evalstats compare -r ref.txt -i old.txt new.txt --baseline old\n"
        )
        return None
    sample, metrics = load_sample(), ["bleu", "chrf", "ter"]
    return compare(sample.systems, sample.references, metrics, baseline="baseline")


COMMANDS: dict[str, Callable[[argparse.Namespace, Progress], Any]] = {
    "compare": _compare,
    "estimate": _estimate,
    "rank": _rank,
    "power": _power,
    "gate": _gate,
    "cases": _cases,
    "show": _show,
    "extract": _extract,
    "audit": _audit,
    "demo": _demo,
}
