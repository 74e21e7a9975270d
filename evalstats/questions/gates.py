"""Gates: whether a model can replace another, or whether its score reaches a fixed number.

Each task and metric has a `GateCheck`; a `Gate` is as good as its worst check, also as JUnit's XML.
`decide` makes all decisions: for gates of one task or many, against a baseline or a number, and for
looks at a growing evaluation, from Python, pytest or the command line. A check passes only on
evidence: `RULES` are the conditions besides a small p-value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Annotated, TypeAlias

from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.estimate import (
    estimates_of,
    in_other_units,
    limits_of,
    result_signature,
)
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import CLAIMS, PairTest
from evalstats.analysis.scores import Scores, drawn, refuse_fixed
from evalstats.analysis.suite import Groups, Suite, Tables
from evalstats.analysis.tasks import Part, Task, Total, as_decided, as_pairs
from evalstats.checks import choice, share
from evalstats.designs.samples import (
    NO_LOSS,
    PAIR,
    Bound,
    OneSample,
    ShareAgainst,
    limit_of,
    missing_cautions,
    refuse_constant,
    required,
)
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.inference.families import holm
from evalstats.questions.needed import needed_of
from evalstats.results import files, tabular
from evalstats.results.convert import Count, Level, Share, Size, Whole, one_of
from evalstats.results.forms import Finding, Several
from evalstats.results.layout import gained_lost
from evalstats.results.notes import Facts, Limits, notes_of
from evalstats.results.records import (
    CAUTION,
    COUNTED,
    KINDS,
    Caution,
    Difference,
    Record,
    accepting,
    barring,
    capital,
    loss_claim,
    metric_name,
    only,
    plural,
)
from evalstats.results.signatures import Signature, part_name
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    from typing_extensions import Self

    from evalstats.pictures.marks import Forest

#: From worst to best: a gate is as good as its worst check. Checks that are "not asked" are only
#: shown.
VERDICTS = ("failed", "undecided", "passed", "not asked")
Verdict = Annotated[str, one_of(VERDICTS)]
#: Verdicts in JUnit's XML; an error is neither a success nor a failure.
JUNIT = {"passed": "system-out", "failed": "failure", "not asked": "skipped"}


@dataclass(frozen=True)
class Evidence:
    """The evidence for deciding a check.

    `passed` and `failed` are the one-sided p-values of the requirement and of its opposite,
    adjusted if several checks may fail; `None` if there is no test. The requirement must be shown,
    unless it `is_presumed`; then a check that has not failed has passed. `waits` is the reason why
    nothing can be decided yet, and `notes` are the notes on the numbers.
    """

    passed: float | None
    failed: float | None
    level: float
    is_presumed: bool = False
    waits: str = ""
    notes: Sequence[str] = ()


def numbers_are_valid(evidence: Evidence) -> str:
    """Return why the numbers may be invalid, and how to accept it, or ""."""
    caution = barring(evidence.notes)
    if caution is None:
        return ""
    return (
        f"{caution.said}. To accept this, pass --allow-changes {caution.kind} (in Python, "
        f"allow_changes={caution.kind!r})"
    )


#: A standard error below this share of the score is rounding.
_NO_MOVE = 1e-12
#: A check can pass only if all of these return "".
RULES: tuple[Callable[[Evidence], str], ...] = (numbers_are_valid,)


def decide(evidence: Evidence) -> tuple[str, str]:
    """Return "passed", "failed" or "undecided", and what bars a check that would pass, or "".

    >>> decide(Evidence(passed=0.01, failed=0.99, level=0.05))
    ('passed', '')
    >>> from evalstats.results.records import Caution
    >>> caution = Caution("20 of 200 items are left out.", "missing")
    >>> verdict, why = decide(Evidence(passed=0.01, failed=0.99, level=0.05, notes=[caution]))
    >>> verdict, why.split(".")[0]
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


#: The difference of a pair, and the one-sided p-values of the requirement and of its opposite, for
#: this pair only; `None` if there is no test.
Claim: TypeAlias = tuple[Difference, float | None, float | None]


