"""Quality gates: fail a test run if, and only if, a system has become worse.

Scores of two versions nearly always differ; a gate that compares two numbers fails by chance.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.options import Options
from evalstats.analysis.suite import Groups
from evalstats.analysis.tasks import (
    Task,
    as_task,
    is_extracted,
    is_statistics,
    summaries_of,
    tables_of,
)
from evalstats.checks import also_called, flag, taking
from evalstats.designs.samples import as_bound, as_unpaired
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.joining import joined
from evalstats.logs.log import Log, Patterns
from evalstats.logs.missing import allowed_changes
from evalstats.logs.reading import read_log
from evalstats.questions.gates import Gate, gated, given_apart
from evalstats.resampling.executors import Progress, Workers
from evalstats.resampling.weights import Rng
from evalstats.results.records import BARRING
from evalstats.statistics.extraction import Metrics
from evalstats.statistics.files import read_lines
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import table_columns

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Alternative names of arguments, for `assert_not_worse` and `gate`.
_ALSO = {"new": "hypotheses", "systems": "hypotheses", "metric": "metrics", "seed": "rng"}
#: The tables of a task: one per metric, or per system.
OneTask: TypeAlias = list[SegmentStatistics]
#: Options of logs; of the test and the computation; and options for two systems.
_OF_LOGS = ("task", "filter", "missing", "epochs", "directions", "allow_changes", "human")
_OF_TESTS = ("margin", "recovery", "n_resamples", "rng", "executor", "progress", "paired_runs")
_OF_PAIRS = ("baseline", "margin", "recovery", "paired", "paired_runs")


class GateOptions(TypedDict, total=False):
    """Options of `gate`."""

    baseline: str | None
    margin: float | None
    recovery: float | None
    at_least: float | None
    at_most: float | None
    significance_level: float
    on: Literal["all", "total"]
    undecided: Literal["pass", "fail"] | None
    task: Patterns
    filter: Patterns
    groups: Groups
    strata: Labels
    aggregate: Aggregated | None
    missing: Literal["error", "failure", "intersect", "available"] | None
    epochs: str | Sequence[str] | None
    directions: Mapping[str, str] | None
    allow_changes: Patterns
    human: Any
    n_resamples: int
    rng: Rng
    executor: Workers
    progress: Progress | bool | None
    paired: bool
    paired_runs: bool


@also_called(**_ALSO)
@taking(GateOptions)
def gate(
    hypotheses: Any,
    base: Any = None,
    references: Any = None,
    metrics: Metrics | None = None,
    **options: Unpack[GateOptions],
) -> Gate:
    """Test whether a system is as good as its baseline, up to a limit.

    It passes if every task and metric, and the total of several tasks, is shown to be within the
    limit (non-inferiority; Blackwelder, 1982), fails if one is shown to be beyond it, and is
    undecided otherwise. Then more segments are needed, and it estimates how many.

    Parameters
    ----------
    hypotheses
        N outputs of the system, or their scores; or its `SegmentStatistics`, or a list of them, one
        per metric; or its log: a `Log`, a path, or a frame with its scores. A path that ends in
        ``.txt`` has outputs, and one in ``.npz`` statistics. Or both systems in one argument, as in
        `compare`: a mapping from names to outputs, statistics of two systems, or a mapping from
        tasks to such statistics.
    base
        The same for the baseline. One side can be outputs and the other statistics, for example
        saved when the baseline was released; statistics then determine the metrics, and must have
        the same references. Items of logs are joined by their ids.
    baseline : str, optional
        Instead of `base`, if `hypotheses` has both systems: the name of the baseline.
    references
        One entry per segment, or the path of a ``.txt``. Leave it out if statistics or logs are
        passed, or if no metric needs it.
    metrics : str or Metric, or a list of them, optional
        By default BLEU, or the metrics of the statistics. For logs, patterns of metrics; by default
        all. `metric` is accepted too.
    margin : float, optional
        The loss that is too large, above 0, in points of each metric.
    recovery : float, optional
        Instead of a margin, the share of the baseline's score to keep, above 0 and at most 1; if
        lower is better, errors can be at most 1/recovery times the baseline's.
    at_least, at_most : float, optional
        Instead of a baseline and a limit: the number that the system's score must reach
        (`at_most` if lower scores are better).
    significance_level : float
        In (0, 0.5), by default 0.05: about the probability to pass, and to fail, for a system whose
        loss equals the limit.
    on : {"all", "total"}
        What must pass: by default every task and metric, and the totals. With ``"total"``, only the
        totals of several tasks; tasks are then shown without a verdict.
    undecided : {"pass", "fail"}, optional
        What an undecided gate counts as, in `exit_code`, in JUnit's XML and for `assert_not_worse`;
        by default neither. The verdict does not change. A check that a caution bars, or that has no
        test, never counts as passed.
    groups, strata, n_resamples, rng, executor, paired, paired_runs
        As in `compare`; for logs, names of labels.
    progress
        As in `estimate`.
    aggregate
        The total over several tasks, as in `Suite`; for one task as in `compare`.
    task, filter, missing, epochs, directions
        For logs, as in `compare_logs`.
    allow_changes : str or sequence of str, optional
        What may differ between the logs besides the systems: ``"version"`` of a task, ``"shots"``,
        ``"dataset"``, ``"arguments"`` of a task, ``"prompts"``, or ``"*"``. By default nothing may:
        if tasks were asked differently, their scores show little about the systems. Also the kinds
        of cautions with which a check can pass: ``"missing"``, if one system lacks clearly more
        items than the other, ``"limited"``, if only one was run on a subset of the items,
        ``"labels"``, if the items that people labelled are not a random sample, and ``"empty"``,
        ``"alike"``, ``"shifted"``, ``"unread"``, ``"unmoved"``, ``"floor"`` and ``"scale"``, which
        the page on gates explains.

    Returns
    -------
    Gate
        Its `verdict` combines all checks; there is a `GateCheck` for each task and metric;
        `exit_code` is 0, 1 or 3.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    Tests are the same as in `compare`: the bootstrap, or, for 0/1 scores, Tango's score test (1998)
    with a margin, and the score test of a share (with Wilson's interval, 1927) against a number.
    All checks must pass, which needs no adjustment (an intersection-union test; Berger, 1982). Any
    one may fail, so p-values of failing are adjusted by Holm's method (1979).

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> new, old = sample.systems["slightly-better"], sample.systems["baseline"]
    >>> found = gate(new, old, sample.references, "bleu", margin=1.0)
    >>> [(check.metric, check.verdict) for check in found]
    [('BLEU', 'passed')]
    >>> gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9).verdict
    'passed'
    """
    bound = as_bound(options.get("at_least"), options.get("at_most"))
    limits = options.get("margin"), options.get("recovery")
    if bound is None and limits == (None, None):
        raise InputError(
            "pass a margin (the smallest loss that is too large), a recovery (the share to "
            "keep) or, without a baseline, at_least (the score to reach)"
        )
    return _judged(hypotheses, base, references, metrics, **options)


@also_called(**_ALSO)
@taking(GateOptions)
def assert_not_worse(
    hypotheses: Any,
    base: Any = None,
    references: Any = None,
    metrics: Metrics | None = None,
    **options: Unpack[GateOptions],
) -> Gate:
    r"""Fail unless `gate` passes; without a limit, fail when a system is significantly worse.

    Without a limit it fails if the one-sided p-value of a loss, adjusted by Holm's method for
    several tasks or metrics, is at most `significance_level`. A loss of 2.5 standard errors is
    found 80% of the time. On few segments nearly everything passes, because no evidence of a
    loss is not evidence of no loss.

    With `margin` the one-sided bound of the loss, at confidence 1 - `significance_level`, must be
    below it; choose it before you see the scores. With `recovery` such a bound of
    new - recovery·baseline must be above 0, as for a compressed model that keeps "at least 99%
    of the original". On few segments most systems fail, or are refused.

    Parameters
    ----------
    hypotheses, base, references, metrics
        As in `gate`.
    **options
        As in `gate`; `margin` and `recovery` can both be left out. Use a smaller
        `significance_level` for several gates, and for a gate that runs on every change: without a
        limit, 5 of 100 runs of unchanged quality fail at 0.05.

    Returns
    -------
    Gate
        The gate; `gate.checks[0].difference` is system minus baseline. Its interval has confidence
        1 - 2·`significance_level`, so each bound is one-sided at this level. Without a limit its
        p-value is one-sided.

    Raises
    ------
    AssertionError
        If the gate fails, or is undecided; the message is its table, with the scores, the
        difference, its interval, the reason, the signature, and the limit that could be claimed.
    InputError
        For bad input; the message names the argument. Also if no outcome could give an answer: if
        the smallest possible p-value is above the level, or if the loss has no bound, for example
        when nothing differs between scores with few values.

    References
    ----------
    Blackwelder (1982), "Proving the null hypothesis in clinical trials", Controlled Clinical
    Trials 3; Lakens (2017), "Equivalence tests", Social Psychological and Personality Science 8.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> new, old = sample.systems["slightly-better"], sample.systems["baseline"]
    >>> (check,) = assert_not_worse(new, old, sample.references, "bleu")
    >>> check.difference.pvalue > 0.05
    True
    >>> assert_not_worse(old, sample.systems["clearly-better"], sample.references)
    Traceback (most recent call last):
    ...
    AssertionError: FAILED: system against baseline (required: no significant loss; level 0.05)
    ...
    """
    # pytest then shows the line of the test instead of ours.
    __tracebackhide__ = True
    result = _judged(hypotheses, base, references, metrics, **options)
    for check in result if result.verdict == "undecided" else ():
        if check.verdict == "undecided" and check.pvalue_failed is None:
            raise InputError(f"{check.name}: {check.reason}")
    if result.exit_code:
        raise AssertionError("\n".join([result._page(findings=False).text(), *_claimable(result)]))
    return result


def _judged(
    hypotheses: Any,
    base: Any,
    references: Any,
    metrics: Metrics | None,
    **given: Unpack[GateOptions],
) -> Gate:
    """Return the verdict, with or without a limit."""
    asked: dict[str, Any] = dict(given)
    bound = as_bound(asked.pop("at_least", None), asked.pop("at_most", None))
    if bound is not None:
        for argument, value in {"base": base, **{x: asked.get(x) for x in _OF_PAIRS}}.items():
            if value is not None:
                raise InputError(
                    (
                        f"compares a single system with a number, but {argument} requires two "
                        "systems; leave it out"
                    ),
                    argument=bound.argument,
                )
    options = Options.of({name: asked.pop(name) for name in _OF_TESTS if name in asked})
    name = asked.pop("baseline", None)
    if bound is None and (base is None) == (name is None):
        raise InputError(
            "pass the outputs, statistics or log of the baseline as base; or, if hypotheses "
            "contains both systems, the baseline's name as baseline"
        )
    baseline = base if name is None else name
    of_logs = {name: asked.pop(name) for name in _OF_LOGS if name in asked}
    of_logs = {name: value for name, value in of_logs.items() if value is not None}
    asked["accepted"] = accepted = allowed_changes(of_logs.get("allow_changes"))
    if set(accepted) <= set(BARRING):
        # Without options of logs.
        of_logs.pop("allow_changes", None)
    asked["paired"] = bound is not None or flag(asked.get("paired", True), "paired")
    _check_sides(hypotheses, baseline, "base" if name is None else "baseline", bound is not None)
    hypotheses, references = _opened(hypotheses), _opened(references)
    is_name = _is_name(hypotheses, baseline)
    if name is not None and not is_name:
        raise InputTypeError(
            (
                "must be the name of a system in hypotheses, which must contain both systems; "
                "pass the baseline's outputs, statistics or log as base"
            ),
            argument="baseline",
        )
    sides = [hypotheses] if bound is not None else [_opened(baseline), hypotheses]
    if not is_name and _are_logs(sides):
        asked = _of_logs(sides, references, metrics, of_logs, asked)
        return gated(options=options, bound=bound, **asked)
    for argument in of_logs:
        raise InputError(
            f"{argument} applies only to logs, but these are texts or statistics; leave it out"
        )
    read = partial(_read, asked=asked, workers=options.executor)
    if bound is None and not is_name:
        tables = _of_two_sides(sides[0], hypotheses, references, metrics, read)
        return gated({"": tables}, tables[0].systems[0], options, **asked)
    read = partial(read, references=references, metrics=metrics)
    tasks = _by_task(hypotheses, read, bound is not None)
    return gated(tasks, str(baseline or ""), options, bound=bound, **asked)


def _by_task(systems: Any, read: Callable[..., OneTask], is_alone: bool) -> dict[str, OneTask]:
    """Return the tables of systems in one argument by task; a single task is ""."""
    if isinstance(systems, Mapping) and systems and all(map(is_extracted, systems.values())):
        return {task: read(value, is_task=True) for task, value in systems.items()}
    is_named = not is_alone or isinstance(systems, Mapping) or is_extracted(systems)
    return {"": read(systems if is_named else {"system": systems})}


def _read(
    systems: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    asked: Mapping[str, Any],
    workers: Workers,
    is_task: bool = False,
) -> OneTask:
    """Return the statistics of systems, one table per metric, or per system if unpaired.

    Labels in `asked` are for a single task.
    """
    if asked["paired"]:
        labels: Any = {key: None if is_task else asked.get(key) for key in ("groups", "strata")}
        task = as_task(systems, references, metrics, **labels, executor=workers)
        return cast(OneTask, list(task.statistics))
    parts = as_unpaired(systems, references, metrics, executor=workers).each
    return [t for part in parts if isinstance(part, Task) for t in part.statistics]


def _claimable(result: Gate) -> Iterator[str]:
    """Yield the limit that each failed check would have passed."""
    for check in result:
        d = check.difference
        if not d.is_tested or check.verdict not in ("failed", "undecided"):
            continue
        if d.loss_bound is not None and result.margin is not None:
            yield f"{check.name}: the smallest margin that you can claim is {d.loss_bound:.6g}."
        if d.recovery_bound is not None and result.recovery is not None:
            bound = d.recovery_bound
            yield f"{check.name}: the highest recovery that you can claim is {bound:.4f}."


def _are_logs(sides: Sequence[Any]) -> bool:
    """Return whether sides are logs or frames; raise if only some are."""
    are_logs = [
        isinstance(side, (Log, str, os.PathLike)) or table_columns(side) is not None
        for side in sides
    ]
    if any(are_logs) and not all(are_logs):
        raise InputTypeError(
            "either both or neither of hypotheses and baseline must be a Log, a path or a data "
            "frame. The baseline can be a name if hypotheses is a mapping, or statistics, of "
            "both systems."
        )
    return all(are_logs)


def _check_sides(hypotheses: Any, baseline: object, argument: str, is_alone: bool) -> None:
    """Raise for a baseline that is a number, and for sums without segments."""
    if isinstance(baseline, (int, float)):
        raise InputTypeError(
            f"must be a system, got {baseline}; to require a score instead of comparing with a "
            f"baseline, pass at_least={baseline}",
            argument=argument,
        )
    summaries = summaries_of(hypotheses) or summaries_of(baseline)
    if summaries and not summaries[0].has_totals:
        why = summaries[0].why
        raise InputTypeError(f"a gate requires the statistics of every segment, but {why}")
    if summaries and not is_alone and not isinstance(baseline, str):
        name = summaries[0].name
        raise InputTypeError(
            f"baseline must be the name of a system if you pass {name}, which must contain both "
            "systems, because separate sums do not show how they vary together"
        )


def _opened(value: Any) -> Any:
    """Return the statistics in an ``.npz``, the lines of a ``.txt``, or other values unchanged."""
    if not isinstance(value, (str, os.PathLike)):
        return value
    path = os.fspath(value)
    if path.endswith(".npz"):
        return SegmentStatistics.load(path)
    return read_lines(path) if path.removesuffix(".gz").endswith(".txt") else value


def _is_name(hypotheses: Any, baseline: object) -> bool:
    """Return whether the baseline is a system of `hypotheses` and not a path."""
    if not isinstance(baseline, str):
        return False
    # With statistics the baseline may be a file.
    if is_statistics(hypotheses) and baseline.endswith((".npz", ".txt", ".txt.gz")):
        return False
    columns = [name for name, _ in table_columns(hypotheses) or ()]
    return isinstance(hypotheses, Mapping) or is_extracted(hypotheses) or baseline in columns


def _of_logs(
    sides: list[Any],
    references: object,
    metrics: Any,
    of_logs: Mapping[str, Any],
    asked: Mapping[str, Any],
) -> dict[str, Any]:
    """Return arguments of `gated`: tables of a baseline's log and a system's, joined by item id.

    Or of a single log. `of_logs` are arguments of `joined`, and `asked` others of `gated`.
    """
    if references is not None:
        raise InputError(
            "references must be left out when you pass logs, which already contain scores"
        )
    logs: Any = sides
    if len(sides) == 2 and all(table_columns(log) is not None for log in sides):
        names = [read_log(log).systems for log in sides]
        # Frames have no paths to name them by.
        if names[0] == names[1] and len(names[0]) == 1:
            logs = dict(zip(("baseline", "system"), sides, strict=True))
    labels = {key: asked.get(key) for key in ("groups", "strata")}
    of_logs = {"allow_changes": None, **of_logs, "paired": asked["paired"]}
    both = joined(logs, metric=metrics, labels=labels, **of_logs)
    if len(sides) == 2:
        both = both.several()
    (first, *_), *_ = both.tasks.values()
    aggregate = asked.get("aggregate")
    return {
        **asked,
        **both.labels,
        "tasks": both.tasks,
        "baseline": first.systems[0],
        "notes": both.notes,
        "aggregate": (both.totals or None) if aggregate is None else aggregate,
    }


def _of_two_sides(
    baseline: Any,
    hypotheses: Any,
    references: Any,
    metrics: Metrics | None,
    read: Callable[..., OneTask],
) -> OneTask:
    """Return the tables of outputs or statistics of two systems; either can be either.

    One table per metric with both systems, or, if unpaired, one per system; the baseline is first.
    """
    sides = {"hypotheses": hypotheses, "baseline": baseline}
    for name, value in sides.items():
        if isinstance(value, Mapping):
            raise InputTypeError(
                f"{name} must not be a mapping. Pass both systems in one mapping as hypotheses, "
                "and the name of one as baseline; pass scores with item names as a data frame "
                "or a table."
            )
    known = {name: tables_of(value) for name, value in sides.items() if is_statistics(value)}
    if not known:
        return read({"baseline": baseline, "system": hypotheses}, references, metrics)
    for tables in known.values():
        # If the other side is outputs, the statistics determine the metrics.
        chosen = [table.metric for table in tables] if metrics is None else metrics
    for name, role in (("baseline", "baseline"), ("hypotheses", "system")):
        if name not in known:
            known[name], references = read({role: sides[name]}, references, chosen), None
    old, new = known["baseline"], known["hypotheses"]
    if len({tuple(sorted(table.metric.name for table in tables)) for tables in (old, new)}) > 1:
        names = (", ".join(table.metric.name for table in tables) for tables in (new, old))
        raise InputError(
            f"hypotheses and baseline must have the same metrics, got {' and '.join(names)}"
        )
    return read(given_apart(old, new), references, metrics)
