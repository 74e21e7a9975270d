"""Results as values: found by name, equal where their numbers are, and back out of JSON."""

import copy
import io
import json
import pickle
import random
from contextlib import suppress
from csv import DictReader
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.compat.evaluatio import paired
from evalstats.errors import InputError
from evalstats.pictures.marks import words
from evalstats.results import convert
from evalstats.results.records import Difference, loss_claim
from evalstats.results.tabular import p_is
from tests import mutations
from tests.helpers import refuses
from tests.results.test_every_result import RESULTS, check_forms

RNG = np.random.default_rng(4)
SCORES = {name: RNG.random(30) + 0.1 * i for i, name in enumerate("abc")}
TEXTS = {"A": ["a b c d e"] * 9, "B": ["a b c d f"] * 5 + ["a b c d e"] * 4}
REFERENCES = [["a b c d e", None], ["a b c d e", "a"]] * 4 + ["a b c d e"]
METRICS = [es.Mean("COMET"), es.Mean("errors", higher_is_better=False)]


def comparison(**options):
    return es.compare(SCORES, metrics=METRICS, n_resamples=99, **options)


PAIRS, BASED = comparison(), comparison(baseline="b")
ESTIMATES = es.estimate(SCORES, metric=METRICS, n_resamples=99)


def test_records_are_found_by_metric_system_and_baseline():
    assert PAIRS.estimates["comet", "b"] is PAIRS.estimates["COMET", "b"] is PAIRS.estimates[1]
    assert ESTIMATES["errors", "c"] is ESTIMATES[5]
    assert es.estimate(SCORES, metric=METRICS[0], n_resamples=99)["c"].system == "c"
    assert isinstance(PAIRS.estimates, es.Estimates)
    assert PAIRS.estimates[1:3] == (PAIRS.estimates[1], PAIRS.estimates[2])
    assert PAIRS.difference("COMET", "c", "a") is PAIRS["comet", "c", "a"] is PAIRS.differences[1]
    assert BASED.difference("errors", "c").baseline == BASED["errors", "c"].baseline == "b"


def test_metrics_are_found_by_the_names_that_were_asked_for():
    result = es.compare(TEXTS, REFERENCES, ["chrf", "chrf++", "bleu"], n_resamples=9)
    for asked, printed in (("chrf", "chrF2"), ("CHRF++", "chrF2++"), ("chrF2", "chrF2")):
        assert result[asked, "B"].metric == result.estimates[asked, "B"].metric == printed
        assert result.difference(asked).metric == result.influence(asked).metric == printed
    with pytest.raises(es.InputError, match=r"metric must be one of chrF2, .*; got 'chr'"):
        result["chr", "B"]


def test_a_pair_the_other_way_round_is_turned():
    orders = [{name: SCORES[name] for name in names} for names in ("ab", "ba")]
    result, turned = (es.compare(scores, metrics=METRICS[0]) for scores in orders)
    found, expected = result["COMET", "a", "b"], turned["COMET", "a", "b"]
    assert (found.system, found.baseline) == ("a", "b")
    for name in ("difference", "low", "high", "baseline_score"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=0.02)
    assert found.pvalue_adjusted == result["COMET", "b", "a"].pvalue_adjusted
    assert result.significant(found) == result.significant(result[0])
    assert result.influence("COMET", "a", "b").difference == found.difference
    assert BASED.difference("COMET", "b", "a") == BASED["COMET", "a"].turned()
    # What is gained one way is lost the other.
    counts = es.compare({"a": [1, 0, 1, 1], "b": [0, 0, 0, 1]}, metrics=es.Mean("m"))
    assert (counts["m", "a", "b"].gained, counts["m", "a", "b"].lost) == (2, 0)
    # One-sided tests and margins are about one of the two.
    for options in ({"alternative": "less"}, {"margin": 0.1}, {"recovery": 0.9}):
        one = es.compare(SCORES, metrics=METRICS[0], n_resamples=99, **options)
        with pytest.raises(es.InputError, match="only the difference of 'c' from 'a' was computed"):
            one["COMET", "a", "c"]


