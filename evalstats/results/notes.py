"""Notes of results, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from evalstats.inference.families import ONE_IN
from evalstats.results.records import (
    CAUTION,
    COUNTED,
    MARK,
    Adjustment,
    Caution,
    Difference,
    by_metric,
    by_pair,
    counted,
    distinct,
    has_tasks,
    listed,
    only,
    plural,
)
from evalstats.results.tabular import pvalue

if TYPE_CHECKING:
    from evalstats.designs.trials.cases import TrialShares
    from evalstats.results.estimates import Estimate

#: With fewer segments, or groups, intervals have too little coverage and tests little power.
FEW, FEW_GROUPS = 100, 30
#: With fewer differing units, their number is the main uncertainty.
FEW_DIFFERING = 10
#: Groups have very different sizes if their effective number is below this share.
UNEVEN = 0.8
#: How many pairs, tasks or systems a note names; more are counted.
NAMED = 3

#: Measured effects of a few units with most of a variance (`docs/method.md`).
_OF_PAIRS = (
    "The interval may be too short and the p-value too small. With such data, up to one in six "
    "pairs of equal systems differed significantly at level 0.05"
)
_OF_SCORES = (
    "The interval may be too short. With such data, 95% intervals contained the true value only "
    "65 to 93% of the time"
)

#: The total of strata that share groups, which are drawn as in all segments together.
WHOLE = "whole groups"
#: Kinds of totals over tasks or domains, by name.
TOTALS = {
    "macro": "the mean of the {kind} scores (macro average)",
    "micro": "the score of all {kinds} together (micro average)",
    "weighted": "a weighted mean of the {kind} scores",
    WHOLE: "the score of all {kinds} together",
}


class Concentration(NamedTuple):
    """A few units with most of the variance of a score, or of a difference."""

    metric: str
    system: str
    baseline: str | None  # None for a score
    largest: int  # units
    n: int  # number of all units
    share: float  # their share of the variance


class Limits(NamedTuple):
    """The limits of the evidence on a task, or on a total."""

    task: str
    aggregate: str | None
    n: int  # units
    unit: str
    segment: str  # name of a segment in groups; else the unit
    part: str  # name of tasks
    worth: float  # effective number of units
    sizes: tuple[int, ...] = ()  # the smallest and the largest group
    are_alone: bool = False  # whether every group has one segment
    by_t: bool = False  # whether t is used because of few units, except for 0/1 scores
    is_crossed: bool = False  # whether units have two labels; this is the label with fewer
    judges: tuple[str, ...] = ()  # metrics of judges without people's labels
    gaps: tuple[str, ...] = ()  # sentences on missing scores, and on judges
    held: tuple[Concentration, ...] = ()  # scores, or differences, from few units
    trials: tuple[TrialShares, ...] = ()  # for items with several answers

    @property
    def few(self) -> int:
        """The number below which units are few."""
        return FEW if self.unit == self.segment else FEW_GROUPS

    @property
    def uneven(self) -> str:
        """The effective number of groups, if sizes are very different."""
        return self.as_equal if self.sizes and self.worth < UNEVEN * self.n else ""

    @property
    def as_equal(self) -> str:
        """The effective number of units in groups of different sizes, or in strata."""
        what, worth = f"{self.n} {plural(self.unit)}", f"{self.worth:.3g}"
        if self.worth < self.few <= float(worth):
            worth = f"{floor(10 * self.worth) / 10:g}"
        if not self.sizes:
            return f"{what} in strata are as informative as about {worth} without strata"
        of = f"of {self.sizes[0]} to {self.sizes[1]} {plural(self.segment)}"
        return f"{what} {of} are as informative as about {worth} of equal size"


@dataclass(frozen=True)
class Facts:
    """The input of the rules: units of each task, scores, and differences with their p-values.

    Without differences, notes are about scores; without scores, about units.
    """

    limits: Sequence[Limits]
    estimates: Sequence[Estimate] = ()
    differences: Sequence[Difference] = ()
    adjusting: Adjustment | None = None
    method: str = ""  # of intervals
    test: str = ""  # of p-values
    margin: float | None = None
    recovery: float | None = None
    is_paired: bool = True

    @cached_property
    def rows(self) -> list[Difference]:
        """The differences on tasks, without totals."""
        return [d for d in self.differences if d.aggregate is None]

    @cached_property
    def tasks(self) -> list[Limits]:
        """The limits of each task, without totals."""
        return [limit for limit in self.limits if limit.aggregate is None]

    @property
    def unit(self) -> str:
        """The name of units on all tasks."""
        return only((limit.unit for limit in self.limits), "unit")

    def about(self, few: Sequence[Difference], what: str) -> Iterator[str]:
        """Yield a statement about a few differences, or about their tasks."""
        if few and len({d.task for d in self.rows}) > 1:
            names = ("the total" if d.aggregate else d.task for d in few)
            yield f"On {_names(names, self.limits[0].part)}, the systems {what}."
        elif len(few) > NAMED:
            yield f"{len(few)} pairs {what}."
        elif few:
            pairs = ((pair, listed(d.metric for d in rows)) for pair, rows in by_pair(few).items())
            yield f"{listed(f'{a} and {b} ({metrics})' for (a, b), metrics in pairs)} {what}."


def notes_of(facts: Facts) -> Iterator[str]:
    """Yield notes on limits of the verdicts, and then on the verdicts, from all rules."""
    for find, say in _RULES:
        if concerned := find(facts):
            yield from say(facts, concerned)


def _few_documents(facts: Facts, few: Sequence[Limits]) -> Iterator[str]:
    """Yield a note on the rate of false claims with few documents."""
    if facts.adjusting is None or facts.adjusting.name == "none" or len(by_pair(facts.rows)) < 2:
        # One pair is not a family.
        return
    units = plural(few[0].unit)
    yield (
        f"{MARK} These verdicts are based on few {units}. In tests on WMT25 with 9 to 37 equal "
        f"systems, 20% of such tables (worst case 40%) had a false claim, although the target was "
        f"5%. The rate was lower with 3 systems, and higher when documents were not passed "
        f"as groups. Use more {units}."
    )


def _apart(facts: Facts, apart: Sequence[Difference]) -> Iterator[str]:
    """Yield a note if an interval excludes 0 but the verdict is "no evidence", with the reason."""
    adjusting, n = facts.adjusting, len(facts.differences)
    assert adjusting is not None
    adjusted = [d for d in apart if d.pvalue <= adjusting.level]
    alone = [d for d in apart if d.pvalue > adjusting.level]
    several = max(map(adjusting.n_compared, adjusted), default=1)
    why = (
        f"each interval is for one difference only, while {adjusting.pvalue_name} accounts for "
        f"{several} comparisons",
        f"intervals ({facts.method}) and p-values ({facts.test}) come from different methods",
    )
    for few, reason in zip((adjusted, alone), why, strict=True):
        what = f"{len(few)} of {n} intervals exclude"
        if n == 1:
            what = "The interval excludes"
        elif len(few) == 1:
            (d,) = few
            on = f" on {d.task}" if d.task else ""
            what = f"The interval of {d.system} - {d.baseline} ({d.metric}){on} excludes"
        if few:
            yield f'{what} 0, but the verdict is "no evidence", because {reason}.'


def _chance(facts: Facts, trials: Sequence[TrialShares]) -> Iterator[str]:
    from evalstats.designs.trials.cases import trial_notes

    return trial_notes(trials)


def _small(facts: Facts, small: Sequence[Limits]) -> Iterator[str]:
    """Yield a note if there are few units."""
    # Another note covers tasks in which no verdict is possible.
    told = {d.task for d in facts.rows if d.verdict != "cannot tell"}
    small = [limit for limit in small if not facts.rows or limit.task in told]
    if not small:
        return
    first = small[0]
    if len(facts.tasks) > 1:
        names = _names((limit.task for limit in small), first.part)
        have = "has" if len(small) == 1 else "have"
        yield (
            f"{names} {have} fewer than {first.few} {plural(first.unit)}, so intervals and "
            f"p-values are only approximate. Use more {plural(first.unit)}."
        )
        return
    many = f"There are only {counted(first.n, first.unit)}"
    if first.uneven or first.n >= first.few:
        many = first.as_equal
    more = f"Use more {plural(first.unit)}"
    if not first.by_t:
        yield f"{many}. {approximate_below(first.few)}. {more}."
        return
    if first.unit != first.segment and not first.is_crossed:
        more += f". If a new test set would have the same {plural(first.unit)} (such as domains), "
        more += "pass them as strata"
    yield f"{many}, so evalstats uses a t test, and intervals are wide. {more}."


def approximate_below(few: int) -> str:
    """Return what few units mean, without a full stop."""
    return f"Below {few}, intervals and p-values are only approximate"


def _gaps(facts: Facts, tasks: Sequence[Limits]) -> Iterator[str]:
    """Yield notes on missing scores, and on judges, for each task; on units, for one task."""
    is_said = False
    for limit in tasks:
        for gap in limit.gaps:
            if getattr(gap, "kind", "") == "units":
                if not is_said:
                    yield gap
                is_said = True
                continue
            everywhere = isinstance(gap, Caution) and all(gap in other.gaps for other in tasks)
            on_task = f"{limit.task}: {gap.removeprefix(CAUTION)}"
            named = Caution(on_task, gap.kind) if isinstance(gap, Caution) else on_task
            yield gap if len(tasks) == 1 or everywhere else named


def _judges(facts: Facts, metrics: Sequence[str]) -> Iterator[str]:
    """Say that a judge may favour a system."""
    yield (
        f"{listed(metrics)}: a judge's scores may favour one of the systems. To correct this, pass "
        'human labels for a random sample of the items (human="labels.csv").'
    )


def _held(facts: Facts, concentrations: Sequence[Concentration]) -> Iterator[str]:
    """Yield, per metric, the clearest case of few units with most of a variance."""
    for metric, held in by_metric(concentrations).items():
        worst = max(held, key=lambda few: few.share)
        limit = next(limit for limit in facts.tasks if worst in limit.held)
        on = f" on {limit.task}" if len(facts.tasks) > 1 else ""
        more = f" (and in {counted(len(held) - 1, 'similar case')})" if len(held) > 1 else ""
        whose, may = f"{worst.system} - {worst.baseline}", _OF_PAIRS
        if worst.baseline is None:
            whose, may = f"{worst.system}'s score", _OF_SCORES
        yield (
            f"{metric}: {worst.largest} of {worst.n:,} {plural(limit.unit)} account"
            f"{'s' if worst.largest == 1 else ''} for {100 * worst.share:.0f}% of the variance of "
            f"{whose}{on}{more}. {may}. Look at these {plural(limit.unit)}, and use more."
        )


def _alike(facts: Facts, rows: Sequence[Difference]) -> Iterator[str]:
    """Say which metrics have the same numbers, such as ROUGE-L and ROUGE-Lsum of single lines."""
    numbers: dict[Any, list[str]] = {}
    for metric, of_metric in by_metric(rows).items():
        same = [(d.task, d.baseline, d.system, d.difference, d.standard_error) for d in of_metric]
        numbers.setdefault(tuple(same), []).append(metric)
    for metrics in numbers.values():
        if len(metrics) > 1:
            yield f"{listed(metrics)} have the same scores, so they count as one result."


def _rough(facts: Facts, few: Sequence[Difference]) -> Iterator[Caution]:
    """Yield a caution if few units differ, so that intervals are rough."""
    rough = [d for d in few if d.test not in COUNTED]
    changed = [d for d in few if d.test == "mcnemar"]
    exact = "McNemar's p-value is smaller than the exact p-value"
    p = changed[0].exact_pvalue if len(changed) == 1 else None
    if p is not None and facts.unit == facts.limits[0].segment:
        exact += f" (two-sided {pvalue(p)})"
    so = f"differ on fewer than {FEW_DIFFERING} {plural(facts.unit)}, so"
    loose = "the interval is only approximate and the p-value is probably too large"
    said = (rough, loose), (changed, exact)
    for rows, what in said:
        yield from (Caution(note, "few") for note in facts.about(rows, f"{so} {what}"))


def _claims(facts: Facts, claimed: Sequence[Difference]) -> Iterator[str]:
    """Yield notes on the claims and their level."""
    adjusting = facts.adjusting
    assert adjusting is not None
    level = f"The level is {adjusting.level:g}"
    if (n := max(map(adjusting.n_compared, claimed))) > 1:
        how = {"max-t": "holm"}.get(adjusting.name, adjusting.name)
        adjusted = f", adjusted for {n} comparisons ({how})"
        level += " for each comparison" if how == "none" else adjusted
    if (size := facts.margin) is not None:
        yield (
            f'With a margin of {size:g}, "equivalent" means that the difference is within '
            f'±{size:g}, and "not worse" that the loss is less than {size:g}. "not shown" means '
            f"that neither could be shown. {level}. CSV and JSON contain the smallest margin that "
            "you can claim."
        )
    if (size := facts.recovery) is not None:
        yield (
            f'With a recovery of {size:g}, "not worse" means that the system keeps at least '
            f"{100 * size:.6g}% of the baseline's score, or makes at most 1/{size:g} times as many "
            f"errors. {level}. CSV and JSON contain the largest share that you can claim."
        )
        below = [d for d in claimed if d.n_differing and not d.is_tested]
        yield from facts.about(below, "have a score below 0, so a recovery is not defined")


def _counted(facts: Facts, metrics: Sequence[str]) -> Iterator[str]:
    """Yield a note on 0/1 scores and their tests."""
    test = "McNemar's test and Wilson and Tango intervals"
    if any(d.test == "cluster-t" for d in facts.differences):
        test = f"t tests at the level of {plural(facts.unit)}, and Wilson intervals for scores"
    if not facts.is_paired:
        test = "the test and interval of Miettinen and Nurminen (1985) and Wilson intervals"
    are = "is a 0/1 score" if len(metrics) == 1 else "are 0/1 scores"
    yield f"{listed(metrics)} {are}, so evalstats uses {test}."


def _alone(facts: Facts, alone: Sequence[Limits]) -> Iterator[str]:
    """Say that groups of one segment each change nothing."""
    segment = alone[0].segment
    yield (
        f"Each {alone[0].unit} has only one {segment}, so groups have no effect. If "
        f"{plural(segment)} belong together, pass a label that they share."
    )


def _totals(facts: Facts, totals: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield notes on totals and their intervals."""
    part, unit = facts.limits[0].part, next(e for e in facts.estimates if e.aggregate is None).unit
    kinds = plural(part)
    for name, kind in totals:
        how = f"Its interval applies to new {plural(unit)} in these {kinds}, not to other {kinds}."
        if kind == WHOLE:
            how = (
                f"Groups in several {kinds} were resampled whole. {kinds.capitalize()} that share "
                "groups are not independent, so differences between them are not tested."
            )
        what = TOTALS.get(kind, f"{kind} of the {{kind}} scores")
        yield f'The row "{name}" is {what.format(kind=part, kinds=kinds)}. {how}'


