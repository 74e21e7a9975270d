"""The only composer: texts or statistics in, estimates and comparisons out.

- `estimate`, `compare`: the two questions
- `pairs`: one pair of systems, its difference, interval and p-value
- `swaps`: its p-value by exchanging the two systems' outputs
- `families`: p-values and intervals of several pairs at once
- `contrasts`: ratios of scores in place of differences
- `margins`: claims that two systems are alike, or one not worse
- `flips`: influence values with random signs, which all pairs share
- `outcomes`: scores that are shares of segments
- `inputs`, `plan`: what an analysis is given, and its options
- `grid`: statistics rounded to where sums are exact
- `units`: segments or groups, within strata or not, averaged over them or not
- `variances`, `design`: standard errors of each, and what documents and runs add to them
- `resampled`: totals and scores of resamples
- `sampling`: one metric's statistics with their replicates, and their intervals
- `sharded`: the same where the segments are elsewhere
- `notes`: what a careful reader should know
- `power`, `planning`: which differences a test set finds, for all pairs
- `pilots`, `run_pilots`, `draws`: pairs of systems on some segments, or in several runs; draws
  from these
- `suite`, `suite_rows`, `suite_totals`, `suite_notes`: many tasks in one call, their rows, what
  their total is made of, and what is said of them
- `ranking`: ranks from verdicts on all pairs, of a metric or of a composite
- `paired`: paired tests of scores
- `bleu`: evaluatio's two functions of BLEU
- `influence`, `removal`: which segments make a difference, as a figure; what changes without them

May import every room before it.
"""
