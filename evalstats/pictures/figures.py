"""What all figures share: axes a paper's column wide, rows as high as their labels, panels.

Colours are Okabe and Ito's (2008); what a colour says, a shape or a number says as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast

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
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#767676"
#: What lies within a margin.
BAND = "#E8EEF3"
#: Colours and marks of what is told apart in one figure, of which there are no more.
SERIES = ((BLUE, "o"), (VERMILLION, "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "P"))
SMALL, MEDIUM = 7, 8  # points
_FRAME, _BAR = 0.8, 0.35  # inches: axis and title, a colour bar
_GAP, LINE = 0.07, 0.115  # inches: a row is as high as the lines of its label and a gap
_LABEL = 22  # characters of a row's label
_PAD, _NUMBER = 0.06, "0.00"  # inches beside names, and what stands for a number that is not known
#: Renderers draw so much wider at most.
_SPREAD = 1.03
#: Width of a character by its height.
_WIDE = 0.6
#: Inches of a curve.
_CURVE = 1.6
#: Names break after these.
_PIECES = re.compile(r"[^\s\-_/.]*[\s\-_/.]?")


def panels(
    draw: Callable[[T, Axes | None], Axes], groups: Sequence[T], ax: Panels | None
) -> Panels:
    """Draw a group into its axes, or each of several into a panel as high as its rows."""
    if len(groups) == 1:
        return draw(groups[0], cast("Axes | None", ax))
    axes = panels_of(
        own_figure(len(groups)).subplots(len(groups)) if ax is None else ax, len(groups)
    )
    for group, panel in zip(groups, axes, strict=True):
        draw(group, panel)
    if ax is None:
        _arrange(axes)
    return axes


def panels_of(ax: Panels, n: int) -> NDArray[np.object_]:
    """Return axes that were given, which must be so many."""
    axes = np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != n:
        raise InputError(f"ax must be {n} axes, one a panel, got {len(axes)}")
    return axes


def _arrange(axes: NDArray[np.object_]) -> None:
    """Give panels of a new figure their sizes."""
    figure = axes[0].figure
    heights = [abs(panel.get_ylim()[0] - panel.get_ylim()[1]) for panel in axes]
    lines = [panel.get_xlabel().count("\n") * LINE for panel in axes]
    n_bars = len(figure.axes) - len(axes)
    if n_bars:
        # Rows are as high as they are alone.
        axes[0].get_gridspec().set_height_ratios(heights)
    else:
        heights = [_CURVE] * len(axes)
    turned = [[t.get_text() for t in p.get_xticklabels() if t.get_rotation()] for p in axes]
    around = len(axes) * _FRAME + sum(lines) + n_bars * _BAR
    around += sum(room_of([*names, ""], SMALL) for names in turned)
    figure.set_size_inches(WIDTH, sum(heights) + around)


def room_of(names: Sequence[str], points: float) -> float:
    """Return the inches that names take which are turned by a right angle."""
    return max(map(len, names)) * _WIDE * points / 72


def own_figure(
    height: float, width: float = WIDTH, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return a new figure, by default a column wide, and so many inches high."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed: pip install 'evalstats-text[plot]'"
        ) from error
    return pyplot.figure(figsize=(width, height), layout=layout, dpi=150)


def own_axes(ax: Axes | None, height: float) -> Axes:
    """Return axes that were given, or those of a new figure, so many inches high."""
    own: Axes = own_figure(height).add_subplot() if ax is None else ax
    return own


def rows_axes(
    ax: Axes | None, labels: Sequence[str], *, extra: float = 0.0
) -> tuple[Axes, NDArray[np.float64]]:
    """Return axes with a row for each label, and the rows' edges in inches from the top."""
    labels = [wrapped(label, _LABEL) for label in labels]
    heights = [_GAP + LINE * (label.count("\n") + 1) for label in labels]
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


def legend_below(axes: Axes) -> None:
    """Put the legend below the label of the x axis."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, -0.35, axes.figure.dpi_scale_trans)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=below,
        fontsize=SMALL,
        frameon=False,
        borderaxespad=0.0,
    )


def name_axes(axes: Axes, title: str, *below: str) -> None:
    """Set x label and title, which begins where the names on the left do."""
    from matplotlib.transforms import ScaledTranslation

    names = [label.get_text() or _NUMBER for label in axes.get_yticklabels()]
    left = max(inches(name) for name in (*names, "")) + _PAD
    left += LINE + _PAD if axes.get_ylabel() else 0.0
    # Numbers of an axis are not known before it is drawn.
    place = axes.set_title(_lines(title, WIDTH, MEDIUM), fontsize=MEDIUM, loc="left", weight="bold")
    # matplotlib 3.8 leaves two pixels less for names.
    shift = ScaledTranslation(-0.97 * left, 0, axes.figure.dpi_scale_trans)
    place.set_transform(place.get_transform() + shift)
    lines = [_lines(line, WIDTH - left, SMALL) for line in below]
    axes.set_xlabel("\n".join(lines), fontsize=SMALL, loc="left")
    axes.tick_params(labelsize=SMALL, width=0.6)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(side in ("left", "bottom"))


def _lines(text: str, room: float, points: float) -> str:
    """Break a sentence into lines as wide as the room, in inches."""
    most = int(0.92 * room / inches("n", points))
    return "\n".join(wrap(printable(text), most, break_on_hyphens=False)).replace("$", r"\$")


def inches(text: str, points: float = SMALL) -> float:
    """Return how wide the widest line of a text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=points)
    # What stands for a dollar sign is written without its backslash.
    lines = text.replace(r"\$", "$").split("\n")
    sizes = (text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines)
    return _SPREAD * float(max(sizes)) / 72


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
