"""The report: one page of a result to hand to a colleague, with nothing loaded from elsewhere.

Findings come first; the page works without JavaScript, and all names and texts are escaped.
Intervals are drawn in the tables, in SVG, which fits any screen and has the colours of the page.
matplotlib would be slow, and draws for one width and one background.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import chain
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.scores import Scores
from evalstats.analysis.tasks import Task
from evalstats.checks import label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import scores_of
from evalstats.pictures.findings import unsaid
from evalstats.pictures.marks import Curve, minus, written
from evalstats.pictures.markup import html, html_table, html_words, stylesheet
from evalstats.results import tabular
from evalstats.results.layout import LISTED_PAIRS, all_pairs
from evalstats.results.records import (
    CAUTION,
    Difference,
    by_metric,
    by_pair,
    decimals_of,
    first_few,
    has_tasks,
    metric_name,
    oriented,
    plural,
    ranked,
)
from evalstats.results.signatures import part_name
from evalstats.results.tabular import Column, Table, table_of
from evalstats.results.version import version

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison, Evaluation
    from evalstats.results.forms import Result

Floats = NDArray[np.float64]
#: Outputs, references or sources by name: one per segment, or by segment ids.
Texts = Mapping[str, Sequence[str] | Mapping[str, str]]
#: Number of differences with segments, and of segments for each.
_MOST_DIFFERENCES, _SEGMENTS = 30, 8
#: The most rows of a folded table.
_MOST_FOLDED = 600
#: Number of characters shown of a text.
_MOST_TEXT = 2_000
#: Number of notes that are not folded.
_OPEN_NOTES = 8
#: Number of files named on the page.
_MOST_FILES = 8
#: Words and signs, each with the blanks after it.
_WORDS = re.compile(r"(?:[^\W_]+|[\W_])\s*")
#: Size of a curve's drawing: width, height, and space left of the axis.
_ACROSS, _UP, _LEFT = 460, 260, 46


def document(
    result: Result,
    texts: Texts | None = None,
    title: str | None = None,
    files: Sequence[str] = (),
) -> str:
    """Return the page of a result, with a title and the names of its files."""
    findings = result._findings()
    verdicts = ""
    for finding in findings:
        lines = "".join(f"<p>{html_words(line)}</p>" for line in finding.lines)
        verdicts += f'<li class="{finding.kind}"><b>{html_words(finding.said)}</b>{lines}</li>'
    notes, signatures = result._below(verbose=True, findings=False)
    cautions = [note for note in notes if note.startswith(CAUTION)]
    verdicts = (
        "".join(f'<li class="worse"><b>{html_words(line)}</b></li>' for line in cautions) + verdicts
    )
    notes = unsaid([note for note in notes if note not in cautions], findings)
    method = [html(x) for x in [result.describe()] if x]
    method += [f"<code>{html(line)}</code>" for line in signatures]
    method += [f"Files: {html(first_few(files, ', ', _MOST_FILES))}"] if files else []
    tables = result._brief()
    shown = "".join(map(curve, result._curves())) + _tables(tables)
    more = result._sections(_as_texts(texts))
    # A list, since a unit or a text may also be named "Findings".
    sections = [
        ("Findings", f'<ul class="verdicts">{verdicts}</ul>' if verdicts else ""),
        ("Results", shown + more.pop("Results", "")),
        *more.items(),
        ("Notes", _folded([f"<p>{html_words(note)}</p>" for note in notes])),
        ("Method", "".join(f"<p>{line}</p>" for line in method)),
    ]
    links = body = ""
    for i, (name, inside) in enumerate(section for section in sections if section[1]):
        place = re.sub(r"\W+", "-", name.lower())
        place = f"{place}-{i}" if f'<section id="{place}"' in body else place
        links += f'<a href="#{place}">{html(name)}</a>'
        body += f'<section id="{place}" aria-labelledby="of-{place}">'
        body += f'<h2 id="of-{place}">{html(name)}</h2>{inside}</section>'
    about_title, heading = result._title(), title or result._headline()
    # The heading, or the first table, says it as well.
    titles = [heading, *(table.title for table in tables)]
    about = [about_title] if about_title not in titles else []
    about.append(f"{date.today():%Y-%m-%d}, evalstats {version()}")
    # Imported here, since only reports need it and it is slow.
    from importlib import resources

    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    script = re.findall("(?s)<script>(.*)</script>", page)[0]
    # Nothing else may run or be loaded, even if escaping failed.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(page).substitute(
        style=stylesheet("forest"),
        title=html_words(heading),
        about=html("; ".join(about)),
        links=links,
        body=body,
        digest=digest,
    )


def _folded(notes: Sequence[str]) -> str:
    """Return notes; if they are many, all but the first ones are folded."""
    first, more = "".join(notes[:_OPEN_NOTES]), notes[_OPEN_NOTES:]
    summary = f"<summary>{len(more)} more notes</summary>"
    return first + (f"<details>{summary}{''.join(more)}</details>" if more else "")


def curve(shown: Curve) -> str:
    """Draw lines over a size with both axes, and the target and the place of a plan."""

    def at(x: float, y: float) -> tuple[float, float]:
        across, up = shown.place(x, y)
        return _LEFT + across * (_ACROSS - _LEFT - 12), _UP - 34 - up * (_UP - 46)

    (left, right), (low, high) = shown.axes
    drawn = ""
    for x in shown.ticks[0]:
        place, bottom = at(x, low)
        drawn += f'<line class="grid" x1="{place:.1f}" x2="{place:.1f}" y1="{bottom}" y2="12"/>'
        drawn += f'<text x="{place:.1f}" y="{bottom + 19}" text-anchor="middle">{written(x)}</text>'
    for y in shown.ticks[1]:
        start, place = at(left, y)
        end = at(right, y)[0]
        drawn += f'<line class="grid" x1="{start}" x2="{end}" y1="{place:.1f}" y2="{place:.1f}"/>'
        drawn += f'<text x="{start - 6}" y="{place + 4:.1f}" text-anchor="end">{written(y)}</text>'
    (x, bottom), (_, top) = at(shown.at, low), at(shown.at, high)
    drawn += f'<line class="plan" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{top}"/>'
    if shown.target is not None:
        (start, y), (end, _) = at(left, shown.target), at(right, shown.target)
        drawn += f'<line class="target" x1="{start}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>'
    said = []
    for i, (name, points) in enumerate(shown.lines.items()):
        path = "L".join("{:.1f} {:.1f}".format(*at(*point)) for point in points)
        drawn += f'<path class="s{i % 5}" d="M{path}"/>'
        said.append(f'<span class="s{i % 5}" aria-hidden="true">━</span>&nbsp;{html(name)}')
    below = f"{shown.up} by number of {shown.across}; dotted: {shown.at:,.10g}, as planned"
    below += "" if shown.target is None else f"; dashed: {shown.target:g}, the target"
    keys = f'<p class="about">{", ".join(said)}</p>' if len(said) > 1 else ""
    title = html_words(" ".join(shown.title.split()))
    return (
        f'<figure class="forest curve"><figcaption>{title}</figcaption>{keys}'
        f'<svg viewBox="0 0 {_ACROSS} {_UP}" role="img" aria-label="{title}">{drawn}'
        f'</svg><p class="about">{html(below)}</p></figure>'
    )


def folded_tables(c: Comparison) -> dict[str, list[Table]]:
    """Lay out folded tables: all pairs, or the pairs with the best system on each task."""
    n_pairs, of_tasks = len(by_pair(c.differences)), has_tasks(c.differences)
    folded: dict[str, list[Table]] = {}
    if not of_tasks and (c.baseline is not None or n_pairs == 1):
        return {}
    if of_tasks and (n_pairs <= LISTED_PAIRS or not c.totals):
        return {}
    for metric, rows in by_metric(oriented(c, c.differences)).items():
        scores = [e for e in c.estimates if e.metric == metric]
        best = ranked([e for e in scores if e.aggregate is not None] or scores)[0].system
        what = f"all {n_pairs:,} pairs"
        if c.baseline is None and (of_tasks or n_pairs > _MOST_FOLDED):
            rows = [d for d in rows if best in (d.system, d.baseline)]
            what = f"{best} against each of the others"
        if of_tasks:
            rows = list(chain(*by_pair(rows).values()))
            what += f", by {part_name(c.estimates)}"
        what += "" if len(rows) <= _MOST_FOLDED else f", the first {_MOST_FOLDED} rows"
        folded[f"{metric}: {what}"] = [all_pairs(c, rows[:_MOST_FOLDED]).brief()]
    return folded


def folded(c: Comparison) -> dict[str, str]:
    """Return the section with folded tables under their names."""
    folds = (
        f"<details><summary>{html(name)}</summary>{_tables(tables, name)}</details>"
        for name, tables in folded_tables(c).items()
    )
    return {"Results": "".join(folds)}


def _tables(tables: Sequence[Table], fold: str = "") -> str:
    """Return tables that scroll separately, also with keys; `fold` names a folded part."""
    elements: list[str] = []
    titles = [table.title for table in tables]
    for i, table in enumerate(tables):
        # Tables with equal titles are numbered, for screen readers.
        n = titles[: i + 1].count(table.title)
        said = html(fold or table.title) + (f", {n}" if n > 1 else "")
        elements.append(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{said}">'
            f"{html_table(table)}</div>"
        )
    return "".join(elements)


@dataclass(frozen=True, eq=False)
class _Beside:
    """Texts and scores to show with the influences of segments.

    `segments` are the unit of each segment; `outputs` and `references` are texts if texts were
    compared; `strata` have a name, a number of units, and the scores of all systems.
    """

    segments: Sequence[str] = ()
    outputs: Mapping[str, Sequence[str]] | None = None
    strata: Sequence[tuple[str, int, NDArray[np.float64]]] = ()
    references: Sequence[str | Sequence[str | None]] = ()

    @cached_property
    def texts(self) -> dict[str, Sequence[str]]:
        """References by number, and outputs by system."""
        columns_of = [[one] if isinstance(one, str) else list(one) for one in self.references]
        n = max(map(len, columns_of), default=0)
        columns = {
            f"reference {i + 1}" if n > 1 else "reference": [
                (texts[i] or "") if i < len(texts) else "" for texts in columns_of
            ]
            for i in range(n)
        }
        return {**columns, **(self.outputs or {})}

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The segments of each unit."""
        places: dict[str, list[int]] = {}
        for i, name in enumerate(self.segments):
            places.setdefault(name, []).append(i)
        return places


