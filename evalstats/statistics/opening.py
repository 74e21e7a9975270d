"""Files opened for reading: those of gzip are unpacked, and pipes not waited for without end.

Whatever else is wrong with a file is an `OSError` with the reason, for the reader to put beside the
path.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

#: How files begin that a program has compressed.
_COMPRESSED = {
    "gzip": rb"\x1f\x8b",
    "xz": rb"\xfd7zXZ\x00",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9]1AY&SY",
}
_LONGEST = 10
_BUFFER = 1 << 20
#: Texts are some 3 to 10 times larger than what gzip makes of them; a bomb is up to 1,000 times.
#: Short files may be anything: a thousand empty lines.
_MOST_RATIO, _SHORT = 100, 1 << 28
#: Seconds within which something has to open the other end of a pipe.
PATIENCE = 10.0


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file; one that ends in .gz is unpacked as it is read."""
    is_gz = path.suffix.lower() == ".gz"
    with io.BufferedReader(io.FileIO(path), _BUFFER) as file:
        kind = _compression(file.peek(_LONGEST))
        if is_gz and kind != "gzip":
            raise OSError("it ends in .gz, but is not compressed by gzip")
        if not is_gz:
            _refuse_compressed(kind)
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast(BinaryIO, unpacked)


def read_text(path: Path) -> bytes | bytearray:
    """Return the bytes of a text; a .gz that stands for far more than text is refused."""
    if stat.S_ISFIFO(path.stat().st_mode):
        found = _read_pipe(path)
        _refuse_compressed(_compression(found[:_LONGEST]))
        return found
    with opened(path) as file:
        if not isinstance(file, gzip.GzipFile):
            return file.read()
        size = path.stat().st_size
        most = max(_SHORT, _MOST_RATIO * size)
        data = bytearray()
        while block := file.read(_BUFFER):
            data += block
            if len(data) > most:
                raise OSError(
                    f"its {size:,} bytes stand for more than {most:,}, as those of a text do not; "
                    f"unpack it if you trust it"
                )
        return data


def _compression(begin: bytes) -> str:
    """Return the program that compressed a file which begins so: "xz"; "" for none."""
    return next((kind for kind, magic in _COMPRESSED.items() if re.match(magic, begin)), "")


def _refuse_compressed(kind: str) -> None:
    if kind:
        how = "its name has to end in .gz" if kind == "gzip" else "only .gz is read, so unpack it"
        raise OSError(f"it is compressed by {kind}: {how}")


def _read_pipe(path: Path) -> bytes:
    """Return all that is written to a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as file:
        until = time.monotonic() + PATIENCE
        # Nothing (b"") is read while nothing has the other end open, and None until it writes.
        while (first := file.read(1)) == b"" and time.monotonic() < until:
            time.sleep(0.02)
        if first == b"":
            raise OSError(f"it is a pipe, and nothing was written to it in {PATIENCE:g} seconds")
        os.set_blocking(descriptor, True)
        return (first or b"") + file.readall()
