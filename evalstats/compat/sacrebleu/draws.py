"""sacreBLEU's two paired tests, draw for draw: its p-values and their replicates.

`--paired-bs` draws segment numbers, `--paired-ar` draws masks, both from NumPy's default generator
seeded with `$SACREBLEU_SEED`. The same draws are made here, one block at a time, and a product of
weights or masks with the statistics of all systems and metrics replaces its loops. P-values are
lists, one per metric, with one value per system except the baseline.

sacreBLEU counts `difference > observed`, for the bootstrap in float32. Ties depend on rounding, so
its p-values can only be reproduced by its own operations in its order and dtype: float32 totals for
the bootstrap, whole numbers for randomisation. The metrics are sacreBLEU's objects, together with
ours.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import METRICS
from sacrebleu.metrics import bleu as _bleu

from evalstats.errors import InputError
from evalstats.metrics import BLEU, CHRF, TER, Metric

Array = NDArray[Any]

#: Our metrics by the names of sacreBLEU's classes.
OURS: dict[str, type[Metric]] = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}

#: Draws or masks per block, to bound memory; results do not depend on it.
_BLOCK = 1 << 21


def from_sacrebleu(metric: Any) -> Metric | None:
    """Return our metric with the current settings of sacreBLEU's object.

    `None` for objects that may count differently: of a derived class, or with a tokeniser that is
    not sacreBLEU's. Settings out of range that sacreBLEU would accept raise an `InputError`.
    """
    kind = kind_of(metric)
    if kind is None:
        return None
    options = _options(OURS[kind], metric)
    if kind != "BLEU":
        return made_of(kind, options)
    for name, path in _bleu._TOKENIZERS.items():
        module, _, class_name = path.rpartition(".")
        # A class with an object is already loaded.
        loaded = sys.modules.get(f"sacrebleu.tokenizers.{module}")
        if type(metric.tokenizer) is getattr(loaded, class_name, None):
            return BLEU(tokenize=str(name), **options)
    return None


def made_of(kind: str, options: dict[str, Any]) -> Metric:
    """Return our metric with sacreBLEU's settings, without one that may have no effect."""
    if options.get("asian_support") is True and not (
        options.get("normalized") or options.get("no_punct")
    ):
        options = {**options, "asian_support": False}
    return OURS[kind](**options)


def kind_of(metric: object) -> str | None:
    """Return "BLEU", "CHRF" or "TER" for sacreBLEU's own class or ours (by its `kind`).

    A derived class may count or score differently.
    """
    for name, theirs in METRICS.items():
        if type(metric) is theirs or vars(type(metric)).get("kind") == name:
            return str(name)
    return None


def _options(ours: type[Metric], metric: object) -> dict[str, Any]:
    """Return the settings that both have, by field of our metric."""
    names = {field.name for field in fields(cast(Any, ours))} - {"tokenize", "trg_lang"}
    return {name: getattr(metric, name) for name in names}


def scores_of_totals(metric: Any, totals: Array) -> Array:
    """Score totals as `metric`, an object of sacreBLEU, does one by one, `(B, k) -> (B,)`.

    Rows without zeros are scored together, in sacreBLEU's dtype, and the others by sacreBLEU.
    """
    kind = kind_of(metric)
    ordinary = np.all(totals > 0, axis=1) & (kind is not None)
    rows = totals if np.all(ordinary) else totals[ordinary]
    quick: Array = np.empty(0)
    if kind == "TER":
        quick = np.asarray(100 * (rows[:, 0] / rows[:, 1]))
    elif kind is not None:
        quick = (_bleu_scores if kind == "BLEU" else _chrf_scores)(metric, rows)
    if np.all(ordinary):
        return quick
    # Copies, since add-k smoothing changes its arguments.
    others = [row.copy() for row in totals[~ordinary]]
    special = np.array([metric._compute_score_from_stats(row).score for row in others])
    scores = np.empty(len(totals), np.result_type(quick, special) if len(quick) else special.dtype)
    scores[ordinary], scores[~ordinary] = quick, special
    return scores


