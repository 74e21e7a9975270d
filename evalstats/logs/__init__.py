"""Logs and score files of others: what a harness wrote, as rows that are joined by item id.

- `fields`: what records of JSON hold
- `sources`: files, folders and zip files, read safely
- `rows`: `Rows`, the answers of one system under one metric of a task; what names say of them
- `pivot`: rows of all systems as a table, by id; several answers to an item, classes, labels
- `log`: `Log`, what a log or a table of scores holds, with groups of tasks; `Format`
- `formats`: eighteen formats, which turn what a harness wrote into rows
- `reading`: `read_log`, which tells one format from another; several logs by names of their own
- `missing`: what not all systems have, and how they were asked otherwise: refused, or noted
- `joining`: `compare_logs`, `estimate_logs`: several logs by task and item; battles, people

May import every room but `training` and `compat`.
"""
