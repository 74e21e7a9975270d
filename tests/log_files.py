"""Small logs of every format, as their programs write them; `harness_logs` has lm-evaluation-harness."""

import copy
import csv
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import evalstats as es
from evalstats.logs.log import log_of
from evalstats.logs.rows import Items, Key, Rows


class Written(NamedTuple):
    """A writer of a small log into a folder, which returns its path, and what such a log tells.

    Whether it reports the scores of its items itself, whether items are told by their order alone,
    and whether it shows that a row is missing or there twice.
    """

    write: Callable[[Path], Path]
    is_reported: bool = False
    has_order: bool = False
    is_counted: bool = True


def rows(scores, *, task="t", name="A", metric=None, filter="", labels=None, **more):
    """Return the rows of one system from scores by id; None where one is missing."""
    metric = metric or es.Mean("acc")
    items = Items.of("here", list(scores), labels)
    values = np.full((len(scores), 2), np.nan)
    is_known = [score is not None for score in scores.values()]
    values[is_known] = metric.statistics([score for score in scores.values() if score is not None])
    key = Key(task, metric.name, filter)
    return Rows(key, name, metric, items, values[items.order], **more)


def log(*some, name="A", path=None, **more):
    return log_of(path or f"/logs/{name}", "a log", some, **more)


def one(scores, name="A", **more):
    """Return a log of one task."""
    return log(rows(scores, name=name, **more), name=name)


def written(path, content):
    """Write JSON, or JSON lines of a list of records."""
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(record) + "\n" for record in content)
    else:
        text = json.dumps(content, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def text_of(records, header, delimiter=","):
    """Return a table as text."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([header, *records])
    return file.getvalue()


def the_table(found):
    """Return the statistics of a log that has those of one task and metric."""
    (table,) = found.tables.values()
    return table


def direction(found):
    return the_table(found).metric.higher_is_better


def refused(path, words, **options):
    with pytest.raises(es.InputError, match=words):
        es.read_log(path, **options)


# Inspect


def inspect_log(values, *, task="arc", model="mockllm/model", epochs=1, stated=None, **header):
    """Return a log in Inspect's layout: the values of the scorer "choice", sample by sample."""
    n = len(values) // epochs
    mean = {} if stated is None else {"accuracy": {"name": "inspect_ai/accuracy", "value": stated}}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": task,
            "model": model,
            "dataset": {"name": "arc", "samples": n, "sample_ids": list(range(1, n + 1))},
            "config": {"epochs": epochs},
        },
        "results": {
            "total_samples": len(values),
            "completed_samples": len(values),
            "scores": [{"name": "choice", "scorer": "choice", "metrics": {
                **mean, "stderr": {"name": "stderr", "value": 0.7}}}],
        },
        **header,
        "samples": [
            {"id": i % n + 1, "epoch": i // n + 1, "input": f"Question {i % n}", "target": "A",
             "metadata": {"subject": ["physics", "law"][i % n % 2]},
             "scores": {"choice": {"value": value, "answer": "B"}}}
            for i, value in enumerate(values)
        ],
    }  # fmt: skip


def as_eval(content, journal=False):
    """Return the bytes of an `.eval` file of the same log, finished or not."""
    header = {key: value for key, value in content.items() if key != "samples"}
    members = [("_journal/start.json", {"version": 2, "eval": content["eval"]})] if journal else []
    members += [(f"samples/{i}.json", sample) for i, sample in enumerate(content["samples"])]
    if not journal:
        # Summaries keep no more than a part of what a label may need.
        short = [{k: v for k, v in s.items() if k != "metadata"} for s in content["samples"]]
        members += [("summaries.json", short), ("header.json", header)]
    return zipped([(name, json.dumps(data).encode()) for name, data in members])


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members:
            # Members of one date: a member of a plain name would have that of the clock.
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return file.getvalue()


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def inspect_file(path, content):
    if path.suffix != ".eval":
        return written(path, content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_eval(content))
    return path


# HELM


def stat(name, total, count=1, split="test", **context):
    return {"name": {"name": name, "split": split, **context}, "count": count, "sum": total}


