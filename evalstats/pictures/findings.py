"""Findings in scores and comparisons: the first sentences of a report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from evalstats.errors import InputError
from evalstats.results import tabular
from evalstats.results.forms import Finding
from evalstats.results.notes import WHOLE
from evalstats.results.records import (
    KINDS,
    Difference,
    all_others,
    by_pair,
    counted,
    decimals_of,
    distinct,
    leads,
    listed,
    mark_of,
    oriented,
    plural,
    ranked,
)
from evalstats.results.signatures import part_name, system_name

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.questions.gates import Gate
    from evalstats.results.estimates import Estimate

#: Task, metric, system and baseline of a difference.
Place = tuple[str, str, str, str]
#: The most pairs, names, and lines of a pair to list; more are summarised.
_PAIRS, _SAID, _LINES = 4, 8, 12
#: The most findings above a table.
_ABOVE = 4
#: The power for the least difference: 80% of the time.
_FOUND = 0.8
_ASKED = {
    "two-sided": "differs from",
    "greater": "scores higher than",
    "less": "scores lower than",
}


def told(
    findings: Sequence[Finding], notes: Sequence[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the findings above a table, and what each adds, and the notes that say more."""
    lines = []
    if len(findings) > _ABOVE:
        findings = sorted(findings, key=lambda finding: finding.kind != "worse")
    for finding in findings[:_ABOVE]:
        below = [] if len(findings) > _ABOVE or len(finding.lines) > 1 else finding.lines
        brief = [finding.brief] if finding.brief and len(findings) <= _ABOVE else below
        lines.append((f"{finding.said.removesuffix('.')}.", " ".join(brief)))
    if len(findings) > _ABOVE:
        lines.append(("", f"{len(findings) - _ABOVE} more findings are in the table."))
    return lines, unsaid(notes, findings[:_ABOVE])


def unsaid(notes: Sequence[str], findings: Sequence[Finding]) -> list[str]:
    """Return the notes with more information than a finding."""
    lines = [line for finding in findings for line in (finding.said, *finding.lines)]
    # A line that is only a p-value is in many notes.
    said = [line.lower() for line in lines if line and not line.startswith("p ")]
    return [
        note
        for note in notes
        if not any(x in note.lower() or note.lower().removesuffix(".") in x for x in said)
    ]


def score_findings(estimates: Sequence[Estimate]) -> list[Finding]:
    """Return findings on scores with intervals; of several systems, one finding per metric."""
    groups = _by_place(estimates)
    is_single = all(len(rows) == 1 for rows in groups.values())
    if is_single and len(estimates) <= _SAID:
        return [_score(e) for e in estimates]
    findings = []
    for (task, metric), rows in groups.items():
        places, on = decimals_of(rows)[metric], f" on {task}" if task else ""
        best_first = [f"{e.system} {tabular.number(e.score, places)}" for e in ranked(rows)]
        said = f"{metric}{on}: {listed(best_first, _SAID)}"
        more = [] if is_single else ["Compare the systems to see which of them differ."]
        findings.append(Finding(said, lines=more))
    return findings


def _score(e: Estimate) -> Finding:
    """Return a finding on a score with its interval."""
    places = tabular.decimals([e.standard_error])
    score, low, high = (tabular.number(x, places) for x in (e.score, e.low, e.high))
    on = f" on {e.task}" if e.task else ""
    level = tabular.level(e.confidence_level)
    return Finding(f"{e.system}: {e.metric} {score}{on} ({level} {low} to {high})")


def _by_place(estimates: Sequence[Estimate]) -> dict[tuple[str, str], list[Estimate]]:
    """Return the scores of each task and metric; only of totals, if there are any."""
    groups: dict[tuple[str, str], list[Estimate]] = {}
    totals = [e for e in estimates if e.aggregate is not None]
    for e in totals or estimates:
        groups.setdefault((e.task, e.metric), []).append(e)
    return groups


