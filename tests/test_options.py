"""Options are kept as they were checked, and metrics are one where all of their options are."""

import json

import numpy as np
import pytest

import evalstats as es

#: Options as NumPy has them, and the same as Python has them.
NUMPY = [
    (es.BLEU, {"max_ngram_order": np.int64(4), "lowercase": np.True_}, {"lowercase": True}),
    (es.BLEU, {"smooth_method": "floor", "smooth_value": np.float32(0.1)},
     {"smooth_method": "floor", "smooth_value": 0.1}),
    (es.BLEU, {"effective_order": np.False_}, {}),
    (es.CHRF, {"beta": np.int8(16), "char_order": np.uint8(6)}, {"beta": 16}),
    (es.CHRF, {"beta": np.float16(1.5), "eps_smoothing": np.True_}, {"beta": 1.5, "eps_smoothing": True}),
    (es.TER, {"normalized": np.True_}, {"normalized": True}),
    (es.WER, {"lowercase": np.True_}, {"lowercase": True}),
    (es.Mean, {"name": "m", "higher_is_better": np.False_}, {"name": "m", "higher_is_better": False}),
    (es.Ratio, {"name": "r", "scale": np.float32(0.3), "zero_division": np.int8(1)},
     {"name": "r", "scale": 0.3, "zero_division": 1}),
    (es.Perplexity, {"nll": np.True_}, {"nll": True}),
    (es.ECE, {"bins": np.int64(3)}, {"bins": 3}),
    (es.Confusion, {"labels": (0, 1), "measure": "f1", "positive": np.int64(0), "matrices": np.False_},
     {"labels": (0, 1), "measure": "f1", "positive": 0}),
    (es.Correlation, {"centre": (np.float32(0.1), np.int8(2))}, {"centre": (0.1, 2.0)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given", "plain"), NUMPY, ids=lambda x: getattr(x, "__name__", "")
)
def test_numpys_scalars_are_the_numbers_that_they_are_written_as(kind, given, plain, tmp_path):
    found, expected = kind(**given), kind(**plain)
    assert (found, found.name, found.signature) == (expected, expected.name, expected.signature)
    assert not any(isinstance(value, np.generic) for value in vars(found).values())
    rows = np.ones((1, 2, len(found.columns)), dtype=int)
    for metric in (found, expected):
        es.SegmentStatistics(rows, ["A"], metric).save(tmp_path / f"{metric is found}.npz")
    files = [(tmp_path / f"{which}.npz").read_bytes() for which in (True, False)]
    assert files[0] == files[1]


def test_numpys_scalars_as_options_of_a_monitor():
    first = es.Monitor(None, es.Mean("m", np.True_), significance_level=np.float32(0.05))
    for step in range(2):
        first.check(step, [1.0, 2.0, step])
    second = es.Monitor(None, es.Mean("m"), patience=np.int8(2), rng=np.int64(12345))
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.checks == first.checks


def test_a_beta_of_one_byte_does_not_wrap_around():
    texts = ["the cat sat on a mat"], ["the cat sat on the mat"]
    scores = [es.CHRF(beta=b).score(es.CHRF().statistics(*texts)) for b in (np.int8(16), 16)]
    assert scores[0] == scores[1]


#: Metrics whose names and signatures are equal, since signatures round.
ROUNDED = [
    (es.Correlation(centre=(1000000.1, 0)), es.Correlation(centre=(1000000.4, 0))),
    (es.BLEU(smooth_method="floor", smooth_value=0.1),
     es.BLEU(smooth_method="floor", smooth_value=0.104)),
    (es.Ratio("r", scale=1.0000001), es.Ratio("r", scale=1.0000002)),
    (es.MeanOfRuns(es.Ratio("r", scale=1.0000001), 2), es.MeanOfRuns(es.Ratio("r", scale=1.0000002), 2)),
]  # fmt: skip


def references_of(metric):
    return ["a", "b"] if metric.uses_references else None


#: What brings together things of two metrics: `a`, `b` and a table of each.
TOGETHER = {
    "join": lambda a, b, one, two: one.join(one, two),
    "accumulate": lambda a, b, one, two: es.Accumulator(a).merge(es.Accumulator(b)),
    "add": lambda a, b, one, two: es.merge_shards(
        [es.resample_shard(one, [0, 1], 5), es.resample_shard(two, [2, 3], 5)]
    ),
    "watch": lambda a, b, one, two: es.Monitor(references_of(a), a).check(0, two),
    "resume": lambda a, b, one, two: es.Monitor(references_of(b), b).load_state_dict(
        es.Monitor(references_of(a), a).state_dict()
    ),
}


@pytest.mark.parametrize("pair", ROUNDED, ids=lambda pair: pair[0].name)
@pytest.mark.parametrize("together", TOGETHER)
def test_metrics_are_compared_and_not_their_signatures(pair, together):
    a, b = pair
    assert (a.name, a.signature) == (b.name, b.signature)
    rows = np.ones((1, 2, len(a.columns)), dtype=int)
    tables = [es.SegmentStatistics(rows, ["A"], metric) for metric in pair]
    with pytest.raises(es.InputError, match=r"metric|statistics under"):
        TOGETHER[together](a, b, *tables)


@pytest.mark.parametrize("pair", ROUNDED[:3], ids=lambda pair: pair[0].name)
def test_files_are_of_one_metric(pair, tmp_path):
    rows = np.ones((1, 2, len(pair[0].columns)), dtype=int)
    es.SegmentStatistics(rows, ["A"], pair[0]).save(tmp_path / "x.npz")
    with pytest.raises(es.InputError, match="metric"):
        es.SegmentStatistics.load(tmp_path / "x.npz", pair[1])


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"fingerprint": "f1"}, {"fingerprint": "f2"}, "same references"),
        ({"segment_ids": ["a", "b"]}, {"segment_ids": ["b", "a"]}, "segments in the same order"),
        ({"labels": {"x": ["a", "b"]}}, {"labels": {"x": ["b", "a"]}}, "2 of 2 differ: x of segm"),
    ],
)
def test_what_only_some_tables_know_is_compared_in_every_order(order, one, other, message):
    known, values = [{}, one, other], [[[1, 1], [0, 1]]]
    systems = [es.SegmentStatistics(values, ["ABC"[i]], es.Mean("m"), **known[i]) for i in order]
    with pytest.raises(es.InputError, match=message):
        es.SegmentStatistics.join(*systems)
    with pytest.raises(es.InputError, match=message):
        es.estimate(
            [es.SegmentStatistics(values, ["A"], es.Mean(f"m{i}"), **known[i]) for i in order]
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda table, path: table.join(table, 5), "join takes SegmentStatistics, got int"),
        (lambda table, path: table.align(5), "align takes SegmentStatistics, got int"),
        (lambda table, path: table.save("a\0.npz"), "cannot write"),
        (lambda table, path: es.resample_shard(table, range(2), resolution=2.0**-1000), "resolution"),
        (lambda table, path: es.resample_shard(table, range(2), rng=10**5000), "rng must be at most"),
        (lambda table, path: es.estimate(table, rng=10**5000), r"rng must be below 2\*\*128"),
        (lambda table, path: es.Monitor(None, es.Mean("m"), significance_level=10**400), "finite num"),
    ],
)  # fmt: skip
def test_raw_exceptions_are_none_of_ours(call, message, tmp_path):
    table = es.SegmentStatistics([[[1, 1], [0, 1]]], ["A"], es.Mean("m"))
    with pytest.raises(es.InputError, match=message):
        call(table, tmp_path)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[2**53 + 1, 1], [0, 1]], [2**53 + 1, 2]),
        (np.array([[2**63 + 5, 1], [0, 1]], np.uint64), [2**63 + 5, 2]),
        (np.array([[200, 1], [200, 1]], np.uint8), [400, 2]),
    ],
)
def test_whole_numbers_are_summed_whole_within_groups(values, expected):
    table = es.SegmentStatistics(np.array(values)[None], ["A"], es.Ratio("r"))
    assert table.grouped(["x", "x"]).values.tolist() == [[expected]]


def test_sums_within_groups_that_do_not_fit_are_refused():
    huge = es.SegmentStatistics([[[-(2**62), 1]] * 4], ["A"], es.Ratio("r"))
    with pytest.raises(es.InputError, match="too large: sums within groups"):
        huge.grouped(["x"] * 4)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.array([[2**24, 1], [0, 5]], np.float32), [2**24 + 1, 5]),
        (np.array([[4e4, 4e4], [0, 5]], np.float16), [80000, 5]),
        (np.array([[200, 200], [0, 5]], np.uint8), [400, 5]),
    ],
)
def test_counts_of_narrow_matrices_are_summed_whole(matrix, expected):
    metric = es.Confusion([0, 1], "macro-f1", matrices=True)
    gold = [metric.columns.index(f"gold {k}") for k in (0, 1)]
    assert metric.statistics(matrix[None])[0, gold].tolist() == expected


def test_a_bootstrapped_score_of_sacrebleu_is_of_pythons_floats():
    from evalstats.compat.sacrebleu import BLEU

    texts = ["a b c d", "e f g"]
    score = BLEU().corpus_score(texts, [["a b c d", "e f h"]], n_bootstrap=5)
    assert (type(score._mean), type(score._ci)) == (float, float)
