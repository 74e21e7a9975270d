"""What we use of sacreBLEU's private names, held over the oldest and the newest version.

Run with sacreBLEU 2.3.0 as well: `pip install sacrebleu==2.3.0` and this file alone.
"""

import numpy as np
import pytest
import sacrebleu
import sacrebleu.metrics as sacre

from evalstats.compat.sacrebleu import private
from evalstats.errors import InputError
from evalstats.text import sacrebleu as tokenizers
from evalstats.text.references import References

REFERENCES = References([["the cat sat on the mat", "a cat"], [None, "no"], ["yes"]])
HYPOTHESES = ["the cat sat on a mat", "no", ""]


def test_segment_statistics_have_the_layout_we_rely_on():
    rows = sacre.BLEU()._extract_corpus_statistics(HYPOTHESES, REFERENCES.streams())
    assert rows[0] == [6, 6, 6, 3, 2, 1, 6, 5, 4, 3]
    rows = sacre.CHRF(char_order=1, word_order=1)._extract_corpus_statistics(
        HYPOTHESES, REFERENCES.streams()
    )
    assert rows[1] == [2, 2, 2, 1, 1, 1]
    rows = sacre.TER()._extract_corpus_statistics(HYPOTHESES, REFERENCES.streams())
    assert rows[0] == [1, 4.0]


def test_absent_references_are_dropped_and_empty_ones_are_kept():
    scorer = sacre.BLEU()
    cached = scorer._cache_references([["a b", ""], [None, "c"]])
    assert [info["ref_lens"] for info in cached] == [[2], [0, 1]]


def test_tokenisers_are_known_by_name():
    assert {"none", "zh", "13a", "intl", "char"} <= set(tokenizers.tokenizer_names())
    assert tokenizers.tokenizer("13a")("a,b").split() == ["a", ",", "b"]
    assert all(low <= high for low, high in tokenizers.chinese_ranges())
    assert tokenizers.version() == sacrebleu.__version__


def test_tercom_tokeniser():
    tokenizer = tokenizers.tercom_tokenizer(
        normalized=True, no_punct=False, asian_support=False, case_sensitive=False
    )
    assert tokenizer("It's 3.5, (OK)") == "it 's 3.5 , ( ok )"


def test_what_scores_and_counts_is_known_by_its_class():
    class Derived(sacre.BLEU):
        pass

    assert [private.kind_of(m) for m in (sacre.BLEU(), sacre.CHRF(), sacre.TER())] == [
        "BLEU",
        "CHRF",
        "TER",
    ]
    assert private.kind_of(Derived()) is None
    for name in ("none", "zh", "13a", "intl", "char"):
        assert private.tokenizer_name(sacre.BLEU(tokenize=name).tokenizer) == name
    assert private.tokenizer_name(str) is None


def test_statistics_are_counted_and_scored_by_sacrebleu():
    streams = REFERENCES.streams()
    for metric in (sacre.BLEU(smooth_method="add-k"), sacre.CHRF(), sacre.TER()):
        rows = np.array(private.segment_statistics(metric, HYPOTHESES, streams))
        expected = metric.corpus_score(HYPOTHESES, streams)
        assert vars(private.score_of_segments(metric, rows)) == vars(expected)
        totals = rows.sum(axis=0, keepdims=True)
        assert private.scores_one_by_one(metric, totals) == [expected.score]
        assert np.all(rows.sum(axis=0, keepdims=True) == totals)


def test_references_that_a_metric_keeps():
    kept = sacre.TER(references=REFERENCES.streams())
    assert private.n_kept_references(kept) == 3
    assert len(private.segment_statistics(kept, HYPOTHESES, None)) == 3
    with pytest.raises(InputError, match="the metric was made without references"):
        private.n_kept_references(sacre.TER())
