"""Hugging Face `Trainer`: corpus scores with intervals, and stopping without improvement.

A trainer calls one `compute_metrics` for everything: each of several evaluation sets, `predict` on
a test set, an evaluation long after the training. It does not pass on which set it evaluates, but
it passes the labels, which identify sets. A trainer with several processes fills the last batches
with rows from the start of the set; these are left out here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sized
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError, MissingExtraError
from evalstats.integrations import loop
from evalstats.metrics import Metric
from evalstats.training.monitor import Monitor

try:
    from torch import distributed
    from transformers import TrainerCallback
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.transformers requires transformers and PyTorch: pip install "
        "'.[transformers]'"
    ) from error

#: File beside the model in every checkpoint.
STATE_FILE = "evalstats_monitor.json"


class MonitorCallback(TrainerCallback):
    """Check every evaluation of a `Trainer`, log the verdict, stop when the patience is used up.

    Pass it to the trainer twice: ``Trainer(..., callbacks=[watch],
    compute_metrics=watch.compute_metrics)``. Every step at which the monitored set is evaluated
    during the training counts as one check. The monitor's state is saved in each checkpoint and
    read again when training resumes from it.

    Other evaluations do not count as checks: the monitored set before and after the training is
    scored, and other sets are scored against their own decoded labels (if `decode` is a function,
    they have no score). If two evaluation sets have the same number of segments, `labels` must
    identify the monitored one.

    Rows that a trainer with several processes adds to fill its last batches are left out. If a set
    has no length, and its last rows repeat its first ones, there is a warning and no score.

    Parameters
    ----------
    monitor : Monitor
        With the references of the evaluation set, in its order, and `patience` to stop early.
    decode : tokenizer or callable, optional
        Converts predictions into outputs: a tokenizer, for generated token ids
        (`predict_with_generate=True`), or a function from predictions to N outputs. Without it, for
        metrics that need no references, each segment scores 1 if its label has the largest logit,
        otherwise 0: the accuracy of a classifier, with ``Mean("accuracy")``. For metrics of labels,
        such as `Confusion`, the output is the class with the largest logit.
    labels : sequence, optional
        The labels of the evaluation set, one row per segment, which identify it. By default it is
        the first evaluated set with as many segments as there are references.

    Raises
    ------
    InputError
        When training begins, if `metric_for_best_model` is almost a logged name.
    """

    def __init__(self, monitor: Monitor, decode: Any = None, *, labels: Any = None) -> None:
        self.monitor = monitor
        self.decode = decode
        self._set = LabelledSet(monitor.references, monitor.metric, decode, labels)
        self._step: Callable[[], int] | None = None
        self._n_segments: int | None = None

    def compute_metrics(self, prediction: Any) -> dict[str, float]:
        """Check the predictions and return the values to log (`Checkpoint.to_log`)."""
        outputs, labels = self._set.rows(prediction, self._n_segments)
        training = self._step is not None
        if not self._set.holds(labels, len(outputs), remember=training, alone=training):
            may_be_filled = self._n_segments is None and _are_several_processes()
            return self._set.scored_by_labels(outputs, labels, may_be_filled)
        if self._step is None:
            return loop.scored(self.monitor, outputs)
        return loop.checked(self.monitor, self._step(), outputs)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Follow the trainer's step; when it resumes, read the state from its checkpoint."""
        loop.check_kept_by(args.metric_for_best_model, self.monitor)
        self._step = lambda: int(state.global_step)
        if state.global_step == 0 or self.monitor.last is not None:
            return
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}" / STATE_FILE
        if path.exists():
            labels = loop.load_state(self.monitor, path).get("labels")
            if self._set.fingerprint is None and isinstance(labels, str):
                self._set.fingerprint = labels
        else:
            warnings.warn(
                f"training resumes at step {state.global_step} but there is no {path}: the "
                "monitor starts from the beginning. Call monitor.load_state_dict to avoid this",
                stacklevel=2,
            )

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop checking: later evaluations belong to a checkpoint, not to this step."""
        self._step = None

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Store the number of segments of the evaluated set, if it has a length."""
        data = getattr(kwargs.get("eval_dataloader"), "dataset", None)
        self._n_segments = len(data) if isinstance(data, Sized) else None

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop the training when the patience is used up."""
        if self.monitor.should_stop:
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save the monitor's state in the checkpoint."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if state.is_world_process_zero and folder.is_dir():
            loop.save_state(self.monitor, folder / STATE_FILE, labels=self._set.fingerprint)


def _are_several_processes() -> bool:
    is_running = distributed.is_available() and distributed.is_initialized()
    return bool(is_running and distributed.get_world_size() > 1)


class LabelledSet:
    """The evaluation set that references belong to.

    With `labels`, the set with these labels. Without, the first set with as many segments as there
    are references; its labels are remembered.
    """

    def __init__(self, references: Any, metric: Metric, decode: Any, labels: Any) -> None:
        if metric.uses_references and metric.reads_text and decode is None:
            raise InputTypeError(
                f"decode is None, but {metric.name} requires a tokenizer or a function that "
                "converts predictions to texts"
            )
        self.references = references
        self.metric = metric
        self.decode = decode
        self._pad = getattr(decode, "pad_token_id", None)
        self._n_segments = len(references) if metric.uses_references else None
        self.fingerprint = None
        if labels is not None:
            self.fingerprint, self._n_segments = fingerprint(labels, self._pad), len(labels)
        self._is_named, self._seen = labels is not None, False
        self._size: int | None = None

    def rows(self, prediction: Any, n_segments: int | None = None) -> tuple[Any, Any]:
        """Return the outputs and the labels of an evaluation, without rows that fill batches.

        `prediction` comes from a trainer and has `n_segments`, by default as many as this set.
        """
        predictions, labels = prediction.predictions, prediction.label_ids
        if self.decode is None and self.metric.uses_references:
            # For metrics of labels, the most probable classes.
            outputs = _logits(predictions, labels).argmax(axis=1)
        else:
            outputs = decoded(predictions, self.decode, labels)
        n_segments = n_segments or self._n_segments or len(outputs)
        return unpadded(outputs, labels, n_segments, self._pad)

    def holds(self, labels: Any, n_segments: int, remember: bool, alone: bool = False) -> bool:
        """Return whether these are the labels of the set; the first match is remembered.

        Two unnamed sets of equal size raise an `InputError` if they must be distinguished
        (`alone`).
        """
        # Without references the first set gives the number of segments.
        expected = len(self.references) if self.metric.uses_references else self._size
        expected = expected or n_segments
        fits = n_segments == expected
        digest = fingerprint(labels, self._pad)
        holds = fits and self.fingerprint in (None, digest)
        if fits and not holds and alone and not self._is_named:
            raise InputError(
                f"several evaluation sets have {n_segments} segments; identify the one with "
                "these references by passing labels=[row['labels'] for row in that_set]"
            )
        if remember and holds:
            self.fingerprint, self._seen, self._size = digest, True, n_segments
        elif remember and not self._seen:
            warnings.warn(
                f"an evaluation of {n_segments} segments is skipped: "
                + (
                    "its labels are different"
                    if fits
                    else f"the monitor has references for {expected}"
                )
                + "; pass references and labels of the evaluated set",
                stacklevel=3,
            )
        return holds

    def scored_by_labels(
        self, outputs: Any, labels: Any, may_be_filled: bool = False
    ) -> dict[str, float]:
        """Score outputs on another set against its own labels; nothing if these are not text.

        With `may_be_filled` the number of rows that fill batches is unknown, so a set that ends as
        it begins has no score.
        """
        marks = row_marks(outputs, labels, self._pad) if may_be_filled else []
        if any(marks[-n:] == marks[:n] for n in range(1, len(marks))):
            warnings.warn(
                f"{len(outputs)} rows of several processes are not scored: the last ones repeat "
                "the first ones, and it is unknown how many of them only fill batches. Use "
                "MonitorCallback, which counts them, or evaluate this set with one process",
                stacklevel=3,
            )
            return {}
        if not self.metric.uses_references:
            return loop.estimated(self.metric, outputs, None)
        try:
            if self.decode is None:
                return loop.estimated(self.metric, outputs, labels)
            if hasattr(self.decode, "batch_decode"):
                return loop.estimated(self.metric, outputs, decoded(labels, self.decode))
        except InputError:
            pass
        return {}


def unpadded(outputs: Any, labels: Any, n_segments: int, pad: int | None = None) -> tuple[Any, Any]:
    """Return the first `n_segments` outputs and labels, if all rows after them repeat them.

    Batches are filled with the set from its start, in order, repeatedly if needed. Rows are
    compared by labels, or by outputs without labels, because a model may answer the same input
    differently in another batch. If rows do not repeat the first ones, all are kept.
    """
    if not 0 < n_segments < len(outputs):
        return outputs, labels
    marks = row_marks(outputs, labels, pad)
    if len(marks) != len(outputs):
        return outputs, labels
    again = islice(cycle(marks[:n_segments]), len(marks) - n_segments)
    if marks[n_segments:] != list(again):
        return outputs, labels
    if isinstance(labels, Mapping):
        labels = {name: rows[:n_segments] for name, rows in labels.items()}
    elif isinstance(labels, tuple):
        labels = tuple(rows[:n_segments] for rows in labels)
    elif labels is not None:
        labels = labels[:n_segments]
    return outputs[:n_segments], labels


def row_marks(outputs: Any, labels: Any, pad: int | None = None) -> list[Any]:
    """Return marks that are equal for equal rows of labels, or of outputs without labels."""
    return list(zip(*_label_bytes(labels, pad), strict=False)) or list(outputs)


def fingerprint(labels: Any, pad: int | None = None) -> str:
    """Return a hash of labels, row by row, without padding (-100 or `pad`).

    Rows may differ in length; there may be a tuple or a mapping of such labels.
    """
    digest = sha256()
    for rows in _label_bytes(labels, pad):
        digest.update(b"".join(rows) + b"|")
    return digest.hexdigest()


def _label_bytes(labels: Any, pad: int | None) -> list[list[bytes]]:
    """Return the rows without padding for each of any number of labels.

    A row is its type, its shape and its values.
    """

    def marked(row: Any) -> bytes:
        values: NDArray[Any] = np.asarray(row)
        if values.dtype.kind in "biu" or values.size == 0:
            values = values.astype(np.int64)
            values = values[(values != -100) & (values != pad)] if values.ndim else values
        return f"{values.dtype.kind}{values.shape}".encode() + values.tobytes()

    columns = labels.values() if isinstance(labels, Mapping) else labels
    if not isinstance(labels, (Mapping, tuple)):
        columns = () if labels is None else (labels,)
    return [list(map(marked, rows)) for rows in columns]


def decoded(predictions: Any, decode: Any, labels: Any = None) -> Any:
    """Return the outputs, one per segment, from the trainer's predictions.

    Without `decode` they are 1 if the label has the largest logit of a row, else 0.
    """
    # If the model has other outputs too, logits and token ids come first.
    first = predictions[0] if isinstance(predictions, tuple) else predictions
    if decode is None:
        return (_logits(predictions, labels).argmax(axis=1) == labels).astype(np.float64)
    if not hasattr(decode, "batch_decode"):
        if not callable(decode):
            kind = type(decode).__name__
            raise InputTypeError(f"decode must be a tokenizer or a function, got {kind}")
        return decode(predictions)
    ids = np.asarray(first)
    if ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise InputError(
            "predictions must be token ids of shape (N, length) for a tokenizer, got "
            f"{ids.dtype} of shape {ids.shape}. Use Seq2SeqTrainer with "
            "predict_with_generate=True, or pass a function as decode."
        )
    # Trainer pads shorter rows with -100, which is not a token.
    known = np.where(ids >= 0, ids, decode.pad_token_id)
    return decode.batch_decode(known, skip_special_tokens=True)


def _logits(predictions: Any, labels: Any) -> NDArray[Any]:
    """Return the logits of a classifier, `(N, classes)`, checked against labels `(N,)`."""
    first = predictions[0] if isinstance(predictions, tuple) else predictions
    logits: NDArray[Any] = np.asarray(first)
    if logits.ndim != 2 or np.shape(labels) != logits.shape[:1]:
        raise InputError(
            "without decode, predictions must be logits of shape (N, classes) and labels N "
            f"classes, got {logits.shape} and {np.shape(labels)}; pass a function that converts "
            "predictions to N scores as decode"
        )
    return logits
