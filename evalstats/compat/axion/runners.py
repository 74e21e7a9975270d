"""`axion.runners`: data sets scored with several metrics, and the results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evalstats.checks import listed, real
from evalstats.compat.axion.dataset import DatasetItem, as_items
from evalstats.compat.axion.metrics import AxionMetric
from evalstats.errors import InputError, InputTypeError


@dataclass(frozen=True)
class MetricScore:
    """One metric's verdict on one item: `passed` is ``score >= threshold``.

    An item that cannot be scored has the score NaN, no verdict, and the reason as its explanation.
    """

    id: str
    name: str
    score: float
    threshold: float
    passed: bool | None
    explanation: str | None


@dataclass(frozen=True)
class TestResult:
    """All verdicts on one item."""

    __test__: ClassVar[bool] = False  # not a test case of pytest's

    test_case: DatasetItem
    score_results: list[MetricScore]

    @property
    def score(self) -> float:
        """The score, if there is one metric (axion's documentation reads it here)."""
        if len(self.score_results) != 1:
            raise InputError(
                f"score is ambiguous: {len(self.score_results)} metrics; read score_results"
            )
        return self.score_results[0].score


class MetricRunner:
    """Scores data sets with several metrics of this module.

    `thresholds` has the least score that passes by a metric's class name (``"SentenceBLEU"``) or
    name (``"Sentence BLEU"``), by default each metric's own; other names raise an `InputError`.
    axion's further options, such as `max_concurrent`, have nothing to do.
    """

    def __init__(
        self,
        metrics: Sequence[AxionMetric],
        thresholds: Mapping[str, float] | None = None,
        **options: Any,
    ) -> None:
        self.metrics = listed(metrics, "metrics", "metrics of this module")
        for i, metric in enumerate(self.metrics):
            if not isinstance(metric, AxionMetric):
                raise InputTypeError(
                    f"metrics[{i}] must be a metric of evalstats.compat.axion, "
                    f"got {type(metric).__name__}"
                )
        known = [alias for metric in self.metrics for alias in _names(metric)]
        self.thresholds: dict[str, float] = {}
        for name, value in (thresholds or {}).items():
            if name not in known:
                raise InputError(f"thresholds names {name!r}; the metrics are {', '.join(known)}")
            self.thresholds[name] = real(value, f"thresholds[{name!r}]", 0.0)

    async def execute_batch(
        self, evaluation_inputs: Any, *, show_progress: bool = True
    ) -> list[TestResult]:
        """Score every item with every metric; one result for each item, in order.

        Items are a `Dataset`, a sequence of `DatasetItem` or dict, or a data frame. One that cannot
        be scored does not affect the others. `show_progress` has no effect.
        """
        needed = {name for metric in self.metrics for name in metric.needed}
        items = as_items(evaluation_inputs, "evaluation_inputs", sorted(needed))
        results = [TestResult(item, []) for item in items]
        for metric in self.metrics:
            least = next(
                (self.thresholds[name] for name in _names(metric) if name in self.thresholds),
                metric.threshold,
            )
            pairs, problems = [], {}
            for i, item in enumerate(items):
                try:
                    pairs.append(metric.texts(item))
                except InputError as error:
                    problems[i] = f"Error executing metric: {error}"
            scored = iter(metric.measure(pairs) if pairs else [])
            for i, item in enumerate(items):
                if i in problems:
                    verdict = (math.nan, least, None, problems[i])
                else:
                    result = next(scored)
                    verdict = (result.score, least, result.score >= least, result.explanation)
                results[i].score_results.append(MetricScore(item.id, metric.name, *verdict))
        return results

    #: axion's documentation calls it so, its code does not.
    run = execute_batch


def _names(metric: AxionMetric) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*metric.aliases, metric.name)))
