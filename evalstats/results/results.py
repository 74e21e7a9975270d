"""Results: frozen, documented, printable.

`print(result)` gives the table of the README, and so does a notebook; `to_dict`, `to_json`,
`to_markdown`, `to_latex`, `to_html` and `to_dataframe` give the same numbers to programs and
papers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalstats.errors import InputError, MissingExtraError
from evalstats.results import layout, plots, report
from evalstats.results.records import ComparisonRecord, Difference, EstimateRecord, plain_record
from evalstats.results.report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


class Result:
    """The forms in which every result can be written."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: str, int, float, bool, None, lists and dicts."""
        raise NotImplementedError

    def _tables(self) -> list[Table]:
        raise NotImplementedError

    def _footer(self) -> list[str]:
        raise NotImplementedError

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_dataframe(self) -> DataFrame:
        """Return a pandas DataFrame, a row a record; needs ``evalstats-text[pandas]``."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingExtraError(
                "to_dataframe needs pandas, which is not installed: "
                "pip install 'evalstats-text[pandas]'"
            ) from error
        frame: DataFrame = DataFrame.from_records(self._records())
        return frame

    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of `to_dataframe`: numbers and names, one type a column."""
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return Markdown tables."""
        return report.document_markdown(self._tables(), self._footer())

    def to_latex(self) -> str:
        """Return LaTeX tables; they need the package booktabs."""
        return report.document_latex(self._tables(), self._footer())

    def to_html(self) -> str:
        """Return an HTML page of its own, light or dark as the reader's system is."""
        return report.document_html(self._tables(), self._footer())

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: escaped, without scripts, in the notebook's colours."""
        return report.fragment_html(self._tables(), self._footer())

    def __str__(self) -> str:
        return report.document_text(self._tables(), self._footer())


