"""Records and tables; this room does not know how the numbers came about.

- `version`: which version of this library runs
- `signatures`: what identifies a number, as a record that prints as one line
- `tabular`: tables and numbers as text
- `widths`: how wide text is on a terminal, and what gives way where there is no room
- `files`: the same for other programs, in Markdown and JSON, where all text stays text, and
  files that are written whole
- `convert`: records to plain values and back, by the types of their fields
- `records`: numbers with their names, by which they are found, and what p-values are
  adjusted for
- `forms`: the ways in which every result is written
- `layout`: what stands in the tables of scores and comparisons
- `estimates`: what users get of scores, `Estimate` and `Estimates`
- `notes`: sentences of results, what a careful reader should know

HTML, LaTeX, figures and the section on methods are those of `pictures`, imported when they are
asked for.

May import `inference`, `metrics`, `checks` and `errors`.
"""
