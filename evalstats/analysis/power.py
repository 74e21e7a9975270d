"""How many segments settle it: power, the least difference that is found, segments needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from evalstats.analysis import sampling
from evalstats.analysis.inputs import SEED, as_pairs, as_tables, is_statistics, labels_of
from evalstats.analysis.notes import size_notes
from evalstats.analysis.pilots import DRAWN, Counted, Drawn, Setting, designs
from evalstats.analysis.plan import ALTERNATIVES, Plan, option
from evalstats.analysis.sampling import Sample
from evalstats.analysis.units import Units, check_plain
from evalstats.checks import also_called, integer, real, share
from evalstats.errors import InputError
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results.power import Power
from evalstats.results.records import PairPower
from evalstats.results.signatures import signature
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems
from evalstats.statistics.segments import SegmentStatistics

#: A power has a Monte-Carlo standard error of 0.007 at most.
N_RESAMPLES = 4999
_MOST_SEGMENTS = 10**15
#: The curve goes so far below and above the sizes in question.
_REACH = 8


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
    groups: Iterable[Hashable] | None = None,
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
    confidence_level : float
        Of the intervals, which say what so small a pilot leaves uncertain: of the variance
        (chi-square with the degrees of freedom of the values' kurtosis; Shoemaker, 2003), or of
        the share of segments that differ (Wilson, 1927).
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
        For bad input; for two systems that nothing tells apart, which say nothing of power.

    Notes
    -----
    The power for a difference δ on n segments is the share of draws of n segments from the pilot
    whose difference, moved by δ - Δ from the pilot's Δ, the t test with Hall's correction finds.
    Above 2,000 segments the noncentral t distribution says the same, with the noncentrality
    :math:`\sqrt{n}\,\delta/s` of the influence values' standard deviation s. The default test
    asks random swaps as well, which hardly matters under a difference. For 0/1 scores it is the
    exact power of McNemar's test (Duffy, 1984), with the pilot's share of segments that differ, or
    the difference where that is larger.

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
    difference, n_segments = _question(difference, n_segments)
    if not is_statistics(hypotheses):
        # What costs nothing is checked before what costs seconds.
        as_pairs(tuple(as_systems(hypotheses)), baseline, "power")
    groups = labels_of(hypotheses, groups, "groups")
    tables, units = as_tables(hypotheses, references, metrics, groups, plan, progress)
    pairs = as_pairs(tables[0].systems, baseline, "power")
    return _planned(tables, units, pairs, plan, setting, difference, n_segments)


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
    ) -> Power:
        """Plan as `power` does."""
        plan = Plan("t", confidence_level, n_resamples, seed, "multinomial", None, None)
        setting = _setting(significance_level, self.alternative, power)
        question = _question(difference, n_segments)
        return _planned(self.tables, self.units, self.pairs, plan, setting, *question)


def _setting(level: object, alternative: object, power: object) -> Setting:
    level = share(level, "significance_level")
    target = real(power, "power", 0.0)
    if not level < target < 1:
        raise InputError(
            f"power must be between the significance level {level:g}, which a test reaches "
            f"without any difference, and 1; got {power}"
        )
    return Setting(level, option(alternative, ALTERNATIVES, "alternative"), target)


def _question(difference: float | None, n_segments: int | None) -> tuple[float | None, int | None]:
    if difference is not None and real(difference, "difference", -np.inf) <= 0:
        raise InputError(
            f"difference must be above 0, got {difference}: it is a size; say which side is tested "
            f"with alternative='greater' or 'less'"
        )
    if n_segments is not None:
        n_segments = integer(n_segments, "n_segments", 2, _MOST_SEGMENTS)
    return None if difference is None else float(difference), n_segments


def _planned(
    tables: list[SegmentStatistics],
    units: Units,
    pairs: Sequence[tuple[int, int]],
    plan: Plan,
    setting: Setting,
    difference: float | None,
    n_segments: int | None,
) -> Power:
    check_plain(tables, units)
    samples = sampling.bootstrap(tables, plan, units)
    n_pilot = samples[0].n_segments
    n = n_segments or n_pilot
    unit = "group" if units.grouped else "segment"
    found: list[PairPower] = []
    signatures = []
    for sample in samples:
        drawn = list(designs(sample, pairs, (n, n_pilot), plan, setting))
        found += [
            _pair(sample, pair, design, n, n_pilot, difference)
            for pair, design in zip(pairs, drawn, strict=True)
        ]
        signatures.append(_signature(sample, plan, setting, unit, found[-1].test))
    notes = _notes(found, n_pilot, unit, plan.confidence_level, difference)
    return Power(
        pairs=tuple(found),
        n_pilot=n_pilot,
        n_segments=n,
        unit=unit,
        difference=difference,
        target=setting.target,
        significance_level=setting.level,
        alternative=setting.alternative,
        confidence_level=plan.confidence_level,
        n_resamples=plan.n_resamples,
        seed=plan.seed,
        signatures=tuple(signatures),
        notes=notes + size_notes(n_pilot, unit, units.sizes),
    )


def _pair(
    sample: Sample,
    pair: tuple[int, int],
    design: Drawn | Counted,
    n: int,
    n_pilot: int,
    difference: float | None,
) -> PairPower:
    a, b = pair
    low, high = design.bounds()
    minimums = [_finite(d.least_difference(n)) for d in (design, low, high)]
    powers: list[float | None] = [None] * 3
    needed: list[int | None] = [None] * 3
    if difference is not None:
        # The more the pilot's next segments vary, the less is found.
        powers = [d.power(difference, n) for d in (design, high, low)]
        needed = [d.needed(difference) for d in (design, low, high)]
    sizes = _curve_sizes([n, n_pilot, *(needed[:1] if needed[0] else [])])
    return PairPower(
        metric=sample.name,
        baseline=sample.table.systems[a],
        system=sample.table.systems[b],
        observed=float(sample.scores[b] - sample.scores[a]),
        standard_deviation=design.spread,
        minimum=minimums[0],
        minimum_low=minimums[1],
        minimum_high=minimums[2],
        power=powers[0],
        power_low=powers[1],
        power_high=powers[2],
        needed=needed[0],
        needed_low=needed[1],
        needed_high=needed[2],
        sizes=tuple(sizes),
        minimums=tuple(_finite(design.least_difference(m)) for m in sizes),
        powers=() if difference is None else tuple(design.power(difference, m) for m in sizes),
        higher_is_better=sample.table.metric.higher_is_better,
        test="mcnemar" if isinstance(design, Counted) else "studentized",
        discordant=design.discordant if isinstance(design, Counted) else None,
    )


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _curve_sizes(wanted: Sequence[int | None]) -> list[int]:
    """Return round numbers around the sizes in question, and the planned size itself."""
    sizes = [size for size in wanted if size]
    low, high = max(DRAWN[0], min(sizes) / _REACH), max(sizes) * _REACH
    decades = range(1, len(str(int(high))) + 1)
    round_numbers = [lead * 10**d for d in decades for lead in (1, 2, 5)]
    return sorted({sizes[0], *(m for m in round_numbers if low <= m <= high)})


def _signature(sample: Sample, plan: Plan, setting: Setting, unit: str, test: str) -> str:
    counted = test == "mcnemar"
    return signature(
        sample.table.metric.name,
        sample.table.metric_signature,
        {
            "nrefs": sample.table.reference_label or None,
            "power": f"{setting.target:.10g}",
            "test": test,
            "alt": setting.alternative,
            "level": f"{setting.level:.10g}",
            "n": None if counted else str(plan.n_resamples),
            "seed": None if counted else str(plan.seed),
            "unit": unit,
        },
    )


def _notes(
    found: Sequence[PairPower],
    n_pilot: int,
    unit: str,
    confidence_level: float,
    difference: float | None,
) -> tuple[str, ...]:
    notes = [
        f"Assumes that differences of the next {unit}s vary as the pilot's do; the intervals "
        f"({100 * confidence_level:.10g} %) say what a pilot of {n_pilot:,} leaves uncertain."
    ]
    counted = list(dict.fromkeys(p.metric for p in found if p.discordant is not None))
    if counted:
        notes.append(
            f"{', '.join(counted)}: 0/1 scores, McNemar's exact test; assumes that as many "
            f"segments differ as in the pilot, and the intervals are about that number."
        )
    if any(p.minimum is None for p in found):
        notes.append(f"none: so few {unit}s find no difference with this power.")
    return tuple(notes)
