"""Statistics as files: what comes back is what was saved; everything else is refused."""

import hashlib
import io
import json
import os
import pickle
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import evalstats as es
from evalstats import SegmentStatistics
from evalstats.statistics import interchange

HYPOTHESES = ["the cat sat on a mat", "it is raining", "\ud800 a lone surrogate", ""]
REFERENCES = [["the cat sat on the mat"], ["it rains", "it is raining again"], ["\ud800 b"], ["c"]]
METRICS = [
    es.BLEU(),
    es.BLEU(smooth_method="floor", smooth_value=0.123456789, max_ngram_order=2, lowercase=True),
    es.BLEU(trg_lang="zh", effective_order=True),
    es.CHRF(word_order=2, beta=1.5, eps_smoothing=True),
    es.TER(normalized=True, case_sensitive=True),
    es.WER(lowercase=True),
    es.CER(),
    es.Mean("MQM ↓", higher_is_better=False),
    es.Ratio("F1", ["tp", "n"], numerator=[2, 0], denominator=[0.1, 1], scale=100),
]


class Own(es.Metric):
    name = "own"
    columns = ("a", "b")

    def __init__(self, power=1):
        self.power = power

    @property
    def signature(self):
        return f"own:{self.power}"

    def statistics(self, hypotheses, references=None):
        return np.array([[-len(h), 1] for h in hypotheses])

    def score(self, totals):
        return np.asarray(totals)[..., 0] / np.asarray(totals)[..., 1] ** self.power


def made(metric="bleu", systems=("A", "B"), references=REFERENCES, **options):
    metric = interchange.as_metric(metric)
    rng = np.random.default_rng(len(systems[0]))
    if isinstance(metric, es.Mean):
        outputs = {name: rng.normal(size=4) for name in systems}
    elif isinstance(metric, es.Ratio):
        outputs = {name: rng.normal(size=(4, 2)) for name in systems}
    else:
        outputs = {name: HYPOTHESES[:3] + [name] for name in systems}
    return es.extract(outputs, references, metric, **options)


def assert_same(found, table):
    assert np.array_equal(found.values, table.values)
    assert found.values.dtype == table.values.dtype
    for name in ("systems", "metric", "reference_label", "fingerprint", "segment_ids"):
        assert getattr(found, name) == getattr(table, name), name
    assert found.metric_signature == table.metric_signature


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_what_is_loaded_is_what_was_saved(metric, tmp_path):
    table = made(metric, segment_ids=["doc 1", "2", "三", ""])
    table.save(tmp_path / "x.npz")
    found = SegmentStatistics.load(tmp_path / "x.npz")
    assert_same(found, table)
    assert_same(SegmentStatistics.load(str(tmp_path / "x.npz"), metric), table)
    assert np.array_equal(found.scores, table.scores)


def test_the_comparison_is_the_same_to_the_last_bit(tmp_path, sample):
    tables = [
        es.extract({name: texts}, sample.references, metric)
        for metric in ("bleu", "ter")
        for name, texts in sample.systems.items()
    ]
    for i, table in enumerate(tables):
        table.save(tmp_path / f"{i}.npz")
    loaded = [SegmentStatistics.load(tmp_path / f"{i}.npz") for i in range(len(tables))]
    expected = es.compare(sample.systems, sample.references, ["bleu", "ter"], n_resamples=99)
    assert es.compare(loaded, n_resamples=99).to_dict() == expected.to_dict()


@given(
    st.lists(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2), min_size=1, max_size=5
    ),
    st.sampled_from([np.int64, np.float64]),
)
def test_every_integer_comes_back(tmp_path_factory, rows, dtype):
    path = tmp_path_factory.mktemp("x") / "x.npz"
    table = SegmentStatistics(np.array([rows], dtype=np.int64).astype(dtype), ["A"], Own())
    table.save(path)
    found = SegmentStatistics.load(path, Own())
    assert np.array_equal(found.values, table.values)
    assert found.values.dtype == dtype


