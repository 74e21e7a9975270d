"""Who is preferred: battles of two systems in, a comparison of win rates or of strengths out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Labels
from evalstats.analysis.options import (
    SEED,
    AdjustmentName,
    Alternative,
    Contrasted,
    Method,
    Options,
    Test,
)
from evalstats.analysis.tasks import Task, as_pairs
from evalstats.checks import also_called, meant
from evalstats.designs.arenas.battles import BattleTable, BradleyTerry, as_battles
from evalstats.designs.arenas.strengths import design, linked
from evalstats.errors import InputError
from evalstats.metrics import Mean
from evalstats.resampling.executors import Reporting, Workers
from evalstats.resampling.weights import Rng
from evalstats.statistics.extraction import Progress
from evalstats.statistics.segments import SegmentStatistics


@also_called(seed="rng")
def arena(
    battles: Any,
    *,
    groups: Labels = None,
    strata: Labels = None,
    baseline: str | None = None,
    scale: Literal["log-odds", "elo"] = "log-odds",
    ties: Literal["half", "davidson"] = "half",
    test: Test = "bootstrap",
    method: Method = "bootstrap",
    alternative: Alternative = "two-sided",
    adjustment: AdjustmentName = "max-t",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    progress: Progress | None = None,
    margin: float | None = None,
    recovery: float | None = None,
    contrast: Contrasted = "difference",
) -> Comparison:
    r"""Compare systems of which only is known who was preferred to whom.

    Each system has a strength :math:`\theta` (Bradley and Terry, 1952): i is preferred to j with
    probability :math:`1/(1 + e^{\theta_j - \theta_i})`. Strengths are those of largest likelihood,
    and are resampled together; their influence values are :math:`H^{-1} x (y - p)`, whose sum of
    squares within units is the sandwich variance.

    Parameters
    ----------
    battles : sequence of rows, mapping of columns, or frame
        Rows ``(model_a, model_b, winner)``, or columns of these names. The winner is a name, or
        ``"a"``, ``"b"``, ``"model_a"``, ``"model_b"``, ``"tie"``, or ``"tie (bothbad)"``, a tie.
    groups : sequence or str, optional
        One label a battle, or the name of a column: the prompt, or the voter, all of whose battles
        are drawn together. By default battles are drawn, which takes no account of what a prompt,
        or a voter, prefers throughout.
    strata : sequence or str, optional
        One label a battle (a language, a category), or the name of a column: each keeps its size in
        every resample.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared. A ranking
        (`Comparison.ranking`) needs all pairs.
    scale : {"log-odds", "elo"}
        Natural logarithms of odds with a mean of 0, or 1000 + 400/log(10) times these.
    ties : {"half", "davidson"}
        A tie is half a win of each; or it has a probability of its own, which is larger the more
        alike two systems are (Davidson, 1970).
    test, method, alternative, adjustment, confidence_level, contrast
        The test, as in `evalstats.compare`; ``method="bca"`` and ``test="ar"`` are not for
        strengths.
    margin, recovery
        The claim, as in `evalstats.compare`; a recovery is not for strengths.
    n_resamples, rng, executor, progress
        The work, as in `evalstats.estimate`.

    Returns
    -------
    Comparison
        Of one metric, ``"Bradley-Terry"``, whose scores are strengths.

    Raises
    ------
    InputError
        For what are no battles, and where no two systems have won against each other.

    Notes
    -----
    A system that won all its battles, or lost all, has no finite strength: it is left out, and
    named in a note. Where that happens in a resample alone, one Newton step from the estimate takes
    the place of the strengths (Schucany and Wang, 1991), and a note counts such resamples. Two
    systems know as many degrees of freedom as the units of the one that has fewer.

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
    asked = Options(
        confidence_level=confidence_level,
        method=method,
        test=test,
        alternative=alternative,
        adjustment=adjustment,
        n_resamples=n_resamples,
        seed=rng,
        executor=executor if progress is None else Reporting(executor, progress),
        margin=margin,
        recovery=recovery,
        contrast=contrast,
    )
    metric = BradleyTerry(scale, ties)
    table = linked(replace(_designed(battles, groups, strata), metric=metric))
    if baseline is not None and baseline not in table.systems:
        gone = next((note for note in table.notes if f"{baseline} (" in note), None)
        raise InputError(
            gone or f": there is no {baseline!r}; {meant(baseline, table.systems)}",
            argument="baseline",
        )
    pairs = as_pairs(table.systems, baseline, "arena")
    return compared(Evaluation([Task([table])], pairs, asked), baseline)


@also_called(seed="rng")
def wins(
    preferences: Any,
    *,
    groups: Labels = None,
    strata: Labels = None,
    baseline: str | None = None,
    test: Test = "bootstrap",
    method: Method = "bootstrap",
    alternative: Alternative = "two-sided",
    adjustment: AdjustmentName = "max-t",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    margin: float | None = None,
    recovery: float | None = None,
    contrast: Contrasted = "difference",
) -> Comparison:
    """Compare how often each of two systems is preferred, where a tie is half a win of each.

    The two win rates sum to 1, so that a difference of 0 is a win rate of one half.

    Parameters
    ----------
    preferences, groups, strata
        As in `arena`, of two systems.
    baseline, test, method, alternative, adjustment, confidence_level, contrast, margin, recovery
        As in `evalstats.compare`.
    n_resamples, rng, executor
        As in `evalstats.compare`.

    Returns
    -------
    Comparison
        Its estimates are the win rates; without ties intervals are Wilson's (1927) and the p-value
        is that of a share of one half, by the score test.

    Raises
    ------
    InputError
        For what are no battles, and for more than two systems.

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
            f"must be of two systems, got {len(table.systems)}: {', '.join(table.systems[:5])}; "
            f"es.arena compares several",
            argument="preferences",
        )
    asked = Options(
        confidence_level=confidence_level,
        method=method,
        test=test,
        alternative=alternative,
        adjustment=adjustment,
        n_resamples=n_resamples,
        seed=rng,
        executor=executor,
        margin=margin,
        recovery=recovery,
        contrast=contrast,
    )
    rates = win_rates(replace(table, labels={}))
    unit = None if table.groups is None else table.unit
    task = Task([rates], groups=unit, strata=table.strata)
    pairs = as_pairs(table.systems, baseline, "wins")
    notes = (*table.notes, *table.tie_notes)
    return compared(Evaluation([task], pairs, asked, notes), baseline)


def win_rates(table: BattleTable) -> SegmentStatistics:
    """Return the scores of two systems in every battle, 1, 1/2 or 0, as statistics of a mean."""
    of_first = np.where(table.pairs[:, 0] == 0, table.points, 2 - table.points) / 2
    scores = np.stack([of_first, 1 - of_first])
    values = np.stack([scores, np.ones_like(scores)], axis=-1)
    labels = {name: tuple(map(str, of)) for name, of in table.labels.items()}
    if table.groups is not None:
        labels[table.unit] = tuple(map(str, table.groups))
    return SegmentStatistics(values, table.systems, Mean("win rate"), labels=labels)


def _designed(battles: Any, groups: Labels, strata: Labels) -> BattleTable:
    """Return battles with a label of each for groups and strata, and what groups are called."""
    table, columns = as_battles(battles)
    named = {x: columns[x] for x in (groups, strata) if isinstance(x, str) and x in columns}
    return design(replace(table, labels=named or columns), groups, strata)
