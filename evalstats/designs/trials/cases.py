"""Several answers to each item: variance of trials and of items, and which items got worse.

A variance is the variance of items plus the variance of trials over their number; the cheapest
design follows from both. `Cases` are items that are tested separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil, comb, log
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.tasks import Task
from evalstats.checks import integer, listed, real
from evalstats.designs.trials.metrics import PassAll, PassAny, Trials, share_of_subsets
from evalstats.designs.units import SummedUnits
from evalstats.errors import Argument, InputError
from evalstats.inference.families import TIE
from evalstats.metrics.ratios import Mean
from evalstats.results import tabular
from evalstats.results.convert import Count, FreeText, Level, Share, one_of
from evalstats.results.forms import Finding, Several
from evalstats.results.notes import span
from evalstats.results.records import (
    Caution,
    Record,
    by_metric,
    counted,
    first_few,
    of_metric,
    of_task,
    plural,
)
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison, Evaluation
    from evalstats.analysis.scores import Pair, Scores
    from evalstats.results.records import Difference

Floats = NDArray[np.float64]
#: How many metrics a line names; more are counted.
_NAMED = 8
#: A range of so many percentage points shows nothing.
_WIDE = 80
#: The most trials per item that can be planned; and, for the cheapest design, the most as a
#: multiple of the pilot's trials, because a pilot shows little about designs with far more.
MOST_TRIALS, _BEYOND = 1000, 4


class Repeats(NamedTuple):
    """Counts, sums and sums of squares of the answers of S systems to N items."""

    counts: Floats  # (S, N)
    sums: Floats  # (S, N)
    squares: Floats  # (S, N)

    @classmethod
    def of(cls, answers: Floats | None) -> Repeats | None:
        """Return them from an array `(S, N, 3)`; `None` if no item has several answers."""
        if answers is None or not np.any(answers[..., 0] > 1):
            return None
        return cls(*np.moveaxis(answers, -1, 0)) if np.all(np.isfinite(answers[..., 2])) else None

    @property
    def within(self) -> Floats:
        """The pooled variance of answers within items, of each system, `(S,)`."""
        means = self.sums / np.maximum(self.counts, 1)
        degrees = np.sum(np.maximum(self.counts - 1, 0), axis=1)
        squares = np.sum(np.maximum(self.squares - self.sums * means, 0), axis=1)
        return np.asarray(squares / np.maximum(degrees, 1))

    @property
    def of_means(self) -> Floats:
        """The part of the variance of items' means that comes from trials, `(S,)`."""
        there = self.counts > 0
        per_trial = np.sum(np.where(there, 1 / np.maximum(self.counts, 1), 0.0), axis=1)
        return np.asarray(self.within * per_trial / np.maximum(np.sum(there, axis=1), 1))


class TrialShares(NamedTuple):
    """Shares of variances that come from chance in trials; the rest comes from items."""

    metric: str
    fewest: int  # trials of an item
    most: int
    of_scores: tuple[float, ...]  # of the variance of items' means, per system that varies
    of_differences: tuple[float, ...]  # likewise of their differences, per pair
    # For differences of means, per pair; and the same with infinitely many trials.
    errors: tuple[tuple[float, float], ...] = ()
    unit: str = "item"


