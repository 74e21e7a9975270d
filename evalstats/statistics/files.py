"""Text files, one segment per line, read like sacreBLEU's command line; its test sets."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import sys
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.text.ragged import blocks

#: The name of standard input.
STDIN = "-"
#: A byte order mark, which editors of Windows put before UTF-8, and as a character.
_MARK = "\ufeff".encode()
#: The beginning of UTF-16, which is not supported.
UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: The warning for texts that begin with it.
MARK_NOTE = (
    "begins with a byte order mark (U+FEFF), which counts as part of the first token, as in "
    "sacreBLEU. Save the file without it."
)
#: Number of bytes processed together, to save memory.
_BLOCK_BYTES = 1 << 22
#: First bytes of compressed files.
_COMPRESSED = {
    "gzip": rb"\x1f\x8b",
    "xz": rb"\xfd7zXZ\x00",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9]1AY&SY",
}
_LONGEST = 10
#: A dot that is not inside a number.
_DOT = re.compile(r"(?<!\d)\.|\.(?!\d)")
#: First bytes of test sets in the formats of NIST and WMT.
_SGML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(<(?:srcset|refset|tstset|mteval|dataset|doc|hl|seg|\?xml|!DOCTYPE)\b)",
    re.I,
)
_BUFFER = 1 << 20
#: gzip compresses texts by a factor of 3 to 10; a bomb has up to 1,000. Short files may be
#: anything: a thousand empty lines.
_MOST_RATIO, _SHORT = 100, 1 << 28
#: Seconds to wait for the other end of a pipe to be opened.
PATIENCE = 10.0


class Lines:
    """The lines of a file, stored as bytes: strings would take twice the memory or more."""

    def __init__(self, path: str, labels: bool = False) -> None:
        self.path = path
        try:
            if path == STDIN and sys.stdin is None:
                raise InputError("cannot read -: standard input is closed")
            self._data = sys.stdin.buffer.read() if path == STDIN else read_text(Path(path))
        except (OSError, EOFError, ValueError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot read {path}: {reason}") from None
        if labels:
            self._data = self._data.removeprefix(_MARK)
        elif tag := _SGML.match(self._data):
            raise InputError(
                f"{path} is SGML or XML (it begins with {tag[1].decode()}), but a text file must "
                "have one segment per line. Extract the text between <seg ...> and </seg>, one "
                "segment per line."
            )
        if not self._data:
            raise InputError(f"{path} is empty; expected one segment per line")
        #: Line i is the bytes from edge i to edge i + 1.
        self.edges: NDArray[np.int64] = _edges(self._data)
        for start, stop in blocks(self.edges, _BLOCK_BYTES, len(self)):
            first = int(self.edges[start])
            try:
                self._data[first : self.edges[stop]].decode("utf-8")
            except UnicodeDecodeError as error:
                if self._data[:2] in UTF16:
                    raise InputError(f"{path} is encoded as UTF-16; save it as UTF-8") from None
                at = first + error.start
                line = self._data.count(b"\n", 0, at) + 1
                raise InputError(
                    f"{path} is not UTF-8: byte 0x{self._data[at]:02x} in line {line}"
                ) from None

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.edges) - 1

    def __getitem__(self, i: int) -> str:
        """Return a line as a string."""
        return self.texts(i, i + 1)[0]

    def __iter__(self) -> Iterator[str]:
        """Yield the lines as strings, with few of them in memory."""
        for block in blocks(self.edges, _BLOCK_BYTES, len(self)):
            yield from self.texts(*block)

    def columns(self, n: int, blank_is_absent: bool = False) -> list[Lines]:
        """Return the n tab-separated fields of all lines, each as lines.

        Further tabs belong to the last field, and trailing ones are whitespace (sacreBLEU). Lines
        may have fewer fields if blank ones are absent.
        """
        table: list[list[str]] = []
        for i, line in enumerate(self):
            fields = line.split("\t", n - 1)
            if blank_is_absent:
                fields += [""] * (n - len(fields))
            if len(fields) != n:
                raise InputError(
                    f"{self.path}: line {i + 1} must have {n} references with tabs between them, "
                    f"got {len(fields)}; if the others are missing, pass --blank-is-absent"
                )
            table.append(fields)
        made = [copy(self) for _ in range(n)]
        for lines, column in zip(made, zip(*table, strict=True), strict=True):
            lines._data = "\n".join((*column, "")).encode()
            lines.edges = _edges(lines._data)
        return made

    @property
    def has_mark(self) -> bool:
        """Whether a byte order mark is part of the first line."""
        return self._data.startswith(_MARK)

    def texts(self, start: int, stop: int) -> list[str]:
        """Return the lines of a nonempty range as strings."""
        text = self._data[self.edges[start] : self.edges[stop]].decode("utf-8")
        return [line.rstrip() for line in text.removesuffix("\n").split("\n")]


def _edges(data: bytes | bytearray) -> NDArray[np.int64]:
    """Return the beginning of each line, and the end of the last one."""
    codes = np.frombuffer(data, dtype=np.uint8)
    starts = range(0, len(codes), _BLOCK_BYTES)
    ends = [np.flatnonzero(codes[i : i + _BLOCK_BYTES] == ord("\n")) + i + 1 for i in starts]
    # A last line need not end with a line feed.
    last = [] if data.endswith(b"\n") else [np.array([len(data)])]
    return np.concatenate([np.zeros(1, dtype=np.int64), *ends, *last])


def read_lines(path: str | os.PathLike[str], *, labels: bool = False) -> list[str]:
    r"""Read the lines of a text file as the command line reads outputs and references.

    Lines end at "\n" only: `str.splitlines` and universal newlines would split segments in two.
    Empty lines are segments, and trailing whitespace is dropped, as in sacreBLEU.

    Parameters
    ----------
    path : str or path
        A UTF-8 file, perhaps `.gz`, or ``"-"`` for standard input.
    labels : bool
        Whether the lines are labels (`groups`, `strata`) or ids. A byte order mark before labels is
        removed. For texts it is kept, with a `UserWarning`, because sacreBLEU keeps it too and
        scores would differ without it.

    Returns
    -------
    list of str
        N lines.

    Raises
    ------
    InputError
        For a file that cannot be read, is empty or is not UTF-8.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "system.txt"
    ...     _ = path.write_bytes("A cat\u2028sat. \n\nOn a mat.".encode())
    ...     read_lines(path)
    ['A cat\u2028sat.', '', 'On a mat.']
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path, got {type(path).__name__}")
    lines = Lines(os.fspath(path), labels)
    if lines.has_mark:
        warnings.warn(f"{lines.path} {MARK_NOTE}", stacklevel=2)
    return lines.texts(0, len(lines))


