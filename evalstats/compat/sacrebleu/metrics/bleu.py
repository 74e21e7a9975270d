"""`sacrebleu.metrics.bleu` with `BLEU` from here; all else is sacreBLEU's."""

from typing import Any

from sacrebleu.metrics import bleu as _theirs

from evalstats.compat.sacrebleu.metrics import BLEU

__all__ = ["BLEU"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)
