"""What an analysis finds, as plain records: numbers with their names.

Tables (`layout`) and figures (`plots`) are made of them; `results` has the classes that users get,
which know both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.results import report


@dataclass(frozen=True, eq=False)
class EstimateRecord:
    """The fields of `evalstats.Estimate`."""

    metric: str
    system: str
    score: float
    low: float
    high: float
    standard_error: float
    replicates: NDArray[np.float64] = field(repr=False)
    confidence_level: float
    method: str
    n_segments: int
    unit: str
    higher_is_better: bool
    signature: str = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)


class Record:
    """A dataclass that turns into plain values, and in a notebook into a table of its fields."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain Python values."""
        return plain_record(self)

    def _title(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, a row for each field."""
        own_text = [] if type(self).__str__ is object.__str__ else [str(self)]
        return report.fragment_html([report.record_table(self._title(), self.to_dict())], own_text)


@dataclass(frozen=True)
class Difference(Record):
    """A system against a baseline under one metric; `difference` is system minus baseline.

    Attributes
    ----------
    metric, baseline, system : str
        What was compared.
    baseline_score, system_score : float
        Their corpus scores.
    difference : float
        `system_score - baseline_score`.
    low, high : float
        Bounds of the difference's confidence interval.
    standard_error : float
        Of the difference.
    pvalue : float
        Of this comparison alone, in (0, 1].
    pvalue_adjusted : float
        Adjusted for all comparisons under the same metric.
    pvalue_error : float
        Monte-Carlo standard error of `pvalue`; 0 when all swaps were enumerated.
    exact : bool
        Whether all swaps were enumerated, or counted (McNemar's test).
    n_differing : int
        Number of segments, or groups, whose statistics differ between the two systems.
    higher_is_better : bool
        Direction of the metric.
    test, method : str
        Which test and which interval these are.
    """

    metric: str
    baseline: str
    system: str
    baseline_score: float
    system_score: float
    difference: float
    low: float
    high: float
    standard_error: float
    pvalue: float
    pvalue_adjusted: float
    pvalue_error: float
    exact: bool
    n_differing: int
    higher_is_better: bool
    test: str = ""
    method: str = ""

    @property
    def winner(self) -> str | None:
        """The system with the better score, significant or not; `None` when they tie."""
        if self.difference == 0:
            return None
        return self.system if (self.difference > 0) == self.higher_is_better else self.baseline

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}"


@dataclass(frozen=True)
class PairPower(Record):
    """What the default test finds of a pair of systems; sizes of differences have no sign.

    Attributes
    ----------
    metric, baseline, system : str
        Whose pilot it is.
    observed : float
        The pilot's difference, system minus baseline.
    standard_deviation : float
        Of one segment, or group: the difference's standard error is this over √N.
    minimum, minimum_low, minimum_high : float or None
        Least difference that is found with the target power, and what the pilot leaves uncertain;
        `None` where no difference is, as of 0/1 scores on five segments.
    power, power_low, power_high : float or None
        How often the difference that was asked about is found; `None` where none was.
    needed, needed_low, needed_high : int or None
        Segments that find it with the target power.
    sizes : tuple of int
        Numbers of segments of the curve.
    minimums, powers : tuple of float
        Least difference, and power, on each of them; no powers where no difference was asked about.
    higher_is_better : bool
        Direction of the metric.
    test : {"studentized", "mcnemar"}
        What `compare` tests by default.
    discordant : float or None
        Of 0/1 scores, the share of segments that differ.
    """

    metric: str
    baseline: str
    system: str
    observed: float
    standard_deviation: float
    minimum: float | None
    minimum_low: float | None
    minimum_high: float | None
    power: float | None
    power_low: float | None
    power_high: float | None
    needed: int | None
    needed_low: int | None
    needed_high: int | None
    sizes: tuple[int, ...]
    minimums: tuple[float | None, ...]
    powers: tuple[float, ...]
    higher_is_better: bool
    test: str
    discordant: float | None = None

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}, power"


@dataclass(frozen=True, eq=False)
class ComparisonRecord:
    """The fields of `evalstats.Comparison`, and what its verdicts are."""

    estimates: tuple[EstimateRecord, ...]
    differences: tuple[Difference, ...]
    baseline: str | None
    test: str
    method: str
    alternative: str
    adjustment: str
    confidence_level: float
    n_resamples: int
    seed: int
    signatures: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    significance_level: float = 0.05
    planner: Callable[..., Any] | None = field(default=None, repr=False)

    def significant(self, difference: Difference) -> bool:
        """Return whether its adjusted p-value is at most the significance level."""
        return difference.pvalue_adjusted <= self.significance_level

    def disagrees(self, difference: Difference) -> bool:
        """Return whether a two-sided verdict and the interval of the same level say two things."""
        same_level = abs(self.confidence_level + self.significance_level - 1) < 1e-9
        if not same_level or self.alternative != "two-sided" or difference.n_differing == 0:
            return False
        return (difference.low > 0 or difference.high < 0) != self.significant(difference)


def plain_record(result: Any) -> dict[str, Any]:
    """Return the fields of a record, without its replicates, as plain Python values."""
    values = {f.name: getattr(result, f.name) for f in fields(result) if f.name != "replicates"}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def ranked(estimates: Sequence[EstimateRecord]) -> list[EstimateRecord]:
    """Return the estimates best first; equal scores keep their order."""
    return sorted(estimates, key=lambda e: -e.score if e.higher_is_better else e.score)


def size(estimate: EstimateRecord) -> str:
    """Return ``2,037 segments``."""
    return f"{estimate.n_segments:,} {estimate.unit}s"
