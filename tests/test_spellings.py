"""One argument, several names: what is meant is understood, and both at once are refused."""

import inspect
from functools import partial

import numpy as np
import pytest

import evalstats as es
from evalstats.metrics import NAMED, as_metric

REFERENCES = ["a b c d e", "a b c d f", "a b c d"]
TEXTS = {"A": REFERENCES, "B": ["a b c d e", "a b x d f", "a b c e"]}
X1, X2 = [1.0, 2, 3, 5], [1.0, 3, 2, 9]
JUDGE = es.Mean("judge")
TABLE = es.extract({"A": X1}, metric=JUDGE)


#: Every public function that takes a metric or a seed, called with what is given.
CALLS = {
    "estimate": (lambda **o: es.estimate(TEXTS["B"], REFERENCES, **o), "metric", "rng"),
    "compare": (lambda **o: es.compare(TEXTS, REFERENCES, n_resamples=99, **o), "metrics", "rng"),
    "power": (lambda **o: es.power(TEXTS, REFERENCES, **o), "metrics", None),
    "audit": (
        lambda **o: es.audit(TEXTS, REFERENCES, n_bootstrap=9, n_randomization=9, **o),
        "metrics", "rng",
    ),
    "extract": (lambda **o: es.extract(TEXTS, REFERENCES, **o), "metric", None),
    "extract_runs": (
        lambda **o: es.extract_runs({k: [v, v] for k, v in TEXTS.items()}, REFERENCES, **o), "metric", None,
    ),
    "assert_not_worse": (
        lambda **o: es.assert_not_worse(*(REFERENCES * 9,) * 3, **o), "metric", "rng",
    ),
    "Accumulator": (lambda **o: es.Accumulator(**o).metric, "metric", None),
    "Monitor": (lambda **o: (es.Monitor(REFERENCES, **o)).signature, "metric", "rng"),
    "paired_permutation_test": (lambda **o: es.paired_permutation_test(X1, X2, **o), None, "rng"),
    "paired_bootstrap_test": (lambda **o: es.paired_bootstrap_test(X1, X2, **o), None, "rng"),
    "bleu_ci": (lambda **o: es.bleu_ci(REFERENCES, TEXTS["B"], 99, 0.05, **o), None, "rng"),
    "bleu_bootstrap_test": (
        lambda **o: es.bleu_bootstrap_test(REFERENCES, *TEXTS.values(), 99, **o), None, "rng",
    ),
    "bootstrap_weights": (lambda **o: es.bootstrap_weights(9, 9, **o).tolist(), None, "rng"),
    "bootstrap_totals": (lambda **o: es.bootstrap_totals([[1], [2], [3]], 99, **o).tolist(), None, "rng"),
    "resample_shard": (lambda **o: es.resample_shard(TABLE, range(4), 9, **o), None, "rng"),
}  # fmt: skip
OTHER = {"metric": "metrics", "metrics": "metric", "rng": "seed"}
GIVEN = {"metric": es.CHRF(), "metrics": es.CHRF(), "rng": 7}
CASES = [
    pytest.param(call, name, id=f"{title}-{name}")
    for title, (call, *names) in CALLS.items()
    for name in names
    if name
]


@pytest.mark.parametrize("call, name", CASES)
def test_the_other_name_means_the_same(call, name):
    value = GIVEN[name]
    assert call(**{OTHER[name]: value}) == call(**{name: value})
    assert call(**{OTHER[name]: value}) != call() or name == "rng"
    with pytest.raises(es.InputError, match=f"{name} and {OTHER[name]} are the same argument"):
        call(**{name: value, OTHER[name]: value})


def test_every_public_function_with_a_seed_or_a_metric_is_in_the_table():
    for name in es.__all__:
        found = getattr(es, name)
        if isinstance(found, type) and name not in ("Accumulator", "Monitor"):
            continue
        # Of logs, `metric` chooses among those that are there.
        if name in ("read_log", "compare_logs", "estimate_logs", "gate"):
            continue
        if callable(found) and {"rng", "metric", "metrics"} & set(
            inspect.signature(found).parameters
        ):
            assert name in CALLS


def test_functions_of_logs_understand_other_names(tmp_path):
    rows = [f"{s},{i},{(i * 7 + len(s)) % 5},{i % 3}" for s in ("A", "BB") for i in range(30)]
    paths = {"both": tmp_path / "scores.csv", "A": tmp_path / "a.csv", "BB": tmp_path / "b.csv"}
    for name, path in paths.items():
        some = [row for row in rows if name in ("both", row.partition(",")[0])]
        path.write_text("\n".join(["system,segment,acc,f1", *some]))
    for call, *given in (
        (partial(es.compare_logs, paths["both"]), {"seed": 3}, {"rng": 3}),
        (partial(es.estimate_logs, paths["both"]), {"seed": 3}, {"rng": 3}),
        (partial(es.gate, paths["A"], paths["BB"], margin=1), {"seed": 3}, {"rng": 3}),
        (lambda **o: list(es.read_log(paths["both"], **o).tables), {}, {}),
    ):
        assert call(metrics="acc", **given[0]) == call(metric="acc", **given[1])
        with pytest.raises(es.InputError, match="metric and metrics are the same argument"):
            call(metrics="acc", metric="acc")


def test_a_name_given_by_place_counts_as_given():
    with pytest.raises(es.InputError, match="metric and metrics are the same argument; give one"):
        es.estimate(TEXTS["B"], REFERENCES, "bleu", metrics="chrf")
    with pytest.raises(es.InputError, match="rng and seed are the same argument; give one"):
        es.bootstrap_weights(3, 9, 1, seed=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sed'"):
        es.estimate(TEXTS["B"], REFERENCES, sed=2)


def test_a_shard_and_an_accumulators_estimate_understand_them_too(tmp_path):
    shard = es.resample_shard(TABLE, range(4), n_resamples=9)
    shard.save(tmp_path / "a.npz")
    load = partial(es.Shard.load, tmp_path / "a.npz")
    assert load(metrics=[JUDGE]) == load(metric=JUDGE) == shard
    collected = es.Accumulator(JUDGE)
    collected.update(np.arange(9.0))
    assert collected.estimate(seed=3) == collected.estimate(rng=3) != collected.estimate()


def test_printed_names_of_metrics_are_names():
    for name in NAMED:
        metric = as_metric(name)
        for printed in (metric.name, metric.name.lower(), metric.name.upper()):
            assert as_metric(printed) == metric


def test_metrics_that_cannot_be_are_refused_with_what_can():
    with pytest.raises(es.InputError, match=r"metric must be .*metric=evalstats.Mean\('rouge'\)"):
        es.estimate(TEXTS["A"], REFERENCES, "rouge")
    with pytest.raises(
        es.InputError, match=r"metric must be one metric, got 2: .*call assert_not_worse for each"
    ):
        es.assert_not_worse(*TEXTS.values(), REFERENCES, ["bleu", "chrf"])
    with pytest.raises(es.InputError, match="metric must be a name or a Metric object, got list"):
        es.extract(TEXTS, REFERENCES, ["bleu", "chrf"])
