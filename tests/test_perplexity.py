"""Perplexity and bits per unit: the harness's numbers, and what is refused."""

import json
import math

import numpy as np
import pytest

import evalstats as es
from tests.conftest import WMT

HARNESS = WMT / "runs" / "lm_eval_dummy"


def score(metric, rows):
    return float(metric.score(metric.statistics(rows).sum(axis=0)))


def test_perplexity_of_a_coin():
    # Ten fair coins a word: 2^10 equally likely words.
    rows = [(-n * 10 * math.log(2), n) for n in (3, 5, 12)]
    assert score(es.Perplexity("word"), rows) == pytest.approx(1024)
    assert score(es.BitsPerUnit("word"), rows) == pytest.approx(10)
    losses = [(-ll, n) for ll, n in rows]
    assert score(es.Perplexity("word", nll=True), losses) == pytest.approx(1024)


def test_perplexity_of_items_is_the_harness_perplexity():
    found = [-0.3, -2.5, -0.01]
    assert score(es.Perplexity("item"), found) == pytest.approx(math.exp(-np.mean(found)))


@pytest.mark.parametrize("run", ["run_1", "run_2"])
def test_rows_of_lm_evaluation_harness_give_its_scores(run):
    folder = HARNESS / run / "dummy"
    if not folder.is_dir():
        pytest.skip(f"needs logs in {HARNESS}")
    (results,), (samples,) = (list(folder.glob(p)) for p in ("results*", "samples_my_lm*"))
    expected = json.loads(results.read_text())["results"]["my_lm"]
    logged = [json.loads(line) for line in samples.read_text().splitlines()]
    for name, metric in {
        "word_perplexity": es.Perplexity("word"),
        "byte_perplexity": es.Perplexity("byte"),
        "bits_per_byte": es.BitsPerUnit("byte"),
    }.items():
        found = es.estimate([row[name] for row in logged], metric=metric, n_resamples=199)
        assert found.score == pytest.approx(expected[f"{name},none"], rel=1e-12)
        assert found.low < found.score < found.high


def test_pairs_are_rows_and_not_runs():
    rng = np.random.default_rng(1)
    units = rng.integers(5, 50, size=200)
    systems = {
        name: [[-nats * n, int(n)] for n, nats in zip(units, rng.gamma(9, size, 200), strict=True)]
        for name, size in {"A": 0.3, "B": 0.25}.items()
    }
    result = es.compare(systems, metrics=es.Perplexity("token"), n_resamples=499)
    assert [e.n_segments for e in result.estimates] == [200, 200]
    (difference,) = result
    assert difference.high < 0
    assert difference.winner == "B"
    runs = {name: [rows, rows[::-1]] for name, rows in systems.items()}
    assert es.compare(runs, metrics=es.Perplexity("token")).estimates[0].run_error is not None


def test_files_rebuild_the_metric(tmp_path):
    for metric in (es.Perplexity("word", nll=True), es.BitsPerUnit("character")):
        table = es.extract({"A": np.array([[0.0, 3], [0.0, 2]])}, metric=metric)
        table.save(tmp_path / "a.npz")
        assert es.SegmentStatistics.load(tmp_path / "a.npz").metric == metric
    es.SegmentStatistics([[[-1.0, 2.0]]], ["A"], metric).save(tmp_path / "b.npz")
    with pytest.raises(es.InputError, match="is negative, but likelihoods are at most 1"):
        es.SegmentStatistics.load(tmp_path / "b.npz")


def test_a_perplexity_beyond_all_numbers_is_refused_by_name():
    with pytest.raises(es.InputError, match=r"word perplexity of the corpus .* is not finite"):
        es.estimate([[-1e4, 2], [-1e4, 3]], metric=es.Perplexity("word"))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: es.Perplexity("sentence"), "unit must be one of word, byte, .*'sentence'"),
        (lambda: es.Perplexity(nll="yes"), "nll must be True or False"),
        (lambda: es.Perplexity().statistics([[-1, 2], [3, 4]]),
         r"log-likelihoods\[1\] is 3, and a log-likelihood must be at most 0; say nll=True"),
        (lambda: es.BitsPerUnit(nll=True).statistics([[-1, 2]]),
         r"log-likelihoods\[0\] is -1, and a negative log-likelihood must be at least 0; say nll=F"),
        (lambda: es.Perplexity("word").statistics([[-1, 2], [-1, 0]]),
         r"log-likelihoods\[1\] has 0 words; every row must be \(log-likelihood, number of words\)"),
        (lambda: es.Perplexity("word").statistics([-1, -2]), r"must have shape \(N, 2\), got \(2,\)"),
        (lambda: es.Perplexity("item").statistics([[-1, 2]]), r"must have shape \(N,\), got \(1, 2"),
        (lambda: es.Perplexity("item").statistics([-1, float("-inf")]), r"\[1\] is -inf; scores"),
        (lambda: es.Perplexity().statistics([]), "log-likelihoods is empty"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(es.InputError, match=message):
        make()
