"""A history as plain Python values, and back: only what checks can have left is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evalstats.checks import as_numbers, integer
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


def to_dict(history: History) -> dict[str, Any]:
    """Return plain Python values, which `from_dict` takes."""
    return {
        "checks": [check.to_dict() for check in history.checks],
        "best_rows": None if history.best is None else history.best.rows.tolist(),
        "contest": None if history.contest is None else history.contest.to_dict(),
        "boundary": history.boundary.to_dict(),
    }


def from_dict(state: Mapping[str, Any], rules: Rules, n_resamples: int) -> History:
    """Return what `to_dict` wrote; KeyError, TypeError or ValueError where it did not."""
    checks: tuple[Check, ...] = ()
    for record in state["checks"]:
        checks = (*checks, _as_check(record, checks[-1] if checks else None, rules))
    if not checks:
        return History()
    rows = np.array(state["best_rows"])
    as_numbers(rows, "best_rows of the state", len(rules.metric.columns))
    steps = [check.step for check in checks]
    at = steps.index(checks[-1].best_step)
    best = Best.of(rules, rows)
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
    step = integer(record["step"], "step of a check of the state", 0)
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
