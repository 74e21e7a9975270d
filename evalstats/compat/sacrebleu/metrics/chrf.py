"""`sacrebleu.metrics.chrf` with `CHRF` from here; all else is sacreBLEU's."""

from typing import Any

from sacrebleu.metrics import chrf as _theirs

from evalstats.compat.sacrebleu.metrics import CHRF

__all__ = ["CHRF"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)
