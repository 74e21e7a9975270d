"""Moments say what the rows say by t: the truth is the rows themselves, under t."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evalstats as es
from evalstats.data import load_sample
from evalstats.metrics.ratios import MeanOfRuns
from tests.helpers import cases, refuses

SAMPLE = load_sample()
#: A few groups of one segment, and others of more; strata of several sizes, of whole groups.
GROUPS = [f"g{i // 7 if i % 2 else i // 3}" for i in range(480)]
STRATA = ["xyyzz"[i // 100] for i in range(480)]
PAIR = ("low", "high", "standard_error", "pvalue", "pvalue_adjusted", "difference", "n_differing")
SCORE = ("score", "low", "high", "standard_error", "n_segments")


@cache
def extracted(metric):
    return es.extract(SAMPLE.systems, SAMPLE.references, metric)


def moments_of(table, codes=None, strata=None, **options):
    """Return the moments of rows, by the formulas: Σx, Σxxᵀ, and what differs."""
    codes = np.arange(table.n_segments) if codes is None else codes
    sizes = np.bincount(codes)
    rows = np.zeros((len(sizes), table.values[0].size * len(table.systems) // table.n_segments))
    np.add.at(rows, codes, np.concatenate(list(table.values), axis=1).astype(float))
    shape = len(table.systems), len(table.metric.columns)
    apart = rows.reshape(-1, *shape)
    differs = np.any(apart[:, :, None] != apart[:, None], axis=-1)  # (N, S, S)
    of_units = np.stack([np.ones_like(sizes), sizes, sizes**2])
    names = list(dict.fromkeys(strata or ["all"]))
    of_groups = np.zeros(len(sizes), dtype=int)
    of_groups[codes] = [names.index(s) for s in strata or ["all"] * len(codes)]
    parts = [rows[of_groups == t] for t in range(len(names))]
    return es.Moments(
        table.systems,
        table.metric,
        [len(part) for part in parts],
        np.stack([part.sum(axis=0).reshape(shape) for part in parts]),
        np.stack([part.T @ part for part in parts]),
        np.einsum("cn,nab->cab", of_units, differs.astype(int)),
        strata=names if strata else (),
        unit="segment" if len(sizes) == len(codes) else "group",
        sizes=np.stack([np.bincount(of_groups, s) for s in of_units[1:]], axis=1),
        **options,
    )


def check_same(one, other, signed=True):
    """Hold two comparisons against each other, to 1e-10 of each number."""
    assert len(one.differences) == len(other.differences) > 0
    for pairs, fields in (((one, other), PAIR), ((one.estimates, other.estimates), SCORE)):
        for a, b in zip(*pairs, strict=True):
            assert (a.task, a.metric, a.method) == (b.task, b.metric, b.method)
            for field in fields:
                x, y = getattr(a, field), getattr(b, field)
                assert x == pytest.approx(y, rel=1e-10, abs=1e-10), (a, field)
    if signed:
        assert [s.replace("|nrefs:2", "") for s in other.signatures] == list(one.signatures)


def by_t(table, **options):
    return es.compare(table, method="t", **options)


@pytest.fixture(scope="module", params=["bleu", "ter", "mean"])
def table(request):
    if request.param != "mean":
        return extracted(request.param)
    rng = np.random.default_rng(4)
    marks = {name: np.where(rng.random(480) < 0.1, np.nan, rng.random(480)) for name in "ABC"}
    rows = np.stack([np.stack([np.nan_to_num(x), ~np.isnan(x)], axis=1) for x in marks.values()])
    return es.SegmentStatistics(rows, list(marks), es.Mean("judge"))


def test_moments_are_the_rows_under_t(table):
    moments = moments_of(table)
    check_same(es.compare(moments), by_t(table))
    one, other = es.compare(moments), by_t(table)
    assert (one.test, one.method, one.adjustment) == (other.test, other.method, "holm")
    assert one.notes == other.notes
    options = {"baseline": table.systems[0], "recovery": 0.9, "confidence_level": 0.9}
    for a, b in zip(es.compare(moments, **options), by_t(table, **options), strict=True):
        assert a.pvalue_not_worse == pytest.approx(b.pvalue_not_worse)
        assert a.recovery_bound == pytest.approx(b.recovery_bound)
    check_same(es.compare(moments, alternative="less"), by_t(table, alternative="less"))
    # What is identical differs by nothing at all, and not by what rounding leaves.
    twice = es.SegmentStatistics(table.values[[0, 0, 1]], ["a", "b", "c"], table.metric)
    same, *_ = es.compare(moments_of(twice))
    assert (same.low, same.high, same.standard_error, same.pvalue) == (0, 0, 0, 1)


def test_groups_and_strata_are_those_of_rows(table):
    codes = np.unique(GROUPS, return_inverse=True)[1]
    check_same(es.compare(moments_of(table, codes)), by_t(table, groups=GROUPS))
    strata = moments_of(table, strata=STRATA)
    for aggregate in ("micro", "macro", {"x": 5, "y": 2, "z": 1}):
        one = es.compare(strata, aggregate=aggregate)
        check_same(one, by_t(table, strata=STRATA, aggregate=aggregate))
    of_groups = [s for s, _ in sorted(zip(STRATA, GROUPS, strict=True))]
    whole = [f"{s}{i // 3}" for i, s in enumerate(of_groups)]
    strata = [w[0] for w in whole]
    # No group lies in two strata.
    codes = np.unique(whole, return_inverse=True)[1]
    one = es.compare(moments_of(table, codes, strata), aggregate="macro")
    check_same(one, by_t(table, groups=whole, strata=strata, aggregate="macro"))


def test_strata_of_one_segment_are_drawn_together(table):
    for alone in (["p"], ["p", "q"]):
        strata = [*alone, *STRATA[len(alone) :]]
        moments = moments_of(table, strata=strata)
        check_same(es.compare(moments), by_t(table, strata=strata))
        refuses("'macro' of Moments requires at least 2", es.compare, moments, aggregate="macro")


def test_suites_of_moments(table):
    tasks = {"x": range(100), "y": range(100, 300), "z": range(300, 480)}
    parts = {name: table.select(rows) for name, rows in tasks.items()}
    moments = {name: moments_of(part) for name, part in parts.items()}
    for aggregate in (None, "micro", {"x": 1, "y": 2, "z": 3}):
        one = es.Suite(moments, aggregate).compare(margin=0.5)
        other = es.Suite(parts, aggregate).compare(margin=0.5, method="t")
        # Totals of rows have their tasks, and weights, in an order of their own.
        check_same(one, other, signed=False)
        assert one.notes == other.notes
    scores = es.Suite(moments).estimate()
    others = es.Suite(parts).estimate(method="t")
    for a, b in zip(scores, others, strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-10)
    mixed = {"x": moments["x"], "y": parts["y"]}
    refuses(
        "tasks must be either all SegmentStatistics or all Moments, not a mixture", es.Suite, mixed
    )
    with pytest.raises(es.InputError, match="groups must be left out when you pass Moments"):
        es.Suite(moments, groups={"x": ["a"] * 100}).compare()
    with pytest.raises(es.InputError, match="task 'x' has strata"):
        es.Suite({"x": moments_of(parts["x"], strata=["a", "b"] * 50), "y": moments["y"]}).compare()


def test_gates_of_moments(table):
    first, second = table.systems[:2]
    two = es.SegmentStatistics(table.values[:2], table.systems[:2], table.metric)
    gate = es.gate(moments_of(two), first, margin=1.0)
    (difference,) = by_t(two, baseline=first, margin=1.0, confidence_level=0.9)
    test = gate.checks[0].difference
    assert test.pvalue_not_worse == pytest.approx(difference.pvalue_not_worse, rel=1e-9)
    assert gate.checks[0].difference.system == second
    assert "test:t" in gate.checks[0].signature
    tasks = {"a": moments_of(two), "b": moments_of(two)}
    assert len(es.gate(tasks, first, margin=1.0).checks) == 3
    with pytest.raises(
        es.InputTypeError, match="baseline must be the name of a system if you pass Moments"
    ):
        es.gate(moments_of(two), moments_of(two), margin=1.0)


def test_estimates_power_and_ranking(table):
    moments = moments_of(table)
    for a, b in zip(es.estimate(moments), es.estimate([table], method="t"), strict=True):
        assert (a.score, a.low, a.high) == pytest.approx((b.score, b.low, b.high), rel=1e-10)
        assert a.replicates.size == 0
    (one, *_), alone = es.estimate([table], method="t"), es.estimate(replace_systems(moments, 1))
    assert alone.low == pytest.approx(one.low, rel=1e-10)
    ranks = [r.rank for r in es.compare(moments).ranking()]
    assert ranks == [r.rank for r in by_t(table).ranking()]
    planned = es.power(moments, difference=1.0)
    for a, b in zip(planned, es.power(table, difference=1.0), strict=True):
        assert a.needed == b.needed
    assert any("because only sums are known" in note for note in planned.notes)


def replace_systems(moments, n):
    """Return the moments of the first n systems."""
    k = len(moments.metric.columns)
    side = slice(0, n * k)
    return es.Moments(
        moments.systems[:n], moments.metric, moments.n[0], moments.sums[0, :n],
        moments.products[0, side, side],
    )  # fmt: skip


def test_parts_add_up():
    """Whole numbers are added exactly, in any order; strata meet by their names."""
    table = extracted("bleu")
    sides = (slice(0, 250), slice(250, 480))
    halves = [moments_of(table.select(range(480)[rows]), strata=STRATA[rows]) for rows in sides]
    whole = moments_of(table, strata=STRATA)
    for added in (halves[0] + halves[1], halves[1] + halves[0]):
        assert set(added.strata) == {"x", "y", "z"}
        order = [added.strata.index(name) for name in whole.strata]
        for name in ("n", "sums", "products", "sizes"):
            np.testing.assert_array_equal(getattr(added, name)[order], getattr(whole, name))
        np.testing.assert_array_equal(added.differing, whole.differing)
    assert repr(whole) == "<Moments of 480 segments in 3 strata, 4 systems, BLEU>"
    assert replace(halves[0], differing=None) + halves[1] != whole
    for other, message in (
        (replace(halves[1], systems=("a", "b", "c", "d")), "the same systems"),
        (moments_of(table), "in both or neither"),
        (moments_of(extracted("ter"), strata=STRATA), "metric"),
    ):
        with pytest.raises(es.InputError, match=message):
            halves[0] + other


#: Documents of several domains, in the order of the corpus: two domains lie in each third of it.
DOCUMENTS = [f"d{(i // 7) % 60}" for i in range(480)]
DOMAINS = ["news" if int(name[1:]) % 3 else "chat" for name in DOCUMENTS]
LABELS = [{}, {"groups": "document"}, {"strata": "domain"}]
LABELS += [{"groups": "document", "strata": "domain"}]


def labelled(table):
    return replace(table, labels={"document": DOCUMENTS, "domain": DOMAINS})


def partitions(table, labels):
    """Return the parts of a table as an engine makes them, of whole documents where asked for."""
    by_document = [int(name[1:]) * 3 // 60 for name in DOCUMENTS]
    of_segments = by_document if "groups" in labels else [i * 3 // 480 for i in range(480)]
    return [table.select(np.flatnonzero(np.array(of_segments) == part)) for part in range(3)]


@pytest.mark.parametrize("labels", LABELS)
def test_parts_of_a_corpus_are_the_whole(table, labels):
    """Wherever segments lie; of counts alike to the last bit, in every order of the parts."""
    table = labelled(table)
    first, second, third = (es.Moments.of(part, **labels) for part in partitions(table, labels))
    whole = es.Moments.of(table, **labels)
    for aggregate in ("micro", "macro") if "strata" in labels else ("micro",):
        asked = {"aggregate": aggregate, "margin": 0.5}
        rows = by_t(table, **labels, **asked)
        for added in (whole, first + second + third, third + (first + second)):
            check_same(es.compare(added, **asked), rows)
            assert set(es.compare(added, **asked).notes) <= set(rows.notes)
    if table.metric.name == "BLEU" and "strata" not in labels:
        assert first + second + third == third + (second + first) == whole
    # A group that is in two parts would count as two.
    if "groups" in labels:
        with pytest.raises(es.InputError, match=r"^2[01] groups occur in both moments"):
            whole + first


def test_what_has_no_moments_is_refused():
    table = labelled(extracted("bleu"))
    judged = es.extract({"A": [(1, 1), (0, None)] * 9}, metric=es.Judged(es.Mean("pass")))
    for statistics, labels, message in (
        ([table], {}, "statistics must be SegmentStatistics of a single metric, got list"),
        (judged, {}, "moments do not support"),
        (table, {"groups": ["document", "domain"]}, "groups must contain one label per segment"),
        (table, {"groups": DOCUMENTS[1:]}, "groups has 479 labels"),
        (table, {"strata": "topic"}, "strata='topic' is not a label of the segments"),
        (
            table,
            {"groups": ["x"] * 480, "strata": "domain"},
            "each group must belong to a single stratum",
        ),
    ):
        refuses(message, es.Moments.of, statistics, **labels)


def test_segments_are_called_as_the_statistics_call_them():
    table = replace(extracted("ter"), unit="question")
    check_same(es.compare(es.Moments.of(table)), by_t(table))
    assert "480 questions" in str(es.compare(es.Moments.of(table)))


def test_moments_and_statistics_do_not_go_together():
    table = extracted("bleu")
    for given in ([es.Moments.of(table), table], [table, es.Moments.of(table)]):
        with pytest.raises(es.InputTypeError, match=r"hypotheses must be .* got list"):
            es.compare(given)


def test_numbers_far_from_zero_lose_no_digits():
    """Offsets, of each part its own: scores of 1e9 have the variance that they have less it."""
    scores = np.random.default_rng(3).normal(size=(2, 300))
    table, far = (
        es.extract(dict(zip("AB", rows, strict=True)), metric=es.Mean("m"))
        for rows in (scores, scores + 1e9)
    )
    parts = [es.Moments.of(far.select(range(i, i + 100))) for i in (0, 100, 200)]
    (near,) = by_t(table)
    for moments in (es.Moments.of(far), parts[0] + parts[1] + parts[2]):
        (pair,) = es.compare(moments)
        assert pair.standard_error == pytest.approx(near.standard_error, rel=1e-6)


@pytest.mark.parametrize("labels", LABELS)
def test_files_are_what_was_saved(table, labels, tmp_path):
    moments = es.Moments.of(labelled(table), **labels)
    moments.save(tmp_path / "part.npz")
    given = {} if table.metric.name != "judge" else {"metric": table.metric}
    assert es.Moments.load(tmp_path / "part.npz", **given) == moments
    assert hash(es.Moments.load(tmp_path / "part.npz")) == hash(moments)
    refuses(r"path must end in \.npz", moments.save, tmp_path / "part")


def test_what_is_no_file_of_moments_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    table = extracted("bleu")
    table.save(path)
    refuses(r"cannot load moments from .*not a file in", es.Moments.load, path)
    es.Moments.of(table).save(path)
    refuses("the file has the metric BLEU", es.Moments.load, path, "chrf")


def bounds(moments, **options):
    return moments.drawn("acc", "micro", es.analysis.options.Options(method="t", **options)).bounds


@pytest.mark.parametrize("metric", [es.Mean("acc"), es.Ratio("acc", scale=100)])
def test_sums_of_zeros_and_ones_know_their_scale(metric):
    """Whole numbers whose squares have the same sum are 0 and 1; others, and groups, are not."""
    rng = np.random.default_rng(5)
    right = (rng.random((2, 60)) < 0.6).astype(float)
    table = es.SegmentStatistics(np.stack([right, np.ones_like(right)], 2), ["a", "b"], metric)
    parts = es.Moments.of(table.select(range(7))) + es.Moments.of(table.select(range(7, 60)))
    scale = 100.0 if isinstance(metric, es.Ratio) else 1.0
    assert bounds(parts) == bounds(es.Moments.of(table, strata=[0, 1] * 30)) == (0, scale)
    assert bounds(es.Moments.of(table, groups=np.arange(60) // 2)) == metric.bounds
    for change in (2.0, 0.5, -1.0):
        values = table.values.copy()
        values[1, :2, 0] = change
        other = es.Moments.of(es.SegmentStatistics(values, ["a", "b"], metric))
        assert bounds(other) == metric.bounds


def test_what_moments_do_not_know_is_said():
    table = extracted("bleu")
    moments = moments_of(table)
    # Nothing is drawn of them, whatever is asked.
    assert es.compare(moments, n_resamples=99, rng=3)[0] == es.compare(moments)[0]
    refuses(r"influence requires .* Moments", es.compare(replace_systems(moments, 2)).influence)
    refuses("requires strata", es.compare, moments, aggregate="macro")
    # Without counts of what differs all units are, and the results say so.
    unknown = replace(moments, differing=None)
    result = es.compare(unknown)
    assert "These moments do not include the number of segments" in str(result)
    assert [d.n_differing for d in result] == [480] * 6
    assert not any("two systems differ" in note for e in es.estimate(unknown) for note in e.notes)
    several = es.compare([moments, moments_of(extracted("ter"))])
    assert {d.metric for d in several} == {"BLEU", "TER"}


def of_rows(rows):
    """Return the moments of the mean of scores `(N, S)`, which do not know what differs."""
    names = [f"s{i}" for i in range(rows.shape[1])]
    table = es.extract(dict(zip(names, rows.T, strict=True)), metric=es.Mean("m"))
    return replace(moments_of(table), differing=None)


@cases(
    (1e-6, 0, 1, True), (1e-7, 0, 1, False), (0.3, 1e6, 1, True), (0.3, 1e7, 1, False),
    (0.3, 1e10, 1, False), (1e-7, 0, 1e100, False), (0.3, 1, 1e-140, True),
    (0.3, 1, 1e-165, False),
)  # fmt: skip
def test_a_variance_that_rounding_hides_is_refused(apart, mean, unit, is_known):
    """200 segments whose difference has this standard deviation, beside scores of 1."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        old = rng.normal(mean, 1, 200)
        rows = unit * np.stack([old, old + rng.normal(0, apart, 200)], axis=1)
        moments = of_rows(rows)
        if is_known:
            error = np.std(rows[:, 1] - rows[:, 0], ddof=1) / 200**0.5
            assert es.compare(moments)[0].standard_error == pytest.approx(error, rel=0.03)
            continue
        refuses("m of 's0' and 's1' differ too little:", es.compare, moments)
        assert len(es.estimate(moments)) == 2


