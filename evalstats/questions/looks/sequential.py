"""A test that is looked at again and again: whether enough items are in to decide.

Whoever looks at the results while items come in, and stops when a p-value is small, is wrong far
more often than its level says. `SequentialTest` holds the p-value of each look against a level that
allows for all looks (`evalstats.designs.spending`). It rests on items that come in an order
which has nothing to do with how hard they are, and on known scores that stay (`Arrivals`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregated, Labels, refuse_crossed
from evalstats.analysis.estimate import gap_notes, result_signature
from evalstats.analysis.options import Options, as_limits
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.scores import Scores, refuse_fixed
from evalstats.analysis.settings import N_RESAMPLES, SEED
from evalstats.analysis.summaries import summaries_of
from evalstats.analysis.tasks import Task, as_pairs, as_task, is_statistics
from evalstats.checks import also_called, choice, integer, share
from evalstats.designs import states
from evalstats.designs.judges import by_role, with_pairs
from evalstats.designs.one_sample import (
    PAIR,
    OneSample,
    as_bound,
    missing_cautions,
    refuse_constant,
)
from evalstats.designs.spending import (
    LEAST_LEVEL,
    NormalLooks,
    Spending,
    conditional_power,
    next_look,
    sequence_level,
    sequence_pvalue,
    spent,
)
from evalstats.errors import InputError, InputTypeError
from evalstats.inference import student
from evalstats.metrics import Metric, as_metric
from evalstats.questions.checks import claim_of, evidence_cautions, one_sided, test_name
from evalstats.questions.looks.looks import Look, Looks, rare_notes, verdict_of
from evalstats.resampling.executors import Workers, as_workers
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results.convert import record_of
from evalstats.results.notes import FEW_CARRY
from evalstats.results.records import BARRING, accepting, counted, plural
from evalstats.statistics.interchange import is_same_metric
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_VERSION = 2
#: Units near which a confidence sequence is narrowest, and from which that of no 0/1 scores starts.
_TIGHTEST, _START = 200, 100
_MOST_UNITS, _MOST_LOOKS = 10**9, 10_000
#: Of spending functions that have no name a state keeps the shares at so many fractions.
_TENTHS = [i / 10 for i in range(1, 11)]
#: How small a p-value has to be for a word of warning, and from how many items on one is asked.
_WARNS, _LEAST = 1e-3, 20
#: A label of more values than these is a name of items, or of documents.
_MOST_VALUES = 50


class SequentialTest:
    """Say at each look at a growing evaluation whether it is decided: passed, failed, or go on.

    Parameters
    ----------
    of : int, optional
        How many units are planned at most: items, or groups of them. Without it there is no plan
        and no last look, which costs power.
    looks : int
        How many looks are planned, in equal steps. Looks at other times, or more of them, are fine:
        the level follows from how many units are in.
    metric : str or Metric
        Name or configured object.
    margin, recovery : float, optional
        The loss that is too much, or the share of the baseline's score to be kept, as in `gate`.
        Without either it is asked whether the system is better.
    at_least, at_most : float, optional
        In place of a baseline and a limit: the number that the system's score has to pass, as in
        `gate`. Looks are then at `new` alone.
    significance_level : float
        In (0, 0.5): at most how often *any* look passes what should not, and how often any fails
        what should not.
    spending : {"obrien-fleming", "pocock"} or callable
        How the level is spent (`evalstats.designs.spending.levels`): little early, or
        evenly; a function of the fraction of the units that are in.
    start : int, optional
        Looks before the last at fewer units decide nothing. By default it is 100 without a plan,
        where a confidence sequence of scores that are not 0/1 holds from many units on.
    test : {"bootstrap", "t"}
        Which p-values and intervals, as in `compare`; t takes a fraction of the time.
    n_resamples, rng, executor
        As in `compare`.
    allow_changes : str or sequence of str
        Kinds of cautions that a look may pass with: "missing", "labels", "empty", "unread",
        "unmoved", "floor".

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    Each look has the p-values and intervals of `compare` with all items so far, and its verdict is
    that of `gate` at the look's own level, but that it fails at the last look what is not shown.
    With a plan, levels are those of Lan and DeMets (1983), given the canonical joint distribution
    of the looks (Jennison and Turnbull, 2000); without one they follow from an asymptotic
    confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024). Of scores that are
    not 0/1 no look before the last decides on an effective number of fewer than 30 units,
    (Σu²)²/Σu⁴ of the influence values u of the difference.

    Items must come in an order that has nothing to do with how hard they are: shuffle them before
    they run. Where looks differ in difficulty, or in a label of the items, a note says so.

    Examples
    --------
    >>> import evalstats as es, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> new, base = rng.random((2, 400)) < [[0.75], [0.6]]
    >>> test = SequentialTest(of=400, looks=8, metric=es.Mean("acc"), margin=0.02)
    >>> for n in range(50, 401, 50):
    ...     look = test.look(new[:n], base[:n])
    ...     print(f"{n} {look.pvalue:.4f} {look.level:.4f} {look.verdict}")
    ...     if look.verdict != "go on":
    ...         break
    50 0.2403 0.0000 go on
    100 0.0267 0.0001 go on
    150 0.0041 0.0013 go on
    200 0.0010 0.0051 passed
    """

    @also_called(metrics="metric", seed="rng")
    def __init__(
        self,
        of: int | None = None,
        looks: int = 8,
        metric: str | Metric = "bleu",
        *,
        margin: float | None = None,
        recovery: float | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
        significance_level: float = 0.05,
        spending: Spending = "obrien-fleming",
        start: int | None = None,
        test: str = "bootstrap",
        n_resamples: int = N_RESAMPLES,
        rng: Rng = SEED,
        executor: Workers = None,
        allow_changes: str | Sequence[str] = (),
    ) -> None:
        kinds = [allow_changes] if isinstance(allow_changes, str) else allow_changes
        self.allow_changes = [choice(kind, BARRING, "allow_changes") for kind in kinds]
        self.of = None if of is None else integer(of, "of", 2, _MOST_UNITS)
        self.n_looks = integer(looks, "looks", 1, _MOST_LOOKS)
        self.metric = as_metric(metric)
        self.margin, self.recovery = as_limits(margin, recovery)
        self.bound = as_bound(at_least, at_most)
        if self.bound is not None and (self.margin, self.recovery) != (None, None):
            raise InputError(
                "holds one system against a number, and margin and recovery are about two; leave "
                "them out",
                argument=self.bound.argument,
            )
        self.significance_level = share(significance_level, "significance_level", 0.5)
        self.spending = spending
        spent(NormalLooks(), 1.0, self.significance_level, spending)
        self.start = None if start is None else integer(start, "start", 2, _MOST_UNITS)
        self.test = choice(test, ("bootstrap", "t"), "test")
        self.n_resamples = integer(n_resamples, "n_resamples", 2, 10**7)
        self.seed = as_seed(rng)
        self.executor = as_workers(executor)
        self._arrivals: Arrivals | None = None
        self._so_far = NormalLooks()
        self._looks: tuple[Look, ...] = ()
        self._notes: tuple[str, ...] = ()

    def look(
        self,
        new: Any,
        base: Any = None,
        references: Any = None,
        *,
        groups: Labels = None,
        strata: Labels = None,
        aggregate: Aggregated = "micro",
        human: object = None,
    ) -> Look:
        """Look at all items so far of both systems.

        Parameters
        ----------
        new, base
            N outputs or scores of each, or the `SegmentStatistics` of each; or both systems in
            `new`, as `compare` takes them, and the name of the baseline; `new` alone of a test
            against a number. Those of earlier looks come again, known by their `segment_ids`, or
            by their places.
        references, groups, strata, aggregate
            As in `compare`, of all items so far. Groups are what is counted.
        human : sequence or mapping, optional
            People's labels of part of the items so far, of a test whose metric is `es.Judged` of
            what `compare` takes with `human`: the systems `new` and `base` where these are outputs
            or scores, {"new": [4, None, ...], "base": [...]}. An item has its label when it comes
            in, or never.

        Returns
        -------
        Look
            The same again, if there is no new item, and after the test is decided; then a note says
            how many items came after it.

        Raises
        ------
        InputError
            For bad input, and where an item is missing or has other scores than before; the test
            stays as it was.
        """
        if (base is None) is not (self.bound is not None):
            raise InputError(
                "must be given, the baseline's items so far, but for a test against a number",
                argument="base",
            )
        task, baseline = self._task(new, base, references, human)
        task = replace(task, groups=groups, strata=strata, aggregate=aggregate)
        (table,) = task.tables
        if self.bound is None:
            (pair,) = as_pairs(table.systems, baseline)
            part: Task | OneSample = task
        else:
            pair, part = PAIR, OneSample(task, self.bound)
        ids, values = table.segment_ids, table.values[list(pair)[: len(table.systems)]]
        before = self._arrivals or Arrivals(ids, values[:, :0])
        arrivals, order = before.after(ids, values)
        if self._looks and arrivals.counts[-1] == before.counts[-1]:
            return self._looks[-1]
        if self._looks and self._looks[-1].verdict != "go on":
            last, more = self._looks[-1], arrivals.counts[-1] - before.counts[-1]
            self._notes = (
                f"The test was decided at look {last.number}, on "
                f"{counted(last.n_units, last.unit)}: {last.verdict}. {more:,} more "
                f"came later and are not counted. Another question needs a new test, with a state "
                f"of its own.",
            )
            return last
        units = task.units()
        refuse_crossed(units, "a look")
        self._check_goes_on(units.n, units.unit)
        level, so_far = self._level(units.n, self._so_far)
        asked = Options(
            margin=self.margin,
            recovery=self.recovery,
            method=self.test,
            n_resamples=self.n_resamples,
            rng=self.seed,
            executor=self.executor,
        )
        options = one_sided(asked, level)
        (scores,) = part.drawn(options)
        refuse_fixed(scores, "a look")
        of_pair = PairTest(scores, *pair, options)
        if self.bound is not None:
            refuse_constant(of_pair)
        missing = missing_cautions(task.scores()) if self.bound is not None else ()
        gathered = [
            *missing,
            *evidence_cautions(of_pair, not options.is_limited),
            *gap_notes([scores]),
        ]
        notes = accepting(dict.fromkeys(gathered), self.allow_changes)
        look = self._look_of(of_pair, level, so_far, table.n_segments, notes)
        self._notes = (*notes, *order_notes(table, order, arrivals, scores, pair[0]))
        self._looks, self._arrivals, self._so_far = (*self._looks, look), arrivals, so_far
        return look

    @property
    def looks(self) -> tuple[Look, ...]:
        """All looks, in order."""
        return self._looks

    @property
    def result(self) -> Looks:
        """All looks as a table, a figure, or in any other form; an error before the first."""
        if not self._looks:
            raise InputError("there is nothing to show yet; call look first")
        last, planned = self._looks[-1], None
        if self.of is not None and last.verdict == "go on":
            steps = (-(-self.of * j // self.n_looks) for j in range(1, self.n_looks + 1))
            planned = next(n for n in steps if n > last.n_units)
        notes = (*self._notes, *rare_notes(last))
        bound = None if self.bound is None else self.bound.asked
        return Looks(self._looks, self.margin, self.recovery, planned, notes, bound)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the difference as it grows with its repeated interval, and the limit, dashed."""
        return self.result.plot(ax)

    def __repr__(self) -> str:
        return str(self.result) if self._looks else f"{self.metric.name}: no looks yet."

    def state_dict(self) -> dict[str, Any]:
        """Return all that is needed to go on from here, as plain Python values for JSON.

        The statistics of all items so far, and a record of each look.
        """
        arrivals = self._arrivals
        values = {
            "items": None if arrivals is None or arrivals.ids is None else list(arrivals.ids),
            "values": None if arrivals is None else arrivals.values.tolist(),
            "counts": [] if arrivals is None else list(arrivals.counts),
            "looks": [look.to_dict() for look in self._looks],
        }
        return states.written(_VERSION, self._options(), values)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned, here or in another process.

        Raises
        ------
        InputError
            For a state of another test (another metric, limit, level or plan), or something that is
            no state at all; this test stays as it was. Other scores of items that were seen are
            refused at the next look.
        """
        with states.reading(state, self.state_dict(), "test") as known:
            looks = tuple(
                record_of(Look, record, f"state.looks[{i}]")
                for i, record in enumerate(known["looks"])
            )
            ids, arrivals, so_far = known["items"], None, NormalLooks()
            if looks:
                ids = None if ids is None else tuple(ids)
                arrivals = Arrivals(ids, np.array(known["values"]), tuple(known["counts"]))
            # None of the earlier looks crossed its bound.
            for look in looks:
                _, so_far = self._level(look.n_units, so_far)
        self._looks, self._arrivals, self._so_far = looks, arrivals, so_far

    def _task(self, new: Any, base: Any, references: Any, human: Any) -> tuple[Task, str]:
        """Return both systems as a task, and the name of the baseline; of a number the only one."""
        for summary in (*summaries_of(new), *summaries_of(base)):
            raise InputTypeError(
                f"a look needs the statistics of every segment, not {summary.name}"
            )
        if self.bound is not None:
            is_named = is_statistics(new) or isinstance(new, Mapping)
            both, baseline = new if is_named else {"system": new}, ""
            human = by_role(human, {"new": "system"})
        elif isinstance(base, str) and (is_statistics(new) or isinstance(new, Mapping)):
            both, baseline = new, base
        elif is_statistics(new) and is_statistics(base):
            (first,), (second,) = _tables(base), _tables(new)
            if first.systems == second.systems:
                first = replace(first, systems=(f"{first.systems[0]} (baseline)",))
            both, baseline = [first, second], first.systems[0]
        elif is_statistics(new) or is_statistics(base):
            raise InputTypeError(
                "new and base must both be outputs, or scores, or both SegmentStatistics"
            )
        else:
            both, baseline = {"baseline": base, "system": new}, "baseline"
            human = by_role(human, {"new": "system", "base": "baseline"})
        metric = None if is_statistics(both) else self.metric
        if human is not None and metric is not None:
            both, references = with_pairs(both, references, metric, human)
            human = None
        task = as_task(both, references, metric, human=human, executor=self.executor)
        (table,) = task.tables
        if not is_same_metric(table.metric, self.metric):
            raise InputError(
                f"must be {self.metric.signature}, that of the test, got "
                f"{table.metric.signature}; of several runs give their means",
                argument="metric",
            )
        if len(table.systems) != (2 if self.bound is None else 1):
            what = "compares two systems" if self.bound is None else "holds one against a number"
            raise InputError(f"a look {what}, got {', '.join(table.systems)}")
        return task, baseline

    def _level(self, n: int, so_far: NormalLooks) -> tuple[float, NormalLooks]:
        """Return the level of a look at so many units, and the looks so far with it."""
        if self.of is None:
            level = sequence_level(n, self.significance_level, _TIGHTEST)
            return max(level, LEAST_LEVEL), so_far
        return next_look(so_far, n / self.of, self.significance_level, self.spending)

    def _look_of(
        self,
        pair: PairTest,
        level: float,
        so_far: NormalLooks,
        n_items: int,
        notes: Sequence[str],
    ) -> Look:
        """Return the record of a look with these notes."""
        difference, passed, failed = claim_of(pair)
        units, n = pair.scores.units, pair.scores.units.n
        is_last = self.of is not None and n >= self.of
        # The effective number of units that hold the difference; 0/1 scores are counted.
        carried: float | None = None
        influence, n_differing = pair.difference.influence, pair.n_differing
        if pair.counts is None and influence is not None:
            kurtosis = student.kurtosis(influence[0], n_differing)
            carried = min(float(n_differing), n_differing / (kurtosis or 1.0))
        waits = "" if is_last else self._waits(n, carried, plural(units.unit))
        verdict = verdict_of(passed, failed, level, is_last, waits, notes)
        alpha, anytime, chance = self.significance_level, None, None
        if self.of is None and passed is not None:
            anytime = sequence_pvalue(passed, n, alpha, _TIGHTEST)
        if self.of is not None and passed is not None and verdict == "go on":
            last, _ = next_look(so_far, 1.0, alpha, self.spending)
            chance = conditional_power(passed, n / self.of, last)
        spending = self.spending if isinstance(self.spending, str) else "function"
        limits = {"margin": self.margin, "recovery": self.recovery}
        signature = result_signature(
            pair.scores,
            pair.options,
            difference.method,
            test=test_name(pair),
            **{name: None if x is None else f"{x:.10g}" for name, x in limits.items()},
            alpha=f"{alpha:.10g}",
            looks="sequence" if self.of is None else spending,
            of=None if self.of is None else str(self.of),
        )
        return Look(
            number=len(self._looks) + 1,
            n_items=n_items,
            n_units=n,
            unit=units.unit,
            planned=self.of,
            difference=difference,
            verdict=verdict,
            level=level,
            pvalue=passed,
            pvalue_failed=failed,
            pvalue_anytime=anytime,
            chance=chance,
            significance_level=alpha,
            signature=str(signature),
            carried=carried,
            waits=waits,
        )

    def _waits(self, n: int, carried: float | None, units: str) -> str:
        """Return why a look before the last decides nothing, if it does not.

        At n units, whose effective number of those that hold the difference is `carried`; `None` of
        0/1 scores.
        """
        nothing = "before the last look nothing is decided" if self.of else "nothing is decided"
        start = self.start or (2 if carried is None or self.of else _START)
        if n < start:
            return f"{nothing} on fewer than {start:,} {units}"
        if carried is not None and carried < FEW_CARRY:
            differ = f"{FEW_CARRY} {units} that differ"
            return f"{nothing} on fewer than {differ}, and these count as {carried:.0f}"
        return ""

    def _check_goes_on(self, n: int, unit: str) -> None:
        """Refuse a look that is none."""
        if not self._looks:
            return
        last = self._looks[-1]
        if last.unit != unit:
            raise InputError(
                f"earlier looks counted {plural(last.unit)}, and this one {plural(unit)}"
            )
        if n <= last.n_units:
            raise InputError(
                f"no new {last.unit}: there are {n:,}, and at the last look there were "
                f"{last.n_units:,}"
            )

    def _options(self) -> dict[str, Any]:
        """Return the settings by which a saved test is known, as JSON gives them back."""
        spending: Any = self.spending
        if not isinstance(spending, str):
            spending = [float(f"{float(spending(t)):.6g}") for t in _TENTHS]
        return {
            "of": self.of,
            "metric": states.named(self.metric),
            "margin": self.margin,
            "recovery": self.recovery,
            "bound": None if self.bound is None else self.bound.asked,
            "significance_level": self.significance_level,
            "spending": spending if self.of is not None else None,
            "start": self.start,
            "test": self.test,
            "n_resamples": self.n_resamples,
            "rng": self.seed,
        }


def _tables(statistics: Any) -> list[SegmentStatistics]:
    """Return the only table of statistics that must be of one system, in a list."""
    tables = [statistics] if isinstance(statistics, SegmentStatistics) else list(statistics)
    if len(tables) != 1 or len(tables[0].systems) != 1:
        names = [name for table in tables for name in table.systems]
        raise InputError(
            f"new and base must each be the statistics of one system under one metric, got "
            f"{', '.join(names)}"
        )
    return tables


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The items of all looks so far, first come first."""

    ids: tuple[str, ...] | None  # their names; `None` where places name them
    values: NDArray[Any]  # (2, n, k) of baseline and system, or (1, n, k) of the system alone
    counts: tuple[int, ...] = ()  # how many there were at each look

    def _order_of(self, ids: tuple[str, ...] | None, n: int) -> NDArray[np.intp]:
        """Return the place of each item in the new data, known ones first; all have to be there."""
        known = self.values.shape[1]
        if (ids is None) is not (self.ids is None):
            raise InputError(
                "items must have names at every look, or at none: names say which items are new"
            )
        if ids is None or self.ids is None or ids[:known] == self.ids:
            if n < known:
                raise InputError(
                    f"has {n:,} items, and at the last look there were {known:,}: give all items "
                    f"so far",
                    argument="new",
                )
            return np.arange(n)
        places = {name: i for i, name in enumerate(ids)}
        gone = [name for name in self.ids if name not in places]
        if gone:
            raise InputError(
                f"lacks {len(gone):,} of {known:,} items of the last look, {gone[0]!r} first: give "
                f"all items so far",
                argument="new",
            )
        before = set(self.ids)
        first = [places[name] for name in self.ids]
        return np.array(first + [i for i, name in enumerate(ids) if name not in before])

    def after(
        self, ids: tuple[str, ...] | None, values: NDArray[Any]
    ) -> tuple[Arrivals, NDArray[np.intp]]:
        """Return the items with those of another look, `(S, n, k)`, and the place of each there.

        Known scores stay.
        """
        n = values.shape[1]
        order = self._order_of(ids, n)
        values = values[:, order]
        ids = None if ids is None else tuple(ids[i] for i in order.tolist())
        known = self.values.shape[1]
        if not np.array_equal(values[:, :known], self.values):
            differ = np.any(values[:, :known] != self.values, axis=2)
            i = int(np.argmax(np.any(differ, axis=0)))
            side = "baseline" if len(values) == 2 and differ[0, i] else "system"
            name = repr(ids[i]) if ids else str(i)
            raise InputError(
                f"item {name} had another score, or label, of the {side} at an earlier look: what "
                f"was seen stays; begin with a new SequentialTest, and another state, for others"
            )
        return Arrivals(ids, values, (*self.counts, n)), order


