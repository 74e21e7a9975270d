"""`sacrebleu.sacrebleu`: `main` and `parse_args` of its command line.

They are loaded when asked for, because loading them changes how the process handles SIGPIPE.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("main", "parse_args"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sacrebleu import sacrebleu

    return getattr(sacrebleu, name)
