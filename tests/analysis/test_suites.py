"""Suites: rows are those of each task alone, totals those of strata, and both in every form."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalstats as es
from evalstats.designs.runs import extract_runs
from evalstats.errors import InputError, InputTypeError
from tests.helpers import bad_cases, cases, refuses

ACC, COST = es.Mean("acc"), es.Mean("cost", higher_is_better=False)
SIZES = {"physics": 60, "law": 240, "history": 150}
FEW = {"n_resamples": 499}


def outcomes(rng, n, shares=(0.6, 0.7)):
    return {name: rng.random(n) < p for name, p in zip("ABCDE", shares, strict=False)}


def accuracies(seed=1, sizes=SIZES, shares=(0.6, 0.7)):
    rng = np.random.default_rng(seed)
    return {t: es.extract(outcomes(rng, n, shares), metric=ACC) for t, n in sizes.items()}


def costs(seed=2, sizes=SIZES, n_systems=2):
    rng = np.random.default_rng(seed)
    made = {}
    for i, (task, n) in enumerate(sizes.items()):
        base = rng.gamma(2, 2 + i, size=n) + 1
        others = {s: base * rng.uniform(0.8, 1.15, n) for s in "BCD"[: n_systems - 1]}
        made[task] = es.extract({"A": base, **others}, metric=COST)
    return made


TASKS = accuracies()


@pytest.fixture(scope="module")
def compared():
    return es.Suite(TASKS).compare(**FEW)


def holm_by_hand(pvalues):
    adjusted, worst = {}, 0.0
    for i, (place, p) in enumerate(sorted(enumerate(pvalues), key=lambda item: item[1])):
        worst = max(worst, min(1.0, (len(pvalues) - i) * p))
        adjusted[place] = worst
    return [adjusted[i] for i in range(len(pvalues))]


def assert_same(row, d, but=()):
    """All fields of a difference, or of an estimate, are those of another."""
    for field in fields(type(d)):
        if field.compare and field.name not in ("notes", "task", "aggregate", *but):
            assert getattr(row, field.name) == getattr(d, field.name), field.name


@pytest.mark.parametrize("tasks", [TASKS, costs()], ids=["0/1", "numbers"])
@pytest.mark.parametrize("groups", [{}, {"law": [i // 6 for i in range(240)]}])
@pytest.mark.parametrize("options", [{}, {"method": "t"}])
def test_the_row_of_a_task_is_what_a_comparison_of_it_says(tasks, options, groups):
    result = es.Suite(tasks, groups=groups).compare(**FEW, **options)
    asked = {**FEW, **options}
    alone = [es.compare(table, groups=groups.get(t), **asked) for t, table in tasks.items()]
    adjusted = holm_by_hand([one.differences[0].pvalue for one in alone])
    for row, task, one, p in zip(result.rows, tasks, alone, adjusted, strict=True):
        assert_same(row, one.differences[0], ["pvalue_adjusted", "verdict"])
        assert (row.kind != "open") == (row.pvalue_adjusted <= 0.05)
        n = 40 if task in groups else SIZES[task]
        assert (row.task, result.estimates[task, "A"].n_segments) == (task, n)
        assert row.pvalue_adjusted == pytest.approx(p)
        for e in one.estimates:
            assert_same(result.estimates[task, e.system], e)
    assert [row.task for row in result] == [*tasks, "all 3 tasks"]
    errors = [row.standard_error for row in result.rows]
    assert result.totals[0].standard_error == pytest.approx(np.linalg.norm(errors) / 3)
    assert result.adjustment == "holm"
    assert all("|adj:holm|" in signature for signature in result.signatures)


WEIGHTS = {"physics": 1, "law": 2, "history": 4}


@pytest.mark.parametrize("aggregate", ["macro", "micro", WEIGHTS])
@pytest.mark.parametrize("groups", [None, {"law": [i // 6 for i in range(240)]}])
def test_the_order_of_tasks_and_of_systems_within_them_changes_no_bit(aggregate, groups):
    tasks = costs(n_systems=3)
    law = tasks["law"]
    turned = replace(law, values=law.values[::-1], systems=law.systems[::-1])
    moved = {"history": tasks["history"], "physics": tasks["physics"], "law": turned}
    one, other = (
        es.Suite(some, aggregate, groups=groups).compare(n_resamples=199) for some in (tasks, moved)
    )
    assert len(one.totals) == 3
    for found, others in ((one, other), (one.estimates, other.estimates)):
        assert set(found) == set(others)
        assert found.totals == others.totals


@pytest.mark.parametrize("aggregate", ["macro", "micro", WEIGHTS])
def test_totals_of_right_and_wrong_answers_count_at_the_effective_number(aggregate):
    """Wilson's and Tango's intervals and McNemar's test, n = V/se², t_ν, from their formulas."""
    sizes = np.array(list(SIZES.values()))
    raw = {"macro": np.ones(3), "micro": sizes}.get(str(aggregate), np.array([1, 2, 4]))
    shares = raw / raw.sum()
    marks = [table.values[:, :, 0] for table in TASKS.values()]

    def spread(variances):
        parts = shares**2 * variances / (sizes - 1)
        return parts.sum(), parts.sum() ** 2 / np.sum(parts**2 / (sizes - 1))

    suite = es.Suite(TASKS, aggregate).compare(**FEW)
    for s, system in enumerate("AB"):
        rows = [mark[s] for mark in marks]
        share = shares @ [np.mean(row) for row in rows]
        # Four items of the pooled share are added to each task.
        right = np.array([row.sum() for row in rows])
        p = (right + 4 * right.sum() / sizes.sum()) / (sizes + 4)
        variance, degrees = spread(p * (1 - p))
        square = stats.t.ppf(0.975, degrees) ** 2 * variance / (share * (1 - share))
        wilson = np.sort(np.roots([1 + square, -2 * share - square, share**2]))
        e = suite.estimates[system]
        assert (e.score, e.low, e.high, e.method) == pytest.approx((share, *wilson, "wilson"))
    moved = [mark[1] - mark[0] for mark in marks]
    # And here four items that change as all do.
    mean, square = (
        (np.array([np.sum(row**k) for row in moved]) + 4 * np.mean(np.concatenate(moved) ** k))
        / (sizes + 4)
        for k in (1, 2)
    )
    variance, degrees = spread(square - mean**2)
    gained, lost = (shares @ [np.mean(row == side) for row in moved] for side in (1, -1))
    n = (gained + lost - (gained - lost) ** 2) / variance
    b, c, d = n * gained, n * lost, suite.difference()
    mcnemar = 2 * stats.t.sf(abs(b - c) / np.sqrt(b + c), degrees)
    assert (d.test, d.method, d.pvalue) == ("mcnemar", "tango", pytest.approx(mcnemar))
    for bound in (d.low, d.high):
        middle = (2 * n - b + c) * bound - b - c
        q = (np.sqrt(middle**2 + 8 * n * c * bound * (1 - bound)) - middle) / (4 * n)
        score = (b - c - n * bound) / np.sqrt(n * (2 * q + bound * (1 - bound)))
        assert abs(score) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-6)
    assert d.low < d.difference < d.high


