"""A callback for any training loop: evaluate every few steps, log, save, and stop early.

Shared by the callbacks of all frameworks: the values to log for checks and for outputs scored
without a check, and the file of a monitor's state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

from evalstats.analysis.estimate import estimate
from evalstats.checks import integer, shown
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.results.estimates import Estimate
from evalstats.results.files import replacing
from evalstats.training.history import Checkpoint, log_name
from evalstats.training.monitor import Monitor


class MonitorCallback:
    """Call it after every step with the step number; it returns whether to stop.

    Parameters
    ----------
    monitor : Monitor
    generate : callable
        Called without arguments at evaluated steps; returns the outputs on the test set, or an
        `Accumulator`.
    every : int
        Evaluate at steps that are multiples of it.
    log : callable, optional
        Called as ``log(values, step=step)`` with a flat dictionary of floats, like ``wandb.log``.
    path : str or path, optional
        File for the monitor's state, in an existing folder: written after every check and read at
        the beginning, so that a killed run can continue. Steps already checked are not checked
        again.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> after_step = MonitorCallback(
    ...     Monitor(sample.references, "chrf", patience=2), lambda: sample.systems["copy"], every=10
    ... )
    >>> for step in range(1, 101):
    ...     if after_step(step):
    ...         break
    >>> step    # nothing changes: two checks after the first
    30
    """

    def __init__(
        self,
        monitor: Monitor,
        generate: Callable[[], Any],
        *,
        every: int = 1,
        log: Callable[..., object] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self.monitor = monitor
        self.generate = generate
        self.every: int = integer(every, "every", 1)
        self.log = log
        self.path: Path | None = None if path is None else Path(path)
        self._resumed = -1
        if self.path is None:
            return
        no_file = "\0" in str(path) or self.path.is_dir()
        if no_file or not self.path.absolute().parent.is_dir():
            raise InputError(
                f"path must be a file in an existing folder, got {shown(str(self.path))}"
            )
        if self.path.exists():
            load_state(monitor, self.path)
            self._resumed = -1 if monitor.last is None else monitor.last.step

    def __call__(self, step: int) -> bool:
        """Evaluate at multiples of `every`; return whether the patience is used up."""
        if step % self.every == 0 and step > self._resumed:
            check = self.monitor.check(step, self.generate())
            if self.path is not None:
                save_state(self.monitor, self.path)
            if self.log is not None:
                self.log(check.to_log(), step=step)
        return self.monitor.should_stop


def checked(monitor: Monitor, step: int, hypotheses: Any, prefix: str = "") -> dict[str, float]:
    """Check a step and return the values to log (`Checkpoint.to_log`).

    Frameworks evaluate some steps twice, for example at the end of the training. The second time
    does not count as a check: the verdict stays, and only score and interval are computed again.
    """
    last = monitor.last
    if last is None or step != last.step:
        return monitor.check(step, hypotheses).to_log(prefix)
    return last.to_log(prefix) | scored(monitor, hypotheses, prefix)


def scored(monitor: Monitor, hypotheses: Any, prefix: str = "") -> dict[str, float]:
    """Score outputs on the monitored set without a check; return the score and its interval."""
    aside = copy(monitor)
    seen = aside.check(0 if monitor.last is None else monitor.last.step + 1, hypotheses)
    return _log_dict(monitor.metric, seen, prefix)


def estimated(
    metric: Metric, hypotheses: Any, references: Any, prefix: str = "", level: float = 0.95
) -> dict[str, float]:
    """Score outputs on any set; return the score and its t interval, or nothing for one segment."""
    if len(hypotheses) < 2:
        return {}
    result = estimate(hypotheses, references, metric, method="t", confidence_level=level)
    return _log_dict(metric, result, prefix)


def check_kept_by(key: object, monitor: Monitor) -> None:
    """Refuse to keep checkpoints by a key with the metric's printed name, which is not logged.

    A framework would notice only when it saves the first checkpoint, which may be hours later.

    Examples
    --------
    >>> check_kept_by("chrf2_best_step", Monitor(["a", "b"], "chrf"))
    Traceback (most recent call last):
    ...
    evalstats.errors.InputError: checkpoints cannot be selected by 'chrf2_best_step', which is not
    logged; use 'chrf_best_step'
    """
    name, printed = log_name(monitor.metric.name), monitor.metric.name.lower()
    if isinstance(key, str) and printed in key and log_name(printed) != printed:
        raise InputError(
            f"checkpoints cannot be selected by {shown(key)}, which is not logged; use "
            f"{key.replace(printed, name)!r}"
        )


def _log_dict(metric: Metric, result: Checkpoint | Estimate, prefix: str) -> dict[str, float]:
    name = prefix + log_name(metric.name)
    return {name: result.score, f"{name}_low": result.low, f"{name}_high": result.high}


def save_state(monitor: Monitor, path: Path, **beside: Any) -> None:
    """Write a monitor's state as JSON; an existing file is replaced atomically."""
    state = json.dumps(monitor.state_dict() | beside, allow_nan=False)
    with replacing(path) as file:
        file.write(state.encode())


def load_state(monitor: Monitor, path: Path) -> dict[str, Any]:
    """Read what `save_state` wrote, and return it."""
    try:
        state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} must contain the state of a monitor ({error!r:.100})") from None
    monitor.load_state_dict(state)
    return state
