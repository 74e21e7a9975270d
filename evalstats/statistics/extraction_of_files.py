"""Files of texts to statistics, some segments at a time, so that few texts are in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.metrics import BLEU, CHRF, Metric
from evalstats.metrics.bleu import BUNDLED_TOKENIZERS
from evalstats.resampling.executors import run_all, usable_cores
from evalstats.statistics.extraction import Progress, rows_of
from evalstats.statistics.files import Lines
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.ragged import blocks
from evalstats.text.references import Encoded, References, encoded, fingerprint_of

#: A block has so many bytes of the references, at most: few enough that an interruption need not
#: wait long, and that what is made of them stays near the core.
_BLOCK_BYTES = 1 << 20
_BLOCK_LINES = 1 << 15


def extract_files(
    systems: Mapping[str, Lines],
    references: Sequence[Lines],
    metrics: Sequence[Metric],
    progress: Progress | None = None,
) -> list[SegmentStatistics]:
    """Extract what `extraction.extract_all` gives for the lines of files, one table a metric."""
    pieces = list(blocks(references[0].edges, _BLOCK_BYTES, _BLOCK_LINES))
    threads = usable_cores() if all(_is_vectorised(metric) for metric in metrics) else 1
    say = progress or (lambda done, total, label: None)
    work = _Work(systems, references, metrics)
    parts = run_all(work, pieces, threads, lambda done, total: say(done, total, "extracting"))
    counts = np.full(len(references[0]), len(references))
    fingerprint = fingerprint_of(counts, [part.references for part in parts])
    rows = [part.rows for part in parts]
    del parts  # and the bytes of the references with them
    tables = []
    for metric, found in zip(metrics, zip(*rows, strict=True), strict=True):
        values = np.concatenate(found, axis=1, dtype=np.result_type(np.int32, *found))
        known = (str(len(references)), fingerprint)
        tables.append(SegmentStatistics(values, tuple(systems), metric, *known))
    return tables


def _is_vectorised(metric: Metric) -> bool:
    """Say whether a metric is NumPy's work for the most part, which threads do speed up."""
    if isinstance(metric, BLEU):
        # Other tokenisers promise nothing about threads.
        return metric.tokenizer in BUNDLED_TOKENIZERS
    return isinstance(metric, CHRF)


class _Part(NamedTuple):
    """What is kept of a block: the rows of each metric, `(S, n, k)`, and the references' bytes."""

    rows: list[NDArray[Any]]
    references: Encoded


@dataclass
class _Work:
    """Extract one block of segments."""

    systems: Mapping[str, Lines]
    references: Sequence[Lines]
    metrics: Sequence[Metric]

    def __call__(self, block: tuple[int, int]) -> _Part:
        columns = [lines.texts(*block) for lines in self.references]
        references = References(
            columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        )
        rows: list[list[NDArray[Any]]] = [[] for _ in self.metrics]
        for name, lines in self.systems.items():
            texts = lines.texts(*block)
            for metric, found in zip(self.metrics, rows, strict=True):
                try:
                    found.append(_narrow(rows_of(metric, texts, references)))
                except InputError as error:
                    raise type(error)(f"system {name!r}: {error}") from None
        stacked = [np.stack(found) for found in rows]
        return _Part(stacked, encoded(references.texts))


def _narrow(rows: NDArray[Any]) -> NDArray[Any]:
    """Return counts in the narrowest integers that hold them, since all of them are kept."""
    if rows.dtype.kind not in "iu":
        return rows
    return rows.astype(np.min_scalar_type(rows.max(initial=0)))
