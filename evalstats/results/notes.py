"""Sentences of results: what a careful reader should know, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil, sqrt
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from evalstats.results.records import (
    CAUTION,
    COUNTED,
    MARK,
    ONE_IN,
    Adjustment,
    Caution,
    Difference,
    by_metric,
    counted,
    distinct,
    listed,
    only,
    plural,
)
from evalstats.results.signatures import part_name

if TYPE_CHECKING:
    from evalstats.designs.trials.repeats import TrialShares
    from evalstats.results.estimates import Estimate

#: Below these, intervals cover less than they say and tests see little: segments, and groups.
FEW, FEW_GROUPS = 100, 30
#: Units that are worth fewer are too few to carry a test that looks again and again; a note says so
#: where others vary far less. Calibrated: `docs/training-run.md` and `docs/stopping.md`.
FEW_CARRY, _FAR_TAILS = 30, 12
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
    "The interval may be too short: in such data 95 % intervals held the truth 65 to 93 % of the "
    "time"
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

    @property
    def what(self) -> str:
        """What has the variance: ``A's score``, or ``B - A``."""
        return (
            f"{self.system}'s score"
            if self.baseline is None
            else f"{self.system} - {self.baseline}"
        )


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


class Facts(NamedTuple):
    """What the rules of a comparison's notes look at: its rows, and the units of each task."""

    adjusting: Adjustment
    estimates: Sequence[Estimate]
    limits: Sequence[Limits]
    method: str  # of intervals
    test: str  # of p-values
    margin: float | None
    recovery: float | None
    is_paired: bool

    @property
    def rows(self) -> list[Difference]:
        """The differences on tasks, without totals."""
        return [d for d in self.adjusting.rows if d.aggregate is None]

    @property
    def part(self) -> str:
        """What tasks are called."""
        return part_name(self.estimates)

    @property
    def unit(self) -> str:
        """What units are called on all tasks."""
        return only((limit.unit for limit in self.limits), "unit")

    @property
    def few_differ(self) -> list[Difference]:
        """Rows on which few units differ, but those of which that says that nothing can be told."""
        few = [d for d in self.rows if 0 < d.n_differing < FEW_DIFFERING]
        return [d for d in few if d.verdict != "cannot tell"]


def comparison_notes(facts: Facts) -> Iterator[str]:
    """Say what limits the verdicts, and then what they are: a sentence a rule."""
    for rule in _RULES:
        yield from rule(facts)


def _floors(facts: Facts) -> Iterator[str]:
    return floor_notes(facts.adjusting, facts.adjusting.rows, facts.estimates[0])


def _limited(facts: Facts) -> Iterator[str]:
    """Say what limits each task; that units are few not where no data could make a verdict."""
    able = {d.task for d in facts.rows if d.verdict != "cannot tell"}
    return limit_notes(facts.limits, [x for x in facts.limits if x.task in able])


def _rough(facts: Facts) -> Iterator[Caution]:
    """Say where few units differ, of which intervals are rough, and counts a little too sure."""
    few = f"differ on fewer than {FEW_DIFFERING} {plural(facts.unit)}, so"
    rough = [d for d in facts.few_differ if d.test not in COUNTED]
    changed = [d for d in facts.few_differ if d.test == "mcnemar"]
    exact = "McNemar's p is smaller than the exact one"
    if len(changed) == 1 and facts.unit == facts.limits[0].segment:
        exact += f" (two-sided {changed[0].exact_pvalue:.4f})"
    said = (rough, "the interval is rough and the p-value large"), (changed, exact)
    for some, what in said:
        for note in _about(facts.rows, some, f"{few} {what}", facts.part):
            yield Caution(note, "few")


def _identical(facts: Facts) -> Iterator[str]:
    same = [d for d in facts.rows if d.verdict == "identical"]
    return _about(facts.rows, same, f"are the same on every {facts.unit}, so p = 1", facts.part)


def _counted(facts: Facts) -> Iterator[str]:
    """Say which metrics are 0/1 scores, and which test these have."""
    if metrics := sorted({d.metric for d in facts.adjusting.rows if d.test in COUNTED}):
        test = "McNemar's test and the intervals of Wilson and Tango"
        if not facts.is_paired:
            test = "the test and interval of Miettinen and Nurminen (1985) and Wilson's intervals"
        are = "is a 0/1 score" if len(metrics) == 1 else "are 0/1 scores"
        yield f"{listed(metrics)} {are}: {test} are used."


