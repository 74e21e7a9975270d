"""Records, tables and figures; this room does not know how the numbers came about.

- `records`: numbers with their names
- `contrasts`: differences, ratios and their logarithms
- `signatures`: one line that identifies a number
- `report`, `layout`: tables in text, Markdown, LaTeX and HTML; what stands in them
- `common_schema`: what a score's uncertainty is called where results of all are collected
- `escaping`: text made safe for where it goes
- `plots`: figures
- `forms`: the ways in which every result is written
- `questions`: what can be asked of a comparison once it is made
- `notes`: what a careful reader should know, in a sentence each
- `gate`: the verdict of a gate, for people, for programs and for JUnit
- `influence`, `influence_plot`: which segments drive a difference, as a table and as a figure
- `joint`: claims under several metrics
- `power`, `power_plot`: what a pilot says about power, as tables and as a figure
- `ranking`, `rank_plot`: ranks with their intervals and tiers, as a table and as a figure
- `suites`, `suite_records`, `suite_layout`, `suite_plots`, `suite_reading`: the same of many tasks
- `results`, `reading`: what users get, `Estimate`, `Estimates`, `Comparison`; these from their JSON

May import `checks` and `errors`.
"""