def test_a_difference_prints_as_a_sentence():
    (d,) = es.compare(TEXTS, REFERENCES, "bleu", n_resamples=99)
    shown = f"B - A: {d.difference:.2f} BLEU [{d.low:.2f}, 0.00], {p_is(d.pvalue)}"
    assert str(d) == shown
    # Defect: the adjusted p-value stood there, beside an interval that is not, without its name.
    apart = str(replace(d, pvalue=0.0312, pvalue_adjusted=0.9166))
    assert apart.endswith("0.00], p = 0.031 (0.92 adjusted for all comparisons)")
    assert words(shown) in d._repr_html_()
    assert str(replace(d, task="law")).startswith("law: B - A: ")


@pytest.mark.parametrize("key, message", [
    (("BLEU", "a"), "metric must be one of COMET, errors; got 'BLEU'"),
    (("COMET", "z"), "system must be one of a, b, c; got 'z'"),
    ("a", "^metric is missing; pass one of COMET, errors$"),
    ((1, 2, 3), r"a key must be a position or names \(a task, a metric"),
    (("COMET", "c", "x"), r"^baseline must be one of a, b, c; got 'x'$|must be one of"),
    (("COMET", "a", "a"), "there is no difference of 'a' from 'a'; available: 'b'|must be one of"),
])  # fmt: skip
def test_what_is_not_there_is_said_to_be_missing(key, message):
    refuses(message.partition("|")[0], PAIRS.__getitem__, key)
    refuses(message, ESTIMATES.__getitem__, key)
    refuses("baseline is missing; choose one of these 2 pairs", PAIRS.__getitem__, ("COMET", "c"))
    said = "there is no difference of 'c' from 'a'; available: 'a' from 'b'; "
    refuses(said, BASED.difference, "errors", "c", "a")
    refuses("metric must be one of COMET, errors; got 'BLEU'", BASED.difference, "BLEU")


def test_verdicts_are_of_adjusted_pvalues_and_claims_at_the_level_itself():
    level = BASED.significance_level
    above = float(np.nextafter(level, 1))

    def verdict(difference, pvalue, higher=True, least=0.0, n_differing=9):
        fields = {**vars(BASED[0]), "baseline_score": 0.0, "system_score": difference}
        fields |= {"higher_is_better": higher, "n_differing": n_differing}
        del fields["verdict"], fields["pvalue_adjusted"]
        return Difference.made(fields, pvalue, level, least).verdict

    for higher, best in ((True, 1.0), (False, -1.0)):
        assert verdict(best, level, higher) == "better"
        assert verdict(-best, level, higher) == "worse"
        assert verdict(best, above, higher) == "no evidence"
        assert verdict(0.0, level, higher) == "no evidence"
        assert verdict(best, above, higher, least=above) == "cannot tell"
    assert verdict(0.0, 1.0, n_differing=0) == "identical"
    claims = [loss_claim(p, None, level) for p in (level, above, None)]
    assert claims == ["not worse", "not shown", "not shown"]
    assert [loss_claim(p, p, level) for p in (level, above)] == ["equivalent", "not shown"]
    sure = es.compare({"a": [1.0, 2, 3] * 9, "b": [2.0, 3, 5] * 9}, metrics=es.Mean("m"))
    kinds = [(d.verdict, d.kind) for d in (*sure, sure[0].turned())]
    assert kinds == [("better", "better"), ("worse", "worse")]
    for d in (*BASED, *PAIRS, *sure):
        assert (d.kind != "open") == (d.pvalue_adjusted <= level)


def test_the_other_way_round_a_better_system_is_a_worse_one():
    turned = {"better": "worse", "worse": "better", "no evidence": "no evidence"}
    for verdict, d in product(turned, (*BASED, *PAIRS)):
        d = replace(d, verdict=verdict, gained=3, lost=1, claim="not worse", pvalue_not_worse=0.01)
        other = d.turned()
        assert other.verdict == turned[verdict]
        assert (other.gained, other.lost) == (d.lost, d.gained)
        assert (other.claim, other.is_tested) == ("", False)
        assert other.turned().difference == d.difference


