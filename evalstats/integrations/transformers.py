"""Hugging Face `Trainer`: corpus scores with intervals, and stopping on no real improvement."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sized
from pathlib import Path
from typing import Any

from evalstats.errors import MissingExtraError
from evalstats.integrations.labels import LabelledSet
from evalstats.integrations.loop import (
    check_kept_by,
    checked,
    estimated,
    load_state,
    save_state,
    scored,
)
from evalstats.metrics import Metric, as_metric
from evalstats.training.monitor import Monitor, as_gold

try:
    from torch import distributed
    from transformers import TrainerCallback
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.transformers needs transformers and PyTorch: "
        "pip install 'evalstats-text[transformers]'"
    ) from error

#: Beside the model in every checkpoint.
STATE_FILE = "evalstats_monitor.json"


def compute_metrics(
    references: Any, metric: str | Metric, decode: Any = None, *, labels: Any = None
) -> Callable[[Any], dict[str, float]]:
    """Return a function for `Trainer(compute_metrics=...)`: the score with its t interval.

    What it logs has the metric's name as it is asked for (``chrf``), and that name with ``_low``
    and ``_high``; `Trainer` puts ``eval_`` before them. Other sets than that of the references, as
    in `predict` on a test set, are scored against their own labels, decoded; where a function
    decodes, they have no score.

    Rows with which a trainer of several processes fills its last batches are left out. This
    function does not hear how many rows another set has: where its last rows repeat its first ones
    there is a warning and no score. `MonitorCallback` knows.

    Parameters
    ----------
    references
        One entry per segment of the evaluation set, in its order; `None` for `Mean` and `Ratio`.
    metric : str or Metric
        Name or configured object.
    decode : tokenizer or callable, optional
        What turns predictions into outputs: a tokenizer, for generated token ids
        (`predict_with_generate=True`), or a function from predictions to N outputs. Without it,
        for metrics that need no references, each segment scores 1 where the largest logit is that
        of its label, else 0: the accuracy of a classifier, with ``Mean("accuracy")``; of metrics of
        labels, such as `Confusion`, the output is the class with the largest logit.
    labels : sequence, optional
        The labels of the evaluation set, one row a segment, which tell it apart from others. By
        default it is the first set that is evaluated with as many segments as there are references.
    """
    chosen = as_metric(metric)
    refs = as_gold(chosen, references)
    the_set = LabelledSet(refs, chosen, decode, labels)

    def compute(prediction: Any) -> dict[str, float]:
        outputs, labels = the_set.rows(prediction)
        if the_set.holds(labels, len(outputs), remember=True):
            return estimated(chosen, outputs, refs)
        return the_set.scored_by_labels(outputs, labels, may_be_filled=_are_several_processes())

    return compute


class MonitorCallback(TrainerCallback):
    """Check every evaluation of a `Trainer`, log the verdict, stop when the patience is used up.

    Give it to the trainer twice: ``Trainer(..., callbacks=[watch],
    compute_metrics=watch.compute_metrics)``. Every step at which the monitored set is evaluated
    during the training counts as one check. The monitor's state is saved in each checkpoint and
    read again when training resumes from it.

    What else the trainer evaluates is no check: the monitored set before and after the training is
    scored, other sets are scored against their own labels, as in `compute_metrics`. Where two
    evaluation sets have as many segments, `labels` must say which is the monitored one.

    Parameters
    ----------
    monitor : Monitor
        With the references of the evaluation set, in its order, and `patience` to stop early.
    decode, labels
        As in `compute_metrics`; a classifier needs neither:
        ``MonitorCallback(Monitor(metric=Mean("accuracy")))``.

    Raises
    ------
    InputError
        When training begins, where `metric_for_best_model` is almost the name of what is logged.
    """

    def __init__(self, monitor: Monitor, decode: Any = None, *, labels: Any = None) -> None:
        self.monitor = monitor
        self.decode = decode
        self._set = LabelledSet(monitor.references, monitor.metric, decode, labels)
        self._step: Callable[[], int] | None = None
        self._n_segments: int | None = None

    def compute_metrics(self, prediction: Any) -> dict[str, float]:
        """Check the predictions and return what is to be logged (`Checkpoint.to_log`)."""
        outputs, labels = self._set.rows(prediction, self._n_segments)
        training = self._step is not None
        if not self._set.holds(labels, len(outputs), remember=training, alone=training):
            may_be_filled = self._n_segments is None and _are_several_processes()
            return self._set.scored_by_labels(outputs, labels, may_be_filled)
        if self._step is None:
            return scored(self.monitor, outputs)
        return checked(self.monitor, self._step(), outputs)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Follow the trainer's step; when it resumes, read the state from its checkpoint."""
        check_kept_by(args.metric_for_best_model, self.monitor)
        self._step = lambda: int(state.global_step)
        if state.global_step == 0 or self.monitor.last is not None:
            return
        path = _checkpoint(args, state) / STATE_FILE
        if path.exists():
            found = load_state(self.monitor, path).get("labels")
            if self._set.fingerprint is None and isinstance(found, str):
                self._set.fingerprint = found
        else:
            warnings.warn(
                f"training resumes at step {state.global_step} but there is no {path}: the "
                f"monitor starts anew; call monitor.load_state_dict to avoid this",
                stacklevel=2,
            )

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Check no more: what is evaluated from now on is of some checkpoint, not of this step."""
        self._step = None

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note how many segments the set has that is being evaluated, if it has a length."""
        data = getattr(kwargs.get("eval_dataloader"), "dataset", None)
        self._n_segments = len(data) if isinstance(data, Sized) else None

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop the training when the patience is used up."""
        if self.monitor.should_stop:
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save the monitor's state in the checkpoint."""
        folder = _checkpoint(args, state)
        if state.is_world_process_zero and folder.is_dir():
            save_state(self.monitor, folder / STATE_FILE, labels=self._set.fingerprint)


def _checkpoint(args: Any, state: Any) -> Path:
    return Path(args.output_dir) / f"checkpoint-{state.global_step}"


def _are_several_processes() -> bool:
    is_running = distributed.is_available() and distributed.is_initialized()
    return bool(is_running and distributed.get_world_size() > 1)
