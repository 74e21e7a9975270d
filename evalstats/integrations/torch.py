"""Accumulators across the ranks of `torch.distributed`."""

from __future__ import annotations

from typing import Any

from evalstats.errors import MissingExtraError
from evalstats.training.accumulator import Accumulator

try:
    from torch import distributed
except ImportError as error:
    raise MissingExtraError(
        "evalstats.integrations.torch requires PyTorch: pip install '.[torch]'"
    ) from error


def merged(accumulator: Accumulator, group: Any = None) -> Accumulator:
    """Return the accumulators of all ranks merged into a new one, the same on every rank.

    Every rank must call it with its own accumulator, and with the same `group` (by default all
    ranks). Without an initialised process group there is one rank. Pass ids to
    `Accumulator.update`, so that segments that the sampler added to fill the last batch count once.
    """
    parts: list[Any] = [accumulator]
    if distributed.is_available() and distributed.is_initialized():
        parts = [None] * distributed.get_world_size(group)
        distributed.all_gather_object(parts, accumulator, group=group)
    together = Accumulator(accumulator.metric)
    for part in parts:
        together.merge(part)
    return together
