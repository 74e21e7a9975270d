"""Records, tables and figures; this room does not know how the numbers came about.

- `convert`: records to plain values and back, by the types of their fields
- `records`: numbers with their names
- `lookup`: records by the names of metrics, tasks and systems
- `contrasts`: differences, ratios and their logarithms
- `signatures`: what identifies a number, as a record that prints as one line
- `tabular`, `layout`: tables in text, Markdown, LaTeX and HTML; what stands in them
- `paper`: the table of papers
- `escaping`: text made safe for where it goes
- `forms`: the ways in which every result is written
- `writing`: files written whole or not at all, and what their suffixes say
- `describe`: the sentences of a paper's section on methods
- `estimates`: what users get of scores, `Estimate` and `Estimates`
- `notes`: what a careful reader should know, in a sentence each
- `adjustment`: what p-values are adjusted for, and which levels they can reach

May import `inference`, `metrics`, `checks` and `errors`.
"""
