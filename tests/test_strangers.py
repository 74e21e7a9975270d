"""Files from strangers: what was saved comes back, or one clear error; nothing else happens.

Every field of a file of statistics and of a shard is forged, and files are damaged byte by byte.
What loads must be what a file could honestly hold: names that show, counts that texts have.
"""

import io
import json
import os
import random
import struct
import time
import tracemalloc
import zipfile
from contextlib import suppress

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.checks import MOST_NAME, label

HOSTILE = [
    "1\n\\immediate\\write18{id}\n%", "\x1b[2J\x1b]0;x\x07", "\x9b31m", "\u202eabc", "a\u200bb",
    "\ud800", "\0", "", " ", "a" * 100_000, "`</code><img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0",
    "os.system", "__init__", "case:mixed|sacrebleu:1\n\\input{/etc/passwd}", "../../etc/passwd",
]  # fmt: skip
VALUES = [
    None,
    True,
    -1,
    0,
    0.5,
    2**63,
    10**4000,
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    *HOSTILE,
]
VALUES += [json.loads("[" * 900 + "]" * 900), {"a": [1] * 1000}, ["A", "A"], ["A"] * 2000]

STATISTICS = es.extract(
    {"A": ["the cat sat on a mat", "it rains"], "B": ["a cat sat", "it is raining"]},
    ["the cat sat on the mat", "it is raining"],
    segment_ids=["one", "two"],
)
MEAN = es.extract({"A": [0.5, 1.0], "B": [1.0, 0.25]}, metric=es.Mean("COMET"))


class Kind:
    """A kind of file: how to make a good one, and how to load and describe any."""

    def __init__(self, thing, load, described):
        self.thing, self.load, self.described = thing, load, described


def described_table(table):
    names = [*table.systems, *(i for i in table.segment_ids or () if i), table.metric_signature]
    names += [table.metric.name, *table.metric.columns]
    names += [text for text in (table.reference_label, table.fingerprint) if text is not None]
    return names, [table.values], table.metric


def described_shard(shard):
    names = [*shard.systems, *(text for text in shard.reference_labels if text is not None)]
    return (
        names,
        [*shard.totals, *shard.resampled, *shard.differing, shard.id_runs],
        shard.metrics[0],
    )


KINDS = {
    "statistics": Kind(STATISTICS, es.SegmentStatistics.load, described_table),
    "means": Kind(MEAN, es.SegmentStatistics.load, described_table),
    "shard": Kind(
        es.resample_shard(STATISTICS, ["x", "y"], 5, shard_sizes=[3, 2], shard=1),
        lambda path: es.Shard.load(path, "bleu"),
        described_shard,
    ),
}


@pytest.fixture(scope="module", params=KINDS)
def forgery(request, tmp_path_factory):
    kind = KINDS[request.param]
    folder = tmp_path_factory.mktemp("strangers")
    kind.path = folder / "x.npz"
    kind.thing.save(kind.path)
    kind.good = kind.path.read_bytes()
    with zipfile.ZipFile(kind.path) as archive:
        kind.members = {name: archive.read(name) for name in archive.namelist()}
    with np.load(kind.path) as file:
        kind.header = json.loads(file["header"].tobytes())
        kind.arrays = {name: file[name] for name in file.files if name != "header"}
    return kind


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(
        buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=True
    )
    return buffer.getvalue()


