"""Rows of lm-evaluation-harness that are ``[gold label, predicted label]``: counts of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalstats.errors import InputError
from evalstats.metrics import Confusion
from evalstats.runs.harness_rows import Found, Rows, UnreadableError, pairs

#: Labels are few; beyond it pairs are texts.
_MOST_LABELS = 200


def f1(rows: Rows) -> Found:
    """Return F1 of the label 1, as scikit-learn's `f1_score` does by default."""
    gold, predicted = labels_of(rows)
    if not {0, 1}.issuperset({*gold, *predicted}):
        raise UnreadableError("its labels are not 0 and 1, of which scikit-learn takes 1")
    return confusion((0, 1), "f1", gold, predicted)


def mcc(rows: Rows) -> Found:
    """Return Matthews' correlation of any number of labels."""
    gold, predicted = labels_of(rows)
    return confusion(all_labels(gold, predicted), "mcc", gold, predicted)


def labels_of(rows: Rows) -> tuple[list[Any], list[Any]]:
    """Return gold and predicted labels, all of them integers or all of them texts."""
    expected = "[gold label, predicted label], integers or texts"
    is_text = None
    for i, pair in enumerate(pairs(rows, expected)):
        for value in pair:
            is_text = isinstance(value, str) if is_text is None else is_text
            if not isinstance(value, str if is_text else int):
                rows.wrong(i, expected)
    kind = str if is_text else int
    return [kind(gold) for gold, _ in rows.values], [kind(found) for _, found in rows.values]


def all_labels(gold: Sequence[Any], predicted: Sequence[Any]) -> tuple[Any, ...]:
    """Return all labels, in order; a single one gets company, since classes are at least two."""
    found = sorted({*gold, *predicted})
    if len(found) > _MOST_LABELS:
        raise UnreadableError(f"its rows have more than {_MOST_LABELS} labels")
    if len(found) == 1:
        found.append(f"not {found[0]}" if isinstance(found[0], str) else int(found[0] == 0))
    return tuple(sorted(found))


def confusion(
    labels: tuple[Any, ...], measure: str, gold: Sequence[Any], predicted: Sequence[Any]
) -> Found:
    """Return a score of labels; a class that is in no item of a resample counts in no average."""
    try:
        metric = Confusion(labels, measure, absent="omit")
    except InputError as error:  # Labels may be what no table can show.
        raise UnreadableError(str(error)) from None
    return Found(metric, metric.statistics(predicted, gold))
