"""NLTK's BLEU: the names, arguments and numbers of ``nltk.translate.bleu_score`` 3.10.

NLTK's numbers have known defects: short sentences count n-grams that they do not have, methods 5 to
7 use only the last sentence of a corpus, and scores can exceed 1. `evalstats.SentenceBLEU`
implements the methods' formulas, and `evalstats.BLEU` corpus BLEU.

Text that was not split is refused: NLTK compares it character by character. Lists that differ in
length, method 6 without a matching three-gram, and a K or alpha of 0 that would divide by zero
raise an error that is also one of NLTK's (`UnusableError`).
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from evalstats.checks import integer, listed
from evalstats.compat import add_modules
from evalstats.compat.sentence_bleu import (
    TokenList,
    as_token_list,
    clipped_counts,
    closest_length,
    corpus_statistics,
    segment_statistics,
)
from evalstats.compat.smoothing import averaged, by_length, interpolated
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.smoothing import Floats, add_k, exponential, floor
from evalstats.text.references import callers_level

__all__ = [
    "SmoothingFunction",
    "bleu",
    "brevity_penalty",
    "closest_ref_length",
    "corpus_bleu",
    "modified_precision",
    "sentence_bleu",
]

UNIFORM = (0.25, 0.25, 0.25, 0.25)
Precisions = Sequence[Any]
Smoother = Callable[..., Precisions]


class UnusableError(InputError, AssertionError, IndexError, ZeroDivisionError, OverflowError):
    """Bad input for which NLTK raises one of these; code that catches NLTK's error catches this."""


class Precision(Fraction):
    """Matches of n-grams, not reduced: 2/4 stays 2/4, since smoothing needs both numbers."""

    # Instead of Fraction's properties, which reduce.
    numerator: int = 0
    denominator: int = 1

    def __new__(cls, correct: int, total: int) -> Precision:
        self = super().__new__(cls, correct, total)
        self.numerator, self.denominator = correct, total
        return self

    def __eq__(self, other: object) -> bool:
        return bool(Fraction(self.numerator, self.denominator) == other)

    __hash__ = Fraction.__hash__


def sentence_bleu(
    references: Sequence[TokenList],
    hypothesis: TokenList,
    weights: Any = UNIFORM,
    smoothing_function: Smoother | None = None,
    auto_reweigh: bool = False,
) -> Any:
    """Score one sentence, 0 to 1 (methods 5 to 7 may exceed 1); see `corpus_bleu`.

    For many sentences, `evalstats.SentenceBLEU.scores` is several times as fast.
    """
    tokens = references if isinstance(references, (list, tuple)) else ()
    if tokens and all(isinstance(token, str) and len(token.split()) == 1 for token in tokens):
        raise InputTypeError(
            "references must be a list of token lists, got a single token list; use "
            "sentence_bleu([reference], hypothesis)"
        )
    output, known = _segment(references, hypothesis, ("references", "hypothesis"))
    return corpus_bleu([known], [output], weights, smoothing_function, auto_reweigh)


bleu = sentence_bleu


