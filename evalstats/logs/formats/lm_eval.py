"""lm-evaluation-harness: folders with `results_*.json` and `samples_*.jsonl`, one per model.

A run is a results file and the files of samples with the same time stamp, one per task. Every line
of samples has one item with one filter, and for each metric the values that the harness aggregates:
a number, or the parts of a corpus score. So all scores are computed from the samples; the results
file has the aggregation and the reported score. The harness's aggregations are known by name; a
task's own function is recognised by its score, or not at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.fields import as_label, dotted, paths_of
from evalstats.logs.log import Format, Reading, Wanted, settings_of
from evalstats.logs.rows import Answers, Items, Key, Rows, is_finite
from evalstats.logs.sources import Source, differing, json_lines, read_json
from evalstats.metrics import (
    BLEU,
    CHRF,
    TER,
    BitsPerUnit,
    Confusion,
    Mean,
    Metric,
    Perplexity,
    Ratio,
)
from evalstats.metrics.directions import direction
from evalstats.metrics.probabilities import UNITS

#: The most classes; with more, pairs are taken as texts.
_MOST_LABELS = 200


class UnreadableError(Exception):
    """Raised if the rows of a metric cannot be read as statistics that add up."""


#: A metric and its statistics `(n, k)`; NaN if a score is missing.
Read: TypeAlias = tuple[Metric, NDArray[Any]]
#: A function from a name, the direction of a mean, and pairs of numbers to a metric.
Maker: TypeAlias = Callable[[str, bool, list[tuple[Any, Any]]], Metric]


def score_of(metric: Metric, statistics: NDArray[Any]) -> float:
    """Return the score of all rows."""
    return float(metric.score(np.nansum(statistics, axis=0, dtype=np.float64)))


class _Aggregation(NamedTuple):
    """How rows of the form `expected` become statistics of a metric.

    `of_row` turns a row into two numbers, its statistics; or, if `are_pairs`, into the right answer
    and the given answer, which the metric counts.
    """

    expected: str
    of_row: Callable[[Any], tuple[Any, Any]]
    metric: Maker
    are_pairs: bool = False

    def read(self, name: str, higher: bool, rows: list[Any], where: Callable[[int], str]) -> Read:
        """Return the metric of this name and the statistics of its rows.

        `higher` is the direction of a mean, and `where(i)` the name of row i in messages. If the
        first row cannot be read, an `UnreadableError` is raised, since the format is different; if
        a later row cannot be read, an `InputError`.
        """
        parsed = []
        for i, row in enumerate(rows):
            try:
                parsed.append(self.of_row(row))
            except (TypeError, ValueError, OverflowError):
                got = shown(row, 60)
                if i:
                    said = f"{where(i)} must be {self.expected}, got {got}"
                    raise InputError(said) from None
                said = f"its rows should be {self.expected}, but some are {got}"
                raise UnreadableError(said) from None
        metric = self.metric(name, higher, parsed)
        if not self.are_pairs:
            return metric, np.array(parsed, dtype=np.float64)
        right, answers = map(list, zip(*parsed, strict=True))
        return metric, metric.statistics(answers, right)


def _score(row: Any) -> tuple[float, float]:
    """Return a score, 0/1 or any number, and 1; both are NaN if it is NaN or null."""
    return (math.nan, math.nan) if row is None or row != row else (0.0 + row, 1.0)


def _units(row: Any) -> tuple[float, float]:
    """Return the nats of a text and its units, from ``[log-likelihood, number of units]``."""
    nats, units = row
    return 0.0 - nats, 0.0 + units  # 0 and not -0 for a text with probability 1


def _unit(name: str, default: str) -> str:
    """Return the unit in the name of a metric: "word" for "word_perplexity"."""
    unit = name.partition("_")[0]
    return unit if unit in UNITS else default


def _distance(row: Any) -> tuple[float, float]:
    """Return the squared distance of an item's probabilities from its gold class, and 1."""
    gold, chances = row
    if isinstance(chances, str):  # a printed NumPy array, with eight digits
        chances = [float(part) for part in chances.strip("[]").split()]
    if gold not in range(len(chances)):
        raise ValueError
    return math.fsum((chance - (k == gold)) ** 2 for k, chance in enumerate(chances)), 1.0


