"""Rankings from the comparison of all pairs under one metric.

Intervals of ranks, ties, and how often each system is first. Below the records are functions from
verdicts on all pairs to ranks: ``better[i, j]`` is True if system i is significantly better than
system j.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Annotated, Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.estimate import gap_notes, size_notes
from evalstats.analysis.options import option
from evalstats.analysis.scores import Scores
from evalstats.checks import shown
from evalstats.errors import Argument, InputError
from evalstats.metrics import Mean
from evalstats.results import tabular
from evalstats.results.convert import Count, Level, NotNegative, Share, Size, check_bounds, one_of
from evalstats.results.forms import Finding, Several
from evalstats.results.layout import score_name
from evalstats.results.notes import Facts, close_calls, close_notes, floor_notes, unpaired_notes
from evalstats.results.records import (
    Difference,
    Record,
    all_others,
    by_metric,
    counted,
    leads,
    of_metric,
    of_task,
)
from evalstats.results.signatures import Signature, system_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.pictures.marks import Forest

Floats = NDArray[np.float64]
Verdicts = NDArray[np.bool_]
Clusters = Literal["simultaneous", "wmt", "wmt25"]

#: WMT's clusters: the test, the level per pair, and where it was used.
CLUSTERS = get_args(Clusters)
_OF_WMT = {
    "wmt": ("rank-sum", "0.05", "as for direct assessments in WMT22"),
    "wmt25": ("signed-rank", "0.025", "as for MQM in WMT25"),
}
#: Adjustments that control the probability of any false claim.
FAMILY_WISE = ("max-t", "holm")
#: How many systems the note on ties names.
_NAMED = 5
#: How many systems tied with the first a report names.
#: The most tiers shown as letters; more would be unreadable.
_TIERS = 8
_LETTER = re.compile(r"[a-z]\d*")


@dataclass(frozen=True)
class Ranked(Record):
    """One system's rank with its intervals; 1 is the best.

    Attributes
    ----------
    metric, system, score, standard_error : str, str, float, float
        Metric and system, the score, and its standard error.
    rank : float
        Rank by score; systems with equal scores share the mean rank.
    low, high, simultaneous_low, simultaneous_high : int
        Interval of this system's rank, and simultaneous interval for all systems.
    tier : str
        Letters; systems that share a letter do not differ significantly.
    cluster : int
        Every system of a cluster is significantly better than every system of a later one.
    probability_first : float or None
        Share of the resamples in which it scores best; `None` if scores were not resampled
        (``method="t"``).
    score_low, score_high : float
        Interval of the score.
    n_battles : int or None
        As in `Estimate`.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [4.0, 5, 6, 4.9, 4, 6]}
    >>> first = es.compare(scores, metrics=es.Mean("quality")).ranking()["B"]
    >>> first.rank, (first.low, first.high), first.tier
    (1.0, (1, 1), 'a')
    """

    metric: str
    system: str
    score: float
    standard_error: NotNegative
    rank: Size
    low: Count
    high: Count
    simultaneous_low: Count
    simultaneous_high: Count
    tier: str
    cluster: Count
    probability_first: Share | None
    score_low: float
    score_high: float
    n_battles: Count | None = None

    def _check(self) -> None:
        for name in ("", "score_", "simultaneous_"):
            check_bounds(self, f"{name}low", f"{name}high")

    def _title(self) -> str:
        return f"rank of {self.system}, {self.metric}"


@dataclass(frozen=True, repr=False)
class Ranking(Several[Ranked]):
    """Systems best first, with intervals of their ranks; iterating yields `Ranked`.

    Attributes
    ----------
    metric : str
        The metric.
    systems : tuple of Ranked
        Best first.
    tied : tuple of str
        Systems that are not significantly worse than the first.
    confidence_level : float
        Confidence level of the intervals.
    higher_is_better, n_segments, unit, signature, notes, task
        As in `Estimate`.
    clusters : {"simultaneous", "wmt", "wmt25"}
        The tests behind clusters, as in `Comparison.ranking`.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [4.0, 5, 6, 4.9, 4, 6]}
    >>> ranking = es.compare(scores, metrics=es.Mean("quality")).ranking("quality")
    >>> [(ranked.rank, ranked.system) for ranked in ranking], ranking.tied
    ([(1.0, 'B'), (2.0, 'A')], ())
    """

    metric: str
    systems: tuple[Ranked, ...]
    tied: tuple[str, ...]
    confidence_level: Level
    higher_is_better: bool
    n_segments: Count
    unit: str
    signature: Signature
    notes: tuple[str, ...] = ()
    task: str = ""
    clusters: Annotated[str, one_of(CLUSTERS)] = "simultaneous"

    def __getitem__(self, system: str) -> Ranked:
        """Return the rank of a system."""
        by_name = {ranked.system: ranked for ranked in self.systems}
        if system not in by_name:
            raise InputError(f"system must be one of {', '.join(by_name)}; got {shown(system)}")
        return by_name[system]

    def _rows(self) -> Sequence[Ranked]:
        return self.systems

    def _tables(self, digits: int | None = None) -> list[Table]:
        places = tabular.decimals([r.standard_error for r in self.systems], digits)
        percent, level = f"{100 * self.confidence_level:.10g}", tabular.level(self.confidence_level)
        has_battles = any(r.n_battles is not None for r in self.systems)
        tier: Column = ("tier", "<", lambda r: r.tier)
        columns: list[Column] = [
            ("rank", ">", lambda r: f"{r.rank:g}"),
            (system_name([self]), "<", lambda r: r.system),
            (score_name(self), ">", lambda r: tabular.number(r.score, places)),
            (f"[{level}]", ">", lambda r: tabular.interval(r.score_low, r.score_high, places)),
            *([("battles", ">", lambda r: f"{r.n_battles or 0:,}")] if has_battles else []),
            # The simultaneous interval, which agrees with the ties of the first.
            (
                f"rank [{percent}%]",
                ">",
                lambda r: f"[{r.simultaneous_low}, {r.simultaneous_high}]",
            ),
            tier if self.has_letters else ("better than", ">", self.beaten),
            ("cluster", ">", lambda r: str(r.cluster)),
            ("first", ">", _first),
        ]
        better = tabular.which_is_better(self.higher_is_better)
        title = f"Ranks by {self.name} {better}, {counted(self.n_segments, self.unit)}"
        ties = "No system is tied for first."
        if self.tied:
            names = ", ".join(self.tied[:_NAMED]) + (", ..." if self.tied[_NAMED:] else "")
            tie = "system ties" if len(self.tied) == 1 else "systems tie"
            ties = f"{len(self.tied)} {tie} with the first: {names}."
        cluster = "cluster: systems in a cluster are better than all systems in later clusters."
        details = ["first", f"[{level}]"]
        if self.clusters != "simultaneous":
            cluster = f"cluster: {_OF_WMT[self.clusters][2]}."
        elif self.has_letters:
            details.append("cluster")
        first = (
            "first: how often a system has the best score in the resamples (not the probability "
        )
        first += "that it is the best)."
        at = [name for name, *_ in columns].index(f"rank [{percent}%]")

        def draw() -> Forest:
            from evalstats.pictures.marks import Forest, Mark

            marks = tuple(
                (Mark(r.rank, r.simultaneous_low, r.simultaneous_high),) for r in self.systems
            )
            return Forest(marks, at, f"rank, {level}", is_whole=True)

        tiers = "tier: systems that share a letter do not differ significantly."
        notes = (ties, *[tiers] * self.has_letters, cluster, first)
        shown = ("battles",)
        return [
            table_of(title, self.systems, columns, notes, spare=shown, draw=draw, details=details)
        ]

    def describe(self) -> str:
        """Return the sentences for a paper's methods section."""
        return (
            "All pairs of systems are tested, and p-values are adjusted for all pairs. The "
            "interval of a rank excludes the ranks of systems that are significantly better or "
            "worse."
        )

    def _findings(self) -> list[Finding]:
        """Return which system is first, the evidence, and which systems tie."""
        first, n = self.systems[0], len(self.systems)
        places = tabular.decimals([ranked.standard_error for ranked in self.systems])
        score = tabular.number(first.score, places)
        on = f" ({self.task})" if self.task else ""
        said = f"{first.system} ranks first of {n} in {self.metric}{on}, with a score of {score}"
        tied = [name for name in self.tied if name != first.system]
        beaten, level = self.beaten(first), tabular.level(self.confidence_level)
        others = f"{beaten.replace('of', 'of the')} others" if tied else all_others(n - 1)
        is_open = beaten[:2] == "0 "
        line = leads("" if is_open else others, tied)
        if first.simultaneous_low < first.simultaneous_high:
            ranks = f"{first.simultaneous_low} and {first.simultaneous_high}"
            line += f". The true rank of {first.system} is between {ranks} ({level})"
        return [Finding(said, "open" if is_open else "better", [f"{line}."])]

    def _headline(self) -> str:
        return f"Ranks of {len(self.systems)} systems"

    @property
    def has_letters(self) -> bool:
        """Whether there are few enough tiers for letters."""
        return len({letter for r in self.systems for letter in _LETTER.findall(r.tier)}) <= _TIERS

    def beaten(self, ranked: Ranked) -> str:
        """Return how many other systems are significantly worse, ``18 of 36``."""
        n = len(self.systems)
        return f"{n - ranked.simultaneous_high} of {n - 1}"

    @property
    def name(self) -> str:
        """The metric, after the task if there is one."""
        return f"{self.task}: {self.metric}" if self.task else self.metric


