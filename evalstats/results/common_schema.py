"""The block of uncertainty in the common schema of evaluation results (Every Eval Ever, 0.2)."""

from __future__ import annotations

from typing import Any

from evalstats.results.records import EstimateRecord

#: Intervals whose standard error is that of the influence values, or of the counted outcomes.
_ANALYTIC = ("t", "hall", "wilson", "tango", "nam-blackwelder")


def uncertainty(estimate: EstimateRecord) -> dict[str, Any]:
    """Return ``score_details.uncertainty`` of `eval.schema.json`: how sure a score is.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate([1, 0, 1, 1], None, es.Mean("accuracy")).to_every_eval_ever()
    >>> found["confidence_interval"]["method"], found["num_samples"]
    ('wilson', 4)
    """
    # The error of groups is that of their influence values, whatever the interval is.
    is_analytic = estimate.method in _ANALYTIC or estimate.segment_error is not None
    found: dict[str, Any] = {
        "standard_error": {
            "value": estimate.standard_error,
            "method": "analytic" if is_analytic else "bootstrap",
        },
        "confidence_interval": {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": estimate.confidence_level,
            "method": estimate.method,
        },
        "num_samples": estimate.n_segments,
    }
    if len(estimate.replicates) and not is_analytic:
        found["num_bootstrap_samples"] = len(estimate.replicates)
    return found
