"""The only composer: texts or statistics in, estimates and comparisons out.

- `options`: which options there are, and their ranges
- `units`, `aggregates`: what is drawn, within which strata; how scores of strata become one
- `outcomes`: scores that are shares of segments
- `effects`: a number with its influence values and replicates, and arithmetic with such
- `blocks`: statistics of segments that are here, and how they are scored
- `drawn`: scores, influence values and replicates of all systems under a metric
- `summaries`: the same of sums that are made elsewhere
- `tasks`, `totals`: statistics with a design, from what a caller passes; totals over tasks
- `caveats`: what a careful reader should know
- `estimate`, `compare`, `suite`: scores and differences of one task, and of many
- `pairs`: one pair of systems: interval, p-value of any null value, claims of likeness, swaps
- `max_t`: p-values, claims and intervals of all pairs at once, and over tasks
- `comparison`: what users get of a comparison, which can be asked more later

May import every room before it.
"""
