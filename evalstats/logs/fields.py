"""Contents of JSON records: fields, labels, names, and hashes of texts."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, TypeAlias

from evalstats.checks import is_unseen, shown
from evalstats.errors import InputError

#: Values of JSON: objects, lists, texts, numbers, true, false and null.
Json: TypeAlias = Any
#: Names of the types of JSON in messages.
_KINDS = {str: "text", int: "a whole number", bool: "true or false", dict: "an object"}


def require(record: Any, *keys: str, where: str, kind: type = object) -> Json:
    """Return ``record[key][key]...``; raise if a key is missing or has another type.

    Text must not be empty.
    """
    value = record
    for i, key in enumerate(keys):
        if not isinstance(value, dict) or key not in value:
            raise InputError(f"{where} has no {'.'.join(keys[: i + 1])!r}")
        value = value[key]
    if not isinstance(value, kind) or (
        isinstance(value, str) and kind is str and not value.strip()
    ):
        what, got = f"{where}: {'.'.join(keys)}", shown(value, 60)
        raise InputError(f"{what} must be {_KINDS[kind]}, got {got}")
    return value


def get(record: Any, *keys: str) -> Json:
    """Return ``record[key][key]...``, or None."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def first_of(document: Any) -> Json:
    """Return the first element of a list, or None for anything else."""
    return document[0] if isinstance(document, list) and document else None


def has(record: Any, *keys: str) -> bool:
    """Return whether a value is an object with all of these keys."""
    return isinstance(record, dict) and record.keys() >= set(keys)


def fingerprint(*texts: str) -> str:
    """Return a hash of texts, to check that two logs have the same texts; empty without texts."""
    if not texts:
        return ""
    whole = "\0".join([*map(str, map(len, texts)), *texts])
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def as_name(text: str, most: int = 60) -> str:
    """Return a text as a name: on one line, without invisible characters, cut if it is long.

    If more than blanks was changed, the name ends with a hash, so that different texts have
    different names.
    """
    line = " ".join(text.split())
    name = "".join(c for c in line if c == " " or not is_unseen(c))
    if name == line and 0 < len(name) <= most:
        return name
    return f"{name[:most].rstrip()}... {fingerprint(text)[:8]}".lstrip()


def dotted(record: Any, path: str) -> str:
    """Return the label at a path of keys, ``doc.passage_id``, or at a key with dots; else empty."""
    if not isinstance(record, dict) or path in record:
        return as_label(record[path]) if isinstance(record, dict) else ""
    key, dot, rest = path.partition(".")
    return dotted(record.get(key), rest) if dot else ""


def paths_of(record: Any, *keys: str) -> tuple[str, ...]:
    """Return the paths of possible labels in parts of a record: "doc.passage", "doc.level".

    Without lists and objects, which two items rarely share.
    """
    return tuple(
        f"{key}.{name}"
        for key in keys
        if isinstance(part := get(record, key), dict)
        for name, value in part.items()
        if not isinstance(value, (list, dict))
    )


def as_label(value: Any) -> str:
    """Return a JSON value as text: texts and numbers unchanged, empty for null."""
    if isinstance(value, (str, int, float, bool)):
        return str(value)
    return "" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=True)
