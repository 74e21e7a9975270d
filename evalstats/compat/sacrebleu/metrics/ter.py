"""`sacrebleu.metrics.ter` with `TER` from here; all else is sacreBLEU's."""

from typing import Any

from sacrebleu.metrics import ter as _theirs

from evalstats.compat.sacrebleu.metrics import TER

__all__ = ["TER"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)
