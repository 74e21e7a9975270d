"""Several answers to each item: their spread, and what is chance in trials and what is items.

A variance is that of items and that of trials over their number, of which the cheapest design
follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import integer, listed, real
from evalstats.designs.summed import SummedUnits
from evalstats.designs.trials.metrics import PassAll, PassAny, share_of_subsets
from evalstats.errors import Argument, InputError
from evalstats.metrics.ratios import Mean
from evalstats.results.notes import span
from evalstats.results.records import by_metric, counted, plural

if TYPE_CHECKING:
    from evalstats.analysis.scores import Pair, Scores

Floats = NDArray[np.float64]
#: Metrics that a line names; more are counted.
_NAMED = 8
#: More trials of an item are not planned; nor, for the cheapest design, more than so many times
#: those of the pilot, which knows little of what is left where chance has gone.
MOST_TRIALS, _BEYOND = 1000, 4


class Repeats(NamedTuple):
    """How many answers of S systems to N items there are, their sums, and sums of squares."""

    counts: Floats  # (S, N)
    sums: Floats  # (S, N)
    squares: Floats  # (S, N)

    @classmethod
    def of(cls, answers: Floats | None) -> Repeats | None:
        """Return them from an array `(S, N, 3)`; `None` where no item has several answers."""
        if answers is None or not np.any(answers[..., 0] > 1):
            return None
        return cls(*np.moveaxis(answers, -1, 0)) if np.all(np.isfinite(answers[..., 2])) else None

    @property
    def within(self) -> Floats:
        """The variance of the answers to an item, of each system, `(S,)`: within items, pooled."""
        means = self.sums / np.maximum(self.counts, 1)
        degrees = np.sum(np.maximum(self.counts - 1, 0), axis=1)
        squares = np.sum(np.maximum(self.squares - self.sums * means, 0), axis=1)
        return np.asarray(squares / np.maximum(degrees, 1))

    @property
    def of_means(self) -> Floats:
        """What the chance in answers adds to the variance of the mean of an item, `(S,)`."""
        there = self.counts > 0
        per_trial = np.sum(np.where(there, 1 / np.maximum(self.counts, 1), 0.0), axis=1)
        return np.asarray(self.within * per_trial / np.maximum(np.sum(there, axis=1), 1))


class TrialShares(NamedTuple):
    """Which shares of variances are chance in trials; the rest is items."""

    metric: str
    fewest: int  # trials of an item
    most: int
    of_scores: tuple[float, ...]  # of the variance of items' means, of each system that varies
    of_differences: tuple[float, ...]  # likewise of their differences, of each pair
    # Of differences of means, of each pair; and the same of infinitely many trials.
    errors: tuple[tuple[float, float], ...] = ()
    unit: str = "item"


def trial_shares(several: Sequence[Scores], pairs: Sequence[Pair] = ()) -> Iterator[TrialShares]:
    """Return which part of variances is chance in trials, of metrics whose items have several.

    The variance of items' means is that of items plus σ²/K, with the variance σ² of the K answers
    to an item, pooled over items; that of a difference of two systems has σ²/K of both.
    """
    for one in several:
        answers = Repeats.of(one.answers) if one.has_segments else None
        if (
            answers is None
            or one.n_runs
            or one.units.members is not None
            or not one.units.has_values
        ):
            continue
        chance = answers.of_means
        with np.errstate(invalid="ignore"):
            means = answers.sums / answers.counts

        of_pairs = [(means[b] - means[a], chance[a] + chance[b]) for a, b in pairs]
        counts = answers.counts[answers.counts > 0]
        errors: list[tuple[float, float]] = []
        if one.influence is not None and _is_of_means(one):
            for (a, b), of_pair in zip(pairs, of_pairs, strict=True):
                error = one.units.spread(one.influence[b] - one.influence[a]).error
                share = (_shares([of_pair]) or (0.0,))[0]
                errors.append((error, error * (1 - share) ** 0.5))
        yield TrialShares(
            metric=one.name,
            fewest=int(np.min(counts)),
            most=int(np.max(counts)),
            of_scores=_shares(zip(means, chance, strict=True)),
            of_differences=_shares(of_pairs),
            errors=tuple(errors),
            unit=one.units.unit,
        )


def _shares(parts: Iterable[tuple[Floats, float]]) -> tuple[float, ...]:
    """Return which share of the variance of values, `(N,)` each, is chance, at most 1.

    Values that are not there are NaN; those that do not vary have no share.
    """
    shares = []
    for values, chance in parts:
        there = values[~np.isnan(values)]
        variance = float(np.var(there, ddof=1)) if len(there) > 1 else 0.0
        if variance > 1e-12:
            shares.append(min(float(chance) / variance, 1.0))
    return tuple(shares)


def trial_notes(shares: Iterable[TrialShares]) -> Iterator[str]:
    """Say which part of variances is chance in trials: one line for metrics of the same trials."""
    alike: dict[tuple[TrialShares, ...], list[str]] = {}
    of_metrics = by_metric(shares)
    for metric, rows in of_metrics.items():
        key = tuple(one._replace(metric="", errors=()) for one in rows)
        alike.setdefault(key, []).append(metric)
    for same, metrics in alike.items():
        number = span([n for one in same for n in (one.fewest, one.most)], "d")
        scores = [100 * share for one in same for share in one.of_scores]
        pairs = [100 * share for one in same for share in one.of_differences]
        unit = same[0].unit
        parts = [f"{span(scores, '.0f')} % of the variance of {plural(unit)}"] if scores else []
        parts += [f"{span(pairs, '.0f')} % of the variance of their differences"] if pairs else []
        if not parts:
            continue
        what = ", ".join(metrics) if len(metrics) <= _NAMED else f"{len(metrics)} metrics"
        said = f"{what}: with {number} trials of each {unit}, chance in the trials makes up "
        said += f"{' and '.join(parts)}."
        all_rows = [one for metric in metrics for one in of_metrics[metric]]
        if errors := [both for one in all_rows for both in one.errors]:
            now, endless = (span(rows, ".2g") for rows in zip(*errors, strict=True))
            difference = "a difference" if len(errors) == 1 else "differences"
            said += f" The standard error of {difference} is {now}; with infinitely many trials of "
            said += f"each {unit} it would be {endless} (Wang, 2025)."
        yield said


class TrialSpread(NamedTuple):
    """The variances of the difference of two systems on an item: of items, and of one trial."""

    item: float
    trial: float
    most: int  # trials of the cheapest design, at most
    least: int = 1  # that a score needs
    #: Of shares of subsets of k trials: E p^m of m = k, ..., 2k trials, summed over both systems.
    powers: tuple[float, ...] = ()

    def variance(self, trials: int) -> float:
        """Return the variance of the difference of two means of so many trials.

        Of shares of subsets of k trials the part of chance is that of U-statistics (Hoeffding,
        1948): two subsets of K trials have j in common with probability C(k, j)·C(K - k, k - j) /
        C(K, k), and are then all right with probability p^(2k - j).
        """
        if not self.powers:
            return self.item + self.trial / trials
        k = self.least
        common = [comb(k, j) * comb(trials - k, k - j) / comb(trials, k) for j in range(k + 1)]
        second = sum(c * self.powers[k - j] for j, c in enumerate(common))
        return max(self.item + second - self.powers[k], 0.0)


def check_trials(trials: object, price: object, difference: float | None) -> None:
    """Raise where trials that are planned, or prices of an item and a trial, cannot be."""
    if trials is not None:
        integer(trials, "trials", 1, MOST_TRIALS)
    if price is None:
        return
    both = listed(price, "price", "two numbers, of an item and of a trial")
    if len(both) != 2 or sum(real(x, "price", 0.0) for x in both) <= 0:
        raise InputError(
            f"must be two numbers of at least 0, of an item and of a trial of both systems on it, "
            f"not both 0; got {both}",
            argument="price",
        )
    if difference is None:
        raise InputError(
            "needs the ", Argument("difference"), " that is to be found", argument="price"
        )


def planned_trials(metrics: Sequence[Scores], several: Sequence[int], price: object) -> int | None:
    """Return the trials of an item that are planned, by default the pilot's; `None` of no plan."""
    if not several and price is None:
        return None
    trials = several[0] if several else None
    for one in metrics:
        answers = _answers(one, "trials" if several else "price")
        trials = trials or round(float(np.mean(answers.counts[answers.counts > 0])))
        least = max(_subset(one), 1)
        if several and min(several) < least:
            raise InputError(
                f"must be at least {least} for {one.name}, got {min(several)}", argument="trials"
            )
    return trials


