"""chrF, as in ``evaluatio.metrics.chrf``.

References are one list a segment, with the same number of references each; hypotheses are one
string a segment. `chrf` is a `sacrebleu.CHRF` or an `evalstats.CHRF`, by default one with
sacreBLEU's defaults.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_length, integer, share
from evalstats.compat.evaluatio.inference.ci import ConfidenceInterval, interval, resamples
from evalstats.compat.evaluatio.inference.hypothesis import paired_permutation_test
from evalstats.errors import InputError, InputTypeError
from evalstats.inference.bootstrap import percentile
from evalstats.metrics import CHRF
from evalstats.resampling.totals import bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.text.references import References, as_references, as_texts

__all__ = ["ConfidenceInterval", "chrf_ci", "chrf_permutation_test"]

Texts = Iterable[str]


def chrf_ci(
    references: Iterable[Texts],
    hypotheses: Texts,
    iterations: int,
    alpha: float,
    chrf: Any = None,
    seed: int = 0,
    *,
    rng: Rng | Literal["seed"] = "seed",
) -> ConfidenceInterval:
    """Return corpus chrF with a percentile bootstrap interval.

    Without `rng` evaluatio's own draws are made again, one by one: the same `seed` gives its
    numbers, but for their float32 rounding (about 1e-5). With `rng` the draws are `estimate`'s.

    Examples
    --------
    >>> references = [["the cat sat"], ["a dog ran"]]
    >>> ci = chrf_ci(references, ["the cat sat", "the dog ran"], 100, 0.05)
    >>> ci.lower < ci.mean < ci.upper
    True
    """
    n_resamples, level = resamples(iterations), share(alpha, "alpha")
    metric = _metric(chrf)
    texts = as_texts(hypotheses)
    statistics = metric.statistics(texts, _references(references, len(texts)))
    if rng == "seed":
        totals = _evaluatio_totals(statistics, n_resamples, integer(seed, "seed", 0))
    else:
        totals = bootstrap_totals(statistics, n_resamples, rng)
    return interval(metric.score, statistics, totals, 1 - level, percentile)


def chrf_permutation_test(
    references: Iterable[Texts],
    hypotheses1: Texts,
    hypotheses2: Texts,
    iterations: int,
    two_tailed: bool = True,
    chrf: Any = None,
    *,
    rng: Rng = 12345,
) -> float:
    """Return the p-value of random sign flips of the *sentence* scores' differences.

    The mean of sentence scores is not corpus chrF; `evalstats.compare` with ``"chrf"`` tests that.
    With ``two_tailed=False`` the test is for system 1 better than system 2.

    Examples
    --------
    >>> references = [["the cat sat"], ["a dog ran"]]
    >>> texts = ["the cat sat", "a dog ran"]
    >>> chrf_permutation_test(references, texts, texts, 99)
    1.0
    """
    metric = _metric(chrf)
    first, second = as_texts(hypotheses1, "hypotheses1"), as_texts(hypotheses2, "hypotheses2")
    check_same_length(hypotheses1=first, hypotheses2=second)
    refs = _references(references, len(first))
    x1, x2 = (metric.score(metric.statistics(texts, refs)) for texts in (first, second))
    return paired_permutation_test(x1, x2, iterations, two_tailed, rng=rng)


def _metric(chrf: Any) -> CHRF:
    """Return our metric with the parameters of sacreBLEU's."""
    if chrf is None:
        return CHRF()
    names = [option.name for option in fields(CHRF)]
    if not all(hasattr(chrf, name) for name in names):
        raise InputTypeError(
            f"chrf must be a sacrebleu.CHRF, an evalstats.CHRF or None, got {type(chrf).__name__}"
        )
    return CHRF(**{name: getattr(chrf, name) for name in names})


def _references(references: Iterable[Texts], n_segments: int) -> References:
    refs = as_references(references, n_segments)
    if len(set(refs.counts.tolist())) > 1:
        raise InputError(
            f"references must have the same number of references for every segment, got "
            f"{refs.counts.min()} to {refs.counts.max()}; evalstats.estimate takes any number"
        )
    return refs


def _evaluatio_totals(
    statistics: NDArray[np.int64], n_resamples: int, seed: int
) -> NDArray[np.float64]:
    """Sum statistics over evaluatio's own resamples, `(N, k) -> (B, k)`, draw by draw."""
    generator = np.random.default_rng(seed)
    totals = np.zeros((n_resamples, statistics.shape[1]))
    for _ in range(len(statistics)):
        totals += statistics[generator.integers(0, len(statistics), size=n_resamples)]
    return totals
