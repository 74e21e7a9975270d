"""Many tasks in one call: a row a task, and a total over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.compare import comparison
from evalstats.analysis.estimate import estimates_of, samples_of
from evalstats.analysis.inputs import Given, as_pairs, given_tables, is_statistics, scored_tables
from evalstats.analysis.notes import gap_notes
from evalstats.analysis.options import Options
from evalstats.analysis.sampling import Sample, resample
from evalstats.analysis.suite_totals import Total, as_totals
from evalstats.checks import also_called, label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.inference.families import ADJUSTMENTS, holm_over
from evalstats.results.notes import estimate_notes, suite_notes
from evalstats.results.records import ComparisonRecord, Difference, distinct
from evalstats.results.results import Comparison, Estimate
from evalstats.results.suite_records import TaskDifference, TaskEstimate
from evalstats.results.suites import SuiteComparison, SuiteEstimates
from evalstats.statistics.extraction import Progress
from evalstats.statistics.segments import SegmentStatistics

#: Options by the name that a caller gives them.
_OF_SCORES = {
    "method": "method",
    "confidence_level": "confidence_level",
    "n_resamples": "n_resamples",
    "rng": "seed",
    "executor": "executor",
}
_OF_PAIRS = _OF_SCORES | {
    name: name for name in ("test", "alternative", "adjustment", "margin", "recovery", "contrast")
}


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
        aggregate: Aggregated | None = None,
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
    def estimate(self, *, progress: Progress | None = None, **options: Any) -> SuiteEstimates:
        """Score every system on every task, and in total.

        Parameters
        ----------
        progress : callable, optional
            Called as ``progress(done, total, label)`` after each task.
        **options
            `method`, `confidence_level`, `n_resamples`, `rng`, `executor`, as in
            `evalstats.estimate`.

        Returns
        -------
        SuiteEstimates
            Iterating gives a `TaskEstimate` for each task, metric and system, and then the totals.
        """
        # No test: nothing is drawn where the intervals are those of t.
        asked = replace(options_of(_OF_SCORES, options), test="t")
        found: list[TaskEstimate] = []
        for i, (name, samples) in enumerate(self._samples(asked)):
            found += [task_estimate(e, name) for s in samples for e in estimates_of(s, asked)]
            if progress is not None:
                progress(i + 1, len(self.tasks), "tasks")
        for total, sample in self._total_samples(asked):
            found += [_of_total(e, total) for e in estimates_of(sample, asked)]
        made = SuiteEstimates(tuple(found), tuple(self.tasks), self._aggregate)
        return replace(made, notes=self._gaps + tuple(estimate_notes(made)))

    @also_called(seed="rng")
    def compare(
        self, *, baseline: str | None = None, progress: Progress | None = None, **options: Any
    ) -> SuiteComparison:
        """Say on which tasks systems differ, and whether they do in total.

        All rows of tasks under one metric, of all pairs, are a family, and the totals of all pairs
        are another. (Where one total is made of different metrics, the rows of all tasks are one
        family.) Step-down max-T over the pairs within each task, as in `evalstats.compare`, goes
        together with Holm's method (1979) over the tasks; of one pair of systems that is Holm's
        method, and is called so.

        Parameters
        ----------
        baseline : str, optional
            The system to compare all others with; by default all pairs are compared.
        progress
            As in `estimate`.
        **options
            `test`, `method`, `alternative`, `adjustment`, `confidence_level`, `n_resamples`, `rng`,
            `executor`, `margin`, `recovery`, `contrast`, as in `evalstats.compare`.

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
        asked = options_of(_OF_PAIRS, options)
        pairs = as_pairs(self.systems, baseline)
        results: list[Comparison] = []
        estimates: list[TaskEstimate] = []
        rows: list[TaskDifference] = []
        totals: list[TaskDifference] = []
        for i, (name, samples) in enumerate(self._samples(asked)):
            results.append(self._of_task(name, comparison, samples, pairs, baseline, asked))
            estimates += [task_estimate(e, name) for e in results[-1].estimates]
            rows += [task_difference(d, results[-1], name) for d in results[-1]]
            if progress is not None:
                progress(i + 1, len(self.tasks), "tasks")
        for total, sample in self._total_samples(asked):
            results.append(comparison([sample], pairs, baseline, asked))
            estimates += [_of_total(e, total) for e in results[-1].estimates]
            named = {"metric": total.metric, "aggregate": total.label}
            totals += [task_difference(d, results[-1], total.label, **named) for d in results[-1]]
        adjustment = results[0].adjustment
        adjustment = "holm" if adjustment == "max-t" and len(pairs) == 1 else adjustment
        family = "all" if any(len(total.metrics) > 1 for total in self._totals) else "metric"
        found = [*adjusted(rows, adjustment, family), *adjusted(totals, adjustment, family)]
        same = {
            f.name: getattr(results[0], f.name)
            for f in fields(ComparisonRecord)
            if f.name not in ("planner", "ranker", "influencer", "notes")
        }
        made = SuiteComparison(
            **{
                **same,
                "estimates": SuiteEstimates(tuple(estimates), tuple(self.tasks), self._aggregate),
                "differences": tuple(found),
                "adjustment": adjustment,
                "signatures": tuple(distinct(s for result in results for s in result.signatures)),
            },
            family=family,
            tasks=tuple(self.tasks),
            aggregate=self._aggregate,
        )
        return replace(made, notes=self._gaps + tuple(suite_notes(made)))

    def _samples(self, options: Options) -> Iterator[tuple[str, list[Sample]]]:
        """Yield each task with what is drawn of it."""
        for name, tables in self.tasks.items():
            given = Given(tables, None, "bleu", self.groups.get(name))
            samples, _ = self._of_task(name, samples_of, given, options)
            yield name, samples

    def _total_samples(self, options: Options) -> Iterator[tuple[Total, Sample]]:
        for total in self._totals:
            yield total, resample([total.scored(self.groups)], options)[0]

    def _of_task(self, name: str, ask: Callable[..., Any], *arguments: Any) -> Any:
        """Ask about one task; errors name it."""
        try:
            return ask(*arguments)
        except InputError as error:
            raise type(error)(f"task {name!r}: {error}") from None

    @property
    def _gaps(self) -> tuple[str, ...]:
        found = []
        for task, tables in self.tasks.items():
            of = scored_tables(Given(tables, None, "bleu"), tables)
            found += [f"{task}: {note}" for note in gap_notes(of)]
        return tuple(found)

    @property
    def _aggregate(self) -> str | None:
        return self._totals[0].label if self._totals else None


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


