"""Input as tables by task: texts, files of statistics, logs and tables of scores.

Readers of logs are imported when they are used, so that texts are read without waiting for them.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalstats.analysis.design import NamedTotal
from evalstats.analysis.tasks import as_pairs, tables_of
from evalstats.checks import integer, meant, shown
from evalstats.cli.flags import flag_of, names_of
from evalstats.cli.output import STANDARD
from evalstats.cli.parser import METRIC_OPTIONS, metrics_of
from evalstats.designs.runs import as_runs
from evalstats.errors import Argument, InputError
from evalstats.logs.rows import check_patterns, matches
from evalstats.metrics import Metric
from evalstats.metrics.base import MetricSignature
from evalstats.resampling.executors import Progress
from evalstats.results.forms import Result
from evalstats.results.records import BARRING, counted, distinct
from evalstats.statistics.extraction import extract_files
from evalstats.statistics.files import MARK_NOTE, Lines, apart, read_lines, stem_of
from evalstats.statistics.guards import text_cautions
from evalstats.statistics.segments import SegmentStatistics, as_names, concatenate, group_codes

if TYPE_CHECKING:
    from evalstats.logs.joining import Joined
    from evalstats.logs.log import Log

#: Options with files to read, and options with a file or the name of a system, a column, or a
#: label.
_FILES = ("logs", "input", "references", "scores", "ids", "plan")
_LABELS = tuple(names_of("label"))
_FILES_OR_NAMES = ("baseline", "human", *_LABELS)
#: The end of the name of a file that is a run of a system; fewer files are not runs.
_RUN, _FEWEST_RUNS = re.compile(r"(?:^|[-_. ])(?:seed|run|rep|repeat|s)[-_. ]?\d+$", re.I), 3
#: The most references of a segment.
_MOST_REFERENCES = 1000


@dataclass(frozen=True)
class Input:
    """Tables by task ("" for texts), labels of segments, and notes on logs.

    A label is one string per segment, or the name of a label in the tables. `paths` has the system
    of each file that has only one; `totals` are totals of groups in logs, and `texts` has questions
    and answers by task.
    """

    tasks: dict[str, list[SegmentStatistics]]
    labels: dict[str, Any]
    notes: tuple[str, ...] = ()
    paths: Mapping[str, str] = field(default_factory=dict)
    totals: tuple[NamedTotal, ...] = ()
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems."""
        tables = next(iter(self.tasks.values()))
        return tuple(distinct(name for table in tables for name in table.systems))

    def system(self, name: str) -> str:
        """Return the system with this name or path."""
        return _system(name, self.systems, self.paths)

    def only(self) -> list[SegmentStatistics]:
        """Return the tables of a single task."""
        if len(self.tasks) > 1:
            raise InputError(f"choose one task with --task or --filter: {', '.join(self.tasks)}")
        return next(iter(self.tasks.values()))


def _known(name: str, systems: Sequence[str], paths: Mapping[str, str]) -> str | None:
    """Return the system with this name, path, or unique end of a path."""
    if name in systems:
        return name
    whole = Path(name)
    for key, asked in ((Path, whole), (lambda path: Path(path).name, whole.name), (stem_of, name)):
        alike = {system for path, system in paths.items() if key(path) == asked}
        if len(alike) == 1:
            return alike.pop()
    return None


def _system(name: str, systems: Sequence[str], paths: Mapping[str, str]) -> str:
    """Return the system with this name or path."""
    if system := _known(name, systems, paths):
        return system
    more = f"; to compare with {name}, add it to the inputs" if _exists(name) else ""
    raise InputError(f"--baseline: there is no system {name!r}; {meant(name, systems)}{more}")


def _check_enough(
    options: argparse.Namespace, systems: Sequence[str], paths: Mapping[str, str]
) -> None:
    """Refuse a missing baseline, missing systems, and fewer than two systems."""
    name = options.baseline
    if options.command == "gate" and _known(name, systems, paths) is None:
        more = ""
        if re.fullmatch(r"[\d.]+ ?%?", name):
            more = f"; if {name} is a score to reach, pass --at-least {name} instead"
        raise InputError(
            f"cannot read {name}: there is no file or system {name!r}; {meant(name, systems)}{more}"
        )
    if name is not None:
        _system(name, systems, paths)
        if len(systems) == 1:
            raise InputError(
                f"--baseline {name} is the only system, so it cannot be compared; pass the "
                "outputs or the log of a second system"
            )
    as_pairs(tuple(systems), None, options.command)


