"""Figures and the report page, from what results state themselves.

- `plots`: figures of results
- `figures`: what all figures share
- `report`: the page, with figures in SVG

May import the core.
"""
