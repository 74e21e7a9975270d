"""`sacrebleu.metrics`: sacreBLEU's classes, counted and resampled by evalstats.

Each derives from sacreBLEU's class, so that scores, `format()`, signatures and `isinstance` are its
own. Settings and texts that sacreBLEU would bend are refused: see `Corpus.count`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import bleu as _bleu
from sacrebleu.metrics import chrf as _chrf
from sacrebleu.metrics import ter as _ter
from sacrebleu.metrics.base import Score
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.metrics.chrf import CHRFScore
from sacrebleu.metrics.ter import TERScore

from evalstats import metrics as ours
from evalstats.checks import integer
from evalstats.compat.sacrebleu import private
from evalstats.compat.sacrebleu.draws import Counted, bootstrap_scores, environment_seed
from evalstats.compat.sacrebleu.twins import from_sacrebleu
from evalstats.errors import InputError
from evalstats.resampling.totals import MOST_RESAMPLES
from evalstats.text.references import References, as_texts, from_streams

__all__ = ["BLEU", "CHRF", "METRICS", "TER", "BLEUScore", "CHRFScore", "TERScore"]

Streams = Sequence[Sequence[str | None]]


def as_streams(references: Any) -> References:
    """Return references in sacreBLEU's layout, one list a stream, as `References`."""
    if isinstance(references, References):
        return references
    if isinstance(references, (str, bytes)):
        raise InputError("references must be a list of reference streams, got a bare string")
    return References(from_streams(*references))


def count(metric: Any, hypotheses: Any, references: Any) -> NDArray[Any]:
    """Return the statistics of every segment under one of sacreBLEU's metrics, `(N, k)`.

    Parameters
    ----------
    metric : sacrebleu.metrics.base.Metric
        sacreBLEU's, one of this module, or a class of your own; this last one counts itself.
    hypotheses : sequence of str
        N outputs.
    references
        Reference streams, or `None` for those that the metric was made with.

    Raises
    ------
    InputError
        For a bare string, entries that are not strings, streams of another length than the
        hypotheses, a segment without reference.
    """
    texts = as_texts(hypotheses)
    if references is None and isinstance(metric, _Corpus):
        references = metric.references
        if references is None:
            raise InputError("references is None, and the metric was made without references")
    twin = from_sacrebleu(metric)
    if references is None:
        _check_lengths(len(texts), private.n_kept_references(metric))
        return np.array(private.segment_statistics(metric, texts, None))
    streams = as_streams(references)
    _check_lengths(len(texts), len(streams))
    if twin is None:
        return np.array(private.segment_statistics(metric, texts, streams.streams()))
    private.warn_of_tokenized(metric, texts)
    metric.num_refs = -1 if streams.label == "var" else int(streams.label)
    return np.asarray(twin.statistics(texts, streams))


def _check_lengths(n_hypotheses: int, n_references: int) -> None:
    if n_hypotheses != n_references:
        raise InputError(
            f"hypotheses has {n_hypotheses} segments but the reference streams have {n_references}"
        )


class _Corpus(private.Counting):
    """What the three metrics share: how a corpus is counted, and how it is resampled."""

    references: References | None = None

    def count(self, hypotheses: Any, references: Any) -> NDArray[Any]:
        """Return the statistics of every segment, `(N, k)`."""
        return count(self, hypotheses, references)

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Streams | None,
        n_bootstrap: int = 1,
    ) -> Any:
        """Score a corpus; with `n_bootstrap` > 1, mean and half-width of its bootstrap interval.

        Parameters
        ----------
        hypotheses : sequence of str
            N outputs.
        references : sequence of sequence of str
            Reference streams, each of N entries; `None` for those given to the constructor.
        n_bootstrap : int
            Resamples, drawn as sacreBLEU draws them; 1 for none.

        Returns
        -------
        sacrebleu.metrics.base.Score
            sacreBLEU's score object.

        Raises
        ------
        InputError
            For texts or lengths that do not fit, or `n_bootstrap` below 1.
        """
        n_resamples = integer(n_bootstrap, "n_bootstrap", 1, MOST_RESAMPLES)
        rows = self.count(hypotheses, references)
        score = private.score_of_segments(self, rows)
        if n_resamples > 1:
            seed = environment_seed()
            self.n_bootstrap, self.seed = n_resamples, str(seed).lower()
            rng = np.random.default_rng(seed)
            (replicates,) = bootstrap_scores([Counted(self, rows)], n_resamples, rng)
            score.estimate_ci([Score(score.name, replicate) for replicate in replicates])
        return score


class BLEU(_Corpus, _bleu.BLEU):  # type: ignore[misc]
    """sacreBLEU's BLEU.

    Parameters
    ----------
    lowercase, force, tokenize, smooth_method, smooth_value, max_ngram_order, effective_order, \
trg_lang, references
        sacreBLEU's.

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
        ours.BLEU(
            lowercase, tokenize, smooth_method, smooth_value, max_ngram_order, effective_order,
            trg_lang,
        )  # fmt: skip
        super().__init__(
            lowercase, force, tokenize, smooth_method, smooth_value, max_ngram_order,
            effective_order, trg_lang,
        )  # fmt: skip
        self.references = None if references is None else as_streams(references)


class CHRF(_Corpus, _chrf.CHRF):  # type: ignore[misc]
    """sacreBLEU's chrF; with `word_order=2` it is chrF++.

    Parameters
    ----------
    char_order, word_order, beta, lowercase, whitespace, eps_smoothing, references
        sacreBLEU's.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> CHRF(word_order=2).corpus_score(["a cat sat"], [["the cat sat"]])
    chrF2++ = 55.00
    """

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
        ours.CHRF(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)
        super().__init__(
            char_order, word_order, beta, lowercase, whitespace, eps_smoothing,  # type: ignore[arg-type]
        )  # fmt: skip
        self.references = None if references is None else as_streams(references)


class TER(_Corpus, _ter.TER):  # type: ignore[misc]
    """sacreBLEU's TER.

    Parameters
    ----------
    normalized, no_punct, asian_support, case_sensitive, references
        sacreBLEU's.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> TER().corpus_score(["on the mat sat the cat"], [["the cat sat on the mat"]])
    TER = 33.33
    """

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        references: Streams | None = None,
    ) -> None:
        options = (normalized, no_punct, asian_support, case_sensitive)
        ours.TER(*options)
        super().__init__(*options)
        self.references = None if references is None else as_streams(references)


METRICS = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
