"""Logs as lm-evaluation-harness writes them, small: lines as documented, scores by other means."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import sacrebleu

STAMP = "2026-01-02T03-04-05.678901"
GERMAN = ["Das ist gut.", "Der Hund bellt laut.", "Wir gehen heute nach Hause.", "Ja, gern."]
#: Log-likelihoods, and how many words they are of.
NATS = ((-100.0, 20), (-31.5, 7), (-8.0, 3))
OUTPUTS = ["Das ist sehr gut.", "Der Hund bellt.", "Wir gehen heute nach Hause.", "Nein, danke."]


def digest(text):
    return sha256(str(text).encode()).hexdigest()


def line(doc_id, metrics: Mapping[str, Any], target: Any = "x", filter: str = "none", **more: Any):
    """Return one line of samples."""
    passage = doc_id // 2 if isinstance(doc_id, int) else doc_id
    doc = {"id": doc_id, "passage": f"p{passage}"}
    return {
        "doc_id": doc_id, "doc": doc, "target": str(target),
        "arguments": {"gen_args_0": {"arg_0": f"question {doc_id}", "arg_1": {"until": ["\n"]}}},
        "resps": [["answer"]], "filtered_resps": ["answer"], "filter": filter,
        "metrics": list(metrics), "doc_hash": digest(doc), "prompt_hash": digest(doc_id),
        "target_hash": digest(target), **metrics, **more,
    }  # fmt: skip


def translations(outputs: Sequence[str] = OUTPUTS):
    return [
        line(i, {name: [german, output] for name in ("bleu", "chrf", "ter")}, german)
        for i, (german, output) in enumerate(zip(GERMAN, outputs, strict=True))
    ]


def translation_scores(outputs: Sequence[str] = OUTPUTS):
    """Return what the harness logs: sacreBLEU's defaults."""
    given = (list(outputs), [GERMAN])
    return {
        "bleu,none": sacrebleu.corpus_bleu(*given).score,
        "chrf,none": sacrebleu.corpus_chrf(*given).score,
        "ter,none": sacrebleu.corpus_ter(*given).score,
    }


def answers(right: Sequence[float], filter: str = "none", metric: str = "acc"):
    return [line(i, {metric: value}, i, filter) for i, value in enumerate(right)]


def perplexities():
    return [
        line(i, {"word_perplexity": [nats, words], "bits_per_byte": [nats, 6 * words]}, i)
        for i, (nats, words) in enumerate(NATS)
    ]


def perplexity_scores():
    nats, words = map(sum, zip(*NATS, strict=True))
    return {
        "word_perplexity,none": math.exp(-nats / words),
        "bits_per_byte,none": -nats / (6 * words) / math.log(2),
    }


def write(
    folder: Path,
    samples: Mapping[str, Sequence[Mapping[str, Any]]],
    scores: Mapping[str, Mapping[str, float]],
    *,
    aggregations: Mapping[str, Mapping[str, str]] | None = None,
    stamp: str = STAMP,
    model: str = "acme/small",
    **more: Any,
) -> Path:
    """Write a folder of a model, ``folder/acme__small``, and return the results file."""
    inner = folder / model.replace("/", "__")
    inner.mkdir(parents=True, exist_ok=True)
    for task, lines in samples.items():
        text = "".join(json.dumps(record) + "\n" for record in lines)
        (inner / f"samples_{task}_{stamp}.jsonl").write_text(text, encoding="utf-8")
    counts = {task: len({record["doc_id"] for record in own}) for task, own in samples.items()}
    stated = aggregations or {}
    results = {
        "results": {task: {"alias": task, **own} for task, own in scores.items()},
        "group_subtasks": {},
        "configs": {
            task: {
                "task": task,
                "metric_list": [
                    {"metric": metric, "aggregation": stated.get(task, {}).get(metric, "mean")}
                    if metric in stated.get(task, {}) or metric.startswith(("acc", "exact"))
                    else {"metric": metric}
                    for metric in dict.fromkeys(name.partition(",")[0] for name in scores[task])
                ],
            }
            for task in samples
        },
        "higher_is_better": {},
        "n-samples": {task: {"original": n, "effective": n} for task, n in counts.items()},
        "config": {"model": "hf", "limit": None},
        "lm_eval_version": "0.4.9",
        "model_name": model,
        **more,
    }
    path = inner / f"results_{stamp}.json"
    path.write_text(json.dumps(results), encoding="utf-8")
    return path


def mixed(
    folder: Path,
    right: Sequence[float] = (1, 0, 1, 1),
    outputs: Sequence[str] = OUTPUTS,
    **more: Any,
):
    """Write a run of three tasks."""
    return write(
        folder,
        {"qa": answers(right), "mt": translations(outputs), "lm": perplexities()},
        {
            "qa": {"acc,none": sum(right) / len(right)},
            "mt": translation_scores(outputs),
            "lm": perplexity_scores(),
        },
        **more,
    )
