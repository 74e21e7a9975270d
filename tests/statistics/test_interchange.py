"""Statistics as files: what comes back is what was saved; everything else is refused."""

import hashlib
import os
import zipfile
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

import evalstats as es
from evalstats import SegmentStatistics
from evalstats.statistics import interchange
from tests.helpers import cases, refuses

HYPOTHESES = ["the cat sat on a mat", "it is raining", "\ud800 a lone surrogate", ""]
REFERENCES = [["the cat sat on the mat"], ["it rains", "it is raining again"], ["\ud800 b"], ["c"]]
METRICS = [
    es.BLEU(),
    es.BLEU(smooth_method="floor", smooth_value=0.123456789, max_ngram_order=2, lowercase=True),
    es.CHRF(word_order=2, beta=1.5, eps_smoothing=True),
    es.TER(normalized=True, case_sensitive=True),
    es.WER(lowercase=True),
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
    references = references if metric.uses_references else None
    return es.extract(outputs, references, metric, **options)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_what_is_loaded_is_what_was_saved(metric, tmp_path):
    table = made(metric, segment_ids=["doc 1", "2", "三", ""])
    table.save(tmp_path / "x.npz")
    found = SegmentStatistics.load(tmp_path / "x.npz")
    assert found == table == SegmentStatistics.load(str(tmp_path / "x.npz"), metric)
    assert found.values.dtype == table.values.dtype
    assert np.array_equal(found.scores, table.scores)


SHAPE, FINITE = (1, 3, 2), st.floats(allow_nan=False, allow_infinity=False)
WHOLE = arrays(np.int64, SHAPE) | arrays(np.uint64, SHAPE)


@settings(max_examples=30)
@given(st.one_of(WHOLE, arrays(np.float64, SHAPE, elements=FINITE)))
def test_every_number_comes_back(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("x") / "x.npz"
    SegmentStatistics(values, ["A"], Own()).save(path)
    found = SegmentStatistics.load(path, Own()).values
    assert np.array_equal(found, values)
    small = values.dtype == np.uint64 and values.max() < 2**63
    assert found.dtype == (np.int64 if small else values.dtype)


def test_a_file_holds_no_text_and_is_the_same_each_time(tmp_path):
    for name in ("a.npz", "b.npz"):
        made().save(tmp_path / name)
    data = (tmp_path / "a.npz").read_bytes()
    assert data == (tmp_path / "b.npz").read_bytes()
    assert b"cat" not in data
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert file["statistics"].dtype == np.uint8


def test_a_metric_of_ones_own_needs_the_object(tmp_path):
    class Louder(es.BLEU):
        def score(self, totals):
            return 2 * super().score(totals)

    path, metric = tmp_path / "x.npz", Own(2)
    made(Louder()).save(path)
    refuses("is not a metric of evalstats", SegmentStatistics.load, path)
    made(metric).save(path)
    assert SegmentStatistics.load(path, metric).metric is metric
    for other, message in (
        (None, "metric 'own' is not a metric of evalstats; pass the metric itself"),
        (Own(1), "its metric has signature 'own:2', but .* has 'own:1'"),
        ("bleu", "its metric has name 'own', but .* has 'BLEU'"),
    ):
        refuses(message, SegmentStatistics.load, path, other)


def test_another_version_of_sacrebleu_is_accepted_and_said(tmp_path):
    old, new = made(), made(systems=("C",))
    signature = old.metric_signature.rpartition(":")[0] + ":1.5.1"
    old = replace(old, metric_signature=signature)
    old.save(tmp_path / "x.npz")
    found = SegmentStatistics.load(tmp_path / "x.npz")
    assert found.metric_signature == signature
    (line,) = es.compare([found, new], n_resamples=9).signatures
    version = new.metric_signature.rpartition(":")[2]
    assert f"|sacrebleu:1.5.1,{version}|" in line
    refuses("metric_signature must match", replace, old, metric_signature="case:lc")


def test_systems_side_by_side():
    a, b = made(), made(systems=("C",))
    joined = SegmentStatistics.join(a, b)
    assert joined.systems == ("A", "B", "C")
    assert joined.values.tolist() == [*a.values.tolist(), *b.values.tolist()]
    assert (joined.fingerprint, joined.metric_signature) == (a.fingerprint, a.metric_signature)
    unknown = replace(b, fingerprint=None)
    assert SegmentStatistics.join(a, unknown).fingerprint is None
    refuses("join requires at least one", SegmentStatistics.join)


@cases(
    ({"metric": "chrf"}, r"same metric, got BLEU.*for \['A', 'B'\] and CHRF"),
    ({"references": [*REFERENCES[:3], ["d"]]}, r"same references, got fingerprint sha256:"),
    ({"segment_ids": list("abce")}, r"segment 3 is 'd' for \['A', 'B'\] and 'e' for"),
    ({"systems": ("A",)}, "system names must be unique, but 'A' occurs more than once"),
)
def test_what_does_not_belong_together_is_refused(other, message):
    second = made(**{"systems": ("C",), **other})
    refuses(message, SegmentStatistics.join, made(segment_ids=list("abcd")), second)


def test_references_are_the_same_under_all_metrics_and_in_all_groups():
    other = made("ter", references=REFERENCES[:3] + [["d"]])
    refuses(r"same references, got fingerprint .* for BLEU and", es.compare, [made(), other])
    table, third = made(), made(systems=("C",))
    with pytest.raises(es.InputError, match="same references"):
        SegmentStatistics.join(table.grouped(list("xxyy")), third.grouped(list("xyyy")))
    with pytest.raises(es.InputError, match=r"got 4 for \['A', 'B'\] and 3 for \['C'\]"):
        SegmentStatistics.join(table, third.select([0, 1, 2]))
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


def test_bad_ids():
    for ids, message in (
        ("abcd", "must be a list of strings, one per segment, got a bare str"),
        (list("abc"), "has 3 names for 4 segments"),
        ([1, 2, 3, 4], "must be strings, got int 1"),
    ):
        refuses(f"segment_ids {message}", made, segment_ids=ids)


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    path, other = tmp_path / "x.npz", tmp_path / "y"
    made().save(path)
    before = path.read_bytes()
    other.touch()
    # Others may read what the umask lets them.
    assert path.stat().st_mode == other.stat().st_mode

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made("ter").save(path)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_what_cannot_be_written(tmp_path):
    refuses(r"path must end in .npz, got 'x'", made().save, "x")
    refuses(r"cannot write .*: No such file or directory", made().save, tmp_path / "no" / "x.npz")
    if np.longdouble(1).itemsize > 8:
        wide = SegmentStatistics(np.ones((1, 3, 2), np.longdouble), ["A"], es.Mean("x"))
        refuses("at most 64 bits wide to be saved, got float", wide.save, tmp_path / "x.npz")
    assert not list(tmp_path.iterdir())
