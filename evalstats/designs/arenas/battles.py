"""Battles, one row per preference between two systems, and their wins as sparse statistics."""

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
#: One label per battle, or two by name.
Groups: TypeAlias = "Sequence[Hashable] | Mapping[Any, Sequence[Hashable]] | None"

#: Names of columns, letters and digits only: both systems, and the winner.
COLUMNS = (
    ("modela", "model1", "systema", "system1"),
    ("modelb", "model2", "systemb", "system2"),
    ("winner", "preference"),
)
#: Words for a win of the first or second system, or for a tie.
_SIDES = {
    **dict.fromkeys(("a", "modela", "model1", "systema", "system1"), 2),
    **dict.fromkeys(("b", "modelb", "model2", "systemb", "system2"), 0),
    **dict.fromkeys(("tie", "tiebothbad", "bothbad", "tiebothgood", "bothgood"), 1),
}
#: Ties that a note mentions.
_BOTH_BAD = ("tiebothbad", "bothbad")
#: Names of labels of battles, letters and digits only: the prompt, and the voter.
ASKED = ("questionid", "promptid", "question", "prompt", "instruction", "uid")
VOTERS = ("judge", "voter", "voterid", "user", "userid", "evaluator", "rater", "annotator")
#: With fewer voters, t has too few degrees of freedom to recommend drawing them.
_LEAST_VOTERS = 10
#: Codes for "no side" and "no system".
_UNKNOWN = -1
SCALES = ("log-odds", "elo")


@dataclass(frozen=True)
class BradleyTerry:
    """The scale of strengths; a tie is half a win for each system.

    On the scale "log-odds" their mean is 0; "elo" is 1000 + 400/log(10) times the log odds.
    """

    scale: str = "log-odds"
    higher_is_better = True

    def __post_init__(self) -> None:
        choice(self.scale, SCALES, "scale")

    @property
    def name(self) -> str:
        """The name in tables."""
        return "Elo (Bradley-Terry)" if self.scale == "elo" else "Bradley-Terry"

    @property
    def unit(self) -> float:
        """Points per natural log odds ratio of 1."""
        return 400 / float(np.log(10)) if self.scale == "elo" else 1.0

    @property
    def signature(self) -> str:
        """The settings that identify the numbers."""
        return signature_of(scale=self.scale, ties="half")


@dataclass(frozen=True, eq=False)
class BattleTable(Summary):
    """n battles of two systems each, and their design.

    `pairs` `(n, 2)` has the numbers of both systems, `points` `(n,)` twice the score of the first:
    2 for a win, 1 for a tie, 0 for a loss. `groups` (or two of them by name) and `strata` have one
    label per battle, and `unit` is the name of a group; `labels` can become groups or strata, by
    name.
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
    has_order: bool = True  # whether the first system is known to be shown first
    notes: tuple[str, ...] = ()

    @property
    def n_segments(self) -> int:
        """Number of battles, or of groups of battles."""
        is_one = self.groups is not None and not isinstance(self.groups, Mapping)
        return len(set(self.groups or ())) if is_one else len(self.points)

    @property
    def both_labels(self) -> tuple[Any, ...]:
        """The names of the labels of prompts and of voters, if battles have both."""
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
        """Whether at least one pair is known to be shown in both orders."""
        seen = np.zeros((len(self.systems),) * 2, dtype=np.bool_)
        seen[tuple(self.pairs.T)] = True
        return self.has_order and bool(np.any(seen & seen.T))

    @property
    def tie_notes(self) -> tuple[str, ...]:
        """How ties count, in a sentence, if there are any."""
        n = int(np.count_nonzero(self.points == 1))
        if not n:
            return ()
        how = "ties, which count as half a win for each system"
        if self.has_ties_alone:
            return (
                f"All {n:,} battles are {how}. Nothing varies, so intervals have no length, and "
                "these battles do not show how the systems differ in other battles.",
            )
        return (f"{n:,} of the {len(self.points):,} battles are {how}.",)

    @property
    def has_ties_alone(self) -> bool:
        """Whether all battles are ties."""
        return bool(np.all(self.points == 1))

    def drawn(self, name: str, aggregate: Aggregated, options: Options) -> Scores:
        """Return the strengths, with replicates."""
        from evalstats.designs.arenas.arena import strengths_of

        if aggregate != "micro":
            raise InputError("must be 'micro' for battles", argument="aggregate")
        return strengths_of(self, options)

    def labelled(self, groups: Labels, strata: Labels) -> BattleTable:
        """Return battles with groups and strata, given as labels or as the name of a label."""
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
        """Return one label per battle, given as labels or as the name of a label."""
        n, values = len(self.points), given
        if isinstance(given, str):
            if given not in self.labels:
                said = meant(given, self.labels) if self.labels else "they have no labels"
                raise InputError(
                    Argument(argument, given), f" is not a label of the battles; {said}"
                )
            values = self.labels[given]
            if n_without := sum(label == "" for label in values):
                raise InputError(
                    Argument(argument, given),
                    f": {n_without:,} of {n:,} battles have no label; label every battle, or "
                    "leave these out",
                )
        labels = listed(values, argument, "labels, one per battle")
        if len(labels) != n:
            raise InputError(
                f"must have one label per battle, got {len(labels):,} labels for {n:,} battles",
                argument=argument,
            )
        group_codes(labels, n, argument)
        return labels

    def wins(self, members: NDArray[np.intp] | None) -> csr_array:
        """Return the wins of each ordered pair in each unit, doubled, `(S², N)`.

        Row i·S + j counts twice the wins of i against j and once their ties; sparse. `members` are
        the unit numbers of the battles, by default one unit per battle.
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
    """Return the columns of both systems and the winner, or `None` without such columns.

    >>> columns_of_battles(["question_id", "model_a", "model_b", "winner"])
    ('model_a', 'model_b', 'winner')
    """
    by_name = {plain(name): name for name in names}
    columns = [next((by_name[c] for c in role if c in by_name), None) for role in COLUMNS]
    return None if None in columns else (columns[0], columns[1], columns[2])


