"""One system against a fixed number, which is a baseline that does not vary.

The rule needs nothing else: the difference from the number has the score's influence values and
replicates, so that p-values, intervals, looks and plans are those of `compare`. 0/1 scores have the
score test of a share, whose interval is Wilson's (1927).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.drawn import Drawn, from_segments
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.scores import Counts, Resampled, Segments, Share
from evalstats.analysis.tasks import Task, Total
from evalstats.checks import real
from evalstats.errors import Argument, InputError
from evalstats.inference import counts, student
from evalstats.results.records import counted

Floats = NDArray[np.float64]
#: Places of the number, and of the system, among what is compared.
PAIR = (0, 1)


class Bound(NamedTuple):
    """The number that a score has to reach: from above where lower scores are better."""

    number: float
    is_least: bool

    @property
    def argument(self) -> str:
        """The argument that gave it."""
        return "at_least" if self.is_least else "at_most"

    @property
    def asked(self) -> str:
        """What is asked of a score: "at least 0.9"."""
        return f"{'at least' if self.is_least else 'at most'} {self.number:.10g}"

    @property
    def sides(self) -> tuple[str, str]:
        """The alternatives that the score is on the better side, and that it is on the other."""
        return ("greater", "less") if self.is_least else ("less", "greater")


def as_bound(at_least: object, at_most: object) -> Bound | None:
    """Return the number of at most one of two arguments, checked."""
    if at_least is not None and at_most is not None:
        raise InputError(
            "give either ",
            Argument("at_least"),
            " or ",
            Argument("at_most"),
            ", not both: a metric is better when higher, or when lower",
        )
    if at_least is not None:
        return Bound(real(at_least, "at_least", -np.inf), True)
    return None if at_most is None else Bound(real(at_most, "at_most", -np.inf), False)


@dataclass(frozen=True)
class ShareAgainst(Counts):
    """A share of items against a number, both from 0 to 1: the score test, and Wilson (1927)."""

    of: Share
    number: float

    test = "score"
    method = "wilson"

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return Wilson's interval of confidence 1 - α, less the number."""
        quantile = student.quantile(self.degrees, alpha)
        low, high = counts.wilson(self.of.share, self.of.n, quantile)
        return self.scale * (low - self.number), self.scale * (high - self.number)

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of the score test: its error is that of a share of the null value."""
        share = min(max(self.number + null / self.scale, 0.0), 1.0)
        error = float(np.sqrt(share * (1 - share) / self.of.n))
        return student.pvalue(self.of.share - share, error, self.degrees, alternative)


@dataclass(frozen=True, eq=False, kw_only=True)
class Against(Resampled):
    """A number and a system, as two systems of which the first has one score in all resamples."""

    of: Segments
    number: float

    def score(self, totals: Sequence[Floats], where: str) -> Floats:
        """Return the number beside scores of the totals of all blocks, `(..., 2)`."""
        scores = self.of.score(totals, where)
        return np.concatenate([np.full_like(scores, self.number), scores], axis=-1)

    def influence(self) -> Floats:
        """Return influence values of units: none on the number, `(2, N)`."""
        values = self.of.influence()
        return np.concatenate([np.zeros_like(values), values])

    def run_scores(self, i: int) -> tuple[Floats, Floats]:
        """Return the score in each run, and influence values; those of the number do not vary."""
        scores, values = self.of.run_scores(0)
        if i == PAIR[0]:
            return np.full_like(scores, self.number), np.zeros_like(values)
        return scores, values

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return how many units there are, which limit no degrees of freedom."""
        return self.units.n, np.inf

    def least(self, a: int, b: int) -> float:
        """Return 0: no units are swapped with a number."""
        return 0.0

    def counted(self, a: int, b: int, influence: Floats) -> Counts | None:
        """Return what counts a share against the number; nothing where scores are none."""
        outcomes = self.of.outcomes
        if outcomes is None:
            return None
        share = outcomes.share_of(self.of.influence()[0])
        return ShareAgainst(outcomes.scale, share.degrees, share, self.number / outcomes.scale)


def against(of: Segments, bound: Bound) -> Against:
    """Return the only system of these segments beside the number, which its score can miss."""
    if of.higher_is_better is not bound.is_least:
        own, other = ("lower", "at_least") if of.higher_is_better else ("higher", "at_most")
        raise InputError(
            f"is for scores that are better when {own}, and {of.metric_name} is not; give ",
            Argument(other),
            argument=bound.argument,
        )
    low, high = of.bounds
    if of.outcomes is not None:
        low, high = 0.0, of.outcomes.scale
    if not low < bound.number < high:
        raise InputError(
            f"must be above {low:g} and below {high:g}, the bounds of {of.metric_name}; got "
            f"{bound.number:g}",
            argument=bound.argument,
        )
    name = f"{bound.number:.10g}"
    unseen = of.unseen
    return Against(
        name=of.name,
        metric_name=of.metric_name,
        systems=(name if of.systems[0] != name else f"{name} (number)", of.systems[0]),
        higher_is_better=of.higher_is_better,
        signature=of.signature,
        reference_label=of.reference_label,
        units=of.units,
        unseen=None if unseen is None else np.concatenate([np.zeros_like(unseen), unseen]),
        corrections=of.corrections,
        bounds=(low, high),
        undefined=of.undefined,
        cautions=of.cautions,
        blocks=of.blocks,
        of=of,
        number=bound.number,
    )


def refuse_constant(pair: PairTest) -> None:
    """Refuse scores that are the same on every unit, which bound nothing on others."""
    effect = pair.difference
    if pair.counts is None and not effect.spread.error > 1e-12 * abs(effect.value):
        of = pair.drawn.of
        raise InputError(
            f"{of.metric_name} of {of.systems[PAIR[1]]!r} is the same on all "
            f"{counted(of.units.n, of.units.unit)}, which says nothing of others"
        )


@dataclass(frozen=True, eq=False)
class OneSample:
    """A task, or a total, of one system, which is held against a number."""

    part: Task | Total
    bound: Bound

    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    is_paired: ClassVar[bool] = True

    @cached_property
    def segments(self) -> Sequence[Segments]:
        """The segments of the system, one a metric."""
        return [self.part.segments()] if isinstance(self.part, Total) else self.part.segments()

    def drawn(self, options: Options) -> list[Drawn]:
        """Return what is drawn of number and system, one a metric."""
        return from_segments([against(of, self.bound) for of in self.segments], options)
