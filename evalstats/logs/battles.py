"""Logs of arenas become battles again, which two rows of one item are: one a system."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from evalstats.designs.arenas.battles import BattleTable, both_bad_notes, simple
from evalstats.logs.formats.arenas import ASKED, NAME, WINNER
from evalstats.logs.log import Log


def is_arena(logs: Sequence[Log]) -> bool:
    """Return whether logs are tables of battles, all of them."""
    return bool(logs) and all(log.format == NAME for log in logs)


def battles_of(logs: Sequence[Log], systems: Mapping[str, int]) -> BattleTable:
    """Return the battles between some systems, whose numbers these are, with all their labels."""
    pairs: dict[tuple[int, str], list[tuple[int, float]]] = {}
    labels: dict[str, dict[tuple[int, str], Hashable]] = {}
    for i, log in enumerate(logs):
        for one in log.rows:
            if one.system not in systems:
                continue
            number = systems[one.system]
            for item, score in zip(one.items.ids, one.values[:, 0].tolist(), strict=True):
                pairs.setdefault((i, item), []).append((number, score))
            for name, of in one.items.labels.items():
                keys = [(i, item) for item in one.items.ids]
                labels.setdefault(name, {}).update(zip(keys, of, strict=True))
    # A battle against a system that is not wanted has one row here.
    both = {key: rows for key, rows in pairs.items() if len(rows) == 2}
    kept = {name: [of.get(key, "") for key in both] for name, of in labels.items()}
    numbers = np.array([[n for n, _ in rows] for rows in both.values()], dtype=np.intp)
    points = np.array([2 * rows[0][1] for rows in both.values()], dtype=np.int8)
    return BattleTable(
        tuple(systems),
        numbers.reshape(-1, 2),
        points,
        labels=kept,
        notes=both_bad_notes(kept.get(WINNER, ())),
    )


def group_notes(table: BattleTable) -> list[str]:
    """Say which label several battles share, as those of one prompt do."""
    n = len(table.points)
    shared = [
        (name, len(set(of)))
        for name, of in table.labels.items()
        if simple(name) in ASKED and "" not in of
    ]
    return [
        f"{n:,} battles are of {n_asked:,} different {name}: where another test would have others, "
        f"these are the units; give groups={name!r} (--groups {name})."
        for name, n_asked in shared
        if 1 < n_asked < n
    ][:1]
