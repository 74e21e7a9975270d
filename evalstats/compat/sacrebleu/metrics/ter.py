"""`sacrebleu.metrics.ter` with our `TER`; all else is sacreBLEU's."""

from inspect import signature
from typing import Any

from sacrebleu.metrics import ter as _theirs

from evalstats.compat.sacrebleu.counting import Corpus

__all__ = ["TER"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


class TER(Corpus, _theirs.TER):  # type: ignore[misc]
    """sacreBLEU's TER, with its parameters.

    Examples
    --------
    >>> TER().corpus_score(["on the mat sat the cat"], [["the cat sat on the mat"]])
    TER = 33.33
    """

    kind = "TER"
    __signature__ = signature(_theirs.TER)
