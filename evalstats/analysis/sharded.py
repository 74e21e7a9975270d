"""Samples of segments that are elsewhere: a shard keeps their totals, and those of resamples."""

from __future__ import annotations

import numpy as np

from evalstats.analysis.sampling import Sample, distinct_names, finite_scores
from evalstats.errors import InputError
from evalstats.shards.shard import Shard
from evalstats.statistics.segments import SegmentStatistics

#: Empty resamples of a Poisson bootstrap that are expected at most.
_EMPTY_RESAMPLES = 0.1


def from_shard(shard: Shard) -> list[Sample]:
    """Score the totals of a shard; what it kept of the segments is their sum, one row."""
    missing = sorted(set(range(len(shard.shard_sizes))) - set(shard.shards))
    if missing:
        raise InputError(
            f"{len(missing)} of {len(shard.shard_sizes)} shards are missing, the first is "
            f"{missing[0]}: merge all of them; with shard_sizes only the whole is a resample"
        )
    if shard.weights == "poisson":
        # A resample is empty with probability e^-N, and the score of nothing means nothing.
        expected = shard.n_resamples * np.exp(-float(shard.n_segments))
        if expected > _EMPTY_RESAMPLES:
            raise InputError(
                f"{shard.n_segments} segments are too few for Poisson weights, which leave about "
                f"{expected:.1g} of {shard.n_resamples} resamples empty; give shard_sizes to "
                f"resample_shard"
            )
    samples = []
    for i, name in enumerate(distinct_names(list(shard.metrics))):
        totals = np.asarray(shard.totals[i] * shard.resolution, dtype=np.float64)
        totals_b = np.asarray(shard.resampled[i] * shard.resolution, dtype=np.float64)
        table = SegmentStatistics(
            totals[:, None], shard.systems, shard.metrics[i], shard.reference_labels[i]
        )
        sample = Sample(
            table,
            name,
            table.values,
            totals,
            finite_scores(totals, table, "the corpus"),
            finite_scores(totals_b, table, "a resample"),
            totals_b,
            shard=shard,
            differing=shard.differing[i],
        )
        if shard.weights == "poisson":
            _check_scale_free(sample)
        samples.append(sample)
    return samples


def _check_scale_free(sample: Sample) -> None:
    """Raise where a varying number of segments would make intervals wider by over 5 %.

    A Poisson resample has N ± √N segments. To first order that adds D/√N to the standard error,
    in squares, where D is the derivative of the score by the logarithm of a factor on all totals.
    """
    doubled = sample.table.metric.score(2 * sample.totals)
    added = ((doubled - sample.scores) / np.log(2)) ** 2 / sample.n_segments
    if np.any(added > (1.05**2 - 1) * np.var(sample.replicates, axis=0, ddof=1) + 1e-18):
        raise InputError(
            f"{sample.name} changes when all totals are doubled, so that Poisson weights, which "
            f"vary the number of segments, overstate its uncertainty; give shard_sizes to "
            f"resample_shard"
        )
