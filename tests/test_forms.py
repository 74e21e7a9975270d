"""Results as text, Markdown, LaTeX, HTML, CSV and JSON: the same numbers, readable, inert.

Hostile names and signatures stay text: in every form, on their own line, in their own cell.
"""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import category

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.results import escaping, report
from evalstats.results.notes import close_calls
from evalstats.results.report import Table
from evalstats.results.results import Estimates


def comparison(names, baseline=None, n_resamples=1999, **options):
    rng = np.random.default_rng(4)
    scores = {name: rng.random(60) + 0.2 * i for i, name in enumerate(names)}
    options |= {"baseline": baseline, "n_resamples": n_resamples}
    return es.compare(scores, None, es.Mean("COMET"), **options)


def random_pair(name, seed, size=40, **metric):
    scores = dict(zip("AB", np.random.default_rng(seed).random((2, size)), strict=True))
    return es.extract(scores, metric=es.Mean(name, **metric))


PAIRED = es.compare([random_pair("m", 0), random_pair("n", 1)], n_resamples=99)

# Tables


def test_text_of_a_baseline_comparison():
    result = comparison(["base", "close", "far"], baseline="base")
    lines = str(result).split("\n")
    assert lines[0] == "COMET ↑ (higher is better), 60 segments"
    header = "system score [95 % interval] difference [95 % interval] p p (max-t) verdict"
    assert lines[2].split() == header.split()
    ends = [(line.split()[0], line.split()[-1]) for line in lines[4:6]]
    assert ends == [("base", "baseline"), ("far", "better")]
    d = result.difference("COMET", "far")
    shown = [f"{d.difference:+.3f}", f"[{d.low:+.3f},", f"{d.high:+.3f}]"]
    assert lines[5].split()[-6:-3] == shown
    # Columns are aligned: every interval of a column closes in the same place.
    assert len({line.index("]") for line in lines[4:7]}) == 1
    assert lines[-1] == result.signatures[0]


def test_text_of_all_pairs_as_a_list_and_as_a_matrix():
    listed = str(comparison(["a", "b", "c"]))
    assert "differences, system - baseline" in listed
    assert "better than: p (max-t) <= 0.05" in listed
    names = [f"system-{i}" for i in range(7)]
    result = comparison(names)
    lines = str(result).split("\n")
    ranking = next(line for line in lines if line.startswith("1  system-6"))
    beaten = [d for d in result if d.winner == "system-6" and result.significant(d)]
    assert len(beaten) >= 4
    assert ranking.split("]")[1].strip().endswith("-7")
    assert "difference row - column above the diagonal, p (max-t) below" in "\n".join(lines)
    assert "intervals of the differences: plot(), to_csv(), to_json()" in str(result)
    # A one-sided p-value belongs to one direction.
    assert "above the diagonal" not in str(comparison(names, alternative="greater"))
    for baseline in (None, "system-2"):
        unadjusted = comparison(names, baseline, adjustment="none")
        assert "(none)" not in str(unadjusted) + unadjusted.to_html() + unadjusted.to_latex()
    # Many systems have a matrix where it is asked for.
    result = comparison([f"s{i}" for i in range(13)], n_resamples=99)
    assert "above the diagonal" not in str(result)
    assert "all pairs: to_text(matrix=True), to_csv()" in str(result)
    assert "above the diagonal" in result.to_text(matrix=True)
    assert "differences, system - baseline" not in comparison(["a", "b"]).to_text(matrix=False)


def test_many_metrics_of_one_pair_are_one_table():
    names = [f"m{i}" for i in range(9)]
    tables = [random_pair(n, i, 50, higher_is_better=i != 3) for i, n in enumerate(names)]
    (table,) = es.compare(tables, n_resamples=99)._tables()
    assert [row[0][:2] for row in table.rows] == names
    assert table.rows[3][0] == "m3 ↓"
    assert table.header.count("p") == 1
    alone = [replace(t, values=t.values[:1], systems=("A",)) for t in tables]
    assert len(es.estimate(alone, n_resamples=99)._tables()[0].rows) == 9


