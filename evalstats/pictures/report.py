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
from datetime import date
from functools import cached_property
from string import Template
from typing import Any

from evalstats.analysis.comparison import Evaluation
from evalstats.analysis.tasks import Task
from evalstats.checks import label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.pictures.drawing import figures
from evalstats.pictures.verdicts import Verdict, decimals, verdicts
from evalstats.results import tabular
from evalstats.results.records import distinct, metric_name, plural, ranked
from evalstats.results.signatures import version
from evalstats.results.tabular import Column, Table, html, table_of

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
    references : tuple of str, or of lists of str
        References of each segment, where texts were compared.
    """

    segments: tuple[str, ...]
    outputs: dict[str, Sequence[str]]
    strata: list[tuple[str, int, Any]]
    references: tuple[Any, ...] = ()

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
        return {**columns, **self.outputs}

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Which segments are, or belong to, each unit."""
        found: dict[str, list[int]] = {}
        for i, name in enumerate(self.segments):
            found.setdefault(name, []).append(i)
        return found


def document(
    result: Any, texts: Texts | None = None, title: str | None = None, files: Sequence[str] = ()
) -> str:
    """Return the page of a result, under a title of its own, with the files that it is of."""
    shown = _as_texts(texts)
    said = verdicts(result)
    found = "".join(map(_finding, said))
    notes, signatures = result._below(verbose=True)
    # What a finding says need not be said again.
    notes = [n for n in notes if not any(x and x in n for v in said for x in (v.said, *v.lines))]
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
        f'<section id="{name.lower()}" aria-labelledby="of-{name.lower()}">'
        f'<h2 id="of-{name.lower()}">{name}</h2>{inside}</section>'
        for name, inside in sections.items()
    )
    # Only a report needs it, and it takes long to import.
    from importlib import resources

    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    script = re.findall("(?s)<script>(.*)</script>", page)[0]
    # Nothing else may run or be loaded, even if a text were not escaped.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(page).substitute(
        title=html(title or _title(result)),
        about=html(_about(result, files, title)),
        links=links,
        body=body,
        digest=digest,
    )


def _title(result: Any) -> str:
    """Return what a result is called: of a comparison who is compared, or what it says itself."""
    found = getattr(result, "differences", ())
    if not found:
        return str(result._title())
    systems = distinct(e.system for e in result.estimates)
    if len(systems) == 2:
        return f"{found[0].system} against {found[0].baseline}"
    of = f"{len(systems)} systems"
    return of if result.baseline is None else f"{of} against {result.baseline}"


def _about(result: Any, files: Sequence[str], title: str | None) -> str:
    """Return what stands below the title: what was compared on what, of which files, and when."""
    parts = [] if title is None and not hasattr(result, "differences") else [result._title()]
    if files:
        more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        parts.append(f"files: {', '.join(files[:_MOST_FILES])}{more}")
    return "; ".join([*parts, f"{date.today():%Y-%m-%d}, evalstats {version()}"])


def _finding(v: Verdict) -> str:
    lines = "".join(f"<p>{html(line)}</p>" for line in v.lines)
    return f'<li class="{v.kind}"><b>{html(v.said)}</b>{lines}</li>'


def _tables(tables: Sequence[Table]) -> str:
    """Return tables that scroll by themselves, also with keys, and whose rows have a head."""
    found: list[str] = []
    titles = [table.title for table in tables]
    for i, table in enumerate(tables):
        # The first column says what a row is.
        rows = re.sub(r"<tr([^>]*)><td( class=\"text\")?>(.*?)</td>",
                      r'<tr\1><th scope="row"\2>\3</th>', table.html())  # fmt: skip
        # Of tables of one title each has its number, by which they can be told apart unseen.
        n = titles[: i + 1].count(table.title)
        said = html(table.title) + (f", {n}" if n > 1 else "")
        found.append(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{said}">{rows}</div>'
        )
    return "".join(found)


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
        beside = {place: _beside(c.source, d) for place, d in firsts.items()}
        folded = [_segments(c, d, beside[d.task, d.metric], texts) for d in shown]
    except InputError:
        if texts:
            raise
        # Of a shard, of battles and of unpaired systems no segment moves a difference.
        return {}
    if not folded:
        return {}
    n = sum(d.n_differing > 0 for d in c.differences)
    about = f"The {units} that move each difference most, the most influential first."
    if len(shown) < n:
        about += f" {len(shown)} of {n} differences are shown, those of the best systems."
    if any(c.influence(d.metric, d.system, d.baseline, d.task or None).counted_from_0
           for d in shown[:1]):  # fmt: skip
        about += " Segments are counted from 0."
    n_shown = sum(one.count("<article>") for one in folded)
    what = f"Search the {n_shown} {units} below"
    search = f'<input type="search" id="search" placeholder="{html(what)}" '
    search += f'aria-label="{html(what)}" hidden><output id="count"></output>'
    return {
        "Strata": _strata(c, beside),
        "Segments": f"<p>{html(about)}</p>{search}{''.join(folded)}",
    }


def _beside(evaluation: Evaluation, d: Any) -> Beside:
    """Return the texts that were compared, and the scores in each stratum."""
    # The texts of one system are no answers to those of another, and the strata of a total are
    # tasks, which have rows of their own.
    part = evaluation.part_of(d)
    if not isinstance(part, Task):
        return Beside((), {}, [])
    _, drawn = evaluation.with_segments(d, "influence")
    references = tuple(part.references) if part.outputs else ()
    names, strata = tuple(part.unit_names()), drawn.segments.by_stratum()
    return Beside(names, dict(part.outputs), strata, references)


def _chosen(c: Any) -> list[Any]:
    """Return the differences whose segments are shown: all, or those of totals and of the best."""
    every = [d for d in c.differences if d.n_differing]
    if len(every) <= _MOST_DIFFERENCES:
        return every
    some = [d for d in every if d.aggregate is not None] or every
    best = {(e.task, e.metric): e.system for e in reversed(ranked(c.estimates))}
    own = [d for d in some if best[d.task, d.metric] in (d.system, d.baseline)]
    # As many of each metric, and task.
    places = list(by_place(own).values())
    share = -(-_MOST_DIFFERENCES // len(places))
    return [d for group in places for d in group[:share]][:_MOST_DIFFERENCES]


def by_place(found: Sequence[Any]) -> dict[tuple[str, str], list[Any]]:
    """Return the differences of each task and metric."""
    places: dict[tuple[str, str], list[Any]] = {}
    for d in found:
        places.setdefault((d.task, d.metric), []).append(d)
    return places


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
            columns.append((e.system, ">", lambda row, i=i: tabular.number(row[2][i], places)))  # type: ignore[misc]  # noqa: B023
        if found.strata:
            tables.append(table_of(f"{metric_name(scores[0])} by stratum", found.strata, columns))
    said = "<p>These scores are descriptive: strata were not tested one by one.</p>"
    return _tables(tables) + said if tables else ""


def _segments(c: Any, d: Any, beside: Beside, texts: Texts) -> str:
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
        written = {name: _html(text) for name, text in own.items()}
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


def _text(column: Any, name: str, unit: str, beside: Beside) -> str:
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


def _html(text: str) -> str:
    """Return the beginning of a text, with its lines."""
    return "<br>".join(map(html, text[:_MOST_TEXT].split("\n"))) + _cut(text)


def _cut(text: str) -> str:
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
