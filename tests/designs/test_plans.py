"""Systems that were run on a drawn part of the items: the difference estimator's totals."""

import json
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import evalstats as es
from evalstats.data import load_sample
from evalstats.designs.plans import Planned, drawn, penalty, probabilities, residual_squares
from tests.helpers import refuses

SOLVED = es.Mean("solved")


def agents(k=5, n=400, seed=0):
    """Return 0/1 scores of k agents and a newer one, of which the same tasks are hard."""
    rng = np.random.default_rng(seed)
    right = 1 + 2 * rng.normal(size=n) + rng.normal(size=(k + 1, n)) > 0
    *earlier, new = right.astype(float)
    return {f"agent {i}": of for i, of in enumerate(earlier)}, new


def of_plan(plan, scores):
    places = set(plan.drawn)
    return [x if i in places else None for i, x in enumerate(scores)]


def test_totals_are_unbiased_over_all_samples_whatever_is_expected():
    """All 20 samples of 3 of 6, each with π = 1/2, for two systems that were and were not run."""
    rng = np.random.default_rng(1)
    earlier = {name: rng.normal(size=6) for name in "ab"}
    new, old = rng.normal(size=(2, 6))
    plan = es.plan(earlier, metrics=es.Mean("m"), n=3)
    for weight in ((0.0, 0.0), (1.0, 0.0), (0.3, 0.9)):
        totals = []
        for sample in combinations(range(6), 3):
            own = replace(plan, drawn=sample)
            (table,) = own.data({"old": old, "new": of_plan(own, new)})
            totals.append(replace(table.metric, weight=weight).totals(table.totals))
        assert np.mean(totals, axis=0) == pytest.approx(np.array([[old.sum(), 6], [new.sum(), 6]]))


def test_units_are_drawn_as_probably_as_is_said_and_strata_have_their_part():
    chances = probabilities(np.ones(7), 4, np.array([0.0, 0, 1, 2, 3, 4, 500]))
    assert chances.sum() == pytest.approx(4)
    assert np.ptp(chances[:2]) == 0 < chances[0] < chances[-2] < chances[-1] == 1
    starts, strata = (np.arange(1000) + 0.5) / 1000, np.array([0, 1, 0, 1, 0, 1, 0])
    for seed in range(3):
        order, counts = np.random.default_rng(seed).random(7), np.zeros(7)
        for start in starts:
            stream = iter((order, start))
            got = drawn(chances, strata, SimpleNamespace(random=lambda n=0, of=stream: next(of)))
            counts[got] += 1
            assert len(got) == 4
            assert abs(np.isin(got, [0, 2, 4, 6]).sum() - chances[::2].sum()) < 1
        assert counts / 1000 == pytest.approx(chances, abs=0.0011)


@pytest.mark.parametrize(("n", "squares"), [(3, [1.0, 2, 3]), (3, [1.0, 9, 4]), (4, [0, 900, 1])])
def test_groups_are_drawn_by_the_residuals_of_an_item_and_n_items_in_the_mean(n, squares):
    """The variance Σ e²/π for n items, Σ π·size, is smallest with π by √(e²/size)."""
    sizes = np.array([1.0, 3, 2])
    chances = probabilities(sizes, n, np.array(squares))
    assert chances @ sizes == pytest.approx(n)
    best = np.sqrt(squares / sizes)
    mixed, is_free = 0.25 / 6 + 0.75 * best / (best @ sizes), chances < 1
    assert np.ptp((chances / mixed)[is_free]) == pytest.approx(0)
    assert all((chances / mixed)[is_free] >= n / sizes.sum())


def test_residuals_are_believed_as_far_as_they_say_what_others_will_be():
    """Regressed on those of six systems the true ones have a slope of 1, noise one of 0."""
    rng, n = np.random.default_rng(4), 20_000
    for true in (np.where(np.arange(n) % 2, 1.6, 0.4), np.ones(n)):
        scores = rng.normal(size=(6, n)) * np.sqrt(true)
        values = np.stack([scores, np.ones_like(scores)], axis=2)
        squares = residual_squares(es.Ratio("m"), values)
        assert np.mean(squares) == pytest.approx(1)
        ((of_true, both), (_, of_squares)) = np.cov(true, squares)
        if of_true:
            assert both / of_squares == pytest.approx(1, abs=0.05)
        else:
            assert of_squares < 0.01


