"""What is built: a wheel with the package and nothing else, an sdist that can test itself."""

import re
import runpy
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest

from evalstats.results.version import VERSION

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


@pytest.mark.thorough
def test_wheel_and_sdist_hold_what_they_should(tmp_path, monkeypatch):
    """A wheel the package and nothing else, an sdist what its tests need."""
    build = pytest.importorskip("hatchling.build", reason="needs the build backend")
    before = sources(".")
    monkeypatch.chdir(ROOT)
    paths = [tmp_path / make(str(tmp_path)) for make in (build.build_wheel, build.build_sdist)]
    assert sources(".") == before
    with zipfile.ZipFile(paths[0]) as wheel, tarfile.open(paths[1]) as sdist:
        names = wheel.namelist()
        place = f"evalstats_text-{VERSION}.dist-info/entry_points.txt"
        entry_points = wheel.read(place).decode() + "\n"
        found = {name.partition("/")[2] for name in sdist.getnames()}
    assert {name for name in names if ".dist-info/" not in name} == sources("evalstats")
    assert f"evalstats_text-{VERSION}.dist-info/METADATA" in names
    assert sources("evalstats", "tests", "docs", "benchmarks") <= found
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", ".ci/run"} <= found
    for group, door in (("pytest11", "pytest_plugin"), ("inspect_ai", "inspect_ai")):
        assert f"[{group}]\nevalstats = evalstats.integrations.{door}\n" in entry_points


def test_nothing_points_to_a_package_index():
    """The package is on none yet; which one to ask is the business of whoever installs."""
    paths = [ROOT / name for name in ("README.md", "pyproject.toml", ".ci/run")]
    for path in [*paths, *(ROOT / "docs").glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        index = r"pypi\.(?:org|python)|--(?:extra-)?index|https?://\S*(?:whl|simple)"
        assert not re.search(index, text), path
        assert "pip install evalstats" not in text, path


def test_the_files_that_the_readme_names_exist():
    for pattern in re.findall(r"`((?:docs|benchmarks)/[^`]+)`", README):
        assert list(ROOT.glob(pattern)), pattern


def test_the_citation_is_that_of_this_version():
    for name in ("README.md", "docs/report.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"version = {{{VERSION}}}" in text


def test_ci_runs_the_commands_of_the_readme_word_for_word():
    first, *_, last = re.findall(r"^```sh\n(.*?)\n```$", README, re.DOTALL | re.MULTILINE)
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert {first, last} <= set(lines)


def test_the_lowest_versions_are_those_of_pyproject():
    script = runpy.run_path(str(ROOT / ".ci" / "lowest.py"))
    lowest, tomllib = script["lowest"], script["tomllib"]
    extras = {
        "test": ["b >= 1.2; python_version<'3.14'", "us[c,d]"],
        "c": ["c>=3"],
        "d": ["b>=1.2"],
    }
    project = {"name": "us", "dependencies": ["a>=2"], "optional-dependencies": extras}
    assert lowest(project, "test") == ["a==2", "b==1.2", "c==3"]
    for vague in ("a", "a==1", "a>=1,<2", "us"):
        with pytest.raises(ValueError, match=f"'{vague}' should name its lowest version"):
            lowest(project | {"dependencies": [vague]}, "test")
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"numpy==2.0", "pytest==8", "matplotlib==3.8.4"} <= set(lowest(ours, "test"))


@pytest.mark.parametrize("module", ["evalstats.checks", "tests.test_x", "docs.fill", "__main__"])
@pytest.mark.parametrize("category", [DeprecationWarning, UserWarning, RuntimeWarning])
def test_a_warning_of_ours_is_an_error(module, category):
    with pytest.raises(category, match="look"):
        warnings.warn_explicit("look", category, "x.py", 1, module)


def test_a_warning_of_others_is_not_but_where_we_made_them_divide_by_zero():
    with warnings.catch_warnings(record=True) as caught:
        for module in ("matplotlib.text", "evalstatistics", "importlib._bootstrap", "numpy"):
            warnings.warn_explicit("look", DeprecationWarning, "x.py", 1, module)
        warnings.warn_explicit("look", RuntimeWarning, "x.py", 1, "importlib._bootstrap")
        with pytest.raises(RuntimeWarning):
            warnings.warn_explicit("look", RuntimeWarning, "x.py", 1, "numpy._core._methods")
    assert len(caught) == 5
