"""Which segments a difference rests on: their influence, and without which it would turn.

The most influential go first, all at once (Broderick, Giordano and Meager, 2020, "An automatic
finite-sample robustness metric", arXiv:2011.14999): influence values say which, and the scores of
the rest are computed, not approximated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.blocks import Block, Segments
from evalstats.analysis.drawn import Drawn
from evalstats.inference.randomisation import tie_tolerance
from evalstats.questions.influence.influence import SHOWN, Influence
from evalstats.resampling.weights import places_of
from evalstats.results.records import Difference

Floats = NDArray[np.float64]
Order = NDArray[np.intp]

#: Units that have to be left, of each stratum.
_LEAST = 2


def influence_of(
    d: Difference,
    drawn: Drawn,
    names: Sequence[str],
    outputs: Mapping[str, Sequence[str]],
    level: float,
    signature: str,
) -> Influence:
    """Return the influence of all units on a difference, and without which it would turn.

    Names are those of the unit of each segment; outputs, where there are texts, of the systems.
    """
    a, b = (drawn.of.systems.index(name) for name in (d.baseline, d.system))
    moves = drawn.difference(a, b).influence
    assert moves is not None
    assert drawn.segments is not None
    sign = -1.0 if d.difference < 0 else 1.0
    supporters = _removable(drawn, np.argsort(-sign * moves, kind="stable"))
    turned = _signs(drawn.segments, (a, b), supporters, sign) < 0
    n_sign = int(np.argmax(turned)) + 1 if np.any(turned) and d.difference else None
    members = drawn.units.members
    firsts = range(len(moves)) if members is None else np.unique(members, return_index=True)[1]
    ids = [names[i] for i in firsts]
    ranked = np.argsort(-np.abs(moves), kind="stable")
    both = [outputs[name] for name in (d.baseline, d.system) if members is None and outputs]
    return Influence(
        task=d.task,
        metric=d.metric,
        system=d.system,
        baseline=d.baseline,
        difference=d.difference,
        pvalue=d.pvalue,
        unit=drawn.units.unit,
        ids=tuple(ids[i] for i in ranked),
        values=tuple(moves[ranked].tolist()),
        sign_without=None if n_sign is None else tuple(ids[i] for i in supporters[:n_sign]),
        significance_level=level,
        higher_is_better=d.higher_is_better,
        texts=tuple((both[0][i], both[1][i]) for i in ranked[:SHOWN] if both),
        n_strata=len(drawn.units.labels) or None,
        signature=signature,
    )


def _removable(drawn: Drawn, order: Order) -> Order:
    """Return units in this order without the last two of each stratum, which have to stay."""
    strata = drawn.units.strata
    codes = np.zeros(len(order), dtype=np.intp) if strata is None else strata
    stay = [places[-_LEAST:] for places in places_of(codes[order])]
    return np.delete(order, np.concatenate(stay))


def _signs(of: Segments, pair: tuple[int, int], order: Order, sign: float) -> Floats:
    """Return the sign of the difference without the first, without the first two, ..."""
    steps = np.full(of.units.n, len(order))
    steps[order] = np.arange(len(order))
    scores = of.aggregate.of_each(
        _scores_without(block, pair, steps[block.places], len(order)) for block in of.blocks
    )
    moved, largest = scores[1] - scores[0], np.max(np.abs(scores), axis=0)
    tied = np.abs(moved) <= tie_tolerance(1.0, len(order) + _LEAST) * largest
    return np.asarray(np.where(tied, 0.0, sign * np.sign(moved)))


def _scores_without(
    block: Block, pair: tuple[int, int], steps: NDArray[np.intp], n_steps: int
) -> Floats:
    """Return a block's scores of both systems after each step, `(2, n_steps)`.

    Each unit of the block is left out at its step, `(n,)`; those of the last stay.
    """
    order = np.argsort(steps)
    own = steps[order]
    own = own[own < n_steps]
    rows = block.rows[list(pair)][:, order[: len(own)]].astype(np.float64)
    gone = np.concatenate([np.zeros((2, 1, rows.shape[2])), np.cumsum(rows, axis=1)], axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        scores = block.score(block.totals[list(pair), None] - gone)
    # At the steps of other blocks nothing changes.
    return np.repeat(scores, np.diff(own, prepend=0, append=n_steps), axis=1)
