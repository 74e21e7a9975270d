"""Independent samples: systems on their own units, and one system against a fixed number.

Each system is resampled within itself, like a stratum of one design. For two samples, the standard
error and the degrees of freedom of a difference are then Welch's (1947). A number is a baseline
that does not vary: the difference from it has the score's influence values and replicates, so
p-values, intervals, looks and plans work as in `compare`. 0/1 scores have the score test of a
share, whose interval is Wilson's (1927).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from math import comb
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.counts import Counts, Share
from evalstats.analysis.design import Aggregated, Labels, refuse_crossed, stacked
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.scores import KnownPairs, Scores, drawn, of_strata, widest_bounds
from evalstats.analysis.suite import Suite
from evalstats.analysis.tasks import Task, Total, as_task, is_statistics, summaries_of
from evalstats.checks import real
from evalstats.errors import Argument, InputError
from evalstats.inference import counts, student
from evalstats.inference.counts import upper_limit
from evalstats.inference.draws import NONE, Draws
from evalstats.inference.student import standardised
from evalstats.metrics.base import merged
from evalstats.resampling.executors import Workers
from evalstats.results.records import Caution, counted, distinct
from evalstats.statistics.extraction import Metrics, as_systems
from evalstats.statistics.interchange import is_same_metric
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
#: With more units, the smallest p-value underflows to 0.
_MOST_DIVIDED = 1000


@dataclass(frozen=True)
class IndependentShares(Counts):
    """Shares of a baseline and a system on different segments: Miettinen and Nurminen (1985)."""

    base: Share
    new: Share

    test = method = "miettinen-nurminen"

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the score interval of confidence 1 - α."""
        sizes, quantile = (self.new.n, self.base.n), student.quantile(self.degrees, alpha)
        low, high = miettinen_nurminen(self.new.share, self.base.share, sizes, quantile)
        return self.scale * low, self.scale * high

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of the score test."""
        shares, sizes = (self.new.share, self.base.share), (self.new.n, self.base.n)
        distance = miettinen_nurminen_distance(*shares, sizes, null / self.scale)
        return student.pvalue(distance, 1.0, self.degrees, alternative)


def miettinen_nurminen(
    new: float, base: float, sizes: tuple[float, float], quantile: float
) -> tuple[float, float]:
    """Return the score interval of a difference of independent shares (1985).

    All differences that the score test does not reject.

    Examples
    --------
    >>> found = miettinen_nurminen(56 / 70, 48 / 80, (70, 80), 1.959964)    # Newcombe (1998)
    >>> [round(x, 4) for x in found]
    [0.0528, 0.3382]
    """
    # In the same steps, so that the order of the two systems does not change a bit.
    distance = miettinen_nurminen_distance
    low = upper_limit(partial(distance, base, new, sizes[::-1]), base - new, quantile)
    return -low, upper_limit(partial(distance, new, base, sizes), new - base, quantile)


def miettinen_nurminen_distance(
    new: float, base: float, sizes: tuple[float, float], difference: float
) -> float:
    r"""Return the score statistic of a difference of independent shares: normal under it.

    .. math:: (p - p_0 - \Delta) / \sqrt{
        \frac{N}{N - 1} \left(\frac{\tilde p (1 - \tilde p)}{n}
        + \frac{\tilde p_0 (1 - \tilde p_0)}{n_0}\right)}

    with the maximum-likelihood shares given Δ, and N = n + n₀ (Miettinen and Nurminen, 1985). For a
    difference of 0 its square is Pearson's χ² times (N - 1)/N.

    Examples
    --------
    >>> round(miettinen_nurminen_distance(0.8, 0.6, (70, 80), 0.0), 4)
    2.6413
    """
    if difference < 0:
        # The same with the two systems exchanged, to the bit.
        return -miettinen_nurminen_distance(base, new, sizes[::-1], -difference)
    share = _restricted(new, base, sizes, difference)
    n, (of_new, of_base) = sum(sizes), sizes
    other = min(share + difference, 1.0)
    variance = other * (1 - other) / of_new + share * (1 - share) / of_base
    error = np.sqrt(max(variance, 0.0) * n / (n - 1)) if difference < 1 else 0.0
    return standardised(new - base - difference, float(error))


def _restricted(new: float, base: float, sizes: tuple[float, float], difference: float) -> float:
    """Return the maximum-likelihood share of the baseline given a difference, at least 0.

    The root of a cubic, in closed form (Miettinen and Nurminen, 1985, appendix I).
    """
    of_new, of_base = sizes
    n, succeed = of_new + of_base, of_new * new + of_base * base
    if difference == 0:
        return succeed / n
    linear = ((of_base * difference - n - 2 * of_base * base) * difference + succeed) / n
    square = ((of_new + 2 * of_base) * difference - n - succeed) / n
    constant = of_base * base * difference * (1 - difference) / n
    third = square / 3
    q = third**3 - linear * third / 2 + constant / 2
    p = np.copysign(np.sqrt(max(third**2 - linear / 3, 0.0)), q)
    angle = np.pi if p == 0 else np.pi + np.arccos(np.clip(q / p**3, -1.0, 1.0))
    return float(np.clip(2 * p * np.cos(angle / 3) - third, 0.0, 1 - difference))


def _welch(shares: Sequence[Share]) -> float:
    """Return the degrees of freedom of a difference of two shares (Welch, 1947)."""
    parts = [(share.error**2, share.degrees) for share in shares]
    total = sum(square for square, _ in parts)
    if not total > 0:
        return sum(degrees for _, degrees in parts)
    below = sum((square / total) ** 2 / degrees for square, degrees in parts)
    return 1 / below if below > 0 else np.inf


def _counted(
    samples: Sequence[Scores], places: Sequence[slice], a: int, b: int, influence: Floats
) -> Counts | None:
    """Return the test of two shares on different segments; `None` for other scores.

    `influence` has the values of all units, `(N,)`, and `places` the units of each system.
    """
    first, second = samples[a].outcomes, samples[b].outcomes
    if first is None or second is None or first.scale != second.scale:
        return None
    base = first.share_of(influence[places[a]])
    new = second.share_of(influence[places[b]])
    return IndependentShares(first.scale, _welch((base, new)), base, new)


def side_by_side(samples: Sequence[Scores], order: Sequence[int]) -> Scores:
    """Return systems under one metric side by side, to be drawn in this order."""
    first, sizes = samples[0], [sample.units.n for sample in samples]
    for sample in samples:
        refuse_crossed(sample.units, "paired=False")
    ends = np.cumsum(sizes).tolist()
    places = tuple(slice(end - n, end) for n, end in zip(sizes, ends, strict=True))
    strata = [
        # Adjacent columns are not copied.
        replace(
            stratum,
            places=here if stratum.places is ... else here.start + stratum.places,
            system=i,
        )
        for i, (sample, here) in enumerate(zip(samples, places, strict=True))
        for stratum in sample.strata
    ]
    unseen = None
    if all(sample.unseen is not None for sample in samples):
        unseen = np.zeros((len(samples), ends[-1]))
        for i, (sample, here) in enumerate(zip(samples, places, strict=True)):
            unseen[i, here] = sample.unseen
    # Settings that differ, such as weights of judges, are all listed:
    # ``judged:ppi:0.4,judged:ppi:0.5``.
    settings = zip(*(sample.signature.settings for sample in samples), strict=False)
    signature = merged([str(sample.signature) for sample in samples])
    labels = {sample.reference_label for sample in samples}
    both = np.add.outer(sizes, sizes)
    scores = of_strata(
        strata,
        stacked([sample.units for sample in samples], order),
        name=first.name,
        metric_name=first.metric_name,
        systems=tuple(sample.systems[0] for sample in samples),
        higher_is_better=first.higher_is_better,
        signature=replace(signature, settings=tuple(",".join(distinct(s)) for s in settings)),
        reference_label=labels.pop() if len(labels) == 1 else None,
        samples=tuple(samples),
        # The number of units of both, which does not limit the degrees of freedom.
        known=KnownPairs(
            both,
            np.full(both.shape, np.inf),
            np.array([[_least(n, m) for m in sizes] for n in sizes]),
            counter=partial(_counted, samples, places),
        ),
        unseen=unseen,
        corrections=tuple(
            replace(one, metric=f"{one.metric} of {sample.systems[0]}")
            for sample in samples
            for one in sample.corrections
        ),
        bounds=widest_bounds(samples),
        empty_score=first.empty_score,
        cautions=tuple(dict.fromkeys(one for sample in samples for one in sample.cautions)),
    )
    # Runs also vary with the units of their system.
    return replace(scores, runs=[run for sample in samples for run in sample.runs])


def _least(n: int, m: int) -> float:
    """Return the smallest one-sided p-value: 1 over the number of ways to divide the units."""
    return 1 / comb(n + m, n) if n + m <= _MOST_DIVIDED else 0.0


@dataclass(frozen=True, eq=False)
class Unpaired:
    """A task, or a total, on which each system has its own segments.

    `each` are the tasks or totals of every system alone.
    """

    each: tuple[Task | Total, ...]

    #: Texts of different systems cannot be compared.
    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    is_paired: ClassVar[bool] = False

    @property
    def statistics(self) -> list[SegmentStatistics]:
        """The tables of all systems, one after the other."""
        return [table for part in self.each for table in part.statistics]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(part.systems[0] for part in self.each)

    @property
    def name(self) -> str:
        """Name of the task, or total."""
        return self.each[0].name

    @property
    def total(self) -> str | None:
        """The name of a total; `None` for a task."""
        return self.each[0].total

    @property
    def metric(self) -> str:
        """The name of the metric, or metrics, of a total."""
        return self.each[0].metric

    def drawn(self, options: Options) -> list[Scores]:
        """Return the scores under each metric, to be resampled; errors name the system.

        Systems are drawn one after the other, ordered by a hash of their statistics, so that
        neither their names nor their order change a bit.
        """
        by_system: list[list[Scores]] = []
        identities: list[tuple[int, list[str]]] = []
        for part in self.each:
            try:
                scores = part.scores()
            except InputError as error:
                raise error.within(f"system {part.systems[0]!r}") from None
            rows = [stratum.rows for one in scores for stratum in one.strata]
            digests = [sha256(np.ascontiguousarray(x, np.float64).tobytes()) for x in rows]
            by_system.append(scores)
            identities.append((scores[0].units.n, [digest.hexdigest() for digest in digests]))
        order = sorted(range(len(by_system)), key=identities.__getitem__)
        by_metric = zip(*by_system, strict=True)
        return drawn([side_by_side(samples, order) for samples in by_metric], options)


def as_unpaired(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    groups: Labels | Mapping[str, Labels] = None,
    strata: Labels | Mapping[str, Labels] = None,
    aggregate: Aggregated = "micro",
    human: object = None,
    executor: Workers = None,
) -> Unpaired:
    """Return the only task of a call whose systems have their own segments.

    References, human labels, groups and strata are by system; statistics have one system each.
    """
    inputs = inputs_by_system(hypotheses)
    given = {"references": references, "human": human, "groups": groups, "strata": strata}
    by_system = {name: of_systems(value, list(inputs), name) for name, value in given.items()}
    samples = [
        as_task(
            value if is_statistics(value) else {name: value},
            by_system["references"][name],
            metrics,
            groups=by_system["groups"][name],
            strata=by_system["strata"][name],
            aggregate=aggregate,
            human=by_system["human"][name],
            executor=executor,
        )
        for name, value in inputs.items()
    ]
    return Unpaired(tuple(samples))


def inputs_by_system(hypotheses: Any) -> Mapping[str, Any]:
    """Return outputs, or tables, by the name of their system, before any long computation."""
    _refuse_summaries(hypotheses)
    if not is_statistics(hypotheses):
        return as_systems(hypotheses)
    return tables_by_system(
        [hypotheses] if isinstance(hypotheses, SegmentStatistics) else hypotheses
    )


def _refuse_summaries(value: object) -> None:
    if summaries := summaries_of(value):
        raise InputError(
            f"requires the statistics of every segment, but {summaries[0].why}; leave it out",
            argument="paired",
        )


def of_systems(value: Any, names: Sequence[str], argument: str) -> Mapping[str, Any]:
    """Return an argument by system; a mapping must have all systems.

    `None` and the name of a label apply to all systems.
    """
    if value is None or (isinstance(value, str) and argument != "references"):
        return dict.fromkeys(names, value)
    if not isinstance(value, Mapping) or set(value) != set(names):
        got = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise InputError(
            f"must be a mapping with one entry per system ({', '.join(names)}), because the "
            f"systems are unpaired; got {got}",
            argument=argument,
        )
    return value


def tables_by_system(tables: Iterable[SegmentStatistics]) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of each system, one per metric, in the order of the first system."""
    by_system: dict[str, list[SegmentStatistics]] = {}
    for table in tables:
        _refuse_summaries(table)
        for i, name in enumerate(table.systems):
            one = table
            if len(table.systems) > 1:
                one = replace(table, values=table.values[i : i + 1], systems=(name,))
            by_system.setdefault(name, []).append(one)
    (first, metrics), *others = by_system.items()
    for name, theirs in others:
        ordered = [
            next((t for t in theirs if is_same_metric(t.metric, m.metric)), None) for m in metrics
        ]
        known = [table for table in ordered if table is not None]
        if len(known) < len(metrics) or len(theirs) != len(metrics):
            have = [", ".join(t.metric.name for t in tables) for tables in (metrics, theirs)]
            raise InputError(
                f"all systems must have the same metrics, got {have[0]} of {first!r} and "
                f"{have[1]} of {name!r}"
            )
        by_system[name] = known
    return by_system


