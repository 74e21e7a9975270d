"""BLEU (Papineni et al., 2002) with sacreBLEU's parameters, defaults and 0-100 scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import choice, flag, integer, number
from evalstats.errors import InputTypeError
from evalstats.metrics.base import MOST_ORDER, Floats, Metric, keep, signature_of
from evalstats.metrics.smoothing import METHODS
from evalstats.text.ngrams import bleu_statistics, shared_ngrams
from evalstats.text.references import as_pairs
from evalstats.text.tokenization import (
    LANGUAGES,
    check_tokenizer,
    sacrebleu_version,
    tokenize_blocks,
    unsplit,
)

SMOOTH_METHODS = tuple(METHODS)
#: Tokenisers that need nothing beyond sacreBLEU: checking one imports nothing.
BUNDLED_TOKENIZERS = ("none", "zh", "13a", "intl", "char")
_LANGUAGE_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
#: Subword tokenisers, which suit all languages.
_SUBWORDS = ("spm", "flores101", "flores200", "spBLEU-1K")


@dataclass(frozen=True)
class BLEU(Metric):
    r"""Corpus BLEU: geometric mean of clipped n-gram precisions times a brevity penalty.

    .. math:: 100 \cdot \min(1, e^{1 - r/c}) \cdot \exp\Big(\frac1n \sum_{i=1}^n \log p_i\Big)

    with c the system's length, r the sum over segments of the closest reference length (the
    shorter one on a tie) and p_i the share of the system's i-grams that occur in a reference, each
    at most as often as in the reference that has it most often (Papineni, Roukos, Ward and Zhu,
    2002). Parameters, defaults and numbers are sacreBLEU's (Post, 2018).

    Parameters
    ----------
    lowercase : bool
        Lowercase before tokenising.
    tokenize : str, optional
        sacreBLEU's name of the tokeniser; by default ``"13a"``, or the tokeniser for `trg_lang`.
    smooth_method : {"exp", "floor", "add-k", "none"}
        How to replace a precision of zero (Chen and Cherry, 2014).
    smooth_value : float, optional
        Value for ``"floor"`` (default 0.1) and ``"add-k"`` (default 1), at least 0; the other
        methods have no parameter and ignore it, as in sacreBLEU.
    max_ngram_order : int
        Highest n-gram order n, 1 to 1,000.
    effective_order : bool
        Leave out orders longer than the output (recommended for single segments).
    trg_lang : str
        Target language code, which chooses the tokeniser for ``zh``, ``ja`` and ``ko``.

    Raises
    ------
    InputError
        For an unknown tokeniser or smoothing method, and for a value out of range.

    Examples
    --------
    >>> bleu = BLEU()
    >>> rows = bleu.statistics(["the cat sat on a mat"], ["the cat sat on the mat"])
    >>> rows.tolist()
    [[6, 6, 5, 3, 2, 1, 6, 5, 4, 3]]
    >>> print(bleu.score(rows.sum(axis=0)).round(2))
    53.73
    """

    lowercase: bool = False
    tokenize: str | None = None
    smooth_method: str = field(default="exp", metadata={"choices": SMOOTH_METHODS})
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool = False
    trg_lang: str = ""
    name = "BLEU"
    bounds: ClassVar[tuple[float, float]] = 0.0, 100.0
    counts = True
    # These follow from the options, like `columns`; `__post_init__` sets them. : Name of the
    # tokeniser in use: `tokenize`, or the default for `trg_lang`.
    tokenizer: ClassVar[str]
    #: Function of matches and n-grams for the smoothing method, and its third argument, if any.
    _smoothing: ClassVar[tuple[Callable[..., Floats], tuple[float, ...]]]
    #: The addition of add-k smoothing to the counts of each order, `(order,)`.
    _added: ClassVar[Floats]
    doubt: ClassVar[str] = (
        "every output is shorter than the longest n-gram, so the score is always 0. Use chrF, "
        "effective_order=True (--effective-order) or a lower max_ngram_order (--max-ngram-order)"
    )

    def __post_init__(self) -> None:
        keep(
            self,
            lowercase=flag(self.lowercase, "lowercase"),
            effective_order=flag(self.effective_order, "effective_order"),
            smooth_method=choice(self.smooth_method, SMOOTH_METHODS, "smooth_method"),
            max_ngram_order=integer(self.max_ngram_order, "max_ngram_order", 1, MOST_ORDER),
        )
        if not isinstance(self.trg_lang, str):
            raise InputTypeError(f"must be a string, got {self.trg_lang!r}", argument="trg_lang")
        if self.smooth_value is not None:
            keep(self, smooth_value=number(self.smooth_value, "smooth_value", 0.0))
        tokenizer = _LANGUAGE_TOKENIZERS.get(self.trg_lang, "13a")
        keep(self, tokenizer=tokenizer if self.tokenize is None else self.tokenize)
        if self.tokenizer not in BUNDLED_TOKENIZERS:
            check_tokenizer(self.tokenizer)
        function, default = METHODS[self.smooth_method]
        value = default if self.smooth_value is None else float(self.smooth_value)
        taken = () if default is None or value is None else (value,)
        added = np.zeros(self.max_ngram_order)
        if self.smooth_method == "add-k":
            added[1:] = value
        orders = range(1, self.max_ngram_order + 1)
        counts = [f"{kind}_{n}" for kind in ("correct", "total") for n in orders]
        columns = ("sys_len", "ref_len", *counts)
        keep(self, _smoothing=(function, taken), _added=added, columns=columns)

    @property
    def signature(self) -> str:
        """The signature, in sacreBLEU's form."""
        smooth = self.smooth_method
        for value in self._smoothing[1]:
            smooth += f"[{value:.2f}]"
        order = {"order": self.max_ngram_order} if self.max_ngram_order != 4 else {}
        return signature_of(
            case="lc" if self.lowercase else "mixed",
            eff=self.effective_order,
            tok=self.tokenizer,
            smooth=smooth,
            **order,
            sacrebleu=sacrebleu_version(),
        )

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[np.int64]:
        """Return `(N, 2·order + 2)`: sys_len, ref_len, correct_1..n, total_1..n per segment."""
        texts, refs = as_pairs(hypotheses, references)
        how = (tokenize_blocks, self.tokenizer, self.lowercase)
        return bleu_statistics(*shared_ngrams(refs, texts, self.max_ngram_order, True, *how))

    def unsuited(self, language: str) -> str:
        """Return which tokeniser to use if this one does not split the language, or ""."""
        language = language or self.trg_lang
        suited = _LANGUAGE_TOKENIZERS.get(language)
        split = (suited, "char", *_SUBWORDS)
        if language not in LANGUAGES or self.tokenizer in split:
            return ""
        return (
            f"{self.tokenizer} does not split {LANGUAGES[language]} into words. Use the tokenizer "
            f"{f'{suited}, ' if suited else ''}char or flores200 (tokenize, -tok)"
        )

    def doubtful(self, totals: Floats) -> NDArray[np.bool_]:
        """Return which systems have only outputs without the longest n-grams, `(S, k) -> (S,)`."""
        has_longest = totals[:, -1] > 0
        return np.asarray(~has_longest & (totals[:, 0] > 0) & (not self.effective_order))

    def unread(self, texts: Sequence[str]) -> str:
        """Return that the tokenizer does not split these texts, and what to use, or ""."""
        if "".join(texts).isascii():
            return ""
        rows = self.statistics(texts, list(texts))
        why = unsplit(texts, int(np.sum(rows[:, 0])))
        return why and f"{why}. Use chrF (-m chrf), or the tokenizer char or flores200"

    def score(self, totals: ArrayLike) -> Floats:
        """Score summed statistics, `(..., 2·order + 2) -> (...)`, in [0, 100].

        Zero if nothing matches, whatever the smoothing (sacreBLEU, issue 141).
        """
        sums = np.asarray(totals, dtype=np.float64)
        correct, total = np.split(sums[..., 2:], 2, axis=-1)
        used = self._used(total)
        function, taken = self._smoothing
        with np.errstate(divide="ignore"):
            logs = np.log(function(correct, total, *taken))
        # Summed order by order, so that a row has the same score alone and among others.
        logs = np.where(used, logs, 0.0)
        sum_of_logs = sum(logs[..., n] for n in range(self.max_ngram_order))
        mean_log = sum_of_logs / np.maximum(np.sum(used, axis=-1), 1)
        score = 100.0 * brevity_penalty(sums[..., 0], sums[..., 1]) * np.exp(mean_log)
        return np.where(np.any(correct != 0, axis=-1), score, 0.0)

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse more matches than n-grams, and more long n-grams than short ones."""
        super().check_statistics(statistics)
        correct, total = np.split(statistics[..., 2:], 2, axis=-1)
        self._refuse(np.any(correct > total, axis=-1), "has more matches than n-grams")
        self._refuse(total[..., 0] != statistics[..., 0], "does not have one unigram per token")
        longer = np.any(total[..., 1:] > total[..., :-1], axis=-1)
        self._refuse(longer, "has more long n-grams than short ones")

    def _used(self, total: Floats) -> NDArray[np.bool_]:
        """Return which orders count, `(..., order)`: all before the first one without n-grams."""
        if not self.effective_order:
            return np.ones(total.shape, dtype=np.bool_)
        # sacreBLEU adds k before it determines which orders count.
        there = total + self._added > 0
        return there if np.all(there) else np.logical_and.accumulate(there, axis=-1)

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, `(..., 2·order + 2) -> (..., 2·order + 2)`.

        At the kink of the brevity penalty, sys_len = ref_len, it is the one-sided gradient without
        a penalty. If the score is 0, the gradient is 0.
        """
        sums = np.asarray(totals, dtype=np.float64)
        order = self.max_ngram_order
        score = self.score(sums)
        sys_len, ref_len = sums[..., 0], sums[..., 1]
        correct, total = np.split(sums[..., 2:], 2, axis=-1)
        used = self._used(total)
        shares = score / np.maximum(np.sum(used, axis=-1), 1)
        weight = np.where(used, shares[..., None], 0.0)
        correct, total = correct + self._added, total + self._added
        result = np.zeros(sums.shape)
        short = (sys_len < ref_len) & (sys_len > 0)
        np.divide(score * ref_len, sys_len**2, where=short, out=result[..., 0])
        np.divide(-score, sys_len, where=short, out=result[..., 1])
        # A smoothed precision does not depend on the matches, which are zero there.
        np.divide(weight, correct, where=correct > 0, out=result[..., 2 : 2 + order])
        np.divide(-weight, total, where=total > 0, out=result[..., 2 + order :])
        return result


def brevity_penalty(sys_len: Floats, ref_len: Floats) -> Floats:
    """Return exp(min(0, 1 - r/c)), 0 for an empty output (Papineni et al., 2002)."""
    ratio = np.divide(ref_len, sys_len, where=sys_len > 0, out=np.ones(np.shape(sys_len)))
    penalty = np.exp(np.minimum(0.0, 1.0 - ratio))
    return np.where((sys_len == 0) & (ref_len > 0), 0.0, penalty)
