"""What an analysis finds, as plain records: numbers with their names, by which they are found.

Tables (`layout`) and figures (`marks`) are made of them; `estimates` has what users get.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import inf, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from evalstats.checks import choice, integer, shown
from evalstats.errors import InputError
from evalstats.inference.counts import exact_mcnemar
from evalstats.metrics import written
from evalstats.results import convert, tabular
from evalstats.results.convert import Count, NotNegative, Share, Whole, check_bounds, one_of

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate

#: Units of another test set, at most.
_MOST_UNITS = 10**12


class Interval(NamedTuple):
    """Two bounds, both inside.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate([3.0, 4, 5, 4, 3, 5], metric=es.Mean("marks"))
    >>> low, high = found.prediction(60)
    >>> low < found.score < high
    True
    """

    low: float
    high: float


def stretch(n_units: int, n: int | None) -> float:
    """Return N/n, the variance on another test set of n units over that on N; 1 by default."""
    return 1.0 if n is None else n_units / integer(n, "n", 1, _MOST_UNITS)


#: Stands behind claims of which a note, which begins with it, says how often such are false.
MARK = "†"
#: Cautions with which no gate passes, unless they are accepted by name.
BARRING = ("missing", "labels", "empty", "alike", "unread", "unmoved", "floor", "scale")
#: What a `Caution` begins with, which is all that files keep of it.
CAUTION = "Caution: "
#: The level at which one system is said to lack more than another.
_UNLIKE = 0.01
#: Tests of 0/1 scores, which count.
COUNTED = ("mcnemar", "cluster-t", "miettinen-nurminen")
#: What tests, intervals of scores and of differences, and totals are called in results.
TestName = Annotated[str, one_of(("bootstrap", "t", "ar", "score", *COUNTED))]
IntervalName = Annotated[
    str, one_of(("bootstrap", "percentile", "t", "wilson", "tango", *COUNTED[1:]))
]
TotalName = Annotated[str, one_of(("micro", "macro", "weighted", "whole groups"))]
#: What the verdict of a gate says of its system.
KINDS = {"passed": "better", "failed": "worse"}


class Caution(str):
    """A note on what may make the numbers invalid: in every form it stands before all other notes.

    `kind` says what that is, in a word: "labels" that are not a random sample, "missing" items,
    "changes" between systems, "errors", "runs" that are averaged, "empty" outputs, texts that are
    all "alike", or "unread" by the metric, other "texts" that are not what the metric takes them
    for, a score that is "unmoved" by the outputs, a baseline at the "floor" of its scale, shares
    and percentages on one "scale", "few" units that differ, "groups" in several strata, parts of
    documents that count as "units", a system that was "limited" to a part of the items. It is empty
    if a file was read.

    >>> Caution("20 of 200 items are left out.", "missing")
    'Caution: 20 of 200 items are left out.'
    """

    kind: str

    def __new__(cls, said: str, kind: str = "") -> Caution:
        """Return the sentence as a caution; one that is read from a file is one already."""
        made = super().__new__(cls, said if said.startswith(CAUTION) else CAUTION + said)
        made.kind = kind
        return made

    def within(self, part: str) -> Caution:
        """Return the same of a part: "Part 1 of 2: 20 of 200 outputs of A are empty."."""
        return Caution(f"{part}: {self.removeprefix(CAUTION)}", self.kind)

    @property
    def said(self) -> str:
        """The sentence alone, without its full stop."""
        return self.removeprefix(CAUTION).removesuffix(".")


def barring(notes: Iterable[str]) -> Caution | None:
    """Return the first caution with which no gate passes."""
    cautions = (note for note in notes if isinstance(note, Caution))
    return next((caution for caution in cautions if caution.kind in BARRING), None)


def accepting(notes: Iterable[str], kinds: Sequence[str]) -> list[str]:
    """Return notes of which the cautions of these kinds are accepted: they bar no gate."""
    return [
        Caution(note, "accepted") if isinstance(note, Caution) and note.kind in kinds else note
        for note in notes
    ]


def lacking_unlike(
    systems: Sequence[str],
    lacking: Sequence[int],
    sizes: Sequence[int],
    both: int = 0,
    unit: str = "item",
) -> str:
    """Say that one system clearly lacks more of its items than another; empty where none does.

    `both` are items that the two lack together. Of 62 and 2 of 200 this is "A lacks 62 of 200 items
    and B 2 of 200, more than chance explains (p = 2.3e-16)".
    """
    shares = [n / max(size, 1) for n, size in zip(lacking, sizes, strict=True)]
    most, least = shares.index(max(shares)), shares.index(min(shares))
    share = sizes[most] / max(sizes[most] + sizes[least], 1)
    pvalue = exact_mcnemar(lacking[most] - both, lacking[least] - both, share)
    if pvalue > _UNLIKE:
        return ""
    counts = [f"{lacking[i]:,} of {sizes[i]:,}" for i in (most, least)]
    said = f"{systems[most]} lacks {counts[0]} {plural(unit)} and {systems[least]} {counts[1]}"
    return f"{said}, more than chance explains (p = {pvalue:.2g})"


class Record:
    """A dataclass that turns into plain values, and in a notebook into a table of its fields."""

    #: Properties that are written with the fields.
    derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: str, int, float, bool, None, lists and dicts."""
        values: dict[str, Any] = convert.plain(self)
        return values

    def _title(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, a row for each field."""
        own_text = [] if type(self).__str__ is object.__str__ else [str(self)]
        table = tabular.record_table(self._title(), self.to_dict())
        return tabular.Page([table], own_text).fragment()


#: What is said of a pair: which system is better, or why that is not said.
VERDICTS = ("better", "worse", "no evidence", "identical", "cannot tell")
#: What is said of a loss; nothing where neither a margin nor a recovery was asked for.
_SAID_OF_LOSS = ("", "equivalent", "not worse", "not shown")


def loss_claim(kept: float | None, equivalent: float | None, level: float) -> str:
    """Return what is said of a loss, by the adjusted p-values of "not worse" and "equivalent"."""
    if equivalent is not None and equivalent <= level:
        return "equivalent"
    return "not worse" if kept is not None and kept <= level else "not shown"


@dataclass(frozen=True, kw_only=True)
class Claims(Record):
    """What is shown of a loss: that it is within a margin, or that a share of the score is kept.

    These are fields of a `Difference`; where neither was asked for they are empty.

    Attributes
    ----------
    claim : {"equivalent", "not worse", "not shown", ""}
        By the adjusted p-values.
    pvalue_not_worse, pvalue_worse : float or None
        Of the one-sided test that less is lost than the margin, or more kept than the recovery; and
        of the opposite. Of this pair alone. `None` also where a limit was asked for and nothing can
        be tested, which `Difference.unanswered` explains.
    pvalue_equivalence, equivalence_bound : float or None
        Of a margin: the larger of its two one-sided tests, and the smallest margin within which the
        two are shown to be equivalent. Of this pair alone.
    loss_bound : float or None
        Of a margin: the smallest loss that is ruled out, negative for one that is surely better. Of
        this pair alone.
    recovery_bound : float or None
        Of a recovery: the largest share of the baseline, at most 1, that is shown to be kept. Of
        this pair alone.
    pvalue_not_worse_adjusted, pvalue_equivalence_adjusted : float or None
        What claims are made by: adjusted for all pairs and tasks under the metric, the claims of
        each kind apart.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.1, 4.1, 5, 4.1, 2.9, 5]}
    >>> (d,) = es.compare(marks, metrics=es.Mean("marks"), margin=0.5)
    >>> d.claim
    'equivalent'
    """

    claim: Annotated[str, one_of(_SAID_OF_LOSS)] = ""
    pvalue_not_worse: Share | None = None
    pvalue_worse: Share | None = None
    pvalue_equivalence: Share | None = None
    loss_bound: float | None = None
    equivalence_bound: float | None = None
    recovery_bound: float | None = None
    pvalue_not_worse_adjusted: Share | None = None
    pvalue_equivalence_adjusted: Share | None = None

    @property
    def is_tested(self) -> bool:
        """Whether a limit was asked for and something can be said of it."""
        return self.pvalue_not_worse is not None


@dataclass(frozen=True)
class Difference(Claims):
    """A system against a baseline on a task, or in total, under one metric.

    Attributes
    ----------
    task, aggregate : str, str or None
        The task, empty where there is one without a name; of a total its name, and then `aggregate`
        says what it is ("macro", "micro" or "weighted").
    metric, baseline, system, baseline_score, system_score : str, float
        What was compared, and the corpus scores; `difference` is the second less the first.
    low, high, standard_error : float
        Confidence interval, and standard error, of the difference.
    pvalue, pvalue_error : float
        Of this comparison alone, in (0, 1], and its Monte-Carlo standard error; 0 where nothing was
        drawn for it.
    pvalue_adjusted : float
        Adjusted for all comparisons under the same metric, on all tasks.
    n_differing, n_units : int, int or None
        The number of segments, or groups, whose statistics differ between the two systems; and of
        how many. Both are all units of both systems where these are unpaired. `n_units` is `None`
        where the error is not of units alone, as of several runs of each system.
    higher_is_better : bool
        Direction of the metric.
    test, method : str
        Which test and which interval these are; of 0/1 scores "mcnemar" and "tango" by default, in
        groups "cluster-t", and of unpaired systems "miettinen-nurminen"; of several runs and of
        very few units "t".
    verdict : {"better", "worse", "no evidence", "identical", "cannot tell"}
        What is known of the system, by the adjusted p-value; "cannot tell" where no data on so few
        units could make it small enough.
    gained, lost : int or None
        Of 0/1 scores: on how many segments only the system succeeds, and only the baseline.
    claim, and other fields of `Claims`
        What is shown of a margin or a recovery.

    Examples
    --------
    >>> import evalstats as es
    >>> (d,) = es.compare({"A": [3.0, 4, 5, 4], "B": [3.5, 4.5, 5, 4.4]}, metrics=es.Mean("marks"))
    >>> print(f"{d.system} - {d.baseline} = {d.difference:.2f}, p = {d.pvalue:.3f}: {d.verdict}")
    B - A = 0.35, p = 0.250: cannot tell
    """

    task: str
    aggregate: TotalName | None
    metric: str
    baseline: str
    system: str
    baseline_score: float
    system_score: float
    low: float
    high: float
    standard_error: NotNegative
    pvalue: Share
    pvalue_adjusted: Share
    pvalue_error: Share
    n_differing: Whole
    n_units: Count | None
    higher_is_better: bool
    test: TestName
    method: IntervalName
    verdict: Annotated[str, one_of(VERDICTS)]
    gained: Whole | None = None
    lost: Whole | None = None

    derived = ("difference",)

    @classmethod
    def made(
        cls, fields: Mapping[str, Any], pvalue: float, level: float, least: float = 0.0
    ) -> Difference:
        """Return the difference of these fields, with its adjusted p-value and its verdict.

        `least` is the smallest adjusted p-value that such a pair, whatever its scores, could have.
        """
        difference = fields["system_score"] - fields["baseline_score"]
        verdict = "better" if (difference > 0) == fields["higher_is_better"] else "worse"
        if fields["n_differing"] == 0:
            verdict = "identical"
        elif pvalue > level:
            verdict = "cannot tell" if least > level else "no evidence"
        elif difference == 0:
            verdict = "no evidence"
        return cls(pvalue_adjusted=pvalue, verdict=verdict, **fields)

    @property
    def difference(self) -> float:
        """System minus baseline."""
        return self.system_score - self.baseline_score

    @property
    def exact_pvalue(self) -> float | None:
        """Of 0/1 scores the p-value of the exact form of McNemar's (1947) test, the sign test.

        Two-sided; it takes all segments for independent.
        """
        if self.gained is None or self.lost is None:
            return None
        return exact_mcnemar(self.gained, self.lost)

    @property
    def exact(self) -> bool:
        """Whether all swaps were enumerated."""
        return self.test == "ar" and self.pvalue_error == 0

    @property
    def winner(self) -> str | None:
        """The system with the better score, significant or not; `None` when they tie."""
        if self.difference == 0:
            return None
        return self.system if (self.difference > 0) == self.higher_is_better else self.baseline

    @property
    def kind(self) -> str:
        """What its verdict says of the system: "better", "worse" or "open"."""
        return self.verdict if self.verdict in ("better", "worse") else "open"

    def probability(self, n: int | None = None) -> float:
        """Return how likely another test set of n units shows a difference of the same sign.

        ``Φ(|D| / (se·√(1 + N/n)))`` of the difference D on N units: from 0.5, where D is 0 or no
        unit differs, to 1. The sign is that of the number, so that of TER it is the lower score
        that stays lower.

        It is a plug-in: the true difference is taken to be near the observed one. That is the
        posterior predictive probability where any true difference is as likely as any other. Of
        systems that are close, and of pairs that were chosen for a large difference, it is too
        high. Measured on all pairs of nine systems of WMT22 en-de, for as many others: of 100
        segments BLEU .745 on average, and .649 of the other test sets had the same sign; of 300
        .790 and .744, of 1,000 .854 and .840; chrF .768 and .717, .835 and .819, .902 and .902.

        Parameters
        ----------
        n : int, optional
            Segments, or groups, of the other test set, of the same kind, with strata and tasks in
            the same proportions; by default as many as here.

        Raises
        ------
        InputError
            For n below 1; and for any n where `n_units` is not known.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3, 2], "B": [3.1, 4.2, 5.1, 4.1, 2.8, 2.3]}
        >>> (d,) = es.compare(scores, metrics=es.Mean("marks"))
        >>> print(f"{d.probability():.2f} {d.probability(60):.2f}")
        0.85 0.92
        """
        if n is not None and self.n_units is None:
            raise InputError(
                "n must be left out: the error of several runs of each system is not of units alone"
            )
        distance = abs(self.difference)
        error = self.standard_error * sqrt(1 + stretch(self.n_units or 1, n))
        if not error > 0:
            return 1.0 if distance else 0.5
        return NormalDist().cdf(distance / error)

    def _check(self) -> None:
        check_bounds(self)

    def turned(self) -> Difference:
        """Return the difference of the same two the other way round.

        A one-sided p-value, and what is shown of a margin, belong to one direction: the result has
        no claim.
        """
        no_claims: dict[str, Any] = {field.name: field.default for field in fields(Claims)}
        return replace(
            self,
            baseline=self.system,
            system=self.baseline,
            baseline_score=self.system_score,
            system_score=self.baseline_score,
            low=-self.high,
            high=-self.low,
            verdict={"better": "worse", "worse": "better"}.get(self.verdict, self.verdict),
            gained=self.lost,
            lost=self.gained,
            **no_claims,
        )

    def unanswered(self, unit: str) -> str:
        """Return why nothing is tested if a margin or a recovery was asked for."""
        if self.standard_error == 0:
            how = "differ by the same" if self.n_differing else "are equal"
            return f"all {plural(unit)} {how}, so the loss on others has no bound; more are needed"
        score, who = min((self.baseline_score, self.baseline), (self.system_score, self.system))
        return (
            f"a recovery needs scores of at least 0, but {self.metric} of {who} is {score:.6g}; "
            "give margin instead"
        )

    def __str__(self) -> str:
        """Return ``B - A: -0.42 BLEU [-0.90, -0.01], p = 0.0312 (0.9166 adjusted ...)``."""
        places = tabular.decimals([self.standard_error])
        value = tabular.number(self.difference, places, sign=True)
        bounds = tabular.interval(self.low, self.high, places, sign=True)
        on = f"{self.task}: " if self.task else ""
        pair = f"{on}{self.system} - {self.baseline}"
        p, adjusted = map(tabular.pvalue, (self.pvalue, self.pvalue_adjusted))
        also = f" ({adjusted} adjusted for all comparisons)" if adjusted != p else ""
        return f"{pair}: {value} {self.metric} {bounds}, {tabular.p_is(self.pvalue)}{also}"

    def _title(self) -> str:
        on = f"{self.task}: " if self.task else ""
        return f"{on}{self.system} - {self.baseline}, {self.metric}"


def distinct(items: Iterable[str]) -> list[str]:
    """Return the different items in their order."""
    return list(dict.fromkeys(items))


def only(words: Iterable[str], otherwise: str) -> str:
    """Return the one word that all are, or another where they differ."""
    different = set(words)
    return different.pop() if len(different) == 1 else otherwise


def by_metric(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the records of each metric."""
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(row.metric, []).append(row)
    return groups


