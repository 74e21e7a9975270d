"""rouge_score 0.1.2: `RougeScorer`, `Score` and `BootstrapAggregator`, with the same numbers.

They can be had from rouge_score's modules too: `rouge_scorer`, `scoring` and `tokenizers`. One text
a call is for small numbers of texts; `evalstats.ROUGE` scores a test set at once.

What differs: `BootstrapAggregator.aggregate` gives the same at every call, and the mean of the
scores itself as ``mid`` (rouge_score: the median of resampled means). `split_summaries` is refused:
sentences are lines. An unknown type is an `InputError` (a `ValueError`) from the beginning.

Examples
--------
>>> from evalstats.compat.rouge_score import rouge_scorer
>>> scorer = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
>>> scorer.score("The quick brown fox jumps", "The quick brown dog jumped")["rougeL"]
Score(precision=0.8, recall=0.8, fmeasure=0.8000000000000002)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import as_numbers, flag, integer, listed, number, shown
from evalstats.compat import add_modules
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.rouge import VARIANTS
from evalstats.resampling.weighted import bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.text.tokenization import alphanumeric

Tokens = Sequence[str]


class Score(NamedTuple):
    """Precision, recall and F of a text."""

    precision: float
    recall: float
    fmeasure: float


class AggregateScore(NamedTuple):
    """The mean of scores and the ends of its interval, a score each."""

    low: Any
    mid: Any
    high: Any


class BaseScorer(ABC):
    """What scores a text."""

    @abstractmethod
    def score(self, target: str, prediction: str) -> dict[str, Score]:
        """Return the score of each type."""


class Tokenizer(ABC):
    """What splits a text into tokens."""

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text."""


class DefaultTokenizer(Tokenizer):
    """Runs of ASCII letters and digits in lower case, stemmed on request."""

    def __init__(self, use_stemmer: bool = False) -> None:
        self.use_stemmer = flag(use_stemmer, "use_stemmer")

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        return alphanumeric(_text(text, "text"), self.use_stemmer)


