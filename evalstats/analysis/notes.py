"""What a careful reader of a result should know, in a sentence each."""

from __future__ import annotations

from evalstats.results.results import Comparison

#: Below these, intervals cover less than they say and tests see little.
_FEW_SEGMENTS = 100
_FEW_GROUPS = 30


def size_notes(n_segments: int, unit: str) -> tuple[str, ...]:
    """Say when there are too few segments, or groups, to be sure of much."""
    few = _FEW_SEGMENTS if unit == "segment" else _FEW_GROUPS
    if n_segments >= few:
        return ()
    return (f"Only {n_segments} {unit}s: below {few}, intervals and p-values are rough.",)


def comparison_notes(result: Comparison, n_pairs: int) -> tuple[str, ...]:
    """Say which systems are identical, and which p-values more resamples would settle."""
    notes = []
    for difference in result:
        if difference.n_differing == 0:
            notes.append(
                f"{difference.system} and {difference.baseline} have identical "
                f"{difference.metric} statistics on every segment: p = 1."
            )
    level = result.significance_level
    if result.adjustment in ("holm", "bonferroni") and n_pairs / (result.n_resamples + 1) > level:
        notes.append(
            f"With {n_pairs} comparisons and {result.n_resamples} resamples no p-value adjusted "
            f"by {result.adjustment} can reach {level:g}: use more resamples."
        )
    for d in result:
        # The verdict uses the adjusted p-value, whose error grows as it did.
        error = d.pvalue_error * d.pvalue_adjusted / d.pvalue
        if not d.exact and abs(d.pvalue_adjusted - level) < 2 * error:
            notes.append(
                f"p of {d.system} and {d.baseline} ({d.metric}) is {d.pvalue_adjusted:.4f} ± "
                f"{error:.4f} (Monte-Carlo standard error), too close to {level:g} to call: "
                f"use more resamples."
            )
    return tuple(notes)
