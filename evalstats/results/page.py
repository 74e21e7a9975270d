"""The report: one page of a result to hand to a colleague, with nothing loaded from elsewhere.

It says what was found (`verdicts`) before it shows it (`drawing`), works without JavaScript, and
has all names and texts escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Template
from typing import Any

from evalstats.checks import label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.results import report
from evalstats.results.drawing import figures
from evalstats.results.escaping import html
from evalstats.results.records import metric_name, plural, ranked
from evalstats.results.report import Column, Table, table_of
from evalstats.results.verdicts import Verdict, decimals, verdicts

#: Outputs, references or sources by name: one a segment, or by the ids of segments.
Texts = Mapping[str, Sequence[str] | Mapping[str, str]]
#: Differences whose segments are shown, and how many of each.
_MOST_DIFFERENCES, _SEGMENTS = 30, 8
#: Characters of a text that are shown.
_MOST_TEXT = 2_000


@dataclass(frozen=True, eq=False)
class Beside:
    """What stands beside the influences of segments, from where the statistics are.

    Attributes
    ----------
    segments : tuple of str
        Name of the unit that each segment is, or belongs to.
    outputs : dict of str to sequence of str
        Texts by system, where texts were compared.
    strata : list of (str, int, array)
        Name of each stratum, how many units it has, and the scores of all systems in it; none of a
        total.
    """

    segments: tuple[str, ...]
    outputs: dict[str, Sequence[str]]
    strata: list[tuple[str, int, Any]]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Which segments are, or belong to, each unit."""
        found: dict[str, list[int]] = {}
        for i, name in enumerate(self.segments):
            found.setdefault(name, []).append(i)
        return found


def document(result: Any, texts: Texts | None = None) -> str:
    """Return the page of a result."""
    shown = _as_texts(texts)
    said = verdicts(result)
    found = "".join(map(_finding, said))
    notes, signatures = result._below(verbose=True)
    # What a finding says need not be said again.
    notes = [note for note in notes if not any(line in note for v in said for line in v.lines)]
    sections = {
        "Findings": f'<ul class="verdicts">{found}</ul>' if found else "",
        "Figures": figures(result),
        "Numbers": _tables(result._tables()),
        **_of_comparison(result, shown),
        "Notes": "".join(f"<p>{html(note)}</p>" for note in notes),
        "Method": _method(result, signatures),
    }
    sections = {name: inside for name, inside in sections.items() if inside}
    links = "".join(f'<a href="#{name.lower()}">{name}</a>' for name in sections)
    body = "".join(
        f'<section id="{name.lower()}"><h2>{name}</h2>{inside}</section>'
        for name, inside in sections.items()
    )
    # Only a report needs it, and it takes long to import.
    from importlib import resources

    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    script = re.findall("(?s)<script>(.*)</script>", page)[0]
    # Nothing else may run or be loaded, even if a text were not escaped.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(page).substitute(
        title=html(result._title()), links=links, body=body, digest=digest
    )


def _finding(v: Verdict) -> str:
    lines = "".join(f"<p>{html(line)}</p>" for line in v.lines)
    return f'<li class="{v.kind}"><b>{html(v.said)}</b>{lines}</li>'


def _tables(tables: Sequence[Table]) -> str:
    return "".join(f'<div class="scroll">{table.html()}</div>' for table in tables)


def _method(result: Any, signatures: Sequence[str]) -> str:
    described = f"<p>{html(result.describe())}</p>" if hasattr(result, "describe") else ""
    return described + "".join(f"<p><code>{html(line)}</code></p>" for line in signatures)


def _of_comparison(c: Any, texts: Texts) -> dict[str, str]:
    """Return what needs the statistics: scores in strata, and segments with their texts."""
    if getattr(c, "source", None) is None:
        if texts:
            raise InputError("texts stand beside segments, and this result knows of none")
        return {}
    shown, units = _chosen(c), plural(c.estimates[0].unit)
    firsts = {(d.task, d.metric): d for d in shown}
    try:
        beside = {place: c.source.beside(d) for place, d in firsts.items()}
        folded = [_segments(c, d, beside[d.task, d.metric], texts) for d in shown]
    except InputError as error:
        if texts:
            raise
        # Of a shard the segments are elsewhere.
        return {"Segments": f"<p>{html(str(error))}</p>"}
    if not folded:
        return {}
    n = sum(d.n_differing > 0 for d in c.differences)
    about = f"Which {units} drive {len(shown)} of {n} differences, the most influential first."
    if len(shown) < n:
        about += " The best system is in all of these; influence() tells of the others."
    search = '<input type="search" id="search" placeholder="Search" aria-label="Search" hidden>'
    search += '<output id="count"></output>'
    return {
        "Strata": _strata(c, beside),
        "Segments": f"<p>{html(about)}</p>{search}{''.join(folded)}",
    }


