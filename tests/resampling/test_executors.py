"""Where work is done changes no bit: block sizes, threads, processes, Dask, workers that die."""

import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pytest

import evalstats as es
from evalstats import cli
from evalstats.resampling.executors import pieces_of, run_all, threads_start

N, B = 3000, 1200
STATISTICS = np.random.default_rng(3).integers(0, 60, size=(N, 6))
OUTPUTS = {"a": ["a cat sat", "a dog ran", "it rains"], "b": ["the cat", "the dog ran", "it rains"]}
REFERENCES = ["the cat sat", "the dog ran", "it is raining"]


@pytest.fixture(scope="module")
def expected():
    return es.bootstrap_totals(STATISTICS, B, rng=5, executor=1)


@pytest.fixture(scope="module")
def processes():
    # Forking a process that has threads is unsafe, and Python 3.12 says so.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


def test_threads_and_pools(expected, processes):
    with ThreadPoolExecutor(3) as threads:
        for executor in (7, None, threads, processes):
            totals = es.bootstrap_totals(STATISTICS, B, 5, executor=executor)
            np.testing.assert_array_equal(totals, expected)
        # Many callers at once.
        ask = partial(es.bootstrap_totals, STATISTICS, B, executor=2)
        for totals in threads.map(ask, [5] * 3):
            np.testing.assert_array_equal(totals, expected)


@pytest.fixture(params=[1, 8], ids=["one core", "eight cores"])
def no_threads(request, monkeypatch):
    """A Python as Pyodide's: without threads, and without an affinity. Cores there may be."""

    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: request.param)
    threads_start.cache_clear()
    yield
    threads_start.cache_clear()


def test_where_threads_cannot_start_everything_is_done_by_one(no_threads, expected, tmp_path):
    totals = es.bootstrap_totals(STATISTICS, B, 5)
    np.testing.assert_array_equal(totals, expected)
    alone, asked = (
        es.compare(OUTPUTS, REFERENCES, ["bleu", "ter"], n_resamples=500, executor=executor)
        for executor in (None, 1)
    )
    assert alone.to_dict() == asked.to_dict()
    paths = {}
    for name, texts in {**OUTPUTS, "ref": REFERENCES}.items():
        paths[name] = tmp_path / f"{name}.txt"
        paths[name].write_text("\n".join(texts) + "\n")
    arguments = ["compare", "-r", paths["ref"], "-i", paths["a"], paths["b"], "-m", "bleu"]
    assert cli.main([*map(str, arguments), "--resamples", "99"]) == 0


def test_where_threads_cannot_start_two_are_refused_in_one_line(no_threads):
    with pytest.raises(es.InputError) as caught:
        es.compare(OUTPUTS, REFERENCES, "bleu", n_resamples=500, executor=2)
    assert caught.value.argument == "executor"
    text = "executor must be 1 or None here, because threads cannot be started; got 2"
    assert str(caught.value) == text


