"""The query that makes the moments of a table, in standard SQL, and what its answer says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import also_called, choice, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Metric, as_metric
from evalstats.statistics.names import as_names

#: DuckDB, PostgreSQL and the standard; BigQuery, Spark SQL and MySQL.
QUOTES = ('"', "`")
#: Names within the query, which no table of a caller has.
_SEGMENTS, _UNITS = "evalstats_segments", "evalstats_units"
#: What comes before the sums.
FIRST = ("unit", "stratum", "n", "n_null", "n_split", "n_segments", "n_squares")
#: What is counted of the units on which two systems differ.
DIFFERING = ("units", "segments", "squares")


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
    entries = [f"'{'segment' if groups is None else 'group'}'"]
    entries += ["NULL" if strata is None else "stratum"]
    entries += ["COUNT(*)", "SUM(is_null)", "SUM(is_split)", "SUM(size)", "SUM(1e0 * size * size)"]
    entries += [f"SUM({c})" for c in numbers]
    entries += [f"SUM({a} * {b})" for a, b in combinations_with_replacement(numbers, 2)]
    each = [numbers[i * width : (i + 1) * width] for i in range(len(names))]
    for one, other in combinations(each, 2):
        differs = " OR ".join(f"{a} <> {b}" for a, b in zip(one, other, strict=True))
        for size in ("1", "size", "1e0 * size * size"):
            entries.append(f"SUM(CASE WHEN {differs} THEN {size} ELSE 0 END)")
    by = "" if strata is None else " GROUP BY stratum ORDER BY stratum"
    answer = columns_of(len(names), width)
    made_of = ", ".join(f"{x} AS {name}" for x, name in zip(entries, answer, strict=True))
    return f"WITH {', '.join(ctes)} SELECT {made_of} FROM {source}{by}"


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


class Row(NamedTuple):
    """What one row of the answer says, of K = S·k columns."""

    unit: str
    stratum: Any  # None where there are no strata
    n: int
    sizes: NDArray[np.int64]  # (2,)
    sums: NDArray[np.float64]  # (S, k)
    products: NDArray[np.float64]  # (K, K)
    differing: NDArray[np.int64]  # (3, S, S)


def columns_of(n_systems: int, width: int) -> list[str]:
    """Return the names of the columns of the query, in order.

    >>> columns_of(2, 1)[7:]
    ['sum_0', 'sum_1', 'product_0_0', 'product_0_1', 'product_1_1', 'units_0_1', 'segments_0_1', \
'squares_0_1']
    """
    columns = range(n_systems * width)
    return [
        *FIRST,
        *(f"sum_{i}" for i in columns),
        *(f"product_{i}_{j}" for i, j in combinations_with_replacement(columns, 2)),
        *(f"{x}_{a}_{b}" for a, b in combinations(range(n_systems), 2) for x in DIFFERING),
    ]


def as_rows(
    rows: Iterable[Mapping[str, Any] | Sequence[Any]], n_systems: int, width: int
) -> list[Row]:
    """Return what all rows of an answer say, or what is wrong with them."""
    read = [_row(row, n_systems, width) for row in rows]
    if not read:
        raise InputError("is empty: the query found no segments", argument="rows")
    names = [row.stratum for row in read]
    if len(read) > 1 and (None in names or len(set(map(str, names))) < len(names)):
        raise InputError("must be one a stratum, each with its name", argument="rows")
    return read


def _row(row: Mapping[str, Any] | Sequence[Any], n_systems: int, width: int) -> Row:
    names = columns_of(n_systems, width)
    # What BigQuery and Spark return has its columns by name, and by number.
    values: list[Any] = []
    values += [row.get(name) for name in names] if isinstance(row, Mapping) else row
    if len(values) != len(names):
        raise InputError(
            f"must have the {len(names)} columns of moments_query for {n_systems} systems of "
            f"{width} columns, got {len(values)}",
            argument="row",
        )
    known: dict[str, Any] = dict(zip(names, values, strict=True))
    where = "" if known["stratum"] is None else f" of stratum {known['stratum']!r}"
    if not known["n"]:
        raise InputError("says that the query found no segments", argument="row")
    for name, why in (
        ("n_null", "rows of the table have a null; leave these out with WHERE, or fill them in"),
        ("n_split", "groups lie in several strata; each group must lie in one"),
    ):
        if known[name]:
            raise InputError(f"says{where} that {int(known[name]):,} {why}", argument="row")
    try:
        numbers = np.array([float(known[name]) for name in names[2:]])
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"must hold numbers: {error}", argument="row") from None
    side = n_systems * width
    n_products = side * (side + 1) // 2
    sums, products, counts = np.split(numbers[len(FIRST) - 2 :], [side, side + n_products])
    square = np.zeros((side, side))
    square[np.triu_indices(side)] = products
    differing = np.zeros((3, n_systems, n_systems), dtype=np.int64)
    first, second = np.triu_indices(n_systems, 1)
    differing[:, first, second] = counts.reshape(-1, 3).T
    return Row(
        unit=str(known["unit"]),
        stratum=known["stratum"],
        n=int(known["n"]),
        sizes=numbers[3:5].astype(np.int64),
        sums=sums.reshape(n_systems, width),
        products=square + np.triu(square, 1).T,
        differing=differing + np.swapaxes(differing, 1, 2),
    )
