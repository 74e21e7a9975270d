"""Results as text, Markdown, LaTeX, HTML, CSV and JSON: the same numbers, readable, inert.

Hostile names and signatures stay text: in every form, on their own line, in their own cell.
"""

import csv
import inspect
import io
import json
import math
import re
from dataclasses import replace
from functools import cache
from html import unescape
from unicodedata import category
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.compat.evaluatio import paired
from evalstats.pictures import latex as papers
from evalstats.pictures import marks
from evalstats.pictures.markup import html_table
from evalstats.pictures.report import document
from evalstats.results import tabular
from evalstats.results.estimates import Estimates
from evalstats.results.notes import close_calls, close_notes
from evalstats.results.signatures import Signature
from evalstats.results.tabular import Table
from tests.conftest import SIGNS
from tests.helpers import cases, refuses
from tests.markup import Markup


@cache
def comparison(names, baseline=None, n_resamples=1999, **options):
    rng = np.random.default_rng(4)
    scores = {name: rng.random(60) + 0.2 * i for i, name in enumerate(names)}
    options |= {"baseline": baseline, "n_resamples": n_resamples}
    return es.compare(scores, None, es.Mean("COMET"), **options)


def random_pair(name, seed, size=40, **metric):
    scores = dict(zip("AB", np.random.default_rng(seed).random((2, size)), strict=True))
    return es.extract(scores, metric=es.Mean(name, **metric))


@cache
def two_metrics():
    return es.compare([random_pair("m", 0), random_pair("n", 1)], n_resamples=99)


# Tables


def test_text_of_all_pairs_as_a_list_and_as_a_matrix():
    assert "differences, system - baseline" not in str(comparison("abc"))
    assert "differences, system - baseline" in comparison("abc").to_text(verbose=True)
    names = tuple(f"system-{i}" for i in range(7))
    result = comparison(names)
    whole = result.to_text(verbose=True)
    lines = result.to_text(findings=False).split("\n")
    ranking = next(line for line in lines if line.startswith("system-6"))
    beaten = [d for d in result if d.winner == "system-6" and result.significant(d)]
    assert len(beaten) >= 4
    assert ranking.split()[-3:] == [str(len(beaten)), "of", "6"]
    assert "differences (row - column) above the diagonal, p (adjusted) below" in whole
    assert "above the diagonal" not in str(result)
    # A one-sided p-value belongs to one direction.
    assert "above the diagonal" not in str(comparison(names, alternative="greater"))
    for baseline in (None, "system-2"):
        unadjusted = comparison(names, baseline, adjustment="none")
        assert "(none)" not in str(unadjusted) + unadjusted.to_html() + unadjusted.to_latex()
    # More systems than a page has room for have no matrix.
    result = comparison(tuple("abcdefghijklm"), n_resamples=99)
    assert "above the diagonal" not in str(result)
    assert "to_csv() writes all pairs." in str(result)


def test_many_metrics_of_one_pair_are_one_table():
    names = [f"m{i}" for i in range(9)]
    tables = [random_pair(n, i, 50, higher_is_better=i != 3) for i, n in enumerate(names)]
    (table,) = es.compare(tables, n_resamples=99)._tables()
    assert [row[0][:2] for row in table.rows] == names
    assert table.rows[3][0] == "m3 ↓"
    assert table.header.count("p") == 1


def test_three_notes_and_one_signature_are_printed_and_all_on_request():
    result = replace(two_metrics(), notes=tuple("abcde"))
    lines = result.to_text(findings=False).splitlines()
    assert lines[-5:-1] == ["a", "b", "c", "to_text(verbose=True) shows 2 more notes."]
    assert lines[-1].startswith("seed 12345 · evalstats ")
    every = result.to_text(verbose=True, findings=False).splitlines()
    assert every[-7:] == [*"abcde", *result.signatures]
    # A paper shows neither: all are comments, the package among them.
    latex = result.to_latex().splitlines()
    comments = [line for line in latex if line.startswith("%")]
    assert comments[-7:] == [f"% {line}" for line in (*"abcde", *result.signatures)]
    assert not any(r"\smallskip{\footnotesize" in line or "to_text" in line for line in latex)