def archive(members):
    """Return the bytes of an archive of (name, data) pairs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members:
            file.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def forged(kind, header=None, arrays=None, extra=()):
    text = json.dumps(kind.header if header is None else header).encode()
    arrays = kind.arrays if arrays is None else arrays
    members = [("header.npy", npy(np.frombuffer(text, np.uint8)))]
    members += [(f"{name}.npy", npy(array)) for name, array in arrays.items()]
    return archive([*members, *extra])


def check(kind, data, same=False):
    """Load a file; return whether it loaded. All that may happen otherwise is one clear error."""
    kind.path.write_bytes(data)
    start = time.monotonic()
    try:
        found = kind.load(kind.path)
    except es.InputError as error:
        message = str(error)
        assert str(kind.path) in message
        assert message.isprintable()
        assert len(message) < 3000
        found = None
    assert time.monotonic() - start < 5, "slow"
    if found is None:
        return False
    names, arrays, metric = kind.described(found)
    for name in names:
        assert label(name, "name", 2 * MOST_NAME) == name
    assert repr(found).isprintable() or isinstance(found, es.SegmentStatistics)
    if same:
        expected_names, expected, _ = kind.described(kind.thing)
        assert names == expected_names
        for one, other in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    for array in arrays[:1]:
        metric.check_statistics(array)
    # What loaded can be saved, and is the same again.
    again = kind.path.with_name("again.npz")
    found.save(again)
    assert kind.described(kind.load(again))[0] == names
    return True


def paths(record, prefix=()):
    """Yield the way to every field of a header, fields of fields included."""
    items = record.items() if isinstance(record, dict) else enumerate(record)
    for key, value in items:
        yield (*prefix, key)
        if isinstance(value, (dict, list)):
            yield from paths(value, (*prefix, key))


def changed(header, path, value):
    header = json.loads(json.dumps(header))
    record = header
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = value
    if path[-1] in ("name", "signature") and isinstance(header.get("metric"), dict):
        parameters = header["metric"].get("parameters")
        if isinstance(parameters, dict) and path[-1] in parameters:
            parameters[path[-1]] = value  # so that name and parameters agree
    return header


def test_good_files_load(forgery):
    assert check(forgery, forgery.good, same=True)
    assert check(forgery, forged(forgery), same=True)


def test_every_field_takes_hostile_values(forgery):
    """Nearly nothing loads; what does is checked."""
    every = [(path, value) for path in paths(forgery.header) for value in HOSTILE]
    assert len(every) > 200
    for path, value in random.Random(1).sample(every, 80):
        check(forgery, forged(forgery, changed(forgery.header, path, value)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(HOSTILE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.data())
def test_forged_fields(forgery, data):
    path = data.draw(st.sampled_from(sorted(paths(forgery.header), key=str)))
    check(forgery, forged(forgery, changed(forgery.header, path, data.draw(json_values))))


@settings(max_examples=40)
@given(st.data())
def test_forged_arrays(forgery, data):
    name = data.draw(st.sampled_from(sorted(forgery.arrays)))
    array = forgery.arrays[name].copy()
    numbers = st.integers(-5, 20) | st.sampled_from([2**31, 2**62, 2**63 - 1, -(2**63)])
    for _ in range(data.draw(st.integers(1, 3))):
        if array.size:
            at = data.draw(st.integers(0, array.size - 1))
            wide = array.astype(object)
            wide.flat[at] = data.draw(numbers)
            dtype = data.draw(st.sampled_from([np.int64, np.uint64, np.float64]))
            with np.errstate(all="ignore"):
                try:
                    array = wide.astype(dtype)
                except OverflowError:
                    return
    check(forgery, forged(forgery, arrays={**forgery.arrays, name: array}))


def mutation(kind, rng):
    """Return a damaged or forged file."""
    good, size = kind.good, len(kind.good)
    way = rng.randrange(9)
    if way == 0:  # single bytes
        data = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(size)] = rng.randrange(256)
        return bytes(data)
    if way == 1:  # a part missing, doubled or replaced
        a, b = sorted(rng.choices(range(size), k=2))
        return good[:a] + rng.choice((b"", good[a:b] * 2, rng.randbytes(b - a))) + good[b:]
    if way == 2:  # the numbers of the zip structures
        data = bytearray(good)
        marks = [i for i in range(size - 4) if data[i : i + 2] == b"PK"]
        at = rng.choice(marks) + rng.randrange(4, 46)
        if at + 4 <= size:
            struct.pack_into("<I", data, at, rng.choice((0, 1, 2**16 - 1, 2**31, 2**32 - 1)))
        return bytes(data)
    if way == 3:  # a field of the header
        path = rng.choice(sorted(paths(kind.header), key=str))
        return forged(kind, changed(kind.header, path, rng.choice(VALUES)))
    if way == 4:  # fields gone, or new
        header = dict(kind.header)
        header.pop(rng.choice(sorted(header)))
        header[rng.choice(HOSTILE)[:50]] = rng.choice(VALUES)
        return forged(kind, header)
    if way == 5:  # arrays of other types and shapes
        name = rng.choice(sorted(kind.arrays))
        array = kind.arrays[name]
        other = rng.choice((
            array.astype(rng.choice(("u1", ">i8", "f4", "f8", "c16", "S3", "O", "?", "M8[s]"))),
            array.reshape(-1), array[:0], array[None], np.asfortranarray(array), np.array(7),
            np.full(array.shape, rng.choice((np.nan, np.inf, -1.0, 1e308, 0.5))),
            np.concatenate([array, array]) if array.ndim else array,
        ))  # fmt: skip
        return forged(kind, arrays={**kind.arrays, name: other})
    if way == 6:  # members that NumPy would take for another
        name = rng.choice(
            ("header", "header.npy", "x.npy", "/etc/x", "../x.npy", "x\x1b.npy", *kind.arrays)
        )
        return forged(kind, extra=[(name, rng.choice((b"", npy(np.zeros(3)), rng.randbytes(30))))])
    if way == 7:  # the headers of members
        members = dict(kind.members)
        name = rng.choice(sorted(members))
        data = bytearray(members[name])
        data[rng.randrange(min(len(data), 100))] = rng.randrange(256)
        members[name] = bytes(data)
        return archive(list(members.items()))
    text = bytearray(json.dumps(kind.header).encode())  # noise inside the header
    for _ in range(rng.randint(1, 4)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    members = {**kind.members, "header.npy": npy(np.frombuffer(bytes(text), np.uint8))}
    return archive(list(members.items()))


def fuzz(kind, mutations, seed):
    rng = random.Random(seed)
    with suppress(es.InputError):  # Imports sacreBLEU, which takes memory of its own.
        es.BLEU(tokenize="unknown")
    for number in range(mutations):
        data = mutation(kind, rng)
        if number % 10:
            check(kind, data)
            continue
        tracemalloc.start()  # it makes everything several times slower
        try:
            check(kind, data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1_000_000 + 100 * len(data), f"{peak:,} bytes for {len(data):,}"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_some_mutations(forgery):
    fuzz(forgery, 40, seed=0)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_thousands_of_mutations(forgery):
    fuzz(forgery, 2500, seed=1)


def test_two_members_that_numpy_takes_for_one(forgery):
    name = next(iter(forgery.arrays))
    other = npy(np.zeros_like(forgery.arrays[name]))
    data = forged(forgery, extra=[(name, other)])
    assert not check(forgery, data)
    with pytest.raises(es.InputError, match="a name occurs twice"):
        forgery.load(forgery.path)


def test_a_directory_of_many_members_takes_no_memory(forgery):
    """Two hundred thousand members of no bytes: 9 MB of file, 100 MB of objects."""
    n = 200_000
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    directory = (entry + b"x") * n
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n & 0xFFFF, n & 0xFFFF, len(directory), 0, 0)
    forgery.path.write_bytes(directory + end)
    tracemalloc.start()
    try:
        with pytest.raises(es.InputError, match=r"its directory claims 9,400,000 bytes"):
            forgery.load(forgery.path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    forgery.path.write_bytes(forgery.good + b"x")
    with pytest.raises(es.InputError, match="does not end as an archive does"):
        forgery.load(forgery.path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_what_is_no_file_is_not_read(forgery, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(es.InputError, match=r"cannot read .*: it is not a regular file"):
            forgery.load(path)


def test_a_tokeniser_in_a_file_starts_no_download(tmp_path, monkeypatch):
    """The model of one is a hundred megabytes, which statistics do not need."""
    from sacrebleu.metrics import bleu

    table = es.extract({"A": ["a b"]}, ["a b"])
    monkeypatch.setattr(bleu, "_get_tokenizer", lambda name: pytest.fail(f"{name} is loaded"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "sentencepiece")
    metric = es.BLEU(tokenize="flores200")
    es.SegmentStatistics(table.values, ["A"], metric).save(tmp_path / "x.npz")
    assert es.SegmentStatistics.load(tmp_path / "x.npz").metric == metric


def test_many_names_of_which_two_are_the_same(tmp_path):
    """Found in one pass; comparing all with all would take minutes."""
    ids = [str(i) for i in range(200_000)]
    start = time.monotonic()
    with pytest.raises(es.InputError, match="segment_ids must differ, got '199998' more than once"):
        es.SegmentStatistics(
            np.ones((1, 200_000, 2)), ["A"], es.Mean("m"), None, None, [*ids[:-1], "199998"]
        )
    assert time.monotonic() - start < 5
