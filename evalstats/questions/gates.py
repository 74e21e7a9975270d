"""Gates: whether a model may take the place of another, or its score reaches a fixed number.

Each task and metric has a `GateCheck`, or against a number a `ScoreCheck`; a `Gate` is as good as
its worst check, also as JUnit's XML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.drawn import Drawn, from_segments, refuse_fixed
from evalstats.analysis.estimate import limits_of, result_signature
from evalstats.analysis.options import SEED, Options
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.suite import Groups, Suite, Tables
from evalstats.analysis.tasks import Task, Total, as_decided, as_pairs
from evalstats.checks import choice, share
from evalstats.designs.one_sample import PAIR, Bound, OneSample, refuse_constant
from evalstats.errors import Argument, InputError
from evalstats.inference.families import holm
from evalstats.questions.power.planning import needed_above, needed_of
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results import tabular
from evalstats.results.convert import Count, Level, Share, Size, Whole, one_of
from evalstats.results.forms import Finding, Several
from evalstats.results.layout import gained_lost
from evalstats.results.marks import Forest, Limit, Mark, of_differences
from evalstats.results.notes import Limits, limit_notes
from evalstats.results.records import (
    CAUTION,
    COUNTED,
    KINDS,
    Difference,
    MarginTest,
    Record,
    accepting,
    barring,
    distinct,
    metric_name,
    only,
    plural,
)
from evalstats.results.signatures import part_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from evalstats.pictures.figures import Axes

#: From the worst to the best: a gate is as good as its worst check. What is not asked is shown.
VERDICTS = ("failed", "undecided", "passed", "not asked")
Verdict = Annotated[str, one_of(VERDICTS)]
#: What may decide, and what an undecided gate may count as.
ASKED = ("all", "total")
UNDECIDED = ("pass", "fail")
#: Exit codes of the command line; 2 is bad input.
_CODES = {"passed": 0, "failed": 1, "undecided": 3}
_CODES_OF_UNDECIDED = {None: _CODES["undecided"], "pass": 0, "fail": 1}
#: What a check is in JUnit's XML, where an error is neither a success nor a failure.
JUNIT = {"passed": "system-out", "failed": "failure", "not asked": "skipped"}
_JUNIT_OF_UNDECIDED = {None: "error", "pass": "skipped", "fail": "failure"}
#: What a gate without a limit says.
_WITHOUT_LIMIT = (
    'Without a margin or a recovery, "passed" only means that no loss was found, and a small test '
    "set finds none."
)
#: How often what is there to be found should be.
_POWER = 0.8
_WORDS = {"passed": "shown to be", "failed": "shown not to be", "undecided": "not shown to be"}


@dataclass(frozen=True)
class GateCheck(Record):
    """One task under one metric, or the total, with what the limit makes of it.

    Attributes
    ----------
    difference : Difference
        System minus baseline; its bounds have each a one-sided confidence of 1 -
        `significance_level`, and its `margin_test` has both tests of the limit.
    verdict : {"passed", "failed", "undecided", "not asked"}
        The loss is shown to be within the limit; or beyond it; or neither. Without a limit: no loss
        is shown; or one is. Where the totals alone decide, tasks are not asked.
    pvalue_failed_adjusted, n_checks : float or None, int
        That more is lost than the limit, adjusted by Holm's method (1979) for all checks of the
        gate: any one of them makes it fail. To pass, all have to, and need no adjustment (Berger,
        1982). `None` where there is no test of the limit, and of what is not asked.
    n_items, unit : int, str
        How many units were compared, and what a unit is, as of an `Estimate`.
    needed : int or None
        About how many find a system that has lost nothing within the limit, four times out of five;
        `None` where that cannot be said.
    significance_level, signature : float, str
        Of the gate, and of these numbers.
    barred : str
        Why it is undecided though its numbers pass: what makes them invalid; else empty.

    Examples
    --------
    >>> import evalstats as es
    >>> old, new = [3.0, 4, 5, 4, 3, 5], [3.1, 4.1, 5, 4.1, 2.9, 5]
    >>> (check,) = es.gate(new, old, metrics=es.Mean("marks"), margin=0.5)
    >>> check.name, check.verdict, check.n_items
    ('marks', 'passed', 6)
    """

    difference: Difference
    verdict: Verdict
    pvalue_failed_adjusted: Share | None
    n_checks: Count
    n_items: Count
    unit: str
    needed: Whole | None
    significance_level: Level
    signature: str
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
        """Task and metric."""
        return f"{self.task}: {self.metric}" if self.task else self.metric

    @property
    def asked(self) -> str:
        """What has to be shown to pass."""
        return "within the limit"

    @property
    def pvalue_passed(self) -> float | None:
        """Of the test that the loss is within the limit; `None` where there is none."""
        found = self.difference.margin_test
        return None if found is None else found.pvalue_not_worse

    @property
    def pvalue_failed(self) -> float | None:
        """Of the test that it is beyond, or without a limit that there is one, alone."""
        found = self.difference.margin_test
        if found is not None:
            return found.pvalue_worse
        return None if self.pvalue_failed_adjusted is None else self.difference.pvalue

    @property
    def reason(self) -> str:
        """Why it has not passed, in a sentence; empty where it has."""
        alone, adjusted = self.pvalue_failed, self.pvalue_failed_adjusted
        if self.verdict in ("passed", "not asked"):
            return ""
        if self.barred:
            return f"the numbers would pass, but they may be invalid: {self.barred}"
        if alone is None or adjusted is None:
            return self.difference.unanswered(self.unit)
        among = f" after Holm's adjustment for {self.n_checks} checks" if self.n_checks > 1 else ""
        beyond, near, able = self._words()
        if self.verdict == "failed":
            return f"{beyond} ({tabular.p_is(adjusted)}{among})"
        if alone <= self.significance_level:
            return (
                f"taken alone {beyond} ({tabular.p_is(alone)}), but not{among} "
                f"({tabular.p_is(adjusted)})"
            )
        if self.needed is None or self.needed <= self.n_items:
            return near
        return (
            f"about {self.needed:,} {plural(self.unit)} are needed: on so many, {able} passes four "
            f"times out of five"
        )

    def _words(self) -> tuple[str, str, str]:
        """Return what fails, what is near the limit, and what passes on many items."""
        what = "significant" if self.difference.margin_test is None else "beyond the limit"
        more = f"more {plural(self.unit)} or a wider limit would decide"
        return (
            f"the loss is {what}",
            f"the loss is too near the limit to say on which side it is; {more}",
            "a system that has lost nothing",
        )

    def _title(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Gate(Several[GateCheck]):
    """Whether a system may take the place of its baseline; iterating gives `GateCheck`.

    Attributes
    ----------
    checks : tuple of GateCheck
        Of each task and metric, and then of the totals.
    margin : float or None
        The loss that is too much, in points of each metric.
    recovery : float or None
        In its place: the share of the baseline's score that has to be kept. Both are `None` where
        `assert_not_worse` was asked for no limit.
    significance_level : float
        At most how often a gate passes that should fail, and fails that should pass.
    notes : tuple of str
        What was left out of the logs, and what a careful reader should know.
    undecided : {"pass", "fail"} or None
        What an undecided gate counts as; by default as neither.

    Examples
    --------
    >>> import evalstats as es
    >>> old, new = [3.0, 4, 5, 4, 3, 5], [3.1, 4.1, 5, 4.1, 2.9, 5]
    >>> gate = es.gate(new, old, metrics=es.Mean("marks"), margin=0.5)
    >>> gate.verdict, gate.exit_code
    ('passed', 0)
    """

    checks: tuple[GateCheck, ...]
    margin: Size | None
    recovery: Level | None
    significance_level: Level
    notes: tuple[str, ...] = ()
    undecided: Annotated[str, one_of(UNDECIDED)] | None = None

    derived: ClassVar[tuple[str, ...]] = ("verdict",)
    #: The column beside which marks are drawn.
    _drawn: ClassVar[str] = "difference"

    @property
    def verdict(self) -> str:
        """The worst of the checks: "failed" before "undecided" before "passed"."""
        asked = [check.verdict for check in self.checks if check.verdict != "not asked"]
        return min(asked, key=VERDICTS.index)

    @property
    def exit_code(self) -> int:
        """0 for passed, 1 for failed, 3 for undecided, unless that counts as one of the others."""
        if self.verdict == "undecided":
            return _CODES_OF_UNDECIDED[self.undecided]
        return _CODES[self.verdict]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each check has not passed, in a sentence each, failures first."""
        worst = sorted(self.checks, key=lambda check: VERDICTS.index(check.verdict))
        return tuple(f"{c.name}: {c.verdict}, {_why(c)}." for c in worst if c.reason)

    def noting(self, *notes: str) -> Self:
        """Return the gate with notes before its own; what makes numbers invalid bars what passed.

        Such a check is undecided.
        """
        made = super().noting(*notes)
        caution = barring(notes)
        if caution is None:
            return made
        why = (
            f"{caution.said}; it passes only where {caution.kind!r} is among the changes that are "
            f"allowed"
        )
        checks = tuple(
            replace(check, verdict="undecided", barred=why) if check.verdict == "passed" else check
            for check in made.checks
        )
        return replace(made, checks=checks)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the table: what each check lost or gained with its interval, and the limit."""
        from evalstats.pictures import plots

        return plots.one_table(self._tables(), ax)

    def _forest(self, at: int) -> Forest:
        """Return what each check lost or gained."""
        found = [check.difference for check in self.checks]
        kinds = [KINDS.get(check.verdict, "open") for check in self.checks]
        limit = Limit(self.margin, self.recovery, of_loss=True)
        level = tabular.level(1 - 2 * self.significance_level)
        return of_differences(found, kinds, at, level, limit)

    def _finding(self, row: GateCheck) -> Finding | None:
        """Say what a check lost or gained, with its interval, and what was allowed."""
        if row.verdict == "not asked":
            return None
        d = row.difference
        loss = -d.difference if d.higher_is_better else d.difference
        ends = sorted((-d.low, -d.high) if d.higher_is_better else (d.low, d.high))
        word = "lost"
        if loss < 0:
            loss, ends, word = -loss, [-ends[1], -ends[0]], "gained"
        places = tabular.decimals([abs(d.high - d.low) / 4])
        value, low, high = (tabular.number(x, places) for x in (loss, *ends))
        limit = ""
        if self.margin is not None:
            limit = f"{self.margin:g}"
        elif self.recovery is not None:
            limit = f"{100 * (1 - self.recovery):.6g} % of the baseline"
        # The largest loss that the data leave possible.
        worst = high if word == "lost" else low.removeprefix("-")
        against = {
            "passed": f"and a loss of {limit} or more is ruled out",
            "failed": f"which is more than the {limit} that may be lost",
            "undecided": f"but a loss of {worst} is possible, where less than {limit} is allowed",
        }
        level = tabular.level(1 - 2 * self.significance_level)
        said = f"{row.name}: {row.verdict}. {d.system} {word} {value} ({level} {low} to {high})"
        is_tested = limit and not row.barred and d.margin_test is not None
        said += f", {against[row.verdict]}" if is_tested else ""
        why = _why(row)
        lines = [f"{why[:1].upper()}{why[1:]}."] if why else []
        return Finding(said, KINDS.get(row.verdict, "open"), lines)

    def _method(self) -> str:
        if self.margin is None and self.recovery is None:
            return ""
        return (
            f"A check passes where a one-sided test at level {self.significance_level:g} shows "
            f"that less is lost than the limit (Schuirmann, 1987), and fails where one shows that "
            f"more is, adjusted for all checks (Holm, 1979)."
        )

    def to_junit(self) -> str:
        """Return JUnit's XML, a test case a check.

        Cautions stand in the text of each. What failed is a failure. What is undecided is an error;
        it is skipped where an undecided gate counts as passed, and a failure where it counts as
        failed. What is not asked is skipped. So there is a failure or an error exactly where
        `exit_code` is not 0.
        """
        kinds = {**JUNIT, "undecided": _JUNIT_OF_UNDECIDED[self.undecided]}
        cautions = [note for note in self.notes if note.startswith(CAUTION)]
        cases = []
        for check in self.checks:
            case = check.task or "evalstats", check.metric, check.verdict, kinds[check.verdict]
            text = "\n".join([self._junit_text(check), *cautions])
            cases.append(JunitCase(*case, text, _why(check) or "the total alone decides"))
        return junit(cases)

    def _junit_text(self, check: GateCheck) -> str:
        """Return what a test case of JUnit's XML says of a check."""
        return junit_text(check.difference, self._limit())

    def _limit(self) -> str:
        return limit_of(self.margin, self.recovery, "no significant loss")

    @property
    def _verdict_shown(self) -> str:
        """The verdict, and what it counts as."""
        counts = self.verdict == "undecided" and self.undecided is not None
        return self.verdict.upper() + (f" (counts as {self.undecided}ed)" if counts else "")

    def _about(self) -> str:
        """Return what is gated, in words."""
        first = self.checks[0].difference
        return f"{first.system} against {first.baseline}"

    def _columns(self, digits: int | None) -> list[Column]:
        """Return the columns of the numbers of a check."""

        def number(i: int, check: GateCheck) -> str:
            return numbers_of(check.difference, digits)[i]

        level = tabular.level(1 - 2 * self.significance_level)
        names = enumerate(("base", "new", self._drawn, level))
        columns: list[Column] = [(name, ">", partial(number, i)) for i, name in names]
        if any(check.difference.discordant is not None for check in self.checks):
            columns.append(("gained, lost", ">", lambda c: gained_lost(c.difference.discordant)))
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
        of_total = " of the total" if any(c.verdict == "not asked" for c in self.checks) else ""
        title = f"{self._verdict_shown}: {self._about()}, asked{of_total}: {self._limit()}, "
        title += f"level {self.significance_level:g}"
        n_totals = sum(check.difference.aggregate is not None for check in self.checks)
        spare = ("gained, lost", units)
        draw = partial(self._forest, [name for name, *_ in columns].index(self._drawn))
        return [table_of(title, self.checks, columns, n_totals=n_totals, spare=spare, draw=draw)]

    def _rows(self) -> Sequence[GateCheck]:
        return self.checks

    def _headline(self) -> str:
        """Return what is asked, and the answer."""
        d = self.checks[0].difference
        return f"May {d.system} take the place of {d.baseline}? {self.verdict.capitalize()}"

    def _below(self, verbose: bool = False) -> tuple[list[str], list[str]]:
        """Return all reasons, since who reads the log of a build cannot ask again, then notes."""
        notes, signatures = super()._below(verbose)
        return [*self.reasons, *notes], signatures

    def _signatures(self) -> Sequence[str]:
        return [check.signature for check in self.checks]


