"""Several answers to one question: averaged, so that the question is the unit, or runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import Mean, Metric
from evalstats.metrics.averages import MeanOfRuns
from evalstats.runs.items import Items, Key, with_missing

#: In place of a score: the answer was not scored on purpose, or its score should be there.
UNSCORED, ABSENT = np.nan, np.inf


def rows_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of `Mean`, `(n,) -> (n, 2)`, of scores, some of which are no numbers."""
    rows = np.stack([scores, np.ones_like(scores)], axis=-1)
    rows[np.isnan(scores)] = 0.0
    rows[scores == ABSENT] = np.nan
    return rows


def by_question(
    key: Key,
    system: str,
    answers: Sequence[tuple[str, int]],
    rows: NDArray[np.float64],
    *,
    labels: Mapping[str, Sequence[str]],
    as_runs: bool = False,
    higher_is_better: bool = True,
) -> tuple[Items, int]:
    """Return the scores of N questions to which there are n answers, and how many were not scored.

    Parameters
    ----------
    key : Key
    system : str
    answers : sequence of (str, int)
        The id of the question, and which answer to it this is.
    rows : ndarray, shape (n, 2)
        Rows of `Mean`. One of an answer that was not scored is (0, 0): it is left out of the
        average, and a question without any other, or one of whose runs it is, is left out as a
        whole. A row of NaN is missing.
    labels : mapping of str to sequence of str
        One an answer; those of one question are the same.
    as_runs : bool
        Whether answers are runs of the system (`MeanOfRuns`), as many for each question.
    higher_is_better : bool
    """
    codes: dict[str, int] = {}
    where = np.array([codes.setdefault(name, len(codes)) for name, _ in answers], dtype=np.intp)
    if len(set(answers)) < len(answers):
        name, number = next(one for one, n in Counter(answers).items() if n > 1)
        raise InputError(
            f"{key}: item {shown(name, 60)}, answer {number}, occurs more than once; a log has "
            f"each item once"
        )
    metric: Metric = Mean(key.metric, higher_is_better)
    absent = np.isnan(rows[:, 1])
    rows = np.where(absent[:, None], 0.0, rows)
    is_scored = rows[:, 1] > 0
    if as_runs and len(codes) < len(answers):
        runs = _places(key, where, np.array([number for _, number in answers]), len(codes))
        metric = MeanOfRuns(metric, runs.shape[1])
        found = rows[runs].reshape(len(codes), -1)
        kept = np.all((is_scored | absent)[runs], axis=1)
    else:
        counts = np.bincount(where, weights=is_scored)
        sums = [np.bincount(where, weights=column) for column in rows.T]
        found = np.stack(sums, axis=-1) / np.maximum(counts, 1)[:, None]
        kept = (counts > 0) | (np.bincount(where, weights=absent) > 0)
    names = list(codes)
    items = Items(
        key,
        metric,
        (system,),
        [names[i] for i in np.flatnonzero(kept)],
        found[None, kept],
        {name: _of_questions(key, name, given, where, kept) for name, given in labels.items()},
        incomplete=with_missing(np.where(absent, np.nan, 0.0))[1],
    )
    return items, int(np.sum(~kept))


def _places(
    key: Key, where: NDArray[np.intp], runs: NDArray[np.int64], n_questions: int
) -> NDArray[np.intp]:
    """Return the places of the answers, question by question, `(N, K)`."""
    order = np.lexsort((runs, where))
    counts = np.bincount(where)
    found = order.reshape(n_questions, -1) if len(set(counts.tolist())) == 1 else None
    if found is None or np.any(runs[found] != runs[found[:1]]):
        raise InputError(
            f"{key}: epochs='runs' needs the same number of answers to every question, got "
            f"{counts.min()} to {counts.max()}, or others; average them with epochs='average'"
        )
    return found


def _of_questions(
    key: Key,
    name: str,
    given: Sequence[str],
    where: NDArray[np.intp],
    kept: NDArray[np.bool_],
) -> list[str]:
    """Return one label a question, which all of its answers must have."""
    found: dict[int, str] = {}
    for place, value in zip(where.tolist(), given, strict=True):
        if found.setdefault(place, value) != value:
            raise InputError(
                f"{key}: answers to one question differ in {name!r}: {shown(found[place], 60)} and "
                f"{shown(value, 60)}"
            )
    return [found[i] for i in np.flatnonzero(kept).tolist()]
