"""Character error rate, as in ``evaluatio.metrics.cer``.

Rates are fractions and may exceed 1. Against an empty reference a rate is infinite; nothing against
nothing is NaN. New code may prefer `evalstats.CER` with `estimate` and `compare`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.bleu import ConfidenceInterval
from evalstats.checks import check_same_length
from evalstats.compat.evaluatio import _rates
from evalstats.compat.evaluatio._arguments import strings
from evalstats.metrics import CER
from evalstats.resampling.weights import Rng

__all__ = [
    "ConfidenceInterval",
    "character_edit_distance_per_pair",
    "character_error_rate",
    "character_error_rate_ci",
    "character_error_rate_per_pair",
]


def character_error_rate_per_pair(
    references: Iterable[str], hypotheses: Iterable[str]
) -> list[float]:
    """Return edits per character of the reference, pair by pair.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not strings.

    Examples
    --------
    >>> character_error_rate_per_pair(["aaaaaa", "aa"], ["aaabbb", "aa"])
    [0.5, 0.0]
    """
    return _rates.rate_per_pair(_statistics(references, hypotheses))


def character_edit_distance_per_pair(
    references: Iterable[str], hypotheses: Iterable[str]
) -> list[int]:
    """Return the fewest insertions, deletions and substitutions of code points, pair by pair.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not strings.

    Examples
    --------
    >>> character_edit_distance_per_pair(["aaaaaa", "aa"], ["aaabbb", "aa"])
    [3, 0]
    """
    return _rates.distances(_statistics(references, hypotheses))


def character_error_rate(references: Iterable[str], hypotheses: Iterable[str]) -> float:
    """Return all edits per character of all references.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not strings.

    Examples
    --------
    >>> character_error_rate(["aaaaaa", "aa"], ["aaabbb", "aa"])
    0.375
    """
    return _rates.rate(_statistics(references, hypotheses))


def character_error_rate_ci(
    references: Iterable[str],
    hypotheses: Iterable[str],
    iterations: int,
    alpha: float,
    *,
    rng: Rng = 12345,
) -> ConfidenceInterval:
    """Return the corpus rate with a percentile bootstrap interval over segments.

    Parameters
    ----------
    references, hypotheses
        One entry per segment.
    iterations : int
        Resamples, at least 1.
    alpha : float
        In (0, 1): 0.05 gives a 95 % interval.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.

    Raises
    ------
    InputError
        For differing lengths, empty input, entries that are not strings, numbers out of
        range, or a resample of empty pairs.

    Examples
    --------
    >>> ci = character_error_rate_ci(["aaaaaa", "aa"], ["aaabbb", "aa"], 1000, 0.05)
    >>> ci.lower <= ci.mean <= ci.upper
    True
    """
    return _rates.rate_ci(_statistics(references, hypotheses), iterations, alpha, rng)


def _statistics(references: Iterable[str], hypotheses: Iterable[str]) -> NDArray[np.int64]:
    """Return edits and reference length of every pair, `(N, 2)`."""
    refs, hyps = strings(references, "references"), strings(hypotheses, "hypotheses")
    check_same_length(references=refs, hypotheses=hyps)
    return CER().statistics(hyps, refs) if refs else np.zeros((0, 2), dtype=np.int64)
