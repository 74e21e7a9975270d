"""Shards: the same sums however the data was sharded, nothing counted twice, nothing believed."""

import json
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

import evalstats as es
from evalstats.designs.shards.resample import poisson_weights, seed_key, shard_batches, shard_draws
from evalstats.resampling.streams import LEFT_OVER, byte_table
from evalstats.statistics.archives import archive_bytes

GOLDEN = json.loads((Path(__file__).parents[1] / "golden_shards.json").read_text(encoding="utf-8"))
ONES = 0xFFFFFFFF


def ratios(n, seed=0, systems=("A", "B")):
    """Right answers and questions of `n` segments."""
    rng = np.random.default_rng(seed)
    questions = rng.integers(1, 9, size=n)
    right = [rng.binomial(questions, 0.6) for _ in systems]
    values = np.stack([np.stack([r, questions], axis=1) for r in right])
    return es.SegmentStatistics(values, systems, es.Ratio("accuracy"))


def part(statistics, rows):
    rows = np.asarray(rows)
    return replace(statistics, values=statistics.values[:, rows], reference_label="1")


def shard(statistics, rows, ids=None, **options):
    options = {"n_resamples": 40, **options}
    rows = np.asarray(rows)
    return es.resample_shard(part(statistics, rows), rows if ids is None else ids, **options)


@pytest.fixture(scope="module")
def statistics():
    return ratios(90)


# Sums


@settings(max_examples=10)
@given(labels=st.lists(st.integers(0, 6), min_size=90, max_size=90), data=st.data())
def test_any_sharding_in_any_order_gives_the_same_bits(statistics, labels, data):
    whole = shard(statistics, np.arange(90))
    parts = [np.flatnonzero(np.array(labels) == label) for label in sorted(set(labels))]
    parts = data.draw(st.permutations([data.draw(st.permutations(list(p))) for p in parts]))
    shards = [shard(statistics, p) for p in parts]
    assert es.merge_shards(shards) == whole
    for name in ("totals", "resampled", "differing"):
        assert whole != replace(whole, **{name: (0 * getattr(whole, name)[0],)})
    # As a tree of random shape.
    while len(shards) > 1:
        i = data.draw(st.integers(0, len(shards) - 2))
        shards[i : i + 2] = [shards[i] + shards[i + 1]]
    assert shards[0] == whole


def test_ids_are_strings_or_integers_of_any_kind(statistics):
    names = [f"doc-{i}" for i in range(90)]
    whole = shard(statistics, range(90), names)
    halves = [shard(statistics, r, [names[i] for i in r]) for r in (range(50, 90), range(50))]
    assert es.merge_shards(halves) == whole
    strings = GOLDEN["strings"]
    found = shard(statistics, range(len(strings)), list(strings))
    assert found.id_runs.tolist() == [[number] * 2 for number in sorted(strings.values())]
    ids = range(2**63 + 5, 2**63 + 95)
    forms = [ids, np.array(ids, dtype=np.uint64), [np.uint64(i) for i in ids]]
    shards = [shard(statistics, range(90), form) for form in forms]
    assert all(s == shards[0] for s in shards)
    assert shards[0].id_runs.tolist() == [[ids[0], ids[-1]]]
    ends = shard(statistics, [0, 1], [2**64 - 1, 0]) + shard(statistics, [2], [2**64 - 2])
    assert ends.id_runs.tolist() == [[0, 0], [2**64 - 2, 2**64 - 1]]


def test_several_metrics_large_and_signed_numbers_add_up_exactly():
    """And counts whose sum float32 holds, but not that of twice the largest and odd ones."""
    rng, n = np.random.default_rng(2), 2500
    counts = np.ones((2, n, 2), dtype=int)
    counts[:, 0] = 2**24 - 9 - n
    tables = [
        ratios(n),
        es.SegmentStatistics(counts, ["A", "B"], es.Ratio("counts")),
        es.SegmentStatistics(
            rng.integers(-(10**6), 10**6, (2, n, 2)), ["A", "B"], es.Ratio("signed")
        ),
        es.SegmentStatistics(rng.integers(0, 2**28, (2, n, 2)), ["A", "B"], es.Ratio("large")),
    ]
    weights = poisson_weights(np.arange(n, dtype=np.uint64), 60, 1).astype(object)
    for chosen in (tables, *([table] for table in tables)):
        found = es.resample_shard(chosen, range(n), 60, rng=1)
        for table, resampled in zip(chosen, found.resampled, strict=True):
            for s in range(2):
                assert np.array_equal(resampled[:, s], weights @ table.values[s].astype(object))


