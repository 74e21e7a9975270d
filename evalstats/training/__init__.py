"""Evaluations of a run that is still going on.

- `accumulator`: statistics of batches, merged across processes
- `likeness`: whether texts belong to their references
- `monitor`: which checkpoints are real improvements
- `history`: what the checks of a run have left, and what one more adds
- `states`: a history as plain values, and back
- `records`, `curves`: what a monitor says, and its figure
- `boundaries`: how the significance level is spent on looks that depend on one another
- `selection`: what the choice of the best checkpoint adds to its score

May import every room but `compat`.
"""
