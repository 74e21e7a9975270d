"""What the callbacks share: a loop of one's own, labels, frameworks that are not installed."""

import importlib
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import evalstats as es
from evalstats.integrations.loop import MonitorCallback as LoopCallback
from evalstats.integrations.loop import check_kept_by, checked
from tests.helpers import hide, refuses

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
    assert [values["chrf_improved"] for _, values in logged] == [0, 1, 0, 0, 0]
    assert [check["step"] for check in json.loads(path.read_text())["checks"]] == [
        10, 20, 30, 40, 50
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]
    path.write_text("{", encoding="utf-8")
    refuses("must contain the state of a monitor .JSONDecodeErr", run, 1, 2)


def test_a_step_that_is_evaluated_again_is_no_check(sample):
    monitor = es.Monitor(sample.references, "chrf")
    first = checked(monitor, 5, sample.systems["clearly-better"], "eval/")
    again = checked(monitor, 5, sample.systems["baseline"], "eval/")
    assert len(monitor.checks) == 1
    assert again["eval/chrf"] < again["eval/chrf_high"] < first["eval/chrf"]
    assert again["eval/chrf_best"] == first["eval/chrf"]
    refuses("step must be larger than 5", checked, monitor, 4, sample.systems["baseline"])


@pytest.mark.parametrize("path", ["missing/x.json", ".", "a\0.json"])
def test_a_path_that_cannot_be_written_is_refused_at_once(path, tmp_path):
    refuses("path", LoopCallback, es.Monitor(["a", "b"]), list, path=tmp_path / path)


@pytest.mark.parametrize("name", ["torch", "transformers", "lightning", "torchmetrics"])
def test_a_missing_framework_is_named_with_its_extra(monkeypatch, name):
    monkeypatch.delitem(sys.modules, f"evalstats.integrations.{name}", raising=False)
    hide(monkeypatch, name)
    with pytest.raises(es.MissingExtraError, match=rf"pip install '\.\[{name}\]'"):
        importlib.import_module(f"evalstats.integrations.{name}")


# Labels, without the framework


@pytest.fixture
def hugging_face(monkeypatch):
    """`evalstats.integrations.transformers` in two processes of frameworks that are not there."""
    name = "evalstats.integrations.transformers"
    ranks = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_world_size=lambda: 2
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=ranks))
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(TrainerCallback=object))
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    del sys.modules[name]
    del sys.modules["evalstats.integrations"].transformers


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


def test_a_fingerprint_of_labels_knows_no_padding(hugging_face):
    texts = ["ab", "c", ""]
    mine = hugging_face.fingerprint(ids(texts), 0)
    same = [
        ids(texts, 50), ids(texts, 30, 0), ids(texts).astype(np.int32), [[97, 98], [99], []],
        [np.array([97, 98]), (99,), np.array([], dtype=int)],
    ]  # fmt: skip
    assert {hugging_face.fingerprint(labels, 0) for labels in same[:3]} == {mine}
    others = [["ab", "c"], ["a", "bc", ""], ["ab", "", "c"], ["c", "ab", ""]]
    assert mine not in {hugging_face.fingerprint(ids(other), 0) for other in others}
    assert hugging_face.fingerprint((ids(texts), np.arange(3))) == hugging_face.fingerprint(
        {"labels": ids(texts), "class": np.arange(3)}
    )
    assert hugging_face.fingerprint((ids(texts), np.arange(3))) != hugging_face.fingerprint(
        ids(texts)
    )
    assert hugging_face.fingerprint(np.array([0.5, 1.0])) != hugging_face.fingerprint(
        np.array([1.0, 0.5])
    )
    assert hugging_face.fingerprint(same[3]) == hugging_face.fingerprint(same[4]) == mine


def test_token_ids_are_decoded_and_other_predictions_refused(hugging_face):
    rows = ids(["ab", "c"])
    for predictions in (rows, (rows, None)):
        assert hugging_face.decoded(predictions, Letters()) == ["ab", "c"]
    assert hugging_face.decoded(rows, len) == 2
    with pytest.raises(es.InputError, match="Use Seq2SeqTrainer with predict_with_generate=True"):
        hugging_face.decoded(np.zeros((1, 4, 12)), Letters())
    with pytest.raises(es.InputTypeError, match="tokenizer or a function, got str"):
        hugging_face.decoded(rows, "tokenizer")


