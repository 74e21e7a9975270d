"""Logs and score files of others: what a harness wrote, as statistics that are joined by id.

- `run`: `Run`, what a log or a table of scores holds
- `items`: one task under one metric, as a format found it, checked and put in order
- `sources`: files and folders, read safely
- `zips`: zip files, read safely
- `epochs`: several answers to one question, averaged or as runs
- `wanted`: which part of a log to read
- `reading`: `read_run`, which tells one format from another
- `joining`: several runs side by side, by id
- `classes`: the same classes for all of them
- `comparing`: `compare_runs` and `estimate_runs`
- `gating`: `gate_runs`, whether a model may take the place of another

Formats, one file each, with what they share:

- `lm_eval`: lm-evaluation-harness, `results_*.json` and `samples_*.jsonl`
- `harness_results`, `harness_tasks`: what its results file says; the samples of a task
- `harness_aggregations`, `harness_rows`, `harness_labels`: which metric of sums each of its
  aggregations is; rows of numbers and texts; rows of labels
- `inspect_ai`: Inspect, `.json` and `.eval`
- `inspect_logs`, `inspect_scores`: its logs as they are stored; the values of its scores
- `helm`: HELM, `per_instance_stats.json`
- `every_eval_ever`: Every Eval Ever, instances in JSON lines
- `comet`: COMET, `--to_json`
- `mt_metrics_eval`: mt-metrics-eval, `.seg.score`
- `meeteval`: meeteval, `*_per_reco.json`
- `tidy`: tables of scores, long or wide, from CSV, TSV, JSON lines and frames
- `tidy_columns`, `tidy_roles`, `tidy_rows`: cells by column; what the columns are, by their names;
  scores in rows, made into tables

May import every room but `training` and `compat`.
"""
