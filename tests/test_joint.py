"""Claims under several metrics at once."""

import json

import numpy as np
import pytest

import evalstats as es


@pytest.fixture(scope="module")
def result(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    return es.compare(pair, sample.references, ["bleu", "ter"], n_resamples=199)


def test_the_largest_one_sided_p_value(result):
    claim = result.joint("clearly-better", "baseline")
    assert claim.metrics == ("BLEU", "TER")
    # Better is a greater BLEU and a smaller TER.
    assert claim.pvalues == tuple(d.pvalue / 2 for d in result)
    assert claim.pvalue == max(claim.pvalues)
    assert claim.significant
    other = result.joint("baseline", "clearly-better")
    assert other.pvalues == tuple(1 - d.pvalue / 2 for d in result)
    assert not other.significant
    assert str(other).startswith(
        "baseline is not shown to be better than clearly-better under each of BLEU, TER at 0.05: "
        "one-sided p = 1.0000, the largest of 1.0000 (BLEU), "
    )
    assert result.joint("clearly-better", "baseline", ["ter"]).metrics == ("TER",)
    assert other.to_dict()["pvalues"] == list(other.pvalues)
    assert "clearly-better" in other._repr_html_()


def test_every_form_has_each_metric_and_the_verdict(result):
    claim = result.joint("clearly-better", "baseline")
    for text in (claim.to_markdown(), claim.to_latex(), claim.to_html()):
        assert "BLEU" in text
        assert "TER" in text
        assert "clearly-better is better than baseline under each of" in text
    assert json.loads(claim.to_json()) == claim.to_dict()
    assert claim.to_dict()["significant"]
    header, *rows = claim.to_csv().splitlines()
    assert header == '"system","baseline","metric","pvalue"'
    assert [float(row.rpartition(",")[2]) for row in rows] == list(claim.pvalues)
    assert str(claim).startswith("clearly-better is better than baseline")


def test_a_loss_under_one_metric_is_enough_to_show_nothing(sample):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(2, 100))
    tables = [
        es.extract({"A": np.zeros(100), "B": shift + n}, metric=es.Mean(name))
        for name, shift, n in (("up", 1.0, noise[0]), ("down", -1.0, noise[1]))
    ]
    result = es.compare(tables, baseline="A", n_resamples=199)
    assert result.joint("B").pvalue > 0.99
    assert result.joint("B", metrics=["up"]).significant


@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_it_is_the_largest_of_one_sided_tests(test):
    """An intersection-union test at the level itself (Berger, 1982)."""
    rng = np.random.default_rng(11)
    old = rng.normal(size=60)
    tables = [
        es.extract({"old": old, "new": old + s + rng.normal(size=60)}, metric=es.Mean(name))
        for name, s in (("equal", 0.1), ("better", 0.5))
    ]
    claim = es.compare(tables, test=test, baseline="old").joint("new")
    sided = es.compare(tables, test=test, alternative="greater")
    assert claim.pvalues == pytest.approx([d.pvalue for d in sided])
    assert claim.pvalue == max(claim.pvalues)
    assert claim.significant == all(d.pvalue <= 0.05 for d in sided)


def test_bad_input(result, sample):
    for arguments, message in (
        (("nobody", "baseline"), "system must be one of baseline, clearly-better; got 'nobody'"),
        (("clearly-better", "baseline", ["chrf"]), "metric must be one of BLEU, TER; got 'chrf'"),
        (("clearly-better", "baseline", []), "metrics and task must not be empty"),
        (("clearly-better", "baseline", "ter"), "metrics must be a list of names, got the str"),
    ):
        with pytest.raises(es.InputError, match=message):
            result.joint(*arguments)
    one_sided = es.compare(
        {"A": [1.0, 2, 3], "B": [2.0, 2, 4]}, metrics=es.Mean("x"), alternative="greater"
    )
    with pytest.raises(es.InputError, match="compare with alternative='two-sided', got 'greater'"):
        one_sided.joint("B", "A")