@dataclass(frozen=True, repr=False)
class Rankings(Several[Ranking]):
    """Rankings, one per metric; iterating yields `Ranking`.

    Attributes
    ----------
    rankings : tuple of Ranking
        In the order of the metrics.

    Examples
    --------
    >>> import evalstats as es
    >>> texts = {"A": ["a cat sat", "it is so"], "B": ["the cat sat", "it was so"]}
    >>> result = es.compare(texts, ["the cat sat", "it is so"], ["chrf", "ter"], n_resamples=99)
    >>> [ranking.metric for ranking in result.ranking()]
    ['chrF2', 'TER']
    """

    rankings: tuple[Ranking, ...]

    def _headline(self) -> str:
        return self.rankings[0]._headline()

    def _finding(self, row: Ranking) -> Finding:
        return row._findings()[0]


def _first(r: Ranked) -> str:
    return "-" if r.probability_first is None else tabular.number(r.probability_first, 2)


@overload
def ranking_of(
    comparison: Comparison,
    metric: str,
    *,
    clusters: Clusters = "simultaneous",
    task: str | None = None,
) -> Ranking: ...
@overload
def ranking_of(
    comparison: Comparison, *, clusters: Clusters = "simultaneous", task: str | None = None
) -> Ranking | Rankings: ...
def ranking_of(
    comparison: Comparison,
    metric: str | None = None,
    *,
    clusters: Clusters = "simultaneous",
    task: str | None = None,
) -> Ranking | Rankings:
    """Rank the systems: a `Ranking`, with intervals of the ranks and tiers of ties.

    From tests of all pairs, two-sided, with a family-wise adjustment, at `significance_level`.
    Simultaneous intervals of ranks follow from this comparison's verdicts; the interval of a single
    system comes from max-T over its own pairs (Mogstad, Romano, Shaikh and Wilhelm, 2024).

    Parameters
    ----------
    metric, task : str, optional
        As in `difference`; with several metrics and none given, the result is `Rankings`, one per
        metric.
    clusters : {"simultaneous", "wmt", "wmt25"}
        Every system of a cluster is better than every system of a later cluster, either by this
        comparison's verdicts, or as in the scripts of WMT, which test segments' scores (`Mean`)
        with one-sided Wilcoxon tests without adjustment. ``"wmt"`` uses rank-sum tests of all
        scores of two systems, p < .05 (direct assessments, as in WMT22); ``"wmt25"`` uses
        signed-rank tests of the segments that both have, p < .025 (MQM in WMT25).

    Raises
    ------
    InputError
        For a comparison with a baseline, one-sided, not adjusted, or read from JSON.

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> ranking = es.compare(sample.systems, sample.references, "chrf").ranking()
    >>> [(r.system, r.low, r.high, r.tier) for r in ranking][:2]
    [('clearly-better', 1, 1, 'a'), ('slightly-better', 2, 4, 'b')]
    """
    evaluation, differences = comparison.evaluation, of_task(comparison.differences, task)
    differences = differences if metric is None else of_metric(differences, metric)
    option(clusters, CLUSTERS, "clusters")
    if comparison.baseline is not None:
        raise InputError("a ranking requires all pairs; leave baseline out")
    if comparison.alternative != "two-sided":
        raise InputError("a ranking requires two-sided tests; leave alternative out")
    if comparison.adjustment not in FAMILY_WISE:
        raise InputError(
            f"a ranking requires an adjustment for all pairs, one of {', '.join(FAMILY_WISE)}; "
            f"got {comparison.adjustment!r}"
        )
    rankings = [
        _by_metric(comparison, evaluation, rows, clusters)
        for rows in by_metric(differences).values()
    ]
    return rankings[0] if len(rankings) == 1 else Rankings(tuple(rankings))


