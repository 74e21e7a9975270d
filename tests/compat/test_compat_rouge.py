"""The drop-in for rouge_score: tokenizers of one's own, the aggregator, and what is refused."""

import pytest

import evalstats as es
from evalstats.compat.rouge_score import rouge_scorer, scoring, tokenizers
from evalstats.metrics.rouge import VARIANTS

TYPES = [f"rouge{variant}" for variant in VARIANTS]


def test_tokenizers_of_ones_own():
    class Characters(tokenizers.Tokenizer):
        def tokenize(self, text):
            return list(text)

    scorer = rouge_scorer.RougeScorer(TYPES, tokenizer=Characters())
    assert scorer.score("kitten", "sitting")["rougeL"] == pytest.approx((4 / 7, 4 / 6, 8 / 13))
    assert tokenizers.DefaultTokenizer(True).tokenize("The Ponies ran.") == ["the", "poni", "ran"]


def test_the_aggregator_gives_means_and_percentiles():
    aggregator = scoring.BootstrapAggregator(confidence_interval=0.9)
    for row in ((1, 1 / 3, 1 / 2), (0, 0, 0), (1, 1, 1)):
        aggregator.add_scores({"rouge1": scoring.Score(*row)})
    found = aggregator.aggregate()["rouge1"]
    # As in the test of rouge_score.
    assert found.low == pytest.approx((1 / 3, 1 / 9, 1 / 6))
    assert found.mid == pytest.approx((2 / 3, 4 / 9, 3 / 6))
    assert found.high == pytest.approx((1, 7 / 9, 5 / 6))
    assert aggregator.aggregate() == {"rouge1": found}
    assert type(found.mid) is scoring.Score


def test_the_drop_in_refuses_what_cannot_be():
    for wrong in ("rougen", "rouge0", "rouge10"):
        with pytest.raises(ValueError, match=r"rouge_types must be among rouge1, .*; got"):
            rouge_scorer.RougeScorer([wrong])
    with pytest.raises(
        es.InputError, match=r"split_summaries must be False: .*one sentence a line"
    ):
        rouge_scorer.RougeScorer(["rougeLsum"], split_summaries=True)
    scorer = rouge_scorer.RougeScorer(["rouge1"])
    with pytest.raises(es.InputError, match="target must be a string, got NoneType"):
        scorer.score(None, "a")
    with pytest.raises(es.InputError, match="targets is empty; give at least one target"):
        scorer.score_multi([], "a")
    with pytest.raises(es.InputError, match="confidence_interval"):
        scoring.BootstrapAggregator(1.5)
    with pytest.raises(es.InputError, match="n_samples"):
        scoring.BootstrapAggregator(n_samples=0)
