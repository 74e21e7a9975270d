"""The module for `evaluate`, without it; `live/test_evaluate.py` loads it in the package itself."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import evalstats as es
from evalstats.integrations.evaluate import FOLDER, metric_named, scored
from tests.helpers import hide, refuses

#: Where `evaluate` looks for the module of a folder: a file that is called as the folder is.
SCRIPT = Path(FOLDER) / f"{Path(FOLDER).name}.py"


def loaded():
    """Run the script as `evaluate` does: a copy of it would do, since it imports nothing near."""
    spec = importlib.util.spec_from_file_location("copied", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def module(monkeypatch):
    """The class, of packages that are not there."""

    class Metric:
        def __init__(self, config_name):
            self.config_name = config_name
            self.info = self._info()

    same = lambda kind: kind  # noqa: E731
    datasets = SimpleNamespace(Features=same, Value=same, Sequence=lambda kind: [kind])
    evaluate = SimpleNamespace(Metric=Metric, MetricInfo=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "evaluate", evaluate)
    return loaded().EvalstatsScore


@pytest.mark.parametrize("name", ["bleu", "chrf++", "ter"])
def test_a_module_computes_what_estimate_says(module, name, sample):
    outputs = sample.systems["baseline"][:60]
    for references in (sample.references[:60], [r[0] for r in sample.references[:60]]):
        for options in ({}, {"method": "t", "confidence_level": 0.5, "groups": list("abc") * 20}):
            found = es.estimate(outputs, references, name, **options)
            got = module(name)._compute(predictions=outputs, references=references, **options)
            assert list(got) == [name + end for end in ("", "_low", "_high", "_standard_error")]
            expected = [found.score, found.low, found.high, found.standard_error]
            assert list(got.values()) == expected


def test_references_are_one_text_or_several(module):
    expected = [{"predictions": "string", "references": kind} for kind in (["string"], "string")]
    assert module("default").info.features == expected
    assert metric_named("default") == es.BLEU()


def test_a_name_that_is_none_is_refused_when_the_module_is_loaded(module):
    refuses(r"^config_name must be one of bleu, .*; got 'comet'$", module, "comet")


def test_one_segment_is_too_few():
    refuses("at least 2 segments", scored, es.BLEU(), ["a"], ["a"])


def test_without_evaluate_it_says_what_to_install(monkeypatch):
    hide(monkeypatch, "evaluate")
    with pytest.raises(es.MissingExtraError, match=r"requires evaluate: pip install evaluate$"):
        loaded()