def _by_metric(
    comparison: Comparison, evaluation: Evaluation, rows: Sequence[Difference], how: str
) -> Ranking:
    """Rank the systems by the differences of all pairs under one metric."""
    first, adjustment, options = rows[0], comparison.adjusted, evaluation.options
    place = first.task, first.metric
    drawn = evaluation.scores_of(first)
    systems, level, higher = drawn.systems, options.significance_level, first.higher_is_better
    by_name = {e.system: e for e in comparison.estimates if (e.task, e.metric) == place}
    estimates = [by_name[name] for name in systems]
    pvalues = np.ones((len(systems),) * 2)
    for d in rows:
        i, j = systems.index(d.system), systems.index(d.baseline)
        pvalues[i, j] = pvalues[j, i] = d.pvalue_adjusted
    places = ranks(drawn.value, higher)
    order = np.argsort(places, kind="stable")
    ahead = places[:, None] < places
    verdicts = (pvalues <= level) & ahead
    intervals = rank_intervals(verdicts)
    tiers, clusters = letters(verdicts, order), significant_clusters(verdicts, order)
    is_drawn = drawn.draws.n > 0
    leading = probability_first(drawn.replicates.T, higher) if is_drawn else None
    # For each system from the verdicts on its own pairs only.
    shown = evaluation.within[place] <= level
    low, high = 1 + np.sum(shown & ahead.T, axis=1), len(shown) - np.sum(shown & ahead, axis=1)
    # A comparison may have drawn nothing.
    draws = {"n": str(drawn.draws.n), "seed": str(options.rng)} if is_drawn else {}
    facts = Facts(evaluation.limits, comparison.estimates, comparison.differences, adjustment)
    close = close_calls(adjustment, rows)
    ranking = Ranking(
        metric=drawn.name,
        task=first.task,
        systems=tuple(
            Ranked(
                metric=drawn.name,
                system=systems[i],
                score=float(drawn.value[i]),
                standard_error=drawn.spreads[i].error,
                rank=float(places[i]),
                low=int(low[i]),
                high=int(high[i]),
                simultaneous_low=int(intervals[i, 0]),
                simultaneous_high=int(intervals[i, 1]),
                tier=tiers[i],
                cluster=int(clusters[i]),
                probability_first=None if leading is None else float(leading[i]),
                score_low=estimates[i].low,
                score_high=estimates[i].high,
                n_battles=estimates[i].n_battles,
            )
            for i in order
        ),
        tied=tuple(systems[i] for i in order[1:] if not verdicts[order[0], i]),
        confidence_level=options.confidence_level,
        higher_is_better=higher,
        n_segments=drawn.units.n,
        unit=drawn.units.unit,
        signature=evaluation.signatures[place].but(**draws),
        notes=(
            *evaluation.notes,
            *floor_notes(facts, [d for d in rows if d.verdict == "cannot tell"]),
            *size_notes(drawn),
            *gap_notes([drawn]),
            *close_notes(close, adjustment, f"{drawn.name}: the"),
            *(() if drawn.is_paired else unpaired_notes(comparison.estimates.rows)),
        ),
    )
    return ranking if how == "simultaneous" else _as_wmt(ranking, drawn, how)


