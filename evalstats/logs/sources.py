"""Files and folders of unknown origin, read as data: nothing in them is run or trusted.

Sizes, depth and numbers are limited, and every problem with a file becomes an `InputError` with the
file and the line.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from evalstats.checks import shown
from evalstats.errors import InputError, MissingExtraError
from evalstats.logs.fields import Json
from evalstats.results.convert import json_of
from evalstats.statistics.files import UTF16, opened

#: Most bytes of a JSON document, which is read as a whole, and of a line.
MOST_BYTES = 2**31
MOST_LINE = 2**27
#: Number of characters read together.
_BLOCK = 1 << 20
#: Most bytes that one byte of a zip file may expand to: deflate's maximum is 1,032.
_MOST_RATIO = 1100
_ZSTD = 93
#: File suffixes; anything else after a dot belongs to the name: GPT-4.5.
_SUFFIXES = (
    *(".txt", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".eval", ".npz"),
    *(".seg.score", ".score", ".scores", ".comet"),
)


def without_suffix(path: object) -> str:
    """Return the name of a file without folders and a known suffix.

    >>> without_suffix("out/GPT-4.5.txt"), without_suffix("GPT-4.5"), without_suffix("a.csv.gz")
    ('GPT-4.5', 'GPT-4.5', 'a')
    """
    name = PurePath(str(path)).name
    name = name[:-3] if name.lower().endswith(".gz") else name
    suffix = next((s for s in _SUFFIXES if name.lower().endswith(s) and len(name) > len(s)), "")
    return name[: len(name) - len(suffix)]


def differing(paths: list[tuple[str, ...]]) -> list[str]:
    """Return the differences of paths, without common beginnings and endings.

    For ``("/", "old", "x.json")`` and ``("/", "new", "x.json")`` they are "old" and "new".
    """
    n_alike = []
    for turned in (paths, [path[::-1] for path in paths]):
        are_alike = [len(set(parts)) == 1 for parts in zip(*turned, strict=False)]
        n_alike.append([*are_alike, False].index(False))
    n_first, n_last = n_alike
    n_last = min(n_last, min(map(len, paths)) - n_first)
    names = ["/".join(path[n_first : len(path) - n_last]) for path in paths]
    if all(names) and len(set(names)) == len(names):
        return names
    return ["/".join(path[n_first:]) for path in paths]


#: How JSON lines begin: an object to the end of a line, and another one.
_TWO_OBJECTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{[^\n]*\}[ \t\r]*\n\s*\{")


@dataclass(frozen=True)
class Source:
    """A file or a folder of unknown format.

    Its properties read only as much as needed: the names of files, the first bytes, the first line,
    or a whole document.
    """

    path: Path

    def __post_init__(self) -> None:
        if not os.path.exists(self.path):
            raise InputError(f"cannot read {self.path}: it does not exist")
        # A pipe can be read only once, but the contents are examined before reading.
        if not (self.path.is_file() or self.path.is_dir()):
            raise InputError(
                f"cannot read {self.path}: it is a pipe or a device; write it to a file"
            )

    @cached_property
    def files(self) -> list[Path]:
        """All files of the folder and its subfolders, in order of their names; or the file.

        Hidden files, such as locks and files of editors, are left out.
        """
        if self.path.is_file():
            return [self.path]
        errors: list[OSError] = []
        folders = list(os.walk(self.path, onerror=errors.append))
        # An unreadable folder may contain another log.
        if errors:
            folder = shown(str(errors[0].filename), 200)
            raise InputError(f"cannot read {folder}: {errors[0].strerror}")
        paths = (Path(folder, name) for folder, _, names in folders for name in names)
        seen = (path for path in paths if "/." not in f"/{path.relative_to(self.path).as_posix()}")
        return sorted(path for path in seen if path.is_file())

    @cached_property
    def suffix(self) -> str:
        """The last suffix in lower case, ignoring compression; empty for a folder.

        JSON lines may be called ".json" or ".ndjson", and are ".jsonl" here.
        """
        if self.path.is_dir():
            return ""
        suffix = Path(self.path.name.lower().removesuffix(".gz")).suffix
        is_lines = suffix == ".ndjson" or (suffix == ".json" and _TWO_OBJECTS.match(self.head))
        return ".jsonl" if is_lines else suffix

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, decompressed."""
        with suppress(OSError, EOFError, zlib.error), opened(self.path) as file:
            return file.read(4096)
        return b""

    @cached_property
    def json(self) -> Json:
        """The contents of a JSON file; None for any other file or a folder."""
        return read_json(self.path) if self.suffix == ".json" else None

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object of a file of JSON lines; empty for any other."""
        lines = json_lines(self.path) if self.suffix == ".jsonl" else ()
        return next((record for _, record in lines), {})


@contextmanager
def readable(path: Path) -> Iterator[BinaryIO]:
    """Open a file; errors name the file."""
    try:
        with opened(path) as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}") from None


def read_json(path: Path) -> Json:
    """Return the contents of a JSON file."""
    with readable(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} has more than {MOST_BYTES:,} bytes; split it")
    return parsed(data, str(path))


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each line, from 1 on, and the object in it; empty lines are skipped."""
    with readable(path) as file:
        number = 0
        while line := file.readline(MOST_LINE + 1):
            number += 1
            if len(line) > MOST_LINE:
                raise InputError(f"{path}, line {number} has more than {MOST_LINE:,} bytes")
            if not line.strip():
                continue
            record = parsed(line, f"{path}, line {number}")
            if not isinstance(record, dict):
                got = shown(record, 60)
                raise InputError(f"{path}, line {number} must be a JSON object, got {got}")
            yield number, record


