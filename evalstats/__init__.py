"""Is this difference real? Statistics for scores of generated text.

Each system's texts are reduced to one array of integers, the statistics of every segment. One
product of a weight matrix with this array gives all resamples, and scores, intervals and p-values
are computed from these.

>>> import evalstats as es
>>> references = ["the cat sat on the mat", ["it rains again", "it is raining again"]]
>>> print(round(es.estimate(["the cat sat on a mat", "it is raining again"], references).score, 2))
68.87
"""

from importlib import import_module

#: The public names by module, in the order of the pipeline: functions and classes, and results that
#: can be read from JSON; other records are in their modules. A module is loaded when one of its
#: names is used. Type checkers read `__init__.pyi`, which `python -m tests.test_architecture`
#: writes from this table.
_MODULES = {
    "text.references": "References from_streams",
    "statistics.files": "read_lines",
    "metrics": "Metric BLEU CHRF TER WER CER ROUGE Mean Ratio Perplexity "
    "BitsPerUnit Confusion Correlation RMSE Brier ECE",
    "compat.sentence_bleu": "SentenceBLEU",
    "designs.raters": "Agreement ratings_by_item",
    "designs.trials.metrics": "Trials PassAll PassAny FlipRate pass_at_k",
    "metrics.error_rates": "token_edits",
    "designs.judges": "Judged",
    "statistics.extraction": "extract",
    "statistics.segments": "SegmentStatistics concatenate",
    "resampling.weighted": "bootstrap_weights bootstrap_totals",
    "designs.moments": "Moments moments_query",
    "designs.plans": "Plan plan",
    "analysis.estimate": "estimate",
    "analysis.compare": "compare",
    "analysis.suite": "Suite",
    "designs.arenas.arena": "arena wins",
    "designs.meta": "meta",
    "questions.power.planning": "power",
    "logs.reading": "read_log",
    "logs.log": "Log",
    "logs.joining": "compare_logs estimate_logs",
    "questions.gates": "Gate",
    "questions.looks": "Looks SequentialTest",
    "testing": "gate assert_not_worse",
    "analysis.comparison": "Comparison",
    "results.estimates": "Estimate Estimates",
    "questions.domains": "Heterogeneity JointClaim",
    "questions.influence": "Influence",
    "designs.trials.cases": "Cases",
    "questions.power.planned": "Power",
    "questions.ranking": "Ranking Rankings",
    "compat.evaluatio.scores": "bleu_ci bleu_bootstrap_test",
    "training.accumulator": "Accumulator",
    "training.monitor": "Monitor",
    "errors": "InputError InputTypeError MissingExtraError",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = list(_PLACES)


def __getattr__(name: str) -> object:
    """Return a public name, the version, or a room of the package."""
    if name == "__version__":
        return import_module("evalstats.results.version").version()
    if name in _PLACES:
        value = getattr(import_module(f"evalstats.{_PLACES[name]}"), name)
        globals()[name] = value
        return value
    from importlib.util import find_spec  # slow to import

    if not name.startswith("_") and find_spec(f"evalstats.{name}"):
        return import_module(f"evalstats.{name}")
    message = f"module 'evalstats' has no attribute {name!r}"
    # An unknown name may mean that the other project is installed.
    intruder = import_module("evalstats.results.version").intruder
    other = not name.startswith("_") and intruder()
    raise AttributeError(f"{message}; {other}" if other else message)


def __dir__() -> list[str]:
    return [*sorted(__all__), "__version__"]