def corpus_bleu(
    list_of_references: Iterable[Sequence[TokenList]],
    hypotheses: Iterable[TokenList],
    weights: Any = UNIFORM,
    smoothing_function: Smoother | None = None,
    auto_reweigh: bool = False,
) -> Any:
    """Score a corpus, 0 to 1 (methods 5 to 7 may exceed 1); the integer 0 if nothing matches.

    Several lists of weights give a list of scores. A `smoothing_function` of your own is called as
    ``f(p_n, references=..., hypothesis=..., hyp_len=...)`` with a list of fractions, the last
    sentence's references and tokens, and the length of all hypotheses.
    """
    by_segment = listed(list_of_references, "list_of_references", "lists of references")
    outputs = listed(hypotheses, "hypotheses", "token lists")
    if len(by_segment) != len(outputs):
        raise UnusableError(
            f"list_of_references and hypotheses must have the same length, got {len(by_segment)} "
            f"and {len(outputs)}; pass one list of references per hypothesis"
        )
    if not outputs:
        raise UnusableError("hypotheses is empty; pass at least one sentence")
    for i, row in enumerate(zip(by_segment, outputs, strict=True)):
        names = f"list_of_references[{i}]", f"hypotheses[{i}]"
        outputs[i], by_segment[i] = _segment(*row, names)
    if not len(weights):
        raise InputError("weights is empty; pass one weight for each order")
    # A single row of weights gives a number instead of a list.
    given = weights if np.ndim(weights[0]) > 0 else [weights]
    rows: list[Any] = [row if isinstance(row, tuple) else list(row) for row in given]
    order = max(map(len, rows))
    if len(outputs) == 1:
        statistics = segment_statistics(outputs[0], by_segment[0], order)[None]
    else:
        statistics = corpus_statistics(outputs, by_segment, order)
    hyp_len, ref_len, *correct = statistics[:, : 2 + order].sum(axis=0).tolist()
    total = np.maximum(statistics[:, 2 + order :], 1).sum(axis=0).tolist()
    if correct[0] == 0:
        return [0] * len(rows) if len(rows) > 1 else 0
    smooth = smoothing_function or SmoothingFunction().method0
    p_n = smooth(
        [Precision(c, t) for c, t in zip(correct, total, strict=True)],
        references=by_segment[-1],
        hypothesis=outputs[-1],
        hyp_len=hyp_len,
    )
    scores = []
    for row in rows:
        if auto_reweigh and hyp_len < len(UNIFORM) and row == UNIFORM:
            row = (1 / hyp_len,) * hyp_len
        # Orders without a weight, and precisions of zero, do not count.
        logs = (w * math.log(p) for w, p in zip(row, p_n, strict=False) if p > 0)
        scores.append(brevity_penalty(ref_len, hyp_len) * math.exp(math.fsum(logs)))
    return scores if len(rows) > 1 else scores[0]


def modified_precision(references: Sequence[TokenList], hypothesis: TokenList, n: int) -> Precision:
    """Return clipped matches over n-grams (at least 1) of one sentence, an unreduced fraction."""
    n = integer(n, "n", 1)
    tokens, known = _segment(references, hypothesis, ("references", "hypothesis"))
    correct, total = clipped_counts(tokens, known, n)
    return Precision(correct, max(total, 1))


def closest_ref_length(references: Iterable[TokenList], hyp_len: int) -> int:
    """Return the reference length closest to `hyp_len`, the shorter of two equally close."""
    return closest_length(list(references), hyp_len)


def brevity_penalty(closest_ref_len: int, hyp_len: int) -> float:
    """Return exp(min(0, 1 - r/c)), and 0 for an empty hypothesis."""
    if hyp_len == 0:
        return 0.0
    return math.exp(min(0.0, 1 - closest_ref_len / hyp_len))


