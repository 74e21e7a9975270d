"""What is analysed, as tables by task: texts, files of statistics or logs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalstats.analysis.design import NamedTotal
from evalstats.analysis.tasks import as_pairs, tables_of
from evalstats.checks import meant
from evalstats.cli.flags import OF_BATTLES, flag_of
from evalstats.cli.metrics import METRIC_OPTIONS, metrics_of
from evalstats.cli.output import STANDARD
from evalstats.designs.unpaired.independent import tables_by_system
from evalstats.errors import InputError
from evalstats.logs.words import matches
from evalstats.results.records import distinct
from evalstats.statistics.extraction import Progress, as_runs, extract_files
from evalstats.statistics.files import (
    MARK_NOTE,
    Lines,
    read_lines,
    system_names,
    test_set_files,
)
from evalstats.statistics.names import as_names, group_codes
from evalstats.statistics.segments import SegmentStatistics

#: Options that name labels of segments, and those that name files to read.
_LABELS = ("groups", "strata", "by", "over")
_FILES = ("logs", "input", "references", "scores", "ids")
#: Options that name a file, or else a system, a column, or a label.
_FILES_OR_NAMES = ("baseline", "human", *_LABELS)
_OF_LOGS = (
    *("task", "filter", "missing", "epochs", "columns", "lower_is_better", "higher_is_better"),
    "allow_changes",
    "human",
)
_OF_TEXTS = (
    *("references", "test_set", "language_pair", "scores"),
    *(name for names in METRIC_OPTIONS.values() for name in names),
)


@dataclass(frozen=True)
class Input:
    """Tables by task, "" being the only one of texts, labels of segments, and notes on logs.

    A label is one string a segment, or the name of labels that the tables have. `paths` has the
    system of each file that holds one; `totals` are those of groups of logs, and `texts` their
    questions and answers by task.
    """

    tasks: dict[str, list[SegmentStatistics]]
    labels: dict[str, Any]
    notes: tuple[str, ...] = ()
    paths: dict[str, str] | None = None
    totals: tuple[NamedTotal, ...] = ()
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems."""
        tables = next(iter(self.tasks.values()))
        return tuple(distinct(name for table in tables for name in table.systems))

    def system(self, name: str) -> str:
        """Return the system that a name or the path of its file stands for."""
        if found := _known(name, self.systems, self.paths or {}):
            return found
        raise InputError(f"--baseline: there is no {name!r}; {meant(name, self.systems)}")

    def only(self) -> list[SegmentStatistics]:
        """Return the tables of the only task."""
        if len(self.tasks) > 1:
            raise InputError(f"--task and --filter must choose one of {', '.join(self.tasks)}")
        return next(iter(self.tasks.values()))


def _known(name: str, systems: Sequence[str], paths: Mapping[str, str]) -> str | None:
    """Return the system that a name, a path or the end of only one path stands for."""
    if name in systems:
        return name
    for of in (Path, lambda path: Path(path).name):
        alike = {system for path, system in paths.items() if of(path) == of(name)}
        if len(alike) == 1:
            return alike.pop()
    return None


def _check_enough(
    options: argparse.Namespace, systems: Sequence[str], paths: Mapping[str, str]
) -> None:
    """Refuse fewer than two systems, and a gate whose baseline is not there before that."""
    name = options.baseline
    if options.command == "gate" and _known(name, systems, paths) is None:
        raise InputError(
            f"cannot read {name}: it does not exist, and there is no system {name!r}; "
            f"{meant(name, systems)}"
        )
    as_pairs(tuple(systems), None, options.command)


def files_of(options: argparse.Namespace) -> list[str]:
    """Return the files that are read, of which standard input can be one."""
    values = [getattr(options, name) or [] for name in _FILES]
    files = [path for one in values for path in ([one] if isinstance(one, str) else one)]
    for name in _FILES_OR_NAMES:
        path = getattr(options, name, None)
        if path == STANDARD:
            files += [path] if name in _LABELS else []
        elif path and path not in files and Path(path).exists():
            files.append(path)
    if files.count(STANDARD) > 1:
        raise InputError("- is standard input, which can be read once; give files for the others")
    return files


