"""`sacrebleu.metrics`: sacreBLEU's classes, counted and resampled by evalstats.

Each derives from sacreBLEU's class, so that scores, `format()`, signatures and `isinstance` are its
own. Settings and texts that sacreBLEU would bend raise an `InputError`.
"""

from sacrebleu.metrics import base, helpers
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.metrics.chrf import CHRFScore
from sacrebleu.metrics.ter import TERScore

from evalstats.compat.sacrebleu.metrics.bleu import BLEU
from evalstats.compat.sacrebleu.metrics.chrf import CHRF
from evalstats.compat.sacrebleu.metrics.ter import TER

__all__ = [
    "BLEU",
    "CHRF",
    "METRICS",
    "TER",
    "BLEUScore",
    "CHRFScore",
    "TERScore",
    "base",
    "helpers",
]

METRICS = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
