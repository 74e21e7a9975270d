"""The waist of the hourglass: statistics of S systems on N segments, `(S, N, k)`.

The checks of its fields (names, ids, labels of segments, numbers) are here as well.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import (
    MOST_NAME,
    as_floats,
    check_names,
    choice,
    is_missing,
    label,
    listed,
    refuse_masked,
    shown,
)
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.metrics import Mean, Metric, as_metric, scores_of
from evalstats.metrics.base import MetricSignature, merged
from evalstats.results import tabular
from evalstats.results.records import Caution, counted
from evalstats.statistics import interchange

Labels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class SegmentStatistics:
    """Statistics of every segment of every system for one metric.

    Parameters
    ----------
    values : array_like, shape (S, N, k)
        Finite numbers; one `(N, k)` block per system, with the columns of `metric.columns`.
    systems : sequence of str
        S different names. Like the strings below, they must be printable, on one line, with at most
        1,000 characters, and without invisible ones (zero-width or bidirectional).
    metric : Metric or str
        The metric, by name or as an object.
    reference_label : str, optional
        Number of references per segment for the signature ("1", "2", "var").
    fingerprint : str, optional
        Hash of the references (`References.fingerprint`); statistics made against different
        references are not joined or compared. `extract` sets it.
    segment_ids : sequence of str, optional
        N different names of the segments; statistics with different ids are not joined either.
    labels : mapping of str to sequence of str, optional
        Labels of the segments by name, N strings each: documents, domains, hashes of the items.
        ``groups="document"`` and ``strata="domain"`` refer to these. Statistics with different
        labels of the same name are not joined either.
    metric_signature : str, optional
        Signature of the metric that made the statistics, if it was another version of sacreBLEU; by
        default the metric's own.
    repeats : array_like, shape (S, N, 3), optional
        If a score is the mean of several answers to an item: their number, sum, and sum of squares.
        `compare` uses it to separate the variance of items and trials, and `cases` to test each
        item. It is not kept in files and groups, and not needed for statistics of `Trials`.
    cautions : mapping of str to sequence of str or Caution, optional
        Reasons why numbers may be invalid, by system, or "" for all: sentences that results print
        as cautions. `extract` adds them if texts are tokenised or empty, or in a language that the
        metric does not suit.
    unit : str, optional
        Name of a segment in all results, such as "question"; by default "segment".
    part : str, optional
        Name of a task in a suite, such as "benchmark".

    Raises
    ------
    InputError
        If shapes, names or numbers do not match, and for impossible counts
        (`Metric.check_statistics`).

    Examples
    --------
    >>> from evalstats import Ratio
    >>> accuracy = SegmentStatistics([[[1, 1], [0, 1], [1, 1]]], ["A"], Ratio("accuracy"))
    >>> accuracy.values.shape, accuracy.totals.tolist(), accuracy.scores.round(3).tolist()
    ((1, 3, 2), [[2.0, 3.0]], [0.667])
    """

    values: NDArray[Any]
    systems: tuple[str, ...]
    metric: Metric
    reference_label: str | None = None
    fingerprint: str | None = None
    segment_ids: tuple[str, ...] | None = None
    metric_signature: str = ""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: NDArray[np.float64] | None = None
    cautions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unit: str = ""
    part: str = "task"

    def __post_init__(self) -> None:
        metric = as_metric(self.metric)
        values = as_values(self.values)
        systems = as_names(self.systems)
        expected = (len(systems), len(metric.columns))
        if values.ndim != 3 or (values.shape[0], values.shape[2]) != expected:
            raise InputError(
                f"values must have shape (S, N, k) = ({expected[0]}, N, {expected[1]}) for "
                f"{counted(len(systems), 'system')} and {metric.name}, got {values.shape}"
            )
        if values.shape[1] == 0:
            raise InputError("values has no segments; pass at least one")
        metric.check_statistics(values)
        for name in ("reference_label", "fingerprint"):
            if getattr(self, name) is not None:
                label(getattr(self, name), name)
        ours = metric.signature
        # It may be long, like the metric's own, and contain versions of sacreBLEU.
        made_by = label(self.metric_signature or ours, "metric_signature", len(ours) + MOST_NAME)
        if made_by != ours:
            signed = MetricSignature.of(made_by)
            if signed.unversioned != MetricSignature.of(ours).unversioned:
                raise InputError(f"metric_signature must match {ours!r}, got {shown(made_by)}")
        label(self.part, "part")
        ids, (n_systems, n_segments, _) = self.segment_ids, values.shape
        # The class is frozen.
        vars(self).update(
            metric=metric,
            values=values,
            systems=systems,
            segment_ids=None if ids is None else as_segment_ids(ids, n_segments),
            metric_signature=made_by,
            labels=as_labels(self.labels, n_segments),
            cautions=as_cautions(self.cautions),
            unit=label(self.unit or metric.unit_called, "unit"),
        )
        if self.repeats is not None:
            vars(self).update(repeats=as_repeats(self.repeats, n_systems, n_segments))

    @property
    def n_segments(self) -> int:
        """N, the number of segments (or of groups, after `grouped`)."""
        return int(self.values.shape[1])

    @property
    def answers(self) -> NDArray[np.float64] | None:
        """Number, sum and sum of squares of the answers to each item, `(S, N, 3)`, where known."""
        counts = self.metric.answers(self.values)
        return self.repeats if counts is None else counts

    @property
    def totals(self) -> NDArray[np.float64]:
        """Statistics summed over segments, `(S, k)`."""
        return np.asarray(np.sum(self.values, axis=1, dtype=np.float64))

    @property
    def scores(self) -> NDArray[np.float64]:
        """Corpus score of every system, `(S,)`."""
        return scores_of(self.metric, self.totals)

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal; sacreBLEU's version is ignored."""
        if not isinstance(other, SegmentStatistics):
            return NotImplemented
        plain = ("systems", "reference_label", "fingerprint", "segment_ids", "metric_signature")
        return (
            all(getattr(self, name) == getattr(other, name) for name in (*plain, "labels"))
            and np.array_equal(self.values, other.values)
            and interchange.is_same_metric(self.metric, other.metric)
        )

    def __hash__(self) -> int:
        return hash((self.systems, self.values.shape, self.fingerprint, self.metric_signature))

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the systems, their scores and summed statistics."""
        rows = tuple(
            (name, f"{score:.6g}", *(f"{total:.10g}" for total in totals))
            for name, score, totals in zip(self.systems, self.scores, self.totals, strict=True)
        )
        header = ("system", "score", *self.metric.columns)
        title = f"{self.metric.name}, {counted(self.n_segments, self.unit)}, statistics summed"
        table = tabular.Table(title, header, rows, "<" + ">" * (len(header) - 1))
        references = [f"references {self.fingerprint}"] if self.fingerprint else []
        return tabular.Page([table], references, [self.metric_signature]).fragment()

    def grouped(self, groups: Iterable[Hashable]) -> SegmentStatistics:
        """Sum the statistics within groups (documents), `(S, N, k) -> (S, G, k)`.

        Resampling the result resamples whole documents; use it if segments of a document resemble
        each other. `groups` are N labels, one per segment; groups are in the order of their first
        segment.
        """
        codes = group_codes(groups, self.n_segments)
        summed = summed_within(self.values, codes)
        # The same references with other groups are different rows.
        digest = sha256(f"{self.fingerprint}|groups|".encode() + codes.astype("<i8").tobytes())
        fingerprint = self.fingerprint and "sha256:" + digest.hexdigest()
        first = np.unique(codes, return_index=True)[1]
        return replace(
            self,
            values=summed,
            fingerprint=fingerprint,
            segment_ids=None,
            labels=labels_of_groups(self.labels, codes, first),
            repeats=None,
        )

    def select(self, segments: Iterable[int]) -> SegmentStatistics:
        """Return the statistics of some segments, by number, in the given order.

        The fingerprint of the references is dropped if anything changes.
        """
        places = as_places(segments, self.n_segments)
        if np.array_equal(places, np.arange(self.n_segments)):
            return self
        ids = self.segment_ids
        whole = f"Among all {counted(self.n_segments, self.unit)} ({len(places):,} are selected)"
        return replace(
            self,
            cautions={
                name: [one.within(whole) for one in as_cautions({"": sentences})[""]]
                for name, sentences in self.cautions.items()
            },
            values=self.values[:, places],
            fingerprint=None,
            segment_ids=None if ids is None else tuple(ids[i] for i in places),
            labels=labels_at(self.labels, places),
            repeats=None if self.repeats is None else self.repeats[:, places],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics to a file that ends in ``.npz``, whole or not at all.

        The file contains numbers, names, labels, the metric's configuration and a hash of the
        references, but no text. Equal statistics give equal files, byte for byte. An existing file
        is replaced; a path that cannot be written raises an `InputError`.
        """
        interchange.write(path, self)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], metric: str | Metric | None = None
    ) -> SegmentStatistics:
        """Read statistics that `save` wrote.

        Safe for files from strangers: nothing is unpickled, every name is printable, and memory is
        proportional to the length of the file. `metric` is needed if it is not one of evalstats'
        own; it must equal the metric in the file.

        Raises
        ------
        InputError
            If the file is missing, damaged, in another format, or for another metric, or if its
            statistics are impossible (NaN, wrong shapes, or counts refused by
            `Metric.check_statistics`).
        """
        try:
            return cls(**interchange.read(path, metric))
        except InputError as error:
            raise error.within(f"cannot load statistics from {str(path)!r}") from None

    @staticmethod
    def join(*tables: SegmentStatistics) -> SegmentStatistics:
        """Put separately extracted systems side by side, S1 + S2 + ... systems.

        Parameters
        ----------
        *tables : SegmentStatistics
            Tables of different systems. If one table lacks a fingerprint or ids, they are not
            checked, and the result has none.

        Raises
        ------
        InputError
            If metrics, segments or references differ, or if a system occurs twice.

        Examples
        --------
        >>> from evalstats import Mean
        >>> a = SegmentStatistics([[[1, 1], [0, 1]]], ["A"], Mean("accuracy"))
        >>> b = SegmentStatistics([[[1, 1], [1, 1]]], ["B"], Mean("accuracy"))
        >>> SegmentStatistics.join(a, b).scores.tolist()
        [0.5, 1.0]
        """
        _check_tables(tables, "join")
        first = tables[0]
        for table in tables[1:]:
            if not interchange.is_same_metric(first.metric, table.metric):
                raise InputError(
                    f"tables to join must have the same metric, got {first.metric!r} for "
                    f"{list(first.systems)} and {table.metric!r} for {list(table.systems)}"
                )
        _check_agree(tables, [str(list(table.systems)) for table in tables])
        labels = {table.reference_label for table in tables}
        known = all(table.fingerprint is not None for table in tables)
        named = all(table.segment_ids is not None for table in tables)
        repeats = [table.repeats for table in tables if table.repeats is not None]
        return replace(
            first,
            values=np.concatenate([table.values for table in tables]),
            systems=tuple(name for table in tables for name in table.systems),
            reference_label=first.reference_label if len(labels) == 1 else None,
            fingerprint=first.fingerprint if known else None,
            segment_ids=first.segment_ids if named else None,
            metric_signature=str(merged([table.metric_signature for table in tables])),
            labels={
                name: values
                for name, values in first.labels.items()
                if all(name in table.labels for table in tables)
            },
            repeats=np.concatenate(repeats) if len(repeats) == len(tables) else None,
            cautions={name: said for table in tables for name, said in table.cautions.items()},
        )

    @staticmethod
    def align(*tables: SegmentStatistics, missing: str = "error") -> tuple[SegmentStatistics, ...]:
        """Bring tables to the same segments in the same order, by `segment_ids`.

        Parameters
        ----------
        *tables : SegmentStatistics
            Tables with ids, in any order.
        missing : {"error", "intersect"}
            What to do if tables have different segments: refuse, or keep the common segments (their
            number is `n_segments`), in the order of the first table.

        Returns
        -------
        tuple of SegmentStatistics
            The aligned tables, to be joined (`join`) or compared.

        Raises
        ------
        InputError
            If a table has no ids, if segments are missing, or if two tables have different `labels`
            (a document, a hash of the item) for a segment.

        Examples
        --------
        >>> from evalstats import Mean
        >>> mean = Mean("COMET")
        >>> a = SegmentStatistics([[[1, 1], [0, 1]]], ["A"], mean, segment_ids=["x", "y"])
        >>> b = SegmentStatistics([[[1, 1], [4, 1]]], ["B"], mean, segment_ids=["y", "x"])
        >>> SegmentStatistics.join(*SegmentStatistics.align(a, b)).values[:, :, 0].tolist()
        [[1, 0], [4, 1]]
        """
        _check_tables(tables, "align")
        ids = []
        for i, table in enumerate(tables):
            if table.segment_ids is None:
                raise InputError(
                    f"align requires segment_ids, but table {i} ({', '.join(table.systems)}) has "
                    "none"
                )
            ids.append(table.segment_ids)
        names = [", ".join(table.systems) for table in tables]
        pairs = zip(tables, shared_places(ids, names, missing), strict=True)
        aligned = [table.select(places) for table, places in pairs]
        _check_agree(aligned, names)
        return tuple(aligned)


