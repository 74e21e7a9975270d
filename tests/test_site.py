"""The site, built: what pages need a reader has, and names lead to their pages and back."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evalstats as es
from evalstats.data import guide

ROOT = Path(__file__).resolve().parents[1]
#: One process builds the site for all of them, where pytest-xdist distributes by groups.
pytestmark = pytest.mark.xdist_group("site")
EXTENSIONS = ("sphinx_codeautolink", "sphinx_copybutton", "latex2mathml", "furo", "myst_parser")


@pytest.fixture(scope="module")
def conf():
    for name in EXTENSIONS:
        pytest.importorskip(name)
    return importlib.import_module("docs.conf")


@pytest.fixture(scope="module")
def site(conf, tmp_path_factory):
    """Return the folder of the site, built without a warning."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run([*command, "docs", str(out)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def guides(site):
    return {path.stem: (site / f"{path.stem}.html").read_text("utf-8") for path in PAGES}


PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.thorough
def test_the_site_needs_no_network(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|link)\b[^>]*(?:src|href)="([^"]+)"', text)
        assert [x for x in loaded if re.match(r"(?:https?:)?//", x)] == [], path
    for path in (site / "_static").rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", path.read_text("utf-8")), path


@pytest.mark.thorough
def test_every_page_is_there_as_markdown_and_llms_txt_lists_it(site):
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (site / "llms.txt").read_text("utf-8")))
    assert listed == {path.name for path in PAGES}
    for name in listed:
        assert (site / name).read_text("utf-8").lstrip().startswith(("#", "<")), name
    assert (site / "assistants.md").read_text("utf-8").startswith(guide())


#: What people type, and the page that answers, in which a heading has it.
SEARCHED = {
    "p-value": "choosing", "t-test": "questions", "confidence interval": "choosing",
    "noninferiority": "choosing", "inter-annotator agreement": "metrics",
    "multiple comparisons": "choosing", "power": "power", "seeds": "prompts",
    "error rates": "error-rates",
}  # fmt: skip


