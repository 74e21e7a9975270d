"""Working memory that is used again, from block to block and from call to call.

Fresh arrays come from the operating system page by page, zeroed, and that costs as much as drawing
the weights (`benchmarks/test_resampling.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes that wait for the next call at most: nine megabytes for each of some seven threads.
_MOST_IDLE = 1 << 26
#: Bytes of a block that is freed at the beginning.
_KEPT_BLOCK = 1 << 22


class Scratch:
    """Arrays by name, grown when needed; belongs to one thread.

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.array("counts", (2, 3), np.uint8).shape
    (2, 3)
    """

    def __init__(self) -> None:
        _keep_freed_memory()
        self._buffers: dict[tuple[str, Any], NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of this shape with arbitrary content, valid until the next request."""
        size = prod(shape)
        buffer = self._buffers.get((name, dtype))
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name, dtype] = np.empty(size, dtype=dtype)
        return buffer[:size].reshape(shape)

    @property
    def n_bytes(self) -> int:
        """Return the size of all arrays."""
        return sum(buffer.nbytes for buffer in self._buffers.values())


@lru_cache(maxsize=1)
def _keep_freed_memory() -> None:
    """Let passing arrays use the same memory again, once for this process.

    Where a scratch is used other arrays are made too, for a moment. The C library of Linux (glibc)
    gives what they leave free back to the system, to be fetched again page by page, unless a large
    block was freed before: from then on each thread may keep twice its size. This block is never
    touched. Where ``MALLOC_TRIM_THRESHOLD_`` or its like is set, as Dask does for its workers,
    that decides instead.
    """
    np.empty(_KEPT_BLOCK, dtype=np.uint8)


_idle: list[Scratch] = []
_lock = Lock()


@contextmanager
def borrowed() -> Iterator[Scratch]:
    """Lend a scratch that nobody else uses at the moment; `shrink` when no more is needed.

    Examples
    --------
    >>> with borrowed() as scratch:
    ...     scratch.array("counts", (2, 3), np.uint8).shape
    (2, 3)
    """
    with _lock:
        scratch = _idle.pop() if _idle else Scratch()
    try:
        yield scratch
    finally:
        with _lock:
            _idle.append(scratch)


def shrink() -> None:
    """Let go of what should not wait for the next call."""
    with _lock:
        _idle.sort(key=lambda scratch: scratch.n_bytes)
        while sum(scratch.n_bytes for scratch in _idle) > _MOST_IDLE:
            _idle.pop()


def _after_fork() -> None:
    # A child may be forked while another thread holds the lock, or is about to use a scratch.
    global _lock
    _lock = Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
