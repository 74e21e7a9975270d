"""sacreBLEU's two paired tests on its own draws, all systems and metrics at once.

P-values come in a list for each metric, one for each system but the baseline.
"""

from __future__ import annotations

import numpy as np

from evalstats.compat.sacrebleu.draws import (
    Array,
    Counted,
    Groups,
    bootstrap_scores,
    randomization_differences,
)
from evalstats.inference.significance import (
    moses_bootstrap_pvalue,
    strict_randomization_pvalue,
)


def paired_bootstrap(
    groups: Groups, n_resamples: int, rng: np.random.Generator
) -> tuple[list[list[float]], list[list[Array]]]:
    """Run `--paired-bs`: p-values, and the replicates `(B,)` of baselines and systems."""
    replicates = bootstrap_scores(groups, n_resamples, rng)
    pvalues = [
        [
            moses_bootstrap_pvalue(_observed(group[0], system), values - first)
            for system, values in zip(group[1:], others, strict=True)
        ]
        for group, (first, *others) in zip(groups, replicates, strict=True)
    ]
    return pvalues, replicates


def paired_randomization(
    groups: Groups, n_trials: int, rng: np.random.Generator
) -> list[list[float]]:
    """Run `--paired-ar`: p-values."""
    return [
        [
            strict_randomization_pvalue(_observed(group[0], system), values)
            for system, values in zip(group[1:], differences, strict=True)
        ]
        for group, differences in zip(
            groups, randomization_differences(groups, n_trials, rng), strict=True
        )
    ]


def _observed(baseline: Counted, system: Counted) -> float:
    return float(system.score.score - baseline.score.score)
