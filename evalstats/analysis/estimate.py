"""How sure is a score: texts or statistics in, estimates out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.inputs import Given, is_statistics
from evalstats.analysis.notes import held_by_few, size_notes
from evalstats.analysis.options import SCORE_METHODS, SEED, EstimateOptions, Options, option
from evalstats.analysis.sampling import Effect, Sample
from evalstats.analysis.units import Labels
from evalstats.checks import also_called
from evalstats.errors import InputError
from evalstats.inference import bootstrap, student
from evalstats.inference.bootstrap import Bounds
from evalstats.metrics import Metric
from evalstats.resampling.executors import Reporting, Workers
from evalstats.resampling.weights import Rng
from evalstats.results.notes import design_notes
from evalstats.results.results import Estimate, Estimates
from evalstats.results.signatures import Signature
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.frames import columns_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Outputs of one system, or of its runs, or its scores, one a segment.
_Outputs: TypeAlias = "Sequence[Any] | NDArray[Any]"


@overload
def estimate(
    hypotheses: Mapping[str, Any] | Sequence[SegmentStatistics],
    references: Any = None,
    metric: Metrics | None = None,
    **options: Unpack[EstimateOptions],
) -> Estimates: ...


@overload
def estimate(
    hypotheses: _Outputs,
    references: Any = None,
    metric: str | Metric | None = None,
    **options: Unpack[EstimateOptions],
) -> Estimate: ...


@overload
def estimate(
    hypotheses: _Outputs,
    references: Any,
    metric: Sequence[str | Metric],
    **options: Unpack[EstimateOptions],
) -> Estimates: ...


@overload
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics | None = None,
    **options: Unpack[EstimateOptions],
) -> Estimate | Estimates: ...


@also_called(metrics="metric", seed="rng")
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics | None = None,
    *,
    method: str = "bootstrap",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    rng: Rng = SEED,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Estimate | Estimates:
    """Score a system and say how sure the score is.

    Parameters
    ----------
    hypotheses
        N outputs of one system, or at least two lists of them, its runs (training seeds); or a
        mapping from system names to either, or a frame of pandas, polars or pyarrow with one system
        a column; or a `SegmentStatistics`, or a list of them, and then no references; or a
        `Shard`, which has its metrics, resamples and seed.
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`.
    metric : str or Metric, or a list of them, optional
        Names, as they are written or printed, or configured objects; `metrics` is understood too.
        By default BLEU of texts, and of statistics, or a `Shard`, the metrics that they have.
    method : {"bootstrap", "percentile", "bca", "t"}
        Interval: the middle of the replicates, widened for few units (expanded percentile;
        Hesterberg, 2015), and of 0/1 scores Wilson's (1927), which counts; their plain quantiles
        (Efron, 1979); BCa (Efron, 1987); or t from the influence values, which resamples nothing,
        and which several runs of a system have whatever is asked for.
    confidence_level : float
        In (0, 1).
    n_resamples : int, optional
        B, at least 2; by default 9,999, or those of a `Shard`.
    groups : sequence, optional
        One label (a document, a speaker) per segment, or the name that statistics have for them in
        their `labels`: resamples (and swaps) whole groups.
    strata : sequence, optional
        One label (a domain, a language, a task) per segment: resamples within strata, each of which
        keeps its size, and leaves the spread between them out of the error. Each group must lie in
        one stratum; strata of one unit are drawn together.
    aggregate : {"micro", "macro"}, mapping or callable
        The score of all segments together; or the mean of the scores of all strata; or their mean
        with a weight for each stratum, ``{label: weight}``; or any smooth function of the scores of
        the T strata, in order of first appearance, that maps `(..., T)` to `(...)`.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy. `seed` is understood too. By default
        12345, or the seed of a `Shard`.
    executor : concurrent.futures.Executor, or int, optional
        Where to work: an executor (threads, processes, Dask, MPI), so many threads of this process,
        or all its cores. Changes no bit of the result.
    progress : callable, optional
        Called as ``progress(done, total, label)`` before each extraction and while resampling.

    Returns
    -------
    Estimate
        For one system and one metric; `Estimates` for several.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    The interval at level 1 - α runs from the k-th smallest to the k-th largest of the B replicates,
    k = ⌊(B + 1)·Φ(f·t_ν(α/2))⌋ (Hesterberg, 2015), with f and ν of `evalstats.inference.student`.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> result = estimate(sample.systems["baseline"], sample.references, "chrf")
    >>> result.low < result.score < result.high
    True
    """
    options = Options(
        confidence_level=confidence_level,
        method=option(method, SCORE_METHODS, "method"),
        test="t",
        n_resamples=n_resamples,
        seed=rng,
        executor=executor if progress is None else Reporting(executor, progress),
    )
    given = Given(hypotheses, references, metric, groups, strata, aggregate)
    if columns_of(hypotheses) is not None:
        hypotheses = as_systems(hypotheses)
    is_one = metric is None or isinstance(metric, (str, Metric))
    single = is_one and not isinstance(hypotheses, Mapping)
    if isinstance(hypotheses, Shard):
        single = len(hypotheses.metrics) == len(hypotheses.systems) == 1
    elif is_statistics(hypotheses):
        single = isinstance(hypotheses, SegmentStatistics) and len(hypotheses.systems) == 1
    elif not isinstance(hypotheses, Mapping):
        hypotheses = {"system": hypotheses}
    given = replace(given, hypotheses=hypotheses)
    options = given.options(options, n_resamples, rng)
    samples = given.samples(options, progress)
    found = [e for sample in samples for e in estimates_of(sample, options)]
    return found[0] if single else Estimates(tuple(found))


def estimates_of(sample: Sample, options: Options) -> list[Estimate]:
    """Return the score of each system under one metric, with its interval."""
    found = []
    for i, (system, effect) in enumerate(zip(sample.of.systems, sample.effects, strict=True)):
        method, (low, high) = _interval(sample, i, effect, options)
        found.append(
            Estimate(
                metric=sample.of.name,
                system=system,
                score=effect.value,
                low=low,
                high=high,
                standard_error=effect.spread.error,
                replicates=effect.replicates,
                confidence_level=options.confidence_level,
                method=method,
                n_segments=sample.units.n,
                unit=sample.units.unit,
                higher_is_better=sample.of.higher_is_better,
                signature=str(result_signature(sample, options, method)),
                **_design(sample, i, effect),
            )
        )
    held = held_by_few(sample)
    notes = (*size_notes(sample.of, gaps=True, held=held), *design_notes(found))
    return [replace(estimate, notes=notes) for estimate in found]


def _interval(sample: Sample, i: int, effect: Effect, options: Options) -> tuple[str, Bounds]:
    """Return the interval of a score, and what it is called."""
    spread, outcomes = effect.spread, sample.of.outcomes
    alpha = options.alpha
    method = "bootstrap" if options.method == "simultaneous" else options.method
    if method == "bootstrap" and outcomes is not None and effect.influence is not None:
        method, found = "wilson", outcomes.score_interval(i, effect.influence, alpha)
    else:
        if method == "bootstrap" and (effect.runs or spread.degrees < bootstrap.LEAST_DEGREES):
            method = "t"
        found = effect.interval(method, alpha, lambda: sample.without_each(i)[0])
    if not np.all(np.isfinite((*found, spread.error))):
        raise InputError(
            f"there is no finite interval for {sample.of.metric_name} of "
            f"{sample.of.systems[i]!r}: the score or its gradient is not finite near the totals; "
            f"define the score for every total"
        )
    return method, found


def _design(sample: Sample, i: int, effect: Effect) -> dict[str, Any]:
    """Return what documents, and runs, add to the error of a score: the design effect."""
    of, units = sample.of, sample.units
    if sample.is_elsewhere or not (units.members is not None or of.has_runs):
        return {}
    alone = student.spread(sample.segment_influence[i], None, units.segment_codes).error
    found = {"segment_error": alone}
    if units.members is not None and effect.influence is not None:
        grouped = units.spread(effect.influence).error
        # Where nothing varies, documents add nothing.
        ratio = (grouped / alone) ** 2 if alone > 0 and grouped > 0 else 1.0
        found |= {"design_effect": ratio, "effective_size": len(units.members) / ratio}
    if effect.runs:
        ((between, both, _),) = effect.runs
        found["run_error"] = max(between - both, 0.0) ** 0.5
    return found


def result_signature(
    sample: Sample, options: Options, method: str, **test: str | None
) -> Signature:
    """Return everything needed to make the numbers under one metric again."""
    drawn = sample.replicates.shape[1] or (options.n_resamples if test.get("test") == "ar" else 0)
    return sample.signature(
        {
            **test,
            "ci": method,
            "level": f"{options.confidence_level:.10g}",
            "n": str(drawn) if drawn else None,
            "seed": str(options.seed) if drawn else None,
            "weights": sample.weights if sample.weights != "multinomial" else None,
            "resolution": f"{sample.resolution:g}" if sample.resolution < 1 else None,
        }
    )
