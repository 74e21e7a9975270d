"""The only composer: texts or statistics in, estimates and comparisons out.

- `settings`: the schema of options: names, defaults, words, sentences, flags
- `options`: options as they are checked by it
- `design`: what is drawn, within which strata, and how scores of strata become one
- `counts`: 0/1 scores, which are counted: shares, and differences of shares
- `quantities`: numbers on units, with influence values and replicates: interval, p-value, recovery
- `scores`: quantities made of statistics, with names; differences of pairs; how they are resampled
- `tasks`: statistics, or what comes in their place, with a design, from what a caller passes;
  totals over tasks
- `estimate`, `compare`, `suite`: scores and differences of one task, and of many
- `pairs`: rows of pairs, claims of likeness, and p-values of all pairs at once, and over tasks
- `comparison`: what users get of a comparison, which can be asked more later

May import every room before it.
"""
