"""A gate without a baseline: whether a score is at least, or at most, a fixed number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evalstats.analysis.design import Aggregated, Labels
from evalstats.analysis.drawn import Drawn, from_segments, refuse_fixed
from evalstats.analysis.estimate import limits_of, result_signature
from evalstats.analysis.options import SEED, Options
from evalstats.analysis.pairs import PairTest
from evalstats.analysis.suite import Groups, Suite, Tables
from evalstats.analysis.tasks import Task, Total, as_decided
from evalstats.designs.one_sample.against import PAIR, Bound, OneSample, refuse_constant
from evalstats.errors import InputError
from evalstats.inference.families import holm
from evalstats.questions.gates.gate import asked_of, decided, one_sided, without_total
from evalstats.questions.gates.gates import Gate, GateCheck
from evalstats.questions.power.planning import needed_above
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results import tabular
from evalstats.results.forms import Finding
from evalstats.results.marks import Forest, Limit, Mark
from evalstats.results.notes import limit_notes
from evalstats.results.records import (
    KINDS,
    Difference,
    MarginTest,
    accepting,
    plural,
)
from evalstats.results.tabular import Column

#: How often a score that is as good as it seems should pass.
_POWER = 0.8
_WORDS = {"passed": "shown to be", "failed": "shown not to be", "undecided": "not shown to be"}


@dataclass(frozen=True)
class ScoreCheck(GateCheck):
    """One task under one metric, or the total, against a number; fields as those of `GateCheck`.

    Attributes
    ----------
    difference : Difference
        Of the score from the number, which stands as the baseline; its bounds have each a one-sided
        confidence of 1 - `significance_level`.
    needed : int or None
        About how many items show a score that is as good as this one to be on the right side of the
        number, four times out of five; `None` where it is on the other side.

    Examples
    --------
    >>> import evalstats as es
    >>> (check,) = es.gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9)
    >>> check.verdict, check.score, check.low > 0.9
    ('passed', 0.97, True)
    """

    @property
    def score(self) -> float:
        """That of the system."""
        return self.difference.system_score

    @property
    def low(self) -> float:
        """Lower bound of the score's interval."""
        return self.difference.baseline_score + self.difference.low

    @property
    def high(self) -> float:
        """Its upper bound."""
        return self.difference.baseline_score + self.difference.high

    @property
    def asked(self) -> str:
        """What is asked: "at least 0.9"."""
        d = self.difference
        return Bound(d.baseline_score, d.higher_is_better).asked

    def _words(self) -> tuple[str, str, str]:
        return (
            f"the score is not {self.asked}",
            f"the score is near the number; more {plural(self.unit)} would decide",
            "a score as good as this one",
        )


@dataclass(frozen=True, repr=False)
class ScoreGate(Gate):
    """Whether the scores of a system reach a number; iterating gives `ScoreCheck`.

    A system whose true score is the number passes in about 5 %: of 0/1 scores in .000 to .058 (all
    outcomes of 30, 100 and 1,000 items, numbers .5, .9 and .99), of means of 30 or 100 normal or
    uniform scores, or marks from 1 to 5, in .046 to .059, and of scores from a beta distribution
    (5, 1), whose low values are rare, in .083 and .072.

    Attributes
    ----------
    checks : tuple of ScoreCheck
        Of each task and metric, and then of the totals.
    margin, recovery : None
        There is no baseline. Other fields are those of `Gate`.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.gate([1] * 97 + [0] * 3, metrics=es.Mean("accuracy"), at_least=0.9)
    >>> found.verdict, found.exit_code
    ('passed', 0)
    """

    checks: tuple[ScoreCheck, ...]

    derived: ClassVar[tuple[str, ...]] = ("verdict", "asked")
    _drawn: ClassVar[str] = "score"

    @property
    def asked(self) -> str:
        """What is asked of every score: "at least 0.9"."""
        return self.checks[0].asked

    def _forest(self, at: int) -> Forest:
        """Return the score of each check, and the number."""
        first = self.checks[0].difference
        least, number = first.higher_is_better, first.baseline_score
        limits = (number, float("inf")) if least else (float("-inf"), number)
        marks = []
        for c in self.checks:
            kind, is_total = KINDS.get(c.verdict, "open"), c.difference.aggregate is not None
            marks.append((Mark(c.score, c.low, c.high, kind, is_total, limits),))
        label = f"score, {tabular.level(1 - 2 * self.significance_level)}"
        limit = Limit(asked=self.asked)
        return Forest(tuple(marks), at, label, null=number, limit=limit)

    def _finding(self, row: Any) -> Finding | None:
        """Say the score of a check with its interval, and what it is shown to be."""
        if row.verdict == "not asked":
            return None
        places = tabular.decimals([(row.high - row.low) / 4])
        score, low, high = (tabular.number(x, places) for x in (row.score, row.low, row.high))
        level = tabular.level(1 - 2 * self.significance_level)
        said = f"{row.name}: {row.verdict}. The score is {score} ({level} {low} to {high})"
        said += "." if row.barred else f", {_WORDS[row.verdict]} {row.asked}."
        lines = [] if row.verdict != "undecided" else [f"{row.reason[0].upper()}{row.reason[1:]}."]
        return Finding(said, KINDS.get(row.verdict, "open"), lines)

    def _headline(self) -> str:
        """Return what is asked, and the answer."""
        system = self.checks[0].difference.system
        return f"Is the score of {system} {self._limit()}? {self.verdict.capitalize()}"

    def _junit_text(self, check: Any) -> str:
        """Return what a test case of JUnit's XML says of a check."""
        score, bounds = _shown(check)
        return f"{check.difference.system} {score} {bounds}, asked: {self._limit()}"

    def _limit(self) -> str:
        return self.asked

    def _about(self) -> str:
        return self.checks[0].difference.system

    def _columns(self, digits: int | None) -> list[Column]:
        return [
            ("score", ">", lambda c: _shown(c, digits)[0]),
            (
                f"[{tabular.level(1 - 2 * self.significance_level)}]",
                ">",
                lambda c: _shown(c, digits)[1],
            ),
            ("p to pass", ">", lambda c: tabular.pvalue(c.pvalue_passed)),
        ]


