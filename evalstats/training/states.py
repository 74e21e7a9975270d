"""A history as plain Python values, and back: only what checks can have left is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from evalstats.checks import as_numbers
from evalstats.errors import InputError
from evalstats.training.boundaries import N_FLIPS, Boundary
from evalstats.training.history import Best, History, Rules
from evalstats.training.records import Check
from evalstats.training.selection import Bags, Contest

_TYPES: dict[object, tuple[type, ...]] = {
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
}
#: What follows from the other fields and from the check before, or may differ between monitors.
_DERIVED = {
    "metric", "compared_with", "improved", "best_step", "best_score", "highest_step",
    "highest_score", "checks_without_improvement", "should_stop", "higher_is_better",
}  # fmt: skip


def to_dict(history: History) -> dict[str, Any]:
    """Return plain Python values, which `from_dict` takes."""
    return {
        "checks": [check.to_dict() for check in history.checks],
        "best_rows": None if history.best is None else history.best.rows.tolist(),
        "contest": None if history.contest is None else history.contest.to_dict(),
        "boundary": history.boundary.to_dict(),
    }


def from_dict(
    state: Mapping[str, Any], rules: Rules, n_resamples: int, n_segments: int | None
) -> History:
    """Return what `to_dict` wrote; KeyError, TypeError or ValueError where it did not.

    `n_segments` is the number of rows (segments or groups) where it is known.
    """
    checks: tuple[Check, ...] = ()
    for record in state["checks"]:
        checks = (*checks, _as_check(record, checks[-1] if checks else None, rules))
    if not checks:
        return History()
    rows = np.array(state["best_rows"])
    as_numbers(rows, "best_rows of the state", len(rules.metric.columns))
    if n_segments not in (None, len(rows)):
        raise InputError(f"best_rows of the state has {len(rows)} rows, expected {n_segments}")
    steps = [check.step for check in checks]
    at = steps.index(checks[-1].best_step)
    best = Best.of(rules.metric, rows)
    expected = (checks[at].score, checks[at].standard_error)
    _agree(np.allclose((best.score, best.standard_error), expected, 1e-9), "best_rows", "checks")
    contest = Contest.from_dict(state["contest"])
    highest = (checks[-1].highest_step, checks[-1].highest_score)
    _agree((contest.step, contest.score) == highest, "contest", "checks")
    _agree(set(contest.winners.tolist()) <= set(steps), "contest", "checks")
    arrays = [value for value in vars(contest).values() if isinstance(value, np.ndarray)]
    n_bags = len(Bags(len(rows), n_resamples, rules.seed))
    fits = all(a.shape == (n_bags,) and np.all(np.isfinite(a)) for a in arrays)
    _agree(fits, "contest", f"{n_bags} resamples")
    boundary = Boundary.from_dict(state["boundary"])
    crossed = np.count_nonzero(~boundary.alive) / N_FLIPS
    most = rules.spent(len(checks) - 1) - rules.spent(at) + 1 / N_FLIPS
    _agree(boundary.before == rules.spent(at) and crossed <= most, "boundary", "checks")
    return History(checks, best, contest, boundary)


def _as_check(record: Mapping[str, Any], previous: Check | None, rules: Rules) -> Check:
    """Return a check if it is one that can follow on the one before."""
    check = Check(**record)
    for f in fields(check):
        value = record[f.name]
        # A bool is an int to Python.
        if not isinstance(value, _TYPES[f.type]) or (isinstance(value, bool) and f.type != "bool"):
            raise TypeError(f"{f.name} of a check must be {f.type}, got {value!r}")
    numbers = [value for value in record.values() if isinstance(value, float)]
    measured = {name: value for name, value in record.items() if name not in _DERIVED}
    again = replace(rules.judged(previous, measured), should_stop=check.should_stop)
    if previous is None:
        nothing = (check.difference, check.difference_low, check.difference_high)
        fits = nothing == (0, 0, 0) and (check.pvalue, check.level) == (1, 0)
    else:
        fits = check.difference == check.score - previous.best_score and check.step > previous.step
    if not (
        fits
        and again == check
        and np.all(np.isfinite(numbers))
        and check.step >= 0
        and check.low <= check.score <= check.high
        and check.difference_low <= check.difference <= check.difference_high
        and check.standard_error >= 0
        and 0 < check.pvalue <= 1
        and 0 <= check.level <= rules.significance_level
        and 0 < check.confidence_level < 1
    ):
        raise InputError(
            f"the check of step {check.step} in the state is none that a monitor makes after those "
            f"before it; use the state as state_dict returned it"
        )
    return check


def _agree(fits: object, name: str, other: str) -> None:
    if not fits:
        raise InputError(
            f"{name} of the state does not fit its {other}; use the state as state_dict returned it"
        )
