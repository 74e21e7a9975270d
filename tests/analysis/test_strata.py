"""Groups of segments and strata of them: textbooks' errors, and what means nothing changes nothing."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.designs.swaps import Halves
from evalstats.resampling import weighted
from evalstats.resampling.weighted import stratum_totals
from evalstats.resampling.weights import Multinomial, Stratified, batches
from tests.helpers import bad_cases

SCORE = es.Mean("marks")
SIZES = {"news": 60, "social": 25, "speech": 15}
STRATA = np.array([name for name, n in SIZES.items() for _ in range(n)])


@pytest.fixture(scope="module")
def marks():
    """Three strata of different means and spreads, the second system a little better."""
    rng = np.random.default_rng(5)
    level, spread = (np.repeat(x, list(SIZES.values())) for x in ([1.0, 4.0, 9.0], [0.2, 0.5, 1.0]))
    first = level + spread * rng.normal(size=100)
    return {"A": first, "B": first + 0.05 + 0.3 * spread * rng.normal(size=100)}


def within(scores):
    """Return mean, standard error and size of each stratum, as a textbook has them."""
    parts = [np.asarray(scores)[name == STRATA] for name in SIZES]
    means, errors = np.array([p.mean() for p in parts]), np.array([stats.sem(p) for p in parts])
    return means, errors, np.array(list(SIZES.values()))


def by_t(scores, **options):
    return es.estimate(scores, None, SCORE, method="t", **options)


@pytest.mark.parametrize(
    ("aggregate", "share"),
    [("micro", [0.6, 0.25, 0.15]), ("macro", [1 / 3] * 3), (SIZES, [0.6, 0.25, 0.15]),
     ({"speech": 1, "news": 2.0, "social": 5}, [2 / 8, 5 / 8, 1 / 8])],
)  # fmt: skip
def test_errors_of_averages_are_the_pooled_ones(marks, aggregate, share):
    means, errors, n = within(marks["A"])
    found = by_t(marks["A"], strata=STRATA, aggregate=aggregate)
    squares = (np.array(share) * errors) ** 2
    assert found.score == pytest.approx(means @ share)
    assert found.standard_error == pytest.approx(np.sqrt(np.sum(squares)))
    degrees = np.sum(squares) ** 2 / np.sum(squares**2 / (n - 1))
    half = stats.t.ppf(0.975, degrees) * found.standard_error
    assert (found.low, found.high) == pytest.approx((found.score - half, found.score + half))
    # What one stratum is above another is no error.
    assert found.standard_error < 0.6 * stats.sem(marks["A"])
    name = aggregate if isinstance(aggregate, str) else "weighted"
    assert found.metric == ("marks" if name == "micro" else f"{name} marks")
    if name == "weighted":
        shown = ",".join(f"{x:g}" for x in share)
        assert f"aggregate:{shown}" in found.signature


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_replicates_are_those_of_resampling_each_stratum(sample, aggregate):
    """BLEU scores of outputs picked by the weights, stratum by stratum."""
    n, metric, codes = 60, es.BLEU(), np.arange(60) % 3
    outputs, references = sample.systems["baseline"][:n], sample.references[:n]
    asked = {"strata": codes.tolist(), "aggregate": aggregate}
    found = es.estimate(outputs, references, metric, **asked, n_resamples=5)
    ((_, rows),) = batches(Stratified(n, 12345, codes), 5)
    table = metric.statistics(outputs, references)
    for row, replicate in zip(rows, found.replicates, strict=True):
        assert np.bincount(codes, weights=row).tolist() == [20, 20, 20]
        parts = [row[codes == t] @ table[codes == t] for t in range(3)]
        scores = [metric.score(p) for p in (parts if aggregate == "macro" else [sum(parts)])]
        assert replicate == pytest.approx(np.mean(scores), rel=1e-12)
    # Neither threads nor other systems change a bit.
    asked["n_resamples"], both = 600, {"A": outputs, "B": sample.systems["copy"][:n]}
    one, two = (es.compare(both, references, **asked, executor=workers) for workers in (1, 2))
    assert one == two
    np.testing.assert_array_equal(one.estimates[0].replicates[:5], found.replicates)


@pytest.mark.parametrize("metric", [es.BLEU(), es.Correlation(), SCORE])
def test_one_stratum_is_none(sample, metric):
    """Defect: of groups of unlike sizes, macro over one stratum was another number than micro."""
    rng = np.random.default_rng(7)
    systems, references = {s: rng.normal(size=60) for s in "AB"}, rng.normal(size=60)
    if metric.name == "BLEU":
        systems = {s: sample.systems[s][:60] for s in ("baseline", "clearly-better")}
        references = sample.references[:60]
    elif metric is SCORE:
        references = None
    groups = np.repeat(np.arange(10), [20, 9, 8, 5, 5, 5, 2, 2, 2, 2])
    table = es.extract(systems, references, metric)
    plain = es.compare(table, groups=groups, n_resamples=99)
    for aggregate in ("macro", {"all": 3.0}):
        asked = {"strata": ["all"] * 60, "aggregate": aggregate, "n_resamples": 99}
        one = es.compare(table, groups=groups, **asked)
        for a, b in zip((*one, *one.estimates), (*plain, *plain.estimates), strict=True):
            for name in ("low", "high", "standard_error", "pvalue", "score", "design_effect"):
                assert getattr(a, name, None) == getattr(b, name, None), name


def test_rows_are_multinomial_within_strata():
    codes = np.array([0, 1, 1, 0, 2, 2, 1, 0, 2, 2])
    ((_, rows),) = batches(Stratified(10, 3, codes), 2000)
    for t, n in enumerate((3, 3, 4)):
        part = rows[:, codes == t]
        assert np.all(part.sum(axis=1) == n)
        # Cells of a multinomial(n, 1/n): binomial counts. A p-value below 1e-4 has that chance.
        seen = np.bincount(part[:, 0], minlength=n + 1)[: n + 1]
        expected = stats.binom.pmf(np.arange(n + 1), n, 1 / n) * 2000
        assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-4
    ((_, one),) = batches(Stratified(10, 3, np.zeros(10, dtype=np.intp)), 50)
    ((_, plain),) = batches(Multinomial(10, 3), 50)
    assert np.array_equal(one, plain)


@pytest.mark.parametrize("weights", [Stratified, Halves])
@pytest.mark.parametrize("together", [1 << 22, 100])
def test_totals_of_strata(weights, together, monkeypatch):
    monkeypatch.setattr(weighted, "_MOST_TOTALS", together)
    rng = np.random.default_rng(2)
    codes = rng.permutation(np.repeat([0, 1, 2], [40, 8, 2]))
    statistics = rng.integers(-5, 9, (50, 4))
    made = Stratified(50, 7, codes) if weights is Stratified else Halves(50, 7)
    parts = [(np.flatnonzero(codes == t), statistics[codes == t]) for t in range(3)]
    found = stratum_totals(made, parts, 600, 2, lambda totals: np.stack(totals, axis=1))
    naive = np.concatenate([rows.astype(int) for _, rows in batches(made, 600)])
    for t, (places, values) in enumerate(parts):
        assert np.array_equal(found[:, t], naive[:, places] @ values)


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_groups_within_strata_and_what_they_are_worth(marks, aggregate):
    """The design effect is the square of the errors' ratio, and the note prints it."""
    documents, labels = np.arange(100) // 5, STRATA[::5]
    asked = {"groups": documents, "strata": STRATA, "aggregate": aggregate}
    result = es.compare(marks, metrics=SCORE, **asked, n_resamples=99)
    found = result.estimates[0]
    means = np.asarray(marks["A"]).reshape(20, 5).mean(axis=1)
    _, errors, n = within(marks["A"])
    share = n / 100 if aggregate == "micro" else np.full(3, 1 / 3)
    of_groups = share * [stats.sem(means[labels == name]) for name in SIZES]
    assert found.standard_error == pytest.approx(np.sqrt(np.sum(of_groups**2)))
    assert found.segment_error == pytest.approx(np.sqrt(np.sum((share * errors) ** 2)))
    assert found.design_effect == pytest.approx((found.standard_error / found.segment_error) ** 2)
    assert found.effective_size == pytest.approx(100 / found.design_effect)
    assert (found.unit, found.n_segments) == ("group", 20)
    assert "strata:3|unit:group" in found.signature
    effects = [e.design_effect for e in result.estimates]
    shown = f"(design effect {min(effects):.2f} to {max(effects):.2f})"
    assert any(shown in note for note in result.notes)


