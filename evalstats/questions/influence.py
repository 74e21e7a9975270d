"""Segments that contribute most to a difference, and removals that change its sign: `Influence`.

The most influential segments are removed first, all at once (Broderick, Giordano and Meager, 2020,
"An automatic finite-sample robustness metric", arXiv:2011.14999): influence values give the order,
and the scores of the rest are computed exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.comparison import Comparison
from evalstats.analysis.scores import Stratum, refuse_fixed
from evalstats.inference.draws import tie_tolerance
from evalstats.metrics import scores_of
from evalstats.resampling.weights import places_of
from evalstats.results import tabular
from evalstats.results.convert import Count, FreeText, Level, Share
from evalstats.results.forms import Result
from evalstats.results.records import counted, plural
from evalstats.results.signatures import Signature, part_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
#: Number of units per stratum that are never removed.
_LEAST = 2
#: Number of segments with text in the table.
SHOWN = 10
#: Number of characters of a text in the table.
_WIDTH = 60


@dataclass(frozen=True, repr=False)
class Influence(Result):
    """The influence of each segment or group on a difference, and which removals change its sign.

    Segments are removed in the order of their influence, and the scores of the rest are computed
    again. These segments are enough to change the sign; fewer may also be.

    Attributes
    ----------
    metric, system, baseline : str
        The difference analysed, system minus baseline.
    difference, pvalue : float
        As in the comparison, for this pair only.
    unit : str
        What a unit is called.
    ids : tuple of str
        Segments, the most influential first: their `segment_ids`, labels of groups, or numbers
        from 0.
    values : tuple of float
        Influence of each: without it, the difference would be less by about this much (the
        infinitesimal jackknife; Jaeckel, 1972).
    sign_without : tuple of str or None
        Segments that favour the better system most, to be removed until the other is better; `None`
        if no number of them is enough.
    texts : tuple of tuple of str
        Outputs of baseline and system on the first ten, if texts were compared; otherwise empty.
    n_strata : int or None
        Number of strata, if there are any: two units of each always stay.
    significance_level, higher_is_better, signature, task
        As in the comparison.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 1]}
    >>> print(es.compare(scores, metrics=es.Mean("quality")).influence()._notes()[0])
    Without the 1 segment (20%) that favours A most, B is better.
    """

    metric: str
    system: str
    baseline: str
    difference: float
    pvalue: Share
    unit: str
    ids: tuple[FreeText, ...]
    values: tuple[float, ...]
    sign_without: tuple[FreeText, ...] | None
    significance_level: Level
    higher_is_better: bool
    signature: Signature
    texts: tuple[tuple[FreeText, FreeText], ...] = ()
    n_strata: Count | None = None
    task: str = ""

    def plot(self, ax: Axes | None = None) -> Axes:  # type: ignore[override]
        """Draw the ten most influential segments or groups, the first on top; on `ax` if passed."""
        from evalstats.pictures import plots

        return plots.influences(self, SHOWN, ax)

    def _records(self) -> list[dict[str, Any]]:
        rows = zip(self.ids, self.values, strict=True)
        return [{self.unit: name, "influence": value} for name, value in rows]

    def _tables(self, digits: int | None = None) -> list[Table]:
        places = tabular.decimals(map(abs, self.values[:SHOWN]), digits)
        columns: list[Column] = [
            (self.unit, "<", lambda i: self.ids[i]),
            ("influence", ">", lambda i: tabular.number(self.values[i], places, sign=True)),
        ]
        if self.texts:
            columns += [
                (self.baseline, "<", lambda i: _line(self.texts[i][0])),
                (self.system, "<", lambda i: _line(self.texts[i][1])),
            ]
        value = tabular.number(self.difference, places, sign=True)
        n = counted(len(self.ids), self.unit)
        title = f"{self.name}: {value}, {tabular.p_is(self.pvalue)}, {n}"
        return [table_of(title, range(len(self.ids[:SHOWN])), columns)]

    @property
    def name(self) -> str:
        """Metric and pair, after the task if there is one."""
        on = f"{self.task}: " if self.task else ""
        arrow = tabular.direction(self.higher_is_better)
        return f"{on}{self.metric} {arrow}, {self.system} - {self.baseline}"

    @property
    def counted_from_0(self) -> bool:
        """Whether segments are numbered by their places, from 0."""
        return set(self.ids) == set(map(str, range(len(self.ids))))

    def _notes(self) -> list[str]:
        unit, units = self.unit, plural(self.unit)
        # If scores are equal, the direction is towards a greater score.
        names = self.system, self.baseline
        winner, other = names if (self.difference >= 0) == self.higher_is_better else names[::-1]
        if self.difference == 0:
            sentence = f"The scores are equal. The rows show what favours {winner}."
        elif self.sign_without is None:
            sentence = (
                f"{winner} stays better, no matter how many {units} that favour it you remove."
            )
        else:
            n, share = len(self.sign_without), 100 * len(self.sign_without) / len(self.ids)
            number = f"the {counted(n, unit)} ({share:.2g}%)"
            favour = "favours" if n == 1 else "favour"
            sentence = f"Without {number} that {favour} {winner} most, {other} is better."
        kind, stay = part_name([self]) if self.task else "stratum", ""
        if self.n_strata:
            stay = f" Two {units} per {kind} are always kept."
        return [
            sentence,
            f"If you remove a {unit}, the difference shrinks by about its influence."
            + (f" {units.capitalize()} are numbered from 0." if self.counted_from_0 else ""),
            f"We remove the most influential {units} first and score the rest again (Broderick, "
            f"Giordano and Meager, 2020). A smaller set may have the same effect.{stay}",
        ]


def _line(text: str) -> str:
    """Return a text on one line, cut at the end."""
    line = " ".join(text[: 4 * _WIDTH].split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1].rstrip() + "…"


def influence_of(
    comparison: Comparison,
    metric: str | None = None,
    system: str | None = None,
    baseline: str | None = None,
    task: str | None = None,
) -> Influence:
    """Find the segments or groups that drive a difference: an `Influence`.

    It has the influence of each on the difference, and which of them would have to be removed to
    change its sign (Broderick, Giordano and Meager, 2020). Parameters are the same as for
    `difference`.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3], "B": [3.1, 4.2, 5.1, 4.1, 1]}
    >>> found = es.compare(scores, metrics=es.Mean("quality")).influence()
    >>> found.ids[0], found.sign_without
    ('4', ('4',))
    """
    evaluation, d = comparison.evaluation, comparison.difference(metric, system, baseline, task)
    part, scores = evaluation.with_segments(d, "influence")
    refuse_fixed(scores, "influence")
    names, outputs = part.unit_names(), part.outputs
    a, b = (scores.systems.index(name) for name in (d.baseline, d.system))
    assert scores.influence is not None
    moves = scores.influence[b] - scores.influence[a]
    sign = -1.0 if d.difference < 0 else 1.0
    supporters = np.argsort(-sign * moves, kind="stable")
    strata = scores.units.strata
    codes = np.zeros(len(supporters), dtype=np.intp) if strata is None else strata
    # The last two of each stratum must stay.
    stay = [places[-_LEAST:] for places in places_of(codes[supporters])]
    supporters = np.delete(supporters, np.concatenate(stay))
    # The scores without the first of them, without the first two, ...
    n_steps = len(supporters)
    steps = np.full(scores.units.n, n_steps)
    steps[supporters] = np.arange(n_steps)
    without = [
        stratum.weight * _scores_without(stratum, (a, b), steps[stratum.places], n_steps)
        for stratum in scores.strata
    ]
    base, new = np.sum(without, axis=0)
    tie = tie_tolerance(np.maximum(np.abs(base), np.abs(new)), n_steps + _LEAST)
    turned = (np.abs(new - base) > tie) & (sign * (new - base) < 0)
    n_sign = int(np.argmax(turned)) + 1 if np.any(turned) and d.difference else None
    members = scores.units.members
    firsts = range(len(moves)) if members is None else np.unique(members, return_index=True)[1]
    ids = [names[i] for i in firsts]
    ranked = np.argsort(-np.abs(moves), kind="stable")
    both = [outputs[name] for name in (d.baseline, d.system) if members is None and outputs]
    return Influence(
        task=d.task,
        metric=d.metric,
        system=d.system,
        baseline=d.baseline,
        difference=d.difference,
        pvalue=d.pvalue,
        unit=scores.units.unit,
        ids=tuple(ids[i] for i in ranked),
        values=tuple(moves[ranked].tolist()),
        sign_without=None if n_sign is None else tuple(ids[i] for i in supporters[:n_sign]),
        significance_level=comparison.significance_level,
        higher_is_better=d.higher_is_better,
        texts=tuple((both[0][i], both[1][i]) for i in ranked[:SHOWN] if both),
        n_strata=len(scores.units.labels) or None,
        signature=comparison.signature_of(d),
    )


def _scores_without(
    stratum: Stratum, pair: tuple[int, int], steps: NDArray[np.intp], n_steps: int
) -> Floats:
    """Return a stratum's scores of both systems after each step, `(2, n_steps)`.

    Each unit of the stratum is left out at its step, `(n,)`; units of the last step stay.
    """
    order = np.argsort(steps)
    left = steps[order]
    left = left[left < n_steps]
    rows = stratum.rows[list(pair)][:, order[: len(left)]].astype(np.float64)
    gone = np.concatenate([np.zeros((2, 1, rows.shape[2])), np.cumsum(rows, axis=1)], axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        scores = scores_of(stratum.metric, stratum.totals[list(pair), None] - gone)
    # Nothing changes at the steps of other strata.
    return np.repeat(scores, np.diff(left, prepend=0, append=n_steps), axis=1)