def _answers(scores: Scores, argument: str) -> Repeats:
    """Return the answers behind means of trials, or say which pilot is needed."""
    how = "metrics=evalstats.PassAll(1), or of logs with several answers to an item their mean"
    answers = Repeats.of(scores.answers) if scores.has_segments else None
    if answers is None:
        raise InputError(f"needs a pilot with several trials of an item: {how}", argument=argument)
    if not (_is_of_means(scores) or _subset(scores)) or scores.units.members is not None:
        raise InputError(
            f"plans means, pass^k or pass@k of single items' trials, and this is {scores.name} "
            f"of {plural(scores.units.unit)}: {how}",
            argument=argument,
        )
    return answers


def _is_of_means(scores: Scores) -> bool:
    """Say whether a score is the mean of the means of items."""
    first, *others = scores.strata
    return (type(first.metric) is Mean and not others) or _subset(scores) == 1


def _subset(scores: Scores) -> int:
    """Return k of a mean over items of pass^k or pass@k, 0 of what is none."""
    first, *others = scores.strata
    metric = first.metric
    return metric.k if isinstance(metric, (PassAll, PassAny)) and not others else 0


def spread_of(scores: Scores, pair: Pair, variance: float) -> TrialSpread:
    """Return the variances behind that of the differences of two systems on an item.

    What chance in the pilot's trials adds is taken off; below 0 the items' part is 0.
    """
    answers = _answers(scores, "trials")
    if _subset(scores) > 1:
        return _of_subsets(scores, pair, answers, _subset(scores))
    chance = float(sum(answers.of_means[system] for system in pair))
    trial = float(sum(answers.within[system] for system in pair))
    pilot = float(np.mean(answers.counts[answers.counts > 0]))
    return TrialSpread(max(variance - chance, 0.0), trial, ceil(_BEYOND * pilot))


