"""Scores of classification: F1, precision, recall, IoU, accuracy, kappa, MCC.

All of them are functions of three sums a class: how often it is gold, predicted, or both. Pairs of
predicted and gold values, and the places of class labels, are checked here for other metrics too.
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
    flag,
    label,
    listed,
    refuse_masked,
    shown,
)
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, keep, signature_of
from evalstats.metrics.ratios import ratio, ratio_gradient, root_ratio, root_ratio_gradient

#: Names and numbers; a file can hold them.
Label = str | int

#: Rates of a class are its hits over a sum with these coefficients of hits, predicted and gold.
#: F1 is the share of hits among half of what is predicted and gold together.
RATES: dict[str, tuple[float, float, float]] = {
    "f1": (0.0, 0.5, 0.5),
    "precision": (0.0, 1.0, 0.0),
    "recall": (0.0, 0.0, 1.0),
    "iou": (-1.0, 1.0, 1.0),
}
_AVERAGES = ("macro", "micro", "weighted")
#: Measures of single labels only: what two labels at once agree on by chance is not defined.
_SINGLE = ("balanced-accuracy", "kappa", "mcc")
MEASURES = ("accuracy", *_SINGLE, *RATES, *(f"{a}-{r}" for a, r in product(_AVERAGES, RATES)))
_TITLES = {"mcc": "MCC", "balanced-accuracy": "balanced accuracy", "macro-iou": "mIoU"}
#: The share of squared sums below which their difference is rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Confusion(Metric):
    r"""A score of predicted class labels: macro-, micro- or weighted F1, kappa, MCC and others.

    With :math:`n_k` items that have class k both predicted and gold, :math:`P_k` with it predicted,
    :math:`T_k` with it gold, and N items:

    - ``"f1"``: :math:`2 n_k / (P_k + T_k)` of the class `positive`; so too ``"precision"``,
      :math:`n_k / P_k`, ``"recall"``, :math:`n_k / T_k`, and ``"iou"``,
      :math:`n_k / (P_k + T_k - n_k)`;
    - ``"macro-f1"`` and so on: the mean over classes (``"miou"`` is ``"macro-iou"``);
      ``"weighted-f1"`` and so on: that with weights :math:`T_k / N`; ``"micro-f1"`` and so on: the
      rate of the sums of all classes;
    - ``"accuracy"``: :math:`\sum_k n_k / N`; of label sets, the share that is right in full;
    - ``"balanced-accuracy"``: the mean recall of the classes that are gold;
    - ``"kappa"``: :math:`(N \sum n_k - \sum P_k T_k) / (N^2 - \sum P_k T_k)` (Cohen, 1960);
    - ``"mcc"``: :math:`(N \sum n_k - \sum P_k T_k) /
      \sqrt{(N^2 - \sum P_k^2) (N^2 - \sum T_k^2)}` (Matthews, 1975; Gorodkin, 2004).

    Numbers are scikit-learn's with ``labels=labels, zero_division=0``: 0/0 is 0.

    Parameters
    ----------
    labels : sequence of str or int
        All K classes, at least 2: those that are gold, and those that are predicted.
    measure : str
        One of these.
    positive : str or int, optional
        Which class the four rates without average are of; by default 1 where it is a label.
    multilabel : bool
        Whether an item has any number of labels: a list or set of them, predicted and gold.
    matrices : bool
        Whether an item is a confusion matrix `(K, K)` of counts, gold classes in rows, and there
        are no references: an image whose pixels were counted, say.
    absent : {"zero", "omit"}
        What a class that is neither gold nor predicted counts in a macro-average: 0, or not at all
        (scikit-learn without `labels`).

    Labels that repeat and an unknown measure or class raise an `InputError`; in `statistics` so do
    items with other labels.

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
            raise InputError("multilabel and matrices cannot both be True; items are one of them")
        if self.multilabel and measure in _SINGLE:
            raise InputError(
                f"measure {measure!r} is of items with one label each, got multilabel=True; use "
                f"a macro, micro or weighted rate"
            )
        positive = self.positive.item() if isinstance(self.positive, np.generic) else self.positive
        if measure in RATES:
            positive = 1 if positive is None and 1 in labels else positive
            if positive not in labels:
                raise InputError(
                    f"positive must be one of the labels for measure {measure!r}, got "
                    f"{self.positive!r}; say which class counts, or take 'macro-{measure}'"
                )
        elif positive is not None:
            raise InputError(
                f"positive must be left out for measure {measure!r}, which is of all classes"
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
        """Identity: the measure, the number of classes, and how items and classes count."""
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
        """Return what the measure needs of hits, predicted and gold `(N, K)`, correct and items."""
        if self.measure == "accuracy":
            return np.stack(parts[3:], axis=-1).astype(np.int64)
        found = np.stack(parts[:3], axis=-1)
        if self.measure in RATES:
            found = found[:, [self.labels.index(self.positive)]]
        elif self.measure.startswith("micro"):
            found = np.asarray(np.sum(found, axis=1, keepdims=True, dtype=np.int64))
        return found.reshape(len(found), -1).astype(np.int64)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse more hits than predictions or gold labels."""
        super().check_statistics(statistics)
        step = 2 if self.measure == "accuracy" else 3
        parts = statistics.reshape(*statistics.shape[:-1], -1, step)
        more = np.any(parts[..., :1] > parts[..., 1:], axis=(-2, -1))
        self._refuse(more, "has more right than there are")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the score, `(..., columns) -> (...)`; 0 where nothing defines it."""
        sums, parts = self._parts(totals)
        if self.measure == "accuracy":
            return ratio(sums[..., 0], sums[..., 1], 0.0)
        if self.measure in ("kappa", "mcc"):
            return root_ratio(*_beyond_chance(parts, self.measure == "mcc"))
        average, rate = self._rate
        weights = _weights(parts, average, self.absent == "omit")
        return np.asarray(np.sum(weights * _rates(parts, rate), axis=-1))

    def outcome_columns(self) -> tuple[int, int, float] | None:
        """Return the columns of right labels and of all, for the accuracy."""
        is_share = type(self) is Confusion and self.measure == "accuracy"
        return (0, 1, 1.0) if is_share else None

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, of the shape of ``totals``; 0 where it is undefined."""
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
        """How classes are averaged, and which rate of theirs."""
        average, _, rate = self.measure.rpartition("-")
        return average, "recall" if average == "balanced" else rate

    def _parts(self, totals: ArrayLike) -> tuple[Floats, Floats]:
        """Return totals, and those of classes by class, `(..., K, 3)`."""
        sums = np.ascontiguousarray(totals, dtype=np.float64)
        if self.measure == "accuracy":
            return sums, sums
        return sums, sums.reshape(*sums.shape[:-1], -1, 3)


def _members_of(rows: Sequence[Any], labels: Sequence[Label], name: str) -> NDArray[np.bool_]:
    """Return which labels each row, a collection of labels, has: `(N, K)`."""
    held = [
        list(row) if isinstance(row, (set, frozenset)) else listed(row, f"{name}[{i}]", "labels")
        for i, row in enumerate(rows)
    ]
    found = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    for i, row in enumerate(held):
        found[i, codes_of(row, labels, f"{name}[{i}]")] = True
        if np.count_nonzero(found[i]) < len(row):
            raise InputError(f"{name}[{i}] has a label twice: {shown(row)}; name each label once")
    return found


def _counts_of(matrices: object, n_labels: int) -> Sequence[NDArray[Any]]:
    """Return hits, predicted and gold `(N, K)`, correct and items `(N,)`, of matrices of counts."""
    refuse_masked(matrices, "hypotheses")
    try:
        array = np.asarray(matrices)
    except ValueError:  # rows of several lengths
        array = np.empty(0, dtype=object)
    expected = f"(N, {n_labels}, {n_labels}), one confusion matrix of counts an item"
    if array.dtype.kind not in "iuf" or array.ndim != 3 or array.shape[1:] != (n_labels,) * 2:
        raise InputError(
            f"hypotheses must have shape {expected}, got {array.dtype} values of shape "
            f"{array.shape}"
        )
    if not len(array):
        raise InputError("hypotheses is empty; give at least one segment")
    # Narrow numbers of counts, as pixels of a large image, cannot hold their sums.
    array = array.astype(np.float64) if array.dtype.kind == "f" else array
    countable = (array >= 0) & (array == np.rint(array)) & (array < np.float64(2**53))
    for place in np.argwhere(~countable)[:1].tolist():
        raise InputError(f"hypotheses{place} is {array[tuple(place)]}; counts are 0, 1, 2, ...")
    array = array.astype(np.int64)
    hits = np.diagonal(array, axis1=1, axis2=2)
    return hits, array.sum(axis=1), array.sum(axis=2), hits.sum(axis=1), array.sum(axis=(1, 2))


# Functions of sums `(..., K, 3)`: the items that each class is hit in, is predicted, is gold.


def _sizes(parts: Floats, rate: str) -> Floats:
    """Return how many items a rate of each class is a share of, `(..., K)`."""
    return np.asarray(sum(c * parts[..., j] for j, c in enumerate(RATES[rate])))


def _rates(parts: Floats, rate: str) -> Floats:
    """Return a rate of each class, `(..., K)`; 0 of no items."""
    return ratio(parts[..., 0], _sizes(parts, rate), 0.0)


def _weights(parts: Floats, average: str, omit: bool) -> Floats:
    """Return the weights of classes in an average, `(..., K)`.

    With `omit`, a class that is nowhere has none in a macro-average; in a balanced one no class
    has that is not gold.
    """
    gold = parts[..., 2]
    if average == "weighted":
        return ratio(gold, np.sum(gold, axis=-1, keepdims=True), 0.0)
    counting = gold if average == "balanced" else parts[..., 1] + gold
    counts = (counting > 0) | (average != "balanced" and not omit)
    return np.asarray(counts / np.maximum(np.sum(counts, axis=-1, keepdims=True), 1))


def _beyond_chance(parts: Floats, correlation: bool) -> tuple[Floats, Floats, Floats]:
    """Return agreement beyond chance, and the two factors whose root it is divided by, `(...)`.

    The quotient is kappa (Cohen, 1960) or MCC (Gorodkin, 2004). One class only, predicted or gold,
    leaves nothing to agree on or to correlate: a factor is 0.
    """
    hits, predicted, gold = (parts[..., j] for j in range(3))
    items, right, chance = (np.sum(x, axis=-1) for x in (gold, hits, predicted * gold))
    if not correlation:
        side = items**2 - chance
        return items * right - chance, side, side
    # Weights that are no whole numbers leave a rounding error where there is one class.
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
    found = [
        v.item() if isinstance(v, np.generic) else v for v in listed(labels, "labels", "labels")
    ]
    for i, value in enumerate(found):
        if isinstance(value, str):
            label(value, f"labels[{i}]")
        elif not isinstance(value, int):
            raise InputTypeError(f"labels[{i}] must be a string or an integer, got {shown(value)}")
    if len(set(found)) < len(found):
        twice = next(value for i, value in enumerate(found) if value in found[:i])
        raise InputError(f"labels must differ, got {shown(twice)} twice")
    if len(found) < 2:
        raise InputError(f"labels must be all classes, at least 2, got {shown(found)}")
    return tuple(found)


def checked_pair(hypotheses: object, references: object, what: str) -> tuple[list[Any], list[Any]]:
    """Return predictions and gold values as lists of one length, or say what does not fit."""
    check_same_index({"hypotheses": hypotheses, "references": references})
    if references is None:
        raise InputTypeError(f"references is None; give {what}, one for each of the hypotheses")
    predicted = listed(hypotheses, "hypotheses", "predictions")
    gold = listed(references, "references", what)
    check_same_length(hypotheses=predicted, references=gold)
    if not predicted:
        raise InputError("hypotheses is empty; give at least one segment")
    return predicted, gold


def codes_of(values: Iterable[Any], labels: Sequence[Label], name: str) -> NDArray[np.intp]:
    """Return the place in `labels` of each value, `(N,)`; 1, 1.0 and True are the same label."""
    place = {known: i for i, known in enumerate(labels)}
    codes = []
    for i, value in enumerate(values):
        try:
            codes.append(place[value])
        except (KeyError, TypeError):  # another label, or a list, say
            known = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
            raise InputError(
                f"{name}[{i}] is {shown(value)}, which is none of the {len(labels)} labels "
                f"{known}; add it to labels, or map it to one of them"
            ) from None
    return np.array(codes, dtype=np.intp)