def comparison_findings(c: Comparison) -> list[Finding]:
    """Return findings on pairs: which system is better, by how much, and the evidence; best first.

    With many pairs, findings are about the best system per task and metric, or the number of
    systems better than the baseline.
    """
    pairs = by_pair(c.differences)
    if len(pairs) > 1 and c.baseline is None:
        return [_best(c, scores) for scores in _by_place(c.estimates).values()]
    if len(pairs) > _PAIRS:
        return [_against_baseline(c, scores) for scores in _by_place(c.estimates).values()]
    least = _least(c)
    findings = [_of_pair(c, _as_in_tables(c, rows), least) for rows in pairs.values()]
    return sorted(findings, key=lambda finding: (finding.kind == "open", not finding.lines))


def _as_in_tables(c: Comparison, rows: Sequence[Difference]) -> list[Difference]:
    """Return the differences of a pair in the direction of tables."""
    shown = oriented(c, rows)
    first = next((d for d in shown if d.aggregate is not None), shown[0])
    return [d if d.system == first.system else d.turned() for d in rows]


def in_words(c: Comparison, d: Difference) -> str:
    """Return ``B differs from A in acc by -0.11 (95% interval -0.18 to -0.04, p = 0.0020).``."""
    if d.n_differing == 0:
        return f"{d.system} and {d.baseline} have the same score on every {c.estimates[0].unit}."
    value, bounds = _amount(c, d)
    said = (
        f"{d.system} differs from {d.baseline} in {_named(c, d)} by {value} ({bounds}, {_p(c, d)})."
    )
    return said + _more(c, d, {})


def _of_pair(
    c: Comparison, rows: Sequence[Difference], least: dict[Place, float | None]
) -> Finding:
    """Return a finding on two systems, or on the claim, with a line for each metric."""
    system, baseline = rows[0].system, rows[0].baseline
    if not any(d.n_differing for d in rows):
        return Finding(
            f"{system} and {baseline} have the same score on every {c.estimates[0].unit}"
        )
    of_totals = {d.metric for d in rows if d.aggregate is not None}
    main = [d for d in rows if d.aggregate is not None or d.metric not in of_totals]
    kinds = {d.kind for d in main}
    is_asked = c.margin is not None or c.recovery is not None
    is_turned = _is_turned(c, main, kinds)
    shown = [d.turned() if is_turned else d for d in main]
    whole = _better(c, main, shown)
    is_open = len(main) > 1 and kinds == {"open"} and not is_asked
    brief = _all_least(c, main, least) if is_open else ""
    if len(main) > 1 or is_asked:
        # What would have been found is said once.
        lines = _lines(c, main, shown, {} if brief else least)
        lines += filter(None, [brief])
    else:
        whole = whole._replace(said=f"{whole.said}: {', '.join(_amount(c, shown[0]))}")
        lines = [f"{_p(c, shown[0])}.{_more(c, shown[0], least)}"]
    if is_asked:
        lines = [f"{whole.said}.", *lines] if whole.kind != "open" else lines
        whole = _claimed(c, main, whole.kind)
    elif (
        not is_open
        and "open" in kinds
        and len({d.metric for d in main}) > 1
        and not c.adjusted.is_over_metrics
    ):
        brief = "Each metric is tested separately."
        lines.append(brief)
    if main != list(rows):
        brief = _over_tasks(c, rows)
        lines.append(brief)
    return whole._replace(lines=lines, brief=brief)


def _lines(
    c: Comparison,
    main: Sequence[Difference],
    shown: Sequence[Difference],
    least: dict[Place, float | None],
) -> list[str]:
    """Return a line for each difference, as it is shown, with the claim about it."""
    few = zip(main, shown, strict=True) if len(main) <= _LINES else ()
    return [_line(c, turned, least) + _claims(c, d) for d, turned in few]


def _is_turned(c: Comparison, main: Sequence[Difference], kinds: set[str]) -> bool:
    """Return whether the baseline is named first: it is better and nothing else is shown.

    If nothing is shown, the direction is the same as in tables and figures.
    """
    if kinds == {"open"} and len(main) == 1:
        return oriented(c, main)[0] is not main[0]
    return "worse" in kinds and "better" not in kinds