def by_pair(rows: Iterable[Difference]) -> dict[tuple[str, str], list[Difference]]:
    """Return the differences of each system and its baseline."""
    pairs: dict[tuple[str, str], list[Difference]] = {}
    for d in rows:
        pairs.setdefault((d.system, d.baseline), []).append(d)
    return pairs


def listed(parts: Iterable[str], most: int | None = None, word: str = "and") -> str:
    """Return ``a, b and c``, or of more than so many ``a, b and 2 more``; with its last word."""
    parts = list(parts)
    if most is not None and len(parts) > most:
        parts[most:] = [f"{len(parts) - most} more"]
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def first_few(
    lines: Iterable[str], between: str = "; ", most: int = 3, more: str | None = None
) -> str:
    """Return the first of several lines, and how many more there are, as `more` says it.

    >>> first_few("abcde"), first_few("abcde", ", ", 2, " and others of {} more")
    ('a; b; c; and 2 more', 'a, b and others of 3 more')
    """
    lines = distinct(lines)
    shown, n = between.join(lines[:most]), len(lines) - most
    return shown if n <= 0 else shown + (more or f"{between}and {{}} more").format(f"{n:,}")


def decimals_of(rows: Iterable[Any], digits: int | None = None) -> dict[str, int]:
    """Return the decimals of each metric: as many as give its smallest error two digits.

    What is left of rounding is no error: that of a perfect score asks for no decimals.
    """
    return {
        metric: tabular.decimals(map(_error_of, group), digits)
        for metric, group in by_metric(rows).items()
    }


