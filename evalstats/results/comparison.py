"""What users get of a comparison: `Comparison`; frozen, printable, equal where its numbers are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, overload

from evalstats.designs.trials.cases import Cases
from evalstats.errors import InputError
from evalstats.pictures import plots
from evalstats.questions.domains.across import OverStrata
from evalstats.questions.domains.correlations import Correlated
from evalstats.questions.domains.heterogeneity import ByTask
from evalstats.questions.influence.influence import Influence
from evalstats.questions.influence.joint import JointClaim, joint_claim
from evalstats.questions.power.planned import Power
from evalstats.questions.ranking.rankings import Ranking, Rankings
from evalstats.results import convert, tabular
from evalstats.results.estimates import Estimate as Estimate
from evalstats.results.estimates import Estimates as Estimates
from evalstats.results.forms import Listed, as_digits, is_paper
from evalstats.results.layout import comparison_tables, paper_records, paper_table, title
from evalstats.results.lookup import of_metric, of_pair, of_task
from evalstats.results.records import Adjustment, ContrastName, Difference, by_metric, check_pairs
from evalstats.results.sentences import describe_comparison
from evalstats.results.source import Composite, Source

if TYPE_CHECKING:
    from evalstats.pictures.figures import Panels


@dataclass(frozen=True, repr=False)
class Comparison(Listed[Difference], ByTask, Correlated):
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
    contrast : {"difference", "ratio", "log-ratio"}
        What the intervals of pairs are of.
    adjust_over : {"pairs", "metrics"}
        What one family of p-values is: all pairs under one metric, or under all metrics.
    source : object or None
        The statistics, which `power`, `ranking` and `influence` ask; `None` after `from_json`.
    """

    estimates: Estimates
    differences: tuple[Difference, ...]
    baseline: str | None
    test: str
    method: str
    alternative: str
    adjustment: str
    confidence_level: convert.Level
    n_resamples: convert.Whole
    seed: convert.Seed
    signatures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    significance_level: convert.Level = 0.05
    margin: convert.Size | None = None
    recovery: convert.Size | None = None
    contrast: ContrastName = "difference"
    adjust_over: Annotated[str, convert.one_of(("pairs", "metrics"))] = "pairs"
    source: Source[Comparison] | None = field(default=None, compare=False)

    def _rows(self) -> Sequence[Difference]:
        return self.differences

    def _named(self, some: Sequence[Difference], system: str, *others: str) -> Difference:
        return self._of_pair(some, system, *(others or [self.baseline]))

    def _of_pair(self, some: Sequence[Difference], system: str | None, *others: Any) -> Difference:
        """Return the difference of a pair, turned where it was compared the other way round."""
        is_plain = self.alternative == "two-sided" and self.margin is None and self.recovery is None
        return of_pair(some, system, *others, is_turnable=is_plain)

    def significant(self, difference: Difference) -> bool:
        """Return whether its adjusted p-value is at most the significance level."""
        return difference.pvalue_adjusted <= self.significance_level

    def claim(self, difference: Difference) -> str | None:
        """Return "equivalent", "not worse" or "not shown"; `None` without margin or recovery.

        By p-values that are adjusted for all pairs and tasks, as those of verdicts are.
        """
        if self.margin is None and self.recovery is None:
            return None
        found = difference.margin_test
        return "not shown" if found is None else found.claim(self.significance_level)

    @cached_property
    def adjusted(self) -> Adjustment:
        """What p-values are adjusted for, and which levels they can reach."""
        return Adjustment(
            self.differences,
            name=self.adjustment,
            level=self.significance_level,
            alternative=self.alternative,
            n_resamples=self.n_resamples,
            over=self.adjust_over,
        )

    def signature_of(self, difference: Difference) -> str:
        """Return everything needed to make a difference again."""
        return self._signature_by_row[difference.task, difference.metric]

    @cached_property
    def _signature_by_row(self) -> dict[tuple[str, str], str]:
        rows = dict.fromkeys((d.task, d.metric) for d in self.differences)
        return dict(zip(rows, self.signatures, strict=True))

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
        return self._of_pair(of_metric(of_task(known, task), None), system, against)

    def power(
        self,
        difference: float | None = None,
        n_segments: int | None = None,
        power: float = 0.8,
        significance_level: float | None = None,
        runs: int | None = None,
        *,
        trials: int | None = None,
        price: tuple[float, float] | None = None,
        metric: str | None = None,
        task: str | None = None,
    ) -> Power:
        """Say which differences such a test set can find: a `Power`, as `evalstats.power`.

        One test at `significance_level`, by default that of this comparison, not adjusted for
        several; the comparison's alternative, unit, strata and confidence level. Of several tasks
        it is about the total, unless `task` names one.
        """
        level = self.significance_level if significance_level is None else significance_level
        of = self._of(task, metric)
        return self._asked().power(
            of,
            difference,
            n_segments=n_segments,
            runs=runs,
            level=level,
            target=power,
            trials=trials,
            price=price,
        )

    @overload
    def ranking(self, metric: str, *, task: str | None = None) -> Ranking: ...
    @overload
    def ranking(
        self,
        *,
        composite: str | Composite,
        higher_is_better: bool = True,
        task: str | None = None,
    ) -> Ranking: ...
    @overload
    def ranking(self, *, task: str | None = None) -> Ranking | Rankings: ...
    def ranking(
        self,
        metric: str | None = None,
        *,
        composite: str | Composite | None = None,
        higher_is_better: bool = True,
        task: str | None = None,
    ) -> Ranking | Rankings:
        """Rank the systems: a `Ranking`, with intervals of the ranks and tiers of ties.

        Of all pairs, two-sided, with a family-wise adjustment, at `significance_level`. The
        intervals of all ranks at once are those that this comparison's verdicts leave; that of one
        system alone is from max-T over its own (Mogstad, Romano, Shaikh and Wilhelm, 2024).

        Parameters
        ----------
        metric, task : str, optional
            As in `difference`; without a metric, of several, they are `Rankings`, one each.
        composite : {"autorank", "borda"} or callable, optional
            One score of all metrics: WMT25's AutoRank, the mean rank, or a function of the scores
            ``(..., S, M) -> (..., S)`` of S systems under M metrics, in the order of the
            comparison. It may let systems depend on one another, and is resampled with them.
        higher_is_better : bool
            Direction of a function; "autorank" and "borda" know theirs.

        Raises
        ------
        InputError
            For a comparison with a baseline, one-sided, not adjusted, or read from JSON.

        Examples
        --------
        >>> import evalstats as es
        >>> from evalstats.data import load_sample
        >>> sample = load_sample()
        >>> ranking = es.compare(sample.systems, sample.references, "chrf").ranking()
        >>> [(r.system, r.low, r.high, r.tier) for r in ranking][:2]
        [('clearly-better', 1, 1, 'a'), ('slightly-better', 2, 4, 'b')]
        """
        source = self._asked()
        if composite is None:
            every = by_metric(self._of(task, metric)).values()
            found = [source.ranking(self, of) for of in every]
            return found[0] if len(found) == 1 else Rankings(tuple(found))
        if metric is not None:
            raise InputError("give metric or composite, not both: a composite is of all metrics")
        return source.composite(self, self._of(task), composite, higher_is_better)

    def influence(
        self,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
        task: str | None = None,
    ) -> Influence:
        """Say which segments, or groups, drive a difference: an `Influence`.

        It has the influence of each on the difference, and which of them would have to go for its
        sign to change (Broderick, Giordano and Meager, 2020). Parameters are those of `difference`.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 1]}
        >>> found = es.compare(scores, metrics=es.Mean("marks")).influence()
        >>> found.ids[0], found.sign_without
        ('4', ('4',))
        """
        difference = self.difference(metric, system, baseline, task)
        return self._asked().influence(self, difference)

    def cases(
        self,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
        task: str | None = None,
    ) -> Cases:
        """Say which items got worse, each tested by itself over its trials: `Cases`.

        For items with several answers that are right or wrong, under any metric of trials, or a
        mean of logs. Exact tests (Boschloo, 1970, or Fisher, 1935), adjusted over all items of all
        tasks (Tarone, 1990; Holm, 1979). Parameters are those of `difference`; metrics of the same
        trials are one.

        Examples
        --------
        >>> import evalstats as es
        >>> old = [[1] * 5, [1, 1, 0, 1, 1], [0] * 5]
        >>> new = [[0] * 5, [1, 0, 1, 1, 1], [0] * 5]
        >>> result = es.compare({"old": old, "new": new}, metrics=es.PassAll(1), n_resamples=99)
        >>> print(result.cases().sentence)
        1 of 3 items is worse: 0 5/5 → 0/5.
        """
        return self._asked().cases(self, metric, system, baseline, task)

    def over(self, by: str | Iterable[Hashable]) -> OverStrata:
        """Say whether differences hold in other domains: strata as a sample of strata.

        The intervals of a comparison are about other segments of the same domains. Here a domain is
        a unit: of each pair and metric the differences d_1, ..., d_k of corpus scores in k strata,
        their mean m, its t interval m ± t·s/√k, and where the difference in one more stratum lies,
        m ± t·s·√(1 + 1/k), with k - 1 degrees of freedom (after Higgins, Thompson and
        Spiegelhalter, 2009, for whom studies of unlike precision are the strata).

        Parameters
        ----------
        by : str or sequence
            The name of a label that the segments have; or labels, one a segment; or "task" for the
            tasks of a suite.

        Raises
        ------
        InputError
            For fewer than 2 strata, a stratum without a finite score, an unknown label, and a
            comparison of a `Shard` or from JSON.

        Notes
        -----
        Measured on WMT25 (five pairs of languages, four metrics, one of four domains left out,
        1,008 predictions): the difference in the domain left out lay within the interval of the
        others' segments .33 of the time, of their documents .46, and within this prediction .94.

        Examples
        --------
        >>> import evalstats as es
        >>> from evalstats.data import load_sample
        >>> sample = load_sample()
        >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
        >>> (found,) = es.compare(pair, sample.references, "chrf").over(sample.domains)
        >>> found.n_strata, found.n_same_sign
        (4, 4)
        >>> found.predicted_low < found.low < found.difference < found.high < found.predicted_high
        True
        """
        return self._asked().over(self, by)

    def joint(
        self,
        system: str,
        baseline: str | None = None,
        metrics: Sequence[str] | None = None,
        task: str | Sequence[str] | None = None,
    ) -> JointClaim:
        """Ask whether a system is better under several metrics, or on several tasks, at once.

        The claim "better under BLEU *and* chrF" is shown where each of the two is, at the level
        itself: its p-value is the largest of the one-sided ones (an intersection-union test;
        Berger, 1982). It is of this pair alone; adjust the p-values of several pairs.

        Parameters
        ----------
        system, baseline : str
            Which one is better, and than which, in either order.
        metrics : sequence of str, optional
            Some metrics of the comparison, by default all.
        task : str or sequence of str, optional
            On each of these; by default in total where there is one.

        Raises
        ------
        InputError
            For what was not compared, and where the alternative is one-sided.

        Examples
        --------
        >>> import evalstats as es
        >>> from evalstats.data import load_sample
        >>> sample = load_sample()
        >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
        >>> result = es.compare(pair, sample.references, ["bleu", "chrf"], n_resamples=999)
        >>> print(result.joint("clearly-better", "baseline"))
        clearly-better is better than baseline under each of BLEU, chrF2 at 0.05: one-sided p ...
        """
        against = self.baseline if baseline is None else baseline
        tasks = [task] if task is None or isinstance(task, str) else task
        some = [of_task(self.differences, name) for name in tasks]
        return joint_claim(self, some, system, against, metrics)

    def noting(self, *notes: str) -> Comparison:
        """Return the comparison with notes before its own, and before those of its rankings."""
        source = None if self.source is None else self.source.noting(*notes)
        return replace(super().noting(*notes), source=source)

    def plot(
        self,
        metric: str | None = None,
        ax: Panels | None = None,
        *,
        system: str | None = None,
        baseline: str | None = None,
    ) -> Panels:
        """Draw the differences with their intervals, the largest first, or a row a task.

        A filled dot is a significant difference, blue where the system is better and vermillion
        where it is worse. Tasks have a panel a pair, of more than six pairs only their totals.
        """
        return plots.differences(self, metric, ax, system, baseline)

    def plot_scores(self, metric: str | None = None, ax: Panels | None = None) -> Panels:
        """Draw the scores with their intervals."""
        return self.estimates.plot(metric, ax)

    def plot_pvalues(
        self, metric: str | None = None, ax: Panels | None = None, *, task: str | None = None
    ) -> Panels:
        """Draw the adjusted p-values of all pairs, on a task or in total, best system first."""
        return plots.pvalues(self, metric, ax, task)

    def describe(self) -> str:
        """Return the sentences for a paper's section on methods: what was compared, and how."""
        return describe_comparison(self)

    def to_text(
        self,
        *,
        verbose: bool = False,
        digits: int | None = None,
        matrix: bool | None = None,
        layout: str | None = None,
    ) -> str:
        """Return the tables as `print` shows them; see `Estimate.to_text`.

        `matrix` says whether many systems have a matrix of all pairs below their ranks; by default
        up to twelve do. With `verbose`, differences have their standard errors, and the correlation
        of the two scores.
        """
        if is_paper(layout):
            return super().to_text(verbose=verbose, digits=digits, layout=layout)
        tables = comparison_tables(self, as_digits(digits), matrix, verbose)
        return tabular.Page(tables, *self._below(verbose)).text()

    def _asked(self) -> Source[Comparison]:
        """Return the statistics, or say that a comparison from a file has none."""
        if self.source is None:
            raise InputError(
                "this comparison was read from a file, which holds no statistics; compare again"
            )
        return self.source

    def _of(self, task: str | None, metric: str | None = None) -> list[Difference]:
        """Return the differences of a task, or in total, and perhaps of one metric."""
        some = of_task(self.differences, task)
        return some if metric is None else of_metric(some, metric)

    def _verdict(self, difference: Difference) -> dict[str, Any]:
        said = {"significant": self.significant(difference), "claim": self.claim(difference)}
        return said | {"correlation": self.correlation(difference)}

    def _plain(self, found: dict[str, Any]) -> dict[str, Any]:
        for plain, difference in zip(found["differences"], self.differences, strict=True):
            plain |= self._verdict(difference)
        return {**found, "estimates": found["estimates"]["estimates"]}

    def _check(self) -> None:
        check_pairs(self)

    def _records(self) -> list[dict[str, Any]]:
        bounds = {(e.task, e.metric, e.system): e for e in self.estimates}
        records = []
        for d in self.differences:
            record = convert.row(d) | self._verdict(d)
            for side in ("baseline", "system"):
                e = bounds[d.task, d.metric, record[side]]
                record |= {f"{side}_low": e.low, f"{side}_high": e.high}
            records.append({**record, "n_segments": e.n_segments, "unit": e.unit})
        return records

    def _tables(self, digits: int | None = None) -> list[tabular.Table]:
        return comparison_tables(self, digits)

    def _paper(self, digits: int | None = None) -> tabular.Table:
        return paper_table(self.estimates, self, digits)

    def _paper_records(self) -> list[dict[str, Any]]:
        return paper_records(self.estimates, self)

    def _title(self) -> str:
        return title(self.estimates)
