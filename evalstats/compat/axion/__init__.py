"""axion's heuristic text metrics and their runner: `SentenceBLEU`, `LevenshteinRatio`.

Scores are those of axion's code, rounded to four digits. Two keywords give what the names say:
``SentenceBLEU(effective_order=True)`` leaves out orders that are longer than the candidate, which
otherwise scores 0 even where it is perfect; ``LevenshteinRatio(edit_distance=True)`` compares by
edit distance, where axion matches blocks (Ratcliff and Obershelp, 1988, as in `difflib`).

Nothing is sent anywhere, and a whole data set is scored at once. The modules carry axion's names,
and all names can be had from here:

- `dataset`: `DatasetItem`, conversations, `Dataset`
- `metrics`: the two metrics and `MetricEvaluationResult`
- `runners`: `MetricRunner` and its results

Examples
--------
>>> import asyncio
>>> from evalstats.compat.axion import DatasetItem, MetricRunner, SentenceBleu
>>> item = DatasetItem("The cat sat on the mat.", "The cat is sitting on the mat.")
>>> runner = MetricRunner(metrics=[SentenceBleu()], thresholds={"SentenceBleu": 0.4})
>>> (tested,) = asyncio.run(runner.execute_batch([item]))
>>> [(score.name, score.score, score.passed) for score in tested.score_results]
[('Sentence BLEU', 0.4139, True)]
"""

from evalstats.compat.axion.dataset import (
    AIMessage,
    Dataset,
    DatasetItem,
    HumanMessage,
    MultiTurnConversation,
)
from evalstats.compat.axion.metrics import (
    LevenshteinRatio,
    MetricEvaluationResult,
    SentenceBLEU,
    SentenceBleu,
)
from evalstats.compat.axion.runners import MetricRunner, MetricScore, TestResult

__all__ = [
    "AIMessage",
    "Dataset",
    "DatasetItem",
    "HumanMessage",
    "LevenshteinRatio",
    "MetricEvaluationResult",
    "MetricRunner",
    "MetricScore",
    "MultiTurnConversation",
    "SentenceBLEU",
    "SentenceBleu",
    "TestResult",
]
