"""Metrics against people: naive versions of every measure, swaps enumerated, files, bad input."""

import csv
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evalstats as es
from evalstats.cli import main
from evalstats.designs.meta import measures
from tests.conftest import WMT

METRICS = ("CometKiwi-XL", "GEMBA-ESA-CMDA", "MetricX-24-Hybrid-XL", "XCOMET-XL")
WITHIN = ("acc_eq", "pearson", "kendall")


def made(seed=1, n_systems=4, n=60, gone=0.1):
    """Return people's scores with gaps, and those of two metrics, the first of which is nearer."""
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in range(n_systems)]
    quality = 0.3 * np.arange(n_systems)[:, None] + rng.normal(size=(n_systems, n))
    human = np.round(quality + 0.5 * rng.normal(size=quality.shape))
    human[rng.random(human.shape) < gone] = np.nan
    near = np.round(10 * (quality + rng.normal(size=quality.shape)))
    far = np.round(quality + 4 * rng.normal(size=quality.shape), 1)
    of = [dict(zip(names, x.tolist(), strict=True)) for x in (human, near, far)]
    return of[0], {"near": of[1], "far": of[2]}


def arrays(human, metrics):
    return [np.array(list(of.values()), dtype=float) for of in (human, *metrics.values())]


def scores_of(result):
    return {e.system: e.score for e in result.estimates}


def pce(human, metric, n_permutations):
    """Return what mt-metrics-eval's `pce` says: how often swaps reach each pair's difference."""
    signs = np.random.default_rng(4).choice([-1.0, 1.0], size=(n_permutations, human.shape[1]))
    a, b = np.triu_indices(len(human), 1)
    first, second = (
        np.mean((signs @ x.T)[:, a] - (signs @ x.T)[:, b] >= (x.sum(1)[a] - x.sum(1)[b]), axis=0)
        for x in (human, metric)
    )
    return 1 - np.mean(np.abs(first - second))


def test_soft_accuracy_is_that_of_permutations():
    """Over six pairs `pce` has a standard error below .0015 with so many permutations."""
    human, metrics = made(gone=0, n=300)
    people, *others = arrays(human, metrics)
    found = scores_of(es.meta(human, metrics, n_resamples=9))
    for of, score in zip(others, found.values(), strict=True):
        assert score == pytest.approx(pce(people, of, 40_000), abs=0.006)


@pytest.mark.parametrize("pair", ["en-ar_EG", "cs-de_DE"])
def test_soft_accuracy_of_wmt25(pair):
    """GEMBA stands for people."""
    path = WMT / "wmt25" / pair / "scores.tsv"
    if not path.exists():
        pytest.skip(f"needs {path}")
    frame = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE)
    frame["item"] = frame["document"] + "/" + frame["paragraph"].astype(str)
    wide = frame.pivot(index="item", columns="system", values=["GEMBA-ESA-GPT4.1", *METRICS])
    wide = wide.dropna()
    people, metrics = wide["GEMBA-ESA-GPT4.1"], {name: wide[name] for name in METRICS}
    found = scores_of(es.meta(people, metrics, n_resamples=2))
    for name, of in metrics.items():
        exact = pce(people.to_numpy().T, of.to_numpy().T, 2_000)
        assert found[name] == pytest.approx(exact, abs=0.002), name


def pairs_of(people, metric):
    """Yield segment by segment the pairs of outputs that have all scores."""
    for h, m in zip(people.T, metric.T, strict=True):
        there = [(x, y) for x, y in zip(h, m, strict=True) if not np.isnan(x)]
        yield [(x[0] - y[0], x[1] - y[1]) for x, y in itertools.combinations(there, 2)]


@pytest.mark.parametrize("seed", range(8))
def test_pairwise_accuracy_counts_pairs_in_the_same_order(seed):
    human, metrics = made(seed, gone=0.3)
    people, *others = arrays(human, metrics)
    found = scores_of(es.meta(human, metrics, "pa", n_resamples=99))
    for of, score in zip(others, found.values(), strict=True):
        right = []
        for a, b in itertools.combinations(range(len(people)), 2):
            both = ~np.isnan(people[a] - people[b])
            first, second = (np.sign(np.sum((x[a] - x[b])[both])) for x in (people, of))
            right.append(first == second)
        assert score == np.mean(right)


