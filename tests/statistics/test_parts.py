"""Parts of one test set, put one after the other: the numbers of the whole, or one error."""

from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from evalstats import cli
from tests.conftest import SYSTEMS
from tests.helpers import cases, refuses

CUTS = ((0, 25), (25, 26), (26, 60))


@pytest.fixture
def whole(small):
    labels = {"document": tuple(map(str, small.documents))}
    table = es.extract(small.systems, small.references, "chrf")
    return replace(table, segment_ids=tuple(f"s{i}" for i in range(60)), labels=labels)


def part(small, low, high, names=SYSTEMS, metric="chrf"):
    return es.extract(
        {name: small.systems[name][low:high] for name in names}, small.references[low:high], metric
    )


def test_parts_have_the_numbers_of_the_whole(small, whole):
    """Defect: four shards of a test set "must be computed with the same references"."""
    parts = [whole.select(range(low, high)) for low, high in CUTS]
    # Systems may stand in another order, of which one turn is not the other.
    at = [1, 2, 0]
    turned = replace(parts[1], values=parts[1].values[at], systems=[SYSTEMS[i] for i in at])
    assert es.concatenate([parts[0], turned, parts[2]]) == replace(whole, fingerprint=None)
    expected = replace(whole, fingerprint=es.concatenate([whole]).fingerprint)
    assert es.concatenate([whole]) == expected
    repeats = np.random.default_rng(0).random((1, 4, 3)) + 1
    trials = es.SegmentStatistics(np.ones((1, 4, 2)), ["A"], es.Mean("m"), repeats=repeats)
    stacked = es.concatenate([trials.select([0, 1, 2]), trials.select([3])])
    assert np.array_equal(stacked.repeats, repeats)


def test_parts_of_systems_extracted_apart_are_joined_in_one_order_only(small):
    a, b = ([part(small, *cut, names=[name]) for cut in CUTS] for name in SYSTEMS[:2])
    both = es.SegmentStatistics.join(es.concatenate(a), es.concatenate(b))
    assert np.array_equal(both.values, part(small, 0, 60, SYSTEMS[:2]).values)
    with pytest.raises(es.InputError, match="same references"):
        es.SegmentStatistics.join(es.concatenate(a), es.concatenate(b[::-1]))
    one, two = a[0], replace(a[1], reference_label="1")
    assert es.concatenate([one, two]).reference_label == "var"
    # What references are called is no name of segments.
    sides = [replace(x, segment_ids=[f"s{i}" for i in range(25)]) for x in (one, b[0])]
    joined = es.SegmentStatistics.join(sides[0], replace(sides[1], reference_label="1"))
    assert (joined.segment_ids, joined.reference_label) == (sides[0].segment_ids, None)
    assert es.concatenate([one, replace(two, fingerprint=None)]).fingerprint is None


@cases(
    ({"systems": ("x", "y", "z")}, "parts must have the same systems"),
    ({"metric": es.CHRF(word_order=2)}, "parts must have the same metric"),
    ({"fingerprint": None}, "but 0 and 1 share segment 's3';"),
    ({"segment_ids": None}, "but 0 and 1 share the same references; to rename systems with the"),
)
def test_what_are_no_parts(change, message, small, whole):
    first, second = whole.select(range(5)), whole.select(range(3, 9))
    if "metric" in change:
        second = part(small, 3, 9, metric=change["metric"])
    else:
        first, second = (replace(one, fingerprint="f") for one in (first, second))
        second = replace(second, **change)
    refuses(message, es.concatenate, [first, second])


def test_files_of_parts_are_stacked_on_the_command_line(
    small, capsys, tmp_path, monkeypatch, refused
):
    monkeypatch.chdir(tmp_path)
    names, options = SYSTEMS[:2], ["--resamples", "99", "--digits", "6"]
    part(small, 0, 60, names).save("whole.npz")
    for i, cut in enumerate(CUTS):
        part(small, *cut, names).save(f"p{i}.npz")
        for j, name in enumerate(names):
            part(small, *cut, [name]).save(f"{'ab'[j]}{i}.npz")
    tables = []
    for files in ("whole", "p0 p1 p2", "a0 a1 a2 b0 b1 b2", "a0 b0 a1 b1 a2 b2"):
        code = cli.main(["compare", *(f"{x}.npz" for x in files.split()), *options])
        out = capsys.readouterr().out
        assert code == 0
        tables.append(out.split("\n\n")[0])
        said = "are parts of one test set of 60 segments, in this order"
        assert (said in out) == (len(files) > 5)
    assert tables.count(tables[0]) == 4
    es.SegmentStatistics([[[1, 1], [0, 1]]], ["A"], es.Mean("m")).save("x.npz")
    for files, message in (
        ("p0 p0", "but 0 and 1 share the same references;"),
        ("x x", "is unknown whether they are parts of one test set"),
        ("a0 a1 b0", "have the same segments, got 26 for"),
    ):
        assert message in refused("compare", *(f"{x}.npz" for x in files.split()))