def _tasks(facts: Facts, places: set[tuple[str, str]]) -> Iterator[str]:
    """Yield a note on the adjustment of p-values over tasks."""
    adjusting, part = facts.adjusting, facts.limits[0].part
    assert adjusting is not None
    n_tasks, n_metrics = (len(set(names)) for names in zip(*places, strict=True))
    if n_metrics == len(places) and not adjusting.is_over_metrics:
        yield (
            f"Each {part} has its own metric, so p-values are not adjusted for the other "
            f'{plural(part)}. To get a total, pass aggregate="macro".'
        )
    elif adjusting.name != "none":
        parts = [counted(n_tasks, part)]
        parts += ["all pairs"] if len(by_pair(facts.differences)) > 1 else []
        parts += ["all metrics"] if adjusting.is_over_metrics else []
        how = f"max-T within each {part}, Holm's method over the {plural(part)}"
        how = f" (by {how})" if adjusting.name == "max-t" else ""
        yield (
            f"p (adjusted) accounts for the {listed(parts)}{how}. The total is adjusted separately."
        )


def _least(facts: Facts, adjusting: Adjustment) -> Iterator[str]:
    """Yield a note if several p-values are the smallest that resamples can show."""
    n = adjusting.n_resamples + 1
    alike = [d for d in facts.differences if d.pvalue_adjusted == max(n // ONE_IN, 1) / n]
    if adjusting.name == "max-t" and len(alike) > 1:
        yield (
            f"For {len(alike)} pairs, p (adjusted) is {pvalue(1 / ONE_IN)}, the smallest value "
            f"that resamples can give: fewer than one in {ONE_IN} has such a large difference. "
            "Holm's method does not give a smaller one."
        )


def floor_notes(facts: Facts, opened: Sequence[Difference]) -> Iterator[str]:
    """Yield notes on p-values that cannot reach the level."""
    adjustment = facts.adjusting
    if adjustment is None or not opened:
        return
    level = adjustment.level
    m = max(adjustment.factor(d) for d in opened)
    times = f" adjusted for {m} comparisons" if m > 1 else ""
    drawn = [d for d in opened if adjustment.least(d, d.test, d.n_differing) <= level]
    if drawn:
        yield (
            f"With {adjustment.n_resamples} resamples, no p-value{times} can reach {level:g}. "
            f"Use at least {ceil(m / level - 1e-9) - 1} resamples."
        )
    few = f"differ on so few {plural(facts.limits[0].unit)} that no p-value{times} can reach "
    few += f"{level:g}. Use more {plural(facts.limits[0].unit)}"
    yield from facts.about([d for d in opened if d not in drawn], few)


def _few_resamples(facts: Facts, adjustment: Adjustment) -> Iterator[str]:
    """Say that there are fewer resamples than an interval needs beyond its ends."""
    n = adjustment.n_resamples
    if n + 1 < 2 / adjustment.level:
        yield f"With {n} resamples, intervals and p-values are only approximate. Use at least 999."


def close_calls(
    adjustment: Adjustment, differences: Sequence[Difference]
) -> list[tuple[Difference, float]]:
    """Return differences whose verdicts a different seed could change, with Monte-Carlo errors."""
    close: list[tuple[Difference, float]] = []
    for d in differences:
        error = d.pvalue_error
        if adjustment.name == "max-t" and d.pvalue_adjusted > d.pvalue:
            error = sqrt(d.pvalue_adjusted * (1 - d.pvalue_adjusted) / adjustment.n_resamples)
        elif error:
            # The verdict uses the adjusted p-value, whose error grows as it did.
            error *= d.pvalue_adjusted / d.pvalue
        is_open = error and d.verdict != "cannot tell"
        if is_open and abs(d.pvalue_adjusted - adjustment.level) < 2 * error:
            close.append((d, error))
    return close


def close_notes(
    close: Sequence[tuple[Difference, float]], adjustment: Adjustment, the: str = "The"
) -> Iterator[str]:
    """Yield a note that a different seed could change these verdicts."""
    level, more = adjustment.level, f"n_resamples={10 * adjustment.n_resamples + 9}"
    if len(close) > 1:
        yield (
            f"{the} p-values of {len(close)} pairs are so close to {level:g} that a different "
            f"seed could change these verdicts. Use more resamples: {more}."
        )
    elif close:
        ((d, error),) = close
        p = pvalue(d.pvalue_adjusted, level)
        pair = f"{d.system} vs {d.baseline} ({d.metric})" + (f" on {d.task}" if d.task else "")
        yield (
            f"{pair}: p = {p} ± {error:.1g} (Monte-Carlo standard error). "
            f"A different seed could change this verdict. Use more resamples: {more}."
        )


def unpaired_notes(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yield a note that systems are unpaired, with their numbers of units."""
    units, sizes = plural(estimates[0].unit), ""
    rows = {e.system: e.n_segments for e in estimates if e.aggregate is None}
    if len({e.task for e in estimates}) == 1 and len(rows) <= NAMED:
        sizes = f" ({', '.join(f'{n:,} of {name}' for name, n in rows.items())})"
    yield f"Systems are not paired. Each has its own {units}{sizes} and is resampled separately."


def design_notes(designs: Mapping[str, Iterable[Any]], unit: str, segment: str) -> Iterator[str]:
    """Yield, per metric, the effect of groups, and of runs, on the errors of scores.

    `designs` has the estimates per metric, or their `design_effect`, `effective_size`,
    `segment_error` and `run_error` by name.
    """
    for metric, of_metric in designs.items():
        rows = [one if isinstance(one, Mapping) else vars(one) for one in of_metric]
        names = ("design_effect", "effective_size", "segment_error", "run_error")
        known = {name: [one[name] for one in rows if one.get(name) is not None] for name in names}
        if effects := known["design_effect"]:
            times = span([e**0.5 for e in effects], ".2f")
            by = "" if unit == "group" else f" by {unit}"
            yield (
                f"{metric}: grouping {plural(segment)}{by} multiplies "
                f"standard errors by {times} (design effect {span(effects, '.2f')}). The effective "
                f"number of {plural(segment)} is {span(known['effective_size'], '.0f')}."
            )
        if runs := known["run_error"]:
            alone = span(known["segment_error"], ".3g")
            of_runs = span(runs, ".3g")
            alone = f"{metric}: the standard error from {plural(segment)} alone is {alone}"
            yield f"{alone}, and from runs alone {of_runs}."


def span(values: Sequence[float], form: str) -> str:
    """Return ``1.20``, or ``1.20 to 1.60``."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _names(tasks: Iterable[str], part: str) -> str:
    names = distinct(tasks)
    return listed(names) if len(names) <= NAMED else f"{len(names)} {plural(part)}"


#: Rules for notes, each with a function that finds its cases: the most important for correct
#: reading first. If two rules apply to the same case, the stronger one is used.
_RULES: tuple[tuple[Callable[[Facts], Any], Callable[[Facts, Any], Iterator[str]]], ...] = (
    (lambda f: [d for d in f.differences if d.verdict == "cannot tell"], floor_notes),
    (
        lambda f: [
            x for x in f.limits if x.unit != x.segment and x.worth < x.few and not x.is_crossed
        ],
        _few_documents,
    ),
    (
        lambda f: f.adjusting if f.adjusting and f.method != "t" else None,
        _few_resamples,
    ),
    (lambda f: [d for d in f.differences if f.adjusting and f.adjusting.is_apart(d)], _apart),
    (lambda f: [x for limit in f.limits for x in limit.trials], _chance),
    (lambda f: [x for x in f.tasks if x.worth < x.few], _small),
    (lambda f: distinct(name for x in f.tasks for name in x.judges), _judges),
    (lambda f: f.tasks if any(x.gaps for x in f.tasks) else [], _gaps),
    (lambda f: [few for x in f.tasks for few in x.held], _held),
    (
        lambda f: [
            d
            for d in f.differences
            if 0 < d.n_differing < FEW_DIFFERING and d.verdict != "cannot tell"
        ],
        _rough,
    ),
    (
        lambda f: close_calls(f.adjusting, f.differences) if f.adjusting else [],
        lambda f, close: close_notes(close, f.adjusting) if f.adjusting else iter(()),
    ),
    (
        lambda f: [d for d in f.rows if d.verdict == "identical"],
        lambda f, same: f.about(same, f"have the same score on every {f.unit}, so p = 1"),
    ),
    (lambda f: [d for d in f.rows if d.standard_error > 0], _alike),
    (lambda f: [d for d in f.differences if d.claim], _claims),
    (lambda f: [] if f.is_paired else f.estimates, lambda f, rows: unpaired_notes(rows)),
    (lambda f: sorted({d.metric for d in f.differences if d.test in COUNTED}), _counted),
    (
        lambda f: dict.fromkeys((e.task, e.aggregate) for e in f.estimates if e.aggregate),
        _totals,
    ),
    (lambda f: {(d.task, d.metric) for d in f.rows} if has_tasks(f.rows) else (), _tasks),
    (lambda f: f.adjusting, _least),
    (lambda f: f.limits if len(f.limits) == 1 and f.limits[0].are_alone else [], _alone),
    # The effective number of groups of many sizes, if no other note has it.
    (
        lambda f: [x for x in f.limits if x.uneven and x.worth >= x.few and len(f.limits) == 1],
        lambda f, uneven: (f"{limit.uneven}." for limit in uneven),
    ),
    (
        lambda f: f.estimates if len(f.limits) == 1 else [],
        lambda f, rows: design_notes(by_metric(rows), f.limits[0].unit, f.limits[0].segment),
    ),
)