def is_same(path: str, other: str) -> bool:
    """Return whether two paths lead to the same file or folder."""
    return _exists(path) and _exists(other) and Path(path).samefile(other)


def _exists(path: str) -> bool:
    return bool(path) and Path(path).exists()


def files_of(options: argparse.Namespace) -> list[str]:
    """Return the files that are read; standard input can be one of them."""
    values = [getattr(options, name) or [] for name in _FILES]
    files = [path for one in values for path in ([one] if isinstance(one, str) else one)]
    given = [(name, getattr(options, name)) for name in _FILES_OR_NAMES]
    for name, path in ((x, path) for x, v in given for path in (v if type(v) is list else [v])):
        if path == STANDARD:
            files += [path] if name in _LABELS else []
        elif path and path not in files and Path(path).exists():
            files.append(path)
    if files.count(STANDARD) > 1:
        raise InputError("standard input (-) can be read only once; use files for the other inputs")
    return files


def read(options: argparse.Namespace, progress: Progress, least: int = 1) -> Input:
    """Read the input, which must be of one kind and have at least `least` systems."""
    paths = options.logs
    if options.plan is not None:
        return _of_plan(options, progress, least)
    if not paths:
        return _of_texts(options, progress, least)
    if options.input:
        raise InputError(
            f"pass either {paths[0]} or texts with -i, not both. If it has references, pass -r "
            f"{paths[0]}; if it has scores, pass --scores {paths[0]}."
        )
    kinds = {Path(path).suffix == ".npz" for path in paths}
    if len(kinds) > 1:
        raise InputError(
            f"pass either files of statistics (.npz) or logs, not both: {' '.join(paths)}"
        )
    of_texts = [*names_of("texts"), *chain.from_iterable(METRIC_OPTIONS.values())]
    what = f"{paths[0]} already contains scores"
    if Path(paths[0]).suffix == ".txt":
        what = f"pass outputs as -i {' '.join(paths)}"
    _refuse(options, of_texts, f"applies only to texts; {what}")
    labels: dict[str, Any] = {name: getattr(options, name) for name in _LABELS}
    if kinds == {True}:
        unknown = (*names_of("log"), *names_of("battles"), "metrics", "names")
        _refuse(options, unknown, f"does not apply to {paths[0]}")
        tables = [SegmentStatistics.load(path) for path in paths]
        for name, asked in labels.items():
            if asked is not None and not options.unpaired:
                labels[name] = _labels(asked, lambda one: one in tables[0].labels)
        files = zip(paths, tables, strict=True)
        single = {path: table.systems[0] for path, table in files if len(table.systems) == 1}
        tables, notes = _stacked(tables, paths)
        tables = tables if options.unpaired else tables_of(tables)
        result = Input({"": _chosen(tables, options)}, labels, notes, paths=single)
    else:
        # Tasks always exist.
        joined = _of_logs(options, {x: v for x, v in labels.items() if v not in (None, "task")})
        if least > 1:
            joined.several()
        notes = (*joined.notes, *_runs_noted(options, joined.paths))
        labels |= joined.labels
        result = Input(joined.tasks, labels, notes, joined.paths, joined.totals, joined.texts)
    if least > 1:
        _check_enough(options, result.systems, result.paths)
    return result


