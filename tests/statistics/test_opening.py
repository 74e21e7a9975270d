"""Files as others leave them: marks of byte order, compression of every kind, bombs, pipes."""

import bz2
import gzip
import io
import lzma
import os
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
import sacrebleu

import evalstats as es
from evalstats import cli
from evalstats.statistics import files as opening
from evalstats.statistics.files import Lines
from tests.helpers import refuses

MARK = "\ufeff".encode()
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "PATIENCE", 0.2)
    texts = {
        "ref.txt": "the cat sat\nit rains\na dog\nwe are here\n",
        "a.txt": "the cat sat\nit rained\na dog\nwe are\n",
        "b.txt": "a cat sat\nit rains\nthe dog\nwe were here\n",
    }
    for name, text in texts.items():
        Path(name).write_bytes(text.encode())
    return tmp_path


def printed(capsys, *arguments):
    code = cli.main([*arguments])
    out, err = capsys.readouterr()
    return code, out + err


def test_a_mark_of_byte_order_makes_no_group_stratum_or_id(capsys):
    Path("g.txt").write_bytes(MARK + b"d1\nd1\nd2\nd2\n")
    texts = ("-r", "ref.txt", "-i", "a.txt", "b.txt", "--resamples", "9")
    for option, count in (("--groups", "2 groups"), ("--strata", "strata:2")):
        code, text = printed(capsys, "compare", *texts, option, "g.txt", "--verbose")
        assert (code, count in text) == (0, True), text
    Path("ids.txt").write_bytes(MARK + b"1\n2\n3\n4\n")
    code, text = printed(
        capsys, "extract", *texts[:5], "--ids", "ids.txt", "-m", "ter", "-o", "x.npz"
    )
    assert code == 0, text
    assert es.SegmentStatistics.load("x.npz").segment_ids == ("1", "2", "3", "4")
    code, text = printed(capsys, "compare", "x.npz", "--groups", "g.txt", "--resamples", "9")
    assert "2 groups" in text
    assert es.read_lines("g.txt", labels=True) == ["d1", "d1", "d2", "d2"]


def test_labels_that_were_read_with_their_mark_are_refused():
    message = r"groups\[0\] begins with a byte order mark .*read_lines\(path, labels=True\)"
    refuses(message, es.estimate, [1, 2, 3], metric=es.Mean("m"), groups=["\ufeffd1", "d1", "d2"])


def test_a_mark_before_texts_is_part_of_a_token_as_it_is_to_sacrebleu_and_noted(capsys):
    Path("ref.txt").write_bytes(MARK + Path("ref.txt").read_bytes())
    with pytest.warns(UserWarning, match=r"^ref\.txt begins with a byte order mark") as found:
        references = es.read_lines("ref.txt")
    assert found[0].filename == __file__
    outputs = es.read_lines("a.txt")
    with open("ref.txt", encoding="utf-8") as file:
        stream = [line.rstrip() for line in file]
    expected = sacrebleu.corpus_ter(outputs, [stream]).score
    assert es.estimate(outputs, references, "ter").score == pytest.approx(expected)
    note = "ref.txt begins with a byte order mark (U+FEFF), which counts as part of the first token, as in "
    texts = ("-r", "ref.txt", "-i", "a.txt", "b.txt", "-m", "ter", "--resamples", "9")
    for command in ("compare", "estimate"):
        code, text = printed(capsys, command, *texts, "--verbose")
        text = " ".join(text.split())
        assert (code, text.count(note.strip()), "a.txt begins" in text) == (0, 1, False)


COMPRESS = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress,
            "zstd": lambda data: b"\x28\xb5\x2f\xfd" + zlib.compress(data)}  # fmt: skip


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("read, name, text", [
    (es.read_lines, "a.txt", b"a b c\n"),
    (es.read_log, "a.csv", b"id,score\na,1\nb,0\n"),
    (es.read_log, "a.csv.zst", b"id,score\na,1\nb,0\n"),
    (es.read_log, "a.jsonl", b'{"id": "a", "score": 1}\n'),
])  # fmt: skip
def test_what_is_compressed_and_not_called_gz_says_so(kind, read, name, text):
    Path(name).write_bytes(COMPRESS[kind](text))
    how = (
        "its name must end in .gz"
        if kind == "gzip"
        else "only .gz can be read, so decompress it first"
    )
    refuses(f"cannot read {name}: it is compressed with {kind}; {how}", read, name)


@pytest.mark.parametrize("read, name", [(es.read_lines, "a.txt.gz"), (es.read_log, "a.csv.gz")])
def test_what_is_called_gz_and_is_not_says_so(read, name):
    Path(name).write_bytes(b"the cat\n")
    message = f"cannot read {name}: its name ends in .gz, but it is not compressed with gzip"
    refuses(message, read, name)


@pytest.mark.parametrize(
    "bad, message",
    [(3, "path must be a path"), ("no", "cannot read no: No such file"), ("a\0b", "cannot read a")],
)
def test_lines_that_cannot_be_read(bad, message):
    refuses(message, es.read_lines, bad)


def test_text_that_begins_like_a_compressed_file_is_text():
    Path("x.txt").write_bytes(b"BZh is not a word\n(\n")
    assert es.read_lines("x.txt") == ["BZh is not a word", "("]


def test_a_bomb_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(opening, "_SHORT", 1 << 20)
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb") as file:
        for _ in range(24):
            file.write(b"\n" * (1 << 20))
    Path("bomb.txt.gz").write_bytes(stream.getvalue())
    tracemalloc.start()
    try:
        message = (
            r"bomb.txt.gz: its 2\d,\d{3} bytes expand to more than 2,\d{3},\d{3}, which is unusual"
        )
        refuses(message, es.read_lines, "bomb.txt.gz")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    # Short, or as dense as text is, it is read.
    Path("few.txt.gz").write_bytes(gzip.compress(b"\n" * (1 << 20)))
    assert len(Lines("few.txt.gz")) == 1 << 20
    text = b"".join(b"%d is a number\n" % i for i in range(200_000))
    Path("long.txt.gz").write_bytes(gzip.compress(text, 1))
    assert len(Lines("long.txt.gz")) == 200_000


@needs_pipes
def test_a_pipe_is_read_and_not_waited_for_without_end(capsys):
    os.mkfifo("pipe")
    start = time.monotonic()
    code, text = printed(capsys, "estimate", "-r", "pipe", "-i", "a.txt")
    assert code == 2
    assert "cannot read pipe: it is a pipe, and no data arrived within 0.2 seconds" in text
    assert time.monotonic() - start < 5

    def write():
        time.sleep(0.05)
        with open("pipe", "wb") as file:
            # What has opened it may take longer than the patience.
            time.sleep(0.4)
            file.write(b"the cat\n" * 50_000)

    writer = threading.Thread(target=write)
    writer.start()
    assert es.read_lines("pipe") == ["the cat"] * 50_000
    writer.join()


@needs_pipes
@pytest.mark.parametrize("path", ["pipe.csv", os.devnull])
def test_logs_are_files(path, capsys):
    if path != os.devnull:
        os.mkfifo(path)
    code, text = printed(capsys, "show", path)
    assert (code, text.count("\n")) == (2, 1)
    assert f"cannot read {path}: it is a pipe or a device; write it to a file" in text