def test_labels_that_are_no_text_tell_sets_apart(hugging_face):
    references, numbers = [f"text {i}" for i in range(20)], np.arange(20)
    the_set = hugging_face.LabelledSet(references, es.CHRF(), Letters(), None)
    assert the_set.holds(numbers, 20, remember=False)
    with pytest.warns(
        UserWarning, match="19 segments is skipped: the monitor has references for 20"
    ):
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
    found = hugging_face.LabelledSet(None, es.Mean("judge"), Letters(), None)
    assert found.holds(numbers, 20, remember=True)
    assert found.scored_by_labels([1.0, 3.0], numbers[:2])["judge"] == 2


def test_a_set_of_another_size_is_another_set_of_a_metric_without_references(hugging_face):
    """Defect: every size fitted, and two evaluation sets of 400 and 300 ended the training."""
    the_set = hugging_face.LabelledSet(None, es.Mean("accuracy"), None, None)
    first, second = np.arange(400) % 2, np.arange(300) % 2
    assert the_set.holds(first, 400, remember=True, alone=True)
    assert not the_set.holds(second, 300, remember=True, alone=True)
    assert the_set.holds(first, 400, remember=True, alone=True)
    with pytest.raises(es.InputError, match="several evaluation sets have 400 segments"):
        the_set.holds(first[::-1], 400, remember=True, alone=True)


# Rows that fill the last batches of several processes


def prediction(outputs, labels):
    """What a trainer hands over, of texts as token ids."""
    return SimpleNamespace(predictions=ids(outputs), label_ids=labels)


@pytest.mark.parametrize(("n", "n_rows"), [(100, 128), (60, 64), (3, 64), (64, 64)])
def test_rows_that_fill_batches_are_dropped(n, n_rows, hugging_face):
    """As accelerate fills them: the set from its start, as often as it takes."""
    references = [f"text {i}" for i in range(n)]
    outputs = [f"out {i}" for i in range(n)]
    at = np.arange(n_rows) % n
    labels = ids(references)[at]
    # A model in low precision may answer the same input differently in another batch.
    predicted = [outputs[i] if row < n else "other" for row, i in enumerate(at)]
    the_set = hugging_face.LabelledSet(references, es.CHRF(), Letters(), None)
    found, kept = the_set.rows(prediction(predicted, labels))
    assert found == outputs
    assert the_set.holds(kept, len(found), remember=True)
    assert the_set.fingerprint == hugging_face.fingerprint(labels[:n])
    # Another set of which the trainer says how large it is.
    assert the_set.rows(prediction(predicted[: n - 1], labels[: n - 1]), n - 1)[0] == outputs[:-1]
    for several in ((labels, at), {"labels": labels, "class": at}):
        found, kept = hugging_face.unpadded(predicted, several, n)
        assert found == outputs
        assert [len(rows) for rows in (kept if type(kept) is tuple else kept.values())] == [n, n]
    # Without labels the outputs say what repeats.
    assert hugging_face.unpadded([outputs[i] for i in at], None, n) == (outputs, None)


def test_rows_that_repeat_nothing_stay(hugging_face):
    """A set of 101 is not the one of 100, and 28 rows more of which one is another are a set."""
    references = [f"text {i}" for i in range(128)]
    the_set = hugging_face.LabelledSet(references[:100], es.CHRF(), Letters(), None)
    for rows in ([*references[:100], "more"], [*references[:100], *references[:27], "more"]):
        found, kept = the_set.rows(prediction(rows, ids(rows)))
        assert (found, len(kept)) == (rows, len(rows))
        with pytest.warns(UserWarning, match="is skipped: the monitor has references for 100"):
            assert not the_set.holds(kept, len(found), remember=True)
    outputs = ["a", "b", "c", "a", "c"]
    assert hugging_face.unpadded(outputs, None, 3) == (outputs, None)
    # An evaluation cut short, an unknown number, labels of another number than outputs.
    for labels, n in ((None, 9), (None, 0), (ids("ab"), 3)):
        assert hugging_face.unpadded(outputs[:4], labels, n) == (outputs[:4], labels)


def test_a_set_that_may_be_filled_has_no_score(hugging_face):
    """Where nobody says how many rows another set has."""
    the_set = hugging_face.LabelledSet(["x", "y"], es.CHRF(), Letters(), None)
    texts = ["ab", "cd", "ef"]
    exact = the_set.scored_by_labels(texts, ids(texts), may_be_filled=True)
    assert exact == the_set.scored_by_labels(texts, ids(texts)) != {}
    for filled in (["ab", "cd", "ef", "ab"], ["ab", "cd", "ef", "ab", "cd"]):
        with pytest.warns(UserWarning, match=f"{len(filled)} rows of several processes are not sc"):
            assert the_set.scored_by_labels(filled, ids(filled), may_be_filled=True) == {}


