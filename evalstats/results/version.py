"""The versions of this library and of the packages beside it; no other module is loaded."""

from __future__ import annotations

from functools import cache

DISTRIBUTION = "evalstats-text"
#: The version of this source; `pyproject.toml` reads it here.
VERSION = "0.1.0"


@cache
def version() -> str:
    """Return the version of this library, with a note if it is not installed.

    A copied folder or a frozen app has no metadata, and nobody knows how it was changed.
    """
    # Imported here: it takes longer to load than the rest of this library together.
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"{VERSION}+uninstalled"


def intruder() -> str:
    """Say that the other project of this name is installed as well, and what to do; or ``""``.

    The distribution ``evalstats`` has a folder of the same name: pip puts one over the other, and
    whichever is removed takes files of both with it.
    """
    from importlib import metadata

    try:
        other = metadata.version("evalstats")
    except metadata.PackageNotFoundError:
        return ""
    return (
        f"evalstats {other}, a package of another project, is installed in the same folder, "
        f"and one environment cannot have both: run 'pip uninstall evalstats {DISTRIBUTION}', "
        f"then install {DISTRIBUTION} again"
    )
