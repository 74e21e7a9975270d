"""Statistics as files: what one machine extracted, another compares without the texts.

An archive of one array, the counts in the narrowest integers that hold them. The header says which
systems, metric and references they belong to. Files come from other people: what is not exactly
what `write` writes is refused, or read as the same statistics.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import BUILT_IN, Metric, as_metric
from evalstats.results.signatures import version, without_versions

_FORMAT = "evalstats segment statistics"
_VERSION = 1
_ARRAY = "statistics"
_INTEGERS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8", "<u8")
#: Fields of `SegmentStatistics` that the header holds as they are, and what they may be.
_PLAIN: dict[str, tuple[type, ...]] = {
    "systems": (list,),
    "segment_ids": (list, NoneType),
    "reference_label": (str, NoneType),
    "fingerprint": (str, NoneType),
}
_SCALARS = (bool, int, float, str, NoneType)
#: Metrics that can be rebuilt from their parameters.
_OWN: dict[str, type[Any]] = {kind.__name__: kind for kind in BUILT_IN}


def write(path: str | os.PathLike[str], table: Any) -> None:
    """Write a `SegmentStatistics` to a ``.npz`` file, whole or not at all."""
    target = Path(path)
    if target.suffix != ".npz":
        raise InputError(f"path must end in .npz, got {str(target)!r}")
    stated = {**identity(table.metric), "signature": table.metric_signature}
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "evalstats": version(),
        "metric": {**stated, **_configuration(table.metric)},
        **{name: getattr(table, name) for name in _PLAIN},
        **({"labels": dict(table.labels)} if table.labels else {}),
    }
    # Reading and writing zip files takes longer to load than this file.
    from evalstats.statistics.archives import write_archive

    write_archive(target, header, {_ARRAY: narrowest(table.values)})


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file, for `checked` to look at."""
    from evalstats.statistics.archives import read_archive

    return read_archive(path, "iuf")


def checked(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], metric: object = None
) -> dict[str, Any]:
    """Return the fields that `write` wrote; `metric` is needed for one that is not evalstats'."""
    if header.get("format") != _FORMAT or list(arrays) != [_ARRAY]:
        raise InputError(f"it is not a file of {_FORMAT}")
    if header.get("version") != _VERSION:
        raise InputError(
            f"format version {shown(header.get('version'))}, but this evalstats reads {_VERSION}; "
            f"use the version that wrote it: {shown(header.get('evalstats'))}"
        )
    record = _field(header, "metric", dict)
    signature = _field(record, "signature", str)
    rebuilt = _rebuilt(record) if metric is None else as_metric(metric)
    if metric is not None and record.get("class") in _OWN:
        # Signatures round: of our own metrics the parameters count.
        made_by = _rebuilt(record)
        if parameters(made_by) != parameters(rebuilt):
            raise InputError(f"its metric is {shown(made_by)}, not the given {shown(rebuilt)}")
    stated = {**record, "signature": without_versions(signature)}
    for key, value in identity(rebuilt).items():
        if stated.get(key) != value:
            raise InputError(
                f"{key} of its metric is {shown(stated.get(key))}, that of {shown(rebuilt)} is "
                f"{shown(value)}"
            )
    values = arrays[_ARRAY]
    if values.dtype.kind in "iu" and values.max(initial=0) < 2**63:
        values = values.astype(np.int64)
    elif values.dtype.kind == "f":
        values = values.astype(np.float64)
    plain = {name: _field(header, name, *kinds) for name, kinds in _PLAIN.items()}
    plain["labels"] = _field(header, "labels", dict, NoneType)  # which few files have
    return {"values": values, "metric": rebuilt, "metric_signature": signature, **plain}


def identity(metric: Metric) -> dict[str, Any]:
    """Return what tells a metric from others, as JSON gives it back."""
    return {
        "name": metric.name,
        "signature": without_versions(metric.signature),
        "columns": list(metric.columns),
        "higher_is_better": bool(metric.higher_is_better),
    }


def parameters(metric: Metric) -> dict[str, Any]:
    """Return a metric's class and options, plain values for JSON.

    Of a dataclass all fields, of another class the public attributes of an object; what is no
    plain value (a function, a model) is left to the signature.
    """
    kind = type(metric)
    options = (
        {f.name: getattr(metric, f.name) for f in fields(metric)}
        if is_dataclass(metric)
        else {name: value for name, value in vars(metric).items() if not name.startswith("_")}
    )
    found: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}"}
    for name, value in options.items():
        if isinstance(value, Metric):
            found[name] = parameters(value)
        elif isinstance(value, (tuple, list)) and all(isinstance(v, _SCALARS) for v in value):
            found[name] = list(value)
        elif isinstance(value, _SCALARS):
            found[name] = value
    return found


def is_same_metric(a: Metric, b: Metric) -> bool:
    """Return whether two metrics are one: class and options, not only their rounded signatures.

    Another version of sacreBLEU is no other metric.
    """
    return identity(a) == identity(b) and parameters(a) == parameters(b)


def _configuration(metric: Metric) -> dict[str, Any]:
    """Return class and parameters of a metric of ours; nothing for any other, or a subclass."""
    if _OWN.get(type(metric).__name__) is not type(metric):
        return {"class": None, "parameters": None}
    options = parameters(metric)
    del options["class"]
    return {"class": type(metric).__name__, "parameters": options}


def _rebuilt(record: Mapping[str, Any]) -> Metric:
    name = _field(record, "class", str, NoneType)
    if name is None:
        raise InputError(
            f"its metric {shown(_field(record, 'name', str))} is not one of evalstats'; "
            f"give the object that made it as metric="
        )
    if name not in _OWN:
        raise InputError(f"its metric class {shown(name)} is unknown to this version of evalstats")
    try:
        metric: Metric = _OWN[name](**_field(record, "parameters", dict))
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"parameters of {name}: {error}") from None
    return metric


def _field(record: Mapping[str, Any], key: str, *kinds: type) -> Any:
    value = record.get(key)
    if not isinstance(value, kinds):
        raise InputError(f"{key} must be a {kinds[0].__name__}, got {type(value).__name__}")
    return value


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """Return counts in the narrowest integers that hold them, anything in little-endian order."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        kinds = (np.iinfo(descr[1:]) for descr in _INTEGERS)
        values = values.astype(next(k.dtype for k in kinds if k.min <= low and high <= k.max))
    if values.dtype.itemsize > 8:
        raise InputTypeError(f"values must be at most 64 bits wide to be saved, got {values.dtype}")
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