def _shown(check: ScoreCheck, digits: int | None = None) -> tuple[str, str]:
    """Return the score and its interval as they are printed."""
    places = tabular.decimals([(check.high - check.low) / 4], digits)
    return tabular.number(check.score, places), tabular.interval(check.low, check.high, places)


def score_gated(
    tasks: Tables,
    bound: Bound,
    *,
    significance_level: float = 0.05,
    on: str = "all",
    undecided: str | None = None,
    aggregate: Aggregated | None = None,
    groups: Groups = None,
    strata: Labels = None,
    n_resamples: int | None = None,
    rng: Rng = SEED,
    executor: Workers = None,
    notes: Sequence[str] = (),
    accepted: Sequence[str] = (),
) -> ScoreGate:
    """Do what `evalstats.gate` does with tables of one system and a number."""
    level, is_of_totals = asked_of(tasks, significance_level, on, undecided)
    asked = Options(n_resamples=n_resamples, seed=as_seed(rng), executor=executor)
    options = one_sided(asked, level)
    for tables in tasks.values():
        options = as_decided(tables, options, n_resamples, rng)
    suite = Suite.of(tasks, aggregate, groups, strata)
    if len(suite.systems) != 1:
        raise InputError(
            f"holds one system against a number, got {', '.join(suite.systems)}; choose one",
            argument=bound.argument,
        )
    parts = [part for part in suite.parts if isinstance(part, (Task, Total))]
    if is_of_totals and all(part.total is None for part in parts):
        raise without_total(tasks)
    said, rows = list(notes), []
    for part in parts:
        sample = OneSample(part, bound)
        own = from_segments(sample.segments, Options(method="t", test="t"))
        for one in own:
            refuse_fixed(one, "a gate")
        said += limit_notes([limits_of(own, part=part)])
        rows += [(part, one) for one in sample.drawn(options)]
    pairs = [PairTest(one, *PAIR, options) for _, one in rows]
    for pair in pairs:
        refuse_constant(pair)
    passed, beyond = ([pair.pvalue(0.0, side) for pair in pairs] for side in bound.sides)
    is_asked = [part.total is not None or not is_of_totals for part, _ in rows]
    adjusted = iter(holm([p for p, of in zip(beyond, is_asked, strict=True) if of]).tolist())
    n_checks, checks = sum(is_asked), []
    for (part, one), pair, shown, p, of in zip(rows, pairs, passed, beyond, is_asked, strict=True):
        failed, two_sided = next(adjusted) if of else None, pair.pvalue()
        difference = Difference(
            task=part.name,
            aggregate=part.total,
            pvalue_adjusted=two_sided,
            margin_test=MarginTest(pvalue_not_worse=shown, pvalue_worse=p),
            **pair.fields(two_sided, pair.interval(options.alpha), False),
        )
        checks.append(
            ScoreCheck(
                difference=difference,
                verdict=decided(shown, failed, level) if of else "not asked",
                pvalue_failed_adjusted=failed,
                n_checks=n_checks,
                n_items=one.units.n,
                unit=one.units.unit,
                needed=needed_above(pair, level, _POWER) if of else None,
                significance_level=level,
                signature=_signature(one, pair, bound, n_checks),
            )
        )
    made = ScoreGate(tuple(checks), None, None, level, (), undecided)
    return made.noting(*accepting(dict.fromkeys(said), accepted))


def _signature(drawn: Drawn, pair: PairTest, bound: Bound, n_checks: int) -> str:
    """Return everything needed to make the numbers of a check again."""
    test = f"{pair.test} {bound.asked}".replace(" ", "-")
    signature = result_signature(drawn, pair.options, pair.method, test=test)
    if pair.counts is not None or pair.test == "t":
        # Where counts or t decide nothing is drawn.
        signature = signature.but(n=None, seed=None)
    return str(signature.but(adj="holm") if n_checks > 1 else signature)
