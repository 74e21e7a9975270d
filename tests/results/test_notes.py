"""What limits a verdict is said in a sentence, and is no evidence of anything."""

import pickle
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import binomtest

import evalstats as es
from evalstats.designs.arrivals import carried_notes
from evalstats.pictures.markup import html
from evalstats.pictures.report import document
from evalstats.results.records import Caution
from evalstats.results.tabular import pvalue
from tests.designs.test_swaps import compare as swapped
from tests.helpers import graded as marks

JUDGE = es.Mean("rating")


def differ_on(m, n=200):
    old = np.random.default_rng(5).normal(size=n)
    return {"old": old, "new": old + np.where(np.arange(n) < m, 0.5 + np.arange(n) / 99, 0.0)}


def far(m, n=200):
    """Scores that differ by normal noise, and on the first m segments by fifty times as much."""
    old, new = np.random.default_rng(8).normal(size=(2, n))
    return {"old": old, "new": new * np.where(np.arange(n) < m, 50, 1)}


GROUPS = np.repeat(np.arange(8), [60, 20, 20, 20, 20, 20, 20, 20])


EIGHTHS, FIFTHS = np.arange(200) // 8, np.arange(200) // 5
FEW_DIFFER, GROUPED = "differ on fewer than 10", "grouping segments multiplies"


