"""sacreBLEU 2 with the import changed: ``import evalstats.compat.sacrebleu as sacrebleu``.

The modules carry sacreBLEU's names. `metrics`, `significance` and `compat` count and resample here
and return sacreBLEU's own scores, signatures and results; `sacrebleu` has its command line, which
``python -m evalstats.compat.sacrebleu`` runs. Every other module and public name, such as `utils`
or those of test sets, is sacreBLEU's.

What stands behind them: `counting`, the statistics of a corpus; `twins`, our metric for an object
of sacreBLEU and back; `draws`, its random draws; `scores`, its arithmetic to the last bit; and
`paired`, its two tests. They use private names of sacreBLEU, which a contract test holds over the
oldest and the newest supported version.
"""

import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import sacrebleu as _theirs
from sacrebleu import __version__

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

_OURS = {module.name for module in walk_packages(__path__, f"{__name__}.")}  # noqa: F405
for _module in walk_packages(_theirs.__path__, "sacrebleu."):
    _name = __name__.removesuffix("sacrebleu") + _module.name
    _parent, _, _child = _name.rpartition(".")
    if _name not in _OURS and _child != "__main__":
        # A tokeniser whose package is missing raises sacreBLEU's error when it is imported.
        with suppress(ImportError, RuntimeError):
            sys.modules[_name] = import_module(_module.name)
            setattr(sys.modules[_parent], _child, sys.modules[_name])


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(_theirs, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_theirs, name)