def _chosen(c: Any) -> list[Any]:
    """Return the differences whose segments are shown: all, or those of totals and of the best."""
    every = [d for d in c.differences if d.n_differing]
    if len(every) <= _MOST_DIFFERENCES:
        return every
    some = [d for d in every if d.aggregate is not None] or every
    best = {(e.task, e.metric): e.system for e in reversed(ranked(c.estimates))}
    own = [d for d in some if best[d.task, d.metric] in (d.system, d.baseline)]
    return own[:_MOST_DIFFERENCES]


def _strata(c: Any, beside: Mapping[Any, Beside]) -> str:
    """Lay out the scores of all systems in each stratum, metric by metric."""
    tables = []
    for place, found in beside.items():
        scores = [e for e in c.estimates if (e.task, e.metric) == place]
        places = decimals(scores, place[1])
        columns: list[Column] = [
            ("stratum", "<", lambda row: row[0]),
            (plural(scores[0].unit), ">", lambda row: f"{row[1]:,}"),
        ]
        for i, e in enumerate(scores):
            columns.append((e.system, ">", lambda row, i=i: report.number(row[2][i], places)))  # type: ignore[misc]  # noqa: B023
        if found.strata:
            tables.append(table_of(f"{metric_name(scores[0])} by stratum", found.strata, columns))
    return _tables(tables) + "<p>No test was made of each stratum.</p>" if tables else ""


def _segments(c: Any, d: Any, beside: Beside, texts: Texts) -> str:
    """Fold away the segments, or groups, that drive a difference, with their texts."""
    found = c.influence(d.metric, d.system, d.baseline, d.task or None)
    columns = {**texts, **beside.outputs, **texts}
    systems = {e.system for e in c.estimates}
    names = [name for name in columns if name not in systems or name in (d.baseline, d.system)]
    shown = [(unit, value) for unit, value in zip(found.ids, found.values, strict=True) if value]
    places = report.decimals([abs(value) for _, value in shown[:_SEGMENTS]])
    items = []
    for unit, value in shown[:_SEGMENTS]:
        better = d.system if (value > 0) == d.higher_is_better else d.baseline
        said = f"{report.number(value, places, True)}, for {better}"
        rows = "".join(
            f'<dt>{html(name)}</dt><dd dir="auto">{_text(columns[name], name, unit, beside)}</dd>'
            for name in names
        )
        items.append(
            f"<article><h4>{html(f'{found.unit} {unit}')}<span>{html(said)}</span></h4>"
            f"<dl>{rows}</dl></article>"
        )
    title = f"{f'{d.task}: ' if d.task else ''}{metric_name(d)}, {d.system} − {d.baseline}"
    said = html(found._notes()[0])
    inside = f"<summary>{html(title)}</summary><p>{said}</p>{''.join(items)}"
    return f'<details class="difference">{inside}</details>'


def _text(column: Any, name: str, unit: str, beside: Beside) -> str:
    """Return the text of a segment, or all texts of a group."""
    if isinstance(column, Mapping):
        own = [column.get(unit, "")]
    elif len(column) == len(beside.segments):
        own = [column[i] for i in beside.places[unit]]
    elif not beside.segments:
        raise InputError(f"texts[{name!r}] must be a mapping from ids: a total is of several tasks")
    else:
        n = f"{len(beside.segments):,}"
        raise InputError(f"texts[{name!r}] must be {n} texts, one a segment, got {len(column):,}")
    text = "\n".join(own)
    cut = f"… ({len(text):,} characters)" if len(text) > _MOST_TEXT else ""
    return "<br>".join(map(html, text[:_MOST_TEXT].split("\n"))) + cut


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
