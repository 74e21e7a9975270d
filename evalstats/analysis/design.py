"""The design of an evaluation: units, strata, and the aggregation of scores of strata."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import listed, real, shown
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.inference.student import Spread, unit_of
from evalstats.resampling.weights import Multinomial, Stratified, Weights
from evalstats.results.records import only, plural
from evalstats.statistics.segments import group_codes

Labels: TypeAlias = "Iterable[Hashable] | str | None"
Codes: TypeAlias = "NDArray[np.intp]"
#: Names for a segment and a task.
Called: TypeAlias = tuple[str, str]
CALLED: Called = ("segment", "task")


@dataclass(frozen=True, eq=False)
class Units:
    """The N units that are resampled."""

    n: int
    unit: str = "segment"  # for groups the name of their label, or "group"
    segment: str = "segment"  # name of a segment, which without groups is the unit
    part: str = "task"  # name of tasks, or of strata with their own rows
    sizes: NDArray[np.int64] | None = None  # (N,) segments of each, if any has several
    codes: Codes | None = None  # (N,) stratum within which each is drawn, see `drawn_within`
    members: Codes | None = None  # (n_segments,) group of each segment
    strata: Codes | None = None  # (N,) stratum of each as given
    labels: tuple[Any, ...] = ()  # labels of strata, in order of first appearance

    #: Whether a quantity has an influence value for each unit.
    has_values: ClassVar[bool] = True

    @property
    def called(self) -> tuple[str, str, str]:
        """The names of a unit, a segment and a task."""
        return self.unit, self.segment, self.part

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return 1 if self.codes is None else int(self.codes.max()) + 1

    @property
    def n_segments(self) -> int:
        """Number of segments, whatever the units are."""
        return self.n if self.members is None else len(self.members)

    @property
    def plain(self) -> bool:
        """Whether single segments are drawn freely."""
        return self.sizes is None and self.codes is None

    @property
    def of_segments(self) -> Codes:
        """The unit of each segment, `(n_segments,)`."""
        return np.arange(self.n) if self.members is None else self.members

    @property
    def sides(self) -> tuple[Units, ...]:
        """These units, or the groups of both labels of a crossed design."""
        return (self,)

    @cached_property
    def alike(self) -> Spread:
        """The spread if the variation is unknown, without an error."""
        n = float(self.n) if self.sizes is None else student.kish(self.sizes)
        return student.of_squares(np.zeros(1), np.array([n]), 1.0, n)

    def spread(
        self, influence: NDArray[np.float64], added: NDArray[np.float64] | None = None
    ) -> Spread:
        """Return error, factor and degrees of freedom of a quantity with these values, `(N,)`."""
        return student.spread(influence, self.sizes, self.codes, added)

    def weights(self, seed: int) -> Weights:
        """Return the rows of weights: drawn freely, or within strata."""
        if self.codes is None:
            return Multinomial(self.n, seed)
        return Stratified(self.n, seed, self.codes)

    def worth(self, marks: NDArray[np.bool_]) -> float:
        """Return Kish's effective number of some units, `(N,)`; 0 for none."""
        if self.sizes is None or not np.any(marks):
            return float(np.count_nonzero(marks))
        return student.kish(self.sizes[marks])

    def notes(self, name: str, influence: NDArray[np.float64]) -> list[str]:
        """Return notes on the errors of quantities `(S, N)` for a metric."""
        return []

    @cached_property
    def segment_codes(self) -> Codes | None:
        """Stratum of each segment within which its unit is drawn, `(n_segments,)`."""
        return drawn_within(self.segment_strata)

    @cached_property
    def segment_strata(self) -> Codes | None:
        """Stratum of each segment as given, `(n_segments,)`."""
        if self.strata is None or self.members is None:
            return self.strata
        return self.strata[self.members]


def grouped(units: Units, influence: NDArray[np.float64]) -> Spread:
    """Return the spread of a quantity from influence values of single segments, `(N,)`."""
    if len(units.sides) > 1:
        return units.spread(influence)
    return units.spread(np.bincount(units.of_segments, influence, units.n).astype(np.float64))


