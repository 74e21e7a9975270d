"""The files used in the pages, written by `evalstats demo --files FOLDER`.

Texts come from the bundled sample; logs and scores are made up, the same in every run.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from evalstats.data import load_sample
from evalstats.designs.plans import plan
from evalstats.errors import InputError


def write(folder: Path) -> None:
    """Write all files into a folder, which is created; other files are not overwritten.

    Raises
    ------
    InputError
        If a file with such a name has other content, or cannot be written.
    """
    sample = load_sample()
    texts = {"ref": [row[0] for row in sample.references]}
    texts |= {"ref2": [row[1] for row in sample.references]}
    texts |= {"old": sample.systems["baseline"], "new": sample.systems["slightly-better"]}
    texts |= {"documents": sample.documents, "domains": sample.domains}
    texts |= {f"systems/{name}": outputs for name, outputs in participants().items()}
    # Items that were not run have no output.
    run = set(plan({x: texts[f"systems/{x}"] for x in "BCDEF"}, texts["ref"], n=120).drawn)
    texts["part"] = [x if i in run else "" for i, x in enumerate(texts["systems/A"])]
    for name, lines in texts.items():
        _text(folder / f"{name}.txt", "\n".join(lines) + "\n")
    rng = random.Random(1)
    lines = ["segment,metric,old,new"]
    for i in range(480):
        first = 0.7 + 0.1 * rng.gauss(0, 1)
        lines.append(f"{i},COMET,{first:.4f},{first + 0.006 + 0.04 * rng.gauss(0, 1):.4f}")
    _text(folder / "comet.csv", "\n".join(lines) + "\n")
    _text(folder / "judge.csv", _judge())
    _text(folder / "people.csv", _people())
    answers, labels = _graded()
    _text(folder / "answers.csv", answers)
    _text(folder / "labels.csv", labels)
    _text(folder / "seeds.csv", _seeds())
    _text(folder / "published.csv", _published())
    rows = [f"old,{task},{old}\nnew,{task},{new}\n" for task, old, new in agent_runs()]
    for n in (100, 200, 300):
        _text(folder / f"agent-{n}.csv", "system,item,success\n" + "".join(rows[:n]))
    for agent in ("old", "new"):
        _text(folder / "agents" / f"{agent}.csv", _trials(agent))
    _text(folder / "arena.csv", arena())
    for model, share in (("base", 0.6), ("tuned", 0.68)):
        for task, size in (("arc", 150), ("gsm8k", 200)):
            log = _inspect(model, task, size, share)
            _text(folder / "logs" / f"2026_{task}_{model}.json", json.dumps(log))
        _harness(folder / model, share)


def participants() -> dict[str, list[str]]:
    """Return six systems of a shared task: mixtures of two of the sample's."""
    systems = load_sample().systems
    mixed = {}
    for name, share in zip("ABCDEF", (1, 0.85, 0.6, 0.5, 0.1, 0), strict=True):
        rng = random.Random(name)
        pairs = zip(systems["baseline"], systems["clearly-better"], strict=True)
        mixed[name] = [better if rng.random() < share else worse for worse, better in pairs]
    return mixed


def _people() -> str:
    """Return human scores of two thirds of the participants' outputs."""
    rng, better = random.Random(5), load_sample().systems["clearly-better"]
    lines, scores = ["system,segment,ESA"], dict[tuple[int, str], float]()
    for name, outputs in participants().items():
        for i, output in enumerate(outputs):
            drawn = rng.gauss(72 if output == better[i] else 68, 15)
            score = scores.setdefault((i, output), min(max(round(drawn), 0), 100))
            if rng.random() < 2 / 3:
                lines.append(f"{name},{i + 1},{score}")
    return "\n".join(lines) + "\n"


def _answers(name: str, size: int, share: float) -> list[int]:
    """Return which answers are right: two models are mostly right on the same items."""
    hard, noise = random.Random(name.rpartition(" ")[0]), random.Random(name)
    return [int(hard.random() + 0.5 * (noise.random() - 0.5) < share) for _ in range(size)]


def _judge() -> str:
    rng = random.Random(2)
    lines = ["system,segment,metric,score,document"]
    for i in range(120):
        quality = rng.randint(2, 4)
        for system, gain in (("gpt", 0.6), ("llama", 0.3), ("mistral", 0.0)):
            score = min(5, quality + int(rng.random() < gain))
            lines.append(f"{system},{i},judge,{score},d{i // 6}")
    return "\n".join(lines) + "\n"


def _graded() -> tuple[str, str]:
    """Return a judge's grades of all answers of two models, and human grades of 120 items.

    The models are equally good, and the judge prefers the second one.
    """
    rng = random.Random(3)
    lines, labels = (["system,segment,correct"] for _ in range(2))
    labelled = set(rng.sample(range(800), 120))
    for i in range(800):
        hard = rng.random()
        for system, likes in (("base", 0.10), ("tuned", 0.40)):
            right = 0.7 * hard + 0.3 * rng.random() < 0.62
            grade = rng.random() < (0.95 if right else likes)
            lines.append(f"{system},{i},{int(grade)}")
            if i in labelled:
                labels.append(f"{system},{i},{int(right)}")
    return "\n".join(lines) + "\n", "\n".join(labels) + "\n"


def _seeds() -> str:
    """Return a table of two models with three trainings each; seeds have an effect."""
    rng, lines = random.Random(2), ["system,item,seed,correct"]
    hard = [rng.random() for _ in range(200)]
    for system, skill in (("base", 0.55), ("tuned", 0.62)):
        for seed in (1, 2, 3):
            known = skill + 0.03 * rng.gauss(0, 1)
            right = [0.7 * x + 0.3 * rng.random() < known for x in hard]
            lines += [f"{system},{i},{seed},{int(x)}" for i, x in enumerate(right)]
    return "\n".join(lines) + "\n"


