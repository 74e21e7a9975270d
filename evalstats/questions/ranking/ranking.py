"""Rankings from the comparison of all pairs: of one metric, or of a composite of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.caveats import gap_notes, size_notes
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.drawn import Drawn, Pair, from_scores
from evalstats.analysis.max_t import adjusted, errors_within
from evalstats.analysis.options import Options, option
from evalstats.analysis.pairs import PairTest, Studentised
from evalstats.errors import InputError
from evalstats.questions.ranking import ranks
from evalstats.questions.ranking.rankings import Ranked, Ranking, Rankings
from evalstats.questions.ranking.ranks import Verdicts
from evalstats.results.notes import close_calls, floor_notes, unpaired_notes
from evalstats.results.records import Difference, by_metric, distinct

Floats = NDArray[np.float64]
#: A function of the scores of S systems under M metrics, `(..., S, M) -> (..., S)`.
Composite = Callable[[Floats], Floats]

#: Composites of which less is better, by name.
COMPOSITES = {"autorank": ("AutoRank", ranks.autorank), "borda": ("Borda", ranks.borda)}
#: What Python calls a function without a name.
_UNNAMED = "<lambda>"
#: These adjust p-values so that the probability of any false claim is held.
FAMILY_WISE = ("max-t", "holm")


def ranked(
    comparison: Comparison,
    evaluation: Evaluation,
    of: Sequence[Difference],
    composite: str | Composite | None,
    higher_is_better: bool,
) -> Ranking | Rankings:
    """Rank the systems by differences of all pairs on a task, under each metric or a composite."""
    if comparison.baseline is not None:
        raise InputError("a ranking needs all pairs: compare without baseline")
    if comparison.alternative != "two-sided":
        raise InputError("a ranking needs two-sided tests: compare without alternative")
    if comparison.adjustment not in FAMILY_WISE:
        raise InputError(
            f"a ranking needs an adjustment that allows for all pairs, one of "
            f"{', '.join(FAMILY_WISE)}; this comparison has {comparison.adjustment!r}"
        )
    if composite is not None:
        return _by_composite(evaluation, of, composite, higher_is_better)
    found = [_by_metric(comparison, evaluation, some) for some in by_metric(of).values()]
    return found[0] if len(found) == 1 else Rankings(tuple(found))


def _by_metric(
    comparison: Comparison, evaluation: Evaluation, differences: Sequence[Difference]
) -> Ranking:
    """Rank the systems by the differences of all pairs under one metric."""
    first, adjustment = differences[0], comparison.adjusted
    part = evaluation.part_of(first)
    drawn = evaluation.scores_of(part, evaluation.options)[first.metric]
    number = drawn.of.systems.index
    pvalues = {
        (number(d.system), number(d.baseline)): (d.pvalue, d.pvalue_adjusted) for d in differences
    }
    return _ranking(
        drawn,
        pvalues,
        evaluation.options,
        adjustment=comparison.adjustment,
        task=first.task,
        signature=comparison.signature_of(first),
        notes=(
            *evaluation.notes,
            *floor_notes(adjustment, differences, comparison.estimates[0].unit),
            *size_notes(drawn),
            *gap_notes([drawn]),
            *close_calls(adjustment, differences, f"{drawn.of.name}: the"),
            *(() if drawn.is_paired else unpaired_notes(comparison.estimates.rows)),
        ),
    )


def _by_composite(
    evaluation: Evaluation,
    of: Sequence[Difference],
    composite: str | Composite,
    higher: bool,
) -> Ranking:
    """Rank the systems by a composite of the metrics of differences, resampled with them."""
    options = evaluation.options
    drawn = evaluation.together(of, options)
    test = "t" if options.test == "t" else "bootstrap"
    signatures = distinct(
        str(evaluation.signatures[d.task, d.metric].but(test=test, adj="max-t")) for d in of
    )
    up = np.array([one.of.higher_is_better for one in drawn])
    if callable(composite):
        name, function = getattr(composite, "__name__", _UNNAMED), composite
        name = "composite" if name == _UNNAMED else name
    else:
        name, named = COMPOSITES[option(composite, tuple(COMPOSITES), "composite")]
        higher = False

        def function(scores: Floats) -> Floats:
            return named(scores, up)

    joint = from_scores(drawn, name, function, higher)
    places = list(combinations(range(len(joint.scores)), 2))
    alone = np.empty(len(places))
    family = []
    for i, place in enumerate(places):
        # The replicates of a pair are not kept.
        pair = PairTest(joint, *place, options)
        alone[i] = pair.pvalue()
        family.append(pair.studentised)
    both = zip(alone, adjusted(family, alone, "max-t", options), strict=True)
    return _ranking(
        joint,
        dict(zip(places, both, strict=True)),
        options,
        adjustment="max-t",
        task=of[0].task,
        signature=f"{name} of {' + '.join(signatures)}",
        notes=(*evaluation.notes, *size_notes(joint), *gap_notes(drawn)),
    )


def _ranking(
    drawn: Drawn,
    pvalues: Mapping[Pair, tuple[float, float]],
    options: Options,
    *,
    adjustment: str,
    task: str,
    signature: str,
    notes: tuple[str, ...],
) -> Ranking:
    """Rank by the p-values of all pairs, alone and adjusted."""
    alone, together = np.ones((2, len(drawn.scores), len(drawn.scores)))
    for (i, j), both in pvalues.items():
        alone[i, j], together[i, j] = alone[j, i], together[j, i] = both
    level, higher = options.significance_level, drawn.of.higher_is_better
    places = ranks.ranks(drawn.scores, higher)
    order = np.argsort(places, kind="stable")
    ahead = places[:, None] < places
    verdicts = (together <= level) & ahead
    intervals = ranks.rank_intervals(verdicts)
    tiers, clusters = ranks.letters(verdicts, order), ranks.clusters(verdicts, order)
    is_drawn = drawn.replicates.size > 0
    first = ranks.probability_first(drawn.replicates.T, higher) if is_drawn else None
    alone_intervals = _alone(drawn, alone, ahead, options, adjustment)
    return Ranking(
        metric=drawn.of.name,
        task=task,
        systems=tuple(
            Ranked(
                metric=drawn.of.name,
                system=drawn.of.systems[i],
                score=float(drawn.scores[i]),
                standard_error=drawn.effects[i].spread.error,
                rank=float(places[i]),
                low=alone_intervals[i][0],
                high=alone_intervals[i][1],
                simultaneous_low=int(intervals[i, 0]),
                simultaneous_high=int(intervals[i, 1]),
                tier=tiers[i],
                cluster=int(clusters[i]),
                probability_first=None if first is None else float(first[i]),
            )
            for i in order
        ),
        tied=tuple(drawn.of.systems[i] for i in order[1:] if not verdicts[order[0], i]),
        confidence_level=1 - level,
        higher_is_better=higher,
        n_segments=drawn.units.n,
        unit=drawn.units.unit,
        signature=signature,
        notes=notes,
    )


def _alone(
    drawn: Drawn, pvalues: Floats, ahead: Verdicts, options: Options, adjustment: str
) -> list[tuple[int, int]]:
    """Return the interval of the rank of each system alone, from max-T over its own pairs.

    `pvalues` are those of all pairs, `(S, S)`, and `ahead` says whose score is better.
    """
    n, how = len(pvalues), "max-t" if adjustment == "max-t" else "holm"
    every_pair = list(combinations(range(n), 2))
    places = {pair: i for i, pair in enumerate(every_pair)}
    studentised = [PairTest(drawn, *pair, options).studentised for pair in every_pair]
    errors = errors_within(drawn, options) if drawn.replicates.size else None
    if errors is not None:
        # The standard errors of pairs within resamples, all computed at once.
        every = errors(studentised)

        def errors(pairs: Sequence[Studentised]) -> Floats:
            return every[[places[pair.a, pair.b] for pair in pairs]]

    intervals = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        pairs = [studentised[places[min(i, j), max(i, j)]] for j in others]
        stepped = adjusted(pairs, pvalues[i, others], how, options, errors)
        is_shown = stepped <= options.significance_level
        verdicts: Verdicts = np.zeros((n, n), dtype=bool)
        verdicts[i, others] = is_shown & ahead[i, others]
        verdicts[others, i] = is_shown & ahead[others, i]
        low, high = map(int, ranks.rank_intervals(verdicts)[i])
        intervals.append((low, high))
    return intervals
