"""Whether outputs are aligned with the references of other segments.

A heading, a lost line or another order shifts outputs against their references, and metrics score
them all the same. A few outputs are compared with their own reference and with those near by, by
the words that they share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import Any, NamedTuple

from evalstats.results.records import Caution

#: Fewer segments show nothing.
_FEWEST = 8
#: Segments to examine, and segments to examine if these look shifted.
_FIRST, _THEN = 48, 1024
#: How far references are to which an output may belong.
_OFFSETS = (-1, 1, -2, 2)
#: An output that shares so many words with its reference (Dice, 1945) belongs to it. It belongs to
#: another one if it shares so many words, and so many times as many as with its own.
_OWN, _OTHER, _CLEARLY = 0.3, 0.25, 1.5
#: How many more outputs belong to references at one offset than to others, for a closer look; for a
#: caution; and for a caution as a share of the outputs examined.
_SUSPECT, _ENOUGH, _SHARE = 2, 5, 0.02
#: If fewer than this share of outputs belong to their own references, so many outputs are looked
#: for among so many references. At least so many, of so many words, must share so many words.
_FEW, _SOUGHT, _AMONG, _LEAST, _LONG, _ALIKE = 0.25, 32, 8192, 8, 3, 0.4
#: If so many texts have longer words, on average, there are no spaces between words. Then so many
#: letters are enough.
_FEW_TEXTS, _LONGEST_WORDS, _LETTERS = 10, 12, 30

Words = frozenset[str]


class Shift(NamedTuple):
    """A run of outputs, from a segment to another, that belong to references at an offset."""

    n: int  # outputs of the run beyond those that belong elsewhere
    offset: int
    first: int
    last: int


class Gold:
    """The words of the references of N segments, split when they are first asked for.

    `texts(i)` are the references of segment i, `None` if absent.
    """

    def __init__(self, n: int, texts: Callable[[int], Iterable[str | None]]) -> None:
        self.n, self._texts, self._known = n, texts, dict[int, list[Words]]()
        sample = [text for i in sampled(n, _FIRST) for text in texts(i) if text]
        few = sample[:_FEW_TEXTS]
        n_words = sum(len(text.split()) for text in few)
        self._is_spaced = sum(map(len, few)) <= _LONGEST_WORDS * n_words
        # Labels and phrases that repeat show nothing.
        self._usual = {text for text, times in Counter(sample).items() if times > 1}

    def words(self, text: str) -> Words:
        """Return the words of a text; pairs of characters for scripts without spaces."""
        if self._is_spaced:
            return frozenset(text.split())
        letters = "".join(text.split())[:_LETTERS]
        return frozenset(map(str.__add__, letters, letters[1:]))

    def shared(self, words: Words, i: int) -> float:
        """Return the share of words that an output has in common with a reference of segment i."""
        if i not in self._known:
            texts = self._texts(i) if 0 <= i < self.n else ()
            self._known[i] = [self.words(x) for x in texts if x and x not in self._usual]
        n, known = len(words), self._known[i]
        return max([2 * len(words & other) / (n + len(other) or 1) for other in known], default=0.0)

    def place(self, words: Words, i: int, among: Iterable[int], least: float) -> int | None:
        """Return the segment to which output i belongs, one of these or i; `None` if unclear."""
        own = self.shared(words, i)
        if own >= _OWN:
            return i
        (most, j), (second, _) = nlargest(2, ((self.shared(words, j), j) for j in among))
        if most >= max(least, _CLEARLY * own) and most > second:
            return j
        return i if own >= max(least, _CLEARLY * most) else None


def sampled(n: int, most: int) -> list[int]:
    """Return the places of at most so many of n segments, evenly spaced."""
    m = min(n, most)
    return [(2 * i + 1) * n // (2 * m) for i in range(m)]


def shift_of(places: Mapping[int, int]) -> Shift:
    """Return the clearest run of outputs, by segment, that belong to references at one offset."""
    offsets = {i: j - i for i, j in places.items()}
    best = Shift(0, 0, 0, 0)
    for offset, times in Counter(offsets.values()).items():
        n = first = 0
        for i, place in offsets.items() if offset and times >= _SUSPECT else ():
            if n <= 0:
                n, first = 0, i
            n += 1 if place == offset else -1
            best = max(best, Shift(n, offset, first, i))
    return best


def is_enough(shift: Shift, n: int) -> bool:
    """Return whether a run is long enough for a caution, among n outputs."""
    return shift.n >= max(_ENOUGH, _SHARE * n)


def places_near(texts: Any, gold: Gold, most: int = _FIRST) -> dict[int, int]:
    """Return the segments near by to which outputs belong, as far as it is clear."""
    places = {
        i: gold.place(gold.words(texts[i]), i, (i + k for k in _OFFSETS), _OTHER)
        for i in sampled(gold.n, most)
    }
    return {i: j for i, j in places.items() if j is not None}


def shifted(name: str, why: str) -> list[Caution]:
    """Return the caution that outputs match other references, if there is a reason."""
    said = f"Outputs of {name} match other references than their own: {why}."
    return [Caution(said, "shifted")] if why else []


def shift_cautions(outputs: Mapping[str, Any], streams: Sequence[Any]) -> dict[str, list[Caution]]:
    """Return cautions on systems whose outputs belong to the references of other segments."""
    n = len(streams[0])
    gold = Gold(n, lambda i: (stream[i] for stream in streams))
    return {name: shifted(name, said_of(x, gold)) for name, x in outputs.items() if n >= _FEWEST}


def batches_said(places: Mapping[int, int]) -> str:
    """Return to which references outputs in batches belong, from the places of some of them."""
    shift = shift_of(places)
    is_long = len(places) >= _FEWEST and is_enough(shift, len(places))
    return f"in their batches, the reference of {which(shift.offset)}" if is_long else ""


def said_of(texts: Any, gold: Gold) -> str:
    """Return to which references the outputs of a system belong, or "" if to their own."""
    places = places_near(texts, gold)
    if shift_of(places).n >= _SUSPECT:
        shift = shift_of(places_near(texts, gold, _THEN))
        if is_enough(shift, min(gold.n, _THEN)):
            return shift_said(shift, gold.n)
    if sum(i == j for i, j in places.items()) >= _FEW * min(gold.n, _FIRST):
        return ""
    others: dict[int, int] = {}
    among = range(min(gold.n, _AMONG))
    for n, i in enumerate(sampled(len(among), _SOUGHT)):
        words = gold.words(texts[i])
        # Short answers may be right answers to another question.
        j = gold.place(words, i, among, _ALIKE) if len(words) >= _LONG else None
        if j is not None and j != i:
            others[i] = j
        if 4 * len(others) < n - _LEAST:
            return ""
    if len({*others.values()}) < _LEAST:
        return ""
    ((offset, n),) = Counter(j - i for i, j in others.items()).most_common(1)
    if n >= _ENOUGH:
        first = next(i for i, j in others.items() if j - i == offset)
        return shift_said(Shift(n, offset, first, gold.n - 1), gold.n)
    i, j = next(iter(others.items()))
    return (
        f"for example, output {i + 1:,} the reference of segment {j + 1:,}. Pass outputs and "
        "references in the same order"
    )


def which(offset: int) -> str:
    """Return which segment is at an offset, in words."""
    if abs(offset) == 1:
        return "the segment before" if offset < 0 else "the next segment"
    return f"the segment {abs(offset):,} {'earlier' if offset < 0 else 'later'}"


def shift_said(shift: Shift, n: int) -> str:
    """Return where outputs are shifted, and what to look for."""
    slack = _SHARE * n + abs(shift.offset)
    on = "on" if shift.last + slack >= n - 1 else f"to {shift.last + 1:,}"
    where = f"from about segment {shift.first + 1:,} {on}, the reference of {which(shift.offset)}"
    if shift.offset < 0:
        return f"{where}. Look for an output too many there, such as a heading, or a lost reference"
    return f"{where}. Look for a lost output there, or a reference too many"
