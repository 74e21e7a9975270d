"""`sacrebleu.metrics.chrf` with our `CHRF`; all else is sacreBLEU's."""

from inspect import signature
from typing import Any

from sacrebleu.metrics import chrf as _theirs

from evalstats.compat.sacrebleu.counting import Corpus

__all__ = ["CHRF"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


class CHRF(Corpus, _theirs.CHRF):  # type: ignore[misc]
    """sacreBLEU's chrF, with its parameters; `word_order=2` makes it chrF++.

    Examples
    --------
    >>> CHRF(word_order=2).corpus_score(["a cat sat"], [["the cat sat"]])
    chrF2++ = 55.00
    """

    kind = "CHRF"
    __signature__ = signature(_theirs.CHRF)
