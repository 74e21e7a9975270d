"""Columns of seeds and runs are runs of a system; epochs, trials and repeats are averaged."""

import json

import numpy as np
import pytest

import evalstats as es
from evalstats.cli import main
from evalstats.logs.pivot import epochs_differ
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.results.records import Caution
from tests.helpers import cases, refuses


def frame(seed=3, called="seed", deviation=0.03, n=60, runs=(3, 3), tasks=("",), noise=0.1):
    """Return rows of two equal systems whose runs have means of their own."""
    rng, rows = np.random.default_rng(seed), []
    for task in tasks:
        marks = 0.5 + 0.2 * rng.normal(size=n)
        for name, n_runs in zip("AB", runs, strict=True):
            means = deviation * rng.normal(size=(n_runs, 1))
            scores = marks + means + noise * rng.normal(size=(n_runs, n))
            rows += [
                {"model": name, "item": i, "domain": "xyz"[i % 3], called: r + 1, "acc": float(x)}
                | ({"task": task} if task else {})
                for r, of_run in enumerate(scores)
                for i, x in enumerate(of_run)
            ]
    return rows


def without_last():
    """Return rows of which the last item has no score of one system."""
    return [
        row | ({"acc": None} if row["item"] == 59 and row["model"] == "B" else {})
        for row in frame()
    ]


def cautions(result, kind="runs"):
    return [note for note in result.notes if isinstance(note, Caution) and note.kind == kind]


@cases(
    ("seed", None, "runs"), ("run", None, "runs"), ("Run_ID", None, "runs"),
    ("checkpoint", {"checkpoint": "run"}, "runs"), ("epoch", None, "mean"),
    ("trial", None, "mean"), ("repeat", None, "mean"), ("seed", {"seed": "epoch"}, "mean"),
    ("sample", {"sample": "epoch"}, "mean"),
)  # fmt: skip
def test_columns_say_whether_answers_are_runs(called, columns, epochs):
    rows, options = frame(called=called), {"n_resamples": 199}
    found = es.compare_logs(rows, columns=columns, **options)
    assert found == es.compare_logs(rows, columns=columns, epochs=epochs, **options)
    assert ("runs:3" in found.signatures[0]) == (epochs == "runs")
    assert es.read_log(rows, columns=columns).epochs is None
    (table,) = es.read_log(rows, columns=columns).tables.values()
    assert isinstance(table.metric, MeanOfRuns) == (epochs == "runs")
    other = es.compare_logs(rows, columns=columns, epochs="mean", **options)
    assert "runs:" not in other.signatures[0]


def test_an_epoch_numbers_answers_before_a_seed_that_it_has():
    rows = [row | {"epoch": row["seed"]} for row in frame()]
    assert "runs:" not in es.compare_logs(rows, n_resamples=99).signatures[0]
    named = es.compare_logs(rows, columns={"seed": "run"}, n_resamples=99)
    assert "runs:3" in named.signatures[0]
    with pytest.raises(es.InputError, match="'epoch' or 'run', got both"):
        es.compare_logs(rows, columns={"seed": "run", "epoch": "epoch"})


@pytest.mark.parametrize("deviation", [0.03, 0.0])
def test_epochs_that_vary_more_than_items_explain_are_a_caution(deviation):
    result = es.compare_logs(frame(called="epoch", deviation=deviation), n_resamples=99)
    said = cautions(result)
    assert [
        ("acc: the means of the 3 epochs of " in one, 'epochs="runs"' in one) for one in said
    ] == ([(True, True)] if deviation else [])
    if deviation:  # by Bonferroni, of two systems on three tasks
        tasks = frame(4, called="epoch", tasks=("a", "b", "c"), noise=0.2)
        least = min(epochs_differ(one) for one in es.read_log(tasks).rows)
        (note,) = cautions(es.compare_logs(tasks, n_resamples=99))
        assert f"(p = {6 * least:.4f})" in note
    assert not cautions(es.compare_logs(frame(called="epoch"), epochs="runs"))
    rows = [row | {"acc": float(row["acc"] > 0.5)} for row in frame(called="epoch")]
    assert not cautions(es.compare_logs(rows, epochs="pass^2", n_resamples=99))


