"""Rows of weights, and the totals that they give.

A resample is a row of weights: multinomial rows are the bootstrap, 0/1 rows approximate
randomisation. `weights @ statistics` are the totals of all resamples, counted exactly.

- `streams`: random streams, each keyed by the seed and by what is drawn
- `poisson`: Poisson counts from random bytes
- `multinomial_rows`: rows with a given sum, from Poisson counts
- `weights`: which rows there are: multinomial, halves, Bayesian
- `strata`: rows within strata, and totals of each
- `products`: exact products of weights and statistics
- `grid`: statistics on the grid where their sums are exact
- `totals`: what a call asks for
- `executors`: where the work runs

May import `checks` and `errors`.
"""
