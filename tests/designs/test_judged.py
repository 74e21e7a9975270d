"""Human labels of some segments correct a judge's of all: prediction-powered inference."""

import re

import numpy as np
import pytest

import evalstats as es
from evalstats.analysis.design import as_units
from evalstats.designs.judges import drawn_apart
from evalstats.statistics.interchange import made_by, rebuilt
from tests.conftest import first
from tests.helpers import cases, refuses

#: Resamples, where no number depends on how many there are.
FEW = {"n_resamples": 199}


def paired(judge, people):
    """Return (the judge's, people's) of each segment, people's None where NaN."""
    return [(a, None if np.isnan(b) else b) for a, b in zip(judge, people, strict=True)]


def scores(n=2_200, labelled=200, seed=3):
    """Return human scores, a judge's, and which of people's are known."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=n)
    judge = 0.8 * people + 0.6 * rng.normal(size=n) + 0.3
    known = np.zeros(n, dtype=bool)
    known[rng.permutation(n)[:labelled]] = True
    return people, judge, known


def of_some(values, known):
    return [float(v) if k else None for v, k in zip(values, known, strict=True)]


def test_the_mean_with_a_weight_is_that_of_the_formula():
    """m(H) + λ(m(F) - m(F_H)), and its variance, that of H - λF_H over n and of λF over N."""
    people, judge, known = scores()
    weight, n, others = 0.6, 200, 2_000
    pairs = {"A": paired(judge, np.where(known, people, np.nan))}
    table = es.extract(pairs, metric=es.Judged(es.Mean("quality"), weight))
    found = es.estimate(table, method="t")
    rest = people[known] - weight * judge[known]
    expected = rest.mean() + weight * judge[~known].mean()
    error = (rest.var(ddof=1) / n + weight**2 * judge[~known].var(ddof=1) / others) ** 0.5
    assert found.score == pytest.approx(expected, abs=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-12)


def test_the_weight_and_the_mean_are_those_of_ppi_py():
    """ppi_py 0.2.3 on the same numbers: ppi_mean_pointestimate, and with lam=1."""
    people, judge, known = scores()
    human = of_some(people, known)
    found = es.estimate(judge, metric=es.Mean("quality"), human=human, method="t")
    assert found.score == pytest.approx(0.01456601, abs=1e-4)
    assert (found.low, found.high) == pytest.approx((-0.06962009, 0.09875211), abs=1e-3)
    pairs = {"A": paired(judge, np.where(known, people, np.nan))}
    table = es.extract(pairs, metric=es.Judged(es.Mean("quality"), 1))
    assert float(table.scores[0]) == pytest.approx(0.03075298, abs=1e-8)


def test_the_gradient_is_the_derivative():
    rng = np.random.default_rng(1)
    inner = es.Confusion([0, 1, 2], "macro-f1")
    metric = es.Judged(inner, 0.7)
    gold, judge, output = rng.integers(3, size=(3, 300))
    people = [int(x) if i < 60 else None for i, x in enumerate(gold)]
    rows = metric.statistics(output.tolist(), list(zip(judge.tolist(), people, strict=True)))
    totals = rows.sum(axis=0)
    plain = super(es.Judged, metric).gradient(totals)
    assert metric.gradient(totals) == pytest.approx(plain, abs=1e-8)
    h, f, others = (
        inner.score(inner.statistics(output[at].tolist(), labels[at].tolist()).sum(axis=0))
        for labels, at in ((gold, slice(60)), (judge, slice(60)), (judge, slice(60, None)))
    )
    assert float(metric.score(totals)) == pytest.approx(float(h + 0.7 * (others - f)), abs=1e-12)


def biased(seed, n=600, labelled=120):
    """Return grades of two systems by a judge that likes B, and people's of some, both as good."""
    rng = np.random.default_rng(seed)
    right = rng.random((2, n)) < 0.7
    likes = np.array([[0.1], [0.4]])
    judge = np.where(right, rng.random((2, n)) < 0.95, rng.random((2, n)) < likes).astype(float)
    known = np.zeros(n, dtype=bool)
    known[rng.permutation(n)[:labelled]] = True
    human = {name: of_some(x, known) for name, x in zip("AB", right, strict=True)}
    return dict(zip("AB", judge, strict=True)), human


def test_the_bias_of_a_judge_cancels():
    """Of 40 pairs of equal systems the judge finds most different, and both together some 5%.

    That 7 of 40 or more are found at a rate of 7 % has probability .025.
    """
    by_judge = by_both = 0
    options = {"metrics": es.Mean("pass"), "method": "t", "executor": 1}
    for seed in range(40):
        judge, human = biased(seed, n=300, labelled=60)
        by_judge += es.compare(judge, **options)["B"].pvalue <= 0.05
        by_both += es.compare(judge, human=human, **options)["B"].pvalue <= 0.05
    assert by_judge >= 20
    assert by_both <= 6


