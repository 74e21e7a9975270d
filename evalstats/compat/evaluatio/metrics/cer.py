"""Character error rate, as in ``evaluatio.metrics.cer``; new code may prefer `evalstats.CER`.

Characters are code points, white space included; all else is as in `wer`.

Examples
--------
>>> character_error_rate_per_pair(["aaaaaa", "aa"], ["aaabbb", "aa"])
[0.5, 0.0]
"""

from evalstats.compat.evaluatio._rates import CHARACTERS, ConfidenceInterval

__all__ = [
    "ConfidenceInterval",
    "character_edit_distance_per_pair",
    "character_error_rate",
    "character_error_rate_ci",
    "character_error_rate_per_pair",
]

character_edit_distance_per_pair = CHARACTERS.edits_per_pair
character_error_rate = CHARACTERS.rate
character_error_rate_ci = CHARACTERS.interval
character_error_rate_per_pair = CHARACTERS.rate_per_pair
