"""evaluatio itself, side by side, where it is installed (`pip install evalstats-text[peers]`)."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

pytest.importorskip("evaluatio")

from evaluatio import alignment as their_alignment
from evaluatio.effect_size import cohen as their_cohen
from evaluatio.inference import ci as their_ci
from evaluatio.inference import hypothesis as their_hypothesis
from evaluatio.inference import multiple_testing as their_multiple_testing
from evaluatio.metrics import bleu as their_bleu
from evaluatio.metrics import cer as their_cer
from evaluatio.metrics import chrf as their_chrf
from evaluatio.metrics import pier as their_pier
from evaluatio.metrics import uer as their_uer
from evaluatio.metrics import wer as their_wer

from evalstats.compat.evaluatio import alignment
from evalstats.compat.evaluatio.effect_size import cohen
from evalstats.compat.evaluatio.inference import ci, hypothesis, multiple_testing
from evalstats.compat.evaluatio.metrics import bleu, cer, chrf, pier, uer, wer
from tests.conftest import nasty_texts

MODULES = [
    (alignment, their_alignment),
    (cohen, their_cohen),
    (ci, their_ci),
    (hypothesis, their_hypothesis),
    (multiple_testing, their_multiple_testing),
    (bleu, their_bleu),
    (cer, their_cer),
    (chrf, their_chrf),
    (pier, their_pier),
    (uer, their_uer),
    (wer, their_wer),
]
# evaluatio takes no lone surrogates.
texts = st.lists(
    st.tuples(nasty_texts, nasty_texts).filter(lambda pair: "".join(pair).isprintable() or all(
        not 0xD800 <= ord(c) < 0xE000 for c in "".join(pair))), max_size=6)  # fmt: skip
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


@pytest.mark.parametrize("ours, theirs", MODULES, ids=lambda m: m.__name__.split("evaluatio.")[1])
def test_every_public_function_with_its_parameters(ours, theirs):
    names = [
        name
        for name, function in inspect.getmembers(theirs, inspect.isfunction)
        if function.__module__ == theirs.__name__ and not name.startswith("_")
    ]
    for name in names:
        their_parameters = inspect.signature(getattr(theirs, name)).parameters.values()
        our_parameters = list(inspect.signature(getattr(ours, name)).parameters.values())
        positional = our_parameters[: len(their_parameters)]
        assert [p.name for p in positional] == [p.name for p in their_parameters], name
        assert [p.default for p in positional] == [p.default for p in their_parameters], name
        for extra in our_parameters[len(their_parameters) :]:
            assert extra.kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize(
    "prefix, ours, theirs", [("word", wer, their_wer), ("character", cer, their_cer)]
)
@settings(max_examples=80)
@given(pairs=texts)
def test_word_and_character_rates(prefix, ours, theirs, pairs):
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    for what in ("edit_distance_per_pair", "error_rate_per_pair", "error_rate"):
        found, expected = (
            getattr(module, f"{prefix}_{what}")(references, hypotheses) for module in (ours, theirs)
        )
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=80)
@given(sequences)
def test_universal_rates(pairs):
    # evaluatio's corpus rate of several pairs waits for ever when tokens are compared by Python.
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    for what in ("edit_distance_per_pair", "error_rate_per_pair"):
        found, expected = (
            getattr(module, f"universal_{what}")(references, hypotheses)
            for module in (uer, their_uer)
        )
        np.testing.assert_array_equal(found, expected)


@given(st.lists(st.tuples(words, words), max_size=5))
def test_universal_corpus_rate(pairs):
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    found, expected = (
        module.universal_error_rate(references, hypotheses) for module in (uer, their_uer)
    )
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=120)
@given(words, words, st.data())
def test_alignment_and_points_of_interest(reference, hypothesis_, data):
    flags = data.draw(st.lists(st.booleans(), min_size=len(reference), max_size=len(reference)))
    found, expected = (
        [(a.index, a.start, a.end) for a in module.optimal_alignment(reference, hypothesis_)]
        for module in (alignment, their_alignment)
    )
    assert found == expected
    if reference or not hypothesis_:
        found, expected = (
            module.poi_edit_distance(reference, hypothesis_, flags) for module in (pier, their_pier)
        )
        assert found == expected
    if reference and hypothesis_:
        # Its rate takes the flags for the second argument's.
        found = pier.poi_error_rate([reference], [hypothesis_], [flags])
        expected = their_pier.poi_error_rate([hypothesis_], [reference], [flags])
        np.testing.assert_array_equal(found, expected)


@given(nst.arrays(float, st.integers(2, 12), elements=st.integers(-9, 9).map(float)), st.data())
def test_effect_sizes(x1, data):
    x2 = data.draw(nst.arrays(float, len(x1), elements=st.integers(-9, 9).map(float)))
    if len(set(x1)) > 1 or len(set(x2)) > 1:
        np.testing.assert_allclose(
            cohen.cohens_d_independent(x1, x2),
            their_cohen.cohens_d_independent(x1, x2),
            rtol=1e-9,
            atol=1e-12,
        )
    np.testing.assert_allclose(
        cohen.cohens_d_paired(x1, x2), their_cohen.cohens_d_paired(x1, x2), rtol=1e-9, atol=1e-12
    )


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.999))
def test_corrections(pvalues, alpha):
    for name in ("holm_correction", "bonferroni_correction"):
        found, expected = (
            getattr(module, name)(pvalues, alpha)
            for module in (multiple_testing, their_multiple_testing)
        )
        np.testing.assert_array_equal(found.adjusted_pvalues, expected.adjusted_pvalues)
        np.testing.assert_array_equal(found.rejected, expected.rejected)
        assert (found.method, found.alpha) == (expected.method, expected.alpha)


def scores_pair(seed, n):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 10, n).astype(float), rng.integers(1, 10, n).astype(float)


def scores_without_ties(seed, n):
    """In evaluatio, means that are equal but for rounding are no ties."""
    return np.random.default_rng(seed).normal([[0.0], [0.2]], size=(2, n))


def agree(ours, theirs):
    """Two estimates from B draws each: 5 standard errors, false alarm below 1e-6 a comparison."""
    p = (ours + theirs) / 2
    return abs(ours - theirs) <= 5 * math.sqrt(2 * p * (1 - p) / B) + 1e-9


@pytest.mark.parametrize("seed, n", [(0, 5), (1, 12), (2, 50), (3, 300)])
def test_paired_tests(seed, n):
    x1, x2 = scores_without_ties(seed, n)
    assert agree(
        hypothesis.paired_bootstrap_test(x1, x2, B),
        their_hypothesis.paired_bootstrap_test(x1, x2, B),
    )
    # Sums of integers are exact there as well.
    x1, x2 = scores_pair(seed, n)
    for two_tailed in (True, False):
        assert agree(
            hypothesis.paired_permutation_test(x1, x2, B, two_tailed),
            their_hypothesis.paired_permutation_test(x1, x2, B, two_tailed),
        )


def share_below(values, bound):
    """Return the shares of values below a bound, and not above it."""
    return np.mean(np.array(values) < bound - 1e-12), np.mean(np.array(values) <= bound + 1e-12)


def bounds_agree(replicates, theirs, alpha):
    """Their bounds from B draws sit at our quantiles: 5 standard errors of both, a bound each."""
    for bound, share in ((theirs.lower, alpha / 2), (theirs.upper, 1 - alpha / 2)):
        below, up_to = share_below(replicates, bound)
        error = 5 * math.sqrt(2 * share * (1 - share) / B)
        assert below - error <= share <= up_to + error


def test_mean_and_rate_intervals():
    from evalstats import Mean, Ratio, estimate

    x, exposure = scores_pair(4, 40)
    theirs = their_ci.bootstrap_confidence_interval(x, B, 0.1)
    ours = ci.bootstrap_confidence_interval(x, B, 0.1)
    assert ours.mean == pytest.approx(theirs.mean)
    replicates = estimate(x, metric=Mean("x"), n_resamples=B).replicates
    bounds_agree(replicates, theirs, 0.1)
    bounds_agree(replicates, ours, 0.1)

    theirs = their_ci.error_rate_ci(x.astype(int).tolist(), exposure.astype(int).tolist(), B, 0.1)
    ours = ci.error_rate_ci(x.astype(int), exposure.astype(int), B, 0.1)
    assert ours.mean == theirs.mean
    replicates = estimate(np.stack([x, exposure], 1), metric=Ratio("r"), n_resamples=B).replicates
    bounds_agree(replicates, theirs, 0.1)
    bounds_agree(replicates, ours, 0.1)


def test_bleu(sample):
    from evalstats import BLEU, estimate

    references = [list(row) for row in sample.references][:120]
    first, second = (sample.systems[name][:120] for name in ("baseline", "slightly-better"))
    theirs = their_bleu.bleu_ci(references, first, B, 0.1)
    ours = bleu.bleu_ci(references, first, B, 0.1)
    assert ours.mean == pytest.approx(theirs.mean, rel=1e-12)
    replicates = estimate(first, references, BLEU(effective_order=True), n_resamples=B).replicates
    bounds_agree(replicates, theirs, 0.1)
    bounds_agree(replicates, ours, 0.1)
    assert agree(
        bleu.bleu_bootstrap_test(references, first, second, B),
        their_bleu.bleu_bootstrap_test(references, first, second, B),
    )


@pytest.mark.parametrize("parameters", [{}, {"word_order": 2}, {"eps_smoothing": True, "beta": 3}])
def test_chrf(sample, parameters):
    import sacrebleu

    references = [list(row) for row in sample.references][:60]
    first, second = (sample.systems[name][:60] for name in ("baseline", "slightly-better"))
    metric = sacrebleu.CHRF(**parameters)
    for seed in (0, 5):
        theirs = their_chrf.chrf_ci(references, first, 200, 0.1, metric, seed)
        ours = chrf.chrf_ci(references, first, 200, 0.1, metric, seed)
        # The same draws; evaluatio's arithmetic is float32.
        assert ours == pytest.approx((theirs.mean, theirs.lower, theirs.upper), abs=1e-4)
    for two_tailed in (True, False):
        assert agree(
            chrf.chrf_permutation_test(references, first, second, B, two_tailed, metric),
            their_chrf.chrf_permutation_test(references, first, second, B, two_tailed, metric),
        )
