"""The history of a run as plain values for JSON, and back.

A state comes from a file, so every number is validated: a damaged state is refused when it is
loaded, not some checks later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.results.convert import record_of
from evalstats.training.boundary import N_FLIPS, Boundary
from evalstats.training.check_records import Checkpoint, StepScore
from evalstats.training.history import Best, History, Rules
from evalstats.training.selection import BestSoFar

_HASH = re.compile("[0-9a-f]{64}")
#: By how much a score may differ that another machine computed, in standard errors or relatively.
_ROUNDING = 1e-6


def as_state(history: History) -> dict[str, Any]:
    """Return plain Python values for JSON."""
    so_far = {} if history.so_far is None else vars(history.so_far)
    return {
        "checks": [check.to_dict() for check in history.checks],
        "best_rows": None if history.best is None else history.best.rows.tolist(),
        "so_far": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in so_far.items()},
        "surviving": np.packbits(history.boundary.surviving).tobytes().hex(),
        "spent_before": history.boundary.before,
        "segment_ids": history.segment_ids,
    }


def best_rows(state: Mapping[str, Any], metric: Metric, n_units: int | None) -> NDArray[Any] | None:
    """Return the statistics of the best step, `(N, k)`; `None` before the first check.

    N must be `n_units` where that is known.
    """
    if not state["checks"] and state["best_rows"] is None:
        return None
    rows, k = np.array(state["best_rows"]), len(metric.columns)
    if rows.dtype.kind not in "if" or rows.ndim != 2 or rows.shape[1] != k or len(rows) < 2:
        raise InputError(f"state.best_rows are {rows.dtype} of shape {rows.shape}, not (N, {k})")
    if not np.all(np.isfinite(rows)):
        raise InputError("state.best_rows must be finite")
    if n_units is not None and len(rows) != n_units:
        raise InputError(f"state.best_rows has {len(rows)} rows, expected {n_units}")
    metric.check_statistics(rows)
    return rows


def as_history(
    state: Mapping[str, Any], rules: Rules, rows: NDArray[Any] | None, n_bags: int
) -> History:
    """Return the history that `as_state` described.

    Parameters
    ----------
    state : mapping
        With the keys of `as_state`; a missing one is a `KeyError`.
    rules : Rules
    rows : ndarray, shape (N, k), or None
        What `best_rows` returned.
    n_bags : int
        Number of resamples.

    Raises
    ------
    InputError
        Where a value is not of its type or in its range, or does not fit the others.
    """
    if rows is None:
        return History()
    checks = tuple(
        record_of(Checkpoint, record, f"state.checks[{i}]")
        for i, record in enumerate(state["checks"])
    )
    _check_order(checks, rules)
    for i, basis in enumerate(check.basis for check in checks):
        # A kurtosis is at most the number of values.
        n, kurtosis = basis.n_differing, basis.kurtosis or 0.0
        if not (n <= len(rows) and 0 <= kurtosis <= n * (1 + _ROUNDING)):
            raise InputError(f"state.checks[{i}].basis does not fit the number of segments")
    best, standing = Best.of(rules, rows), checks[-1].best
    slack = _ROUNDING * (best.spread.error + abs(standing.score))
    if not isclose(best.score, standing.score, rel_tol=0, abs_tol=slack):
        raise InputError(f"state.best_rows have not the score of step {standing.step}")
    so_far = _best_so_far(state["so_far"], checks, n_bags)
    octets = np.frombuffer(bytes.fromhex(state["surviving"]), dtype=np.uint8)
    if 8 * len(octets) != N_FLIPS:
        raise InputError(f"state.surviving must be {N_FLIPS:,} sign flips, got {8 * len(octets):,}")
    improved = [i for i, check in enumerate(checks) if check.improved]
    before = rules.spent(improved[-1]) if improved else 0.0
    if state["spent_before"] != before:
        raise InputError(f"state.spent_before must be {before:g} after these checks")
    ids = state["segment_ids"]
    if ids is not None and not _HASH.fullmatch(ids):
        raise InputError(f"state.segment_ids must be 64 hexadecimal digits, got {shown(ids)}")
    boundary = Boundary(np.unpackbits(octets).astype(np.bool_), before)
    return History(checks, best, so_far, boundary, ids)


def _check_order(checks: Sequence[Checkpoint], rules: Rules) -> None:
    """Refuse checks that cannot have followed one another under the rules."""
    metric, previous = rules.metric, None
    for i, check in enumerate(checks):
        now = StepScore(check.step, check.score)
        expected: dict[str, Any] = {
            "metric": metric.name,
            "higher_is_better": metric.higher_is_better,
            "compared_with": None,
            "difference": 0.0,
            "improved": False,
            "best": now,
            "highest": now,
            "checks_without_improvement": 0,
        }
        if previous is not None:
            better = check.score - previous.highest.score
            expected |= {
                "compared_with": previous.best.step,
                "difference": check.score - previous.best.score,
                "improved": check.pvalue <= check.level,
                "highest": now
                if (better if metric.higher_is_better else -better) > 0
                else previous.highest,
            }
            if not check.improved:
                expected["best"] = previous.best
                expected["checks_without_improvement"] = previous.checks_without_improvement + 1
            if check.step <= previous.step:
                raise InputError(f"state.checks[{i}].step must be larger than {previous.step}")
        for name, value in expected.items():
            if getattr(check, name) != value:
                raise InputError(f"state.checks[{i}].{name} does not fit the other fields")
        previous = check


def _best_so_far(found: Any, checks: Sequence[Checkpoint], n_bags: int) -> BestSoFar:
    """Return the best of each resample, which must be one of the steps that were checked."""
    step, score = checks[-1].highest
    if (found["step"], found["score"]) != (step, score) or isinstance(found["step"], bool):
        raise InputError(f"state.so_far must be of step {step}, the highest of the checks")
    arrays: dict[str, NDArray[Any]] = {}
    for name in ("out_of_bag", "winners", "winners_in_bag", "winners_out_of_bag"):
        values = np.array(found[name])
        kinds = "i" if name == "winners" else "if"
        if n_bags and (values.dtype.kind not in kinds or not np.all(np.isfinite(values))):
            raise InputError(f"state.so_far.{name} must be finite numbers")
        if values.shape != (n_bags,):
            raise InputError(
                f"state.so_far.{name} must be {n_bags} numbers, one a resample, got an array of "
                f"shape {values.shape}"
            )
        arrays[name] = values.astype(np.int64 if name == "winners" else np.float64)
    if not np.all(np.isin(arrays["winners"], [check.step for check in checks])):
        raise InputError("state.so_far.winners must be steps that were checked")
    return BestSoFar(step, score, **arrays)
