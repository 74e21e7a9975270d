"""Logs and score files of others: what a harness wrote, as rows that are joined by item id.

- `words`: what names say: directions of metrics, and what was probably meant
- `sources`: files, folders and zip files, read safely
- `rows`: `Rows`, the answers of one system under one metric of a task, and the order of items
- `pivot`: rows of all systems as a table, by id; several answers to an item, classes, labels
- `log`: `Log`, what a log or a table of scores holds, with groups of tasks
- `settings`: how tasks were asked, and what of it differs between systems
- `formats`: eighteen formats, which turn what a harness wrote into rows
- `reading`: `read_log`, which tells one format from another; several logs by names of their own
- `missing`: tasks, items and scores that not all systems have, refused or left out with a note
- `joining`: `compare_logs`, `estimate_logs`: several logs by task and item; battles, people
- `gating`: what a gate compares, logs or not, as tables of two systems

May import every room but `training` and `compat`.
"""