class JunitCase(NamedTuple):
    """A test case of JUnit's XML: how it is called, its verdict, which element that is, and why."""

    classname: str
    name: str
    verdict: str
    kind: str
    text: str
    message: str


def junit_text(d: Difference, limit: str) -> str:
    """Return what a test case says of a difference, and of the limit in words."""
    base, new, difference, bounds = numbers_of(d)
    scores = f"{d.system} {new}, {d.baseline} {base}"
    return f"{scores}, difference {difference} {bounds}, asked: {limit}"


def junit(cases: Sequence[JunitCase]) -> str:
    """Return JUnit's XML of a gate."""
    from xml.etree import ElementTree

    kinds = [case.kind for case in cases]
    counts = {"tests": len(kinds), "failures": kinds.count("failure")}
    counts |= {"errors": kinds.count("error"), "skipped": kinds.count("skipped")}
    suite = ElementTree.Element("testsuite", {"name": "evalstats gate"})
    suite.attrib.update((name, str(count)) for name, count in counts.items())
    for case in cases:
        element = ElementTree.SubElement(
            suite, "testcase", classname=case.classname, name=case.name
        )
        inside = ElementTree.SubElement(element, case.kind)
        inside.text = case.text
        if case.kind != "system-out":
            inside.attrib.update(type=case.verdict, message=case.message)
    ElementTree.indent(suite)
    text: str = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def limit_of(margin: float | None, recovery: float | None, otherwise: str) -> str:
    """Return what is asked of a system, in words."""
    if margin is not None:
        return f"a loss of less than {margin:g}"
    return otherwise if recovery is None else f"at least {recovery:g} of the baseline"