def _as_wmt(ranking: Ranking, drawn: Scores, clusters: str) -> Ranking:
    """Return a ranking with clusters by WMT's tests of the segments' scores."""
    blocks = [one.strata for one in drawn.together if one.has_segments]
    if not blocks or any(type(block.metric) is not Mean for block in chain(*blocks)):
        raise InputError(
            "leave ",
            Argument("clusters"),
            f" out: {clusters!r} tests segment scores, and {ranking.metric} is not a mean of "
            "segment scores",
        )
    if clusters == "wmt25" and not drawn.is_paired:
        raise InputError(
            "must be 'wmt', because 'wmt25' tests differences on the same segments, but each "
            "system has its own",
            argument="clusters",
        )
    sign, rows = 1 if ranking.higher_is_better else -1, []
    for of_system in blocks:
        rows += list(np.concatenate([block.segments for block in of_system], axis=1))
    with np.errstate(invalid="ignore"):
        marks = [sign * (row[:, 0] / row[:, 1]) for row in rows]  # NaN if there is none
    systems = list(drawn.systems)
    order = np.array([systems.index(r.system) for r in ranking.systems])
    numbers = wmt_clusters(marks, order, sign * drawn.value, clusters)
    test, level, when = _OF_WMT[clusters]
    n = len(systems)
    note = (
        f"Clusters come from one-sided Wilcoxon {test} tests at p < {level}, {when}, without "
        f"adjustment for the {counted(n * (n - 1) // 2, 'pair')} or for documents. In far more "
        "than 5% of tables, they separate some systems that are equally good. The other columns "
        "adjust for both."
    )
    by_name = dict(zip(systems, numbers.tolist(), strict=True))
    ranked = tuple(replace(r, cluster=by_name[r.system]) for r in ranking.systems)
    return replace(ranking, systems=ranked, clusters=clusters, notes=(*ranking.notes, note))


