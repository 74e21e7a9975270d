"""What is asked of a comparison: a file or a folder each, with all that belongs to it.

- `ranking`: the place of each system, with its interval
- `power`: what a test set can find
- `needed`: what a test set would have found, and how many units would decide
- `gates`: is it good enough, with a limit, and the one place that decides
- `looks`: the same of an evaluation that grows, at one error level for all looks
- `influence`: which segments make a difference
- `domains`: differences within strata, whether they are alike, claims about several at once

May import the core.
"""
