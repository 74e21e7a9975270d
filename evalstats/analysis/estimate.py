"""How sure is a score: texts or statistics in, estimates out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.caveats import held_by_few, size_notes
from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.drawn import Drawn, Effect, maker_of
from evalstats.analysis.options import (
    SCORE_METHODS,
    SEED,
    EstimateOptions,
    Options,
    ScoreMethod,
    option,
)
from evalstats.analysis.tasks import Part, as_decided, as_task, is_extracted, is_statistics
from evalstats.checks import also_called
from evalstats.errors import InputError
from evalstats.inference import bootstrap, student
from evalstats.inference.bootstrap import Bounds
from evalstats.metrics import Metric
from evalstats.resampling.executors import Reporting, Workers
from evalstats.resampling.weights import Rng
from evalstats.results.estimates import Estimate, Estimates
from evalstats.results.notes import design_notes
from evalstats.results.signatures import Signature
from evalstats.statistics.extraction import Metrics, Progress
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import columns_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


Floats = NDArray[np.float64]
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


@also_called(systems="hypotheses", metrics="metric", seed="rng")
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics | None = None,
    *,
    human: object = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    method: ScoreMethod = "bootstrap",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Estimate | Estimates:
    """Score a system and say how sure the score is.

    Options are, in this order, of the data (up to `human`), of the design (`groups` to
    `aggregate`), of the interval and of the work (from `n_resamples`).

    Parameters
    ----------
    hypotheses
        N outputs of one system, or at least two lists of them, its runs (training seeds); or a
        mapping from system names to either, or a frame of pandas, polars or pyarrow with one system
        a column; or a `SegmentStatistics`, or a list of them, and then no references; or a
        `Shard`, which has its metrics, resamples and seed; or `Moments`, of which all is by t.
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`.
    metric : str or Metric, or a list of them, optional
        Names, as they are written or printed, or configured objects; `metrics` is understood too.
        By default BLEU of texts, and of statistics, or a `Shard`, the metrics that they have.
    human : mapping of str to sequence, or sequence, optional
        People's labels of a random sample of the segments, where the scores, or the references, are
        those of a judge: for each system its scores by people, or, of a metric with references, one
        list of references by people; `None` where there is none. The result is prediction-powered
        (`Judged`): the judge's bias cancels.
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
    method : {"bootstrap", "percentile", "bca", "t"}
        Interval: the middle of the replicates, widened for few units (expanded percentile;
        Hesterberg, 2015), and of 0/1 scores Wilson's (1927), which counts; their plain quantiles
        (Efron, 1979); BCa (Efron, 1987); or t from the influence values, which resamples nothing,
        and which several runs of a system have whatever is asked for.
    confidence_level : float
        In (0, 1).
    n_resamples : int, optional
        B, at least 2; by default 9,999, or those of a `Shard`.
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
    single = _is_single(hypotheses, metric)
    is_several = isinstance(hypotheses, Mapping) or columns_of(hypotheses) is not None
    if not is_several and not is_extracted(hypotheses):
        hypotheses = {"system": hypotheses}
    options = as_decided(hypotheses, options, n_resamples, rng)
    task = as_task(
        hypotheses,
        references,
        metric,
        groups=groups,
        strata=strata,
        aggregate=aggregate,
        human=human,
        executor=options.executor,
        progress=progress,
    )
    estimates = [e for drawn in task.drawn(options) for e in estimates_of(drawn, options, task)]
    return estimates[0] if single else Estimates(tuple(estimates))


def _is_single(hypotheses: Any, metric: Metrics | None) -> bool:
    """Return whether one score is asked for: of one system under one metric."""
    if maker_of(hypotheses) is not None:
        is_list = isinstance(hypotheses, (list, tuple))
        return not is_list and len(hypotheses.metrics) == len(hypotheses.systems) == 1
    if is_statistics(hypotheses):
        return isinstance(hypotheses, SegmentStatistics) and len(hypotheses.systems) == 1
    is_systems = isinstance(hypotheses, Mapping) or columns_of(hypotheses) is not None
    return not is_systems and (metric is None or isinstance(metric, (str, Metric)))


def estimates_of(drawn: Drawn, options: Options, part: Part, single: bool = True) -> list[Estimate]:
    """Return the score of each system under one metric, with its interval.

    Of several tasks replicates take much memory, and the signature makes them again; their notes
    stand below all.
    """
    of, units = drawn.of, drawn.units
    intervals = [_interval(drawn, i, effect, options) for i, effect in enumerate(drawn.effects)]
    designs = [_design(drawn, i, effect) for i, effect in enumerate(drawn.effects)]
    notes: tuple[str, ...] = ()
    if single:
        of_sizes = size_notes(drawn, gaps=True, held=held_by_few(drawn))
        notes = (*of_sizes, *design_notes({of.name: designs}, units.unit))
    return [
        Estimate(
            metric=of.name,
            system=system,
            score=effect.value,
            low=low,
            high=high,
            standard_error=effect.spread.error,
            replicates=effect.replicates if single else np.empty(0),
            confidence_level=options.confidence_level,
            method=method,
            n_segments=units.n,
            unit=units.unit,
            higher_is_better=of.higher_is_better,
            signature=str(result_signature(drawn, options, method)),
            notes=notes,
            task=part.name,
            aggregate=part.total,
            **design,
        )
        for system, effect, (method, (low, high)), design in zip(
            of.systems, drawn.effects, intervals, designs, strict=True
        )
    ]


def _interval(drawn: Drawn, i: int, effect: Effect, options: Options) -> tuple[str, Bounds]:
    """Return what the interval of a score is called, and the interval."""
    spread, outcomes, alpha = effect.spread, drawn.of.outcomes, options.alpha
    method = "bootstrap" if options.method == "simultaneous" else options.method
    if method == "bootstrap" and outcomes is not None and effect.influence is not None:
        method, bounds = "wilson", outcomes.score_interval(i, effect.influence, alpha)
    else:
        if method == "bootstrap" and (effect.runs or spread.degrees < bootstrap.LEAST_DEGREES):
            method = "t"
        bounds = effect.interval(method, alpha, lambda: _without_each(drawn, i))
    if not np.all(np.isfinite((*bounds, spread.error))):
        raise InputError(
            f"there is no finite interval for {drawn.of.metric_name} of "
            f"{drawn.of.systems[i]!r}: the score or its gradient is not finite near the totals; "
            f"define the score for every total"
        )
    return method, bounds


def _without_each(drawn: Drawn, i: int) -> Floats:
    """Return the scores of a system without each unit in turn, `(N,)`."""
    return np.asarray(drawn.segments.without_each(i)[0])


def _design(drawn: Drawn, i: int, effect: Effect) -> dict[str, float]:
    """Return what documents, and runs, add to the error of a score: the design effect."""
    units = drawn.units
    if not drawn.has_segments or not (units.members is not None or drawn.runs):
        return {}
    segments = drawn.segments
    alone = student.spread(segments.segment_influence[i], None, units.segment_codes).error
    design = {"segment_error": alone}
    if units.members is not None and effect.influence is not None:
        grouped = units.spread(effect.influence).error
        # Where nothing varies, documents add nothing.
        ratio = (grouped / alone) ** 2 if alone > 0 and grouped > 0 else 1.0
        design |= {"design_effect": ratio, "effective_size": len(units.members) / ratio}
    if effect.runs:
        ((between, both, _),) = effect.mean_squares
        design["run_error"] = max(between - both, 0.0) ** 0.5
    return design


def result_signature(drawn: Drawn, options: Options, method: str, **test: str | None) -> Signature:
    """Return everything needed to make the numbers under one metric again."""
    n = drawn.replicates.shape[1] or (options.n_resamples if test.get("test") == "ar" else 0)
    return drawn.signature(
        {
            **test,
            "ci": method,
            "level": f"{options.confidence_level:.10g}",
            "n": str(n) if n else None,
            "seed": str(options.seed) if n else None,
            "weights": drawn.weights if drawn.weights != "multinomial" else None,
            "resolution": f"{drawn.resolution:g}" if drawn.resolution < 1 else None,
        }
    )
