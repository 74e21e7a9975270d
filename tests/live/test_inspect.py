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