def _of_plan(options: argparse.Namespace, progress: Progress, least: int) -> Input:
    """Return tables of systems that were run on all items, or only on the items of a plan."""
    from evalstats.designs.plans import Plan

    plan, path = Plan.load(options.plan), options.plan
    if options.logs:
        unknown = ("input", "names", "human", "missing", "unpaired")
        _refuse(options, unknown, f"does not apply to --plan {path}")
        logs = {path: log_at(path, options) for path in options.logs}
        known = {metric.name for metric in plan.metrics}
        tables = [
            log.tables[key] for log in logs.values() for key in log.tables if key.metric in known
        ]
        single = {path: log.systems[0] for path, log in logs.items() if len(log.systems) == 1}
        measured = Input({}, {name: getattr(options, name) for name in _LABELS}, paths=single)
    else:
        _refuse(options, ("scores", "unpaired"), f"does not apply to --plan {path}")
        measured = _of_texts(options, progress, least)
        tables, others = measured.only(), [i for i in range(plan.n_items) if i not in plan.drawn]
        gold = list(map(list, _references(options)))[: 1 if options.blank_is_absent else None]
        for name, lines in ((measured.paths[p], Lines(p)) for p in options.input):
            outputs = list(lines)
            extra = [i for i in others if outputs[i].strip()]
            if 0 < 2 * len(extra) < len(others):
                # Most empty lines are not outputs, but would count as outputs.
                raise InputError(
                    f"{lines.path} has outputs in {len(extra):,} of {len(others):,} lines that "
                    f"are not in {path} (the first is line {extra[0] + 1}). Leave all of these "
                    "lines empty, or provide outputs for all lines."
                )
            if name in measured.systems and not extra:
                tables = _run_on(plan.drawn, tables, name, outputs, gold)
    of_all, by_plan = plan.data(tables), {"groups": plan.unit, "strata": plan.stratum}
    notes = measured.notes
    if all(a.metric == b.metric for a, b in zip(of_all, tables, strict=False)):
        every = counted(plan.n_items, of_all[0].unit)
        notes += (f"All systems were run on all {every}, so --plan {path} has no effect.",)
    tables = of_all
    by_plan = {name: values for name, values in by_plan.items() if values in tables[0].labels}
    labels = {name: asked or by_plan.get(name) for name, asked in measured.labels.items()}
    measured = replace(measured, tasks={"": _chosen(tables, options)}, labels=labels, notes=notes)
    if least > 1:
        _check_enough(options, measured.systems, measured.paths)
    return measured


def _run_on(
    drawn: Sequence[int],
    tables: Sequence[SegmentStatistics],
    name: str,
    outputs: Sequence[str],
    references: Sequence[Sequence[str]],
) -> list[SegmentStatistics]:
    """Return tables in which a system has rows and cautions only for the items drawn."""
    texts = [[lines[i] for i in drawn] for lines in (outputs, *references)]
    said = text_cautions([table.metric for table in tables], {name: texts[0]}, texts[1:])
    run = []
    for table, cautions in zip(tables, said, strict=True):
        values, at = table.values.copy(), table.systems.index(name)
        values[at] = 0
        values[at, list(drawn)] = table.values[at, list(drawn)]
        known = {system: x for system, x in table.cautions.items() if system != name}
        run.append(replace(table, values=values, cautions={**known, **cautions}))
    return run


