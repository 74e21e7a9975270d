"""Scores with intervals and notes, from texts or statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregated, Labels, Units
from evalstats.analysis.options import EstimateOptions, Options, ScoreOptions
from evalstats.analysis.scores import Pair, Scores
from evalstats.analysis.settings import DEFAULTS
from evalstats.analysis.tasks import Part, as_decided, as_task, is_statistics, summaries_of
from evalstats.checks import also_called, taking
from evalstats.errors import InputError
from evalstats.inference import bootstrap, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.draws import NONE
from evalstats.inference.student import kish
from evalstats.metrics import Mean, Metric
from evalstats.results.estimates import Estimate, Estimates
from evalstats.results.notes import (
    FEW_DIFFERING,
    NAMED,
    Concentration,
    Facts,
    Limits,
    design_notes,
    notes_of,
)
from evalstats.results.records import Caution, first_few, lacking_unlike
from evalstats.results.signatures import Signature
from evalstats.statistics.extraction import Metrics
from evalstats.statistics.guards import FEW_EMPTY, share_and_percentage, standing_in
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import columns_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evalstats.designs.trials.cases import TrialShares


Floats = NDArray[np.float64]
#: If the largest tenth of the units (at most ten) has more than this share of a variance, there is
#: a note. Measured on samples of 20 to 2,000 segments: BLEU of systems with few correct n-grams is
#: noted in .67 to 1.00 of the samples of up to 300, BLEU, chrF and TER of good systems in at most
#: .05.
_LARGEST, _MUCH = 10, 0.85
#: Metrics whose scores come from a judge, by name.
_OF_JUDGES = re.compile(r"(?<![a-z])(judge|gpt|llm|g-?eval|gemba)", re.I)
#: After the first systems of a note.
_OTHERS = " and others of {} more"
#: Outputs of one system, or of its runs, or its scores, one per segment.
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
@taking(ScoreOptions, DEFAULTS)
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics | None = None,
    *,
    human: object = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    **asked: Unpack[ScoreOptions],
) -> Estimate | Estimates:
    """Score systems, with confidence intervals.

    Parameters describe the data (up to `human`), the design (`groups` to `aggregate`), the
    interval, and the computation (from `n_resamples`).

    Parameters
    ----------
    hypotheses
        N outputs of one system, or at least two lists of outputs, its runs (training seeds); or a
        mapping from system names to either, or a frame of pandas, polars or pyarrow with one column
        per system; or a `SegmentStatistics`, or a list of them, and then no references; or
        `Moments`, which always use t.
    metric : str or Metric, or a list of them, optional
        Names, as they are written or printed, or configured objects; `metrics` is accepted too. By
        default BLEU for texts; for statistics, their own metrics.
    references, human, n_resamples, rng
        As in `compare`.
    groups : sequence, optional
        One label (a document, a speaker) per segment, or the name of such a label in the
        statistics' `labels`: whole groups are resampled. Or two labels, as in `compare`.
    strata : sequence, optional
        One label (a domain, a language, a task) per segment: segments are resampled within strata,
        so that each keeps its size, and the error excludes the spread between strata. Each group
        must lie in one stratum; strata of one unit are merged.
    aggregate : {"micro", "macro"} or mapping
        The score of all segments together; the mean of the scores of all strata; or a weighted
        mean, with one weight per stratum, ``{label: weight}``.
    method : {"bootstrap", "t"}
        The interval is the middle of the replicates, wider if there are few units (expanded
        percentile; Hesterberg, 2015), and Wilson's (1927) for 0/1 scores. With ``"t"`` it is a t
        interval from the influence values, without resampling. Several runs of a system always use
        t.
    confidence_level : float
        Confidence level of the intervals, in (0, 1).
    executor : concurrent.futures.Executor, or int, optional
        The executor (threads, processes, Dask, MPI) that does the work, or a number of threads of
        this process; by default all cores are used. It does not change any bit of the result.
    progress : bool or callable, optional
        If True, the progress is shown: a bar if tqdm is installed, otherwise a line on standard
        error. A function is called as ``progress(done, total, label)`` while the work goes on.

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
    options = Options.of(asked)
    single = metric is None or isinstance(metric, (str, Metric))
    if summaries := summaries_of(hypotheses):
        single = summaries == [hypotheses] and len(hypotheses.systems) == 1
    elif is_statistics(hypotheses):
        single = isinstance(hypotheses, SegmentStatistics) and len(hypotheses.systems) == 1
    elif isinstance(hypotheses, Mapping) or columns_of(hypotheses) is not None:
        single = False
    else:
        hypotheses = {"system": hypotheses}
    options = as_decided(hypotheses, options)
    design: dict[str, Any] = {"groups": groups, "strata": strata, "aggregate": aggregate}
    task = as_task(hypotheses, references, metric, **design, human=human, executor=options.executor)
    estimates = [e for scores in task.drawn(options) for e in estimates_of(scores, options, task)]
    return estimates[0] if single else Estimates(tuple(estimates))


