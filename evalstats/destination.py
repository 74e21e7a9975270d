"""Where a result goes: standard output or a file, tried before the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from evalstats.errors import InputError

#: What stands for standard input or standard output in place of a file.
STANDARD = "-"


class UnwritableError(Exception):
    """Standard output takes no more: its reader has gone, or a disk is full."""


class Destination:
    """A file, or standard output for `None` and ``"-"``; entered before the work that fills it.

    Parameters
    ----------
    path : str or None
    inputs : sequence of str
        Files that it may not be.

    Raises
    ------
    InputError
        For what cannot be written, and for one of the inputs.
    """

    def __init__(self, path: str | None, inputs: Sequence[str] = ()) -> None:
        self._path = None if path in (None, STANDARD) else path
        self._inputs = inputs
        self._is_new = False

    def __enter__(self) -> Destination:
        """Try to write, without changing what is there."""
        if self._path is None:
            if sys.stdout is None:
                raise InputError("standard output is closed; give -o FILE")
            return self
        for other in self._inputs:
            if _is_same(self._path, other):
                raise InputError(f"-o {self._path} is the input {other}; give another file")
        try:
            self._is_new = not os.path.lexists(self._path)
            # To open a pipe or a device already does something to it.
            if self._is_new or Path(self._path).is_dir() or Path(self._path).is_file():
                with open(self._path, "ab"):
                    pass
        except OSError as error:
            raise self._unwritable(error) from None
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        """Remove the empty file that trying made, if the work came to nothing."""
        if kind is not None and self._is_new and self._path is not None:
            with suppress(OSError):
                Path(self._path).unlink()

    def write(self, text: str) -> None:
        """Write a text that ends in one line feed."""
        text = text.rstrip("\n") + "\n"
        if self._path is None:
            to_stdout(text)
            return
        try:
            Path(self._path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(f"cannot write {self._path}: {error.strerror}")


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # What is not there is reported where it is read.
        return False


def to_stdout(text: str = "") -> None:
    """Write to standard output, through to what reads it."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise UnwritableError(error.strerror) from error
