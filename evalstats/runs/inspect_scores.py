"""Scores in a log of Inspect: what the samples have, as numbers, and what the log states.

"C", "I", "P" and "N" are 1, 0, 0.5 and 0, as in Inspect's ``value_to_float``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.runs.items import is_finite, number
from evalstats.runs.sources import at, entry

_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_BOOLEANS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: What a log calls a mean, and how it may reduce epochs to be one; over one epoch, all of these
#: are the answer itself.
_MEANS = ("accuracy", "mean")
_OF_MANY, _OF_ONE = (None, "mean"), (None, "mean", "median", "mode", "max")


def columns(header: Any, samples: Sequence[Any], path: object) -> dict[str, dict[int, Any]]:
    """Return the values of every score, by the number of the sample; ``scorer.key`` for several."""
    found: dict[str, dict[int, Any]] = {}
    inner: dict[str, set[str]] = {}
    for i, sample in enumerate(samples):
        scores = sample.get("scores")
        if scores is None and sample.get("score") is not None:  # as until version 1
            scores = {str(at(header, "results", "scorer", "name")): sample["score"]}
        if not isinstance(scores, (Mapping, type(None))):
            raise InputError(f"{path}, sample {i}: scores must be an object")
        for scorer, score in (scores or {}).items():
            value = entry(score, "value", where=f"{path}, sample {i}, score {scorer}")
            if not isinstance(value, Mapping):
                found.setdefault(scorer, {})[i] = value
                continue
            for key, one in value.items():
                found.setdefault(f"{scorer}.{key}", {})[i] = one
                inner.setdefault(scorer, set()).add(f"{scorer}.{key}")
    # Where scores have several values, one NaN stands for all of them.
    for scorer, keys in inner.items():
        if all(map(_is_nan, found.get(scorer, {}).values())):
            whole = found.pop(scorer, {})
            for key in keys:
                found[key].update(whole)
    return found


def as_number(value: object, where: str) -> float | None:
    """Return a score as Inspect reads it, NaN where it is unscored; None for what is no score."""
    if isinstance(value, float) and value != value:
        return value
    if not isinstance(value, str):
        return number(value, where) if isinstance(value, (bool, int, float)) else None
    if value in _WORDS:
        return _WORDS[value]
    if value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    try:
        found = float(value)
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def stated(
    header: Any, model: str, n_epochs: int, skipped: list[str]
) -> dict[str, dict[str, float]]:
    """Return the means that the log states, by the name of the score and the model."""
    given = at(header, "results", "scores")
    scorer = at(header, "results", "scorer")
    if isinstance(scorer, Mapping):  # as until version 1
        given = [{**scorer, "metrics": at(header, "results", "metrics")}]
    found: dict[str, dict[str, float]] = {}
    for score in given if isinstance(given, list) else []:
        metrics = at(score, "metrics")
        if not isinstance(metrics, Mapping):
            continue
        name, scorer, reducer = (score.get(key) for key in ("name", "scorer", "reducer"))
        whole = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        # Without the package that defines it.
        values = {key.rpartition("/")[2]: at(one, "value") for key, one in metrics.items()}
        mean = next((values[kind] for kind in _MEANS if is_finite(values.get(kind))), None)
        if reducer not in (_OF_ONE if n_epochs == 1 else _OF_MANY):
            skipped.append(f"the log's own {whole}, which reduces epochs by {shown(reducer, 60)}")
        elif mean is not None:
            found[whole] = {model: float(mean)}
    return found


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value
