"""Drop-in replacements for peers, under their own module paths: only the import changes.

- `sacrebleu`: metrics, significance tests and functions of sacreBLEU, paired tests of its command
- `evaluatio`: metrics, intervals, tests and effect sizes of evaluatio
- `sentence_bleu`: BLEU of single sentences, from text or token lists, as in three peers
- `smoothing`: smoothing for sentence BLEU, by the names of three peers
- `nltk`: `nltk.translate.bleu_score`
- `axion`: axion's SentenceBleu and LevenshteinRatio, its items and its runner
- `futureagi`: Future AGI's BLEUScore

May import every room but `training`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any


def add_modules(package: str, table: Mapping[str, tuple[str, str]]) -> None:
    """Make modules at a peer's paths, `{path: (file, names)}`; names are loaded on demand.

    They can be imported like files, ``import package.path`` and ``from package.path import name``.
    """
    for path, (file, names) in table.items():
        module = package
        for part in path.split("."):
            parent, module = module, f"{module}.{part}"
            made = sys.modules.setdefault(module, ModuleType(module, f"Names of `{path}`."))
            setattr(sys.modules[parent], part, made)
        public = names.split()
        vars(made).update(__all__=public, __getattr__=partial(_from_file, module, file, public))


def _from_file(module: str, file: str, names: list[str], name: str) -> Any:
    if name not in names:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return getattr(import_module(file), name)
