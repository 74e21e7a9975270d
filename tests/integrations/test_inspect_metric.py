"""The interval for Inspect, without Inspect; `live/test_inspect.py` has the package itself."""

import importlib
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import evalstats as es
from tests.helpers import hide, refuses

NAME = "evalstats.integrations.inspect_ai"


@pytest.fixture(scope="module")
def interval():
    """The metric, of a package that is not there."""
    scorer = SimpleNamespace(
        metric=lambda function: function,
        value_to_float=lambda: lambda value: {"C": 1.0, "I": 0.0}.get(value, value),
        **dict.fromkeys(["Metric", "SampleScore", "Value", "ValueToFloat"], object),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "inspect_ai", SimpleNamespace(scorer=scorer))
        patch.setitem(sys.modules, "inspect_ai.scorer", scorer)
        patch.delitem(sys.modules, NAME, raising=False)
        yield importlib.import_module(NAME).interval
        del sys.modules[NAME]
        del sys.modules["evalstats.integrations"].inspect_ai


def scores(values, ids=None, **metadata):
    """Return what Inspect hands to a metric: with ids, and metadata, one value a score."""
    ids = range(len(values)) if ids is None else ids
    names = list(metadata)
    return [
        SimpleNamespace(
            score=SimpleNamespace(value=value),
            sample_id=name,
            sample_metadata=dict(zip(names, of_sample, strict=True)) if names else None,
        )
        for value, name, *of_sample in zip(values, ids, *metadata.values(), strict=True)
    ]


def bounds(values, metric="mean", **options):
    found = es.estimate(values, metric=es.Mean(metric), **options)
    return {"low": found.low, "high": found.high}


def test_right_and_wrong_have_wilsons_interval(interval):
    """Of 20 right among 30 (Wilson, 1927, from its formula)."""
    z, p, n = 1.959963984540054, 20 / 30, 30
    middle, half = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    expected = {"low": middle - half, "high": middle + half}
    expected = {name: bound / (1 + z**2 / n) for name, bound in expected.items()}
    found = interval()(scores(["C"] * 20 + ["I"] * 10))
    assert found == pytest.approx(expected, rel=1e-12)
    assert interval(level=0.5)(scores(["C"] * 20 + ["I"] * 10))["low"] > found["low"]


def test_numbers_have_the_interval_of_estimate(interval):
    values = np.random.default_rng(2).normal(size=60).tolist()
    for options in ({}, {"method": "t"}):
        assert interval(**options)(scores(values)) == bounds(values, **options)
    doubled = interval(method="t", to_float=lambda value: 2 * value)(scores(values))
    assert doubled == bounds([2 * value for value in values], method="t")


def test_clusters_and_the_epochs_of_a_sample_are_drawn_together(interval):
    rng = np.random.default_rng(4)
    passages = np.repeat(np.arange(40), 3)
    values = (rng.normal(size=40)[passages] + rng.normal(size=120) / 9).tolist()
    together = bounds(values, groups=passages.tolist(), method="t")
    alone = bounds(values, method="t")
    assert together["high"] - together["low"] > 1.5 * (alone["high"] - alone["low"])
    of_passages = scores(values, passage=passages.tolist())
    assert interval(cluster="passage", method="t")(of_passages) == together
    assert interval(method="t")(of_passages) == alone
    # Epochs that no reducer has averaged, and some samples that have fewer.
    means = [float(np.mean(values[i : i + 3])) for i in range(0, 120, 3)]
    epochs = scores(values, passages.tolist(), half=(passages // 2).tolist())
    assert interval(method="t")(epochs) == bounds(means, method="t")
    halves = bounds(means, method="t", groups=[i // 2 for i in range(40)])
    assert interval(method="t", cluster="half")(epochs) == halves
    fewer = bounds(values[1:], groups=passages.tolist()[1:], method="t")
    assert interval(method="t")(epochs[1:]) == fewer
    # Scores without ids are one unit each.
    assert interval(method="t")(scores(values, [None] * 120)) == alone


def test_one_unit_has_no_interval(interval):
    for found in ([], scores(["C"]), scores(["C", "I"], [7, 7])):
        expected = {"low": True, "high": True}
        assert {name: math.isnan(x) for name, x in interval()(found).items()} == expected


def test_two_clusters_have_an_interval(interval):
    values, passages = [1.0, 2.0, 4.0, 3.0], [1, 1, 2, 2]
    found = interval(cluster="passage", method="t")(scores(values, passage=passages))
    assert found == bounds(values, groups=passages, method="t")


def test_bad_options_are_refused_when_the_metric_is_made(interval):
    refuses("level must be between 0 and 1, got 95", interval, level=95)
    refuses("method must be one of bootstrap, t; got", interval, method="normal")


@pytest.mark.parametrize("gone", [None, float("nan")])
def test_a_sample_without_a_cluster_is_named(interval, gone):
    text = (
        "cluster must be a key in the metadata of every sample, but sample 1 has no key 'passage'"
    )
    for rows in (scores("CIC", passage=["a", gone, "b"]), scores("CIC")[1:]):
        refuses(text, interval(cluster="passage"), rows)


def test_without_inspect_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    hide(monkeypatch, "inspect_ai")
    with pytest.raises(es.MissingExtraError, match=r"requires inspect-ai: pip install inspect-ai$"):
        importlib.import_module(NAME)
