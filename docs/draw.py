"""Draw the figures of README.md and of these pages: `python docs/draw.py`.

Every figure is drawn by evalstats itself from the bundled sample, or from committed results. A file
holds a digest of what it shows, so that a test can say whether it is current under any matplotlib.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import evalstats as es
from docs import fill
from evalstats.data import examples, load_sample
from evalstats.pictures.figures import BLUE, GREY, VERMILLION

FOLDER = Path(__file__).with_name("figures")
#: Of a file that is shown by itself, such as in a README; in a page it is the page's.
_ALONE = """<style>
svg:root { background: #ffffff }
svg:root text { fill: currentColor }
@media (prefers-color-scheme: dark) {
 svg:root { background: #0d1117; color: #e6edf3; --paper: #0d1117;
  --better: #58a6ff; --worse: #f0883e; --soft: #8b949e }
}
</style>"""
#: matplotlib's own colours of text, lines and paper, and what follows the page's theme.
_THEMED = (
    (r"(fill|stroke): ?#000000", r"\1: currentColor"),
    (r"(fill|stroke): ?#ffffff", r"\1: var(--paper, #ffffff)"),
    *(
        (f"(fill|stroke): ?{colour.lower()}", rf"\1: var(--{name}, {colour.lower()})")
        for name, colour in (("better", BLUE), ("worse", VERMILLION), ("soft", GREY))
    ),
)


def trained(step: int) -> list[str]:
    """Return the outputs of a model at some step of a run, which improves until step 800."""
    rng = random.Random(step)
    quality = min(step, 800) / 900
    pairs = zip(*(load_sample().systems[x] for x in ("baseline", "clearly-better")), strict=True)
    return [better if rng.random() < quality else worse for worse, better in pairs]


def forest() -> Any:
    """Draw the four systems of the sample against the baseline, as `evalstats demo` has them."""
    found = load_sample()
    return es.compare(found.systems, found.references, baseline="baseline").plot()


def training() -> Any:
    """Draw a training run."""
    monitor = es.Monitor(load_sample().references, "bleu", patience=8)
    for step in range(100, 10_000, 100):
        if monitor.check(step, trained(step)).should_stop:
            break
    return monitor.plot()


def influence() -> Any:
    """Draw the segments that move a difference most."""
    found = load_sample()
    return (
        es.compare(found.systems, found.references, baseline="baseline")
        .influence("BLEU", "slightly-better", "baseline")
        .plot()
    )


def noise() -> Any:
    """Draw how often each tool reports a difference where there is none."""
    from benchmarks.calibration.tables import load
    from evalstats.pictures.marks import Mark

    rates = {
        cell.rpartition(" / ")[2]: counts["p ≤ .05"]
        for cell, counts in load().items()
        if cell.startswith("peers")
    }
    rows = []
    for name, (count, trials) in rates.items():
        x = 100 * count / trials
        spread = 1.96 * (x * (100 - x) / trials) ** 0.5
        kind = "better" if name.startswith("evalstats") else "worse"
        rows.append((name, f"{x:.1f}%", f"{trials:,}", Mark(x, x - spread, x + spread, kind)))
    names = ("tool", "called different", "trials")
    title = "Equal systems that tools call different, at the level of 5%"
    return drawn_table(title, names, rows, "% of trials, 95% interval", 5.0)


def drawn_table(title: str, names: tuple[str, ...], rows: Any, label: str, null: float) -> Any:
    """Draw a table of our own: a row is a name, numbers, and a mark."""
    from evalstats.pictures.marks import Forest
    from evalstats.pictures.tables import tables
    from evalstats.results.tabular import Table

    drawn = Forest(tuple((row[-1],) for row in rows), 1, label, null=null)
    cells, align = tuple(row[:-1] for row in rows), "<" + ">" * (len(names) - 1)
    return tables([Table(title, names, cells, align, draw=lambda: drawn)])


def judge() -> Any:
    """Draw a difference by a judge alone, by people alone, and by both."""
    from evalstats.pictures.marks import Mark
    from evalstats.results import tabular

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        examples.write(folder)
        by_judge, by_people = (
            es.compare_logs(folder / f"{file}.csv", metric="correct")["tuned", "base"]
            for file in ("answers", "labels")
        )
        by_both = es.compare_logs(
            folder / "answers.csv", metric="correct", human=folder / "labels.csv"
        )["tuned", "base"]
    found = {
        "the judge, 800 items": by_judge,
        "people, 120 items": by_people,
        "both": by_both,
    }
    rows = []
    for (name, d), kind in zip(found.items(), ("worse", "open", "better"), strict=True):
        numbers = tabular.number(d.difference, 3, True), tabular.interval(d.low, d.high, 3, True)
        rows.append((name, *numbers, Mark(d.difference, d.low, d.high, kind)))
    names = ("labels by", "difference", "[95% interval]")
    return drawn_table("tuned - base", names, rows, "difference, 95% interval", 0.0)


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    here = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


def commands(lines: list[str]) -> Any:
    """Return the axes of the figure that the last of these commands writes."""
    shown: list[Any] = []
    with tempfile.TemporaryDirectory() as name, _inside(name):
        examples.write(Path())
        with mock.patch("matplotlib.figure.Figure.savefig", lambda x, *_, **__: shown.append(x)):
            for line in lines:
                fill.printed(line)
    return shown[-1].axes


#: Figures by name: those that a block of commands of the gallery writes, and others.
FIGURES: dict[str, Callable[[], Any]] = {
    match[1]: partial(commands, fill.ours(block))
    for block, _ in fill.commands(Path(__file__).with_name("gallery.md").read_text("utf-8"))
    if (match := re.search(r"-o (\w+)\.svg$", block.strip()))
}
FIGURES |= {x.__name__: x for x in (forest, training, influence, noise, judge)}


def digest(figure: Any) -> str:
    """Return a digest of what a figure shows: its texts, and its points to three digits."""
    from matplotlib.ticker import FixedLocator

    shown: list[str] = []
    for axes in figure.axes:
        shown += [axes.get_title(loc="left"), axes.get_xlabel()]
        # Numbers on an axis are chosen when it is drawn, by the room that there is.
        is_named = isinstance(axes.yaxis.get_major_locator(), FixedLocator)
        names = axes.get_yticklabels() if is_named else []
        shown += [text.get_text() for text in (*axes.texts, *names)]
        # The rules of a table are as long as its words are wide.
        lines = [line for line in axes.lines if line.get_gid() != "rule"]
        points = [np.ravel(line.get_xydata()) for line in lines]
        points += [np.ravel(path.vertices) for c in axes.collections for path in c.get_paths()]
        shown += [f"{value:.3g}" for row in points for value in np.asarray(row, dtype=float)]
    return sha256("\n".join(shown).encode()).hexdigest()[:16]


def drawn(name: str) -> Any:
    """Return a figure."""
    axes = np.ravel(FIGURES[name]())[0]
    return axes.figure


def stated(name: str) -> str:
    """Return the digest that the committed file states."""
    (found,) = re.findall(r"<!-- shows (\w+) -->", (FOLDER / f"{name}.svg").read_text("utf-8"))
    return found


def main(names: list[str]) -> None:
    """Write the files of these figures, or of all."""
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "font.family": "sans-serif"}
    for name in names or FIGURES:
        matplotlib.rcParams["svg.hashsalt"] = name
        figure, path = drawn(name), FOLDER / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        text = path.read_text(encoding="utf-8")
        for colour, themed in _THEMED:
            text = re.sub(colour, themed, text)
        text = text.replace(" <metadata>", f" {_ALONE}\n <metadata>", 1)
        # Lines that end in a blank would be changed by editors.
        text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
        text = text.replace("<svg ", f"<!-- shows {digest(figure)} -->\n<svg ", 1)
        path.write_text(text, encoding="utf-8")
        pyplot.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