def test_a_trainer_of_two_processes_is_watched(hugging_face):
    """Of 100 rows it hands over 128, of another set of 60 it hands over 64."""
    references, others = ([f"{word} {i}" for i in range(n)] for word, n in (("a", 100), ("b", 60)))
    watch = hugging_face.MonitorCallback(es.Monitor(references, "chrf", patience=1), Letters())
    state = SimpleNamespace(global_step=0)
    control = SimpleNamespace(should_training_stop=False)
    arguments = SimpleNamespace(metric_for_best_model="chrf_best_step")

    def evaluated(texts, n_rows, loader=None):
        loader = loader or SimpleNamespace(dataset=texts)
        watch.on_prediction_step(arguments, state, control, eval_dataloader=loader)
        rows = [texts[i % len(texts)] for i in range(n_rows)]
        # Every output lacks the first letter.
        return watch.compute_metrics(prediction([text[1:] for text in rows], ids(rows)))

    def expected(texts):
        return es.estimate([text[1:] for text in texts], texts, "chrf", method="t").score

    watch.on_train_begin(arguments, state, control)
    for step, stops in ((5, False), (10, True)):
        state.global_step = step
        found = evaluated(references, 128)
        assert found["chrf"] == expected(references)
        assert found["chrf_best_step"] == 5
        assert evaluated(others, 64)["chrf"] == expected(others)
        watch.on_evaluate(arguments, state, control)
        assert control.should_training_stop == stops
    assert [check.step for check in watch.monitor.checks] == [5, 10]
    # Some loaders do not say how long their sets are.
    loader = SimpleNamespace(dataset=iter(()))
    assert evaluated(references, 128, loader)["chrf"] == expected(references)
    assert evaluated(others, 60, loader)["chrf"] == expected(others)
    with pytest.warns(UserWarning, match="64 rows of several processes are not scored"):
        assert evaluated(others, 64, loader) == {}
    arguments.metric_for_best_model = "eval_chrf2_best_step"
    with pytest.raises(es.InputError, match="which is not logged; use 'eval_chrf_best_step'"):
        watch.on_train_begin(arguments, state, control)


# Classifiers, and the names of what is logged


def test_a_classifier_needs_no_decode(hugging_face):
    logits = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [2.0, -1.0]])
    the_set = hugging_face.LabelledSet(None, es.Mean("accuracy"), None, None)
    handed = SimpleNamespace(predictions=(logits, "hidden"), label_ids=np.array([1, 1, 1, 0]))
    outputs, labels = the_set.rows(handed)
    assert outputs.tolist() == [1, 0, 1, 1]
    check = es.Monitor(metric=es.Mean("accuracy")).check(0, outputs)
    assert (check.score, check.basis.interval) == (0.75, "wilson")
    with pytest.raises(es.InputError, match=r"logits of shape \(N, classes\) .* got \(4, 2\) and"):
        hugging_face.decoded(logits, None, labels[:3])
    with pytest.raises(es.InputTypeError, match="decode is None, but chrF2 requires a tokenizer"):
        hugging_face.LabelledSet(["a"], es.CHRF(), None, None)


def test_a_classifier_is_watched_under_metrics_of_labels(hugging_face):
    # Defect: Monitor(labels, Confusion) was refused.
    rng = np.random.default_rng(4)
    gold, metric = rng.integers(0, 3, 90), es.Confusion([0, 1, 2], "macro-f1")
    logits = np.eye(3)[np.where(rng.random(90) < 0.6, gold, 0)]
    watch = hugging_face.MonitorCallback(es.Monitor(gold, metric))
    found = watch.compute_metrics(SimpleNamespace(predictions=logits, label_ids=gold))
    truth = es.estimate(logits.argmax(axis=1), gold, metric).score
    assert found["macro-f1"] == truth
    other = SimpleNamespace(predictions=logits[:50], label_ids=gold[:50])
    assert watch.compute_metrics(other)["macro-f1"] != truth


def test_what_keeps_checkpoints_has_the_name_that_is_logged():
    """A trainer would say so with a KeyError at the first save, a training of hours later."""
    for metric, name in (("chrf", "chrf"), (es.CHRF(word_order=2), "chrf++"), ("bleu", "bleu")):
        monitor = es.Monitor(["a", "b"], metric)
        keys = monitor.check(0, ["a", "c"]).to_log("eval_").keys()
        assert {f"eval_{name}", f"eval_{name}_best_step"} <= keys
        for key in (*keys, "eval_loss", "loss", None, "eval_mine_bleu", "sacrebleu_best_step"):
            check_kept_by(key, monitor)
    monitor = es.Monitor(["a", "b"], es.CHRF())
    with pytest.raises(es.InputError, match="not logged; use 'eval_chrf_best_step'"):
        check_kept_by("eval_chrf2_best_step", monitor)
