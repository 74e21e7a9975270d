"""Records found by their names, and refused where they do not fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from evalstats.checks import choice, shown
from evalstats.errors import InputError
from evalstats.metrics import written
from evalstats.results.records import Difference, distinct, loss_claim

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison


def of_metric(rows: Sequence[Any], metric: str | None) -> list[Any]:
    """Return the records of one metric; `None` stands for the only one.

    It is called as it is printed, in any case, or as it was asked for: "chrf" is chrF2.
    """
    names = distinct(row.metric for row in rows)
    fitting = names if metric is None else [name for name in names if name == metric]
    if not fitting and isinstance(metric, str):
        fitting = [name for name in names if written(name) == written(metric)]
    name = fitting[0] if len(fitting) == 1 else choice(metric, tuple(names), "metric")
    return [row for row in rows if row.metric == name]


def of_task(rows: Sequence[Any], task: str | None) -> list[Any]:
    """Return the records of a task, or a total; `None` is the last total (of all), or the task.

    A total is also found by what it is, "macro".
    """
    if task is None:
        whole = {row.metric: row.task for row in rows if row.aggregate}
        totals = [row for row in rows if row.aggregate and row.task == whole[row.metric]]
        names = distinct(row.task for row in rows)
        if not whole and len(names) > 1:
            raise InputError(f"there are {len(names)} tasks; give task, one of {', '.join(names)}")
        return totals or list(rows)
    fitting = [row for row in rows if row.task == task]
    fitting = fitting or [row for row in rows if row.aggregate == task]
    if not fitting:
        tasks = distinct(row.task for row in rows if row.task)
        choice(task, tuple(tasks or ["without names"]), "task")
    return fitting


def of_pair(
    rows: Sequence[Difference],
    system: str | None,
    baseline: str | None,
    *more: str,
    is_turnable: bool = False,
) -> Difference:
    """Return the only difference of a pair among those of a task and a metric.

    A pair that was compared the other way round is turned, where that says the same.
    """
    names = distinct(name for d in rows for name in (d.baseline, d.system))
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None:
            choice(name, tuple(names), argument)
    if more:
        raise InputError(f"key must be one of {', '.join(names)}; got {more[0]!r}")
    fitting = [d for d in rows if system in (None, d.system) and baseline in (None, d.baseline)]
    if baseline is None:
        fitting = [d for d in rows if system in (None, d.system, d.baseline)]
    among = fitting if len(fitting) > 1 else rows
    known = "; ".join(f"{d.system!r} from {d.baseline!r}" for d in among[:5])
    if len(fitting) == 1 and system in (None, fitting[0].system):
        return fitting[0]
    if len(fitting) > 1:
        raise InputError(
            f"is missing: say which of {len(fitting)} pairs, {known}",
            argument="baseline",
        )
    turned = [d for d in rows if (d.system, d.baseline) == (baseline, system)]
    if turned and is_turnable:
        return turned[0].turned()
    if turned:
        raise InputError(
            f"the difference of {system!r} from {baseline!r} is that of {baseline!r} from "
            f"{system!r} with the opposite sign, and one-sided tests, margins and recoveries are "
            f"about one of the two: ask for that one, or compare with the other first"
        )
    raise InputError(f"no difference of {system!r} from {baseline!r}; there are {known}")


def named(rows: Sequence[Any], key: object) -> tuple[list[Any], list[str]]:
    """Return the records of the task and the metric that a key begins with, and its other names.

    A key is ``(task, metric, system, ...)``: what there is one of can be left out.
    """
    names = list(key) if isinstance(key, tuple) else [key]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"give names or a place: a task, a metric, a system; got {shown(key)}")
    task = metric = None
    tasks = {name for row in rows for name in (row.task, row.aggregate)}
    if len(names) > 1 and names[0] and names[0] in tasks:
        task = str(names.pop(0))
    systems = {name for row in rows for name in (row.system, getattr(row, "baseline", ""))}
    if len(names) > 1 and names[0] not in systems:
        metric = str(names.pop(0))
    known = list(rows) if metric is None else of_metric(rows, metric)
    return of_metric(of_task(known, task), None), [str(name) for name in names]


def check_pairs(c: Comparison) -> None:
    """Refuse differences of other scores than the estimates, or of another kind."""
    known = c.estimates.by_row
    if len(known) < len(c.estimates):
        raise InputError("estimates has one of them twice")
    pairs = set()
    for i, d in enumerate(c.differences):
        both = [known.get((d.task, d.metric, name)) for name in (d.baseline, d.system)]
        scores = [None if e is None else e.score for e in both]
        is_alike = c.baseline in (None, d.baseline)
        sizes = [e.n_segments for e in both if e is not None] or [0]
        # Unpaired systems share none of their units.
        is_apart = d.n_differing == d.n_units == sum(sizes)
        if (
            scores != [d.baseline_score, d.system_score]
            or not is_alike
            or not (is_apart or d.n_differing <= min(sizes))
            or d.baseline == d.system
            or not _is_as_said(d, c)
        ):
            raise InputError(f"differences[{i}] does not fit the other fields")
        pairs.add((d.task, d.metric, frozenset((d.baseline, d.system))))
    if len(pairs) < len(c.differences):
        raise InputError("differences has one of them twice")
    if len({(d.task, d.metric) for d in c.differences}) != len(c.signatures):
        raise InputError("signatures must be one a task and metric")


def _is_as_said(d: Difference, c: Comparison) -> bool:
    """Return whether verdict and claim of a difference follow from its other fields."""
    given, p, level = dict(vars(d)), d.pvalue_adjusted, c.significance_level
    del given["verdict"], given["pvalue_adjusted"]
    # What is the least p-value that it could have is known of its statistics alone.
    verdicts = {Difference.made(given, p, level, least).verdict for least in (0.0, inf)}
    kept, equivalent = d.pvalue_not_worse_adjusted, d.pvalue_equivalence_adjusted
    is_limited = c.margin is not None or c.recovery is not None
    claim = loss_claim(kept, equivalent, level) if is_limited else ""
    return d.verdict in verdicts and d.claim == claim
