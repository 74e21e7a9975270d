"""`sacrebleu.metrics`: sacreBLEU's classes, counted and resampled by evalstats.

Each derives from sacreBLEU's class and has its parameters, scores, `format()`, signatures and
`isinstance`. Settings and texts that sacreBLEU would silently change raise an `InputError`.

Examples
--------
>>> metric = BLEU()
>>> metric.corpus_score(["the cat sat on a mat"], [["the cat sat on the mat"]])
BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
>>> print(metric.get_signature())
nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...
>>> CHRF(word_order=2).corpus_score(["a cat sat"], [["the cat sat"]])
chrF2++ = 55.00
>>> TER().corpus_score(["on the mat sat the cat"], [["the cat sat on the mat"]])
TER = 33.33
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from inspect import Signature, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import base, bleu, chrf, helpers, ter

from evalstats.checks import integer
from evalstats.compat.sacrebleu import draws
from evalstats.errors import InputError
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.text.references import References, as_texts, from_streams

__all__ = ["BLEU", "CHRF", "METRICS", "TER"]
__all__ += ["BLEUScore", "CHRFScore", "TERScore", "base", "helpers"]

Streams = Sequence[Sequence[str | None]]


def as_streams(references: Any) -> References:
    """Return references in sacreBLEU's layout, one list per stream, as `References`."""
    if isinstance(references, References):
        return references
    if isinstance(references, (str, bytes)):
        raise InputError("references must be a list of reference streams, got a bare string")
    return References(from_streams(*references))


def count(metric: Any, hypotheses: Any, references: Any) -> NDArray[Any]:
    """Return the statistics of every segment for one of sacreBLEU's metrics, `(N, k)`.

    References are streams, or `None` for the references given to the metric. A metric of the user's
    own class counts itself. Bare strings, entries that are not strings, streams of another length
    than the hypotheses, or a segment without reference raise an `InputError`.
    """
    texts = as_texts(hypotheses)
    if references is None and isinstance(metric, Corpus):
        references = metric.references
    if references is None and metric._ref_cache is None:
        raise InputError("references is None, and the metric was created without references")
    streams = None if references is None else as_streams(references)
    n_references = len(metric._ref_cache) if streams is None else len(streams)
    if len(texts) != n_references:
        is_turned = streams is not None and len(streams.streams()) == len(texts)
        how = "; if you have lists of references per segment, pass list(zip(*references))"
        how *= is_turned
        raise InputError(
            f"hypotheses has {len(texts)} segments but the reference streams have {n_references}"
            f"{how}"
        )
    twin = draws.from_sacrebleu(metric)
    if twin is None or streams is None:
        known = None if streams is None else streams.streams()
        return np.array(metric._extract_corpus_statistics(texts, known))
    if not metric._force and sum(text.endswith(" .") for text in texts) >= 100:
        logging.getLogger("sacrebleu").warning(
            "100 hypotheses or more end in ' .', as tokenised text does: BLEU expects plain text. "
            "If this is intended, force=True silences this warning."
        )
    metric.num_refs = -1 if streams.label == "var" else int(streams.label)
    return np.asarray(twin.statistics(texts, streams))


class Corpus:
    """The common base of our three metrics, which also derive from sacreBLEU's classes."""

    kind: str
    __signature__: Signature

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        theirs = super().__init__
        options = signature(theirs).bind(*args, **kwargs).arguments
        references = options.pop("references", None)
        # Our metric is made first, for its error messages.
        draws.made_of(self.kind, {name: options[name] for name in options if name != "force"})
        theirs(**options)
        self.references = None if references is None else as_streams(references)

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
        """Count for sacreBLEU's methods; its own loop counts single segments and other classes.

        For a single segment the loop is faster than counting a corpus.
        """
        if references and (len(hypotheses) == 1 or draws.from_sacrebleu(self) is None):
            return super()._extract_corpus_statistics(hypotheses, references)  # type: ignore[misc]
        return count(self, hypotheses, references).tolist()

    def corpus_score(
        self, hypotheses: Sequence[str], references: Streams | None, n_bootstrap: int = 1
    ) -> Any:
        """Score a corpus against reference streams; `None` for the constructor's references.

        With `n_bootstrap` > 1 the score, an object of sacreBLEU, has the mean and half-width of a
        bootstrap interval from that many of sacreBLEU's draws.
        """
        n_resamples = integer(n_bootstrap, "n_bootstrap", 1, MOST_RESAMPLES)
        counted = draws.Counted(self, count(self, hypotheses, references))
        score = counted.score
        if n_resamples > 1:
            seed = draws.environment_seed()
            self.n_bootstrap, self.seed = n_resamples, str(seed).lower()
            rng = np.random.default_rng(seed)
            ((replicates,),) = draws.bootstrap_scores([[counted]], n_resamples, rng)
            drawn = replicates.tolist()
            score.estimate_ci([base.Score(score.name, replicate) for replicate in drawn])
        return score


class BLEU(Corpus, bleu.BLEU):  # type: ignore[misc]
    """sacreBLEU's BLEU."""

    kind, __signature__ = "BLEU", signature(bleu.BLEU)


class CHRF(Corpus, chrf.CHRF):  # type: ignore[misc]
    """sacreBLEU's chrF; `word_order=2` makes it chrF++."""

    kind, __signature__ = "CHRF", signature(chrf.CHRF)


class TER(Corpus, ter.TER):  # type: ignore[misc]
    """sacreBLEU's TER."""

    kind, __signature__ = "TER", signature(ter.TER)


BLEUScore, CHRFScore, TERScore = bleu.BLEUScore, chrf.CHRFScore, ter.TERScore
METRICS = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
