"""Differences of systems, with intervals and p-values, from texts or statistics."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mode
from typing import TYPE_CHECKING, Any

from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.estimate import estimates_of, limits_of, result_signature
from evalstats.analysis.options import Options, PairOptions
from evalstats.analysis.pairs import Row, adjust_over_tasks, family_of
from evalstats.analysis.settings import DEFAULTS
from evalstats.analysis.tasks import Part, as_decided, as_pairs, as_task, systems_of
from evalstats.checks import also_called, flag, taking
from evalstats.resampling.executors import Progress
from evalstats.results.estimates import Estimate, Estimates
from evalstats.results.notes import Facts, notes_of
from evalstats.results.records import Adjustment, Difference
from evalstats.statistics.extraction import Metrics

if TYPE_CHECKING:
    from typing_extensions import Unpack


@also_called(systems="hypotheses", metric="metrics", seed="rng")
@taking(PairOptions, DEFAULTS)
def compare(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    human: object = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    paired: bool = True,
    **asked: Unpack[PairOptions],
) -> Comparison:
    """Compare systems: differences with intervals and p-values.

    Parameters describe the data (up to `human`), the design (`groups` to `paired_runs`), the test,
    a claim of equivalence, and the computation. Defaults are in `evalstats.analysis.settings`.

    Parameters
    ----------
    hypotheses : mapping of str to sequence, or SegmentStatistics, or a list of them, or Moments
        At least two systems: a mapping from names to N outputs each, or to a list of outputs for
        each run; a frame with one column per system; statistics (statistics with the same metric
        are joined, `SegmentStatistics.join`); or `Moments`. Unpaired systems can have different
        numbers of outputs.
    references : sequence, optional
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`. Not for statistics.
    metrics : str or Metric, or a list of them, optional
        Names, as they are written or printed, or configured objects; `metric` is accepted too. By
        default BLEU for texts; for statistics, their own metrics.
    human : mapping of str to sequence, or sequence, optional
        Human labels of a random sample of the segments, if the scores (or the references) come
        from a judge: human scores for each system, or, for a metric with references, one list of
        human references; `None` if there is no label. The result is prediction-powered
        (`Judged`): the judge's bias cancels. With several judges, each entry is a list of labels.
    groups : sequence, optional
        One label (a document, a speaker) per segment, or the name of such a label in the
        statistics' `labels`: whole groups are resampled. For two labels that are both samples (the
        prompt and the rater), pass ``{"prompt": [...], "rater": [...]}`` or a list of both names:
        the variance is V(prompt) + V(rater) - V(both), at least V(both), and t has the degrees of
        freedom of the label with fewer groups (Cameron, Gelbach and Miller, 2011).
    strata : sequence, optional
        One label (a domain, a language) per segment: segments are resampled within strata, so that
        each keeps its size. Each group must lie in one stratum.
    aggregate : {"micro", "macro"} or mapping
        The score of all segments together, or the mean of the scores of all strata, or a weighted
        mean of these scores, as in `estimate`.
    paired : bool
        `False` if each system has its own segments, in any number: answers to different items, or
        from different users. References, groups and strata are then mappings from systems. Each
        system is resampled separately, with the standard error and the degrees of freedom of Welch
        (1947); 0/1 scores have the interval and test of Miettinen and Nurminen (1985), in groups
        with effective numbers of items. On shared segments it has less power than the paired test.
    paired_runs : bool
        With several runs of each system: run r of all systems has the same prompt, or seed. The
        error is then the error of the R differences, in a two-way analysis of segments and runs,
        both random (Searle, Casella and McCulloch, 1992): √((MS_s + MS_r - MS_e)/NR) with the mean
        squares of segments, of runs (omitted if below MS_e) and of both, and degrees of freedom
        after Satterthwaite (1946). The page on units shows how often equal systems differ: with two
        runs, too often if prompt effects differ between systems.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared.
    method : {"bootstrap", "t"}
        Intervals are made as in `estimate`, and the p-value of a difference is the smallest level
        at which its interval excludes the null value. 0/1 scores have Tango's (1998) score interval
        and score test; for no difference it is McNemar's test. With ``"t"``, all intervals and
        tests are t, from influence values; several runs always use t.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's score is greater than the baseline's; without `baseline`, the
        later system's than the earlier one's. This refers to the number, not to quality: a better
        system has a lower TER. Intervals are always two-sided.
    adjustment : {"max-t", "holm", "benjamini-hochberg", "none"}
        How p-values are adjusted for all comparisons under one metric. Step-down max-T (Romano and
        Wolf, 2005, 2016) and Holm's method (1979) bound the probability of any false claim; max-T
        uses the dependence between pairs. If nothing is resampled, Holm's method is used.
    confidence_level : float
        Confidence level of the intervals, in (0, 1). Adjusted p-values up to 1 - `confidence_level`
        are significant.
    margin : float, optional
        The difference that matters, above 0, in points of each metric. The result then shows which
        pairs are *equivalent* (the difference lies within ± margin: two one-sided tests,
        Schuirmann, 1987; Lakens, 2017) and which systems are *not worse* (no loss of the margin or
        more: non-inferiority). The p-values of these claims are adjusted for all pairs (and tasks)
        like the p-values of differences, separately for each kind of claim, with Holm's method if
        `adjustment` is "max-t". Choose the margin before you see the scores.
    recovery : float, optional
        Instead of a margin, the share r of the baseline's score that must be kept, above 0 and at
        most 1: a system is *not worse* if its score is shown to be above r times the baseline's (or
        below 1/r times, if lower is better).
    n_resamples : int, optional
        B, at least 2; by default 9,999.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` uses fresh entropy. `seed` is accepted too. By default 12345.
    executor : concurrent.futures.Executor, or int, optional
        The executor that does the work, or a number of threads of this process; by default all
        cores are used. It does not change any bit of the result.
    progress : bool or callable, optional
        If True, the progress is shown: a bar if tqdm is installed, otherwise a line on standard
        error. A function is called as ``progress(done, total, label)`` while the work goes on.

    Returns
    -------
    Comparison
        Iterating yields a `Difference` for each pair and metric.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    Intervals are made as in `estimate`, and p-values are the same rule inverted, so a verdict and
    an interval can only disagree because of the adjustment. A p-value of no difference is at least
    2^(1-m), for m segments that differ; identical systems have p = 1 exactly. `docs/method.md`
    shows the rule in forty lines of NumPy.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    >>> print(compare(pair, sample.references, ["bleu", "chrf"], baseline="baseline"))
    clearly-better is better than baseline in BLEU (+5.03) and chrF2 (+2.91).
    <BLANKLINE>
    BLEU, chrF2 ↑ (higher is better), 480 segments, clearly-better - baseline
    -------------------------------------------------------------------------------
    metric  baseline  clearly-better  difference  [95% interval]         p  verdict
    -------------------------------------------------------------------------------
    BLEU       38.95           43.98       +5.03  [+3.42, +6.68]  < 0.0001  better
    chrF2      56.00           58.92       +2.91  [+1.79, +4.08]  < 0.0001  better
    ...
    """
    options, baseline = as_decided(hypotheses, Options.of(asked)), asked.get("baseline")
    # Fast checks come before slow ones.
    make: Callable[..., Part] = as_task
    if flag(paired, "paired"):
        systems = systems_of(hypotheses)
    else:
        from evalstats.designs.samples import as_unpaired, inputs_by_system

        make, systems = as_unpaired, tuple(inputs_by_system(hypotheses))
    pairs = as_pairs(systems, baseline)
    design = {"groups": groups, "strata": strata, "aggregate": aggregate, "human": human}
    task = make(hypotheses, references, metrics, **design, executor=options.executor)
    return compared(Evaluation([task], pairs, options), baseline)


def compared(
    evaluation: Evaluation, baseline: str | None, progress: Progress | None = None
) -> Comparison:
    """Compare the pairs of all tasks and totals; each metric is a family."""
    options, single = evaluation.options, len(evaluation.parts) == 1
    estimates: list[Estimate] = []
    rows: list[Row] = []
    adjustments, are_drawn, is_paired = set(), False, True
    for part, several in evaluation.drawn(progress):
        # For one pair, tasks have Holm's method. Without resamples, or if outputs are swapped, the
        # dependence between p-values of pairs is unknown.
        is_alone = len(evaluation.pairs) == 1 < len(evaluation.parts)
        adjustment, n_drawn = options.adjustment, several[0].draws.n
        if adjustment == "max-t" and (is_alone or options.swapped or not n_drawn):
            adjustment = "holm"
        adjustments.add(adjustment)
        are_drawn, is_paired = are_drawn or n_drawn > 0, several[0].is_paired
        for scores in several:
            place = part.name, scores.name
            of_pairs, evaluation.within[place] = family_of(
                scores, evaluation.pairs, adjustment, options
            )
            rows += [Row(part.name, part.total, scores.name, fields) for fields in of_pairs]
            samples = [estimates_of(sample, options, part, single) for sample in scores.together]
            estimates += [estimate for of_sample in samples for estimate in of_sample]
            # Some pairs that differ on few units may have t.
            test, method = (mode([x[name] for x in of_pairs]) for name in ("test", "method"))
            ci = "+".join(dict.fromkeys([samples[0][0].method, method]))
            signature = result_signature(scores, options, ci, test, adjustment)
            evaluation.signatures[place] = signature
        evaluation.limits.append(limits_of(several, evaluation.pairs, part))
    # Tasks of different kinds have the requested adjustment.
    adjustment = adjustments.pop() if len(adjustments) == 1 else options.adjustment
    adjust_over_tasks(rows, adjustment, options)
    level, side, n_resamples = (
        options.significance_level,
        options.alternative,
        options.n_resamples,
    )
    adjusting = Adjustment(rows, adjustment, level, side, n_resamples)
    differences = []
    for row in rows:
        fields, pvalue = row.fields, row.fields.pop("pvalue_adjusted")
        is_swapped = fields["test"] == "ar" and fields["pvalue_error"] > 0
        least = adjusting.least(row, fields["test"], fields["n_differing"], is_swapped)
        fields |= {"task": row.task, "aggregate": row.aggregate}
        differences.append(Difference.made(fields, pvalue, level, least))
    shared: dict[str, Any] = {
        "method": options.method,
        "test": "ar" if options.swapped else options.method if are_drawn else "t",
        "margin": options.margin,
        "recovery": options.recovery,
    }
    facts = Facts(
        evaluation.limits, estimates, differences, adjusting, **shared, is_paired=is_paired
    )
    return Comparison(
        estimates=Estimates(tuple(estimates)),
        differences=tuple(differences),
        baseline=baseline,
        alternative=side,
        adjustment=adjustment,
        confidence_level=options.confidence_level,
        n_resamples=n_resamples,
        seed=options.rng,
        signatures=tuple(evaluation.signatures.values()),
        notes=(*evaluation.notes, *notes_of(facts)),
        significance_level=level,
        source=evaluation,
        **shared,
    )
