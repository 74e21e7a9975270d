"""`sacrebleu.compat`: a function for a corpus and one for a sentence, of each of our metrics."""

from functools import update_wrapper
from types import FunctionType
from typing import Any

from sacrebleu import compat as _theirs

from evalstats.compat.sacrebleu.metrics import METRICS

__all__ = [
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
]

_NAMESPACE = {**vars(_theirs), **METRICS}


def _with_our_metrics(function: Any) -> Any:
    """Return sacreBLEU's function, which finds our classes by the names of its own."""
    ours = FunctionType(function.__code__, _NAMESPACE, None, function.__defaults__)
    _NAMESPACE[function.__name__] = update_wrapper(ours, function)
    return ours


corpus_bleu = _with_our_metrics(_theirs.corpus_bleu)
raw_corpus_bleu = _with_our_metrics(_theirs.raw_corpus_bleu)  # calls corpus_bleu
sentence_bleu = _with_our_metrics(_theirs.sentence_bleu)
corpus_chrf = _with_our_metrics(_theirs.corpus_chrf)
sentence_chrf = _with_our_metrics(_theirs.sentence_chrf)
corpus_ter = _with_our_metrics(_theirs.corpus_ter)
sentence_ter = _with_our_metrics(_theirs.sentence_ter)
