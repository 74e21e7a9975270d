"""What a planned test set can find: `Power`, with a `PairPower` for each pair and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from evalstats.results import tabular
from evalstats.results.convert import Count, Level, NotNegative, Share, Size, Whole
from evalstats.results.forms import Finding, Several
from evalstats.results.records import (
    Record,
    by_metric,
    counted,
    distinct,
    listed,
    metric_name,
    of_metric,
    plural,
)
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.pictures.figures import Panels
    from evalstats.pictures.marks import Curve

#: The cell of a number that does not exist.
_NO_NUMBER = "unreachable"
#: The most pairs shown; the ones with the largest least differences.
_MOST_PAIRS = 10
#: Columns of tables and their fields; some only if a difference was given.
_NAMES = {"system": "system", "baseline": "baseline"}
_OF_SIZES = {"least difference": "minimum", "power for {0.difference:g}": "power"}
_OF_PAIRS = {
    **_NAMES,
    "std. dev.": "standard_deviation",
    **_OF_SIZES,
    "{0._units} needed": "needed",
    "at most, {0.n_looks} looks": "largest",
    "on average": "expected",
    "{0._units} for a width of {0.width:g}": "for_width",
}
#: Columns shown only if the plan has them.
_WHERE = {
    **dict.fromkeys(("power", "needed", "runs_needed", "fewest_runs"), "difference"),
    **{"largest": "n_looks", "expected": "n_looks", "for_width": "width", "price": "price"},
}
_OF_RUNS = {
    **_NAMES,
    "std. dev. of runs": "run_deviation",
    "least difference, any {0._units}": "limit",
    "runs needed": "runs_needed",
    "fewest runs": "fewest_runs",
}
_OF_TRIALS = {
    "trials": "trials",
    "least difference": "minimum",
    "{0._units} needed for {0.difference:g}": "needed",
    "price": "price",
}
#: Points of a curve, and the least distance of a power from 0 and 1.
_POINTS, _LEAST = 100, 1e-9
#: The two curves: their units, and their fields in a record.
_CURVE = ("size", "minimum", "power")
_CURVES = (
    (None, "sizes", "minimums", "powers"),
    ("run", "runs", "run_minimums", "run_powers"),
    ("label", "labels", "label_minimums", "label_powers"),
)


@dataclass(frozen=True)
class RunPower:
    """The power of a test with several runs of each system, for one pair.

    Attributes
    ----------
    run_deviation : float or None
        The contribution of runs to the standard error is this over √R.
    limit : float or None
        Least difference that can be found with any number of segments and the planned runs.
    runs_needed, runs_needed_low, runs_needed_high : int or None
        Runs of each system needed to find the difference on the planned segments.
    fewest_runs : int or None
        With fewer runs, no number of segments is enough.
    runs, run_minimums, run_powers : tuple
        Least difference, and power, for several numbers of runs.
    """

    run_deviation: NotNegative | None = None
    limit: NotNegative | None = None
    runs_needed: Whole | None = None
    runs_needed_low: Whole | None = None
    runs_needed_high: Whole | None = None
    fewest_runs: Whole | None = None
    runs: tuple[Count, ...] = ()
    run_minimums: tuple[NotNegative | None, ...] = ()
    run_powers: tuple[Share, ...] = ()


@dataclass(frozen=True)
class TrialPower:
    """The power and cost of other numbers of trials per item, for one pair.

    Attributes
    ----------
    item_deviation, trial_deviation : float
        Standard deviations of the difference of two systems on an item: between items, and between
        trials.
    trials, trial_minimums : tuple
        Numbers of trials per item, and the least difference found on the planned items.
    trial_needed, prices : tuple
        Items needed to find the given difference, and their cost.
    most_trials : int
        The most trials per item of the cheapest design: four times the pilot's.
    cheapest_trials, cheapest_items, cheapest_price : int, int, float, or None
        The cheapest design that finds it; `None` if no price was passed.
    """

    item_deviation: NotNegative
    trial_deviation: NotNegative
    trials: tuple[Count, ...] = ()
    trial_minimums: tuple[NotNegative | None, ...] = ()
    trial_needed: tuple[Whole | None, ...] = ()
    prices: tuple[NotNegative | None, ...] = ()
    most_trials: Count = 1
    cheapest_trials: Count | None = None
    cheapest_items: Count | None = None
    cheapest_price: NotNegative | None = None

    def sentence(self, unit: str = "item") -> str:
        """Return a sentence: "Cheapest: 120 items with 2 trials each, for 360."."""
        if self.cheapest_items is None:
            return f"Cheapest: none. No number of {plural(unit)} and trials is enough."
        items, trials = self.cheapest_items, counted(self.cheapest_trials or 1, "trial")
        design = f"{counted(items, unit)} with {trials} each"
        said = f"Cheapest: {design}, for {self.cheapest_price:,.10g}."
        if self.cheapest_trials == self.most_trials:
            said += f" More than {self.most_trials} trials (four times the pilot) were not tried."
        return said


@dataclass(frozen=True)
class LabelPower:
    """The power of other numbers of human labels that correct a judge's scores, for one pair.

    Attributes
    ----------
    labelled : int
        Labelled segments, or groups, of the pilot.
    labels, label_minimums : tuple
        Numbers of labelled ones among the planned segments, and the least difference for each. One
        is the pilot's share, as in the other tables.
    label_powers : tuple
        Power for the given difference.
    labels_needed : int or None
        Labels needed to find it with the target power; `None` if labels of all segments are not
        enough.
    """

    labelled: Count
    labels: tuple[Count, ...]
    label_minimums: tuple[NotNegative | None, ...]
    label_powers: tuple[Share, ...] = ()
    labels_needed: Whole | None = None


@dataclass(frozen=True)
class DesignPower:
    """Further results of the plan of a pair.

    Attributes
    ----------
    discordant : float or None
        For 0/1 scores, the share of segments that differ.
    number : float or None
        For 0/1 scores against a number, the number as a share.
    largest, expected : int or None
        Segments needed by the looks for the difference, at most and on average.
    for_width, for_width_low, for_width_high : int or None
        Segments needed for the requested width of the interval.
    of_labels : LabelPower or None
        Set if human labels correct a judge's scores.
    """

    discordant: Share | None = None
    number: Share | None = None
    largest: Whole | None = None
    expected: Whole | None = None
    for_width: Whole | None = None
    for_width_low: Whole | None = None
    for_width_high: Whole | None = None
    of_labels: LabelPower | None = None


@dataclass(frozen=True)
class PairPower(Record):
    """The power of a test for one pair of systems; sizes of differences have no sign.

    Attributes
    ----------
    metric, baseline, system : str
        The metric and the pair of the pilot.
    observed : float
        The pilot's difference, system minus baseline.
    standard_deviation : float
        Standard deviation of one segment, or group: the standard error of the difference is this
        over √N.
    minimum, minimum_low, minimum_high : float or None
        Least difference that is found with the target power, and its interval; `None` if no
        difference can be found, for example with 0/1 scores on three segments.
    power, power_low, power_high : float or None
        Power for the given difference; `None` if none was passed.
    needed, needed_low, needed_high : int or None
        Segments needed to find it with the target power.
    sizes, minimums, powers : tuple
        Least difference, and power if a difference was passed, for several numbers of segments.
    higher_is_better : bool
        Direction of the metric.
    of_design : DesignPower
        Results for 0/1 scores, looks, widths and human labels.
    of_runs : RunPower or None
        Set if there are several runs of each system.
    of_trials : TrialPower or None
        Set if trials of items are planned.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.5, 5, 4.4, 3.2, 5.1]}
    >>> (pair,) = es.power(scores, metrics=es.Mean("quality"), difference=0.2)
    >>> print(f"{pair.system} - {pair.baseline}: {pair.minimum:.2f}, {pair.power:.2f}")
    B - A: 0.33, 0.42
    """

    metric: str
    baseline: str
    system: str
    observed: float
    standard_deviation: NotNegative
    minimum: NotNegative | None
    minimum_low: NotNegative | None
    minimum_high: NotNegative | None
    power: Share | None = None
    power_low: Share | None = None
    power_high: Share | None = None
    needed: Whole | None = None
    needed_low: Whole | None = None
    needed_high: Whole | None = None
    sizes: tuple[Count, ...] = ()
    minimums: tuple[NotNegative | None, ...] = ()
    powers: tuple[Share, ...] = ()
    higher_is_better: bool = True
    of_design: DesignPower = DesignPower()
    of_runs: RunPower | None = None
    of_trials: TrialPower | None = None

    derived = ("test", "discordant")

    @property
    def test(self) -> str:
        """The planned test: "t"; for 0/1 scores "mcnemar", or "score" against a number."""
        counted = "t" if self.discordant is None else "mcnemar"
        return counted if self.of_design.number is None else "score"

    @property
    def discordant(self) -> float | None:
        """For 0/1 scores, the share of segments that differ."""
        return self.of_design.discordant

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}, power"


@dataclass(frozen=True, repr=False)
class Power(Several[PairPower]):
    """What a test can find on a test set like the pilot; iterating yields `PairPower`.

    Attributes
    ----------
    pairs : tuple of PairPower
        One record per pair and metric.
    n_pilot, n_segments, unit : int, int, str
        Sizes of the pilot and of the planned test set, and their unit.
    difference : float or None
        Size of the true difference in question, in points of the score.
    target : float
        Target power.
    significance_level, alternative
        Level, in (0, 1), and direction of the test.
    confidence_level : float
        Confidence level of the intervals, which show how precisely the pilot estimates the
        variance.
    signatures, notes : tuple of str
        As in `Comparison`, one signature per metric.
    n_runs, pilot_runs, n_trials : int or None
        Planned runs of each system, the pilot's runs, and trials per item.
    price : (float, float) or None
        Price of an item, and of a trial of both systems on it.
    n_looks, width : int or None, float or None
        Planned looks, and requested width of an interval.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.5, 5, 4.4, 3.2, 5.1]}
    >>> plan = es.power(scores, metrics=es.Mean("quality"), difference=0.2)
    >>> plan.n_pilot, plan.target, plan.pairs[0].needed
    (6, 0.8, 12)
    """

    pairs: tuple[PairPower, ...]
    n_pilot: Count
    n_segments: Count
    unit: str
    difference: NotNegative | None
    target: Level
    significance_level: Level
    alternative: str
    confidence_level: Level
    signatures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    n_runs: Count | None = None
    pilot_runs: Count | None = None
    n_trials: Count | None = None
    price: tuple[NotNegative, NotNegative] | None = None
    n_looks: Count | None = None
    width: Size | None = None

    def plot(  # type: ignore[override]
        self,
        metric: str | None = None,
        ax: Panels | None = None,
    ) -> Panels:
        """Draw power, or the least difference, over the number of segments, for all metrics or one.

        The figure is drawn on `ax`, if passed.
        """
        from evalstats.pictures import plots

        return plots.curves(self._curves(metric), ax)

    def _finding(self, row: PairPower) -> Finding:
        """Return which difference can be found, and what the given difference needs."""
        n = counted(self.n_segments, self.unit)
        about = f"{row.system} - {row.baseline}, {row.metric}"
        if row.minimum is None:
            return Finding(f"{about}: {n} are too few to find any difference")
        least = tabular.number(row.minimum, tabular.decimals([row.minimum]))
        said = f"{about}: with {n}, a true difference of {least} is detected {_often(self.target)}"
        lines, design = list[str](), row.of_design
        if self.difference is not None and row.power is not None:
            lines = [
                f"A difference of {self.difference:g} would be found {100 * row.power:.0f}% of "
                f"the time. {self._number(row.needed)} would be enough to find it "
                f"{_often(self.target)}."
            ]
            if design.largest:
                lines.append(
                    f"With {self.n_looks} looks, you need at most "
                    f"{counted(design.largest, self.unit)}, and {design.expected:,} on average if "
                    "the difference is real (O'Brien-Fleming levels)."
                )
            if labels := design.of_labels:
                often = f"would be enough to find it {_often(self.target)}."
                if not labels.labels_needed:
                    often = "would not be enough. Let the judge score more segments."
                number = f"{labels.labels_needed or self.n_segments:,} of {n}"
                lines.append(f"Human labels for {number} (now {labels.labelled:,}) {often}")
        if self.width is not None:
            level = f"{tabular.level(self.confidence_level)} of width {self.width:g}"
            lines.append(f"{self._number(design.for_width)} would give the difference a {level}.")
        # The terminal shows one line of a finding.
        return Finding(said, lines=[" ".join(lines)] if lines else [])

    def _number(self, units: int | None) -> str:
        return counted(units, self.unit) if units else f"No number of {self._units}"

    def _curves(self, metric: str | None = None) -> list[Curve]:
        pairs = self.pairs if metric is None else of_metric(self.pairs, metric)
        return list(map(self._curve, by_metric(pairs).values()))

    def _curve(self, pairs: Sequence[PairPower]) -> Curve:
        """Return the power, or the least difference, by the number of units."""
        from evalstats.pictures.marks import Curve

        least, lines = self.difference is None, {}
        for pair in pairs:
            values = pair.minimums if least else pair.powers
            if points := _smooth(pair.sizes, values, is_share=not least):
                lines[f"{pair.system} − {pair.baseline}"] = points
        about = metric_name(pairs[0])
        title, up = f"Smallest difference in {about} found with power {self.target:g}", about
        if not least:
            title, up = f"Power to find a difference of {self.difference:g},\n{about}", "power"
        if len(lines) == 1:
            title += f": {next(iter(lines))}"
        target = None if least else self.target
        return Curve(lines, title, self._units, up, self.n_segments, target)

    def describe(self) -> str:
        """Return the sentences for a paper's methods section."""
        return (
            "Power is computed for a t test (noncentral t; Cohen, 1988) or, for 0/1 scores, for "
            "the score test (Miettinen, 1968; Connor, 1987), with the variance of the pilot."
        )

    @property
    def _units(self) -> str:
        return plural(self.unit)

    def _title(self) -> str:
        metrics = ", ".join(distinct(pair.metric for pair in self.pairs))
        return f"What {self.n_segments:,} {self._units} can find: {metrics}"

    def _tables(self, digits: int | None = None) -> list[Table]:
        tables, units = [], f"{self.n_segments:,} {self._units}"
        runs = f", {self.n_runs:,} runs (pilot {self.pilot_runs})" if self.n_runs else ""
        runs += f" of {counted(self.n_trials, 'trial')}" if self.n_trials else ""
        test = f"power {self.target:g} at level {self.significance_level:g}, "
        two_sided = self.alternative == "two-sided"
        test += self.alternative if two_sided else f"one-sided ({self.alternative})"
        for metric, records in by_metric(self.pairs).items():
            pairs = [
                {**vars(pair), **vars(pair.of_design), **vars(pair.of_runs or RunPower())}
                | ({} if pair.of_design.of_labels is None else vars(pair.of_design.of_labels))
                for pair in records
            ]
            decimals, first = tabular.decimals([p["minimum"] for p in pairs], digits), pairs[0]
            title = f"{metric} {tabular.direction(first['higher_is_better'])}, {units} "
            title += f"(pilot {self.n_pilot:,}){runs}, {test}"
            tables.append(self._table(title, _OF_PAIRS, pairs, decimals))
            if self.n_runs:
                title = f"{metric}, runs of each system on {units}"
                tables.append(self._table(title, _OF_RUNS, pairs, decimals))
            tables += [
                self._trials(f"{metric}, {p.system} - {p.baseline}", p.of_trials)
                for p in records
                if p.of_trials
            ]
            for unit, *curve in _CURVES if len(pairs) == 1 else ():
                sizes, minimums, powers = (first.get(name, ()) for name in curve)
                if sizes:
                    named = f"{metric}, {first['system']} - {first['baseline']}"
                    title = f"{named}, by number of {plural(unit or self.unit)}"
                    rows = zip(sizes, minimums, powers or minimums, strict=True)
                    points = [dict(zip(_CURVE, row, strict=True)) for row in rows]
                    columns = {f"{plural(unit or self.unit)}": "size", **_OF_SIZES}
                    decimals = tabular.decimals(minimums, digits)
                    tables.append(self._table(title, columns, points, decimals))
        return tables

    def _trials(self, name: str, plan: TrialPower) -> Table:
        """Lay out the power and cost of other numbers of trials per item."""
        decimals = tabular.decimals(plan.trial_minimums)
        prices = [None if price is None else f"{price:,.10g}" for price in plan.prices]
        columns = zip_longest(plan.trials, plan.trial_minimums, plan.trial_needed, prices)
        rows = [dict(zip(_OF_TRIALS.values(), row, strict=True)) for row in columns]
        notes = [
            f"The difference has a standard deviation of "
            f"{tabular.number(plan.item_deviation, decimals)} between {self._units} and of "
            f"{tabular.number(plan.trial_deviation, decimals)} between trials."
        ]
        if self.price is not None:
            item, trial = self.price
            notes.append(
                f"{plan.sentence(self.unit)} Each {self.unit} costs {item:g}, and one trial of "
                f"both systems costs {trial:g}."
            )
        title = f"{name}, {counted(self.n_segments, self.unit)}, by trials per {self.unit}"
        return self._table(title, _OF_TRIALS, rows, decimals, notes)

    def _table(
        self,
        title: str,
        names: dict[str, str],
        rows: list[dict[str, Any]],
        decimals: int,
        notes: Sequence[str] = (),
    ) -> Table:
        """Lay out fields of the rows with the largest least differences, with intervals if any."""
        more = len(rows) - _MOST_PAIRS
        if "system" in names and more > 0:
            rows = sorted(rows, key=lambda r: r["minimum"] or np.inf, reverse=True)
            low, high = (_cell(decimals, ("minimum",), rows[i]) for i in (-1, _MOST_PAIRS))
            notes = [f"The least differences of {more:,} more pairs lie between {low} and {high}."]
            rows = rows[:_MOST_PAIRS]
        columns: list[Column] = []
        level = f"[{tabular.level(self.confidence_level)}]"
        for name, key in names.items():
            if key in _WHERE and getattr(self, _WHERE[key]) is None:
                continue
            side, places = "<" if key in _NAMES else ">", 2 if key == "power" else decimals
            columns.append((name.format(self), side, partial(_cell, places, (key,))))
            low = f"{key}_low"
            # Assumed values have no interval.
            if low in rows[0] and any(row[low] != row[key] for row in rows):
                columns.append((level, ">", partial(_cell, places, (low, f"{key}_high"))))
        details = ["std. dev.", "std. dev. of runs"]
        if sum(header == level for header, *_ in columns) > 1:
            details.append(level)  # of the least difference; an interval that stands alone is shown
        return table_of(title, rows, columns, tuple(notes), details=details)


