"""Records to plain values and back, by the types of their fields.

A file may come from anybody, so fields must have their type, numbers must be finite and in their
range, and text printable and on one line. Otherwise an `InputError` names the place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from sys import float_info
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from evalstats.checks import label, shown
from evalstats.errors import InputError, InputTypeError
from evalstats.results.tabular import printable

T = TypeVar("T")


class Rule(NamedTuple):
    """A condition on a value besides its type, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


def one_of(words: tuple[str, ...]) -> Rule:
    """Return the rule that a value is one of some words."""
    return Rule(f"one of {', '.join(words)}", words.__contains__)


#: Text of users, which need not be printable.
_FREE = Rule("text", lambda text: True)
FreeText = Annotated[str, _FREE]
#: A probability, or a part of a whole; the level of a test, or of an interval, which may be so near
#: 1 that it is written as 1.
Share = Annotated[float, Rule("from 0 to 1", lambda x: 0 <= x <= 1)]
Level = Annotated[float, Rule("above 0 and at most 1", lambda x: 0 < x <= 1)]
#: A size above 0, and a size that may be 0, such as errors and deviations.
Size = Annotated[float, Rule("above 0", lambda x: x > 0)]
NotNegative = Annotated[float, Rule("at least 0", lambda x: x >= 0)]
#: A number of things, at least 1, and a number that may be 0.
_MOST = 2**63
Count = Annotated[int, Rule("at least 1 and below 2**63", lambda n: 1 <= n < _MOST)]
Whole = Annotated[int, Rule("at least 0 and below 2**63", lambda n: 0 <= n < _MOST)]
Seed = Annotated[int, Rule("at least 0", lambda n: n >= 0)]
_MOST_TEXT = 100_000


def _fields(kind: Any) -> tuple[tuple[Field[Any], Any], ...]:
    """Return the fields that are compared (arrays are not), with their types.

    Fields that a record shares with others come last.
    """
    hints, annotated = get_type_hints(kind, include_extras=True), vars(kind)["__annotations__"]
    ordered = sorted(fields(kind), key=lambda field: field.name not in annotated)
    return tuple((field, hints[field.name]) for field in ordered if field.compare)


_typed: Callable[[Any], tuple[tuple[Field[Any], Any], ...]] = cache(_fields)


