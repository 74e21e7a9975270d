"""Figures and the report page, from what results state themselves.

- `plots`: figures of results
- `figures`: what all figures share
- `tables`: tables with the intervals of their rows
- `findings`: what is found in scores and comparisons, in sentences
- `report`: the page, with figures in SVG

May import the core.
"""
