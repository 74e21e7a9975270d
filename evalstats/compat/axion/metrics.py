"""`axion.metrics`: sentence BLEU and the similarity of characters."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evalstats.checks import flag, integer, real
from evalstats.compat.axion.dataset import DatasetItem, as_item
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import sentence_bleu
from evalstats.metrics.base import MOST_ORDER
from evalstats.metrics.error_rates import CER

DIGITS = 4


@dataclass(frozen=True)
class MetricEvaluationResult:
    """Score of one item, 0 to 1, and what it is made of."""

    score: float
    explanation: str | None = None

    def pretty(self) -> str:
        """Return score and explanation as text."""
        return f"score: {self.score}" + (f"\n{self.explanation}" if self.explanation else "")


#: Candidates, each with its references.
_Pairs = Sequence[tuple[str, list[str]]]


#: The fields that are scored.
TEXTS = ("actual_output", "expected_output")

#: What axion's metrics take as well, and one without a model has no use for.
_UNUSED = {
    "description", "embed_model", "embed_model_name", "examples", "input_model", "instruction",
    "llm", "llm_provider", "metric_category", "metric_description", "model_name",
    "optional_fields", "output_model", "required_fields", "tags",
}  # fmt: skip


class AxionMetric(ABC):
    """What the metrics share.

    Parameters
    ----------
    threshold : float, optional
        Least score that passes, unless the runner sets it; by default the metric's own.
    metric_name, name : str, optional
        The name in results, in place of the metric's own.
    field_mapping : dict, optional
        Where else `actual_output` or `expected_output` is found in an item, as a path such as
        ``"additional_output.summary"``. axion's own metrics of this kind ignore it.
    **options
        What axion's metrics take for their models, `model_name` and the like: without effect.
    """

    name: str
    aliases: ClassVar[tuple[str, ...]]
    default_threshold: ClassVar[float]

    def __init__(
        self,
        *,
        threshold: float | None = None,
        metric_name: str | None = None,
        name: str | None = None,
        field_mapping: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        least = self.default_threshold if threshold is None else threshold
        self.threshold = real(least, "threshold", 0.0)
        self.name = metric_name or name or type(self).name
        self.field_mapping = dict(field_mapping or {})
        for option in sorted(set(options) - _UNUSED):
            raise InputTypeError(f"{type(self).__name__} has no option {option!r}")

    async def execute(self, item: DatasetItem, **kwargs: Any) -> MetricEvaluationResult:
        """Score one item; raises `InputError` where `MetricRunner` records it."""
        return self.measure([self.texts(as_item(item, "item", self.needed))])[0]

    @property
    def needed(self) -> list[str]:
        """The fields that are read under their own names."""
        return [name for name in TEXTS if name not in self.field_mapping]

    def texts(self, item: DatasetItem) -> tuple[str, list[str]]:
        """Return candidate and references, or say why they are not text."""
        actual, known = (self._field(item, name) for name in TEXTS)
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

    def _field(self, item: DatasetItem, name: str) -> Any:
        path = self.field_mapping.get(name, name)
        value: Any = item
        for part in path.split("."):
            mapping = isinstance(value, Mapping)
            value = value.get(part) if mapping else getattr(value, part, None)
        if value is None and name in self.field_mapping:
            raise InputError(f"field_mapping looks for {name} in {path!r}, where the item has none")
        return "" if value is None else value

    @abstractmethod
    def measure(self, pairs: _Pairs) -> list[MetricEvaluationResult]:
        """Score candidates against their references, of which there is at least one pair."""


class SentenceBLEU(AxionMetric):
    """Sentence BLEU of whitespace tokens, 0 to 1, rounded to four digits.

    Parameters
    ----------
    n_grams : int
        Highest n-gram order.
    case_sensitive : bool
        False lowercases first.
    smoothing : bool
        Add 1 to matches and n-grams at every order, so that nothing in common scores more than 0
        (0.3021 for four tokens). False scores 0 where an order has no match.
    effective_order : bool
        True leaves out orders longer than the candidate, which make its score 0 in axion.
    **options
        See `AxionMetric`; the threshold is 0.5 by default.
    """

    name = "Sentence BLEU"
    aliases = ("SentenceBLEU", "SentenceBleu", "sentence_bleu", name)
    default_threshold = 0.5

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

    def measure(self, pairs: _Pairs) -> list[MetricEvaluationResult]:
        """Score candidates at once."""
        rows = self._bleu.statistics(*map(list, zip(*pairs, strict=True)))
        scores = self._bleu.from_statistics(rows).tolist()
        return [
            MetricEvaluationResult(round(score, DIGITS), _counts(row))
            for score, row in zip(scores, rows.tolist(), strict=True)
        ]


#: axion's documentation spells it so, its code does not.
SentenceBleu = SentenceBLEU


class LevenshteinRatio(AxionMetric):
    """Similarity of the characters of two texts, 0 to 1, rounded to four digits.

    Parameters
    ----------
    case_sensitive : bool
        As for `SentenceBLEU`.
    edit_distance : bool
        False is axion's: ``difflib.SequenceMatcher(None, actual, expected).ratio()``, which
        changes when the texts change places. True is Levenshtein's (1966): 1 - edits / length of
        the longer text; 1 for two empty ones. Of several references the most similar one counts.
    **options
        See `AxionMetric`; the threshold is 0.2 by default.
    """

    name = "Levenshtein Ratio"
    aliases = ("LevenshteinRatio", "levenshtein_ratio", name)
    default_threshold = 0.2

    def __init__(
        self, case_sensitive: bool = False, *, edit_distance: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self.case_sensitive = flag(case_sensitive, "case_sensitive")
        self.edit_distance = flag(edit_distance, "edit_distance")

    def measure(self, pairs: _Pairs) -> list[MetricEvaluationResult]:
        """Score candidates one by one."""
        best = [max(self._ratio(actual, expected) for expected in known) for actual, known in pairs]
        return [MetricEvaluationResult(round(score, DIGITS)) for score in best]

    def _ratio(self, actual: str, expected: str) -> float:
        if not self.case_sensitive:
            actual, expected = actual.lower(), expected.lower()
        if not self.edit_distance:
            return difflib.SequenceMatcher(None, actual, expected).ratio()
        edits = int(CER().statistics([actual], [expected])[0, 0])
        return 1.0 - edits / max(len(actual), len(expected), 1)


def _counts(row: list[int]) -> str:
    n = (len(row) - 2) // 2
    matches = (f"{c}/{t}" for c, t in zip(row[2 : 2 + n], row[2 + n :], strict=True))
    orders = f"1- to {n}-grams" if n > 1 else "single tokens"
    return f"{row[0]} tokens against {row[1]}; matches of {orders}: {', '.join(matches)}"
