"""What a results file of lm-evaluation-harness says: scores, counts, directions, aggregations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from evalstats.runs.items import Items, Key, is_finite

#: How the harness aggregates its own metrics where a task does not say.
_REGISTERED = {
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
    "mcc": "matthews_corrcoef",
    **{name: name for name in ("f1", "bleu", "chrf", "chrf++", "ter", "brier_score", "bypass")},
}
_LOWER_IS_BETTER = ("ter", "brier_score", "perplexity", "bits_per_byte")


class Results:
    """The record, of which nothing is trusted: what is not as it should be is not there."""

    def __init__(self, record: object) -> None:
        self.record = _mapping(record)

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """Direct members of each group; older logs list every task, with none."""
        found = _mapping(self.record.get("group_subtasks"))
        return {
            group: [name for name in children if isinstance(name, str)]
            for group, children in found.items()
            if isinstance(children, list) and children
        }

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that were scored, without groups."""
        return [task for task in _mapping(self.record.get("results")) if task not in self.members]

    @property
    def model(self) -> str:
        """The name of the model, or an empty string."""
        for key in ("model_name", "model_name_sanitized"):
            name = self.record.get(key)
            if isinstance(name, str) and name.strip():
                return name.strip()
        return ""

    def scores(self, task: str) -> dict[str, float]:
        """Return the scores of a task or group by "metric,filter", those that are numbers."""
        found = _mapping(_mapping(self.record.get("results")).get(task))
        return {name: float(value) for name, value in found.items() if _is_score(name, value)}

    def count(self, task: str) -> int | None:
        """Return how many items were scored."""
        counts = _mapping(_mapping(self.record.get("n-samples")).get(task))
        scores = _mapping(_mapping(self.record.get("results")).get(task))
        for value in (counts.get("effective"), scores.get("sample_len")):
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    def is_limited(self, n_items: Mapping[str, int]) -> bool:
        """Return whether only a part of some task was asked for, and all of that is there."""
        if _mapping(self.record.get("config")).get("limit") is None:
            return False
        found = False
        for task, n in n_items.items():
            whole = _mapping(_mapping(self.record.get("n-samples")).get(task)).get("original")
            effective = self.count(task)
            if effective != n:
                return False
            found |= isinstance(whole, int) and effective < whole
        return found

    def aggregation(self, task: str, metric: str) -> tuple[str, bool]:
        """Return the name, or the source, of what makes one score of many, and if the log says."""
        config = _mapping(_mapping(self.record.get("configs")).get(task))
        listed = config.get("metric_list")
        for given in listed if isinstance(listed, list) else []:
            if _mapping(given).get("metric") == metric and "aggregation" in given:
                return str(given["aggregation"]), True
        return _REGISTERED.get(metric, "mean"), metric in _REGISTERED

    def higher_is_better(self, task: str, metric: str) -> bool:
        """Return the direction of a mean."""
        said = _mapping(_mapping(self.record.get("higher_is_better")).get(task)).get(metric)
        return said if isinstance(said, bool) else metric not in _LOWER_IS_BETTER

    def leaves(self, group: str) -> tuple[str, ...]:
        """Return the tasks of a group and of the groups in it; a group in itself adds none."""
        found: dict[str, None] = {}
        seen, waiting = {group}, [group]
        while waiting:
            for name in self.members[waiting.pop(0)]:
                if name not in self.members:
                    found[name] = None
                elif name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return tuple(found)

    def groups(self, items: Sequence[Items]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Return the tasks of groups whose scores are means of theirs, and what else there is."""
        found: dict[str, tuple[str, ...]] = {}
        odd = []
        scores = {i.key: float(i.metric.score(np.sum(i.rows[0], axis=0))) for i in items}
        sizes = {item.key: len(item.ids) for item in items}
        read = {key.task for key in scores}
        for group in self.members:
            tasks = self.leaves(group)
            if not tasks or not read.issuperset(tasks):
                continue
            found[group] = tasks
            for name, stated in self.scores(group).items():
                metric, _, filter = name.rpartition(",")
                keys = [Key(task, metric, filter) for task in tasks]
                if not all(key in scores for key in keys):
                    continue
                means = averages([scores[key] for key in keys], [sizes[key] for key in keys])
                if not any(math.isclose(stated, mean, rel_tol=1e-6) for mean in means):
                    odd.append(
                        f"group {group}, {name}: the log says {stated:.10g}, but its tasks give "
                        f"{means[0]:.10g} over all items and {means[1]:.10g} over tasks"
                    )
        return found, odd


def averages(scores: Sequence[float], sizes: Sequence[float]) -> tuple[float, float]:
    """Return the mean over all items, and the mean over tasks."""
    return float(np.average(scores, weights=sizes)), float(np.mean(scores))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_score(name: object, value: object) -> bool:
    """Return whether this is "acc,none": 0.5, and not "sample_len" or "acc_stderr,none"."""
    if not isinstance(name, str) or isinstance(value, bool):
        return False
    metric, comma, _ = name.rpartition(",")
    return bool(comma) and not metric.endswith("_stderr") and is_finite(value)