@pytest.mark.thorough
def test_search_finds_what_people_type_on_the_page_that_answers(site):
    from sphinx.search.en import SearchEnglish

    text = (site / "searchindex.js").read_text("utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    names, stem = index["docnames"], SearchEnglish({}).stem
    for query, page in SEARCHED.items():
        for word in map(stem, re.findall(r"\w+", query.lower())):
            headed, found = (
                _pages(index[part].get(word, []), names) for part in ("titleterms", "terms")
            )
            assert page in headed, (query, word, headed)
            inner = [x for x in headed | found if re.match(r"api/evalstats\.(compat|inference)", x)]
            assert inner == [], (query, word)


def _pages(found, names):
    return {names[i] for i in ([found] if isinstance(found, int) else found)}


@pytest.mark.thorough
def test_formulas_are_drawn_by_the_browser(site):
    for name, text in guides(site).items():
        source = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
        source = re.sub(r"^ *```.*?^ *```$|`[^`\n]+`", " ", source, flags=re.DOTALL | re.MULTILINE)
        n_formulas = len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", source, re.DOTALL))
        assert text.count("<math ") >= n_formulas, name  # and those of the API's summaries
        article = re.sub(r"<pre.*?</pre>", " ", text.split("<article")[1], flags=re.DOTALL)
        assert not re.search(r"\\[(\[]|<script[^>]*mathjax", article, re.IGNORECASE), name


@pytest.mark.thorough
def test_code_and_prose_lead_to_the_api_and_back(site):
    pages = guides(site)
    code = re.findall(r'class="sphinx-codeautolink-a" href="([^"]+)"', pages["index"])
    assert any("evalstats.compare.html" in link for link in code)
    # A method of what a function returns.
    code = [
        link for page in pages.values() for link in re.findall(r'autolink-a" href="([^"]+)"', page)
    ]
    assert any(link.endswith("evalstats.Comparison.difference") for link in code)
    assert re.search(r'href="api/evalstats.from_streams.html[^>]*><code', pages["index"])
    compare = (site / "api" / "evalstats.compare.html").read_text("utf-8")
    assert 'href="../index.html#the-same-in-python"' in compare
    assert 'href="../method.html"' in compare
    assert 'href="evalstats.Comparison.html' in compare
    assert "<summary>Pages that use it</summary>" in compare
    result = (site / "api" / "evalstats.Comparison.html").read_text("utf-8")
    assert "Comparison.to_latex" in result
    assert "Comparison.index" not in result  # a sequence has it, and nobody asks for it here
    # What its arguments are, it says itself.
    said = re.sub(r"<[^>]+>", "", compare)
    assert "One entry per segment: a string, a list of strings" in said
    assert "As in estimate; metric is understood too" not in said


@pytest.mark.thorough
def test_every_page_says_its_version_and_what_it_is_about(site):
    for name, text in guides(site).items():
        assert f"evalstats {es.__version__}" in re.findall(r"<title>(.*?)</title>", text)[0], name
        assert len(re.findall(r'name="viewport"', text)) == 1, name
        assert len(re.findall(r'name="description"', text)) == 1, name
        assert "copybutton.js" in text, name
        identifiers = re.findall(r'\bid="([^"]+)"', text.split("<article")[1])
        assert len(set(identifiers)) == len(identifiers), name
        headings = re.findall(r'<p [^>]*role="heading"[^>]*>', text)
        assert all('aria-level="2"' in heading for heading in headings), name
    assert "Unreleased" in guides(site)["changelog"]


@pytest.mark.thorough
def test_landmarks_have_names_and_headings_have_text(site):
    """What axe found: two drawers of one name, icons outside them, empty headings, no heading."""
    pages = {**guides(site), "search": (site / "search.html").read_text("utf-8")}
    for name, text in pages.items():
        drawers = re.findall(r'<aside [^>]*aria-label="([^"]+)"', text)
        assert drawers == ["All pages", "On this page"], name
        icons = re.findall(r'<div class="content-icon-container"([^>]*)>', text)
        assert all('role="navigation"' in icon for icon in icons), name
        assert not re.search(r"<th[^>]*><p></p></th>", text), name
        assert len(re.findall(r"<h1\b", text)) == 1, name


@pytest.mark.thorough
def test_an_option_can_be_linked_to(site):
    text = guides(site)["command-line"]
    for name in ("groups", "strata", "significance-level", "seed"):
        assert text.count(f'id="option-{name}"') == 1
    # Each is one word, in tables and in sentences.
    classes = {
        name: kind for kind, name in re.findall(r'<code class="([^"]+)"[^>]*>(.*?)</code', text)
    }
    spans = re.compile("<[^>]+>")
    whole = {spans.sub("", name) for name, kind in classes.items() if "option" in kind.split()}
    assert {"--digits N", "--tokenize", "-o FILE"} <= whole
    assert "evalstats compare" in whole
    assert "evalstats compare --help-all" not in whole


@pytest.mark.thorough
def test_notebooks_can_be_downloaded(site):
    for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        (copy,) = (site / "_downloads").rglob(path.name)
        assert copy.read_bytes() == path.read_bytes()


def test_a_formula_is_mathml(conf):
    inline = conf.mathml(r"\sqrt{N/(N-1)}")
    assert inline.startswith("<math")
    assert "<msqrt>" in inline
    assert 'display="inline"' in inline
    assert 'display="block"' in conf.mathml(r"\frac{a}{b}", "block")


def test_what_is_copied_is_what_was_typed(conf):
    """Of lines with prompts the prompts go; what was printed has none and is left out."""
    prompt = re.compile(conf.copybutton_prompt_text)
    typed = [">>> for x in y:", "...     print(x)", "... ", "1.0", "...and so on"]
    assert [bool(prompt.match(line)) for line in typed] == [True, True, True, False, False]


def test_arguments_that_are_like_anothers_are_said_in_full(conf):
    lines = [
        "Parameters", "----------", "references, metrics, rng", "    As in `estimate`; more.",
        "baseline : str", "    One.",
    ]  # fmt: skip
    conf.repeat_parameters(None, "function", "f", None, None, lines)
    assert lines[2] == "references : sequence, optional"
    assert "metrics : str or Metric, or a list of them, optional" in lines
    assert any("`metric` is accepted too" in line for line in lines)
    assert "rng : int or numpy.random.Generator, optional" in lines
    assert lines[-2:] == ["baseline : str", "    One."]
    alone = ["rng", "    As in `estimate`."]
    conf.repeat_parameters(None, "function", "f", None, None, alone)
    assert alone == ["rng", "    As in `estimate`."]


def test_ids_of_figures_differ_between_figures(conf):
    svg = '<g id="a"><use href="#a"/><path id="c" clip-path="url(#a)"/><use href="#b"/></g>'
    shown = '<g id="x-a"><use href="#x-a"/><path clip-path="url(#x-a)"/><use href="#b"/></g>'
    assert conf._with_ids_of("x", svg) == shown
