"""sacreBLEU 2 with the import changed: ``import evalstats.compat.sacrebleu as sacrebleu``.

The modules carry sacreBLEU's names. `metrics`, `significance` and `compat` count and resample here
and return sacreBLEU's own scores, signatures and results; every other module and public name, such
as `utils` or those of test sets, is sacreBLEU's. ``python -m evalstats.compat.sacrebleu`` is its
command line with paired tests that are computed here.

What stands behind them: `twins`, our metric for an object of sacreBLEU and back; `draws`, its
random draws and p-values; `scores`, its arithmetic to the last bit. They use private names of
sacreBLEU, which a contract test holds over the oldest and the newest supported version.
"""

import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import sacrebleu as _theirs
from sacrebleu import __version__

from evalstats.compat.sacrebleu import compat, metrics, significance
from evalstats.compat.sacrebleu.compat import *  # noqa: F403
from evalstats.compat.sacrebleu.metrics import BLEU, CHRF, METRICS, TER

__all__ = ["BLEU", "CHRF", "TER", "__version__", "compat", "metrics", "significance"]
__all__ += compat.__all__

for _module in walk_packages(_theirs.__path__, "sacrebleu."):
    _name = __name__.removesuffix("sacrebleu") + _module.name
    _parent, _, _child = _name.rpartition(".")
    # Its command line changes how the process handles SIGPIPE when it is loaded.
    if _name in sys.modules or _child in ("__main__", "sacrebleu"):
        continue
    # A tokeniser whose package is missing raises sacreBLEU's error when it is imported.
    with suppress(ImportError, RuntimeError):
        _loaded = import_module(_module.name)
        if _child.upper() in METRICS:
            _ours = ModuleType(_name, f"`{_module.name}` with our `{_child.upper()}`.")
            vars(_ours).update({k: v for k, v in vars(_loaded).items() if not k.startswith("__")})
            setattr(_ours, _child.upper(), METRICS[_child.upper()])
            _loaded = _ours
        sys.modules[_name] = _loaded
        setattr(sys.modules[_parent], _child, _loaded)


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(_theirs, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_theirs, name)
