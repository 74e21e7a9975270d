"""sacreBLEU's object for a metric of ours, and ours for an object of sacreBLEU."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any, cast

from evalstats.errors import InputError
from evalstats.metrics.base import Metric
from evalstats.metrics.bleu import BLEU
from evalstats.metrics.chrf import CHRF
from evalstats.metrics.error_rates import TER

#: Our metrics by the names of sacreBLEU's classes.
OURS: dict[str, type[Metric]] = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}


def to_sacrebleu(metric: Metric) -> Any:
    """Return sacreBLEU's object with the same settings, or raise `InputError` if it has none."""
    from sacrebleu.metrics import METRICS

    for kind, ours in OURS.items():
        if type(metric) is ours:
            options = _options(ours, metric)
            if isinstance(metric, BLEU):
                options.update(tokenize=metric.tokenizer, force=True)
            return METRICS[kind](**options)
    raise InputError(f"sacreBLEU has BLEU, chrF and TER, and no {metric.name}")


def from_sacrebleu(metric: Any) -> Metric | None:
    """Return our metric with the settings that sacreBLEU's object has now.

    `None` for what may count otherwise: an object of a derived class, or one with a tokeniser that
    is not sacreBLEU's. Settings out of range, where sacreBLEU would go on, raise an `InputError`.
    """
    kind = kind_of(metric)
    if kind is None:
        return None
    options = _options(OURS[kind], metric)
    if kind != "BLEU":
        return OURS[kind](**options)
    name = tokenizer_name(metric.tokenizer)
    return None if name is None else BLEU(tokenize=name, **options)


def kind_of(metric: object) -> str | None:
    """Return "BLEU", "CHRF" or "TER" for sacreBLEU's own class or ours, which has it as `kind`.

    A class derived from either may count or score otherwise.
    """
    from sacrebleu.metrics import METRICS

    for name, theirs in METRICS.items():
        if type(metric) is theirs or vars(type(metric)).get("kind") == name:
            return str(name)
    return None


def tokenizer_name(made: object) -> str | None:
    """Return the name of one of sacreBLEU's tokenisers, `None` for an object of another class."""
    from sacrebleu.metrics import bleu

    for name, path in bleu._TOKENIZERS.items():
        module, _, class_name = path.rpartition(".")
        # A class that has an object is loaded.
        loaded = sys.modules.get(f"sacrebleu.tokenizers.{module}")
        if type(made) is getattr(loaded, class_name, None):
            return str(name)
    return None


def _options(ours: type[Metric], metric: object) -> dict[str, Any]:
    """Return the settings that both have, by the fields of our metric."""
    names = {field.name for field in fields(cast(Any, ours))} - {"tokenize", "trg_lang"}
    return {name: getattr(metric, name) for name in names}
