"""Is this difference real? Statistics for scores of generated text.

All text is reduced to one array of integers per system, the statistics of every segment; all
resamples are one product of a weight matrix with it; scores, intervals and p-values follow.

>>> import evalstats as es
>>> references = ["the cat sat on the mat", ["it rains again", "it is raining again"]]
>>> print(round(es.estimate(["the cat sat on a mat", "it is raining again"], references).score, 2))
68.87
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

#: The public names by module, in the order of the pipeline: a module is loaded when a name of its
#: is asked for, so that nobody waits for what is not used.
_MODULES = {
    "text.references": "References from_streams",
    "statistics.files": "read_lines",
    "metrics": "Metric BLEU CHRF TER WER CER ROUGE Mean Ratio Perplexity "
    "BitsPerUnit Confusion Correlation RMSE Brier ECE",
    "compat.sentence_bleu": "SentenceBLEU",
    "designs.raters": "Agreement ratings_by_item",
    "designs.trials.metrics": "Trials PassAll PassAny FlipRate ICC pass_at_k",
    "metrics.error_rates": "token_edits",
    "metrics.ratios": "MeanOfRuns",
    "designs.judges": "RoganGladen Judged",
    "statistics.extraction": "extract",
    "designs.runs": "extract_runs",
    "statistics.segments": "SegmentStatistics concatenate",
    "resampling.weighted": "bootstrap_weights bootstrap_totals",
    "designs.shards.resample": "resample_shard",
    "designs.shards.shard": "merge_shards Shard",
    "designs.moments": "Moments moments_query",
    "designs.plans": "Plan plan",
    "analysis.estimate": "estimate",
    "analysis.compare": "compare",
    "analysis.suite": "Suite",
    "designs.arenas.arena": "arena wins",
    "designs.meta": "meta",
    "questions.power.planning": "power",
    "designs.looks.sequential": "SequentialTest",
    "logs.reading": "read_log",
    "logs.log": "Log",
    "logs.joining": "compare_logs estimate_logs",
    "questions.gates": "Gate GateCheck ScoreGate ScoreCheck",
    "designs.looks.looks": "Look Looks",
    "auditing": "audit Audit AuditedTest",
    "testing": "gate assert_not_worse",
    "analysis.comparison": "Comparison",
    "results.estimates": "Estimate Estimates",
    "results.records": "Difference MarginTest Discordant UnitCounts Interval",
    "questions.domains": "OverStrata MeanDifference Heterogeneity TaskTest",
    "questions.influence": "Influence",
    "designs.trials.cases": "Cases Case",
    "questions.joint": "JointClaim",
    "questions.power.planned": "Power PairPower",
    "questions.ranking.rankings": "Ranked Ranking Rankings",
    "compat.evaluatio.scores": "bleu_ci bleu_bootstrap_test ConfidenceInterval",
    "training.accumulator": "Accumulator",
    "training.monitor": "Monitor",
    "training.history": "Checkpoint Selected",
    "errors": "InputError InputTypeError MissingExtraError",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
_ROOMS = (
    *("analysis", "auditing", "checks", "cli", "compat", "data", "designs", "errors", "inference"),
    *("integrations", "logs", "metrics", "pictures", "questions", "resampling", "results"),
    *("statistics", "testing", "text", "training"),
)

__all__ = list(_PLACES)

if TYPE_CHECKING:
    # The same for type checkers and editors, which do not run this file.
    from evalstats.analysis.compare import compare as compare
    from evalstats.analysis.comparison import Comparison as Comparison
    from evalstats.analysis.estimate import estimate as estimate
    from evalstats.analysis.suite import Suite as Suite
    from evalstats.auditing import Audit as Audit
    from evalstats.auditing import AuditedTest as AuditedTest
    from evalstats.auditing import audit as audit
    from evalstats.compat.evaluatio.scores import ConfidenceInterval as ConfidenceInterval
    from evalstats.compat.evaluatio.scores import bleu_bootstrap_test as bleu_bootstrap_test
    from evalstats.compat.evaluatio.scores import bleu_ci as bleu_ci
    from evalstats.compat.sentence_bleu import SentenceBLEU as SentenceBLEU
    from evalstats.designs.arenas.arena import arena as arena
    from evalstats.designs.arenas.arena import wins as wins
    from evalstats.designs.judges import Judged as Judged
    from evalstats.designs.judges import RoganGladen as RoganGladen
    from evalstats.designs.looks.looks import Look as Look
    from evalstats.designs.looks.looks import Looks as Looks
    from evalstats.designs.looks.sequential import SequentialTest as SequentialTest
    from evalstats.designs.meta import meta as meta
    from evalstats.designs.moments import Moments as Moments
    from evalstats.designs.moments import moments_query as moments_query
    from evalstats.designs.plans import Plan as Plan
    from evalstats.designs.plans import plan as plan
    from evalstats.designs.raters import Agreement as Agreement
    from evalstats.designs.raters import ratings_by_item as ratings_by_item
    from evalstats.designs.runs import extract_runs as extract_runs
    from evalstats.designs.shards.resample import resample_shard as resample_shard
    from evalstats.designs.shards.shard import Shard as Shard
    from evalstats.designs.shards.shard import merge_shards as merge_shards
    from evalstats.designs.trials.cases import Case as Case
    from evalstats.designs.trials.cases import Cases as Cases
    from evalstats.designs.trials.metrics import ICC as ICC
    from evalstats.designs.trials.metrics import FlipRate as FlipRate
    from evalstats.designs.trials.metrics import PassAll as PassAll
    from evalstats.designs.trials.metrics import PassAny as PassAny
    from evalstats.designs.trials.metrics import Trials as Trials
    from evalstats.designs.trials.metrics import pass_at_k as pass_at_k
    from evalstats.errors import InputError as InputError
    from evalstats.errors import InputTypeError as InputTypeError
    from evalstats.errors import MissingExtraError as MissingExtraError
    from evalstats.logs.joining import compare_logs as compare_logs
    from evalstats.logs.joining import estimate_logs as estimate_logs
    from evalstats.logs.log import Log as Log
    from evalstats.logs.reading import read_log as read_log
    from evalstats.metrics import BLEU as BLEU
    from evalstats.metrics import CER as CER
    from evalstats.metrics import CHRF as CHRF
    from evalstats.metrics import ECE as ECE
    from evalstats.metrics import RMSE as RMSE
    from evalstats.metrics import ROUGE as ROUGE
    from evalstats.metrics import TER as TER
    from evalstats.metrics import WER as WER
    from evalstats.metrics import BitsPerUnit as BitsPerUnit
    from evalstats.metrics import Brier as Brier
    from evalstats.metrics import Confusion as Confusion
    from evalstats.metrics import Correlation as Correlation
    from evalstats.metrics import Mean as Mean
    from evalstats.metrics import Metric as Metric
    from evalstats.metrics import Perplexity as Perplexity
    from evalstats.metrics import Ratio as Ratio
    from evalstats.metrics.error_rates import token_edits as token_edits
    from evalstats.metrics.ratios import MeanOfRuns as MeanOfRuns
    from evalstats.questions.domains import Heterogeneity as Heterogeneity
    from evalstats.questions.domains import MeanDifference as MeanDifference
    from evalstats.questions.domains import OverStrata as OverStrata
    from evalstats.questions.domains import TaskTest as TaskTest
    from evalstats.questions.gates import Gate as Gate
    from evalstats.questions.gates import GateCheck as GateCheck
    from evalstats.questions.gates import ScoreCheck as ScoreCheck
    from evalstats.questions.gates import ScoreGate as ScoreGate
    from evalstats.questions.influence import Influence as Influence
    from evalstats.questions.joint import JointClaim as JointClaim
    from evalstats.questions.power.planned import PairPower as PairPower
    from evalstats.questions.power.planned import Power as Power
    from evalstats.questions.power.planning import power as power
    from evalstats.questions.ranking.rankings import Ranked as Ranked
    from evalstats.questions.ranking.rankings import Ranking as Ranking
    from evalstats.questions.ranking.rankings import Rankings as Rankings
    from evalstats.resampling.weighted import bootstrap_totals as bootstrap_totals
    from evalstats.resampling.weighted import bootstrap_weights as bootstrap_weights
    from evalstats.results.estimates import Estimate as Estimate
    from evalstats.results.estimates import Estimates as Estimates
    from evalstats.results.records import Difference as Difference
    from evalstats.results.records import Discordant as Discordant
    from evalstats.results.records import Interval as Interval
    from evalstats.results.records import MarginTest as MarginTest
    from evalstats.results.records import UnitCounts as UnitCounts
    from evalstats.statistics.extraction import extract as extract
    from evalstats.statistics.files import read_lines as read_lines
    from evalstats.statistics.segments import SegmentStatistics as SegmentStatistics
    from evalstats.statistics.segments import concatenate as concatenate
    from evalstats.testing import assert_not_worse as assert_not_worse
    from evalstats.testing import gate as gate
    from evalstats.text.references import References as References
    from evalstats.text.references import from_streams as from_streams
    from evalstats.training.accumulator import Accumulator as Accumulator
    from evalstats.training.history import Checkpoint as Checkpoint
    from evalstats.training.history import Selected as Selected
    from evalstats.training.monitor import Monitor as Monitor

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        """Return a public name, the version, or a room of the package."""
        if name == "__version__":
            return _version().version()
        if name in _ROOMS:
            return import_module(f"evalstats.{name}")
        if name not in _PLACES:
            said = f"module 'evalstats' has no attribute {name!r}"
            # Whoever wants a name that we never had may have installed the other project.
            other = not name.startswith("_") and _version().intruder()
            raise AttributeError(f"{said}; {other}" if other else said)
        found = getattr(import_module(f"evalstats.{_PLACES[name]}"), name)
        globals()[name] = found
        return found

    def _version() -> Any:
        return import_module("evalstats.results.version")

    def __dir__() -> list[str]:
        return [*sorted(__all__), "__version__"]