def trial_shares(several: Sequence[Scores], pairs: Sequence[Pair] = ()) -> Iterator[TrialShares]:
    """Yield the shares of variances that come from trials, for metrics of items with several.

    The variance of items' means is that of items plus σ²/K, with the variance σ² of the K answers
    to an item, pooled over items; the variance of a difference has σ²/K of both systems.
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
    """Return the share of the variance of values, `(N,)` each, that is chance, at most 1.

    Missing values are NaN; values that do not vary have no share.
    """
    shares = []
    for values, chance in parts:
        there = values[~np.isnan(values)]
        variance = float(np.var(there, ddof=1)) if len(there) > 1 else 0.0
        if variance > 1e-12:
            shares.append(min(float(chance) / variance, 1.0))
    return tuple(shares)


def trial_notes(shares: Iterable[TrialShares]) -> Iterator[str]:
    """Yield notes on the variance from trials: one line for metrics of the same trials."""
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
        kinds = ((scores, f"{unit} scores"), (pairs, "differences between systems"))
        parts = [
            f"{span(values, '.0f')}% of the variance of {of}"
            for values, of in kinds
            if values and max(values) - min(values) < _WIDE
        ]
        if not parts:
            continue
        what = ", ".join(metrics) if len(metrics) <= _NAMED else f"{len(metrics)} metrics"
        said = f"{what}: with {number} trials per {unit}, random variation between trials accounts "
        said += f"for {' and '.join(parts)}."
        all_rows = [one for metric in metrics for one in of_metrics[metric]]
        if errors := [both for one in all_rows for both in one.errors]:
            now, endless = (span(rows, ".2g") for rows in zip(*errors, strict=True))
            difference = "a difference" if len(errors) == 1 else "differences"
            said += (
                f" The standard error of {difference} is {now}. With infinitely many trials per "
            )
            said += f"{unit}, it would be {endless} (Wang, 2025)."
        yield said


class TrialSpread(NamedTuple):
    """Variances of the difference of two systems on an item: from items, and from one trial."""

    item: float
    trial: float
    most: int  # the most trials of the cheapest design
    least: int = 1  # trials that the score needs
    #: For shares of subsets of k trials: E p^m for m = k, ..., 2k, summed over both systems.
    powers: tuple[float, ...] = ()

    def variance(self, trials: int) -> float:
        """Return the variance of the difference of two means of `trials` trials.

        For shares of subsets of k trials the variance from trials is that of U-statistics
        (Hoeffding, 1948): two subsets of K trials share j trials with probability C(k, j)·C(K - k,
        k - j) / C(K, k), and are then all right with probability p^(2k - j).
        """
        if not self.powers:
            return self.item + self.trial / trials
        k = self.least
        common = [comb(k, j) * comb(trials - k, k - j) / comb(trials, k) for j in range(k + 1)]
        second = sum(c * self.powers[k - j] for j, c in enumerate(common))
        return max(self.item + second - self.powers[k], 0.0)


def check_trials(trials: object, price: object, difference: float | None) -> None:
    """Raise if planned trials, or the prices of an item and a trial, are invalid."""
    if trials is not None:
        integer(trials, "trials", 1, MOST_TRIALS)
    if price is None:
        return
    both = listed(price, "price", "two numbers, of an item and of a trial")
    if len(both) != 2 or sum(real(x, "price", 0.0) for x in both) <= 0:
        raise InputError(
            "must be two numbers of at least 0 that are not both 0 (the price of an item, and "
            f"the price of a trial of both systems on it), got {both}",
            argument="price",
        )
    if difference is None:
        raise InputError("requires the ", Argument("difference"), " to detect", argument="price")


def planned_trials(metrics: Sequence[Scores], several: Sequence[int], price: object) -> int | None:
    """Return the planned trials per item, by default the pilot's; `None` without a plan."""
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
    """Return the answers behind means of trials, or raise with the pilot that is needed."""
    how = "metrics=evalstats.PassAll(1), or the mean of logs with several answers per item"
    answers = Repeats.of(scores.answers) if scores.has_segments else None
    if answers is None:
        raise InputError(
            f"requires a pilot with several trials per item; use {how}", argument=argument
        )
    if not (_is_of_means(scores) or _subset(scores)) or scores.units.members is not None:
        raise InputError(
            "can only plan means, pass^k or pass@k of trials of single items, but this is "
            f"{scores.name} of {plural(scores.units.unit)}; use {how}",
            argument=argument,
        )
    return answers


def _is_of_means(scores: Scores) -> bool:
    """Return whether a score is the mean of the means of items."""
    first, *others = scores.strata
    return (type(first.metric) is Mean and not others) or _subset(scores) == 1


def _subset(scores: Scores) -> int:
    """Return k of a mean over items of pass^k or pass@k; 0 for other scores."""
    first, *others = scores.strata
    metric = first.metric
    return metric.k if isinstance(metric, (PassAll, PassAny)) and not others else 0


