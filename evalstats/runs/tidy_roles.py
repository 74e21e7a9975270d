"""What the columns of a table of scores are, by their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evalstats.errors import InputError


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Names of columns, less everything but letters and digits, by what is in the column. Of several
#: lines the first counts that a table has something of.
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
_LABELS = _words(
    "document documentid documentname doc docid docname passage passageid group groupid cluster "
    "clusterid conversation conversationid speaker speakerid domain genre category subject topic "
    "template language lang split"
)
#: Texts that items are asked about: only that they are the same is of interest.
_ASKED = ("source", "src", "reference", "ref", "question")
#: How names of metrics begin; anything else may as well be a system.
_METRICS = _words(
    "bleu sacrebleu chrf ter wer cer comet cometkiwi xcomet metricx bleurt bertscore gemba meteor "
    "rouge acc accuracy exact em f1 precision recall score perplexity loss"
)
_LOWER = _words("ter wer cer mer per der hter perplexity ppl loss nll error errors errorrate edits")
#: Made for scores that are better the lower, but often given with the sign turned.
_TURNED = "metricx"


class Roles(NamedTuple):
    """Which column is what; None where there is none.

    `others` are columns with names that say nothing; `spare` are those that could have had a part
    which another column has.
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
    asked: tuple[str, ...]
    others: tuple[str, ...]
    spare: tuple[str, ...]

    @property
    def has_sums(self) -> bool:
        """Whether there are numerators and denominators."""
        return self.numerator is not None and self.denominator is not None

    @property
    def counts_errors(self) -> bool:
        """Whether the numerators are better the lower."""
        return plain(self.numerator or "") in _LOWER


def roles_of(path: str, names: Iterable[str], wanted: Iterable[str]) -> Roles:
    """Return which column is what, or say which two claim the same part."""
    names = list(names)
    called = {name: plain(name) for name in names}
    found: dict[str, str | None] = {}
    spare = []
    for role, lines in _ROLES.items():
        claims = [[n for n in names if called[n] in line.split()] for line in lines]
        first = next((some for some in claims if some), [])
        if len(first) > 1:
            raise InputError(
                f"{path} has several columns for the {role}: {', '.join(map(repr, first))}; call "
                f"one of them {role!r} and the others something else, or leave them out"
            )
        found[role] = first[0] if first else None
        spare += [name for some in claims for name in some if name not in first]
    taken = {name for name in found.values() if name is not None}
    if found["numerator"] is None or found["denominator"] is None:
        # One of them alone may be anything.
        taken -= {found["numerator"], found["denominator"]} - {found["segment"]}
    wishes = {plain(name) for name in wanted}
    labels = [n for n in names if n not in taken and called[n] in wishes]
    labels += [
        n for label in _LABELS for n in names
        if called[n] == label and n not in (*taken, *labels)
    ]  # fmt: skip
    labels += [n for n in names if called[n].endswith("hash") and n not in (*taken, *labels)]
    asked = [n for n in names if called[n] in _ASKED and n not in (*taken, *labels)]
    rest = [n for n in names if n not in {*taken, *labels, *asked}]
    return Roles(
        **found,
        labels=tuple(labels),
        asked=tuple(asked),
        others=tuple(name for name in rest if name not in spare),
        spare=tuple(dict.fromkeys(name for name in rest if name in spare)),
    )


def plain(name: str) -> str:
    """Return a name without case, blanks and punctuation: "Segment ID" is "segmentid"."""
    return "".join(c for c in name.casefold() if c.isalnum())


def is_metric(name: str) -> bool:
    """Return whether a name is that of a metric, as far as is known."""
    first = "".join(c if c.isalnum() else " " for c in name.casefold()).split()[:1]
    known = (*_METRICS, *_LOWER)
    return any(word in known or word.rstrip("0123456789") in known for word in first)


def direction(name: str, largest: float) -> tuple[str, bool]:
    """Return a metric's name, less the arrow after it, and whether higher is better.

    Without an arrow, error rates and losses are better the lower, and everything else the higher.
    """
    for arrow, higher in (("↑", True), ("↓", False)):
        if name.endswith(arrow):
            return name.removesuffix(arrow).strip(), higher
    if plain(name).startswith(_TURNED):
        return name, largest <= 0
    return name, plain(name) not in _LOWER
