"""Hostile names and signatures stay text: in every form, on their own line, in their own cell."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from unicodedata import category

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.results import escaping
from evalstats.results.results import Estimates
from tests.test_html import Reader

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
    """Return a comparison and an audit as a file could make them: nothing of them was checked."""
    called = dict(zip("abc", names, strict=True))
    estimates = tuple(
        replace(e, metric=metric, system=called[e.system], signature=signature)
        for e in BASE.estimates
    )
    differences = tuple(
        replace(d, metric=metric, system=called[d.system], baseline=called[d.baseline])
        for d in BASE
    )
    return replace(
        BASE, estimates=estimates, differences=differences, signatures=(signature,), notes=(note,)
    )


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
    return str(result), result.to_markdown(), result.to_latex(), result.to_html(), result.to_csv()


@every
def test_lines_are_those_of_plain_names_and_all_of_them_show(result):
    for mine, plain in zip(forms(result), forms(PLAIN), strict=True):
        assert shows(mine)
        assert mine.count("\n") == plain.count("\n")
    assert shows(result.to_json())
    mine, plain = (r.to_latex(caption="\\input{a}\n%", label="tab:a") for r in (result, PLAIN))
    assert mine.count("\n") == plain.count("\n")


@every
def test_json_holds_the_names_themselves(result):
    assert json.loads(result.to_json()) == result.to_dict()
    assert json.loads(result.to_json(indent=None)) == result.to_dict()


#: Commands and characters that LaTeX acts on; names may print these and nothing else.
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)|[$&{}%#_~^]")
PRINTED = {"\\textbackslash", "\\textasciitilde", "\\textasciicircum", "\\textless",
           "\\textgreater", "\\textbar", "\\string", "\\{", "\\}", "\\&", "\\%", "\\$", "\\#", "\\_",
           "\\uparrow", "\\downarrow", "\\cdot", "\\dag", "\\le", "\\Delta", "\\pm", "$", "{", "}"}  # fmt: skip


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
        rest = set(found) - PRINTED
        assert rest <= {"&", "\\\\"} | set(expected)
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
        "p",
        "strong",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "code",
    }
    assert page.rows == plain.rows
    names = {escaping.printable(e.system).strip() for e in result.estimates}
    assert names <= {cell.strip() for cell in page.cells}
    items = parser.parse(result.to_markdown())
    codes = [
        c.content
        for token in items
        if token.children
        for c in token.children
        if c.type == "code_inline"
    ]
    assert escaping.printable(result.signatures[0]).strip() in [code.strip() for code in codes]


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
def test_csv_computes_nothing_and_numbers_stay_numbers(result):
    rows = list(csv.DictReader(io.StringIO(result.to_csv()), strict=True))
    assert len(rows) == len(result)
    for row, d in zip(rows, result, strict=True):
        for name, value in d.to_dict().items():
            if isinstance(value, float):
                assert float(row[name]) == value
            elif isinstance(value, str):
                assert row[name][:1] not in tuple("=+-@\t\r\n＝＋－＠")
                shown = escaping.printable(value)
                assert row[name] in (shown, f"'{shown}")


def test_an_estimate_and_an_audit_write_themselves_as_safely():
    texts = {"A": ["a b c d e"] * 9, "=B": ["a b c d f"] * 5 + ["a b c d e"] * 4}
    audit = es.audit(texts, ["a b c d e"] * 9, n_bootstrap=9, n_randomization=9, n_resamples=9)
    assert "'=B" in audit.to_csv()
    assert "'=B" not in str(audit)
    one = replace(BASE.estimates[0], system="\x1b[2J", notes=("a\nb",))
    for result in (one, Estimates((one,))):
        for text in forms(result):
            assert shows(text)
            assert r"\x1b" in text or r"\textbackslash{}x1b" in text
        assert json.loads(result.to_json()) == result.to_dict()