@pytest.mark.parametrize("other", [0.1, 1.0, 0.0])
def test_equal_and_constant_systems_have_nothing_to_hide(other):
    varied = np.random.default_rng(2).random(200)
    same = es.compare(of_rows(np.stack([varied, varied, np.full(200, other)], axis=1)))
    assert (same[0].pvalue, same[0].difference) == (1, 0)
    assert same[0].high == pytest.approx(0, abs=1e-8)
    (d,) = es.compare(of_rows(np.stack([np.zeros(200), np.ones(200)], axis=1)))
    assert (d.low, d.high) == (1, 1)


@cases(
    ({"n": 0}, "n must be at least 1"),
    ({"n": 2.5}, "n must be whole numbers"),
    ({"sums": [[1, 2]]}, r"sums must have shape \(2, 2\), got \(1, 2\)"),
    ({"sums": [[np.nan, 2], [1, 2]]}, "sums must be finite numbers"),
    ({"products": np.ones((2, 2))}, r"products must have shape \(4, 4\)"),
    ({"products": np.triu(np.full((4, 4), 9))}, "products must be symmetric"),
    ({"products": np.eye(4)}, "products are impossible for 4 numbers that sum to 4"),
    ({"differing": [[0, 5], [5, 0]]}, "differing must contain numbers of units from 0 to 4"),
    ({"differing": [[0, 1], [2, 0]]}, "be symmetric"),
    ({"strata": ["a", "b"]}, r"n must have shape \(2,\)"),
    ({"unit": ""}, "unit must"),
    ({"offsets": [[1, 2]]}, "offsets"),
    ({"sizes": [2, 2]}, "at most sizes"),
    ({"metric": MeanOfRuns(es.Ratio("share"), 2)}, "moments do not support several runs"),
    ({"systems": ["A", "A"]}, "system names must be"),
)
def test_moments_that_cannot_be(change, message):
    rows = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]])
    known = {"systems": ["A", "B"], "metric": es.Ratio("share"), "n": 4}
    known |= {"sums": rows.sum(0).reshape(2, 2), "products": rows.T @ rows}
    es.Moments(**known)
    refuses(message, es.Moments, **known | change)


