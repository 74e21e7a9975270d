"""HTML of results: well-formed, escaped, nothing loaded, nothing run."""

import re
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

import evalstats as es

HOSTILE = [
    "<script>alert(1)</script>",
    'a"b\' onload="x',
    "&amp; &lt;",
    "</td></table>",
    "شعار 系统",
]


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


def scores(names, n=60):
    rng = np.random.default_rng(4)
    return {name: rng.random(n) + 0.2 * i for i, name in enumerate(names)}


RUN = es.Monitor(None, es.Mean("<i>|m"))
for step, row in enumerate(scores(HOSTILE).values()):
    RUN.check(step, row)
COMPARISON = es.compare(scores(HOSTILE), None, es.Mean("<i>|m"), n_resamples=99)
RESULTS = [
    COMPARISON,
    es.compare(scores(HOSTILE[:2]), None, es.Mean("x"), baseline=HOSTILE[0], n_resamples=99),
    es.estimate(scores(HOSTILE), None, es.Mean("<i>"), n_resamples=99),
    es.estimate(scores(HOSTILE)[HOSTILE[0]], None, es.Mean("<i>"), n_resamples=99),
    COMPARISON.differences[0],
    es.extract(scores(HOSTILE), metric=es.Mean("<i>")),
    es.paired_permutation_test([1.0, 2, 4], [3.0, 1, 2]),
    RUN.last,
    RUN.chosen,
    es.bleu_ci(["a b c d"] * 3, ["a b c d"] * 3, 9, 0.05),
]


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


def test_every_cell_of_the_text_is_in_the_html():
    reader = Reader(RESULTS[1].to_html())
    for word in str(RESULTS[1]).split("\n")[4].split("  "):
        assert word.strip() in ("", *reader.cells)
    assert set(HOSTILE) <= set(Reader(COMPARISON._repr_html_()).cells)
    assert escape(HOSTILE[0]) in COMPARISON.to_html()
    # Every row of a table is as wide as its header.
    for table in COMPARISON._tables():
        assert set(Reader(table.html()).rows) == {len(table.header)}


def test_a_page_of_its_own_follows_the_readers_colours():
    page = COMPARISON.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert "color-scheme: light dark" in page
    assert Reader(page.replace("<!DOCTYPE html>", "")).tags >= {"html", "head", "title", "body"}


def test_the_title_of_a_page_names_all_metrics():
    both = es.compare(scores(["a", "b"]), metrics=[es.Mean("<x>"), es.Mean("y")], n_resamples=99)
    assert "<title>&lt;x&gt;, y: 60 segments</title>" in both.to_html()
    assert "<title>&lt;x&gt;, y: 60 segments</title>" in both.estimates.to_html()
    audit = es.audit({"A": ["a b c d"] * 9, "B": ["a b c e"] * 9}, ["a b c d"] * 9, n_resamples=9)
    assert "<title>Audit of BLEU: 9 segments</title>" in audit.to_html()


def test_many_notes_are_folded():
    many = es.compare(scores([f"s{i}" for i in range(9)], 20), None, es.Mean("x"), n_resamples=99)
    assert len(many.notes) > 3
    assert f"<summary>{len(many.notes)} notes</summary>" in many._repr_html_()
    assert "<details>" not in RESULTS[3]._repr_html_()
