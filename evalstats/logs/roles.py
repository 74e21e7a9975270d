"""What the columns of a table of scores are, by their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evalstats.errors import InputError
from evalstats.logs.words import plain

#: Names of columns, less everything but letters and digits, by what is in the column: alternatives,
#: preferred first.
_ROLES: dict[str, tuple[str, ...]] = {
    "system": ("system systemname systemid sys model modelname modelid", "name"),
    "segment": (
        "segment segmentid seg segid segmentnumber",
        "itemid sampleid questionid instanceid exampleid sentenceid utteranceid uttid promptid "
        "problemid",
        "id key line lineid lineno linenumber index row rowid",
        # These may as well hold texts.
        "item sample question instance example sentence utterance utt prompt problem",
        "paragraph paragraphid",
        "document documentid doc docid",
    ),
    "score": ("score value",),
    "numerator": ("numerator num sum correct hits errors edits",),
    "denominator": ("denominator denom count total length words tokens",),
    "metric": ("metric metricname scorer measure",),
    "task": ("task taskname benchmark testset dataset", "lp langpair languagepair"),
    "filter": ("filter",),
}
#: What items are grouped by, in the order in which they are asked whether they tell items apart.
_LABELS = (
    "document documentid documentname doc docid docname passage passageid group groupid cluster "
    "clusterid conversation conversationid speaker speakerid domain genre category subject topic "
    "template language lang split"
)
#: Texts that items are asked about: only that they are the same is of interest.
_HASHED = ("source", "src", "reference", "ref", "question")


class Roles(NamedTuple):
    """Which column is what; None where there is none.

    `hashed` are texts that items are asked about; `others` columns with names that say nothing of
    the kind; `unused` those that could have had a part which another column has.
    """

    system: str | None
    segment: str | None
    score: str | None
    numerator: str | None
    denominator: str | None
    metric: str | None
    task: str | None
    filter: str | None
    labels: tuple[str, ...]
    hashed: tuple[str, ...]
    others: tuple[str, ...]
    unused: tuple[str, ...]

    @property
    def sums(self) -> tuple[str, str] | None:
        """The columns of numerators and denominators, where there are both."""
        if self.numerator is None or self.denominator is None:
            return None
        return self.numerator, self.denominator


def roles_of(path: str, names: Iterable[str], wanted: Iterable[str]) -> Roles:
    """Return which column is what, or say which two claim the same part."""
    names = list(names)
    called = {name: plain(name) for name in names}
    found: dict[str, str | None] = {}
    unused = []
    for role, lines in _ROLES.items():
        claims = [[n for n in names if called[n] in line.split()] for line in lines]
        first = next((some for some in claims if some), [])
        if len(first) > 1:
            raise InputError(
                f"{path} has several columns for the {role}: {', '.join(map(repr, first))}; call "
                f"one of them {role!r} and the others something else, or leave them out"
            )
        found[role] = first[0] if first else None
        unused += [name for some in claims for name in some if name not in first]
    taken = {name for name in found.values() if name is not None}
    if found["numerator"] is None or found["denominator"] is None:
        # One of them alone may be anything.
        taken -= {found["numerator"], found["denominator"]} - {found["segment"]}
        found["numerator"] = found["denominator"] = None
    wishes = {plain(name) for name in wanted}
    labels = [n for n in names if n not in taken and called[n] in wishes]
    labels += [
        n for label in _LABELS.split() for n in names
        if called[n] == label and n not in (*taken, *labels)
    ]  # fmt: skip
    labels += [n for n in names if called[n].endswith("hash") and n not in (*taken, *labels)]
    hashed = [n for n in names if called[n] in _HASHED and n not in (*taken, *labels)]
    rest = [n for n in names if n not in {*taken, *labels, *hashed}]
    return Roles(
        **found,
        labels=tuple(labels),
        hashed=tuple(hashed),
        others=tuple(name for name in rest if name not in unused),
        unused=tuple(dict.fromkeys(name for name in rest if name in unused)),
    )
