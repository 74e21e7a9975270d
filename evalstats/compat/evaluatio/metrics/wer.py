"""Word error rate, as in ``evaluatio.metrics.wer``.

Rates are fractions and may exceed 1. Against an empty reference a rate is infinite; nothing against
nothing is NaN. New code may prefer `evalstats.WER` with `estimate` and `compare`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.bleu import ConfidenceInterval
from evalstats.checks import check_same_length
from evalstats.compat.evaluatio import _rates
from evalstats.compat.evaluatio._arguments import strings
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


def word_error_rate_per_pair(references: Iterable[str], hypotheses: Iterable[str]) -> list[float]:
    """Return edits per word of the reference, pair by pair.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not strings.

    Examples
    --------
    >>> word_error_rate_per_pair(["hello world", "a b c"], ["hello work", "a b c"])
    [0.5, 0.0]
    """
    return _rates.rate_per_pair(_statistics(references, hypotheses))


def word_edit_distance_per_pair(references: Iterable[str], hypotheses: Iterable[str]) -> list[int]:
    """Return the fewest insertions, deletions and substitutions of words, pair by pair.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not strings.

    Examples
    --------
    >>> word_edit_distance_per_pair(["hello world", "a b c"], ["hello work", "a b c"])
    [1, 0]
    """
    return _rates.distances(_statistics(references, hypotheses))


def word_error_rate(references: Iterable[str], hypotheses: Iterable[str]) -> float:
    """Return all edits per word of all references.

    Raises
    ------
    InputError
        For differing lengths, or entries that are not strings.

    Examples
    --------
    >>> word_error_rate(["hello world", "a b c"], ["hello work", "a b c"])
    0.2
    """
    return _rates.rate(_statistics(references, hypotheses))


def word_error_rate_ci(
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
    >>> ci = word_error_rate_ci(["hello world", "a b c"], ["hello work", "a b c"], 1000, 0.05)
    >>> ci.lower <= ci.mean <= ci.upper
    True
    """
    return _rates.rate_ci(_statistics(references, hypotheses), iterations, alpha, rng)


def _statistics(references: Iterable[str], hypotheses: Iterable[str]) -> NDArray[np.int64]:
    """Return edits and reference length of every pair, `(N, 2)`."""
    refs, hyps = strings(references, "references"), strings(hypotheses, "hypotheses")
    check_same_length(references=refs, hypotheses=hyps)
    return token_edits(map(_words, hyps), map(_words, refs))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text) if _SEPARATORS.search(text) else text.split()
