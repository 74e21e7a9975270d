"""Quality gates: fail a test run when a system has become worse, and only then.

Scores of two versions nearly always differ; a gate that compares two numbers goes off by chance.
`assert_not_worse` asks one of three questions:

- Without a margin: *is there evidence that it is worse?* The one-sided default test of `compare`.
  It fails for a system of the same quality with a probability of about `significance_level`, and
  sees a loss of 2.5 standard errors of the difference four times out of five (at 0.05). On few
  segments it passes nearly everything: no evidence of a loss is not evidence of no loss.
- With a margin: *is there evidence that it is not worse by as much?* Non-inferiority (Blackwelder,
  1982; Lakens, 2017): the one-sided confidence bound of the loss must lie within the margin. It
  passes a system that is worse by the margin with a probability of about `significance_level`
  (`benchmarks/calibration` has the rates; rare large failures that a small test set happens not to
  hold are seen by nobody). On few segments it fails most systems, or refuses. Choose the margin
  before you see the scores.
- With a recovery: *is there evidence that it keeps such a share of the baseline's score?* As with a
  margin, which grows with the score: for a compressed model, "at least 99 % of the original".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

from evalstats.analysis.compare import comparison
from evalstats.analysis.inputs import Given
from evalstats.analysis.options import Options, as_limits
from evalstats.analysis.parts import Part
from evalstats.checks import also_called, share
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.compare import gate
from evalstats.logs.log import Log
from evalstats.metrics import Metric
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results import report
from evalstats.results.notes import claim_notes
from evalstats.results.results import Comparison
from evalstats.statistics.extraction import extract
from evalstats.statistics.segments import SegmentStatistics


@also_called(metrics="metric", seed="rng")
def assert_not_worse(
    hypotheses: Any,
    baseline: Any,
    references: Any = None,
    metric: str | Metric | None = None,
    *,
    margin: float | None = None,
    recovery: float | None = None,
    significance_level: float = 0.05,
    groups: Iterable[Hashable] | None = None,
    n_resamples: int = 9999,
    rng: Rng = 12345,
) -> Any:
    r"""Fail when a system is significantly worse than a baseline, or not shown to be as good.

    Without `margin`, it fails when the one-sided p-value of a loss is at most
    `significance_level`. With it, it passes when the one-sided bound of the loss, at confidence
    1 - `significance_level`, is below `margin`; a loss that is significant but surely smaller
    passes. With `recovery`, it passes when such a bound of new - recovery·baseline is above 0.

    Parameters
    ----------
    hypotheses
        N outputs of the system; or its `SegmentStatistics`; or its `Log`, for a margin or recovery.
    baseline
        N outputs of the baseline; or its `SegmentStatistics`, which may have been saved when it
        was released. They also choose the metric, and must be of the same references.
    references
        One entry per segment; left out when both are statistics, or the metric needs none.
    metric : str or Metric, optional
        By default BLEU, or that of the statistics. One: a gate gives one verdict.
    margin : float, optional
        The loss from which on the system counts as worse, above 0, in points of the metric.
    recovery : float, optional
        In place of a margin: the share of the baseline's score that must be kept, above 0 and at
        most 1. Where lower is better, at most 1/recovery times the baseline's errors may be made.
    significance_level : float
        In (0, 0.5). Several gates, and gates that run with every change, want a smaller one: of
        100 runs of an unchanged quality, 5 fail at 0.05.
    groups, n_resamples, rng
        As in `compare`.

    Returns
    -------
    Difference
        System minus baseline; its p-value is one-sided, its interval has confidence
        1 - 2·`significance_level`, so that each bound is a one-sided one. Of logs a `Gate`, with a
        check for each task and metric.

    Raises
    ------
    AssertionError
        When the gate fails, and of logs also when it is undecided; the message has the scores, the
        difference, the bound or the p-value, and the signature.
    InputError
        For bad input; the message names the argument. Also where no outcome could answer: where
        the smallest possible p-value is above the level, or a margin or recovery is asked for and
        nothing differs between scores of few values.

    References
    ----------
    Blackwelder (1982), "Proving the null hypothesis in clinical trials", Controlled Clinical
    Trials 3; Lakens (2017), "Equivalence tests", Social Psychological and Personality Science 8.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> new, old = sample.systems["slightly-better"], sample.systems["baseline"]
    >>> passed = assert_not_worse(new, old, sample.references, "bleu")
    >>> passed.pvalue > 0.05
    True
    >>> assert_not_worse(old, sample.systems["clearly-better"], sample.references)
    Traceback (most recent call last):
    ...
    AssertionError: system is significantly worse than baseline: BLEU ↑ -5.03 ...
    """
    # pytest then shows the line of the test, not ours.
    __tracebackhide__ = True
    if isinstance(hypotheses, Log) or isinstance(baseline, Log):
        _check_logs(hypotheses, baseline, references, metric)
        limits = {"margin": margin, "recovery": recovery, "significance_level": significance_level}
        asked: dict[str, Any] = {**limits, "groups": groups, "n_resamples": n_resamples}
        found = gate(hypotheses, baseline, rng=rng, **asked)
        if found.verdict != "passed":
            raise AssertionError(str(found))
        return found
    level = share(significance_level, "significance_level", 0.5)
    margin, recovery = as_limits(margin, recovery)
    table = _tables(hypotheses, baseline, references, metric)
    higher = table.metric.higher_is_better
    # Bounds are one-sided: each at the level by itself.
    options = Options(
        1 - 2 * level, alternative="less" if higher else "greater", n_resamples=n_resamples,
        seed=as_seed(rng), margin=margin, recovery=recovery, significance_level=level,
    )  # fmt: skip
    part = Part(Given(table, groups=groups))
    result = comparison([part], table.systems[0], options)
    (difference,) = result
    _check_answerable(result, level)
    if result.claim(difference) == "not shown":
        raise AssertionError(_message(result, "is not shown to be as good as", level))
    if result.claim(difference) is None and difference.pvalue <= level:
        raise AssertionError(_message(result, "is significantly worse than", level))
    return difference


def _check_logs(new: Any, base: Any, references: Any, metric: Any) -> None:
    if not (isinstance(new, Log) and isinstance(base, Log)):
        raise InputTypeError("hypotheses and baseline must both be a Log, or neither")
    for name, value in (("references", references), ("metric", metric)):
        if value is not None:
            raise InputError(f"{name} must be left out when logs are given: choose with Log.select")


def _check_answerable(result: Comparison, level: float) -> None:
    """Refuse a question that no outcome of these segments could answer."""
    (difference,), n = result, result.estimates[0].n_segments
    unit = result.estimates[0].unit
    if result.claim(difference) is None:
        smallest = 0.5**n
        if smallest > level and difference.n_differing and difference.test != "mcnemar":
            raise InputError(
                f"{n} {unit}s cannot give a p-value below {smallest:.2g}, so that a gate at "
                f"{level:g} would pass everything; give more {unit}s, or a larger "
                f"significance_level"
            )
    elif difference.margin_test is None and difference.n_differing:
        raise InputError(difference.unanswered(unit))
    elif difference.margin_test is None:
        raise InputError(
            f"the scores are equal on all {n} {unit}s and have few values: nothing bounds the "
            f"loss on others; give more {unit}s, or leave out "
            + ("recovery" if result.margin is None else "margin")
        )


def _tables(
    hypotheses: Any, baseline: Any, references: Any, metric: str | Metric | None
) -> SegmentStatistics:
    """Return the statistics of the baseline and, after it, of the system."""
    if isinstance(metric, (list, tuple)):
        raise InputError(
            f"metric must be one metric, got {len(metric)}: a gate gives one verdict; call "
            f"assert_not_worse for each, at a significance_level divided by their number"
        )
    sides = {"hypotheses": hypotheses, "baseline": baseline}
    given = {name: value for name, value in sides.items() if isinstance(value, SegmentStatistics)}
    for name, table in given.items():
        if metric is not None:
            raise InputError(f"metric must be left out: {name} has its own, {table.metric!r}")
        if len(table.systems) != 1:
            raise InputError(f"{name} must hold one system, got {list(table.systems)}")
    if len(given) == 2 and references is not None:
        raise InputError("references must be left out when SegmentStatistics are given")
    if not given:
        return extract({"baseline": baseline, "system": hypotheses}, references, metric or "bleu")
    chosen = next(iter(given.values())).metric
    old = given.get("baseline") or extract({"baseline": baseline}, references, chosen)
    new = given.get("hypotheses") or extract({"system": hypotheses}, references, chosen)
    if old.systems == new.systems:
        old = replace(old, systems=(f"{old.systems[0]} (baseline)",))
    return SegmentStatistics.join(old, new)


def _message(result: Comparison, verdict: str, level: float) -> str:
    (d,) = result
    arrow = report.direction(d.higher_is_better)
    bound = d.low if d.higher_is_better else d.high
    allowed, claim, shown = "", [], d.margin_test
    if result.margin is not None and shown is not None:
        allowed = f", a loss of {result.margin:.6g} or more is not ruled out"
        claim = [f"  margin      {shown.loss_bound:.6g} is the smallest that can be claimed"]
    if result.recovery is not None and shown is not None:
        allowed = f", a recovery of {result.recovery:.6g} is not shown"
        claim = [f"  recovery    {shown.recovery_bound:.4f} is the largest that can be claimed"]
    notes = [note for note in result.notes if note not in set(claim_notes(result))]
    return "\n".join(
        [
            f"{d.system} {verdict} {d.baseline}: {d.metric} {arrow} "
            f"{report.number(d.difference, 2, sign=True)}{allowed}",
            f"  scores      {d.system} {d.system_score:.4f}, {d.baseline} {d.baseline_score:.4f}",
            f"  difference  {d.difference:+.4f}, at worst {bound:+.4f} "
            f"(one-sided, {100 * (1 - level):.6g} %)",
            f"  p-value     {report.pvalue(d.pvalue)} of a loss as large by chance"
            + ("" if claim else f", at most {level:g}"),
            *claim,
            *(f"  note        {note}" for note in notes),
            f"  signature   {result.signatures[0]}",
        ]
    )
