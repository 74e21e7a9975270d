"""Rows of logs: one per answer to an item of a task, of one system for one metric.

Rows are stored by column: a `Rows` has the rows of one system for one metric and filter of one
task, and shares its `Items` with other metrics of the same items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Called
from evalstats.checks import check_names, choice, is_missing, label, meant, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean, Metric
from evalstats.metrics.directions import COSTS, HIGHER, LOWER, TURNED, WORD, direction, words
from evalstats.results.records import counted

#: Hashes of questions, of prompts, and of expected answers.
ITEM, TARGET = "item_hash", "target_hash"
#: Number of characters of a question or an answer that are kept: the last ones, after examples.
_MOST_TEXT = 600
_NUMBERS = re.compile(r"(\d+)", re.ASCII)


class Key(NamedTuple):
    """The task, metric and filter of rows; "" if the format does not have one."""

    task: str
    metric: str
    filter: str = ""

    @property
    def part(self) -> str:
        """The task, and the filter if there is one, as one name.

        lm-evaluation-harness writes "none" for no filter.
        """
        has_filter = self.filter not in ("", "none")
        return f"{self.task} ({self.filter})".strip() if has_filter else self.task

    @property
    def on_task(self) -> str:
        """The metric and its task in words: "acc on 'law'"."""
        return f"{self.metric} on {self.part!r}" if self.part else self.metric

    def __str__(self) -> str:
        """Return the three as one name."""
        return f"{self.part}: {self.metric}" if self.part else self.metric


@dataclass(frozen=True, eq=False)
class Items:
    """The answers, `(n,)`, in the natural order of the ids of their items.

    `epochs` number the answers to an item, empty if each has one, and `are_runs` is whether the
    number is a run of the system, such as a seed; `labels` are groups and hashes of questions;
    `order` is the original place of each answer; `paths` are known keys of the log that can be
    requested as labels; `texts` are the "question", "target" and "answer" of each, or their ends,
    if the log has them, and "prompt", a hash of the whole input of a system, which may differ.
    """

    ids: tuple[str, ...]
    epochs: NDArray[np.int64]
    labels: Mapping[str, tuple[str, ...]]
    order: NDArray[np.intp]
    paths: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    are_runs: bool = False

    @classmethod
    def of(
        cls,
        where: object,
        ids: Sequence[str],
        labels: Mapping[str, Sequence[str]] | None = None,
        epochs: Sequence[int] = (),
        texts: Mapping[str, Sequence[str]] | None = None,
        paths: tuple[str, ...] = (),
    ) -> Items:
        """Return answers in the natural order of their ids, and of their epochs.

        Labels that are empty for all answers are left out. `where` is the name of the log in
        messages.
        """
        labels = {name: values for name, values in (labels or {}).items() if any(values)}
        texts = {name: values for name, values in (texts or {}).items() if any(values)}
        numbers = epochs if len(set(epochs)) > 1 else ()
        first = sorted(range(len(ids)), key=numbers.__getitem__) if numbers else range(len(ids))
        order = [first[i] for i in natural_order([ids[i] for i in first])]
        answers = [(ids[i], numbers[i]) if numbers else ids[i] for i in order]
        check_names(ids, f"{where}: ids")
        if len(set(answers)) < len(answers):
            twice = [a for a, b in zip(answers[1:], answers, strict=False) if a == b]
            raise InputError(
                f"{where} has {counted(len(twice), 'item')} more than once, for example "
                f"{', '.join(map(shown, twice[:3]))}; a log must contain each item only once"
            )
        for name, values in labels.items():
            check_names(values, f"{where}: labels {label(name, 'names of labels')!r}")
        return cls(
            tuple(ids[i] for i in order),
            np.array([numbers[i] for i in order if numbers], np.int64),
            taken(labels, order),
            np.array(order, np.intp),
            paths,
            taken(texts, order),
        )

    def at(self, places: Sequence[int], *, are_alone: bool = False) -> Items:
        """Return the answers at these places; `are_alone`: the only ones to their items."""
        epochs = self.epochs if len(self.epochs) and not are_alone else np.empty(0, np.int64)
        return replace(
            self,
            ids=tuple(self.ids[i] for i in places),
            epochs=epochs[places] if len(epochs) else epochs,
            labels=taken(self.labels, places),
            order=np.arange(len(places)),
            texts=taken(self.texts, places),
        )


def taken(
    columns: Mapping[str, Sequence[str]], places: Sequence[int]
) -> dict[str, tuple[str, ...]]:
    """Return columns with their values at these places, in this order."""
    return {name: tuple(values[i] for i in places) for name, values in columns.items()}


@dataclass
class Answers:
    """Answers in the order in which a format reads them, by column.

    `where` is the path and `unit` the unit of `lines`: "a.jsonl, line 7". `ids` are ids of items,
    and `epochs` number the answers to an item. `values` has the score of each answer, or its
    statistics, by metric and place, since an answer need not have all: ``{"acc": {0: 1.0, 2:
    0.0}}``. `paths` are keys that can be requested as labels: "doc.passage"; `texts` are as in
    `Items`.
    """

    where: str
    unit: str = "line"
    lines: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, dict[int, Any]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        line: int,
        id: str,
        labels: Mapping[str, str],
        values: Mapping[str, Any],
        epoch: int = 1,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """Add an answer; all have labels, and texts, of the same names."""
        place = len(self.lines)
        self.lines.append(line)
        self.ids.append(id)
        self.epochs.append(epoch)
        for name, value in labels.items():
            self.labels.setdefault(name, []).append(value)
        for name, text in (texts or {}).items():
            cut = text if len(text) <= _MOST_TEXT else f"… {text[-_MOST_TEXT:]}"
            self.texts.setdefault(name, []).append(cut)
        for name, value in values.items():
            self.values.setdefault(name, {})[place] = value

    def items(self, places: Sequence[int] | None = None) -> Items:
        """Return the items of all answers, or of the answers at `places`."""
        at = range(len(self.ids)) if places is None else places
        return Items.of(
            self.where,
            [self.ids[i] for i in at],
            taken(self.labels, at),
            [self.epochs[i] for i in at],
            taken(self.texts, at),
            self.paths,
        )

    def means(self, metric: str, items: Items) -> NDArray[np.float64]:
        """Return statistics of `Mean` in the order of the items, NaN if there is no score."""
        places = list(self.values[metric])
        scores = as_scores(
            list(self.values[metric].values()),
            lambda i: f"{self.where}, {self.unit} {self.lines[places[i]]}, {metric}",
        )
        return self.pairs(metric, items, mean_rows(scores))

    def pairs(self, metric: str, items: Items, statistics: Any) -> NDArray[np.float64]:
        """Return the statistics of all answers in the order of the items, `(m, 2) -> (n, 2)`.

        `statistics` belong to the m answers that have this metric; the others are NaN.
        """
        rows = np.full((len(self.ids), 2), np.nan)
        rows[list(self.values[metric])] = statistics
        return rows[items.order]

    def rows(
        self,
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
        """Return the rows of a metric that is a mean of the scores with its name.

        Pass `items` if several metrics share them, and `values` if they are not simply its scores.
        `higher` is whether higher is better, None if unknown; `reported` is used if it is a number,
        and lines of `lacking` if they are not empty. With a reason in `failed`, missing scores are
        0, since the harness counts them as failures.
        """
        items = items or self.items()
        values = self.means(key.metric, items) if values is None else values
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
            path=self.where,
            settings=settings or {},
            is_failed=is_failed,
            failed=failed,
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one system for one metric of one task, with n answers.

    `values` `(n, k)` are statistics of the metric in the order of the items: NaN if a score is
    missing; a `Mean` has (0, 0) for deliberately unscored answers. `reported` is the score in the
    log, `lacking` describes missing parts, `is_limited` is whether only a subset of the items was
    requested and is complete, `is_directed` whether the direction is known, `path` the file, and
    `settings` the settings of the task, if the log has them: ``{"version": "1.0", "shots": "5"}``.
    `is_absent` `(n,)` marks answers that only other systems of a table have. `is_failed` `(n,)`
    marks answers without a score, for example after an error, which are 0, as in their harness;
    `failed` is their number and reason: "2 trials ended with an error". `is_column` is whether the
    system is a column of scores, which may also be a metric. `called` are the names of an item and
    of a task. `run` is the name of the run, or of the trial, if a column has it and all rows of the
    system have the same one.
    """

    key: Key
    system: str
    metric: Metric
    items: Items
    values: NDArray[Any]
    reported: float | None = None
    lacking: str = ""
    is_limited: bool = False
    is_directed: bool = True
    path: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    is_absent: NDArray[np.bool_] | None = None
    is_failed: NDArray[np.bool_] | None = None
    failed: str = ""
    is_column: bool = False
    called: Called = ("item", "task")
    run: str = ""

    @property
    def is_gone(self) -> NDArray[np.bool_]:
        """Whether the score of an answer is missing, `(n,)`."""
        return np.asarray(np.isnan(self.values).any(axis=1))

    def without_absent(self, *, keep_items: bool) -> Rows:
        """Return the rows without answers that only other systems have, unless these are failures.

        With `keep_items`, an item without other answers keeps its missing ones.
        """
        if self.is_absent is None or not np.any(self.is_absent):
            return self
        kept = ~self.is_absent if self.is_failed is None else ~self.is_absent | self.is_failed
        if keep_items:
            codes = np.unique(self.items.ids, return_inverse=True)[1]
            kept |= ~np.isin(codes, codes[kept])
        return self.part(kept)

    def part(self, kept: NDArray[np.bool_]) -> Rows:
        """Return the rows of the answers to keep, `(n,)`."""
        return replace(
            self,
            items=self.items.at(np.flatnonzero(kept).tolist()),
            values=self.values[kept],
            is_absent=None if self.is_absent is None else self.is_absent[kept],
            is_failed=None if self.is_failed is None else self.is_failed[kept],
        )

    def counting(self, missing: str | None) -> Rows:
        """Return the rows with missing scores treated by `missing`.

        By default (`None`), they are failures if their harness counts them so. With "failure" all
        are, for 0/1 scores, except items without a row, which `complete` counts; otherwise none is.
        """
        if missing == "failure" and isinstance(self.metric, Mean):
            is_gone = self.is_gone
            if self.is_absent is not None and not len(self.items.epochs):
                is_gone &= ~self.is_absent
            n, scores = int(np.sum(is_gone)), self.values[~self.is_gone, 0]
            if not n or not np.all(np.isin(scores, (0, 1))):
                return self
            said = f"{n:,} of {len(is_gone):,} answers have no score"
            return replace(
                self,
                values=np.where(is_gone[:, None], (0.0, 1.0), self.values),
                is_failed=is_gone if self.is_failed is None else is_gone | self.is_failed,
                failed=f"{self.failed}; {said}" if self.failed else said,
            )
        if missing in (None, "failure") or self.is_failed is None:
            return self
        values = np.where(self.is_failed[:, None], np.nan, self.values)
        lacking = "; ".join(filter(None, (self.lacking, self.failed)))
        return replace(self, values=values, lacking=lacking, is_failed=None, failed="")


