"""Whether higher is better, by the words in the name of a metric."""

from __future__ import annotations

import re
from itertools import pairwise

from evalstats.checks import flag

WORD = re.compile(r"[^\W\d_]+\d*[^\W\d_]*|\d+")


def words(name: str) -> frozenset[str]:
    """Return the words of a name: "MetricX-24_hybrid" has metricx, 24, hybrid."""
    return frozenset(WORD.findall(name.casefold()))


LOWER = words(
    "error errors err loss losses perplexity ppl bpb bits nll mae mse rmse ece brier ter wer cer "
    "der mer jer hter cpwer tcpwer orcwer tcorcwer mimower tcmimower dicpwer edits distance "
    "latency runtime penalty toxicity toxic failed failure failures hallucination hallucinations "
    "hallucinated harm harms harmful harmfulness bias biased"
)
HIGHER = words(
    "acc accuracy bleu sacrebleu chrf comet cometkiwi xcomet bleurt bertscore gemba esa meteor "
    "rouge rougel rougelsum exact match em f1 precision recall auc auroc ndcg mrr mcc kappa "
    "correlation pass passed correct reward yisi success successes succeeded solved resolved win "
    "wins won"
)
#: These words only show that a column has scores.
_ANY = words("score scores scr mark marks rating ratings")
#: Lower is better, but a column with these words is not taken for scores beside others.
COSTS = words("cost costs time times duration")
#: Before a word these mean the opposite: "not harmful", "no hallucination".
_NOT = words("no not non")
#: Names of error counts that are often given with a negative sign.
TURNED = ("metricx", "mqm")


def direction(name: str, largest: float | None = None) -> bool | None:
    """Return whether higher is better for a metric with this name; None if unknown.

    `largest` is the largest of its scores: MetricX and MQM count errors, but if none of their
    scores is above 0, the sign was reversed. A name with words for both directions has no known
    direction.

    >>> [direction(name) for name in ("word_perplexity", "WER norm", "chrF++", "judge", "score")]
    [False, False, True, None, True]
    """
    if name.endswith(("↑", "↓")):
        return name.endswith("↑")
    parts = words(name)
    stems = {*parts, *(word.rstrip("0123456789") for word in parts)}
    if any(word.startswith(TURNED) for word in stems):
        return None if largest is None else largest <= 0 or (None if "mqm" in stems else False)
    lower = bool(stems & LOWER) or name.casefold() == "per"
    higher = bool(stems & HIGHER)
    pairs = pairwise(WORD.findall(name.casefold()))
    if any(first in _NOT and second in LOWER | HIGHER for first, second in pairs):
        return None
    if lower or higher:
        return higher if lower != higher else None
    if stems & COSTS:
        return False
    return True if stems & _ANY else None


def as_direction(higher_is_better: object, name: str) -> bool:
    """Return the given direction, or by default whether the name does not mean the opposite."""
    if higher_is_better is None:
        return direction(name) is not False
    return flag(higher_is_better, "higher_is_better")
