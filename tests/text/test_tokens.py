"""Edits of tokens of any kind, alignments, and points of interest."""

from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.compat.evaluatio import edit_paths
from evalstats.compat.evaluatio.edit_paths import GAP
from tests.helpers import bad_cases
from tests.pairs import plain_distance


class Either:
    """Equal to any of several words, hence without a hash; not an equivalence."""

    def __init__(self, *words):
        self.words = words

    def __eq__(self, other):
        return other in self.words

    __hash__ = None


#: Equal are what Python calls equal: 1 and True are, NaN and itself are not.
tokens = st.one_of(
    st.sampled_from(["a", "b", 1, 1.0, True, None, (1, 2), 2**70, "1", b"a"]),
    st.just(float("nan")),
    st.just(Either("a", "b")),
    st.lists(st.integers(0, 1), max_size=1),
)
segments = st.lists(
    st.tuples(st.lists(tokens, max_size=7), st.lists(tokens, max_size=7)), max_size=5
)
words = st.lists(st.sampled_from("aab"), max_size=8)


@settings(max_examples=40)
@given(segments)
def test_edits_are_those_of_the_recursion(pairs):
    for found in (pairs, [([str(t) for t in h], [str(t) for t in r]) for h, r in pairs]):
        hyps, refs = [h for h, _ in found], [r for _, r in found]
        expected = [[plain_distance(h, r), len(r)] for h, r in found]
        assert es.token_edits(hyps, refs).tolist() == expected


@settings(max_examples=40)
@given(words, words, st.data())
def test_an_alignment_is_a_shortest_path_whose_errors_are_at_points(hyp, ref, data):
    path = edit_paths.align(hyp, ref)
    # Every token once, in order.
    assert path[path[:, 0] != GAP, 0].tolist() == list(range(len(hyp)))
    assert path[path[:, 1] != GAP, 1].tolist() == list(range(len(ref)))
    wrong = [r for h, r in path.tolist() if h == GAP or r == GAP or hyp[h] != ref[r]]
    assert len(wrong) == plain_distance(hyp, ref)
    points = data.draw(st.lists(st.booleans(), min_size=len(ref), max_size=len(ref)))
    errors = sum(r != GAP and points[r] for r in wrong)
    assert edit_paths.poi_errors([hyp], [ref], [points]).tolist() == [[errors, sum(points)]]


def test_the_choice_among_alignments():
    assert edit_paths.align(list("aab"), list("ab")).tolist() == [[0, GAP], [1, 0], [2, 1]]
    assert edit_paths.align(list("ab"), list("ba")).tolist() == [[0, 0], [1, 1]]
    assert edit_paths.align([], list("ab")).tolist() == [[GAP, 0], [GAP, 1]]
    assert edit_paths.align([], []).tolist() == []
    # Of a repeated word, the one that is missing is an error.
    assert edit_paths.poi_errors([["no"]], [["no", "no"]], [[True, True]]).tolist() == [[1, 2]]


@bad_cases(
    (es.token_edits, (["ab"], [["a"]]), r"hypotheses\[0\] must be a list of tokens"),
    (es.token_edits, ([["a"]], [["a"], ["b"]]), "must have the same length, got 2, 1"),
    (edit_paths.align, ("ab", ["a"]), "hypothesis must be a list of tokens, got a bare str"),
    (
        edit_paths.poi_errors,
        ([["a"]], [["a"]], [[True, False]]),
        r"points\[0\] must contain one flag",
    ),
    (edit_paths.poi_errors, ([["a"]], [["a"]], [[1]]), r"points\[0\]\[0\] must be True or False"),
)
def test_bad_input(function, arguments):
    function(*arguments)
