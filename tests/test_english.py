"""Plain English, as far as it can be counted: patterns of the dialect that these texts once had.

The first number of a room is how often a pattern was there at 0ece83db, before the texts were
written again, and the second how often it may be there now. The pages have README, the guide and
docs; the code has the strings of `evalstats`: help, notes, errors, docstrings.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.helpers import trees

#: The process that parses the package for the tests of its architecture.
pytestmark = pytest.mark.xdist_group("architecture")
ROOT = Path(__file__).resolve().parents[1]
_NO_PROSE = re.compile(r"^ *```.*?^ *```|<!--.*?-->|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_NOUN = "system|segment|pair|line|item|metric|group|task|document|row|class|column|model|file"
_THING = "note|caution|line|column|page|table|interval|bound|message|log|file|data|resample|result"
PATTERNS = {
    "of which": r"\bof which\b",
    "where, for if": r"(?<!place )\bwhere (?:it|they|there|nothing|some|one|an?|no)\b",
    "that of": r"(?<!\bso )(?<!\bthan )\b(?:that|those) of\b",
    "things that say": rf"\bsays? nothing\b|\b(?:{_THING})s? (?:\w+ )?(?:says?|tells?)\b(?! so\b| how\b)",
    "is no": r"(?<!there )\b(?:is|are|was|were) no\b(?! longer| more\b)",
    "a system a column": rf"\b(?:an?|one) (?:{_NOUN}) an? (?:{_NOUN})\b|\bone an? (?:{_NOUN})\b",
    "95 %": r"\d %",
    "held against": r"\bheld? against\b",
}
PAGES = {
    "of which": (5, 0), "where, for if": (33, 0), "that of": (41, 2), "things that say": (28, 2),
    "is no": (13, 0), "a system a column": (8, 0), "95 %": (34, 0), "held against": (0, 0),
}  # fmt: skip
CODE = {
    "of which": (95, 3), "where, for if": (279, 6), "that of": (317, 14),
    "things that say": (64, 2), "is no": (53, 1), "a system a column": (78, 0), "95 %": (28, 0),
    "held against": (7, 0),
}  # fmt: skip


def pages():
    """Return the prose of README and pages."""
    paths = [ROOT / "README.md", ROOT / "evalstats/data/guide.md", *(ROOT / "docs").glob("*.md")]
    return [_NO_PROSE.sub(" ", path.read_text(encoding="utf-8")) for path in paths]


def code():
    """Return the strings of the package: what it prints, and what its names are said to do."""
    nodes = (x for tree in trees().values() for x in ast.walk(tree) if isinstance(x, ast.Constant))
    return [node.value for node in nodes if isinstance(node.value, str)]


@pytest.mark.parametrize("texts, bounds", [(pages, PAGES), (code, CODE)], ids=["pages", "code"])
def test_patterns_of_the_dialect_are_rare(texts, bounds):
    text = "\n".join(re.sub(r"\s+", " ", part) for part in texts()).lower()
    counts = {name: len(re.findall(pattern, text)) for name, pattern in PATTERNS.items()}
    assert {name: n for name, n in counts.items() if n > bounds[name][1]} == {}
