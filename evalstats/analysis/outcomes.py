"""Scores that are shares of segments (accuracy, pass rates): which segments succeed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.inference import intervals, proportions
from evalstats.metrics import Confusion, Mean, Ratio
from evalstats.statistics.segments import SegmentStatistics


@dataclass(frozen=True)
class Outcomes:
    """Which segments succeed, and what a share of 1 scores.

    Attributes
    ----------
    success : ndarray of bool, shape (S, N)
    scale : float
        The score is scale times the share.
    of_ratios : bool
        Whether pairs are compared by the logarithm of the ratio of their scores.
    """

    success: NDArray[np.bool_]
    scale: float
    of_ratios: bool = False

    def changes(self, a: int, b: int) -> tuple[int, int]:
        """Count the segments that system b gains against a, and those that it loses."""
        first, second = self.success[[a, b]]
        return int(np.count_nonzero(second & ~first)), int(np.count_nonzero(first & ~second))

    def interval(
        self, pair: tuple[int, ...], confidence_level: float, effect: float = 1.0
    ) -> intervals.Bounds:
        """Return Wilson's interval of a system's score, or Tango's of a difference.

        Of a log ratio that of Nam and Blackwelder.

        With a design effect other than 1, that of as many segments as N are worth (Korn and
        Graubard, 1998; Dean and Pagano, 2015).
        """
        n = self.success.shape[1] / effect
        if len(pair) == 1:
            successes = int(self.success[pair[0]].sum()) / effect
            bounds = proportions.wilson(successes, n, confidence_level)
        elif self.of_ratios:
            gained, lost = self.changes(*pair)
            both = int(np.count_nonzero(self.success[pair[1]])) - gained
            counts = (both / effect, gained / effect, lost / effect)
            low, high = proportions.ratio_interval(*counts, confidence_level)
            return np.log(low), np.log(high)
        else:
            gained, lost = self.changes(*pair)
            bounds = proportions.tango(gained / effect, lost / effect, n, confidence_level)
        return np.array(self.scale * bounds[0]), np.array(self.scale * bounds[1])


def as_outcomes(table: SegmentStatistics) -> Outcomes | None:
    """Return the outcomes where every segment counts once and scores 0 or 1; else `None`."""
    metric = table.metric
    columns, scale = (0, 1), 1.0
    is_accuracy = type(metric) is Confusion and metric.measure == "accuracy"
    if type(metric) is Ratio:
        above, below = np.array(metric.numerator), np.array(metric.denominator)
        if np.count_nonzero(above) != 1 or np.count_nonzero(below) != 1:
            return None
        columns = int(above.argmax()), int(below.argmax())
        scale = metric.scale * float(above.max() / below.max())
    elif type(metric) is not Mean and not is_accuracy:
        return None
    marks, counts = table.values[..., columns[0]], table.values[..., columns[1]]
    if scale <= 0 or not np.all(counts == 1) or not np.all((marks == 0) | (marks == 1)):
        return None
    return Outcomes(marks.astype(np.bool_), scale)
