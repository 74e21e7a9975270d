"""What is found in scores and comparisons: sentences that open a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from evalstats.errors import InputError
from evalstats.results import tabular
from evalstats.results.forms import Finding
from evalstats.results.records import (
    Difference,
    by_pair,
    decimals_of,
    distinct,
    kind_of,
    listed,
    mark_of,
    plural,
    ranked,
)

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate

#: Task, metric, system and baseline of a difference.
Place = tuple[str, str, str, str]
#: More pairs, and names, are summed up, not said one by one; and more lines of a pair.
_SAID, _LINES = 8, 12
_ASKED = {
    "two-sided": "differs from",
    "greater": "scores higher than",
    "less": "scores lower than",
}


def score_finding(e: Estimate) -> Finding:
    """Say a score with its interval."""
    places = tabular.decimals([e.standard_error])
    score, low, high = (tabular.number(x, places) for x in (e.score, e.low, e.high))
    on = f" on {e.task}" if e.task else ""
    level = tabular.level(e.confidence_level)
    return Finding(f"{e.system} scores {score} in {e.metric}{on} ({level} {low} to {high})")


def comparison_findings(c: Comparison) -> list[Finding]:
    """Say who is better, by how much and how sure that is: a finding a pair, the surest first.

    Of many pairs without a baseline it is said of each task and metric who scores best.
    """
    pairs = by_pair(c.differences)
    if c.baseline is None and len(pairs) > _SAID:
        main = c.estimates.totals or tuple(c.estimates)
        return [_best(c, *place) for place in dict.fromkeys((e.task, e.metric) for e in main)]
    least = _least(c)
    found = [_of_pair(c, some, least) for some in pairs.values()]
    return sorted(found, key=lambda finding: (finding.kind == "open", not finding.lines))


def in_words(c: Comparison, d: Difference) -> str:
    """Return ``new - old, pass^1 -0.11: 95 % interval -0.18 to -0.04, p = 0.0020.``."""
    return f"{d.system} - {d.baseline}, {_line(c, d, None, {})}"


def _of_pair(
    c: Comparison, found: Sequence[Difference], least: dict[Place, float | None]
) -> Finding:
    """Say of two systems which is better, or what was asked, with a line for each metric."""
    system, baseline = found[0].system, found[0].baseline
    if not any(d.n_differing for d in found):
        return Finding(f"{system} and {baseline} are the same on every {c.estimates[0].unit}")
    of_totals = {d.metric for d in found if d.aggregate is not None}
    main = [d for d in found if d.aggregate is not None or d.metric not in of_totals]
    kinds = {kind_of(c, d) for d in main}
    # Where the baseline is better and nothing else is known, it is named first.
    is_turned = "worse" in kinds and "better" not in kinds
    whole = _better(c, main, found, is_turned)
    few = main if len(main) <= _LINES else []
    lines = [_line(c, d.turned() if is_turned else d, c.claim(d), least) for d in few]
    if c.margin is not None or c.recovery is not None:
        lines = [f"{whole.said}.", *lines] if whole.kind != "open" else lines
        whole = _claimed(c, main, whole.kind)
    more = [] if main == list(found) else [_over_tasks(c, found)]
    return whole._replace(lines=lines + more)


def _better(
    c: Comparison, main: Sequence[Difference], found: Sequence[Difference], is_turned: bool
) -> Finding:
    """Say which of two systems is better under the metrics, or in the totals, of `main`."""
    system, baseline = found[0].system, found[0].baseline
    by: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for d in main:
        # By 1.20 BLEU, or how a ratio is said, after the task.
        amount = f"on {d.task} " if d.task and d.aggregate is None else ""
        value = tabular.number(abs(d.value), _places(c, d))
        if d.contrast == "difference":
            amount += f"by {value} {d.metric}" + (f" ({d.task})" if d.aggregate else "")
        else:
            amount += f"in {d.metric} ({d.contrast} {value})"
        by[kind_of(c, d)].append(amount)
    if not by["better"] and not by["worse"]:
        said = f"No evidence that {system} {_ASKED[c.alternative]} {baseline}"
        said += f" in {main[0].metric}" if len({d.metric for d in found}) == 1 else ""
        return Finding(said + ("" if all(kind_of(c, d) == "open" for d in found) else " in total"))
    mark = mark_of(c, c.estimates[0].unit)
    if is_turned:
        said = f"{baseline} is better than {system} {listed(by['worse'], _SAID)}{mark}"
        # Of all pairs neither system is the one that is asked about.
        return Finding(said, "better" if c.baseline is None else "worse")
    said = f"{system} is better than {baseline} {listed(by['better'], _SAID)}"
    said += f", but worse {listed(by['worse'], _SAID)}" if by["worse"] else ""
    return Finding(said + mark, "open" if by["worse"] else "better")


def _claimed(c: Comparison, main: Sequence[Difference], kind: str) -> Finding:
    """Say what is shown of a margin, or of a recovery, under each metric."""
    system, baseline = main[0].system, main[0].baseline
    by: dict[str | None, list[str]] = {"equivalent": [], "not worse": [], "not shown": []}
    for d in main:
        by[c.claim(d)].append(f"{d.metric} ({d.task})" if d.task else d.metric)
    within, what = "", f"keeps at least {c.recovery:g} of {baseline}" if c.recovery else ""
    if c.margin is not None:
        within = f"{c.margin:g} {'point' if c.margin == 1 else 'points'}"
        what = f"loses less than {within} against {baseline}"
    words = {
        "equivalent": f"{system} and {baseline} are equivalent within {within} in",
        "not worse": f"{system} {what} in",
        "not shown": f"it is not shown that {system} {what} in",
    }
    said = "; ".join(f"{words[claim]} {listed(by[claim], _SAID)}" for claim in words if by[claim])
    # Names of systems stay as they are.
    said = re.sub("^it is", "It is", said)
    return Finding(said, kind if by["not shown"] else "better")


def _places(c: Comparison, d: Difference) -> int:
    rows = c.estimates if d.contrast == "difference" else c.differences
    return decimals_of(rows)[d.metric]


def _line(c: Comparison, d: Difference, claim: str | None, least: dict[Place, float | None]) -> str:
    """Return how sure a difference is, and what is claimed of it."""
    name, unit = f"{d.task}, {d.metric}" if d.task else d.metric, c.estimates[0].unit
    if d.n_differing == 0:
        return f"{name}: the same on every {unit}."
    places, signed = _places(c, d), d.contrast != "ratio"
    value, low, high = (tabular.number(x, places, signed) for x in (d.value, d.low, d.high))
    p = tabular.p_is(d.pvalue_adjusted)
    if (n := c.adjusted.n_compared(d)) > 1 and c.adjustment != "none":
        p += f" adjusted for {n} comparisons"
    less = "" if d.higher_is_better else " (less is better)"
    said = f"{name} {value}{less}: {tabular.level(c.confidence_level)} {low} to {high}, {p}."
    if c.adjusted.is_apart(d) and d.pvalue <= c.significance_level:
        said += " The interval speaks of this difference alone, and p allows for all of them."
    if c.adjusted.cannot_reject(d):
        said += (
            f" Too few {plural(unit)} differ, or too few resamples were drawn, for any evidence."
        )
    elif found := least.get((d.task, d.metric, d.system, d.baseline)):
        shown = tabular.number(found, places)
        said += (
            f" This test finds a true difference of {shown} {d.metric} four times out of five, and "
            f"mostly misses smaller ones."
        )
    limits = [("Margin", c.margin), ("Recovery", c.recovery)]
    return said + "".join(f" {name} {x:g}: {claim}." for name, x in limits if x is not None)


def _least(c: Comparison) -> dict[Place, float | None]:
    """Return the differences that would have been found, where no evidence was."""
    least: dict[Place, float | None] = {}
    some = [d for d in c.differences if kind_of(c, d) == "open" and d.contrast == "difference"]
    places = dict.fromkeys((d.task, d.metric) for d in some)
    for task, metric in places if len(places) <= _LINES else ():
        # What was read from a file cannot be planned.
        with suppress(InputError):
            planned = c.power(metric=metric, task=task or None)
            least |= {(task, metric, p.system, p.baseline): p.minimum for p in planned}
    return {of: least.get(of) for of in ((d.task, d.metric, d.system, d.baseline) for d in some)}


def _over_tasks(c: Comparison, found: Sequence[Difference]) -> str:
    """Say on which tasks a system is better, and on which worse."""
    rows = [d for d in found if d.aggregate is None]
    names = distinct(d.metric for d in rows)
    tasks: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for d in rows:
        name = d.task if len(names) == 1 else f"{d.task} in {d.metric}" if d.task else d.metric
        tasks[kind_of(c, d)].append(name)
    said = {"better": "better on", "worse": "worse on", "open": "no evidence on"}
    parts = [
        f"{said[kind]} {len(own)}" + ("" if kind == "open" else f" ({listed(own, _SAID)})")
        for kind, own in tasks.items()
        if own
    ]
    what = f"tasks in {names[0]}" if len(names) == 1 else "tasks and metrics"
    return f"{found[0].system} on {len(rows)} {what}: {'; '.join(parts)}."


def _best(c: Comparison, task: str, metric: str) -> Finding:
    """Say who scores best on a task, or in total, and who cannot be told from it."""
    scores = [e for e in c.estimates if (e.task, e.metric) == (task, metric)]
    best = ranked(scores)[0]
    own = [
        d
        for d in c.differences
        if (d.task, d.metric) == (task, metric) and best.system in (d.system, d.baseline)
    ]
    tied = [
        d.baseline if d.system == best.system else d.system for d in own if kind_of(c, d) == "open"
    ]
    on = f"{task}: " if task else ""
    said = f"{on}{best.system} scores best in {metric}: "
    said += tabular.number(best.score, decimals_of(scores)[metric])
    sure = f"Better than {len(own) - len(tied)} of {len(own)} others"
    sure += mark_of(c, scores[0].unit) if len(tied) < len(own) else ""
    sure += f"; no evidence that it differs from {listed(tied, _SAID)}." if tied else "."
    return Finding(said, "open" if len(tied) == len(own) else "better", [sure])
