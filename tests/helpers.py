"""What tests of several rooms need: tables of cases, scores of made-up systems, no package."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import evalstats as es


def cases(*rows, **options):
    """Parametrise a test: what a row holds goes to the first parameters of the test."""

    def parametrised(test):
        names = [name for name in inspect.signature(test).parameters if name != "self"]
        row = rows[0].values if isinstance(rows[0], ParameterSet) else rows[0]
        chosen = names[: len(row)] if isinstance(row, tuple | list) else names[0]
        return pytest.mark.parametrize(chosen, rows, **options)(test)

    return parametrised


def bad_cases(*rows, error=es.InputError):
    """Parametrise a test that must fail: the last value of a row is what the error says."""

    def parametrised(test):
        @functools.wraps(test)
        def failing(*, message, **given):
            with pytest.raises(error, match=message):
                test(**given)

        names = list(inspect.signature(test).parameters)
        names.insert(len(rows[0]) - 1, "message")
        kind = inspect.Parameter.KEYWORD_ONLY
        failing.__signature__ = inspect.Signature([inspect.Parameter(x, kind) for x in names])
        return cases(*rows)(failing)

    return parametrised


def refuses(message, function, *arguments, **keywords):
    """Assert that a call is refused, with a message."""
    with pytest.raises(es.InputError, match=message):
        function(*arguments, **keywords)


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


@functools.cache
def trees():
    """Return the syntax tree of each file of the package; it takes seconds in each process."""
    paths = sorted(Path(es.__file__).parent.rglob("*.py"))
    return {path: ast.parse(path.read_text("utf-8")) for path in paths}