def _bleu_scores(metric: Any, totals: Array) -> Array:
    order = metric.max_ngram_order
    correct, total = totals[:, 2 : 2 + order].copy(), totals[:, 2 + order :].copy()
    if metric.smooth_method == "add-k":
        k = 1 if metric.smooth_value is None else metric.smooth_value
        # Into the existing array: sacreBLEU also loses the fraction of k with whole numbers.
        for counts in (correct, total):
            counts[:, 1:] = counts[:, 1:] + k
    precisions = 100.0 * correct / total
    logs = _by_one(math.log, precisions.reshape(-1)).reshape(-1, order)
    # Python's own sum, which from 3.12 on compensates rounding errors.
    mean = _by_one(sum, logs) / order
    lengths = totals[:, :2].astype(np.float64)
    short = lengths[:, 0] < lengths[:, 1]
    penalty = np.ones(len(totals))
    penalty[short] = _by_one(math.exp, 1 - lengths[short, 1] / lengths[short, 0])
    return np.asarray(penalty * _by_one(math.exp, mean))


def _by_one(function: Any, values: Array) -> NDArray[np.float64]:
    """Apply a Python function, since NumPy's logarithm may differ in the last bit."""
    return np.fromiter(map(function, values.tolist()), np.float64, len(values))


def _chrf_scores(metric: Any, totals: Array) -> Array:
    orders, factor = range(metric.order), metric.beta**2
    precision = totals[:, 2::3] / totals[:, 0::3]
    recall = totals[:, 2::3] / totals[:, 1::3]
    if metric.eps_smoothing:
        denominator = factor * precision + recall
        f_scores = (1 + factor) * precision * recall / denominator
        return np.asarray(100 * sum(f_scores[:, n] for n in orders) / metric.order)
    p, r = (sum(part[:, n] for n in orders) / metric.order for part in (precision, recall))
    score = (1 + factor) * p * r
    score /= factor * p + r
    return np.asarray(100 * score)


@dataclass(frozen=True)
class Counted:
    """A metric of sacreBLEU with the statistics of one system, `(N, k)`."""

    metric: Any
    rows: Array

    @cached_property
    def score(self) -> Any:
        """The corpus score, an object of sacreBLEU."""
        rows = self.rows
        if kind_of(self.metric) is not None:
            # Added up in sacreBLEU's order, so that fractions are rounded in the same way.
            rows = rows.sum(axis=0, keepdims=True)
        return self.metric._aggregate_and_compute(rows.tolist())


#: The systems for each metric, the baseline first.
Groups = Sequence[Sequence[Counted]]


def environment_seed() -> int | None:
    """Return the seed in `$SACREBLEU_SEED`, by default 12345; `None` for "none", fresh entropy."""
    text = os.environ.get("SACREBLEU_SEED", "12345")
    if text.lower() == "none":
        return None
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if seed < 0:
        raise InputError(f"SACREBLEU_SEED must be a non-negative integer or 'none', got {text!r}")
    return seed


def paired_bootstrap(
    groups: Groups, n_resamples: int, rng: np.random.Generator
) -> tuple[list[list[float]], list[list[Array]]]:
    """Run `--paired-bs`: p-values, and the replicates `(B,)` of baselines and systems.

    ``|Δ*|`` minus its own mean is compared with ``|Δ|`` by ``>``. The absolute value comes before
    the centring, which makes the test one-sided in effect: it rejects about 10% of true null
    hypotheses at 0.05, and calls identical systems different with p = 1/(B + 1).
    """
    replicates = bootstrap_scores(groups, n_resamples, rng)
    folded = [[np.abs(values - first) for values in others] for first, *others in replicates]
    centred = [[values - np.mean(values) for values in group] for group in folded]
    return _pvalues(groups, centred), replicates


