"""BLEU, as in ``evaluatio.metrics.bleu``: its two functions, seeded and checked.

They keep evaluatio's names, signatures and meaning for code that is being moved; `estimate` and
`compare` are what new code should call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import also_called, check_same_index, check_same_length, share
from evalstats.compat.evaluatio.inference.ci import ConfidenceInterval, interval, resamples
from evalstats.metrics import BLEU
from evalstats.resampling.totals import bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.text.references import as_pairs, as_references, as_texts

__all__ = ["ConfidenceInterval", "bleu_bootstrap_test", "bleu_ci"]


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

    Parameters
    ----------
    references
        One entry per segment: a list of strings, or a string.
    hypotheses : iterable of str
        One output per segment.
    iterations : int
        Resamples, at least 1.
    alpha : float
        In (0, 1): 0.05 gives a 95 % interval.
    effective_order : bool
        Leave out the orders that are longer than the whole output.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.

    Returns
    -------
    ConfidenceInterval
        ``(mean, lower, upper)`` on the 0-100 scale; `mean` is the observed score. The bounds are
        replicates, number ⌊α/2·(B - 1)⌋ and ⌈(1 - α/2)·(B - 1)⌉ in order, counted from 0.

    Raises
    ------
    InputError
        For differing lengths, empty input, `iterations` or `alpha` out of range.

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

    (count + 1)/(iterations + 1), Koehn's (2004) paired bootstrap. **Know what this is**: it is
    one-sided, in the direction that the data chose, so under a true null hypothesis it falls
    below 0.05 about 10 % of the time. `compare` gives the two-sided p-value that holds what it
    promises; doubling this one comes close to it.

    Parameters
    ----------
    hyp1, hyp2 : iterable of str
        The outputs of the two systems, one per segment.
    references, iterations, effective_order, rng
        As in `bleu_ci`.

    Returns
    -------
    float
        In (0, 1]; identical systems give 1.

    Raises
    ------
    InputError
        For differing lengths, empty input, `iterations` out of range.

    Examples
    --------
    >>> references = [["the cat sat on the mat"], ["it is raining again today"]]
    >>> good = ["the cat sat on the mat", "it is raining today again"]
    >>> bad = ["a cat sits on a mat", "again it rains today"]
    >>> bleu_bootstrap_test(references, good, bad, iterations=999)
    0.001
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
    return list(map(reversal_pvalue, found.tolist(), drawn.T))


def reversal_pvalue(observed: float, replicates: NDArray[np.float64]) -> float:
    """Return how often the worse system is at least as good, (count + 1)/(B + 1).

    Koehn (2004), as evaluatio 0.5 computes it, from the observed difference and its replicates
    `(B,)`. One-sided in a direction that was chosen from the data: under a true null hypothesis it
    falls below 0.05 about 10 % of the time.
    """
    # The better system is the first when the observed difference (second - first) is not positive.
    direction = 1.0 if observed > 0 else -1.0
    count = int(np.count_nonzero(direction * replicates <= 0))
    return (count + 1) / (len(replicates) + 1)


def _neighbours(replicates: NDArray[np.float64], alpha: float) -> tuple[Any, Any]:
    """Return evaluatio's bounds: the replicates next to the quantiles, on the outer side."""
    low = np.quantile(replicates, alpha / 2, method="lower")
    return low, np.quantile(replicates, 1 - alpha / 2, method="higher")