def plain(value: Any) -> Any:
    """Return plain values; for a record also its derived values, and additions of its `_plain`."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field, _ in _typed(type(value))]
        names += getattr(value, "derived", ())
        values = {name: plain(getattr(value, name)) for name in names}
        add = getattr(value, "_plain", None)
        return add(values) if add else values
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def row(record: Any, kind: Any = None) -> dict[str, Any]:
    """Return a record as a row of a table: inner records side by side, and no lists."""
    cells: dict[str, Any] = {}
    for field, hint in _typed(kind or type(record)):
        value = None if record is None else getattr(record, field.name)
        inner = _without_none(hint)
        if is_dataclass(inner):
            cells |= row(value, inner)
        elif get_origin(inner) is not tuple:
            cells[field.name] = value
    return cells | {name: getattr(record, name) for name in getattr(record, "derived", ())}


def from_json(kind: type[T], text: object) -> T:
    """Return the record that was written as JSON, or raise an `InputError`."""
    if not isinstance(text, str):
        raise InputTypeError(f"text must be a str of JSON, got {type(text).__name__}")
    try:
        parsed = json_of(text)
        made = record_of(kind, parsed)
        _check_same(parsed, plain(made), "")
        str(made)
        return made
    except (ValueError, RecursionError) as error:
        reason = printable(str(error) or "it is nested too deeply")
    except (ArithmeticError, LookupError) as error:
        reason = f"its fields contradict each other ({printable(repr(error))})"
    raise InputError(f"cannot read {kind.__name__} from JSON: {reason}")


def json_of(text: str) -> object:
    """Return the values in JSON; a key that occurs twice is refused."""
    parsed: object = _DECODER.decode(text)
    return parsed


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f"one of its objects has {shown(key, 60)} twice")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def check_bounds(record: Any, low: str = "low", high: str = "high") -> None:
    """Refuse an interval whose lower bound is above its upper bound."""
    bounds = getattr(record, low), getattr(record, high)
    if bounds[0] > bounds[1]:
        raise InputError(f"{low} ({bounds[0]:.10g}) must not be above {high} ({bounds[1]:.10g})")


def record_of(kind: type[T], parsed: object, where: str = "") -> T:
    """Return a record of the fields in an object.

    It may check itself by a method `_check`.
    """
    at = where or "the text"
    listed = getattr(kind, "of_list", "") if isinstance(parsed, list) else ""
    if listed:
        parsed = {listed: parsed}
    if not isinstance(parsed, dict):
        raise InputError(f"{at} must be an object, got {shown(parsed)}")
    known: dict[str, Any] = dict(parsed)
    values = {}
    for field, hint in _typed(kind):
        name = field.name
        if name in known:
            place = where if name == listed else f"{where}.{name}".lstrip(".")
            values[name] = _value(known[name], hint, place)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{at} does not have the field {name!r}")
    made = kind(**values)
    if check := getattr(made, "_check", None):
        try:
            check()
        except InputError as error:
            raise InputError(f"{where}: {error}" if where else str(error)) from None
    return made


#: Derived sentences, which may have other words in other versions.
_IN_WORDS = ("reason",)


def _check_same(parsed: Any, made: Any, where: str) -> None:
    """Refuse unknown values, and derived values that do not follow from the others."""
    if isinstance(parsed, dict) and isinstance(made, dict):
        for name, value in parsed.items():
            at = f"{where}.{name}".lstrip(".")
            if name not in made:
                raise InputError(f"unknown field {at!r}")
            if name not in _IN_WORDS:
                _check_same(value, made[name], at)
    elif isinstance(parsed, list) and isinstance(made, list) and len(parsed) == len(made):
        for i, (one, other) in enumerate(zip(parsed, made, strict=True)):
            _check_same(one, other, f"{where}[{i}]")
    elif parsed != made or isinstance(parsed, bool) != isinstance(made, bool):
        raise InputError(f"{where} contradicts the other fields")


def _value(value: Any, hint: Any, where: str) -> Any:
    """Return a value with the type and in the range of a field."""
    if (inner := _without_none(hint)) is not hint:
        return None if value is None else _value(value, inner, where)
    if get_origin(hint) is Annotated:
        kind, rule = get_args(hint)
        checked = value if rule is _FREE and type(value) is kind else _value(value, kind, where)
        if not rule.holds(checked):
            raise InputError(f"{where} must be {rule.words}, got {shown(value)}")
        return checked
    if is_dataclass(hint):
        return record_of(hint, value, where)  # type: ignore[arg-type]
    is_named = isinstance(hint, type) and issubclass(hint, tuple)
    if isinstance(value, list) and (is_named or get_origin(hint) is tuple):
        kinds = get_args(hint)
        if is_named:
            kinds = tuple(get_type_hints(hint, include_extras=True).values())
        elif kinds[-1] is Ellipsis:
            kinds = (kinds[0],) * len(value)
        if len(kinds) != len(value):
            raise InputError(f"{where} must be a list of {len(kinds)}, got {len(value)}")
        pairs = enumerate(zip(value, kinds, strict=True))
        items = tuple(_value(item, kind, f"{where}[{i}]") for i, (item, kind) in pairs)
        return hint(*items) if is_named else items
    return _scalar(value, hint, where)


def _scalar(value: Any, hint: Any, where: str) -> Any:
    """Return text, a number or a truth value of the type of a field."""
    if isinstance(hint, type) and issubclass(hint, str):
        text = label(value, where, _MOST_TEXT) if value != "" else value
        return text if hint is str else hint.of(text)  # type: ignore[attr-defined]
    if hint is float and type(value) in (int, float) and abs(value) <= float_info.max:
        return float(value)
    if hint is not float and type(value) is hint:
        return value
    expected = {int: "an integer", float: "a finite number", bool: "true or false"}
    raise InputError(f"{where} must be {expected.get(hint, 'a list')}, got {shown(value)}")


def _without_none(hint: Any) -> Any:
    """Return X for ``X | None``, and any other type unchanged."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    (inner,) = [kind for kind in get_args(hint) if kind is not type(None)]
    return inner
