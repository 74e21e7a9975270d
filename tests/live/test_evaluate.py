"""Hugging Face `evaluate` loads our folder, and computes what `estimate` says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evalstats as es

pytest.importorskip("evaluate", reason="needs evaluate")

#: A program of its own, whose cache is empty and which asks no hub.
PROGRAM = """
import json
import evaluate
from evalstats.data import load_sample
from evalstats.integrations.evaluate import FOLDER

sample = load_sample()
outputs, references = sample.systems["baseline"], sample.references
first = [texts if isinstance(texts, str) else texts[0] for texts in references]
chrf = evaluate.load(FOLDER, "chrf")
found = [chrf.compute(predictions=outputs, references=first)]
for i in range(0, len(outputs), 100):
    chrf.add_batch(predictions=outputs[i : i + 100], references=first[i : i + 100])
found.append(chrf.compute(method="t", confidence_level=0.9))
many = [[text, "another"] for text in first]
found.append(evaluate.load(FOLDER).compute(predictions=outputs, references=many))
both = evaluate.combine([evaluate.load(FOLDER, name) for name in ("bleu", "rougeL")])
found.append(both.compute(predictions=outputs, references=first))
try:
    evaluate.load(FOLDER, "comet")
except ValueError as error:
    found.append(str(error))
print(json.dumps(found))
"""


def test_the_folder_is_loaded_and_computes_what_estimate_says(sample, tmp_path):
    root = str(Path(__file__).resolve().parents[2])
    environment = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "PYTHONPATH": root}
    command = [sys.executable, "-c", PROGRAM]
    options = {"cwd": tmp_path, "env": {**os.environ, **environment}}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **options)
    *found, refused = json.loads(run.stdout.splitlines()[-1])
    outputs = sample.systems["baseline"]
    first = [texts if isinstance(texts, str) else texts[0] for texts in sample.references]

    def estimated(metric, references=first, **options):
        one = es.estimate(outputs, references, metric, **options)
        ends = {"low": one.low, "high": one.high, "standard_error": one.standard_error}
        return {metric: one.score, **{f"{metric}_{end}": value for end, value in ends.items()}}

    assert found == [
        estimated("chrf"),
        estimated("chrf", method="t", confidence_level=0.9),
        estimated("bleu", [[text, "another"] for text in first]),
        {**estimated("bleu"), **estimated("rougeL")},
    ]
    assert refused.startswith("config_name must be one of bleu, ")