@pytest.mark.thorough
def test_without_threads_it_is_imported(tmp_path):
    """In a process of its own, with nothing imported before."""
    program = """
import os, threading
def refuse(self):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
os.cpu_count = lambda: 4
if hasattr(os, "sched_getaffinity"):
    del os.sched_getaffinity
import evalstats as es
texts = {"a": ["a cat sat", "a dog ran"], "b": ["the cat", "the dog ran"]}
es.compare(texts, ["the cat sat", "the dog ran"], "bleu", n_resamples=99)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment)


def test_the_whole_way_in_processes(processes):
    """Extraction, weights and swaps: all of it pickles."""
    here = es.compare(OUTPUTS, REFERENCES, ["bleu", "ter"], n_resamples=500, executor=1)
    there = es.compare(OUTPUTS, REFERENCES, ["bleu", "ter"], n_resamples=500, executor=processes)
    assert list(here) == list(there)
    assert here.estimates == there.estimates


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_dask_cluster_that_loses_a_worker(expected):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        totals = es.bootstrap_totals(STATISTICS, B, 5, executor=executor)
        np.testing.assert_array_equal(totals, expected)
        pid = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))
        timer.start()
        many = es.bootstrap_totals(STATISTICS, 40 * B, 5, executor=executor)
        timer.join()
        assert pid not in client.run(os.getpid).values()
    np.testing.assert_array_equal(many[:B], expected)
    np.testing.assert_array_equal(many, es.bootstrap_totals(STATISTICS, 40 * B, 5))


def test_whoever_waits_is_told_and_changes_no_bit():
    calls = []
    many = {name: 3 * texts for name, texts in OUTPUTS.items()}
    asked = {"metric": "ter", "n_resamples": 5000}
    say = lambda *call: calls.append(call)  # noqa: E731
    found = es.compare(many, 3 * REFERENCES, **asked, executor=2, progress=say)
    assert found == es.compare(many, 3 * REFERENCES, **asked)
    extracted = [label for _, _, label in calls if label != "resampling"]
    calls = calls[len(extracted) :]
    assert extracted
    assert {label for _, _, label in calls} == {"resampling"}
    assert calls[-1][0] == calls[-1][1]
    assert [done for done, _, _ in calls] == [1 + i % calls[0][1] for i in range(len(calls))]


class Breaks(Executor):
    """Breaks at the third piece, and says so only when asked for the result, or at once."""

    def __init__(self, at_submission):
        self.at_submission, self.submitted = at_submission, 0

    def submit(self, work, /, *args):
        self.submitted, future = self.submitted + 1, Future()
        if self.submitted < 3:
            future.set_result(work(*args))
        elif self.at_submission:
            raise BrokenProcessPool("gone")
        else:
            future.set_exception(BrokenProcessPool("gone"))
        return future


@pytest.mark.parametrize("at_submission", [False, True])
def test_what_a_broken_executor_lost_is_done_here(at_submission):
    pieces = pieces_of(40, 8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run_all(sum, pieces, Breaks(at_submission)) == [sum(piece) for piece in pieces]
    (warning,) = caught
    assert "the executor broke (gone). Its lost work is done" in str(warning.message)


def test_an_error_stops_what_has_not_begun():
    begun, failed = [], threading.Event()

    def work(piece):
        begun.append(piece)
        if piece.start == 0:
            raise ZeroDivisionError
        failed.wait(0.05)

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ZeroDivisionError):
            run_all(work, pieces_of(1000, 2), pool)
        failed.set()
    # The first, and what may have been taken up meanwhile.
    assert len(begun) <= 3


def test_bad_executors():
    for executor, message in (
        (0, r"executor must be at least 1 \(threads\), got 0"),
        ("2", "executor must have the interface of concurrent.futures.Executor, .* got str"),
        (True, "got bool"),
    ):
        with pytest.raises(es.InputError, match=message):
            es.bootstrap_totals(STATISTICS, 10, executor=executor)


def test_progress_is_a_bar_or_a_line(monkeypatch, capsys):
    """`True` shows tqdm's bar, and a line of standard error where tqdm is not installed."""
    bars = []

    class Bar:
        def __init__(self, total, leave):
            self.total, self.n = total, 0
            bars.append(self)

        def set_description(self, label, refresh):
            self.label = label

        def update(self, n):
            self.n += n

        def close(self):
            self.is_closed = True

    marks = {"A": [1.0, 2, 4] * 9, "B": [2.0, 2, 5] * 9}
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    plain = es.compare(marks, metrics=es.Mean("m"), n_resamples=999)
    assert es.compare(marks, metrics=es.Mean("m"), n_resamples=999, progress=True) == plain
    assert es.extract(marks, metric=es.Mean("m"), progress=True).systems == ("A", "B")
    es.estimate(marks, metric=es.Mean("m"), n_resamples=99, progress=True)
    es.power(marks, metrics=es.Mean("m"), progress=True)
    es.gate(marks, baseline="A", metrics=es.Mean("m"), margin=1, n_resamples=99, progress=True)
    assert len(bars) >= 5
    assert all(bar.n == bar.total and bar.is_closed for bar in bars)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    es.compare(marks, metrics=es.Mean("m"), n_resamples=999, progress=True)
    shown = capsys.readouterr().err
    assert shown.startswith("\rm A 0%") or "\rm A 0%" in shown
    assert shown.endswith(" \r")
    with pytest.raises(
        es.InputTypeError, match="progress must be True, False or callable, got int"
    ):
        es.compare(marks, metrics=es.Mean("m"), progress=3)
