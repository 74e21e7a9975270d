"""Signatures, which identify a number: metric, method, resamples, seed, unit and versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evalstats.metrics.base import MetricSignature
from evalstats.results.version import version

#: The steps of the analysis, in the order of signatures.
_KEYS = (
    *("nrefs", "labels", "power", "test", "alt", "adj", "margin", "recovery"),
    *("paired", "ci", "alpha", "checks", "level", "n", "seed"),
    *("by", "strata", "unit", "from", "evalstats", "numpy"),
)


class Signature(str):
    """A line that identifies a number, like sacreBLEU's signatures: ``name|key:value|...``.

    It is a str, which users print, compare and search, and it has its parts as attributes.

    Attributes
    ----------
    name : str
        The metric, or the name of a total of several metrics.
    metric : MetricSignature
        The settings of the metric, with the versions of sacreBLEU.
    analysis : dict of str to str
        The steps of the analysis, by key, and the versions of this library and of NumPy.

    Examples
    --------
    >>> line = "accuracy|mean|test:mcnemar|adj:none|ci:tango|n:99|seed:1|unit:segment"
    >>> Signature.of(line).but(test="tango", n=None, seed=None)
    'accuracy|mean|test:tango|adj:none|ci:tango|unit:segment'
    """

    name: str
    metric: MetricSignature
    analysis: Mapping[str, str]

    def __new__(
        cls, name: str, metric: MetricSignature, analysis: Mapping[str, str | None]
    ) -> Signature:
        """Return the line; keys whose value is `None` are left out."""
        done = {key: value for key, value in analysis.items() if value is not None}
        parts = (name, *metric.parts, *(f"{key}:{value}" for key, value in done.items()))
        made = super().__new__(cls, "|".join(parts))
        made.name, made.metric, made.analysis = name, metric, done
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return the arguments for copies and pickles."""
        return self.name, self.metric, self.analysis

    @classmethod
    def create(
        cls, name: str, metric: MetricSignature, analysis: Mapping[str, str | None]
    ) -> Signature:
        """Return a signature with the current versions.

        NumPy's version is part of it because its random streams may change between versions.
        """
        return cls(name, metric, {**analysis, "evalstats": version(), "numpy": np.__version__})

    @classmethod
    def of(cls, text: str) -> Signature:
        """Return the signature of a line from a file.

        The analysis is read from the end, as long as its keys come in their order. So a setting of
        the metric with the same key stays a setting of the metric.
        """
        name, *parts = text.split("|")
        analysis: dict[str, str] = {}
        place = len(_KEYS)
        while parts:
            key, colon, value = parts[-1].partition(":")
            if not colon or key not in _KEYS[:place]:
                break
            place = _KEYS.index(key)
            analysis = {key: value, **analysis}
            parts.pop()
        metric = MetricSignature.of("|".join(parts)) if parts else MetricSignature(())
        return cls(name, metric, analysis)

    def but(self, **changes: str | None) -> Signature:
        """Return the signature with other values for these keys; `None` removes a key."""
        known = {**self.analysis, **changes}
        return Signature(self.name, self.metric, {key: known.get(key) for key in _KEYS})

    def setting(self, key: str) -> str:
        """Return the value of a setting of the metric, or of the analysis; "" if there is none."""
        words = (part.partition(":") for part in self.metric.parts)
        return next((word for name, _, word in words if name == key), "")

    @property
    def settings(self) -> tuple[str, ...]:
        """The metric: its own parts, and the number of references."""
        nrefs = self.analysis.get("nrefs")
        return (*self.metric.parts, *([f"nrefs:{nrefs}"] if nrefs else []))


def part_name(rows: Iterable[Any]) -> str:
    """Return the name of a task of scores, or checks: "task", or a label such as "domain"."""
    analysis: Mapping[str, str] = next(iter(rows)).signature.analysis
    return analysis.get("by", "task")


def system_name(rows: Iterable[Any]) -> str:
    """Return the name of a system of scores, or ranks: "system", or "metric" for metrics."""
    return next(iter(rows)).signature.setting("systems") or "system"


def in_short(signatures: Sequence[str]) -> str:
    """Return seed and version of signatures.

    >>> in_short(["BLEU|tok:13a|n:9999|seed:7|unit:segment|evalstats:0.1.0|numpy:2.0.0"])
    'seed 7 · evalstats 0.1.0'
    """
    done = [Signature.of(line).analysis for line in signatures]
    known = {
        key: distinct
        for key in ("seed", "evalstats")
        if (distinct := dict.fromkeys(one[key] for one in done if key in one))
    }
    return " · ".join(f"{key} {', '.join(values)}" for key, values in known.items())


def together(signatures: Iterable[str]) -> str:
    """Return one line for several signatures: the parts that differ, then the common parts."""
    lines = (line.partition("|") for line in signatures)
    apart = [(name, rest.split("|") if bar else []) for name, bar, rest in lines]
    shared = [part for part in apart[0][1] if all(part in parts for _, parts in apart)]
    lines_apart = [
        "|".join([name, *(x for x in parts if x not in shared)]) for name, parts in apart
    ]
    return "|".join([" + ".join(dict.fromkeys(lines_apart)), *shared])
