"""Files become the statistics of their lines, whatever the blocks, threads and line endings."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.cli.inputs import system_names
from evalstats.statistics import extraction, files
from evalstats.statistics.files import Lines
from tests.conftest import nasty_texts
from tests.helpers import cases, refuses

lines_of_text = st.lists(
    nasty_texts.map(lambda text: text.replace("\n", " ")), min_size=1, max_size=9
)


def as_bytes(lines, end):
    return "\n".join(lines).encode("utf-8", "replace") + end


@settings(max_examples=15)
@given(lines_of_text, st.sampled_from([b"\n", b""]), st.sampled_from([1, 5, 1 << 22]))
def test_lines_are_what_splitting_at_line_feeds_gives(lines, end, block):
    data = as_bytes(lines, end)
    expected = [line.rstrip() for line in data.decode().split("\n")]
    if expected[-1] == "" and data.endswith(b"\n"):
        expected.pop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK_BYTES", block)
        patch.setattr(files, "read_text", lambda path: data)
        if not data:
            refuses("is empty; expected one segment per line", Lines, "x")
            return
        found = Lines("x")
    assert len(found) == len(expected)
    assert found.texts(0, len(found)) == expected
    for i, line in enumerate(expected):
        assert found.texts(i, i + 1) == [line]


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    path.write_bytes(b"ok\n" * 9 + b"na\xefve\n" + b"ok\n" * 9)
    for block in (7, 1 << 22):
        monkeypatch.setattr(files, "_BLOCK_BYTES", block)
        refuses(r"is not UTF-8: byte 0xef in line 10$", Lines, str(path))


@pytest.mark.parametrize("block, n_references", [(500, 2), (1 << 20, 1)])
def test_blocks_give_the_statistics_of_the_whole(
    tmp_path, monkeypatch, sample, block, n_references
):
    monkeypatch.setattr(extraction, "_BLOCK_BYTES", block)
    monkeypatch.setattr(extraction, "usable_cores", lambda: 3)
    some = slice(0, 20)
    texts = {name: sample.systems[name][some] for name in ("baseline", "copy")}
    streams = [[row[j] for row in sample.references[some]] for j in range(n_references)]
    for name, lines in [*texts.items(), *((f"r{j}", lines) for j, lines in enumerate(streams))]:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress("\r\n".join(lines).encode()))
    files = {path.stem: Lines(str(path)) for path in sorted(tmp_path.iterdir())}
    systems = {name: files.pop(name) for name in texts}
    for metrics in (
        [es.BLEU(), es.CHRF()],
        [es.BLEU(tokenize="none"), es.CHRF(word_order=2), es.TER()],
    ):
        calls = []
        found = extraction.extract_files(
            systems, list(files.values()), metrics, lambda *call, calls=calls: calls.append(call)
        )
        assert found == extraction.extract_all(texts, es.from_streams(*streams), metrics)
        assert calls[-1] == (len(calls), len(calls), "extracting")
        assert len(calls) > 1 or block > 500


@cases(
    ("a.txt b.txt", "a b"),
    ("run.1.txt run.2.txt", "run.1 run.2"),
    ("wmt.en-de.hyp.Online-B.de wmt.en-de.hyp.Online-W.de", "Online-B Online-W"),
    ("newstest.base.txt newstest.base2.txt", "base base2"),
    ("newstest.base.txt newstest.base.v2.txt", "base base.v2"),
    ("x/base.en.txt y/tuned.en.txt.gz", "base tuned"),
    ("llama-3.1-8b.txt llama-3.1-70b.txt", "llama-3.1-8b llama-3.1-70b"),
    ("m-1.5.txt m-2.5.txt", "m-1.5 m-2.5"),
    ("slightly-better.txt clearly-better.txt", "slightly-better clearly-better"),
    ("wmt.en-de.hyp.Online-B.de", "wmt.en-de.hyp.Online-B"),
)
def test_names_of_systems_are_what_tells_their_files_apart(paths, names):
    assert system_names(paths.split(), None) == names.split()
