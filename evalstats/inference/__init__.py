"""Inference from replicates, influence values and counts: arrays in, arrays out.

- `distributions`: the normal distribution and t
- `student`: influence values; standard errors, t intervals and t tests from them
- `draws`: replicates drawn on first use; ties, Monte-Carlo errors
- `bootstrap`: the one rule from replicates to an interval and to a p-value; percentiles
- `fieller`: the share of a score that another keeps
- `counts`: tests of 0/1 scores; roots of functions
- `families`: adjusted p-values of several comparisons

May import `metrics`, `checks` and `errors`; all of them `student`, `counts` and `distributions`.
"""
