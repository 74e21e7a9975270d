"""WMT's automatic scores: a file of JSON lines a system, or the folder of all of them.

A line is a document of a language pair, with a list of scores of its paragraphs under each metric.
More is better under all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows
from evalstats.logs.sources import (
    Source,
    as_label,
    json_lines,
    require,
    require_text,
    without_suffix,
)
from evalstats.metrics import Mean

NAME = "WMT's automatic scores"

_KEYS = {"language_pair", "document_id", "metric_scores"}


def _files(source: Source) -> list[Source]:
    """Return the files of JSON lines whose first line is a document with scores."""
    files = [Source(path) for path in source.files]
    return [one for one in files if one.suffix == ".jsonl" and _KEYS.issubset(one.first)]


def is_ours(source: Source) -> bool:
    """Return whether the first line of a file, or of one in the folder, is such a document."""
    return bool(_files(source))


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of each file, whose name is that of its system."""
    return log_of(source.path, NAME, chain.from_iterable(_rows(s, wanted) for s in _files(source)))


def _rows(source: Source, wanted: Wanted) -> Iterator[Rows]:
    """Yield the rows of one file, that is of one system, by language pair and metric."""
    path = str(source.path)
    tasks = defaultdict[str, Answers](lambda: Answers(path))
    for n, record in json_lines(source.path):
        where = f"{path}, line {n}"
        task = require_text(record, "language_pair", where=where)
        document = require_text(record, "document_id", where=where)
        labels = {"document": document, "domain": as_label(record.get("domain"))}
        labels |= {name: as_label(record.get(name)) for name in wanted.labels if name not in labels}
        scores_of = require(record, "metric_scores", where=where)
        names = [name for name in scores_of if wanted.has(Key(task, name))]
        # A list a metric, of the scores of the same paragraphs.
        for i, scores in enumerate(zip(*(scores_of[name] for name in names), strict=True), 1):
            kept = dict(zip(names, scores, strict=True))
            tasks[task].add(n, f"{document}/{i}", labels, kept)
    for task, answers in tasks.items():
        items = answers.items()
        for name in answers.values:
            values = answers.means(name, items)
            yield Rows(Key(task, name), without_suffix(path), Mean(name), items, values, path=path)
