"""sacreBLEU's private names, as far as its replacement needs them.

sacreBLEU's split into segment statistics, sums and scores is private (leading underscores). What is
used here is held by a contract test that runs over the oldest and the newest supported version.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from evalstats.errors import InputError


def tokenizer_name(made: object) -> str | None:
    """Return the name of one of sacreBLEU's tokenisers, `None` for one that it does not have."""
    from sacrebleu.metrics import bleu

    names = {path.rpartition(".")[2]: name for name, path in bleu._TOKENIZERS.items()}
    return names.get(type(made).__name__)


class Counting(ABC):
    """Mixin for a metric of sacreBLEU: `count` counts corpora, sacreBLEU itself single segments.

    A single segment takes sacreBLEU's loop less time than setting up a count of a whole corpus.
    """

    @abstractmethod
    def count(self, hypotheses: Any, references: Any) -> Any:
        """Return the statistics of every segment, `(N, k)`."""

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> list[list[Any]]:
        if references is not None and len(hypotheses) == 1:
            rows: list[list[Any]] = super()._extract_corpus_statistics(  # type: ignore[misc]
                hypotheses, references
            )
            return rows
        counted: list[list[Any]] = self.count(hypotheses, references).tolist()
        return counted


def kind_of(metric: object) -> str | None:
    """Return "BLEU", "CHRF" or "TER" for a metric that counts and scores as sacreBLEU's does.

    That is sacreBLEU's own class, or one made of it and `Counting`. A class derived from either may
    score otherwise.
    """
    from sacrebleu.metrics import METRICS

    for name, parent in METRICS.items():
        made = isinstance(metric, Counting) and type(metric).__bases__[-1] is parent
        if type(metric) is parent or made:
            return name
    return None


def warn_of_tokenized(metric: Any, hypotheses: Sequence[str]) -> None:
    """Log sacreBLEU's warning of text that looks tokenised already, unless `force` is set."""
    if not metric._force and sum(text.endswith(" .") for text in hypotheses) >= 100:
        logging.getLogger("sacrebleu").warning(
            "100 hypotheses or more end in ' .', as tokenised text does: BLEU expects plain text. "
            "If that is what it is, force=True silences this warning."
        )


def segment_statistics(
    metric: Any, hypotheses: Sequence[str], streams: Sequence[Sequence[str | None]] | None
) -> list[list[Any]]:
    """Let sacreBLEU count the statistics; without streams, against the references it keeps."""
    from sacrebleu.metrics.base import Metric

    extract = type(metric)._extract_corpus_statistics
    if extract is Counting._extract_corpus_statistics:
        # That would ask for the count that is being made.
        extract = Metric._extract_corpus_statistics
    rows: list[list[Any]] = extract(metric, hypotheses, streams)
    return rows


def n_kept_references(metric: Any) -> int:
    """Return for how many segments a metric of sacreBLEU keeps the references."""
    if metric._ref_cache is None:
        raise InputError("references is None, and the metric was made without references")
    return len(metric._ref_cache)


def score_of_segments(metric: Any, rows: Any) -> Any:
    """Return sacreBLEU's score object of a corpus from its segments' statistics, `(N, k)`."""
    if kind_of(metric) is not None:
        # Adds up in sacreBLEU's order, so that fractions are rounded as it rounds them.
        rows = rows.sum(axis=0, keepdims=True)
    return metric._aggregate_and_compute(rows.tolist())


def scores_one_by_one(metric: Any, totals: Iterable[Any]) -> list[Any]:
    """Let sacreBLEU score totals, row by row; each a copy, since add-k smoothing changes it."""
    return [metric._compute_score_from_stats(row.copy()).score for row in totals]
