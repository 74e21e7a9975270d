"""What each command of `evalstats` does: the function with its name makes the call.

A command without a function here asks a comparison a question (`Command.asks`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import evalstats
from evalstats.analysis.comparison import Comparison
from evalstats.analysis.options import Options
from evalstats.analysis.suite import Suite
from evalstats.checks import meant
from evalstats.cli.flags import COMMANDS, flag_of, names_of
from evalstats.cli.inputs import Input, Logs, is_same, log_at, read, system_names
from evalstats.cli.output import to_stdout
from evalstats.cli.parser import Percent, metrics_of
from evalstats.errors import InputError
from evalstats.logs.rows import matches
from evalstats.metrics import Confusion, Mean
from evalstats.resampling.executors import Progress, Reporting
from evalstats.results.files import replacing
from evalstats.results.forms import Result
from evalstats.results.records import BARRING, accepting, counted, distinct
from evalstats.statistics.files import read_lines
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    from evalstats.questions.looks import Looks

#: Arguments on how segments and tasks are combined.
_PARTS = ("aggregate", "groups", "strata")


def compare(options: argparse.Namespace, progress: Progress) -> Result:
    """Compare systems, and return the comparison, or the answer to the question of a flag."""
    inputs, asked = _asked(options, progress, 2)
    values = {name: asked.pop(name, getattr(options, name)) for name in names_of("question")}
    result: Any = _suite(inputs, asked).compare(executor=Reporting(None, progress), **asked)
    for question, value in values.items():
        if value is not None:
            ask = _asking(result, question)
            result = ask() if value is True else ask(value)
            # Some results have no notes, and others have the notes of their comparison.
            known = getattr(result, "notes", inputs.notes)
            if notes := [note for note in inputs.notes if note not in known]:
                result = result.noting(*notes)
    answer: Result = result
    return answer


def estimate(options: argparse.Namespace, progress: Progress) -> Result:
    """Score systems."""
    inputs, asked = _asked(options, progress)
    return _suite(inputs, asked).estimate(executor=Reporting(None, progress), **asked)


def rank(options: argparse.Namespace, progress: Progress) -> Result:
    """Rank systems under each metric."""
    inputs, asked = _asked(options, progress, 2)
    comparison = _suite(inputs, asked).compare(executor=Reporting(None, progress), **asked)
    return comparison.ranking(clusters=options.clusters or "simultaneous")


def power(options: argparse.Namespace, progress: Progress) -> Result:
    """Compute from a pilot what a test set of some size can find."""
    inputs, asked = _asked(options, progress)
    return evalstats.power(inputs.only(), progress=progress, **asked).noting(*inputs.notes)


def plan(options: argparse.Namespace, progress: Progress) -> Result:
    """Draw the items on which a new system is run."""
    if options.n is None:
        raise InputError("pass --items N, the number of items to run")
    inputs, asked = _asked(options, progress)
    asked.pop("aggregate", None)
    return evalstats.plan(inputs.only(), **asked).noting(*inputs.notes)


def answer(options: argparse.Namespace, progress: Progress) -> Result:
    """Return the answer of a comparison to the question of a command."""
    notes: tuple[str, ...] = ()
    if "--baseline" in COMMANDS[options.command].usage:
        if not options.baseline:
            raise InputError(
                "pass --baseline with the log or the name of the system that you use now"
            )
        inputs, asked, notes = _against_baseline(options, progress)
    else:
        inputs, asked = _asked(options, progress, 2)
    comparison = _suite(inputs, asked).compare(executor=Reporting(None, progress), **asked)
    return _asking(comparison.noting(*notes), COMMANDS[options.command].asks)()


def _asking(comparison: Comparison, question: str) -> Callable[..., Result]:
    """Return the method of this name, or the public function that takes a comparison."""
    ask: Callable[..., Result] | None = getattr(comparison, question, None)
    return ask or partial(getattr(evalstats, question), comparison)


def gate(options: argparse.Namespace, progress: Progress) -> Result:
    """Test one system against the system in use, or a number, once or at several looks."""
    is_alone = options.at_least is not None or options.at_most is not None
    if not options.baseline and not is_alone:
        raise InputError(
            "pass --baseline with the system that you use now (its log, its file of outputs, "
            "or its name), or --at-least with the score to reach"
        )
    is_growing = any(
        x is not None for x in (options.of, options.looks, options.start, options.state)
    )
    if is_growing and options.state is None:
        raise InputError(
            "--of, --looks and --start require --state FILE, which stores the earlier looks"
        )
    for path in options.output or () if is_growing else ():
        if Path(path).absolute() == Path(options.state).absolute():
            raise InputError(f"-o {path} is also the file of --state; use another file")
    if options.baseline and is_alone:
        raise InputError("pass either --baseline or a score to reach (--at-least), not both")
    is_limited = options.margin is not None or options.recovery is not None
    if not (is_growing or is_limited or is_alone):
        raise InputError(
            "pass --margin, the smallest loss that is too large, or --recovery, the share of "
            "the baseline's score to keep"
        )
    notes: tuple[str, ...] = ()
    if is_alone:
        inputs, asked = _asked(options, progress)
    else:
        inputs, asked, notes = _against_baseline(options, progress)
    # Imported here because few commands need settings of logs.
    from evalstats.logs.missing import allowed_changes

    allowed = allowed_changes(options.allow_changes)
    notes = (*notes, *accepting(inputs.notes, allowed))
    if is_growing:
        return _look(inputs, asked, options.state, allowed).noting(*notes)
    accepted = [kind for kind in allowed if kind in BARRING]
    workers = Reporting(None, progress)
    result = evalstats.gate(inputs.tasks, executor=workers, allow_changes=accepted, **asked)
    return result.noting(*notes)


def meta(options: argparse.Namespace, progress: Progress) -> Result:
    """Compare metrics with human scores, which are in the first log, or have a name."""
    paths = options.scores if options.input else options.logs
    if not paths:
        raise InputError("human scores are missing; pass them as the first log, or with --scores")
    # With logs, `human` would select a judge's scores that have human labels.
    name, options.human = options.human, None
    options.missing = options.missing or "available"
    wanted, options.metrics = options.metrics, None
    if name is None:
        names = distinct(one.key.metric for one in log_at(paths[0], options).rows)
        if len(names) > 1:
            raise InputError(
                f"{paths[0]} has several metrics ({', '.join(names)}); pass --human with the "
                "metric that contains human scores"
            )
        (name,) = names
    options.metrics = wanted if options.input or not wanted else [*wanted, name]
    inputs = read(options, progress)
    tables = {table.metric.name: table for table in inputs.only()}
    if name not in tables:
        raise InputError(f": there is no {name!r}; {meant(name, tables)}", argument="human")
    asked = {x: value for x in names_of("argument") if (value := getattr(options, x)) is not None}
    return evalstats.meta(
        tables.pop(name),
        tables,
        groups=inputs.labels["groups"],
        baseline=options.baseline,
        executor=Reporting(None, progress),
        **asked,
    ).noting(*inputs.notes)


def show(options: argparse.Namespace, progress: Progress) -> Result:
    """Return the content of logs and files of statistics, or a result that was written as JSON."""
    if not options.logs:
        raise InputError("show requires a log, a table of scores, a file of statistics or a result")
    if len(options.logs) == 1 and (result := _written(options.logs[0])) is not None:
        return result
    logs = tuple(log_at(path, options) for path in options.logs)
    return logs[0] if len(logs) == 1 else Logs(logs)


def _written(path: str) -> Result | None:
    """Return the result in a JSON file, of the class with its fields; `None` for others."""
    if Path(path).suffix != ".json" or not Path(path).is_file():
        return None
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # reported when it is read as a log
        return None
    for kind in (getattr(evalstats, name) for name in dir(evalstats)):
        if isinstance(kind, type) and issubclass(kind, Result) and is_dataclass(kind):
            names = [field.name for field in fields(kind) if field.compare]
            if isinstance(data, dict) and data.keys() == {*names, *getattr(kind, "derived", ())}:
                return kind.from_json(text)
    return None


def extract(options: argparse.Namespace, progress: Progress) -> None:
    """Save the statistics of texts to a file."""
    if Path(options.output or "").suffix != ".npz":
        raise InputError(f"-o must end in .npz, got {options.output}")
    if len(options.metrics or ["bleu"]) > 1:
        raise InputError(
            "-m must name a single metric, because a file contains the statistics of only one"
        )
    ids = tuple(read_lines(options.ids, labels=True)) if options.ids else None
    (table,) = read(options, progress).only()
    replace(table, segment_ids=ids).save(options.output)
    if not options.quiet:
        n, systems = table.values.shape[1], len(table.systems)
        size = f"{counted(n, 'segment')} of {counted(systems, 'system')}"
        to_stdout(f"{options.output} has the statistics of {table.metric.name} for {size}.\n")


def demo(options: argparse.Namespace, progress: Progress) -> Result | None:
    """Compare the systems of the bundled sample, or write the example files."""
    if options.files is not None:
        shown = ("output", "format", "verbose", "describe", "caption", "label")
        for name in (name for name in shown if getattr(options, name)):
            raise InputError(
                f"{flag_of(name)} cannot be used with --files, which does not print a table"
            )
        # Imported here because no other command needs it.
        from evalstats.data import examples

        examples.write(Path(options.files))
        said = f"The example files are in {quote(options.files)} now. Try them:\n"
        if Path(options.files).resolve() != Path.cwd():
            said += f"cd {quote(options.files)}\n"
        said += "evalstats compare -r ref.txt -i old.txt new.txt --baseline old\n"
        to_stdout("" if options.quiet else said)
        return None
    from evalstats.data import load_sample

    sample, metrics = load_sample(), ["bleu", "chrf", "ter"]
    return evalstats.compare(sample.systems, sample.references, metrics, baseline="baseline")


def guide(options: argparse.Namespace, progress: Progress) -> None:
    """Print the page for coding assistants."""
    from evalstats.data import guide

    to_stdout(guide())


def _asked(
    options: argparse.Namespace, progress: Progress, least: int = 1
) -> tuple[Input, dict[str, Any]]:
    """Return the input, and the other arguments of the call, which are checked first."""
    names = names_of("argument")
    asked = {name: value for name in names if (value := getattr(options, name)) is not None}
    Options.of(asked)
    percentages = {name: x for name, x in asked.items() if isinstance(x, Percent)}
    if percentages and options.input:
        raise _no_shares(percentages, metrics_of(options)[0].name)
    inputs = read(options, progress, least)
    for table in chain.from_iterable(inputs.tasks.values()) if percentages else ():
        if not _has_shares(table):
            raise _no_shares(percentages, table.metric.name)
    asked |= {name: float(share) for name, share in percentages.items()}
    asked |= {name: value for name, value in inputs.labels.items() if value is not None}
    if options.unpaired:
        asked["paired"] = False
    if options.baseline is not None:
        asked["baseline"] = inputs.system(options.baseline)
    if aggregate := options.aggregate or inputs.totals:
        asked["aggregate"] = aggregate
    return inputs, asked


def _has_shares(table: SegmentStatistics) -> bool:
    """Return whether scores are known to be from 0 to 1, so that they can be percentages."""
    # Imported here because few gates have percentages.
    from evalstats.designs.trials.metrics import Trials

    metric: Any = getattr(table.metric, "metric", table.metric)  # of runs, or of a judge
    if not isinstance(metric, (Mean, Trials, Confusion)):
        return False
    if isinstance(table.metric, Mean):
        total, count = table.values[..., 0], table.values[..., 1]
        return bool(((total >= 0) & (total <= count)).all())
    return bool(((table.scores >= 0) & (table.scores <= 1)).all())


def _no_shares(percentages: Mapping[str, float], metric: str) -> InputError:
    """Return the error for a percentage if scores are not from 0 to 1."""
    name, share = next(iter(percentages.items()))
    said = (
        f"can only be a percentage for scores from 0 to 1, but {metric} has a different scale; use "
    )
    said += f"{flag_of(name)} {100 * share:g} for points"
    if name == "margin":
        said += f", or --recovery {1 - share:g} for a share of the baseline's score"
    return InputError(said, argument=name)


def _suite(inputs: Input, asked: dict[str, Any]) -> Suite:
    """Return the tasks of an input, and remove the arguments about tasks from `asked`."""
    about = {name: asked.pop(name, None) for name in _PARTS}
    paired = asked.pop("paired", True)
    return Suite.of(inputs.tasks, **about, notes=inputs.notes, texts=inputs.texts, paired=paired)


def _against_baseline(
    options: argparse.Namespace, progress: Progress
) -> tuple[Input, dict[str, Any], tuple[str, ...]]:
    """Return the input of one system and its baseline, the arguments, and notes.

    A path as the baseline is one more input, and a name is a system. If a folder and a system of
    a table have the same name, the system is used, and there is a note.
    """
    name, table = options.baseline, None
    if Path(name).is_dir() and options.logs:
        for path in filter(lambda path: Path(path).is_file(), options.logs):
            try:
                if table is None and name in log_at(path, options).systems:
                    table = path
            except InputError:  # reported when its scores are read
                continue
    is_path = Path(name).exists() and table is None
    for kind in ("logs", "input"):
        paths = getattr(options, kind)
        if paths and is_path and all(is_same(name, path) for path in paths):
            raise InputError(
                f"{paths[0]} and --baseline {name} are the same file or folder; pass different "
                "ones for the new outputs and the baseline"
            )
        # A path is one more input; a name belongs to a system in the other inputs.
        if paths and is_path and name not in paths:
            if options.names and len(options.names) != len(paths):
                raise InputError(
                    f"--names must contain {counted(len(paths), 'name')} ({' '.join(paths)}), got "
                    f"{' '.join(options.names)}. The baseline is named after its path."
                )
            if options.names:
                called = system_names([name], None)[0] if kind == "input" else name
                options.names.insert(0, called)
            paths.insert(0, name)
    if options.systems and not is_path and not matches(name, options.systems):
        options.systems.append(name)
    notes: tuple[str, ...] = ()
    if table is not None:
        notes = (
            f"The baseline is the system {name} in {table}. For the folder {name}, pass "
            f"--baseline ./{name}.",
        )
    inputs, asked = _asked(options, progress, 2)
    if len(inputs.systems) > 2:
        raise InputError(
            f"{options.command} compares one system with its baseline, but there are several "
            f"systems ({', '.join(inputs.systems)}); choose with --systems"
        )
    return inputs, asked, notes


def _look(inputs: Input, asked: dict[str, Any], path: str, allowed: Sequence[str]) -> Looks:
    """Return the looks of the test in a file, with a new look at the current input.

    A look that passes with numbers that may be invalid is refused, unless this is `allowed`.
    """
    for name in ("on", "undecided", "paired_runs"):
        if name in asked:
            raise InputError(
                f"{flag_of(name)} cannot be used with --state, because it applies to a single test"
            )
    if not asked.pop("paired", True):
        raise InputError(
            "--unpaired cannot be used with --state, which requires the same items for both systems"
        )
    tables, state, baseline = inputs.only(), Path(path), asked.pop("baseline", None)
    if len(tables) > 1:
        names = ", ".join(table.metric.name for table in tables)
        raise InputError(
            f"a test with --state uses a single metric; choose one of {names} with --metrics"
        )
    labels = {name: asked.pop(name) for name in _PARTS if name in asked}
    if not isinstance(labels.get("aggregate", ""), str):
        del labels["aggregate"]
    accepted = [kind for kind in allowed if kind in BARRING]
    test = evalstats.SequentialTest(metric=tables[0].metric, allow_changes=accepted, **asked)
    from evalstats.questions.looks import refuse_barred

    with _alone_with(state):
        if state.exists():
            try:
                test.load_state_dict(json.loads(state.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                reason = error if isinstance(error, InputError) else f"it is not JSON ({error})"
                raise InputError(f"--state {path}: {reason}") from None
        n_looks, look = len(test.looks), test.look(tables[0], baseline, **labels)
        notes = accepting([*inputs.notes, *test.result.notes], allowed)
        if look.verdict == "passed" and look.number > n_looks:
            refuse_barred(notes)
        with replacing(path, "json") as file:
            file.write(f"{json.dumps(test.state_dict())}\n".encode())
    return test.result


@contextmanager
def _alone_with(state: Path) -> Iterator[None]:
    """Lock a state: of two looks at the same time, one would be lost, and the level it spent."""
    lock = state.with_name(f"{state.name}.lock")
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        raise InputError(
            f"--state {state} is in use by another process. Run this again when it has finished, "
            f"or remove {lock} if no process is running."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"--state {state} cannot be written: {error}") from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
