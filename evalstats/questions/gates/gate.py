"""Gates: a check of each task and metric, whether a model may take the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.options import SEED, Options
from evalstats.analysis.suite import Groups, Suite, Tables
from evalstats.analysis.tasks import as_decided, as_pairs
from evalstats.checks import choice, share
from evalstats.errors import Argument, InputError
from evalstats.inference.families import holm
from evalstats.questions.gates.gates import ASKED, UNDECIDED, Gate, GateCheck
from evalstats.questions.power.planning import needed_of
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.notes import Limits, limit_notes
from evalstats.results.records import COUNTED, Difference, accepting, distinct, plural

#: What a gate without a limit says.
_WITHOUT_LIMIT = (
    'Without a margin or a recovery, "passed" only means that no loss was found, and a small test '
    "set finds none."
)
#: How often what is there to be found should be.
_POWER = 0.8


def gated(
    tasks: Tables,
    baseline: str,
    *,
    margin: float | None = None,
    recovery: float | None = None,
    significance_level: float = 0.05,
    on: str = "all",
    undecided: str | None = None,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    notes: Sequence[str] = (),
    accepted: Sequence[str] = (),
    paired: bool = True,
    paired_runs: bool = False,
) -> Gate:
    """Do what `evalstats.gate` does with tables of two systems, of one task or several.

    Without a limit it fails where a loss is significant, and passes otherwise. Cautions of the
    kinds that are `accepted` bar nothing.
    """
    level, is_of_totals = asked_of(tasks, significance_level, on, undecided)
    systems = distinct(name for table in next(iter(tasks.values())) for name in table.systems)
    if len(systems) != 2:
        raise InputError(f"a gate compares one system with one baseline, got {systems}")
    is_limited = margin is not None or recovery is not None
    seed = as_seed(rng)
    results: list[Comparison] = []
    limits: list[Limits] = []
    for alternative in ("two-sided",) if is_limited else ("less", "greater"):
        some = tasks
        if not is_limited:
            # A loss is a lower score under some metrics, and a higher one under others.
            is_higher = alternative == "less"
            each = {
                name: [table for table in tables if table.metric.higher_is_better is is_higher]
                for name, tables in tasks.items()
            }
            some = {name: tables for name, tables in each.items() if tables}
        if not some:
            continue
        asked = Options(
            alternative=alternative,
            n_resamples=n_resamples,
            seed=seed,
            executor=executor,
            margin=margin,
            recovery=recovery,
            paired_runs=paired_runs,
        )
        options = one_sided(asked, level)
        for tables in some.values():
            options = as_decided(tables, options, n_resamples, rng)
        suite = Suite.of(some, aggregate, groups, strata, paired=paired)
        pairs = as_pairs(suite.systems, baseline)
        evaluation = Evaluation(suite.parts, pairs, options)
        results.append(compared(evaluation, baseline))
        limits += evaluation.limits
    if is_of_totals and not any(result.totals for result in results):
        raise without_total(tasks)
    checks = _checks(results, level, is_limited, is_of_totals)
    rows = [check for check in checks if check.difference.aggregate is None]
    totals = [check for check in checks if check.difference.aggregate is not None]
    order = {name: i for i, name in enumerate(tasks)}
    checks = [*sorted(rows, key=lambda check: order[check.task]), *totals]
    made = Gate(tuple(checks), margin, recovery, level, (), undecided)
    said = [*notes, *limit_notes(limits)]
    if not is_limited and made.verdict != "failed":
        said.insert(0, _WITHOUT_LIMIT)
    return made.noting(*accepting(dict.fromkeys(said), accepted))


def asked_of(
    tasks: Tables, significance_level: float, on: str, undecided: str | None
) -> tuple[float, bool]:
    """Return the level of a gate, and whether totals alone decide, checked."""
    if undecided is not None:
        choice(undecided, UNDECIDED, "undecided")
    level = share(significance_level, "significance_level", 0.5)
    return level, choice(on, ASKED, "on") == "total" and len(tasks) > 1


def without_total(tasks: Tables) -> InputError:
    """Return the error of a gate on a total that there is not."""
    return InputError(
        Argument("on", "total"),
        f" needs a total, and there is none over {', '.join(tasks)}; give ",
        Argument("aggregate", "macro"),
    )


def one_sided(options: Options, level: float) -> Options:
    """Return options whose bounds are one-sided: each at the level by itself."""
    return replace(
        options, confidence_level=1 - 2 * level, adjustment="none", significance_level=level
    )


def decided(passed: float | None, failed: float | None, level: float) -> str:
    """Return the verdict of two one-sided p-values, that a limit is kept, and that it is not."""
    if passed is not None and passed <= level:
        return "passed"
    return "failed" if failed is not None and failed <= level else "undecided"


def _checks(
    results: Sequence[Comparison], level: float, is_limited: bool, is_of_totals: bool
) -> list[GateCheck]:
    """Return a check for each difference: of those that are asked, each fails among all of them."""
    rows = [(result, d) for result in results for d in result]
    asked = [d.aggregate is not None or not is_of_totals for _, d in rows]
    if not is_limited:
        # No outcome of so few units could make it fail.
        for (result, d), is_asked in zip(rows, asked, strict=True):
            if not is_asked or not d.n_differing or d.test in COUNTED:
                continue
            (score, *_) = (e for e in result.estimates if (e.task, e.metric) == (d.task, d.metric))
            smallest, units = 0.5**score.n_segments, plural(score.unit)
            if smallest > level:
                raise InputError(
                    f"{score.n_segments} {units} cannot give a p-value below {smallest:.2g}, so "
                    f"that a gate at {level:g} would pass everything; give more {units}, or a "
                    f"larger significance_level"
                )
    # That the loss is beyond the limit; without one, that there is a loss.
    failed: list[float | None] = []
    for (_, d), is_asked in zip(rows, asked, strict=True):
        beyond = None if d.margin_test is None else d.margin_test.pvalue_worse
        failed.append((beyond if is_limited else d.pvalue) if is_asked else None)
    adjusted = iter(holm([p for p in failed if p is not None]).tolist())
    checks = [
        _check(result, d, None if p is None else next(adjusted), sum(asked), is_limited)
        for (result, d), p in zip(rows, failed, strict=True)
    ]
    return [
        check if is_asked else replace(check, verdict="not asked", needed=None)
        for check, is_asked in zip(checks, asked, strict=True)
    ]


def _check(
    result: Comparison, d: Difference, adjusted: float | None, n_checks: int, is_limited: bool
) -> GateCheck:
    """Return what is said of a difference; `adjusted` is its p-value to fail, among all checks."""
    level, scores, evaluation = result.significance_level, result.estimates, result.source
    assert evaluation is not None
    score = scores[d.task, d.metric, d.system] if d.task else scores[d.metric, d.system]
    shown = None if not is_limited or d.margin_test is None else d.margin_test.pvalue_not_worse
    verdict = decided(shown, adjusted, level)
    if not is_limited and verdict == "undecided":
        verdict = "passed"
    signature = evaluation.signatures[d.task, d.metric]
    if is_limited and d.test == "mcnemar":
        signature = signature.but(test="tango")
    if d.test in (*COUNTED, "t"):
        # Where counts or t decide nothing is drawn.
        signature = signature.but(n=None, seed=None)
    return GateCheck(
        difference=d,
        verdict=verdict,
        pvalue_failed_adjusted=adjusted,
        n_checks=n_checks,
        n_items=score.n_segments,
        unit=score.unit,
        needed=needed_of(evaluation, d, level, _POWER) if is_limited else None,
        significance_level=level,
        signature=str(signature.but(adj="holm") if n_checks > 1 else signature),
    )