def read(options: argparse.Namespace, progress: Progress, least: int = 1) -> Input:
    """Read what was given, and nothing of another kind, of at least so many systems."""
    paths = options.logs
    if not paths:
        return _of_texts(options, progress, least)
    if options.input:
        raise InputError(
            f"give either {paths[0]} or texts as -i, not both; references go as -r {paths[0]}, "
            f"scores as --scores"
        )
    kinds = {Path(path).suffix == ".npz" for path in paths}
    if len(kinds) > 1:
        raise InputError(f"give files of statistics (.npz) or logs, not both: {' '.join(paths)}")
    _refuse(options, _OF_TEXTS, f"is for texts: {paths[0]} has its own")
    if kinds == {True}:
        unknown = (*_OF_LOGS, *OF_BATTLES, "metrics", "names")
        _refuse(options, unknown, f"says nothing of {paths[0]}")
        found = _of_statistics(options)
    else:
        # Texts, the most of what is compared, need not wait for the readers of logs.
        from evalstats.cli.logs import of_logs

        labels = {name: getattr(options, name) for name in _LABELS}
        # Tasks are there anyway.
        joined = of_logs(options, [x for x in labels.values() if x not in (None, "task")])
        if least > 1:
            joined.several()
        notes = tuple(joined.notes)
        found = Input(joined.tasks, labels, notes, joined.paths, joined.totals, joined.texts)
    if least > 1:
        _check_enough(options, found.systems, found.paths or {})
    return found


def _refuse(options: argparse.Namespace, names: Iterable[str], why: str) -> None:
    for name in names:
        if getattr(options, name, None) is not None:
            raise InputError(f"{flag_of(name)} {why}")


def _of_statistics(options: argparse.Namespace) -> Input:
    tables = [SegmentStatistics.load(path) for path in options.logs]
    labels: dict[str, Any] = {}
    for name in _LABELS:
        asked = getattr(options, name)
        is_label = asked is None or _is_unpaired(options) or asked in tables[0].labels
        labels[name] = asked if is_label else Labels(asked)
    files = zip(options.logs, tables, strict=True)
    paths = {path: table.systems[0] for path, table in files if len(table.systems) == 1}
    tables = tables if _is_unpaired(options) else tables_of(tables)
    return Input({"": _chosen(tables, options)}, labels, paths=paths)


def _of_texts(options: argparse.Namespace, progress: Progress, least: int) -> Input:
    """Read and extract texts, one table a metric; what costs nothing is checked before."""
    _refuse(options, OF_BATTLES, "is for tables of battles, and these are texts")
    if not options.scores:
        _refuse(options, _OF_LOGS, "is for logs and tables of scores, and none is given")
    metrics = metrics_of(options)
    if not options.input:
        raise InputError("outputs are missing: give -i FILE ..., or paths of logs")
    if _is_unpaired(options):
        return _of_unpaired_texts(options, progress)
    names, systems_of_runs = _names(options)
    paths = dict(zip(options.input, systems_of_runs or names, strict=True))
    if least > 1:
        _check_enough(options, list(dict.fromkeys(systems_of_runs or names)), paths)
    labels = _labels(options)
    references = _references(options)
    n_segments = len(references[0])
    for name, values in labels.items():
        if values is not None:
            group_codes(values, n_segments, name)
    systems = _outputs(options.input, names, n_segments)
    tables = extract_files(systems, references, metrics, progress)
    if systems_of_runs:
        tables = [as_runs(table, systems_of_runs) for table in tables]
    # Segments are called by their lines, of which the first is 1.
    ids = tuple(str(i + 1) for i in range(n_segments))
    tables = [replace(table, segment_ids=ids) for table in tables]
    if options.scores:
        from evalstats.cli.logs import scores_beside

        # Standard input cannot be read again.
        again = [] if STANDARD in (options.references or []) else _references(options)
        tables = tables + scores_beside(options, tables[0], again)
    texts = (*references, *systems.values())
    notes = tuple(f"{lines.path} {MARK_NOTE}" for lines in texts if lines.has_mark)
    return Input({"": _chosen(tables, options)}, labels, notes, paths)


class Labels(list[str]):
    """The lines of a file of labels; its name, such as "document" of ``documents.txt``."""

    def __init__(self, path: str) -> None:
        super().__init__(read_lines(path, labels=True))
        stem = Path(path).name.partition(".")[0]
        one = stem if stem.endswith("ss") else stem.removesuffix("s")
        # Standard input and pipes have no names, and a letter is no word.
        self.name = one if len(one) > 2 and one[:1].isalpha() else ""


def _labels(options: argparse.Namespace) -> dict[str, Labels | None]:
    """Return the lines of the files of groups and strata, None where there is no file."""
    files: dict[str, str | None] = {name: getattr(options, name) for name in _LABELS}
    return {name: Labels(path) if path else None for name, path in files.items()}


def _outputs(paths: Sequence[str], names: Sequence[str], n_segments: int) -> dict[str, Lines]:
    """Return the lines of each system's file, which has one for each segment."""
    systems = {name: Lines(path) for name, path in zip(names, paths, strict=True)}
    for path, lines in zip(paths, systems.values(), strict=True):
        if len(lines) != n_segments:
            raise InputError(f"{path} has {len(lines)} lines but the references have {n_segments}")
    as_names(names)
    return systems


def _is_unpaired(options: argparse.Namespace) -> bool:
    return bool(getattr(options, "unpaired", None))


