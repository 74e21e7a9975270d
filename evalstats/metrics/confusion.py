"""Scores of classification: F1, precision, recall, IoU, accuracy, kappa, MCC.

All are functions of three sums per class: how often it is gold, predicted, or both. Other metrics
also use the checks here of predicted and gold values and of class labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import (
    check_same_index,
    check_same_length,
    choice,
    entry,
    flag,
    label,
    listed,
    refuse_masked,
    shown,
)
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, keep, signature_of
from evalstats.metrics.ratios import ratio, ratio_gradient, root_ratio, root_ratio_gradient

#: Names and numbers, which can be stored in files.
Label = str | int

#: A rate of a class is hits / (a·hits + b·predicted + c·gold) with these coefficients; F1 is hits /
#: (predicted/2 + gold/2).
RATES: dict[str, tuple[float, float, float]] = {
    "f1": (0.0, 0.5, 0.5),
    "precision": (0.0, 1.0, 0.0),
    "recall": (0.0, 0.0, 1.0),
    "iou": (-1.0, 1.0, 1.0),
}
_AVERAGES = ("macro", "micro", "weighted")
#: Measures for single labels only: chance agreement is not defined for sets of labels.
_SINGLE = ("balanced-accuracy", "kappa", "mcc")
MEASURES = ("accuracy", *_SINGLE, *RATES, *(f"{a}-{r}" for a, r in product(_AVERAGES, RATES)))
_TITLES = {"mcc": "MCC", "balanced-accuracy": "balanced accuracy", "macro-iou": "mIoU"}
#: A difference below this share of the squared sums is rounding error.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Confusion(Metric):
    r"""A score of predicted class labels: macro-, micro- or weighted F1, kappa, MCC and others.

    Of N items, :math:`P_k` have the predicted class k, :math:`T_k` have the gold class k, and
    :math:`n_k` have both. The measures are

    - ``"f1"``: :math:`2 n_k / (P_k + T_k)` for the class `positive`; likewise ``"precision"``,
      :math:`n_k / P_k`, ``"recall"``, :math:`n_k / T_k`, and ``"iou"``,
      :math:`n_k / (P_k + T_k - n_k)`;
    - ``"macro-f1"`` and so on: the mean over classes (``"miou"`` is ``"macro-iou"``);
      ``"weighted-f1"`` and so on: the mean with weights :math:`T_k / N`; ``"micro-f1"`` and so on:
      the rate computed from the sums over all classes;
    - ``"accuracy"``: :math:`\sum_k n_k / N`; for label sets, the share of sets that are completely
      right;
    - ``"balanced-accuracy"``: the mean recall of the classes that occur in gold;
    - ``"kappa"``: :math:`(N \sum n_k - \sum P_k T_k) / (N^2 - \sum P_k T_k)` (Cohen, 1960);
    - ``"mcc"``: :math:`(N \sum n_k - \sum P_k T_k) /
      \sqrt{(N^2 - \sum P_k^2) (N^2 - \sum T_k^2)}` (Matthews, 1975; Gorodkin, 2004).

    Numbers are scikit-learn's with ``labels=labels, zero_division=0``: 0/0 is 0.

    Parameters
    ----------
    labels : sequence of str or int
        All K classes, at least 2, gold or predicted.
    measure : str
        One of the names above.
    positive : str or int, optional
        The class that the four rates without an average refer to; by default 1, if it is a label.
    multilabel : bool
        Whether an item has any number of labels: a list or set of them, predicted and gold.
    matrices : bool
        Whether an item is a confusion matrix `(K, K)` of counts with gold classes in rows, for
        example of the pixels of an image. There are no references then.
    absent : {"zero", "omit"}
        How a macro-average treats a class that is neither gold nor predicted: it counts as 0, or is
        left out (as in scikit-learn without `labels`).

    Raises
    ------
    InputError
        For repeated labels and an unknown measure or class; `statistics` raises it for items with
        other labels.

    Examples
    --------
    >>> gold = ["cat", "dog", "dog", "owl"]
    >>> f1 = Confusion(["cat", "dog", "owl"], "macro-f1")
    >>> rows = f1.statistics(["cat", "dog", "cat", "owl"], gold)
    >>> print(f1.score(rows.sum(axis=0)).round(4))
    0.7778
    """

    labels: tuple[Label, ...]
    measure: str = "macro-f1"
    positive: Label | None = None
    multilabel: bool = False
    matrices: bool = False
    absent: str = "zero"

    counts = True
    reads_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        labels = as_labels(self.labels)
        measure = "macro-iou" if self.measure == "miou" else self.measure
        choice(measure, MEASURES, "measure")
        choice(self.absent, ("zero", "omit"), "absent")
        for name in ("multilabel", "matrices"):
            keep(self, **{name: flag(getattr(self, name), name)})
        if self.multilabel and self.matrices:
            raise InputError("multilabel and matrices cannot both be True; choose one")
        if self.multilabel and measure in _SINGLE:
            raise InputError(
                f"measure {measure!r} requires items with one label each, got multilabel=True; "
                "use a macro, micro or weighted rate"
            )
        positive = self.positive.item() if isinstance(self.positive, np.generic) else self.positive
        if measure in RATES:
            positive = 1 if positive is None and 1 in labels else positive
            if positive not in labels:
                raise InputError(
                    f"positive must be one of the labels for measure {measure!r}, got "
                    f"{self.positive!r}; choose a class, or use 'macro-{measure}'"
                )
        elif positive is not None:
            raise InputError(
                f"positive must be left out for measure {measure!r}, which averages over all "
                "classes"
            )
        kept: tuple[object, ...] = (positive,) if measure in RATES else labels
        kept = ("any class",) if measure.startswith("micro") else kept
        columns = tuple(f"{part} {k}" for k in kept for part in ("hit", "predicted", "gold"))
        title = measure.replace("f1", "F1").replace("iou", "IoU")
        keep(
            self,
            labels=labels,
            measure=measure,
            scores_units=self.matrices or self.multilabel or measure == "accuracy",
            positive=positive,
            name=_TITLES.get(measure, title),
            columns=("correct", "items") if measure == "accuracy" else columns,
            entry_depth=2 if self.matrices else int(self.multilabel),
            uses_references=not self.matrices,
        )

    @property
    def signature(self) -> str:
        """The measure, the number of classes, and how items and classes count."""
        parts: dict[str, object] = {"confusion": self.measure, "classes": len(self.labels)}
        if self.positive is not None:
            parts["positive"] = self.positive
        for name in ("multilabel", "matrices"):
            if getattr(self, name):
                parts[name] = True
        if self.measure.startswith("macro"):
            parts["absent"] = self.absent
        return signature_of(**parts)

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.int64]:
        """Return `(N, 3 K)`: items with each class right, predicted and gold.

        `(N, 3)` for a rate without average and for micro-averages; `(N, 2)` for accuracy. Items are
        N predicted and gold labels; with `multilabel` collections of labels; or `(N, K, K)` counts.
        """
        if self.matrices:
            return self._columns(*_counts_of(hypotheses, len(self.labels)))
        predicted, gold = checked_pair(hypotheses, references, "gold labels")
        named = (("hypotheses", predicted), ("references", gold))
        if self.multilabel:
            first, second = (_members_of(rows, self.labels, name) for name, rows in named)
            right = np.all(first == second, axis=1)
        else:
            codes = [codes_of(values, self.labels, name) for name, values in named]
            right = codes[0] == codes[1]
            if self.measure == "accuracy":
                return np.stack([right, np.ones_like(right)], axis=-1).astype(np.int64)
            first, second = (np.eye(len(self.labels), dtype=np.bool_)[code] for code in codes)
        return self._columns(first & second, first, second, right, np.ones_like(right))

    def _columns(self, *parts: NDArray[Any]) -> NDArray[np.int64]:
        """Return the measure's columns from hits, predicted, gold `(N, K)`, correct and items."""
        if self.measure == "accuracy":
            return np.stack(parts[3:], axis=-1).astype(np.int64)
        counts = np.stack(parts[:3], axis=-1)
        if self.measure in RATES:
            counts = counts[:, [self.labels.index(self.positive)]]
        elif self.measure.startswith("micro"):
            counts = np.asarray(np.sum(counts, axis=1, keepdims=True, dtype=np.int64))
        return counts.reshape(len(counts), -1).astype(np.int64)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse more hits than predictions or gold labels."""
        super().check_statistics(statistics)
        step = 2 if self.measure == "accuracy" else 3
        parts = statistics.reshape(*statistics.shape[:-1], -1, step)
        more = np.any(parts[..., :1] > parts[..., 1:], axis=(-2, -1))
        self._refuse(more, "has more correct labels than labels")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the score, `(..., columns) -> (...)`; 0 if it is undefined."""
        sums, parts = self._parts(totals)
        if self.measure == "accuracy":
            return ratio(sums[..., 0], sums[..., 1], 0.0)
        if self.measure in ("kappa", "mcc"):
            return root_ratio(*_beyond_chance(parts, self.measure == "mcc"))
        average, rate = self._rate
        weights = _weights(parts, average, self.absent == "omit")
        return np.asarray(np.sum(weights * _rates(parts, rate), axis=-1))

    def outcome_columns(self) -> tuple[int, int, float] | None:
        """Return the columns of correct labels and of all labels, for the accuracy."""
        is_share = type(self) is Confusion and self.measure == "accuracy"
        return (0, 1, 1.0) if is_share else None

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, of the shape of ``totals``; 0 if it is undefined."""
        sums, parts = self._parts(totals)
        if self.measure == "accuracy":
            return np.stack(ratio_gradient(sums[..., 0], sums[..., 1], 1.0), axis=-1)
        if self.measure in ("kappa", "mcc"):
            is_correlation = self.measure == "mcc"
            values = _beyond_chance(parts, is_correlation)
            return root_ratio_gradient(values, _beyond_chance_slopes(parts, is_correlation))
        average, rate = self._rate
        weights = _weights(parts, average, self.absent == "omit")
        by_hits, by_size = ratio_gradient(parts[..., 0], _sizes(parts, rate), 1.0)
        slopes: Floats = by_size[..., None] * np.array(RATES[rate])
        slopes[..., 0] += by_hits
        gradient = weights[..., None] * slopes
        if average == "weighted":
            moved = _rates(parts, rate) - self.score(totals)[..., None]
            gradient[..., 2] += ratio(moved, np.sum(parts[..., 2], axis=-1, keepdims=True), 0.0)
        return gradient.reshape(sums.shape)

    @property
    def _rate(self) -> tuple[str, str]:
        """How classes are averaged, and which rate."""
        average, _, rate = self.measure.rpartition("-")
        return average, "recall" if average == "balanced" else rate

    def _parts(self, totals: ArrayLike) -> tuple[Floats, Floats]:
        """Return totals, and the totals per class, `(..., K, 3)`."""
        sums = np.ascontiguousarray(totals, dtype=np.float64)
        if self.measure == "accuracy":
            return sums, sums
        return sums, sums.reshape(*sums.shape[:-1], -1, 3)


def _members_of(rows: Sequence[Any], labels: Sequence[Label], name: str) -> NDArray[np.bool_]:
    """Return which labels each row contains, `(N, K)`."""
    held = [
        list(row) if isinstance(row, (set, frozenset)) else listed(row, entry(name, i), "labels")
        for i, row in enumerate(rows)
    ]
    members = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    for i, row in enumerate(held):
        members[i, codes_of(row, labels, entry(name, i))] = True
        if np.count_nonzero(members[i]) < len(row):
            raise InputError(f"{entry(name, i)} contains a label twice: {shown(row)}")
    return members


def _counts_of(matrices: object, n_labels: int) -> Sequence[NDArray[Any]]:
    """Return hits, predicted and gold `(N, K)`, correct and items `(N,)`, of matrices of counts."""
    refuse_masked(matrices, "hypotheses")
    try:
        array = np.asarray(matrices)
    except ValueError:  # rows of several lengths
        array = np.empty(0, dtype=object)
    expected = f"(N, {n_labels}, {n_labels}), one confusion matrix of counts per item"
    if array.dtype.kind not in "iuf" or array.ndim != 3 or array.shape[1:] != (n_labels,) * 2:
        raise InputError(
            f"hypotheses must have shape {expected}, got {array.dtype} values of shape "
            f"{array.shape}"
        )
    if not len(array):
        raise InputError("hypotheses is empty; pass at least one segment")
    # Narrow integers, such as counts of pixels, could overflow in sums.
    array = array.astype(np.float64) if array.dtype.kind == "f" else array
    countable = (array >= 0) & (array == np.rint(array)) & (array < np.float64(2**53))
    for place in np.argwhere(~countable)[:1].tolist():
        raise InputError(
            f"hypotheses{place} is {array[tuple(place)]}, but counts must be 0, 1, 2, ..."
        )
    array = array.astype(np.int64)
    hits = np.diagonal(array, axis1=1, axis2=2)
    return hits, array.sum(axis=1), array.sum(axis=2), hits.sum(axis=1), array.sum(axis=(1, 2))


# Functions of sums `(..., K, 3)`: per class, the number of hits, predicted and gold items.


def _sizes(parts: Floats, rate: str) -> Floats:
    """Return the denominator of each class's rate, `(..., K)`."""
    return np.asarray(sum(c * parts[..., j] for j, c in enumerate(RATES[rate])))


