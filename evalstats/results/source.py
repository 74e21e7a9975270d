"""What a comparison asks of its statistics: `Source`, which the room `analysis` keeps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evalstats.designs.trials.cases import Cases
from evalstats.pictures.report import Beside
from evalstats.questions.domains.across import OverStrata
from evalstats.questions.influence.influence import Influence
from evalstats.questions.power.planned import Power
from evalstats.questions.ranking.rankings import Ranking
from evalstats.results.records import Difference

#: A function of the scores of S systems under M metrics, `(..., S, M) -> (..., S)`.
Composite = Callable[[NDArray[np.float64]], NDArray[np.float64]]
#: What asks: `Comparison`, whose file imports this one.
C = TypeVar("C", contravariant=True)


class Source(Protocol[C]):
    """The statistics of a comparison, which can be asked more than its records say.

    Each question comes with the differences that it is about: those of one task, or of the total.
    """

    def noting(self, *notes: str) -> Source[C]:
        """Return the same with notes before those of its rankings."""

    def power(
        self,
        of: Sequence[Difference],
        difference: float | None,
        n_segments: int | None,
        runs: int | None,
        level: float,
        target: float,
        trials: int | None,
        price: tuple[float, float] | None,
    ) -> Power:
        """Plan as `evalstats.power` does."""

    def ranking(self, comparison: C, of: Sequence[Difference]) -> Ranking:
        """Rank the systems under the metric of the differences."""

    def composite(
        self,
        comparison: C,
        of: Sequence[Difference],
        composite: str | Composite,
        higher_is_better: bool,
    ) -> Ranking:
        """Rank the systems by a composite of the metrics of the differences."""

    def influence(self, comparison: C, difference: Difference) -> Influence:
        """Return the influence of all segments on a difference."""

    def cases(
        self,
        comparison: C,
        metric: str | None,
        system: str | None,
        baseline: str | None,
        task: str | None,
    ) -> Cases:
        """Return the test of each item; names as of `Comparison.difference`."""

    def over(self, comparison: C, by: str | Iterable[Hashable]) -> OverStrata:
        """Return mean differences over strata: the tasks, or what labels of segments make."""

    def by(self, comparison: C, labels: str | Iterable[Hashable]) -> object:
        """Return the comparison with a row for each stratum that the labels make."""

    def beside(self, difference: Difference) -> Beside:
        """Return the texts that were compared, and the scores in each stratum."""