def bootstrap_scores(
    groups: Groups, n_resamples: int, rng: np.random.Generator
) -> list[list[Array]]:
    """Score all systems under the same B bootstrap resamples; replicates `(B,)` for each.

    sacreBLEU adds up in float32. The matrix product does too if all sums are exact in it, in any
    order. Otherwise (thirds of words in TER against three references, more than 2^24 characters)
    segments are gathered and added one after the other, as in sacreBLEU.
    """
    tables = [table for group in groups for table in group]
    if not tables:
        return [[] for _ in groups]
    # Side by side, their product takes a quarter of the time.
    stacked = np.concatenate([table.rows.astype(np.float32) for table in tables], axis=1)
    edges = np.cumsum([table.rows.shape[1] for table in tables])[:-1]
    singles = np.split(stacked, edges, axis=1)
    limits = [_exact_limit(table.rows) for table in tables]
    scores: list[list[Array]] = [[] for _ in tables]
    n = len(stacked)
    for shape in _blocks(n, n_resamples):
        drawn = rng.choice(n, size=shape)
        # The number of times each segment was drawn.
        cells = drawn + (np.arange(len(drawn)) * n)[:, None]
        weights = np.bincount(cells.reshape(-1), minlength=drawn.size).reshape(shape)
        blocks = np.split(weights.astype(np.float32) @ stacked, edges, axis=1)
        for i, (table, totals) in enumerate(zip(tables, blocks, strict=True)):
            if np.max(totals, initial=0.0) >= limits[i]:
                totals = np.concatenate([singles[i][row].sum(axis=0)[None] for row in drawn])
            scores[i].append(scores_of_totals(table.metric, totals))
    joined = map(np.concatenate, scores)
    return [[next(joined) for _ in group] for group in groups]


def paired_randomization(
    groups: Groups, n_trials: int, rng: np.random.Generator
) -> list[list[float]]:
    """Run `--paired-ar`: p-values.

    A mask chooses the segments whose outputs stay; the others change sides. Sums of whole numbers
    and of halves are exact. Sums of other fractions (TER against three references) may differ from
    sacreBLEU's in the last bit, which can change ties. Ties count as evidence, so identical systems
    get p = 1/(B + 1).
    """
    pairs = [(group[0], system) for group in groups for system in group[1:]]
    if not pairs:
        return [[] for _ in groups]
    changes = [baseline.rows - system.rows for baseline, system in pairs]
    stacked = np.concatenate(changes, axis=1)
    edges = np.cumsum([rows.shape[1] for rows in changes])[:-1]
    # Sums of differences of either sign are bounded by the sum of their sizes.
    small = np.all(np.abs(stacked).sum(axis=0) < _exact_limit(np.abs(stacked)))
    stacked = stacked.astype(np.float32 if small else np.float64)
    moved: list[list[Array]] = [[] for _ in pairs]
    # NumPy takes truth values from words of 32 bits, so 32 rows end at the end of a word.
    for shape in _blocks(len(stacked), n_trials, 32):
        masks = rng.integers(2, size=shape, dtype=np.bool_)
        blocks = np.split(masks.astype(stacked.dtype) @ stacked, edges, axis=1)
        for i, (baseline, system) in enumerate(pairs):
            change = blocks[i].astype(changes[i].dtype)
            stays = scores_of_totals(system.metric, system.rows.sum(axis=0) + change)
            leaves = scores_of_totals(system.metric, baseline.rows.sum(axis=0) - change)
            moved[i].append(np.abs(stays - leaves))
    joined = map(np.concatenate, moved)
    return _pvalues(groups, [[next(joined) for _ in group[1:]] for group in groups])


def _pvalues(groups: Groups, moved: list[list[Array]]) -> list[list[float]]:
    """Return how often chance gives a larger difference, `(count + 1)/(B + 1)`."""
    pvalues: list[list[float]] = []
    for (baseline, *systems), changes in zip(groups, moved, strict=True):
        pvalues.append([])
        for system, sizes in zip(systems, changes, strict=True):
            observed = abs(float(system.score.score - baseline.score.score))
            pvalues[-1].append((int(np.count_nonzero(sizes > observed)) + 1) / (len(sizes) + 1))
    return pvalues


def _exact_limit(rows: Array) -> float:
    """Return a limit below which sums of these numbers are exact in float32, or 0."""
    if np.any(rows < 0):
        return 0.0
    for scale in (1, 2):
        if np.all(rows * scale == np.rint(rows * scale)):
            return 2.0**24 / scale
    return 0.0


def _blocks(n_segments: int, n_resamples: int, multiple: int = 1) -> Iterator[tuple[int, int]]:
    """Yield the shapes of blocks of draws, which together equal one large draw."""
    step = multiple * max(1, _BLOCK // (multiple * n_segments))
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start), n_segments
