"""Inspect's logs as they are stored, in `.json` and in `.eval`: a header, and samples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.runs.sources import dotted, entry, text_at
from evalstats.runs.zips import Zip, opened_zip

#: How the summaries in an `.eval` log end what they cut.
_CUT = ("...", "(> 1k)", "(content truncated)")


class Log(NamedTuple):
    """A log without its samples, and these."""

    path: Path
    header: Any
    samples: list[Any]
    task: str
    model: str


def json_log(path: Path, found: dict[str, Any]) -> Log:
    """Return the log that a `.json` file holds."""
    header = {key: value for key, value in found.items() if key != "samples"}
    return _log(path, header, found.get("samples"))


def eval_log(path: Path, wishes: tuple[str, ...]) -> Log:
    """Return a log from the summaries of its samples, unless they lack what is wanted."""
    with opened_zip(path) as archive:
        start = [n for n in ("header.json", "_journal/start.json") if n in archive.names]
        if not start:
            raise InputError(f"{path} has no header.json; it is not a log of Inspect")
        header, samples = archive.json(start[0]), _summaries(archive)
        labels = [dotted(one, wish) for one in samples for wish in wishes]
        if not samples or not all(labels) or any(label.endswith(_CUT) for label in labels):
            full = [name for name in archive.names if re.fullmatch(r"samples/.*\.json", name)]
            samples = [archive.json(name) for name in full] or samples
    return _log(path, header, samples)


def _log(path: Path, header: Any, samples: Any) -> Log:
    task, model = (text_at(header, "eval", key, where=str(path)) for key in ("task", "model"))
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{path} has no samples; let Inspect log them (log_samples)")
    return Log(path, header, samples, task, model)


def _summaries(archive: Zip) -> list[Any]:
    names = archive.names
    if "summaries.json" in names:
        names = ["summaries.json"]
    else:  # of a log that was not finished: samples that were run again come later, and count
        parts = [re.fullmatch(r"_journal/summaries/(\d{1,9})\.json", name) for name in names]
        names = [m[0] for m in sorted((m for m in parts if m), key=lambda m: int(m[1]))]
    found: dict[tuple[str, int], Any] = {}
    for name in names:
        samples, where = archive.json(name), f"{archive.path}, {name}"
        if not isinstance(samples, list):
            raise InputError(f"{where} must be a list, got {shown(samples, 60)}")
        if len(names) == 1:
            return samples
        found.update({answer_of(sample, where): sample for sample in samples})
    return list(found.values())


def answer_of(sample: Any, where: str) -> tuple[str, int]:
    """Return the id of a sample, and which answer to it this is."""
    name, epoch = entry(sample, "id", where=where), sample.get("epoch", 1)
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InputError(f"{where}: id must be text or a whole number, got {shown(name, 60)}")
    if not isinstance(epoch, int) or isinstance(epoch, bool) or not 0 < epoch < 2**31:
        raise InputError(f"{where}: epoch must be a whole number from 1, got {shown(epoch, 60)}")
    return str(name), epoch
