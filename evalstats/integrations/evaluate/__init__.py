"""Hugging Face `evaluate`: scores of texts with their intervals, as a module in a local folder.

`FOLDER` is the folder, and the name of a metric is the configuration::

    chrf = evaluate.load(FOLDER, "chrf")
    chrf.compute(predictions=outputs, references=references)

`add_batch` and `evaluate.combine` work as for any module.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalstats.analysis.estimate import estimate
from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import NAMED, Metric, as_metric, written
from evalstats.training.history import log_name

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evalstats.analysis.options import EstimateOptions

#: The path of the module for ``evaluate.load``.
FOLDER = str(Path(__file__).parent)


def metric_named(config_name: str) -> Metric:
    """Return the metric of a configuration of the module; "default" is BLEU."""
    name = "bleu" if config_name == "default" else config_name
    if written(name) not in NAMED:
        names = ", ".join(NAMED)
        raise InputError(f"must be one of {names}; got {shown(name, 60)}", argument="config_name")
    return as_metric(name)


def scored(
    metric: Metric,
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    **options: Unpack[EstimateOptions],
) -> dict[str, float]:
    """Return the score, its interval and its standard error, by name.

    Keys are the metric's name, alone and with ``_low``, ``_high`` and ``_standard_error``. Each of
    N outputs has a reference, or a list of references; `options` are the options of `estimate`.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> found = scored(metric_named("chrf"), sample.systems["copy"], sample.references)
    >>> list(found)
    ['chrf', 'chrf_low', 'chrf_high', 'chrf_standard_error']
    """
    result = estimate(predictions, references, metric, **options)
    name = log_name(metric.name)
    ends = {"low": result.low, "high": result.high, "standard_error": result.standard_error}
    return {name: result.score, **{f"{name}_{end}": value for end, value in ends.items()}}