def order_notes(
    table: SegmentStatistics,
    order: NDArray[np.intp],
    arrivals: Arrivals,
    scores: Scores,
    baseline: int,
) -> list[str]:
    """Return what speaks against the order in which the items of a table came.

    `order` has the place of each item in the table, in the order in which they came; `baseline` is
    the place of that system.
    """
    counts, units = arrivals.counts, scores.units
    # At which look each item came, in the order of the table.
    looks = np.repeat(np.arange(len(counts)), np.diff(counts, prepend=0))[np.argsort(order)]
    of_units = looks
    if units.members is not None:
        of_units = np.full(units.n, len(counts), dtype=np.intp)
        np.minimum.at(of_units, units.members, looks)
    notes, segments = [], plural(units.segment)
    if scores.influence is not None and _drift(scores.influence[baseline], of_units) < _WARNS:
        notes.append(
            f"The baseline's scores differ from look to look more than chance explains: "
            f"{plural(units.unit)} must come in an order that has nothing to do with how hard they "
            f"are. Shuffle them."
        )
    if len(counts) < 2 or len(looks) < _LEAST:
        return notes
    for name, values in table.labels.items():
        codes = np.unique(np.array(values), return_inverse=True)[1]
        if np.max(codes) < _MOST_VALUES and _differ(codes, looks) < _WARNS:
            notes.append(
                f"The {segments} of one {name} came earlier than those of another. Shuffle "
                f"{segments} before they run, since a test that stops early sees only the first."
            )
    return notes


