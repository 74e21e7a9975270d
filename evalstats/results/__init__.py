"""Records and tables, independent of the origin of the numbers.

- `version`: the version of this library
- `signatures`: the identity of a number, as a record that prints as one line
- `tabular`: tables and numbers as text
- `widths`: the width of text on a terminal, and fitting of tables
- `files`: Markdown and JSON for other programs, with escaped text, and atomic writing
- `convert`: records to plain values and back, by the types of their fields
- `records`: numbers with their names, and adjustments of p-values
- `forms`: the forms of every result
- `layout`: the contents of tables of scores and comparisons
- `estimates`: results of scores, `Estimate` and `Estimates`
- `notes`: notes of results

HTML, LaTeX, figures and the methods section are in `pictures`, imported on use.

May import `inference`, `metrics`, `checks` and `errors`.
"""
