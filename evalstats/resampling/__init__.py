"""Rows of weights, and the totals that they give, counted exactly: `weights @ statistics`.

- `streams`: random streams, each keyed by the seed and by what is drawn; Poisson counts from random
  bytes, and rows with a given sum of them
- `weights`: which rows there are
- `weighted`: totals of all segments or stratum by stratum, and the grid on which they are exact
- `executors`: where the work runs

May import `checks` and `errors`.
"""
