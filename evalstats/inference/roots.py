"""Where a function is 0: Brent's method, without the rest of `scipy.optimize`, slow to load."""

from __future__ import annotations

from collections.abc import Callable

#: The least distance of two numbers near 1, four times, as in `scipy.optimize`.
_RELATIVE = 4 * 2.0**-52


def root(
    function: Callable[[float], float], low: float, high: float, width: float = 2e-12
) -> float:
    """Return where a function whose signs differ at the ends is 0, to within a width.

    Brent's (1973) method by the steps of `scipy.optimize.brentq`, to the bit.

    >>> root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623731364
    """
    before, found = low, high
    at_before, at_found = function(before), function(found)
    if at_before == 0:
        return before
    other, at_other, last, step = before, at_before, found - before, found - before
    while at_found != 0:
        if (at_before < 0) != (at_found < 0):
            other, at_other = before, at_before
            last = step = found - before
        if abs(at_other) < abs(at_found):
            before, found, other = found, other, found
            at_before, at_found, at_other = at_found, at_other, at_found
        least, half = (width + _RELATIVE * abs(found)) / 2, (other - found) / 2
        if abs(half) < least:
            break
        tried = half
        if abs(last) > least and abs(at_found) < abs(at_before):
            if before == other:
                tried = -at_found * (found - before) / (at_found - at_before)
            else:
                a = (at_before - at_found) / (before - found)
                b = (at_other - at_found) / (other - found)
                tried = (
                    -at_found * (at_other * b - at_before * a) / (b * a * (at_other - at_before))
                )
        # Where interpolation gains less than halving would, it is halved.
        is_short = 2 * abs(tried) < min(abs(last), 3 * abs(half) - least)
        last, step = (step, tried) if is_short else (half, half)
        before, at_before = found, at_found
        found += step if abs(step) > least else (least if half > 0 else -least)
        at_found = function(found)
    return found