def parts_of_each(
    tasks: Mapping[str, Sequence[SegmentStatistics]],
    aggregate: Aggregated | None,
    groups: Any,
    strata: Labels,
) -> list[Unpaired]:
    """Return the tasks and totals of each system alone, side by side."""
    by_task = {name: tables_by_system(tables) for name, tables in tasks.items()}
    systems = tuple(next(iter(by_task.values())))
    of_groups = of_systems(groups, systems, "groups")
    of_strata = of_systems(strata, systems, "strata")
    samples = [
        Suite.of(
            {name: by_system[system] for name, by_system in by_task.items()},
            aggregate,
            of_groups[system],
            of_strata[system],
        )
        for system in systems
    ]
    return [Unpaired(parts) for parts in zip(*(one.parts for one in samples), strict=True)]


#: Places of the number and of the system in a comparison.
PAIR = (0, 1)


class Bound(NamedTuple):
    """The number that a score must reach, from above if lower scores are better."""

    number: float
    is_least: bool

    @property
    def argument(self) -> str:
        """The name of the argument."""
        return "at_least" if self.is_least else "at_most"

    @property
    def asked(self) -> str:
        """The requirement: "at least 0.9"."""
        return f"{'at least' if self.is_least else 'at most'} {self.number:.10g}"

    @property
    def sides(self) -> tuple[str, str]:
        """The alternatives that the score is on the better side, and on the other side."""
        return ("greater", "less") if self.is_least else ("less", "greater")


