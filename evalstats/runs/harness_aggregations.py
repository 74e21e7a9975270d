"""Which metric of sums each aggregation of lm-evaluation-harness is.

Those that it registers are known by name; a function of a task's own is recognised by the score
that it made, or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import BLEU, CHRF, TER, BitsPerUnit, Perplexity
from evalstats.runs.harness_labels import all_labels, confusion, f1, labels_of, mcc
from evalstats.runs.harness_rows import (
    Found,
    Rows,
    UnreadableError,
    brier,
    mean,
    per_unit,
    perplexity,
    share,
    texts,
)

_MEASURES = ("accuracy", "macro-f1", "weighted-f1", "mcc", "kappa", "balanced-accuracy")


def _never(reason: str) -> Callable[[Rows], Found]:
    def read(rows: Rows) -> Found:
        raise UnreadableError(reason)

    return read


#: By the names that the harness registers.
READERS: dict[str, Callable[[Rows], Found]] = {
    "mean": mean,
    "nanmean": mean,
    "bleu": texts(BLEU()),
    "chrf": texts(CHRF()),
    "chrf++": texts(CHRF(word_order=2)),
    "ter": texts(TER()),
    "perplexity": perplexity,
    "weighted_perplexity": per_unit(Perplexity),
    "bits_per_byte": per_unit(BitsPerUnit),
    "brier_score": brier,
    "f1": f1,
    "matthews_corrcoef": mcc,
    "median": _never("a median is not a function of sums"),
    "bypass": _never("nothing was scored (--predict_only)"),
}


def recognised(rows: Rows, function: str, stated: float | None) -> Found:
    """Return what gives the score that the log states, where a function of its own made it.

    Raises
    ------
    UnreadableError
        When nothing that is known gives it, or several things do.
    """
    named = re.search(r"def\s+(\w+)", function)
    by = f"it is aggregated by {named[1] if named else shown(function, 60)}"
    if stated is None:
        raise UnreadableError(f"{by}, and there is no score to recognise it by")
    found = []
    for candidate in _candidates(rows):
        if math.isclose(candidate.score, stated, rel_tol=1e-9, abs_tol=1e-12):
            found.append(candidate)
    if not found:
        raise UnreadableError(f"{by}, which is not known to be a function of sums")
    if len(found) > 1:
        names = ", ".join(candidate.metric.name for candidate in found)
        raise UnreadableError(f"{by}, whose score could be any of {names}")
    return found[0]


def _candidates(rows: Rows) -> list[Found]:
    """Return what the rows could be: numbers, pairs of labels, lists of right and wrong."""
    found = []
    for read in (mean, share):
        try:
            found.append(read(rows))
        except (UnreadableError, InputError):
            continue
    try:
        gold, predicted = labels_of(rows)
        labels = all_labels(gold, predicted)
    except (UnreadableError, InputError):
        return found
    measures = [*_MEASURES, *(["f1"] if labels == (0, 1) else [])]
    return found + [confusion(labels, measure, gold, predicted) for measure in measures]
