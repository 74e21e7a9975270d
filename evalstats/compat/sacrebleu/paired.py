"""sacreBLEU's two paired tests on its own draws, all systems and metrics at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalstats.compat.sacrebleu.draws import (
    Array,
    Counted,
    bootstrap_scores,
    randomization_differences,
)
from evalstats.inference import significance

#: The systems of one metric, the baseline first.
Group = Sequence[Counted]


@dataclass(frozen=True)
class Tested:
    """A system against the baseline: its p-value, and its replicates where it has some, `(B,)`."""

    pvalue: float | None
    replicates: Array | None = None


def paired_bootstrap(
    groups: Sequence[Group], n_resamples: int, rng: np.random.Generator
) -> list[list[Tested]]:
    """Run `--paired-bs`; the baselines have no p-value."""
    tables = [table for group in groups for table in group]
    scores = iter(bootstrap_scores(tables, n_resamples, rng))
    results = []
    for group in groups:
        first = next(scores)
        results.append([Tested(None, first)])
        for system in group[1:]:
            replicates = next(scores)
            observed = system.score.score - group[0].score.score
            pvalue = significance.moses_bootstrap_pvalue(observed, replicates - first)
            results[-1].append(Tested(pvalue, replicates))
    return results


def paired_randomization(
    groups: Sequence[Group], n_trials: int, rng: np.random.Generator
) -> list[list[Tested]]:
    """Run `--paired-ar`; the baselines have no p-value."""
    pairs = [(group[0], system) for group in groups for system in group[1:]]
    shuffled = iter(randomization_differences(pairs, n_trials, rng) if pairs else [])
    return [
        [Tested(None)]
        + [
            Tested(
                significance.strict_randomization_pvalue(
                    system.score.score - group[0].score.score, next(shuffled)
                )
            )
            for system in group[1:]
        ]
        for group in groups
    ]