def _stacked(
    tables: Sequence[SegmentStatistics], paths: Sequence[str]
) -> tuple[list[SegmentStatistics], tuple[str, ...]]:
    """Return tables; parts with the same systems and metric are concatenated, with a note."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, table in enumerate(tables):
        made_by = MetricSignature.of(table.metric_signature).unversioned
        groups.setdefault((table.metric.name, made_by, *sorted(table.systems)), []).append(i)
    stacked, notes = [], []
    for places in groups.values():
        parts = [tables[i] for i in places]
        if len(parts) > 1:
            names = ", ".join(paths[i] for i in places)
            if any(part.fingerprint is None and part.segment_ids is None for part in parts):
                raise InputError(
                    f"{names} have the same systems but no ids and no hash of references, so it "
                    "is unknown whether they are parts of one test set"
                )
            n = sum(part.n_segments for part in parts)
            notes.append(f"{names} are parts of one test set of {n:,} segments, in this order.")
        stacked.append(concatenate(parts) if len(parts) > 1 else parts[0])
    return stacked, tuple(notes)


def _refuse(options: argparse.Namespace, names: Iterable[str], why: str) -> None:
    for name in names:
        # Only some commands have options of metrics.
        if getattr(options, name, None) is not None:
            raise InputError(f"{flag_of(name)} {why}")


def _refuse_changes(options: argparse.Namespace) -> None:
    """Refuse changes of settings of tasks, which texts do not have."""
    if {*(getattr(options, "allow_changes", None) or ())} - {*BARRING, "*"}:
        kinds = ", ".join(BARRING)
        raise InputError(f"for texts, --allow-changes must be one of {kinds}, or '*'")


def _of_texts(options: argparse.Namespace, progress: Progress, least: int) -> Input:
    """Read and extract texts, one table per metric, after fast checks."""
    _refuse(options, names_of("battles"), "applies only to tables of battles, but these are texts")
    if not options.scores:
        _refuse(
            options,
            names_of("log"),
            "applies only to logs and tables of scores, but none was passed",
        )
        _refuse_changes(options)
    metrics = metrics_of(options)
    if not options.input:
        raise InputError("outputs are missing; pass -i FILE ..., or paths of logs")
    if options.unpaired:
        return _of_unpaired_texts(options, metrics, progress)
    names, systems_of_runs = _names(options)
    paths = dict(zip(options.input, systems_of_runs or names, strict=True))
    systems_named = list(dict.fromkeys(systems_of_runs or names))
    check_patterns(options.systems or (), systems_named, "systems")
    if least > 1:
        _check_enough(options, systems_named, paths)
    given = {name: getattr(options, name) for name in _LABELS}
    labels = {name: None if value is None else _labels(value) for name, value in given.items()}
    references = _references(options)
    n_segments = len(references[0])
    for name, values in labels.items():
        for one in values.values() if isinstance(values, dict) else [values]:
            if one is not None:
                group_codes(one, n_segments, name)
    systems = {name: Lines(path) for name, path in zip(names, options.input, strict=True)}
    for path, lines in zip(options.input, systems.values(), strict=True):
        if len(lines) != n_segments:
            raise InputError(
                f"{path} has {counted(len(lines), 'line')} but the references have {n_segments:,}; "
                "does one of them have a heading, or a blank line at the end?"
            )
    as_names(names)
    is_absent = bool(options.blank_is_absent)
    tables = extract_files(systems, references, metrics, progress, is_absent)
    if systems_of_runs:
        tables = [as_runs(table, systems_of_runs) for table in tables]
    # Segments are named by their lines, from 1.
    ids = tuple(str(i + 1) for i in range(n_segments))
    tables = [replace(table, segment_ids=ids) for table in tables]
    texts = (*references, *systems.values())
    notes = tuple(f"{lines.path} {MARK_NOTE}" for lines in texts if lines.has_mark)
    notes += _runs_noted(options, paths)
    if options.scores:
        tables += _scores_beside(options, tables[0])
        tables, labels, left_out = _on_shared_lines(tables, labels, ", ".join(options.scores))
        notes += left_out
    return Input({"": _chosen(tables, options)}, labels, notes, paths)


class Labels(list[str]):
    """The lines of a file of labels; its name, such as "document" of ``documents.txt``."""

    def __init__(self, path: str) -> None:
        super().__init__(read_lines(path, labels=True))
        blank = next((i for i, label in enumerate(self, 1) if not label), None)
        if blank is not None:
            raise InputError(f"{path}, line {blank} is blank; every segment requires a label")
        n_cells = [{line.count(mark) for line in self} for mark in ",;\t"]
        if len(set(self)) == len(self) > 1 and any(len(n) == 1 and max(n) > 0 for n in n_cells):
            raise InputError(
                f"{path} looks like a table, since its lines all differ and have several cells, "
                f"such as {shown(self[0], 40)}. Pass a file with one label per line, in the order "
                "of the items, or add the labels to the table of scores as a column."
            )
        stem, *suffixes = Path(path).name.split(".")
        # Files of mt-metrics-eval are named after the languages: en-cs.docs.
        stem = "documents" if "docs" in suffixes else stem
        one = re.sub(r"(?<=[a-z]{2}[a-rt-z])s$", "", stem)
        # Standard input and pipes have no names, and single letters are not words.
        self.name = one if len(one) > 2 and one[:1].isalpha() else ""

    def at(self, places: Iterable[int]) -> Labels:
        """Return the labels at these places."""
        chosen = copy(self)
        chosen[:] = [self[i] for i in places]
        return chosen


def _labels(given: str | list[str], is_name: Callable[[str], bool] = lambda one: False) -> Any:
    """Return labels: names, or the lines of a file; for two files, a mapping from their names."""
    if isinstance(given, str):
        return given if is_name(given) else Labels(given)
    if all(map(is_name, given)):
        return given
    columns = [one if is_name(one) else Labels(one) for one in given]
    return {getattr(c, "name", c) or path: c for c, path in zip(columns, given, strict=True)}


def _of_unpaired_texts(
    options: argparse.Namespace, metrics: list[Metric], progress: Progress
) -> Input:
    """Read and extract texts with separate references for each system."""
    _refuse(
        options, (*_LABELS, "test_set", "num_refs", "scores"), "does not apply to --unpaired texts"
    )
    files = options.references or []
    names = system_names(options.input, options.names)
    as_names(names)
    if len(files) != len(names):
        raise InputError(
            f"--unpaired requires one file of references (-r) for each of the {len(names)} files "
            f"of -i, in the same order; got {len(files)}"
        )
    tables: list[SegmentStatistics] = []
    for name, path, file in zip(names, options.input, files, strict=True):
        lines, references = Lines(path), Lines(file)
        if len(lines) != len(references):
            raise InputError(
                f"{path} has {counted(len(lines), 'line')} but its references {file} have "
                f"{len(references):,}"
            )
        tables += extract_files({name: lines}, [references], metrics, progress)
    paths = dict(zip(options.input, names, strict=True))
    return Input({"": _chosen(tables, options)}, {}, paths=paths)


def _runs_noted(options: argparse.Namespace, paths: Iterable[str]) -> tuple[str, ...]:
    """Return a note if files look like runs of a system by their names, but count as systems."""
    stems = [stem_of(path) for path in paths]
    names = [_RUN.sub("", stem) or "system" for stem in stems]
    if options.names or len(stems) < _FEWEST_RUNS or len(set(names)) == len(names):
        return ()
    i = next(i for i, name in enumerate(names) if names.count(name) > 1)
    return (
        f"{stems[i]} and {stems[names.index(names[i], i + 1)]} look like runs of one system, but "
        f"count as systems; if they are runs, pass --names {shlex.join(names)}",
    )


def _names(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the name of each file, and its system if several files are runs of one system.

    With ``--names A A B B`` the files are "A run 1", "A run 2" and so on.
    """
    names = options.names or []
    if len(set(names)) == len(names) or len(names) != len(options.input):
        return system_names(options.input, options.names), []
    numbers = [f"{name} run {names[: i + 1].count(name)}" for i, name in enumerate(names)]
    if options.scores:
        raise InputError(
            "--scores requires one file per system, but --names repeats a name for several runs"
        )
    if options.command == "extract":
        # The file could not store the metric of runs.
        raise InputError(
            "extract requires one file per system, but --names repeats a name for several runs"
        )
    return numbers, list(names)


