"""Which evaluations of a Hugging Face `Trainer` are of the set that references belong to.

A trainer calls one `compute_metrics` for everything: each of several evaluation sets, `predict` on
a test set, an evaluation long after the training. It says nothing about which it is, but it hands
over the labels, and these tell sets apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from evalstats.errors import InputError, InputTypeError
from evalstats.integrations.loop import estimated
from evalstats.metrics import Metric


class LabelledSet:
    """The evaluation set that references belong to.

    With `labels`, the set that is evaluated with these. Without, the first one that has as many
    segments as there are references; its labels are remembered.
    """

    def __init__(self, references: Any, metric: Metric, decode: Any, labels: Any) -> None:
        self.references = references
        self.metric = metric
        self.decode = decode
        self._pad = getattr(decode, "pad_token_id", None)
        self.fingerprint = None if labels is None else fingerprint(labels, self._pad)
        self._is_named, self._seen = labels is not None, False

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

    def scored_by_labels(self, outputs: Any, labels: Any) -> dict[str, float]:
        """Score outputs on another set against its own labels; nothing where they are no text."""
        if not self.metric.uses_references:
            return estimated(self.metric, outputs, None)
        try:
            is_text = hasattr(self.decode, "batch_decode")
            return estimated(self.metric, outputs, decoded(labels, self.decode)) if is_text else {}
        except InputError:
            return {}


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
    several = labels.values() if isinstance(labels, Mapping) else labels
    for rows in several if isinstance(labels, (Mapping, tuple)) else (labels,):
        for row in map(np.asarray, rows):
            if row.dtype.kind in "biu" or row.size == 0:
                row = row.astype(np.int64)
                row = row[(row != -100) & (row != pad)] if row.ndim else row
            digest.update(f"{row.dtype.kind}{row.shape}".encode())
            digest.update(row.tobytes())
        digest.update(b"|")
    return digest.hexdigest()


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
