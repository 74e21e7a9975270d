"""Which items got worse: `Cases`, items with several trials, each tested by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalstats.results import tabular
from evalstats.results.convert import Count, FreeText, Level, Share
from evalstats.results.forms import Finding, Several
from evalstats.results.records import Record, first_few
from evalstats.results.tabular import Column, Table, table_of

#: Items of the table: those that changed, and otherwise the first.
_MOST_CHANGED, _SHOWN = 50, 5
#: Items that the sentence names.
_NAMED = 5
_TESTS = {"boschloo": "Boschloo's exact test", "fisher": "Fisher's exact test"}


@dataclass(frozen=True)
class Case(Record):
    """An item, with the shares of right answers of two systems.

    Attributes
    ----------
    item : str
        Its id, or its place from 0; after the task where there are several.
    baseline, system : float
        Share of trials that are right.
    baseline_trials, system_trials : int
        How many trials there are.
    pvalue, pvalue_adjusted : float
        Of the two-sided test of this item alone, and adjusted over all items.

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
    """Items with several trials of two systems, the smallest p-value first; iterating gives `Case`.

    Attributes
    ----------
    cases : tuple of Case
        One record an item.
    metric, system, baseline : str
        Whose answers they are.
    test : {"boschloo", "fisher"}
        Of each item.
    significance_level : float
        The chance of any false case is at most this, if the trials of an item are independent.
    higher_is_better : bool
        Whether answers that count as 1 are right ones.
    total : str
        The difference of the comparison, in words.
    signatures, notes : tuple of str
        As of a `Comparison`.

    Notes
    -----
    Measured on 20 items of 5 trials, 1,000 data sets each of five distributions of rates: where no
    item changed, one was named in at most .044 of them, and one that went from 5/5 to 0/5 was named
    in all. Fisher's test named it in .67 where all rates were 0.5, the worst case. Of 30 items it
    is Fisher's test that decides: .26 in that case, and .95 to 1 in the others.

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
    test: str
    significance_level: Level
    higher_is_better: bool = True
    total: str = ""
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
        """What was found: "3 of 20 items are worse: refund-7 5/5 → 0/5, ..."."""
        n, parts = len(self.cases), []
        for word, cases in (("worse", self.worse), ("better", self.better)):
            if cases:
                are = "is" if len(cases) == 1 else "are"
                names = first_few(map(str, cases), ", ", _NAMED)
                parts.append(f"{len(cases)} of {n} items {are} {word}: {names}")
        return f"{'; '.join(parts) or f'No item of {n} is shown to be worse or better'}."

    def _rows(self) -> Sequence[Case]:
        return self.cases

    def _findings(self) -> list[Finding]:
        return [Finding(self.sentence, "worse" if self.worse else "open", [self.total])]

    def _tables(self, digits: int | None = None) -> list[Table]:
        changed = [*self.worse, *self.better]
        shown = changed[:_MOST_CHANGED] or self.cases[:_SHOWN]
        columns: list[Column] = [
            ("item", "<", lambda c: c.item),
            (self.baseline, ">", lambda c: _right(c, "baseline")),
            (self.system, ">", lambda c: _right(c, "system")),
            ("p", ">", lambda c: tabular.pvalue(c.pvalue)),
            ("p (adjusted)", ">", lambda c: tabular.pvalue(c.pvalue_adjusted)),
            ("verdict", "<", self.verdict),
        ]
        title = f"{self.metric}, {self.system} - {self.baseline}: {len(self.worse)} worse and "
        title += f"{len(self.better)} better of {len(self.cases)} items"
        more = len(self.cases) - len(shown)
        hints = (f"{more:,} more items: to_csv(), or -o FILE.csv",) if more else ()
        return [table_of(title, shown, columns, hints=hints)]

    def _notes(self) -> list[str]:
        level, n = self.significance_level, len(self.cases)
        total = [f"In total: {self.total}"] if self.total else []
        return [
            self.sentence,
            *total,
            *self.notes,
            f"Each item by itself, two-sided, by {_TESTS[self.test]}; p is adjusted over {n} items "
            f"(Tarone, 1990; Holm, 1979): the chance of any false one is at most {level:g}, if the "
            f"trials of an item do not depend on one another.",
        ]


def _right(case: Case, side: str) -> str:
    """Return ``4/5``: how many trials are right."""
    trials = getattr(case, f"{side}_trials")
    return f"{round(getattr(case, side) * trials)}/{trials}"