def options_of(known: Mapping[str, str], given: Mapping[str, Any]) -> Options:
    """Return checked options, or say which there are."""
    for name in given:
        if name not in known:
            raise InputTypeError(
                f"{name} is unknown, or for one task alone; options of a suite are "
                f"{', '.join(known)}"
            )
    return Options(**{known[name]: value for name, value in given.items()})


def _of_total(e: Estimate, total: Total) -> TaskEstimate:
    return task_estimate(e, total.label, metric=total.metric, aggregate=total.label)


def task_estimate(e: Estimate, task: str, **named: Any) -> TaskEstimate:
    """Return an estimate as that of a task, or with names as that of a total."""
    values = {f.name: getattr(e, f.name) for f in fields(e)}
    # Those of many tasks take much memory, and the signature makes them again.
    values |= {"replicates": np.empty(0), "notes": (), **named}
    return TaskEstimate(**values, task=task)


def task_difference(d: Difference, result: Comparison, task: str, **named: Any) -> TaskDifference:
    """Return a difference as that of a task, or with names as that of a total."""
    values = {f.name: getattr(d, f.name) for f in fields(d)} | named
    return TaskDifference(**values, task=task, n_segments=result.estimates[0].n_segments)


def adjusted(found: Sequence[TaskDifference], adjustment: str, family: str) -> list[TaskDifference]:
    """Adjust the p-values within each metric, or all together."""
    made = list(found)
    for name in distinct(d.metric for d in found) if family == "metric" else [None]:
        places = [i for i, d in enumerate(found) if name in (None, d.metric)]
        if adjustment == "max-t":
            # Within each task, or total, that is done.
            tasks = [found[i].task for i in places]
            stepped = holm_over(tasks, [found[i].pvalue_adjusted for i in places])
        else:
            stepped = ADJUSTMENTS[adjustment]([found[i].pvalue for i in places])
        for i, p in zip(places, stepped.tolist(), strict=True):
            made[i] = replace(found[i], pvalue_adjusted=p)
    return made
