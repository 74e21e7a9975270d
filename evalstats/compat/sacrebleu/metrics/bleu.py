"""`sacrebleu.metrics.bleu` with our `BLEU`; all else is sacreBLEU's."""

from __future__ import annotations

from typing import Any

from sacrebleu.metrics import bleu as _theirs

from evalstats import metrics as ours
from evalstats.compat.sacrebleu.counting import Corpus, Streams, as_streams

__all__ = ["BLEU"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


class BLEU(Corpus, _theirs.BLEU):  # type: ignore[misc]
    """sacreBLEU's BLEU, with its parameters.

    Raises
    ------
    InputError
        For an unknown tokeniser or smoothing method, or a value out of range.

    Examples
    --------
    >>> metric = BLEU()
    >>> metric.corpus_score(["the cat sat on a mat"], [["the cat sat on the mat"]])
    BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    >>> print(metric.get_signature())
    nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...
    """

    kind = "BLEU"

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: str | None = None,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = 4,
        effective_order: bool = False,
        trg_lang: str = "",
        references: Streams | None = None,
    ) -> None:
        settings = tokenize, smooth_method, smooth_value, max_ngram_order, effective_order, trg_lang
        ours.BLEU(lowercase, *settings)
        super().__init__(lowercase, force, *settings)
        self.references = None if references is None else as_streams(references)
