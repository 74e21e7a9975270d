"""Ratios of scores: their logarithms are compared, and then written as what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import COUNTED, Sample, method_of
from evalstats.errors import InputError
from evalstats.metrics.logarithms import LogScore, logarithm
from evalstats.results.contrasts import contrast_of
from evalstats.results.records import Difference

_NOTES = {
    "ratio": "Ratios are system / baseline. Logarithms of scores are compared, and the bounds of "
    "their intervals exponentiated; p is of a ratio of 1, the null hypothesis of no difference.",
    "log-ratio": "Log ratios are ln(system / baseline); p is of a log ratio of 0, the null "
    "hypothesis of no difference.",
}


def as_contrasted(
    samples: Sequence[Sample], contrast: str, plan: Plan, test: str, margin: float | None
) -> list[Sample]:
    """Return what is compared: the samples, or for ratios those of the logarithms of scores."""
    if contrast == "difference":
        return list(samples)
    if margin is not None:
        raise InputError(
            f"margin is a difference in points, and contrast={contrast!r} shows none; give "
            f"recovery, which is a ratio, or leave contrast out"
        )
    return [_logged(sample, contrast, plan, test) for sample in samples]


def _logged(sample: Sample, contrast: str, plan: Plan, test: str) -> Sample:
    for name, score in zip(sample.table.systems, sample.scores, strict=True):
        if score <= 0:
            raise InputError(
                f"contrast={contrast!r} needs scores above 0, and {sample.name} of {name!r} is "
                f"{score:.6g}; leave contrast out"
            )
    replicates = sample.replicates
    lost = bool(np.any(replicates <= 0))
    used = method_of(sample, plan, (0, 1)) not in ("t", "hall", *COUNTED)
    if lost and (used or test == "bootstrap"):
        raise InputError(
            f"contrast={contrast!r} needs scores above 0, and {sample.name} of a resample is not; "
            f"leave test and method out"
        )
    # Made anew, the table would copy its numbers.
    table = copy(sample.table)
    vars(table).update(metric=LogScore(table.metric))
    outcomes = sample.outcomes and replace(sample.outcomes, of_ratios=True)
    return replace(
        sample,
        table=table,
        scores=logarithm(sample.scores),
        replicates=replicates[:0] if lost else logarithm(replicates),
        outcomes=outcomes,
    )


def shown_as(contrast: str, d: Difference, scores: tuple[float, float]) -> Difference:
    """Return a difference of logarithms as the contrast of the scores themselves."""
    if contrast == "difference":
        return d
    baseline, system = map(float, scores)
    made = replace(
        d,
        contrast=contrast,
        baseline_score=baseline,
        system_score=system,
        difference=system - baseline,
    )
    if contrast == "log-ratio":
        return made
    ratio = contrast_of(contrast).of(system, baseline)
    with np.errstate(over="ignore"):
        # Of very few groups simultaneous bounds may be as far away as that.
        low, high = (float(np.exp(bound)) for bound in (d.low, d.high))
    return replace(made, low=low, high=high, standard_error=ratio * d.standard_error)


def contrast_notes(contrast: str) -> tuple[str, ...]:
    """Say what a ratio is, and what its interval and p-value are."""
    return (_NOTES[contrast],) if contrast in _NOTES else ()
