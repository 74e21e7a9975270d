"""sacreBLEU's two paired tests on its own draws, all systems and metrics at once.

A group holds the systems of one metric, the baseline first. P-values come in a list a group, one
for each system but the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalstats.compat.sacrebleu.draws import (
    Array,
    Counted,
    bootstrap_scores,
    randomization_differences,
)
from evalstats.inference import significance

Groups = Sequence[Sequence[Counted]]


def paired_bootstrap(
    groups: Groups, n_resamples: int, rng: np.random.Generator
) -> tuple[list[list[float]], list[list[Array]]]:
    """Run `--paired-bs`: p-values, and the replicates `(B,)` of baselines and systems."""
    scores = iter(bootstrap_scores([t for group in groups for t in group], n_resamples, rng))
    replicates = [[next(scores) for _ in group] for group in groups]
    pvalues = [
        [
            significance.moses_bootstrap_pvalue(_observed(group[0], system), values - first)
            for system, values in zip(group[1:], others, strict=True)
        ]
        for group, (first, *others) in zip(groups, replicates, strict=True)
    ]
    return pvalues, replicates


def paired_randomization(
    groups: Groups, n_trials: int, rng: np.random.Generator
) -> list[list[float]]:
    """Run `--paired-ar`: p-values."""
    pairs = [(group[0], system) for group in groups for system in group[1:]]
    differences = iter(randomization_differences(pairs, n_trials, rng))
    return [
        [
            significance.strict_randomization_pvalue(_observed(group[0], system), next(differences))
            for system in group[1:]
        ]
        for group in groups
    ]


def _observed(baseline: Counted, system: Counted) -> float:
    return float(system.score.score - baseline.score.score)
