"""Agreement of raters beyond chance: weighted kappa, Gwet's AC1, Krippendorff's alpha."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, combinations_with_replacement
from types import NoneType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_scores, check_same_length, choice, flag, is_missing, listed
from evalstats.errors import InputError
from evalstats.metrics.base import Floats, Metric, keep, signature_of
from evalstats.metrics.confusion import Label, as_labels, checked_pair, codes_of
from evalstats.metrics.ratios import ratio

#: Measures by name, with their names in tables.
RATERS_MEASURES = {
    "kappa": "kappa",
    "linear-kappa": "linear kappa",
    "quadratic-kappa": "quadratic kappa",
    "ac1": "AC1",
    "alpha": "alpha",
    "ordinal-alpha": "ordinal alpha",
    "interval-alpha": "interval alpha",
}
#: A variance below this share of the mean square is lost in rounding.
_LEAST_SPREAD = 1e-8
#: A variance below this share is treated as 0.
_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Agreement(Metric):
    r"""Agreement of raters beyond chance; 1 if they always agree.

    - ``"kappa"``, ``"linear-kappa"``, ``"quadratic-kappa"``: :math:`1 - N \sum d / \sum_{kl} w_{kl}
      A_k B_l` of two raters, with :math:`w_{kl}` 1 for different labels, :math:`|k - l|` or
      :math:`(k - l)^2` by their places in `labels`, d the weight of the two labels of an item, and
      :math:`A_k`, :math:`B_l` how often each rater gives a label (Cohen, 1960 and 1968);
    - ``"ac1"``: :math:`(p - e) / (1 - e)` with p the mean share of the pairs of ratings of an item
      that agree, :math:`e = \sum_k \pi_k (1 - \pi_k) / (K - 1)`, and :math:`\pi_k` the mean share
      of the ratings of an item that are k (Gwet, 2008);
    - ``"alpha"``, ``"ordinal-alpha"``, ``"interval-alpha"``: :math:`1 - (n - 1) \sum_{ck} o_{ck}
      \delta_{ck} / \sum_{ck} n_c n_k \delta_{ck}`, with coincidences :math:`o_{ck}` of n ratings of
      items with m, at least 2, each pair of an item counting :math:`1/(m - 1)`, and
      :math:`\delta_{ck}` 1 for different labels, the square of how many ratings lie between them
      (half of those at both ends included), or :math:`(c - k)^2` of numbers (Krippendorff, 2011).

    The score is 0 if it is undefined, for example if all ratings are the same. The kappas are for
    two raters. AC1 and alpha are for two or more raters, who may leave items out.

    Parameters
    ----------
    labels : sequence of str or int, optional
        All K labels, at least 2, in order. Leave it out for ``"interval-alpha"``, whose ratings are
        numbers.
    measure : str
        One of the names above.
    ratings : bool
        If True, an item is a row of ratings, one per rater, with `None` for an absent rating, and
        there are no references. Otherwise one rater's ratings are the outputs, and the other
        rater's are the references.

    Raises
    ------
    InputError
        For repeated or missing labels and an unknown measure; `statistics` raises it for unknown
        ratings and rows of different lengths.

    Examples
    --------
    >>> kappa = Agreement(["bad", "fair", "good"], "quadratic-kappa")
    >>> rows = kappa.statistics(["good", "bad", "fair", "bad"], ["good", "fair", "fair", "bad"])
    >>> print(kappa.score(rows.sum(axis=0)).round(4))
    0.8
    >>> alpha = Agreement(measure="interval-alpha", ratings=True)
    >>> rows = alpha.statistics([[1, 2, None], [3, 3, 3], [5, None, 4], [None, 2, None]])
    >>> print(alpha.score(rows.sum(axis=0)).round(4))
    0.8286
    """

    labels: tuple[Label, ...] | None = None
    measure: str = field(default="alpha", metadata={"choices": tuple(RATERS_MEASURES)})
    ratings: bool = False

    reads_text: ClassVar[bool] = False
    scores_units: ClassVar[bool] = False
    doubt: ClassVar[str] = (
        "all ratings are the same, so agreement beyond chance is not defined and is shown as 0. "
        "The share of ratings that agree is 1"
    )

    def __post_init__(self) -> None:
        measure = choice(self.measure, tuple(RATERS_MEASURES), "measure")
        ratings = flag(self.ratings, "ratings")
        numbers = measure == "interval-alpha"
        if numbers != (self.labels is None):
            raise InputError(
                "must be left out, because ratings for 'interval-alpha' are numbers"
                if numbers
                else f"must list all labels for measure {measure!r}, got None",
                argument="labels",
            )
        if ratings and measure.endswith("kappa"):
            raise InputError(
                f"ratings=True cannot be used with {measure!r}, which compares two raters. Pass "
                "one rater as outputs and the other as references, or use 'ac1' or 'alpha'."
            )
        labels = None if self.labels is None else as_labels(self.labels)
        keep(
            self,
            labels=labels,
            measure=measure,
            ratings=ratings,
            name=RATERS_MEASURES[measure],
            columns=_columns(measure, labels or ()),
            entry_depth=int(ratings),
            uses_references=not ratings,
        )

    @property
    def signature(self) -> str:
        """The measure, the number of labels, and the form of the ratings."""
        labels = {} if self.labels is None else {"labels": len(self.labels)}
        rows = {"ratings": True} if self.ratings else {}
        return signature_of(agreement=self.measure, **labels, **rows)

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, k)`, the `columns` of each of N items."""
        if self.ratings:
            rows = _rows(hypotheses)
        else:
            first, second = checked_pair(hypotheses, references, "ratings of the other rater")
            if self.labels is None:
                first = as_scores(first, "hypotheses").tolist()
                second = as_scores(second, "references").tolist()
            rows = [list(pair) for pair in zip(first, second, strict=True)]
        if self.labels is None:
            return _interval_columns(rows)
        codes = self._codes(rows)
        n_labels = len(self.labels)
        if self.measure.endswith("kappa"):
            pairs = np.eye(n_labels)[codes]
            apart = self._weights[codes[:, 0], codes[:, 1]]
            return np.column_stack([apart, pairs[:, 0], pairs[:, 1]])
        marks = codes[:, :, None] == np.arange(n_labels)
        counts = np.asarray(np.sum(marks, axis=1, dtype=np.float64))
        return _count_columns(self.measure, counts)

    def _codes(self, rows: list[list[Any]]) -> NDArray[np.intp]:
        """Return the index of each rating in `labels`, -1 if there is none, `(N, R)`."""
        assert self.labels is not None
        if not self.ratings:
            sides = zip(("hypotheses", "references"), zip(*rows, strict=True), strict=True)
            return np.stack([codes_of(side, self.labels, name) for name, side in sides], axis=-1)
        gone = np.array([[is_missing(rating) for rating in row] for row in rows])
        filled = [
            codes_of([self.labels[0] if is_missing(v) else v for v in row], self.labels, name)
            for name, row in ((f"hypotheses[{i}]", row) for i, row in enumerate(rows))
        ]
        return np.where(gone, -1, np.stack(filled))

    @property
    def _weights(self) -> Floats:
        """Distances between labels for kappa, `(K, K)`."""
        assert self.labels is not None
        places = np.arange(len(self.labels))
        apart = np.abs(np.subtract.outer(places, places))
        power = {"kappa": 0, "linear-kappa": 1, "quadratic-kappa": 2}[self.measure]
        return np.where(apart > 0, apart.astype(np.float64) ** power, 0.0)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse negative statistics, except sums of numbers."""
        checked = [0, 1, 3] if self.labels is None else slice(None)
        self._refuse(np.any(statistics[..., checked] < 0, axis=-1), "is negative, but counts")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the agreement, `(..., k) -> (...)`; 0 if undefined."""
        sums = np.ascontiguousarray(totals, dtype=np.float64)
        if self.measure == "ac1":
            agreed, shares = ratio(sums[..., 0], sums[..., 1], 0.0), sums[..., 2:]
            items = np.sum(shares, axis=-1, keepdims=True)
            shares = ratio(shares, np.broadcast_to(items, shares.shape), 0.0)
            by_chance = np.sum(shares * (1 - shares), axis=-1) / (shares.shape[-1] - 1)
            return np.where(sums[..., 1] > 0, (agreed - by_chance) / (1 - by_chance), 0.0)
        observed, expected = self._sides(sums)
        return np.where(expected > 0, 1 - ratio(observed, expected, 0.0), 0.0)

    def _sides(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the observed disagreement and the one expected by chance, `(..., k) -> (...)`.

        The second is 0 if all ratings are the same.
        """
        if self.labels is None:
            apart, n, linear, square = (sums[..., j] for j in range(4))
            spread = n * square - linear**2
            # Rounding does not count as spread.
            spread = np.where(spread > _NO_SPREAD * n * square, spread, 0.0)
            return (n - 1) * apart, 2 * spread
        n_labels = len(self.labels)
        if self.measure.endswith("kappa"):
            first, second = sums[..., 1 : 1 + n_labels], sums[..., 1 + n_labels :]
            products = first[..., :, None] * second[..., None, :] * self._weights
            expected = np.sum(products.reshape(*first.shape[:-1], -1), axis=-1)
            return sums[..., 0] * np.sum(first, axis=-1), expected
        if self.measure == "alpha":
            counts, apart = sums[..., 1:], sums[..., 0]
            n = np.sum(counts, axis=-1)
            return (n - 1) * apart, n**2 - np.sum(counts**2, axis=-1)
        return _ordinal_sums(sums, n_labels)

    def doubtful(self, totals: Floats) -> NDArray[np.bool_]:
        """Return the systems with equal ratings only, `(S, k) -> (S,)`; their AC1 is 1."""
        if self.measure == "ac1":
            return np.zeros(len(totals), dtype=np.bool_)
        return np.asarray(self._sides(totals)[1] <= 0)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient by central differences, `(..., k) -> (..., k)`; 0 without items."""
        there = np.any(np.asarray(totals) != 0, axis=-1, keepdims=True)
        return np.where(there, super().gradient(totals), 0.0)


def ratings_by_item(items: object, raters: object, ratings: object) -> list[list[Any]]:
    """Return a row of ratings for each item, from a table with one rating per line.

    Pass the result to `Agreement(labels, "alpha", ratings=True)`.

    Parameters
    ----------
    items, raters : sequence
        The item and the rater of each of L lines.
    ratings : sequence
        The ratings; any values, `None` for an absent one.

    Returns
    -------
    list of list
        N rows of R ratings, `None` if a rater did not rate an item; items and raters are in order
        of first occurrence.

    Raises
    ------
    InputError
        For columns of different lengths, and for two ratings of one item by one rater.

    Examples
    --------
    >>> ratings_by_item(["a", "a", "b", "b"], ["Ann", "Bo", "Bo", "Cy"], [1, 2, 2, 3])
    [[1, 2, None], [None, 2, 3]]
    """
    items, raters, values = (
        listed(column, name, "one value per line")
        for column, name in ((items, "items"), (raters, "raters"), (ratings, "ratings"))
    )
    check_same_length(items=items, raters=raters, ratings=values)
    if not items:
        raise InputError("is empty; pass at least one line", argument="items")
    place = {rater: j for j, rater in enumerate(dict.fromkeys(raters))}
    rows: dict[Any, list[Any]] = {}
    seen = set()
    for line, (item, rater, value) in enumerate(zip(items, raters, values, strict=True)):
        if (item, rater) in seen:
            raise InputError(
                f"ratings[{line}] is a second rating of item {item!r} by rater {rater!r}; keep one"
            )
        seen.add((item, rater))
        rows.setdefault(item, [None] * len(place))[place[rater]] = value
    return list(rows.values())


def _rows(ratings: object) -> list[list[Any]]:
    """Return rows of ratings of equal length, one per item."""
    rows = [
        row if type(row) is list else listed(row, f"hypotheses[{i}]", "ratings")
        for i, row in enumerate(listed(ratings, "hypotheses", "rows of ratings"))
    ]
    if not rows:
        raise InputError("hypotheses is empty; pass at least one item")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]) or len(row) < 2:
            raise InputError(
                "hypotheses must have one rating per rater and item (None if it is missing) "
                f"from at least 2 raters, but hypotheses[{i}] has {len(row)} and hypotheses[0] "
                f"has {len(rows[0])}"
            )
    if all(sum(not is_missing(rating) for rating in row) < 2 for row in rows):
        raise InputError("hypotheses has no item with two ratings, so agreement cannot be measured")
    return rows


