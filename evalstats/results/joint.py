"""Claims under several metrics at once: "better under BLEU and chrF"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalstats.errors import InputError
from evalstats.results import report
from evalstats.results.forms import Result
from evalstats.results.records import ComparisonRecord, Difference, Record
from evalstats.results.report import Table


@dataclass(frozen=True)
class JointClaim(Record, Result):
    """One system is better than another under each of several metrics; printed, a sentence.

    Attributes
    ----------
    system, baseline : str
        Which one is better, and than which.
    metrics : tuple of str
        Under which metrics.
    pvalues : tuple of float
        One-sided p-value of each metric, of this pair alone.
    pvalue : float
        Their largest (an intersection-union test; Berger, 1982).
    significance_level : float
        Of the comparison.
    """

    system: str
    baseline: str
    metrics: tuple[str, ...]
    pvalues: tuple[float, ...]
    pvalue: float
    significance_level: float

    @property
    def significant(self) -> bool:
        """Whether the claim is shown: the p-value is at most the level."""
        return self.pvalue <= self.significance_level

    def __str__(self) -> str:
        shown = "is" if self.significant else "is not shown to be"
        each = zip(self.metrics, self.pvalues, strict=True)
        return (
            f"{self.system} {shown} better than {self.baseline} under each of "
            f"{', '.join(self.metrics)} at {self.significance_level:g}: one-sided "
            f"{report.p_is(self.pvalue)}, the largest of "
            + ", ".join(f"{report.pvalue(p)} ({metric})" for metric, p in each)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the verdict as plain Python values."""
        return {**super().to_dict(), "significant": self.significant}

    def _records(self) -> list[dict[str, Any]]:
        names = {"system": self.system, "baseline": self.baseline}
        each = zip(self.metrics, self.pvalues, strict=True)
        return [{**names, "metric": metric, "pvalue": p} for metric, p in each]

    def _tables(self, digits: int | None = None) -> list[Table]:
        each = [*zip(self.metrics, self.pvalues, strict=True), ("all of them", self.pvalue)]
        rows = tuple((metric, report.pvalue(p)) for metric, p in each)
        title = f"{self.system} better than {self.baseline}"
        return [Table(title, ("metric", "one-sided p"), rows, "<>", n_totals=1)]

    def _footer(self) -> list[str]:
        return [str(self)]

    def _title(self) -> str:
        return f"{self.system} better than {self.baseline}, {', '.join(self.metrics)}"


def joint_claim(
    comparison: ComparisonRecord, differences: Sequence[Difference], system: str, baseline: str
) -> JointClaim:
    """Return the claim that a system is better under all metrics; differences are of the pair."""
    if comparison.alternative != "two-sided":
        raise InputError(
            f"a joint claim is made of two-sided p-values, whose halves are one-sided; compare "
            f"with alternative='two-sided', got {comparison.alternative!r}"
        )
    pvalues = []
    for d in differences:
        # Half of a two-sided p-value is that of the side on which the difference lies.
        half = d.pvalue / 2
        pvalues.append(half if d.winner == system else 1 - half)
    return JointClaim(
        system=system,
        baseline=baseline,
        metrics=tuple(d.metric for d in differences),
        pvalues=tuple(pvalues),
        pvalue=max(pvalues),
        significance_level=comparison.significance_level,
    )
