"""How many segments settle it: power, the least difference that is found, segments needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalstats.analysis.inputs import SEED, as_pairs, as_tables, is_statistics, labels_of
from evalstats.analysis.pilots import Setting
from evalstats.analysis.plan import ALTERNATIVES, Plan, option
from evalstats.analysis.planning import Question, planned
from evalstats.analysis.units import Aggregate, Labels, Units
from evalstats.checks import also_called, integer, real, share
from evalstats.errors import InputError
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results.power import Power
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems
from evalstats.statistics.segments import SegmentStatistics

#: A power has a Monte-Carlo standard error of 0.007 at most.
N_RESAMPLES = 4999
_MOST = 10**12


@also_called(metric="metrics", seed="rng")
def power(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics = "bleu",
    *,
    difference: float | None = None,
    n_segments: int | None = None,
    power: float = 0.8,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
    baseline: str | None = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregate = "micro",
    runs: int | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    rng: Rng = SEED,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Power:
    r"""Say which differences a test set can find, and how many segments a difference needs.

    From a pilot, two systems' outputs on some segments, for the default test of `compare`. What is
    assumed: the differences of the next segments vary as the pilot's do.

    Parameters
    ----------
    hypotheses : mapping of str to sequence, or SegmentStatistics, or a list of them
        Outputs of at least two systems, or their statistics, as in `compare`: the pilot.
    references, metrics, baseline
        As in `compare`.
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
        In (0, 1), of a single test. Of m comparisons that are adjusted, the first that is found
        needs about this over m.
    alternative : {"two-sided", "greater", "less"}
        Of the test, as in `compare`. One-sided, the true difference lies on the side tested;
        two-sided, on the side of the pilot's, which matters where differences are skewed.
    groups : sequence, optional
        One label (a document, a speaker) per segment: counts and resamples groups.
    strata, aggregate
        As in `compare`: each stratum grows in proportion to the pilot's, and has two at least.
    runs : int, optional
        Runs of each system that are planned, by default as many as in the pilot, which then has
        several of each (as in `compare`). Their part of the variance is shared out among runs
        only: the plan says how many of these it takes, and which differences no number of segments
        finds.
    confidence_level : float
        Of the intervals, which say what so small a pilot leaves uncertain: of the variance
        (chi-square with the degrees of freedom of the values' kurtosis; Shoemaker, 2003; of
        segments and runs Satterthwaite's), or of the share of segments that differ (Wilson, 1927).
    n_resamples, rng
        Draws from the pilot for each size, and what they are made of; 0/1 scores need none.
    executor, progress
        As in `estimate`.

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
    The power for a difference δ on n segments is the share of draws of n segments from the pilot
    whose difference, moved by δ - Δ from the pilot's Δ, the t test with Hall's correction finds.
    Above 2,000 segments the noncentral t distribution says the same, with the noncentrality
    :math:`\sqrt{n}\,\delta/s` of the influence values' standard deviation s. The default test
    asks random swaps as well, which hardly matters under a difference; of groups swaps decide
    alone, and find about as much. For 0/1 scores it is the exact power of McNemar's test (Duffy,
    1984), with the pilot's share of segments that differ, or the difference where that is larger.

    Of R runs of each system the variance on n segments is
    :math:`(\sigma_s^2 + \sigma_{eA}^2/R + \sigma_{eB}^2/R)/n + (\sigma_{rA}^2 + \sigma_{rB}^2)/R`:
    Miller's (2024) where runs as such add nothing. Mean squares of runs are drawn from their
    chi-square distributions, and Satterthwaite's degrees of freedom are those of the test.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    >>> (pilot,) = power(pair, sample.references, "chrf", difference=0.5)
    >>> 1.5 < pilot.minimum < 1.8, 4500 < pilot.needed < 6000
    (True, True)
    """
    plan = Plan("t", confidence_level, n_resamples, rng, "multinomial", None, executor)
    if isinstance(hypotheses, Shard):
        raise InputError(
            "power needs the statistics of every segment, and a Shard keeps totals only; give "
            "SegmentStatistics of some of the segments"
        )
    setting = _setting(significance_level, alternative, power)
    question = _question(difference, n_segments, runs)
    if not is_statistics(hypotheses):
        # What costs nothing is checked before what costs seconds.
        as_pairs(tuple(as_systems(hypotheses)), baseline, "power")
    groups = labels_of(hypotheses, groups, "groups")
    strata = labels_of(hypotheses, strata, "strata")
    tables, units = as_tables(
        hypotheses, references, metrics, groups, plan, progress, strata, aggregate
    )
    pairs = as_pairs(tables[0].systems, baseline, "power")
    return planned(tables, units, pairs, plan, setting, question)


class Planner:
    """What a `Comparison` keeps for `Comparison.power`: its statistics, pairs and options."""

    def __init__(
        self,
        tables: Sequence[SegmentStatistics],
        units: Units,
        pairs: Sequence[tuple[int, int]],
        alternative: str,
    ) -> None:
        self.tables, self.units, self.pairs = list(tables), units, pairs
        self.alternative = alternative

    def __call__(
        self,
        difference: float | None,
        n_segments: int | None,
        power: float,
        significance_level: float,
        confidence_level: float,
        n_resamples: int,
        seed: int,
        runs: int | None = None,
    ) -> Power:
        """Plan as `power` does."""
        plan = Plan("t", confidence_level, n_resamples, seed, "multinomial", None, None)
        setting = _setting(significance_level, self.alternative, power)
        question = _question(difference, n_segments, runs)
        return planned(self.tables, self.units, self.pairs, plan, setting, question)


def _setting(level: object, alternative: object, power: object) -> Setting:
    level = share(level, "significance_level")
    target = real(power, "power", 0.0)
    if not level < target < 1:
        raise InputError(
            f"power must be between the significance level {level:g}, which a test reaches "
            f"without any difference, and 1; got {power}"
        )
    return Setting(level, option(alternative, ALTERNATIVES, "alternative"), target)


def _question(difference: float | None, n_segments: int | None, runs: int | None) -> Question:
    if difference is not None and real(difference, "difference", -np.inf) <= 0:
        raise InputError(
            f"difference must be above 0, got {difference}: it is a size; say which side is tested "
            f"with alternative='greater' or 'less'"
        )
    if n_segments is not None:
        n_segments = integer(n_segments, "n_segments", 2, _MOST)
    if runs is not None:
        runs = integer(runs, "runs", 2, _MOST)
    return Question(None if difference is None else float(difference), n_segments, runs)
