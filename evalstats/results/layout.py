"""How results are laid out in tables: what a row says, in which order, with how many decimals."""

from __future__ import annotations

from collections.abc import Sequence

from evalstats.results import report
from evalstats.results.contrasts import contrast_of
from evalstats.results.records import ComparisonRecord as Comparison
from evalstats.results.records import Difference, distinct, ranked, size
from evalstats.results.records import EstimateRecord as Estimate
from evalstats.results.report import Table

#: Up to this many systems all pairs are listed; beyond, a matrix is easier to read.
_LISTED_SYSTEMS = 4


def score_tables(estimates: Sequence[Estimate], digits: int | None = None) -> list[Table]:
    """Lay out scores with their intervals, one table a metric, best first."""
    tables = []
    for metric in distinct(estimate.metric for estimate in estimates):
        group = [estimate for estimate in estimates if estimate.metric == metric]
        decimals = _decimals(group, digits)
        rows = tuple(
            (*_score_cells(estimate, decimals), report.number(estimate.standard_error, decimals))
            for estimate in ranked(group)
        )
        header = ("system", "score", f"[{report.level(group[0].confidence_level)}]", "std. error")
        tables.append(Table(_title(group[0]), header, rows, "<>>>"))
    return tables


def title(estimates: Sequence[Estimate]) -> str:
    """Return ``BLEU, chrF2: 480 segments``."""
    metrics = distinct(estimate.metric for estimate in estimates)
    return f"{', '.join(metrics)}: {size(estimates[0])}"


def _score_cells(estimate: Estimate, decimals: int) -> list[str]:
    score = report.number(estimate.score, decimals)
    return [estimate.system, score, report.interval(estimate.low, estimate.high, decimals)]


def _title(estimate: Estimate) -> str:
    better = "higher" if estimate.higher_is_better else "lower"
    return (
        f"{estimate.metric} {report.direction(estimate.higher_is_better)} "
        f"({better} is better), {size(estimate)}"
    )


def _decimals(estimates: Sequence[Estimate], digits: int | None) -> int:
    """Return the decimals that were asked for, or give the smallest standard error two digits."""
    return (
        digits
        if digits is not None
        else report.decimals([estimate.standard_error for estimate in estimates])
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Return ``2, 4-6`` for 2, 4, 5, 6."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def baseline_table(
    comparison: Comparison,
    estimates: Sequence[Estimate],
    differences: Sequence[Difference],
    digits: int | None = None,
) -> Table:
    """Lay out one row a system: its score, and its difference to the baseline."""
    decimals = _decimals(estimates, digits)
    own = _own_decimals(comparison, differences, decimals, digits)
    by_system = {difference.system: difference for difference in differences}
    columns, align = difference_columns(comparison, differences)
    header = ("system", "score", f"[{report.level(comparison.confidence_level)}]", *columns)
    rows = []
    for estimate in sorted(ranked(estimates), key=lambda e: e.system != comparison.baseline):
        row = _score_cells(estimate, decimals)
        if estimate.system in by_system:
            d = by_system[estimate.system]
            row += difference_cells(comparison, d, own, differences)
        else:
            row += ["baseline", *[""] * (len(columns) - 1)]
        rows.append(tuple(row))
    return Table(_title(estimates[0]), header, tuple(rows), "<>>" + align)


def difference_columns(
    comparison: Comparison, differences: Sequence[Difference], adjusted: bool | None = None
) -> tuple[list[str], str]:
    """Return the header of what `difference_cells` says, and the sides of its columns.

    `adjusted` says whether there are adjusted p-values, by default where there are several.
    """
    several = _has_adjusted(comparison, differences, adjusted)
    level = report.level(comparison.confidence_level)
    if comparison.method == "simultaneous":
        level = level.replace("interval", "simultaneous")
    header = [
        contrast_of(comparison.contrast).column,
        f"[{level}]",
        *(["gained, lost"] if _has_flips(differences) else []),
    ]
    header += ["p", *([comparison.shown_pvalue()] if several else []), "verdict"]
    align = ">" * (len(header) - 1) + "<"
    for name in ("margin", "recovery"):
        if getattr(comparison, name) is not None:
            return [*header, f"{name} {getattr(comparison, name):g}"], align + "<"
    return header, align


def _has_adjusted(
    comparison: Comparison, differences: Sequence[Difference], adjusted: bool | None
) -> bool:
    several = len(differences) > 1 if adjusted is None else adjusted
    return several and comparison.adjustment != "none"


def _has_flips(differences: Sequence[Difference]) -> bool:
    return any(difference.gained is not None for difference in differences)


def difference_cells(
    comparison: Comparison,
    difference: Difference,
    decimals: int,
    differences: Sequence[Difference],
    adjusted: bool | None = None,
) -> list[str]:
    """Return what a row says of a difference: value, interval, p-values, verdict, claim."""
    several = _has_adjusted(comparison, differences, adjusted)
    flips, claim = f"{difference.gained}, {difference.lost}", comparison.claim(difference)
    return [
        _value_cell(difference, difference.value, decimals),
        _interval_cell(difference, decimals),
        *([flips if difference.gained is not None else ""] if _has_flips(differences) else []),
        report.pvalue(difference.pvalue),
        *([_adjusted_cell(comparison, difference)] if several else []),
        _verdict(comparison, difference),
        *([claim] if claim is not None else []),
    ]


