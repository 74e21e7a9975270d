"""One argument, several names: what is meant is understood, and both at once are refused."""

import inspect

import numpy as np
import pytest

import evalstats as es
from evalstats.compat.evaluatio import paired
from evalstats.metrics import NAMED, as_metric
from tests.helpers import refuses

REFERENCES = ["a b c d e", "a b c d f", "a b c d"]
TEXTS = {"A": REFERENCES, "B": ["a b c d e", "a b x d f", "a b c e"]}
OTHER = {"metric": "metrics", "metrics": "metric", "rng": "seed"}
#: Results and metrics have one name for everything.
DOORS = {
    **{name: getattr(es, name) for name in es.__all__ if name[0].islower()},
    "Accumulator": es.Accumulator,
    "Monitor": es.Monitor,
    "paired_permutation_test": paired.paired_permutation_test,
}
CASES = [
    (door, name)
    for door, found in DOORS.items()
    if callable(found)
    for name in OTHER
    if name in inspect.signature(found).parameters
]


@pytest.mark.parametrize("door, name", CASES)
def test_every_door_understands_the_other_name_and_refuses_both(door, name):
    refuses(f"{name} and {OTHER[name]} are the same", DOORS[door], **{name: 7, OTHER[name]: 7})


def test_the_other_name_means_the_same(tmp_path):
    assert len(CASES) >= 25
    asked = {"hypotheses": TEXTS["B"], "references": REFERENCES, "n_resamples": 99}
    found = [
        es.estimate(**asked, **options)
        for options in ({"metric": "chrf", "rng": 7}, {"metrics": "chrf", "seed": 7}, {"rng": 7})
    ]
    assert found[0] == found[1] != found[2]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["system,segment,acc,f1", "A,1,1,0", "A,2,0,1", "A,3,1,1"]))
    read = [
        es.estimate_logs(path, metrics="acc", seed=3),
        es.estimate_logs(path, metric="acc", rng=3),
    ]
    assert read[0] == read[1]
    collected = es.Accumulator(es.Mean("m"))
    collected.update(np.arange(9.0))
    assert collected.estimate(seed=3) == collected.estimate(rng=3) != collected.estimate()


def test_a_name_given_by_place_counts_as_given():
    with pytest.raises(
        es.InputError, match="metric and metrics are the same argument; pass only one"
    ):
        es.estimate(TEXTS["B"], REFERENCES, "bleu", metrics="chrf")
    refuses(
        "rng and seed are the same argument; pass only one", es.bootstrap_weights, 3, 9, 1, seed=2
    )
    with pytest.raises(TypeError, match=r"estimate has no argument 'sed'; .* did you mean 'seed'"):
        es.estimate(TEXTS["B"], REFERENCES, sed=2)


def test_arguments_without_a_name_are_those_that_have_a_place():
    a, b = TEXTS.values()
    said = (
        "^compare accepts only hypotheses, references, metrics as positional arguments, got 4; pass "
        "several systems as one mapping$"
    )
    refuses(said, es.compare, a, b, REFERENCES, "bleu")
    refuses(
        r"^read_log accepts only path as positional arguments, got 2$", es.read_log, "x.json", "acc"
    )


def test_printed_names_of_metrics_are_names():
    for name in NAMED:
        metric = as_metric(name)
        for printed in (metric.name, metric.name.lower(), metric.name.upper()):
            assert as_metric(printed) == metric


def test_metrics_that_cannot_be_are_refused_with_what_can():
    refuses("metric must be a name or a Metric", es.extract, TEXTS, REFERENCES, ["bleu", "chrf"])
