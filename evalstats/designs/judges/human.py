"""People's labels of some segments, beside a judge's of all: pairs that `Judged` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalstats.checks import listed, shown
from evalstats.designs.judges.judged import Judged
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.statistics.extraction import Metrics, as_metrics, as_systems, depth, is_list
from evalstats.text.references import columns_of


def with_people(
    systems: object, references: object, metrics: Metrics, human: object
) -> tuple[Mapping[str, Any], Any, list[Judged]]:
    """Return outputs, references and metrics in which the judge's labels and people's are pairs.

    Of metrics with references (gold classes) labels are references, one list for all systems;
    otherwise they are the scores, a list a system: `{"A": [(4, 5), (3, None)]}`. Several judges
    have a list a segment, and people's label is the last: `{"A": [(4, 3, 5), (3, 2, None)]}`.
    """
    named = as_systems(systems)
    inner = as_metrics(metrics)
    judged = [Judged(metric) for metric in inner]
    kinds = {metric.uses_references for metric in inner}
    if len(kinds) > 1:
        raise InputError(
            "is of scores, or of references, and the metrics are of both kinds; compare them apart",
            argument="human",
        )
    if True in kinds:
        if isinstance(human, Mapping):
            raise InputError(
                f"must be one list for all systems, since {inner[0].name} holds outputs against "
                f"references, got a mapping",
                argument="human",
            )
        judges = 0 if inner[0].reads_text else _n_judges(references, inner[0])
        paired = _pairs(references, human, "references", judges)
        return named, paired, [replace(one, judges=judges or 1) for one in judged]
    if references is not None:
        raise InputError(
            f"have no effect: {inner[0].name} does not use any; leave them out",
            argument="references",
        )
    frame = columns_of(human)
    labels = dict(frame) if frame is not None else human
    if not isinstance(labels, Mapping):
        if len(named) > 1:
            raise InputError(
                f"must be a mapping with people's scores of each system "
                f"({', '.join(named)}), got {type(human).__name__}",
                argument="human",
            )
        labels = dict.fromkeys(named, human)
    if set(labels) != set(named):
        odd = sorted(map(str, set(labels) ^ set(named)))[0]
        raise InputError(
            f"must have the systems {', '.join(named)}, got {', '.join(map(str, labels))} "
            f"({odd!r} is in one only)",
            argument="human",
        )
    judges = _n_judges(next(iter(named.values())), inner[0])
    pairs = {
        name: _pairs(scores, labels[name], f"system {name!r}", judges)
        for name, scores in named.items()
    }
    return pairs, None, [replace(one, judges=judges or 1) for one in judged]


def with_pairs(
    systems: object, references: object, metric: Metric, human: object
) -> tuple[Mapping[str, Any], Any]:
    """Return outputs and references in which labels are pairs, as a metric has them already."""
    if not isinstance(metric, Judged):
        raise InputError(
            f"needs a metric that has them from the first look on: make the test with "
            f"metric=es.Judged(...) of {metric.name}",
            argument="human",
        )
    named, paired_references, _ = with_people(systems, references, metric.metric, human)
    return named, paired_references


def by_role(human: object, names: Mapping[str, str]) -> object:
    """Return people's scores by the names of systems, from those of their roles; a list as it is.

    >>> by_role({"new": [4, None], "base": [3, 5]}, {"new": "system", "base": "baseline"})
    {'system': [4, None], 'baseline': [3, 5]}
    """
    frame = columns_of(human)
    labels = human if frame is None else dict(frame)
    if not isinstance(labels, Mapping):
        return human
    if set(labels) != set(names):
        got = ", ".join(map(str, labels))
        raise InputError(
            f"must have people's scores of {' and '.join(names)}, got {got}",
            argument="human",
        )
    return {names[role]: scores for role, scores in labels.items()}


def _n_judges(labels: Any, metric: Metric) -> int:
    """Return how many judges each entry of a list has labels of; 0 where entries are labels."""
    return len(labels[0]) if depth(labels) > metric.entry_depth + 1 else 0


def _pairs(judge: object, people: object, where: str, judges: int) -> list[tuple[Any, ...]]:
    """Return (the judge's label, people's) of each segment, or of several (each judge's, ...)."""
    first = listed(judge, where, "labels of the judge, one a segment")
    second = listed(people, "human", "labels of people, one a segment, None where there is none")
    if len(first) != len(second):
        raise InputError(
            f"must have one label a segment, None where people gave none: got {len(second):,} for "
            f"{len(first):,} of {where}",
            argument="human",
        )
    if not judges:
        return list(zip(first, second, strict=True))
    for i, labels in enumerate(first):
        if not is_list(labels) or len(labels) != judges:
            raise InputError(
                f"{where}[{i}] must have labels of {judges} judges, as the first, got "
                f"{shown(labels)}"
            )
    return [(*labels, label) for labels, label in zip(first, second, strict=True)]