def _beside(evaluation: Evaluation, d: Difference) -> _Beside:
    """Return the compared texts, and the scores in each stratum."""
    # Texts of unpaired systems do not correspond, and the strata of a total are tasks, which have
    # their own rows.
    part = evaluation.places[d.task, d.metric]
    if not isinstance(part, Task):
        return _Beside()
    _, scores = evaluation.with_segments(d, "influence")
    references = tuple(part.references) if part.outputs else ()
    names, strata = tuple(part.unit_names()), scores_by_stratum(scores)
    return _Beside(names, dict(part.outputs), strata, references)


def scores_by_stratum(scored: Scores) -> list[tuple[str, int, Floats]]:
    """Return label, number of units and scores, `(S,)`, of each stratum."""
    units = scored.units
    if units.strata is None:
        return []
    scores: dict[int, Floats] = {}
    for stratum in scored.strata:
        # Strata of one unit have no separate scores.
        if stratum.is_of_singles:
            continue
        codes = units.strata[stratum.places]
        order = np.argsort(codes, kind="stable")
        numbers, starts = np.unique(codes[order], return_index=True)
        for number, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            totals = np.asarray(np.sum(stratum.rows[:, places], axis=1, dtype=np.float64))
            scores[number] = scores_of(stratum.metric, totals)
    sizes = np.bincount(units.strata).tolist()
    return [(str(units.labels[t]), sizes[t], scores[t]) for t in sorted(scores)]


