"""Records, tables and figures; this room does not know how the numbers came about.

- `signatures`: what identifies a number, as a record that prints as one line
- `tabular`: tables and numbers in text, Markdown, LaTeX and HTML, where all text stays text
- `convert`: records to plain values and back, by the types of their fields
- `records`: numbers with their names; contrasts of two scores, and what p-values are adjusted for
- `lookup`: records by the names of metrics, tasks and systems
- `forms`: the ways in which every result is written
- `layout`: what stands in the tables of scores and comparisons, and in the table of papers
- `marks`: what figures show of results
- `estimates`: what users get of scores, `Estimate` and `Estimates`
- `sentences`: of scores and comparisons, the section on methods and what was found
- `notes`: what a careful reader should know, in a sentence each

May import `inference`, `metrics`, `checks` and `errors`.
"""
