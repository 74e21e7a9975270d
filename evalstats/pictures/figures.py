"""What all figures share: axes a paper's column wide, rows as high as their labels, panels.

Colours are Okabe and Ito's (2008); what a colour says, a shape or a number says as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, MissingExtraError
from evalstats.results.tabular import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure

    #: Axes, or of several panels an array of them.
    Panels: TypeAlias = Axes | NDArray[np.object_]

T = TypeVar("T")

#: A column of a two-column paper, in inches.
WIDTH = 3.3
BLUE, VERMILLION, GREY, SKY = "#0072B2", "#D55E00", "#767676", "#56B4E9"
#: What lies within a margin.
BAND = "#E8EEF3"
#: Colours and marks of what is told apart in one figure, of which there are no more.
SERIES = ((BLUE, "o"), (VERMILLION, "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "P"))
SMALL, _MEDIUM = 7, 8  # points
_FRAME, _BAR = 0.8, 0.35  # inches: axis and title, a colour bar
_GAP, _LINE = 0.07, 0.115  # inches: a row is as high as the lines of its label and a gap
_LABEL, _TEXT = 22, 46  # characters: of a row's label, of a title or axis label
#: Width of a character by its height.
_WIDE = 0.6
#: Panels beside one another at most; inches of their names and of each; characters of a title.
_BESIDE, _NAMES, _PANEL, _SHORT = 6, 1.1, 2.1, 30
#: Names break after these.
_PIECES = re.compile(r"[^\s\-_/.]*[\s\-_/.]?")


def panels(
    draw: Callable[[T, Axes | None], Axes],
    groups: Sequence[T],
    ax: Panels | None,
    beside: bool = False,
) -> Panels:
    """Draw a group into its axes, or each of several into a panel as high as its rows.

    Groups of the same rows, in the same order, may stand `beside` one another and share the names.
    """
    if len(groups) == 1:
        return draw(groups[0], cast("Axes | None", ax))
    beside = beside and len(groups) <= _BESIDE
    given: Any = ax
    if ax is None:
        given = own_figure(len(groups)).subplots(
            *((1, len(groups)) if beside else (len(groups), 1))
        )
    axes = np.ravel(given)
    if len(axes) != len(groups):
        raise InputError(f"ax must be {len(groups)} axes, one a panel, got {len(axes)}")
    for group, panel in zip(groups, axes, strict=True):
        draw(group, panel)
    if ax is None:
        _arrange(axes, beside)
    return axes


def _arrange(axes: NDArray[np.object_], beside: bool) -> None:
    """Give panels of a new figure their sizes, and those with the same words one scale."""
    figure = axes[0].figure
    for label in {panel.get_xlabel() for panel in axes}:
        alike = [panel for panel in axes if panel.get_xlabel() == label]
        limits = [panel.get_xlim() for panel in alike]
        for panel in alike:
            panel.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
    heights = [abs(panel.get_ylim()[0] - panel.get_ylim()[1]) for panel in axes]
    lines = [panel.get_xlabel().count("\n") * _LINE for panel in axes]
    n_bars = len(figure.axes) - len(axes)
    if beside:
        for panel in axes[1:]:
            panel.set_yticks(panel.get_yticks(), [""] * len(panel.get_yticks()))
        around = _FRAME + max(lines) + (_BAR if n_bars else 0.0)
        turned = [[t.get_text() for t in p.get_xticklabels() if t.get_rotation()] for p in axes]
        around += max(room_of([*names, ""], SMALL) for names in turned)
        titles = max(panel.get_title(loc="right").count("\n") for panel in axes) * _LINE
        figure.set_size_inches(_NAMES + len(axes) * _PANEL, max(heights) + around + titles)
        return
    axes[0].get_gridspec().set_height_ratios(heights)
    around = len(axes) * _FRAME + sum(lines) + n_bars * _BAR
    figure.set_size_inches(WIDTH, sum(heights) + around)


def room_of(names: Sequence[str], points: float) -> float:
    """Return the inches that names take which are turned by a right angle."""
    return max(map(len, names)) * _WIDE * points / 72


def own_figure(height: float) -> Figure:
    """Return a new figure, a column wide and so many inches high."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed: pip install 'evalstats-text[plot]'"
        ) from error
    return pyplot.figure(figsize=(WIDTH, height), layout="constrained", dpi=150)


def own_axes(ax: Axes | None, height: float) -> Axes:
    """Return axes that were given, or those of a new figure, so many inches high."""
    own: Axes = own_figure(height).add_subplot() if ax is None else ax
    return own


def rows_axes(
    ax: Axes | None, labels: Sequence[str], *, extra: float = 0.0, taller: float = 0.0
) -> tuple[Axes, NDArray[np.float64]]:
    """Return axes with a row for each label, and the rows' edges in inches from the top."""
    labels = [wrapped(label, _LABEL) for label in labels]
    heights = [_GAP + taller + _LINE * (label.count("\n") + 1) for label in labels]
    edges = np.concatenate(([0.0], np.cumsum(heights)))
    axes = own_axes(ax, _FRAME + extra + float(edges[-1]))
    axes.set_yticks(centres_of(edges), labels)
    axes.set_ylim(float(edges[-1]), 0.0)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    return axes, edges


def centres_of(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of each row, in inches from the top."""
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def forest(
    axes: Axes,
    values: Sequence[tuple[float, float, float]],
    places: Sequence[float] | NDArray[np.float64],
    colours: Sequence[str],
    filled: Sequence[bool] | None = None,
    marks: str | Sequence[str] = "o",
    label: str | None = None,
) -> None:
    """Draw a point and an interval for each row of `values`, (value, low, high)."""
    rows, filled = np.array(values), [True] * len(values) if filled is None else filled
    axes.hlines(places, rows[:, 1], rows[:, 2], colors=list(colours), linewidth=1.2)
    marks = [marks] * len(rows) if isinstance(marks, str) else marks
    labels = [label or "_nolegend_", *["_nolegend_"] * (len(rows) - 1)]
    each = zip(rows[:, 0], places, colours, filled, marks, labels, strict=True)
    for x, y, colour, full, mark, own in each:
        face = colour if full else "white"
        axes.plot(x, y, mark, color=colour, markerfacecolor=face, markersize=4, label=own)


def legend_below(axes: Axes) -> None:
    """Put the legend below the label of the x axis."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, -0.35, axes.figure.dpi_scale_trans)
    axes.legend(
        loc="upper right",
        bbox_to_anchor=(1.0, 0.0),
        bbox_transform=below,
        fontsize=SMALL,
        frameon=False,
        ncols=2,
    )


def name_axes(axes: Axes, title: str, *below: str) -> None:
    """Set title and x label, from the right, where there is room for them over the names."""
    place = axes.get_subplotspec()
    # A panel beside others has less room.
    room = _SHORT if place is not None and place.get_geometry()[1] > 1 else _TEXT
    axes.set_title(wrapped(title, room), fontsize=_MEDIUM, loc="right")
    axes.set_xlabel("\n".join(wrapped(line, room) for line in below), fontsize=SMALL, loc="right")
    axes.tick_params(labelsize=SMALL, width=0.6)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(side in ("left", "bottom"))


def wrapped(text: str, width: int) -> str:
    """Break text into lines of at most `width` characters, in a word only where it is longer."""
    found = [""]
    for piece in _PIECES.findall(printable(text)):
        while piece:
            if found[-1] and len(found[-1] + piece.rstrip()) > width:
                found.append("")
            found[-1] += piece[:width]
            piece = piece[width:]
    # No name is mathematics.
    return "\n".join(line.rstrip() for line in found).replace("$", r"\$")
