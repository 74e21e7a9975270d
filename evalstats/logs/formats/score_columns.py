"""Which columns of a table hold scores, and whether they are metrics or systems.

The caller says it (`Roles.named_scores`, ``metric="mine"``), or the names of the columns do: first
those of the roles, then words that metrics have, then any column of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evalstats.errors import InputError
from evalstats.logs.formats.columns import Columns, Roles, are_grades, as_floats, marks
from evalstats.logs.words import is_metric, is_never, matches

_HOW = (
    "name one column 'system', one 'segment' and one 'score' (and 'metric' where there are "
    "several), or give one column a metric beside 'system' and 'segment'"
)


class ScoreColumns(NamedTuple):
    """The columns of scores by name: one each, or a numerator and a denominator.

    As in ``{"acc": ("acc",), "errors/words": ("errors", "words")}``. Each is a metric, or where
    `are_systems` a system; `left_out` says of other columns why they hold no scores.
    """

    columns: Mapping[str, tuple[str, ...]]
    are_systems: bool = False
    left_out: Sequence[str] = ()


def score_columns(table: Columns, roles: Roles, metrics: Sequence[str]) -> ScoreColumns:
    """Return the columns of scores; `metrics` are the patterns of those that the caller wants."""
    if roles.named_scores or roles.named_systems or roles.are_sums_named:
        return _named(roles)
    if roles.metric is not None and (roles.score is not None or roles.sums is not None):
        return _under_metrics(roles)
    asked_for = [c for c in roles.others if is_metric(c) or matches(c, metrics)]
    if _are_sums(roles, asked_for, metrics):
        score = () if roles.score is None else (roles.score,)
        return _metrics(_ratio(roles), roles, (*score, *roles.others))
    numeric, left_out = _numeric(table, roles.others, asked_for)
    asked_for = [c for c in numeric if c in asked_for]
    has_metrics = roles.score is not None or (asked_for and roles.system is not None)
    if roles.metric is None and has_metrics:
        return _side_by_side(roles, numeric, asked_for, left_out)
    return _wide(table, roles, numeric, asked_for, left_out)


def _under_metrics(roles: Roles) -> ScoreColumns:
    """Return the one column of scores, or the two of a ratio, where a column names the metrics."""
    if roles.score is None:
        return _metrics(_ratio(roles), roles, roles.others)
    return _metrics({"score": (roles.score,)}, roles, (*roles.others, *(roles.sums or ())))


def _side_by_side(
    roles: Roles, numeric: Sequence[str], asked_for: Sequence[str], left_out: Sequence[str]
) -> ScoreColumns:
    """Return the column of scores, where there is one, and those that are asked for beside it."""
    chosen = {} if roles.score is None else {"score": (roles.score,)}
    rest = [c for c in numeric if c not in asked_for]
    return _metrics({**chosen, **_each(asked_for)}, roles, (*rest, *(roles.sums or ())), left_out)


def _each(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return columns under their names: "acc" gives ``{"acc": ("acc",)}``."""
    return {column: (column,) for column in columns}


def _ratio(roles: Roles) -> dict[str, tuple[str, ...]]:
    """Return the columns whose ratio is the score: ``{"errors/words": ("errors", "words")}``."""
    return {"/".join(roles.sums): roles.sums} if roles.sums is not None else {}


def _named(roles: Roles) -> ScoreColumns:
    """Return the columns of scores that the caller names, and no other."""
    chosen = _each((*roles.named_scores, *roles.named_systems)) or _ratio(roles)
    others = (*roles.others, *roles.unused)
    listed = ", ".join(map(repr, chosen))
    left_out = [f"column {column!r}: columns says that scores are in {listed}" for column in others]
    return ScoreColumns(chosen, bool(roles.named_systems), left_out)


def _are_sums(roles: Roles, asked_for: Sequence[str], metrics: Sequence[str]) -> bool:
    """Return whether scores are a ratio: it is asked for, or nothing else is called like scores."""
    if roles.sums is None:
        return False
    return matches("/".join(roles.sums), metrics) or not (roles.score is not None or asked_for)


def _metrics(
    chosen: Mapping[str, tuple[str, ...]],
    roles: Roles,
    others: Iterable[str],
    left_out: Sequence[str] = (),
) -> ScoreColumns:
    """Return columns of metrics; of the others it says where the scores are instead."""
    ratio = roles.sums or ()
    listed = ", ".join(repr("/".join(columns)) for columns in chosen.values())
    lines = list(left_out)
    for column in others:
        asked = "/".join(ratio) if column in ratio else column
        how = "" if roles.metric is not None else f" (metric={asked!r} reads it)"
        lines.append(f"column {column!r}: scores are in {listed}{how}")
    return ScoreColumns(chosen, False, lines)


def _wide(
    table: Columns,
    roles: Roles,
    numeric: Sequence[str],
    asked_for: Sequence[str],
    left_out: Sequence[str],
) -> ScoreColumns:
    """Return all columns of numbers that may be scores: systems, or the one metric of a file."""
    scores = [c for c in numeric if c in asked_for or not is_never(c)] or list(numeric)
    listed = ", ".join(map(repr, scores))
    if not scores:
        raise InputError(
            f"{table.path} has no column of scores, that is of numbers such as 0.5, among "
            f"{', '.join(map(repr, table.cells))}; {_HOW}"
        )
    if roles.system is None and roles.metric is None and 0 < len(asked_for) < len(scores):
        raise InputError(
            f"{table.path} has {listed}, which may be systems or metrics: add a column 'system' "
            f"that names the system if they are metrics, or a column 'metric' that names the "
            f"metric if they are systems"
        )
    are_systems = roles.metric is not None or (len(scores) > 1 and not asked_for)
    rest = [c for c in numeric if c not in scores]
    chosen = _metrics(_each(scores), roles, rest, left_out)
    return chosen._replace(are_systems=are_systems and roles.system is None)


def _numeric(
    table: Columns, columns: Iterable[str], asked_for: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the columns that hold numbers, and what is said of those that do not.

    A column of numbers with a cell that is none is an `InputError`.
    """
    numeric, left_out = [], []
    for column in columns:
        cells = table.cells[column]
        # A column of texts, which yes and no may be, is one of scores where it is asked for.
        as_numbers = marks(cells) if column in asked_for or are_grades(cells) else None
        numbers, bad = as_floats(as_numbers or cells)
        n_numbers = int(np.sum(~np.isnan(numbers)))
        if bad is None and n_numbers:
            numeric.append(column)
            continue
        is_score = column in asked_for or not is_never(column)
        if bad is not None and n_numbers >= len(numbers) / 2 and is_score:
            raise table.refused(bad, column, "a number as others of the column are, or empty")
        left_out.append(f"column {column!r}, which is {'text' if bad is not None else 'empty'}")
    return numeric, left_out
