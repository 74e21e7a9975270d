"""Sentences of results: what a careful reader should know, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
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

#: Below these, intervals cover less than they say and tests see little: segments, and groups.
FEW, FEW_GROUPS = 100, 30
#: Below it, on how many units systems differ is what is uncertain.
FEW_DIFFERING = 10
#: Groups of which one size would do with fewer than such a share are of very different sizes.
UNEVEN = 0.8
#: Pairs, tasks or systems that a note names; more are counted.
NAMED = 3

#: What few units that hold most of a variance did where it was measured (`docs/method.md`).
_OF_PAIRS = (
    "The interval may be too short and the p-value too small: in such data up to one pair of equal "
    "systems in six differed at 0.05"
)
_OF_SCORES = (
    "The interval may be too short: in such data 95% intervals held the truth 65 to 93% of the time"
)

#: The total of strata that share groups: these are drawn as they are in all segments together.
WHOLE = "whole groups"
#: What totals are, by name, of tasks or domains.
TOTALS = {
    "macro": "the mean of the {kind} scores (macro average)",
    "micro": "the score of all {kinds} together (micro average)",
    "weighted": "a weighted mean of the {kind} scores",
    WHOLE: "the score of all {kinds} together",
}


class Concentration(NamedTuple):
    """How few units hold most of the variance of a score, or of a difference."""

    metric: str
    system: str
    baseline: str | None  # none of a score
    largest: int  # units
    n: int  # of so many
    share: float  # of the variance that they hold


class Limits(NamedTuple):
    """What limits all that can be said of a task, or of a total."""

    task: str
    aggregate: str | None
    n: int  # units
    unit: str
    segment: str  # of which groups consist; else the unit
    part: str  # what tasks are called
    worth: float  # the number of units of one size that say as much
    sizes: tuple[int, ...] = ()  # of groups the smallest and the largest
    by_t: bool = False  # whether there are so few units that t decides, but for 0/1 scores
    is_crossed: bool = False  # whether units have two labels, of which this is the one with fewer
    gaps: tuple[str, ...] = ()  # sentences on missing scores, and on judges
    held: tuple[Concentration, ...] = ()  # scores, or differences, that rest on few units
    trials: tuple[TrialShares, ...] = ()  # of items with several answers

    @property
    def few(self) -> int:
        """The number of units below which they are few."""
        return FEW if self.unit == self.segment else FEW_GROUPS

    @property
    def uneven(self) -> str:
        """What groups of very different sizes are worth, where they are."""
        if not self.sizes or self.worth >= UNEVEN * self.n:
            return ""
        return (
            f"{self.n} {plural(self.unit)} of {self.sizes[0]} to {self.sizes[1]} "
            f"{plural(self.segment)} tell as much as about {self.worth:.3g} of equal size"
        )


@dataclass(frozen=True)
class Facts:
    """What the rules look at: units of each task, scores, and differences with their p-values.

    Without differences it is scores that are spoken of; without scores the units alone.
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
        """What limits each task, without totals."""
        return [limit for limit in self.limits if limit.aggregate is None]

    @property
    def unit(self) -> str:
        """What units are called on all tasks."""
        return only((limit.unit for limit in self.limits), "unit")

    def about(self, few: Sequence[Difference], what: str) -> Iterator[str]:
        """Say what is so of these few differences, or of the tasks that they are on."""
        if few and len({d.task for d in self.rows}) > 1:
            yield f"On {_names((d.task for d in few), self.limits[0].part)}, systems {what}."
        elif len(few) > NAMED:
            yield f"{len(few)} pairs {what}."
        elif few:
            pairs = ((pair, listed(d.metric for d in rows)) for pair, rows in by_pair(few).items())
            named = "; ".join(f"{a} and {b} ({metrics})" for (a, b), metrics in pairs)
            yield f"{named} {what}."


