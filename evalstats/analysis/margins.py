"""Claims of two systems with a margin or a recovery: equivalent, not worse, and how surely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalstats.analysis.pairs import PairTest
from evalstats.errors import InputError
from evalstats.inference.bootstrap import Bounds

#: Scores with fewer different values lie on a lattice.
_FEW_VALUES = 10


def claims_of(pair: PairTest) -> dict[str, float]:
    """Return what can be claimed about the margin, or the recovery: fields of a `MarginTest`.

    They lack adjusted p-values; where nothing can be claimed there are none.
    """
    options, of = pair.options, pair.drawn.of
    base, new = (float(pair.drawn.scores[i]) for i in (pair.a, pair.b))
    if not options.is_limited or _is_unbounded(pair):
        return {}
    if options.recovery is not None:
        # No share is kept of a score below 0; `Difference.unanswered` says so.
        return {} if min(base, new) < 0 else _recovered(pair, base, options.recovery)
    margin, counts, higher = options.margin, pair.counts, of.higher_is_better
    assert margin is not None
    if counts is not None and margin >= counts.scale:
        raise InputError(
            f"must be below {counts.scale:g}, the whole scale of {of.name}; got {margin:g}",
            argument="margin",
        )
    low, high = _not_rejected(pair)
    above, below = pair.pvalue(-margin, "greater"), pair.pvalue(margin, "less")
    return {
        "equivalence_bound": max(-low, high),
        "loss_bound": -low if higher else high,
        "pvalue_equivalence": max(above, below),
        "pvalue_not_worse": above if higher else below,
        "pvalue_worse": pair.pvalue(-margin, "less") if higher else pair.pvalue(margin, "greater"),
    }


def _is_unbounded(pair: PairTest) -> bool:
    """Return whether scores of few values all differ alike, or not: others may differ otherwise."""
    drawn = pair.drawn
    if pair.counts is not None or pair.spread.error > 0:
        return False
    if not drawn.has_segments:
        return drawn.of.has_few_values
    blocks = drawn.segments.blocks
    values = np.concatenate([np.unique(block.plain) for block in blocks])
    is_text = blocks[0].metric.uses_references and blocks[0].metric.reads_text
    return not is_text and len(np.unique(values)) < _FEW_VALUES


def _not_rejected(pair: PairTest) -> Bounds:
    """Return all differences that the two one-sided tests do not reject."""
    method = "t" if pair.options.test == "t" else "bootstrap"
    return pair.interval(2 * pair.options.significance_level, method)


def _recovered(pair: PairTest, base: float, recovery: float) -> dict[str, float]:
    """Return the test of new <= r·base, or of errors base <= r·new, and the largest r."""
    turned, level = not pair.drawn.of.higher_is_better, pair.options.significance_level
    if pair.counts is not None:
        # Items are counted, and a loss of (1 - r)·base is the limit: where no item differs
        # new - r·base would have no error at all.
        low, high = _not_rejected(pair)
        null, sides = (recovery - 1) * base, ("greater", "less")
        # Of a baseline of 0 every share is kept by a score above 0, and none by one of 0.
        kept = 1 + low / base if base > 0 else float(low > 0)
        if turned:
            null, sides = (1 / recovery - 1) * base, ("less", "greater")
            kept = base / (base + high) if base + high > 0 else 0.0
        return {
            "recovery_bound": float(np.clip(kept, 0.0, 1.0)),
            "pvalue_not_worse": pair.pvalue(null, sides[0]),
            "pvalue_worse": pair.pvalue(null, sides[1]),
        }
    pair = replace(pair, a=pair.b, b=pair.a) if turned else pair
    bound = float(np.clip(pair.kept(level), 0.0, 1.0))
    if bound == 1 and pair.kept_pvalue(1.0) > level:
        # All shares below 1 are kept, and 1, which is the null value of no difference, is not.
        bound = float(np.nextafter(1.0, 0.0))
    return {
        "recovery_bound": bound,
        "pvalue_not_worse": pair.kept_pvalue(recovery),
        "pvalue_worse": pair.lost_pvalue(recovery),
    }