@dataclass(frozen=True, eq=False)
class Estimate(EstimateRecord, Result):
    """A score with its confidence interval.

    Attributes
    ----------
    metric, system : str
        What was scored.
    score : float
        Corpus score on the observed segments.
    low, high : float
        Bounds of the confidence interval.
    standard_error : float
        Standard deviation of the replicates; for the t interval, from the influence values.
    replicates : ndarray, shape (B,)
        Corpus scores of the resamples; empty where nothing was resampled (the t interval).
    confidence_level : float
        Coverage that the interval aims at.
    method : str
        How the interval was made.
    n_segments : int
        Number of segments, or of groups where groups were resampled.
    unit : {"segment", "group"}
        What was resampled.
    higher_is_better : bool
        Direction of the metric.
    signature : str
        Everything needed to make the number again.
    notes : tuple of str
        What a careful reader should know.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return all fields but the replicates as plain Python values."""
        return plain_record(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the replicates, the score and its interval: `evalstats.plots.replicates`."""
        return plots.replicates([self], ax)

    def _records(self) -> list[dict[str, Any]]:
        record = self.to_dict()
        del record["notes"]
        return [record]

    def _tables(self) -> list[Table]:
        return layout.score_tables([self])

    def _footer(self) -> list[str]:
        return [*self.notes, self.signature]


@dataclass(frozen=True, eq=False)
class Estimates(Result, Sequence[Estimate]):
    """Several estimates: systems, metrics, or both. A sequence of `Estimate`.

    Attributes
    ----------
    estimates : tuple of Estimate
        Metric by metric, in each the systems in the order given.
    """

    estimates: tuple[Estimate, ...]

    def __getitem__(self, index: Any) -> Any:
        """Return one estimate."""
        return self.estimates[index]

    def __len__(self) -> int:
        """Return the number of estimates."""
        return len(self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"estimates": [...]}`` as plain Python values."""
        return {"estimates": [estimate.to_dict() for estimate in self.estimates]}

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the scores with their intervals: `evalstats.plots.scores`."""
        return plots.scores(plots.of_metric(self.estimates, metric), ax)

    def plot_replicates(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the distributions of the replicates: `evalstats.plots.replicates`."""
        return plots.replicates(plots.of_metric(self.estimates, metric), ax)

    def _records(self) -> list[dict[str, Any]]:
        return [record for estimate in self.estimates for record in estimate._records()]

    def _tables(self) -> list[Table]:
        return layout.score_tables(self.estimates)

    def _footer(self) -> list[str]:
        notes = [note for estimate in self.estimates for note in estimate.notes]
        return layout.distinct([*notes, *(estimate.signature for estimate in self.estimates)])


@dataclass(frozen=True, eq=False)
class Comparison(ComparisonRecord, Result):
    """Differences between systems with intervals and p-values; iterating gives `Difference`.

    Attributes
    ----------
    estimates : tuple of Estimate
        Score and interval of every system, metric by metric.
    differences : tuple of Difference
        One record per pair and metric.
    baseline : str or None
        The system all others are compared with; `None` for all pairs.
    test, method, alternative, adjustment : str
        Significance test, interval method, alternative hypothesis, p-value adjustment.
    confidence_level : float
        Of the intervals.
    n_resamples, seed : int
        What was drawn.
    signatures : tuple of str
        Everything needed to make the numbers again, one for each metric.
    notes : tuple of str
        What a careful reader should know.
    significance_level : float
        Adjusted p-values up to it are significant.
    planner : callable or None
        What `power` asks; it holds the statistics. `None` where there are none, as of a `Shard`.
    """

    estimates: tuple[Estimate, ...]

    def __iter__(self) -> Iterator[Difference]:
        """Iterate over the differences, metric by metric."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the number of differences."""
        return len(self.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return settings, estimates and differences as plain Python values."""
        settings = ("baseline", "test", "method", "alternative", "adjustment", "confidence_level")
        numbers = ("significance_level", "n_resamples", "seed")
        return {
            **{name: getattr(self, name) for name in (*settings, *numbers)},
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "differences": [
                {**difference.to_dict(), "significant": self.significant(difference)}
                for difference in self.differences
            ],
            "signatures": list(self.signatures),
            "notes": list(self.notes),
        }

    def power(
        self,
        difference: float | None = None,
        n_segments: int | None = None,
        power: float = 0.8,
        significance_level: float | None = None,
        n_resamples: int = 4999,
    ) -> Any:
        """Say which differences such a test set can find: a `Power`, as `evalstats.power`.

        One test at `significance_level`, by default that of this comparison, not adjusted for
        several; the comparison's alternative, unit, confidence level and seed.
        """
        if self.planner is None:
            raise InputError(
                "this comparison holds no statistics of segments (it comes from a Shard or a "
                "file); give SegmentStatistics to evalstats.power"
            )
        level = self.significance_level if significance_level is None else significance_level
        return self.planner(
            difference, n_segments, power, level, self.confidence_level, n_resamples, self.seed
        )

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the differences with their intervals: `evalstats.plots.differences`."""
        return plots.differences(self, metric, ax)

    def plot_scores(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the scores with their intervals: `evalstats.plots.scores`."""
        return plots.scores(plots.of_metric(self.estimates, metric), ax)

    def plot_pvalues(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the adjusted p-values of all pairs: `evalstats.plots.pvalues`."""
        return plots.pvalues(self, metric, ax)

    def plot_replicates(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the distributions of the replicates: `evalstats.plots.replicates`."""
        return plots.replicates(plots.of_metric(self.estimates, metric), ax)

    def _records(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = self.to_dict()["differences"]
        return records

    def _tables(self) -> list[Table]:
        tables = []
        for metric in layout.distinct([estimate.metric for estimate in self.estimates]):
            estimates = [e for e in self.estimates if e.metric == metric]
            differences = [d for d in self.differences if d.metric == metric]
            if self.baseline is not None:
                tables.append(layout.baseline_table(self, estimates, differences))
            else:
                tables += layout.pair_tables(self, estimates, differences)
        return tables

    def _footer(self) -> list[str]:
        return [*self.notes, *self.signatures]
