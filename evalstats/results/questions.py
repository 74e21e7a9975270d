"""What can be asked of a comparison once it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evalstats.errors import InputError
from evalstats.results.joint import JointClaim, joint_claim
from evalstats.results.records import ComparisonRecord, Difference, distinct, of_metric


class Questions(ComparisonRecord):
    """Questions that the statistics answer, without the texts being read again."""

    def difference(self, metric: str, system: str, baseline: str | None = None) -> Difference:
        """Return the difference of a system from a baseline under one metric.

        Parameters
        ----------
        metric : str
            Its printed name, in any case.
        system, baseline : str
            What was compared, in this order; the baseline can be left out where the comparison has
            one.

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
        found = of_metric(self.differences, metric)
        against = self.baseline if baseline is None else baseline
        for d in found:
            if (d.system, d.baseline) == (system, against):
                return d
        if against is None:
            raise InputError(
                f"baseline is missing: this comparison is of all pairs; say from which system the "
                f"difference of {system!r} is"
            )
        names = distinct(estimate.system for estimate in self.estimates)
        for argument, name in (("system", system), ("baseline", against)):
            if name not in names:
                raise InputError(f"{argument} must be one of {', '.join(names)}; got {name!r}")
        if any((d.system, d.baseline) == (against, system) for d in found):
            raise InputError(
                f"the difference of {system!r} from {against!r} is that of {against!r} from "
                f"{system!r} with the opposite sign: ask for that one"
            )
        if self.baseline is None:
            raise InputError(f"system and baseline must be two systems, got {system!r} as both")
        raise InputError(
            f"no difference of {system!r} from {against!r}: all others are compared with "
            f"{self.baseline!r}"
        )

    def power(
        self,
        difference: float | None = None,
        n_segments: int | None = None,
        power: float = 0.8,
        significance_level: float | None = None,
        runs: int | None = None,
    ) -> Any:
        """Say which differences such a test set can find: a `Power`, as `evalstats.power`.

        One test at `significance_level`, by default that of this comparison, not adjusted for
        several; the comparison's alternative, unit, strata and confidence level.
        """
        if self.planner is None:
            raise InputError(
                "this comparison was read from a file, or is of several tasks; give the "
                "statistics, or those of one task, to evalstats.power"
            )
        level = self.significance_level if significance_level is None else significance_level
        return self.planner(difference, n_segments, runs, level, power)

    def ranking(
        self,
        metric: str | None = None,
        *,
        composite: str | Callable[[Any], Any] | None = None,
        higher_is_better: bool = True,
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

        Raises
        ------
        InputError
            For a comparison with a baseline, one-sided, or not adjusted; an unknown metric or
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
        if self.ranker is None:
            raise InputError("this comparison was read from a file, which holds no resamples")
        return self.ranker(self, metric, composite, higher_is_better)

    def influence(self, metric: str, system: str, baseline: str | None = None) -> Any:
        """Say which segments, or groups, drive a difference: an `Influence`.

        It has the influence of each on the difference, and which of them would have to go for its
        sign to change (Broderick, Giordano and Meager, 2020).

        Parameters
        ----------
        metric, system, baseline : str
            As in `difference`.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 1]}
        >>> found = es.compare(scores, metrics=es.Mean("marks")).influence("marks", "B", "A")
        >>> found.ids[0], found.sign_without
        ('4', ('4',))
        """
        difference = self.difference(metric, system, baseline)
        if self.influencer is None:
            raise InputError(
                "this comparison holds no statistics of segments (it comes from a Shard or a "
                "file); compare SegmentStatistics"
            )
        place = distinct(d.metric for d in self.differences).index(difference.metric)
        return self.influencer(place, difference, self.significance_level, self.signatures[place])

    def joint(
        self,
        system: str,
        baseline: str | None = None,
        metrics: Sequence[str] | None = None,
    ) -> JointClaim:
        """Ask whether a system is better under several metrics at once: a `JointClaim`.

        The claim "better under BLEU *and* chrF" is shown where each of the two is, at the level
        itself: its p-value is the largest of the metrics' one-sided ones (an intersection-union
        test; Berger, 1982), and no adjustment for their number is needed. It is of this pair
        alone; for several pairs adjust the p-values, for example by Holm's method.

        Parameters
        ----------
        system, baseline : str
            Which one is better, and than which, in either order; the baseline can be left out
            where the comparison has one.
        metrics : sequence of str, optional
            Some metrics of the comparison, by default all.

        Raises
        ------
        InputError
            For systems or metrics that were not compared, and where the alternative is one-sided:
            it speaks of the number, and better is a greater BLEU but a smaller TER.

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
        known = distinct(d.metric for d in self.differences)
        names = known if metrics is None else list(metrics)
        if not names:
            raise InputError(f"metrics is empty; give some of {', '.join(known)}")
        against = self.baseline if baseline is None else baseline
        # A pair is compared once, in one order or the other.
        turned = any((d.system, d.baseline) == (against, system) for d in self.differences)
        ends = (str(against), system) if turned else (system, against)
        found = [self.difference(name, *ends) for name in names]
        return joint_claim(self, found, system, str(against))
