"""What the outputs of a run are held against: reference texts, or gold labels and numbers."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from hashlib import sha256
from typing import Any

from evalstats.checks import listed
from evalstats.metrics import Metric
from evalstats.text.references import References


class Gold(list[Any]):
    """Gold labels of all segments, sets of labels, or numbers, as metrics of labels take them."""

    #: Of texts it says how many references there are.
    label = None

    def __init__(self, labels: Any) -> None:
        super().__init__(listed(labels, "references", "gold labels, one a segment"))

    @property
    def fingerprint(self) -> str:
        """A hash of all labels, in their order."""
        digest = sha256()
        for gold in self:
            named = sorted(map(str, gold)) if isinstance(gold, AbstractSet) else [str(gold)]
            digest.update(repr(named).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def as_gold(metric: Metric, references: Any) -> References | Gold | None:
    """Return references as the metric reads them, `None` for one that reads none."""
    if not metric.uses_references or isinstance(references, (References, Gold)):
        return references if metric.uses_references else None
    return References(references) if metric.reads_text else Gold(references)
