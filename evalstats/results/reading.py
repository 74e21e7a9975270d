"""Results out of their JSON again, checked: the file may come from anybody.

What is read is what `to_dict` writes: every field, of its type, numbers finite and in range, names
printable and on one line, and the parts of a comparison of one another. Anything else is an
`InputError` that names the place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields
from math import isclose
from sys import float_info
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from evalstats.checks import label, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.results.contrasts import CONTRASTS
from evalstats.results.escaping import printable
from evalstats.results.records import ComparisonRecord, Difference, EstimateRecord, distinct

T = TypeVar("T")
E = TypeVar("E", bound=EstimateRecord)
C = TypeVar("C", bound=ComparisonRecord)
D = TypeVar("D", bound=Difference)

_MOST_TEXT = 100_000
_ANY = float("inf")
#: Ranges of the fields that have one, whichever record they are in: both ends are allowed.
_RANGES: dict[str, tuple[float, float]] = {
    "confidence_level": (0, 1),
    "significance_level": (0, 1),
    "pvalue": (0, 1),
    "pvalue_adjusted": (0, 1),
    "pvalue_error": (0, 1),
    "standard_error": (0, _ANY),
    "n_segments": (1, _ANY),
    "n_resamples": (0, _ANY),
    "n_differing": (0, _ANY),
    "gained": (0, _ANY),
    "lost": (0, _ANY),
    "pvalue_equivalence": (0, 1),
    "pvalue_not_worse": (0, 1),
    "pvalue_worse": (0, 1),
    "least_margin": (0, _ANY),
    "most_recovery": (0, 1),
    "margin": (float_info.min, _ANY),
    "recovery": (float_info.min, 1),
    "seed": (0, _ANY),
}


def estimate_from(kind: type[E], text: object) -> E:
    """Return the estimate that `Estimate.to_json` wrote."""
    return read("Estimate", text, lambda found: _estimate(kind, found, "estimate"))


def estimates_from(kind: type[E], text: object) -> tuple[E, ...]:
    """Return the estimates that `Estimates.to_json` wrote."""
    return read("Estimates", text, lambda found: _estimates(kind, found, ("estimates",)))


def comparison_from(kind: type[C], estimate: type[EstimateRecord], text: object) -> C:
    """Return the comparison that `Comparison.to_json` wrote."""
    return read("Comparison", text, lambda found: _comparison(kind, estimate, found))


def read(what: str, text: object, make: Callable[[dict[str, Any]], T]) -> T:
    """Return what is made of an object in JSON; an `InputError` says what could not be read."""
    if not isinstance(text, str):
        raise InputTypeError(f"text must be a str of JSON, got {type(text).__name__}")
    try:
        found = json.loads(text, object_pairs_hook=_unlike, parse_constant=_no_constant)
        if not isinstance(found, dict):
            raise InputError(f"it must be an object, got {shown(found)}")
        return make(found)
    except (ValueError, RecursionError) as error:
        reason = printable(str(error) or "it is nested too deeply")
        raise InputError(f"cannot read {what} from JSON: {reason}") from None


def _unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise InputError("an object has a field twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise InputError(f"{name} is no number of JSON")


def _comparison(kind: type[C], estimate: type[EstimateRecord], found: dict[str, Any]) -> C:
    estimates = _estimates(estimate, found, tuple(found))
    differences = differences_of(Difference, found)
    made = record_of(
        kind,
        {k: v for k, v in found.items() if k not in ("estimates", "differences")},
        "comparison",
        estimates=estimates,
        differences=tuple(d for d, _, _ in differences),
    )
    check_differences(made, differences, estimates, lambda record: record.metric)
    metrics = distinct(e.metric for e in estimates)
    if {d.metric for d in made.differences} != set(metrics):
        raise InputError("differences must be of every metric that the estimates are of")
    if len(made.signatures) != len(metrics):
        raise InputError(f"signatures must be {len(metrics)}, one a metric")
    return made


def differences_of(kind: type[D], found: dict[str, Any]) -> list[tuple[D, tuple[Any, ...], str]]:
    """Return each difference, what is said beside it (verdict, claim, ratio), and its place."""
    differences = []
    for i, item in enumerate(items_of(found, "differences")):
        where = f"differences[{i}]"
        fields_of = dict(item) if isinstance(item, dict) else item
        said = tuple(
            fields_of.pop(name, None) if isinstance(item, dict) else None
            for name in ("significant", "claim", _shown_as(fields_of))
        )
        differences.append((record_of(kind, fields_of, where), said, where))
    return differences


def check_differences(
    made: ComparisonRecord,
    differences: Sequence[tuple[D, tuple[Any, ...], str]],
    estimates: Sequence[EstimateRecord],
    place_of: Callable[[Any], Hashable],
) -> None:
    """Refuse differences that fit neither the estimates of their place nor what is said of them.

    `place_of` says of both records what is compared there: the metric, and perhaps the task.
    """
    scores = {(place_of(e), e.system): e.score for e in estimates}
    seen = set()
    for d, (verdict, claim, value), where in differences:
        pair = (place_of(d), frozenset((d.baseline, d.system)))
        if pair in seen or len(pair[1]) < 2:
            raise InputError(f"{where} must be of two systems that no other compares")
        seen.add(pair)
        for name, score in ((d.baseline, d.baseline_score), (d.system, d.system_score)):
            if scores.get((place_of(d), name)) != score:
                raise InputError(f"{where} has a score of {name!r} that is in no estimate")
        near = 1e-9 * max(abs(d.baseline_score), abs(d.system_score), 1e-300)
        if not isclose(d.difference, d.system_score - d.baseline_score, rel_tol=0, abs_tol=near):
            raise InputError(f"{where}.difference is not the difference of its scores")
        if d.contrast != made.contrast:
            raise InputError(f"{where}.contrast must be {made.contrast!r}, got {d.contrast!r}")
        _check_ratio(d, value, where)
        if verdict is not None and verdict is not made.significant(d):
            raise InputError(f"{where}.significant does not fit its p-value")
        if claim is not None and claim != made.claim(d):
            raise InputError(f"{where}.claim does not fit its bounds")
        if made.baseline not in (None, d.baseline):
            raise InputError(f"{where}.baseline must be {made.baseline!r}, got {d.baseline!r}")
    if made.margin is not None and made.recovery is not None:
        raise InputError("comparison has a margin and a recovery, which exclude each other")


def _shown_as(found: Any) -> str:
    """Return under which name a ratio is beside the fields of a difference."""
    contrast = found.get("contrast") if isinstance(found, dict) else None
    return contrast.replace("-", "_") if contrast in CONTRASTS[1:] else ""


def _check_ratio(d: Difference, value: object, where: str) -> None:
    if d.contrast == "difference":
        return
    if not min(d.baseline_score, d.system_score) > 0 or (d.contrast == "ratio" and d.low <= 0):
        raise InputError(f"{where} is a ratio, whose scores must be above 0")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (number and isclose(value, d.value, abs_tol=1e-9)):  # type: ignore[arg-type]
        raise InputError(f"{where}.{_shown_as({'contrast': d.contrast})} is not that of its scores")


def _estimates(kind: type[E], found: dict[str, Any], known: tuple[str, ...]) -> tuple[E, ...]:
    if unknown := set(found) - set(known):
        raise InputError(f"unknown field {min(unknown)!r}")
    items = items_of(found, "estimates")
    made = tuple(_estimate(kind, item, f"estimates[{i}]") for i, item in enumerate(items))
    places = {(e.metric, e.system) for e in made}
    systems = {metric: {s for m, s in places if m == metric} for metric, _ in places}
    if not made or len(places) < len(made) or len(set(map(frozenset, systems.values()))) > 1:
        raise InputError("estimates must be one of each system under each metric")
    return made


def _estimate(kind: type[E], found: object, where: str) -> E:
    return record_of(kind, found, where, replicates=np.empty(0))


def items_of(found: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list out of an object."""
    value = found.get(name)
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, got {shown(value)}")
    return value


