"""Rankings from the comparison of all pairs: of one metric, or of a composite of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.families import Family
from evalstats.analysis.notes import ranking_notes, resample_note
from evalstats.analysis.plan import Plan, option
from evalstats.analysis.sampling import Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import ranks, significance, stepdown
from evalstats.inference.ranks import Verdicts
from evalstats.results.ranking import Ranked, Ranking
from evalstats.results.records import ComparisonRecord, of_metric

Floats = NDArray[np.float64]
#: A function of the scores of S systems under M metrics, `(..., S, M) -> (..., S)`.
Composite = Callable[[Floats], Floats]

#: Composites of which less is better, by name.
COMPOSITES = {"autorank": ("AutoRank", ranks.autorank), "borda": ("Borda", ranks.borda)}
#: What Python calls a function without a name.
_UNNAMED = "<lambda>"
#: Standard errors from 0 of a composite's difference that no resample changes.
_FAR = 1e12
#: These adjust p-values so that the probability of any false claim is held.
FAMILY_WISE = ("max-t", "holm", "bonferroni")


@dataclass(frozen=True)
class Ranker:
    """What `Comparison.ranking` asks: the samples of a comparison."""

    samples: Sequence[Sample]
    plan: Plan
    notes: tuple[str, ...] = ()

    def __call__(
        self,
        comparison: ComparisonRecord,
        metric: str | None,
        composite: str | Composite | None,
        higher_is_better: bool,
    ) -> Ranking:
        """Rank the systems under one metric, or by a composite of all."""
        _check(comparison)
        if composite is None:
            found = self._by_metric(comparison, metric)
            (sample,) = [sample for sample in self.samples if sample.name == found.metric]
            return replace(found, notes=self.notes + ranking_notes(comparison, sample))
        if metric is not None:
            raise InputError("give metric or composite, not both: a composite is of all metrics")
        found = self._by_composite(comparison, composite, higher_is_better)
        few = resample_note(comparison.significance_level, comparison.n_resamples)
        return replace(found, notes=self.notes + few)

    def _by_metric(self, comparison: ComparisonRecord, metric: str | None) -> Ranking:
        name = of_metric(list(comparison.estimates), metric)[0].metric
        (place,) = [i for i, sample in enumerate(self.samples) if sample.name == name]
        sample = self.samples[place]
        systems = list(sample.table.systems)
        alone = np.ones((len(systems), len(systems)))
        adjusted = alone.copy()
        for d in comparison.differences:
            if d.metric == name:
                i, j = systems.index(d.system), systems.index(d.baseline)
                alone[i, j] = alone[j, i] = d.pvalue
                adjusted[i, j] = adjusted[j, i] = d.pvalue_adjusted

        def of_one(pairs: list[Pair], pvalues: Floats) -> Floats:
            family = Family([sample], pairs, self.plan)
            return family.adjusted(pvalues, "max-t", "two-sided")

        found = [e for e in comparison.estimates if e.metric == name]
        replicates = np.stack([e.replicates for e in found], axis=1)
        first = found[0]
        return _ranking(
            comparison, name, first.higher_is_better, systems, np.array([e.score for e in found]),
            [e.standard_error for e in found], replicates, alone, adjusted, of_one,
            comparison.signatures[place],
        )  # fmt: skip

    def _by_composite(
        self, comparison: ComparisonRecord, composite: str | Composite, higher_is_better: bool
    ) -> Ranking:
        up = np.array([sample.table.metric.higher_is_better for sample in self.samples])
        if callable(composite):
            name, function = getattr(composite, "__name__", _UNNAMED), composite
            name = "composite" if name == _UNNAMED else name
        else:
            name, named = COMPOSITES[option(composite, tuple(COMPOSITES), "composite")]
            higher_is_better = False

            def function(scores: Floats) -> Floats:
                return named(scores, up)

        systems = list(self.samples[0].table.systems)
        shape, estimates = (len(self.samples), len(systems)), comparison.estimates
        observed = np.array([e.score for e in estimates]).reshape(shape).T
        drawn = np.stack([e.replicates for e in estimates]).reshape(*shape, -1).T
        if not len(drawn):
            raise InputError("a composite needs resampled scores: leave method out")
        scores, replicates = (_composed(function, x, len(systems)) for x in (observed, drawn))
        deviates, n = replicates - scores, comparison.estimates[0].n_segments

        def adjusted_of(pairs: list[Pair], alone: Floats) -> Floats:
            columns = np.array(pairs)
            first, second = columns.T
            errors = np.std(deviates[:, second] - deviates[:, first], axis=0, ddof=1)
            moved = scores[second] - scores[first]
            far = np.where(moved == 0, 0.0, np.copysign(_FAR, moved))
            t = np.divide(moved, errors, where=errors > 0, out=far)
            stepped, _ = stepdown.step_down(deviates, columns, errors, t)
            expanded = [significance.expanded_pvalue(float(p), n) for p in stepped]
            return np.maximum(alone, expanded)

        every = [(i, j) for i in range(len(systems)) for j in range(i)]
        alone, adjusted = np.ones((2, len(systems), len(systems)))
        pvalues = np.array([_bootstrap_pvalue(scores, replicates, pair, n) for pair in every])
        for matrix, found in ((alone, pvalues), (adjusted, adjusted_of(every, pvalues))):
            for (i, j), p in zip(every, found, strict=True):
                matrix[i, j] = matrix[j, i] = p
        signature = f"{name} of {' + '.join(map(_resigned, comparison.signatures))}"
        return _ranking(
            comparison, name, higher_is_better, systems, scores,
            np.std(replicates, axis=0, ddof=1), replicates, alone, adjusted, adjusted_of, signature,
        )  # fmt: skip


def _check(comparison: ComparisonRecord) -> None:
    if comparison.baseline is not None:
        raise InputError("a ranking needs all pairs: compare without baseline")
    if comparison.alternative != "two-sided":
        raise InputError("a ranking needs two-sided tests: compare without alternative")
    if comparison.adjustment not in FAMILY_WISE:
        raise InputError(
            f"a ranking needs an adjustment that allows for all pairs, one of "
            f"{', '.join(FAMILY_WISE)}; this comparison has {comparison.adjustment!r}"
        )


def _resigned(signature: str) -> str:
    """Return the signature of a metric's scores with the test and adjustment of a composite."""
    own = {"test": "test:bootstrap", "adj": "adj:max-t"}
    return "|".join(own.get(part.partition(":")[0], part) for part in signature.split("|"))