def _why(check: GateCheck) -> str:
    """Return the reason of a check, with the p-value of what could not be shown."""
    if check.verdict != "undecided" or check.pvalue_passed is None or check.barred:
        return check.reason
    return f"not shown to be {check.asked} ({tabular.p_is(check.pvalue_passed)}); {check.reason}"


def numbers_of(d: Difference, digits: int | None = None) -> list[str]:
    """Return the scores of baseline and system, their difference and its interval."""
    places = tabular.decimals([abs(d.high - d.low) / 4], digits)
    scores = [tabular.number(score, places) for score in (d.baseline_score, d.system_score)]
    difference = tabular.number(d.difference, places, sign=True)
    return [*scores, difference, tabular.interval(d.low, d.high, places, sign=True)]


@dataclass(frozen=True)
class ScoreCheck(GateCheck):
    """One task under one metric, or the total, against a number; fields as those of `GateCheck`.

    Attributes
    ----------
    difference : Difference
        Of the score from the number, which stands as the baseline; its bounds have each a one-sided
        confidence of 1 - `significance_level`.
    needed : int or None
        About how many items show a score that is as good as this one to be on the right side of the
        number, four times out of five; `None` where it is on the other side.

    Examples
    --------
    >>> import evalstats as es
    >>> (check,) = es.gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9)
    >>> check.verdict, check.score, check.low > 0.9
    ('passed', 0.97, True)
    """

    @property
    def score(self) -> float:
        """That of the system."""
        return self.difference.system_score

    @property
    def low(self) -> float:
        """Lower bound of the score's interval."""
        return self.difference.baseline_score + self.difference.low

    @property
    def high(self) -> float:
        """Its upper bound."""
        return self.difference.baseline_score + self.difference.high

    @property
    def asked(self) -> str:
        """What is asked: "at least 0.9"."""
        d = self.difference
        return Bound(d.baseline_score, d.higher_is_better).asked

    def _words(self) -> tuple[str, str, str]:
        return (
            f"the score is not {self.asked}",
            f"the score is near the number; more {plural(self.unit)} would decide",
            "a score as good as this one",
        )


