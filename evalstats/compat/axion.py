"""axion's heuristic text metrics and their runner: `SentenceBLEU`, `LevenshteinRatio`.

Scores are the same as from axion's code, rounded to four digits. Two options correct them:
``SentenceBLEU(effective_order=True)`` leaves out orders longer than the candidate, which otherwise
scores 0 even if it is perfect; ``LevenshteinRatio(edit_distance=True)`` uses the edit distance,
while axion matches blocks (Ratcliff and Obershelp, 1988, as in `difflib`).

Nothing is sent over the network, and a whole data set is scored at once. The names are also
available in axion's modules: `dataset`, `metrics`, `metrics.heuristic.bleu`, `runners`.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

from evalstats.checks import flag, integer, is_from, listed, real
from evalstats.compat import add_modules, sentence_bleu
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import MOST_ORDER
from evalstats.metrics.error_rates import token_edits

DIGITS = 4

#: Candidates, each with its references.
Pairs = Sequence[tuple[str, list[str]]]


@dataclass
class DatasetItem:
    """One test case: a candidate and its reference, or several (axion takes one).

    Absent texts count as empty, as in axion. All other fields are kept for reports.
    """

    actual_output: str | None = None
    expected_output: str | Sequence[str] | None = None
    query: str | None = None
    retrieved_content: Any = None
    metadata: Any = None
    id: str = field(default_factory=lambda: str(uuid4()))
    additional_input: dict[str, Any] = field(default_factory=dict, kw_only=True)
    additional_output: dict[str, Any] = field(default_factory=dict, kw_only=True)
    latency: float | None = field(default=None, kw_only=True)
    trace: Any = field(default=None, kw_only=True)

    def texts(self) -> tuple[str, list[str]]:
        """Return candidate and references, or raise if they are not text."""
        actual = "" if self.actual_output is None else self.actual_output
        known = "" if self.expected_output is None else self.expected_output
        known = [known] if isinstance(known, str) else known
        if not isinstance(actual, str):
            raise InputTypeError(
                f"actual_output must be a string or None, got {type(actual).__name__}"
            )
        strings = isinstance(known, (list, tuple)) and all(isinstance(text, str) for text in known)
        if not strings or not known:
            raise InputTypeError(
                f"expected_output must be a string, a list of strings or None, got {known!r:.40}"
            )
        return actual, list(known)


@dataclass
class Dataset:
    """Test cases under a name."""

    items: list[DatasetItem] = field(default_factory=list)
    name: str = "dataset"


def _as_item(entry: object, name: str) -> DatasetItem:
    """Return an item, also from a dict; unknown keys are ignored, as in axion.

    A dict must have both texts.
    """
    if isinstance(entry, Mapping):
        for key in ("actual_output", "expected_output"):
            if key not in entry:
                raise InputError(f"{name} has no key {key!r}; its keys are {', '.join(entry)}")
        known = DatasetItem.__dataclass_fields__
        return DatasetItem(**{key: value for key, value in entry.items() if key in known})
    if not isinstance(entry, DatasetItem):
        raise InputTypeError(f"{name} must be a DatasetItem or a dict, got {type(entry).__name__}")
    return entry


@dataclass(frozen=True)
class MetricEvaluationResult:
    """Score of one item, 0 to 1, with an explanation."""

    score: float
    explanation: str | None = None

    def pretty(self) -> str:
        """Return score and explanation as text."""
        return f"score: {self.score}" + (f"\n{self.explanation}" if self.explanation else "")


#: Options of axion's metrics that have no effect without a model.
_UNUSED = {
    "description", "embed_model", "embed_model_name", "examples", "input_model", "instruction",
    "llm", "llm_provider", "metric_category", "metric_description", "model_name",
    "optional_fields", "output_model", "required_fields", "tags",
}  # fmt: skip


class AxionMetric(ABC):
    """Base class of the metrics.

    `threshold` is the least score that passes, unless the runner sets it; the default is the
    metric's own. `metric_name` or `name` replace the metric's name in results. axion's options for
    models, such as `model_name`, have no effect.
    """

    name: str
    default_threshold: ClassVar[float]

    def __init__(
        self,
        *,
        threshold: float | None = None,
        metric_name: str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        least = self.default_threshold if threshold is None else threshold
        self.threshold: float = real(least, "threshold", 0.0)
        self.name = metric_name or name or type(self).name
        for option in sorted(set(options) - _UNUSED):
            raise InputTypeError(f"{type(self).__name__} has no option {option!r}")

    async def execute(self, item: DatasetItem, **kwargs: Any) -> MetricEvaluationResult:
        """Score one item; raises the `InputError` that `MetricRunner` would record."""
        return self.measure([_as_item(item, "item").texts()])[0]

    @abstractmethod
    def measure(self, pairs: Pairs) -> list[MetricEvaluationResult]:
        """Score at least one pair of candidate and references."""

    def is_called(self, name: str) -> bool:
        """Return whether this is the metric's name or class: `SentenceBleu`, `sentence_bleu`."""
        names = (name, self.name, type(self).__name__)
        asked, *called = (text.lower().replace(" ", "").replace("_", "") for text in names)
        return asked in called


