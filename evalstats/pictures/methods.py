"""The sentences for a paper's methods section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalstats.results import tabular
from evalstats.results.notes import TOTALS, WHOLE, span
from evalstats.results.records import Difference, distinct, listed, plural, whole_sizes
from evalstats.results.signatures import part_name
from evalstats.results.version import DISTRIBUTION, version

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate

_BOOTSTRAP = "the bootstrap with expanded percentiles (Hesterberg, 2015)"
_INTERVALS = {
    "bootstrap": _BOOTSTRAP,
    "percentile": "the percentile bootstrap (Efron, 1979)",
    "t": "Student's t from influence values",
    "wilson": "Wilson's score interval (1927)",
    "tango": "Tango's score interval (1998)",
    "cluster-t": "the cluster t interval, with Tango's variance (1998) of unseen changes",
    "miettinen-nurminen": "the score interval of Miettinen and Nurminen (1985)",
}
_TESTS = {
    "bootstrap": "the paired bootstrap (Koehn, 2004), with p the smallest α for which the 1 - α "
    "interval excludes the null value",
    "t": "a paired t test on influence values",
    "ar": "approximate randomisation (Noreen, 1989)",
    "mcnemar": "McNemar's test (1947; Tango, 1998)",
    "cluster-t": "the cluster t test",
    "miettinen-nurminen": "the score test of Miettinen and Nurminen (1985)",
}
_DRAWN = {"bootstrap", "percentile", "ar"}
_ADJUSTMENTS = {
    "max-t": "step-down max-T (Romano and Wolf, 2005)",
    "holm": "Holm's method (1979)",
    "benjamini-hochberg": "the method of Benjamini and Hochberg (1995)",
}
#: Sentences on the pairing of systems, by the signature, if not by segments only.
_PAIRED = {
    "no": "Each system has its own {units}, which are resampled separately (Welch, 1947).",
    "runs": "Runs with the same number share a prompt or seed and are resampled together.",
}
#: Prefix of the weight of a judge in settings of metrics.
_JUDGED = "judged:ppi"


def methods_section(estimates: Sequence[Estimate], c: Comparison | None = None) -> str:
    """Return what was scored or compared, on what data, with which test and intervals."""
    sentences, drawn = _scored(estimates), _drawn(estimates, c)
    if c is None:
        return " ".join(["Systems were scored by", *sentences, *drawn])
    tests = listed(distinct(_TESTS[d.test] for d in c.differences if d.test in _TESTS))
    paired = c.signatures[0].analysis.get("paired")
    if paired == "no":
        tests = tests.replace("the paired bootstrap", "the bootstrap")
        tests = tests.replace("a paired t", "Welch's t")
    if paired in _PAIRED:
        sentences.append(_PAIRED[paired].format(units=plural(estimates[0].unit)))
    side = "Two-sided" if c.alternative == "two-sided" else f"One-sided ({c.alternative})"
    sentences.append(f"{side} p-values come from {tests}.")
    claims = ""
    if c.adjustment in _ADJUSTMENTS and any(c.adjusted.n_compared(d) > 1 for d in c.differences):
        part = part_name(estimates)
        over = f" within each {part} and Holm's method (1979) over {plural(part)}"
        over = over if c.adjustment == "max-t" and len(c.tasks) > 1 else ""
        within_metrics = "" if c.adjusted.is_over_metrics else " for each metric"
        how = f"for all comparisons{within_metrics} by {_ADJUSTMENTS[c.adjustment]}{over}"
        sentences.append(f"They are adjusted {how}.")
        # Max-T is about differences from 0.
        how = "holm" if c.adjustment == "max-t" else c.adjustment
        claims = f", adjusted for all comparisons by {_ADJUSTMENTS[how]}"
    else:
        sentences.append("They are not adjusted for multiple comparisons.")
    sentences.append(f"We call p ≤ {c.significance_level:g} significant.")
    for name, limit in (("margin", c.margin), ("recovery", c.recovery)):
        if limit is not None:
            said = f"Non-inferiority within a {name} of {limit:g} is tested one-sided (Schuirmann, "
            sentences.append(f"{said}1987; Blackwelder, 1982){claims}.")
    return " ".join(["Systems were compared by", *sentences, *drawn])


def _scored(estimates: Sequence[Estimate]) -> list[str]:
    """Return the metrics, the data, and the units if they are not segments."""
    rows = [e for e in estimates if e.aggregate is None]
    signatures = {e.metric: e.signature for e in rows}
    names = []
    for name, signature in signatures.items():
        # The weight of a judge has its own sentence.
        parts = ", ".join(x for x in signature.settings if not x.startswith(_JUDGED))
        names.append(f"{name} ({parts})" if parts else name)
    tasks, first = distinct(e.task for e in rows), rows[0]
    if len(tasks) < 2:
        said, analysis = [f"{listed(names)} on {whole_sizes(rows)}."], signatures[first.metric]
        strata = analysis.analysis.get("strata")
        within = f" within {strata} strata" if strata else ""
        labels = analysis.analysis.get("unit", "").split("+")
        if len(labels) > 1:
            said.append(
                f"Standard errors account for {listed([plural(x) for x in labels])} (Cameron, "
                "Gelbach and Miller, 2011)."
            )
        elif first.unit != first.segment or within:
            whole = "Whole " if first.unit != first.segment else ""
            what = f"{whole}{plural(first.unit)} are resampled{within}."
            said.append(what[0].upper() + what[1:])
        runs = analysis.setting("runs")
        if first.run_error is not None and runs:
            said.append(
                f"Scores are means over {runs} runs of each system, and every standard error "
                f"includes the variance between runs."
            )
        return [*said, *_judged(rows)]
    units = listed(distinct(plural(e.unit) for e in rows))
    shared = [e.n_segments for e in estimates if e.aggregate == WHOLE]
    n = shared[0] if shared else sum({e.task: e.n_segments for e in rows}.values())
    part = part_name(rows)
    kinds = plural(part)
    said = [f"{listed(names)} on {len(tasks)} {kinds} with {n:,} {units} in all.", *_judged(rows)]
    totals = distinct(e.aggregate for e in estimates if e.aggregate is not None)
    if totals:
        what = TOTALS.get(totals[0], f"{totals[0]} of the {{kind}} scores")
        how = "whole" if totals[0] == WHOLE else f"within each {part}"
        what = what.format(kind=part, kinds=kinds)
        said.append(f"Totals are {what}, and {units} are resampled {how}.")
    return said


def _judged(estimates: Sequence[Estimate]) -> list[str]:
    """Return that human labels correct a judge's scores, with their number and λ."""
    signatures = [e.signature for e in estimates]
    weights = [x for s in signatures for x in s.settings if x.startswith(_JUDGED)]
    if not weights:
        return []
    labels = [x for s in signatures for x in s.analysis.get("labels", "").split(",") if x]
    units = plural(estimates[0].segment)
    people = f" of {span(list(map(float, labels)), ',.0f')} {units}" if labels else ""
    # The weight is 1 if not tuned.
    shares = re.findall(rf"{_JUDGED}:?([^,]*)", ",".join(weights))
    whose = "Judges'" if any("+" in x for x in shares) else "A judge's"
    factors = [float(one or 1) for x in shares for one in x.split("+")]
    return [
        f"{whose} scores of all {units} are corrected by human labels{people} "
        f"(prediction-powered inference; Angelopoulos, Duchi and Zrnic, 2023), with λ = "
        f"{span(factors, '.2f')}."
    ]


def _drawn(estimates: Sequence[Estimate], c: Comparison | None = None) -> list[str]:
    """Return how intervals were made, with the number of resamples and the version."""
    rows: list[Estimate | Difference] = [*estimates, *(c.differences if c else ())]
    level = tabular.level(estimates[0].confidence_level).removesuffix(" interval")
    intervals = listed(distinct(_INTERVALS.get(row.method, row.method) for row in rows))
    if c is None:
        drawn = dict(pair for e in estimates for pair in e.signature.analysis.items())
    else:
        drawn = {"n": str(c.n_resamples), "seed": str(c.seed)}
    # Counts and t are not drawn, even if the signature has a number.
    ways = {row.method for row in rows} | {d.test for d in (c.differences if c else ())}
    is_drawn = bool(ways & _DRAWN) and {"n", "seed"} <= drawn.keys()
    resamples = f" ({drawn['n']} resamples, seed {drawn['seed']})" if is_drawn else ""
    return [
        f"Intervals ({level}) come from {intervals}{resamples}.",
        f"{DISTRIBUTION} {version()}.",
    ]
