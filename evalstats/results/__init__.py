"""Records, tables and figures; this room does not know how the numbers came about.

- `signatures`: what identifies a number, as a record that prints as one line
- `tabular`: tables and numbers in text, Markdown, LaTeX and HTML, where all text stays text
- `convert`: records to plain values and back, by the types of their fields
- `records`: numbers with their names, by which they are found; contrasts, and what p-values are
  adjusted for
- `forms`: the ways in which every result is written
- `layout`: what stands in the tables of scores and comparisons, and in the table of papers
- `marks`: what figures show of results
- `estimates`: what users get of scores, `Estimate` and `Estimates`
- `notes`: sentences of results, what a careful reader should know and how it was done

May import `inference`, `metrics`, `checks` and `errors`.
"""
