"""Runs in, comparison out: one task, or a suite of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.suite import Suite
from evalstats.checks import also_called
from evalstats.errors import InputError
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.runs.joining import Joined, Runs, asked_twice, joined
from evalstats.runs.run import Patterns
from evalstats.statistics.segments import SegmentStatistics


@also_called(metrics="metric", seed="rng")
def compare_runs(
    runs: Runs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    groups: str | None = None,
    strata: str | None = None,
    aggregate: Aggregated | None = None,
    missing: str = "error",
    **options: Any,
) -> Comparison:
    """Compare the runs of several systems, joined by the ids of their items.

    Parameters
    ----------
    runs : sequence or mapping of Run, path or frame, or one of them
        Logs of at least two systems, or one table with the scores of several; a mapping gives them
        names.
    task, metric, filter : str or sequence of str, optional
        What to compare, as shells match file names; by default all there is.
    groups, strata : str, optional
        Labels of the items, by name: a column of a table, or a path of keys in the log
        (``"doc.passage_id"``). Strata are for one task: several are strata themselves.
    aggregate
        Of several tasks what the total is, as in `Suite`; of one task as in `compare`.
    missing : {"error", "intersect", "available"}
        What to do where not all runs have the same items, metrics or tasks: refuse, or compare what
        all have; where scores are missing in a table, ``"available"`` takes the mean of those that
        there are. The notes say how many were left out.
    **options
        As in `compare`, or for several tasks in `Suite.compare`.

    Returns
    -------
    Comparison
        Of one task, or of several with their total.

    Raises
    ------
    InputError
        For what cannot be read or joined, and for options that do not go with several tasks.
    """
    labels: dict[str, Any] = {"groups": groups, "strata": strata}
    found = _joined(runs, task, metric, filter, labels, missing)
    if len(found.tasks) > 1:
        whole = _suite(found, aggregate, groups, strata).compare(**options)
        return whole.noting(*found.notes, *asked_twice(found.tasks))
    result = compare(_only(found), aggregate=aggregate or "micro", **labels, **options)
    return result.noting(*found.notes)


@also_called(metrics="metric", seed="rng")
def estimate_runs(
    runs: Runs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    groups: str | None = None,
    strata: str | None = None,
    aggregate: Aggregated | None = None,
    missing: str = "error",
    **options: Any,
) -> Estimate | Estimates:
    """Score one run, or several, on one task or several, and say how sure the scores are.

    Parameters are those of `compare_runs`; options those of `estimate`, or of `Suite.estimate`.
    """
    labels: dict[str, Any] = {"groups": groups, "strata": strata}
    found = _joined(runs, task, metric, filter, labels, missing)
    if len(found.tasks) > 1:
        whole = _suite(found, aggregate, groups, strata).estimate(**options)
        return whole.noting(*found.notes, *asked_twice(found.tasks))
    result: Any = estimate(_only(found), aggregate=aggregate or "micro", **labels, **options)
    noted: Estimate | Estimates = result.noting(*found.notes)
    return noted


def _joined(
    runs: Runs,
    task: Patterns,
    metric: Patterns,
    filter: Patterns,
    labels: Mapping[str, str | None],
    missing: str,
) -> Joined:
    names = [name for name in labels.values() if name is not None]
    return joined(runs, task=task, metric=metric, filter=filter, labels=names, missing=missing)


def _only(found: Joined) -> list[SegmentStatistics]:
    """Return the tables of the only task."""
    (tables,) = found.tasks.values()
    return tables


def _suite(
    found: Joined, aggregate: Aggregated | None, groups: str | None, strata: str | None
) -> Suite:
    if strata is not None:
        raise InputError("strata are for one task, since several are strata; choose with task")
    return Suite(found.tasks, aggregate, groups=groups)
