"""Records, tables and figures; this room does not know how the numbers came about.

- `records`: numbers with their names
- `signatures`: one line that identifies a number
- `report`, `layout`: tables in text, Markdown, LaTeX and HTML; what stands in them
- `plots`: figures
- `power`, `power_plot`: what a pilot says about power, as tables and as a figure
- `results`: what users get, `Estimate`, `Estimates`, `Comparison`

May import `checks` and `errors`.
"""