def test_hints_at_other_calls_are_comments_of_a_paper_and_not_in_a_report():
    many = comparison(tuple("abcdefghijklm"), n_resamples=99)
    hint, latex = "to_csv() writes all pairs", many.to_latex().splitlines()
    assert hint in many.to_text(verbose=True)
    shown = [line for line in latex if not line.startswith("%")]
    assert not any("to\\_" in line or "plot()" in line for line in shown)
    assert any(hint in line for line in latex if line[0:1] == "%")
    assert hint not in document(many)


def test_a_paper_has_its_method(small):
    texts = es.compare(small.systems, small.references, groups=small.documents, n_resamples=99)
    marks = {"A": [1, 0, 1, 1], "B": [1, 1, 1, 1]}
    suite = es.Suite({n: es.extract(marks, metric=es.Mean("acc")) for n in "xy"})
    drawn = "m (mean) and n (mean)", "40 segments", "Koehn, 2004", "99 resamples, seed 12345"
    counted = "2 tasks with 8 segments", "the mean of the task scores", "McNemar", "Holm"
    for result, parts in (
        (two_metrics(), (*drawn, "Hesterberg, 2015", "not adjusted")),
        (texts, ("BLEU (case:mixed, eff:no", "groups", "Romano and Wolf, 2005", "Two-sided")),
        (suite.compare(), counted),
        (suite.estimate(), ("Wilson's score interval",)),
    ):
        assert all(part in result.describe() for part in parts), result.describe()
    assert "resamples" not in suite.compare().describe()


def test_methods_and_headers_say_segments_beside_documents_and_what_is_drawn(small):
    n, strata = len(small.references), len(set(small.domains))
    texts = small.systems, small.references
    grouped = es.compare(*texts, groups=small.documents, n_resamples=99)
    size = f"{n} segments in {grouped.estimates[0].n_segments} groups"
    assert f", {size}\n" in str(grouped)
    rng = np.random.default_rng(0)
    runs = {name: list(rng.normal(size=(4, 30))) for name in "ab"}
    for result, parts in (
        (grouped, (f"on {size}.", "Whole groups are resampled")),
        (es.compare(*texts, strata=small.domains, n_resamples=99), (f"within {strata} strata",)),
        (es.compare(runs, metrics=es.Mean("m")), ("means over 4 runs of each system",)),
    ):
        assert all(part in result.describe() for part in parts)


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_system_comes_first_and_a_loss_is_a_loss(higher):
    base = np.arange(30.0) % 7
    scores = {"low": base, "high": base + 9, "middle": base + 5, "near": base[::-1] + 5}
    scores["twin"] = scores["middle"]
    options = {"metrics": es.Mean("score", higher_is_better=higher), "n_resamples": 99}
    order = ["high", "middle", "low"] if higher else ["low", "middle", "high"]
    result = es.compare({name: scores[name] for name in sorted(order)}, **options)
    ranked = result.to_text(findings=False)
    assert [line.split()[0] for line in ranked.split("\n")[4:7]] == order
    text = es.compare(scores, baseline="middle", **options).to_text(findings=False).split("\n")
    assert ("score ↑ (higher" if higher else "score ↓ (lower") in text[0]
    verdicts = {line.split()[0]: line.split()[-1] for line in text[4:9]}
    # No evidence is not equality.
    assert verdicts == {
        "middle": "baseline", order[0]: "better", order[2]: "worse", "near": "evidence",
        "twin": "identical",
    }  # fmt: skip