def spread_of(scores: Scores, pair: Pair, variance: float) -> TrialSpread:
    """Return the parts of the variance of the differences of two systems on an item.

    The variance from the pilot's trials is subtracted; the items' part is at least 0.
    """
    answers = _answers(scores, "trials")
    if _subset(scores) > 1:
        return _of_subsets(scores, pair, answers, _subset(scores))
    chance = float(sum(answers.of_means[system] for system in pair))
    trial = float(sum(answers.within[system] for system in pair))
    pilot = float(np.mean(answers.counts[answers.counts > 0]))
    return TrialSpread(max(variance - chance, 0.0), trial, ceil(_BEYOND * pilot))


def _of_subsets(scores: Scores, pair: Pair, answers: Repeats, k: int) -> TrialSpread:
    """Return the same for shares of subsets of k trials, unbiased with 2k trials or more."""
    systems = list(pair)
    counts, right = answers.counts[systems], answers.sums[systems]
    if float(np.min(counts)) < 2 * k:
        raise InputError(
            f": planning {scores.name} requires a pilot with at least {2 * k} trials per item, "
            f"got {np.min(counts):g}",
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
    """Return the price of a design, or `None`."""
    return None if n_items is None else float(n_items * (price[0] + trials * price[1]))


def cheapest_of(
    needed: Callable[[int], int | None], price: tuple[float, float], spread: TrialSpread
) -> tuple[tuple[int, int | None, float] | None, dict[int, int | None]]:
    """Return trials, items and price of the cheapest design, with fewer trials on a tie.

    `needed` gives the number of items for a number of trials; these numbers are returned too. The
    design with the most trials needs the fewest items.
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
    """Return scores of fixed items, with a variance from trials only.

    Nothing is resampled.
    """
    of_strata = [[x.metric.chance(rows) for rows in x.segments] for x in scores.strata]
    known = [[x for x in chances if x is not None] for chances in of_strata]
    n, n_systems, units = scores.units.n, len(scores.systems), scores.units
    if units.sizes is not None or not scores.is_paired or any(len(x) < n_systems for x in known):
        raise InputError(
            "must be left out: 'all' requires items that both systems have, no groups, and a "
            "mean over items",
            argument="items",
        )
    chances = np.square([stratum.weight for stratum in scores.strata]) @ np.array(known)
    places, sums = np.zeros(n_systems, dtype=np.intp), np.array([[n, n, n]])
    summed = SummedUnits(n, *units.called, labels=units.labels, places=places, sums=sums)
    note = (
        f"{scores.name}: these {counted(n, units.unit)} are treated as fixed, so only their trials "
        "vary. evalstats uses Student's t."
    )
    # One coordinate per system: trials of different systems are independent.
    coordinates = np.diag(np.sqrt(chances * (n - 1) / n))
    return replace(
        scores, units=summed, outcomes=None, influence=coordinates, origin=(note,), missing=None
    )


Ints = NDArray[np.int64]
#: How many items the table shows: changed ones first.
_MOST_CHANGED, _SHOWN = 50, 5
#: How many items the sentence names.
_TOLD = 5
_TESTS = {"boschloo": "Boschloo's exact test", "fisher": "Fisher's exact test"}
#: With more trials Fisher's test has nearly the same power, and Boschloo's is slow.
_MOST_TABLES = 10_000
#: Probabilities and p-values that differ by less than this share count as equal.
_SAME = 1 + 1e-9
#: Number of shares over which the largest p-value is taken, and how many at a time.
_GRID, _AT_ONCE = 1001, 50


@dataclass(frozen=True)
class Case(Record):
    """An item with the shares of right answers of two systems.

    Attributes
    ----------
    item : str
        Its id, or its place from 0; with several tasks, after the name of the task.
    baseline, system : float
        Share of trials that are right.
    baseline_trials, system_trials : int
        Numbers of trials.
    pvalue, pvalue_adjusted : float
        From the two-sided test of this item alone, and adjusted over all items.

    Examples
    --------
    >>> import evalstats as es
    >>> old, new = [[1] * 5, [0, 1, 1, 1, 1]], [[0] * 5, [1] * 5]
    >>> result = es.compare({"old": old, "new": new}, metrics=es.PassAll(1), n_resamples=99)
    >>> print(result.cases()[0])
    0 5/5 → 0/5
    """

    item: FreeText
    baseline: Share
    system: Share
    baseline_trials: Count
    system_trials: Count
    pvalue: Share
    pvalue_adjusted: Share

    def _title(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return ``refund-7 5/5 → 0/5``."""
        return f"{self.item} {_right(self, 'baseline')} → {_right(self, 'system')}"


@dataclass(frozen=True, repr=False)
class Cases(Several[Case]):
    """Items with several trials of two systems, smallest p-value first; iterating yields `Case`.

    Attributes
    ----------
    cases : tuple of Case
        One record per item.
    metric, system, baseline : str
        The metric, and the two systems.
    test : {"boschloo", "fisher"}
        The test of each item.
    significance_level : float
        An upper bound on the chance of any false case, if the trials of an item are independent.
    higher_is_better : bool
        Whether answers with score 1 are right.
    total : str
        The total difference of the comparison, in words.
    unit : str
        What an item is called.
    signatures, notes : tuple of str
        As in `Comparison`.

    Notes
    -----
    Measured on 20 items of 5 trials, 1,000 data sets each of five distributions of rates: if no
    item changed, one was named in at most .044 of them; an item that went from 5/5 to 0/5 was named
    in all. Fisher's test named it in .67 if all rates were 0.5, the worst case. With 30 items,
    Fisher's test is used: .26 in that case, and .95 to 1 in the others.

    Examples
    --------
    >>> import evalstats as es
    >>> old, new = [[1] * 5, [0, 1, 1, 1, 1]], [[0] * 5, [1] * 5]
    >>> result = es.compare({"old": old, "new": new}, metrics=es.PassAll(1), n_resamples=99)
    >>> [case.item for case in result.cases().worse]
    ['0']
    """

    cases: tuple[Case, ...]
    metric: str
    system: str
    baseline: str
    test: Annotated[str, one_of(("boschloo", "fisher"))]
    significance_level: Level
    higher_is_better: bool = True
    total: str = ""
    unit: str = "item"
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def worse(self) -> tuple[Case, ...]:
        """Items on which the system is shown to be worse."""
        return tuple(case for case in self.cases if self.verdict(case) == "worse")

    @property
    def better(self) -> tuple[Case, ...]:
        """Items on which the system is shown to be better."""
        return tuple(case for case in self.cases if self.verdict(case) == "better")

    def verdict(self, case: Case) -> str:
        """Return "better", "worse" or "no evidence", by the adjusted p-value."""
        if case.pvalue_adjusted > self.significance_level or case.system == case.baseline:
            return "no evidence"
        return "better" if (case.system > case.baseline) == self.higher_is_better else "worse"

    @property
    def sentence(self) -> str:
        """The finding in a sentence: "3 of 20 items are worse: refund-7 5/5 → 0/5, ..."."""
        n, parts = counted(len(self.cases), self.unit), []
        for word, cases in (("worse", self.worse), ("better", self.better)):
            if cases:
                are = "is" if len(cases) == 1 else "are"
                names = first_few(map(str, cases), ", ", _TOLD)
                parts.append(f"{len(cases)} of {n} {are} {word}: {names}")
        return f"{'; '.join(parts) or f'No evidence that any of {n} is worse or better'}."

    def _headline(self) -> str:
        """Return the question of a report."""
        return f"Which {plural(self.unit)} changed: {self.system} against {self.baseline}"

    def _findings(self) -> list[Finding]:
        kind = "worse" if self.worse else "open"
        return [Finding(self.sentence, kind, self._in_total())]

    def _in_total(self) -> list[str]:
        return [f"Overall, {self.total}"] if self.total else []

    def _tables(self, digits: int | None = None) -> list[Table]:
        changed = [*self.worse, *self.better]
        shown = changed[:_MOST_CHANGED] or self.cases[:_SHOWN]
        p = partial(tabular.pvalue, level=self.significance_level, digits=digits)
        columns: list[Column] = [
            (self.unit, "<", lambda c: c.item),
            (self.baseline, ">", lambda c: _right(c, "baseline")),
            (self.system, ">", lambda c: _right(c, "system")),
            ("p", ">", lambda c: p(c.pvalue)),
            ("p (adjusted)", ">", lambda c: p(c.pvalue_adjusted)),
            ("verdict", "<", self.verdict),
        ]
        title = f"{self.metric}, {self.system} - {self.baseline}: {len(self.worse)} worse and "
        title += f"{len(self.better)} better of {counted(len(self.cases), self.unit)}"
        more = len(self.cases) - len(shown)
        are = "is" if more == 1 else "are"
        said = f"{counted(more, f'more {self.unit}')} {are} not shown. to_csv() writes all of them."
        hints = (said,) if more else ()
        return [table_of(title, shown, columns, hints=hints)]

    def _notes(self) -> list[str]:
        level, n = self.significance_level, counted(len(self.cases), self.unit)
        return [
            self.sentence,
            *self._in_total(),
            *self.notes,
            f"Each {self.unit} is tested separately, two-sided, with {_TESTS[self.test]}. p is "
            f"adjusted for {n} (Tarone, 1990; Holm, 1979), so the chance of any false finding is "
            f"at most {level:g} if the trials of each {self.unit} are independent.",
        ]


def _right(case: Case, side: str) -> str:
    """Return the number of right trials, as ``4/5``."""
    trials = getattr(case, f"{side}_trials")
    return f"{round(getattr(case, side) * trials)}/{trials}"


def cases_of(
    comparison: Comparison,
    metric: str | None = None,
    system: str | None = None,
    baseline: str | None = None,
    task: str | None = None,
) -> Cases:
    """Find the items that got worse, each tested separately over its trials; returns `Cases`.

    For items with several answers that are right or wrong, with any metric of trials, or a mean
    from logs. Exact tests (Boschloo, 1970, or Fisher, 1935), adjusted over all items of all tasks
    (Tarone, 1990; Holm, 1979). Parameters are the same as for `difference`; metrics of the same
    trials count as one.

    Examples
    --------
    >>> import evalstats as es
    >>> old = [[1] * 5, [1, 1, 0, 1, 1], [0] * 5]
    >>> new = [[0] * 5, [1, 0, 1, 1, 1], [0] * 5]
    >>> result = es.compare({"old": old, "new": new}, metrics=es.PassAll(1), n_resamples=99)
    >>> print(result.cases().sentence)
    1 of 3 items is worse: 0 5/5 → 0/5.
    """
    from evalstats.pictures.findings import in_words

    evaluation = comparison.evaluation
    rows = comparison.rows if task is None else of_task(comparison.differences, task)
    rows = rows if metric is None else of_metric(rows, metric)
    pairs = [
        comparison.difference(name, system, baseline, on or None)
        for on, name in dict.fromkeys((d.task, d.metric) for d in rows)
    ]
    first, is_single = pairs[0], len({d.task for d in pairs}) == 1
    total: Difference | None = first if is_single else None
    if not is_single and any(d.metric == first.metric for d in comparison.totals):
        total = comparison.difference(first.metric, first.system, first.baseline)
    (names, trials, right), level = _items_of(evaluation, pairs), comparison.significance_level
    test, pvalues, least = _tested(trials, right, level)
    adjusted = tarone_holm(pvalues, least)
    _, scores = evaluation.with_segments(first, "cases")
    unit = scores.units.segment
    notes: list[str] = [note for note in evaluation.notes if isinstance(note, Caution)]
    # The smallest p-value of a single item, which changed completely.
    reached = least * np.searchsorted(np.sort(least), least * _SAME, side="right")
    if np.min(reached) > level:
        # Boschloo's p-value of n of n against 0 of n is 2/4^n.
        needed = ceil(log(2 * len(least) / level, 4))
        notes.append(
            f"With so few trials, none of {counted(len(least), unit)} can be significant, because "
            f"the smallest possible adjusted p-value is {min(1.0, float(np.min(reached))):.2g}. "
            f"Use {needed} trials per {unit}."
        )
    # A score of 1 is a right answer, as in trials, for all of their metrics.
    is_right = isinstance(scores.strata[0].metric, Trials)
    order = np.lexsort((np.arange(len(pvalues)), pvalues, adjusted))
    columns = (*(right / trials), *trials, pvalues, adjusted)
    cells = zip(*(column[order].tolist() for column in columns), strict=True)
    return Cases(
        cases=tuple(Case(names[i], *row) for i, row in zip(order, cells, strict=True)),
        metric=first.metric,
        baseline=first.baseline,
        system=first.system,
        test=test,
        significance_level=level,
        higher_is_better=is_right or first.higher_is_better,
        total="" if total is None else in_words(comparison, total),
        unit=unit,
        signatures=(comparison.signature_of(total or first),),
        notes=tuple(notes),
    )


def _items_of(evaluation: Evaluation, pairs: Sequence[Difference]) -> tuple[list[str], Ints, Ints]:
    """Return names, trials and right answers of the items that both systems answered.

    Over all tasks. Trials and right answers are `(2, N)`, for baseline and system, and the same for
    every metric.
    """
    names: dict[str, list[str]] = {}
    counts: dict[str, list[Ints]] = {}
    for d in pairs:
        part, scores = evaluation.with_segments(d, "cases")
        assert isinstance(part, Task)
        answers, systems = Repeats.of(scores.answers), scores.systems
        if answers is None:
            raise InputError(
                "cases requires several trials per item, but these items have one; pass lists "
                "of trials with metrics=evalstats.PassAll(1), or logs with several answers"
            )
        # Sums and sums of squares are equal only for 0 and 1.
        is_whole = np.all(answers.sums == np.rint(answers.sums))
        if not is_whole or np.any(answers.sums != answers.squares):
            raise InputError("cases requires answers with a score of 1 (right) or 0 (wrong)")
        pair = [systems.index(d.baseline), systems.index(d.system)]
        both = np.stack([answers.counts[pair], answers.sums[pair]]).astype(np.int64)
        there, segments = np.flatnonzero(np.all(both[0] > 0, axis=0)), part.segment_names()
        # With several tasks, items are named after their task.
        before = f"{d.task}: " if any(d.task != other.task for other in pairs) else ""
        names.setdefault(d.metric, []).extend(f"{before}{segments[i]}" for i in there)
        counts.setdefault(d.metric, []).append(both[..., there])
    joined = {metric: np.concatenate(parts, axis=-1) for metric, parts in counts.items()}
    first = next(iter(names))
    for metric, rows in joined.items():
        if names[metric] != names[first] or not np.array_equal(rows, joined[first]):
            raise InputError(
                "is required, because the metrics have different trials; pass one of "
                f"{', '.join(names)}",
                argument="metric",
            )
    if not names[first]:
        raise InputError("cases requires items that both systems answered, but there are none")
    trials, right = joined[first]
    return names[first], trials, right


def _tested(trials: Ints, right: Ints, level: float) -> tuple[str, Floats, Floats]:
    """Return the test, the p-value of each item, and its smallest possible one, `(N,)` each.

    The test is Boschloo's if it can find a single item among all, otherwise Fisher's. Boschloo's
    smallest p-value is far below Fisher's, but all items can reach it. Fisher's is that small only
    for some totals of right answers, which do not depend on a change, and Tarone's method leaves
    the other items out. The choice depends only on the numbers of items and trials, never on the
    answers, so the level holds.
    """
    pvalues, least = np.ones((2, trials.shape[1]))
    numbers = [(int(n), int(m)) for n, m in trials.T]
    test = "fisher"
    if max(n * m for n, m in numbers) <= _MOST_TABLES:
        smallest = [float(boschloo(n, m).min()) for n, m in numbers]
        test = "boschloo" if max(smallest) * len(smallest) <= level else "fisher"
    for i, ((n, m), (x, y)) in enumerate(zip(numbers, right.T.tolist(), strict=True)):
        if test == "boschloo":
            table = boschloo(n, m)
            pvalues[i], least[i] = table[x, y], table.min()
        else:
            of_total = fisher(n, m, x + y)
            pvalues[i], least[i] = of_total[x - max(0, x + y - m)], of_total.min()
    return test, pvalues, least


@lru_cache(maxsize=4096)
def fisher(n: int, m: int, total: int) -> Floats:
    """Return Fisher's two-sided p-values (1935) of x of n against total - x of m, for each x.

    x goes from max(0, total - m) to min(n, total). The p-value is the probability, given the total,
    of all outcomes that are at most as probable.

    >>> fisher(5, 5, 5).round(4).tolist()
    [0.0079, 0.2063, 1.0, 1.0, 0.2063, 0.0079]
    """
    from scipy.stats import hypergeom

    x = np.arange(max(0, total - m), min(n, total) + 1)
    chances: Floats = np.asarray(hypergeom.pmf(x, n + m, total, n))
    order = np.sort(chances)
    last = np.searchsorted(order, chances * _SAME, side="right") - 1
    return np.minimum(np.cumsum(order)[last], 1.0)


@lru_cache(maxsize=256)
def boschloo(n: int, m: int) -> Floats:
    """Return the two-sided p-value of Boschloo's test (1970), `(n + 1, m + 1)`.

    Twice the smaller one-sided p-value, at most 1: the largest probability, over common shares π,
    of tables whose one-sided p-value by Fisher is at most as small. The shares are sin²θ for 1,001
    values of θ, a scale on which the variance of a share is constant.

    >>> print(boschloo(5, 5)[5, 0].round(5))
    0.00195
    """
    from scipy.stats import binom, hypergeom

    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
    less: Floats = np.asarray(hypergeom.cdf(x, n + m, x + y, n))
    greater: Floats = np.asarray(hypergeom.sf(x - 1, n + m, x + y, n))
    shares = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2
    pvalues = np.ones(less.size)
    for one_sided in (less.ravel(), greater.ravel()):
        order = np.argsort(one_sided, kind="stable")
        # p-values that are not clearly larger count as equal.
        last = np.searchsorted(one_sided[order], one_sided * _SAME, side="right") - 1
        largest = np.zeros(less.size)
        for block in np.array_split(shares, -(-_GRID // _AT_ONCE)):
            first: Floats = np.asarray(binom.pmf(x.T, n, block[:, None]))
            second: Floats = np.asarray(binom.pmf(y, m, block[:, None]))
            chances = (first[:, :, None] * second[:, None, :]).reshape(len(block), -1)
            sums = np.cumsum(chances[:, order], axis=1)
            np.maximum(largest, sums.max(axis=0), out=largest)
        pvalues = np.minimum(pvalues, 2 * largest[last])
    return np.asarray(pvalues.reshape(less.shape))


def tarone_holm(pvalues: ArrayLike, least: ArrayLike) -> Floats:
    """Adjust p-values of discrete tests, only for tests that could be as small (Tarone, 1990).

    The smallest p-value is multiplied by the number of tests that can reach it, with `least` the
    smallest possible p-value of each, which must not depend on the outcome; then the next, by the
    number of those that are left, and so on as in Holm's method (1979). It uses p-values instead of
    a level (Hommel and Krummenauer, 1998), so that a test rejected at one level is also rejected at
    all larger ones: P(any p_j <= p) is at most p times the number of tests with least_j <= p.

    >>> tarone_holm([0.01, 0.04, 0.5], [0.001, 0.03, 0.5]).round(2).tolist()
    [0.01, 0.04, 0.5]
    >>> tarone_holm([0.01, 0.04, 0.5], [0.001, 0.001, 0.001]).round(2).tolist()
    [0.03, 0.08, 0.5]
    """
    p, smallest = np.asarray(pvalues, np.float64), np.asarray(least, np.float64)
    order = np.argsort(p, kind="stable")
    able = smallest[order][None, :] <= p[order][:, None] * (1 + TIE)
    # For each test, the ones that are left: itself, and all after it.
    factors = np.sum(np.triu(able), axis=1)
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted
