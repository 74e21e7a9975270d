"""Options of an analysis: which there are, their other spellings, and their ranges."""

from __future__ import annotations

from dataclasses import dataclass

from evalstats.errors import InputError
from evalstats.metrics.base import integer, real
from evalstats.multiplicity import ADJUSTMENTS as _ADJUSTMENTS
from evalstats.resampling import MOST_RESAMPLES, Rng, as_seed
from evalstats.significance import ALTERNATIVES as ALTERNATIVES

METHODS = ("expanded", "percentile", "basic", "bca", "studentized", "t")
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


def make_plan(method: str, confidence_level: float, n_resamples: int, rng: Rng) -> Plan:
    """Check the options that `estimate` and `compare` share."""
    level = real(confidence_level, "confidence_level", 0.0)
    if not 0 < level < 1:
        raise InputError(f"confidence_level must be between 0 and 1, got {confidence_level}")
    return Plan(
        option(method, METHODS, "method"),
        level,
        integer(n_resamples, "n_resamples", 2, MOST_RESAMPLES),
        as_seed(rng),
    )


def option(value: object, options: tuple[str, ...], name: str) -> str:
    """Return the option that was meant, or say which there are."""
    if isinstance(value, str):
        spelled = value.lower()
        spelled = _SPELLINGS.get(spelled.replace("-", " ").replace("_", " "), spelled)
        if spelled in options:
            return spelled
    raise InputError(f"{name} must be one of {', '.join(options)}; got {value!r}")
