"""Runs in, comparison out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.ranking import Ranker
from evalstats.errors import InputError
from evalstats.results.results import Comparison, Estimate
from evalstats.runs.joining import Joined, Runs, joined
from evalstats.runs.run import Patterns


def compare_runs(
    runs: Runs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    groups: str | None = None,
    strata: str | None = None,
    missing: str = "error",
    **options: Any,
) -> Any:
    """Compare the runs of several systems, joined by the ids of their items.

    Parameters
    ----------
    runs : sequence or mapping of Run or path
        Logs of at least two systems, or one table with the scores of several; a mapping gives them
        names.
    task, metric, filter : str or sequence of str, optional
        What to compare, as in `read_run`; by default all there is.
    groups, strata : str, optional
        Labels of the items, by name: a column of a table, or a path of keys in the log
        (``"doc.passage_id"``).
    missing : {"error", "intersect", "available"}
        What to do where not all runs have the same items, metrics or tasks: refuse, or compare what
        all have; where scores are missing in a table, ``"available"`` takes the mean of those that
        there are. The notes say how many were left out.
    **options
        As in `compare`.

    Returns
    -------
    Comparison
    """
    found = _joined(runs, task, metric, filter, groups, strata, missing)
    tables = _one_task(found)
    return with_notes(compare(tables, groups=groups, strata=strata, **options), found.notes)


def with_notes(result: Comparison, notes: Sequence[str]) -> Comparison:
    """Return a comparison, and rankings of it, that say first what is to be said of the runs."""
    ranker = result.ranker
    if isinstance(ranker, Ranker):
        ranker = replace(ranker, notes=(*notes, *ranker.notes))
    return replace(result, notes=(*notes, *result.notes), ranker=ranker)


def estimate_runs(
    runs: Runs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    groups: str | None = None,
    strata: str | None = None,
    missing: str = "error",
    **options: Any,
) -> Any:
    """Score one run, or several, and say how sure the scores are; as `compare_runs`."""
    found = _joined(runs, task, metric, filter, groups, strata, missing)
    result = estimate(_one_task(found), groups=groups, strata=strata, **options)
    if isinstance(result, Estimate):
        return replace(result, notes=(*found.notes, *result.notes))
    noted = [replace(e, notes=(*found.notes, *e.notes)) for e in result.estimates]
    return replace(result, estimates=tuple(noted))


def _joined(
    runs: Runs,
    task: Patterns,
    metric: Patterns,
    filter: Patterns,
    groups: str | None,
    strata: str | None,
    missing: str,
) -> Joined:
    labels = [name for name in (groups, strata) if name is not None]
    return joined(runs, task=task, metric=metric, filter=filter, labels=labels, missing=missing)


def _one_task(found: Joined) -> Any:
    if len(found.tasks) > 1:
        raise InputError(f"task must be one of {', '.join(found.tasks)}")
    return next(iter(found.tasks.values()))
