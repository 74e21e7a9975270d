"""Results: frozen, documented, printable, and equal where their numbers and signatures are.

`print(result)` gives the table of the README, and so does a notebook; `forms` has the other ways to
write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalstats.results import common_schema, layout, plots, reading
from evalstats.results.forms import Result as Result
from evalstats.results.questions import Questions
from evalstats.results.records import (
    Difference,
    EstimateRecord,
    distinct,
    estimate_of,
    of_metric,
    plain_record,
)
from evalstats.results.report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Estimate(EstimateRecord, Result):
    """A score with its confidence interval.

    Two are equal when all of their fields are; of the replicates, which the signature determines,
    only the score and the interval that came of them count.

    Attributes
    ----------
    metric, system : str
        What was scored.
    score : float
        Corpus score on the observed segments.
    low, high : float
        Bounds of the confidence interval.
    standard_error : float
        From the influence values; of a `Shard`, from the replicates.
    replicates : ndarray, shape (B,)
        Corpus scores of the resamples; empty where nothing was resampled (the t interval), and
        after `from_json`.
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
    segment_error : float or None
        Where there are groups or runs: the standard error if segments were independent of one
        another, and runs all alike, from influence values.
    design_effect : float or None
        Where there are groups: the squared ratio of the standard error of the groups to
        `segment_error` (Kish, 1965).
    effective_size : float or None
        The number of segments over the design effect: of how many independent ones the score would
        be as precise.
    run_error : float or None
        Where there are several runs: the standard error that the choice of the runs alone gives.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return all fields but the replicates as plain Python values."""
        return plain_record(self)

    @classmethod
    def from_json(cls, text: str) -> Estimate:
        """Return what `to_json` wrote, without replicates; see `Comparison.from_json`."""
        return reading.estimate_from(cls, text)

    def to_every_eval_ever(self) -> dict[str, Any]:
        """Return ``score_details.uncertainty`` of the common schema: see `common_schema`."""
        return common_schema.uncertainty(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the replicates, the score and its interval: `evalstats.plots.replicates`."""
        drawn: Axes = plots.replicates([self], ax)
        return drawn

    def _records(self) -> list[dict[str, Any]]:
        record = self.to_dict()
        del record["notes"]
        return [record]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return layout.score_tables([self], digits)

    def _footer(self) -> list[str]:
        return [*self.notes, self.signature]


