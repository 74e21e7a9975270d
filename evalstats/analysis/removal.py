"""Which segments a difference rests on: their influence, and what is left without some of them.

The most influential go first, all at once (Broderick, Giordano and Meager, 2020, "An automatic
finite-sample robustness metric", arXiv:2011.14999): influence values say which, and the scores and
the p-value of the rest are computed, not approximated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import sampling
from evalstats.analysis.pairs import single_pvalue
from evalstats.analysis.plan import Plan
from evalstats.analysis.units import Units
from evalstats.inference.significance import tie_tolerance
from evalstats.metrics import scores_of
from evalstats.resampling.strata import places_of
from evalstats.results.influence import SHOWN, Influence
from evalstats.results.records import Difference
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
Order = NDArray[np.intp]

#: Units that have to be left, of each stratum.
_LEAST = 2


class Influencer:
    """What a `Comparison` keeps for `Comparison.influence`: statistics, names, perhaps texts."""

    def __init__(
        self,
        tables: Sequence[SegmentStatistics],
        units: Units,
        groups: Iterable[Hashable] | None,
        systems: object,
    ) -> None:
        self.tables, self.units = list(tables), units
        self.outputs = dict(systems) if isinstance(systems, Mapping) else {}
        self.labels = None if groups is None else [str(label) for label in dict.fromkeys(groups)]

    def __call__(self, place: int, d: Difference, level: float, signature: str) -> Influence:
        """Return the influence of all segments on a difference under the metric of a place."""
        table = self.tables[place]
        pair = [table.systems.index(name) for name in (d.baseline, d.system)]
        table = replace(table, values=table.values[pair], systems=(d.baseline, d.system))
        whole = _Rest(table, self.units)
        # What is drawn within strata is removed from the whole.
        moves = sampling.moves_of(whole.sample, (0, 1))
        sign = -1.0 if d.difference < 0 else 1.0
        ranking = np.argsort(-sign * moves, kind="stable")
        supporters = whole.removable(ranking)
        turned = whole.signs(supporters, sign) < 0
        n_sign = _first(turned & (d.difference != 0))
        pvalue = whole.pvalue(supporters[:0])
        order = supporters if pvalue <= level else whole.removable(ranking[::-1])

        def changes(n: int) -> bool:
            is_significant = whole.pvalue(order[:n]) <= level
            same = is_significant and sign * whole.difference(order[:n]) > 0
            return same != (pvalue <= level)

        n_verdict = _least(changes, len(order))
        ids = self.labels or table.segment_ids or [str(i) for i in range(len(moves))]
        ranked = np.argsort(-np.abs(moves), kind="stable")
        return Influence(
            metric=d.metric,
            system=d.system,
            baseline=d.baseline,
            difference=d.difference,
            pvalue=pvalue,
            unit="group" if self.units.grouped else "segment",
            ids=tuple(ids[i] for i in ranked),
            values=tuple(moves[ranked].tolist()),
            sign_without=None if n_sign is None else tuple(ids[i] for i in supporters[:n_sign]),
            verdict_without=None if n_verdict is None else tuple(ids[i] for i in order[:n_verdict]),
            pvalue_without=None if n_verdict is None else whole.pvalue(order[:n_verdict]),
            significance_level=level,
            higher_is_better=d.higher_is_better,
            signature=signature,
            texts=self._texts((d.baseline, d.system), ranked[:SHOWN]),
            n_strata=None if whole.codes is None else int(whole.codes.max()) + 1,
        )

    def _texts(self, pair: tuple[str, str], places: Order) -> tuple[tuple[str, str], ...]:
        """Return the outputs on some segments, where they are lists of texts."""
        if self.labels is not None or not self.outputs:
            return ()
        both = [self.outputs[name] for name in pair]
        if not all(isinstance(outputs, (list, tuple)) for outputs in both):
            return ()
        found: list[Any] = [tuple(outputs[i] for outputs in both) for i in places]
        return tuple(found) if all(isinstance(t, str) for texts in found for t in texts) else ()


def _plan() -> Plan:
    """Return a plan without resampling."""
    return Plan("t", 0.95, 2, 0, "multinomial", None, None)


class _Rest:
    """Two systems on all segments but some."""

    def __init__(self, table: SegmentStatistics, units: Units) -> None:
        self.table, self.sizes, self.codes = table, units.sizes, units.strata
        self.sample = self._sample(np.empty(0, dtype=np.intp))

    def _sample(self, without: Order) -> sampling.Sample:
        values = np.delete(self.table.values, without, axis=1)
        rest = replace(self.table, values=values, segment_ids=None, fingerprint=None)
        sizes, codes = (
            None if given is None else np.delete(given, without)
            for given in (self.sizes, self.codes)
        )
        return sampling.bootstrap([rest], _plan(), Units([rest], sizes, codes))[0]

    def removable(self, order: Order) -> Order:
        """Return units in this order without the last two of each stratum, which have to stay."""
        codes = np.zeros(len(order), dtype=np.intp) if self.codes is None else self.codes
        stay = [places[-_LEAST:] for places in places_of(codes[order])]
        return np.delete(order, np.concatenate(stay))

    def difference(self, without: Order) -> float:
        scores = self._sample(without).scores
        return float(scores[1] - scores[0])

    def pvalue(self, without: Order) -> float:
        return single_pvalue(self._sample(without), (0, 1))

    def signs(self, order: Order, sign: float) -> Floats:
        """Return the sign of the difference without the first, without the first two, ..."""
        values = self.sample.values[[0, 1]][:, order].astype(np.float64)
        totals = self.sample.totals[:, None] - np.cumsum(values, axis=1)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = scores_of(self.table.metric, totals)
            moved, largest = scores[1] - scores[0], np.max(np.abs(scores), axis=0)
        tied = np.abs(moved) <= tie_tolerance(1.0, len(values[0]) + _LEAST) * largest
        return np.asarray(np.where(tied, 0.0, sign * np.sign(moved)))


def _first(found: NDArray[np.bool_]) -> int | None:
    """Return the number of segments without which it first holds."""
    return int(np.argmax(found)) + 1 if np.any(found) else None


def _least(changes: Callable[[int], bool], most: int) -> int | None:
    """Return a number that changes it, where one less does not."""
    low, high = 0, 1
    while high < most and not changes(high):
        low, high = high, 2 * high
    high = min(high, most)
    if high < 1 or not changes(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changes(middle) else (middle, high)
    return high
