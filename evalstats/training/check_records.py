"""Results of a monitor: records of each check and of the selected checkpoint, table and figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from evalstats.metrics import written
from evalstats.pictures import figures
from evalstats.results import tabular
from evalstats.results.convert import Rule, Share, one_of
from evalstats.results.notes import carried_notes
from evalstats.results.records import Record, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A table has the last checks, so many, beside the real improvements and the best step.
_MOST_ROWS = 20
#: With up to so many checks, each has a bar in the figure; with up to so many, an open marker.
_BARS, _OPEN = 25, 60
_Error = Annotated[float, Rule("at least 0", lambda error: error >= 0)]
_Number = Annotated[int, Rule("from 0 to 2**53", lambda n: 0 <= n <= 2**53)]


class StepScore(NamedTuple):
    """A step and its corpus score."""

    step: int
    score: float


class Basis(NamedTuple):
    """Which interval and test a check has, and on how many segments they rest.

    Attributes
    ----------
    interval : str
        That of the score: "t", or "wilson" of 0/1 scores.
    test : str or None
        That of the p-value: "t", or "mcnemar" of 0/1 scores; `None` at the first check.
    n_differing : int
        Segments, or groups, that differ from those of the step it is compared with.
    kurtosis : float or None
        Of their influence values on the difference; 3 of normal ones. `None` where no t test
        decides, and where nothing varies.
    """

    interval: Annotated[str, one_of(("t", "wilson"))]
    test: Annotated[str, one_of(("t", "mcnemar"))] | None = None
    n_differing: _Number = 0
    kurtosis: float | None = None

    @property
    def worth(self) -> float:
        """The effective number of segments that differ, (Σu²)²/Σu⁴ of influence values u."""
        return self.n_differing / self.kurtosis if self.kurtosis else float(self.n_differing)


@dataclass(frozen=True)
class Checkpoint(Record):
    """The result of one evaluation of a run.

    The *best* step is the last real improvement, or the first step until there is one, and later
    steps are compared with it. The *highest* step is the one with the best score so far.

    Attributes
    ----------
    step : int
        The step that was checked.
    metric : str
        Name of the metric.
    score, low, high, standard_error : float
        Corpus score with its t interval from influence values (Wilson's of 0/1 scores).
    compared_with : int or None
        The best step before this one; `None` at the first check.
    difference, difference_low, difference_high : float
        Score minus the score of that step, with the interval of what the test does not reject
        (Tango's for 0/1 scores); 0 at the first check. Intervals are not corrected for looking
        again and again.
    pvalue : float
        One-sided p-value of "no better than that step", in (0, 1]; 1 at the first check.
    level : float
        How small the p-value of a real improvement must be at this look; 0 at the first check.
    improved : bool
        Whether this is a real improvement; `False` at the first check, which has no predecessor.
    best : StepScore
        The best step after this check, with its score.
    highest : StepScore
        The step with the best score so far, the earlier one where two are equal.
    checks_without_improvement : int
        Checks since the best step.
    should_stop : bool
        Whether these have used up the patience.
    higher_is_better : bool
        Direction of the metric.
    confidence_level : float
        Coverage that the intervals aim at.
    basis : Basis
        Which interval and test these are, and on how many segments the test rests.

    Examples
    --------
    >>> import evalstats as es
    >>> monitor = es.Monitor(metric=es.Mean("acc"))
    >>> check = monitor.check(100, [1, 0, 1, 1, 0, 1])
    >>> check.step, round(check.score, 2)
    (100, 0.67)
    """

    step: _Number
    metric: str
    score: float
    low: float
    high: float
    standard_error: _Error
    compared_with: int | None
    difference: float
    difference_low: float
    difference_high: float
    pvalue: Share
    level: Share
    improved: bool
    best: StepScore
    highest: StepScore
    checks_without_improvement: _Number
    should_stop: bool
    higher_is_better: bool
    confidence_level: Share
    basis: Basis

    def to_log(self, prefix: str = "") -> dict[str, float]:
        """Return a flat dictionary of floats, for TensorBoard or Weights & Biases.

        The keys are the same at every check: the metric's name as it is asked for (``chrf`` of
        chrF2, and blanks as underscores), and that name with ``_low``,
        ``_high``, ``_difference``, ``_pvalue``, ``_improved``, ``_best``, ``_best_step`` and
        ``_checks_without_improvement``.

        Parameters
        ----------
        prefix : str
            Before each key, for example ``"eval/"``.
        """
        name = prefix + log_name(self.metric)
        keys = ("low", "high", "difference", "pvalue", "improved", "checks_without_improvement")
        values = {f"_{key}": getattr(self, key) for key in keys}
        values |= {"": self.score, "_best": self.best.score, "_best_step": self.best.step}
        return {name + key: float(value) for key, value in values.items()}

    def __str__(self) -> str:
        decimals = tabular.decimals([self.standard_error])
        score = tabular.number(self.score, decimals)
        bounds = tabular.interval(self.low, self.high, decimals)
        text = f"step {self.step}: {self.metric} {score} {bounds}"
        if self.compared_with is None:
            return text
        verdict = "real improvement" if self.improved else "no real improvement"
        difference = tabular.number(self.difference, decimals, sign=True)
        return (
            f"{text}, {difference} against step {self.compared_with}, "
            f"p = {self.pvalue:.2g} (level {self.level:.2g}): {verdict}"
        )

    def _title(self) -> str:
        return f"step {self.step}, {self.metric}"


@dataclass(frozen=True)
class Selected(Record):
    """The checkpoint with the best score, corrected for having been chosen.

    Attributes
    ----------
    step : int
        The step with the best score of all.
    metric : str
        Name of the metric.
    score : float
        Its observed score, too good on average because it was chosen for being the best.
    standard_error : float
        Of `score`, from influence values.
    corrected : float
        The score less the optimism (plus, where lower scores are better).
    low, high : float
        t interval around `corrected`.
    optimism : float
        ``|score - corrected|``, at least 0.
    agreement : float
        Share of the resamples that choose the same step, in [0, 1].
    n_checks : int
        Among how many it was chosen.
    confidence_level : float
        Coverage that the interval aims at.

    Examples
    --------
    >>> import evalstats as es
    >>> monitor = es.Monitor(metric=es.Mean("acc"))
    >>> for step, marks in enumerate(([1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1])):
    ...     _ = monitor.check(step, marks)
    >>> monitor.selected.step, monitor.selected.n_checks
    (1, 2)
    """

    step: int
    metric: str
    score: float
    standard_error: float
    corrected: float
    low: float
    high: float
    optimism: float
    agreement: float
    n_checks: int
    confidence_level: float

    def __str__(self) -> str:
        decimals = tabular.decimals([self.standard_error])
        return (
            f"{self._title()} {tabular.number(self.score, decimals)}, "
            f"corrected {tabular.number(self.corrected, decimals)} "
            f"{tabular.interval(self.low, self.high, decimals)}"
        )

    def _title(self) -> str:
        return f"step {self.step}, best of {self.n_checks}: {self.metric}"


def as_table(checks: Sequence[Checkpoint]) -> tabular.Table:
    """Lay out the checks of a run, marks on the best one and on those that improved.

    Of many there are the improvements and the last.
    """
    best, last = checks[-1].best.step, checks[-_MOST_ROWS:][0].step
    shown = [c for c in checks if c.step >= last or c.improved or c.step == best]
    decimals = tabular.decimals([check.standard_error for check in shown])
    rows = []
    for c in shown:
        mark = "*" if c.step == best else "+" if c.improved else ""
        bounds = tabular.interval(c.low, c.high, decimals)
        difference = tabular.number(c.difference, decimals, sign=True)
        compared = (difference, f"{c.pvalue:.2g}", f"{c.level:.2g}")
        found = ("", "", "") if c.compared_with is None else compared
        rows.append((mark, f"{c.step:,}", tabular.number(c.score, decimals), bounds, *found))
    name = f"{checks[0].metric} {tabular.direction(checks[0].higher_is_better)}"
    interval = tabular.level(checks[-1].confidence_level)
    title = counted(len(checks), "check")
    if len(shown) < len(checks):
        title = f"{len(shown):,} of {title}: the best, real improvements and the last {_MOST_ROWS}"
    header = ("", "step", name, interval, "difference", "p", "level")
    marks = ("* best step, + real improvement",) if "+" in {r[0] for r in rows} else ()
    return tabular.Table(title, header, tuple(rows), "<" + 6 * ">", notes=marks)


def run_notes(checks: Sequence[Checkpoint], unit: str) -> Iterator[str]:
    """Yield a note if the differences of at least half of the checks rest on few units."""
    tested = [check.basis for check in checks if check.basis.kurtosis is not None]
    yield from carried_notes(
        [(basis.n_differing, basis.worth) for basis in tested],
        unit,
        "from the best step ",
        f", in most checks: where every step fails on a few {unit}s of its own, up to one run in "
        f"seven without any improvement reported one, not one in twenty",
    )


def log_name(metric: str) -> str:
    """Return a metric's name as a key of a log: "chrf" of chrF2, "word_perplexity"."""
    return "_".join(written(metric).split())


def curve(
    checks: Sequence[Checkpoint],
    selected: Selected,
    n_segments: int,
    unit: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of at least one check with their intervals, and the corrected one.

    Filled markers are real improvements; the others are open, and left out beyond 60 checks. Up to
    25 checks have a bar each, more a band.
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator, ScalarFormatter, StrMethodFormatter

    axes = figures.own_axes(ax, 2.5)
    steps = np.array([check.step for check in checks], dtype=np.float64)
    scores, lows, highs = (
        np.array([getattr(check, name) for check in checks]) for name in ("score", "low", "high")
    )
    if len(checks) <= _BARS:
        axes.vlines(steps, lows, highs, colors=figures.BLUE, linewidth=0.8, zorder=1)
    else:
        axes.fill_between(steps, lows, highs, color=figures.BLUE, alpha=0.22, linewidth=0, zorder=1)
    axes.plot(steps, scores, "-", color=figures.BLUE, linewidth=0.8, zorder=2)
    for check in checks:
        if check.improved:
            axes.plot(check.step, check.score, "o", color=figures.BLUE, markersize=4, zorder=4)
        elif len(checks) <= _OPEN:
            axes.plot(
                check.step,
                check.score,
                "o",
                color=figures.GREY,
                markerfacecolor="white",
                markersize=3,
                markeredgewidth=0.7,
                zorder=3,
            )
    _draw_selected(axes, checks, selected)
    axes.xaxis.set_major_locator(
        MaxNLocator(5, integer=True) if len(steps) > 1 else FixedLocator(steps.tolist())
    )
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    figures.name_axes(
        axes,
        f"{counted(len(checks), 'check')}, {counted(n_segments, unit)}",
        "step",
        "filled: real improvement; diamond: corrected",
    )
    levels = " and ".join(f"{100 * x:.10g}" for x in sorted({c.confidence_level for c in checks}))
    arrow = tabular.direction(checks[0].higher_is_better)
    label = figures.wrapped(f"{checks[0].metric} {arrow}, {levels} % interval", 28)
    axes.set_ylabel(label, fontsize=figures.SMALL)
    return axes


def _draw_selected(axes: Axes, checks: Sequence[Checkpoint], selected: Selected) -> None:
    """Draw the corrected score, with a label above the curve (below, if lower is better)."""
    axes.vlines(
        selected.step,
        selected.low,
        selected.high,
        colors=figures.VERMILLION,
        linewidth=1.2,
        zorder=5,
    )
    axes.plot(
        selected.step,
        selected.corrected,
        "D",
        color=figures.VERMILLION,
        markerfacecolor="none",
        markersize=6,
        zorder=6,
    )
    higher = checks[0].higher_is_better
    bottom = min(selected.low, *(check.low for check in checks))
    top = max(selected.high, *(check.high for check in checks))
    span = float(top - bottom) or 1.0
    limits = (bottom - 0.05 * span, top + 0.38 * span)
    axes.set_ylim(*(limits if higher else (bottom - 0.38 * span, top + 0.05 * span)))
    left, right = axes.get_xlim()
    place = (selected.step - left) / (right - left)
    decimals = tabular.decimals([selected.standard_error])
    observed, corrected = (
        tabular.number(value, decimals) for value in (selected.score, selected.corrected)
    )
    axes.annotate(
        f"step {selected.step:,}: {observed}\ncorrected: {corrected}",
        (selected.step, selected.high if higher else selected.low),
        (selected.step, 0.99 if higher else 0.01),
        textcoords=("data", "axes fraction"),
        ha="left" if place < 1 / 3 else "right" if place > 2 / 3 else "center",
        va="top" if higher else "bottom",
        color=figures.VERMILLION,
        fontsize=figures.SMALL,
        arrowprops={
            "arrowstyle": "-",
            "color": figures.VERMILLION,
            "linewidth": 0.6,
            "linestyle": ":",
        },
    )
