"""Numbers in a file: a `.npz` of arrays with a JSON header, read without trust.

No pickles, no compression (a small file could stand for a huge array), numbers only, and every
array is as large as its bytes are. So memory stays in proportion to the length of the file. A
file of the same numbers has the same bytes.
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
#: The most bytes of an archive's directory: some 50 for a member, and 20 times that in memory.
_MOST_DIRECTORY = 1 << 20


def write_archive(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays of numbers and a header that JSON can hold; all of it, or nothing."""
    text = json.dumps(dict(header), allow_nan=False).encode()
    members = {_HEADER: np.frombuffer(text, np.uint8), **arrays}
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            # A fixed date: the same numbers make the same bytes.
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=array.nbytes > 2**30) as member:
                rows = np.ascontiguousarray(array)
                np.lib.format.write_array(member, rows, version=(1, 0), allow_pickle=False)


def read_archive(
    path: str | os.PathLike[str], kinds: str = "iu"
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays that `write_archive` wrote; `kinds` are NumPy's letters of types."""
    try:
        # Asked before it is opened: a pipe would wait for its writer, and a device has no end.
        found = Path(path).stat()
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is not a regular file")
        with Path(path).open("rb") as file:
            return _read(file, found.st_size, kinds, str(path))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _read(
    file: BinaryIO, size: int, kinds: str, name: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays of an open file of so many bytes; messages call it by a name."""
    try:
        with zipfile.ZipFile(_checked(file)) as archive:
            members = _members(archive, size, kinds)
        if _HEADER not in members:
            raise ValueError(f"expected {_HEADER}.npy in it, found {', '.join(members)[:99]!r}")
        header = json.loads(members.pop(_HEADER).tobytes().decode("utf-8"))
        if not isinstance(header, dict):
            raise ValueError(f"{_HEADER}.npy is not a JSON object")
        return header, members
    except OSError:
        raise
    # What Python's and NumPy's readers raise depends on where the damage is.
    except Exception as error:
        raise InputError(
            f"{name} is damaged, cut short, or not a file that save() wrote: "
            f"{str(error)[:500] or type(error).__name__}"
        ) from None


def _checked(file: BinaryIO) -> BinaryIO:
    """Return a file that ends as a zip file without comment does, with a short directory."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 98))
    # The record of a large file's directory (56 bytes), what points to it (20), the record (22).
    tail = file.read().rjust(98, b"\0")
    size = int.from_bytes(tail[88:92], "little")
    if tail[56:60] == b"PK\6\7":
        size = max(size % 0xFFFFFFFF, int.from_bytes(tail[40:48], "little"))
    if tail[76:80] != b"PK\5\6" or tail[96:] != b"\0\0":
        raise ValueError("it does not end as an archive does")
    if size > _MOST_DIRECTORY:
        raise ValueError(f"its directory claims {size:,} bytes")
    return file


def _members(archive: zipfile.ZipFile, room: int, kinds: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name; together they are no longer than the file."""
    found: dict[str, NDArray[Any]] = {}
    for entry in archive.infolist():
        room -= entry.file_size
        # As NumPy names them: "x" and "x.npy" are one array to it.
        name = entry.filename.removesuffix(".npy")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            raise ValueError(f"{entry.filename} is compressed or encrypted")
        if room < 0 or entry.file_size != entry.compress_size:
            raise ValueError(f"{entry.filename} claims {entry.file_size:,} bytes")
        if name in found:
            raise ValueError("a name occurs twice")
        if entry.comment:
            # What says how long it is may hide the entries behind it.
            raise ValueError(f"{entry.filename} has a comment")
        found[name] = _array(archive.read(entry), entry.filename, kinds)
    return found


def _array(data: bytes, name: str, kinds: str) -> NDArray[Any]:
    """Return the array of a `.npy` member, whose header must account for every byte."""
    member = BytesIO(data)
    if not data.startswith(b"\x93NUMPY\1\0"):
        raise ValueError(f"{name} is not a NumPy array, or not written by evalstats")
    np.lib.format.read_magic(member)
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(member)
    if dtype.kind not in kinds or dtype.itemsize > 8:
        raise ValueError(f"{name} must hold numbers ({kinds}), got dtype {dtype.str!r}")
    if by_columns and len(shape) > 1:
        raise ValueError(f"{name} must be stored by rows")
    # Python's integers: a hostile shape cannot overflow them.
    left = len(data) - member.tell()
    if prod(shape) * dtype.itemsize != left or min(shape, default=0) < 0:
        raise ValueError(f"{name} claims shape {shape} of {dtype.str}, but has {left} bytes")
    return np.frombuffer(data, dtype=dtype, offset=member.tell()).reshape(shape)
