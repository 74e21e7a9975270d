"""mt-metrics-eval: `.seg.score` files, one or a folder of them.

A line is a system and a score, or "None". Systems come in blocks, and segments have no names: the
order of a block is that of the test set. More is better under all of its metrics.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Key, Rows, numbered
from evalstats.logs.sources import Source, text_blocks

NAME = "mt-metrics-eval"

_ENDING = ".seg.score"


def is_ours(source: Source) -> bool:
    """Return whether the name of a file, or of one in the folder, ends as those of scores do."""
    return any(path.name.endswith(_ENDING) for path in source.files)


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of each file, whose name is that of its metric: "COMET-refA.seg.score"."""
    rows: list[Rows] = []
    for path in source.files:
        if not path.name.endswith(_ENDING):
            continue
        folder = path.relative_to(source.path).parent if source.path.is_dir() else Path()
        key = Key("" if folder == Path() else folder.as_posix(), path.name.removesuffix(_ENDING))
        if wanted.has(key):
            blocks = _blocks(path).items()
            rows += numbered(str(path), key, [(name, scores, {}) for name, scores in blocks])
    return log_of(source.path, NAME, rows)


def _blocks(path: Path) -> dict[str, list[float]]:
    """Return the scores of each system, in the order of the lines."""
    scores: dict[str, list[float]] = {}
    last = None
    for i, line in enumerate(chain.from_iterable(text_blocks(path)), 1):
        if not line.strip():
            continue
        where = f"{path}, line {i}"
        try:
            name, text = line.split()
            score = float("nan" if text == "None" else text)
        except ValueError:
            got = shown(line, 60)
            raise InputError(f"{where} must be a system and its score, got {got}") from None
        if name != last and name in scores:
            raise InputError(
                f"{where}: the scores of {shown(name, 60)} go on after those of another system, "
                f"but segments are known by their order"
            )
        last = name
        scores.setdefault(name, []).append(score)
    return scores
