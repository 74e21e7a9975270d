"""Results as values: found by name, equal where their numbers are, and back out of JSON."""

import copy
import io
import json
import pickle
import random
from csv import DictReader
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evalstats as es
from evalstats.errors import InputError
from evalstats.results import escaping
from evalstats.results.ranking import Rankings
from tests import mutations

RNG = np.random.default_rng(4)
SCORES = {name: RNG.random(30) + 0.1 * i for i, name in enumerate("abc")}
TEXTS = {"A": ["a b c d e"] * 9, "B": ["a b c d f"] * 5 + ["a b c d e"] * 4}
REFERENCES = [["a b c d e", None], ["a b c d e", "a"]] * 4 + ["a b c d e"]
METRICS = [es.Mean("COMET"), es.Mean("errors", higher_is_better=False)]


def comparison(**options):
    return es.compare(SCORES, metrics=METRICS, n_resamples=99, **options)


PAIRS, BASED = comparison(), comparison(baseline="b", method="percentile")
ESTIMATES = es.estimate(SCORES, metric=METRICS, n_resamples=99)


def test_records_are_found_by_metric_system_and_baseline():
    assert PAIRS.estimates["comet", "b"] is PAIRS.estimates["COMET", "b"] is PAIRS.estimates[1]
    assert ESTIMATES["errors", "c"] is ESTIMATES[5]
    assert es.estimate(SCORES, metric=METRICS[0], n_resamples=99)["c"].system == "c"
    assert isinstance(PAIRS.estimates, es.Estimates)
    assert PAIRS.estimates[1:3] == (PAIRS.estimates[1], PAIRS.estimates[2])
    assert PAIRS.difference("COMET", "c", "a") is PAIRS["comet", "c", "a"] is PAIRS.differences[1]
    assert BASED.difference("errors", "c").baseline == BASED["errors", "c"].baseline == "b"


@pytest.mark.parametrize("key, message", [
    (("BLEU", "a"), "metric must be one of COMET, errors; got 'BLEU'"),
    (("COMET", "z"), "system must be one of a, b, c; got 'z'"),
    ("a", "metric must be one of COMET, errors; got None"),
    ((1, 2, 3), "give names or a place"),
    (("COMET", "a", "c"), "'a' from 'c' is that of 'c' from 'a' with the opposite|must be one of"),
    (("COMET", "c", "x"), r"^baseline must be one of a, b, c; got 'x'$|must be one of"),
    (("COMET", "a", "a"), "no difference of 'a' from 'a'; there are|must be one of"),
])  # fmt: skip
def test_what_is_not_there_is_said_to_be_missing(key, message):
    for found, expected in ((PAIRS, message.partition("|")[0]), (ESTIMATES, message)):
        with pytest.raises(InputError, match=expected):
            found[key]
    with pytest.raises(InputError, match="baseline is missing: say which of 2 pairs"):
        PAIRS["COMET", "c"]
    with pytest.raises(InputError, match="no difference of 'c' from 'a'; there are 'a' from 'b'; "):
        BASED.difference("errors", "c", "a")
    with pytest.raises(InputError, match="metric must be one of COMET, errors; got 'BLEU'"):
        BASED.difference("BLEU")


def test_verdicts_are_of_adjusted_pvalues_and_claims_at_the_level_itself():
    d = replace(BASED.differences[0], pvalue=0.01, pvalue_adjusted=0.06)
    assert not BASED.significant(d)
    assert BASED.significant(replace(d, pvalue_adjusted=0.05))
    result = comparison(margin=0.1)
    level = result.significance_level
    for p, claim in ((level, "not worse"), (np.nextafter(level, 1), "not shown")):
        found = es.MarginTest(pvalue_not_worse=float(p), pvalue_worse=0.5, pvalue_equivalence=0.5)
        assert result.claim(replace(result[0], margin_test=found)) == claim


def shard():
    table = es.extract(SCORES, metric=es.Mean("COMET"))
    return es.resample_shard(table, range(30), n_resamples=9, resolution=2**-30)


