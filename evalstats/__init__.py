"""Is this difference real? Statistics for scores of generated text.

All text is reduced to one array of integers per system, the statistics of every segment; all
resamples are one product of a weight matrix with it; scores, intervals and p-values follow.

>>> import evalstats as es
>>> references = ["the cat sat on the mat", ["it rains again", "it is raining again"]]
>>> print(round(es.estimate(["the cat sat on a mat", "it is raining again"], references).score, 2))
68.87
"""

from evalstats.analysis.compare import compare
from evalstats.analysis.estimate import estimate
from evalstats.analysis.power import power
from evalstats.analysis.suite import Suite
from evalstats.auditing import Audit, AuditedTest, audit
from evalstats.compat.evaluatio.corpora import ConfidenceInterval, bleu_bootstrap_test, bleu_ci
from evalstats.compat.evaluatio.effects import cohens_d, cohens_d_paired
from evalstats.compat.evaluatio.paired import (
    PairedTestResult,
    paired_bootstrap_test,
    paired_permutation_test,
)
from evalstats.errors import InputError, InputTypeError, MissingExtraError
from evalstats.logs.compare import compare_logs, estimate_logs
from evalstats.logs.gate import gate
from evalstats.logs.log import Log
from evalstats.logs.reading import read_log
from evalstats.metrics import (
    BLEU,
    CER,
    CHRF,
    ECE,
    RMSE,
    TER,
    WER,
    BitsPerUnit,
    Brier,
    Confusion,
    Correlation,
    Mean,
    Metric,
    Perplexity,
    Ratio,
    SentenceBLEU,
    pass_at_k,
)
from evalstats.metrics.alignment import align, poi_errors
from evalstats.metrics.averages import MeanOfRuns
from evalstats.metrics.error_rates import token_edits
from evalstats.resampling.totals import bootstrap_totals, bootstrap_weights
from evalstats.results.gate import Gate, GateCheck
from evalstats.results.influence import Influence
from evalstats.results.joint import JointClaim
from evalstats.results.power import PairPower, Power
from evalstats.results.ranking import Ranked, Ranking
from evalstats.results.records import Difference, Discordant, MarginTest
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.results.signatures import version as _version
from evalstats.shards.resample import resample_shard
from evalstats.shards.shard import Shard, merge_shards
from evalstats.statistics.extraction import extract
from evalstats.statistics.files import read_lines
from evalstats.statistics.runs import extract_runs
from evalstats.statistics.segments import SegmentStatistics
from evalstats.testing import assert_not_worse
from evalstats.text.references import References, from_streams
from evalstats.training.accumulator import Accumulator
from evalstats.training.monitor import Monitor
from evalstats.training.records import Checkpoint, Selected

__all__ = [  # noqa: RUF022  (pipeline order: text, statistics, weights, results)
    "References",
    "from_streams",
    "read_lines",
    "Metric",
    "BLEU",
    "CHRF",
    "TER",
    "WER",
    "CER",
    "Mean",
    "Ratio",
    "Perplexity",
    "BitsPerUnit",
    "Confusion",
    "Correlation",
    "RMSE",
    "Brier",
    "ECE",
    "pass_at_k",
    "token_edits",
    "align",
    "poi_errors",
    "SentenceBLEU",
    "MeanOfRuns",
    "extract",
    "extract_runs",
    "SegmentStatistics",
    "bootstrap_weights",
    "bootstrap_totals",
    "resample_shard",
    "merge_shards",
    "Shard",
    "estimate",
    "compare",
    "Suite",
    "power",
    "read_log",
    "Log",
    "compare_logs",
    "estimate_logs",
    "gate",
    "Gate",
    "GateCheck",
    "audit",
    "assert_not_worse",
    "Estimate",
    "Estimates",
    "Comparison",
    "Difference",
    "MarginTest",
    "Discordant",
    "Influence",
    "JointClaim",
    "Power",
    "PairPower",
    "Ranked",
    "Ranking",
    "paired_permutation_test",
    "paired_bootstrap_test",
    "PairedTestResult",
    "cohens_d",
    "cohens_d_paired",
    "Audit",
    "AuditedTest",
    "bleu_ci",
    "bleu_bootstrap_test",
    "ConfidenceInterval",
    "Accumulator",
    "Monitor",
    "Checkpoint",
    "Selected",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
]


def __getattr__(name: str) -> str:
    # Reading the version takes longer than the rest of this file.
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'evalstats' has no attribute {name!r}")