def record_of(kind: type[T], found: object, where: str, **given: Any) -> T:
    """Return a record of the fields in an object, each of the type that the record says."""
    if not isinstance(found, dict):
        raise InputError(f"{where} must be an object, got {shown(found)}")
    hints, values = get_type_hints(kind), dict(given)
    for field in fields(kind):  # type: ignore[arg-type]
        name = field.name
        if name in given:
            continue
        if name in found:
            values[name] = _value(found[name], hints[name], f"{where}.{name}")
            low, high = _RANGES.get(name, (-_ANY, _ANY))
            if isinstance(values[name], (int, float)) and not low <= values[name] <= high:
                raise InputError(f"{where}.{name} must be from {low:g} to {high:g}")
        elif field.default is MISSING:
            raise InputError(f"{where} has no {name!r}")
    if unknown := set(found) - (set(values) - set(given)):
        raise InputError(f"{where} has an unknown field {min(unknown)!r}")
    if values.get("low", 0) > values.get("high", 0):
        raise InputError(f"{where}.low must not be above its high")
    if values.get("contrast", "difference") not in CONTRASTS:
        raise InputError(f"{where}.contrast must be one of {', '.join(CONTRASTS)}")
    if values.get("unit", "group") not in ("segment", "group"):
        raise InputError(f"{where}.unit must be segment or group")
    return kind(**values)


def _value(value: object, hint: Any, where: str) -> Any:
    """Return a value if it is of the type that a field says, a float or a tuple made of it."""
    if get_origin(hint) in (Union, UnionType):
        inner = [kind for kind in get_args(hint) if kind is not type(None)]
        return None if value is None else _value(value, inner[0], where)
    if get_origin(hint) is tuple and isinstance(value, list):
        kind = get_args(hint)[0]
        return tuple(_value(item, kind, f"{where}[{i}]") for i, item in enumerate(value))
    if hint is str:
        return label(value, where, _MOST_TEXT)
    if hint is bool and isinstance(value, bool):
        return value
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is float and number and abs(value) <= float_info.max:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    expected = {int: "an integer", float: "a finite number", bool: "true or false"}
    raise InputError(f"{where} must be {expected.get(hint, 'a list')}, got {shown(value)}")
