"""Claims under several metrics, or on several tasks, at once: "better under BLEU and chrF"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalstats.analysis.comparison import Comparison
from evalstats.errors import Argument, InputError
from evalstats.results import tabular
from evalstats.results.convert import Level, Share
from evalstats.results.forms import Result
from evalstats.results.lookup import of_metric, of_pair, of_task
from evalstats.results.records import distinct, has_tasks
from evalstats.results.tabular import Table, table_of


@dataclass(frozen=True, repr=False)
class JointClaim(Result):
    """One system is better than another under each of several metrics; printed, a sentence.

    Attributes
    ----------
    system, baseline : str
        Which one is better, and than which.
    metrics : tuple of str
        Under which metrics, after the task where there are several.
    pvalues, pvalue : tuple of float, float
        One-sided p-value of each, of this pair alone, and their largest. It is half of the
        two-sided one where the system is better, and what that half leaves of 1 where it is worse
        (``compare(alternative=...)`` counts the resamples of that side, and says the same up to
        one or two of them). Identical systems have 1.
    significance_level : float
        Of the comparison.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [4.0, 5, 6, 4.9, 4, 6]}
    >>> result = es.compare(marks, metrics=es.Mean("marks"))
    >>> result.joint("B", "A").significant
    True
    """

    system: str
    baseline: str
    metrics: tuple[str, ...]
    pvalues: tuple[Share, ...]
    pvalue: Share
    significance_level: Level

    derived = ("significant",)

    @property
    def significant(self) -> bool:
        """Whether the claim is shown: the p-value is at most the level."""
        return self.pvalue <= self.significance_level

    def __str__(self) -> str:
        shown = "is" if self.significant else "is not shown to be"
        rows = zip(self.metrics, self.pvalues, strict=True)
        return (
            f"{self.system} {shown} better than {self.baseline} under each of "
            f"{', '.join(self.metrics)} at {self.significance_level:g}: one-sided "
            f"{tabular.p_is(self.pvalue)}, the largest of "
            + ", ".join(f"{tabular.pvalue(p)} ({metric})" for metric, p in rows)
        )

    __repr__ = __str__

    def _records(self) -> list[dict[str, Any]]:
        names = {"system": self.system, "baseline": self.baseline}
        rows = zip(self.metrics, self.pvalues, strict=True)
        return [{**names, "metric": metric, "pvalue": p} for metric, p in rows]

    def _tables(self, digits: int | None = None) -> list[Table]:
        rows = [*zip(self.metrics, self.pvalues, strict=True), ("all of them", self.pvalue)]
        columns: list[tabular.Column] = [
            ("metric", "<", lambda line: line[0]),
            ("one-sided p", ">", lambda line: tabular.pvalue(line[1])),
        ]
        title = f"{self.system} better than {self.baseline}"
        return [table_of(title, rows, columns, n_totals=1)]

    def _notes(self) -> list[str]:
        return [str(self)]


def joint_claim(
    comparison: Comparison,
    system: str,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    task: str | Sequence[str] | None = None,
) -> JointClaim:
    """Ask whether a system is better under several metrics, or on several tasks, at once.

    The claim "better under BLEU *and* chrF" is shown where each of the two is, at the level
    itself: its p-value is the largest of the one-sided ones (an intersection-union test;
    Berger, 1982). It is of this pair alone; adjust the p-values of several pairs.

    Parameters
    ----------
    system, baseline : str
        Which one is better, and than which, in either order.
    metrics : sequence of str, optional
        Some metrics of the comparison, by default all.
    task : str or sequence of str, optional
        On each of these; by default in total where there is one.

    Raises
    ------
    InputError
        For what was not compared, and where the alternative is one-sided.

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    >>> result = es.compare(pair, sample.references, ["bleu", "chrf"], n_resamples=999)
    >>> print(result.joint("clearly-better", "baseline"))
    clearly-better is better than baseline under each of BLEU, chrF2 at 0.05: one-sided p ...
    """
    baseline = comparison.baseline if baseline is None else baseline
    names = [task] if task is None or isinstance(task, str) else task
    tasks = [of_task(comparison.differences, name) for name in names]
    if isinstance(metrics, str):
        raise InputError(f"must be a list of names, got the str {metrics!r}", argument="metrics")
    # A pair is compared once, in one order or the other.
    turned = any((d.system, d.baseline) == (baseline, system) for d in comparison)
    pair = (baseline, system) if turned else (system, baseline)
    differences = [
        of_pair(of_metric(of_one_task, metric), *pair)
        for of_one_task in tasks
        for metric in (distinct(d.metric for d in of_one_task) if metrics is None else metrics)
    ]
    if not differences:
        raise InputError("metrics and task must not be empty")
    if comparison.alternative != "two-sided":
        raise InputError(
            "joint() needs a two-sided comparison, of whose p-values it takes one side; compare "
            "with ",
            Argument("alternative", "two-sided"),
            f", got {comparison.alternative!r}",
        )
    first, named = differences[0], has_tasks(differences)
    pvalues = []
    for d in differences:
        # That the system is no better, from the two-sided p-value.
        one_sided = d.pvalue / 2 if d.winner == system else 1 - d.pvalue / 2
        pvalues.append(1.0 if d.n_differing == 0 else one_sided)
    return JointClaim(
        system=system,
        baseline=first.baseline if first.system == system else first.system,
        metrics=tuple(f"{d.task}: {d.metric}" if named else d.metric for d in differences),
        pvalues=tuple(pvalues),
        pvalue=max(pvalues),
        significance_level=comparison.significance_level,
    )
