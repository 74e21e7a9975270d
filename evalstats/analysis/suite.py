"""Many tasks in one call: a row a task, and a total over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalstats.analysis.compare import compare
from evalstats.analysis.contrasts import contrast_notes
from evalstats.analysis.estimate import estimate
from evalstats.analysis.inputs import N_RESAMPLES, SEED, as_pairs, given_tables, is_statistics
from evalstats.analysis.margins import claim_notes
from evalstats.analysis.notes import gap_notes
from evalstats.analysis.plan import ADJUSTMENTS, ALTERNATIVES, TESTS, option
from evalstats.analysis.suite_notes import comparison_notes, estimate_notes
from evalstats.analysis.suite_rows import (
    adjusted,
    task_difference,
    task_estimates,
    total_estimates,
)
from evalstats.analysis.suite_totals import as_totals
from evalstats.analysis.units import Aggregate, Labels
from evalstats.checks import also_called, label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.records import distinct
from evalstats.results.results import Comparison
from evalstats.results.suite_records import TaskDifference, TaskEstimate
from evalstats.results.suites import SuiteComparison, SuiteEstimates
from evalstats.statistics.extraction import Progress
from evalstats.statistics.segments import SegmentStatistics


class Suite:
    """Tasks whose scores are looked at one by one, and together.

    Parameters
    ----------
    tasks : mapping of str to SegmentStatistics, or to a list of them
        Name of each task and its statistics, one table a metric, of the same systems in all tasks.
        Metrics and numbers of segments may differ.
    aggregate : {"macro", "micro"}, mapping or callable, optional
        What the total is: the mean of the tasks' scores; the score of all segments together, for
        one metric; the mean with weights, ``{task: weight}``; or any smooth function of the T
        scores, in the order of the tasks, that maps `(..., T)` to `(...)`. By default there is a
        macro total for each metric that two tasks have. Where every task has one metric and an
        aggregate is given, there is one total over all tasks, whatever their metrics.
    groups : mapping of str to sequence, optional
        For some tasks, or all, one label (a document, a passage) per segment: their groups are
        drawn as a whole.

    Raises
    ------
    InputError
        For no tasks, tasks of other systems, groups of unknown tasks, metrics of different
        directions in one total, and different ones in a micro total.

    Examples
    --------
    >>> import evalstats as es, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> tasks = {}
    >>> for name, n in (("physics", 120), ("law", 400), ("history", 250)):
    ...     marks = {"A": rng.random(n) < 0.6, "B": rng.random(n) < 0.7}
    ...     tasks[name] = es.extract(marks, metric=es.Mean("acc"))
    >>> result = es.Suite(tasks).compare()
    >>> [d.task for d in result]
    ['physics', 'law', 'history', 'macro']
    >>> result.total().system, result.total().n_segments
    ('B', 770)
    """

    def __init__(
        self,
        tasks: Mapping[str, SegmentStatistics | Sequence[SegmentStatistics]],
        aggregate: Aggregate | None = None,
        *,
        groups: Mapping[str, Iterable[Any]] | None = None,
    ) -> None:
        if not isinstance(tasks, Mapping):
            raise InputTypeError(
                f"tasks must be a mapping from names to SegmentStatistics, got "
                f"{type(tasks).__name__}"
            )
        if not tasks:
            raise InputError("tasks is empty; give at least one task")
        self.tasks = {label(name, "name of a task"): _tables(name, tasks[name]) for name in tasks}
        self.systems = _same_systems(self.tasks)
        self.groups = _as_groups(groups, self.tasks)
        self._totals = as_totals(self.tasks, aggregate)

    def __repr__(self) -> str:
        return f"<Suite of {len(self.tasks)} tasks, {len(self.systems)} systems>"

    @also_called(seed="rng")
    def estimate(
        self,
        *,
        method: str = "auto",
        confidence_level: float = 0.95,
        n_resamples: int = N_RESAMPLES,
        rng: Rng = SEED,
        executor: Workers = None,
        progress: Progress | None = None,
    ) -> SuiteEstimates:
        """Score every system on every task, and in total.

        Parameters
        ----------
        method, confidence_level, n_resamples, rng, executor
            As in `evalstats.estimate`. ``"auto"`` gives totals Hall's interval (1992), from
            influence values with Welch and Satterthwaite's degrees of freedom.
        progress : callable, optional
            Called as ``progress(done, total, label)`` after each task.

        Returns
        -------
        SuiteEstimates
            Iterating gives a `TaskEstimate` for each task, metric and system, and then the totals.
        """
        options: dict[str, Any] = {
            "method": method,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "rng": as_seed(rng),
            "executor": executor,
        }
        found: list[TaskEstimate] = []
        for i, (name, tables) in enumerate(self.tasks.items()):
            found += task_estimates(name, _of_task(name, estimate, tables, self.groups, options))
            if progress is not None:
                progress(i + 1, len(self.tasks), "tasks")
        for total in self._totals:
            options["method"] = _of_total(method)
            whole = estimate(total.table, **total.settings(self.groups), **options)
            found += total_estimates(total, whole)
        made = SuiteEstimates(tuple(found), tuple(self.tasks), self._aggregate)
        return replace(made, notes=self._gaps + estimate_notes(made))

    @property
    def _gaps(self) -> tuple[str, ...]:
        return tuple(f"{t}: {note}" for t, found in self.tasks.items() for note in gap_notes(found))

    @property
    def _aggregate(self) -> str | None:
        return self._totals[0].label if self._totals else None

    @also_called(seed="rng")
    def compare(
        self,
        *,
        baseline: str | None = None,
        test: str = "studentized",
        method: str = "auto",
        alternative: str = "two-sided",
        adjustment: str = "max-t",
        confidence_level: float = 0.95,
        significance_level: float = 0.05,
        n_resamples: int = N_RESAMPLES,
        rng: Rng = SEED,
        executor: Workers = None,
        progress: Progress | None = None,
        margin: float | None = None,
        recovery: float | None = None,
        contrast: str = "difference",
    ) -> SuiteComparison:
        """Say on which tasks systems differ, and whether they do in total.

        Parameters
        ----------
        adjustment : {"max-t", "holm", "benjamini-hochberg", "bonferroni", "none"}
            How p-values are adjusted: all rows of tasks under one metric, of all pairs, are a
            family, and the totals of all pairs are another. (Where one total is made of different
            metrics, the rows of all tasks are one family.) ``"max-t"`` is step-down max-T over the
            pairs within each task, as in `evalstats.compare`, and Holm's method (1979) over the
            tasks; of one pair of systems that is ``"holm"``, and is called so.
        baseline, test, method, alternative, confidence_level, significance_level, n_resamples, \
