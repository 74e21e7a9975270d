"""The verdict of a gate: `Gate`, with a `GateCheck` for each task and metric, and in total."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalstats.errors import InputError
from evalstats.results import report
from evalstats.results.forms import Result
from evalstats.results.layout import gained_lost
from evalstats.results.records import Difference, Record, counted, plural
from evalstats.results.report import Column, Table, table_of

#: From the worst to the best: a gate is as good as its worst check.
VERDICTS = ("failed", "undecided", "passed")
#: A limit that needs so many times the items is on another scale than the metric.
_OUT_OF_REACH = 10_000
#: Exit codes of the command line; 2 is bad input.
_CODES = {"passed": 0, "failed": 1, "undecided": 3}


@dataclass(frozen=True)
class GateCheck(Record):
    """One task under one metric, or the total, with what the limit makes of it.

    Attributes
    ----------
    difference : Difference
        System minus baseline; its bounds have each a one-sided confidence of 1 -
        `significance_level`, and its `margin_test` has both tests of the limit.
    verdict : {"passed", "failed", "undecided"}
        The loss is shown to be within the limit; or beyond it; or neither.
    pvalue_failed_adjusted : float or None
        That more is lost than the limit, adjusted by Holm's method (1979) for all checks of the
        gate: any one of them makes it fail. To pass, all have to, and need no adjustment (Berger,
        1982). `None` where nothing bounds a loss.
    n_checks : int
        How many checks that is adjusted for.
    n_items : int
        Items, or groups, that were compared.
    unit : str
        What is counted: "item", or the name of the groups.
    needed : int or None
        About how many find a system that has lost nothing within the limit, four times out of five;
        `None` where that cannot be said.
    significance_level : float
        Of the gate.
    signature : str
        Everything needed to make the numbers again.
    """

    difference: Difference
    verdict: str
    pvalue_failed_adjusted: float | None
    n_checks: int
    n_items: int
    unit: str
    needed: int | None
    significance_level: float
    signature: str

    derived = ("reason",)

    @property
    def task(self) -> str:
        """The task, or what the total is called; empty where there is one without a name."""
        return self.difference.task

    @property
    def metric(self) -> str:
        """The metric."""
        return self.difference.metric

    @property
    def name(self) -> str:
        """Task and metric."""
        return f"{self.task}: {self.metric}" if self.task else self.metric

    @property
    def pvalue_passed(self) -> float | None:
        """Of the test that the loss is within the limit; `None` where nothing bounds it."""
        found = self.difference.margin_test
        return None if found is None else found.pvalue_not_worse

    @property
    def pvalue_failed(self) -> float | None:
        """Of the test that it is beyond, of this check alone."""
        found = self.difference.margin_test
        return None if found is None else found.pvalue_worse

    @property
    def reason(self) -> str:
        """Why it has not passed, in a sentence; empty where it has."""
        alone, adjusted = self.pvalue_failed, self.pvalue_failed_adjusted
        if self.verdict == "passed":
            return ""
        if alone is None or adjusted is None:
            return (
                f"all {plural(self.unit)} are equal, and nothing bounds the loss on others; "
                "more are needed"
            )
        among = f" after Holm's adjustment for {self.n_checks} checks" if self.n_checks > 1 else ""
        if self.verdict == "failed":
            return f"the loss is beyond the limit ({report.p_is(adjusted)}{among})"
        if alone <= self.significance_level:
            return (
                f"the loss is beyond the limit by itself ({report.p_is(alone)}), but not{among} "
                f"({report.p_is(adjusted)})"
            )
        if self.needed is None or self.needed <= self.n_items:
            return (
                f"the loss is near the limit, on whichever side; more {plural(self.unit)}, or a "
                f"wider limit"
            )
        if self.needed > _OUT_OF_REACH * self.n_items:
            return (
                f"the limit is too small for this metric, whose scores vary far more: no test set "
                f"of a usual size could tell (about {self.needed:,} {plural(self.unit)})"
            )
        return (
            f"{counted(self.n_items, self.unit)} are too few: a system that has lost nothing "
            f"passes with 80 % power on about {self.needed:,}"
        )

    def _title(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Gate(Result):
    """Whether a system may take the place of its baseline; iterating gives `GateCheck`.

    Attributes
    ----------
    checks : tuple of GateCheck
        Of each task and metric, and then of the totals.
    margin : float or None
        The loss that is too much, in points of each metric.
    recovery : float or None
        In its place: the share of the baseline's score that has to be kept.
    significance_level : float
        At most how often a gate passes that should fail, and fails that should pass.
    notes : tuple of str
        What was left out of the logs, and what a careful reader should know.
    verdict : {"passed", "failed", "undecided"}
        The worst of the checks: "failed" before "undecided" before "passed".
    exit_code : int
        0 for passed, 1 for failed, 3 for undecided.
    """

    checks: tuple[GateCheck, ...]
    margin: float | None
    recovery: float | None
    significance_level: float
    notes: tuple[str, ...] = ()

    derived = ("verdict",)

    @property
    def verdict(self) -> str:
        """The worst of the checks."""
        return min((check.verdict for check in self.checks), key=VERDICTS.index)

    @property
    def exit_code(self) -> int:
        """0 for passed, 1 for failed, 3 for undecided."""
        return _CODES[self.verdict]

    def __iter__(self) -> Iterator[GateCheck]:
        """Iterate over the checks."""
        return iter(self.checks)

    def __len__(self) -> int:
        """Return the number of checks."""
        return len(self.checks)

    def to_junit(self) -> str:
        """Return JUnit's XML, a test case a check: what failed is a failure, undecided an error."""
        from xml.etree import ElementTree

        counts = {verdict: sum(c.verdict == verdict for c in self.checks) for verdict in VERDICTS}
        suite = ElementTree.Element(
            "testsuite",
            name="evalstats gate",
            tests=str(len(self.checks)),
            failures=str(counts["failed"]),
            errors=str(counts["undecided"]),
            skipped="0",
        )
        for check in self.checks:
            case = ElementTree.SubElement(
                suite, "testcase", classname=check.task or "evalstats", name=check.metric
            )
            if check.verdict != "passed":
                kind = "failure" if check.verdict == "failed" else "error"
                found = ElementTree.SubElement(case, kind, type=check.verdict, message=check.reason)
                found.text = self._line(check)
            else:
                ElementTree.SubElement(case, "system-out").text = self._line(check)
        ElementTree.indent(suite)
        text: str = ElementTree.tostring(suite, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def _limit(self) -> str:
        if self.margin is not None:
            return f"a loss of less than {self.margin:g}"
        return f"at least {self.recovery:g} of the baseline"

    def _line(self, check: GateCheck) -> str:
        d, places = check.difference, _places(check)
        return (
            f"{d.system} {report.number(d.system_score, places)}, "
            f"{d.baseline} {report.number(d.baseline_score, places)}, difference "
            f"{report.number(d.difference, places, sign=True)} "
            f"{report.interval(d.low, d.high, places, sign=True)}, asked: {self._limit()}"
        )

    def _tables(self, digits: int | None = None) -> list[Table]:
        def number(name: str, sign: bool = False) -> Column:
            def cell(c: GateCheck) -> str:
                value = getattr(c.difference, name)
                return report.number(value, _places(c, digits), sign)

            return {"baseline_score": "base", "system_score": "new"}.get(name, name), ">", cell

        def interval(c: GateCheck) -> str:
            return report.interval(c.difference.low, c.difference.high, _places(c, digits), True)

        def metric(c: GateCheck) -> str:
            return f"{c.metric} {report.direction(c.difference.higher_is_better)}"

        items = {plural(check.unit) for check in self.checks}
        columns: list[Column] = [
            (
                "metric",
                "<",
                lambda c: f"{c.metric} {report.direction(c.difference.higher_is_better)}",
            ),
            (items.pop() if len(items) == 1 else "units", ">", lambda c: f"{c.n_items:,}"),
            number("baseline_score"),
            number("system_score"),
            number("difference", sign=True),
            (report.level(1 - 2 * self.significance_level), ">", interval),
            ("gained, lost", ">", lambda c: gained_lost(c.difference.discordant)),
            ("verdict", "<", lambda c: c.verdict),
        ]
        if any(check.task for check in self.checks):
            columns.insert(0, ("task", "<", lambda c: c.task))
        if all(check.difference.discordant is None for check in self.checks):
            del columns[-2]
        first = self.checks[0].difference
        title = (
            f"{self.verdict.upper()}: {first.system} against {first.baseline}, asked: "
            f"{self._limit()}, level {self.significance_level:g}"
        )
        n_totals = sum(check.difference.aggregate is not None for check in self.checks)
        return [table_of(title, self.checks, columns, n_totals=n_totals)]

    def _rows(self) -> Sequence[GateCheck]:
        return self.checks

    def _notes(self) -> Sequence[str]:
        worst = sorted(self.checks, key=lambda check: VERDICTS.index(check.verdict))
        reasons = [f"{c.name}: {c.verdict}, {c.reason}." for c in worst if c.reason]
        return [*reasons, *self.notes]

    def _signatures(self) -> Sequence[str]:
        return [check.signature for check in self.checks]

    def _check(self, where: str) -> None:
        if not self.checks or {check.verdict for check in self.checks} - set(VERDICTS):
            raise InputError(f"{where} must have checks, each {', '.join(VERDICTS)}")


def _places(check: GateCheck, digits: int | None = None) -> int:
    errors = [abs(check.difference.high - check.difference.low) / 4]
    return report.decimals(errors) if digits is None else digits
