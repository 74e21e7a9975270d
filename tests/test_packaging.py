"""What is built: a wheel with the package and nothing else, an sdist that can test itself."""

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from evalstats.results.signatures import VERSION

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def sources(*folders):
    """Return the files of these folders, less what running leaves behind."""
    found = {path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()}
    names = {path.relative_to(ROOT).as_posix() for path in found}
    return {
        name
        for name in names
        if not re.search(r"__pycache__|/_build/|docs/api/|/\.|\.egg-info/", name)
    }


def test_wheel_and_sdist_hold_what_they_should(tmp_path, monkeypatch):
    """A wheel the package and nothing else, an sdist what its tests need."""
    build = pytest.importorskip("hatchling.build", reason="needs the build backend")
    before = sources(".")
    monkeypatch.chdir(ROOT)
    paths = [tmp_path / make(str(tmp_path)) for make in (build.build_wheel, build.build_sdist)]
    assert sources(".") == before
    with zipfile.ZipFile(paths[0]) as wheel, tarfile.open(paths[1]) as sdist:
        names = wheel.namelist()
        found = {name.partition("/")[2] for name in sdist.getnames()}
    assert {name for name in names if ".dist-info/" not in name} == sources("evalstats")
    assert f"evalstats_text-{VERSION}.dist-info/METADATA" in names
    assert sources("evalstats", "tests", "docs", "benchmarks") <= found
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", ".ci/run"} <= found


def test_no_link_is_dead_outside_the_repository():
    """The README is the page of the package index, where there are no files beside it."""
    targets = re.findall(r"(?<!!)\[[^]]*\]\(([^)]*)\)", README)
    assert targets
    assert all(target.startswith("https://") for target in targets)
    # An image is beside it in the repository; elsewhere its words stand for it.
    for words, path in re.findall(r"!\[([^]]*)\]\(([^)]*)\)", README):
        assert words
        assert (ROOT / path).is_file()


def test_the_files_that_the_readme_names_exist():
    for pattern in re.findall(r"`((?:docs|benchmarks)/[^`]+)`", README):
        assert list(ROOT.glob(pattern)), pattern


def test_the_citation_is_that_of_this_version():
    for name in ("README.md", "docs/report.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"version = {{{VERSION}}}" in text


def test_ci_runs_the_commands_of_the_readme_word_for_word():
    commands = re.findall(r"^```sh\n(.*?)\n```$", README, re.DOTALL | re.MULTILINE)[:2]
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert len(commands) == 2
    assert set(commands) <= set(lines)
