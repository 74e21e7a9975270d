"""Rows of weights, and the totals that they give, counted exactly: `weights @ statistics`.

- `streams`: random streams, each keyed by the seed and by what is drawn
- `poisson`, `multinomial_rows`: Poisson counts from random bytes, and rows with a given sum of them
- `weights`, `strata`: which rows there are; rows within strata, and totals of each
- `products`, `grid`: exact products of weights and statistics, and the grid on which they are
- `weighted`: what a call asks for
- `executors`: where the work runs

May import `checks` and `errors`.
"""
