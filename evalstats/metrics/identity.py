"""The signature of a metric as a record: its settings, and the versions of sacreBLEU behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

#: The version of sacreBLEU comes last in a signature; it tells no metrics apart.
_VERSION = "sacrebleu:"


@dataclass(frozen=True)
class MetricSignature:
    """What identifies a metric; `str` prints it as ``key:value|key:value``.

    Attributes
    ----------
    settings : tuple of str
        What changes the numbers, ``key:value`` each, with what is made of runs and strata.
    versions : tuple of str
        Versions of sacreBLEU: several where tables that several made are joined, and none of a
        metric that is not sacreBLEU's.

    Examples
    --------
    >>> signature = MetricSignature.of("case:mixed|tok:13a|sacrebleu:2.4.0")
    >>> signature.settings, signature.versions
    (('case:mixed', 'tok:13a'), ('2.4.0',))
    >>> str(signature.tagged("runs:3"))
    'case:mixed|tok:13a|runs:3|sacrebleu:2.4.0'
    """

    settings: tuple[str, ...]
    versions: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> MetricSignature:
        """Return the record of a metric's signature, of which `str` is the same text."""
        *settings, last = text.split("|")
        if last.startswith(_VERSION):
            return cls(tuple(settings), tuple(last.removeprefix(_VERSION).split(",")))
        return cls((*settings, last))

    def tagged(self, tag: str) -> MetricSignature:
        """Return the signature with one more setting."""
        return replace(self, settings=(*self.settings, tag))

    @property
    def unversioned(self) -> str:
        """The settings alone, as text."""
        return "|".join(self.settings)

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands between the bars."""
        versions = (f"{_VERSION}{','.join(self.versions)}",) if self.versions else ()
        return (*self.settings, *versions)

    def __str__(self) -> str:
        return "|".join(self.parts)


def merged(texts: Sequence[str]) -> MetricSignature:
    """Return the first of several signatures, with the versions of all."""
    signatures = [MetricSignature.of(text) for text in texts]
    versions = {version for signature in signatures for version in signature.versions}
    return replace(signatures[0], versions=tuple(sorted(versions)))
