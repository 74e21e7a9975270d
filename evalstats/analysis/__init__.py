"""The only composer: texts or statistics in, estimates and comparisons out.

- `options`: which options there are, and their ranges
- `design`: what is drawn, within which strata, and how scores of strata become one
- `scores`: statistics of segments that are here, how they are scored; 0/1 scores, which are counted
- `drawn`: scores with influence values and replicates; arithmetic with them; sums from elsewhere
- `tasks`: statistics with a design, from what a caller passes; totals over tasks
- `estimate`, `compare`, `suite`: scores and differences of one task, and of many
- `pairs`: one pair of systems: its interval, the p-value of any null value, claims of likeness
- `max_t`: p-values, claims and intervals of all pairs at once, and over tasks
- `comparison`: what users get of a comparison, which can be asked more later

May import every room before it.
"""