@pytest.mark.parametrize("seed", range(8))
def test_ties_are_calibrated_as_by_trying_every_threshold(seed):
    human, metrics = made(seed, n=12)
    people, *others = arrays(human, metrics)
    result = es.meta(human, metrics, "acc_eq")
    for of, score in zip(others, scores_of(result).values(), strict=True):
        every = [pairs for pairs in pairs_of(people, of) if pairs]
        tried = {0.0, *(abs(m) for pairs in every for _, m in pairs)}

        def accuracy(tie, every=every):
            return np.mean(
                [
                    np.mean([np.sign(h) == (0 if abs(m) <= tie else np.sign(m)) for h, m in pairs])
                    for pairs in every
                ]
            )

        best = max(sorted(tried), key=lambda tie: round(accuracy(tie), 12))
        assert score == pytest.approx(accuracy(best), abs=1e-9)
        assert f"{best:.4g} of" in " ".join(result.notes)


@pytest.mark.parametrize("measure, peer", [("pearson", "pearsonr"), ("kendall", "kendalltau")])
def test_correlations_within_segments_are_scipys(measure, peer):
    human, metrics = made(n_systems=6)
    metrics["near"]["s0"] = metrics["near"]["s0"][:50] + [1.0] * 10
    people, *others = arrays(human, metrics)
    others[0][:, -1] = 1.0  # says nothing of the last segment
    metrics["near"] = dict(zip(human, others[0].tolist(), strict=True))
    found = es.meta(human, metrics, measure)
    for of, score in zip(others, scores_of(found).values(), strict=True):
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


def test_neither_unit_nor_direction_of_a_metric_matters():
    human, metrics = made()
    turned = {"near": {x: [-1000 * y + 5 for y in of] for x, of in metrics["near"].items()}}
    for measure in ("spa", "pa", *WITHIN):
        plain = es.meta(human, metrics, measure, n_resamples=199)
        again = es.meta(human, metrics | turned, measure, lower_is_better=["near"], n_resamples=199)
        for one, other in zip(plain, again, strict=True):
            assert other.difference == pytest.approx(one.difference), measure
            assert other.pvalue == one.pvalue


@pytest.mark.parametrize("kind", [measures.SoftPairwiseAccuracy, measures.PairwiseAccuracy])
def test_gradients(kind):
    """Of PA it is that of the accuracy where each z is known with an error of 1."""
    (table,) = es.meta(*made(), n_resamples=9).source.parts[0].tables
    metric = kind(table.metric.columns)
    numeric = es.Metric.gradient(table.metric, table.totals)
    if kind is measures.PairwiseAccuracy:

        class Expected(kind):
            def score(self, totals):
                d, q, e, r = np.split(np.asarray(totals), 4, axis=-1)
                x, y = stats.norm.cdf(d / np.sqrt(q)), stats.norm.cdf(e / np.sqrt(r))
                return np.mean(x * y + (1 - x) * (1 - y), axis=-1)

        numeric = es.Metric.gradient(Expected(table.metric.columns), table.totals)
    assert metric.gradient(table.totals) == pytest.approx(numeric, abs=1e-8)


def test_statistics_stand_for_the_scores_of_their_segments():
    sample = es.data.load_sample()
    tables = [es.extract(sample.systems, sample.references, name) for name in ("chrf", "ter")]
    rng = np.random.default_rng(2)
    human = {name: rng.normal(size=480).tolist() for name in sample.systems}
    by_hand = {
        table.metric.name: dict(zip(table.systems, table.metric.score(table.values), strict=True))
        for table in tables
    }
    found = es.meta(human, tables, n_resamples=99)
    assert (
        found.differences
        == es.meta(human, by_hand, lower_is_better=["TER"], n_resamples=99).differences
    )