def concatenate(parts: Sequence[SegmentStatistics]) -> SegmentStatistics:
    """Put parts of one test set one after the other, N1 + N2 + ... segments of the same systems.

    Parameters
    ----------
    parts : sequence of SegmentStatistics
        Tables of the same systems and metric, in the order of the test set. Ids, labels and hashes
        of references are left out if one part lacks them.

    Returns
    -------
    SegmentStatistics
        The same numbers as for the whole. Its fingerprint covers all parts in order, so that
        systems extracted in the same parts can be joined.

    Raises
    ------
    InputError
        If metrics or systems differ, or if parts share segments: an id, or all references.

    Examples
    --------
    >>> from evalstats import Mean
    >>> one = SegmentStatistics([[[1, 1], [0, 1]]], ["A"], Mean("accuracy"))
    >>> two = SegmentStatistics([[[1, 1], [1, 1]]], ["A"], Mean("accuracy"))
    >>> concatenate([one, two]).scores.tolist()
    [0.75]
    """
    tables: Sequence[SegmentStatistics] = listed(parts, "parts", "SegmentStatistics")
    _check_tables(tables, "concatenate")
    _check_parts(tables)
    first = tables[0]
    known = [table.fingerprint for table in tables if table.fingerprint is not None]
    digest = sha256("|parts|".join(known).encode()).hexdigest()
    ids = [table.segment_ids for table in tables if table.segment_ids is not None]
    labels = {table.reference_label for table in tables}
    repeats = [table.repeats for table in tables if table.repeats is not None]
    places = [[table.systems.index(name) for name in first.systems] for table in tables]

    def stacked(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([block[at] for block, at in zip(values, places, strict=True)], axis=1)

    return replace(
        first,
        values=stacked([table.values for table in tables]),
        reference_label=first.reference_label if len(labels) == 1 else "var",
        fingerprint=f"sha256:{digest}" if len(known) == len(tables) else None,
        segment_ids=tuple(chain.from_iterable(ids)) if len(ids) == len(tables) else None,
        metric_signature=str(merged([table.metric_signature for table in tables])),
        labels={
            name: tuple(chain.from_iterable(table.labels[name] for table in tables))
            for name in first.labels
            if all(name in table.labels for table in tables)
        },
        repeats=stacked(repeats) if len(repeats) == len(tables) else None,
        cautions=_cautions_of_parts(tables),
    )


def _cautions_of_parts(tables: Sequence[SegmentStatistics]) -> dict[str, list[Caution]]:
    """Return cautions of all parts once, and cautions of some parts with the part's number."""
    joined: dict[str, list[Caution]] = {}
    for name in dict.fromkeys(name for table in tables for name in table.cautions):
        parts = [as_cautions(table.cautions).get(name, ()) for table in tables]
        for i, cautions in enumerate(parts, 1):
            for one in cautions:
                in_all = all(one in others for others in parts)
                said = one if in_all else one.within(f"Part {i} of {len(parts)}")
                joined.setdefault(name, []).append(said)
    return {name: list(dict.fromkeys(cautions)) for name, cautions in joined.items()}


def _check_parts(tables: Sequence[SegmentStatistics]) -> None:
    """Raise unless all have the same systems and metric, and different segments."""
    first = tables[0]
    for i, table in enumerate(tables):
        if not interchange.is_same_metric(table.metric, first.metric):
            raise InputError(
                f"parts must have the same metric, got {first.metric!r} and {table.metric!r}"
            )
        if set(table.systems) != set(first.systems):
            raise InputError(
                f"parts must have the same systems, got {list(first.systems)} and "
                f"{list(table.systems)}"
            )
        for j, other in enumerate(tables[:i]):
            shared = set(table.segment_ids or ()) & set(other.segment_ids or ())
            if shared or (table.fingerprint and table.fingerprint == other.fingerprint):
                what = f"segment {shown(min(shared))}" if shared else "the same references"
                raise InputError(
                    f"parts must have different segments, but {j} and {i} share {what}; to rename "
                    "systems with the same name, use replace(table, systems=[...])"
                )


def joined_by_metric(tables: Sequence[SegmentStatistics]) -> list[SegmentStatistics]:
    """Join the tables of each metric, metrics in order of first appearance."""
    groups: dict[tuple[str, str], list[SegmentStatistics]] = {}
    for table in tables:
        key = (table.metric.name, MetricSignature.of(table.metric_signature).unversioned)
        groups.setdefault(key, []).append(table)
    return [
        group[0] if len(group) == 1 else SegmentStatistics.join(*group) for group in groups.values()
    ]


def check_same_segments(tables: Sequence[SegmentStatistics]) -> None:
    """Raise unless all tables have the same systems, segments and references."""
    first = tables[0]
    for table in tables[1:]:
        if table.systems != first.systems:
            raise InputError(
                f"all SegmentStatistics must have the same systems in the same order, got "
                f"{list(first.systems)} for {first.metric.name} and {list(table.systems)} for "
                f"{table.metric.name}"
            )
    _check_agree(tables, [table.metric.name for table in tables])


def _check_tables(tables: Sequence[object], caller: str) -> None:
    if not tables:
        raise InputError(f"{caller} requires at least one SegmentStatistics, got none")
    for i, table in enumerate(tables):
        if not isinstance(table, SegmentStatistics):
            kind = type(table).__name__
            raise InputTypeError(f"{caller} requires SegmentStatistics, got {kind} as table {i}")


def _check_agree(tables: Sequence[SegmentStatistics], names: Sequence[str]) -> None:
    """Raise unless the tables agree in everything known about the segments."""
    first: dict[str, tuple[Any, str]] = {}
    for table, name in zip(tables, names, strict=True):
        known: dict[str, Any] = {"number": table.n_segments, "fingerprint": table.fingerprint}
        known |= {"segment_ids": table.segment_ids}
        known |= {f"labels {key}": values for key, values in table.labels.items()}
        for key, value in known.items():
            if value is None:
                continue
            before, who = first.setdefault(key, (value, name))
            if before != value:
                ids = first.get("segment_ids", (None, ""))[0]
                why, one, two = _disagreement(key, before, value, ids)
                raise InputError(
                    f"all SegmentStatistics must {why} {one} for {who} and {two} for {name}"
                )


def _disagreement(
    key: str, first: Any, second: Any, ids: tuple[str, ...] | None
) -> tuple[str, object, object]:
    """Return in words what must be the same, and the two different values."""
    if key == "number":
        return "have the same segments, got", first, second
    if key == "fingerprint":
        what = "be computed with the same references, got fingerprint"
        return what, f"{first[:19]}...", f"{second[:19]}..."
    unlike = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    pair = shown(first[unlike[0]]), shown(second[unlike[0]])
    if key == "segment_ids":
        return f"have the same segments in the same order, but segment {unlike[0]} is", *pair
    segment = repr(ids[unlike[0]]) if ids else str(unlike[0])
    label = key.removeprefix("labels ")
    differ = f"{len(unlike)} of {len(first)} differ: {label} of segment {segment} is"
    return f"have the same segments, but {differ}", *pair


def as_names(systems: object) -> tuple[str, ...]:
    """Return different, non-empty system names, checked."""
    names = [label(name, "system names") for name in listed(systems, "systems", "names")]
    _check_different(names, "system names")
    if not names:
        raise InputError("is empty; pass at least one", argument="systems")
    return tuple(names)


def as_segment_ids(ids: object, n_segments: int) -> tuple[str, ...]:
    """Return N different names of segments, checked."""
    names = listed(ids, "segment_ids", "strings, one per segment")
    for name in names:
        if not isinstance(name, str):
            raise InputTypeError(
                f"must be strings, got {type(name).__name__} {name!r}", argument="segment_ids"
            )
    check_names(names, "segment_ids")
    check_count(names, "segment_ids", "name", n_segments)
    _check_different(names, "segment_ids")
    return tuple(names)


def as_labels(labels: object, n_segments: int) -> dict[str, tuple[str, ...]]:
    """Return N strings per name, checked."""
    if labels is not None and not isinstance(labels, Mapping):
        raise InputTypeError(
            f"must be a mapping from names to one string per segment, got {shown(labels)}",
            argument="labels",
        )
    columns = {}
    for name, given in (labels or {}).items():
        what = f"labels[{label(name, 'names of labels')!r}]"
        values = listed(given, what, "strings, one per segment")
        check_count(values, what, "label", n_segments)
        for value in values:
            if not isinstance(value, str):
                raise InputTypeError(f"must be strings, got {shown(value)}", argument=what)
        check_names(values, what)
        columns[name] = tuple(values)
    return columns


def as_cautions(cautions: object) -> dict[str, tuple[Caution, ...]]:
    """Return cautions by system, checked.

    A plain sentence has the kind "texts". In files a caution is its kind and its sentence.
    """
    if not isinstance(cautions, Mapping):
        raise InputTypeError(
            f"must be a mapping from systems to sentences, got {shown(cautions)}",
            argument="cautions",
        )
    checked: dict[str, tuple[Caution, ...]] = {}
    for name, sentences in cautions.items():
        kinds = [
            one if isinstance(one, list) and len(one) == 2 else (getattr(one, "kind", "texts"), one)
            for one in listed(sentences, "cautions", "sentences")
        ]
        # They may contain long names of systems.
        checked[str(name)] = tuple(
            Caution(label(said, "cautions", 2 * MOST_NAME), label(kind, "kinds of cautions"))
            for kind, said in kinds
        )
    return checked


def as_places(segments: object, n_segments: int) -> NDArray[np.intp]:
    """Return numbers of segments, from 0 on, checked."""
    given = np.asarray(listed(segments, "segments", "numbers"))
    if len(given) == 0:
        raise InputError("segments is empty; pass at least one number")
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InputTypeError(f"segments must be whole numbers, got {shown(given.tolist(), 60)}")
    outside = given[(given < 0) | (given >= n_segments)]
    if len(outside):
        raise InputError(f"segments must be from 0 to {n_segments - 1}, got {outside[0]}")
    return given.astype(np.intp)


def labels_at(labels: Labels, places: Sequence[int] | NDArray[np.intp]) -> Labels:
    """Return the labels of some segments, by number."""
    return {name: tuple(values[i] for i in places) for name, values in labels.items()}


def labels_of_groups(labels: Labels, codes: NDArray[np.intp], first: NDArray[np.intp]) -> Labels:
    """Return the labels that all segments of a group share, one per group."""
    kept = {}
    for name, values in labels.items():
        if all(values[first[code]] == value for code, value in zip(codes, values, strict=True)):
            kept[name] = values
    return labels_at(kept, first)


def shared_places(
    ids: Sequence[tuple[str, ...]], names: Sequence[str], missing: str
) -> list[NDArray[np.intp]]:
    """Return the places of the common segments in each table, in the order of the first."""
    choice(missing, ("error", "intersect"), "missing")
    if all(known == ids[0] for known in ids):
        return [np.arange(len(ids[0]))] * len(ids)
    places = [{name: i for i, name in enumerate(known)} for known in ids]
    union = dict.fromkeys(name for known in ids for name in known)
    for name, known in zip(names, places, strict=True):
        gone = [segment for segment in union if segment not in known]
        if gone and missing == "error":
            raise InputError(
                f"all tables must have the same segments: {len(gone):,} of {len(union):,} are "
                f"missing in the table of {name} ({', '.join(map(repr, gone[:3]))}). Complete "
                "it, or compare the shared segments with ",
                Argument("missing", "intersect"),
            )
    shared = [name for name in ids[0] if all(name in known for known in places)]
    if not shared:
        begin = (f"{known[0]!r} for {name}" for known, name in zip(ids, names, strict=True))
        raise InputError(
            "the tables have no segments in common; their segment_ids begin with "
            f"{' and '.join(begin)}"
        )
    return [np.array([known[name] for name in shared], dtype=np.intp) for known in places]


def _is_blank(value: object) -> bool:
    """Return whether a label is empty: None, or a blank text."""
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def group_codes(
    groups: Iterable[Hashable], n_segments: int, name: str = "groups"
) -> NDArray[np.intp]:
    """Return the number of the group of each segment, `(N,)`, in order of first appearance."""
    labels = listed(groups, name, "labels, one per segment")
    check_count(labels, name, "label", n_segments)
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    except TypeError as error:
        raise InputTypeError(f"must contain hashable labels ({error})", argument=name) from None
    # Only distinct labels are checked, to save time.
    missing = next((codes.index(n) for value, n in numbers.items() if _is_blank(value)), None)
    if missing is not None:
        raise InputError(
            f"{name}[{missing}] is {labels[missing]!r}, but every segment requires a label; "
            "label this segment, or leave it out"
        )
    if labels and isinstance(labels[0], str) and labels[0].startswith("\ufeff"):
        raise InputError(
            f"{name}[0] begins with a byte order mark (U+FEFF), which makes it a different "
            "label; read labels with read_lines(path, labels=True) or encoding='utf-8-sig'"
        )
    return np.array(codes, dtype=np.intp)


def check_count(
    entries: Sequence[object], name: str, kind: str, n: int, unit: str = "segment"
) -> None:
    """Refuse another number of labels, or the like, than there are segments."""
    if len(entries) == n:
        return
    what = f"has {counted(len(entries), kind)} for {counted(n, unit)}; pass one {kind} per {unit}"
    if len(entries) == n + 1:
        what += f", in order (if the first, {shown(entries[0], 40)}, is a heading, delete it)"
    raise InputError(what, argument=name)


def _check_different(names: Sequence[str], what: str) -> None:
    repeated = next((name for name, n in Counter(names).items() if n > 1), None)
    if repeated is not None:
        raise InputError(f"must be unique, but {repeated!r} occurs more than once", argument=what)


def as_values(values: ArrayLike) -> NDArray[Any]:
    """Return finite numbers as a read-only copy, checked."""
    refuse_masked(values, "values")
    # A read-only copy, so that checked values cannot change.
    try:
        array = np.array(values)
    except ValueError as error:
        raise InputError(f"values must be a single array of numbers ({error})") from None
    array = as_floats(array, "values")
    if array.dtype.kind not in "buif":
        raise InputTypeError(f"values must be numbers, got {array.dtype} values")
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"values{list(where)} is {array[where]}, but statistics must be finite")
    array.setflags(write=False)
    return array


