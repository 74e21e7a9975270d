"""Working memory: lent to one user at a time, used again, and bounded between calls."""

import os
import platform
import subprocess
import sys
import threading

import numpy as np
import pytest

import evalstats as es
from evalstats.resampling import scratch
from evalstats.resampling.scratch import borrowed, shrink


@pytest.fixture(autouse=True)
def nothing_idle():
    scratch._idle.clear()
    es.keep_weights(0)
    yield
    es.keep_weights(2**26)


def test_lent_to_one_at_a_time_and_used_again():
    with borrowed() as first, borrowed() as second:
        assert first is not second
        first.array("a", (10,), np.uint8)
    with borrowed() as third:
        assert third in (first, second)
    assert len(scratch._idle) == 2


def test_an_error_gives_it_back():
    with pytest.raises(ZeroDivisionError), borrowed():
        raise ZeroDivisionError
    assert len(scratch._idle) == 1


def test_what_waits_is_bounded(monkeypatch):
    monkeypatch.setattr(scratch, "_MOST_IDLE", 1000)
    with borrowed() as small, borrowed() as large:
        small.array("a", (900,), np.uint8)
        large.array("a", (2000,), np.uint8)
    assert len(scratch._idle) == 2
    shrink()
    assert scratch._idle == [small]


def test_calls_leave_no_more_than_that(monkeypatch):
    monkeypatch.setattr(scratch, "_MOST_IDLE", 1000)
    table = np.ones((50, 2), dtype=int)
    es.bootstrap_totals(table, 100)
    assert not scratch._idle
    es.bootstrap_weights(50, 100)
    with pytest.raises(es.InputError):
        es.bootstrap_totals([[1e308], [1.5e308]], 3)
    assert not scratch._idle


def test_results_do_not_live_in_it():
    """A later call must not change what an earlier one returned."""
    table = np.random.default_rng(1).integers(0, 9, size=(60, 3))
    totals, rows = es.bootstrap_totals(table, 300, 1), es.bootstrap_weights(60, 300, 1)
    before = totals.copy(), rows.copy()
    es.bootstrap_totals(table, 300, 2)
    es.bootstrap_weights(60, 300, 2)
    np.testing.assert_array_equal(totals, before[0])
    np.testing.assert_array_equal(rows, before[1])


def test_threads_do_not_share_it():
    """Many callers at once, each with its own answer."""
    table = np.random.default_rng(1).integers(0, 9, size=(200, 3))
    expected = [es.bootstrap_totals(table, 2000, seed, executor=1) for seed in range(6)]
    found = [None] * 6

    def run(seed):
        found[seed] = es.bootstrap_totals(table, 2000, seed, executor=2)

    callers = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about the C library of Linux")
def test_calls_do_not_fetch_their_memory_again():
    """A call makes some ten megabytes of passing arrays; it was 1,400 page faults to fetch them."""
    code = """
import resource
import numpy as np
import evalstats as es
es.keep_weights(0)
table = np.random.default_rng(0).integers(0, 40, size=(30_000, 10))
def run(calls):
    for _ in range(calls):
        es.bootstrap_totals(table, 3000, executor=1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(-run(3) + run(5))
"""
    # Dask's workers set such variables, and for their parent too.
    own = {name: value for name, value in os.environ.items() if "MALLOC" not in name.upper()}
    own.pop("GLIBC_TUNABLES", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=own
    )
    assert int(done.stdout) < 500
