"""The block of uncertainty in the common schema of evaluation results (Every Eval Ever, 0.2)."""

from __future__ import annotations

from typing import Any

from evalstats.results.records import EstimateRecord

#: Intervals that are made of resamples.
_DRAWN = ("bootstrap", "percentile", "bca")


def uncertainty(estimate: EstimateRecord) -> dict[str, Any]:
    """Return ``score_details.uncertainty`` of `eval.schema.json`: how sure a score is.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate([1, 0, 1, 1], None, es.Mean("accuracy")).to_every_eval_ever()
    >>> found["confidence_interval"]["method"], found["num_samples"]
    ('wilson', 4)
    """
    found: dict[str, Any] = {
        "standard_error": {
            "value": estimate.standard_error,
            # That of influence values, whatever the interval is.
            "method": "analytic",
        },
        "confidence_interval": {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": estimate.confidence_level,
            "method": estimate.method,
        },
        "num_samples": estimate.n_segments,
    }
    if len(estimate.replicates) and estimate.method in _DRAWN:
        found["num_bootstrap_samples"] = len(estimate.replicates)
    return found
