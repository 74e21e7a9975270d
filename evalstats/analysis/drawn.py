"""What is drawn: scores of systems under one metric, with influence values and replicates.

Makers of it are `from_segments`, here; those of `evalstats.analysis.makers`, where only sums are
known; and `from_scores`, of what is computed of other scores. Each says by `None`, or by no
replicates, what it does not know. All systems and metrics of a call have the same resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.blocks import Scored, Segments
from evalstats.analysis.effects import Effect, RunScores
from evalstats.analysis.options import Options
from evalstats.analysis.units import Units
from evalstats.designs.unpaired.apart import Apart
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.resampling.weighted import recipe, stratum_totals, weighted_totals
from evalstats.resampling.weights import Stratified, Weights
from evalstats.results.records import distinct
from evalstats.results.signatures import Signature

Floats = NDArray[np.float64]
Pair = tuple[int, int]
#: Sizes of scores of several runs, whose variances are added up.
_SMALLEST, _LARGEST = 1e-130, 1e130
#: What is made of totals, `(R, K)` a block; it may have to travel to other processes.
Then = Callable[[Sequence[Floats]], list[Floats]]
#: A function of the scores of S systems under M metrics, `(..., S, M) -> (..., S)`.
Joint = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Scores of S systems, how they vary with each unit, and what they are in B resamples."""

    of: Scored
    scores: Floats  # (S,)
    replicates: Floats  # (S, B), or (S, 0)
    influence: Floats | None = None  # (S, N), or coordinates (S, C) of `SummedUnits`
    differing: NDArray[np.int64] | None = None  # (S, S) units, where no segments are here to count
    worth: Floats | None = None  # (S, S) what these are worth, where that is not their number
    lacking: NDArray[np.int64] | None = None  # (S,) missing scores, where no segments are here
    runs: tuple[tuple[RunScores, ...], ...] = ()  # of each system, where there are several
    weights: str = "multinomial"
    resolution: float = 1.0
    notes: tuple[str, ...] = ()  # what its maker does not know of pairs
    origin: tuple[str, ...] = ()  # sentences on how scores came about
    _differing: dict[Pair, tuple[int, float]] = field(default_factory=dict, repr=False)
    _last: dict[tuple[int, int, float], Effect] = field(default_factory=dict, repr=False)

    @property
    def units(self) -> Units:
        """What was drawn."""
        return self.of.units

    @property
    def segments(self) -> Segments | None:
        """The statistics behind the scores, where they are here."""
        return self.of if isinstance(self.of, Segments) else None

    @property
    def labelled(self) -> NDArray[np.bool_] | None:
        """On which units people's labels correct a judge's, `(N,)`, where they do."""
        if self.segments is None or self.of.judge is None or len(self.segments.blocks) > 1:
            return None
        return np.asarray(np.any(self.segments.blocks[0].plain[..., 0] > 0, axis=0))

    @property
    def is_paired(self) -> bool:
        """Whether all systems have the same units, drawn together."""
        return not isinstance(self.of, Apart)

    @property
    def alone(self) -> list[Drawn]:
        """The same of each system by itself, where each has units of its own."""
        of = self.of
        if not isinstance(of, Apart):
            return [self]
        return [
            Drawn(
                scored,
                self.scores[[i]],
                self.replicates[[i]],
                None if self.influence is None else self.influence[[i], here],
            )
            for i, (scored, here) in enumerate(zip(of.each, of.places, strict=True))
        ]

    @property
    def has_runs(self) -> bool:
        """Whether scores are means over several runs of each system."""
        return bool(self.runs)

    @property
    def missing(self) -> tuple[NDArray[np.int64], int]:
        """How many scores each system lacks, `(S,)`, and how many all would have."""
        if isinstance(self.of, (Segments, Apart)):
            return self.of.missing
        none = np.zeros(len(self.scores), dtype=np.int64)
        return none if self.lacking is None else self.lacking, len(
            self.scores
        ) * self.units.n_segments

    def signature(self, analysis: Mapping[str, str | None]) -> Signature:
        """Return what identifies the numbers that an analysis makes of it."""
        labels = ",".join(distinct(str(judge.n_labelled) for judge in self.of.judges))
        known = {"nrefs": self.of.reference_label or None, "labels": labels or None}
        fields = {**known, **analysis}
        strata = len(self.units.labels)
        fields |= {"strata": str(strata) if strata else None, "unit": self.units.unit}
        return Signature.create(self.of.metric_name, self.of.signature, fields)

    @cached_property
    def effects(self) -> list[Effect]:
        """The score of every system."""
        influence = [None] * len(self.scores) if self.influence is None else self.influence
        runs = self.runs or ((),) * len(self.scores)
        return [
            Effect(float(score), influence[i], self.replicates[i], self.units, runs[i])
            for i, score in enumerate(self.scores)
        ]

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return on how many units two systems differ, and what these are worth."""
        if isinstance(self.of, Apart):
            return self.of.differ(a, b)
        if self.differing is not None:
            n = int(self.differing[a, b])
            return n, float(n if self.worth is None else self.worth[a, b])
        if (a, b) not in self._differing:
            assert self.segments is not None
            marks = self.segments.differs(a, b)
            self._differing[a, b] = int(np.count_nonzero(marks)), self.units.worth(marks)
        return self._differing[a, b]

    def difference(self, a: int, b: int, share: float = 1.0) -> Effect:
        """Return the score of system b less this share of that of system a."""
        if (a, b, share) not in self._last:
            # The last one is asked for again; replicates of all pairs would take much room.
            self._last.clear()
            base = self.effects[a] if share == 1 else share * self.effects[a]
            # Where nothing differs nothing says how much it could.
            worth = self.differ(a, b)[1] or np.inf
            self._last[a, b, share] = replace(self.effects[b] - base, worth=worth)
        return self._last[a, b, share]


def from_segments(segments: Sequence[Segments | Apart], options: Options) -> list[Drawn]:
    """Resample all systems under all metrics with one weight matrix."""
    check_fits(segments, options)
    # The whole corpus first: it shows in no time what is wrong with a score.
    scores = [s.score([block.totals for block in s.blocks], "the corpus") for s in segments]
    # Resampling segments says nothing of other runs.
    if options.n_drawn == 0 or segments[0].runs is not None:
        replicates = [np.empty((0, len(s.systems))) for s in segments]
    else:
        weights, then = rows_of(segments[0].units, options.seed), partial(_scores, segments)
        replicates = totals_scored(segments, weights, options.n_resamples, options, then)
    return [
        Drawn(
            s, x, frozen(r), influence=_finite(s.influence()), runs=_runs_of(s, options.paired_runs)
        )
        for s, x, r in zip(segments, scores, replicates, strict=True)
    ]


def from_scores(
    drawn: Sequence[Drawn], name: str, function: Joint, higher_is_better: bool
) -> Drawn:
    """Return the joint score that a function makes of the scores under several metrics.

    `(..., S, M) -> (..., S)`; it may let systems depend on one another. How it varies with each
    unit is not known, and replicates of the metrics are needed.
    """
    first, n = drawn[0], len(drawn[0].scores)
    if not first.replicates.size and not first.units.has_values:
        raise InputError(
            "a composite needs resampled scores, and of moments nothing is drawn; give "
            "SegmentStatistics, or a Shard"
        )
    if not first.replicates.size:
        raise InputError("a composite needs resampled scores: leave method out")
    scores = np.stack([one.scores for one in drawn], axis=-1)
    replicates = np.stack([one.replicates.T for one in drawn], axis=-1)
    differing = np.zeros((n, n), dtype=np.int64)
    for i, j in combinations(range(n), 2):
        differing[i, j] = differing[j, i] = max(one.differ(i, j)[0] for one in drawn)
    scored = Scored(
        name=name,
        metric_name=first.of.metric_name,
        systems=first.of.systems,
        higher_is_better=higher_is_better,
        signature=first.of.signature,
        reference_label=first.of.reference_label,
        units=first.units,
    )
    return Drawn(
        scored,
        _joint(function, scores),
        frozen(_joint(function, replicates)),
        differing=differing,
    )


def _joint(function: Joint, scores: Floats) -> Floats:
    """Return the joint scores, `(..., S, M) -> (..., S)`, which must be finite numbers."""
    joint = np.asarray(function(scores), dtype=np.float64)
    wanted = "composite must make finite numbers of scores (..., S, M), one a system"
    if joint.shape != scores.shape[:-1]:
        raise InputError(
            f"{wanted}: of {scores.shape} it made {joint.shape}, {scores.shape[-2]} systems; take "
            f"means over axis=-1"
        )
    bad = joint[~np.isfinite(joint)]
    if bad.size:
        raise InputError(f"{wanted}: {bad.size:,} of {joint.size:,} that it made are {bad[0]}")
    return joint


def _finite(influence: Floats) -> Floats | None:
    """Return influence values, or none where a gradient is not finite."""
    return influence if np.all(np.isfinite(influence)) else None


def _runs_of(segments: Segments | Apart, are_paired: bool) -> tuple[tuple[RunScores, ...], ...]:
    """Return what the scores of each system are in each run, where there are several."""
    metric = segments.runs
    if metric is None:
        return ()
    of_runs = []
    for system, rows in zip(segments.systems, segments.blocks[0].rows, strict=True):
        statistics = metric.of_runs(rows.astype(np.float64))
        scores = metric.metric.score(np.sum(statistics, axis=1))
        values = student.influence_values(metric.metric, statistics)
        size = max(float(np.max(np.abs(scores))), float(np.max(np.abs(values))))
        if size > 0 and not _SMALLEST < size < _LARGEST:
            raise InputError(
                f"{segments.metric_name} of several runs must lie between {_SMALLEST:g} and "
                f"{_LARGEST:g}, where squares are numbers, got {size:.3g} for "
                f"{system!r}; take another unit"
            )
        of_runs.append((RunScores(scores, values, are_paired),))
    return tuple(of_runs)


def rows_of(units: Units, seed: int) -> Weights:
    """Return how the rows of weights are drawn: freely, or within strata."""
    return recipe(units.n, seed) if units.codes is None else Stratified(units.n, seed, units.codes)


def totals_scored(
    segments: Sequence[Segments | Apart],
    weights: Weights,
    n_resamples: int,
    options: Options,
    then: Then,
) -> list[Floats]:
    """Return what `then` makes of the totals of resamples, `(R, S, k)` a block and metric."""
    if len(segments[0].blocks) == 1:
        columns = _stack([s.blocks[0].rows for s in segments])
        totals = weighted_totals(weights, columns, n_resamples, options.executor)
        return list(then([totals]))
    # Totals of many strata take much memory: they are scored as they come, and not kept.
    parts = [
        (segments[0].blocks[t].places, _stack([s.blocks[t].rows for s in segments]))
        for t in range(len(segments[0].blocks))
    ]
    scores = stratum_totals(weights, parts, n_resamples, options.executor, partial(_joined, then))
    widths = np.cumsum([len(s.systems) for s in segments])[:-1]
    return np.split(scores, widths, axis=1)


def _scores(segments: Sequence[Segments | Apart], totals: Sequence[Floats]) -> list[Floats]:
    """Return scores of systems under all metrics from totals of all blocks, `(R, K)` each."""
    apart = [split(segments, t, block) for t, block in enumerate(totals)]
    return [s.score([x[i] for x in apart], "a resample") for i, s in enumerate(segments)]


def _joined(then: Then, totals: Sequence[Floats]) -> Floats:
    """Apply a function to totals and return its values side by side, `(R, M S)`."""
    return np.concatenate(then(totals), axis=1)


def split(segments: Sequence[Segments | Apart], t: int, totals: Floats) -> list[Floats]:
    """Take totals `(R, K)` of block t apart again, `(R, S, k)` for each metric."""
    shapes = [s.blocks[t].rows.shape[::2] for s in segments]
    parts = np.split(totals, np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
    return [p.reshape(len(totals), *shape) for p, shape in zip(parts, shapes, strict=True)]


def _stack(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Put the statistics of all systems and metrics side by side, `(N, K)`."""
    columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in values]
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)


