"""Whether differences hold in other domains: strata as a sample of strata, t over differences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Codes, unit_name
from evalstats.analysis.scores import Segments, is_score_sum, run_by_run
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Spread
from evalstats.metrics import scores_of
from evalstats.questions.domains.heterogeneity import labelled
from evalstats.results import tabular
from evalstats.results.convert import FreeText, Level, check_bounds
from evalstats.results.forms import Finding, Several
from evalstats.results.marks import Forest, Mark
from evalstats.results.notes import WHOLE
from evalstats.results.records import (
    Caution,
    Difference,
    Record,
    by_metric,
    counted,
    distinct,
    plural,
)
from evalstats.results.signatures import part_name
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.values import summed_within

if TYPE_CHECKING:
    from evalstats.pictures.figures import Panels

Floats = NDArray[np.float64]
#: Metric, system and baseline.
Key = tuple[str, str, str]
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
        The mean of the differences, m, and s/√k with their standard deviation s. Of several runs
        of each system s/√k has the part of the runs added, as in `compare`.
    low, high : float
        Interval of the mean over all such strata, m ± t·s/√k, with k - 1 degrees of freedom.
    predicted_low, predicted_high : float
        Where the difference in one more stratum lies, m ± t·s·√(1 + 1/k).
    higher_is_better : bool
        Direction of the metric.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.5, 5, 4.4, 3.2, 5.1]}
    >>> (d,) = es.compare(marks, metrics=es.Mean("marks")).over(["x", "x", "y", "y", "z", "z"])
    >>> [round(x, 2) for x in d.differences], round(d.difference, 2), d.n_same_sign
    ([0.5, 0.2, 0.15], 0.28, 3)
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

    def _check(self) -> None:
        check_bounds(self)
        check_bounds(self, "predicted_low", "predicted_high")
        mean, most = fsum(self.differences) / self.n_strata, max(map(abs, self.differences))
        if len(self.strata) != self.n_strata or abs(mean - self.difference) > 1e-9 * most:
            raise InputError("strata, differences and difference, their mean, do not fit")

    @property
    def kind(self) -> str:
        """What the interval says of the system: "better", "worse" or "open"."""
        if self.low <= 0 <= self.high:
            return "open"
        return "better" if (self.difference > 0) == self.higher_is_better else "worse"

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

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.5, 5, 4.4, 3.2, 5.1]}
    >>> over = es.compare(marks, metrics=es.Mean("marks")).over(["x", "x", "y", "y", "z", "z"])
    >>> over.by, len(over), over.means[0].strata
    ('stratum', 1, ('x', 'y', 'z'))
    """

    by: str
    means: tuple[MeanDifference, ...]
    confidence_level: Level
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def plot(self, ax: Panels | None = None) -> Panels:
        """Draw the tables: mean differences with both intervals."""
        from evalstats.pictures import plots

        return plots.tables(self._tables(), ax)

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
        said = f"{row.system} is {row.kind} than {row.baseline} by {value.lstrip('+-−')} {of}"
        if row.kind == "open":
            said = f"No evidence that {row.system} differs from {row.baseline} in {of}"
        line = (
            f"Mean difference {value}, {level} {ends[0]} to {ends[1]}; in another {self.by} it "
            f"would be {ends[2]} to {ends[3]}."
        )
        return Finding(said, row.kind, [line])

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
        table = table_of(title + f"over {counted(first.n_strata, self.by)}", some, columns)
        marks = [
            (Mark(d.difference, d.low, d.high, d.kind, wider=(d.predicted_low, d.predicted_high)),)
            for d in some
        ]
        sides = ("worse", "better") if first.higher_is_better else ("better", "worse")
        label = f"mean difference, {level}; thin: another {self.by}"
        return replace(table, forest=Forest(tuple(marks), 2, label, null=0.0, sides=sides))

    def _notes(self) -> list[str]:
        units, few = plural(self.by), min(d.n_strata for d in self.means)
        said = [
            f"The {units} are taken for a sample of {units}. The first interval is about the mean "
            f"over all such {units}, the second about one more. Pairs are not adjusted for each "
            f"other."
        ]
        if few < _FEW:
            t = f"t has {few - 1} degree{'s' if few > 2 else ''} of freedom"
            said.append(f"With {counted(few, self.by)} {t}, and intervals are wide. Use more.")
        return [*said, *self.notes]


def over(
    comparison: Comparison, evaluation: Evaluation, by: str | Iterable[Hashable]
) -> OverStrata:
    """Return mean differences over strata: the tasks, or what labels of segments make."""
    own: dict[Key, dict[str, float]] = {}
    by_run: dict[Key, list[Floats]] = {}
    if isinstance(by, str) and by == "task" and len(comparison.tasks) > 1:
        for d in comparison.rows:
            own.setdefault((d.metric, d.system, d.baseline), {})[d.task] = d.difference
            if d.units.n_units is None:
                drawn = evaluation.scores_of(evaluation.part_of(d))[d.metric]
                runs = [drawn.runs[drawn.of.systems.index(s)] for s in (d.baseline, d.system)]
                scores = np.stack([one.scores for (one,) in runs])
                by_run.setdefault((d.metric, d.system, d.baseline), []).append(scores)
        single = distinct(metric for (metric, _, _), of in own.items() if len(of) < 2)
        some = [d for d in comparison.rows if d.metric not in single]
        if not some:
            raise InputError(
                "over('task') needs a metric that at least 2 tasks have; "
                f"{', '.join(single)} has 1 task each"
            )
        part = part_name(comparison.estimates)
        notes = (f"{', '.join(single)}: of one {part}, and left out.",) if single else ()
        if any(d.aggregate == WHOLE for d in comparison.totals):
            notes = (*_shared(part), *notes)
        return _found(comparison, part, some, own, _squares(by_run, evaluation), notes)
    if len(comparison.tasks) > 1:
        raise InputError(
            "takes labels of the segments of one task, and there are "
            f"{len(comparison.tasks)}; give 'task', or compare a task alone",
            argument="over",
        )
    drawn_of, codes, names, _ = labelled(comparison, evaluation, by, "over")
    by = unit_name(by, "stratum")
    by_stratum = {name: _of_strata(one.segments, codes, names) for name, one in drawn_of.items()}
    for d in comparison.differences:
        systems, scores = drawn_of[d.metric].of.systems, by_stratum[d.metric]
        both = scores[[systems.index(name) for name in (d.baseline, d.system)]]
        a, b = np.mean(both, axis=1)
        key = d.metric, d.system, d.baseline
        own[key] = dict(zip(names, (b - a).tolist(), strict=True))
        if both.shape[1] > 1:
            by_run[key] = list(np.moveaxis(both, 2, 0))
    is_split = next(iter(drawn_of.values())).units.are_split(codes)
    said, squares = _shared(by) if is_split else (), _squares(by_run, evaluation)
    return _found(comparison, by, comparison.differences, own, squares, said)


