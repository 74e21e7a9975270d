"""Reports of results that are no plain comparison: what each says first, shows, and leaves out."""

import re

import numpy as np
import pytest

import evalstats as es
from evalstats.cli import main
from evalstats.data import examples
from evalstats.pictures.marks import Forest, Limit, Mark
from evalstats.pictures.report import document, folded_tables
from tests.helpers import apart
from tests.markup import Markup


def compared(names="AB", n=60, **options):
    return es.compare(apart(n, names), metrics=es.Mean("marks"), n_resamples=199, **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        *((name, "".join(f"{name} says {i}\n" for i in range(1, 21))) for name in ("ref", "old")),
        ("new", "".join(f"new says {i} {'well' * (i % 3)}\n" for i in range(1, 21))),
        ("domains", "chat\n" * 5 + "news\n" * 15),
    ):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def reported(folder, command):
    """Return the report of a command."""
    assert main([*command.split(), "-o", "r.html"]) in (0, 1, 3, 4)
    return (folder / "r.html").read_text(encoding="utf-8")


TEXTS = "compare -r ref.txt -i old.txt new.txt --baseline old -m chrf --resamples 99"


def test_where_no_segment_moves_a_difference_there_is_no_part_on_segments():
    votes = [("x", "y", "x")] * 12 + [("y", "z", "y")] * 9 + [("z", "x", "z")] * 7
    alone = {"old": np.arange(30.0), "new": np.arange(40.0)}
    for result in (
        es.arena(votes, n_resamples=99),
        es.compare(alone, metrics=es.Mean("m"), paired=False, n_resamples=99),
    ):
        found = Markup(document(result))
        assert "Segments" not in found.texts["h2"]
        assert "Results" in found.texts["h2"]
    assert "Segments" in Markup(document(compared())).texts["h2"]


def test_domains_go_into_a_report(folder):
    page = reported(folder, f"{TEXTS} --by domains.txt")
    shown = {
        name: re.sub("<.*?>", "", text)
        for name, text in re.findall("<h3>segment (.*?)<span>.*?<dt>old</dt>(.*?)<dt>", page)
    }
    assert {name.partition(":")[0] for name in shown if ":" in name} == {"chat", "news"}
    assert any(name.isdigit() and int(name) > 15 for name in shown)
    for name, text in shown.items():
        assert text == f"old says {name.split()[-1]}"
    labels = "".join(f"d{i % 8}\n" for i in range(20))
    (folder / "documents.txt").write_text(labels, encoding="utf-8")
    page = reported(folder, f"{TEXTS} --by domains.txt --groups documents.txt")
    assert "<h3>document d1<span>" in page


def test_a_segment_of_a_domain_has_its_name_and_texts(sample):
    systems = {name: list(sample.systems[name]) for name in ("baseline", "clearly-better")}
    result = es.compare(systems, sample.references, "chrf", n_resamples=99).by(sample.domains)
    domains = np.array(sample.domains)
    for domain in ("news", "support"):
        found = result.influence("chrF2", task=domain)
        assert sorted(map(int, found.ids)) == np.flatnonzero(domains == domain).tolist()
        first = int(found.ids[0])
        assert systems["baseline"][first].split()[0] in document(result)


def test_a_label_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arena.csv").write_text(examples.arena(), encoding="utf-8")
    page = reported(tmp_path, "rank arena.csv --groups question_id --resamples 99")
    assert "Files: arena.csv</p>" in page


