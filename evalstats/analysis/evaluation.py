"""Evaluations: tasks and totals with the pairs and options of a comparison, which it asks later."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from evalstats.analysis.drawn import Drawn, Pair
from evalstats.analysis.options import Options
from evalstats.analysis.summaries import maker_of
from evalstats.analysis.tasks import Task, labels_of
from evalstats.analysis.totals import Total
from evalstats.analysis.units import unit_name
from evalstats.checks import listed
from evalstats.designs.trials.cases import Cases
from evalstats.designs.trials.itemwise import Paired, cases_of, is_same, paired, together
from evalstats.designs.unpaired.pairs import Part, Unpaired
from evalstats.errors import InputError
from evalstats.metrics import Trials
from evalstats.pictures.report import Beside
from evalstats.pictures.verdicts import in_words
from evalstats.questions.domains.across import OverStrata
from evalstats.questions.domains.by_stratum import taken_apart
from evalstats.questions.domains.heterogeneity import heterogeneity_notes
from evalstats.questions.domains.over_strata import over_labels, over_tasks
from evalstats.questions.influence.influence import Influence
from evalstats.questions.influence.removal import influence_of
from evalstats.questions.power.planned import Power
from evalstats.questions.power.planning import Question, needed_within, planned
from evalstats.questions.ranking.ranking import by_composite, by_metric
from evalstats.questions.ranking.rankings import Ranking
from evalstats.results.comparison import Comparison
from evalstats.results.lookup import of_metric, of_task
from evalstats.results.notes import Limits
from evalstats.results.records import Difference, distinct
from evalstats.results.signatures import Signature
from evalstats.results.source import Composite
from evalstats.statistics.extraction import Progress
from evalstats.statistics.names import group_codes


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is compared, and how; a comparison asks it for power, ranking and influence.

    `notes` stand before those of the results. Differences say which task, or total, is meant.
    """

    parts: Sequence[Part]
    pairs: Sequence[Pair]
    options: Options
    notes: tuple[str, ...] = ()
    #: What was drawn of totals and of an only task; several take much memory, and are drawn again.
    kept: dict[Part, list[Drawn]] = field(default_factory=dict)
    #: Of each task, or total, and metric, and what limits what is said of a task.
    signatures: dict[tuple[str, str], Signature] = field(default_factory=dict)
    limits: list[Limits] = field(default_factory=list)
    #: Compares (`evalstats.analysis.compare.compared`, which imports this file).
    again: Callable[[Evaluation, str | None], Comparison] | None = None

    def drawn(self, progress: Progress | None = None) -> Iterator[tuple[Part, list[Drawn]]]:
        """Yield each task and total with what is drawn of it, and say which task is done."""
        n_tasks = sum(part.total is None for part in self.parts)
        for i, part in enumerate(self.parts):
            drawn = part.drawn(self.options)
            if len(self.parts) == 1 or part.total is not None:
                self.kept[part] = drawn
            yield part, drawn
            if progress is not None and part.total is None:
                progress(i + 1, n_tasks, "tasks")

    def signature_of(self, d: Difference) -> Signature:
        """Return what identifies a difference: that of its task, or total, and metric."""
        return self.signatures[d.task, d.metric]

    def noting(self, *notes: str) -> Evaluation:
        """Return the same with notes before those of its rankings."""
        return replace(self, notes=(*notes, *self.notes))

    def needed(self, d: Difference, level: float, target: float) -> int | None:
        """Return how many units show a system that has lost nothing to be within the limit."""
        drawn = self._of(d, self._undrawn)[1]
        names = drawn.of.systems
        pair = names.index(d.baseline), names.index(d.system)
        n = needed_within(drawn, pair, self.options, level, target)
        if drawn.is_paired or n is None:
            return n
        # As many of the system as its share of both.
        return ceil(n * drawn.alone[pair[1]].units.n / drawn.units.n)

    def power(
        self,
        of: Sequence[Difference],
        difference: float | None,
        n_segments: int | None,
        runs: int | None,
        level: float,
        target: float,
        trials: int | None,
        price: tuple[float, float] | None,
    ) -> Power:
        """Plan as `evalstats.power` does."""
        asked = Question(
            difference=difference,
            n_segments=n_segments,
            runs=runs,
            level=level,
            target=target,
            confidence_level=self.options.confidence_level,
            alternative=self.options.alternative,
            trials=trials,
            price=price,
        )
        drawn = self._together(of, self._undrawn)
        if not drawn[0].is_paired:
            raise InputError(
                "power plans one test set for all systems, and each of these has its own; compare "
                "the systems on the same segments"
            )
        if any(one.influence is None for one in drawn):
            # Without derivatives replicates say how scores vary.
            drawn = self._together(of, self.options)
        return planned(drawn, self.pairs, asked)

    def ranking(self, comparison: Comparison, of: Sequence[Difference]) -> Ranking:
        """Rank the systems under the metric of the differences."""
        drawn = self._of(of[0])[1]
        return by_metric(comparison, of, drawn, self.options, self.notes)

    def composite(
        self,
        comparison: Comparison,
        of: Sequence[Difference],
        composite: str | Composite,
        higher_is_better: bool,
    ) -> Ranking:
        """Rank the systems by a composite of the metrics of the differences."""
        drawn = self._together(of, self.options)
        test = "t" if self.options.test == "t" else "bootstrap"
        each = distinct(str(self.signature_of(d).but(test=test, adj="max-t")) for d in of)
        return by_composite(
            comparison,
            drawn,
            composite,
            higher_is_better,
            self.options,
            task=of[0].task,
            signatures=each,
            notes=self.notes,
        )

    def influence(self, comparison: Comparison, difference: Difference) -> Influence:
        """Return the influence of all segments on a difference."""
        part, drawn = self._with_segments(difference, "influence")
        return influence_of(
            difference,
            drawn,
            names=part.unit_names(),
            outputs=part.outputs,
            level=comparison.significance_level,
            signature=comparison.signature_of(difference),
        )

    def cases(
        self,
        comparison: Comparison,
        metric: str | None,
        system: str | None,
        baseline: str | None,
        task: str | None,
    ) -> Cases:
        """Return the test of each item; names as of `Comparison.difference`."""
        rows = comparison.rows if task is None else of_task(comparison.differences, task)
        rows = rows if metric is None else of_metric(rows, metric)
        of = [
            comparison.difference(name, system, baseline, on or None)
            for on, name in dict.fromkeys((d.task, d.metric) for d in rows)
        ]
        first, is_single = of[0], len({d.task for d in of}) == 1
        total: Difference | None = first if is_single else None
        if not is_single and any(d.metric == first.metric for d in comparison.totals):
            total = comparison.difference(first.metric, first.system, first.baseline)
        return cases_of(
            self._items_of(of),
            comparison.significance_level,
            metric=first.metric,
            pair=(first.baseline, first.system),
            higher_is_better=self._is_right_better(first),
            total="" if total is None else in_words(comparison, total),
            signature=comparison.signature_of(total or first),
        )

    def _items_of(self, of: Sequence[Difference]) -> Paired:
        """Return the answers to the items of all tasks, which are the same under every metric."""
        by_metric: dict[str, list[tuple[str, Paired]]] = {}
        for d in of:
            part, drawn = self._with_segments(d, "cases")
            assert isinstance(part, Task)
            assert drawn.segments is not None
            names, known = part.segment_names(), drawn.of.systems
            pair = known.index(d.baseline), known.index(d.system)
            items = paired(drawn.segments.answers, pair, names)
            by_metric.setdefault(d.metric, []).append((d.task, items))
        first, *others = (together(parts) for parts in by_metric.values())
        if not all(is_same(items, first) for items in others):
            raise InputError(
                f"is needed: the metrics are of other trials; give one of {', '.join(by_metric)}",
                argument="metric",
            )
        return first

    def _is_right_better(self, d: Difference) -> bool:
        """Return whether a score of 1 is a right answer, as in trials, whatever is made of them."""
        segments = self._of(d, self._undrawn)[1].segments
        assert segments is not None
        return isinstance(segments.blocks[0].metric, Trials) or d.higher_is_better

    def over(self, comparison: Comparison, by: str | Iterable[Hashable]) -> OverStrata:
        """Return mean differences over strata: the tasks, or what labels of segments make."""
        if isinstance(by, str) and by == "task" and len(comparison.tasks) > 1:
            return over_tasks(comparison)
        if len(comparison.tasks) > 1:
            raise InputError(
                "takes labels of the segments of one task, and there are "
                f"{len(comparison.tasks)}; give 'task', or compare a task alone",
                argument="over",
            )
        drawn, names, _ = self._labelled(comparison, by, "over")
        return over_labels(comparison, drawn, unit_name(by, "stratum"), names)

    def by(self, comparison: Comparison, labels: str | Iterable[Hashable]) -> Comparison:
        """Return the comparison with a row for each stratum that the labels make."""
        if len(comparison.tasks) > 1 or self.again is None:
            raise InputError(
                "takes one task apart, and there are several, which have rows of their own; leave "
                "it out, or compare a task alone",
                argument="by",
            )
        drawn, names, task = self._labelled(comparison, labels, "by")
        every = list(drawn.values())
        strata = taken_apart(every, names, task)
        evaluation = Evaluation(strata, self.pairs, self.options, self.notes, again=self.again)
        result = self.again(evaluation, comparison.baseline)
        return result.noting(*heterogeneity_notes(result))

    def _labelled(
        self, comparison: Comparison, labels: str | Iterable[Hashable], asking: str
    ) -> tuple[dict[str, Drawn], list[Hashable], Task]:
        """Return what is drawn under each metric, a label of each segment, and the only task."""
        each = [self._with_segments(d, asking) for d in comparison.differences]
        task, drawn = each[0]
        assert isinstance(task, Task)
        names = listed(labels_of(task.tables, labels, asking), asking, "labels, one a segment")
        group_codes(names, drawn.units.n_segments, asking)
        return {one.of.name: one for _, one in each}, names, task

    def beside(self, difference: Difference) -> Beside:
        """Return the texts that were compared, and the scores in each stratum."""
        if isinstance(self._part(difference), Unpaired):
            # The texts of one system are no answers to those of another.
            return Beside((), {}, [])
        part, drawn = self._with_segments(difference, "influence")
        if isinstance(part, Total):
            # Its strata are tasks, which have rows of their own.
            return Beside((), {}, [])
        assert drawn.segments is not None
        references = tuple(part.references) if part.outputs else ()
        names, strata = tuple(part.unit_names()), drawn.segments.by_stratum()
        return Beside(names, dict(part.outputs), strata, references)

    def _with_segments(self, difference: Difference, asking: str) -> tuple[Task | Total, Drawn]:
        """Return the task and the scores of a difference, whose segments have to be here."""
        part, drawn = self._of(difference, self._undrawn)
        if isinstance(part, Unpaired):
            raise InputError(
                f"{asking} needs systems with the same segments, and each of these has its own"
            )
        if drawn.segments is None:
            maker = maker_of(part.statistics)
            assert maker is not None
            raise InputError(
                f"{asking} needs the statistics of every segment, and {maker.why}; "
                "compare SegmentStatistics"
            )
        return part, drawn

    @property
    def _undrawn(self) -> Options:
        """Options for what needs no resamples."""
        return replace(self.options, method="t", test="t")

    def _of(self, d: Difference, options: Options | None = None) -> tuple[Part, Drawn]:
        """Return the task, or total, that a difference is of, and its scores."""
        part = self._part(d)
        return part, _under(d.metric, self._drawn(part, options or self.options))

    def _part(self, d: Difference) -> Part:
        return next(
            part
            for part in self.parts
            if (part.name, part.total) == (d.task, d.aggregate)
            if part.total is None
            or not isinstance(part, (Total, Unpaired))
            or part.metric == d.metric
        )

    def _drawn(self, part: Part, options: Options) -> list[Drawn]:
        return self.kept.get(part) or part.drawn(options)

    def _together(self, of: Sequence[Difference], options: Options) -> list[Drawn]:
        """Return the scores under several metrics, which have to be drawn together."""
        firsts = {d.metric: d for d in of}
        parts = {metric: self._part(d) for metric, d in firsts.items()}
        # All metrics of a task are drawn at once.
        by_part = {part: self._drawn(part, options) for part in dict.fromkeys(parts.values())}
        drawn = [_under(metric, by_part[part]) for metric, part in parts.items()]
        if len({(one.units.n, one.units.labels) for one in drawn}) > 1:
            metrics = ", ".join(distinct(firsts))
            raise InputError(
                f"the totals of {metrics} are not of the same tasks; give metric, or task"
            )
        return drawn


def _under(metric: str, drawn: Sequence[Drawn]) -> Drawn:
    """Return the scores under the metric of this name."""
    return next(one for one in drawn if one.of.name == metric)
