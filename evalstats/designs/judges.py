"""A judge's scores of all segments, corrected with human labels of some of them.

`Judged` is the metric; the weight of the judge's scores is tuned when systems are scored, and
`JudgeAgreement` gives their worth in labels and the judge's agreement with human labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import integer, is_missing, listed, real, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.inference import student
from evalstats.metrics.base import Correction, Floats, LabelledMetric, Metric, MetricSignature, keep
from evalstats.metrics.ratios import Mean
from evalstats.results.notes import FEW, FEW_GROUPS, approximate_below
from evalstats.results.records import Caution, counted, first_few, plural
from evalstats.statistics.extraction import Metrics, as_metrics, as_systems, depth, is_list
from evalstats.text.references import columns_of

if TYPE_CHECKING:
    from evalstats.analysis.design import Units
    from evalstats.analysis.scores import Scores
    from evalstats.statistics.segments import SegmentStatistics

_ALL_LABELLED = (
    "; if people labelled all segments, use their labels as scores and leave the judge out"
)
#: The p-value below which a note warns that a judge scores labelled segments differently.
_UNLIKE = 0.01
#: Scales are different if the largest number is so many times as large.
_LARGER = 1.9
#: A judge and human labels disagree in direction if r·√(n - 1), which is standard normal for r = 0,
#: is below this.
_OPPOSED = -3
#: How many systems the note on agreement with human labels lists.
_TOLD = 3


@dataclass(frozen=True)
class Judged(LabelledMetric):
    r"""A metric with a judge's labels of all segments and human labels of some.

    Prediction-powered inference (Angelopoulos, Duchi and Zrnic, 2023):

    .. math:: m(H) + \lambda \, (m(F) - m(F_H))

    H are the statistics of the labelled segments from human labels, :math:`F_H` the statistics
    of the same segments from the judge's, and F the statistics of all other segments from the
    judge's. If the labelled segments are a random sample, the bias of the judge cancels for every
    λ. The sums of each are columns, so m can be any metric of sums: a mean, accuracy, F1, kappa.
    With several judges, each has its own λ, and their corrections are added.

    Parameters
    ----------
    metric : Metric
        The metric m. If it has references (gold classes), labels are references; otherwise they are
        the scores themselves.
    weight : float or tuple of float, optional
        λ, from 0 (human labels only) to 1, one per judge. By default the λ with the smallest
        standard error, when scores are estimated or systems are compared (`evalstats.estimate`);
        elsewhere 1, or 1/J for each of J judges.
    judges : int
        Number of judges, J: each entry then has the labels of J judges, then the human label.

    Raises
    ------
    InputError
        If no segment is labelled, or all are.

    Examples
    --------
    >>> from evalstats import Mean
    >>> quality = Judged(Mean("quality"), weight=1.0)
    >>> rows = quality.statistics([(4, 3), (5, 5), (3, None), (5, None)])
    >>> float(quality.score(rows.sum(axis=0)))    # 4.0 + 4.0 - 4.5
    3.5
    """

    metric: Metric
    weight: float | tuple[float, ...] | None = None
    judges: int = 1
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)
    #: Pairs of labels are passed as given.
    reads_text: ClassVar[bool] = False
    scores_units: ClassVar[bool] = False
    undefined: ClassVar[str] = (
        "is unknown: all or none of its segments have human labels, because few of {n:,} "
        "{units} have labels; label {more}, or use method='t'"
    )

    def __post_init__(self) -> None:
        inner = self.metric
        if not isinstance(inner, Metric) or isinstance(inner, Judged):
            raise InputTypeError(
                "must be the metric that both the judge and people used (human= turns it into "
                f"Judged), got {'Judged already' if isinstance(inner, Judged) else shown(inner)}",
                argument="metric",
            )
        judges, weight = integer(self.judges, "judges", 1), self.weight
        if weight is not None:
            given = weight if isinstance(weight, (tuple, list)) else (weight,)
            if len(given) != judges:
                raise InputError(
                    f"must contain one weight per judge ({judges:,}), got {len(given):,}",
                    argument="weight",
                )
            weights = tuple(real(one, "weight", 0.0) for one in given)
            if max(weights) > 1:
                raise InputError(f"must be from 0 to 1, got {max(weights):g}", argument="weight")
            weight = weights[0] if judges == 1 else weights
        names = ["judge"] if judges == 1 else [f"judge {j + 1}" for j in range(judges)]
        parts = ("labelled", "others")
        sources = ["people", *(f"{name}, {part}" for name in names for part in parts)]
        keep(
            self,
            weight=weight,
            judges=judges,
            name=inner.name,
            higher_is_better=inner.higher_is_better,
            columns=("labelled", *(f"{c} ({s})" for s in sources for c in inner.columns)),
            uses_references=inner.uses_references,
            entry_depth=inner.entry_depth + (not inner.uses_references),
        )

    @property
    def signature(self) -> str:
        """The signature of the metric, and how human labels are used."""
        fixed = "" if self.weight is None else ":" + "+".join(f"{w:.10g}" for w in self._weights)
        return str(MetricSignature.of(self.metric.signature).tagged(f"judged:ppi{fixed}"))

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return the statistics of people and judges, `(N, 1 + (1 + 2J)k)`.

        Parameters
        ----------
        hypotheses : sequence
            N outputs; for a metric without references N pairs (the judge's score, the human score
            or None), or tuples of J + 1 for J judges.
        references : sequence, optional
            For a metric with references: N pairs (the judge's label, the human label or None).
        """
        with_references = self.metric.uses_references
        what = "references" if with_references else "hypotheses"
        pairs = listed(references if with_references else hypotheses, what, "pairs of labels")
        for i, pair in enumerate(pairs):
            if not isinstance(pair, (tuple, list)) or len(pair) != self.judges + 1:
                several = f"{self.judges} judges' labels"
                content = "a pair of the judge's label" if self.judges == 1 else several
                raise InputTypeError(
                    f"{what}[{i}] must be {content} and the human label (or None), got "
                    f"{shown(pair)}"
                )
        *judges, people = ([pair[j] for pair in pairs] for j in range(self.judges + 1))
        places = [i for i, label in enumerate(people) if not is_missing(label)]
        if not 0 < len(places) < len(pairs):
            raise InputError(
                "human labels must cover some of the segments but not all, got "
                f"{len(places):,} of {len(pairs):,}{_ALL_LABELLED if places else ''}"
            )
        labels = [people[i] for i in places]
        if with_references:
            if len(hypotheses) != len(pairs):
                raise InputError(
                    f"hypotheses has {len(hypotheses):,} outputs, but there are {len(pairs):,} "
                    "pairs of labels"
                )
            by_judges = [self.metric.statistics(hypotheses, labels) for labels in judges]
            by_people = self.metric.statistics([hypotheses[i] for i in places], labels)
        else:
            by_judges = [self.metric.statistics(scores) for scores in judges]
            by_people = self.metric.statistics(labels)
        labelled = np.zeros((len(pairs), 1))
        labelled[places] = 1.0
        people_rows = np.zeros(by_judges[0].shape)
        people_rows[places] = by_people
        return joined_rows(labelled, people_rows, *by_judges)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse human or the judge's statistics if the metric refuses them."""
        self.metric.check_statistics(self.parts(statistics))

    def parts(self, totals: ArrayLike) -> Floats:
        """Return totals of people, of judges there and of judges elsewhere, `(..., 1 + 2J, k)`."""
        wide = np.asarray(totals, dtype=np.float64)
        return wide[..., 1:].reshape(
            *wide.shape[:-1], 1 + 2 * self.judges, len(self.metric.columns)
        )

    def score(self, totals: ArrayLike) -> Floats:
        """Return m(H) + Σλ(m(F) - m(F_H)), `(..., 1 + (1 + 2J)k) -> (...)`.

        NaN if nothing is labelled, or everything, for example in a stratum: then there is no H, or
        no F.
        """
        parts = self.parts(totals)
        score, *by_judges = np.moveaxis(self.metric.score(parts), -1, 0)
        is_whole = (np.asarray(totals)[..., 0] > 0) & np.any(parts[..., 2, :] != 0, axis=-1)
        pairs = zip(self._weights, by_judges[::2], by_judges[1::2], strict=True)
        for weight, there, elsewhere in pairs:
            score = score + weight * (elsewhere - there)
        return np.where(is_whole, score, np.nan)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, of the shape `(..., 1 + (1 + 2J)k)` of ``totals``."""
        shares = np.array([1.0, *(x for w in self._weights for x in (-w, w))])[:, None]
        slopes = self.metric.gradient(self.parts(totals)) * shares
        flat = slopes.reshape(*slopes.shape[:-2], -1)
        return np.concatenate([np.zeros((*flat.shape[:-1], 1)), flat], axis=-1)

    def bounds_of(self, statistics: NDArray[Any]) -> tuple[float, float]:
        """Return the bounds of the scores of people and judges, `(..., 1 + (1 + 2J)k)`."""
        return self.metric.bounds_of(self.parts(statistics))

    @property
    def _weights(self) -> tuple[float, ...]:
        if self.weight is None:
            return (1 / self.judges,) * self.judges
        return self.weight if isinstance(self.weight, tuple) else (self.weight,)

    def labelled(self, statistics: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which segments people labelled, `(..., 1 + (1 + 2J)k) -> (...)`."""
        return np.asarray(statistics[..., 0] > 0)

    def unseen(self, table: SegmentStatistics, units: Units) -> Floats | None:
        """Return the addition to squared influence values of units, `(S, N)`, for 0/1 scores.

        Few labels show few errors of the judge, or none. One more label, on which the judge is
        wrong, adds λ² to Σ(h - λf)² (after Agresti and Min, 2005); with several judges, all are
        wrong and λ is their sum. For groups it is a whole group. If human labels do not vary, λ
        carries no information, and the label adds 1.
        """
        columns = self.metric.outcome_columns()
        if columns is None:
            return None
        succeeded, counted, scale = columns
        outcomes = self.parts(table.values)[..., [succeeded, counted]]
        if not np.all((outcomes == 0) | (outcomes == 1)):
            return None
        labelled = self.labelled(table.values)
        people = outcomes[:, :, 0, 0]
        others = people[:1] if len(people) > 1 else np.mean(people[labelled])
        step = sum(self._weights) if np.any(labelled & (people != others)) else 1.0
        rows = table if units.members is None else table.grouped(units.members)
        marks = self.labelled(rows.values)
        numbers = np.sum(marks, axis=1, keepdims=True)
        return np.asarray(marks * (scale * step) ** 2 / numbers**3)

    def _ranges(self, table: SegmentStatistics) -> tuple[float, ...]:
        """Return the smallest and the largest of people's labels, and of the scores there."""
        if not isinstance(self.metric, Mean):
            return ()
        parts = self.parts(table.values)[self.labelled(table.values)]
        people, scores = parts[:, 0, 0], parts[:, 1::2, 0]
        return tuple(float(f(x)) for x in (people, scores) for f in (np.min, np.max))

    def pooled(self, metrics: Sequence[Metric], sizes: Sequence[int]) -> Judged:
        """Return the metric of all segments together: with the mean of the weights of its parts.

        Every weight of the judge gives an unbiased score.
        """
        weights = [one._weights for one in metrics if isinstance(one, Judged)]
        return replace(self, weight=tuple(np.average(weights, axis=0, weights=sizes).tolist()))

    def tuned(
        self, table: SegmentStatistics, units: Units, by_stratum: bool
    ) -> tuple[SegmentStatistics, JudgeAgreement, Floats | None]:
        """Return statistics under the metric with its weights, and the worth of the judges.

        Weights minimise the variance of the score of a single system, or the summed variances of
        the differences of all pairs. If each stratum has its own score (`by_stratum`), each needs
        labels.
        """
        rows = table if units.members is None else table.grouped(units.members)
        parts = self.parts(rows.values)
        people, *by_judges = (
            student.influence_values(self.metric, parts[:, :, i]) for i in range(parts.shape[2])
        )
        # Products of squares must not overflow.
        if not all(np.all(np.abs(x) < 1e70) for x in (people, *by_judges)):
            raise InputError(
                f"{self.name} of the labelled or unlabelled segments has a gradient that is not "
                "finite or above 1e70; label more segments, or rescale the scores"
            )
        if by_stratum:
            _check_strata(table, units)
        n_units = int(np.min(np.sum(self.labelled(rows.values), axis=1)))
        if n_units < 2:
            raise InputError(
                f"human labels for {self.name} must cover at least 2 {plural(units.unit)} of "
                f"each system, got {n_units}. Label more."
            )
        n_labelled = float(np.mean(np.sum(table.values[:, :, 0], axis=1)))
        weights = self._weights
        if self.weight is None:
            # Least squares of the human values on the judges'. To the judges' covariance there, n/N
            # times their covariance over all units is added for the N others (Angelopoulos, Duchi
            # and Zrnic, 2023). For one judge λ is Cov(h, f)/((1 + n/N)·Var(f)).
            label_share, wholes = (
                n_labelled / table.n_segments,
                [
                    less_mean(
                        student.influence_values(self.metric, parts[:, :, j] + parts[:, :, j + 1])
                    )
                    for j in range(1, parts.shape[2], 2)
                ],
            )
            products = [float(np.sum(less_mean(people) * less_mean(x))) for x in by_judges[::2]]
            both = label_share * (1 - label_share)
            squares = [[float(np.sum(x * y)) / both for y in wholes] for x in wholes]
            weights = bounded_weights(products, squares)
            of_people, *of_judges = np.moveaxis(self.metric.score(self.parts(rows.totals)), -1, 0)
            steps = (
                np.subtract(*pair) for pair in zip(of_judges[1::2], of_judges[::2], strict=True)
            )
            moves = sum(w * step for w, step in zip(weights, steps, strict=True))
            most = _most_of(of_people, moves, self.bounds_of(table.values))
            weights = tuple(most * w for w in weights)
        # From here on the judges are replaced by their weighted mean.
        weight = sum(weights)
        shares = [w / weight if weight > 0 else 1 / self.judges for w in weights]
        there, elsewhere = (np.average(by_judges[i::2], axis=0, weights=shares) for i in range(2))
        alone, corrected = (
            float(np.sum(student.unbiased(less_mean(values), units.sizes, units.codes) ** 2))
            for values in (people, people + weight * (elsewhere - there))
        )
        of_people, *of_judges = np.moveaxis(self.metric.score(self.parts(rows.totals)), -1, 0)
        scores = [np.average(of_judges[i::2], axis=0, weights=shares) for i in range(2)]
        bias = []
        for value, values in zip(scores[0] - of_people, there - people, strict=True):
            error, _, degrees = units.spread(values)
            bias.append((float(value), *student.interval(float(value), error, degrees, 0.05)))
        marks = self.labelled(rows.values)
        agreement = JudgeAgreement(
            metric=self.name,
            n_labelled=round(n_labelled),
            systems=table.systems,
            n_segments=table.n_segments,
            weights=weights,
            n_worth=n_labelled * alone / corrected if corrected > 0 else n_labelled,
            bias=tuple(bias),
            correlation=tuple(map(partial(_correlation, units), people, there, marks)),
            unlike=_unlike(scores[0] - scores[1], there, elsewhere, units, n_labelled),
            n_units=n_units,
            unit=units.unit,
            segment=units.segment,
            independent=_independent(np.stack([people - x for x in by_judges[::2]]), units),
            higher_is_better=self.higher_is_better,
            ranges=self._ranges(table),
        )
        metric = replace(self, weight=weights)
        table = replace(table, metric=metric, metric_signature="")
        return table, agreement, metric.unseen(table, units)


