"""Which evaluations of a Hugging Face `Trainer` are of the set that references belong to.

A trainer calls one `compute_metrics` for everything: each of several evaluation sets, `predict` on
a test set, an evaluation long after the training. It does not say which set it evaluates, but it
hands over the labels, and these tell sets apart. A trainer of several processes fills their last
batches with rows from the start of the set; these are left out here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.integrations.loop import estimated
from evalstats.metrics import Metric


class LabelledSet:
    """The evaluation set that references belong to.

    With `labels`, the set that is evaluated with these. Without, the first one that has as many
    segments as there are references; its labels are remembered.
    """

    def __init__(self, references: Any, metric: Metric, decode: Any, labels: Any) -> None:
        if metric.uses_references and metric.reads_text and decode is None:
            raise InputTypeError(
                f"decode is None; {metric.name} needs a tokenizer or a function that turns "
                f"predictions into texts"
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

    def rows(self, prediction: Any, n_segments: int | None = None) -> tuple[Any, Any]:
        """Return the outputs and the labels of an evaluation, without the rows that fill batches.

        Parameters
        ----------
        prediction
            What a trainer hands over, with `predictions` and `label_ids`.
        n_segments : int, optional
            How many segments were evaluated; by default as many as this set has.
        """
        outputs = self._outputs(prediction)
        n_segments = n_segments or self._n_segments or len(outputs)
        return unpadded(outputs, prediction.label_ids, n_segments, self._pad)

    def _outputs(self, prediction: Any) -> Any:
        """Return the outputs; without `decode`, of metrics of labels, the most probable classes."""
        if self.decode is None and self.metric.uses_references:
            return _logits(prediction.predictions, prediction.label_ids).argmax(axis=1)
        return decoded(prediction.predictions, self.decode, prediction.label_ids)

    def holds(self, labels: Any, n_segments: int, remember: bool, alone: bool = False) -> bool:
        """Return whether these are the labels of the set; remember the first ones that are.

        Raises
        ------
        InputError
            For two sets of as many segments that are to be told apart (`alone`) and have no names.
        """
        expected = len(self.references) if self.metric.uses_references else n_segments
        fits = n_segments == expected
        found = fingerprint(labels, self._pad)
        holds = fits and self.fingerprint in (None, found)
        if fits and not holds and alone and not self._is_named:
            raise InputError(
                f"several evaluation sets have {n_segments} segments; say which one the references "
                f"belong to: labels=[row['labels'] for row in that_set]"
            )
        if remember and holds:
            self.fingerprint, self._seen = found, True
        elif remember and not self._seen:
            warnings.warn(
                f"an evaluation of {n_segments} segments is passed by: "
                + ("its labels are others" if fits else f"there are references of {expected}")
                + "; give references and labels of the set that is evaluated",
                stacklevel=3,
            )
        return holds

    def scored_by_labels(
        self, outputs: Any, labels: Any, may_be_filled: bool = False
    ) -> dict[str, float]:
        """Score outputs on another set against its own labels; nothing where they are no text.

        With `may_be_filled` nobody knows how many rows fill batches: a set that ends as it begins
        has no score.
        """
        if may_be_filled and ends_as_it_begins(row_marks(outputs, labels, self._pad)):
            warnings.warn(
                f"{len(outputs)} rows of several processes have no score: the last ones repeat the "
                f"first ones, and nothing says how many of them fill batches; use MonitorCallback, "
                f"which knows, or evaluate this set with one process",
                stacklevel=3,
            )
            return {}
        if not self.metric.uses_references:
            return estimated(self.metric, outputs, None)
        try:
            if self.decode is None:
                return estimated(self.metric, outputs, labels)
            is_text = hasattr(self.decode, "batch_decode")
            return estimated(self.metric, outputs, decoded(labels, self.decode)) if is_text else {}
        except InputError:
            return {}


def unpadded(outputs: Any, labels: Any, n_segments: int, pad: int | None = None) -> tuple[Any, Any]:
    """Return the first `n_segments` outputs and labels, if all rows after them repeat them.

    What fills batches is the set from its start, in its order, as often as it takes. Labels say
    whether rows are the same, or the outputs where there are none: a model may answer the same
    input differently in another batch. Rows that do not repeat the first ones all stay.
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


def ends_as_it_begins(marks: Sequence[Any]) -> bool:
    """Return whether one or more of the last rows are the first rows, in their order."""
    return any(marks[-n:] == marks[:n] for n in range(1, len(marks)))


def row_marks(outputs: Any, labels: Any, pad: int | None = None) -> list[Any]:
    """Return something that is equal for equal rows: of labels, or of outputs if there are none."""
    marks = [[_row_bytes(row, pad) for row in rows] for rows in _each(labels)]
    return list(zip(*marks, strict=False)) or list(outputs)


def fingerprint(labels: Any, pad: int | None = None) -> str:
    """Return a hash of labels, row by row, whatever they were padded with.

    Parameters
    ----------
    labels
        N rows, of one length or of several; a tuple or a mapping of such for several labels.
    pad : int, optional
        What fills shorter rows, beside -100.
    """
    digest = sha256()
    for rows in _each(labels):
        for row in rows:
            digest.update(_row_bytes(row, pad))
        digest.update(b"|")
    return digest.hexdigest()


def _each(labels: Any) -> Iterable[Any]:
    """Return the rows of each label, of which there may be several, or none."""
    if isinstance(labels, Mapping):
        return labels.values()
    return labels if isinstance(labels, tuple) else () if labels is None else (labels,)


def _row_bytes(row: Any, pad: int | None) -> bytes:
    """Return the type, the shape and the values of a row without what it was padded with."""
    values: NDArray[Any] = np.asarray(row)
    if values.dtype.kind in "biu" or values.size == 0:
        values = values.astype(np.int64)
        values = values[(values != -100) & (values != pad)] if values.ndim else values
    return f"{values.dtype.kind}{values.shape}".encode() + values.tobytes()


def decoded(predictions: Any, decode: Any, labels: Any = None) -> Any:
    """Return the outputs, one a segment, from what the trainer predicted.

    Without `decode` they are 1 where the largest of a row's logits is that of its label, else 0.
    """
    # With other outputs of the model beside them, logits and token ids come first.
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
            f"predictions must be token ids of shape (N, length) for a tokenizer, got {ids.dtype} "
            f"of {ids.shape}; use Seq2SeqTrainer with predict_with_generate=True, or give a "
            f"function as decode"
        )
    # Trainer fills shorter rows with -100, which no tokenizer knows.
    known = np.where(ids >= 0, ids, decode.pad_token_id)
    return decode.batch_decode(known, skip_special_tokens=True)


def _logits(predictions: Any, labels: Any) -> NDArray[Any]:
    """Return the logits of a classifier, `(N, classes)`, of which labels `(N,)` are beside them."""
    first = predictions[0] if isinstance(predictions, tuple) else predictions
    logits: NDArray[Any] = np.asarray(first)
    if logits.ndim != 2 or np.shape(labels) != logits.shape[:1]:
        raise InputError(
            f"without decode, predictions must be logits of shape (N, classes) and labels N "
            f"classes, got {logits.shape} and {np.shape(labels)}; give a function from predictions "
            f"to N scores as decode"
        )
    return logits
