"""The result of a comparison, `Comparison`, and the statistics behind it, its `Evaluation`."""

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
from evalstats.results.signatures import Signature, system_name

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
    """The data and options of a comparison, used by its questions.

    `notes` come before the notes of results. Results for a task (or total) and metric are filled in
    when it is scored.
    """

    parts: Sequence[Part]
    pairs: Sequence[Pair]
    options: Options
    notes: tuple[str, ...] = ()
    places: dict[Place, Part] = field(default_factory=dict)
    #: Scores of totals and of a single task; several tasks take much memory, and are drawn again.
    kept: dict[Place, Scores] = field(default_factory=dict)
    signatures: dict[Place, Signature] = field(default_factory=dict)
    #: P-values adjusted over the pairs of each system, `(S, S)`.
    within: dict[Place, Floats] = field(default_factory=dict)
    #: Limits of the evidence for each part.
    limits: list[Limits] = field(default_factory=list)

    def drawn(self, progress: Progress | None = None) -> Iterator[tuple[Part, list[Scores]]]:
        """Yield each task and total with its scores, and report progress."""
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
        """Return the scores of the task (or total) and metric of a difference."""
        place = d.task, d.metric
        if place in self.kept:
            return self.kept[place]
        drawn = self.places[place].drawn(self.options)
        return next(scores for scores in drawn if scores.name == d.metric)

    def with_segments(self, d: Difference, asking: str) -> tuple[Task | Total, Scores]:
        """Return the task and the scores of a difference; raise without its segments."""
        part, drawn = self.places[d.task, d.metric], self.scores_of(d)
        if not isinstance(part, (Task, Total)):
            raise InputError(
                f"{asking} requires systems that share their segments, but each of these has its "
                "own"
            )
        if not drawn.has_segments:
            why = summaries_of(part.statistics)[0].why
            raise InputError(
                f"{asking} requires the statistics of every segment, but {why}. Compare "
                "SegmentStatistics instead."
            )
        return part, drawn

    def together(self, differences: Sequence[Difference]) -> list[Scores]:
        """Return the scores for several metrics, to be resampled together."""
        drawn = [self.scores_of(d) for d in {d.metric: d for d in differences}.values()]
        if len({(one.units.n, one.units.labels) for one in drawn}) > 1:
            metrics = ", ".join(one.name for one in drawn)
            raise InputError(
                f"the totals of {metrics} cover different tasks; pass metric or task to choose one"
            )
        return drawn


