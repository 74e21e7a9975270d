"""What several answers to an item become: their mean, runs of the system, or trials of a metric."""

from __future__ import annotations

import re

from evalstats.checks import shown
from evalstats.designs.trials.metrics import ICC, FlipRate, PassAll, PassAny
from evalstats.errors import InputError

#: What `epochs` can be; K is a number.
EPOCHS = ("mean", "runs", "pass^K", "pass@K", "flips", "icc")
#: Metrics that answers are trials of.
OfTrials = PassAll | PassAny | FlipRate | ICC
_NUMBERED: dict[str, type[PassAll | PassAny | FlipRate]] = {
    "pass^": PassAll,
    "pass@": PassAny,
    "flips@": FlipRate,
}
_NAME = re.compile(r"(pass\^|pass@|flips@)(\d{1,9})", re.ASCII)


def as_epochs(epochs: object) -> str:
    """Return what answers become, if it is one of the words above, or "flips@2"."""
    if epochs not in ("mean", "runs"):
        of_trials(epochs)
    return str(epochs)


def of_trials(epochs: object, score: str = "") -> OfTrials | None:
    """Return the metric that answers are trials of, called after the score: "acc pass^4".

    It is `None` of "mean" and "runs".

    >>> of_trials("pass^4", "acc")
    PassAll(k=4, name='acc pass^4')
    """
    if epochs in ("mean", "runs"):
        return None
    name = f"{score} {epochs}".strip()
    match = _NAME.fullmatch(epochs) if isinstance(epochs, str) else None
    if match is not None:
        return _NUMBERED[match[1]](int(match[2]), name=name)
    if epochs == "flips":
        return FlipRate(name=name)
    if epochs == "icc":
        return ICC(f"{score} ICC".strip())
    raise InputError(
        f"must be one of {', '.join(EPOCHS)}, where K is a number as in pass^4; got "
        f"{shown(epochs, 60)}",
        argument="epochs",
    )