def estimates_of(
    scores: Scores, options: Options, part: Part, single: bool = True
) -> list[Estimate]:
    """Return the score of each system for one metric, with its interval.

    With several tasks replicates would take much memory, so only the signature is kept; notes are
    then below all tasks.
    """
    units, places = scores.units, range(len(scores.systems))
    intervals = [_interval(scores, i, options) for i in places]
    designs: list[dict[str, float]] = [{} for _ in places]
    if scores.has_segments and (units.members is not None or scores.by_run):
        designs = [_design(scores, i) for i in places]
    notes: tuple[str, ...] = ()
    if single:
        limits = [limits_of([scores])]
        of_designs = design_notes({scores.name: designs}, units.unit, units.segment)
        notes = (*notes_of(Facts(limits)), *of_designs)
    signatures = {how: result_signature(scores, options, how) for how, _ in intervals}
    return [
        Estimate(
            metric=scores.name,
            system=system,
            score=float(scores.value[i]),
            low=low,
            high=high,
            standard_error=scores.spreads[i].error,
            draws=scores.draws.taken(i) if single else NONE,
            confidence_level=options.confidence_level,
            method=method,
            n_segments=units.n,
            unit=units.unit,
            higher_is_better=scores.higher_is_better,
            signature=signatures[method],
            notes=notes,
            task=part.name,
            aggregate=part.total,
            n_battles=scores.battles[i] if scores.battles else None,
            **designs[i],
        )
        for i, (system, (method, (low, high))) in enumerate(
            zip(scores.systems, intervals, strict=True)
        )
    ]


def _interval(scores: Scores, i: int, options: Options) -> tuple[str, Bounds]:
    """Return the name of the interval of a score, and the interval."""
    outcomes, influence, alpha = scores.outcomes, scores.influence, options.alpha
    if options.method != "percentile" and outcomes is not None and influence is not None:
        method, bounds = "wilson", outcomes.score_interval(i, influence[i], alpha)
    else:
        method, bounds = scores.names(i)[1], scores.interval(i, alpha)
    if not np.all(np.isfinite((*bounds, scores.spreads[i].error))):
        raise InputError(
            f"{scores.metric_name} of {scores.systems[i]!r} has no finite interval, because the "
            "score or its gradient is not finite near the totals. Define the score for all "
            "possible totals."
        )
    low, high = scores.bounds
    return method, (max(bounds[0], low), min(bounds[1], high))


def _design(scores: Scores, i: int) -> dict[str, float]:
    """Return the effect of documents and runs on the error of a score."""
    units = scores.units
    influence = np.zeros(units.n_segments)
    for stratum in scores.strata:
        with np.errstate(invalid="ignore", over="ignore"):
            moves = student.influence_values(stratum.metric, stratum.segments[[i]])[0]
        influence[stratum.segment_places] = stratum.weight * moves
    alone = student.spread(influence, None, units.segment_codes).error
    design = {"segment_error": alone}
    if units.members is not None and scores.influence is not None:
        grouped = units.spread(scores.influence[i]).error
        # If nothing varies, documents have no effect.
        ratio = (grouped / alone) ** 2 if alone > 0 and grouped > 0 else 1.0
        design |= {"design_effect": ratio, "effective_size": len(units.members) / ratio}
    if scores.runs:
        ((between, both, _),) = scores.runs[i]
        design["run_error"] = max(between - both, 0.0) ** 0.5
    return design


