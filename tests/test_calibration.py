"""The calibration study: what its documents say, and a tiny cell of it from end to end."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import documents
from benchmarks.calibration import promises, runner, tables
from benchmarks.calibration.__main__ import main
from benchmarks.calibration.jobs import jobs
from benchmarks.calibration.populations import Real, population


def test_documents_say_what_the_results_say():
    assert documents.differing() == {}


def test_results_are_of_jobs_that_there_are():
    names = [job.name for job in jobs(every=True)]
    assert len(set(names)) == len(names)
    assert {cell.rpartition(" / ")[0] for cell in tables.load()} <= set(names)


def test_subset_needs_only_what_is_bundled_and_holds_every_kind():
    assert {job.source.corpus for job in jobs(subset=True)} == {"", "sample"}
    kinds = [{job.kind for job in found} for found in (jobs(every=True), jobs(subset=True))]
    assert kinds[0] - kinds[1] == {"peers", "limits"}


@pytest.mark.parametrize("null", ["equal", "exchangeable"])
def test_systems_that_should_be_equal_are(null):
    source = Real("sample", ("bleu", "ter"), ("baseline", "slightly-better"), null)
    for first, second in population(source).scores.values():
        assert first == pytest.approx(second, rel=1e-8)
    sample = source.draw(40, np.random.default_rng(1))
    assert [table.n_segments for table in sample.tables] == [40, 40]


def test_one_cell_from_trials_to_table(tmp_path, capsys):
    output = tmp_path / "cells.jsonl"
    chosen = ["--cells", "^tails / normal", "--scale", "0.003", "--workers", "1"]
    assert main([*chosen, "--output", str(output)]) == 0
    assert "1 cells, 0 jobs failed" in capsys.readouterr().out
    ((trials, counts),) = runner.read(output).values()
    assert trials == 3
    (cell,) = counts
    marked = f"<!-- calibration: percent :: {cell} :: p ≤ .05 -->?<!-- end --> of the trials"
    count = round(counts[cell]["p ≤ .05"][0])
    assert f"-->{100 * count / 3:.1f} %<!--" in documents.filled(marked, {}, counts)
    assert "| normal, N = 30 | 1 | 3 |" in tables.made(counts, "table", "tails")


def test_outside_is_beyond_a_bound_and_far_outside_beyond_chance():
    cell = "gates / margin / simulated / score"
    for wrong, outside, far in ((65, False, False), (80, True, False), (140, True, True)):
        (held,) = promises.held({cell: {"wrong pass": [wrong, 1000]}})
        assert (held.outside, held.far_outside) == (outside, far)


def test_results_of_speed_become_tables():
    row = {"part": "x", "what": "an answer", "seconds": {"evalstats": 0.002, "peer": 0.05}}
    results = {"speed": {"machine": "M", "rows": [row]}}
    text = "on <!-- measured: machine :: speed -->?<!-- end -->:"
    assert "-->M<!-- end -->:" in documents.filled(text, results, {})
    table = documents.filled("<!-- measured: speed :: x --><!-- end -->", results, {})
    assert "| an answer | 2 | 50 (25 ×) |" in table
