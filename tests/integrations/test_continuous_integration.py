"""The workflows of docs/quality-gates.md: their steps run, in a folder with the files.

The shell lines of their steps are taken from the page. Commands of evalstats run in this process,
all others in bash, where programs of somebody else only write down how they were called.
"""

import os
import re
import shlex
import shutil
import subprocess
from itertools import takewhile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs import fill
from evalstats.data import examples
from tests.integrations.test_pytest_plugin import ALONE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quality-gates.md"
TEXT = PAGE.read_text(encoding="utf-8").partition("\n## In GitHub")[2]
GITHUB, GITLAB = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
#: Programs of the machine on which a workflow runs, which do nothing here but say so.
PROGRAMS = ("pip", "python", "gh")
PULL_REQUEST = "${{ github.event.number }}"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def indent(line):
    return len(line) - len(line.lstrip())


def scripts(workflow, key):
    """Yield the shell lines of each ``run:``, or of each item of a list such as ``script:``.

    After ``|`` they are the lines that follow, down to one that stands further to the left.
    """
    lines = workflow.splitlines()
    begins = r" *(?:- )?run: (.*)"
    if key != "run":
        start = next(i for i, line in enumerate(lines) if line.strip() == f"{key}:")
        stop = next(
            i for i in range(start + 1, len(lines)) if indent(lines[i]) <= indent(lines[start])
        )
        lines, begins = lines[start + 1 : stop], r" *- (.*)"
    for i, line in enumerate(lines):
        if match := re.match(begins, line):
            after = takewhile(
                lambda other, i=i: indent(other) >= indent(lines[i + 1]), lines[i + 1 :]
            )
            yield "\n".join(map(str.strip, after)) if match[1] == "|" else match[1]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder with the files that the workflows name, where no program is real."""
    examples.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        path = programs / name
        path.write_text(f'#!/bin/sh\necho {name} "$@" >> called.txt\n', encoding="utf-8")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("PULL_REQUEST", "7")
    return tmp_path


def ran(script):
    """Run a step; return its exit code and what it printed."""
    if script.startswith("evalstats "):
        code, out, errors = fill.printed(script.replace("\\\n", " "))
        assert (code == 2) == bool(errors)
        return code, out
    done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize("outputs, code, verdict", [("new", 0, "PASSED"), ("worse", 1, "FAILED")])
def test_a_pull_request_has_a_summary_a_comment_and_files(here, outputs, code, verdict):
    if outputs == "worse":
        lines = (here / "old.txt").read_text(encoding="utf-8").splitlines()
        worse = "".join(f"{line.rpartition(' ')[0]} {i}\n" for i, line in enumerate(lines))
        (here / "new.txt").write_text(worse, encoding="utf-8")
    steps = list(scripts(GITHUB, "run"))
    assert [step.split()[0] for step in steps] == ["pip", "python", "evalstats", "cat", "gh"]
    codes = [ran(step) for step in steps]
    assert [found for found, _ in codes] == [0, 0, code, 0, 0]
    assert f"\n{verdict}: new against old (required: at least 97%" in codes[2][1]
    summary = (here / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"**{verdict}: new against old")
    assert summary == (here / "gate.md").read_text(encoding="utf-8")
    called = (here / "called.txt").read_text(encoding="utf-8").splitlines()
    assert called[1:] == [
        "python translate.py source.txt new.txt",
        "gh pr comment 7 --edit-last --create-if-none --body-file gate.md",
    ]
    assert f"PULL_REQUEST: {PULL_REQUEST}" in GITHUB
    suite = ElementTree.parse(here / "gate.xml").getroot()
    assert (int(suite.get("failures")) > 0) == (code == 1)
    assert (here / "gate.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_merge_request_has_junit_and_a_report(here):
    steps = list(scripts(GITLAB, "script"))
    assert [step.split()[0] for step in steps] == ["pip", "evalstats"]
    codes = [ran(step) for step in steps]
    assert [found for found, _ in codes] == [0, 0]
    assert "\nPASSED: acme/tuned against acme/base (required: a total of at least" in codes[1][1]
    (report,) = re.findall(r"paths: \[(.*)\]", GITLAB)
    (junit,) = re.findall("junit: (.*)", GITLAB)
    assert (here / report).stat().st_size > 1000
    suite = ElementTree.parse(here / junit).getroot()
    assert {name: suite.get(name) for name in ("failures", "errors", "skipped")} == {
        "failures": "0", "errors": "0", "skipped": "2",
    }  # fmt: skip
    # A gate that is undecided is a warning, and no other is.
    assert "allow_failure:\n    exit_codes: 3\n" in GITLAB


def test_the_table_of_exit_codes_is_that_of_the_command(here):
    asked = "evalstats gate -i new.txt --baseline old.txt -r ref.txt --margin 0.5 -o gate.xml"
    _, table = TEXT.split("| exit code |", 1)
    (row,) = [line for line in table.splitlines() if "| undecided |" in line]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "undecided"
    tags = {"errors": "error", "skipped": "skipped", "failures": "failure"}
    for words, cell in (
        ("", f"{cells[0]}, {cells[2]}"),
        (" --undecided pass", cells[3]),
        (" --undecided fail", cells[4]),
    ):
        code, out = ran(asked + words)
        assert "\nUNDECIDED" in out
        suite = ElementTree.parse(here / "gate.xml").getroot()
        (tag,) = [tag for name, tag in tags.items() if suite.get(name) != "0"]
        assert f"{code}, {tag}" == cell


@pytest.mark.thorough
def test_the_example_of_pytest_prints_what_the_page_shows(here, monkeypatch, capsys):
    (content,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (command,) = re.findall(r"```sh\n(.*?)\n```", TEXT, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)
    python, m, pytest_, *words, name = shlex.split(command)
    assert (python, m, pytest_) == ("python", "-m", "pytest")
    (here / name).write_text(content, encoding="utf-8")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    alone = [*ALONE, "-s", "--import-mode=importlib", "--rootdir", str(here)]
    code = pytest.main([*alone, *words, name])
    out = capsys.readouterr().out
    assert code == 0, out
    _, line, printed = re.split(r"(=+ evalstats gates =+)", out)
    printed, _, _ = printed.rpartition("\n1 passed")
    assert fill.says(shown, line + printed), line + printed


def test_workflows_are_yaml():
    yaml = pytest.importorskip("yaml")
    github, gitlab = (yaml.safe_load(text) for text in (GITHUB, GITLAB))
    (job,) = github["jobs"].values()
    found = [step["run"].strip() for step in job["steps"] if "run" in step]
    assert [step.split() for step in scripts(GITHUB, "run")] == [step.split() for step in found]
    expected = [step.split() for step in gitlab["gate"]["script"]]
    assert [step.split() for step in scripts(GITLAB, "script")] == expected
    assert gitlab["gate"]["artifacts"]["reports"] == {"junit": "gate.xml"}
