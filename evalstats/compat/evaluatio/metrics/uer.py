"""Universal error rate: tokens of any kind, as in ``evaluatio.metrics.uer``.

Rates are fractions and may exceed 1. Against an empty reference a rate is infinite; nothing against
nothing is NaN. New code may prefer `evalstats.token_edits` with `Ratio`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.bleu import ConfidenceInterval
from evalstats.compat.evaluatio import _rates
from evalstats.metrics.error_rates import token_edits
from evalstats.resampling.weights import Rng

__all__ = [
    "ConfidenceInterval",
    "universal_edit_distance_per_pair",
    "universal_error_rate",
    "universal_error_rate_ci",
    "universal_error_rate_per_pair",
]


def universal_error_rate_per_pair(
    references: Iterable[Iterable[Any]], hypotheses: Iterable[Iterable[Any]]
) -> list[float]:
    """Return edits per token of the reference, pair by pair.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not sequences of tokens.

    Examples
    --------
    >>> universal_error_rate_per_pair([["a", 1], [None]], [["a", 2], [None]])
    [0.5, 0.0]
    """
    return _rates.rate_per_pair(_statistics(references, hypotheses))


def universal_edit_distance_per_pair(
    references: Iterable[Iterable[Any]], hypotheses: Iterable[Iterable[Any]]
) -> list[int]:
    """Return the fewest insertions, deletions and substitutions of tokens, pair by pair.

    Tokens are the same where ``==`` says so.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not sequences of tokens.

    Examples
    --------
    >>> universal_edit_distance_per_pair([["a", 1], [None]], [["a", 2], [None]])
    [1, 0]
    """
    return _rates.distances(_statistics(references, hypotheses))


def universal_error_rate(
    references: Iterable[Iterable[Any]], hypotheses: Iterable[Iterable[Any]]
) -> float:
    """Return all edits per token of all references.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not sequences of tokens.

    Examples
    --------
    >>> universal_error_rate([["a", 1], [None]], [["a", 2], [None]])
    0.3333333333333333
    """
    return _rates.rate(_statistics(references, hypotheses))


def universal_error_rate_ci(
    references: Iterable[Iterable[Any]],
    hypotheses: Iterable[Iterable[Any]],
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
        For differing lengths, empty input, entries that are not sequences of tokens, numbers out of
        range, or a resample of empty pairs.

    Examples
    --------
    >>> ci = universal_error_rate_ci([["a", 1], [None]], [["a", 2], [None]], 1000, 0.05)
    >>> ci.lower <= ci.mean <= ci.upper
    True
    """
    return _rates.rate_ci(_statistics(references, hypotheses), iterations, alpha, rng)


def _statistics(
    references: Iterable[Iterable[Any]], hypotheses: Iterable[Iterable[Any]]
) -> NDArray[np.int64]:
    """Return edits and reference length of every pair, `(N, 2)`."""
    return token_edits(hypotheses, references)
