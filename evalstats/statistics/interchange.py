"""Statistics as files: what one machine extracted, another compares without the texts.

An archive of one array, the counts in the narrowest integers that hold them. The header says which
systems, metric and references they belong to. Files come from other people: what is not exactly
what `write` writes is refused, or read as the same statistics.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import BUILT_IN, Metric, as_metric
from evalstats.results.signatures import version, without_versions

_FORMAT = "evalstats segment statistics"
_VERSION = 1
_ARRAY = "statistics"
_INTEGERS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8", "<u8")
#: Metrics that can be rebuilt from their parameters.
_OWN: dict[str, type[Any]] = {kind.__name__: kind for kind in BUILT_IN}


def write(path: str | os.PathLike[str], table: Any) -> None:
    """Write a `SegmentStatistics` to a ``.npz`` file, whole or not at all."""
    target = Path(path)
    if target.suffix != ".npz":
        raise InputError(f"path must end in .npz, got {str(target)!r}")
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "evalstats": version(),
        "metric": {
            "name": table.metric.name,
            "signature": table.metric_signature,
            "columns": list(table.metric.columns),
            "higher_is_better": bool(table.metric.higher_is_better),
            **_configuration(table.metric),
        },
        "systems": list(table.systems),
        "segment_ids": None if table.segment_ids is None else list(table.segment_ids),
        "reference_label": table.reference_label,
        "fingerprint": table.fingerprint,
    }
    # Reading and writing zip files takes longer to load than this file.
    from evalstats.statistics.archives import write_archive

    write_archive(target, header, {_ARRAY: narrowest(table.values)})


def read(path: str | os.PathLike[str], metric: object = None) -> dict[str, Any]:
    """Return the fields that `write` wrote; `metric` is needed for one that is not evalstats'."""
    from evalstats.statistics.archives import read_archive

    header, arrays = read_archive(path, "iuf")
    _check_format(path, header, arrays)
    record = _field(path, header, "metric", dict)
    signature = _field(path, record, "signature", str)
    rebuilt = _rebuilt(path, record) if metric is None else as_metric(metric)
    _check_metric(path, record, signature, rebuilt)
    values = arrays[_ARRAY]
    if values.dtype.kind in "iu" and values.max(initial=0) < 2**63:
        values = values.astype(np.int64)
    elif values.dtype.kind == "f":
        values = values.astype(np.float64)
    if rebuilt.counts and np.any(values < 0):
        where = [int(i) for i in np.argwhere(values < 0)[0]]
        _refuse(path, f"statistics{where} is negative, but {rebuilt.name} counts")
    return {
        "values": values,
        "systems": _field(path, header, "systems", list),
        "metric": rebuilt,
        "reference_label": _field(path, header, "reference_label", str, optional=True),
        "fingerprint": _field(path, header, "fingerprint", str, optional=True),
        "segment_ids": _field(path, header, "segment_ids", list, optional=True),
        "metric_signature": signature,
    }


def _configuration(metric: Metric) -> dict[str, Any]:
    """Return class and parameters of a metric of ours; nothing for any other, or a subclass."""
    if _OWN.get(type(metric).__name__) is not type(metric):
        return {"class": None, "parameters": None}
    names = [f.name for f in fields(metric)]  # type: ignore[arg-type]
    parameters = {name: getattr(metric, name) for name in names}
    return {"class": type(metric).__name__, "parameters": json.loads(json.dumps(parameters))}


def _rebuilt(path: object, record: Mapping[str, Any]) -> Metric:
    name = _field(path, record, "class", str, optional=True)
    if name is None:
        _refuse(
            path,
            f"its metric {_field(path, record, 'name', str)!r} is not one of evalstats'; "
            f"give the object that made it as metric=",
        )
    if name not in _OWN:
        _refuse(path, f"its metric class {name!r} is unknown to this version of evalstats")
    try:
        metric: Metric = _OWN[name](**_field(path, record, "parameters", dict))
    except (InputError, TypeError, ValueError) as error:
        _refuse(path, f"parameters of {name}: {error}")
    return metric


def _check_metric(path: object, record: Mapping[str, Any], signature: str, metric: Metric) -> None:
    found = {
        "name": metric.name,
        "signature": without_versions(metric.signature),
        "columns": list(metric.columns),
        "higher_is_better": bool(metric.higher_is_better),
    }
    for key, value in found.items():
        stored = without_versions(signature) if key == "signature" else record.get(key)
        if stored != value:
            _refuse(path, f"{key} of its metric is {stored!r}, that of {metric!r} is {value!r}")


def _check_format(path: object, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    if header.get("format") != _FORMAT or list(arrays) != [_ARRAY]:
        _refuse(path, f"it is not a file of {_FORMAT}")
    if header.get("version") != _VERSION:
        _refuse(
            path,
            f"format version {header.get('version')!r}, but this evalstats reads {_VERSION}; "
            f"use the version that wrote it: {header.get('evalstats')!r}",
        )


def _field(
    path: object, record: Mapping[str, Any], key: str, kind: type, optional: bool = False
) -> Any:
    value = record.get(key)
    if not (isinstance(value, kind) or (optional and value is None)):
        _refuse(path, f"{key} must be a {kind.__name__}, got {type(value).__name__}")
    return value


def _refuse(path: object, reason: str) -> NoReturn:
    raise InputError(f"cannot load statistics from {str(path)!r}: {reason}") from None


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """Return counts in the narrowest integers that hold them, anything in little-endian order."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        kinds = (np.iinfo(descr[1:]) for descr in _INTEGERS)
        values = values.astype(next(k.dtype for k in kinds if k.min <= low and high <= k.max))
    if values.dtype.itemsize > 8:
        raise InputTypeError(f"values must be at most 64 bits wide to be saved, got {values.dtype}")
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
