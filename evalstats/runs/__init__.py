"""Logs and score files of others: what a harness wrote, as statistics that are joined by id.

- `run`: `Run`, what a log or a table of scores holds
- `items`: one task under one metric, as a format found it, checked and put in order
- `sources`: files and folders, read safely
- `wanted`: which part of a log to read
- `reading`: `read_run`, which tells one format from another
- `joining`: several runs side by side, by id
- `comparing`: `compare_runs` and `estimate_runs`

Formats, one file each:

- `lm_eval`: lm-evaluation-harness, `results_*.json` and `samples_*.jsonl`
- `tidy`: tables of scores, long or wide, from CSV, TSV, JSON lines and frames; their cells
  (`columns`), what their columns are, by name (`roles`), and their scores in rows (`long`)

May import every room but `training` and `compat`.
"""
