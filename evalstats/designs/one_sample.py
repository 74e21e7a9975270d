"""One system against a fixed number, which is a baseline that does not vary.

The rule needs nothing else: the difference from the number has the score's influence values and
replicates, so that p-values, intervals, looks and plans are those of `compare`. 0/1 scores have the
score test of a share, whose interval is Wilson's (1927).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.counts import Counts, Share
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.scores import KnownPairs, Scores, drawn
from evalstats.analysis.tasks import Task, Total
from evalstats.checks import real
from evalstats.errors import Argument, InputError
from evalstats.inference import counts, student
from evalstats.inference.draws import Draws
from evalstats.results.records import Caution, counted

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


def against(scores: Scores, bound: Bound) -> Scores:
    """Return the only system of these scores beside the number, which its score can miss.

    The number stands as a system that has one score in all resamples.
    """
    if scores.higher_is_better is not bound.is_least:
        wanted, other = ("lower", "at_least") if scores.higher_is_better else ("higher", "at_most")
        raise InputError(
            f"is for scores that are better when {wanted}, and {scores.metric_name} is not; give ",
            Argument(other),
            argument=bound.argument,
        )
    low, high = scores.bounds
    if scores.outcomes is not None:
        low, high = 0.0, scores.outcomes.scale
    if not low < bound.number < high:
        raise InputError(
            f"must be above {low:g} and below {high:g}, the bounds of {scores.metric_name}; got "
            f"{bound.number:g}",
            argument=bound.argument,
        )
    name, draws, n = f"{bound.number:.10g}", scores.draws, scores.units.n
    by_run, n_runs = scores.by_run, scores.n_runs
    if by_run is not None:
        by_run = _beside(by_run[0], bound.number), _beside(by_run[1])
    # All units differ from a number, and limit no degrees of freedom; none is swapped with it.
    square = np.ones((2, 2))
    return replace(
        scores,
        systems=(name if scores.systems[0] != name else f"{name} (number)", scores.systems[0]),
        value=_beside(scores.value, bound.number),
        influence=None if scores.influence is None else _beside(scores.influence),
        draws=Draws(draws.n, lambda: _beside(draws.values, bound.number)),
        unseen=None if scores.unseen is None else _beside(scores.unseen),
        # The number does not vary from run to run.
        runs=[] if n_runs is None else [((0.0, 0.0, n_runs),), *scores.runs],
        by_run=by_run,
        strata=(),
        outcomes=None,
        known=KnownPairs(
            (n * square).astype(np.int64),
            np.inf * square,
            0 * square,
            counter=partial(_counted, scores, bound.number),
        ),
        bounds=(low, high),
        missing=None,
    )


def _beside(values: Floats, number: float = 0.0) -> Floats:
    """Return a number, the same in all columns, above values of the system, `(1, ...)`."""
    return np.concatenate([np.full_like(values, number), values])


def _counted(scores: Scores, number: float, a: int, b: int, influence: Floats) -> Counts | None:
    """Return what counts a share against the number; nothing where scores are none."""
    outcomes = scores.outcomes
    if outcomes is None or scores.influence is None:
        return None
    share = outcomes.share_of(scores.influence[0])
    return ShareAgainst(outcomes.scale, share.degrees, share, number / outcomes.scale)


def missing_cautions(several: Sequence[Scores]) -> list[Caution]:
    """Return a caution for each metric under which scores of the only system are missing.

    Beside another system it would be seen whether this is chance; alone it is not.
    """
    cautions = []
    for scores in several:
        n, size = (0, 0) if scores.missing is None else scores.missing[0].tolist()
        if n:
            units = counted(size, scores.units.segment)
            said = (
                f"{n:,} of {units} of {scores.systems[0]} have no {scores.metric_name} score, "
                f"and they may be unlike the others."
            )
            cautions.append(Caution(said, "missing"))
    return cautions


def refuse_constant(pair: PairTest) -> None:
    """Refuse scores that are the same on every unit, which bound nothing on others."""
    scores, difference = pair.scores, pair.difference
    error = difference.spreads[0].error
    if pair.counts is None and not error > 1e-12 * abs(float(difference.value[0])):
        units = counted(scores.units.n, scores.units.unit)
        raise InputError(
            f"{scores.metric_name} of {scores.systems[PAIR[1]]!r} is the same on all {units}, "
            f"which says nothing of others"
        )


@dataclass(frozen=True, eq=False)
class OneSample:
    """A task, or a total, of one system, which is held against a number."""

    part: Task | Total
    bound: Bound

    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    is_paired: ClassVar[bool] = True

    @cached_property
    def scores(self) -> list[Scores]:
        """The scores of the system, one a metric."""
        return self.part.scores()

    def drawn(self, options: Options) -> list[Scores]:
        """Return number and system, one a metric, to be resampled."""
        return [against(scores, self.bound) for scores in drawn(self.scores, options)]