def _drift(difficulty: Floats, looks: NDArray[np.intp]) -> float:
    """Return the p-value that units are as hard at all looks, an analysis of variance.

    Of their influence values on the baseline, `(N,)`, and the looks at which they came, `(N,)`.
    """
    from scipy.special import fdtrc

    # Where groups grow, a look may bring no new one.
    n, sizes = len(looks), np.bincount(looks)
    n_looks = int(np.count_nonzero(sizes))
    means = np.bincount(looks, difficulty) / np.maximum(sizes, 1)
    between = float(sizes @ (means - np.mean(difficulty)) ** 2)
    within = float(np.sum((difficulty - means[looks]) ** 2))
    free = n_looks - 1, n - n_looks
    if n < _LEAST or within <= 0 or min(free) < 1:
        return 1.0
    return float(fdtrc(*free, between / free[0] / (within / free[1])))


def _differ(codes: NDArray[np.intp], looks: NDArray[np.intp]) -> float:
    """Return Pearson's p-value that labels are spread over looks by chance."""
    from scipy.special import chdtrc

    shape = int(np.max(codes)) + 1, int(np.max(looks)) + 1
    if min(shape) < 2:
        return 1.0
    table = np.bincount(codes * shape[1] + looks, minlength=shape[0] * shape[1]).reshape(shape)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    # Cells that expect next to nothing make Pearson's statistic too large.
    if np.mean(expected) < 1 or np.any(expected <= 0):
        return 1.0
    statistic = float(np.sum((table - expected) ** 2 / expected))
    return float(chdtrc((shape[0] - 1) * (shape[1] - 1), statistic))
