"""The figures of a report: rows of a name beside a line of SVG, whose places are percents.

Rows fit any screen, and take their colours from the page: no script, no image, no font. matplotlib
would take longer than all else, and draws for one width and one colour of paper.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalstats.errors import InputError
from evalstats.results import tabular
from evalstats.results.marks import Limit
from evalstats.results.records import (
    KINDS,
    by_metric,
    by_pair,
    contrast_of,
    distinct,
    has_tasks,
    kind_of,
    metric_name,
    oriented,
    plural,
    ranked,
)
from evalstats.results.tabular import html

#: Rows of a figure that is open from the start.
_OPEN_ROWS = 30
#: Pixels of a row, and of one with a distribution.
_ROW, _TALL = 18, 30
#: Share of the width that is left on either side.
_PAD = 0.04
_BINS, _TICKS = 40, 5
_BETWEEN = re.compile(r"(?<=[\w)][-_/.])(?=\w)")


@dataclass(frozen=True)
class Mark:
    """A value with its interval, a wider one around it, and what it is a mean of, by name.

    The band is what lies within its limits.
    """

    name: str
    value: float
    low: float
    high: float
    kind: str = "plain"
    wider: tuple[float, float] | None = None
    replicates: Sequence[float] | Any = ()
    is_total: bool = False
    band: tuple[float, float] | None = None
    limits: tuple[float, ...] = ()


def figures(result: Any) -> str:
    """Draw all differences, ranks and scores that a result has."""
    found = getattr(result, "differences", ())
    rankings = getattr(result, "rankings", [result] if hasattr(result, "tied") else _ranks(result))
    scores = getattr(result, "estimates", [result] if hasattr(result, "score") else [])
    checks = getattr(result, "checks", ())
    named = {
        "Ranks": list(map(_of_ranks, rankings)),
        "Differences": [
            x for some in by_metric(found).values() for x in _of_differences(result, some)
        ],
        "Power": [_of_power(result, pair) for pair in getattr(result, "pairs", ())],
        "Checks": [_of_checks(result, some) for some in by_metric(checks).values()],
        "Looks": [_of_looks(result)] if hasattr(result, "looks") else [],
        "Scores": [x for some in by_metric(scores).values() for x in _of_scores(some)],
    }
    shown = ""
    for name, drawn in named.items():
        inside = f'<div class="figures">{"".join(drawn)}</div>'
        if drawn and name == "Scores" and found:
            shown += f"<details><summary>{name}</summary>{inside}</details>"
        elif drawn:
            shown += f"<h3>{name}</h3>{inside}"
    return shown


def _ranks(result: Any) -> list[Any]:
    found: list[Any] = []
    if len(distinct(d.system for d in getattr(result, "differences", ()))) > 1:
        for metric in distinct(d.metric for d in result.differences):
            # With a baseline, one-sided or not adjusted there are no ranks, nor from a file.
            with suppress(InputError):
                found.append(result.ranking(metric))
    return found


def _of_differences(c: Any, every: Sequence[Any]) -> Iterator[str]:
    contrast = contrast_of(c.contrast)
    pairs, by_task = by_pair(every), has_tasks(every)
    shown = every if len(pairs) == 1 else oriented(c, every)
    for pair, panel in pairs.items() if by_task else [((), shown)]:
        marks = [_mark(c, d, by_task) for d in panel]
        of = f"{contrast.column}s{contrast.to(c.baseline)}"
        of = f" {contrast.sign} ".join(pair) or of
        axis = f"{of}, {tabular.level(c.confidence_level)}; filled: significant"
        if dashed := Limit(c.margin, c.recovery).label:
            axis += f"; {dashed}"
        axis += f"; {tabular.APART}" if any(map(c.adjusted.is_apart, panel)) else ""
        title = metric_name(panel[0])
        yield _folded(chart(title, marks, axis, contrast.null), len(marks), f"{title}: {of}")


def _mark(c: Any, d: Any, by_task: bool) -> Mark:
    pair = f"{d.system} {contrast_of(d.contrast).sign} {d.baseline}"
    name = d.task if by_task else d.system if c.baseline else pair
    return Mark(
        name,
        d.value,
        d.low,
        d.high,
        kind_of(c, d),
        is_total=d.aggregate is not None,
        **_limits(Limit(c.margin, c.recovery), d),
    )


def _limits(limit: Limit, d: Any) -> dict[str, Any]:
    """Return the band and the dashed lines of a row."""
    ends = limit.bounds(d) or ()
    return {"band": limit.band(d), "limits": tuple(x for x in ends if math.isfinite(x))}


def _of_scores(scores: Sequence[Any]) -> Iterator[str]:
    by_task = has_tasks(scores)
    for system in distinct(e.system for e in scores) if by_task else [""]:
        rows = [e for e in scores if e.system == system] if by_task else ranked(scores)
        marks = [
            Mark(
                e.task if by_task else e.system,
                e.score,
                e.low,
                e.high,
                replicates=e.replicates,
                is_total=e.aggregate is not None,
            )
            for e in rows
        ]
        about = tabular.level(rows[0].confidence_level)
        about += "; above: scores of the resamples" if len(rows[0].replicates) else ""
        title = f"{f'{system}, ' if system else ''}{metric_name(rows[0])}"
        yield _folded(chart(title, marks, about), len(marks), title)


def _of_ranks(ranking: Any) -> str:
    marks = [
        Mark(
            f"{r.system} ({r.tier if ranking.has_letters else ranking.beaten(r)})",
            r.rank,
            r.low,
            r.high,
            wider=(r.simultaneous_low, r.simultaneous_high),
        )
        for r in ranking.systems
    ]
    about = f"{tabular.level(ranking.confidence_level)}; thin: all at once; "
    about += "letters: tiers of ties" if ranking.has_letters else "in brackets: better than so many"
    return chart(ranking.metric, marks, about, is_whole=True)


def _of_power(planned: Any, pair: Any) -> str:
    """Draw what is found on test sets of several sizes: the least difference, or the power."""
    marks = [
        Mark(f"{n:,}", value, value, value)
        for n, value in zip(pair.sizes, pair.powers or pair.minimums, strict=True)
        if value is not None
    ]
    if not marks:
        return ""
    what = "power" if pair.powers else f"least difference with power {planned.target:g}"
    title = f"{metric_name(pair)}: {pair.system} − {pair.baseline}"
    drawn = chart(title, marks, f"{what}, by number of {plural(planned.unit)}")
    return _folded(drawn, len(marks) * len(planned.pairs), title)


def _of_checks(gate: Any, checks: Sequence[Any]) -> str:
    limit = Limit(gate.margin, gate.recovery, of_loss=True)
    marks = [
        Mark(
            c.name,
            d.difference,
            d.low,
            d.high,
            kind=KINDS.get(c.verdict, "open"),
            is_total=d.aggregate is not None,
            **_limits(limit, d),
        )
        for c in checks
        for d in [c.difference]
    ]
    level = tabular.level(1 - 2 * gate.significance_level)
    about = "; ".join(filter(None, [level, "filled: decided", limit.label]))
    return chart(metric_name(checks[0].difference), marks, about, 0.0)


def _of_looks(looks: Any) -> str:
    """Draw a row for each look: the difference with its repeated interval."""
    limit = Limit(looks.margin, looks.recovery, of_loss=True)
    marks = [
        Mark(
            f"{x.n_units:,}",
            x.difference.difference,
            x.low,
            x.high,
            kind=KINDS.get(x.verdict, "open"),
            **_limits(limit, x.difference),
        )
        for x in looks.looks
    ]
    about = f"by number of {plural(looks.last.unit)}, repeated interval; filled: decided"
    about = "; ".join(filter(None, [about, limit.label]))
    return chart(metric_name(looks.last.difference), marks, about, 0.0)


def _folded(drawn: str, n_rows: int, title: str) -> str:
    """Fold a figure of many rows away."""
    if n_rows <= _OPEN_ROWS:
        return drawn
    return f"<details><summary>{html(title)}</summary>{drawn}</details>"


def chart(
    title: str,
    marks: Sequence[Mark],
    axis: str,
    null: float | None = None,
    is_whole: bool = False,
) -> str:
    """Draw a row for each mark under a title, with an axis below that says what it is.

    The axis of whole numbers has no ticks between them.
    """
    ends = [x for m in marks for x in (m.value, m.low, m.high, *(m.wider or ()), *m.limits)]
    ends += [float(x) for m in marks if len(m.replicates) for x in _range(m.replicates)]
    ends += [] if null is None else [null]
    low, high = min(ends), max(ends)
    pad = _PAD * (high - low) or abs(low) * _PAD or 1.0
    scale = _Scale(low - pad, high + pad)
    ticks = _ticks(scale.low, scale.high, 1.0 if is_whole else 0.0)
    grid = "".join(_line(scale.at(t), "grid") for t in ticks)
    grid += "" if null is None else _line(scale.at(null), "null")
    rows = "".join(_row(mark, scale, grid) for mark in marks)
    labels = "".join(
        f'<text x="{scale.at(t)}" y="12" text-anchor="middle">{t:.10g}</text>' for t in ticks
    )
    below = f'<div class="row axis"><span></span><svg height="16">{labels}</svg></div>'
    caption = f'<figcaption>{html(title)}<span class="about">{html(axis)}</span></figcaption>'
    return f'<figure class="chart">{caption}{rows}{below}</figure>'


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float

    def at(self, value: float) -> str:
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"


def _row(mark: Mark, scale: _Scale, grid: str) -> str:
    tall = len(mark.replicates) > 0
    # A name may take several lines, and the row with it.
    y = f"{_TALL - _ROW / 2}" if tall else "50%"
    drawn = _band(mark, scale) + grid + (_density(mark.replicates, scale, y) if tall else "")
    for kind, ends in (("wider", mark.wider), ("whisker", (mark.low, mark.high))):
        if ends:
            a, b = map(scale.at, ends)
            drawn += f'<line class="{kind}" x1="{a}" x2="{b}" y1="{y}" y2="{y}"/>'
    x = scale.at(mark.value)
    if mark.is_total:
        diamond = '<path d="M-5 0L0 5L5 0L0-5Z"/>'
        drawn += f'<svg x="{x}" y="{y}" overflow="visible">{diamond}</svg>'
    else:
        drawn += f'<circle cx="{x}" cy="{y}" r="4"/>'
    kind = f"{mark.kind} total" if mark.is_total else mark.kind
    # Names of tasks may break between their words; an escaped sign has none of these in it.
    name = f'<span class="name">{_BETWEEN.sub("<wbr>", html(mark.name))}</span>'
    return (
        f'<div class="row {kind}">{name}<svg height="{_TALL if tall else _ROW}">{drawn}</svg></div>'
    )


def _band(mark: Mark, scale: _Scale) -> str:
    """Return what lies within the limits, and the limits."""
    if mark.band is None:
        return ""
    low, high = mark.band
    width = 100 * (high - low) / (scale.high - scale.low)
    found = f'<rect class="band" x="{scale.at(low)}" width="{width:.2f}%" height="100%"/>'
    return found + "".join(_line(scale.at(x), "limit") for x in mark.limits)


def _line(x: str, kind: str) -> str:
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="100%"/>'


def _density(replicates: Any, scale: _Scale, floor: str) -> str:
    low, high = _range(replicates)
    if low == high:
        return ""
    counts, _ = np.histogram(replicates, np.linspace(low, high, _BINS + 1))
    heights = 100 - 100 * counts / counts.max()
    path = "".join(f"V{h:.0f}H{i + 1}" for i, h in enumerate(heights))
    a, b = scale.at(low), 100 * (high - low) / (scale.high - scale.low)
    return (
        f'<svg x="{a}" width="{b:.2f}%" height="{floor}" viewBox="0 0 {_BINS} 100" '
        f'preserveAspectRatio="none"><path class="density" d="M0 100{path}V100Z"/></svg>'
    )


def _range(values: Any) -> tuple[float, float]:
    return float(np.min(values)), float(np.max(values))


def _ticks(low: float, high: float, least: float = 0.0) -> list[float]:
    """Return round numbers within a range, at most five, and at least so far from one another."""
    step = 10.0 ** math.floor(math.log10((high - low) / _TICKS))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= _TICKS)
    step = max(step, least)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
