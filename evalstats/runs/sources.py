"""Files and folders that others wrote, read as data: nothing in them is run or trusted.

Sizes, depth and numbers are limited by what is read, and whatever is wrong with a file becomes an
`InputError` that names it, and the line.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from evalstats.checks import shown
from evalstats.errors import InputError

#: Bytes of a JSON document, which is in memory as a whole, and of a line.
MOST_BYTES = 2**31
MOST_LINE = 2**27
#: Characters of text that are read together.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Source:
    """A file or a folder, of which as much is looked at as a format needs to know its own."""

    path: Path

    def __post_init__(self) -> None:
        if "\0" in str(self.path):
            raise InputError(f"cannot read {str(self.path)!r}: no path has a null character")
        try:
            if self.path.is_dir() or self.path.is_file():
                return
            what = "is neither a file nor a folder" if self.path.exists() else "does not exist"
        except OSError as error:
            raise _unreadable(error) from None
        raise InputError(f"cannot read {self.path}: it {what}")

    @cached_property
    def files(self) -> list[Path]:
        """All files of the folder and of those in it, in order of their names; or the file."""
        if self.path.is_file():
            return [self.path]
        # What cannot be looked into may hold another run.
        found = os.walk(self.path, onerror=_refuse)
        paths = (Path(folder, name) for folder, _, names in found for name in names)
        return sorted(path for path in paths if path.is_file())

    @property
    def suffix(self) -> str:
        """The last suffix in lower case, not that of compression; empty for a folder."""
        if self.path.is_dir():
            return ""
        name = self.path.name.lower()
        return Path(name.removesuffix(".gz")).suffix

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, as they are before compression; none of a folder."""
        if self.path.is_dir():
            return b""
        with suppress(OSError, EOFError, zlib.error), _opened(self.path) as file:
            return file.read(4096)
        return b""

    @cached_property
    def json(self) -> Any:
        """What a JSON file holds; None for any other file or a folder."""
        return read_json(self.path) if self.suffix == ".json" else None

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object of a file of JSON lines; empty for any other."""
        if self.suffix == ".jsonl":
            for _, record in json_lines(self.path):
                return record
        return {}


def read_json(path: Path) -> Any:
    """Return what a JSON file holds."""
    try:
        with _opened(path) as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {_reason(error)}") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} has more than {MOST_BYTES:,} bytes; give a part of it")
    return parsed(data, str(path))


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each line, from 1 on, and the object in it; empty lines are skipped."""
    name = str(path)
    try:
        with _opened(path) as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise InputError(f"{name}, line {number} has more than {MOST_LINE:,} bytes")
                if not line.strip():
                    continue
                record = parsed(line, f"{name}, line {number}")
                if not isinstance(record, dict):
                    raise InputError(
                        f"{name}, line {number} must be a JSON object, got {shown(record, 60)}"
                    )
                yield number, record
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {name}: {_reason(error)}") from None


def text_blocks(path: Path) -> Iterator[list[str]]:
    """Yield the lines of UTF-8 text in blocks, with what ends them, less a byte order mark."""
    n_read = n_lines = 0
    try:
        with _opened(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
            while lines := text.readlines(_BLOCK):
                n_lines += len(lines)
                n_read += sum(map(len, lines))
                if n_read > MOST_BYTES:
                    raise InputError(
                        f"{path} has more than {MOST_BYTES:,} bytes; give a part of it"
                    )
                yield lines
    except UnicodeDecodeError as error:
        at = f"byte 0x{error.object[error.start]:02x} after line {n_lines}"
        raise InputError(f"{path} is not UTF-8: {at}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {_reason(error)}") from None


def parsed(data: bytes, where: str) -> Any:
    """Return what JSON text holds, or say where it is not JSON."""
    try:
        return json.loads(data, object_pairs_hook=_object)
    except KeyError as error:
        raise InputError(f"{where} has {shown(error.args[0], 60)} twice in one object") from None
    except RecursionError:
        raise InputError(f"{where} is nested too deeply to be a log") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8: byte {error.start}") from None
    except ValueError as error:  # a number of too many digits as well
        raise InputError(f"{where} is not JSON, or cut short: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of two values under one key, Python would lose the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise KeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return found


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb", buffering=2**20)  # Lines are long.


def _refuse(error: OSError) -> NoReturn:
    raise _unreadable(error)


def _unreadable(error: OSError) -> InputError:
    return InputError(f"cannot read {shown(str(error.filename), 200)}: {error.strerror}")


def _reason(error: BaseException) -> object:
    return getattr(error, "strerror", None) or error


def entry(record: Any, *keys: str, where: str) -> Any:
    """Return ``record[key][key]...``, or say which key is missing."""
    found = record
    for i, key in enumerate(keys):
        if not isinstance(found, dict) or key not in found:
            raise InputError(f"{where} has no {'.'.join(keys[: i + 1])!r}")
        found = found[key]
    return found


def at(record: Any, *keys: str) -> Any:
    """Return ``record[key][key]...``, or None."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def text_at(record: Any, *keys: str, where: str) -> str:
    """Return the text at ``record[key][key]...``, which must be there."""
    found = entry(record, *keys, where=where)
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"{where}: {'.'.join(keys)} must be text, got {shown(found, 60)}")
    return found


def fingerprint(*texts: str) -> str:
    """Return a hash of texts, which tells whether two logs speak of the same; empty for none."""
    if not texts:
        return ""
    whole = "\0".join([*map(str, map(len, texts)), *texts])
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def dotted(record: Any, path: str) -> str:
    """Return the label at a path of keys, ``doc.passage_id``, as text; empty where there is none.

    A key that holds dots itself is found whole first.
    """
    if isinstance(record, dict) and path in record:
        found = record[path]
    else:
        key, dot, rest = path.partition(".")
        inner = record.get(key) if isinstance(record, dict) else None
        return dotted(inner, rest) if dot else ""
    return as_label(found)


def as_label(value: Any) -> str:
    """Return what JSON holds as text: texts and numbers as they are, empty for null."""
    if isinstance(value, (str, int, float, bool)):
        return str(value)
    return "" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=True)