def result_signature(
    scores: Scores,
    options: Options,
    method: str,
    test: str | None = None,
    adjustment: str | None = None,
    **more: str | None,
) -> Signature:
    """Return everything needed to reproduce the numbers for one metric.

    `method` is the method of the interval. A test, if any, has a name, and an `adjustment` if there
    are several pairs. `more` is appended.
    """
    # Only what was drawn so far; counts and t need no resamples.
    n = scores.draws.n if scores.draws.are_made else 0
    known: dict[str, str | None] = {"test": test}
    if adjustment is not None:
        known |= {"alt": options.alternative, "adj": adjustment}
    if test is not None:
        n = options.n_resamples if options.swapped else n
        limits = {"margin": options.margin, "recovery": options.recovery}
        known |= {name: None if x is None else f"{x:.10g}" for name, x in limits.items()}
    if adjustment is not None:
        known["paired"] = "runs" if options.paired_runs else None if scores.is_paired else "no"
    known |= {**more, "ci": method, "level": f"{options.confidence_level:.10g}"}
    return scores.signed(known | ({"n": str(n), "seed": str(options.rng)} if n else {}))


def limits_of(
    several: Sequence[Scores], pairs: Sequence[Pair] | None = None, part: Part | None = None
) -> Limits:
    """Return the limits of the evidence on a task, or on a total, over all metrics.

    Without pairs, the limits are for scores.
    """
    # The smallest sample limits all.
    sides = [units for one in several[0].together for units in one.units.sides]
    is_crossed = len(several[0].units.sides) > 1
    units = min(sides, key=lambda units: units.alike.degrees)
    degrees = units.alike.degrees
    sizes: tuple[int, ...] = ()
    worth = degrees + 1
    if units.sizes is not None and units.codes is None:
        sizes, worth = (int(units.sizes.min()), int(units.sizes.max())), kish(units.sizes)
    if all(one.has_segments and not one.units.has_values for one in several):
        # Fixed items are never few.
        worth = np.inf
    trials: tuple[TrialShares, ...] = ()
    if any(one.has_segments and one.answers is not None for one in several):
        from evalstats.designs.trials.cases import trial_shares

        trials = tuple(trial_shares(several, pairs or ()))
    of_pairs = {} if pairs is None else dict.fromkeys(note for one in several for note in one.notes)
    are_counted = all(one.outcomes and not one.by_run for one in several)
    return Limits(
        task="" if part is None else part.name,
        aggregate=None if part is None else part.total,
        n=units.n,
        unit=units.unit,
        segment=units.segment,
        part=units.part,
        worth=worth,
        sizes=sizes,
        are_alone=units.members is not None and units.n == units.n_segments,
        by_t=(is_crossed or degrees < bootstrap.LEAST_DEGREES) and not are_counted,
        is_crossed=is_crossed,
        judges=tuple(filter(_OF_JUDGES.search, (x.name for x in several if not x.corrections))),
        gaps=tuple(dict.fromkeys((*of_pairs, *gap_notes(several)))),
        held=tuple(few for one in several for few in held_by_few(one, pairs)),
        trials=trials,
    )


def size_notes(scores: Scores) -> tuple[str, ...]:
    """Return a note if there are few segments, or groups."""
    limits = [limits_of([scores])._replace(judges=(), gaps=(), held=(), trials=())]
    return tuple(notes_of(Facts(limits)))


def held_by_few(scores: Scores, pairs: Sequence[Pair] | None = None) -> list[Concentration]:
    """Return the pairs (or, without pairs, systems) whose variance comes from few units.

    Not for shares, which have no estimated variance, nor for several runs, which have another
    source of error, nor for documents, which have their own note.
    """
    influence, units = scores.influence, scores.units
    is_other = scores.outcomes is not None or scores.by_run or units.sizes is not None
    if influence is None or is_other or len(units.sides) > 1 or not units.has_values:
        return []
    concentrations = []
    systems: list[tuple[int | None, int]] = [(None, i) for i in range(len(scores.systems))]
    for a, b in systems if pairs is None else pairs:
        values, n, n_differing, worth = influence[b], units.n, units.n, np.inf
        if a is not None:
            values = values - influence[a]
            n_differing, worth = scores.differ(a, b)
            n = units.n if scores.is_paired else n_differing
        # Fewer differing units have another note.
        if a is None or n_differing >= FEW_DIFFERING:
            largest, share = _largest(units, values, worth)
            if share > _MUCH:
                names = scores.systems[b], None if a is None else scores.systems[a]
                concentrations.append(Concentration(scores.name, *names, largest, n, share))
    return concentrations


