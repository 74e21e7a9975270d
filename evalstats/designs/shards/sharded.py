"""Drawn scores of segments that are elsewhere: a shard keeps totals, of all and of resamples.

How scores vary with each segment is not known, so that there are no influence values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregated, Units
from evalstats.analysis.drawn import Drawn, Maker, frozen
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Scored, distinct_names
from evalstats.designs.shards.shard import Shard
from evalstats.errors import InputError
from evalstats.metrics import Metric, scores_of
from evalstats.metrics.base import MetricSignature
from evalstats.metrics.ratios import MeanOfRuns

Floats = NDArray[np.float64]

#: Empty resamples of a Poisson bootstrap that are expected at most.
_EMPTY_RESAMPLES = 0.1


def from_shards(shards: Sequence[Shard], aggregate: Aggregated, options: Options) -> list[Drawn]:
    """Return the scores of the only shard under each of its metrics; its resamples are drawn."""
    if len(shards) > 1:
        raise InputError(f"got {len(shards)} shards; add them up first, with merge_shards")
    if aggregate != "micro":
        raise InputError("must be 'micro' where a Shard is given", argument="aggregate")
    (shard,) = shards
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
    if any(isinstance(metric, MeanOfRuns) for metric in shard.metrics):
        raise InputError(
            "several runs of each system need the statistics of every segment, and a Shard keeps "
            "totals only; give SegmentStatistics, or a Shard of one run"
        )
    names = distinct_names(list(shard.metrics))
    return [_drawn(shard, i, name) for i, name in enumerate(names)]


def decide(shard: Shard, options: Options, asked: Mapping[str, int]) -> Options:
    """Return the options with the resamples and the seed of a shard."""
    for name, unknown in (("method", "bca"), ("test", "ar")):
        if getattr(options, name) == unknown:
            raise InputError(
                f"{unknown!r} needs the statistics of every segment, and {MAKER.why}; leave it out",
                argument=name,
            )
    for name, decided in (("n_resamples", shard.n_resamples), ("rng", shard.seed)):
        if name in asked and asked[name] != decided:
            raise InputError(
                "must be left out when a Shard is given: it was resampled with "
                f"{name}={decided}, got {asked[name]}",
                argument=name,
            )
    return replace(options, n_resamples=shard.n_resamples, seed=shard.seed)


MAKER = Maker(Shard, "totals", from_shards, decide)


def _drawn(shard: Shard, i: int, name: str) -> Drawn:
    """Return the scores under the i-th metric, which tables call by this name."""
    metric = shard.metrics[i]
    totals, resampled = (
        np.asarray(x[i] * shard.resolution, dtype=np.float64)
        for x in (shard.totals, shard.resampled)
    )
    scored = Scored(
        name=name,
        metric_name=metric.name,
        systems=shard.systems,
        higher_is_better=metric.higher_is_better,
        signature=MetricSignature.of(metric.signature),
        reference_label=shard.reference_labels[i],
        units=Units(shard.n_segments, shard.unit),
        bounds=metric.bounds,
        undefined=metric.undefined,
    )
    replicates = scored.check_finite(scores_of(metric, resampled), "a resample")
    scores = scored.check_finite(scores_of(metric, totals), "the corpus")
    if shard.weights == "poisson":
        _check_scale_free(metric, totals, scores, replicates, shard.n_segments)
    return Drawn(
        scored,
        scores,
        frozen(replicates),
        differing=shard.differing[i],
        n_missing=shard.missing[i] if shard.missing else None,
        weights=shard.weights,
        resolution=shard.resolution,
    )


def _check_scale_free(
    metric: Metric, totals: Floats, scores: Floats, replicates: Floats, n_segments: int
) -> None:
    """Raise where a varying number of segments would make intervals wider by over 5 %.

    A Poisson resample has N ± √N segments. To first order that adds D/√N to the standard error,
    in squares, where D is the derivative of the score by the logarithm of a factor on all totals.
    """
    doubled = metric.score(2 * totals)
    added = ((doubled - scores) / np.log(2)) ** 2 / n_segments
    if np.any(added > (1.05**2 - 1) * np.var(replicates, axis=0, ddof=1) + 1e-18):
        raise InputError(
            f"{metric.name} changes when all totals are doubled, so that Poisson weights, which "
            f"vary the number of segments, overstate its uncertainty; give shard_sizes to "
            f"resample_shard"
        )