def _often(target: float) -> str:
    """Return how often a power is: "80% of the time"."""
    return f"{100 * target:g}% of the time"


def _smooth(
    sizes: Sequence[int], values: Sequence[float | None], is_share: bool
) -> list[tuple[float, float]]:
    """Return a hundred points of a curve, interpolated between the planned ones.

    On these scales both curves are nearly straight: Φ⁻¹ of a power over √n, and logarithms.
    """
    from scipy.special import ndtr, ndtri

    known = [(n, x) for n, x in zip(sizes, values, strict=True) if x]
    if len(known) < 2:
        return [(float(n), x) for n, x in known]
    xs, ys = np.array(known, dtype=float).T
    fine = np.geomspace(xs[0], xs[-1], _POINTS)
    if is_share:
        bent = ndtri(np.clip(ys, _LEAST, 1 - _LEAST))
        curve = ndtr(np.interp(np.sqrt(fine), np.sqrt(xs), bent))
    else:
        curve = np.exp(np.interp(np.log(fine), np.log(xs), np.log(ys)))
    return list(zip(fine.tolist(), curve.tolist(), strict=True))


def _cell(decimals: int, keys: Sequence[str], row: dict[str, Any]) -> str:
    """Return the text of a field, or the interval of two fields."""

    def text(value: Any) -> str:
        if isinstance(value, float):
            return tabular.number(value, decimals)
        return f"{value:,}" if isinstance(value, int) else str(value or _NO_NUMBER)

    ends = ", ".join(text(row[key]) for key in keys)
    return ends if len(keys) == 1 else f"[{ends}]"