@dataclass(frozen=True, repr=False)
class ScoreGate(Gate):
    """Whether the scores of a system reach a number; iterating gives `ScoreCheck`.

    A system whose true score is the number passes in about 5 %: of 0/1 scores in .000 to .058 (all
    outcomes of 30, 100 and 1,000 items, numbers .5, .9 and .99), of means of 30 or 100 normal or
    uniform scores, or marks from 1 to 5, in .046 to .059, and of scores from a beta distribution
    (5, 1), whose low values are rare, in .083 and .072.

    Attributes
    ----------
    checks : tuple of ScoreCheck
        Of each task and metric, and then of the totals.
    margin, recovery : None
        There is no baseline. Other fields are those of `Gate`.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9)
    >>> found.verdict, found.exit_code
    ('passed', 0)
    """

    checks: tuple[ScoreCheck, ...]

    derived: ClassVar[tuple[str, ...]] = ("verdict", "asked")
    _drawn: ClassVar[str] = "score"

    @property
    def asked(self) -> str:
        """What is asked of every score: "at least 0.9"."""
        return self.checks[0].asked

    def _forest(self, at: int) -> Forest:
        """Return the score of each check, and the number."""
        first = self.checks[0].difference
        least, number = first.higher_is_better, first.baseline_score
        limits = (number, float("inf")) if least else (float("-inf"), number)
        marks = []
        for c in self.checks:
            kind, is_total = KINDS.get(c.verdict, "open"), c.difference.aggregate is not None
            marks.append((Mark(c.score, c.low, c.high, kind, is_total, limits),))
        label = f"score, {tabular.level(1 - 2 * self.significance_level)}"
        limit = Limit(asked=self.asked)
        return Forest(tuple(marks), at, label, null=number, limit=limit)

    def _finding(self, row: Any) -> Finding | None:
        """Say the score of a check with its interval, and what it is shown to be."""
        if row.verdict == "not asked":
            return None
        places = tabular.decimals([(row.high - row.low) / 4])
        score, low, high = (tabular.number(x, places) for x in (row.score, row.low, row.high))
        level = tabular.level(1 - 2 * self.significance_level)
        said = f"{row.name}: {row.verdict}. The score is {score} ({level} {low} to {high})"
        said += "." if row.barred else f", {_WORDS[row.verdict]} {row.asked}."
        lines = [] if row.verdict != "undecided" else [f"{row.reason[0].upper()}{row.reason[1:]}."]
        return Finding(said, KINDS.get(row.verdict, "open"), lines)

    def _headline(self) -> str:
        """Return what is asked, and the answer."""
        system = self.checks[0].difference.system
        return f"Is the score of {system} {self._limit()}? {self.verdict.capitalize()}"

    def _junit_text(self, check: Any) -> str:
        """Return what a test case of JUnit's XML says of a check."""
        score, bounds = _shown(check)
        return f"{check.difference.system} {score} {bounds}, asked: {self._limit()}"

    def _limit(self) -> str:
        return self.asked

    def _about(self) -> str:
        return self.checks[0].difference.system

    def _columns(self, digits: int | None) -> list[Column]:
        return [
            ("score", ">", lambda c: _shown(c, digits)[0]),
            (
                f"[{tabular.level(1 - 2 * self.significance_level)}]",
                ">",
                lambda c: _shown(c, digits)[1],
            ),
            ("p to pass", ">", lambda c: tabular.pvalue(c.pvalue_passed)),
        ]


