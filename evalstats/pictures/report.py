"""The report: one page of a result to hand to a colleague, with nothing loaded from elsewhere.

It says what was found before it shows it, works without JavaScript, and has all names and texts
escaped. Its figures are rows of a name beside a line of SVG, whose places are percents: rows fit
any screen, and take their colours from the page. matplotlib would take longer than all else, and
draws for one width and one colour of paper.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.scores import Segments, is_score_sum
from evalstats.analysis.tasks import Task
from evalstats.checks import label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.results import tabular
from evalstats.results.files import html, html_table
from evalstats.results.forms import unsaid
from evalstats.results.marks import Mark, Panel
from evalstats.results.records import (
    CAUTION,
    Difference,
    decimals_of,
    first_few,
    metric_name,
    plural,
    ranked,
)
from evalstats.results.tabular import Column, Table, table_of
from evalstats.results.version import version

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison, Evaluation
    from evalstats.results.forms import Result

Floats = NDArray[np.float64]
#: Outputs, references or sources by name: one a segment, or by the ids of segments.
Texts = Mapping[str, Sequence[str] | Mapping[str, str]]
#: Differences whose segments are shown, and how many of each.
_MOST_DIFFERENCES, _SEGMENTS = 30, 8
#: Characters of a text that are shown.
_MOST_TEXT = 2_000
#: Files that the page names.
_MOST_FILES = 8
#: Words and signs, each with the blanks behind it.
_WORDS = re.compile(r"(?:[^\W_]+|[\W_])\s*")
#: Names of tasks may break between their words; an escaped sign has none of these in it.
_BETWEEN = re.compile(r"(?<=[\w)][-_/.])(?=\w)")
#: Rows of a figure that is open from the start.
_OPEN_ROWS = 30
#: Pixels of a row, and of one with a distribution.
_ROW, _TALL = 18, 30
#: Share of the width that is left on either side; bars of a distribution, and ticks, at most.
_PAD = 0.04
_BINS, _TICKS = 40, 5


def document(
    result: Result,
    texts: Texts | None = None,
    title: str | None = None,
    files: Sequence[str] = (),
) -> str:
    """Return the page of a result, under a title of its own, with the files that it is of."""
    findings = result._findings()
    found = ""
    for finding in findings:
        lines = "".join(f"<p>{html(line)}</p>" for line in finding.lines)
        found += f'<li class="{finding.kind}"><b>{html(finding.said)}</b>{lines}</li>'
    notes, signatures = result._below(verbose=True)
    cautions = [note for note in notes if note.startswith(CAUTION)]
    found = "".join(f'<li class="worse"><b>{html(line)}</b></li>' for line in cautions) + found
    notes = unsaid([note for note in notes if note not in cautions], findings)
    method = [html(x) for x in [result._method()] if x]
    method += [f"<code>{html(line)}</code>" for line in signatures]
    sections = {
        "Findings": f'<ul class="verdicts">{found}</ul>' if found else "",
        "Figures": _figures(result._panels()),
        "Numbers": _tables(result._tables()),
        **result._sections(_as_texts(texts)),
        "Notes": "".join(f"<p>{html(note)}</p>" for note in notes),
        "Method": "".join(f"<p>{line}</p>" for line in method),
    }
    sections = {name: inside for name, inside in sections.items() if inside}
    links = "".join(f'<a href="#{name.lower()}">{name}</a>' for name in sections)
    body = "".join(
        f'<section id="{name.lower()}" aria-labelledby="of-{name.lower()}">'
        f'<h2 id="of-{name.lower()}">{name}</h2>{inside}</section>'
        for name, inside in sections.items()
    )
    own, heading = result._title(), title or result._headline()
    about = [own] if heading != own else []
    if files:
        about.append(f"files: {first_few(files, ', ', _MOST_FILES)}")
    about.append(f"{date.today():%Y-%m-%d}, evalstats {version()}")
    # Only a report needs it, and it takes long to import.
    from importlib import resources

    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    script = re.findall("(?s)<script>(.*)</script>", page)[0]
    # Nothing else may run or be loaded, even if a text were not escaped.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(page).substitute(
        title=html(heading), about=html("; ".join(about)), links=links, body=body, digest=digest
    )


def _figures(panels: Mapping[str, Sequence[Panel]]) -> str:
    """Draw panels under their headings; scores beside something else are folded away."""
    shown = ""
    for name, some in panels.items():
        drawn = ""
        for panel in some:
            one = chart(panel)
            if panel.folded and len(panel.marks) * panel.times > _OPEN_ROWS:
                one = f"<details><summary>{html(panel.folded)}</summary>{one}</details>"
            drawn += one
        inside = f'<div class="figures">{drawn}</div>'
        if name == "Scores" and len(panels) > 1:
            shown += f"<details><summary>{name}</summary>{inside}</details>"
        elif some:
            shown += f"<h3>{name}</h3>{inside}"
    return shown


def chart(panel: Panel) -> str:
    """Draw a row for each mark under a title, with an axis below; of ranks it has whole ticks."""
    marks, null = panel.marks, panel.null
    ends = [x for m in marks for x in (m.value, m.low, m.high, *(m.wider or ()), *m.ends)]
    ends += [float(x) for m in marks if len(m.replicates) for x in _range(m.replicates)]
    ends += [] if null is None else [null]
    low, high = min(ends), max(ends)
    pad = _PAD * (high - low) or abs(low) * _PAD or 1.0
    scale = _Scale(low - pad, high + pad)
    ticks = _ticks(scale.low, scale.high, 1.0 if panel.is_whole else 0.0)
    grid = "".join(_line(scale.at(t), "grid") for t in ticks)
    grid += "" if null is None else _line(scale.at(null), "null")
    rows = "".join(_row(mark, mark.band(null), scale, grid) for mark in marks)
    labels = "".join(
        f'<text x="{scale.at(t)}" y="12" text-anchor="middle">{t:.10g}</text>' for t in ticks
    )
    below = f'<div class="row axis"><span></span><svg height="16">{labels}</svg></div>'
    about = f'<span class="about">{html(panel.about)}</span>'
    caption = f"<figcaption>{html(panel.title)}{about}</figcaption>"
    return f'<figure class="chart">{caption}{rows}{below}</figure>'


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float

    def at(self, value: float) -> str:
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"

    def width(self, low: float, high: float) -> str:
        return f"{100 * (high - low) / (self.high - self.low):.2f}%"


def _row(mark: Mark, band: tuple[float, float] | None, scale: _Scale, grid: str) -> str:
    """Draw a name, what lies within limits, a distribution, an interval and a value."""
    tall = len(mark.replicates) > 0
    # A name may take several lines, and the row with it.
    y = f"{_TALL - _ROW / 2}" if tall else "50%"
    drawn = ""
    if band:
        a, width = scale.at(band[0]), scale.width(*band)
        drawn += f'<rect class="band" x="{a}" width="{width}" height="100%"/>'
        drawn += "".join(_line(scale.at(x), "limit") for x in mark.ends)
    drawn += grid + (_density(mark.replicates, scale, y) if tall else "")
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
    said = f"{mark.name} ({mark.beside})" if mark.beside else mark.name
    name = f'<span class="name">{_BETWEEN.sub("<wbr>", html(said))}</span>'
    return (
        f'<div class="row {kind}">{name}<svg height="{_TALL if tall else _ROW}">{drawn}</svg></div>'
    )


def _line(x: str, kind: str) -> str:
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="100%"/>'


def _density(replicates: ArrayLike, scale: _Scale, floor: str) -> str:
    """Draw a histogram that stands on the line of a row."""
    low, high = _range(replicates)
    if low == high:
        return ""
    counts, _ = np.histogram(replicates, np.linspace(low, high, _BINS + 1))
    heights = 100 - 100 * counts / counts.max()
    path = "".join(f"V{h:.0f}H{i + 1}" for i, h in enumerate(heights))
    return (
        f'<svg x="{scale.at(low)}" width="{scale.width(low, high)}" height="{floor}" '
        f'viewBox="0 0 {_BINS} 100" '
        f'preserveAspectRatio="none"><path class="density" d="M0 100{path}V100Z"/></svg>'
    )


def _range(values: ArrayLike) -> tuple[float, float]:
    return float(np.min(values)), float(np.max(values))


def _ticks(low: float, high: float, least: float) -> list[float]:
    """Return round numbers within a range, at most five, and at least so far from one another."""
    step = 10.0 ** math.floor(math.log10((high - low) / _TICKS))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= _TICKS)
    step = max(step, least)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _tables(tables: Sequence[Table]) -> str:
    """Return tables that scroll by themselves, also with keys, and whose rows have a head."""
    found: list[str] = []
    titles = [table.title for table in tables]
    for i, table in enumerate(tables):
        # The first column says what a row is.
        rows = re.sub(r"<tr([^>]*)><td( class=\"text\")?>(.*?)</td>",
                      r'<tr\1><th scope="row"\2>\3</th>', html_table(table))  # fmt: skip
        # Of tables of one title each has its number, by which they can be told apart unseen.
        n = titles[: i + 1].count(table.title)
        said = html(table.title) + (f", {n}" if n > 1 else "")
        found.append(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{said}">{rows}</div>'
        )
    return "".join(found)


@dataclass(frozen=True, eq=False)
class _Beside:
    """What stands beside the influences of segments, from where the statistics are.

    `segments` says which unit each segment is, or belongs to; `outputs` and `references` are texts
    where texts were compared; `strata` have a name, their number of units, and the scores of all
    systems in each.
    """

    segments: Sequence[str] = ()
    outputs: Mapping[str, Sequence[str]] | None = None
    strata: Sequence[tuple[str, int, NDArray[np.float64]]] = ()
    references: Sequence[str | Sequence[str | None]] = ()

    @cached_property
    def texts(self) -> dict[str, Sequence[str]]:
        """References by number, and outputs by system."""
        each = [[one] if isinstance(one, str) else list(one) for one in self.references]
        n = max(map(len, each), default=0)
        columns = {
            f"reference {i + 1}" if n > 1 else "reference": [
                (own[i] or "") if i < len(own) else "" for own in each
            ]
            for i in range(n)
        }
        return {**columns, **(self.outputs or {})}

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Which segments are, or belong to, each unit."""
        found: dict[str, list[int]] = {}
        for i, name in enumerate(self.segments):
            found.setdefault(name, []).append(i)
        return found


