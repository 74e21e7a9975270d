"""The plug-in for pytest: a fixture that is a gate, its tables at the end, and no cost unused."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import evalstats as es

PLUGIN = "evalstats.integrations.pytest_plugin"
TESTS = """
import numpy as np
import evalstats as es

old = np.arange(60.0) % 7
JUDGE = es.Mean("judge")

def test_passes(evalstats_gate):
    gate = evalstats_gate(old + 1, old, metric=JUDGE, margin=0.1)
    assert gate.verdict == "passed"

def test_fails(evalstats_gate):
    evalstats_gate(new=old - 1 - old / 9, base=old, metric=JUDGE, margin=0.1, seed=3)

def test_is_undecided_and_lets_that_pass(evalstats_gate):
    evalstats_gate(old - old / 50, old, metric=JUDGE, margin=0.06, undecided="pass")

def test_is_another():
    pass
"""
#: What ends every nested run: nothing of the run around it is used, and no other plug-in.
ALONE = ("-p", "no:cacheprovider", "-c", os.devnull, "-p", PLUGIN)


@pytest.fixture
def run(tmp_path):
    """Run tests in a folder of their own; return the process when it has ended."""

    def run(content, *words):
        path = tmp_path / "test_here.py"
        path.write_text(content, encoding="utf-8")
        root = Path(es.__file__).parents[1]
        # What says to a run that it is one of several processes is about the run around this one.
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        environ |= {"PYTHONPATH": str(root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *ALONE, "--rootdir", str(tmp_path), *words, str(path)],
            cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


def check(code, out, junit):
    """Check that all three gates are told, at the end and in the XML, and one has failed."""
    assert code == 1, out
    assert "1 failed, 3 passed" in out
    _, _, summary = out.partition("= evalstats gates =")
    # Where CI is set, pytest repeats the whole message of a failure below.
    summary, _, _ = summary.partition("= short test summary info =")
    for name, headline in (
        ("test_passes", "PASSED: system against baseline (allowed loss: below 0.1"),
        ("test_fails", "FAILED: system against baseline (allowed loss: below 0.1"),
        ("test_is_undecided_and_lets_that_pass", "UNDECIDED (counts as passed): system against"),
    ):
        assert summary.count(f"test_here.py::{name}\n{headline}") == 1
    assert summary.count("the smallest margin that you can claim is") == 1
    assert "test_is_another" not in summary
    cases = ElementTree.parse(junit).getroot().iter("testcase")
    told = {case.get("name"): [p.get("value") for p in case.iter("property")] for case in cases}
    assert [name for name, tables in told.items() if len(tables) != 1] == ["test_is_another"]
    assert told["test_fails"][0].startswith("FAILED: system against baseline")


def test_tables_of_gates_stand_at_the_end_of_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    path, junit = tmp_path / "test_here.py", tmp_path / "tests.xml"
    path.write_text(TESTS, encoding="utf-8")
    # In this process, which has imported what takes long.
    words = ["-s", "--import-mode=importlib", "--rootdir", str(tmp_path), "--junitxml", str(junit)]
    code = pytest.main([*ALONE, *words, str(path)])
    out = capsys.readouterr().out
    check(code, out, junit)
    # The line of the test is shown, and none of ours.
    _, _, failure = out.partition("= FAILURES =")
    failure, _, _ = failure.partition("= evalstats gates =")
    assert "evalstats_gate(new=old - 1" in failure
    assert "pytest_plugin.py" not in failure
    assert "testing.py" not in failure


@pytest.mark.thorough
def test_tables_of_gates_come_from_other_processes(run, tmp_path):
    pytest.importorskip("xdist")
    junit = tmp_path / "tests.xml"
    done = run(TESTS, "-p", "xdist", "-n", "2", "--junitxml", str(junit))
    check(done.returncode, done.stdout, junit)


@pytest.mark.thorough
def test_who_does_not_use_it_pays_nothing(run):
    said = "import sys\ndef test():\n    print(*(m for m in sys.modules if m.startswith('evalstats')))\n"
    said += "    assert 'numpy' not in sys.modules\n"
    done = run(said, "-s")
    assert done.returncode == 0, done.stdout
    loaded = {word for word in done.stdout.split() if word.startswith("evalstats")}
    assert loaded == {"evalstats", "evalstats.integrations", PLUGIN}
    assert "gates" not in done.stdout
