"""Parts of all figures: axes as wide as a paper's column, rows as high as labels, panels.

Colours are Okabe and Ito's (2008); a shape or a number always has the same information.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, MissingExtraError
from evalstats.results.tabular import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure

    #: Axes, or an array of axes for several panels.
    Panels: TypeAlias = Axes | NDArray[np.object_]

T = TypeVar("T")

#: A column of a two-column paper, in inches.
WIDTH = 3.3
#: Vermillion is darker than theirs, so that words in it can be read on white (4.5:1).
BLUE, VERMILLION, GREY = "#0072B2", "#C25400", "#767676"
#: The band within a margin.
BAND = "#E8EEF3"
#: Colours and marks of the series in one figure; the most series.
SERIES = ((BLUE, "o"), (VERMILLION, "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "P"))
SMALL, MEDIUM = 7, 8  # points
FRAME = 0.8  # inches: axis and title
_GAP, LINE = 0.07, 0.115  # inches: the height of a row is its label's lines and a gap
LABEL = 22  # characters per line of a row's label
_PAD, _NUMBER = 0.06, "0.00"  # inches beside names, and a placeholder for unknown numbers
#: Renderers draw at most this much wider.
_SPREAD = 1.03
#: Width of a character relative to its height.
_WIDE = 0.6
#: The last character of Latin-1, which every font has; and a replacement character.
_LATIN, _BOX = "\xff", "□"
_NO_FONT = (
    "no installed font has all characters of these names, and the figure shows boxes instead: "
    "install a font such as Noto Sans CJK (fonts-noto-cjk in Debian and Ubuntu), or use HTML"
)
#: Names break after these.
_PIECES = re.compile(r"[^\s\-_/.]*[\s\-_/.]?")


class AxesOfOne(np.ndarray[Any, np.dtype[np.object_]]):
    """The axes of one figure, `(P,)`, with the attribute `figure` of single axes."""

    @property
    def figure(self) -> Figure:
        """The figure: it saves itself with ``savefig``."""
        figure: Figure = self.flat[0].figure
        return figure


def panels(
    draw: Callable[[T, Axes], object],
    groups: Sequence[T],
    ax: Panels | None,
    heights: Sequence[float],
    width: float = WIDTH,
) -> Panels:
    """Draw each group into axes, or into a panel (height in inches) of a new figure."""
    if ax is None:
        drawn = own_figure(sum(heights), width).subplots(len(groups), height_ratios=heights)
        ax = drawn.view(AxesOfOne) if isinstance(drawn, np.ndarray) else drawn
    axes = panels_of(ax, len(groups))
    for group, panel in zip(groups, axes, strict=True):
        draw(group, panel)
    return ax


def panels_of(ax: Panels, n: int) -> NDArray[np.object_]:
    """Return given axes, after a check of their number."""
    axes = np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != n:
        raise InputError(f"ax must be {n} axes, one per panel, got {len(axes)}")
    return axes


def own_figure(
    height: float, width: float = WIDTH, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return a new figure, by default as wide as a column; sizes in inches."""
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout=layout, dpi=150)


