"""README and the pages: their commands run, their numbers are printed by what runs, links lead on.

Python with prompts is run by doctest. Here shell commands run in a folder of examples, and print
what stands below them; Python without prompts, which needs a framework, is compiled.
"""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from pathlib import Path

import pytest

import evalstats
from docs import draw, fill
from evalstats.cli.flags import COMMANDS
from evalstats.cli.parser import parsed

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
GUIDE = ROOT / "evalstats" / "data" / "guide.md"
READ = [ROOT / "README.md", GUIDE, *PAGES]
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in READ}
_NO_PROSE = re.compile(r"`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
_FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
#: What is filled from results: tables, and single numbers.
_MEASURED = re.compile(r"<!-- (?:calibration|measured): .*?<!-- end -->", re.DOTALL)
#: Programs that a page names and no test starts: `.ci/run` does, or they are somebody else's.
ELSEWHERE = (
    "pip ", "python3 -m venv", ".venv/", "lm_eval ", "python -m benchmarks", "python -m tests",
    "python -m pytest", "python -m build", "python docs/", "python -m evalstats.compat", "sphinx",
    ".ci/run", "ruff", "mypy", "cd examples", "python -m mypy", "python -m sphinx", "inspect ",
)  # fmt: skip
#: Numbers that nothing prints: levels, sizes, versions, inches. They are given, and not found.
GIVEN = {
    *("0.01", "0.05", "0.1", "0.8", "0.9", "0.95", "0.97", "0.99", "1.0", "2.0", "0.5", "0.0"),
    *("95%", "90%", "99%", "5%", "1%", "100%", "80%", "1,000", "9,999", "10,000"),
    *("3.10", "3.14", "3.3", "4.5", "2.6"),
}
NUMBER = re.compile(r"(?<![\w.,])(\d*\.\d+|\d{1,3}(?:,\d{3})+|\d+(?=%))(%)?(?![\w.]*\w)")


def blocks(text):
    return [(kind, content) for kind, content in _FENCE.findall(text)]


def commands():
    """Yield every block of commands with what has to be printed, None where nothing is shown."""
    for name, text in TEXTS.items():
        for block, shown in fill.commands(text):
            if lines := fill.ours(block):
                is_quick = name == "README.md" or (shown is not None and not fill.test_sets(block))
                marks = () if is_quick else (pytest.mark.thorough,)
                yield pytest.param(lines, shown, id=f"{name}: {block[:60]}", marks=marks)


def test_commands_can_be_typed_and_others_are_somebody_elses():
    for text in TEXTS.values():
        for kind, block in blocks(text):
            is_shell = kind in ("sh", "bash", "console")
            lines = block.replace("\\\n", " ").splitlines() if is_shell else []
            for line in lines:
                assert not line or line.startswith(("evalstats ", *ELSEWHERE)), line
            for line in fill.ours(block) if lines else ():
                assert parsed(shlex.split(line, comments=True)[1:]).command in line


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("pages")
    fill.write_files(found)
    return found


@pytest.mark.parametrize("lines, expected", list(commands()))
def test_commands_print_what_the_page_shows(lines, expected, folder, monkeypatch):
    if fill.lacks(" ".join(lines)):
        pytest.skip(f"needs {fill.test_sets(' '.join(lines))} in {fill.DATA}")
    monkeypatch.chdir(folder)
    for line in lines:
        code, got, errors = fill.printed(line)
        assert code in ((0, 1, 3, 4) if "evalstats gate" in line else (0,)), errors
    assert expected is None or fill.says(expected, got), f"run python docs/fill.py, got {got}"


def defined(module):
    """Return the names of a module, without importing a file that may need a framework."""
    path = ROOT / f"{module.replace('.', '/')}.py"
    if not module.startswith("evalstats.integrations.") or not path.exists():
        return set(dir(importlib.import_module(module)))
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def test_python_without_prompts_is_python_and_names_what_there_is():
    for text in TEXTS.values():
        for kind, content in blocks(text):
            if kind in ("python", "py") and ">>>" not in content:
                for node in ast.walk(ast.parse(content)):
                    if isinstance(node, ast.ImportFrom) and node.module.startswith("evalstats"):
                        assert {alias.name for alias in node.names} <= defined(node.module)


@pytest.mark.parametrize("name", TEXTS)
def test_every_number_of_the_prose_is_printed_by_something_that_runs(name):
    text = TEXTS[name]
    printed = "".join(content for _, content in blocks(text)) + "".join(_MEASURED.findall(text))
    prose = _MEASURED.sub(" ", _FENCE.sub(" ", text))
    prose = _NO_PROSE.sub(" ", prose)
    found = {number + percent for number, percent in NUMBER.findall(prose)} - GIVEN
    assert {x for x in found if x.rstrip("%") not in printed.replace("−", "-")} == set()


def test_lines_of_blocks_fit_their_boxes():
    for name, text in TEXTS.items():
        lines = [line for _, block in blocks(text) for line in block.splitlines()]
        assert [line for line in lines if len(line) > 108] == [], name


def test_every_public_name_has_a_row_in_the_reference():
    rows = re.findall(r"(?m)^   ([\w.]+)$", TEXTS["api.md"])
    assert sorted(row for row in rows if "." not in row) == sorted(evalstats.__all__)
    for row in rows:
        module, _, name = f"evalstats.{row}".rpartition(".")
        place = ROOT / "evalstats" / row.replace(".", "/")
        is_module = place.is_dir() or place.with_suffix(".py").exists()
        assert is_module or hasattr(importlib.import_module(module), name), row


def test_every_command_has_a_row_in_the_page_of_the_command_line():
    rows = re.findall(r"(?m)^\| `evalstats (\w+)` \|", TEXTS["command-line.md"])
    assert sorted(rows) == sorted(COMMANDS)


def test_words_that_people_search_for_are_on_a_page():
    prose = re.sub(r"\s+", " ", _FENCE.sub(" ", "".join(TEXTS[path.name] for path in PAGES)))
    words = "license|FAQ|temperature|noise floor|sample size|clustered standard errors"
    words += "|non-determinism|exports CSV|contamination|prompt sensitivity|(MDE)"
    assert [x for x in words.split("|") if x.lower() not in prose.lower()] == []


def test_every_page_is_in_the_map_and_every_link_leads_somewhere():
    trees = "".join(re.findall(r"```{toctree}\n(.*?)```", TEXTS["index.md"], re.DOTALL))
    listed = re.findall(r"^(?:.*<)?([a-z][a-z-]+)>?$", trees, re.MULTILINE)
    expected = [path.stem for path in PAGES]
    assert sorted("index" if page == "self" else page for page in listed) == expected
    for name, text in TEXTS.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (DOCS / target).is_file() or (name == "README.md" and (ROOT / target).is_file())


def test_code_names_pages_that_there_are():
    for path in (ROOT / "evalstats").rglob("*.py"):
        for page in re.findall(r"docs/[\w-]+\.md", path.read_text(encoding="utf-8")):
            assert (ROOT / page).is_file(), f"{path}: {page}"


@pytest.mark.thorough
@pytest.mark.parametrize("name", draw.FIGURES)
def test_figures_show_the_numbers_of_today(name):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = draw.drawn(name)
    assert draw.digest(figure) == draw.stated(name), f"run python docs/draw.py {name}"
    matplotlib.pyplot.close(figure)


def test_figures_are_those_that_pages_show():
    shown = set(re.findall(r"figures/(\w+)\.svg", "".join(TEXTS.values())))
    assert shown == {path.stem for path in draw.FOLDER.glob("*.svg")} == set(draw.FIGURES)


def test_the_table_of_options_is_that_of_the_schema():
    page = (fill.ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    assert fill.options_table() in page, "run python docs/fill.py choosing.md"