def _of_subsets(scores: Scores, pair: Pair, answers: Repeats, k: int) -> TrialSpread:
    """Return the same of shares of subsets of k trials, without bias where there are 2k or more."""
    systems = list(pair)
    counts, right = answers.counts[systems], answers.sums[systems]
    if float(np.min(counts)) < 2 * k:
        raise InputError(
            f"of {scores.name} needs a pilot with at least {2 * k} trials of every item, got "
            f"{np.min(counts):g}",
            argument="trials",
        )
    if isinstance(scores.strata[0].metric, PassAny):
        right = counts - right  # none of k right is all of k wrong
    shares = [share_of_subsets(right, counts, m) for m in range(k, 2 * k + 1)]
    powers = tuple(float(np.sum(np.mean(of_pair, axis=1))) for of_pair in shares)
    difference = float(np.diff(np.mean(shares[0], axis=1))[0])
    # E of p^2k of both less twice the product, which is (p^k - q^k)² on average.
    item = max(powers[k] - 2 * float(np.mean(shares[0][0] * shares[0][1])) - difference**2, 0.0)
    most = ceil(_BEYOND * float(np.mean(counts)))
    spread = TrialSpread(item, 0.0, most, k, powers)
    return spread._replace(trial=max(spread.variance(k) - item, 0.0))


def cost(n_items: int | None, trials: int, price: tuple[float, float]) -> float | None:
    """Return the price of a design, `None` of none."""
    return None if n_items is None else float(n_items * (price[0] + trials * price[1]))


def cheapest_of(
    needed: Callable[[int], int | None], price: tuple[float, float], spread: TrialSpread
) -> tuple[tuple[int, int | None, float] | None, dict[int, int | None]]:
    """Return the trials, items and price of the cheapest design, of equal ones with fewer trials.

    `needed` is how many items with so many trials find the difference; it is returned too, by the
    number of trials. No design needs fewer items than that with the most trials.
    """
    known = {spread.most: needed(spread.most)}
    best: tuple[int, int | None, float] | None = None
    for trials in range(spread.least, spread.most + 1):
        lowest = cost(known[spread.most], trials, price)
        if lowest is None or (best is not None and lowest >= best[2]):
            break
        if trials not in known:
            known[trials] = needed(trials)
        total = cost(known[trials], trials, price)
        if total is not None and (best is None or total < best[2]):
            best = trials, known[trials], total
    return best, known


def fixed(scores: Scores) -> Scores:
    """Return what trials alone say of scores of items that are all there are.

    Nothing is resampled. Each score has a variance by trials.
    """
    of_strata = [[x.metric.chance(rows) for rows in x.segments] for x in scores.strata]
    known = [[x for x in chances if x is not None] for chances in of_strata]
    n, n_systems, units = scores.units.n, len(scores.systems), scores.units
    if units.sizes is not None or not scores.is_paired or any(len(x) < n_systems for x in known):
        raise InputError(
            "'all' takes items that both systems have, without groups, and a mean over them; leave "
            "it out",
            argument="items",
        )
    chances = np.square([stratum.weight for stratum in scores.strata]) @ np.array(known)
    places, sums = np.zeros(n_systems, dtype=np.intp), np.array([[n, n, n]])
    summed = SummedUnits(n, *units.called, labels=units.labels, places=places, sums=sums)
    note = (
        f"{scores.name}: these {counted(n, units.unit)} are all there are, and chance is only in "
        f"their trials. t decides."
    )
    # A coordinate for each system: the trials of two have nothing in common.
    coordinates = np.diag(np.sqrt(chances * (n - 1) / n))
    return replace(
        scores, units=summed, outcomes=None, influence=coordinates, origin=(note,), missing=None
    )