def _rates(parts: Floats, rate: str) -> Floats:
    """Return a rate of each class, `(..., K)`; 0 without items."""
    return ratio(parts[..., 0], _sizes(parts, rate), 0.0)


def _weights(parts: Floats, average: str, omit: bool) -> Floats:
    """Return the weights of classes in an average, `(..., K)`.

    With `omit`, classes that do not occur have weight 0 in a macro-average. In a balanced average,
    classes that are never gold have weight 0.
    """
    gold = parts[..., 2]
    if average == "weighted":
        return ratio(gold, np.sum(gold, axis=-1, keepdims=True), 0.0)
    counting = gold if average == "balanced" else parts[..., 1] + gold
    counts = (counting > 0) | (average != "balanced" and not omit)
    return np.asarray(counts / np.maximum(np.sum(counts, axis=-1, keepdims=True), 1))


def _beyond_chance(parts: Floats, correlation: bool) -> tuple[Floats, Floats, Floats]:
    """Return agreement beyond chance, and two factors of the squared denominator, `(...)`.

    The quotient is kappa (Cohen, 1960) or MCC (Gorodkin, 2004). If only one class is predicted or
    gold, a factor is 0.
    """
    hits, predicted, gold = (parts[..., j] for j in range(3))
    items, right, chance = (np.sum(x, axis=-1) for x in (gold, hits, predicted * gold))
    if not correlation:
        side = items**2 - chance
        return items * right - chance, side, side
    # With a single class, fractional weights leave a rounding error.
    sides = [items**2 - np.sum(x**2, axis=-1) for x in (predicted, gold)]
    first, second = (np.where(side > _ROUNDING * items**2, side, 0.0) for side in sides)
    return items * right - chance, first, second


