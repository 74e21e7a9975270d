"""Options of an analysis: which there are, their other spellings, and their ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalstats.checks import integer, real
from evalstats.errors import InputError
from evalstats.inference.multiplicity import ADJUSTMENTS as _ADJUSTMENTS
from evalstats.inference.significance import ALTERNATIVES as ALTERNATIVES
from evalstats.resampling.executors import Workers, as_workers
from evalstats.resampling.totals import KINDS, MOST_RESAMPLES, as_kind
from evalstats.resampling.weights import Rng, as_seed

if TYPE_CHECKING:
    from concurrent.futures import Executor

METHODS = ("expanded", "percentile", "basic", "bca", "studentized", "t")
#: Their corrections are derived for it, or they do not resample at all.
_OF_THE_PLAIN_BOOTSTRAP = ("bca", "studentized", "t")
TESTS = ("ar", "bootstrap")
ADJUSTMENTS = tuple(_ADJUSTMENTS)
#: Other spellings, after lowercasing and with blanks for "-" and "_".
_SPELLINGS = {
    "expanded percentile": "expanded",
    "studentised": "studentized",
    "bootstrap t": "studentized",
    "approximate randomization": "ar",
    "approximate randomisation": "ar",
    "randomization": "ar",
    "bs": "bootstrap",
    "paired bootstrap": "bootstrap",
    "two sided": "two-sided",
    "bh": "benjamini-hochberg",
    "fdr bh": "benjamini-hochberg",
    "benjamini hochberg": "benjamini-hochberg",
}


@dataclass(frozen=True)
class Plan:
    """Options of a call, checked."""

    method: str
    confidence_level: float
    n_resamples: int
    seed: int
    kind: str
    n_draws: int | None
    executor: Executor | int


def make_plan(
    method: str,
    confidence_level: float,
    n_resamples: int,
    rng: Rng,
    weights: str,
    n_draws: int | None,
    executor: Workers,
) -> Plan:
    """Check the options that `estimate` and `compare` share."""
    level = real(confidence_level, "confidence_level", 0.0)
    if not 0 < level < 1:
        raise InputError(f"confidence_level must be between 0 and 1, got {confidence_level}")
    method = option(method, METHODS, "method")
    kind, draws = as_kind(option(weights, KINDS, "weights"), n_draws, None)
    if draws == 1:
        raise InputError("n_draws must be at least 2, got 1")
    if method in _OF_THE_PLAIN_BOOTSTRAP and (kind, draws) != ("multinomial", None):
        raise InputError(
            f"method {method!r} needs multinomial weights with N draws; with others use "
            f"{', '.join(m for m in METHODS if m not in _OF_THE_PLAIN_BOOTSTRAP)}"
        )
    return Plan(
        method,
        level,
        integer(n_resamples, "n_resamples", 2, MOST_RESAMPLES),
        as_seed(rng),
        kind,
        draws,
        as_workers(executor),
    )


def option(value: object, options: tuple[str, ...], name: str) -> str:
    """Return the option that was meant, or say which there are."""
    if isinstance(value, str):
        spelled = value.lower()
        spelled = _SPELLINGS.get(spelled.replace("-", " ").replace("_", " "), spelled)
        if spelled in options:
            return spelled
    raise InputError(f"{name} must be one of {', '.join(options)}; got {value!r}")
