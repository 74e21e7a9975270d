"""BLEU, as in ``evaluatio.metrics.bleu``; the functions are `evalstats.bleu_ci` and its twin."""

from evalstats.analysis.bleu import ConfidenceInterval, bleu_bootstrap_test, bleu_ci

__all__ = ["ConfidenceInterval", "bleu_bootstrap_test", "bleu_ci"]