rng, executor, margin, recovery, contrast
            As in `evalstats.compare`; the test is "studentized", "ar" or "bootstrap", and
            ``"auto"`` gives totals Hall's interval.
        progress
            As in `estimate`.

        Returns
        -------
        SuiteComparison
            Iterating gives a `TaskDifference` for each task, metric and pair, and then the totals.

        Notes
        -----
        The row of a task is what `evalstats.compare` says of it alone, with the same seed. The
        total rests on rows drawn within each task (tasks are strata): its error is that of other
        items of the same tasks, and says nothing of other tasks.
        """
        n_pairs = len(as_pairs(self.systems, baseline))
        adjustment = option(adjustment, ADJUSTMENTS, "adjustment")
        if adjustment == "max-t" and n_pairs == 1:
            adjustment = "holm"
        options: dict[str, Any] = {
            "baseline": baseline,
            "test": option(test, TESTS, "test"),
            "method": method,
            "alternative": option(alternative, ALTERNATIVES, "alternative"),
            "adjustment": adjustment,
            "confidence_level": confidence_level,
            "significance_level": significance_level,
            "n_resamples": n_resamples,
            "rng": as_seed(rng),
            "executor": executor,
            "margin": margin,
            "recovery": recovery,
            "contrast": contrast,
        }
        results: list[Comparison] = []
        estimates: list[TaskEstimate] = []
        rows: list[TaskDifference] = []
        totals: list[TaskDifference] = []
        for i, (name, tables) in enumerate(self.tasks.items()):
            result = _of_task(name, compare, tables, self.groups, options)
            results.append(result)
            estimates += task_estimates(name, result.estimates)
            rows += [task_difference(d, result, name) for d in result]
            if progress is not None:
                progress(i + 1, len(self.tasks), "tasks")
        options["method"] = _of_total(method)
        for total in self._totals:
            whole = compare(total.table, **total.settings(self.groups), **options)
            results.append(whole)
            estimates += total_estimates(total, whole.estimates)
            named = {"metric": total.metric, "aggregate": total.label}
            totals += [task_difference(d, whole, total.label, **named) for d in whole]
        family = "all" if any(total.is_mixed for total in self._totals) else "metric"
        first, names = results[0], tuple(self.tasks)
        found = [*adjusted(rows, adjustment, family), *adjusted(totals, adjustment, family)]
        made = SuiteComparison(
            estimates=SuiteEstimates(tuple(estimates), names, self._aggregate),
            differences=tuple(found),
            baseline=baseline,
            test=first.test,
            method=first.method,
            alternative=first.alternative,
            adjustment=adjustment,
            confidence_level=first.confidence_level,
            n_resamples=first.n_resamples,
            seed=first.seed,
            signatures=tuple(distinct(s for result in results for s in result.signatures)),
            significance_level=first.significance_level,
            family=family,
            margin=first.margin,
            recovery=first.recovery,
            contrast=first.contrast,
            tasks=names,
            aggregate=self._aggregate,
        )
        notes = comparison_notes(made) + contrast_notes(made.contrast) + claim_notes(made)
        return replace(made, notes=self._gaps + notes)


def _tables(name: str, given: object) -> list[SegmentStatistics]:
    if not is_statistics(given):
        raise InputTypeError(
            f"tasks[{name!r}] must be a SegmentStatistics or a list of them, got "
            f"{type(given).__name__}; es.extract makes them of texts and scores"
        )
    try:
        return given_tables(given, None, "bleu")
    except InputError as error:
        raise type(error)(f"task {name!r}: {error}") from None


def _same_systems(tasks: dict[str, list[SegmentStatistics]]) -> tuple[str, ...]:
    """Put the systems of all tasks into the order of the first, and return them."""
    first = next(iter(tasks.values()))[0].systems
    for name, tables in tasks.items():
        systems = tables[0].systems
        if set(systems) != set(first):
            odd = sorted(set(systems) ^ set(first))[0]
            lacks = "lacks" if odd in first else "has, unlike the first task,"
            raise InputError(
                f"all tasks must have the same systems, but task {name!r} {lacks} {odd!r}"
            )
        if systems != first:
            order = [systems.index(system) for system in first]
            tasks[name] = [replace(t, values=t.values[order], systems=first) for t in tables]
    return first


def _as_groups(
    groups: Mapping[str, Iterable[Any]] | None, tasks: Mapping[str, list[SegmentStatistics]]
) -> dict[str, list[Any]]:
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            f"groups must be a mapping from tasks to labels, got {type(groups).__name__}"
        )
    for name in groups:
        if name not in tasks:
            raise InputError(f"groups has unknown task {name!r}; tasks are {', '.join(tasks)}")
    return {
        name: listed(labels, f"groups[{name!r}]", "labels, one a segment")
        for name, labels in groups.items()
    }


def _of_task(
    name: str,
    ask: Any,
    tables: list[SegmentStatistics],
    groups: Mapping[str, Labels],
    options: dict[str, Any],
) -> Any:
    """Ask `estimate` or `compare` about one task; its errors name the task."""
    try:
        return ask(tables, groups=groups.get(name), **options)
    except InputError as error:
        raise type(error)(f"task {name!r}: {error}") from None


def _of_total(method: str) -> str:
    # Sums over tasks are near normal, and resampling all of them again takes long.
    return "hall" if method == "auto" else method