def test_few_labels_are_told_and_one_is_refused():
    """Of two labels that agree with the judge nothing is left to vary: a note says how few."""
    judge, human = biased(1, labelled=99)
    assert any(
        note.startswith(
            "pass: there are only 99 labelled segments. Below 100, intervals and p-values are only approx"
        )
        for note in es.compare(judge, human=human, metrics=es.Mean("pass"), **FEW).notes
    )
    judge, human = biased(1, labelled=100)
    assert (
        "approximate"
        not in es.compare(judge, human=human, metrics=es.Mean("pass"), **FEW).to_text()
    )
    judge, human = biased(1, labelled=29)
    documents = [str(i) for i in range(600)]
    result = es.compare(judge, human=human, metrics=es.Mean("pass"), groups=documents, **FEW)
    said = (
        "pass: there are only 29 labelled groups. Below 30, intervals and p-values are only approx"
    )
    assert said in " ".join(result.notes)
    judge, human = biased(1, labelled=1)
    with pytest.raises(es.InputError, match="at least 2 segments of each system, got 1"):
        es.compare(judge, human=human, metrics=es.Mean("pass"))


def test_labels_and_others_are_drawn_apart_where_groups_are_one_of_the_two():
    judge, human = biased(2)
    pairs = list(zip(judge["A"].tolist(), human["A"], strict=True))
    table = es.extract({"A": pairs}, metric=es.Judged(es.Mean("pass")))
    labelled = np.array([x is not None for x in human["A"]])
    # Groups of two of one kind, and groups that hold both kinds.
    pure = np.empty(600, dtype=int)
    pure[np.argsort(labelled, kind="stable")] = np.arange(600) // 2
    is_labelled = [table.metric.labelled(table.values)]
    groups = {"none": None, "pure": pure, "mixed": np.arange(600) // 2}
    codes = {x: drawn_apart(as_units(600, of, None), is_labelled).codes for x, of in groups.items()}
    assert np.array_equal(codes["none"], labelled.astype(int))
    assert np.bincount(codes["pure"]).tolist() == [240, 60]
    assert codes["mixed"] is None


def test_labels_that_are_no_random_sample_are_told():
    judge, _ = biased(4)
    human = {x: [1.0 if y and i < 400 else None for i, y in enumerate(judge[x])] for x in judge}
    result = es.compare(judge, metrics=es.Mean("pass"), human=human, **FEW)
    assert any("differently from the others (p = " in note for note in result.notes)


@pytest.mark.parametrize(("chosen", "is_told"), [(True, True), (False, False)])
def test_labels_by_the_difference_are_told_and_a_rare_one_that_labels_miss_is_not(chosen, is_told):
    """Labels of items that B does better on leave both scores alike, and their difference not.

    Of 50 labels without any of the 20 items in 2,000 that differ nothing is to be said: so many
    random ones miss them in .60 of all draws.
    """
    rng = np.random.default_rng(5)
    level = rng.normal(size=2_000)
    first, second = rng.permutation(level), level + (np.arange(2_000) < 20)
    gain = second - level
    if chosen:
        first, second = 30 * level + rng.normal(size=(2, 2_000))
        gain = first - second
    known = np.isin(np.arange(2_000), np.argsort(gain, kind="stable")[:50])
    judge = {"A": first if chosen else level, "B": second}
    human = {name: of_some(values, known) for name, values in judge.items()}
    result = es.compare(judge, human=human, metrics=es.Mean("quality"), method="t")
    assert any("differently from the others (p = " in note for note in result.notes) == is_told


def partial(n=2_000, labelled=50, errors=0.0):
    """Return 0/1 scores by a judge that passes some for B wrongly, and people's of some."""
    rng = np.random.default_rng(7)
    right = (rng.random((2, n)) < 0.7).astype(float)
    known = rng.permutation(n) < labelled
    judge = right.copy()
    judge[1, ~known & (rng.random(n) < 0.04)] = 1.0
    judge[1, np.flatnonzero(known)[: round(errors * labelled)]] = 1.0
    return right, judge, known


@pytest.mark.parametrize("groups", [None, np.arange(2_000) // 2])
def test_one_label_more_shows_an_error_of_the_judge_of_0_1_scores(groups):
    """The squared error has that of Σ(h - λf)², and λ²/n² more, once for a difference too; t."""
    right, judge, known = partial()
    known = known if groups is None else known[groups * 2]
    human = {name: of_some(x, known) for name, x in zip("AB", right, strict=True)}
    judge = dict(zip("AB", judge, strict=True))
    metric = es.Judged(es.Mean("pass"), 0.8)
    pairs = {name: list(zip(judge[name].tolist(), human[name], strict=True)) for name in "AB"}
    result = es.compare(pairs, metrics=metric, groups=groups, **FEW)
    rest = (right - 0.8 * np.stack(list(judge.values())))[:, known]
    others = 0.8 * np.stack(list(judge.values()))[:, ~known]
    rest, others = (x if groups is None else x.reshape(2, -1, 2).mean(2) for x in (rest, others))

    def error(first, second):
        n, m = len(first), len(second)
        more = 0.8**2 / (n * (n - 1))
        return (first.var(ddof=1) / n + more + second.var(ddof=1) / m) ** 0.5

    both = error(rest[1] - rest[0], others[1] - others[0])
    assert result["B"].standard_error == pytest.approx(both, rel=1e-12)
    expected = [error(*x) for x in zip(rest, others, strict=True)]
    assert [e.standard_error for e in result.estimates] == pytest.approx(expected, rel=1e-12)
    assert result["B"].test == result["B"].method == result.estimates[0].method == "t"
    by_t = es.compare(pairs, metrics=metric, groups=groups, method="t")
    assert (by_t["B"].low, by_t["B"].pvalue) == (result["B"].low, result["B"].pvalue)


def test_labels_that_are_all_alike_leave_an_interval():
    """λ is 0, since no label says anything of it; one of n labels could have been otherwise."""
    judge, known = np.ones(300), np.arange(300) < 50
    found = es.estimate(judge, metric=es.Mean("pass"), human=of_some(judge, known), **FEW)
    assert found.standard_error == pytest.approx((50 * 49) ** -0.5)
    numbers = es.estimate(judge * 2, metric=es.Mean("q"), human=of_some(judge * 2, known), **FEW)
    assert numbers.standard_error == 0
    # A comparison, and a plan, of such labels have no variance to divide by.
    marks = {name: np.random.default_rng(seed).random(300) < 0.7 for seed, name in enumerate("AB")}
    people = {name: of_some(judge, known) for name in "AB"}
    result = es.compare(marks, metrics=es.Mean("pass"), human=people, **FEW)
    with np.errstate(all="raise"):
        assert result["B"].low < 0 < result["B"].high
        assert "nan" not in result.to_text(findings=True, verbose=True)
        (row,) = result.power(difference=0.05)
    assert row.of_design.of_labels is None
    assert row.needed > 300


def test_a_total_and_unpaired_systems_have_the_label_too():
    right, judge, known = partial()
    human = {name: of_some(x, known) for name, x in zip("AB", right, strict=True)}
    judge = dict(zip("AB", judge, strict=True))
    pairs = {name: list(zip(judge[name].tolist(), human[name], strict=True)) for name in "AB"}
    table = es.extract(pairs, metric=es.Judged(es.Mean("pass"), 1.0))
    alone = es.compare(table, **FEW)["B"]
    total = es.Suite({"one": table, "two": table}, "macro").compare(**FEW)
    both = next(d for d in total if d.aggregate)
    assert both.standard_error == pytest.approx(alone.standard_error / 2**0.5)
    assert both.test == "t"
    apart = es.compare(table, paired=False, **FEW)
    squares = sum(e.standard_error**2 for e in apart.estimates)
    assert apart["B"].standard_error == pytest.approx(squares**0.5)
    assert apart["B"].test == "t"


def cautions_on_labels(people, judge, known):
    found = es.estimate(judge.tolist(), metric=es.Mean("q"), human=of_some(people, known), **FEW)
    return [n for n in found.notes if getattr(n, "kind", "") == "labels"]


def test_labels_against_the_judge_are_said():
    people, judge, known = scores()
    (said,) = cautions_on_labels(6 - people, judge, known)
    assert "q: the judge and people disagree in direction (correlation -0." in said
    assert "pass 6 - label" in said
    assert not cautions_on_labels(people, judge, known)
    # Without any relation, or with few labels, chance explains the sign.
    noise = np.random.default_rng(1).normal(size=(20, len(people)))
    assert not any(cautions_on_labels(one, judge, known) for one in noise)
    assert not cautions_on_labels(-people, judge, scores(labelled=5)[2])


def said_of_scales(people, judge, known):
    found = es.estimate(judge.tolist(), metric=es.Mean("q"), human=of_some(people, known), **FEW)
    return [n for n in found.notes if getattr(n, "kind", "") == "scales"]


def test_two_scales_are_said():
    rng, known = np.random.default_rng(3), scores()[2]
    people = rng.integers(1, 6, len(scores()[0]))
    judge = np.clip(people + rng.integers(-1, 2, len(people)), 1, 5)
    share = (judge - 1) / 4
    for labels, given in (
        (people, judge),
        (people, share + 3),
        (people - 3, judge - 3),
        (people > 3, share),
        (people > 3, share * 0.4),
        (people, judge + 0.25),
    ):
        assert not said_of_scales(labels * 1.0, given, known)
    for labels, given, ranges in (
        (people, 2 * judge, "from 1 to 5, but the judge's scores of the same segments are from 2 to 10"),
        (people, share, "from 1 to 5, but the judge's scores of the same segments are from 0 to 1"),
        (people - 1, judge, "from 0 to 4, but the judge's scores of the same segments are from 1 to 5"),
        (people > 3, 1 + (judge > 3), "from 0 to 1, but the judge's scores of the same segments are from 1 to 2"),
    ):  # fmt: skip
        (said,) = said_of_scales(labels * 1.0, given * 1.0, known)
        assert f"q: human labels are {ranges}. If these are two scales, convert one" in said


@pytest.mark.parametrize("higher", [True, False])
def test_the_direction_that_is_assumed_is_said_if_scores_do_not_show_it(higher):
    people, judge, known = scores()
    noise = np.random.default_rng(1).normal(size=len(people))
    metric = es.Mean("q", higher_is_better=higher)
    better = "higher" if higher else "lower"
    for labels, is_said in (
        (people, False),
        (noise, True),
        (6 - people, False),
        (0 * people, True),
    ):
        found = es.estimate(judge.tolist(), metric=metric, human=of_some(labels, known), **FEW)
        said = (
            f"evalstats assumes {better}, as for the judge; if it is the other way round, reverse"
        )
        assert any(said in note for note in found.notes) == is_said


def test_the_correlation_is_pearsons():
    people, judge, known = scores()
    found = es.estimate(judge, metric=es.Mean("q"), human=of_some(people, known), **FEW)
    r = np.corrcoef(people[known], judge[known])[0, 1]
    assert any(f"correlation {r:.2f} [" in note for note in found.notes)


def test_power_says_how_many_labels_would_do():
    judge, human = biased(5)
    result = es.compare(judge, metrics=es.Mean("pass"), human=human, baseline="A", **FEW)
    plan = result.power(difference=0.1)
    of = plan.pairs[0].of_design.of_labels
    # With the labels that there are it is the plan itself, and with all the judge says nothing.
    assert of.label_minimums[of.labels.index(120)] == pytest.approx(plan.pairs[0].minimum)
    assert of.labels[-1] == 600
    assert list(of.label_minimums) == sorted(of.label_minimums, reverse=True)
    said = f"Human labels for {of.labels_needed} of 600 segments (now 120) would be enough"
    (found,) = plan._findings()
    assert said in found.lines[-1]
    assert "by number of labels" in plan.to_text()
    assert es.Power.from_json(plan.to_json()) == plan
    (found,) = result.power(difference=0.02)._findings()
    assert "Human labels for 600 of 600 segments (now 120) would not be enough" in found.lines[-1]
    # Systems whose labels are of other items have no such plan.
    apart = {"A": human["A"], "B": human["B"][::-1]}
    other = es.compare(judge, metrics=es.Mean("pass"), human=apart, baseline="A", **FEW)
    assert other.power().pairs[0].of_design.of_labels is None


@pytest.mark.parametrize("gain", first(1, [2.0, 0.5]))
def test_so_many_labels_find_the_difference_as_often_as_is_said(gain):
    """200 evaluations, seed 8: .8 with a standard error of .028, and a pilot that errs by .015.

    The judge's scores are people's times the gain: for one of the gains the best λ is beyond 1.
    """
    rng = np.random.default_rng(8)

    def evaluation(n, labelled, difference):
        people = rng.normal(size=(2, n)) + [[0.0], [difference]]
        judge = gain * people + 0.6 * gain * rng.normal(size=(2, n)) + [[0.0], [0.4]]
        known = rng.permutation(n) < labelled
        human = {name: of_some(of, known) for name, of in zip("AB", people, strict=True)}
        scores = dict(zip("AB", judge, strict=True))
        return es.compare(scores, metrics=es.Mean("q"), human=human, method="t")

    asked = evaluation(4000, 2000, 0.0).power(difference=0.3, n_segments=400)
    needed = asked.pairs[0].of_design.of_labels.labels_needed
    assert 50 < needed < 175  # without the judge 176: (1.96 + 0.84)²·2/0.3²
    found = sum(evaluation(400, needed, 0.3).differences[0].pvalue <= 0.05 for _ in range(200))
    assert found / 200 == pytest.approx(0.8, abs=0.07)


def test_suites_totals_ranks_and_gates_take_them():
    tables = {}
    for i, task in enumerate(("law", "physics")):
        judge, human = biased(i, n=300 + 100 * i)
        pairs = {k: list(zip(judge[k].tolist(), human[k], strict=True)) for k in judge}
        tables[task] = es.extract(pairs, metric=es.Judged(es.Mean("pass")))
    for aggregate in ("macro", "micro"):
        result = es.Suite(tables, aggregate).compare(baseline="A", n_resamples=99)
        each = [d.difference for d in result]
        shares = (0.5, 0.5) if aggregate == "macro" else (3 / 7, 4 / 7)
        expected = np.dot(shares, each[:2])
        assert each[2] == pytest.approx(expected, abs=1e-12 if aggregate == "macro" else 0.05)
    assert len(es.Suite(tables).compare(n_resamples=99).ranking()) == 2
    assert es.gate(tables["law"], "A", margin=0.2, n_resamples=999).verdict == "passed"


def test_a_table_a_column_and_lists_are_one(examples_folder):
    answers, labels = examples_folder / "answers.csv", examples_folder / "labels.csv"
    by_file = es.compare_logs(answers, metric="correct", human=labels, baseline="base", **FEW)
    people = dict(line.rsplit(",", 1) for line in labels.read_text().split()[1:])
    both = ["system,segment,correct,people"]
    for line in answers.read_text().split()[1:]:
        both.append(f"{line},{people.get(line.rsplit(',', 1)[0], '')}")
    path = examples_folder / "both.csv"
    path.write_text("\n".join(both))
    by_column = es.compare_logs(path, metric="correct", human="people", baseline="base", **FEW)
    assert by_file["tuned"] == by_column["tuned"]
    assert not any("Left out" in note for note in by_column.notes)
    # The column that human scores are in is no metric, and what better is of it is not asked.
    path.write_text("\n".join(both).replace(",correct,", ",judge,"))
    refuses(
        "higher or lower values of judge are better", es.compare_logs, path, human="people", **FEW
    )
    up = {"judge": "higher"}
    for directions in (up, {"*": "higher"}, {**up, "people": "lower"}):
        found = es.compare_logs(path, human="people", directions=directions, baseline="base", **FEW)
        assert found["tuned"].difference == by_column["tuned"].difference
    for human, message in (
        ("peple", "there is no metric 'peple'"),
        ("judge", "lower values of people are"),
    ):
        refuses(message, es.compare_logs, path, human=human, **FEW)
    with pytest.raises(es.InputError, match="human must be a column beside the judge's scores"):
        es.compare_logs(path, metric="people", human="people", **FEW)
    judge, human = ({name: [] for name in ("base", "tuned")} for _ in range(2))
    for line in both[1:]:
        name, _, grade, label = line.split(",")
        judge[name].append(float(grade))
        human[name].append(float(label) if label else None)
    of_lists = es.compare(judge, metrics=es.Mean("correct"), human=human, baseline="base", **FEW)
    assert of_lists["tuned"].pvalue == by_file["tuned"].pvalue


A, B = [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]
MEAN = es.Mean("pass")


@cases(
    (lambda: es.compare({"A": A, "B": B}, metrics=MEAN, human=[1, None, 0, None]),
     "human must be a mapping from each system (A, B) to human scores, got list"),
    (lambda: es.compare({"A": A, "B": B}, metrics=MEAN, human={"A": [1, None, 0, 1]}),
     "human must have the systems A, B, got A ('B' is only in one of"),
    (lambda: es.estimate(A, metric=MEAN, human=[1, None]),
     "human must have one label per segment (None if a segment has no label), got 2 labels for 4 segments of"),
    (lambda: es.estimate(A, metric=MEAN, human=[None] * 4),
     "human labels must cover some of the segments but not all, got 0 of 4"),
    (
        lambda: es.estimate(A, metric=MEAN, human=[1, 1, 0, 1]),
        "human labels must cover some of the segments but not all, got 4 of 4; if people labelled all",
    ),
    (lambda: es.estimate(A, [1, 0, 1, 1], MEAN, human=[1, None, 0, 1]),
     "references have no effect: pass does not use references; leave them out"),
    (lambda: es.estimate([1, 0], [1, 0], es.Confusion([0, 1]), human={"A": [1, None]}),
     "human must be one list for all systems, because"),
    (lambda: es.estimate([1, 0], [1, 0], [es.Confusion([0, 1]), MEAN], human=[1, None]),
     "human replaces either scores or references, but you passed metrics of both kinds;"),
    (lambda: es.estimate(es.extract({"A": A}, metric=MEAN), human=[1, None, 0, 1]),
     "human must be left out when you pass SegmentStatistics; extract them with es.Judged as "
     "the metric"),
    (lambda: es.Judged("quality"),
     "metric must be the metric that both the judge and people used (human= turns it into "
     "Judged), got 'quality'"),
    (lambda: es.compare({"a": [1, 0], "b": [1, 1]}, metrics=es.Judged(MEAN), human={}),
     "that both the judge and people used (human= turns it into Judged), got Judged already"),
    (
        lambda: es.estimate(
            np.arange(9) * 1e200, metric=es.Mean("q"), human=[1e200, 2e200, 4e200, *[None] * 6]
        ),
        "has a gradient that is not finite or above 1e70; label more segments, or rescale the scores",
    ),
    (lambda: es.Judged(MEAN, 1.5), "weight must be from 0 to 1, got 1.5"),
    (lambda: es.Judged(MEAN).statistics([1, 2]),
     "hypotheses[0] must be a pair of the judge's label and the human label (or None), got 1"),
    (lambda: es.Judged(MEAN, judges=2).statistics([(1, 1)]),
     "hypotheses[0] must be 2 judges' labels and the human label (or None), got (1, 1)"),
    (lambda: es.Judged(MEAN, 0.5, judges=2), "weight must contain one weight per judge (2), got 1"),
    (lambda: es.Judged(MEAN, judges=0), "judges must be at least 1, got 0"),
    (
        lambda: es.estimate(
            {"A": [[1, 0], [1, 1, 0], [0, 1]]}, metrics=MEAN, human={"A": [1, None, 0]}
        ),
        "system 'A': entry 1 must have labels from 2 judges, like the first entry, got [1, 1, 0]",
    ),
)  # fmt: skip
def test_bad_input_is_told(call, message):
    with pytest.raises(es.InputError) as caught:
        call()
    assert message in str(caught.value)


def test_tables_that_do_not_fit_are_told(examples_folder, tmp_path):
    answers = examples_folder / "answers.csv"
    lines = (examples_folder / "labels.csv").read_text().split()
    other_items = [lines[0], *(x.replace(",", ",q", 1) for x in lines[1:])]
    path = tmp_path / "other.csv"
    for content, message in (
        (["system,segment,correct", "base,1,1", "base,2,0"], "has no scores of 'tuned'"),
        (other_items, "no items in common"),
    ):
        path.write_text("\n".join(content))
        refuses(message, es.compare_logs, answers, metric="correct", human=path)
    path = tmp_path / "more.csv"
    path.write_text("\n".join([*lines, "base,9999,1", "tuned,9999,1"]))
    result = es.compare_logs(answers, metric="correct", human=path, **FEW)
    assert "Human scores of 1 segment are left out, because no log has them." in result.notes


def test_systems_that_are_not_paired_have_each_a_judge():
    """Each has its own λ, in the signature, and notes of its own; few labels are told."""
    judge, human = biased(4, labelled=60)
    few = {"A": judge["A"][:400], "B": judge["B"]}
    labels = {"A": human["A"][:400], "B": human["B"]}
    result = es.compare(few, metrics=es.Mean("pass"), human=labels, paired=False, method="t")
    metric = es.Mean("pass")
    alone = [es.estimate({x: few[x]}, metric=metric, human={x: labels[x]}) for x in few]
    weights = [one.to_text(verbose=True).split("judged:")[1].split("|")[0] for one in alone]
    assert weights[0] != weights[1]
    assert f"judged:{weights[0]},judged:{weights[1]}" in result.to_text(verbose=True)
    expected = {e.system: e.score for one in alone for e in one.estimates}
    assert {e.system: e.score for e in result.estimates} == pytest.approx(expected)
    for name in few:
        assert any(f"pass of {name}: human labels for" in note for note in result.notes)
        assert any(f"pass of {name}: there are only" in note for note in result.notes)


@pytest.mark.parametrize("weight", [None, 0.3])
def test_a_file_of_statistics_has_its_metric(tmp_path, weight):
    people, judge, known = scores(300, 50)
    metric = es.Judged(es.Mean("quality", higher_is_better=False), weight)
    rows = {"A": paired(judge, np.where(known, people, np.nan))}
    table, path = es.extract(rows, metric=metric), tmp_path / "judged.npz"
    table.save(path)
    loaded = es.SegmentStatistics.load(path)
    assert loaded.metric == metric
    assert np.array_equal(loaded.values, table.values)


def test_a_file_of_a_judge_of_judges_is_refused():
    record = made_by(es.Judged(es.Mean("quality")))
    record["parameters"]["metric"] = dict(record)
    refuses("a Judged metric cannot be judged again", rebuilt, record)


def test_a_file_that_is_not_there_is_no_column(examples_folder, refused):
    said = "--human must be a file with human scores, or a column of the table: there is no"
    assert said in refused("compare", examples_folder / "answers.csv", "--human", "missing.csv")


@pytest.mark.parametrize(("n_first", "count"), [(120, "120 of 120"), (500, "0 of 100")])
def test_a_stratum_without_labels_or_without_others_has_no_score(n_first, count):
    """Neither a 0 nor any other number takes the place of what is not there."""
    judge, human = biased(7)
    first = sorted(range(600), key=lambda i: human["A"][i] is None)
    judge = {name: [x[i] for i in first] for name, x in judge.items()}
    human = {name: [x[i] for i in first] for name, x in human.items()}
    strata = ["x"] * n_first + ["y"] * (600 - n_first)
    asked = {"metrics": es.Mean("pass"), "human": human, "strata": strata}
    with pytest.raises(
        es.InputError, match=f"of each stratum with a score; in stratum '.', they cover {count}"
    ):
        es.compare(judge, **asked, aggregate="macro")
    assert es.compare(judge, **asked)["B"].n_units == 600
    metric = es.Judged(es.Mean("pass"))
    assert np.isnan(metric.score([0, 0, 0, 0, 0, 3, 4]))
    assert np.isnan(metric.score([4, 3, 4, 2, 4, 0, 0]))


def test_the_sentence_of_a_paper_says_who_labelled():
    judge, human = biased(1, labelled=120)
    asked = {"metrics": es.Mean("pass"), "human": human, "method": "t"}
    result = es.compare(judge, **asked)
    (weight,) = re.findall(r"judged:ppi:([^|]*)", result.signatures[0])
    said = (
        "pass (mean) on 600 segments. A judge's scores of all segments are corrected by human "
        "labels of 120 segments (prediction-powered inference; Angelopoulos, Duchi and Zrnic, "
        f"2023), with λ = {float(weight):.2f}. "
    )
    assert said in result.describe()
    assert said in es.Comparison.from_json(result.to_json()).describe()
    scores = es.estimate(judge, metrics=es.Mean("pass"), human=human)
    assert said.rpartition(",")[0] in scores.describe()
    assert "|labels:120|" in result.signatures[0]
    assert "judge" not in es.compare(judge, metrics=es.Mean("pass")).describe()
    # Each of two that are not paired has its λ.
    apart = es.compare(judge, paired=False, **asked)
    weights = sorted(map(float, re.findall(r"judged:ppi:([\d.]+)", apart.signatures[0])))
    assert f"with λ = {weights[0]:.2f} to {weights[1]:.2f}." in apart.describe()


def test_a_resample_without_labels_is_told():
    """Three of 60 groups have labels: in some of 999 resamples none of them is drawn."""
    judge, human = biased(1, labelled=0)
    for name, marks in human.items():
        marks[:20] = judge[name][:20].tolist()
        marks[55] = 1.0
    groups = np.arange(600) // 10
    asked = {"metrics": es.Mean("pass"), "human": human, "groups": groups, "n_resamples": 999}
    # By default t decides, and asks no resample.
    assert {d.test for d in es.compare(judge, **asked)} == {"t"}
    judge["C"], human["C"] = judge["A"][::-1].copy(), human["A"]
    with pytest.raises(es.InputError) as caught:
        es.compare(judge, **asked)
    assert str(caught.value) == (
        "pass of a resample of system 'A' is unknown: all or none of its segments have human "
        "labels, because few of 60 groups have labels; label segments of more groups, or use "
        "method='t'"
    )
    # What the message names does.
    assert {d.test for d in es.compare(judge, **asked, method="t")} == {"t"}


def several(seed, n=1_000, labelled=100):
    """Return scores of two equal systems by two judges with errors of their own, and people's."""
    rng = np.random.default_rng(seed)
    right = rng.normal(size=(2, n))
    judges = right[:, :, None] + rng.normal(size=(2, n, 2)) + np.array([[[0.0]], [[0.3]]])
    known = rng.permutation(n) < labelled
    return judges, {name: of_some(x, known) for name, x in zip("AB", right, strict=True)}


def judged_by(judges, human, metric=MEAN, **options):
    """Return a comparison by t, and the effective number of its judges with both limits."""
    asked = {"metrics": metric, "human": human, "method": "t", **options}
    result = es.compare(dict(zip("AB", judges, strict=True)), **asked)
    said = re.search(
        r"count as ([\d.]+) \[([\d.]+), ([\d.]+)\] independent", " ".join(result.notes)
    )
    return result, None if said is None else tuple(map(float, said.groups()))


@pytest.mark.parametrize("is_binary", [False, True])
def test_a_copy_of_a_judge_is_worth_nothing(is_binary):
    judges, human = several(1)
    if is_binary:
        judges = (judges > 0).astype(float)
        human = {n: [None if x is None else float(x > 0) for x in of] for n, of in human.items()}
    alone, number = judged_by(judges[:, :, 0], human)
    assert number is None
    both, number = judged_by(judges[:, :, [0, 0]], human)
    assert number == (1.0, 1.0, 1.0)
    for name in ("difference", "standard_error", "pvalue"):
        assert getattr(both["B"], name) == pytest.approx(getattr(alone["B"], name), abs=1e-9)
    one, _ = judged_by(judges[:, :, :1], human)
    assert one["B"] == alone["B"]
    # However λ is shared between copies; of 0/1 scores all are wrong of the one label more.
    tables = []
    for weight, n in ((0.8, 1), ((0.5, 0.3), 2)):
        rows = {
            name: [(*[x] * n, h) for x, h in zip(of[:, 0].tolist(), human[name], strict=True)]
            for name, of in zip("AB", judges, strict=True)
        }
        tables.append(es.extract(rows, metric=es.Judged(MEAN, weight, n)))
    first, second = (es.compare(table, method="t")["B"] for table in tables)
    assert second.standard_error == pytest.approx(first.standard_error, rel=1e-12)


def test_two_judges_with_errors_of_their_own_are_worth_two():
    """Each has λ of the least squares of human scores; intervals are shorter than of either."""
    judges, human = several(2)
    lengths = [
        result["B"].high - result["B"].low
        for result in (judged_by(judges[:, :, j], human)[0] for j in ([0], [1], [0, 1]))
    ]
    assert lengths[2] < 0.92 * min(lengths[:2])
    result, (number, low, high) = judged_by(judges, human)
    assert low < 2 < high
    assert number == pytest.approx(2, abs=0.3)
    known = [x is not None for x in human["A"]]
    people = np.diff([np.array(x)[known].astype(float) for x in human.values()], axis=0)[0]
    there, every = (np.diff(x, axis=0)[0] for x in (judges[:, known], judges))
    covariance = np.cov(every.T, bias=True) * len(people) / 0.9
    expected = np.linalg.solve(covariance, (people - people.mean()) @ there)
    (weights,) = re.findall(r"judged:ppi:([\d.+]*)", result.signatures[0])
    assert list(map(float, weights.split("+"))) == pytest.approx(expected, rel=1e-6)
    assert "the weighted mean of 2 judges scores them like the others" in " ".join(result.notes)
    assert result.describe().count("Judges' scores of all segments are corrected by human") == 1


def test_the_number_of_judges_is_kishs_with_the_limits_of_the_jackknife():
    """J/(1 + (J - 1)ρ) of the errors of labelled items, each system's less their mean."""
    rng = np.random.default_rng(3)
    right = rng.normal(size=(2, 400))
    shared = rng.normal(size=(2, 400, 1))
    judges = right[:, :, None] + shared + rng.normal(size=(2, 400, 3))
    human = {name: of_some(x, np.arange(400) < 80) for name, x in zip("AB", right, strict=True)}
    errors = (judges - right[:, :, None])[:, :80]

    def number(kept):
        of = errors[:, kept] - errors[:, kept].mean(1, keepdims=True)
        rho = np.corrcoef(of.reshape(-1, 3).T)
        return 3 / (1 + 2 * rho[np.triu_indices(3, 1)].mean())

    found, logs = number(np.arange(80)), [np.log(number(np.arange(80) != i)) for i in range(80)]
    error = (79 * np.var(logs)) ** 0.5
    _, said = judged_by(judges, human)
    expected = found * np.exp(np.array([0, -1.99, 1.99]) * error)
    assert said == pytest.approx(expected, abs=0.11)


def test_classes_by_several_judges_and_files_of_their_statistics(tmp_path):
    rng = np.random.default_rng(5)
    gold = rng.integers(3, size=300)
    output, first, second = (
        np.where(rng.random(300) < 0.3, rng.integers(3, size=300), gold).tolist() for _ in range(3)
    )
    people = [int(x) if i < 60 else None for i, x in enumerate(gold)]
    inner = es.Confusion([0, 1, 2], "macro-f1")
    labels = list(map(list, zip(first, second, strict=True)))
    found = es.estimate(output, labels, inner, human=people, method="t")
    assert any("300 segments correct 2 judges' scores for all" in note for note in found.notes)
    metric = es.Judged(inner, (0.4, 0.3), judges=2)
    triples = list(zip(first, second, people, strict=True))
    totals = metric.statistics(output, triples).sum(axis=0)
    expected = super(es.Judged, metric).gradient(totals)
    assert metric.gradient(totals) == pytest.approx(expected, abs=1e-8)
    path = tmp_path / "judged.npz"
    es.extract({"A": output}, triples, metric=metric).save(path)
    assert es.SegmentStatistics.load(path).metric == metric


@pytest.mark.parametrize("paired", [True, False])
def test_several_metrics_of_logs_are_several_judges(tmp_path, paired):
    judges, human = several(4, n=200, labelled=80)
    path = tmp_path / "judges.csv"
    lines = ["system,segment,first,second,people"]
    for name, rows in zip("AB", judges.tolist(), strict=True):
        for i, ((a, b), x) in enumerate(zip(rows, human[name], strict=True)):
            lines.append(f"{name},{i},{a},{b},{'' if x is None else x}")
    path.write_text("\n".join(lines))
    asked = {"method": "t", "baseline": "A", "paired": paired}
    up = {"first": "higher", "second": "higher"}
    found = es.compare_logs(path, human="people", directions=up, **asked)
    assert [d.metric for d in found] == ["first + second"]
    expected, _ = judged_by(judges, human, es.Mean("first + second"), baseline="A", paired=paired)
    assert found["B"] == expected["B"]
    with pytest.raises(
        es.InputError, match="requires judges whose scores have the same direction, but"
    ):
        es.compare_logs(path, human="people", directions={**up, "second": "lower"}, **asked)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("seed", range(4))
def test_scores_of_0_and_1_stay_there(method, seed):
    """Where people label what the judge fails, its correction leads beyond 1: it is cut short."""
    rng = np.random.default_rng(seed)
    people = [float(i < 9) if i < 12 else None for i in range(60)]
    judge = [float(i < 3) if i < 12 else 1.0 for i in range(60)]
    given = {"A": judge, "B": rng.permutation(judge).tolist()}
    for found in es.estimate(
        given, metric=es.Mean("acc"), human={"A": people, "B": people}, method=method
    ):
        assert 0 <= found.low <= found.score <= found.high <= 1


def test_a_correction_by_few_labels_stops_at_1():
    """Of 40 labels one is 0; what the judge says of the other 260 outputs would lead to 1.0007."""
    rng = np.random.default_rng(230)
    right = rng.random(300) < 0.97
    judge = np.where(rng.random(300) < 0.9, right, ~right).astype(float)
    known = np.zeros(300, bool)
    known[rng.permutation(300)[:40]] = True
    asked = {"metric": es.Mean("acc"), "human": of_some(right, known), "n_resamples": 99}
    assert es.estimate(judge, **asked).score == pytest.approx(1)
    assert es.estimate(judge, **asked).high <= 1


def test_unequal_numbers_of_labels_are_named():
    """Defect: "human labels of 64" stood beside "only 63 labelled"."""
    judge, human = biased(1, labelled=64)
    last = max(i for i, x in enumerate(human["A"]) if x is not None)
    human["A"] = [None if i >= last - 1 else x for i, x in enumerate(human["A"])]
    notes = " ".join(es.compare(judge, human=human, metrics=es.Mean("pass"), **FEW).notes)
    assert "pass: one system has only" in notes
    assert "segments (the mean of the systems) correct" in notes
