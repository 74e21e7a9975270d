"""An evaluation that grows: `Looks`, with a `Look` for each time that somebody looked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from evalstats.errors import Argument, InputError
from evalstats.questions.checks import (
    JUNIT,
    Evidence,
    decide,
    junit,
    junit_text,
    limit_of,
)
from evalstats.results import tabular
from evalstats.results.convert import Count, Level, Share, Size, one_of
from evalstats.results.forms import Finding, Several
from evalstats.results.marks import Forest, Limit, of_differences
from evalstats.results.notes import carried_notes
from evalstats.results.records import (
    KINDS,
    Difference,
    Record,
    barring,
    counted,
    metric_name,
    plural,
)
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOK_VERDICTS = ("passed", "failed", "go on")
#: What exits with it; 2 is bad input, and 3 an undecided gate.
_CODES = {"passed": 0, "failed": 1, "go on": 4}
#: Less chance to pass than this is none.
_HOPELESS = 0.1
#: Fewer units may well lack what happens on one in a hundred, by the rule of three (3/n).
_SEEN = 300
#: Calibrated: `docs/stopping.md` has the rates.
_RARE = (
    "where a system falls far on 2 % of 200 {} (a loop, a refusal), eight looks passed one in "
    "six that should not pass, and a single test one in nine"
)


@dataclass(frozen=True)
class Look(Record):
    """What all items so far say, at a level that allows for looking again.

    Attributes
    ----------
    number : int
        1 for the first look.
    n_items, n_units, unit, planned : int, int, str, int or None
        Items so far; units (groups, or the same items), and what these are called; how many units
        are planned, `None` without a plan.
    difference : Difference
        System minus baseline. Its interval is a repeated confidence interval (Jennison and
        Turnbull, 1989): with probability 1 - 2·`significance_level` all of a test's hold, whenever
        it stops.
    verdict : {"passed", "failed", "go on"}
        What was asked is shown; or its opposite, or all units are in and it is not; or neither.
    level : float
        How small a one-sided p-value must be to decide now.
    pvalue, pvalue_failed : float or None
        One-sided, that what was asked holds, and that the opposite does: that more is lost than the
        limit or, where it was asked whether it is better, that it is worse. Those of `compare`,
        which know nothing of other looks. `None` where there is no test of the limit.
    pvalue_anytime : float or None
        Without a plan the same for all looks together: the smallest `significance_level` at which
        this look passes.
    chance : float or None
        How likely it passes at the last look, if the effect is as large as it has been so far;
        `None` without a plan, and at the end.
    significance_level, signature : float, str
        Of the test, and of these numbers.
    carried : float or None
        The effective number of units that hold the difference, (Σu²)²/Σu⁴ of influence values u, at
        most those that differ; `None` of 0/1 scores, which are counted.
    waits : str
        Why it decides nothing, whatever its p-values: there are too few units. Empty where it may.

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
        """How many planned units are not in yet."""
        return None if self.planned is None else max(self.planned - self.n_units, 0)

    @property
    def hopeless(self) -> bool:
        """Whether the chance to pass is below 10 %; nobody has to stop."""
        return self.verdict == "go on" and self.chance is not None and self.chance < _HOPELESS

    @property
    def reason(self) -> str:
        """What follows from the verdict, in a sentence."""
        items = counted(self.n_units, self.unit)
        if self.verdict == "passed":
            of = f", of {self.planned:,} planned" if self.planned else ""
            return f"decided on {items}{of}"
        if self.verdict == "failed":
            if self.pvalue_failed is not None and self.pvalue_failed <= self.level:
                return f"the opposite is shown on {items} ({tabular.p_is(self.pvalue_failed)})"
            return f"all {items} are in, and what was asked for is not shown"
        waits = f": {self.waits}" if self.waits else ""
        if self.left is None or self.chance is None:
            return f"not decided on {items}{waits}; there is no last look"
        said = (
            f"nothing is decided yet: {counted(self.left, self.unit)} are to come{waits}. If they "
            f"are like those so far, the last look passes in {min(100 * self.chance, 99):.0f} of "
            f"100 evaluations"
        )
        return f"{said}. There is little hope" if self.hopeless else said

    @property
    def is_early(self) -> bool:
        """Whether more units could come: there is no plan, or not all that it has are in."""
        return self.left != 0

    def _check(self) -> None:
        expected = verdict_of(
            self.pvalue, self.pvalue_failed, self.level, not self.is_early, self.waits
        )
        if self.verdict != expected:
            raise InputError(f"verdict does not fit its p-values and level, which say {expected!r}")

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
    """Return the verdict of a look with these one-sided p-values, where all units are in or not.

    One that `waits`, for the reason that this says, decides nothing. One that would pass with
    notes that bar it is refused.
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
            f"this look would pass, and its numbers may be invalid: {caution.said}; the test "
            f"stays as it was; accept it with ",
            Argument("allow_changes", caution.kind),
        )


def rare_notes(look: Look) -> Iterator[str]:
    """Say of scores that are not 0/1 where few units carry a look, or decide it before the end."""
    if look.carried is None:
        return
    found, rare = [(look.difference.n_differing, look.carried)], _RARE.format(plural(look.unit))
    notes = list(carried_notes(found, look.unit, "", rare[0].upper() + rare[1:]))
    if not notes and look.is_early and look.verdict != "go on" and look.n_units < _SEEN:
        notes.append(
            f"This was decided on {counted(look.n_units, look.unit)}. What happens on one in "
            f"{look.n_units // 3} or fewer may not be among them yet, and {rare} (simulated at "
            f"level 0.05)."
        )
    yield from notes


@dataclass(frozen=True, repr=False)
class Looks(Several[Look]):
    """All looks of a sequential test so far; iterating gives `Look`, the last one last.

    Attributes
    ----------
    looks : tuple of Look
        At least one.
    margin, recovery : float or None
        The limit, as of `Gate`; without either it is asked whether the system is better.
    next_look : int or None
        At how many units the next planned look is; `None` where there is none.
    notes : tuple of str
        What a careful reader should know.
    bound : str or None
        What one system's score is held against, "at least 0.9"; `None` of two systems.

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
        """That of the last look."""
        return self.last.verdict

    @property
    def exit_code(self) -> int:
        """0 for passed, 1 for failed, 4 for go on."""
        return _CODES[self.verdict]

    def plot(self, ax: Axes | None = None) -> Axes:  # type: ignore[override]
        """Draw the difference as it grows with its repeated interval, and the limit, dashed."""
        from evalstats.pictures import plots

        return plots.growth(self, ax)

    def _findings(self) -> list[Finding]:
        """Say what the last look decides, its difference, and what follows."""
        last, d = self.last, self.last.difference
        places = tabular.decimals([abs(last.high - last.low) / 4])
        value, low, high = (
            tabular.number(x, places, True) for x in (d.difference, last.low, last.high)
        )
        said = f"{d.system} against {d.baseline}: {last.verdict}, {last.reason}"
        line = f"{d.metric}: {value}, {self.interval} {low} to {high}."
        return [Finding(said, KINDS.get(last.verdict, "open"), [line])]

    def _headline(self) -> str:
        d = self.last.difference
        return f"{d.system} against {d.baseline}: {self.verdict}"

    def _forest(self) -> Forest:
        rows = [replace(x.difference, low=x.low, high=x.high) for x in self.looks]
        kinds = [KINDS.get(x.verdict, "open") for x in self.looks]
        limit = Limit(self.margin, self.recovery, of_loss=True)
        return of_differences(rows, kinds, 4, self.interval, limit)

    def to_junit(self) -> str:
        """Return JUnit's XML with one test case: "go on" is an error, neither of the others."""
        d, verdict = self.last.difference, self.verdict
        kind, text = JUNIT.get(verdict, "error"), junit_text(d, self._limit())
        return junit([("evalstats", d.metric, verdict, kind, text, self.last.reason)])

    @property
    def interval(self) -> str:
        """What intervals are called; each of their bounds may fail at the test's level."""
        level = tabular.level(1 - 2 * self.last.significance_level)
        return level.replace("interval", "repeated interval")

    def _limit(self) -> str:
        return limit_of(self.margin, self.recovery, self.bound or "a better score")

    def _tables(self, digits: int | None = None) -> list[Table]:
        last = self.last
        places = tabular.decimals([abs(last.high - last.low) / 4], digits)
        base, new = ("base", "new") if self.bound is None else ("number", "score")
        columns: list[Column] = [
            ("look", ">", lambda x: str(x.number)),
            (plural(last.unit), ">", lambda x: f"{x.n_units:,}"),
            (base, ">", lambda x: tabular.number(x.difference.baseline_score, places)),
            (new, ">", lambda x: tabular.number(x.difference.system_score, places)),
            ("difference", ">", lambda x: tabular.number(x.difference.difference, places, True)),
            (self.interval, ">", lambda x: tabular.interval(x.low, x.high, places, True)),
            ("one-sided p", ">", lambda x: "" if x.pvalue is None else tabular.pvalue(x.pvalue)),
            ("level", ">", lambda x: tabular.pvalue(x.level)),
            ("verdict", "<", lambda x: x.verdict),
        ]
        # There may be more than were planned.
        of = f" of {last.planned:,}" if last.planned and last.n_units <= last.planned else ""
        title = (
            f"{self.verdict.upper()}: {last.difference.system} against {last.difference.baseline} "
            f"on {last.n_units:,}{of} {plural(last.unit)} ({metric_name(last.difference)}), asked: "
            f"{self._limit()}, level {last.significance_level:g}"
        )
        return [table_of(title, self.looks, columns, spare=["level"], draw=self._forest)]

    def _below(self, verbose: bool = False) -> tuple[list[str], list[str]]:
        notes, signatures = super()._below(verbose)
        reason = f"{self.last.reason}."
        said = [reason[0].upper() + reason[1:]]
        if self.verdict == "go on" and self.next_look is not None:
            n_units = counted(self.next_look, self.last.unit)
            said.append(f"The next planned look is at {n_units}.")
        return [*said, *notes], signatures

    def _signatures(self) -> Sequence[str]:
        return [self.last.signature]
