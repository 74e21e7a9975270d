"""What a careful reader of a result should know, in a sentence each: what the records say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, sqrt

from evalstats.results.records import ComparisonRecord, Difference, EstimateRecord
from evalstats.results.suite_records import R
from evalstats.results.suites import SuiteComparison, SuiteEstimates

#: Below these, intervals cover less than they say and tests see little.
FEW = {"segment": 100, "group": 30}
#: Below it, on how many units systems differ is what is uncertain.
_FEW_DIFFERING = 10
#: Pairs, or tasks, that a note names; more are counted.
NAMED = 3

_RATIOS = {
    "ratio": "Ratios are system / baseline; p is of a ratio of 1.",
    "log-ratio": "Log ratios are ln(system / baseline); p is of a log ratio of 0.",
}


def contrast_notes(contrast: str) -> tuple[str, ...]:
    """Say what a ratio is, and what its p-value is of."""
    return (_RATIOS[contrast],) if contrast in _RATIOS else ()


def claim_notes(result: ComparisonRecord) -> tuple[str, ...]:
    """Say what is claimed, and how surely."""
    level = f"at level {result.significance_level:g}, each pair by itself"
    if result.margin is not None:
        size = f"{result.margin:g}"
        return (
            f"margin {size}: equivalent (the difference lies within ±{size}), not worse (no loss "
            f"of {size} or more), or not shown, {level}; the smallest margin that can be claimed "
            f"is least_margin, or least_loss, of each difference.",
        )
    if result.recovery is not None:
        return (
            f"recovery {result.recovery:g}: not worse (at least {result.recovery:g} of the "
            f"baseline is kept; of errors, at most 1/{result.recovery:g} times as many are made), "
            f"or not shown, {level}; the most that can be claimed is most_recovery of each "
            f"difference.",
        )
    return ()


def design_notes(estimates: Sequence[EstimateRecord]) -> tuple[str, ...]:
    """Say what documents, and runs, add to the errors of scores: one line a metric."""
    notes = []
    for metric in dict.fromkeys(e.metric for e in estimates):
        some = [e for e in estimates if e.metric == metric]
        found = [f"{metric}:"]
        effects = [e.design_effect for e in some if e.design_effect is not None]
        if effects:
            sizes = [e.effective_size for e in some if e.effective_size is not None]
            found.append(
                f"grouped errors are {_span([e**0.5 for e in effects], '.2f')} times those of "
                f"independent segments (design effect {_span(effects, '.2f')}), of which these "
                f"are worth {_span(sizes, '.0f')}."
            )
        runs = [e.run_error for e in some if e.run_error is not None]
        alone = [e.segment_error for e in some if e.segment_error is not None]
        if runs:
            found.append(
                f"standard errors from segments {_span(alone, '.3g')}, from runs "
                f"{_span(runs, '.3g')}."
            )
        if len(found) > 1:
            notes.append(" ".join(found))
    return tuple(notes)


def _span(values: Sequence[float], form: str) -> str:
    """Return ``1.20``, or ``1.20 to 1.60``."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def pair_notes(
    result: ComparisonRecord, differences: Sequence[Difference], unit: str
) -> Iterator[str]:
    """Say what limits the verdicts on pairs."""
    same = [d for d in differences if d.n_differing == 0]
    yield from _about(same, f"have identical statistics on every {unit}: p = 1")
    counted = sorted({d.metric for d in differences if d.test == "mcnemar"})
    if counted:
        yield (
            f"{', '.join(counted)}: 0/1 scores, with McNemar's test, and the intervals of Wilson "
            f"and Tango."
        )
    yield from floor_notes(result, differences)
    few = [d for d in differences if 0 < d.n_differing < _FEW_DIFFERING and d.test != "mcnemar"]
    yield from _about(
        few, f"differ on fewer than 10 {unit}s, so that the interval is rough and the p-value large"
    )
    yield from close_calls(result, differences)


def floor_notes(result: ComparisonRecord, found: Sequence[Difference]) -> Iterator[str]:
    """Say when no p-value can reach the level, whatever the data."""
    level = result.significance_level
    opened = [d for d in found if d.n_differing and result.is_open(d)]
    if not opened:
        return
    m = max(result.n_multiplied(d) for d in opened)
    times = f", times {m} comparisons" if m > 1 else ""
    drawn = [d for d in opened if result.floor_of(d) * m <= level]
    if drawn:
        yield (
            f"With {result.n_resamples} resamples{times} no p-value can reach {level:g} whatever "
            f"the data: use n_resamples of at least {ceil(m / level - 1e-9) - 1}."
        )
    units = [d for d in opened if d not in drawn]
    yield from _about(
        units,
        f"differ on so few {result.estimates[0].unit}s that no p-value{times} can reach "
        f"{level:g}, whatever the data",
    )


