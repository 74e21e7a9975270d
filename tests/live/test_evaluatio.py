"""evaluatio itself, side by side with its drop-in."""

import importlib
import inspect
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import nasty_texts

pytest.importorskip("evaluatio", reason="needs the extra peers")

MODULES = """alignment effect_size.cohen inference.ci inference.hypothesis
inference.multiple_testing metrics.bleu metrics.cer metrics.chrf metrics.pier metrics.uer
metrics.wer"""


def modules_of(package):
    found = [importlib.import_module(f"{package}.{name}") for name in MODULES.split()]
    return SimpleNamespace(**{module.__name__.rpartition(".")[2]: module for module in found})


OURS, THEIRS = map(modules_of, ("evalstats.compat.evaluatio", "evaluatio"))
# evaluatio takes no lone surrogates.
known_texts = nasty_texts.filter(lambda text: not re.search("[\ud800-\udfff]", text))
texts = st.lists(st.tuples(known_texts, known_texts), max_size=6)
tokens = st.one_of(
    st.sampled_from(["a", "b", "1", 1, 0, True, 1.0, 0.5, None, float("nan")]),
    st.tuples(st.integers(0, 1)),
    st.lists(st.integers(0, 1), max_size=1),
)
sequences = st.lists(
    st.tuples(st.lists(tokens, max_size=8), st.lists(tokens, max_size=8)), max_size=5
)
words = st.lists(st.sampled_from("aabc"), max_size=9)
B = 40_000


@pytest.mark.parametrize("module", vars(OURS))
def test_every_public_function_with_its_parameters(module):
    ours, theirs = getattr(OURS, module), getattr(THEIRS, module)
    for name, function in inspect.getmembers(theirs, inspect.isfunction):
        if function.__module__ != theirs.__name__ or name.startswith("_"):
            continue
        expected = [(p.name, p.default) for p in inspect.signature(function).parameters.values()]
        found = list(inspect.signature(getattr(ours, name)).parameters.values())
        assert [(p.name, p.default) for p in found[: len(expected)]] == expected, name
        assert all(p.kind is p.KEYWORD_ONLY for p in found[len(expected) :])


def both(module, function, *arguments):
    """Return our result and evaluatio's."""
    return [getattr(getattr(package, module), function)(*arguments) for package in (OURS, THEIRS)]


@pytest.mark.parametrize(
    "module, prefix, pairs",
    [
        ("wer", "word", texts),
        ("cer", "character", texts),
        ("uer", "universal", sequences),
        ("uer", "universal", st.lists(st.tuples(words, words), max_size=5)),
    ],
    ids=["words", "characters", "tokens", "strings"],
)
@settings(max_examples=50)
@given(data=st.data())
def test_error_rates(module, prefix, pairs, data):
    drawn = data.draw(pairs)
    references, hypotheses = [r for r, _ in drawn], [h for _, h in drawn]
    for what in ("edit_distance_per_pair", "error_rate_per_pair", "error_rate"):
        # evaluatio's corpus rate of several pairs waits for ever when Python compares the tokens.
        if pairs is not sequences or what != "error_rate":
            np.testing.assert_array_equal(*both(module, f"{prefix}_{what}", references, hypotheses))


@settings(max_examples=80)
@given(words, words, st.data())
def test_alignment_and_points_of_interest(reference, hypothesis_, data):
    flags = data.draw(st.lists(st.booleans(), min_size=len(reference), max_size=len(reference)))
    found, expected = (
        [(a.index, a.start, a.end) for a in spans]
        for spans in both("alignment", "optimal_alignment", reference, hypothesis_)
    )
    assert found == expected
    if reference or not hypothesis_:
        found, expected = both("pier", "poi_edit_distance", reference, hypothesis_, flags)
        assert found == expected
    if reference and hypothesis_:
        # Its rate takes the flags for the second argument's.
        found = OURS.pier.poi_error_rate([reference], [hypothesis_], [flags])
        expected = THEIRS.pier.poi_error_rate([hypothesis_], [reference], [flags])
        np.testing.assert_array_equal(found, expected)


def agree(ours, theirs):
    """Two estimates from B draws each: 5 standard errors, false alarm below 1e-6 a comparison."""
    p = (ours + theirs) / 2
    return abs(ours - theirs) <= 5 * math.sqrt(2 * p * (1 - p) / B) + 1e-9


def test_paired_tests(sample):
    rng = np.random.default_rng(3)
    # In evaluatio, means that are equal but for rounding are no ties; sums of integers are exact.
    x1, x2 = rng.normal([[0.0], [0.2]], size=(2, 30))
    assert agree(*both("hypothesis", "paired_bootstrap_test", x1, x2, B))
    x1, x2 = rng.integers([[0], [1]], 10, size=(2, 30)).astype(float)
    for two_tailed in (True, False):
        assert agree(*both("hypothesis", "paired_permutation_test", x1, x2, B, two_tailed))
    references = [list(row) for row in sample.references][:120]
    first, second = (sample.systems[name][:120] for name in ("baseline", "slightly-better"))
    assert agree(*both("bleu", "bleu_bootstrap_test", references, first, second, B))
    ours, theirs = both("bleu", "bleu_ci", references, first, 50, 0.1)
    assert ours.mean == pytest.approx(theirs.mean, rel=1e-12)


@pytest.mark.parametrize("parameters", [{}, {"word_order": 2}, {"eps_smoothing": True, "beta": 3}])
def test_chrf(sample, parameters):
    references = [list(row) for row in sample.references][:60]
    first, second = (sample.systems[name][:60] for name in ("baseline", "slightly-better"))
    metric = sacrebleu.CHRF(**parameters)
    for seed in (0, 5):
        ours, theirs = both("chrf", "chrf_ci", references, first, 200, 0.1, metric, seed)
        # The same draws; evaluatio's arithmetic is float32.
        assert ours == pytest.approx((theirs.mean, theirs.lower, theirs.upper), abs=1e-4)
    for two_tailed in (True, False):
        outputs = references, first, second
        assert agree(*both("chrf", "chrf_permutation_test", *outputs, B, two_tailed, metric))
