"""The callbacks, in the frameworks themselves: tiny models, real trainers, CPU.

Skipped where a framework is not installed (extras `transformers` and `lightning`).
"""

import builtins
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evalstats as es
from evalstats.integrations.labels import LabelledSet, fingerprint
from evalstats.integrations.loop import MonitorCallback as LoopCallback
from evalstats.integrations.loop import checked

pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = ["<pad>", "<s>", "</s>", "<unk>", *"abcdefgh"]
N_SEGMENTS = 12


# A loop of one's own


def test_a_loop_logs_saves_and_stops(sample, tmp_path):
    outputs = {
        step: sample.systems["clearly-better" if step >= 20 else "baseline"] for step in range(200)
    }
    logged, path = [], tmp_path / "monitor.json"

    def make(now):
        return LoopCallback(
            es.Monitor(sample.references, "chrf", patience=3),
            lambda: outputs[now[0]],
            every=10,
            log=lambda values, step: logged.append((step, values)),
            path=path,
        )

    def run(first, last):
        now = [first]
        callback = make(now)
        for step in range(first, last):
            now[0] = step
            if callback(step):
                return step
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


# Hugging Face


@pytest.fixture
def trainer(tmp_path):
    """A function that makes a Seq2SeqTrainer of a tiny BART that learns one sentence."""
    pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        BartConfig,
        BartForConditionalGeneration,
        PreTrainedTokenizerFast,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
        set_seed,
    )

    torch.set_num_threads(1)
    inner = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
    )
    letters = np.random.default_rng(0).integers(4, 12, size=(N_SEGMENTS, 4))
    sources = [" ".join(WORDS[i] for i in row) for row in letters]
    references = ["a b c d e f g h"] * N_SEGMENTS

    def encode(references):
        return [
            {**tokenizer(source), "labels": [*tokenizer(reference)["input_ids"], 2]}
            for source, reference in zip(sources, references, strict=False)
        ]

    data = encode(references)

    def collate(rows):
        return {
            name: torch.tensor([row[name] for row in rows])
            for name in ("input_ids", "attention_mask", "labels")
        }

    def make(learning_rate, n_checks, callbacks, compute_metrics, eval_dataset=None, **options):
        set_seed(0)
        model = BartForConditionalGeneration(
            BartConfig(
                vocab_size=len(WORDS), d_model=16, encoder_layers=1, decoder_layers=1,
                encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
                decoder_ffn_dim=32, max_position_embeddings=32, pad_token_id=0, bos_token_id=1,
                eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None, dropout=0.0,
            )
        )  # fmt: skip
        arguments = Seq2SeqTrainingArguments(
            output_dir=str(tmp_path), max_steps=2 * n_checks, eval_strategy="steps", eval_steps=2,
            per_device_train_batch_size=12, per_device_eval_batch_size=12, use_cpu=True,
            learning_rate=learning_rate, lr_scheduler_type="constant", logging_steps=1000,
            predict_with_generate=True, generation_max_length=10, report_to=[],
            disable_tqdm=True, save_strategy=options.pop("save_strategy", "no"), **options,
        )  # fmt: skip
        return Seq2SeqTrainer(
            model=model,
            args=arguments,
            train_dataset=data,
            eval_dataset=eval_dataset or data,
            data_collator=collate,
            callbacks=callbacks,
            compute_metrics=compute_metrics,
        )

    make.encode = encode
    return make, tokenizer, references


def evaluations(trainer, key="eval_loss"):
    return [entry for entry in trainer.state.log_history if key in "".join(entry)]


def test_trainer_resumes_where_it_was(trainer, tmp_path):
    from evalstats.integrations.transformers import STATE_FILE, MonitorCallback

    make, tokenizer, references = trainer
    saving = {"save_strategy": "steps", "save_steps": 2}

    def callback():
        return MonitorCallback(es.Monitor(references, "chrf", patience=4), tokenizer)

    first = callback()
    make(0.0, 3, [first], first.compute_metrics, **saving).train()
    checkpoint = tmp_path / "checkpoint-6"
    assert (checkpoint / STATE_FILE).exists()
    second = callback()
    running = make(0.0, 50, [second], second.compute_metrics, **saving)
    running.train(resume_from_checkpoint=str(checkpoint))
    assert [check.step for check in second.monitor.checks] == [2, 4, 6, 8, 10]
    assert running.state.global_step == 10
    (checkpoint / STATE_FILE).unlink()
    third = callback()
    running = make(0.0, 4, [third], third.compute_metrics, **saving)
    with pytest.warns(UserWarning, match="the monitor starts anew"):
        running.train(resume_from_checkpoint=str(checkpoint))