def as_repeats(values: Any, n_systems: int, n_segments: int) -> NDArray[np.float64]:
    """Return counts, sums and sums of squares of answers, `(S, N, 3)`, as a read-only copy."""
    array = np.array(as_floats(np.asarray(values), "repeats"), dtype=np.float64)
    expected = (n_systems, n_segments, 3)
    if array.shape != expected or not np.all(np.isfinite(array)) or np.any(array[..., 0] < 0):
        raise InputError(
            f"repeats must contain finite counts, sums and sums of squares in shape {expected}, "
            f"got shape {array.shape}"
        )
    array.setflags(write=False)
    return array


def summed_within(values: NDArray[Any], codes: NDArray[np.intp]) -> NDArray[Any]:
    """Sum statistics within groups, `(S, N, k) -> (S, G, k)`; whole numbers stay whole."""
    kind: type[Any] = np.float64
    if values.dtype.kind in "iu":
        largest = float(np.max(np.sum(np.abs(values.astype(np.float64)), axis=1)))
        kind = np.int64 if largest < 2**63 else np.uint64
        # Sums of floats are rounded, so the limit is slightly below the overflow.
        if largest >= 2**64 or (kind is np.uint64 and np.any(values < 0)):
            raise InputError("values are too large: sums within groups do not fit into 64 bits")
    summed = np.zeros((len(values), int(codes.max()) + 1, values.shape[2]), dtype=kind)
    for block, rows in zip(summed, values, strict=True):
        np.add.at(block, codes, rows.astype(kind))
    return summed