def _beside(evaluation: Evaluation, d: Difference) -> _Beside:
    """Return the texts that were compared, and the scores in each stratum."""
    # The texts of one system are no answers to those of another, and the strata of a total are
    # tasks, which have rows of their own.
    part = evaluation.part_of(d)
    if not isinstance(part, Task):
        return _Beside()
    _, drawn = evaluation.with_segments(d, "influence")
    references = tuple(part.references) if part.outputs else ()
    names, strata = tuple(part.unit_names()), scores_by_stratum(drawn.segments)
    return _Beside(names, dict(part.outputs), strata, references)


def scores_by_stratum(of: Segments) -> list[tuple[str, int, Floats]]:
    """Return the label of each stratum, how many units it has, and all scores in it, `(S,)`."""
    units = of.units
    if units.strata is None:
        return []
    scores: dict[int, Floats] = {}
    for block in of.blocks:
        # Strata of one unit have no scores of their own. Others lie in one block.
        if is_score_sum(block.metric):
            continue
        strata = units.strata[block.places]
        order = np.argsort(strata, kind="stable")
        numbers, starts = np.unique(strata[order], return_index=True)
        for number, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            totals = np.asarray(np.sum(block.rows[:, places], axis=1, dtype=np.float64))
            scores[number] = block.score(totals)
    sizes = np.bincount(units.strata).tolist()
    return [(str(units.labels[t]), sizes[t], scores[t]) for t in sorted(scores)]