class SmoothingFunction:
    """The methods of Chen and Cherry (2014), by number; formulas in `evalstats.SentenceBLEU`.

    Method 1 replaces zero matches by `epsilon`, `alpha` weights the trend in method 6, and `k` is K
    of methods 4 and 7.
    """

    def __init__(self, epsilon: float = 0.1, alpha: float = 5, k: float = 5) -> None:
        self.epsilon: float = epsilon
        self.alpha: float = alpha
        self.k: float = k

    def method0(self, p_n: Precisions, *args: Any, **kwargs: Any) -> Any:
        """No smoothing: 0 is replaced by the smallest positive number, with a warning."""
        for order, precision in enumerate(p_n, start=1):
            if precision == 0:
                warnings.warn(
                    f"\nThe hypothesis contains 0 counts of {order}-gram overlaps.\nWithout "
                    "smoothing its BLEU is practically 0 for any other orders.\nUse lower orders "
                    "or a method of SmoothingFunction().",
                    stacklevel=callers_level(),
                )
        return [precision or sys.float_info.min for precision in p_n]

    def method1(self, p_n: Precisions, *args: Any, **kwargs: Any) -> Any:
        """Replace zero matches by epsilon."""
        return floor(*_counts(p_n), self.epsilon).tolist()

    def method2(self, p_n: Precisions, *args: Any, **kwargs: Any) -> Any:
        """Add 1 to matches and n-grams above the unigrams."""
        return add_k(*_counts(p_n), 1.0).tolist()

    def method3(self, p_n: Precisions, *args: Any, **kwargs: Any) -> Any:
        """Halve for every order without a match, like NIST."""
        return exponential(*_counts(p_n)).tolist()

    def method4(
        self, p_n: Any, references: Any, hypothesis: Any, hyp_len: Any = 0, **_: Any
    ) -> Any:
        """Shrink method 3's counts by the logarithm of the length."""
        length = hyp_len or len(hypothesis)
        return _finite(by_length, *_counts(p_n), self.k, length, name="k").tolist()

    def method5(self, p_n: Any, references: Any, hypothesis: Any, *args: Any, **_: Any) -> Any:
        """Average with the neighbouring orders; five-grams follow the last order."""
        following = modified_precision(references, hypothesis, 5)
        return averaged(np.array([*p_n, following], dtype=np.float64)).tolist()

    def method6(self, p_n: Any, references: Any, hypothesis: Any, *args: Any, **_: Any) -> Any:
        """Interpolate with the trend of the orders below, from three-grams on."""
        if len(p_n) < 3 or p_n[2] == 0:
            raise UnusableError(
                "method6 requires a match of three tokens and weights for at least three "
                f"orders, got the precisions {', '.join(map(str, p_n))}; use another method"
            )
        correct, total = _counts(p_n)
        total[2:] = [max(len(hypothesis) - i, 0) for i in range(2, len(p_n))]
        return _finite(interpolated, correct, total, self.alpha, name="alpha").tolist()

    def method7(
        self, p_n: Any, references: Any, hypothesis: Any, hyp_len: Any = 0, **_: Any
    ) -> Any:
        """Apply method 4, then method 5."""
        p_n = self.method4(p_n, references, hypothesis, hyp_len)
        return self.method5(p_n, references, hypothesis)


def _finite(function: Callable[..., Floats], *counts: Any, name: str) -> Floats:
    """Return smoothed precisions, or raise if a parameter divided by zero."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        precisions = function(*counts)
    if not np.all(np.isfinite(precisions)):
        raise UnusableError(f"a precision is infinite with this {name}; use a positive {name}")
    return precisions


def _counts(p_n: Precisions) -> tuple[Floats, Floats]:
    counts = np.array([(p.numerator, p.denominator) for p in p_n], dtype=np.float64)
    return counts[:, 0], counts[:, 1]


def _segment(
    references: Any, hypothesis: Any, names: tuple[str, str]
) -> tuple[TokenList, list[TokenList]]:
    """Return the tokens of a hypothesis and of its references."""
    known = listed(references, names[0], "token lists")
    if not known:
        raise InputError(f"{names[0]} is empty; pass at least one token list")
    labels = [*(f"{names[0]}[{j}]" for j in range(len(known))), names[1]]
    split = []
    for label, value in zip(labels, [*known, hypothesis], strict=True):
        if not isinstance(value, (str, bytes, list, tuple)):
            value = listed(value, label, "tokens")
        split.append(as_token_list(value, label))
    return split[-1], split[:-1]


# As in NLTK: ``from evalstats.compat.nltk.translate.bleu_score import sentence_bleu``, or, by its
# documented name, ``from evalstats.compat.nltk.translate import bleu``.
add_modules(
    __name__,
    {"translate": (__name__, "bleu"), "translate.bleu_score": (__name__, " ".join(__all__))},
)
