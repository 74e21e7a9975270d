"""Rankings from the comparison of all pairs: of one metric, or of a composite of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.families import Family, OwnErrors
from evalstats.analysis.notes import gap_notes, size_notes
from evalstats.analysis.options import Options, option
from evalstats.analysis.pairs import Compared
from evalstats.analysis.sampling import Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import ranks
from evalstats.inference.ranks import Verdicts
from evalstats.results.notes import close_calls, floor_notes
from evalstats.results.ranking import Ranked, Ranking
from evalstats.results.records import Difference
from evalstats.results.results import Comparison
from evalstats.results.signatures import Signature
from evalstats.results.source import Composite

Floats = NDArray[np.float64]

#: Composites of which less is better, by name.
COMPOSITES = {"autorank": ("AutoRank", ranks.autorank), "borda": ("Borda", ranks.borda)}
#: What Python calls a function without a name.
_UNNAMED = "<lambda>"
#: These adjust p-values so that the probability of any false claim is held.
FAMILY_WISE = ("max-t", "holm")


def by_metric(
    comparison: Comparison,
    found: Sequence[Difference],
    sample: Sample,
    options: Options,
) -> Ranking:
    """Rank the systems by the differences of all pairs under one metric, on a task or in total."""
    _check(comparison)
    number = sample.of.systems.index
    pvalues = {(number(d.system), number(d.baseline)): (d.pvalue, d.pvalue_adjusted) for d in found}
    signature = comparison.signature_of(found[0])
    compared = _all_pairs(sample, options)
    made = _ranking(comparison, sample, compared, pvalues, signature, found[0].task)
    return replace(
        made,
        notes=(
            *floor_notes(comparison, found),
            *size_notes(sample.of),
            *gap_notes([sample.of]),
            *close_calls(comparison, found, f"{sample.of.name}: the"),
        ),
    )


def by_composite(
    comparison: Comparison,
    samples: Sequence[Sample],
    signatures: Sequence[Signature],
    task: str,
    options: Options,
    composite: str | Composite,
    higher: bool,
) -> Ranking:
    """Rank the systems by a composite of metrics, resampled with them, on a task or in total.

    `signatures` are those of the differences under the metrics.
    """
    _check(comparison)
    up = np.array([sample.of.higher_is_better for sample in samples])
    if callable(composite):
        name, function = getattr(composite, "__name__", _UNNAMED), composite
        name = "composite" if name == _UNNAMED else name
    else:
        name, named = COMPOSITES[option(composite, tuple(COMPOSITES), "composite")]
        higher = False

        def function(scores: Floats) -> Floats:
            return named(scores, up)

    sample = _composed(samples, name, function, higher)
    compared = _all_pairs(sample, options)
    pvalues = np.array([pair.pvalue() for pair in compared.values()])
    both = zip(pvalues, Family(list(compared.values())).adjusted(pvalues, "max-t"), strict=True)
    test = "t" if options.test == "t" else "bootstrap"
    each = dict.fromkeys(str(one.but(test=test, adj="max-t")) for one in signatures)
    signature = f"{name} of {' + '.join(each)}"
    comparison = replace(comparison, adjustment="max-t")
    known = dict(zip(compared, both, strict=True))
    made = _ranking(comparison, sample, compared, known, signature, task)
    gaps = gap_notes([sample.of for sample in samples])
    return replace(made, notes=(*size_notes(sample.of), *gaps))


def _composed(samples: Sequence[Sample], name: str, function: Composite, higher: bool) -> Sample:
    """Return the composite as a score whose influence values are not known."""
    scores = np.stack([sample.scores for sample in samples], axis=-1)
    drawn = np.stack([sample.replicates.T for sample in samples], axis=-1)
    if not len(drawn):
        raise InputError("a composite needs resampled scores: leave method out")
    first, n = samples[0], len(scores)
    differing = np.zeros((n, n), dtype=np.int64)
    for i, j in combinations(range(n), 2):
        counts = [sample.differ(i, j)[0] for sample in samples]
        differing[i, j] = differing[j, i] = max(counts)
    return Sample(
        replace(first.of, name=name, higher_is_better=higher, outcomes=None),
        _checked(function, scores),
        np.ascontiguousarray(_checked(function, drawn).T),
        differing=differing,
    )


def _all_pairs(sample: Sample, options: Options) -> dict[Pair, Compared]:
    pairs = combinations(range(len(sample.scores)), 2)
    return {pair: Compared(sample, *pair, options) for pair in pairs}


def _ranking(
    comparison: Comparison,
    sample: Sample,
    compared: Mapping[Pair, Compared],
    pvalues: Mapping[Pair, tuple[float, float]],
    signature: str,
    task: str,
) -> Ranking:
    """Rank by the p-values of all pairs, alone and adjusted."""
    alone, adjusted = np.ones((2, len(sample.scores), len(sample.scores)))
    for (i, j), both in pvalues.items():
        alone[i, j], adjusted[i, j] = alone[j, i], adjusted[j, i] = both
    level, scores = comparison.significance_level, sample.scores
    higher = sample.of.higher_is_better
    places = ranks.ranks(scores, higher)
    order = np.argsort(places, kind="stable")
    ahead = places[:, None] < places
    together = (adjusted <= level) & ahead
    intervals = ranks.rank_intervals(together)
    tiers, clusters = ranks.letters(together, order), ranks.clusters(together, order)
    drawn = sample.replicates.T
    first = ranks.probability_first(drawn, higher) if len(drawn) else None
    adjustment = "max-t" if comparison.adjustment == "max-t" else "holm"
    errors = OwnErrors(sample, next(iter(compared.values())).options) if len(drawn) else None
    rows = []
    for i in order:
        others = [j for j in range(len(scores)) if j != i]
        family = Family([compared[min(i, j), max(i, j)] for j in others], errors)
        own = family.adjusted(alone[i, others], adjustment) <= level
        verdicts: Verdicts = np.zeros(together.shape, dtype=bool)
        verdicts[i, others] = own & ahead[i, others]
        verdicts[others, i] = own & ahead[others, i]
        low, high = map(int, ranks.rank_intervals(verdicts)[i])
        rows.append(
            Ranked(
                metric=sample.of.name,
                system=sample.of.systems[i],
                score=float(scores[i]),
                standard_error=sample.effects[i].spread.error,
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
    tied = [sample.of.systems[i] for i in order[1:] if not together[order[0], i]]
    return Ranking(
        metric=sample.of.name,
        task=task,
        systems=tuple(rows),
        tied=tuple(tied),
        confidence_level=1 - level,
        higher_is_better=higher,
        n_segments=sample.units.n,
        unit=sample.units.unit,
        signature=signature,
    )


def _check(comparison: Comparison) -> None:
    if comparison.baseline is not None:
        raise InputError("a ranking needs all pairs: compare without baseline")
    if comparison.alternative != "two-sided":
        raise InputError("a ranking needs two-sided tests: compare without alternative")
    if comparison.adjustment not in FAMILY_WISE:
        raise InputError(
            f"a ranking needs an adjustment that allows for all pairs, one of "
            f"{', '.join(FAMILY_WISE)}; this comparison has {comparison.adjustment!r}"
        )


def _checked(function: Composite, scores: Floats) -> Floats:
    made = np.asarray(function(scores), dtype=np.float64)
    wanted = "composite must make finite numbers of scores (..., S, M), one a system"
    if made.shape != scores.shape[:-1]:
        raise InputError(
            f"{wanted}: of {scores.shape} it made {made.shape}, {scores.shape[-2]} systems; take "
            f"means over axis=-1"
        )
    bad = made[~np.isfinite(made)]
    if bad.size:
        raise InputError(f"{wanted}: {bad.size:,} of {made.size:,} that it made are {bad[0]}")
    return made
