"""BLEU of single segments, between 0 and 1, for every smoothing method in use.

Segments are text or lists of hashable tokens; equal tokens match. Lists are counted all at once
with the arrays of `BLEU`, except for a single segment, for which a simple loop is faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import check_same_index, flag, integer, listed, number, real
from evalstats.compat.smoothing import Smoothing, as_smoothing, name_of
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import MOST_ORDER, Configured, Floats, signature_of
from evalstats.metrics.bleu import BLEU, brevity_penalty
from evalstats.text.ids import learn_ids, look_up_ids
from evalstats.text.ngrams import PreparedReferences, bleu_statistics
from evalstats.text.ragged import offsets_of
from evalstats.text.references import References, as_references, as_texts, check_segments
from evalstats.text.tokenization import from_lists, sacrebleu_version, tokenize_blocks

TokenList = Sequence[Hashable]

#: Tolerance for the sum of weights, for example (0.333, 0.333, 0.334).
WEIGHT_TOLERANCE = 1e-6
_ROW = (list, tuple, np.ndarray)


@dataclass(frozen=True)
class SentenceBLEU(Configured):
    r"""BLEU of every segment separately, 0 to 1.

    .. math:: \min(1, e^{1 - r/c}) \cdot \exp\Big(\sum_{n} w_n \log p_n\Big)

    with c the output's length, r the closest reference length (the shorter one on a tie), w_n the
    weights and p_n the smoothed precision of clipped n-gram matches (Papineni, Roukos, Ward and
    Zhu, 2002). Without smoothing, an order without a match makes the score 0.

    Smoothing methods have the names of sacreBLEU (``"none"``, ``"exp"``, ``"floor"``, ``"add-k"``),
    of axion (``"add-one"``) and of NLTK (``"method0"`` to ``"method7"``, after Chen and Cherry,
    2014); `evalstats.compat.smoothing` has their formulas. Methods 5 and 7 exceed 1 for outputs
    that match well, and method 6 may exceed 1 if two-grams match better than tokens.

    Parameters
    ----------
    max_order : int
        Highest n-gram order, 1 to 999.
    weights : sequence of float, or several of them, optional
        w_1, w_2, ... of at most `max_order` orders (the rest weigh 0), non-negative with sum 1;
        by default all equal. With W sequences every score becomes W scores.
    smoothing : str or callable
        A method's name, or a function of `(correct, total)`, float arrays `(..., max_order)`, that
        returns the precisions in the same shape.
    tokenize : str or callable
        How strings are split: sacreBLEU's tokeniser name (``"13a"``, ``"intl"``, ``"char"``, ...),
        ``"none"`` or ``"whitespace"`` to split at whitespace only, or a function from a string to a
        list of tokens. Token lists are not changed.
    case_sensitive : bool
        If False, everything is lowercased first.
    threshold : float, optional
        The least score that passes; see `passed`.
    smooth_value : float, optional
        The parameter of the method, positive.
    effective_order : bool, optional
        Whether orders longer than the output are left out, with the other weights rescaled to sum
        to 1. The default is that of the package that the smoothing is named after: False for
        ``"add-k"`` and for NLTK's methods, which count such an order as one n-gram without a match.

    Raises
    ------
    InputError
        For an unknown name, a value out of range, and weights that do not sum to 1.

    Notes
    -----
    An output without any match scores 0 with all smoothing methods except ``"add-one"`` (axion).
    NLTK 3.10 raises an error for method 6 without three-gram matches, and its methods 5 and 7
    always use five-grams; here the formulas are used in all cases.

    Examples
    --------
    >>> bleu = SentenceBLEU()
    >>> round(bleu.score("The cat sat on a mat.", ["The cat sat on the mat.", "A cat sat."]), 4)
    0.4889
    >>> bleu.scores(["it rains", "no"], ["it rains", ["yes", "no"]]).round(4).tolist()
    [1.0, 1.0]

    BLEU-1, BLEU-2 and BLEU-4 of a token list, smoothed as NLTK's ``method1``:

    >>> weights = [(1.0,), (0.5, 0.5), (0.25, 0.25, 0.25, 0.25)]
    >>> bleu = SentenceBLEU(weights=weights, smoothing="method1")
    >>> bleu.score("the cat sat on a mat".split(), ["the cat sat on the mat".split()]).round(4)
    array([0.8333, 0.7071, 0.5373])
    """

    max_order: int = 4
    weights: Sequence[float] | Sequence[Sequence[float]] | None = None
    smoothing: str | Callable[[Floats, Floats], Floats] = "exp"
    tokenize: str | Callable[[str], Sequence[Any]] = "13a"
    case_sensitive: bool = True
    threshold: float | None = None
    smooth_value: float | None = field(default=None, kw_only=True)
    effective_order: bool | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        vars(self).update(
            max_order=integer(self.max_order, "max_order", 1, MOST_ORDER - 1),
            case_sensitive=flag(self.case_sensitive, "case_sensitive"),
        )
        if self.effective_order is not None:
            vars(self).update(effective_order=flag(self.effective_order, "effective_order"))
        for name in ("threshold", "smooth_value"):
            if getattr(self, name) is not None:
                vars(self)[name] = number(getattr(self, name), name, 0.0)
        if self.weights is not None:
            # Tuples, so that configurations with equal weights are equal.
            rows = listed(self.weights, "weights", "numbers")
            rows = [tuple(row) if isinstance(row, _ROW) else row for row in rows]
            vars(self).update(weights=tuple(rows))
        _ = self._smoothing, self._weights
        if isinstance(self.tokenize, str):
            _ = self._bleu
        elif not callable(self.tokenize):
            raise InputTypeError(
                f"tokenize must be a name or a function from a string to a list of tokens, "
                f"got {type(self.tokenize).__name__}"
            )

    @cached_property
    def _smoothing(self) -> Smoothing:
        method = as_smoothing(self.smoothing, self.smooth_value)
        chosen = self.effective_order
        return method if chosen is None else replace(method, effective=chosen)

    @cached_property
    def _weights(self) -> Floats:
        return weight_matrix(self.weights, self.max_order)

    @property
    def _order(self) -> int:
        return self.max_order + self._smoothing.ahead

    @cached_property
    def _bleu(self) -> BLEU:
        """The metric that counts n-grams of strings; it checks the name of the tokeniser."""
        return BLEU(
            lowercase=not self.case_sensitive,
            tokenize="none" if self.tokenize == "whitespace" else str(self.tokenize),
            max_ngram_order=self._order,
        )

    @property
    def signature(self) -> str:
        """The settings that identify the computation, as ``key:value|key:value``."""
        smooth = self._smoothing.name
        if self._smoothing.value is not None:
            smooth += f"[{self._smoothing.value:g}]"
        named = isinstance(self.tokenize, str)
        rows = ("/".join(f"{weight:g}" for weight in row) for row in self._weights)
        return signature_of(
            order=self.max_order,
            case="mixed" if self.case_sensitive else "lc",
            eff=self._smoothing.effective,
            tok=self._bleu.tokenizer if named else f"custom:{name_of(self.tokenize)}",
            smooth=smooth,
            **({} if self.weights is None else {"weights": ",".join(rows)}),
            sacrebleu=sacrebleu_version(),
        )

    def score(self, hypothesis: str | TokenList, references: Any) -> float | Floats:
        """Score one segment: a float, or `(W,)` with several weights.

        References are a string or a list of strings, with `None` for an absent one; for a list of
        tokens, a list of token lists, or one token list. Mixing text and token lists raises an
        `InputTypeError`, and a segment without a reference an `InputError`.
        """
        if isinstance(hypothesis, str):
            if isinstance(references, References):
                raise InputTypeError(
                    "references contains a whole test set; use scores() with all outputs"
                )
            (entry,) = as_references([references], 1)
            tokens, *rest = self._tokenized([hypothesis, *entry])
        else:
            (tokens,) = self._cased([as_token_list(hypothesis, "hypothesis")])
            rest = self._cased(as_token_lists(references, "references"))
        result = self.from_statistics(segment_statistics(tokens, rest, self._order))
        return float(result) if result.ndim == 0 else result

    def scores(self, hypotheses: Any, references: Any) -> Floats:
        """Score N outputs, strings or token lists, `(N,)`, or `(N, W)` with several weights.

        `references` are one entry per segment, each as in `score`, or a `References`. sacreBLEU's
        layout, one list per stream, goes through `evalstats.from_streams`.
        """
        return self.from_statistics(self.statistics(hypotheses, references))

    def statistics(self, hypotheses: Any, references: Any) -> NDArray[np.int64]:
        """Count every segment, `(N, 2·m + 2)`: sys_len, ref_len, correct_1..m, total_1..m.

        m is `max_order`, plus one for methods 5 and 7.
        """
        check_same_index({"hypotheses": hypotheses, "references": references})
        outputs = listed(hypotheses, "hypotheses", "strings or token lists")
        if outputs and not isinstance(outputs[0], (str, type(None))):
            lists = [as_token_list(entry, f"hypotheses[{i}]") for i, entry in enumerate(outputs)]
            if isinstance(references, References):
                raise InputTypeError(
                    "references contains strings but hypotheses contains token lists"
                )
            entries = listed(references, "references", "one entry per segment")
            check_segments(len(entries), len(lists))
            known = [
                self._cased(as_token_lists(entry, f"references[{i}]"))
                for i, entry in enumerate(entries)
            ]
            return corpus_statistics(self._cased(lists), known, self._order)
        texts = as_texts(outputs)
        refs = as_references(references, len(texts))
        if isinstance(self.tokenize, str):
            return self._bleu.statistics(texts, refs)
        split = iter(self._tokenized(refs.texts))
        by_segment = [[next(split) for _ in range(count)] for count in refs.counts.tolist()]
        return corpus_statistics(self._tokenized(texts), by_segment, self._order)

    def from_statistics(self, statistics: ArrayLike) -> Floats:
        """Score rows of statistics, `(..., 2·m + 2) -> (...)`, or `(..., W)`; see `statistics`."""
        rows = np.asarray(statistics, dtype=np.float64)
        m, n = self._order, self.max_order
        if rows.shape[-1:] != (2 * m + 2,):
            raise InputError(
                f"statistics must have {2 * m + 2} columns (sys_len, ref_len, {m} correct, "
                f"{m} total), got shape {rows.shape}"
            )
        correct, total = rows[..., 2 : 2 + m], rows[..., 2 + m :]
        precisions = np.asarray(self._smoothing.precisions(correct, total), dtype=np.float64)
        if precisions.shape != (*rows.shape[:-1], n):
            raise InputError(
                f"smoothing must return precisions of shape {(*rows.shape[:-1], n)}, "
                f"got {precisions.shape}"
            )
        counting = np.ones(precisions.shape, np.bool_)
        if self._smoothing.effective:
            counting = total[..., :n] > 0
        if np.any(counting & ~(precisions >= 0)):
            raise InputError(
                "smoothing must return precisions of at least 0, but some are negative or NaN"
            )
        means = geometric_mean(precisions, self._weights, counting)
        result = brevity_penalty(rows[..., 0], rows[..., 1])[..., None] * means
        if not self._smoothing.scores_unmatched:
            result = np.where(correct[..., :1] == 0, 0.0, result)
        several = self.weights is not None and isinstance(self.weights[0], tuple)
        return result if several else result[..., 0]

    def passed(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Return which scores reach the threshold, `(...) -> (...)`."""
        if self.threshold is None:
            raise InputError("threshold is not set; use SentenceBLEU(threshold=...)")
        return np.asarray(scores, dtype=np.float64) >= self.threshold

    def _tokenized(self, texts: Sequence[str]) -> list[TokenList]:
        if isinstance(self.tokenize, str):
            blocks = tokenize_blocks(texts, self._bleu.tokenizer, self._bleu.lowercase)
            return [tokens for block in blocks for tokens in block.lists()]
        cased = texts if self.case_sensitive else [text.lower() for text in texts]
        return [as_token_list(self.tokenize(t), "the result of tokenize") for t in cased]

    def _cased(self, lists: list[TokenList]) -> list[TokenList]:
        if self.case_sensitive:
            return lists
        return [[t.lower() if isinstance(t, str) else t for t in tokens] for tokens in lists]


