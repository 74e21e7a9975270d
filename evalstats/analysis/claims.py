"""Claims of several pairs: their p-values adjusted together, over pairs and over tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalstats.analysis.pairs import Record
from evalstats.inference.families import ADJUSTMENTS, holm_over
from evalstats.results.records import MarginTest, is_mixed, part_of

#: Claims whose p-values are adjusted, each kind by itself.
CLAIMS = ("pvalue_not_worse", "pvalue_equivalence")


class Tested(NamedTuple):
    """A pair under one metric, tested within its task, or total."""

    task: str
    aggregate: str | None
    metric: str
    pvalue: float
    adjusted: float  # for all pairs of the task
    claims: Mapping[str, float]  # fields of a `MarginTest`
    test: str
    method: str
    record: Record

    @property
    def part(self) -> str:
        """Within what pairs are adjusted already: a task, or a total under its metric."""
        return part_of(self.task, self.aggregate, self.metric)


def families_of(tests: Sequence[Tested], over_metrics: bool) -> list[list[int]]:
    """Return the places of the tests that are adjusted together.

    These are the rows of all tasks under one metric, or under all where that was asked for, or a
    total is of several; and, apart, the totals.
    """
    families: dict[Any, list[int]] = {}
    mixed = over_metrics or is_mixed(tests)
    for i, one in enumerate(tests):
        key = one.aggregate is not None, "" if mixed else one.metric
        families.setdefault(key, []).append(i)
    return list(families.values())


def adjusted_over_tasks(
    tests: Sequence[Tested], adjustment: str, over_metrics: bool
) -> list[float]:
    """Adjust p-values over tasks, within each metric, or all together; totals apart."""
    pvalues = [one.adjusted for one in tests]
    for places in families_of(tests, over_metrics):
        if adjustment == "max-t":
            # Within each task, or total, that is done.
            parts = [tests[i].part for i in places]
            stepped = holm_over(parts, [tests[i].adjusted for i in places])
        else:
            stepped = ADJUSTMENTS[adjustment]([tests[i].pvalue for i in places])
        for i, p in zip(places, stepped.tolist(), strict=True):
            pvalues[i] = p
    return pvalues


def margin_tests(
    tests: Sequence[Tested], adjustment: str, over_metrics: bool
) -> list[MarginTest | None]:
    """Return the tests of margins with adjusted p-values, where there are claims.

    Claims of equivalence are adjusted among themselves, and so are those of no loss; max-T, which
    is about differences from 0, is Holm's method here. What cannot be claimed of a pair counts all
    the same, with a p-value of 1: whether it can was seen in the data.
    """
    adjust = ADJUSTMENTS["holm" if adjustment == "max-t" else adjustment]
    adjusted: list[dict[str, float]] = [{} for _ in tests]
    for places in families_of(tests, over_metrics):
        for name in CLAIMS:
            known = [tests[i].claims.get(name) for i in places]
            stepped = adjust([1.0 if p is None else p for p in known]).tolist()
            for i, p, q in zip(places, known, stepped, strict=True):
                if p is not None:
                    adjusted[i][f"{name}_adjusted"] = q
    return [
        MarginTest(**one.claims, **more) if one.claims else None
        for one, more in zip(tests, adjusted, strict=True)
    ]
