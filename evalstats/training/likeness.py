"""Whether texts belong to their references, or look as if somebody had mixed them up.

Two texts that say the same share more of their characters than two that do not, in every language
and whatever tokenisation has done to them. So no threshold is needed: a text is compared with its
own references and with those of others, and the order counts, not the size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def closer(text: str, own: Iterable[str], other: Iterable[str]) -> int:
    """Return 1 where a text is more like the first references than the second, -1 or 0.

    >>> closer("the cat sat", ["the cat sits"], ["a dog", "it rains"])
    1
    """
    first, second = (max((_likeness(text, r) for r in texts), default=0) for texts in (own, other))
    return (first > second) - (first < second)


def belong(texts: Sequence[str], references: Sequence[Sequence[str]]) -> bool:
    """Return whether texts may be of these references, segment by segment.

    Each is compared with its own references and with those of the next segment, where these differ.
    Where texts and references have nothing to do with each other, or come in another order, the two
    are about equally often the nearer ones, or neither is; where they belong together, the own ones
    nearly always are.

    >>> english = [["a cat"], ["the rain"], ["two houses"], ["my old book"]]
    >>> belong(["a cat", "rain", "two Houses", "old book"], english)
    True
    >>> belong(["two houses", "a cat", "old book", "rain"], english)
    False
    """
    following = [*references[1:], *references[:1]]
    pairs = zip(texts, references, following, strict=True)
    found = [closer(text, own, other) for text, own, other in pairs if set(own) != set(other)]
    return found.count(1) >= max(4 * found.count(-1), len(found) / 2)


def _likeness(a: str, b: str) -> float:
    """Return the share of the trigrams of two texts that both have, in [0, 1]."""
    first, second = _trigrams(a), _trigrams(b)
    return len(first & second) / len(first | second)


def _trigrams(text: str) -> set[str]:
    padded = "  " + "".join(text.split()).casefold() + "  "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}