MAKERS = {
    "Estimate": lambda: es.estimate(SCORES["a"], metric=METRICS[0], n_resamples=99),
    "Estimates": lambda: es.estimate(SCORES, metric=METRICS, n_resamples=99),
    "Comparison": comparison,
    "Difference": lambda: comparison().differences[0],
    "PairedTestResult": lambda: es.paired_permutation_test(SCORES["a"], SCORES["b"]),
    "Audit": lambda: es.audit(TEXTS, REFERENCES, n_bootstrap=9, n_randomization=9, n_resamples=9),
    "SegmentStatistics": lambda: es.extract(TEXTS, REFERENCES),
    "Shard": shard,
    "References": lambda: es.References(REFERENCES),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_equal_runs_are_equal_and_so_are_pickles_and_copies(make):
    first, second = make(), make()
    assert first == second
    assert hash(first) == hash(second)
    for twin in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert len({twin, first, second}) == 1
    assert first != "x"


def test_other_numbers_other_signatures_and_other_kinds_differ():
    one = PAIRS.estimates[0]
    assert one != replace(one, score=one.score + 1e-12)
    assert one != replace(one, signature="other")
    assert comparison(rng=1) != PAIRS
    assert es.Estimates(ESTIMATES.estimates[1:]) != ESTIMATES
    table = es.extract(TEXTS, REFERENCES)
    more = table.values.copy()
    more[0, 0, 0] += 1
    assert table != replace(table, values=more)
    assert table != replace(table, fingerprint="other")
    assert shard() != replace(shard(), totals=(shard().totals[0] + 1,))


def marks(n_systems, n_tasks, metric=METRICS[0]):
    """Return a table of 0/1 scores a task."""
    rng = np.random.default_rng(3)
    names = dict(zip("abcd", (0.5, 0.7, 0.6, 0.4), strict=True))
    return {
        task: es.extract({s: rng.random(60) < names[s] for s in "abcd"[:n_systems]}, metric=metric)
        for task in "xyz"[:n_tasks]
    }


def check_forms(result):
    """What JSON brings back is the same in every form, and all forms have the same cells."""
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))
    found = type(result).from_json(result.to_json(indent=None))
    assert found == result
    assert repr(found) == repr(result) == str(result)
    forms = ("to_text", "to_markdown", "to_latex", "to_html", "to_csv", "to_json")
    text, markdown, latex, html, *_ = written = [getattr(result, form)() for form in forms]
    assert written == [getattr(found, form)() for form in forms]
    for table in result._tables():
        assert [len(row) for row in table.rows] == [len(table.header)] * len(table.rows)
        for cell in table.rows[-1]:
            assert cell in text
            assert escaping.html(cell) in html
            assert escaping.markdown(cell) in markdown
    for note in result._below()[0]:
        assert note in text
        assert escaping.latex_words(note) in latex


@cache
def answers(compare):
    result = compare()
    of = {"metric": result.differences[0].metric, "task": result.differences[-1].task or None}
    first = result.differences[0]
    influence = result.influence(system=first.system, baseline=first.baseline, **of)
    joint = result.joint(first.system, first.baseline)
    found = [result, result.estimates, result.estimates[0], influence, joint]
    return [*found, result.power(0.5)]


@pytest.mark.parametrize("compare", [
    comparison,
    lambda: comparison(margin=0.5, adjustment="holm"),
    lambda: es.Suite(marks(3, 3)).compare(margin=0.2, n_resamples=99),
    lambda: es.Suite(marks(2, 2)).compare(test="ar", baseline="a", n_resamples=99),
    lambda: es.compare(TEXTS, REFERENCES, ["bleu", "chrf"], n_resamples=99),
    lambda: es.compare(TEXTS, REFERENCES, [es.BLEU(), es.BLEU(lowercase=True)], rng=2**70,
                       n_resamples=9),
])  # fmt: skip
def test_what_a_comparison_answers_is_read_back_and_has_the_same_columns(compare):
    for answer, like in zip(answers(compare), answers(comparison), strict=True):
        check_forms(answer)
        assert answer.to_csv().split("\n")[0] == like.to_csv().split("\n")[0]


OTHERS = {
    "Ranking": lambda: PAIRS.ranking("COMET"),
    "Rankings": lambda: Rankings((PAIRS.ranking("COMET"), PAIRS.ranking("errors"))),
    "composite": lambda: PAIRS.ranking(composite="borda"),
    "Suite": lambda: es.Suite(marks(2, 3)).estimate(),
    "claims": lambda: es.Suite(marks(2, 3)).compare().joint("b", "a", task=list("xyz")),
    "Audit": MAKERS["Audit"],
    "runs": lambda: es.power({k: np.random.default_rng(i).normal(size=(3, 40)) for i,
                              k in enumerate("AB")},
                             metrics=METRICS[0], difference=0.1),
    "odd groups": lambda: es.compare(TEXTS, REFERENCES, n_resamples=99,
                                     groups=["a\nb"] * 4 + [""] * 5).influence(),
}  # fmt: skip


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_json_is_read_back_as_the_same_result_in_every_form(make):
    check_forms(make())


