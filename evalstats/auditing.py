"""What a p-value that another tool printed tests, and the calibrated one beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from evalstats.analysis.compare import compare
from evalstats.analysis.comparison import Comparison
from evalstats.analysis.tasks import is_statistics, tables_of
from evalstats.checks import also_called, integer
from evalstats.compat.evaluatio.scores import reversal_pvalues
from evalstats.inference.randomisation import monte_carlo_error
from evalstats.metrics import BLEU
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.resampling.weights import Rng, as_seed
from evalstats.results import tabular
from evalstats.results.convert import Count, Seed, Share
from evalstats.results.forms import Finding, Several
from evalstats.results.records import Record, distinct
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.extraction import Metrics, Progress, as_metrics, extract_all

#: sacreBLEU's defaults for `--paired-bs-n` and `--paired-ar-n`.
N_BOOTSTRAP, N_RANDOMIZATION = 1_000, 10_000
#: The level at which verdicts are compared: sacreBLEU marks p-values up to 0.05.
LEVEL = 0.05


class Meaning(NamedTuple):
    """What a test tests: null hypothesis, sides, and what it makes of ties."""

    null: str
    sides: str
    ties: str


_BS = "sacreBLEU --paired-bs"
_AR = "sacreBLEU --paired-ar"
_EVALUATIO = "evaluatio bleu_bootstrap_test"
_TIES = "count as evidence of a difference: identical systems get 1/(n + 1)"
MEANINGS = {
    _BS: Meaning(
        "equal scores on the population of segments, with |difference| centred in place of the "
        "difference",
        "one-sided in effect: about half of the two-sided p-value, never much above 0.43",
        _TIES,
    ),
    _AR: Meaning("the systems are exchangeable, segment by segment", "two-sided", _TIES),
    _EVALUATIO: Meaning(
        "no null hypothesis, but in how many resamples the worse system is at least as good",
        "one-sided, in the direction that the data chose",
        "count against a difference: identical systems get 1",
    ),
}


@dataclass(frozen=True)
class AuditedTest(Record):
    """One test of another tool, of one system against the baseline under one metric.

    `difference` is the system's score minus the baseline's; `pvalue` what the tool prints, the very
    number where `pvalue_error` is 0, within that Monte-Carlo standard error where the tool draws
    anew in every run. `calibrated` is the p-value of `compare`, two-sided, of this comparison
    alone. `null`, `sides` and `ties` say what `pvalue` tests: the null hypothesis, the sides, what
    is made of ties.

    Examples
    --------
    >>> import evalstats as es
    >>> systems = {"A": ["a cat sat", "it is"], "B": ["the cat sat", "it was"]}
    >>> found = es.audit(systems, ["a cat", "it is"])
    >>> [test.test for test in found][0]
    'sacreBLEU --paired-bs'
    """

    metric: str
    baseline: str
    system: str
    difference: float
    test: str
    pvalue: Share
    pvalue_error: Share
    calibrated: Share
    null: str
    sides: str
    ties: str

    derived = ("verdict",)

    def _title(self) -> str:
        return f"{self.test}: {self.system} - {self.baseline}, {self.metric}"

    @property
    def verdict(self) -> str:
        """Which of the two is at most 0.05: "both", "neither", or one of them "only"."""
        printed, calibrated = self.pvalue <= LEVEL, self.calibrated <= LEVEL
        if printed == calibrated:
            return "both" if printed else "neither"
        return "printed only" if printed else "calibrated only"


@dataclass(frozen=True, repr=False)
class Audit(Several[AuditedTest]):
    """p-values of other tools beside the calibrated ones; iterating gives `AuditedTest`.

    `tests` has them metric by metric, system by system; `comparison` the calibrated tests, with
    intervals and adjusted p-values; `n_bootstrap`, `n_randomization` and `sacrebleu_seed` (`None`
    for fresh entropy) belong to sacreBLEU's tests; `notes` are what a careful reader should know.

    Examples
    --------
    >>> import evalstats as es
    >>> systems = {"A": ["a cat sat", "it is"], "B": ["the cat sat", "it was"]}
    >>> found = es.audit(systems, ["a cat", "it is"])
    >>> len(found), found.comparison[0].system
    (3, 'B')
    """

    tests: tuple[AuditedTest, ...]
    comparison: Comparison
    n_bootstrap: Count
    n_randomization: Count
    sacrebleu_seed: Seed | None
    notes: tuple[str, ...] = ()

    def _rows(self) -> Sequence[AuditedTest]:
        return self.tests

    def _finding(self, row: AuditedTest) -> Finding:
        """Say whether what another tool prints and the calibrated p-value agree."""
        said = {
            "both": "Both find a difference.",
            "neither": "Neither finds a difference.",
            "printed only": "Only the printed p-value says that there is a difference.",
            "calibrated only": "Only the calibrated p-value says that there is a difference.",
        }[row.verdict]
        printed, calibrated = tabular.p_is(row.pvalue), tabular.p_is(row.calibrated)
        pair = f"{row.system} and {row.baseline} in {row.metric}"
        return Finding(
            f"{row.test} prints {printed} for {pair}; calibrated {calibrated}", lines=[said]
        )

    def _method(self) -> str:
        return f"The calibrated p-values: {self.comparison.describe()}"

    def _title(self) -> str:
        return f"Audit of {self.comparison._title()}"

    def _tables(self, digits: int | None = None) -> list[Table]:
        lines = distinct(f"{t.test} tests: {t.null}; {t.sides}. Ties {t.ties}." for t in self)
        places = 2 if digits is None else digits
        columns: list[Column] = [
            ("system", "<", lambda t: t.system),
            ("difference", ">", lambda t: tabular.number(t.difference, places, sign=True)),
            ("test", "<", lambda t: t.test),
            ("p printed", ">", lambda t: tabular.pvalue(t.pvalue)),
            ("p calibrated", ">", lambda t: tabular.pvalue(t.calibrated)),
            (f"p <= {LEVEL:g}", "<", lambda t: t.verdict),
        ]
        by_title: dict[str, list[AuditedTest]] = {}
        for test in self:
            by_title.setdefault(f"{test.metric}, against {test.baseline}", []).append(test)
        last = next(reversed(by_title))
        return [
            table_of(title, tests, columns, tuple(lines) if title == last else ())
            for title, tests in by_title.items()
        ]

    def _signatures(self) -> Sequence[str]:
        return self.comparison.signatures


@also_called(metric="metrics", seed="rng")
def audit(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    baseline: str | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    n_randomization: int = N_RANDOMIZATION,
    n_resamples: int = 9999,
    rng: Rng = 12345,
    progress: Progress | None = None,
) -> Audit:
    """Put the p-values that sacreBLEU and evaluatio print beside the calibrated one.

    sacreBLEU's are the very numbers that `sacrebleu --paired-bs` and `--paired-ar` print for these
    texts, from its own draws: `$SACREBLEU_SEED` is read as sacreBLEU reads it, 12345 by default.
    evaluatio cannot be seeded; its number is given within the Monte-Carlo error of its test.

    Parameters
    ----------
    hypotheses, references, rng
        As in `compare`; a `Shard` has no segments to audit.
    metrics : str or Metric, or a list of them
        BLEU, chrF or TER; by default BLEU of texts, and what statistics have. evaluatio tests
        BLEU only, with one tokeniser, smoothing and order.
    baseline : str, optional
        What all others are compared with; by default the first system, as in sacreBLEU.
    n_bootstrap, n_randomization : int
        sacreBLEU's `--paired-bs-n` and `--paired-ar-n`, at least 2.
    n_resamples : int
        Of the calibrated test and of evaluatio's, at least 2.
    progress : callable, optional
        As in `extract`.

    Raises
    ------
    InputError
        For bad input, and for a metric that sacreBLEU does not have.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> for test in audit(sample.systems, sample.references):
    ...     if test.system == "slightly-better":
    ...         print(f"{test.test:30}{test.pvalue:.2f}  calibrated {test.calibrated:.2f}")
    sacreBLEU --paired-bs         0.17  calibrated 0.4...
    sacreBLEU --paired-ar         0.45  calibrated 0.4...
    evaluatio bleu_bootstrap_test 0.2... calibrated 0.4...
    """
    # Loaded here: sacreBLEU takes longer to load than this library.
    from evalstats.compat.sacrebleu import draws

    n_bootstrap = integer(n_bootstrap, "n_bootstrap", 2, MOST_RESAMPLES)
    n_randomization = integer(n_randomization, "n_randomization", 2, MOST_RESAMPLES)
    sacrebleu_seed = draws.environment_seed()
    seed = as_seed(rng)
    if is_statistics(hypotheses):
        tables = tables_of(hypotheses, references, metrics)
        twins = [draws.to_sacrebleu(table.metric) for table in tables]
    else:
        # What costs nothing is checked before what costs seconds.
        asked = as_metrics("bleu" if metrics is None else metrics)
        twins = [draws.to_sacrebleu(metric) for metric in asked]
        tables = extract_all(hypotheses, references, asked, progress)
    systems = tables[0].systems
    baseline = systems[0] if baseline is None else baseline
    comparison = compare(tables, baseline=baseline, n_resamples=n_resamples, rng=seed)
    order = sorted(range(len(systems)), key=lambda i: systems[i] != baseline)
    both = zip(twins, tables, strict=True)
    counted = [[draws.Counted(twin, table.values[i]) for i in order] for twin, table in both]
    # evaluatio always leaves out the orders longer than the output, whatever it is told.
    its = BLEU(effective_order=True)
    reversals: list[list[float]] = []
    for table in tables:
        metric = table.metric
        is_its = isinstance(metric, BLEU) and (
            replace(metric, effective_order=True).signature == its.signature
        )
        values = table.values[order]
        reversals.append(reversal_pvalues(its, values, n_resamples, seed) if is_its else [])
    # sacreBLEU takes 0 for "no seed".
    bootstrap, randomization = (np.random.default_rng(sacrebleu_seed or None) for _ in range(2))
    printed = {
        _BS: (n_bootstrap, draws.paired_bootstrap(counted, n_bootstrap, bootstrap)[0]),
        _AR: (n_randomization, draws.paired_randomization(counted, n_randomization, randomization)),
        _EVALUATIO: (n_resamples, reversals),
    }
    tests = []
    places = product(range(len(tables)), range(len(order) - 1))
    for d, (m, i) in zip(comparison, places, strict=True):
        for name, (n, pvalues) in printed.items():
            if pvalues[m]:
                is_exact = name != _EVALUATIO and bool(sacrebleu_seed)
                pvalue = pvalues[m][i]
                error = 0.0 if is_exact else monte_carlo_error(pvalue, n)
                what = d.metric, d.baseline, d.system, d.difference, name
                tests.append(AuditedTest(*what, pvalue, error, d.pvalue, *MEANINGS[name]))
    notes = []
    if not sacrebleu_seed:
        notes.append(
            f"SACREBLEU_SEED is {sacrebleu_seed}: sacreBLEU draws anew in every run, and its "
            f"p-values are within their Monte-Carlo error."
        )
    errors = [test.pvalue_error for test in tests if test.test == _EVALUATIO]
    if errors:
        notes.append(
            f"evaluatio draws anew in every run: its p-value is within its Monte-Carlo error, "
            f"at most {max(errors):.4f} here."
        )
    if len(order) > 2:
        notes.append(
            f"All p-values are of one comparison alone; compare adjusts them for all "
            f"{len(order) - 1}."
        )
    made = n_bootstrap, n_randomization, sacrebleu_seed
    return Audit(tuple(tests), comparison, *made, (*notes, *comparison.notes))
