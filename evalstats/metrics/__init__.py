"""Metrics, one file per family: statistics of every segment, and the score of their sums.

- `base`: the base class of metrics, and signatures as records
- `directions`: whether higher is better, by the name of a metric
- `bleu`, `smoothing`: corpus BLEU and its smoothing methods
- `chrf`: chrF and chrF++
- `error_rates`: WER, CER and edits of any tokens; TER
- `rouge`: ROUGE-N, -L and -Lsum
- `ratios`: means and ratios of scores computed elsewhere; the mean score of several runs
- `probabilities`: Brier score and ECE; perplexity and bits per unit, from log-likelihoods
- `confusion`: pairs of predicted and gold values; scores of predicted classes
- `numbers`: Pearson's correlation and RMSE of predicted numbers

May import `text`, `checks` and `errors`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from evalstats.checks import expected, required, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Metric, check_metric, scores_of
from evalstats.metrics.bleu import BLEU
from evalstats.metrics.chrf import CHRF
from evalstats.metrics.confusion import Confusion
from evalstats.metrics.error_rates import CER, TER, WER
from evalstats.metrics.numbers import RMSE, Correlation
from evalstats.metrics.probabilities import ECE, BitsPerUnit, Brier, Perplexity
from evalstats.metrics.ratios import Mean, Ratio
from evalstats.metrics.rouge import ROUGE

#: The metrics of this room. Files can rebuild them, and the fields of text metrics are options on
#: the command line.
BUILT_IN: tuple[type[Metric], ...] = (
    *(BLEU, CHRF, TER, WER, CER, ROUGE),
    *(Mean, Ratio, Perplexity, BitsPerUnit, Confusion, Correlation, RMSE, Brier, ECE),
)
#: Metrics of designs, with their modules, which are loaded when first used.
OF_DESIGNS = {
    **dict.fromkeys(("PassAll", "PassAny", "FlipRate"), "evalstats.designs.trials.metrics"),
    "Agreement": "evalstats.designs.raters",
}
#: Metrics that can be given by name, with the options that the name sets; case does not matter.
NAMED: dict[str, partial[Any]] = {
    "bleu": partial(BLEU),
    "chrf": partial(CHRF),
    "chrf++": partial(CHRF, word_order=2),
    "ter": partial(TER),
    "wer": partial(WER),
    "cer": partial(CER),
    **{f"rouge{v}": partial(ROUGE, variant=v) for v in ("1", "2", "L", "Lsum")},
}

#: Names in lower case, with the names printed in tables.
_SPELLED = {
    **{name.lower(): name for name in NAMED},
    **{f"rouge-{v}": f"rouge{v}" for v in ("1", "2")},
    **{"rouge-l": "rougeL", "rouge-lsum": "rougeLsum", "chrf2": "chrf", "chrf2++": "chrf++"},
}


def is_built_in(metric: Metric) -> bool:
    """Return whether a metric belongs to this library and is not a subclass."""
    kind = type(metric)
    return kind in BUILT_IN or kind.__module__ == OF_DESIGNS.get(kind.__name__)


def written(name: str) -> str:
    """Return the name in `NAMED` for a printed name, or else the name in lower case."""
    return _SPELLED.get(name.lower(), name.lower())


def as_metric(metric: object) -> Metric:
    """Return a metric, given its name or a configured object."""
    if isinstance(metric, Metric):
        return check_metric(metric)
    if isinstance(metric, str):
        name = written(metric)
        if name in NAMED:
            made: Metric = NAMED[name]()
            return made
        more = (
            "To use scores that were computed elsewhere, pass one per segment as outputs, with "
            "metric="
        )
        more += f"evalstats.Mean({shown(metric, 60)})"
        raise InputError(expected(metric, NAMED, more), argument="metric")
    if isinstance(metric, type) and issubclass(metric, Metric):
        needed = ", ".join(f"{name}=..." for name in required(metric))
        raise InputTypeError(
            f"must be an object, got the class itself; use {metric.__name__}({needed})",
            argument="metric",
        )
    kind = type(metric).__name__
    more = f"; pass {kind}.scores(...) as outputs and evalstats.Mean({kind!r}) as metric"
    more = more if hasattr(metric, "scores") else ""
    raise InputTypeError(f"must be a name or a Metric object, got {kind}{more}", argument="metric")


__all__ = [
    "BLEU",
    "BUILT_IN",
    "CER",
    "CHRF",
    "ECE",
    "NAMED",
    "OF_DESIGNS",
    "RMSE",
    "ROUGE",
    "TER",
    "WER",
    "BitsPerUnit",
    "Brier",
    "Confusion",
    "Correlation",
    "Mean",
    "Metric",
    "Perplexity",
    "Ratio",
    "as_metric",
    "is_built_in",
    "scores_of",
    "written",
]
