"""What an analysis finds, as plain records: numbers with their names.

Tables (`layout`) and figures (`plots`) are made of them; `results` has the classes that users get,
which know both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.results import report
from evalstats.results.contrasts import contrast_of

T = TypeVar("T", bound="EstimateRecord | Difference | PairPower")


@dataclass(frozen=True)
class EstimateRecord:
    """The fields of `evalstats.Estimate`."""

    metric: str
    system: str
    score: float
    low: float
    high: float
    standard_error: float
    # They follow from the signature and the statistics, and an array has no hash.
    replicates: NDArray[np.float64] = field(repr=False, compare=False)
    confidence_level: float
    method: str
    n_segments: int
    unit: str
    higher_is_better: bool
    signature: str = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    segment_error: float | None = None
    design_effect: float | None = None
    effective_size: float | None = None
    run_error: float | None = None


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
        Bounds of the confidence interval of the difference, or of what `contrast` says.
    standard_error : float
        Of the same.
    pvalue : float
        Of this comparison alone, in (0, 1].
    pvalue_adjusted : float
        Adjusted for all comparisons under the same metric.
    pvalue_error : float
        Monte-Carlo standard error of `pvalue`; 0 where nothing was drawn for it.
    exact : bool
        Whether all swaps were enumerated.
    n_differing : int
        Number of segments, or groups, whose statistics differ between the two systems.
    higher_is_better : bool
        Direction of the metric.
    test, method : str
        Which test and which interval these are; of 0/1 scores "mcnemar" and "tango" by default, of
        several runs and of very few units "t".
    gained, lost : int or None
        Of 0/1 scores: segments on which only the system succeeds, and only the baseline.
    least_margin, least_loss : float or None
        Where a margin was asked for: the smallest within which the two are shown to be equivalent,
        and the smallest loss that is ruled out, negative for a system that is surely better.
    most_recovery : float or None
        Where a recovery was asked for: the largest share of the baseline, at most 1, that the
        system is shown to keep.
    pvalue_equivalence, pvalue_not_worse : float or None
        Of the two one-sided tests of the margin, and of the one that is about a loss, or about the
        recovery; `None` where nothing bounds a loss.
    pvalue_worse : float or None
        Of the opposite: that more is lost than the margin, or less is kept than the recovery.
    contrast : {"difference", "ratio", "log-ratio"}
        What `value`, interval and standard error are of.
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
    gained: int | None = None
    lost: int | None = None
    least_margin: float | None = None
    least_loss: float | None = None
    most_recovery: float | None = None
    pvalue_equivalence: float | None = None
    pvalue_not_worse: float | None = None
    pvalue_worse: float | None = None
    contrast: str = "difference"

    @property
    def value(self) -> float:
        """The difference, system / baseline, or its natural logarithm, as `contrast` says."""
        if self.contrast == "difference":
            return self.difference
        return contrast_of(self.contrast).of(self.system_score, self.baseline_score)

    @property
    def is_drawn(self) -> bool:
        """Whether its p-value comes of swaps, so that it cannot be below 1/(B + 1)."""
        return not self.exact and self.test == "ar"

    @property
    def null(self) -> float:
        """The value where both scores are equal: 1 of a ratio, else 0."""
        return contrast_of(self.contrast).null

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain Python values, and a ratio under its name."""
        plain = plain_record(self)
        if self.contrast != "difference":
            plain[self.contrast.replace("-", "_")] = self.value
        return plain

    @property
    def winner(self) -> str | None:
        """The system with the better score, significant or not; `None` when they tie."""
        if self.difference == 0:
            return None
        return self.system if (self.difference > 0) == self.higher_is_better else self.baseline

    def _title(self) -> str:
        shown = "" if self.contrast == "difference" else f", {self.contrast}"
        return f"{self.system} - {self.baseline}, {self.metric}{shown}"


@dataclass(frozen=True)
class RunPower:
    """What a test of several runs of each system finds of a pair.

    Attributes
    ----------
    run_deviation : float or None
        The runs' part of the standard error is this over √R.
    limit : float or None
        Least difference that is found on any number of segments, with the runs that are planned.
    runs_needed, runs_needed_low, runs_needed_high : int or None
        Runs of each system that find the difference on the segments that are planned.
    fewest_runs : int or None
        With fewer runs no number of segments finds it.
    runs, run_minimums, run_powers : tuple
        Least difference, and power, with each of some numbers of runs.
    """

    run_deviation: float | None = None
    limit: float | None = None
    runs_needed: int | None = None
    runs_needed_low: int | None = None
    runs_needed_high: int | None = None
    fewest_runs: int | None = None
    runs: tuple[int, ...] = ()
    run_minimums: tuple[float | None, ...] = ()
    run_powers: tuple[float, ...] = ()


