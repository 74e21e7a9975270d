"""Records of the results of an analysis: numbers with names, and functions that find them by name.

`layout` makes tables of them, and `pictures.marks` figures; `estimates` has the results for users.
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

#: The largest number of units of another test set.
_MOST_UNITS = 10**12


class Interval(NamedTuple):
    """A closed interval.

    Attributes
    ----------
    low, high : float
        The bounds, both included.

    Examples
    --------
    >>> import evalstats as es
    >>> found = es.estimate([3.0, 4, 5, 4, 3, 5], metric=es.Mean("quality"))
    >>> low, high = found.prediction(60)
    >>> low < found.score < high
    True
    """

    low: float
    high: float


def stretch(n_units: int, n: int | None) -> float:
    """Return N/n, the ratio of the variance on a test set of n units to the variance on N units.

    By default it is 1.
    """
    return 1.0 if n is None else n_units / integer(n, "n", 1, _MOST_UNITS)


#: Footnote mark for claims whose error rate a note reports; the note begins with the mark.
MARK = "†"
#: Cautions with which no gate passes, unless they are accepted by name.
BARRING = (
    *("missing", "limited", "labels", "empty", "alike", "shifted"),
    *("unread", "unmoved", "floor", "scale"),
)
#: Every `Caution` begins with this; files keep only this and the sentence, not the kind.
CAUTION = "Caution: "
#: The level at which a note reports that one system lacks more than another.
_UNLIKE = 0.01
#: Tests of 0/1 scores, which count successes.
COUNTED = ("mcnemar", "cluster-t", "miettinen-nurminen")
#: Names of tests, of intervals of scores and differences, and of totals in results.
TestName = Annotated[str, one_of(("bootstrap", "t", "ar", "score", *COUNTED))]
IntervalName = Annotated[
    str, one_of(("bootstrap", "percentile", "t", "wilson", "tango", *COUNTED[1:]))
]
TotalName = Annotated[str, one_of(("micro", "macro", "weighted", "whole groups"))]
#: The kind of a system, by the verdict of its gate.
KINDS = {"passed": "better", "failed": "worse"}


class Caution(str):
    """A note on what may make the numbers invalid. In every form it is printed before other notes.

    `kind` names the reason in a word: "labels" that are not a random sample or oppose the judge,
    "missing" items, "changes" between systems, "errors", "runs" that are averaged, "empty" outputs,
    texts that are all "alike", "shifted" against the references, or "unread" by the metric, other
    "texts" that are not what the metric takes them for, a score that is "unmoved" by the outputs, a
    baseline at the "floor" of its scale, shares and percentages on one "scale", or a number that
    marks a missing score, different "scales" of judge and human labels, "few" units that differ,
    "groups" in several strata, parts of documents that count as "units", a system that was
    "limited" to a subset of the items. It is empty if a file was read.

    >>> Caution("20 of 200 items are left out.", "missing")
    'Caution: 20 of 200 items are left out.'
    """

    kind: str

    def __new__(cls, said: str, kind: str = "") -> Caution:
        """Return the sentence as a caution; a sentence from a file begins with "Caution: "."""
        made = super().__new__(cls, said if said.startswith(CAUTION) else CAUTION + said)
        made.kind = kind
        return made

    def within(self, part: str) -> Caution:
        """Return the caution for a part: "Part 1 of 2: 20 of 200 outputs of A are empty."."""
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
    """Return the notes with cautions of these kinds accepted, so that they do not bar a gate."""
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
    """Return a sentence if one system clearly lacks more of its items than another, or "".

    `both` is the number of items that the two lack together. For 62 and 2 of 200 the sentence is "A
    lacks 62 of 200 items and B 2 of 200, more than chance would explain (p = 2.3e-16)".
    """
    shares = [n / max(size, 1) for n, size in zip(lacking, sizes, strict=True)]
    most, least = shares.index(max(shares)), shares.index(min(shares))
    if shares[most] == shares[least]:
        return ""
    share = sizes[most] / max(sizes[most] + sizes[least], 1)
    pvalue = exact_mcnemar(lacking[most] - both, lacking[least] - both, share)
    if pvalue > _UNLIKE:
        return ""
    counts = [f"{lacking[i]:,} of {sizes[i]:,}" for i in (most, least)]
    said = f"{systems[most]} lacks {counts[0]} {plural(unit)} and {systems[least]} {counts[1]}"
    return f"{said}, more than chance would explain (p = {pvalue:.2g})"


class Record:
    """A dataclass that can be turned into plain values; a notebook shows a table of its fields."""

    #: Properties that are written with the fields.
    derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: str, int, float, bool, None, lists and dicts."""
        values: dict[str, Any] = convert.plain(self)
        return values

    def _title(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, with one row per field."""
        own_text = [] if type(self).__str__ is object.__str__ else [str(self)]
        table = tabular.record_table(self._title(), self.to_dict())
        return tabular.Page([table], own_text).fragment()


#: Verdicts on a pair: which system is better, or why there is no such verdict.
VERDICTS = ("better", "worse", "no evidence", "identical", "cannot tell")
#: Claims about a loss; empty without a margin and a recovery.
_SAID_OF_LOSS = ("", "equivalent", "not worse", "not shown")


def loss_claim(kept: float | None, equivalent: float | None, level: float) -> str:
    """Return the claim about a loss, from the adjusted p-values of both claims."""
    if equivalent is not None and equivalent <= level:
        return "equivalent"
    return "not worse" if kept is not None and kept <= level else "not shown"


@dataclass(frozen=True, kw_only=True)
class Claims(Record):
    """Claims about a loss: that it is within a margin, or that a share of the score is kept.

    These are fields of a `Difference`. Without a margin and a recovery they are empty. P-values and
    bounds are for this pair alone, except the adjusted p-values.

    Attributes
    ----------
    claim : {"equivalent", "not worse", "not shown", ""}
        The claim that the adjusted p-values support.
    pvalue_not_worse, pvalue_worse : float or None
        One-sided p-values, in (0, 1], of the claim that the loss is less than the margin (or that
        more is kept than the recovery), and of the opposite. They are also `None` if there is a
        limit that cannot be tested, which `Difference.unanswered` explains.
    pvalue_equivalence, equivalence_bound : float or None
        With a margin: the larger p-value of its two one-sided tests, and the smallest margin for
        which the two systems would be shown to be equivalent, in points of the score.
    loss_bound : float or None
        With a margin: the smallest loss that is ruled out, in points of the score. It is negative
        if the system is shown to be better.
    recovery_bound : float or None
        With a recovery: the largest share of the baseline's score, at most 1, that is shown to be
        kept.
    pvalue_not_worse_adjusted, pvalue_equivalence_adjusted : float or None
        P-values adjusted for all pairs and tasks under the metric, for each kind of claim
        separately. The claim is made from these.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.1, 4.1, 5, 4.1, 2.9, 5]}
    >>> (d,) = es.compare(scores, metrics=es.Mean("quality"), margin=0.5)
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
        """Whether there is a limit that can be tested."""
        return self.pvalue_not_worse is not None