@pytest.mark.parametrize("scores, options, notes", [
    (marks(), {}, []),
    (marks(), {"n_resamples": 38}, ["With 38 resamples, intervals and p-values are only approximate"]),
    (marks(), {"n_resamples": 39}, []),
    (marks(n=30), {}, ["only 30 segments. Below 100, intervals and p-values are only approx"]),
    (marks(), {"groups": FIFTHS}, [GROUPED]),
    (marks(), {"groups": EIGHTHS}, ["only 25 groups. Below 30, intervals and p-values are only approx", GROUPED]),
    (marks(), {"groups": np.arange(200) // 40},
     # What is said of few groups is said once, by the strongest sentence.
     ["s1 and s0 (rating) differ on so few groups that no p-value can reach 0.05", GROUPED]),
    (marks(), {"groups": GROUPS},
     ["8 groups of 20 to 60 segments are as informative as about 6.25 of equal size. Below 30", FEW_DIFFER,
      GROUPED]),
    (marks(), {"groups": np.repeat(np.arange(12), [189, *[1] * 11])},
     ["12 groups of 1 to 189 segments are as informative as about 1.12 of equal size, so", GROUPED]),
    (differ_on(3), {}, ["so few segments that no p-value can reach 0.05"]),
    (differ_on(9), {}, [FEW_DIFFER]),
    (differ_on(10), {}, []),
    (differ_on(0), {}, ["new and old (rating) have the same score on every segment"]),
    ({s: x > 0 for s, x in marks().items()}, {}, ["rating is a 0/1 score, so evalstats uses McNemar's test"]),
    (far(9), {}, ["10 of 200 segments account for 98% of the variance of new - old"]),
    (far(9), {"strata": np.arange(200) % 2}, ["10 of 200 segments account for 97% of the variance"]),
    (far(9, 30), {}, ["There are only 30 segments"]),
    (far(3, 30), {}, ["There are only 30 segments", "3 of 30 segments account for 94% of the variance"]),
    (far(3), {"groups": np.arange(200) // 2}, [GROUPED]),
    ({**far(3), "newer": far(3)["new"] + np.arange(200) / 200}, {},
     ["The interval of newer - old (rating) excludes 0",
      "96% of the variance of new - old (and in 1 similar case). The interval may"]),
    (marks(3), {"groups": EIGHTHS}, ["† These verdicts are based on few groups", "There are only 25 groups", GROUPED]),
    (marks(3), {"groups": EIGHTHS, "adjustment": "none"}, ["There are only 25 groups", GROUPED]),
    (marks(3), {"groups": FIFTHS}, [GROUPED]),
])  # fmt: skip
def test_each_limit_has_its_sentence(scores, options, notes):
    result = es.compare(scores, metrics=JUDGE, **options)
    assert len(result.notes) == len(notes), result.notes
    assert all(part in note for part, note in zip(notes, result.notes, strict=True))
    shown = str(result).splitlines()
    assert all(note in shown for note in result.notes[:3])
    assert all(note in result.to_text(verbose=True) for note in result.notes)
    assert ("to_text(verbose=True) shows 1 more note." in shown) == (len(notes) == 4)


def test_an_interval_that_leaves_0_out_without_evidence_is_explained_everywhere():
    result = es.compare(marks(4, gap=0.15), metrics=JUDGE)
    apart = [d for d in result if not d.low <= 0 <= d.high and d.pvalue_adjusted > 0.05]
    assert len(apart) > 1
    assert [d for d in result if result.adjusted.is_apart(d)] == apart
    assert result.notes[0].startswith(f"{len(apart)} of 6 intervals exclude 0, but")
    assert "p (adjusted) accounts for 6 comparisons" in result.notes[0]
    page = document(result)
    assert "each interval is for one difference only" in page
    assert html(result.notes[0]) in page
    # Neither where nothing is adjusted nor of one side.
    for options in ({"adjustment": "none"}, {"alternative": "less"}):
        other = es.compare(marks(4, gap=0.15), metrics=JUDGE, **options)
        assert not any("exclude" in note for note in other.notes), options
    # One pair, whose interval is of another method than its p-value.
    rng = np.random.default_rng(4)
    for _ in range(40):
        scores = {"A": rng.normal(size=99), "B": rng.normal(0.29, 1, size=99)}
        (d,) = result = swapped(scores, metrics=JUDGE, n_resamples=99)
        if result.adjusted.is_apart(d):
            (note,) = [note for note in result.notes if "excludes" in note]
            assert "intervals (bootstrap) and p-values (ar)" in note
            break
    else:
        pytest.fail("no such pair")


def test_what_makes_numbers_invalid_stands_first_in_every_form(tmp_path):
    """Before tables, findings and notes; whatever else is folded away, it is not."""
    said = "Caution: 20 of 200 items are left out, which B lacks."
    cautioned = ("one", "two", "three", "four", said)
    table = es.extract(marks(), metric=JUDGE)
    compared = es.compare(table, n_resamples=99)
    gate = es.gate(*marks().values(), metrics=JUDGE, margin=5.0)
    for result in (compared, compared.estimates, compared.ranking(), compared.power(), gate):
        noted = replace(result, notes=cautioned)
        for shown in (str(noted), noted.to_text(findings=True), noted.to_markdown()):
            assert shown.startswith(said)
        assert noted.to_latex().split("\n\n")[1] == f"% {said}"
        for page in (noted.to_html(), noted._repr_html_()):
            above = page[: page.index("<table")]
            assert said in above
            assert "<details" not in above
        report = document(noted)
        first = report[report.index('class="verdicts"') :]
        assert first.index(said) < first.index("</li>") < first.index("<p>")
        assert type(noted).from_json(noted.to_json()).notes == cautioned
    case = ElementTree.fromstring(replace(gate, notes=cautioned).to_junit())[0]
    assert said in case[0].text


def test_what_too_few_swaps_leave_is_not_shown_as_evidence():
    values = marks(8, 60, gap=0.5)
    options = {"metrics": JUDGE, "baseline": "s0", "adjustment": "holm"}
    for n_resamples, found in ((139, True), (138, False), (99, False)):
        result = swapped(values, n_resamples=n_resamples, **options)
        assert any(result.significant(d) for d in result) == found
        assert any("can reach" in note for note in result.notes) != found
    (note,) = [note for note in result.notes if "can reach" in note]
    assert all(
        part in note for part in ("p-value adjusted for 7 comparisons", "at least 139 resamples.")
    )
    rows = [line for line in str(result).split("\n") if re.match(r"s[1-9]", line)]
    assert all(line.split()[-3:] == ["-", "cannot", "tell"] for line in rows)


@pytest.mark.parametrize("options", [{}, {"method": "t"}, {"groups": np.arange(90) // 16}])
def test_where_t_decides_no_number_of_resamples_is_asked_for(options):
    values = marks(8, 90, 1.5)
    if not options:  # several runs of each system
        values = {name: np.stack([x, x, x]) for name, x in values.items()}
    result = es.compare(values, metrics=JUDGE, n_resamples=99, adjustment="holm", **options)
    assert {(d.test, d.pvalue_error) for d in result} == {("t", 0.0)}
    assert "|test:t|" in result.signatures[0]
    assert not any("use n_resamples" in note for note in result.notes)


def test_one_level_is_that_of_intervals_and_verdicts():
    scores = marks(gap=0.12)
    for level, shown in ((0.95, True), (0.99, False)):
        result = es.compare(scores, metrics=JUDGE, confidence_level=level)
        (d,) = result
        assert result.significant(d) == shown == (not d.low <= 0 <= d.high)
        assert f"[{100 * level:g}% interval]" in str(result)


def test_few_segments_that_hold_the_variance_of_a_score_are_said():
    (old, new), metric = far(3).values(), es.Mean("rating")
    squares = np.sort((new - np.mean(new)) ** 2)
    share = f"{100 * np.sum(squares[-10:]) / np.sum(squares):.0f}%"
    (note,) = es.estimate(new, metric=metric).notes
    said = f"rating: 10 of 200 segments account for {share} of the variance of system's s"
    assert note.startswith(said)
    assert es.estimate(old, metric=metric).notes == ()
    # Shares are counted: one failure of a hundred is no loose estimate of a variance.
    assert es.estimate(np.arange(100) > 0, metric=metric).notes == ()


@pytest.mark.parametrize(
    ("n_narrow", "n_tests", "is_said"), [(1, 3, False), (1, 2, True), (0, 2, False)]
)
def test_units_that_carry_a_difference_are_told_of_half_of_the_tests(n_narrow, n_tests, is_said):
    tests = [(1000, 5.0)] * n_narrow + [(1000, 500.0)] * (n_tests - n_narrow)
    notes = list(carried_notes(tests, "item", " from the best step", "So."))
    said = (
        "items differ from the best step, and about 5 of them make up most of the difference. So."
    )
    assert [note.startswith(f"1000 {said}") for note in notes] == [True] * is_said


def test_few_segments_are_said_of_the_task_that_they_are_in():
    law, art = es.extract(far(3), metric=JUDGE), es.extract(far(0), metric=JUDGE)
    suite = es.Suite({"law": law, "art": art})
    few = {"n_resamples": 199}
    results = suite.estimate(**few), suite.compare(**few)
    for result, what in zip(results, ("new's score", "new - old"), strict=True):
        (note,) = [note for note in result.notes if "% of the variance" in note]
        assert f" of the variance of {what} on law. " in note
    gate = es.gate(law, "old", margin=1.0)
    assert any("% of the variance of new - old. " in note for note in gate.notes)


@pytest.mark.parametrize("kind", ["normal", "low-resource BLEU"])
def test_the_note_is_there_where_intervals_fail_and_not_elsewhere(kind):
    """Of 20 samples of 100; measured on 400: none of normal scores, .94 of such BLEU."""
    metric = JUDGE if kind == "normal" else es.BLEU()
    n_noted = 0
    for seed in range(20):
        rng = np.random.default_rng([21, seed])
        if kind == "normal":
            rows = np.stack([metric.statistics(x) for x in rng.normal(size=(2, 100))])
        else:
            # One output in twenty-five is right, the others have a third of the words.
            words = np.full((2, 100, 1), 20)
            right = rng.random((2, 100, 1)) < 0.04
            match = np.where(right, [20, 19, 18, 17], rng.binomial(20, [0.3, 0.03, 0.001, 0.0001],
                                                                 size=(2, 100, 4)))  # fmt: skip
            total = np.broadcast_to([20, 19, 18, 17], match.shape)
            rows = np.concatenate([words, words, match, total], axis=-1)
        table = es.SegmentStatistics(rows, ("A", "B"), metric)
        notes = es.compare(table, n_resamples=199).notes
        n_noted += any("of the variance of B - A" in note for note in notes)
    assert n_noted == 0 if kind == "normal" else n_noted >= 17


def test_claims_of_families_over_few_documents_are_marked_in_every_form():
    scores, options = marks(3, gap=2.0), {"metrics": JUDGE, "n_resamples": 999}
    few, many = np.arange(200) // 8, np.arange(200) // 5
    result = es.compare(scores, groups=few, **options)
    assert result.to_text(verbose=True).count("better †") == 3
    assert str(result).count("worse †") == 2
    assert "\n† These verdicts are based on few" in str(result)
    assert result.to_markdown().count("worse † |") == 2
    latex = result.to_latex(caption="of three")
    assert latex.count(r"worse $\dagger$") == 2
    assert result._repr_html_().count("worse †<") == 2
    assert "†" not in result.to_csv()
    assert es.Comparison.from_json(result.to_json()).to_text() == result.to_text()
    against = es.compare(scores, groups=few, baseline="s0", **options)
    assert str(against).count("better †") == 2
    assert all(" rating †: +" in verdict.said for verdict in against._findings())
    matrix = es.compare(marks(5, gap=2.0), groups=few, **options).to_text(verbose=True)
    assert "4 of 4 †" in matrix
    assert "\n† p (adjusted) <= 0.05\nto_csv() writes" in matrix
    assert "*" not in matrix
    # Neither one pair, nor many documents, nor segments.
    pair = {name: scores[name] for name in ("s0", "s1")}
    for others, groups in ((pair, few), (scores, many), (scores, None)):
        assert "†" not in str(es.compare(others, groups=groups, **options))


@pytest.mark.parametrize("n, is_told", [(4, True), (10, False)])
def test_few_counted_answers_are_told(n, is_told):
    # Defect: of 4 gained and none lost McNemar's p is 0.0455, the exact one 2 / 2^4 = 0.125.
    old = np.repeat([1.0, 0.0], [200, 100])
    new = old.copy()
    new[200 : 200 + n] = 1.0
    result = es.compare({"A": old, "B": new}, metrics=es.Mean("acc"), n_resamples=99)
    told = [note for note in result.notes if "fewer than 10 segments" in note]
    exact = binomtest(n, n).pvalue
    assert result[0].exact_pvalue == pytest.approx(exact)
    assert len(told) == is_told
    assert all(f"the exact p-value (two-sided {pvalue(exact)})" in note for note in told)


def test_of_three_answers_no_bootstrap_is_said_to_be_replaced():
    # Defect: "t decides" stood above McNemar's test and Tango's interval.
    answers = {"A": [1, 0, 0], "B": [1, 1, 1]}
    counted = es.compare(answers, metrics=es.Mean("acc"), n_resamples=99)
    drawn = es.estimate([0.5, 0.1, 0.2], metric=JUDGE, n_resamples=99)
    for result in (counted, drawn):
        (note,) = [note for note in result.notes if note.startswith("There are only 3 segments")]
        assert ("evalstats uses a t test" in note) == (result is drawn)


def test_cautions_come_first_are_never_folded_and_survive_json_and_pickle() -> None:
    marks = {"A": [1, 2, 2, 3], "B": [2, 2, 3, 4]}
    result = es.compare(marks, metrics=es.Mean("marks"), baseline="A")
    cautions = [Caution(f"{word} of 4 items lack.", word) for word in ("1", "2", "3", "4")]
    noted = result.noting("a first note.", *cautions)
    assert [note.kind for note in pickle.loads(pickle.dumps(noted)).notes[1:5]] == list("1234")
    again = es.Comparison.from_json(noted.to_json())
    for form in (again.to_text(), again.to_markdown(), noted.to_html(), noted.to_latex()):
        places = [form.index(caution) for caution in cautions]
        assert places == sorted(places)
        assert form.find("a first note.") == -1 or form.index("a first note.") > places[-1]


def test_scores_of_a_judge_are_named_once_unless_people_correct_them():
    scores, said = marks(n=300), "llm_judge: a judge's scores may favour one of the systems."
    names = {"llm_judge": 1, "judgement day": 1, "GPT score": 1, "prejudge": 0, "rating": 0}
    for metric, n in names.items():
        table = es.extract(scores, metrics=es.Mean(metric))
        suite = es.Suite({"x": table, "y": table})
        notes = suite.compare(n_resamples=99).notes
        assert sum("may favour one of the systems" in note for note in notes) == n, notes
    notes = es.compare(scores, metrics=es.Mean("llm_judge")).notes
    assert notes[0].startswith(said)
    people = {name: [x if i % 2 else None for i, x in enumerate(y)] for name, y in scores.items()}
    notes = es.compare(scores, metrics=es.Mean("llm_judge"), human=people).notes
    assert not any("may favour" in note for note in notes)


def test_groups_of_one_segment_are_named():
    """Defect: labels that all differ, as of a wrong column, gave no note."""
    result = es.compare(marks(), metrics=JUDGE, groups=np.arange(200))
    assert "Each group has only one segment, so groups have no effect." in " ".join(result.notes)


def test_few_groups_are_not_as_many_as_they_should_be():
    """Defect: "only 30 docs: intervals are rough below 30"."""
    groups = np.repeat(np.arange(30), [8, 6, *[7] * 28])
    (note, _) = es.compare(marks(n=210), metrics=JUDGE, groups=groups).notes
    assert note.startswith(
        "30 groups of 6 to 8 segments are as informative as about 29.9 of equal size. Below"
    )
