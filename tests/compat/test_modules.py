"""The peers' own module paths: each leads to our object, or to sacreBLEU's own."""

import importlib
import subprocess
import sys

import pytest
import sacrebleu

from evalstats.compat import axion, nltk
from evalstats.compat import sacrebleu as ours
from evalstats.compat.evaluatio import scores
from evalstats.compat.sacrebleu.metrics import METRICS

#: Objects by the paths of their peers.
PATHS = {
    "evaluatio.effect_size.cohen.cohens_d_paired": scores.cohens_d_paired,
    "nltk.translate.bleu": nltk.sentence_bleu,
    "nltk.translate.bleu_score.sentence_bleu": nltk.sentence_bleu,
    "axion.dataset.DatasetItem": axion.DatasetItem,
    "axion.metrics.SentenceBleu": axion.SentenceBLEU,
    "axion.metrics.heuristic.bleu.SentenceBLEU": axion.SentenceBLEU,
    "axion.metrics.heuristic.levenshtein.LevenshteinRatio": axion.LevenshteinRatio,
    "axion.runners.MetricRunner": axion.MetricRunner,
    "sacrebleu.BLEU": METRICS["BLEU"],
    **{f"sacrebleu.metrics.{name.lower()}.{name}": METRICS[name] for name in METRICS},
    "sacrebleu.utils.Color": sacrebleu.utils.Color,
    "sacrebleu.metrics.bleu.BLEUScore": sacrebleu.metrics.bleu.BLEUScore,
    "sacrebleu.dataset.DATASETS": sacrebleu.dataset.DATASETS,
    "sacrebleu.get_source_file": sacrebleu.get_source_file,
}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_a_peer_has_its_object(path):
    name, _, attribute = f"evalstats.compat.{path}".rpartition(".")
    module = importlib.import_module(name)
    assert getattr(module, attribute) is PATHS[path]
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing


@pytest.mark.parametrize("path", ["evaluatio.metrics.wer", "nltk.translate.bleu_score"])
def test_a_module_lists_its_names(path):
    module = importlib.import_module(f"evalstats.compat.{path}")
    assert module.__all__
    assert all(getattr(module, name).__doc__ for name in module.__all__)


def test_a_path_is_there_in_a_process_that_has_imported_nothing_of_ours():
    code = "from evalstats.compat.nltk.translate.bleu_score import sentence_bleu"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert ours.BLEU is not sacrebleu.BLEU
