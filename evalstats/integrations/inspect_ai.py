"""Inspect: the interval of a mean as a metric, registered by an entry point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from evalstats.analysis.estimate import estimate
from evalstats.analysis.options import checked
from evalstats.analysis.settings import Method
from evalstats.checks import is_missing, share, shown
from evalstats.errors import InputError, MissingExtraError
from evalstats.metrics import Mean

try:
    from inspect_ai.scorer import Metric, SampleScore, Value, ValueToFloat, metric, value_to_float
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.inspect_ai requires inspect-ai: pip install inspect-ai"
    ) from error


@metric
def interval(
    level: float = 0.95,
    cluster: str | None = None,
    method: str = "bootstrap",
    to_float: ValueToFloat = value_to_float(),  # noqa: B008
) -> Metric:
    """Return a metric of Inspect: the interval of the mean, ``low`` and ``high``.

    Use it together with ``mean`` or ``accuracy`` in a scorer or a task: ``metrics=[mean(),
    interval()]``. Its name in a log is ``evalstats/interval``, and Inspect finds it by this name if
    the package is installed, for example when a log is scored again.

    It is the same interval as from `estimate_logs`: Wilson's (1927) for scores 0 and 1, otherwise a
    bootstrap interval. The unit is the sample. With several epochs it is the reducer's score, and
    without a reducer (``Epochs(4, [])``) the mean of the answers to a sample; if samples have
    different numbers of scores, the scores of a sample are drawn together.

    Parameters
    ----------
    level : float
        In (0, 1).
    cluster : str, optional
        A key of the samples' metadata: samples with the same value there, such as the questions on
        one passage, are one unit.
    method : {"bootstrap", "t"}
        As in `estimate`.
    to_float : callable, optional
        Turns a score's value into a number; by default Inspect's `value_to_float`.

    Returns
    -------
    Metric
        From scores to ``{"low": ..., "high": ...}``; NaN for fewer than two units.

    Raises
    ------
    InputError
        For bad options; and later, if a sample has no value for `cluster`.
    """
    share(level, "level")
    chosen = cast(Method, checked("method", method))

    def interval_of(scores: list[SampleScore]) -> Value:
        values = [to_float(score.score.value) for score in scores]
        ids = [score.sample_id for score in scores]
        # Samples without ids are named by their places.
        samples = [str(place if None in ids else name) for place, name in enumerate(ids)]
        labels = samples if cluster is None else _clusters(scores, cluster)
        places: dict[str, list[int]] = {}
        for place, sample in enumerate(samples):
            places.setdefault(sample, []).append(place)
        # If samples have different numbers of scores, the mean of the samples' means would not be
        # the mean of the scores, which is shown with the interval.
        if len({len(of_sample) for of_sample in places.values()}) == 1:
            values = [float(np.mean([values[i] for i in indices])) for indices in places.values()]
            labels = [labels[indices[0]] for indices in places.values()]
        n_units = len(set(labels))
        if n_units < 2:
            return {"low": math.nan, "high": math.nan}
        estimated = estimate(
            values,
            metric=Mean("mean"),
            groups=labels if n_units < len(labels) else None,
            confidence_level=level,
            method=chosen,
        )
        return {"low": estimated.low, "high": estimated.high}

    return interval_of


def _clusters(scores: Sequence[SampleScore], cluster: str) -> list[str]:
    """Return the value of this metadata key for the sample of every score."""
    labels = [(score.sample_metadata or {}).get(cluster) for score in scores]
    for score, label in zip(scores, labels, strict=True):
        if is_missing(label):
            raise InputError(
                "must be a key in the metadata of every sample, but sample "
                f"{shown(score.sample_id, 60)} has no key {shown(cluster, 60)}",
                argument="cluster",
            )
    return [str(label) for label in labels]
