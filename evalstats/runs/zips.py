"""Zip files that others wrote, read without trust: sizes, names and ratios are checked first."""

from __future__ import annotations

import copy
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from evalstats.errors import InputError, MissingExtraError
from evalstats.runs.sources import MOST_BYTES, parsed
from evalstats.statistics.archives import checked_directory

#: Bytes of the directory of members: some 60 a member, of which Python makes 20 times that.
_MOST_DIRECTORY = 2**25
#: What one byte may stand for: JSON shrinks by 10 to 100, and deflate by 1,032 at the very most.
_MOST_RATIO = 1100
_ZSTD = 93


class Zip:
    """The members of a zip file by name; none is read before it is asked for.

    Raises
    ------
    InputError
        For what is no zip file, claims to hold more than its bytes can, has a name twice, one that
        leads out of the archive, or a member that is encrypted.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self._archive = path, archive
        entries = archive.infolist()
        self._members = {entry.filename: entry for entry in entries}
        if len(self._members) < len(entries):
            raise InputError(f"{path} is refused: it has members of the same name")
        for entry in entries:
            why = _suspicious(entry)
            if why:
                raise InputError(f"{path} is refused: its member {entry.filename!r} {why}")
        if sum(entry.compress_size for entry in entries) > path.stat().st_size:
            raise InputError(f"{path} is refused: its members overlap")

    @property
    def names(self) -> list[str]:
        """Names of all members, in the order of the archive."""
        return list(self._members)

    def json(self, name: str) -> Any:
        """Return what the JSON of a member holds."""
        where = f"{self.path}, {name}"
        entry = self._members[name]
        if entry.file_size > MOST_BYTES:
            raise InputError(f"{where} has more than {MOST_BYTES:,} bytes")
        try:
            data = _read(self._archive, entry, where)
        except InputError:
            raise
        # What Python's readers raise depends on where the damage is.
        except Exception as error:
            raise InputError(f"{where} is damaged: {error or type(error).__name__}") from None
        if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
            raise InputError(f"{where} is damaged: it does not have the bytes that it claims")
        return parsed(data, where)


@contextmanager
def opened_zip(path: Path) -> Iterator[Zip]:
    """Open a zip file for as long as its members are read."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            checked = checked_directory(file, _MOST_DIRECTORY)
            archive = stack.enter_context(zipfile.ZipFile(checked))
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        except Exception as error:
            raise InputError(f"{path} is not a zip file, or cut short: {error}") from None
        yield Zip(path, archive)


def _suspicious(entry: zipfile.ZipInfo) -> str:
    """Return what is wrong with a member, as far as the directory tells."""
    name = entry.orig_filename
    if name.startswith("/") or "\\" in name or (".." in name and ".." in name.split("/")):
        return "leads out of the archive"
    if entry.flag_bits & 1:
        return "is encrypted"
    if entry.file_size > _MOST_RATIO * entry.compress_size + 1000:
        return f"claims {entry.file_size:,} bytes in {entry.compress_size:,}"
    return ""


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> bytes:
    """Return the bytes of a member, one more than it claims at most."""
    if entry.compress_type != _ZSTD or hasattr(zipfile, "ZIP_ZSTANDARD"):
        with archive.open(entry) as member:
            return member.read(entry.file_size + 1)
    # The bytes as they are stored; their checksum is that of what they stand for.
    stored = copy.copy(entry)
    stored.compress_type, stored.file_size = zipfile.ZIP_STORED, entry.compress_size
    del stored.CRC
    with archive.open(stored) as member, closing(_decompressed(member.read(), where)) as data:
        return data.read(entry.file_size + 1)


def _decompressed(data: bytes, where: str) -> BinaryIO:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtraError(
            f"{where} is compressed with zstd, which Python reads from 3.14 on: "
            f"pip install 'evalstats-text[inspect]'"
        ) from error
    reader: BinaryIO = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(data), read_across_frames=True
    )
    return reader
