"""What users get of a comparison: `Comparison`, and the statistics behind it, its `Evaluation`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import takewhile
from types import MethodType
from typing import TYPE_CHECKING, Annotated, Any, get_args

from evalstats.analysis.options import Options
from evalstats.analysis.scores import Floats, Pair, Scores
from evalstats.analysis.settings import AdjustmentName, Alternative
from evalstats.analysis.tasks import Part, Task, Total, summaries_of
from evalstats.errors import InputError
from evalstats.resampling.executors import Progress
from evalstats.results import convert, tabular
from evalstats.results.estimates import Estimate, Estimates
from evalstats.results.forms import Finding, Listed
from evalstats.results.layout import comparison_tables, title
from evalstats.results.notes import Limits
from evalstats.results.records import (
    Adjustment,
    Difference,
    IntervalName,
    TestName,
    by_metric,
    check_pairs,
    counted,
    distinct,
    of_metric,
    of_pair,
    of_task,
    ranked,
)
from evalstats.results.signatures import Signature

if TYPE_CHECKING:
    from evalstats.designs.trials.cases import cases_of
    from evalstats.pictures.figures import Panels
    from evalstats.pictures.report import Texts
    from evalstats.questions.domains import by_stratum, heterogeneity_of, joint_claim
    from evalstats.questions.influence import influence_of
    from evalstats.questions.power.planning import power_of
    from evalstats.questions.ranking import ranking_of


#: The name of a task, or of a total, and of a metric.
Place = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is compared, and how; the questions of a comparison are about it.

    `notes` stand before those of the results. What is known of a task, or a total, under a metric
    is filled in where it is scored.
    """

    parts: Sequence[Part]
    pairs: Sequence[Pair]
    options: Options
    notes: tuple[str, ...] = ()
    places: dict[Place, Part] = field(default_factory=dict)
    #: What was drawn of totals and of an only task; several take much memory, and are drawn again.
    kept: dict[Place, Scores] = field(default_factory=dict)
    signatures: dict[Place, Signature] = field(default_factory=dict)
    #: P-values adjusted within the pairs of each system, `(S, S)`.
    within: dict[Place, Floats] = field(default_factory=dict)
    #: What limits what is said of each part.
    limits: list[Limits] = field(default_factory=list)

    def drawn(self, progress: Progress | None = None) -> Iterator[tuple[Part, list[Scores]]]:
        """Yield each task and total with what is drawn of it, and say which task is done."""
        n_tasks = sum(part.total is None for part in self.parts)
        for i, part in enumerate(self.parts):
            drawn = part.drawn(self.options)
            by_place = {(part.name, scores.name): scores for scores in drawn}
            self.places.update(dict.fromkeys(by_place, part))
            if len(self.parts) == 1 or part.total is not None:
                self.kept.update(by_place)
            yield part, drawn
            if progress is not None and part.total is None:
                progress(i + 1, n_tasks, "tasks")

    def scores_of(self, d: Difference) -> Scores:
        """Return what is drawn of the task, or total, of a difference under its metric."""
        place = d.task, d.metric
        if place in self.kept:
            return self.kept[place]
        drawn = self.places[place].drawn(self.options)
        return next(scores for scores in drawn if scores.name == d.metric)

    def with_segments(self, d: Difference, asking: str) -> tuple[Task | Total, Scores]:
        """Return the task and the scores of a difference, whose segments have to be here."""
        part, drawn = self.places[d.task, d.metric], self.scores_of(d)
        if not isinstance(part, (Task, Total)):
            raise InputError(
                f"{asking} needs systems with the same segments, and each of these has its own"
            )
        if not drawn.has_segments:
            why = summaries_of(part.statistics)[0].why
            raise InputError(
                f"{asking} needs the statistics of every segment, and {why}; "
                "compare SegmentStatistics"
            )
        return part, drawn

    def together(self, differences: Sequence[Difference]) -> list[Scores]:
        """Return the scores under several metrics, which have to be drawn together."""
        drawn = [self.scores_of(d) for d in {d.metric: d for d in differences}.values()]
        if len({(one.units.n, one.units.labels) for one in drawn}) > 1:
            metrics = ", ".join(one.name for one in drawn)
            raise InputError(
                f"the totals of {metrics} are not of the same tasks; give metric, or task"
            )
        return drawn


