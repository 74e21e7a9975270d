"""What a comparison is made of, a task or a total each, and what it can be asked later."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evalstats.analysis.across import over_labels, over_tasks
from evalstats.analysis.by_stratum import taken_apart
from evalstats.analysis.inputs import Given, labels_of
from evalstats.analysis.options import Options
from evalstats.analysis.planning import Question, needed_within, planned
from evalstats.analysis.ranking import by_composite, by_metric
from evalstats.analysis.removal import influence_of
from evalstats.analysis.sampling import Pair, Sample
from evalstats.analysis.totals import Total
from evalstats.analysis.units import unit_name
from evalstats.checks import listed
from evalstats.errors import InputError
from evalstats.results.across import OverStrata
from evalstats.results.heterogeneity import heterogeneity_notes
from evalstats.results.influence import Influence
from evalstats.results.notes import Limits
from evalstats.results.page import Beside
from evalstats.results.power import Power
from evalstats.results.ranking import Ranking
from evalstats.results.records import Difference, distinct
from evalstats.results.results import Comparison, Estimate
from evalstats.results.signatures import Signature
from evalstats.results.source import Composite
from evalstats.statistics.extraction import Progress
from evalstats.statistics.names import group_codes

#: Compares parts: `compare.comparison`, whose file imports this one.
Again = Callable[["Sequence[Part]", "str | None", Options], Comparison]


@dataclass(frozen=True, eq=False)
class Part:
    """A task under some metrics, or a total under one."""

    given: Given | Total
    task: str = ""
    aggregate: str | None = None
    kept: tuple[Sample, ...] = ()  # what was drawn of it

    def samples(self, options: Options) -> list[Sample]:
        """Return what is drawn, a sample a metric; errors name the task."""
        if self.kept:
            return list(self.kept)
        try:
            return self.given.samples(options)
        except InputError as error:
            if not self.task or self.aggregate is not None:
                raise
            raise error.within(f"task {self.task!r}") from None

    def keeping(self, samples: Sequence[Sample]) -> Part:
        """Return the part with what was drawn; of several tasks, much memory, it is drawn again."""
        given = self.given.kept() if isinstance(self.given, Given) else self.given
        return replace(self, given=given, kept=tuple(samples))

    def has(self, d: Difference) -> bool:
        """Return whether a difference is of this part."""
        is_other = isinstance(self.given, Total) and self.given.metric != d.metric
        return (self.task, self.aggregate) == (d.task, d.aggregate) and not is_other


def sampled(
    parts: Sequence[Part], options: Options, progress: Progress | None = None
) -> Iterator[tuple[Part, list[Sample]]]:
    """Yield each part with what is drawn of it, and say which task is done."""
    n_tasks = sum(part.aggregate is None for part in parts)
    for i, part in enumerate(parts):
        yield part, part.samples(options)
        if progress is not None and part.aggregate is None:
            progress(i + 1, n_tasks, "tasks")


def placed(estimates: Sequence[Estimate], part: Part, single: bool) -> list[Estimate]:
    """Return estimates as those of a task, or of a total."""
    named = [replace(e, task=part.task, aggregate=part.aggregate) for e in estimates]
    # Replicates of many tasks take much memory, and the signature makes them again.
    return named if single else [replace(e, replicates=np.empty(0), notes=()) for e in named]


@dataclass(frozen=True, eq=False)
class Source:
    """The statistics of a comparison, which its `power`, `ranking` and `influence` ask.

    Differences say which part is meant: those of one task, or in total.
    """

    parts: Sequence[Part]
    pairs: Sequence[Pair]
    options: Options
    limits: Sequence[Limits] = ()
    signatures: Mapping[tuple[str, str], Signature] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    again: Again | None = None  # compares parts

    def signature_of(self, d: Difference) -> Signature:
        """Return what identifies a difference: that of its task, or total, and metric."""
        return self.signatures[d.task, d.metric]

    def noting(self, *notes: str) -> Source:
        """Return the same with notes before those of its rankings."""
        return replace(self, notes=(*notes, *self.notes))

    def needed(self, d: Difference, level: float, target: float) -> int | None:
        """Return how many units show a system that has lost nothing to be within the limit."""
        _, sample = self._sample(d, self._undrawn)
        names = sample.of.systems
        pair = names.index(d.baseline), names.index(d.system)
        return needed_within(sample, pair, self.options, level, target)

    def power(
        self,
        of: Sequence[Difference],
        difference: float | None,
        n_segments: int | None,
        runs: int | None,
        level: float,
        target: float,
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
        )
        samples = self._together(of, self._undrawn)
        if any(sample.influence is None for sample in samples):
            # Without derivatives replicates say how scores vary.
            samples = self._together(of, self.options)
        return planned(samples, self.pairs, asked)

    def ranking(self, comparison: Comparison, of: Sequence[Difference]) -> Ranking:
        """Rank the systems under the metric of the differences."""
        _, sample = self._sample(of[0])
        found = by_metric(comparison, of, sample, self.options)
        return replace(found, notes=self.notes + found.notes)

    def composite(
        self,
        comparison: Comparison,
        of: Sequence[Difference],
        composite: str | Composite,
        higher_is_better: bool,
    ) -> Ranking:
        """Rank the systems by a composite of the metrics of the differences."""
        samples = self._together(of, self.options)
        signatures = [self.signature_of(d) for d in of]
        found = by_composite(
            comparison, samples, signatures, of[0].task, self.options, composite, higher_is_better
        )
        return replace(found, notes=self.notes + found.notes)

    def influence(self, comparison: Comparison, difference: Difference) -> Influence:
        """Return the influence of all segments on a difference."""
        part, sample = self._with_segments(difference, "influence")
        names, outputs = part.given.names(sample.units.n), part.given.outputs()
        found = influence_of(difference, sample, names, outputs, comparison.significance_level)
        return replace(found, signature=comparison.signature_of(difference))

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
        samples, names, _ = self._labelled(comparison, by, "over")
        return over_labels(comparison, samples, unit_name(by, "stratum"), names)

    def by(self, comparison: Comparison, labels: str | Iterable[Hashable]) -> Comparison:
        """Return the comparison with a row for each stratum that the labels make."""
        if len(comparison.tasks) > 1 or self.again is None:
            raise InputError(
                "takes one task apart, and there are several, which have rows of their own; leave "
                "it out, or compare a task alone",
                argument="by",
            )
        samples, names, part = self._labelled(comparison, labels, "by")
        (first, *_), given = samples.values(), part.given
        members = first.units.members
        groups = None if members is None else given.names(first.units.n)
        strata, totals = taken_apart(list(samples.values()), names, groups)
        parts = [Part(strata[name], name) for name in strata]
        parts += [Part(total, total.label, total.label) for total in totals]
        found = self.again(parts, comparison.baseline, self.options)
        return found.noting(*heterogeneity_notes(found))

    def _labelled(
        self, comparison: Comparison, labels: str | Iterable[Hashable], asking: str
    ) -> tuple[dict[str, Sample], list[Hashable], Part]:
        """Return the samples of all metrics, a label of each segment, and their part."""
        found = [self._with_segments(d, asking) for d in comparison.differences]
        samples = {sample.of.name: sample for _, sample in found}
        given = found[0][0].given
        own = labels if isinstance(given, Total) else labels_of(given.hypotheses, labels, asking)
        if isinstance(own, str) or own is None:
            raise InputError(
                f"must be labels, one a segment, since texts have none by name; got {labels!r}",
                argument=asking,
            )
        names = listed(own, asking, "labels, one a segment")
        group_codes(names, next(iter(samples.values())).of.n_segments, asking)
        return samples, names, found[0][0]

    def beside(self, difference: Difference) -> Beside:
        """Return the texts that were compared, and the scores in each stratum."""
        part, sample = self._with_segments(difference, "influence")
        if isinstance(part.given, Total):
            # Its strata are tasks, which have rows of their own.
            return Beside((), {}, [])
        given = part.given
        names = tuple(given.names(sample.units.n))
        return Beside(
            names, given.outputs(), sample.of.by_stratum(), tuple(given.reference_texts() or ())
        )

    def _with_segments(self, difference: Difference, asking: str) -> tuple[Part, Sample]:
        """Return the part and the sample of a difference, whose segments have to be here."""
        part, sample = self._sample(difference, self._undrawn)
        if sample.is_elsewhere:
            raise InputError(
                f"{asking} needs the statistics of every segment, and a Shard keeps totals only; "
                "compare SegmentStatistics"
            )
        return part, sample

    @property
    def _undrawn(self) -> Options:
        """Options for what needs no resamples, so that nothing is drawn again."""
        return replace(self.options, method="t", test="t")

    def _sample(self, d: Difference, options: Options | None = None) -> tuple[Part, Sample]:
        """Return the part and the sample that a difference is of."""
        part = self._part(d)
        return part, _under(d.metric, part.samples(options or self.options))

    def _part(self, d: Difference) -> Part:
        return next(part for part in self.parts if part.has(d))

    def _together(self, of: Sequence[Difference], options: Options) -> list[Sample]:
        """Return the samples of several metrics, which have to be drawn together."""
        firsts = {d.metric: d for d in of}
        parts = {metric: self._part(d) for metric, d in firsts.items()}
        # All metrics of a task are drawn at once.
        drawn = {part: part.samples(options) for part in dict.fromkeys(parts.values())}
        samples = [_under(metric, drawn[part]) for metric, part in parts.items()]
        if len({(s.units.n, s.units.labels) for s in samples}) > 1:
            metrics = ", ".join(distinct(firsts))
            raise InputError(
                f"the totals of {metrics} are not of the same tasks; give metric, or task"
            )
        return samples


def _under(metric: str, samples: Sequence[Sample]) -> Sample:
    """Return the sample of a metric."""
    return next(sample for sample in samples if sample.of.name == metric)
