"""Several answers to one question: averaged, so that the question is the unit, or runs."""

from __future__ import annotations

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


def by_question(
    key: Key,
    system: str,
    answers: Sequence[tuple[str, int]],
    scores: NDArray[np.float64],
    *,
    labels: Mapping[str, Sequence[str]],
    as_runs: bool = False,
    higher_is_better: bool = True,
) -> tuple[Items, int]:
    """Return the scores of N questions to which there are answers, and how many were not scored.

    Parameters
    ----------
    key : Key
    system : str
    answers : sequence of (str, int)
        The id of the question, and which answer to it this is.
    scores : ndarray
        A score an answer, or `UNSCORED` or `ABSENT`. Unscored answers are left out of the average;
        a question without a scored answer, or without one of its runs, is left out as a whole.
    labels : mapping of str to sequence of str
        One an answer; those of one question are the same.
    as_runs : bool
        Whether answers are runs of the system (`MeanOfRuns`), as many for each question.
    higher_is_better : bool
    """
    if len(set(answers)) < len(answers):
        twice = next(one for i, one in enumerate(answers) if one in set(answers[:i]))
        what = f"item {shown(twice[0], 60)}, answer {twice[1]}"
        raise InputError(f"{key}: {what}, occurs more than once; a log has each item once")
    codes: dict[str, int] = {}
    where = np.array([codes.setdefault(name, len(codes)) for name, _ in answers], dtype=np.intp)
    metric: Metric = Mean(key.metric, higher_is_better)
    absent = scores == ABSENT
    if as_runs and len(codes) < len(answers):
        places = _places(key, where, np.array([answer for _, answer in answers]), len(codes))
        # Answer by answer, each with the two columns of a mean.
        rows = with_missing(np.where(absent, np.nan, scores)[places])[0].reshape(len(codes), -1)
        metric = MeanOfRuns(metric, places.shape[1])
        kept = ~np.any(np.isnan(scores[places]), axis=1)
    else:
        is_there = np.isfinite(scores)
        counts = np.bincount(where, weights=is_there)
        sums = np.bincount(where, weights=np.where(is_there, scores, 0.0))
        rows = np.stack([sums / np.maximum(counts, 1), counts > 0], axis=-1)
        kept = (counts > 0) | (np.bincount(where, weights=absent) > 0)
    names = list(codes)
    items = Items(
        key,
        metric,
        (system,),
        [names[i] for i in np.flatnonzero(kept)],
        rows[None, kept],
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
