"""The few numbers that README.md and docs/ show, each a small table made of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median

from benchmarks.calibration.answers import standard_error
from benchmarks.calibration.tables import Results, label, markdown

#: Names of other tools' formulas, as readers know them.
PEERS = {
    "evalstats default": "evalstats (default)",
    "evalstats ar": 'evalstats, `test="ar"`',
    "evalstats bootstrap": 'evalstats, `test="bootstrap"`',
    "sacreBLEU --paired-ar": "sacreBLEU 2.6, `--paired-ar`",
    "sacreBLEU --paired-bs": "sacreBLEU 2.6, `--paired-bs`",
    "evaluatio bleu_bootstrap_test": "evaluatio 0.5, `bleu_bootstrap_test`",
}
SIZES = (10, 30, 100, 300, 1000)


def peers(results: Results) -> str:
    """Rejections at .05 of true null hypotheses, test by test."""
    rates = _peers(results)
    rows = [[_peer(key), f"{100 * values[0]:.1f} %"] for key, values in rates.items()]
    return markdown(["test", "reports a difference where there is none"], rows)


def peer_levels(results: Results) -> str:
    """Rejections at .01, .05 and .10, and p-values above .60, test by test."""
    rates = _peers(results)
    rows = [
        [_peer(key), *(f"{values[place]:.3f}" for place in (1, 0, 2, 3))]
        for key, values in rates.items()
    ]
    return markdown(["test", "p <= 0.01", "p <= 0.05", "p <= 0.10", "p > 0.60"], rows)


def default_test(results: Results) -> str:
    """Rejections at .05 of the default test, over all cells of a null hypothesis and a size."""
    rows = []
    for null in ("exchangeable", "equal scores", "rare failures"):
        rows.append([null, *_spread(results, null, "test|default|two-sided", highest=True)])
    return markdown(["null", *map(_size, SIZES)], rows)


def default_intervals(results: Results) -> str:
    """Coverage of the default intervals, over all cells of a size."""
    rows = [
        [f"{what}s", *_spread(results, "", f"{what}|default", highest=False)]
        for what in ("score", "difference")
    ]
    return markdown(["interval of", *map(_size, SIZES)], rows)


def intervals(results: Results) -> str:
    """Coverage of every interval of differences, over all cells of a size."""
    keys = dict.fromkeys(
        key for _, r in results for key in r["rates"] if key.startswith("difference|")
    )
    rows = [[key.split("|")[1], *_spread(results, "", key, highest=False)] for key in keys]
    return markdown(["method", *map(_size, SIZES)], rows)


def false_improvements(results: Results) -> str:
    """Shares of Monitor runs without an improvement that report one."""
    rows = []
    for cell, record in results:
        if cell.part == "runs" and cell.null != "real difference":
            kind, population = str(cell.source).split("/", 1)
            rate = record["rates"]["false improvement"][0]
            error = standard_error(rate, record["trials"])
            where = [kind, label(population), cell.metric, f"{cell.n:,}", str(record["trials"])]
            rows.append([*where, f"{rate:.3f} ± {error:.3f}"])
    return markdown(["run", "population", "metric", "N", "runs", "false improvement"], rows)


SUMMARIES: Mapping[str, Callable[[Results], str]] = {
    "peers": peers,
    "peer levels": peer_levels,
    "default test": default_test,
    "default intervals": default_intervals,
    "intervals": intervals,
    "false improvements": false_improvements,
}


def percent(results: Results, cell: str, key: str, place: str) -> str:
    """Return one rate as "4.3 %"."""
    return f"{100 * _rate(results, cell, key, int(place)):.1f} %"


def share(results: Results, cell: str, key: str, place: str) -> str:
    """Return one rate as "0.043"."""
    return f"{_rate(results, cell, key, int(place)):.3f}"


NUMBERS: Mapping[str, Callable[[Results, str, str, str], str]] = {
    "percent": percent,
    "share": share,
}


def _rate(results: Results, name: str, key: str, place: int) -> float:
    for cell, record in results:
        if cell.name == name:
            return float(record["rates"][key][place])
    raise ValueError(f"no results of the cell {name!r}")


def _peers(results: Results) -> dict[str, list[float]]:
    """Return the rates on WMT22 where it was measured, else those on the sample."""
    found = [record for cell, record in results if cell.part == "peers"]
    rates = found[0]["rates"] if found else {}
    return {key.removeprefix("peer|"): values for key, values in rates.items()}


def _peer(name: str) -> str:
    return PEERS.get(name, f'evalstats, `test="{name.removeprefix("evalstats ")}"`')


def _spread(results: Results, null: str, key: str, highest: bool) -> list[str]:
    """Return, for each size, the median of a rate and the worst cell."""
    columns = []
    for n in SIZES:
        rates = [
            record["rates"][key][0]
            for cell, record in results
            if cell.part == "pairs" and cell.n == n and cell.unit == "segments"
            if (cell.null == null if null else cell.null != "rare failures")
            if key in record["rates"]
        ]
        worst = max if highest else min
        columns.append(f"{median(rates):.3f} ({worst(rates):.3f})" if rates else "")
    return columns


def _size(n: int) -> str:
    return f"N = {n:,}"