@dataclass(frozen=True)
class Estimates(Result, Sequence[Estimate]):
    """Several estimates: systems, metrics, or both. A sequence of `Estimate`.

    ``estimates["BLEU", "system"]`` is that of a system under a metric, in any case;
    ``estimates["system"]`` does where there is one metric.

    Attributes
    ----------
    estimates : tuple of Estimate
        Metric by metric, in each the systems in the order given.
    """

    estimates: tuple[Estimate, ...]

    def __getitem__(self, index: Any) -> Any:
        """Return the estimate of ``(metric, system)`` or of a place; for a slice, a tuple."""
        if isinstance(index, (str, tuple)):
            return estimate_of(self.estimates, index)
        return self.estimates[index]

    def __len__(self) -> int:
        """Return the number of estimates."""
        return len(self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"estimates": [...]}`` as plain Python values."""
        return {"estimates": [estimate.to_dict() for estimate in self.estimates]}

    @classmethod
    def from_json(cls, text: str) -> Estimates:
        """Return what `to_json` wrote, without replicates; see `Comparison.from_json`."""
        return cls(reading.estimates_from(Estimate, text))

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the scores with their intervals: `evalstats.plots.scores`."""
        return plots.scores(_chosen(self.estimates, metric), ax)

    def plot_replicates(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the distributions of the replicates: `evalstats.plots.replicates`."""
        return plots.replicates(_chosen(self.estimates, metric), ax)

    def _records(self) -> list[dict[str, Any]]:
        return [record for estimate in self.estimates for record in estimate._records()]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return layout.score_tables(self.estimates, digits)

    def _title(self) -> str:
        return layout.title(self.estimates)

    def _footer(self) -> list[str]:
        notes = [note for estimate in self.estimates for note in estimate.notes]
        return distinct([*notes, *(estimate.signature for estimate in self.estimates)])


@dataclass(frozen=True)
class Comparison(Questions, Result):
    """Differences between systems with intervals and p-values; iterating gives `Difference`.

    ``result["BLEU", "system"]`` is the estimate of a system under a metric, in any case, and
    ``result.difference("BLEU", "system", "baseline")`` is one of the differences.

    Attributes
    ----------
    estimates : Estimates
        A sequence of `Estimate`: score and interval of every system, metric by metric.
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
        Adjusted p-values up to it are significant; 1 - `confidence_level` but for gates.
    margin, recovery : float or None
        What `claim` is about: a difference in points, or a share of the baseline's score.
    contrast : {"difference", "ratio", "log-ratio"}
        What the intervals of pairs are of.
    planner, ranker, influencer : callable or None
        What `power`, `ranking` and `influence` ask; they hold the statistics, the last also lists
        of texts. `None` where there are none, as of a `Shard` or after `from_json`.
    """

    estimates: Estimates

    def __post_init__(self) -> None:
        if not isinstance(self.estimates, Estimates):
            vars(self).update(estimates=Estimates(tuple(self.estimates)))

    def __getitem__(self, key: tuple[str, str] | str) -> Estimate:
        """Return the estimate of ``(metric, system)``, or of a system under the only metric."""
        return estimate_of(self.estimates.estimates, key)

    def __iter__(self) -> Iterator[Difference]:
        """Iterate over the differences, metric by metric."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the number of differences."""
        return len(self.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return settings, estimates and differences as plain Python values."""
        plain = plain_record(self)
        texts = {name: plain.pop(name) for name in ("signatures", "notes")}
        return {
            **{k: v for k, v in plain.items() if k not in ("estimates", "differences")},
            **self.estimates.to_dict(),
            "differences": [
                {
                    **difference.to_dict(),
                    "significant": self.significant(difference),
                    "claim": self.claim(difference),
                }
                for difference in self.differences
            ],
            **texts,
        }

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Return the comparison that `to_json` wrote, equal to it but for its replicates.

        Safe for files from strangers: numbers must be finite and in range, names printable and on
        one line, and scores, differences and verdicts must fit together.

        Raises
        ------
        InputError
            For anything else; the message says where it is.

        Examples
        --------
        >>> import evalstats as es
        >>> result = es.compare({"A": [1, 2, 2], "B": [2, 2, 3]}, metrics=es.Mean("marks"))
        >>> Comparison.from_json(result.to_json()) == result
        True
        """
        return reading.comparison_from(cls, Estimate, text)

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the differences with their intervals: `evalstats.plots.differences`."""
        return plots.differences(self, metric, ax)

    def plot_scores(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the scores with their intervals: `evalstats.plots.scores`."""
        return plots.scores(_chosen(self.estimates, metric), ax)

    def plot_pvalues(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the adjusted p-values of all pairs: `evalstats.plots.pvalues`."""
        return plots.pvalues(self, metric, ax)

    def plot_replicates(self, metric: str | None = None, ax: Any = None) -> Any:
        """Draw the distributions of the replicates: `evalstats.plots.replicates`."""
        return plots.replicates(_chosen(self.estimates, metric), ax)

    def _records(self) -> list[dict[str, Any]]:
        bounds = {(e.metric, e.system): (e.low, e.high) for e in self.estimates}
        records = []
        for record in self.to_dict()["differences"]:
            for name in ("baseline", "system"):
                low, high = bounds[record["metric"], record[name]]
                record |= {f"{name}_low": low, f"{name}_high": high}
            records.append(record)
        return records

    def _tables(self, digits: int | None = None) -> list[Table]:
        tables = []
        for metric in distinct(estimate.metric for estimate in self.estimates):
            estimates = [e for e in self.estimates if e.metric == metric]
            differences = [d for d in self.differences if d.metric == metric]
            if self.baseline is not None:
                tables.append(layout.baseline_table(self, estimates, differences, digits))
            else:
                tables += layout.pair_tables(self, estimates, differences, digits)
        return tables

    def _title(self) -> str:
        return layout.title(self.estimates)

    def _footer(self) -> list[str]:
        return [*self.notes, *self.signatures]


def _chosen(estimates: Sequence[Estimate], metric: str | None) -> Sequence[Estimate]:
    return estimates if metric is None else of_metric(estimates, metric)