def _published() -> str:
    """Return the answers of two models; `later` has seen a fifth of the old items."""
    rng, lines = random.Random(5), ["system,item,period,correct"]
    for i in range(800):
        published, earlier = "before" if i < 400 else "after", rng.random() < 0.6
        seen = published == "before" and rng.random() < 0.2
        later = seen or (rng.random() < 0.6 if rng.random() < 0.1 else earlier)
        lines += [f"earlier,{i},{published},{int(earlier)}", f"later,{i},{published},{int(later)}"]
    return "\n".join(lines) + "\n"


def agent_runs() -> list[tuple[str, int, int]]:
    """Return 400 tasks in random order, and whether two versions of an agent solve each."""
    rng, rows = random.Random(12), []
    for i in rng.sample(range(1000), 400):
        hard, chance = rng.random(), rng.random()
        new = hard if chance < 0.6 else rng.random()
        rows.append((f"task {i}", int(hard < 0.6), int(new < 0.7)))
    return rows


def _trials(agent: str) -> str:
    """Return 5 trials of 20 scenarios: new fails on one, and is a little better on others."""
    hard, answers = random.Random(4), random.Random(f"agent {agent}")
    lines = ["scenario,trial,passed"]
    for i in range(20):
        rate = min(1.0, 1.4 * hard.random() ** 0.5)
        if agent == "new":
            rate = 0.0 if i == 6 else min(1.0, rate + 0.1)
        name = f"{('refund', 'booking')[i // 10]}-{i % 10 + 1}"
        lines += [f"{name},{trial},{int(answers.random() < rate)}" for trial in range(1, 6)]
    return "\n".join(lines) + "\n"


def arena() -> str:
    """Return 1,203 battles of seven models on 200 prompts; prompts suit some models better."""
    rng = random.Random(4)
    strengths = {"aspen": 0.5, "birch": 0.45, "cedar": 0.2, "elm": 0.1, "fir": -0.2, "oak": -0.4}
    lines = ["question_id,model_a,model_b,winner"]
    for prompt in range(200):
        here = {name: x + 0.7 * rng.gauss(0, 1) for name, x in strengths.items()}
        for _ in range(6):
            first, second = rng.sample(sorted(here), 2)
            drawn = rng.random() - 1 / (1 + math.exp(here[second] - here[first]))
            winner = "model_a" if drawn < 0 else "model_b"
            if abs(drawn) < 0.06:
                winner = "tie" if rng.random() < 0.7 else "tie (bothbad)"
            lines.append(f"q{prompt},{first},{second},{winner}")
    lines += [
        f"q{prompt},yew,{other},model_a" for prompt, other in enumerate(("elm", "fir", "oak"))
    ]
    return "\n".join(lines) + "\n"


def _inspect(model: str, task: str, size: int, share: float) -> dict[str, Any]:
    right = _answers(f"{task} {model}", size, share)
    stated = {"name": "accuracy", "value": sum(right) / size}
    scores = [{"name": "match", "scorer": "match", "metrics": {"accuracy": stated}}]
    dataset = {"name": task, "samples": size, "sample_ids": list(range(size))}
    samples = [
        {
            "id": i,
            "epoch": 1,
            "input": f"{task}: question {i}",
            "target": "A",
            "metadata": {"subject": ["physics", "law"][i % 2]},
            "scores": {"match": {"value": "C" if x else "I", "answer": "A"}},
        }
        for i, x in enumerate(right)
    ]
    config = {"task": task, "model": f"acme/{model}", "dataset": dataset, "config": {"epochs": 1}}
    results = {"total_samples": size, "completed_samples": size, "scores": scores}
    about = {"version": 2, "status": "success", "eval": config, "results": results}
    return {**about, "samples": samples}


def _harness(folder: Path, share: float) -> None:
    """Write files as lm-evaluation-harness does, for two tasks."""
    folder, stamp, stated = folder / f"acme__{folder.name}", "2026-01-02T03-04-05.678901", {}
    for task, size in (("mmlu_law", 300), ("mmlu_physics", 150)):
        right = _answers(f"{task} {folder.name}", size, share)
        stated[task] = {"alias": task, "acc,none": sum(right) / size}
        lines = [
            {
                "doc_id": i,
                "doc": {"id": i, "passage": f"p{i // 5}"},
                "target": "A",
                "arguments": {"gen_args_0": {"arg_0": f"question {i}"}},
                "resps": [["A"]],
                "filtered_resps": ["A"],
                "filter": "none",
                "metrics": ["acc"],
                "doc_hash": f"{task} {i}",
                "prompt_hash": f"{i}",
                "target_hash": f"{i}",
                "acc": x,
            }
            for i, x in enumerate(right)
        ]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        _text(folder / f"samples_{task}_{stamp}.jsonl", content)
    kinds = {
        task: {"task": task, "metric_list": [{"metric": "acc", "aggregation": "mean"}]}
        for task in stated
    }
    counts = {"mmlu_law": {"original": 300, "effective": 300}}
    counts |= {"mmlu_physics": {"original": 150, "effective": 150}}
    about = {"config": {"model": "hf", "limit": None}, "model_name": folder.name.replace("__", "/")}
    results = {"results": stated, "configs": kinds, "n-samples": counts, "group_subtasks": {}}
    content = json.dumps({**about, **results, "higher_is_better": {}})
    _text(folder / f"results_{stamp}.json", content)


def _text(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_bytes() != content.encode():
            raise InputError(f"{path} already exists with different content; use a new folder")
        path.write_bytes(content.encode())
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
