"""Items or trials? What each adds to the variance of a difference, and the cheapest design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from evalstats.analysis.drawn import Drawn, Pair
from evalstats.checks import integer, listed, real
from evalstats.designs.trials.repeats import Repeats
from evalstats.errors import Argument, InputError
from evalstats.metrics import Mean, PassAll, PassAny
from evalstats.results.records import plural

#: More trials of an item are not planned; nor, for the cheapest design, more than so many times
#: those of the pilot, which knows little of what is left where chance has gone.
MOST_TRIALS, _BEYOND = 1000, 4


class TrialSpread(NamedTuple):
    """The variances of the difference of two systems on an item: of items, and of one trial."""

    item: float
    trial: float
    most: int  # trials of the cheapest design, at most

    def variance(self, trials: int) -> float:
        """Return the variance of the difference of two means of so many trials."""
        return self.item + self.trial / trials


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
        raise InputError("price needs the ", Argument("difference"), " that is to be found")


def planned_trials(drawn: Sequence[Drawn], trials: int | None, price: object) -> int | None:
    """Return the trials of an item that are planned, by default the pilot's; `None` of no plan."""
    if trials is None and price is None:
        return None
    argument = "trials" if trials is not None else "price"
    for one in drawn:
        answers = _answers(one, argument)
        trials = trials or round(float(np.mean(answers.counts[answers.counts > 0])))
    return trials


def _answers(drawn: Drawn, argument: str) -> Repeats:
    """Return the answers behind means of trials, or say which pilot is needed."""
    how = "metrics=evalstats.PassAll(1), or of logs with several answers to an item their mean"
    answers = Repeats.of(drawn.segments.answers) if drawn.has_segments else None
    if answers is None:
        raise InputError(f"needs a pilot with several trials of an item: {how}", argument=argument)
    first, *others = drawn.segments.blocks
    metric = first.metric
    is_mean = type(metric) is Mean or (isinstance(metric, (PassAll, PassAny)) and metric.k == 1)
    if not is_mean or others or drawn.units.members is not None:
        raise InputError(
            f"plans means of trials on single items, whose variance is σ²(items) + σ²(trials)/K, "
            f"and this is {drawn.of.name} of {plural(drawn.units.unit)}: {how}",
            argument=argument,
        )
    return answers


def spread_of(drawn: Drawn, pair: Pair, variance: float) -> TrialSpread:
    """Return the variances behind that of the differences of two systems on an item.

    What chance in the pilot's trials adds is taken off; below 0 the items' part is 0.
    """
    answers = _answers(drawn, "trials")
    chance = float(sum(answers.of_means[system] for system in pair))
    trial = float(sum(answers.within[system] for system in pair))
    pilot = float(np.mean(answers.counts[answers.counts > 0]))
    return TrialSpread(max(variance - chance, 0.0), trial, ceil(_BEYOND * pilot))


def cost(n_items: int | None, trials: int, price: tuple[float, float]) -> float | None:
    """Return the price of a design, `None` of none."""
    return None if n_items is None else float(n_items * (price[0] + trials * price[1]))


def cheapest_of(
    needed: Callable[[int], int | None], price: tuple[float, float], most: int
) -> tuple[tuple[int, int, float] | None, dict[int, int | None]]:
    """Return the trials, items and price of the cheapest design, of equal ones with fewer trials.

    `needed` is how many items with so many trials find the difference; it is returned too, by the
    number of trials. No design needs fewer items than that with the most trials.
    """
    fewest = needed(most)
    known = {most: fewest}
    best: tuple[int, int, float] | None = None
    for trials in range(1, most + 1):
        least = cost(fewest, trials, price)
        if least is None or (best is not None and least >= best[2]):
            break
        if trials not in known:
            known[trials] = needed(trials)
        n_items = known[trials]
        total = cost(n_items, trials, price)
        if n_items is not None and total is not None and (best is None or total < best[2]):
            best = trials, n_items, total
    return best, known