def of_segments(c: Comparison, evaluation: Evaluation, texts: Texts) -> dict[str, str]:
    """Return the parts that need statistics: scores in strata, and segments with texts."""
    differing = [d for d in oriented(c, c.differences) if d.n_differing]
    shown, units = _chosen(c, differing), plural(c.estimates[0].unit)
    firsts = {(d.task, d.metric): d for d in shown}
    try:
        beside = {place: _beside(evaluation, d) for place, d in firsts.items()}
        folded = [_segments(c, d, beside[d.task, d.metric], texts) for d in shown]
    except InputError:
        if texts:
            raise
        # Moments, battles and unpaired systems have no influences of segments.
        return {}
    if not folded:
        return {}
    about = f"The {units} that move each difference most, the most influential first."
    if len(shown) < len(differing):
        about += f" {len(shown)} of {len(differing)} differences are shown, for the best systems."
    first = shown[0]
    if c.influence(first.metric, first.system, first.baseline, first.task or None).counted_from_0:
        about += f" {units.capitalize()} are numbered from 0."
    n_shown = sum(one.count("<article>") for one in folded)
    what = f"Search the {n_shown} {units} below"
    search = f'<input type="search" id="search" placeholder="{html(what)}" '
    search += f'aria-label="{html(what)}" hidden><output id="count"></output>'
    return {
        "Strata": _strata(c, beside),
        units.capitalize(): f"<p>{html(about)}</p>{search}{''.join(folded)}",
    }


