"""Many tasks in one call: one row per task, and a total over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Aggregated, Labels, names_of_labels
from evalstats.analysis.estimate import estimates_of, limits_of
from evalstats.analysis.options import Options, PairOptions, ScoreOptions
from evalstats.analysis.settings import DEFAULTS
from evalstats.analysis.tasks import (
    Part,
    Task,
    as_decided,
    as_pairs,
    as_totals,
    is_statistics,
    summaries_of,
    tables_of,
)
from evalstats.checks import also_called, label, listed, taking
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.executors import as_progress
from evalstats.results.estimates import Estimate, Estimates
from evalstats.results.notes import Facts, Limits, notes_of
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The message for unknown arguments of `Suite.estimate` and `Suite.compare`.
_UNKNOWN = "is not an option of a suite (it may apply only to single tasks); the options are "
_OF_SCORES = ", ".join(ScoreOptions.__annotations__)
_OF_PAIRS = ", ".join(PairOptions.__annotations__)
Tables = Mapping[str, Sequence[SegmentStatistics]]
#: Labels by task, labels of a single task, or the name of a label.
Groups = Any


class Suite:
    """Several tasks, analysed separately and in total.

    Parameters
    ----------
    tasks : mapping of str to SegmentStatistics, or to a list of them
        Name of each task and its statistics, one table per metric, with the same systems in all
        tasks; or `Moments` for each (in a total, tasks are then strata). Metrics and numbers of
        segments may differ.
    aggregate : {"macro", "micro"} or mapping, optional
        The total: the mean of the tasks' scores; the score of all segments together, for one
        metric; or a weighted mean, ``{task: weight}``. By default there is a macro total for each
        metric that at least two tasks have. If every task has one metric and an aggregate is given,
        there is one total over all tasks, even with different metrics.
    groups : mapping of str to sequence, or str, optional
        Groups of some or all tasks, as in `evalstats.estimate`.

    Raises
    ------
    InputError
        Without tasks, and for tasks with different systems, groups of unknown tasks, metrics with
        different directions in one total, and different metrics in a micro total.

    Examples
    --------
    >>> import evalstats as es, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> tasks = {}
    >>> for name, n in (("physics", 120), ("law", 400), ("history", 250)):
    ...     scores = {"A": rng.random(n) < 0.6, "B": rng.random(n) < 0.7}
    ...     tasks[name] = es.extract(scores, metric=es.Mean("acc"))
    >>> result = es.Suite(tasks).compare()
    >>> [d.task for d in result]
    ['physics', 'law', 'history', 'all 3 tasks']
    >>> result["B"].task, result.estimates["B"].n_segments
    ('all 3 tasks', 770)
    """

    @also_called()
    def __init__(
        self,
        tasks: Mapping[str, SegmentStatistics | Sequence[SegmentStatistics]],
        aggregate: Aggregated | None = None,
        *,
        groups: Mapping[str, Iterable[Any]] | str | None = None,
    ) -> None:
        if not isinstance(tasks, Mapping):
            raise InputTypeError(
                f"tasks must be a mapping from names to SegmentStatistics, got "
                f"{type(tasks).__name__}"
            )
        if not tasks:
            raise InputError("tasks is empty; pass at least one task")
        known = {label(name, "name of a task"): _tables(name, tasks[name]) for name in tasks}
        self.systems: tuple[str, ...] = _same_systems(known)
        self.notes: tuple[str, ...] = ()
        by_task = _as_groups(groups, known)
        self.parts: Sequence[Part] = [
            *(Task(tables, name, groups=by_task.get(name)) for name, tables in known.items()),
            *as_totals(known, aggregate, by_task),
        ]

    @classmethod
    def of(
        cls,
        tasks: Tables,
        aggregate: Aggregated | None = None,
        groups: Groups = None,
        strata: Labels = None,
        notes: Sequence[str] = (),
        texts: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({}),
        paired: bool = True,
    ) -> Suite:
        """Return a suite of tasks; a single one may be named "" and may have strata.

        `notes` come before the notes of all results; `texts` of tasks, by name, one per segment,
        are for reports. For unpaired systems, tasks have one table per system, and groups and
        strata are by system.
        """
        parts: Sequence[Part]
        if not paired:
            from evalstats.designs.samples import parts_of_each

            parts = parts_of_each(tasks, aggregate, groups, strata)
        elif len(tasks) > 1:
            if strata is not None:
                raise InputError(
                    "can only be used with a single task, because the tasks of a suite are "
                    "strata themselves; choose one task",
                    argument="strata",
                )
            parts = cls(tasks, aggregate, groups=groups).parts
        else:
            ((name, tables),) = tasks.items()
            is_by_task = isinstance(groups, Mapping) and name in groups
            labels = groups[name] if is_by_task else groups
            # Named totals are over several tasks.
            whole = "micro" if aggregate is None or isinstance(aggregate, tuple) else aggregate
            parts = [Task(list(tables), name, labels, strata, whole)]
        suite = cls.__new__(cls)
        suite.notes, suite.systems = tuple(notes), parts[0].systems
        suite.parts = [
            replace(part, outputs=texts[part.name])
            if isinstance(part, Task) and part.name in texts
            else part
            for part in parts
        ]
        return suite

    @also_called(_UNKNOWN + _OF_SCORES, seed="rng")
    @taking(ScoreOptions, DEFAULTS)
    def estimate(self, **asked: Unpack[ScoreOptions]) -> Estimates:
        """Score every system on every task, and in total.

        Returns an `Estimate` for each task, metric and system, and then the totals.

        Parameters
        ----------
        method, confidence_level, n_resamples, rng, executor
            As in `evalstats.estimate`.
        progress : bool or callable, optional
            As in `evalstats.estimate`, after each task.

        Examples
        --------
        >>> import evalstats as es
        >>> acc = es.Mean("acc")
        >>> law = es.extract({"A": [1, 0, 1, 1]}, metric=acc)
        >>> history = es.extract({"A": [1, 0, 1, 1, 0]}, metric=acc)
        >>> scores = es.Suite({"law": law, "history": history}).estimate(method="t")
        >>> print(f"{scores['macro', 'acc', 'A'].score:.3f}")
        0.675
        """
        progress = as_progress(asked.pop("progress", None))
        options = as_decided(self.parts[0].statistics, Options.of(asked))
        single = len(self.parts) == 1
        estimates: list[Estimate] = []
        limits: list[Limits] = []
        for part, drawn in Evaluation(self.parts, [], options).drawn(progress):
            for one in (sample for of_metric in drawn for sample in of_metric.together):
                estimates += estimates_of(one, options, part, single=single)
            limits.append(limits_of(drawn, part=part))
        # Scores of one task have their own notes.
        below = [] if single else notes_of(Facts(limits, estimates))
        return Estimates(tuple(estimates), (*self.notes, *below))

    @also_called(_UNKNOWN + _OF_PAIRS, seed="rng")
    @taking(PairOptions, DEFAULTS)
    def compare(self, **asked: Unpack[PairOptions]) -> Comparison:
        """Compare systems on every task, and in total.

        P-values of all pairs and tasks for one metric are adjusted together, and the totals of all
        pairs are another family. (If a total combines different metrics, the rows of all tasks are
        one family.) Step-down max-T over the pairs within each task, as in `evalstats.compare`, is
        combined with Holm's method (1979) over the tasks; with one pair of systems it is Holm's
        method, and is named so. The unadjusted row of a task is the same as from
        `evalstats.compare` on this task, with the same seed. For the total, tasks are strata (names
        and order do not change a bit): its error covers other items of the same tasks, not other
        tasks. Returns a `Difference` for each task, metric and pair, and then the totals.

        Parameters
        ----------
        baseline, paired_runs
            As in `evalstats.compare`.
        method, alternative, adjustment, confidence_level
            The test, as in `evalstats.compare`.
        margin, recovery
            The claim, as in `evalstats.compare`.
        n_resamples, rng, executor, progress
            The work, as in `estimate`.
        """
        progress, baseline = as_progress(asked.pop("progress", None)), asked.get("baseline")
        options = as_decided(self.parts[0].statistics, Options.of(asked))
        pairs = as_pairs(self.systems, baseline)
        return compared(Evaluation(self.parts, pairs, options, self.notes), baseline, progress)

    def __repr__(self) -> str:
        n_tasks = sum(part.total is None for part in self.parts)
        return f"<Suite of {n_tasks} tasks, {len(self.systems)} systems>"


def _tables(name: str, statistics: object) -> list[SegmentStatistics]:
    """Return the tables of a task, or raise for other values."""
    if summaries := summaries_of(statistics):
        if summaries[0].has_totals:
            return summaries
        raise InputTypeError(
            f"tasks[{name!r}] must be SegmentStatistics or a list of them, because totals cannot "
            f"be computed from {summaries[0].name}"
        )
    if not is_statistics(statistics):
        raise InputTypeError(
            f"tasks[{name!r}] must be SegmentStatistics or a list of them, got "
            f"{type(statistics).__name__}; create them from texts or scores with es.extract"
        )
    try:
        return tables_of(statistics)
    except InputError as error:
        raise error.within(f"task {name!r}") from None


def _same_systems(tasks: dict[str, list[SegmentStatistics]]) -> tuple[str, ...]:
    """Put the systems of all tasks into the order of the first, and return them."""
    first = next(iter(tasks.values()))[0].systems
    kinds = {type(tables[0]) for tables in tasks.values()}
    if len(kinds) > 1:
        raise InputError("tasks must be either all SegmentStatistics or all Moments, not a mixture")
    for name, tables in tasks.items():
        systems = tables[0].systems
        if set(systems) != set(first):
            odd = sorted(set(systems) ^ set(first))[0]
            lacks = "lacks" if odd in first else "has, unlike the first task,"
            raise InputError(
                f"all tasks must have the same systems, but task {name!r} {lacks} {odd!r}"
            )
        if systems != first and kinds != {SegmentStatistics}:
            raise InputError(
                f"all tasks must have the systems in the same order, but it is {list(first)} in "
                f"the first task and {list(systems)} in task {name!r}"
            )
        if systems != first:
            order = [systems.index(system) for system in first]
            tasks[name] = [replace(t, values=t.values[order], systems=first) for t in tables]
    return first


def _as_groups(
    groups: Mapping[str, Iterable[Any]] | str | None, tasks: Mapping[str, list[SegmentStatistics]]
) -> dict[str, Labels]:
    if groups is None:
        return {}
    if isinstance(groups, str) or names_of_labels(groups, 0):
        return dict.fromkeys(tasks, groups)
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            "must be a mapping from tasks to labels or the name of a label, got "
            f"{type(groups).__name__}",
            argument="groups",
        )
    for name in groups:
        if name not in tasks:
            raise InputError(
                f"contains the unknown task {name!r}; the tasks are {', '.join(tasks)}",
                argument="groups",
            )
    return {
        name: listed(labels, f"groups[{name!r}]", "labels, one per segment")
        for name, labels in groups.items()
    }
