"""Rankings: which ranks a system may have, who is tied with whom, how likely each is the first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.results import tabular
from evalstats.results.convert import Count, NotNegative, Share, Size, check_bounds
from evalstats.results.forms import Finding, Several
from evalstats.results.marks import Mark, Panel
from evalstats.results.records import Record, listed, size
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.pictures.figures import Axes, Panels

#: Systems that the note on ties names.
_NAMED = 5
#: Systems that tie with the first and are named in a report.
_TOLD = 8
#: Tiers that letters can tell; where there are more, they say nothing that can be read.
_TIERS = 8
_LETTER = re.compile(r"[a-z]\d*")


@dataclass(frozen=True)
class Ranked(Record):
    """What is known of one system's rank; 1 is the best.

    Attributes
    ----------
    metric, system, score, standard_error : str, str, float, float
        What was ranked, its score, and the standard error of that.
    rank : float
        By the score; systems that tie share the mean rank.
    low, high, simultaneous_low, simultaneous_high : int
        Interval of this system's rank alone, and where those of all systems hold at once.
    tier : str
        Letters; systems that share one cannot be told apart.
    cluster : int
        Every system of a cluster is significantly better than every system of a later one.
    probability_first : float or None
        Share of the resamples in which it scores best; `None` where scores were not resampled
        (``method="t"``).
    """

    metric: str
    system: str
    score: float
    standard_error: NotNegative
    rank: Size
    low: Count
    high: Count
    simultaneous_low: Count
    simultaneous_high: Count
    tier: str
    cluster: Count
    probability_first: Share | None

    def _check(self) -> None:
        check_bounds(self)
        check_bounds(self, "simultaneous_low", "simultaneous_high")

    def _title(self) -> str:
        return f"rank of {self.system}, {self.metric}"


@dataclass(frozen=True, repr=False)
class Ranking(Several[Ranked]):
    """Systems best first, with intervals of their ranks; iterating gives `Ranked`.

    Attributes
    ----------
    metric : str
        The metric, or the composite.
    systems : tuple of Ranked
        Best first.
    tied : tuple of str
        Systems that are not significantly worse than the first.
    confidence_level : float
        Of the intervals.
    higher_is_better, n_segments, unit, signature, notes, task
        As of an `Estimate`.
    """

    metric: str
    systems: tuple[Ranked, ...]
    tied: tuple[str, ...]
    confidence_level: Share
    higher_is_better: bool
    n_segments: Count
    unit: str
    signature: str
    notes: tuple[str, ...] = ()
    task: str = ""

    def __getitem__(self, system: str) -> Ranked:
        """Return what is known of a system."""
        if found := [ranked for ranked in self.systems if ranked.system == system]:
            return found[0]
        names = ", ".join(ranked.system for ranked in self.systems)
        raise InputError(f"system must be one of {names}; got {shown(system)}")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ranks with their intervals, and the tiers."""
        from evalstats.pictures import plots

        return plots.ranking(self._panels()["Ranks"][0], ax)

    def _rows(self) -> Sequence[Ranked]:
        return self.systems

    def _tables(self, digits: int | None = None) -> list[Table]:
        places = tabular.decimals([r.standard_error for r in self.systems], digits)
        percent = f"{100 * self.confidence_level:.10g}"
        columns: list[Column] = [
            ("rank", ">", lambda r: f"{r.rank:g}"),
            ("system", "<", lambda r: r.system),
            ("score", ">", lambda r: tabular.number(r.score, places)),
            (f"[{percent} %]", ">", lambda r: f"[{r.low}, {r.high}]"),
            ("[all at once]", ">", lambda r: f"[{r.simultaneous_low}, {r.simultaneous_high}]"),
            ("tier", "<", lambda r: r.tier)
            if self.has_letters
            else ("better than", ">", self.beaten),
            ("cluster", ">", lambda r: str(r.cluster)),
            ("first", ">", lambda r: _first(r.probability_first)),
        ]
        title = (
            f"Ranks by {self.name} {tabular.which_is_better(self.higher_is_better)}, {size(self)}"
        )
        return [table_of(title, self.systems, columns, self._ties())]

    def _findings(self) -> list[Finding]:
        """Say who is first, how sure that is, and who ties."""
        first, n = self.systems[0], len(self.systems)
        score = tabular.number(first.score, tabular.decimals([first.standard_error]))
        said = f"{first.system} ranks first of {n} in {self.name}: {score}"
        tied = [name for name in self.tied if name != first.system]
        ties = "no system ties with it"
        if tied:
            ties = f"{listed(tied, _TOLD)} cannot be told from it"
        beaten, level = self.beaten(first), tabular.level(self.confidence_level)
        line = f"Better than {beaten} others; {ties}. "
        line += f"Its rank: {level} {first.low} to {first.high}."
        return [Finding(said, "open" if beaten.startswith("0 ") else "better", [line])]

    def _panels(self) -> dict[str, list[Panel]]:
        marks = [
            Mark(
                r.system,
                r.rank,
                r.low,
                r.high,
                wider=(r.simultaneous_low, r.simultaneous_high),
                beside=r.tier if self.has_letters else self.beaten(r),
            )
            for r in self.systems
        ]
        level = tabular.level(self.confidence_level)
        letters, beside = "letters: tiers of ties", "letters: tiers"
        if not self.has_letters:
            letters, beside = "in brackets: better than so many", "beside: better than"
        return {
            "Ranks": [
                Panel(
                    marks,
                    title=self.metric,
                    about=f"{level}; thin: all at once; {letters}",
                    heading=f"Ranks by {self.name}",
                    below=[f"rank, {level}", f"thin: all at once; {beside}"],
                    is_whole=True,
                )
            ]
        }

    @property
    def has_letters(self) -> bool:
        """Whether there are so few tiers that letters can be read."""
        return len({letter for r in self.systems for letter in _LETTER.findall(r.tier)}) <= _TIERS

    def beaten(self, ranked: Ranked) -> str:
        """Return than how many others a system is significantly better, ``18 of 36``."""
        n = len(self.systems)
        return f"{n - ranked.simultaneous_high} of {n - 1}"

    @property
    def name(self) -> str:
        """The metric, after the task where there is one."""
        return f"{self.task}: {self.metric}" if self.task else self.metric

    def _ties(self) -> tuple[str, ...]:
        more = ", ..." if len(self.tied) > _NAMED else ""
        names = f" ({', '.join(self.tied[:_NAMED])}{more})" if self.tied else ""
        ties = f"Tied with the first: {len(self.tied)}{names}."
        letters = "Systems that share a letter cannot be told apart"
        if not self.has_letters:
            letters = "Every system of a cluster is better than every one of a later cluster"
        return (
            ties if self.tied else "No system ties with the first.",
            f"{letters}; first: share of the resamples in which a system scores best, which is no "
            f"probability that it is the best.",
        )


@dataclass(frozen=True, repr=False)
class Rankings(Several[Ranking]):
    """Rankings, one a metric; iterating gives `Ranking`."""

    rankings: tuple[Ranking, ...]

    def plot(self, ax: Panels | None = None) -> Panels:
        """Draw each ranking into a panel of its own."""
        from evalstats.pictures import plots

        return plots.ranks(self._panels()["Ranks"], ax)

    def _rows(self) -> Sequence[Ranking]:
        return self.rankings

    def _finding(self, row: Ranking) -> Finding:
        return row._findings()[0]


def _first(share: float | None) -> str:
    return "-" if share is None else tabular.number(share, 2)
