"""`torchmetrics`: corpus scores with intervals as a `torchmetrics.Metric`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from json import dumps
from typing import Any
from zlib import crc32

import numpy as np

from evalstats.errors import InputError, InputTypeError, MissingExtraError
from evalstats.metrics import Metric, as_metric
from evalstats.results.estimates import Estimate
from evalstats.statistics import interchange
from evalstats.statistics.guards import KEPT, few_of
from evalstats.training.accumulator import Accumulator

try:
    import torch
    import torchmetrics
    from torchmetrics.utilities.exceptions import TorchMetricsUserError
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.torchmetrics requires torchmetrics and PyTorch: pip install "
        "'.[torchmetrics]'"
    ) from error


class CorpusScore(torchmetrics.Metric):
    """An `Accumulator` as a `torchmetrics.Metric`.

    Works with ``forward``, ``reset``, `MetricCollection`, distributed training and, after
    ``persistent()``, ``state_dict``. ``compute`` returns the corpus score as a tensor, on the
    metric's own scale (0 to 100 for BLEU), `estimate` with its interval.

    `metric` is a name or a configured object, and `options` are the options of
    `torchmetrics.Metric`, such as ``sync_on_compute``.

    It stores one row of integers per segment, as in `Accumulator`. With a distributed sampler pass
    ids, so that segments added to fill the last batch count once.
    """

    is_differentiable = False
    full_state_update = False

    def __init__(self, metric: str | Metric = "bleu", **options: Any) -> None:
        # After load_state_dict, compute must not return a score from before.
        super().__init__(**{"compute_with_cache": False, **options})
        self.metric: Metric = as_metric(metric)
        self._batch = Accumulator(self.metric)
        self._few: tuple[str, ...] = ()
        # Collections share one state among metrics with equal states after the first batch, which
        # can happen by chance. So each metric has a state with a different name.
        known = interchange.identity(self.metric) | interchange.parameters(self.metric)
        self._name = f"rows_{crc32(dumps(known).encode()):08x}"
        self.add_state(self._name, default=[], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        """Direction of the score."""
        return self.metric.higher_is_better

    def update(
        self, preds: Any, target: Any = None, ids: Iterable[int] | torch.Tensor | None = None
    ) -> None:
        """Add a batch, as `Accumulator.update` does.

        Parameters
        ----------
        preds
            n outputs (numbers for `Mean` and `Ratio`).
        target
            References, one entry per segment: a string or a list of strings.
        ids : sequence of int, optional
            Positions of these segments in the data set. For all batches or for none.
        """
        if isinstance(preds, torch.Tensor):
            preds = preds.detach().cpu().double().numpy()
        part = self._batch
        part.reset()
        part.update(preds, target, ids)
        if not len(part):
            return
        rows, names, kept, few = part._collected()
        if names is not None and names.dtype == object:
            raise InputTypeError("ids must be integers (positions in the data set), got strings")
        self._check_ids(names is not None)
        # The bits of floats, so that no device or change of precision can round them.
        bits = np.ascontiguousarray(rows, dtype=np.float64).view(np.int64)
        texts = [kept[name].astype(np.int64) for name in ("references", "output", "bits")]
        first = 2 * texts[2] + (names is not None)
        columns = [first, 0 if names is None else names, texts[0] | texts[1] << 32]
        packed = np.column_stack([np.broadcast_to(c, len(rows)) for c in columns] + [bits])
        self._few = few_of((*self._few, *few))
        getattr(self, self._name).append(torch.from_numpy(packed).to(self.device))

    def forward(self, *arguments: Any, **options: Any) -> Any:
        """Add a batch and return its own score; a refused batch does not change the state."""
        # The base class clears the state before it checks the batch.
        before, rows = dict(vars(self)), list(getattr(self, self._name))
        try:
            score = super().forward(*arguments, **options)
            for row in rows[:1]:
                if len(row):
                    self._check_ids(bool(row[0, 0] & 1))
        except InputError:
            self.__dict__.update(before)
            setattr(self, self._name, rows)
            raise
        return score

    def compute(self) -> torch.Tensor:
        """Return the corpus score of all segments so far, on all ranks.

        No segments, or an id with different statistics, raise an `InputError`.
        """
        try:
            return torch.tensor(self._collected().compute(), device=self.device)
        except InputError:
            # The base class would leave it with the rows of all ranks.
            with suppress(TorchMetricsUserError):
                self.unsync()
            raise

    def set_dtype(self, dst_type: Any) -> CorpusScore:
        """Return the metric unchanged: a lower precision would round its rows, which are counts."""
        return self

    def accumulator(self) -> Accumulator:
        """Return an `Accumulator` of all segments so far, on all ranks; all of them must call it.

        For `Monitor.check`, for example.
        """
        synced = False
        with suppress(TorchMetricsUserError):  # it is synced already
            self.sync(dist_sync_fn=self.dist_sync_fn, should_sync=self.sync_on_compute)
            synced = True
        try:
            return self._collected()
        finally:
            if synced:
                with suppress(TorchMetricsUserError):  # there is one rank
                    self.unsync()

    def sync(self, *arguments: Any, **options: Any) -> None:
        """Gather the rows of all ranks, including ranks without rows."""
        # The base class gives a rank without data a state of another type and shape.
        if not len(getattr(self, self._name)):
            nothing = np.empty((0, 3 + len(self.metric.columns)), dtype=np.int64)
            setattr(self, self._name, [torch.from_numpy(nothing).to(self.device)])
        super().sync(*arguments, **options)

    def estimate(self, **options: Any) -> Estimate:
        """Return the score with its interval, as `Accumulator.estimate` does, on all ranks."""
        return self.accumulator().estimate(**options)

    def _collected(self) -> Accumulator:
        """Return the rows of the state as an `Accumulator`."""
        state = getattr(self, self._name)
        together, width = Accumulator(self.metric), 3 + len(self.metric.columns)
        for part in [state] if isinstance(state, torch.Tensor) else state:
            rows = part.cpu().numpy()
            if rows.dtype != np.int64 or rows.shape[1:] != (width,):
                raise InputError(
                    f"the state must consist of rows of {width} 64-bit integers, got "
                    f"{rows.dtype} of shape {rows.shape}; load a state of the same metric"
                )
            for named in np.unique(rows[:, 0] & 1):
                selected = rows[rows[:, 0] & 1 == named]
                values = np.ascontiguousarray(selected[:, 3:]).view(np.float64)
                kept = np.zeros(len(selected), dtype=KEPT)
                kept["references"], kept["output"] = selected[:, 2], selected[:, 2] >> 32
                kept["bits"] = selected[:, 0] >> 1
                together._add(((values, selected[:, 1] if named else None, kept, self._few),))
        return together

    def _check_ids(self, named: bool) -> None:
        """Raise an InputError if some segments have ids and others do not."""
        if any(
            bool(rows[0, 0] & 1) != named for rows in getattr(self, self._name)[-1:] if len(rows)
        ):
            raise InputError("ids must be passed either for all segments or for none")
