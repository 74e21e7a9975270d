"""Monitor a training run: which checkpoints are really better than the best so far.

A run is evaluated again and again, and some of fifty noisy scores look like a new best even if
nothing improves. `Monitor` tests at every check whether the improvement is real, with one
significance level for the whole run, and corrects the best score for selection.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import also_called, check_same_index, integer, listed, share
from evalstats.designs.arrivals import carried_notes, named, reading, written
from evalstats.designs.spending import N_DRAWS, DrawnLooks, next_look, steady
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean, Metric, as_metric
from evalstats.metrics.base import MetricSignature
from evalstats.pictures import figures
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results import tabular, widths
from evalstats.results.records import Caution, barring, counted, lacking_unlike
from evalstats.results.signatures import Signature
from evalstats.statistics.extraction import extract
from evalstats.statistics.guards import FEW_EMPTY
from evalstats.statistics.interchange import is_same_metric
from evalstats.statistics.segments import SegmentStatistics, group_codes, summed_within
from evalstats.text.references import References
from evalstats.training.accumulator import Accumulator, checksums
from evalstats.training.history import (
    FIRST,
    Basis,
    BestSoFar,
    Checkpoint,
    History,
    Selected,
    Step,
    StepScore,
    bag_scores,
    flipped,
    out_of_bag_weights,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_VERSION = 6
#: Number of last checks in a table, besides the real improvements and the best step.
_MOST_ROWS = 20
#: Maximum numbers of checks with bars, and with open markers, in the figure.
_BARS, _OPEN = 25, 60


class Gold(list[Any]):
    """Gold labels of all segments, sets of labels, or numbers, for metrics of labels."""

    #: For texts, the signature has the number of references.
    label = None

    def __init__(self, labels: Any) -> None:
        super().__init__(listed(labels, "references", "gold labels, one per segment"))

    @property
    def fingerprint(self) -> str:
        """A hash of all labels, in their order."""
        digest = sha256()
        for gold in self:
            named = sorted(map(str, gold)) if isinstance(gold, AbstractSet) else [str(gold)]
            digest.update(repr(named).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def as_gold(metric: Metric, references: Any) -> References | Gold | None:
    """Return references in the form that the metric needs, `None` if it needs none."""
    if not metric.uses_references or isinstance(references, (References, Gold)):
        return references if metric.uses_references else None
    return References(references) if metric.reads_text else Gold(references)


class Monitor:
    """Test at every evaluation of a training run whether it is a real improvement.

    Parameters
    ----------
    references
        One entry per segment: a string, a list of strings (`None` if absent), or a `References`;
        gold labels for metrics of labels (`Confusion`). Leave them out for metrics without
        references (`Mean`, `Ratio`): ``Monitor(metric=Mean("accuracy"))``.
    metric : str or Metric
        Name or configured object.
    patience : int, optional
        Number of checks in a row without a real improvement after which `should_stop` is true; by
        default it never is.
    significance_level : float
        In (0, 1): bound on the probability that a run without any improvement reports one. It holds
        if many segments carry the differences; otherwise there is a note in `notes`.
    expected_checks : int
        Approximate number of checks: 0.9 of the level is spent on them, in equal parts, each of at
        least one of 32,768 sign flips. More or fewer checks are allowed.
    confidence_level : float
        In (0, 1): confidence of the intervals.
    groups : sequence, optional
        One label (a document, a speaker) per segment: groups are the units.
    n_resamples : int
        Number of resamples for the correction of the selected checkpoint's score.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these resamples.

    Raises
    ------
    InputError
        For bad input, and if the level is too small for the expected checks.

    Notes
    -----
    *Real improvement.* Each check is compared with the best step. This is the first step until a
    later step is a real improvement, and then that step, so small improvements add up. The p-value
    is the larger of two p-values, from a paired one-sided t test on influence values and from
    Hall's (1992) skewness-corrected t (for 0/1 scores it comes from McNemar's test), and at least
    2^-n if n segments differ. How small it must be (`Checkpoint.level`) depends on how much of the
    significance level the run may have spent so far, and on how strongly its looks depend on one
    another (`evalstats.training.history`). A check is not an improvement if its outputs are empty
    or all equal and the outputs of the best step are not, if it lacks scores that the best step
    has, or if the metric cannot process the texts (``basis.barred``).

    *The selected checkpoint* (`selected`) has the best score of all. Its score is corrected with
    resamples: each resample chooses a checkpoint, which is scored on the segments that the resample
    left out (`evalstats.training.history`; Tsamardinos, Greasidou and Borboudakis, 2018).

    A check that is interrupted leaves everything as it was before.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> monitor = Monitor(sample.references, "bleu", patience=5)
    >>> for step, name in enumerate(("baseline", "slightly-better", "clearly-better")):
    ...     check = monitor.check(step, sample.systems[name])
    ...     print(f"{check.score:.2f} {check.pvalue:.2g} {check.improved}")
    38.95 1 False
    39.59 0.22 False
    43.98 1.7e-09 True
    >>> print(check)  # doctest: +ELLIPSIS
    step 2: BLEU 43.98 [41.89, 46.08], +5.03 against step 0, p = ...: real improvement
    >>> monitor.best_step, monitor.should_stop, monitor.selected.optimism
    (2, False, 0.0)
    """

    @also_called(metrics="metric", seed="rng")
    def __init__(
        self,
        references: Any = None,
        metric: str | Metric = "bleu",
        *,
        patience: int | None = None,
        significance_level: float = 0.05,
        expected_checks: int = 50,
        confidence_level: float = 0.95,
        groups: Iterable[Hashable] | None = None,
        n_resamples: int = 250,
        rng: Rng = 12345,
    ) -> None:
        self.metric: Metric = as_metric(metric)
        if not self.metric.uses_references and references is not None:
            raise InputError(
                f"references must be None, because {self.metric.name} does not use any"
            )
        if self.metric.uses_references and references is None:
            raise InputTypeError(
                f"references is None, but {self.metric.name} requires one entry per segment"
            )
        check_same_index({"references": references, "groups": groups})
        self.references: References | Gold | None = as_gold(self.metric, references)
        self.seed: int = as_seed(rng)
        self.n_resamples: int = integer(n_resamples, "n_resamples", 1, 100_000)
        self._codes: NDArray[np.intp] | None = None
        if groups is not None:
            labels = listed(groups, "groups", "labels, one per segment")
            self._codes = group_codes(labels, len(self.references or labels))
        sizes = None if self._codes is None else np.bincount(self._codes)
        self._sizes = None if sizes is None or not np.any(sizes > 1) else sizes
        self.patience: int | None = None if patience is None else integer(patience, "patience", 1)
        self.significance_level: float = share(significance_level, "significance_level")
        self.expected_checks: int = integer(expected_checks, "expected_checks", 1)
        self.confidence_level: float = share(confidence_level, "confidence_level")
        self._check_draws()
        self._weights: NDArray[Any] | None = None
        self._history = History()

    def _check_draws(self) -> None:
        """Refuse a level if it leaves less than one draw for a check."""
        n_draws = self._spent(1) * N_DRAWS
        if n_draws < 1:
            most = int(self.expected_checks * n_draws)
            fewer = f"expect at most {most:,} checks (more may come), or " if most else ""
            least = 1.05 * self.significance_level / n_draws
            raise InputError(
                f"significance_level {self.significance_level:g} is too small for "
                f"expected_checks {self.expected_checks:,}: with {N_DRAWS:,} sign flips, no "
                f"improvement could be found; {fewer}use a significance_level of at least "
                f"{least:.2g}"
            )

    def _spent(self, n_looks: int) -> float:
        """Return the level that this number of looks may spend together.

        Expected looks have equal parts, and the sum is below α for any number of looks, so
        the end of the run need not be known.
        """
        return self.significance_level * steady(n_looks / self.expected_checks)

    def check(self, step: int, hypotheses: Any) -> Checkpoint:
        """Score the outputs of one step and compare them with the best step so far.

        Parameters
        ----------
        step : int
            The number of updates, for example; larger than at the last check.
        hypotheses
            N outputs, one per segment; or an `Accumulator` with ids, or a `SegmentStatistics` of
            one system, for the same metric.

        Bad input raises an `InputError`, and the monitor stays as it was.
        """
        step = integer(step, "step", 0, 2**53)
        last, better = self.last, bool(self.metric.higher_is_better)
        if last is not None and step <= last.step:
            raise InputError(
                f"step must be larger than {last.step}, the last step that was checked, got "
                f"{step}. If the run goes back, load the state from that step (load_state_dict)."
            )
        table, ids = self._outputs(f"step {step}", hypotheses)
        segments = np.asarray(table.values[0])
        rows = segments if self._codes is None else summed_within(segments[None], self._codes)[0]
        if len(rows) < 2:
            raise InputError(
                "at least 2 segments or groups are required to estimate uncertainty, got 1"
            )
        if self._weights is None or self._weights.shape[1] != len(rows):
            self._weights = out_of_bag_weights(len(rows), self.n_resamples, self.seed)
        history, alpha = self._history, 1 - self.confidence_level
        best, so_far, looks = history.best, history.so_far, history.looks
        cautions, barred = self._cautions(table)
        new = Step.of(self.metric, rows, self._sizes)
        bags = bag_scores(self.metric, rows, self._weights)
        interval, bounds = new.interval(segments, alpha)
        now = standing = StepScore(step, new.score)
        (below, above, pvalue), basis = FIRST
        difference, level, improved, waited = 0.0, 0.0, False, 0
        if last is None or best is None or so_far is None:
            winners = np.full(len(bags[0]), step, dtype=np.int64)
            so_far = BestSoFar(step, new.score, bags[1], winners, *bags)
        else:
            so_far = so_far.update(step, new.score, *bags, better)
            difference = new.score - last.best.score
            (below, above, pvalue), basis = new.compared(best, alpha)
            n_looks = len(self.checks)
            gain = (1 if better else -1) * (new.influence - best.influence)
            fraction, draws = n_looks / self.expected_checks, flipped(gain, self.seed)
            level, looks = next_look(looks, fraction, self.significance_level, steady, draws)
            improved = pvalue <= level and not barred
            if improved:
                # Later looks compare with a different step.
                looks = DrawnLooks(self._spent(n_looks))
            else:
                standing, waited = last.best, last.checks_without_improvement + 1
        check = Checkpoint(
            **now._asdict(),
            metric=self.metric.name,
            low=bounds[0],
            high=bounds[1],
            standard_error=new.spread.error,
            compared_with=None if last is None else last.best.step,
            difference=difference,
            difference_low=below,
            difference_high=above,
            pvalue=pvalue,
            level=level,
            improved=improved,
            best=standing,
            highest=StepScore(so_far.step, so_far.score),
            checks_without_improvement=waited,
            should_stop=self._stops(waited),
            higher_is_better=better,
            confidence_level=self.confidence_level,
            basis=Basis(interval, *basis, barred),
            notes=cautions,
        )
        kept = new if standing is now else best
        # One assignment: an interruption comes before it or after it.
        checks, ids = (*self.checks, check), history.segment_ids or ids
        self._history = History(checks, kept, so_far, looks, ids)
        return check

    def _stops(self, checks_without_improvement: int) -> bool:
        """Return whether the patience is used up."""
        return self.patience is not None and checks_without_improvement >= self.patience

    @property
    def checks(self) -> tuple[Checkpoint, ...]:
        """All checks, in order."""
        return self._history.checks

    @property
    def last(self) -> Checkpoint | None:
        """The last check, `None` before the first."""
        return self.checks[-1] if self.checks else None

    @property
    def best_step(self) -> int | None:
        """The last real improvement, or the first step; `None` before the first check."""
        return self.last.best.step if self.last else None

    @property
    def should_stop(self) -> bool:
        """Whether the patience is used up."""
        return self.last is not None and self._stops(self.last.checks_without_improvement)

    @property
    def selected(self) -> Selected:
        """The checkpoint with the best score, corrected; an InputError before the first check."""
        return self._history.selected()

    @property
    def notes(self) -> tuple[str, ...]:
        """Cautions of the checks, and a note if few segments decide in at least half of them."""
        bases = [check.basis for check in self.checks if check.basis.kurtosis is not None]
        counts, unit = [(basis.n_differing, basis.worth) for basis in bases], self._unit
        ending = (
            f"This is the case in most checks. If every step fails on a few different {unit}s, up "
            "to one in seven runs without any improvement reported one, instead of one in twenty"
        )
        cautions = (caution for check in self.checks for caution in check.notes)
        return *dict.fromkeys(cautions), *carried_notes(counts, unit, " from the best step", ending)

    def __repr__(self) -> str:
        """Return the checks as a table, with the best step marked, and the conclusions."""
        return tabular.Page(*self._standing()).text(widths.of_terminal())

    def _repr_html_(self) -> str:
        return tabular.Page(*self._standing()).fragment()

    def _standing(self) -> tuple[list[tabular.Table], list[str], list[str]]:
        last = self.last
        if last is None:
            return [], [f"{self.metric.name}: no checks yet."], [self.signature]
        waited, patience = last.checks_without_improvement, self.patience
        checks = f"{counted(waited, 'check')}{f' of {patience}' if patience else ''}"
        best = f"* best: step {last.best.step:,}, then {checks} without a real improvement"
        lines = [best + (": stop." if self.should_stop else "."), f"Highest: {self.selected}."]
        return [_table(self.checks)], [*lines, *self.notes], [self.signature]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the run so far, into `ax` if passed.

        Filled markers are real improvements; the others are open, and left out beyond 60 checks. Up
        to 25 checks have bars, more have a band. Raises an `InputError` before the first check, and
        without matplotlib (the extra `plot`).
        """
        best = self._history.best
        if best is None:
            raise InputError("there are no checks to plot yet; call check first")
        return _curve(self.checks, self.selected, len(best.rows), self._unit, ax)

    @property
    def signature(self) -> str:
        """Everything that identifies the numbers, as ``key:value|key:value``."""
        bases = [check.basis for check in self.checks]
        tests = {"paired-t-hall" if x.test == "t" else x.test for x in bases if x.test is not None}
        parts = {
            "nrefs": None if self.references is None else self.references.label,
            "test": "+".join(sorted(tests)) or None,
            "alt": "improvement",
            "ci": "+".join(sorted({basis.interval for basis in bases})) or None,
            "alpha": f"{self.significance_level:.10g}",
            "checks": f"{self.expected_checks:.10g}",
            "level": f"{self.confidence_level:.10g}",
            "n": str(self.n_resamples),
            "seed": str(self.seed),
            "unit": self._unit,
        }
        signed = MetricSignature.of(self.metric.signature)
        return str(Signature.create(self.metric.name, signed, parts))

    @property
    def _unit(self) -> str:
        return "segment" if self._codes is None else "group"

    def state_dict(self) -> dict[str, Any]:
        """Return the state needed to continue from here, as plain Python values for JSON.

        The checks, the statistics of the best step and a few numbers for each resample: about
        100 kB for BLEU on 2,000 segments and 0.5 kB for every check.
        """
        return written(_VERSION, self._options(), self._history.state())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state of `state_dict`, of this or another process.

        Parameters
        ----------
        state : mapping
            State of a monitor with the same references, metric and options; `patience` and
            `confidence_level` may differ.

        A state of a different monitor, or a damaged one, raises an `InputError`, and this monitor
        stays as it was.
        """
        with reading(state, self.state_dict(), "monitor") as known:
            self._history = History.of_state(known, self.metric, self._sizes)

    def _options(self) -> dict[str, Any]:
        """Return the options on which verdicts depend, by argument name."""
        references = "" if self.references is None else self.references.fingerprint
        groups = b"" if self._codes is None else self._codes.astype("<i8").tobytes()
        return {
            "metric": named(self.metric),
            "references or groups": sha256(references.encode() + groups).hexdigest()[:16],
            "significance_level": self.significance_level,
            "expected_checks": self.expected_checks,
            "n_resamples": self.n_resamples,
            "rng": self.seed,
        }

    def _cautions(self, table: SegmentStatistics) -> tuple[tuple[Caution, ...], str]:
        """Return what may make the score of a step invalid, and the kind that bars it, if any.

        Empty outputs, or outputs that are all alike, bar no step if the best one has such, too.
        """
        said = (one for several in table.cautions.values() for one in several)
        cautions = [x for x in said if isinstance(x, Caution) and x.kind != FEW_EMPTY]
        best, n, known = self._history.best, table.n_segments, ""
        if best is not None and self.metric.columns == Mean.columns:
            lacking = [n - int(np.sum(rows[:, 1])) for rows in (best.rows, table.values[0])]
            names = (f"step {self.best_step}", table.systems[0])
            if unlike := lacking_unlike(names, lacking, [n, n], unit="segment"):
                cautions.append(Caution(f"{unlike}.", "missing"))
        if best is not None:
            known = next(
                check.basis.barred for check in self.checks if check.step == self.best_step
            )
        bars = barring(x for x in cautions if x.kind not in ("empty", "alike") or x.kind != known)
        return tuple(cautions), bars.kind if bars else ""

    def _outputs(self, name: str, hypotheses: Any) -> tuple[SegmentStatistics, str | None]:
        """Return the statistics of one step, validated, and a hash of ids, if any."""
        table, best = self._statistics(name, hypotheses), self._history.best
        # The number of segments is known from references or groups, or from the first check.
        known: list[Any] = [self.references, self._codes, None if best is None else best.rows]
        expected = [len(given) for given in known if given is not None][:1]
        if expected not in ([], [table.n_segments]):
            raise InputError(
                f"hypotheses must have {expected[0]} segments, as in the references or in "
                f"earlier checks, got {table.n_segments}"
            )
        names = table.segment_ids
        ids = None if names is None else sha256(dumps(names).encode()).hexdigest()
        if None not in (ids, self._history.segment_ids) and ids != self._history.segment_ids:
            raise InputError(
                "hypotheses must have the same segment_ids as earlier checks, in the same order"
            )
        return table, ids

    def _statistics(self, name: str, hypotheses: Any) -> SegmentStatistics:
        """Return the statistics of one system before grouping."""
        marks = None
        if isinstance(hypotheses, Accumulator):
            if hypotheses.ids is None or hypotheses.ids != list(range(len(hypotheses))):
                raise InputError(
                    "the Accumulator must have ids, which are the positions 0 to N - 1 of all "
                    "segments in the references"
                )
            marks = hypotheses.checksums
            hypotheses = hypotheses.statistics(name)
        if not isinstance(hypotheses, SegmentStatistics):
            return extract({name: hypotheses}, self.references, self.metric)
        if not is_same_metric(hypotheses.metric, self.metric):
            raise InputError(
                f"hypotheses must be statistics of {self.metric!r}, got {hypotheses.metric!r}"
            )
        if len(hypotheses.systems) != 1:
            raise InputError(
                f"hypotheses must be statistics of one system, got {len(hypotheses.systems)}"
            )
        refs = self.references
        if refs is None or hypotheses.n_segments != len(refs):
            return hypotheses
        same = marks is None or isinstance(refs, Gold) or np.array_equal(marks, checksums(refs))
        if not same or hypotheses.fingerprint not in (None, refs.fingerprint):
            raise InputError(
                "hypotheses must be statistics computed with the references of the monitor; use "
                "the same references, in the same order, for both"
            )
        return hypotheses


def _table(checks: Sequence[Checkpoint]) -> tabular.Table:
    """Lay out the checks of a run, with marks on the best one and on improvements.

    If there are many, only the improvements and the last checks are shown.
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
        cells = ("", "", "") if c.compared_with is None else compared
        rows.append((mark, f"{c.step:,}", tabular.number(c.score, decimals), bounds, *cells))
    name = f"{checks[0].metric} {tabular.direction(checks[0].higher_is_better)}"
    interval = tabular.level(checks[-1].confidence_level)
    title = counted(len(checks), "check")
    if len(shown) < len(checks):
        title = f"{len(shown):,} of {title}: the best, real improvements and the last {_MOST_ROWS}"
    header = ("", "step", name, interval, "difference", "p", "level")
    marks = ("* best step, + real improvement",) if "+" in {r[0] for r in rows} else ()
    return tabular.Table(title, header, tuple(rows), "<" + 6 * ">", notes=marks)