def gated(
    tasks: Tables,
    baseline: str,
    *,
    margin: float | None = None,
    recovery: float | None = None,
    significance_level: float = 0.05,
    on: str = "all",
    undecided: str | None = None,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    notes: Sequence[str] = (),
    accepted: Sequence[str] = (),
    paired: bool = True,
    paired_runs: bool = False,
) -> Gate:
    """Do what `evalstats.gate` does with tables of two systems, of one task or several.

    Without a limit it fails where a loss is significant, and passes otherwise. Cautions of the
    kinds that are `accepted` bar nothing.
    """
    level, is_of_totals = asked_of(tasks, significance_level, on, undecided)
    systems = distinct(name for table in next(iter(tasks.values())) for name in table.systems)
    if len(systems) != 2:
        raise InputError(f"a gate compares one system with one baseline, got {systems}")
    is_limited = margin is not None or recovery is not None
    seed = as_seed(rng)
    results: list[Comparison] = []
    limits: list[Limits] = []
    for alternative in ("two-sided",) if is_limited else ("less", "greater"):
        some = tasks
        if not is_limited:
            # A loss is a lower score under some metrics, and a higher one under others.
            is_higher = alternative == "less"
            each = {
                name: [table for table in tables if table.metric.higher_is_better is is_higher]
                for name, tables in tasks.items()
            }
            some = {name: tables for name, tables in each.items() if tables}
        if not some:
            continue
        asked = Options(
            alternative=alternative,
            n_resamples=n_resamples,
            seed=seed,
            executor=executor,
            margin=margin,
            recovery=recovery,
            paired_runs=paired_runs,
        )
        options = one_sided(asked, level)
        for tables in some.values():
            options = as_decided(tables, options, n_resamples, rng)
        suite = Suite.of(some, aggregate, groups, strata, paired=paired)
        pairs = as_pairs(suite.systems, baseline)
        evaluation = Evaluation(suite.parts, pairs, options)
        results.append(compared(evaluation, baseline))
        limits += evaluation.limits
    if is_of_totals and not any(result.totals for result in results):
        raise without_total(tasks)
    checks = _checks(results, level, is_limited, is_of_totals)
    rows = [check for check in checks if check.difference.aggregate is None]
    totals = [check for check in checks if check.difference.aggregate is not None]
    order = {name: i for i, name in enumerate(tasks)}
    checks = [*sorted(rows, key=lambda check: order[check.task]), *totals]
    made = Gate(tuple(checks), margin, recovery, level, (), undecided)
    said = [*notes, *limit_notes(limits)]
    if not is_limited and made.verdict != "failed":
        said.insert(0, _WITHOUT_LIMIT)
    return made.noting(*accepting(dict.fromkeys(said), accepted))


