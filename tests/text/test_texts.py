"""Hypotheses and references as they enter, and what is said about bad ones."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.text.references import as_references, as_texts
from tests import naive
from tests.conftest import nasty_corpora
from tests.helpers import cases


def test_references_accept_strings_lists_and_absent_ones():
    references = es.References(["a", ["b", None, "c"], [None, ""]])
    assert list(references) == [("a",), ("b", "c"), ("",)]
    assert references.counts.tolist() == [1, 2, 1]
    assert references.label == "var"
    assert es.References(["a", ["b"]]).label == "1"
    # Generators and arrays are lists.
    assert as_texts(text for text in "ab") == as_texts(np.array(["a", "b"])) == ["a", "b"]
    assert len(as_references((["a"] for _ in range(3)), 3)) == 3


def test_references_prepare_once_and_travel_without_what_was_prepared():
    calls = []
    references = es.References(["a"])
    for _ in range(3):
        references.prepared("key", calls.append)
    assert calls == [references]
    copy = pickle.loads(pickle.dumps(references))
    assert list(copy) == list(references)
    copy.prepared("key", calls.append)
    assert len(calls) == 2


@settings(max_examples=20)
@given(nasty_corpora)
def test_streams_and_entries_are_inverse(corpus):
    _, references = corpus
    entries = list(es.References(references))
    assert es.References(references).streams() == naive.streams(references)
    assert list(es.References(es.from_streams(*naive.streams(references)))) == entries


def of_texts(hypotheses):
    return es.BLEU().statistics(hypotheses, ["a"])


def of_references(references):
    return es.CHRF().statistics(["a", "b"], references)


@cases(
    (of_texts, ["abc"], TypeError, "hypotheses must be a list of strings, .*bare str; wrap"),
    (of_texts, [["a", None]], TypeError, r"hypotheses\[1\] .*string, got None; an empty"),
    (of_texts, [[]], ValueError, "hypotheses is empty; pass at least one"),
    (of_references, ["ab"], TypeError, "list of one entry per segment, got a bare"),
    (of_references, [None], TypeError, "references is None, .* one entry per segment"),
    (of_references, [["a"]], ValueError, "one per segment, got 1 and 2"),
    (of_references, [[["a", "b"]]], ValueError, r"\(1 streams of 2\).*from_streams"),
    (
        of_references,
        [["a", None]],
        ValueError,
        r"references\[1\] is None, so segment 1 has no reference",
    ),
    (of_references, [["a", [None]]], ValueError, r"references\[1\] is \[None\], so segment 1 has"),
    (of_references, [["a", 3]], TypeError, r"\[1\] must be a list of strings, got int"),
    (of_references, [["a", ["b", 3]]], TypeError, r"\[1\]\[1\] must be a string or None"),
    (es.from_streams, [], ValueError, "streams is empty"),
    (es.from_streams, [["a"], ["a", "b"]], ValueError, "the same length, got 1, 2"),
    (es.from_streams, ["ab"], TypeError, "stream 0 must be a list .* bare str"),
    (es.from_streams, [[["a"]]], TypeError, "entry 0 .*got list; pass the streams"),
)
def test_what_does_not_fit_is_named(function, arguments, kind, message):
    with pytest.raises(es.InputError, match=message) as caught:
        function(*arguments)
    # Whoever catches Python's own kinds catches these.
    assert isinstance(caught.value, kind)
    assert issubclass(es.MissingExtraError, ImportError)
