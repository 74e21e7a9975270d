"""Formats, which turn files into rows: one file each, and one row of `NAMES`, which is their map.

A format is a module with `NAME`, `is_ours(source)` and `read(source, wanted)`, as `reading.Format`
says. The files that no row names are parts of a format: `lm_eval_samples` and `lm_eval_metrics` of
`lm_eval`, `inspect_reducers` of `inspect`, `columns` of `tables`, `lacking` of those of agents.
"""

#: In the order in which they are asked whether a file or folder is theirs.
NAMES = (
    "lm_eval",  # lm-evaluation-harness, `results_*.json` and `samples_*.jsonl`
    "inspect",  # Inspect, `.json` and `.eval`
    "helm",  # HELM, `per_instance_stats.json`
    "every_eval_ever",  # Every Eval Ever, instances in JSON lines
    "comet",  # COMET, `--to_json`
    "mt_metrics_eval",  # mt-metrics-eval, `.seg.score`
    "meeteval",  # meeteval, `*_per_reco.json`
    "wmt",  # WMT's automatic scores, JSON lines a system
    "promptfoo",  # promptfoo, `results.json`
    "deepeval",  # DeepEval, `test_run_*.json`
    "openai_evals",  # OpenAI evals, JSON lines of `oaieval`
    "tau_bench",  # tau-bench, trajectories
    "tau2_bench",  # tau2-bench, results
    "swe_bench",  # SWE-bench, the report of a run
    "alpaca_eval",  # AlpacaEval, `annotations.json`
    "arenas",  # LMArena, MT-bench, arena-hard: who was preferred to whom
    "tables",  # tables of scores, long or wide, from CSV, TSV, JSON lines and frames
)