def test_strata_of_one_unit_are_drawn_as_one():
    """Four strata of one document each beside two of several: alone they have no spread."""
    rng = np.random.default_rng(9)
    groups = np.repeat(np.arange(10), 10)
    strata = np.where(groups < 6, groups % 2, groups)
    scores = rng.normal(size=100) + strata
    means = scores.reshape(10, 10).mean(axis=1)
    parts = [means[[0, 2, 4]], means[[1, 3, 5]], means[6:]]
    weights = {"micro": np.array([3, 3, 4]) / 10, "macro": np.array([1, 1, 4]) / 6}
    for aggregate, share in weights.items():
        found = by_t(scores, groups=groups, strata=strata, aggregate=aggregate)
        errors = share * [stats.sem(p) for p in parts]
        assert found.score == pytest.approx(share @ [p.mean() for p in parts])
        assert found.standard_error == pytest.approx(np.sqrt(np.sum(errors**2)))
    # Each of the ten segments of a document alone is one of its stratum.
    alone = [stats.sem(scores[strata == s]) / 6 for s in np.unique(strata)]
    assert found.segment_error == pytest.approx(np.sqrt(np.sum(np.square(alone))))
    # One stratum of one joins the smallest other.
    plain = by_t(scores[:9], strata=list("xxxxxyyyz"))
    joined = by_t(scores[:9], strata=list("xxxxxyyyy"))
    assert (plain.low, plain.high) == (joined.low, joined.high)
    assert plain.signature == joined.signature.replace("strata:2", "strata:3")
    with pytest.raises(
        es.InputError, match=r"'macro' requires at least 2 segments.*'z' has 1. Merge"
    ):
        by_t(scores[:9], strata=list("xxxxxyyyz"), aggregate="macro")


@bad_cases(
    ({"strata": [[], [], [], []]}, "strata must contain hashable labels"),
    ({"strata": [1, 1, "1", "1"]}, r"strata contains 1 \(int\) and '1' \(str"),
    (
        {"groups": [1, 2, "2", 3]},
        "2 .*look the same but are different labels; use one type for all labels",
    ),
    ({"groups": [1, 2, 2, 3]}, r"group 2 is in 'x' \(segment 1\) and in 'y' \(segment 2\)"),
    ({"strata": None, "aggregate": "macro"}, "aggregate='macro' requires strata"),
    ({"aggregate": {"x": 1}}, "aggregate lacks the stratum 'y'"),
    ({"aggregate": {"x": 1, "y": float("nan")}}, r"aggregate\['y'\] must be a finite"),
)
def test_bad_input(options):
    es.estimate([0.1, 0.2, 0.4, 0.3], None, SCORE, **{"strata": list("xxyy")} | options)
