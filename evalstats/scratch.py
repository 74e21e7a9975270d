"""Working memory that is used again from block to block.

Arrays of a megabyte come from the operating system page by page when they are allocated anew for
every block, and that costs as much as drawing the weights (`benchmarks/test_resampling.py`).
"""

from __future__ import annotations

from math import prod
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch:
    """Arrays by name, grown when needed; belongs to one thread.

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.array("counts", (2, 3), np.uint8).shape
    (2, 3)
    """

    def __init__(self) -> None:
        self._buffers: dict[tuple[str, Any], NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of this shape with arbitrary content, valid until the next request."""
        size = prod(shape)
        buffer = self._buffers.get((name, dtype))
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name, dtype] = np.empty(size, dtype=dtype)
        return buffer[:size].reshape(shape)


class Scratches:
    """A scratch for every thread that works on one call; goes to other processes empty."""

    def __init__(self) -> None:
        self._local = local()

    def of_this_thread(self) -> Scratch:
        """Return the scratch of the calling thread."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch()
        return self._local.scratch  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[type[Scratches], tuple[()]]:
        return Scratches, ()
