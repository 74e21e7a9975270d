"""Metrics compared with people: naive versions of every measure, swaps enumerated, files, bad input."""

import csv
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evalstats as es
from evalstats.analysis import scores
from evalstats.designs import meta as measures
from evalstats.pictures.marks import drawing
from tests.conftest import WMT
from tests.helpers import bad_cases, refuses

PEOPLE = "GEMBA-ESA-GPT4.1"
METRICS = ("CometKiwi-XL", "GEMBA-ESA-CMDA", "MetricX-24-Hybrid-XL", "XCOMET-XL")


def made(seed=1, n_systems=4, n=60, gone=0.1):
    """Return human scores with gaps, and those of two metrics, the first of which is nearer."""
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in range(n_systems)]
    quality = 0.3 * np.arange(n_systems)[:, None] + rng.normal(size=(n_systems, n))
    human = np.round(quality + 0.5 * rng.normal(size=quality.shape))
    human[rng.random(human.shape) < gone] = np.nan
    near = np.round(10 * (quality + rng.normal(size=quality.shape)))
    far = np.round(quality + 4 * rng.normal(size=quality.shape), 1)
    far[rng.random(far.shape) < gone / 5] = np.nan
    of = [dict(zip(names, x.tolist(), strict=True)) for x in (human, near, far)]
    return of[0], {"near": of[1], "far": of[2]}


def arrays(human, metrics):
    """Return scores `(1 + M, S, N)`: what a metric lacks is missing of people too."""
    of = np.array([list(x.values()) for x in (human, *metrics.values())], dtype=float)
    of[0, ~np.all(np.isfinite(of), axis=0)] = np.nan
    return of


def scores_of(result):
    return {e.system: e.score for e in result.estimates}


def measured(human, metrics, measure):
    """Yield human scores, each metric's, and what is said of them."""
    people, *others = arrays(human, metrics)
    result = es.meta(human, metrics, measure, n_resamples=9)
    for of, e in zip(others, result.estimates, strict=True):
        yield people, of, e.score, " ".join(result.notes)


def pce(human, metric, n_permutations):
    """Return what mt-metrics-eval's `pce` says: how often swaps reach each pair's difference."""
    signs = np.random.default_rng(4).choice([-1.0, 1.0], size=(n_permutations, human.shape[1]))
    a, b = np.triu_indices(len(human), 1)
    moved = [(signs @ x.T, x.sum(axis=1)) for x in (human, metric)]
    first, second = (np.mean(x[:, a] - x[:, b] >= y[a] - y[b], axis=0) for x, y in moved)
    return 1 - np.mean(np.abs(first - second))


def test_soft_accuracy_is_that_of_permutations():
    """Over six pairs `pce` has a standard error below .0015 with so many permutations."""
    for people, of, score, _ in measured(*made(gone=0, n=300), "spa"):
        assert score == pytest.approx(pce(people, of, 40_000), abs=0.006)


@pytest.mark.parametrize("pair", ["en-ar_EG", "cs-de_DE"])
def test_soft_accuracy_of_wmt25(pair):
    """GEMBA stands for people."""
    if not (path := WMT / "wmt25" / pair / "scores.tsv").exists():
        pytest.skip(f"needs {path}")
    frame = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE)
    frame["item"] = frame["document"] + "/" + frame["paragraph"].astype(str)
    wide = frame.pivot(index="item", columns="system", values=[PEOPLE, *METRICS]).dropna()
    people, metrics = wide[PEOPLE], {name: wide[name] for name in METRICS}
    found = scores_of(es.meta(people, metrics, n_resamples=2))
    for name, of in metrics.items():
        exact = pce(people.to_numpy().T, of.to_numpy().T, 2_000)
        assert found[name] == pytest.approx(exact, abs=0.002), name


