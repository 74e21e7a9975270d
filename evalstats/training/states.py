"""A history as plain Python values, and back: only what checks can have left is taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from evalstats.checks import as_numbers
from evalstats.errors import InputError
from evalstats.training.boundaries import N_FLIPS, Boundary
from evalstats.training.history import Best, History, Rules
from evalstats.training.records import Check
from evalstats.training.selection import Bags, Contest

#: What a check measures; everything else follows from that and from the check before.
_MEASURED = (
    "score", "low", "high", "standard_error", "difference", "difference_low", "difference_high",
    "pvalue", "level", "confidence_level",
)  # fmt: skip


_VERSION = 2
#: Options of a monitor on which its verdicts depend, as its arguments are called.
_NAMES = {
    "metric": "metric",
    "segments": "references or groups",
    "alpha": "significance_level",
    "checks": "expected_checks",
    "n": "n_resamples",
    "seed": "rng",
}
#: What Python says of something that is no state at all.
_NO_STATE = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError
)  # fmt: skip


def to_dict(history: History, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain Python values, which `from_dict` takes."""
    record = _record(history)
    return {"version": _VERSION, "options": options, **record, "digest": _digest(record)}


def from_dict(
    state: Mapping[str, Any],
    options: Mapping[str, Any],
    rules: Rules,
    n_resamples: int,
    n_rows: int | None,
) -> History:
    """Return what `to_dict` wrote, for a monitor with these options and `n_rows` segments.

    Not every change of a number can be seen from the other numbers: that is what the digest is
    for. States of earlier versions have none.

    Raises
    ------
    InputError
        For anything but the state of such a monitor.
    """
    try:
        if state["version"] != _VERSION:
            raise InputError(
                f"state has version {_shown(state['version'])}, expected {_VERSION}: another "
                f"version of evalstats wrote it, which judged otherwise; begin with a new monitor"
            )
        theirs = dict(state["options"])
        for key, name in _NAMES.items():
            if theirs.get(key) != options[key]:
                raise InputError(
                    f"state is from a monitor with different {name}: {_shown(theirs.get(key))} "
                    f"there, {options[key]!r} here"
                )
        history = _history(state, rules, n_resamples, n_rows)
        _agree(state.get("digest") in (None, _digest(_record(history))), "digest", "numbers")
    except InputError:
        raise
    except _NO_STATE as error:
        raise InputError(f"state must be what state_dict returned: {_shown(error)}") from None
    return history


def _record(history: History) -> dict[str, Any]:
    return {
        "checks": [check.to_dict() for check in history.checks],
        "best_rows": None if history.best is None else history.best.rows.tolist(),
        "contest": None if history.contest is None else history.contest.to_dict(),
        "boundary": history.boundary.to_dict(),
        "segment_ids": history.segment_ids,
    }


def _digest(record: dict[str, Any]) -> str:
    # Whole numbers may have become floats on the way, or floats whole numbers.
    rows = record["best_rows"]
    record = {**record, "best_rows": rows and np.array(rows, dtype=np.float64).tolist()}
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _history(
    state: Mapping[str, Any], rules: Rules, n_resamples: int, n_rows: int | None
) -> History:
    checks: tuple[Check, ...] = ()
    for record in state["checks"]:
        checks = (*checks, _as_check(record, checks[-1] if checks else None, rules))
    if not checks:
        return History()
    ids = state.get("segment_ids")
    if not isinstance(ids, (str, type(None))):
        raise TypeError("segment_ids")
    rows = np.array(state["best_rows"])
    as_numbers(rows, "best_rows of the state", len(rules.metric.columns))
    _agree(len(rows) >= 2 and n_rows in (None, len(rows)), "best_rows", "segments or groups")
    steps = [check.step for check in checks]
    at = steps.index(checks[-1].best_step)
    best = Best.of(rules, rows)
    expected = (checks[at].score, checks[at].standard_error)
    _agree(np.allclose((best.score, best.spread.error), expected, 1e-9), "best_rows", "checks")
    best = replace(best, score=checks[at].score)
    contest = Contest.from_dict(state["contest"], steps)
    highest = (checks[-1].highest_step, checks[-1].highest_score)
    _agree((contest.step, contest.score) == highest, "contest", "checks")
    n_bags = len(Bags(len(rows), n_resamples, rules.seed))
    arrays = [value for value in vars(contest).values() if isinstance(value, np.ndarray)]
    _agree(all(a.shape == (n_bags,) for a in arrays), "contest", f"{n_bags} resamples")
    boundary = Boundary.from_dict(state["boundary"])
    crossed = np.count_nonzero(~boundary.alive) / N_FLIPS
    most = rules.spent(len(checks) - 1) - rules.spent(at) + 1 / N_FLIPS
    _agree(boundary.before == rules.spent(at) and crossed <= most, "boundary", "checks")
    return History(checks, best, contest, boundary, ids)


def _as_check(record: Mapping[str, Any], previous: Check | None, rules: Rules) -> Check:
    """Return a check if it is one that can follow on the one before."""
    step = record["step"]
    if type(step) is not int or not 0 <= step <= 2**53:
        raise TypeError("step")
    measured = {name: float(record[name]) for name in _MEASURED}
    check = rules.judged(previous, {"step": step, **measured})
    # Another patience may have been used up.
    check = replace(check, should_stop=bool(record["should_stop"]))
    if previous is None:
        nothing = (check.difference, check.difference_low, check.difference_high)
        fits = nothing == (0, 0, 0) and (check.pvalue, check.level) == (1, 0)
    else:
        fits = check.difference == check.score - previous.best_score and step > previous.step
    if not (
        fits
        and check.to_dict() == dict(record)
        and np.all(np.isfinite(list(measured.values())))
        and check.low <= check.score <= check.high
        and check.difference_low <= check.difference <= check.difference_high
        and check.standard_error >= 0
        and 0 < check.pvalue <= 1
        and 0 <= check.level <= rules.significance_level
        and 0 < check.confidence_level < 1
    ):
        raise InputError(
            f"the check of step {step} in the state is none that a monitor makes after those "
            f"before it; use the state as state_dict returned it"
        )
    return check


def _agree(fits: object, name: str, other: str) -> None:
    if not fits:
        raise InputError(
            f"{name} of the state does not fit its {other}; use the state as state_dict returned it"
        )


def _shown(value: object) -> str:
    return f"{value!r:.100}"
