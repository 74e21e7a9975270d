"""Files from strangers: what was saved comes back, or one clear error; nothing else happens.

Every field of a file of statistics is forged, and files are damaged byte by byte.
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
from types import SimpleNamespace

import numpy as np
import pytest

import evalstats as es
from evalstats.checks import MOST_NAME, label
from tests import mutations
from tests.helpers import cases, refuses

HOSTILE = [
    "1\n\\immediate\\write18{id}\n%", "\x1b[2J\x1b]0;x\x07", "\x9b31m", "\u202eabc", "a\u200bb",
    "\ud800", "\0", "", " ", "a" * 100_000, "`</code><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "os.system", "__init__", "case:mixed|sacrebleu:1\n\\input{/etc/passwd}", "../../etc/passwd",
]  # fmt: skip

STATISTICS = es.extract(
    {"A": ["the cat sat on a mat", "it rains"], "B": ["a cat sat", "it is raining"]},
    ["the cat sat on the mat", "it is raining"],
    segment_ids=["one", "two"],
)

#: A good thing of each kind.
KINDS = {
    "statistics": STATISTICS,
    "moments": es.Moments.of(STATISTICS, groups=["x", "y"], strata=["x", "x"]),
    "means": es.extract({"A": [0.5, 1.0], "B": [1.0, 0.25]}, metric=es.Mean("COMET")),
}


def described(found):
    """Return the names that a thing has, its first array and its metric."""
    if isinstance(found, es.Moments):
        return [*found.systems, *found.strata, found.unit], found.sums, found.metric
    names = [*found.systems, *(i for i in found.segment_ids or () if i), found.metric_signature]
    names += [found.metric.name, *found.metric.columns]
    names += [text for text in (found.reference_label, found.fingerprint) if text is not None]
    return names, found.values, found.metric


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write a file of each kind, and take it to pieces."""
    found = {}
    for name, thing in KINDS.items():
        kind = found[name] = SimpleNamespace(thing=thing, load=thing.load)
        kind.path = tmp_path_factory.mktemp("strangers") / f"{name}.npz"
        thing.save(kind.path)
        kind.good = kind.path.read_bytes()
        with zipfile.ZipFile(kind.path) as archive:
            kind.members = {name: archive.read(name) for name in archive.namelist()}
        with np.load(kind.path) as file:
            kind.header = json.loads(file["header"].tobytes())
            kind.arrays = {name: file[name] for name in file.files if name != "header"}
    return found


@pytest.fixture(params=["statistics", "means", "moments"], scope="module")
def forgery(request, made):
    return made[request.param]


def npy(array, allow_pickle=True):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), version=(1, 0), allow_pickle=allow_pickle)
    return buffer.getvalue()


