"""Which evaluations of a Hugging Face `Trainer` are of the set that references belong to.

A trainer calls one `compute_metrics` for everything: each of several evaluation sets, `predict` on
a test set, an evaluation long after the training. It says nothing about which it is, but it hands
over the labels, and these tell the sets apart.
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
from evalstats.text.references import References, as_references
from evalstats.training.likeness import belong


class LabelledSet:
    """The evaluation set that references belong to, recognised by a fingerprint of its labels.

    Without `labels`, it is the first set that is evaluated with as many segments as there are
    references and, where a tokenizer can decode them, with labels that are like these references.
    """

    def __init__(self, references: Any, metric: Metric, decode: Any, labels: Any) -> None:
        self.references = references
        self.metric = metric
        self.decode = decode
        self._pad = getattr(decode, "pad_token_id", None)
        self.fingerprint = None if labels is None else fingerprint(labels, self._pad)
        self._seen = False

    def holds(self, labels: Any, n_segments: int, remember: bool) -> bool:
        """Return whether these are the labels of the set; remember the first ones that are."""
        found = fingerprint(labels, self._pad)
        if self.fingerprint is None:
            reason = self._misfit(labels, n_segments)
        else:
            reason = None if found == self.fingerprint else "its labels are others"
        if remember and reason is None:
            self.fingerprint, self._seen = found, True
        elif remember and not self._seen:
            warnings.warn(
                f"an evaluation of {n_segments} segments is passed by, because it is not of the "
                f"set that the references belong to: {reason}; if it is, give labels=..., the "
                f"labels that this set is evaluated with",
                stacklevel=3,
            )
        return reason is None

    def scored_by_labels(self, outputs: Any, labels: Any) -> dict[str, float]:
        """Score outputs on another set against its own labels; nothing where they are no text."""
        if not self.metric.uses_references:
            return estimated(self.metric, outputs, None)
        texts = self._texts(labels)
        return {} if texts is None else estimated(self.metric, outputs, texts)

    def _misfit(self, labels: Any, n_segments: int) -> str | None:
        """Return why the references cannot be those of a set, `None` if they can."""
        if not self.metric.uses_references:
            return None
        try:
            references: References = as_references(self.references, n_segments)
        except InputError as error:
            return str(error)
        texts = self._texts(labels)
        fits = texts is None or belong(texts, references)
        return None if fits else "its labels, decoded, are no more like them than like others"

    def _texts(self, labels: Any) -> list[str] | None:
        if not hasattr(self.decode, "batch_decode"):
            return None
        try:
            return list(decoded(labels, self.decode))
        except InputError:
            return None


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