def _adjusted_cell(comparison: Comparison, difference: Difference) -> str:
    # Where no data could bring it to the level it is no evidence, for or against.
    open_ = comparison.is_open(difference) and difference.n_differing
    return "-" if open_ else report.pvalue(difference.pvalue_adjusted)


def _interval_cell(difference: Difference, decimals: int) -> str:
    # Where nothing differs nothing was measured: no interval but one that counts segments says so.
    if difference.n_differing == 0 and difference.low == difference.high:
        return "-"
    signed = contrast_of(difference.contrast).is_signed
    return report.interval(difference.low, difference.high, decimals, sign=signed)


def _value_cell(difference: Difference, value: float, decimals: int) -> str:
    return report.number(value, decimals, sign=contrast_of(difference.contrast).is_signed)


def _own_decimals(
    comparison: Comparison, differences: Sequence[Difference], decimals: int, digits: int | None
) -> int:
    """Return the decimals of differences, those of scores, or of ratios, which have their own."""
    if digits is not None or comparison.contrast == "difference":
        return decimals
    return report.decimals([difference.standard_error for difference in differences])


def _verdict(comparison: Comparison, difference: Difference) -> str:
    if difference.n_differing == 0:
        return "identical"
    if comparison.is_open(difference):
        return "cannot tell"
    if not comparison.significant(difference) or difference.winner is None:
        return "no evidence"
    return "better" if difference.winner == difference.system else "worse"


def pair_tables(
    comparison: Comparison,
    estimates: Sequence[Estimate],
    differences: Sequence[Difference],
    digits: int | None = None,
) -> list[Table]:
    """Lay out a ranking that says who beats whom, then the differences of all pairs."""
    decimals = _decimals(estimates, digits)
    best_first = ranked(estimates)
    place = {estimate.system: i + 1 for i, estimate in enumerate(best_first)}
    beaten: dict[str, list[int]] = {estimate.system: [] for estimate in best_first}
    for difference in differences:
        if comparison.significant(difference) and difference.winner is not None:
            loser = {difference.system, difference.baseline} - {difference.winner}
            beaten[difference.winner].append(place[loser.pop()])
    adjusted = comparison.shown_pvalue(len(differences) > 1)
    level = report.level(comparison.confidence_level)
    rows = tuple(
        (str(place[e.system]), *_score_cells(e, decimals), _ranges(beaten[e.system]) or "-")
        for e in best_first
    )
    ranking = Table(
        _title(estimates[0]),
        ("#", "system", "score", f"[{level}]", "better than"),
        rows,
        "><>><",
        (f"better than: {adjusted} <= {comparison.significance_level:g}",),
    )
    # A one-sided p-value, and a claim of no loss, belong to one direction, which a matrix in order
    # of rank would hide.
    decimals = _own_decimals(comparison, differences, decimals, digits)
    directed = comparison.alternative != "two-sided" or comparison.claim(differences[0])
    if len(best_first) <= _LISTED_SYSTEMS or directed:
        return [ranking, _pair_list(comparison, differences, decimals)]
    return [ranking, _pair_matrix(comparison, best_first, differences, decimals)]


def _pair_list(comparison: Comparison, differences: Sequence[Difference], decimals: int) -> Table:
    header, align = difference_columns(comparison, differences)
    rows = tuple(
        (d.system, d.baseline, *difference_cells(comparison, d, decimals, differences))
        for d in differences
    )
    title = contrast_of(comparison.contrast).of_pair
    return Table(title, ("system", "baseline", *header), rows, "<<" + align)


def _pair_matrix(
    comparison: Comparison,
    best_first: Sequence[Estimate],
    differences: Sequence[Difference],
    decimals: int,
) -> Table:
    """Lay out all pairs: differences above the diagonal, adjusted p-values below."""
    place = {estimate.system: i for i, estimate in enumerate(best_first)}
    cells = [["" for _ in best_first] for _ in best_first]
    for d in differences:
        i, j = place[d.system], place[d.baseline]
        value = d.value if i < j else contrast_of(d.contrast).turned(d.value)
        mark = "*" if comparison.significant(d) else " "
        cells[min(i, j)][max(i, j)] = _value_cell(d, value, decimals) + mark
        cells[max(i, j)][min(i, j)] = _adjusted_cell(comparison, d) + " "
    for i in range(len(best_first)):
        cells[i][i] = "· "
    return Table(
        f"{best_first[0].metric}: {contrast_of(comparison.contrast).of_cells} above the diagonal, "
        f"{comparison.shown_pvalue()} below",
        ("#", *(f"{i + 1} " for i in range(len(best_first)))),
        tuple((str(i + 1), *row) for i, row in enumerate(cells)),
        ">" * (len(best_first) + 1),
        (
            f"* {comparison.shown_pvalue()} <= {comparison.significance_level:g}; intervals of the "
            f"{contrast_of(comparison.contrast).column}s: plot(), to_dataframe(), JSON",
        ),
    )
