"""Items with several trials, each tested by itself: the records of `Comparison.cases`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.tasks import Task
from evalstats.designs.trials.cases import Case, Cases
from evalstats.designs.trials.metrics import Trials
from evalstats.designs.trials.repeats import Repeats
from evalstats.designs.trials.two_by_two import boschloo, fisher
from evalstats.errors import InputError
from evalstats.inference.families import tarone_holm
from evalstats.results.lookup import of_metric, of_task
from evalstats.results.records import Difference
from evalstats.results.sentences import in_words

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: Of more trials Fisher's test says nearly as much, and Boschloo's takes long.
_MOST_TABLES = 10_000
#: Answers are called so where there are none.
_ASK = "give lists of trials with metrics=evalstats.PassAll(1), or logs with several answers"


class Paired(NamedTuple):
    """Trials of a baseline and a system on N items, and right answers, `(N,)` each."""

    names: list[str]
    trials: tuple[Integers, Integers]
    right: tuple[Integers, Integers]


def cases_of(
    comparison: Comparison,
    evaluation: Evaluation,
    metric: str | None,
    system: str | None,
    baseline: str | None,
    task: str | None,
) -> Cases:
    """Return the test of each item of a comparison; names as of `Comparison.difference`."""
    rows = comparison.rows if task is None else of_task(comparison.differences, task)
    rows = rows if metric is None else of_metric(rows, metric)
    of = [
        comparison.difference(name, system, baseline, on or None)
        for on, name in dict.fromkeys((d.task, d.metric) for d in rows)
    ]
    first, is_single = of[0], len({d.task for d in of}) == 1
    total: Difference | None = first if is_single else None
    if not is_single and any(d.metric == first.metric for d in comparison.totals):
        total = comparison.difference(first.metric, first.system, first.baseline)
    items = _items_of(evaluation, of)
    # A score of 1 is a right answer, as in trials, whatever is made of them.
    of_items = evaluation.with_segments(first, "cases")[1].segments.blocks[0].metric
    is_right_better = isinstance(of_items, Trials) or first.higher_is_better
    return tested(
        items,
        comparison.significance_level,
        metric=first.metric,
        pair=(first.baseline, first.system),
        higher_is_better=is_right_better,
        total="" if total is None else in_words(comparison, total),
        signature=comparison.signature_of(total or first),
    )


def _items_of(evaluation: Evaluation, of: Sequence[Difference]) -> Paired:
    """Return the answers to the items of all tasks, which are the same under every metric."""
    by_metric: dict[str, list[tuple[str, Paired]]] = {}
    for d in of:
        part, drawn = evaluation.with_segments(d, "cases")
        assert isinstance(part, Task)
        names, known = part.segment_names(), drawn.of.systems
        pair = known.index(d.baseline), known.index(d.system)
        items = paired(drawn.segments.answers, pair, names)
        by_metric.setdefault(d.metric, []).append((d.task, items))
    first, *others = (together(parts) for parts in by_metric.values())
    if not all(is_same(items, first) for items in others):
        raise InputError(
            f"is needed: the metrics are of other trials; give one of {', '.join(by_metric)}",
            argument="metric",
        )
    return first


def paired(known: Floats | None, pair: tuple[int, int], names: Sequence[str]) -> Paired:
    """Return the items that both systems of a pair answered, of answers `(S, N, 3)`."""
    answers = Repeats.of(known)
    if answers is None:
        raise InputError(f"cases are of items with several trials each, and these have one; {_ASK}")
    if not answers.are_outcomes:
        raise InputError("cases are of answers that are right or wrong, with scores of 1 and 0")
    counts, right = (x[list(pair)].astype(np.int64) for x in (answers.counts, answers.sums))
    there = np.all(counts > 0, axis=0)
    kept = [name for name, is_there in zip(names, there.tolist(), strict=True) if is_there]
    return Paired(kept, (counts[0][there], counts[1][there]), (right[0][there], right[1][there]))


def together(parts: Sequence[tuple[str, Paired]]) -> Paired:
    """Return the items of several tasks as one list, called after their tasks."""
    (_, first), *others = parts
    if not others:
        return first
    names = [f"{task}: {name}" for task, part in parts for name in part.names]
    trials, right = (
        tuple(np.concatenate([getattr(part, what)[side] for _, part in parts]) for side in (0, 1))
        for what in ("trials", "right")
    )
    return Paired(names, (trials[0], trials[1]), (right[0], right[1]))


def is_same(one: Paired, other: Paired) -> bool:
    """Return whether trials of two metrics are the same."""
    numbers = zip((*one.trials, *one.right), (*other.trials, *other.right), strict=True)
    return one.names == other.names and all(np.array_equal(a, b) for a, b in numbers)


def tested(
    items: Paired,
    level: float,
    *,
    metric: str,
    pair: tuple[str, str],
    higher_is_better: bool,
    total: str,
    signature: str,
) -> Cases:
    """Return the test of each item, the smallest p-value first."""
    if not items.names:
        raise InputError("cases need items that both systems answered, and there is none")
    test = _chosen(items, level)
    pvalues, least = _tested(items, test)
    adjusted = tarone_holm(pvalues, least)
    notes = []
    if not np.any(least <= level):
        notes.append(
            f"So few trials of an item say nothing by themselves: the least p-value of an item is "
            f"{float(np.min(least)):.2g}; run more trials, at least 4 of each item."
        )
    order = np.lexsort((np.arange(len(pvalues)), pvalues, adjusted)).tolist()
    rates = [right / trials for right, trials in zip(items.right, items.trials, strict=True)]
    return Cases(
        cases=tuple(
            Case(
                item=items.names[i],
                baseline=float(rates[0][i]),
                system=float(rates[1][i]),
                baseline_trials=int(items.trials[0][i]),
                system_trials=int(items.trials[1][i]),
                pvalue=float(pvalues[i]),
                pvalue_adjusted=float(adjusted[i]),
            )
            for i in order
        ),
        metric=metric,
        baseline=pair[0],
        system=pair[1],
        test=test,
        significance_level=level,
        higher_is_better=higher_is_better,
        total=total,
        signatures=(signature,),
        notes=tuple(notes),
    )


def _chosen(items: Paired, level: float) -> str:
    """Return the test: Boschloo's where it can find a single item among all, else Fisher's.

    Boschloo's smallest p-value is far below Fisher's, but all items can reach it; Fisher's is so
    small only for some totals of right answers, and Tarone leaves the other items out. The numbers
    of items and trials decide, never the answers, so that the level holds.
    """
    if max(n * m for n, m in zip(*items.trials, strict=True)) > _MOST_TABLES:
        return "fisher"
    least = [float(boschloo(n, m).min()) for n, m in zip(*items.trials, strict=True)]
    return "boschloo" if max(least) * len(least) <= level else "fisher"


def _tested(items: Paired, test: str) -> tuple[Floats, Floats]:
    """Return the p-value of each item, and the smallest that it can have, `(N,)` each.

    Fisher's test goes with the total of right answers as it is, which says nothing of a change.
    """
    pvalues, least = np.ones((2, len(items.names)))
    for i, (n, m, x, y) in enumerate(zip(*items.trials, *items.right, strict=True)):
        if test == "boschloo":
            table = boschloo(n, m)
            pvalues[i], least[i] = table[x, y], table.min()
        else:
            of_total = fisher(n, m, x + y)
            pvalues[i], least[i] = of_total[x - max(0, x + y - m)], of_total.min()
    return pvalues, least
