"""Statistics as files, and the identity of metrics, in files and between tables.

An archive of one array, with counts in the narrowest integer type. The header has the systems,
metric and references. Files may come from strangers: anything that `write` would not write is
refused, or read as the same statistics.
"""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import BUILT_IN, OF_DESIGNS, Metric, as_metric
from evalstats.metrics.base import MetricSignature
from evalstats.results.version import version

_FORMAT, _VERSION, _ARRAY = "evalstats segment statistics", 1, "statistics"
_INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4", "i8", "u8")
#: Fields of `SegmentStatistics` that the header stores unchanged, with their types.
_PLAIN: dict[str, tuple[type, ...]] = {
    "systems": (list,),
    "segment_ids": (list, NoneType),
    "reference_label": (str, NoneType),
    "fingerprint": (str, NoneType),
    "unit": (str,),
    "part": (str,),
}
#: Mappings, stored only if not empty.
_RARE = ("labels", "cautions")
_SCALARS = (bool, int, float, str, NoneType)
#: Modules of the metrics that can be rebuilt from their parameters, by the name of the class.
_OWN = {
    **{kind.__name__: kind.__module__ for kind in BUILT_IN},
    **OF_DESIGNS,
    "Judged": "evalstats.designs.judges",
}


def plain_cautions(cautions: Any) -> dict[str, list[list[str]]]:
    """Return the kind and the sentence of each caution of a system, for `as_cautions`."""
    return {
        name: [[caution.kind, f"{caution.said}."] for caution in several]
        for name, several in cautions.items()
    }


def write(path: str | os.PathLike[str], table: Any) -> None:
    """Write a `SegmentStatistics` to a ``.npz`` file, whole or not at all."""
    target = as_target(path)
    rare = {"labels": dict(table.labels), "cautions": plain_cautions(table.cautions)}
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "evalstats": version(),
        "metric": metric_record(table.metric) | {"signature": table.metric_signature},
        **{name: getattr(table, name) for name in _PLAIN},
        **{name: mapping for name, mapping in rare.items() if mapping},
    }
    # Imported here, since the modules for zip files are slow to load.
    from evalstats.statistics.archives import write_archive

    write_archive(target, header, {_ARRAY: narrowest(table.values)})