MAKERS = {
    **RESULTS,
    "Difference": lambda: comparison().differences[0],
    "PairedTestResult": lambda: paired.paired_permutation_test(SCORES["a"], SCORES["b"]),
    "SegmentStatistics": lambda: es.extract(TEXTS, REFERENCES),
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
    more[0, 0, 1] += 1  # a longer reference, which any text may have
    assert table != replace(table, values=more)
    assert table != replace(table, fingerprint="other")


def marks(n_systems, n_tasks, metric=METRICS[0]):
    """Return a table of 0/1 scores a task."""
    rng = np.random.default_rng(3)
    names = dict(zip("abcd", (0.5, 0.7, 0.6, 0.4), strict=True))
    right = [{s: rng.random(60) < names[s] for s in "abcd"[:n_systems]} for _ in range(n_tasks)]
    return {task: es.extract(x, metric=metric) for task, x in zip("xyz", right, strict=False)}


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
    lambda: es.Suite(marks(2, 2)).compare(method="t", baseline="a", n_resamples=99),
    lambda: es.compare(TEXTS, REFERENCES, ["bleu", "chrf"], n_resamples=99),
    lambda: es.compare(TEXTS, REFERENCES, [es.BLEU(), es.BLEU(lowercase=True)], rng=2**70,
                       n_resamples=9),
])  # fmt: skip
def test_what_a_comparison_answers_is_read_back_and_has_the_same_columns(compare):
    for answer, like in zip(answers(compare), answers(comparison), strict=True):
        check_forms(answer)
        assert answer.to_csv().split("\n")[0] == like.to_csv().split("\n")[0]


def table(name):
    frame = [{"system": name, "segment": str(i), "pts": x} for i, x in enumerate(SCORES[name])]
    return pytest.importorskip("pandas").DataFrame(frame)


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
    (("test",), ..., "does not have the field 'test'"),
    (("extra",), 1, "unknown field 'extra'"),
    (("confidence_level",), 1.5, "confidence_level must be above 0"),
    (("confidence_level",), 0, "confidence_level must be above 0"),
    (("seed",), -5, "seed must be at least 0, got -5"),
    (("n_resamples",), -1, "n_resamples must be at least 0 and below"),
    (("baseline",), "b\u202e", "baseline must be printable"),
    (("signatures",), [], "signatures must have one entry per task and metric"),
    (("notes",), "x", "notes must be a list, got 'x'"),
    (("estimates", 0, "score"), float("nan"), "score must be a finite number, got nan"),
    (("estimates", 0, "low"), float("inf"), "low must be a finite number, got inf"),
    (("estimates", 0, "score"), 0.25, r"differences\[0\] contradicts the other"),
    (("estimates", 0, "n_segments"), 0, r"estimates\[0\].n_segments must be at least 1"),
    (("estimates", 0, "higher_is_better"), 1, "higher_is_better must be true or false"),
    (("estimates", 0, "standard_error"), -1.0, r"estimates\[0\].standard_error must be at least 0"),
    (("estimates", 0, "low"), 1e9, r"estimates\[0\]: low \(1000000000\) must not be above high"),
    (("estimates", 0, "n_segments"), 10**400, "n_segments must be at least 1 and below 2"),
    (("estimates", 1), json.loads(BASED.to_json())["estimates"][0], "estimates contains the same estimate twice"),
    (("differences", 0, "low"), 1e9, r"differences\[0\]: low \(1000000000\) must not be above high"),
    (("differences", 0, "n_differing"), -5000, r"n_differing must be at least 0"),
    (("differences", 0, "n_differing"), 31, r"differences\[0\] contradicts the other fields"),
    (("differences", 1), json.loads(BASED.to_json())["differences"][0], "differences contains the same difference twice"),
    (("differences", 0, "pvalue"), -0.1, r"differences\[0\].pvalue must be from 0 to 1"),
    (("differences", 0, "difference"), 0.9,
     r"differences\[0\].difference contradicts the other fields"),
    (("differences", 0, "claim"), "not shown", r"differences\[0\] contradicts the other fields"),
    (("differences", 0, "verdict"), "worse", r"differences\[0\] contradicts the other fields"),
    (("differences", 0, "verdict"), "identical", r"differences\[0\] contradicts the other fields"),
    (("test",), "", "test must be one of bootstrap, t, ar, "),
    (("alternative",), "both", "alternative must be one of two-sided, greater, less"),
    (("adjustment",), "bonferroni", "adjustment must be one of max-t, holm, "),
    (("differences", 0, "test"), "sign", r"differences\[0\].test must be one of bootstrap, t, ar"),
    (("differences", 0, "method"), "", r"differences\[0\].method must be one of bootstrap, "),
    (("differences", 0, "aggregate"), "median", r"aggregate must be one of micro, macro, weighted"),
    (("estimates", 0, "aggregate"), "", r"aggregate must be one of micro, macro, weighted, whole groups, got ''"),
    (("estimates", 0, "method"), "exact", r"estimates\[0\].method must be one of bootstrap, "),
    (("differences", 0, "verdict"), "superb", r"differences\[0\].verdict must be one of better, worse"),
])  # fmt: skip
def test_what_no_comparison_is_is_refused(path, value, message):
    text = changed(path, value)
    refuses(f"cannot read Comparison from JSON: .*{message}", es.Comparison.from_json, text)


