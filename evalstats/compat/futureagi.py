"""Future AGI's local BLEU: `BLEUScore`, `TestCase` and the results of `ai-evaluation`.

Import the names from here instead of ``fi.evals.metrics`` and ``fi.testcases``. As there, scores
are NLTK's on whitespace tokens; nothing is downloaded. Differences: ``mode="corpus"`` gives one
score for the whole batch (there it is the same as sentence mode), an item that cannot be scored has
the score NaN and a reason (there it scores 0, or ends the batch), and weights are checked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evalstats.checks import choice, integer, listed
from evalstats.compat import nltk
from evalstats.compat.sentence_bleu import weight_matrix
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import MOST_ORDER

MODES = ("sentence", "corpus")
METHODS = tuple(f"method{i}" for i in range(8))
CONFIG = ("mode", "max_n_gram", "weights", "smooth")


@dataclass(init=False)
class TestCase:
    """One output, and the reference or list of references, `expected_response` since version 1.

    Further fields, such as `query` or `context`, are ignored, as in ai-evaluation.
    """

    __test__: ClassVar[bool] = False  # not a test case of pytest's

    response: Any = None
    expected_text: Any = None
    expected_response: Any = None

    def __init__(self, *texts: Any, **fields: Any) -> None:
        names = ("response", "expected_text", "expected_response")
        given = {**fields, **dict(zip(names, texts, strict=False))}
        vars(self).update({name: given.get(name) for name in names})


TextMetricInput = TestCase


@dataclass(frozen=True)
class EvalResultMetric:
    """A score by name; NaN if the item cannot be scored."""

    id: str
    value: float


@dataclass(frozen=True)
class EvalResult:
    """A score (NaN if the item cannot be scored), and how it was computed or what is wrong."""

    output: float
    reason: str
    name: str = "bleu_score"
    output_type: str = "score"
    runtime: int = 0

    @property
    def metrics(self) -> list[EvalResultMetric]:
        """The score again, as in version 0.1 and in the documentation."""
        return [EvalResultMetric(self.name, self.output)]


@dataclass(frozen=True)
class BatchRunResult:
    """The results of a batch, in order."""

    eval_results: list[EvalResult]


class BLEUScore:
    """BLEU of whitespace tokens with NLTK's smoothing, case-sensitive, 0 to 1.

    `config` may have these keys; other keys and values raise an `InputError`.

    - ``mode``: ``"sentence"`` (default), a score for each item; or ``"corpus"``, one for all.
    - ``max_n_gram``: highest n-gram order, 4 by default.
    - ``weights``: one for each order, non-negative with sum 1; all equal by default.
    - ``smooth``: ``"method0"`` to ``"method7"`` of `evalstats.SentenceBLEU`, by default
      ``"method1"``. Methods 5 and 7 may exceed 1.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        given = {} if config is None else config
        if not isinstance(given, Mapping):
            raise InputTypeError(f"config must be a dict, got {type(given).__name__}")
        for key in given:
            if key not in CONFIG:
                raise InputError(f"config has no key {key!r}; available: {', '.join(CONFIG)}")
        self.mode: str = choice(given.get("mode", "sentence"), MODES, "mode")
        n = integer(given.get("max_n_gram", 4), "max_n_gram", 1, MOST_ORDER - 1)
        self.max_n_gram = n
        self.smooth: str = choice(given.get("smooth", "method1"), METHODS, "smooth")
        weights = given.get("weights")
        if weights is not None and len(listed(weights, "weights", "numbers")) != n:
            raise InputError(f"weights has {len(weights)} entries but max_n_gram is {n}")
        matrix = weight_matrix(weights, n).tolist()
        if len(matrix) != 1:
            raise InputError("weights must be one list of numbers, got several")
        self.weights: list[float] = matrix[0]
        self._how = f"BLEU-{n}, {self.smooth}, mode: {self.mode}"

    def evaluate(self, inputs: Sequence[Any]) -> BatchRunResult:
        """Score a sequence of `TestCase` or dict.

        In sentence mode there is one result per item. In corpus mode there is one result for all
        valid items; its reason names the others.
        """
        items = listed(inputs, "inputs", "test cases")
        results, pairs, problems = [], [], []
        for i, item in enumerate(items):
            try:
                if self.mode == "sentence":
                    results.append(EvalResult(**self.compute_one(item)))
                else:
                    pairs.append(_split(item))
            except InputError as error:
                results.append(EvalResult(math.nan, str(error)))
                problems.append(f"item {i}: {error}")
        if self.mode == "sentence" or not items:
            return BatchRunResult(results)
        score, reason = math.nan, "no item can be scored"
        try:
            if pairs:
                score, reason = self._score(pairs), f"{self._how}, {len(pairs)} items"
        except InputError as error:
            reason = str(error)
        left_out = f"; {len(problems)} left out: {'; '.join(problems)}" if problems else ""
        return BatchRunResult([EvalResult(score, reason + left_out)])

    def compute_one(self, item: Any) -> dict[str, Any]:
        """Score one item, ``{"output": float, "reason": str}``, or raise `InputError`."""
        return {"output": self._score([_split(item)]), "reason": self._how}

    def _score(self, pairs: Sequence[tuple[list[str], list[list[str]]]]) -> float:
        hypotheses, references = zip(*pairs, strict=True)
        options = tuple(self.weights), getattr(nltk.SmoothingFunction(), self.smooth)
        return float(nltk.corpus_bleu(references, hypotheses, *options))


def _split(item: Any) -> tuple[list[str], list[list[str]]]:
    """Return the tokens of an item's response and references, or raise an error."""
    keys = ""
    if isinstance(item, Mapping):
        keys = f"; the keys are {', '.join(map(str, item))}"
        item = TestCase(**{str(key): value for key, value in item.items()})
    if not isinstance(item, TestCase):
        raise InputTypeError(f"expected a TestCase or a dict, got {type(item).__name__}")
    if not isinstance(item.response, str):
        raise InputTypeError(f"response must be a string, got {type(item.response).__name__}{keys}")
    if item.expected_text is not None and item.expected_response is not None:
        raise InputError("pass either expected_text or expected_response, not both")
    if item.expected_text is None and item.expected_response is None:
        raise InputError(f"expected_response (expected_text in version 0.1) is missing{keys}")
    name = "expected_response" if item.expected_text is None else "expected_text"
    expected = getattr(item, name)
    known = [expected] if isinstance(expected, str) else expected
    if not isinstance(known, (list, tuple)) or not all(isinstance(text, str) for text in known):
        raise InputTypeError(f"{name} must be a string or a list of strings, got {expected!r:.40}")
    if not known:
        raise InputError(f"{name} is empty, so the item has no reference")
    return item.response.split(), [text.split() for text in known]