def _better(c: Comparison, main: Sequence[Difference], shown: Sequence[Difference]) -> Finding:
    """Return which of two systems is better in each metric, or total, of `main`."""
    by: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    # If all are totals of one kind, it is mentioned once.
    where = {_parts(c, d)[1] for d in main}
    last = where.pop() if len(where) == 1 and main[0].aggregate is not None else ""
    for d in shown:
        name = _parts(c, d)[0] if last else _named(c, d)
        if d.kind != "open" and len(main) > 1:
            amount = tabular.number(d.difference, _places(c, d), sign=True)
            amount += "" if d.higher_is_better else ", lower is better"
            name = f"{name[:-1]}, {amount})" if name.endswith(")") else f"{name} ({amount})"
        by[d.kind].append(name)
    first, second = shown[0].system, shown[0].baseline
    if not by["better"] and not by["worse"]:
        said = f"No evidence that {first} {_ASKED[c.alternative]} {second} in "
        return Finding(said + listed(by["open"], _SAID, "or") + last)
    parts = [f"better than {second} in {listed(by['better'], _SAID)}" if by["better"] else ""]
    parts += [f"worse in {listed(by['worse'], _SAID)}" if by["worse"] else ""]
    said = f"{first} is {', but '.join(filter(None, parts))}{last}{mark_of(c, c.estimates[0])}"
    said += f"; no evidence in {listed(by['open'], _SAID, 'or')}" if by["open"] else ""
    # Among all pairs, neither system is the one in question.
    is_turned = first != main[0].system
    kind = "worse" if is_turned and c.baseline is not None else "better"
    return Finding(said, "open" if by["better"] and by["worse"] else kind)


def _named(c: Comparison, d: Difference) -> str:
    """Return the metric with its task, or the name of a total: ``mean acc over 3 domains``."""
    return "".join(_parts(c, d))


def _parts(c: Comparison, d: Difference) -> tuple[str, str]:
    """Return ``acc`` and `` on law``; of a total ``mean acc`` and `` over 3 domains``."""
    if d.aggregate is None:
        return d.metric, f" on {d.task}" if d.task else ""
    kinds = plural(part_name(c.estimates))
    if d.aggregate in ("micro", WHOLE):
        return d.metric, f" on all {kinds} together"
    mean = "mean" if d.aggregate == "macro" else f"{d.aggregate} mean"
    some = f"{len({e.task for e in c.estimates.rows})} {kinds}"
    if c.adjusted.is_over_metrics:
        return f"the {mean} of the {some} ({listed(d.metric.split(' + '))})", ""
    return f"{mean} {d.metric}", f" over {some}"


def _claims(c: Comparison, d: Difference) -> str:
    """Return the claims about margin and recovery."""
    limits = [("Margin", c.margin), ("Recovery", c.recovery)]
    return "".join(f" {name} {x:g}: {d.claim}." for name, x in limits if x is not None)


def _claimed(c: Comparison, main: Sequence[Difference], kind: str) -> Finding:
    """Return the finding on a margin, or a recovery, for each metric."""
    system, baseline = main[0].system, main[0].baseline
    by: dict[str | None, list[str]] = {"equivalent": [], "not worse": [], "not shown": []}
    for d in main:
        by[d.claim].append(f"{d.metric} ({d.task})" if d.task else d.metric)
    within, what = "", f"keeps at least {100 * (c.recovery or 0):.6g}% of {baseline}'s score"
    if c.margin is not None:
        within = f"{c.margin:g}"
        what = f"is less than {within} worse than {baseline}"
    words = {
        "equivalent": f"{system} and {baseline} are equivalent within ±{within} in",
        "not worse": f"{system} {what} in",
        "not shown": f"We could not show that {system} {what} in",
    }
    said = ". ".join(f"{words[claim]} {listed(by[claim], _SAID)}" for claim in words if by[claim])
    return Finding(said, kind if by["not shown"] else "better")


def _places(c: Comparison, d: Difference) -> int:
    return decimals_of(c.estimates)[d.metric]


def _amount(c: Comparison, d: Difference) -> tuple[str, str]:
    """Return ``+0.47`` and ``95% interval -0.97 to +1.90``."""
    amounts, places = (d.difference, d.low, d.high), _places(c, d)
    value, low, high = (tabular.number(x, places, sign=True) for x in amounts)
    less = "" if d.higher_is_better else " (lower is better)"
    return f"{value}{less}", f"{tabular.level(c.confidence_level)} {low} to {high}"