@pytest.mark.parametrize("tasks", [TASKS, costs()], ids=["0/1", "numbers"])
def test_standard_errors_of_totals_are_those_of_harnesses(tasks):
    n = np.array(list(SIZES.values()))
    for aggregate, shares in (
        ("macro", np.full(3, 1 / 3)),
        ("micro", n / n.sum()),
        ({"history": 4, "physics": 1, "law": 3}, np.array([1, 3, 4]) / 8),
    ):
        result = es.Suite(tasks, aggregate).compare(**FEW)
        marks = [table.values[:, :, 0] for table in tasks.values()]
        for s, system in enumerate("AB"):
            total = result.estimates[system]
            assert total.score == pytest.approx(shares @ [own[s].mean() for own in marks])
            errors = [stats.sem(own[s]) for own in marks]
            assert total.standard_error == pytest.approx(np.linalg.norm(shares * errors))
        errors = [stats.sem(own[1] - own[0]) for own in marks]
        expected = np.linalg.norm(shares * errors)
        assert result.difference().standard_error == pytest.approx(expected)


@pytest.fixture(scope="module")
def translations(sample):
    names = ["baseline", "clearly-better"]
    domains = np.array(sample.domains)
    tables = {}
    for domain in sorted(set(sample.domains)):
        places = np.flatnonzero(domains == domain)
        texts = {n: [sample.systems[n][i] for i in places] for n in names}
        tables[domain] = es.extract(texts, [sample.references[i] for i in places], "bleu")
    return tables


