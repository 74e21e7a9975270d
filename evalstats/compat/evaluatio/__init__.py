"""evaluatio 0.5.2, module by module: `evalstats.compat.evaluatio.metrics.wer` and so on.

Names, arguments and numbers are evaluatio's. `iterations` is the number of resamples, at least 1;
`alpha`, between 0 and 1, is 0.05 for a 95 % interval. Whatever is resampled also takes `rng`, a
seed or a `numpy.random.Generator`; without it every call gives the same, and `None` asks for fresh
entropy.

Where evaluatio truncates its input or panics, an `InputError` (a `ValueError`) or an
`InputTypeError` (a `TypeError` as well) names the argument: for lists of different lengths, nothing
to resample, scores that are not finite, numbers out of range, bare strings in the place of lists.
"""
