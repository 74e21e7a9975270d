"""Checks of hypotheses and references: one entry per segment, and no entry is dropped.

References are *one entry per segment*: a string, or a list of strings in which `None` stands for an
absent reference. sacreBLEU's layout, one list per reference stream, goes through `from_streams`. A
list whose length fits only the other layout is refused with a message about it, because silently
truncated or transposed references are the most frequent mistake in the field.

Columns and frames of pandas, polars and pyarrow are recognised without importing them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, pairwise
from typing import Any, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_index, entry, index_of, is_from, is_missing, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.text.ragged import offsets_of

T = TypeVar("T")
#: The lengths of texts in bytes, and all bytes joined.
Encoded: TypeAlias = "tuple[NDArray[np.int64], bytes]"

_OF_ARROW = ("Table", "RecordBatch")
#: Number of rows to compare if both layouts fit.
_ROWS = 8
#: Texts with fewer different pairs of neighbouring characters are not compared.
_LEAST_PIECES = 12
#: How much more similar texts must be across rows than within rows.
_MARGIN = 0.05


def columns_of(value: object) -> list[tuple[Any, Any]] | None:
    """Return the names and columns of a frame, and None for anything else."""
    frame: Any = value
    if is_from("pandas", frame, "DataFrame"):
        # By position, since a name may occur twice.
        return [(name, frame.iloc[:, j]) for j, name in enumerate(frame.columns)]
    if is_from("polars", frame, "DataFrame"):
        return [(column.name, column) for column in frame.get_columns()]
    if is_from("pyarrow", frame, *_OF_ARROW):
        return list(zip(frame.schema.names, frame.columns, strict=True))
    return None


def table_columns(value: object) -> list[tuple[Any, Any]] | None:
    """Return the names and columns of a frame, or of a list of rows, and None for anything else.

    >>> table_columns([{"segment": 1, "acc": 0.5}, {"segment": 2}])
    [('segment', [1, 2]), ('acc', [0.5, None])]
    """
    if not isinstance(value, list) or not value or not all(isinstance(x, Mapping) for x in value):
        return columns_of(value)
    names = dict.fromkeys(name for row in value for name in row)
    return [(name, [row.get(name) for row in value]) for name in names]


def as_rows(frame: Any) -> NDArray[Any]:
    """Return the cells of a frame, one row per row."""
    if is_from("pyarrow", frame, *_OF_ARROW):
        return np.stack([np.asarray(column) for column in frame.columns], axis=1)
    return np.asarray(frame.to_numpy())


def listed_texts(value: object, name: str, content: str) -> list[Any]:
    """Return texts as a list; missing cells of a column become None."""
    texts = listed(value, name, content)
    if is_from("pandas", value) or is_from("polars", value):
        return [None if is_missing(text) else text for text in texts]
    return texts


def as_texts(value: object, name: str = "hypotheses") -> list[str]:
    """Return `value` as a list of strings, one per segment, or raise an `InputError`."""
    texts = listed_texts(value, name, "strings")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            kind = f"{text}; an empty output is ''" if is_missing(text) else type(text).__name__
            raise InputTypeError(f"{entry(name, i)} must be a string, got {kind}")
    if not texts:
        raise InputError(f"{name} is empty; pass at least one segment")
    return texts


def _check_string(text: object, name: str, hint: str = "") -> None:
    if text is not None and not isinstance(text, str):
        raise InputTypeError(f"{name} must be a string or None, got {type(text).__name__}{hint}")


class References(Sequence[tuple[str, ...]]):
    """The references of a test set, checked once and prepared once.

    Behaves as a sequence with one tuple of reference strings per segment, without absent references
    (`None`). If you pass the same object to several calls, tokens and n-grams of the references are
    computed only once.

    Parameters
    ----------
    references : sequence, or frame
        One entry per segment: a string, or a list of strings with `None` for an absent reference.
        An empty string is a reference like any other: the correct translation is then empty. A
        column of a frame is such a list. A frame has one column per reference stream, and missing
        cells are absent references.

    Raises
    ------
    InputError
        For a segment without any reference, and for entries of other types.

    Examples
    --------
    >>> references = References(["a cat", ["the dog", None, "a dog"]])
    >>> len(references), references[1]
    (2, ('the dog', 'a dog'))
    >>> references.label
    'var'
    """

    def __init__(self, references: Iterable[str | Sequence[str | None]]) -> None:
        self.pandas_index: Any = index_of(references)
        columns = columns_of(references)
        if columns is not None:
            references = cast(Any, from_streams(*(column for _, column in columns)))
        rows = listed_texts(references, "references", "one entry per segment")
        if not rows:
            raise InputError("references is empty; pass one entry per segment")
        entries = [(row,) if isinstance(row, str) else _entry(row, i) for i, row in enumerate(rows)]
        #: All R references, segment by segment.
        self.texts: tuple[str, ...] = tuple(chain.from_iterable(entries))
        #: Number of references of each segment, `(N,)`, at least 1.
        self.counts: NDArray[np.int64] = np.fromiter(
            map(len, entries), dtype=np.int64, count=len(entries)
        )
        #: Segment i has the references ``edges[i]`` to ``edges[i + 1]``, `(N + 1,)`.
        self.edges: NDArray[np.int64] = offsets_of(self.counts)
        #: Number of the first reference of each segment, `(N,)`.
        self.first: NDArray[np.int64] = self.edges[:-1]
        #: Number of the segment that each of the R references belongs to, `(R,)`.
        self.owner: NDArray[np.int64] = np.repeat(np.arange(len(entries)), self.counts)
        #: Number of references per segment as sacreBLEU's signatures give it, or "var".
        self.label: str = count_label(self.counts)
        for numbers in (self.counts, self.edges, self.first, self.owner):
            numbers.setflags(write=False)
        self._prepared: dict[Hashable, Any] = {}

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[Any, ...]:
        """Return the references of one segment, or of a slice of segments."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        i = range(len(self))[index]
        return self.texts[self.edges[i] : self.edges[i + 1]]

    def __len__(self) -> int:
        """Return N, the number of segments."""
        return len(self.counts)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the segments."""
        return (self.texts[start:stop] for start, stop in pairwise(self.edges.tolist()))

    def __eq__(self, other: object) -> bool:
        """Return whether the references are the same, text by text and segment by segment."""
        if not isinstance(other, References):
            return NotImplemented
        return self.texts == other.texts and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((len(self), self.texts[0], self.texts[-1]))

    def __repr__(self) -> str:
        return f"References({len(self)} segments, nrefs:{self.label})"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all references and of which segment each belongs to.

        Two sets of references have the same fingerprint if they are the same, text by text; the
        texts cannot be recovered from it.
        """
        return self.prepared("fingerprint", lambda r: fingerprint_of(r.counts, [encoded(r.texts)]))

    def streams(self) -> list[list[str | None]]:
        """Return sacreBLEU's layout: one list per reference stream, `None` if absent."""
        places = list(zip(self.edges[:-1].tolist(), self.counts.tolist(), strict=True))
        return [
            [self.texts[start + j] if j < count else None for start, count in places]
            for j in range(int(self.counts.max()))
        ]

    def prepared(self, key: Hashable, prepare: Callable[[References], T]) -> T:
        """Return `prepare(self)`, computed at the first call with this key and kept."""
        if key not in self._prepared:
            self._prepared[key] = prepare(self)
        return cast(T, self._prepared[key])

    def __getstate__(self) -> dict[str, Any]:
        # Prepared references can be large and are cheap to make again.
        return {**vars(self), "pandas_index": None, "_prepared": {}}