def _squares(
    by_run: Mapping[Key, Sequence[Floats]], evaluation: Evaluation
) -> dict[Key, list[student.Runs]]:
    """Return mean squares of the runs of each pair, with strata in the place of segments.

    `by_run` has the scores of a baseline and a system in each of R runs, `(2, R)`, of each stratum.
    """
    squares = {}
    for key, scores in by_run.items():
        if len({of.shape for of in scores}) > 1:
            raise InputError("tasks have different numbers of runs; compare them apart")
        base, new = np.stack(scores, axis=-1)
        sides = [new - base] if evaluation.options.paired_runs else [base, new]
        means = [np.mean(x, axis=1, keepdims=True) for x in sides]
        squares[key] = [
            (*student.mean_squares(mean[:, 0], (x - mean) / x.shape[1]), len(x))
            for x, mean in zip(sides, means, strict=True)
        ]
    return squares


def _shared(stratum: str) -> tuple[str, ...]:
    """Say what is not known of strata that share groups."""
    said = (
        f"groups lie in several {plural(stratum)}, whose differences share them. The intervals "
        f"are about other {plural(stratum)} of these groups, not about other groups."
    )
    return (Caution(said, "groups"),)


def _of_strata(of: Segments, codes: Codes, names: Sequence[str]) -> Floats:
    """Return the corpus score of each system in each run and stratum, `(S, R, k)`."""
    first = of.blocks[0]
    if any(is_score_sum(block.metric) for block in of.blocks):
        raise InputError(
            "needs the statistics of every segment, and strata of one unit were drawn "
            "together as one score; compare without strata",
            argument="over",
        )
    # The blocks of an average over strata, one after the other, in the order of the segments.
    places = [np.arange(len(codes))[block.segment_places] for block in of.blocks]
    order = np.argsort(np.concatenate(places), kind="stable")
    segments = np.concatenate([block.segments for block in of.blocks], axis=1)[:, order]
    metric, totals = run_by_run(first.metric, summed_within(segments, codes))
    scores = scores_of(metric, totals.astype(np.float64))
    if not np.all(np.isfinite(scores)):
        i, _, j = np.argwhere(~np.isfinite(scores))[0]
        raise InputError(
            f"{of.metric_name} of system {of.systems[i]!r} in {names[j]!r} is not finite; join "
            f"that stratum with another"
        )
    return scores


def _found(
    comparison: Comparison,
    by: str,
    some: Sequence[Difference],
    own: Mapping[Key, Mapping[str, float]],
    squares: Mapping[Key, Sequence[student.Runs]],
    notes: tuple[str, ...] = (),
) -> OverStrata:
    """Return the means of `own`: of a pair under a metric, the difference in each stratum.

    `squares` are those of its runs, where there are several.
    """
    level, means = comparison.confidence_level, []
    alpha = float(f"{1 - level:.12g}")
    # Of several tasks each pair has one row here.
    firsts = {(d.metric, d.system, d.baseline): d for d in reversed(some)}
    for d in some:
        key = d.metric, d.system, d.baseline
        if firsts[key] is not d:
            continue
        values, k = np.array(list(own[key].values())), len(own[key])
        # Squares of large or small scores are no numbers.
        unit = float(student.unit_of(values))
        shares = values / unit
        mean, spread = float(np.mean(shares)) * unit, float(np.std(shares, ddof=1)) * unit
        errors = spread / k**0.5, spread * (1 + 1 / k) ** 0.5
        of_mean, of_another = (
            student.with_runs(Spread(error, 1.0, k - 1), squares.get(key, ())) for error in errors
        )
        low, high = student.interval(mean, of_mean.error, of_mean.degrees, alpha)
        # It holds more than the mean, however sure its error is.
        degrees = min(of_mean.degrees, of_another.degrees)
        below, above = student.interval(mean, of_another.error, degrees, alpha)
        means.append(
            MeanDifference(
                metric=d.metric,
                system=d.system,
                baseline=d.baseline,
                strata=tuple(own[key]),
                differences=tuple(values.tolist()),
                difference=mean,
                standard_error=of_mean.error,
                low=low,
                high=high,
                predicted_low=below,
                predicted_high=above,
                higher_is_better=d.higher_is_better,
            )
        )
    signatures = tuple(distinct(comparison.signature_of(d) for d in some))
    return OverStrata(by, tuple(means), level, signatures, notes)
