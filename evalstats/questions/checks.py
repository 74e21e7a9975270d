"""One check of a system: what is asked, what the data show of it, and whether it passes.

`decide` is the only place where anything passes or fails: gates of one task or many, against a
baseline or a number, and looks at an evaluation that grows have their verdicts from it, whether
Python, pytest or the command line asks. A check passes on evidence alone: `RULES` are what a check
needs beside a small p-value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import numpy as np

from evalstats.analysis.options import Options
from evalstats.analysis.pairs import CLAIMS, PairTest
from evalstats.results import tabular
from evalstats.results.convert import one_of
from evalstats.results.records import Caution, Difference, barring, loss_claim

#: From the worst to the best: a gate is as good as its worst check. What is not asked is shown.
VERDICTS = ("failed", "undecided", "passed", "not asked")
Verdict = Annotated[str, one_of(VERDICTS)]
#: What a check is in JUnit's XML, where an error is neither a success nor a failure.
JUNIT = {"passed": "system-out", "failed": "failure", "not asked": "skipped"}


@dataclass(frozen=True)
class Evidence:
    """What decides a check.

    `passed` and `failed` are the one-sided p-values that what is asked holds, and that its opposite
    does, adjusted where several checks may fail; `None` where there is no test. Where no limit
    `is_presumed` to hold, it has to be shown; else what has not failed has passed. `waits` says why
    nothing can be decided yet, and `notes` are those of the numbers.
    """

    passed: float | None
    failed: float | None
    level: float
    is_presumed: bool = False
    waits: str = ""
    notes: Sequence[str] = ()


def numbers_are_valid(evidence: Evidence) -> str:
    """Return what makes the numbers invalid, and how to accept it; empty where nothing does."""
    caution = barring(evidence.notes)
    if caution is None:
        return ""
    return (
        f"{caution.said}; it passes only where {caution.kind!r} is among the changes that are "
        f"allowed"
    )


#: Influence values are rounding if they are smaller than so much of the score.
_NO_MOVE = 1e-12
#: A check can pass only if each of these finds nothing to say against it.
RULES: tuple[Callable[[Evidence], str], ...] = (numbers_are_valid,)


def decide(evidence: Evidence) -> tuple[str, str]:
    """Return "passed", "failed" or "undecided", and what bars a check that would pass; else "".

    >>> decide(Evidence(passed=0.01, failed=0.99, level=0.05))
    ('passed', '')
    >>> from evalstats.results.records import Caution
    >>> caution = Caution("20 of 200 items are left out.", "missing")
    >>> verdict, why = decide(Evidence(passed=0.01, failed=0.99, level=0.05, notes=[caution]))
    >>> verdict, why.split(";")[0]
    ('undecided', '20 of 200 items are left out')
    """
    passed, failed, level = evidence.passed, evidence.failed, evidence.level
    if evidence.waits:
        return "undecided", ""
    if failed is not None and failed <= level:
        return "failed", ""
    if evidence.is_presumed or (passed is not None and passed <= level):
        against = next(filter(None, (rule(evidence) for rule in RULES)), "")
        return "undecided" if against else "passed", against
    return "undecided", ""


#: The difference of a pair, and one-sided p-values that what is asked holds, and its opposite, of
#: this pair alone; `None` where there is no test.
Claim: TypeAlias = tuple[Difference, float | None, float | None]


def claim_of(pair: PairTest, task: str = "", total: str | None = None) -> Claim:
    """Return what a pair shows of its limit; without one, whether the system is better, or worse.

    The difference is that of a task, or of a total.
    """
    claims, level = pair.row, pair.options.significance_level
    # A pair alone needs no adjustment.
    alone = {f"{name}_adjusted": claims[name] for name in CLAIMS if name in claims}
    fields = {"task": task, "aggregate": total, **claims, **alone}
    if pair.options.is_limited:
        kept, equivalent = (claims.get(name) for name in CLAIMS)
        fields["claim"] = loss_claim(kept, equivalent, level)
    difference = Difference.made(fields, fields["pvalue"], level)
    if pair.options.is_limited:
        return difference, claims.get("pvalue_not_worse"), claims.get("pvalue_worse")
    better, worse = sides_of(pair.scores.higher_is_better)
    passed, failed = (pair.difference.pvalue(0, 0.0, side) for side in (better, worse))
    return difference, passed, failed


def evidence_cautions(pair: PairTest, asks_more: bool = False) -> Iterator[Caution]:
    """Yield why this pair could not have shown a loss, whatever the system's outputs are.

    A score of texts that is the same for every output measures nothing, and a baseline within the
    limit of the worst score that there is cannot be lost to. Where it is asked whether the system
    is better (`asks_more`), it need not be.
    """
    scores, options, name = pair.scores, pair.options, pair.scores.name
    base, new = (float(scores.value[i]) for i in (pair.a, pair.b))
    baseline, system = (scores.systems[i] for i in (pair.a, pair.b))
    higher = scores.higher_is_better
    low, high = scores.bounds
    if scores.outcomes is not None:
        low, high = 0.0, scores.outcomes.scale
    worst, best = (low, high) if higher else (high, low)
    metric = scores.strata[0].metric if scores.strata else None
    reads_text = metric is not None and metric.uses_references and metric.reads_text
    if reads_text and base == new != best and scores.influence is not None:
        moves = np.abs(scores.influence[[pair.a, pair.b]])
        if np.all(moves <= _NO_MOVE * max(abs(base), 1.0)):
            yield Caution(
                f"{name} is {base:.4g} for every output of {baseline} and of "
                f"{system}, so that nothing was measured.",
                "unmoved",
            )
            return
    lost = options.margin or 0.0
    if asks_more:
        return
    if base - lost <= worst if higher else base + lost >= worst:
        what = f"a loss of {lost:g} or more" if lost else "a loss"
        yield Caution(
            f"{name} of {baseline} is {base:.4g}: {what} cannot be seen there, since "
            f"no score is {'below' if higher else 'above'} {worst:g}.",
            "floor",
        )


def sides_of(higher_is_better: bool) -> tuple[str, str]:
    """Return the alternatives that a system is better, and that it is worse."""
    return ("greater", "less") if higher_is_better else ("less", "greater")


def one_sided(options: Options, level: float) -> Options:
    """Return options whose bounds are one-sided: each at the level by itself."""
    return replace(
        options, confidence_level=1 - 2 * level, adjustment="none", significance_level=level
    )


def test_name(pair: PairTest) -> str:
    """Return what the test of a check is called in signatures: of a limit Tango's."""
    test = str(pair.row["test"])
    return "tango" if pair.options.is_limited and test == "mcnemar" else test