def test_a_draw_of_so_many_adds_what_its_size_does_not_explain():
    """The smallest Σ(1 - π)/π·(e - πB)² of all B; of equal chances that about the mean."""
    rng = np.random.default_rng(5)
    residual, chances = rng.normal(1, 1, 9), rng.uniform(0.1, 0.9, 9)
    roots = np.sqrt((1 - chances) / chances)
    _, left, *_ = np.linalg.lstsq((roots * chances)[:, None], roots * residual, rcond=None)
    assert penalty(residual, chances) == pytest.approx(left[0])
    assert penalty(np.array([1.0, 2, 3]), np.full(3, 0.5)) == pytest.approx(2)
    assert penalty(residual, np.ones(9)) == 0


@pytest.mark.parametrize(("how", "k"), [("equal", 3), ("active", 4), ("active", 3)])
def test_what_a_plan_is_worth_to_a_system_is_told_by_the_others_alone(how, k):
    """Three others tell which items are hard; where there are two, the plan's own chances hold."""
    earlier, _ = agents(k, 200)
    earlier["agent 0"] *= 3  # as much as others tell at most is taken away
    plan = es.plan(earlier, metrics=SOLVED, n=60, how=how)
    for one in plan.left_out:
        others = {name: of - of.mean() for name, of in earlier.items() if name != one.system}
        own = earlier[one.system] - earlier[one.system].mean()
        chances = np.array(plan.chances)
        if k == 4:
            unseen = {name: of for name, of in earlier.items() if name != one.system}
            chances = np.array(es.plan(unseen, metrics=SOLVED, n=60, how=how).chances)
        expected = np.mean(list(others.values()), axis=0)
        left = penalty(own - min(own @ expected / (expected @ expected), 1) * expected, chances)
        apart = [own @ own, *(np.sum((own - of) ** 2) for of in others.values())]
        score, *differences = [200 * there / (there + left) for there in apart]
        assert (one.score, one.difference) == pytest.approx((score, np.mean(differences)))
    (worth,) = plan.worth.values()
    means = np.mean([(one.score, one.difference) for one in plan.left_out], axis=0)
    assert (worth.score, worth.difference) == pytest.approx(tuple(means))


def test_of_all_items_it_is_the_comparison_without_a_plan():
    earlier, new = agents()
    systems = {"agent 0": earlier["agent 0"], "new": new}
    expected = es.compare(systems, metrics=SOLVED)
    for plan in (es.plan(earlier, metrics=SOLVED, n=400), es.plan(earlier, metrics=SOLVED, n=40)):
        found = es.compare(plan.data(systems))
        assert (found.differences, found.notes) == (expected.differences, expected.notes)
    assert es.plan(earlier, metrics=SOLVED, n=400).items == tuple(range(400))


def test_a_difference_is_that_of_the_difference_estimator():
    """And its error that of two samples: what was run, and what was not."""
    earlier, new = agents(2)
    plan = es.plan(earlier, metrics=SOLVED, n=100)
    (table,) = plan.data({"old": earlier["agent 1"], "new": of_plan(plan, new)})
    table = replace(table, metric=replace(table.metric, weight=(0.6, 0.2)), metric_signature="")
    (d,) = es.compare(table, method="t").differences
    run = np.isin(np.arange(400), plan.drawn)
    old, first = earlier["agent 1"], np.mean(list(earlier.values()), axis=0)
    expected = 0.6 * first + 0.2 * old
    rows = expected + np.where(run, 4 * (new - expected), 0)
    # The number of items is known but for the part 1 - 0.8 that nothing expects.
    assert d.difference == pytest.approx(rows.mean() - old.mean())
    level = 0.8 + np.where(run, 4 * 0.2, 0)
    apart = rows - rows.mean() * level - (old - old.mean())
    variance = sum(n * apart[of].var(ddof=1) for of, n in ((run, 100), (~run, 300)))
    assert d.standard_error == pytest.approx(variance**0.5 / 400)