def test_three_notes_and_one_signature_are_printed_and_all_on_request():
    result = replace(PAIRED, notes=tuple("abcde"))
    lines = str(result).splitlines()
    assert lines[-5:-1] == ["a", "b", "c", "2 more notes: to_text(verbose=True)."]
    assert lines[-1].startswith("m|") or " + " in lines[-1]
    assert lines[-1].count("|seed:") == 1
    every = result.to_text(verbose=True).splitlines()
    assert every[-7:] == [*"abcde", *result.signatures]
    assert json.loads(result.to_json())["notes"] == list("abcde")
    latex = result.to_latex().splitlines()
    assert r"\par{\footnotesize a}" in latex
    assert sum(line.startswith("%") for line in latex) == 2  # the package, and the signature


def test_the_prompt_shows_the_table_and_a_paper_its_method(sample):
    for result in (PAIRED, PAIRED.estimates, PAIRED.estimates[0]):
        assert repr(result) == str(result)
    systems = dict(list(sample.systems.items())[:3])
    texts = es.compare(systems, sample.references, "bleu", groups=sample.documents, n_resamples=99)
    marks = {"A": [1, 0, 1, 1], "B": [1, 1, 1, 1]}
    suite = es.Suite({n: es.extract(marks, metric=es.Mean("acc")) for n in "xy"})
    for result, parts in (
        (PAIRED, ("m (mean)", "n (mean)", "40 segments", "Koehn, 2004", "Hesterberg, 2015",
                  "99 resamples, seed 12345", "not adjusted")),
        (texts, ("BLEU (case:mixed, eff:no", "groups", "Romano and Wolf, 2005", "Two-sided")),
        (suite.compare(), ("2 tasks with 8 segments", "the mean of the tasks' scores", "McNemar",
                           "Holm")),
        (suite.estimate(), ("Wilson's score interval",)),
    ):  # fmt: skip
        assert all(part in result.describe() for part in parts), result.describe()
    assert "resamples" not in suite.compare().describe()


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_system_comes_first_and_a_loss_is_a_loss(higher):
    scores = {"low": np.arange(30.0), "high": np.arange(30.0) + 9, "middle": np.arange(30.0) + 5}
    metric = es.Mean("score", higher_is_better=higher)
    order = ["high", "middle", "low"] if higher else ["low", "middle", "high"]
    lines = str(es.compare(scores, None, metric, n_resamples=99)).split("\n")
    assert [line.split()[1] for line in lines[4:7]] == order
    text = str(es.compare(scores, None, metric, baseline="middle", n_resamples=99)).split("\n")
    assert ("score ↑ (higher" if higher else "score ↓ (lower") in text[0]
    assert [line.split()[0] for line in text[4:7]] == ["middle", order[0], order[2]]
    assert [line.split()[-1] for line in text[5:7]] == ["better", "worse"]


def test_no_evidence_is_not_equality():
    same = np.arange(30.0) % 7
    scores = {"a": same, "near": same[::-1], "twin": same}
    text = str(es.compare(scores, None, es.Mean("x"), baseline="a", n_resamples=99)).split("\n")
    verdicts = {line.split()[0]: line.split()[-1] for line in text[5:7]}
    assert verdicts == {"near": "evidence", "twin": "identical"}


def test_latex_has_minus_signs_caption_label_and_digits():
    result = comparison(["a_b & 50% #1 {x} $y ~z ^w \\v", "[p|q]*<i>`"], baseline="[p|q]*<i>`")
    (d,) = result
    assert d.difference < 0
    latex = result.to_latex(caption="50 % & more", label="tab:main", digits=1)
    assert f"$-${-d.difference:.1f} & {{[}}$-${-d.low:.1f}, " in latex
    assert r"a\_b \& 50\% \#1 \{x\} \$y \textasciitilde{}z \textasciicircum{}w" in latex
    assert r"{[}p\textbar{}q{]}{*}\textless{}i\textgreater{}" in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 1
    assert r"\caption{50 \% \& more}\label{tab:main}" in latex
    assert r"\begin{table}" not in result.to_latex()
    for bad in ({"label": "a"}, {"label": "a b", "caption": "x"}, {"label": "}", "caption": "x"}):
        with pytest.raises(es.InputError, match=r"label must be letters, digits and .*a caption"):
            result.to_latex(**bad)