def test_latex_has_minus_signs_caption_label_and_digits():
    names = ("a_b & 50% #1 {x} $y ~z ^w \\v", "[p|q]*<i>`")
    result = comparison(names, baseline=names[1])
    (d,) = result
    assert d.difference < 0
    latex = result.to_latex(caption="50 % & more", label="tab:main", digits=1)
    latex = latex.replace("table*", "table")
    assert f"$-${-d.difference:.1f} & {{[}}$-${-d.low:.1f}, " in latex
    assert r"a\_b \& 50\% \#1 \{x\} \$y \textasciitilde{}z \textasciicircum{}w" in latex
    assert r"{[}p\textbar{}q{]}{*}\textless{}i\textgreater{}" in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 1
    assert r"\caption{50 \% \& more}\label{tab:main}" in latex
    assert r"\begin{table}" not in result.to_latex()
    for bad in ({"label": "a"}, {"label": "a b", "caption": "x"}, {"label": "}", "caption": "x"}):
        refuses(r"label must consist of letters, digits and .*a caption", result.to_latex, **bad)


def test_a_title_says_how_many_runs_there_are():
    rng = np.random.default_rng(1)
    runs = {name: rng.random((3, 20)).tolist() for name in "ab"}
    for result in (es.compare(runs, metrics=es.Mean("m")), es.estimate(runs, metric=es.Mean("m"))):
        assert "20 segments, 3 runs" in result.to_text(findings=False).splitlines()[0]


@cases(([0.5, 0.7], 2), ([0.5, 1e-9], 2), ([0.5, 0.005], 2), ([0.05, 0.01], 3), ([0, 2], 2))
def test_errors_far_below_the_others_ask_for_no_decimals(errors, places):
    """A perfect system, or one whose scores are next to nothing, has such errors."""
    assert tabular.decimals(errors) == places


def test_what_is_left_of_rounding_asks_for_no_decimals():
    """Defect: chrF of a text against itself was 100.000000."""
    texts = [f"é ünï cat {i}" for i in range(40)]
    result = es.compare({"a": texts, "b": texts}, texts, "chrf", n_resamples=99)
    assert " 100.00  100.00 " in str(result)


def test_the_difference_of_a_table_stands_beside_the_scores():
    columns = comparison("ab").to_csv().partition("\n")[0].replace('"', "").split(",")
    at = columns.index("system_score")
    assert columns[at : at + 3] == ["system_score", "difference", "low"]


def test_what_a_table_is_not_asked_for_is_named():
    with pytest.raises(TypeError, match=r"to_latex has no argument 'captoin'.*mean 'caption'"):
        comparison("ab").to_latex(captoin="x")
    assert "Ellipsis" not in str(inspect.signature(es.gate))


def test_digits_are_those_asked_for():
    estimate = comparison("ab").estimates["a"]
    for digits in (0, 5):
        for one in (comparison("ab"), estimate, es.Estimates((estimate,))):
            assert f"| {estimate.score:.{digits}f} |" in one.to_markdown(digits=digits)
            assert f">{estimate.score:.{digits}f}</td>" in one.to_html(digits=digits)
    refuses("digits must be at most 15, got 16", estimate.to_markdown, digits=16)


def test_wide_characters_are_aligned_by_their_width():
    table = Table("t", ("a", "b"), (("系统", "1"), ("e\u0301x", "2")), "<>")
    lines = table.lines()[0]
    assert lines[-2:] == ["系统  1", "e\u0301x    2"]


def test_a_limit_that_is_printed_as_0_shows_on_which_side_it_is():
    # Defect: [0.000, +0.169] stood beside p = 0.0496 and "better".
    assert tabular.interval(0.00013, 0.169, 3, sign=True) == "[+0.000, +0.169]"
    assert tabular.interval(-0.169, -0.0004, 3, sign=True) == "[-0.169, -0.000]"
    assert tabular.interval(-1e-17, 0.169, 3, sign=True) == "[0.000, +0.169]"
    assert tabular.interval(0.0004, 0.169, 3) == "[0.000, 0.169]"


