"""LaTeX fits the page: no table is wider than an A4 article, and what is wider than a column says so."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import evalstats as es
from evalstats.data.examples import arena, participants
from evalstats.results import files, marks, widths


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
    """Yield each result as a float and bare, and where it has two layouts, in both."""
    for name, result in results.items():
        for layout in ("paper", "table") if isinstance(result, es.Comparison) else (None,):
            for caption in ("A caption.", None):
                yield f"{name} {layout} {caption}", result.to_latex(caption=caption, layout=layout)


def test_what_is_wider_than_a_column_is_a_float_of_the_page(results):
    for name, result in results.items():
        points = [files._tabular(table, False)[1] for table in result._tables()]
        assert max(points) <= files._PAGE, name
        is_wide = max(points) > files._COLUMN
        options = {"layout": "table"} if isinstance(result, es.Comparison) else {}
        assert (r"\begin{table*}" in result.to_latex(caption="x", **options)) == is_wide
        # In the text it is there twice, and LaTeX knows which fits.
        assert result.to_latex(**options).count(r"\ifdim\linewidth<") == len(
            [x for x in points if x > files._COLUMN]
        )


def test_a_name_that_no_column_makes_room_for_is_there_once():
    systems = {"long " * 30: [0.2, 0.4, 0.5], "B": [0.1, 0.4, 0.3]}
    latex = es.compare(systems, metrics=es.Mean("marks"), n_resamples=99).to_latex()
    assert r"\ifdim" not in latex
    assert latex.count(r"\begin{tabular}") == 1


def test_latex_of_a_comparison_is_the_table_of_papers_if_not_asked_for_another(results):
    for result in results.values():
        if isinstance(result, es.Comparison):
            assert result.to_latex() == result.to_latex(layout="paper")
            assert result.to_latex(layout="table") != result.to_latex()
            assert result.to_text() == result.to_text(layout="table")
    assert "interval" in results["scores"].to_latex()


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


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("gsm8k", 27.5),
        ("[-1.90, -0.97]", 62.8),
        ("no evidence", 50.8),
        ("another-model-1", 71.4),
    ],
)
def test_text_is_not_taken_to_be_narrower_than_latex_sets_it(text, points):
    assert points <= widths.in_points(text) <= 1.2 * points


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