def _largest(units: Units, influence: Floats, worth: float) -> tuple[int, float]:
    """Return the number of the largest units, and their share of the variance.

    A tenth of the degrees of freedom plus one (those that differ, fewer in strata), at most ten:
    ten of thirty always have a large share.
    """
    values = student.unbiased(influence, units.sizes, units.codes)
    # Squares of very large and very small scores overflow.
    squares = (values / (np.max(np.abs(values)) or 1.0)) ** 2
    degrees = max(min(units.spread(influence).degrees, worth - 1), 1.0)
    largest = min(_LARGEST, ceil((degrees + 1) / _LARGEST))
    total = float(np.sum(squares))
    held = float(np.sum(np.partition(squares, -largest)[-largest:]))
    return largest, held / total if total > 0 else 0.0


def in_other_units(scores: Scores) -> Iterator[Caution]:
    """Yield that systems have shares and percentages, or numbers that stand for no score."""
    if scores.higher_is_better and not np.any(np.isfinite(scores.bounds)):
        sizes = dict(zip(scores.systems, scores.value.tolist(), strict=True))
        variances = (scores.units.n * x.error * x.error for x in scores.spreads)
        yield from share_and_percentage(scores.metric_name, sizes, variances)
    means = [x for x in scores.strata if isinstance(x.metric, Mean) and x.segments.shape[2] == 2]
    if scores.has_segments and means:
        rows = np.concatenate([stratum.segments for stratum in means], axis=1)
        by_system = zip(scores.systems, rows, strict=True)
        values = {name: one[one[:, 1] > 0, 0].astype(float) for name, one in by_system}
        yield from standing_in(scores.metric_name, values)


def gap_notes(several: Sequence[Scores]) -> Iterator[str]:
    """Yield notes on the origin of scores, missing scores, and the worth of judges."""
    for one in several:
        yield from (f"{x.said}." if x.kind == FEW_EMPTY else x for x in one.cautions)
        yield from (*one.origin, *in_other_units(one))
        if one.influence is not None and len(one.units.sides) > 1:
            yield from one.units.notes(one.name, one.influence)
        for correction in one.corrections:
            yield from correction.notes()
        counts, sizes = np.zeros((2, len(one.systems)), dtype=np.int64)
        if one.missing is not None:
            counts, sizes = one.missing.T
        lacking = [f"{n:,} of {s}" for n, s in zip(counts, one.systems, strict=True) if n]
        if lacking:
            n, whose = int(np.sum(counts)), first_few(lacking, ", ", NAMED, _OTHERS)
            said = (
                f"{one.metric_name}: {n:,} of {np.sum(sizes):,} scores "
                f"{'is' if n == 1 else 'are'} missing ({whose}). Means use the remaining scores."
            )
            unit = one.units.segment
            unlike = lacking_unlike(one.systems, counts.tolist(), sizes.tolist(), unit=unit)
            yield Caution(f"{said} {unlike}.", "missing") if unlike else said
        strata = one.strata if one.has_segments else ()
        # Tasks may have metrics with different statistics, which cannot be added.
        is_one = len({stratum.totals.shape for stratum in strata}) == 1
        if is_one and (metric := strata[0].metric).doubt:
            totals = np.sum([stratum.totals for stratum in strata], axis=0)
            flags = zip(metric.doubtful(totals), one.systems, strict=True)
            names = [system for doubtful, system in flags if doubtful]
            if names:
                whose = first_few(names, ", ", NAMED, _OTHERS)
                yield f"{one.metric_name} of {whose}: {metric.doubt}."
