"""The corpus score of batches that arrive one by one, in one or several processes.

An accumulator keeps the statistics of every segment, one row each, so that the result has an
interval. Sums are exact and rows are sorted, so the result does not depend on how segments were
split into batches or processes, nor on the order of merging.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.estimate import estimate
from evalstats.analysis.options import EstimateOptions
from evalstats.checks import also_called, check_same_index, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Metric, as_metric
from evalstats.resampling.weighted import exact_grid
from evalstats.results.estimates import Estimate
from evalstats.statistics.extraction import rows_of
from evalstats.statistics.guards import KEPT, checksum, few_of, kept_cautions, kept_of
from evalstats.statistics.interchange import is_same_metric, narrowest
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import References, as_references

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Rows of statistics `(n, k)`, the ids `(n,)` of their segments or `None`, what is kept of their
#: texts `(n,)`, and a few references in other scripts.
_Block = tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any], tuple[str, ...]]


class Accumulator:
    """Collect the statistics of segments, batch by batch and rank by rank.

    Parameters
    ----------
    metric : str or Metric
        Name or configured object.

    Notes
    -----
    With ids, rows are sorted by id, and a segment that was passed more than once counts once: the
    padding of a distributed sampler disappears. The same id with different statistics is an error.
    Without ids, rows are sorted by their numbers, and all of them count. Threads may share an
    accumulator. Pickles hold the narrowest integers that fit: 40 kB for BLEU of 2,000 segments.

    Examples
    --------
    Two ranks, with a sampler that gave segment 0 to both:

    >>> references = ["the cat sat on the mat", "it is raining", "hello there world"]
    >>> first, second = Accumulator("chrf"), Accumulator("chrf")
    >>> first.update(["the cat sat on a mat", "it rains"], references[:2], ids=[0, 1])
    >>> second.update(["hello world"], references[2:], ids=[2])
    >>> second.update(["the cat sat on a mat"], references[:1], ids=[0])
    >>> merged = first.merge(second)
    >>> len(merged), round(merged.compute(), 2)
    (3, 47.79)
    """

    @also_called(metrics="metric")
    def __init__(self, metric: str | Metric = "bleu") -> None:
        self.metric: Metric = as_metric(metric)
        self._blocks: tuple[_Block, ...] = ()
        self._lock = Lock()

    def update(
        self, hypotheses: Any, references: Any = None, ids: Iterable[int | str] | None = None
    ) -> None:
        """Add a batch of segments; an empty batch adds nothing.

        Parameters
        ----------
        hypotheses
            n outputs (numbers for `Mean` and `Ratio`).
        references
            One entry per segment of the batch: a string, a list of strings (`None` if absent), or a
            `References`. Streams of a square batch are read as entries, with a warning if the texts
            look like streams.
        ids : sequence of int or str, optional
            Ids of the segments: n positions in the data set (not in the batch or on the rank), or
            names. Pass them for all batches or for none.

        Bad input raises an `InputError`, and the collected statistics stay as they were.
        """
        check_same_index({"hypotheses": hypotheses, "references": references, "ids": ids})
        if not isinstance(hypotheses, np.ndarray):
            hypotheses = listed(hypotheses, "hypotheses", "segments")
        labels = None if ids is None else _as_ids(ids, len(hypotheses))
        if len(hypotheses) == 0 and (references is None or len(references) == 0):
            return
        if self._compares:
            references = as_references(references, len(hypotheses))
        rows = rows_of(self.metric, hypotheses, references)
        kept, few = np.zeros(len(rows), dtype=KEPT), few_of(())
        if self._compares:
            kept, few = kept_of(hypotheses, references), few_of(texts[0] for texts in references)
        self._add(((rows, labels, kept, few),))

    def merge(self, other: Accumulator) -> Accumulator:
        """Add the segments of another accumulator, and return this one.

        A different metric, or ids in only one of the two, raise an `InputError`.
        """
        if not isinstance(other, Accumulator):
            raise InputTypeError(f"other must be an Accumulator, got {type(other).__name__}")
        if not is_same_metric(self.metric, other.metric):
            raise InputError(
                f"accumulators must have the same metric, got {self.metric!r} and {other.metric!r}"
            )
        self._add(other._blocks)
        return self

    def reset(self) -> None:
        """Forget all segments."""
        self._blocks = ()

    def __len__(self) -> int:
        """Return the number of segments, each id counted once."""
        return len(self._collected()[0])

    @property
    def ids(self) -> list[int] | list[str] | None:
        """The ids in the order of the rows, each once; `None` if segments have none."""
        ids = self._collected()[1]
        return None if ids is None else ids.tolist()

    @property
    def checksums(self) -> NDArray[np.uint32]:
        """A checksum of each segment's references, in the order of the ids (zeros for none)."""
        return np.ascontiguousarray(self._collected()[2]["references"])

    @property
    def _compares(self) -> bool:
        """Whether the metric compares texts with references."""
        return bool(self.metric.uses_references and self.metric.reads_text)

    def compute(self) -> float:
        """Return the corpus score of all segments so far.

        No segments, or an id with different statistics, raise an `InputError`.
        """
        # On the grid, which `estimate` uses too, sums of fractions are also exact.
        rows = self.statistics().values[0]
        return float(self.metric.score(np.sum(exact_grid(rows), axis=0, dtype=np.float64)))

    def statistics(self, system: str = "system") -> SegmentStatistics:
        """Return the statistics of all segments so far, for `estimate` and `compare`, `(1, N, k)`.

        With ids, rows are sorted by id, so two systems collected with the same ids are paired. The
        statistics have the same cautions as from `extract`, and contain no text.
        """
        rows, _, kept, few = self._collected()
        if not len(rows):
            raise InputError("there are no segments yet; call update first")
        said = kept_cautions(self.metric, system, kept, few) if self._compares else {}
        return SegmentStatistics(rows[None], (system,), self.metric, cautions=said)

    def estimate(self, **options: Unpack[EstimateOptions]) -> Estimate:
        """Return the score with its confidence interval, as `evalstats.estimate` does.

        With ids from 0 to N - 1, the result equals `estimate` on the whole corpus, bit for bit;
        without ids, resamples draw the rows in a different order. `options` are the options of
        `estimate`: ``method``, ``confidence_level``, ``n_resamples``, ``rng`` and others.
        """
        (result,) = estimate([self.statistics()], **options)
        return result

    def __repr__(self) -> str:
        return f"Accumulator({self.metric!r}, {sum(len(block[0]) for block in self._blocks)} rows)"

    def __getstate__(self) -> dict[str, Any]:
        rows, ids, *texts = self._collected()
        if not len(rows):
            return {"metric": self.metric, "_blocks": ()}
        # The same numbers in the smallest type that fits.
        if rows.dtype.kind == "f" and np.max(np.abs(rows)) < 2**53 and np.all(rows % 1 == 0):
            rows = rows.astype(np.int64)
        if ids is not None and ids.dtype != object:
            ids = narrowest(ids)
        return {"metric": self.metric, "_blocks": ((narrowest(rows), ids, *texts),)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def _add(self, blocks: tuple[_Block, ...]) -> None:
        with self._lock:
            together = self._blocks + blocks
            kinds = {None if ids is None else ids.dtype.kind for _, ids, *_ in together}
            if len(kinds) > 1:
                raise InputError(
                    "ids must be passed either for all segments or for none, and be all "
                    "integers or all strings; these do not match the ids collected before"
                )
            # One assignment: after an interruption, all or nothing of a batch is there.
            self._blocks = together

    def _collected(self) -> _Block:
        """Return all rows sorted, each id once, with their ids and what is kept of texts."""
        with self._lock:
            if not self._blocks:
                nothing = np.empty((0, len(self.metric.columns)), dtype=np.int64)
                return nothing, None, np.empty(0, dtype=KEPT), ()
            # The sorted block replaces the others, so that it is sorted only once.
            self._blocks = (_in_order(self._blocks),)
            return self._blocks[0]


def _in_order(blocks: tuple[_Block, ...]) -> _Block:
    """Return blocks as one block, sorted by id with each id once, or by the numbers of the rows."""
    rows = np.concatenate(
        [x.astype(np.int64 if x.dtype.kind in "bui" else np.float64) for x, *_ in blocks]
    )
    kept = np.concatenate([kept for _, _, kept, _ in blocks])
    few = few_of(text for *_, texts in blocks for text in texts)
    if blocks[0][1] is None:
        order = np.lexsort(rows.T[::-1])
        return rows[order], None, kept[order], few
    ids = np.concatenate([ids for _, ids, *_ in blocks if ids is not None])
    # Of two outputs of the same statistics the same one is kept, whatever the order of blocks.
    order = np.argsort(kept["output"], kind="stable")
    order = order[np.argsort(ids[order], kind="stable")]
    rows, ids, kept = rows[order], ids[order], kept[order]
    again = np.flatnonzero(ids[1:] == ids[:-1])
    differ = np.any(rows[again] != rows[again + 1], axis=1)
    sums = kept["references"]
    conflicts = again[differ | (sums[again] != sums[again + 1])]
    if len(conflicts):
        raise InputError(
            f"id {ids.tolist()[conflicts[0]]!r} was passed before with different statistics or "
            "references; ids must be positions in the data set, not in a batch or on a rank"
        )
    first = np.ones(len(ids), dtype=np.bool_)
    first[again + 1] = False
    return rows[first], ids[first], kept[first], few


def checksums(references: References) -> NDArray[np.uint32]:
    """Return a checksum of the references of each segment, `(N,)`."""
    return np.fromiter(map(checksum, references), dtype=np.uint32, count=len(references))


def _as_ids(ids: object, n_segments: int) -> NDArray[Any]:
    """Return ids `(n,)` as int64 or as strings (objects); an InputError for others."""
    labels = listed(ids, "ids", "integers or strings, one per segment")
    # Iterating over tensors and arrays gives scalars of their types.
    labels = [label.item() if hasattr(label, "item") else label for label in labels]
    if len(labels) != n_segments:
        raise InputError(
            f"ids has {len(labels)} entries but hypotheses has {n_segments}; pass one id per "
            "segment"
        )
    kinds = {type(label) for label in labels}
    if not (kinds <= {int} or kinds <= {str}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputTypeError(f"ids must be all integers or all strings, got {names}")
    try:
        # NumPy's strings would lose a NUL at the end.
        return np.array(labels, dtype=object if str in kinds else np.int64)
    except OverflowError:
        raise InputError("ids must be integers that fit into 64 bits") from None
