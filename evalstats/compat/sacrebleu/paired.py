"""sacreBLEU's two paired tests on its own draws, all systems and metrics at once.

P-values come in a list for each metric, one for each system but the baseline.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalstats.compat.sacrebleu.draws import (
    Array,
    Groups,
    bootstrap_scores,
    randomization_differences,
)


def paired_bootstrap(
    groups: Groups, n_resamples: int, rng: np.random.Generator
) -> tuple[list[list[float]], list[list[Array]]]:
    """Run `--paired-bs`: p-values, and the replicates `(B,)` of baselines and systems."""
    replicates = bootstrap_scores(groups, n_resamples, rng)
    differences = [[values - first for values in others] for first, *others in replicates]
    return _pvalues(moses_bootstrap_pvalue, groups, differences), replicates


def paired_randomization(
    groups: Groups, n_trials: int, rng: np.random.Generator
) -> list[list[float]]:
    """Run `--paired-ar`: p-values."""
    differences = randomization_differences(groups, n_trials, rng)
    return _pvalues(strict_randomization_pvalue, groups, differences)


def moses_bootstrap_pvalue(observed: float, replicates: Array) -> float:
    """Return the p-value of `--paired-bs` from a difference and its replicates, `(B,)`.

    ``|Δ*|`` minus its own mean, compared with ``|Δ|`` by ``>``. The absolute value comes before the
    centring, which makes the test one-sided in effect: it rejects about 10 % of true null
    hypotheses at 0.05, and calls identical systems different with p = 1/(B + 1).
    """
    folded = np.abs(replicates)
    count = int(np.count_nonzero(folded - np.mean(folded) > abs(observed)))
    return (count + 1) / (len(replicates) + 1)


def strict_randomization_pvalue(observed: float, shuffled: Array) -> float:
    """Return the p-value of `--paired-ar` from a difference and those after swaps, `(B,)`.

    Compares by `>`: ties count as evidence, and identical systems get p = 1/(B + 1).
    """
    count = int(np.count_nonzero(np.abs(shuffled) > abs(observed)))
    return (count + 1) / (len(shuffled) + 1)


def _pvalues(
    pvalue: Callable[[float, Array], float], groups: Groups, differences: list[list[Array]]
) -> list[list[float]]:
    return [
        [
            pvalue(float(system.score.score - baseline.score.score), resampled)
            for system, resampled in zip(systems, found, strict=True)
        ]
        for (baseline, *systems), found in zip(groups, differences, strict=True)
    ]