def stem_of(path: str) -> str:
    """Return the name of a file without its folder and its last suffix."""
    return Path(path.removesuffix(".gz")).stem if path != STDIN else "stdin"


def apart(names: Sequence[str]) -> list[str]:
    """Return names without common beginnings and endings, at least two characters each."""
    parts = [_DOT.split(name) for name in names]
    for end in (0, -1):
        while len(names) > 1 and min(map(len, parts)) > 1 and len({p[end] for p in parts}) == 1:
            for p in parts:
                del p[end]
    short = [".".join(p) for p in parts]
    return short if all(len(name) > 1 for name in short) else list(names)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file; one that ends in .gz is unpacked as it is read."""
    is_gz = path.suffix.lower() == ".gz"
    with io.BufferedReader(io.FileIO(path), _BUFFER) as file:
        kind = _compression(file.peek(_LONGEST))
        if is_gz and kind != "gzip":
            raise OSError("its name ends in .gz, but it is not compressed with gzip")
        if not is_gz:
            _refuse_compressed(kind)
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast(BinaryIO, unpacked)


def read_text(path: Path) -> bytes | bytearray:
    """Return the bytes of a text; a .gz that expands far more than text is refused."""
    if stat.S_ISFIFO(path.stat().st_mode):
        content = _read_pipe(path)
        _refuse_compressed(_compression(content[:_LONGEST]))
        return content
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
                    f"its {size:,} bytes expand to more than {most:,}, which is unusual for "
                    "text; decompress it if you trust it"
                )
        return data


def _compression(begin: bytes) -> str:
    """Return the program that compressed a file, from its first bytes: "xz"; "" for none."""
    return next((kind for kind, magic in _COMPRESSED.items() if re.match(magic, begin)), "")


def _refuse_compressed(kind: str) -> None:
    if kind:
        how = (
            "its name must end in .gz"
            if kind == "gzip"
            else "only .gz can be read, so decompress it first"
        )
        raise OSError(f"it is compressed with {kind}; {how}")


def _read_pipe(path: Path) -> bytes:
    """Return everything that is written to a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as file:
        until = time.monotonic() + PATIENCE
        # b"" is read while the other end is closed, and None until something is written.
        while (first := file.read(1)) == b"" and time.monotonic() < until:
            time.sleep(0.02)
        if first == b"":
            raise OSError(f"it is a pipe, and no data arrived within {PATIENCE:g} seconds")
        os.set_blocking(descriptor, True)
        return (first or b"") + file.readall()
