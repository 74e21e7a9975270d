"""What identifies a number: metric, method, resamples, seed, unit and versions, in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

DISTRIBUTION = "evalstats-text"
#: The version of this source; `pyproject.toml` reads it here.
VERSION = "0.1.0"


@cache
def version() -> str:
    """Return the version of this library, which says if it is not installed.

    A copied folder or a frozen app has no metadata, and nobody knows how it was changed.
    """
    # Imported here: it takes longer to load than the rest of this library together.
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"{VERSION}+uninstalled"


def signature(name: str, metric: str, analysis: Mapping[str, str | None]) -> str:
    """Return sacreBLEU's kind of signature, ``name|key:value|...``, versions last.

    NumPy's version is part of it because its random streams may change between versions.
    """
    parts = [f"{key}:{value}" for key, value in analysis.items() if value is not None]
    versions = (f"evalstats:{version()}", f"numpy:{np.__version__}")
    return "|".join((name, metric, *parts, *versions))


def without_versions(metric: str) -> str:
    """Return a metric's signature without sacreBLEU's version, which tells no metrics apart."""
    return "|".join(part for part in metric.split("|") if not part.startswith("sacrebleu:"))


def merged_versions(metrics: Sequence[str]) -> str:
    """Return one signature for statistics that several versions of sacreBLEU made."""
    found = [part for metric in metrics for part in metric.split("|") if "sacrebleu:" in part]
    versions = sorted({v for part in found for v in part.partition(":")[2].split(",")})
    plain = without_versions(metrics[0])
    return "|".join([plain, f"sacrebleu:{','.join(versions)}"]) if versions else plain


def joined(signatures: Sequence[str]) -> str:
    """Return one line for several signatures: what they do not share, and once what they do."""
    apart = [signature.split("|") for signature in signatures]
    # A signature begins with a name, which stays with it.
    shared = [part for part in apart[0][1:] if all(part in parts[1:] for parts in apart)]
    own = ["|".join([p[0], *(x for x in p[1:] if x not in shared)]) for p in apart]
    return "|".join([" + ".join(dict.fromkeys(own)), *shared])
