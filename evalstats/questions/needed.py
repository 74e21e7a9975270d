"""What a test set could have found, and how many units are needed, if nothing is significant."""

from __future__ import annotations

from math import ceil

import numpy as np

from evalstats.analysis.comparison import Evaluation
from evalstats.analysis.counts import Paired
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.quantities import Quantities
from evalstats.designs.samples import ShareAgainst
from evalstats.inference import student
from evalstats.inference.counts import tango_distance
from evalstats.inference.distributions import normal_quantile
from evalstats.questions.power import noncentral
from evalstats.questions.power.planning import (
    ENDLESS,
    Question,
    by_t,
    check_smooth,
    designed,
)
from evalstats.results.records import Difference


def least_of(evaluation: Evaluation, d: Difference, level: float, target: float) -> float | None:
    """Return the least difference that the test set of a pair finds, computed as in `planned`.

    Nothing else is planned, because every result shows it and it must be fast.
    """
    (scores,), options = evaluation.together([d]), evaluation.options
    check_smooth(scores)
    names = scores.systems
    asked = Question(level, target, options.confidence_level, options.alternative)
    plan = designed(scores, (names.index(d.baseline), names.index(d.system)), asked)
    return plan.least(scores.units.n, scores.n_runs or 1)


def needed_of(pair: PairTest, level: float, target: float) -> int | None:
    """Return how many units are needed for the system to pass, or `None`.

    With a limit, for a system without a loss; against a number (the baseline), for a score as good
    as this one.
    """
    scores, options = pair.scores, pair.options
    difference, distance = pair.difference, options.margin
    if not options.is_limited:
        return _needed_above(pair, level, target)
    if options.recovery is not None:
        ends = (pair.a, pair.b) if scores.higher_is_better else (pair.b, pair.a)
        difference = scores.pairs(ends[:1], ends[1:], options.recovery)
        distance = (1 - options.recovery) * float(scores.value[pair.a])
    if not distance or distance < 0:
        return None
    counts = pair.counts
    if isinstance(counts, Paired):
        # For counts, a recovery is a margin of the plain difference.
        known = distance / counts.scale, counts.discordant
        items = items_within(*known, level, target) * scores.units.n / counts.n
        needed = ceil(items) if items < ENDLESS else None
    else:
        needed = _needed_by_t(difference, distance, level, target)
    if scores.is_paired or needed is None:
        return needed
    # In proportion to the system's share of all units.
    return ceil(needed * scores.samples[pair.b].units.n / scores.units.n)


def _needed_by_t(number: Quantities, distance: float, level: float, target: float) -> int | None:
    """Return how many units, with the same number of runs, show a one-sided distance."""
    error = number.spreads[0].error
    if error == 0:
        return None
    # Variances of large or small scores may overflow; scores of several runs are refused earlier.
    unit = 1.0 if number.runs else float(student.unit_of(np.array(error)))
    # The level of intervals is not used.
    design = by_t(number, Question(level, target, 0.95, alternative="greater"), 1 / unit)
    return design.needed(distance / unit, design.n_runs)


def _needed_above(pair: PairTest, level: float, target: float) -> int | None:
    """Return how many units show a score as good as this one to be better than the baseline."""
    scores, counts, value = pair.scores, pair.counts, float(pair.difference.value[0])
    ahead = value if scores.higher_is_better else -value
    if ahead <= 0:
        return None
    if isinstance(counts, ShareAgainst):
        share, number, n = counts.of, counts.number, scores.units.n
        return noncentral.least_size(
            lambda m: noncentral.share_power(number, share.share, m * share.n / n, level), target
        )
    return _needed_by_t(pair.difference, ahead, level, target)


def items_within(margin: float, discordant: float, level: float, power: float) -> float:
    """Return how many items show, one-sided, that two equal shares differ by less than a margin.

    By Tango's (1998) score test, with as many gained as lost. Without discordant items, the number
    follows from Wilson's bound for a share of 0, which is the minimum.

    >>> round(items_within(0.01, 0.0, 0.05, 0.8), 1)
    267.8
    """
    # A margin that vanishes by rounding is never shown.
    distance = max(tango_distance(discordant / 2, discordant / 2, 1.0, -margin), 1e-300)
    root = -normal_quantile(level) / distance + normal_quantile(power) * discordant**0.5 / margin
    return float(root * root)
