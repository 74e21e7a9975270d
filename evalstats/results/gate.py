"""The verdict of a gate: `Gate`, with a `GateCheck` for each task and metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalstats.results import report
from evalstats.results.forms import Result
from evalstats.results.records import Record, distinct
from evalstats.results.report import Table

#: From the worst to the best: a gate is as good as its worst check.
VERDICTS = ("failed", "undecided", "passed")
#: Exit codes of the command line; 2 is bad input.
_CODES = {"passed": 0, "failed": 1, "undecided": 3}


@dataclass(frozen=True)
class GateCheck(Record):
    """One task under one metric; `difference` is system minus baseline.

    Attributes
    ----------
    task, metric, baseline, system : str
        What was compared; the task is empty where there is one without a name.
    baseline_score, system_score, difference : float
        Scores, and their difference.
    low, high : float
        Bounds of the difference, each of one-sided confidence 1 - `significance_level`.
    higher_is_better : bool
        Direction of the metric.
    verdict : {"passed", "failed", "undecided"}
        The loss is shown to be within the limit; or beyond it; or neither.
    pvalue_passed, pvalue_failed : float or None
        Of the two tests, raw; `None` where nothing bounds a loss.
    pvalue_failed_adjusted : float or None
        Holm's (1979), for all checks of the gate: any one of them makes it fail. To pass, all have
        to, and need no adjustment (Berger, 1982).
    gained, lost : int or None
        Of 0/1 scores: items on which only the system succeeds, and only the baseline.
    n_items : int
        Items, or groups, that were compared.
    needed : int or None
        About how many find a system that has lost nothing within the limit, four times out of five;
        `None` where that cannot be said.
    signature : str
        Everything needed to make the numbers again.
    unit : {"item", "group"}
        What is counted.
    """

    task: str
    metric: str
    baseline: str
    system: str
    baseline_score: float
    system_score: float
    difference: float
    low: float
    high: float
    higher_is_better: bool
    verdict: str
    pvalue_passed: float | None
    pvalue_failed: float | None
    pvalue_failed_adjusted: float | None
    gained: int | None
    lost: int | None
    n_items: int
    needed: int | None
    signature: str
    unit: str = "item"

    @property
    def name(self) -> str:
        """Task and metric."""
        return f"{self.task}: {self.metric}" if self.task else self.metric

    @property
    def reason(self) -> str:
        """Why it has not passed, in a sentence; empty where it has."""
        if self.verdict == "passed":
            return ""
        if self.verdict == "failed":
            return (
                f"the loss is beyond the limit ({report.p_is(self.pvalue_failed_adjusted or 0.0)})"
            )
        if self.pvalue_passed is None:
            return "all items are equal, and nothing bounds the loss on others; more are needed"
        if self.needed is None or self.needed <= self.n_items:
            return "the loss is near the limit, on whichever side; more items, or a wider limit"
        return (
            f"{self.n_items:,} {self.unit}s are too few: with about {self.needed:,} a system that "
            f"has lost nothing passes four times out of five"
        )

    def _title(self) -> str:
        return self.name


@dataclass(frozen=True)
class Gate(Result):
    """Whether a system may take the place of its baseline; iterating gives `GateCheck`.

    Attributes
    ----------
    checks : tuple of GateCheck
    margin : float or None
        The loss that is too much, in points of each metric.
    recovery : float or None
        Or the share of the baseline's score that has to be kept.
    significance_level : float
        At most how often a gate passes that should fail, and fails that should pass.
    notes : tuple of str
        What was left out of the runs, and what a careful reader should know.
    """

    checks: tuple[GateCheck, ...]
    margin: float | None
    recovery: float | None
    significance_level: float
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The worst of the checks: "failed" before "undecided" before "passed"."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return verdict, settings and checks as plain Python values."""
        return {
            "verdict": self.verdict,
            "margin": self.margin,
            "recovery": self.recovery,
            "significance_level": self.significance_level,
            "checks": [{**check.to_dict(), "reason": check.reason} for check in self.checks],
            "notes": list(self.notes),
        }

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
        digits = report.decimals([abs(check.high - check.low) / 4])
        return (
            f"{check.system} {report.number(check.system_score, digits)}, "
            f"{check.baseline} {report.number(check.baseline_score, digits)}, difference "
            f"{report.number(check.difference, digits, sign=True)} "
            f"{report.interval(check.low, check.high, digits, sign=True)}, asked: {self._limit()}"
        )

    def _tables(self, digits: int | None = None) -> list[Table]:
        has_tasks = any(check.task for check in self.checks)
        has_flips = any(check.lost is not None for check in self.checks)
        first = self.checks[0]
        confidence = report.level(1 - 2 * self.significance_level)
        header = [
            *(["task"] if has_tasks else []),
            "metric",
            "items",
            "base",
            "new",
            "difference",
            confidence,
            *(["gained, lost"] if has_flips else []),
            "verdict",
        ]
        rows = []
        for check in self.checks:
            errors = [abs(check.high - check.low) / 4]
            places = report.decimals(errors) if digits is None else digits
            flips = "" if check.lost is None else f"{check.gained}, {check.lost}"
            rows.append(
                (
                    *([check.task] if has_tasks else []),
                    f"{check.metric} {report.direction(check.higher_is_better)}",
                    f"{check.n_items:,}" + (" groups" if check.unit == "group" else ""),
                    report.number(check.baseline_score, places),
                    report.number(check.system_score, places),
                    report.number(check.difference, places, sign=True),
                    report.interval(check.low, check.high, places, sign=True),
                    *([flips] if has_flips else []),
                    check.verdict,
                )
            )
        title = (
            f"{self.verdict.upper()}: {first.system} against {first.baseline}, asked: "
            f"{self._limit()}, level {self.significance_level:g}"
        )
        align = ("<" if has_tasks else "") + "<>>>>>" + (">" if has_flips else "") + "<"
        return [Table(title, tuple(header), tuple(rows), align)]

    def _footer(self) -> list[str]:
        reasons = [f"{c.name}: {c.verdict}, {c.reason}." for c in self.checks if c.reason]
        return [*reasons, *self.notes, *distinct(check.signature for check in self.checks)]

    def _records(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = self.to_dict()["checks"]
        return records