def asked_of(
    tasks: Tables, significance_level: float, on: str, undecided: str | None
) -> tuple[float, bool]:
    """Return the level of a gate, and whether totals alone decide, checked."""
    if undecided is not None:
        choice(undecided, UNDECIDED, "undecided")
    level = share(significance_level, "significance_level", 0.5)
    return level, choice(on, ASKED, "on") == "total" and len(tasks) > 1


def without_total(tasks: Tables) -> InputError:
    """Return the error of a gate on a total that there is not."""
    return InputError(
        Argument("on", "total"),
        f" needs a total, and there is none over {', '.join(tasks)}; give ",
        Argument("aggregate", "macro"),
    )


def one_sided(options: Options, level: float) -> Options:
    """Return options whose bounds are one-sided: each at the level by itself."""
    return replace(
        options, confidence_level=1 - 2 * level, adjustment="none", significance_level=level
    )


def decided(passed: float | None, failed: float | None, level: float) -> str:
    """Return the verdict of two one-sided p-values, that a limit is kept, and that it is not."""
    if passed is not None and passed <= level:
        return "passed"
    return "failed" if failed is not None and failed <= level else "undecided"


def _checks(
    results: Sequence[Comparison], level: float, is_limited: bool, is_of_totals: bool
) -> list[GateCheck]:
    """Return a check for each difference: of those that are asked, each fails among all of them."""
    rows = [(result, d) for result in results for d in result]
    asked = [d.aggregate is not None or not is_of_totals for _, d in rows]
    if not is_limited:
        # No outcome of so few units could make it fail.
        for (result, d), is_asked in zip(rows, asked, strict=True):
            if not is_asked or not d.n_differing or d.test in COUNTED:
                continue
            (score, *_) = (e for e in result.estimates if (e.task, e.metric) == (d.task, d.metric))
            smallest, units = 0.5**score.n_segments, plural(score.unit)
            if smallest > level:
                raise InputError(
                    f"{score.n_segments} {units} cannot give a p-value below {smallest:.2g}, so "
                    f"that a gate at {level:g} would pass everything; give more {units}, or a "
                    f"larger significance_level"
                )
    # That the loss is beyond the limit; without one, that there is a loss.
    failed: list[float | None] = []
    for (_, d), is_asked in zip(rows, asked, strict=True):
        beyond = None if d.margin_test is None else d.margin_test.pvalue_worse
        failed.append((beyond if is_limited else d.pvalue) if is_asked else None)
    adjusted = iter(holm([p for p in failed if p is not None]).tolist())
    checks = [
        _check(result, d, None if p is None else next(adjusted), sum(asked), is_limited)
        for (result, d), p in zip(rows, failed, strict=True)
    ]
    return [
        check if is_asked else replace(check, verdict="not asked", needed=None)
        for check, is_asked in zip(checks, asked, strict=True)
    ]


