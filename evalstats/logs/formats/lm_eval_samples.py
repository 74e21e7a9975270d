"""lm-evaluation-harness: what a results file says, and the samples of a task, line by line.

Every line has one item under one filter, and for each metric what the harness aggregates: a number,
or what a corpus score is made of (`lm_eval_metrics`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evalstats.errors import InputError
from evalstats.logs.formats.lm_eval_metrics import Logged, UnreadableError, read_as
from evalstats.logs.log import Wanted
from evalstats.logs.rows import Answers, Items, Key, Rows, is_finite
from evalstats.logs.settings import settings_of
from evalstats.logs.sources import dotted, paths_of, require
from evalstats.logs.words import direction
from evalstats.metrics import Mean, Ratio

#: How the harness aggregates its own metrics where a task does not say.
_REGISTERED = {
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
    "mcc": "matthews_corrcoef",
    **{name: name for name in ("f1", "bleu", "chrf", "chrf++", "ter", "brier_score", "bypass")},
}
#: Hashes of what was asked and expected; prompts may differ, by shots and chat templates.
_HASHES = ("doc_hash", "target_hash")
#: What a line has beside its metrics.
_FIXED = (
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "prompt_hash",
    *_HASHES,
)


class Results:
    """What a results file says; an entry of another type than it should be counts as missing."""

    def __init__(self, record: object) -> None:
        self.record = _mapping(record)

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

    def _entry(self, part: str, task: str) -> Mapping[str, Any]:
        """Return the entry of a task in a part of the record: "n-samples"; empty without one."""
        return _mapping(_mapping(self.record.get(part)).get(task))

    def scores(self, task: str) -> dict[str, float]:
        """Return the scores of a task or group by "metric,filter": no sizes, no errors."""
        return {
            name: float(value)
            for name, value in self._entry("results", task).items()
            if isinstance(name, str) and "," in name and "_stderr," not in name
            if is_finite(value) and not isinstance(value, bool)
        }

    def count(self, task: str) -> int | None:
        """Return how many items were scored."""
        counts = self._entry("n-samples", task), self._entry("results", task)
        for value in (counts[0].get("effective"), counts[1].get("sample_len")):
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    def is_limited(self, task: str, n_items: int) -> bool:
        """Return whether only a part of a task was asked for, and all of that is there."""
        whole = self._entry("n-samples", task).get("original")
        asked = _mapping(self.record.get("config")).get("limit") is not None
        return asked and self.count(task) == n_items and isinstance(whole, int) and n_items < whole

    def settings(self, task: str) -> dict[str, str]:
        """Return how a task was asked: ``{"version": "1.0", "shots": "5", "dataset": "arc"}``."""
        config = self._entry("configs", task)
        version, shots = (_mapping(self.record.get(k)).get(task) for k in ("versions", "n-shot"))
        names = [config.get(key) for key in ("dataset_path", "dataset_name")]
        dataset = "/".join(name for name in names if isinstance(name, str))
        return settings_of(version=version, shots=shots, dataset=dataset)

    def aggregation(self, task: str, metric: str) -> tuple[str, bool]:
        """Return how the scores of items become one, and whether the log itself says so.

        As in ``("mean", False)``; of a function of the task's own the log has the source.
        """
        listed = self._entry("configs", task).get("metric_list")
        for entry in listed if isinstance(listed, list) else []:
            if _mapping(entry).get("metric") == metric and "aggregation" in entry:
                return str(entry["aggregation"]), True
        return _REGISTERED.get(metric, "mean"), metric in _REGISTERED

    def higher_is_better(self, task: str, metric: str) -> bool | None:
        """Return the direction of a mean, as the log or the name states it."""
        said = self._entry("higher_is_better", task).get(metric)
        return said if isinstance(said, bool) else direction(metric)

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Tasks of each group and of the groups in it, and of each tag; all of them were scored."""
        tasks = self.tasks
        groups = {group: self.leaves(group) for group in self.members}
        tags: dict[str, list[str]] = {}
        for task in tasks:
            named = self._entry("configs", task).get("tag")
            for tag in named if isinstance(named, list) else [named]:
                if isinstance(tag, str) and tag not in tasks:
                    tags.setdefault(tag, []).append(task)
        whole = {**{tag: tuple(of) for tag, of in tags.items()}, **groups}
        return {name: of for name, of in whole.items() if of and set(tasks).issuperset(of)}

    def group_scores(self) -> dict[Key, float]:
        """Return the scores of groups, by group, metric and filter."""
        return {
            Key(group, *name.rsplit(",", 1)): score
            for group in self.members
            for name, score in self.scores(group).items()
        }

    def leaves(self, group: str) -> tuple[str, ...]:
        """Return the tasks of a group and of the groups in it, which may hold one another."""
        seen = {group: None}
        for name in (waiting := [group]):
            inner = [one for one in self.members.get(name, ()) if one not in seen]
            seen |= dict.fromkeys(inner)
            waiting += dict.fromkeys(inner)
        return tuple(name for name in seen if name not in self.members)


