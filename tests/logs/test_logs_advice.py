"""No message names an option that is then refused: each that is offered is followed.

A message is walked as far as it leads: what follows may say another thing, and that is followed.
"""

import random
import re
import shlex

import pytest

from evalstats.cli import main
from tests import harness_logs
from tests.agent_logs import promptfoo_results, swe_report, tau2_results
from tests.log_files import inspect_log, written

#: An option with its values: "--missing intersect", "--columns 'Seg ID=segment' a=score".
OPTION = re.compile(r"--[a-z-]+(?: (?:'[^']*'|(?![-])[\w./*+=^@:-]+)(?=[ ,;.)]|$))*")
#: Words that go on after an option without being of it.
WORDS = {
    "of", "or", "if", "that", "says", "with", "uses", "to", "for", "and", "counts", "averages", "is",
    "which", "takes",
}  # fmt: skip


def table(path, rows, header="id,system,score"):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return [path]


def scores(kind, gone=(), n=30):
    """Return rows of two systems; a gone item of B has no row, or an empty score."""
    rng = random.Random(1)
    for i in range(n):
        for system in "AB":
            value = rng.randrange(2) if kind == "binary" else round(rng.random(), 3)
            if not (system == "B" and i in gone):
                yield i, system, value
            elif kind.endswith("empty"):
                yield i, system, ""


def errored(folder, error=True):
    paths = []
    for name in "ab":
        log = inspect_log(random.Random(name).choices("CI", k=20), model=name)
        if name == "b":
            for sample in log["samples"][15:] if error else ():
                del sample["scores"]
                sample["error"] = {"message": "timeout"}
            if not error:
                del log["samples"][15:]
                log["status"] = "error"
        paths.append(written(folder / f"{name}.json", log))
    return paths


def tau2(folder):
    ends = {(0, 1): "infrastructure_error", (1, 2): "infrastructure_error"}
    rewards = [[1.0, 0.0, 1.0, 0.0]] * 2
    return [written(folder / f"{m}.json", tau2_results(rewards, m, ends if m == "b" else None))
            for m in "ab"]  # fmt: skip


def harness(folder):
    """Two models, of which one lacks a task, and one a part of the other."""
    for name, tasks in (("a", ("law", "art")), ("b", ("law",))):
        lines = {task: harness_logs.answers([i % 2 for i in range(20)]) for task in tasks}
        stated = {task: {"acc,none": 0.5} for task in tasks}
        harness_logs.write(folder / name, lines, stated, model=f"m/{name}")
    return [folder / "a", folder / "b"]


def other_items(folder):
    first = table(folder / "a.csv", [(i, 0.1 * i) for i in range(9)], "id,score")
    return first + table(folder / "b.csv", [(f"x{i}", 0.1 * i) for i in range(9)], "id,score")


def unlike_metrics(folder):
    rows = [(i, s, i % 2, "" if i == 3 else i % 3) for i in range(12) for s in "AB"]
    return table(folder / "x.csv", rows, "id,system,acc,f1")


def answers(folder, n_of_b=1):
    rows = [(i, s, e, (i + e) % 2) for s, n in (("A", 2), ("B", n_of_b)) for e in range(n)
            for i in range(12)]  # fmt: skip
    return table(folder / "x.csv", rows, "id,system,epoch,score")


def prompts(folder):
    paths = []
    for name in "ab":
        results = promptfoo_results([[[i % 2 == 0]] for i in range(12)], 1, (name,))
        for result in results["results"]["results"]:
            result["prompt"]["raw"] += name
        paths.append(written(folder / f"{name}.json", results))
    return paths


def swe(folder):
    report = swe_report(resolved=[1, 3], unresolved=[2, 4])
    other = swe_report(resolved=[1], unresolved=[2, 4])
    return [written(folder / "a.r.json", report), written(folder / "b.r.json", other)]


def texts_with_scores(folder):
    (folder / "r.txt").write_text("a b c d\n" * 12)
    (folder / "a.txt").write_text("a b c x\n" * 12)
    (folder / "b.txt").write_text("a b y d\n" * 12)
    some = [(i, s, i / 10) for i in range(1, 9) for s in "ab"]
    (path,) = table(folder / "s.csv", some, "id,system,COMET")
    return ["-r", folder / "r.txt", "-i", folder / "a.txt", folder / "b.txt", "--scores", path]


SITUATIONS = {
    "rows gone": lambda folder: table(folder / "x.csv", scores("real", (3, 4))),
    "rows gone, 0/1": lambda folder: table(folder / "x.csv", scores("binary", (3, 4))),
    "scores gone": lambda folder: table(folder / "x.csv", scores("real empty", (3, 4))),
    "samples with errors": errored,
    "log cut short": lambda folder: errored(folder, error=False),
    "simulations without a reward": tau2,
    "tasks of one": harness,
    "no items in common": other_items,
    "metrics of other items": unlike_metrics,
    "more answers of one": answers,
    "prompts": prompts,
    "instances of one": swe,
    "lines without scores": texts_with_scores,
    "no ids": lambda folder: table(
        folder / "x.csv", [(f"q {i}", 0.5, i) for i in range(9)], "My question,gpt,llama"
    ),
    "systems or metrics": lambda folder: table(
        folder / "x.csv", [(i, 0.5, i) for i in range(9)], "id,COMET,My score"
    ),
    "no direction": lambda folder: table(
        folder / "x.csv", [(i, s, i) for i in range(9) for s in "AB"], "id,system,Answer relevancy"
    ),
    "several ids": lambda folder: table(
        folder / "x.csv",
        [(i, i, s, i) for i in range(9) for s in "AB"],
        "question_id,item_id,system,score",
    ),
    "judges": lambda folder: table(
        folder / "x.csv",
        [(i, s, j, i) for i in range(9) for s in "AB" for j in ("Ann", "Bob")],
        "id,system,judge,score",
    ),
}  # fmt: skip


def run(capsys, call):
    code = main([str(word) for word in call])
    return code, capsys.readouterr().err


def offers(said):
    """Return the options that a message offers, each as it is typed."""
    for found in OPTION.findall(said.partition("error: ")[2]):
        words = shlex.split(found)
        values = []
        for word in words[1:]:
            if word in WORDS:
                break
            values.append(word)
        if values or words[0] == "--unpaired":
            yield [words[0], *values]


@pytest.mark.parametrize("command", ["compare", "gate"])
@pytest.mark.parametrize("name", SITUATIONS)
def test_what_a_message_offers_is_taken(tmp_path, capsys, monkeypatch, name, command):
    monkeypatch.chdir(tmp_path)
    given = SITUATIONS[name](tmp_path)
    call = [command, *given, "--resamples", "99"]
    if command == "gate":
        first = given[0] if len(given) > 1 else None
        if first is None or first == "-r":
            pytest.skip("a gate of a table names systems in it")
        call = [command, *given[1:], "--baseline", first, "--margin", "0.9", "--resamples", "99"]
    todo = [(call, 0)]
    while todo:
        call, depth = todo.pop()
        code, said = run(capsys, call)
        if code != 2:
            continue
        found = list(offers(said))
        assert depth < 4, f"{call} leads in a circle: {said}"
        assert found or not depth, f"{shlex.join(map(str, call))} was offered, and refused: {said}"
        for option in found:
            known = [option[0] == word for word in call]
            assert not any(known), f"{option} is offered again: {said}"
            todo.append(([*call, *option], depth + 1))
