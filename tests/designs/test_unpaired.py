"""Systems with segments of their own: Welch's error, Miettinen and Nurminen's counts, refusals."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

import evalstats as es
from evalstats.designs.samples import miettinen_nurminen, miettinen_nurminen_distance
from tests.helpers import bad_cases, cases, refuses

MARKS, ACC = es.Mean("marks"), es.Mean("acc")
Z = stats.norm.ppf(0.975)


def unlike(rng, sizes=(60, 140), shift=0.0):
    """Return marks of two systems on other segments, of other variances."""
    first, second = sizes
    return {"A": rng.normal(size=first), "B": shift + 2 * rng.normal(size=second)}


def test_t_is_welchs():
    marks = unlike(np.random.default_rng(1), shift=0.3)
    (d,) = es.compare(marks, metrics=MARKS, paired=False, method="t")
    known = stats.ttest_ind(marks["B"], marks["A"], equal_var=False)
    assert d.pvalue == pytest.approx(known.pvalue, rel=1e-9)
    assert (d.low, d.high) == pytest.approx(tuple(known.confidence_interval(0.95)), rel=1e-9)
    assert (d.n_differing, d.n_units) == (200, 200)


def test_a_third_system_changes_no_other_pair():
    rng = np.random.default_rng(2)
    marks = {**unlike(rng), "C": rng.normal(size=90)}
    asked = {"metrics": MARKS, "paired": False, "method": "t"}
    three = es.compare(marks, **asked)
    assert len(three) == 3
    for d in three:
        (alone,) = es.compare({name: marks[name] for name in (d.baseline, d.system)}, **asked)
        assert (alone.low, alone.high, alone.pvalue) == pytest.approx((d.low, d.high, d.pvalue))
    assert three["B", "A"].pvalue_adjusted >= three["B", "A"].pvalue


def test_every_system_is_drawn_within_itself():
    """The replicates of a difference have the variance of two independent bootstraps."""
    marks = unlike(np.random.default_rng(3))
    result = es.compare(marks, metrics=MARKS, paired=False)
    a, b = (result.estimates[name].replicates for name in "AB")
    assert np.var(a) == pytest.approx(np.var(marks["A"]) / 60, rel=0.06)
    assert np.var(b) == pytest.approx(np.var(marks["B"]) / 140, rel=0.06)
    # Of 9,999 pairs a correlation beyond 0.04 has a probability of 6e-5.
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.04


def test_the_order_of_systems_changes_no_bit():
    marks = unlike(np.random.default_rng(4))
    (d,) = es.compare(marks, metrics=MARKS, paired=False)
    (turned,) = es.compare(dict(reversed(marks.items())), metrics=MARKS, paired=False)
    assert (turned.low, turned.high, turned.pvalue) == (-d.high, -d.low, d.pvalue)


def test_texts_have_references_of_their_own(sample):
    old, new = (sample.systems[name] for name in ("baseline", "clearly-better"))
    texts = {"old": old[:150], "new": new[180:]}
    references = {"old": sample.references[:150], "new": sample.references[180:]}
    options = {"paired": False, "baseline": "old", "n_resamples": 99}
    result = es.compare(texts, references, ["bleu", "ter"], **options)
    for name, text in texts.items():
        for metric in ("bleu", "ter"):
            alone = es.estimate(text, references[name], metric, n_resamples=99)
            found = result.estimates[alone.metric, name]
            assert (found.score, found.n_segments) == (alone.score, len(text))
            assert found.standard_error == pytest.approx(alone.standard_error)
    d = result["BLEU", "new"]
    both = [result.estimates["BLEU", name].standard_error for name in texts]
    assert d.standard_error == pytest.approx(np.hypot(*both))
    assert "paired:no" in result.signatures[0]
    assert any("150 of old, 300 of new" in note for note in result.notes)

    tables = [
        es.extract({name: text}, references[name], metric)
        for metric in ("bleu", "ter")
        for name, text in texts.items()
    ]
    assert es.compare(tables, **options)["BLEU", "new"] == d


def test_documents_and_strata_are_within_each_system():
    rng = np.random.default_rng(5)
    marks = unlike(rng)
    groups = {name: np.arange(len(x)) // 4 for name, x in marks.items()}
    asked = {"metrics": MARKS, "paired": False, "method": "t"}
    (d,) = es.compare(marks, groups=groups, **asked)
    sums = {name: x.reshape(-1, 4).mean(axis=1) for name, x in marks.items()}
    known = stats.ttest_ind(sums["B"], sums["A"], equal_var=False)
    assert d.pvalue == pytest.approx(known.pvalue, rel=1e-9)
    strata = {name: np.arange(len(x)) % 2 for name, x in marks.items()}
    result = es.compare(marks, strata=strata, aggregate="macro", **asked)
    options = {"metric": MARKS, "aggregate": "macro"}
    alone = [es.estimate(marks[x], strata=strata[x], **options).standard_error for x in marks]
    assert result.differences[0].standard_error == pytest.approx(np.hypot(*alone))


@cases(
    # Newcombe (1998, Statistics in Medicine 17, p. 873), table II, method 6.
    ((56, 70), (48, 80), 0.0528, 0.3382),
    ((9, 10), (3, 10), 0.1700, 0.8406),
    ((6, 7), (2, 7), 0.0342, 0.8534),
    ((5, 56), (0, 29), -0.0326, 0.1933),
    ((0, 10), (0, 20), -0.1658, 0.2844),
    ((0, 10), (0, 10), -0.2879, 0.2879),
    ((10, 10), (0, 20), 0.7156, 1.0000),
    ((10, 10), (0, 10), 0.6636, 1.0000),
)
def test_the_interval_is_the_published_one(new, base, low, high):
    answers = {name: np.arange(n) < x for name, (x, n) in {"base": base, "new": new}.items()}
    (d,) = es.compare(answers, metrics=ACC, paired=False)
    assert d.test == d.method == "miettinen-nurminen"
    assert (round(d.low, 4), round(d.high, 4)) == pytest.approx((low, high), abs=1e-9)


def test_shares_given_a_difference_are_most_likely():
    """The closed form of the cubic, against a search for the largest likelihood."""
    for (x, n), (y, m), delta in itertools.product(
        [(7, 12), (0, 5), (9, 9)], [(3, 10), (8, 8), (0, 6)], [0.02, 0.3, -0.45, 0.9]
    ):

        def minus(p, x=x, n=n, y=y, m=m, delta=delta):
            q = p + delta
            logs = [(x, q), (n - x, 1 - q), (y, p), (m - y, 1 - p)]
            return -sum(k * np.log(max(v, 1e-300)) for k, v in logs if k)

        low, high = max(0, -delta), min(1, 1 - delta)
        p = optimize.minimize_scalar(
            minus, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        q = p + delta
        variance = (q * (1 - q) / n + p * (1 - p) / m) * (n + m) / (n + m - 1)
        known = (x / n - y / m - delta) / np.sqrt(variance)
        found = miettinen_nurminen_distance(x / n, y / m, (n, m), delta)
        assert found == pytest.approx(known, rel=1e-3)


def test_of_no_difference_it_is_pearsons_test():
    table = [[42, 18], [20, 20]]
    known = stats.chi2_contingency(table, correction=False).statistic * 99 / 100
    distance = miettinen_nurminen_distance(42 / 60, 20 / 40, (60, 40), 0.0)
    assert distance**2 == pytest.approx(known)
    assert miettinen_nurminen_distance(1.0, 1.0, (60, 40), 0.0) == 0.0
    low, high = miettinen_nurminen(0.7, 0.5, (60, 40), Z)
    assert (-high, -low) == miettinen_nurminen(0.5, 0.7, (40, 60), Z)
    for bound, side in ((low, Z), (high, -Z)):
        found = miettinen_nurminen_distance(0.7, 0.5, (60, 40), bound)
        assert found == pytest.approx(side, abs=1e-6)


def test_groups_count_at_their_design_effect():
    """Items whose copies all agree say as much as one item each."""
    rng = np.random.default_rng(6)
    one = {"A": rng.random(60) < 0.7, "B": rng.random(40) < 0.5}
    five = {name: np.repeat(x, 5) for name, x in one.items()}
    groups = {name: np.repeat(np.arange(len(x)), 5) for name, x in one.items()}
    (alone,) = es.compare(one, metrics=ACC, paired=False, confidence_level=0.9)
    (grouped,) = es.compare(five, metrics=ACC, paired=False, groups=groups, confidence_level=0.9)
    assert grouped.standard_error == pytest.approx(alone.standard_error)
    assert grouped.high - grouped.low == pytest.approx(alone.high - alone.low, rel=0.03)
    # n - 1 in place of n, and t with Welch's degrees of freedom in place of the normal distribution.
    shares, units = (np.array([f(x) for x in (one["B"], one["A"])]) for f in (np.mean, len))
    squares = shares * (1 - shares) / (units - 1)
    half = 0.5 / (5 * units)
    sizes = np.minimum(units - 1, (shares * (1 - shares) + half) / (squares + half / units))
    degrees = sum(squares) ** 2 / sum(squares**2 / (units - 1))
    distance = miettinen_nurminen_distance(*shares, tuple(sizes), 0.0)
    assert grouped.pvalue == pytest.approx(2 * stats.t.sf(abs(distance), degrees), rel=1e-9)


def test_margins_gates_and_ranks_are_of_unpaired_systems_too(sample):
    rng = np.random.default_rng(7)
    answers = {"old": np.arange(200) < 160, "new": np.arange(300) < 243}
    (d,) = es.compare(answers, metrics=ACC, paired=False, margin=0.1)
    known = miettinen_nurminen_distance(0.81, 0.8, (300, 200), -0.1)
    assert d.pvalue_not_worse == pytest.approx(stats.norm.sf(known))
    few = {"paired": False, "n_resamples": 99}
    gate = es.gate(answers, "old", metrics=ACC, margin=0.1, **few)
    assert gate.verdict == "passed"
    assert [check.n_items for check in gate] == [300]
    tables = {name: es.extract({name: x}, metric=ACC) for name, x in answers.items()}
    again = es.gate(tables["new"], tables["old"], margin=0.1, **few)
    assert again.checks[0].difference == gate.checks[0].difference
    kept = es.gate(tables["new"], tables["old"], recovery=0.85, **few)
    assert kept.verdict == "passed"
    three = {name: 10 * k + rng.normal(size=50 + 20 * k) for k, name in enumerate("ABC")}
    ranking = es.compare(three, metrics=MARKS, paired=False).ranking()
    assert [(x.system, x.low, x.high) for x in ranking] == [("C", 1, 1), ("B", 2, 2), ("A", 3, 3)]


def write(path, first, n, share, seed):
    marks = np.random.default_rng(seed).random(n) < share
    rows = [f"q{first + i},{int(mark)}" for i, mark in enumerate(marks)]
    path.write_text("\n".join(["id,acc", *rows]) + "\n")
    return marks


def test_logs_that_share_no_item_say_what_to_do(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    answers = {"old": write(old, 0, 60, 0.7, 1), "new": write(new, 100, 40, 0.6, 2)}
    refuses(r"no item .*compare the systems with paired=False", es.compare_logs, [old, new])
    found = es.compare_logs([old, new], paired=False, baseline="old")
    (d,) = es.compare(answers, metrics=ACC, paired=False, baseline="old")
    assert [(x.low, x.high, x.pvalue) for x in found] == [(d.low, d.high, d.pvalue)]
    gate = es.gate(new, old, paired=False, margin=0.5)
    assert gate.checks[0].difference.difference == d.difference


def test_suites_of_logs_have_totals_of_each_system_alone(tmp_path):
    rows = ["system,task,id,acc"]
    for t, task in enumerate(("law", "math")):
        for s, system in enumerate("AB"):
            marks = np.random.default_rng([t, s]).random(30 + 20 * s + 10 * t) < 0.6
            rows += [f"{system},{task},{system}{i},{int(x)}" for i, x in enumerate(marks)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(rows) + "\n")
    options = {"paired": False, "n_resamples": 199}
    result = es.compare_logs(path, **options)
    assert list(result) == list(es.compare_logs(path, missing="intersect", **options))
    assert [d.task for d in result] == ["law", "math", "both tasks"]
    total = result.differences[-1]
    alone = [es.estimate_logs(path, system=name, missing="intersect") for name in "AB"]
    errors = [next(e.standard_error for e in some if e.aggregate == "macro") for some in alone]
    assert total.standard_error == pytest.approx(np.hypot(*errors))
    assert total.test == "miettinen-nurminen"


def test_runs_of_unpaired_systems_add_their_own_variance():
    rng = np.random.default_rng(8)
    runs = {
        name: rng.normal(size=n) + rng.normal(size=(3, 1)) + rng.normal(size=(3, n))
        for name, n in (("A", 40), ("B", 60))
    }
    (d,) = es.compare(runs, metrics=es.Mean("marks"), paired=False)
    apart = [es.estimate(of, None, es.Mean("marks")) for of in runs.values()]
    assert d.standard_error == pytest.approx(np.hypot(*[e.standard_error for e in apart]))
    assert d.standard_error > 2 * np.hypot(*[e.segment_error for e in apart])


PLAIN = {"A": [0, 1, 0, 1, 1], "B": [0, 1, 1]}


@bad_cases(
    (PLAIN, {"paired_runs": True}, "paired_runs requires several runs of systems with the same"),
    (PLAIN, {"groups": [0, 0, 1, 1, 2]}, r"groups must be a mapping .* \(A, B\).*got list"),
    (PLAIN, {"strata": {"A": [0] * 5}}, "strata must be a mapping .*unpaired; got A"),
    (PLAIN, {"paired": "no"}, "paired must be True or False"),
    (PLAIN, {"paired": True}, "hypotheses must have the same number of segments"),
    ({"A": [0, 1], "B": [1]}, {}, "system 'B': at least 2 segments are required"),
)
def test_what_cannot_work_is_refused(systems, options):
    es.compare(systems, metrics=ACC, **{"paired": False, **options})


def test_texts_without_references_of_their_own_are_refused():
    texts = {"A": ["a cat", "a dog"], "B": ["the cat", "a dog", "no"]}
    with pytest.raises(es.InputError, match=r"references must be a mapping .*\(A, B\)"):
        es.compare(texts, ["a cat", "a dog"], paired=False)
    one, other = es.extract({"A": [0, 1]}, metric=ACC), es.extract({"B": [0, 1]}, metric=MARKS)
    refuses("same metrics, got acc of 'A' and marks of 'B'", es.compare, [one, other], paired=False)


def test_what_needs_the_same_segments_says_so():
    result = es.compare(unlike(np.random.default_rng(8)), metrics=MARKS, paired=False)
    for ask in (result.influence, result.power, lambda: result.by([0] * 60)):
        refuses("each of these .*has its own", ask)
    assert "marks" in result.to_html()
    assert "Welch" in result.describe()


def test_figures_say_how_many_segments_each_system_has():
    result = es.compare(PLAIN, metrics=ACC, paired=False, baseline="A", n_resamples=99)
    for axes in (result.plot(), result.plot_scores()):
        assert axes.texts[0].get_text().endswith(", 3 to 5 segments")


def test_a_table_may_have_other_items_of_each_system(tmp_path, refused):
    """What only other systems have in one table is not missing, as it is not in a file each."""
    table, apart = tmp_path / "both.csv", []
    rng = np.random.default_rng(9)
    lines = ["system,segment,correct"]
    for name, n in (("A", 60), ("B", 45)):
        own = [f"{name}{i},{x}" for i, x in enumerate(rng.integers(2, size=n))]
        apart.append(tmp_path / f"{name}.csv")
        apart[-1].write_text("\n".join(["segment,correct", *own]))
        lines += [f"{name},{line}" for line in own]
    table.write_text("\n".join(lines))
    result = es.compare_logs(table, baseline="A", paired=False)
    assert result["B"] == es.compare_logs(apart, baseline="A", paired=False)["B"]
    table.write_text("\n".join([*lines[:-1], f"{lines[-1].rpartition(',')[0]},"]))
    refuses("1 of 45 scores is missing", es.compare_logs, table, baseline="A", paired=False)
    said = "if the items are different on purpose, compare the systems with --unpaired"
    assert said in refused("compare", table)


def test_a_table_may_have_fewer_trials_of_one_system(tmp_path):
    """A trial that one system lacks is left out, as of a file of its own."""
    lines = [f"{s},{i},{t},{(i + t) % 2}" for s in "AB" for i in range(8) for t in range(3)]
    table, apart = tmp_path / "both.csv", []
    table.write_text("\n".join(["system,segment,trial,passed", *lines[:-1]]))
    for name in "AB":
        own = [line[2:] for line in lines[:-1] if line.startswith(name)]
        apart.append(tmp_path / f"{name}.csv")
        apart[-1].write_text("\n".join(["segment,trial,passed", *own]))
    result = es.compare_logs(table, baseline="A", epochs="pass^2")
    assert result["B"] == es.compare_logs(apart, baseline="A", epochs="pass^2")["B"]
    table.write_text("\n".join(["system,segment,trial,passed", *lines[:-3]]))
    refuses("3 of 48 scores are missing", es.compare_logs, table, baseline="A", epochs="pass^2")