def test_fractions_are_rounded_to_the_grid_that_was_given(statistics):
    scores = np.random.default_rng(4).random(70)
    rows = es.extract({"A": scores}, metric=es.Mean("COMET"))
    with pytest.raises(es.InputError, match=r"must be whole numbers, got 0\.9.* for segment 0"):
        shard(rows, range(70))
    whole = shard(rows, range(70), resolution=2**-20)
    pieces = [shard(rows, r, resolution=2**-20) for r in (range(3, 70), range(3))]
    assert es.merge_shards(pieces) == whole
    grid = np.rint(scores * 2**20).astype(int)
    assert whole.totals[0].tolist() == [[grid.sum(), 70 << 20]]
    estimated = es.estimate(whole)
    assert estimated.score == pytest.approx(scores.mean(), abs=2**-21)
    assert "|resolution:9.53674e-07|" in estimated.signature
    # Whole numbers have the same scores at any resolution.
    coarse, fine = (es.estimate(shard(statistics, range(90), resolution=r)) for r in (1, 2**-30))
    for a, b in zip(coarse, fine, strict=True):
        assert (a.score, a.low, a.high) == (b.score, b.low, b.high)


def test_differing_segments_and_reference_labels_add_up(statistics):
    first, second = shard(statistics, range(40)), shard(statistics, range(40, 90))
    merged = first + second
    expected = np.count_nonzero(np.any(statistics.values[0] != statistics.values[1], axis=1))
    assert merged.differing[0].tolist() == [[0, expected], [expected, 0]]
    (difference,) = es.compare(merged)
    assert difference.n_differing == expected
    wrong = merged.differing[0].copy()
    wrong[0, 0] = 1
    with pytest.raises(es.InputError, match="the same for both systems of a pair"):
        replace(merged, differing=(wrong,))
    assert merged.reference_labels == ("1",)
    assert (first + replace(second, reference_labels=("2",))).reference_labels == ("var",)


# Statistics


DRAWS = {"n_resamples": 4000, "rng": 1}


@pytest.fixture(scope="module", params=[None, [700, 1300]], ids=["poisson", "two stages"])
def sharded(request):
    """A table of 2,000 segments, and the same in two shards."""
    table, sizes = ratios(2000, seed=5, systems=("A", "B", "C")), request.param
    shards = [
        shard(table, rows, shard_sizes=sizes, shard=None if sizes is None else j, **DRAWS)
        for j, rows in enumerate((range(700), range(700, 2000)))
    ]
    return table, es.merge_shards(shards)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"margin": 0.02},
        {"recovery": 0.95},
        {"contrast": "log-ratio"},
        {"method": "simultaneous"},
        {"method": "t", "test": "t", "adjustment": "holm"},
        {"method": "percentile", "adjustment": "holm", "alternative": "greater"},
    ],
    ids=str,
)
def test_a_shard_answers_as_its_segments_do(sharded, options):
    """The ratio of two estimated standard errors has a standard error of 1/√B = 1.6 %; 5 of these,
    and 1/√N = 2 % for what the two bootstraps may differ by, give 10 %.
    """
    table, merged = sharded
    ours, theirs = es.compare(merged, **options), es.compare(table, **options, **DRAWS)
    for a, b in zip((*ours.estimates, *ours), (*theirs.estimates, *theirs), strict=True):
        error = b.standard_error
        assert a.standard_error == pytest.approx(error, rel=0.10)
        assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=0.25 * error)
    for a, b in zip(ours.estimates, theirs.estimates, strict=True):
        assert a.score == b.score
        assert options or stats.ks_2samp(a.replicates, b.replicates).pvalue > 1e-4
    for a, b in zip(ours, theirs, strict=True):
        assert (a.test, a.method, a.n_differing) == (b.test, b.method, b.n_differing)
        assert a.pvalue == pytest.approx(b.pvalue, abs=0.04)
        assert a.pvalue_adjusted == pytest.approx(b.pvalue_adjusted, abs=0.04)
        for name in ("pvalue_not_worse", "pvalue_equivalence"):
            expected = getattr(b.margin_test, name, None)
            assert getattr(a.margin_test, name, None) == pytest.approx(expected, abs=0.04)
    if not options:
        ranks, others = ([(r.system, r.low, r.high) for r in x.ranking()] for x in (ours, theirs))
        assert ranks == others