def _p(c: Comparison, d: Difference) -> str:
    """Return the p-value of the verdict, and the number of comparisons."""
    p, n = tabular.p_is(d.pvalue_adjusted), c.adjusted.n_compared(d)
    return f"{p} adjusted for {n} comparisons" if n > 1 and c.adjustment != "none" else p


def _line(c: Comparison, d: Difference, least: dict[Place, float | None]) -> str:
    """Return a difference with its interval and p-value."""
    name = f"{d.task}, {d.metric}" if d.task else d.metric
    name = _named(c, d) if d.aggregate is not None else name
    if d.n_differing == 0:
        return f"{name}: the same score on every {c.estimates[0].unit}."
    return f"{name}: {', '.join(_amount(c, d))}, {_p(c, d)}.{_more(c, d, least)}"


def _more(c: Comparison, d: Difference, least: dict[Place, float | None]) -> str:
    """Return why there is no evidence, and which difference would have been found."""
    said, size = "", least.get((d.task, d.metric, d.system, d.baseline))
    if c.adjusted.is_apart(d) and d.pvalue <= c.significance_level:
        said += " The interval is for this difference only, but p is adjusted for all of them."
    if d.verdict == "cannot tell":
        units = plural(c.estimates[0].unit)
        said += f" With so few {units} or resamples, no difference could be significant."
    elif size:
        said += (
            f" With this test set, a true difference of {tabular.number(size, _places(c, d))} in "
        )
        said += f"{d.metric} would be detected 80% of the time, and a smaller one less often."
    return said


def _all_least(c: Comparison, main: Sequence[Difference], least: dict[Place, float | None]) -> str:
    """Return which differences would have been found, for several metrics, in one sentence."""
    known = [(d, least.get((d.task, d.metric, d.system, d.baseline))) for d in main]
    parts = [f"{tabular.number(x, _places(c, d))} in {d.metric}" for d, x in known if x]
    if not parts or any(d.task and d.aggregate is None for d in main):
        return ""
    sizes = listed(parts, _SAID, "or")
    return f"With this test set, a true difference of {sizes} would be detected 80% of the time."


def _least(c: Comparison) -> dict[Place, float | None]:
    """Return the differences that would have been found, if there was no evidence."""
    from evalstats.questions.needed import least_of

    unclear = [d for d in c.differences if d.kind == "open"]
    least: dict[Place, float | None] = {}
    # Results from a file cannot be planned.
    if c.source is None or len({(d.task, d.metric) for d in unclear}) > _LINES:
        return least
    for d in unclear:
        with suppress(InputError):
            difference = least_of(c.source, d, c.significance_level, _FOUND)
            for pair in ((d.system, d.baseline), (d.baseline, d.system)):
                least.setdefault((d.task, d.metric, *pair), difference)
    return least


def _over_tasks(c: Comparison, differences: Sequence[Difference]) -> str:
    """Return on which tasks a system is better, and on which worse."""
    rows = [d for d in differences if d.aggregate is None]
    names = distinct(d.metric for d in rows)
    tasks: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for d in rows:
        name = d.task if len(names) == 1 else f"{d.metric} on {d.task}" if d.task else d.metric
        tasks[d.kind].append(name)
    kind, (first, *_) = part_name(c.estimates), differences
    if not tasks["better"] and not tasks["worse"]:
        n = len({d.task for d in rows})
        where = "on its own" if len(names) == 1 else "in any metric"
        none = f"Neither {kind}" if n == 2 else f"None of the {n} {plural(kind)}"
        return f"{none} shows {'this' if d.claim else 'a difference'} {where}."
    n, said = len(rows), list[str]()
    what = (
        f"on {{}} {plural(kind)}"
        if len(names) == 1
        else f"in {{}} combinations of {kind} and metric"
    )
    for word in ("better", "worse"):
        if found := tasks[word]:
            many = f"{len(found)} of {n}"
            many = many if len(found) < n else "both" if n == 2 else f"all {n}"
            said.append(f"{word} {what.format(many)} ({listed(found, _SAID)})")
    return f"Tested separately, {first.system} is {', and '.join(said)}."