@dataclass(frozen=True)
class PairPower(Record):
    """What a test finds of a pair of systems; sizes of differences have no sign.

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
        `None` where no difference is, as of 0/1 scores on three segments.
    power, power_low, power_high : float or None
        How often the difference that was asked about is found; `None` where none was.
    needed, needed_low, needed_high : int or None
        Segments that find it with the target power.
    sizes, minimums, powers : tuple
        Least difference, and power where a difference was asked about, on some numbers of segments.
    higher_is_better : bool
        Direction of the metric.
    discordant : float or None
        Of 0/1 scores, the share of segments that differ.
    of_runs : RunPower or None
        Where there are several runs of each system.
    """

    metric: str
    baseline: str
    system: str
    observed: float
    standard_deviation: float
    minimum: float | None
    minimum_low: float | None
    minimum_high: float | None
    power: float | None = None
    power_low: float | None = None
    power_high: float | None = None
    needed: int | None = None
    needed_low: int | None = None
    needed_high: int | None = None
    sizes: tuple[int, ...] = ()
    minimums: tuple[float | None, ...] = ()
    powers: tuple[float, ...] = ()
    higher_is_better: bool = True
    discordant: float | None = None
    of_runs: RunPower | None = None

    @property
    def test(self) -> str:
        """What is planned: "t", or "mcnemar" of 0/1 scores."""
        return "t" if self.discordant is None else "mcnemar"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, those of runs among them, as plain Python values."""
        plain = plain_record(self)
        del plain["of_runs"]
        return {**plain, "test": self.test, **plain_record(self.of_runs or RunPower())}

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}, power"


@dataclass(frozen=True)
class ComparisonRecord:
    """The fields of `evalstats.Comparison`, and what its verdicts are."""

    estimates: Sequence[EstimateRecord]
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
    planner: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    ranker: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    margin: float | None = None
    recovery: float | None = None
    influencer: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    contrast: str = "difference"

    def significant(self, difference: Difference) -> bool:
        """Return whether its adjusted p-value is at most the significance level."""
        return difference.pvalue_adjusted <= self.significance_level

    def claim(self, difference: Difference) -> str | None:
        """Return "equivalent", "not worse" or "not shown"; `None` without margin or recovery."""
        d, margin = difference, self.margin
        if margin is not None:
            if d.least_margin is not None and d.least_margin < margin:
                return "equivalent"
            shown = d.least_loss is not None and d.least_loss < margin
        elif self.recovery is not None:
            shown = d.pvalue_not_worse is not None and d.pvalue_not_worse < self.significance_level
        else:
            return None
        return "not worse" if shown else "not shown"

    @cached_property
    def _family_sizes(self) -> Counter[str]:
        return Counter(d.metric for d in self.differences)

    def n_compared(self, difference: Difference) -> int:
        """Return how many comparisons are counted together with this one, itself included."""
        return self._family_sizes[difference.metric]

    def n_multiplied(self, difference: Difference) -> int:
        """Return what the adjustment multiplies the smallest p-value by."""
        multiplies = self.adjustment not in ("none", "max-t")
        return self.n_compared(difference) if multiplies else 1

    def shown_pvalue(self, several: bool = True) -> str:
        """Return ``p (max-t)``, the name of the p-value that verdicts are of, or ``p``."""
        return f"p ({self.adjustment})" if several and self.adjustment != "none" else "p"

    def floor_of(self, difference: Difference) -> float:
        """Return the smallest p-value of units that can be swapped in so many ways."""
        if difference.test == "mcnemar":
            return 0.0
        sides = 2.0 if self.alternative == "two-sided" else 1.0
        return min(1.0, sides * 0.5**difference.n_differing)

    def is_open(self, difference: Difference) -> bool:
        """Return whether too few resamples, or units, keep its p-value above the level."""
        drawn = 1 / (self.n_resamples + 1) if difference.is_drawn else 0.0
        floor = max(drawn, self.floor_of(difference)) * self.n_multiplied(difference)
        return floor > self.significance_level and not self.significant(difference)


def plain_record(result: Any) -> dict[str, Any]:
    """Return the fields that count for equality as plain Python values."""
    values = {f.name: getattr(result, f.name) for f in fields(result) if f.compare}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def distinct(items: Iterable[str]) -> list[str]:
    """Return the different items in their order."""
    return list(dict.fromkeys(items))


def of_metric(records: Sequence[T], metric: str | None) -> list[T]:
    """Return the records of one metric, in any case; `None` stands for the only one."""
    names = distinct(record.metric for record in records)
    fitting = names if metric is None else [name for name in names if name == metric]
    if not fitting and isinstance(metric, str):
        fitting = [name for name in names if name.lower() == metric.lower()]
    if len(fitting) != 1:
        raise InputError(f"metric must be one of {', '.join(names)}; got {metric!r}")
    return [record for record in records if record.metric == fitting[0]]


def estimate_of(estimates: Sequence[T], key: object) -> T:
    """Return the estimate of ``(metric, system)``, or of a system under the only metric."""
    metric, system = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
    found = of_metric(estimates, metric)
    for estimate in found:
        if estimate.system == system:
            return estimate
    systems = ", ".join(estimate.system for estimate in found)
    raise InputError(f"system must be one of {systems}; got {system!r}")


def ranked(estimates: Sequence[EstimateRecord]) -> list[EstimateRecord]:
    """Return the estimates best first; equal scores keep their order."""
    return sorted(estimates, key=lambda e: -e.score if e.higher_is_better else e.score)


def size(estimate: EstimateRecord) -> str:
    """Return ``2,037 segments``."""
    return f"{estimate.n_segments:,} {estimate.unit}s"
