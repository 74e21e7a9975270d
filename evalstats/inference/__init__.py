"""Arrays in, arrays out: what replicates, influence values and counts say.

- `distributions`: the normal distribution and t
- `student`: influence values; standard errors, t intervals and t tests made of them
- `draws`: replicates that are drawn when somebody looks at them; ties, Monte-Carlo errors
- `bootstrap`: the one rule from replicates to an interval and to a p-value; percentiles
- `fieller`: which shares of a score another keeps
- `counts`: tests of 0/1 scores; where a function is 0
- `families`: adjusted p-values of several comparisons, and what they say of ranks

May import `metrics`, `checks` and `errors`; all of them `student`, `counts` and `distributions`.
"""
