"""Predicted numbers against gold numbers: Pearson's correlation and RMSE.

For the mean absolute error, use `Mean` with the absolute errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_scores, real
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, keep, signature_of
from evalstats.metrics.confusion import checked_pair
from evalstats.metrics.ratios import Quotient, ratio, root_ratio, root_ratio_gradient

#: A variance below this share of the mean square is lost in rounding.
_LEAST_SPREAD = 1e-8
#: A variance below this share is treated as 0.
_NO_SPREAD = 1e-12


def _numbers(hypotheses: object, references: object) -> tuple[Floats, Floats]:
    """Return predicted and gold numbers, (N,) each."""
    predicted, gold = checked_pair(hypotheses, references, "gold numbers")
    return as_scores(predicted, "hypotheses"), as_scores(gold, "references")


@dataclass(frozen=True)
class Correlation(Metric):
    r"""Pearson's correlation of predicted and gold numbers, from their sums.

    .. math:: \frac{n \sum xy - \sum x \sum y}
              {\sqrt{n \sum x^2 - (\sum x)^2} \sqrt{n \sum y^2 - (\sum y)^2}}

    (Pearson, 1895); 0 if all predicted or all gold numbers are equal, which can happen in a
    resample.

    Parameters
    ----------
    kind : {"pearson"}
        Which correlation.
    centre : pair of float
        Numbers to subtract from predicted and gold numbers first. The score stays the same; use it
        if numbers are large and vary little, to keep precision.

    Raises
    ------
    InputError
        For another kind; `statistics` raises it if a variance is lost in rounding.

    Examples
    --------
    >>> pearson = Correlation()
    >>> rows = pearson.statistics([0.1, 0.4, 0.35, 0.8], [1, 2, 3, 4])
    >>> print(pearson.score(rows.sum(axis=0)).round(4))
    0.9134
    """

    kind: str = "pearson"
    centre: tuple[float, float] = (0.0, 0.0)

    name = "Pearson's r"
    columns = ("count", "x", "y", "x²", "y²", "xy")
    reads_text: ClassVar[bool] = False
    scores_units: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.kind != "pearson":
            raise InputError(
                f"kind must be 'pearson', got {self.kind!r}. Only Pearson's correlation is a "
                "function of sums over segments; ranks depend on all other segments."
            )
        if not isinstance(self.centre, (tuple, list)) or len(self.centre) != 2:
            raise InputTypeError(f"centre must be two numbers, got {self.centre!r}")
        # Files hold lists.
        keep(self, centre=tuple(real(c, "centre", -np.inf) for c in self.centre))

    @property
    def signature(self) -> str:
        """The kind of correlation, and the numbers subtracted first."""
        centre = {"centre": "{:g},{:g}".format(*self.centre)} if any(self.centre) else {}
        return signature_of(correlation=self.kind, **centre)

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 6)`, the products of 1, x and y, of N predicted (x) and gold (y) numbers."""
        both = _numbers(hypotheses, references)
        names = ("hypotheses", "references")
        for numbers, centre, name in zip(both, self.centre, names, strict=True):
            spread, mean = float(np.var(numbers)), float(np.mean(numbers))
            if np.ptp(numbers) > 0 and spread < _LEAST_SPREAD * (mean - centre) ** 2:
                raise InputError(
                    f"{name} have mean {mean:g} and standard deviation {np.sqrt(spread):g}, "
                    f"which is too small for sums of squares; pass centre=({np.mean(both[0]):g}, "
                    f"{np.mean(both[1]):g}), the same for all systems"
                )
        x, y = (numbers - c for numbers, c in zip(both, self.centre, strict=True))
        return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse squares, or a number of segments, below 0."""
        self._refuse(np.any(statistics[..., [0, 3, 4]] < 0, axis=-1), "has a negative square")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the correlation, `(..., 6) -> (...)`, in [-1, 1]."""
        return np.clip(root_ratio(*self._moments(totals)), -1.0, 1.0)

    def _moments(self, totals: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return n² times the covariance, and n² times the variances (0 for rounding)."""
        n, x, y, xx, yy, xy = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        first, second = (
            np.where(spread > _NO_SPREAD * n * square, spread, 0.0)
            for spread, square in ((n * xx - x**2, xx), (n * yy - y**2, yy))
        )
        return n * xy - x * y, first, second

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the correlation, `(..., 6) -> (..., 6)`; 0 without spread."""
        n, x, y, xx, yy, xy = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        nothing = np.zeros_like(n)
        by_covariance = np.stack([xy, -y, -x, nothing, nothing, n], axis=-1)
        by_first = np.stack([xx, -2 * x, nothing, n, nothing, nothing], axis=-1)
        by_second = np.stack([yy, nothing, -2 * y, nothing, n, nothing], axis=-1)
        return root_ratio_gradient(self._moments(totals), (by_covariance, by_first, by_second))


@dataclass(frozen=True)
class RMSE(Quotient):
    r"""Root mean squared error of predicted numbers, :math:`\sqrt{\sum (x - y)^2 / n}`.

    Examples
    --------
    >>> rmse = RMSE()
    >>> print(rmse.score(rmse.statistics([2.5, 0, 2, 8], [3, -0.5, 2, 7]).sum(axis=0)).round(4))
    0.6124
    """

    name = "RMSE"
    columns = ("squared error", "count")
    unsigned = "squares are not"
    signature = "rmse"
    higher_is_better = False

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return `(N, 2)`, squared error and 1, of N predicted and N gold numbers."""
        predicted, gold = _numbers(hypotheses, references)
        return np.stack([(predicted - gold) ** 2, np.ones_like(gold)], axis=-1)

    def score(self, totals: ArrayLike) -> Floats:
        """Return the root of the mean, `(..., 2) -> (...)`; 0 for no segments."""
        return np.sqrt(super().score(totals))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient, `(..., 2) -> (..., 2)`; 0 without errors."""
        twice = 2 * self.score(totals)
        return ratio(np.ones_like(twice), twice, 0.0)[..., None] * super().gradient(totals)