def test_signatures_say_which_weights(statistics):
    one = replace(statistics, values=statistics.values[:1], systems=("A",))
    result = es.estimate(shard(one, range(90)))
    assert isinstance(result, es.Estimate)
    assert "|n:40|seed:12345|weights:poisson|unit:segment|" in result.signature
    whole = shard(statistics, range(90), shard_sizes=[90], shard=0, unit="group", rng=7)
    comparison = es.compare(whole)
    assert "|n:40|seed:7|weights:two-stage|unit:group|" in comparison.signatures[0]
    assert (comparison.seed, comparison.n_resamples) == (7, 40)
    (difference,) = comparison
    share = difference.pvalue / 2
    assert difference.pvalue_error == pytest.approx(2 * np.sqrt(share * (1 - share) / 40))


class Total(es.Metric):
    name = "errors"
    columns = ("errors",)
    higher_is_better = False

    def statistics(self, hypotheses, references=None):
        return np.array(hypotheses)[:, None]

    def score(self, totals):
        return np.asarray(totals, dtype=float)[..., 0]


def test_a_score_that_counts_segments_needs_two_stages():
    table = es.SegmentStatistics(np.arange(200)[None, :, None] + 500, ["A"], Total())
    with pytest.raises(es.InputError, match=r"errors changes when all totals are doubled.*shard_s"):
        es.estimate(shard(table, range(200)))
    sizes = [120, 80]
    merged = shard(table, range(120), shard_sizes=sizes, shard=0, n_resamples=2000)
    merged += shard(table, range(120, 200), shard_sizes=sizes, shard=1, n_resamples=2000)
    # √N times the standard deviation; 5 standard errors of 1/√(2B).
    expected = np.sqrt(200) * np.std(np.arange(200))
    result = es.estimate(merged)
    assert result.standard_error == pytest.approx(expected, rel=5 / np.sqrt(4000))
    assert result.score == table.values.sum()


# Two stages


def two_stage_rows(sizes, n_resamples, seed):
    """Return the rows of all shards side by side, `(B, N)`."""
    rows = np.zeros((n_resamples, sum(sizes)), dtype=int)
    for j, start in enumerate(np.cumsum([0, *sizes[:-1]])):
        for first, at, block in shard_batches(sizes, j, n_resamples, seed):
            rows[at, start + first : start + first + block.shape[1]] = block
    return rows


@pytest.mark.parametrize("sizes", [[1], [4, 1], [30, 5, 65], [1] * 12, [700, 1300]])
def test_two_stage_rows_sum_to_n(sizes):
    rows = two_stage_rows(sizes, 300, 3)
    assert np.all(rows.sum(axis=1) == sum(sizes))
    # Fewer of them are the first of more.
    assert np.array_equal(two_stage_rows(sizes, 50, 3), rows[:50])


def test_two_stage_rows_are_multinomial_on_a_tiny_case():
    """All 35 rows of 4 draws from 4 segments in shards of 1 and 3: chi-square, false alarm 1e-4."""
    found, counts = np.unique(two_stage_rows([1, 3], 30_000, 9), axis=0, return_counts=True)
    shares = [stats.multinomial.pmf(row, 4, [1 / 4] * 4) for row in found.tolist()]
    assert sum(shares) == pytest.approx(1)
    assert stats.chisquare(counts, 30_000 * np.array(shares)).pvalue > 1e-4