def test_a_key_that_is_there_twice_is_refused():
    text = BASED.to_json().replace('"seed":', '"seed": 7, "seed":', 1)
    message = "cannot read Comparison from JSON: one of its objects has 'seed' twice"
    refuses(message, es.Comparison.from_json, text)


@pytest.mark.parametrize("make, field, value, message", [
    (lambda: PAIRS.power(0.1, metric="COMET"), "n_segments", 0, "n_segments must be at least 1"),
    (lambda: PAIRS.power(0.1, metric="COMET"), "target", 1.5, "target must be above 0 and at mo"),
    (lambda: PAIRS.ranking("COMET"), "confidence_level", 0, "confidence_level must be above 0 and"),
    (lambda: PAIRS.ranking("COMET"), "systems", [], "cannot read Ranking from JSON: it does not contain any rec"),
    (RESULTS["Looks"], "recovery", 1.5, "recovery must be above 0 and at most 1, got 1.5"),
    (lambda: RESULTS["Looks"]().last, "pvalue", 0.44,
     "verdict contradicts its p-values and level, which result in 'go on'"),
    (lambda: RESULTS["Looks"]().last, "verdict", "failed", "verdict contradicts its p-values.*level, which result in 'passed'"),
    (lambda: PAIRS.by([*"aabbcc"] * 5).heterogeneity(), "tests", [], "Heterogeneity .* it does not contain any rec"),
    (lambda: PAIRS.ranking("COMET").systems[0], "low", 9, r"low \(9\) must not be above high "),
    (lambda: PAIRS.joint("c", "a"), "significant", 0, "significant contradicts the other fields"),
    (lambda: PAIRS.influence("COMET", "c", "a"), "pvalue", 2.0, "pvalue must be from 0 to 1"),
    (lambda: es.gate(table("c"), table("a"), margin=0.1, directions={"pts": "higher"}),
     "significance_level", 0.0, "significance_level must be above 0"),
    (lambda: es.gate(table("c"), table("a"), margin=0.1, directions={"pts": "higher"})[0],
     "pvalue_failed", 0.9, "must be those of the difference"),
])  # fmt: skip
def test_numbers_of_other_results_are_in_their_range(make, field, value, message):
    result = make()
    plain = result.to_dict() | {field: value}
    refuses(message, convert.from_json, type(result), json.dumps(plain))


LEVELS = st.sampled_from([1e-20, 0.05, 0.5, 0.95, 1 - 2**-53])
CALLS = {
    "compare": {"alternative": st.sampled_from(["two-sided", "greater", "less"]),
                "method": st.sampled_from(["bootstrap", "t"]),
                "adjustment": st.sampled_from(["max-t", "holm", "bh", "none"]),
                "confidence_level": LEVELS,
                "margin": st.sampled_from([1e-9, 0.1, 1e9]),
                "rng": st.sampled_from([0, 2**128 - 1])},
    "estimate": {"method": st.sampled_from(["bootstrap", "t"]),
                 "confidence_level": LEVELS},
}  # fmt: skip
SCORE = st.sampled_from([0.0, 1.0, 0.5, 1e-9, 1e9]) | st.floats(0.0, 1.0)


@settings(max_examples=12, deadline=None)
@given(st.data())
@pytest.mark.filterwarnings("ignore")
def test_whatever_the_library_writes_it_reads(data):
    n = data.draw(st.integers(2, 12))
    rows = st.lists(SCORE, min_size=n, max_size=n)
    scores = {name: data.draw(rows) for name in "abc"[: data.draw(st.integers(2, 3))]}
    runs = data.draw(st.booleans())
    if runs:
        scores = {name: [own, own[::-1]] for name, own in scores.items()}
    shared = {"n_resamples": 19}
    if not runs and n >= 4 and data.draw(st.booleans()):
        shared |= {data.draw(st.sampled_from(["groups", "strata"])): [i % 2 for i in range(n)]}
    results = [es.estimate(scores, None, MARK, **shared)]
    with suppress(InputError):
        results.append(es.estimate(scores, None, MARK, **shared, **drawn(data, "estimate")))
    with suppress(InputError):
        compared = es.compare(scores, None, MARK, **shared, **drawn(data, "compare"))
        results.append(compared)
        for ask in (compared.ranking, compared.power, lambda: compared.influence(system="b",
                    baseline="a"), lambda: compared.joint("a", "b")):  # fmt: skip
            with suppress(InputError):
                results.append(ask())
    for result in results:
        assert type(result).from_json(result.to_json()) == result


