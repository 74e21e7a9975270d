"""`bleu_ci` and `bleu_bootstrap_test`: evaluatio's two BLEU functions, seeded and checked.

They keep evaluatio's names, signatures and meaning for code that is being moved; `estimate` and
`compare` are what new code should call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import also_called, check_same_index, check_same_length, integer, share
from evalstats.inference import significance
from evalstats.metrics import BLEU
from evalstats.resampling.totals import MOST_RESAMPLES, bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.results import report
from evalstats.text.references import References, as_pairs, as_references, as_texts


class ConfidenceInterval(NamedTuple):
    """A confidence interval around an observed score.

    Attributes
    ----------
    mean : float
        The score on the observed segments (evaluatio's name for it).
    lower, upper : float
        Bounds of the interval.
    """

    mean: float
    lower: float
    upper: float

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, a row for each field."""
        return report.fragment_html([report.record_table("interval", self._asdict())], [])


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
    """Return corpus BLEU with a percentile bootstrap interval.

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

    See Also
    --------
    estimate : more metrics, better intervals.

    Examples
    --------
    >>> references = [["the cat sat on the mat"], ["it is raining again today"]]
    >>> hypotheses = ["the cat sat on a mat", "it is raining again today"]
    >>> ci = bleu_ci(references, hypotheses, iterations=1000, alpha=0.05)
    >>> round(ci.mean, 2), round(ci.lower, 2), ci.upper
    (74.19, 53.73, 100.0)
    """
    texts, refs = as_pairs(hypotheses, references)
    iterations = integer(iterations, "iterations", 1, MOST_RESAMPLES)
    level = share(alpha, "alpha")
    metric = BLEU(effective_order=effective_order)
    observed, replicates = _replicates(metric, [texts], refs, iterations, rng)
    # evaluatio's bounds are replicates: those next to the quantiles, on the outer side.
    low = np.quantile(replicates[:, 0], level / 2, method="lower")
    high = np.quantile(replicates[:, 0], 1 - level / 2, method="higher")
    return ConfidenceInterval(float(observed[0]), float(low), float(high))


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

    See Also
    --------
    compare : the calibrated test, with the difference and its interval.

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
    iterations = integer(iterations, "iterations", 1, MOST_RESAMPLES)
    check_same_length(hyp1=first, hyp2=second)
    refs = as_references(references, len(first))
    metric = BLEU(effective_order=effective_order)
    observed, replicates = _replicates(metric, [first, second], refs, iterations, rng)
    return significance.reversal_pvalue(
        float(observed[1] - observed[0]), replicates[:, 1] - replicates[:, 0]
    )


def _replicates(
    metric: BLEU, systems: list[list[str]], references: References, n_resamples: int, rng: Rng
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return observed scores `(S,)` and their bootstrap replicates `(B, S)`."""
    values = np.stack([metric.statistics(texts, references) for texts in systems], axis=1)
    n_segments, n_systems, k = values.shape
    columns = values.reshape(n_segments, n_systems * k)
    totals = bootstrap_totals(columns, n_resamples, rng)
    return (
        metric.score(values.sum(axis=0)),
        metric.score(totals.reshape(n_resamples, n_systems, k)),
    )
