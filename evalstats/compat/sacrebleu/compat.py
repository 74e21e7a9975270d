"""`sacrebleu.compat`: one function a metric, for a corpus and for a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalstats.compat.sacrebleu.counting import Streams
from evalstats.compat.sacrebleu.metrics import BLEU, CHRF, TER

__all__ = [
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
]


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Streams,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str | None = "13a",
    use_effective_order: bool = False,
) -> Any:
    """Return `BLEU(...).corpus_score(hypotheses, references)`.

    Examples
    --------
    >>> corpus_bleu(["the cat sat on a mat"], [["the cat sat on the mat"]])
    BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    """
    metric = BLEU(
        lowercase, force, tokenize, smooth_method, smooth_value, effective_order=use_effective_order
    )
    return metric.corpus_score(hypotheses, references)


def raw_corpus_bleu(
    hypotheses: Sequence[str], references: Streams, smooth_value: float | None = 0.1
) -> Any:
    """Return corpus BLEU of text as it is: no tokeniser, floor smoothing, effective order."""
    return corpus_bleu(hypotheses, references, "floor", smooth_value, True, False, "none", True)


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str | None = "13a",
    use_effective_order: bool = True,
) -> Any:
    """Return `BLEU(...).sentence_score(hypothesis, references)`."""
    metric = BLEU(
        lowercase, False, tokenize, smooth_method, smooth_value, effective_order=use_effective_order
    )
    return metric.sentence_score(hypothesis, references)


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Streams,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> Any:
    """Return `CHRF(...).corpus_score(hypotheses, references)`."""
    metric = CHRF(char_order, word_order, beta, False, not remove_whitespace, eps_smoothing)
    return metric.corpus_score(hypotheses, references)


def sentence_chrf(
    hypothesis: str,
    references: Sequence[str],
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> Any:
    """Return `CHRF(...).sentence_score(hypothesis, references)`."""
    metric = CHRF(char_order, word_order, beta, False, not remove_whitespace, eps_smoothing)
    return metric.sentence_score(hypothesis, references)


def corpus_ter(
    hypotheses: Sequence[str],
    references: Streams,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Any:
    """Return `TER(...).corpus_score(hypotheses, references)`."""
    metric = TER(normalized, no_punct, asian_support, case_sensitive)
    return metric.corpus_score(hypotheses, references)


def sentence_ter(
    hypothesis: str,
    references: Sequence[str],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Any:
    """Return `TER(...).sentence_score(hypothesis, references)`."""
    metric = TER(normalized, no_punct, asian_support, case_sensitive)
    return metric.sentence_score(hypothesis, references)