def _texts(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what was asked, expected and answered, as far as a line has it.

    Of choices the answer is the one of the highest log-likelihood.
    """
    asked = record.get("arguments")
    requests = list(asked.values()) if isinstance(asked, dict) else asked
    requests = requests if isinstance(requests, list) else []
    answers = record.get("filtered_resps")
    answers = answers if isinstance(answers, list) else []
    answer = answers[0] if answers else ""
    if isinstance(answer, list) and len(answers) == len(requests) > 1:
        with suppress(ValueError, TypeError, IndexError):
            likelihoods = [float(one[0]) for one in answers]
            answer = _parts(requests[likelihoods.index(max(likelihoods))])[1]
    if isinstance(answer, list):
        answer = answer[0] if answer else ""
    question = next(iter(_parts(requests[0])), "") if requests else ""
    found = {"question": question, "target": record.get("target"), "answer": answer}
    return {name: text.strip() if isinstance(text, str) else "" for name, text in found.items()}


def _parts(request: object) -> list[Any]:
    """Return what the model was asked, and of a choice also what could be answered."""
    parts = list(request.values()) if isinstance(request, dict) else request
    return parts if isinstance(parts, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


@dataclass
class _Lines(Answers):
    """The lines of a task under one filter.

    `names` are the metrics that the last line names, and `asked` those of them that are wanted.
    """

    names: Any = None
    asked: Sequence[str] = ()


class TaskSamples:
    """The lines of a task, which are added one by one, and then read as rows.

    Messages call one by `path` and `unit`: "samples_arc.jsonl, line 7".
    """

    def __init__(
        self, task: str, results: Results, wanted: Wanted, path: str, unit: str = "line"
    ) -> None:
        self.task, self.results, self.wanted = task, results, wanted
        self.path, self.unit = path, unit
        self.scores = results.scores(task)
        filters = {name.rpartition(",")[2] for name in self.scores}
        # Logs of before 2025 do not name filters in lines; where there is one, it is that.
        self.filter = next(iter(filters)) if len(filters) == 1 else None if filters else "none"
        self.filters = defaultdict[str, _Lines](lambda: _Lines(f"{path}, {task}", unit))
        self.labels = (*_HASHES, *wanted.labels)

    def add(self, record: Mapping[str, Any], n: int) -> None:
        """Add line n of the file."""
        where, filter = self._at(n), record.get("filter", self.filter)
        if filter is None:
            raise InputError(f"{where} must name its filter, of which the log has several")
        answers = self.filters[filter]
        names = record.get("metrics")
        if names is None:
            names = [name for name in record if name not in _FIXED]
        if names != answers.names:
            wanted = self.wanted
            answers.names = names
            answers.asked = [name for name in names if wanted.has(Key(self.task, name, filter))]
        values = {name: require(record, name, where=where) for name in answers.asked}
        doc_id = str(require(record, "doc_id", where=where))
        answers.paths = answers.paths or paths_of(record, "doc")
        labels = {name: dotted(record, name) for name in self.labels}
        prompt = dotted(record, "prompt_hash")
        answers.add(n, doc_id, labels, values, prompt=prompt, texts=_texts(record))

    def _at(self, n: int) -> str:
        return f"{self.path}, {self.unit} {n}"

    def rows(self, system: str, skipped: list[str]) -> list[Rows]:
        """Return the rows of all metrics and filters; what cannot be read is added to `skipped`."""
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

    def _rows(self, key: Key, system: str, answers: _Lines, items: Items) -> Rows:
        """Return the rows of one metric and filter."""
        values = answers.values[key.metric]
        places = list(values)
        higher = self.results.higher_is_better(self.task, key.metric)

        def where(i: int) -> str:
            return f"{self._at(answers.lines[places[i]])}: {key.metric}"

        logged = Logged(key.metric, list(values.values()), where, higher is not False)
        stated = self.scores.get(f"{key.metric},{key.filter}")
        function, said = self.results.aggregation(self.task, key.metric)
        expected = self.results.count(self.task)
        lacking = ""
        if expected is not None and not len(values) <= expected <= len(answers.lines):
            lacking = f"{len(values):,} samples, but n-samples in the results file is {expected:,}"
        read = read_as(function, logged, None if lacking else stated)
        # A task of Python code has its own aggregations, which logs do not name.
        to_check = None if said or lacking else stated
        if to_check is not None and not np.isclose(read.score, to_check, rtol=1e-6, atol=1e-9):
            raise UnreadableError(
                f"the log does not say how it is aggregated: the rows give {read.score:.10g} as "
                f"{read.metric.name}, and the log has {stated:.10g}"
            )
        if len(values) < len(answers.lines):
            items = answers.items(places)
        is_named = higher is not None or not isinstance(read.metric, (Mean, Ratio))
        n_items = max(len(columns.lines) for columns in self.filters.values())
        return Rows(
            key,
            system,
            read.metric,
            items,
            read.statistics[items.order],
            reported=stated,
            lacking=lacking,
            is_limited=self.results.is_limited(self.task, n_items),
            is_directed=is_named,
            path=self.path,
            settings=self.results.settings(self.task),
        )