def _check(
    result: Comparison, d: Difference, adjusted: float | None, n_checks: int, is_limited: bool
) -> GateCheck:
    """Return what is said of a difference; `adjusted` is its p-value to fail, among all checks."""
    level, scores, evaluation = result.significance_level, result.estimates, result.source
    assert evaluation is not None
    score = scores[d.task, d.metric, d.system] if d.task else scores[d.metric, d.system]
    shown = None if not is_limited or d.margin_test is None else d.margin_test.pvalue_not_worse
    verdict = decided(shown, adjusted, level)
    if not is_limited and verdict == "undecided":
        verdict = "passed"
    signature = evaluation.signatures[d.task, d.metric]
    if is_limited and d.test == "mcnemar":
        signature = signature.but(test="tango")
    if d.test in (*COUNTED, "t"):
        # Where counts or t decide nothing is drawn.
        signature = signature.but(n=None, seed=None)
    return GateCheck(
        difference=d,
        verdict=verdict,
        pvalue_failed_adjusted=adjusted,
        n_checks=n_checks,
        n_items=score.n_segments,
        unit=score.unit,
        needed=needed_of(evaluation, d, level, _POWER) if is_limited else None,
        significance_level=level,
        signature=str(signature.but(adj="holm") if n_checks > 1 else signature),
    )


