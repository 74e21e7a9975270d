"""Universal error rate: tokens of any kind, as in ``evaluatio.metrics.uer``.

References and hypotheses are N sequences of tokens each, and tokens are the same where ``==`` says
so; all else is as in `wer`. New code may prefer `evalstats.token_edits` with `Ratio`.

Examples
--------
>>> universal_error_rate_per_pair([["a", 1], [None]], [["a", 2], [None]])
[0.5, 0.0]
"""

from evalstats.compat.evaluatio._rates import TOKENS, ConfidenceInterval

__all__ = [
    "ConfidenceInterval",
    "universal_edit_distance_per_pair",
    "universal_error_rate",
    "universal_error_rate_ci",
    "universal_error_rate_per_pair",
]

universal_edit_distance_per_pair = TOKENS.edits_per_pair
universal_error_rate = TOKENS.rate
universal_error_rate_ci = TOKENS.interval
universal_error_rate_per_pair = TOKENS.rate_per_pair
