r"""Tokenise a corpus at once, into exactly the tokens of sacreBLEU's tokenisers.

sacreBLEU's objects are the definition: ``tokenizer(text.rstrip()).split()``, line by line. For 13a,
zh, intl, none and char the same tokens are found by classifying all characters of a corpus with one
table and looking at neighbours, which is several times faster. All other tokenisers are called line
by line.

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

Texts are arrays of code points: UTF-32 has one integer per character, so a whole corpus is one
array and a character class is one table look-up. Lone surrogates are characters of a Python string
like any other: "surrogatepass" carries them through.

sacreBLEU's private names are used only here, and a contract test checks them with the oldest and
the newest supported version. sacreBLEU is imported when first needed, which takes 100 ms.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, pairwise
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import Argument, InputError, MissingExtraError
from evalstats.text.porter import stem
from evalstats.text.ragged import Ragged, blocks, offsets_of

#: Number of code points.
UNICODE = 0x110000
#: Text is converted in blocks of about this many characters. A few temporaries of this size fit
#: into a core's cache, so the time per character is the same for small and large corpora.
BLOCK_CHARACTERS = 1 << 17
BLOCK_TEXTS = 1 << 16
#: Character classes, one bit each.
SPACE, ISOLATED, PUNCTUATION, DIGIT, DASH = 1, 2, 4, 8, 16
#: The word splitting of chrF++, which is not a tokeniser of sacreBLEU's BLEU.
CHRF_WORDS = "words of chrF++"
_ALPHANUMERIC = re.compile("[a-z0-9]+")
#: What to install for the tokenisers of sacreBLEU that need a package.
_EXTRAS = {
    "ja-mecab": "sacrebleu[ja]",
    "ko-mecab": "sacrebleu[ko]",
    "spm": "sentencepiece",
    "flores101": "sentencepiece",
    "flores200": "sentencepiece",
    "spBLEU-1K": "sentencepiece",
}
#: Two-letter codes of languages without spaces between words.
LANGUAGES = {"ja": "Japanese", "zh": "Chinese", "ko": "Korean", "th": "Thai"}
UNSPACED = {code: name for code, name in LANGUAGES.items() if code != "ko"}
#: Their other codes (ISO 639-3).
_CODES = {"jpn": "ja", "zho": "zh", "cmn": "zh", "yue": "zh", "kor": "ko", "tha": "th"}
#: First and last letters of their scripts; Japanese mixes kana with Chinese characters.
_SCRIPTS = {
    "ja": ((0x3040, 0x30FF),),
    "zh": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2FA1F)),
    "ko": ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF)),
    "th": ((0x0E00, 0x0E7F),),
}
#: Number of texts to examine.
_SAMPLE = 1000
#: Japanese has a larger share of kana, and segmented text a larger share of spaces.
_KANA, _SPACES = 0.05, 0.15
#: A pair of languages at the end of a name: en-ja, en-ja_JP, eng_Latn-jpn_Jpan.
_PAIR = re.compile(
    r"(?:^|[^A-Za-z])[a-z]{2,3}(?:_[A-Z][a-z]{3})?-([a-z]{2,3})(?:_[A-Z][A-Za-z]+)?$"
)

#: A word of several letters.
_WORD = re.compile(r"[^\W\d_]{2,}")
#: Tokens with more letters than the first are not words; with one token per text, the second.
_LONGEST_WORDS, _LONGEST_ALONE, _ONE_EACH = 10, 7, 1.2

Classes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


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
    r"""Return which characters `str.split` splits at; ``\s`` in ``re`` uses the same rule."""
    table = np.ones(UNICODE, dtype=np.bool_)
    for piece in string_of(np.arange(UNICODE, dtype=np.int32)).split():
        table[ord(piece[0]) : ord(piece[-1]) + 1] = False
    table.flags.writeable = False
    return table


def text_blocks(texts: Sequence[str], lowercase: bool = False) -> Iterator[Sequence[str]]:
    """Cut a corpus into consecutive blocks of bounded size, in lower case if asked for."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    for start, stop in blocks(offsets_of(lengths), BLOCK_CHARACTERS, BLOCK_TEXTS):
        block = texts[start:stop]
        # Each text by itself: a final sigma depends on its neighbours.
        yield [text.lower() for text in block] if lowercase else block