def _shown(check: ScoreCheck, digits: int | None = None) -> tuple[str, str]:
    """Return the score and its interval as they are printed."""
    places = tabular.decimals([(check.high - check.low) / 4], digits)
    return tabular.number(check.score, places), tabular.interval(check.low, check.high, places)


def score_gated(
    tasks: Tables,
    bound: Bound,
    *,
    significance_level: float = 0.05,
    on: str = "all",
    undecided: str | None = None,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    notes: Sequence[str] = (),
    accepted: Sequence[str] = (),
) -> ScoreGate:
    """Do what `evalstats.gate` does with tables of one system and a number."""
    level, is_of_totals = asked_of(tasks, significance_level, on, undecided)
    asked = Options(n_resamples=n_resamples, seed=as_seed(rng), executor=executor)
    options = one_sided(asked, level)
    for tables in tasks.values():
        options = as_decided(tables, options, n_resamples, rng)
    suite = Suite.of(tasks, aggregate, groups, strata)
    if len(suite.systems) != 1:
        raise InputError(
            f"holds one system against a number, got {', '.join(suite.systems)}; choose one",
            argument=bound.argument,
        )
    parts = [part for part in suite.parts if isinstance(part, (Task, Total))]
    if is_of_totals and all(part.total is None for part in parts):
        raise without_total(tasks)
    said, rows = list(notes), []
    for part in parts:
        sample = OneSample(part, bound)
        own = from_segments(sample.segments, Options(method="t", test="t"))
        for one in own:
            refuse_fixed(one, "a gate")
        said += limit_notes([limits_of(own, part=part)])
        rows += [(part, one) for one in sample.drawn(options)]
    pairs = [PairTest(one, *PAIR, options) for _, one in rows]
    for pair in pairs:
        refuse_constant(pair)
    passed, beyond = ([pair.pvalue(0.0, side) for pair in pairs] for side in bound.sides)
    is_asked = [part.total is not None or not is_of_totals for part, _ in rows]
    adjusted = iter(holm([p for p, of in zip(beyond, is_asked, strict=True) if of]).tolist())
    n_checks, checks = sum(is_asked), []
    for (part, one), pair, shown, p, of in zip(rows, pairs, passed, beyond, is_asked, strict=True):
        failed, two_sided = next(adjusted) if of else None, pair.pvalue()
        difference = Difference(
            task=part.name,
            aggregate=part.total,
            pvalue_adjusted=two_sided,
            margin_test=MarginTest(pvalue_not_worse=shown, pvalue_worse=p),
            **pair.fields(two_sided, pair.interval(options.alpha), False),
        )
        checks.append(
            ScoreCheck(
                difference=difference,
                verdict=decided(shown, failed, level) if of else "not asked",
                pvalue_failed_adjusted=failed,
                n_checks=n_checks,
                n_items=one.units.n,
                unit=one.units.unit,
                needed=needed_above(pair, level, _POWER) if of else None,
                significance_level=level,
                signature=_signature(one, pair, bound, n_checks),
            )
        )
    made = ScoreGate(tuple(checks), None, None, level, (), undecided)
    return made.noting(*accepting(dict.fromkeys(said), accepted))


def _signature(drawn: Drawn, pair: PairTest, bound: Bound, n_checks: int) -> str:
    """Return everything needed to make the numbers of a check again."""
    test = f"{pair.test} {bound.asked}".replace(" ", "-")
    signature = result_signature(drawn, pair.options, pair.method, test=test)
    if pair.counts is not None or pair.test == "t":
        # Where counts or t decide nothing is drawn.
        signature = signature.but(n=None, seed=None)
    return str(signature.but(adj="holm") if n_checks > 1 else signature)
