"""Numbers with their uncertainty, as arrays: scores, differences, anything linear in scores.

`Quantities` are Q numbers on the same N units: their values, the influence of each unit, and their
replicates in B resamples, drawn on demand. The scores of S systems are one example
(`evalstats.analysis.scores`), the differences of P pairs another: rows minus rows. Interval and
p-value are functions of quantities and do not depend on the metric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.counts import Counts
from evalstats.analysis.design import Units
from evalstats.inference import bootstrap, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.draws import NONE, Draws, tie_tolerance
from evalstats.inference.student import Runs, Spread

Floats = NDArray[np.float64]
Places = Sequence[int] | NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Quantities:
    """Q numbers on N units; unknown parts are `None`, or have no replicates.

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.analysis.options import Options
    >>> from evalstats.analysis.tasks import Task
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [4.0, 5, 5, 4.5, 4, 5], "C": [3.0, 4, 4, 4, 3, 5]}
    >>> table = es.extract(scores, metric=es.Mean("quality"))
    >>> (scores,) = Task([table]).drawn(Options(n_resamples=999))
    >>> pairs = scores.pairs([0, 0], [1, 2])    # B - A, C - A
    >>> scores.influence.shape, pairs.replicates.shape, pairs.n_differing.tolist()
    ((3, 6), (2, 999), [4, 1])
    >>> [f"{pairs.value[q]:+.2f}, p = {pairs.pvalue(q):.2f}" for q in range(2)]
    ['+0.58, p = 0.12', '-0.17, p = 1.00']
    """

    units: Units
    value: Floats  # (Q,)
    influence: Floats | None  # (Q, N), or coordinates (Q, C) of `SummedUnits`
    draws: Draws = NONE  # (Q, B), if they are drawn
    unseen: Floats | None = None  # (Q, N) added to squared influence values; t is then used
    runs: Sequence[tuple[Runs, ...]] = ()  # of each number, if it is a mean over several
    n_differing: NDArray[np.int64] | None = None  # (Q,) units on which two systems differ
    worth: Floats | None = None  # (Q,) effective number of these (Kish); infinite if none differ
    floor: Floats | None = None  # (Q,) smallest one-sided p-value of no difference
    counts: Sequence[Counts | None] = ()  # tests of differences of shares
    method: str = "bootstrap"  # or "t"; "percentile" for some intervals of `meta`
    skewness: float = 0.0  # for the correction of t, if known (Hall, 1992)

    @property
    def replicates(self) -> Floats:
        """The numbers in resamples, `(Q, B)`; drawn on first use."""
        return self.draws.values

    @cached_property
    def spreads(self) -> list[Spread]:
        """Standard error, factor and degrees of freedom of each number, including runs.

        If two systems differ on few units, these limit the degrees of freedom. Without influence
        values, the error comes from the replicates, widened by the factor of equal units; it is NaN
        without replicates.
        """
        spreads = []
        for q in range(len(self.value)):
            if self.influence is not None:
                unseen, codes = None, self.units.codes
                if self.unseen is not None:
                    strata = np.zeros(self.units.n, np.intp) if codes is None else codes
                    unseen = np.bincount(strata, self.unseen[q]).astype(np.float64)
                spread = self.units.spread(self.influence[q], unseen)
            else:
                _, factor, degrees = self.units.alike
                replicates = self.replicates[q] if self.draws.n else np.array([np.nan, np.nan])
                unit = float(student.unit_of(replicates))
                error = unit * float(np.std(replicates / unit, ddof=1))
                spread = Spread(factor * error, factor, degrees)
            if self.worth is not None:
                known = float(self.worth[q]) - 1
                spread = spread._replace(degrees=max(min(spread.degrees, known), 1.0))
            spreads.append(student.with_runs(spread, self.runs[q]) if self.runs else spread)
        return spreads

    def is_by_t(self, q: int) -> bool:
        """Whether t is used: nothing is drawn, few labels, or fewer than six effective units."""
        is_other = not self.draws.n or self.unseen is not None
        return is_other or self.spreads[q].degrees < bootstrap.LEAST_DEGREES

    def counted(self, q: int) -> Counts | None:
        """Return the test of a difference of shares, or `None`."""
        return self.counts[q] if self.counts else None

    def names(self, q: int) -> tuple[str, str]:
        """Return the names of the test and of the interval."""
        if (counts := self.counted(q)) is not None:
            return counts.test, counts.method
        return ("t", "t") if self.is_by_t(q) else ("bootstrap", self.method)

    def interval(self, q: int, alpha: float) -> Bounds:
        """Return the interval of confidence 1 - α: the middle of replicates, or a t interval."""
        if (counts := self.counted(q)) is not None:
            return counts.interval(alpha)
        value, spread = float(self.value[q]), self.spreads[q]
        about = value, spread.error, spread.degrees, alpha, self.skewness
        by_t = partial(student.interval, *about)
        if self.method == "percentile":
            return bootstrap.percentile(self.replicates[q], 1 - alpha)
        if self.is_by_t(q):
            low, high = by_t()
        else:
            low, high = bootstrap.interval(self.replicates[q], spread, alpha, by_t)
        if self.floor is not None and alpha < min(1.0, 2 * float(self.floor[q])):
            # No difference can never be rejected at this level.
            return min(low, 0.0), max(high, 0.0)
        return low, high

    def pvalue(self, q: int, null: float = 0.0, alternative: str = "two-sided") -> float:
        """Return the smallest level at which the interval excludes a null value."""
        if null == 0 and self.n_differing is not None and self.n_differing[q] == 0:
            return 1.0
        if (counts := self.counted(q)) is not None:
            return counts.pvalue(null, alternative)
        value = float(self.value[q])
        t = student.standardised(value - null, self.spreads[q].error)
        p = self.decided(q, lambda: self.replicates[q] - null, t, alternative)
        # A null value between no difference and the observed one has at least its p-value.
        is_between = 0 <= null / value <= 1 if value else null == 0
        return max(p, self.least(q, alternative)) if is_between else p

    def decided(self, q: int, distances: Callable[[], Floats], t: float, alternative: str) -> float:
        """Return the p-value from replicates minus a null value, `(B,)`, and the t statistic."""
        degrees, skewness = self.spreads[q].degrees, self.skewness
        by_t = partial(student.pvalue, t, 1.0, degrees, alternative, skewness)
        if self.is_by_t(q):
            return by_t()
        return bootstrap.pvalue(distances(), self.spreads[q], by_t, alternative)

    def least(self, q: int, alternative: str) -> float:
        """Return the smallest p-value of no difference, above 0 even if it underflows."""
        least = 0.0 if self.floor is None else float(self.floor[q])
        sides = 2 if alternative == "two-sided" else 1
        return min(1.0, max(sides * least, float(np.finfo(np.float64).tiny)))


def less(replicates: Floats, value: Floats, a: Places, b: Places, share: float, n: int) -> Floats:
    """Return rows b minus a share of rows a of replicates, `(S, B) -> (P, B)`.

    Rounding errors of equal scores `(S,)` of n units count as 0.
    """
    of_share = replicates[a] if share == 1 else share * replicates[a]
    rows: Floats = replicates[b] - of_share
    largest = np.maximum(np.abs(share * value[a]), np.abs(value[b]))
    rows[np.abs(rows) <= tie_tolerance(largest, n)[:, None]] = 0.0
    return rows