def test_integers_beyond_int64_stay_unsigned(tmp_path):
    table = SegmentStatistics(np.full((1, 2, 2), 2**64 - 1, np.uint64), ["A"], Own())
    table.save(tmp_path / "x.npz")
    assert_same(SegmentStatistics.load(tmp_path / "x.npz", table.metric), table)


def test_a_file_holds_no_text_and_is_the_same_each_time(tmp_path):
    table = made()
    table.save(tmp_path / "a.npz")
    table.save(tmp_path / "b.npz")
    data = (tmp_path / "a.npz").read_bytes()
    assert data == (tmp_path / "b.npz").read_bytes()
    assert b"cat" not in data
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert file["statistics"].dtype == np.uint8
        assert json.loads(file["header"].tobytes())["systems"] == ["A", "B"]


def test_a_metric_of_ones_own_needs_the_object(tmp_path):
    path = tmp_path / "x.npz"
    table = made(Own(2))
    table.save(path)
    with pytest.raises(es.InputError, match=r"metric 'own' is not one of evalstats'; give the obj"):
        SegmentStatistics.load(path)
    with pytest.raises(
        es.InputError, match=r"signature of its metric is 'own:2', that of .* 'own:1'"
    ):
        SegmentStatistics.load(path, Own(1))
    with pytest.raises(es.InputError, match=r"name of its metric is 'own', that of .* is 'BLEU'"):
        SegmentStatistics.load(path, "bleu")
    metric = Own(2)
    assert SegmentStatistics.load(path, metric).metric is metric


def test_a_subclass_of_ours_is_a_metric_of_ones_own(tmp_path):
    class Louder(es.BLEU):
        def score(self, totals):
            return 2 * super().score(totals)

    made(Louder()).save(tmp_path / "x.npz")
    with pytest.raises(es.InputError, match="not one of evalstats'"):
        SegmentStatistics.load(tmp_path / "x.npz")


def test_another_version_of_sacrebleu_is_accepted_and_said(tmp_path):
    old, new = made(), made(systems=("C",))
    signature = old.metric_signature.rpartition(":")[0] + ":2.3.1"
    old = replace(old, metric_signature=signature)
    old.save(tmp_path / "x.npz")
    found = SegmentStatistics.load(tmp_path / "x.npz")
    assert found.metric_signature == signature
    (line,) = es.compare([found, new], n_resamples=9).signatures
    version = new.metric_signature.rpartition(":")[2]
    assert f"|sacrebleu:2.3.1,{version}|" in line
    with pytest.raises(es.InputError, match="metric_signature must fit"):
        replace(old, metric_signature="case:lc")