def test_two_stage_totals_and_order(statistics):
    sizes = [30, 20, 40]
    ranges = [range(30), range(30, 50), range(50, 90)]
    shards = [shard(statistics, r, shard_sizes=sizes, shard=j, rng=7) for j, r in enumerate(ranges)]
    merged = shards[2] + (shards[0] + shards[1])
    expected = np.einsum("bn,snk->bsk", two_stage_rows(sizes, 40, 7), statistics.values)
    assert np.array_equal(merged.resampled[0], expected)
    assert merged.shards == (0, 1, 2)
    with pytest.raises(es.InputError, match=r"1 of 3 shards are missing, the first is 1"):
        es.estimate(shards[0] + shards[2])


# What is refused


def table_of(*rows):
    return es.SegmentStatistics([rows], ["A"], es.Ratio("r"))


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"ids": [0, 1, 1]}, r"ids\[1\] and ids\[2\] are the same .* 1"),
        ({"ids": ["a", "b", "a"]}, r"ids\[0\] and ids\[2\] are the same .*'a'"),
        ({"ids": [0, 1]}, r"ids has 2 entries but there are 3 segments"),
        ({"ids": np.array([0, 3, -7])}, r"ids\[2\] is -7"),
        ({"ids": [0, 2**64, 2]}, r"ids\[1\] is 18446744073709551616"),
        ({"ids": [0, "a", 2]}, r"all integers or all strings, but ids\[1\] is 'a'"),
        ({"ids": ["a", 1, "b"]}, r"all integers or all strings, but ids\[1\] is 1"),
        ({"ids": "abc"}, r"ids must be a list of integers or strings"),
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
        ({"rng": np.random.default_rng()}, "rng must be an integer, got Generator"),
        ({"unit": "document"}, "unit must be one of segment, group"),
        ({"resolution": 0.001}, "resolution must be a power of two"),
        ({"resolution": 2}, "resolution must be a power of two that is at most 1"),
        ({"shard": 0}, "shard_sizes and shard go together"),
        ({"shard_sizes": [3]}, "shard_sizes and shard go together"),
        ({"shard_sizes": [3, 0], "shard": 0}, r"shard_sizes\[1\] must be at least 1"),
        ({"shard_sizes": [], "shard": 0}, "shard_sizes is empty"),
        ({"shard_sizes": [3], "shard": 1}, "shard must be at most 0"),
        ({"shard_sizes": [8, 3], "shard": 0}, r"shard_sizes\[0\] is 8 but .* has 3"),
        ({"statistics": []}, "must be a SegmentStatistics or a list"),
        ({"statistics": [ratios(3), 1]}, "must be a SegmentStatistics or a list"),
        ({"statistics": table_of([2**60, 1], [1, 1], [1, 1])}, "r are too large"),
        ({"statistics": table_of([1e300, 1], [1, 1], [1, 1])}, "r are too large"),
        ({"statistics": table_of([2**46, 1], [1, 1], [1, 1])}, r"sums beyond 2\*\*53"),
    ],
)
def test_what_is_no_shard(changed, message):
    given = {"statistics": ratios(3), "ids": range(3), "n_resamples": 5}
    with pytest.raises(es.InputError, match=message):
        es.resample_shard(**{**given, **changed})


