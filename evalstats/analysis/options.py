"""Options of an analysis, and their ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.settings import (
    DEFAULTS,
    N_RESAMPLES,
    SEED,
    SETTINGS,
    AdjustmentName,
    Alternative,
    Method,
)
from evalstats.checks import expected, flag, integer, real, share
from evalstats.errors import Argument, InputError
from evalstats.resampling.executors import Progress, Workers, as_workers, reporting
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.resampling.weights import Rng, as_seed


class ScoreOptions(TypedDict, total=False):
    """Options of `Suite.estimate`, for functions that pass them on."""

    method: Method
    confidence_level: float
    n_resamples: int
    rng: Rng
    executor: Workers
    progress: Progress | bool | None


class EstimateOptions(ScoreOptions, total=False):
    """Options of `evalstats.estimate`."""

    groups: Labels
    strata: Labels
    aggregate: Aggregated
    human: object


class TestOptions(ScoreOptions, total=False):
    """Options of all comparisons, for functions that pass them on."""

    baseline: str | None
    alternative: Alternative
    adjustment: AdjustmentName
    margin: float | None
    recovery: float | None


class PairOptions(TestOptions, total=False):
    """Options of `Suite.compare`, for functions that pass them on."""

    paired_runs: bool


@dataclass(frozen=True)
class Options:
    """Options of `estimate`, `compare` and other comparisons, checked and normalised.

    `significance_level` is 1 - `confidence_level`, except in gates, whose bounds are one-sided.
    """

    confidence_level: float = DEFAULTS["confidence_level"]
    method: str = DEFAULTS["method"]
    alternative: str = DEFAULTS["alternative"]
    adjustment: str = DEFAULTS["adjustment"]
    n_resamples: int = N_RESAMPLES
    rng: Any = SEED  # as given, or the seed made from it
    executor: Any = None
    margin: float | None = None
    recovery: float | None = None
    significance_level: float = 0.0
    paired_runs: bool = False
    #: `meta`'s own p-values of pairs for a metric, with Monte-Carlo errors; intervals may then be
    #: percentiles.
    swapped: Callable[[Any, Any, Options], list[tuple[float, float]]] | None = None
    alpha: float = field(init=False)  # 1 - confidence level
    is_limited: bool = field(init=False)  # whether there is a margin or recovery
    sides: int = field(init=False)  # sides of the test

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Options:
        """Return the options among a function's arguments, with progress."""
        known = {name: asked[name] for name in vars(cls)["__annotations__"] if name in asked}
        known["executor"] = reporting(asked.get("executor"), asked.get("progress"))
        return cls(**known)

    def __post_init__(self) -> None:
        made = vars(self)
        for name, value in made.copy().items():
            is_asked = name in SETTINGS and value is not SETTINGS[name].default
            if name == "executor" or (is_asked and not (self.swapped and value == "percentile")):
                made[name] = checked(name, value)
        made["is_limited"] = self.margin is not None or self.recovery is not None
        made["sides"] = 2 if self.alternative == "two-sided" else 1
        # 1 - 0.95 is not quite 0.05.
        made["alpha"] = float(f"{1 - self.confidence_level:.12g}")
        if self.margin is not None and self.recovery is not None:
            raise InputError(
                "pass either ",
                Argument("margin"),
                " or ",
                Argument("recovery"),
                ", not both, because each of them limits the loss",
            )
        level = self.significance_level
        if self.is_limited and (level or self.alpha) >= 0.5:
            # The interval of confidence 1 - 2·level must exist.
            asked, value, side = "confidence_level", self.confidence_level, "above"
            if level:
                asked, value, side = "significance_level", level, "below"
            raise InputError(
                f"must be {side} 0.5 with a margin or a recovery, got {value:g}",
                argument=asked,
            )
        if not level and self.confidence_level < 0.5:
            raise InputError(
                f"must be at least 0.5, got {self.confidence_level:g}. It is the confidence of "
                f"intervals, not an error rate; did you mean {self.alpha:g}?",
                argument="confidence_level",
            )
        made["significance_level"] = level or self.alpha


def checked(name: str, value: object) -> Any:
    """Return the checked value of an option, or raise with the expected values."""
    setting = SETTINGS[name]
    if setting.words:
        return option(value, setting.words, name)
    if value is None and setting.default is None and name != "executor":
        return None
    return _CHECKS.get(name, share)(value, name)


def _margin(value: object, name: str) -> float:
    size = real(value, name, -float("inf"))
    if size <= 0:
        raise InputError(
            f"must be above 0, got {value}. Pass only its size; the metric determines which "
            "direction is a loss.",
            argument=name,
        )
    return size


def _recovery(value: object, name: str) -> float:
    kept = real(value, name, -float("inf"))
    if not 0 < kept <= 1:
        raise InputError(f"must be a share, above 0 and at most 1, got {value}", argument=name)
    return kept


#: Checks of options that are neither words nor shares between 0 and 1.
_CHECKS: dict[str, Callable[[object, str], Any]] = {
    "margin": _margin,
    "recovery": _recovery,
    "paired_runs": flag,
    "n_resamples": lambda value, name: integer(value, name, 2, MOST_RESAMPLES),
    "rng": lambda value, name: as_seed(value),  # type: ignore[arg-type]
    "executor": lambda value, name: as_workers(value),
    "significance_level": lambda value, name: share(value, name) if value else 0.0,
}


def option(value: object, options: tuple[str, ...], name: str) -> str:
    """Return the option, ignoring case, with blanks or "_" for "-", or raise."""
    if isinstance(value, str):
        spelled = value.lower().replace("_", "-").replace(" ", "-")
        if spelled in options:
            return spelled
    raise InputError(expected(value, options), argument=name)
