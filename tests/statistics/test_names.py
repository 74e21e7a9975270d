"""One rule for every string that names something, wherever it enters; messages are printable."""

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import evalstats as es
from evalstats.checks import MOST_NAME, check_names, label, shown
from tests.conftest import SIGNS
from tests.helpers import bad_cases, refuses

UNSEEN = {
    "a newline": "1\n\\input{/etc/passwd}",
    "an escape sequence": "\x1b[2J",
    "a C1 control": "\x9b2J",
    "a line separator": "a\u2028b",
    "a right-to-left override": "abc\u202efed",
    "a zero-width space": "sys\u200btem",
    "a byte order mark": "\ufeffsystem",
    "a tag": "a\U000e0041",
    "a Hangul filler": "a\u3164",
    "a lone surrogate": "\ud800",
    "a thousand characters and one": "a" * (MOST_NAME + 1),
    "nothing": "",
    "blanks": " \u3000",
}
SEEN = ["GPT-4o (t=0.7)", "می\u200cخواهم", "👩\u200d🚀", "Łódź é", "e\u0301", "系统一", "مرحبا", "שלום", "❤️", "🇩🇪", "a b", "%`<$|", "x" * MOST_NAME]  # fmt: skip


class Own(es.Metric):
    name, columns = "own", ("a",)

    def statistics(self, hypotheses, references=None):
        return np.ones((len(hypotheses), 1))

    def score(self, totals):
        return np.asarray(totals)[..., 0]


def own(**attributes):
    metric = Own()
    vars(metric).update(attributes)
    return metric


class Signed(Own):
    def __init__(self, text):
        self.text = text

    @property
    def signature(self):
        return self.text


def table(systems=("A",), metric=None, **options):
    return es.SegmentStatistics([[[1], [2]]], systems, metric or Own(), **options)


PLACES = {
    "system names": lambda text: table([text]),
    "hypotheses": lambda text: es.extract({text: ["a"]}, ["a"]),
    "the name of a Mean": es.Mean,
    "the name of a Ratio": es.Ratio,
    "columns of a Ratio": lambda text: es.Ratio("r", (text, "b")),
    "a metric's name": lambda text: table(metric=own(name=text)),
    "a metric's columns": lambda text: table(metric=own(columns=(text,))),
    "a reference label": lambda text: table(reference_label=text),
    "a fingerprint": lambda text: table(fingerprint=text),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_name_is_what_shows_in_any_script(place):
    unfit = r"printable text|non-empty text|at most 1,000 char"
    for text in UNSEEN.values():
        refuses(unfit, place, text)
    for text in SEEN:
        place(text)


def test_segment_ids_and_signatures():
    for text in ("a\nb", "\x1b[2J", "\ud800"):
        for options, name in (
            ({"segment_ids": [text, "b"]}, "segment_ids"),
            ({"metric": Signed(text)}, "signature of Signed"),
            ({"metric_signature": f"custom:Own|sacrebleu:{text}"}, "metric_signature"),
        ):
            refuses(f"{name} must be printable", table, **options)
    assert table(segment_ids=["", "b"]).segment_ids == ("", "b")


def test_the_message_says_which_character():
    message = r"system names .* 'sys\\u200btem', in which character 3 \(U\+200B ZERO WIDTH SPACE\)"
    refuses(message, label, "sys\u200btem", "system names")


@given(st.text(SIGNS))
def test_messages_are_printable(text):
    for error in (es.InputError(text), es.InputTypeError(f"{text} x"), es.MissingExtraError(text)):
        assert str(error).isprintable()
        if text.isprintable():
            assert str(error).startswith(text)


def test_messages_stay_short():
    deep = json.loads("[" * 900 + "]" * 900)
    assert len(shown("x" * 10_000)) < 300
    for _ in range(200):
        deep = [deep]
    assert shown(deep).startswith(("[[[[", "a list"))


@pytest.mark.parametrize("lacking", ["name", "columns"])
def test_a_metric_of_ones_own_lacks_an_attribute(lacking):
    attributes = {"name": "bare", "columns": ("a",), "statistics": Own.statistics}
    del attributes[lacking]
    kind = type("Bare", (es.Metric,), {**attributes, "score": Own.score})
    refuses(f"Bare must define {lacking}", es.estimate, ["a", "b"], ["a", "b"], kind())


@bad_cases(
    *(
        ("columns", value, "columns of Own must be a tuple of names")
        for value in ("ab", (), None, 3)
    ),
    ("score", lambda totals: 1.0, r"own.score must map shape \(..., k\) to \(...\)"),
    ("score", lambda totals: totals, r"own.score .*returned \(1, 1\) instead of \(1,\)"),
    ("score", lambda totals: np.full(totals.shape[:-1], "x"), "own.score must return numbers"),
)
def test_a_metric_of_ones_own_is_wrong(attribute, value):
    es.estimate(["a", "b"], ["a", "b"], own(**{attribute: value}))


@given(st.lists(st.sampled_from(["", " ", "a", "b c", "é", *UNSEEN.values()]), max_size=4))
def test_many_names_are_held_to_the_rule_of_each(names):
    def is_refused(check, value):
        try:
            check(value, "x")
        except es.InputError:
            return True
        return False

    assert is_refused(check_names, names) == any(is_refused(label, one) for one in names if one)
