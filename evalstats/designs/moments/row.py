"""The columns of a query of moments, and what a row of its answer says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError

#: What comes before the sums.
FIRST = ("unit", "stratum", "n", "n_null", "n_split", "n_segments", "n_squares")
#: What is counted of the units on which two systems differ.
DIFFERING = ("units", "segments", "squares")


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