def _chosen(
    tables: list[SegmentStatistics], options: argparse.Namespace
) -> list[SegmentStatistics]:
    """Return the requested systems, in the order of the patterns."""
    if not options.systems:
        return tables
    names = distinct(name for table in tables for name in table.systems)
    check_patterns(options.systems, names, "systems")
    places = [i for p in options.systems for i, name in enumerate(names) if matches(name, [p])]
    places = list(dict.fromkeys(places))
    chosen = tuple(names[i] for i in places)
    if options.unpaired:
        from evalstats.designs.samples import tables_by_system

        apart = tables_by_system(tables)
        return [table for name in chosen for table in apart[name]]
    return [replace(table, values=table.values[places], systems=chosen) for table in tables]


def _references(options: argparse.Namespace) -> list[Lines]:
    """Return the lines of the files of references, which must have equally many."""
    files = _reference_files(options)
    streams = [Lines(path) for path in files]
    if options.num_refs is not None:
        n = integer(options.num_refs, "num_refs", 2, _MOST_REFERENCES)
        if options.test_set or len(files) > 1:
            raise InputError(
                "requires a single file of references, passed with -r", argument="num_refs"
            )
        return streams[0].columns(n, bool(options.blank_is_absent))
    if options.blank_is_absent and len(streams) == 1:
        raise InputError(
            "requires several references; pass several files with -r, or --num-refs",
            argument="blank_is_absent",
        )
    if len(set(map(len, streams))) > 1:
        counts = ", ".join(f"{p} has {len(lines)}" for p, lines in zip(files, streams, strict=True))
        raise InputError(f"must have the same number of lines: {counts}", argument="references")
    return streams


