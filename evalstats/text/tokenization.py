r"""Tokenise a corpus at once, into exactly the tokens of sacreBLEU's tokenisers.

sacreBLEU's objects are the definition: ``tokenizer(text.rstrip()).split()``, line by line. For
13a, zh, intl, none and char the same tokens are found by classifying all characters of a corpus
with one table and looking at neighbours, which is several times faster. Every other tokeniser is
called line by line.

Why neighbours suffice. 13a, zh and intl share two rules, applied one after the other to a text
whose *punctuation* (``.`` and ``,``; for intl every ``\p{P}``) and *digits* (``\p{N}``) differ:

1. ``([^digit])(punctuation)`` -> ``\1 \2 `` (a space on both sides of the punctuation),
2. ``(punctuation)([^digit])`` -> `` \1 \2``.

Matches do not overlap, so in a run of punctuation p_0 ... p_{m-1} between the characters c and d,
rule 1 takes every second member: p_0, p_2, ... if c is not a digit, p_1, p_3, ... if it is one.
That puts a space between any two members. Rule 2 then separates every member before such a space,
and p_{m-1} if d is not a digit.
Two things stay attached: p_{m-1} to a digit d if rule 1 left it alone, and p_0 to a digit c if it
is the only mark and is attached to d.

=========  ==========
text       tokens
=========  ==========
``1.5``    1.5
``a.5``    a . 5
``1.a``    1 . a
``1..5``   1 . . 5
``1...5``  1 . . .5
=========  ==========

At the edge of a line no rule matches, exactly as if a digit stood there. (13a pads the line with
spaces, so its edges act as non-digits.)

Hence two tokens that touch always include one of a single character. Blanking those leaves the
longer tokens delimited by whitespace, and one `str.split` of the corpus yields them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.text import sacrebleu
from evalstats.text.characters import (
    UNICODE,
    characters,
    code_points,
    string_of,
    table_of,
    text_blocks,
    whitespace_table,
)
from evalstats.text.porter import stem
from evalstats.text.ragged import offsets_of

# Character classes, one bit each.
SPACE, ISOLATED, PUNCTUATION, DIGIT, DASH = 1, 2, 4, 8, 16
_ALPHANUMERIC = re.compile("[a-z0-9]+")

Classes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Tokens:
    """Tokens of n texts, one-character tokens apart from longer ones.

    The characters need neither a string object nor a dictionary to become ids: `characters`, (T,),
    are code points, and -1 for a longer token, which `words` have in order. Text i has the tokens
    ``offsets[i]`` to ``offsets[i + 1]``.
    """

    characters: NDArray[np.int32]
    words: list[str]
    offsets: NDArray[np.int64]

    def lists(self) -> list[list[str]]:
        """Return the tokens of every text as strings."""
        words = iter(self.words)
        tokens = [chr(code) if code >= 0 else next(words) for code in self.characters.tolist()]
        edges = self.offsets.tolist()
        return [tokens[a:b] for a, b in pairwise(edges)]


@dataclass(frozen=True)
class _Rules:
    """What distinguishes one tokeniser that splits at characters from another."""

    prepare: Callable[[str], str]  # one line, before it joins the corpus
    classes: Classes  # (0x110000,) class of every code point
    edge: int  # class of the start and end of a line
    cuts: Callable[[NDArray[np.int32], Classes], Mask]  # where a token begins without whitespace


def tokenize_blocks(texts: Sequence[str], tokenizer: str, lowercase: bool) -> Iterator[Tokens]:
    """Tokenise as sacreBLEU's BLEU does, some consecutive texts at a time: memory stays bounded.

    `tokenizer` is a name of sacreBLEU's ``BLEU.TOKENIZERS``; ``"none"`` splits at whitespace.
    """
    tokenize = _block_tokenizer(tokenizer)
    return map(tokenize, _lowercased(texts, lowercase))


def chrf_word_blocks(texts: Sequence[str], lowercase: bool) -> Iterator[Tokens]:
    """Split texts into the words of chrF++.

    A word of several characters loses one ASCII punctuation mark to a token of its own: the last
    character if it is one, otherwise the first (``(hi)`` gives ``(hi`` and ``)``).
    """
    rules = _Rules(str, _chrf_classes(), SPACE, _chrf_cuts)
    return (_split(block, rules) for block in _lowercased(texts, lowercase))


def alphanumeric_blocks(texts: Sequence[str], stemmed: bool) -> Iterator[Tokens]:
    """Split texts as `alphanumeric` does."""
    for block in text_blocks(texts):
        yield from_lists(alphanumeric(text, stemmed) for text in block)


def alphanumeric(text: str, stemmed: bool) -> list[str]:
    """Return the runs of ASCII letters and digits of a text in lower case, as ROUGE does.

    Of words with more than three characters the stem may stand, which is Porter's.
    """
    words = _ALPHANUMERIC.findall(text.lower())
    return [stem(w) if len(w) > 3 else w for w in words] if stemmed else words


def character_blocks(texts: Sequence[str], lowercase: bool, whitespace: bool) -> Iterator[Tokens]:
    """Split texts into characters, with whitespace or without."""
    return (_characters(block, whitespace) for block in _lowercased(texts, lowercase))


def _lowercased(texts: Sequence[str], lowercase: bool) -> Iterator[Sequence[str]]:
    # Each text by itself: a final sigma depends on its neighbours.
    for block in text_blocks(texts):
        yield [text.lower() for text in block] if lowercase else block


def tercom_tokens(texts: Sequence[str], *options: bool, twice: bool = False) -> Tokens:
    """Tokenise texts line by line as sacreBLEU's TER does, or twice, as it does references.

    The options are `normalized`, `no_punct`, `asian_support` and `case_sensitive`.
    """
    tokenizer = sacrebleu.tercom_tokenizer(*options)
    lines = (tokenizer(text.rstrip()) for text in texts)
    if twice:
        lines = (tokenizer(line.rstrip()) for line in lines)
    return from_lists(line.split() for line in lines)


def _block_tokenizer(name: str) -> Callable[[Sequence[str]], Tokens]:
    if name == "char":
        # sacreBLEU joins the characters with spaces and splits again: whitespace is lost.
        return _characters
    if name in _RULES:
        rules = _RULES[name]()
        return lambda texts: _split(texts, rules)
    tokenizer = sacrebleu.tokenizer(name)
    return lambda texts: from_lists(tokenizer(text.rstrip()).split() for text in texts)


def _characters(texts: Sequence[str], whitespace: bool = False) -> Tokens:
    ragged = characters(texts, whitespace=whitespace)
    return Tokens(ragged.values, [], ragged.offsets)


def from_lists(lists: Iterable[Sequence[Any]]) -> Tokens:
    """Return token lists, one a text, as `Tokens`; the tokens may be anything hashable."""
    words: list[Any] = []
    lengths = []
    for tokens in lists:
        words += tokens
        lengths.append(len(tokens))
    return Tokens(
        np.full(len(words), -1, dtype=np.int32), words, offsets_of(np.array(lengths, np.int64))
    )


def _split(texts: Sequence[str], rules: _Rules) -> Tokens:
    """Split texts at whitespace and at the cuts of the rules."""
    lines = [rules.prepare(text) for text in texts]
    lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
    # A space before, between and after the lines: every character has two neighbours. Where the
    # edges are follows from the lengths, so no character of a text can be mistaken for one.
    codes = code_points(f" {' '.join(lines)} ")
    edges = offsets_of(lengths + 1)
    classes = rules.classes[codes]
    classes[edges] = rules.edge

    space = (classes & SPACE).view(np.bool_)
    boundary = rules.cuts(codes, classes)  # between the character before and this one
    boundary |= space
    boundary[1:] |= space[:-1]
    starts = np.flatnonzero(boundary & ~space)
    lasts = np.flatnonzero(boundary[1:] & ~space[:-1])
    single = starts == lasts

    found = np.where(single, codes[starts], -1).astype(np.int32, copy=False)
    codes[starts[single]] = ord(" ")
    return Tokens(found, string_of(codes).split(), np.searchsorted(starts, edges))


def _rule_cuts(codes: NDArray[np.int32], classes: Classes) -> Mask:
    """Mark the characters that begin a token without whitespace (see the module's docstring)."""
    cut = np.zeros(len(classes) + 1, dtype=np.bool_)
    alone = np.flatnonzero(classes & ISOLATED > 0)
    dash = np.flatnonzero(classes & DASH > 0)
    # An edge may act as a digit for punctuation; a dash is split from a real digit only.
    alone = np.concatenate((alone, dash[(classes[dash - 1] & (DIGIT | SPACE)) == DIGIT]))
    cut[alone] = True
    cut[alone + 1] = True

    marks = np.flatnonzero(classes & PUNCTUATION > 0)
    if len(marks):
        before, after = _punctuation_cuts(marks, classes)
        cut[marks[before]] = True
        cut[marks[after] + 1] = True
    return cut[:-1]


def _punctuation_cuts(marks: NDArray[np.intp], classes: Classes) -> tuple[Mask, Mask]:
    """Decide for every punctuation mark whether it is cut from its neighbours."""
    first = np.concatenate(([True], np.diff(marks) > 1))
    run = np.cumsum(first) - 1  # the run that a mark belongs to
    start = marks[first]
    size = np.bincount(run)
    digit_before = ((classes[start - 1] & DIGIT) > 0)[run]
    digit_after = ((classes[start + size] & DIGIT) > 0)[run]
    place, size = marks - start[run], size[run]
    padded = (place + digit_before) % 2 == 0  # by rule 1
    after = (place < size - 1) | padded | ~digit_after
    before = (size > 1) | padded | ~digit_after
    return before, after


def _chrf_cuts(codes: NDArray[np.int32], classes: Classes) -> Mask:
    """Mark where chrF++ separates punctuation; it looks at the ends of words only."""
    cut = np.zeros(len(classes) + 1, dtype=np.bool_)
    space = (classes & SPACE) > 0
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    lasts = np.flatnonzero(~space[:-1] & space[1:])
    mark = (classes & PUNCTUATION) > 0
    longer = starts < lasts
    at_end = longer & mark[lasts]
    at_start = longer & ~mark[lasts] & mark[starts]
    cut[lasts[at_end]] = True
    cut[starts[at_start] + 1] = True
    return cut[:-1]


def _no_cuts(codes: NDArray[np.int32], classes: Classes) -> Mask:
    return np.zeros(len(classes), dtype=np.bool_)


def _prepare_13a(line: str) -> str:
    """Apply the replacements of mteval-v13a, in sacreBLEU's order."""
    line = line.rstrip()
    if "&" in line or "\n" in line or "<skipped>" in line:
        line = line.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
        line = line.replace("&quot;", '"').replace("&amp;", "&")
        line = line.replace("&lt;", "<").replace("&gt;", ">")
    return line


def _classes(members: dict[int, Any]) -> Classes:
    table = np.zeros(UNICODE, dtype=np.uint8)
    table[whitespace_table()] = SPACE
    for bit, characters_of_class in members.items():
        table[characters_of_class] |= bit
    table.flags.writeable = False
    return table


@cache
def _chrf_classes() -> Classes:
    return _classes({PUNCTUATION: code_points(string.punctuation)})


def _western() -> dict[int, Any]:
    return {
        ISOLATED: code_points("".join(c for c in string.punctuation if c not in "',-.")),
        PUNCTUATION: code_points(".,"),
        DIGIT: code_points("0123456789"),
        DASH: code_points("-"),
    }


def _rules_zh() -> _Rules:
    members = _western()
    chinese = np.zeros(UNICODE, dtype=np.bool_)
    for low, high in sacrebleu.chinese_ranges():
        # sacreBLEU compares strings, and two of its bounds have two characters ("\u20000" is
        # U+2000, "0"): a single character is above such a bound from the next code point on.
        chinese[ord(low[0]) + (len(low) > 1) : ord(high[0]) + 1] = True
    chinese[members[ISOLATED]] = True
    return _Rules(str.strip, _classes({**members, ISOLATED: chinese}), SPACE | DIGIT, _rule_cuts)


def _rules_intl() -> _Rules:
    # It comes with sacreBLEU, whose tokeniser reads its Unicode tables; Python's may be older.
    import regex

    classes = {PUNCTUATION: r"\p{P}+", DIGIT: r"\p{N}+", ISOLATED: r"\p{S}+"}
    members = {bit: table_of(regex.compile(pattern)) for bit, pattern in classes.items()}
    return _Rules(str.rstrip, _classes(members), SPACE | DIGIT, _rule_cuts)


_RULES: dict[str, Callable[[], _Rules]] = {
    "13a": cache(lambda: _Rules(_prepare_13a, _classes(_western()), SPACE, _rule_cuts)),
    "intl": cache(_rules_intl),
    "none": cache(lambda: _Rules(str, _classes({}), SPACE, _no_cuts)),
    "zh": cache(_rules_zh),
}