def test_the_weights_are_those_of_the_smallest_error():
    earlier, new = agents()
    plan = es.plan(earlier, metrics=SOLVED, n=100)
    (table,) = plan.data({"old": earlier["agent 1"], "new": of_plan(plan, new)})

    def error(weight=None):
        one = replace(table, metric=replace(table.metric, weight=weight), metric_signature="")
        return es.compare(one, method="t").differences[0].standard_error

    others = [(a, b) for a in np.linspace(0, 1, 11) for b in np.linspace(0, 1, 11)]
    assert error() <= min(map(error, others)) + 1e-12


def said_items(result):
    return float(str(result).split("had been run on ")[1].split(" ")[0].replace(",", ""))


def test_what_it_is_worth_is_said_before_and_after():
    earlier, new = agents(8, 2000, 3)
    plan = es.plan(earlier, metrics=SOLVED, n=500)
    (table,) = plan.data({"old": earlier["agent 1"], "new": of_plan(plan, new)})
    result = es.compare(table, method="t")
    apart = (new - earlier["agent 1"])[list(plan.drawn)]
    worth = apart.var(ddof=1) / result.differences[0].standard_error ** 2
    # What was not run is no label of people.
    assert not any("label" in note for note in result.power(difference=0.05).notes)
    (note,) = result.notes
    said = "solved: new was run on 500 of 2,000 segments. Its estimated difference is as precise "
    assert note.startswith(said)
    assert 550 < said_items(result) == pytest.approx(worth, rel=0.02)
    assert plan.worth["solved"].difference == pytest.approx(worth, rel=0.2)
    # Noise counts as what was run.
    rng = np.random.default_rng(0)
    noise = es.plan({name: rng.random(2000) for name in "abc"}, metrics=SOLVED, n=100)
    assert noise.worth["solved"].score == pytest.approx(100, rel=0.02)
    alone = es.plan(new, metrics=SOLVED, n=100)
    assert alone.to_text().startswith("The precision of 100 of 2,000 items cannot be predicted")
    assert alone._tables() == []


def test_a_revision_counts_no_fewer_items_than_it_was_run_on():
    """Others say little of it, and the system that it revises much."""
    earlier, other = agents(seed=5)
    old = earlier["agent 1"]
    new = np.where(np.random.default_rng(5).random(400) < 0.9, old, other)
    plan = es.plan(earlier, metrics=SOLVED, n=100)
    assert said_items(es.compare(plan.data({"old": old, "new": of_plan(plan, new)}))) >= 99


def test_items_that_are_alike_count_as_one_and_right_ones_as_no_more_than_they_are():
    """Five times as many items, which are drawn in fives, are worth five times as many."""
    earlier, new = agents(3, 200)
    found = []
    for times in (1, 5):
        systems = {name: np.repeat(of, times) for name, of in earlier.items()}
        groups = np.repeat(np.arange(200), times) if times > 1 else None
        plan = es.plan(systems, metrics=SOLVED, n=80 * times, groups=groups)
        both = {"old": systems["agent 1"], "new": of_plan(plan, np.repeat(new, times))}
        found.append(said_items(es.compare(plan.data(both), groups=groups, method="t")))
    assert found[1] == pytest.approx(5 * found[0], rel=0.01)
    # What is right throughout says nothing of how scores vary.
    plan = es.plan(earlier, metrics=SOLVED, n=80)
    right = es.estimate(plan.data({"new": of_plan(plan, np.ones(200))}))
    assert said_items(right) == 80
    assert "only 80 segments were run. Below 100" in str(right)
    assert "λ = 0.00 for predictions from earlier systems" in str(right)


def test_weights_totals_and_directions():
    """λ is at most 1, that of parts their mean by size; counts are no fewer than none."""
    f = np.random.default_rng(6).normal(size=400)
    plan = es.plan({"a": f, "b": f + 0.001 * f[::-1]}, metrics=SOLVED, n=100)
    assert "λ = 1.00 for predictions from earlier" in str(
        es.estimate(plan.data({"new": of_plan(plan, 2 * f)}))
    )
    parts = [Planned(SOLVED, weight) for weight in ((1.0, 0.0), (0.0, 0.0))]
    assert parts[0].pooled(parts, [30, 10]).weight == (0.75, 0.0)
    for metric, least in ((es.BLEU(), 0), (SOLVED, -2), (es.Mean("e", higher_is_better=False), -2)):
        planned = Planned(metric)
        assert planned.totals(-np.ones(1 + 3 * len(metric.columns))) == pytest.approx(least)
        assert planned.higher_is_better == metric.higher_is_better


