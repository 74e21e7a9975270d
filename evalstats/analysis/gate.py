"""Gates: whether a quantised, compressed or newly served model may take the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

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
    said = dict.fromkeys([*notes, *limit_notes(_source(result).limits)])
    return Gate(checks, margin, recovery, level, tuple(said))


def _source(result: Comparison) -> Source:
    """Return the statistics of a comparison that was made here, not read from a file."""
    return cast(Source, result.source)


def _check(result: Comparison, d: Difference) -> GateCheck:
    """Return a check whose verdict is still open."""
    scores = result.estimates
    score = scores[d.task, d.metric, d.system] if d.task else scores[d.metric, d.system]
    return GateCheck(
        difference=d,
        verdict="undecided",
        pvalue_failed_adjusted=None,
        n_checks=len(result),
        n_items=score.n_segments,
        unit="item" if score.unit == "segment" else score.unit,
        needed=_source(result).needed(d, result.significance_level, _POWER),
        significance_level=result.significance_level,
        signature=_signed(result.signature_of(d), d, len(result)),
    )


def _signed(signature: str, d: Difference, n_checks: int) -> str:
    """Return the signature of the tests of the limit; where counts decide nothing is drawn."""
    own = {"test:mcnemar": "test:tango", "adj:none": f"adj:{'holm' if n_checks > 1 else 'none'}"}
    parts = [own.get(part, part) for part in signature.split("|")]
    drawn = () if d.test in ("mcnemar", "t") else ("n:", "seed:")
    return "|".join(p for p in parts if p.startswith(drawn) or not p.startswith(("n:", "seed:")))


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