def assumptions(
    result: Power, strata: Sequence[str], uneven: bool = False, elsewhere: bool = False
) -> Iterator[str]:
    """Yield notes on assumptions, their precision, and what cannot be found.

    `uneven`: groups have very different sizes; `elsewhere`: segments of moments.
    """
    units = plural(result.unit)
    what, pilot = units, f"{result.n_pilot:,} {units}"
    if result.pilot_runs:
        what, pilot = f"{units} and runs", f"{pilot} and {result.pilot_runs} runs"
    level = f"{100 * result.confidence_level:.10g}%"
    tests = {p.test for p in result}
    held = (
        ". For BLEU, chrF and TER, they contain the true value about 90% of the time"
        if "t" in tests
        else ""
    )
    if tests != {"score"}:
        yield (
            f"This assumes that future {what} vary as much as the pilot's. The {level} "
            f"intervals show how precise an estimate from {pilot} is{held}."
        )
    if uneven:
        yield (
            f"The {units} have very different sizes, so do not rely on this prediction. For "
            "documents, it predicted 54% when 100% of differences were found, and 76% when 65% "
            "were."
        )
    if elsewhere:
        yield (
            f"The {level} intervals assume normal data, because only sums are known. For BLEU, "
            "chrF and TER, they are too short."
        )
    if strata:
        yield f"This assumes that {listed(strata, 4)} keep their shares of the {units}."
    if reached := distinct(p.metric for p in result if p.test == "score"):
        yield (
            f"{', '.join(reached)}: this plan is for the score test of 0/1 scores. It assumes that "
            "the true share differs from the number by the given difference. The pilot's share "
            "does not matter."
        )
    if any(p.baseline.startswith("another, ") for p in result):
        yield (
            "There is no second system yet. This assumes that it varies as much as this one, and "
            "that their scores have this correlation. A pilot with two systems would measure both."
        )
    if paired := distinct(p.metric for p in result if p.test == "mcnemar"):
        yield (
            f"{', '.join(paired)}: this plan is for McNemar's test of 0/1 scores. It assumes that "
            f"the systems differ on the same share of {units} as in the pilot. The intervals cover "
            "the uncertainty of this share."
        )
    if any(p.minimum is None for p in result):
        yield f'"{_NO_NUMBER}" means that no difference can be found with so few {units}.'
    if result.n_runs and result.difference is not None and any(p.needed is None for p in result):
        yield (
            f"Runs vary so much that with {result.n_runs} per system, a difference of "
            f"{result.difference:g} cannot be found with this power, however many {units} you use. "
            "'fewest runs' is the number of runs that you need."
        )