def _right(row: Any) -> tuple[float, float]:
    """Return how many of a list are right, and how many there are: IFEval's instructions."""
    if set(map(type, row)) != {bool}:
        raise TypeError
    return sum(row), len(row)


def _text_pair(row: Any) -> tuple[list[str], str]:
    """Return references and a hypothesis, from ``[reference or references, hypothesis]``."""
    reference, hypothesis = row
    references = reference if isinstance(reference, list) else [reference]
    if isinstance(hypothesis, list):
        (hypothesis,) = hypothesis
    if not references or not all(isinstance(text, str) for text in (*references, hypothesis)):
        raise TypeError
    return references, hypothesis


def _of_texts(metric: Metric) -> _Aggregation:
    """Return the corpus score of a metric."""
    return _Aggregation("[reference, hypothesis]", _text_pair, lambda *_: metric, are_pairs=True)


def _labels(row: Any) -> tuple[Any, Any]:
    """Return the gold label and the predicted one, each an integer or a text."""
    gold, predicted = (one if isinstance(one, str) else index(one) for one in row)
    return gold, predicted


def _of_classes(measure: str, classes: tuple[Any, ...] = ()) -> _Aggregation:
    """Return a measure of a classification; `classes` are by default the labels that occur."""

    def confusion(_name: str, _higher: bool, pairs: list[tuple[Any, Any]]) -> Metric:
        there = {label for pair in pairs for label in pair}
        if classes and not there.issubset(classes):
            raise UnreadableError("its labels are not 0 and 1, and scikit-learn uses the label 1")
        if len(there) > _MOST_LABELS or len(set(map(type, there))) > 1:
            raise UnreadableError(f"its rows have more than {_MOST_LABELS} labels, or two kinds")
        if len(there) == 1:  # At least two classes are needed.
            (only,) = there
            there.add(f"not {only}" if isinstance(only, str) else int(only == 0))
        # Absent classes do not count in averages.
        return Confusion(classes or tuple(sorted(there)), measure, absent="omit")

    expected = "[gold label, predicted label], integers or texts"
    return _Aggregation(expected, _labels, confusion, are_pairs=True)


_MEAN = _Aggregation("numbers", _score, lambda name, higher, _: Mean(name, higher))
_RIGHT = _Aggregation(
    "lists of true and false",
    _right,
    lambda name, higher, _: Ratio(name, ("right", "all"), higher_is_better=higher),
)
_MEASURES = ("accuracy", "macro-f1", "weighted-f1", "mcc", "kappa", "balanced-accuracy")
#: Candidates for a task's own function.
_OWN = (_MEAN, _RIGHT, *map(_of_classes, _MEASURES), _of_classes("f1", (0, 1)))
_NATS = "[log-likelihood, number of units]"
#: By the harness's registered names; F1 is for the label 1, as in scikit-learn.
_REGISTERED = {
    "mean": _MEAN,
    "nanmean": _MEAN,
    "bleu": _of_texts(BLEU()),
    "chrf": _of_texts(CHRF()),
    "chrf++": _of_texts(CHRF(word_order=2)),
    "ter": _of_texts(TER()),
    "perplexity": _Aggregation(
        "log-likelihoods", lambda row: (0.0 - row, 1.0), lambda *_: Perplexity("item")
    ),
    "weighted_perplexity": _Aggregation(
        _NATS, _units, lambda name, *_: Perplexity(_unit(name, "token"))
    ),
    "bits_per_byte": _Aggregation(_NATS, _units, lambda name, *_: BitsPerUnit(_unit(name, "byte"))),
    "brier_score": _Aggregation(
        "[gold class, probabilities of all classes]",
        _distance,
        lambda name, *_: Mean(name, False),
    ),
    "f1": _of_classes("f1", (0, 1)),
    "matthews_corrcoef": _of_classes("mcc"),
}
_NEVER = {
    "median": "a median is not a function of sums",
    "bypass": "nothing was scored (--predict_only)",
}