def test_tiers_notes_and_forms():
    human, metrics = made(n=200)
    copies = {
        name: {s: [x + 0.01 * (i % 3) for i, x in enumerate(of)] for s, of in m.items()}
        for name, m in (("near too", metrics["near"]), ("far too", metrics["far"]))
    }
    result = es.meta(human, metrics | copies, adjustment="max-t")
    assert [(one.system, one.tier) for one in result.ranking()][::2] == [
        ("near", "a"),
        ("far", "b"),
    ]
    assert (result.test, result.adjustment, result.method) == ("ar", "holm", "t")
    assert "outputs are left out" in result.notes[0]
    assert "do not decide" in result.notes[1]
    assert es.Comparison.from_json(result.to_json()).differences == result.differences
    documents = [i // 5 for i in range(200)]
    assert es.meta(human, metrics, groups=documents).estimates[0].n_segments == 40


def bad(**changes):
    human, metrics = made()
    return {"human": human, "metrics": metrics} | changes


@pytest.mark.parametrize(
    "given, said",
    [
        (bad(test="bootstrap"), r"test must be 'ar' for spa, which is not smooth, got 'bootstrap'"),
        (bad(method="bca"), "method must be 't' for spa"),
        (bad(measure="kappa"), "measure must be one of spa, pa, acc_eq"),
        (bad(metrics={"one": made()[0]}), "metrics must be at least two, got 1"),
        (bad(metrics=[1, 2]), "metrics must map metrics to scores"),
        (bad(human=[1, 2]), "human must map systems to scores"),
        (bad(lower_is_better=["nea"]), "did you mean 'near'"),
        (bad(human={"s0": [1.0] * 60}), "at least 2 systems in common, and have 1"),
        (bad(human={"s0": [1.0], "s1": [2.0]}), "near has 60 scores a system and people have 1"),
        (bad(human={"s0": [1.0], "s1": [2.0, 3.0]}), "human must have as many scores"),
        (bad(human={"s0": [1, "x"], "s1": [2, 3]}), "human, s0 must be numbers"),
        (
            bad(human={"s0": [1, None] * 30, "s1": [None, 1] * 30}),
            "no segment has all scores of s0",
        ),
        (bad(human={"s0": [1] * 60, "s1": [1] * 60}, measure="kendall"), "sees no difference"),
        (bad(groups=["a"]), "groups"),
    ],
)
def test_what_is_wrong_is_said(given, said):
    with pytest.raises(es.InputError, match=said):
        es.meta(**given)


def write(path, named):
    """Write scores by name and system as mt-metrics-eval does, a file each."""
    for name, of in named.items():
        lines = [f"{s}\t{'None' if np.isnan(x) else x}" for s, xs in of.items() for x in xs]
        path.mkdir(exist_ok=True)
        (path / f"{name}.seg.score").write_text("\n".join(lines) + "\n")


def test_files(tmp_path, monkeypatch, capsys):
    """Of mt-metrics-eval, two tables, and one table of all."""
    monkeypatch.chdir(tmp_path)
    human, metrics = made()
    metrics = {"COMET": metrics["near"], "BLEURT": metrics["far"]}
    write(tmp_path / "people", {"esa": human})
    write(tmp_path / "en-de", metrics)
    named = {"esa": human, **metrics}
    rows = [
        {"system": s, "segment": i, **{name: of[s][i] for name, of in named.items()}}
        for s in human
        for i in range(60)
    ]
    frame = pd.DataFrame(rows)
    frame.to_csv("all.csv", index=False)
    frame[["system", "segment", "esa"]].to_csv("human.csv", index=False)
    frame.drop(columns="esa").to_csv("metrics.tsv", index=False, sep="\t")
    expected = scores_of(es.meta(human, metrics, "kendall"))
    for files in (
        "people/esa.seg.score en-de",
        "human.csv metrics.tsv",
        "all.csv --human esa",
        "human.csv metrics.tsv -m COMET BLEURT",
    ):
        assert main(["meta", *files.split(), "--measure", "kendall", "-f", "json"]) == 0
        found = es.Comparison.from_json(capsys.readouterr().out)
        assert scores_of(found) == expected, files
    for line, said in (
        ("all.csv", "which are people's? give --human"),
        ("all.csv --human mqm", "--human: there is no 'mqm'"),
        ("-i x.txt", "people's scores are missing"),
    ):
        assert main(["meta", *line.split()]) == 2
        assert said in capsys.readouterr().err
