"""Scores of segments: COMET's two JSON forms, mt-metrics-eval's files, meeteval's sessions."""

import copy
import json

import numpy as np
import pytest

import evalstats as es
from tests import mutations

SOURCES = ["Guten Tag.", "Wie geht's?", "Danke."]
SCORES = {"sys1.txt": [0.81, 0.5, 0.9], "out/sys2.txt": [0.7, 0.75, 0.8]}


def scored():
    return {
        name: [
            {"src": source, "mt": f"{source} {name}", "ref": source.upper(), "COMET": score}
            for source, score in zip(SOURCES, scores, strict=True)
        ]
        for name, scores in SCORES.items()
    }


def compared():
    return {
        "model": "Unbabel/wmt22-comet-da",
        "statistical_results": [{"x_name": "sys1.txt", "y_name": "out/sys2.txt"}],
        "source": SOURCES,
        "translations": [
            {"name": name, "mt": SOURCES, "scores": scores} for name, scores in SCORES.items()
        ],
        "reference": [source.upper() for source in SOURCES],
    }


def written(path, content):
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def the_table(run):
    (table,) = run.tables.values()
    return table


def test_both_forms_of_comet_are_one(tmp_path):
    tables = []
    for form in (scored, compared):
        run = es.read_log(written(tmp_path / f"{form.__name__}.json", form()))
        assert run.format == "COMET"
        tables.append(the_table(run))
    assert tables[0] == tables[1]
    assert tables[0].systems == ("sys1", "sys2")
    assert tables[0].metric == es.Mean("COMET")
    assert tables[0].segment_ids == ("1", "2", "3")
    assert sorted(tables[0].labels) == ["reference_hash", "source_hash"]
    expected = [np.mean(scores) for scores in SCORES.values()]
    assert tables[0].scores == pytest.approx(expected)
    result = es.compare_logs(tmp_path / "scored.json")
    direct = es.compare(
        {"sys1": SCORES["sys1.txt"], "sys2": SCORES["out/sys2.txt"]}, metrics=es.Mean("COMET")
    )
    assert result.differences[0].pvalue == direct.differences[0].pvalue


def test_two_files_of_comet_are_joined_if_they_are_of_the_same_texts(tmp_path):
    first, second = ({name: content} for name, content in scored().items())
    paths = [written(tmp_path / "a.json", first), written(tmp_path / "b.json", second)]
    assert {e.system for e in es.compare_logs(paths).estimates} == {"sys1", "sys2"}
    second["out/sys2.txt"][1]["src"] = "Something else."
    written(tmp_path / "b.json", second)
    with pytest.raises(es.InputError, match="source_hash"):
        es.compare_logs(paths)


def test_without_references(tmp_path):
    content = scored()
    for segments in content.values():
        for segment in segments:
            del segment["ref"]
    table = the_table(es.read_log(written(tmp_path / "qe.json", content)))
    assert list(table.labels) == ["source_hash"]


