"""Inspect's logs as they are stored, in `.json` and in `.eval`: a header, and samples."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.files import dotted, get, opened_zip, require, require_text, zip_json
from evalstats.logs.rows import is_finite

#: How the summaries in an `.eval` log end what they cut.
_CUT = ("...", "(> 1k)", "(content truncated)")
#: What a log calls a mean, and how it may reduce epochs to be one; over one epoch, all of these
#: are the answer itself.
_MEANS = ("accuracy", "mean")
_OF_MANY, _OF_ONE = (None, "mean"), (None, "mean", "median", "mode", "max")


class Stored(NamedTuple):
    """A log without its samples, and these."""

    path: Path
    header: Any
    samples: list[Any]
    task: str
    model: str


def from_json(path: Path, found: Any) -> Stored:
    """Return the log that a `.json` file holds."""
    header = {key: value for key, value in found.items() if key != "samples"}
    return _stored(path, header, found.get("samples"))


def from_eval(path: Path, wishes: tuple[str, ...]) -> Stored:
    """Return a log from the summaries of its samples, unless they lack what is wanted."""
    with opened_zip(path) as archive:
        names = archive.namelist()
        start = [n for n in ("header.json", "_journal/start.json") if n in names]
        if not start:
            raise InputError(f"{path} has no header.json; it is not a log of Inspect")
        header, samples = zip_json(archive, start[0]), _summaries(path, archive)
        labels = [dotted(one, wish) for one in samples for wish in wishes]
        if not samples or not all(labels) or any(label.endswith(_CUT) for label in labels):
            full = [name for name in names if re.fullmatch(r"samples/.*\.json", name)]
            samples = [zip_json(archive, name) for name in full] or samples
    return _stored(path, header, samples)


def _stored(path: Path, header: Any, samples: Any) -> Stored:
    task, model = (require_text(header, "eval", key, where=str(path)) for key in ("task", "model"))
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{path} has no samples; let Inspect log them (log_samples)")
    return Stored(path, header, samples, task, model)


def _summaries(path: Path, archive: zipfile.ZipFile) -> list[Any]:
    names = archive.namelist()
    if "summaries.json" in names:
        names = ["summaries.json"]
    else:  # of a log that was not finished: samples that were run again come later, and count
        parts = [re.fullmatch(r"_journal/summaries/(\d{1,9})\.json", name) for name in names]
        names = [m[0] for m in sorted((m for m in parts if m), key=lambda m: int(m[1]))]
    found: dict[tuple[str, int], Any] = {}
    for name in names:
        samples, where = zip_json(archive, name), f"{path}, {name}"
        if not isinstance(samples, list):
            raise InputError(f"{where} must be a list, got {shown(samples, 60)}")
        if len(names) == 1:
            return samples
        found.update({answer_of(sample, where): sample for sample in samples})
    return list(found.values())


def answer_of(sample: Any, where: str) -> tuple[str, int]:
    """Return the id of a sample, and which answer to it this is."""
    name, epoch = require(sample, "id", where=where), sample.get("epoch", 1)
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InputError(f"{where}: id must be text or a whole number, got {shown(name, 60)}")
    if not isinstance(epoch, int) or isinstance(epoch, bool) or not 0 < epoch < 2**31:
        raise InputError(f"{where}: epoch must be a whole number from 1, got {shown(epoch, 60)}")
    return str(name), epoch


def score_columns(log: Stored) -> dict[str, dict[int, Any]]:
    """Return the values of every score, by the number of the sample; ``scorer.key`` for several."""
    found: dict[str, dict[int, Any]] = {}
    inner: dict[str, set[str]] = {}
    for i, sample in enumerate(log.samples):
        scores = sample.get("scores")
        if scores is None and sample.get("score") is not None:  # as until version 1
            scores = {str(get(log.header, "results", "scorer", "name")): sample["score"]}
        if not isinstance(scores, (Mapping, type(None))):
            raise InputError(f"{log.path}, sample {i}: scores must be an object")
        for scorer, score in (scores or {}).items():
            value = require(score, "value", where=f"{log.path}, sample {i}, score {scorer}")
            if not isinstance(value, Mapping):
                found.setdefault(scorer, {})[i] = value
                continue
            for key, one in value.items():
                found.setdefault(f"{scorer}.{key}", {})[i] = one
                inner.setdefault(scorer, set()).add(f"{scorer}.{key}")
    # Where scores have several values, one NaN stands for all of them.
    for scorer, keys in inner.items():
        if all(value != value for value in found.get(scorer, {}).values()):
            whole = found.pop(scorer, {})
            for key in keys:
                found[key].update(whole)
    return found


def reported(
    log: Stored, n_epochs: int, skipped: list[str]
) -> tuple[dict[str, float], dict[str, None]]:
    """Return the means that the log states, by the name of the score, and which are accuracies."""
    given = get(log.header, "results", "scores")
    scorer = get(log.header, "results", "scorer")
    if isinstance(scorer, Mapping):  # as until version 1
        given = [{**scorer, "metrics": get(log.header, "results", "metrics")}]
    found: dict[str, float] = {}
    accuracies: dict[str, None] = {}
    for score in given if isinstance(given, list) else []:
        metrics = get(score, "metrics")
        if not isinstance(metrics, Mapping):
            continue
        name, scorer, reducer = (score.get(key) for key in ("name", "scorer", "reducer"))
        whole = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        # Without the package that defines it.
        values = {key.rpartition("/")[2]: get(one, "value") for key, one in metrics.items()}
        mean = next((values[kind] for kind in _MEANS if is_finite(values.get(kind))), None)
        if "accuracy" in values:
            accuracies[whole] = None
        if reducer not in (_OF_ONE if n_epochs == 1 else _OF_MANY):
            skipped.append(f"the log's own {whole}, which reduces epochs by {shown(reducer, 60)}")
        elif mean is not None:
            found[whole] = float(mean)
    return found, accuracies