def count_label(counts: NDArray[np.int64]) -> str:
    """Return the number of references of N segments, or "var" if it varies."""
    return str(counts[0]) if np.all(counts == counts[0]) else "var"


def encoded(texts: Sequence[str]) -> Encoded:
    """Return the UTF-8 of texts, including lone surrogates."""
    pieces = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)), b"".join(pieces)


def fingerprint_of(counts: NDArray[np.int64], parts: Sequence[Encoded]) -> str:
    """Return the fingerprint of N segments from the counts and texts of their references.

    Lengths come first, so that different sets cannot give the same bytes.
    """
    digest = sha256(counts.astype("<i8").tobytes())
    for lengths, _ in parts:
        digest.update(lengths.astype("<i8").tobytes())
    for _, texts in parts:
        digest.update(texts)
    return "sha256:" + digest.hexdigest()


def _entry(row: object, i: int) -> tuple[str, ...]:
    if row is None:
        raise InputError(f"references[{i}] is None, so segment {i} has no reference")
    entries = listed(row, f"references[{i}]", "strings")
    for j, text in enumerate(entries):
        _check_string(text, f"references[{i}][{j}]")
    present = tuple(text for text in entries if text is not None)
    if not present:
        raise InputError(f"references[{i}] is {entries}, so segment {i} has no reference")
    return present