#: The requirement without a limit.
NO_LOSS = "no significant loss"


def limit_of(margin: float | None, recovery: float | None, otherwise: str) -> str:
    """Return the requirement for a system, as JSON has it."""
    if margin is not None:
        return f"a loss of less than {margin:g}"
    return otherwise if recovery is None else f"at least {100 * recovery:.6g}% of the baseline"


def required(margin: float | None, asked: str, of_total: bool = False) -> str:
    """Return the requirement for a system, or for its total over tasks, in words."""
    if margin is not None:
        return f"allowed loss{' in the total' if of_total else ''}: below {margin:g}"
    if of_total:
        asked = f"{asked} in the total" if asked == NO_LOSS else f"a total of {asked}"
    return f"required: {asked}"


def as_bound(at_least: object, at_most: object) -> Bound | None:
    """Return the number of at most one of two arguments, checked."""
    if at_least is not None and at_most is not None:
        raise InputError(
            "pass either ",
            Argument("at_least"),
            " or ",
            Argument("at_most"),
            ", not both, because either higher or lower scores are better",
        )
    if at_least is not None:
        return Bound(real(at_least, "at_least", -np.inf), True)
    return None if at_most is None else Bound(real(at_most, "at_most", -np.inf), False)


@dataclass(frozen=True)
class ShareAgainst(Counts):
    """A share of items against a number, both from 0 to 1: the score test, and Wilson (1927)."""

    of: Share
    number: float

    test = "score"
    method = "wilson"

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return Wilson's interval of confidence 1 - α, less the number."""
        quantile = student.quantile(self.degrees, alpha)
        low, high = counts.wilson(self.of.share, self.of.n, quantile)
        return self.scale * (low - self.number), self.scale * (high - self.number)

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of the score test, with the standard error under the null value."""
        share = min(max(self.number + null / self.scale, 0.0), 1.0)
        error = float(np.sqrt(share * (1 - share) / self.of.n))
        return student.pvalue(self.of.share - share, error, self.degrees, alternative)


def against(scores: Scores, bound: Bound) -> Scores:
    """Return the only system of these scores beside the number.

    The number is a system with a constant score. Nothing is drawn: t is corrected for skewness,
    because otherwise a score near its worst would pass too often.
    """
    if scores.higher_is_better is not bound.is_least:
        wanted, other = ("lower", "at_least") if scores.higher_is_better else ("higher", "at_most")
        raise InputError(
            f"applies to metrics for which {wanted} is better, but {scores.metric_name} is not "
            "one; use ",
            Argument(other),
            argument=bound.argument,
        )
    low, high = scores.ends
    if not low < bound.number < high:
        raise InputError(
            f"must be above {low:g} and below {high:g}, the bounds of {scores.metric_name}; got "
            f"{bound.number:g}",
            argument=bound.argument,
        )
    # On this scale a score below 1 is that of a system that does not work.
    if high == 100 and 0 < bound.number < 1:
        raise InputError(
            f"is {bound.number:g}, but {scores.metric_name} ranges from {low:g} to 100. If you "
            f"mean {100 * bound.number:g}, pass {100 * bound.number:g}",
            argument=bound.argument,
        )
    name, units = f"{bound.number:.10g}", scores.units
    by_run, n_runs, skewness = scores.by_run, scores.n_runs, 0.0
    if by_run is not None:
        by_run = _beside(by_run[0], bound.number), _beside(by_run[1])
    elif scores.influence is not None and scores.unseen is None and units.has_values:
        skewness = student.skewness(scores.influence[0], units.codes)
    # All units differ from a number, so they do not limit the degrees of freedom; no swaps.
    square = np.ones((2, 2))
    return replace(
        scores,
        systems=(name if scores.systems[0] != name else f"{name} (number)", scores.systems[0]),
        value=_beside(scores.value, bound.number),
        influence=None if scores.influence is None else _beside(scores.influence),
        # Scores that are not smooth need replicates for an error.
        draws=NONE
        if scores.influence is not None
        else Draws(scores.draws.n, lambda: _beside(scores.draws.values, bound.number)),
        unseen=None if scores.unseen is None else _beside(scores.unseen),
        # The number does not vary between runs.
        runs=[] if n_runs is None else [((0.0, 0.0, n_runs),), *scores.runs],
        by_run=by_run,
        strata=(),
        outcomes=None,
        known=KnownPairs(
            (units.n * square).astype(np.int64),
            np.inf * square,
            0 * square,
            counter=partial(_of_share, scores, bound.number),
            skewness=skewness,
        ),
        missing=None,
    )


def _beside(values: Floats, number: float = 0.0) -> Floats:
    """Return a number, the same in all columns, above values of the system, `(1, ...)`."""
    return np.concatenate([np.full_like(values, number), values])


def _of_share(scores: Scores, number: float, a: int, b: int, influence: Floats) -> Counts | None:
    """Return the test of a share against the number; `None` if scores are not shares."""
    outcomes = scores.outcomes
    if outcomes is None or scores.influence is None:
        return None
    share = outcomes.share_of(scores.influence[0])
    return ShareAgainst(outcomes.scale, share.degrees, share, number / outcomes.scale)


def missing_cautions(several: Sequence[Scores]) -> list[Caution]:
    """Return a caution for each metric with missing scores of the only system.

    With two systems it can be tested whether this is chance, but not with one.
    """
    cautions = []
    for scores in several:
        n, size = (0, 0) if scores.missing is None else scores.missing[0].tolist()
        if n:
            units = counted(size, scores.units.segment)
            what = f"{scores.metric_name} score".removeprefix("score ")
            has, they = ("has", "it") if n == 1 else ("have", "they")
            said = (
                f"{n:,} of {units} of {scores.systems[0]} {has} no {what}, and "
                f"{they} may differ from the others."
            )
            cautions.append(Caution(said, "missing"))
    return cautions


def refuse_constant(pair: PairTest) -> None:
    """Refuse scores that are the same on every unit."""
    scores, difference = pair.scores, pair.difference
    error = difference.spreads[0].error
    if pair.counts is None and not error > 1e-12 * abs(float(difference.value[0])):
        units = counted(scores.units.n, scores.units.unit)
        raise InputError(
            f"{scores.metric_name} of {scores.systems[PAIR[1]]!r} is the same on all {units}, so "
            "its uncertainty cannot be estimated"
        )


@dataclass(frozen=True, eq=False)
class OneSample:
    """A task, or a total, of one system that is compared with a number."""

    part: Task | Total
    bound: Bound

    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    is_paired: ClassVar[bool] = True

    @cached_property
    def scores(self) -> list[Scores]:
        """The scores of the system, one per metric."""
        return self.part.scores()

    def drawn(self, options: Options) -> list[Scores]:
        """Return number and system, one pair per metric, to be resampled."""
        return [against(scores, self.bound) for scores in drawn(self.scores, options)]