def sentences(seed, n_segments=N_SEGMENTS):
    """References of eight letters each, hardly alike."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list("abcdefgh"), 8)) for _ in range(n_segments)]


def test_trainer_checks_the_monitored_set_only(trainer, tmp_path):
    """Two evaluation sets of one size, another test set, a shorter one: none spends the level."""
    from evalstats.integrations.transformers import STATE_FILE, MonitorCallback

    make, tokenizer, _ = trainer
    others, references = sentences(1), sentences(2)
    other, mine = make.encode(others), make.encode(references)
    sets = {"other": other, "mine": mine, "short": other[:5]}
    saving = {"save_strategy": "steps", "save_steps": 2}
    unnamed = MonitorCallback(es.Monitor(references, "chrf"), tokenizer)
    with pytest.raises(
        es.InputError, match=r"several evaluation sets have 12 segments; .* labels="
    ):
        make(0.0, 1, [unnamed], unnamed.compute_metrics, eval_dataset=sets).train()
    labels = [row["labels"] for row in mine]
    watch = MonitorCallback(es.Monitor(references, "chrf"), tokenizer, labels=labels)
    running = make(3e-2, 10, [watch], watch.compute_metrics, eval_dataset=sets, **saving)
    before = running.evaluate(mine)
    assert watch.monitor.checks == ()
    with pytest.warns(
        UserWarning, match="evaluation of 12 segments is passed by.*labels are other"
    ):
        running.train()
    assert [check.step for check in watch.monitor.checks] == list(range(2, 21, 2))
    evaluated = {k: v for entry in evaluations(running, "") for k, v in entry.items()}
    assert evaluated["eval_mine_chrf2"] == watch.monitor.last.score
    assert "eval_other_chrf2" in evaluated
    assert not any("improved" in key for key in evaluated if not key.startswith("eval_mine"))

    def expected(found, references):
        ids = np.where(found.predictions >= 0, found.predictions, 0)
        texts = tokenizer.batch_decode(ids, skip_special_tokens=True)
        return es.estimate(texts, references, "chrf", method="t")

    state = watch.monitor.state_dict()
    for dataset, refs in ((other, others), (mine, references), (other[:5], others[:5])):
        found = running.predict(dataset)
        assert found.metrics["test_chrf2"] == pytest.approx(expected(found, refs).score)
        assert found.metrics["test_chrf2_low"] == pytest.approx(expected(found, refs).low)
    assert "test_chrf2" not in running.predict(other[:1]).metrics
    # Padded to another length, these are the same labels.
    assert running.evaluate(mine, max_length=15)["eval_chrf2"] != before["eval_chrf2"]
    assert watch.monitor.state_dict() == state
    path = tmp_path / "checkpoint-2" / STATE_FILE
    assert len(json.loads(path.read_text())["labels"]) == 64
    path.write_text("{", encoding="utf-8")
    watch.monitor = es.Monitor(references, "chrf")
    with pytest.raises(es.InputError, match="must hold the state of a monitor, got JSONDecodeErr"):
        running.train(resume_from_checkpoint=str(path.parent))


def test_checks_are_logged_and_the_best_model_is_kept(trainer, tmp_path):
    """Evaluated after the training it is no check."""
    from evalstats.integrations.transformers import MonitorCallback

    make, tokenizer, references = trainer
    watch = MonitorCallback(es.Monitor(references, "chrf"), tokenizer)
    running = make(
        3e-2, 15, [watch], watch.compute_metrics, save_strategy="steps", save_steps=2,
        load_best_model_at_end=True, metric_for_best_model="chrf2_best_step",
        greater_is_better=True,
    )  # fmt: skip
    running.train()
    logged, checks = evaluations(running), watch.monitor.checks
    assert [check.step for check in checks] == [entry["step"] for entry in logged]
    for check, entry in zip(checks, logged, strict=True):
        for key, value in check.to_log("eval_").items():
            assert entry[key] == pytest.approx(value)
    # It learns the sentence, and that is an improvement.
    assert watch.monitor.best_step > 2
    assert checks[-1].best.score > checks[0].score + 10
    kept = tmp_path / f"checkpoint-{watch.monitor.best_step}"
    assert running.state.best_model_checkpoint == str(kept)
    state, best = watch.monitor.state_dict(), watch.monitor.last.best.score
    found = running.evaluate()
    assert found["eval_chrf2"] == pytest.approx(best)
    assert not any("improved" in key for key in found)
    assert watch.monitor.state_dict() == state
    # Trained further, it is watched further.
    running.args.max_steps = 32
    running.train(resume_from_checkpoint=True)
    assert [check.step for check in watch.monitor.checks] == list(range(2, 33, 2))


def test_compute_metrics_scores_other_sets_against_their_labels(trainer):
    from evalstats.integrations.transformers import compute_metrics

    make, tokenizer, _ = trainer
    references, others = sentences(2), sentences(3)
    mine, other = make.encode(references), make.encode(others)
    running = make(3e-2, 10, [], compute_metrics(references, "chrf", tokenizer), eval_dataset=mine)
    running.train()
    found = running.evaluate()
    ids = running.predict(mine).predictions
    texts = tokenizer.batch_decode(np.where(ids >= 0, ids, 0), skip_special_tokens=True)
    expected = es.estimate(texts, references, "chrf", method="t")
    for key, value in (("", expected.score), ("_low", expected.low), ("_high", expected.high)):
        assert found[f"eval_chrf2{key}"] == pytest.approx(value)
    assert running.predict(mine).metrics["test_chrf2"] == found["eval_chrf2"]
    against_labels = running.predict(other).metrics["test_chrf2"]
    running.compute_metrics = compute_metrics(others, "chrf", tokenizer)
    assert running.predict(other).metrics["test_chrf2"] == against_labels != found["eval_chrf2"]
    # A function decodes predictions, but nobody knows whether it decodes labels.
    running.compute_metrics = compute_metrics(references, "chrf", tokenizer.batch_decode)
    assert "eval_chrf2" in running.evaluate(mine)
    assert "eval_chrf2" not in running.evaluate(other)


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


def test_labels_that_are_no_text_tell_sets_apart():
    references, numbers = [f"text {i}" for i in range(20)], np.arange(20)
    the_set = LabelledSet(references, es.CHRF(), Letters(), None)
    assert the_set.holds(numbers, 20, remember=False)
    with pytest.warns(UserWarning, match="19 segments is passed by: there are references of 20"):
        assert not the_set.holds(numbers[1:], 19, remember=True)
    assert the_set.fingerprint is None
    assert the_set.holds(numbers, 20, remember=True)
    assert not the_set.holds(numbers[::-1], 20, remember=True)
    with pytest.raises(es.InputError, match="several evaluation sets have 20 segments"):
        the_set.holds(numbers[::-1], 20, remember=True, alone=True)
    assert the_set.scored_by_labels(["a"] * 20, numbers) == {}
    # Scores that come from elsewhere need no references.
    found = LabelledSet(None, es.Mean("judge"), Letters(), None)
    assert found.holds(numbers, 20, remember=True)
    assert found.scored_by_labels([1.0, 3.0], numbers[:2])["judge"] == 2


def test_what_cannot_be_decoded_is_reported(trainer):
    from evalstats.integrations.transformers import decoded

    _, tokenizer, _ = trainer
    ids = np.array([[4, 5, 2, -100]])
    assert decoded(ids, tokenizer) == decoded((ids, None), tokenizer) == ["a b"]
    assert decoded(ids, lambda rows: [f"{len(row)} tokens" for row in rows]) == ["4 tokens"]
    with pytest.raises(es.InputError, match="use Seq2SeqTrainer with predict_with_generate=True"):
        decoded(np.zeros((1, 4, 12)), tokenizer)
    with pytest.raises(es.InputTypeError, match="tokenizer or a function, got str"):
        decoded(ids, "tokenizer")


# Lightning


@pytest.fixture
def module():
    """A function that makes a module that learns which word follows which."""
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning")
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    lightning.seed_everything(0)
    inputs = torch.arange(48).reshape(12, 4) % 8
    references = [" ".join("abcdefgh"[(i + 1) % 8] for i in row) for row in inputs.tolist()]

    class Model(lightning.LightningModule):
        def __init__(self, learning_rate, with_ids=False):
            super().__init__()
            self.learning_rate, self.with_ids = learning_rate, with_ids
            self.references = None
            self.table = torch.nn.Embedding(8, 8)

        def training_step(self, batch, batch_idx):
            logits = self.table(inputs[batch])
            return torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), (inputs[batch].flatten() + 1) % 8
            )

        def validation_step(self, batch, batch_idx):
            words = self.table(inputs[batch]).argmax(dim=-1).tolist()
            outputs = {"hypotheses": [" ".join("abcdefgh"[i] for i in row) for row in words]}
            if batch_idx == 0:
                self.seen, fit.part = [], []
            self.seen += outputs["hypotheses"]
            fit.part += batch.tolist()
            if self.references:
                outputs["references"] = [self.references[i] for i in batch]
            return {**outputs, "ids": batch} if self.with_ids else outputs

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=self.learning_rate)

        def train_dataloader(self):
            return DataLoader(range(12), batch_size=12)

        def val_dataloader(self):
            # Out of order where ids say so.
            self.loader = DataLoader(range(12)[:: -1 if self.with_ids else 1], batch_size=5)
            return self.loader

    def fit(model, monitor, n_epochs, path=None, callbacks=(), trainer_options=None, **options):
        from evalstats.integrations.lightning import MonitorCallback

        class Log(lightning.pytorch.loggers.logger.DummyLogger):
            def __init__(self):
                super().__init__()
                self.rows = []

            def log_metrics(self, metrics, step=None):
                self.rows.append(metrics)

        log = Log()
        trainer = lightning.Trainer(
            accelerator="cpu", max_epochs=n_epochs, callbacks=[MonitorCallback(monitor), *callbacks],
            logger=log, enable_checkpointing=bool(callbacks), enable_progress_bar=False,
            enable_model_summary=False, log_every_n_steps=1, **(trainer_options or {}),
        )  # fmt: skip
        fit.trainer = trainer
        trainer.fit(model, **options)
        if path:
            trainer.save_checkpoint(path)
        return [row for row in log.rows if "wer" in row]

    return Model, fit, references


@pytest.mark.parametrize("with_ids", [False, True])
def test_lightning_logs_evaluations_and_keeps_the_best(module, with_ids, tmp_path):
    model, fit, references = module
    from lightning.pytorch.callbacks import ModelCheckpoint

    keep = ModelCheckpoint(tmp_path, "{step}", monitor="wer_best_step", mode="max")
    monitor = es.Monitor(references, "wer")
    # All of the set, whatever it is called.
    options = {"limit_val_batches": 99} if with_ids else {}
    logged = fit(model(5.0, with_ids), monitor, 30, callbacks=[keep], trainer_options=options)
    assert [check.step for check in monitor.checks] == list(range(1, 31))
    assert keep.best_model_path == str(tmp_path / f"step={monitor.best_step}.ckpt")
    for check, row in zip(monitor.checks, logged, strict=True):
        for key, value in check.to_log().items():
            assert row[key] == pytest.approx(value, rel=1e-5)
    # It learns all words: no errors in the end, and fewer is better.
    assert monitor.last.score == 0
    assert monitor.last.best.step > 1


def test_lightning_stops_and_resumes(module, tmp_path):
    model, fit, references = module
    whole = es.Monitor(references, "wer", patience=4)
    fit(model(0.0), whole, 50)
    assert [check.step for check in whole.checks] == [1, 2, 3, 4, 5]
    path = tmp_path / "last.ckpt"
    first, second = (es.Monitor(references, "wer", patience=4) for _ in range(2))
    fit(model(0.0), first, 2, path)
    fit(model(0.0), second, 50, ckpt_path=path)
    assert [check.step for check in second.checks] == [1, 2, 3, 4, 5]
    assert [check.checks_without_improvement for check in second.checks] == [0, 1, 2, 3, 4]


RANKS = """
import sys, warnings
warnings.simplefilter("ignore")
import lightning, torch
from torch.utils.data import DataLoader
import evalstats as es
from evalstats.data import load_sample
from evalstats.integrations.lightning import MonitorCallback

