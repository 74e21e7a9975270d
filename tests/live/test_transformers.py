"""A Hugging Face `Trainer`: what is logged, stopped, resumed, and what is no check."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evalstats as es

pytest.importorskip("torch", reason="needs the extra transformers")
pytest.importorskip("transformers", reason="needs the extra transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

N_SEGMENTS = 12


@pytest.fixture
def trainer(tmp_path):
    """A function that makes a Seq2SeqTrainer of a tiny BART that learns one sentence."""
    from tests.live import tiny_bart

    tokenizer, references = tiny_bart.tokenizer(), ["a b c d e f g h"] * N_SEGMENTS
    data = tiny_bart.encoded(tokenizer, references)

    def make(learning_rate, n_checks, callbacks, compute_metrics, eval_dataset=None, **options):
        sets, found = eval_dataset or data, (callbacks, compute_metrics)
        return tiny_bart.trainer(tmp_path, data, sets, n_checks, learning_rate, *found, **options)

    make.encode = lambda references: tiny_bart.encoded(tokenizer, references)
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
    with pytest.warns(UserWarning, match="the monitor starts from the beginning"):
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
        UserWarning, match="evaluation of 12 segments is skipped.*labels are different"
    ):
        running.train()
    assert [check.step for check in watch.monitor.checks] == list(range(2, 21, 2))
    evaluated = {k: v for entry in running.state.log_history for k, v in entry.items()}
    assert evaluated["eval_mine_chrf"] == watch.monitor.last.score
    assert "eval_other_chrf" in evaluated
    assert not any("improved" in key for key in evaluated if not key.startswith("eval_mine"))

    def expected(found, references):
        ids = np.where(found.predictions >= 0, found.predictions, 0)
        texts = tokenizer.batch_decode(ids, skip_special_tokens=True)
        return es.estimate(texts, references, "chrf", method="t")

    state = watch.monitor.state_dict()
    for dataset, refs in ((other, others), (mine, references), (other[:5], others[:5])):
        found = running.predict(dataset)
        assert found.metrics["test_chrf"] == pytest.approx(expected(found, refs).score)
        assert found.metrics["test_chrf_low"] == pytest.approx(expected(found, refs).low)
    assert "test_chrf" not in running.predict(other[:1]).metrics
    # Padded to another length, these are the same labels.
    assert running.evaluate(mine, max_length=15)["eval_chrf"] != before["eval_chrf"]
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
        load_best_model_at_end=True, metric_for_best_model="chrf_best_step",
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
    assert found["eval_chrf"] == pytest.approx(best)
    assert not any("improved" in key for key in found)
    assert watch.monitor.state_dict() == state
    # Trained further, it is watched further.
    running.args.max_steps = 32
    running.train(resume_from_checkpoint=True)
    assert [check.step for check in watch.monitor.checks] == list(range(2, 33, 2))


RANKS = """
import json, sys, warnings
warnings.simplefilter("ignore")
import evalstats as es
from evalstats.integrations.transformers import MonitorCallback
from tests.live import tiny_bart
from tests.live.test_transformers import sentences

folder = sys.argv[1]
tokenizer = tiny_bart.tokenizer()
references, others = sentences(2, 100), sentences(1, 60)
mine, other = (tiny_bart.encoded(tokenizer, texts) for texts in (references, others))
watch = MonitorCallback(es.Monitor(references, "chrf", patience=9), tokenizer)
rows = []

def counted(prediction):
    rows.append(len(prediction.predictions))
    return watch.compute_metrics(prediction)

trainer = tiny_bart.trainer(
    folder, mine, mine, 4, 3e-2, [watch], counted, per_device_eval_batch_size=32,
    save_strategy="steps", save_steps=2, load_best_model_at_end=True,
    metric_for_best_model="chrf_best_step", greater_is_better=True,
)
trainer.train()
before = watch.monitor.state_dict()
found = {"evaluated": trainer.evaluate()["eval_chrf"]}
found["other"] = trainer.predict(other).metrics["test_chrf"]
trainer.compute_metrics = None
for name, rows_of in (("mine", mine), ("others", other)):
    ids = trainer.predict(rows_of).predictions
    found[name] = tokenizer.batch_decode(ids.clip(0), skip_special_tokens=True)
found |= {
    "rows": rows, "unchanged": before == watch.monitor.state_dict(),
    "steps": [check.step for check in watch.monitor.checks],
    "best": watch.monitor.best_step, "kept": trainer.state.best_model_checkpoint,
}
with open(f"{folder}/rank{trainer.args.process_index}.json", "w") as file:
    json.dump(found, file)
"""


def test_trainer_with_two_processes_counts_each_segment_once(tmp_path):
    """Of 100 rows in batches of 32 the trainer hands over 128: the set, and its start again."""
    script = tmp_path / "train.py"
    script.write_text(RANKS, encoding="utf-8")
    environment = {"PYTHONPATH": str(Path(es.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*launcher, "--nproc_per_node", "2", script, tmp_path],
        timeout=500,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    ranks = [json.loads((tmp_path / f"rank{i}.json").read_text()) for i in range(2)]
    assert ranks[0] == ranks[1]
    (found, _) = ranks
    assert found["rows"][:5] == [128] * 5
    assert found["rows"][5] == 64
    assert found["steps"] == [2, 4, 6, 8]
    assert found["unchanged"]
    assert found["kept"].endswith(f"checkpoint-{found['best']}")
    expected = es.estimate(found["mine"][:100], sentences(2, 100), "chrf").score
    assert found["evaluated"] == pytest.approx(expected)
    expected = es.estimate(found["others"][:60], sentences(1, 60), "chrf").score
    assert found["other"] == pytest.approx(expected)