def missing_scores(metric: Metric, values: NDArray[Any]) -> NDArray[np.int64]:
    """Count the rows of each system with a missing score, `(S, N, k) -> (S,)`.

    Only means can have missing scores: their count is 0.
    """
    if metric.columns != Mean.columns:
        return np.zeros(len(values), dtype=np.int64)
    return np.asarray(np.sum(values[:, :, 1] == 0, axis=1, dtype=np.int64))


def unit_scores(metric: Metric, statistics: NDArray[Any]) -> NDArray[np.float64]:
    """Return the score of each single unit, `(..., N, k) -> (..., N)`; NaN if it is missing.

    Units are segments, or groups with summed statistics (`SegmentStatistics.grouped`).

    Raises
    ------
    InputError
        If single units have no score (`Metric.scores_units`).

    Examples
    --------
    >>> table = SegmentStatistics([[[3.0, 1], [0, 0]]], ("A",), Mean("quality"))
    >>> unit_scores(table.metric, table.values).tolist()
    [[3.0, nan]]
    """
    if not metric.scores_units:
        raise InputError(
            f"{metric.name} is only defined for several units together; use a metric that scores "
            "each unit, such as a mean"
        )
    scores = scores_of(metric, np.asarray(statistics, dtype=np.float64))
    # Only means can have missing scores: their count is 0.
    is_missing = statistics[..., 1] == 0 if metric.columns == Mean.columns else False
    return np.where(is_missing, np.nan, scores)
