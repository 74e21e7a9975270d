"""How often packages for evaluations call equal systems different, and how often they find a gain.

    pip install errorbars evalsig deltagate holdout-evals   # beside evalstats
    python -m benchmarks.packages 1000    # trials; writes packages.md, which docs/beside.md shows

Each is asked by its function for two systems on the same items. Where that takes no groups, rows
with groups are empty.
"""

import sys
from pathlib import Path

import deltagate
import evalsig
import evalsig.types
import holdout
import numpy as np
from errorbars.compare import paired_compare

import evalstats as es
from benchmarks.calibration.tables import markdown

#: The threshold of a right answer, sizes of groups (1: items), and what the second system gains.
CELLS = {
    "equal; 0/1 scores, 200 items": (-0.3, [1] * 200, 0),
    "equal; 0/1 scores, 60 items, nearly all right": (-1.6, [1] * 60, 0),
    "equal; 30 numerical scores with a long tail": (None, [1] * 30, 0),
    "equal; 0/1 scores, 40 groups of 5": (-0.3, [5] * 40, 0),
    "equal; numerical scores, 12 groups of 1 to 12": (None, [*range(1, 13)], 0),
    "a gain; 0/1 scores, 200 items": (-0.3, [1] * 200, 0.3),
    "a gain; 0/1 scores, 40 groups of 5": (-0.3, [5] * 40, 0.45),
}


def drawn(rng, cut, sizes, gain):
    """Return scores of two systems on the same items, which share effects, and their groups."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    shared = 0.6 * (max(sizes) > 1) * rng.normal(size=(2, len(sizes)))[:, groups]
    latent = rng.normal(size=len(groups)) + shared + 0.7 * rng.normal(size=(2, len(groups)))
    latent[1] += gain
    scores = np.exp(latent) if cut is None else latent > cut
    return *scores.astype(float), groups if max(sizes) > 1 else None


def asked(a, b, groups):
    """Return the p-value of each package."""
    (ours,) = es.compare({"A": a, "B": b}, metrics=es.Mean("score"), groups=groups, executor=1)
    bars = paired_compare(a, b, groups)
    labels = [None] * len(a) if groups is None else map(str, groups)
    rows = [(str(i), *row) for i, row in enumerate(zip(a, b, labels, strict=True))]
    runs = [[evalsig.types.ItemResult(x[0], x[side], x[3]) for x in rows] for side in (1, 2)]
    frames = [evalsig.types.RunFrame("run", "model", "task", "score", items) for items in runs]
    cluster = None if groups is None else "group"
    pvalues = {
        "evalstats": ours.pvalue,
        "errorbars": bars.p_value if groups is None else bars.p_value_clustered,
        "evalsig": evalsig.compare(*frames, cluster=cluster, n_resamples=999).p_value,
        "deltagate": deltagate.paired_delta(a, b, clusters=groups)["p_value"],
    }
    if groups is None:
        pvalues["holdout"] = holdout.compare(a, b, n_resamples=999).p_value
    return pvalues


if __name__ == "__main__":
    rows, n_trials = [], int(sys.argv[1])
    for i, (cell, made) in enumerate(CELLS.items()):
        rng = np.random.default_rng(i)
        trials = [asked(*drawn(rng, *made)) for _ in range(n_trials)]
        shares = {x: np.mean([trial[x] <= 0.05 for trial in trials]) for x in trials[0]}
        rows.append([cell, *(f"{share:.3f}".removeprefix("0") for share in shares.values())])
    names = list(asked(*drawn(rng, *CELLS["equal; 0/1 scores, 200 items"])))
    rows = [row + ["–"] * (len(names) + 1 - len(row)) for row in rows]
    table = markdown([f"{n_trials:,} trials", *names], rows)
    Path(__file__).with_name("packages.md").write_text(table, encoding="utf-8")
