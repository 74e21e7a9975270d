"""Numbers in a file: a `.npz` of arrays with a JSON header, read safely.

No pickles, no compression (a small file could expand to a huge array), numbers only, and every
array has the size of its bytes. So memory is proportional to the length of the file. Equal numbers
give equal bytes.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Mapping
from errno import EISDIR
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.results.files import replacing

_HEADER = "header"
#: The most bytes of an archive's directory: about 50 per member, and 20 times as much in memory.
_MOST_DIRECTORY = 1 << 20


def write_archive(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays of numbers and a JSON header, atomically."""
    text = json.dumps(dict(header), allow_nan=False).encode()
    members = {_HEADER: np.frombuffer(text, np.uint8), **arrays}
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            # A fixed date, so that equal numbers give equal bytes.
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=array.nbytes > 2**30) as member:
                rows = np.ascontiguousarray(array)
                np.lib.format.write_array(member, rows, version=(1, 0), allow_pickle=False)


def read_archive(
    path: str | os.PathLike[str], kinds: str = "iu"
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays from `write_archive`; `kinds` are NumPy's type letters."""
    try:
        # Checked before opening: a pipe would wait for its writer, and a device has no end.
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        with Path(path).open("rb") as file:
            return _read(file, status.st_size, kinds, str(path))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _read(
    file: BinaryIO, size: int, kinds: str, name: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays of an open file; `name` is its name in messages."""
    try:
        with zipfile.ZipFile(_checked(file)) as archive:
            members = _members(archive, size, kinds)
        if _HEADER not in members:
            raise ValueError(f"it must contain {_HEADER}.npy, found {', '.join(members)[:99]!r}")
        header = json.loads(members.pop(_HEADER).tobytes().decode("utf-8"))
        if not isinstance(header, dict):
            raise ValueError(f"{_HEADER}.npy is not a JSON object")
        return header, members
    except OSError:
        raise
    # The exceptions of Python's and NumPy's readers depend on the damage.
    except Exception as error:
        raise InputError(
            f"{name} is damaged, cut short, or not a file that save() wrote: "
            f"{str(error)[:500] or type(error).__name__}"
        ) from None


def _checked(file: BinaryIO) -> BinaryIO:
    """Return a file if it ends like a zip file without a comment, with a short directory."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 98))
    # The record of a large file's directory (56 bytes), its locator (20), the end record (22).
    tail = file.read().rjust(98, b"\0")
    size = int.from_bytes(tail[88:92], "little")
    if tail[56:60] == b"PK\6\7":
        size = max(size % 0xFFFFFFFF, int.from_bytes(tail[40:48], "little"))
    if tail[76:80] != b"PK\5\6" or tail[96:] != b"\0\0":
        raise ValueError("the end of the archive is missing or damaged")
    if size > _MOST_DIRECTORY:
        raise ValueError(f"its directory declares {size:,} bytes")
    return file


def _members(archive: zipfile.ZipFile, room: int, kinds: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name; together they are no longer than the file."""
    members: dict[str, NDArray[Any]] = {}
    for entry in archive.infolist():
        room -= entry.file_size
        # As in NumPy, "x" and "x.npy" are the same array.
        name = entry.filename.removesuffix(".npy")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            raise ValueError(f"{entry.filename} is compressed or encrypted")
        if room < 0 or entry.file_size != entry.compress_size:
            raise ValueError(f"{entry.filename} declares {entry.file_size:,} bytes")
        if name in members:
            raise ValueError("a file name occurs twice")
        if entry.comment:
            # The declared length may hide the entries after it.
            raise ValueError(f"{entry.filename} has a comment")
        members[name] = _array(archive.read(entry), entry.filename, kinds)
    return members


def _array(data: bytes, name: str, kinds: str) -> NDArray[Any]:
    """Return the array of a `.npy` member, whose header must account for every byte."""
    member = BytesIO(data)
    if not data.startswith(b"\x93NUMPY\1\0"):
        raise ValueError(f"{name} is not a NumPy array, or not written by evalstats")
    np.lib.format.read_magic(member)
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(member)
    if dtype.kind not in kinds or dtype.itemsize > 8:
        raise ValueError(f"{name} must contain numbers ({kinds}), got dtype {dtype.str!r}")
    if by_columns and len(shape) > 1:
        raise ValueError(f"{name} must be stored by rows")
    # Python integers, which a hostile shape cannot overflow.
    left = len(data) - member.tell()
    if prod(shape) * dtype.itemsize != left or min(shape, default=0) < 0:
        raise ValueError(f"{name} declares shape {shape} of {dtype.str}, but has {left} bytes")
    return np.frombuffer(data, dtype=dtype, offset=member.tell()).reshape(shape)
