"""The sentences of a paper's section on methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evalstats.results.records import distinct, listed, plural, whole_sizes
from evalstats.results.signatures import DISTRIBUTION, Signature, version

_BOOTSTRAP = "the bootstrap (expanded percentile interval; Hesterberg, 2015)"
_INTERVALS = {
    "bootstrap": _BOOTSTRAP,
    "percentile": "the percentile bootstrap (Efron, 1979)",
    "bca": "the BCa bootstrap (Efron, 1987)",
    "t": "Student's t from influence values",
    "wilson": "Wilson's score interval (1927)",
    "tango": "Tango's score interval (1998)",
    "miettinen-nurminen": "the score interval of Miettinen and Nurminen (1985)",
    "simultaneous": "simultaneous intervals from the largest bootstrap difference (max-T)",
}
_TESTS = {
    "bootstrap": "the paired bootstrap (resamples as in Koehn, 2004), as the smallest level at "
    "which its interval leaves the null value out",
    "t": "a paired t test on influence values",
    "ar": "approximate randomisation (Noreen, 1989)",
    "mcnemar": "McNemar's test (1947; Tango, 1998)",
    "miettinen-nurminen": "the score test of Miettinen and Nurminen (1985)",
}
_DRAWN = {"bootstrap", "percentile", "bca", "simultaneous", "ar"}
_ADJUSTMENTS = {
    "max-t": "step-down max-T (Romano and Wolf, 2005)",
    "holm": "Holm's method (1979)",
    "benjamini-hochberg": "the method of Benjamini and Hochberg (1995)",
}
#: Before the weight of a judge, in settings of metrics.
_JUDGED = "judged:ppi"
#: What totals are, by name.
TOTALS = {
    "macro": "the mean of the tasks' scores",
    "micro": "the score of all segments together",
    "weighted": "a weighted mean of the tasks' scores",
}


def describe_scores(estimates: Sequence[Any]) -> str:
    """Say what was scored, on what, and how its intervals were made."""
    return " ".join(["Systems were scored by", *_scored(estimates), *_drawn(estimates)])


def describe_comparison(comparison: Any) -> str:
    """Say what was compared, on what, by which test, adjusted how, with which intervals."""
    c = comparison
    tests = listed(distinct(_TESTS[d.test] for d in c.differences if d.test in _TESTS))
    known = dict(Signature.of(c.signatures[0]).analysis)
    if known.get("paired") == "no":
        tests = tests.replace("the paired bootstrap", "the bootstrap").replace(
            "a paired t", "Welch's t"
        )
    side = "Two-sided" if c.alternative == "two-sided" else f"One-sided ({c.alternative})"
    found = [*_scored(c.estimates), *_paired(known), f"{side} p-values are from {tests};"]
    if c.adjustment in _ADJUSTMENTS and any(c.adjusted.n_compared(d) > 1 for d in c.differences):
        over = " within each task and Holm's method (1979) over tasks"
        over = over if c.adjustment == "max-t" and len(c.tasks) > 1 else ""
        each = "" if c.adjusted.is_over_metrics else " under each metric"
        within = f"for all comparisons{each}"
        found.append(f"they are adjusted {within} by {_ADJUSTMENTS[c.adjustment]}{over},")
    else:
        found.append("they are not adjusted for several comparisons,")
    found.append(f"and significant up to {c.significance_level:g}.")
    for name in ("margin", "recovery"):
        if (limit := getattr(c, name)) is not None:
            said = f"Non-inferiority within a {name} of {limit:g} is tested one-sided (Schuirmann, "
            said += "1987; Blackwelder, 1982)"
            found.append(f"{said}{_claims_adjusted(c)}.")
    rows = [*c.estimates, *c.differences]
    return " ".join(["Systems were compared by", *found, *_drawn(rows, c)])


def _paired(analysis: dict[str, str]) -> list[str]:
    """Say what systems share where that is not their segments alone."""
    said = {
        "no": "Each system has segments of its own, drawn within it (Welch, 1947).",
        "runs": "Run 1, 2, ... of all systems share a prompt or seed, and are taken together.",
    }
    return [said[analysis["paired"]]] if analysis.get("paired") in said else []


def _claims_adjusted(c: Any) -> str:
    """Say how the claims of several pairs are adjusted; max-T is about differences from 0."""
    several = any(c.adjusted.n_compared(d) > 1 for d in c.differences)
    if c.adjustment not in _ADJUSTMENTS or not several:
        return ""
    how = "holm" if c.adjustment == "max-t" else c.adjustment
    return f", adjusted for all comparisons by {_ADJUSTMENTS[how]}"


def _scored(estimates: Sequence[Any]) -> list[str]:
    rows = [e for e in estimates if e.aggregate is None]
    tasks = distinct(e.task for e in rows)
    metrics = {e.metric: _settings(e) for e in rows}
    shown = listed(f"{name} ({own})" if own else name for name, own in metrics.items())
    if len(tasks) < 2:
        return [f"{shown} on {whole_sizes(rows)}.", *_units(rows[0]), *_judged(rows)]
    units = listed(distinct(plural(e.unit) for e in rows))
    n = sum({e.task: e.n_segments for e in rows}.values())
    found = [f"{shown} on {len(tasks)} tasks with {n:,} {units} in all.", *_judged(rows)]
    totals = [e for e in estimates if e.aggregate is not None]
    if totals:
        what = TOTALS.get(totals[0].aggregate, f"{totals[0].aggregate} of the tasks' scores")
        found.append(f"Totals are {what}; {units} are drawn within each task.")
    return found


def _units(e: Any) -> list[str]:
    """Say what is drawn where that is not segments, and of how many runs scores are."""
    signature = Signature.of(e.signature)
    analysis, found = dict(signature.analysis), []
    within = f"within {analysis['strata']} strata" if "strata" in analysis else ""
    if e.unit != "segment":
        found.append(f"Whole {plural(e.unit)} are drawn{f' {within}' if within else ''}.")
    elif within:
        found.append(f"Segments are drawn {within}.")
    runs = [x.removeprefix("runs:") for x in signature.settings if x.startswith("runs:")]
    if e.run_error is not None and runs:
        found.append(
            f"Scores are means over {runs[0]} runs of each system, whose variance is part of every "
            f"error."
        )
    return found


def _judged(estimates: Sequence[Any]) -> list[str]:
    """Say that people's labels correct a judge's scores, of how many segments, with which λ."""
    signatures = [Signature.of(e.signature) for e in estimates]
    weights = [x for s in signatures for x in s.settings if x.startswith(_JUDGED)]
    if not weights:
        return []
    labels = [x for s in signatures for x in dict(s.analysis).get("labels", "").split(",") if x]
    people = f"people's labels of {_span(labels, ',.0f')} segments" if labels else "people's labels"
    # One that is not tuned is 1.
    shares = _span(re.findall(rf"{_JUDGED}:?([^,]*)", ",".join(weights)), ".2f")
    return [
        f"A judge's scores of all segments are corrected by {people} (prediction-powered "
        f"inference; Angelopoulos, Duchi and Zrnic, 2023), with λ = {shares}."
    ]


def _span(numbers: Sequence[str], form: str) -> str:
    """Return the only number, or the smallest and the largest.

    >>> _span(["120", "1000"], ",.0f"), _span(["0.348", "0.348"], ".2f")
    ('120 to 1,000', '0.35')
    """
    found = sorted(float(x or 1) for x in numbers)
    return " to ".join(distinct(format(x, form) for x in (found[0], found[-1])))


def _settings(e: Any) -> str:
    """Return the metric's own part of a signature, without its name and what a judge weighs."""
    settings = Signature.of(e.signature).settings
    return ", ".join(x for x in settings if not x.startswith(_JUDGED))


def _drawn(rows: Sequence[Any], comparison: Any = None) -> list[str]:
    """Say how intervals were made, with how many resamples, by which version."""
    level = f"{100 * rows[0].confidence_level:.10g} %"
    intervals = listed(distinct(_INTERVALS.get(row.method, row.method) for row in rows))
    if comparison is None:
        drawn = dict(pair for e in rows for pair in Signature.of(e.signature).analysis)
    else:
        drawn = {"n": str(comparison.n_resamples), "seed": str(comparison.seed)}
    # Counts and t are not drawn, whatever a signature says.
    if not any({row.method, getattr(row, "test", "")} & _DRAWN for row in rows):
        drawn = {}
    is_known = {"n", "seed"} <= drawn.keys()
    resamples = f" ({drawn['n']} resamples, seed {drawn['seed']})" if is_known else ""
    return [f"Intervals ({level}) are from {intervals}{resamples};", f"{DISTRIBUTION} {version()}."]
