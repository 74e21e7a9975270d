"""Word error rate, as in ``evaluatio.metrics.wer``; new code may prefer `evalstats.WER`.

References and hypotheses are N strings each, and words are what white space separates. Rates are
fractions and may exceed 1: infinite against an empty reference, NaN for nothing against nothing.
Lists of different lengths or of anything but strings raise an `InputError`; so does an interval of
which one resample has nothing but empty pairs.

Examples
--------
>>> references, hypotheses = ["hello world", "a b c"], ["hello work", "a b c"]
>>> word_edit_distance_per_pair(references, hypotheses)
[1, 0]
>>> word_error_rate_per_pair(references, hypotheses)
[0.5, 0.0]
>>> word_error_rate(references, hypotheses)
0.2
>>> ci = word_error_rate_ci(references, hypotheses, iterations=1000, alpha=0.05)
>>> ci.lower <= ci.mean <= ci.upper
True
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from evalstats.compat.evaluatio._arguments import Texts, text_pairs
from evalstats.compat.evaluatio.inference.ci import ConfidenceInterval, error_rate_ci, rates
from evalstats.metrics.error_rates import token_edits
from evalstats.resampling.weights import Rng

__all__ = [
    "ConfidenceInterval",
    "word_edit_distance_per_pair",
    "word_error_rate",
    "word_error_rate_ci",
    "word_error_rate_per_pair",
]

#: Python splits words at the four information separators, Unicode and evaluatio do not.
_SEPARATORS = re.compile("[\x1c-\x1f]")
_WORDS = re.compile(r"(?:\S|[\x1c-\x1f])+")


def word_error_rate_per_pair(references: Texts, hypotheses: Texts) -> list[float]:
    """Return edits per word of the reference, pair by pair."""
    return list(map(float, rates(_statistics(references, hypotheses))))


def word_edit_distance_per_pair(references: Texts, hypotheses: Texts) -> list[int]:
    """Return the fewest insertions, deletions and substitutions of words, pair by pair."""
    return list(map(int, _statistics(references, hypotheses)[:, 0]))


def word_error_rate(references: Texts, hypotheses: Texts) -> float:
    """Return all edits per word of all references."""
    return float(rates(_statistics(references, hypotheses).sum(axis=0)))


def word_error_rate_ci(
    references: Texts, hypotheses: Texts, iterations: int, alpha: float, *, rng: Rng = 12345
) -> ConfidenceInterval:
    """Return the corpus rate with a percentile bootstrap interval over segments."""
    edits, lengths = _statistics(references, hypotheses).T
    return error_rate_ci(edits, lengths, iterations, alpha, rng=rng)


def _statistics(references: Texts, hypotheses: Texts) -> NDArray[np.int64]:
    refs, hyps = text_pairs(references, hypotheses)
    return token_edits(map(_words, hyps), map(_words, refs))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text) if _SEPARATORS.search(text) else text.split()