@pytest.mark.parametrize("n_shards", [2, 3, 8])
@pytest.mark.parametrize("total", [2**61, -(2**61)])
def test_totals_that_could_wrap_around_are_refused(total, n_shards):
    """Eight times 2^61 is 0 in 64 bits."""
    table = es.SegmentStatistics(np.ones((1, 2, 1), int), ["A"], Total())
    shards = [
        replace(shard(table, [0, 1], [2 * j, 2 * j + 1]), totals=(np.array([[total]]),))
        for j in range(n_shards)
    ]
    with pytest.raises(es.InputError, match=r"totals of errors reach 2\*\*62 units"):
        es.merge_shards(shards)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"rng": 1}, r"same seed, got 12345 in shards\[0\] and 1 in shards\[1\]"),
        ({"n_resamples": 41}, r"same n_resamples, got 40 .* 41"),
        ({"unit": "group"}, r"same unit, got 'segment'"),
        ({"resolution": 0.5}, r"same resolution, got 1\.0"),
        ({"ids": list("abcdefghij")}, r"same id_kind, got 'integer'"),
        ({"shard_sizes": [10, 80], "shard": 0}, r"same weights, got 'poisson'"),
        ({"systems": ("A", "C")}, r"same systems, got \('A', 'B'\)"),
        ({"metric": es.Ratio("p")}, r"same metrics, got .*Ratio.*accuracy.* .*Ratio.*p"),
    ],
)
def test_shards_that_do_not_fit(statistics, changed, message):
    fields = {name: value for name, value in changed.items() if name in ("systems", "metric")}
    options = {name: value for name, value in changed.items() if name not in fields}
    other = shard(replace(statistics, metric_signature="", **fields), range(10, 20), **options)
    with pytest.raises(es.InputError, match=message):
        shard(statistics, range(10)) + other
    for wrong in (lambda: other + 1, lambda: 1 + other):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()


def test_what_cannot_be_merged_is_named(statistics):
    parts = [shard(statistics, r) for r in (range(10), range(40, 50), range(30, 41))]
    named = [shard(statistics, [0, 1], ids) for ids in (["a", "b"], ["c", "a"])]
    sizes = [shard(statistics, range(10), shard_sizes=s, shard=0) for s in ([10, 80], [10, 70, 10])]
    hashed = f"{shard(statistics, [0], ['a']).id_runs[0, 0]:#018x}"
    for shards, message in (
        (parts, r"shards\[1\] and shards\[2\] share.*: id 40 is in bo"),
        (named, f"string whose hash is {hashed}"),
        (sizes, "same shard_sizes"),
        ([], "shards is empty"),
        ([1], r"shards\[0\] must be a Shard, got int"),
    ):
        with pytest.raises(es.InputError, match=message):
            es.merge_shards(shards)


@settings(max_examples=25)
@given(st.sets(st.integers(0, 40), min_size=1), st.sets(st.integers(0, 40), min_size=1))
def test_overlaps_are_found_and_only_these(statistics, a, b):
    shards = [shard(statistics, sorted(rows), n_resamples=2) for rows in (a, b)]
    if a & b:
        with pytest.raises(es.InputError, match=f"id {min(a & b)} is in both"):
            es.merge_shards(shards)
    else:
        assert es.merge_shards(shards) == shard(statistics, sorted(a | b), n_resamples=2)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "bca"}, "method 'bca' needs the statistics of every segment"),
        ({"groups": [1, 2]}, "groups must be left out when a Shard is given"),
        ({"n_resamples": 50}, "n_resamples must be left out .* n_resamples=40, got 50"),
        ({"n_resamples": 9999}, "n_resamples must be left out .* n_resamples=40, got 9999"),
        ({"rng": 1}, "rng must be left out .* rng=12345, got 1"),
        ({"metrics": "chrf"}, "metrics must be left out .* its are accuracy"),
        ({"metrics": "bleu"}, "metrics must be left out .* its are accuracy"),
        ({"test": "ar"}, "test 'ar' needs the statistics of every segment"),
        ({"aggregate": "macro"}, "aggregate must be 'micro' where a Shard is given"),
    ],
)
def test_what_a_shard_cannot_give(statistics, options, message):
    whole = shard(statistics, range(90))
    with pytest.raises(es.InputError, match=message):
        es.compare(whole, **options)
    if "test" not in options:
        with pytest.raises(es.InputError, match=message):
            es.estimate(whole, **options)
    with pytest.raises(es.InputError, match="got 2 shards; add them up first, with merge_shards"):
        es.compare([shard(statistics, range(40)), shard(statistics, range(40, 90))])
    # What it has may be asked for.
    asked = {"metric": es.Ratio("accuracy"), "n_resamples": 40, "rng": 12345}
    assert es.estimate(whole, **asked).to_dict() == es.estimate(whole).to_dict()


