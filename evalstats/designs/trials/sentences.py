"""How much of a variance is items, and how much chance in several trials of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from evalstats.results.records import distinct

#: Metrics that a line names; more are counted.
_NAMED = 8


class TrialShares(NamedTuple):
    """Which shares of variances are chance in trials; the rest is items."""

    metric: str
    fewest: int  # trials of an item
    most: int
    of_scores: tuple[float, ...]  # of the variance of items' means, of each system that varies
    of_differences: tuple[float, ...]  # likewise of their differences, of each pair


def trial_notes(shares: Iterable[TrialShares]) -> Iterator[str]:
    """Say which part of variances is chance in trials: one line for metrics of the same trials."""
    by_metric: dict[str, list[TrialShares]] = {}
    for one in shares:
        by_metric.setdefault(one.metric, []).append(one)
    alike: dict[tuple[TrialShares, ...], list[str]] = {}
    for metric, shares in by_metric.items():
        alike.setdefault(tuple(one._replace(metric="") for one in shares), []).append(metric)
    for same, metrics in alike.items():
        sizes = sorted({n for one in same for n in (one.fewest, one.most)})
        number = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        scores = [share for one in same for share in one.of_scores]
        pairs = [share for one in same for share in one.of_differences]
        parts = [f"{_span(scores)} % of the variance of items' means"] if scores else []
        parts += [f"{_span(pairs)} % of that of their differences"] if pairs else []
        if parts:
            names = distinct(metrics)
            what = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} metrics"
            yield (
                f"{what}: chance in {number} trials of an item makes {' and '.join(parts)}, and "
                f"items the rest."
            )


def _span(shares: Sequence[float]) -> str:
    """Return ``30``, or ``30 to 45``, of shares in percent."""
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    return low if low == high else f"{low} to {high}"
