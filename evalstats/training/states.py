"""A history as plain Python values, and back: a digest says that nothing was changed on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from evalstats.errors import InputError
from evalstats.training.boundaries import Boundary
from evalstats.training.history import Best, History, Rules
from evalstats.training.records import Check
from evalstats.training.selection import Contest

_VERSION = 3
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
    record = {
        "checks": [check.to_dict() for check in history.checks],
        "best_rows": None if history.best is None else history.best.rows.tolist(),
        "contest": None if history.contest is None else history.contest.to_dict(),
        "boundary": history.boundary.to_dict(),
        "segment_ids": history.segment_ids,
    }
    return {"version": _VERSION, "options": options, **record, "digest": _digest(record)}


def from_dict(state: Mapping[str, Any], options: Mapping[str, Any], rules: Rules) -> History:
    """Return what `to_dict` wrote, for a monitor with these options.

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
        if state["digest"] != _digest(state):
            raise InputError(
                "digest of the state does not fit its numbers; use the state as state_dict "
                "returned it"
            )
        return _history(state, rules)
    except InputError:
        raise
    except _NO_STATE as error:
        raise InputError(f"state must be what state_dict returned: {_shown(error)}") from None


def _history(state: Mapping[str, Any], rules: Rules) -> History:
    checks = tuple(Check(**record) for record in state["checks"])
    if not checks:
        return History()
    # The same score to the last bit, also where another machine adds in another order.
    best = replace(Best.of(rules, np.array(state["best_rows"])), score=checks[-1].best_score)
    contest, boundary = Contest.from_dict(state["contest"]), Boundary.from_dict(state["boundary"])
    return History(checks, best, contest, boundary, state["segment_ids"])


def _digest(state: Mapping[str, Any]) -> str:
    record = {
        name: state[name] for name in ("checks", "best_rows", "contest", "boundary", "segment_ids")
    }
    # Whole numbers may have become floats on the way, or floats whole numbers.
    rows = record["best_rows"]
    record["best_rows"] = rows and np.array(rows, dtype=np.float64).tolist()
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _shown(value: object) -> str:
    return f"{value!r:.100}"
