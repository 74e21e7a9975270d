"""An evaluation that grows: which items came when, whether their order is chance, and its state.

Known items come again, by their names or places, and with the scores that they had. What stops
early sees only the first items, so these must not be the easy ones, or those of one kind.

The state of a test that goes on is plain values for JSON, written, and read back unchanged. It is
only good for a test with the same options, and has a hash of itself, by which damage is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from json import dumps, loads
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.scores import Scores
from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.results.records import plural
from evalstats.statistics.interchange import identity, parameters
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
#: Units that are worth fewer are too few to carry a test that looks again and again; a note says so
#: where others vary far less. Calibrated: `docs/training-run.md` and `docs/stopping.md`.
FEW_CARRY, _FAR_TAILS = 30, 12
#: How small a p-value has to be for a word of warning, and from how many items on one is asked.
_WARNS, _LEAST = 1e-3, 20
#: A label of more values than these is a name of items, or of documents.
_MOST_VALUES = 50


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The items of all looks so far, first come first."""

    ids: tuple[str, ...] | None  # their names; `None` where places name them
    values: NDArray[Any]  # (2, n, k) of baseline and system, or (1, n, k) of the system alone
    counts: tuple[int, ...] = ()  # how many there were at each look

    def _order_of(self, ids: tuple[str, ...] | None, n: int) -> NDArray[np.intp]:
        """Return the place of each item in the new data, known ones first; all have to be there."""
        known = self.values.shape[1]
        if (ids is None) is not (self.ids is None):
            raise InputError(
                "items must have names at every look, or at none: names say which items are new"
            )
        if ids is None or self.ids is None or ids[:known] == self.ids:
            if n < known:
                raise InputError(
                    f"has {n:,} items, and at the last look there were {known:,}: give all items "
                    f"so far",
                    argument="new",
                )
            return np.arange(n)
        places = {name: i for i, name in enumerate(ids)}
        gone = [name for name in self.ids if name not in places]
        if gone:
            raise InputError(
                f"lacks {len(gone):,} of {known:,} items of the last look, {gone[0]!r} first: give "
                f"all items so far",
                argument="new",
            )
        before = set(self.ids)
        first = [places[name] for name in self.ids]
        return np.array(first + [i for i, name in enumerate(ids) if name not in before])

    def after(
        self, ids: tuple[str, ...] | None, values: NDArray[Any]
    ) -> tuple[Arrivals, NDArray[np.intp]]:
        """Return the items with those of another look, `(S, n, k)`, and the place of each there.

        Known scores stay.
        """
        n = values.shape[1]
        order = self._order_of(ids, n)
        values = values[:, order]
        ids = None if ids is None else tuple(ids[i] for i in order.tolist())
        known = self.values.shape[1]
        if not np.array_equal(values[:, :known], self.values):
            differ = np.any(values[:, :known] != self.values, axis=2)
            i = int(np.argmax(np.any(differ, axis=0)))
            side = "baseline" if len(values) == 2 and differ[0, i] else "system"
            name = repr(ids[i]) if ids else str(i)
            raise InputError(
                f"item {name} had another score, or label, of the {side} at an earlier look: what "
                f"was seen stays; begin with a new SequentialTest, and another state, for others"
            )
        return Arrivals(ids, values, (*self.counts, n)), order


def carried_notes(
    tests: Sequence[tuple[int, float]], unit: str, compared: str, consequence: str
) -> Iterator[str]:
    """Yield a note if in at least half of the tests few units among many hold the difference.

    Of each test on how many units scores differ, and the effective number of these.
    """
    narrow = [x for x in tests if x[1] < FEW_CARRY and x[0] > _FAR_TAILS * x[1]]
    if narrow and 2 * len(narrow) >= len(tests):
        differ, worth = (median(x) for x in zip(*narrow, strict=True))
        yield (
            f"Of the {differ:.0f} {plural(unit)} that differ{compared}, about {worth:.0f} hold "
            f"most of the difference. {consequence} (simulated at level 0.05). Look at these "
            f"outputs, or use more {plural(unit)}."
        )