def read_as(
    function: str,
    stated: float | None,
    name: str,
    higher: bool,
    rows: list[Any],
    where: Callable[[int], str],
) -> Read:
    """Return the rows of a metric as the harness aggregates them, as in `_Aggregation.read`.

    `function` is a name, or the source of the task's own aggregation, which is never run: then the
    metric is the only candidate that gives the reported score.
    """
    if why := _NEVER.get(name if name == "bypass" else function):
        raise UnreadableError(why)
    if function in _REGISTERED:
        return _REGISTERED[function].read(name, higher, rows, where)
    named = re.search(r"def\s+(\w+)", function)
    by = f"it is aggregated by {named[1] if named else shown(function, 60)}"
    if stated is None:
        raise UnreadableError(f"{by}, and there is no reported score to identify it with")
    candidates = []
    for aggregation in _OWN:
        with suppress(UnreadableError, InputError):
            candidate = aggregation.read(name, higher, rows, where)
            if math.isclose(score_of(*candidate), stated, rel_tol=1e-9, abs_tol=1e-12):
                candidates.append(candidate)
    if not candidates:
        raise UnreadableError(f"{by}, which is not known to be a function of sums")
    if len(candidates) > 1:
        names = ", ".join(metric.name for metric, _ in candidates)
        raise UnreadableError(f"{by}, and its score matches several metrics: {names}")
    return candidates[0]


_STAMP = r"_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_SAMPLES = re.compile(rf"samples_(.+){_STAMP}\.jsonl(?:\.gz)?", re.DOTALL)
#: With --output_path a.json, results are in a_<time stamp>.json.
_RESULTS = re.compile(rf".+{_STAMP}\.json", re.DOTALL)

#: The harness's default aggregations of its own metrics.
_OWN_NAMES = ("perplexity", "bits_per_byte", "f1", "bleu", "chrf", "chrf++", "ter", "brier_score")
_AGGREGATIONS = {
    **{name: name for name in (*_OWN_NAMES, "bypass")},
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "mcc": "matthews_corrcoef",
}
#: Hashes of question and expected answer; prompts may differ by shots and chat templates.
_HASHES = ("doc_hash", "target_hash")
#: Fields of a line that are not metrics.
_FIXED = frozenset(
    ["doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"]
) | {"prompt_hash", *_HASHES}


class _Run(NamedTuple):
    """The files of one run: the results (or None), and samples by task."""

    folder: Path
    results: Path | None
    samples: dict[str, Path]


