"""Write the bundled sample corpus: two references and four systems of known quality.

Run ``python -m evalstats.data.generate [OUTPUT_DIR]``; without a directory the files are
written beside this module.  The corpus is invented.  ``templates.txt`` holds sentence
templates with a choice of wordings; reference A and reference B are two renderings of the same
templates.  A system is a third rendering which then gets errors at a known rate per word, so
that the true order of the systems is known.

The only source of randomness is ``random.Random(seed).random()``, the one method whose values
Python promises to keep; ``choice``, ``shuffle`` and ``sample`` may change between versions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable
from pathlib import Path
from random import Random

from evalstats.data.grammar import Draw, read_corpus, read_lines, render, repair

SEED = 55
N_SEGMENTS = 480

BASELINE_ERROR_RATE = 0.220
"""Probability that a word of the baseline system becomes an error."""
SLIGHTLY_BETTER_ERROR_RATE = 0.213
"""A true but tiny improvement: at 480 segments it is usually not significant."""
CLEARLY_BETTER_ERROR_RATE = 0.170
"""A large improvement: at 480 segments it is significant at any usual level."""

CLAUSE_DROPS_PER_ERROR_RATE = 0.6
"""A sentence loses a clause with this times the error rate of the system."""
REFERENCE_AGREEMENT = 0.52
"""Probability that reference B takes the wording of reference A on purpose."""
SHARED_WORDING = 0.88
"""Probability that a system takes the wording that all systems share."""
SHARED_ERRORS = 0.80
"""Probability that the fate of a word is drawn for all systems together."""

# Kinds of error and their shares.  A kind that a word has no form for becomes the next one.
# Small words are lost, but real systems seldom lose a noun, so the shares differ.
SMALL_WORD_ERRORS = (("repeat", 0.03), ("wrong", 0.57), ("drop", 0.40))
OTHER_WORD_ERRORS = (
    ("repeat", 0.02),
    ("foreign", 0.16),
    ("wrong", 0.54),
    ("swap", 0.18),
    ("drop", 0.10),
)
_VERB_ENDING = re.compile(
    r"(.+(?:ck|ok|ay|rn|st|ct|nt|sh|ss|ch|lp|rd|er|ain|ait|eak|eep|all|il|ow|rk))(?:ed|ing)"
)
_SMALL_WORDS = (
    "a an the and or but of to in on at by for from with as is are was were be been has have had "
    "it its they you we i he she that which who this these not no so if than then can will would "
    "my our your their there"
)
SMALL_WORDS = frozenset(_SMALL_WORDS.split())


class Draws:
    """A stream of uniform numbers, remembered by key.

    Systems that ask for the same key get the same number.  This is how they share wordings and
    errors, as real systems trained on similar data do.
    """

    def __init__(self, seed: int) -> None:
        self._next = Random(seed).random
        self._seen: dict[Hashable, float] = {}

    def __call__(self, key: Hashable) -> float:
        """Return the number of a key, drawing it when it is new."""
        if key not in self._seen:
            self._seen[key] = self._next()
        return self._seen[key]


def read_lexicon() -> dict[str, tuple[str, str]]:
    """Return the wrong and the untranslated form of each word; an empty form is absent."""
    lexicon = {}
    for line in read_lines("lexicon.txt"):
        word, forms = line.split(":", 1)
        wrong, _, foreign = forms.partition("|")
        lexicon[word.strip()] = (wrong.strip(), foreign.strip())
    return lexicon


def _wrong_form(word: str, kind: str, lexicon: dict[str, tuple[str, str]]) -> str | None:
    """Return a word as a wrong or untranslated one, or None if there is no such form."""
    lower = word.lower()
    wrong, foreign = lexicon.get(lower, ("", ""))
    form = (foreign or wrong) if kind == "foreign" else wrong
    if not form and lower == word:
        # No entry: get the inflection wrong, where cutting the ending leaves a word.
        if found := _VERB_ENDING.fullmatch(lower):
            form = found[1]
        elif lower.endswith("ly") and len(lower) > 5 and lower[-3] not in "iab":
            form = lower[:-2]
        elif lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and len(lower) > 3:
            form = lower[:-1]
    if form and word[0].isupper():
        form = form[0].upper() + form[1:]
    return form or None


def _drop_clause(words: list[str], late: bool) -> list[str]:
    """Drop what comes before the first comma, or after the last one."""
    commas = [i for i, word in enumerate(words) if word.endswith(",")]
    if not commas:
        return words
    at = commas[-1 if late else 0] + 1
    if at < 4 or len(words) - at < 4:
        return words
    if not late:
        return words[at:]
    return [*words[: at - 1], words[at - 1][:-1] + words[-1][-1]]


def corrupt(
    sentences: list[str], rate: float, draw: Draw, lexicon: dict[str, tuple[str, str]]
) -> list[str]:
    """Put errors into sentences, none of which becomes empty.

    A word becomes an error with probability `rate`, where the uniform number that `draw` has for
    it is below; names and numbers are spared. The lexicon has the wrong and untranslated forms.
    """
    result = []
    for i, sentence in enumerate(sentences):
        words = sentence.split(" ")
        if draw((i, "clause")) < CLAUSE_DROPS_PER_ERROR_RATE * rate:
            words = _drop_clause(words, late=draw((i, "late")) < 0.7)
        out: list[str] = []
        seen: dict[str, int] = {}
        at = 0
        while at < len(words):
            match = re.fullmatch(r"(\W*)([^\W\d_][\w'-]*)(\W*)", words[at])
            core = match[2] if match else ""
            seen[core] = seen.get(core, 0) + 1
            key = (i, core, seen[core])
            name = core != core.lower() and core.lower() not in lexicon
            if match and not name and draw((*key, "error")) < rate:
                at += _make_error(match, words[at + 1 :], out, draw((*key, "kind")), lexicon)
            else:
                out.append(words[at])
            at += 1
        text = repair(" ".join(out))
        result.append(text if re.search(r"\w", text) else sentence)
    return result


def _make_error(
    match: re.Match[str],
    following: list[str],
    out: list[str],
    u: float,
    lexicon: dict[str, tuple[str, str]],
) -> int:
    """Append a word to `out` with an error; return how many following words went in too."""
    before, core, after = match.groups()
    # A sentence-initial word loses its capital letter when it moves into the sentence.
    inner = core.lower() if core.lower() in lexicon else core
    for kind, share in SMALL_WORD_ERRORS if inner in SMALL_WORDS else OTHER_WORD_ERRORS:
        u -= share
        if u >= 0:
            continue
        if kind == "repeat":
            out.append(f"{before}{core} {inner}{after}")
            return 0
        if kind in ("foreign", "wrong"):
            form = _wrong_form(core, kind, lexicon)
            if form is not None:
                out.append(before + form + after)
                return 0
        elif kind == "swap" and not before + after and following:
            content_word = following[0] not in SMALL_WORDS
            if content_word and re.fullmatch("[a-z]+", following[0]):
                out += [following[0], inner]
                return 1
    # What is left is to drop the word, unless its punctuation would then stand alone.
    if before or not re.fullmatch(r"[,.?!]?", after) or (after and not out):
        out.append(match[0])
    elif after:
        out[-1] = out[-1].rstrip(",") + after
    return 0


def generate(seed: int = SEED) -> dict[str, str]:
    """Return the text of every file of the corpus, by file name with ``/`` as separator."""
    streams = iter(Draws(1000 * seed + i) for i in range(100))
    corpus = read_corpus(next(streams), N_SEGMENTS)
    lexicon = read_lexicon()
    a, b, shared, shared_errors = (next(streams) for _ in range(4))

    def choose_a(key: Hashable, n: int) -> int:
        return int(a(key) * n)

    def choose_b(key: Hashable, n: int) -> int:
        if b((key, "agree")) < REFERENCE_AGREEMENT:
            return choose_a(key, n)
        return (choose_a(key, n) + 1 + int(b(key) * (n - 1))) % n

    def system(rate: float) -> list[str]:
        own = next(streams)

        def choose(key: Hashable, n: int) -> int:
            return int((shared if own((key, "share")) < SHARED_WORDING else own)(key) * n)

        def draw(key: Hashable) -> float:
            return (shared_errors if own((key, "share")) < SHARED_ERRORS else own)(key)

        return corrupt(render(corpus.templates, choose), rate, draw, lexicon)

    baseline = system(BASELINE_ERROR_RATE)
    files = {
        "reference.A.txt": render(corpus.templates, choose_a),
        "reference.B.txt": render(corpus.templates, choose_b),
        "documents.tsv": ["\t".join(row) for row in corpus.documents],
        "systems/baseline.txt": baseline,
        "systems/copy.txt": baseline,
        "systems/slightly-better.txt": system(SLIGHTLY_BETTER_ERROR_RATE),
        "systems/clearly-better.txt": system(CLEARLY_BETTER_ERROR_RATE),
    }
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def main(argv: list[str] | None = None) -> None:
    """Write the files below the directory given as the only argument."""
    arguments = sys.argv[1:] if argv is None else argv
    target = Path(arguments[0]) if arguments else Path(__file__).resolve().parent
    for name, text in generate().items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Bytes, because text mode would write other line ends on Windows.
        path.write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
