"""A Hugging Face `Trainer`: what is logged, stopped, resumed, and what is no check."""

import json

import numpy as np
import pytest

import evalstats as es

torch = pytest.importorskip("torch", reason="needs the extra transformers")
pytest.importorskip("transformers", reason="needs the extra transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = ["<pad>", "<s>", "</s>", "<unk>", *"abcdefgh"]
N_SEGMENTS = 12


@pytest.fixture
def trainer(tmp_path):
    """A function that makes a Seq2SeqTrainer of a tiny BART that learns one sentence."""
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
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        unk_token="<unk>",
    )  # fmt: skip
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
            model=model, args=arguments, train_dataset=data, eval_dataset=eval_dataset or data,
            data_collator=collate, callbacks=callbacks, compute_metrics=compute_metrics,
        )  # fmt: skip

    make.encode = encode
    return make, tokenizer, references


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
    evaluated = {k: v for entry in running.state.log_history for k, v in entry.items()}
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
    saved = json.loads((tmp_path / "checkpoint-2" / STATE_FILE).read_text())
    assert len(saved["labels"]) == 64


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
    logged = [entry for entry in running.state.log_history if "eval_loss" in entry]
    checks = watch.monitor.checks
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