def unpaired_notes(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Say that systems are not paired, and how many units each has."""
    units, own = plural(estimates[0].unit), ""
    rows = {e.system: e.n_segments for e in estimates if e.aggregate is None}
    if len({e.task for e in estimates}) == 1 and len(rows) <= NAMED:
        own = f" ({', '.join(f'{n:,} of {name}' for name, n in rows.items())})"
    yield f"Systems are not paired: each has {units} of its own{own} and is resampled by itself."


def _apart(facts: Facts) -> Iterator[str]:
    """Say where an interval leaves the null value out and the verdict is "no evidence", and why."""
    adjustment = facts.adjusting
    every = adjustment.rows
    apart = [d for d in every if adjustment.is_apart(d)]
    adjusted = [d for d in apart if d.pvalue <= adjustment.level]
    alone = [d for d in apart if d.pvalue > adjustment.level]
    several = max(map(adjustment.n_compared, adjusted), default=1)
    name = adjustment.pvalue_name()
    speaks = "each interval is about one difference alone, and"
    rests = f"intervals ({facts.method}) and p-values ({facts.test}) rest on different methods"
    for few, why in (
        (adjusted, f"{speaks} {name} is adjusted for {several} comparisons"),
        (alone, rests),
    ):
        what = f"{len(few)} of {len(every)} intervals leave"
        if len(every) == 1:
            what = "The interval leaves"
        elif len(few) == 1:
            (d,) = few
            on = f" on {d.task}" if d.task else ""
            what = f"The interval of {d.system} - {d.baseline} ({d.metric}){on} leaves"
        if few:
            yield f'{what} out 0, yet the verdict is "no evidence": {why}.'


def _families(facts: Facts) -> Iterator[str]:
    """Say what p-values are adjusted for, where that is more than the pairs of a table."""
    adjustment, part = facts.adjusting, facts.part
    rows = {(d.metric, d.task) for d in adjustment.rows if d.aggregate is None}
    n_pairs = len({(d.system, d.baseline) for d in adjustment.rows})
    n_metrics, n_tasks = (len(set(names)) for names in zip(*rows, strict=True))
    if n_tasks > 1 and n_metrics == len(rows) and not adjustment.is_over_metrics:
        yield (
            f"Each {part} has a metric of its own: p-values are not adjusted for the other "
            f'{plural(part)}, and there is no total without aggregate="macro".'
        )
    elif n_tasks > 1 and adjustment.name != "none":
        within = " under all metrics" if adjustment.is_over_metrics else ""
        pairs = " and pairs" if n_pairs > 1 else ""
        how = "max-T within each and Holm's method over them"
        how = f" (by {how})" if adjustment.name == "max-t" else ""
        yield (
            f"p ({adjustment.name}) is adjusted for the {counted(n_tasks, part)}{pairs}{within}"
            f"{how}. The total is adjusted apart from them."
        )
    n, least = adjustment.n_resamples + 1, 1 / ONE_IN
    alike = [d for d in adjustment.rows if d.pvalue_adjusted == max(n // ONE_IN, 1) / n]
    if adjustment.name == "max-t" and len(alike) > 1:
        yield (
            f"{len(alike)} pairs have p (max-t) = {least:.4f}, the least that resamples show: "
            f"fewer than one in {ONE_IN} has so large a difference. Holm's method gives no less."
        )


def score_notes(estimates: Sequence[Estimate], limits: Sequence[Limits]) -> Iterator[str]:
    """Say what limits the intervals of scores, and what the total is."""
    yield from limit_notes(limits)
    yield from _total_notes(estimates)
    if len(limits) == 1:
        yield from uneven_notes(limits)
        yield from design_notes(by_metric(estimates), estimates[0].unit, estimates[0].segment)


def limit_notes(limits: Sequence[Limits], able: Sequence[Limits] | None = None) -> Iterator[str]:
    """Say what is chance in trials, on what there are too few units, and what is missing.

    Few units are said of those that are `able`, by default of all.
    """
    if trials := [one for limit in limits for one in limit.trials]:
        from evalstats.designs.trials.repeats import trial_notes

        yield from trial_notes(trials)
    rows = [limit for limit in limits if limit.aggregate is None]
    known = limits if able is None else able
    small = [limit for limit in rows if limit.worth < limit.few and limit in known]
    if len(rows) > 1 and small:
        names = _names((limit.task for limit in small), small[0].part)
        have = "has" if len(small) == 1 else "have"
        yield (
            f"{names} {have} fewer than {small[0].few} {plural(small[0].unit)}, so intervals and "
            f"p-values are rough. Use more."
        )
    elif small:
        (one,) = small
        many = one.uneven or f"There are only {counted(one.n, one.unit)}"
        more = f"Use more {plural(one.unit)}"
        if not one.by_t:
            yield f"{many}: intervals and p-values are rough below {one.few}. {more}."
        else:
            if one.unit != one.segment and not one.is_crossed:
                more += "; if these are subjects or domains, give them as strata"
            yield f"{many}: a t test replaces the bootstrap, and intervals are wide. {more}."
    for limit in rows:
        for gap in limit.gaps:
            everywhere = isinstance(gap, Caution) and all(gap in one.gaps for one in rows)
            on_task = f"{limit.task}: {gap.removeprefix(CAUTION)}"
            named = Caution(on_task, gap.kind) if isinstance(gap, Caution) else on_task
            yield gap if len(rows) == 1 or everywhere else named
    yield from _concentration_notes(rows)


def _concentration_notes(limits: Sequence[Limits]) -> Iterator[str]:
    """Say of each metric where few units hold most of a variance: the surest case, and how many."""
    for metric, held in by_metric([few for limit in limits for few in limit.held]).items():
        worst = max(held, key=lambda few: few.share)
        limit = next(limit for limit in limits if worst in limit.held)
        on = f" on {limit.task}" if len(limits) > 1 else ""
        more = f"; {len(held) - 1} more {{}} like it" if len(held) > 1 else ""
        more = more.format("is" if len(held) == 2 else "are")
        may = _OF_SCORES if worst.baseline is None else _OF_PAIRS
        yield (
            f"{metric}: {worst.largest} of {worst.n:,} {plural(limit.unit)} hold"
            f"{'s' if worst.largest == 1 else ''} {100 * worst.share:.0f} % of the variance of "
            f"{worst.what}{on}{more}. {may}. Read these {plural(limit.unit)}, and use more."
        )


def _few_documents(facts: Facts) -> Iterator[str]:
    """Say how often families of verdicts over few documents have a false claim."""
    adjustment = facts.adjusting
    few = [x for x in facts.limits if x.unit != x.segment and x.worth < x.few and not x.is_crossed]
    n_pairs = len({(d.system, d.baseline) for d in adjustment.rows})
    if few and n_pairs > 1 and adjustment.name != "none":
        units = plural(few[0].unit)
        yield (
            f"{MARK} These verdicts rest on few {units}. In tests on WMT25 with 9 to 37 equal "
            f"systems, 20 % of such tables had a false claim, and at worst 40 %, where 5 % may. "
            f"With 3 systems fewer had one, and without groups more. Use more {units}."
        )


def uneven_notes(limits: Sequence[Limits]) -> Iterator[str]:
    """Say what groups of many sizes are worth, where nothing else says so."""
    for limit in limits:
        if limit.uneven and limit.worth >= limit.few:
            yield f"{limit.uneven}."


def _total_notes(estimates: Sequence[Estimate]) -> Iterator[str]:
    totals = [(e.task, e.aggregate) for e in estimates if e.aggregate is not None]
    part = part_name(estimates)
    kinds, first = plural(part), next(e for e in estimates if e.aggregate is None)
    for name, kind in dict.fromkeys(totals):
        how = (
            f"Its interval is about other {plural(first.unit)} of these {kinds}, not about other "
            f"{kinds}."
        )
        if kind == WHOLE:
            how = (
                f"Groups that lie in several {kinds} were drawn whole. {kinds.capitalize()} that "
                f"share groups are not independent, so no test says whether the difference differs "
                f"between them."
            )
        what = TOTALS.get(kind or "", f"{kind} of the {{kind}} scores")
        yield f'The row "{name}" is {what.format(kind=part, kinds=kinds)}. {how}'


def _claims(facts: Facts) -> Iterator[str]:
    """Say what is claimed, and how surely."""
    adjustment = facts.adjusting
    level = f"at level {adjustment.level:g}"
    if (n := max(map(adjustment.n_compared, adjustment.rows))) > 1:
        how = {"max-t": "holm"}.get(adjustment.name, adjustment.name)
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
        below = [d for d in adjustment.rows if d.n_differing and not d.is_tested]
        what = "have a score below 0, so no share of it can be kept"
        yield from _about(facts.rows, below, what, facts.part)


def design_notes(designs: Mapping[str, Iterable[Any]], unit: str, segment: str) -> Iterator[str]:
    """Say what groups of segments, and runs, add to the errors of scores: a line a metric.

    Of each metric the estimates, or their `design_effect`, `effective_size`, `segment_error` and
    `run_error` by name.
    """
    for metric, of_metric in designs.items():
        every = [one if isinstance(one, Mapping) else vars(one) for one in of_metric]
        names = ("design_effect", "effective_size", "segment_error", "run_error")
        known = {name: [one[name] for one in every if one.get(name) is not None] for name in names}
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


def floor_notes(
    adjustment: Adjustment, differences: Sequence[Difference], score: Estimate
) -> Iterator[str]:
    """Say when no p-value can reach the level, whatever the data."""
    level = adjustment.level
    opened = [d for d in differences if d.verdict == "cannot tell"]
    if not opened:
        return
    m = max(adjustment.factor(d) for d in opened)
    times = f" of {m} comparisons" if m > 1 else ""
    drawn = [d for d in opened if adjustment.least(d, d.test, d.n_differing) <= level]
    if drawn:
        yield (
            f"With {adjustment.n_resamples} resamples no p-value{times} can reach {level:g}, "
            f"whatever the data. Use at least {ceil(m / level - 1e-9) - 1} resamples."
        )
    few = f"differ on so few {plural(score.unit)} that no p-value{times} can reach "
    few += f"{level:g}, whatever the data. Use more"
    rows = [d for d in adjustment.rows if d.aggregate is None]
    opened = [d for d in opened if d not in drawn]
    yield from _about(rows, opened, few, part_name([score]))


def close_calls(
    adjustment: Adjustment, differences: Sequence[Difference], the: str = "The"
) -> Iterator[str]:
    """Say which verdicts another seed might turn."""
    level = adjustment.level
    close: list[tuple[Difference, float]] = []
    for d in differences:
        error = d.pvalue_error
        if adjustment.name == "max-t" and d.pvalue_adjusted > d.pvalue:
            error = sqrt(d.pvalue_adjusted * (1 - d.pvalue_adjusted) / adjustment.n_resamples)
        elif error:
            # The verdict uses the adjusted p-value, whose error grows as it did.
            error *= d.pvalue_adjusted / d.pvalue
        is_open = error and d.verdict != "cannot tell"
        if is_open and abs(d.pvalue_adjusted - level) < 2 * error:
            close.append((d, error))
    if len(close) > 1:
        yield (
            f"{the} p-values of {len(close)} pairs are so near {level:g} that another seed may "
            f"turn these verdicts. Use more resamples."
        )
    elif close:
        ((d, error),) = close
        pair = f"{d.system} vs {d.baseline} ({d.metric})" + (f" on {d.task}" if d.task else "")
        yield (
            f"{pair}: p = {d.pvalue_adjusted:.4f} ± {error:.4f} (Monte-Carlo standard error). "
            f"Another seed may turn this verdict. Use more resamples."
        )


def carried_notes(
    tests: Sequence[tuple[int, float]], unit: str, compared: str, consequence: str
) -> Iterator[str]:
    """Yield a note if in at least half of the tests few units among many hold the difference.

    Of each test on how many units scores differ, and the effective number of these.
    """
    narrow = [x for x in tests if x[1] < FEW_CARRY and x[0] > _FAR_TAILS * x[1]]
    if narrow and 2 * len(narrow) >= len(tests):
        differ, worth = (median(x) for x in zip(*narrow, strict=True))
        yield (
            f"Of the {differ:.0f} {plural(unit)} that differ{compared}, about {worth:.0f} hold "
            f"most of the difference. {consequence} (simulated at level 0.05). Look at these "
            f"outputs, or use more {plural(unit)}."
        )


def _about(
    rows: Sequence[Difference], few: Sequence[Difference], what: str, part: str
) -> Iterator[str]:
    """Say what is so of these few differences, among the rows of all tasks."""
    if few and len({d.task for d in rows}) > 1:
        yield f"On {_names((d.task for d in few), part)}, systems {what}."
    elif len(few) > NAMED:
        yield f"{len(few)} pairs {what}."
    elif few:
        pairs: dict[str, list[str]] = {}
        for d in few:
            pairs.setdefault(f"{d.system} and {d.baseline}", []).append(d.metric)
        yield f"{'; '.join(f'{pair} ({listed(of)})' for pair, of in pairs.items())} {what}."


def _names(tasks: Iterable[str], part: str) -> str:
    names = distinct(tasks)
    return listed(names) if len(names) <= NAMED else f"{len(names)} {plural(part)}"


def _close(facts: Facts) -> Iterator[str]:
    return close_calls(facts.adjusting, facts.adjusting.rows)


def _unpaired(facts: Facts) -> Iterator[str]:
    return iter(()) if facts.is_paired else unpaired_notes(facts.estimates)


def _below(facts: Facts) -> Iterator[str]:
    """Say what totals are, what p-values allow for, and what groups and runs add to errors."""
    yield from _total_notes(facts.estimates)
    yield from _families(facts)
    if len(facts.limits) == 1:
        first = facts.estimates[0]
        yield from uneven_notes(facts.limits)
        yield from design_notes(by_metric(facts.estimates), first.unit, first.segment)


#: What is said of a comparison: the more wrong a reader would be without it, the earlier.
_RULES: tuple[Callable[[Facts], Iterator[str]], ...] = (
    _floors,
    _few_documents,
    _apart,
    _limited,
    _rough,
    _close,
    _identical,
    _claims,
    _unpaired,
    _counted,
    _below,
)