@pytest.mark.parametrize(
    ("form", "change", "message"),
    [
        (scored, lambda d: d["sys1.txt"].pop(), "got 2 of 'sys1.txt' and|got 2 of 'sys1.txt', 3 of"),
        (scored, lambda d: d["out/sys2.txt"][2].pop("COMET"), "segment 3 of out/sys2.txt has no 'COMET'"),
        (scored, lambda d: d["sys1.txt"][0].update(COMET="high"), "score 1 of sys1.txt must be a number"),
        (scored, lambda d: d["sys1.txt"][0].update(COMET=float("inf")), "must be a finite number"),
        (scored, lambda d: d["sys1.txt"][1].update(src="?"), "segment 2 of 'out/sys2.txt' has another source"),
        (scored, lambda d: d.update(x={}), "'x' must be a list of segments"),
        (compared, lambda d: d["translations"][0]["scores"].pop(), "all systems must have the same segments|has 3 sources"),
        (compared, lambda d: d["source"].pop(), "has 2 sources or references of 3 segments"),
        (compared, lambda d: d["translations"][1].update(name="sys1.txt"), "translation 2 has the name of another"),
        (compared, lambda d: d["translations"][1].pop("scores"), "translation 2 has no 'scores'"),
        (compared, lambda d: d["translations"][1].update(scores=1), "must have a name and a list of scores"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_comet_is_an_error(tmp_path, form, change, message):
    content = copy.deepcopy(form())
    change(content)
    with pytest.raises(es.InputError, match=message):
        es.read_log(written(tmp_path / "comet.json", content))


def test_missing_scores_of_comet_are_said(tmp_path):
    content = scored()
    content["sys1.txt"][0]["COMET"] = None
    run = es.read_log(written(tmp_path / "comet.json", content))
    assert list(run.incomplete.values()) == ["1 score is missing"]
    with pytest.raises(es.InputError, match="1 score is missing"):
        es.compare_logs(run)
    result = es.compare_logs(run, missing="intersect")
    assert {e.n_segments for e in result.estimates} == {2}


def lines(blocks):
    return "".join(f"{name}\t{score}\n" for name, scores in blocks.items() for score in scores)


def test_score_files_have_blocks_of_systems(tmp_path):
    path = tmp_path / "COMET-22-refA.seg.score"
    path.write_text(lines({"sysA": [0.5, 0.25, 1e-3], "sysB": [-1, "None", 0]}))
    run = es.read_log(path)
    table = the_table(run)
    assert table.systems == ("sysA", "sysB")
    assert table.metric == es.Mean("COMET-22-refA")
    assert table.values[1].tolist() == [[-1, 1], [0, 0], [0, 1]]
    assert list(run.incomplete.values()) == ["1 score is missing"]


def test_a_folder_of_score_files(tmp_path):
    folder = tmp_path / "metric-scores" / "en-de"
    folder.mkdir(parents=True)
    for name in ("BLEU-refA.seg", "chrF-refA.seg", "BLEU-refA.sys", "BLEU-refA.domain"):
        (folder / f"{name}.score").write_text(lines({"sysA": [0.5, 0.25], "sysB": [1, 0]}))
    run = es.read_log(folder)
    assert [str(key) for key in run.tables] == ["BLEU-refA", "chrF-refA"]
    assert es.read_log(folder, metric="chrF*").tables.keys() == {("", "chrF-refA", "")}
    assert es.read_log(tmp_path / "metric-scores").tasks == ("en-de",)
    human = folder / "en-de.mqm.seg.score"
    human.write_text(lines({"sysA": [-0.5, -1], "refA": ["None", "None"]}))
    run = es.read_log(human)
    assert run.systems == ("sysA",)
    assert run.skipped == ("refA of en-de.mqm, which have no scores",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\na 2\nb 1\n", "all systems must have the same segments, got 2 of 'a', 1 of 'b'"),
        ("a 1\nb 2\na 1\nb 1\n", "line 3: the scores of 'a' go on after those of another system"),
        ("a 1\nb\n", "line 2 must be a system and its score, got 'b"),
        ("a 1\na 1 2\n", "line 2 must be a system and its score"),
        ("a 1\na x\n", "line 2 must be a number, got 'x'"),
        ("a nan\n", "line 1 must be a finite number"),
        ("a None\n", "has no scores"),
        ("\n", "is empty"),
    ],
)
def test_what_is_wrong_with_a_score_file_is_an_error(tmp_path, text, message):
    path = tmp_path / "x.seg.score"
    path.write_text(text)
    with pytest.raises(es.InputError, match=message):
        es.read_log(path)


def sessions():
    def of(insertions, deletions, substitutions, length):
        errors = insertions + deletions + substitutions
        return {
            "error_rate": errors / length if length else None, "errors": errors, "length": length,
            "insertions": insertions, "deletions": deletions, "substitutions": substitutions,
            "reference_self_overlap": None, "missed_speaker": 1, "assignment": [["0", "A"]],
        }  # fmt: skip

    return {"S10": of(2, 0, 0, 0), "S02": of(1, 2, 3, 40), "S01": of(0, 1, 0, 20)}


def test_sessions_of_meeteval(tmp_path):
    path = written(tmp_path / "hyp_cpwer_per_reco.json", sessions())
    run = es.read_log(path)
    table = the_table(run)
    assert (table.systems, table.metric.name) == (("hyp",), "cpWER")
    assert not table.metric.higher_is_better
    assert table.segment_ids == ("S01", "S02", "S10")
    assert table.values[0].tolist() == [[1, 20], [6, 40], [2, 0]]
    written(tmp_path / "hyp_cpwer.json", {"error_rate": 0.15, "errors": 9, "length": 60})
    run = es.read_log(path)
    assert list(run.reported.values()) == [{"hyp": 0.15}]
    assert not run.disagreements
    written(tmp_path / "hyp_cpwer.json", {"error_rate": 0.2})
    assert "the log says 0.2, its items give 0.15" in es.read_log(path).disagreements[0]


def test_speaker_times_of_meeteval(tmp_path):
    content = {
        name: {"error_rate": wrong / 60, "scored_speaker_time": 60.0, "missed_speaker_time": wrong,
               "falarm_speaker_time": 0, "speaker_error_time": 0}
        for name, wrong in (("S1", 6.0), ("S2", 3.0))
    }  # fmt: skip
    table = the_table(es.read_log(written(tmp_path / "hyp_der_per_reco.json", content)))
    assert table.metric.name == "DER"
    assert table.scores == pytest.approx([9 / 120])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["S02"].update(errors=7),
            "insertions [+] deletions [+] substitutions is 6, errors 7",
        ),
        (lambda d: d["S02"].update(length=50), "6 errors of 50 are 0.12, error_rate says 0.15"),
        (lambda d: d["S01"].pop("length"), "S01 has no 'length'"),
        (lambda d: d.update(S01=3), "S01 must be an object, got 3"),
        (lambda d: d["S01"].update(errors=-1, deletions=-1), "must not be negative"),
    ],
)
def test_what_is_wrong_with_a_session_is_an_error(tmp_path, change, message):
    content = sessions()
    change(content)
    with pytest.raises(es.InputError, match=message):
        es.read_log(written(tmp_path / "hyp_wer_per_reco.json", content))


def test_keys_that_occur_twice_are_an_error(tmp_path):
    path = written(tmp_path / "hyp_wer_per_reco.json", sessions())
    path.write_text(path.read_text().replace('"S10"', '"S01"'))
    with pytest.raises(es.InputError, match=r"_per_reco\.json has 'S01' twice in one object"):
        es.read_log(path)


def _fuzz(folder, count):
    path = written(folder / "hyp_cpwer_per_reco.json", sessions())
    written(folder / "hyp_cpwer.json", {"error_rate": 0.15})
    mutations.fuzz(path, path.read_bytes(), count)
    texts = {
        "comet.json": json.dumps(scored()),
        "compared.json": json.dumps(compared(), indent=1),
        "x-refA.seg.score": lines({"sysA": [0.5, 0.25, 1e-3], "sysB": [-1, "None", 0]}),
    }
    for name, text in texts.items():
        mutations.fuzz(folder / name, text.encode(), count, are_values_confirmed=False)


def test_mutated_scores_are_errors_or_say_so(tmp_path):
    _fuzz(tmp_path, 50)


@pytest.mark.thorough
def test_many_mutated_scores_are_errors_or_say_so(tmp_path):
    _fuzz(tmp_path, 2000)
