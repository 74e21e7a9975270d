"""What tests of several rooms need: scores of made-up systems, the score of items, no package."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

import evalstats as es


def graded(n_systems=2, n=200, gap=0.3, seed=3, noise=1.0):
    """Return scores of systems on n items that are hard for all, each better than the one before.

    Systems are called s0, s1, and so on; the mean of each is `gap` above that of the one before,
    and what is left of a score has the standard deviation `noise`.
    """
    rng = np.random.default_rng(seed)
    items = rng.normal(size=n)
    return {f"s{i}": items + noise * rng.normal(size=n) + gap * i for i in range(n_systems)}


def apart(n=60, names: Sequence[str] = "AB", seed=1):
    """Return independent scores of systems, each half a point better than the one before."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(i / 2, 1, n) for i, name in enumerate(names)}


def score_of(metric: es.Metric, *items):
    """Return the score of all items: hypotheses, and references if the metric has some."""
    return float(metric.score(metric.statistics(*items).sum(axis=0)))


def hide(monkeypatch, package: str):
    """Make the import of a package fail, as if it were not installed."""
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