def joined_rows(labelled: Floats, people: Floats, *judges: Floats) -> Floats:
    """Return the rows of `Judged` from flags of labelled segments, and rows of people and judges.

    `labelled` is `(..., N, 1)`; `people` and each of `judges` are `(..., N, k)`.
    """
    rows = [labelled, labelled * people]
    for judge in judges:
        there = labelled * judge
        rows += [there, judge - there]
    return np.concatenate(rows, axis=-1)


class LabelSpread(NamedTuple):
    """Variances per unit of a difference of two systems: of human scores and a judge's.

    With n labels of N units, the variance is (V_h - 2λC + λ²V_f·N/(N - n))/n, with the best λ.
    """

    people: float  # V_h
    judge: float  # V_f
    both: float  # their covariance, C
    labelled: int  # units of the pilot

    def variance(self, n_labelled: int, n_units: int) -> float:
        """Return the variance of the difference with n labels of N units."""
        left = max(1 - n_labelled / n_units, 1e-12)
        weight = min(max(self.both * left / self.judge, 0.0), 1.0) if self.judge > 0 else 0.0
        judged = weight**2 * self.judge / left - 2 * weight * self.both
        return (self.people + judged) / n_labelled


def label_spread(scores: Scores, a: int, b: int) -> LabelSpread | None:
    """Return the variances of the difference of two systems if people correct a judge.

    `None` if they do not, if units are partly labelled, or if the systems have labels of different
    units.
    """
    if not scores.has_segments or len(scores.strata) > 1:
        return None
    (stratum,), units = scores.strata, scores.units
    if not isinstance(metric := stratum.metric, Judged):
        return None
    parts, marks = metric.parts(stratum.plain[[a, b]]), metric.labelled(stratum.plain[[a, b]])
    if np.any(marks[0] != marks[1]) or np.any(marks[..., None] & (parts[:, :, 2] != 0)):
        return None
    people, *judges = (
        np.diff(student.influence_values(metric.metric, parts[:, :, i]), axis=0)[0]
        for i in (0, *range(1, parts.shape[2], 2))
    )
    weights = metric._weights if sum(metric._weights) > 0 else (1.0,) * metric.judges
    judge = np.average(judges, axis=0, weights=weights)
    h, f = student.unbiased(np.stack([people, judge]), units.sizes, units.codes)[:, marks[0]]
    people_squares, judge_squares, products = (float(x @ y) for x, y in ((h, h), (f, f), (h, f)))
    n = len(h)
    return LabelSpread(n * people_squares, n * judge_squares, n * products, n)