MARK = es.Mean("mark")


def drawn(data, call):
    """Return some of the options of a call, drawn."""
    names = data.draw(st.sets(st.sampled_from(sorted(CALLS[call])), max_size=3))
    return {name: data.draw(CALLS[call][name]) for name in sorted(names)}


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, "1" * 5000, "NaN"])
def test_what_is_no_json_of_a_result_is_refused(text):
    for kind in (es.Comparison, es.Estimates, es.Estimate):
        refuses(f"cannot read {kind.__name__} from JSON", kind.from_json, text)
        refuses("text must be a str of JSON, got bytes", kind.from_json, text.encode())


def test_a_forged_field_gives_an_error_or_a_comparison_that_prints():
    rng = random.Random(4)
    for _ in range(25):
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
    for result in (PAIRS, ESTIMATES, ESTIMATES[1]):
        frame = result.to_dataframe()
        written = list(DictReader(io.StringIO(result.to_csv())))
        whole = frame.astype(object).where(frame.notna(), "").to_dict("records")
        assert written == [{name: str(value) for name, value in row.items()} for row in whole]
    assert ESTIMATES.to_dataframe()["system"].tolist() == list("abcabc")
    assert "notes" not in ESTIMATES.to_dataframe()
    frame = PAIRS.to_dataframe()
    for row, d in zip(frame.to_dict("records"), PAIRS, strict=True):
        for side in ("system", "baseline"):
            e = PAIRS.estimates[d.metric, row[side]]
            assert (row[f"{side}_low"], row[f"{side}_high"]) == (e.low, e.high)
        assert (row["verdict"], row["claim"], row["n_segments"]) == (d.verdict, d.claim, 30)
        plain = d.to_dict()
        assert {name: row[name] for name in plain if name in row}.items() <= plain.items()
    assert frame["difference"].dtype == np.float64


def test_the_correlation_is_that_of_the_scores_and_gives_the_error_of_the_difference():
    """Of means it is Pearson's (Miller, 2024); of ratios as well, by the delta method."""
    rng = np.random.default_rng(8)
    a = rng.normal(9, 1, 200)
    scores = {"a": a, "b": 0.6 * a + rng.normal(4, 0.8, 200), "c": 20 - a}
    result = es.compare(scores, metrics=es.Mean("m"), n_resamples=99)
    for d in result:
        expected = np.corrcoef(scores[d.baseline], scores[d.system])[0, 1]
        assert result.correlation(d) == pytest.approx(expected, abs=1e-9)
        assert result.correlation(d.turned()) == pytest.approx(expected, abs=1e-9)
    written = [row["correlation"] for row in result.to_dict()["differences"]]
    assert written == [result.correlation(d) for d in result]
    rows = list(DictReader(io.StringIO(result.to_csv())))
    assert float(rows[0]["correlation"]) == result.correlation(result[0])
    assert es.Comparison.from_json(result.to_json()) == result
    text = result.to_text(verbose=True)
    assert "std. error  correlation" in text
    assert f"{result[0].standard_error:.5f}"[:5] in text
    assert "correlation" not in str(result)
    same = es.compare({"a": [1.0, 1, 1], "b": [2.0, 3, 4]}, metrics=es.Mean("m"), n_resamples=9)
    assert same.correlation(same[0]) is None
    assert "  -  " in same.to_text(verbose=True)


def test_a_notebook_completes_the_names_in_brackets():
    scores = {"A": [3.0, 4, 5], "B": [3.5, 4.5, 5]}
    result = es.compare(scores, metrics=[es.Mean("x"), es.Mean("y")], n_resamples=99)
    for found in (result, result.estimates):
        keys = found._ipython_key_completions_()
        assert [found[key] for key in keys] == list(found)
    tasks = {name: es.extract(scores, metric=es.Mean("x")) for name in ("law", "art")}
    keys = es.Suite(tasks).compare(n_resamples=99)._ipython_key_completions_()
    assert {("x", "B", "A"), ("law", "x", "B", "A"), ("both tasks", "x", "B", "A")} <= set(keys)
