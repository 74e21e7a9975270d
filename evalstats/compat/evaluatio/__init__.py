"""evaluatio 0.5.2, module by module: `evalstats.compat.evaluatio.metrics.wer` and so on.

Names, arguments and numbers are evaluatio's. `iterations` is the number of resamples, at least 1;
`alpha`, between 0 and 1, is 0.05 for a 95 % interval. Whatever is resampled also takes `rng`, a
seed or a `numpy.random.Generator`; without it every call gives the same, and `None` asks for fresh
entropy.

Where evaluatio truncates its input or panics, an `InputError` (a `ValueError`) or an
`InputTypeError` (a `TypeError` as well) names the argument: for lists of different lengths, nothing
to resample, scores that are not finite, numbers out of range, bare strings in the place of lists.

Examples
--------
>>> from evalstats.compat.evaluatio.metrics.wer import word_error_rate, word_error_rate_ci
>>> word_error_rate(["hello world", "a b c"], ["hello work", "a b c"])
0.2
"""

from evalstats.compat import add_modules

_PER_TOKEN = "{0}_edit_distance_per_pair {0}_error_rate {0}_error_rate_ci {0}_error_rate_per_pair"

#: File and names of each of evaluatio's modules; `alignment` is a file of its own.
_MODULES = {
    "effect_size.cohen": ("effects", "cohens_d cohens_d_independent cohens_d_paired"),
    "inference.ci": ("scores", "ConfidenceInterval bootstrap_confidence_interval error_rate_ci"),
    "inference.hypothesis": ("scores", "paired_bootstrap_test paired_permutation_test"),
    "inference.multiple_testing": (
        "effects",
        "MultipleTestingResult bonferroni_correction holm_correction",
    ),
    "metrics.bleu": ("corpora", "ConfidenceInterval bleu_bootstrap_test bleu_ci"),
    "metrics.chrf": ("corpora", "ConfidenceInterval chrf_ci chrf_permutation_test"),
    "metrics.pier": ("alignment", "poi_edit_distance poi_error_rate"),
    "metrics.wer": ("rates", "ConfidenceInterval " + _PER_TOKEN.format("word")),
    "metrics.cer": ("rates", "ConfidenceInterval " + _PER_TOKEN.format("character")),
    "metrics.uer": ("rates", "ConfidenceInterval " + _PER_TOKEN.format("universal")),
}

add_modules(
    __name__, {path: (f"{__name__}.{file}", names) for path, (file, names) in _MODULES.items()}
)
