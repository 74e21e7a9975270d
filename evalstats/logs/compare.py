"""Logs in, comparison out: of one task, or of several with their total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.inputs import labels_of
from evalstats.analysis.ranking import Ranker
from evalstats.analysis.suite import Suite
from evalstats.checks import also_called
from evalstats.errors import InputError
from evalstats.logs.joining import Joined, Logs, asked_twice, joined
from evalstats.logs.log import Patterns
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.results.suites import SuiteComparison, SuiteEstimates

#: What says which rows are meant.
_PARTS = ("task", "metric", "filter", "systems", "missing", "epochs", "directions")


@also_called(metrics="metric", seed="rng")
def compare_logs(
    logs: Logs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    systems: Patterns = None,
    groups: str | None = None,
    strata: str | None = None,
    aggregate: Aggregated | None = None,
    missing: str = "error",
    epochs: str | None = None,
    directions: Mapping[str, str] | None = None,
    **options: Any,
) -> Comparison | SuiteComparison:
    """Compare systems by their logs, joined by the ids of their items.

    Parameters
    ----------
    logs : sequence or mapping of Log, path or frame, or one of them
        Logs of at least two systems, in any number of files and folders; those of other tasks of
        one system are joined. A mapping gives names to logs of one system each.
    task, metric, filter : str or sequence of str, optional
        What to compare, as shells match file names; by default all there is.
    systems : str or sequence of str, optional
        Which systems, by patterns as well, and in which order.
    groups, strata : str, optional
        Labels of the items, by name: a column of a table, or a path of keys in the log
        (``"doc.passage_id"``). Strata are for one task: several are strata themselves.
    aggregate
        Of several tasks what the total is, as in `Suite`; of one task as in `compare`.
    missing : {"error", "intersect", "available"}
        What to do where not all systems have the same items, metrics or tasks: refuse, or compare
        what all have; where scores are missing, ``"available"`` takes the mean of those that there
        are. The notes say how many were left out.
    epochs : {"mean", "runs"}, optional
        What several answers to an item are, as in `read_log`; by default what the first log says.
    directions : mapping of str to {"higher", "lower"}, optional
        What is better under a metric whose name does not say it, as in `read_log`.
    **options
        As in `compare`, or for several tasks in `Suite.compare`.

    Returns
    -------
    Comparison or SuiteComparison
        Of one task, or of several with their total.

    Raises
    ------
    InputError
        For what cannot be read or joined, and for options that do not go with several tasks.
    """
    labels: dict[str, Any] = {"groups": groups, "strata": strata}
    found = joined(
        logs, task=task, metric=metric, filter=filter, systems=systems, missing=missing,
        labels=_given(labels), epochs=epochs, directions=directions,
    )  # fmt: skip
    if len(found.tasks) > 1:
        whole = _suite(found, aggregate, labels).compare(**options)
        return replace(whole, notes=(*found.notes, *asked_twice(found.tasks), *whole.notes))
    (tables,) = found.tasks.values()
    result = compare(tables, aggregate=aggregate or "micro", **labels, **options)
    return with_notes(result, found.notes)


def with_notes(result: Comparison, notes: Sequence[str]) -> Comparison:
    """Return a comparison, and rankings of it, that say first what is to be said of the logs."""
    ranker = result.ranker
    if isinstance(ranker, Ranker):
        ranker = replace(ranker, notes=(*notes, *ranker.notes))
    return replace(result, notes=(*notes, *result.notes), ranker=ranker)


@also_called(metrics="metric", seed="rng")
def estimate_logs(
    logs: Logs,
    *,
    groups: str | None = None,
    strata: str | None = None,
    aggregate: Aggregated | None = None,
    **options: Any,
) -> Estimate | Estimates | SuiteEstimates:
    """Score one system, or several, on one task or several, and say how sure the scores are.

    Parameters are those of `compare_logs`; options those of `estimate`, or of `Suite.estimate`.
    """
    labels: dict[str, Any] = {"groups": groups, "strata": strata}
    part = {name: options.pop(name) for name in _PARTS if name in options}
    found = joined(logs, labels=_given(labels), **part)
    if len(found.tasks) > 1:
        whole = _suite(found, aggregate, labels).estimate(**options)
        return replace(whole, notes=(*found.notes, *asked_twice(found.tasks), *whole.notes))
    (tables,) = found.tasks.values()
    result: Any = estimate(tables, aggregate=aggregate or "micro", **labels, **options)
    if isinstance(result, Estimate):
        return replace(result, notes=(*found.notes, *result.notes))
    return Estimates(tuple(replace(e, notes=(*found.notes, *e.notes)) for e in result))


def _given(labels: Mapping[str, Any]) -> list[str]:
    return [name for name in labels.values() if name is not None]


def _suite(found: Joined, aggregate: Aggregated | None, labels: Mapping[str, Any]) -> Suite:
    if labels["strata"] is not None:
        raise InputError("strata are for one task, since several are strata; choose with task")
    of_task: dict[str, Any] = {}
    for name, tables in found.tasks.items() if labels["groups"] is not None else ():
        try:
            of_task[name] = labels_of(tables, labels["groups"], "groups") or ()
        except InputError as error:
            raise type(error)(f"{name}: {error}") from None
    return Suite(found.tasks, aggregate, groups=of_task or None)
