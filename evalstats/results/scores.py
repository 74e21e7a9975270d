"""Scores: `Estimate`, and `Estimates` of systems, metrics and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.results import layout, plots
from evalstats.results.convert import Count, Level, NotNegative, check_bounds
from evalstats.results.describe import describe_scores
from evalstats.results.forms import Listed, Result
from evalstats.results.records import distinct
from evalstats.results.report import Table

#: Intervals that are made of resamples.
_DRAWN = ("bootstrap", "percentile", "bca")


class _Scores(Result):
    """One score or several: described, drawn and laid out alike."""

    def describe(self) -> str:
        """Return the sentences for a paper's section on methods."""
        return describe_scores(self._rows())

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the scores with their intervals: systems best first, or a row a task."""
        return plots.scores(self._rows(), metric, ax)

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
        From the influence values; of a `Shard`, from the replicates.
    n_segments, unit : int, str
        How many units there are, and what a unit is: "segment"; of groups the name of their label,
        or "group".
    higher_is_better : bool
        Direction of the metric.
    signature : str
        Everything needed to make the number again.
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
    replicates : ndarray, shape (B,)
        Corpus scores of the resamples; empty for t, of several tasks, and after `from_json`.
    """

    metric: str
    system: str
    score: float
    low: float
    high: float
    standard_error: NotNegative
    confidence_level: Level
    method: str
    n_segments: Count
    unit: str
    higher_is_better: bool
    signature: str
    notes: tuple[str, ...] = ()
    segment_error: NotNegative | None = None
    design_effect: NotNegative | None = None
    effective_size: NotNegative | None = None
    run_error: NotNegative | None = None
    task: str = ""
    aggregate: str | None = None
    # They follow from the signature and the statistics, and an array has no hash.
    replicates: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), compare=False)

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
        found: dict[str, Any] = {
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
        if len(self.replicates) and self.method in _DRAWN:
            found["num_bootstrap_samples"] = len(self.replicates)
        return found


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
    """

    estimates: tuple[Estimate, ...]
    notes: tuple[str, ...] = ()

    of_list = "estimates"

    def _rows(self) -> Sequence[Estimate]:
        return self.estimates

    def _named(self, some: Sequence[Estimate], *names: str) -> Estimate:
        for estimate in some:
            if names == (estimate.system,):
                return estimate
        known = ", ".join(distinct(estimate.system for estimate in some))
        raise InputError(f"system must be one of {known}; got {', '.join(map(repr, names))}")

    def _title(self) -> str:
        return layout.title(self)