def _chosen(c: Comparison, differing: Sequence[Difference]) -> list[Difference]:
    """Return the differences to show segments for: all, or totals and the best ones."""
    if len(differing) <= _MOST_DIFFERENCES:
        return list(differing)
    main = [d for d in differing if d.aggregate is not None] or differing
    best = {(e.task, e.metric): e.system for e in reversed(ranked(c.estimates))}
    # Equally many of each metric and task.
    places: dict[tuple[str, str], list[Difference]] = {}
    for d in main:
        if best[d.task, d.metric] in (d.system, d.baseline):
            places.setdefault((d.task, d.metric), []).append(d)
    share = -(-_MOST_DIFFERENCES // len(places))
    return [d for group in places.values() for d in group[:share]][:_MOST_DIFFERENCES]


def _strata(c: Comparison, beside: Mapping[tuple[str, str], _Beside]) -> str:
    """Lay out the scores of all systems in each stratum, metric by metric."""
    tables = []
    for place, beside_place in beside.items():
        scores = [e for e in c.estimates if (e.task, e.metric) == place]
        places = decimals_of(scores)[place[1]]
        strata = beside_place.strata
        columns: list[Column] = [
            ("stratum", "<", lambda row: row[0]),
            (plural(scores[0].unit), ">", lambda row: f"{row[1]:,}"),
        ]
        for i, e in enumerate(scores):
            columns.append((e.system, ">", [tabular.number(row[2][i], places) for row in strata]))
        if strata:
            tables.append(table_of(f"{metric_name(scores[0])} by stratum", strata, columns))
    said = "<p>These scores are only descriptive, because strata were not tested separately.</p>"
    return _tables(tables) + said if tables else ""


def _segments(c: Comparison, d: Difference, beside: _Beside, texts: Texts) -> str:
    """Return a fold with the segments, or groups, that drive a difference, with texts."""
    influence = c.influence(d.metric, d.system, d.baseline, d.task or None)
    columns = {**texts, **beside.texts, **texts}
    systems = {e.system for e in c.estimates}
    names = [name for name in columns if name not in systems or name in (d.baseline, d.system)]
    shown = [
        (unit, value) for unit, value in zip(influence.ids, influence.values, strict=True) if value
    ]
    places = tabular.decimals([abs(value) for _, value in shown[:_SEGMENTS]])
    items = []
    for unit, value in shown[:_SEGMENTS]:
        better = d.system if (value > 0) == d.higher_is_better else d.baseline
        said = f"{minus(tabular.number(value, places, True))} {d.metric}, for {better}"
        texts_of_unit = {name: _text(columns[name], name, unit, beside) for name in names}
        pair = [texts_of_unit.get(d.baseline, ""), texts_of_unit.get(d.system, "")]
        written = {}
        for name, text in texts_of_unit.items():
            lines = map(html, text[:_MOST_TEXT].split("\n"))
            written[name] = "<br>".join(lines) + _cut(text)
        if all(pair):
            written[d.baseline], written[d.system] = marked(*pair)
        rows = "".join(
            f'<dt>{html(name)}</dt><dd dir="auto">{written[name]}</dd>' for name in names
        )
        items.append(
            f"<article><h3>{html(f'{influence.unit} {unit}')}<span>{html(said)}</span></h3>"
            f"<dl>{rows}</dl></article>"
        )
    title = f"{f'{d.task}: ' if d.task else ''}{metric_name(d)}, {d.system} − {d.baseline}"
    said = html(influence._notes()[0])
    inside = f"<summary>{html(title)}</summary><p>{said}</p>{''.join(items)}"
    return f'<details class="difference">{inside}</details>'


def _text(column: Sequence[str] | Mapping[str, str], name: str, unit: str, beside: _Beside) -> str:
    """Return the text of a segment, or all texts of a group, one per line."""
    if isinstance(column, Mapping):
        lines = [column.get(unit, "")]
    elif len(column) == len(beside.segments):
        lines = [column[i] for i in beside.places[unit]]
    elif not beside.segments:
        raise InputError(
            f"texts[{name!r}] must be a mapping from ids, because a total covers several tasks"
        )
    else:
        n = f"{len(beside.segments):,}"
        raise InputError(
            f"texts[{name!r}] must contain {n} texts, one per segment, got {len(column):,}"
        )
    return "\n".join(lines)


def _cut(text: str) -> str:
    """Return the ending of a text that is too long to be shown."""
    return f"… ({len(text):,} characters)" if len(text) > _MOST_TEXT else ""


def marked(first: str, second: str) -> tuple[str, str]:
    """Return two texts with the words marked that differ from the other."""
    # Imported here, since only reports need it.
    from difflib import SequenceMatcher

    words = [_WORDS.findall(text[:_MOST_TEXT]) for text in (first, second)]
    alike = [[word.strip() for word in words_of] for words_of in words]
    shown: list[list[str]] = [[], []]
    for kind, *ends in SequenceMatcher(None, alike[0], alike[1], autojunk=False).get_opcodes():
        for words_of, out, (low, high) in zip(words, shown, (ends[:2], ends[2:]), strict=True):
            text = "".join(words_of[low:high])
            # Blanks at the end are not marked.
            end = len(text.rstrip())
            part, rest = ("<br>".join(map(html, x.split("\n"))) for x in (text[:end], text[end:]))
            out.append((f"<mark>{part}</mark>" if kind != "equal" and part else part) + rest)
    a, b = ("".join(parts) + _cut(text) for parts, text in zip(shown, (first, second), strict=True))
    return a, b


def _as_texts(texts: Texts | None) -> Texts:
    """Return texts by name, each a list or a mapping from ids, checked."""
    if texts is None:
        return {}
    if not isinstance(texts, Mapping):
        raise InputTypeError(
            f"texts must be a mapping from names to texts, got {type(texts).__name__}"
        )
    checked: dict[str, Sequence[str] | Mapping[str, str]] = {}
    for name, given in texts.items():
        what = f"texts[{label(name, 'names in texts')!r}]"
        column = given
        if not isinstance(given, (str, Mapping)):
            column = listed(given, what, "texts, one per segment")
        values = column.values() if isinstance(column, Mapping) else column
        if isinstance(values, str) or not all(isinstance(text, str) for text in values):
            raise InputTypeError(f"{what} must be strings, either one per segment or by id")
        checked[name] = column
    return checked
