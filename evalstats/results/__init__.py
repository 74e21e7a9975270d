"""Records, tables and figures; this room does not know how the numbers came about.

- `convert`: records to plain values and back, by the types of their fields
- `records`: numbers with their names
- `lookup`: records by the names of metrics, tasks and systems
- `contrasts`: differences, ratios and their logarithms
- `limits`: where a margin or a recovery stands on the axis of a figure
- `signatures`: what identifies a number, as a record that prints as one line
- `report`, `verdicts`, `drawing`: the report; its sentences and its figures
- `tabular`, `layout`: tables in text, Markdown, LaTeX and HTML; what stands in them
- `paper`: the table of papers
- `escaping`: text made safe for where it goes
- `forms`: the ways in which every result is written
- `writing`: files written whole or not at all, and what their suffixes say
- `figures`, `plots`: what figures share; forests, a matrix, ranks, curves, bars
- `describe`: the sentences of a paper's section on methods
- `estimates`, `comparison`: what users get, `Estimate`, `Estimates`; `Comparison`
- `source`: what a comparison asks of its statistics
- `notes`: what a careful reader should know, in a sentence each
- `cases`: which items with several trials got worse
- `repeated`: what is chance in several trials of an item
- `adjustment`: what p-values are adjusted for, and which levels they can reach
- `gates`: the verdict of a gate, for people, for programs and for JUnit
- `sequential`: the looks at an evaluation that grows
- `influence`: which segments drive a difference
- `across`: differences over strata that are a sample of others
- `correlations`: how strongly two systems' scores are correlated
- `heterogeneity`: whether a difference differs from task to task
- `joint`: claims under several metrics
- `planned`: what a pilot says about power
- `rankings`: ranks with their intervals and tiers

May import `inference`, `metrics`, `checks` and `errors`.
"""
