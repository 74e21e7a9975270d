"""Logs that Inspect's own package writes are compared as they lie in its folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evalstats as es

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

ROOT = Path(__file__).resolve().parents[2]

#: How programs begin that write logs: they are processes, since the package leaves streams open.
START = """
import random, sys, time
from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, includes, match, mean, scorer, stderr
_, folder, *given = sys.argv

def run(samples, answers, model="m", form="eval", **task):
    outputs = [ModelOutput.from_content("m", answer) for answer in answers]
    for output in outputs:
        output.usage = ModelUsage()  # Else it loads a tokeniser to count.
    (log,) = eval(
        Task(MemoryDataset(samples), **task),
        model=get_model(f"mockllm/{model}", custom_outputs=outputs, memoize=False),
        log_dir=folder, log_format=form, display="none", max_samples=1,
    )
    assert log.status == "success", log.error
"""
PROGRAM = """
for name, share in (("base", 0.2), ("tuned", 0.9)):
    for task in ("adding", "taking"):
        rng = random.Random(name + task)
        answers = [str(i % 7) if rng.random() < share else "no" for i in range(63)]
        samples = [
            Sample(id=f"{task} {i}", input="?", target=str(i % 7), metadata={"half": i % 2})
            for i in range(21)
        ]
        run(samples, answers, name, given[0], scorer=[match(), includes()], name=task, epochs=3)
"""


def written_by(program, folder, *given, **options):
    """Run a program that writes logs into a folder."""
    command = [sys.executable, "-c", START + program, str(folder), *given]
    subprocess.run(command, check=True, **options)


@pytest.fixture(scope="module", params=["eval", "json"])
def folder(request, tmp_path_factory):
    """Write two models' logs of two tasks, three answers to each question, into one folder."""
    found = tmp_path_factory.mktemp(request.param)
    written_by(PROGRAM, found, request.param)
    return found


def test_scores_are_those_that_the_package_states(folder):
    from inspect_ai.log import list_eval_logs, read_eval_log

    log = es.read_log(folder)
    assert set(log.systems) == {"mockllm/base", "mockllm/tuned"}
    assert log.tasks == ("adding", "taking")
    assert log.disagreements == log.skipped == ()
    for info in list_eval_logs(str(folder)):
        header = read_eval_log(info, header_only=True)
        for score in header.results.scores:
            table = log.tables[header.eval.task, score.name, ""]
            place = table.systems.index(header.eval.model)
            assert table.scores[place] == pytest.approx(score.metrics["accuracy"].value, rel=1e-12)


#: Two runs of the same task and model, whose epochs are reduced in every way that Inspect has.
REDUCING = """
names = ["mean", "median", "mode", "max", "at_least_2", "pass_at_2", "pass_k_3"]
samples = [Sample(id=i, input="?", target=str(i % 3)) for i in range(12)]
for shift in (0, 1):
    answers = [str(i % 3) if i % (5 + shift) else "no" for i in range(48)]
    run(samples, answers, form=given[0], scorer=match(), name="thirds", epochs=Epochs(4, names),
        version=shift)
    time.sleep(1.1)  # logs are dated by the second
"""


@pytest.mark.parametrize("form", ["eval", "json"])
def test_reducers_and_a_second_run(form, tmp_path):
    from inspect_ai.log import list_eval_logs, read_eval_log

    written_by(REDUCING, tmp_path, form)
    logs = [read_eval_log(info, header_only=True) for info in list_eval_logs(str(tmp_path))]
    newest = max(logs, key=lambda log: log.eval.created)
    log = es.read_log(tmp_path)
    assert log.disagreements == ()
    (skipped,) = log.skipped
    assert skipped.endswith(
        "is the newest finished log of thirds by mockllm/m, and its prompts were different"
    )
    stated = {score.reducer: score.metrics["accuracy"].value for score in newest.results.scores}
    assert len(stated) == 7
    found = {key.filter or "mean": float(table.scores[0]) for key, table in log.tables.items()}
    assert found == pytest.approx(stated, rel=1e-12)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the environment of a Python where the package is installed, with its entry points."""
    folder = tmp_path_factory.mktemp("python") / "site-packages"
    shutil.copytree(ROOT / "evalstats", folder / "evalstats")
    facts = folder / "evalstats_text-0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: evalstats-text\nVersion: 0\n")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (door,) = re.findall(r"\[project.entry-points.inspect_ai\]\n(.*\n)", project)
    (facts / "entry_points.txt").write_text("[inspect_ai]\n" + door.replace('"', ""))
    return {**os.environ, "PYTHONPATH": str(folder)}


#: A scorer whose metrics are the package's own and ours, with epochs, clusters and a dictionary.
MEASURED = """
from evalstats.integrations.inspect_ai import interval
OURS = [interval(), interval(cluster="passage"), interval(method="t"), interval(0.5)]

