"""Logs and score files of other tools, read as rows and joined by item id.

- `fields`: fields of JSON records
- `sources`: files, folders and zip files, read safely
- `rows`: `Rows`, the answers of one system for one metric of a task; meanings of names
- `pivot`: rows of all systems as a table, by id; several answers to an item, classes, labels
- `log`: `Log`, the contents of a log or a table of scores, with groups of tasks; `Format`
- `formats`: eighteen formats, from files of harnesses to rows
- `reading`: `read_log`, which recognises formats; several logs under different names
- `missing`: items that some systems lack, or that were asked differently: refused, or noted
- `joining`: `compare_logs`, `estimate_logs`: several logs by task and item; battles, people

May import every room but `training` and `compat`.
"""
