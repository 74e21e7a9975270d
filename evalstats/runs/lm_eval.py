"""lm-evaluation-harness: the folder with `results_*.json` and `samples_*.jsonl`."""

from __future__ import annotations

from evalstats.runs.run import Run
from evalstats.runs.sources import Source
from evalstats.runs.wanted import Wanted

NAME = "lm-evaluation-harness"


def is_ours(source: Source) -> bool:
    """Return whether a folder has files of results or samples, or one is such a file."""
    return False


def read(source: Source, wanted: Wanted) -> Run:
    """Return what is in it."""
    raise NotImplementedError
