"""Systems side by side that are not paired: each has units of its own, a stratum of one design.

The rule needs nothing else: systems are drawn each within itself, and the standard error and the
degrees of freedom of a difference are those of strata, which of two samples are Welch's (1947).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.blocks import Block, Scored, Segments
from evalstats.analysis.outcomes import Counts, SharesApart
from evalstats.analysis.units import Units
from evalstats.errors import InputError
from evalstats.metrics.identity import MetricSignature, merged
from evalstats.results.records import distinct

Floats = NDArray[np.float64]
#: Why several runs of such systems are refused.
RUNS = (
    "is for one run of each system, and these are several; give scores that are means of the runs"
)
#: Of more units than these no share of the ways to divide them is a number above 0.
_MOST_DIVIDED = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Apart(Scored):
    """S systems under one metric, each scored on units of its own, side by side.

    The units of all are one design `(N,)`; `places` are those of each system.
    """

    each: tuple[Segments, ...]
    places: tuple[slice, ...]

    #: Several runs of systems that are not paired are refused.
    runs: ClassVar[None] = None

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of all systems, one system after the other, among the units of all."""
        moved = []
        for of, here in zip(self.each, self.places, strict=True):
            for block in of.blocks:
                # Columns that are neighbours are not copied.
                places = here if block.places is ... else here.start + block.places
                moved.append(replace(block, places=places))
        return tuple(moved)

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all blocks, `(..., 1, k)` each."""
        parts, rest = [], list(totals)
        for of in self.each:
            blocks, rest = rest[: len(of.blocks)], rest[len(of.blocks) :]
            parts.append(of.score(blocks, where))
        return np.concatenate(parts, axis=-1)

    def influence(self) -> Floats:
        """Return influence values of all units on every score, `(S, N)`: 0 of other systems'."""
        values = np.zeros((len(self.each), self.units.n))
        for i, (of, here) in enumerate(zip(self.each, self.places, strict=True)):
            values[i, here] = of.influence()[0]
        return values

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return how many units two systems have; they limit no degrees of freedom."""
        return sum(self.each[i].units.n for i in (a, b)), np.inf

    def least(self, a: int, b: int) -> float:
        """Return the smallest one-sided p-value: the units can be divided in so many ways."""
        n, n_both = self.each[a].units.n, self.differ(a, b)[0]
        return 1 / comb(n_both, n) if n_both <= _MOST_DIVIDED else 0.0

    def counted(self, a: int, b: int, influence: Floats) -> Counts | None:
        """Return what counts the difference of two shares; nothing where scores are none."""
        both = [(self.each[i].outcomes, influence[self.places[i]]) for i in (a, b)]
        shares = [of.share_of(values) for of, values in both if of is not None]
        if len(shares) < len(both) or shares[0].scale != shares[1].scale:
            return None
        return SharesApart(*shares)

    @property
    def missing(self) -> tuple[NDArray[np.int64], int]:
        """How many scores each system lacks, `(S,)`, and how many all would have."""
        gaps = [of.missing for of in self.each]
        return np.concatenate([counts for counts, _ in gaps]), sum(n for _, n in gaps)


def apart(each: Sequence[Segments], order: Sequence[int]) -> Apart:
    """Return systems under one metric side by side, to be drawn in this order."""
    first, sizes = each[0], [of.units.n for of in each]
    for of in each:
        if of.runs is not None:
            raise InputError(RUNS, argument="paired")
    ends = np.cumsum(sizes).tolist()
    labels = {of.reference_label for of in each}
    return Apart(
        name=first.name,
        metric_name=first.metric_name,
        systems=tuple(of.systems[0] for of in each),
        higher_is_better=first.higher_is_better,
        signature=_signature(each),
        reference_label=labels.pop() if len(labels) == 1 else None,
        units=_design([of.units for of in each], order),
        corrections=tuple(
            replace(one, metric=f"{one.metric} of {of.systems[0]}")
            for of in each
            for one in of.corrections
        ),
        each=tuple(each),
        places=tuple(slice(end - n, end) for n, end in zip(sizes, ends, strict=True)),
    )


def _signature(each: Sequence[Segments]) -> MetricSignature:
    """Return the signature of all systems; settings that differ, as weights of judges, are all in.

    Of ``judged:ppi:0.4`` and ``judged:ppi:0.5`` it has ``judged:ppi:0.4,judged:ppi:0.5``.
    """
    settings = zip(*(of.signature.settings for of in each), strict=False)
    every = tuple(",".join(distinct(setting)) for setting in settings)
    return replace(merged([str(of.signature) for of in each]), settings=every)


def _design(each: Sequence[Units], order: Sequence[int]) -> Units:
    """Return the units of all systems, each drawn within its system, and within its strata."""
    codes: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * len(each)
    n_strata = 0
    for i in order:
        strata = each[i].codes
        codes[i] = n_strata + (np.zeros(each[i].n, dtype=np.intp) if strata is None else strata)
        n_strata = int(codes[i].max()) + 1
    sizes = None
    if any(units.sizes is not None for units in each):
        ones = [np.ones(u.n, dtype=np.int64) if u.sizes is None else u.sizes for u in each]
        sizes = np.concatenate(ones)
    kinds = distinct(units.unit for units in each)
    unit = kinds[0] if len(kinds) == 1 else "group"
    return Units(sum(u.n for u in each), unit, sizes=sizes, codes=np.concatenate(codes))
