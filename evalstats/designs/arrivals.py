"""An evaluation that grows: its items at each look, whether their order is random, its state.

Known items must come again, with the same names or places and the same scores. A test that stops
early sees only the first items, so these must not be the easy ones, or all of one kind.

The state of a running test is plain values for JSON. It can only be loaded by a test with the same
options, and its hash shows whether it was damaged.
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
from evalstats.errors import Argument, InputError
from evalstats.metrics import Metric
from evalstats.results.records import plural
from evalstats.statistics.interchange import identity, parameters
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
#: With a smaller effective number of units, repeated looks are unreliable; a note is given if the
#: other units vary far less. Calibrated in `docs/training-run.md` and `docs/stopping.md`.
FEW_CARRY, _FAR_TAILS = 30, 12
#: The p-value below which there is a warning, and the least number of items to test.
_WARNS, _LEAST = 1e-3, 20
#: A label with more values is an id of items or documents.
_MOST_VALUES = 50


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The items of all looks so far, in order of arrival."""

    ids: tuple[str, ...] | None  # their names; `None` if they are known by place
    values: NDArray[Any]  # (2, n, k) of baseline and system, or (1, n, k) of the system alone
    counts: tuple[int, ...] = ()  # number of items at each look

    def _order_of(self, ids: tuple[str, ...] | None, n: int) -> NDArray[np.intp]:
        """Return the place of each item in the new data, known ones first; none may be missing."""
        known = self.values.shape[1]
        if (ids is None) is not (self.ids is None):
            raise InputError(
                "items must have names at every look or at none, because names show which items "
                "are new"
            )
        if ids is None or self.ids is None or ids[:known] == self.ids:
            if n < known:
                raise InputError(
                    f"must contain all items so far, but it has {n:,} items and the last look "
                    f"had {known:,}",
                    argument="new",
                )
            return np.arange(n)
        places = {name: i for i, name in enumerate(ids)}
        gone = [name for name in self.ids if name not in places]
        if gone:
            raise InputError(
                f"must contain all items so far, but {len(gone):,} of {known:,} items of the "
                f"last look are missing (the first is {gone[0]!r})",
                argument="new",
            )
        before = set(self.ids)
        first = [places[name] for name in self.ids]
        return np.array(first + [i for i, name in enumerate(ids) if name not in before])

    def after(
        self, ids: tuple[str, ...] | None, values: NDArray[Any]
    ) -> tuple[Arrivals, NDArray[np.intp]]:
        """Return all items after another look, `(S, n, k)`, and the place of each in the new data.

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
                f"item {name} had a different score or label for the {side} at an earlier look, "
                "and scores cannot change once they have been seen. To test different scores, "
                "start a new SequentialTest with a new state."
            )
        return Arrivals(ids, values, (*self.counts, n)), order


def carried_notes(
    tests: Sequence[tuple[int, float]], unit: str, compared: str, consequence: str
) -> Iterator[str]:
    """Yield a note if in at least half of the tests the difference comes from few of many units.

    Given, for each test, the number of units with different scores, and their effective number.
    """
    narrow = [x for x in tests if x[1] < FEW_CARRY and x[0] > _FAR_TAILS * x[1]]
    if narrow and 2 * len(narrow) >= len(tests):
        differ, worth = (median(x) for x in zip(*narrow, strict=True))
        yield (
            f"{differ:.0f} {plural(unit)} differ{compared}, and about {worth:.0f} of them make up "
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
    """Return cautions about the order in which the items of a table came.

    `order` has the place of each item in the table, in order of arrival; `baseline` is the place of
    the baseline.
    """
    counts, units = arrivals.counts, scores.units
    # The look at which each item came, in the order of the table.
    looks = np.repeat(np.arange(len(counts)), np.diff(counts, prepend=0))[np.argsort(order)]
    of_units = looks
    if units.members is not None:
        of_units = np.full(units.n, len(counts), dtype=np.intp)
        np.minimum.at(of_units, units.members, looks)
    notes, segments = [], plural(units.segment)
    if scores.influence is not None and _drift(scores.influence[baseline], of_units) < _WARNS:
        notes.append(
            "The baseline's scores differ from look to look more than chance would explain. The "
            f"order of {plural(units.unit)} must not depend on how hard they are, so shuffle them."
        )
    if len(counts) < 2 or len(looks) < _LEAST:
        return notes
    for name, values in table.labels.items():
        codes = np.unique(np.array(values), return_inverse=True)[1]
        if np.max(codes) < _MOST_VALUES and _differ(codes, looks) < _WARNS:
            notes.append(
                f"The {segments} of one {name} came earlier than the {segments} of another. "
                f"Shuffle {segments} before you run them, because a test that stops early sees "
                "only the first ones."
            )
    return notes


def _drift(difficulty: Floats, looks: NDArray[np.intp]) -> float:
    """Return the p-value of equal difficulty at all looks, by an analysis of variance.

    From influence values on the baseline, `(N,)`, and the look of each unit, `(N,)`.
    """
    from scipy.special import fdtrc

    # If groups grow, a look may have no new group.
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
    """Return the p-value of Pearson's test that labels are independent of looks."""
    from scipy.special import chdtrc

    shape = int(np.max(codes)) + 1, int(np.max(looks)) + 1
    if min(shape) < 2:
        return 1.0
    table = np.bincount(codes * shape[1] + looks, minlength=shape[0] * shape[1]).reshape(shape)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    # Cells with a very small expectation make Pearson's statistic too large.
    if np.mean(expected) < 1 or np.any(expected <= 0):
        return 1.0
    statistic = float(np.sum((table - expected) ** 2 / expected))
    return float(chdtrc((shape[0] - 1) * (shape[1] - 1), statistic))


def written(version: int, options: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a test with these options and plain `values`."""
    state = {"version": version, "options": dict(options), **values}
    return {**state, "digest": _digest(state)}


@contextmanager
def reading(
    state: Mapping[str, Any], now: Mapping[str, Any], what: str
) -> Iterator[Mapping[str, Any]]:
    """Yield a state that fits the current test (a `what`, with state `now`), or raise.

    All errors while the state is read become an InputError.
    """
    try:
        if state["version"] != now["version"]:
            raise InputError(
                f"state has version {shown(state['version'])}, expected {now['version']}. It was "
                f"written by another version of evalstats; start a new {what}."
            )
        for name, here in now["options"].items():
            there = state["options"][name]
            if there == here:
                continue
            if isinstance(there, Mapping) and isinstance(here, Mapping):
                # For a metric: the first part that differs.
                part = next((x for x in here if there.get(x) != here[x]), None)
                there, here = (x if part is None else x.get(part) for x in (there, here))
            raise InputError(
                f"state comes from a {what} with ",
                Argument(name),
                f" {shown(there)}, but now it is {'missing' if here is None else shown(here)}. "
                f"Pass the same value again, or start a new {what}",
            )
        # Other entries of the file do not belong to the state.
        told = {name: state[name] for name in now if name != "digest"}
        if _digest(told) != state["digest"]:
            raise InputError(
                "state must be exactly what state_dict returned, but a part of it was changed"
            )
        yield told
    except InputError:
        raise
    except Exception as error:  # any error that Python raises on something else
        raise InputError(f"state must be what state_dict returned ({shown(error)})") from None


def named(metric: Metric) -> dict[str, Any]:
    """Return the identity of a metric, as it is after JSON."""
    known: dict[str, Any] = loads(dumps(identity(metric) | parameters(metric)))
    return known


def _digest(state: Mapping[str, Any]) -> str:
    return sha256(dumps(state, sort_keys=True).encode()).hexdigest()[:16]
