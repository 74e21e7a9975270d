"""Whatever the order of rows, files, folders and tasks: the same numbers, to the bit."""

import csv
import json
from random import Random

import numpy as np
import pytest

import evalstats as es
from tests.log_files import inspect_file, inspect_log

TASKS = {"arc": 4, "law-2": 6, "law-10": 5}


def rows():
    """Return rows of a table of scores: tasks of two metrics, with documents and unlike numbers."""
    rng = np.random.default_rng(7)
    return [
        {"task": task, "system": system, "segment": f"s{i}", "metric": metric,
         "score": float(rng.integers(2)) if metric == "acc" else rng.normal(),
         "document": f"d{i // 2}"}
        for task, n in TASKS.items()
        for i in range(n)
        for metric in ("acc", "COMET")
        for system in ("A", "B", "C")
    ]  # fmt: skip


def written(path, some):
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(some[0]))
        table.writeheader()
        table.writerows(some)
    return path


def compared(logs, *systems):
    """Return all records of a comparison of systems in this order; metrics may have another."""
    found = es.compare_logs(logs, systems=list(systems), n_resamples=99)
    records = [*found.to_dict()["differences"], *found.to_dict()["estimates"]]
    return sorted(json.dumps(record, sort_keys=True) for record in records)


def tables(log):
    return {
        (*key, name): (t.segment_ids, t.values[i].tolist(), dict(t.labels))
        for key, t in log.tables.items()
        for i, name in enumerate(t.systems)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("orders")


@pytest.mark.parametrize("seed", range(3))
def test_rows_and_files_in_any_order(folder, seed):
    random = Random(seed)
    some = rows()
    expected = compared(written(folder / "all.csv", some), *"ABC")
    random.shuffle(some)
    shuffled = written(folder / "all.csv", some)
    assert tables(es.read_log(shuffled)) == tables(es.read_log(written(folder / "o.csv", rows())))
    assert compared(shuffled, *"ABC") == expected
    # A file a system, or a file a system and task.
    by = random.choice((("system",), ("system", "task")))
    parts = {}
    for row in some:
        parts.setdefault(tuple(row[name] for name in by), []).append(row)
    paths = [written(folder / f"{'_'.join(key)}.csv", part) for key, part in parts.items()]
    random.shuffle(paths)
    assert compared(paths, *"ABC") == expected


def test_folders_of_inspect_in_any_order(folder):
    random = Random(1)
    logs = [
        inspect_log([random.choice("CI") for _ in range(18)], task=task, model=model, epochs=3)
        for model in ("m/base", "m/tuned")
        for task in ("arc", "adding")
    ]
    found = []
    for name in ("one", "two"):
        random.shuffle(logs)
        for i, log in enumerate(logs):
            random.shuffle(log["samples"])
            inspect_file(folder / name / f"{i}.json", log)
        found.append(compared(folder / name, "m/base", "m/tuned"))
    paths = sorted((folder / "two").iterdir(), reverse=True)
    assert found[0] == found[1] == compared(paths, "m/base", "m/tuned")
    assert {json.loads(d)["task"] for d in found[0]} == {"arc", "adding", "macro"}


def test_models_of_one_folder_of_the_harness(folder):
    """Two models below one output folder, in whichever order, are those given one by one."""
    for model, correct in (("org__base", 3), ("org__tuned", 5)):
        samples = [
            {"doc_id": i, "target": "x", "acc": float(i < correct), "filter": "none",
             "metrics": ["acc"], "doc_hash": str(i), "prompt_hash": str(i), "target_hash": str(i)}
            for i in range(6)
        ]  # fmt: skip
        stem = "2026-01-01T00-00-00.000000"
        results = {
            "results": {"arc": {"alias": "arc", "acc,none": correct / 6}},
            "higher_is_better": {"arc": {"acc": True}},
            "configs": {"arc": {"task": "arc", "metric_list": [{"metric": "acc"}]}},
            "n-samples": {"arc": {"original": 6, "effective": 6}},
            "model_name": model.replace("__", "/"),
        }
        own = folder / "harness" / model
        own.mkdir(parents=True)
        (own / f"results_{stem}.json").write_text(json.dumps(results), encoding="utf-8")
        lines = "".join(json.dumps(sample) + "\n" for sample in samples)
        (own / f"samples_arc_{stem}.jsonl").write_text(lines, encoding="utf-8")
    paths = [folder / "harness" / name for name in ("org__tuned", "org__base")]
    found = [compared(given, "org/base", "org/tuned") for given in (folder / "harness", paths)]
    assert found[0] == found[1]


def test_csv_of_a_log_is_the_same_log(folder):
    first = es.read_log(written(folder / "again.csv", rows()))
    lines = []
    for (task, metric, *_), table in first.tables.items():
        for s, system in enumerate(table.systems):
            for i, segment in enumerate(table.segment_ids):
                lines.append(
                    {"task": task, "metric": metric, "system": system, "segment": segment,
                     "score": repr(float(table.values[s, i, 0])),
                     "document": table.labels["document"][i]}
                )  # fmt: skip
    assert tables(es.read_log(written(folder / "again2.csv", lines))) == tables(first)
