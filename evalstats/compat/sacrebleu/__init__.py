"""sacreBLEU 2 with the import changed: ``import evalstats.compat.sacrebleu as sacrebleu``.

The modules have sacreBLEU's names. `metrics`, `significance` and `compat` count and resample with
evalstats and return sacreBLEU's own scores, signatures and results; all other modules and public
names, such as `utils` and test sets, come from sacreBLEU. ``python -m evalstats.compat.sacrebleu``
is its command line with paired tests computed by evalstats.

The implementation is in `draws`: our metric for an object of sacreBLEU, and its draws, p-values and
arithmetic to the last bit. It uses private names of sacreBLEU, which a contract test checks with
the oldest and the newest supported version.
"""

import sys
from contextlib import suppress
from functools import update_wrapper
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType, ModuleType
from typing import Any

import sacrebleu as _theirs
from sacrebleu import __version__

from evalstats.compat.sacrebleu import metrics, significance
from evalstats.compat.sacrebleu.metrics import BLEU, CHRF, METRICS, TER

#: Functions for a corpus and for a sentence, for each metric; also in `compat`.
_FUNCTIONS = [
    *("corpus_bleu", "corpus_chrf", "corpus_ter"),
    *("raw_corpus_bleu", "sentence_bleu", "sentence_chrf", "sentence_ter"),
]
__all__ = ["BLEU", "CHRF", "TER", "__version__", "compat", "metrics", "significance"]
__all__ += _FUNCTIONS


def _with_our_metrics(theirs: ModuleType, name: str) -> ModuleType:
    """Return a module of sacreBLEU whose functions find our classes by their names."""
    names = {k: METRICS.get(k, v) for k, v in vars(theirs).items() if not k.startswith("__")}
    made = ModuleType(name, f"`{theirs.__name__}` with our metrics.")
    vars(made).update(names)
    for key, value in names.items():
        if isinstance(value, FunctionType) and value.__module__ == theirs.__name__:
            function = FunctionType(value.__code__, vars(made), None, value.__defaults__)
            setattr(made, key, update_wrapper(function, value))
    return made


for _module in walk_packages(_theirs.__path__, "sacrebleu."):
    _name = __name__.removesuffix("sacrebleu") + _module.name
    _parent, _, _child = _name.rpartition(".")
    # Not its command line: loading it changes how the process handles SIGPIPE.
    if _name in sys.modules or _child in ("__main__", "sacrebleu"):
        continue
    # A tokeniser whose package is missing raises sacreBLEU's error when it is imported.
    with suppress(ImportError, RuntimeError):
        _loaded = import_module(_module.name)
        if _child == "compat" or _child.upper() in METRICS:
            _loaded = _with_our_metrics(_loaded, _name)
        sys.modules[_name] = _loaded
        setattr(sys.modules[_parent], _child, _loaded)

compat = sys.modules[f"{__name__}.compat"]
vars(compat)["__all__"] = _FUNCTIONS
globals().update({_name: getattr(compat, _name) for _name in _FUNCTIONS})


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in vars(_theirs):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_theirs, name)
