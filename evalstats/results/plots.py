"""Figures of results, for a paper's column: intervals, p-values, replicates.

Every function draws into `ax`, or into a figure of its own that is as high as its rows need, and
returns the axes. Several metrics are panels, one below the other, and an array of axes; `ax` is
then a sequence of as many. Colours are those of Okabe and Ito (2008) and cividis (Nuñez, Anderton
and Renslow, 2018), which colour-blind readers tell apart; what a colour says, a shape or a number
says as well. Needs matplotlib: ``pip install 'evalstats-text[plot]'``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, MissingExtraError
from evalstats.results import report
from evalstats.results.contrasts import contrast_of
from evalstats.results.escaping import printable
from evalstats.results.records import ComparisonRecord as Comparison
from evalstats.results.records import Difference, distinct, of_metric, ranked, size
from evalstats.results.records import EstimateRecord as Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: A column of a two-column paper, in inches.
WIDTH = 3.3
BLUE, VERMILLION, GREY, SKY = "#0072B2", "#D55E00", "#767676", "#56B4E9"
SMALL, _MEDIUM = 7, 8  # points
_FRAME, _BAR = 0.8, 0.35  # inches: axis and title, a colour bar
_GAP, _LINE = 0.07, 0.115  # inches: a row is as high as the lines of its label and a gap
_LABEL, _TEXT = 22, 46  # characters: of a row's label, of a title or axis label
#: More rows than these are no figure any more.
_MOST_ROWS = 40
_ANNOTATED = 9
_BINS = (0.0, 0.001, 0.01, 0.05, 0.1, 1.0)
#: Names break after these.
_PIECES = re.compile(r"[^\s\-_/.]*[\s\-_/.]?")


def scores(estimates: Sequence[Estimate], ax: Any = None) -> Any:
    """Draw scores with their intervals, best first."""
    return _panels(_scores, estimates, None, ax)


def _scores(estimates: Sequence[Estimate], ax: Axes | None) -> Axes:
    rows = ranked(estimates)
    axes, edges = rows_axes(ax, [e.system for e in rows])
    _score_whiskers(axes, rows, centres_of(edges), "Scores")
    return axes


def differences(comparison: Comparison, metric: str | None = None, ax: Any = None) -> Any:
    """Draw differences with their intervals, the largest first.

    A filled dot is a significant difference (adjusted p-value), blue where the system is better
    and vermillion where it is worse; an open one is no evidence of any. Of all pairs the better
    system comes first (but not of a one-sided test, which has its own direction), so that all
    differences have one sign.

    `metric` draws one metric only. More than 40 differences raise an `InputError`: draw `pvalues`,
    or compare with a baseline.
    """
    return _panels(partial(_differences, comparison), comparison.estimates, metric, ax)


def _differences(comparison: Comparison, estimates: Sequence[Estimate], ax: Axes | None) -> Axes:
    found = [d for d in comparison.differences if d.metric == estimates[0].metric]
    if len(found) > _MOST_ROWS:
        raise InputError(
            f"{len(found)} differences are too many rows; use plot_pvalues(), or compare with "
            f"baseline="
        )
    better = 1 if estimates[0].higher_is_better else -1
    rows = [_oriented(comparison, d) for d in found]
    rows.sort(key=lambda row: -better * row[2][0])
    one, contrast = comparison.baseline, contrast_of(comparison.contrast)
    labels = [d.system if one else f" {contrast.sign} ".join(names) for d, names, _ in rows]
    axes, edges = rows_axes(ax, labels, extra=0.15)
    axes.axvline(contrast.null, color=GREY, linewidth=0.6, zorder=0)
    certain = [comparison.significant(d) for d, _, _ in rows]
    colours = [
        GREY if not sure or d.winner is None else BLUE if d.winner == names[0] else VERMILLION
        for (d, names, _), sure in zip(rows, certain, strict=True)
    ]
    values = np.array([numbers for _, _, numbers in rows])
    _whiskers(axes, values, centres_of(edges), colours, certain)
    level = report.level(comparison.confidence_level)
    name_axes(
        axes,
        f"{contrast.column.capitalize()}s{contrast.to(one)}, {size(estimates[0])}",
        f"{contrast.column} {contrast.within} {_metric(estimates[0])}, {level}",
        f"filled: {_adjusted(comparison, found)}",
    )
    return axes


def pvalues(comparison: Comparison, metric: str | None = None, ax: Any = None) -> Any:
    """Draw the adjusted p-values of all pairs, best system first.

    A dot marks a significant difference. Up to nine systems the p-values are written out. Of a
    one-sided test, a cell is the row's system against the column's. A comparison with a baseline
    has no pairs and raises an `InputError`: draw `differences`.
    """
    if comparison.baseline is not None:
        raise InputError(
            "plot_pvalues needs all pairs, but this comparison has a baseline; use plot(), or "
            "compare without baseline="
        )
    return _panels(partial(_pvalues, comparison), comparison.estimates, metric, ax)


def _pvalues(comparison: Comparison, estimates: Sequence[Estimate], ax: Axes | None) -> Axes:
    from matplotlib.colors import BoundaryNorm

    every = ranked(estimates)
    place = {e.system: i for i, e in enumerate(every)}
    # Two-sided p-values stand below the diagonal: the best has no row, and the last no column.
    half = comparison.alternative == "two-sided"
    rows, n_columns = every[half:], len(every) - half
    axes, edges = rows_axes(ax, [e.system for e in rows], extra=0.57 if half else 0.45)
    centres = centres_of(edges)
    found = [d for d in comparison.differences if d.metric == rows[0].metric]
    cells = np.full((len(rows), n_columns), np.nan)
    certain = np.zeros(cells.shape, dtype=bool)
    for d in found:
        i, j = place[d.system], place[d.baseline]
        if half:
            i, j = max(i, j) - 1, min(i, j)
        cells[i, j], certain[i, j] = d.pvalue_adjusted, comparison.significant(d)
    mesh = axes.pcolormesh(
        np.arange(n_columns + 1) + 0.5,
        edges,
        np.ma.masked_invalid(cells),
        cmap="cividis",
        norm=BoundaryNorm(_BINS, 256),
        edgecolors="white",
        linewidth=0.3,
    )
    for i, j in np.argwhere(np.isfinite(cells)):
        ink = "white" if cells[i, j] < _BINS[3] else "black"
        if len(rows) <= _ANNOTATED:
            text = _short(cells[i, j])
            axes.text(j + 1, centres[i], text, ha="center", va="center", color=ink, fontsize=4.5)
        if certain[i, j]:
            x, y = (j + 1.35, edges[i] + 0.04) if len(rows) <= _ANNOTATED else (j + 1, centres[i])
            axes.plot(x, y, ".", color=ink, markersize=2)
    axes.tick_params(axis="y", pad=9 if len(every) < 10 else 14)
    for i, y in enumerate(centres):
        axes.annotate(
            str(i + 1 + half), (0, y), (-3, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="center", fontsize=SMALL,
        )  # fmt: skip
    step = 1 if n_columns <= 12 else 5
    shown = [i + 1 for i in range(n_columns) if step == 1 or i == 0 or (i + 1) % step == 0]
    axes.set_xticks(shown, [str(number) for number in shown])
    name_axes(
        axes,
        f"p-values, {_metric(rows[0])}, {size(rows[0])}",
        *([f"1: {every[0].system}"] if half else []),
        f"• {_adjusted(comparison, found)}",
    )
    inch = 1 / float(edges[-1])
    bar = axes.figure.colorbar(
        mesh, ax=axes, orientation="horizontal", fraction=0.09 * inch, pad=0.05 * inch, aspect=40
    )
    bar.set_ticks(list(_BINS), labels=[f"{edge:g}" for edge in _BINS])
    bar.ax.tick_params(labelsize=SMALL - 1)
    return axes


def replicates(estimates: Sequence[Estimate], ax: Any = None) -> Any:
    """Draw the distribution of each system's replicates, its score and its interval.

    Where nothing was resampled (the t interval) there are none: an `InputError`.
    """
    return _panels(_replicates, estimates, None, ax)


def _replicates(estimates: Sequence[Estimate], ax: Axes | None) -> Axes:
    rows = ranked(estimates)
    if any(len(e.replicates) == 0 for e in rows):
        raise InputError("there are no replicates: method 't' draws none, and JSON keeps none")
    axes, edges = rows_axes(ax, [e.system for e in rows], taller=0.15)
    height = 0.22
    floors = centres_of(edges) + height / 2
    for e, floor in zip(rows, floors, strict=True):
        bins = np.linspace(e.replicates.min(), e.replicates.max(), 41)
        if bins[0] < bins[-1]:
            counts, _ = np.histogram(e.replicates, bins)
            heights = np.repeat(height * counts / counts.max(), 2)
            outline = np.repeat(bins, 2)[1:-1]
            axes.fill_between(outline, floor, floor - heights, color=SKY, linewidth=0)
    _score_whiskers(axes, rows, floors, f"{len(rows[0].replicates):,} replicates")
    return axes


def _score_whiskers(
    axes: Axes, rows: Sequence[Estimate], places: NDArray[np.float64], title: str
) -> None:
    """Draw the scores with their intervals, and say what they are."""
    values = np.array([[e.score, e.low, e.high] for e in rows])
    _whiskers(axes, values, places, [BLUE] * len(rows), [True] * len(rows))
    level = report.level(rows[0].confidence_level)
    name_axes(axes, f"{title}, {size(rows[0])}", f"{_metric(rows[0])}, {level}")


def _panels(
    draw: Callable[[Sequence[Estimate], Any], Axes],
    estimates: Sequence[Estimate],
    metric: str | None,
    ax: Any,
) -> Any:
    """Draw one metric into its axes, or each of several into a panel as high as its rows."""
    names = [metric] if metric is not None else distinct(e.metric for e in estimates)
    if len(names) == 1:
        return draw(of_metric(estimates, names[0]), ax)
    axes = _own_panels(len(names)) if ax is None else np.ravel(ax)
    if len(axes) != len(names):
        raise InputError(f"ax must be {len(names)} axes, one for each metric, got {len(axes)}")
    for name, panel in zip(names, axes, strict=True):
        draw(of_metric(estimates, name), panel)
    if ax is None:
        heights = [abs(panel.get_ylim()[0] - panel.get_ylim()[1]) for panel in axes]
        lines = sum(panel.get_xlabel().count("\n") for panel in axes)
        figure = axes[0].figure
        bars = len(figure.axes) - len(axes)
        around = len(axes) * _FRAME + lines * _LINE + bars * _BAR
        axes[0].get_gridspec().set_height_ratios(heights)
        figure.set_size_inches(WIDTH, sum(heights) + around)
    return axes


def _own_panels(n: int) -> NDArray[np.object_]:
    first = own_axes(n)
    figure = first.figure
    first.remove()
    return np.ravel(figure.subplots(n, 1))


def own_axes(height: float) -> Axes:
    """Return the axes of a new figure, a column wide and so many inches high."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed: pip install 'evalstats-text[plot]'"
        ) from error
    figure = pyplot.figure(figsize=(WIDTH, height), layout="constrained", dpi=150)
    return figure.add_subplot()


