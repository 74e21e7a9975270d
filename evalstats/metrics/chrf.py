"""chrF (Popović, 2015) and chrF++ (Popović, 2017) with sacreBLEU's parameters and 0-100 scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import flag, integer, number
from evalstats.errors import InputError
from evalstats.metrics.base import MOST_ORDER, Floats, Metric, keep, signature_of
from evalstats.metrics.ratios import ratio
from evalstats.text.ngrams import best_reference, chrf_pair_statistics, shared_ngrams
from evalstats.text.references import as_pairs
from evalstats.text.tokenization import (
    CHRF_WORDS,
    UNSPACED,
    character_blocks,
    sacrebleu_version,
    tokenize_blocks,
)

#: Stands in for an undefined precision or recall (chrF++.py, Moses, NLTK, sacreBLEU).
_EPS = 1e-16
#: The square of beta must be a number.
_MOST_BETA = 1e100


@dataclass(frozen=True)
class CHRF(Metric):
    r"""Character n-gram F-score; with `word_order=2` it is chrF++.

    .. math:: 100 \cdot (1 + \beta^2) \frac{P R}{\beta^2 P + R}

    with P and R the precision and recall of clipped n-gram matches, averaged over the character
    orders 1..`char_order` and the word orders 1..`word_order` (Popović, 2015 and 2017). Of several
    references, the one with the best segment score is used. Parameters, defaults and numbers are
    sacreBLEU's (Post, 2018).

    Parameters
    ----------
    char_order : int
        Highest character n-gram order, at least 0; one of the two orders must be at least 1.
    word_order : int
        Highest word n-gram order, at least 0.
    beta : float
        Weight of recall against precision, at least 0.
    lowercase : bool
        Lowercase first.
    whitespace : bool
        Keep whitespace as characters.
    eps_smoothing : bool
        Average F-scores over all orders, as in chrF++.py, Moses and NLTK, instead of precision and
        recall over the orders that both sides have.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> chrf = CHRF()
    >>> rows = chrf.statistics(["the cat"], ["the cats"])
    >>> rows[0, :6].tolist()   # hypothesis, reference, matches; for order 1, then 2
    [6, 7, 6, 5, 6, 5]
    >>> print(chrf.score(rows.sum(axis=0)).round(2))
    77.57
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    bounds: ClassVar[tuple[float, float]] = 0.0, 100.0
    counts = True

    def __post_init__(self) -> None:
        keep(
            self,
            char_order=integer(self.char_order, "char_order", 0, MOST_ORDER),
            word_order=integer(self.word_order, "word_order", 0, MOST_ORDER),
            beta=number(self.beta, "beta", 0.0),
        )
        if self.char_order + self.word_order == 0:
            raise InputError(
                "char_order and word_order cannot both be 0; set at least one of them to 1 or more"
            )
        if self.beta > _MOST_BETA:
            raise InputError(f"must be at most {_MOST_BETA:g}, got {self.beta}", argument="beta")
        for name in ("lowercase", "whitespace", "eps_smoothing"):
            keep(self, **{name: flag(getattr(self, name), name)})
        orders = [f"char_{n}" for n in range(1, self.char_order + 1)]
        orders += [f"word_{n}" for n in range(1, self.word_order + 1)]
        columns = tuple(f"{side}_{order}" for order in orders for side in ("hyp", "ref", "match"))
        # The name is sacreBLEU's.
        keep(self, name=f"chrF{self.beta:g}" + "+" * self.word_order, columns=columns)

    @property
    def signature(self) -> str:
        """Identity in the form of sacreBLEU's signatures."""
        return signature_of(
            case="lc" if self.lowercase else "mixed",
            eff=not self.eps_smoothing,
            nc=self.char_order,
            nw=self.word_order,
            space=self.whitespace,
            sacrebleu=sacrebleu_version(),
        )

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.int64]:
        """Return `(N, 3·orders)`: hypothesis, reference and matching n-grams of each order.

        Character orders come first, then word orders. If the reference has no n-grams of an order,
        the hypothesis n-grams of this order are not counted either (sacreBLEU).
        """
        texts, refs = as_pairs(hypotheses, references)
        how = (character_blocks, self.lowercase, self.whitespace)
        hyps, prepared = shared_ngrams(refs, texts, self.char_order, False, *how)
        pairs = chrf_pair_statistics(hyps, prepared)
        if self.word_order:
            words = (tokenize_blocks, CHRF_WORDS, self.lowercase)
            more = shared_ngrams(refs, texts, self.word_order, False, *words)
            pairs = np.concatenate((pairs, chrf_pair_statistics(*more)), axis=1)
        return best_reference(pairs.reshape(len(pairs), -1), prepared, self.score)

    def unsuited(self, language: str) -> str:
        """Return what to use if no spaces separate words, or ""."""
        if not self.word_order or language not in UNSPACED:
            return ""
        return f"{UNSPACED[language]} has no spaces between words. Use chrF (word_order=0, -m chrf)"

    def score(self, totals: ArrayLike) -> Floats:
        """Score summed statistics, `(..., 3·orders) -> (...)`, in [0, 100].

        In sacreBLEU's order of operations, to the last bit: it determines which reference is best.
        """
        precision, recall, both = self._precision_recall(totals)
        orders = range(precision.shape[-1])
        if self.eps_smoothing:
            f_scores = _f_score(precision, recall, self.beta, empty=_EPS)
            return np.asarray(100.0 * sum(f_scores[..., n] for n in orders) / len(orders))
        n_orders = np.maximum(np.sum(both, axis=-1), 1)
        mean_precision, mean_recall = (
            sum(np.where(both[..., n], part[..., n], 0.0) for n in orders) / n_orders
            for part in (precision, recall)
        )
        return np.asarray(100.0 * _f_score(mean_precision, mean_recall, self.beta, empty=0.0))

    def _precision_recall(self, totals: ArrayLike) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return precision, recall and whether both sides have n-grams, each `(..., orders)`."""
        sums = np.asarray(totals, dtype=np.float64)
        hyp, ref, match = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
        return ratio(match, hyp, _EPS), ratio(match, ref, _EPS), (hyp > 0) & (ref > 0)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse more matches than n-grams on either side."""
        super().check_statistics(statistics)
        orders = statistics.reshape(*statistics.shape[:-1], -1, 3)
        least = np.minimum(orders[..., 0], orders[..., 1])
        more = np.any(orders[..., 2] > least, axis=-1)
        self._refuse(more, "has more matches than n-grams")

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, `(..., 3·orders) -> (..., 3·orders)`."""
        sums = np.asarray(totals, dtype=np.float64)
        precision, recall, both = self._precision_recall(sums)
        if self.eps_smoothing:
            by_precision, by_recall = _f_gradient(precision, recall, self.beta)
            weight = np.broadcast_to(1.0 / precision.shape[-1], precision.shape)
        else:
            n_orders = np.maximum(np.sum(both, axis=-1, keepdims=True), 1)
            by_precision, by_recall = _f_gradient(
                np.sum(np.where(both, precision, 0.0), axis=-1, keepdims=True) / n_orders,
                np.sum(np.where(both, recall, 0.0), axis=-1, keepdims=True) / n_orders,
                self.beta,
            )
            weight = np.where(both, 1.0 / n_orders, 0.0)
        hyp, ref = sums[..., 0::3], sums[..., 1::3]
        per_hyp = ratio(100 * weight * by_precision, hyp, 0.0)
        per_ref = ratio(100 * weight * by_recall, ref, 0.0)
        result = np.empty(sums.shape)
        result[..., 0::3] = -precision * per_hyp
        result[..., 1::3] = -recall * per_ref
        result[..., 2::3] = per_hyp + per_ref
        return result


def _f_score(precision: Floats, recall: Floats, beta: float, empty: float) -> Floats:
    """Return F_beta, `empty` if precision and recall are both zero."""
    factor = beta**2
    return ratio((1 + factor) * precision * recall, factor * precision + recall, empty)


def _f_gradient(precision: Floats, recall: Floats, beta: float) -> tuple[Floats, Floats]:
    """Return the derivatives of F_beta by precision and by recall, 0 if both are zero."""
    factor = beta**2
    squared = (factor * precision + recall) ** 2
    by_precision = ratio((1 + factor) * recall**2, squared, 0.0)
    return by_precision, ratio((1 + factor) * factor * precision**2, squared, 0.0)
