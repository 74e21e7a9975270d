"""Evaluations of a run that is still going on.

- `accumulator`: collects statistics batch by batch and merges those of several processes
- `monitor`: says at each check whether a checkpoint is a real improvement
- `history`: the checks of a run, the level and computation of one more, and both as JSON
- `check_records`: the results of a check, as tables and as a figure
- `selection`: by how much choosing the best checkpoint raises its score

May import every room but `compat`.
"""
