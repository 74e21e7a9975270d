"""Scores by a judge of all segments, corrected by people's labels of some of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import is_missing, listed, real, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, keep
from evalstats.metrics.identity import MetricSignature


@dataclass(frozen=True)
class Judged(Metric):
    r"""A metric whose labels are a judge's for all segments, and people's for some.

    Prediction-powered inference (Angelopoulos, Duchi and Zrnic, 2023):

    .. math:: m(H) + \lambda \, (m(F) - m(F_H))

    H are the statistics of the segments that people labelled, with people's labels, :math:`F_H`
    those of the same segments with the judge's, and F those of all others with the judge's. Where
    labelled segments are a random sample, the bias of the judge cancels, whatever λ is. The sums of
    each are columns, so that m may be any metric of sums: a mean, accuracy, F1, kappa.

    Parameters
    ----------
    metric : Metric
        The m. If it has references (gold classes), labels are references, and otherwise they are
        the scores themselves.
    weight : float, optional
        λ, from 0 (people alone) to 1. By default that of the smallest standard error, where a score
        is estimated or systems are compared (`evalstats.estimate`); elsewhere 1.

    Raises
    ------
    InputError
        Where no segment is labelled, or all are.

    Examples
    --------
    >>> from evalstats import Mean
    >>> quality = Judged(Mean("quality"), weight=1.0)
    >>> rows = quality.statistics([(4, 3), (5, 5), (3, None), (5, None)])
    >>> float(quality.score(rows.sum(axis=0)))    # 4.0 + 4.0 - 4.5
    3.5
    """

    metric: Metric
    weight: float | None = None
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)
    #: Pairs of labels come as they were given.
    reads_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        inner = self.metric
        if not isinstance(inner, Metric) or isinstance(inner, Judged):
            raise InputTypeError(f"metric must be that of judge and people, got {inner!r}")
        weight = None if self.weight is None else real(self.weight, "weight", 0.0)
        if weight is not None and weight > 1:
            raise InputError(f"must be from 0 to 1, got {weight:g}", argument="weight")
        sources = ("people", "judge, labelled", "judge, others")
        keep(
            self,
            weight=weight,
            name=inner.name,
            higher_is_better=inner.higher_is_better,
            columns=("labelled", *(f"{c} ({s})" for s in sources for c in inner.columns)),
            uses_references=inner.uses_references,
            entry_depth=inner.entry_depth + (not inner.uses_references),
        )

    @property
    def signature(self) -> str:
        """Identity: that of the metric, and how people's labels come in."""
        fixed = "" if self.weight is None else f":{self.weight:.10g}"
        return str(MetricSignature.of(self.metric.signature).tagged(f"judged:ppi{fixed}"))

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return the statistics of people and judge, `(N, 1 + 3k)`.

        Parameters
        ----------
        hypotheses : sequence
            N outputs; of a metric without references N pairs (the judge's score, people's or None).
        references : sequence, optional
            Of a metric with references N pairs (the judge's label, people's or None).
        """
        with_references = self.metric.uses_references
        what = "references" if with_references else "hypotheses"
        pairs = listed(references if with_references else hypotheses, what, "pairs of labels")
        judge, people = _apart(pairs, what)
        places = [i for i, label in enumerate(people) if not is_missing(label)]
        if not 0 < len(places) < len(pairs):
            raise InputError(
                f"people's labels must be those of a part of the segments, got {len(places):,} of "
                f"{len(pairs):,}"
            )
        labels = [people[i] for i in places]
        if with_references:
            if len(hypotheses) != len(pairs):
                raise InputError(
                    f"there are {len(hypotheses):,} outputs and {len(pairs):,} pairs of labels"
                )
            by_judge = self.metric.statistics(hypotheses, judge)
            by_people = self.metric.statistics([hypotheses[i] for i in places], labels)
        else:
            by_judge = self.metric.statistics(judge)
            by_people = self.metric.statistics(labels)
        labelled = np.zeros((len(pairs), 1))
        labelled[places] = 1.0
        people_rows = np.zeros(by_judge.shape)
        people_rows[places] = by_people
        return joined_rows(labelled, people_rows, by_judge)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse what the metric refuses of people's statistics, or of the judge's."""
        self.metric.check_statistics(self.parts(statistics))

    def parts(self, totals: ArrayLike) -> Floats:
        """Return totals of people, of the judge there, and of it elsewhere, `(..., 3, k)`."""
        wide = np.asarray(totals, dtype=np.float64)
        return wide[..., 1:].reshape(*wide.shape[:-1], 3, len(self.metric.columns))

    def score(self, totals: ArrayLike) -> Floats:
        """Return m(H) + λ(m(F) - m(F_H)), `(..., 1 + 3k) -> (...)`.

        It is NaN where nothing is labelled, or all is, as in a stratum, since then there is no H,
        or no F.
        """
        parts = self.parts(totals)
        people, there, elsewhere = np.moveaxis(self.metric.score(parts), -1, 0)
        is_part = np.any(parts != 0, axis=-1)
        is_whole = (np.asarray(totals)[..., 0] > 0) & is_part[..., 2]
        return np.where(is_whole, people + self._weight * (elsewhere - there), np.nan)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, `(..., 1 + 3k) -> (..., 1 + 3k)`."""
        shares = np.array([1.0, -self._weight, self._weight])[:, None]
        slopes = self.metric.gradient(self.parts(totals)) * shares
        flat = slopes.reshape(*slopes.shape[:-2], -1)
        return np.concatenate([np.zeros((*flat.shape[:-1], 1)), flat], axis=-1)

    @property
    def _weight(self) -> float:
        return 1.0 if self.weight is None else self.weight


def joined_rows(labelled: Floats, people: Floats, judge: Floats) -> Floats:
    """Return the rows of `Judged` from those of people, of the judge, and 1 where both are.

    Of `labelled` `(..., N, 1)`, `people` and `judge` `(..., N, k)`.
    """
    there = labelled * judge
    return np.concatenate([labelled, labelled * people, there, judge - there], axis=-1)


def _apart(pairs: list[Any], what: str) -> tuple[list[Any], list[Any]]:
    """Return the judge's labels, and people's."""
    for i, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputTypeError(
                f"{what}[{i}] must be a pair, the judge's label and people's or None, got "
                f"{shown(pair)}"
            )
    return [judge for judge, _ in pairs], [people for _, people in pairs]
