"""Families of comparisons: p-values adjusted, and intervals that hold, for all pairs at once.

The largest of all differences, each over its own standard error, is resampled with all systems
together (step-down max-T; Romano and Wolf, 2005, 2016). Where fewer than half a per cent of the
resamples reach a difference, Holm's method (1979) says how small its p-value is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.pairs import Compared, logarithms
from evalstats.analysis.sampling import Sample, rows_of
from evalstats.inference import bootstrap, families, student
from evalstats.inference.bootstrap import Bounds
from evalstats.resampling.strata import places_of, stratum_totals
from evalstats.resampling.totals import weighted_totals

Floats = NDArray[np.float64]

#: One resample in so many is the smallest share that is a p-value. Beyond it the resamples of few
#: units have heavier tails than t, and of many units too few are as large.
_ONE_IN = 200

#: Bits of a sum of squares, and of one of them, that leave room for weights in single precision;
#: beyond so many segments that would leave a value too few.
_SINGLE_BITS, _LARGEST_BITS, _SINGLE_SEGMENTS, _DOUBLE_BITS = 22, 16, 1 << 14, 52


class OwnErrors:
    """The standard error of differences within each resample, `(p, B)`.

    √Σ_t (Q*_t - S*_t²/n_t) with the resampled sums S* of influence values and Q* of their squares
    in each stratum; where segments are elsewhere, the standard error itself.
    """

    def __init__(self, sample: Sample, options: Options) -> None:
        self.units, self.options = sample.units, options
        self.n_resamples = sample.replicates.shape[1]
        self.values: Floats | None = None
        if sample.influence is not None:
            units = self.units
            values = student.unbiased(sample.influence, units.sizes, units.codes)
            self.unit = student.unit_of(values)
            self.values = values / self.unit
        self.sums: list[tuple[int, Floats]] = []

    @property
    def is_studentised(self) -> bool:
        """Whether every resample has a standard error of its own."""
        return self.values is not None

    def __call__(self, pairs: Sequence[Compared]) -> Floats:
        """Return those of some pairs; one column stands for all resamples."""
        if self.values is None:
            return np.array([[pair.spread.error] for pair in pairs])
        first, second = [pair.a for pair in pairs], [pair.b for pair in pairs]
        moved = self.values[second] - self.values[first]
        scale = student.unit_of(moved, axis=1)
        squares = np.square(moved / scale)
        if self.sums:
            variance = self._totals(squares)
        elif self.units.codes is None:
            # Both with the same rows of weights, which take as long to draw.
            sums, variance = np.split(
                self._totals(np.concatenate([self.values, squares])), [len(self.values)]
            )
            self.sums = [(self.units.n, sums)]
        else:
            self.sums, variance = self._of_strata(self.values), self._totals(squares)
        for n, sums in self.sums:
            variance -= np.square((sums[second] - sums[first]) / scale) / n
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * (scale * self.unit))

    def _totals(self, values: Floats) -> Floats:
        """Return resampled sums of values, `(p, N) -> (p, B)`."""
        # Above the least of them no number is negative, and single precision will do. As weights
        # sum to N in every resample, what is below cancels out.
        least = np.min(values, axis=1, keepdims=True)
        whole, steps = _whole_numbers((values - least).T)
        rows = rows_of(self.units, self.options.seed)
        totals = weighted_totals(rows, whole, self.n_resamples, self.options.executor)
        moved = (totals - np.sum(whole, axis=0)) * steps
        return np.asarray(moved.T + np.sum(values, axis=1, keepdims=True))

    def _of_strata(self, values: Floats) -> list[tuple[int, Floats]]:
        """Return the number of units of each stratum, and resampled sums in it, `(S, B)`."""
        whole, steps = _whole_numbers(values.T)
        assert self.units.codes is not None
        places = places_of(self.units.codes)
        parts = [(p, whole[p]) for p in places]
        rows, stacked = rows_of(self.units, self.options.seed), partial(np.stack, axis=1)
        found = stratum_totals(rows, parts, self.n_resamples, self.options.executor, stacked)
        return [(len(p), (found[:, t] * steps).T) for t, p in enumerate(places)]


@dataclass(frozen=True, eq=False)
class Family:
    """Pairs of systems under one metric, or several with the same resamples and options.

    Families of one sample may share the standard errors within resamples.
    """

    pairs: Sequence[Compared]
    shared: OwnErrors | None = None

    def adjusted(self, pvalues: Floats, adjustment: str) -> Floats:
        """Adjust the p-values of all comparisons, `(P,) -> (P,)`; none is below its own."""
        if adjustment != "max-t":
            return families.ADJUSTMENTS[adjustment](pvalues)
        if len(self.pairs) == 1:
            return pvalues
        # What is not drawn, or does not vary, knows nothing of the others.
        adjusted = families.holm(pvalues)
        if self._drawn:
            counts, largest = self._largest(self._sign)
            counts = families.monotone(counts + 1.0, self._sizes(self._sign))
            fewest = _fewest(largest)
            shares = self._widened(np.maximum(counts, fewest) / (len(largest) + 1))
            # At each level one of the two decides: at levels below the smallest share Holm's.
            small = np.minimum(shares, adjusted[self._drawn])
            together = np.where(counts > fewest, shares, small)
            adjusted[self._drawn] = np.maximum(together, pvalues[self._drawn])
        return adjusted

    def _widened(self, shares: Floats) -> Floats:
        """Return the p-values of shares of resamples, `(p,)`: where errors are studentised, these.

        Standard errors that are the same in all resamples say nothing of how uncertain they are.
        """
        sides = self.pairs[0].options.sides
        pairs = [self.pairs[i] for i in self._drawn]
        return np.array(
            [
                share
                if self._errors[pair.sample].is_studentised
                else bootstrap.widened(float(share) / sides, pair.spread, sides)
                for share, pair in zip(shares, pairs, strict=True)
            ]
        )

    def simultaneous(self) -> list[Bounds]:
        """Return intervals that hold for all pairs at once.

        D ± c·se with c the k-th largest of the largest differences, the last whose adjusted p-value
        is at most α, and never shorter than the interval of the pair alone. Where α is below the
        smallest share of resamples, c is Bonferroni's where that is larger.
        """
        alpha, n_pairs = self.pairs[0].options.alpha, len(self.pairs)
        spreads = [pair.spread for pair in self.pairs]
        critical = [student.quantile(s.degrees, alpha / n_pairs) for s in spreads]
        if self._drawn and n_pairs > 1:
            largest = np.sort(self._largest(0)[1])
            for i in self._drawn:
                share = alpha
                if not self._errors[self.pairs[i].sample].is_studentised:
                    share = 2 * bootstrap.tail(alpha, spreads[i])
                k, fewest = int((len(largest) + 1) * share), _fewest(largest)
                beyond = max(float(largest[-fewest]), critical[i])
                critical[i] = float(largest[-k]) if k >= fewest else beyond
        return [self._joined(p, c) for p, c in zip(self.pairs, critical, strict=True)]

    def _joined(self, pair: Compared, critical: float) -> Bounds:
        alone = pair.interval(pair.options.alpha)
        if pair.n_differing == 0:
            return alone
        if pair.options.contrast == "difference":
            half = critical * pair.spread.error
            low, high = pair.value - half, pair.value + half
        else:
            low, high = pair.ratio.at(critical)
        if pair.options.contrast == "log-ratio":
            low, high = logarithms((low, high))
        return min(low, alone[0]), max(high, alone[1])

    @cached_property
    def _errors(self) -> dict[Sample, OwnErrors]:
        """The standard errors within resamples, sample by sample."""
        if self.shared is not None:
            return {self.pairs[0].sample: self.shared}
        options = self.pairs[0].options
        samples = dict.fromkeys(pair.sample for pair in self.pairs)
        return {sample: OwnErrors(sample, options) for sample in samples}

    def _own_errors(self, pairs: Sequence[Compared]) -> Floats:
        """Return those of some pairs, `(p, B)`."""
        found = np.empty((len(pairs), self.pairs[0].sample.replicates.shape[1]))
        for sample, own in self._errors.items():
            if places := [i for i, pair in enumerate(pairs) if pair.sample is sample]:
                found[places] = own([pairs[i] for i in places])
        return found

    @property
    def _sign(self) -> int:
        """0 for a two-sided test, else the side."""
        return {"two-sided": 0, "greater": 1, "less": -1}[self.pairs[0].options.alternative]

    @cached_property
    def _drawn(self) -> list[int]:
        """Pairs that vary and whose resamples say how much."""
        return [
            i
            for i, pair in enumerate(self.pairs)
            if pair.sample.replicates.size and pair.n_differing
            if pair.spread.error > 0 and not pair.by_t
        ]

    def _sizes(self, sign: int) -> Floats:
        """Return the differences over their standard errors, `(P,)`."""
        some = [self.pairs[i] for i in self._drawn]
        t = np.array([pair.value / pair.spread.error for pair in some])
        return np.asarray(t * sign if sign else np.abs(t))

    def _largest(self, sign: int) -> tuple[NDArray[np.int64], Floats]:
        pairs = [self.pairs[i] for i in self._drawn]
        errors = np.array([pair.spread.error for pair in pairs])

        def null(some: NDArray[np.intp]) -> Floats:
            # A resample that misses the few units on which two systems differ says nothing of them.
            scale = np.maximum(self._own_errors([pairs[j] for j in some]), errors[some, None] / 2)
            moved = np.stack([pairs[j].difference.replicates - pairs[j].value for j in some])
            moved /= scale
            return np.asarray(moved * sign if sign else np.abs(moved))

        n = self.pairs[0].sample.replicates.shape[1]
        return families.step_down(null, self._sizes(sign), n)


def _fewest(largest: Floats) -> int:
    """Return the number of resamples, of so many largest differences `(B,)`, that can be a p-value.

    50 of B = 9,999, and 1 of B = 199 and fewer.
    """
    return max((len(largest) + 1) // _ONE_IN, 1)


def _whole_numbers(columns: Floats) -> tuple[Floats, Floats]:
    """Round columns to whole numbers of steps, so few that their weighted sums are exact.

    Squares have so few that single precision, which is faster, holds their sums: a sum then errs by
    some √N/2^23 of itself, 5e-6 for 2,000 segments.
    """
    n, size = len(columns), np.sum(np.abs(columns), axis=0)
    steps = size / (2.0**_DOUBLE_BITS - n)
    if n <= _SINGLE_SEGMENTS:
        single = np.maximum(size / 2.0**_SINGLE_BITS, np.max(columns, axis=0) * 2.0**-_LARGEST_BITS)
        steps = np.where(np.min(columns, axis=0) < 0, steps, single)
    whole = np.divide(columns, steps, where=steps > 0, out=np.zeros(columns.shape))
    return np.rint(whole), steps