def helm(folder, trials, *, stated=None, task="mmlu:subject=law", model="openai/gpt2"):
    """Write a run: for every trial the sums of `f1`, instance by instance."""
    records = [
        {"instance_id": f"id{i}", "train_trial_index": trial, "stats": [
            stat("f1", value), stat("num_bytes", 7), stat("f1", value / 2, perturbation={
                "name": "typos", "robustness": True, "computed_on": "perturbed", "prob": 0.1})]}
        for trial, values in enumerate(trials)
        for i, value in enumerate(values)
    ]  # fmt: skip
    spec = {"name": f"{task},model={model}", "adapter_spec": {"model": model}}
    written(folder / "run_spec.json", spec)
    if stated is not None:
        n = float(len(trials[0]))
        stats = [{**stat("f1", stated), "mean": stated}, {**stat("num_instances", n), "mean": n}]
        written(folder / "stats.json", stats)
    return written(folder / "per_instance_stats.json", records)


# Every Eval Ever


def instances(scores, **others):
    """Return lines as in the documentation of the schema, `instance_level_eval.schema.json`, 0.2."""
    return [
        {
            "schema_version": "0.2.2",
            "evaluation_id": "gsm8k/openai/gpt2/1747312345",
            "model_id": "openai/gpt2",
            "evaluation_name": "gsm8k",
            "sample_hash": None,
            "interaction_type": "single_turn",
            "error": None,
            "sample_id": f"gsm8k_{i}",
            "input": {"raw": f"What is {i} and 2?", "reference": [str(i + 2)]},
            "evaluation": {"score": score, "is_correct": bool(score)},
            "metadata": {"subject": ["algebra", "logic"][i % 2]},
            **others,
        }
        for i, score in enumerate(scores)
    ]


def evaluation(score, n, lower_is_better=False, **result):
    """Return the file beside instances."""
    return {
        "evaluation_results": [
            {"evaluation_name": "gsm8k", "metric_config": {"lower_is_better": lower_is_better},
             "score_details": {"score": score}, **result}
        ],
        "detailed_evaluation_results": {"format": "jsonl", "total_rows": n},
    }  # fmt: skip


# COMET, mt-metrics-eval, meeteval, WMT, tables


def documents(system="A"):
    """Return documents of two language pairs with scores of their paragraphs."""
    rng = random.Random(system)
    return [
        {
            "language_pair": pair,
            "domain": "news" if i % 2 else "speech",
            "document_id": f"doc{i}",
            "metric_scores": {
                name: [round(rng.random(), 4) for _ in range(n)]
                for name in ("CometKiwi-XL", "GEMBA-ESA")
            },
        }
        for pair in ("cs-de_DE", "en-ar_EG")
        for i, n in enumerate((2, 1, 3))
    ]


SOURCES = ["Guten Tag.", "Wie geht's?", "Danke."]
COMET = {"sys-1.5.txt": [0.81, 0.5, 0.9], "out/sys2.txt": [0.7, 0.75, 0.8]}


def comet_scored():
    return {
        name: [
            {"src": source, "mt": f"{source} {name}", "ref": source.upper(), "COMET": score}
            for source, score in zip(SOURCES, scores, strict=True)
        ]
        for name, scores in COMET.items()
    }


def comet_compared():
    return {
        "model": "Unbabel/wmt22-comet-da",
        "source": SOURCES,
        "translations": [
            {"name": name, "mt": SOURCES, "scores": copy.copy(scores)}
            for name, scores in COMET.items()
        ],
        "reference": [source.upper() for source in SOURCES],
    }


def comet_printed():
    """Return what `comet-score` prints: segment by segment, then the scores of the systems."""
    lines = [
        f"{name}\tSegment {i}\tscore: {scores[i]:.4f}"
        for i in range(3)
        for name, scores in COMET.items()
    ]
    means = [f"{name}\tscore: {sum(scores) / 3:.4f}" for name, scores in COMET.items()]
    return "\n".join(["Predicting DataLoader 0: 100%", *lines, *means, ""])


def seg_scores(blocks):
    return "".join(f"{name}\t{score}\n" for name, scores in blocks.items() for score in scores)


def sessions():
    def of(insertions, deletions, substitutions, length):
        errors = insertions + deletions + substitutions
        return {
            "error_rate": errors / length if length else None, "errors": errors, "length": length,
            "insertions": insertions, "deletions": deletions, "substitutions": substitutions,
            "reference_self_overlap": None, "missed_speaker": 1, "assignment": [["0", "A"]],
        }  # fmt: skip

    return {"S10": of(2, 0, 0, 0), "S02": of(1, 2, 3, 40), "S01": of(0, 1, 0, 20)}


LONG = """system,segment,score,metric,document
A,s1,0.5,COMET,d1
A,s2,0.25,COMET,d1
A,s10,1.0,COMET,d2
B,s1,0.75,COMET,d1
B,s2,0.5,COMET,d1
B,s10,0.25,COMET,d2
"""
