"""Arenas: from battles to a comparison of win rates or of Bradley-Terry strengths.

A system's strength depends on the wins of all systems, so all are resampled together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import (
    Labels,
    Units,
    as_units,
    check_enough,
    errors_of,
    grouped,
)
from evalstats.analysis.options import Options, TestOptions
from evalstats.analysis.scores import KnownPairs, Scores, frozen
from evalstats.analysis.settings import DEFAULTS
from evalstats.analysis.tasks import Task, as_pairs
from evalstats.checks import also_called, meant, taking
from evalstats.designs.arenas import bradley_terry
from evalstats.designs.arenas.battles import BattleTable, BradleyTerry, as_battles
from evalstats.designs.units import SummedUnits, coordinates
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.draws import Draws
from evalstats.metrics import Mean
from evalstats.metrics.base import MetricSignature
from evalstats.resampling.weighted import over_batches
from evalstats.results.notes import span
from evalstats.results.records import first_few
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from typing_extensions import Unpack


Floats = NDArray[np.float64]

#: Number of ordered pairs whose wins are fitted together, in two megabytes.
_TOGETHER = 1 << 18
#: Number of weights multiplied with wins at once, in 64 megabytes.
_MOST_WEIGHTS = 1 << 24
#: The most influence values of all pairs; more would take gigabytes.
_MOST_INFLUENCE = 1 << 25
#: The mean of strengths on the Elo scale.
_ELO_MEAN = 1000.0
#: How many systems a note names; the others are counted.
_NAMED = 5
#: Names for a segment and a task.
_CALLED = "battle", "task"
_few = partial(first_few, between=", ", most=_NAMED, more=" and {} more")


@also_called(seed="rng")
@taking(TestOptions, DEFAULTS)
def arena(
    battles: Any,
    *,
    groups: Labels = None,
    strata: Labels = None,
    scale: Literal["log-odds", "elo"] = "log-odds",
    **asked: Unpack[TestOptions],
) -> Comparison:
    r"""Compare systems from pairwise preferences.

    Each system has a strength :math:`\theta` (Bradley and Terry, 1952): i is preferred to j with
    probability :math:`1/(1 + e^{\theta_j - \theta_i})`. Strengths maximise the likelihood and are
    resampled together. Their influence values are :math:`H^{-1} x (y - p)`; the sum of their
    squares over units is the sandwich variance.

    Parameters
    ----------
    battles : sequence of rows, mapping of columns, or frame
        Rows ``(model_a, model_b, winner)``, or columns with these names. The winner is a name, or
        ``"a"``, ``"b"``, ``"model_a"``, ``"model_b"``, ``"tie"`` or ``"tie (bothbad)"``.
    groups : sequence, mapping or str, optional
        One label per battle, or the name of a column: the prompt or the voter, whose battles are
        drawn together. Or both, ``["prompt", "voter"]`` or a mapping, as in `evalstats.compare`;
        then t is used. By default battles are drawn, which ignores that battles of one prompt, or
        one voter, are alike.
    strata : sequence or str, optional
        One label per battle (a language, a category), or the name of a column: each stratum keeps
        its size in every resample.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared. A ranking
        (`Comparison.ranking`) needs all pairs.
    scale : {"log-odds", "elo"}
        Natural logarithms of odds with a mean of 0, or 1000 + 400/log(10) times these.
    method, alternative, adjustment, confidence_level
        The test, as in `evalstats.compare`.
    margin, recovery
        The claim, as in `evalstats.compare`; strengths have no recovery.
    n_resamples, rng, executor, progress
        The work, as in `evalstats.estimate`.

    Returns
    -------
    Comparison
        With one metric, ``"Bradley-Terry"``; its scores are strengths.

    Raises
    ------
    InputError
        If the rows are not battles, or if no two systems have won against each other.

    Notes
    -----
    A system that won all its battles, or lost all, has no finite strength: it is left out, and a
    note names it. If this happens in a resample only, one Newton step from the estimate replaces
    the strengths (Schucany and Wang, 1991), and a note counts such resamples. The degrees of
    freedom of a difference come from the system with fewer units.

    Examples
    --------
    >>> import evalstats as es
    >>> rows = 6 * [("x", "y", "a")] + 2 * [("x", "y", "b")] + 5 * [("y", "z", "tie")]
    >>> rows += 5 * [("y", "z", "y")] + 6 * [("z", "x", "z")] + 9 * [("z", "x", "x")]
    >>> result = es.arena(rows, n_resamples=999)
    >>> {e.system: round(e.score, 3) for e in result.estimates}
    {'x': 0.376, 'y': 0.047, 'z': -0.423}
    >>> [ranked.system for ranked in result.ranking()]
    ['x', 'y', 'z']
    """
    options, baseline = Options.of(asked), asked.get("baseline")
    metric = BradleyTerry(scale)
    table = linked(replace(_designed(battles, groups, strata), metric=metric))
    if baseline is not None and baseline not in table.systems:
        gone = next((note for note in table.notes if f"{baseline} (" in note), None)
        raise InputError(
            gone or f": there is no system {baseline!r}; {meant(baseline, table.systems)}",
            argument="baseline",
        )
    pairs = as_pairs(table.systems, baseline, "arena")
    return compared(Evaluation([Task([table])], pairs, options), baseline)


@also_called(seed="rng")
@taking(TestOptions, DEFAULTS)
def wins(
    preferences: Any,
    *,
    groups: Labels = None,
    strata: Labels = None,
    **asked: Unpack[TestOptions],
) -> Comparison:
    """Compare how often each of two systems is preferred; a tie is half a win for each.

    The two win rates sum to 1, so a difference of 0 means that both are one half.

    Parameters
    ----------
    preferences, groups, strata
        As in `arena`, for two systems.
    baseline, method, alternative, adjustment, confidence_level, margin, recovery
        As in `evalstats.compare`.
    n_resamples, rng, executor
        As in `evalstats.compare`.

    Returns
    -------
    Comparison
        Its estimates are the win rates. Without ties intervals are Wilson's (1927), and the p-value
        is the score test of a share of one half.

    Raises
    ------
    InputError
        If the rows are not battles, or if there are more than two systems.

    Examples
    --------
    >>> import evalstats as es
    >>> result = es.wins(30 * [("old", "new", "new")] + 15 * [("new", "old", "old")])
    >>> rate = result.estimates["new"]
    >>> f"{rate.score:.3f} [{rate.low:.3f}, {rate.high:.3f}], p = {result['new'].pvalue:.4f}"
    '0.667 [0.521, 0.786], p = 0.0253'
    """
    table = _designed(preferences, groups, strata)
    if len(table.systems) != 2:
        raise InputError(
            f"must be between two systems, got {len(table.systems)}: "
            f"{', '.join(table.systems[:5])}. For more than two systems, use es.arena.",
            argument="preferences",
        )
    options, baseline = Options.of(asked), asked.get("baseline")
    rates = win_rates(replace(table, labels={}))
    is_one = table.groups is not None and not isinstance(table.groups, Mapping)
    groups = table.unit if is_one else table.groups
    task = Task([rates], groups=groups, strata=table.strata)
    pairs = as_pairs(table.systems, baseline, "wins")
    units = as_units(len(table.points), table.groups, table.strata, table.unit, _CALLED)
    notes = (*table.notes, *position_notes(table, units, options), *table.tie_notes)
    return compared(Evaluation([task], pairs, options, notes), baseline)


def win_rates(table: BattleTable) -> SegmentStatistics:
    """Return the scores of two systems in every battle, 1, 1/2 or 0, as statistics of a mean."""
    of_first = np.where(table.pairs[:, 0] == 0, table.points, 2 - table.points) / 2
    scores = np.stack([of_first, 1 - of_first])
    values = np.stack([scores, np.ones_like(scores)], axis=-1)
    labels = {name: tuple(map(str, codes)) for name, codes in table.labels.items()}
    if table.groups is not None and not isinstance(table.groups, Mapping):
        labels[table.unit] = tuple(map(str, table.groups))
    rate = Mean("win rate")
    return SegmentStatistics(values, table.systems, rate, labels=labels, unit="battle")


def _designed(battles: Any, groups: Labels, strata: Labels) -> BattleTable:
    """Return battles with labels for groups and strata, and the name of the groups."""
    table, columns = as_battles(battles)
    return replace(table, labels=columns).labelled(groups, strata)


def strengths_of(table: BattleTable, options: Options) -> Scores:
    """Return the strengths of the systems, with replicates."""
    units = as_units(len(table.points), table.groups, table.strata, table.unit, _CALLED)
    check_enough(units.n, units.unit)
    wins = table.wins(units.members)
    sample = _wins_of(np.asarray(wins.sum(axis=1))[None], len(table.systems))
    (strengths,), _ = bradley_terry.fit(sample)
    _, (information,) = bradley_terry.slope(sample, strengths[None])
    inverse = bradley_terry.solved(information, np.eye(len(information)))
    notes = (*table.notes, *position_notes(table, units, options), *table.tie_notes)
    replicates = np.empty((0, len(table.systems)))
    if options.method != "t" and len(units.sides) == 1:
        drawn = over_batches(
            partial(_strengths_in, wins=wins, strengths=strengths, inverse=inverse),
            units.weights(options.rng),
            options.n_resamples,
            options.executor,
        )
        replicates, n_unbounded = drawn[:, :-1], int(np.sum(drawn[:, -1]))
        if n_unbounded:
            notes += (
                f"In {n_unbounded:,} of {options.n_resamples:,} resamples a system won all "
                "battles, lost all, or had none. In these, its strength comes from one Newton step "
                "(Schucany and Wang, 1991). Intervals of systems with few battles are only "
                "approximate.",
            )
    scale, mean = table.metric.unit, _ELO_MEAN if table.metric.scale == "elo" else 0.0
    # A difference has the degrees of freedom of the system with fewer units, or none if all battles
    # are ties, because then no difference varies.
    differing = np.zeros((len(table.systems),) * 2, dtype=np.int64)
    if not table.has_ties_alone:
        played = np.concatenate(
            [table.pairs[:, i] * np.int64(units.n) + units.of_segments for i in (0, 1)]
        )
        # Sorted, because np.unique hashes since NumPy 2.3, which takes many times as long.
        played.sort()
        once = played[np.diff(played, prepend=-1) > 0]
        counts = np.bincount(once // units.n, minlength=len(table.systems))
        differing = np.minimum(counts[:, None], counts)
    slopes = _slopes(table, units.of_segments, units.n, strengths)
    influence, known = _influence(slopes, inverse, units)
    notes = (*_label_notes(table, units, strengths, inverse), *notes)
    return Scores(
        known,
        mean + scale * strengths,
        scale * influence,
        Draws.of(frozen(mean + scale * replicates)),
        name=table.metric.name,
        metric_name=table.metric.name,
        systems=table.systems,
        higher_is_better=True,
        signature=MetricSignature.of(table.metric.signature),
        known=KnownPairs(differing),
        battles=tuple(np.bincount(table.pairs.ravel(), minlength=len(table.systems)).tolist()),
        origin=notes,
    )


def position_notes(table: BattleTable, units: Units, options: Options) -> tuple[str, ...]:
    """Return how often the system shown first won, if a pair was shown in both orders.

    The interval is a t interval over the drawn units.
    """
    if not table.has_both_orders:
        return ()
    n, share = len(table.points), float(np.mean(table.points)) / 2
    moves = (table.points / 2 - share) / n
    error, _, degrees = grouped(units, moves)
    low, high = student.interval(share, error, degrees, options.alpha)
    more = "" if low <= 0.5 <= high else ". Show each pair in both orders equally often"
    return (f"Systems shown first won {share:.1%} [{low:.1%}, {high:.1%}] of the battles{more}.",)


def _label_notes(
    table: BattleTable, units: Units, strengths: Floats, inverse: Floats
) -> tuple[str, ...]:
    """Return a note if standard errors are larger when both prompts and voters are drawn."""
    names, n, size = table.both_labels, len(table.points), len(table.systems)
    if not names or isinstance(table.groups, Mapping) or n * size > _MOST_INFLUENCE:
        return ()
    both = as_units(n, {name: table.labels[name] for name in names}, None)
    influence = (_slopes(table, np.arange(n), n, strengths) @ inverse).T
    times = span((errors_of(both, influence) / errors_of(units, influence)).tolist(), ".2f")
    first, second = map(str, names)
    return (
        f"Battles have prompts and voters. Standard errors are {times} times as large if they "
        f"account for both. To do this, pass the groups {first} and {second}.",
    )


def _strengths_in(
    rows: NDArray[Any], wins: csr_array, strengths: Floats, inverse: Floats
) -> Floats:
    """Return the strengths in resamples, `(R, N) -> (R, S + 1)`.

    The last column is 1 if a resample has no finite strengths. They are then one step from the
    sample's strengths `(S,)`, with its inverse information `(S, S)`.
    """
    # Counts are whole, and far below 2^31.
    step = max(1, _MOST_WEIGHTS // rows.shape[1])
    parts = [rows[i : i + step].T for i in range(0, len(rows), step)]
    weights = (np.ascontiguousarray(part, dtype=np.int32) for part in parts)
    totals = np.concatenate([(wins @ part).T for part in weights])
    step = max(1, _TOGETHER // len(strengths) ** 2)
    blocks = []
    for i in range(0, len(totals), step):
        in_block = _wins_of(totals[i : i + step], len(strengths))
        fitted, is_finite = bradley_terry.fit(in_block, strengths)
        if np.any(gone := ~is_finite):
            fitted[gone] = bradley_terry.one_step(in_block[gone], strengths, inverse)
        blocks.append(np.column_stack([fitted, gone]))
    return np.concatenate(blocks)


def _wins_of(totals: NDArray[np.integer[Any]], size: int) -> Floats:
    """Return wins from doubled totals, `(R, S²) -> (R, S, S)`."""
    return np.asarray(totals.reshape(-1, size, size) / 2)


def _slopes(
    table: BattleTable, unit_of: NDArray[np.intp], n_units: int, strengths: Floats
) -> csr_array:
    """Return the contribution of each unit to the gradient, Σx(y - p), `(N, S)`, sparse.

    `unit_of` has the unit of each battle, `(n,)`.
    """
    from scipy.sparse import csr_array

    first, second = table.pairs.T
    missed = table.points / 2 - bradley_terry.expected(strengths)[first, second]
    places = np.concatenate([unit_of, unit_of]), np.concatenate([first, second])
    shape = n_units, len(strengths)
    return csr_array((np.concatenate([missed, -missed]), places), shape=shape)


def _influence(slopes: csr_array, inverse: Floats, units: Units) -> tuple[Floats, Units]:
    """Return the influence of each unit on each strength, H⁻¹x(y - p), `(S, N)`, and the units.

    With very many units and pairs, coordinates and sums replace both: standard errors and degrees
    of freedom are the same, but single units are unknown.
    """
    size = inverse.shape[1]
    if len(units.sides) > 1 or size * (size - 1) // 2 * units.n <= _MOST_INFLUENCE:
        return np.ascontiguousarray((slopes @ inverse).T), units
    codes = np.zeros(units.n, dtype=np.intp) if units.codes is None else units.codes
    sizes = np.ones(units.n, dtype=np.int64) if units.sizes is None else units.sizes
    parts, sums = [], []
    for t in range(int(codes.max()) + 1):
        here = slopes[codes == t]
        mean = np.asarray(here.sum(axis=0)) / here.shape[0]
        products = (here.T @ here).toarray() - here.shape[0] * np.outer(mean, mean)
        parts.append(coordinates(inverse.T @ products @ inverse))
        of_stratum = sizes[codes == t]
        sums.append((len(of_stratum), int(np.sum(of_stratum)), int(np.sum(of_stratum**2))))
    summed = SummedUnits(
        units.n,
        *units.called,
        labels=units.labels,
        places=np.repeat(np.arange(len(parts)), size),
        sums=np.array(sums, dtype=np.int64),
    )
    return np.concatenate(parts, axis=1), summed


def linked(table: BattleTable) -> BattleTable:
    """Return the battles of systems with finite strengths; a note names the other systems.

    A system that won all its battles, or lost all, has no effect on the other strengths.
    """
    totals = np.zeros((len(table.systems),) * 2)
    np.add.at(totals, tuple(table.pairs.T), table.points / 2)
    np.add.at(totals, tuple(table.pairs.T[::-1]), 1 - table.points / 2)
    left: list[int] = list(range(len(table.systems)))
    gone: list[str] = []
    while True:
        here = totals[np.ix_(left, left)]
        won, lost = here.sum(axis=1), here.sum(axis=0)
        bounded = (won > 0) & (lost > 0)
        if np.all(bounded):
            break
        for i in np.flatnonzero(~bounded):
            n, result = int(won[i] + lost[i]), "won" if won[i] else "lost"
            result = f"{result} all {n:,}" if n else "no battles with the remaining systems"
            gone.append(f"{table.systems[left[i]]} ({result})")
        left = [i for i, is_kept in zip(left, bounded, strict=True) if is_kept]
    if not len(table.points):
        raise InputError(
            f"must include at least one battle between two of these systems: {_few(table.systems)}",
            argument="battles",
        )
    if len(left) < 2:
        raise InputError(
            "have no finite strengths, because too few systems have both won and lost: "
            f"{_few(gone)}. Add more battles.",
            argument="battles",
        )
    sets = bradley_terry.unlinked(here)
    if len(sets) > 1:
        names = [_few([table.systems[left[i]] for i in one]) for one in sets[:2]]
        raise InputError(
            f"connect {len(sets)} groups of systems in only one direction, or not at all, so "
            f"differences between these groups are not finite: ({names[0]}) and ({names[1]}). "
            "Pass the battles of only one group.",
            argument="battles",
        )
    if not gone:
        return table
    note = (
        "Systems whose strengths cannot be estimated are left out, with their battles: "
        f"{_few(gone)}."
    )
    return replace(table.part(left), notes=(note, *table.notes))
