"""Universal error rate: tokens of any kind, as in ``evaluatio.metrics.uer``.

References and hypotheses are N sequences of tokens each, and tokens are the same where ``==`` says
so; all else is as in `wer`. New code may prefer `evalstats.token_edits` with `Ratio`.

Examples
--------
>>> references, hypotheses = [["a", 1], [None]], [["a", 2], [None]]
>>> universal_edit_distance_per_pair(references, hypotheses)
[1, 0]
>>> universal_error_rate_per_pair(references, hypotheses)
[0.5, 0.0]
>>> print(round(universal_error_rate(references, hypotheses), 4))
0.3333
>>> ci = universal_error_rate_ci(references, hypotheses, iterations=1000, alpha=0.05)
>>> ci.lower <= ci.mean <= ci.upper
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evalstats.compat.evaluatio.inference.ci import ConfidenceInterval, error_rate_ci, rates
from evalstats.metrics.error_rates import token_edits
from evalstats.resampling.weights import Rng

__all__ = [
    "ConfidenceInterval",
    "universal_edit_distance_per_pair",
    "universal_error_rate",
    "universal_error_rate_ci",
    "universal_error_rate_per_pair",
]

Segments = Iterable[Iterable[Any]]


def universal_error_rate_per_pair(references: Segments, hypotheses: Segments) -> list[float]:
    """Return edits per token of the reference, pair by pair."""
    return list(map(float, rates(token_edits(hypotheses, references))))


def universal_edit_distance_per_pair(references: Segments, hypotheses: Segments) -> list[int]:
    """Return the fewest insertions, deletions and substitutions of tokens, pair by pair."""
    return list(map(int, token_edits(hypotheses, references)[:, 0]))


def universal_error_rate(references: Segments, hypotheses: Segments) -> float:
    """Return all edits per token of all references."""
    return float(rates(token_edits(hypotheses, references).sum(axis=0)))


def universal_error_rate_ci(
    references: Segments, hypotheses: Segments, iterations: int, alpha: float, *, rng: Rng = 12345
) -> ConfidenceInterval:
    """Return the corpus rate with a percentile bootstrap interval over segments."""
    edits, lengths = token_edits(hypotheses, references).T
    return error_rate_ci(edits, lengths, iterations, alpha, rng=rng)