class SentenceBLEU(AxionMetric):
    """Sentence BLEU of whitespace tokens up to order `n_grams`, 0 to 1, rounded to four digits.

    Lowercased unless `case_sensitive`. With `smoothing`, 1 is added to matches and n-grams at every
    order, so candidates without a match score more than 0 (0.3021 for four tokens); without it, an
    order without a match makes the score 0. `effective_order` leaves out orders longer than the
    candidate, which make the score 0 in axion. `options` are the options of `AxionMetric`; the
    threshold is 0.5.
    """

    name = "Sentence BLEU"
    default_threshold: ClassVar[float] = 0.5

    def __init__(
        self,
        n_grams: int = 4,
        case_sensitive: bool = False,
        smoothing: bool = True,
        *,
        effective_order: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._bleu = sentence_bleu.SentenceBLEU(
            integer(n_grams, "n_grams", 1, MOST_ORDER - 1),
            smoothing="add-one" if flag(smoothing, "smoothing") else "none",
            tokenize="none",
            case_sensitive=case_sensitive,
            effective_order=effective_order,
        )

    def measure(self, pairs: Pairs) -> list[MetricEvaluationResult]:
        """Score candidates at once."""
        rows = self._bleu.statistics(*map(list, zip(*pairs, strict=True)))
        scores = self._bleu.from_statistics(rows).tolist()
        results = []
        for score, (n_hyp, n_ref, *counts) in zip(scores, rows.tolist(), strict=True):
            n = len(counts) // 2
            matches = ", ".join(f"{c}/{t}" for c, t in zip(counts[:n], counts[n:], strict=True))
            orders = f"1- to {n}-grams" if n > 1 else "single tokens"
            explanation = f"{n_hyp} tokens against {n_ref}; matches of {orders}: {matches}"
            results.append(MetricEvaluationResult(round(score, DIGITS), explanation))
        return results


#: The spelling in axion's documentation (not in its code).
SentenceBleu = SentenceBLEU


class LevenshteinRatio(AxionMetric):
    """Similarity of the characters of two texts, 0 to 1, rounded to four digits.

    By default axion's ratio, ``difflib.SequenceMatcher(None, actual, expected).ratio()``, which is
    not symmetric; with `edit_distance` Levenshtein's (1966): 1 - edits / length of the longer text,
    and 1 for two empty ones. Of several references, the most similar one is used. `options` are the
    options of `AxionMetric`; the threshold is 0.2.
    """

    name = "Levenshtein Ratio"
    default_threshold: ClassVar[float] = 0.2

    def __init__(
        self, case_sensitive: bool = False, *, edit_distance: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self.case_sensitive: bool = flag(case_sensitive, "case_sensitive")
        self.edit_distance: bool = flag(edit_distance, "edit_distance")

    def measure(self, pairs: Pairs) -> list[MetricEvaluationResult]:
        """Score candidates one by one."""
        best = [max(self._ratio(actual, expected) for expected in known) for actual, known in pairs]
        return [MetricEvaluationResult(round(score, DIGITS)) for score in best]

    def _ratio(self, actual: str, expected: str) -> float:
        if not self.case_sensitive:
            actual, expected = actual.lower(), expected.lower()
        if not self.edit_distance:
            return difflib.SequenceMatcher(None, actual, expected).ratio()
        edits = int(token_edits([list(actual)], [list(expected)])[0, 0])
        return 1.0 - edits / max(len(actual), len(expected), 1)


@dataclass(frozen=True)
class MetricScore:
    """One metric's verdict on one item: `passed` is ``score >= threshold``.

    An item that cannot be scored has the score NaN, no verdict, and the reason as explanation.
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
                f"score needs exactly one metric, got {len(self.score_results)}; use score_results"
            )
        return self.score_results[0].score


class MetricRunner:
    """Scores data sets with several metrics of this module.

    `thresholds` maps a metric's class name (``"SentenceBLEU"``) or name (``"Sentence BLEU"``) to
    the least score that passes; the default is each metric's own. axion's other options have no
    effect.
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
        self.thresholds: dict[str, float] = {}
        for name, value in (thresholds or {}).items():
            if not any(metric.is_called(name) for metric in self.metrics):
                known = ", ".join(metric.name for metric in self.metrics)
                raise InputError(
                    f"thresholds contains the unknown metric {name!r}; the metrics are {known}"
                )
            self.thresholds[name] = real(value, f"thresholds[{name!r}]", 0.0)

    async def execute_batch(
        self, evaluation_inputs: Any, *, show_progress: bool = True
    ) -> list[TestResult]:
        """Score the items of a `Dataset`, a sequence or a data frame with every metric, in order.

        An item that cannot be scored does not affect the others. `show_progress` has no effect.
        """
        given = evaluation_inputs
        if isinstance(given, Dataset):
            given = given.items
        elif is_from("pandas", given, "DataFrame"):
            given = given.to_dict("records")
        entries = listed(given, "evaluation_inputs", "dataset items")
        items = [_as_item(x, f"evaluation_inputs[{i}]") for i, x in enumerate(entries)]
        pairs, problems = [], {}
        for i, item in enumerate(items):
            try:
                pairs.append(item.texts())
            except InputError as error:
                problems[i] = f"Error executing metric: {error}"
        results = [TestResult(item, []) for item in items]
        for metric in self.metrics:
            set_here = [least for name, least in self.thresholds.items() if metric.is_called(name)]
            least = [*set_here, metric.threshold][0]
            scored = iter(metric.measure(pairs) if pairs else [])
            for i, item in enumerate(items):
                if i in problems:
                    verdict = (math.nan, least, None, problems[i])
                else:
                    score, said = vars(next(scored)).values()
                    verdict = (score, least, score >= least, said)
                results[i].score_results.append(MetricScore(item.id, metric.name, *verdict))
        return results

    #: The name in axion's documentation (not in its code).
    run = execute_batch


_MODULES = {
    "dataset": "Dataset DatasetItem",
    "metrics": "LevenshteinRatio MetricEvaluationResult SentenceBLEU SentenceBleu",
    "metrics.heuristic.bleu": "SentenceBLEU",
    "metrics.heuristic.levenshtein": "LevenshteinRatio",
    "runners": "MetricRunner MetricScore TestResult",
}
add_modules(__name__, {path: (__name__, names) for path, names in _MODULES.items()})
