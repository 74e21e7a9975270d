"""Outputs beside the references of other segments are a caution, which bars a gate."""

import random

import numpy as np
import pytest

import evalstats as es
from evalstats.cli import main
from evalstats.data import load_sample
from evalstats.statistics.alignment import sampled, shift_cautions
from tests.conftest import WMT, TestSet
from tests.helpers import cases

GOLD = [entry[0] for entry in load_sample().references]
TEXTS = load_sample().systems["baseline"]
N = len(TEXTS)
#: Sentences of one word each, as Chinese is written.
UNSPACED = [text.replace(" ", "") for text in TEXTS], [text.replace(" ", "") for text in GOLD]


def shuffled(texts):
    return random.Random(0).sample(texts, len(texts))


def said_of(outputs, references=GOLD, metric="chrf"):
    """Return the caution on the outputs, without its beginning."""
    found = es.extract({"A": outputs}, references, metric).cautions.get("A", ())
    said = [x for x in found if x.kind == "shifted"]
    assert all(x.startswith("Caution: Outputs of A match other references") for x in said)
    return said[0].partition("than their own: ")[2] if said else ""


def lost(texts, *places):
    """Return texts without some lines, and as many empty ones at the end."""
    return [text for i, text in enumerate(texts) if i not in places] + [""] * len(places)


@cases(
    (["# Outputs", *TEXTS[:-1]], 2, "on", "the segment before"),
    (lost(TEXTS, 0), 1, "on", "the next segment"),
    (lost(TEXTS, 240), 241, "on", "the next segment"),
    (lost(TEXTS, 420), 421, "on", "the next segment"),
    ([*lost(TEXTS[:320], 160), *TEXTS[320:]], 161, "to 319", "the next segment"),
    ([*TEXTS[:100], "", "", *TEXTS[100:-2]], 103, "on", "the segment 2 earlier"),
    (lost(TEXTS, *range(12)), 8, "on", "the segment 12 later"),
)
def test_shifted_outputs_are_a_caution_that_names_the_first(outputs, first, on, which):
    said = said_of(outputs)
    begins, _, rest = said.removeprefix("from about segment ").partition(" ")
    assert abs(int(begins) - first) <= 8
    assert rest.startswith(f"{on}, the reference of {which}. Look for ")
    assert ("output too many" in said) == ("before" in which or "earlier" in which)


@cases(shuffled, lambda texts: texts[::-1], lambda texts: sorted(texts, key=len))
def test_outputs_in_another_order_are_a_caution(order):
    outputs = order(TEXTS)
    said = said_of(outputs)
    i, j = (int(word.strip(".")) - 1 for word in said.split() if word.strip(".").isdigit())
    assert said.startswith("for example, output ")
    assert said.endswith("Pass outputs and references in the same order.")
    assert TEXTS.index(outputs[i]) == j


def test_it_is_seen_with_several_references_and_without_spaces():
    texts = [None if i % 3 else "something else entirely" for i in range(N)]
    for gold in ([list(pair) for pair in zip(GOLD, texts, strict=True)], GOLD):
        assert said_of(["", *TEXTS[:-1]], gold)
    outputs, gold = UNSPACED
    assert "from about segment 24" in said_of(lost(outputs, 240), gold)
    assert said_of(shuffled(outputs), gold)
    assert not said_of(outputs, gold)


GOOD = [f"the {word} number {i}" for i in range(40) for word in ("cat", "dog", "hen")]


@cases(
    (TEXTS, GOLD),
    (GOLD, GOLD),
    # Few outputs.
    (["", *TEXTS[:6]], GOLD[:7]),
    # No output shares a word with a reference.
    (["ы" * (i % 9 + 1) for i in range(N)], GOLD),
    (["Entschuldigung, das weiß ich nicht."] * N, GOLD),
    # Labels: all wrong, in turns, sorted; lines that repeat, of which one is lost.
    (["no", "yes"] * 100, ["yes", "no"] * 100),
    ([f"c{(i + 1) % 7}" for i in range(210)], [f"c{i % 7}" for i in range(210)]),
    (sorted(map(str, np.arange(200) % 10)), sorted(map(str, (np.arange(200) + 3) % 10))),
    ([*["a b c d"] * 50, *["e f g h"] * 50, ""][1:], [*["a b c d"] * 50, *["e f g h"] * 50]),
    # Answers that are right answers to other questions.
    (shuffled([f"{i} m" for i in range(100)]), [f"{i} m" for i in range(100)]),
    (shuffled([f"T{i}" for i in range(100)]), [f"T{i}" for i in range(100)]),
    # A weak system repeats the line before in some lines.
    ([TEXTS[i - (i % 5 == 2)] for i in range(N)], GOLD),
    (GOOD, [text.replace("the", "a").replace("number", "no.") for text in GOOD]),
)
def test_good_outputs_and_what_shows_nothing_are_not(outputs, references):
    assert not said_of(outputs, references)


@pytest.mark.parametrize("system", load_sample().systems)
def test_the_outputs_of_a_weak_system_belong_to_their_own(system):
    """Systems that lose most of their words, and short parts of a test set."""
    texts, rng = load_sample().systems[system], random.Random(0)
    for kept in (0.1, 0.2, 0.4, 0.7):
        weak = [" ".join(x for x in text.split() if rng.random() < kept) for text in texts]
        assert not said_of(weak)
    for first in range(0, N - 12, 12):
        assert not said_of(texts[first : first + 12], GOLD[first : first + 12])


def test_the_places_are_spread_evenly():
    assert sampled(8, 64) == list(range(8))
    assert sampled(10**6, 4) == [125_000, 375_000, 625_000, 875_000]


def test_a_file_says_the_same_and_no_gate_passes(tmp_path, capsys):
    """Two systems that are shifted alike are as good as each other."""
    files = {"r": GOLD, "a": lost(TEXTS, 200), "b": lost(TEXTS, 200)}
    for name, texts in files.items():
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    r, a, b = (str(tmp_path / name) for name in files)
    call = ["gate", "-r", r, "-i", a, "--baseline", b, "--margin", "2", "-m", "chrf"]
    assert main(call) == 3
    printed = " ".join(capsys.readouterr().out.split())
    for name in "ab":
        assert f"Outputs of {name} match other references than their own: from about" in printed
    assert main([*call, "--allow-changes", "shifted"]) == 0


@pytest.mark.parametrize(
    "name", ["wmt22/cs-en", "wmt22/en-de", "wmt22/en-zh", "wmt22/ja-en", "wmt24/en-es"]
)
def test_no_system_of_wmt_is_shifted_and_all_but_the_weakest_are_seen_if_they_are(name):
    """Two have BLEU near 0: nothing shows to which reference an output belongs."""
    if not (WMT / name).is_dir():
        pytest.skip(f"needs the WMT data sets in {WMT}")
    # The first line of WMT24 is no segment.
    found = TestSet(WMT / name, skip="24" in name)
    for gold in found.references.values():
        assert not any(shift_cautions(found.systems, [gold]).values())
        lines = {name: lost(texts, len(gold) // 2) for name, texts in found.systems.items()}
        said = shift_cautions(lines, [gold])
        assert {name for name in said if not said[name]} <= {"AIST", "CycleL"}