def as_target(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to be written."""
    target = Path(path)
    if target.suffix != ".npz":
        raise InputError(f"path must end in .npz, got {str(target)!r}")
    return target


def read(path: str | os.PathLike[str], metric: object = None) -> dict[str, Any]:
    """Return the fields from `write`; `metric` is needed if it is not one of evalstats'."""
    from evalstats.statistics.archives import read_archive

    header, arrays = read_archive(path, "iuf")
    if header.get("format") != _FORMAT or list(arrays) != [_ARRAY]:
        raise InputError(f"it is not a file in the format {_FORMAT}")
    if header.get("version") != _VERSION:
        raise InputError(
            f"it has format version {shown(header.get('version'))}, but this evalstats reads "
            f"version {_VERSION}; use the evalstats version that wrote it: "
            f"{shown(header.get('evalstats'))}"
        )
    asked = metric_of(header, metric)
    signature = header["metric"]["signature"]
    values = arrays[_ARRAY]
    if values.dtype.kind == "f" or values.max(initial=0) < 2**63:
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    plain = {name: _field(header, name, *kinds) for name, kinds in _PLAIN.items()}
    plain |= {name: _field(header, name, dict, NoneType) or {} for name in _RARE}
    return {"values": values, "metric": asked, "metric_signature": signature, **plain}


def metric_record(metric: Metric) -> dict[str, Any]:
    """Return the record of a metric for a file, from which `metric_of` rebuilds it."""
    return {**identity(metric), "signature": metric.signature, **made_by(metric)}


def metric_of(header: dict[str, Any], metric: object = None) -> Metric:
    """Return the metric of a file, which must equal the given one; optional for ours."""
    record = _field(header, "metric", dict)
    signature = _field(record, "signature", str)
    # Signatures are rounded, so the parameters of our metrics are compared.
    known = rebuilt(record) if metric is None or record.get("class") in _OWN else None
    asked = as_metric(known if metric is None else metric)
    if known and not is_same_metric(known, asked):
        raise InputError(f"the file has the metric {shown(known)}, but you passed {shown(asked)}")
    stated = {**record, "signature": MetricSignature.of(signature).unversioned}
    for key, value in identity(asked).items():
        if stated.get(key) != value:
            raise InputError(
                f"its metric has {key} {shown(stated.get(key))}, but {shown(asked)} has "
                f"{shown(value)}"
            )
    return asked


def identity(metric: Metric) -> dict[str, Any]:
    """Return the identity of a metric, as it is after JSON, without sacreBLEU's version."""
    return {
        "name": metric.name,
        "signature": MetricSignature.of(metric.signature).unversioned,
        "columns": list(metric.columns),
        "higher_is_better": bool(metric.higher_is_better),
    }


def made_by(metric: Metric) -> dict[str, Any]:
    """Return the class and the options from which `rebuilt` makes one of evalstats' metrics."""
    kind, options = type(metric), _options(metric)
    inner = {n: getattr(metric, n) for n in options if isinstance(getattr(metric, n), Metric)}
    options |= {name: {"name": one.name, **made_by(one)} for name, one in inner.items()}
    # A user's subclass counts as a user's metric, and so does our metric around one.
    is_own = _OWN.get(kind.__name__) == kind.__module__
    if not is_own or any(options[name]["class"] is None for name in inner):
        return {"class": None, "parameters": None}
    return {"class": kind.__name__, "parameters": options}


def parameters(metric: Metric) -> dict[str, Any]:
    """Return a metric's class and options; values that are not plain are in the signature."""
    kind = type(metric)
    return {"class": f"{kind.__module__}.{kind.__qualname__}", **_options(metric)}


def _options(metric: Any) -> dict[str, Any]:
    if is_dataclass(metric):
        options = {f.name: getattr(metric, f.name) for f in fields(metric) if f.init}
    else:
        options = {name: v for name, v in vars(metric).items() if not name.startswith("_")}
    values = {}
    for name, value in options.items():
        inner = value if isinstance(value, (tuple, list)) else (value,)
        if isinstance(value, Metric):
            values[name] = parameters(value)
        elif all(isinstance(entry, _SCALARS) for entry in inner):
            values[name] = value
    return values


def is_same_metric(a: Metric, b: Metric) -> bool:
    """Return whether two metrics are equal in class and options, not only in rounded signatures."""
    return identity(a) == identity(b) and parameters(a) == parameters(b)


def rebuilt(record: dict[str, Any]) -> Metric:
    """Return the metric from the class and the options in a file."""
    name = _field(record, "class", str, NoneType)
    if name is None:
        raise InputError(
            f"its metric {shown(_field(record, 'name', str))} is not a metric of evalstats; pass "
            "the metric itself as metric="
        )
    if name not in _OWN:
        raise InputError(f"its metric class {shown(name)} is unknown to this version of evalstats")
    parameters = _field(record, "parameters", dict)
    kind = getattr(import_module(_OWN[name]), name)
    if any(field.name == "metric" for field in fields(kind)):
        inner = _field(parameters, "metric", dict)
        if inner.get("class") == name:
            raise InputError(f"parameters of {name}: a Judged metric cannot be judged again")
        parameters = {**parameters, "metric": rebuilt(inner)}
    try:
        metric: Metric = kind(**parameters)
        return metric
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"parameters of {name}: {error}") from None


def _field(record: dict[str, Any], key: str, *kinds: type) -> Any:
    value = record.get(key)
    if not isinstance(value, kinds):
        raise InputError(f"{key} must be a {kinds[0].__name__}, got {type(value).__name__}")
    return value


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """Return counts in the narrowest integer type, and all values in little-endian order."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        kinds = [np.iinfo(np.dtype(name)) for name in _INTEGERS]
        values = values.astype(next(k.dtype for k in kinds if k.min <= low and high <= k.max))
    if values.dtype.itemsize > 8:
        raise InputTypeError(f"values must be at most 64 bits wide to be saved, got {values.dtype}")
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
