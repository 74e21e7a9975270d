"""Two labels a segment, both a sample: the variance of Cameron, Gelbach and Miller (2011)."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

import evalstats as es
from evalstats.cli import main
from evalstats.designs.units import as_crossed
from tests.helpers import bad_cases

PROMPTS = np.repeat(np.arange(40), 6)
RATERS = np.random.default_rng(0).integers(12, size=240)
BOTH = {"prompt": PROMPTS, "rater": RATERS}
NAMES = ["prompt", "rater"]


def marks(effect=0.7, seed=1, prompts=PROMPTS, raters=RATERS):
    """Return scores of two equal systems, which prompts and raters sway by as much."""
    rng = np.random.default_rng(seed)
    swayed = sum(effect * rng.normal(size=(2, of.max() + 1))[:, of] for of in (prompts, raters))
    a, b = swayed + rng.normal(size=(2, len(prompts)))
    return {"A": a, "B": b}


def table(scores=None):
    labels = {name: tuple(map(str, of)) for name, of in BOTH.items()}
    return replace(es.extract(scores or marks(), metric=es.Mean("mark")), labels=labels)


def test_the_variance_is_the_sum_of_both_less_that_of_what_shares_both():
    def error(groups):
        (d,) = es.compare(marks(), metrics=es.Mean("mark"), groups=groups, method="t")
        return d.standard_error

    pairs = list(zip(PROMPTS, RATERS, strict=True))
    assert len(set(pairs)) < len(pairs)
    expected = (error(PROMPTS) ** 2 + error(RATERS) ** 2 - error(pairs) ** 2) ** 0.5
    result = es.compare(marks(), metrics=es.Mean("mark"), groups=BOTH)
    (d,) = result
    assert d.standard_error == pytest.approx(expected, rel=1e-12)
    assert (d.test, d.method) == ("t", "t")
    # Of the fewer groups, which are of unlike sizes.
    sizes = np.bincount(RATERS)
    degrees = sizes.sum() ** 2 / np.sum(sizes**2) - 1
    assert d.pvalue == pytest.approx(2 * t.sf(abs(d.difference) / expected, degrees), rel=1e-9)
    for e in result.estimates:
        half = t.isf(0.025, degrees) * e.standard_error
        assert (e.low, e.high) == pytest.approx((e.score - half, e.score + half), rel=1e-9)
    assert as_crossed(240, BOTH, None, ("item", "")).alike.degrees == pytest.approx(degrees)
    asked = {"metric": es.Mean("mark")}
    found = [es.estimate(marks(), groups=of, **asked) for of in (BOTH, PROMPTS, RATERS)]
    both, *alone = (np.array([e.standard_error for e in scores]) for scores in found)
    times = [f"{min(both / one):.2f} to {max(both / one):.2f} times as large" for one in alone]
    note = (
        f"mark: standard errors account for 40 prompts and 12 raters (Cameron, Gelbach and Miller, "
        f"2011). They are {times[0]} as with prompts alone and {times[1]} as with raters alone."
    )
    assert any(one.startswith(note) for one in result.notes)
    assert "unit:prompt+rater" in result.signatures[0]
    assert "Standard errors account for prompts and raters (Camer" in result.describe()


def test_the_variance_is_that_within_strata_and_at_least_that_of_what_shares_both():
    """Of a chequered board, whose rows and columns all sum to 0, it is that of single segments."""
    halves = PROMPTS >= 20
    raters = RATERS % 6 + 6 * halves

    def error(groups):
        asked = {"metrics": es.Mean("mark"), "strata": halves, "method": "t"}
        (d,) = es.compare(marks(), groups=groups, **asked)
        return d.standard_error

    alone = [error(of) ** 2 for of in (PROMPTS, raters, list(zip(PROMPTS, raters, strict=True)))]
    crossed = error({"prompt": PROMPTS, "rater": raters})
    assert crossed**2 == pytest.approx(alone[0] + alone[1] - alone[2])
    rows, columns = (of.ravel() for of in np.indices((6, 4)))
    board = {"A": np.zeros(24), "B": (-1.0) ** (rows + columns)}
    (d,) = es.compare(board, metrics=es.Mean("m"), groups={"row": rows, "column": columns})
    assert d.standard_error == pytest.approx(23**-0.5)


def test_labels_have_names_or_come_by_name(tmp_path, capsys, typed):
    (expected,) = es.compare(marks(), metrics=es.Mean("mark"), groups=BOTH)
    assert es.compare(table(), groups=NAMES)[0] == expected
    assert es.Suite.of({"": [table()]}, groups=NAMES).compare()[0].pvalue == expected.pvalue
    score = es.estimate(marks()["A"], metric=es.Mean("mark"), groups=BOTH)
    assert score.standard_error == es.estimate(table(), groups=NAMES)["A"].standard_error
    # Two labels of two segments are labels.
    assert es.estimate([1.0, 2.0], metric=es.Mean("mark"), groups=["a", "b"]).unit == "group"
    rows = [
        f"{i},{system},{score!r},{PROMPTS[i]},{RATERS[i]}"
        for system, scores in marks().items()
        for i, score in enumerate(scores.tolist())
    ]
    path = tmp_path / "marks.csv"
    path.write_text("\n".join(["segment,system,mark,prompt,rater", *rows, ""]))
    table().save(tmp_path / "marks.npz")
    (tmp_path / "raters.txt").write_text("".join(f"{one}\n" for one in RATERS))
    assert es.compare_logs(path, groups=NAMES)[0].pvalue == expected.pvalue
    files = [tmp_path / "marks.npz", "--groups", "prompt", tmp_path / "raters.txt"]
    for words in ([path, "--groups", *NAMES], ["--groups", *NAMES, path], files):
        (d,) = json.loads(typed("compare", *words, "-f", "json"))["differences"]
        assert d["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert "240 segments in 40 prompts" in typed("compare", "--groups", "prompt", path)
    with pytest.raises(SystemExit):
        main(["compare", str(path), "--groups", *NAMES, "domain"])
    assert "--groups accepts one or two labels, got prompt rater domain" in capsys.readouterr().err


@pytest.mark.thorough
def test_equal_systems_differ_no_more_often_than_they_may():
    """400 pairs of equal systems on 50 prompts by 10 raters; 20 are expected.

    At most 34 differ, which a true rate of .05 exceeds with probability .001. With prompts alone
    some 200 do.
    """
    prompts, raters = np.repeat(np.arange(50), 10), np.tile(np.arange(10), 50)
    labels, n_false = {"prompt": prompts, "rater": raters}, 0
    for seed in range(400):
        scores = marks(seed=seed, prompts=prompts, raters=raters)
        (d,) = es.compare(scores, metrics=es.Mean("mark"), groups=labels)
        n_false += d.pvalue <= 0.05
    assert n_false <= 34


def test_shares_are_counted_and_lost_answers_never_make_a_limit_higher():
    """Nothing lost is no certainty: as of 40 prompts, with the t of twelve raters."""
    order, lows = np.random.default_rng(1).permutation(240), []
    for n_lost in (0, 1, 2, 4, 8, 16, 32):
        new = np.ones(240)
        new[order[:n_lost]] = 0
        scores = {"old": np.ones(240), "new": new}
        (d,) = es.compare(scores, metrics=es.Mean("right"), groups=BOTH, baseline="old")
        assert d.test == "cluster-t"
        lows.append(d.low)
    assert -0.15 < lows[0] < -0.05
    assert lows == sorted(lows, reverse=True)
    assert d.pvalue < 0.05


@bad_cases(
    (lambda: es.compare(table(), groups=["prompt", "x"]), "groups='x' is not a label of the"),
    (lambda: es.compare(table(), groups={"prompt": PROMPTS}),
     r"must have two labels per segment, got 1 \(\['prompt'\]\); to pass a single"),
    (lambda: es.compare(table(), groups={**BOTH, "day": PROMPTS}),
     "must have two labels per segment, got 3"),
    (lambda: es.compare(table(), groups={**BOTH, "rater": 0 * RATERS}),
     "at least 2 raters are required to estimate uncertainty, got 1"),
    (lambda: es.compare(table(), groups={**BOTH, "rater": RATERS[1:]}),
     "label 'rater': groups has 239 labels for 240 segments"),
    (lambda: es.power(table(), groups=NAMES), r"power accepts one label per segment, got two \(prompt"),
    (lambda: es.compare(table(), groups={"A": BOTH, "B": BOTH}, paired=False),
     "paired=False accepts one label per segment"),
    (lambda: es.SequentialTest(240, metric=es.Mean("mark")).look(table(), "A", groups=NAMES),
     "a look accepts one label per segment"),
    (lambda: es.compare(table(), groups=NAMES).by(RATERS), "by accepts one label per segment, got"),
    (lambda: es.Suite({"x": table(), "y": table()}, "macro", groups=NAMES).compare(),
     r"must be a single label if tasks have a total, got \['prompt', 'rater'\]"),
)  # fmt: skip
def test_what_is_not_known_of_two_labels_is_refused(call):
    call()


def test_a_score_of_one_group_knows_no_more_than_that():
    """What differs on two prompts alone has one degree of freedom."""
    scores = marks()
    same = {"A": scores["A"], "B": np.where(PROMPTS < 2, scores["B"], scores["A"])}
    (d,) = es.compare(same, metrics=es.Mean("mark"), groups=BOTH)
    assert d.n_differing == 12
    expected = 2 * t.sf(abs(d.difference) / d.standard_error, 1)
    assert d.pvalue == pytest.approx(expected, rel=1e-9)