def rows_axes(
    ax: Axes | None, labels: Sequence[str], *, extra: float = 0.0, taller: float = 0.0
) -> tuple[Axes, NDArray[np.float64]]:
    """Return axes with a row for each label, and the rows' edges in inches from the top."""
    labels = [wrapped(label, _LABEL) for label in labels]
    heights = [_GAP + taller + _LINE * (label.count("\n") + 1) for label in labels]
    edges = np.concatenate(([0.0], np.cumsum(heights)))
    axes = own_axes(_FRAME + extra + float(edges[-1])) if ax is None else ax
    axes.set_yticks(centres_of(edges), labels)
    axes.set_ylim(float(edges[-1]), 0.0)
    axes.tick_params(axis="y", length=0)
    return axes, edges


def centres_of(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of each row, in inches from the top."""
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def name_axes(axes: Axes, title: str, *below: str) -> None:
    """Set title and x label, from the right, where there is room for them over the names."""
    axes.set_title(wrapped(title, _TEXT), fontsize=_MEDIUM, loc="right")
    axes.set_xlabel("\n".join(wrapped(line, _TEXT) for line in below), fontsize=SMALL, loc="right")
    axes.tick_params(labelsize=SMALL, width=0.6)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(side in ("left", "bottom"))


def _whiskers(
    axes: Axes,
    values: NDArray[np.float64],
    places: NDArray[np.float64],
    colours: Sequence[str],
    filled: Sequence[bool],
) -> None:
    """Draw a point and an interval for each row of `values`, (score, low, high)."""
    axes.locator_params(axis="x", nbins=5)
    axes.hlines(places, values[:, 1], values[:, 2], colors=list(colours), linewidth=1.2)
    for (x, _, _), y, colour, full in zip(values, places, colours, filled, strict=True):
        axes.plot(
            x, y, "o", color=colour, markerfacecolor=colour if full else "white", markersize=4
        )


def _oriented(
    comparison: Comparison, d: Difference
) -> tuple[Difference, tuple[str, str], tuple[float, float, float]]:
    """Return a difference with the names and the numbers as they are drawn."""
    pairs = comparison.baseline is None and comparison.alternative == "two-sided"
    if pairs and d.winner == d.baseline:
        turned = contrast_of(d.contrast).turned
        return d, (d.baseline, d.system), (turned(d.value), turned(d.high), turned(d.low))
    return d, (d.system, d.baseline), (d.value, d.low, d.high)


def _metric(estimate: Estimate) -> str:
    return f"{estimate.metric} {report.direction(estimate.higher_is_better)}"


def _adjusted(comparison: Comparison, found: Sequence[Difference]) -> str:
    name = comparison.shown_pvalue(len(found) > 1)
    return f"{name} ≤ {comparison.significance_level:g}"


def _short(p: float) -> str:
    return "<.001" if p < 0.0005 else f"{p:.3f}".lstrip("0") if p < 0.9995 else "1"


def wrapped(text: str, width: int) -> str:
    """Break text into lines of at most `width` characters, in a word only where it is longer."""
    lines = [""]
    for piece in _PIECES.findall(printable(text)):
        while piece:
            if lines[-1] and len(lines[-1] + piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece[:width]
            piece = piece[width:]
    # No name is mathematics.
    return "\n".join(line.rstrip() for line in lines).replace("$", r"\$")