def _columns(measure: str, labels: tuple[Label, ...]) -> tuple[str, ...]:
    """Return the names of the statistics of a measure."""
    if measure == "interval-alpha":
        return ("disagreement", "ratings", "sum", "squares")
    if measure == "ordinal-alpha":
        pairs = combinations_with_replacement(labels, 2)
        return tuple(f"{first} with {second}" for first, second in pairs)
    if measure.endswith("kappa"):
        return ("disagreement", *(f"{who} {k}" for who in ("first", "second") for k in labels))
    if measure == "ac1":
        return ("agreement", "compared", *(f"share {k}" for k in labels))
    return ("disagreement", *(f"ratings {k}" for k in labels))


def _count_columns(measure: str, counts: Floats) -> Floats:
    """Return the statistics of N items, from counts of K labels, `(N, K)`."""
    n_ratings = np.sum(counts, axis=1, keepdims=True)
    others = np.maximum(n_ratings - 1, 1)
    several = n_ratings > 1
    if measure == "ac1":
        pairs = np.sum(counts * (counts - 1), axis=1, keepdims=True)
        agree = pairs / np.maximum(n_ratings * others, 1)
        return np.hstack([agree, several, counts / np.maximum(n_ratings, 1)])
    # An item with a single rating does not count.
    counts = np.where(several, counts, 0)
    if measure == "alpha":
        apart = np.sum(counts * (n_ratings - counts), axis=1, keepdims=True) / others
        return np.hstack([apart, counts])
    places = combinations_with_replacement(range(counts.shape[1]), 2)
    return np.stack(
        [
            (counts[:, c] * (counts[:, c] - 1) if c == k else 2 * counts[:, c] * counts[:, k])
            / others[:, 0]
            for c, k in places
        ],
        axis=-1,
    )


