"""The report: one inert page that says what was found, for every kind of result."""

import base64
import hashlib
import os
import re
import threading
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.checks import is_unseen
from evalstats.cli import main
from evalstats.pictures.findings import unsaid
from evalstats.pictures.marks import minus
from evalstats.pictures.report import document, folded_tables, marked
from evalstats.results.forms import Finding
from evalstats.results.tabular import printable
from tests import harness_logs
from tests.conftest import SIGNS
from tests.helpers import apart, refuses
from tests.markup import Markup

HOSTILE = [
    "<script>alert(1)</script>", "</details></dl>", "\"'><img src=//x onerror=alert(1)>",
    "\u202eevil\u0000", "&lt;b&gt; $title ${body}", "\U0001f600 " + "long" * 900, "two\nlines",
]  # fmt: skip


def compared(name="marks", n=60, names="AB", **options):
    return es.compare(apart(n, names), metrics=es.Mean(name), n_resamples=199, **options)


def test_a_note_is_left_out_if_a_finding_says_it_and_not_if_both_have_a_p_value():
    finding = Finding("B is better than A", lines=["p = 0.03", "by 2 points"])
    notes = ["B is better than A.", "Welch's t test: p = 0.03.", "It is ahead by 2 points."]
    assert unsaid(notes, [finding]) == notes[1:2]


