"""Rows of weights, and the totals that they give, counted exactly: `weights @ statistics`.

- `streams`: random streams, each keyed by the seed and by what is drawn; Poisson counts from random
  bytes, and rows with a given sum of them
- `weights`: which rows there are
- `products`: exact products of weights and statistics, and the grid on which they are
- `weighted`: what a call asks for, of all segments or stratum by stratum
- `executors`: where the work runs

May import `checks` and `errors`.
"""
