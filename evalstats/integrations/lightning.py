"""Lightning: check every validation, log the verdict, and stop without a real improvement."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from evalstats.checks import check_same_length, listed
from evalstats.errors import InputError, MissingExtraError
from evalstats.integrations import loop
from evalstats.training.monitor import Monitor

try:
    from lightning.pytorch import Callback
    from torch import distributed
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.lightning requires lightning and PyTorch: pip install "
        "'.[lightning]'"
    ) from error


class Outputs(dict[str, list[Any]]):
    """Outputs of one dataloader: "hypotheses", and "ids" and "references" if there are any."""

    @classmethod
    def of(cls, outputs: Any) -> Outputs:
        """Return the checked result of `validation_step`, with ids as integers."""
        if not isinstance(outputs, Mapping) or "hypotheses" not in outputs:
            raise InputError(
                "validation_step must return a dictionary with 'hypotheses', the outputs of the "
                "batch (and 'ids', their positions among the references)"
            )
        names = [
            name for name in ("hypotheses", "ids", "references") if outputs.get(name) is not None
        ]
        columns = cls({name: listed(outputs[name], f"'{name}'", "segments") for name in names})
        check_same_length(**columns)
        if "ids" in columns:
            columns["ids"] = [int(i) for i in columns["ids"]]
        return columns

    @classmethod
    def together(cls, batches: list[Outputs], n_ranks: int) -> Outputs:
        """Return all batches as one, in the order of the ids, each id once."""
        if any(batch.keys() != batches[0].keys() for batch in batches):
            raise InputError(
                "validation_step must return 'ids' and 'references' either for all batches or "
                "for none"
            )
        whole = cls({n: [entry for batch in batches for entry in batch[n]] for n in batches[0]})
        if "ids" in whole:
            at = {i: row for row, i in reversed(list(enumerate(whole["ids"])))}
            rows = [at[i] for i in sorted(at)]
            return cls({name: [column[row] for row in rows] for name, column in whole.items()})
        if n_ranks > 1:
            raise InputError(
                "validation_step must return 'ids', the positions of the segments among the "
                f"references, when there are several ranks ({n_ranks} here)"
            )
        return whole

    @property
    def missing(self) -> int | None:
        """The first position without an output; `None` if each up to the last has one."""
        return next((i for i, key in enumerate(self.get("ids", [])) if key != i), None)


class MonitorCallback(Callback):
    """Check the outputs of every validation of a Lightning `Trainer`.

    `validation_step` returns a dictionary with ``"hypotheses"``, the outputs of the batch, and with
    ``"ids"``, the positions of these segments among the references. Without shuffling, a single
    process may leave the ids out. Across ranks they are needed to put outputs in order; a segment
    that a distributed sampler gave to two ranks counts once, with the output of the lower rank.

    With ``"references"``, one entry per segment, the set is identified: the set with the references
    of `monitor` is checked, from any dataloader, and other sets are scored. Without them, the
    monitored set is the first dataloader's during ``fit``.

    Some validations do not count as checks: a sanity check, ``fast_dev_run``, one that
    ``limit_val_batches`` or ``overfit_batches`` cut short, ``trainer.validate``. They are scored if
    references or ids identify the segments, and do not change the monitor.

    The state is saved in Lightning's checkpoints and read from them. `monitor` has the references
    of the validation set, and `patience` to stop early; `prefix` is put before the logged names.
    """

    def __init__(self, monitor: Monitor, prefix: str = "") -> None:
        self.monitor = monitor
        self.prefix = prefix
        self._outputs: dict[int, list[Outputs]] = {}

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Refuse to keep checkpoints by a value that is logged with another name."""
        for callback in trainer.callbacks:
            loop.check_kept_by(getattr(callback, "monitor", None), self.monitor)

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget the outputs of the last validation."""
        self._outputs = {}

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
        has_some = isinstance(outputs, Mapping) and "hypotheses" in outputs
        if not trainer.sanity_checking and (has_some or dataloader_idx == 0):
            self._outputs.setdefault(dataloader_idx, []).append(Outputs.of(outputs))

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Check the collected outputs, log the values, and stop when the patience is used up."""
        if trainer.sanity_checking:
            return
        parts = [self._outputs]
        if trainer.world_size > 1:
            parts = [{}] * trainer.world_size
            distributed.all_gather_object(parts, self._outputs)
        indices = sorted({index for part in parts for index in part})
        logged: dict[str, float] = {}
        for index in indices:
            batches = [batch for part in parts for batch in part.get(index, [])]
            outputs = Outputs.together(batches, trainer.world_size)
            if not self._are_of_the_set(trainer, index, outputs):
                suffix = f"/dataloader_idx_{index}" if len(indices) > 1 else ""
                aside = self._scored_aside(outputs, may_be_a_part=index == 0)
                logged |= {key + suffix: value for key, value in aside.items()}
            elif trainer.state.fn == "fit" and not trainer.fast_dev_run:
                step, hypotheses = trainer.global_step, outputs["hypotheses"]
                logged |= loop.checked(self.monitor, step, hypotheses, self.prefix)
            else:
                logged |= loop.scored(self.monitor, outputs["hypotheses"], self.prefix)
        pl_module.log_dict(logged, add_dataloader_idx=False)
        if trainer.state.fn != "fit":
            return
        last = self.monitor.last
        if last is None or last.step != trainer.global_step:
            part = "its outputs cover only a part of the set, or come from a trial run"
            other = "no references are equal to the monitor's, in the same order"
            warnings.warn(
                f"the validation at step {trainer.global_step} does not count as a check: "
                f"{part if _limited(trainer) else other}",
                stacklevel=2,
            )
        if self.monitor.should_stop:
            trainer.should_stop = True

    def _are_of_the_set(self, trainer: Any, index: int, outputs: Outputs) -> bool:
        """Return whether these outputs cover all segments of the monitored set.

        For the first dataloader during ``fit``, which is identified only by order, a missing
        position raises an `InputError`.
        """
        references, given = self.monitor.references, outputs.get("references")
        is_declared = trainer.state.fn == "fit" and index == 0
        if not is_declared and given is None:
            return False
        if is_declared and not _limited(trainer) and (references is None or given is None):
            if outputs.missing is not None:
                raise InputError(
                    "'ids' must contain all positions among the references from 0 to "
                    f"{len(outputs['hypotheses']) - 1}, but {outputs.missing} is missing"
                )
            return True
        if references is None or outputs.missing is not None:
            return False
        if len(outputs["hypotheses"]) != len(references):
            return False
        return given is None or type(references)(given).fingerprint == references.fingerprint

    def _scored_aside(self, outputs: Outputs, may_be_a_part: bool) -> dict[str, float]:
        """Score outputs against their own references, or against the monitor's by id."""
        references, hypotheses = self.monitor.references, outputs["hypotheses"]
        level = self.monitor.confidence_level
        if references is None:
            return loop.estimated(self.monitor.metric, hypotheses, None, self.prefix, level)
        against = outputs.get("references")
        if against is None and may_be_a_part:
            ids = outputs.get("ids", [-1])
            if all(0 <= i < len(references) for i in ids):
                against = [references[i] for i in ids]
        if against is None:
            warnings.warn(
                f"{len(hypotheses)} outputs of a validation are skipped, because their references "
                "are unknown. Let validation_step return 'references' beside 'hypotheses'",
                stacklevel=2,
            )
            return {}
        return loop.estimated(self.monitor.metric, hypotheses, against, self.prefix, level)

    def state_dict(self) -> dict[str, Any]:
        """Return the monitor's state."""
        return self.monitor.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a monitor's state."""
        self.monitor.load_state_dict(state_dict)


def _limited(trainer: Any) -> bool:
    """Return whether the trainer validates on a part of the set."""
    limit = trainer.limit_val_batches
    return bool(trainer.fast_dev_run or trainer.overfit_batches or limit != 1 or type(limit) is int)