@dataclass(frozen=True)
class JudgeAgreement(Correction):
    """The worth of the judge of one metric in labels, and its agreement with human labels.

    Standard errors are in the order of `systems`.
    """

    systems: tuple[str, ...]
    n_segments: int
    weights: tuple[float, ...]
    n_worth: float  # labels without a judge that would say as much
    bias: tuple[tuple[float, float, float], ...]  # of each system, with its 95% interval
    correlation: tuple[tuple[float, float, float], ...]
    unlike: float  # smallest p-value (Bonferroni) for equal scores and differences
    n_units: int  # labelled segments or groups, the fewest of any system
    unit: str
    segment: str
    independent: tuple[float, float, float] | None  # effective number of several judges
    higher_is_better: bool
    ranges: tuple[float, ...]  # smallest and largest label, and score of a judge there, if known

    def notes(self) -> Iterator[str]:
        """Return sentences about the worth of labels, the agreement, and the assumption."""
        what = "the difference" if len(self.systems) == 2 else "differences"
        what = "the score" if len(self.systems) == 1 else what
        many = len(self.weights)
        who, whose, them = "the judge", "the judge's", "the judge"
        if many > 1:
            who, whose, them = f"the weighted mean of {many} judges", f"{many} judges'", "them"
        few, segments = FEW if self.unit == self.segment else FEW_GROUPS, plural(self.segment)
        are_alike = self.unit != self.segment or self.n_units == self.n_labelled
        mean = "" if are_alike else " (the mean of the systems)"
        if self.n_units < few:
            has = "there are" if are_alike else "one system has"
            yield (
                f"{self.metric}: {has} only {counted(self.n_units, f'labelled {self.unit}')}. "
                f"{approximate_below(few)}. Label more."
            )
        yield (
            f"{self.metric}: human labels for {self.n_labelled:,} of {self.n_segments:,} "
            f"{segments}{mean} correct {whose} scores for all {segments} (prediction-powered, "
            f"λ = {', '.join(f'{w:.2f}' for w in self.weights)}). For {what}, this is as "
            f"precise as {self.n_worth:,.0f} labels without {them}."
        )
        if self.independent is not None:
            n, least, most = self.independent
            yield (
                f"{self.metric}: because their errors are correlated, {many} judges count as "
                f"{n:.1f} [{least:.1f}, {most:.1f}] independent ones (Kish's effective number)."
            )
        told = []
        for name, (r, least, most), (bias, low, high) in zip(
            self.systems[:_TOLD], self.correlation, self.bias, strict=False
        ):
            known = f"correlation {r:.2f} [{least:.2f}, {most:.2f}]"
            if np.isnan(r):
                known = "an unknown correlation (all labels or all scores are the same)"
            told.append(f"{known} and bias {bias:+.2f} [{low:+.2f}, {high:+.2f}] for {name}")
        more = len(self.systems) - _TOLD
        rest = f", and {counted(more, 'more system')}" if more > 0 else ""
        known = ", and ".join(told) + rest
        yield f"{self.metric}: compared with human labels, {who} has {known}."
        signs = zip(self.systems, (r for r, _, _ in self.correlation), strict=True)
        opposed = [
            f"{r:.2f} for {name}" for name, r in signs if r * (self.n_units - 1) ** 0.5 < _OPPOSED
        ]
        if opposed:
            yield Caution(
                f"{self.metric}: {who} and people disagree in direction (correlation "
                f"{first_few(opposed, ', ')}). Is 1 the best label? Then pass 6 - label if labels "
                "are from 1 to 5. Or is 1 the best score of the judge?",
                "labels",
            )
        elif not any(least > 0 for _, least, _ in self.correlation):
            better = "higher" if self.higher_is_better else "lower"
            yield (
                f"{self.metric}: no correlation is clearly positive, so the scores do not show "
                f"whether higher or lower labels are better. evalstats assumes {better}, as for "
                f"{who}; if it is the other way round, reverse the human labels."
            )
        if _are_scales(*self.ranges):
            least, most, low, high = self.ranges
            yield Caution(
                f"{self.metric}: human labels are from {least:g} to {most:g}, but {whose} "
                f"scores of the same {segments} are from {low:g} to {high:g}. If these are two "
                "scales, convert one of them.",
                "scales",
            )
        if self.unlike <= _UNLIKE:
            yield Caution(
                f"{self.metric}: the labelled {segments} do not look like a random sample, which "
                f"the intervals require: {who} scores them differently from the others (p = "
                f"{self.unlike:.2g}, for scores and their differences).",
                "labels",
            )
        else:
            yield (
                f"{self.metric}: labelled {segments} must be a random sample of all {segments}. "
                f"The scores are consistent with this: {who} scores them like the others (p = "
                f"{self.unlike:.2g})."
            )


