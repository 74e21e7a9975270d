"""Formats, which turn files into rows: an object of `Format` each, and one row of `FORMATS`."""

from __future__ import annotations

from evalstats.logs.formats.agents import DEEPEVAL, PROMPTFOO, SWE_BENCH, TAU2_BENCH, TAU_BENCH
from evalstats.logs.formats.arenas import ALPACA_EVAL, ARENA
from evalstats.logs.formats.harnesses import EVERY_EVAL_EVER, HELM, INSPECT, OPENAI_EVALS
from evalstats.logs.formats.lm_eval import LM_EVAL
from evalstats.logs.formats.tables import TABLE
from evalstats.logs.formats.translation import COMET, MEETEVAL, MT_METRICS_EVAL, NUMBERS, WMT

#: In the order in which they are tried on a file or folder.
FORMATS = (
    LM_EVAL,  # lm-evaluation-harness, `results_*.json` and `samples_*.jsonl`
    INSPECT,  # Inspect, `.json` and `.eval`
    HELM,  # HELM, `per_instance_stats.json`
    EVERY_EVAL_EVER,  # Every Eval Ever, instances in JSON lines
    COMET,  # COMET, `--to_json` or its printed output
    NUMBERS,  # scores of one system, one per line
    MT_METRICS_EVAL,  # mt-metrics-eval, `.seg.score`
    MEETEVAL,  # meeteval, `*_per_reco.json`
    WMT,  # WMT's automatic scores, one file of JSON lines per system
    PROMPTFOO,  # promptfoo, `results.json`
    DEEPEVAL,  # DeepEval, `test_run_*.json`
    OPENAI_EVALS,  # OpenAI evals, JSON lines of `oaieval`
    TAU_BENCH,  # tau-bench, trajectories
    TAU2_BENCH,  # tau2-bench, results
    SWE_BENCH,  # SWE-bench, the report of a run
    ALPACA_EVAL,  # AlpacaEval, `annotations.json`
    ARENA,  # LMArena, MT-bench, arena-hard: pairwise preferences
    TABLE,  # tables of scores, long or wide, from CSV, TSV, JSON lines and frames
)
