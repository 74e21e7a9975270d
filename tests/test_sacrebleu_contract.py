"""What we use of sacreBLEU's private names, held over the oldest and the newest version.

Run with sacreBLEU 2.3.0 as well: `pip install sacrebleu==2.3.0` and this file alone.
"""

import numpy as np
import pytest
import sacrebleu
import sacrebleu.metrics as sacre
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a as Theirs

from evalstats.compat.sacrebleu import twins
from evalstats.compat.sacrebleu.draws import Counted
from evalstats.compat.sacrebleu.metrics import count
from evalstats.compat.sacrebleu.scores import scores_of_totals
from evalstats.errors import InputError
from evalstats.text import sacrebleu as tokenizers
from evalstats.text.references import References

REFERENCES = References([["the cat sat on the mat", "a cat"], [None, "no"], ["yes"]])
HYPOTHESES = ["the cat sat on a mat", "no", ""]


def test_segment_statistics_have_the_layout_we_rely_on():
    for metric, segment, expected in (
        (sacre.BLEU(), 0, [6, 6, 6, 3, 2, 1, 6, 5, 4, 3]),
        (sacre.CHRF(char_order=1, word_order=1), 1, [2, 2, 2, 1, 1, 1]),
        (sacre.TER(), 0, [1, 4.0]),
    ):
        rows = metric._extract_corpus_statistics(HYPOTHESES, REFERENCES.streams())
        assert rows[segment] == expected


def test_absent_references_are_dropped_and_empty_ones_are_kept():
    cached = sacre.BLEU()._cache_references([["a b", ""], [None, "c"]])
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

    class Tokenizer13a(Theirs):
        """A class of one's own that has sacreBLEU's name."""

    kinds = [twins.kind_of(metric()) for metric in (sacre.BLEU, sacre.CHRF, sacre.TER, Derived)]
    assert kinds == ["BLEU", "CHRF", "TER", None]
    for name in ("none", "zh", "13a", "intl", "char"):
        assert twins.tokenizer_name(sacre.BLEU(tokenize=name).tokenizer) == name
    assert twins.tokenizer_name(str) is twins.tokenizer_name(Tokenizer13a()) is None


def test_statistics_are_counted_and_scored_by_sacrebleu():
    streams = REFERENCES.streams()
    for metric in (sacre.BLEU(smooth_method="add-k"), sacre.CHRF(), sacre.TER()):
        rows = np.array(metric._extract_corpus_statistics(HYPOTHESES, streams))
        expected = metric.corpus_score(HYPOTHESES, streams)
        assert vars(Counted(metric, rows).score) == vars(expected)
        totals = rows.sum(axis=0, keepdims=True)
        assert scores_of_totals(metric, totals).tolist() == [expected.score]


def test_references_that_a_metric_keeps():
    kept = sacre.TER(references=REFERENCES.streams())
    assert len(count(kept, HYPOTHESES, None)) == 3
    with pytest.raises(InputError, match="the metric was made without references"):
        count(sacre.TER(), HYPOTHESES, None)
