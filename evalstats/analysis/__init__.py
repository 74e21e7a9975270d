"""The only composer: texts or statistics in, estimates and comparisons out.

- `estimate`, `compare`: the two questions
- `inputs`, `options`: what they are given, checked
- `units`: segments or groups of them, freely drawn or within strata
- `aggregates`, `scored`: how the scores of strata become one, and what each is made of
- `outcomes`: scores that are shares of segments
- `sampling`: a number with its influence values and replicates; scores of resamples
- `sharded`: the same where the segments are elsewhere
- `pairs`: one pair of systems, its interval and the p-value of any null value
- `margins`: claims that two systems are alike, or one not worse
- `claims`: the p-values of such claims, adjusted for all pairs and tasks
- `swaps`: approximate randomisation
- `families`: p-values and intervals of all pairs at once
- `ranking`: ranks from verdicts on all pairs, of a metric or of a composite
- `totals`, `suite`: what a total over tasks is made of; many tasks in one call
- `across`: mean differences over strata, and where that in another lies
- `by_stratum`: a comparison taken apart, a task a stratum
- `parts`: the tasks and totals of a comparison, and what it can be asked later
- `gate`: whether a loss is within a limit, on every task and in total
- `power`, `planning`: which differences a test set finds; the designs behind it
- `removal`: which segments a difference rests on
- `notes`: what a careful reader should know

May import every room before it.
"""
