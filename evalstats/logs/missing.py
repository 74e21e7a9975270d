"""Items that some systems lack, or that were asked differently: refused, or noted and left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.designs.trials.metrics import Trials
from evalstats.errors import Argument, InputError
from evalstats.logs.log import (
    ARGUMENT,
    BY_PLACE,
    PROMPTS,
    Log,
    Patterns,
    as_patterns,
    by_key,
    incompleteness,
)
from evalstats.logs.pivot import ItemScores, Pivot, epochs_differ, n_runs
from evalstats.logs.rows import Key, Rows, matches, natural
from evalstats.metrics import Mean
from evalstats.results.records import (
    BARRING,
    Caution,
    capital,
    counted,
    first_few,
    lacking_unlike,
    only,
    plural,
)
from evalstats.results.tabular import p_is
from evalstats.statistics.segments import SegmentStatistics

MISSING = ("error", "failure", "intersect", "available")
#: Settings of a task in a log, with the format of their values.
_WRITTEN = {"shots": "{}-shot", "version": "version {}", "dataset": "dataset {}"}
#: Values of `allow_changes` (or patterns of them): differences between settings of systems, and
#: cautions that bar a gate.
CHANGES = (*_WRITTEN, ARGUMENT, PROMPTS, *BARRING)
#: The value of an argument that is not set.
_DEFAULT = "its default"
#: The advice if 0/1 scores are missing, and if systems share no item.
_FAILING = (", or count failures with ", Argument("missing", "failure"))
_UNPAIRED = (
    "if the items are different on purpose, compare the systems with ",
    Argument("paired", False),
)
#: Level of the test that means of epochs vary.
_UNLIKE_EPOCHS = 0.01
#: Labels with the content of an item, for any task.
_HASHES = ("doc_hash", "item_hash", "sample_hash")


class Note(NamedTuple):
    """A line for the notes. Lines of the same kind and ending are printed as one sentence.

    It becomes a `Caution` if it has a caution's kind.
    """

    kind: str
    line: str
    ending: str = "."
    caution: str = ""


def sentences(notes: Iterable[Note]) -> list[str]:
    """Return one sentence for each kind and ending of notes, in order of their first lines."""
    lines: dict[tuple[str, str, str], dict[str, None]] = {}
    for kind, line, ending, caution in notes:
        lines.setdefault((kind, ending, caution), {})[line] = None
    said = [(f"{first_few([*same])}{ending}", kind) for (_, ending, kind), same in lines.items()]
    return [Caution(sentence, kind) if kind else sentence for sentence, kind in said]


def notes_on(logs: Sequence[Log]) -> list[Note]:
    """Return notes on logs: scores that differ, and what was left out."""
    used = [log for log in logs if log.rows]
    notes = [Note("scores", line) for log in used for line in log.disagreements]
    for log in used:
        notes += [Note("failed", line, ": counted as failed.", "errors") for line in log.failures]
        if log.format.endswith(BY_PLACE):
            ending = ": items have no names, so they are numbered by row."
            if any(log.tasks):
                ending = (
                    ": items have no names, so each row of a task is an item. If each task is one "
                    'item, use columns={"task": "segment"}.'
                )
            notes.append(Note("by place", log.path, ending))
        if log.skipped:
            line = f"These parts of {log.path} are left out: {first_few(log.skipped)}"
            notes.append(Note(f"of {log.path}", line))
    return notes


def without_errors(logs: Sequence[Log], notes: list[Note]) -> list[Log]:
    """Return logs without metrics whose scores are missing if errors count in another metric.

    For example a grade that DeepEval could not compute, while the test counts as failed.
    """
    rows = [one for log in logs for one in log.rows]
    failing = {one.key.task for one in rows if one.failed}
    left = Counter[Key]()
    for one in rows:
        if one.key.task in failing and (n := int(np.sum(one.is_gone))):
            left[one.key] += n
    if all(one.key in left for one in rows):
        return list(logs)
    for key, n in left.items():
        line = f"{key} is left out, because {counted(n, 'score')} ended with an error"
        notes.append(Note("left out", line, caution="errors"))
    return [log.less(lambda rows: rows.key in left) for log in logs]


def without_twins(rows: Mapping[Key, list[Rows]], notes: list[Note]) -> dict[Key, list[Rows]]:
    """Return rows without metrics that have the scores of another one, for all systems of a task.

    For example whether a test has passed, and its score: testing both costs power.
    """
    kept: dict[Key, list[Rows]] = {}
    for key, of_key in rows.items():
        others = (x for x in kept if (x.task, x.filter) == (key.task, key.filter))
        twin = next((x for x in others if all(map(_are_twins, kept[x], of_key))), None)
        if twin is None:
            kept[key] = of_key
        else:
            line = (
                f"{key} is left out, because it equals {twin.metric} on every {of_key[0].called[0]}"
            )
            notes.append(Note("twin", line))
    return kept


def _are_twins(one: Rows, other: Rows) -> bool:
    """Return whether two metrics of a system are the same on all its answers."""
    alike = {(x.system, x.metric.higher_is_better, x.items.ids) for x in (one, other)}
    are_means = all(isinstance(x.metric, Mean) and x.is_directed for x in (one, other))
    return len(alike) == 1 and are_means and np.array_equal(one.values, other.values, True)


def common_item_notes(tasks: Mapping[str, list[SegmentStatistics]]) -> list[str]:
    """Return a note on tasks with common items, such as variants of one benchmark."""
    first: dict[str, str] = {}
    unit = only((tables[0].unit for tables in tasks.values()), "item")
    shared: Counter[tuple[str, str]] = Counter()
    for name, tables in tasks.items():
        hashes = [tables[0].labels[kind] for kind in _HASHES if kind in tables[0].labels]
        for item in dict.fromkeys(hashes[0] if hashes else ()):
            if item and first.setdefault(item, name) != name:
                shared[first[item], name] += 1
    if not shared:
        return []
    lines = [f"{a} and {b} have {counted(n, unit)} in common" for (a, b), n in shared.items()]
    so = "A total counts them more than once, so its interval is too narrow."
    return [f"{first_few(lines)}. {so}"]


def shared_tasks(
    logs: Sequence[Log], places: Mapping[str, int], missing: str | None, notes: list[Note]
) -> dict[Key, list[Rows]]:
    """Return the rows of each task and metric that all systems have, in order of systems.

    Other tasks and metrics are left out with a note, or refused.
    """
    rows = [one for log in logs for one in log.rows]
    rows.sort(key=lambda one: (natural(one.key.task), places[one.system]))
    rows_of = by_key(rows)
    shared = {key: of_key for key, of_key in rows_of.items() if len(of_key) == len(places)}
    if len(shared) == len(rows_of):
        return shared
    there = {(one.key, one.system) for one in rows}
    gone = {name: [key.on_task for key in rows_of if (key, name) not in there] for name in places}
    lines = [f"{name} does not have {first_few(keys, ', ')}" for name, keys in gone.items() if keys]
    if not shared:
        # The suggested language pair is the one that most systems have.
        largest = max(rows_of, key=lambda key: len(rows_of[key]))
        n, tasks = len(rows_of[largest]), {key.task for key in rows_of}
        example: tuple[object, ...] = ()
        if n > 1 and largest.task and len(tasks) > 1:
            task = Argument("task", largest.task)
            example = (" at a time, such as ", task, f" (of {n} systems)")
        raise InputError(
            f"the systems do not have any task and metric in common: {first_few(lines)}. Choose "
            "one ",
            Argument("task"),
            *example,
            ", or ",
            Argument("systems"),
            " that share at least one",
        )
    if missing != "intersect":
        raise InputError(
            f"all systems must have the same tasks and metrics, but {first_few(lines)}. Select "
            "what to compare with ",
            *(Argument("task"), ", ", Argument("metric"), " or ", Argument("systems")),
            ", or compare only the shared items with ",
            Argument("missing", "intersect"),
        )
    notes += [Note("unshared", f"Left out, because {line}") for line in lines]
    return shared


def complete(pivot: Pivot, missing: str | None, notes: list[Note]) -> SegmentStatistics:
    """Return one table with the items that all systems have, or refuse missing items."""
    notes += _incomplete_notes(pivot, missing)
    notes += _lacking_answers(pivot)
    is_asked = _asked_of_all(pivot, notes)
    unit = pivot.called[0]
    systems, is_absent = [part.rows.system for part in pivot.parts], ~pivot.is_there & is_asked
    is_lacking = (pivot.is_gone & is_asked) | is_absent
    counts, n_asked = np.sum(is_lacking, axis=1), int(np.sum(is_asked))
    both = int(np.sum(is_lacking[np.argmax(counts)] & is_lacking[np.argmin(counts)]))
    unlike = _unlike(systems, counts.tolist(), [n_asked] * len(counts), both, unit=unit)
    gone = [[*compress(pivot.ids, absent)] for absent in is_absent.tolist()]
    of_parts = zip(gone, (part.items.ids for part in pivot.parts), strict=True)
    alike = (_written_otherwise(ids, known) for ids, known in of_parts if ids)
    numbered = _numbered_otherwise(pivot, gone)
    unlike = (unlike + (numbered or next(filter(None, alike), ""))).removeprefix("; ")
    are_failures = missing == "failure" and _are_binary(pivot)
    if missing != "intersect" and not are_failures:
        _refuse_absent(pivot, is_asked, numbered)
    elif are_failures:
        for system, n in zip(systems, counts, strict=True):
            if n:
                line = f"{pivot.key}: {system} has no answer to {n:,} of {counted(n_asked, unit)}"
                notes.append(Note("failed", line, ": counted as failed.", "errors"))
        if unlike:
            notes.append(Note("left out", f"{pivot.key}: {unlike}", caution="missing"))
            unlike = ""
    kept = is_asked if are_failures else np.asarray(pivot.is_there.all(axis=0))
    if missing == "intersect":
        kept &= ~pivot.is_gone.any(axis=0)
        if not np.any(kept):
            raise InputError(f"{pivot.key}: no item has a score of every system")
    if not np.all(kept):
        n = f"{int(np.sum(~kept)):,} of {counted(len(kept), unit)}"
        line = f"{pivot.key}: {n} {'is' if np.sum(~kept) == 1 else 'are'} left out"
        line += ", because some systems lack them" if len(systems) > 1 else ""
        caution = "" if np.all(kept | ~is_asked) else "left out"
        if unlike:
            line, caution = f"{line}: {unlike}", "missing"
        notes.append(Note("left out", line, caution=caution))
    notes += _several_answers(pivot)
    return pivot.table(kept, is_lacking if are_failures else None)


def _several_answers(pivot: Pivot) -> Iterator[Note]:
    """Yield how several answers to an item count, if there are several."""
    n_answers = [n for part in pivot.parts for n in part.n_answers]
    if max(n_answers) == 1:
        return
    unit, several = (
        pivot.called[0],
        "-".join(map(str, dict.fromkeys((min(n_answers), max(n_answers))))),
    )
    how = "are averaged"
    how += ' (use epochs="runs" to include their spread)' if _may_be_runs(pivot) else ""
    if isinstance(pivot.metric, Trials):
        how = f"count as trials of the {unit}"
    elif pivot.parts[0].n_runs > 1:
        how = "count as runs of the system, and intervals include their variation "
        how += '(use epochs="mean" to average them)'
    n = counted(len(pivot.ids), unit)
    line = f"{pivot.key.part or pivot.key}: the {several} answers to each of the {n}"
    yield Note("answers", line, f" {how}.")


def whole_runs(rows: Mapping[Key, Sequence[Rows]], notes: list[Note]) -> dict[Key, list[Rows]]:
    """Return rows with equally many runs of all systems, on the items with a score in all runs.

    If a system has one run, they are unchanged. Omissions are noted.
    """
    given = {key: list(of_key) for key, of_key in rows.items()}
    whole = {key: [one.without_absent(keep_items=True) for one in given[key]] for key in given}
    items = [one.items for one in chain.from_iterable(whole.values())]
    n = min(len(np.unique(answers.epochs)) for answers in items)
    if n < 2 or not all(answers.are_runs for answers in items):
        return given
    said = []
    for key, of_key in whole.items():
        lacking: list[set[str]] = []
        for i, one in enumerate(of_key):
            numbers = np.unique(one.items.epochs)
            if len(numbers) > n:
                line = f"{key.part or key}: the first {n} of {len(numbers)} runs of {one.system}"
                ending = " are used, so that all systems have equally many."
                said.append(Note("runs", line, ending, "runs"))
            of_key[i] = one = one.part(np.isin(one.items.epochs, numbers[:n]))
            scored = Counter(compress(one.items.ids, (~one.is_gone).tolist()))
            lacking.append({item for item in one.items.ids if scored[item] < n})
        gone = set[str]().union(*lacking)
        if not gone:
            continue
        sizes = [len(set(one.items.ids)) for one in of_key]
        if min(len(set(one.items.ids) - gone) for one in of_key) < 2:
            return given
        systems, unit = [one.system for one in of_key], of_key[0].called[0]
        line = f"{key}: {counted(len(gone), unit)} left out, because a run has no score for them"
        unlike = lacking_unlike(systems, list(map(len, lacking)), sizes, unit=unit)
        line, caution = (f"{line}: {unlike}", "missing") if unlike else (line, "runs")
        said.append(Note("whole runs", line, caution=caution))
        whole[key] = [
            one.part(np.array([item not in gone for item in one.items.ids])) for one in of_key
        ]
    notes += said
    return whole


def run_notes(pivots: Sequence[Pivot], epochs: Sequence[str], why: str) -> list[Note]:
    """Return cautions if averaged answers may have something in common.

    `why` is the reason why runs are averaged; means of other epochs may vary more than items
    explain (F test at .01 for every system and table, by Bonferroni).
    """
    if why:
        ending = ". The intervals do not include how much they vary."
        return [Note("runs", f"Runs of each system are averaged, because {why}", ending, "runs")]
    tests = [(epochs_differ(p.rows), pivot.key, p.rows) for pivot in pivots for p in pivot.parts]
    if "mean" not in epochs or not tests:
        return []
    pvalue, key, rows = min(tests, key=lambda test: test[0])
    may_be_runs = all(_may_be_runs(pivot) for pivot in pivots)
    if (adjusted := min(pvalue * len(tests), 1.0)) > _UNLIKE_EPOCHS:
        return []
    n = counted(len(set(rows.items.epochs.tolist())), "epoch")
    line = (
        f"{key}: the means of the {n} of {rows.system} differ more than chance would explain "
        f"({p_is(adjusted)}), but averaging ignores this"
    )
    ending = (
        '. Use epochs="runs" to include in the standard error the variation that all answers of '
        "an epoch share (for example, a seed or a prompt)."
    )
    return [Note("runs", line, ending if may_be_runs else ".", "runs")]


def _may_be_runs(pivot: Pivot) -> bool:
    """Return whether all systems have a score for the same number of answers to every item."""
    counts = {n_runs(part.rows) for part in pivot.parts}
    return len(counts) == 1 and None not in counts and not np.any(pivot.is_gone)


def _are_binary(pivot: Pivot) -> bool:
    """Return whether the existing scores of all answers are 0 or 1."""
    rows = [part.rows for part in pivot.parts]
    return all(
        isinstance(one.metric, Mean) and np.all(np.isin(one.values[~one.is_gone, 0], (0, 1)))
        for one in rows
    )


def _incomplete_notes(pivot: Pivot, missing: str | None) -> list[Note]:
    """Return a note on each log that lacks items or scores, or raise."""
    rows = [part.rows for part in pivot.parts]
    # The comparison itself notes missing scores of means.
    is_noted = isinstance(rows[0].metric, Mean) and bool(np.any(pivot.is_gone))
    is_gone = any(np.any(one.is_gone) for one in rows)
    notes = []
    for path in dict.fromkeys(one.path for one in rows):
        what = incompleteness([one for one in rows if one.path == path])
        is_counted = missing == "failure" and _are_binary(pivot)
        if what and missing not in ("intersect", "available") and not is_counted:
            has_shared = np.any((pivot.is_there & ~pivot.is_gone).all(axis=0))
            available = Argument("missing", "available")
            raise InputError(
                f"{path}, {pivot.key}: {what}. Complete the log, or compare the existing scores "
                "with ",
                Argument("missing", "intersect"),
                *((", or means with ", available) if np.all(pivot.is_there) else ()),
                *(_FAILING if is_gone and _are_binary(pivot) else ()),
                *(() if has_shared else ("; ", *_UNPAIRED)),
            )
        if what and (missing == "intersect" or not is_noted):
            # Answers are left out of the mean of an item, which no other note says.
            caution = "left out" if any(len(one.items.epochs) for one in rows) else ""
            notes.append(Note("incomplete", f"{pivot.key}: {what} in {path}", caution=caution))
    return notes


def _lacking_answers(pivot: Pivot) -> Iterator[Note]:
    """Yield a caution if a system lacks answers to items that have others, more than chance.

    A system's usual number of answers is the largest of an item if this is the same for all
    systems, and otherwise the number that most of its items have.
    """
    parts = [part.rows for part in pivot.parts]
    if not all(len(part.items.epochs) for part in parts):
        return
    gone = [x.is_gone if x.is_absent is None else x.is_gone | x.is_absent for x in parts]
    there = [(~is_gone).tolist() for is_gone in gone]
    scored = [Counter(compress(x.items.ids, kept)) for x, kept in zip(parts, there, strict=True)]
    largest = {max(n_scored.values(), default=0) for n_scored in scored}
    lacking, sizes = [], []
    for part, n_scored in zip(parts, scored, strict=True):
        (usual, _), *_ = Counter(n_scored.values()).most_common(1) or [(0, 0)]
        if len(parts) > 1 and len(largest) == 1:
            (usual,) = largest
        items = dict.fromkeys(part.items.ids)
        lacking.append(sum(max(usual - n_scored[item], 0) for item in items))
        sizes.append(usual * len(items))
    if said := _unlike([part.system for part in parts], lacking, sizes, unit="answer"):
        kept = "" if any(np.any(part.is_gone) for part in parts) else "If they crashed, keep "
        kept = kept and f"{kept}their rows without a score, and "
        advice = f'. {kept}missing="failure" counts them as failed.'
        yield Note("trials", f"{pivot.key}: {said}", advice, "missing")


def _unlike(
    systems: list[str], lacking: list[int], sizes: list[int], both: int = 0, *, unit: str
) -> str:
    """Return a sentence as `lacking_unlike`, or if the only system lacks something, or ""."""
    if len(systems) > 1:
        return lacking_unlike(systems, lacking, sizes, both, unit)
    whole = counted(sizes[0], unit)
    said = f"{systems[0]} lacks {lacking[0]:,} of {whole}, and they may differ from the others"
    return said if lacking[0] else ""


def _asked_of_all(pivot: Pivot, notes: list[Note]) -> NDArray[np.bool_]:
    """Return the items within the limits of all systems, `(N,)`; a note names each limit."""
    is_asked = np.ones(len(pivot.ids), dtype=np.bool_)
    for part, there in zip(pivot.parts, pivot.is_there, strict=True):
        if part.rows.is_limited and not np.all(there):
            is_asked &= there
            n = counted(len(part.items.ids), pivot.called[0])
            line = f"{pivot.key}: {part.rows.system} was limited to {n}"
            ending = ", but other systems have more. Run all systems on the same items."
            notes.append(Note("limited", line, ending, "limited"))
    if all(part.rows.is_limited for part in pivot.parts) and np.all(is_asked):
        n = counted(len(pivot.ids), pivot.called[0])
        notes.append(Note("limited", f"{pivot.key}: the runs were limited to {n}"))
    if not np.any(is_asked):
        raise InputError(
            f"{pivot.key}: the systems were limited to different items and have none in common; ",
            *_UNPAIRED,
        )
    if not np.any(pivot.is_there.all(axis=0)):
        firsts = ", ".join(f"{part.items.ids[0]!r} for {part.rows.system}" for part in pivot.parts)
        what = f"no item is in the logs of all systems; the first ids are {firsts}"
        what += _written_otherwise(*(part.items.ids for part in pivot.parts[:2]))
        if any(_SHARD.search(part.rows.system) for part in pivot.parts):
            how = "join the files of each system, or give them one name"
            raise InputError(f"{pivot.key}: {what}. If these are parts of one test set, {how}.")
        raise InputError(f"{pivot.key}: {what}; ", *_UNPAIRED)
    return is_asked


#: Names of files with a part of the items.
_SHARD = re.compile(r"(?i)(shard|part|chunk|split|slice)[-_. ]?\d")
#: Blanks, and zeros in front of a number, or as its decimals.
_BLANKS_AND_ZEROS = re.compile(r"\s+|(?<!\d)0+(?=\d)|\.0+$")


def _written_otherwise(ids: Iterable[str], others: Iterable[str]) -> str:
    """Return that an id is the same as another one but for zeros, blanks and case, or ""."""
    known = {_BLANKS_AND_ZEROS.sub("", other).casefold(): other for other in others}
    for name in ids:
        if (other := known.get(_BLANKS_AND_ZEROS.sub("", name).casefold(), name)) != name:
            how = "write ids in the same way (they differ only in zeros, spaces or case)"
            return f"; if {name!r} and {other!r} are the same item, {how}"
    return ""


def _numbered_otherwise(pivot: Pivot, gone: Sequence[Sequence[str]]) -> str:
    """Return that items may be numbered from 0 and from 1, by the ids that systems lack, or ""."""
    numbers = list(map(str, range(len(pivot.ids))))
    from_0, from_1 = (
        [part.rows.system for part, ids in zip(pivot.parts, gone, strict=True) if ids == [number]]
        for number in (numbers[-1], "0")
    )
    if not from_0 or not from_1 or {*pivot.ids} != {*numbers}:
        return ""
    return f"; if {from_0[0]} numbers items from 0 and {from_1[0]} from 1, number them alike"


def _refuse_absent(pivot: Pivot, is_asked: NDArray[np.bool_], numbered: str) -> None:
    """Refuse items that are not in all logs, among the items within all limits."""
    for part, there in zip(pivot.parts, pivot.is_there, strict=True):
        gone = np.flatnonzero(is_asked & ~there)
        are = "is" if len(gone) == 1 else "are"
        if len(gone):
            advice = (
                ". Complete the log, or compare only the shared items with ",
                Argument("missing", "intersect"),
                *(_FAILING if _are_binary(pivot) else ()),
            )
            raise InputError(
                f"{pivot.key}: all systems must have the same items, but {len(gone):,} of "
                f"{int(np.sum(is_asked)):,} {are} missing in the log of {part.rows.system} "
                f"({', '.join(repr(pivot.ids[i]) for i in gone[:3])})"
                f"{numbered or _written_otherwise([pivot.ids[i] for i in gone], part.items.ids)}",
                # The same number would be of two items.
                *(() if numbered else advice),
            )


def same_items(
    task: str, n: int, tables: list[SegmentStatistics], missing: str | None, notes: list[Note]
) -> list[SegmentStatistics]:
    """Return tables of several metrics with the items that all of them have."""
    if len({table.segment_ids for table in tables}) < 2:
        return tables
    sizes = ", ".join(f"{table.n_segments:,} of {table.metric.name}" for table in tables)
    if missing != "intersect":
        raise InputError(
            f"{task or 'the metrics'} must have the same items for all metrics, but there are "
            f"{sizes}. Use metrics with the same items, or compare only the shared items with ",
            Argument("missing", "intersect"),
        )
    aligned = list(SegmentStatistics.align(*tables, missing="intersect"))
    left, unit = n - aligned[0].n_segments, aligned[0].unit
    line = f"{task or 'All metrics'}: {left:,} of {counted(n, unit)} "
    line += "is left out" if left == 1 else "are left out"
    ending = f", because all metrics must have the same {plural(unit)} (there are {sizes})."
    notes.insert(0, Note("metrics", line, ending, "left out"))
    return aligned


def allowed_changes(given: Patterns) -> tuple[str, ...]:
    """Return the kinds of changes that a caller allows, by name or pattern."""
    patterns = as_patterns(given, "allow_changes")
    for pattern in patterns:
        if not any(matches(kind, [pattern]) for kind in CHANGES):
            raise InputError(
                f"must be one of {', '.join(CHANGES)}, or '*'; got {pattern!r}",
                argument="allow_changes",
            )
    return tuple(kind for kind in CHANGES if matches(kind, patterns))


def change_notes(pivots: Sequence[Mapping[Key, Pivot]], allowed: Sequence[str]) -> list[str]:
    """Return a note on tasks with different settings, or refuse what is not `allowed`.

    For example "law, history: 0-shot (A) against 5-shot (B), 20 of 20 prompts differ". Pivots are
    for all systems together, or for each one if unpaired.
    """
    # Tasks with the same differences, each with numbers of differing and of all prompts.
    by_change: dict[tuple[Any, ...], list[tuple[str, int, int]]] = {}
    # All metrics of a task have the same answers.
    for task in dict.fromkeys(key.task for key in pivots[0]):
        key = next(key for key in pivots[0] if key.task == task)
        parts = [part for side in pivots for part in side[key].parts]
        phrases = tuple(_changes(parts).items())
        # Unpaired systems have different items, even if ids are equal.
        n_unlike, n_items = _other_prompts(parts) if len(pivots) == 1 else (0, 0)
        if phrases or n_unlike:
            change = (phrases, n_unlike > 0)
            by_change.setdefault(change, []).append((task, n_unlike, n_items))
    if not by_change:
        return []
    lines, changed = [], set()
    for (phrases, have_other_prompts), alike in by_change.items():
        changed |= {name.partition(".")[0] for name, _ in phrases}
        differing = [phrase for _, phrase in phrases]
        if have_other_prompts:
            changed.add(PROMPTS)
            n_prompts, n_whole = sum(n for _, n, _ in alike), sum(n for _, _, n in alike)
            differing.append(f"{n_prompts:,} of {n_whole:,} prompts differ{'s' * (n_prompts == 1)}")
        tasks = first_few([task for task, _, _ in alike if task], ", ")
        lines.append(f"in {tasks}: {', '.join(differing)}" if tasks else ", ".join(differing))
    kinds = [kind for kind in CHANGES if kind in changed]
    refused = [kind for kind in kinds if kind not in allowed]
    if refused:
        raise InputError(
            f"the systems were run with different settings ({first_few(lines)}). Run them with "
            "the same settings, or accept the difference with ",
            Argument("allow_changes", kinds),
        )
    said = "The systems were run with different settings, which may explain a difference"
    said += f". {capital(what)}." if (what := first_few(lines)).startswith("in ") else f": {what}."
    return [Caution(said, "changes")]


def _changes(parts: Sequence[ItemScores]) -> dict[str, str]:
    """Return the differences between systems: ``{"version": "version 1 (A) against 2 (B)"}``."""
    settings = [(part.rows.system, part.rows.settings) for part in parts]
    names = dict.fromkeys(name for _, known in settings for name in known)
    arguments = {name: f"{name.partition('.')[2]} {{}}" for name in names if name not in _WRITTEN}
    phrases: dict[str, str] = {}
    first: list[list[str]] = []
    for name, written in {**_WRITTEN, **arguments}.items():
        by_value: dict[str, list[str]] = {}
        for system, known in settings:
            kind = name.partition(".")[0]
            is_told = kind == ARGUMENT or any(one.startswith(f"{kind}.") for one in known)
            value = known.get(name, _DEFAULT if name in arguments and is_told else "")
            if value:
                by_value.setdefault(value, []).append(system)
        if len(by_value) < 2:
            continue
        word, _, _ = written.partition("{}")
        values = [written.format(value) for value in by_value]
        values[1:] = [value.removeprefix(word) for value in values[1:]]
        systems = list(by_value.values())
        # Names of systems are given once if all settings divide the systems in the same way.
        if systems != first:
            values = [
                f"{value} ({first_few(names, ', ')})"
                for value, names in zip(values, systems, strict=True)
            ]
        first = first or systems
        phrases[name] = " against ".join(values)
    return phrases


def _other_prompts(parts: Sequence[ItemScores]) -> tuple[int, int]:
    """Return how many common items of two systems had different prompts, and how many there are."""
    known: dict[str, str] = {}
    shared, others = set[str](), set[str]()
    for part in parts:
        prompts = dict(zip(part.items.ids, part.items.texts.get("prompt", ()), strict=False))
        both = {item for item in known.keys() & prompts.keys() if known[item] and prompts[item]}
        shared |= both
        others |= {item for item in both if known[item] != prompts[item]}
        known |= {item: prompt for item, prompt in prompts.items() if not known.get(item)}
    return len(others), len(shared)