def as_references(references: object, n_segments: int) -> References:
    """Return `references` as `References` of `n_segments` segments, or raise an error."""
    if references is None:
        raise InputTypeError(
            "references is None, but this metric requires one entry per segment (for scores, "
            "pass es.Mean('name') as the metric)"
        )
    if not isinstance(references, References):
        if columns_of(references) is None:
            rows = listed_texts(references, "references", "one entry per segment")
            _check_layout(rows, n_segments)
            references = rows
        references = References(cast(Any, references))
    check_segments(len(references), n_segments)
    return references


def _check_layout(rows: Sequence[Any], n_segments: int) -> None:
    """Refuse sacreBLEU's layout if the lengths show it, and warn if the texts suggest it.

    Texts are asked where both layouts fit: there are as many segments as references of each.
    References of one segment resemble each other: where texts resemble those of other rows at the
    same place more than those of their own row, rows are streams. (Of two segments of WMT22 with
    two references each, 96% are found where they are transposed; where they are not, 0.3% are
    taken for it.)
    """
    n = len(rows)
    if not n or not all(isinstance(row, (list, tuple)) and len(row) == n_segments for row in rows):
        return
    if n != n_segments:
        raise InputError(
            f"references looks like sacreBLEU's layout ({n} streams of {n_segments}), but it "
            "must have one entry per segment; use evalstats.from_streams(*references)"
        )
    if n < 2:
        return
    # Pairs of neighbouring characters; none for an absent text.
    pieces = [
        [{a + b for a, b in pairwise(x)} if isinstance(x, str) else set() for x in row[:_ROWS]]
        for row in rows[:_ROWS]
    ]
    across = [list(column) for column in zip(*pieces, strict=True)]
    if _likeness(across) > _likeness(pieces) + _MARGIN:
        warnings.warn(
            f"references has {n} entries of {n} texts each, and they look like sacreBLEU's layout: "
            f"{n} streams. They are read as one entry per segment; if they are streams, pass "
            f"evalstats.from_streams(*references), if not, evalstats.References(references)",
            stacklevel=callers_level(),
        )


def callers_level() -> int:
    """Return how many calls up the code outside this library is."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("evalstats."):
        level, frame = level + 1, frame.f_back
    return level + 1


def _likeness(rows: Iterable[Sequence[set[str]]]) -> float:
    """Return the similarity of neighbours in a row: the mean share of pieces that both have."""
    pairs = [pair for row in rows for pair in pairwise(row) if min(map(len, pair)) >= _LEAST_PIECES]
    return sum(len(a & b) / len(a | b) for a, b in pairs) / max(len(pairs), 1)


def as_pairs(hypotheses: object, references: object) -> tuple[list[str], References]:
    """Return the texts of a system and their references, in the same order."""
    check_same_index({"hypotheses": hypotheses, "references": references})
    texts = as_texts(hypotheses)
    return texts, as_references(references, len(texts))


def check_segments(n_references: int, n_hypotheses: int) -> None:
    """Refuse references and hypotheses of different numbers of segments."""
    if n_references != n_hypotheses:
        raise InputError(
            "references must have as many entries as hypotheses, one per segment, got "
            f"{n_references} and {n_hypotheses}"
        )


def from_streams(*streams: Sequence[str | None]) -> list[list[str | None]]:
    """Turn sacreBLEU's reference layout into one entry per segment.

    Parameters
    ----------
    *streams
        One list per reference stream, each with N entries; `None` marks an absent reference.

    Returns
    -------
    list of list
        N entries, each a list of the references of a segment.

    Raises
    ------
    InputError
        For streams of different lengths, and for entries that are neither text nor `None`.

    Examples
    --------
    >>> from_streams(["a cat", "a dog"], ["one cat", None])
    [['a cat', 'one cat'], ['a dog', None]]
    """
    if not streams:
        raise InputError("streams is empty; pass at least one reference stream")
    check_same_index({f"stream {j}": stream for j, stream in enumerate(streams)})
    columns = [listed_texts(stream, f"stream {j}", "strings") for j, stream in enumerate(streams)]
    for j, column in enumerate(columns):
        for i, text in enumerate(column):
            hint = "; pass the streams as separate arguments" if len(streams) == 1 else ""
            _check_string(text, f"stream {j}, entry {i}", hint)
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise InputError(f"streams must have the same length, got {', '.join(map(str, lengths))}")
    return [list(row) for row in zip(*columns, strict=True)]