def claim_of(pair: PairTest, task: str = "", total: str | None = None) -> Claim:
    """Return the evidence of a pair about its limit; without one, on being better or worse.

    The difference is for a task, or for a total.
    """
    claims, level = pair.row, pair.options.significance_level
    # A single pair needs no adjustment.
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
    """Yield reasons why this pair could not have shown a loss, for any outputs of the system.

    A score that is the same for every output measures nothing, unless it is the best possible
    score, and no loss is possible from a baseline within the limit of the worst score. The second
    does not apply if the question is whether the system is better (`asks_more`).
    """
    scores, options, name = pair.scores, pair.options, pair.scores.name
    base, new = (float(scores.value[i]) for i in (pair.a, pair.b))
    baseline, system = (scores.systems[i] for i in (pair.a, pair.b))
    higher = scores.higher_is_better
    worst, best = scores.ends if higher else scores.ends[::-1]
    errors = [scores.spreads[i].error for i in (pair.a, pair.b)]
    if base == new != best and all(error <= _NO_MOVE * max(abs(base), 1.0) for error in errors):
        yield Caution(
            f"{name} is {base:.4g} for every output of {baseline} and {system}, so nothing was "
            "measured.",
            "unmoved",
        )
        return
    if asks_more:
        return
    lost, kept = options.margin or 0.0, options.recovery
    if kept is not None and not higher:
        lost = (1 / kept - 1) * base
    if base - lost <= worst if higher else base + lost >= worst:
        what = f"a loss of {lost:.6g} or more" if lost else "a loss"
        why = f"no score is {'below' if higher else 'above'} {worst:g}"
        if scores.empty_score is not None:
            why = f"empty outputs score {worst:g}"
        yield Caution(
            f"{name} of {baseline} is {base:.4g}, so {what} is impossible ({why}).",
            "floor",
        )


def out_of_reach(pair: PairTest, bound: Bound | None) -> Iterator[str]:
    """Yield that no outcome of so few 0/1 scores passes a number, and how many would do.

    All right, at n items, are (1 - p)/√(p(1 - p)/n) errors above a number p.
    """
    counts, scores, level = pair.counts, pair.scores, pair.options.significance_level
    if bound is None or not isinstance(counts, ShareAgainst):
        return
    odds = counts.number / (1 - counts.number)
    least = student.quantile(counts.degrees, 2 * level) ** 2 * (
        odds if bound.is_least else 1 / odds
    )
    if least > counts.of.n:
        units, needed = plural(scores.units.unit), ceil(least * scores.units.n / counts.of.n)
        yield (
            f"{scores.name}: with {scores.units.n:,} {units}, even the best possible score would "
            f"not pass ({bound.asked}, level {level:g}). At least {needed:,} are needed."
        )


def given_apart(
    baseline: Sequence[SegmentStatistics], system: Sequence[SegmentStatistics]
) -> list[SegmentStatistics]:
    """Return the tables of two systems given separately, under different names."""
    for argument, tables in (("hypotheses", system), ("baseline", baseline)):
        if len(tables[0].systems) != 1:
            names = list(tables[0].systems)
            raise InputError(f"must contain a single system, got {names}", argument=argument)
    name = baseline[0].systems[0]
    if system[0].systems == (name,):
        baseline = [replace(table, systems=(f"{name} (baseline)",)) for table in baseline]
    return [*baseline, *system]


def sides_of(higher_is_better: bool) -> tuple[str, str]:
    """Return the alternatives that a system is better, and that it is worse."""
    return ("greater", "less") if higher_is_better else ("less", "greater")


def one_sided(options: Options, level: float) -> Options:
    """Return options with one-sided bounds, each at the level."""
    return replace(
        options, confidence_level=1 - 2 * level, adjustment="none", significance_level=level
    )


def test_name(pair: PairTest) -> str:
    """Return the name of a check's test in signatures; with a limit Tango's."""
    test = str(pair.row["test"])
    return "tango" if pair.options.is_limited and test == "mcnemar" else test


def numbers_of(d: Difference, digits: int | None = None) -> list[str]:
    """Return the scores of baseline and system, their difference and its interval."""
    places = tabular.decimals([abs(d.high - d.low) / 4], digits)
    scores = [tabular.number(score, places) for score in (d.baseline_score, d.system_score)]
    difference = tabular.number(d.difference, places, sign=True)
    return [*scores, difference, tabular.interval(d.low, d.high, places, sign=True)]


def junit_text(d: Difference, limit: str) -> str:
    """Return the text of a test case: a difference, and the limit in words."""
    base, new, difference, bounds = numbers_of(d)
    scores = f"{d.system} {new}, {d.baseline} {base}"
    return f"{scores}, difference {difference} {bounds}, {limit}"


