"""What logs lack: trials that are not there, and those that ended with an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evalstats.checks import shown


def fewer(unit: str, n_stated: object, n_there: int) -> str:
    """Return "there were 8 trials, 6 are there"; empty where the two agree, or none is stated."""
    if n_stated is None or n_stated == n_there:
        return ""
    return f"there were {shown(n_stated, 60)} {unit}, {n_there:,} are there"


def ended(unit: str, errors: Sequence[object]) -> str:
    """Return "2 trials ended with an error, the first with 'timeout'"; empty where none did."""
    if not errors:
        return ""
    n = f"{len(errors):,} {unit if len(errors) > 1 else unit.removesuffix('s')}"
    return f"{n} ended with an error, the first with {shown(errors[0], 80)}"


def unscored(unit: str, reasons: Sequence[str]) -> str:
    """Return "3 trials were not evaluated (2 timeout, 1 user_error)"; empty where all were."""
    if not reasons:
        return ""
    n = f"{len(reasons):,} {unit} were" if len(reasons) > 1 else f"1 {unit.removesuffix('s')} was"
    counts = ", ".join(f"{count:,} {reason}" for reason, count in Counter(reasons).most_common())
    return f"{n} not evaluated ({counts})"
