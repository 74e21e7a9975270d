"""The query that makes the moments of a table of statistics, in standard SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement

from evalstats.checks import also_called, choice, listed
from evalstats.designs.moments.row import columns_of
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Metric, as_metric
from evalstats.statistics.names import as_names

#: DuckDB, PostgreSQL and the standard; BigQuery, Spark SQL and MySQL.
QUOTES = ('"', "`")
#: Names within the query, which no table of a caller has.
_SEGMENTS, _UNITS = "evalstats_segments", "evalstats_units"


@also_called(metrics="metric")
def moments_query(
    table: str | Sequence[str],
    systems: Sequence[str],
    metric: Metric | str,
    columns: Mapping[str, Sequence[str | int]],
    *,
    groups: str | None = None,
    strata: str | None = None,
    quote: str = '"',
) -> str:
    """Return the SQL query whose answer `Moments.from_row` takes, one row a stratum.

    The table has one row a segment, with the statistics of all systems side by side. The query is
    standard SQL (CTEs, ``GROUP BY``, ``SUM``, ``CASE``), in doubles: whole numbers are summed
    exactly up to 2^53.

    Parameters
    ----------
    table : str, or sequence of str
        Its name, of which dots separate the parts ("schema.scores"), or the parts.
    systems : sequence of str
        S names, of which the order is that of the moments.
    metric : Metric or str
        Whose k columns these are.
    columns : mapping of str to sequence of str
        For each system the names of its k columns, in the order of ``metric.columns``. A whole
        number stands for itself: the scores in one column "q" have a mean by ``("q", 1)``.
    groups, strata : str, optional
        Name of a column of labels: units are groups of segments; strata are rows of the answer.
    quote : {'"', '`'}
        What names are quoted with: a backtick for BigQuery, Spark SQL and MySQL.

    Raises
    ------
    InputError
        For systems without columns, another number of columns than the metric's, and names that
        cannot be quoted.

    Examples
    --------
    >>> from evalstats import Mean
    >>> query = moments_query(
    ...     "scores", ["A", "B"], Mean("q"), {"A": ["a", 1], "B": ["b", 1]}, strata="domain"
    ... )
    >>> query[:query.index(", 1e0 *")]
    'WITH evalstats_segments AS (SELECT "domain" AS stratum, 1 AS size'
    """
    names, known = as_names(systems), as_metric(metric)
    choice(quote, QUOTES, "quote")
    parts = table.split(".") if isinstance(table, str) else listed(table, "table", "names")
    whole = ".".join(_quoted(part, quote, "table") for part in parts)
    of_systems = _columns(columns, names, known, quote)
    strata_of = "NULL" if strata is None else _quoted(strata, quote, "strata")
    group_of = None if groups is None else _quoted(groups, quote, "groups")
    labels = [x for x in (group_of, None if strata is None else strata_of) if x is not None]
    width = len(known.columns)
    numbers = [f"c{i}" for i in range(len(of_systems))]
    as_numbers = ", ".join(f"1e0 * {x} AS {c}" for x, c in zip(of_systems, numbers, strict=True))
    is_null = " OR ".join(f"{x} IS NULL" for x in [*labels, *dict.fromkeys(of_systems)])
    grouped = "" if group_of is None else f"{group_of} AS label_of_group, "
    ctes = [
        f"{_SEGMENTS} AS (SELECT {strata_of} AS stratum, {grouped}1 AS size, {as_numbers}, "
        f"CASE WHEN {is_null} THEN 1 ELSE 0 END AS is_null, 0 AS is_split FROM {whole})"
    ]
    source = _SEGMENTS
    if groups is not None:
        source = _UNITS
        sums = ", ".join(f"SUM({c}) AS {c}" for c in numbers)
        ctes.append(
            f"{_UNITS} AS (SELECT MIN(stratum) AS stratum, COUNT(*) AS size, {sums}, "
            f"SUM(is_null) AS is_null, "
            f"CASE WHEN MIN(stratum) <> MAX(stratum) THEN 1 ELSE 0 END AS is_split "
            f"FROM {_SEGMENTS} GROUP BY label_of_group)"
        )
    selected = _selected(numbers, len(names), width, "segment" if groups is None else "group")
    by = "" if strata is None else " GROUP BY stratum ORDER BY stratum"
    stratum = "NULL" if strata is None else "stratum"
    made_of = ", ".join(f"{stratum if x is None else x} AS {n}" for x, n in selected)
    return f"WITH {', '.join(ctes)} SELECT {made_of} FROM {source}{by}"


def _selected(
    numbers: Sequence[str], n_systems: int, width: int, unit: str
) -> list[tuple[str | None, str]]:
    """Return each column of the answer with its name; `None` is the stratum."""
    entries: list[str | None] = [f"'{unit}'", None, "COUNT(*)"]
    entries += ["SUM(is_null)", "SUM(is_split)", "SUM(size)", "SUM(1e0 * size * size)"]
    entries += [f"SUM({c})" for c in numbers]
    entries += [f"SUM({a} * {b})" for a, b in combinations_with_replacement(numbers, 2)]
    of_systems = [numbers[i * width : (i + 1) * width] for i in range(n_systems)]
    for one, other in combinations(of_systems, 2):
        differs = " OR ".join(f"{a} <> {b}" for a, b in zip(one, other, strict=True))
        for size in ("1", "size", "1e0 * size * size"):
            entries.append(f"SUM(CASE WHEN {differs} THEN {size} ELSE 0 END)")
    return list(zip(entries, columns_of(n_systems, width), strict=True))


def _columns(
    columns: Mapping[str, Sequence[str | int]], systems: Sequence[str], metric: Metric, quote: str
) -> list[str]:
    """Return the columns of all systems side by side, as SQL."""
    if not isinstance(columns, Mapping) or set(columns) != set(systems):
        raise InputError(
            f"must have the columns of each system, {', '.join(systems)}", argument="columns"
        )
    names: list[str] = []
    for system in systems:
        each = listed(columns[system], "columns", "names")
        if len(each) != len(metric.columns):
            raise InputError(
                f"must be {len(metric.columns)} a system, {', '.join(metric.columns)}, got "
                f"{len(each)} for {system!r}",
                argument="columns",
            )
        for column in each:
            is_number = isinstance(column, int) and not isinstance(column, bool)
            names.append(str(column) if is_number else _quoted(column, quote, "columns"))
    return names


def _quoted(name: object, quote: str, argument: str) -> str:
    """Return the name of a column as SQL: no name ends its own quotes.

    >>> print(_quoted('a"b', '"', "columns"), _quoted("a b", "`", "columns"))
    "a""b" `a b`
    """
    if not isinstance(name, str):
        raise InputTypeError(f"must be names, got {name!r}", argument=argument)
    # Backslashes escape in BigQuery, and not elsewhere.
    if not name or not name.isprintable() or (quote == "`" and set(name) & {"`", "\\"}):
        raise InputError(
            f"has {name!r}, which cannot be quoted with {quote}; rename it in a view",
            argument=argument,
        )
    return quote + name.replace(quote, 2 * quote) + quote
