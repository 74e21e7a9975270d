"""Evaluations of a run that is still going on.

- `accumulator`: collects statistics batch by batch and merges those of several processes
- `monitor`: says at each check whether a checkpoint is a real improvement
- `gold`: what outputs are held against, texts or labels
- `history`: the checks of a run, and the computation of one more
- `state`: the same history as JSON
- `check_records`, `curves`: the results of a check, as tables and as a figure
- `boundary`: the significance level of each check
- `selection`: by how much choosing the best checkpoint raises its score

May import every room but `compat`.
"""
