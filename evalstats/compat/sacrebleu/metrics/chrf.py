"""`sacrebleu.metrics.chrf` with our `CHRF`; all else is sacreBLEU's."""

from __future__ import annotations

from typing import Any

from sacrebleu.metrics import chrf as _theirs

from evalstats import metrics as ours
from evalstats.compat.sacrebleu.counting import Corpus, Streams, as_streams

__all__ = ["CHRF"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


class CHRF(Corpus, _theirs.CHRF):  # type: ignore[misc]
    """sacreBLEU's chrF, with its parameters; `word_order=2` makes it chrF++.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> CHRF(word_order=2).corpus_score(["a cat sat"], [["the cat sat"]])
    chrF2++ = 55.00
    """

    kind = "CHRF"

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        references: Streams | None = None,
    ) -> None:
        settings: Any = char_order, word_order, beta, lowercase, whitespace, eps_smoothing
        ours.CHRF(*settings)
        super().__init__(*settings)
        self.references = None if references is None else as_streams(references)
