"""Tables by task, as logs and files give them: one task, which may have a name, or a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.compare import comparison
from evalstats.analysis.inputs import Given, as_pairs
from evalstats.analysis.options import Options
from evalstats.analysis.parts import Part
from evalstats.analysis.suite import OF_PAIRS, OF_SCORES, Suite, estimated, options_of
from evalstats.analysis.units import Labels
from evalstats.errors import InputError
from evalstats.results.results import Comparison, Estimates
from evalstats.statistics.extraction import Progress
from evalstats.statistics.segments import SegmentStatistics

Tasks = Mapping[str, Sequence[SegmentStatistics]]
#: Labels by task, labels of the only task, or the name of a label.
Groups = Any


def compare_tasks(
    tasks: Tasks,
    *,
    baseline: str | None = None,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare the systems on one task, as `compare` does, or on several, as `Suite.compare` does.

    Parameters
    ----------
    tasks : mapping of str to sequence of SegmentStatistics
        Tables of the same systems; one task may be called "".
    aggregate, groups, strata
        As in `compare`, of one task; as in `Suite`, of several, which are strata themselves.
    notes : sequence of str
        What is to be said before all other notes.
    baseline, progress, **options
        As in `Suite.compare`.
    """
    asked = options_of(OF_PAIRS, options)
    (first, *_), *_ = tasks.values()
    pairs = as_pairs(first.systems, baseline)
    parts = parts_of(tasks, asked, aggregate, groups, strata)
    return comparison(parts, pairs, baseline, asked, progress).noting(*notes)


def estimate_tasks(
    tasks: Tasks,
    *,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
    **options: Any,
) -> Estimates:
    """Score the systems on one task or several; parameters as in `compare_tasks`."""
    # No test: nothing is drawn where the intervals are those of t.
    asked = replace(options_of(OF_SCORES, options), test="t")
    parts = parts_of(tasks, asked, aggregate, groups, strata)
    return estimated(parts, asked, progress).noting(*notes)


def parts_of(
    tasks: Tasks,
    options: Options,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
) -> list[Part]:
    """Return what is drawn: each task, and the totals of several."""
    if len(tasks) > 1:
        if strata is not None:
            raise InputError("strata are for one task, since several are strata; choose a task")
        return Suite(tasks, aggregate, groups=groups).parts(options)
    ((name, tables),) = tasks.items()
    labels: Labels = groups.get(name) if isinstance(groups, Mapping) else groups
    part = Part(
        Given(list(tables), None, "bleu", labels, strata, aggregate or "micro"), options, name
    )
    return [replace(part, kept=tuple(part.samples()))]
