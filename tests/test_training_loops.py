"""What the callbacks share: a loop of one's own, labels, frameworks that are not installed."""

import builtins
import importlib
import json
import sys

import numpy as np
import pytest

import evalstats as es
from evalstats.integrations.labels import LabelledSet, decoded, fingerprint
from evalstats.integrations.loop import MonitorCallback as LoopCallback
from evalstats.integrations.loop import checked

# A loop of one's own


def test_a_loop_logs_saves_and_stops(sample, tmp_path):
    logged, path = [], tmp_path / "monitor.json"

    def run(first, last):
        """Train from one step to another; return the one at which it stops."""
        now = first
        callback = LoopCallback(
            es.Monitor(sample.references, "chrf", patience=3),
            lambda: sample.systems["clearly-better" if now >= 20 else "baseline"],
            every=10,
            log=lambda values, step: logged.append((step, values)),
            path=path,
        )
        for now in range(first, last):
            if callback(now):
                return now
        return None

    assert run(1, 35) is None
    # Killed and started again, from a step that was checked.
    assert run(30, 200) == 50
    assert [step for step, _ in logged] == [10, 20, 30, 40, 50]
    assert [values["chrf2_improved"] for _, values in logged] == [0, 1, 0, 0, 0]
    assert [check["step"] for check in json.loads(path.read_text())["checks"]] == [
        10, 20, 30, 40, 50
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]
    path.write_text("{", encoding="utf-8")
    with pytest.raises(es.InputError, match="must hold the state of a monitor, got JSONDecodeErr"):
        run(1, 2)


def test_a_step_that_is_evaluated_again_is_no_check(sample):
    monitor = es.Monitor(sample.references, "chrf")
    first = checked(monitor, 5, sample.systems["clearly-better"], "eval/")
    again = checked(monitor, 5, sample.systems["baseline"], "eval/")
    assert len(monitor.checks) == 1
    assert again["eval/chrf2"] < again["eval/chrf2_high"] < first["eval/chrf2"]
    assert again["eval/chrf2_best"] == first["eval/chrf2"]
    with pytest.raises(es.InputError, match="step must be larger than 5"):
        checked(monitor, 4, sample.systems["baseline"])


@pytest.mark.parametrize("path", ["missing/x.json", ".", "a\0.json"])
def test_a_path_that_cannot_be_written_is_refused_at_once(path, tmp_path):
    with pytest.raises(es.InputError, match="path"):
        LoopCallback(es.Monitor(["a", "b"]), list, path=tmp_path / path)


@pytest.mark.parametrize("name", ["torch", "transformers", "lightning", "torchmetrics"])
def test_a_missing_framework_is_named_with_its_extra(monkeypatch, name):
    real = builtins.__import__

    def without(module, *arguments, **keywords):
        if module.split(".")[0] == name:
            raise ImportError(module)
        return real(module, *arguments, **keywords)

    monkeypatch.delitem(sys.modules, f"evalstats.integrations.{name}", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(es.MissingExtraError, match=rf"pip install 'evalstats-text\[{name}\]'"):
        importlib.import_module(f"evalstats.integrations.{name}")


# Labels, without the framework


class Letters:
    """A tokenizer of letters."""

    pad_token_id = 0

    def batch_decode(self, rows, skip_special_tokens):
        return ["".join(chr(i) for i in row if i) for row in rows]


def ids(texts, width=30, fill=-100):
    found = np.full((len(texts), width), fill)
    for row, text in zip(found, texts, strict=True):
        row[: len(text)] = list(map(ord, text))
    return found


def test_a_fingerprint_of_labels_knows_no_padding():
    texts = ["ab", "c", ""]
    mine = fingerprint(ids(texts), 0)
    same = [
        ids(texts, 50),
        ids(texts, 30, 0),
        ids(texts).astype(np.int32),
        [[97, 98], [99], []],
        [np.array([97, 98]), (99,), np.array([], dtype=int)],
    ]
    assert {fingerprint(labels, 0) for labels in same[:3]} == {mine}
    others = [["ab", "c"], ["a", "bc", ""], ["ab", "", "c"], ["c", "ab", ""]]
    assert mine not in {fingerprint(ids(other), 0) for other in others}
    assert fingerprint((ids(texts), np.arange(3))) == fingerprint(
        {"labels": ids(texts), "class": np.arange(3)}
    )
    assert fingerprint((ids(texts), np.arange(3))) != fingerprint(ids(texts))
    assert fingerprint(np.array([0.5, 1.0])) != fingerprint(np.array([1.0, 0.5]))
    assert fingerprint(same[3]) == fingerprint(same[4]) == mine


def test_token_ids_are_decoded_and_other_predictions_refused():
    rows = ids(["ab", "c"])
    for predictions in (rows, (rows, None)):
        assert decoded(predictions, Letters()) == ["ab", "c"]
    assert decoded(rows, len) == 2
    with pytest.raises(es.InputError, match="use Seq2SeqTrainer with predict_with_generate=True"):
        decoded(np.zeros((1, 4, 12)), Letters())
    with pytest.raises(es.InputTypeError, match="tokenizer or a function, got str"):
        decoded(rows, "tokenizer")


def test_labels_that_are_no_text_tell_sets_apart():
    references, numbers = [f"text {i}" for i in range(20)], np.arange(20)
    the_set = LabelledSet(references, es.CHRF(), Letters(), None)
    assert the_set.holds(numbers, 20, remember=False)
    with pytest.warns(UserWarning, match="19 segments is passed by: there are references of 20"):
        assert not the_set.holds(numbers[1:], 19, remember=True)
    assert the_set.fingerprint is None
    assert the_set.holds(numbers, 20, remember=True)
    # Once it was seen, others are no surprise.
    assert not the_set.holds(numbers[1:], 19, remember=True)
    assert not the_set.holds(numbers[::-1], 20, remember=True)
    with pytest.raises(es.InputError, match="several evaluation sets have 20 segments"):
        the_set.holds(numbers[::-1], 20, remember=True, alone=True)
    assert the_set.scored_by_labels(["a"] * 20, numbers) == {}
    # Scores that come from elsewhere need no references.
    found = LabelledSet(None, es.Mean("judge"), Letters(), None)
    assert found.holds(numbers, 20, remember=True)
    assert found.scored_by_labels([1.0, 3.0], numbers[:2])["judge"] == 2
