"""`evaluatio.metrics.bleu` and `evaluatio.metrics.chrf`, seeded and checked.

References have one entry per segment, a list of strings or a string. New code should call
`estimate` and `compare`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import also_called, check_same_index, check_same_length, integer, share
from evalstats.compat.evaluatio.scores import (
    ConfidenceInterval,
    interval,
    paired_permutation_test,
    resamples,
)
from evalstats.errors import InputTypeError
from evalstats.inference.bootstrap import percentile
from evalstats.metrics import BLEU, CHRF
from evalstats.resampling.weighted import bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.text.references import as_pairs, as_references, as_texts

__all__ = ["ConfidenceInterval", "bleu_bootstrap_test", "bleu_ci"]

Texts = Iterable[str]


@also_called(seed="rng")
def bleu_ci(
    references: Iterable[Any],
    hypotheses: Iterable[str],
    iterations: int,
    alpha: float,
    effective_order: bool = True,
    *,
    rng: Rng = 12345,
) -> ConfidenceInterval:
    """Return corpus BLEU with a percentile bootstrap interval; `estimate` has better ones.

    The bounds are replicates on the 0-100 scale, number ⌊α/2·(B - 1)⌋ and ⌈(1 - α/2)·(B - 1)⌉ in
    order, counted from 0.
    ``effective_order=False`` counts orders that are longer than the whole output (evaluatio leaves
    them out in either case). Bad input raises an `InputError`.

    Examples
    --------
    >>> references = [["the cat sat on the mat"], ["it is raining again today"]]
    >>> hypotheses = ["the cat sat on a mat", "it is raining again today"]
    >>> ci = bleu_ci(references, hypotheses, iterations=1000, alpha=0.05)
    >>> round(ci.mean, 2), round(ci.lower, 2), ci.upper
    (74.19, 53.73, 100.0)
    """
    texts, refs = as_pairs(hypotheses, references)
    n_resamples, level = resamples(iterations), share(alpha, "alpha")
    metric = BLEU(effective_order=effective_order)
    statistics = metric.statistics(texts, refs)
    totals = bootstrap_totals(statistics, n_resamples, rng)
    return interval(metric.score, statistics, totals, level, _neighbours)


@also_called(seed="rng")
def bleu_bootstrap_test(
    references: Iterable[Any],
    hyp1: Iterable[str],
    hyp2: Iterable[str],
    iterations: int,
    effective_order: bool = True,
    *,
    rng: Rng = 12345,
) -> float:
    """Return how often the worse of two systems is at least as good when segments are resampled.

    (count + 1)/(iterations + 1), Koehn's (2004) paired bootstrap; 1 for identical systems. **Know
    what this is**: it is one-sided, in the direction that the data chose, so under a true null
    hypothesis it falls below 0.05 about 10 % of the time. `compare` gives the two-sided p-value
    that holds what it promises; doubling this one comes close to it.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> worse, better = sample.systems["baseline"], sample.systems["clearly-better"]
    >>> bleu_bootstrap_test(sample.references, worse, better, 99) < 0.05
    True
    """
    check_same_index({"references": references, "hyp1": hyp1, "hyp2": hyp2})
    first, second = as_texts(hyp1, "hyp1"), as_texts(hyp2, "hyp2")
    n_resamples = resamples(iterations)
    check_same_length(hyp1=first, hyp2=second)
    refs = as_references(references, len(first))
    metric = BLEU(effective_order=effective_order)
    values = np.stack([metric.statistics(texts, refs) for texts in (first, second)])
    return reversal_pvalues(metric, values, n_resamples, rng)[0]


def reversal_pvalues(
    metric: BLEU, values: NDArray[np.int64], n_resamples: int, rng: Rng
) -> list[float]:
    """Return the p-values of all systems but the first against it, from statistics `(S, N, k)`."""
    segments = values.transpose(1, 0, 2)
    totals = bootstrap_totals(segments.reshape(len(segments), -1), n_resamples, rng)
    observed = metric.score(values.sum(axis=1))
    replicates = metric.score(totals.reshape(n_resamples, *segments.shape[1:]))
    found, drawn = (scores[..., 1:] - scores[..., :1] for scores in (observed, replicates))
    # The better system is the first when the observed difference (second - first) is not positive.
    reversed_ = np.where(found > 0, 1.0, -1.0) * drawn <= 0
    counts: list[int] = np.count_nonzero(reversed_, axis=0).tolist()
    return [(count + 1) / (n_resamples + 1) for count in counts]


def _neighbours(replicates: NDArray[np.float64], alpha: float) -> tuple[Any, Any]:
    """Return evaluatio's bounds: the replicates next to the quantiles, on the outer side."""
    low = np.quantile(replicates, alpha / 2, method="lower")
    return low, np.quantile(replicates, 1 - alpha / 2, method="higher")


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
    `chrf` is a `sacrebleu.CHRF` or an `evalstats.CHRF`, by default one with sacreBLEU's defaults.
    """
    n_resamples, level = resamples(iterations), share(alpha, "alpha")
    metric = _metric(chrf)
    texts = as_texts(hypotheses)
    statistics = metric.statistics(texts, as_references(references, len(texts)))
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
    """
    metric = _metric(chrf)
    first, second = as_texts(hypotheses1, "hypotheses1"), as_texts(hypotheses2, "hypotheses2")
    check_same_length(hypotheses1=first, hypotheses2=second)
    refs = as_references(references, len(first))
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


def _evaluatio_totals(
    statistics: NDArray[np.int64], n_resamples: int, seed: int
) -> NDArray[np.float64]:
    """Sum statistics over evaluatio's own resamples, `(N, k) -> (B, k)`, draw by draw."""
    generator = np.random.default_rng(seed)
    totals = np.zeros((n_resamples, statistics.shape[1]))
    for _ in range(len(statistics)):
        totals += statistics[generator.integers(0, len(statistics), size=n_resamples)]
    return totals
