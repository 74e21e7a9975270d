"""The state of a test that goes on, as plain values for JSON: written, and read back unchanged.

A state is only good for a test with the same options, and has a hash of itself, by which damage is
noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from json import dumps, loads
from typing import Any

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.statistics.interchange import identity, parameters


def written(version: int, options: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a test with these options, whose `values` are plain."""
    state = {"version": version, "options": dict(options), **values}
    return {**state, "digest": _digest(state)}


@contextmanager
def reading(
    state: Mapping[str, Any], now: Mapping[str, Any], what: str
) -> Iterator[Mapping[str, Any]]:
    """Yield a state that fits that of a test, a `what`, as it is `now`; all else is an InputError.

    So is whatever goes wrong while it is read.
    """
    try:
        if state["version"] != now["version"]:
            raise InputError(
                f"state has version {shown(state['version'])}, expected {now['version']}: another "
                f"version of evalstats wrote it; begin with a new {what}"
            )
        for name, here in now["options"].items():
            there = state["options"][name]
            if there == here:
                continue
            if isinstance(there, Mapping) and isinstance(here, Mapping):
                # Of a metric its first part that differs.
                part = next((x for x in here if there.get(x) != here[x]), None)
                there, here = (x if part is None else x.get(part) for x in (there, here))
            raise InputError(
                f"state is of a {what} with another {name}: {shown(there)} there, {shown(here)} "
                f"here"
            )
        # What stands beside it in a file is no part of it.
        told = {name: state[name] for name in now if name != "digest"}
        if _digest(told) != state["digest"]:
            raise InputError("state is not as state_dict returned it: a part of it has changed")
        yield told
    except InputError:
        raise
    except Exception as error:  # whatever Python raises on something that is no state at all
        raise InputError(f"state must be what state_dict returned: {shown(error)}") from None


def named(metric: Metric) -> dict[str, Any]:
    """Return what a metric is known by, as JSON gives it back."""
    known: dict[str, Any] = loads(dumps(identity(metric) | parameters(metric)))
    return known


def _digest(state: Mapping[str, Any]) -> str:
    return sha256(dumps(state, sort_keys=True).encode()).hexdigest()[:16]