def limit_of(margin: float | None, recovery: float | None, otherwise: str) -> str:
    """Return what is asked of a system, in words."""
    if margin is not None:
        return f"a loss of less than {margin:g}"
    return otherwise if recovery is None else f"at least {recovery:g} of the baseline"


def numbers_of(d: Difference, digits: int | None = None) -> list[str]:
    """Return the scores of baseline and system, their difference and its interval."""
    places = tabular.decimals([abs(d.high - d.low) / 4], digits)
    scores = [tabular.number(score, places) for score in (d.baseline_score, d.system_score)]
    difference = tabular.number(d.difference, places, sign=True)
    return [*scores, difference, tabular.interval(d.low, d.high, places, sign=True)]


#: A test case of JUnit's XML: class, name, verdict, which element that is, its text, and why.
JunitCase: TypeAlias = tuple[str, str, str, str, str, str]


def junit_text(d: Difference, limit: str) -> str:
    """Return what a test case says of a difference, and of the limit in words."""
    base, new, difference, bounds = numbers_of(d)
    scores = f"{d.system} {new}, {d.baseline} {base}"
    return f"{scores}, difference {difference} {bounds}, asked: {limit}"


def junit(cases: Sequence[JunitCase]) -> str:
    """Return JUnit's XML of a gate."""
    from xml.etree import ElementTree

    kinds = [kind for *_, kind, _, _ in cases]
    counts = {"tests": len(kinds), "failures": kinds.count("failure")}
    counts |= {"errors": kinds.count("error"), "skipped": kinds.count("skipped")}
    suite = ElementTree.Element("testsuite", {"name": "evalstats gate"})
    suite.attrib.update((name, str(count)) for name, count in counts.items())
    for classname, name, verdict, kind, text, message in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=name)
        inside = ElementTree.SubElement(case, kind)
        inside.text = text
        if kind != "system-out":
            inside.attrib.update(type=verdict, message=message)
    ElementTree.indent(suite)
    xml: str = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n'