@pytest.mark.parametrize("call", [es.estimate, es.compare])
def test_a_seed_that_is_asked_for_is_not_the_default(statistics, call):
    whole = shard(statistics, range(90), rng=7)
    assert "|seed:7|" in call(whole).to_json()
    assert call(whole, rng=7).to_dict() == call(whole).to_dict()
    with pytest.raises(es.InputError, match="it was resampled with rng=7, got 3"):
        call(whole, rng=3)
    with pytest.raises(es.InputError, match="it was resampled with rng=7, got 3"):
        call(whole, seed=3)


def test_a_shard_of_many_segments_takes_no_memory_for_each(statistics):
    """Defect: the table of a shard needed 32 bytes a segment, 1.6 GB for a hundred million."""
    n = 10**7
    runs = np.array([[0, n - 1]], dtype=np.uint64)
    one = replace(shard(statistics, np.arange(90)), n_segments=n, id_runs=runs)
    tracemalloc.start()
    try:
        assert [d.pvalue < 1 for d in es.compare(one, margin=0.01)] == [True]
        assert [0.4 < e.low < 0.7 for e in es.estimate(one)] == [True] * 2
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_a_shard_says_what_is_missing(tmp_path):
    """As its segments do; a file of an earlier version does not know."""
    rng = np.random.default_rng(2)
    values = np.stack([rng.integers(1, 9, (2, 200)), np.ones((2, 200), int)], axis=-1)
    values[0, :30] = 0
    values[1, 150] = 0
    table = es.SegmentStatistics(values, ["A", "B"], es.Mean("q"))
    parts = [shard(table, range(80)), shard(table, range(80, 200))]
    said = (
        "Caution: q: 31 of 400 scores are missing (30 of A, 1 of B); means are over the others, "
        "and A lacks 30 of 200 segments and B 1 of 200, which is no accident (p = 3e-08)."
    )
    assert said in es.compare(table, n_resamples=40).notes
    for i, one in enumerate(parts):
        one.save(tmp_path / f"{i}.npz")
    loaded = [es.Shard.load(tmp_path / f"{i}.npz", es.Mean("q")) for i in range(2)]
    assert loaded == parts
    for whole in (es.merge_shards(parts), loaded[1] + loaded[0]):
        assert [counts.tolist() for counts in whole.missing] == [[30, 1]]
        assert said in es.compare(whole).notes
        assert said in es.estimate(whole)[0].notes
    replace(parts[0], missing=()).save(tmp_path / "old.npz")
    old = es.Shard.load(tmp_path / "old.npz", es.Mean("q"))
    assert old != parts[0]
    for whole in (old + parts[1], parts[1] + old):
        assert whole.missing == ()
        assert not any("missing" in note for note in es.compare(whole).notes)
    for bad in ([-1, 0], [0, 81], [0], [0.0, 0.0]):
        with pytest.raises(es.InputError, match="missing must count segments, 0 to 80, of each"):
            replace(parts[0], missing=(np.array(bad),))


# Files


def test_parts_come_back_from_their_files(small, tmp_path):
    """What was interrupted resumes from them, and no other metrics take their numbers."""
    tables = [es.extract(small.systems, small.references, metric) for metric in ("bleu", "chrf")]
    for options in ({}, {"shard_sizes": [20, 40]}, {"rng": 2**70, "resolution": 0.25}):
        parts = []
        for j, rows in enumerate((range(20), range(20, 60))):
            number = {"shard": j} if "shard_sizes" in options else {}
            made = es.resample_shard([part(t, rows) for t in tables], rows, 40, **options, **number)
            made.save(tmp_path / "part")
            parts.append(es.Shard.load(tmp_path / "part", ["bleu", "chrf"]))
            assert parts[-1] == made
            assert pickle.loads(pickle.dumps(made)) == made
        assert [p.name for p in tmp_path.iterdir()] == ["part"]
        for a, b in zip(es.estimate(es.merge_shards(parts)), es.estimate(tables), strict=True):
            assert (a.metric, a.system, a.score) == (b.metric, b.system, b.score)
    for metric in ("chrf", [es.BLEU(lowercase=True), "chrf"]):
        with pytest.raises(es.InputError, match=r"part holds BLEU case:mixed.*but metric is"):
            es.Shard.load(tmp_path / "part", metric)