@pytest.mark.parametrize("seed", range(8))
def test_pairwise_accuracy_counts_pairs_in_the_same_order(seed):
    human, metrics = made(seed, n=12, gone=0.3)
    # Tenths, whose sums are 0 but for rounding: systems that tie.
    tenths = {name: [x / 10 for x in of] for name, of in human.items()}
    assert es.meta(tenths, metrics, "pa", n_resamples=9).method == "percentile"
    for people, of, score, notes in measured(tenths, metrics, "pa"):
        lost = np.isnan(people).sum()
        assert notes.startswith(
            f"{lost} of {people.size} outputs are left out, because a score is miss"
        )
        pairs = itertools.combinations(np.stack([np.rint(10 * people), of], axis=1), 2)
        # Where people's score is missing the sum leaves out the metric's too.
        sums = [np.sum((a - b)[:, ~np.isnan(a[0] - b[0])], axis=1) for a, b in pairs]
        assert score == np.mean([np.sign(h) == np.sign(m) for h, m in sums])


@pytest.mark.parametrize("seed", range(8))
def test_ties_are_calibrated_as_by_trying_every_threshold(seed):
    for people, of, score, notes in measured(*made(seed, n=12), "acc_eq"):
        outputs = np.stack([people.T, of.T], axis=-1)
        there = [segment[~np.isnan(segment[:, 0])] for segment in outputs]
        every = [[x - y for x, y in itertools.combinations(x, 2)] for x in there if len(x) > 1]
        tried = {0.0, *(abs(m) for pairs in every for _, m in pairs)}

        def accuracy(tie, every=every):
            ordered = [[(np.sign(h), np.sign(m) * (abs(m) > tie)) for h, m in of] for of in every]
            return np.mean([np.mean([h == m for h, m in of]) for of in ordered])

        best = max(sorted(tried), key=lambda tie: round(accuracy(tie), 12))
        assert score == pytest.approx(accuracy(best), abs=1e-9)
        assert (f"{best:.4g} (" in notes) or (best == 0 and "scores are equal" in notes)
    assert "ties:calibrated" in es.meta(*made(seed), "acc_eq", n_resamples=9).signatures[0]


@pytest.mark.parametrize("measure, peer", [("pearson", "pearsonr"), ("kendall", "kendalltau")])
def test_correlations_within_segments_are_scipys(measure, peer):
    human, metrics = made(n_systems=6)
    for of in metrics["near"].values():
        of[-1] = 1.0  # says nothing of the last segment
    for people, of, score, _ in measured(human, metrics, measure):
        each = []
        for h, m in zip(people.T, of.T, strict=True):
            there = ~np.isnan(h)
            if np.ptp(h[there]):
                is_flat = not np.ptp(m[there])
                each.append(0 if is_flat else getattr(stats, peer)(h[there], m[there])[0])
        assert score == pytest.approx(np.mean(each), abs=1e-9)