def _are_scales(*ranges: float) -> bool:
    """Return whether labels and scores look like two scales: 1 to 5 and 1 to 10, or 0 to 4.

    The largest numbers are very different, or one scale begins at 0 and the other at 1.
    """
    if not ranges or min(ranges) < 0:
        return False
    least, most, low, high = ranges
    is_later = abs(least - low) == 1 == abs(most - high) and least - low == most - high
    larger = max(most, high)
    is_larger = larger > 1 and larger >= _LARGER * min(most, high) > 0
    return is_larger or (is_later and min(least, low) == 0)


def _most_of(start: Floats, moves: Any, bounds: tuple[float, float]) -> float:
    """Return the largest share of moves, up to 1, that keeps scores within bounds, `(S,)`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(moves > 0, bounds[1] - start, start - bounds[0]) / np.abs(moves)
    return float(np.clip(np.min(np.where(moves == 0, 1.0, room)), 0.0, 1.0))


def bounded_weights(
    products: Sequence[float], squares: Sequence[Sequence[float]]
) -> tuple[float, ...]:
    """Return the weights from 0 to 1 of J predictors, `(J,)`, with the least squares.

    From their products with the target, `(J,)`, and with one another, `(J, J)`, by coordinate
    descent.
    """
    weights = np.zeros(len(products))
    for _ in range(1000):
        before = weights.copy()
        for j, row in enumerate(squares):
            rest = products[j] - sum(row[i] * weights[i] for i in range(len(row)) if i != j)
            best = rest / row[j] if row[j] > 0 else 0.0
            weights[j] = min(max(0.0, best), 1.0)
        if np.max(np.abs(weights - before)) <= 1e-12:
            break
    return tuple(weights.tolist())


def _independent(errors: Floats, units: Units) -> tuple[float, float, float] | None:
    """Return the effective number of J judges with these errors, `(J, S, N)`.

    J/(1 + (J - 1)ρ), Kish's design effect (1965), with the mean correlation ρ, and an interval of
    its logarithm by the infinitesimal jackknife. `None` for one judge, or if a judge has no errors.
    """
    many, squares = len(errors), np.sum(errors**2, axis=(1, 2))
    if many < 2 or not np.all(squares > 0):
        return None
    pairs = list(combinations(errors / np.sqrt(squares)[:, None, None], 2))
    products = [float(np.sum(a * b)) for a, b in pairs]
    influence = [a * b - r * (a**2 + b**2) / 2 for r, (a, b) in zip(products, pairs, strict=True)]
    effect = 1 + (many - 1) * np.mean(products)
    if not effect > 0:
        return None
    values = np.sum(np.mean(influence, axis=0), axis=0) * (many - 1) / effect
    error, _, degrees = units.spread(values)
    if not error > 0:
        return many / effect, many / effect, many / effect
    low, high = student.interval(np.log(many / effect), error, degrees, 0.05)
    return many / effect, max(1.0, float(np.exp(low))), float(np.exp(high))


def _check_strata(table: SegmentStatistics, units: Units) -> None:
    """Raise if in a stratum a system has no labels, or only labelled segments."""
    for code, label in enumerate(units.labels):
        labelled = table.values[:, units.segment_strata == code, 0] > 0
        for system, n in zip(table.systems, np.sum(labelled, axis=1), strict=True):
            if not 2 <= n < labelled.shape[1]:
                raise InputError(
                    f"human labels for {table.metric.name} must cover at least 2 segments, "
                    f"but not all, of each stratum with a score; in stratum {shown(label)}, they "
                    f"cover {n:,} of {labelled.shape[1]:,} for {system!r}"
                )


def _unlike(
    gaps: Floats, there: Floats, elsewhere: Floats, units: Units, n_labelled: float
) -> float:
    """Return the smallest p-value that the judge scores labelled segments like others.

    Welch's test (1947) with Bonferroni's correction, for each system's score, `(S,)` gaps with
    influence values `(S, N)`, and for the difference of each pair. The variance of labelled units
    is taken as at least that of the others, since few units show few differences.
    """
    contrasts = [*np.eye(len(gaps))]
    contrasts += [b - a for a, b in combinations(contrasts, 2)]
    pvalues = []
    for signs in contrasts:
        error, _, degrees = units.spread(signs @ (there - elsewhere))
        least = units.spread(signs @ elsewhere).error * (units.n_segments / n_labelled) ** 0.5
        pvalues.append(student.pvalue(float(signs @ gaps), max(error, least), degrees))
    return min(1.0, len(pvalues) * min(pvalues))


def less_mean(influence: Floats) -> Floats:
    """Return values minus their mean over systems, `(S, N)`; for one system, the values."""
    return influence if len(influence) == 1 else influence - np.mean(influence, axis=0)


def _correlation(
    units: Units, people: Floats, judge: Floats, both: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return Pearson's correlation of labelled units' influence on both scores, with an interval.

    By Fisher's transformation (1921) and the delta method, for any units.
    """
    if np.count_nonzero(both) < 3:
        return np.nan, -1.0, 1.0
    x, y = people[both] - people[both].mean(), judge[both] - judge[both].mean()
    scale = np.sqrt(np.sum(x**2) * np.sum(y**2))
    if not scale > 0:
        return np.nan, -1.0, 1.0
    r = float(np.clip(np.sum(x * y) / scale, -1, 1))
    influence = np.zeros(len(people))
    influence[both] = x * y / scale - r * (x**2 / np.sum(x**2) + y**2 / np.sum(y**2)) / 2
    error, _, degrees = units.spread(influence)
    if abs(r) == 1 or not error > 0:
        return r, r, r
    low, high = student.interval(np.arctanh(r), error / (1 - r**2), degrees, 0.05)
    return r, float(np.tanh(low)), float(np.tanh(high))