def errors_of(units: Units, influence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return standard errors from influence values of single segments, `(S, N) -> (S,)`."""
    return np.array([grouped(units, values).error for values in influence])


def names_of_labels(given: object, n_segments: int) -> tuple[str, ...]:
    """Return the names of two labels, if a list contains these; otherwise nothing.

    >>> names_of_labels(["prompt", "rater"], 400), names_of_labels(["a", "b"], 2)
    (('prompt', 'rater'), ())
    """
    if not isinstance(given, (list, tuple)) or len(given) != 2 or n_segments == 2:
        return ()
    return tuple(given) if all(isinstance(name, str) for name in given) else ()


def refuse_crossed(units: Units, asking: str) -> None:
    """Refuse questions that do not support groups with two labels."""
    if len(units.sides) > 1:
        raise InputError(
            f": {asking} accepts one label per segment, got two "
            f"({', '.join(side.unit for side in units.sides)}); pass one",
            argument="groups",
        )


def as_units(
    n_segments: int, groups: Labels, strata: Labels, name: str = "group", called: Called = CALLED
) -> Units:
    """Return the units of segments with these labels; groups have a name."""
    if isinstance(groups, Mapping):
        from evalstats.designs.units import as_crossed

        return as_crossed(n_segments, groups, strata, called)
    members = codes = None
    names: list[Any] = []
    labels: list[Any] = []
    if groups is not None:
        members, names = label_codes(groups, n_segments, "groups")
    if strata is not None:
        codes, labels = label_codes(strata, n_segments, "strata")
    if members is not None and codes is not None:
        first = np.unique(members, return_index=True)[1]
        for i in np.flatnonzero(codes != codes[first][members])[:1]:
            g = int(members[i])
            raise InputError(
                f"each group must belong to a single stratum, but group {names[g]!r} is in "
                f"{labels[codes[first[g]]]!r} (segment {first[g]}) and in {labels[codes[i]]!r} "
                f"(segment {i})"
            )
        codes = codes[first]
    n, sizes = n_segments, None
    if members is not None:
        n, sizes = len(names), np.bincount(members)
    return Units(
        n,
        called[0] if members is None else name,
        *called,
        sizes=sizes if sizes is not None and np.any(sizes > 1) else None,
        codes=None if codes is None else drawn_within(codes),
        members=members,
        strata=codes,
        labels=tuple(labels),
    )


def stacked(several: Sequence[Units], order: Sequence[int]) -> Units:
    """Return units one after the other, each drawn within its own units and strata."""
    within = [np.zeros(u.n, np.intp) if u.codes is None else u.codes for u in several]
    codes, n_strata = list(within), 0
    for i in order:
        codes[i] = n_strata + within[i]
        n_strata = int(codes[i].max()) + 1
    sizes = None
    if any(units.sizes is not None for units in several):
        ones = [np.ones(u.n, dtype=np.int64) if u.sizes is None else u.sizes for u in several]
        sizes = np.concatenate(ones)
    words = zip(*(units.called for units in several), strict=True)
    unit, segment, part = map(only, words, ("group", "item", "task"))
    n = sum(units.n for units in several)
    drawn = drawn_within(np.concatenate(codes))
    return Units(n, unit, segment, part, sizes=sizes, codes=drawn)


def drawn_within(strata: Codes | None) -> Codes | None:
    """Return the strata within which units are drawn, `(N,)`, each of at least two units.

    All strata of one unit become one stratum; a single such stratum joins the smallest other one.
    Sizes 5, 3, 1 and 1 become 5, 3 and 2; sizes 5, 3 and 1 become 5 and 4. `None` if only one
    stratum is left.
    """
    if strata is None or np.ptp(strata) == 0:
        return None
    strata = without_singles(np.bincount(strata))[strata]
    return None if np.ptp(strata) == 0 else strata


def without_singles(counts: NDArray[np.int64]) -> Codes:
    """Return the merged stratum of each of T strata with these sizes, `(T,) -> (T,)`.

    >>> [without_singles(np.array(n)).tolist() for n in ([5, 1, 3, 1], [5, 3, 1])]
    [[0, 2, 1, 2], [0, 1, 1]]
    """
    alone, strata = np.flatnonzero(counts == 1), np.arange(len(counts))
    if len(alone) == 1 and len(counts) > 1:
        alone = np.append(alone, np.argmin(np.where(counts > 1, counts, np.sum(counts) + 1)))
    if len(alone):
        strata = np.where(np.isin(strata, alone), alone[-1], strata)
    return np.unique(strata, return_inverse=True)[1]


def label_codes(labels: object, n: int, name: str) -> tuple[Codes, list[Any]]:
    """Return the number of each segment's label, and the labels in order of first appearance."""
    given = listed(labels, name, "labels, one per segment")
    codes = group_codes(given, n, name)
    different = list(dict.fromkeys(given))
    printed: dict[str, Any] = {}
    for label in different:
        other = printed.setdefault(str(label), label)
        if other is not label:
            raise InputError(
                f"contains {shown(other)} ({type(other).__name__}) and {shown(label)} "
                f"({type(label).__name__}), which look the same but are different labels; use "
                "one type for all labels",
                argument=name,
            )
    return codes, different


def unit_name(label: object, otherwise: str = "group") -> str:
    """Return the name of groups, or strata: from the name of a label or of a column.

    A pandas Series has a name, and so does a file of labels.

    >>> unit_name("doc.passage_id"), unit_name([0, 0, 1])
    ('passage', 'group')
    """
    given = label if isinstance(label, str) else getattr(label, "name", None)
    name = given.rpartition(".")[2] if isinstance(given, str) else ""
    name = name.removesuffix("_id").replace("_", " ")
    return name if name.isprintable() and name.strip() not in ("", "id") else otherwise


def check_enough(n_units: int, unit: str) -> None:
    """Refuse a single segment or group."""
    if n_units < 2:
        raise InputError(
            f"at least 2 {plural(unit)} are required to estimate uncertainty, got {n_units}"
        )


Floats = NDArray[np.float64]
Aggregated: TypeAlias = "str | Mapping[Any, float] | tuple[NamedTotal, ...]"


@dataclass(frozen=True)
class NamedTotal:
    """A total over some tasks of a suite for one metric, such as a group of a harness."""

    name: str
    metric: str
    tasks: tuple[str, ...]
    aggregate: str | Mapping[str, float]  # "micro", "macro" or weights of its tasks


@dataclass(frozen=True)
class Aggregate:
    """A weighted mean of the scores of T strata, `(..., T) -> (...)`."""

    label: str = "micro"  # or "macro", "weighted"
    weights: tuple[float, ...] = ()  # summing to 1; none of one stratum

    @property
    def tag(self) -> str | None:
        """The tag in a metric's signature."""
        if self.label == "micro":
            return None
        weights = ",".join(f"{weight:.4g}" for weight in self.weights)
        return f"aggregate:{weights if self.label == 'weighted' else self.label}"


#: One score of all segments together.
MICRO = Aggregate()


def as_aggregate(given: Aggregated, labels: Sequence[Any], what: str = "strata") -> Aggregate:
    """Return the aggregate of strata (or tasks) with these labels; "micro" has no parts."""
    if isinstance(given, str) and given == "micro":
        return MICRO
    if not labels:
        raise InputError(
            Argument("aggregate", given), " requires strata; pass one label per segment"
        )
    if isinstance(given, str) and given == "macro":
        return Aggregate("macro", (1 / len(labels),) * len(labels))
    if isinstance(given, Mapping):
        one = {"strata": "stratum", "tasks": "task"}[what]
        for which, known, others in (
            ("lacks the", labels, given),
            ("has the unknown", given, labels),
        ):
            odd = [label for label in known if label not in others]
            if odd:
                raise InputError(
                    f"aggregate {which} {one} {odd[0]!r}; pass one weight for each {one}"
                )
        weights = np.array([real(given[label], f"aggregate[{label!r}]", 0.0) for label in labels])
        if not np.all(weights > 0):
            raise InputError(
                "weights in aggregate must be above 0; to ignore a stratum, leave its segments out"
            )
        # Weights may be so large that their sum overflows.
        shares = weights / unit_of(weights)
        return Aggregate("weighted", tuple((shares / shares.sum()).tolist()))
    raise InputError(
        f"must be 'micro', 'macro' or a mapping from {what} to weights, got {shown(given)}",
        argument="aggregate",
    )
