"""Arrays in, arrays out: what replicates, influence values and counts say.

- `student`: influence values; standard errors, t intervals and t tests made of them
- `bootstrap`: the one rule from replicates to an interval and to a p-value; percentile and BCa
- `fieller`: ratios of two scores, and which shares of one the other keeps
- `counts`, `randomisation`: tests of 0/1 scores; p-values of approximate randomisation
- `two_by_two`: exact tests of two shares
- `bradley_terry`: strengths from wins, of all replicates at once
- `welch`: whether estimates with unlike errors are of one quantity
- `families`, `ranks`: adjusted p-values of several comparisons, and what they say of ranks
- `looks`: the level of each look at data that grow
- `noncentral`: how often a test finds a difference, and what it needs

May import `metrics`, `checks` and `errors`; all of them `student` and `counts`.
"""
