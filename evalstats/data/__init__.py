"""The bundled sample: 480 short segments, two references, four systems of known quality."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple


class Sample(NamedTuple):
    """The bundled sample.

    Attributes
    ----------
    references : list of list of str
        Two references per segment, N entries.
    systems : dict of str to list of str
        Outputs by system: ``"baseline"``, ``"copy"`` (the same, byte for byte),
        ``"slightly-better"`` and ``"clearly-better"``.
    documents : list of str
        The document of every segment.
    domains : list of str
        The domain of every segment.
    """

    references: list[list[str]]
    systems: dict[str, list[str]]
    documents: list[str]
    domains: list[str]

    def __repr__(self) -> str:
        """Return a summary on one line; the fields have all texts."""
        n_references = len(self.references[0])
        return (
            f"<Sample of {len(self.references)} segments with {n_references} references, systems "
            f"{', '.join(self.systems)}, {len(set(self.documents))} documents, "
            f"{len(set(self.domains))} domains>"
        )


SYSTEMS = ("baseline", "copy", "slightly-better", "clearly-better")


def load_sample() -> Sample:
    """Load the bundled sample.

    Examples
    --------
    >>> sample = load_sample()
    >>> len(sample.references), list(sample.systems)
    (480, ['baseline', 'copy', 'slightly-better', 'clearly-better'])
    """
    streams = [_lines(f"reference.{name}.txt") for name in "AB"]
    labels = [line.split("\t") for line in _lines("documents.tsv")]
    return Sample(
        references=[list(row) for row in zip(*streams, strict=True)],
        systems={name: _lines(f"systems/{name}.txt") for name in SYSTEMS},
        documents=[document for _, document in labels],
        domains=[domain for domain, _ in labels],
    )


def guide() -> str:
    """Return the page for coding assistants, in Markdown, which `evalstats guide` prints.

    Examples
    --------
    >>> guide().splitlines()[0]
    '# evalstats: a guide for assistants'
    """
    return resources.files(__package__).joinpath("guide.md").read_text(encoding="utf-8")


def _lines(name: str) -> list[str]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return text.split("\n")[:-1]