class _Question:
    """A method that a capability defines, as a function that takes a comparison first."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, comparison: Comparison | None, owner: type[Comparison]) -> Any:
        """Return the function, of a comparison as its method."""
        function = getattr(import_module(f"evalstats.{self.module}"), self.name)
        return function if comparison is None else MethodType(function, comparison)


@dataclass(frozen=True, repr=False)
class Comparison(Listed[Difference]):
    """Differences between systems, on one task or many; a sequence of `Difference`.

    ``result["BLEU", "B"]`` is the difference of system B under a metric, in any case,
    ``result["BLEU", "B", "A"]`` that from A, and ``result["law", "BLEU", "B", "A"]`` that on a
    task; what there is one of can be left out, and without a task it is the total where there is
    one. ``result[0]`` is the first. Scores are in ``result.estimates``.

    Attributes
    ----------
    estimates, differences : Estimates, tuple of Difference
        Task by task, in each metric by metric, and then the totals.
    baseline : str or None
        The system all others are compared with; `None` for all pairs.
    test, method, alternative, adjustment, n_resamples, seed : str, int
        Significance test, interval method, alternative, p-value adjustment, and what was drawn.
    signatures : tuple of str
        Everything needed to make the numbers again, one for each task and metric that differ in it.
    notes : tuple of str
        What a careful reader should know, the most important first.
    confidence_level, significance_level : float
        Of the intervals; 1 less that but for gates: adjusted p-values up to it are significant.
    margin, recovery : float or None
        What `claim` is about: a difference in points, or a share of the baseline's score.
    source : Evaluation or None
        The statistics, which `power`, `ranking` and `influence` ask; `None` after `from_json`.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4], "B": [3.5, 4.5, 5, 4.4]}
    >>> result = es.compare(marks, metrics=es.Mean("marks"))
    >>> print(f"{result['marks', 'B', 'A'].difference:.2f}", len(result), result.test)
    0.35 1 bootstrap
    """

    estimates: Estimates
    differences: tuple[Difference, ...]
    baseline: str | None
    test: TestName
    method: IntervalName
    alternative: Annotated[str, convert.one_of(get_args(Alternative))]
    adjustment: Annotated[str, convert.one_of(get_args(AdjustmentName))]
    confidence_level: convert.Level
    n_resamples: convert.Whole
    seed: convert.Seed
    signatures: tuple[Signature, ...]
    notes: tuple[str, ...] = ()
    significance_level: convert.Level = 0.05
    margin: convert.Size | None = None
    recovery: convert.Size | None = None
    source: Evaluation | None = field(default=None, compare=False)

    def _rows(self) -> Sequence[Difference]:
        return self.differences

    def _named(
        self, differences: Sequence[Difference], system: str | None, *others: Any
    ) -> Difference:
        """Return the difference of a pair, turned where it was compared the other way round."""
        is_plain = self.alternative == "two-sided" and self.margin is None and self.recovery is None
        return of_pair(differences, system, *(others or [self.baseline]), is_turnable=is_plain)

    def significant(self, difference: Difference) -> bool:
        """Return whether its adjusted p-value is at most the significance level."""
        return difference.pvalue_adjusted <= self.significance_level

    @cached_property
    def adjusted(self) -> Adjustment:
        """What p-values are adjusted for, and which levels they can reach."""
        return Adjustment(
            self.differences,
            name=self.adjustment,
            level=self.significance_level,
            alternative=self.alternative,
            n_resamples=self.n_resamples,
        )

    def signature_of(self, difference: Difference) -> Signature:
        """Return everything needed to make a difference again."""
        return self._signature_by_row[difference.task, difference.metric]

    @cached_property
    def _signature_by_row(self) -> dict[tuple[str, str], Signature]:
        rows = dict.fromkeys((d.task, d.metric) for d in self.differences)
        return dict(zip(rows, self.signatures, strict=True))

    def correlation(self, difference: Difference) -> float | None:
        """Return the correlation ρ of both scores, se² = se_a² + se_b² - 2ρ·se_a·se_b.

        The higher it is, the more is gained by comparing systems on the same segments (Miller,
        2024, "Adding error bars to evals"). `None` where a score has no error.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 3.4]}
        >>> result = es.compare(scores, metrics=es.Mean("marks"))
        >>> print(f"{result.correlation(result[0]):.2f}")
        0.99
        """
        base, new = (e.standard_error for e in self.scores_of(difference))
        if not (base > 0 and new > 0):
            return None
        # Of shares, since squares of large or small scores are no numbers.
        a, share = base / new, difference.standard_error / new
        return min(max((1 + a * a - share * share) / (2 * a), -1.0), 1.0)

    def scores_of(self, difference: Difference) -> tuple[Estimate, Estimate]:
        """Return the scores of the baseline and of the system of a difference."""
        d, known = difference, self.estimates.by_row
        return known[d.task, d.metric, d.baseline], known[d.task, d.metric, d.system]

    def difference(
        self,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
        task: str | None = None,
    ) -> Difference:
        """Return one difference; what there is one of can be left out.

        Parameters
        ----------
        metric : str, optional
            Its printed name, or as it was asked for ("chrf" is chrF2), in any case.
        system, baseline : str, optional
            What was compared, in this order.
        task : str, optional
            Name of a task or of a total; by default the total where there is one.

        Raises
        ------
        InputError
            Where there is none; the message says which there are. A pair the other way round is
            turned, but for one-sided tests, margins and recoveries, which are about one direction.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [0.8, 0.7, 0.9, 0.6], "B": [0.8, 0.8, 0.9, 0.7]}
        >>> result = es.compare(scores, metrics=es.Mean("COMET"))
        >>> print(f"{result.difference('COMET', 'B', 'A').difference:.2f}")
        0.05
        """
        known = self.differences if metric is None else of_metric(self.differences, metric)
        against = self.baseline if baseline is None else baseline
        return self._named(of_metric(of_task(known, task), None), system, against)

    # Questions are defined by capabilities, and imported when they are asked.
    if TYPE_CHECKING:
        power = power_of
        ranking = ranking_of
        influence = influence_of
        cases = cases_of
        by = by_stratum
        heterogeneity = heterogeneity_of
        joint = joint_claim
    else:
        power = _Question("questions.power.planning", "power_of")
        ranking = _Question("questions.ranking", "ranking_of")
        influence = _Question("questions.influence", "influence_of")
        cases = _Question("designs.trials.cases", "cases_of")
        by = _Question("questions.domains", "by_stratum")
        heterogeneity = _Question("questions.domains", "heterogeneity_of")
        joint = _Question("questions.domains", "joint_claim")

    def noting(self, *notes: str) -> Comparison:
        """Return the comparison with notes before its own, and before those of its rankings."""
        source = self.source
        if source is not None:
            source = replace(source, notes=(*notes, *source.notes))
        return replace(super().noting(*notes), source=source)

    def plot(  # type: ignore[override]
        self,
        metric: str | None = None,
        ax: Panels | None = None,
        *,
        system: str | None = None,
        baseline: str | None = None,
    ) -> Panels:
        """Draw the table with its intervals: of a metric, of a system, or against a baseline.

        A row is a system, a task or a pair. Filled marks are significant differences, blue where
        the system is better and vermillion where it is worse; of all pairs of more than four
        systems the scores are drawn, of several tasks a table a pair, and of more than six pairs
        the totals.
        """
        from evalstats.pictures import plots

        known = self.differences if metric is None else of_metric(self.differences, metric)
        asked = [d for d in known if system in (None, d.system) and baseline in (None, d.baseline)]
        if not asked:
            raise InputError(f"there is no pair of {system!r} and {baseline!r}")
        return plots.differences(self, asked, ax)

    def plot_scores(self, metric: str | None = None, ax: Panels | None = None) -> Panels:
        """Draw the scores with their intervals."""
        return self.estimates.plot(metric, ax)

    def describe(self) -> str:
        """Return the sentences for a paper's section on methods: what was compared, and how."""
        from evalstats.pictures.methods import methods_section

        return methods_section(self.estimates, self)

    @property
    def evaluation(self) -> Evaluation:
        """The statistics that questions ask, or an error: a comparison from a file has none."""
        if self.source is None:
            raise InputError(
                "this comparison was read from a file, which holds no statistics; compare again"
            )
        return self.source

    def _verdict(self, difference: Difference) -> dict[str, Any]:
        return {"correlation": self.correlation(difference)}

    def _plain(self, found: dict[str, Any]) -> dict[str, Any]:
        for plain, difference in zip(found["differences"], self.differences, strict=True):
            plain |= self._verdict(difference)
        return {**found, "estimates": found["estimates"]["estimates"]}

    def _check(self) -> None:
        check_pairs(self)

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for d in self.differences:
            # What a reader looks for stands beside the scores, though it is derived.
            row = convert.row(d)
            first = [*takewhile(lambda name: name != "low", row), "difference"]
            record = {**{name: row[name] for name in first}, **row, **self._verdict(d)}
            for side, e in zip(("baseline", "system"), self.scores_of(d), strict=True):
                record |= {f"{side}_low": e.low, f"{side}_high": e.high}
            records.append({**record, "n_segments": e.n_segments, "unit": e.unit})
        return records

    def _tables(self, digits: int | None = None) -> list[tabular.Table]:
        return comparison_tables(self, digits)

    def _title(self) -> str:
        return title(self.estimates.rows or self.estimates)

    def _headline(self) -> str:
        """Return who is compared."""
        first, systems = self.differences[0], distinct(e.system for e in self.estimates)
        if len(systems) == 2:
            return f"{first.system} against {first.baseline}"
        if self.baseline is not None:
            return f"{counted(len(systems) - 1, 'system')} against {self.baseline}"
        best = distinct(
            ranked(scores)[0].system
            for scores in by_metric(self.estimates.totals or self.estimates).values()
        )
        of = f"{len(systems)} systems"
        return of if len(best) > 1 else f"{best[0]} scores best of {of}"

    def _findings(self) -> list[Finding]:
        from evalstats.pictures.findings import comparison_findings

        return comparison_findings(self)

    def _sections(self, texts: Texts) -> dict[str, str]:
        from evalstats.pictures.report import folded, of_segments

        if self.source is None:
            return {**folded(self), **super()._sections(texts)}
        return {**folded(self), **of_segments(self, self.source, texts)}
