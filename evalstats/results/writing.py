"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR
from pathlib import Path
from typing import BinaryIO

from evalstats.checks import shown
from evalstats.errors import InputError, InputTypeError

#: Forms of results by the suffix of their files.
SUFFIXES = {
    **{".txt": "text", ".json": "json", ".md": "markdown", ".tex": "latex"},
    **{".html": "html", ".csv": "csv", ".xml": "junit"},
    **{".png": "png", ".pdf": "pdf", ".svg": "svg"},
}


@contextmanager
def replacing(path: str | os.PathLike[str], form: str = "") -> Iterator[BinaryIO]:
    """Yield a file that takes the place of what is there when all of it is written.

    It is opened at once, so that a path that cannot be written is an `InputError` before the work.
    A pipe or a device stays what it is, and a link where it points. The suffix must not be that of
    another form than is written.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path, got {type(path).__name__}")
    found = SUFFIXES.get(Path(path).suffix.lower(), form)
    if form and found != form:
        raise InputError(
            f"path must end in .{form}, got {shown(os.fspath(path))}, a file of {found}"
        )
    try:
        # A NUL in a path is a ValueError.
        target = Path(os.path.realpath(path))
        is_stream = target.exists() and not (target.is_file() or target.is_dir())
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        # Written beside its place and moved there: Ctrl-C leaves the old file or the new one.
        beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        file = target.open("wb") if is_stream else beside.open("xb")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    try:
        with file:
            yield file
            if not is_stream:
                file.flush()
                os.fsync(file.fileno())
        if not is_stream:
            beside.replace(target)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def _unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"cannot write {shown(os.fspath(path))}: {reason}")
