"""Statistics as files: what one machine extracted, another compares without the texts.

A file is an uncompressed ``.npz``: ``statistics.npy``, the counts in the narrowest integers that
hold them, and ``header.npy``, UTF-8 JSON that says which systems, metric and references they
belong to. Files come from other people. So nothing in one is executed or unpickled, nothing is
allocated that the file does not itself contain (hence no compression), and what differs in one
byte from what `write` writes is refused or read as the same statistics.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from evalstats._signature import version, without_versions
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import BLEU, CER, CHRF, TER, WER, Mean, Metric, Ratio, as_metric

if TYPE_CHECKING:
    from evalstats.segments import SegmentStatistics

_FORMAT = "evalstats segment statistics"
_VERSION = 1
_MEMBERS = ["header.npy", "statistics.npy"]
#: The magic string, version 1.0, the length of the rest, and the rest as NumPy writes it.
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([^']{0,9})', 'fortran_order': (?:False|True), "
    rb"'shape': \(([0-9, ]{0,99})\), \} *\n",
    re.DOTALL,
)
_INTEGERS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8", "<u8")
_DTYPES = frozenset((*_INTEGERS, "<f2", "<f4", "<f8"))
#: Metrics that can be rebuilt from their parameters; those whose statistics are counts.
_COUNTING: tuple[type[Metric], ...] = (BLEU, CHRF, TER, WER, CER)
_KINDS: tuple[type[Metric], ...] = (*_COUNTING, Mean, Ratio)
_OWN: dict[str, type[Any]] = {kind.__name__: kind for kind in _KINDS}


class Stored(NamedTuple):
    """What a file holds, under the names of the fields of `SegmentStatistics`."""

    values: NDArray[Any]  # (S, N, k)
    systems: list[str]
    metric: Metric
    reference_label: str | None
    fingerprint: str | None
    segment_ids: list[str] | None
    metric_signature: str


def write(path: str | os.PathLike[str], table: SegmentStatistics) -> None:
    """Write statistics to a ``.npz`` file, whole or not at all."""
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
    text = json.dumps(header, allow_nan=False)
    arrays = [np.frombuffer(text.encode("ascii"), dtype=np.uint8), _narrowest(table.values)]
    _write_whole(target, _zipped(arrays))


def read(path: str | os.PathLike[str], metric: object = None) -> Stored:
    """Read what `write` wrote; `metric` is needed for a metric that is not evalstats' own."""
    members = _members(Path(path))
    header = _header(path, members[0])
    record = _field(path, header, "metric", dict)
    signature = _field(path, record, "signature", str)
    rebuilt = _rebuilt(path, record) if metric is None else as_metric(metric)
    _check_metric(path, record, signature, rebuilt)
    values = _array(path, members[1], _MEMBERS[1])
    if values.dtype.kind in "iu" and values.max(initial=0) < 2**63:
        values = values.astype(np.int64)
    elif values.dtype.kind == "f":
        values = values.astype(np.float64)
    if isinstance(rebuilt, _COUNTING) and np.any(values < 0):
        where = [int(i) for i in np.argwhere(values < 0)[0]]
        _refuse(path, f"statistics{where} is negative, but {rebuilt.name} counts")
    return Stored(
        values,
        _field(path, header, "systems", list),
        rebuilt,
        _field(path, header, "reference_label", str, optional=True),
        _field(path, header, "fingerprint", str, optional=True),
        _field(path, header, "segment_ids", list, optional=True),
        signature,
    )


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


def _members(path: Path) -> list[bytes]:
    """Return the bytes of the two members; what the file claims beyond its size is not read."""
    # Imported here: it takes longer to load than the modules that most users need.
    import zipfile

    try:
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            entries = sorted(archive.infolist(), key=lambda entry: entry.filename)
            if [entry.filename for entry in entries] != _MEMBERS:
                names = ", ".join(entry.filename for entry in entries[:4]) or "nothing"
                _refuse(path, f"expected {' and '.join(_MEMBERS)} in it, found {names!r}")
            for entry in entries:
                if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                    _refuse(path, f"{entry.filename} is compressed or encrypted")
                if entry.file_size != entry.compress_size or entry.file_size > size:
                    _refuse(path, f"{entry.filename} claims {entry.file_size:,} bytes")
            return [archive.read(entry) for entry in entries]
    except FileNotFoundError:
        _refuse(path, "no such file")
    except InputError:
        raise
    except OSError as error:
        _refuse(path, error.strerror or str(error))
    # What Python's zipfile raises for damaged files depends on where the damage is.
    except Exception as error:
        _refuse(path, f"not a whole .npz file ({str(error) or type(error).__name__})")


def _array(path: object, data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a ``.npy`` member; its header must account for every byte."""
    match = _NPY.match(data)
    if match is None:
        _refuse(path, f"{name} is not a NumPy array, or not written by evalstats")
    descr = match[1].decode("latin-1")
    if descr not in _DTYPES:
        _refuse(path, f"{name} must hold numbers, got dtype {descr!r}; objects are never loaded")
    shape = tuple(int(part) for part in match[2].split(b",") if part.strip().isdigit())
    dtype, left = np.dtype(descr), len(data) - match.end()
    # Python's integers: a hostile shape cannot overflow them.
    if prod(shape) * dtype.itemsize != left or b"True" in match[0]:
        _refuse(path, f"{name} claims shape {shape} of {descr}, but has {left} bytes")
    return np.frombuffer(data, dtype=dtype, offset=match.end()).reshape(shape)


def _header(path: object, data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(_array(path, data, _MEMBERS[0]).tobytes().decode("utf-8"))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        _refuse(path, f"{_MEMBERS[0]} is not JSON ({error})")
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        _refuse(path, f"{_MEMBERS[0]} does not say {_FORMAT!r}")
    if header.get("version") != _VERSION:
        _refuse(
            path,
            f"format version {header.get('version')!r}, but this evalstats reads {_VERSION}; "
            f"use the version that wrote it: {header.get('evalstats')!r}",
        )
    return header


def _field(
    path: object, record: Mapping[str, Any], key: str, kind: type, optional: bool = False
) -> Any:
    value = record.get(key)
    if not (isinstance(value, kind) or (optional and value is None)):
        _refuse(path, f"{key} must be a {kind.__name__}, got {type(value).__name__}")
    return value


def _refuse(path: object, reason: str) -> NoReturn:
    raise InputError(f"cannot load statistics from {str(path)!r}: {reason}") from None


def _narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """Return counts in the narrowest integers that hold them, anything in little-endian order."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        kinds = (np.iinfo(descr[1:]) for descr in _INTEGERS)
        values = values.astype(next(k.dtype for k in kinds if k.min <= low and high <= k.max))
    if values.dtype.itemsize > 8:
        raise InputTypeError(f"values must be at most 64 bits wide to be saved, got {values.dtype}")
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))


def _zipped(arrays: list[NDArray[Any]]) -> bytes:
    import zipfile

    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in zip(_MEMBERS, arrays, strict=True):
            member = BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            # A fixed date: the same statistics make the same file.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), member.getvalue())
    return buffer.getvalue()


def _write_whole(path: Path, data: bytes) -> None:
    """Write under another name beside it, then rename: who looks sees the old file or the new."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            with beside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:  # Ctrl-C as well
            with suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
