"""sacreBLEU 2 with the import changed: ``import evalstats.compat.sacrebleu as sacrebleu``.

The modules carry sacreBLEU's names: `metrics`, `significance` and `compat`. Scores, signatures and
results are sacreBLEU's own objects; what is counted and resampled is counted and resampled here.
Every other public name, such as those of test sets, is sacreBLEU's.
"""

from typing import Any

import sacrebleu
from sacrebleu import __version__

from evalstats.compat.sacrebleu import compat, metrics, significance
from evalstats.compat.sacrebleu.compat import (
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
    raw_corpus_bleu,
    sentence_bleu,
    sentence_chrf,
    sentence_ter,
)
from evalstats.compat.sacrebleu.metrics import BLEU, CHRF, TER

__all__ = [
    "BLEU",
    "CHRF",
    "TER",
    "__version__",
    "compat",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "metrics",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
    "significance",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(sacrebleu, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(sacrebleu, name)
