"""From texts or statistics to estimates and comparisons.

- `settings`: the schema of options: names, defaults, words, sentences, flags
- `options`: options as they are checked by it
- `design`: units, strata, and aggregation of the scores of strata
- `counts`: 0/1 scores: shares, and differences of shares
- `quantities`: numbers on units, with influence values and replicates: interval, p-value, recovery
- `scores`: named quantities from statistics; differences of pairs; resampling
- `tasks`: statistics (or summaries) with a design, from a caller's arguments; totals over tasks
- `estimate`, `compare`, `suite`: scores and differences of one task, and of many
- `pairs`: rows of pairs, claims of equivalence, and p-values adjusted over pairs and tasks
- `comparison`: the result of a comparison, which can answer further questions

May import every room before it.
"""