def with_people(
    systems: object, references: object, metrics: Metrics, human: object
) -> tuple[Mapping[str, Any], Any, list[Judged]]:
    """Return outputs, references and metrics with pairs of the judge's and human labels.

    For metrics with references (gold classes) labels are references, one list for all systems.
    Otherwise they are the scores, one list per system: `{"A": [(4, 5), (3, None)]}`. With several
    judges, each segment has a list with the human label last: `{"A": [(4, 3, 5), (3, 2, None)]}`.
    """
    named = as_systems(systems)
    inner = as_metrics(metrics)
    judged = [Judged(metric) for metric in inner]
    kinds = {metric.uses_references for metric in inner}
    if len(kinds) > 1:
        raise InputError(
            "replaces either scores or references, but you passed metrics of both kinds; "
            "compare them in separate calls",
            argument="human",
        )
    if True in kinds:
        if isinstance(human, Mapping):
            raise InputError(
                f"must be one list for all systems, because {inner[0].name} compares outputs "
                "with references; got a mapping",
                argument="human",
            )
        judges = 0 if inner[0].reads_text else _n_judges(references, inner[0])
        paired = _pairs(references, human, "references", judges)
        return named, paired, [replace(one, judges=judges or 1) for one in judged]
    if references is not None:
        raise InputError(
            f"have no effect: {inner[0].name} does not use references; leave them out",
            argument="references",
        )
    frame = columns_of(human)
    labels = dict(frame) if frame is not None else human
    if not isinstance(labels, Mapping):
        if len(named) > 1:
            raise InputError(
                f"must be a mapping from each system ({', '.join(named)}) to human scores, "
                f"got {type(human).__name__}",
                argument="human",
            )
        labels = dict.fromkeys(named, human)
    if set(labels) != set(named):
        odd = sorted(map(str, set(labels) ^ set(named)))[0]
        raise InputError(
            f"must have the systems {', '.join(named)}, got {', '.join(map(str, labels))} "
            f"({odd!r} is only in one of these lists)",
            argument="human",
        )
    judges = _n_judges(next(iter(named.values())), inner[0])
    pairs = {
        name: _pairs(scores, labels[name], f"system {name!r}", judges)
        for name, scores in named.items()
    }
    return pairs, None, [replace(one, judges=judges or 1) for one in judged]


