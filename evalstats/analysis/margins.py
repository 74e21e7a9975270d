"""Likeness that is shown: equivalence, no loss beyond a margin, a share of the baseline kept.

A large p-value of a difference is no evidence that there is none. Here the null hypothesis is that
the systems differ by the margin or more; two one-sided tests reject it (Schuirmann, 1987; Lakens,
2017) where the interval of confidence 1 - 2·level lies within the margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalstats.analysis import sampling
from evalstats.analysis.pairs import tail_pvalue
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Pair, Sample
from evalstats.checks import real
from evalstats.errors import InputError
from evalstats.inference.proportions import ratio_distance, tango_distance
from evalstats.results.records import ComparisonRecord, Difference
from evalstats.statistics.segments import SegmentStatistics

#: Scores with fewer different values lie on a lattice.
_FEW_VALUES = 10
#: The smallest share of a baseline that anybody asks about.
_NOTHING = 1e-6


def as_limits(margin: object, recovery: object) -> tuple[float | None, float | None]:
    """Return margin and recovery, of which at most one is given, checked."""
    if margin is not None and recovery is not None:
        raise InputError("give either margin or recovery, not both: each is a limit of a loss")
    if margin is not None and real(margin, "margin", -np.inf) <= 0:
        raise InputError(
            f"margin must be above 0, got {margin}: it is a size, and the metric says which side "
            f"is a loss; leave it out to test for a loss of any size"
        )
    if recovery is not None and not 0 < real(recovery, "recovery", -np.inf) <= 1:
        raise InputError(f"recovery must be a share above 0 and at most 1, got {recovery}")
    return (
        None if margin is None else float(margin),  # type: ignore[arg-type]
        None if recovery is None else float(recovery),  # type: ignore[arg-type]
    )


def claims(
    sample: Sample,
    pairs: Sequence[Pair],
    plan: Plan,
    level: float,
    limits: tuple[float | None, float | None],
    differences: Sequence[Difference],
) -> Iterator[Difference]:
    """Add to each difference what can be claimed about the margin, or about the recovery."""
    margin, recovery = limits
    for pair, d in zip(pairs, differences, strict=True):
        if (margin is None and recovery is None) or is_unbounded(sample.table, d):
            yield d
        elif recovery is None:
            assert margin is not None
            yield _within(sample, pair, plan, level, margin, d)
        else:
            yield _recovered(sample, pair, plan, level, recovery, d)


def is_unbounded(table: SegmentStatistics, d: Difference) -> bool:
    """Return whether scores of few values are all equal: others may differ where these do not."""
    return (
        d.n_differing == 0
        and d.method in ("t", "hall")
        and not (table.metric.uses_references and table.metric.reads_text)
        and len(np.unique(table.values)) < _FEW_VALUES
    )


def claim_notes(result: ComparisonRecord) -> tuple[str, ...]:
    """Say what is claimed, and how surely."""
    level = f"at level {result.significance_level:g}, each pair by itself"
    if result.margin is not None:
        size = f"{result.margin:g}"
        return (
            f"margin {size}: equivalent (the difference lies within ±{size}), not worse (no loss "
            f"of {size} or more), or not shown, {level}; the smallest margin that can be claimed "
            f"is least_margin, or least_loss, of each difference.",
        )
    if result.recovery is not None:
        return (
            f"recovery {result.recovery:g}: not worse (at least {result.recovery:g} of the "
            f"baseline is kept; of errors, at most 1/{result.recovery:g} times as many are made), "
            f"or not shown, {level}; the most that can be claimed is most_recovery of each "
            f"difference.",
        )
    return ()


def _within(
    sample: Sample, pair: Pair, plan: Plan, level: float, margin: float, d: Difference
) -> Difference:
    a, b = pair
    scale = None if sample.outcomes is None else sample.outcomes.scale
    if scale is not None and margin >= scale:
        raise InputError(
            f"margin must be below {scale:g}, the whole scale of {sample.name}; got {margin:g}"
        )
    plan = replace(plan, confidence_level=1 - 2 * level)
    replicates = sample.replicates[:, b] - sample.replicates[:, a]
    low, high, _ = sampling.bounds(sample, plan, replicates, np.asarray(d.difference), pair)
    above = below = worse = None
    if d.method in ("t", "hall", "tango"):
        moves, error, degrees = sampling.influences(sample, pair)
    if d.method == "tango":
        assert scale is not None
        assert d.gained is not None
        assert d.lost is not None
        effect, part = sampling.design_effect(sample, pair, error), margin / scale
        counts = (d.gained / effect, d.lost / effect, sample.n_segments / effect)
        above = _normal_tail(tango_distance(*counts, -part))
        below = _normal_tail(-tango_distance(*counts, part))
        gained, lost, n = counts
        # A count that few segments make up has a long upper tail, which the normal one falls short
        # of: half a segment is taken from it (Yates, 1934).
        if d.higher_is_better:
            worse = _normal_tail(-tango_distance(gained, max(lost - 0.5, 0.0), n, -part))
        else:
            worse = _normal_tail(tango_distance(max(gained - 0.5, 0.0), lost, n, part))
    elif d.method in ("t", "hall"):
        error, degrees = sampling.widened(sample, pair, moves, error, degrees)
        width, corrected = float(error), d.method == "hall"
        above, below = (
            tail_pvalue(d.difference + shift, moves, width, degrees, side, corrected)
            for shift, side in ((margin, "greater"), (-margin, "less"))
        )
        shift, side = (margin, "less") if d.higher_is_better else (-margin, "greater")
        worse = tail_pvalue(d.difference + shift, moves, width, degrees, side, corrected)
    return replace(
        d,
        least_margin=max(-low, high),
        least_loss=-low if d.higher_is_better else high,
        pvalue_equivalence=None if above is None or below is None else max(above, below),
        pvalue_not_worse=above if d.higher_is_better else below,
        pvalue_worse=worse,
    )


def _recovered(
    sample: Sample, pair: Pair, plan: Plan, level: float, recovery: float, d: Difference
) -> Difference:
    """Add the test of new <= r·base, or of errors base <= r·new; linear in influence values."""
    from scipy.optimize import brentq

    if sample.shard is not None:
        raise InputError(
            "recovery needs the statistics of every segment, and a Shard keeps totals only; "
            "give margin"
        )
    for name, score in ((d.baseline, d.baseline_score), (d.system, d.system_score)):
        if score < 0:
            raise InputError(
                f"recovery is a share of a score that is not negative; {sample.name} of {name!r} "
                f"is {score:.6g}; give margin"
            )
    less, more = pair if d.higher_is_better else pair[::-1]

    def pvalue(share: float, side: str = "greater") -> float:
        moves, error, degrees = sampling.influences(sample, (less, more), share)
        if d.method in sampling.COUNTED:
            assert sample.outcomes is not None
            gained, lost = sample.outcomes.changes(less, more)
            both = int(np.count_nonzero(sample.outcomes.success[more])) - gained
            effect = sampling.design_effect(sample, (less, more), error, share)
            if side == "less":  # as in `_within`
                return _normal_tail(
                    -ratio_distance(
                        both / effect, gained / effect, max(lost / effect - 0.5, 0), share
                    )
                )
            return _normal_tail(
                ratio_distance(both / effect, gained / effect, lost / effect, share)
            )
        error, degrees = sampling.widened(sample, (less, more), moves, error, degrees)
        distance = float(sample.scores[more] - share * sample.scores[less])
        return tail_pvalue(distance, moves, float(error), degrees, side, d.method != "t")

    if pvalue(1.0) < level:
        most = 1.0
    elif pvalue(_NOTHING) >= level:
        most = 0.0
    else:
        most = float(brentq(lambda share: pvalue(share) - level, _NOTHING, 1.0))
    return replace(
        d,
        most_recovery=most,
        pvalue_not_worse=pvalue(recovery),
        pvalue_worse=pvalue(recovery, "less"),
    )


def _normal_tail(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-z))
