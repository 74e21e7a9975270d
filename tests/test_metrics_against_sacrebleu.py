"""Statistics and scores of BLEU, chrF and TER are sacreBLEU's."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from tests import naive
from tests.conftest import SACREBLEU_METRICS, TEXT_METRICS, metric_id, nasty_corpora


@settings(max_examples=25)
@given(corpus=nasty_corpora)
@pytest.mark.parametrize("metric", SACREBLEU_METRICS, ids=metric_id)
def test_statistics_of_nasty_text(metric, corpus):
    hypotheses, references = corpus
    expected = naive.sacrebleu_statistics(metric, hypotheses, references)
    rows = metric.statistics(hypotheses, references)
    assert rows.shape == (len(hypotheses), len(metric.columns))
    np.testing.assert_array_equal(rows, expected)
    if metric.name == "TER" and not rows.any():
        return  # Nothing against nothing: 0 for us and sacreBLEU 2.4 and later, 100 before.
    score = naive.sacrebleu_score(metric, expected.sum(axis=0))
    assert metric.score(rows.sum(axis=0)) == pytest.approx(score, abs=1e-9)


BLEU_SETTINGS = [
    es.BLEU(smooth_method=smooth, smooth_value=value, max_ngram_order=order, effective_order=eff)
    for (smooth, value), order, eff in itertools.product(
        [("exp", None), ("none", None), ("floor", None), ("floor", 0.0), ("floor", 0.5),
         ("add-k", None), ("add-k", 0.0), ("add-k", 0.3)],
        [1, 2, 4, 9],
        [False, True],
    )
]  # fmt: skip


@st.composite
def bleu_totals(draw, order):
    """Draw totals as BLEU statistics can be: matches at most totals, totals falling by order."""
    total = sorted(draw(st.lists(st.integers(0, 9), min_size=order, max_size=order)), reverse=True)
    correct = [draw(st.integers(0, t)) for t in total]
    return [draw(st.integers(0, 12)), draw(st.integers(0, 12)), *correct, *total]


@settings(max_examples=10)
@given(data=st.data())
@pytest.mark.parametrize("metric", BLEU_SETTINGS, ids=repr)
def test_bleu_score_for_every_setting(metric, data):
    totals = data.draw(bleu_totals(metric.max_ngram_order))
    expected = naive.sacrebleu_score(metric, [float(t) for t in totals])
    assert metric.score(totals) == pytest.approx(expected, abs=1e-9)


CHRF_SETTINGS = [
    es.CHRF(char_order=c, word_order=w, beta=beta, eps_smoothing=eps)
    for (c, w), beta, eps in itertools.product(
        [(6, 0), (6, 2), (1, 0), (0, 1)], [0, 0.5, 1, 2, 3], [False, True]
    )
]


@settings(max_examples=10)
@given(data=st.data())
@pytest.mark.parametrize("metric", CHRF_SETTINGS, ids=repr)
def test_chrf_score_for_every_setting(metric, data):
    totals = []
    for _ in range(metric.char_order + metric.word_order):
        hyp, ref = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
        totals += [hyp, ref, data.draw(st.integers(0, min(hyp, ref)))]
    assert metric.score(totals) == pytest.approx(naive.sacrebleu_score(metric, totals), abs=1e-9)


@given(st.integers(0, 9), st.fractions(0, 9))
def test_ter_score(edits, length):
    totals = [float(edits), float(length)]
    if not any(totals):
        assert es.TER().score(totals) == 0
        return
    assert es.TER().score(totals) == pytest.approx(naive.sacrebleu_score(es.TER(), totals))


@pytest.mark.parametrize("text_metric", [*TEXT_METRICS, es.BLEU(max_ngram_order=9)], ids=metric_id)
def test_a_score_of_many_rows_is_the_score_of_each_row(text_metric):
    rng = np.random.default_rng(3)
    totals = rng.integers(0, 40, size=(5, 7, len(text_metric.columns)))
    scores = text_metric.score(totals)
    assert scores.shape == (5, 7)
    for index in np.ndindex(5, 7):
        assert scores[index] == text_metric.score(totals[index])


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.thorough)])
def test_wmt_published_scores(published_scores, en_de, en_zh, step):
    """Published scores of both pairs, BLEU and chrF, references A, B and both."""
    sets = {"en-de": en_de, "en-zh": en_zh}
    references = {(pair, r): sets[pair].prepared(r) for pair in sets for r in ("A", "B", "all")}
    worst = 0.0
    assert len(published_scores) == 132
    for row in published_scores[::step]:
        kind, label = row["metric"].split("-")
        metric = es.CHRF() if kind == "chrf" else es.BLEU(trg_lang=row["pair"][-2:])
        hypotheses = sets[row["pair"]].systems[row["system"]]
        rows = metric.statistics(hypotheses, references[row["pair"], label])
        worst = max(worst, abs(float(metric.score(rows.sum(axis=0))) - float(row["score"])))
    assert worst < 1e-9


@pytest.mark.parametrize("metric", SACREBLEU_METRICS, ids=metric_id)
def test_signature_is_sacrebleus(metric):
    twin = naive.sacrebleu_twin(metric)
    twin.num_refs = 1
    theirs = dict(part.split(":") for part in str(twin.get_signature()).split("|"))
    ours = dict(part.split(":") for part in metric.signature.split("|"))
    assert ours.pop("sacrebleu") == theirs.pop("version")
    assert theirs.pop("nrefs") == "1"
    # The order is ours: sacreBLEU's signature does not tell it.
    ours.pop("order", None)
    assert ours == theirs