def test_too_few_segments():
    """With three of them one resample in twenty is empty, and its score means nothing."""
    scores = es.extract({"a": [1, 1, 1]}, None, es.Mean("score"))
    with pytest.raises(es.InputError, match="3 segments are too few for Poisson weights"):
        es.estimate(es.resample_shard(scores, range(3), 1000))
    whole = es.resample_shard(scores, range(3), 1000, shard_sizes=[3], shard=0)
    assert es.estimate(whole).low == 1.0
    with pytest.raises(es.InputError, match="at least 2 segments"):
        es.estimate(shard(scores, [0], shard_sizes=[1], shard=0))


def test_golden_two_stages():
    """Shards that are drawn apart, by any version, must agree on the first stage."""
    for golden in GOLDEN["two_stages"]:
        sizes, shard, seed = golden["sizes"], golden["shard"], golden["seed"]
        draws = shard_draws(sizes, shard, 1100, seed)
        rows = np.zeros((1100, sizes[shard]), dtype=np.uint8)
        for first, at, block in shard_batches(sizes, shard, 1100, seed):
            rows[at, first : first + block.shape[1]] = block
        np.testing.assert_array_equal(rows.sum(axis=1, dtype=np.int64), draws)
        assert draws[GOLDEN["resamples"]].tolist() == golden["draws"]
        assert rows[GOLDEN["resamples"], :20].tolist() == golden["rows"]


def test_bytes_are_those_of_the_file(statistics, tmp_path):
    """Bytes, the file and the shard are one; what is no shard, or another's, is refused."""
    made = shard(statistics, range(90))
    made.save(tmp_path / "a.npz")
    data = made.to_bytes()
    assert data == (tmp_path / "a.npz").read_bytes()
    assert es.Shard.from_bytes(data) == made
    assert es.Shard.from_bytes(memoryview(data), made.metrics[0]) == made
    assert es.Shard.from_bytes(data).totals[0].tolist() == made.totals[0].tolist()
    for bad in (data[:-1], data[1:], b"", data + b"x", data.replace(b"<i8", b"|O8", 1)):
        with pytest.raises(es.InputError, match="data is damaged, cut short, or not bytes"):
            es.Shard.from_bytes(bad)
    header, arrays = made._members()
    header["classes"][0]["parameters"] = {"nome": "accuracy"}
    with pytest.raises(es.InputError, match="data is damaged: parameters of Ratio"):
        es.Shard.from_bytes(archive_bytes(header, arrays))
    with pytest.raises(es.InputTypeError, match="data must be bytes, got str"):
        es.Shard.from_bytes("x")


def test_built_in_metrics_are_known_by_the_file(small, tmp_path):
    """With all their options; those of others, and files of earlier versions, have to be named."""
    metrics = [
        es.BLEU(lowercase=True, max_ngram_order=2),
        es.CHRF(word_order=2),
        es.Mean("q", False),
    ]
    texts = [es.extract(small.systems, small.references, metric) for metric in metrics[:2]]
    scores = es.extract({n: [0.5] * len(small.references) for n in small.systems}, None, metrics[2])
    made = es.resample_shard([*texts, scores], range(60), 40, resolution=0.5)
    made.save(tmp_path / "a.npz")
    for back in (es.Shard.load(tmp_path / "a.npz"), es.Shard.from_bytes(made.to_bytes())):
        assert back == made
        assert back.metrics == tuple(metrics)

    class Other(es.Mean):
        pass

    other = es.SegmentStatistics(scores.values, scores.systems, Other("q"))
    es.resample_shard(other, range(60), 40, resolution=0.5).save(tmp_path / "b.npz")
    with pytest.raises(es.InputError, match=r"b.npz does not say how .* q mean.*give metric"):
        es.Shard.load(tmp_path / "b.npz")
    assert es.Shard.load(tmp_path / "b.npz", Other("q")).metrics == (Other("q"),)


