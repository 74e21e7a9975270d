"""Differences over domains, test sets or tasks that are a sample of others: `OverStrata`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalstats.results import tabular
from evalstats.results.convert import FreeText, Share
from evalstats.results.forms import Finding, Several
from evalstats.results.records import Record, by_metric, counted, distinct, plural
from evalstats.results.tabular import Column, Table, table_of

#: Below so many strata t has so few degrees of freedom that intervals are very wide.
_FEW = 5


@dataclass(frozen=True)
class MeanDifference(Record):
    """A pair's differences under one metric in k strata, and their mean.

    Attributes
    ----------
    metric, system, baseline : str
        Whose differences they are, system minus baseline.
    strata, differences : tuple of str, tuple of float
        Name of each stratum, and the difference of the corpus scores of its segments.
    difference, standard_error : float
        The mean of the differences, m, and s/√k with their standard deviation s.
    low, high : float
        Interval of the mean over all such strata, m ± t·s/√k, with k - 1 degrees of freedom.
    predicted_low, predicted_high : float
        Where the difference in one more stratum lies, m ± t·s·√(1 + 1/k).
    higher_is_better : bool
        Direction of the metric.
    """

    metric: str
    system: str
    baseline: str
    strata: tuple[FreeText, ...]
    differences: tuple[float, ...]
    difference: float
    standard_error: float
    low: float
    high: float
    predicted_low: float
    predicted_high: float
    higher_is_better: bool

    derived = ("n_strata", "n_same_sign")

    @property
    def n_strata(self) -> int:
        """k, how many strata there are."""
        return len(self.differences)

    @property
    def n_same_sign(self) -> int:
        """In how many of them the difference has the sign of the mean."""
        return sum(d * self.difference > 0 for d in self.differences)

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}, over {self.n_strata} strata"


@dataclass(frozen=True, repr=False)
class OverStrata(Several[MeanDifference]):
    """Differences with strata as the units; iterating gives `MeanDifference`.

    Attributes
    ----------
    by : str
        What the strata are: the name of a label, "task", or "stratum".
    means : tuple of MeanDifference
        Of each pair under each metric, in the order of the comparison.
    confidence_level : float
        Of both intervals.
    signatures, notes : tuple of str
        As of the comparison.
    """

    by: str
    means: tuple[MeanDifference, ...]
    confidence_level: Share
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def _rows(self) -> Sequence[MeanDifference]:
        return self.means

    def _finding(self, row: MeanDifference) -> Finding:
        """Say whether the mean difference is shown, and what another stratum would have."""
        places, level = tabular.decimals([row.standard_error]), tabular.level(self.confidence_level)
        value, *ends = (
            tabular.number(x, places, True)
            for x in (row.difference, row.low, row.high, row.predicted_low, row.predicted_high)
        )
        of = f"{row.metric} over {counted(row.n_strata, self.by)}"
        kind = "better" if (row.difference > 0) == row.higher_is_better else "worse"
        said = f"{row.system} is {kind} than {row.baseline} by {value.lstrip('+-−')} {of}"
        if row.low <= 0 <= row.high:
            kind = "open"
            said = f"No evidence that {row.system} differs from {row.baseline} in {of}"
        line = (
            f"Mean difference {value}: {level} {ends[0]} to {ends[1]}, and {ends[2]} to {ends[3]} "
            f"in another {self.by}."
        )
        return Finding(said, kind, [line])

    def _records(self) -> list[dict[str, Any]]:
        """Return a row a pair and metric, with a column a stratum."""
        strata = distinct(name for d in self.means for name in d.strata)
        found = []
        for d, row in zip(self.means, super()._records(), strict=True):
            own = dict(zip(d.strata, d.differences, strict=True))
            found.append(row | {f"{self.by}: {name}": own.get(name) for name in strata})
        return found

    def _tables(self, digits: int | None = None) -> list[Table]:
        return [self._table(some, digits) for some in by_metric(self.means).values()]

    def _table(self, some: Sequence[MeanDifference], digits: int | None) -> Table:
        places = tabular.decimals([d.standard_error for d in some], digits)
        level = tabular.level(self.confidence_level)

        def within(low: float, high: float) -> str:
            # Where no stratum tells two systems apart nothing was measured.
            return tabular.interval(low, high, places, sign=True) if low or high else "-"

        columns: list[Column] = [
            ("system", "<", lambda d: d.system),
            ("baseline", "<", lambda d: d.baseline),
            ("mean difference", ">", lambda d: tabular.number(d.difference, places, sign=True)),
            (f"[{level}]", ">", lambda d: within(d.low, d.high)),
            (f"[another {self.by}]", ">", lambda d: within(d.predicted_low, d.predicted_high)),
            ("same sign", ">", lambda d: f"{d.n_same_sign} of {d.n_strata}"),
        ]
        first = some[0]
        title = f"{first.metric} {tabular.which_is_better(first.higher_is_better)}, "
        return table_of(title + f"over {counted(first.n_strata, self.by)}", some, columns)

    def _notes(self) -> list[str]:
        units, few = plural(self.by), min(d.n_strata for d in self.means)
        said = [
            f"The {units} are taken for a sample of {units}: the first interval is of the mean "
            f"over all such {units}, the second holds the difference in one more. Each pair by "
            f"itself."
        ]
        if few < _FEW:
            t = f"t has {few - 1} degree{'s' if few > 2 else ''} of freedom"
            said.append(f"Only {counted(few, self.by)}: {t}, and intervals are wide; use more.")
        return [*said, *self.notes]
