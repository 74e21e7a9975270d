"""What identifies a number: metric, method, resamples, seed, unit and versions, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalstats.metrics.base import MetricSignature
from evalstats.results.version import version

#: What was done to make a number, in the order in which signatures say it.
_KEYS = (
    *("nrefs", "labels", "power", "test", "alt", "adj", "margin", "recovery"),
    *("paired", "ci", "alpha", "checks", "level", "n", "seed"),
    *("by", "strata", "unit", "from", "evalstats", "numpy"),
)


@dataclass(frozen=True)
class Signature:
    """What identifies a number; `str` prints sacreBLEU's kind of line, ``name|key:value|...``.

    Results hold the line, which users print, compare and search; what makes results has the record.

    Attributes
    ----------
    name : str
        The metric, or what is made of several.
    metric : MetricSignature
        The settings of the metric, with the versions of sacreBLEU.
    analysis : tuple of (str, str)
        What was done, by key, and the versions of this library and of NumPy.

    Examples
    --------
    >>> line = "accuracy|mean|test:mcnemar|adj:none|ci:tango|n:99|seed:1|unit:segment"
    >>> print(Signature.of(line).but(test="tango", n=None, seed=None))
    accuracy|mean|test:tango|adj:none|ci:tango|unit:segment
    """

    name: str
    metric: MetricSignature
    analysis: tuple[tuple[str, str], ...]

    @classmethod
    def create(
        cls, name: str, metric: MetricSignature, analysis: Mapping[str, str | None]
    ) -> Signature:
        """Return a signature with the versions that run; keys whose value is `None` are left out.

        NumPy's version is part of it because its random streams may change between versions.
        """
        versions = {"evalstats": version(), "numpy": np.__version__}
        pairs = {**analysis, **versions}.items()
        return cls(name, metric, tuple((key, x) for key, x in pairs if x is not None))

    @classmethod
    def of(cls, text: str) -> Signature:
        """Return the record of a line, of which `str` is the same line.

        The analysis is read from the end, as far as its keys come in their order: a setting of the
        metric that has such a key too is left to the metric.
        """
        name, *parts = text.split("|")
        analysis: list[tuple[str, str]] = []
        place = len(_KEYS)
        while parts:
            key, colon, value = parts[-1].partition(":")
            if not colon or key not in _KEYS[:place]:
                break
            place = _KEYS.index(key)
            analysis.insert(0, (key, value))
            parts.pop()
        metric = MetricSignature.of("|".join(parts)) if parts else MetricSignature(())
        return cls(name, metric, tuple(analysis))

    def but(self, **changes: str | None) -> Signature:
        """Return the signature with other values under these keys, `None` for none."""
        found = {**dict(self.analysis), **changes}
        pairs = [(key, found.get(key)) for key in _KEYS]
        return replace(self, analysis=tuple((key, x) for key, x in pairs if x is not None))

    @property
    def settings(self) -> tuple[str, ...]:
        """What is scored: the metric's own parts, and the number of references."""
        return (*self.metric.parts, *(f"{k}:{x}" for k, x in self.analysis if k == "nrefs"))

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands between the bars."""
        return (self.name, *self.metric.parts, *(f"{key}:{x}" for key, x in self.analysis))

    def __str__(self) -> str:
        return "|".join(self.parts)


def part_name(rows: Iterable[Any]) -> str:
    """Return what the tasks of scores, or checks, are called: "task", or after a label "domain"."""
    return dict(Signature.of(next(iter(rows)).signature).analysis).get("by", "task")


def system_name(rows: Iterable[Any]) -> str:
    """Return what the systems of scores, or ranks, are called: "system", or of metrics "metric"."""
    settings = Signature.of(next(iter(rows)).signature).settings
    words = (x.partition(":") for x in settings)
    return next((word for key, _, word in words if key == "systems"), "system")


def together(signatures: Sequence[Signature]) -> str:
    """Return one line for several signatures: what they do not share, and once what they do."""
    apart = [(one.name, one.parts[1:]) for one in signatures]
    shared = [part for part in apart[0][1] if all(part in parts for _, parts in apart)]
    each = ["|".join([name, *(x for x in parts if x not in shared)]) for name, parts in apart]
    return "|".join([" + ".join(dict.fromkeys(each)), *shared])
