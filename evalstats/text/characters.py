"""Texts as arrays of code points: what chrF counts, and what the tokenisers classify.

UTF-32 has one integer a character, so a whole corpus is one array and a character class is one
table look-up. Lone surrogates are characters of a Python string like any other: "surrogatepass"
carries them through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ragged import Ragged, blocks, offsets_of

UNICODE = 0x110000  # number of code points

# Text is converted in blocks of about so many characters: a few temporaries of this size stay in
# a core's own cache, which keeps the cost of a character the same for small and large corpora.
BLOCK_CHARACTERS = 1 << 17
BLOCK_TEXTS = 1 << 16


def code_points(text: str) -> NDArray[np.int32]:
    """Return the code points of a string, (len(text),); the array is writable."""
    encoded = bytearray(text.encode("utf-32-le", "surrogatepass"))
    return np.frombuffer(encoded, dtype="<i4").astype(np.int32, copy=False)


def string_of(codes: NDArray[np.int32]) -> str:
    """Invert `code_points`."""
    return codes.astype("<i4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def table_of(pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    """Tabulate which code points are in a character class, (0x110000,).

    Evaluating the pattern itself leaves no room for two Unicode versions.
    """
    table = np.zeros(UNICODE, dtype=np.bool_)
    for match in pattern.finditer(string_of(np.arange(UNICODE, dtype=np.int32))):
        table[match.start() : match.end()] = True
    return table


@cache
def whitespace_table() -> NDArray[np.bool_]:
    r"""Return the characters that `str.split` splits at; ``re`` tests ``\s`` by the same rule."""
    table = table_of(re.compile(r"\s+"))
    table.flags.writeable = False
    return table


def text_blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a corpus into consecutive blocks of bounded size."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    for start, stop in blocks(offsets_of(lengths), BLOCK_CHARACTERS, BLOCK_TEXTS):
        yield texts[start:stop]


def characters(texts: Sequence[str], *, whitespace: bool = False) -> Ragged:
    """Return the code points of every text; those that `str.split` splits at only on request."""
    codes = code_points("".join(texts))
    offsets = offsets_of(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    if whitespace:
        return Ragged(codes, offsets)
    kept = ~whitespace_table()[codes]
    # Taking positions is twice as fast as masking.
    return Ragged(codes[np.flatnonzero(kept)], offsets_of(kept)[offsets])
