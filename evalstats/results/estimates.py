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

#: Intervals that are computed from resamples.
_DRAWN = ("bootstrap", "percentile")


class _Scores(Result):
    """The base of `Estimate` and `Estimates`, which are described, drawn and laid out equally."""

    def describe(self) -> str:
        """Return the sentences for a paper's methods section."""
        from evalstats.pictures.methods import methods_section

        return methods_section(self._rows())

    def plot(self, metric: str | None = None, ax: Panels | None = None) -> Panels:  # type: ignore[override]
        """Draw the scores with their intervals: the best system first, or one row per task."""
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

    Two estimates are equal if all fields except the replicates are equal. The signature determines
    the replicates.

    Attributes
    ----------
    metric, system, score : str, str, float
        Names of the metric and the system, and the corpus score of the observed segments.
    low, high, confidence_level, method : float, float, float, str
        Bounds of the confidence interval, its confidence level, in (0, 1), and its method.
    standard_error : float
        Standard error of the score, from the influence values, in points of the score.
    n_segments, unit : int, str
        Number of units, and name of a unit: "segment", or its name in the file of scores; for
        groups the name of their label, or "group".
    higher_is_better : bool
        Direction of the metric.
    signature : Signature
        Everything needed to compute the number again, a str.
    notes : tuple of str
        Notes on the numbers, the most important first.
    segment_error : float or None
        If there are groups or runs: the standard error for independent segments and equal runs.
    design_effect : float or None
        If there are groups: the squared ratio of `standard_error` to `segment_error` (Kish, 1965).
    effective_size : float or None
        The number of segments divided by the design effect.
    run_error : float or None
        If there are several runs: the standard error from the choice of the runs alone.
    task, aggregate : str, str or None
        As in `Difference`.
    n_battles : int or None
        In an arena: the number of battles of the system.
    replicates : ndarray, shape (B,)
        Corpus scores of the resamples, which are drawn when you first use them. Empty for t, for
        several tasks, and after `from_json`.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate([3.0, 4, 5, 4, 3, 5], metric=es.Mean("quality"))
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
    # Not compared: they follow from the signature and the statistics, and arrays have no hash.
    draws: Draws = field(default=NONE, compare=False)

    @property
    def segment(self) -> str:
        """Name of the parts of a group; without groups the unit."""
        return self.signature.analysis.get("from", self.unit)

    @property
    def replicates(self) -> NDArray[np.float64]:
        """Corpus scores of the resamples."""
        return self.draws.values

    def prediction(self, n: int | None = None) -> Interval:
        """Return the interval in which the score of another test set of n units lies.

        The interval of the estimate contains the scores of the whole population that agree with
        this test set. The score of another test set varies too, so the distance of each bound from
        the score is √(1 + N/n) times as large, with N the number of units here. The confidence is
        `confidence_level` too.

        Parameters
        ----------
        n : int, optional
            Segments, or groups, of the other test set, of the same kind, with strata and tasks in
            the same proportions; by default as many as here. If there are several runs, the other
            test set has as many other runs, whose part of the variance does not depend on n.

        Returns
        -------
        Interval
            `low` and `high`; for 0/1 scores within the scale.

        Raises
        ------
        InputError
            For n below 1.

        Notes
        -----
        The page on error rates shows how often a prediction contains the score of other segments,
        and how often the interval of the estimate does.

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
        """Return the score of a share of 1, from Wilson's bounds; infinite if it is unknown.

        The bounds are the roots of (1 + c)·y² - (2x + c·s)·y + x² for a score x on the scale s.
        """
        if self.low <= 0 or self.high <= self.score:
            # For a score of s the upper bound is s itself, whatever the factor is.
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
            # The standard error comes from influence values, whatever the interval is.
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
    """Several estimates, of systems, metrics and tasks; a sequence of `Estimate`.

    ``estimates["BLEU", "A"]`` is the estimate of a system under a metric (case is ignored), and
    ``estimates["law", "BLEU", "A"]`` the estimate on a task. If there is only one task, metric or
    system, its name can be left out. Without a task it is the total, if there is one.

    Attributes
    ----------
    estimates : tuple of Estimate
        Task by task, within tasks by metric and system, and then the totals.
    notes : tuple of str
        Notes on all estimates.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate({"A": [3.0, 4, 5], "B": [4.0, 4, 5]}, metric=es.Mean("quality"))
    >>> [f"{e.system}: {e.score:.2f}" for e in found], f"{found['quality', 'B'].score:.2f}"
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
