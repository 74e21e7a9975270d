"""evaluatio's metrics, intervals and tests, with seeds and checks; `paired` has our test.

References have one entry per segment, a string or a list of strings; `x`, `x1` and `x2` are finite
scores of one or two systems, segment by segment. Unlike `evalstats.compare`, evaluatio's bootstrap
has no correction for few segments; new code should call `estimate` and `compare`.

Words are separated by white space, characters are code points, and tokens of any kind are compared
by ``==``. Error rates are fractions and may exceed 1: infinite against an empty reference, NaN if
both sides are empty. evaluatio's path of an alignment does not always have the fewest edits: one of
several repeated words may be missing without counting as an error. Points of interest are flags,
one for each token of the reference, as in evaluatio's documentation and its `poi_edit_distance`.
Its `poi_error_rate` takes them for the hypothesis: swap the first two arguments to get that number.
New code may prefer `evalstats.WER`, `evalstats.CER`, and `evalstats.token_edits` with `Ratio`, or
`evalstats.compat.evaluatio.edit_paths`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import (
    also_called,
    as_scores,
    check_same_index,
    check_same_length,
    flag,
    integer,
    listed,
    share,
)
from evalstats.compat.evaluatio import paired
from evalstats.compat.evaluatio.edit_paths import as_points, at_points
from evalstats.designs.swaps import randomization_pvalue
from evalstats.errors import InputError, InputTypeError
from evalstats.inference.bootstrap import percentile
from evalstats.inference.families import holm
from evalstats.metrics import BLEU, CHRF, Mean
from evalstats.metrics.error_rates import token_edits
from evalstats.resampling.weighted import MOST_RESAMPLES, bootstrap_totals
from evalstats.resampling.weights import Rng
from evalstats.results import tabular
from evalstats.text.ids import edit_table, matches, token_segments
from evalstats.text.references import as_pairs, as_references, as_texts

Array = NDArray[Any]
Segments = Iterable[Any]
Texts = Iterable[str]

#: Python splits words at the four information separators; Unicode and evaluatio do not.
_SEPARATORS = re.compile("[\x1c-\x1f]")
_WORDS = re.compile(r"(?:\S|[\x1c-\x1f])+")


class ConfidenceInterval(NamedTuple):
    """A confidence interval around an observed score, which evaluatio calls `mean`.

    Examples
    --------
    >>> from evalstats import bleu_ci
    >>> references = [["a cat sat", "a cat"], ["it is so"]]
    >>> found = bleu_ci(references, ["a cat sat", "it was so"], 99, 0.05)
    >>> found.lower <= found.mean <= found.upper
    True
    """

    mean: float
    lower: float
    upper: float

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, one row per field."""
        return tabular.Page([tabular.record_table("interval", self._asdict())]).fragment()


def _resamples(iterations: int) -> int:
    """Return the number of resamples, at least 1."""
    return integer(iterations, "iterations", 1, MOST_RESAMPLES)


# inference.ci and inference.hypothesis


def bootstrap_confidence_interval(
    x: Iterable[float], iterations: int, alpha: float, *, rng: Rng = 12345
) -> ConfidenceInterval:
    """Return the mean of at least one score, with its interval."""
    n_resamples, level = _resamples(iterations), share(alpha, "alpha")
    metric = Mean("mean")
    statistics = metric.statistics(as_scores(x, "x"))
    totals = bootstrap_totals(statistics, n_resamples, rng)
    return _interval(metric.score, statistics, totals, level)


