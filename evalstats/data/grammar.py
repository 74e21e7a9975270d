"""Read the sentence templates of the sample corpus and render them as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path

Choose = Callable[[Hashable, int], int]
Draw = Callable[[Hashable], float]

_HERE = Path(__file__).resolve().parent
# Whether a word or number takes "an": by its sound, not by its first letter.
_VOWEL_SOUND = re.compile(r"(?!one|once|use|uni|euro)(?:[aeiou]|hour|honest|8|11\b|18\b)", re.I)


@dataclass
class Corpus:
    """Sentence templates in corpus order.

    Attributes
    ----------
    templates
        One template per segment, facts filled in.
    documents
        Domain and document id of each segment.
    """

    templates: list[str] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)


def read_lines(name: str) -> list[str]:
    """Return the lines of a data file that are neither empty nor comments."""
    text = (_HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def read_corpus(draw: Draw, n_segments: int) -> Corpus:
    """Read the templates, fill in the facts and leave out optional sentences.

    The uniform numbers of `draw` decide which optional sentences go, so that `n_segments` are
    left. Documents are grouped by domain; the two documents of a story are kept apart. A number of
    segments that the templates do not allow for is a ValueError.
    """
    stories: list[tuple[str, dict[str, list[str]], list[tuple[str, str]]]] = []
    for line in read_lines("templates.txt"):
        mark, rest = line[0], line[1:].strip()
        if mark == "=":
            stories.append((rest.split()[1], {}, []))
        elif mark == "$":
            name, both = rest.split("=", 1)
            stories[-1][1][name.strip()] = [value.strip() for value in both.split(";")]
        else:
            stories[-1][2].append((mark, rest))

    rows: list[tuple[str, str, bool, str]] = []
    for domain in dict.fromkeys(story[0] for story in stories):
        number = 0
        for which in (0, 1):
            for _, facts, lines in (story for story in stories if story[0] == domain):
                number += 1
                for mark, template in lines:
                    if mark in "-?" or int(mark) == which + 1:
                        # Split at "$name": the odd parts are the names of facts.
                        parts = re.split(r"\$([a-z]+)", template)
                        parts[1::2] = [facts[name][which] for name in parts[1::2]]
                        document = f"{domain}-{number:02d}"
                        rows.append((domain, document, mark == "?", "".join(parts)))

    optional = sorted((i for i, row in enumerate(rows) if row[2]), key=draw)
    if not 0 <= len(rows) - n_segments <= len(optional):
        raise ValueError(f"cannot make {n_segments} of {len(rows)} segments")
    left_out = set(optional[: len(rows) - n_segments])
    kept = [row for i, row in enumerate(rows) if i not in left_out]
    return Corpus([row[3] for row in kept], [(row[0], row[1]) for row in kept])


def _split(text: str) -> list[str]:
    """Split a template at the bars outside braces."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _expand(text: str, choose: Choose, key: tuple[Hashable, ...]) -> str:
    """Replace every choice in a template by one of its wordings."""
    options = _split(text)
    picked = choose(key, len(options)) if len(options) > 1 else 0
    text, out, start, depth = options[picked], "", 0, 0
    for i, char in enumerate(text):
        if char == "{":
            start = i + 1 if depth == 0 else start
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                out += _expand(text[start:i], choose, (*key, picked, start))
        elif depth == 0:
            out += char
    return out


def repair(text: str) -> str:
    """Repair spaces, a/an, a doubled full stop and the first capital letter."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" (?=[,.;:?!])", "", text)
    text = re.sub(r"(?<!\.)\.\.(?!\.)", ".", text)
    text = re.sub(
        r"\b([Aa])n? (?=(\w+))",
        lambda m: m[1] + ("n " if _VOWEL_SOUND.match(m[2]) else " "),
        text,
    )
    first = re.search(r"\w", text)
    at = first.start() if first else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def render(templates: list[str], choose: Choose) -> list[str]:
    """Render each template as a sentence, no sentence twice.

    `choose` is called with a key and a number of options, and returns the option to take. A
    template that yields nothing but sentences that are already there is a ValueError.
    """
    sentences: dict[str, None] = {}
    for i, template in enumerate(templates):
        for attempt in range(100):
            sentence = repair(_expand(template, choose, (i, attempt)))
            if sentence not in sentences:
                break
        else:
            raise ValueError(f"no new sentence from template {template!r}")
        sentences[sentence] = None
    return list(sentences)
