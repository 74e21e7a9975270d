"""Smoothing methods for single segments, by their usual names.

`NAMED` has the methods of sacreBLEU, NLTK (after Chen and Cherry, 2014) and axion, which differ for
orders longer than the output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from evalstats.checks import shown
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.smoothing import METHODS, Floats, add_k, exponential, floor, unsmoothed


def add_one(correct: Floats, total: Floats) -> Floats:
    """Return (c_n + 1) / (t_n + 1) at every order, and 0 without n-grams (axion)."""
    return np.where(total > 0, (correct + 1) / (total + 1), 0.0)


def by_length(correct: Floats, total: Floats, value: float, length: ArrayLike) -> Floats:
    """Shrink the NIST counts of short outputs: ln h / (2^k K t_n) (Chen and Cherry, method 4).

    h is the output's length, `(..., 1)`.
    """
    zeros = np.cumsum(correct == 0, axis=-1)
    shrunk = np.log(np.maximum(length, 1.0)) * 0.5**zeros
    scaled = np.divide(shrunk, value, where=shrunk > 0, out=np.zeros(shrunk.shape))
    return unsmoothed(np.where(correct == 0, scaled, correct), total)


def averaged(precisions: Floats) -> Floats:
    """Average with both neighbours, `(..., m + 1) -> (..., m)` (Chen and Cherry, method 5).

    p'_n = (p'_{n-1} + p_n + p_{n+1}) / 3 with p'_0 = p_1 + 1, which can carry p'_1 above 1.
    """
    result = np.empty((*precisions.shape[:-1], precisions.shape[-1] - 1))
    before = precisions[..., 0] + 1.0
    for n in range(result.shape[-1]):
        before = (before + precisions[..., n] + precisions[..., n + 1]) / 3.0
        result[..., n] = before
    return result


def interpolated(correct: Floats, total: Floats, value: float) -> Floats:
    """Interpolate with the trend of the orders below (Gao and He, 2013; method 6).

    (c_n + α π_n) / (t_n + α) from n = 3 on, with π_n = p'_{n-1}² / p'_{n-2}, or 0 for 0/0.
    """
    result = unsmoothed(correct, total)
    for n in range(2, result.shape[-1]):
        prior = unsmoothed(result[..., n - 1] ** 2, result[..., n - 2])
        result[..., n] = (correct[..., n] + value * prior) / (total[..., n] + value)
    return result


def _method4(correct: Floats, total: Floats, value: float) -> Floats:
    # For one token NLTK leaves out orders that remain zero, which equals a precision of 1.
    alone = (total[..., :1] <= 1) & (correct == 0)
    return np.where(alone, 1.0, by_length(correct, total, value, total[..., :1]))


def _method7(correct: Floats, total: Floats, value: float) -> Floats:
    below = by_length(correct[..., :-1], total[..., :-1], value, total[..., :1])
    longest = unsmoothed(correct[..., -1:], total[..., -1:])
    return averaged(np.concatenate([below, longest], axis=-1))


@dataclass(frozen=True)
class Smoothing:
    """A smoothing method: precisions from counts, and the conventions of its package."""

    name: str
    #: Function of matches and n-grams, and of the value if there is one.
    function: Callable[..., Floats]
    value: float | None = None
    #: Number of orders beyond the last one that the function needs.
    ahead: int = 0
    #: Whether orders longer than the output are left out by default.
    effective: bool = True
    #: Whether an output without n-grams of an order counts as having one, as in NLTK.
    at_least_one: bool = False
    #: Whether an output without any match scores more than 0.
    scores_unmatched: bool = False

    def precisions(self, correct: Floats, total: Floats) -> Floats:
        """Smooth counts of the orders 1 to m, `(..., m) -> (..., m - ahead)`."""
        if self.at_least_one:
            total = np.maximum(total, 1.0)
        if self.value is None:
            return self.function(correct, total)
        return self.function(correct, total, self.value)


def _nltk(number: int, function: Callable[..., Floats], value: float | None = None) -> Smoothing:
    return Smoothing(
        f"method{number}",
        function,
        value,
        ahead=int(number in (5, 7)),
        effective=False,
        # The denominators of method 6 are always positive.
        at_least_one=number != 6,
    )


#: Methods by name, with the values and the defaults of the packages they come from.
NAMED: dict[str, Smoothing] = {
    method.name: method
    for method in (
        # sacreBLEU adds k before it determines which orders exist, so all of them count.
        *(Smoothing(name, *method, effective=name != "add-k") for name, method in METHODS.items()),
        Smoothing("add-one", add_one, scores_unmatched=True),
        _nltk(0, unsmoothed),
        _nltk(1, floor, 0.1),
        _nltk(2, add_k, 1.0),
        _nltk(3, exponential),
        _nltk(4, _method4, 5.0),
        _nltk(5, lambda correct, total: averaged(unsmoothed(correct, total))),
        _nltk(6, interpolated, 5.0),
        _nltk(7, _method7, 5.0),
    )
}


def as_smoothing(smoothing: object, value: float | None) -> Smoothing:
    """Return the method of a name, or wrap a callable; `value` replaces the method's parameter."""
    if isinstance(smoothing, str):
        if smoothing not in NAMED:
            raise InputError(f"smoothing must be one of {', '.join(NAMED)}; got {shown(smoothing)}")
        method = NAMED[smoothing]
        if value is None:
            return method
        if method.value is None:
            raise InputError(
                f"does not apply to {smoothing!r}; leave it out", argument="smooth_value"
            )
        # A zero divides by zero (K, alpha) or smooths nothing ("none").
        if value == 0:
            raise InputError(
                f"of {smoothing!r} must be positive, got {value}", argument="smooth_value"
            )
        return replace(method, value=value)
    if not callable(smoothing):
        raise InputTypeError(
            f"smoothing must be a name or a function of (correct, total), "
            f"got {type(smoothing).__name__}"
        )
    if value is not None:
        raise InputError(
            "applies only to named methods; set it in your own function instead",
            argument="smooth_value",
        )
    return Smoothing(f"custom:{name_of(smoothing)}", smoothing)


def name_of(function: object) -> str:
    """Return the name of a function, or of the class of any other callable."""
    return str(getattr(function, "__name__", type(function).__name__))