def _error_of(row: Any) -> float | None:
    """Return the standard error of a record, or `None` if its score's rounding explains it."""
    error: float | None = row.standard_error
    return error if error and error > 1e-14 * abs(getattr(row, "score", 0.0)) else None


def has_tasks(rows: Iterable[Any]) -> bool:
    """Return whether rows are of several tasks."""
    return len({row.task for row in rows}) > 1


def metric_name(row: Any) -> str:
    """Return ``BLEU ↑``."""
    return f"{row.metric} {tabular.direction(row.higher_is_better)}"


def ranked(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates best first; equal scores keep their order."""
    return sorted(estimates, key=lambda e: -e.score if e.higher_is_better else e.score)


def mark_of(comparison: Comparison, score: Estimate) -> str:
    """Return the mark of a claim about groups, or nothing: notes are all that files keep."""
    noted = any(note.startswith(MARK) for note in comparison.notes)
    return f" {MARK}" if noted and score.unit != score.segment else ""


def plural(unit: str) -> str:
    """Return the plural of a unit's name: segments, documents, categories, strata.

    >>> plural("document"), plural("category"), plural("news"), plural("stratum")
    ('documents', 'categories', 'news', 'strata')
    """
    if unit.endswith("stratum"):
        return f"{unit[:-2]}a"
    if unit.endswith("y") and unit[-2:-1] not in tuple("aeiou"):
        return f"{unit[:-1]}ies"
    return unit if unit.endswith("s") else f"{unit}s"


def counted(n: int, unit: str) -> str:
    """Return ``2,037 segments``."""
    return f"{n:,} {unit if n == 1 else plural(unit)}"


def whole_sizes(estimates: Sequence[Estimate]) -> str:
    """Return ``321 documents of 2,008 segments``, or ``480 to 500 segments`` of several systems."""
    numbers, first = [e.n_segments for e in estimates], estimates[0]
    if min(numbers) < max(numbers):
        return f"{min(numbers):,} to {counted(max(numbers), first.unit)}"
    effect, worth = first.design_effect, first.effective_size
    units = counted(first.n_segments, first.unit)
    if first.unit == first.segment or not effect or worth is None:
        return units
    return f"{units} of {counted(round(worth * effect), first.segment)}"


@dataclass(frozen=True, eq=False)
class Adjustment:
    """How the p-values of comparisons are adjusted, and which are adjusted together.

    Rows are differences, or what they are made of: each has a task, an aggregate and a metric.
    """

    rows: Sequence[Any]
    name: str  # "max-t", "holm", "benjamini-hochberg", "none"
    level: float
    alternative: str
    n_resamples: int

    @cached_property
    def is_over_metrics(self) -> bool:
        """Whether comparisons under all metrics are one family: a total is of several."""
        return is_mixed(self.rows)

    @cached_property
    def _sizes(self) -> dict[tuple[bool, bool | str], tuple[int, int]]:
        """How many rows each family has, and of how many tasks, or totals, these are."""
        families = defaultdict(list)
        for row in self.rows:
            place = row.aggregate is not None, self.is_over_metrics or row.metric
            families[place].append(row.task)
        return {place: (len(parts), len(set(parts))) for place, parts in families.items()}

    def n_compared(self, row: Any) -> int:
        """Return how many rows, or totals, are adjusted together with this one, itself included."""
        return self._sizes[row.aggregate is not None, self.is_over_metrics or row.metric][0]

    def factor(self, row: Any) -> int:
        """Return what the adjustment multiplies the smallest p-value by."""
        n, n_parts = self._sizes[row.aggregate is not None, self.is_over_metrics or row.metric]
        return {"none": 1, "max-t": n_parts}.get(self.name, n)

    def least(self, row: Any, test: str, n_differing: int, is_drawn: bool = False) -> float:
        """Return the smallest adjusted p-value of units that can be swapped in so many ways.

        Where swaps are drawn, there are as many as resamples.
        """
        sides = 2.0 if self.alternative == "two-sided" else 1.0
        alone = 0.0 if test in COUNTED else min(1.0, sides * 0.5**n_differing)
        return max(alone, is_drawn / (self.n_resamples + 1)) * self.factor(row)

    def is_apart(self, d: Difference) -> bool:
        """Return whether its interval leaves 0 out and its verdict is no evidence."""
        is_two_sided = self.alternative == "two-sided"
        return is_two_sided and d.verdict == "no evidence" and not d.low <= 0 <= d.high

    @property
    def pvalue_name(self) -> str:
        """What the p-value is called that verdicts are of: ``p (adjusted)``, or ``p``."""
        return "p" if self.name == "none" else "p (adjusted)"


def is_mixed(records: Iterable[Any]) -> bool:
    """Return whether a total is of several metrics, so that all rows belong together."""
    rows = list(records)
    metrics = {row.metric for row in rows if row.aggregate is None}
    return any(row.metric not in metrics for row in rows)


def oriented(comparison: Comparison, rows: Sequence[Difference]) -> list[Difference]:
    """Return differences as tables, figures and folds show them: the better system first.

    The rows of a pair on several tasks have the direction of the total, and those of the only pair
    under several metrics that of the first. Against a baseline, and of one-sided tests and claims,
    differences have a direction of their own.
    """
    directed = comparison.baseline is not None or comparison.alternative != "two-sided"
    if directed or comparison.margin is not None or comparison.recovery is not None:
        return list(rows)
    together = is_mixed(rows) or not (has_tasks(rows) or len(by_pair(rows)) > 1)
    first: dict[tuple[str, ...], Difference] = {}
    for d in sorted(rows, key=lambda d: d.aggregate is None):
        first.setdefault((d.system, d.baseline, "" if together else d.metric), d)
    main = (first[d.system, d.baseline, "" if together else d.metric] for d in rows)
    pairs = zip(rows, main, strict=True)
    return [d.turned() if one.winner == one.baseline else d for d, one in pairs]


def of_metric(rows: Sequence[Any], metric: str | None) -> list[Any]:
    """Return the records of one metric; `None` stands for the only one.

    It is called as it is printed, in any case, or as it was asked for: "chrf" is chrF2.
    """
    names = distinct(row.metric for row in rows)
    fitting = names if metric is None else [name for name in names if name == metric]
    if not fitting and isinstance(metric, str):
        fitting = [name for name in names if written(name) == written(metric)]
    if metric is None and len(names) > 1:
        raise InputError(f"is missing: say which of {', '.join(names)}", argument="metric")
    name = fitting[0] if len(fitting) == 1 else choice(metric, tuple(names), "metric")
    return [row for row in rows if row.metric == name]


def of_task(rows: Sequence[Any], task: str | None) -> list[Any]:
    """Return the records of a task, or a total; `None` is the last total (of all), or the task.

    A total is also found by what it is, "macro".
    """
    if task is None:
        whole = {row.metric: row.task for row in rows if row.aggregate}
        totals = [row for row in rows if row.aggregate and row.task == whole[row.metric]]
        names = distinct(row.task for row in rows)
        if not whole and len(names) > 1:
            raise InputError(f"there are {len(names)} tasks; give task, one of {', '.join(names)}")
        return totals or list(rows)
    fitting = [row for row in rows if row.task == task]
    fitting = fitting or [row for row in rows if row.aggregate == task]
    if not fitting:
        tasks = distinct(row.task for row in rows if row.task)
        choice(task, tuple(tasks or ["without names"]), "task")
    return fitting


def of_pair(
    rows: Sequence[Difference],
    system: str | None,
    baseline: str | None,
    *more: str,
    is_turnable: bool = False,
) -> Difference:
    """Return the only difference of a pair among those of a task and a metric.

    A pair that was compared the other way round is turned, where that says the same.
    """
    names = distinct(name for d in rows for name in (d.baseline, d.system))
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None:
            choice(name, tuple(names), argument)
    if more:
        raise InputError(f"key must be one of {', '.join(names)}; got {more[0]!r}")
    fitting = [d for d in rows if system in (None, d.system) and baseline in (None, d.baseline)]
    if baseline is None:
        fitting = [d for d in rows if system in (None, d.system, d.baseline)]
    among = fitting if len(fitting) > 1 else rows
    known = "; ".join(f"{d.system!r} from {d.baseline!r}" for d in among[:5])
    if len(fitting) == 1 and system in (None, fitting[0].system):
        return fitting[0]
    if len(fitting) > 1:
        raise InputError(
            f"is missing: say which of {len(fitting)} pairs, {known}",
            argument="baseline",
        )
    turned = [d for d in rows if (d.system, d.baseline) == (baseline, system)]
    if turned and is_turnable:
        return turned[0].turned()
    if turned:
        raise InputError(
            f"only the difference of {baseline!r} from {system!r} was computed, and one-sided "
            f"tests, margins and recoveries are for one direction: ask for it, or compare with the "
            f"systems in the other order"
        )
    raise InputError(f"no difference of {system!r} from {baseline!r}; there are {known}")


def named(rows: Sequence[Any], key: object) -> tuple[list[Any], list[str]]:
    """Return the records of the task and the metric that a key begins with, and its other names.

    A key is ``(task, metric, system, ...)``: what there is one of can be left out.
    """
    names = list(key) if isinstance(key, tuple) else [key]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"give names or a place: a task, a metric, a system; got {shown(key)}")
    task = metric = None
    tasks = {name for row in rows for name in (row.task, row.aggregate)}
    if len(names) > 1 and names[0] and names[0] in tasks:
        task = str(names.pop(0))
    systems = {name for row in rows for name in (row.system, getattr(row, "baseline", ""))}
    if len(names) > 1 and names[0] not in systems:
        metric = str(names.pop(0))
    known = list(rows) if metric is None else of_metric(rows, metric)
    return of_metric(of_task(known, task), None), [str(name) for name in names]


def check_pairs(c: Comparison) -> None:
    """Refuse differences of other scores than the estimates, or of another kind."""
    known = c.estimates.by_row
    if len(known) < len(c.estimates):
        raise InputError("estimates has one of them twice")
    pairs = set()
    for i, d in enumerate(c.differences):
        both = [known.get((d.task, d.metric, name)) for name in (d.baseline, d.system)]
        scores = [None if e is None else e.score for e in both]
        is_alike = c.baseline in (None, d.baseline)
        sizes = [e.n_segments for e in both if e is not None] or [0]
        # Unpaired systems share none of their units.
        is_apart = d.n_differing == d.n_units == sum(sizes)
        if (
            scores != [d.baseline_score, d.system_score]
            or not is_alike
            or not (is_apart or d.n_differing <= min(sizes))
            or d.baseline == d.system
            or not _is_as_said(d, c)
        ):
            raise InputError(f"differences[{i}] does not fit the other fields")
        pairs.add((d.task, d.metric, frozenset((d.baseline, d.system))))
    if len(pairs) < len(c.differences):
        raise InputError("differences has one of them twice")
    if len({(d.task, d.metric) for d in c.differences}) != len(c.signatures):
        raise InputError("signatures must be one per task and metric")


def _is_as_said(d: Difference, c: Comparison) -> bool:
    """Return whether verdict and claim of a difference follow from its other fields."""
    given, p, level = dict(vars(d)), d.pvalue_adjusted, c.significance_level
    del given["verdict"], given["pvalue_adjusted"]
    # What is the least p-value that it could have is known of its statistics alone.
    verdicts = {Difference.made(given, p, level, least).verdict for least in (0.0, inf)}
    kept, equivalent = d.pvalue_not_worse_adjusted, d.pvalue_equivalence_adjusted
    is_limited = c.margin is not None or c.recovery is not None
    claim = loss_claim(kept, equivalent, level) if is_limited else ""
    return d.verdict in verdicts and d.claim == claim