# The query, in SQLite, which is here wherever Python is. (`test_engines` has DuckDB.)


@pytest.fixture
def database():
    """Return a database with the statistics of two systems, labels, and a name to be quoted."""
    table = es.extract(
        {n: SAMPLE.systems[n] for n in ("baseline", "clearly-better")}, SAMPLE.references
    )
    names = {s: [f"{s} {c}" for c in table.metric.columns] for s in table.systems}
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}"' for each in names.values() for name in each)
    connection.execute(f'CREATE TABLE "a ""b"" c" (domain, document, {columns})')
    rows = np.concatenate(list(table.values), axis=1).tolist()
    values = [[s, g, *row] for s, g, row in zip(STRATA, GROUPS_WITHIN, rows, strict=True)]
    marks = ", ".join("?" * len(values[0]))
    connection.executemany(f'INSERT INTO "a ""b"" c" VALUES ({marks})', values)
    yield connection, table, names
    connection.close()


GROUPS_WITHIN = [f"{s}{i // 4}" for i, s in enumerate(STRATA)]


@pytest.mark.parametrize("quote", ['"', "`"])
@pytest.mark.parametrize("groups", [None, GROUPS_WITHIN])
@pytest.mark.parametrize("strata", [None, STRATA])
def test_a_query_is_the_rows(database, groups, strata, quote):
    connection, table, names = database
    labels = {"groups": groups and "document", "strata": strata and "domain"}
    name = ['a "b" c']
    query = es.moments_query(name, table.systems, "bleu", names, **labels, quote=quote)
    if quote == "`":
        query = query.replace('`a "b" c`', '"a ""b"" c"')
    answer = connection.execute(query)
    rows = answer.fetchall()
    moments = es.Moments.from_rows(rows, table.systems, "bleu")
    table = replace(table, labels={"document": GROUPS_WITHIN, "domain": STRATA})
    check_same(es.compare(moments), by_t(table, **labels))
    fields = [column[0] for column in answer.description]
    named = [[dict(zip(fields, row, strict=True))] for row in rows]
    first, *others = (es.Moments.from_rows(row, table.systems, "bleu") for row in named)
    assert es.compare(sum(others, first)) == es.compare(moments)


