"""sacreBLEU 2 with the import changed: ``import evalstats.compat.sacrebleu as sacrebleu``.

The modules carry sacreBLEU's names. `metrics`, `significance` and `compat` count and resample here
and return sacreBLEU's own scores, signatures and results. Every other module and public name, such
as `utils` or those of test sets, is sacreBLEU's.

What stands behind them: `counting`, the statistics of a corpus; `twins`, our metric for an object
of sacreBLEU and back; `draws`, its random draws; `scores`, its arithmetic to the last bit; and
`paired`, its two tests. They use private names of sacreBLEU, which a contract test holds over the
oldest and the newest supported version.
"""

import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import sacrebleu as _theirs
from sacrebleu import __version__, tokenizers

from evalstats.compat.sacrebleu import compat, metrics, significance
from evalstats.compat.sacrebleu.compat import *  # noqa: F403
from evalstats.compat.sacrebleu.metrics import BLEU, CHRF, TER

__all__ = [
    "BLEU",
    "CHRF",
    "TER",
    "__version__",
    "compat",
    "metrics",
    "significance",
    *compat.__all__,
]

_TOKENIZERS = [f"tokenizers.{module.name}" for module in iter_modules(tokenizers.__path__)]
for _name in ("utils", "metrics.base", "metrics.helpers", "tokenizers", *_TOKENIZERS):
    # The tokeniser of a language whose package is missing raises sacreBLEU's error when imported.
    with suppress(ImportError, RuntimeError):
        sys.modules[f"{__name__}.{_name}"] = import_module(f"sacrebleu.{_name}")


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(_theirs, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_theirs, name)