def test_the_test_of_epochs_is_that_of_a_two_way_analysis():
    """Of items that have all epochs; it holds its level: of 400, 20 are expected below .05."""
    log = es.read_log(frame(runs=(4, 4), deviation=0.01))
    y = log.rows[0].values[:, 0].reshape(60, 4).T
    rest = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean()
    ratio = 60 * np.var(y.mean(axis=1), ddof=1) / (np.sum(rest**2) / (3 * 59))
    from scipy import stats

    assert epochs_differ(log.rows[0]) == pytest.approx(stats.f.sf(ratio, 3, 3 * 59))
    rows = frame(runs=(4, 4), deviation=0.01)
    gaps = [row for row in rows if row["item"] > 5 or row["seed"] > 1]
    same = [row for row in rows if row["item"] > 5]
    assert epochs_differ(es.read_log(gaps).rows[0]) == epochs_differ(es.read_log(same).rows[0])
    some = [frame(seed=s, n=20, deviation=0.0) for s in range(200)]
    below = sum(epochs_differ(one) <= 0.05 for of in some for one in es.read_log(of).rows)
    assert 5 <= below <= 40


def less(rows, item):
    return [row for row in rows if row["item"] != item]


@cases(
    (frame()[1:], {}, less(frame(), 0), "1 item left out, because a run has no score for"),
    ([*frame()[:-1], frame()[-1] | {"acc": None}], {}, less(frame(), 59),
     "1 item left out, because a run has no score for"),
    (without_last(), {"missing": "available"}, less(frame(), 59),
     "1 item left out, because a run has no score for"),
    (frame()[1:], {"epochs": "runs", "missing": "intersect"}, less(frame(), 0),
     "1 item left out, because a run has no score for"),
    (frame(runs=(3, 5)), {}, [row for row in frame(runs=(3, 5)) if row["seed"] <= 3],
     "acc: the first 3 of 5 runs of B are used, so that all systems have equally many."),
)  # fmt: skip
def test_runs_are_compared_on_what_all_have(rows, options, rest, said):
    """Defect: one row less of 1,800 turned "no evidence" into "worse, p < .0001"."""
    result = es.compare_logs(rows, **options)
    assert "runs:3" in result.signatures[0]
    assert result.differences == es.compare_logs(rest).differences
    (caution,) = cautions(result)
    assert said in caution


def test_runs_of_which_one_system_lacks_many_scores_bar_a_gate():
    rows = [
        row | ({"acc": None} if row["model"] == "B" and row["item"] < 20 else {}) for row in frame()
    ]
    result = es.compare_logs(rows)
    assert "B lacks 20 of 60 items and A 0 of 60" in cautions(result, "missing")[0]


def test_a_single_run_of_a_system_is_averaged_with_a_caution():
    rows = frame(runs=(1, 3))
    result = es.compare_logs(rows, n_resamples=199)
    (said,) = cautions(result)
    assert "because systems and tasks have different numbers of runs: 1, 3" in said
    assert said.endswith(". The intervals do not include how much they vary.")
    same = es.compare_logs(rows, epochs="mean", n_resamples=199)
    assert result.differences == same.differences


def test_an_item_without_scores_leaves_runs_as_they_are():
    found = es.compare_logs(without_last(), missing="intersect")
    assert "runs:3" in found.signatures[0]
    rest = [row for row in frame() if row["item"] != 59]
    assert found.differences == es.compare_logs(rest).differences


def test_people_score_answers_and_not_runs():
    rows = [row | {"human": row["acc"] if row["item"] % 2 else None} for row in frame()]
    options = {"human": "human", "directions": {"*": "higher"}, "n_resamples": 99}
    result = es.compare_logs(rows, **options)
    assert "human scores are for single answers" in cautions(result)[0]
    assert result.differences == es.compare_logs(rows, epochs="mean", **options).differences


def test_tasks_have_a_total_of_their_runs():
    rows = frame(tasks=("law", "math"))
    result = es.compare_logs(rows)
    assert [d.task for d in result] == ["law", "math", "both tasks"]
    whole = es.compare_logs(
        [row | {"item": f"{row['task']} {row['item']}", "task": "one"} for row in rows]
    )
    assert result.totals[0].standard_error == pytest.approx(whole[0].standard_error, rel=1e-2)
    other = [row for row in rows if row["task"] == "law" or row["seed"] < 3]
    found = es.compare_logs(other, n_resamples=99)
    assert [d.task for d in found] == ["law", "math", "both tasks"]
    assert "law: the first 2 of 3 runs of A; law: the first 2 of 3 runs of B" in cautions(found)[0]


def test_runs_go_by_labels():
    rows = frame(deviation=0.2)
    result = es.compare_logs(rows)
    by = result.by("domain")
    assert [d.task for d in by] == ["x", "y", "z", "all 3 domains"]
    (alone,) = es.compare_logs([row for row in rows if row["domain"] == "y"])
    assert (by[1].low, by[1].high) == (alone.low, alone.high)


