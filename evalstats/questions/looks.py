"""Sequential tests: whether the items so far are enough for a decision.

If you look at results while items come in, and stop when a p-value is small, you are wrong far more
often than the level. `SequentialTest` compares the p-value of each look with a level that allows
for all looks (`evalstats.designs.spending`). It assumes that the order of the items is unrelated to
their difficulty, and that known scores do not change (`evalstats.designs.arrivals`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from evalstats.analysis.design import Aggregated, Labels, refuse_crossed
from evalstats.analysis.estimate import gap_notes, result_signature
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.scores import refuse_fixed
from evalstats.analysis.settings import N_RESAMPLES, SEED
from evalstats.analysis.tasks import (
    Task,
    as_pairs,
    as_task,
    is_statistics,
    summaries_of,
    tables_of,
)
from evalstats.checks import also_called, choice, integer, share
from evalstats.designs.arrivals import (
    FEW_CARRY,
    Arrivals,
    carried_notes,
    named,
    order_notes,
    reading,
    written,
)
from evalstats.designs.judges import by_role, with_pairs
from evalstats.designs.samples import (
    PAIR,
    Bound,
    OneSample,
    as_bound,
    limit_of,
    missing_cautions,
    refuse_constant,
    required,
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
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.inference import student
from evalstats.metrics import Metric, as_metric
from evalstats.questions.gates import (
    JUNIT,
    Evidence,
    claim_of,
    decide,
    evidence_cautions,
    given_apart,
    junit_text,
    one_sided,
    test_name,
)
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results import files, tabular
from evalstats.results.convert import Count, Level, Share, Size, one_of, record_of
from evalstats.results.forms import Finding, Several
from evalstats.results.records import (
    BARRING,
    KINDS,
    Difference,
    Record,
    accepting,
    barring,
    capital,
    counted,
    metric_name,
    plural,
)
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.interchange import is_same_metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalstats.pictures.marks import Forest

_VERSION = 2
#: Number of units at which a confidence sequence is narrowest, and at which it starts for scores
#: other than 0/1.
_TIGHTEST, _START = 200, 100
_MOST_UNITS, _MOST_LOOKS = 10**9, 10_000
#: A state stores an unnamed spending function as its shares at this many fractions.
_TENTHS = [i / 10 for i in range(1, 11)]
LOOK_VERDICTS = ("passed", "failed", "go on")
#: Exit code for "go on"; 2 is bad input, and 3 an undecided gate.
_CODES = {"passed": 0, "failed": 1, "go on": 4}
#: A chance to pass below this is called little hope.
_HOPELESS = 0.1
#: With fewer units, events on one in a hundred may be missing, by the rule of three (3/n).
_SEEN = 300
#: Calibrated: `docs/stopping.md` has the rates.
_RARE = (
    "when a system failed badly on 2% of 200 {} (a loop, a refusal), eight looks wrongly passed "
    "one system in six, and a single test one in nine"
)


@dataclass(frozen=True)
class Look(Record):
    """The result of all items so far, at a level that allows for further looks.

    Attributes
    ----------
    number : int
        1 for the first look.
    n_items, n_units, unit, planned : int, int, str, int or None
        Number of items so far; of units (groups, or the items themselves), and their name; planned
        number of units, `None` without a plan.
    difference : Difference
        System minus baseline. Its interval is a repeated confidence interval (Jennison and
        Turnbull, 1989): with probability 1 - 2·`significance_level` all intervals of a test are
        correct, whenever it stops.
    verdict : {"passed", "failed", "go on"}
        "passed" if the data show the claim, "failed" if they show its opposite, or if all units are
        in and do not show the claim, and otherwise "go on".
    level : float
        The one-sided p-value needed for a decision now.
    pvalue, pvalue_failed : float or None
        One-sided p-values of the claim and of its opposite: that the loss is larger than the limit
        or, without a limit, that the system is worse. They are computed as in `compare`, and do not
        take other looks into account. `None` if there is no test of the limit.
    pvalue_anytime : float or None
        Without a plan, the p-value for all looks together: the smallest `significance_level` at
        which this look passes.
    chance : float or None
        Probability to pass at the last look, if the effect stays as large as so far; `None` without
        a plan, and at the end.
    significance_level, signature : float, str
        Level of the test, and signature of the numbers.
    carried : float or None
        The effective number of units behind the difference, (Σu²)²/Σu⁴ of influence values u, at
        most the number that differ; `None` for 0/1 scores.
    waits : str
        Why the look cannot decide, whatever its p-values: too few units. Empty if it can.

    Examples
    --------
    >>> import evalstats as es
    >>> test = es.SequentialTest(of=400, metric=es.Mean("acc"))
    >>> look = test.look([1, 0, 1, 1] * 50, [1, 0, 0, 1] * 50)
    >>> look.n_items, look.verdict
    (200, 'passed')
    """

    number: Count
    n_items: Count
    n_units: Count
    unit: str
    planned: Count | None
    difference: Difference
    verdict: Annotated[str, one_of(LOOK_VERDICTS)]
    level: Level
    pvalue: Share | None
    pvalue_failed: Share | None
    pvalue_anytime: Share | None
    chance: Share | None
    significance_level: Level
    signature: str
    carried: Size | None = None
    waits: str = ""

    derived = ("low", "high", "left")

    @property
    def low(self) -> float:
        """Lower bound of the repeated confidence interval of the difference."""
        return self.difference.low

    @property
    def high(self) -> float:
        """Its upper bound."""
        return self.difference.high

    @property
    def left(self) -> int | None:
        """Number of planned units that are still missing."""
        return None if self.planned is None else max(self.planned - self.n_units, 0)

    @property
    def hopeless(self) -> bool:
        """Whether the chance to pass is below 10%; nobody has to stop."""
        return self.verdict == "go on" and self.chance is not None and self.chance < _HOPELESS

    @property
    def reason(self) -> str:
        """The reason of the verdict, in a sentence."""
        items = counted(self.n_units, self.unit)
        if self.verdict == "passed":
            planned = f" ({self.planned:,} were planned)" if self.planned else ""
            return f"decided after {items}{planned}"
        if self.verdict == "failed":
            if self.pvalue_failed is not None and self.pvalue_failed <= self.level:
                return f"{items} show the opposite ({tabular.p_is(self.pvalue_failed)})"
            return f"all {items} are in, and the evidence for the claim is not enough"
        waits = f" ({self.waits})" if self.waits else ""
        if self.left is None or self.chance is None:
            return f"no decision after {items}{waits}. The test has no planned end"
        said = (
            f"no decision yet{waits}. {counted(self.left, self.unit)} are still to come. If they "
            f"are like the ones so far, the last look would pass {min(100 * self.chance, 99):.0f}% "
            "of the time"
        )
        return f"{said}. It will probably not pass" if self.hopeless else said

    @property
    def is_early(self) -> bool:
        """Whether more units could come: there is no plan, or planned units are missing."""
        return self.left != 0

    def _check(self) -> None:
        expected = verdict_of(
            self.pvalue, self.pvalue_failed, self.level, not self.is_early, self.waits
        )
        if self.verdict != expected:
            raise InputError(
                f"verdict contradicts its p-values and level, which result in {expected!r}"
            )

    def _title(self) -> str:
        return f"look {self.number}"


def verdict_of(
    passed: float | None,
    failed: float | None,
    level: float,
    is_last: bool,
    waits: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return the verdict of a look from one-sided p-values, and whether all units are in.

    A look with a reason in `waits` decides nothing. A look that would pass is refused if notes bar
    it.
    """
    verdict, against = decide(Evidence(passed, failed, level, waits=waits, notes=notes))
    if against:
        refuse_barred(notes)
    return verdict if verdict != "undecided" else "failed" if is_last else "go on"


