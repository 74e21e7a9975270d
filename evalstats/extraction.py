"""From texts to statistics: every system under every metric, each reference prepared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Metric, as_metric
from evalstats.metrics.texts import References, as_references, listed
from evalstats.segments import SegmentStatistics, as_names

Progress = Callable[[int, int, str], None]
Metrics = str | Metric | Sequence[str | Metric]


def extract(
    systems: Mapping[str, Any],
    references: Any = None,
    metric: str | Metric = "bleu",
    *,
    progress: Progress | None = None,
) -> SegmentStatistics:
    """Extract the statistics of every segment of every system, `(S, N, k)`.

    Keep the result, give it to `estimate` and `compare` in place of texts, and no text is read
    twice.

    Parameters
    ----------
    systems : mapping of str to sequence
        Outputs of each system, one a segment (numbers for `Mean` and `Ratio`).
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`.
    metric : str or Metric
        Name or configured object.
    progress : callable, optional
        Called as ``progress(done, total, label)`` before each system.

    Returns
    -------
    SegmentStatistics

    Raises
    ------
    InputError
        For bad input; the message names the system.

    Examples
    --------
    >>> extract({"A": ["a cat"], "B": ["the cat"]}, ["a cat"], "ter").values.tolist()
    [[[0.0, 2.0]], [[1.0, 2.0]]]
    """
    return extract_all(systems, references, metric, progress)[0]


def as_systems(systems: object) -> Mapping[str, Any]:
    """Return outputs by system name, or say what came instead."""
    if not isinstance(systems, Mapping):
        raise InputTypeError(
            "hypotheses must be a dict from system names to outputs (or SegmentStatistics), "
            f"got {type(systems).__name__}"
        )
    as_names(list(systems))
    return systems


def as_metrics(metrics: Metrics) -> list[Metric]:
    """Return one or several metrics as a list of objects."""
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    chosen = [as_metric(metric) for metric in listed(metrics, "metrics", "metrics")]
    if not chosen:
        raise InputError("metrics is empty; give at least one")
    return chosen


def extract_all(
    systems: object, references: object, metrics: Metrics, progress: Progress | None
) -> list[SegmentStatistics]:
    """Extract all systems under all metrics, one `SegmentStatistics` a metric."""
    named = as_systems(systems)
    chosen = as_metrics(metrics)
    outputs = {name: _as_list(texts, name) for name, texts in named.items()}
    lengths = {name: len(texts) for name, texts in outputs.items()}
    if len(set(lengths.values())) > 1:
        given = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InputError(f"hypotheses must have the same number of segments: {given}")
    prepared = None
    if any(metric.uses_references for metric in chosen):
        # An empty corpus is reported as that, not as a disagreement with the references.
        n_segments = next(iter(lengths.values()))
        prepared = as_references(references, n_segments) if n_segments else references
    tables: list[SegmentStatistics] = []
    steps = len(chosen) * len(outputs)
    for metric in chosen:
        blocks: list[NDArray[Any]] = []
        for name, texts in outputs.items():
            if progress is not None:
                progress(len(tables) * len(outputs) + len(blocks), steps, f"{metric.name} {name}")
            blocks.append(_statistics_of(metric, name, texts, prepared))
        label = prepared.label if isinstance(prepared, References) else None
        tables.append(
            SegmentStatistics(
                np.stack(blocks),
                tuple(outputs),
                metric,
                label if metric.uses_references else None,
            )
        )
    return tables


def _as_list(texts: object, name: str) -> list[Any] | NDArray[Any]:
    """Return a system's outputs with a length; generators are read once, for all metrics."""
    if isinstance(texts, np.ndarray):
        return texts
    return listed(texts, f"hypotheses of system {name!r}", "segments")


def _statistics_of(metric: Metric, name: str, texts: Any, references: Any) -> NDArray[Any]:
    try:
        rows = np.asarray(metric.statistics(texts, references))
    except InputError as error:
        raise type(error)(f"system {name!r}: {error}") from None
    expected = (len(texts), len(metric.columns))
    if rows.shape != expected:
        raise InputError(
            f"{metric.name}.statistics must return shape (N, k) = {expected}, got {rows.shape}"
        )
    return rows