def characters(texts: Sequence[str], *, whitespace: bool = False) -> Ragged:
    """Return the code points of every text; whitespace only on request."""
    codes = code_points("".join(texts))
    offsets = offsets_of(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    if whitespace:
        return Ragged(codes, offsets)
    kept = ~whitespace_table()[codes]
    # Indexing by position is twice as fast as masking.
    return Ragged(codes[np.flatnonzero(kept)], offsets_of(kept)[offsets])


class Tokens(NamedTuple):
    """Tokens of n texts; tokens of one character are stored separately from longer ones.

    The characters need neither a string object nor a dictionary to become ids: `characters`, (T,),
    are code points, and -1 for longer tokens, which are in `words` in order. Text i has the tokens
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


class _Rules(NamedTuple):
    """The rules of a tokeniser that splits at characters."""

    prepare: Callable[[str], str]  # one line, before it joins the corpus
    classes: Classes  # (0x110000,) class of every code point
    edge: int  # class of the start and end of a line
    cuts: Callable[[NDArray[np.int32], Classes], Mask]  # where a token begins without whitespace


def tokenize_blocks(texts: Sequence[str], tokenizer: str, lowercase: bool) -> Iterator[Tokens]:
    """Tokenise like sacreBLEU's BLEU, in blocks of consecutive texts, to bound memory.

    `tokenizer` is a name of sacreBLEU's ``BLEU.TOKENIZERS``; ``"none"`` splits at whitespace.
    `CHRF_WORDS` splits into the words of chrF++: a word of several characters loses one ASCII
    punctuation mark to a token of its own, the last character if it is one, otherwise the first
    (``(hi)`` gives ``(hi`` and ``)``).
    """
    if tokenizer == "char":
        # sacreBLEU joins the characters with spaces and splits again: whitespace is lost.
        return character_blocks(texts, lowercase, whitespace=False)
    lines = text_blocks(texts, lowercase)
    if tokenizer in _RULES:
        rules = _RULES[tokenizer]()
        return (_split(block, rules) for block in lines)
    split = sacrebleu_tokenizer(tokenizer)
    return (from_lists(split(text.rstrip()).split() for text in block) for block in lines)


def character_blocks(texts: Sequence[str], lowercase: bool, whitespace: bool) -> Iterator[Tokens]:
    """Split texts into characters, with whitespace or without."""
    for block in text_blocks(texts, lowercase):
        tokens = characters(block, whitespace=whitespace)
        yield Tokens(tokens.values, [], tokens.offsets)


def alphanumeric_blocks(texts: Sequence[str], stemmed: bool) -> Iterator[Tokens]:
    """Split texts as `alphanumeric` does."""
    for block in text_blocks(texts):
        yield from_lists(alphanumeric(text, stemmed) for text in block)


def alphanumeric(text: str, stemmed: bool) -> list[str]:
    """Return the runs of ASCII letters and digits of a text in lower case, as ROUGE does.

    With `stemmed`, words of more than three characters are replaced by Porter's stem.
    """
    words = _ALPHANUMERIC.findall(text.lower())
    return [stem(w) if len(w) > 3 else w for w in words] if stemmed else words


def tercom_tokens(texts: Sequence[str], *options: bool, twice: bool = False) -> Tokens:
    """Tokenise texts line by line as sacreBLEU's TER does, or twice, as it does references.

    The options are `normalized`, `no_punct`, `asian_support` and `case_sensitive`.
    """
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    # Without its cache of all lines.
    tokenizer = partial(TercomTokenizer.__call__.__wrapped__, TercomTokenizer(*options))
    lines = (tokenizer(text.rstrip()) for text in texts)
    if twice:
        lines = (tokenizer(line.rstrip()) for line in lines)
    return from_lists(line.split() for line in lines)


def from_lists(lists: Iterable[Sequence[Any]]) -> Tokens:
    """Return token lists, one per text, as `Tokens`; tokens may be any hashable objects."""
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
    # A space before, between and after the lines, so that every character has two neighbours. The
    # edges are computed from the lengths, so a character of a text is never taken for an edge.
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

    ids = np.where(single, codes[starts], -1).astype(np.int32, copy=False)
    codes[starts[single]] = ord(" ")
    return Tokens(ids, string_of(codes).split(), np.searchsorted(starts, edges))


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
    if not len(marks):
        return cut[:-1]
    first = np.concatenate(([True], np.diff(marks) > 1))
    run = np.cumsum(first) - 1  # the run that a mark belongs to
    start = marks[first]
    size = np.bincount(run)
    digit_before = ((classes[start - 1] & DIGIT) > 0)[run]
    digit_after = ((classes[start + size] & DIGIT) > 0)[run]
    place, size = marks - start[run], size[run]
    padded = (place + digit_before) % 2 == 0  # by rule 1
    cut[marks[(size > 1) | padded | ~digit_after]] = True
    cut[marks[(place < size - 1) | padded | ~digit_after] + 1] = True
    return cut[:-1]


def _chrf_cuts(codes: NDArray[np.int32], classes: Classes) -> Mask:
    """Mark the places at which chrF++ separates punctuation: only at the ends of words."""
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


def _western() -> dict[int, Any]:
    return {
        ISOLATED: code_points("".join(c for c in string.punctuation if c not in "',-.")),
        PUNCTUATION: code_points(".,"),
        DIGIT: code_points("0123456789"),
        DASH: code_points("-"),
    }


def _rules_zh() -> _Rules:
    from sacrebleu.tokenizers.tokenizer_zh import _UCODE_RANGES

    members = _western()
    chinese = np.zeros(UNICODE, dtype=np.bool_)
    for low, high in _UCODE_RANGES:
        # sacreBLEU compares strings, and two of its bounds have two characters ("\u20000" is
        # U+2000, "0"): a single character is above such a bound from the next code point on.
        chinese[ord(low[0]) + (len(low) > 1) : ord(high[0]) + 1] = True
    chinese[members[ISOLATED]] = True
    return _Rules(str.strip, _classes({**members, ISOLATED: chinese}), SPACE | DIGIT, _rule_cuts)


def _rules_intl() -> _Rules:
    # Installed with sacreBLEU, whose tokeniser uses its Unicode tables; Python's may be older.
    import regex

    classes = {PUNCTUATION: r"\p{P}+", DIGIT: r"\p{N}+", ISOLATED: r"\p{S}+"}
    members = {bit: table_of(regex.compile(pattern)) for bit, pattern in classes.items()}
    return _Rules(str.rstrip, _classes(members), SPACE | DIGIT, _rule_cuts)


_MARKS = {PUNCTUATION: code_points(string.punctuation)}
_RULES: dict[str, Callable[[], _Rules]] = {
    "13a": cache(lambda: _Rules(_prepare_13a, _classes(_western()), SPACE, _rule_cuts)),
    "intl": cache(_rules_intl),
    "none": cache(lambda: _Rules(str, _classes({}), SPACE, _rule_cuts)),
    CHRF_WORDS: cache(lambda: _Rules(str, _classes(_MARKS), SPACE, _chrf_cuts)),
    "zh": cache(_rules_zh),
}


@cache
def sacrebleu_version() -> str:
    """Return the installed sacreBLEU's version without importing it."""
    from importlib import metadata

    try:
        return metadata.version("sacrebleu")
    except metadata.PackageNotFoundError:  # a frozen app
        import sacrebleu

        return str(sacrebleu.__version__)


def tokenizer_names() -> tuple[str, ...]:
    """Return the names of all tokenisers of the installed sacreBLEU."""
    from sacrebleu.metrics.bleu import BLEU

    return tuple(BLEU.TOKENIZERS)


def check_tokenizer(name: str) -> None:
    """Raise for names that `sacrebleu_tokenizer` refuses, without downloading a model."""
    from importlib import util

    known = name in tokenizer_names() and _EXTRAS.get(name) == "sentencepiece"
    if not (known and util.find_spec("sentencepiece")):
        sacrebleu_tokenizer(name)


@cache
def sacrebleu_tokenizer(name: str) -> Callable[[str], str]:
    """Make a tokeniser of sacreBLEU; raise if it does not exist or needs a missing package.

    Tokenisers are cached, since some of them load a model.
    """
    from sacrebleu.metrics import bleu

    names = tokenizer_names()
    if name not in names:
        raise InputError(
            f"must be one of {', '.join(names)}; got {shown(name)}", argument="tokenize"
        )
    try:
        made: Callable[[str], str] = bleu._get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:
        extra = _EXTRAS.get(name, "sacrebleu's extra for it")
        raise MissingExtraError(
            Argument("tokenize", name),
            f" requires a package that is not installed: pip install '{extra}' "
            f"({str(error).strip().splitlines()[0]})",
        ) from error
    except OSError as error:
        raise InputError(
            Argument("tokenize", name), f" requires a model that could not be downloaded ({error})"
        ) from error
    return made


def language_of(texts: Iterable[str]) -> str:
    """Return the code of the language, one of `LANGUAGES`, of most letters of the texts.

    Return "" for other languages, and if spaces already separate the words.

    >>> language_of(["今日は晴れです。"]), language_of(["今天 是 晴天 。"])
    ('ja', '')
    """
    text = "".join(islice(texts, _SAMPLE))
    if text.isascii():
        return ""
    codes = code_points(text)
    is_letter = (codes >= 0xC0) | ((codes | 32) - ord("a") < 26) & (codes >= ord("A"))
    n = {
        language: sum(int(np.count_nonzero((codes >= a) & (codes <= b))) for a, b in ranges)
        for language, ranges in _SCRIPTS.items()
    }
    likeliest = max(n, key=n.__getitem__)
    n_letters = sum(n.values())
    if 2 * n_letters <= np.count_nonzero(is_letter):
        return ""
    if likeliest in ("ja", "zh"):
        likeliest = "ja" if n["ja"] > _KANA * n_letters else "zh"
    is_apart = likeliest in UNSPACED and text.count(" ") > _SPACES * n_letters
    return "" if is_apart else likeliest


def target_language(name: str) -> str:
    """Return the target language, one of `LANGUAGES`, of a name that ends in a language pair.

    >>> target_language("wmt22.en-ja"), target_language("cs-uk_UA"), target_language("ja_JP")
    ('ja', '', '')
    """
    pair = _PAIR.search(name)
    code = pair[1] if pair else ""
    code = _CODES.get(code, code)
    return code if code in LANGUAGES else ""


def letter_counts(texts: Iterable[str]) -> tuple[int, int, int]:
    """Count the letters of words, how many of them are ASCII, and how many have no case.

    Single letters (variables of a formula) are not words. Marks on letters are not letters.

    >>> letter_counts(["x > ä cat", "ខ្មែរ"])
    (6, 3, 3)
    """
    text = " ".join(texts)
    plain = "".join(character for character in text if category(character)[0] != "M")
    letters = "".join(_WORD.findall(plain))
    n_ascii = sum(map(str.isascii, letters))
    return len(letters), n_ascii, sum(letter.lower() == letter.upper() for letter in letters)


def unsplit(texts: Sequence[str], n_tokens: int) -> str:
    """Return that the tokens of these texts are too long to be words, or "".

    Only for scripts without case, whose words have 3 to 7 letters if spaces separate them (Arabic,
    Hebrew, Hindi, Amharic).
    """
    n_letters, _, n_uncased = letter_counts(texts)
    is_one_each = n_tokens <= _ONE_EACH * len(texts)
    longest = _LONGEST_ALONE if is_one_each else _LONGEST_WORDS
    if 2 * n_uncased <= n_letters or n_letters <= longest * n_tokens:
        return ""
    n = n_letters / max(n_tokens, 1)
    return f"tokens of the references have {n:.0f} letters on average, so they are not words"