def _reference_files(options: argparse.Namespace) -> list[str]:
    """Return the files of references, given or from sacreBLEU's test set."""
    if options.references and options.test_set:
        raise InputError("pass either -r/--references or -t/--test-set, not both")
    if options.references:
        return list(options.references)
    if not options.test_set:
        raise InputError("references are missing; pass -r FILE ..., or -t NAME -l SRC-TRG")
    if not options.language_pair:
        raise InputError("-t/--test-set requires -l/--language-pair, for example -l en-de")
    return list(test_set_files(options.test_set, options.language_pair))


def texts_of(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the texts of segments for a report: references and outputs from files.

    With domains, or if only some lines have scores, the keys of texts are line numbers; in totals
    they follow the name of the domain.
    """
    if options.command != "compare" or not options.input or options.unpaired:
        return None
    is_part = options.by is not None or options.missing == "intersect"
    if is_part and (options.groups or options.by == STANDARD):
        # A domain has only some of the documents, and standard input cannot be read again.
        return None
    # Standard input cannot be read again.
    references = [] if STANDARD in _reference_files(options) else _references(options)
    numbers = [f" {i + 1}" for i in range(len(references))] if len(references) > 1 else [""]
    shown = {f"reference{number}": lines for number, lines in zip(numbers, references, strict=True)}
    names, systems_of_runs = _names(options)
    # With several runs, it is unclear which one to show.
    if not systems_of_runs:
        for name, path in zip(names, options.input, strict=True):
            if path != STANDARD and (not options.systems or matches(name, options.systems)):
                shown[name] = Lines(path)
    texts = {name: list(lines) for name, lines in shown.items()}
    if not is_part:
        return texts
    positions = [str(i + 1) for i in range(max(map(len, texts.values()), default=0))]
    of_domains = map("{}: {}".format, Labels(options.by), positions) if options.by else positions
    ids = [*positions, *of_domains]
    return {name: dict(zip(ids, [*lines, *lines], strict=True)) for name, lines in texts.items()}


def _of_logs(options: argparse.Namespace, labels: Mapping[str, str]) -> Joined:
    """Read logs and tables of scores, with labels of items by name or from files."""
    from evalstats.designs.arenas.battles import BattleTable, BradleyTerry
    from evalstats.logs.formats import FORMATS
    from evalstats.logs.joining import joined
    from evalstats.logs.sources import Source

    paths, names = options.logs, options.names
    texts = [p for p in paths if p.removesuffix(".gz").endswith(".txt")]
    wrong = [p for p in texts if not any(one.is_ours(Source(Path(p))) for one in FORMATS)]
    if wrong := [*wrong, *(p for p in paths if p == STANDARD)]:
        raise InputError(
            f"{wrong[0]} is not a file of statistics (.npz), a log or a table of scores; pass "
            "outputs with -i"
        )
    of_items = {
        argument: _labels(name, lambda one: not (Path(one).suffix and Path(one).is_file()))
        for argument, name in labels.items()
    }
    wanted = _selection(options)
    if options.command == "gate":
        wanted["allow_changes"] = options.allow_changes
    of_strengths = {x: value for x in names_of("battles") if (value := getattr(options, x))}
    if of_strengths:
        wanted["strengths"] = BradleyTerry(**of_strengths)
    places = [Path(path).absolute() for path in paths]
    if names is None:
        if again := [path for i, path in enumerate(paths) if places[i] in places[:i]]:
            raise InputError(
                f"{again[0]} is given more than once; use --names to give each copy its own name"
            )
    elif len(names) != len(paths):
        raise InputError(
            f"--names requires one name for each of the {len(paths)} logs, got {len(names)}"
        )
    logs: Any = paths
    if names is not None:
        # Logs with one name are the runs of a system.
        logs = {name: [p for n, p in zip(names, paths, strict=True) if n == name] for name in names}
    wanted |= {"paired": not options.unpaired, "called_apart": True}
    merged = joined(logs, labels=of_items, **wanted)
    tables: Iterable[object] = chain.from_iterable(merged.tasks.values())
    if of_strengths and not all(isinstance(table, BattleTable) for table in tables):
        raise InputError(
            f"applies only to battles (columns model_a, model_b, winner), but {paths[0]} has "
            "scores of items; leave it out",
            argument=next(iter(of_strengths)),
        )
    return merged


def _selection(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options for selecting and reading logs."""
    names = ("task", "filter", "systems", "missing", "epochs", "human")
    selection = {name: getattr(options, name) for name in names}
    selection["metric"] = options.metrics
    better = dict.fromkeys(options.lower_is_better or [], "lower")
    better |= dict.fromkeys(options.higher_is_better or [], "higher")
    selection["directions"] = better or None
    if options.columns is not None:
        # ["mine=score", "id="] becomes {"mine": "score", "id": None}.
        selection["columns"] = {}
        for text in options.columns:
            name, equals, role = text.rpartition("=")
            if not equals:
                raise InputError(f"--columns must be COLUMN=ROLE, such as mine=score, got {text}")
            selection["columns"][name] = role or None
    return {name: value for name, value in selection.items() if value is not None}


def log_at(path: str, options: argparse.Namespace) -> Log:
    """Return the content of a log or a file of statistics."""
    from evalstats.logs.log import log_of
    from evalstats.logs.pivot import epochs_of
    from evalstats.logs.reading import read_log
    from evalstats.logs.rows import Items, Key, Rows

    if Path(path).suffix != ".npz":
        of_several = ("missing", "systems", "human")
        wanted = {name: x for name, x in _selection(options).items() if name not in of_several}
        if "epochs" in wanted:
            # The mean of each item is always shown.
            wanted["epochs"] = epochs_of(wanted["epochs"])[0]
        return read_log(path, **wanted)
    table = SegmentStatistics.load(path)
    ids = table.segment_ids or tuple(map(str, range(table.n_segments)))
    items, key = Items.of(path, ids, table.labels), Key("", table.metric.name)
    by_system = zip(table.systems, table.values[:, items.order], strict=True)
    rows = [Rows(key, name, table.metric, items, values) for name, values in by_system]
    return log_of(path, "statistics", rows)


@dataclass(frozen=True, eq=False, repr=False)
class Logs(Result):
    """Several logs, one after the other."""

    logs: tuple[Log, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for each log."""
        return {"logs": [log.to_dict() for log in self.logs]}

    def _rows(self) -> tuple[Log, ...]:
        return self.logs

    def _notes(self) -> list[str]:
        return [f"{log.path}: {note}" for log in self.logs for note in log._notes()]


def _scores_beside(
    options: argparse.Namespace, of_texts: SegmentStatistics
) -> list[SegmentStatistics]:
    """Return scores of the same systems and lines as texts, one table per metric.

    The names of segments are line numbers; a system may have the name of its file.
    """
    from evalstats.logs.joining import joined

    wanted = {name: value for name, value in _selection(options).items() if name != "metric"}
    # Standard input cannot be read again.
    references = [] if STANDARD in (options.references or []) else _references(options)
    names = dict(zip(of_texts.systems, map(stem_of, options.input), strict=True))
    tables = chain.from_iterable(joined(options.scores, **wanted).tasks.values())
    return [_of_lines(table, names, of_texts.n_segments, references, options) for table in tables]


def _of_lines(
    table: SegmentStatistics,
    names: Mapping[str, str],
    n: int,
    references: list[Lines],
    options: argparse.Namespace,
) -> SegmentStatistics:
    """Return scores of the systems with these names or files."""
    from evalstats.logs.fields import fingerprint
    from evalstats.logs.sources import without_suffix

    metric, where = table.metric.name, ", ".join(options.scores)
    known_as = {without_suffix(name): i for i, name in enumerate(table.systems)}
    known_as |= {name: i for i, name in enumerate(table.systems)}
    for name, of_file in names.items():
        if name not in known_as and of_file in known_as:
            known_as[name] = known_as[of_file]
    if gone := [name for name in names if name not in known_as]:
        raise InputError(
            f"{where} has no scores ({metric}) of {', '.join(map(repr, gone))}, only of "
            f"{', '.join(map(repr, table.systems))}; rename the systems with --names"
        )
    ids = table.segment_ids or ("nothing",)
    first = 0 if "0" in ids else 1
    lines = {str(i + first): i for i in range(n)}
    if odd := [x for x in ids if x not in lines]:
        raise InputError(
            f"{where}: the segments of {metric} must be the {n:,} line numbers of the texts, "
            f"starting at 0 or 1, but some are {', '.join(map(repr, odd[:3]))}"
        )
    if table.n_segments != n and options.missing not in ("intersect", "available"):
        raise InputError(
            f"{where} has scores ({metric}) of {table.n_segments:,} segments but the texts have "
            f"{n:,} lines; to use only the lines with scores, pass --missing intersect"
        )
    places = [lines[x] for x in ids]
    hashes = table.labels.get("reference_hash")
    if hashes and references:
        texts = list(zip(*(lines.texts(0, n) for lines in references), strict=True))
        prints = [{fingerprint(text.strip()) for text in texts[i]} for i in places]
        others = [
            i for i, asked, known in zip(places, hashes, prints, strict=True) if asked not in known
        ]
        if others:
            raise InputError(
                f"{where} has scores ({metric}) for different references than the texts: "
                f"{len(others):,} of {len(places):,} differ, the first in line {others[0] + 1}"
            )
    values = table.values[[known_as[name] for name in names]]
    ids = tuple(str(i + 1) for i in places)
    return replace(table, values=values, systems=tuple(names), segment_ids=ids, labels={})


def _on_shared_lines(
    tables: list[SegmentStatistics], labels: dict[str, Any], where: str
) -> tuple[list[SegmentStatistics], dict[str, Any], tuple[str, ...]]:
    """Return tables and labels for the lines that all tables have, and a note on the others."""
    n, first = tables[0].n_segments, tables[0].segment_ids or ()
    shared = set.intersection(*(set(table.segment_ids or ()) for table in tables))
    if len(shared) == n:
        return tables, labels, ()
    kept = [i for i, name in enumerate(first) if name in shared]
    chosen = {
        name: {x: column.at(kept) for x, column in values.items()}
        if isinstance(values, dict)
        else values and values.at(kept)
        for name, values in labels.items()
    }
    gone = n - len(kept)
    note = (
        f"{gone:,} of {n:,} lines {'is' if gone == 1 else 'are'} left out, because {where} has no "
        "score there. Its ids are line numbers that begin at 1, or at 0 if one id is 0."
    )
    return list(SegmentStatistics.align(*tables, missing="intersect")), chosen, (note,)


def system_names(paths: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Return the given names, or the differing parts of file names.

    File names lose their last suffix, and common beginnings and endings of parts between dots (not
    within numbers), unless only one character would remain.
    """
    if names is not None and len(names) != len(paths):
        raise InputError(
            f"requires one name for each of the {len(paths)} inputs, got {len(names)}",
            argument="names",
        )
    chosen = list(names or map(stem_of, paths))
    places = [Path(path).absolute() for path in paths]
    for i, name in enumerate(chosen):
        if name in chosen[:i]:
            if not names and places[i] in places[:i]:
                raise InputError(f"{paths[i]} is given more than once; leave one out")
            raise InputError(
                f"{paths[chosen.index(name)]} and {paths[i]} have the same system name {name!r}; "
                "pass different ",
                Argument("names"),
            )
    return chosen if names else apart(chosen)


def test_set_files(test_set: str, langpair: str) -> list[str]:
    """Return the reference files of one of sacreBLEU's test sets; downloads them if not cached."""
    from sacrebleu import utils
    from sacrebleu.dataset import DATASETS

    if test_set not in DATASETS:
        raise InputError(
            f"sacreBLEU has no test set {test_set!r}; `sacrebleu --list` prints all names"
        )
    pairs = sorted(DATASETS[test_set].langpairs)
    if langpair not in pairs:
        raise InputError(
            f"test set {test_set} has no language pair {langpair!r}; it has {', '.join(pairs)}"
        )
    try:
        files: list[str] = utils.get_reference_files(test_set, langpair)
    # sacreBLEU ends the process when a download fails its checks.
    except (OSError, SystemExit) as error:
        # Without a network the texts may still be cached, without their sources.
        cache = Path(utils.SACREBLEU_DIR, test_set)
        pattern = f"{test_set.replace('/', '_')}.{langpair}.ref*"
        files = sorted(str(path) for path in cache.glob(pattern))
        if not files:
            raise InputError(
                f"test set {test_set}/{langpair} is not cached and could not be downloaded: {error}"
            ) from error
    if not files:
        raise InputError(f"test set {test_set}/{langpair} has no references")
    return files
