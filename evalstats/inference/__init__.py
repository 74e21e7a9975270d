"""Arrays in, arrays out: what replicates, influence values and counts say.

- `student`: standard errors with their degrees of freedom, t intervals and t tests
- `bootstrap`: the one rule from replicates to an interval and to a p-value; percentile and BCa
- `counts`: intervals and tests of 0/1 scores
- `families`: adjusted p-values of several comparisons, and how large the largest difference gets
- `randomisation`: p-values of approximate randomisation
- `influence`: how much each segment moves a score, and the scores without each
- `ranks`: rank intervals, letters, clusters and composites from verdicts on all pairs
- `power`: how often a test finds a difference, and what it needs

May import `metrics`, `checks` and `errors`; all of them `student` and `counts`.
"""
