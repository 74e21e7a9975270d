"""Lightning: what is logged, stopped, resumed, and what is no check."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import evalstats as es

torch = pytest.importorskip("torch", reason="needs the extra lightning")
lightning = pytest.importorskip("lightning", reason="needs the extra lightning")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def module():
    """A function that makes a module that learns which word follows which."""
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

        rows, log = [], lightning.pytorch.loggers.logger.DummyLogger()
        log.log_metrics = lambda metrics, step=None: rows.append(metrics)
        trainer = lightning.Trainer(
            accelerator="cpu", max_epochs=n_epochs,
            callbacks=[MonitorCallback(monitor), *callbacks],
            logger=log, enable_checkpointing=bool(callbacks), enable_progress_bar=False,
            enable_model_summary=False, log_every_n_steps=1, **(trainer_options or {}),
        )  # fmt: skip
        fit.trainer = trainer
        trainer.fit(model, **options)
        if path:
            trainer.save_checkpoint(path)
        return [row for row in rows if "wer" in row]

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


def test_a_name_that_is_not_logged_is_refused_before_the_training(module, tmp_path):
    model, fit, references = module
    from lightning.pytorch.callbacks import ModelCheckpoint

    keep = ModelCheckpoint(tmp_path, monitor="chrf2_best_step", mode="max")
    monitor = es.Monitor(references, "chrf")
    with pytest.raises(es.InputError, match="which is not logged; use 'chrf_best_step'"):
        fit(model(0.0), monitor, 1, callbacks=[keep])
    assert monitor.checks == ()


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

if __name__ == "__main__":
    monitor = es.Monitor(sample.references[:41], "chrf", patience=2)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=9, logger=False,
        callbacks=[MonitorCallback(monitor)], enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    # Odd: Lightning gives one to both ranks.
    trainer.fit(Model(), DataLoader(range(8), batch_size=2), DataLoader(range(41), batch_size=4))
    check = monitor.last
    with open(f"{sys.argv[1]}.{trainer.global_rank}", "w") as file:
        print(check.step, check.score, check.low, check.should_stop, file=file)
"""


def test_lightning_on_two_ranks(sample, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(RANKS, encoding="utf-8")
    environment = {"PYTHONPATH": str(Path(es.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, script, tmp_path / "rank"], check=True, timeout=300,
        env={**os.environ, **environment}, capture_output=True,
    )  # fmt: skip
    expected = es.Monitor(sample.references[:41], "chrf").check(0, sample.systems["baseline"][:41])
    # Two steps an epoch; the first check and two that are no better.
    for rank in range(2):
        assert (tmp_path / f"rank.{rank}").read_text().split() == [
            "6", str(expected.score), str(expected.low), "True"
        ]  # fmt: skip


OTHERS = ["a b c d", "h g f e", "c c d d", "a a a b"] * 3


@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize(
    "options", [{"fast_dev_run": True}, {"limit_val_batches": 2}, {"limit_val_batches": 0.7}]
)
def test_a_part_of_the_set_is_no_check(module, options, with_ids):
    model, fit, references = module
    monitor = es.Monitor(references, "wer", patience=1)
    with pytest.warns(
        UserWarning, match="at step [12] does not count as a check: its outputs cover only a part"
    ):
        fit(model(0.0, with_ids), monitor, 2, trainer_options=options)
    assert monitor.checks == ()
    found = fit.trainer.callback_metrics
    # Scored where ids say which references are theirs.
    outputs, part = fit.trainer.lightning_module.seen, [references[i] for i in fit.part]
    expected = es.estimate(outputs, part, "wer").score if with_ids else None
    assert {key: found[key].item() for key in found if key == "wer"} == (
        {"wer": pytest.approx(expected, rel=1e-5)} if with_ids else {}
    )
    assert not any("improved" in key for key in found)


def test_validate_is_no_check(module):
    model, fit, references = module
    monitor = es.Monitor(references, "wer", patience=2)
    trained = model(5.0)
    fit(trained, monitor, 4)
    state, score = monitor.state_dict(), monitor.last.score
    # Of the same set again nothing says what it is; of one with references they do.
    with pytest.warns(UserWarning, match="12 outputs of a validation are skipped"):
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
    with pytest.warns(UserWarning, match="12 outputs of a validation are skipped, because"):
        fit(Two(5.0), monitor, 3)
    assert [check.step for check in monitor.checks] == [1, 2, 3]
    found = fit.trainer.callback_metrics
    assert found["wer"].item() == pytest.approx(monitor.last.score)
    assert found["wer/dataloader_idx_0"] != found["wer"]
    assert not any(key.endswith("_2") for key in found)
    with pytest.warns(
        UserWarning, match="not count as a check: no references are equal to the monitor's"
    ):
        fit(Two(5.0), es.Monitor(sorted(references), "wer"), 1)


@pytest.mark.parametrize(
    "changed, n_references, message",
    [
        (
            lambda found: found,
            11,
            "references must have as many entries as hypotheses, one per segment, got 11 and 12",
        ),
        (
            lambda found: {**found, "ids": [3 * i for i in range(len(found["hypotheses"]))]},
            12,
            r"all positions among the references from 0 to 4, but 1 is missing",
        ),
        (lambda found: None, 12, "validation_step must return a dictionary"),
    ],
)
def test_a_set_that_does_not_fit_is_an_error(module, changed, n_references, message):
    model, fit, references = module

    class Other(model):
        def validation_step(self, batch, batch_idx):
            return changed(super().validation_step(batch, batch_idx))

    with pytest.raises(es.InputError, match=message):
        fit(Other(0.0), es.Monitor(references[:n_references], "wer"), 1)


def test_batches_of_several_ranks_have_ids():
    from evalstats.integrations.lightning import Outputs

    plain, numbered = ({"hypotheses": ["a"], "ids": ids} for ids in (None, [0]))
    for batches, message in (
        ([plain], "must return 'ids', .* several ranks .2 here."),
        ([plain, numbered], "'ids' and 'references' either for all batches or for none"),
    ):
        with pytest.raises(es.InputError, match=message):
            Outputs.together(list(map(Outputs.of, batches)), 2)
