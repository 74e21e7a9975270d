"""Results: frozen, documented, printable, and equal where their numbers and signatures are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from evalstats.errors import InputError
from evalstats.results import convert, layout, plots, report
from evalstats.results.describe import describe_comparison
from evalstats.results.forms import Result as Result
from evalstats.results.forms import as_digits
from evalstats.results.questions import Questions
from evalstats.results.records import Difference, named
from evalstats.results.report import Table
from evalstats.results.scores import Estimate as Estimate
from evalstats.results.scores import Estimates as Estimates


@dataclass(frozen=True, repr=False)
class Comparison(Questions, Result):
    """Differences between systems, on one task or many; a sequence of `Difference`.

    ``result["BLEU", "B"]`` is the difference of system B under a metric, in any case,
    ``result["BLEU", "B", "A"]`` that from A, and ``result["law", "BLEU", "B", "A"]`` that on a
    task; what there is one of can be left out, and without a task it is the total where there is
    one. ``result[0]`` is the first. Scores are in ``result.estimates``.

    Attributes
    ----------
    estimates : Estimates
        Scores and intervals.
    differences : tuple of Difference
        Task by task, in each metric by metric and pair by pair, and then the totals.
    baseline : str or None
        The system all others are compared with; `None` for all pairs.
    test, method, alternative, adjustment : str
        Significance test, interval method, alternative hypothesis, p-value adjustment.
    confidence_level : float
        Of the intervals.
    n_resamples, seed : int
        What was drawn.
    signatures : tuple of str
        Everything needed to make the numbers again, one for each task and metric that differ in it.
    notes : tuple of str
        What a careful reader should know, the most important first.
    significance_level : float
        Adjusted p-values up to it are significant; 1 - `confidence_level` but for gates.
    margin, recovery : float or None
        What `claim` is about: a difference in points, or a share of the baseline's score.
    contrast : {"difference", "ratio", "log-ratio"}
        What the intervals of pairs are of.
    source : object or None
        What `power`, `ranking` and `influence` ask; it holds the statistics. `None` after
        `from_json`.
    """

    estimates: Estimates
    differences: tuple[Difference, ...]
    baseline: str | None
    test: str
    method: str
    alternative: str
    adjustment: str
    confidence_level: float
    n_resamples: int
    seed: int
    signatures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    significance_level: float = 0.05
    margin: float | None = None
    recovery: float | None = None
    contrast: str = "difference"
    source: Any = field(default=None, compare=False)

    @overload
    def __getitem__(self, index: int | str | tuple[str, ...]) -> Difference: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Difference, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return the difference of names or of a place; for a slice, a tuple."""
        if isinstance(index, (int, slice, np.integer)):
            return self.differences[index]
        some, names = named(self.differences, index)
        return self._only(some, *names)

    def __iter__(self) -> Iterator[Difference]:
        """Iterate over the differences on tasks, and then the totals."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the number of differences, totals among them."""
        return len(self.differences)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks; none where there is one without a name."""
        return self.estimates.tasks

    def noting(self, *notes: str) -> Comparison:
        """Return the comparison with notes before its own, and before those of its rankings."""
        source = self.source and replace(self.source, notes=(*notes, *self.source.notes))
        return replace(super().noting(*notes), source=source)

    # Figures

    def plot(
        self,
        metric: str | None = None,
        ax: Any = None,
        *,
        system: str | None = None,
        baseline: str | None = None,
    ) -> Any:
        """Draw the differences with their intervals, the largest first, or a row a task.

        A filled dot is a significant difference (adjusted p-value), blue where the system is better
        and vermillion where it is worse; an open one is no evidence of any. Of several tasks it is
        a figure of one pair, with the total as a diamond at the bottom.
        """
        return plots.differences(self, metric, ax, system=system, baseline=baseline)

    def plot_scores(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the scores with their intervals."""
        return self.estimates.plot(metric, ax)

    def plot_pvalues(
        self, metric: str | None = None, ax: Any = None, *, task: str | None = None
    ) -> Any:
        """Draw the adjusted p-values of all pairs, on a task or in total, best system first."""
        return plots.pvalues(self, metric, ax, task)

    def plot_replicates(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the distributions of the replicates; without them it is an `InputError`."""
        return self.estimates.plot_replicates(metric, ax)

    # Forms

    def describe(self) -> str:
        """Return the sentences for a paper's section on methods: what was compared, and how.

        Examples
        --------
        >>> import evalstats as es
        >>> result = es.compare({"A": [1, 2, 2], "B": [2, 2, 3]}, metrics=es.Mean("marks"))
        >>> print(result.describe())
        Systems were compared by marks (...) on 3 segments. ...
        """
        return describe_comparison(self)

    def to_text(
        self, *, verbose: bool = False, digits: int | None = None, matrix: bool | None = None
    ) -> str:
        """Return the tables as `print` shows them; see `Estimate.to_text`.

        `matrix` says whether many systems have a matrix of all pairs below their ranks; by default
        up to twelve do.
        """
        tables = layout.comparison_tables(self, as_digits(digits), matrix)
        return report.document_text(tables, *self._below(verbose))

    def _verdict(self, difference: Difference) -> dict[str, Any]:
        return {"significant": self.significant(difference), "claim": self.claim(difference)}

    def _plain(self, found: dict[str, Any]) -> dict[str, Any]:
        for plain, difference in zip(found["differences"], self.differences, strict=True):
            plain |= self._verdict(difference)
        return {**found, "estimates": found["estimates"]["estimates"]}

    def _check(self, where: str) -> None:
        """Refuse differences that fit neither the scores nor what is said of all of them."""
        for name in ("confidence_level", "significance_level"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be between 0 and 1")
        limits = [limit for limit in (self.margin, self.recovery) if limit is not None]
        if len(limits) > 1 or any(not limit > 0 for limit in limits):
            raise InputError("margin or recovery must be above 0, and exclude each other")
        scores = {(e.task, e.aggregate, e.metric, e.system): e.score for e in self.estimates}
        places = list(dict.fromkeys((d.task, d.aggregate, d.metric) for d in self.differences))
        if set(places) != {place[:3] for place in scores}:
            raise InputError("differences must be of every task and metric that has estimates")
        if len(self.signatures) != len(places):
            raise InputError(f"signatures must be {len(places)}, one a task and metric")
        pairs = {(*self._place_of(d), *sorted((d.baseline, d.system))) for d in self.differences}
        if len(pairs) < len(self.differences):
            raise InputError("differences must be of pairs that no other compares")
        for i, d in enumerate(self.differences):
            for name, score in ((d.baseline, d.baseline_score), (d.system, d.system_score)):
                if scores.get((*self._place_of(d), name)) != score:
                    raise InputError(
                        f"differences[{i}] has a score of {name!r} that is in no estimate"
                    )
            if self.baseline not in (None, d.baseline) or d.baseline == d.system:
                raise InputError(f"differences[{i}].baseline must be {self.baseline!r}, not itself")
            if d.contrast != self.contrast:
                raise InputError(f"differences[{i}].contrast must be {self.contrast!r}")

    @staticmethod
    def _place_of(d: Difference) -> tuple[str, str | None, str]:
        return d.task, d.aggregate, d.metric

    def _records(self) -> list[dict[str, Any]]:
        bounds = {(e.task, e.metric, e.system): e for e in self.estimates}
        records = []
        for d in self.differences:
            record = convert.row(d) | self._verdict(d)
            for side in ("baseline", "system"):
                e = bounds[d.task, d.metric, record[side]]
                record |= {f"{side}_low": e.low, f"{side}_high": e.high}
            records.append({**record, "n_segments": e.n_segments, "unit": e.unit})
        return records

    def _tables(self, digits: int | None = None) -> list[Table]:
        return layout.comparison_tables(self, digits)

    def _title(self) -> str:
        return layout.title(self.estimates)
