"""Samples of a source, with their true values, and the calls of the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import evalstats as es

Rng = np.random.Generator
Floats = NDArray[np.float64]
#: What happened, as (metric, rate, how much), 1 where it happened and 0 where not; of lengths also
#: in proportion to what.
Happened = Iterator[tuple[str, str, float] | tuple[str, str, float, float]]
N_RESAMPLES = 999
#: p-values are multiples of 1/(B + 1), and scores are sums: neither is exact in the last bits.
ROUNDING, TIE = 1e-12, 1e-7
#: The 95 % interval of a normal estimate of known error is so many times as long as the mean of its
#: absolute error, 2·1.96·√(π/2).
NORMAL = 2 * 1.959964 * (np.pi / 2) ** 0.5


class Sample(NamedTuple):
    """Statistics, one table a metric; a mapping holds tasks, whose macro total is asked about."""

    tables: Sequence[es.SegmentStatistics] | Mapping[str, es.SegmentStatistics]
    truth: Mapping[str, Floats]  # by metric, (S,)
    labels: Mapping[str, Any] = {}  # groups or strata, of unpaired systems by system
    whole: Any = None  # the population
    options: Mapping[str, Any] = {}  # of the comparison

    def compared(self, seed: int, **options: Any) -> es.Comparison:
        """Compare, with fewer resamples than by default."""
        drawn = {"n_resamples": N_RESAMPLES, "rng": seed, "executor": 1}
        options = {**drawn, **self.options, **options}
        if isinstance(self.tables, Mapping):
            return es.Suite(self.tables, "macro").compare(**options)
        return es.compare(list(self.tables), **self.labels, **options)

    def asked(self, records: Sequence[Any]) -> list[Any]:
        """Return the records that are asked about: of tasks, only the total's."""
        whole = isinstance(self.tables, Mapping)
        return [x for x in records if not whole or x.aggregate is not None]


def checkpoints(
    table: es.SegmentStatistics, qualities: Iterable[float], rng: Rng, references: es.References
) -> Iterator[es.SegmentStatistics]:
    """Yield checkpoints, each of which has such a share of its segments from the second system."""
    for quality in qualities:
        from_second = rng.random((table.n_segments, 1)) < quality
        rows = np.where(from_second, table.values[1], table.values[0])[None]
        fingerprint = references.fingerprint
        yield es.SegmentStatistics(rows, ("run",), table.metric, fingerprint=fingerprint)


def rejections(metric: str, *pvalues: float) -> Happened:
    """Yield which share of tests of a metric reject at .05 and at .01."""
    for rate, level in (("p ≤ .05", 0.05), ("p ≤ .01", 0.01)):
        yield metric, rate, float(np.mean([rejected(p, level) for p in pvalues]))


def rejected(pvalue: float | None, level: float = 0.05) -> bool:
    """Return whether a p-value is at most the level."""
    return pvalue is not None and pvalue <= level + ROUNDING