def notes_of(facts: Facts) -> Iterator[str]:
    """Say what limits the verdicts, and then what they are: where a rule finds something."""
    for find, say in _RULES:
        if concerned := find(facts):
            yield from say(facts, concerned)


def _few_documents(facts: Facts, few: Sequence[Limits]) -> Iterator[str]:
    """Say how often families of verdicts over few documents have a false claim."""
    if facts.adjusting is None or facts.adjusting.name == "none" or len(by_pair(facts.rows)) < 2:
        # One pair is no family.
        return
    units = plural(few[0].unit)
    yield (
        f"{MARK} These verdicts rest on few {units}. In tests on WMT25 with 9 to 37 equal systems, "
        f"20% of such tables had a false claim, and at worst 40%, where 5% may. With 3 systems "
        f"fewer had one, and without groups more. Use more {units}."
    )


def _apart(facts: Facts, apart: Sequence[Difference]) -> Iterator[str]:
    """Say that an interval leaves 0 out and the verdict is "no evidence", and why."""
    adjusting, n = facts.adjusting, len(facts.differences)
    assert adjusting is not None
    adjusted = [d for d in apart if d.pvalue <= adjusting.level]
    alone = [d for d in apart if d.pvalue > adjusting.level]
    several = max(map(adjusting.n_compared, adjusted), default=1)
    why = (
        f"each interval is about one difference alone, and {adjusting.pvalue_name} allows "
        f"for {several} comparisons",
        f"intervals ({facts.method}) and p-values ({facts.test}) rest on different methods",
    )
    for few, reason in zip((adjusted, alone), why, strict=True):
        what = f"{len(few)} of {n} intervals leave"
        if n == 1:
            what = "The interval leaves"
        elif len(few) == 1:
            (d,) = few
            on = f" on {d.task}" if d.task else ""
            what = f"The interval of {d.system} - {d.baseline} ({d.metric}){on} leaves"
        if few:
            yield f'{what} out 0, yet the verdict is "no evidence": {reason}.'


def _chance(facts: Facts, trials: Sequence[TrialShares]) -> Iterator[str]:
    from evalstats.designs.trials.cases import trial_notes

    return trial_notes(trials)


def _small(facts: Facts, small: Sequence[Limits]) -> Iterator[str]:
    """Say that there are few units."""
    # That is said already where no data could make a verdict.
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
            f"p-values are rough. Use more."
        )
        return
    many = first.uneven or f"There are only {counted(first.n, first.unit)}"
    more = f"Use more {plural(first.unit)}"
    if not first.by_t:
        yield f"{many}: intervals and p-values are rough below {first.few}. {more}."
        return
    if first.unit != first.segment and not first.is_crossed:
        more += "; if these are subjects or domains, give them as strata"
    yield f"{many}: a t test replaces the bootstrap, and intervals are wide. {more}."


def _gaps(facts: Facts, tasks: Sequence[Limits]) -> Iterator[str]:
    """Say what is missing, and of judges, on each task; of one task what its units should be."""
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


def _held(facts: Facts, concentrations: Sequence[Concentration]) -> Iterator[str]:
    """Say of each metric where few units hold most of a variance: the surest case, and how many."""
    for metric, held in by_metric(concentrations).items():
        worst = max(held, key=lambda few: few.share)
        limit = next(limit for limit in facts.tasks if worst in limit.held)
        on = f" on {limit.task}" if len(facts.tasks) > 1 else ""
        more = f"; {len(held) - 1} more {{}} like it" if len(held) > 1 else ""
        more = more.format("is" if len(held) == 2 else "are")
        whose, may = f"{worst.system} - {worst.baseline}", _OF_PAIRS
        if worst.baseline is None:
            whose, may = f"{worst.system}'s score", _OF_SCORES
        yield (
            f"{metric}: {worst.largest} of {worst.n:,} {plural(limit.unit)} hold"
            f"{'s' if worst.largest == 1 else ''} {100 * worst.share:.0f}% of the variance of "
            f"{whose}{on}{more}. {may}. Read these {plural(limit.unit)}, and use more."
        )


