"""Porter's stemmer (1980) in the variant of NLTK, which rouge_score uses.

Each step looks for the first of its suffixes that a word ends with, and replaces it if the stem
before it is long enough: a word is a string of consonants c and vowels v, and its measure is the
number of ``vc`` in it. NLTK's variant has a list of irregular words and rules of its own for
``ies``, ``ied``, ``y``, ``alli``, ``fulli`` and ``logi``.
"""

from __future__ import annotations

from functools import lru_cache

_VOWELS = frozenset("aeiou")


def _rules(text: str) -> list[tuple[str, str]]:
    """Read ``suffix:replacement`` pairs, in the order in which they are tried."""
    pairs = (pair.partition(":") for pair in text.split())
    return [(suffix, replacement) for suffix, _, replacement in pairs]


_IRREGULAR = dict(
    _rules(
        "sky:sky skies:sky dying:die lying:lie tying:tie news:news inning:inning innings:inning "
        "outing:outing outings:outing canning:canning cannings:canning howe:howe proceed:proceed "
        "exceed:exceed succeed:succeed"
    )
)
_PLURALS = _rules("sses:ss ies:i ss:ss s:")
_STEP_2 = _rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble fulli:ful logi:log"
)
_STEP_3 = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = _rules(
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: "
    "ize:"
)


@lru_cache(1 << 17)
def stem(word: str) -> str:
    """Return the stem of a word in lower case: what NLTK's ``PorterStemmer().stem`` returns.

    >>> [stem(word) for word in ("caresses", "relational", "hopping", "happily", "skies")]
    ['caress', 'relat', 'hop', 'happili', 'sky']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    # Remove an s; in short words "ies" becomes "ie".
    is_short = len(word) == 4 and word.endswith("ies")
    word = word[:-1] if is_short else _replaced(word, _PLURALS, -1)
    word = _without_past(word)
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    # Shorten double suffixes; a former "alli" may be shortened again.
    while word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    word = _replaced(word, _STEP_2, 0)
    word = _replaced(word, _STEP_3, 0)
    word = _replaced(word, _STEP_4, 1)
    # Remove a final e, and one l of "ll".
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """Return c for every consonant and v for every vowel; y after a consonant is a vowel."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Return whether a word ends like ``hop`` (not like ``how``) or is like ``at``."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _replaced(word: str, rules: list[tuple[str, str]], least: int) -> str:
    """Replace the first of the suffixes that fits, after a stem with a measure above `least`."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            before = word[: -len(suffix)]
            # The l of "logi" counts as part of the stem, and "ion" must follow s or t.
            counted = before + "l" if suffix == "logi" else before
            fits = _measure(counted) > least and (suffix != "ion" or before[-1] in "st")
            return before + replacement if fits else word
    return word


def _without_past(word: str) -> str:
    """Remove ``ied``, ``eed``, ``ed`` and ``ing``, and repair the stem."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    suffix = "ed" if word.endswith("ed") else "ing"
    before = word.removesuffix(suffix)
    if before == word or "v" not in _shape(before):
        return word
    if before.endswith(("at", "bl", "iz")):
        return before + "e"
    if before[-1:] == before[-2:-1] and _shape(before).endswith("c"):
        return before if before[-1] in "lsz" else before[:-1]
    return before + "e" if _measure(before) == 1 and _is_short(before) else before
