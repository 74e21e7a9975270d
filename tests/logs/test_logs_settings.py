"""Logs of tasks that were not asked alike: told in a comparison, refused by a gate."""

import pytest

import evalstats as es
from tests import log_files
from tests.harness_logs import answers, write

RIGHT = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1] * 4
COUNTS = {"law": 40, "math": 40, "arc": 40}


def harness(folder, *, shots=0, version=1.0, prompts="", dataset="acme/exams", model="base"):
    """Write a run of three tasks, of which arc is the same whatever is asked for."""
    samples = {task: answers(RIGHT) for task in COUNTS}
    for task, lines in samples.items():
        for i, one in enumerate(lines):
            one["doc_hash"] = f"{task} {i}"
            one["prompt_hash"] += prompts if task != "arc" else ""
    asked = {"law": shots, "math": shots, "arc": 0}
    path = write(
        folder, samples, {task: {"acc,none": 0.7} for task in samples}, model=f"acme/{model}",
        versions={"law": version, "math": version, "arc": "Yaml"}, **{"n-shot": asked},
    )  # fmt: skip
    text = path.read_text().replace('"task": "law"', f'"task": "law", "dataset_path": "{dataset}"')
    path.write_text(text)
    return folder


def note_of(result):
    said = "Caution: The systems were run with different settings"
    (note,) = [note for note in result.notes if note.startswith(said)]
    return note.removeprefix("Caution: ")


def test_what_was_asked_otherwise_is_named(tmp_path):
    base, same = harness(tmp_path / "a"), harness(tmp_path / "b", model="tuned")
    other = harness(tmp_path / "c", shots=5, version=2.0, prompts="5", model="shot")
    assert "different settings" not in " ".join(es.compare_logs([base, same], n_resamples=9).notes)
    assert note_of(es.compare_logs([base, other], n_resamples=9)) == (
        "The systems were run with different settings, which may explain a difference. In "
        "law, math: 0-shot (acme/base) against 5-shot (acme/shot), version 1 against 2, 80 of 80 prompts differ."
    )
    three = es.compare_logs([base, other, same], task="law", n_resamples=9)
    said = "0-shot (acme/base, acme/tuned) against 5-shot (acme/shot), version 1 a"
    assert said in note_of(three)
    # Who is meant is said again where another setting divides the systems otherwise.
    new = harness(tmp_path / "d", version=2.0, model="new")
    text = note_of(es.compare_logs([base, other, new], task="law", n_resamples=9))
    assert "version 1 (acme/base) against 2 (acme/shot, acme/new), 40 of 40 prompts" in text
    # Tasks on which something else differs are said apart.
    mirror = harness(tmp_path / "e", dataset="mirror", model="e")
    text = note_of(es.compare_logs([base, mirror], n_resamples=9))
    assert text.endswith(" law: dataset acme/exams (acme/base) against mirror (acme/e).")


def test_a_part_of_the_prompts_may_differ_and_what_is_not_known_does_not(tmp_path):
    base, other = harness(tmp_path / "a"), harness(tmp_path / "b", model="b", dataset="/mnt/exams")
    path = next(other.rglob("samples_law*"))
    first, *lines = path.read_text().splitlines(keepends=True)
    unknown = lines[-1].replace('"prompt_hash": "', '"prompt_hash": "", "x": "')
    other_prompt = first.replace('"prompt_hash": "', '"prompt_hash": "x')
    path.write_text("".join([other_prompt, *lines[:-1], unknown]))
    text = note_of(es.compare_logs([base, other], n_resamples=9))
    assert text.endswith(". In law: 1 of 39 prompts differs.")
    # Systems that are not paired were asked others.
    apart = es.compare_logs([base, other], n_resamples=9, paired=False)
    assert not any("different settings" in note for note in apart.notes)
    # Without a file of results, and without hashes.
    next(other.rglob("results*")).unlink()
    text = "".join([first, *lines])
    path.write_text(text.replace('"prompt_hash": "', '"prompt_hash": "", "x": "'))
    assert "different settings" not in " ".join(es.compare_logs([base, other], n_resamples=9).notes)


def test_a_gate_refuses_what_it_is_not_told_to_allow(tmp_path, refused, typed):
    base = harness(tmp_path / "a")
    other = harness(tmp_path / "b", shots=5, prompts="5", model="shot")
    words = r"with different settings \(in law, math: 0-shot \(acme/base\) against 5-shot \(acme/shot\), 80 of 80 prompts differ\). Run them with the same settings, or accept the difference with allow_changes=\['shots', 'prompts'\]"
    for gate in (es.gate, es.assert_not_worse):
        for allowed in ({}, {"allow_changes": "prompts"}, {"allow_changes": ["version", "shots"]}):
            with pytest.raises(es.InputError, match=words):
                gate(other, base, recovery=0.5, n_resamples=99, **allowed)
        for allowed in ("*", ["shots", "prompts"]):
            found = gate(other, base, recovery=0.5, n_resamples=99, allow_changes=allowed)
            assert "different settings" in found.notes[0]
    with pytest.raises(es.InputError, match=r"allow_changes must be one of shots,.*; got 'shot'"):
        es.gate(other, base, recovery=0.5, allow_changes="shot")
    with pytest.raises(
        es.InputError, match="allow_changes applies only to logs, but these are texts"
    ):
        es.gate([1.0, 0.0], [1.0, 0.0], None, es.Mean("x"), margin=1, allow_changes="*")
    call = ["gate", str(other), "--baseline", str(base), "--recovery", "0.5", "--resamples", "99"]
    assert "accept the difference with --allow-changes shots prompts\n" in refused(*call)
    said = "The systems were run with different settings"
    assert said in typed(*call, "--allow-changes", "shots", "prompts")


def test_inspect_and_helm_say_how_they_asked(tmp_path):
    paths = []
    for name, version, shots in (("a", 1, 0), ("b", 7, 5)):
        log = log_files.inspect_log(["C", "I"] * 10, model=f"m/{name}")
        log["eval"] |= {"task_version": version, "task_args": {"fewshot": shots, "cot": True}}
        if shots:
            log["eval"]["task_args_passed"] = {**log["eval"]["task_args"], "judge": "big"}
        log["eval"]["dataset"]["name"] = f"arc-{name}"
        paths.append(log_files.inspect_file(tmp_path / f"{name}.json", log))
    assert note_of(es.compare_logs(paths, n_resamples=9)).endswith(
        "arc: version 1 (m/a) against 7 (m/b), dataset arc-a against arc-b, "
        "fewshot 0 against 5, judge its default against 'big'."
    )
    for name, shots in (("a", 0), ("b", 5)):
        path = log_files.helm(tmp_path / f"helm {name}", [[1, 0, 0.5]], model=name)
        spec = path.with_name("run_spec.json")
        spec.write_text(
            spec.read_text().replace('"model"', f'"max_train_instances": {shots}, "model"')
        )
    folders = [tmp_path / "helm a", tmp_path / "helm b"]
    note = note_of(es.compare_logs(folders, filter="test", n_resamples=9))
    assert note.endswith("mmlu:subject=law: 0-shot (a) against 5-shot (b).")