def score_of(state):
    return "C" if state.output.completion == state.metadata["answer"] else "I"

@scorer(metrics=[accuracy(), stderr(cluster="passage"), *OURS])
def exact():
    async def score(state, target):
        return Score(value=score_of(state))
    return score

@scorer(metrics={"*": [mean(), interval()]})
def parts():
    async def score(state, target):
        return Score(value={"error": len(state.output.completion), "right": score_of(state) == "C"})
    return score

epochs, reducer = int(given[0]), given[1]
samples = [
    Sample(id=i, input="?", metadata={"passage": f"p{i // 3}", "answer": "x" * (1 + i % 3)})
    for i in range(90)
]
answers = [
    "x" * (1 + i % 3) if (7 * i + i // 3 + 5 * epoch) % 11 > 4 else "none"
    for epoch in range(epochs) for i in range(90)
]
run(samples, answers, scorer=[exact(), parts()], name="reading",
    epochs=Epochs(epochs, [] if reducer == "none" else reducer))
"""


@pytest.mark.parametrize("epochs, reducer", [(4, "mean"), (3, "none")])
def test_the_interval_of_a_log_is_the_one_that_we_estimate_from_it(
    epochs, reducer, installed, tmp_path
):
    from inspect_ai.log import list_eval_logs, read_eval_log

    written_by(MEASURED, tmp_path, str(epochs), reducer, env=installed, cwd=tmp_path)
    log = read_eval_log(list_eval_logs(str(tmp_path))[0])
    exact, error, right = log.results.scores
    stated = {name: metric.value for name, metric in exact.metrics.items()}

    def estimated(metric, **options):
        (found,) = es.estimate_logs(tmp_path, metric=metric, **options)
        return found

    found = estimated("exact")
    assert (found.low, found.high) == (stated["low"], stated["high"])
    assert found.score == pytest.approx(stated["accuracy"], rel=1e-12)
    clustered = estimated("exact", groups="metadata.passage")
    assert (clustered.low, clustered.high) == (stated["low2"], stated["high2"])
    assert clustered.standard_error == pytest.approx(stated["stderr"], rel=0.02)
    by_t = estimated("exact", method="t")
    assert (by_t.low, by_t.high) == pytest.approx((stated["low3"], stated["high3"]), rel=1e-12)
    half = estimated("exact", confidence_level=0.5)
    assert (half.low, half.high) == (stated["low4"], stated["high4"])
    for score in (error, right):
        found = estimated(f"parts.{score.name}")
        values = {name: metric.value for name, metric in score.metrics.items()}
        named = [values[f"evalstats/interval_{end}"] for end in ("low", "high")]
        assert [found.low, found.high] == named
    assert es.read_log(tmp_path).disagreements == ()


#: Metrics of the task, by name: a process that has not heard of us scores the log again.
AGAIN = """
from inspect_ai import score
from inspect_ai.log import list_eval_logs, read_eval_log

log = read_eval_log(list_eval_logs(folder)[0])
names = [metric.name for metric in log.eval.metrics]
assert names[1] == "evalstats/interval", names
again = score(log, match(), action="overwrite", display="none")
assert "evalstats.integrations.inspect_ai" in sys.modules
values = [
    {name: metric.value for name, metric in found.results.scores[0].metrics.items()}
    for found in (log, again)
]
assert set(values[0]) == {"accuracy", "low", "high"} and values[0] == values[1], values
"""
NAMED = """
from evalstats.integrations.inspect_ai import interval

samples = [Sample(id=i, input="?", target="yes", metadata={"passage": i // 2}) for i in range(40)]
answers = ["yes" if i % 3 else "no" for i in range(40)]
run(samples, answers, scorer=match(), name="named",
    metrics=[accuracy(), interval(cluster="passage")])
"""


def test_the_entry_point_registers_the_metric_by_name(installed, tmp_path):
    for program in (NAMED, AGAIN):
        written_by(program, tmp_path, env=installed, cwd=tmp_path)
