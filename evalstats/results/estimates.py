"""Scores: `Estimate`, and `Estimates` of systems, metrics and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.inference.draws import NONE, Draws
from evalstats.results import layout
from evalstats.results.convert import Count, Level, NotNegative, check_bounds
from evalstats.results.forms import Finding, Listed, Result
from evalstats.results.records import Interval, IntervalName, TotalName, distinct, stretch
from evalstats.results.signatures import Signature
from evalstats.results.tabular import Table

if TYPE_CHECKING:
    from evalstats.pictures.figures import Panels

#: Intervals that are made of resamples.
_DRAWN = ("bootstrap", "percentile")


class _Scores(Result):
    """One score or several: described, drawn and laid out alike."""

    def describe(self) -> str:
        """Return the sentences for a paper's section on methods."""
        from evalstats.pictures.methods import methods_section

        return methods_section(self._rows())

    def plot(self, metric: str | None = None, ax: Panels | None = None) -> Panels:  # type: ignore[override]
        """Draw the scores with their intervals: systems best first, or a row a task."""
        from evalstats.pictures import plots

        return plots.scores(self._rows(), metric, ax)

    def _findings(self) -> list[Finding]:
        from evalstats.pictures.findings import score_findings

        return score_findings(self._rows())

    def _tables(self, digits: int | None = None) -> list[Table]:
        return layout.score_tables(self._rows(), digits)


@dataclass(frozen=True, repr=False)
class Estimate(_Scores):
    """A score with its confidence interval.

    Two are equal when all fields but the replicates are, which the signature determines.

    Attributes
    ----------
    metric, system, score : str, str, float
        What was scored, and the corpus score on the observed segments.
    low, high, confidence_level, method : float, float, float, str
        Confidence interval, the coverage that it aims at, and how it was made.
    standard_error : float
        From the influence values.
    n_segments, unit : int, str
        How many units there are, and what a unit is: "segment", or what the file of scores calls
        it; of groups the name of their label, or "group".
    higher_is_better : bool
        Direction of the metric.
    signature : Signature
        Everything needed to make the number again, a str.
    notes : tuple of str
        What a careful reader should know.
    segment_error : float or None
        Where there are groups or runs: the standard error of independent segments and equal runs.
    design_effect : float or None
        Where there are groups: the squared ratio of `standard_error` to `segment_error` (Kish,
        1965).
    effective_size : float or None
        The number of segments over the design effect.
    run_error : float or None
        Where there are several runs: the standard error that the choice of the runs alone gives.
    task, aggregate : str, str or None
        As of a `Difference`.
    n_battles : int or None
        Of an arena: in how many battles the system was.
    replicates : ndarray, shape (B,)
        Corpus scores of the resamples, drawn at the first look where the interval has not needed
        them; empty for t, of several tasks, and after `from_json`.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate([3.0, 4, 5, 4, 3, 5], metric=es.Mean("marks"))
    >>> print(f"{found.score:.2f} [{found.low:.2f}, {found.high:.2f}]")
    4.00 [3.17, 4.83]
    """

    metric: str
    system: str
    score: float
    low: float
    high: float
    standard_error: NotNegative
    confidence_level: Level
    method: IntervalName
    n_segments: Count
    unit: str
    higher_is_better: bool
    signature: Signature
    notes: tuple[str, ...] = ()
    segment_error: NotNegative | None = None
    design_effect: NotNegative | None = None
    effective_size: NotNegative | None = None
    run_error: NotNegative | None = None
    task: str = ""
    aggregate: TotalName | None = None
    n_battles: Count | None = None
    # They follow from the signature and the statistics, and an array has no hash.
    draws: Draws = field(default=NONE, compare=False)

    @property
    def segment(self) -> str:
        """What groups consist of; without groups the unit."""
        return self.signature.analysis.get("from", self.unit)

    @property
    def replicates(self) -> NDArray[np.float64]:
        """Corpus scores of the resamples."""
        return self.draws.values

    def prediction(self, n: int | None = None) -> Interval:
        """Return the interval in which the score on another test set of n units lies.

        The interval of the estimate says which scores on the whole population agree with this test
        set. Another test set errs as well: the distance of each bound from the score grows by
        √(1 + N/n), N the number of units here. It is at `confidence_level` too.

        Parameters
        ----------
        n : int, optional
            Segments, or groups, of the other test set, of the same kind, with strata and tasks in
            the same proportions; by default as many as here. Where there are several runs it has
            as many others, whose part of the variance does not depend on n.

        Returns
        -------
        Interval
            `low` and `high`; of 0/1 scores from 0 to the whole scale at most.

        Raises
        ------
        InputError
            For n below 1.

        Notes
        -----
        The page on choosing has how often it holds the score of other segments, and how much more
        seldom the interval does.

        Examples
        --------
        >>> import evalstats as es
        >>> found = es.estimate([1, 0, 1, 1, 1, 0, 1, 1], None, es.Mean("accuracy"))
        >>> low, high = found.prediction(100)
        >>> print(f"[{found.low:.2f}, {found.high:.2f}] and [{low:.2f}, {high:.2f}]")
        [0.41, 0.93] and [0.40, 0.94]
        """
        ratio = stretch(self.n_segments, n)
        if self.run_error:
            of_runs = min(self.run_error / self.standard_error, 1.0) ** 2
            ratio = of_runs + ratio * (1 - of_runs)
        factor = sqrt(1 + ratio)
        low = self.score - factor * (self.score - self.low)
        high = self.score + factor * (self.high - self.score)
        if self.method == "wilson":
            low, high = max(low, 0.0), min(high, self._scale())
        return Interval(low, high)

    def _scale(self) -> float:
        """Return what a share of 1 scores, from Wilson's bounds; infinite where they do not say.

        They are the roots of (1 + c)·y² - (2x + c·s)·y + x² for a score x on the scale s.
        """
        if self.low <= 0 or self.high <= self.score:
            # Of a score of s the upper bound is s itself, which no factor moves.
            return inf
        c = self.score**2 / (self.low * self.high) - 1
        scale = ((self.low + self.high) * (1 + c) - 2 * self.score) / c
        return float(f"{scale:.9g}")

    def _check(self) -> None:
        check_bounds(self)

    def to_every_eval_ever(self) -> dict[str, Any]:
        """Return ``score_details.uncertainty`` of `eval.schema.json` (Every Eval Ever, 0.2).

        Examples
        --------
        >>> import evalstats as es
        >>> found = es.estimate([1, 0, 1, 1], None, es.Mean("accuracy")).to_every_eval_ever()
        >>> found["confidence_interval"]["method"], found["num_samples"]
        ('wilson', 4)
        """
        details: dict[str, Any] = {
            # That of influence values, whatever the interval is.
            "standard_error": {"value": self.standard_error, "method": "analytic"},
            "confidence_interval": {
                "lower": self.low,
                "upper": self.high,
                "confidence_level": self.confidence_level,
                "method": self.method,
            },
            "num_samples": self.n_segments,
        }
        if self.draws.n and self.method in _DRAWN:
            details["num_bootstrap_samples"] = self.draws.n
        return details


