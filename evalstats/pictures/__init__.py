"""Figures, HTML, LaTeX and the report page, from what results state themselves.

- `plots`: figures of results
- `marks`: what figures and HTML show of results: marks in the rows of a table, and curves
- `figures`: what all figures share
- `tables`: tables with the intervals of their rows
- `markup`: tables as HTML with their marks in SVG; `table.css` and `forest.css` are its styles
- `latex`: tables as LaTeX, which fit a column of a paper
- `methods`: the sentences for a paper's section on methods
- `findings`: what is found in scores and comparisons, in sentences
- `report`: the page, with figures in SVG

May import the core.
"""
