"""Numbers in a file: a `.npz` of integer arrays with a header, read without trust.

Nothing in such a file is run or believed: no pickles, no compression (a small file could stand
for a huge array), integers only, and every array is as large as its bytes are.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError

_HEADER = "header"
#: What the readers of zip files, `.npy` files and JSON raise on bytes that are none.
_DAMAGE = (
    zipfile.BadZipFile,
    ValueError,
    KeyError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
)


def write_archive(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write integer arrays and a header that JSON can hold; all of it, or nothing.

    The file is written beside its place and then moved there, so that an interrupted run leaves
    either the whole file or none.

    Raises
    ------
    InputError
        Where the file cannot be written.
    """
    text = json.dumps(dict(header)).encode()
    members: dict[str, Any] = {_HEADER: np.frombuffer(text, np.uint8), **arrays}
    target = Path(path)
    beside = target.with_name(target.name + ".partial")
    try:
        with beside.open("wb") as file:
            np.savez(file, **members)
        os.replace(beside, target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays that `write_archive` wrote.

    Raises
    ------
    InputError
        For a file that cannot be read, was cut short, or holds anything else.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            room = Path(path).stat().st_size
            members = {}
            for info in archive.infolist():
                room -= info.file_size
                if info.compress_type != zipfile.ZIP_STORED or room < 0:
                    raise ValueError(f"{info.filename} is compressed or too large")
                members[info.filename.removesuffix(".npy")] = _array(archive.read(info))
        header = json.loads(members.pop(_HEADER).tobytes())
        if not isinstance(header, dict):
            raise ValueError("the header is not a mapping")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except _DAMAGE as error:
        raise InputError(
            f"{path} is damaged, cut short, or not a file that save() wrote: {error}"
        ) from None
    return header, members


def _array(data: bytes) -> NDArray[Any]:
    """Return the array of a `.npy` file of integers, whose header must fit its bytes."""
    file = BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("unknown version of the npy format")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    start = file.tell()
    if dtype.kind not in "iu" or by_columns or min(shape, default=0) < 0:
        raise ValueError(f"expected an array of integers by rows, got {dtype} {shape}")
    if math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError(f"{len(data) - start} bytes cannot be {dtype} {shape}")
    return np.frombuffer(data, dtype, offset=start).reshape(shape)
