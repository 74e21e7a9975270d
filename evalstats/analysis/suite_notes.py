"""What a careful reader of a suite should know: one line for each kind of thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from evalstats.analysis.sampling import FEW_DIFFERING
from evalstats.results.suite_records import R
from evalstats.results.suites import SuiteComparison, SuiteEstimates

#: Below these, intervals cover less than they say and tests see little.
_FEW = {"segment": 100, "group": 30}
#: Tasks that a note names; more are counted.
_NAMED = 3


def estimate_notes(result: SuiteEstimates) -> tuple[str, ...]:
    """Say which tasks are small, and what the total is."""
    return (*_size_notes(result), *_total_notes(result.aggregate, result.totals))


def comparison_notes(result: SuiteComparison) -> tuple[str, ...]:
    """Say what limits the verdicts on tasks, and what they are adjusted for."""
    rows = result.rows
    notes = [*_size_notes(result.estimates), *_total_notes(result.aggregate, result.totals)]
    if len(rows) > 1 and result.adjustment != "none":
        within = "" if result.family == "all" else " under one metric"
        how = ": max-T within each, Holm's method over them" if result.adjustment == "max-t" else ""
        notes.append(
            f"p ({result.adjustment}) allows for all rows of tasks{within} together, of all "
            f"pairs{how}; totals are a family of their own."
        )
    same = [d for d in rows if d.n_differing == 0]
    if same:
        notes.append(f"On {_tasks(same)} systems have identical statistics: p = 1.")
    if counted := sorted({d.metric for d in rows if d.test.startswith("mcnemar")}):
        notes.append(
            f"{', '.join(counted)}: 0/1 scores; tasks have McNemar's exact test, and totals the t "
            f"test and random signs of influence values."
        )
    few = [
        d for d in rows if 0 < d.n_differing < FEW_DIFFERING and not d.test.startswith("mcnemar")
    ]
    if few:
        notes.append(
            f"On {_tasks(few)} systems differ on fewer than 10 segments, so that the interval is "
            f"rough and the p-value large."
        )
    opened = [d for d in result if result.is_open(d) and d.n_differing]
    if opened:
        most = max(result.n_multiplied(d) for d in opened)
        enough = ceil(most / result.significance_level - 1e-9) - 1
        more = f": use n_resamples of at least {enough}" if enough > result.n_resamples else ""
        notes.append(
            f"On {_tasks(opened)} no p-value adjusted by {result.adjustment} could reach "
            f"{result.significance_level:g}, whatever the data{more}."
        )
    marked = sum(map(result.disagrees, result))
    if marked:
        notes.append(
            f"† In {marked} of {len(result)} verdict and interval disagree: the verdict is that of "
            f"the adjusted p-value, the interval counts one comparison."
        )
    return tuple(notes)


def _total_notes(aggregate: str | None, totals: Sequence[R]) -> Iterator[str]:
    if totals:
        meaning = {
            "macro": "the mean of the tasks' scores",
            "micro": "the score of all segments of all tasks together",
            "weighted": "the weighted mean of the tasks' scores",
        }.get(str(aggregate), "a function of the tasks' scores")
        yield (
            f"{aggregate}: {meaning}; rows were drawn within each task, so that its error is that "
            f"of other items of these tasks, not of other tasks."
        )


def _size_notes(estimates: SuiteEstimates) -> Iterator[str]:
    rows = estimates.rows
    few = [e for e in rows if e.n_segments < _FEW[e.unit]]
    if few:
        unit = few[0].unit
        yield (
            f"{_tasks(few)} {'has' if len({e.task for e in few}) == 1 else 'have'} fewer than "
            f"{_FEW[unit]} {unit}s: intervals and p-values are rough."
        )


def _tasks(rows: Sequence[R]) -> str:
    names = list(dict.fromkeys(row.task for row in rows))
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} tasks"
