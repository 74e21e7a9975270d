"""rouge_score itself, text by text, side by side with the metric and the drop-in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.compat.rouge_score import rouge_scorer
from evalstats.metrics.rouge import MEASURES, VARIANTS
from tests.conftest import nasty_corpora

theirs = pytest.importorskip("rouge_score.rouge_scorer", reason="needs the extra peers")


@settings(max_examples=100)
@given(nasty_corpora, st.sampled_from(VARIANTS), st.booleans())
def test_scores_to_the_last_bit(corpus, variant, stemmer):
    texts, entries = corpus
    references = es.References(
        [[t.replace(" ", "\n", 3) for t in row] for row in es.References(entries)]
    )
    scorers = [
        kind([f"rouge{variant}"], stemmer)
        for kind in (theirs.RougeScorer, rouge_scorer.RougeScorer)
    ]
    expected, found = (
        [
            tuple(*s.score_multi(row, text).values())
            for row, text in zip(references, texts, strict=True)
        ]
        for s in scorers
    )
    assert found == expected
    for measure, place in zip(MEASURES, (2, 0, 1), strict=True):
        metric = es.ROUGE(variant, stemmer, measure)
        assert metric.statistics(texts, references)[:, 0].tolist() == [
            row[place] for row in expected
        ]
