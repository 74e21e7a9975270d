"""Gates: whether a quantised, compressed or newly served model may take the place of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evalstats.analysis.compare import compared
from evalstats.analysis.inputs import Given
from evalstats.analysis.options import Options, as_limits
from evalstats.analysis.planning import Planner
from evalstats.checks import also_called, share
from evalstats.errors import InputError
from evalstats.inference.families import holm
from evalstats.logs.joining import OneLog, joined
from evalstats.logs.log import Patterns
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.gate import Gate, GateCheck
from evalstats.results.notes import claim_notes
from evalstats.results.results import Comparison

#: How often what is there to be found should be.
_POWER = 0.8


@also_called(metrics="metric", seed="rng")
def gate(
    new: OneLog,
    base: OneLog,
    *,
    margin: float | None = None,
    recovery: float | None = None,
    significance_level: float = 0.05,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    groups: str | None = None,
    missing: str = "error",
    epochs: str | None = None,
    directions: Mapping[str, str] | None = None,
    n_resamples: int = 9999,
    rng: Rng = 12345,
) -> Gate:
    r"""Say of two logs whether the new one is as good as the base, up to a limit.

    It passes where every task is shown to be within the limit (non-inferiority; Blackwelder, 1982),
    fails where one is shown to be beyond it, and is undecided otherwise: then more items are
    needed, and it says about how many.

    Parameters
    ----------
    new, base : Log or path
        Logs of one system each, joined by the ids of their items.
    margin : float, optional
        The loss that is too much, above 0, in points of each metric.
    recovery : float, optional
        In its place the share of the baseline's score that has to be kept, above 0 and at most 1;
        where lower is better, at most 1/recovery times the baseline's errors may be made.
    significance_level : float
        In (0, 0.5): about how often a system passes that has lost as much as the limit, and how
        often one fails that has lost just as much.
    task, metric, filter, groups, missing, epochs, directions
        As in `compare_logs`.
    n_resamples, rng
        As in `compare`.

    Returns
    -------
    Gate
        Its `verdict` is that of all checks together; `exit_code` is 0, 1 or 3.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    Both tests are those of `compare`: of the bootstrap, and of 0/1 scores and a margin Tango's
    score test (1998). All tasks have to pass, which needs no adjustment (an intersection-union
    test; Berger, 1982); any may fail, and those p-values are adjusted by Holm's method (1979).
    """
    level = share(significance_level, "significance_level", 0.5)
    limits = as_limits(margin, recovery)
    if limits == (None, None):
        raise InputError("give margin, the loss that is too much, or recovery, the share to keep")
    # Bounds are one-sided: each at the level by itself.
    options = Options(
        1 - 2 * level, adjustment="none", n_resamples=n_resamples, seed=as_seed(rng),
        margin=margin, recovery=recovery, significance_level=level,
    )  # fmt: skip
    labels = () if groups is None else (groups,)
    found = joined(
        [base, new], task=task, metric=metric, filter=filter, labels=labels, missing=missing,
        epochs=epochs, directions=directions,
    )  # fmt: skip
    checks, notes = [], list(found.notes)
    for name, table in [(name, table) for name, some in found.tasks.items() for table in some]:
        old = table.systems[0]
        if len(table.systems) != 2:
            raise InputError(
                f"a gate compares one system with one baseline, got {list(table.systems)}"
            )
        try:
            result = compared(Given(table, None, "bleu", groups), old, options)
        except InputError as error:
            what = f"{name}, {table.metric.name}" if name else table.metric.name
            raise type(error)(f"{what}: {error}; other metrics and tasks can be chosen") from None
        checks.append(_check(name, result, level))
        # Limits are in the title, and the tests are those of limits.
        said = [note for note in result.notes if note not in claim_notes(result)]
        notes += [note for note in said if "McNemar" not in note]
    return Gate(_decided(checks, level), margin, recovery, level, tuple(dict.fromkeys(notes)))


def _check(task: str, result: Comparison, level: float) -> GateCheck:
    """Return a check whose verdict is still open."""
    (d,), (old, _) = result, result.estimates
    n = old.n_segments
    return GateCheck(
        task=task,
        metric=d.metric,
        baseline=d.baseline,
        system=d.system,
        baseline_score=d.baseline_score,
        system_score=d.system_score,
        difference=d.difference,
        low=d.low,
        high=d.high,
        higher_is_better=d.higher_is_better,
        verdict="undecided",
        pvalue_passed=d.pvalue_not_worse,
        pvalue_failed=d.pvalue_worse,
        pvalue_failed_adjusted=None,
        gained=d.gained,
        lost=d.lost,
        n_items=n,
        needed=_needed(result, level),
        signature=result.signatures[0],
        unit="group" if old.unit == "group" else "item",
    )


def _decided(checks: list[GateCheck], level: float) -> tuple[GateCheck, ...]:
    """Return the checks with verdicts: each passes alone, and fails among all."""
    known = [i for i, check in enumerate(checks) if check.pvalue_failed is not None]
    raw = [float(checks[i].pvalue_failed or 0.0) for i in known]
    adjusted = holm(raw).tolist()
    for i, p in zip(known, adjusted, strict=True):
        passed = checks[i].pvalue_passed
        verdict = "failed" if p <= level else "undecided"
        if passed is not None and passed <= level:
            verdict = "passed"
        checks[i] = replace(checks[i], verdict=verdict, pvalue_failed_adjusted=float(p))
    return tuple(checks)


def _needed(result: Comparison, level: float) -> int | None:
    """Return how many items show a system that has lost nothing to be within the limit."""
    assert isinstance(result.planner, Planner)
    return result.planner.needed_within(level, _POWER)