def check_inert(page):
    """Nothing is loaded, linked or run but the page's own script."""
    found = Markup(page)
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(found.tags)
    for name, value in found.attributes:
        assert not name.startswith(("on", "src", "style"))
        assert name != "href" or value.startswith("#")
    (script,) = found.texts["script"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert ("content", policy) in found.attributes
    assert not re.search(r"url\(|@import|https?://", page)
    ids = [value for name, value in found.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    return found


def test_verdicts_come_first_and_have_the_numbers_of_the_table(tmp_path):
    result = compared(n=100)
    (d,) = result
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = check_inert(page)
    assert result.significant(d)
    (verdict,) = found.texts["li"]
    assert f"B is better than A in marks: {d.difference:+.3f}" in verdict
    for number in (f"{d.low:+.3f} to {d.high:+.3f}", "95% interval", "p = 0.000"):
        assert number in verdict
    assert page.index(verdict[:20]) < page.index("<table")
    # One table has the numbers and draws the interval in the same row.
    (table,) = result._brief()
    assert page.count("<table") == page.count("<tfoot") == 1
    row = [x for x in found.cells[len(found.cells) // 3 :][: len(table.header) + 1] if x]
    assert row == list(map(minus, table.rows[0]))
    assert page.count('class="whisker"') == 1
    assert result.describe() in found.texts["p"]
    assert set(result.signatures) <= set(found.texts["code"])
    assert page == document(result)


def _numbered(found):
    """Return the headings of segments."""
    return [text for text in found.texts["h3"] if text.startswith("segment")]


def said(result):
    """Return the only verdict of a report, after its cautions."""
    *cautions, verdict = Markup(document(result)).texts["li"]
    assert all(text.startswith("Caution: ") for text in cautions)
    return verdict


def test_a_verdict_says_direction_limit_tasks_and_what_would_have_been_found():
    scores = {"A": [1, 2, 3, 4, 5, 6.0], "B": [2, 1, 4, 3, 6, 5.5]}
    result = es.compare(scores, metrics=es.Mean("m"))
    least = result.power().pairs[0].minimum
    assert said(result).startswith("No evidence that B differs from A")
    assert f"true difference of {least:.2f} in m" in said(result)
    same = es.compare({"A": [1, 2.0, 4], "B": [1, 2.0, 4]}, metrics=es.Mean("m"))
    assert "the same" in said(same)
    loss = es.Mean("loss", higher_is_better=False)
    verdict = said(es.compare(apart(100), metrics=loss, margin=1))
    assert re.match(r"B and A are equivalent within ±1 .*A is better than B in loss", verdict)
    assert re.search(r"loss: −0.*lower is better.*−0.*Margin 1: equivalent", verdict)
    # A total does not hide its tasks.
    near = {"A": [0.0, 1, 0, 1, 0, 1, 2, 1] * 4, "B": [1, 0.0, 1, 0, 1, 0, 1, 2] * 4}
    gains = {"near": 0, "far": 9, "back": -9}
    scores = {task: near | {"B": np.add(near["B"], gain)} for task, gain in gains.items()}
    tasks = {task: es.extract(x, metric=es.Mean("m")) for task, x in scores.items()}
    verdict = said(es.Suite(tasks).compare(n_resamples=199))
    assert re.match("No evidence .* in mean m over 3 tasks: ", verdict)
    assert "B is better on 1 of 3 tasks (far), and worse on 1 of 3" in verdict


def test_a_headline_says_of_each_metric_what_was_found():
    # Defect: it was the one metric of two that was significant.
    other = {"A": np.arange(60) % 7, "B": np.arange(60)[::-1] % 7}
    scores = {"first": apart(60), "other": other}
    tables = [es.extract(x, metric=es.Mean(name)) for name, x in scores.items()]
    (found,) = es.compare(tables, baseline="A", n_resamples=199)._findings()
    said = r"B is better than A in first \(\+0\.\d+\); no evidence in other"
    assert re.fullmatch(said, found.said)
    assert found.lines[-1] == "Each metric is tested separately."
    many = es.compare(apart(60, "ABCDEF"), metrics=es.Mean("m"), baseline="A", n_resamples=199)
    assert re.match(r"\d of 5 systems are better than A in m: ", many._findings()[0].said)
    assert many._headline() == "5 systems against A"
    best = max(many.estimates, key=lambda e: e.score).system
    against = es.compare(apart(60, "ABCDEF"), metrics=es.Mean("m"), baseline=best, n_resamples=199)
    n_worse = sum(d.pvalue_adjusted <= 0.05 for d in against)
    assert n_worse > 1
    assert against._findings()[0].kind == "worse"
    said = f"{n_worse} of 5 systems are worse than {best} in m: "
    assert against._findings()[0].said.startswith(said)


def test_domains_are_called_what_the_label_is_called():
    table = es.extract(apart(60), metric=es.Mean("m"))
    table = replace(table, labels={"register": ["news", "chat"] * 30})
    result = es.compare(table, n_resamples=99).by("register")
    page = document(result)
    assert "m ↑ (higher is better), 2 registers, B - A" in page
    assert "all registers together" in page
    for form in (page, result.to_text(verbose=True), result.to_latex(), result.describe()):
        assert not re.search(r"\btasks?\b|\bstrat(a|um)\b", form.replace("strata:2", "")), form


def test_what_was_asked_is_the_headline_and_the_better_system_has_the_sign():
    scores = apart(100)
    high = {name: x + 9 for name, x in scores.items()}
    for options, expected in (
        ({"margin": 2.0}, "equivalent within ±2"),
        ({"margin": 0.4}, "is less than 0.4 worse than A"),
        ({"recovery": 0.9}, "keeps at least 90% of A's score"),
    ):
        (found,) = es.compare(high, metrics=es.Mean("m"), **options)._findings()
        assert expected in found.said
    turned = {"B": scores["B"], "A": scores["A"]}
    (found,) = es.compare(turned, metrics=es.Mean("m"), margin=0.2)._findings()
    assert found.said.startswith("We could not show that A is less than 0.2 worse than B")
    assert found.lines[0] == "B is better than A in m."
    # The sign is that of the sentence, whichever of the two is the baseline.
    (found,) = es.compare(turned, metrics=es.Mean("m"))._findings()
    assert found.said.startswith("B is better than A in m: +0.5")
    (found,) = es.compare(turned, metrics=es.Mean("m"), baseline="B")._findings()
    assert (found.kind, found.said[:29]) == ("worse", "B is better than A in m: +0.5")


def test_a_gate_says_what_was_lost_and_what_was_allowed():
    table = es.extract(apart(100), metric=es.Mean("m"))
    (d,) = es.compare(table, confidence_level=0.9)
    value, said = f"{d.difference:.2f}", "90% interval of the difference:"
    lost = f"{value} ({said} {-d.high:.2f} to {-d.low:.2f})"
    gained = f"{value} ({said} +{d.low:.2f} to +{d.high:.2f})"
    for baseline, expected in (
        ("B", f"m: failed. A lost {lost}, which is more than the limit of 0.1"),
        ("A", f"m: passed. B gained {gained}, so a loss of 0.1 or more is ruled out"),
    ):
        gate = es.gate(table, baseline, margin=0.1)
        (found,) = gate._findings()
        assert found.said.startswith(expected)
        page = document(gate)
        assert page.count(gate.checks[0].reason[1:] or "the better") == (baseline == "B")
        # The limit is drawn, on the side of the loss.
        assert page.count('class="limit"') == 1
        assert ">−0.1 allowed</text>" in page


def test_the_segments_that_drive_a_difference_have_their_texts():
    systems = {"A": ["a cat sat"] * 30, "B": [f"the cat {i} sat down" for i in range(30)]}
    references = [f"the cat {i % 7} sat" for i in range(30)]
    result = es.compare(systems, references, "chrf", n_resamples=99)
    found = Markup(document(result, {"reference": references}))
    ids = result.influence().ids[:8]
    assert [h.split()[1][: len(i)] for h, i in zip(_numbered(found), ids, strict=True)] == [*ids]
    expected = [(references[int(i)], systems["A"][int(i)], systems["B"][int(i)]) for i in ids]
    assert found.texts["dd"] == [text for texts in expected for text in texts]
    assert found.texts["dt"][:3] == ["reference", "A", "B"]
    # By id, where texts are not at hand for all.
    named = Markup(document(result, {"note": {ids[0]: "the first"}}))
    assert named.texts["dd"].count("the first") == 1


def test_references_are_shown_and_words_that_differ_are_marked():
    systems = {
        "A": [f"the cat sat  on a mat {i}." for i in range(30)],
        "B": [f"the dog sat  on a <b> mat {i}!" for i in range(30)],
    }
    references = [["the dog sat", None, "a dog"], ["dog", "dogs", "a"], ["dogs", "x", "y"]] * 10
    result = es.compare(systems, references, "chrf", n_resamples=99)
    page = document(result)
    found = check_inert(page)
    assert found.texts["dt"][:5] == ["reference 1", "reference 2", "reference 3", "A", "B"]
    first = int(result.influence().ids[0])
    expected = [text or "" for text in references[first]]
    assert found.texts["dd"][:5] == [*expected, systems["A"][first], systems["B"][first]]
    assert found.texts["mark"][:5] == ["cat", ".", "dog", "<b>", "!"]
    assert f"mat {first}<mark>!</mark>" in page
    one = es.compare(systems, ["the dog"] * 30, "chrf", n_resamples=99)
    assert "reference" in Markup(document(one)).texts["dt"]
    assert marked("a b", "a b") == ("a b", "a b")
    assert marked("", "x\ny") == ("", "<mark>x<br>y</mark>")
    long = "word " * 900
    assert marked(long, long)[0].endswith("… (4,500 characters)")


def test_segments_are_of_all_metrics_and_the_search_says_what_it_searches():
    names = [f"s{i:02}" for i in range(21)]
    tables = [es.extract(apart(30, names, s), metric=es.Mean(f"m{s}")) for s in range(3)]
    page = document(es.compare(tables, n_resamples=9))
    found = Markup(page)
    summaries = [text for text in found.texts["summary"] if " − " in text]
    assert [sum(text.startswith(f"m{s} ") for text in summaries) for s in range(3)] == [10] * 3
    assert "30 of 630 differences are shown" in page
    assert ("placeholder", "Search the 240 segments below") in found.attributes
    assert "influence()" not in page
    assert "to_csv" not in page


def test_a_report_has_a_title_files_and_a_date(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = compared(n=20)
    assert Markup(document(result)).texts["h1"] == ["B against A"]
    page = document(compared(n=20, names="ABC"))
    assert Markup(page).texts["h1"] == ["C has the best score of 3 systems"]
    people = {name: np.arange(20) % k for name, k in zip("ABC", (7, 8, 9), strict=True)}
    agreement = es.meta(people, dict.fromkeys(("M1", "M2", "M3"), people), n_resamples=99)
    assert "3 metrics" in Markup(document(agreement)).texts["h1"][0]
    lines = Markup(document(result)).texts["p"]
    (about,) = (line for line in lines if line.startswith("marks: 20 segments"))
    assert re.fullmatch(r"marks: 20 segments; \d{4}-\d\d-\d\d, evalstats .*", about)
    result.report("own.html", title="Ours & <theirs>")
    found = check_inert((tmp_path / "own.html").read_text(encoding="utf-8"))
    assert found.texts["h1"] == found.texts["title"] == ["Ours & <theirs>"]
    for name in ("ref", "old", "new"):
        lines = "".join(f"{name} {i}\n" for i in range(20))
        (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")
    asked = "compare -r ref.txt -i old.txt new.txt -m chrf --resamples 9 -o r.html --caption Mine"
    assert main(asked.split()) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert Markup(page).texts["h1"] == ["Mine"]
    assert "Files: old.txt, new.txt, ref.txt" in page


def test_only_a_claim_over_few_groups_has_their_mark():
    rng = np.random.default_rng(3)
    marks = {name: rng.normal(size=60) for name in "ABCDE"}
    for gap, said in (
        (0, "It is not significantly better than any other system, and"),
        (9, "It is significantly better than all 4 others †."),
    ):
        given = marks | {"A": marks["A"] + gap}
        found = es.compare(given, metrics=es.Mean("m"), groups=np.arange(60) // 6, n_resamples=99)
        (line,) = found._findings()[0].lines
        assert line.startswith(said)
        assert ("†" in line) == ("†" in said)


def test_ranks_plans_and_scores_have_findings(sample):
    result = compared(n=100, names="ABC")
    ranking, (first, *_) = result.ranking(), result.ranking().systems
    (found,) = ranking._findings()
    assert found.said == f"C ranks first of 3 in marks, with a score of {first.score:.3f}"
    assert found.lines[0] == "It is significantly better than both of the others."
    planned = result.power(0.5)
    for found, pair in zip(planned._findings(), planned, strict=True):
        assert (
            f"with 100 segments, a true difference of {pair.minimum:.2f} is detected 80%"
            in found.said
        )
        assert f"{100 * pair.power:.0f}% of the time. {pair.needed:,} segm" in found.lines[0]
    (found,) = result.estimates._findings()
    ordered = sorted(result.estimates, key=lambda e: -e.score)
    best_first = [f"{e.system} {e.score:.3f}" for e in ordered]
    assert found.said == "marks: {}, {} and {}".format(*best_first)
    e = result.estimates[0]
    assert f"marks {e.score:.3f} (95% interval " in e._findings()[0].said
    for one in (ranking, planned, result.estimates):
        assert one.describe() in Markup(document(one)).texts["p"]
        assert len(check_inert(document(one)).texts["li"]) == len(one._findings())


def test_what_would_have_been_found_is_said_once_and_signs_are_those_of_mathematics():
    """Defects: a report repeated a sentence per metric; "new - old" and "<=" were typed."""
    outputs = {"A": ["a b c", "d e"] * 9, "B": ["a b d", "d e f"] * 9}
    found = es.compare(outputs, ["a b c d", "d e f"] * 9, ["chrf", "ter"], n_resamples=99)
    (finding,) = found._findings()
    assert sum("80% of the time" in line for line in finding.lines) == 1
    page = document(compared(n=40, names="ABC"))
    assert "≤ 0.05" in page
    assert "&lt;= 0.05" not in page
    page = document(compared(n=40, names="AB").power(0.5))
    assert "B − A" in Markup(page).texts["b"][0]
    assert "\\n" not in page


def test_a_report_is_read_without_eyes_and_prints_what_is_open():
    result = compared(n=40, names="ABCDE")
    page = document(result, {"source": ["x"] * 40})
    found = Markup(page)
    # Headings go down one step at a time.
    levels = [int(tag[1]) for tag in found.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    # What scrolls can be reached by keys and has a name; every row has a head.
    n = page.count('<div class="scroll"')
    assert n == page.count('<div class="scroll" tabindex="0" role="region" aria-label="')
    folded = [table for tables in folded_tables(result).values() for table in tables]
    n_rows = sum(len(table.rows) for table in (*result._brief(), *folded))
    assert page.count('<th scope="row"') == n_rows
    assert {"header", "nav", "main"} <= set(found.tags)
    assert page.count("<section id=") == page.count("aria-labelledby=")
    # Printing opens nothing, and leaves out the folds of segments.
    assert "beforeprint" not in page
    assert "details.difference:not([open]), output { display: none; }" in page


def test_documents_have_all_their_texts_and_strata_their_scores():
    scores, groups = apart(60), [f"d{i // 6}" for i in range(60)]
    strata = ["news" if i < 24 else "chat" for i in range(60)]
    given_ = {"groups": groups, "strata": strata, "n_resamples": 99}
    result = es.compare(scores, metrics=es.Mean("m"), **given_)
    texts = {"source": [f"line {i}" for i in range(60)]}
    page = document(result, texts)
    found = Markup(page)
    assert "line 0<br>line 1" in page
    first = groups.index(result.influence().ids[0])
    assert found.texts["dd"][0] == "\n".join(texts["source"][first : first + 6])
    for place, label in ((slice(24), "news"), (slice(24, 60), "chat")):
        row = next(row for row in found.texts["tr"] if row.startswith(label))
        for values in scores.values():
            assert f"{np.mean(values[place]):.3f}".replace("-", "−") in row


printed = st.text(SIGNS, min_size=1, max_size=12).filter(
    lambda s: s.strip() == s and not any(is_unseen(c) or c.isspace() for c in s)
)
names = st.one_of(
    st.sampled_from([h for h in HOSTILE if printable(h) == h and len(h) < 99]), printed
)


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@example([*"abc", "Findings", "Results", "Notes"], "x")
@given(
    st.lists(names, min_size=6, max_size=6, unique=True),
    st.one_of(st.sampled_from(HOSTILE), st.text(SIGNS)),
)
def test_hostile_names_and_texts_stay_text(names, text):
    a, b, metric, unit, stratum, column = names
    table = es.extract(dict(zip([a, b], apart(8).values(), strict=True)), metric=es.Mean(metric))
    units = tuple(f"{unit}{i // 2}" for i in range(8))
    table = replace(table, labels={unit: units, stratum: (stratum,) * 4 + ("x",) * 4})
    result = es.compare(table, groups=unit, strata=stratum, method="t")
    found = check_inert(document(result, {column: [text] * 8}))
    plain = es.compare(apart(8), metrics=es.Mean("m"), groups=[i // 2 for i in range(8)],
                       strata=[i // 4 for i in range(8)], method="t")  # fmt: skip
    like = Markup(document(plain, {"x": ["y"] * 8}))
    assert {*found.tags, "br", "wbr"} == {*like.tags, "wbr"}
    shown = "\n".join(printable(line) for line in f"{text}\n{text}"[:2000].split("\n"))
    assert found.texts["dd"][0].startswith(shown)
    assert column in found.texts["dt"]


def test_nine_systems_under_three_metrics_are_less_than_two_megabytes():
    names = [f"system {i}" for i in range(9)]
    tables = [es.extract(apart(200, names, s), metric=es.Mean(f"m{s}")) for s in range(3)]
    result = es.compare(tables, n_resamples=99)
    texts = {name: [f"{name} {i} " + "word " * 100 for i in range(200)] for name in names}
    page = document(result, texts)
    found = check_inert(page)
    assert len(page.encode()) < 2_000_000
    assert len(found.texts["li"]) == 3
    assert found.tags.count("article") == 3 * 8 * 8


def test_results_of_every_kind_have_a_report(tmp_path):
    result, names = compared(n=40, names="ABC"), "ABC"
    table = es.extract(apart(20), metric=es.Mean("m"))
    moments = es.Moments.of(table)
    suite = es.Suite({t: es.extract(apart(40, names, i), metric=es.Mean("m"))
                      for i, t in enumerate(["law", "art"])})  # fmt: skip
    of_tasks = suite.compare(n_resamples=99)
    gate = es.gate(*(harness_logs.write(
        tmp_path / model, {"t": harness_logs.answers([1, 0, 1, 1] * 20)},
        {"t": {"acc,none": 0.75}}, model=model) for model in ("new", "old")), margin=0.2)  # fmt: skip
    for made, expected in (
        (result.estimates, "A"), (result.estimates[0], "A"), (result.ranking(), "C"),
        (result.power(), "least difference"), (gate, "acc on t: passed"), (of_tasks, "law"),
        (es.Comparison.from_json(result.to_json()), "C has the best score"),
        (result.influence("marks", "C", "A"), "influence"),
        (es.compare(moments), "test:t"),
    ):  # fmt: skip
        page = document(made)
        check_inert(page)
        assert expected in page
        refuses(r"texts|Moments", document, made, {"source": ["x"] * 7})
    same = es.compare({name: [0.5, 1.0] * 20 for name in "abc"}, metrics=es.Mean("acc"))
    assert "All 3 systems have the same score on every segment in acc" in document(same)


def test_what_does_not_fit_is_refused(tmp_path):
    result = compared()
    for texts, found in (
        ({"source": ["x"] * 59}, r"texts\['source'\] must contain 60 texts.*got 59"),
        ({"source": "x" * 60}, r"texts\['source'\] must be str"),
        ({"source": [1] * 60}, r"texts\['source'\] must be str"),
        (["x"] * 60, "texts must be a mapping.*got list"),
        ({"source": 3}, r"texts\['source'\] must be a list of texts, one per segment, got int"),
        ({3: ["x"] * 60}, "names in texts must be non-empty text, got 3"),
    ):
        refuses(found, result.report, tmp_path / "x.html", texts)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path, message", [
    ("nowhere/x.html", r"cannot write 'nowhere/x\.html': No such file or directory"),
    ("a\0b.html", r"cannot write .*: .*embedded null"),
    (3, "path must be a path, got int"),
    ("x.pdf", r"path must end in \.html, got 'x\.pdf', a file of pdf"),
    ("x.JSON", "a file of json"),
    (".", "cannot write '.': Is a directory"),
])  # fmt: skip
def test_a_path_that_cannot_be_written_is_refused_before_the_work(
    tmp_path, monkeypatch, path, message
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalstats.pictures.report.document", lambda *_: pytest.fail("worked"))
    refuses(message, compared().report, path)
    assert not list(tmp_path.iterdir())


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "x.html"
    path.write_text("old", encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to(path)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        refuses(r"cannot write .*: No space left on device", compared().report, path)
    assert path.read_text(encoding="utf-8") == "old"
    compared().report(link)
    assert link.is_symlink()
    assert "<html" in path.read_text(encoding="utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "x.html"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    compared().report(tmp_path / "pipe")
    reader.join()
    assert b"<html" in found[0]
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_texts_of_a_report_may_be_any_iterable():
    result = compared()
    texts = [f"line {i}" for i in range(60)]
    once = document(result, {"source": (text for text in texts)})
    assert once == document(result, {"source": texts})


def test_the_command_line_shows_the_lines_of_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"ref": "the cat {} sat", "old": "cat {} sits", "new": "the cat {} sits"}
    for name, line in columns.items():
        lines = "".join(line.format(i) + "\n" for i in range(20))
        (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")
    asked = "compare -r ref.txt -i old.txt new.txt ref.txt --names old new ref --systems old new"
    assert main([*asked.split(), *["-m", "chrf", "--resamples", "99", "-o", "report.html"]]) == 0
    found = check_inert((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert found.texts["dt"][:3] == ["reference", "old", "new"]
    # The first line of a file is line 1.
    numbers = [re.match(r"segment (\d+)", text)[1] for text in _numbered(found)]
    for i, number in enumerate(numbers):
        lines = [line.format(int(number) - 1) for line in columns.values()]
        assert found.texts["dd"][3 * i : 3 * i + 3] == lines
    assert "numbered from 0" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Segments are numbered from 0." in str(compared(n=20).influence())


def test_a_plan_has_a_figure():
    # Defect: power().plot() drew one, and the report of it had none.
    planned = es.compare(apart(100), metrics=es.Mean("m")).power()
    found = Markup(document(planned))
    assert f"found with power {planned.target:g}: B − A" in found.texts["figcaption"][0]
    assert "target" not in {value for name, value in found.attributes if name == "class"}
    asked = es.compare(apart(100), metrics=es.Mean("m")).power(difference=0.3)
    page = document(asked)
    assert "power by number of segments; dotted: 100, as planned; dashed: 0.8" in page
    (path,) = re.findall('<path class="s0" d="M([^"]*)"/>', page)
    assert path.count("L") == 99
    assert 'class="target"' in page
