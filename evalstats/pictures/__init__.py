"""Figures, HTML, LaTeX and the report page, from tables and findings of results.

- `plots`: figures of results
- `marks`: marks in the rows of a table, and curves, for figures and HTML
- `figures`: functions shared by all figures
- `tables`: tables with the intervals of their rows
- `markup`: tables as HTML with their marks in SVG; `table.css` and `forest.css` are its styles
- `latex`: tables as LaTeX, fitted to a column of a paper
- `methods`: the sentences for a paper's methods section
- `findings`: findings in scores and comparisons, in sentences
- `report`: the page, with figures in SVG

May import the core.
"""