def frozen(replicates: Floats) -> Floats:
    """Return replicates `(B, S)` as `(S, B)`, which nobody can write to."""
    rows = np.ascontiguousarray(replicates.T)
    rows.setflags(write=False)
    return rows


def check_fits(segments: Sequence[Segments | Apart], options: Options) -> None:
    """Refuse options that say nothing of strata, of runs, or of systems that are not paired."""
    if isinstance(segments[0], Apart):
        _check_fits_apart(options)
    units, with_runs = segments[0].units, [s.runs is not None for s in segments]
    if units.codes is not None and options.method == "bca":
        if not units.labels and any(s.judges for s in segments):
            raise InputError(
                "'bca' is that of one sample, and segments with people's labels are drawn apart "
                "from others; use 'bootstrap', 'percentile' or 't'",
                argument="method",
            )
        raise InputError(
            "'bca' is that of one sample; where strata are given use 'bootstrap', 'percentile' or "
            "'t'",
            argument="method",
        )
    if not any(with_runs):
        if options.paired_runs:
            raise InputError(
                "is for several runs of each system, and there is one of each; leave it out",
                argument="paired_runs",
            )
        return
    if not all(with_runs):
        raise InputError("all metrics must have the same runs, got some without")
    for name, known in (
        ("method", ("bootstrap", "t", "simultaneous")),
        ("test", ("bootstrap", "t")),
    ):
        if getattr(options, name) not in known:
            raise InputError(
                f"{getattr(options, name)!r} says nothing of other runs; where there are several "
                f"runs of each system leave ",
                Argument(name),
                " out, and t decides",
                argument=name,
            )


def _check_fits_apart(options: Options) -> None:
    """Refuse options that need systems with the same segments."""
    for name, needed in (("test", "ar"), ("method", "bca")):
        if getattr(options, name) == needed:
            raise InputError(
                f"{needed!r} needs systems with the same segments, and these are unpaired; leave "
                f"it out",
                argument=name,
            )
    if options.paired_runs:
        raise InputError(
            "is for several runs of systems with the same segments, and these are unpaired",
            argument="paired_runs",
        )