@dataclass(frozen=True, repr=False)
class Estimates(_Scores, Listed[Estimate]):
    """Several estimates: of systems, metrics, tasks; a sequence of `Estimate`.

    ``estimates["BLEU", "A"]`` is that of a system under a metric, in any case, and
    ``estimates["law", "BLEU", "A"]`` that on a task; what there is one of can be left out, and
    without a task it is the total where there is one.

    Attributes
    ----------
    estimates : tuple of Estimate
        Task by task, in each metric by metric and system by system, and then the totals.
    notes : tuple of str
        What a careful reader should know of all of them.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate({"A": [3.0, 4, 5], "B": [4.0, 4, 5]}, metric=es.Mean("marks"))
    >>> [f"{e.system}: {e.score:.2f}" for e in found], f"{found['marks', 'B'].score:.2f}"
    (['A: 4.00', 'B: 4.33'], '4.33')
    """

    estimates: tuple[Estimate, ...]
    notes: tuple[str, ...] = ()

    of_list = "estimates"

    @cached_property
    def by_row(self) -> dict[tuple[str, str, str], Estimate]:
        """The estimates by task, metric and system."""
        return {(e.task, e.metric, e.system): e for e in self.estimates}

    def _named(self, rows: Sequence[Estimate], *names: str) -> Estimate:
        for estimate in rows:
            if names == (estimate.system,):
                return estimate
        known = ", ".join(distinct(estimate.system for estimate in rows))
        raise InputError(f"system must be one of {known}; got {', '.join(map(repr, names))}")

    def _title(self) -> str:
        return layout.title(self.rows or self.estimates)