def test_numbers_are_never_a_negative_zero_and_pvalues_never_zero():
    for arguments, expected in (
        ((1.005, 1, False), "1.0"), ((-0.001, 2, True), "0.00"), ((0.5, 2, True), "+0.50"),
        ((-2, 1, True), "-2.0"),
    ):  # fmt: skip
        assert tabular.number(*arguments) == expected
    shown = ["< 0.0001", "0.00010", "0.031", "0.0496", "0.04999", "0.0500", "0.51", "1.0"]
    values = (1e-5, 1e-4, 0.0312, 0.0496, 0.04999, 0.05, 0.5084, 1.0)
    assert [tabular.pvalue(p) for p in values] == shown
    assert [tabular.pvalue(0.00998, *more) for more in ((), (0.01,))] == ["0.010", "0.00998"]
    assert [tabular.pvalue(p, digits=6) for p in (0.51, 1e-9)] == ["0.510000", "1.00000e-09"]


@pytest.mark.parametrize(
    "p, adjusted, noted", [(0.02, 0.06, True), (0.046, 0.7, False), (0.049, 0.049, True)]
)
def test_notes_say_when_monte_carlo_error_straddles_the_level(p, adjusted, noted):
    result = comparison("abc")
    d = replace(result.differences[0], pvalue=p, pvalue_adjusted=adjusted, pvalue_error=0.005)
    adjustment = replace(result, differences=(d,)).adjusted
    notes = close_notes(close_calls(adjustment, (d,)), adjustment)
    said = f"this verdict. Use more resamples: n_resamples={10 * adjustment.n_resamples + 9}."
    assert any(note.endswith(said) for note in notes) == noted


# HTML

NAMES = ["<script>alert(1)</script>", 'a"b\' onload="x', "&amp; &lt;", "</td></table>", "شعار 系统"]


@cache
def named_badly():
    """Return a comparison, tables and a training run under names of tags."""
    metric = es.Mean("<i>|m")
    scores = {name: np.random.default_rng(i).random(60) + 0.2 * i for i, name in enumerate(NAMES)}
    run = es.Monitor(None, metric, n_resamples=99)
    for step, row in enumerate(scores.values()):
        run.check(step, row)
    return es.compare(scores, None, metric, n_resamples=99), es.extract(scores, metric=metric), run


DRAWN = ("svg", "line", "circle", "path", "text", "g", "rect")
SHOWN = {
    "Comparison": lambda c, table, run: c,
    "Estimate": lambda c, table, run: c.estimates[0],
    "Difference": lambda c, table, run: c.differences[0],
    "Ranking": lambda c, table, run: c.ranking(),
    "SegmentStatistics": lambda c, table, run: table,
    "Suite": lambda c, table, run: es.Suite(dict.fromkeys(NAMES, table)).compare(n_resamples=99),
    "PairedTestResult": lambda *_: paired.paired_permutation_test([1.0, 2, 4], [3.0, 1, 2]),
    "Checkpoint": lambda c, table, run: run.last,
    "ConfidenceInterval": lambda *_: es.bleu_ci(["a b c d"] * 3, ["a b c d"] * 3, 9, 0.05),
}


@pytest.mark.parametrize("make", SHOWN.values(), ids=SHOWN)
def test_a_notebook_shows_well_formed_inert_html(make):
    result = make(*named_badly())
    fragment = result._repr_html_()
    markup = Markup(fragment)
    assert set(markup.tags) <= {
        "b", "style", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "code",
        "details", "summary", "tfoot", "br", "span", "wbr", *DRAWN,
    }  # fmt: skip
    places = {"aria-hidden", "d", "height", "preserveaspectratio", "r", "text-anchor", "viewbox",
              "width", "x", "x1", "x2", "y", "y1", "y2", "cx", "cy"}  # fmt: skip
    assert {name for name, _ in markup.attributes} <= {"class", "scope", "tabindex", *places}
    assert not re.search(r"<script|https?:|url\(|@import|javascript", fragment.partition("<div")[0])
    assert any(markup.cells)
    # Every cell is there, and every row of a table is as wide as its header.
    for table in result._tables() if hasattr(result, "_tables") else ():
        shown = Markup(html_table(table))
        at = [] if table.forest is None else [table.forest.at]
        (width,) = set(shown.rows)
        assert width == len(table.header) + len(at)
        minus = [marks.minus if side == ">" else str for side in table.align]
        for i, row in enumerate(table.rows, 1):
            found = shown.cells[i * width : (i + 1) * width]
            own = [cell for j, cell in enumerate(found) if j not in at]
            assert own == [of(tabular.printable(x)) for of, x in zip(minus, row, strict=True)]


