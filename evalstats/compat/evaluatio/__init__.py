"""evaluatio 0.5.2, module by module: `evalstats.compat.evaluatio.metrics.wer` and so on.

Names, arguments and numbers are evaluatio's. `iterations` is the number of resamples, at least 1;
`alpha`, between 0 and 1, is 0.05 for a 95% interval. Whatever is resampled also takes `rng`, a
seed or a `numpy.random.Generator`; without it every call gives the same, and `None` asks for fresh
entropy.

If evaluatio would truncate its input or panic, an `InputError` (a `ValueError`) or an
`InputTypeError` (also a `TypeError`) names the argument: for lists of different lengths, empty
input, scores that are not finite, numbers out of range, and bare strings instead of lists.

Examples
--------
>>> from evalstats.compat.evaluatio.metrics.wer import word_error_rate, word_error_rate_ci
>>> word_error_rate(["hello world", "a b c"], ["hello work", "a b c"])
0.2
"""

from evalstats.compat import add_modules

_PER_TOKEN = "{0}_edit_distance_per_pair {0}_error_rate {0}_error_rate_ci {0}_error_rate_per_pair"

#: The names of each of evaluatio's modules.
_MODULES = {
    "alignment": "Alignment optimal_alignment",
    "effect_size.cohen": "cohens_d cohens_d_independent cohens_d_paired",
    "inference.ci": "ConfidenceInterval bootstrap_confidence_interval error_rate_ci",
    "inference.hypothesis": "paired_bootstrap_test paired_permutation_test",
    "inference.multiple_testing": "MultipleTestingResult bonferroni_correction holm_correction",
    "metrics.bleu": "ConfidenceInterval bleu_bootstrap_test bleu_ci",
    "metrics.chrf": "ConfidenceInterval chrf_ci chrf_permutation_test",
    "metrics.pier": "poi_edit_distance poi_error_rate",
    "metrics.wer": "ConfidenceInterval " + _PER_TOKEN.format("word"),
    "metrics.cer": "ConfidenceInterval " + _PER_TOKEN.format("character"),
    "metrics.uer": "ConfidenceInterval " + _PER_TOKEN.format("universal"),
}
add_modules(__name__, {path: (f"{__name__}.scores", names) for path, names in _MODULES.items()})
