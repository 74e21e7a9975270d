"""From samples of a pilot to what is planned: designs of all pairs, and a `Power` of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evalstats.analysis import draws, sampling, variances
from evalstats.analysis.notes import size_notes
from evalstats.analysis.pilots import Counted, Drawn, Setting
from evalstats.analysis.plan import Plan
from evalstats.analysis.run_pilots import ENDLESS, DrawnRuns, Spread, spread_of
from evalstats.analysis.sampling import Pair, Sample
from evalstats.analysis.units import Units
from evalstats.errors import InputError
from evalstats.inference import power
from evalstats.inference.proportions import wilson
from evalstats.metrics.averages import MeanOfRuns
from evalstats.results.power import Power
from evalstats.results.records import PairPower
from evalstats.results.signatures import signature
from evalstats.statistics.segments import SegmentStatistics

Planned: TypeAlias = Drawn | DrawnRuns | Counted

#: Sizes that are drawn; what is needed for a difference is interpolated between them.
DRAWN = (10, 20, 50, 100, 200, 500, 1000, 2000)
#: Pairs whose draws are in memory together.
_PAIRS = 50
#: The curve goes so far below and above the sizes in question.
_REACH = 8
#: Numbers of runs of the curve.
_RUNS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)


class Question(NamedTuple):
    """What is asked: a size of difference, and the segments and runs that are planned."""

    difference: float | None
    n_segments: int | None
    runs: int | None


def planned(
    tables: list[SegmentStatistics],
    units: Units,
    pairs: Sequence[Pair],
    plan: Plan,
    setting: Setting,
    question: Question,
) -> Power:
    """Plan for all pairs under all metrics."""
    samples = sampling.bootstrap(tables, plan, units)
    n_pilot, unit = samples[0].n_segments, "group" if units.grouped else "segment"
    n, least = question.n_segments or n_pilot, draws.smallest(samples[0])
    if n < least:
        raise InputError(
            f"n_segments must be at least {least}, two {unit}s of each of {least // 2} strata, "
            f"got {n}"
        )
    metric = tables[0].metric
    pilot_runs = metric.n_runs if isinstance(metric, MeanOfRuns) else None
    if question.runs and not pilot_runs:
        raise InputError(
            "runs needs a pilot with several runs of each system: with one of each, what runs "
            "add is not known; give lists of runs, or the statistics of extract_runs"
        )
    runs = question.runs or pilot_runs
    found: list[PairPower] = []
    signatures, same = [], []
    for sample in samples:
        some = [pair for pair in pairs if sample.n_differing(*pair)] or pairs[:1]
        known = set(some)
        same += [(sample, pair) for pair in pairs if pair not in known]
        drawn = designs(sample, some, (n, n_pilot), plan, setting, runs)
        found += [
            _pair(sample, pair, design, n, question.difference)
            for pair, design in zip(some, drawn, strict=True)
        ]
        signatures.append(_signature(sample, plan, setting, unit, found[-1].test))
    result = Power(
        pairs=tuple(found),
        n_pilot=n_pilot,
        n_segments=n,
        unit=unit,
        difference=question.difference,
        target=setting.target,
        significance_level=setting.level,
        alternative=setting.alternative,
        confidence_level=plan.confidence_level,
        n_resamples=plan.n_resamples,
        seed=plan.seed,
        signatures=tuple(signatures),
        n_runs=runs,
        pilot_runs=pilot_runs,
    )
    notes = _notes(result, units) + _left_out(same, unit)
    return replace(result, notes=notes + size_notes(n_pilot, unit, units.sizes))


def designs(
    sample: Sample,
    pairs: Sequence[Pair],
    sizes: Sequence[int],
    plan: Plan,
    setting: Setting,
    n_runs: int | None,
) -> Iterator[Planned]:
    """Yield what is known of each pair (baseline, system); `sizes` are drawn where that helps."""
    for pair in pairs:
        _check_varies(sample, pair)
    if sample.outcomes is not None:
        for a, b in pairs:
            n, differing = sample.n_segments, sum(sample.outcomes.changes(a, b))
            interval = wilson(differing, n, plan.confidence_level)
            yield Counted(setting, sample.outcomes.scale, n, differing / n, interval)
        return
    least = draws.smallest(sample)
    drawn = sorted(n for n in {*DRAWN, *sizes} if least <= n <= DRAWN[-1])
    for start in range(0, len(pairs), _PAIRS):
        some = pairs[start : start + _PAIRS]
        found: list[dict[int, Any]] = [{} for _ in some]
        for n in drawn:
            for of_pair, drawn_n in zip(found, draws.drawn(sample, some, n, plan), strict=True):
                # Where there are runs, how many of them are planned has its part in what is found.
                of_pair[n] = (
                    draws.found_from(drawn_n, n, setting.level, setting.alternative)
                    if n_runs is None
                    else drawn_n
                )
        for pair, of_pair in zip(some, found, strict=True):
            observed = float(sample.scores[pair[1]] - sample.scores[pair[0]])
            down = setting.alternative == "less" or (
                setting.alternative == "two-sided" and observed < 0
            )
            direction = -1 if down else 1
            if n_runs is not None:
                spread = _spread(sample, pair)
                draw = plan.confidence_level, plan.n_resamples, plan.seed
                yield DrawnRuns(setting, spread, n_runs, of_pair, direction, least, *draw)
                continue
            moves, error, degrees = sampling.influences(sample, pair)
            yield Drawn(
                setting,
                float(error) * float(np.sqrt(len(moves))),
                len(moves),
                degrees,
                of_pair,
                direction,
                power.spread_interval(moves, degrees, plan.confidence_level),
                least,
            )


def _spread(sample: Sample, pair: Pair) -> Spread:
    """Return what the pilot says of segments and of runs."""
    metric = sample.table.metric
    assert isinstance(metric, MeanOfRuns)
    moves = sampling.moves_of(sample, pair)
    moves, error, degrees = variances.of_units(moves, sample.sizes, sample.codes)
    squares = variances.squares_of_runs(metric, sample.values[list(pair)])
    segment = float(error) ** 2 * len(moves)
    both = degrees, power.spread_degrees(moves, degrees)
    return spread_of(squares, len(moves), metric.n_runs, segment, both)


def _check_varies(sample: Sample, pair: Pair) -> None:
    baseline, system = (sample.table.systems[i] for i in pair)
    if sample.n_differing(*pair) == 0:
        raise InputError(
            f"{system!r} and {baseline!r} have identical {sample.name} statistics on every "
            f"segment: nothing varies, and a pilot without differences says nothing of power; "
            f"leave one of them out"
        )
    _, error, _ = sampling.influences(sample, pair)
    rounding = 1e-12 * float(np.max(np.abs(sample.scores[list(pair)]), initial=0.0))
    if sample.outcomes is None and not float(error) > rounding:
        raise InputError(
            f"{system!r} and {baseline!r} differ by the same on every segment under "
            f"{sample.name}: nothing varies, and a pilot without variance says nothing of power"
        )


def _left_out(same: Sequence[tuple[Sample, Pair]], unit: str) -> tuple[str, ...]:
    """Say which pairs are no pilot."""
    if not same:
        return ()
    sample, (a, b) = same[0]
    first = f"{sample.table.systems[b]} and {sample.table.systems[a]} ({sample.name})"
    who = first if len(same) == 1 else f"{len(same)} pairs, {first} for one,"
    return (
        f"{who} have identical statistics on every {unit}, which say nothing of power, and are "
        f"left out.",
    )


def _pair(
    sample: Sample, pair: Pair, design: Planned, n: int, difference: float | None
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
    wanted = [n, sample.n_segments, *(needed[:1] if needed[0] else [])]
    sizes = _curve_sizes(wanted, draws.smallest(sample))
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
        **_of_runs(design, n, difference) if isinstance(design, DrawnRuns) else {},
    )


def _of_runs(design: DrawnRuns, n: int, difference: float | None) -> dict[str, Any]:
    """Return what a `PairPower` says of runs."""
    asked: dict[str, Any] = {}
    counts = {*_RUNS, design.n_runs}
    if difference is not None:
        low, high = design.bounds()
        needed = [d.runs_needed(difference, n) for d in (design, low, high)]
        names = ("runs_needed", "runs_needed_low", "runs_needed_high")
        asked = dict(zip(names, needed, strict=True))
        asked["fewest_runs"] = design.runs_needed(difference, ENDLESS)
        counts |= {needed[0]} if needed[0] else set()
    runs = sorted(counts)
    each = [design.with_runs(r) for r in runs]
    if difference is not None:
        asked["run_powers"] = tuple(d.power(difference, n) for d in each)
    return {
        "run_deviation": design.run_spread,
        "limit": _finite(design.least_difference(ENDLESS)),
        "runs": tuple(runs),
        "run_minimums": tuple(_finite(d.least_difference(n)) for d in each),
        **asked,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _curve_sizes(wanted: Sequence[int | None], least: int) -> list[int]:
    """Return round numbers around the sizes in question, and the planned size itself."""
    sizes = [size for size in wanted if size]
    low, high = max(DRAWN[0], least, min(sizes) / _REACH), max(sizes) * _REACH
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
            "strata": None if sample.codes is None else str(np.max(sample.codes) + 1),
            "unit": unit,
        },
    )


def _notes(result: Power, units: Units) -> tuple[str, ...]:
    """Return what is assumed, and what cannot be found."""
    n_pilot, unit, found = result.n_pilot, result.unit, result.pairs
    what, pilot = f"{unit}s", f"{n_pilot:,}"
    if result.pilot_runs:
        what, pilot = f"{unit}s, and the next runs,", f"{n_pilot:,} and {result.pilot_runs} runs"
    notes = [
        f"Assumes that differences of the next {what} vary as the pilot's do; the intervals "
        f"({100 * result.confidence_level:.10g} %) say what a pilot of {pilot} leaves uncertain."
    ]
    if units.strata is not None:
        notes.append(
            f"Each of {np.max(units.strata) + 1} strata has the share of {unit}s that it has in "
            f"the pilot."
        )
    counted = list(dict.fromkeys(p.metric for p in found if p.discordant is not None))
    if counted:
        notes.append(
            f"{', '.join(counted)}: 0/1 scores, McNemar's exact test; assumes that as many "
            f"segments differ as in the pilot, and the intervals are about that number."
        )
    if any(p.minimum is None for p in found):
        notes.append(f"none: so few {unit}s find no difference with this power.")
    if result.n_runs and result.difference is not None and any(p.needed is None for p in found):
        notes.append(
            f"{unit}s needed, none: with {result.n_runs} runs of each system no number of {unit}s "
            f"finds {result.difference:g} with this power, since runs alone vary too much; 'fewest "
            f"runs' says with how many some number does."
        )
    return tuple(notes)
