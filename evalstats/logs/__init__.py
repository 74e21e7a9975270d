"""Logs and score files of others: what a harness wrote, as rows that are joined by item id.

- `rows`: `Rows`, the answers of one system under one metric of a task, and the order of items
- `pivot`: rows of all systems as a table, by id; several answers, classes, labels
- `log`: `Log`, what a log or a table of scores holds
- `words`: what names say: directions of metrics, and what was probably meant
- `files`: files, folders and zip files, read safely
- `reading`: `read_log`, which tells one format from another
- `joining`: several logs side by side: names of systems, what is missing, notes
- `compare`: `compare_logs`, `estimate_logs`
- `sides`: what a gate compares, as tables of two systems

Formats, which turn files into rows:

- `lm_eval`: lm-evaluation-harness, `results_*.json` and `samples_*.jsonl`
- `lm_eval_samples`: what its results file says; the samples of a task
- `lm_eval_metrics`: which metric of sums each of its aggregations is
- `inspect`: Inspect, `.json` and `.eval`
- `helm`: HELM, `per_instance_stats.json`
- `every_eval_ever`: Every Eval Ever, instances in JSON lines
- `comet`: COMET, `--to_json`
- `mt_metrics_eval`: mt-metrics-eval, `.seg.score`
- `meeteval`: meeteval, `*_per_reco.json`
- `wmt`: WMT's automatic scores, JSON lines a system
- `tables`: tables of scores, long or wide, from CSV, TSV, JSON lines and frames
- `columns`: cells by column, and what the columns are, by their names

May import every room but `training` and `compat`.
"""
