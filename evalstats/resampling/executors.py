"""Independent pieces of work: on this thread, on all cores, or on an executor."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from numbers import Integral
from threading import Thread
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, TypeVar

from evalstats.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from concurrent.futures import Executor

#: Where work runs: an executor, a number of threads of this process, or `None` for all its cores;
#: optionally with a function for progress.
Workers: TypeAlias = "Executor | int | Reporting | None"

#: Maximum number of pieces per thread, so that all end together and an interruption is quick; and
#: the number for an executor, whose size is unknown.
_PIECES_A_THREAD, _PIECES_ELSEWHERE = 16, 32

#: Called as ``tell(done, total)`` after each piece.
Tell: TypeAlias = "Callable[[int, int], object] | None"

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Reporting:
    """Where to work, and a function that is called as ``progress(done, total, "resampling")``."""

    executor: Workers
    progress: Progress


#: Called as ``progress(done, total, label)``.
Progress: TypeAlias = "Callable[[int, int, str], None]"


def as_progress(progress: object) -> Progress | None:
    """Return what is called while work goes on: for True tqdm's bar, or a line without tqdm."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        if not callable(progress):
            what = type(progress).__name__
            raise InputTypeError(f"progress must be True, False or callable, got {what}")
        return progress
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return line_of(sys.stderr)
    bar: Any = None

    def show(done: int, total: int, label: str) -> None:
        nonlocal bar
        if bar is None or bar.total != total:
            if bar is not None:
                bar.close()
            bar = tqdm(total=total, leave=False)
        bar.set_description(label, refresh=False)
        bar.update(done - bar.n)
        if done >= total:
            bar = bar.close()

    return show


def reporting(executor: Workers, progress: object) -> Workers:
    """Return where to work, and who is called meanwhile, if anybody is."""
    called = as_progress(progress)
    return executor if called is None else Reporting(executor, called)


def line_of(stream: TextIO | None, wait: float = 0.0) -> Progress:
    """Return what shows progress on one line of a stream, from `wait` seconds on."""
    start, shown = time.monotonic(), ""

    def show(done: int, total: int, label: str) -> None:
        nonlocal shown
        line = "" if done >= total else f"{label} {100 * done // total}%"
        if stream is not None and line != shown and time.monotonic() - start >= wait:
            stream.write(f"\r{' ' * len(shown)}\r{line}")
            stream.flush()
            shown = line

    return show


def usable_cores() -> int:
    """Return the number of cores this process may use: one if threads cannot start."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return cores if cores == 1 or threads_start() else 1


@cache
def threads_start() -> bool:
    """Return whether a thread can start: not in Pyodide, and not if a limit is reached."""
    probe = Thread(target=int)
    try:
        probe.start()
    except RuntimeError:
        return False
    probe.join()
    return True


def as_workers(executor: object) -> Executor | int | Reporting:
    """Return the requested executor or number of threads."""
    if isinstance(executor, Reporting):
        return replace(executor, executor=as_workers(executor.executor))
    if executor is None:
        return usable_cores()
    if isinstance(executor, Integral) and not isinstance(executor, bool):
        if executor < 1:
            raise InputError(f"executor must be at least 1 (threads), got {executor}")
        if int(executor) > 1 and not threads_start():
            raise InputError(
                f"must be 1 or None here, because threads cannot be started; got {executor}",
                argument="executor",
            )
        return int(executor)
    if not callable(getattr(executor, "submit", None)):
        raise InputTypeError(
            "executor must have the interface of concurrent.futures.Executor, or be a number of "
            f"threads, or None; got {type(executor).__name__}"
        )
    return executor  # type: ignore[return-value]


def pieces_of(n: int, workers: Workers) -> list[range]:
    """Cut n numbers into consecutive ranges, enough to keep all workers busy."""
    if isinstance(workers, Reporting):
        return pieces_of(n, workers.executor)
    wanted = workers * _PIECES_A_THREAD if isinstance(workers, int) else _PIECES_ELSEWHERE
    count = max(1, min(n, wanted))
    edges = [n * i // count for i in range(count + 1)]
    return [range(start, stop) for start, stop in pairwise(edges)]


def run_all(
    work: Callable[[T], R], pieces: Sequence[T], workers: Any, tell: Tell = None
) -> list[R]:
    """Return the result of the work on each piece, in order.

    If an executor's pool breaks (a process was killed), lost pieces are done in this process,
    with a `RuntimeWarning`. After any other error, pieces that have not begun are cancelled.
    """
    if isinstance(workers, Reporting):
        progress = workers.progress
        saying = tell or (lambda done, total: progress(done, total, "resampling"))
        return run_all(work, pieces, workers.executor, saying)
    if not isinstance(workers, int):
        return _gather(work, pieces, workers, tell)
    if workers == 1 or len(pieces) == 1:
        results = []
        for piece in pieces:
            results.append(work(piece))
            if tell is not None:
                tell(len(results), len(pieces))
        return results
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(workers, len(pieces))) as threads:
        return _gather(work, pieces, threads, tell)


def _gather(work: Callable[[T], R], pieces: Sequence[T], executor: Executor, tell: Tell) -> list[R]:
    from concurrent.futures import BrokenExecutor, Future

    futures: list[Future[R]] = []
    results: list[R] = []
    warned = False
    try:
        for piece in pieces:
            try:
                futures.append(executor.submit(work, piece))
            # Broken, or shut down in the meantime: replicates may be requested later.
            except RuntimeError as error:
                futures.append(Future())
                futures[-1].set_exception(BrokenExecutor(str(error)))
        for piece, future in zip(pieces, futures, strict=True):
            try:
                results.append(future.result())
            except BrokenExecutor as error:
                if not warned:
                    warnings.warn(
                        f"the executor broke ({error}). Its lost work is done in this process",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                warned = True
                results.append(work(piece))
            if tell is not None:
                tell(len(results), len(pieces))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return results
