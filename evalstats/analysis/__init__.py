"""The only composer: texts or statistics in, estimates and comparisons out.

- `options`: which options there are, and their ranges
- `units`, `aggregates`: what is drawn, within which strata; how scores of strata become one
- `judging`: the weight of a judge that people correct, and what it is worth in labels
- `outcomes`: scores that are shares of segments
- `effects`: a number with its influence values and replicates, and arithmetic with such
- `blocks`: statistics of segments that are here, and how they are scored
- `apart`: systems side by side of which each has segments of its own
- `drawn`: scores, influence values and replicates of all systems under a metric
- `summaries`, `makers`: the same of sums that are made elsewhere, and which types of them there are
- `sharded`, `from_moments`: what is drawn of a shard, and of moments
- `strengths`: what is drawn of battles
- `tasks`, `totals`: statistics with a design, from what a caller passes; totals over tasks
- `unpaired`: tasks and totals of systems that are not paired
- `caveats`: what a careful reader should know
- `estimate`, `compare`, `suite`: scores and differences of one task, and of many
- `arena`: win rates and strengths of systems of which is known who was preferred
- `pairs`: one pair of systems, its interval and the p-value of any null value
- `margins`, `claims`: what is claimed of two systems that are alike, adjusted for all
- `swaps`: approximate randomisation
- `max_t`: p-values and intervals of all pairs at once
- `evaluation`: what a comparison can be asked later
- `ranking`: ranks from verdicts on all pairs, of a metric or of a composite
- `over_strata`: mean differences over strata, and where that in another lies
- `itemwise`: the test of each item with several trials
- `by_stratum`: a comparison taken apart, a task a stratum
- `gate`: whether a loss is within a limit, on every task and in total
- `growing`, `arrival`: a gate that is looked at while items come in; how they came in
- `power`, `planning`: which differences a test set finds; the designs behind it
- `items_or_trials`: what each adds to a variance, and the cheapest design
- `removal`: which segments a difference rests on

May import every room before it.
"""