def test_rows_of_files_are_ids(statistics):
    """However a file is cut: the resamples are those of the whole, kept as one run a file."""
    values, systems, metric = statistics.values, statistics.systems, statistics.metric

    def cut(file, first, stop, at=0):
        table = es.SegmentStatistics(values[:, first:stop], systems, metric)
        return es.resample_shard(table, (file, first - at), 40)

    parts = [cut("a.txt", 0, 30), cut("b.txt", 30, 60, 30), cut("b.txt", 60, 90, 30)]
    merged = es.merge_shards(parts)
    assert merged == es.merge_shards([cut("b.txt", 30, 90, 30), cut("a.txt", 0, 30)])
    assert len(merged.id_runs) == 2
    assert es.Shard.from_bytes(merged.to_bytes()) == merged
    with pytest.raises(es.InputError, match=r"share a segment: row 5 of the file whose hash is 0x"):
        cut("a.txt", 0, 30) + cut("a.txt", 5, 40)
    with pytest.raises(es.InputError, match="the same id_kind"):
        parts[0] + es.resample_shard(part(statistics, range(40, 50)), range(10), 40)
    for first in (-1, 2**28 - 5):
        with pytest.raises(es.InputError, match="ids of rows must be from 0 to 268,435,455, got"):
            es.resample_shard(part(statistics, range(10)), ("a.txt", first), 40)


# Weights: by their definition in Python's integers, and in every version the same


def u64(*values):
    return np.array(values, dtype=np.uint64)


def plain_philox(counter, key):
    """The definition, in Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(right >> 32) ^ c[1] ^ k[0], right & ONES, (left >> 32) ^ c[3] ^ k[1], left & ONES]
        k = [(k[0] + 0x9E3779B9) & ONES, (k[1] + 0xBB67AE85) & ONES]
    return c


def test_a_weight_depends_on_seed_id_and_resample_alone():
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 2**64, 30, dtype=np.uint64)
    expected = poisson_weights(ids, 333, seed=5)
    assert np.array_equal(poisson_weights(ids, 50, seed=5), expected[:50])
    order = rng.permutation(30)
    assert np.array_equal(poisson_weights(ids[order], 333, seed=5), expected[:, order])
    assert not np.array_equal(poisson_weights(ids, 333, seed=6), expected)
    # Both halves of an id count.
    other = poisson_weights(ids ^ np.uint64(1 << 40), 333, seed=5)
    assert not np.any(np.all(other == expected, axis=0))
    for first in (16, 320):
        later = poisson_weights(ids, 333 - first, seed=5, first=first)
        assert np.array_equal(later, expected[first:])


@pytest.mark.parametrize("golden", GOLDEN["poisson"], ids=lambda g: str(g["seed"]))
def test_golden_weights(golden):
    """A change of these changes everybody's results: it needs a line in the changelog."""
    weights = poisson_weights(u64(*golden["ids"]), len(golden["weights"]), golden["seed"])
    assert weights.tolist() == golden["weights"]


def test_weights_by_the_definition():
    """One byte of Philox each, in Python's integers, and 64 bits more for bytes left over."""
    seed, ids, n_resamples = 3, [5, 2**32 + 5, 2**64 - 1], 600
    key, table = seed_key(seed), byte_table(1.0)
    resolved = 0
    weights = poisson_weights(u64(*ids), n_resamples, seed)
    for j, identity in enumerate(ids):
        low, high = identity & ONES, identity >> 32
        for b in range(n_resamples):
            word = plain_philox([low, high, b // 16, 0], key)[b % 16 // 4]
            count = table.counts[word >> 8 * (b % 4) & 255]
            if count == LEFT_OVER:
                first, second, _, _ = plain_philox([low, high, b, 1], key)
                count = sum(first + (second << 32) >= int(t) for t in table.thresholds)
                resolved += 1
            assert weights[b, j] == count
    assert resolved > 5
