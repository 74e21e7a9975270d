"""`sacrebleu.metrics.bleu` with our `BLEU`; all else is sacreBLEU's."""

from inspect import signature
from typing import Any

from sacrebleu.metrics import bleu as _theirs

from evalstats.compat.sacrebleu.counting import Corpus

__all__ = ["BLEU"]


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


class BLEU(Corpus, _theirs.BLEU):  # type: ignore[misc]
    """sacreBLEU's BLEU, with its parameters.

    Examples
    --------
    >>> metric = BLEU()
    >>> metric.corpus_score(["the cat sat on a mat"], [["the cat sat on the mat"]])
    BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    >>> print(metric.get_signature())
    nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...
    """

    kind = "BLEU"
    __signature__ = signature(_theirs.BLEU)
