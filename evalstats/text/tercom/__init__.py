"""The edits of TER (Snover and others, 2006), counted as sacreBLEU and Tercom count them.

- `counts`: the greedy rounds, for all pairs at once
- `beam`: the edit distance within a beam, its preferred path, distances after a shift
- `shifts`: which blocks of words may move where
"""