def with_pairs(
    systems: object, references: object, metric: Metric, human: object
) -> tuple[Mapping[str, Any], Any]:
    """Return outputs and references with pairs of labels, for a metric that is already `Judged`."""
    if not isinstance(metric, Judged):
        raise InputError(
            "can only be passed if the metric uses human labels from the first look on; create the "
            "test with "
            f"metric=es.Judged(...) for {metric.name}",
            argument="human",
        )
    named, paired_references, _ = with_people(systems, references, metric.metric, human)
    return named, paired_references


def by_role(human: object, names: Mapping[str, str]) -> object:
    """Return human scores by system name, from scores by role; a list is returned unchanged.

    >>> by_role({"new": [4, None], "base": [3, 5]}, {"new": "system", "base": "baseline"})
    {'system': [4, None], 'baseline': [3, 5]}
    """
    frame = columns_of(human)
    labels = human if frame is None else dict(frame)
    if not isinstance(labels, Mapping):
        return human
    if set(labels) != set(names):
        got = ", ".join(map(str, labels))
        raise InputError(
            f"must contain human scores of {' and '.join(names)}, got {got}", argument="human"
        )
    return {names[role]: scores for role, scores in labels.items()}


def _n_judges(labels: Any, metric: Metric) -> int:
    """Return the number of judges' labels per entry of a list; 0 if entries are single labels."""
    return len(labels[0]) if depth(labels) > metric.entry_depth + 1 else 0


