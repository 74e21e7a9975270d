"""OpenAI evals: JSON lines of `oaieval`, a line for what was run and one for each event.

The events "match" and "metrics" have scores of a sample; several of one kind are answers to it. A
sample that has other events only, such as an error, has no score. The final report may be anywhere
below the first line, since events are written in blocks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.formats.lacking import ended
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.settings import arguments_of
from evalstats.logs.sources import (
    Source,
    as_label,
    dotted,
    fingerprint,
    get,
    json_lines,
    require,
    require_text,
)
from evalstats.logs.words import direction
from evalstats.metrics import Mean

NAME = "OpenAI evals"

#: The score of a match, as reports call its mean.
_MATCH = "accuracy"


def is_ours(source: Source) -> bool:
    """Return whether the first line of a file says what was run, or one in the folder does."""
    return bool(_files(source))


def _files(source: Source) -> list[Path]:
    """Return the files of JSON lines that begin with what was run."""
    files = source.files if source.path.is_dir() else [source.path]
    ones = [source if path == source.path else Source(path) for path in files]
    return [one.path for one in ones if get(one.first, "spec", "completion_fns") is not None]


@dataclass
class _Run:
    """What a file says: how it was run, the final report, and the events of each sample.

    `values` has the scores by sample and number of the answer: ``{("t.0", 1): {"accuracy": 1}}``.
    """

    spec: Any = None
    report: Any = None
    values: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    asked: dict[str, set[str]] = field(default_factory=dict)
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[Any] = field(default_factory=list)


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of each run."""
    rows: list[Rows] = []
    skipped: list[str] = []
    for path in _files(source):
        rows += _rows(path, wanted, skipped)
    return log_of(source.path, NAME, rows, skipped=skipped)


def _rows(path: Path, wanted: Wanted, skipped: list[str]) -> list[Rows]:
    """Return the rows of one run by metric; what is no number is added to `skipped`."""
    run = _run(path)
    task = require_text(run.spec, "eval_name", where=f"{path}, spec")
    names = require(run.spec, "completion_fns", where=f"{path}, spec")
    system = ", ".join(map(str, names)) if isinstance(names, list) else str(names)
    answers = _answers(path, run, wanted)
    items = answers.items()
    lacking = [ended("samples", run.errors)]
    if run.report is None:
        lacking.append("there is no final report, so that the run did not end")
    said = "; ".join(filter(None, lacking))
    is_part = get(run.spec, "run_config", "max_samples") is not None
    rows = []
    for metric, scores in answers.values.items():
        key = Key(task, metric)
        if not wanted.has(key):
            continue
        other = next((x for x in scores.values() if not isinstance(x, _NUMBERS)), None)
        if other is not None:
            skipped.append(f"{key}, since {shown(other, 60)} is no score")
            continue
        stated, higher = get(run.report, metric), direction(metric)
        is_whole = len(scores) == len(answers.ids) and None not in scores.values()
        rows.append(
            Rows(
                key,
                system,
                Mean(metric, higher is not False),
                items,
                answers.means(metric, items),
                reported=float(stated) if is_finite(stated) else None,
                lacking=said,
                is_limited=is_part and is_whole and not said,
                is_directed=higher is not None,
                path=str(path),
                settings=arguments_of(get(run.spec, "run_config", "eval_spec", "args")),
            )
        )
    return rows


_NUMBERS = (bool, int, float, type(None))


def _run(path: Path) -> _Run:
    """Return what a file says."""
    run, counts = _Run(), Counter[tuple[str, str]]()
    for n, line in json_lines(path):
        where = f"{path}, line {n}"
        if "spec" in line:
            if run.spec is not None:
                raise InputError(f"{where}: another run begins; give each run a file")
            run.spec = line["spec"]
        elif "final_report" in line:
            if run.report is not None:
                raise InputError(f"{where}: another final report; give each run a file")
            run.report = line["final_report"]
        else:
            _add(run, line, where, counts)
    return run


def _add(run: _Run, event: Any, where: str, counts: Counter[tuple[str, str]]) -> None:
    """Add an event; `counts` has how many of each kind there were of each sample."""
    sample, kind = (require_text(event, key, where=where) for key in ("sample_id", "type"))
    data = event.get("data")
    run.lines.setdefault(sample, {}).update({kind: data})
    if kind == "error":
        run.errors.append(get(data, "message") or data)
    if kind == "raw_sample":
        run.asked.setdefault(sample, set()).add(as_label(data))
    if kind == "match":
        values = {_MATCH: require(data, "correct", where=f"{where}, data")}
        run.asked.setdefault(sample, set()).add(as_label(data.get("expected")))
    elif kind == "metrics":
        if not isinstance(data, dict):
            raise InputError(f"{where}: data must be an object, got {shown(data, 60)}")
        values = data
    else:
        return
    counts[sample, kind] += 1
    # The number that is called "accuracy" in "metrics" is that of the report.
    answer = run.values.setdefault((sample, counts[sample, kind]), {})
    run.values[sample, counts[sample, kind]] = (
        {**answer, **values} if kind == "metrics" else {**values, **answer}
    )


def _answers(path: Path, run: _Run, wanted: Wanted) -> Answers:
    """Return the answers of a run, those without a score among them."""
    answers = Answers(str(path), "sample")
    scored = dict.fromkeys(sample for sample, _ in run.values)
    places = [*run.values, *((sample, 1) for sample in run.lines if sample not in scored)]
    for i, (sample, number) in enumerate(places):
        events = run.lines[sample]
        labels = {"sample_hash": fingerprint(*sorted(run.asked.get(sample, [])))}
        labels |= {wish: dotted(events, wish) for wish in wanted.labels}
        answers.add(i, sample, labels, run.values.get((sample, number), {}), number)
    return answers
