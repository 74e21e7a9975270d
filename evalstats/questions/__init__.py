"""What is asked of a comparison: a file or a folder each, with all that belongs to it.

- `ranking`: the place of each system, with its interval
- `power`: what a test set can find
- `needed`: what a test set would have found, and how many units would decide
- `checks`: what is asked of a system, and the one place that decides
- `gates`: is it good enough, with a limit
- `looks`: the same of an evaluation that grows, at one error level for all looks
- `influence`: which segments make a difference
- `joint`: claims about several metrics at once
- `domains`: differences within strata, and whether they are alike

May import the core.
"""
