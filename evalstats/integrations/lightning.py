"""Lightning: check every validation, log the verdict, stop on no real improvement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalstats.errors import InputError, MissingExtraError
from evalstats.integrations.loop import logged
from evalstats.training.monitor import Monitor

try:
    from lightning.pytorch import Callback
    from torch import distributed
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.lightning needs lightning and PyTorch: "
        "pip install 'evalstats-text[lightning]'"
    ) from error


class MonitorCallback(Callback):
    """Check the outputs of every validation of a Lightning `Trainer`.

    `validation_step` returns a dictionary with ``"hypotheses"``, the outputs of the batch, and
    with ``"ids"``, the positions of these segments among the references. One process that does not
    shuffle may leave the ids out. Across ranks they are needed: outputs are put in order, and what
    a distributed sampler gave to two ranks counts once, as the lower rank has it.

    The state is saved in Lightning's checkpoints and read from them. `monitor` has the references
    of the validation set, and `patience` to stop early; `prefix` stands before the names of what
    is logged.
    """

    def __init__(self, monitor: Monitor, prefix: str = "") -> None:
        self.monitor = monitor
        self.prefix = prefix
        self._outputs: list[tuple[list[int] | None, list[Any]]] = []

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget the outputs of the last validation."""
        self._outputs = []

    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Collect the outputs of a batch."""
        if trainer.sanity_checking or dataloader_idx != 0:
            return
        if not isinstance(outputs, Mapping) or "hypotheses" not in outputs:
            raise InputError(
                "validation_step must return a dictionary with 'hypotheses', the outputs of the "
                "batch (and 'ids', their positions among the references)"
            )
        ids = outputs.get("ids")
        positions = None if ids is None else [int(i) for i in ids]
        self._outputs.append((positions, list(outputs["hypotheses"])))

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Check what was collected, log it, and stop when the patience is used up."""
        if trainer.sanity_checking:
            return
        parts = [self._outputs]
        if trainer.world_size > 1:
            parts = [[]] * trainer.world_size
            distributed.all_gather_object(parts, self._outputs)
        hypotheses = in_order([batch for part in parts for batch in part], trainer.world_size)
        pl_module.log_dict(logged(self.monitor, trainer.global_step, hypotheses, self.prefix))
        if self.monitor.should_stop:
            trainer.should_stop = True

    def state_dict(self) -> dict[str, Any]:
        """Return the monitor's state."""
        return self.monitor.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a monitor's state."""
        self.monitor.load_state_dict(state_dict)


def in_order(batches: list[tuple[list[int] | None, list[Any]]], n_ranks: int) -> list[Any]:
    """Return all outputs in the order of their ids, each id once."""
    if all(ids is None for ids, _ in batches):
        if n_ranks > 1:
            raise InputError(
                f"validation_step must return 'ids' on {n_ranks} ranks: the positions of the "
                f"segments among the references"
            )
        return [output for _, outputs in batches for output in outputs]
    found: dict[int, Any] = {}
    for ids, outputs in batches:
        if ids is None or len(ids) != len(outputs):
            raise InputError(
                f"'ids' must have one entry for each of the {len(outputs)} hypotheses of a batch, "
                f"got {'none' if ids is None else len(ids)}"
            )
        for i, output in zip(ids, outputs, strict=True):
            found.setdefault(i, output)
    for i in range(len(found)):
        if i not in found:
            raise InputError(
                f"'ids' must be the positions 0 to {len(found) - 1} among the references, but "
                f"there is no {i}"
            )
    return [found[i] for i in range(len(found))]
