"""The module that `evaluate` copies into its cache and runs there; it calls evalstats."""

from __future__ import annotations

from typing import Any

from evalstats.errors import MissingExtraError
from evalstats.integrations.evaluate import metric_named, scored

try:
    import evaluate
    from datasets import Features, Sequence, Value
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.evaluate requires evaluate: pip install evaluate"
    ) from error

_DESCRIPTION = """\
The score of a corpus with its confidence interval, by evalstats: BLEU, chrF and TER as sacreBLEU's.
"""
_INPUTS = """
Args:
    predictions: texts, one per segment. references: a text for each, or a list of texts.
    confidence_level, method, n_resamples, groups, strata, rng: as in `evalstats.estimate`.
Returns:
    The score under the metric's name, such as 'bleu', and 'bleu_low', 'bleu_high' and
    'bleu_standard_error'.
"""


class EvalstatsScore(evaluate.Metric):
    """The score of one of `evalstats`' metrics; the configuration is its name."""

    def _info(self) -> Any:
        """Return the description of the module for `evaluate`."""
        self._metric = metric_named(self.config_name)
        text = Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=[
                Features({"predictions": text, "references": references})
                for references in (Sequence(text), text)
            ],
        )

    def _compute(self, *, predictions: Any, references: Any, **options: Any) -> dict[str, float]:
        """Return the score and its interval."""
        return scored(self._metric, predictions, references, **options)