@pytest.mark.parametrize("aggregate", ["macro", "micro"])
@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_a_total_of_one_metric_is_that_of_strata(translations, aggregate, method):
    # Strata are drawn in the order of their first segments, tasks in one that follows from their
    # statistics.
    order = [task.name for task in es.Suite(translations, aggregate).parts[-1].ordered]
    whole = np.concatenate([translations[name].values for name in order], axis=1)
    labels = [name for name in order for _ in range(translations[name].n_segments)]
    first = next(iter(translations.values()))
    joined = es.SegmentStatistics(whole, first.systems, first.metric)
    (expected,) = es.compare(joined, strata=labels, aggregate=aggregate, method=method, **FEW)
    found = es.Suite(translations, aggregate).compare(method=method, **FEW).difference()
    assert_same(found, expected, ["metric"])
    assert (found.metric, found.aggregate, found.task) == ("BLEU", aggregate, "all 4 tasks")


def test_tasks_of_different_metrics_have_one_total_where_it_is_asked_for(translations):
    name, table = next(iter(translations.items()))
    marks = es.extract(outcomes(np.random.default_rng(4), 90), metric=ACC)
    tasks = {name: table, "quiz": replace(marks, systems=table.systems)}
    assert es.Suite(tasks).compare(**FEW).totals == ()
    suite = es.Suite(tasks, "macro")
    result, scores = suite.compare(**FEW), suite.estimate(method="t", **FEW)
    total = scores["baseline"]
    alone = [es.estimate(t, method="t").estimates[0] for t in tasks.values()]
    assert total.score == pytest.approx(np.mean([e.score for e in alone]))
    expected = np.sqrt(sum(e.standard_error**2 for e in alone)) / 2
    assert total.standard_error == pytest.approx(expected)
    assert result.difference().metric == "BLEU + acc"
    assert result.adjusted.is_over_metrics
    adjusted = holm_by_hand([d.pvalue for d in result.rows])
    assert [d.pvalue_adjusted for d in result.rows] == pytest.approx(adjusted)
    assert es.Comparison.from_json(result.to_json()) == result


def test_several_metrics_a_task_have_a_total_each():
    more = {task: [TASKS[task], table] for task, table in costs().items()}
    more["history"] = more["history"][:1]
    more["extra"] = es.extract(outcomes(np.random.default_rng(3), 80), metric=es.Mean("f1"))
    result = es.Suite(more).compare(**FEW)
    totals = [("acc", "all 3 tasks"), ("cost", "both tasks")]
    assert [(d.metric, d.task) for d in result.totals] == totals
    two = es.Suite({task: costs()[task] for task in ("physics", "law")}).compare(**FEW)
    assert_same(result.difference("cost"), two.difference())
    assert [result.adjusted.n_compared(d) for d in result.rows] == [3, 2, 3, 2, 3, 1]


@pytest.mark.parametrize("aggregate", [None, "macro", "micro", {"x": 3, "y": 1}])
def test_a_total_of_several_runs_is_that_of_the_runs_totals(aggregate):
    """Run r is the same in every task, so that the total of run r is one score of a run."""
    rng = np.random.default_rng(6)
    seeds = {
        n: rng.normal(i, 1, size=(3, 80)) + rng.normal(size=(3, 1)) for i, n in enumerate("AB")
    }
    tasks = {
        task: extract_runs({n: of[:, here] for n, of in seeds.items()}, metrics=COST)
        for task, here in (("x", slice(40)), ("y", slice(40, None)))
    }
    result = es.Suite(tasks, aggregate).compare()
    assert result.rows[0].low == es.compare(tasks["x"]).differences[0].low
    (total,) = result.totals
    weights = np.array((0.75, 0.25) if isinstance(aggregate, dict) else (0.5, 0.5))
    of_runs, means, values = 0.0, [], []
    for runs in seeds.values():
        halves = runs.reshape(3, 2, 40)
        scores = halves.mean(axis=2)
        u = weights[:, None] * (halves - scores[..., None]) / 40
        both = 80 / 79 * np.sum((u - u.mean(axis=0)) ** 2) / 2 / 3
        of_runs += np.var(scores @ weights, ddof=1) / 3 - both
        means.append(np.mean(scores @ weights))
        values.append(halves.mean(axis=0))
    assert of_runs > 0
    of_strata = np.var(values[1] - values[0], axis=1, ddof=1) / 40
    assert total.standard_error**2 == pytest.approx(of_strata @ weights**2 + of_runs, rel=1e-3)
    assert total.difference == pytest.approx(means[1] - means[0])
    if not isinstance(aggregate, dict):
        options = {"strata": np.repeat(["x", "y"], 40), "aggregate": aggregate or "macro"}
        (one,) = es.compare(seeds, metrics=COST, **options)
        assert one.standard_error == pytest.approx(total.standard_error)