def refuse_barred(notes: Iterable[str]) -> None:
    """Refuse a look that would pass if its numbers may be invalid."""
    caution = barring(notes)
    if caution is not None:
        raise InputError(
            f"this look would pass, but its numbers may be invalid: {caution.said}. The test is "
            "unchanged. To accept this, pass ",
            Argument("allow_changes", caution.kind),
        )


def rare_notes(look: Look) -> Iterator[str]:
    """Yield notes on scores other than 0/1 if few units decide a look, or decide it early."""
    if look.carried is None:
        return
    carried, rare = [(look.difference.n_differing, look.carried)], _RARE.format(plural(look.unit))
    notes = list(carried_notes(carried, look.unit, "", capital(rare)))
    if not notes and look.is_early and look.verdict != "go on" and look.n_units < _SEEN:
        notes.append(
            f"This was decided after only {counted(look.n_units, look.unit)}, so a failure on "
            f"fewer than one in {look.n_units // 3} may not have shown up yet. In simulations at "
            f"level 0.05, {rare}."
        )
    yield from notes


@dataclass(frozen=True, repr=False)
class Looks(Several[Look]):
    """All looks of a sequential test so far; iterating yields `Look`, the last one last.

    Attributes
    ----------
    looks : tuple of Look
        At least one.
    margin, recovery : float or None
        The limit, as in `Gate`; without either, the claim is that the system is better.
    next_look : int or None
        Number of units at the next planned look; `None` if there is none.
    notes : tuple of str
        Notes on the numbers.
    bound : str or None
        The requirement for one system's score, "at least 0.9"; `None` for two systems.

    Examples
    --------
    >>> import evalstats as es
    >>> test = es.SequentialTest(of=400, metric=es.Mean("acc"))
    >>> _ = test.look([1, 0, 1, 1] * 50, [1, 0, 0, 1] * 50)
    >>> [(look.n_items, look.verdict) for look in test.result]
    [(200, 'passed')]
    """

    looks: tuple[Look, ...]
    margin: Size | None
    recovery: Level | None
    next_look: Count | None
    notes: tuple[str, ...] = ()
    bound: str | None = None

    derived = ("verdict",)

    @property
    def last(self) -> Look:
        """The last look."""
        return self.looks[-1]

    @property
    def verdict(self) -> str:
        """The verdict of the last look."""
        return self.last.verdict

    @property
    def exit_code(self) -> int:
        """0 for passed, 1 for failed, 4 for go on."""
        return _CODES[self.verdict]

    def __bool__(self) -> bool:
        """Return whether the test has passed."""
        return self.exit_code == 0

    def plot(self, ax: Axes | None = None) -> Axes:  # type: ignore[override]
        """Draw the difference as it grows with its repeated interval, and the limit, dashed."""
        from evalstats.pictures import plots

        return plots.growth(self, ax)

    def _findings(self) -> list[Finding]:
        """Return the verdict of the last look, its difference, and the reason."""
        last, d = self.last, self.last.difference
        places = tabular.decimals([abs(last.high - last.low) / 4])
        value, low, high = (
            tabular.number(x, places, True) for x in (d.difference, last.low, last.high)
        )
        said = f"{d.system} against {d.baseline}: {last.verdict}. {capital(last.reason)}"
        line = f"{d.metric}: {value}, {self.interval} {low} to {high}."
        return [Finding(said, KINDS.get(last.verdict, "open"), [line])]

    def _headline(self) -> str:
        d = self.last.difference
        return f"{d.system} against {d.baseline}: {self.verdict}"

    def _forest(self) -> Forest:
        from evalstats.pictures.marks import Limit, of_differences

        rows = [replace(x.difference, low=x.low, high=x.high) for x in self.looks]
        kinds = [KINDS.get(x.verdict, "open") for x in self.looks]
        limit = Limit(self.margin, self.recovery, of_loss=True)
        return of_differences(rows, kinds, 4, self.interval, limit)

    def to_junit(self) -> str:
        """Return JUnit's XML with one test case; "go on" is an error."""
        d, verdict = self.last.difference, self.verdict.replace("go on", "undecided")
        kind, text = JUNIT.get(verdict, "error"), junit_text(d, self._limit())
        return files.as_junit([("evalstats", d.metric, verdict, kind, text, self.last.reason)])

    @property
    def interval(self) -> str:
        """The name of intervals; each bound may be wrong at the test's level."""
        level = tabular.level(1 - 2 * self.last.significance_level)
        return level.replace("interval", "repeated interval")

    def _limit(self) -> str:
        asked = limit_of(self.margin, self.recovery, self.bound or "a better score")
        return required(self.margin, asked)

    def _tables(self, digits: int | None = None) -> list[Table]:
        last = self.last
        places = tabular.decimals([abs(last.high - last.low) / 4], digits)
        base, new = ("base", "new") if self.bound is None else ("number", "score")
        p = partial(tabular.pvalue, digits=digits)
        columns: list[Column] = [
            ("look", ">", lambda x: str(x.number)),
            (plural(last.unit), ">", lambda x: f"{x.n_units:,}"),
            (base, ">", lambda x: tabular.number(x.difference.baseline_score, places)),
            (new, ">", lambda x: tabular.number(x.difference.system_score, places)),
            ("difference", ">", lambda x: tabular.number(x.difference.difference, places, True)),
            (self.interval, ">", lambda x: tabular.interval(x.low, x.high, places, True)),
            ("one-sided p", ">", lambda x: "" if x.pvalue is None else p(x.pvalue, x.level)),
            ("level", ">", lambda x: p(x.level, 1.0)),
            ("verdict", "<", lambda x: x.verdict),
        ]
        # There may be more units than planned.
        units = f"{last.n_units:,}"
        if last.planned and last.n_units <= last.planned:
            units += f" of {last.planned:,}"
        title = (
            f"{self.verdict.upper()}: {last.difference.system} against {last.difference.baseline} "
            f"on {units} {plural(last.unit)} ({metric_name(last.difference)}; "
            f"{self._limit()}; level {last.significance_level:g})"
        )
        return [table_of(title, self.looks, columns, spare=["level"], draw=self._forest)]

    def _below(self, verbose: bool = False, findings: bool = False) -> tuple[list[str], list[str]]:
        notes, signatures = super()._below(verbose, findings)
        said = [f"{capital(self.last.reason)}."]
        if self.verdict == "go on" and self.next_look is not None:
            n_units = counted(self.next_look, self.last.unit)
            said.append(f"The next planned look is at {n_units}.")
        return [*said, *notes], signatures

    def _signatures(self) -> Sequence[str]:
        return [self.last.signature]


