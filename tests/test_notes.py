"""What limits a verdict is said in a sentence, and is no evidence of anything."""

import numpy as np
import pytest

import evalstats as es

JUDGE = es.Mean("judge")


def marks(n_systems=2, n=200, gap=0.3, seed=3):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    return {f"s{i}": base + rng.normal(size=n) + gap * i for i in range(n_systems)}


def differ_on(m, n=200):
    old = np.random.default_rng(5).normal(size=n)
    return {"old": old, "new": old + np.where(np.arange(n) < m, 0.5 + np.arange(n) / 99, 0.0)}


GROUPS = np.repeat(np.arange(8), [60, 20, 20, 20, 20, 20, 20, 20])


@pytest.mark.parametrize(
    "scores, options, notes",
    [
        (marks(), {}, []),
        (marks(n=30), {}, ["Only 30 segments: below 100, intervals and p-values are rough; use"]),
        (marks(), {"groups": np.arange(200) // 5}, ["judge: groups make standard errors"]),
        (marks(), {"groups": np.arange(200) // 8}, ["Only 25 groups: below 30,", "judge: groups"]),
        (marks(), {"groups": np.arange(200) // 40},
         ["s1 and s0 (judge) differ on so few groups that no p-value can reach 0.05, whatever the",
          "Only 5 groups: t decides in place of the bootstrap, and",
          "s1 and s0 (judge) differ on fewer than 10 groups, so that the interval is rough and",
          "judge: groups make standard errors"]),
        (marks(), {"groups": GROUPS},
         ["8 groups of 20 to 60 segments count as about 6.25 of one size: below 30",
          "s1 and s0 (judge) differ on fewer than 10 groups", "judge: groups"]),
        (marks(), {"groups": np.repeat(np.arange(12), [189, *[1] * 11])},
         ["12 groups of 1 to 189 segments count as about 1.12 of one size: t decides",
          "judge: gr"]),
        (differ_on(3), {},
         ["new and old (judge) differ on so few segments that no p-value can reach 0.05, whatever",
          "new and old (judge) differ on fewer than 10 segments, so that the interval is rough and"]),
        (differ_on(9), {}, ["new and old (judge) differ on fewer than 10 segments"]),
        (differ_on(10), {}, []),
        (differ_on(0), {}, ["new and old (judge) have identical statistics on every segment: p = 1"]),
        ({s: x > 0 for s, x in marks().items()}, {},
         ["judge: 0/1 scores, with McNemar's test, and"]),
        (marks(), {"test": "ar", "n_resamples": 9},
         ["With 9 resamples no p-value can reach 0.05 whatever the data: use n_resamples of at le"]),
    ],
)  # fmt: skip
def test_each_limit_has_its_sentence(scores, options, notes):
    result = es.compare(scores, metrics=JUDGE, **options)
    assert len(result.notes) == len(notes), result.notes
    for found, expected in zip(result.notes, notes, strict=True):
        assert found.startswith(expected)
        assert found in result.to_text(verbose=True)
    shown = str(result).splitlines()
    assert all(note in shown for note in result.notes[:3])
    assert ("1 more note: to_text(verbose=True)." in shown) == (len(notes) == 4)


def test_what_too_few_swaps_leave_is_not_shown_as_evidence():
    values = marks(8, 60, gap=0.5)
    options = {"metrics": JUDGE, "baseline": "s0", "adjustment": "holm", "test": "ar"}
    for n_resamples, found in ((139, True), (138, False), (99, False)):
        result = es.compare(values, n_resamples=n_resamples, **options)
        assert any(result.significant(d) for d in result) == found
        assert any("can reach" in note for note in result.notes) != found
    (note,) = [note for note in result.notes if "can reach" in note]
    assert "With 99 resamples, times 7 comparisons" in note
    assert "n_resamples of at least 139." in note
    rows = [line for line in str(result).split("\n") if line.startswith("s")][2:]
    assert all(line.split()[-3:] == ["-", "cannot", "tell"] for line in rows)


@pytest.mark.parametrize("options", [{}, {"test": "t"}, {"groups": np.arange(90) // 16}])
def test_where_t_decides_no_number_of_resamples_is_asked_for(options):
    values = marks(8, 90, 1.5)
    if not options:  # several runs of each system
        values = {name: np.stack([x, x, x]) for name, x in values.items()}
    result = es.compare(values, metrics=JUDGE, n_resamples=99, adjustment="holm", **options)
    assert {(d.test, d.pvalue_error) for d in result} == {("t", 0.0)}
    assert "|test:t|" in result.signatures[0]
    assert not any("use n_resamples" in note for note in result.notes)


def test_one_level_is_that_of_intervals_and_verdicts():
    scores = marks(gap=0.12)
    for level, shown in ((0.95, True), (0.99, False)):
        result = es.compare(scores, metrics=JUDGE, confidence_level=level)
        (d,) = result
        assert result.significant(d) == shown == (not d.low <= 0 <= d.high)
        assert f"[{100 * level:g} % interval]" in str(result)