def _of_unpaired_texts(options: argparse.Namespace, progress: Progress) -> Input:
    """Read and extract texts of which each system has references of its own."""
    _refuse(options, (*_LABELS, "test_set", "scores"), "says nothing of --unpaired texts")
    files, metrics = options.references or [], metrics_of(options)
    names = system_names(options.input or [], options.names)
    as_names(names)
    if len(files) != len(names):
        raise InputError(
            f"--unpaired needs a file of references for each of the {len(names)} files of -i, in "
            f"their order; got {len(files)} as -r"
        )
    tables: list[SegmentStatistics] = []
    for name, path, file in zip(names, options.input, files, strict=True):
        lines, references = Lines(path), Lines(file)
        if len(lines) != len(references):
            raise InputError(
                f"{path} has {len(lines)} lines but its references {file} have {len(references)}"
            )
        tables += extract_files({name: lines}, [references], metrics, progress)
    paths = dict(zip(options.input, names, strict=True))
    return Input({"": _chosen(tables, options)}, {}, paths=paths)


def _names(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the name of each file, and the systems whose runs they are; none where each is one.

    Of ``--names A A B B`` the files are "A run 1", "A run 2" and so on.
    """
    names = options.names or []
    if len(set(names)) == len(names) or len(names) != len(options.input):
        return system_names(options.input, options.names), []
    numbers = [f"{name} run {names[: i + 1].count(name)}" for i, name in enumerate(names)]
    if options.scores:
        raise InputError("--scores are of one file a system, and --names says that there are runs")
    if options.command == "extract":
        # A file does not say of which metric its runs are.
        raise InputError("extract keeps one file a system, and --names says that there are runs")
    return numbers, list(names)


def _chosen(
    tables: list[SegmentStatistics], options: argparse.Namespace
) -> list[SegmentStatistics]:
    """Return the systems that are wanted, in the order of the patterns."""
    if not options.systems:
        return tables
    names = distinct(name for table in tables for name in table.systems)
    for pattern in options.systems:
        if not any(matches(name, [pattern]) for name in names):
            raise InputError(f"--systems: there is no {pattern!r}; {meant(pattern, names)}")
    places = [i for p in options.systems for i, name in enumerate(names) if matches(name, [p])]
    places = list(dict.fromkeys(places))
    chosen = tuple(names[i] for i in places)
    if _is_unpaired(options):
        apart = tables_by_system(tables)
        return [table for name in chosen for table in apart[name]]
    return [replace(table, values=table.values[places], systems=chosen) for table in tables]


def _references(options: argparse.Namespace) -> list[Lines]:
    files = _reference_files(options)
    streams = [Lines(path) for path in files]
    if len(set(map(len, streams))) > 1:
        found = ", ".join(f"{p} has {len(lines)}" for p, lines in zip(files, streams, strict=True))
        raise InputError(f"must have the same number of lines: {found}", argument="references")
    return streams


def texts_of(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return what a report shows of segments: references and outputs, where they are in files.

    Of domains, each of which has some of the segments, by the numbers of the lines, which in the
    total stand behind the domain.
    """
    if options.command != "compare" or not options.input or options.unpaired or options.over:
        return None
    if options.by and (options.groups or options.by == STANDARD):
        # A domain has some of the documents, and standard input cannot be read again.
        return None
    # Standard input cannot be read again.
    named = _shown_files(options)
    files = {name: Lines(path) for name, path in named.items() if path != STANDARD}
    texts = {name: lines.texts(0, len(lines)) for name, lines in files.items()}
    if not options.by:
        return texts
    own = [str(i + 1) for i in range(max(map(len, texts.values()), default=0))]
    ids = [*own, *map("{}: {}".format, Labels(options.by), own)]
    return {name: dict(zip(ids, [*lines, *lines], strict=True)) for name, lines in texts.items()}


def _shown_files(options: argparse.Namespace) -> dict[str, str]:
    """Return the files of references, and those of outputs by the names of their systems."""
    references = _reference_files(options)
    numbers = [f" {i + 1}" for i in range(len(references))] if len(references) > 1 else [""]
    named = {f"reference{number}": path for number, path in zip(numbers, references, strict=True)}
    names, systems_of_runs = _names(options)
    # Which of several runs a report should show is not known.
    if not systems_of_runs:
        for name, path in zip(names, options.input, strict=True):
            if not options.systems or matches(name, options.systems):
                named[name] = path
    return named


def _reference_files(options: argparse.Namespace) -> list[str]:
    """Return the files of references, or those of sacreBLEU's test set."""
    if options.references and options.test_set:
        raise InputError("give either -r/--references or -t/--test-set, not both")
    if options.references:
        return list(options.references)
    if not options.test_set:
        raise InputError("references are missing: give -r FILE ..., or -t NAME -l SRC-TRG")
    if not options.language_pair:
        raise InputError("-t/--test-set needs -l/--language-pair, for example -l en-de")
    return list(test_set_files(options.test_set, options.language_pair))
