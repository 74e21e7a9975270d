"""Families of comparisons: p-values adjusted, and intervals that hold, for all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import sampling
from evalstats.analysis.flips import whole_numbers
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import FEW_DIFFERING, Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import multiplicity, significance, stepdown, studentised
from evalstats.resampling.totals import recipe, swap_totals, weighted_totals

Floats = NDArray[np.float64]

#: With fewer segments, or groups, skewed scores make flips alone claim too much of unlike systems
#: (`benchmarks/families.py`): the studentised bootstrap has to agree.
_MANY_SEGMENTS = 1000
#: Replicates beyond a bound of an interval, at least, where the bound is a quantile of them.
_BEYOND = 10


@dataclass(frozen=True)
class Family:
    """All pairs of systems under the metrics of some samples, `M P` comparisons."""

    samples: Sequence[Sample]
    pairs: Sequence[Pair]
    plan: Plan

    def __len__(self) -> int:
        """Return the number of comparisons."""
        return len(self.samples) * len(self.pairs)

    def adjusted(self, pvalues: Floats, adjustment: str, alternative: str) -> Floats:
        """Adjust the p-values of all comparisons, `(M P,) -> (M P,)`.

        No adjusted p-value is below its own: max-T adds to what each test asks for.
        """
        if adjustment == "max-t" and self.samples[0].has_runs:
            # Signs of segments say nothing of other runs.
            adjustment = "holm"
        if adjustment != "max-t":
            return multiplicity.ADJUSTMENTS[adjustment](pvalues)
        if len(self) == 1:
            return pvalues
        every = [pvalues, *(p for p, _ in self._max_t(alternative))]
        return np.asarray(np.max(every, axis=0))

    def simultaneous_level(self) -> float:
        """Return the confidence level at which single intervals hold for all pairs at once.

        The t interval of that level is as wide as the quantile of the largest |t| under the null
        hypothesis, and at least as wide as that of one difference. Others take the same level.
        """
        from scipy.special import stdtr

        level, plan, degrees = self.plan.confidence_level, self.plan, self.samples[0].degrees
        if self.samples[0].has_runs:
            # Bonferroni's holds whatever there is.
            return 1 - (1 - level) / len(self)
        for _, largest in self._max_t("two-sided") if len(self) > 1 else ():
            # The ⌈(B + 1)(1 - α)⌉-th smallest, so that p <= α where the interval excludes 0.
            place = int(np.ceil((len(largest) + 1) * plan.confidence_level - 1e-9))
            if place > len(largest):
                raise InputError(
                    f"intervals='simultaneous' at the level {plan.confidence_level:g} need "
                    f"n_resamples of at least "
                    f"{int(np.ceil(1 / (1 - plan.confidence_level) - 1e-9)) - 1}, "
                    f"got {plan.n_resamples}"
                )
            t = float(np.partition(largest, place - 1)[place - 1])
            level = max(level, min(float(1 - 2 * stdtr(degrees, -t)), 1 - 1e-12))
        for sample in self.samples:
            method = sampling.method_of(sample, plan, self.pairs[0])
            beyond = (plan.n_resamples + 1) * (1 - level) / 2
            if method not in ("t", "hall", *sampling.COUNTED) and beyond < _BEYOND:
                raise InputError(
                    f"intervals='simultaneous' of {len(self)} comparisons need n_resamples of at "
                    f"least {int(np.ceil(2 * _BEYOND / (1 - level)))} with method {method!r}, got "
                    f"{plan.n_resamples}; method 't' needs no more"
                )
        return level

    def _max_t(self, alternative: str) -> list[tuple[Floats, Floats]]:
        """Return step-down p-values `(M P,)` and the largest null |t| `(B,)`, by each null."""
        differences = [s.scores[b] - s.scores[a] for s in self.samples for a, b in self.pairs]
        observed, n = np.array(differences), self.samples[0].n_segments
        n_systems = len(self.samples[0].scores)
        columns = np.concatenate(
            [np.array(self.pairs) + i * n_systems for i in range(len(self.samples))]
        )
        flips = [s.flips for s in self.samples if s.flips is not None]
        if len(flips) < len(self.samples):
            # Segments are elsewhere, or influence is not finite.
            deviates = np.concatenate([s.replicates - s.scores for s in self.samples], axis=1)
            moved = deviates[:, columns[:, 1]] - deviates[:, columns[:, 0]]
            errors = np.std(moved, axis=0, ddof=1)
            t = studentised.ratio(observed, errors**2)
            stepped, largest = stepdown.step_down(deviates, columns, errors, t, alternative)
            expanded = [significance.expanded_pvalue(float(p), n, alternative) for p in stepped]
            return [(np.array(expanded), largest)]
        influence = np.concatenate([s.unbiased for s in self.samples])
        errors = np.array([np.linalg.norm(influence[b] - influence[a]) for a, b in columns])
        t = studentised.ratio(observed, errors**2)
        first = self.samples[0]
        units = stepdown.flip_units(t, first.flip_degrees)
        sums = np.concatenate(flips, axis=1)
        stepped, largest = stepdown.step_down(sums, columns, errors, units, alternative)
        found = [(stepped, stepdown.t_of_units(largest, first.flip_degrees))]
        if first.is_uneven and first.codes is None:
            found.append(self._flipped_groups(columns, t, alternative))
        if n < _MANY_SEGMENTS:
            found.append(self._bootstrap(influence, columns, errors, t, alternative))
        return found

    def _flipped_groups(
        self, columns: NDArray[np.intp], t: Floats, alternative: str
    ) -> tuple[Floats, Floats]:
        """Return the same from flips of groups of unlike size, each over an error of its own.

        What a large group says draws the difference to itself, and its centred influence is too
        small. So here the null hypothesis is imposed before signs are flipped (the restricted wild
        cluster bootstrap; Cameron, Gelbach and Miller, 2008). Of exchangeable systems the other
        flips make too many claims, these of systems that are unlike (`benchmarks/families.py`):
        both have to agree.
        """
        sizes = self.samples[0].sizes
        assert sizes is not None
        shares = sizes / np.sum(sizes)
        weights = shares / (1 - shares)
        # What a group adds to a difference, not what it adds beyond its share of it.
        adds = [
            s.influence + shares * (s.scores - np.mean(s.scores))[:, None] for s in self.samples
        ]
        imposed = np.concatenate(adds)
        whole, steps = whole_numbers(np.concatenate([imposed, imposed * weights]).T)
        plan = self.plan
        halves = swap_totals(whole, plan.n_resamples, plan.seed, executor=plan.executor)
        flipped = (np.sum(whole, axis=0) - 2 * halves) * steps
        deviates, crossed = np.split(flipped, 2, axis=1)

        def errors_of(some: NDArray[np.intp]) -> Floats:
            first, second = columns[some].T
            squares = np.sum((imposed[second] - imposed[first]) ** 2 / (1 - shares), axis=1)
            moved = deviates[:, second] - deviates[:, first]
            # Σ (±y - s·D*)²/(1 - s), with the flipped difference D* taken off again.
            variance = squares - 2 * moved * (crossed[:, second] - crossed[:, first])
            variance += moved**2 * np.sum(shares * weights)
            return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

        return stepdown.step_down(deviates, columns, errors_of, t, alternative)

    def _bootstrap(
        self,
        influence: Floats,
        columns: NDArray[np.intp],
        errors: Floats,
        t: Floats,
        alternative: str,
    ) -> tuple[Floats, Floats]:
        """Return the same from bootstrap resamples, each difference over its own error."""
        n = influence.shape[1]
        first = self.samples[0]
        rows = recipe(n, self.plan.seed) if first.codes is None else first.weights
        assert rows is not None

        def totals(values: Floats) -> Floats:
            whole, steps = whole_numbers(values)
            sums = weighted_totals(rows, whole, self.plan.n_resamples, self.plan.executor)
            return np.asarray(sums * steps)

        deviates = totals(influence.T)
        # In many resamples two systems that differ on few segments do not differ at all.
        few = np.array(
            [s.n_differing(a, b) < FEW_DIFFERING for s in self.samples for a, b in self.pairs]
        )

        def errors_of(some: NDArray[np.intp]) -> Floats:
            first, second = columns[some].T
            squares = totals(np.square(influence[second] - influence[first]).T)
            moved = deviates[:, second] - deviates[:, first]
            own = stepdown.resampled_errors(moved, squares, errors[some], n)
            return np.where(few[some], np.inf, own)

        return stepdown.step_down(deviates, columns, errors_of, t, alternative)