def mean_rows(scores: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores as statistics of `Mean`, the score and 1, `(n,) -> (n, 2)`; NaN stays NaN."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.stack([scores, np.where(np.isnan(scores), np.nan, 1.0)], axis=-1)


#: Systems, with scores and labels of their segments.
Numbered = Sequence[tuple[str, Sequence[float] | NDArray[np.float64], Mapping[str, Sequence[str]]]]


def numbered(where: str, key: Key, systems: Numbered) -> list[Rows]:
    """Return the scores of systems on the same segments, numbered from 1."""
    sizes = {name: len(scores) for name, scores, _ in systems}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{n:,} of {shown(name, 60)}" for name, n in sizes.items())
        raise InputError(f"{where}: all systems must have the same segments, got {counts[:500]}")
    rows = []
    for name, scores, labels in systems:
        items = Items.of(where, [str(i + 1) for i in range(len(scores))], labels)
        rows.append(Rows(key, name, Mean(key.metric), items, mean_rows(scores), path=where))
    return rows


def natural(name: str) -> tuple[Any, ...]:
    """Return a sort key for names, so that "item 9" is before "item 10"."""
    parts = _NUMBERS.split(name)
    # Texts and numbers alternate, so that only equal types are compared. Strings of digits are
    # compared by length first, so no number is too long.
    numbers = [(len(part.lstrip("0")), part.lstrip("0")) for part in parts[1::2]]
    return (tuple(zip(parts[::2], [*numbers, (0, "")], strict=True)), name)


def natural_order(names: Sequence[str]) -> list[int]:
    """Return the places of names in their natural order."""
    if not all(name.isdecimal() and name.isascii() for name in names):
        return sorted(range(len(names)), key=[natural(name) for name in names].__getitem__)
    # Most logs number their items, which gives the same order without a million small tuples.
    digits = [name.lstrip("0") for name in names]
    order = sorted(range(len(names)), key=names.__getitem__)
    order.sort(key=digits.__getitem__)
    order.sort(key=[len(digit) for digit in digits].__getitem__)
    return order


def number(value: object, where: str) -> float:
    """Return a finite number; true and false are 1 and 0."""
    if not isinstance(value, (bool, int, float)):
        raise InputError(f"{where} must be a number, got {shown(value, 60)}")
    with suppress(OverflowError):
        if np.isfinite(as_float := float(value)):
            return as_float
    raise InputError(f"{where} must be a finite number, got {shown(value, 60)}")


def as_scores(values: Sequence[object], where: Callable[[int], str]) -> NDArray[np.float64]:
    """Return numbers `(n,)`, NaN for missing values; `where(i)` names a value in messages."""
    if set(map(type, values)) <= {float, int, bool, type(None)}:
        with suppress(OverflowError):
            scores = np.array(values, dtype=np.float64)
            if not np.any(np.isinf(scores)):
                return scores
    scores = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if not (value is None or value == "" or is_missing(value)):
            scores[i] = number(value, where(i))
    return scores


def is_finite(value: object) -> TypeGuard[float]:
    """Return whether a value is a finite number, small enough for sums."""
    return isinstance(value, (int, float)) and abs(value) < 1e300


_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Names of columns with differences of two systems.
_DIFFERENCES = words("delta deltas δ diff diffs difference differences change improvement gain")
#: Names of numbers that are never scores.
_NEVER = words(
    "id year date time timestamp length len words tokens characters chars n count index row line "
    "rank seed epoch run trial repeat step turn round number size version ratings votes raters "
    "annotators"
)
#: A name with one of these and only words of the others is a number: "rating count".
_COUNTS = words("n num number count counts")
_COUNTED = words(
    "of rating judge judges vote judgment judgments annotation annotations annotator rater score "
    "scores turns samples trials answers calls tool"
)
#: Words in names of columns that are not nouns of items, and short forms of nouns.
_NO_NOUN = words("id ids idx uid uuid hash key index name names no number num row rows")
_NOUNS = words(
    "segment item sample question instance example sentence utterance prompt problem line task "
    "scenario case paragraph document benchmark dataset testset seg s utt doc lp langpair "
    "languagepair"
)
_SHORT = {"seg": "segment", "s": "segment", "utt": "utterance", "doc": "document"}
_SHORT |= dict.fromkeys(("lp", "langpair", "languagepair"), "language pair")


def is_metric(name: str) -> bool:
    """Return whether a name contains words of a metric: "mean BLEU" does, "tower" does not."""
    parts = words(name)
    is_known = direction(name) is not None or any(w.startswith(TURNED) for w in parts)
    is_cost = bool(parts & COSTS) and not parts & (LOWER | HIGHER)
    return is_known and not is_cost and not is_never(name)


def noun(column: str) -> str:
    """Return the noun in the name of a column of ids, or "item".

    >>> [noun(name) for name in ("question_id", "Seg ID", "questionId", "id", "tweet")]
    ['question', 'segment', 'question', 'item', 'tweet']
    """
    apart = _CAPITAL.sub(" ", column.rpartition(".")[2]).casefold()
    name = " ".join(word for word in WORD.findall(apart) if word not in _NO_NOUN)
    stems = (name.removesuffix(end) for end in ("", "id", "no", "number", "name"))
    stem = next((stem for stem in stems if stem in _NOUNS), name)
    is_word = stem.replace(" ", "").isalpha() and len(stem) <= 30
    return _SHORT.get(stem, stem) if is_word else "item"


def is_never(name: str) -> bool:
    """Return whether a column with this name has numbers that are not scores: "Line number"."""
    parts = words(name)
    is_count = bool(parts & _COUNTS) and parts <= _COUNTS | _COUNTED | _NEVER
    return is_count or (bool(parts) and parts <= _NEVER)


def is_difference(name: str) -> bool:
    """Return whether a column with this name has differences of two systems: "Gain (%)"."""
    parts = words(name)
    return bool(parts) and parts <= _DIFFERENCES


def as_directions(directions: object) -> dict[str, bool]:
    """Return the directions that a caller gives, by pattern: ``{"judge": "higher"}``."""
    what, both = "metrics to 'higher' or 'lower'", ("higher", "lower")
    given = named_choices(directions, "directions", what, both)
    return {name: value == "higher" for name, value in given.items()}


def named_choices(
    given: object, argument: str, what: str, choices: Sequence[str | None]
) -> dict[str, Any]:
    """Return a caller's mapping from names to choices, checked; empty for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputTypeError(
            f"must be a mapping from {what}, got {shown(given)}", argument=argument
        )
    for name, value in given.items():
        label(name, f"names in {argument}")
        if value is not None or None not in choices:
            choice(value, tuple(filter(None, choices)), f"{argument}[{name!r}]")
    return dict(given)


def matches(value: str, patterns: Iterable[str]) -> bool:
    """Return whether a name equals or matches one of the shell patterns."""
    return any(value == pattern or fnmatchcase(value, pattern) for pattern in patterns)


def check_patterns(
    patterns: Iterable[str], names: Iterable[str], argument: str, kind: str = ""
) -> None:
    """Raise if a pattern of an argument matches no name; `kind` is a word for names."""
    names = dict.fromkeys(names)
    for pattern in patterns:
        if not any(matches(name, [pattern]) for name in names):
            raise InputError(
                f": there is no {kind}{pattern!r}; {meant(pattern, names)}", argument=argument
            )
