"""How a corpus is counted and resampled under sacreBLEU's metrics, by us where we have a twin."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Score

from evalstats.checks import integer
from evalstats.compat.sacrebleu.draws import Counted, bootstrap_scores, environment_seed
from evalstats.compat.sacrebleu.twins import from_sacrebleu
from evalstats.errors import InputError
from evalstats.resampling.totals import MOST_RESAMPLES
from evalstats.text.references import References, as_texts, from_streams

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
        sacreBLEU's, one of `evalstats.compat.sacrebleu`, or a class of your own; this last one
        counts itself.
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
    if references is None and isinstance(metric, Corpus):
        references = metric.references
    if references is None and metric._ref_cache is None:
        raise InputError("references is None, and the metric was made without references")
    streams = None if references is None else as_streams(references)
    n_references = len(metric._ref_cache) if streams is None else len(streams)
    if len(texts) != n_references:
        raise InputError(
            f"hypotheses has {len(texts)} segments but the reference streams have {n_references}"
        )
    twin = from_sacrebleu(metric)
    if twin is None or streams is None:
        known = None if streams is None else streams.streams()
        return np.array(metric._extract_corpus_statistics(texts, known))
    _warn_of_tokenized(metric, texts)
    metric.num_refs = -1 if streams.label == "var" else int(streams.label)
    return np.asarray(twin.statistics(texts, streams))


def _warn_of_tokenized(metric: Any, hypotheses: Sequence[str]) -> None:
    if not metric._force and sum(text.endswith(" .") for text in hypotheses) >= 100:
        logging.getLogger("sacrebleu").warning(
            "100 hypotheses or more end in ' .', as tokenised text does: BLEU expects plain text. "
            "If that is what it is, force=True silences this warning."
        )


class Corpus:
    """What our three metrics share, beside sacreBLEU's class that each derives from as well."""

    references: References | None = None

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> list[list[Any]]:
        """Count for sacreBLEU's methods; single segments, and what has no twin, in its own loop.

        A single segment takes that loop less time than setting up a count of a whole corpus.
        """
        if references and (len(hypotheses) == 1 or from_sacrebleu(self) is None):
            rows: list[list[Any]] = super()._extract_corpus_statistics(  # type: ignore[misc]
                hypotheses, references
            )
            return rows
        counted: list[list[Any]] = count(self, hypotheses, references).tolist()
        return counted

    def corpus_score(
        self, hypotheses: Sequence[str], references: Streams | None, n_bootstrap: int = 1
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
        counted = Counted(self, count(self, hypotheses, references))
        score = counted.score
        if n_resamples > 1:
            seed = environment_seed()
            self.n_bootstrap, self.seed = n_resamples, str(seed).lower()
            (replicates,) = bootstrap_scores([counted], n_resamples, np.random.default_rng(seed))
            score.estimate_ci([Score(score.name, replicate) for replicate in replicates])
        return score
