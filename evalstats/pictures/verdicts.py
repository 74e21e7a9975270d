"""What was found, in sentences: who is better, by how much, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from evalstats.errors import InputError
from evalstats.results import tabular
from evalstats.results.records import (
    KINDS,
    Difference,
    by_pair,
    counted,
    distinct,
    kind_of,
    listed,
    mark_of,
    ranked,
)

#: More pairs, and names, are summed up, not said one by one; and more lines of a pair.
_SAID, _LINES = 8, 12
#: Findings of scores, ranks, plans and other tests at most; all are in the tables.
_MOST = 12
_ASKED = {
    "two-sided": "differs from",
    "greater": "scores higher than",
    "less": "scores lower than",
}


class Verdict(NamedTuple):
    """What is said, which it is ("better", "worse", "open"), and how sure it is, line by line."""

    said: str
    kind: str = "open"
    lines: Sequence[str] = ()


def verdicts(result: Any) -> list[Verdict]:
    """Return what was found, of comparisons the surest first."""
    if hasattr(result, "differences"):
        return _of_comparison(result)
    if hasattr(result, "looks"):
        return [_of_looks(result)]
    if hasattr(result, "sentence"):
        return [Verdict(result.sentence, "worse" if result.worse else "open", [result.total])]
    for name, said in (
        ("checks", _of_check),
        ("means", _of_mean),
        ("rankings", lambda _, ranking: _of_ranking(ranking)),
        ("tests", lambda _, test: _of_test(test)),
        ("pairs", _of_power),
        ("estimates", lambda _, e: _of_score(e)),
    ):
        rows = [row for row in getattr(result, name, ()) if _is_asked(row)]
        if rows:
            return [said(result, row) for row in rows[:_MOST]]
    if hasattr(result, "tied"):
        return [_of_ranking(result)]
    return [_of_score(result)] if hasattr(result, "score") else []


def in_words(c: Any, d: Difference) -> str:
    """Return ``new - old, pass^1 -0.11: 95 % interval -0.18 to -0.04, p = 0.0020.``."""
    return f"{d.system} - {d.baseline}, {_line(c, d, None, {})}"


def _is_asked(row: Any) -> bool:
    """Return whether a verdict on a row is asked for, as on that of a gate of totals it is not."""
    return getattr(row, "verdict", None) != "not asked"


def _of_ranking(ranking: Any) -> Verdict:
    """Say who is first, how sure that is, and who ties."""
    first, n = ranking.systems[0], len(ranking.systems)
    score = tabular.number(first.score, tabular.decimals([first.standard_error]))
    said = f"{first.system} ranks first of {n} in {ranking.name}: {score}"
    tied = [name for name in ranking.tied if name != first.system]
    ties = "no system ties with it" if not tied else f"{_named(tied)} cannot be told from it"
    beaten = ranking.beaten(first)
    level = tabular.level(ranking.confidence_level)
    line = f"Better than {beaten} others; {ties}. Its rank: {level} {first.low} to {first.high}."
    return Verdict(said, "open" if beaten.startswith("0 ") else "better", [line])


def _of_test(test: Any) -> Verdict:
    """Say whether what another tool prints and the calibrated p-value agree; of no other tests."""
    if not hasattr(test, "calibrated"):
        return Verdict(f"{test}")
    said = {
        "both": "both find a difference at 0.05",
        "neither": "neither finds a difference at 0.05",
        "printed only": "only the printed p-value is at most 0.05",
        "calibrated only": "only the calibrated p-value is at most 0.05",
    }[test.verdict]
    pair = f"{test.system} - {test.baseline}, {test.metric}"
    line = f"{test.test} prints {tabular.pvalue(test.pvalue)}, calibrated it is "
    return Verdict(f"{pair}: {said}", lines=[f"{line}{tabular.pvalue(test.calibrated)}."])


def _of_mean(over: Any, d: Any) -> Verdict:
    """Say whether the mean difference over strata is shown, and what another stratum would have."""
    places, level = tabular.decimals([d.standard_error]), tabular.level(over.confidence_level)
    value, *ends = (
        tabular.number(x, places, True)
        for x in (d.difference, d.low, d.high, d.predicted_low, d.predicted_high)
    )
    n, shown = counted(d.n_strata, over.by), d.low > 0 or d.high < 0
    kind = "better" if (d.difference > 0) == d.higher_is_better else "worse"
    said = f"{d.system} is {kind} than {d.baseline} by {value.lstrip('+-−')} {d.metric} over {n}"
    if not shown:
        said = f"No evidence that {d.system} differs from {d.baseline} in {d.metric} over {n}"
    line = (
        f"Mean difference {value}: {level} {ends[0]} to {ends[1]}, and {ends[2]} to {ends[3]} in "
        f"another {over.by}."
    )
    return Verdict(said, kind if shown else "open", [line])


def _of_power(planned: Any, pair: Any) -> Verdict:
    """Say which difference is found, and what one that was asked about needs."""
    places = tabular.decimals([pair.minimum])
    unit, n = planned.unit, planned.n_segments
    about = f"{pair.system} - {pair.baseline}, {pair.metric}"
    if pair.minimum is None:
        return Verdict(f"{about}: {n:,} {unit}s are too few to find any difference")
    least = tabular.number(pair.minimum, places)
    said = f"{about}: {n:,} {unit}s find a true difference of {least} with power {planned.target:g}"
    lines = []
    if planned.difference is not None and pair.power is not None:
        needs = f"{pair.needed:,} {unit}s" if pair.needed else f"No number of {unit}s"
        lines = [
            f"One of {planned.difference:g} is found with power {pair.power:.2f}. {needs} would "
            f"find it with power {planned.target:g}."
        ]
    return Verdict(said, lines=lines)


def _of_score(e: Any) -> Verdict:
    """Say a score with its interval."""
    places = tabular.decimals([e.standard_error])
    score, low, high = (tabular.number(x, places) for x in (e.score, e.low, e.high))
    on = f" on {e.task}" if e.task else ""
    level = tabular.level(e.confidence_level)
    return Verdict(f"{e.system} scores {score} in {e.metric}{on} ({level} {low} to {high})")


def _of_check(gate: Any, check: Any) -> Verdict:
    """Say what a check lost or gained, with its interval, and what was allowed."""
    d = check.difference
    loss = -d.difference if d.higher_is_better else d.difference
    ends = sorted((-d.low, -d.high) if d.higher_is_better else (d.low, d.high))
    word = "lost"
    if loss < 0:
        loss, ends, word = -loss, [-ends[1], -ends[0]], "gained"
    places = tabular.decimals([abs(d.high - d.low) / 4])
    value, low, high = (tabular.number(x, places) for x in (loss, *ends))
    limit = "" if gate.margin is None else _points(gate.margin)
    if gate.recovery is not None:
        limit = f"{100 * (1 - gate.recovery):.6g} % of the baseline"
    against = {
        "passed": f"a loss of {limit} is ruled out",
        "failed": f"more than the {limit} allowed",
        "undecided": f"on either side of the {limit} allowed",
    }
    of = tabular.level(1 - 2 * gate.significance_level)
    said = f"{check.name}: {check.verdict}, {word} {value} ({of} {low} to {high})"
    said += f", {against[check.verdict]}" if limit else ""
    return Verdict(said, KINDS.get(check.verdict, "open"), [check.reason] if check.reason else [])


def _of_looks(looks: Any) -> Verdict:
    """Say what the last look decides, its difference, and what follows."""
    last, d = looks.last, looks.last.difference
    places = tabular.decimals([abs(last.high - last.low) / 4])
    value, low, high = (
        tabular.number(x, places, True) for x in (d.difference, last.low, last.high)
    )
    said = f"{d.system} against {d.baseline}: {last.verdict}, {last.reason}"
    line = f"{d.metric} {value}: repeated interval {low} to {high}."
    return Verdict(said, KINDS.get(last.verdict, "open"), [line])


def _points(margin: float) -> str:
    """Return ``2.5 points``."""
    return f"{margin:g} point{'' if margin == 1 else 's'}"


def decimals(rows: Sequence[Any], metric: str) -> int:
    """Return the decimals that tables give to a metric."""
    return tabular.decimals([row.standard_error for row in rows if row.metric == metric])


def _of_comparison(c: Any) -> list[Verdict]:
    pairs = by_pair(c.differences)
    if c.baseline is None and len(pairs) > _SAID:
        main = [e for e in c.estimates if e.aggregate is not None] or list(c.estimates)
        return [_of_best(c, place) for place in dict.fromkeys((e.task, e.metric) for e in main)]
    least = _least(c)
    found = [_of_pair(c, some, least) for some in pairs.values()]
    return sorted(found, key=lambda v: (v.kind == "open", not v.lines))


def _of_pair(c: Any, found: Sequence[Difference], least: dict[Any, float | None]) -> Verdict:
    """Say of two systems which is better, or what was asked, with a line for each metric."""
    system, baseline = found[0].system, found[0].baseline
    if not any(d.n_differing for d in found):
        return Verdict(f"{system} and {baseline} are the same on every {c.estimates[0].unit}")
    of_totals = {d.metric for d in found if d.aggregate is not None}
    main = [d for d in found if d.aggregate is not None or d.metric not in of_totals]
    whole, turned = _better(c, main, found), _is_turned(c, main)
    few = main if len(main) <= _LINES else []
    lines = [_line(c, d.turned() if turned else d, c.claim(d), least) for d in few]
    if c.margin is not None or c.recovery is not None:
        lines = [f"{whole.said}.", *lines] if whole.kind != "open" else lines
        whole = _claimed(c, main, whole.kind)
    more = [] if main == list(found) else [_over_tasks(c, found)]
    return whole._replace(lines=lines + more)


def _is_turned(c: Any, main: Sequence[Difference]) -> bool:
    """Return whether the baseline is better and nothing else is known: it is named first."""
    kinds = {kind_of(c, d) for d in main}
    return "worse" in kinds and "better" not in kinds


def _better(c: Any, main: Sequence[Difference], found: Sequence[Difference]) -> Verdict:
    """Say which of two systems is better under the metrics, or in the totals, of `main`."""
    system, baseline = found[0].system, found[0].baseline
    by: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for d in main:
        by[kind_of(c, d)].append(_amount(c, d))
    if not by["better"] and not by["worse"]:
        said = f"No evidence that {system} {_ASKED[c.alternative]} {baseline}"
        said += f" in {main[0].metric}" if len({d.metric for d in found}) == 1 else ""
        return Verdict(said + ("" if all(kind_of(c, d) == "open" for d in found) else " in total"))
    mark = mark_of(c, c.estimates[0].unit)
    if _is_turned(c, main):
        said = f"{baseline} is better than {system} {_named(by['worse'])}{mark}"
        # Of all pairs neither system is the one that is asked about.
        return Verdict(said, "better" if c.baseline is None else "worse")
    said = f"{system} is better than {baseline} {_named(by['better'])}"
    said += f", but worse {_named(by['worse'])}" if by["worse"] else ""
    return Verdict(said + mark, "open" if by["worse"] else "better")


def _claimed(c: Any, main: Sequence[Difference], kind: str) -> Verdict:
    """Say what is shown of a margin, or of a recovery, under each metric."""
    system, baseline = main[0].system, main[0].baseline
    by: dict[str, list[str]] = {"equivalent": [], "not worse": [], "not shown": []}
    for d in main:
        by[c.claim(d)].append(f"{d.metric} ({d.task})" if d.task else d.metric)
    if c.margin is None:
        points, what = "", f"keeps at least {c.recovery:g} of {baseline}"
    else:
        points = _points(c.margin)
        what = f"loses less than {points} against {baseline}"
    words = {
        "equivalent": f"{system} and {baseline} are equivalent within {points} in",
        "not worse": f"{system} {what} in",
        "not shown": f"it is not shown that {system} {what} in",
    }
    said = "; ".join(f"{words[claim]} {_named(names)}" for claim, names in by.items() if names)
    shown = "open" if kind == "open" or not by["not shown"] else kind
    # Names of systems stay as they are.
    said = re.sub("^it is", "It is", said)
    return Verdict(said, shown if by["not shown"] else "better")


def _amount(c: Any, d: Difference) -> str:
    """Return ``by 1.20 BLEU``, or how a ratio is said, after the task."""
    on = f"on {d.task} " if d.task and d.aggregate is None else ""
    value = tabular.number(abs(d.value), _places(c, d))
    if d.contrast == "difference":
        return f"{on}by {value} {d.metric}" + (f" ({d.task})" if d.aggregate else "")
    return f"{on}in {d.metric} ({d.contrast} {value})"


def _places(c: Any, d: Difference) -> int:
    return decimals(c.estimates if d.contrast == "difference" else c.differences, d.metric)


def _line(c: Any, d: Difference, claim: str | None, least: dict[Any, float | None]) -> str:
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
        said += f" Too few {unit}s differ, or too few resamples were drawn, for any evidence."
    elif found := least.get((d.task, d.metric, d.system, d.baseline)):
        shown = tabular.number(found, places)
        said += (
            f" This test finds a true difference of {shown} {d.metric} four times out of five, and "
            f"mostly misses smaller ones."
        )
    limits = [("Margin", c.margin), ("Recovery", c.recovery)]
    return said + "".join(f" {name} {x:g}: {claim}." for name, x in limits if x is not None)


def _least(c: Any) -> dict[Any, float | None]:
    """Return the differences that would have been found, where no evidence was."""
    least: dict[Any, float | None] = {}
    some = [d for d in c.differences if kind_of(c, d) == "open" and d.contrast == "difference"]
    places = dict.fromkeys((d.task, d.metric) for d in some)
    for task, metric in places if len(places) <= _LINES else ():
        # What was read from a file cannot be planned.
        with suppress(InputError):
            planned = c.power(metric=metric, task=task or None)
            least |= {(task, metric, p.system, p.baseline): p.minimum for p in planned}
    return {of: least.get(of) for of in ((d.task, d.metric, d.system, d.baseline) for d in some)}


def _over_tasks(c: Any, found: Sequence[Difference]) -> str:
    rows = [d for d in found if d.aggregate is None]
    names = distinct(d.metric for d in rows)
    tasks: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for d in rows:
        name = d.task if len(names) == 1 else f"{d.task} in {d.metric}" if d.task else d.metric
        tasks[kind_of(c, d)].append(name)
    said = {"better": "better on", "worse": "worse on", "open": "no evidence on"}
    parts = [
        f"{said[kind]} {len(own)}" + ("" if kind == "open" else f" ({_named(own)})")
        for kind, own in tasks.items()
        if own
    ]
    what = f"tasks in {names[0]}" if len(names) == 1 else "tasks and metrics"
    return f"{found[0].system} on {len(rows)} {what}: {'; '.join(parts)}."


def _of_best(c: Any, place: tuple[str, str]) -> Verdict:
    task, metric = place
    scores = [e for e in c.estimates if (e.task, e.metric) == place]
    best = ranked(scores)[0]
    own = [
        d
        for d in c.differences
        if (d.task, d.metric) == place and best.system in (d.system, d.baseline)
    ]
    tied = [
        d.baseline if d.system == best.system else d.system for d in own if kind_of(c, d) == "open"
    ]
    on = f"{task}: " if task else ""
    said = f"{on}{best.system} scores best in {metric}: "
    said += tabular.number(best.score, decimals(scores, metric))
    sure = f"Better than {len(own) - len(tied)} of {len(own)} others"
    sure += mark_of(c, scores[0].unit) if len(tied) < len(own) else ""
    sure += f"; no evidence that it differs from {_named(tied)}." if tied else "."
    return Verdict(said, "open" if len(tied) == len(own) else "better", [sure])


def _named(names: Sequence[str]) -> str:
    more = len(names) - _SAID
    return listed([*names[:_SAID], f"{more} more"] if more > 0 else names)
