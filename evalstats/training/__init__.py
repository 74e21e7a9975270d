"""Evaluations of a run that is still going on.

- `accumulator`: collects statistics batch by batch and merges the statistics of several processes
- `monitor`: tests at each check whether a checkpoint is a real improvement; table and figure
- `history`: the records of checks, the level and computation of one more, and all as JSON

May import every room but `compat`.
"""