def _best(c: Comparison, scores: Sequence[Estimate]) -> Finding:
    """Return which system is best on a task or in total, and which do not differ from it."""
    best, task, metric = ranked(scores)[0], scores[0].task, scores[0].metric
    pairs = [
        d
        for d in c.differences
        if (d.task, d.metric) == (task, metric) and best.system in (d.system, d.baseline)
    ]
    tied = [d.baseline if d.system == best.system else d.system for d in pairs if d.kind == "open"]
    if not any(d.n_differing for d in c.differences if (d.task, d.metric) == (task, metric)):
        systems = counted(len(scores), system_name(scores))
        same = f"All {systems} have the same score on every {best.unit} in {_named(c, pairs[0])}"
        return Finding(same)
    said = f"{best.system} has the best score in {_named(c, pairs[0])}, "
    said += tabular.number(best.score, decimals_of(scores)[metric])
    n_beaten = len(pairs) - len(tied)
    others = all_others(len(pairs)) if not tied else f"{n_beaten} of the {len(pairs)} others"
    sure = leads(others + mark_of(c, scores[0]) if n_beaten else "", tied)
    return Finding(said, "better" if n_beaten else "open", [f"{sure}."])


def _against_baseline(c: Comparison, scores: Sequence[Estimate]) -> Finding:
    """Return how many systems are better, or worse, than the baseline, on a task or in total."""
    place = (scores[0].task, scores[0].metric)
    differences = [d for d in c.differences if (d.task, d.metric) == place]
    by: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for d in differences:
        by[d.kind].append(d.system)
    mark = mark_of(c, scores[0])
    what = system_name(scores)
    word = "worse" if by["worse"] and not by["better"] else "better"
    than = f"{word} than {c.baseline} in {_named(c, differences[0])}"
    first = by.pop(word)
    if first:
        are = "is" if len(first) == 1 else "are"
        said = f"{len(first)} of {counted(len(differences), what)} {are} {than}{mark}: "
        said += listed(first, _SAID)
    else:
        said = f"No evidence that any of {counted(len(differences), what)} is {than}"
    rest = [f"Worse: {listed(by['worse'], _SAID)}{mark}."] if by.get("worse") else []
    rest += [f"No evidence for {listed(by['open'], _SAID)}."] if by["open"] else []
    return Finding(said, word if first else "open", [" ".join(rest)] if rest else [])


def checks_together(gate: Gate) -> list[Finding]:
    """Return which of many checks failed, are undecided, and passed, and what can be done."""
    asked = [check for check in gate.checks if check.verdict != "not asked"]
    is_total = [check.difference.aggregate is not None for check in asked]
    # Totals are more important than tasks.
    asked.sort(key=lambda check: check.difference.aggregate is None)
    metrics = distinct(check.metric for check in asked)
    what = f"checks in {metrics[0]}" if len(metrics) == 1 else "checks"
    findings: list[Finding] = []
    for verdict in ("failed", "undecided", "passed"):
        rows = [check for check in asked if check.verdict == verdict]
        if not rows:
            continue
        are = "" if verdict != "undecided" else "is " if len(rows) == 1 else "are "
        names = [x.task or x.metric if len(metrics) == 1 else x.name for x in rows]
        said = f"{len(rows)} of {len(asked)} {what} {are}{verdict}"
        needed = [x.needed for x in rows if x.needed and x.needed > x.n_items and not x.barred]
        lines = [f"{verdict.capitalize()}: {listed(names, _SAID)}."]
        if verdict == "undecided" and needed:
            few, many = (f"{n:,}" for n in (min(needed), max(needed)))
            about = few if few == many else f"{few} to {many}"
            lines += [f"A decision would need about {about} {plural(rows[0].unit)} per check."]
            if not findings and any(is_total) and not all(is_total):
                lines[1] += ' Or let the total decide: on="total".'
        # On a page the reasons are among the notes.
        why = [] if findings else ["to_text(verbose=True) shows the reason for each check."]
        brief = " ".join([*lines, *why])
        findings.append(Finding(said, KINDS.get(verdict, "open"), lines, brief))
    return findings
