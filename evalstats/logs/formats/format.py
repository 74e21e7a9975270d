"""`Format`: which files are of a format, and how they become rows; what logs lack, as sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Called
from evalstats.checks import shown
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Items, Key, Rows, is_finite
from evalstats.logs.sources import Json, Source, dotted, read_json
from evalstats.metrics import Mean

#: What is said of a format where nothing names the items.
BY_PLACE = ", items are its rows"
#: What stands before the names of arguments among settings.
ARGUMENT = "arguments"


@dataclass
class Reading:
    """A file or folder that is read: its files of the format, and what of them is wanted.

    Beside the rows a format fills in what `Log` calls `skipped`, `groups` and `group_scores`, and
    may say more of its own name in `format`.
    """

    source: Source
    files: list[Path]
    wanted: Wanted
    format: str
    skipped: list[str] = field(default_factory=list)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    group_scores: dict[tuple[Key, str], float] = field(default_factory=dict)

    def json(self, path: Path) -> Json:
        """Return what one of the files holds; a file that is alone was read before."""
        return self.source.json if path == self.source.path else read_json(path)

    def labels(self, record: Any, **own: str) -> dict[str, str]:
        """Return the labels of an item: its own, and those that are asked for, by paths of keys."""
        return {**own, **{path: dotted(record, path) for path in self.wanted.labels}}


@dataclass(frozen=True)
class Format:
    """A format of logs: `rows` turns its files into rows.

    A single file is of the format if it has one of the `suffixes`, ".json .jsonl", less that of
    compression, and `fits`; no other file is opened. Of a folder the files are read that `listed`
    knows by their names or first bytes; a format without it reads single files only. `called` says
    what it calls an item, and a task, where that is not said by the file.
    """

    name: str
    suffixes: str
    fits: Callable[[Source], bool]
    rows: Callable[[Reading], Iterable[Rows]]
    listed: Callable[[Source], bool] | None = None
    called: Called | None = None

    def files(self, source: Source) -> Iterator[Path]:
        """Yield the files of a folder that are of this format, or the file that is."""
        if source.path.is_dir():
            if self.listed is not None:
                yield from (path for path in source.files if self.listed(Source(path)))
        elif source.suffix in self.suffixes.split() and self.fits(source):
            yield source.path

    def is_ours(self, source: Source) -> bool:
        """Return whether a file is of this format, or a folder has such a file."""
        return next(self.files(source), None) is not None

    def read(self, source: Source, wanted: Wanted) -> Log:
        """Return what is wanted of a file or folder of this format."""
        reading = Reading(source, list(self.files(source)), wanted, self.name)
        rows = list(self.rows(reading))
        if self.called is not None:
            rows = [replace(one, called=self.called) for one in rows]
        return log_of(
            source.path,
            reading.format,
            rows,
            skipped=reading.skipped,
            groups=reading.groups,
            group_scores=reading.group_scores,
        )


def begins(source: Source, beginning: re.Pattern[bytes]) -> bool:
    """Return whether a file is JSON whose first bytes match a pattern; no more of it is read."""
    return source.suffix == ".json" and beginning.match(source.head) is not None


def beside(path: Path, name: str) -> Json:
    """Return what a JSON file of this name in the same folder holds, None where there is none."""
    file = path.with_name(name)
    return read_json(file) if file != path and file.is_file() else None


def first_of(document: Any) -> Json:
    """Return the first of a list, None of an empty one and of anything else."""
    return document[0] if isinstance(document, list) and document else None


def has(record: Any, *keys: str) -> bool:
    """Return whether what JSON holds is an object with all of these keys."""
    return isinstance(record, dict) and record.keys() >= set(keys)


def rows_of(
    answers: Answers,
    key: Key,
    system: str,
    items: Items | None = None,
    values: NDArray[np.float64] | None = None,
    *,
    higher: bool | None = True,
    reported: object = None,
    lacking: Sequence[str] = (),
    failed: str = "",
    is_limited: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Rows:
    """Return the rows of a metric whose mean is taken; it is the answers' metric of that name.

    `items` are given where several metrics share them, and `values` where they are not simply its
    scores. `higher` says whether more is better, None where nothing says it; `reported` counts if
    it is a number, and lines of `lacking` if they are not empty. What has no score has the score 0
    where `failed` says why, since the harness counts it as a failure.
    """
    items = items or answers.items()
    values = answers.means(key.metric, items) if values is None else values
    is_failed = np.asarray(np.isnan(values).any(axis=1)) if failed else None
    if is_failed is not None:
        values[is_failed] = 0.0, 1.0
    return Rows(
        key,
        system,
        Mean(key.metric, higher is not False),
        items,
        values,
        reported=float(reported) if is_finite(reported) else None,
        lacking="; ".join(filter(None, lacking)),
        is_limited=is_limited,
        is_directed=higher is not None,
        path=answers.where,
        settings=settings or {},
        is_failed=is_failed,
        failed=failed,
    )


def fewer(unit: str, n_stated: object, n_there: int) -> str:
    """Return "there were 8 trials, 6 are there"; empty where the two agree, or none is stated."""
    if n_stated is None or n_stated == n_there:
        return ""
    return f"there were {shown(n_stated, 60)} {unit}, {n_there:,} are there"


def ended(unit: str, errors: Sequence[object], n_whole: int | None = None) -> str:
    """Return "2 of 8 trials ended with an error, the first with 'timeout'"; empty for none."""
    if not errors:
        return ""
    whole = f" of {n_whole:,}" if n_whole is not None else ""
    what = unit.removesuffix("s") if len(errors) == 1 and n_whole is None else unit
    first = shown(errors[0], 80)
    return f"{len(errors):,}{whole} {what} ended with an error, the first with {first}"


def settings_of(**values: object) -> dict[str, str]:
    """Return settings as text, without those that are not known: ``{"version": "1.0"}``.

    A dataset that is a path says where it was on one machine, and not what it is.
    """
    known = {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
        if value not in (None, "", "N/A")
    }
    if PurePath(known.get("dataset", "")).is_absolute():
        del known["dataset"]
    return known


def arguments_of(arguments: object) -> dict[str, str]:
    """Return arguments of a task as settings: of ``{"cot": 1}``, ``{"arguments.cot": "1"}``."""
    if not isinstance(arguments, Mapping):
        return {}
    return {f"{ARGUMENT}.{name}": shown(arguments[name], 60) for name in sorted(arguments, key=str)}
