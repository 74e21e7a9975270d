"""What is made of the scores of strata, or of tasks: one score of all, a mean, a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import real
from evalstats.errors import Argument, InputError
from evalstats.inference.student import unit_of

Floats = NDArray[np.float64]
Aggregated: TypeAlias = (
    "str | Mapping[Any, float] | Callable[[Floats], Any] | tuple[NamedTotal, ...]"
)

AGGREGATES = ("micro", "macro")
#: Of central differences, as a share of the largest score.
_STEP = 2.0**-20


@dataclass(frozen=True)
class NamedTotal:
    """A total over some tasks of a suite under one metric, such as that of a group of a harness."""

    name: str
    metric: str
    tasks: tuple[str, ...]
    aggregate: str | Mapping[str, float]  # "micro", "macro" or weights of its tasks


@dataclass(frozen=True)
class Aggregate:
    """A function of the scores of T strata, `(..., T) -> (...)`."""

    label: str = "micro"  # or "macro", "weighted", the name of a function
    weights: tuple[float, ...] = ()  # summing to 1; none of a function, or of one stratum
    function: Callable[[Floats], Any] | None = None

    @property
    def tag(self) -> str | None:
        """What is added to a metric's signature."""
        if self.label == "micro":
            return None
        if self.function is not None:
            return f"aggregate:function {self.label}"
        weights = ",".join(f"{weight:.4g}" for weight in self.weights)
        return f"aggregate:{weights if self.label == 'weighted' else self.label}"

    def of(self, scores: Floats) -> Floats:
        """Return the function of the scores of all strata."""
        if self.function is not None:
            found = np.asarray(self.function(scores), dtype=np.float64)
            if found.shape != scores.shape[:-1]:
                raise InputError(
                    f"must map scores (..., T) of T strata to (...): of {scores.shape} "
                    f"it made {found.shape}; take means over axis=-1",
                    argument="aggregate",
                )
            return found
        return self.of_each(np.moveaxis(scores, -1, 0))

    def of_each(self, scores: Iterable[Floats]) -> Floats:
        """Return the function of T scores, `(...)` each: of many, all at once take much memory."""
        if self.function is not None:
            return self.of(np.stack(list(scores), axis=-1))
        # One after the other: in a product of matrices, sums depend on how many rows there are.
        weights = self.weights or (1.0,)
        return np.asarray(sum(w * own for w, own in zip(weights, scores, strict=True)))

    def slopes(self, scores: Floats) -> Floats:
        """Return derivatives by the scores, `(..., T) -> (..., T)`, by central differences."""
        if self.function is None:
            return np.broadcast_to(np.array(self.weights or (1.0,)), scores.shape)
        slopes = np.empty(scores.shape)
        # A share of the largest score, whatever its unit; a power of two adds no rounding.
        step = _STEP * unit_of(scores, axis=-1)[..., 0]
        for t in range(scores.shape[-1]):
            above, below = scores.copy(), scores.copy()
            above[..., t] += step
            below[..., t] -= step
            slopes[..., t] = (self.of(above) - self.of(below)) / (2 * step)
        return slopes


#: One score of all segments together.
MICRO = Aggregate()


def as_aggregate(given: Aggregated, labels: Sequence[Any], what: str = "strata") -> Aggregate:
    """Return the aggregate of strata, or tasks, with these labels; "micro" has no parts."""
    if isinstance(given, str) and given == "micro":
        return MICRO
    if not labels:
        raise InputError(Argument("aggregate", given), " needs strata: give one label a segment")
    if isinstance(given, str) and given == "macro":
        return Aggregate("macro", (1 / len(labels),) * len(labels))
    if isinstance(given, Mapping):
        weights = _weights(given, labels, what)
        # Weights may be so large that they have no sum.
        shares = weights / unit_of(weights)
        return Aggregate("weighted", tuple((shares / shares.sum()).tolist()))
    if callable(given):
        name = getattr(given, "__name__", "function")
        return Aggregate(name if name.isidentifier() else "function", (), given)
    raise InputError(
        f"must be 'micro', 'macro' or a mapping from {what} to weights, or a function "
        f"of their scores, got {given!r}",
        argument="aggregate",
    )


def _weights(given: Mapping[Any, float], labels: Sequence[Any], what: str) -> Floats:
    one = {"strata": "stratum", "tasks": "task"}[what]
    for which, some, others in (("lacks", labels, given), ("has unknown", given, labels)):
        odd = [label for label in some if label not in others]
        if odd:
            raise InputError(f"aggregate {which} {odd[0]!r}; it needs a weight for each {one}")
    weights = np.array([real(given[label], f"aggregate[{label!r}]", 0.0) for label in labels])
    if not np.all(weights > 0):
        raise InputError("weights in aggregate must be above 0; leave the segments out instead")
    return weights
