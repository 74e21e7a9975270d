"""evaluatio 0.5.2, module by module: `evalstats.compat.evaluatio.metrics.wer` and so on.

Names, arguments and numbers are evaluatio's. Whatever is resampled also takes `rng` and is the same
at every call. Where evaluatio truncates its input or panics, an `InputError` (a `ValueError`) or an
`InputTypeError` (a `TypeError` as well) names the argument.
"""
