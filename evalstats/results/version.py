"""Which version of this library runs; this loads nothing else of it."""

from __future__ import annotations

from functools import cache

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