@pytest.mark.parametrize("groups", [None, "document"])
def test_whole_numbers_of_a_query_are_summed_exactly(groups):
    """Rounding is not by chance where few numbers recur: of 1e8 it took the ninth digit."""
    scores = np.random.default_rng(3).integers(0, 2, size=(2, 1001))
    documents = (np.arange(1001) // 4).tolist()
    names, judge = ["A", "B"], es.Mean("judge")
    columns = {"A": ["a", 1], "B": ["b", 1]}
    query = es.moments_query("t", names, judge, columns, groups=groups)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a, b, document)")
        rows = zip(*scores.tolist(), documents, strict=True)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        moments = es.Moments.from_rows(connection.execute(query), names, judge)
    table = es.extract(dict(zip(names, scores.tolist(), strict=True)), metric=judge)
    whole = es.Moments.of(table, groups=groups and documents)
    for name in ("n", "sums", "products", "differing", "offsets"):
        np.testing.assert_array_equal(getattr(moments, name), getattr(whole, name), name)


def test_what_a_query_finds_wrong(database):
    """Null labels and statistics, groups in two strata, and no rows are said, not left out."""
    connection, table, names = database
    known = ('"a ""b"" c"', table.systems, "bleu", names)

    def asked(**labels):
        query = es.moments_query(['a "b" c'], *known[1:], **labels)
        return es.Moments.from_rows(connection.execute(query), table.systems, "bleu")

    connection.execute(f"UPDATE {known[0]} SET domain = 'q' WHERE rowid = 3")
    refuses("1 group in several strata", asked, groups="document", strata="domain")
    asked(groups="document")
    connection.execute(f"UPDATE {known[0]} SET document = NULL WHERE rowid IN (5, 8)")
    refuses("2 rows with NULL", asked, groups="document")
    asked(strata="domain")
    connection.execute(f'UPDATE {known[0]} SET "baseline sys_len" = NULL WHERE rowid = 9')
    refuses(r"of stratum 'x': the query found 1 row with NULL", asked, strata="domain")
    connection.execute(f"DELETE FROM {known[0]}")
    refuses("contains no segments", asked)
    refuses("found no segments", asked, strata="domain")
    with pytest.raises(es.InputError, match="row must have the 260 columns of moments_query"):
        es.Moments.from_rows([[1, 2, 3]], table.systems, "bleu")
    query = es.moments_query("sqlite_schema", ["a"], es.Mean("q"), {"a": [1, 1]})
    twice = [(*row[:2], 2, *row[3:]) for row in connection.execute(query)] * 2
    refuses("rows must have one named row per", es.Moments.from_rows, twice, ["a"], es.Mean("q"))