@pytest.mark.thorough
@pytest.mark.parametrize("deviation", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("n_runs", [3, 5])
def test_equal_systems_seldom_differ(n_runs, deviation):
    """Of 200 frames .03 to .07 differ at .05: 6 to 14 are expected, and 4 standard errors."""
    found = [
        es.compare_logs(frame(seed, n=200, runs=(n_runs, n_runs), deviation=deviation))[0].pvalue
        for seed in range(200)
    ]
    assert sum(p <= 0.05 for p in found) <= 14 + 4 * 3.6


def run_files(folder):
    """Write each run of `frame` into a file; return the files by system, and one of all rows."""
    rows, files = frame(), {}
    for row in rows:
        path = folder / f"{row['model']}{row['seed']}.csv"
        if path not in files.setdefault(row["model"], []):
            files[row["model"]].append(path)
            path.write_text("item,domain,acc\n")
        with path.open("a") as file:
            file.write(f"{row['item']},{row['domain']},{row['acc']!r}\n")
    whole = folder / "whole.csv"
    lines = [",".join(map(str, row.values())) for row in rows]
    whole.write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    return files, whole


def test_a_log_for_each_run_is_as_one_table_with_a_column_of_runs(tmp_path, capsys):
    files, whole = run_files(tmp_path)
    options = {"n_resamples": 99, "groups": "domain"}
    expected = es.compare_logs(whole, **options)
    for by_name in (files, {name: tuple(paths) for name, paths in files.items()}):
        result = es.compare_logs(by_name, **options)
        assert result.differences == expected.differences
        assert result.estimates == expected.estimates
    names = ["--names", *(name for name, paths in files.items() for _ in paths)]
    paths = [path for paths in files.values() for path in paths]
    texts = []
    for given in ([whole], [*paths, *names]):
        call = ["compare", *map(str, given), "--groups", "domain", "--resamples", "99"]
        assert main(call) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]


@cases("seed", "trial")
@pytest.mark.parametrize("by", [("seed",), ("model", "seed")])
def test_a_file_for_each_seed_is_as_one_table_of_all(called, by, tmp_path):
    """Defect: the columns were not used, so that each seed of each model was a system."""
    rows, files = frame(called=called), {}
    for row in rows:
        name = "_".join(str(row[called if word == "seed" else word]) for word in by)
        files.setdefault(name, []).append(json.dumps(row))
    paths = [tmp_path / f"{name}.jsonl" for name in files]
    for path, lines in zip(paths, files.values(), strict=True):
        path.write_text("\n".join(lines))
    options = {"n_resamples": 99}
    assert list(es.compare_logs(paths, **options)) == list(es.compare_logs(rows, **options))
    # If two files have the same seed, their systems are not the same.
    twice = tmp_path / "old" / paths[0].name
    twice.parent.mkdir()
    twice.write_text(paths[0].read_text())
    assert len(es.estimate_logs([paths[0], twice])) == (4 if by == ("seed",) else 2)


def test_files_with_a_part_of_the_items_each_are_joined_under_one_name(tmp_path):
    """Defect: the message on them offered to compare them as unpaired systems."""
    rows, logs = frame(runs=(1, 1)), {}
    for row in rows:
        path = tmp_path / f"{row.pop('model')}_shard{row['item'] // 30}.jsonl"
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        logs.setdefault(path.name[0], dict.fromkeys([])).setdefault(path)
    given = {name: list(paths) for name, paths in logs.items()}
    whole = es.compare_logs(frame(runs=(1, 1)), n_resamples=99)
    found = es.compare_logs(given, n_resamples=99)
    assert (list(found), found.notes) == (list(whole), whole.notes)
    said = r"parts of one test set, join the files of each system, or give them one name\.$"
    refuses(said, es.compare_logs, [path for paths in given.values() for path in paths])


def test_logs_that_are_no_runs_of_one_system_are_refused(tmp_path):
    (first, second, third), others = run_files(tmp_path)[0].values()
    message = "A1.csv is passed more than once; pass a different log for each run"
    refuses(message, es.compare_logs, {"A": [first, first], "B": others})
    third.write_text(third.read_text().replace("acc", "bleu"))
    message = "A3.csv has no acc scores, but other runs"
    refuses(message, es.compare_logs, {"A": [first, second, third], "B": others})
    message = "whole.csv has several answers per item|whole.csv has 2"
    refuses(message, es.compare_logs, {"A": [first, tmp_path / "whole.csv"], "B": others})