def of_segments(c: Comparison, evaluation: Evaluation, texts: Texts) -> dict[str, str]:
    """Return what needs the statistics: scores in strata, and segments with their texts."""
    every = [d for d in c.differences if d.n_differing]
    shown, units = _chosen(c, every), plural(c.estimates[0].unit)
    firsts = {(d.task, d.metric): d for d in shown}
    try:
        beside = {place: _beside(evaluation, d) for place, d in firsts.items()}
        folded = [_segments(c, d, beside[d.task, d.metric], texts) for d in shown]
    except InputError:
        if texts:
            raise
        # Of a shard, of battles and of unpaired systems no segment moves a difference.
        return {}
    if not folded:
        return {}
    about = f"The {units} that move each difference most, the most influential first."
    if len(shown) < len(every):
        about += f" {len(shown)} of {len(every)} differences are shown, those of the best systems."
    first = shown[0]
    if c.influence(first.metric, first.system, first.baseline, first.task or None).counted_from_0:
        about += " Segments are counted from 0."
    n_shown = sum(one.count("<article>") for one in folded)
    what = f"Search the {n_shown} {units} below"
    search = f'<input type="search" id="search" placeholder="{html(what)}" '
    search += f'aria-label="{html(what)}" hidden><output id="count"></output>'
    return {
        "Strata": _strata(c, beside),
        "Segments": f"<p>{html(about)}</p>{search}{''.join(folded)}",
    }


