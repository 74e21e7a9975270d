"""sacreBLEU's object for a metric of ours, and ours for an object of sacreBLEU."""

from __future__ import annotations

from typing import Any

from evalstats.compat.sacrebleu import private
from evalstats.errors import InputError
from evalstats.metrics.base import Metric
from evalstats.metrics.bleu import BLEU
from evalstats.metrics.chrf import CHRF
from evalstats.metrics.ter import TER

_CHRF_OPTIONS = ("char_order", "word_order", "beta", "lowercase", "whitespace", "eps_smoothing")
_TER_OPTIONS = ("normalized", "no_punct", "asian_support", "case_sensitive")
_BLEU_OPTIONS = (
    "lowercase",
    "smooth_method",
    "smooth_value",
    "max_ngram_order",
    "effective_order",
)


def to_sacrebleu(metric: Metric) -> Any:
    """Return sacreBLEU's object with the same settings.

    Raises
    ------
    InputError
        For a metric that sacreBLEU does not have.
    """
    from sacrebleu.metrics import bleu, chrf, ter

    if type(metric) is BLEU:
        options = {name: getattr(metric, name) for name in _BLEU_OPTIONS}
        return bleu.BLEU(tokenize=metric.tokenizer, force=True, **options)
    if type(metric) is CHRF:
        return chrf.CHRF(**{name: getattr(metric, name) for name in _CHRF_OPTIONS})
    if type(metric) is TER:
        return ter.TER(**{name: getattr(metric, name) for name in _TER_OPTIONS})
    raise InputError(f"sacreBLEU has BLEU, chrF and TER, and no {metric.name}")


def from_sacrebleu(metric: Any) -> Metric | None:
    """Return our metric with the settings that sacreBLEU's object has now.

    `None` for what is not exactly one of sacreBLEU's three metrics: a subclass may count otherwise.

    Raises
    ------
    InputError
        For settings that are out of range, where sacreBLEU would go on.
    """
    kind = private.kind_of(metric)
    if kind == "BLEU":
        tokenize = private.tokenizer_name(metric.tokenizer)
        if tokenize is None:
            return None
        options = {name: getattr(metric, name) for name in _BLEU_OPTIONS}
        return BLEU(tokenize=tokenize, **options)
    if kind == "CHRF":
        return CHRF(**{name: getattr(metric, name) for name in _CHRF_OPTIONS})
    if kind == "TER":
        return TER(**{name: getattr(metric, name) for name in _TER_OPTIONS})
    return None
