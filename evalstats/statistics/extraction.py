"""From texts to statistics: every system and metric, each reference prepared once.

Lists of texts are processed whole, files in blocks of segments, to save memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import also_called, check_same_index, listed, refuse_masked
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import BLEU, CHRF, Metric, as_metric, is_built_in
from evalstats.metrics.bleu import BUNDLED_TOKENIZERS
from evalstats.resampling.executors import (
    Progress,
    Reporting,
    Workers,
    as_workers,
    reporting,
    run_all,
    usable_cores,
)
from evalstats.statistics.files import Lines
from evalstats.statistics.guards import Cautions, check_reference_lists, text_cautions
from evalstats.statistics.interchange import narrowest
from evalstats.statistics.segments import SegmentStatistics, as_names, as_segment_ids
from evalstats.text.ragged import blocks
from evalstats.text.references import (
    Encoded,
    References,
    as_references,
    as_rows,
    callers_level,
    columns_of,
    count_label,
    encoded,
    fingerprint_of,
)

Metrics = str | Metric | Sequence[str | Metric]
#: A metric, and the name and outputs of a system.
Job = tuple[Metric, str, Any]
#: Most bytes of references in a block of files: few enough for short waits on interruption, and for
#: a core's cache.
_BLOCK_BYTES = 1 << 20
_BLOCK_LINES = 1 << 15


@also_called(systems="hypotheses", metrics="metric")
def extract(
    hypotheses: Mapping[str, Any],
    references: Any = None,
    metric: str | Metric = "bleu",
    *,
    segment_ids: Sequence[str] | None = None,
    executor: Workers = None,
    progress: Progress | bool | None = None,
) -> SegmentStatistics:
    """Extract the statistics of every segment of every system, `(S, N, k)`.

    If you pass the result to `estimate` and `compare` instead of texts, texts are only processed
    once; `SegmentStatistics.save` writes it to disk.

    Parameters
    ----------
    hypotheses : mapping of str to sequence
        Outputs of each system, one per segment (numbers for `Mean` and `Ratio`); or a frame of
        pandas, polars or pyarrow with one column per system.
    references
        As in `Metric.statistics`.
    metric : str or Metric
        Name or configured object.
    segment_ids : sequence of str, optional
        N different names of the segments, printable and on one line, stored with the statistics: a
        comparison then refuses statistics of different segments, which could not be noticed
        otherwise for scores computed elsewhere.
    executor : concurrent.futures.Executor, optional
        The executor that does the work, one system at a time; by default, or for a number, it is
        done on this thread. The executor gets texts and returns statistics.
    progress : bool or callable, optional
        If True, the progress is shown: a bar if tqdm is installed, otherwise a line on standard
        error. A function is called as ``progress(done, total, label)`` for each system.

    Returns
    -------
    SegmentStatistics
        Statistics of S systems, N segments and k columns, with a hash of the references.

    Raises
    ------
    InputError
        For bad input; the message names the system.

    Examples
    --------
    >>> extract({"A": ["a cat"], "B": ["the cat"]}, ["a cat"], "ter").values.tolist()
    [[[0.0, 2.0]], [[1.0, 2.0]]]
    """
    workers = as_workers(reporting(executor, progress))
    (table,) = extract_all(hypotheses, references, as_metric(metric), workers, segment_ids)
    return table


def as_systems(systems: object, **others: object) -> Mapping[str, Any]:
    """Return outputs by system name, or raise for other values.

    Pandas columns with different indexes are refused, also among `others`.
    """
    columns = columns_of(systems)
    named = systems if columns is None else dict(columns)
    if not isinstance(named, Mapping):
        raise InputTypeError(
            "hypotheses must be a dict from system names to outputs, a data frame with one "
            f"column per system, or SegmentStatistics, got {type(systems).__name__}"
        )
    as_names(list(named) if columns is None else [name for name, _ in columns])
    by_name = {f"hypotheses of system {name!r}": texts for name, texts in named.items()}
    check_same_index({**by_name, **others})
    return named


def as_metrics(metrics: Metrics) -> list[Metric]:
    """Return one or several metrics as a list of objects."""
    if isinstance(metrics, (str, Metric)) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    chosen = [as_metric(metric) for metric in listed(metrics, "metrics", "metrics")]
    if not chosen:
        raise InputError("is empty; pass at least one", argument="metrics")
    return chosen


def _silent(done: int, total: int, label: str) -> None:
    """Tell nobody how far the work is."""


def extract_all(
    systems: object,
    references: object,
    metrics: Metrics,
    workers: Workers = 1,
    segment_ids: object = None,
) -> list[SegmentStatistics]:
    """Extract all systems under all metrics, one `SegmentStatistics` a metric."""
    say: Progress = _silent
    if isinstance(workers, Reporting):
        say, workers = workers.progress, workers.executor
    named = as_systems(systems, references=references, segment_ids=segment_ids)
    chosen = as_metrics(metrics)
    outputs = {n: _as_list(texts, f"hypotheses of system {n!r}") for n, texts in named.items()}
    lengths = {name: len(texts) for name, texts in outputs.items()}
    n_segments = next(iter(lengths.values()))
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InputError(f"hypotheses must have the same number of segments: {counts}")
    # Metrics with text references store their fingerprint.
    compares = [metric.uses_references and metric.reads_text for metric in chosen]
    prepared, plain = _prepared(chosen, outputs, references, n_segments)
    jobs = [(metric, name, texts) for metric in chosen for name, texts in outputs.items()]
    work = partial(_rows, {True: prepared, False: plain})
    if isinstance(workers, int):
        # Text processing is Python code, which threads do not speed up.
        rows = []
        for done, job in enumerate(jobs):
            say(done, len(jobs), f"{job[0].name} {job[1]}")
            rows.append(work(job))
    else:
        say(0, len(jobs), "all systems")
        rows = run_all(work, jobs, workers)
    say(len(jobs), len(jobs), "all systems")
    known: tuple[str | None, str | None] = (None, None)
    cautions: Sequence[Cautions] = [{}] * len(chosen)
    if isinstance(prepared, References):
        known = prepared.label, prepared.fingerprint
        if all(isinstance(text, str) for texts in outputs.values() for text in texts):
            cautions = text_cautions(chosen, cast(Any, outputs), cast(Any, prepared.streams()))
    size = len(outputs)
    return [
        SegmentStatistics(
            np.stack(rows[i * size : (i + 1) * size]),
            tuple(outputs),
            metric,
            *(known if compares[i] else (None, None)),
            None if segment_ids is None else as_segment_ids(segment_ids, n_segments),
            cautions=cautions[i] if compares[i] else {},
        )
        for i, metric in enumerate(chosen)
    ]


def _prepared(
    metrics: Sequence[Metric], outputs: Mapping[str, Any], references: Any, n_segments: int
) -> tuple[Any, Any]:
    """Return references for metrics of text, and for other metrics."""
    using = [metric for metric in metrics if metric.uses_references]
    prepared: Any = None
    if any(metric.reads_text for metric in using):
        check_reference_lists(outputs, references)
        # An empty corpus is reported as empty, not as a disagreement with the references.
        prepared = as_references(references, n_segments) if n_segments else references
    if references is not None and not using:
        names = ", ".join(metric.name for metric in metrics)
        warnings.warn(
            f"references have no effect: {names} {'does' if len(metrics) == 1 else 'do'} not use "
            "references; leave them out",
            stacklevel=callers_level(),
        )
    is_plain = references is not None and not all(metric.reads_text for metric in using)
    return prepared, _as_list(references, "references") if is_plain else None


def _as_list(texts: object, name: str) -> list[Any] | NDArray[Any]:
    """Return outputs with a length; generators are read once, for all systems and metrics."""
    if columns_of(texts) is not None:
        texts = as_rows(texts)
    if isinstance(texts, np.ndarray):
        refuse_masked(texts, name)
        return texts
    return listed(texts, name, "segments")


def _rows(references: Mapping[bool, Any], job: Job) -> NDArray[Any]:
    """Return the statistics of one system for one metric, `(N, k)`."""
    metric, name, texts = job
    try:
        return rows_of(metric, texts, references[metric.reads_text])
    except InputError as error:
        raise error.within(f"system {name!r}") from None


def rows_of(metric: Metric, texts: Any, references: Any) -> NDArray[Any]:
    """Return the statistics of texts for a metric, `(N, k)`, with a check of the shape."""
    rows = metric.statistics(texts, references)
    refuse_masked(rows, f"{metric.name}.statistics")
    rows = np.asarray(rows)
    expected = (len(texts), len(metric.columns))
    if rows.shape != expected:
        raise InputError(
            f"{metric.name}.statistics must return shape (N, k) = {expected}, got {rows.shape}"
        )
    return rows


def extract_files(
    systems: Mapping[str, Lines],
    references: Sequence[Lines],
    metrics: Sequence[Metric],
    progress: Progress | None = None,
    blank_is_absent: bool = False,
) -> list[SegmentStatistics]:
    """Extract from lines of files what `extract_all` extracts from lists, one table per metric.

    In one of several files of references, an empty line may mean that there is none.
    """

    def row(texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the existing references of a segment; if none exists, the first, empty one."""
        there = tuple(text for text in texts if text.strip()) if blank_is_absent else texts
        return there or texts[:1]

    def work(block: tuple[int, int]) -> tuple[list[NDArray[Any]], NDArray[np.int64], Encoded]:
        """Return the rows of each metric, `(S, n, k)`, and the references' counts and bytes."""
        columns = [lines.texts(*block) for lines in references]
        prepared = References(
            columns[0] if len(columns) == 1 else list(map(row, zip(*columns, strict=True)))
        )
        rows: list[list[NDArray[Any]]] = [[] for _ in metrics]
        for name, lines in systems.items():
            texts = lines.texts(*block)
            for metric, parts in zip(metrics, rows, strict=True):
                # All of them are kept, so in the narrowest integer type.
                parts.append(narrowest(_rows({True: prepared}, (metric, name, texts))))
        return [np.stack(parts) for parts in rows], prepared.counts, encoded(prepared.texts)

    pieces = list(blocks(references[0].edges, _BLOCK_BYTES, _BLOCK_LINES))
    threads = usable_cores() if all(_is_vectorised(metric) for metric in metrics) else 1
    say = progress or _silent
    parts = run_all(work, pieces, threads, lambda done, total: say(done, total, "extracting"))
    counts = np.concatenate([counts for _, counts, _ in parts])
    fingerprint = fingerprint_of(counts, [texts for *_, texts in parts])
    rows = [rows for rows, *_ in parts]
    del parts  # and the bytes of the references with them
    tables = []
    streams = references[:1] if blank_is_absent else references
    said = text_cautions(metrics, systems, streams)
    for metric, stacks, cautions in zip(metrics, zip(*rows, strict=True), said, strict=True):
        values = np.concatenate(stacks, axis=1, dtype=np.result_type(np.int32, *stacks))
        known = (count_label(counts), fingerprint)
        tables.append(SegmentStatistics(values, tuple(systems), metric, *known, cautions=cautions))
    return tables


def _is_vectorised(metric: Metric) -> bool:
    """Return whether a metric is mostly NumPy code, which threads do speed up."""
    if isinstance(metric, BLEU):
        # Other tokenisers may not be thread-safe.
        return metric.tokenizer in BUNDLED_TOKENIZERS
    return isinstance(metric, CHRF)


def has_runs(systems: object, metrics: Metrics) -> bool:
    """Return whether outputs are lists of runs, as far as the metric's kind shows it."""
    deepest = max(map(depth, systems.values())) if isinstance(systems, Mapping) and systems else 0
    if deepest < 2:  # one value per segment for all metrics
        return False
    chosen = as_metrics(metrics)
    entry_depth, *others = {metric.entry_depth for metric in chosen}
    # Rows of numbers are lists themselves; other metrics' input is unknown.
    if others or not all(map(is_built_in, chosen)):
        return False
    return deepest > entry_depth + 1


def depth(outputs: Any) -> int:
    """Return the depth of nesting of the first entry."""
    levels = 0
    while is_list(outputs) and len(outputs):
        outputs, levels = outputs[0], levels + 1
    return levels + isinstance(outputs, (set, frozenset))


def is_list(value: object) -> bool:
    """Return whether a value is a list, or an array, of several."""
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