def test_a_system_is_no_file_though_a_folder_has_its_name(tmp_path, monkeypatch):
    """Defect: the report named a folder that was not read."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{system},{i},{(i + k) % 3}" for k, system in enumerate(("base", "new")) for i in range(9)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["system,segment,acc", *rows]) + "\n")
    (tmp_path / "base").mkdir()
    page = reported(tmp_path, "compare a.csv --baseline base --higher-is-better acc")
    assert "Files: a.csv</p>" in page


def test_both_files_of_cases_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, right in (("old", 1), ("new", 0)):
        rows = [f"i{i},{k},{right if i == 0 else 1}" for i in range(9) for k in range(5)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["segment,trial,passed", *rows]) + "\n")
    page = reported(tmp_path, "cases new.csv --baseline old.csv")
    assert "Files: new.csv, old.csv</p>" in page
    assert "i0 5/5 → 0/5" in page


def test_regions_have_names_of_their_own():
    scores = np.random.default_rng(4).normal(size=(3, 40))
    named = [dict(zip("ABC", scores + i, strict=True)) for i in range(2)]
    tables = [es.extract(of, metric=es.Mean(f"m{i}")) for i, of in enumerate(named)]
    page = document(es.compare(tables, n_resamples=99))
    labels = re.findall('role="region" aria-label="([^"]*)"', page)
    assert len(labels) == 4
    assert len(set(labels)) == len(labels)


def test_a_plan_has_a_short_title():
    planned = compared("ABC").power(0.5)
    assert Markup(document(planned)).texts["h1"] == ["What 60 segments can find: marks"]


def test_names_of_systems_stay_as_they_are():
    named = dict(
        zip(("old-one", "new-one"), np.random.default_rng(2).normal(0, 1, (2, 60)), strict=True)
    )
    for margin, said in ((3, "new-one and old-one are"), (1e-3, "We could not show that new-one")):
        result = es.compare(named, metrics=es.Mean("m"), baseline="old-one", margin=margin)
        assert result._findings()[0].said.startswith(said)


def test_a_dot_at_the_first_of_many_ranks_is_whole():
    """Defect: of 37 ranks half a dot was beyond the axis."""
    forest = compared("ABCDEFGHIJKLMNOPQRSTUVWXYZ", n=9).ranking()._tables()[0].forest
    low, high = forest.axis
    assert (1 - low) / (high - low) > 0.03
    assert (high - 26) / (high - low) > 0.03


@pytest.mark.parametrize(("margin", "side"), [(0.6, "left"), (0.1, "center")])
def test_the_name_of_a_limit_near_an_edge_begins_there(margin, side):
    """Defect: on a phone "-0.5 allowed" was written over the head of the column before."""
    mark = Mark(0.5, -1.0, 2.0, limits=(-margin, np.inf))
    forest = Forest(((mark,),), 1, "difference", 0.0, limit=Limit(margin, of_loss=True))
    assert [place for *_, place in forest.named_ends] == [side]


def test_names_may_break_and_scores_go_on_a_phone():
    found = compared(["lab/one_a", "lab/two_b"])
    page = document(found)
    assert "lab/<wbr>one_<wbr>a" in page
    assert 'class="last">' in document(es.gate([1.0, 2, 3] * 9, [1.0, 2, 4] * 9,
                                               metrics=es.Mean("m"), margin=1))  # fmt: skip


def test_of_many_notes_the_first_are_open():
    page = document(compared("AB", n=120).noting(*(f"note {i}" for i in range(11))))
    assert "<summary>3 more notes</summary>" in page
    assert page.index("note 7") < page.index("3 more notes") < page.index("note 8")


def test_ranks_are_whole_numbers():
    for names in ("AB", "ABC"):
        page = document(compared(names).ranking())
        ticks = re.findall('text-anchor="middle">([^<]+)<', page)
        assert ticks == [str(i + 1) for i in range(len(names))]


def test_looks_have_a_finding_and_a_figure():
    rng = np.random.default_rng(3)
    old, new = rng.random(400) < 0.5, rng.random(400) < 0.8
    test = es.SequentialTest(of=400, looks=4, metric=es.Mean("acc"), margin=0.05)
    waits = test.look(new[:60], old[:60])
    assert waits.verdict == "go on"
    (found,) = test.result._findings()
    assert "go on. No decision yet. 340 segments are still to come. If" in found.said
    assert found.kind == "open"
    look = test.look(new[:200], old[:200])
    (found,) = test.result._findings()
    assert "passed. Decided after 200 segments" in found.said
    assert found.kind == "better"
    assert f"{look.low:+.3f} to {look.high:+.3f}" in found.lines[0]
    page = document(test.result)
    assert page.count('class="whisker"') == page.count('class="limit"') == 2
    assert ">−0.05 allowed</text>" in page


def test_a_finding_is_not_said_again_in_the_notes():
    old, new = [[1] * 5] * 12, [[0] * 5, *[[1] * 5] * 11]
    cases = es.compare({"old": old, "new": new}, metrics=es.PassAll(1), baseline="old").cases()
    page = document(cases)
    assert page.count(cases.sentence) == 1
    assert "Each item is tested separately" in page


def test_one_orientation_in_the_table_and_the_folds():
    """Defect: the figure had "B - A", the table and the segments "A - B" of the same pair."""
    rng = np.random.default_rng(1)
    scores = {"best": rng.normal(1, 1, 60), "worst": rng.normal(0, 1, 60)}
    page = document(es.compare(scores, metrics=es.Mean("m"), n_resamples=99))
    assert "best − worst" in page
    assert "worst − best" not in page
    assert "◂ worst better" in page
    # Where nothing is shown the sentence has the sign of the table, too.
    near = {"best": [1.0, 3, 2, 5, 4, 6] * 4, "worst": [1.0, 2, 4, 4, 3, 6] * 4}
    result = es.compare(near, metrics=es.Mean("m"), n_resamples=99)
    (found,), (table,) = result._findings(), result._tables()
    assert "best differs from worst" in found.said
    assert table.rows[0][3] in found.said + found.lines[0]


def test_by_domain_many_pairs_are_one_folded_table_a_metric():
    """Defect: six systems under three metrics had 45 open panels, one a pair, on 11 pages."""
    rng = np.random.default_rng(2)
    base = rng.normal(size=120)
    scores = {name: base + 0.2 * i + rng.normal(size=120) for i, name in enumerate("abcdef")}
    result = es.compare(scores, metrics=es.Mean("m"), n_resamples=99).by(np.arange(120) % 3)
    ((name, (table,)),) = folded_tables(result).items()
    assert name == "m: f against each of the others, by stratum"
    expected = [("f", "a", x) for x in ("0", "1", "2", "all 3 strata")]
    assert [row[:3] for row in table.rows[:4]] == expected
    assert len(table.rows) == 5 * 4
    page = document(result)
    assert page.count("<details>") == 1
    # What is open are two tables, of scores by domain and of all segments.
    assert page.partition("<details>")[0].count("<table") == 2