def ranks(scores: ArrayLike, higher_is_better: bool = True) -> Floats:
    """Return ranks along the last axis, 1 the best; equal scores share the mean rank.

    >>> ranks([30.0, 42.0, 30.0, 25.0]).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    values = -values if higher_is_better else values
    places = np.empty(values.shape)
    for i in range(values.shape[-1]):
        score = values[..., i, None]
        before, level = (np.count_nonzero(x, axis=-1) for x in (values < score, values == score))
        places[..., i] = before + (level + 1) / 2
    return places


def rank_intervals(better: Verdicts) -> NDArray[np.int64]:
    """Return the best and the worst rank that each system may have, `(S, S) -> (S, 2)`.

    A system ranks behind all that are significantly better and before all that are significantly
    worse (Mogstad, Romano, Shaikh and Wilhelm, 2024, "Inference for Ranks", Review of Economic
    Studies 91). The coverage is the probability that no verdict is false.

    >>> rank_intervals(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    ahead, behind = better.sum(axis=0), better.sum(axis=1)
    return np.stack([1 + ahead, len(better) - behind], axis=1).astype(np.int64)


def letters(better: Verdicts, order: NDArray[np.intp]) -> list[str]:
    """Return the compact letter display: two systems share a letter if neither is better.

    Insert and absorb (Piepho, 2004, Journal of Computational and Graphical Statistics 13). The
    first system in `order` has the letter a; after z come a1, b1 and so on.

    >>> better = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool)
    >>> letters(better, np.arange(3))
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(len(better)))]
    for pair in np.argwhere(np.triu(better | better.T)).tolist():
        kept = [c for c in columns if not c.issuperset(pair)]
        # No column is contained in another, so a part of one can only be contained in a kept one.
        parts = [c - {x} for c in columns if c.issuperset(pair) for x in pair]
        columns = kept + [part for part in parts if not any(part <= c for c in kept)]
    places = np.argsort(order)
    columns.sort(key=lambda column: sorted(places[list(column)]))
    names = [chr(ord("a") + i % 26) + str(i // 26 or "") for i in range(len(columns))]
    return [
        "".join(name for name, column in zip(names, columns, strict=True) if system in column)
        for system in range(len(better))
    ]


def significant_clusters(better: Verdicts, order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the cluster of each system, 1 the best, `(S,)`.

    A cluster ends if every system so far is significantly better than every system after it.
    """
    return _divided(better, order, lambda above, place: bool(np.all(above[:place, place:])))


def wmt_clusters(
    marks: Sequence[Floats], order: NDArray[np.intp], scores: Floats, how: str
) -> NDArray[np.int64]:
    """Return the cluster of each system as WMT's scripts do, 1 the best, `(S,)`.

    `marks` are the scores of the segments of each system, NaN if a score is missing, and `scores`
    are their means. Higher is better.

    "wmt" follows `make_rankings.py` of WMT22 (unmatched segments; those of direct assessments): a
    system of a higher score wins by a rank-sum test (p < .05), and a cluster ends if each system so
    far has won as often as systems remain. "wmt25" follows `08-compute_clusters.py` of WMT25, for
    one score per segment (MQM): signed-rank tests of the segments that both have (p < .05/2). The
    ranks of a system end at the nearest system above that is better, and the nearest below that is
    worse; a cluster ends where no system's ranks extend beyond it.
    """
    from scipy import stats

    better = np.zeros((len(order), len(order)), dtype=np.bool_)
    for i, j in combinations(order.tolist(), 2):
        a, b = marks[i], marks[j]
        if how == "wmt25":
            apart = (a - b)[~np.isnan(a - b)]
            # Of two systems that are alike everywhere nothing is to be ranked.
            better[i, j] = bool(np.any(apart)) and (
                stats.wilcoxon(apart, alternative="greater").pvalue < 0.05 / 2
            )
        elif scores[i] > scores[j]:
            a, b = a[~np.isnan(a)], b[~np.isnan(b)]
            better[i, j] = stats.mannwhitneyu(a, b, alternative="greater").pvalue < 0.05
    return _divided(better, order, _nobody_reaches if how == "wmt25" else _all_won)


def _all_won(better: Verdicts, place: int) -> bool:
    """Return whether each of the first systems has won against as many as there are others."""
    return bool(np.min(better.sum(axis=1)[:place]) >= len(better) - place)


def _nobody_reaches(better: Verdicts, place: int) -> bool:
    """Return whether no system's ranks extend beyond this place."""
    above = all(np.any(row[i + 1 : place + 1]) for i, row in enumerate(better[:place]))
    below = (better[place - 1 : i, i] for i in range(place, len(better)))
    return above and all(map(np.any, below))


def _divided(
    better: Verdicts, order: NDArray[np.intp], ends: Callable[[Verdicts, int], bool]
) -> NDArray[np.int64]:
    """Return the cluster of each system; `ends(verdicts, place)` is whether one ends there."""
    in_order = better[np.ix_(order, order)]
    begins = [place > 0 and ends(in_order, place) for place in range(len(order))]
    return np.asarray(1 + np.cumsum(begins)[np.argsort(order)])


def probability_first(replicates: Floats, higher_is_better: bool = True) -> Floats:
    """Return the share of resamples in which each system scores best, `(B, S) -> (S,)`.

    Tied systems share a resample. The shares add up to 1.
    """
    values = replicates if higher_is_better else -replicates
    best = values == np.max(values, axis=1, keepdims=True)
    return np.asarray(np.mean(best / best.sum(axis=1, keepdims=True), axis=0))
