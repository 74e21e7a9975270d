"""Word error rate, as in ``evaluatio.metrics.wer``; new code may prefer `evalstats.WER`.

References and hypotheses are N strings each, and words are what white space separates. Rates are
fractions and may exceed 1: infinite against an empty reference, NaN for nothing against nothing.
Lists of different lengths or of anything but strings raise an `InputError`; so does an interval of
which one resample has nothing but empty pairs.

Examples
--------
>>> references, hypotheses = ["hello world", "a b c"], ["hello work", "a b c"]
>>> word_edit_distance_per_pair(references, hypotheses)
[1, 0]
>>> word_error_rate_per_pair(references, hypotheses)
[0.5, 0.0]
>>> word_error_rate(references, hypotheses)
0.2
>>> ci = word_error_rate_ci(references, hypotheses, iterations=1000, alpha=0.05)
>>> ci.lower <= ci.mean <= ci.upper
True
"""

from evalstats.compat.evaluatio._rates import WORDS, ConfidenceInterval

__all__ = [
    "ConfidenceInterval",
    "word_edit_distance_per_pair",
    "word_error_rate",
    "word_error_rate_ci",
    "word_error_rate_per_pair",
]

word_edit_distance_per_pair = WORDS.edits_per_pair
word_error_rate = WORDS.rate
word_error_rate_ci = WORDS.interval
word_error_rate_per_pair = WORDS.rate_per_pair