def order_notes(
    table: SegmentStatistics,
    order: NDArray[np.intp],
    arrivals: Arrivals,
    scores: Scores,
    baseline: int,
) -> list[str]:
    """Return what speaks against the order in which the items of a table came.

    `order` has the place of each item in the table, in the order in which they came; `baseline` is
    the place of that system.
    """
    counts, units = arrivals.counts, scores.units
    # At which look each item came, in the order of the table.
    looks = np.repeat(np.arange(len(counts)), np.diff(counts, prepend=0))[np.argsort(order)]
    of_units = looks
    if units.members is not None:
        of_units = np.full(units.n, len(counts), dtype=np.intp)
        np.minimum.at(of_units, units.members, looks)
    notes, segments = [], plural(units.segment)
    if scores.influence is not None and _drift(scores.influence[baseline], of_units) < _WARNS:
        notes.append(
            f"The baseline's scores differ from look to look more than chance explains: "
            f"{plural(units.unit)} must come in an order that has nothing to do with how hard they "
            f"are. Shuffle them."
        )
    if len(counts) < 2 or len(looks) < _LEAST:
        return notes
    for name, values in table.labels.items():
        codes = np.unique(np.array(values), return_inverse=True)[1]
        if np.max(codes) < _MOST_VALUES and _differ(codes, looks) < _WARNS:
            notes.append(
                f"The {segments} of one {name} came earlier than those of another. Shuffle "
                f"{segments} before they run, since a test that stops early sees only the first."
            )
    return notes


def _drift(difficulty: Floats, looks: NDArray[np.intp]) -> float:
    """Return the p-value that units are as hard at all looks, an analysis of variance.

    Of their influence values on the baseline, `(N,)`, and the looks at which they came, `(N,)`.
    """
    from scipy.special import fdtrc

    # Where groups grow, a look may bring no new one.
    n, sizes = len(looks), np.bincount(looks)
    n_looks = int(np.count_nonzero(sizes))
    means = np.bincount(looks, difficulty) / np.maximum(sizes, 1)
    between = float(sizes @ (means - np.mean(difficulty)) ** 2)
    within = float(np.sum((difficulty - means[looks]) ** 2))
    free = n_looks - 1, n - n_looks
    if n < _LEAST or within <= 0 or min(free) < 1:
        return 1.0
    return float(fdtrc(*free, between / free[0] / (within / free[1])))


def _differ(codes: NDArray[np.intp], looks: NDArray[np.intp]) -> float:
    """Return Pearson's p-value that labels are spread over looks by chance."""
    from scipy.special import chdtrc

    shape = int(np.max(codes)) + 1, int(np.max(looks)) + 1
    if min(shape) < 2:
        return 1.0
    table = np.bincount(codes * shape[1] + looks, minlength=shape[0] * shape[1]).reshape(shape)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    # Cells that expect next to nothing make Pearson's statistic too large.
    if np.mean(expected) < 1 or np.any(expected <= 0):
        return 1.0
    statistic = float(np.sum((table - expected) ** 2 / expected))
    return float(chdtrc((shape[0] - 1) * (shape[1] - 1), statistic))


def written(version: int, options: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a test with these options, whose `values` are plain."""
    state = {"version": version, "options": dict(options), **values}
    return {**state, "digest": _digest(state)}


@contextmanager
def reading(
    state: Mapping[str, Any], now: Mapping[str, Any], what: str
) -> Iterator[Mapping[str, Any]]:
    """Yield a state that fits that of a test, a `what`, as it is `now`; all else is an InputError.

    So is whatever goes wrong while it is read.
    """
    try:
        if state["version"] != now["version"]:
            raise InputError(
                f"state has version {shown(state['version'])}, expected {now['version']}: another "
                f"version of evalstats wrote it; begin with a new {what}"
            )
        for name, here in now["options"].items():
            there = state["options"][name]
            if there == here:
                continue
            if isinstance(there, Mapping) and isinstance(here, Mapping):
                # Of a metric its first part that differs.
                part = next((x for x in here if there.get(x) != here[x]), None)
                there, here = (x if part is None else x.get(part) for x in (there, here))
            raise InputError(
                f"state is of a {what} with another {name}: {shown(there)} there, {shown(here)} "
                f"here"
            )
        # What stands beside it in a file is no part of it.
        told = {name: state[name] for name in now if name != "digest"}
        if _digest(told) != state["digest"]:
            raise InputError("state is not as state_dict returned it: a part of it has changed")
        yield told
    except InputError:
        raise
    except Exception as error:  # whatever Python raises on something that is no state at all
        raise InputError(f"state must be what state_dict returned: {shown(error)}") from None


def named(metric: Metric) -> dict[str, Any]:
    """Return what a metric is known by, as JSON gives it back."""
    known: dict[str, Any] = loads(dumps(identity(metric) | parameters(metric)))
    return known


def _digest(state: Mapping[str, Any]) -> str:
    return sha256(dumps(state, sort_keys=True).encode()).hexdigest()[:16]