def as_battles(battles: Any) -> tuple[BattleTable, dict[Any, Sequence[Any]]]:
    """Return a caller's battles as a table, and the columns of a frame by name."""
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
            f"must be rows (model_a, model_b, winner), got the path {shown(str(battles))}; to "
            "read a file, use es.compare_logs",
            argument="battles",
        )
    rows = listed(battles, "battles", "rows (model_a, model_b, winner)")
    # Rows have few types and lengths, so each is checked once if all are valid.
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
    """Return n battles as numbers, from the names of both systems and the winner.

    Systems are in order of first appearance. The winner is a name, or "a", "model_a", "b",
    "model_b", "tie", "tie (bothbad)", "both_bad".
    """
    if not len(first) == len(second) == len(winners):
        raise InputError(
            f"must have columns of the same length, got {len(first)}, {len(second)} and "
            f"{len(winners)}",
            argument="battles",
        )
    if not len(first):
        raise InputError("is empty; pass at least two rows", argument="battles")
    names = list(dict.fromkeys(chain.from_iterable(zip(first, second, strict=True))))
    for name in names:
        label(name, "battles")
    numbers = {name: i for i, name in enumerate(names)}
    pairs = np.stack([_looked_up(numbers, names) for names in (first, second)], axis=1)
    itself = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(itself):
        i = int(itself[0])
        raise InputError(
            f"must be between two different systems, but in {where(i)} {shown(first[i])} plays "
            "against itself",
            argument="battles",
        )
    # Winners have few spellings, so each is checked once.
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
        more = (
            ". It is both a system name and a side, and they disagree; use 'model_a' or 'model_b'."
        )
        more = more if unlike[i] else ""
        raise InputError(
            "must have a system name, 'a', 'b', 'tie' or 'tie (bothbad)' as the winner, got "
            f"{shown(winners[i])} for {first[i]!r} and {second[i]!r} in {where(i)}{more}",
            argument="battles",
        )
    notes = both_bad_notes(winners)
    return BattleTable(tuple(names), pairs, points.astype(np.int8), notes=notes)


def _looked_up(numbers: Mapping[Any, int], names: Sequence[Any]) -> NDArray[np.intp]:
    return np.fromiter(map(numbers.__getitem__, names), np.intp, len(names))


def both_bad_notes(winners: Sequence[Any]) -> tuple[str, ...]:
    """Return how many battles were bad on both sides, if any."""
    bad = {written for written in set(map(str, winners)) if plain(written) in _BOTH_BAD}
    n = sum(str(winner) in bad for winner in winners) if bad else 0
    return (f'{n:,} of {len(winners):,} battles are "both bad" and count as ties.',) if n else ()