def _curve(
    checks: Sequence[Checkpoint],
    selected: Selected,
    n_segments: int,
    unit: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of at least one check with their intervals, and the corrected score."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, ScalarFormatter, StrMethodFormatter

    axes, blue = figures.own_axes(ax, 2.5), figures.BLUE
    names = ("step", "score", "low", "high")
    steps, scores, lows, highs = np.array([[getattr(c, x) for x in names] for c in checks]).T
    improved = np.array([check.improved for check in checks])
    if len(checks) <= _BARS:
        axes.vlines(steps, lows, highs, colors=blue, linewidth=0.8, zorder=1)
    else:
        axes.fill_between(steps, lows, highs, color=blue, alpha=0.22, linewidth=0, zorder=1)
    axes.plot(steps, scores, "-", color=blue, linewidth=0.8, zorder=2)
    if len(checks) <= _OPEN:
        look: Any = {"color": figures.GREY, "markerfacecolor": "white", "markeredgewidth": 0.7}
        axes.plot(steps[~improved], scores[~improved], "o", markersize=3, zorder=3, **look)
    axes.plot(steps[improved], scores[improved], "o", color=blue, markersize=4, zorder=4)
    _draw_selected(axes, checks, selected)
    locator = MaxNLocator(5, integer=True) if len(steps) > 1 else FixedLocator(steps.tolist())
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    title = f"{counted(len(checks), 'check')}, {counted(n_segments, unit)}"
    figures.name_axes(axes, title, "step", "filled: real improvement; diamond: corrected")
    levels = " and ".join(f"{100 * x:.10g}" for x in sorted({c.confidence_level for c in checks}))
    arrow = tabular.direction(checks[0].higher_is_better)
    label = figures.wrapped(f"{checks[0].metric} {arrow}, {levels}% interval", 28)
    axes.set_ylabel(label, fontsize=figures.SMALL)
    return axes


def _draw_selected(axes: Axes, checks: Sequence[Checkpoint], selected: Selected) -> None:
    """Draw the corrected score, with a label above the curve (below, if lower is better)."""
    step, red, higher = selected.step, figures.VERMILLION, checks[0].higher_is_better
    axes.vlines(step, selected.low, selected.high, colors=red, linewidth=1.2, zorder=5)
    look: Any = {"color": red, "markerfacecolor": "none"}
    axes.plot(step, selected.corrected, "D", markersize=6, zorder=6, **look)
    bottom = min(selected.low, *(check.low for check in checks))
    top = max(selected.high, *(check.high for check in checks))
    span = float(top - bottom) or 1.0
    below, above = (0.05, 0.38) if higher else (0.38, 0.05)
    axes.set_ylim(bottom - below * span, top + above * span)
    left, right = axes.get_xlim()
    place = (step - left) / (right - left)
    decimals = tabular.decimals([selected.standard_error])
    observed, corrected = (
        tabular.number(value, decimals) for value in (selected.score, selected.corrected)
    )
    axes.annotate(
        f"step {step:,}: {observed}\ncorrected: {corrected}",
        (step, selected.high if higher else selected.low),
        (step, 0.99 if higher else 0.01),
        textcoords=("data", "axes fraction"),
        ha="left" if place < 1 / 3 else "right" if place > 2 / 3 else "center",
        va="top" if higher else "bottom",
        color=red,
        fontsize=figures.SMALL,
        arrowprops={"arrowstyle": "-", "color": red, "linewidth": 0.6, "linestyle": ":"},
    )