def archive(members, compression=zipfile.ZIP_STORED):
    """Return the bytes of an archive of (name, data) pairs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members:
            file.writestr(zipfile.ZipInfo(name), data, compression)
    return buffer.getvalue()


def forged(kind, header=None, arrays=None, extra=(), **options):
    """Return the bytes of a file with another header, an object or its text, or other arrays."""
    header = kind.header if header is None else header
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    members = [("header.npy", npy(np.frombuffer(text, np.uint8)))]
    for name, array in (kind.arrays if arrays is None else arrays).items():
        members.append((f"{name}.npy", array if isinstance(array, bytes) else npy(array)))
    return archive([*members, *extra], **options)


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
    names, array, metric = described(found)
    for name in names:
        assert label(name, "name", 2 * MOST_NAME) == name
    assert repr(found).isprintable() or isinstance(found, es.SegmentStatistics)
    if same:
        assert found == kind.thing
    metric.check_statistics(array)
    # What loaded can be saved, and is the same again.
    again = kind.path.with_name("again.npz")
    found.save(again)
    assert described(kind.load(again))[0] == names
    return True


def test_good_files_load(forgery):
    assert check(forgery, forgery.good, same=True)
    assert check(forgery, forged(forgery), same=True)


class Bomb:
    def __reduce__(self):
        return (os.abort, ())


GOOD = STATISTICS.values
HUGE = npy(GOOD).replace(b"(2, 2, 10)", b"(2, 2, 9999999999999)").replace(b" " * 11 + b"\n", b"\n")
NEGATIVE, NAN = GOOD.copy(), GOOD.astype(float)
NEGATIVE[1, 1, 3], NAN[0, 1, 2] = -1, np.nan


def with_metric(**fields):
    return lambda header: header["metric"].update(fields)


@cases(
    *[
        ("statistics", {}, {"statistics": array}, message)
        for array, message in (
            (
                npy(np.array([[[Bomb()]]], dtype=object)),
                "must contain numbers (iuf), got dtype '|O'",
            ),
            (HUGE, "declares shape (2, 2, 9999999999999) of <i8, but has"),
            (npy(GOOD)[:-1], "declares shape (2, 2, 10) of <i8, but has 319 bytes"),
            (npy(np.asfortranarray(GOOD)), "statistics.npy must be stored by rows"),
            (NEGATIVE, "statistics[1, 1, 3] is negative, but BLEU counts"),
            (NAN, "values[0, 1, 2] is nan"),
            (GOOD[:1], "values must have shape (S, N, k) = (2, N, 10)"),
            (GOOD[:, :0], "values has no segments"),
        )
    ],
    ("statistics", b"{", {}, "not a file that save() wrote: Expecting"),
    ("statistics", b"[" * 100_000, {}, "recursion"),
    ("statistics", b"[]", {}, "header.npy is not a JSON object"),
    *[
        ("statistics", header, {}, message)
        for header, message in (
            ({"format": "x"}, "it is not a file in the format evalstats segment statistics"),
            ({"version": 2}, "format version 2, but this evalstats reads version 1"),
            (with_metric(**{"class": "os.system"}), "its metric class 'os.system' is unknown"),
            (with_metric(parameters={"x": 1}), "parameters of BLEU: "),
            (with_metric(parameters={"lowercase": True}), "its metric has signature 'case:mixed"),
            (with_metric(higher_is_better=False), "its metric has higher_is_better False"),
        )
    ],
)
def test_files_that_do_not_hold_together_say_where(kind, header, arrays, message, made):
    kind = made[kind]
    changed = json.loads(json.dumps(kind.header))
    if callable(header):
        header(changed)
    elif isinstance(header, bytes):
        changed = header
    else:
        changed.update(header)
    merged = {name: array for name, array in {**kind.arrays, **arrays}.items() if array is not None}
    assert not check(kind, forged(kind, changed, merged))
    with pytest.raises(es.InputError) as caught:
        kind.load(kind.path)
    assert message in str(caught.value)


def test_foreign_files_are_refused(made, tmp_path):
    kind, path = made["statistics"], tmp_path / "x.npz"
    for place, message in ((path, "No such file"), (tmp_path, "Is a directory")):
        refuses(message, kind.load, place)
    buffer = io.BytesIO()
    np.savez(buffer, a=GOOD)
    large, evil = bytearray(kind.good), ("../../evil.npy", b"")
    central = large.index(b"PK\x01\x02")
    large[central + 20 : central + 28] = b"\xfe\xff\xff\x7f" * 2
    for data, message in (
        (b"", "x.npz is damaged, cut short, or not a file that save"),
        (kind.good + b"x", "the end of the archive is missing or damaged"),
        (buffer.getvalue(), "must contain header.npy, found 'a'"),
        (archive([evil, *kind.members.items()]), "../../evil.npy is not a NumPy"),
        (forged(kind, compression=zipfile.ZIP_DEFLATED), "header.npy is compressed or encrypted"),
        (forged(kind, extra=[("statistics", npy(GOOD))]), "a file name occurs twice"),
        (large, r"header\.npy declares 2,147,483,646 bytes"),
    ):
        path.write_bytes(data)
        refuses(message, kind.load, path)


@pytest.mark.parametrize("step", [17, pytest.param(3, marks=pytest.mark.thorough)])
def test_a_flipped_byte_is_refused_or_changes_nothing(forgery, step):
    good = forgery.good
    for at in range(0, len(good), step):
        check(forgery, good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :], same=True)


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


@pytest.mark.parametrize("some", [11, pytest.param(1, marks=pytest.mark.thorough)])
def test_hostile_text_in_every_field(forgery, some):
    values = [*HOSTILE, None, [], {"x": 1}, -1, 2**70, 0.5]
    for i, path in enumerate(sorted(paths(forgery.header), key=str)):
        for value in values[i % some :: some]:
            check(forgery, forged(forgery, changed(forgery.header, path, value)))


@pytest.mark.parametrize("number", [-1, 2**31, 2**63 - 1])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_impossible_numbers_in_every_array(forgery, number, dtype):
    for name, array in forgery.arrays.items():
        for at in range(0, array.size, 23):
            other = array.astype(dtype)
            with np.errstate(all="ignore"):
                other.flat[at] = np.array(number).astype(dtype)
            check(forgery, forged(forgery, arrays={**forgery.arrays, name: other}))


def mutation(kind, rng):
    """Return a damaged or forged file."""
    way = rng.randrange(4)
    if way == 0:  # bytes flipped, missing, doubled, in another place
        return mutations.mutated_text(rng, kind.good)
    if way == 1:  # a field of the header
        return forged(kind, mutations.mutated_json(rng, json.loads(json.dumps(kind.header))))
    if way == 2:  # arrays of other types and shapes
        name = rng.choice(sorted(kind.arrays))
        array = kind.arrays[name]
        other = rng.choice((
            array.astype(rng.choice(("u1", ">i8", "f4", "f8", "c16", "S3", "O", "?", "M8[s]"))),
            array.reshape(-1), array[:0], array[None], np.asfortranarray(array), np.array(7),
            np.full(array.shape, rng.choice((np.nan, np.inf, -1.0, 1e308, 0.5))),
            np.concatenate([array, array]) if array.ndim else array,
        ))  # fmt: skip
        return forged(kind, arrays={**kind.arrays, name: other})
    # Damage inside of members, where no checksum sees it.
    members = dict(kind.members)
    name = rng.choice(sorted(members))
    members[name] = mutations.mutated_text(rng, members[name])
    return archive(members.items())


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("count", [40, pytest.param(2500, marks=pytest.mark.thorough)])
def test_mutations(forgery, count):
    rng = random.Random(count)
    with suppress(es.InputError):  # Imports sacreBLEU, which takes memory of its own.
        es.BLEU(tokenize="unknown")
    for number in range(count):
        data = mutation(forgery, rng)
        if number % 10:
            check(forgery, data)
            continue
        tracemalloc.start()  # it makes everything several times slower
        try:
            check(forgery, data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1_000_000 + 100 * len(data), f"{peak:,} bytes for {len(data):,}"


def test_a_directory_of_many_members_takes_no_memory(forgery):
    """Two hundred thousand members of no bytes: 9 MB of file, 100 MB of objects."""
    n = 200_000
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    directory = (entry + b"x") * n
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n & 0xFFFF, n & 0xFFFF, len(directory), 0, 0)
    forgery.path.write_bytes(directory + end)
    tracemalloc.start()
    try:
        refuses("its directory declares 9,400,000 bytes", forgery.load, forgery.path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_what_is_no_file_is_not_read(forgery, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        refuses(r"cannot read .*: it is not a regular file", forgery.load, path)


def test_a_tokeniser_in_a_file_starts_no_download(tmp_path, monkeypatch):
    """The model of one is a hundred megabytes, which statistics do not need."""
    from sacrebleu.metrics import bleu

    table = es.extract({"A": ["a b"]}, ["a b"])
    monkeypatch.setattr(bleu, "_get_tokenizer", lambda name: pytest.fail(f"{name} is loaded"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "sentencepiece")
    metric = es.BLEU(tokenize="flores200")
    es.SegmentStatistics(table.values, ["A"], metric).save(tmp_path / "x.npz")
    assert es.SegmentStatistics.load(tmp_path / "x.npz").metric == metric


def test_many_names_of_which_two_are_the_same():
    """Found in one pass; comparing all with all would take minutes."""
    ids = [str(i) for i in range(200_000)]
    start = time.monotonic()
    given = np.ones((1, 200_000, 2)), ["A"], es.Mean("m")
    said, twice = (
        "segment_ids must be unique, but '199998' occurs more than once",
        [*ids[:-1], "199998"],
    )
    refuses(said, es.SegmentStatistics, *given, segment_ids=twice)
    assert time.monotonic() - start < 5