def _pairs(judge: object, people: object, where: str, judges: int) -> list[tuple[Any, ...]]:
    """Return pairs (the judge's label, people's) per segment, or tuples with several judges."""
    first = listed(judge, where, "labels of the judge, one per segment")
    second = listed(people, "human", "human labels, one per segment, None if there is none")
    if len(first) != len(second):
        raise InputError(
            "must have one label per segment (None if a segment has no label), got "
            f"{len(second):,} labels for {len(first):,} segments of {where}",
            argument="human",
        )
    if not judges:
        return list(zip(first, second, strict=True))
    for i, labels in enumerate(first):
        if not is_list(labels) or len(labels) != judges:
            raise InputError(
                f"{where}: entry {i} must have labels from {judges} judges, like the first entry, "
                f"got {shown(labels)}"
            )
    return [(*labels, label) for labels, label in zip(first, second, strict=True)]


def drawn_apart(units: Units, labelled: Sequence[NDArray[np.bool_]]) -> Units:
    """Return units drawn within labelled and other segments, if each unit is one or the other.

    Given the labelled segments `(S, N)` of each metric with labels. If systems have labels of
    different segments, a stratum is a pattern of systems. Groups that mix labelled and other
    segments are drawn unchanged.
    """
    from evalstats.analysis.design import drawn_within

    if len(units.sides) > 1:
        return units
    patterns, strata = np.concatenate(labelled).T, units.segment_strata
    keys = patterns if strata is None else np.column_stack([patterns, strata])
    codes = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    if units.members is not None:
        first = np.unique(units.members, return_index=True)[1]
        if np.any(codes != codes[first][units.members]):
            return units
        codes = codes[first]
    return replace(units, codes=drawn_within(codes))
