"""Arrays in, arrays out: what replicates and influence values say. No file imports another.

- `intervals`: confidence intervals of scores and differences
- `significance`: p-values
- `studentised`: differences in units of their own standard error
- `skewness`: the t statistic of skewed values
- `clusters`: standard errors of few groups, or of groups of unlike sizes
- `strata`, `runs`: standard errors within strata, and over several runs of a system
- `proportions`: intervals and tests of 0/1 scores
- `multiplicity`: adjustments for several comparisons
- `ranks`: rank intervals, letters, clusters and composites from verdicts on all pairs
- `stepdown`: the adjustment that knows how comparisons depend on one another
- `influence`: how much each segment moves a score
- `effects`: effect sizes
- `power`: how often a test finds a difference, and what it needs

May import `metrics`, `checks` and `errors`.
"""
