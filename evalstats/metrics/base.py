"""What a metric is: statistics of every segment, and a score that is a function of their sums.

`statistics(hypotheses, references)` gives an `(N, k)` array, one row a segment. `score(totals)`
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

#: The longest n-grams that can be asked for: time and memory grow with the order.
MOST_ORDER = 1000
#: No text has so many of anything; doubles beyond it skip numbers. NumPy 2.0.0 may crash where
#: narrow numbers are compared with an integer of Python that is beyond all of them.
_MOST_COUNT = np.float64(2**53)
#: The signature of a `Ratio` names all of its columns.
_MOST_SIGNATURE = 100_000
#: The version of sacreBLEU comes last in a signature; it tells no metrics apart.
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
    """What labels, or items that were run, are worth that correct a prediction of all."""

    metric: str
    n_labelled: int  # segments, the mean of the systems

    def notes(self) -> Iterator[str]:
        """Say below a table what should be known of it."""
        yield from ()


class Configured:
    """What is made with options: one that there is not is an `InputError` with those there are."""

    def __new__(cls: type[T], *args: Any, **options: Any) -> T:
        """Return an object without its fields, which `__init__` sets."""
        made: T = object.__new__(cls)
        if cls.__init__ is not object.__init__:
            check_arguments(cls.__init__, cls.__name__, options)
        elif args or options:
            raise InputTypeError(f"{cls.__name__} has no options, got {shown(args or options)}")
        return made


class Metric(Configured, ABC):
    """A corpus score that is a function of summed per-segment statistics.

    Subclasses set `name` and `columns` and implement `statistics` and `score`. Set
    `higher_is_better = False` for error rates, and override `gradient` for a closed form.

    Attributes
    ----------
    name : str
        What tables call the metric.
    columns : tuple of str
        Names of the k statistics.
    higher_is_better : bool
        Direction of the score.
    uses_references : bool
        Whether `statistics` needs references (False for scores that come from elsewhere).
    reads_text : bool
        Whether outputs and references are text. Where they are not (class labels, numbers),
        references come to `statistics` as they were given.
    entry_depth : int
        How many lists an output is: 0 for text and for a number, 1 for a row of numbers. It tells
        outputs of one run from those of several.
    bounds : tuple of float
        The lowest and the highest score that there can be, which no interval exceeds.
    empty_score : float, optional
        What empty outputs score, of a metric whose scores have no worst end.
    counts : bool
        Whether the statistics are counts: negative ones are then refused. Override
        `check_statistics` to say more of what cannot be.
    whole : slice
        Which columns of a metric that `counts` have no fractions; all by default.
    scores_units : bool
        Whether a segment alone has a score; False of what is between segments, as a correlation.
        `evalstats.statistics.segments.unit_scores` asks it.
    is_smooth : bool
        Whether the score changes little with its sums: others have no test by t, and no power.
    unit_called : str
        What a segment is called where nothing else says it: "segment", and of trials "item".

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
    #: What errors say of a score that is no number; it may name {n} {units}, and {more} of them.
    undefined: ClassVar[str] = (
        "is not finite; define the score for every total, for example where a denominator is 0"
    )

    @abstractmethod
    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of every segment, shape `(N, k)`; sums over segments must add up.

        Parameters
        ----------
        hypotheses : sequence of str
            N outputs. For scores that come from elsewhere: the numbers of N segments.
        references
            One entry per segment: a string, a list of strings with `None` for an absent one, or
            a `References`, which keeps what is prepared for the next system.
        """

    @abstractmethod
    def score(self, totals: ArrayLike) -> Floats:
        """Score summed statistics, `(..., k) -> (...)`, without changing ``totals``."""

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score at ``totals``, `(..., k) -> (..., k)`.

        Here by central differences, with a step of 1e-5 of each total, at least 1e-5; a total that
        is not negative is not made so. Metrics with a closed form override it.
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
        """Say why the metric does not suit texts of a language, and what does; "" where it does.

        The language is one of `evalstats.text.tokenization.LANGUAGES`, or "" for any other.
        """
        return ""

    def unread(self, texts: Sequence[str]) -> str:
        """Say why the metric hardly reads these texts, and what does; "" if it reads them."""
        return ""

    def doubtful(self, totals: Floats) -> NDArray[np.bool_]:
        """Return of which systems results say `doubt` in a note, `(S, k) -> (S,)`."""
        return np.zeros(len(totals), dtype=np.bool_)

    def outcome_columns(self) -> tuple[int, int, float] | None:
        """Return the columns of successes and of their number, and what a share of 1 scores.

        `None` where the score is no share. Shares of segments that all count once are counted: they
        have Wilson's interval, and McNemar's test.
        """
        return None

    def bounds_of(self, statistics: NDArray[Any]) -> tuple[float, float]:
        """Return the lowest and the highest score of such statistics, `(..., k)`.

        Of segments that are right or wrong that is 0 and the scale of a share, else `bounds`.
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
        """Return what is added to squared influence values of units, `(S, N)`; t then decides.

        `None` where the sample shows enough of its variance.
        """
        return None

    def chance(self, statistics: Floats) -> float | None:
        """Return the variance of the score of items `(N, k)` that are all there are, by trials.

        `None` where items are drawn.
        """
        return None

    def answers(self, statistics: NDArray[Any]) -> Floats | None:
        """Return number, sum and sum of squares of the answers to an item, `(..., k) -> (..., 3)`.

        `None` where items have one, or statistics do not tell.
        """
        return None

    def pooled(self, metrics: Sequence[Metric], sizes: Sequence[int]) -> Metric:
        """Return the metric of all segments together, whose parts have these metrics and sizes."""
        return self

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse statistics, `(..., k)`, that cannot come from text, with an `InputError`.

        `SegmentStatistics` and files are held to it: rows of segments, and sums of rows with
        weights. So what is said here must hold for sums too. Here: where the metric `counts`,
        whole numbers from 0 to 2**53.
        """
        if self.counts:
            self._refuse(statistics < 0, f"is negative, but {self.name} counts")
            self._refuse(statistics >= _MOST_COUNT, "is too large to be a count")
            whole = statistics[..., self.whole]
            if whole.dtype.kind not in "biu":
                why = f"is not a whole number, but {self.name} counts"
                self._refuse(whole != np.rint(whole), why)

    def _refuse(self, impossible: NDArray[np.bool_], why: str) -> None:
        """Raise where any is true, and say where the first is."""
        if np.any(impossible):
            where = [int(i) for i in np.argwhere(impossible)[0]]
            raise InputError(f"statistics{where} {why}")

    @property
    def signature(self) -> str:
        """Everything that identifies the metric's computation, as ``key:value|key:value``."""
        return "custom:" + type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name} {self.signature}>"