def test_digits_are_those_asked_for():
    result = comparison(["a", "b"])
    estimate = result.estimates["a"]
    for digits in (0, 1, 5):
        for text in (result.to_markdown(digits=digits), result.to_html(digits=digits)):
            assert f"{estimate.score:.{digits}f}" in text
        for one in (estimate, es.Estimates((estimate,))):
            assert f"| {estimate.score:.{digits}f} |" in one.to_markdown(digits=digits)
    with pytest.raises(es.InputError, match="digits must be at most 15, got 16"):
        result.to_markdown(digits=16)
    with pytest.raises(es.InputError, match="digits must be an integer"):
        result.to_latex(digits=1.5)


def test_wide_characters_are_aligned_by_their_width():
    table = Table("t", ("a", "b"), (("系统", "1"), ("e\u0301x", "2")), "<>")
    lines = table.text().split("\n")
    assert lines[-2] == "系统  1"
    assert lines[-1] == "e\u0301x    2"


def test_numbers_are_never_a_negative_zero_and_pvalues_never_zero():
    for arguments, expected in (
        ((1.005, 1, False), "1.0"), ((-0.001, 2, True), "0.00"), ((0.5, 2, True), "+0.50"),
        ((-2, 1, True), "-2.0"),
    ):  # fmt: skip
        assert report.number(*arguments) == expected
    assert [report.pvalue(p) for p in (1e-5, 1e-4, 1.0)] == ["<0.0001", "0.0001", "1.0000"]


@pytest.mark.parametrize("p, adjusted, noted", [(0.02, 0.06, True), (0.046, 0.7, False), (0.049, 0.049, True)])  # fmt: skip
def test_notes_say_when_monte_carlo_error_straddles_the_level(p, adjusted, noted):
    result = comparison(["a", "b", "c"])
    d = replace(result.differences[0], pvalue=p, pvalue_adjusted=adjusted, pvalue_error=0.005)
    notes = close_calls(replace(result, differences=(d,)), (d,))
    assert any("too close to 0.05 to call" in note for note in notes) == noted


def test_the_readmes_table_is_what_the_demo_prints(sample):
    metrics = ["bleu", "chrf", "ter"]
    result = es.compare(sample.systems, sample.references, metrics, baseline="baseline")
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert str(result).split("\n\n")[0] in readme


# HTML