@cases(
    ({"columns": {"a": ["x", 1]}}, "columns must list the columns of each system: a, b"),
    (
        {"columns": {"a": ["x"], "b": ["y", 1]}},
        r"columns must contain 2 names per system \(sum, count\), got 1",
    ),
    ({"columns": {"a": ["x", 1.5], "b": ["y", 1]}}, "columns must be names, got 1.5"),
    ({"columns": {"a": ["x`", 1], "b": ["y", 1]}, "quote": "`"}, "cannot be quoted with `"),
    ({"groups": "a\nb"}, "groups contains .* cannot be quoted"),
    ({"table": "a..b"}, "table contains '', which cannot be quoted"),
    ({"quote": "'"}, "quote must be one of"),
)
def test_queries_that_cannot_be(change, message):
    known = {"table": "t", "systems": ["a", "b"], "metric": es.Mean("q")}
    known |= {"columns": {"a": ["x", 1], "b": ["y", 1]}}
    assert es.moments_query(**known)
    refuses(message, es.moments_query, **known | change)


def test_names_do_not_end_their_quotes():
    """A name with quotes, blanks and a comment stays one name."""
    odd = 'x" FROM t; DROP TABLE t; --'
    query = es.moments_query("main.t", ["a"], es.Mean("q"), {"a": [odd, 1]})
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE t ("x"" FROM t; DROP TABLE t; --")')
        connection.executemany("INSERT INTO t VALUES (?)", [[0.0], [1.0], [1.0]])
        moments = es.Moments.from_rows(connection.execute(query), ["a"], es.Mean("q"))
    assert moments.sums.tolist() == [[[2.0, 3.0]]]
    assert es.estimate(moments).score == pytest.approx(2 / 3)