def test_a_page_of_its_own_follows_the_readers_colours_and_is_named_after_its_metrics():
    result = two_metrics()
    many = replace(result, notes=tuple(f"note {x}" for x in "abcdef"))
    assert "<summary>6 notes</summary>" in many._repr_html_()
    # One folds the signatures.
    assert replace(result, notes=("one",))._repr_html_().count("<details>") == 1
    for one in (result, result.estimates):
        page = one.to_html()
        assert page.startswith("<!DOCTYPE html>")
        assert "color-scheme: light dark" in page
        assert Markup(page).texts["title"] == ["m, n: 40 segments"]


# Hostile names

#: What does not show, or moves what does: control, format, surrogates, line separators.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
pieces = st.sampled_from(
    ["\n", "\r", "\t", "\x1b[2J", "\x9b31m", "\u2028", "\u202e", "\u200b", "\ud800", "\\input{x}",
     "\\write18{id}", "%", "&", "\\\\", "}", "{", "^^M", "$", "`", "``", "|", "<img onerror=x>",
     "</td>", "&lt;", "[x](javascript:y)", "- ", "# ", "1. ", "~~", "***", "=1+1", "+1", "-1", "@a",
     "\t=1", "＝1", '"', "'", ",", ";", "--", "a", "系统", " ", "http://x.y", "\x00", "_",
     "sacrebleu:"]
)  # fmt: skip
hostile = st.one_of(
    st.lists(pieces, min_size=1, max_size=6).map("".join), st.text(SIGNS, min_size=1, max_size=12)
)


@cache
def base():
    scores = {"a": [1.0, 2, 3, 5, 4], "b": [2.0, 2, 3, 5, 9], "c": [1.0, 1, 3, 1, 1]}
    return es.compare(scores, metrics=es.Mean("m"), n_resamples=99)


def forged(names, metric, signature, note):
    """Return a comparison as a file could make it: nothing of it was checked."""
    called, signature = dict(zip("abc", names, strict=True)), Signature.of(signature)
    changed = {"metric": metric, "signature": signature}
    estimates = (replace(e, system=called[e.system], **changed) for e in base().estimates)
    pairs = [(d, {"system": called[d.system], "baseline": called[d.baseline]}) for d in base()]
    differences = tuple(replace(d, metric=metric, **names) for d, names in pairs)
    kept = {"differences": differences, "signatures": (signature,), "notes": (note,)}
    return replace(base(), estimates=Estimates(tuple(estimates)), **kept)


def shows(text):
    return all(c == "\n" or category(c) not in UNSEEN for c in text)


def forms(result):
    framed = result.to_latex(caption="\\input{a}\n%", label="tab:a")
    whole = str(result), result.to_markdown(), result.to_latex(), framed, result.to_html()
    return *whole, result.to_json()


