"""Claims of several pairs: their p-values adjusted together, over pairs and over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evalstats.inference.families import ADJUSTMENTS
from evalstats.results.records import Difference, is_mixed


def families_of(found: Sequence[Difference], over_metrics: bool) -> list[list[int]]:
    """Return the places of the differences that are adjusted together.

    These are the rows of all tasks under one metric, or under all where that was asked for, or a
    total is of several; and, apart, the totals.
    """
    families: dict[Any, list[int]] = {}
    mixed = over_metrics or is_mixed(found)
    for i, d in enumerate(found):
        key = d.aggregate is not None, "" if mixed else d.metric
        families.setdefault(key, []).append(i)
    return list(families.values())


def with_adjusted_claims(
    found: Sequence[Difference], adjustment: str, over_metrics: bool
) -> list[Difference]:
    """Return the differences with adjusted p-values of their claims, where there are claims.

    Claims of equivalence are adjusted among themselves, and so are those of no loss; max-T, which
    is about differences from 0, is Holm's method here. What cannot be claimed of a pair counts all
    the same, with a p-value of 1: whether it can was seen in the data.
    """
    adjust = ADJUSTMENTS["holm" if adjustment == "max-t" else adjustment]
    made = list(found)
    for places in families_of(found, over_metrics):
        for name in ("pvalue_not_worse", "pvalue_equivalence"):
            tests = [found[i].margin_test for i in places]
            known = [None if test is None else getattr(test, name) for test in tests]
            stepped = adjust([1.0 if p is None else p for p in known]).tolist()
            for i, p, q in zip(places, known, stepped, strict=True):
                test = made[i].margin_test
                if test is not None and p is not None:
                    test = replace(test, **{f"{name}_adjusted": q})
                    made[i] = replace(made[i], margin_test=test)
    return made