def error_rate_ci(
    counts: Iterable[int],
    exposure: Iterable[int],
    iterations: int,
    alpha: float,
    *,
    rng: Rng = 12345,
) -> ConfidenceInterval:
    """Return the sum of counts over the sum of exposures, with its interval.

    Counts are errors and exposures tokens, whole numbers of at least 0, one of each for every
    segment. A resample without errors and without tokens has no rate, and raises an `InputError`.
    """
    n_resamples, level = _resamples(iterations), share(alpha, "alpha")
    columns: list[NDArray[np.int64]] = []
    for name, value in (("counts", counts), ("exposure", exposure)):
        array = np.asarray(value if isinstance(value, np.ndarray) else list(value))
        if array.size and array.dtype.kind not in "bui":
            raise InputTypeError(f"{name} must be integers, got {array.dtype} values")
        below = np.flatnonzero(as_scores(array, name) < 0)
        if len(below):
            raise InputError(f"{name}[{below[0]}] must not be negative, got {array[below[0]]}")
        columns.append(array.astype(np.int64))
    check_same_length(counts=columns[0], exposure=columns[1])
    statistics = np.stack(columns, axis=1)
    totals = bootstrap_totals(statistics, n_resamples, rng)
    if not np.all(np.any(totals, axis=1)):
        raise InputError(
            f"exposure is 0 in {np.count_nonzero(columns[1] == 0)} of {len(statistics)} "
            "segments, so one resample had no exposure and no errors, and its rate is 0/0. "
            "Leave these segments out."
        )
    return _interval(_rates, statistics, totals, level)


def _interval(
    score: Callable[[Array], Array], statistics: Array, totals: Array, level: float
) -> ConfidenceInterval:
    """Return the score of all segments, `(N, k)`, with bounds from the scores of totals, `(B, k)`.

    These are evaluatio's order statistics, number ⌊α/2·B⌋ and ⌊(1 - α/2)·B⌋.
    """
    n = len(totals)
    low, high = (min(int(np.floor(part * n)), n - 1) for part in (level / 2, 1 - level / 2))
    ordered = np.partition(score(totals), [low, high])
    observed = score(np.sum(statistics, axis=0))
    return ConfidenceInterval(float(observed), float(ordered[low]), float(ordered[high]))


