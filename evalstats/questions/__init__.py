"""What is asked of a comparison: a folder a question, with its formulas, records and sentences.

- `ranking`: the place of each system, with its interval
- `power`: what a test set can find
- `gates`: is it good enough, with a limit
- `influence`: which segments make a difference; claims about several metrics at once
- `domains`: differences within strata, over them, and whether they are alike

May import the core.
"""
