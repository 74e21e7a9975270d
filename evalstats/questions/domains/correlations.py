"""How strongly the scores of two systems on the same segments are correlated."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from evalstats.results.records import Difference


class Correlated:
    """What a comparison says of the correlation of its systems."""

    estimates: Any

    def correlation(self, difference: Difference) -> float | None:
        """Return the correlation ρ of both scores, se² = se_a² + se_b² - 2ρ·se_a·se_b.

        The higher it is, the more is gained by comparing systems on the same segments (Miller,
        2024, "Adding error bars to evals"). `None` where a score has no error.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 3.4]}
        >>> result = es.compare(scores, metrics=es.Mean("marks"))
        >>> print(f"{result.correlation(result[0]):.2f}")
        0.99
        """
        place = difference.task, difference.metric
        names = difference.baseline, difference.system
        return correlation_of(difference, *(self._errors.get((*place, x), 0.0) for x in names))

    @cached_property
    def _errors(self) -> dict[tuple[str, str, str], float]:
        """The standard error of each score."""
        return {(e.task, e.metric, e.system): e.standard_error for e in self.estimates}


def correlation_of(found: Difference, base_error: float, system_error: float) -> float | None:
    """Return the correlation of the errors of two scores from those of both and of the contrast.

    Of a ratio b/a the error is that of b - r·a over a, with r the ratio itself.
    """
    ratio: float = 1.0
    error: float = found.standard_error
    if found.contrast != "difference":
        ratio = found.system_score / found.baseline_score
        error *= found.baseline_score if found.contrast == "ratio" else found.system_score
    base = ratio * base_error
    if not (base > 0 and system_error > 0):
        return None
    # Of shares, since squares of large or small scores are no numbers.
    a, d = base / system_error, error / system_error
    return min(max((1 + a * a - d * d) / (2 * a), -1.0), 1.0)
