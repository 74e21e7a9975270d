"""The base class of metrics: statistics of every segment, and a score of their sums.

`statistics(hypotheses, references)` gives an `(N, k)` array, one row per segment. `score(totals)`
maps summed rows `(..., k)` to scores `(...)`. Resampling and inference need nothing more: leading
axes are free, so one line scores a corpus, every segment, and 10,000 resamples of 20 systems.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import check_arguments, label, shown
from evalstats.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from evalstats.analysis.design import Units
    from evalstats.statistics.segments import SegmentStatistics
T = TypeVar("T", bound="Configured")
Floats = NDArray[np.float64]

#: The highest n-gram order that is allowed: time and memory grow with the order.
MOST_ORDER = 1000
#: No text has this many tokens, and doubles above it skip integers. NumPy 2.0.0 may crash when
#: narrow integers are compared with a Python integer outside their range.
_MOST_COUNT = np.float64(2**53)
#: The signature of a `Ratio` names all of its columns.
_MOST_SIGNATURE = 100_000
#: The version of sacreBLEU comes last in a signature; it does not distinguish metrics.
_VERSION = "sacrebleu:"


def signature_of(**parts: object) -> str:
    """Join the parts of a signature as ``key:value|key:value``, with yes and no for flags."""
    words = {True: "yes", False: "no"}
    return "|".join(
        f"{key}:{words[value] if isinstance(value, bool) else value}"
        for key, value in parts.items()
    )


@dataclass(frozen=True)
class Correction:
    """What the labels (or the items that were run) add to predictions of all items."""

    metric: str
    n_labelled: int  # segments, the mean of the systems

    def notes(self) -> Iterator[str]:
        """Return the sentences to print below a table."""
        yield from ()


class Configured:
    """A class with options: an unknown option raises an `InputError` that lists the options."""

    def __new__(cls: type[T], *args: Any, **options: Any) -> T:
        """Return an object without fields; `__init__` sets them."""
        made: T = object.__new__(cls)
        if cls.__init__ is not object.__init__:
            check_arguments(cls.__init__, cls.__name__, options)
        elif args or options:
            raise InputTypeError(f"{cls.__name__} has no options, got {shown(args or options)}")
        return made


class Metric(Configured, ABC):
    """A corpus score that is computed from statistics which are summed over segments.

    Subclasses set `name` and `columns` and implement `statistics` and `score`. Set
    `higher_is_better = False` for error rates, and override `gradient` for a closed form.

    Attributes
    ----------
    name : str
        Name of the metric in tables.
    columns : tuple of str
        Names of the k statistics.
    higher_is_better : bool
        Direction of the score.
    uses_references : bool
        Whether `statistics` needs references (False for scores computed elsewhere).
    reads_text : bool
        Whether outputs and references are text. If not (class labels, numbers), `statistics` gets
        the references as they were given.
    entry_depth : int
        Depth of nesting of one output: 0 for a text or a number, 1 for a row of numbers. It
        distinguishes the outputs of one run from several runs.
    bounds : tuple of float
        The lowest and the highest possible score; no interval exceeds them.
    empty_score : float, optional
        The score of empty outputs, for a metric without a worst score.
    counts : bool
        Whether the statistics are counts; if so, negative values are refused. Override
        `check_statistics` for further checks.
    whole : slice
        Which columns hold whole numbers if the metric `counts`; all by default.
    scores_units : bool
        Whether a single segment has a score; False for scores of a relation between segments, such
        as a correlation. Used by `evalstats.statistics.segments.unit_scores`.
    is_smooth : bool
        Whether a small change of the sums changes the score little. Other metrics have no t test
        and no power analysis.
    unit_called : str
        What a segment is called by default: "segment", or "item" for trials.

    Examples
    --------
    The share of segments that are translated exactly; `as_references` checks references and makes
    a tuple of strings of every entry:

    >>> from evalstats.text.references import as_references
    >>> class ExactMatch(Metric):
    ...     name = "exact match"
    ...     columns = ("matches", "segments")
    ...
    ...     def statistics(self, hypotheses, references):
    ...         references = as_references(references, len(hypotheses))
    ...         return np.array([[h in r, 1] for h, r in zip(hypotheses, references)], dtype=int)
    ...
    ...     def score(self, totals):
    ...         totals = np.asarray(totals)
    ...         return 100 * totals[..., 0] / totals[..., 1]
    >>> metric = ExactMatch()
    >>> rows = metric.statistics(["a", "b"], ["a", ["c", "d"]])
    >>> float(metric.score(rows.sum(axis=0)))
    50.0
    """

    name: str
    columns: tuple[str, ...]
    higher_is_better: bool = True
    uses_references: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True
    entry_depth: int = 0
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    empty_score: ClassVar[float | None] = None
    counts: ClassVar[bool] = False
    whole: ClassVar[slice] = slice(None)
    scores_units: ClassVar[bool] = True
    is_smooth: ClassVar[bool] = True
    unit_called: ClassVar[str] = "segment"
    doubt: ClassVar[str] = ""
    #: The error for a score that is not a number; it may contain {n}, {units} and {more}.
    undefined: ClassVar[str] = (
        "is not finite; define the score for all possible totals, including denominators of 0"
    )

    @abstractmethod
    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of every segment, shape `(N, k)`; sums over segments must add up.

        Parameters
        ----------
        hypotheses : sequence of str
            N outputs. For scores computed elsewhere: the numbers of N segments.
        references
            One entry per segment: a string, a list of strings with `None` for an absent one, or a
            `References`, which keeps the prepared references for the next system.
        """

    @abstractmethod
    def score(self, totals: ArrayLike) -> Floats:
        """Score summed statistics, `(..., k) -> (...)`, without changing ``totals``."""

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score at ``totals``, `(..., k) -> (..., k)`.

        By default from central differences with a step of 1e-5 of each total, and at least 1e-5;
        nonnegative totals stay nonnegative. Metrics with a closed form override it.
        """
        at = np.asarray(totals, dtype=np.float64)
        result = np.empty(at.shape)
        for j in range(at.shape[-1]):
            step = 1e-5 * np.maximum(np.abs(at[..., j]), 1.0)
            up, down = at.copy(), at.copy()
            up[..., j] += step
            down[..., j] -= np.where(at[..., j] >= 0, np.minimum(at[..., j], step), step)
            result[..., j] = (self.score(up) - self.score(down)) / (up[..., j] - down[..., j])
        return result

    def unsuited(self, language: str) -> str:
        """Return why the metric does not suit a language and what to use instead, or "".

        The language is one of `evalstats.text.tokenization.LANGUAGES`, or "" for any other.
        """
        return ""

    def unread(self, texts: Sequence[str]) -> str:
        """Return why the metric ignores most of these texts and what to use instead, or ""."""
        return ""

    def doubtful(self, totals: Floats) -> NDArray[np.bool_]:
        """Return which systems get the note `doubt`, `(S, k) -> (S,)`."""
        return np.zeros(len(totals), dtype=np.bool_)

    def outcome_columns(self) -> tuple[int, int, float] | None:
        """Return the columns of successes and of items, and the score of a share of 1.

        `None` if the score is not a share. If all segments count once, shares get Wilson's interval
        and McNemar's test.
        """
        return None

    def bounds_of(self, statistics: NDArray[Any]) -> tuple[float, float]:
        """Return the lowest and the highest score of such statistics, `(..., k)`.

        For segments that are right or wrong: 0 and the scale of the share. Otherwise `bounds`.
        """
        columns = self.outcome_columns()
        if columns is None:
            return self.bounds
        succeeded, counted, scale = columns
        right, counts = statistics[..., succeeded], statistics[..., counted]
        are_counts = np.all((counts == 0) | (counts == 1))
        are_outcomes = are_counts and np.all((right == 0) | (right == counts))
        return (0.0, scale) if scale > 0 and are_outcomes else self.bounds

    def unseen(self, table: SegmentStatistics, units: Units) -> Floats | None:
        """Return the addition to the units' squared influence values, `(S, N)`; then t is used.

        `None` if the sample alone shows its variance.
        """
        return None

    def chance(self, statistics: Floats) -> float | None:
        """Return the variance between trials of the score of `(N, k)` fixed items.

        `None` if items are drawn.
        """
        return None

    def answers(self, statistics: NDArray[Any]) -> Floats | None:
        """Return number, sum and sum of squares of the answers to an item, `(..., k) -> (..., 3)`.

        `None` if items have one answer, or if the statistics do not contain these sums.
        """
        return None

    def pooled(self, metrics: Sequence[Metric], sizes: Sequence[int]) -> Metric:
        """Return the metric of all segments together, given the metrics and sizes of the parts."""
        return self

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Raise an `InputError` for statistics, `(..., k)`, that cannot come from text.

        Used for the rows of segments and for weighted sums of rows, from Python and from files, so
        the checks must hold for sums too. By default, if the metric `counts`: whole numbers from 0
        to 2**53.
        """
        if self.counts:
            self._refuse(statistics < 0, f"is negative, but {self.name} counts")
            self._refuse(statistics >= _MOST_COUNT, "is too large to be a count")
            whole = statistics[..., self.whole]
            if whole.dtype.kind not in "biu":
                why = f"is not a whole number, but {self.name} counts"
                self._refuse(whole != np.rint(whole), why)

    def _refuse(self, impossible: NDArray[np.bool_], why: str) -> None:
        """Raise an error with the position of the first true value, if any is true."""
        if np.any(impossible):
            where = [int(i) for i in np.argwhere(impossible)[0]]
            raise InputError(f"statistics{where} {why}")

    @property
    def signature(self) -> str:
        """The settings and versions that identify the computation, as ``key:value|key:value``."""
        return "custom:" + type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name} {self.signature}>"


