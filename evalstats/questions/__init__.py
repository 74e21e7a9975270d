"""Questions about a comparison, one file or folder each, with everything that belongs to it.

- `ranking`: the place of each system, with its interval
- `power`: what a test set can find
- `needed`: what a test set would have found, and how many units are needed
- `gates`: whether a system is good enough, with a limit; the only place of decisions
- `looks`: gates of a growing evaluation, at one error level for all looks
- `influence`: which segments drive a difference
- `domains`: differences within strata, whether they are equal, and joint claims

May import the core.
"""
