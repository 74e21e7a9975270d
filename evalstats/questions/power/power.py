"""How many segments settle it: power, the least difference that is found, segments needed."""

from __future__ import annotations

from typing import Any

from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.options import SEED, Alternative, Options
from evalstats.analysis.tasks import as_decided, as_pairs, as_task, systems_of
from evalstats.checks import also_called
from evalstats.questions.power.planned import Power
from evalstats.questions.power.planning import Question, planned
from evalstats.resampling.executors import Workers
from evalstats.statistics.extraction import Metrics, Progress


@also_called(systems="hypotheses", metric="metrics")
def power(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    difference: float | None = None,
    n_segments: int | None = None,
    power: float = 0.8,
    significance_level: float = 0.05,
    alternative: Alternative = "two-sided",
    baseline: str | None = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    runs: int | None = None,
    trials: int | None = None,
    price: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Power:
    r"""Say which differences a test set can find, and how many segments a difference needs.

    From a pilot, two systems' outputs on some segments. What is assumed: the differences of the
    next segments vary as the pilot's do.

    Parameters
    ----------
    hypotheses, references, metrics, baseline, groups, strata, aggregate, executor, progress
        As in `compare` and `estimate`, of the pilot; groups are what is counted, and each stratum
        grows in proportion.
    difference : float, optional
        Size of a true difference, above 0, in points of the score: how often it is found on
        `n_segments`, and how many find it with the target power. Choose the least difference that
        matters to you. The one that the pilot happened to show says nothing beyond its p-value
        (Hoenig and Heisey, 2001), and often overstates the true one.
    n_segments : int, optional
        Segments of the test set that is planned, or groups; by default those of the pilot.
    power : float
        Target, between `significance_level` and 1: how often the difference is to be found.
    significance_level : float
        From 1e-100 to below 1, of a single test. Of m comparisons that are adjusted, the first that
        is found needs about this over m.
    alternative : {"two-sided", "greater", "less"}
        Of the test, as in `compare`. One-sided, the true difference lies on the side tested.
    runs : int, optional
        Runs of each system that are planned, by default as many as in the pilot, which then has
        several of each (as in `compare`).
    trials : int, optional
        Answers to each item that are planned, by default as many as in the pilot, which has
        several: a metric `PassAll(1)`, or a mean in a log with epochs. The variance of an item is
        then σ²(items) + σ²(trials)/K.
    price : (float, float), optional
        Of an item, and of a trial of both systems on it: the cheapest design that finds the
        `difference` with the target power, items or trials.
    confidence_level : float
        Of the intervals, which say how well so small a pilot knows the standard deviation (from the
        kurtosis of the differences; after Bonett, 2006), or the share of segments that differ
        (Wilson, 1927). With BLEU, chrF and TER those of 95 % hold 90 % of the time.

    Returns
    -------
    Power
        Iterating gives a `PairPower` for each pair and metric; `plot` draws the curve.

    Raises
    ------
    InputError
        For bad input; for two systems that nothing tells apart, which say nothing of power. Of
        several pairs such are left out, and a note says so.

    Notes
    -----
    The noncentral t distribution, with the noncentrality :math:`\sqrt{n}\,\delta/s` for a pilot's
    standard error of s/√N; of 0/1 scores McNemar's test (Miettinen, 1968; Connor, 1987).
    `docs/power.md` has the formulas, and those of several runs.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    >>> (pilot,) = power(pair, sample.references, "chrf", difference=0.5)
    >>> 1.5 < pilot.minimum < 1.8, 4500 < pilot.needed < 6000
    (True, True)
    """
    # Nothing is drawn: t is all that is asked for.
    options = Options(
        confidence_level, method="t", test="t", alternative=alternative, executor=executor
    )
    # What cannot be answered is refused before the texts are read.
    asked = Question(
        difference=difference,
        n_segments=n_segments,
        runs=runs,
        level=significance_level,
        target=power,
        confidence_level=options.confidence_level,
        alternative=options.alternative,
        trials=trials,
        price=price,
    )
    pairs = as_pairs(systems_of(hypotheses), baseline, "power")
    options = as_decided(hypotheses, options, None, SEED)
    task = as_task(
        hypotheses,
        references,
        metrics,
        groups=groups,
        strata=strata,
        aggregate=aggregate,
        executor=options.executor,
        progress=progress,
    )
    return planned(task.drawn(options), pairs, asked)