class LabelledMetric(Metric):
    """A score when only some segments have labels; labelled and other segments are drawn apart."""

    @abstractmethod
    def labelled(self, statistics: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which segments have labels, `(..., k) -> (...)`."""

    @abstractmethod
    def tuned(
        self, table: SegmentStatistics, units: Units, by_stratum: bool
    ) -> tuple[SegmentStatistics, Correction, Floats | None]:
        """Return statistics under the metric with the best weight, and what the labels are worth.

        If each stratum has a score of its own (`by_stratum`), each must have enough labels. The
        third is an addition to the units' squared influence values, `(S, N)`, with which t is used;
        `None` if the sample alone shows its variance.
        """


def keep(metric: Metric, **options: object) -> None:
    """Set checked options on a frozen object."""
    vars(metric).update(options)


def check_metric(metric: Metric) -> Metric:
    """Return the metric, or raise an error if it lacks what tables and files need."""
    kind = type(metric).__name__
    for attribute in ("name", "columns"):
        if not hasattr(metric, attribute):
            raise InputError(f"{kind} must define {attribute} (see evalstats.Metric)")
    label(metric.name, f"name of {kind}")
    columns = metric.columns
    if not isinstance(columns, (tuple, list)) or not columns:
        raise InputTypeError(f"columns of {kind} must be a tuple of names, got {columns!r}")
    for column in columns:
        label(column, f"columns of {kind}")
    label(metric.signature, f"signature of {kind}", _MOST_SIGNATURE)
    return metric


def scores_of(metric: Metric, totals: NDArray[Any]) -> Floats:
    """Return the scores of totals, `(..., k) -> (...)`, and check their type and shape."""
    scores = np.asarray(metric.score(totals))
    if scores.dtype.kind not in "buif":
        raise InputTypeError(f"{metric.name}.score must return numbers, got {scores.dtype} values")
    if scores.shape != totals.shape[:-1]:
        raise InputError(
            f"{metric.name}.score must map shape (..., k) to (...): for totals of shape "
            f"{totals.shape}, it returned {scores.shape} instead of {totals.shape[:-1]}. Index "
            "only the last axis, as in totals[..., 0] / totals[..., 1]."
        )
    return scores.astype(np.float64, copy=False)


@dataclass(frozen=True)
class MetricSignature:
    """The settings that identify a metric; `str` gives ``key:value|key:value``.

    Attributes
    ----------
    settings : tuple of str
        Everything that changes the numbers, ``key:value`` each, including runs and strata.
    versions : tuple of str
        Versions of sacreBLEU: several if tables made by different versions were joined, none for a
        metric that does not come from sacreBLEU.

    Examples
    --------
    >>> signature = MetricSignature.of("case:mixed|tok:13a|sacrebleu:2.4.0")
    >>> signature.settings, signature.versions
    (('case:mixed', 'tok:13a'), ('2.4.0',))
    >>> str(signature.tagged("runs:3"))
    'case:mixed|tok:13a|runs:3|sacrebleu:2.4.0'
    """

    settings: tuple[str, ...]
    versions: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> MetricSignature:
        """Return the record for a signature; its `str` is the same text."""
        *settings, last = text.split("|")
        if last.startswith(_VERSION):
            return cls(tuple(settings), tuple(last.removeprefix(_VERSION).split(",")))
        return cls((*settings, last))

    def tagged(self, tag: str) -> MetricSignature:
        """Return the signature with one more setting."""
        return replace(self, settings=(*self.settings, tag))

    @property
    def unversioned(self) -> str:
        """The settings alone, as text."""
        return "|".join(self.settings)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts between the bars."""
        versions = (f"{_VERSION}{','.join(self.versions)}",) if self.versions else ()
        return (*self.settings, *versions)

    def __str__(self) -> str:
        return "|".join(self.parts)


def merged(texts: Sequence[str]) -> MetricSignature:
    """Return the first of several signatures, with the versions of all."""
    signatures = [MetricSignature.of(text) for text in texts]
    versions = {version for signature in signatures for version in signature.versions}
    return replace(signatures[0], versions=tuple(sorted(versions)))