def _about(found: Sequence[Difference], what: str) -> Iterator[str]:
    names = [f"{d.system} and {d.baseline} ({d.metric})" for d in found]
    if len(names) > NAMED:
        yield f"{len(names)} pairs {what}."
    elif names:
        yield f"{'; '.join(names)} {what}."


def close_calls(
    result: ComparisonRecord, found: Sequence[Difference], the: str = "The"
) -> Iterator[str]:
    """Say which verdicts another seed might turn."""
    level, close = result.significance_level, []
    for d in found:
        error = d.pvalue_error
        if result.adjustment == "max-t" and d.pvalue_adjusted > d.pvalue:
            error = sqrt(d.pvalue_adjusted * (1 - d.pvalue_adjusted) / result.n_resamples)
        elif error:
            # The verdict uses the adjusted p-value, whose error grows as it did.
            error *= d.pvalue_adjusted / d.pvalue
        if error and not result.is_open(d) and abs(d.pvalue_adjusted - level) < 2 * error:
            close.append((d, error))
    if len(close) > 1:
        yield (
            f"{the} p-values of {len(close)} pairs are within two Monte-Carlo standard errors of "
            f"{level:g}, too close to {level:g} to call: use more resamples."
        )
    for d, error in close if len(close) == 1 else ():
        yield (
            f"{d.system} vs {d.baseline} ({d.metric}): p = {d.pvalue_adjusted:.4f} ± "
            f"{error:.4f} (Monte-Carlo standard error) is too close to {level:g} to call; "
            f"use more resamples."
        )


def estimate_notes(result: SuiteEstimates) -> Iterator[str]:
    """Say which tasks are small, and what the total is."""
    few = [e for e in result.rows if e.n_segments < FEW[e.unit]]
    if few:
        names = _names(few)
        yield (
            f"{names} {'has' if len({e.task for e in few}) == 1 else 'have'} fewer than "
            f"{FEW[few[0].unit]} {few[0].unit}s: intervals and p-values are rough."
        )
    if result.totals:
        meaning = {
            "macro": "the mean of the tasks' scores",
            "micro": "the score of all segments of all tasks together",
            "weighted": "the weighted mean of the tasks' scores",
        }.get(str(result.aggregate), "a function of the tasks' scores")
        yield (
            f"{result.aggregate}: {meaning}; rows were drawn within each task, so that its error "
            f"is that of other items of these tasks, not of other tasks."
        )


def suite_notes(result: SuiteComparison) -> Iterator[str]:
    """Say what limits the verdicts on tasks, and what they are adjusted for."""
    yield from estimate_notes(result.estimates)
    if len(result.rows) > 1 and result.adjustment != "none":
        within = "" if result.family == "all" else " under one metric"
        how = ": max-T within each, Holm's method over them" if result.adjustment == "max-t" else ""
        yield (
            f"p ({result.adjustment}) allows for all rows of tasks{within} together, of all "
            f"pairs{how}; totals are a family of their own."
        )
    if same := [d for d in result.rows if d.n_differing == 0]:
        yield f"On {_names(same)} systems have identical statistics: p = 1."
    if counted := sorted({d.metric for d in result if d.test == "mcnemar"}):
        yield (
            f"{', '.join(counted)}: 0/1 scores, with McNemar's test, and the intervals of Wilson "
            f"and Tango."
        )
    few = [d for d in result.rows if 0 < d.n_differing < _FEW_DIFFERING and d.test != "mcnemar"]
    if few:
        yield (
            f"On {_names(few)} systems differ on fewer than 10 units, so that the interval is "
            f"rough and the p-value large."
        )
    if opened := [d for d in result if d.n_differing and result.is_open(d)]:
        yield (
            f"On {_names(opened)} no p-value adjusted by {result.adjustment} could reach "
            f"{result.significance_level:g}, whatever the data."
        )
    yield from contrast_notes(result.contrast)
    yield from claim_notes(result)


def _names(rows: Sequence[R]) -> str:
    names = list(dict.fromkeys(row.task for row in rows))
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} tasks"
