"""What can be asked of a comparison once it is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from evalstats.errors import InputError
from evalstats.results.joint import JointClaim, joint_claim
from evalstats.results.records import Difference, distinct, is_mixed, of_metric, of_task


class Verdicts:
    """What the differences of a comparison say at its level."""

    differences: tuple[Difference, ...]
    baseline: str | None
    alternative: str
    adjustment: str
    n_resamples: int
    significance_level: float
    signatures: tuple[str, ...]
    margin: float | None
    recovery: float | None
    source: Any

    @property
    def rows(self) -> tuple[Difference, ...]:
        """The differences on tasks, without the totals."""
        return tuple(d for d in self.differences if d.aggregate is None)

    @property
    def totals(self) -> tuple[Difference, ...]:
        """The totals: one of each pair and metric."""
        return tuple(d for d in self.differences if d.aggregate is not None)

    def significant(self, difference: Difference) -> bool:
        """Return whether its adjusted p-value is at most the significance level."""
        return difference.pvalue_adjusted <= self.significance_level

    def claim(self, difference: Difference) -> str | None:
        """Return "equivalent", "not worse" or "not shown"; `None` without margin or recovery."""
        if self.margin is None and self.recovery is None:
            return None
        found, level = difference.margin_test, self.significance_level
        if found is None:
            return "not shown"
        if found.pvalue_equivalence is not None and found.pvalue_equivalence <= level:
            return "equivalent"
        return "not worse" if found.pvalue_not_worse <= level else "not shown"

    @cached_property
    def is_mixed(self) -> bool:
        """Whether a total is of several metrics, so that those of all tasks are one family."""
        return is_mixed(self.differences)

    @cached_property
    def _families(self) -> dict[tuple[bool, str], Counter[str]]:
        """How many comparisons of each task are in each family."""
        found: dict[tuple[bool, str], Counter[str]] = {}
        for d in self.differences:
            found.setdefault(self._family(d), Counter())[d.task] += 1
        return found

    def _family(self, difference: Difference) -> tuple[bool, str]:
        return difference.aggregate is not None, "" if self.is_mixed else difference.metric

    def n_compared(self, difference: Difference) -> int:
        """Return how many rows, or totals, are adjusted together with this one, itself included."""
        return sum(self._families[self._family(difference)].values())

    def family_factor(self, difference: Difference) -> int:
        """Return what the adjustment multiplies the smallest p-value by."""
        if self.adjustment == "max-t":
            return len(self._families[self._family(difference)])
        return 1 if self.adjustment == "none" else self.n_compared(difference)

    def pvalue_name(self, several: bool = True) -> str:
        """Return ``p (max-t)``, the name of the p-value that verdicts are of, or ``p``."""
        return f"p ({self.adjustment})" if several and self.adjustment != "none" else "p"

    def min_pvalue(self, difference: Difference) -> float:
        """Return the smallest p-value of units that can be swapped in so many ways."""
        if difference.test == "mcnemar":
            return 0.0
        sides = 2.0 if self.alternative == "two-sided" else 1.0
        return min(1.0, sides * 0.5**difference.n_differing)

    def signature_of(self, difference: Difference) -> str:
        """Return everything needed to make a difference again."""
        places = list(dict.fromkeys((d.task, d.metric) for d in self.differences))
        return self.signatures[places.index((difference.task, difference.metric))]

    def cannot_reject(self, difference: Difference) -> bool:
        """Return whether too few resamples, or units, keep its p-value above the level."""
        is_drawn = difference.test == "ar" and not difference.exact
        drawn = 1 / (self.n_resamples + 1) if is_drawn else 0.0
        floor = max(drawn, self.min_pvalue(difference)) * self.family_factor(difference)
        return floor > self.significance_level and not self.significant(difference)


class Questions(Verdicts):
    """Questions that the statistics answer, without the texts being read again."""

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
            Its printed name, in any case.
        system, baseline : str, optional
            What was compared, in this order.
        task : str, optional
            Name of a task or of a total; by default the total where there is one.

        Raises
        ------
        InputError
            Where there is none; the message says which there are. All pairs are compared once, the
            later system with the earlier one: the sign of the other way round is the opposite.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [0.8, 0.7, 0.9, 0.6], "B": [0.8, 0.8, 0.9, 0.7]}
        >>> result = es.compare(scores, metrics=es.Mean("COMET"))
        >>> print(f"{result.difference('COMET', 'B', 'A').difference:.2f}")
        0.05
        """
        known = self.differences if metric is None else of_metric(self.differences, metric)
        return self._only(of_metric(of_task(known, task), None), system, baseline)

    def _only(
        self, some: Sequence[Difference], system: str | None = None, baseline: str | None = None,
        *more: str,
    ) -> Difference:  # fmt: skip
        """Return the only difference of a pair among those of a task and a metric."""
        against = self.baseline if baseline is None else baseline
        names = distinct(name for d in some for name in (d.baseline, d.system))
        for argument, name in (
            ("system", system),
            ("baseline", against),
            *(("key", x) for x in more),
        ):
            if name is not None and (name not in names or argument == "key"):
                raise InputError(f"{argument} must be one of {', '.join(names)}; got {name!r}")
        found = [d for d in some if system in (None, d.system) and against in (None, d.baseline)]
        if against is None:
            found = [d for d in some if system in (None, d.system, d.baseline)]
        if len(found) == 1 and system in (None, found[0].system):
            return found[0]
        pairs = "; ".join(f"{d.system!r} from {d.baseline!r}" for d in found[:5] or some[:5])
        if len(found) > 1:
            raise InputError(f"baseline is missing: say which of {len(found)} pairs, {pairs}")
        if any((d.system, d.baseline) == (against, system) for d in some):
            raise InputError(
                f"the difference of {system!r} from {against!r} is that of {against!r} from "
                f"{system!r} with the opposite sign: ask for that one"
            )
        raise InputError(f"no difference of {system!r} from {against!r}; there are {pairs}")

    def power(
        self,
        difference: float | None = None,
        n_segments: int | None = None,
        power: float = 0.8,
        significance_level: float | None = None,
        runs: int | None = None,
        *,
        metric: str | None = None,
        task: str | None = None,
    ) -> Any:
        """Say which differences such a test set can find: a `Power`, as `evalstats.power`.

        One test at `significance_level`, by default that of this comparison, not adjusted for
        several; the comparison's alternative, unit, strata and confidence level. Of several tasks
        it is about the total, unless `task` names one.
        """
        level = self.significance_level if significance_level is None else significance_level
        return self._asked().power(
            self._place(task, metric), difference, n_segments, runs, level, power
        )

    def ranking(
        self,
        metric: str | None = None,
        *,
        composite: str | Callable[[Any], Any] | None = None,
        higher_is_better: bool = True,
        task: str | None = None,
    ) -> Any:
        """Rank the systems: a `Ranking`, with intervals of the ranks and tiers of ties.

        Of all pairs, two-sided, with a family-wise adjustment. The intervals of all ranks at once
        are those that this comparison's verdicts leave; that of one system alone rests on step-down
        max-T over its own comparisons (Mogstad, Romano, Shaikh and Wilhelm, 2024). They hold with
        a confidence of 1 - `significance_level`.

        Parameters
        ----------
        metric : str, optional
            Its printed name, in any case; can be left out where there is one.
        composite : {"autorank", "borda"} or callable, optional
            One score of all metrics: WMT25's AutoRank, the mean rank, or a function of the scores
            ``(..., S, M) -> (..., S)`` of S systems under M metrics, in the order of the
            comparison. It may let systems depend on one another, and is resampled with them.
        higher_is_better : bool
            Direction of a function; "autorank" and "borda" know theirs.
        task : str, optional
            A task; by default the total where there is one.

        Raises
        ------
        InputError
            For a comparison with a baseline, one-sided, or not adjusted; an unknown metric, task or
            composite; a comparison that was read from JSON.

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
            of = of_metric(self._place(task, metric), None)
            return source.ranking(self, of)
        if metric is not None:
            raise InputError("give metric or composite, not both: a composite is of all metrics")
        return source.composite(self, self._place(task), composite, higher_is_better)

    def influence(
        self,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
        task: str | None = None,
    ) -> Any:
        """Say which segments, or groups, drive a difference: an `Influence`.

        It has the influence of each on the difference, and which of them would have to go for its
        sign to change (Broderick, Giordano and Meager, 2020). Parameters are those of `difference`.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 1]}
        >>> found = es.compare(scores, metrics=es.Mean("marks")).influence("marks", "B", "A")
        >>> found.ids[0], found.sign_without
        ('4', ('4',))
        """
        difference = self.difference(metric, system, baseline, task)
        return self._asked().influence(self, difference)

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
        Berger, 1982), and no adjustment for their number is needed. It is of this pair alone; for
        several pairs adjust the p-values, for example by Holm's method.

        Parameters
        ----------
        system, baseline : str
            Which one is better, and than which, in either order; the baseline can be left out
            where the comparison has one.
        metrics : sequence of str, optional
            Some metrics of the comparison, by default all.
        task : str or sequence of str, optional
            On each of these; by default in total where there is one.

        Raises
        ------
        InputError
            For what was not compared, and where the alternative is one-sided: it speaks of the
            number, and better is a greater BLEU but a smaller TER.

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
        if isinstance(metrics, str):
            raise InputError(f"metrics must be a list of names, got the str {metrics!r}")
        against = self.baseline if baseline is None else baseline
        # A pair is compared once, in one order or the other.
        turned = any((d.system, d.baseline) == (against, system) for d in self.differences)
        ends = (against, system) if turned else (system, against)
        found = []
        for name in [task] if task is None or isinstance(task, str) else task:
            some = of_task(self.differences, name)
            known = distinct(d.metric for d in some)
            for metric in known if metrics is None else metrics:
                found.append(self._only(of_metric(some, metric), *ends))
        if not found:
            raise InputError("metrics and task must not be empty")
        return joint_claim(self, found, system)

    def _asked(self) -> Any:
        if self.source is None:
            raise InputError(
                "this comparison was read from a file, which holds no statistics; compare again"
            )
        return self.source

    def _place(self, task: str | None, metric: str | None = None) -> list[Difference]:
        """Return the differences of a task, or in total, and perhaps of one metric."""
        some = of_task(self.differences, task)
        return some if metric is None else of_metric(some, metric)
