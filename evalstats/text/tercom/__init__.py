"""The edits of TER (Snover and others, 2006), counted as sacreBLEU and Tercom count them.

- `counts`: the greedy rounds, for all pairs at once
- `shifts`: which blocks of words may move where
- `beam`, `widebeam`: the edit distance within a beam
"""
