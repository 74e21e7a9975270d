"""The level of each look at an evaluation that grows: arrays in, arrays out.

Repeated tests of level α on growing data are wrong far more often than α. A spending function gives
the share of α that the looks so far may spend (Lan and DeMets, 1983). The joint distribution of the
looks, normal with correlations √(t_i/t_j) of their fractions of the information, gives the level of
this look (Armitage, McPherson and Rowe, 1969; Jennison and Turnbull, 2000, chapters 4, 7 and 19).
Without a planned number of looks, the boundary of a normal mixture is valid at every look (Robbins,
1970; Waudby-Smith et al., 2024).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from math import expm1, log1p, sqrt
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import share, shown
from evalstats.errors import InputError
from evalstats.inference.counts import root

Floats = NDArray[np.float64]
#: Looks, including the new one. Rules use their number `n`, the level `spent` before, and the
#: probability that the new look is the first `beyond` a bound without an effect.
Looks: TypeAlias = "NormalLooks | DrawnLooks"
L = TypeVar("L", "NormalLooks", "DrawnLooks")
#: A share of α, `[0, 1]`, for each fraction of the information; or the name of a rule.
Spending = str | Callable[[float], float]
#: The least level of a look, so that a very small p-value is always enough. A million such looks
#: spend 1e-6 together.
LEAST_LEVEL = 2.0**-40
#: Number of draws for a boundary; the first of fifty looks spends about thirty of them.
N_DRAWS = 1 << 15
#: Nodes per panel, and its length in standard deviations of the narrowest integrand.
_NODES, _PANEL, _MOST_PANELS = 16, 8.0, 64
#: The probability beyond this many standard deviations is less than 1e-15.
_FAR = 8.0
#: The share of α for the expected looks; all later looks share the rest.
_EXPECTED_SHARE = 0.9


def steady(fraction: float) -> float:
    """Return the share of α spent: evenly, 0.9 t, up to t = 1, and 1 - 0.1/t after that.

    Below 1 for any fraction, so the last look need not be known in advance.

    >>> [round(steady(t), 4) for t in (0.02, 0.5, 1, 2, 20)]
    [0.018, 0.45, 0.9, 0.95, 0.995]
    """
    return _EXPECTED_SHARE * fraction if fraction <= 1 else 1 - (1 - _EXPECTED_SHARE) / fraction


def _obrien_fleming(looks: Looks, fraction: float, alpha: float) -> float:
    from scipy.special import ndtr, ndtri

    return 2 * float(ndtr(float(ndtri(alpha / 2)) / fraction**0.5))


def _pocock(looks: Looks, fraction: float, alpha: float) -> float:
    return alpha * float(np.log1p((np.e - 1) * fraction))


#: The named rules of Lan and DeMets (1983), functions of (looks including the new one, fraction,
#: α): what all looks up to a fraction below 1 may spend. At the end all of α is spent.
SPENDING: dict[str, Callable[[Looks, float, float], float]] = {
    "obrien-fleming": _obrien_fleming,
    "pocock": _pocock,
}


def spent(looks: Looks, fraction: float, alpha: float, spending: Spending) -> float:
    """Return what the looks up to the new one, at this fraction of the information, may spend.

    At most α. "obrien-fleming" spends 2 - 2Φ(z_{α/2}/√t), little early; "pocock"
    α·ln(1 + (e - 1)t), about as much at every look.

    >>> none = NormalLooks()
    >>> round(spent(none, 0.5, 0.025, "obrien-fleming"), 6), spent(none, 1.0, 0.025, "pocock")
    (0.001525, 0.025)
    >>> round(spent(none, 0.5, 0.05, steady), 4)
    0.0225
    """
    if isinstance(spending, str):
        if spending not in SPENDING:
            raise InputError(
                f"must be {', '.join(map(repr, SPENDING))} or a function of the fraction of items; "
                f"got {shown(spending)}",
                argument="spending",
            )
        # At the end exactly α is spent.
        return alpha if fraction >= 1 else min(SPENDING[spending](looks, fraction, alpha), alpha)
    part = float(spending(fraction))
    if not 0 <= part <= 1:
        raise InputError(
            "must return a share of the level from 0 to 1 for every fraction, but it returns "
            f"{part:g} for {fraction:g}",
            argument="spending",
        )
    return alpha * part


def next_look(
    looks: L, fraction: float, alpha: float, spending: Spending, draws: Floats | None = None
) -> tuple[float, L]:
    """Return the level of one more look, at least 2^-40, and the looks so far with it.

    At a fraction of the information. If looks are drawn, `draws` (R,) are its statistic without an
    effect.

    >>> level, looks = next_look(NormalLooks(), 0.5, 0.025, "pocock")
    >>> round(level, 4), looks.n
    (0.0155, 1)
    """
    null: Any = fraction if draws is None else draws
    looks = looks.arriving(null)
    level, looks = looks.spending(spent(looks, fraction, alpha, spending))
    return max(level, LEAST_LEVEL), looks


def levels(fractions: ArrayLike, alpha: float, spending: Spending = "obrien-fleming") -> Floats:
    """Return the one-sided level of each look; the look's p-value is compared with it.

    Parameters
    ----------
    fractions : array_like, shape (J,)
        The fraction of the planned information at each look, above 0 and increasing; 1 is the
        plan's end.
    alpha : float
        In (0, 0.5): the allowed probability that any look is wrong.
    spending : {"obrien-fleming", "pocock"} or callable
        The share of α that looks up to a fraction t spend: a function of Lan and DeMets (1983),
        named after the similar boundary; or your own nondecreasing function of t, 0 to 1.

    Returns
    -------
    ndarray, shape (J,)
        In [0, α]; 0 if a look may spend nothing.

    Notes
    -----
    With normal Z_j of correlations √(t_i/t_j), the level of look j is 1 - Φ(c_j), where P(Z_1 <
    c_1, ..., Z_{j-1} < c_{j-1}, Z_j >= c_j) is what the look may spend. The density of looks that
    have not crossed a bound is carried from look to look by an integral (Armitage, McPherson and
    Rowe, 1969), here by Gauss and Legendre's rule in panels.

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> [round(-float(ndtri(level)), 4) for level in levels([0.5, 1], 0.025)]
    [2.9626, 1.9686]
    >>> levels([0.25, 0.5, 0.75, 1], 0.05, "pocock").round(4).tolist()
    [0.0179, 0.0189, 0.02, 0.0209]
    """
    alpha = share(alpha, "alpha", 0.5)
    try:
        at = np.asarray(fractions, dtype=np.float64)
    except (TypeError, ValueError):
        at = np.zeros(1)
    if at.ndim != 1 or not np.all(np.isfinite(at)) or np.any(np.diff(at, prepend=0.0) <= 0):
        raise InputError(
            f"must be numbers above 0, each larger than the previous one, got {shown(fractions)}",
            argument="fractions",
        )
    levels, looks = [], NormalLooks()
    for fraction in at.tolist():
        looks = looks.arriving(fraction)
        level, looks = looks.spending(spent(looks, fraction, alpha, spending))
        levels.append(level)
    return np.array(levels)


@dataclass(frozen=True, eq=False)
class NormalLooks:
    """Looks at one growing comparison that have not crossed a bound: normal statistics."""

    n: int = 0
    fraction: float = 0.0  # of the information at the last look
    spent: float = 0.0  # by all looks
    bound: float = np.inf  # c of the normal statistic
    step: float = 1.0  # standard deviation of what the last look added, on that scale
    nodes: Floats | None = None  # (M,) of the statistic one look before; none at the first look
    mass: Floats | None = None  # (M,), the probability of each

    def arriving(self, fraction: float) -> NormalLooks:
        """Return the looks with one more, at a fraction of the information, without a bound."""
        if self.n == 0:
            return replace(self, n=1, fraction=fraction)
        added = (fraction - self.fraction) / fraction
        nodes, mass = self._passed_on(min(self.step, (added * fraction / self.fraction) ** 0.5))
        return NormalLooks(self.n + 1, fraction, self.spent, np.inf, added**0.5, nodes, mass)

    def beyond(self, bound: float) -> float:
        """Return the probability that the new look is the first beyond its bound."""
        from scipy.special import ndtr

        if self.nodes is None or self.mass is None:
            return float(ndtr(-bound))
        kept = self.nodes * (1 - self.step**2) ** 0.5
        return float(self.mass @ ndtr((kept - bound) / self.step))

    def spending(self, spent: float) -> tuple[float, NormalLooks]:
        """Return the level of the new look, and the looks with its bound."""
        from scipy.special import ndtr, ndtri

        due = spent - self.spent
        if due <= 0:
            return 0.0, self
        if self.n == 1:
            return spent, replace(self, spent=spent, bound=-float(ndtri(spent)))

        def excess(bound: float) -> float:
            return float(np.log(max(self.beyond(bound), 1e-300) / due))

        # The upper end would be right without earlier looks, the lower end if all had crossed.
        low, high = (-float(ndtri(x)) for x in (min(spent, 0.5), due))
        # If a look adds almost nothing, the ends are the answer up to rounding.
        if excess(low) <= 0:
            bound = low
        elif excess(high) >= 0:
            bound = high
        else:
            bound = root(excess, low, high, 1e-9)
        return float(ndtr(-bound)), replace(self, spent=spent, bound=bound)

    def _passed_on(self, narrow: float) -> tuple[Floats, Floats]:
        """Return nodes of the last statistic below its bound, and their probabilities.

        By Gauss and Legendre's rule in panels; `narrow` is the smallest width of the integrand.
        """
        upper = max(min(self.bound, _FAR), 1.0 - _FAR)
        n = int(np.ceil((upper + _FAR) / (_PANEL * min(narrow, 1.0))))
        edges = np.linspace(-_FAR, upper, min(n, _MOST_PANELS) + 1)
        half = float(edges[1] - edges[0]) / 2
        of_panel, weights_of_panel = _rule()
        centres = (edges[1:] + edges[:-1]) / 2
        nodes = (centres[:, None] + half * of_panel).ravel()
        weights = np.tile(half * weights_of_panel, len(centres))
        if self.nodes is None or self.mass is None:
            return nodes, weights * _density(nodes)
        kept = (1 - self.step**2) ** 0.5
        apart = (nodes[:, None] - kept * self.nodes) / self.step
        return nodes, weights / self.step * (_density(apart) @ self.mass)


def _density(z: Floats) -> Floats:
    """Return the standard normal density."""
    return np.asarray(np.exp(-0.5 * z * z) / (2 * np.pi) ** 0.5)


@cache
def _rule() -> tuple[Floats, Floats]:
    """Return Gauss and Legendre's nodes and weights on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _all_draws() -> NDArray[np.bool_]:
    return np.ones(N_DRAWS, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class DrawnLooks:
    """Looks whose joint distribution is drawn: the draws that have not crossed a level.

    `before` is the part of α spent before the first look. `draws` (R,) are the new look's statistic
    without an effect, from the same draws at all looks.
    """

    before: float = 0.0
    surviving: NDArray[np.bool_] = field(default_factory=_all_draws)
    n: int = 0
    draws: Floats | None = None

    @property
    def spent(self) -> float:
        """The part of α spent by the looks, and before them."""
        return self.before + 1 - float(np.mean(self.surviving))

    def arriving(self, draws: Floats) -> DrawnLooks:
        """Return the looks with one more, given draws of its statistic."""
        return replace(self, n=self.n + 1, draws=draws)

    def beyond(self, bound: float) -> float:
        """Return the probability that the new look is the first beyond its bound."""
        return float(np.mean(self.surviving & (self._drawn > bound)))

    def spending(self, spent: float) -> tuple[float, DrawnLooks]:
        """Return the level of the new look, and the looks so far.

        As many of the surviving draws cross as the spent level allows, beginning with the largest.
        The level of the look is the share of all draws that are as large; 0 if less than one draw
        may cross.
        """
        draws, n_draws = self._drawn, len(self.surviving)
        n_surviving = int(np.count_nonzero(self.surviving))
        allowed = round((spent - self.before) * n_draws) - (n_draws - n_surviving)
        due = min(max(allowed, 0), n_surviving)
        after = replace(self, draws=None)
        if not np.any(draws):
            # Every unit changed by the same amount, so all draws are 0 and none crosses.
            return due / (n_draws + 1), after
        left = draws[self.surviving]
        stay = len(left) - due
        # Draws that tie with a staying draw do not cross, so the allowed level is not exceeded.
        crossed = draws > (np.partition(left, stay - 1)[stay - 1] if stay > 0 else -np.inf)
        # Over R + 1, like all p-values from counts.
        level = float(np.count_nonzero(crossed)) / (n_draws + 1)
        return level, replace(after, surviving=self.surviving & ~crossed)

    @property
    def _drawn(self) -> Floats:
        assert self.draws is not None, "a look has to arrive first"
        return self.draws


def inflation(
    looks: int, alpha: float, power: float, spending: Spending = "obrien-fleming"
) -> tuple[float, float]:
    """Return the items that looks in equal steps need, relative to one test: at most, on average.

    For one-sided looks of overall level α that find a true effect with this power; the average is
    under this effect (Jennison and Turnbull, 2000, section 2.3). With an effect of θ standard
    errors at the end, a look at a fraction t is beyond its bound c if the look without an effect is
    beyond c - θ√t.

    >>> [round(x, 2) for x in inflation(5, 0.025, 0.8)]
    [1.02, 0.82]
    """
    from scipy.special import ndtri

    at = np.arange(1, looks + 1) / looks
    bounds = -ndtri(np.maximum(levels(at, alpha, spending), LEAST_LEVEL))

    def first(effect: float) -> Floats:
        chances, so_far = np.empty(looks), NormalLooks()
        for j, (t, bound) in enumerate(zip(at.tolist(), bounds.tolist(), strict=True)):
            so_far = replace(so_far.arriving(t), bound=bound - effect * t**0.5)
            chances[j] = so_far.beyond(so_far.bound)
        return chances

    single = -float(ndtri(alpha)) + float(ndtri(power))
    effect = root(lambda x: float(np.sum(first(x))) - power, single / 2, 2 * single, 1e-9)
    chances = first(effect)
    average = 1 - float(chances[:-1] @ (1 - at[:-1]))
    most = (effect / single) ** 2
    return most, most * average


def conditional_power(pvalue: float, fraction: float, last_level: float) -> float:
    """Return the probability that the last look passes if the effect stays as large as so far.

    From the one-sided p-value of a look at a fraction t < 1 of the information, and the level at
    the end: Φ((z/√t - c)/√(1 - t)) with z = Φ⁻¹(1 - p) (Lan and Wittes, 1988).

    >>> round(conditional_power(0.16, 0.5, 0.025), 3), round(conditional_power(0.5, 0.5, 0.025), 3)
    (0.217, 0.003)
    """
    from scipy.special import ndtr, ndtri

    z, bound = -float(ndtri(pvalue)), -float(ndtri(last_level))
    return float(ndtr((z / fraction**0.5 - bound) / (1 - fraction) ** 0.5))


def sequence_level(n: float, alpha: float, tightest: float) -> float:
    r"""Return the one-sided level of a look at n units, without a plan or an end of looking.

    From the asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024),
    whose one-sided bound lies

    .. math:: \sqrt{\frac{2 (n \rho^2 + 1)}{n \rho^2}
              \ln\left(1 + \frac{\sqrt{n \rho^2 + 1}}{2 \alpha}\right)}

    standard errors from the estimate; ρ makes it narrowest near n = `tightest`.

    >>> round(sequence_level(100, 0.05, 100), 5), round(sequence_level(1000, 0.05, 100), 5)
    (0.00273, 0.0014)
    """
    from scipy.special import ndtr

    ratio = n * _mixed(alpha, tightest)
    log = float(np.log1p((ratio + 1) ** 0.5 / (2 * alpha)))
    return float(ndtr(-((2 * (ratio + 1) / ratio * log) ** 0.5)))


def sequence_pvalue(pvalue: float, n: float, alpha: float, tightest: float) -> float:
    """Return the smallest level at which a confidence sequence excludes the null value.

    From the one-sided p-value of a look at n units. The result is at most α exactly if that p-value
    is at most `sequence_level`; over all looks this happens with probability at most α.

    >>> round(sequence_pvalue(sequence_level(300, 0.05, 100), 300, 0.05, 100), 9)
    0.05
    """
    from scipy.special import ndtri

    z, ratio = -float(ndtri(pvalue)), n * _mixed(alpha, tightest)
    if z <= 0:
        return 1.0
    power = z * z * ratio / (2 * (ratio + 1))
    # Beyond e^700 the result overflows, and the p-value is 0.
    return min(1.0, sqrt(ratio + 1) / 2 / expm1(min(power, 700.0)))


def _mixed(alpha: float, tightest: float) -> float:
    """Return ρ² of the normal mixture that is narrowest near `tightest` units."""
    # For a one-sided sequence, 2α instead of α.
    log = -2 * float(np.log(2 * alpha))
    return (log + log1p(log)) / tightest