class SequentialTest:
    """Decide at each look at a growing evaluation: passed, failed, or go on.

    Parameters
    ----------
    of : int, optional
        The largest planned number of units: items, or groups of items. Without it there is no plan
        and no last look, which costs power.
    looks : int
        Number of planned looks, in equal steps. You can look at other times, or more often: the
        level is computed from the number of units so far.
    metric : str or Metric
        Name or configured object.
    margin, recovery : float, optional
        The loss that is too large, or the share of the baseline's score to keep, as in `gate`.
        Without either, the test is whether the system is better.
    at_least, at_most : float, optional
        Instead of a baseline and a limit: the number that the system's score must reach, as in
        `gate`. Then pass only `new` to `look`.
    significance_level : float
        In (0, 0.5): the largest probability that *any* look passes wrongly, and that any fails
        wrongly.
    spending : {"obrien-fleming", "pocock"} or callable
        How the level is spent (`evalstats.designs.spending.levels`): little early, or evenly; or a
        function of the fraction of units so far.
    start : int, optional
        Looks before the last with fewer units decide nothing. Without a plan the default is 100,
        because a confidence sequence for scores other than 0/1 needs many units.
    test : {"bootstrap", "t"}
        The method of p-values and intervals, as in `compare`; t takes a fraction of the time.
    n_resamples, rng, executor
        As in `compare`.
    allow_changes : str or sequence of str
        Kinds of cautions that a look can pass with: "missing", "limited", "labels", "empty",
        "alike", "shifted", "unread", "unmoved", "floor", "scale".

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    Each look has the p-values and intervals of `compare` with all items so far, and the verdict of
    `gate` at the look's own level, except that the last look fails if the claim is not shown. With
    a plan, levels follow Lan and DeMets (1983), given the canonical joint distribution of the looks
    (Jennison and Turnbull, 2000); without one they follow from an asymptotic confidence sequence
    (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024). For scores other than 0/1, looks before
    the last need an effective number of at least 30 units, (Σu²)²/Σu⁴ of the influence values u of
    the difference.

    The order of the items must be unrelated to their difficulty: shuffle them before they run. A
    note says so if looks differ in difficulty, or in a label of the items.

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
        self.allow_changes: list[str] = [choice(kind, BARRING, "allow_changes") for kind in kinds]
        self.of: int | None = None if of is None else integer(of, "of", 2, _MOST_UNITS)
        self.n_looks: int = integer(looks, "looks", 1, _MOST_LOOKS)
        self.metric: Metric = as_metric(metric)
        self.options: Options = Options(
            margin=margin,
            recovery=recovery,
            method=choice(test, ("bootstrap", "t"), "test"),
            n_resamples=n_resamples,
            rng=rng,
            executor=executor,
        )
        self.bound: Bound | None = as_bound(at_least, at_most)
        if self.bound is not None and self.options.is_limited:
            raise InputError(
                "compares a single system with a number, but margin and recovery require two "
                "systems; leave them out",
                argument=self.bound.argument,
            )
        self.significance_level: float = share(significance_level, "significance_level", 0.5)
        self.spending = spending
        spent(NormalLooks(), 1.0, self.significance_level, spending)
        self.start: int | None = None if start is None else integer(start, "start", 2, _MOST_UNITS)
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
            `new`, as in `compare`, and the name of the baseline in `base`. Pass only `new` for a
            test against a number. Items of earlier looks must be included again; they are matched
            by `segment_ids`, or by place.
        references, groups, strata, aggregate
            As in `compare`, for all items so far. Units are groups, if passed.
        human : sequence or mapping, optional
            Human labels of some of the items so far, if the metric is `es.Judged`, in the form
            that `compare` takes; the systems are `new` and `base` if these are outputs or scores:
            {"new": [4, None, ...], "base": [...]}. An item must have its label when it first comes
            in, or never.

        Returns
        -------
        Look
            The previous look if there is no new item, or if the test is already decided; then a
            note gives the number of later items.

        Raises
        ------
        InputError
            For bad input, and if an item is missing or has different scores than before; the test
            stays unchanged.
        """
        if (base is None) is not (self.bound is not None):
            raise InputError(
                "must be the baseline's items so far, unless the test is against a number",
                argument="base",
            )
        task, baseline = self._task(new, base, references, human)
        task = replace(task, groups=groups, strata=strata, aggregate=aggregate)
        (table,) = task.statistics
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
                f"{counted(last.n_units, last.unit)}: {last.verdict}. {more:,} more came later "
                "and are not counted. For another question, begin a new test with its own state.",
            )
            return last
        units = task.units()
        refuse_crossed(units, "a look")
        self._check_goes_on(units.n, units.unit)
        level, so_far = self._level(units.n, self._so_far)
        options = one_sided(self.options, level)
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
        """All looks, as a table, a figure, or in any other form; an error before the first look."""
        if not self._looks:
            raise InputError("there are no results yet; call look first")
        last, planned = self._looks[-1], None
        if self.of is not None and last.verdict == "go on":
            steps = (-(-self.of * j // self.n_looks) for j in range(1, self.n_looks + 1))
            planned = next(n for n in steps if n > last.n_units)
        notes = (*self._notes, *rare_notes(last))
        bound = None if self.bound is None else self.bound.asked
        limits = self.options.margin, self.options.recovery
        return Looks(self._looks, *limits, planned, notes, bound)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the difference as it grows with its repeated interval, and the limit, dashed."""
        return self.result.plot(ax)

    def __repr__(self) -> str:
        return str(self.result) if self._looks else f"{self.metric.name}: no looks yet."

    def state_dict(self) -> dict[str, Any]:
        """Return everything needed to continue, as plain Python values for JSON.

        The statistics of all items so far, and a record of each look.
        """
        arrivals = self._arrivals
        values = {
            "items": None if arrivals is None or arrivals.ids is None else list(arrivals.ids),
            "values": None if arrivals is None else arrivals.values.tolist(),
            "counts": [] if arrivals is None else list(arrivals.counts),
            "looks": [look.to_dict() for look in self._looks],
        }
        return written(_VERSION, self._options(), values)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned, here or in another process.

        Raises
        ------
        InputError
            For a state of a different test (metric, limit, level or plan), or something that is not
            a state; this test stays unchanged. Changed scores of known items are refused at the
            next look.
        """
        with reading(state, self.state_dict(), "test") as known:
            looks = tuple(
                record_of(Look, record, f"state.looks[{i}]")
                for i, record in enumerate(known["looks"])
            )
            ids, arrivals, so_far = known["items"], None, NormalLooks()
            if looks:
                ids = None if ids is None else tuple(ids)
                arrivals = Arrivals(ids, np.array(known["values"]), tuple(known["counts"]))
            # No earlier look crossed its bound.
            for look in looks:
                _, so_far = self._level(look.n_units, so_far)
        self._looks, self._arrivals, self._so_far = looks, arrivals, so_far

    def _task(self, new: Any, base: Any, references: Any, human: Any) -> tuple[Task, str]:
        """Return both systems as a task, and the name of the baseline (or of the only system)."""
        for summary in (*summaries_of(new), *summaries_of(base)):
            raise InputTypeError(
                f"a look requires the statistics of every segment, got {summary.name}"
            )
        if self.bound is not None:
            is_named = is_statistics(new) or isinstance(new, Mapping)
            both, baseline = new if is_named else {"system": new}, ""
            human = by_role(human, {"new": "system"})
        elif isinstance(base, str) and (is_statistics(new) or isinstance(new, Mapping)):
            both, baseline = new, base
        elif is_statistics(new) and is_statistics(base):
            both = given_apart(tables_of(base), tables_of(new))
            baseline = both[0].systems[0]
        elif is_statistics(new) or is_statistics(base):
            raise InputTypeError(
                "new and base must be of the same kind: both outputs or scores, or both "
                "SegmentStatistics"
            )
        else:
            both, baseline = {"baseline": base, "system": new}, "baseline"
            human = by_role(human, {"new": "system", "base": "baseline"})
        metric = None if is_statistics(both) else self.metric
        if human is not None and metric is not None:
            both, references = with_pairs(both, references, metric, human)
            human = None
        task = as_task(both, references, metric, human=human, executor=self.options.executor)
        table, *others = task.statistics
        if others or not is_same_metric(table.metric, self.metric):
            raise InputError(
                f"must be {self.metric.signature}, the metric of the test, got "
                f"{' and '.join(one.metric.signature for one in task.statistics)}; if there are "
                "several runs, pass their means",
                argument="metric",
            )
        if len(table.systems) != (2 if self.bound is None else 1):
            what = (
                "compares two systems"
                if self.bound is None
                else "compares one system with a number"
            )
            raise InputError(f"a look {what}, got {', '.join(table.systems)}")
        return task, baseline

    def _level(self, n: int, so_far: NormalLooks) -> tuple[float, NormalLooks]:
        """Return the level of a look at n units, and the looks including it."""
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
        # The effective number of units behind the difference; not for 0/1 scores.
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
        signature = result_signature(
            pair.scores,
            pair.options,
            difference.method,
            test=test_name(pair),
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
        """Return why a look before the last cannot decide, or "".

        At n units; `carried` is the effective number behind the difference, `None` for 0/1 scores.
        """
        first = "before the last look, a decision" if self.of else "a decision"
        start = self.start or (2 if carried is None or self.of else _START)
        if n < start:
            return f"{first} needs at least {start:,} {units}"
        if carried is not None and carried < FEW_CARRY:
            differ = f"{FEW_CARRY} {units} that differ"
            return f"{first} needs at least {differ}, and there are effectively {carried:.0f}"
        return ""

    def _check_goes_on(self, n: int, unit: str) -> None:
        """Refuse a look without new units, or with other units."""
        if not self._looks:
            return
        last = self._looks[-1]
        if last.unit != unit:
            raise InputError(
                f"earlier looks counted {plural(last.unit)}, but this one counts {plural(unit)}"
            )
        if n <= last.n_units:
            raise InputError(
                f"there is no new {last.unit}: this look has {n:,}, and the last one had "
                f"{last.n_units:,}"
            )

    def _options(self) -> dict[str, Any]:
        """Return the settings that identify a saved test, as they are after JSON."""
        spending: Any = self.spending
        if not isinstance(spending, str):
            spending = [float(f"{float(spending(t)):.6g}") for t in _TENTHS]
        return {
            "of": self.of,
            "metric": named(self.metric),
            "margin": self.options.margin,
            "recovery": self.options.recovery,
            "bound": None if self.bound is None else self.bound.asked,
            "significance_level": self.significance_level,
            "spending": spending if self.of is not None else None,
            "start": self.start,
            "test": self.options.method,
            "n_resamples": self.options.n_resamples,
            "rng": self.options.rng,
        }
