"""What we use of sacreBLEU's private names, held over the oldest and the newest version.

Run with sacreBLEU 2.3.0 as well: `pip install sacrebleu==2.3.0` and this file alone.
"""

import sacrebleu
import sacrebleu.metrics as sacre
from sacrebleu.tokenizers import tokenizer_zh

from evalstats.text import tokenization

HYPOTHESES = ["the cat sat on a mat", "no", ""]
STREAMS = [["the cat sat on the mat", "no", "yes"], ["a cat", None, None]]


def test_segment_statistics_have_the_layout_we_rely_on():
    for metric, segment, expected in (
        (sacre.BLEU(), 0, [6, 6, 6, 3, 2, 1, 6, 5, 4, 3]),
        (sacre.CHRF(char_order=1, word_order=1), 1, [2, 2, 2, 1, 1, 1]),
        (sacre.TER(), 0, [1, 4.0]),
    ):
        rows = metric._extract_corpus_statistics(HYPOTHESES, STREAMS)
        assert rows[segment] == expected
    # Absent references are dropped, empty ones are kept.
    cached = sacre.BLEU()._cache_references([["a b", ""], [None, "c"]])
    assert [info["ref_lens"] for info in cached] == [[2], [0, 1]]


def test_tokenisers():
    assert {"none", "zh", "13a", "intl", "char"} <= set(tokenization.tokenizer_names())
    assert tokenization.sacrebleu_tokenizer("13a")("a,b").split() == ["a", ",", "b"]
    assert all(low <= high for low, high in tokenizer_zh._UCODE_RANGES)
    assert tokenization.sacrebleu_version() == sacrebleu.__version__
    normalized = tokenization.tercom_tokens(["It's 3.5, (OK)"], True, False, False, False)
    assert normalized.lists() == [["it", "'s", "3.5", ",", "(", "ok", ")"]]
