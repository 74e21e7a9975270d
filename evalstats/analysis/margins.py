"""Likeness that is shown: equivalence, no loss beyond a margin, a share of the baseline kept.

A large p-value of a difference is no evidence that there is none. Here the null hypothesis is that
the systems differ by the margin or more; two one-sided tests reject it (Schuirmann, 1987; Lakens,
2017) where the interval of confidence 1 - 2·level lies within the margin.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalstats.analysis.pairs import Compared
from evalstats.errors import InputError

#: Scores with fewer different values lie on a lattice.
_FEW_VALUES = 10


def claims_of(pair: Compared) -> dict[str, float]:
    """Return what can be claimed about the margin, or the recovery: fields of a `MarginTest`.

    They lack adjusted p-values; where nothing can be claimed there are none.
    """
    options, scores = pair.options, pair.scores
    if (options.margin is None and options.recovery is None) or is_unbounded(pair):
        return {}
    if options.recovery is not None and min(scores) < 0:
        # No share is kept of such a score; `Difference.unanswered` says so.
        return {}
    return _recovered(pair) if options.margin is None else _within(pair)


def is_unbounded(pair: Compared) -> bool:
    """Return whether scores of few values are all equal: others may differ where these do not."""
    drawn = pair.drawn
    if pair.n_differing or pair.counts is not None:
        return False
    if not drawn.has_segments:
        return drawn.of.has_few_values
    blocks = drawn.segments.blocks
    values = np.concatenate([np.unique(block.plain) for block in blocks])
    is_text = blocks[0].metric.uses_references and blocks[0].metric.reads_text
    return not is_text and len(np.unique(values)) < _FEW_VALUES


def _within(pair: Compared) -> dict[str, float]:
    margin, counts = pair.options.margin, pair.counts
    assert margin is not None
    if counts is not None and margin >= counts.scale:
        raise InputError(
            f"must be below {counts.scale:g}, the whole scale of {pair.drawn.of.name}; got "
            f"{margin:g}",
            argument="margin",
        )
    low, high = pair.not_rejected(2 * pair.options.significance_level)
    above, below = pair.pvalue(-margin, "greater"), pair.pvalue(margin, "less")
    higher = pair.drawn.of.higher_is_better
    return {
        "equivalence_bound": max(-low, high),
        "loss_bound": -low if higher else high,
        "pvalue_equivalence": max(above, below),
        "pvalue_not_worse": above if higher else below,
        "pvalue_worse": pair.pvalue(-margin, "less") if higher else pair.pvalue(margin, "greater"),
    }


def _recovered(pair: Compared) -> dict[str, float]:
    """Return the test of new <= r·base, or of errors base <= r·new, and the largest r."""
    recovery, turned = pair.options.recovery, not pair.drawn.of.higher_is_better
    assert recovery is not None
    if pair.counts is not None:
        return _share_recovered(pair, pair.scores[0], recovery, turned)
    pair = replace(pair, a=pair.b, b=pair.a) if turned else pair
    level = pair.options.significance_level
    bound = float(np.clip(pair.kept(level), 0.0, 1.0))
    if bound == 1 and pair.kept_pvalue(1.0) > level:
        # All shares below 1 are kept, and 1, which is the null value of no difference, is not.
        bound = float(np.nextafter(1.0, 0.0))
    return {
        "recovery_bound": bound,
        "pvalue_not_worse": pair.kept_pvalue(recovery),
        "pvalue_worse": pair.lost_pvalue(recovery),
    }


def _share_recovered(
    pair: Compared, base: float, recovery: float, turned: bool
) -> dict[str, float]:
    """Return the same of shares, of which items are counted: a loss of (1 - r)·base is the limit.

    Where no item differs new - r·base would have no error at all.
    """
    low, high = pair.not_rejected(2 * pair.options.significance_level)
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