class Reader(HTMLParser):
    """Keep cells and tags, and fail on a tag that is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.cells, self.rows = [], set(), [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.cells.append("")
            self.rows[-1] += 1
        if tag != "meta":
            self.open.append(tag)
        assert {name for name, _ in attributes} <= {
            "class", "scope", "lang", "charset", "name", "content"
        }  # fmt: skip

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


NAMES = ["<script>alert(1)</script>", 'a"b\' onload="x', "&amp; &lt;", "</td></table>", "شعار 系统"]
SCORES = {name: np.random.default_rng(i).random(60) + 0.2 * i for i, name in enumerate(NAMES)}
RUN = es.Monitor(None, es.Mean("<i>|m"))
for step, row in enumerate(SCORES.values()):
    RUN.check(step, row)
COMPARISON = es.compare(SCORES, None, es.Mean("<i>|m"), n_resamples=99)
RESULTS = [
    COMPARISON,
    COMPARISON.estimates,
    COMPARISON.estimates[0],
    COMPARISON.differences[0],
    COMPARISON.ranking(),
    COMPARISON.power(0.1),
    es.extract(SCORES, metric=es.Mean("<i>")),
    es.Suite({name: es.extract(SCORES, metric=es.Mean("<i>")) for name in NAMES}).compare(n_resamples=99),
    es.paired_permutation_test([1.0, 2, 4], [3.0, 1, 2]),
    RUN.last,
    RUN.selected,
    es.bleu_ci(["a b c d"] * 3, ["a b c d"] * 3, 9, 0.05),
]  # fmt: skip


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_notebook_shows_well_formed_inert_html(result):
    fragment = result._repr_html_()
    reader = Reader(fragment)
    assert reader.tags <= {
        "style", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "code",
        "details", "summary",
    }  # fmt: skip
    assert not re.search(r"<script|https?:|url\(|@import|javascript", fragment.partition("<div")[0])
    assert "<script" not in fragment
    assert any(cell for cell in reader.cells)
    # Every cell is there, and every row of a table is as wide as its header.
    for table in result._tables() if hasattr(result, "_tables") else ():
        cells = [escaping.printable(cell) for row in (table.header, *table.rows) for cell in row]
        assert Reader(table.html()).cells == cells
        assert set(Reader(table.html()).rows) == {len(table.header)}


def test_a_page_of_its_own_follows_the_readers_colours_and_is_named_after_its_metrics():
    many = replace(COMPARISON, notes=tuple("abcdef"))
    assert "<summary>6 notes</summary>" in many._repr_html_()
    assert "<details>" not in replace(COMPARISON, notes=("one",))._repr_html_()
    page = COMPARISON.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert "color-scheme: light dark" in page
    assert Reader(page.replace("<!DOCTYPE html>", "")).tags >= {"html", "head", "title", "body"}
    both = es.compare(SCORES, metrics=[es.Mean("<x>"), es.Mean("y")], n_resamples=99)
    for result in (both, both.estimates):
        assert "<title>&lt;x&gt;, y: 60 segments</title>" in result.to_html()
    audit = es.audit({"A": ["a b c d"] * 9, "B": ["a b c e"] * 9}, ["a b c d"] * 9, n_resamples=9)
    assert "<title>Audit of BLEU: 9 segments</title>" in audit.to_html()


# Hostile names

#: What does not show, or moves what does: control, format, surrogates, line separators.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
pieces = st.sampled_from(
    ["\n", "\r", "\t", "\x1b[2J", "\x9b31m", "\u2028", "\u202e", "\u200b", "\ud800", "\\input{x}",
     "\\write18{id}", "%", "&", "\\\\", "}", "{", "^^M", "$", "`", "``", "|", "<img onerror=x>",
     "</td>", "&lt;", "[x](javascript:y)", "- ", "# ", "1. ", "~~", "***", "=1+1", "+1", "-1", "@a",
     "\t=1", "＝1", '"', "'", ",", ";", "--", "a", "系统", " ", "http://x.y", "\x00", "_", "sacrebleu:"]
)  # fmt: skip
hostile = st.one_of(
    st.lists(pieces, min_size=1, max_size=6).map("".join), st.text(min_size=1, max_size=12)
)
BASE = es.compare(
    {"a": [1.0, 2, 3, 5, 4], "b": [2.0, 2, 3, 5, 9], "c": [1.0, 1, 3, 1, 1]},
    metrics=es.Mean("m"),
    n_resamples=99,
)


def forged(names, metric, signature, note):
    """Return a comparison as a file could make it: nothing of it was checked."""
    called = dict(zip("abc", names, strict=True))
    estimates = tuple(
        replace(e, metric=metric, system=called[e.system], signature=signature)
        for e in BASE.estimates
    )
    differences = tuple(
        replace(d, metric=metric, system=called[d.system], baseline=called[d.baseline])
        for d in BASE
    )
    kept = {"differences": differences, "signatures": (signature,), "notes": (note,)}
    return replace(BASE, estimates=Estimates(estimates), **kept)


results = st.builds(
    forged,
    st.lists(hostile, min_size=3, max_size=3, unique=True),
    hostile,
    hostile.map(lambda text: f"{text}|seed:1"),
    hostile,
)
#: Nothing that a name could look like.
PLAIN = forged(["a", "b", "c"], "m", "x|y", "note")
FORGED = forged(
    ["1\n\\immediate\\write18{id}", "`<img src=x>`", "=cmd|' /C calc'!A0"],
    "\x1b[2J|a",
    "nrefs:1\n\\input{/etc/passwd}\n%|` <img onerror=x> `",
    "\u202e1. note\r\nnext",
)


def every(test):
    return settings(max_examples=40)(given(results)(example(FORGED)(test)))


def shows(text):
    return all(c == "\n" or category(c) not in UNSEEN for c in text)


def forms(result):
    csv_text = result.to_csv(spreadsheet=True)
    return str(result), result.to_markdown(), result.to_latex(), result.to_html(), csv_text


@every
def test_lines_are_those_of_plain_names_and_all_of_them_show(result):
    for mine, plain in zip(forms(result), forms(PLAIN), strict=True):
        assert shows(mine)
        assert mine.count("\n") == plain.count("\n")
    mine, plain = (r.to_latex(caption="\\input{a}\n%", label="tab:a") for r in (result, PLAIN))
    assert mine.count("\n") == plain.count("\n")


@every
def test_json_holds_the_names_themselves(result):
    for text in (result.to_json(), result.to_json(indent=None)):
        assert shows(text)
        assert json.loads(text) == result.to_dict()
    assert "\n" not in result.to_json(indent=None)


#: Commands and characters that LaTeX acts on; names may print these and nothing else.
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)|[$&{}%#_~^]")
PRINTED = {"\\textbackslash", "\\textasciitilde", "\\textasciicircum", "\\textless",
           "\\textgreater", "\\textbar", "\\string", "\\{", "\\}", "\\&", "\\%", "\\$", "\\#", "\\_",
           "\\uparrow", "\\downarrow", "\\cdot", "\\le", "\\Delta", "\\pm", "$", "{", "}"}  # fmt: skip


@every
def test_latex_runs_nothing_of_a_name_and_keeps_its_columns(result):
    for mine, plain in zip(
        result.to_latex().split("\n"), PLAIN.to_latex().split("\n"), strict=True
    ):
        if plain.startswith("%"):
            assert mine.startswith("% ")
            continue
        assert "%" not in mine.replace("\\%", "")
        found, expected = (COMMAND.findall(line) for line in (mine, plain))
        for mark in ("&", "\\\\", "\\multicolumn", "\\begin", "\\end"):
            assert found.count(mark) == expected.count(mark)
        assert set(found) - PRINTED <= {"&", "\\\\"} | set(expected)
        assert found.count("{") == found.count("}")
        assert found.count("$") % 2 == 0


@every
def test_markdown_says_the_names_and_nothing_else(result):
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    page, plain = (
        Reader(re.sub(r' style="text-align:(left|right)"', "", parser.render(r.to_markdown())))
        for r in (result, PLAIN)
    )
    assert page.tags == {
        "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code",
    }  # fmt: skip
    assert page.rows == plain.rows
    names = {escaping.printable(e.system).strip() for e in result.estimates}
    assert names <= {cell.strip() for cell in page.cells}
    items = parser.parse(result.to_markdown())
    inline = [part for token in items for part in token.children or ()]
    codes = [part.content.strip() for part in inline if part.type == "code_inline"]
    assert escaping.printable(result.signatures[0]).strip() in codes


@every
def test_html_is_well_formed_and_holds_the_names(result):
    page = Reader(result._repr_html_())
    assert page.tags == Reader(PLAIN._repr_html_()).tags
    assert page.rows == Reader(PLAIN._repr_html_()).rows
    shown = {escaping.printable(e.system) for e in result.estimates}
    assert shown <= set(page.cells)
    title = re.search("<title>(.*)</title>", result.to_html())[1]
    assert unescape(title) == f"{escaping.printable(result.estimates[0].metric)}: 5 segments"


@every
def test_csv_has_names_as_they_are_and_computes_nothing_in_a_spreadsheet(result):
    plain, safe = (
        list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        for text in (result.to_csv(), result.to_csv(spreadsheet=True))
    )
    assert len(plain) == len(safe) == len(result)
    for row, computed, d in zip(plain, safe, result, strict=True):
        for name, value in d.to_dict().items():
            if isinstance(value, float):
                assert float(row[name]) == float(computed[name]) == value
            elif isinstance(value, str):
                assert row[name] == value
                assert computed[name][:1] not in tuple("=+-@\t\r\n＝＋－＠")
                shown = escaping.printable(value)
                assert computed[name] in (shown, f"'{shown}")


def test_an_estimate_and_an_audit_write_themselves_as_safely():
    texts = {"A": ["a b c d e"] * 9, "=B": ["a b c d f"] * 5 + ["a b c d e"] * 4}
    audit = es.audit(texts, ["a b c d e"] * 9, n_bootstrap=9, n_randomization=9, n_resamples=9)
    assert "'=B" in audit.to_csv(spreadsheet=True)
    assert '"=B"' in audit.to_csv()
    assert "'=B" not in str(audit)
    one = replace(BASE.estimates[0], system="\x1b[2J", notes=("a\nb",))
    for result in (one, Estimates((one,))):
        for text in forms(result):
            assert shows(text)
            assert r"\x1b" in text or r"\textbackslash{}x1b" in text
