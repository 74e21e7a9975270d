"""Battles: which of two systems was preferred, row by row, and their wins as sparse statistics."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregated, Labels, names_of_labels, unit_name
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Scores
from evalstats.analysis.tasks import Summary
from evalstats.checks import choice, label, listed, meant, plain, shown
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.metrics.base import signature_of
from evalstats.statistics.segments import group_codes
from evalstats.text.references import columns_of, listed_texts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
#: A label a battle, or two of them, by what they are called.
Groups: TypeAlias = "Sequence[Hashable] | Mapping[Any, Sequence[Hashable]] | None"

#: Columns of tables of battles, less everything but letters and digits: both systems, who won.
COLUMNS = (
    ("modela", "model1", "systema", "system1"),
    ("modelb", "model2", "systemb", "system2"),
    ("winner", "preference"),
)
#: What stands for a win of the first or of the second system, or for a tie, where it is no name.
_SIDES = {
    **dict.fromkeys(("a", "modela", "model1", "systema", "system1"), 2),
    **dict.fromkeys(("b", "modelb", "model2", "systemb", "system2"), 0),
    **dict.fromkeys(("tie", "tiebothbad", "bothbad", "tiebothgood", "bothgood"), 1),
}
#: Ties of which the reader may want to know.
_BOTH_BAD = ("tiebothbad", "bothbad")
#: Labels of battles, in the same letters: what was asked, and who preferred.
ASKED = ("questionid", "promptid", "question", "prompt", "instruction", "uid")
VOTERS = ("judge", "voter", "voterid", "user", "userid", "evaluator", "rater", "annotator")
#: Of fewer voters t has so few degrees of freedom that nobody is told to draw them.
_LEAST_VOTERS = 10
#: No side, and no system.
_UNKNOWN = -1
SCALES = ("log-odds", "elo")


@dataclass(frozen=True)
class BradleyTerry:
    """On which scale strengths are; a tie is half a win of each.

    On the scale "log-odds" their mean is 0; "elo" is 1000 + 400/log(10) times that.
    """

    scale: str = "log-odds"
    higher_is_better = True

    def __post_init__(self) -> None:
        choice(self.scale, SCALES, "scale")

    @property
    def name(self) -> str:
        """What tables call it."""
        return "Elo (Bradley-Terry)" if self.scale == "elo" else "Bradley-Terry"

    @property
    def unit(self) -> float:
        """How many points a natural log odds ratio of 1 is."""
        return 400 / float(np.log(10)) if self.scale == "elo" else 1.0

    @property
    def signature(self) -> str:
        """What identifies the numbers."""
        return signature_of(scale=self.scale, ties="half")


@dataclass(frozen=True, eq=False)
class BattleTable(Summary):
    """n battles of two systems each, and their design.

    `pairs` `(n, 2)` has the numbers of both systems, `points` `(n,)` twice the score of the first:
    2 for a win, 1 for a tie, 0. `groups`, or two of them by name, and `strata` have a label each,
    and `unit` is what groups are called; `labels` are those that can be groups or strata, by name.
    """

    keeps: ClassVar[str] = "who won"

    systems: tuple[str, ...]
    pairs: NDArray[np.intp]
    points: NDArray[np.int8]
    metric: BradleyTerry = BradleyTerry()
    groups: Groups = None
    strata: Sequence[Hashable] | None = None
    unit: str = "battle"
    labels: Mapping[Any, Sequence[Hashable]] = field(default_factory=dict)
    has_order: bool = True  # whether the first of two systems is known to be the one shown first
    notes: tuple[str, ...] = ()

    @property
    def n_segments(self) -> int:
        """How many battles there are, or groups of them."""
        is_one = self.groups is not None and not isinstance(self.groups, Mapping)
        return len(set(self.groups or ())) if is_one else len(self.points)

    @property
    def both_labels(self) -> tuple[Any, ...]:
        """The names of a label of prompts and of one of voters, where battles have both."""
        n, names = len(self.points), []
        for kinds, least in ((ASKED, 2), (VOTERS, _LEAST_VOTERS)):
            for name, codes in self.labels.items():
                if (
                    plain(name) in kinds
                    and least <= len(set(codes)) < n
                    and not {"", None} & set(codes)
                ):
                    names.append(name)
                    break
        return tuple(names) if len(names) == 2 else ()

    @property
    def has_both_orders(self) -> bool:
        """Whether some pair is known to have been shown in both orders."""
        seen = np.zeros((len(self.systems),) * 2, dtype=np.bool_)
        seen[tuple(self.pairs.T)] = True
        return self.has_order and bool(np.any(seen & seen.T))

    @property
    def tie_notes(self) -> tuple[str, ...]:
        """What ties count, in a sentence, where there are some."""
        n = int(np.count_nonzero(self.points == 1))
        if not n:
            return ()
        how = "a tie is half a win for each"
        if self.has_ties_alone:
            return (
                f"All {n:,} battles are ties; {how}. Nothing varies, so intervals have no length, "
                f"and nothing is known of how systems differ in other battles.",
            )
        return (f"{n:,} of the {len(self.points):,} battles are ties; {how}.",)

    @property
    def has_ties_alone(self) -> bool:
        """Whether nobody has won a battle."""
        return bool(np.all(self.points == 1))

    def drawn(self, name: str, aggregate: Aggregated, options: Options) -> Scores:
        """Return the strengths, and what they are in resamples."""
        from evalstats.designs.arenas.arena import strengths_of

        if aggregate != "micro":
            raise InputError("must be 'micro' for battles", argument="aggregate")
        return strengths_of(self, options)

    def labelled(self, groups: Labels, strata: Labels) -> BattleTable:
        """Return battles with groups and strata, which may be named by labels of theirs."""
        if groups is None and strata is None:
            return self
        names = names_of_labels(groups, len(self.points))
        by_name = groups if isinstance(groups, Mapping) else dict(zip(names, names, strict=True))
        of_groups: Groups = None
        if by_name:
            of_groups = {name: self._labels(given, "groups") for name, given in by_name.items()}
        elif groups is not None:
            of_groups = self._labels(groups, "groups")
        unit = unit_name(groups) if isinstance(of_groups, list) else self.unit
        of_strata = None if strata is None else self._labels(strata, "strata")
        return replace(self, groups=of_groups, strata=of_strata, unit=unit)

    def _labels(self, given: Iterable[Hashable], argument: str) -> list[Hashable]:
        """Return one label a battle, which may be named by a label that battles have."""
        n, values = len(self.points), given
        if isinstance(given, str):
            if given not in self.labels:
                said = meant(given, self.labels) if self.labels else "they have no labels"
                raise InputError(Argument(argument, given), f" is no label of the battles; {said}")
            values = self.labels[given]
            if n_without := sum(label == "" for label in values):
                raise InputError(
                    Argument(argument, given),
                    f": {n_without:,} of {n:,} battles have none; give each one, or leave them out",
                )
        labels = listed(values, argument, "labels, one a battle")
        if len(labels) != n:
            raise InputError(
                f"must have one label a battle, got {len(labels):,} for {n:,}", argument=argument
            )
        group_codes(labels, n, argument)
        return labels

    def wins(self, members: NDArray[np.intp] | None) -> csr_array:
        """Return the wins of each ordered pair in each unit, doubled, `(S², N)`.

        Row i·S + j counts twice the wins of i against j and once their ties. Most of it is empty.
        `members` are the numbers of the units, by default one a battle.
        """
        from scipy.sparse import csr_array

        n, size = len(self.points), len(self.systems)
        units = np.arange(n) if members is None else members
        first, second = self.pairs.T
        rows = [first * size + second, second * size + first]
        counts = [self.points, 2 - self.points]
        kept = [c > 0 for c in counts]
        values = np.concatenate([c[k] for c, k in zip(counts, kept, strict=True)])
        at = np.concatenate([r[k] for r, k in zip(rows, kept, strict=True)])
        unit_of = np.concatenate([units[k] for k in kept])
        shape = size**2, int(units.max()) + 1
        return csr_array((values.astype(np.int32), (at, unit_of)), shape=shape)

    def part(self, systems: Sequence[int]) -> BattleTable:
        """Return the battles between some systems, by number."""
        numbers = np.full(len(self.systems), -1, dtype=np.intp)
        numbers[list(systems)] = np.arange(len(systems))
        pairs = numbers[self.pairs]
        kept = np.all(pairs >= 0, axis=1)
        places = np.flatnonzero(kept).tolist()

        def parts(labels: Mapping[Any, Sequence[Hashable]]) -> dict[Any, Sequence[Hashable]]:
            return {name: [codes[i] for i in places] for name, codes in labels.items()}

        groups = self.groups
        if isinstance(groups, Mapping):
            groups = parts(groups)
        elif groups is not None:
            groups = [groups[i] for i in places]
        return replace(
            self,
            systems=tuple(self.systems[i] for i in systems),
            pairs=pairs[kept],
            points=self.points[kept],
            groups=groups,
            strata=None if self.strata is None else [self.strata[i] for i in places],
            labels=parts(self.labels),
        )


def columns_of_battles(names: Iterable[Any]) -> tuple[Any, Any, Any] | None:
    """Return which columns hold both systems and who won; `None` where a table has none of these.

    >>> columns_of_battles(["question_id", "model_a", "model_b", "winner"])
    ('model_a', 'model_b', 'winner')
    """
    by_name = {plain(name): name for name in names}
    columns = [next((by_name[c] for c in role if c in by_name), None) for role in COLUMNS]
    return None if None in columns else (columns[0], columns[1], columns[2])


def as_battles(battles: Any) -> tuple[BattleTable, dict[Any, Sequence[Any]]]:
    """Return what a caller passed as a table of battles, and the columns of a frame by name."""
    columns = battles.items() if isinstance(battles, Mapping) else columns_of(battles)
    if columns is not None:
        cells: dict[Any, Sequence[Any]] = {
            name: listed_texts(column, str(name), "cells") for name, column in columns
        }
        known = columns_of_battles(cells)
        if known is None:
            raise InputError(
                f"must have columns model_a, model_b and winner, got "
                f"{', '.join(map(str, cells)) or 'none'}",
                argument="battles",
            )
        first, second, winners = (cells[name] for name in known)
        return table_of(first, second, winners), cells
    if isinstance(battles, (str, os.PathLike)):
        raise InputTypeError(
            f"must be rows (model_a, model_b, winner), got the path {shown(str(battles))}; "
            f"es.compare_logs reads files",
            argument="battles",
        )
    rows = listed(battles, "battles", "rows (model_a, model_b, winner)")
    # Rows are of few types and lengths, which are looked at once each where all is well.
    is_plain = set(map(type, rows)) <= {tuple, list} and set(map(len, rows)) == {3}
    for i, row in enumerate([] if is_plain else rows):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 3:
            raise InputTypeError(
                f"must be rows (model_a, model_b, winner), got {shown(row)} as row {i}",
                argument="battles",
            )
    first, second, winners = zip(*rows, strict=True) if rows else ((), (), ())
    return table_of(first, second, winners), {}


def table_of(
    first: Sequence[Any],
    second: Sequence[Any],
    winners: Sequence[Any],
    where: Callable[[int], str] = "row {}".format,
) -> BattleTable:
    """Return n battles as numbers: names of both systems, and who won.

    Systems are in order of first appearance. The winner is a name, or "a", "model_a", "b",
    "model_b", "tie", "tie (bothbad)", "both_bad".
    """
    if not len(first) == len(second) == len(winners):
        raise InputError(
            f"must have as many rows in each column, got {len(first)}, {len(second)} and "
            f"{len(winners)}",
            argument="battles",
        )
    if not len(first):
        raise InputError("is empty; give at least two rows", argument="battles")
    names = list(dict.fromkeys(chain.from_iterable(zip(first, second, strict=True))))
    for name in names:
        label(name, "battles")
    numbers = {name: i for i, name in enumerate(names)}
    pairs = np.stack([_looked_up(numbers, names) for names in (first, second)], axis=1)
    itself = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(itself):
        i = int(itself[0])
        raise InputError(
            f"must be of two systems, got {shown(first[i])} against itself in {where(i)}",
            argument="battles",
        )
    # Who won is written in few ways, which are looked at once each.
    written = list(map(str, winners))
    ways = {way: i for i, way in enumerate(dict.fromkeys(written))}
    way_of = _looked_up(ways, written)
    side = np.array([_SIDES.get(plain(way), _UNKNOWN) for way in ways])[way_of]
    named = np.array([numbers.get(way, _UNKNOWN) for way in ways])[way_of]
    by_name = np.where(named == pairs[:, 0], 2, np.where(named == pairs[:, 1], 0, _UNKNOWN))
    points = np.where(by_name == _UNKNOWN, side, by_name)
    unlike = (by_name != _UNKNOWN) & (side != _UNKNOWN) & (by_name != side)
    wrong = np.flatnonzero((points == _UNKNOWN) | unlike)
    if len(wrong):
        i = int(wrong[0])
        more = "; it is a name and a side, which disagree: write 'model_a' or 'model_b'"
        more = more if unlike[i] else ""
        raise InputError(
            f"must say who won by a name, or by 'a', 'b', 'tie' or 'tie (bothbad)', got "
            f"{shown(winners[i])} for {first[i]!r} and {second[i]!r} in {where(i)}{more}",
            argument="battles",
        )
    notes = both_bad_notes(winners)
    return BattleTable(tuple(names), pairs, points.astype(np.int8), notes=notes)


def _looked_up(numbers: Mapping[Any, int], names: Sequence[Any]) -> NDArray[np.intp]:
    return np.fromiter(map(numbers.__getitem__, names), np.intp, len(names))


def both_bad_notes(winners: Sequence[Any]) -> tuple[str, ...]:
    """Say how many answers were bad on both sides, where some were."""
    bad = {written for written in set(map(str, winners)) if plain(written) in _BOTH_BAD}
    n = sum(str(winner) in bad for winner in winners) if bad else 0
    return (f'{n:,} of all {len(winners):,} battles are "both bad", which is a tie.',) if n else ()