def _beyond_chance_slopes(parts: Floats, correlation: bool) -> tuple[Floats, Floats, Floats]:
    """Return the gradients of what `_beyond_chance` returns, `(..., 3 K)` each."""
    hits, predicted, gold = (parts[..., j] for j in range(3))
    nothing = np.zeros_like(hits)
    items, right = (np.sum(x, axis=-1, keepdims=True) for x in (gold, hits))
    by_top = items + nothing, -gold, right - predicted
    by_first = by_second = nothing, -gold, 2 * items - predicted
    if correlation:
        by_first = nothing, -2 * predicted, 2 * items + nothing
        by_second = nothing, nothing, 2 * (items - gold)
    gradients = np.stack([np.stack(slopes, axis=-1) for slopes in (by_top, by_first, by_second)])
    top, first, second = gradients.reshape(3, *parts.shape[:-2], -1)
    return top, first, second


def as_labels(labels: object) -> tuple[Label, ...]:
    """Return at least two different labels, strings or integers, in their order."""
    classes = [
        v.item() if isinstance(v, np.generic) else v for v in listed(labels, "labels", "labels")
    ]
    for i, value in enumerate(classes):
        if isinstance(value, str):
            label(value, f"labels[{i}]")
        elif not isinstance(value, int):
            raise InputTypeError(f"labels[{i}] must be a string or an integer, got {shown(value)}")
    if len(set(classes)) < len(classes):
        twice = next(value for i, value in enumerate(classes) if value in classes[:i])
        raise InputError(f"labels must be unique, but {shown(twice)} occurs twice")
    if len(classes) < 2:
        raise InputError(f"labels must contain all classes, at least 2, got {shown(classes)}")
    return tuple(classes)


def checked_pair(hypotheses: object, references: object, what: str) -> tuple[list[Any], list[Any]]:
    """Return predictions and gold values as lists of equal length."""
    check_same_index({"hypotheses": hypotheses, "references": references})
    if references is None:
        raise InputTypeError(f"references is None; pass {what}, one for each of the hypotheses")
    predicted = listed(hypotheses, "hypotheses", "predictions")
    gold = listed(references, "references", what)
    check_same_length(hypotheses=predicted, references=gold)
    if not predicted:
        raise InputError("hypotheses is empty; pass at least one segment")
    return predicted, gold


def codes_of(values: Iterable[Any], labels: Sequence[Label], name: str) -> NDArray[np.intp]:
    """Return the index of each value in `labels`, `(N,)`; 1, 1.0 and True are the same label."""
    place = {known: i for i, known in enumerate(labels)}
    codes = []
    for i, value in enumerate(values):
        try:
            codes.append(place[value])
        except (KeyError, TypeError):  # another label, or a list, say
            known = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
            raise InputError(
                f"{entry(name, i)} is {shown(value)}, which is not one of the {len(labels)} labels "
                f"{known}; add it to labels, or map it to one of them"
            ) from None
    return np.array(codes, dtype=np.intp)