def _array_of(rows: list[list[Any]]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return N rows of numbers as one array, and a mask of missing numbers."""
    if set(map(type, chain.from_iterable(rows))) <= {int, float, NoneType}:
        with suppress(OverflowError):
            values = np.array(rows, dtype=np.float64)
            if not np.any(np.isinf(values)):
                return np.nan_to_num(values), np.isnan(values)
    # Row by row, so that an error can name the row.
    gone = np.array([[is_missing(v) for v in row] for row in rows])
    filled = [[0.0 if is_missing(v) else v for v in row] for row in rows]
    return np.stack([as_scores(row, f"hypotheses[{i}]") for i, row in enumerate(filled)]), gone


def _interval_columns(rows: list[list[Any]]) -> Floats:
    """Return the statistics of N rows of numbers."""
    values, gone = _array_of(rows)
    there = ~gone & (np.sum(~gone, axis=1, keepdims=True) > 1)
    used = values[there]
    spread, mean = (float(np.var(used)), float(np.mean(used))) if used.size else (0.0, 0.0)
    if spread > 0 and spread < _LEAST_SPREAD * mean**2:
        raise InputError(
            f"hypotheses have mean {mean:g} and standard deviation {np.sqrt(spread):g}, which is "
            f"too small for sums of squares. Subtract {mean:g} from all ratings, which does not "
            "change alpha."
        )
    values = np.where(there, values, 0.0)
    n = np.sum(there, axis=1, dtype=np.float64)
    # The mean of an item's ratings is subtracted first, since its square would hide them.
    means = np.sum(values, axis=1) / np.maximum(n, 1)
    apart = np.where(there, values - means[:, None], 0.0)
    squares = 2 * n * np.sum(apart**2, axis=1) / np.maximum(n - 1, 1)
    return np.stack([squares, n, np.sum(values, axis=1), np.sum(values**2, axis=1)], axis=-1)


def _ordinal_sums(sums: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """Return the observed and the expected side of alpha of ranks, `(..., K (K + 1) / 2)`."""
    places = list(combinations_with_replacement(range(n_labels), 2))
    counts = np.zeros((*sums.shape[:-1], n_labels))
    for j, (c, k) in enumerate(places):
        half = sums[..., j] / 2
        counts[..., c] += half
        counts[..., k] += half
    up_to = np.cumsum(counts, axis=-1)
    # Ratings below a label, plus half of the ratings with it, so that differences are differences
    # of ranks.
    middle = up_to - counts / 2
    n = up_to[..., -1]
    observed, expected = np.zeros_like(n), np.zeros_like(n)
    for j, (c, k) in enumerate(places):
        apart = (middle[..., k] - middle[..., c]) ** 2
        observed += sums[..., j] * apart
        expected += 2 * counts[..., c] * counts[..., k] * apart
    return (n - 1) * observed, expected
