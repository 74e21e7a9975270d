"""Text files, one segment a line, read as sacreBLEU's command line reads them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

from evalstats.errors import InputError


def read_segments(path: str) -> list[str]:
    r"""Return the lines of a UTF-8 text file, `.gz` included, without trailing whitespace.

    Lines end at "\n" only: other Unicode line separators occur inside segments. Empty lines are
    segments. A file that cannot be read, is empty or is not UTF-8 raises an `InputError`.
    """
    try:
        data = Path(path).read_bytes()
        if path.endswith(".gz"):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}") from None
    if not data:
        raise InputError(f"{path} is empty; expected one segment a line")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise InputError(f"{path} is not UTF-8: byte 0x{byte:02x} in line {line}") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip() for line in lines]


def read_parallel(paths: Sequence[str], name: str) -> list[list[str]]:
    """Read files that must have the same number of lines."""
    columns = [read_segments(path) for path in paths]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        found = ", ".join(f"{path} has {n}" for path, n in zip(paths, lengths, strict=True))
        raise InputError(f"{name} must have the same number of lines: {found}")
    return columns


def system_names(paths: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Return the names given, or the file names without their last suffix."""
    if names is not None and len(names) != len(paths):
        raise InputError(
            f"--names needs one name for each of the {len(paths)} inputs, got {len(names)}"
        )
    chosen = list(names or (Path(path.removesuffix(".gz")).stem for path in paths))
    for i, name in enumerate(chosen):
        if name in chosen[:i]:
            first = paths[chosen.index(name)]
            raise InputError(
                f"system name {name!r} comes from both {first} and {paths[i]}; "
                f"give different --names"
            )
    return chosen