@dataclass(frozen=True)
class Difference(Claims):
    """The difference between a system and a baseline on a task, or in total, under one metric.

    Attributes
    ----------
    task, aggregate : str, str or None
        Name of the task; empty for a single task without a name. For a total its name, and then
        `aggregate` is its kind ("macro", "micro" or "weighted").
    metric, baseline, system : str
        Names of the metric and of the two systems.
    baseline_score, system_score : float
        Corpus scores of both; `difference` is the second minus the first.
    low, high, standard_error : float
        Confidence interval and standard error of the difference, in points of the score.
    pvalue, pvalue_error : float
        P-value of this comparison alone, in (0, 1], and its Monte-Carlo standard error, which is 0
        if the p-value does not come from resamples.
    pvalue_adjusted : float
        P-value adjusted for all comparisons under the same metric, on all tasks, in (0, 1].
    n_differing, n_units : int, int or None
        Number of segments, or groups, whose statistics differ between the two systems, and number
        of all. For unpaired systems both are the number of all units of both systems. `n_units` is
        `None` if the error does not come from units alone, as with several runs of each system.
    higher_is_better : bool
        Direction of the metric.
    test, method : str
        The test and the interval. For 0/1 scores they are "mcnemar" and "tango" by default,
        "cluster-t" in groups, and "miettinen-nurminen" for unpaired systems; for several runs and
        for very few units they are "t".
    verdict : {"better", "worse", "no evidence", "identical", "cannot tell"}
        Verdict on the system, from the adjusted p-value. It is "cannot tell" if no scores on so few
        units could make the p-value small enough.
    gained, lost : int or None
        For 0/1 scores: number of segments on which only the system succeeds, and on which only the
        baseline does.
    claim, and other fields of `Claims`
        Claims about a margin or a recovery.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4], "B": [3.5, 4.5, 5, 4.4]}
    >>> (d,) = es.compare(scores, metrics=es.Mean("quality"))
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

        `least` is the smallest adjusted p-value that this pair could have with any scores.
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
        """The two-sided p-value of the exact form of McNemar's (1947) test, for 0/1 scores.

        This is the sign test; it assumes that all segments are independent.
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
        """The system with the better score, significant or not; `None` if they tie."""
        if self.difference == 0:
            return None
        return self.system if (self.difference > 0) == self.higher_is_better else self.baseline

    @property
    def kind(self) -> str:
        """The verdict on the system in a word: "better", "worse" or "open"."""
        return self.verdict if self.verdict in ("better", "worse") else "open"

    def probability(self, n: int | None = None) -> float:
        """Return the probability that a test set of n other units has a difference of equal sign.

        It is ``Φ(|D| / (se·√(1 + N/n)))`` for the difference D on N units, from 0.5 (if D is 0 or
        no unit differs) to 1. The sign refers to the number: for TER the lower score stays lower.

        This plug-in estimate assumes that the true difference is near the observed difference. It
        is the posterior predictive probability if every true difference is equally likely. It is
        too high for systems that are close, and for pairs that were chosen for a large difference.
        We measured it on all pairs of nine systems of WMT22 en-de, for as many other segments. For
        BLEU on 100 segments it was .745 on average, and .649 of the other test sets had the same
        sign; on 300 segments .790 and .744, and on 1,000 segments .854 and .840. For chrF the
        numbers were .768 and .717, .835 and .819, and .902 and .902.

        Parameters
        ----------
        n : int, optional
            Segments, or groups, of the other test set, of the same kind, with strata and tasks in
            the same proportions; by default as many as here.

        Returns
        -------
        float
            In [0.5, 1].

        Raises
        ------
        InputError
            For n below 1, and for any n if `n_units` is not known.

        Examples
        --------
        >>> import evalstats as es
        >>> scores = {"A": [3.0, 4, 5, 4, 3, 2], "B": [3.1, 4.2, 5.1, 4.1, 2.8, 2.3]}
        >>> (d,) = es.compare(scores, metrics=es.Mean("quality"))
        >>> print(f"{d.probability():.2f} {d.probability(60):.2f}")
        0.85 0.92
        """
        if n is not None and self.n_units is None:
            raise InputError(
                "n cannot be used with several runs of each system, because part of the "
                "error comes from the runs; leave it out"
            )
        distance = abs(self.difference)
        error = self.standard_error * sqrt(1 + stretch(self.n_units or 1, n))
        if not error > 0:
            return 1.0 if distance else 0.5
        return NormalDist().cdf(distance / error)

    def _check(self) -> None:
        check_bounds(self)

    def turned(self) -> Difference:
        """Return the difference of the same two systems in the other direction.

        One-sided p-values and claims about a margin have a direction, so the result has no claim.
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
        """Return why a margin or a recovery could not be tested."""
        if self.standard_error == 0:
            how = "differ by the same amount" if self.n_differing else "have equal scores"
            units = plural(unit)
            return (
                f"the systems {how} on all {units}, so it is unknown how large the loss "
                f"on other {units} could be. Use more {units}"
            )
        score, who = min((self.baseline_score, self.baseline), (self.system_score, self.system))
        return (
            f"a recovery requires scores of at least 0, but {self.metric} of {who} is "
            f"{score:.6g}. Pass a margin instead"
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
    """Return the only word among some words, or another word if they differ."""
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
    """Return ``a, b and c``, or ``a, b and 2 more`` if there are more than `most`."""
    parts = list(parts)
    # Instead of "1 more", the last one is named.
    if most is not None and len(parts) > most + 1:
        parts[most:] = [f"{len(parts) - most} more"]
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def first_few(
    lines: Iterable[str], between: str = "; ", most: int = 3, more: str | None = None
) -> str:
    """Return the first of several lines, and how many more there are, in the words of `more`.

    >>> first_few("abcde"), first_few("abcde", ", ", 2, " and others of {} more")
    ('a; b; c; and 2 more', 'a, b and others of 3 more')
    """
    lines = distinct(lines)
    shown, n = between.join(lines[:most]), len(lines) - most
    return shown if n <= 0 else shown + (more or f"{between}and {{}} more").format(f"{n:,}")


def decimals_of(rows: Iterable[Any], digits: int | None = None) -> dict[str, int]:
    """Return the decimals of each metric, so that its smallest standard error has two digits.

    A standard error that only comes from rounding, as for a perfect score, does not count.
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
    """Return whether there are rows of several tasks."""
    return len({row.task for row in rows}) > 1