def text_blocks(path: Path) -> Iterator[list[str]]:
    """Yield the lines of UTF-8 text in blocks, with line ends, without a byte order mark."""
    n_lines = 0
    try:
        with readable(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
            while lines := text.readlines(_BLOCK):
                n_lines += len(lines)
                yield lines
    except UnicodeDecodeError as error:
        if not n_lines and error.object[:2] in UTF16:
            raise InputError(f"{path} is encoded as UTF-16; save it as UTF-8") from None
        at = _undecodable(path)
        raise InputError(f"{path} is not UTF-8: {at}. Save it as UTF-8.") from None


def _undecodable(path: Path) -> str:
    """Return the first line and byte that are not UTF-8: "line 7 contains byte 0xf6"."""
    with readable(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"line {number} contains byte 0x{line[error.start]:02x}"
    return "its end is incomplete"


def parsed(data: bytes, where: str) -> Json:
    """Return the contents of JSON text, or raise with the place of the problem."""
    try:
        # Only a document may begin with a byte order mark or have other encodings than UTF-8.
        encoding = "utf-8" if data.startswith(b'{"') else json.detect_encoding(data)
        return json_of(data.decode(encoding, "surrogatepass"))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except RecursionError:
        raise InputError(f"{where} is nested too deeply to be a log") from None
    except ValueError as error:  # also not UTF-8, or a number with too many digits
        raise InputError(f"{where} is not JSON, or was cut short: {error}") from None


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file for as long as its members are read."""
    try:
        archive = zipfile.ZipFile(path)
    # The exceptions of Python's readers depend on the damage.
    except Exception as error:
        raise InputError(f"{path} is not a zip file, or was cut short: {error}") from None
    with archive:
        names = archive.namelist()
        if len(set(names)) < len(names):
            raise InputError(f"{path} is refused, because several members have the same name")
        yield archive


def zip_json(archive: zipfile.ZipFile, name: str) -> Json:
    """Return the JSON of a member, reading at most its declared size."""
    entry, where = archive.getinfo(name), f"{archive.filename}, {name}"
    if entry.file_size > min(MOST_BYTES, _MOST_RATIO * entry.compress_size + 1000):
        raise InputError(
            f"{where} is refused, because its {entry.compress_size:,} bytes would expand to "
            f"{entry.file_size:,}"
        )
    n_most, stored = entry.file_size + 1, copy(entry)
    is_zstd = entry.compress_type == _ZSTD and sys.version_info < (3, 14)
    if is_zstd:
        # The stored bytes; the checksum is for the decompressed bytes.
        stored.compress_type, stored.file_size = zipfile.ZIP_STORED, entry.compress_size
        del stored.CRC
    try:
        with archive.open(stored) as member:
            data = member.read(stored.file_size + 1)
        if is_zstd:
            import zstandard

            unpacker = zstandard.ZstdDecompressor()
            packed = unpacker.stream_reader(io.BytesIO(data), read_across_frames=True)
            data = bytes(packed.read(n_most))
    except ImportError as error:
        raise MissingExtraError(
            f"{where} is compressed with zstd, which Python can read only from version 3.14: pip "
            "install '.[inspect]'"
        ) from error
    except Exception as error:
        raise InputError(f"{where} is damaged: {error or type(error).__name__}") from None
    if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
        raise InputError(f"{where} is damaged, because its size is not the declared size")
    return parsed(data, where)


def beside(path: Path, name: str) -> Json:
    """Return the contents of a JSON file with this name in the same folder, or None."""
    file = path.with_name(name)
    return read_json(file) if file != path and file.is_file() else None
