"""`sacrebleu.metrics.ter` with our `TER`; all else is sacreBLEU's."""

from __future__ import annotations

from typing import Any

from sacrebleu.metrics import ter as _theirs

from evalstats import metrics as ours
from evalstats.compat.sacrebleu.counting import Corpus, Streams, as_streams

__all__ = ["TER"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


class TER(Corpus, _theirs.TER):  # type: ignore[misc]
    """sacreBLEU's TER, with its parameters.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> TER().corpus_score(["on the mat sat the cat"], [["the cat sat on the mat"]])
    TER = 33.33
    """

    kind = "TER"

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        references: Streams | None = None,
    ) -> None:
        settings = normalized, no_punct, asian_support, case_sensitive
        ours.TER(*settings)
        super().__init__(*settings)
        self.references = None if references is None else as_streams(references)