class TestJoin:
    def test_systems_side_by_side(self):
        a, b = made(), made(systems=("C",))
        joined = SegmentStatistics.join(a, b)
        assert joined.systems == ("A", "B", "C")
        assert np.array_equal(joined.values[2], b.values[0])
        assert joined.fingerprint == a.fingerprint
        assert joined.metric_signature == a.metric_signature
        assert_same(SegmentStatistics.join(a), a)
        unknown = replace(b, fingerprint=None)
        assert SegmentStatistics.join(a, unknown).fingerprint is None

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"metric": "chrf"}, r"same metric, got BLEU.*for \['A', 'B'\] and CHRF"),
            ({"metric": es.BLEU(lowercase=True)}, "must have the same metric"),
            ({"references": REFERENCES[:3] + [["d"]]}, r"same references, got fingerprint sha256:"),
            ({"references": REFERENCES[:3] + [["c", "d"]]}, "against the same references"),
            ({"segment_ids": list("abce")}, r"segment 3 is 'd' for \['A', 'B'\] and 'e' for"),
            ({"systems": ("A",)}, "system names must differ, got 'A' more than once"),
        ],
    )
    def test_what_does_not_belong_together_is_refused(self, change, message):
        first = made(segment_ids=list("abcd"))
        other = made(**{"systems": ("C",), **change})
        with pytest.raises(es.InputError, match=message):
            SegmentStatistics.join(first, other)

    def test_numbers_of_segments_must_agree(self):
        a, b = made(), made(systems=("C",))
        b = replace(b, values=b.values[:, :3], fingerprint=None)
        with pytest.raises(es.InputError, match=r"got 4 for \['A', 'B'\] and 3 for \['C'\]"):
            SegmentStatistics.join(a, b)
        with pytest.raises(es.InputError, match="join needs at least one"):
            SegmentStatistics.join()

    def test_signatures_that_round_do_not_hide_another_metric(self):
        tables = [
            made(es.BLEU(smooth_method="floor", smooth_value=value), systems=(name,))
            for name, value in (("A", 0.101), ("B", 0.102))
        ]
        assert tables[0].metric.signature == tables[1].metric.signature
        # Segments 3 and 4 have no 4-grams that match: the smoothing value acts.
        low = [replace(t, values=t.values[:, 2:], fingerprint=None) for t in tables]
        low[0], low[1] = (replace(t, values=t.values + [2, 2, 1, 0, 0, 0, 2, 2, 2, 2]) for t in low)
        with pytest.raises(es.InputError, match="must have the same metric"):
            SegmentStatistics.join(*low)

    def test_compare_refuses_different_references_under_different_metrics(self):
        other = made("ter", references=REFERENCES[:3] + [["d"]])
        with pytest.raises(
            es.InputError, match=r"same references, got fingerprint .* for BLEU and"
        ):
            es.compare([made(), other])

    def test_groups_are_part_of_the_fingerprint(self):
        a, b = made().grouped(list("xxyy")), made(systems=("C",)).grouped(list("xyyy"))
        with pytest.raises(es.InputError, match="same references"):
            SegmentStatistics.join(a, b)
        assert made(es.Mean("x")).grouped(list("xxyy")).fingerprint is None


def test_fingerprints_tell_references_apart():
    variants = [
        ["a", "b"], ["b", "a"], ["ab", ""], ["", "ab"], [["a", "b"], "c"], ["a", ["b", "c"]],
        [["a", ""], "b"], ["a", ["", "b"]], ["\ud800", "b"], ["a\x00", "b"],
    ]  # fmt: skip
    prints = [es.References(rows).fingerprint for rows in variants]
    assert len(set(prints)) == len(variants)
    assert es.References([["a", None], [None, "b"]]).fingerprint == prints[0]
    # Pinned: files that exist must stay comparable.
    by_hand = np.array([1, 1, 1, 1], dtype="<i8").tobytes() + b"ab"
    assert prints[0] == "sha256:" + hashlib.sha256(by_hand).hexdigest()


@pytest.mark.parametrize(
    "ids, message",
    [
        ("abcd", "segment_ids must be a list of strings, one a segment, got a bare str"),
        (list("abc"), "segment_ids has 3 names but there are 4 segments"),
        (list("abca"), "segment_ids must differ, got 'a' more than once"),
        ([1, 2, 3, 4], "segment_ids must be strings, got int 1"),
    ],
)
def test_bad_ids(ids, message):
    with pytest.raises(es.InputError, match=message):
        made(segment_ids=ids)


def npy(array, allow_pickle=False):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=allow_pickle)
    return buffer.getvalue()


def rebuilt(path, header=None, statistics=None, compression=zipfile.ZIP_STORED, **changes):
    """Save good statistics to `path` with some of it replaced."""
    made(segment_ids=list("abcd")).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with np.load(path) as file:
        record = json.loads(file["header"].tobytes())
    for key, value in changes.items():
        (record["metric"] if key in record["metric"] else record)[key] = value
    text = json.dumps(record).encode() if header is None else header
    members["header.npy"] = npy(np.frombuffer(text, dtype=np.uint8))
    if statistics is not None:
        members["statistics.npy"] = statistics
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


class Bomb:
    def __reduce__(self):
        return (os.abort, ())


