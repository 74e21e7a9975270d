"""Rows of weights, and the totals that they give.

A resample is a row of weights: multinomial rows are the bootstrap, 0/1 rows approximate
randomisation. `weights @ statistics` are the totals of all resamples, counted exactly.

- `streams`, `scratch`, `random_bytes`: random streams, working memory, random bytes
- `poisson`, `byte_formulas`, `multinomial_rows`, `row_sums`: counts, and rows with a given sum
- `weights`: which rows there are: multinomial, halves, Bayesian
- `products`, `column_relations`: exact products of weights and statistics
- `totals`: what a call asks for
- `executors`: where the work runs

May import `checks` and `errors`.
"""
