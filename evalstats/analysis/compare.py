"""Which systems differ: texts or statistics in, differences with intervals and p-values out."""

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
    """Say which systems differ, by how much, and how sure that is.

    Options are of the data (up to `human`), of the design (`groups` to `paired`), and of the test,
    of a claim of likeness and of the work, whose defaults `evalstats.analysis.settings` has.

    Parameters
    ----------
    hypotheses : mapping of str to sequence, or SegmentStatistics, or a list of them, or Moments
        At least two systems: a mapping from their names to N outputs each, or to lists of those of
        their runs; a frame with one system a column; statistics, of which those of one metric are
        joined (`SegmentStatistics.join`); or `Moments`. Those of unpaired systems may be of unlike
        lengths.
    references : sequence, optional
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`. None of statistics.
    metrics : str or Metric, or a list of them, optional
        Names, as they are written or printed, or configured objects; `metric` is understood too. By
        default BLEU of texts, and of statistics the metrics that they have.
    human : mapping of str to sequence, or sequence, optional
        People's labels of a random sample of the segments, where the scores, or the references, are
        those of a judge: for each system its scores by people, or, of a metric with references, one
        list of references by people; `None` where there is none. The result is prediction-powered
        (`Judged`): the judge's bias cancels. Of several judges each entry is a list of labels.
    groups : sequence, optional
        One label (a document, a speaker) per segment, or the name that statistics have for them in
        their `labels`: whole groups are resampled. Of segments with two labels, both a sample (the
        prompt and the rater), ``{"prompt": [...], "rater": [...]}``, or a list of both names: the
        variance is V(prompt) + V(rater) - V(both), at least V(both), and t of the fewer decides
        (Cameron, Gelbach and Miller, 2011).
    strata : sequence, optional
        One label (a domain, a language) per segment: resamples within strata, each of which keeps
        its size. Each group must lie in one stratum.
    aggregate : {"micro", "macro"} or mapping
        The score of all segments together, or the mean of the scores of all strata, or their mean
        with weights, as in `estimate`.
    paired : bool
        `False` where each system has segments of its own, as many as it likes: answers to other
        items, by other users. References, groups and strata are then mappings from each system to
        its own. Each system is drawn within itself, with the standard error and the degrees of
        freedom of Welch (1947); 0/1 scores have the interval and test of Miettinen and Nurminen
        (1985), in groups at effective numbers of items. Of the same segments it finds less.
    paired_runs : bool
        Of several runs of each system: run r of all systems has the same prompt, or seed. The error
        is then that of the R differences, in a two-way analysis of segments and runs, both random
        (Searle, Casella and McCulloch, 1992): √((MS_s + MS_r - MS_e)/NR) with the mean squares of
        segments, of runs (nothing where it is below MS_e) and of both, and degrees of freedom after
        Satterthwaite (1946). The page on units has how often equal systems differ: of two runs
        too often, where each prompt sways each system by itself.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared.
    method : {"bootstrap", "t"}
        Intervals of scores and of differences are those of `estimate`, and the p-value is the
        smallest level at which that of a difference leaves the null value out; 0/1 scores have
        Tango's (1998) score interval and score test, which of no difference is McNemar's. Or all
        is by t, on influence values, as it is of several runs whatever is asked for.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's score is greater than the baseline's; without `baseline`, the
        later system's than the earlier one's. It speaks of the number, not of quality: a better
        system has a lower TER. Intervals are two-sided all the same.
    adjustment : {"max-t", "holm", "benjamini-hochberg", "none"}
        How p-values are adjusted for all comparisons under one metric. Step-down max-T (Romano and
        Wolf, 2005, 2016) and Holm's method (1979) bound the probability of any false claim; the
        first knows how pairs depend on one another. Where nothing is drawn it is Holm's.
    confidence_level : float
        In (0, 1), of the intervals. Adjusted p-values up to 1 - `confidence_level` make a verdict.
    margin : float, optional
        The difference that matters, above 0, in points of each metric. The result then says which
        pairs are *equivalent* (the difference lies within ± margin: two one-sided tests,
        Schuirmann, 1987; Lakens, 2017) and which systems are *not worse* (no loss of the margin or
        more: non-inferiority). The p-values of these claims are adjusted for all pairs (and tasks)
        as those of differences are, each of the two kinds apart, by Holm's method where
        `adjustment` is "max-t". Choose the margin before you see the scores.
    recovery : float, optional
        In place of a margin, the share r of the baseline that must be kept, above 0 and at most 1:
        *not worse* is a system whose score is shown to be above r times the baseline's (or, where
        lower is better, below 1/r times).
    n_resamples : int, optional
        B, at least 2; by default 9,999.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy. `seed` is understood too. By default
        12345.
    executor : concurrent.futures.Executor, or int, optional
        Where to work: an executor, or so many threads of this process; by default all its cores.
        Changes no bit of the result.
    progress : bool or callable, optional
        True shows how far the work is: a bar if tqdm is installed, otherwise a line on standard
        error. A function is called as ``progress(done, total, label)`` while the work goes on.

    Returns
    -------
    Comparison
        Iterating gives a `Difference` for each pair and metric.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    The interval is that of `estimate`, and the p-value its rule read backwards: a verdict and an
    interval cannot disagree but by the adjustment. No p-value of no difference is below 2^(1-m),
    for m segments that differ; identical systems have p = 1 exactly. `docs/method.md` has the whole
    rule in forty lines of NumPy.

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
    # What costs nothing is checked before what costs seconds.
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
    """Compare the pairs of all tasks and totals, each metric a family of its own."""
    options, single = evaluation.options, len(evaluation.parts) == 1
    estimates: list[Estimate] = []
    rows: list[Row] = []
    adjustments, are_drawn, is_paired = set(), False, True
    for part, several in evaluation.drawn(progress):
        # Of one pair there are no others, and tasks have Holm's method; without resamples, or where
        # outputs are swapped, nothing says how p-values of pairs depend on one another.
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
            # Single pairs that differ on few units may have t.
            test, method = (mode([x[name] for x in of_pairs]) for name in ("test", "method"))
            ci = "+".join(dict.fromkeys([samples[0][0].method, method]))
            signature = result_signature(scores, options, ci, test, adjustment)
            evaluation.signatures[place] = signature
        evaluation.limits.append(limits_of(several, evaluation.pairs, part))
    # Tasks of different kinds have the adjustment that was asked for.
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
