"""LaTeX fits the page: no table is wider than a column of an A4 article in two."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import evalstats as es
from evalstats.data.examples import arena, participants
from evalstats.pictures import marks
from evalstats.pictures.latex import _COLUMN, _PAGE, _SIZES, in_points
from tests.helpers import cases


def named(n, task=""):
    """Return 0/1 scores of systems with long names on a task."""
    rng = np.random.default_rng(n)
    systems = tuple(f"another-model-{i}" for i in range(n))
    scores = (rng.random((n, 60)) < 0.6).astype(float)
    return es.SegmentStatistics(np.stack([scores, np.ones((n, 60))], -1), systems, es.Mean("acc"))


@pytest.fixture(scope="module")
def results(sample, tmp_path_factory):
    few = {"n_resamples": 99}
    texts = {"old": sample.systems["baseline"], "new": sample.systems["slightly-better"]}
    old, new = texts.values()
    six, references = participants(), [row[0] for row in sample.references]
    path = tmp_path_factory.mktemp("battles") / "arena.csv"
    path.write_text(arena(), encoding="utf-8")
    battles = es.compare_logs(path, **few)
    suite = es.Suite({f"task {i} of nine": [named(3)] for i in range(9)}, aggregate="macro")
    all_pairs = es.compare(six, references, **few)
    return {
        "two systems": es.compare(texts, references, ["bleu", "chrf"], baseline="old", **few),
        "six and a baseline": es.compare(six, references, ["bleu"], baseline="F", **few),
        "all pairs": all_pairs,
        "a suite": suite.compare(baseline="another-model-0", **few),
        "a gate": es.gate(named(2), "another-model-0", margin=0.1),
        "ranks": all_pairs.ranking(),
        "an arena": battles,
        "ranks of an arena": battles.ranking(),
        "power": es.power(texts, references, "bleu", difference=1),
        "scores": all_pairs.estimates,
    } | {"a gate of texts": es.gate(new, old, references, ["bleu", "ter"], margin=1, **few)}


def pages(results):
    """Yield each result as a float and bare."""
    for name, result in results.items():
        for caption in ("A caption.", None):
            yield f"{name} {caption}", result.to_latex(caption=caption)


def points(latex):
    """Yield how wide each tabular is, by the type and the blanks between columns that it says."""
    shares = {size[0]: size[1:] for size in _SIZES}
    tabular = re.compile(
        r"\\noindent(\{[^\n]*?)?\\begin{tabular}{@{}(\w+)@{}}(.*?)\\end{tabular}", re.S
    )
    for found in tabular.finditer(latex):
        share, gap = shares[found[1] or ""]
        rows = [
            line.removesuffix(r" \\").split(" & ") for line in found[3].split("\n") if " & " in line
        ]
        columns = zip(*rows, strict=True)
        width = sum(max(in_points(plain(x), share) for x in column) for column in columns)
        yield width + gap * (len(found[2]) - 1)


def plain(cell):
    """Return what a cell of these tables shows."""
    shown = cell.replace("$-$", "−").replace(r"$\uparrow$", "↑").replace(r"$\downarrow$", "↓")
    return re.sub(r"\\(string|textless|rlap)?|[{}]|\$", "", shown.replace(r"$\le$", "≤"))


def test_no_table_is_wider_than_a_column_of_two_or_as_a_float_than_the_page(results):
    for name, result in results.items():
        for latex in (result.to_latex(), result.to_latex(caption="x")):
            is_wide = r"\begin{table*}" in latex
            room = _PAGE if is_wide else _COLUMN
            assert max(points(latex)) <= 1.005 * room, name


def test_columns_that_have_no_room_are_named_in_a_comment(results):
    names = [f"a-system-{i}" for i in range(6)]
    solved = {name: np.arange(200) % (i + 3) > 0 for i, name in enumerate(names)}
    result = es.compare(solved, metrics=es.Mean("solved"), baseline=names[0], n_resamples=99)
    assert "gained, lost" in result.to_text()
    latex = result.to_latex()
    assert "% No room for: gained, lost." in latex
    # The verdict and the interval of the difference are never left out.
    (columns,) = re.findall(r"(?s)\\toprule(.*)\\midrule", latex)
    assert columns.count("interval") == 1
    assert "verdict" in columns


def test_marks_are_made_for_html_alone(results, monkeypatch):
    def refuse(*args, **given):
        raise AssertionError("a mark was made")

    monkeypatch.setattr(marks.Mark, "__init__", refuse)
    for name, result in results.items():
        drawn = [table for table in result._tables() if table.draw]
        assert len(result.to_text() + result.to_markdown() + result.to_latex()) > 300
        assert bool(drawn) == (name != "power")
        if drawn:
            with pytest.raises(AssertionError, match="a mark was made"):
                result.to_html()


@cases(("gsm8k", 27.5), ("[-1.90, -0.97]", 62.8), ("no evidence", 50.8), ("another-model-1", 71.4))
def test_text_is_not_taken_to_be_narrower_than_latex_sets_it(text, points):
    assert points <= in_points(text) <= 1.2 * points


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
@pytest.mark.parametrize("kind", ["a4paper", "a4paper,twocolumn"])
def test_no_box_of_an_article_is_overfull(results, tmp_path, kind):
    for name, latex in pages(results):
        (tmp_path / "page.tex").write_text(
            rf"\documentclass[{kind}]{{article}}\usepackage[T1]{{fontenc}}\usepackage{{booktabs}}"
            rf"\begin{{document}}{chr(10)}{latex}\end{{document}}",
            encoding="utf-8",
        )
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0, f"{name}: {log}"
        overfull = map(float, re.findall(r"Overfull \\hbox \(([\d.]+)pt", log))
        assert max(overfull, default=0) <= 5, name