class _Question:
    """A method that a capability defines, as a function that takes a comparison first."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, comparison: Comparison | None, owner: type[Comparison]) -> Any:
        """Return the function, bound to a comparison."""
        function = getattr(import_module(f"evalstats.{self.module}"), self.name)
        return function if comparison is None else MethodType(function, comparison)


@dataclass(frozen=True, repr=False)
class Comparison(Listed[Difference]):
    """Differences between systems, on one task or many; a sequence of `Difference`.

    ``result["BLEU", "B"]`` is the difference of system B for a metric (case is ignored),
    ``result["BLEU", "B", "A"]`` the difference from A, and ``result["law", "BLEU", "B", "A"]`` the
    difference on a task. Names can be left out if there is only one; without a task it is the
    total, if there is one. ``result[0]`` is the first. Scores are in ``result.estimates``.

    Attributes
    ----------
    estimates, differences : Estimates, tuple of Difference
        Task by task, and within tasks by metric; then the totals.
    baseline : str or None
        The system all others are compared with; `None` for all pairs.
    test, method, alternative, adjustment, n_resamples, seed : str, int
        Significance test, interval method, alternative, p-value adjustment, number of resamples and
        seed.
    signatures : tuple of str
        Everything needed to reproduce the numbers, one per task and metric if they differ.
    notes : tuple of str
        Notes on the numbers, the most important first.
    confidence_level, significance_level : float
        Confidence level of the intervals; and 1 minus it (except for gates): adjusted p-values up
        to it are significant.
    margin, recovery : float or None
        The limit of `claim`: a difference in points, or a share of the baseline's score.
    source : Evaluation or None
        The statistics, used by `power`, `ranking` and `influence`; `None` after `from_json`.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4], "B": [3.5, 4.5, 5, 4.4]}
    >>> result = es.compare(scores, metrics=es.Mean("quality"))
    >>> print(f"{result['quality', 'B', 'A'].difference:.2f}", len(result), result.test)
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
        """Return the difference of a pair, reversed if needed."""
        is_plain = self.alternative == "two-sided" and self.margin is None and self.recovery is None
        return of_pair(differences, system, *(others or [self.baseline]), is_turnable=is_plain)

    def significant(self, difference: Difference) -> bool:
        """Return whether the adjusted p-value of a difference is at most the significance level."""
        return difference.pvalue_adjusted <= self.significance_level

    @cached_property
    def adjusted(self) -> Adjustment:
        """The adjustment of p-values, and the levels that they can reach."""
        return Adjustment(
            self.differences,
            name=self.adjustment,
            level=self.significance_level,
            alternative=self.alternative,
            n_resamples=self.n_resamples,
        )

    def signature_of(self, difference: Difference) -> Signature:
        """Return everything needed to reproduce a difference."""
        return self._signature_by_row[difference.task, difference.metric]

    @cached_property
    def _signature_by_row(self) -> dict[tuple[str, str], Signature]:
        rows = dict.fromkeys((d.task, d.metric) for d in self.differences)
        return dict(zip(rows, self.signatures, strict=True))

    def correlation(self, difference: Difference) -> float | None:
        """Return the correlation ρ of both scores of a difference, in [-1, 1].

        It follows from se² = se_a² + se_b² - 2ρ·se_a·se_b. If it is high, a comparison on the same
        segments is more precise (Miller, 2024, "Adding error bars to evals"). `None` if a score has
        no standard error.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 3.4]}
        >>> result = es.compare(scores, metrics=es.Mean("quality"))
        >>> print(f"{result.correlation(result[0]):.2f}")
        0.99
        """
        base, new = (e.standard_error for e in self.scores_of(difference))
        if not (base > 0 and new > 0):
            return None
        # As shares, since squares of large or small scores overflow.
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
        """Return one difference; names can be left out if there is only one.

        Parameters
        ----------
        metric : str, optional
            Its printed name, or the name in the call ("chrf" for chrF2); case is ignored.
        system, baseline : str, optional
            The pair, in this order.
        task : str, optional
            Name of a task or of a total; by default the total, if there is one.

        Raises
        ------
        InputError
            If there is no such difference; the message lists the existing ones. A pair in reverse
            order is reversed, except for one-sided tests, margins and recoveries, which have a
            direction.

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

    # Questions are defined by capabilities, and imported on use.
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
        """Return the comparison with notes before its own, and before the notes of its rankings."""
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
        """Draw the table with its intervals, for all or for one metric, system or baseline.

        A row is a system, a task or a pair. Filled marks are significant differences, blue if the
        system is better and vermillion if it is worse. For all pairs of more than four systems,
        scores are drawn; for several tasks, one table per pair, and for more than six pairs only
        the totals.
        """
        from evalstats.pictures import plots

        known = self.differences if metric is None else of_metric(self.differences, metric)
        asked = [d for d in known if system in (None, d.system) and baseline in (None, d.baseline)]
        if not asked:
            raise InputError(f"{system!r} and {baseline!r} were not compared with each other")
        return plots.differences(self, asked, ax)

    def plot_scores(self, metric: str | None = None, ax: Panels | None = None) -> Panels:
        """Draw the scores with their intervals, for all metrics or one; on `ax` if passed."""
        return self.estimates.plot(metric, ax)

    def describe(self) -> str:
        """Return the sentences for a paper's methods section: what was compared, and how."""
        from evalstats.pictures.methods import methods_section

        return methods_section(self.estimates, self)

    @property
    def evaluation(self) -> Evaluation:
        """The statistics for questions; raises for a comparison from a file, which has none."""
        if self.source is None:
            raise InputError(
                "this comparison was read from a file, which does not contain the statistics; "
                "run compare again"
            )
        return self.source

    def _verdict(self, difference: Difference) -> dict[str, Any]:
        return {"correlation": self.correlation(difference)}

    def _plain(self, document: dict[str, Any]) -> dict[str, Any]:
        for plain, difference in zip(document["differences"], self.differences, strict=True):
            plain |= self._verdict(difference)
        return {**document, "estimates": document["estimates"]["estimates"]}

    def _check(self) -> None:
        check_pairs(self)

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for d in self.differences:
            # Derived fields that readers look for are included with the scores.
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
        """Return the names of the compared systems."""
        first, systems = self.differences[0], distinct(e.system for e in self.estimates)
        if len(systems) == 2:
            return f"{first.system} against {first.baseline}"
        if self.baseline is not None:
            others = counted(len(systems) - 1, system_name(self.estimates))
            return f"{others} against {self.baseline}"
        best = distinct(
            ranked(scores)[0].system
            for scores in by_metric(self.estimates.totals or self.estimates).values()
        )
        number = counted(len(systems), system_name(self.estimates))
        return number if len(best) > 1 else f"{best[0]} has the best score of {number}"

    def _findings(self) -> list[Finding]:
        from evalstats.pictures.findings import comparison_findings

        return comparison_findings(self)

    def _sections(self, texts: Texts) -> dict[str, str]:
        from evalstats.pictures.report import folded, of_segments

        if self.source is None:
            return {**folded(self), **super()._sections(texts)}
        return {**folded(self), **of_segments(self, self.source, texts)}
