"""The samples of one task of lm-evaluation-harness, read line by line into statistics.

Every line has one item under one filter, and for each metric what the harness aggregates: a number,
or what a corpus score is made of (`harness_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import label, shown
from evalstats.errors import InputError
from evalstats.runs.harness_aggregations import READERS, recognised
from evalstats.runs.harness_results import Results
from evalstats.runs.harness_rows import Rows, UnreadableError
from evalstats.runs.items import Items, Key
from evalstats.runs.sources import dotted
from evalstats.runs.wanted import Wanted

#: Hashes of what was asked and expected; prompts may differ, by their chat templates.
_HASHES = ("doc_hash", "target_hash")
#: What a line has beside its metrics.
_FIXED = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "target_hash", "prompt_hash"),
}
_ABSENT = object()


class _Lines(NamedTuple):
    """The lines of one filter: their numbers, ids and labels, and the rows of every metric."""

    numbers: list[int]
    ids: list[str]
    labels: dict[str, list[str]]
    rows: dict[str, list[Any]]


class HarnessTask:
    """Collects the lines of a task.

    Parameters
    ----------
    task : str
    results : Results
        What the results file says.
    wanted : Wanted
    path : str
        Where the lines are, for messages, which call one a `unit`.
    """

    def __init__(
        self, task: str, results: Results, wanted: Wanted, path: str, unit: str = "line"
    ) -> None:
        self.task, self.results, self.wanted = task, results, wanted
        self.path, self.unit = path, unit
        self.scores = results.scores(task)
        filters = {name.rpartition(",")[2] for name in self.scores}
        # Logs of before 2025 do not name filters in lines; where there is one, it is that.
        self.filter = next(iter(filters)) if len(filters) == 1 else None if filters else "none"
        self.filters: dict[str, _Lines] = {}
        self.asked: dict[tuple[str, str], bool] = {}

    def add(self, record: Mapping[str, Any], number: int) -> None:
        """Take a line."""
        filter = record.get("filter", self.filter)
        if not isinstance(filter, str):
            raise InputError(f"{self._at(number)} must name its filter, got {shown(filter, 60)}")
        lines = self.filters.get(filter)
        if lines is None:
            labels = [*(h for h in _HASHES if h in record), *self.wanted.labels]
            lines = _Lines([], [], {name: [] for name in labels}, {})
            self.filters[label(filter, "filter")] = lines
        metrics = self._metrics(record, number, filter)
        doc_id = record.get("doc_id")
        if isinstance(doc_id, bool) or not isinstance(doc_id, (int, str)):
            raise InputError(f"{self._at(number)} must have a doc_id, got {shown(doc_id, 60)}")
        lines.ids.append(str(doc_id))
        for name, own in lines.labels.items():
            found = record.get(name) if name in _HASHES else dotted(record, name)
            if not isinstance(found, str) or (name in _HASHES and not found):
                raise InputError(f"{self._at(number)} must have a {name}, got {shown(found, 60)}")
            own.append(found)
        if metrics != list(lines.rows):
            for name in metrics:
                lines.rows.setdefault(name, [_ABSENT] * len(lines.numbers))
        lines.numbers.append(number)
        last: Any = None
        for name, rows in lines.rows.items():
            row = record[name] if name in metrics else _ABSENT
            if type(row) is list and type(last) is list and row == last:
                # BLEU, chrF and TER have the same texts, which are kept once.
                row = last
            rows.append(row)
            last = row

    def _metrics(self, record: Mapping[str, Any], number: int, filter: str) -> list[str]:
        """Return which metrics of a line are wanted."""
        names = record.get("metrics")
        if names is None:
            names = [name for name in record if name not in _FIXED]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(f"{self._at(number)}: metrics must be names, got {shown(names, 60)}")
        wanted = []
        for name in names:
            if name not in record or name in _FIXED:
                raise InputError(f"{self._at(number)} has no {shown(name, 60)}, one of its metrics")
            is_wanted = self.asked.get((name, filter))
            if is_wanted is None:
                is_wanted = self.wanted.has(Key(self.task, name, filter))
                self.asked[name, filter] = is_wanted
            if is_wanted:
                wanted.append(name)
        return wanted

    @property
    def n_items(self) -> int:
        """How many items there are, under the filter that has the most."""
        return max((len(lines.ids) for lines in self.filters.values()), default=0)

    def _at(self, number: int) -> str:
        return f"{self.path}, {self.unit} {number}"

    def items(self, system: str, skipped: list[str]) -> list[Items]:
        """Return the statistics by metric and filter; what cannot be read is added to `skipped`."""
        found = []
        for filter, lines in self.filters.items():
            for name, own in lines.labels.items():
                if any(own) and "" in own:
                    where = self._at(lines.numbers[own.index("")])
                    raise InputError(f"{where} has no {name}, which other lines have")
            for metric in lines.rows:
                key = Key(self.task, metric, filter)
                try:
                    found.append(self._items(key, system, lines))
                except UnreadableError as error:
                    skipped.append(f"{key}: {error}")
        if not self.filters:
            skipped.append(f"{self.task}: {self.path} has no lines")
        return found

    def _items(self, key: Key, system: str, lines: _Lines) -> Items:
        """Return the items of one metric and filter."""
        there = [i for i, row in enumerate(lines.rows[key.metric]) if row is not _ABSENT]
        rows = Rows(
            key.metric,
            [lines.rows[key.metric][i] for i in there],
            lambda i: f"{self._at(lines.numbers[there[i]])}: {key.metric}",
            self.results.higher_is_better(self.task, key.metric),
        )
        stated = self.scores.get(f"{key.metric},{key.filter}")
        function, said = self.results.aggregation(self.task, key.metric)
        lacking = self._lacking(lines, len(there))
        if function in READERS:
            found = READERS[function](rows)
        else:
            found = recognised(rows, function, None if lacking else stated)
        # A task of Python code has its own aggregations, which logs do not name.
        to_check = None if said or lacking else stated
        if to_check is not None and not np.isclose(found.score, to_check, rtol=1e-6, atol=1e-9):
            raise UnreadableError(
                f"the log does not say how it is aggregated: the rows give {found.score:.10g} as "
                f"{found.metric.name}, and the log has {stated:.10g}"
            )
        return Items(
            key,
            found.metric,
            (system,),
            [lines.ids[i] for i in there],
            found.statistics[None],
            {name: [own[i] for i in there] for name, own in lines.labels.items() if any(own)},
            {} if stated is None else {system: stated},
            "; ".join(words for words in (lacking, found.lacking) if words),
        )

    def _lacking(self, lines: _Lines, n_rows: int) -> str:
        """Return in words how many items there are, where the log says another number."""
        expected = self.results.count(self.task)
        if expected is None or n_rows <= expected <= len(lines.ids):
            return ""
        return f"the samples have {len(lines.ids):,} items, of {expected:,} that were scored"