def _composed(function: Composite, scores: Floats, n_systems: int) -> Floats:
    made = np.asarray(function(scores), dtype=np.float64)
    wanted = "composite must make finite numbers of scores (..., S, M), one a system"
    if made.shape != scores.shape[:-1]:
        raise InputError(
            f"{wanted}: of {scores.shape} it made {made.shape}, {n_systems} systems; take means "
            f"over axis=-1"
        )
    bad = made[~np.isfinite(made)]
    if bad.size:
        raise InputError(f"{wanted}: {bad.size:,} of {made.size:,} that it made are {bad[0]}")
    return made


def _bootstrap_pvalue(scores: Floats, replicates: Floats, pair: Pair, n: int) -> float:
    i, j = pair
    observed = float(scores[j] - scores[i])
    if np.array_equal(replicates[:, i], replicates[:, j]):
        return 1.0
    tie = significance.tie_tolerance(float(np.max(np.abs(scores[[i, j]]))), n)
    moved = replicates[:, j] - replicates[:, i]
    p = significance.centred_bootstrap_pvalue(observed, moved, "two-sided", tie)
    return significance.expanded_pvalue(p, n)


def _ranking(
    comparison: ComparisonRecord,
    name: str,
    higher: bool,
    systems: list[str],
    scores: Floats,
    errors: Sequence[float] | Floats,
    replicates: Floats,
    alone: Floats,
    adjusted: Floats,
    of_one: Callable[[list[Pair], Floats], Floats],
    signature: str,
) -> Ranking:
    level = comparison.significance_level
    places = ranks.ranks(scores, higher)
    order = np.argsort(places, kind="stable")
    ahead = places[:, None] < places
    together = (adjusted <= level) & ahead
    intervals = ranks.rank_intervals(together)
    tiers, clusters = ranks.letters(together, order), ranks.clusters(together, order)
    first = ranks.probability_first(replicates, higher) if len(replicates) else None
    rows = []
    for i in order:
        others = [j for j in range(len(systems)) if j != i]
        own = of_one([(int(i), j) for j in others], alone[i, others]) <= level
        verdicts: Verdicts = np.zeros(together.shape, dtype=bool)
        verdicts[i, others] = own & ahead[i, others]
        verdicts[others, i] = own & ahead[others, i]
        low, high = map(int, ranks.rank_intervals(verdicts)[i])
        rows.append(
            Ranked(
                metric=name,
                system=systems[i],
                score=float(scores[i]),
                standard_error=float(errors[i]),
                rank=float(places[i]),
                low=low,
                high=high,
                simultaneous_low=int(intervals[i, 0]),
                simultaneous_high=int(intervals[i, 1]),
                tier=tiers[i],
                cluster=int(clusters[i]),
                probability_first=None if first is None else float(first[i]),
            )
        )
    best = order[0]
    tied = tuple(systems[i] for i in order[1:] if not together[best, i])
    return Ranking(
        metric=name,
        systems=tuple(rows),
        tied=tied,
        confidence_level=1 - level,
        higher_is_better=higher,
        n_segments=comparison.estimates[0].n_segments,
        unit=comparison.estimates[0].unit,
        signature=signature,
    )