def _alike(facts: Facts, rows: Sequence[Difference]) -> Iterator[str]:
    """Say which metrics have the same numbers, such as ROUGE-L and ROUGE-Lsum of single lines."""
    numbers: dict[Any, list[str]] = {}
    for metric, of_metric in by_metric(rows).items():
        same = [(d.task, d.baseline, d.system, d.difference, d.standard_error) for d in of_metric]
        numbers.setdefault(tuple(same), []).append(metric)
    for metrics in numbers.values():
        if len(metrics) > 1:
            yield f"{listed(metrics)} have the same scores, and are one result."


def _rough(facts: Facts, few: Sequence[Difference]) -> Iterator[Caution]:
    """Say where few units differ, of which intervals are rough, and counts a little too sure."""
    rough = [d for d in few if d.test not in COUNTED]
    changed = [d for d in few if d.test == "mcnemar"]
    exact = "McNemar's p is smaller than the exact one"
    p = changed[0].exact_pvalue if len(changed) == 1 else None
    if p is not None and facts.unit == facts.limits[0].segment:
        exact += f" (two-sided {pvalue(p)})"
    so = f"differ on fewer than {FEW_DIFFERING} {plural(facts.unit)}, so"
    said = (rough, "the interval is rough and the p-value large"), (changed, exact)
    for rows, what in said:
        yield from (Caution(note, "few") for note in facts.about(rows, f"{so} {what}"))


def _claims(facts: Facts, claimed: Sequence[Difference]) -> Iterator[str]:
    """Say what is claimed, and how surely."""
    adjusting = facts.adjusting
    assert adjusting is not None
    level = f"at level {adjusting.level:g}"
    if (n := max(map(adjusting.n_compared, claimed))) > 1:
        how = {"max-t": "holm"}.get(adjusting.name, adjusting.name)
        adjusted = f"adjusted for {n} comparisons ({how})"
        level += f", {'each by itself' if how == 'none' else adjusted}"
    if (size := facts.margin) is not None:
        yield (
            f'With a margin of {size:g}, "equivalent" means that the difference is within '
            f'±{size:g}, "not worse" that less than {size:g} is lost, and "not shown" that neither '
            f"is shown, {level}. CSV and JSON have the smallest margin that can be claimed."
        )
    if (size := facts.recovery) is not None:
        yield (
            f'With a recovery of {size:g}, "not worse" means that at least {size:g} of the '
            f"baseline's score is kept, or that at most 1/{size:g} times as many errors are made, "
            f"{level}. CSV and JSON have the largest share that can be claimed."
        )
        below = [d for d in claimed if d.n_differing and not d.is_tested]
        yield from facts.about(below, "have a score below 0, so no share of it can be kept")


def _counted(facts: Facts, metrics: Sequence[str]) -> Iterator[str]:
    """Say which metrics are 0/1 scores, and which test these have."""
    test = "McNemar's test and the intervals of Wilson and Tango"
    if any(d.test == "cluster-t" for d in facts.differences):
        test = f"t tests and intervals by {facts.unit}, and Wilson's intervals of scores,"
    if not facts.is_paired:
        test = "the test and interval of Miettinen and Nurminen (1985) and Wilson's intervals"
    are = "is a 0/1 score" if len(metrics) == 1 else "are 0/1 scores"
    yield f"{listed(metrics)} {are}: {test} are used."