#: Commands and characters that LaTeX acts on; names may print these and nothing else.
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)|[$&{}%#_~^]")
PRINTED = {"\\textbackslash", "\\textasciitilde", "\\textasciicircum", "\\textless",
           "\\textgreater", "\\textbar", "\\string", "\\{", "\\}", "\\&", "\\%", "\\$", "\\#",
           "\\_", "\\textdegree", "\\dagger",
           "\\uparrow", "\\downarrow", "\\cdot", "\\le", "\\Delta", "\\pm", "$", "{", "}"}  # fmt: skip


def check_latex(text, plain):
    """Nothing of a name runs, and columns are kept."""
    for mine, line in zip(text.split("\n"), plain.split("\n"), strict=True):
        if line.startswith("%"):
            assert mine.startswith("% ")
            continue
        assert "%" not in mine.replace("\\%", "")
        found, expected = (COMMAND.findall(some) for some in (mine, line))
        for mark in ("&", "\\\\", "\\multicolumn", "\\begin", "\\end"):
            assert found.count(mark) == expected.count(mark)
        assert set(found) - PRINTED <= {"&", "\\\\"} | set(expected)
        assert found.count("{") == found.count("}")
        assert found.count("$") % 2 == 0


def check_markdown(result, plain):
    """It says the names, and nothing else."""
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    page, like = (Markup(parser.render(r.to_markdown())) for r in (result, plain))
    assert set(page.tags) == {
        "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code",
    }  # fmt: skip
    assert page.rows == like.rows
    names = {tabular.printable(e.system).strip() for e in result.estimates}
    assert names <= {cell.strip() for cell in page.cells}
    items = parser.parse(result.to_markdown())
    inline = [part for token in items for part in token.children or ()]
    codes = [part.content.strip() for part in inline if part.type == "code_inline"]
    assert tabular.printable(result.signatures[0]).strip() in codes


def check_html(result, plain):
    page, like = (Markup(r._repr_html_()) for r in (result, plain))
    # Names may break after strokes.
    tags = {"wbr", *page.tags}
    assert (tags, page.rows) == ({"wbr", *like.tags}, like.rows)
    assert {tabular.printable(e.system) for e in result.estimates} <= set(page.cells)
    title = re.search("<title>(.*)</title>", result.to_html())[1]
    assert unescape(title) == f"{tabular.printable(result.estimates[0].metric)}: 5 segments"


def check_csv(result):
    """Names are as they are."""
    rows = list(csv.DictReader(io.StringIO(result.to_csv(), newline=""), strict=True))
    assert len(rows) == len(result)
    for row, d in zip(rows, result, strict=True):
        for name, value in d.to_dict().items():
            if isinstance(value, float):
                assert float(row[name]) == value
            elif isinstance(value, str):
                assert row[name] == value


@settings(max_examples=15)
@given(
    st.lists(hostile, min_size=3, max_size=3, unique=True),
    hostile, hostile.map(lambda text: f"{text}|seed:1"), hostile,
)  # fmt: skip
@example(
    ["1\n\\immediate\\write18{id}", "`<img src=x>`", "=cmd|' /C calc'!A0"],
    "\x1b[2J|a",
    "nrefs:1\n\\input{/etc/passwd}\n%|` <img onerror=x> `",
    "\u202e1. note\r\nnext",
)
def test_hostile_names_stay_text_in_every_form(names, metric, signature, note):
    result = forged(names, metric, signature, f"note {note}")
    plain = forged(["a", "b", "c"], "m", "x|y", "note")
    # A page that has room for every name has the same lines with all.
    with mock.patch.object(papers, "_COLUMN", math.inf):
        for mine, like in zip(forms(result), forms(plain), strict=True):
            assert shows(mine)
            assert mine.count("\n") == like.count("\n")
        check_latex(result.to_latex(), plain.to_latex())
    assert json.loads(result.to_json()) == result.to_dict()
    check_markdown(result, plain)
    check_html(result, plain)
    check_csv(result)


def test_an_estimate_writes_itself_as_safely():
    one = replace(base().estimates[0], system="\x1b[2J", notes=("a\nb",))
    for result in (one, Estimates((one,))):
        for text in forms(result):
            assert shows(text)
            assert r"\x1b" in text or r"\textbackslash{}x1b" in text or r"\u001b" in text