class RougeScorer(BaseScorer):
    """Scores of the types ``"rouge1"`` to ``"rouge9"``, ``"rougeL"`` and ``"rougeLsum"``.

    `tokenizer` is anything with a method `tokenize` from a string to a list of tokens. An unknown
    type, and `split_summaries`, raise an `InputError`.
    """

    def __init__(
        self,
        rouge_types: Sequence[str],
        use_stemmer: bool = False,
        split_summaries: bool = False,
        tokenizer: Any = None,
    ) -> None:
        self.rouge_types = listed(rouge_types, "rouge_types", "names of types")
        for name in self.rouge_types:
            known = [f"rouge{variant}" for variant in VARIANTS]
            if name not in known:
                raise InputError(
                    f"must be among {', '.join(known)}; got {shown(name)}", argument="rouge_types"
                )
        if flag(split_summaries, "split_summaries"):
            raise InputError(
                "must be False: rouge_score splits with NLTK's sentence tokeniser; split the texts "
                "yourself, one sentence a line",
                argument="split_summaries",
            )
        self._tokenizer = tokenizer or DefaultTokenizer(use_stemmer)

    def score(self, target: str, prediction: str) -> dict[str, Score]:
        """Return the score of each type, of a prediction against one target."""
        texts = _text(prediction, "prediction"), _text(target, "target")
        hyp: Tokens = []
        ref: Tokens = []
        if set(self.rouge_types) - {"rougeLsum"}:
            hyp, ref = (self._tokenizer.tokenize(text) for text in texts)
        found = {}
        for name in self.rouge_types:
            # Hits, and what output and reference have. One text is too little for arrays.
            if name == "rougeLsum":
                counts = self._summary_counts(texts)
            elif name == "rougeL":
                counts = [_length(_levels(hyp, ref)[-1], len(hyp)), len(hyp), len(ref)]
            else:
                n = int(name.removeprefix("rouge"))
                windows = (zip(*(x[i:] for i in range(n)), strict=False) for x in (hyp, ref))
                first, second = map(Counter, windows)
                counts = [count.total() for count in (first & second, first, second)]
            precision, recall = counts[0] / max(counts[1], 1), counts[0] / max(counts[2], 1)
            both = precision + recall
            fmeasure = 2 * precision * recall / both if both > 0 else 0.0
            found[name] = Score(precision, recall, fmeasure)
        return found

    def _summary_counts(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of the union of common subsequences of lines, as often as both have."""
        hyp, ref = (
            [self._tokenizer.tokenize(line) for line in text.split("\n") if line] for text in texts
        )
        common: Counter[str] = Counter()
        for line in ref:
            union = {i for other in hyp for i in _common_places(other, line)}
            common.update(line[i] for i in union)
        tokens = Counter(token for line in hyp for token in line)
        return [(common & tokens).total(), tokens.total(), sum(map(len, ref))]

    def score_multi(self, targets: Sequence[str], prediction: str) -> dict[str, Score]:
        """Return the score of each type against the target with the best F."""
        several = listed(targets, "targets", "strings")
        if not several:
            raise InputError("is empty; give at least one target", argument="targets")
        scores = [self.score(target, prediction) for target in several]
        # Of equals the first.
        fmeasure = attrgetter("fmeasure")
        return {n: max((score[n] for score in scores), key=fmeasure) for n in self.rouge_types}


def _common_places(hyp: Tokens, ref: Tokens) -> Iterator[int]:
    """Yield the places in a reference of the common subsequence that rouge_score takes."""
    levels = _levels(hyp, ref)
    i, j = len(ref), len(hyp)
    while i and j:
        if ref[i - 1] == hyp[j - 1]:
            i, j = i - 1, j - 1
            yield i
        elif _length(levels[i], j - 1) > _length(levels[i - 1], j):
            j -= 1
        else:
            i -= 1


def _levels(hyp: Tokens, ref: Tokens) -> list[int]:
    """Return rows, as `evalstats.text.levenshtein` has them, for the first 0, 1, ... tokens."""
    places: dict[str, int] = {}
    for j, token in enumerate(hyp):
        places[token] = places.get(token, 0) | 1 << j
    level = full = (1 << len(hyp)) - 1
    levels = [level]
    for token in ref:
        rising = level & places.get(token, 0)
        level = ((level + rising) | (level ^ rising)) & full
        levels.append(level)
    return levels


def _length(level: int, j: int) -> int:
    """Return the length of a longest common subsequence with the first j tokens of an output."""
    return j - (level & ((1 << j) - 1)).bit_count()


class BootstrapAggregator:
    """Means of scores with percentile intervals over texts.

    `confidence_interval` is the level, 0 to 1, `n_samples` the number of resamples and `rng` a seed
    or a `numpy.random.Generator`.
    """

    def __init__(
        self, confidence_interval: float = 0.95, n_samples: int = 1000, *, rng: Rng = 12345
    ) -> None:
        self._level = number(confidence_interval, "confidence_interval", 0.0)
        if self._level > 1:
            raise InputError(
                f"must be at most 1, got {self._level:g}", argument="confidence_interval"
            )
        self._n_samples = integer(n_samples, "n_samples", 1)
        self._rng = rng
        self._scores: dict[str, list[Any]] = defaultdict(list)

    def add_scores(self, scores: Mapping[str, Any]) -> None:
        """Add the scores of a text: what `RougeScorer.score` returns, or other named tuples."""
        for name, score in scores.items():
            self._scores[name].append(score)

    def aggregate(self) -> dict[str, AggregateScore]:
        """Return the mean and its interval of each type."""
        found = {}
        for name, scores in self._scores.items():
            make = type(scores[0])
            rows = as_numbers([list(score) for score in scores], "scores", len(scores[0]))
            means = bootstrap_totals(rows, self._n_samples, self._rng) / len(rows)
            tail = (1 - self._level) / 2
            low, high = np.percentile(means, [100 * tail, 100 * (1 - tail)], axis=0).tolist()
            mid = rows.mean(axis=0).tolist()
            found[name] = AggregateScore(make(*low), make(*mid), make(*high))
        return found


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InputTypeError(f"must be a string, got {type(value).__name__}", argument=name)
    return value


_MODULES = {
    "rouge_scorer": "RougeScorer",
    "scoring": "AggregateScore BaseScorer BootstrapAggregator Score",
    "tokenizers": "DefaultTokenizer Tokenizer",
}
add_modules(__name__, {path: (__name__, names) for path, names in _MODULES.items()})