def _chosen(c: Comparison, every: Sequence[Difference]) -> list[Difference]:
    """Return the differences whose segments are shown: all, or those of totals and of the best."""
    if len(every) <= _MOST_DIFFERENCES:
        return list(every)
    some = [d for d in every if d.aggregate is not None] or every
    best = {(e.task, e.metric): e.system for e in reversed(ranked(c.estimates))}
    # As many of each metric, and task.
    places: dict[tuple[str, str], list[Difference]] = {}
    for d in some:
        if best[d.task, d.metric] in (d.system, d.baseline):
            places.setdefault((d.task, d.metric), []).append(d)
    share = -(-_MOST_DIFFERENCES // len(places))
    return [d for group in places.values() for d in group[:share]][:_MOST_DIFFERENCES]


def _strata(c: Comparison, beside: Mapping[tuple[str, str], _Beside]) -> str:
    """Lay out the scores of all systems in each stratum, metric by metric."""
    tables = []
    for place, found in beside.items():
        scores = [e for e in c.estimates if (e.task, e.metric) == place]
        places = decimals_of(scores)[place[1]]
        columns: list[Column] = [
            ("stratum", "<", lambda row: row[0]),
            (plural(scores[0].unit), ">", lambda row: f"{row[1]:,}"),
        ]
        for i, e in enumerate(scores):
            columns.append((e.system, ">", lambda row, i=i: tabular.number(row[2][i], places)))  # type: ignore[misc]  # noqa: B023
        if found.strata:
            tables.append(table_of(f"{metric_name(scores[0])} by stratum", found.strata, columns))
    said = "<p>These scores are descriptive: strata were not tested one by one.</p>"
    return _tables(tables) + said if tables else ""


def _segments(c: Comparison, d: Difference, beside: _Beside, texts: Texts) -> str:
    """Fold away the segments, or groups, that drive a difference, with their texts."""
    found = c.influence(d.metric, d.system, d.baseline, d.task or None)
    columns = {**texts, **beside.texts, **texts}
    systems = {e.system for e in c.estimates}
    names = [name for name in columns if name not in systems or name in (d.baseline, d.system)]
    shown = [(unit, value) for unit, value in zip(found.ids, found.values, strict=True) if value]
    places = tabular.decimals([abs(value) for _, value in shown[:_SEGMENTS]])
    items = []
    for unit, value in shown[:_SEGMENTS]:
        better = d.system if (value > 0) == d.higher_is_better else d.baseline
        said = f"{tabular.number(value, places, True)} {d.metric}, for {better}"
        own = {name: _text(columns[name], name, unit, beside) for name in names}
        pair = [own.get(d.baseline, ""), own.get(d.system, "")]
        written = {}
        for name, text in own.items():
            lines = map(html, text[:_MOST_TEXT].split("\n"))
            written[name] = "<br>".join(lines) + _cut(text)
        if all(pair):
            written[d.baseline], written[d.system] = marked(*pair)
        rows = "".join(
            f'<dt>{html(name)}</dt><dd dir="auto">{written[name]}</dd>' for name in names
        )
        items.append(
            f"<article><h3>{html(f'{found.unit} {unit}')}<span>{html(said)}</span></h3>"
            f"<dl>{rows}</dl></article>"
        )
    title = f"{f'{d.task}: ' if d.task else ''}{metric_name(d)}, {d.system} − {d.baseline}"
    said = html(found._notes()[0])
    inside = f"<summary>{html(title)}</summary><p>{said}</p>{''.join(items)}"
    return f'<details class="difference">{inside}</details>'


def _text(column: Sequence[str] | Mapping[str, str], name: str, unit: str, beside: _Beside) -> str:
    """Return the text of a segment, or all texts of a group, a line each."""
    if isinstance(column, Mapping):
        own = [column.get(unit, "")]
    elif len(column) == len(beside.segments):
        own = [column[i] for i in beside.places[unit]]
    elif not beside.segments:
        raise InputError(f"texts[{name!r}] must be a mapping from ids: a total is of several tasks")
    else:
        n = f"{len(beside.segments):,}"
        raise InputError(f"texts[{name!r}] must be {n} texts, one a segment, got {len(column):,}")
    return "\n".join(own)


def _cut(text: str) -> str:
    """Return what stands at the end of a text that is too long to be shown."""
    return f"… ({len(text):,} characters)" if len(text) > _MOST_TEXT else ""


def marked(first: str, second: str) -> tuple[str, str]:
    """Return two texts in which the words are marked that the other has not in that place."""
    # Only a report needs it.
    from difflib import SequenceMatcher

    words = [_WORDS.findall(text[:_MOST_TEXT]) for text in (first, second)]
    alike = [[word.strip() for word in own] for own in words]
    shown: list[list[str]] = [[], []]
    for kind, *ends in SequenceMatcher(None, alike[0], alike[1], autojunk=False).get_opcodes():
        for own, out, (low, high) in zip(words, shown, (ends[:2], ends[2:]), strict=True):
            text = "".join(own[low:high])
            # The blanks at the end are not marked.
            end = len(text.rstrip())
            part, rest = ("<br>".join(map(html, x.split("\n"))) for x in (text[:end], text[end:]))
            out.append((f"<mark>{part}</mark>" if kind != "equal" and part else part) + rest)
    a, b = ("".join(parts) + _cut(text) for parts, text in zip(shown, (first, second), strict=True))
    return a, b


def _as_texts(texts: Texts | None) -> Texts:
    """Return texts by name, a list or a mapping from ids each, or say what is wrong with them."""
    if texts is None:
        return {}
    if not isinstance(texts, Mapping):
        raise InputTypeError(
            f"texts must be a mapping from names to texts, got {type(texts).__name__}"
        )
    found: dict[str, Sequence[str] | Mapping[str, str]] = {}
    for name, given in texts.items():
        what = f"texts[{label(name, 'names in texts')!r}]"
        column = given
        if not isinstance(given, (str, Mapping)):
            column = listed(given, what, "texts, one a segment")
        own = column.values() if isinstance(column, Mapping) else column
        if isinstance(own, str) or not all(isinstance(text, str) for text in own):
            raise InputTypeError(f"{what} must be str, one a segment, or by id")
        found[name] = column
    return found
