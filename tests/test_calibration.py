"""The calibration benchmark: its populations, its runner, and what documents say of its results."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from benchmarks.calibration import equality, gates, marked, pairs, promises, runner, runs, tables
from benchmarks.calibration.__main__ import main
from benchmarks.calibration.cells import Cell, cells, listed
from benchmarks.calibration.pairs import METHODS, TESTS
from benchmarks.calibration.populations import Source, population
from benchmarks.calibration.runs import Run

SAMPLE = Source("exchangeable", "sample", "bleu", "baseline", "clearly-better")
MARKS = Cell("pairs", "exchangeable", Source("synthetic", "synthetic", "marks", "marks"), 10)
EQUAL = ("exchangeable", "equal scores", "rare failures")


def _sources(*nulls):
    return {c.source for c in cells() if isinstance(c.source, Source) and c.null in nulls}


def test_documents_say_what_the_results_say():
    assert marked.differing(marked.files(), marked.load()) == []


def test_cells_have_names_and_seeds_of_their_own():
    names = [cell.name for cell in listed()]
    assert len(set(names)) == len(names)
    assert len({cell.seed for cell in listed()}) == len(names)


def test_subset_needs_only_what_is_bundled():
    assert {cell.corpus for cell in cells(subset=True)} == {"sample", "synthetic"}
    assert {cell.part for cell in cells(subset=True)} == {"pairs", "gates", "runs"}


def _assert_equal(source):
    drawn_from = population(source)
    assert equality.equal(drawn_from.values, drawn_from.metric), source
    assert not np.array_equal(*drawn_from.values), source


def test_scores_that_should_be_equal_are():
    for source in _sources(*EQUAL):
        if source.corpus in ("sample", "synthetic"):
            _assert_equal(source)


@pytest.mark.thorough
def test_scores_that_should_be_equal_are_on_every_test_set():
    for source in _sources(*EQUAL):
        _assert_equal(source)


def test_scores_that_should_differ_do():
    for source in _sources("margin", "real difference"):
        if source.corpus in ("sample", "synthetic"):
            old, new = population(source).scores
            assert (new < old - 0.01) if source in _sources("margin") else (new > old)


def test_exchangeable_population_holds_both_orders_of_each_document():
    drawn_from = population(SAMPLE)
    n = drawn_from.values.shape[1] // 2
    np.testing.assert_array_equal(drawn_from.values[:, :n], drawn_from.values[::-1, n:])
    values, groups = drawn_from.draw_documents(3, np.random.default_rng(0))
    assert values.shape[1] == len(groups)
    assert set(groups) == {0, 1, 2}


def test_recentring_leaves_most_segments_as_they_are():
    real = population(Source("real", "sample", "bleu", "baseline", "slightly-better"))
    found = population(Source("recentred", "sample", "bleu", "baseline", "slightly-better"))
    same = np.all(found.values == real.values, axis=(0, 2))
    assert np.mean(same) > 0.8


def test_checkpoints_that_wobble_have_equal_bleu_and_lengths_on_both_sides_of_the_references():
    run = Run("wobble", "sample", "bleu", "baseline", "clearly-better", 480, cut=0.06)
    kinds, metric = runs.checkpoints(run)
    totals = kinds.sum(axis=(1, 2))
    short, long = totals[:, 0] / totals[:, 1]
    scores = metric.score(totals)
    assert short < 1 < long
    assert scores[0] == pytest.approx(scores[1], rel=equality.TOLERANCE)


def test_quality_jumps_by_as_many_points_as_it_should():
    run = Run("jump", "sample", "bleu", "baseline", "clearly-better", 480, jump=0.5, after=5)
    kinds, metric = runs.checkpoints(run)
    shares = runs.qualities(run, kinds[0], metric)
    totals = kinds[0].sum(axis=1)
    before, after = (
        metric.score((1 - s) * totals[0] + s * totals[1]) for s in (shares[4], shares[5])
    )
    assert after - before == pytest.approx(0.5, abs=1e-6)


def test_one_cell_asks_about_every_test_and_every_interval():
    record = runner.measure(replace(MARKS, trials=3))
    for name in ("default", *TESTS):
        key = f"test|{name}|two-sided"
        assert key in record["rates"] or record["refused"][key] == 1
    for name in ("default", *METHODS):
        key = f"difference|{name}"
        assert key in record["rates"] or record["refused"][key] == 1
        assert record["lengths"].get(key, 1) > 0
    assert json.loads(json.dumps(record)) == record


def test_trials_ask_what_compare_answers():
    drawn_from = population(SAMPLE)
    answers = pairs.measure(drawn_from, 40, "segments", 1, 7)
    values = drawn_from.draw(40, np.random.default_rng([7, 0]))
    table = es.SegmentStatistics(values, ["old", "new"], drawn_from.metric)
    (found,) = es.compare(table, n_resamples=pairs.N_RESAMPLES, rng=0)
    record = answers.record("", 1, 0.0)
    assert record["rates"]["test|default|two-sided"] == [found.pvalue <= 0.05, found.pvalue <= 0.01]
    assert record["rates"]["difference|default"] == [found.low <= 0 <= found.high]
    assert record["lengths"]["difference|default"] == pytest.approx(
        found.high - found.low, rel=1e-3
    )


def test_refusals_of_a_gate_are_counted_apart(monkeypatch):
    def refuse(*arguments, **options):
        raise es.InputError("nothing can be said")

    monkeypatch.setattr(es, "assert_not_worse", refuse)
    record = gates.measure(population(SAMPLE), 10, "equal scores", 4, 0).record("", 4, 0.0)
    assert record["refused"]["gate"] == 1
    assert record["rates"]["gate"] == [0]


def test_runner_goes_on_where_it_stopped_and_order_does_not_matter(tmp_path):
    chosen = [replace(MARKS, n=n, trials=2) for n in (5, 6, 7)]
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert runner.run(chosen[:1], first, 1) == 0
    with first.open("a") as file:
        file.write('{"cell": "killed he')
    before = first.read_text()
    assert runner.run(chosen, first, 1) == 0
    assert first.read_text().startswith(before)
    done = first.read_text()
    assert runner.run(chosen, first, 1) == 0
    assert first.read_text() == done
    runner.run(chosen[::-1], second, 1)
    found = [runner.read(path) for path in (first, second)]
    assert found[0].keys() == {cell.name for cell in chosen}
    for cell in chosen:
        assert found[0][cell.name]["rates"] == found[1][cell.name]["rates"]


def test_more_trials_replace_fewer(tmp_path):
    output = tmp_path / "cells.jsonl"
    for trials in (1, 2):
        runner.run([replace(MARKS, trials=trials)], output, 1)
    assert runner.read(output)[MARKS.name]["trials"] == 2


def test_a_cell_that_fails_stops_no_other(tmp_path, capsys):
    wrong = replace(MARKS, source=replace(MARKS.source, first="breaks nothing"), trials=1)
    output = tmp_path / "cells.jsonl"
    assert runner.run([wrong, replace(MARKS, trials=1)], output, 1) == 1
    assert runner.read(output).keys() == {MARKS.name}
    assert wrong.name in capsys.readouterr().err


def _record(**rates):
    return {"trials": 1000, "rates": rates, "refused": {}, "lengths": {}, "notes": {}}


@pytest.mark.parametrize(
    "rate, n, words",
    [
        (0.07, 300, None),
        (0.09, 300, "default two-sided 0.090, promised 0.04 to 0.06"),
        (0.01, 300, "default two-sided 0.010, promised 0.04 to 0.06"),
        (0.09, 100, None),
        (0.11, 100, "default two-sided 0.110, promised at most 0.075"),
        (0.3, 10, None),
    ],
)
def test_outside_is_beyond_three_errors_of_what_is_promised(rate, n, words):
    cell = Cell("pairs", "equal scores", SAMPLE, n)
    found = promises.outside(cell, _record(**{"test|default|two-sided": [rate, 0.01]}))
    assert found == ([words] if words else [])


def test_power_below_plain_randomisation_is_outside():
    cell = Cell("pairs", "real difference", SAMPLE, 100)
    assert promises.outside(cell, _record(**{"default and ar differ": [0.0, 0.03]})) == []
    assert "power" in promises.outside(cell, _record(**{"default and ar differ": [0.0, 0.06]}))[0]


def test_a_new_test_is_a_new_column():
    cell = Cell("pairs", "equal scores", SAMPLE, 300)
    keys = ("test|default|two-sided", "test|new-one|two-sided", "test|new-one|greater")
    record = _record(**{key: [0.05, 0.01] for key in keys})
    header, _, row = tables.tests([(cell, record)]).splitlines()
    assert "| new-one |" in header
    assert "| new-one greater |" in header
    assert header.count("|") == row.count("|")


def test_marked_parts_are_filled_and_differ_when_results_change(tmp_path):
    record = _record(**{"gate": [0.043]})
    cell = Cell("gates", "exchangeable", SAMPLE, 30)
    path = tmp_path / "text.md"
    path.write_text(
        f"<!-- calibration: percent :: {cell.name} :: gate :: 0 -->?<!-- end --> of runs"
    )
    assert marked.fill([path], [(cell, record)]) == [path]
    assert path.read_text().endswith("-->4.3 %<!-- end --> of runs")
    assert marked.differing([path], [(cell, record)]) == []
    assert marked.differing([path], [(cell, _record(gate=[0.051]))]) == [path]


def test_command_line(tmp_path, capsys):
    output = tmp_path / "cells.jsonl"
    chosen = [
        "--cells",
        "^pairs/exchangeable/synthetic, marks/marks/5 segments",
        "--scale",
        "0.002",
    ]
    assert main([*chosen, "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert main([*chosen, "--output", str(output), "--workers", "1"]) == 0
    (record,) = runner.read(output).values()
    assert record["trials"] == 2
    assert "0 failed" in capsys.readouterr().out