def _totals(facts: Facts, totals: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Say what each total is, and what its interval is about."""
    part, unit = facts.limits[0].part, next(e for e in facts.estimates if e.aggregate is None).unit
    kinds = plural(part)
    for name, kind in totals:
        others = f"about other {plural(unit)} of these {kinds}, not about other {kinds}"
        how = f"Its interval is {others}."
        if kind == WHOLE:
            how = (
                f"Groups that lie in several {kinds} were drawn whole. {kinds.capitalize()} that "
                f"share groups are not independent, so no test says whether the difference differs "
                f"between them."
            )
        what = TOTALS.get(kind, f"{kind} of the {{kind}} scores")
        yield f'The row "{name}" is {what.format(kind=part, kinds=kinds)}. {how}'


def _tasks(facts: Facts, places: set[tuple[str, str]]) -> Iterator[str]:
    """Say that p-values are adjusted for several tasks, or are not, of these tasks and metrics."""
    adjusting, part = facts.adjusting, facts.limits[0].part
    assert adjusting is not None
    n_tasks, n_metrics = (len(set(names)) for names in zip(*places, strict=True))
    if n_metrics == len(places) and not adjusting.is_over_metrics:
        yield (
            f"Each {part} has a metric of its own: p-values are not adjusted for the other "
            f'{plural(part)}, and there is no total without aggregate="macro".'
        )
    elif adjusting.name != "none":
        within = " under all metrics" if adjusting.is_over_metrics else ""
        pairs = " and pairs" if len(by_pair(facts.differences)) > 1 else ""
        how = "max-T within each and Holm's method over them"
        how = f" (by {how})" if adjusting.name == "max-t" else ""
        yield (
            f"p (adjusted) allows for the {counted(n_tasks, part)}{pairs}{within}"
            f"{how}. The total is adjusted apart from them."
        )


def _least(facts: Facts, adjusting: Adjustment) -> Iterator[str]:
    """Say where several p-values are the least that resamples show."""
    n = adjusting.n_resamples + 1
    alike = [d for d in facts.differences if d.pvalue_adjusted == max(n // ONE_IN, 1) / n]
    if adjusting.name == "max-t" and len(alike) > 1:
        yield (
            f"{len(alike)} pairs have p (adjusted) = {pvalue(1 / ONE_IN)}, the least that "
            f"resamples show: fewer than one in {ONE_IN} has so large a difference. Holm's "
            f"method gives no less."
        )


def floor_notes(facts: Facts, opened: Sequence[Difference]) -> Iterator[str]:
    """Say that no p-value of these can reach the level, whatever the data."""
    adjustment = facts.adjusting
    if adjustment is None or not opened:
        return
    level = adjustment.level
    m = max(adjustment.factor(d) for d in opened)
    times = f" of {m} comparisons" if m > 1 else ""
    drawn = [d for d in opened if adjustment.least(d, d.test, d.n_differing) <= level]
    if drawn:
        yield (
            f"With {adjustment.n_resamples} resamples no p-value{times} can reach {level:g}, "
            f"whatever the data. Use at least {ceil(m / level - 1e-9) - 1} resamples."
        )
    few = f"differ on so few {plural(facts.limits[0].unit)} that no p-value{times} can reach "
    few += f"{level:g}, whatever the data. Use more"
    yield from facts.about([d for d in opened if d not in drawn], few)


def close_calls(
    adjustment: Adjustment, differences: Sequence[Difference]
) -> list[tuple[Difference, float]]:
    """Return differences whose verdicts another seed might turn, with their Monte-Carlo errors."""
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
    close: Sequence[tuple[Difference, float]], level: float, the: str = "The"
) -> Iterator[str]:
    """Say that another seed might turn these verdicts."""
    if len(close) > 1:
        yield (
            f"{the} p-values of {len(close)} pairs are so near {level:g} that another seed may "
            f"turn these verdicts. Use more resamples."
        )
    elif close:
        ((d, error),) = close
        p = pvalue(d.pvalue_adjusted, level)
        pair = f"{d.system} vs {d.baseline} ({d.metric})" + (f" on {d.task}" if d.task else "")
        yield (
            f"{pair}: p = {p} ± {error:.1g} (Monte-Carlo standard error). "
            f"Another seed may turn this verdict. Use more resamples."
        )


def unpaired_notes(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Say that systems are not paired, and how many units each has."""
    units, sizes = plural(estimates[0].unit), ""
    rows = {e.system: e.n_segments for e in estimates if e.aggregate is None}
    if len({e.task for e in estimates}) == 1 and len(rows) <= NAMED:
        sizes = f" ({', '.join(f'{n:,} of {name}' for name, n in rows.items())})"
    yield f"Systems are not paired: each has {units} of its own{sizes} and is resampled by itself."


def design_notes(designs: Mapping[str, Iterable[Any]], unit: str, segment: str) -> Iterator[str]:
    """Say what groups of segments, and runs, add to the errors of scores: a line a metric.

    Of each metric the estimates, or their `design_effect`, `effective_size`, `segment_error` and
    `run_error` by name.
    """
    for metric, of_metric in designs.items():
        rows = [one if isinstance(one, Mapping) else vars(one) for one in of_metric]
        names = ("design_effect", "effective_size", "segment_error", "run_error")
        known = {name: [one[name] for one in rows if one.get(name) is not None] for name in names}
        if effects := known["design_effect"]:
            times = span([e**0.5 for e in effects], ".2f")
            yield (
                f"{metric}: counting {plural(unit)} in place of {plural(segment)} multiplies "
                f"standard errors by {times} (design effect {span(effects, '.2f')}). These "
                f"{plural(segment)} tell as much as {span(known['effective_size'], '.0f')} "
                f"independent ones."
            )
        if runs := known["run_error"]:
            alone = span(known["segment_error"], ".3g")
            of_runs = span(runs, ".3g")
            alone = f"{metric}: {plural(segment)} alone give a standard error of {alone}"
            yield f"{alone}, and runs alone {of_runs}."


def span(values: Sequence[float], form: str) -> str:
    """Return ``1.20``, or ``1.20 to 1.60``."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _names(tasks: Iterable[str], part: str) -> str:
    names = distinct(tasks)
    return listed(names) if len(names) <= NAMED else f"{len(names)} {plural(part)}"


#: What is said, and what it is said of, which a rule looks for first: the more wrong a reader would
#: be without it, the earlier. Where two would say the same the stronger one speaks.
_RULES: tuple[tuple[Callable[[Facts], Any], Callable[[Facts, Any], Iterator[str]]], ...] = (
    (lambda f: [d for d in f.differences if d.verdict == "cannot tell"], floor_notes),
    (
        lambda f: [
            x for x in f.limits if x.unit != x.segment and x.worth < x.few and not x.is_crossed
        ],
        _few_documents,
    ),
    (lambda f: [d for d in f.differences if f.adjusting and f.adjusting.is_apart(d)], _apart),
    (lambda f: [x for limit in f.limits for x in limit.trials], _chance),
    (lambda f: [x for x in f.tasks if x.worth < x.few], _small),
    (lambda f: f.tasks if any(x.gaps for x in f.tasks) else [], _gaps),
    (lambda f: [few for x in f.tasks for few in x.held], _held),
    (
        lambda f: [
            d for d in f.rows if 0 < d.n_differing < FEW_DIFFERING and d.verdict != "cannot tell"
        ],
        _rough,
    ),
    (
        lambda f: close_calls(f.adjusting, f.differences) if f.adjusting else [],
        lambda f, close: close_notes(close, f.adjusting.level if f.adjusting else 0.0),
    ),
    (
        lambda f: [d for d in f.rows if d.verdict == "identical"],
        lambda f, same: f.about(same, f"are the same on every {f.unit}, so p = 1"),
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
    # What groups of many sizes are worth, where nothing else says so.
    (
        lambda f: [x for x in f.limits if x.uneven and x.worth >= x.few and len(f.limits) == 1],
        lambda f, uneven: (f"{limit.uneven}." for limit in uneven),
    ),
    (
        lambda f: f.estimates if len(f.limits) == 1 else [],
        lambda f, rows: design_notes(by_metric(rows), f.limits[0].unit, f.limits[0].segment),
    ),
)