GOOD = made().values
HUGE = npy(GOOD).replace(b"(2, 4, 10)", b"(2, 4, 9999999999999)").replace(b" " * 12 + b"\n", b"\n")
NEGATIVE, NAN = GOOD.copy(), GOOD.astype(float)
NEGATIVE[1, 2, 3], NAN[0, 1, 2] = -1, np.nan


@pytest.mark.parametrize(
    "change, message",
    [
        ({"statistics": npy(np.array([[[Bomb()]]], dtype=object), True)}, "must hold numbers (iuf), got dtype '|O'"),
        ({"statistics": pickle.dumps([1])}, "statistics.npy is not a NumPy array"),
        ({"statistics": HUGE}, "claims shape (2, 4, 9999999999999) of <i8, but has"),
        ({"statistics": npy(GOOD)[:-1]}, "claims shape (2, 4, 10) of <i8, but has 639 bytes"),
        ({"statistics": npy(GOOD) + b"x"}, "claims shape (2, 4, 10) of <i8, but has 641 bytes"),
        ({"statistics": npy(np.asfortranarray(GOOD))}, "statistics.npy must be stored by rows"),
        ({"statistics": npy(NEGATIVE)}, "statistics[1, 2, 3] is negative, but BLEU counts"),
        ({"statistics": npy(NAN)}, "values[0, 1, 2] is nan"),
        ({"statistics": npy(GOOD[:1])}, "values must have shape (S, N, k) = (2, N, 10)"),
        ({"statistics": npy(GOOD[..., :9])}, "values must have shape (S, N, k) = (2, N, 10)"),
        ({"statistics": npy(GOOD[:, :0])}, "values has no segments"),
        ({"statistics": npy(GOOD[:, :3])}, "segment_ids has 4 names but there are 3 segments"),
        ({"statistics": npy(np.array(1.0))}, "values must have shape"),
        ({"statistics": npy(GOOD.astype(complex))}, "must hold numbers (iuf), got dtype '<c16'"),
        ({"compression": zipfile.ZIP_DEFLATED}, "header.npy is compressed or encrypted"),
        ({"header": b"{"}, "not a file that save() wrote: Expecting"),
        ({"header": b"\xff"}, "codec can't decode"),
        ({"header": b"[" * 100_000}, "recursion"),
        ({"header": b"[]"}, "header.npy is not a JSON object"),
        ({"format": "x"}, "it is not a file of evalstats segment statistics"),
        ({"version": 2}, "format version 2, but this evalstats reads 1"),
        ({"metric": None}, "metric must be a dict, got NoneType"),
        ({"systems": "AB"}, "systems must be a list, got str"),
        ({"systems": ["A", 1]}, "system names must be non-empty text, got 1"),
        ({"systems": ["A", "B\n"]}, "system names must be printable"),
        ({"systems": ["A", "A"]}, "system names must differ"),
        ({"segment_ids": [1, 2, 3, 4]}, "segment_ids must be strings"),
        ({"fingerprint": 1}, "fingerprint must be a str, got int"),
        ({"class": "os.system"}, "its metric class 'os.system' is unknown"),
        ({"class": "__init__"}, "its metric class '__init__' is unknown"),
        ({"parameters": {"x": 1}}, "parameters of BLEU: "),
        ({"parameters": {"max_ngram_order": "4"}}, "max_ngram_order must be an integer"),
        ({"parameters": {"lowercase": True}}, "signature of its metric is 'case:mixed"),
        ({"parameters": []}, "parameters must be a dict, got list"),
        ({"higher_is_better": False}, "higher_is_better of its metric is False"),
        ({"columns": None}, "columns of its metric is None"),
        ({"signature": None}, "signature must be a str"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused(tmp_path, change, message):
    path = rebuilt(tmp_path / "x.npz", **change)
    with pytest.raises(es.InputError) as caught:
        SegmentStatistics.load(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(es.InputError, match=r"cannot read .*x.npz: No such file"):
        SegmentStatistics.load(path)
    with pytest.raises(es.InputError, match="Is a directory"):
        SegmentStatistics.load(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(
        es.InputError, match=r"x.npz is damaged, cut short, or not a file that save"
    ):
        SegmentStatistics.load(path)
    np.savez(path, a=GOOD)
    with pytest.raises(es.InputError, match=r"expected header.npy in it, found 'a'"):
        SegmentStatistics.load(path)
    rebuilt(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil.npy", b"")
    with pytest.raises(es.InputError, match=r"../../evil.npy is not a NumPy array"):
        SegmentStatistics.load(path)
    rebuilt(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("header.npy", b"")
    with pytest.raises(es.InputError, match="a name occurs twice"):
        SegmentStatistics.load(path)


def test_a_size_beyond_the_file_is_not_allocated(tmp_path):
    path = tmp_path / "x.npz"
    made().save(path)
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    data[central + 20 : central + 28] = b"\xfe\xff\xff\x7f" * 2
    path.write_bytes(data)
    with pytest.raises(es.InputError, match=r"header.npy claims 2,147,483,646 bytes"):
        SegmentStatistics.load(path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    table = made(segment_ids=list("abcd"))
    table.save(folder / "good.npz")
    return table, (folder / "good.npz").read_bytes(), folder / "bad.npz"


def check_damaged(saved, data):
    table, _, path = saved
    path.write_bytes(data)
    with suppress(es.InputError):
        assert_same(SegmentStatistics.load(path), table)


def test_every_single_flipped_byte_is_refused_or_changes_nothing(saved):
    good = saved[1]
    for at in range(len(good)):
        check_damaged(saved, good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :])


@given(st.data())
def test_truncated_and_spliced_files_are_refused_or_change_nothing(saved, data):
    good = saved[1]
    cut = data.draw(st.integers(0, len(good) - 1))
    resume = data.draw(st.integers(cut + 1, len(good)))
    check_damaged(saved, good[:cut] + data.draw(st.binary(max_size=20)) + good[resume:])
    saved[2].write_bytes(good[:cut])
    with pytest.raises(
        es.InputError, match=r"bad.npz is damaged, cut short, or not a file that save"
    ):
        SegmentStatistics.load(saved[2])


@given(st.binary(max_size=200))
def test_damage_inside_a_whole_archive_is_refused_or_changes_nothing(saved, noise):
    """What the archive's checksum cannot see: the members themselves are noise."""
    _, _, path = saved
    with suppress(es.InputError):
        SegmentStatistics.load(rebuilt(path, header=noise))
        raise AssertionError
    with suppress(es.InputError):
        SegmentStatistics.load(rebuilt(path, statistics=npy(GOOD)[:10] + noise))
        raise AssertionError


class TestWriting:
    def test_nothing_is_left_half_written(self, tmp_path, monkeypatch):
        path = tmp_path / "x.npz"
        made().save(path)
        before = path.read_bytes()

        def interrupted(_):
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made("ter").save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
    def test_others_may_read_what_the_umask_lets_them(self, tmp_path):
        made().save(tmp_path / "x.npz")
        (tmp_path / "y").touch()
        modes = {Path(tmp_path / name).stat().st_mode & 0o777 for name in ("x.npz", "y")}
        assert len(modes) == 1

    def test_paths_that_cannot_be(self, tmp_path):
        with pytest.raises(es.InputError, match=r"path must end in .npz, got 'x'"):
            made().save("x")
        with pytest.raises(es.InputError, match=r"cannot write .*: No such file or directory"):
            made().save(tmp_path / "no" / "x.npz")
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(np.longdouble(1).itemsize == 8, reason="no wider float here")
    def test_numbers_too_wide_are_not_narrowed(self, tmp_path):
        table = SegmentStatistics(np.ones((1, 3, 2), np.longdouble), ["A"], es.Mean("x"))
        with pytest.raises(es.InputError, match="at most 64 bits wide to be saved, got float128"):
            table.save(tmp_path / "x.npz")