def require_matplotlib() -> None:
    """Raise an error that names the extra if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "plots require matplotlib, which is not installed: pip install '.[plot]'"
        ) from error


def own_axes(ax: Axes | None, height: float) -> Axes:
    """Return given axes, or the axes of a new figure of this height in inches."""
    axes: Axes = own_figure(height).add_subplot() if ax is None else ax
    return axes


def edges_of(labels: Sequence[str]) -> NDArray[np.float64]:
    """Return the edges of rows that are as high as their labels, in inches from the top."""
    lines = [wrapped(label, LABEL).count("\n") + 1 for label in labels]
    return np.cumsum([0.0, *(_GAP + LINE * n for n in lines)])


def name_rows(axes: Axes, labels: Sequence[str]) -> NDArray[np.float64]:
    """Name the rows of axes, and return their edges."""
    edges, labels = edges_of(labels), [wrapped(label, LABEL) for label in labels]
    axes.set_yticks(centres_of(edges), labels, **font_of("".join(labels)))
    axes.set_ylim(float(edges[-1]), 0.0)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    return edges


def centres_of(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of each row, in inches from the top."""
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def legend_below(axes: Axes) -> None:
    """Put the legend below the label of the x axis."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, -0.35, axes.figure.dpi_scale_trans)
    names = "".join(map(str, axes.get_legend_handles_labels()[1]))
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=below,
        prop={"size": SMALL, **font_of(names)},
        frameon=False,
        borderaxespad=0.0,
    )


def name_axes(axes: Axes, title: str, *below: str) -> None:
    """Set x label and title, which begins at the names on the left."""
    from matplotlib.transforms import ScaledTranslation

    names = [label.get_text() or _NUMBER for label in axes.get_yticklabels()]
    left = max(inches(name) for name in (*names, "")) + _PAD
    left += LINE if axes.get_ylabel() else 0.0
    # Numbers of an axis are not known before it is drawn.
    title = _lines(title, WIDTH, MEDIUM)
    style = {"weight": "bold", **font_of(title)}
    place = axes.set_title(title, fontsize=MEDIUM, loc="left", **style)
    # matplotlib 3.8 has two pixels less for names.
    shift = ScaledTranslation(-0.97 * left, 0, axes.figure.dpi_scale_trans)
    place.set_transform(place.get_transform() + shift)
    lines = [_lines(line, WIDTH - left, SMALL) for line in below]
    axes.set_xlabel("\n".join(lines), fontsize=SMALL, loc="left")
    axes.tick_params(labelsize=SMALL, width=0.6)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(side in ("left", "bottom"))


def _lines(text: str, room: float, points: float) -> str:
    """Break lines into lines as wide as the room, in inches."""
    most = int(0.92 * room / inches("n", points))
    parts = (wrap(_legible(line), most, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join(line for part in parts for line in part).replace("$", r"\$")


def inches(text: str, points: float = SMALL) -> float:
    """Return how wide the widest line of a text is."""
    require_matplotlib()
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=points, **font_of(text))
    # An escaped dollar sign is drawn without its backslash.
    lines = text.replace(r"\$", "$").split("\n")
    sizes = (text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines)
    return _SPREAD * float(max(sizes)) / 72


def wrapped(text: str, width: int) -> str:
    """Break text into lines of at most `width` characters, within a word only if it is longer."""
    lines = [""]
    for piece in _PIECES.findall(_legible(text)):
        while piece:
            if lines[-1] and len(lines[-1] + piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece[:width]
            piece = piece[width:]
    # Names are not mathematics.
    return "\n".join(line.rstrip() for line in lines).replace("$", r"\$")


def _legible(text: str) -> str:
    """Return text on one line, with boxes for characters that no installed font has."""
    return "".join(c if c <= _LATIN or _family(c, _usual()) is not None else _BOX
                   for c in printable(text))  # fmt: skip


def font_of(text: str) -> dict[str, Any]:
    """Return the families of fonts that a text needs, as matplotlib takes them; none for most."""
    others = dict.fromkeys(_family(c, _usual()) for c in text if c > _LATIN)
    families = list(filter(None, others))
    if not families:
        return {}
    from matplotlib import rcParams

    # Many families have no bold font.
    return {"family": [*rcParams["font.family"], *families], "weight": "normal"}


def _usual() -> str:
    """Return the file of the font of all figures; rows are measured before there is a figure."""
    require_matplotlib()
    from matplotlib.font_manager import FontProperties, findfont

    return str(findfont(FontProperties()))


@cache
def _family(sign: str, usual: str) -> str | None:
    """Return the family of a font that has a sign, "" if it is the usual one, `None` if none is."""
    from matplotlib.font_manager import get_font

    if get_font(usual).get_char_index(ord(sign)):
        return ""
    family = next((name for name, signs in _installed() if ord(sign) in signs), None)
    if family is None:
        # Python shows warnings from one line only once.
        warnings.warn(_NO_FONT, stacklevel=2)
    return family


@cache
def _installed() -> list[tuple[str, frozenset[int]]]:
    """Return the families of upright fonts of middle weight, and the signs that each has."""
    from matplotlib.font_manager import fontManager, get_font

    # The last-resort font has boxes for all characters.
    upright = {
        entry.name: entry.fname
        for entry in fontManager.ttflist
        if (entry.style, entry.weight) == ("normal", 400) and "Last" not in entry.name
    }
    return [(name, frozenset(get_font(file).get_charmap())) for name, file in upright.items()]
