"""Evaluations of a run that is still going on.

- `accumulator`: statistics of batches, merged across processes
- `monitor`: which checkpoints are real improvements
- `history`, `state`: what the checks of a run have left, what one more adds; the same as JSON
- `records`, `curves`: what a monitor says, and its figure
- `boundary`: how the significance level is spent on looks that depend on one another
- `selection`: what the choice of the best checkpoint adds to its score

May import every room but `compat`.
"""
