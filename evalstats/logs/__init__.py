"""Logs and score files of others: what a harness wrote, as rows that are joined by item id.

- `rows`: `Rows`, the answers of one system under one metric of a task, and the order of items
- `epochs`: what several answers to an item become: a mean, runs, trials of pass^4
- `pivot`: rows of all systems as a table, by id; several answers, classes, labels
- `log`: `Log`, what a log or a table of scores holds
- `words`: what names say: directions of metrics, and what was probably meant
- `sources`: files, folders and zip files, read safely
- `formats`: a file for each of seventeen formats, which turn what a harness wrote into rows
- `battles`: rows of arenas as battles again
- `reading`: `read_log`, which tells one format from another
- `groups`: scores that a harness averages over tasks, as totals
- `settings`: how tasks were asked, and what of it differs between systems
- `people`: people's scores of some items, beside a judge's of all
- `systems`: the logs that are joined, and names that tell their systems apart
- `notes`: notes on logs that are joined, as sentences
- `missing`: tasks, items and scores that not all systems have, refused or left out
- `joining`: several logs side by side, by task and item, with battles and people's scores
- `comparing`: `compare_logs`, `estimate_logs`
- `sides`: what a gate compares, as tables of two systems

May import every room but `training` and `compat`.
"""
