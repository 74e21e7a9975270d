"""Options of an analysis: which there are, and their ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

from evalstats.analysis.design import Aggregated, Labels
from evalstats.checks import flag, integer, real, share, shown
from evalstats.errors import Argument, InputError
from evalstats.resampling.executors import Workers, as_workers
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.resampling.weights import Rng, as_seed
from evalstats.statistics.extraction import Progress

#: What nobody asked for.
N_RESAMPLES, SEED = 9999, 12345
#: What decides: of intervals, and of p-values.
Method = Literal["bootstrap", "t"]
Alternative = Literal["two-sided", "greater", "less"]
AdjustmentName = Literal["max-t", "holm", "benjamini-hochberg", "none"]
METHODS, ALTERNATIVES = get_args(Method), get_args(Alternative)
ADJUSTMENTS = get_args(AdjustmentName)


class _WorkOptions(TypedDict, total=False):
    confidence_level: float
    n_resamples: int | None
    rng: Rng
    executor: Workers
    progress: Progress | None


class ScoreOptions(_WorkOptions, total=False):
    """Options of `Suite.estimate`, for functions that pass them on."""

    method: Method


class EstimateOptions(ScoreOptions, total=False):
    """Options of `evalstats.estimate`."""

    groups: Labels
    strata: Labels
    aggregate: Aggregated
    human: object


class PairOptions(_WorkOptions, total=False):
    """Options of `Suite.compare`, for functions that pass them on."""

    baseline: str | None
    method: Method
    alternative: Alternative
    adjustment: AdjustmentName
    margin: float | None
    recovery: float | None
    paired_runs: bool


@dataclass(frozen=True)
class Options:
    """What `estimate`, `compare` and all that compares take, checked and in one spelling.

    `significance_level` is 1 - `confidence_level`; a gate, whose bounds are one-sided, has both.
    """

    confidence_level: float = 0.95
    method: str = "bootstrap"
    alternative: str = "two-sided"
    adjustment: str = "max-t"
    n_resamples: Any = None  # int, N_RESAMPLES where nothing was asked for
    seed: Any = SEED  # int, made of what was given as rng
    executor: Any = None
    margin: float | None = None
    recovery: float | None = None
    significance_level: float = 0.0
    paired_runs: bool = False
    #: p-values of pairs under a metric, with their Monte-Carlo errors, that `meta` has of its own;
    #: intervals may then be percentiles.
    swapped: Callable[[Any, Any, Options], list[tuple[float, float]]] | None = None

    def __post_init__(self) -> None:
        confidence = share(self.confidence_level, "confidence_level")
        if self.significance_level:
            share(self.significance_level, "significance_level")
        # 1 - 0.95 is not quite 0.05.
        level = self.significance_level or float(f"{1 - confidence:.12g}")
        margin, recovery = as_limits(self.margin, self.recovery)
        if (margin, recovery) != (None, None) and level >= 0.5:
            # An interval of confidence 1 - 2·level has to be one.
            asked, value, side = "confidence_level", confidence, "above"
            if self.significance_level:
                asked, value, side = "significance_level", level, "below"
            raise InputError(
                f"must be {side} 0.5 where there is a margin or a recovery, got {value:g}",
                argument=asked,
            )
        methods = (*METHODS, "percentile") if self.swapped else METHODS
        n_resamples = N_RESAMPLES if self.n_resamples is None else self.n_resamples
        vars(self).update(
            confidence_level=confidence,
            method=option(self.method, methods, "method"),
            alternative=option(self.alternative, ALTERNATIVES, "alternative"),
            adjustment=option(self.adjustment, ADJUSTMENTS, "adjustment"),
            n_resamples=integer(n_resamples, "n_resamples", 2, MOST_RESAMPLES),
            seed=as_seed(self.seed),
            executor=as_workers(self.executor),
            margin=margin,
            recovery=recovery,
            significance_level=level,
            paired_runs=flag(self.paired_runs, "paired_runs"),
        )

    @property
    def alpha(self) -> float:
        """What the confidence level leaves out."""
        return float(f"{1 - self.confidence_level:.12g}")

    @property
    def is_limited(self) -> bool:
        """Whether there is a margin or a recovery, so that likeness can be claimed."""
        return self.margin is not None or self.recovery is not None

    @property
    def sides(self) -> int:
        """Sides of the test."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def n_drawn(self) -> int:
        """Resamples that are drawn: none where t decides everything."""
        return 0 if self.method == "t" else self.n_resamples


def as_limits(margin: object, recovery: object) -> tuple[float | None, float | None]:
    """Return margin and recovery, of which at most one is given, checked."""
    if margin is not None and recovery is not None:
        raise InputError(
            "give either ",
            Argument("margin"),
            " or ",
            Argument("recovery"),
            ", not both: each is a limit of a loss",
        )
    size = None if margin is None else real(margin, "margin", -float("inf"))
    if size is not None and size <= 0:
        raise InputError(
            f"must be above 0, got {margin}: it is a size, and the metric says which side "
            f"is a loss; leave it out to test for a loss of any size",
            argument="margin",
        )
    kept = None if recovery is None else real(recovery, "recovery", -float("inf"))
    if kept is not None and not 0 < kept <= 1:
        raise InputError(
            f"must be a share above 0 and at most 1, got {recovery}", argument="recovery"
        )
    return size, kept


def option(value: object, options: tuple[str, ...], name: str) -> str:
    """Return the option that was meant, in any case, with blanks or "_" for "-", or say which."""
    if isinstance(value, str):
        spelled = value.lower().replace("_", "-").replace(" ", "-")
        if spelled in options:
            return spelled
    raise InputError(f"must be one of {', '.join(options)}; got {shown(value)}", argument=name)
