"""Families of comparisons: p-values adjusted, and intervals that hold, for all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import sampling
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import multiplicity, significance, stepdown, studentised

Floats = NDArray[np.float64]

#: Replicates beyond a bound of an interval, at least, where the bound is a quantile of them.
_BEYOND = 10


def adjusted(
    pvalues: Floats,
    samples: Sequence[Sample],
    pairs: Sequence[Pair],
    adjustment: str,
    alternative: str,
) -> Floats:
    """Adjust the p-values of all pairs under the metrics of the samples, `(M P,) -> (M P,)`.

    No adjusted p-value is below its own: max-T adds to what each test asks for.
    """
    if adjustment != "max-t":
        return multiplicity.ADJUSTMENTS[adjustment](pvalues)
    if len(pvalues) == 1:
        return pvalues
    return np.maximum(pvalues, _max_t(samples, pairs, alternative)[0])


def simultaneous_level(samples: Sequence[Sample], pairs: Sequence[Pair], plan: Plan) -> float:
    """Return the confidence level at which single intervals hold for all pairs at once.

    The t interval of that level is as wide as the quantile of the largest |t| under the null
    hypothesis, and at least as wide as that of one difference. Other methods take the same level.
    """
    from scipy.special import stdtr

    level, degrees = plan.confidence_level, samples[0].degrees
    if samples[0].has_runs:
        # Signs of segments say nothing of other runs; Bonferroni's holds whatever there is.
        return 1 - (1 - level) / (len(samples) * len(pairs))
    if len(samples) * len(pairs) > 1:
        largest = _max_t(samples, pairs, "two-sided")[1]
        # The ⌈(B + 1)(1 - α)⌉-th smallest, so that p <= α where the interval excludes 0.
        place = int(np.ceil((len(largest) + 1) * level - 1e-9))
        if place > len(largest):
            raise InputError(
                f"intervals='simultaneous' at the level {level:g} need n_resamples of at least "
                f"{_needed(1 - level)}, got {plan.n_resamples}"
            )
        units = float(np.partition(largest, place - 1)[place - 1])
        t = stepdown.t_of_units(units, degrees) if _is_flipped(samples) else units
        level = max(level, min(float(1 - 2 * stdtr(degrees, -t)), 1 - 1e-12))
    for sample in samples:
        method = sampling.method_of(sample, plan, pairs[0])
        beyond = (plan.n_resamples + 1) * (1 - level) / 2
        if method not in ("t", "hall", "tango") and beyond < _BEYOND:
            raise InputError(
                f"intervals='simultaneous' of {len(samples) * len(pairs)} comparisons need "
                f"n_resamples of at least {int(np.ceil(2 * _BEYOND / (1 - level)))} with method "
                f"{method!r}, got {plan.n_resamples}; method 't' needs no more"
            )
    return level


def _needed(level: float) -> int:
    return int(np.ceil(1 / level - 1e-9)) - 1


def _is_flipped(samples: Sequence[Sample]) -> bool:
    return all(sample.flips is not None for sample in samples)


def _max_t(
    samples: Sequence[Sample], pairs: Sequence[Pair], alternative: str
) -> tuple[Floats, Floats]:
    """Return step-down p-values, `(M P,)`, and the largest null values, `(B,)`."""
    flipped = _is_flipped(samples)
    deviates, errors, observed = [], [], []
    for sample in samples:
        # Where segments are elsewhere, and where influence is not finite, the bootstrap has to do.
        moved = sample.flips if flipped else sample.replicates - sample.scores
        assert moved is not None
        deviates.append(moved)
        for a, b in pairs:
            if flipped:
                error = float(sampling.influences(sample, (a, b))[1])
            else:
                error = float(np.std(sample.replicates[:, b] - sample.replicates[:, a], ddof=1))
            errors.append(error)
            observed.append(float(sample.scores[b] - sample.scores[a]))
    values, spread = np.array(observed), np.array(errors)
    t = studentised.ratio(values, spread**2)
    degrees, n_systems = samples[0].degrees, len(samples[0].scores)
    columns = [np.array(pairs) + i * n_systems for i in range(len(samples))]
    stepped, largest = stepdown.step_down(
        np.concatenate(deviates, axis=1),
        np.concatenate(columns),
        spread,
        stepdown.flip_units(t, degrees) if flipped else t,
        alternative,
    )
    if not flipped:
        n = samples[0].n_segments
        expanded = [significance.expanded_pvalue(float(p), n, alternative) for p in stepped]
        stepped = np.array(expanded)
    return stepped, largest