@pytest.mark.parametrize("measure", ["spa", "pa"])
def test_whole_segments_change_places(measure):
    """Of nine segments every swap is enumerated; here of scores, with the measure computed anew."""
    human, metrics = made(3, n=9, gone=0)
    people, *others = arrays(human, metrics)
    a, b = np.triu_indices(len(people), 1)
    units = [of / np.sqrt(np.mean((of[a] - of[b]) ** 2)) for of in others]

    def score(metric):
        z = [(x[a] - x[b]).sum(1) / np.sqrt(((x[a] - x[b]) ** 2).sum(1)) for x in (people, metric)]
        if measure == "pa":
            return np.mean(np.sign(z[0]) == np.sign(z[1]))
        return 1 - np.mean(np.abs(stats.norm.cdf(z[0]) - stats.norm.cdf(z[1])))

    first, second = units
    observed, reached = score(second) - score(first), 0
    for swap in itertools.product([False, True], repeat=9):
        one, other = (np.where(swap, x, y) for x, y in ((second, first), (first, second)))
        reached += abs(score(other) - score(one)) >= abs(observed) - 1e-9
    (d,) = es.meta(human, metrics, measure)
    assert d.difference == pytest.approx(observed)
    assert d.pvalue == pytest.approx(reached / 2**9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_means_over_segments_have_the_tests_of_compare(alternative):
    """Of groups of two, whose labels stay with the segments that people tell apart: SciPy's t."""
    people, *others = np.random.default_rng(6).normal(size=(4, 4, 60))
    others[0] += people
    people[:, :20] = 1.0
    human, *metrics = (dict(zip("abcd", of, strict=True)) for of in (people, *others))
    values = {
        name: np.array([stats.pearsonr(*x)[0] for x in zip(people.T[20:], of.T[20:], strict=True)])
        for name, of in zip(("near", "far", "other"), others, strict=True)
    }
    given, groups = dict(zip(values, metrics, strict=True)), [max(i, 20) // 2 for i in range(60)]
    asked = {"baseline": "near", "alternative": alternative, "n_resamples": 999}
    asked |= {"confidence_level": 0.9, "adjustment": "none"}
    for test in ("bootstrap", "t"):
        found = es.meta(human, given, "pearson", test=test, groups=groups, **asked)
        same = es.compare(values, metrics=es.Mean("r"), method=test, groups=groups[20:], **asked)
        assert found.notes[0] == "Segments with equal scores by people are left out (20)."
        for d, e in zip(found, same, strict=True):
            for name in ("pvalue", "pvalue_adjusted", "low", "high"):
                assert getattr(d, name) == pytest.approx(getattr(e, name), rel=1e-6)
    far, near = (values[name].reshape(20, 2).mean(axis=1) for name in ("far", "near"))
    expected = stats.ttest_rel(far, near, alternative=alternative).pvalue
    assert found["far"].pvalue == pytest.approx(expected)


def test_neither_unit_nor_direction_of_a_metric_matters():
    human, metrics = made()
    turned = {"near": {x: [-1000 * y + 5 for y in of] for x, of in metrics["near"].items()}}
    for measure in ("spa", "pa", "acc_eq", "pearson", "kendall"):
        plain = es.meta(human, metrics, measure, n_resamples=199)
        again = es.meta(human, metrics | turned, measure, lower_is_better=["near"], n_resamples=199)
        for one, other in zip(plain, again, strict=True):
            assert other.difference == pytest.approx(one.difference), measure
            assert other.pvalue == one.pvalue
        # In another unit it is the same metric, but for rounding.
        scaled = {s: [0.1 * x + 0.3 for x in of] for s, of in metrics["near"].items()}
        if measure == "acc_eq":
            continue  # differences that tie but for rounding are not one threshold yet
        both = {"near": metrics["near"], "scaled": scaled}
        (same,) = es.meta(human, both, measure, n_resamples=9)
        assert (same.n_differing, same.pvalue) == (0, 1), measure


def test_totals_that_are_not_kept_have_the_same_p_values(monkeypatch):
    plain = es.meta(*made(), n_resamples=999)
    monkeypatch.setattr(scores, "_KEPT", 0)
    assert es.meta(*made(), n_resamples=999).differences == plain.differences


def test_gradients():
    """That of PA, which has none, is of the accuracy where each z is known with an error of 1."""

    class Expected(measures.PairwiseAccuracy):
        def score(self, totals):
            d, q, e, r = np.split(np.asarray(totals), 4, axis=-1)
            x, y = stats.norm.cdf(d / np.sqrt(q)), stats.norm.cdf(e / np.sqrt(r))
            return np.mean(x * y + (1 - x) * (1 - y), axis=-1)

    (table,) = es.meta(*made(), n_resamples=9).source.parts[0].statistics
    for smooth in (table.metric, Expected(table.metric.columns)):
        numeric = es.Metric.gradient(smooth, table.totals)
        assert smooth.gradient(table.totals) == pytest.approx(numeric, abs=1e-8)


def test_statistics_stand_for_the_scores_of_their_segments():
    sample = es.data.load_sample()
    tables = [es.extract(sample.systems, sample.references, name) for name in ("chrf", "ter")]
    rng = np.random.default_rng(2)
    human = {name: rng.normal(size=480).tolist() for name in sample.systems}
    chrf, ter = (dict(zip(x.systems, x.metric.score(x.values), strict=True)) for x in tables)
    by_hand = es.meta(human, {"chrF2": chrf, "TER": ter}, lower_is_better=["TER"])
    assert es.meta(human, tables).differences == by_hand.differences
    # Segments go by their ids, and a system that one metric lacks is left out.
    ids = [f"s{i}" for i in range(480)]
    first, other = (replace(table, segment_ids=ids) for table in tables)
    turned = other.select(range(479, -1, -1))
    turned = replace(turned, values=turned.values[1:], systems=turned.systems[1:])
    people = es.extract(human, metric=es.Mean("people"), segment_ids=ids)
    found = es.meta(people, [first, turned], n_resamples=99)
    left = dict(list(human.items())[1:])
    assert found.differences == es.meta(left, tables, n_resamples=99).differences
    said = "Systems that some metrics (or people) did not score are left out: "
    assert found.notes[0].startswith(said + first.systems[0])
    numbers = {name: rng.normal(size=480) for name in sample.systems}
    between = es.extract(numbers, rng.normal(size=480), es.Correlation())
    refuses("r is only defined for several units together;", es.meta, human, [tables[0], between])


def test_tiers_notes_and_forms():
    """A metric that differs from another by a constant of each segment is that metric."""
    human, metrics = made(n=400)
    near = metrics["near"].items()
    metrics["again"] = {s: [x + 0.01 * (i % 3) for i, x in enumerate(of)] for s, of in near}
    result = es.meta(human, metrics, n_resamples=999)
    tiers = {one.system: one.tier for one in result.ranking()}
    assert tiers == {"near": "a", "again": "a", "far": "b"}
    assert result["again", "near"].pvalue == 1
    assert (result.test, result.adjustment, result.method) == ("ar", "holm", "t")
    assert "outputs are left out" in result.notes[0]
    assert "Verdicts are based on the p-values only" in result.notes[1]
    assert es.Comparison.from_json(result.to_json()).differences == result.differences
    documents = [i // 5 for i in range(400)]
    assert es.meta(human, metrics, groups=documents, n_resamples=9).estimates[0].n_segments == 80


@bad_cases(
    (
        {"test": "bootstrap"},
        "test must be 'ar' for spa, because the bootstrap is not valid for it",
    ),
    ({"test": "bca"}, "test must be one of ar, bootstrap, t"),
    ({"measure": "kappa"}, "measure must be one of spa, pa, acc_eq"),
    ({"metrics": {"one": made()[0]}}, "metrics must contain at least two metrics, got 1; pass metrics, or logs"),
    ({"metrics": [1, 2]}, "metrics must map metrics to scores"),
    ({"human": [1, 2]}, "human must map systems to scores"),
    ({"lower_is_better": ["nea"]}, "did you mean 'near'"),
    ({"human": {"s0": [1.0] * 60}}, "at least 2 systems in common, got 1: people"),
    ({"human": {"s0": [1.0], "s1": [2.0]}}, "near has 60 scores per system, but people have 1"),
    ({"human": {"s0": [1.0], "s1": [2.0, 3.0]}}, "human must have the same number of scores"),
    ({"human": {"s0": [1, "x"], "s1": [2, 3]}}, "human, s0 must be numbers"),
    ({"human": {"s0": [1, None] * 30, "s1": [None, 1] * 30}}, "no segment has scores from all of"),
    ({"human": {"s0": [1] * 60, "s1": [1] * 60}, "measure": "kendall"},
     "equal scores for all systems"),
    ({"human": {"s0": [1] * 60, "s1": [1] * 60}}, "equal scores for all systems"),
    ({"groups": ["a"]}, "groups"),
)  # fmt: skip
def test_what_is_wrong_is_said(given):
    es.meta(**dict(zip(("human", "metrics"), made(), strict=True)) | given)


def test_files(tmp_path, monkeypatch, refused, typed):
    """Of mt-metrics-eval, two tables, and one table of all."""
    monkeypatch.chdir(tmp_path)
    human, metrics = made()
    metrics = {"COMET": metrics["near"], "BLEURT": metrics["far"]}
    for name, of in {"people/esa": human, **{f"en-de/{x}": m for x, m in metrics.items()}}.items():
        lines = [f"{s}\t{'None' if np.isnan(x) else x}" for s, xs in of.items() for x in xs]
        path = tmp_path / f"{name}.seg.score"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    named = {"esa": human, **metrics}
    keys = pd.MultiIndex.from_product([list(human), range(60)], names=["system", "segment"])
    columns = {name: np.concatenate(list(of.values())) for name, of in named.items()}
    frame = pd.DataFrame(columns, keys).reset_index()
    frame.to_csv("all.csv", index=False)
    frame[["system", "segment", "esa"]].to_csv("human.csv", index=False)
    frame.drop(columns="esa").to_csv("metrics.tsv", index=False, sep="\t")
    expected = scores_of(es.meta(human, metrics, "kendall"))
    folders, tables = "people/esa.seg.score en-de", "human.csv metrics.tsv"
    for files in (folders, tables, "all.csv --human esa", f"{tables} -m COMET BLEURT"):
        printed = typed("meta", *files.split(), "--measure", "kendall", "-f", "json")
        assert scores_of(es.Comparison.from_json(printed)) == expected, files
    for line, said in (
        ("all.csv", "pass --human with the metric that contains human scores"),
        ("all.csv --human mqm", "--human: there is no 'mqm'"),
        ("-i x.txt", "human scores are missing"),
    ):
        assert said in refused("meta", *line.split())


@pytest.mark.parametrize("measure", ["spa", "pa"])
def test_what_is_not_smooth_has_no_power(measure):
    result = es.meta(*made(), measure, n_resamples=9)
    refuses("it is not smooth", result.power, difference=0.1)
    assert "80% of the time" not in result.to_html()


def test_no_density_stands_beside_an_interval_of_t():
    """The bootstrap of a score that is not smooth is biased."""
    result = es.meta(*made(), test="ar", n_resamples=99)
    rows = [mark for one in drawing(result._tables()) for row in one.forest.marks for mark in row]
    assert [mark.density for mark in rows] == [None]


@pytest.mark.parametrize("scale", [100, 2.0**-500, 1e170])
def test_the_unit_of_a_metric_changes_nothing(scale):
    rng = np.random.default_rng(1)
    human = {s: rng.integers(0, 3, 60).tolist() for s in "abcd"}
    near, far = ({s: rng.integers(0, 10, 60) / 10 for s in "abcd"} for _ in range(2))
    for measure in ("acc_eq", "spa"):
        given = [{"x": {s: k * v for s, v in near.items()}, "y": far} for k in (1, scale)]
        found, other = (es.meta(human, metrics, measure, n_resamples=99) for metrics in given)
        assert found[0].difference == pytest.approx(other[0].difference, abs=1e-12)


def test_metrics_and_systems_of_one_name_are_told_apart():
    outputs, references = {"A": ["a b", "c d", "e"], "B": ["a", "c d", "f"]}, ["a b", "c e", "f"]
    human = {"A": [1, 2, 3], "B": [3, 1, 1]}
    metrics = [es.extract(outputs, references, es.BLEU(tokenize=t)) for t in ("char", "13a")]
    found = es.meta(human, metrics, n_resamples=99)
    assert "tok:char" in found[0].baseline
    assert "tok:13a" in found[0].system
    with pytest.raises(es.InputError, match="human has two systems called '1'"):
        es.meta({1: [1, 2], "1": [2, 1]}, {"m": {"1": [1, 2]}, "n": {"1": [1, 2]}})