def geometric_mean(precisions: Floats, weights: Floats, counting: NDArray[np.bool_]) -> Floats:
    """Return weighted geometric means, `(..., n)` and `(W, n)` to `(..., W)`.

    Orders that do not count are left out and the other weights rescaled to sum to 1; 0 if no order
    of positive weight counts.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(precisions)[..., None, :]
    used = counting[..., None, :] & (weights > 0)
    sums = np.sum(np.where(used, weights * np.where(used, logs, 0.0), 0.0), axis=-1)
    share = np.sum(np.where(used, weights, 0.0), axis=-1)
    rescaled = np.divide(sums, share, where=share > 0, out=np.full(sums.shape, -np.inf))
    # If all orders count, the weights are used unchanged, to the last bit.
    return np.asarray(np.exp(np.where(np.all(counting, axis=-1)[..., None], sums, rescaled)))


def weight_matrix(weights: object, max_order: int) -> Floats:
    """Return weights as a matrix `(W, max_order)`, checked, shorter ones filled with zeros."""
    if weights is None:
        return np.full((1, max_order), 1.0 / max_order)
    given = listed(weights, "weights", "numbers")
    if not given:
        raise InputError("weights is empty; pass one weight for each order")
    several = [isinstance(entry, _ROW) for entry in given]
    if any(several) and not all(several):
        raise InputTypeError("weights mixes numbers and lists; pass one list, or a list of lists")
    rows = given if all(several) else [given]
    matrix = np.zeros((len(rows), max_order))
    for i, row in enumerate(rows):
        name = f"weights[{i}]" if all(several) else "weights"
        numbers = [real(weight, f"{name}[{j}]", 0.0) for j, weight in enumerate(row)]
        if len(numbers) > max_order:
            raise InputError(
                f"{name} has {len(numbers)} entries but max_order is {max_order}; pass "
                f"max_order={len(numbers)}"
            )
        if abs(sum(numbers) - 1.0) > WEIGHT_TOLERANCE:
            raise InputError(f"{name} must sum to 1, got {sum(numbers):.6g}; divide by the sum")
        matrix[i, : len(numbers)] = numbers
    return matrix


def clipped_counts(
    hypothesis: TokenList, references: Sequence[TokenList], n: int
) -> tuple[int, int]:
    """Count the n-grams of a hypothesis: those that match, clipped, and all of them.

    An n-gram matches at most as often as in the reference that contains it most often.
    """
    counts = _ngrams(hypothesis, n)
    most: Counter[Any] = Counter()
    for reference in references:
        most |= _ngrams(reference, n)
    return (counts & most).total(), max(len(hypothesis) - n + 1, 0)


def _ngrams(tokens: TokenList, n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def closest_length(references: Sequence[TokenList], length: int) -> int:
    """Return the reference length closest to `length`, the shorter of two equally close."""
    return min((abs(len(reference) - length), len(reference)) for reference in references)[1]


def segment_statistics(
    hypothesis: TokenList, references: Sequence[TokenList], order: int
) -> NDArray[np.int64]:
    """Count one segment, `(2·order + 2,)` in the layout of `BLEU`."""
    counts = [clipped_counts(hypothesis, references, n) for n in range(1, order + 1)]
    correct, total = zip(*counts, strict=True)
    lengths = len(hypothesis), closest_length(references, len(hypothesis))
    return np.array([*lengths, *correct, *total], dtype=np.int64)


def corpus_statistics(
    hypotheses: Sequence[TokenList], references: Sequence[Sequence[TokenList]], order: int
) -> NDArray[np.int64]:
    """Count N segments at once, `(N, 2·order + 2)` in the layout of `BLEU`."""
    counts = np.fromiter(map(len, references), dtype=np.int64, count=len(references))
    ids, vocabulary = learn_ids([from_lists(chain.from_iterable(references))])
    prepared = PreparedReferences(ids, offsets_of(counts), order, merged=True)
    return bleu_statistics(look_up_ids([from_lists(hypotheses)], vocabulary), prepared)


def as_token_list(value: object, name: str) -> TokenList:
    """Return a list of hashable tokens unchanged; unsplit text is refused."""
    if isinstance(value, (str, bytes)):
        raise InputTypeError(
            f"{name} must be a list of tokens, got a bare {type(value).__name__}; split it into "
            "words, or use list(text) for characters"
        )
    if not isinstance(value, (list, tuple)):
        raise InputTypeError(f"{name} must be a list of tokens, got {type(value).__name__}")
    try:
        set(value)
    except TypeError:
        bad = next(token for token in value if getattr(token, "__hash__", None) is None)
        raise InputTypeError(
            f"{name} must contain hashable tokens such as strings, got a {type(bad).__name__}"
        ) from None
    return value


def as_token_lists(value: object, name: str) -> list[TokenList]:
    """Return the references of one segment as token lists; one list of tokens is one reference."""
    if not isinstance(value, (list, tuple)):
        raise InputTypeError(
            f"{name} must be a list of token lists, because the hypothesis is a token list; got "
            f"{type(value).__name__}"
        )
    present = [entry for entry in value if entry is not None]
    if not present:
        raise InputError(f"{name} is {value!r}, so the segment has no reference")
    if any(isinstance(entry, (list, tuple)) for entry in present):
        return [as_token_list(entry, f"{name}[{j}]") for j, entry in enumerate(present)]
    spaced = [token for token in present if isinstance(token, str) and len(token.split()) != 1]
    if spaced:
        raise InputTypeError(
            f"{name} contains {spaced[0]!r}, which is more than one token, but the hypothesis is "
            "a token list. Split every reference into tokens."
        )
    return [as_token_list(present, name)]