def changed(path, value):
    """Return the JSON of a comparison with one place changed, or taken away."""
    made = place = json.loads(BASED.to_json())
    *parents, last = path
    for key in parents:
        place = place[key]
    place[last] = value
    if value is ...:
        del place[last]
    return json.dumps(made)


@pytest.mark.parametrize("path, value, message", [
    (("test",), ..., "it has no 'test'"),
    (("extra",), 1, "unknown field 'extra'"),
    (("confidence_level",), 1.5, "confidence_level must be from 0 to 1"),
    (("baseline",), "b\u202e", "baseline must be printable text on one line"),
    (("signatures",), [], "signatures must be one a task and metric"),
    (("notes",), "x", "notes must be a list, got 'x'"),
    (("estimates", 0, "score"), float("nan"), "score must be a finite number, got nan"),
    (("estimates", 0, "low"), float("inf"), "low must be a finite number, got inf"),
    (("estimates", 0, "score"), 0.25, r"differences\[0\] does not fit the other"),
    (("estimates", 0, "n_segments"), 0, r"estimates\[0\].n_segments must be at least 1"),
    (("estimates", 0, "higher_is_better"), 1, "higher_is_better must be true or false"),
    (("differences", 0, "pvalue"), -0.1, r"differences\[0\].pvalue must be from 0 to 1"),
    (("differences", 0, "difference"), 0.9,
     r"differences\[0\].difference does not fit the other fields"),
    (("differences", 0, "claim"), "not shown",
     r"differences\[0\].claim does not fit the other fields"),
    (("differences", 0, "significant"), 0,
     r"differences\[0\].significant does not fit the other fields"),
    (("differences", 0, "contrast"), "x", r"contrast must be one of difference, ratio, log-ratio"),
])  # fmt: skip
def test_what_no_comparison_is_is_refused(path, value, message):
    text = changed(path, value)
    with pytest.raises(InputError, match=f"cannot read Comparison from JSON: .*{message}"):
        es.Comparison.from_json(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, "1" * 5000, "NaN"])
def test_what_is_no_json_of_a_result_is_refused(text):
    for kind in (es.Comparison, es.Estimates, es.Estimate):
        with pytest.raises(InputError, match=f"cannot read {kind.__name__} from JSON"):
            kind.from_json(text)
        with pytest.raises(InputError, match="text must be a str of JSON, got bytes"):
            kind.from_json(text.encode())


def test_a_forged_field_gives_an_error_or_a_comparison_that_prints():
    rng = random.Random(4)
    for _ in range(50):
        made = mutations.mutated_json(rng, json.loads(BASED.to_json()))
        found, message = BASED, ""
        try:
            found = es.Comparison.from_json(json.dumps(made))
        except InputError as error:
            message = str(error)
        assert message.isprintable()
        assert str(found)
        assert found.to_latex()
        assert es.Comparison.from_json(found.to_json()) == found


def test_csv_and_data_frames_have_a_row_a_record():
    pytest.importorskip("pandas")
    audit = es.audit(TEXTS, REFERENCES, n_bootstrap=9, n_randomization=9, n_resamples=9)
    for result in (PAIRS, ESTIMATES, ESTIMATES[1], audit):
        frame = result.to_dataframe()
        written = list(DictReader(io.StringIO(result.to_csv())))
        whole = frame.astype(object).where(frame.notna(), "").to_dict("records")
        assert written == [{name: str(value) for name, value in row.items()} for row in whole]
    assert frame.to_dict("records") == [test.to_dict() for test in audit]
    assert ESTIMATES.to_dataframe()["system"].tolist() == list("abcabc")
    assert "notes" not in ESTIMATES.to_dataframe()
    frame = PAIRS.to_dataframe()
    for row, d in zip(frame.to_dict("records"), PAIRS, strict=True):
        for side in ("system", "baseline"):
            e = PAIRS.estimates[d.metric, row[side]]
            assert (row[f"{side}_low"], row[f"{side}_high"]) == (e.low, e.high)
        verdicts = row["significant"], row["claim"], row["n_segments"], row["gained"]
        assert verdicts == (PAIRS.significant(d), PAIRS.claim(d), 30, None)
        plain = d.to_dict()
        assert {name: row[name] for name in plain if name in row}.items() <= plain.items()
    assert frame["difference"].dtype == np.float64
    assert frame["significant"].dtype == bool
