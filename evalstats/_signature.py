"""What identifies a number: metric, method, resamples, seed, unit and versions, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

DISTRIBUTION = "evalstats-text"


@cache
def version() -> str:
    """Return the version of this library."""
    # Imported here: it takes longer to load than the rest of this library together.
    from importlib import metadata

    return metadata.version(DISTRIBUTION)


def signature(name: str, metric: str, analysis: Mapping[str, str | None]) -> str:
    """Return sacreBLEU's kind of signature, ``name|key:value|...``, versions last.

    NumPy's version is part of it because its random streams may change between versions.
    """
    parts = [f"{key}:{value}" for key, value in analysis.items() if value is not None]
    versions = (f"evalstats:{version()}", f"numpy:{np.__version__}")
    return "|".join((name, metric, *parts, *versions))
