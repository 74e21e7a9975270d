"""Logs that Inspect's own package writes are compared as they lie in its folder."""

import subprocess
import sys

import pytest

import evalstats as es
from evalstats import cli

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

#: A program of its own, since the package leaves streams open.
PROGRAM = """
import random, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match

_, folder, form = sys.argv
for name, share in (("base", 0.2), ("tuned", 0.9)):
    for task in ("adding", "taking"):
        rng = random.Random(name + task)
        answers = [str(i % 7) if rng.random() < share else "no" for i in range(63)]
        outputs = [ModelOutput.from_content(name, answer) for answer in answers]
        for output in outputs:
            output.usage = ModelUsage()  # Else it loads a tokeniser to count.
        samples = [
            Sample(id=f"{task} {i}", input="?", target=str(i % 7), metadata={"half": i % 2})
            for i in range(21)
        ]
        logs = eval(
            Task(MemoryDataset(samples), scorer=[match(), includes()], name=task, epochs=3),
            model=get_model(f"mockllm/{name}", custom_outputs=outputs, memoize=False),
            log_dir=folder, log_format=form, display="none", max_samples=1,
        )
        assert [log.status for log in logs] == ["success"], logs[0].error
"""


@pytest.fixture(scope="module", params=["eval", "json"])
def folder(request, tmp_path_factory):
    """Write two models' logs of two tasks, three answers to each question, into one folder."""
    found = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-c", PROGRAM, str(found), request.param], check=True)
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


def test_a_folder_is_compared_in_one_command(folder, capsys):
    assert cli.main(["compare", str(folder), "--resamples", "99"]) == 0
    text = capsys.readouterr().out
    assert "mockllm/tuned - mockllm/base" in text
    assert "21 items, 3 answers each, averaged" in text
    assert cli.main(["compare", str(folder), "-m", "match", "--epochs", "runs"]) == 0
    assert "as runs of the system" in capsys.readouterr().out


def test_items_may_be_grouped_by_what_samples_say_of_themselves(folder):
    result = es.compare_logs(folder, groups="metadata.half", metric="match", task="adding")
    assert "2 halfs" in str(result)
    with pytest.raises(es.InputError, match="no metric 'mach'; there are match, includes; did you"):
        es.compare_logs(folder, metric="mach")


#: Two runs of the same task and model, whose epochs are reduced in every way that Inspect has.
REDUCING = """
import sys
from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match

_, folder, form = sys.argv
for shift in (0, 1):
    answers = [str(i % 3) if i % (5 + shift) else "no" for i in range(48)]
    outputs = [ModelOutput.from_content("m", answer) for answer in answers]
    for output in outputs:
        output.usage = ModelUsage()
    names = ["mean", "median", "mode", "max", "at_least_2", "pass_at_2", "pass_k_3"]
    (log,) = eval(
        Task(
            MemoryDataset([Sample(id=i, input="?", target=str(i % 3)) for i in range(12)]),
            scorer=match(), name="thirds", epochs=Epochs(4, names), version=shift,
        ),
        model=get_model("mockllm/m", custom_outputs=outputs, memoize=False),
        log_dir=folder, log_format=form, display="none", max_samples=1,
    )
    assert log.status == "success", log.error
"""


@pytest.mark.parametrize("form", ["eval", "json"])
def test_reducers_and_a_second_run(form, tmp_path):
    from inspect_ai.log import list_eval_logs, read_eval_log

    subprocess.run([sys.executable, "-c", REDUCING, str(tmp_path), form], check=True)
    logs = [read_eval_log(info, header_only=True) for info in list_eval_logs(str(tmp_path))]
    newest = max(logs, key=lambda log: log.eval.created)
    log = es.read_log(tmp_path)
    assert log.disagreements == ()
    (skipped,) = log.skipped
    assert skipped.endswith(
        "is the newest finished log of thirds by mockllm/m, and was asked otherwise"
    )
    stated = {score.reducer: score.metrics["accuracy"].value for score in newest.results.scores}
    assert len(stated) == 7
    found = {key.filter or "mean": float(table.scores[0]) for key, table in log.tables.items()}
    assert found == pytest.approx(stated, rel=1e-12)