#: Values of the options on what must pass, and on undecided gates.
ASKED = ("all", "total")
UNDECIDED = ("pass", "fail")
#: An undecided gate: its exit code, and in JUnit's XML; 2 is bad input.
_UNDECIDED = {None: (3, "error"), "pass": (0, "skipped"), "fail": (1, "failure")}
#: The note of a gate without a limit.
_WITHOUT_LIMIT = (
    'If you set neither a margin nor a recovery, "passed" only means that no loss was found. '
    "A small test set rarely reveals one."
)
#: The requirement for each check with a limit, and without one.
_WITHIN = "within the limit"
#: Checks with a finding each; of more there is a finding per verdict.
_EACH = 4
#: Target power.
_POWER = 0.8
_SHOWN = {"passed": "shows that the true score is", "failed": "shows that the true score is not"}


@dataclass(frozen=True)
class GateCheck(Record):
    """One task and metric, or the total, with its requirement and verdict.

    Attributes
    ----------
    difference : Difference
        System minus baseline, which may be a number; each bound has a one-sided confidence of 1 -
        `significance_level`.
    asked : str
        What must be shown to pass: "within the limit", or for a number "at least 0.9". Without a
        limit it is "no significant loss", and nothing has to be shown.
    verdict : {"passed", "failed", "undecided", "not asked"}
        "passed" or "failed" if the data show the requirement or its opposite; without a limit,
        "failed" if they show a loss. If only the totals must pass, tasks are "not asked".
    pvalue_passed, pvalue_failed : float or None
        One-sided p-values of the requirement and of its opposite, for this check only. `None` if
        there is no test.
    pvalue_failed_adjusted, n_checks : float or None, int
        The second, adjusted by Holm's method (1979) for all checks of the gate, because any one of
        them makes it fail. To pass, all checks must pass, which needs no adjustment (Berger, 1982).
        `None` also for checks that are not asked.
    n_items, unit : int, str
        Number of units compared, and the name of a unit, as in `Estimate`.
    needed : int or None
        About how many units are needed so that a system without a loss, or with this true
        score, passes 80% of the time; `None` if unknown.
    significance_level, signature : float, str
        Level of the gate, and signature of these numbers.
    barred : str
        The reason why numbers that pass may be invalid and the check is undecided, or empty.

    Examples
    --------
    >>> import evalstats as es
    >>> old, new = [3.0, 4, 5, 4, 3, 5], [3.1, 4.1, 5, 4.1, 2.9, 5]
    >>> (check,) = es.gate(new, old, metrics=es.Mean("quality"), margin=0.5)
    >>> check.name, check.verdict, check.n_items
    ('quality', 'passed', 6)
    >>> (check,) = es.gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9)
    >>> check.verdict, check.score, check.low > 0.9
    ('passed', 0.97, True)
    """

    difference: Difference
    asked: str
    verdict: Verdict
    pvalue_passed: Share | None
    pvalue_failed: Share | None
    pvalue_failed_adjusted: Share | None
    n_checks: Count
    n_items: Count
    unit: str
    needed: Whole | None
    significance_level: Level
    signature: Signature
    barred: str = ""

    derived = ("reason",)

    @property
    def task(self) -> str:
        """That of the difference."""
        return self.difference.task

    @property
    def metric(self) -> str:
        """That of the difference."""
        return self.difference.metric

    @property
    def name(self) -> str:
        """Metric and task: "reward on airline"."""
        return f"{self.metric} on {self.task}" if self.task else self.metric

    def __bool__(self) -> bool:
        """Return whether the check has passed."""
        return self.verdict == "passed"

    @property
    def score(self) -> float:
        """That of the system."""
        return self.difference.system_score

    @property
    def low(self) -> float:
        """Lower bound of the score, for a baseline that is a number."""
        return self.difference.baseline_score + self.difference.low

    @property
    def high(self) -> float:
        """Upper bound of the score."""
        return self.difference.baseline_score + self.difference.high

    @property
    def is_measured(self) -> bool:
        """Whether the data could decide it: nothing bars it, and there is a test."""
        return not self.barred and self.pvalue_failed is not None

    @property
    def reason(self) -> str:
        """Why it has not passed, in a sentence; empty if it has."""
        alone, adjusted = self.pvalue_failed, self.pvalue_failed_adjusted
        if self.verdict in ("passed", "not asked"):
            return ""
        if self.barred:
            return f"the numbers would pass, but they may be invalid. {self.barred}"
        if alone is None or adjusted is None:
            return self.difference.unanswered(self.unit)
        among = f" after Holm's adjustment for {self.n_checks} checks" if self.n_checks > 1 else ""
        units = plural(self.unit)
        near = f"the score is too uncertain. Use more {units}"
        beyond, able = f"the score is not {self.asked}", "a system with this true score"
        if self.asked in (_WITHIN, NO_LOSS):
            what = "larger than the limit" if self.asked == _WITHIN else "significant"
            beyond, able = f"the loss is {what}", "a system with no loss"
            near = f"the difference is too uncertain. Use more {units}"
            near += ", or more runs if there are several"
        if self.verdict == "failed":
            return f"{beyond} ({self._p(adjusted)}{among})"
        if alone <= self.significance_level:
            p = self._p(adjusted)
            return f"alone, this check would fail ({self._p(alone)}), but not{among} ({p})"
        if self.needed is None or self.needed <= self.n_items:
            return near
        return f"with about {self.needed:,} {units}, {able} would pass 80% of the time"

    def _p(self, pvalue: float) -> str:
        return tabular.p_is(pvalue, self.significance_level)

    @property
    def why(self) -> str:
        """The reason, with the p-value of the requirement that was not shown."""
        if self.verdict != "undecided" or self.pvalue_passed is None or self.barred:
            return self.reason
        what = "loss is" if self.asked == _WITHIN else "true score is"
        p = self._p(self.pvalue_passed)
        return f"we could not show that the {what} {self.asked} ({p}). {capital(self.reason)}"

    def decided(self, notes: Sequence[str] = ()) -> GateCheck:
        """Return the check with its verdict, given notes on its numbers."""
        if self.verdict == "not asked":
            return self
        verdict, barred = decide(
            Evidence(
                passed=self.pvalue_passed,
                failed=self.pvalue_failed_adjusted,
                level=self.significance_level,
                is_presumed=self.asked == NO_LOSS,
                notes=notes,
            )
        )
        return replace(self, verdict=verdict, barred=barred)

    def _check(self) -> None:
        expected = self.decided().verdict if self.verdict != "not asked" else "not asked"
        if self.barred and expected == "passed":
            expected = "undecided"
        if self.verdict != expected:
            raise InputError(
                f"verdict contradicts its p-values and level, which result in {expected!r}"
            )
        shown = self.difference.pvalue_not_worse, self.difference.pvalue_worse
        if self.asked == _WITHIN and (self.pvalue_passed, self.pvalue_failed) != shown:
            raise InputError("pvalue_passed and pvalue_failed must be those of the difference")

    def _title(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Gate(Several[GateCheck]):
    """Whether a system can replace its baseline, or whether its scores reach a number.

    Iterating yields `GateCheck`. A system whose true score is the number passes in about 5%: of 0/1
    scores in .000 to .058 (all outcomes of 30, 100 and 1,000 items, numbers .5, .9 and .99), of
    means of 30 or 100 scores (normal, uniform, scores from 1 to 5, beta, exponential towards the
    worst score) in .039 to .065, and of lognormal scores towards the worst score in .095 and .078.
    If one item in 20 or in 50 has a far lower score than all others, a small sample may not contain
    any such item, and more systems pass: .21 to .30 with 30 items, and .03 to .12 with 100 items.

    Attributes
    ----------
    checks : tuple of GateCheck
        Checks of each task and metric, and then of the totals.
    margin : float or None
        The loss that is too large, in points of each metric.
    recovery : float or None
        Instead of a margin: the share of the baseline's score to keep. Both are `None` for
        `assert_not_worse` without a limit, and for a number.
    significance_level : float
        The largest probability to pass wrongly, and to fail wrongly.
    notes : tuple of str
        What was left out of the logs, and other notes on the numbers.
    undecided : {"pass", "fail"} or None
        What an undecided gate counts as; by default neither. A gate that is barred by a caution, or
        has no test, never counts as passed.
    bound : str or None
        The requirement for one system's scores, "at least 0.9"; `None` for two systems.

    Examples
    --------
    >>> import evalstats as es
    >>> old, new = [3.0, 4, 5, 4, 3, 5], [3.1, 4.1, 5, 4.1, 2.9, 5]
    >>> gate = es.gate(new, old, metrics=es.Mean("quality"), margin=0.5)
    >>> gate.verdict, gate.exit_code
    ('passed', 0)
    >>> gate = es.gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9)
    >>> gate.verdict, gate.asked
    ('passed', 'at least 0.9')
    """

    checks: tuple[GateCheck, ...]
    margin: Size | None
    recovery: Level | None
    significance_level: Level
    notes: tuple[str, ...] = ()
    undecided: Annotated[str, one_of(UNDECIDED)] | None = None
    bound: str | None = None

    derived = ("verdict", "asked")

    @property
    def verdict(self) -> str:
        """The worst of the checks: "failed" before "undecided" before "passed"."""
        asked = [check.verdict for check in self.checks if check.verdict != "not asked"]
        return min(asked, key=VERDICTS.index)

    @property
    def asked(self) -> str:
        """The requirement for each check, in words: "a loss of less than 0.5"."""
        return limit_of(self.margin, self.recovery, self.bound or NO_LOSS)

    @property
    def exit_code(self) -> int:
        """0 for passed, 1 for failed, 3 for undecided unless it counts as one of the others.

        A gate that is undecided because nothing was measured never counts as passed.
        """
        codes = {"passed": 0, "failed": 1, "undecided": _UNDECIDED[self._counted_as()][0]}
        return codes[self.verdict]

    def __bool__(self) -> bool:
        """Return whether the exit code is 0, so that ``assert es.gate(...)`` is a test."""
        return self.exit_code == 0

    def _counted_as(self, *checks: GateCheck) -> str | None:
        """Return what undecided checks (by default all) count as, or `None`."""
        is_one_empty = any(
            check.verdict == "undecided" and not check.is_measured
            for check in checks or self.checks
        )
        return None if self.undecided == "pass" and is_one_empty else self.undecided

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why checks have not passed, one sentence per check, failures first."""
        worst = sorted(self.checks, key=lambda check: VERDICTS.index(check.verdict))
        return tuple(f"{c.name}: {c.verdict}. {capital(c.why)}." for c in worst if c.reason)

    def noting(self, *notes: str) -> Self:
        """Return the gate with notes before its own; cautions bar checks that passed.

        A barred check is undecided.
        """
        made = super().noting(*notes)
        return replace(made, checks=tuple(check.decided(made.notes) for check in made.checks))

    @property
    def _interval(self) -> str:
        """The name of intervals; each bound may be wrong at the gate's level."""
        return tabular.level(1 - 2 * self.significance_level)

    def _forest(self, at: int) -> Forest:
        """Return the difference of each check, or its score and the number."""
        from evalstats.pictures.marks import Forest, Limit, Mark, of_differences

        kinds = [KINDS.get(check.verdict, "open") for check in self.checks]
        first = self.checks[0].difference
        if self.bound is None:
            limit = Limit(self.margin, self.recovery, of_loss=True)
            differences = [check.difference for check in self.checks]
            return of_differences(differences, kinds, at, self._interval, limit)
        number, inf = first.baseline_score, float("inf")
        limits = (number, inf) if first.higher_is_better else (-inf, number)
        marks = []
        for c, kind in zip(self.checks, kinds, strict=True):
            is_total = c.difference.aggregate is not None
            marks.append((Mark(c.score, c.low, c.high, kind, is_total, limits),))
        limit = Limit(asked=self.bound)
        return Forest(tuple(marks), at, f"score, {self._interval}", null=number, limit=limit)

    @property
    def _is_long(self) -> bool:
        return self.checks[0].n_checks > _EACH

    def _findings(self) -> list[Finding]:
        from evalstats.pictures.findings import checks_together

        return checks_together(self) if self._is_long else super()._findings()

    def _finding(self, row: GateCheck) -> Finding | None:
        """Return the difference or score of a check, with its interval, and the conclusion."""
        if row.verdict == "not asked":
            return None
        said = self._score_said(row) if self.bound else self._loss_said(row)
        why, is_said = row.reason, bool(self.bound) and row.verdict == "failed"
        lines = [f"{capital(why)}."] if why and not is_said else []
        return Finding(f"{row.name}: {row.verdict}. {said}", KINDS.get(row.verdict, "open"), lines)

    def _score_said(self, row: GateCheck) -> str:
        """Return the score of a check with its interval, and the conclusion."""
        places = tabular.decimals([(row.high - row.low) / 4])
        score, low, high = (tabular.number(x, places) for x in (row.score, row.low, row.high))
        said = f"The score is {score} ({self._interval} {low} to {high})"
        if row.verdict == "undecided" and not row.barred:
            return f"{said}, so the true score could still be {self._open_to(row)}."
        return said + ("." if row.barred else f", which {_SHOWN[row.verdict]} {row.asked}.")

    def _open_to(self, row: GateCheck) -> str:
        """Return where else the true score may be: on the other side of the number."""
        number, higher = row.difference.baseline_score, row.difference.higher_is_better
        is_good = row.score >= number if higher else row.score <= number
        return f"{'below' if higher else 'above'} {number:.10g}" if is_good else row.asked

    def _loss_said(self, row: GateCheck) -> str:
        """Return the difference of a check with its interval, and the allowed loss."""
        d = row.difference
        loss, worst = (-d.difference, -d.low) if d.higher_is_better else (d.difference, d.high)
        places = tabular.decimals([abs(d.high - d.low) / 4])
        change = "did not change"
        if loss:
            change = f"{'lost' if loss > 0 else 'gained'} {tabular.number(abs(loss), places)}"
        low, high = (tabular.number(x, places, sign=True) for x in (d.low, d.high))
        said = f"{d.system} {change} ({self._interval} of the difference: {low} to {high})"
        if row.asked == NO_LOSS or row.barred or row.pvalue_passed is None:
            return said
        limit = (
            f"{self.margin:g}"
            if self.recovery is None
            else (f"{100 * (1 - self.recovery):.6g}% of the baseline")
        )
        p, open_to = row._p(row.pvalue_passed), f"a loss of up to {tabular.number(worst, places)}"
        against = {
            "passed": f"so a loss of {limit} or more is ruled out",
            "failed": f"which is more than the limit of {limit}",
            "undecided": f"but {open_to} cannot be ruled out (the limit is {limit}; {p})",
        }
        return f"{said}, {against[row.verdict]}"

    def describe(self) -> str:
        """Return the sentences for a paper's methods section."""
        if self.margin is None and self.recovery is None:
            return ""
        return (
            f"A check passes if a one-sided test at level {self.significance_level:g} shows that "
            "the loss is below the limit (Schuirmann, 1987), and fails if a test adjusted for all "
            "checks (Holm, 1979) shows that the loss is larger."
        )

    def to_junit(self) -> str:
        """Return JUnit's XML, one test case per check.

        The text of each includes cautions. Failed checks are failures. Undecided checks are errors,
        but skipped if an undecided gate counts as passed, and failures if it counts as failed.
        Checks that are not asked are skipped. So there is a failure or an error exactly if
        `exit_code` is not 0.
        """
        cautions = [note for note in self.notes if note.startswith(CAUTION)]
        cases = []
        for check in self.checks:
            said = junit_text(check.difference, required(self.margin, self.asked))
            if self.bound is not None:
                scores = " ".join(_shown(check))
                said = f"{check.difference.system} {scores}, required: {self.bound}"
            kinds = {**JUNIT, "undecided": _UNDECIDED[self._counted_as(check)][1]}
            case = check.task or "evalstats", check.metric, check.verdict, kinds[check.verdict]
            text = "\n".join([said, *cautions])
            cases.append((*case, text, check.why or "only the total must pass"))
        return files.as_junit(cases)

    def _columns(self, digits: int | None) -> list[Column]:
        """Return the columns of the numbers of a check."""
        if self.bound is not None:
            return [
                ("score", ">", lambda c: _shown(c, digits)[0]),
                (f"[{self._interval}]", ">", lambda c: _shown(c, digits)[1]),
                (
                    "p to pass",
                    ">",
                    lambda c: tabular.pvalue(c.pvalue_passed, self.significance_level, digits),
                ),
            ]

        def number(i: int, check: GateCheck) -> str:
            return numbers_of(check.difference, digits)[i]

        names = enumerate(("base", "new", "difference", self._interval))
        columns: list[Column] = [(name, ">", partial(number, i)) for i, name in names]
        if any(check.difference.gained is not None for check in self.checks):
            columns.append(("gained, lost", ">", lambda c: gained_lost(c.difference)))
        return columns

    def _tables(self, digits: int | None = None) -> list[Table]:
        units = plural(only((check.unit for check in self.checks), "unit"))
        columns: list[Column] = [
            ("metric", "<", lambda c: metric_name(c.difference)),
            (units, ">", lambda c: f"{c.n_items:,}"),
            *self._columns(digits),
            ("verdict", "<", lambda c: c.verdict),
        ]
        if any(check.task for check in self.checks):
            columns.insert(0, (part_name(self.checks), "<", lambda c: c.task))
        of_total = any(c.verdict == "not asked" for c in self.checks)
        counted = self._counted_as() if self.verdict == "undecided" else None
        verdict = self.verdict.upper() + (f" (counts as {counted}ed)" if counted else "")
        d = self.checks[0].difference
        who = d.system if self.bound else f"{d.system} against {d.baseline}"
        asked = required(self.margin, self.asked, of_total)
        title = f"{verdict}: {who} ({asked}; level {self.significance_level:g})"
        n_totals = sum(check.difference.aggregate is not None for check in self.checks)
        at = [name for name, *_ in columns].index("score" if self.bound else "difference")
        spare, draw = ("gained, lost", units), partial(self._forest, at)
        last = () if self.bound else (at - 2, at - 1)
        return [table_of(title, self.checks, columns, (), n_totals, (), spare, draw, (), last)]

    def _headline(self) -> str:
        """Return the question and the answer."""
        d = self.checks[0].difference
        question = f"May {d.system} replace {d.baseline}?"
        if self.bound is not None:
            question = f"Is the score of {d.system} {self.bound}?"
        return f"{question} {self.verdict.capitalize()}"

    def _below(self, verbose: bool = False, findings: bool = False) -> tuple[list[str], list[str]]:
        """Return all reasons (for readers of a build's log), then notes.

        If there are many checks, findings take the place of the reasons.
        """
        notes, signatures = super()._below(verbose, findings)
        reasons = () if findings and self._is_long and not verbose else self.reasons
        return [*reasons, *notes], signatures

    def _signatures(self) -> Sequence[str]:
        return [check.signature for check in self.checks]


def _shown(check: GateCheck, digits: int | None = None) -> tuple[str, str]:
    """Return the score and its interval as they are printed."""
    places = tabular.decimals([(check.high - check.low) / 4], digits)
    return tabular.number(check.score, places), tabular.interval(check.low, check.high, places)


def gated(
    tasks: Tables,
    baseline: str,
    options: Options,
    *,
    bound: Bound | None = None,
    significance_level: float = 0.05,
    on: str = "all",
    undecided: str | None = None,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    notes: Sequence[str] = (),
    accepted: Sequence[str] = (),
    paired: bool = True,
) -> Gate:
    """Run `evalstats.gate` on tables of two systems, or of one system and a number.

    Without a limit it fails if a loss is significant, and passes otherwise. Cautions of the
    `accepted` kinds do not bar checks.
    """
    if undecided is not None:
        choice(undecided, UNDECIDED, "undecided")
    level = share(significance_level, "significance_level", 0.5)
    is_of_totals = choice(on, ASKED, "on") == "total" and len(tasks) > 1
    options = one_sided(options, level)
    for tables in tasks.values():
        options = as_decided(tables, options)
    suite = Suite.of(tasks, aggregate, groups, strata, paired=paired)
    if bound is None and len(suite.systems) != 2:
        raise InputError(f"a gate compares one system with one baseline, got {list(suite.systems)}")
    if bound is not None and len(suite.systems) != 1:
        raise InputError(
            f"compares a single system with a number, got {', '.join(suite.systems)}; choose one",
            argument=bound.argument,
        )
    if is_of_totals and all(part.total is None for part in suite.parts):
        raise InputError(
            Argument("on", "total"),
            f" requires a total, but there is none over {', '.join(tasks)}; pass ",
            Argument("aggregate", "macro"),
        )
    pairs: list[tuple[Part, PairTest]] = []
    limits: list[Limits] = []
    for part in suite.parts:
        if bound is None:
            ends = as_pairs(suite.systems, baseline)
            several = part.drawn(options)
            limits.append(limits_of(several, ends, part))
        else:
            assert isinstance(part, (Task, Total))
            sample, ends = OneSample(part, bound), [PAIR]
            alone = drawn(sample.scores, Options(method="t"))
            for one in alone:
                refuse_fixed(one, "a gate")
            limits.append(limits_of(alone, part=part))
            notes = (*notes, *missing_cautions(alone))
            several = sample.drawn(options)
            notes = (*notes, *chain.from_iterable(map(in_other_units, several)))
        pairs += [
            (part, PairTest(one, *ends[0], _options_of(one, options, bound))) for one in several
        ]
    checks = _checks(pairs, bound, is_of_totals)
    asked_pairs = [pair for part, pair in pairs if part.total is not None or not is_of_totals]
    cautions = [
        said
        for pair in asked_pairs
        for said in (*evidence_cautions(pair), *out_of_reach(pair, bound))
    ]
    made = Gate(
        tuple(checks),
        options.margin,
        options.recovery,
        level,
        undecided=undecided,
        bound=None if bound is None else bound.asked,
    )
    said = [*notes, *cautions, *notes_of(Facts(limits))]
    if checks[0].asked == NO_LOSS and made.verdict != "failed":
        said.insert(0, _WITHOUT_LIMIT)
    return made.noting(*accepting(dict.fromkeys(said), accepted))


def _options_of(scores: Scores, options: Options, bound: Bound | None) -> Options:
    """Return options of a pair: without a limit it is a test for a loss."""
    if options.is_limited or bound is not None:
        return options
    # A loss is a lower score for some metrics, and a higher one for others.
    return replace(options, alternative=sides_of(scores.higher_is_better)[1])


def _checks(
    pairs: Sequence[tuple[Part, PairTest]], bound: Bound | None, is_of_totals: bool
) -> list[GateCheck]:
    """Return a check for each pair; failing is adjusted for all checks that are asked."""
    is_asked = [part.total is not None or not is_of_totals for part, _ in pairs]
    claims: list[Claim] = []
    for (part, pair), is_one in zip(pairs, is_asked, strict=True):
        if bound is not None:
            refuse_constant(pair)
        elif is_one and not pair.options.is_limited:
            _refuse_harmless(pair)
        claims.append(claim_of(pair, part.name, part.total))
    asked_of = [p for (*_, p), is_one in zip(claims, is_asked, strict=True) if is_one]
    adjusted = iter(holm([p for p in asked_of if p is not None]).tolist())
    checks = []
    for (part, pair), claim, is_one in zip(pairs, claims, is_asked, strict=True):
        difference, passed, failed = claim
        scores, options = pair.scores, pair.options
        sample = scores if scores.is_paired else scores.samples[pair.b]
        asked = bound.asked if bound else _WITHIN if options.is_limited else NO_LOSS
        is_answered = is_one and failed is not None
        check = GateCheck(
            difference=difference,
            asked=asked,
            verdict="undecided" if is_one else "not asked",
            pvalue_passed=None if asked == NO_LOSS else passed,
            pvalue_failed=failed,
            pvalue_failed_adjusted=next(adjusted) if is_answered else None,
            n_checks=sum(is_asked),
            n_items=sample.units.n,
            unit=sample.units.unit,
            needed=needed_of(pair, options.significance_level, _POWER)
            if is_one and asked != NO_LOSS
            else None,
            significance_level=options.significance_level,
            signature=_signature(part, pair, bound, sum(is_asked)),
        )
        checks.append(check.decided())
    return checks


def _refuse_harmless(pair: PairTest) -> None:
    """Refuse a test for a loss if no outcome of so few units could be significant."""
    units, level = pair.scores.units, pair.options.significance_level
    smallest = 0.5**units.n
    if pair.n_differing and pair.row["test"] not in COUNTED and smallest > level:
        raise InputError(
            f"{units.n} {plural(units.unit)} cannot give a p-value below {smallest:.2g}, so a "
            f"gate at level {level:g} could never fail. Use more {plural(units.unit)}, or a "
            "larger significance_level."
        )


def _signature(part: Part, pair: PairTest, bound: Bound | None, n_checks: int) -> Signature:
    """Return everything needed to reproduce the numbers of a check."""
    scores, options = pair.scores, pair.options
    test, method = pair.row["test"], pair.row["method"]
    adjustment: str | None
    if bound is not None:
        adjustment, said = None, f"{test} {bound.asked}".replace(" ", "-")
    else:
        (first, *_) = estimates_of(scores.together[0], options, part, single=False)
        method = "+".join(dict.fromkeys([first.method, method]))
        adjustment, said = "none", test_name(pair)
    signature = result_signature(scores, options, method, said, adjustment)
    if pair.counts is not None or test == "t":
        # With counts or t nothing is drawn.
        signature = signature.but(n=None, seed=None)
    return signature.but(adj="holm") if n_checks > 1 else signature