def _rates(statistics: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return errors per token, `(..., 2) -> (...)`: infinite without tokens, NaN for 0/0."""
    numbers = np.asarray(statistics, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numbers[..., 0] / numbers[..., 1])


def paired_bootstrap_test(
    x1: Iterable[float], x2: Iterable[float], iterations: int, *, rng: Rng = 12345
) -> float:
    """Return the two-sided p-value of the centred bootstrap, for two segments or more.

    (count + 1)/(B + 1), with the count of resamples in which ``|Δ* - Δ| >= |Δ|`` (Hall and Wilson,
    1991, first guideline).
    """
    n_resamples, pairs = _resamples(iterations), paired.Pairs(x1, x2, least=2)
    drawn = pairs.mean_difference(bootstrap_totals(pairs.columns, n_resamples, rng))
    return randomization_pvalue(pairs.difference, drawn - pairs.difference, tolerance=pairs.tie)


def paired_permutation_test(
    x1: Iterable[float],
    x2: Iterable[float],
    iterations: int,
    two_tailed: bool = True,
    *,
    exact: bool = False,
    rng: Rng = 12345,
) -> float:
    """Return the p-value of random sign flips; with ``two_tailed=False``, for x1 greater than x2.

    With ``exact=True`` all sign patterns of at most 20 differences are enumerated.
    """
    return paired.paired_permutation_test(
        cast(Any, x1),
        cast(Any, x2),
        alternative="two-sided" if flag(two_tailed, "two_tailed") else "greater",
        exact=flag(exact, "exact"),
        n_resamples=_resamples(iterations),
        rng=rng,
    ).pvalue


# metrics.bleu and metrics.chrf


@also_called(seed="rng")
def bleu_ci(
    references: Iterable[Any],
    hypotheses: Iterable[str],
    iterations: int,
    alpha: float,
    effective_order: bool = True,
    *,
    rng: Rng = 12345,
) -> ConfidenceInterval:
    """Return corpus BLEU with a percentile bootstrap interval; `estimate` gives a better one.

    The bounds are replicates on the 0-100 scale, number ⌊α/2·(B - 1)⌋ and ⌈(1 - α/2)·(B - 1)⌉ in
    order, counted from 0.

    Parameters
    ----------
    references : sequence
        One entry per segment: a list of references, or a string.
    hypotheses : sequence of str
        N outputs.
    iterations : int
        B, the number of resamples.
    alpha : float
        1 minus the confidence of the interval, in (0, 1).
    effective_order : bool
        Whether orders longer than the output are left out, as evaluatio always does.
    rng : int or numpy.random.Generator, optional
        Seed or generator.

    Returns
    -------
    ConfidenceInterval
        `mean`, which is the corpus score, `lower` and `upper`.

    Raises
    ------
    InputError
        For bad input.

    Examples
    --------
    >>> references = [["the cat sat on the mat"], ["it is raining again today"]]
    >>> hypotheses = ["the cat sat on a mat", "it is raining again today"]
    >>> ci = bleu_ci(references, hypotheses, iterations=1000, alpha=0.05)
    >>> round(ci.mean, 2), round(ci.lower, 2), ci.upper
    (74.19, 53.73, 100.0)
    """
    texts, refs = as_pairs(hypotheses, references)
    n_resamples, level = _resamples(iterations), share(alpha, "alpha")
    metric = BLEU(effective_order=effective_order)
    statistics = metric.statistics(texts, refs)
    replicates = metric.score(bootstrap_totals(statistics, n_resamples, rng))
    observed = float(metric.score(np.sum(statistics, axis=0)))
    low = float(np.quantile(replicates, level / 2, method="lower"))
    high = float(np.quantile(replicates, 1 - level / 2, method="higher"))
    return ConfidenceInterval(observed, low, high)


@also_called(seed="rng")
def bleu_bootstrap_test(
    references: Iterable[Any],
    hyp1: Iterable[str],
    hyp2: Iterable[str],
    iterations: int,
    effective_order: bool = True,
    *,
    rng: Rng = 12345,
) -> float:
    """Return how often the worse of two systems is at least as good when segments are resampled.

    It is (count + 1)/(iterations + 1) of Koehn's (2004) paired bootstrap, and 1 for identical
    systems. **This test is one-sided, and its direction comes from the data**: for equal systems it
    falls below 0.05 about 10% of the time, not 5%. `compare` computes a two-sided p-value with the
    right error rate, which is about twice as large.

    Parameters
    ----------
    references : sequence
        One entry per segment: a list of references, or a string.
    hyp1, hyp2 : sequence of str
        N outputs of each system.
    iterations : int
        The number of resamples.
    effective_order, rng
        As in `bleu_ci`.

    Returns
    -------
    float
        In (0, 1].

    Raises
    ------
    InputError
        For bad input.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> worse, better = sample.systems["baseline"], sample.systems["clearly-better"]
    >>> bleu_bootstrap_test(sample.references, worse, better, 99) < 0.05
    True
    """
    check_same_index({"references": references, "hyp1": hyp1, "hyp2": hyp2})
    first, second = as_texts(hyp1, "hyp1"), as_texts(hyp2, "hyp2")
    n_resamples = _resamples(iterations)
    check_same_length(hyp1=first, hyp2=second)
    refs = as_references(references, len(first))
    metric = BLEU(effective_order=effective_order)
    statistics = np.concatenate([metric.statistics(x, refs) for x in (first, second)], axis=1)
    totals = bootstrap_totals(statistics, n_resamples, rng)
    pairs = np.concatenate([np.sum(statistics, axis=0)[None], totals])
    scores = metric.score(pairs.reshape(len(pairs), 2, -1))
    difference, *drawn = (scores[:, 1] - scores[:, 0]).tolist()
    # The better system is the first when the difference is not positive.
    n_reversed: int = sum((x if difference > 0 else -x) <= 0 for x in drawn)
    return (n_reversed + 1) / (n_resamples + 1)


def chrf_ci(
    references: Iterable[Texts],
    hypotheses: Texts,
    iterations: int,
    alpha: float,
    chrf: Any = None,
    seed: int = 0,
    *,
    rng: Rng | Literal["seed"] = "seed",
) -> ConfidenceInterval:
    """Return corpus chrF with a percentile bootstrap interval.

    Without `rng`, evaluatio's draws are reproduced: the same `seed` gives its numbers, except for
    their float32 rounding (about 1e-5). With `rng`, the draws are the same as in `estimate`. `chrf`
    is a `sacrebleu.CHRF` or an `evalstats.CHRF`, by default one with sacreBLEU's defaults.
    """
    n_resamples, level = _resamples(iterations), share(alpha, "alpha")
    metric = _chrf(chrf)
    texts = as_texts(hypotheses)
    statistics = metric.statistics(texts, as_references(references, len(texts)))
    if rng == "seed":
        generator = np.random.default_rng(integer(seed, "seed", 0))
        totals = np.zeros((n_resamples, statistics.shape[1]))
        for _ in range(len(statistics)):
            totals += statistics[generator.integers(0, len(statistics), size=n_resamples)]
    else:
        totals = bootstrap_totals(statistics, n_resamples, rng)
    low, high = map(float, percentile(metric.score(totals), 1 - level))
    return ConfidenceInterval(float(metric.score(np.sum(statistics, axis=0))), low, high)


def chrf_permutation_test(
    references: Iterable[Texts],
    hypotheses1: Texts,
    hypotheses2: Texts,
    iterations: int,
    two_tailed: bool = True,
    chrf: Any = None,
    *,
    rng: Rng = 12345,
) -> float:
    """Return the p-value of random sign flips of the *sentence* scores' differences.

    The mean of sentence scores is not corpus chrF; `evalstats.compare` with ``"chrf"`` tests the
    latter. With ``two_tailed=False`` the test is for system 1 better than system 2.
    """
    metric = _chrf(chrf)
    first, second = as_texts(hypotheses1, "hypotheses1"), as_texts(hypotheses2, "hypotheses2")
    check_same_length(hypotheses1=first, hypotheses2=second)
    refs = as_references(references, len(first))
    x1, x2 = (metric.score(metric.statistics(texts, refs)) for texts in (first, second))
    return paired_permutation_test(x1, x2, iterations, two_tailed, rng=rng)


def _chrf(chrf: Any) -> CHRF:
    """Return our metric with the parameters of sacreBLEU's object."""
    if chrf is None:
        return CHRF()
    from sacrebleu.metrics import chrf as theirs

    if not isinstance(chrf, (CHRF, theirs.CHRF)):
        raise InputTypeError(
            f"chrf must be a sacrebleu.CHRF, an evalstats.CHRF or None, got {type(chrf).__name__}"
        )
    return CHRF(**{option.name: getattr(chrf, option.name) for option in fields(CHRF)})


# metrics.wer, metrics.cer and metrics.uer: one set of functions, for three kinds of token


@dataclass(frozen=True)
class ErrorRate:
    """An error rate by the kind of token that is edited."""

    unit: Literal["word", "character", "token"]

    def count(self, references: Segments, hypotheses: Segments) -> NDArray[np.int64]:
        """Return the fewest edits, and the tokens of the reference, pair by pair, `(N, 2)`."""
        if self.unit == "token":
            return token_edits(hypotheses, references)
        given = {"references": references, "hypotheses": hypotheses}
        lists = {name: listed(value, name, "strings") for name, value in given.items()}
        for name, texts in lists.items():
            for i, text in enumerate(texts):
                if not isinstance(text, str):
                    raise InputTypeError(f"{name}[{i}] must be a string, got {type(text).__name__}")
        check_same_length(**lists)
        refs, hyps = lists.values()
        if self.unit == "character":
            return token_edits(map(list, hyps), map(list, refs))
        hyps, refs = (
            [_WORDS.findall(text) if _SEPARATORS.search(text) else text.split() for text in texts]
            for texts in (hyps, refs)
        )
        return token_edits(hyps, refs)

    def edits_per_pair(self, references: Segments, hypotheses: Segments) -> list[int]:
        """Return the fewest insertions, deletions and substitutions of tokens, pair by pair."""
        return list(map(int, self.count(references, hypotheses)[:, 0]))

    def rate_per_pair(self, references: Segments, hypotheses: Segments) -> list[float]:
        """Return edits per token of the reference, pair by pair."""
        return list(map(float, _rates(self.count(references, hypotheses))))

    def rate(self, references: Segments, hypotheses: Segments) -> float:
        """Return all edits per token of all references."""
        return float(_rates(self.count(references, hypotheses).sum(axis=0)))

    def interval(
        self,
        references: Segments,
        hypotheses: Segments,
        iterations: int,
        alpha: float,
        *,
        rng: Rng = 12345,
    ) -> ConfidenceInterval:
        """Return the corpus rate with a percentile bootstrap interval over segments."""
        edits, lengths = self.count(references, hypotheses).T
        return error_rate_ci(edits, lengths, iterations, alpha, rng=rng)


WORDS, CHARACTERS, TOKENS = ErrorRate("word"), ErrorRate("character"), ErrorRate("token")

word_edit_distance_per_pair = WORDS.edits_per_pair
character_edit_distance_per_pair = CHARACTERS.edits_per_pair
universal_edit_distance_per_pair = TOKENS.edits_per_pair
word_error_rate_per_pair = WORDS.rate_per_pair
character_error_rate_per_pair = CHARACTERS.rate_per_pair
universal_error_rate_per_pair = TOKENS.rate_per_pair
word_error_rate = WORDS.rate
character_error_rate = CHARACTERS.rate
universal_error_rate = TOKENS.rate
word_error_rate_ci = WORDS.interval
character_error_rate_ci = CHARACTERS.interval
universal_error_rate_ci = TOKENS.interval


# alignment and metrics.pier; tokens are of any type


@dataclass(frozen=True)
class Alignment:
    """The span of the hypothesis, `end` exclusive, for the token at `index` of the reference."""

    index: int
    start: int
    end: int


def optimal_alignment(references: Iterable[Any], hypotheses: Iterable[Any]) -> list[Alignment]:
    """Return the span of the hypothesis for every token of the reference, in its order.

    Without tokens on either side there is no span.

    Examples
    --------
    >>> [(a.start, a.end) for a in optimal_alignment(list("abc"), list("abxc"))]
    [(0, 1), (1, 2), (2, 4)]
    """
    ref = listed(references, "references", "tokens")
    hyp = listed(hypotheses, "hypotheses", "tokens")
    if not ref or not hyp:
        return []
    path = _lowest_path(matches(hyp, ref))
    spans = [path[path[:, 1] == index, 0].tolist() for index in range(len(ref))]
    return [Alignment(index, span[0], span[-1] + 1) for index, span in enumerate(spans)]


def _lowest_path(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the path of evaluatio 0.5 from the last pair of tokens to the first, `(L, 2)`.

    It steps to the neighbour with the smallest distance, whatever the cost of the step. On a tie it
    first skips a token of the hypothesis, then of the reference, then of both. The path pairs
    tokens without gaps, every token at least once.
    """
    table = edit_table(same).tolist()
    i, j = same.shape
    path = []
    while i and j:
        path.append((i - 1, j - 1))
        steps = ((i - 1, j), (i, j - 1), (i - 1, j - 1))
        i, j = min(steps, key=lambda step: table[step[0]][step[1]])
    return np.array(path[::-1], dtype=np.int64).reshape(-1, 2)


def poi_edit_distance(
    references: Iterable[Any], hypotheses: Iterable[Any], points_of_interest: Iterable[bool]
) -> int:
    """Return the errors at points of interest of one pair."""
    ref = listed(references, "references", "tokens")
    hyp = listed(hypotheses, "hypotheses", "tokens")
    return _errors(hyp, ref, as_points(points_of_interest, len(ref), "points_of_interest"))


def poi_error_rate(
    references: Iterable[Iterable[Any]],
    hypotheses: Iterable[Iterable[Any]],
    points_of_interest: Iterable[Iterable[bool]],
) -> float:
    """Return errors per point of interest of all pairs, NaN if there is no such point."""
    refs = token_segments(references, "references")
    hyps = token_segments(hypotheses, "hypotheses")
    flags = listed(points_of_interest, "points_of_interest", "flags, one list per segment")
    check_same_length(references=refs, hypotheses=hyps, points_of_interest=flags)
    masks = [
        as_points(row, len(ref), f"points_of_interest[{i}]")
        for i, (row, ref) in enumerate(zip(flags, refs, strict=True))
    ]
    errors = sum(map(_errors, hyps, refs, masks))
    n_points = sum(int(np.count_nonzero(mask)) for mask in masks)
    return errors / n_points if n_points else float("nan")


def _errors(hyp: list[Any], ref: list[Any], points: NDArray[np.bool_]) -> int:
    if not hyp:
        # Every token of the reference is missing on any path.
        return int(np.count_nonzero(points))
    same = matches(hyp, ref)
    return at_points(_lowest_path(same), same, points)


Floats = NDArray[np.float64]

#: A standard deviation below this share of the scores is rounding.
_NO_SPREAD = 8 * np.finfo(np.float64).eps


def cohens_d(x1: ArrayLike, x2: ArrayLike) -> float:
    r"""Return Cohen's d of two independent samples, which may differ in length.

    .. math:: d = \frac{\bar x_1 - \bar x_2}{s}, \quad
        s^2 = \frac{(n_1 - 1) s_1^2 + (n_2 - 1) s_2^2}{n_1 + n_2 - 2}

    with variances over :math:`n_i - 1` (Cohen, 1988, "Statistical Power Analysis for the
    Behavioral Sciences", section 2.5).

    Examples
    --------
    >>> round(cohens_d([1, 2, 3, 4], [2, 3, 4, 5]), 4)
    -0.7746
    """
    first, second = as_scores(x1, "x1"), as_scores(x2, "x2")
    for scores, name in ((first, "x1"), (second, "x2")):
        if len(scores) < 2:
            raise InputError(f"{name} has 1 score, but a standard deviation requires at least two")
    pooled = np.sum((first - np.mean(first)) ** 2) + np.sum((second - np.mean(second)) ** 2)
    spread = np.sqrt(pooled / (len(first) + len(second) - 2))
    difference = np.mean(first) - np.mean(second)
    return _standardised(float(difference), float(spread), first, second)


#: evaluatio's name for it.
cohens_d_independent = cohens_d


def cohens_d_paired(x1: ArrayLike, x2: ArrayLike) -> float:
    r"""Return Cohen's d of two systems' scores on the same segments.

    .. math:: d_z = \bar d / s_d, \quad d_i = x_{1i} - x_{2i}

    with the variance over N - 1 (Cohen, 1988, section 2.3.5). Not on the scale of `cohens_d`,
    because difficulty shared by both systems cancels.

    Examples
    --------
    >>> cohens_d_paired([1, 2, 3, 4], [0, 3, 4, 5])
    -0.5
    """
    pairs = paired.as_paired_scores(x1, x2)
    if len(pairs) < 2:
        raise InputError("x1 has 1 score, but a standard deviation requires at least two")
    differences = pairs[:, 0] - pairs[:, 1]
    spread = float(np.std(differences, ddof=1))
    return _standardised(float(np.mean(differences)), spread, *pairs.T)


def _standardised(difference: float, spread: float, *scores: Floats) -> float:
    """Divide a difference by a standard deviation, with rounding treated as 0."""
    rounding = _NO_SPREAD * max(float(np.max(np.abs(x))) for x in scores)
    if spread > rounding:
        return difference / spread
    return float(np.copysign(np.inf, difference)) if abs(difference) > rounding else float("nan")


@dataclass
class MultipleTestingResult:
    """Adjusted p-values, and whether they are at most `alpha`, the family-wise error rate."""

    rejected: NDArray[np.bool_]
    adjusted_pvalues: Floats
    method: str
    alpha: float


def holm_correction(pvalues: Iterable[float], alpha: float = 0.05) -> MultipleTestingResult:
    """Adjust by Holm's (1979) step-down method."""
    return _corrected(pvalues, alpha, holm, "holm")


def bonferroni_correction(pvalues: Iterable[float], alpha: float = 0.05) -> MultipleTestingResult:
    """Multiply by the number of tests (Dunn, 1961)."""
    return _corrected(pvalues, alpha, lambda p: np.minimum(p * p.size, 1.0), "bonferroni")


def _corrected(
    pvalues: Iterable[float], alpha: float, adjust: Callable[[Floats], Floats], method: str
) -> MultipleTestingResult:
    given = pvalues if isinstance(pvalues, np.ndarray) else list(pvalues)
    # An empty list is allowed: a script may have no tests.
    p = as_scores(given, "pvalues") if len(given) else np.empty(0)
    outside = np.flatnonzero((p < 0) | (p > 1))
    if len(outside):
        raise InputError(f"pvalues[{outside[0]}] must be between 0 and 1, got {p[outside[0]]:g}")
    level, adjusted = share(alpha, "alpha"), adjust(p)
    return MultipleTestingResult(adjusted <= level, adjusted, method, level)
