"""Logs in, comparison out: of one task or a suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalstats.analysis.comparison import Comparison
from evalstats.analysis.design import Aggregated
from evalstats.analysis.options import PairOptions, ScoreOptions
from evalstats.analysis.suite import Suite
from evalstats.checks import also_called
from evalstats.logs.joining import joined
from evalstats.logs.log import Patterns
from evalstats.logs.systems import Logs, OneLog
from evalstats.results.estimates import Estimates

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
    columns: Mapping[str, str | None] | None = None,
    human: OneLog | None = None,
    paired: bool = True,
    **options: Unpack[PairOptions],
) -> Comparison:
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
    epochs : {"mean", "runs", "pass^K", "pass@K", "flips", "icc"}, optional
        What several answers to an item are, as in `read_log`; by default what the first log says.
    directions : mapping of str to {"higher", "lower"}, optional
        What is better under a metric whose name does not say it, as in `read_log`.
    columns : mapping of str to str, optional
        What columns of tables are, where their names do not say it, as in `read_log`:
        ``{"mine": "score"}``.
    human : path, frame, Log or str, optional
        People's scores of a random sample of the items, where the scores are those of a judge: a
        table, joined by the ids of the items and the names of systems, or the name of a column of
        the logs. The result is prediction-powered (`evalstats.Judged`).
    paired : bool
        `False` where the systems answered other items: each is then a sample of its own, as in
        `compare`.
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
    together = joined(
        logs,
        task=task,
        metric=metric,
        filter=filter,
        systems=systems,
        missing=missing,
        labels=(groups, strata),
        epochs=epochs,
        directions=directions,
        columns=columns,
        human=human,
        paired=paired,
    ).several()
    whole = together.totals if aggregate is None else aggregate
    suite = Suite.of(
        together.tasks,
        whole,
        groups,
        strata,
        together.notes,
        texts=together.texts,
        paired=paired,
    )
    return suite.compare(**options)


@also_called(metrics="metric", seed="rng")
def estimate_logs(
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
    columns: Mapping[str, str | None] | None = None,
    human: OneLog | None = None,
    **options: Unpack[ScoreOptions],
) -> Estimates:
    """Score one system, or several, on one task or several, and say how sure the scores are.

    Parameters are those of `compare_logs`; options those of `Suite.estimate`.
    """
    together = joined(
        logs,
        task=task,
        metric=metric,
        filter=filter,
        systems=systems,
        missing=missing,
        labels=(groups, strata),
        epochs=epochs,
        directions=directions,
        columns=columns,
        human=human,
    )
    whole = together.totals if aggregate is None else aggregate
    suite = Suite.of(together.tasks, whole, groups, strata, together.notes, together.texts)
    return suite.estimate(**options)