def test_groups_are_drawn_whole_and_strata_each():
    earlier, new = agents()
    documents, domains = [f"d{i // 5}" for i in range(400)], ["x"] * 300 + ["y"] * 100
    plan = es.plan(earlier, metrics=SOLVED, n=200, groups=documents, strata=domains, how="active")
    others = {documents[i] for i in range(400) if i not in plan.drawn}
    assert others.isdisjoint(documents[i] for i in plan.drawn)
    data = plan.data({"old": earlier["agent 1"], "new": of_plan(plan, new)})
    result = es.compare(data, groups="group", strata="stratum", aggregate="macro")
    assert result.differences[0].n_units == 80
    assert not any("below" in note for note in (*plan.notes, *result.notes))  # of 40 groups
    with pytest.raises(es.InputError, match="its items were drawn within each stratum"):
        es.compare(data, groups="group", strata=(["x"] * 5 + ["y"] * 5) * 40)
    for wrong in ({"strata": "stratum"}, {"groups": [i // 3 for i in range(400)]}):
        refuses(r"groups must be the groups of the plan \(group\)", es.compare, data, **wrong)
    few = es.plan(earlier, metrics=SOLVED, n=200, strata=["x"] * 398 + ["y"] * 2)
    data_of_few = few.data({"old": earlier["agent 1"], "new": of_plan(few, new)})
    with pytest.raises(
        es.InputError, match=r"at least 2 items were run in each stratum, but 'y' has only 1"
    ):
        es.compare(data_of_few, strata="stratum", aggregate="macro")
    # Defect: they were pooled in silence.
    said = r"strata is required, .*stratum; pass strata='stratum'"
    refuses(said, es.compare, data, groups="group")


def test_texts_logs_questions_and_several_new_systems():
    sample = load_sample()
    base, *others = sample.systems
    plan = es.plan(sample.systems, sample.references, ["bleu", "chrf"], n=160, how="active", rng=2)
    parts = {name: of_plan(plan, sample.systems[name]) for name in others}
    data = plan.data({base: sample.systems[base], **parts}, sample.references)
    result = es.compare(data, baseline=base, n_resamples=499)
    assert (
        f"{', '.join(others)} were run on 160 of 480 segments. Their estimated diff"
        in result.notes[0]
    )
    whole = es.compare(sample.systems, sample.references, ["bleu", "chrf"], baseline=base)
    for one, other in zip(result, whole, strict=True):
        assert abs(one.difference - other.difference) < 3 * one.standard_error + 1e-9
    assert es.compare(data, n_resamples=99).ranking()
    assert len(result.by(["a", "b"] * 240)) == 18
    two = plan.data({base: sample.systems[base], "new": parts[others[-1]]}, sample.references)
    assert es.gate(two, baseline=base, margin=5, n_resamples=99).verdict == "passed"
    refuses("drawn from all items together", es.compare, data, strata=sample.documents)
    refuses("metric must be", es.SequentialTest(480).look, two[0], base)
    alone, said = {base: sample.systems[base]}, "references that the plan was created with"
    refuses(f"references must be the {said}", plan.data, alone, sample.references[::-1])
    # What stands for an output that is not there is none, even if it is empty.
    parts["copy"][plan.drawn[0]] = ""
    (few,) = plan.data(parts, sample.references)[0].cautions["copy"]
    assert few.kind == "few empty"
    # Of the outputs that are there half are empty.
    for i in plan.drawn[::2]:
        parts["copy"][i] = ""
    data = plan.data({base: sample.systems[base], **parts}, sample.references)
    cautions = [(name, x.kind) for name, several in data[1].cautions.items() for x in several]
    assert cautions == [("copy", "empty")]
    data = plan.data({base: sample.systems[base], "new": parts["copy"]}, sample.references)
    gate = es.gate(data, baseline=base, margin=90, n_resamples=99)
    assert gate.verdict == "undecided"


def test_items_with_ids_may_come_in_any_order_and_no_others():
    earlier, new = agents(3, 40)
    ids = [f"q{i}" for i in range(40)]
    plan = es.plan(es.extract(earlier, metric=SOLVED, segment_ids=ids), n=12)
    assert plan.items == tuple(f"q{i}" for i in plan.drawn)
    places = plan.drawn[::-1]
    names = [ids[i] for i in places]
    part = es.extract({"new": new[list(places)]}, metric=SOLVED, segment_ids=names)
    old = es.extract({"old": earlier["agent 0"]}, metric=SOLVED, segment_ids=ids)
    (found,) = plan.data([old, part])
    (same,) = plan.data({"old": earlier["agent 0"], "new": of_plan(plan, new)})
    assert found.values.tolist() == same.values.tolist()
    odd = es.extract({"new": [1.0]}, metric=SOLVED, segment_ids=["q99"])
    refuses("statistics must have the plan.s 40 items; 'q99' is", plan.data, odd)
    refuses("got 39 rows", plan.data, es.extract({"new": new[:39]}, metric=SOLVED))


def test_a_plan_is_a_file_and_a_report(tmp_path):
    earlier, new = agents()
    plan = es.plan(earlier, metrics=SOLVED, n=100, rng=3)
    plan.save(tmp_path / "plan.json")
    found = es.Plan.load(tmp_path / "plan.json")
    assert found == plan == es.plan(earlier, metrics=SOLVED, n=100, rng=3)
    assert plan.items != es.plan(earlier, metrics=SOLVED, n=100, rng=4).items
    assert plan.notes == ()
    systems = {"old": earlier["agent 1"], "new": of_plan(plan, new)}
    assert found.data(systems) == plan.data(systems)
    assert len(plan.to_csv().splitlines()) == 101
    plan.report(tmp_path / "plan.html")
    assert "give the precision of" in (tmp_path / "plan.html").read_text("utf-8")
    fields = json.loads(plan.to_json())
    for wrong, said in (
        ({"drawn": [0, 0]}, "must have a value for each of its 400 items"),
        ({"drawn": [400]}, "must have a probability above 0"),
        ({"chances": [0.0] * 400}, "must have a probability above 0"),
        ({"expected": [fields["expected"][0] | {"sums": [[1.0]] * 400}]}, "must have 2 each"),
        ({"chances": [0.5]}, "must have a value for each"),
        ({"how": "odd"}, "how must be one of"),
        (
            {"chances": [0.5] * 400},
            "probabilities must sum to 100, the number of drawn items",
        ),
        ({"ids": ["a", "a", *map(str, range(398))]}, "ids of a plan must be unique"),
        ({"unit": "[" * 100_000}, "unit must"),
        ({"expected": [fields["expected"][0] | {"metric": "[" * 100_000}]}, ""),
        ({"expected": [fields["expected"][0] | {"sums": [[1.0, 1.0]] * 399 + [[1.0]]}]}, ""),
    ):
        (tmp_path / "odd.json").write_text(json.dumps({**fields, **wrong}))
        refuses(f"cannot load .*which must be a plan.*{said}", es.Plan.load, tmp_path / "odd.json")
    with pytest.raises(es.InputError, match="metrics must be the metrics of the plan,"):
        es.Plan.load(tmp_path / "plan.json", [es.Mean("other")])


def test_what_cannot_be_planned_is_said():
    plan = es.plan(agents()[0], metrics=SOLVED, n=100)
    both_run = plan.data({name: of_plan(plan, of) for name, of in agents(2)[0].items()})
    assert "solved: agent 0, agent 1 were run on 100" in es.compare(both_run).notes[0]
    lacking = es.SegmentStatistics([[[1, 1], [0, 0], [0, 1]] * 40], ["a"], SOLVED)
    alike, twins = dict.fromkeys("abc", [0.1] * 400), dict.fromkeys("ab", [0.0, 1.0] * 200)
    for change, match in (
        ({"n": 401}, "n must be"),
        ({"n": 1}, "n must be"),
        ({"earlier": both_run, "metrics": None}, "earlier must have one score per item,"),
        ({"how": "odd"}, "how must be one of"),
        ({"earlier": {"a": [1.0] * 400}, "how": "active"}, "how: 'active' requires at least 3"),
        ({"earlier": lacking, "metrics": None}, "earlier must have been .*was not run on item 1"),
        ({"earlier": {"a": [[1.0] * 400, [0.0] * 400]}}, "earlier must have one score per item,"),
        ({"earlier": alike, "how": "active"}, "earlier: the systems are identical or have the"),
        ({"earlier": twins}, r"\(solved\), so the precision"),
        ({"groups": {"a": [0, 1] * 200, "b": [0, 0, 1, 1] * 100}}, "groups"),
    ):
        given = {"earlier": agents()[0], "metrics": SOLVED, "n": 100, **change}
        refuses(match, es.plan, **given)
    # Whoever gives scores without texts reads of items, not of segments, in all of a plan.
    alone = es.plan({"a": [1.0, 0.0] * 200}, metrics=SOLVED, n=50)
    assert alone.notes == (
        "Only 50 items are drawn. Below 100, intervals and p-values are only approximate.",
    )
    said = "The precision of 50 of 400 items cannot be predicted from only one earlier system."
    assert alone._said() == [said]


def test_systems_were_run_on_all_items_or_on_those_of_the_plan():
    earlier, new = agents()
    plan = es.plan(earlier, metrics=SOLVED, n=100)
    other = next(i for i in range(400) if i not in plan.drawn)
    for change, match in (
        ({plan.drawn[0]: None}, f"'new' is missing item {plan.drawn[0]}, which was drawn"),
        ({other: 1.0}, f"'new' was run on item {other}, which was not drawn"),
    ):
        part = [change.get(i, x) for i, x in enumerate(of_plan(plan, new))]
        refuses(match, plan.data, {"new": part})
    refuses("must have 400 outputs", plan.data, {"new": new[:9]})
    with pytest.raises(es.InputError, match=r"metrics must be the metrics of the plan \(solved\)"):
        plan.data(es.extract({"new": new}, metric=es.Mean("other")))
    refuses(r"requires the plan; use Plan\.data", es.extract, {"new": new}, metric=Planned(SOLVED))


def test_the_command_line_draws_a_plan_and_compares_with_it(tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    earlier, new = agents(3)
    for i, scores in enumerate(earlier.values()):
        rows = [f"q{j},{x:g}" for j, x in enumerate(scores)]
        (tmp_path / f"{'abc'[i]}.csv").write_text("\n".join(["id,score", *rows]))
    typed("plan", "a.csv", "b.csv", "c.csv", "--items", "100", "-o", "plan.json")
    plan = es.Plan.load("plan.json")
    rows = [f"{name},{new[int(name[1:])]:g}" for name in plan.items]
    (tmp_path / "new.csv").write_text("\n".join(["id,score", *rows]))
    with_plan = ("new.csv", "--plan", "plan.json", "--resamples", "99")
    refuses("must be a plan from 'evalstats plan", es.Plan.load, "a.csv")
    out = typed("compare", "a.csv", *with_plan)
    assert "new was run on 100 of 400 items" in out
    for words in (("gate", "--baseline", "a.csv", "--margin", "0.5"), ("estimate",)):
        assert "run on 100 of 400" in (typed(words[0], *with_plan, *words[1:]))
    for name, of in zip("xyz", earlier.values(), strict=True):
        (tmp_path / f"{name}.txt").write_text("".join(f"{x:g} a b\n" for x in of))
    of_texts = ("-r", "z.txt", "-m", "wer", "-i", "x.txt")
    typed("plan", *of_texts, "y.txt", "--items", "100", "-o", "texts.json")
    places = es.Plan.load("texts.json").drawn
    lines = [f"{new[i]:g} a b\n" if i in places else " \n" for i in range(400)]
    (tmp_path / "new.txt").write_text("".join(lines))  # of a blank line there is no output
    printed = typed("compare", *of_texts, "new.txt", "--plan", "texts.json")
    assert "new was run on 100 of 400" in printed
    said = "All systems were run on all 400 items, so --plan plan.json has no"
    assert said in typed("compare", "a.csv", "b.csv", *with_plan[1:])
    assert said not in out


def test_a_plan_of_no_items_is_refused():
    """Groups of 40 of which 2 items were asked for: mostly none is drawn."""
    rng = np.random.default_rng(0)
    earlier = {name: rng.random(400).tolist() for name in "ab"}
    asked = {"metrics": es.Mean("m"), "n": 2, "groups": [i // 40 for i in range(400)], "rng": 1}
    refuses("n must be at least 80, because groups have up to 40", es.plan, earlier, **asked)
