"""Options are kept as they were checked, and metrics are one where all of their options are."""

import numpy as np
import pytest

import evalstats as es
from evalstats.metrics.ratios import MeanOfRuns
from tests.helpers import cases, refuses

#: Options as NumPy has them, and the same as Python has them.
NUMPY = [
    (es.BLEU, {"max_ngram_order": np.int64(4), "lowercase": np.True_}, {"lowercase": True}),
    (es.BLEU, {"smooth_method": "floor", "smooth_value": np.float32(0.1)},
     {"smooth_method": "floor", "smooth_value": 0.1}),
    (es.CHRF, {"beta": np.int8(16), "char_order": np.uint8(6)}, {"beta": 16}),
    (es.CHRF, {"beta": np.float16(1.5), "eps_smoothing": np.True_},
     {"beta": 1.5, "eps_smoothing": True}),
    (es.Mean, {"name": "m", "higher_is_better": np.False_},
     {"name": "m", "higher_is_better": False}),
    (es.Ratio, {"name": "r", "scale": np.float32(0.3), "zero_division": np.int8(1)},
     {"name": "r", "scale": 0.3, "zero_division": 1}),
    (es.ECE, {"bins": np.int64(3)}, {"bins": 3}),
    (es.Confusion, {"labels": (0, 1), "measure": "f1", "positive": np.int64(0),
                    "matrices": np.False_},
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
    # An integer of one byte does not wrap around.
    assert np.array_equal(found.score(rows[0]), expected.score(rows[0]), equal_nan=True)
    for metric in (found, expected):
        es.SegmentStatistics(rows, ["A"], metric).save(tmp_path / f"{metric is found}.npz")
    files = [(tmp_path / f"{which}.npz").read_bytes() for which in (True, False)]
    assert files[0] == files[1]


#: Metrics whose names and signatures are equal, since signatures round.
ROUNDED = [
    (es.Correlation(centre=(1000000.1, 0)), es.Correlation(centre=(1000000.4, 0))),
    (es.BLEU(smooth_method="floor", smooth_value=0.1),
     es.BLEU(smooth_method="floor", smooth_value=0.104)),
    (es.Ratio("r", scale=1.0000001), es.Ratio("r", scale=1.0000002)),
    (MeanOfRuns(es.Ratio("r", scale=1.0000001), 2),
     MeanOfRuns(es.Ratio("r", scale=1.0000002), 2)),
]  # fmt: skip


def watching(metric):
    return es.Monitor(["a", "b"] if metric.uses_references else None, metric)


def load_of(table, metric, path):
    table.save(path)
    es.SegmentStatistics.load(path, metric)


#: What brings together things of two metrics: `a`, `b`, a table of each, and a file.
TOGETHER = {
    "join": lambda a, b, one, two, path: one.join(one, two),
    "accumulate": lambda a, b, *_: es.Accumulator(a).merge(es.Accumulator(b)),
    "add": lambda a, b, one, two, path: es.Moments.of(one) + es.Moments.of(two),
    "watch": lambda a, b, one, two, path: watching(a).check(0, two),
    "resume": lambda a, b, *_: watching(b).load_state_dict(watching(a).state_dict()),
    "load": lambda a, b, one, two, path: load_of(one, b, path),
}


@pytest.mark.parametrize(
    "pair, together",
    # A file of runs has their signature alone, and runs have no moments.
    [(pair, way) for way in TOGETHER for pair in ROUNDED[: 3 if way in ("load", "add") else 4]],
)
def test_metrics_are_compared_and_not_their_signatures(pair, together, tmp_path):
    a, b = pair
    assert (a.name, a.signature) == (b.name, b.signature)
    rows = np.ones((1, 2, len(a.columns)), dtype=int)
    tables = [es.SegmentStatistics(rows, ["A"], metric) for metric in pair]
    refuses(r"metric|statistics of", TOGETHER[together], a, b, *tables, tmp_path / "x.npz")


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
@cases(
    ({"fingerprint": "f1"}, {"fingerprint": "f2"}, "same references"),
    ({"segment_ids": ["a", "b"]}, {"segment_ids": ["b", "a"]}, "segments in the same order"),
    ({"labels": {"x": ["a", "b"]}}, {"labels": {"x": ["b", "a"]}}, "2 of 2 differ: x of segm"),
)
def test_what_only_some_tables_know_is_compared_in_every_order(one, other, message, order):
    known, values = [{}, one, other], [[[1, 1], [0, 1]]]
    systems = [es.SegmentStatistics(values, ["ABC"[i]], es.Mean("m"), **known[i]) for i in order]
    metrics = [es.SegmentStatistics(values, ["A"], es.Mean(f"m{i}"), **known[i]) for i in order]
    for bring in (lambda: es.SegmentStatistics.join(*systems), lambda: es.estimate(metrics)):
        refuses(message, bring)


@cases(
    (lambda table, path: table.join(table, 5), "join requires SegmentStatistics, got int"),
    (lambda table, path: table.save("a\0.npz"), "cannot write"),
    (lambda table, path: es.estimate(table, rng=10**5000), r"rng must be below 2\*\*128"),
    (lambda table, path: es.Monitor(None, es.Mean("m"), significance_level=10**400), "finite num"),
)
def test_raw_exceptions_are_none_of_ours(call, message, tmp_path):
    table = es.SegmentStatistics([[[1, 1], [0, 1]]], ["A"], es.Mean("m"))
    refuses(message, call, table, tmp_path)


@cases(
    ([[2**53 + 1, 1], [0, 1]], [2**53 + 1, 2]),
    (np.array([[2**63 + 5, 1], [0, 1]], np.uint64), [2**63 + 5, 2]),
    (np.array([[200, 1], [200, 1]], np.uint8), [400, 2]),
    ([[-(2**62), 1]] * 4, None),
)
def test_whole_numbers_are_summed_whole_within_groups_or_refused(values, expected):
    table = es.SegmentStatistics(np.array(values)[None], ["A"], es.Ratio("r"))
    groups = ["x"] * table.n_segments
    if expected is None:
        refuses("too large: sums within groups", table.grouped, groups)
    else:
        assert table.grouped(groups).values.tolist() == [[expected]]


@cases(
    (np.array([[2**24, 1], [0, 5]], np.float32), [2**24 + 1, 5]),
    (np.array([[4e4, 4e4], [0, 5]], np.float16), [80000, 5]),
    (np.array([[200, 200], [0, 5]], np.uint8), [400, 5]),
)
def test_counts_of_narrow_matrices_are_summed_whole(matrix, expected):
    metric = es.Confusion([0, 1], "macro-f1", matrices=True)
    gold = [metric.columns.index(f"gold {k}") for k in (0, 1)]
    assert metric.statistics(matrix[None])[0, gold].tolist() == expected