sample = load_sample()

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
    def training_step(self, batch, batch_idx):
        return self.weight.sum()
    def validation_step(self, batch, batch_idx):
        return {"hypotheses": [sample.systems["baseline"][i] for i in batch], "ids": batch}
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
    def train_dataloader(self):
        return DataLoader(range(8), batch_size=2)
    def val_dataloader(self):
        return DataLoader(range(41), batch_size=4)  # odd: Lightning gives one to both ranks

if __name__ == "__main__":
    monitor = es.Monitor(sample.references[:41], "chrf", patience=2)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=9, logger=False,
        callbacks=[MonitorCallback(monitor)], enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Model())
    check = monitor.last
    with open(f"{sys.argv[1]}.{trainer.global_rank}", "w") as file:
        print(check.step, check.score, check.low, check.should_stop, file=file)
"""


@pytest.mark.slow
def test_lightning_on_two_ranks(sample, tmp_path):
    pytest.importorskip("lightning")
    script = tmp_path / "train.py"
    script.write_text(RANKS, encoding="utf-8")
    root = Path(es.__file__).parents[1]
    subprocess.run(
        [sys.executable, script, tmp_path / "rank"],
        check=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
        capture_output=True,
    )
    expected = es.Monitor(sample.references[:41], "chrf").check(0, sample.systems["baseline"][:41])
    # Two steps an epoch; the first check and two that are no better.
    for rank in range(2):
        assert (tmp_path / f"rank.{rank}").read_text().split() == [
            "6", str(expected.score), str(expected.low), "True"
        ]  # fmt: skip


def test_outputs_of_all_ranks_in_order():
    pytest.importorskip("lightning")
    from evalstats.integrations.lightning import Outputs

    def made(texts, ids=None, references=None):
        return Outputs.of({"hypotheses": list(texts), "ids": ids, "references": references})

    def together(batches, n_ranks=2):
        return Outputs.together([made(*batch) for batch in batches], n_ranks)

    ranks = [("ca", [2, 0], ["C", "A"]), ("bx", [1, 2], ["B", "O"])]
    assert together(ranks) == made("abc", [0, 1, 2], ["A", "B", "C"])
    assert together([("a",), ("bc",)], 1) == made("abc")
    assert (together(ranks).missing, together(ranks[:1]).missing) == (None, 1)
    for batches, message in (
        ([("a",)], "must return 'ids' on 2 ranks"),
        ([("a", [0]), ("b",)], "'ids' and 'references' for all batches or for none"),
        ([("a", [0], ["A"]), ("b", [1])], "'ids' and 'references' for all batches"),
        ([("a", [0, 1])], "hypotheses, ids must be the same length, got 1, 2"),
        ([("a", None, ["A", "B"])], "hypotheses, references must be the same length"),
        ([("a", None, "A")], "'references' must be a list .* bare str"),
    ):
        with pytest.raises(es.InputError, match=message):
            together(batches)


OTHERS = ["a b c d", "h g f e", "c c d d", "a a a b"] * 3


@pytest.mark.parametrize("options", [
    {"fast_dev_run": True}, {"fast_dev_run": 9}, {"limit_val_batches": 2}, {"limit_val_batches": 1},
    {"limit_val_batches": 0.7}, {"overfit_batches": 1},
])  # fmt: skip
def test_a_part_of_the_set_is_no_check(module, options):
    model, fit, references = module
    for with_ids in (False, True):
        monitor = es.Monitor(references, "wer", patience=1)
        with pytest.warns(UserWarning, match="at step [12] is no check: its outputs are of a part"):
            fit(model(0.0, with_ids), monitor, 2, trainer_options=options)
        assert monitor.checks == ()
        found = fit.trainer.callback_metrics
        # Scored where ids say which references are theirs.
        assert ("wer" in found) == (with_ids or options == {"fast_dev_run": 9})
        assert not any("improved" in key for key in found)
    outputs, part = fit.trainer.lightning_module.seen, [references[i] for i in fit.part]
    expected = es.estimate(outputs, part, "wer").score
    assert found["wer"].item() == pytest.approx(expected, rel=1e-5)


def test_validate_is_no_check(module):
    model, fit, references = module
    monitor = es.Monitor(references, "wer", patience=2)
    trained = model(5.0)
    fit(trained, monitor, 4)
    state, score = monitor.state_dict(), monitor.last.score
    # Of the same set again nothing says what it is; of one with references they do.
    with pytest.warns(UserWarning, match="12 outputs of a validation are passed by"):
        assert fit.trainer.validate(trained, trained.loader, verbose=False) == [{}]
    trained.references = references
    (found,) = fit.trainer.validate(trained, trained.val_dataloader(), verbose=False)
    assert found["wer"] == pytest.approx(score)
    trained.references = OTHERS
    (found,) = fit.trainer.validate(trained, trained.val_dataloader(), verbose=False)
    assert found["wer"] == pytest.approx(es.estimate(trained.seen, OTHERS, "wer").score)
    assert monitor.state_dict() == state


def test_several_dataloaders_are_told_apart_by_their_references(module):
    model, fit, references = module

    class Two(model):
        def validation_step(self, batch, batch_idx, dataloader_idx):
            self.references = [OTHERS, references, None][dataloader_idx]
            return super().validation_step(batch, batch_idx)

        def val_dataloader(self):
            return [super(Two, self).val_dataloader() for _ in range(3)]

    monitor = es.Monitor(references, "wer")
    with pytest.warns(UserWarning, match="12 outputs of a validation are passed by: nothing says"):
        fit(Two(5.0), monitor, 3)
    assert [check.step for check in monitor.checks] == [1, 2, 3]
    found = fit.trainer.callback_metrics
    assert found["wer"].item() == pytest.approx(monitor.last.score)
    assert found["wer/dataloader_idx_0"] != found["wer"]
    assert not any(key.endswith("_2") for key in found)
    with pytest.warns(UserWarning, match="no check: no references are those of the monitor"):
        fit(Two(5.0), es.Monitor(sorted(references), "wer"), 1)


def test_scores_that_come_from_elsewhere_need_no_references(module):
    model, fit, _ = module

    class Judged(model):
        def validation_step(self, batch, batch_idx):
            return {"hypotheses": [float(i) for i in batch], "references": ["?"] * len(batch)}

    monitor = es.Monitor(None, es.Mean("wer"))
    trained = Judged(0.0)
    fit(trained, monitor, 2)
    assert [check.score for check in monitor.checks] == [5.5, 5.5]
    assert fit.trainer.validate(trained, verbose=False)[0]["wer"] == 5.5
    assert len(monitor.checks) == 2


def test_a_set_that_does_not_fit_is_an_error(module):
    model, fit, references = module
    with pytest.raises(es.InputError, match="references has 11 entries but hypotheses has 12"):
        fit(model(0.0), es.Monitor(references[:11], "wer"), 1)

    class Numbered(model):
        def validation_step(self, batch, batch_idx):
            outputs = super().validation_step(batch, batch_idx)
            return {**outputs, "ids": [3 * i for i in range(len(batch))]}

    with pytest.raises(es.InputError, match=r"positions 0 to 4 among the references, .* no 1"):
        fit(Numbered(0.0), es.Monitor(references, "wer"), 1)


def test_lightning_says_what_validation_step_must_return(module):
    model, fit, references = module

    class Silent(model):
        def validation_step(self, batch, batch_idx):
            return None

    with pytest.raises(es.InputError, match="validation_step must return a dictionary"):
        fit(Silent(0.0), es.Monitor(references, "wer"), 1)
