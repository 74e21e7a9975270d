"""The calibration study: what its documents say, and a tiny cell of it from end to end."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest

import evalstats as es
from benchmarks import documents, patience
from benchmarks.calibration import promises, questions, runner, tables
from benchmarks.calibration.__main__ import main
from benchmarks.calibration.jobs import Job, jobs
from benchmarks.calibration.populations import Real, population
from benchmarks.calibration.samples import NORMAL
from benchmarks.calibration.simulated import Made


def test_documents_say_what_the_results_say():
    assert documents.differing() == {}


def test_every_job_has_its_cells_and_every_cell_its_job(monkeypatch, capsys):
    names = [job.name for job in jobs(every=True)]
    assert len(set(names)) == len(names)
    results = tables.load()
    assert {cell.rpartition(" / ")[0] for cell in results} == set(names)
    (first, *_) = results
    renamed = {
        "pairs / unknown / none / BLEU" if x == first else x: of for x, of in results.items()
    }
    monkeypatch.setattr(tables, "load", lambda: renamed)
    assert main(["--check"]) == 1
    printed = capsys.readouterr().out
    assert f"no cell of the job {first.rpartition(' / ')[0]}" in printed
    assert "no job of the cells pairs / unknown / none" in printed


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
    assert f"-->{100 * count / 3:.1f}%<!--" in documents.filled(marked, {}, counts)
    low, high = (100 * x for x in binomtest(count, 3).proportion_ci(method="wilson"))
    said = tables.made(counts, "measured", cell, "p ≤ .05")
    assert said == f"{100 * count / 3:.1f}% [{low:.1f}, {high:.1f}] of 3"
    assert "| normal scores, N = 30 | 3 |" in tables.made(counts, "table", "tails")


@pytest.mark.parametrize(("kind", "rise"), [("at once", 1.0), ("steadily", -0.5)])
def test_the_course_of_a_run_is_what_its_name_says(sample, kind, rise):
    systems = {name: sample.systems[name] for name in patience.BUNDLED[1]}
    table = es.extract(systems, sample.references, "bleu")
    course = patience.Course(table, kind, rise)
    # A quality of .35 is that share of the second system's statistics, and the rest of the first's.
    mixed = 0.65 * table.values[0].sum(axis=0) + 0.35 * table.values[1].sum(axis=0)
    assert course.true_scores(np.array([0.35]))[0] == pytest.approx(es.BLEU().score(mixed))
    expected = [rise] * 30 if kind == "at once" else np.linspace(0, rise, 31)[1:]
    assert course.truth == pytest.approx([0, *expected], abs=1e-3)
    monitor = course.watched(0)
    assert len(monitor.checks) == patience.N_CHECKS
    # Checkpoints are draws of such a quality: 480 segments have a standard error of about 1 BLEU.
    middle = np.mean([check.score for check in monitor.checks])
    assert middle == pytest.approx(table.scores.mean(), abs=4)


def test_a_row_of_patience_counts_runs():
    """Nobody stops before an improvement at check 5 of patience 5, of patience 3 everybody."""
    made = [SimpleNamespace(step=i, improved=i == 5, difference_high=1.96, difference_low=-1.96)
            for i in range(6)]  # fmt: skip
    run = SimpleNamespace(checks=made, best_step=5, selected=SimpleNamespace(step=4))
    course = SimpleNamespace(watched=lambda run_number: run, truth=np.arange(6) / 10)
    found = patience.measured(course, 2)
    assert found["stopped"] == {"3": 2, "5": 0, "10": 0}
    results = {"patience": {"rows": [{"what": "+0.5 at once", "runs": 2, **found}]}}
    row = "| +0.5 at once | 1.000 | 5 | 1.000 | .000 | .000 | +0.50 | +0.40 |"
    assert row in documents.patience(results)
    assert documents.patience(results, "standard error") == "1"


def test_outside_is_beyond_a_bound_and_far_outside_beyond_chance():
    cell = "gates / margin / simulated / score"
    for wrong, outside, far in ((65, False, False), (80, True, False), (140, True, True)):
        (held,) = promises.held({cell: {"wrong pass": [wrong, 1000]}})
        assert (held.outside, held.chance < promises.FAR) == (outside, far)
        # 80 of 1,000 with a rate of .065: binom.sf(79, 1000, .065) = .035, which has no reason.
        assert held.why == ("chance, 0.52" if wrong == 65 else "")
        assert ("(unexplained)" in tables.outside({cell: {"wrong pass": [wrong, 1000]}})) == outside
    cell = "paired runs / 2 prompts, own 0.0 / simulated / score"
    (held,) = promises.held({cell: {"score": [861, 1000]}})
    assert held.why.startswith("two prompts may vary")


def test_a_job_that_asks_nothing_fails():
    """Defect: totals were asked for by a name that they no longer had, and had no cells."""
    with pytest.raises(ValueError, match="none of the trials was asked anything"):
        runner.measure(Job("totals", "", Made(lambda n, rng: 0), 1, lambda *_: iter(()), 2))
    (job,) = (x for x in jobs() if x.name.startswith("totals / 0/1, 20 + 20 items"))
    assert runner.measure(job._replace(trials=2))[0]


@pytest.mark.parametrize(
    ("length", "outside", "far"),
    [(1.3, False, False), (1.4, True, False), (1.7, True, True), (17.0, True, True)],
)
def test_an_interval_that_is_too_long_is_outside(length, outside, far):
    cell = "pairs / equal, N = 100 / sample, A and B / BLEU"
    (held,) = promises.held({cell: {"difference length": [length * 400, 400]}})
    assert (held.outside, held.chance < promises.FAR, held.promised) == (outside, far, "≤ 1.3")


def test_a_length_is_that_over_a_normal_estimates():
    """A z of known error: 1 ± .012 of 4,000 trials; beyond five of them by chance in 6e-7."""

    def question(z, trial):
        yield "z", "difference length", 2 * 1.959964, NORMAL * abs(z)
        yield "z", "difference", abs(z) <= 1.959964
        yield "none", "difference length", 0.0, 0.0

    made = Made(lambda n, rng: rng.normal())
    counts, _ = runner.measure(Job("tails", "z", made, 1, question, 4000))
    rates = counts["tails / z / simulated / z"]
    assert rates["difference length"][1] == rates["difference"][1] == 4000
    assert rates["difference length"][0] / 4000 == pytest.approx(1, abs=0.06)
    assert counts["tails / z / simulated / none"] == {}


def test_few_segments_hold_the_matches_of_a_low_resource_pair():
    systems = ("baseline", "clearly-better")
    scarce = population(Real("sample", ("bleu",), systems, "equal", right=0.04))
    (score, same), *_ = scarce.scores.values()
    assert score == pytest.approx(same, rel=1e-8)
    assert score < 20 < min(population(Real("sample", ("bleu",), systems)).scores["BLEU"])
    (note,) = es.estimate(scarce.tables[0], n_resamples=99)[0].notes
    assert note.startswith("BLEU: 10 of 480 segments account for")


def test_means_over_cells_are_held_to_bounds_of_their_own():
    cells = {
        f"brackets / {n} segments / a / {metric}": {"held": [held, 100], "length": [50, 100]}
        for n, metric, held in ((100, "BLEU", 75), (300, "BLEU", 95), (300, "TER", 88))
    }
    cells["brackets / 80 documents / a / BLEU"] = {"held": [10, 100], "length": [90, 100]}
    *each, mean = promises.held(cells)
    assert [x.outside for x in each] == [False] * 3
    assert (mean.value, mean.trials, mean.outside) == (pytest.approx(0.86), 300, True)
    assert "| brackets: held, mean | 0.88 to 0.97 | 1 | .860 | 1 |" in tables.promised(cells)


def test_a_bracket_is_held_against_the_least_difference_of_the_population():
    source = Real("sample", ("bleu", "chrf"), ("baseline", "clearly-better"))
    whole = population(source)
    drawn = source.draw(60, np.random.default_rng(0))
    happened = list(questions.brackets(drawn, 0))
    assert [x[:2] for x in happened] == list(product(("BLEU", "chrF2"), ("held", "length")))
    (planned,) = es.power(list(whole.tables)[:1], n_segments=60)
    assert questions.minimum(whole, "BLEU", 60) == planned.minimum
    pilot = es.power(list(drawn.tables)).pairs[0]
    assert pilot.minimum_low < planned.minimum < pilot.minimum_high
    assert happened[0][2]
    assert happened[1][2] == (pilot.minimum_high - pilot.minimum_low) / planned.minimum


def test_a_table_counts_cells_only_where_a_row_has_several():
    counts = {"p ≤ .05": [5, 100]}
    one = {"limits / a / source / BLEU": counts, "limits / b / source / BLEU": counts}
    assert "| case | trials | p ≤ .05 |" in tables.made(one, "table", "limits")
    assert "| a | 100 | .050 |" in tables.made(one, "table", "limits")
    two = one | {"limits / a / another / BLEU": counts}
    assert "| case | settings | trials | p ≤ .05 |" in tables.made(two, "table", "limits")
    assert "| a | 2 | 100 | .050 (.050–.050) |" in tables.made(two, "table", "limits")


def test_results_of_speed_become_tables():
    row = {"part": "x", "what": "an answer", "seconds": {"peer": 0.05, "evalstats": 0.002}}
    row |= {"megabytes": {"peer": 60.0, "evalstats": 30.25}}
    row["seconds"]["b8866916"], row["megabytes"]["b8866916"] = 0.003, 40.0
    results = {"speed": {"machine": "M", "rows": [row]}}
    text = "on <!-- measured: machine :: speed -->?<!-- end -->:"
    assert "-->M<!-- end -->:" in documents.filled(text, results, {})
    table = documents.filled("<!-- measured: speed :: x --><!-- end -->", results, {})
    assert "| an answer | 2 ms, 30.2 MB | 50 ms, 60 MB (25 ×) |" in table
    table = documents.filled("<!-- measured: speed :: x :: b8866916 --><!-- end -->", results, {})
    assert "| 3 ms, 40 MB (1.5 ×) |" in table
    time = documents.filled(
        "<!-- measured: took :: an answer :: evalstats :: peer -->?<!-- end -->", results, {}
    )
    assert "-->2 ms, and 0.05 s<!-- end -->" in time
