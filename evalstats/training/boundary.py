"""The significance level of each look at a run, from how strongly looks depend on one another.

All looks of a run compare with the same best step, and successive checkpoints resemble each
other, so their test statistics are correlated. Bonferroni's inequality ignores that and wastes half
of the significance level. Here the level is spent look by look (Lan and DeMets, 1983) on the joint
distribution of all looks since the best step. Sign flips of the segments' influence values draw
from this distribution; they are the same at every look, so that draws are correlated as the looks
are. What looks may spend, and the least level of one, are those of
`evalstats.designs.looks.spending`; the levels are not: there the items of one comparison grow, and
correlations are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.designs.looks.spending import LEAST_LEVEL, spent, steady

#: Sign flips behind a boundary; the first look of fifty spends some thirty of them.
N_FLIPS = 1 << 15
#: Segments are flipped in at most so many sets. More sets take longer and change no level.
_MOST_SETS = 256
#: The signs of eight sets for each value of an octet, `(8, 256)`.
_SIGNS = 1.0 - 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[None], axis=0)


def spent_by(look: int, significance_level: float, expected_looks: int) -> float:
    """Return the level that looks 1, 2, ..., j may spend together.

    That of `evalstats.designs.looks.spending.steady`, of the H looks that are expected: in equal
    parts, and less than α for any number of looks, so that nobody needs to know when the run will
    end.

    Examples
    --------
    >>> [round(spent_by(j, 0.05, 50), 4) for j in (1, 25, 50, 100, 1000)]
    [0.0009, 0.0225, 0.045, 0.0475, 0.0498]
    """
    return spent(look / expected_looks, significance_level, steady)


@dataclass(frozen=True)
class Boundary:
    """Which draws under the null hypothesis have crossed no level since the last improvement.

    A new boundary starts after each real improvement, since later looks compare with another step.

    Attributes
    ----------
    surviving : ndarray of bool, shape (R,)
        Whether each draw has crossed none.
    before : float
        The level that was spent before the first look of this boundary.
    """

    surviving: NDArray[np.bool_]
    before: float

    @classmethod
    def start(cls, before: float = 0.0) -> Boundary:
        """Return a boundary that no draw has crossed yet."""
        return cls(np.ones(N_FLIPS, dtype=np.bool_), before)

    def look(
        self, influence: NDArray[np.float64], spent: float, seed: int
    ) -> tuple[float, Boundary]:
        """Return the level of one more look, and the boundary after it.

        As many of the surviving draws cross as the spent level allows, those with the largest
        values. The level of the look is the share of all draws that are as large, and 2^-40 where
        less than one draw may cross.

        Parameters
        ----------
        influence : ndarray, shape (N,)
            Of each segment on the improvement: positive where the new step is better.
        spent : float
            What the looks of the run may spend together up to this one, `spent_by`.
        seed : int
            Of the flips, the same for all looks of a run.
        """
        draws = _flipped(influence, seed)
        n_surviving = int(np.count_nonzero(self.surviving))
        allowed = round((spent - self.before) * N_FLIPS) - (N_FLIPS - n_surviving)
        due = min(max(allowed, 0), n_surviving)
        if not np.any(draws):
            # Every segment changed by the same amount, so all draws are 0.
            return max(due / (N_FLIPS + 1), LEAST_LEVEL), self
        left = draws[self.surviving]
        stay = len(left) - due
        # Draws that tie with one that stays do not cross: no more is spent than is allowed.
        crossed = draws > (np.partition(left, stay - 1)[stay - 1] if stay > 0 else -np.inf)
        # Over R + 1, as every p-value that is counted.
        level = float(np.count_nonzero(crossed)) / (N_FLIPS + 1)
        return max(level, LEAST_LEVEL), Boundary(self.surviving & ~crossed, self.before)


def _flipped(influence: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return sums of the influence values under random signs, `(N,) -> (R,)`."""
    centred = influence - np.mean(influence)
    # Neighbours go to different sets: segments of a document resemble each other.
    n_sets = min(len(centred), _MOST_SETS)
    sets = np.bincount(np.arange(len(centred)) % n_sets, centred, minlength=-(-n_sets // 8) * 8)
    scale = float(np.max(np.abs(sets)))
    if not scale > 0:
        return np.zeros(N_FLIPS)
    # Sums of whole numbers are exact, so that equal draws stay equal.
    octets = np.rint(sets / scale * 2**20).reshape(-1, 8)
    drawn = np.random.default_rng(seed).bytes(len(octets) * N_FLIPS)
    sums = np.zeros(N_FLIPS)
    # Eight signs at a time, in a table of the sums of their 256 choices.
    for added, signs in zip(
        octets @ _SIGNS, np.frombuffer(drawn, np.uint8).reshape(-1, N_FLIPS), strict=True
    ):
        sums += added[signs]
    return sums