def test_tasks_with_other_numbers_of_runs_have_no_total():
    rng = np.random.default_rng(6)
    tasks = {
        task: extract_runs({n: rng.normal(size=(r, 40)) for n in "AB"}, metrics=COST)
        for task, r in (("x", 3), ("y", 4))
    }
    assert es.Suite(tasks).compare().totals == ()
    with pytest.raises(InputError, match=r"number of runs.* task, got 3 for 'x', 4 for 'y'"):
        es.Suite(tasks, "macro").compare()


def test_progress_threads_and_seeds():
    seen = []
    suite = es.Suite(costs())
    one = suite.compare(**FEW, progress=lambda *said: seen.append(said), executor=2, seed=12345)
    assert one == suite.compare(**FEW)
    assert seen == [(1, 3, "tasks"), (2, 3, "tasks"), (3, 3, "tasks")]
    assert suite.compare(**FEW, rng=5) == suite.compare(**FEW, rng=np.int64(5)) != one


def mixed_tasks(rng, n_systems):
    """Return tasks of random kinds and sizes, and groups of one of them."""
    systems, tasks, groups = "ABCD"[:n_systems], {}, {}
    for t in range(rng.integers(2, 6)):
        n, kind = int(rng.integers(8, 40)), rng.choice(["runs", "groups", "0/1", "floats"])
        values = {s: rng.normal(i / 3, 1, n) for i, s in enumerate(systems)}
        if kind == "runs":
            runs = {s: [x + rng.normal(size=n) for _ in range(3)] for s, x in values.items()}
            (tasks[f"task {t}"],) = extract_runs(runs, metrics=COST)
        else:
            values = {s: x > 0 for s, x in values.items()} if kind == "0/1" else values
            tasks[f"task {t}"] = es.extract(values, metric=COST)
            if kind == "groups":
                groups[f"task {t}"] = (np.arange(n) // 3).tolist()
    return tasks, groups


@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_neither_order_nor_names_of_tasks_change_a_number_a_verdict_or_a_signature(seed):
    """Defect: the last task decided how all p-values were adjusted, of runs by Holm's method."""
    rng = np.random.default_rng(seed)
    tasks, groups = mixed_tasks(rng, int(rng.integers(2, 5)))
    has_runs = any("runs" in str(table.metric) for table in tasks.values())
    aggregate = None if has_runs else rng.choice(["macro", "micro"])
    places = rng.permutation(len(tasks))
    names = [f"{name} {place}" for place, name in zip(places, "edcba", strict=False)]
    called = dict(zip(rng.permutation(list(tasks)).tolist(), names, strict=False))
    one = es.Suite(tasks, aggregate, groups=groups).compare(n_resamples=99)
    turned = {new: tasks[old] for old, new in called.items()}
    groups = {called[name]: labels for name, labels in groups.items()}
    other = es.Suite(turned, aggregate, groups=groups).compare(n_resamples=99)
    assert (one.test, one.adjustment) == (other.test, other.adjustment)
    assert sorted(one.signatures) == sorted(other.signatures)
    renamed = {replace(d, task=called.get(d.task, d.task)) for d in one}
    assert renamed == set(other)
    moved = {replace(e, task=called.get(e.task, e.task)) for e in one.estimates}
    assert moved == set(other.estimates)


@pytest.mark.parametrize("order", ["runs plain", "plain runs"])
def test_the_last_of_unlike_tasks_decides_neither_test_nor_adjustment(order):
    rng = np.random.default_rng(1)
    tasks = {
        "runs": extract_runs({s: list(rng.normal(size=(3, 20))) for s in "ABC"}, metrics=COST),
        "plain": es.extract({s: rng.normal(size=20) for s in "ABC"}, metric=COST),
    }
    result = es.Suite({name: tasks[name] for name in order.split()}).compare(n_resamples=99)
    assert (result.test, result.adjustment) == ("bootstrap", "max-t")


def test_the_order_of_tasks_does_not_name_a_total_of_several_metrics():
    """Defect: the name of such a total, and with it its signature, followed the order of tasks."""
    rng = np.random.default_rng(3)
    tasks = {
        name: es.extract({s: rng.normal(size=n) for s in "AB"}, metric=es.Mean(name))
        for name, n in (("wit", 30), ("charm", 20))
    }
    one, other = (
        es.Suite({t: tasks[t] for t in order}, "macro").compare(**FEW)
        for order in (["wit", "charm"], ["charm", "wit"])
    )
    assert set(one.totals) == set(other.totals)
    assert one.signature_of(one.totals[0]) == other.signature_of(other.totals[0])
    assert one.totals[0].metric == "charm + wit"


def test_several_systems_have_max_t_within_tasks_and_holm_over_them():
    rng = np.random.default_rng(9)
    scores = [{f"s{i}": rng.normal(0.3 * i, size=60) for i in range(6)} for _ in range(3)]
    tasks = {x: es.extract(s, metric=es.Mean("mark")) for x, s in zip("xyz", scores, strict=True)}
    result = es.Suite(tasks).compare(n_resamples=199)
    assert result.adjustment == "max-t"
    alone = [d for t in tasks.values() for d in es.compare(t, n_resamples=199)]
    # The largest gap of each task has the smallest p-value there can be, times three tasks.
    least = min(d.pvalue_adjusted for d in alone)
    assert min(d.pvalue_adjusted for d in result.rows) == pytest.approx(3 * least)
    for d, own in zip(result.rows, alone, strict=True):
        assert own.pvalue_adjusted <= d.pvalue_adjusted <= 3 * own.pvalue_adjusted + 1e-12
    assert result.totals[0].pvalue_adjusted >= result.totals[0].pvalue
    assert {result.adjusted.factor(d) for d in result.rows} == {3}
    assert {result.adjusted.factor(d) for d in result.totals} == {1}
    assert "by max-T within each task, Holm's method over the tasks" in " ".join(result.notes)


def test_rows_and_totals_can_be_asked_for(compared):
    assert compared["law", "acc", "B", "A"] is compared["law", "B"] is compared[1]
    asked = compared.difference
    assert asked("acc", "B", "A", "law") is asked(task="law") is compared[1]
    assert compared["B"] is compared["acc", "B"] is asked() is compared.totals[0]
    scores = compared.estimates
    assert scores["B"] is scores["macro", "acc", "B"] is scores[-1]
    assert compared.estimates[0].to_text(findings=False).startswith("physics: acc ↑")
    assert "law: B − A, acc" in compared.rows[1]._repr_html_()
    refuses("task must be one of physics, law, history, all 3 tasks; got", asked, task="x")
    refuses("system must be one of A, B; got 'law'", scores.__getitem__, "law")


def test_every_question_works_on_tasks_and_totals():
    """What is said of a task is what its own comparison says; of the total, that of strata."""
    tasks = accuracies(shares=(0.5, 0.6, 0.75))
    result = es.Suite(tasks).compare(**FEW, adjustment="holm")
    law = es.compare(tasks["law"], **FEW, adjustment="holm")
    for question in (
        lambda c, **task: c.power(0.05, **task).pairs,
        lambda c, **task: c.influence("acc", "B", "A", **task).values,
        lambda c, **task: [(r.system, r.rank, r.probability_first) for r in c.ranking(**task)],
        lambda c, **task: c.joint("B", "A", **task).pvalue,
    ):
        assert question(result, task="law") == question(law)
    ranking = result.ranking()
    assert (ranking.task, [r.system for r in ranking]) == ("all 3 tasks", ["C", "B", "A"])
    found = result.influence(system="C", baseline="A")
    labels = [name for name, table in sorted(tasks.items()) for _ in range(table.n_segments)]
    values = np.concatenate([t.values for _, t in sorted(tasks.items())], axis=1)
    whole = es.SegmentStatistics(values, tuple("ABC"), ACC)
    strata = es.compare(whole, strata=labels, aggregate="macro", **FEW)
    assert found.values == strata.influence(system="C", baseline="A").values
    assert {name.partition(":")[0] for name in found.ids} == set(tasks)
    assert result.power(0.05)[0].power == strata.power(0.05)[0].power
    claim = result.joint("C", "A", task=list(tasks))
    pairs = [d for d in result.rows if (d.system, d.baseline) == ("C", "A")]
    assert claim.pvalue == max(d.pvalue / 2 for d in pairs)
    assert claim.metrics == tuple(f"{task}: acc" for task in tasks)


def marks(values, metric=ACC, systems=("A", "B")):
    return es.extract(dict(zip(systems, values, strict=True)), metric=metric)


LAW, TWO = TASKS["law"], marks([[1, 0]] * 2)


@bad_cases(
    ([LAW], {}, "tasks must be a mapping from names"),
    ({}, {}, "tasks is empty"),
    ({"": LAW}, {}, "name of a task must be non-empty"),
    ({"x": [1, 0]}, {}, r"tasks\['x'\] must be SegmentStatistics or a list"),
    ({"x": TWO, "y": marks([[1, 0]] * 2, systems=("A", "C"))}, {},
     "same systems, but task 'y' lacks 'B'"),
    (TASKS, {"aggregate": "mean"}, "aggregate must be 'micro', 'macro' or a mapping"),
    (TASKS, {"aggregate": len}, "aggregate must be 'micro', 'macro' or a mapping from tasks"),
    (TASKS, {"aggregate": {"law": 1}}, "lacks the task 'physics'; pass one weight for each task"),
    (TASKS, {"aggregate": dict.fromkeys([*SIZES, "x"], 1)}, "has the unknown task 'x'"),
    ({"x": LAW, "y": costs()["law"]}, {"aggregate": "macro"},
     r"metrics with the same direction, but higher is better for only one of acc \(task 'x'\) and cost \(task 'y'\)"),
    ({"x": LAW, "y": marks([[1, 0]] * 2, es.Mean("f1"))}, {"aggregate": "micro"},
     "'micro' requires the same metric"),
    (TASKS, {"aggregate": dict.fromkeys(SIZES, 0)}, "weights .* above 0"),
    (TASKS, {"groups": [1, 2]}, "groups must be a mapping"),
    (TASKS, {"groups": {"maths": [1]}}, "groups contains the unknown task 'maths'"),
    (TASKS, {"groups": {"law": "ab"}}, r"groups\['law'\] must be a list of labels"),
    error=(InputError, InputTypeError),
)  # fmt: skip
def test_bad_tasks(tasks, options):
    es.Suite(tasks, **options)


ONE = {"x": marks([[1.0], [0.0]]), **TASKS}


@cases(
    (TASKS, {"groups": {"law": [1]}}, {}, "task 'law': .*groups"),
    (ONE, {}, {}, "task 'x': at least 2"),
    (TASKS, {}, {"baseline": "C"}, "baseline must be one of A, B"),
    (
        TASKS,
        {},
        {"strata": "x"},
        "strata is not an option of a suite .*; the options",
    ),
    (TASKS, {}, {"method": "bca"}, "method must be one of bootstrap, t; got 'bca'"),
)
def test_bad_options(tasks, made, options, message):
    suite = es.Suite(tasks, **made)
    with pytest.raises((InputError, InputTypeError), match=message):
        suite.compare(**options)
    with pytest.raises(InputTypeError, match="margin is not an option of a suite"):
        suite.estimate(margin=1)


def test_figures_have_a_row_a_task_and_the_total_below(compared):
    pytest.importorskip("matplotlib").use("Agg")
    axes = compared.plot()
    shown = [text.get_text() for text in axes.texts]
    assert [text for text in shown if text in (*SIZES, "all 3 tasks")] == [*SIZES, "all 3 tasks"]
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    points = sorted((float(line.get_ydata()[0]), float(line.get_xdata()[0])) for line in lines)
    assert [x for _, x in points] == [d.difference for d in compared]
    assert {"●", "A", "■", "B"} <= {text.get_text() for text in compared.plot_scores().texts}
    wide = es.Suite(accuracies(sizes={f"t{i}": 4 for i in range(121)})).compare(n_resamples=9)
    refuses("122 rows are too many", wide.plot)


def test_planning_without_derivatives_asks_the_replicates():
    class Flat(es.Ratio):
        def gradient(self, totals):
            return np.full(np.shape(totals), np.nan)

    rng = np.random.default_rng(9)
    flat = Flat("flat")
    values = [np.stack([rng.normal(size=(2, 40)), np.ones((2, 40))], axis=-1) for _ in range(2)]
    tasks = {
        t: es.SegmentStatistics(v, list("AB"), flat) for t, v in zip("xy", values, strict=True)
    }
    # Of one task what was drawn is kept.
    alone = es.compare(tasks["x"], **FEW).power(difference=0.5)
    of_suite = es.Suite(tasks).compare(**FEW).power(task="x", difference=0.5)
    assert [p.needed for p in of_suite] == [p.needed for p in alone]
