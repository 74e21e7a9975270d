"""What a test set would have found, and how many units would decide, where nothing is shown."""

from __future__ import annotations

from math import ceil

import numpy as np

from evalstats.analysis.comparison import Evaluation
from evalstats.analysis.drawn import Effect
from evalstats.analysis.pairs import PairTest
from evalstats.designs.one_sample import ShareAgainst
from evalstats.inference import student
from evalstats.questions.power import noncentral
from evalstats.questions.power.planning import (
    ENDLESS,
    Question,
    by_t,
    check_smooth,
    designed,
    pilot_of,
)
from evalstats.results.records import Difference


def least_of(evaluation: Evaluation, d: Difference, level: float, target: float) -> float | None:
    """Return the least difference that the test set of a pair finds, as `planned` does.

    It plans nothing else: what stands in every result has to come at once.
    """
    (drawn,), options = pilot_of(evaluation, [d]), evaluation.options
    check_smooth(drawn)
    names, runs = drawn.of.systems, drawn.runs
    asked = Question(level, target, options.confidence_level, options.alternative)
    plan = designed(drawn, (names.index(d.baseline), names.index(d.system)), asked)
    return plan.least(drawn.units.n, len(runs[0][0].scores) if runs else 1)


def needed_of(pair: PairTest, level: float, target: float) -> int | None:
    """Return how many units of the system show that it passes; `None` where no number is known.

    Within a limit a system that has lost nothing; against a number, which is then the baseline, a
    score as good as this one.
    """
    drawn, options, outcomes = pair.drawn, pair.options, pair.drawn.of.outcomes
    effect, distance = pair.difference, options.margin
    if not options.is_limited:
        return _needed_above(pair, level, target)
    if options.recovery is not None:
        ends = (pair.a, pair.b) if drawn.of.higher_is_better else (pair.b, pair.a)
        effect = drawn.difference(*ends, options.recovery)
        distance = (1 - options.recovery) * float(drawn.scores[pair.a])
    if not distance or distance < 0:
        return None
    if outcomes is not None:
        # Of counted answers a recovery is a margin of the plain difference.
        influence = pair.difference.influence
        assert influence is not None
        counts = outcomes.counted(pair.a, pair.b, influence)
        known = distance / outcomes.scale, (counts.gained + counts.lost) / counts.n
        items = noncentral.items_within(*known, level, target) * drawn.units.n / counts.n
        needed = ceil(items) if items < ENDLESS else None
    else:
        needed = _needed_by_t(effect, distance, level, target)
    if drawn.of.is_paired or needed is None:
        return needed
    # As many of the system as its share of both.
    return ceil(needed * drawn.samples[pair.b].units.n / drawn.units.n)


def _needed_by_t(effect: Effect, distance: float, level: float, target: float) -> int | None:
    """Return how many units, of as many runs as there were, show a distance on one side."""
    if effect.spread.error == 0:
        return None
    # Variances of large or small scores are no numbers; those of several runs are refused.
    unit = 1.0 if effect.runs else float(student.unit_of(np.array(effect.spread.error)))
    # The level of intervals is not asked.
    design = by_t(1 / unit * effect, Question(level, target, 0.95, alternative="greater"))
    return design.needed(distance / unit, design.n_runs)


def _needed_above(pair: PairTest, level: float, target: float) -> int | None:
    """Return how many units show a score as good as this one to be better than the baseline."""
    drawn, effect = pair.drawn, pair.difference
    ahead = effect.value if drawn.of.higher_is_better else -effect.value
    if ahead <= 0:
        return None
    if isinstance(pair.counts, ShareAgainst):
        share, number, n = pair.counts.of, pair.counts.number, drawn.units.n
        return noncentral.least_size(
            lambda m: noncentral.share_power(number, share.share, m * share.n / n, level), target
        )
    return _needed_by_t(effect, ahead, level, target)
