"""Hugging Face `Trainer`: corpus scores with intervals, and stopping on no real improvement."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evalstats.analysis.estimate import estimate
from evalstats.errors import InputError, InputTypeError, MissingExtraError
from evalstats.integrations.loop import load_state, logged, save_state
from evalstats.metrics import Metric, as_metric
from evalstats.text.references import as_references
from evalstats.training.monitor import Monitor
from evalstats.training.records import log_name

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.transformers needs transformers and PyTorch: "
        "pip install 'evalstats-text[transformers]'"
    ) from error

#: Beside the model in every checkpoint.
STATE_FILE = "evalstats_monitor.json"


def compute_metrics(
    references: Any, metric: str | Metric, decode: Any
) -> Callable[[Any], dict[str, float]]:
    """Return a function for `Trainer(compute_metrics=...)`: the score with its t interval.

    What it logs has the metric's name and that name with ``_low`` and ``_high``; `Trainer` puts
    ``eval_`` before them.

    Parameters
    ----------
    references
        One entry per segment of the evaluation set, in its order.
    metric : str or Metric
        Name or configured object.
    decode : tokenizer or callable
        What turns predictions into outputs: a tokenizer, for generated token ids
        (`predict_with_generate=True`), or a function from predictions to N outputs.
    """
    chosen = as_metric(metric)

    def compute(prediction: Any) -> dict[str, float]:
        outputs = decoded(prediction.predictions, decode)
        refs = as_references(references, len(outputs)) if chosen.uses_references else None
        found = estimate(outputs, refs, chosen, method="t")
        name = log_name(found.metric)
        return {name: found.score, f"{name}_low": found.low, f"{name}_high": found.high}

    return compute


class MonitorCallback(TrainerCallback):
    """Check every evaluation of a `Trainer`, log the verdict, stop when the patience is used up.

    Give it to the trainer twice: ``Trainer(..., callbacks=[watch],
    compute_metrics=watch.compute_metrics)``. Every step that is evaluated counts as one check.
    The monitor's state is saved in each checkpoint and read again when training resumes from it.
    `monitor` has the references of the evaluation set, in its order, and `patience` to stop early;
    `decode` is as in `compute_metrics`.
    """

    def __init__(self, monitor: Monitor, decode: Any) -> None:
        self.monitor = monitor
        self.decode = decode
        self._step: Callable[[], int] = lambda: 0

    def compute_metrics(self, prediction: Any) -> dict[str, float]:
        """Check the predictions and return what is to be logged (`Check.to_log`)."""
        outputs = decoded(prediction.predictions, self.decode)
        return logged(self.monitor, self._step(), outputs)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Follow the trainer's step; when it resumes, read the state from its checkpoint."""
        self._step = lambda: int(state.global_step)
        if state.global_step == 0 or self.monitor.last is not None:
            return
        path = _checkpoint(args, state) / STATE_FILE
        if path.exists():
            load_state(self.monitor, path)
        else:
            warnings.warn(
                f"training resumes at step {state.global_step} but there is no {path}: the "
                f"monitor starts anew; call monitor.load_state_dict to avoid this",
                stacklevel=2,
            )

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop the training when the patience is used up."""
        if self.monitor.should_stop:
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save the monitor's state in the checkpoint."""
        folder = _checkpoint(args, state)
        if state.is_world_process_zero and folder.is_dir():
            save_state(self.monitor, folder / STATE_FILE)


def decoded(predictions: Any, decode: Any) -> Any:
    """Return the outputs, one a segment, from what the trainer predicted."""
    if not hasattr(decode, "batch_decode"):
        if not callable(decode):
            kind = type(decode).__name__
            raise InputTypeError(f"decode must be a tokenizer or a function, got {kind}")
        return decode(predictions)
    # With other outputs of the model beside them, token ids come first.
    ids = np.asarray(predictions[0] if isinstance(predictions, tuple) else predictions)
    if ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise InputError(
            f"predictions must be token ids of shape (N, length) for a tokenizer, got {ids.dtype} "
            f"of {ids.shape}; use Seq2SeqTrainer with predict_with_generate=True, or give a "
            f"function as decode"
        )
    # Trainer fills shorter rows with -100, which no tokenizer knows.
    known = np.where(ids >= 0, ids, decode.pad_token_id)
    return decode.batch_decode(known, skip_special_tokens=True)


def _checkpoint(args: Any, state: Any) -> Path:
    return Path(args.output_dir) / f"checkpoint-{state.global_step}"
