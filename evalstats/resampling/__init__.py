"""Rows of weights, and exact totals with them: `weights @ statistics`.

- `streams`: random streams, each keyed by the seed and the kind of draws; Poisson counts from
  random bytes, and rows with a given sum
- `weights`: the kinds of rows
- `weighted`: totals of all segments or stratum by stratum, and the grid on which they are exact
- `executors`: threads, cores and executors

May import `checks` and `errors`.
"""