def _lm_eval(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of the newest run of every model."""
    runs = _runs(reading)
    known = [Results(read_json(run.results) if run.results else {}) for run in runs]
    names = [results.model or run.folder.name for results, run in zip(known, runs, strict=True)]
    again = [i for i, name in enumerate(names) if names.count(name) > 1]
    # Models with equal names are named by the difference between their folders.
    apart = differing([runs[i].folder.absolute().parts for i in again]) if again else []
    for i, name in zip(again, apart, strict=True):
        names[i] = name or names[i]
    for run, results, name in zip(runs, known, names, strict=True):
        if run.results is None:
            lost = "scores are not checked, and missing lines are not noticed"
            reading.skipped.append(f"the results file of {name}, which is missing: {lost}")
        rows = _of_run(reading, run, results, name)
        yield from rows
        tasks = {one.key.task for one in rows}
        for group, members in results.groups.items():
            if not tasks.isdisjoint(members):
                reading.groups[group] = members
        for group in results.members:
            for metric, score in results.scores(group).items():
                reading.group_scores[Key(group, *metric.rsplit(",", 1)), name] = score


def _of_run(reading: Reading, run: _Run, results: Results, model: str) -> list[Rows]:
    """Return the rows of the tasks of one run that are wanted."""
    source, wanted = reading.source, reading.wanted.opened(results.groups)
    # In file names, characters other than letters, digits and _ may be replaced by _.
    names = {re.sub(r"\W", "_", task): task for task in results.tasks}
    names |= {task: task for task in results.tasks}
    tasks = {names.get(name, name): path for name, path in run.samples.items()}
    for task in results.tasks if source.suffix != ".jsonl" else ():
        if task not in tasks and wanted.has_task(task):
            reading.skipped.append(f"{task}: there is no file of its samples (--log_samples)")
    rows: list[Rows] = []
    for task, path in tasks.items():
        if wanted.has_task(task):
            samples = TaskSamples(task, results, wanted, str(path))
            for line, record in json_lines(path):
                samples.add(record, line)
            rows += samples.rows(model or str(source.path), reading.skipped)
    return rows


def _stamp_of(path: Path) -> str:
    """Return the time stamp in the name of a file of samples or results; empty for any other."""
    match = _SAMPLES.fullmatch(path.name) or _RESULTS.fullmatch(path.name)
    return match["stamp"] if match else ""


def _of_stamp(folder: Path, stamp: str) -> _Run:
    """Return the files of one time stamp in a folder."""
    run = _Run(folder, None, {})
    for path in sorted(p for p in folder.iterdir() if p.is_file() and _stamp_of(p) == stamp):
        if match := _SAMPLES.fullmatch(path.name):
            run.samples[match[1]] = path
        else:
            run = run._replace(results=run.results or path)
    return run


def _with_samples(path: Path, run: _Run, skipped: Sequence[str]) -> _Run:
    """Return a run with files of samples, or raise with instructions."""
    if not run.samples:
        raise InputError(
            f"{path} has no samples (samples_<task>_<time stamp>.jsonl) beside its results; "
            f"run lm_eval with --log_samples, or evaluate(..., log_samples=True)"
            + "".join(f"; not read: {text}" for text in skipped)
        )
    return run


def _is_of_run(source: Source) -> bool:
    """Return whether a file of a folder has samples or results, by its name."""
    path = source.path
    is_named = path.name.startswith("results_") and _stamp_of(path) != ""
    return is_named or _SAMPLES.fullmatch(path.name) is not None


def _runs(reading: Reading) -> list[_Run]:
    """Return the newest run of each model in each folder; or the run of one file."""
    path = reading.source.path
    if not path.is_dir():
        # Files with the same time stamp in the same folder belong together.
        stamp, match = _stamp_of(path), _SAMPLES.fullmatch(path.name)
        run = _of_stamp(path.parent, stamp) if stamp else _Run(path.parent, None, {})
        if reading.source.suffix == ".jsonl":
            return [run._replace(samples={match[1] if match else path.stem: path})]
        return [_with_samples(path, run._replace(results=path), [])]
    stamps: dict[Path, Counter[str]] = defaultdict(Counter)
    for file in reading.files:
        stamps[file.parent][_stamp_of(file)] += 1
    runs = []
    for folder, n_files in stamps.items():
        newest = max(n_files)
        chosen: dict[str, _Run] = {}
        left: list[str] = []
        for stamp in sorted(n_files, reverse=True):
            run = _of_stamp(folder, stamp)
            model = Results(read_json(run.results)).model if run.results else ""
            # Runs at other times may have other settings; other models are other systems.
            if not chosen or (model and "" not in chosen and model not in chosen and run.samples):
                chosen[model] = run
                continue
            older = f"{n_files[stamp]} files, which is older than the run of {newest}"
            how = "to read it, pass its results file or a file of its samples"
            left.insert(0, f"the run of {stamp}, {older}; {how}")
        for run in chosen.values():
            if run.samples or len(stamps) == 1:
                runs.append(_with_samples(path, run, left))
            else:
                lost = "there are no samples beside it (--log_samples)"
                reading.skipped.append(f"{run.results}: {lost}")
        reading.skipped += left
    return runs or [_with_samples(path, _Run(path, None, {}), reading.skipped)]


def _is_lm_eval(source: Source) -> bool:
    """Return whether a file has samples of a task, or results of tasks."""
    if source.suffix == ".jsonl":
        keys = source.first.keys()
        return "doc_id" in keys and not {"metrics", "resps", "doc_hash"}.isdisjoint(keys)
    record = _mapping(source.json)
    known = ("configs", "n-samples", "lm_eval_version", "n-shot")
    return isinstance(record.get("results"), dict) and not record.keys().isdisjoint(known)


LM_EVAL = Format("lm-evaluation-harness", ".json .jsonl", _is_lm_eval, _lm_eval, _is_of_run)


class Results:
    """The contents of a results file; an entry of a wrong type counts as missing."""

    def __init__(self, record: object) -> None:
        self.record: Mapping[str, Any] = _mapping(record)

    def entry(self, part: str, task: str) -> Mapping[str, Any]:
        """Return the entry of a task in a part of the record: "n-samples"; empty without one."""
        return _mapping(_mapping(self.record.get(part)).get(task))

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """Direct members of each group. Older logs list every task as a group without members."""
        return {
            group: [name for name in children if isinstance(name, str)]
            for group, children in _mapping(self.record.get("group_subtasks")).items()
            if isinstance(children, list) and children
        }

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that were scored, without groups."""
        return [task for task in _mapping(self.record.get("results")) if task not in self.members]

    @property
    def model(self) -> str:
        """The name of the model, or an empty string."""
        names = (self.record.get(key) for key in ("model_name", "model_name_sanitized"))
        return next((n.strip() for n in names if isinstance(n, str) and n.strip()), "")

    def scores(self, task: str) -> dict[str, float]:
        """Return the scores of a task or group by "metric,filter": no sizes, no errors."""
        return {
            name: float(value)
            for name, value in self.entry("results", task).items()
            if isinstance(name, str) and "," in name and "_stderr," not in name
            if is_finite(value) and not isinstance(value, bool)
        }

    def count(self, task: str) -> int | None:
        """Return how many items were scored."""
        counts = self.entry("n-samples", task), self.entry("results", task)
        for value in (counts[0].get("effective"), counts[1].get("sample_len")):
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    def aggregation(self, task: str, metric: str) -> tuple[str, bool]:
        """Return the aggregation of a metric, and whether the log contains it."""
        listed = self.entry("configs", task).get("metric_list")
        for entry in listed if isinstance(listed, list) else []:
            if _mapping(entry).get("metric") == metric and "aggregation" in entry:
                return str(entry["aggregation"]), True
        return _AGGREGATIONS.get(metric, "mean"), metric in _AGGREGATIONS

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Tasks of each group and of the groups in it, and of each tag; all of them were scored."""
        tasks = self.tasks
        tags: dict[str, list[str]] = {}
        for task in tasks:
            named = self.entry("configs", task).get("tag")
            for tag in named if isinstance(named, list) else [named]:
                if isinstance(tag, str) and tag not in tasks:
                    tags.setdefault(tag, []).append(task)
        whole = {tag: tuple(tagged) for tag, tagged in tags.items()}
        whole |= {group: self.leaves(group) for group in self.members}
        return {name: whole[name] for name in whole if whole[name] and {*tasks} >= {*whole[name]}}

    def leaves(self, group: str) -> tuple[str, ...]:
        """Return the tasks of a group and of its groups, which may contain each other."""
        seen = {group: None}
        for name in (waiting := [group]):
            inner = [one for one in self.members.get(name, ()) if one not in seen]
            seen |= dict.fromkeys(inner)
            waiting += dict.fromkeys(inner)
        return tuple(name for name in seen if name not in self.members)


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping unchanged, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def _parts(request: object) -> list[Any]:
    """Return a list, or the values of an object, such as a prompt and a choice; or nothing."""
    parts = list(request.values()) if isinstance(request, dict) else request
    return parts if isinstance(parts, list) else []


def _texts(record: Mapping[str, Any]) -> dict[str, str]:
    """Return question, expected answer and given answer, as far as a line has them."""
    requests, answers = _parts(record.get("arguments")), record.get("filtered_resps")
    answers = answers if isinstance(answers, list) else []
    answer = answers[0] if answers else ""
    if isinstance(answer, list) and len(answers) == len(requests) > 1:
        # For choices, the answer is the likeliest one.
        with suppress(ValueError, TypeError, IndexError):
            likelihoods = [float(one[0]) for one in answers]
            answer = _parts(requests[likelihoods.index(max(likelihoods))])[1]
    if isinstance(answer, list):
        answer = answer[0] if answer else ""
    question = next(iter(_parts(requests[0])), "") if requests else ""
    texts = {"question": question, "target": record.get("target"), "answer": answer}
    return {name: text.strip() if isinstance(text, str) else "" for name, text in texts.items()}


class TaskSamples:
    """The lines of a task, added one by one, and then read as rows.

    In messages a line is named by `path` and `unit`: "samples_arc.jsonl, line 7".
    """

    def __init__(
        self, task: str, results: Results, wanted: Wanted, path: str, unit: str = "line"
    ) -> None:
        self.task: str = task
        self.results: Results = results
        self.wanted: Wanted = wanted
        self.path: str = path
        self.unit: str = unit
        self.scores: dict[str, float] = results.scores(task)
        filters = {name.rpartition(",")[2] for name in self.scores}
        # Logs from before 2025 do not name filters in lines; a single filter is then used.
        self.filter = next(iter(filters)) if len(filters) == 1 else None if filters else "none"
        self.filters = defaultdict[str, Answers](lambda: Answers(f"{path}, {task}", unit))
        #: By filter: the metrics of the last line, and the requested ones among them.
        self.named: dict[str, tuple[Any, list[str]]] = {}

    def add(self, record: Mapping[str, Any], n: int) -> None:
        """Add line n of the file."""
        filter = record.get("filter", self.filter)
        if filter is None:
            raise InputError(f"{self._at(n)} must name its filter, since the log has several")
        answers = self.filters[filter]
        names = record.get("metrics")
        if names is None:
            names = [name for name in record if name not in _FIXED]
        known, asked = self.named.get(filter, (None, []))
        if names != known:
            asked = [name for name in names if self.wanted.has(Key(self.task, name, filter))]
            self.named[filter] = names, asked
        try:
            values, doc_id = {name: record[name] for name in asked}, str(record["doc_id"])
        except KeyError as error:
            raise InputError(f"{self._at(n)} has no {error.args[0]!r}") from None
        answers.paths = answers.paths or paths_of(record, "doc")
        labels = {name: as_label(record.get(name)) for name in _HASHES}
        for name in self.wanted.labels:
            labels[name] = dotted(record, name)
        texts = {**_texts(record), "prompt": as_label(record.get("prompt_hash"))}
        answers.add(n, doc_id, labels, values, texts=texts)

    def _at(self, n: int) -> str:
        return f"{self.path}, {self.unit} {n}"

    def rows(self, system: str, skipped: list[str]) -> list[Rows]:
        """Return the rows of all metrics and filters; unreadable ones are added to `skipped`."""
        rows = []
        for filter, answers in self.filters.items():
            items = answers.items()
            for metric in answers.values:
                key = Key(self.task, metric, filter)
                try:
                    rows.append(self._rows(key, system, answers, items))
                except UnreadableError as error:
                    skipped.append(f"{key}: {error}")
        if not self.filters:
            skipped.append(f"{self.task}: {self.path} has no lines")
        return rows

    def _rows(self, key: Key, system: str, answers: Answers, items: Items) -> Rows:
        """Return the rows of one metric and filter."""
        results, values = self.results, answers.values[key.metric]
        places = list(values)
        said = results.entry("higher_is_better", self.task).get(key.metric)
        higher = said if isinstance(said, bool) else direction(key.metric)

        def where(i: int) -> str:
            return f"{self._at(answers.lines[places[i]])}: {key.metric}"

        logged = key.metric, higher is not False, list(values.values()), where
        stated = self.scores.get(f"{key.metric},{key.filter}")
        function, is_said = results.aggregation(self.task, key.metric)
        expected = results.count(self.task)
        lacking = ""
        if expected is not None and not len(values) <= expected <= len(answers.lines):
            lacking = f"{len(values):,} samples, but n-samples in the results file is {expected:,}"
        metric, statistics = read_as(function, None if lacking else stated, *logged)
        # A task in Python code has its own aggregations, which are not in logs.
        to_check = None if is_said or lacking else stated
        score = score_of(metric, statistics)
        if to_check is not None and not np.isclose(score, to_check, rtol=1e-6, atol=1e-9):
            raise UnreadableError(
                f"its aggregation is not in the log: {metric.name} of the rows is {score:.10g}, "
                f"but the log reports {stated:.10g}"
            )
        if len(values) < len(answers.lines):
            items = answers.items(places)
        config, record = results.entry("configs", self.task), results.record
        names = [config.get(name) for name in ("dataset_path", "dataset_name")]
        settings = settings_of(
            version=_mapping(record.get("versions")).get(self.task),
            shots=_mapping(record.get("n-shot")).get(self.task),
            dataset="/".join(name for name in names if isinstance(name, str)),
        )
        n_items = max(len(columns.lines) for columns in self.filters.values())
        whole = results.entry("n-samples", self.task).get("original")
        is_part = _mapping(record.get("config")).get("limit") is not None
        is_part = is_part and isinstance(whole, int) and n_items < whole
        return Rows(
            key,
            system,
            metric,
            items,
            statistics[items.order],
            reported=stated,
            lacking=lacking,
            # Only a part was requested, and it is complete.
            is_limited=is_part and expected == n_items,
            is_directed=higher is not None or not isinstance(metric, (Mean, Ratio)),
            path=self.path,
            settings=settings,
        )