def metric_name(row: Any) -> str:
    """Return ``BLEU ↑``."""
    return f"{row.metric} {tabular.direction(row.higher_is_better)}"


def ranked(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates best first; equal scores keep their order."""
    return sorted(estimates, key=lambda e: -e.score if e.higher_is_better else e.score)


def mark_of(comparison: Comparison, score: Estimate) -> str:
    """Return the footnote mark of a claim about groups, or ""; it is read from the notes."""
    noted = any(note.startswith(MARK) for note in comparison.notes)
    return f" {MARK}" if noted and score.unit != score.segment else ""


def capital(sentence: str) -> str:
    """Return a sentence with its first letter as a capital."""
    return sentence[:1].upper() + sentence[1:]


def leads(others: str, tied: Sequence[str]) -> str:
    """Return how the system with the best score compares with others, without a full stop."""
    than = f"significantly better than {others or 'any other system'}"
    said = f"It is {than}" if others else f"It is not {than}"
    return said + (f", and cannot be distinguished from {listed(tied, 8, 'or')}" if tied else "")


def all_others(n: int) -> str:
    """Return how many other systems there are, if a sentence is about all of them."""
    return {1: "the other", 2: "both of the others"}.get(n, f"all {n} others")


def plural(unit: str) -> str:
    """Return the plural of a unit's name: segments, documents, categories, strata.

    >>> plural("document"), plural("category"), plural("news"), plural("stratum"), plural("docs2")
    ('documents', 'categories', 'news', 'strata', 'docs2 groups')
    """
    # The name of a file may be the name of groups.
    if unit[-1:].isdigit():
        return f"{unit} groups"
    if unit.endswith("stratum"):
        return f"{unit[:-2]}a"
    if unit.endswith("y") and unit[-2:-1] not in tuple("aeiou"):
        return f"{unit[:-1]}ies"
    return unit if unit.endswith("s") else f"{unit}s"


def counted(n: int, unit: str) -> str:
    """Return ``2,037 segments``."""
    return f"{n:,} {unit if n == 1 else plural(unit)}"


def whole_sizes(estimates: Sequence[Estimate]) -> str:
    """Return ``2,008 segments in 321 documents``, or ``480 to 500 segments`` if sizes differ."""
    numbers, first = [e.n_segments for e in estimates], estimates[0]
    if min(numbers) < max(numbers):
        return f"{min(numbers):,} to {counted(max(numbers), first.unit)}"
    effect, worth = first.design_effect, first.effective_size
    units = counted(first.n_segments, first.unit)
    if first.unit == first.segment or not effect or worth is None:
        return units
    return f"{counted(round(worth * effect), first.segment)} in {units}"


@dataclass(frozen=True, eq=False)
class Adjustment:
    """How the p-values of comparisons are adjusted, and which are adjusted together.

    Rows are differences, or records for making them: each has a task, an aggregate and a metric.
    """

    rows: Sequence[Any]
    name: str  # "max-t", "holm", "benjamini-hochberg", "none"
    level: float
    alternative: str
    n_resamples: int

    @cached_property
    def is_over_metrics(self) -> bool:
        """Whether comparisons under all metrics are one family, since a total combines them."""
        return is_mixed(self.rows)

    @cached_property
    def _sizes(self) -> dict[tuple[bool, bool | str], tuple[int, int]]:
        """Number of rows in each family, and number of tasks, or totals, in these rows."""
        families = defaultdict(list)
        for row in self.rows:
            place = row.aggregate is not None, self.is_over_metrics or row.metric
            families[place].append(row.task)
        return {place: (len(parts), len(set(parts))) for place, parts in families.items()}

    def n_compared(self, row: Any) -> int:
        """Return how many rows, or totals, are adjusted together with a row, which is included."""
        return self._sizes[row.aggregate is not None, self.is_over_metrics or row.metric][0]

    def factor(self, row: Any) -> int:
        """Return the factor by which the adjustment multiplies the smallest p-value."""
        n, n_parts = self._sizes[row.aggregate is not None, self.is_over_metrics or row.metric]
        return {"none": 1, "max-t": n_parts}.get(self.name, n)

    def least(self, row: Any, test: str, n_differing: int, is_drawn: bool = False) -> float:
        """Return the smallest adjusted p-value if units can be swapped in so many ways.

        If swaps are drawn, their number is the number of resamples.
        """
        sides = 2.0 if self.alternative == "two-sided" else 1.0
        alone = 0.0 if test in COUNTED else min(1.0, sides * 0.5**n_differing)
        return max(alone, is_drawn / (self.n_resamples + 1)) * self.factor(row)

    def is_apart(self, d: Difference) -> bool:
        """Return whether the interval does not contain 0, although the verdict is "no evidence"."""
        is_two_sided = self.alternative == "two-sided"
        return is_two_sided and d.verdict == "no evidence" and not d.low <= 0 <= d.high

    @property
    def pvalue_name(self) -> str:
        """Return the name of the p-value that verdicts use: ``p (adjusted)``, or ``p``."""
        return "p" if self.name == "none" else "p (adjusted)"


def is_mixed(records: Iterable[Any]) -> bool:
    """Return whether a total combines several metrics, so that all rows are one family."""
    rows = list(records)
    metrics = {row.metric for row in rows if row.aggregate is None}
    return any(row.metric not in metrics for row in rows)


def oriented(comparison: Comparison, rows: Sequence[Difference]) -> list[Difference]:
    """Return differences as tables, figures and folds show them: the better system first.

    The rows of a pair on several tasks have the direction of the total. If there is one pair, all
    rows have the direction of the first metric. If there is a baseline, a one-sided test or a
    claim, the direction does not change.
    """
    directed = comparison.baseline is not None or comparison.alternative != "two-sided"
    if directed or comparison.margin is not None or comparison.recovery is not None:
        return list(rows)
    together = is_mixed(rows) or len(by_pair(rows)) == 1
    first: dict[tuple[str, ...], Difference] = {}
    for d in sorted(rows, key=lambda d: d.aggregate is None):
        first.setdefault((d.system, d.baseline, "" if together else d.metric), d)
    main = (first[d.system, d.baseline, "" if together else d.metric] for d in rows)
    pairs = zip(rows, main, strict=True)
    return [d.turned() if one.winner == one.baseline else d for d, one in pairs]


def of_metric(rows: Sequence[Any], metric: str | None) -> list[Any]:
    """Return the records of one metric; `None` means the only metric.

    Its name is the printed name, in any case, or the name in the call: "chrf" for chrF2.
    """
    names = distinct(row.metric for row in rows)
    fitting = names if metric is None else [name for name in names if name == metric]
    if not fitting and isinstance(metric, str):
        fitting = [name for name in names if written(name) == written(metric)]
    if metric is None and len(names) > 1:
        raise InputError(f"is missing; pass one of {', '.join(names)}", argument="metric")
    name = fitting[0] if len(fitting) == 1 else choice(metric, tuple(names), "metric")
    return [row for row in rows if row.metric == name]


def of_task(rows: Sequence[Any], task: str | None) -> list[Any]:
    """Return the records of a task, or a total; `None` means the last total, or the only task.

    A total is also found by its kind, such as "macro".
    """
    if task is None:
        whole = {row.metric: row.task for row in rows if row.aggregate}
        totals = [row for row in rows if row.aggregate and row.task == whole[row.metric]]
        names = distinct(row.task for row in rows)
        if not whole and len(names) > 1:
            raise InputError(
                f"there are {len(names)} tasks; pass task as one of {', '.join(names)}"
            )
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
    """Return the only difference of a pair among the differences of a task and a metric.

    A pair that was compared in the other direction is turned, unless the direction matters.
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
            f"is missing; choose one of these {len(fitting)} pairs: {known}",
            argument="baseline",
        )
    turned = [d for d in rows if (d.system, d.baseline) == (baseline, system)]
    if turned and is_turnable:
        return turned[0].turned()
    if turned:
        raise InputError(
            f"only the difference of {baseline!r} from {system!r} was computed, because "
            "one-sided tests, margins and recoveries have a direction. Use that difference, or "
            "compare the systems in the other order."
        )
    raise InputError(f"there is no difference of {system!r} from {baseline!r}; available: {known}")


