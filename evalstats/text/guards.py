"""What texts look like: in which language, tokenised, empty; what a metric may not be made for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

import numpy as np

from evalstats.text.tokenization import code_points

#: Languages in which words are not what stands between spaces, by their codes of two letters.
LANGUAGES = {"ja": "Japanese", "zh": "Chinese", "ko": "Korean", "th": "Thai"}
UNSPACED = {code: name for code, name in LANGUAGES.items() if code != "ko"}
#: Other codes of them (ISO 639-3).
_CODES = {"jpn": "ja", "zho": "zh", "cmn": "zh", "yue": "zh", "kor": "ko", "tha": "th"}
#: First and last letters of their scripts; Japanese has kana between the Chinese characters.
_SCRIPTS = {
    "ja": ((0x3040, 0x30FF),),
    "zh": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2FA1F)),
    "ko": ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF)),
    "th": ((0x0E00, 0x0E7F),),
}
#: Texts that are looked at.
_SAMPLE = 1000
#: Of Japanese the share of kana is larger, and where words are set apart that of spaces.
_KANA, _SPACES = 0.05, 0.15
#: A pair of languages at the end of a name: en-ja, en-ja_JP, eng_Latn-jpn_Jpan.
_PAIR = re.compile(
    r"(?:^|[^A-Za-z])[a-z]{2,3}(?:_[A-Z][a-z]{3})?-([a-z]{2,3})(?:_[A-Z][A-Za-z]+)?$"
)


def language_of(texts: Iterable[str]) -> str:
    """Return the code of the language, one of `LANGUAGES`, that most letters of the texts are of.

    Return "" for other languages, and where words are set apart by spaces already.

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
    found = max(n, key=n.__getitem__)
    n_letters = sum(n.values())
    if 2 * n_letters <= np.count_nonzero(is_letter):
        return ""
    if found in ("ja", "zh"):
        found = "ja" if n["ja"] > _KANA * n_letters else "zh"
    is_apart = found in UNSPACED and text.count(" ") > _SPACES * n_letters
    return "" if is_apart else found


def target_language(name: str) -> str:
    """Return the code of the target, one of `LANGUAGES`, of a name that ends in a language pair.

    >>> target_language("wmt22.en-ja"), target_language("cs-uk_UA"), target_language("ja_JP")
    ('ja', '', '')
    """
    pair = _PAIR.search(name)
    code = pair[1] if pair else ""
    code = _CODES.get(code, code)
    return code if code in LANGUAGES else ""


def n_marked(texts: Iterable[str]) -> tuple[int, int]:
    """Return how many texts end in " .", as tokenised text does, and how many are empty.

    The first is 0 where these are few: less than 100, which is sacreBLEU's number, or than a
    twentieth of fewer than 2,000 texts, and less than 5.
    """
    n = n_tokenised = n_empty = 0
    for text in texts:
        n += 1
        if text.endswith(" ."):
            n_tokenised += 1
        elif not text or text.isspace():
            n_empty += 1
    return n_tokenised if n_tokenised >= min(100, max(5, n / 20)) else 0, n_empty
