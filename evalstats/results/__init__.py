"""Records, tables and figures; this room does not know how the numbers came about.

- `records`: numbers with their names
- `signatures`: one line that identifies a number
- `report`, `layout`: tables in text, Markdown, LaTeX and HTML; what stands in them
- `plots`: figures
- `results`: what users get, `Estimate`, `Estimates`, `Comparison`

May import `checks` and `errors`.
"""