def named(rows: Sequence[Any], key: object) -> tuple[list[Any], list[str]]:
    """Return the records of the task and the metric that a key begins with, and its other names.

    A key is ``(task, metric, system, ...)``. If there is only one task or metric, it can be left
    out.
    """
    names = list(key) if isinstance(key, tuple) else [key]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"a key must be a position or names (a task, a metric, a system), got {shown(key)}"
        )
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
    """Refuse differences that do not match the scores of the estimates, or their kind."""
    known = c.estimates.by_row
    if len(known) < len(c.estimates):
        raise InputError("estimates contains the same estimate twice")
    pairs = set()
    for i, d in enumerate(c.differences):
        both = [known.get((d.task, d.metric, name)) for name in (d.baseline, d.system)]
        scores = [None if e is None else e.score for e in both]
        is_alike = c.baseline in (None, d.baseline)
        sizes = [e.n_segments for e in both if e is not None] or [0]
        # Unpaired systems do not share units.
        is_apart = d.n_differing == d.n_units == sum(sizes)
        if (
            scores != [d.baseline_score, d.system_score]
            or not is_alike
            or not (is_apart or d.n_differing <= min(sizes))
            or d.baseline == d.system
            or not _is_as_said(d, c)
        ):
            raise InputError(f"differences[{i}] contradicts the other fields")
        pairs.add((d.task, d.metric, frozenset((d.baseline, d.system))))
    if len(pairs) < len(c.differences):
        raise InputError("differences contains the same difference twice")
    if len({(d.task, d.metric) for d in c.differences}) != len(c.signatures):
        raise InputError("signatures must have one entry per task and metric")


def _is_as_said(d: Difference, c: Comparison) -> bool:
    """Return whether verdict and claim of a difference follow from its other fields."""
    given, p, level = dict(vars(d)), d.pvalue_adjusted, c.significance_level
    del given["verdict"], given["pvalue_adjusted"]
    # The smallest p-value that it could have is only known from the statistics.
    verdicts = {Difference.made(given, p, level, least).verdict for least in (0.0, inf)}
    kept, equivalent = d.pvalue_not_worse_adjusted, d.pvalue_equivalence_adjusted
    is_limited = c.margin is not None or c.recovery is not None
    claim = loss_claim(kept, equivalent, level) if is_limited else ""
    return d.verdict in verdicts and d.claim == claim
