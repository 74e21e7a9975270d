"""`evaluatio.metrics.wer`, `cer` and `uer`: one set of functions, for three kinds of token.

Words are what white space separates, characters are code points, and tokens of any kind are the
same where ``==`` says so. Rates are fractions and may exceed 1: infinite against an empty
reference, NaN for nothing against nothing. New code may prefer `evalstats.WER`, `evalstats.CER`,
and `evalstats.token_edits` with `Ratio`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_length, listed
from evalstats.compat.evaluatio.scores import ConfidenceInterval, error_rate_ci, rates
from evalstats.errors import InputTypeError
from evalstats.metrics import CER
from evalstats.metrics.error_rates import token_edits
from evalstats.resampling.weights import Rng

__all__ = ["ConfidenceInterval"]

Segments = Iterable[Any]
#: Python splits words at the four information separators, Unicode and evaluatio do not.
_SEPARATORS = re.compile("[\x1c-\x1f]")
_WORDS = re.compile(r"(?:\S|[\x1c-\x1f])+")


@dataclass(frozen=True)
class ErrorRate:
    """An error rate by the function that counts edits and tokens of the references, `(N, 2)`."""

    count: Callable[[Segments, Segments], NDArray[np.int64]]

    def edits_per_pair(self, references: Segments, hypotheses: Segments) -> list[int]:
        """Return the fewest insertions, deletions and substitutions of tokens, pair by pair."""
        return list(map(int, self.count(references, hypotheses)[:, 0]))

    def rate_per_pair(self, references: Segments, hypotheses: Segments) -> list[float]:
        """Return edits per token of the reference, pair by pair."""
        return list(map(float, rates(self.count(references, hypotheses))))

    def rate(self, references: Segments, hypotheses: Segments) -> float:
        """Return all edits per token of all references."""
        return float(rates(self.count(references, hypotheses).sum(axis=0)))

    def interval(
        self,
        references: Segments,
        hypotheses: Segments,
        iterations: int,
        alpha: float,
        *,
        rng: Rng = 12345,
    ) -> ConfidenceInterval:
        """Return the corpus rate with a percentile bootstrap interval over segments."""
        edits, lengths = self.count(references, hypotheses).T
        return error_rate_ci(edits, lengths, iterations, alpha, rng=rng)


def _count_words(references: Segments, hypotheses: Segments) -> NDArray[np.int64]:
    refs, hyps = _texts(references, hypotheses)
    return token_edits(map(_words, hyps), map(_words, refs))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text) if _SEPARATORS.search(text) else text.split()


def _count_characters(references: Segments, hypotheses: Segments) -> NDArray[np.int64]:
    refs, hyps = _texts(references, hypotheses)
    return CER().statistics(hyps, refs) if refs else np.zeros((0, 2), dtype=np.int64)


def _count_tokens(references: Segments, hypotheses: Segments) -> NDArray[np.int64]:
    return token_edits(hypotheses, references)


def _texts(references: Segments, hypotheses: Segments) -> list[list[str]]:
    """Return two lists of strings of the same length, which may be empty."""
    pairs = {"references": references, "hypotheses": hypotheses}
    lists = {name: listed(value, name, "strings") for name, value in pairs.items()}
    for name, texts in lists.items():
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputTypeError(f"{name}[{i}] must be a string, got {type(text).__name__}")
    check_same_length(**lists)
    return list(lists.values())


WORDS, CHARACTERS, TOKENS = map(ErrorRate, (_count_words, _count_characters, _count_tokens))

word_edit_distance_per_pair = WORDS.edits_per_pair
character_edit_distance_per_pair = CHARACTERS.edits_per_pair
universal_edit_distance_per_pair = TOKENS.edits_per_pair
word_error_rate_per_pair = WORDS.rate_per_pair
character_error_rate_per_pair = CHARACTERS.rate_per_pair
universal_error_rate_per_pair = TOKENS.rate_per_pair
word_error_rate = WORDS.rate
character_error_rate = CHARACTERS.rate
universal_error_rate = TOKENS.rate
word_error_rate_ci = WORDS.interval
character_error_rate_ci = CHARACTERS.interval
universal_error_rate_ci = TOKENS.interval