class LabelledMetric(Metric):
    """A score of segments of which some have labels that others lack: both are drawn apart."""

    @abstractmethod
    def labelled(self, statistics: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which segments have labels, `(..., k) -> (...)`."""

    @abstractmethod
    def tuned(
        self, table: SegmentStatistics, units: Units, by_stratum: bool
    ) -> tuple[SegmentStatistics, Correction, Floats | None]:
        """Return statistics under the metric with the weight that suits them best, and its worth.

        Where each stratum has a score of its own (`by_stratum`), each must have what is needed. The
        third is what is added to squared influence values of units, `(S, N)`, so that t decides;
        `None` where the sample shows enough of its variance.
        """


def keep(metric: Metric, **options: object) -> None:
    """Keep checked options in the place of those given; the class is frozen."""
    vars(metric).update(options)


def check_metric(metric: Metric) -> Metric:
    """Return a metric if it has what tables and files need, or say what it lacks."""
    kind = type(metric).__name__
    for attribute in ("name", "columns"):
        if not hasattr(metric, attribute):
            raise InputError(f"{kind} must set {attribute} (see evalstats.Metric)")
    label(metric.name, f"name of {kind}")
    columns = metric.columns
    if not isinstance(columns, (tuple, list)) or not columns:
        raise InputTypeError(f"columns of {kind} must be a tuple of names, got {columns!r}")
    for column in columns:
        label(column, f"columns of {kind}")
    label(metric.signature, f"signature of {kind}", _MOST_SIGNATURE)
    return metric


def scores_of(metric: Metric, totals: NDArray[Any]) -> Floats:
    """Return the scores of totals, `(..., k) -> (...)`, if the metric returns that."""
    scores = np.asarray(metric.score(totals))
    if scores.dtype.kind not in "buif":
        raise InputTypeError(f"{metric.name}.score must return numbers, got {scores.dtype} values")
    if scores.shape != totals.shape[:-1]:
        raise InputError(
            f"{metric.name}.score must map shape (..., k) to (...): for totals of shape "
            f"{totals.shape} it returned {scores.shape}, expected {totals.shape[:-1]}; index the "
            f"last axis only, as in totals[..., 0] / totals[..., 1]"
        )
    return scores.astype(np.float64, copy=False)


@dataclass(frozen=True)
class MetricSignature:
    """What identifies a metric; `str` prints it as ``key:value|key:value``.

    Attributes
    ----------
    settings : tuple of str
        What changes the numbers, ``key:value`` each, with what is made of runs and strata.
    versions : tuple of str
        Versions of sacreBLEU: several where tables that several made are joined, and none of a
        metric that is not sacreBLEU's.

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
        """Return the record of a metric's signature, of which `str` is the same text."""
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
        """What stands between the bars."""
        versions = (f"{_VERSION}{','.join(self.versions)}",) if self.versions else ()
        return (*self.settings, *versions)

    def __str__(self) -> str:
        return "|".join(self.parts)


def merged(texts: Sequence[str]) -> MetricSignature:
    """Return the first of several signatures, with the versions of all."""
    signatures = [MetricSignature.of(text) for text in texts]
    versions = {version for signature in signatures for version in signature.versions}
    return replace(signatures[0], versions=tuple(sorted(versions)))
