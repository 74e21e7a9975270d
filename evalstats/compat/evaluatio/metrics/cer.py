"""Character error rate, as in ``evaluatio.metrics.cer``; new code may prefer `evalstats.CER`.

Characters are code points, white space included; all else is as in `wer`.

Examples
--------
>>> references, hypotheses = ["aaaaaa", "aa"], ["aaabbb", "aa"]
>>> character_edit_distance_per_pair(references, hypotheses)
[3, 0]
>>> character_error_rate_per_pair(references, hypotheses)
[0.5, 0.0]
>>> character_error_rate(references, hypotheses)
0.375
>>> ci = character_error_rate_ci(references, hypotheses, iterations=1000, alpha=0.05)
>>> ci.lower <= ci.mean <= ci.upper
True
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.compat.evaluatio._arguments import Texts, text_pairs
from evalstats.compat.evaluatio.inference.ci import ConfidenceInterval, error_rate_ci, rates
from evalstats.metrics import CER
from evalstats.resampling.weights import Rng

__all__ = [
    "ConfidenceInterval",
    "character_edit_distance_per_pair",
    "character_error_rate",
    "character_error_rate_ci",
    "character_error_rate_per_pair",
]


def character_error_rate_per_pair(references: Texts, hypotheses: Texts) -> list[float]:
    """Return edits per character of the reference, pair by pair."""
    return list(map(float, rates(_statistics(references, hypotheses))))


def character_edit_distance_per_pair(references: Texts, hypotheses: Texts) -> list[int]:
    """Return the fewest insertions, deletions and substitutions of characters, pair by pair."""
    return list(map(int, _statistics(references, hypotheses)[:, 0]))


def character_error_rate(references: Texts, hypotheses: Texts) -> float:
    """Return all edits per character of all references."""
    return float(rates(_statistics(references, hypotheses).sum(axis=0)))


def character_error_rate_ci(
    references: Texts, hypotheses: Texts, iterations: int, alpha: float, *, rng: Rng = 12345
) -> ConfidenceInterval:
    """Return the corpus rate with a percentile bootstrap interval over segments."""
    edits, lengths = _statistics(references, hypotheses).T
    return error_rate_ci(edits, lengths, iterations, alpha, rng=rng)


def _statistics(references: Texts, hypotheses: Texts) -> NDArray[np.int64]:
    refs, hyps = text_pairs(references, hypotheses)
    return CER().statistics(hyps, refs) if refs else np.zeros((0, 2), dtype=np.int64)
