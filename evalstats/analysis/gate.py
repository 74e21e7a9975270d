"""Gates: whether a quantised, compressed or newly served model may take the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.compare import comparison
from evalstats.analysis.options import N_RESAMPLES, SEED, Options
from evalstats.analysis.parts import Source
from evalstats.analysis.suite import Groups, Tables, as_tasks
from evalstats.checks import share
from evalstats.errors import InputError
from evalstats.inference.families import holm
from evalstats.resampling.weights import Rng
from evalstats.results.gate import Gate, GateCheck
from evalstats.results.notes import limit_notes
from evalstats.results.records import Difference
from evalstats.results.results import Comparison
from evalstats.results.signatures import Signature

#: How often what is there to be found should be.
_POWER = 0.8


def gated(
    tasks: Tables,
    baseline: str,
    *,
    margin: float | None = None,
    recovery: float | None = None,
    significance_level: float = 0.05,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    n_resamples: int = N_RESAMPLES,
    rng: Rng = SEED,
    notes: Sequence[str] = (),
) -> Gate:
    """Do what `evalstats.gate` does with tables of two systems, of one task or several."""
    level = share(significance_level, "significance_level", 0.5)
    if margin is None and recovery is None:
        raise InputError("give margin, the loss that is too much, or recovery, the share to keep")
    # Bounds are one-sided: each at the level by itself.
    options = Options(
        1 - 2 * level, adjustment="none", n_resamples=n_resamples, seed=rng,
        margin=margin, recovery=recovery, significance_level=level,
    )  # fmt: skip
    (first, *_), *_ = tasks.values()
    if len(first.systems) != 2:
        raise InputError(f"a gate compares one system with one baseline, got {list(first.systems)}")
    result = comparison(as_tasks(tasks, aggregate, groups).parts, baseline, options)
    checks = _decided([_check(result, d) for d in result], level)
    said = dict.fromkeys([*notes, *limit_notes(result.source.limits)])
    return Gate(checks, margin, recovery, level, tuple(said))


def _check(result: Comparison, d: Difference) -> GateCheck:
    """Return a check whose verdict is still open."""
    scores = result.estimates
    score = scores[d.task, d.metric, d.system] if d.task else scores[d.metric, d.system]
    source: Source = result.source
    return GateCheck(
        difference=d,
        verdict="undecided",
        pvalue_failed_adjusted=None,
        n_checks=len(result),
        n_items=score.n_segments,
        unit="item" if score.unit == "segment" else score.unit,
        needed=source.needed(d, result.significance_level, _POWER),
        significance_level=result.significance_level,
        signature=str(_signed(source.signature_of(d), d, len(result))),
    )


def _signed(signature: Signature, d: Difference, n_checks: int) -> Signature:
    """Return the signature of the tests of the limit; where counts or t decide nothing is drawn."""
    if d.test == "mcnemar":
        signature = signature.but(test="tango")
    if d.test in ("mcnemar", "t"):
        signature = signature.but(n=None, seed=None)
    return signature.but(adj="holm") if n_checks > 1 else signature


def _decided(checks: list[GateCheck], level: float) -> tuple[GateCheck, ...]:
    """Return the checks with verdicts: each passes alone, and fails among all."""
    known = [i for i, check in enumerate(checks) if check.pvalue_failed is not None]
    adjusted = holm([float(checks[i].pvalue_failed or 0.0) for i in known]).tolist()
    for i, p in zip(known, adjusted, strict=True):
        passed = checks[i].pvalue_passed
        verdict = "failed" if p <= level else "undecided"
        if passed is not None and passed <= level:
            verdict = "passed"
        checks[i] = replace(checks[i], verdict=verdict, pvalue_failed_adjusted=float(p))
    return tuple(checks)
