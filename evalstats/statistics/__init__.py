"""The waist of the hourglass: statistics of S systems on N segments, `(S, N, k)`.

- `segments`: `SegmentStatistics`
- `values`: the numbers in it
- `repeats`: several answers to an item, their number and spread
- `runs`: several runs of a system, side by side
- `human`: people's labels of some segments, beside a judge's of all
- `names`: names of systems and segments, labels of groups
- `extraction`: texts to statistics
- `battles`: who was preferred to whom, and the wins of all pairs
- `interchange`, `archives`: statistics as files
- `opening`: files and pipes as bytes, less compression
- `files`: files of texts, and the test sets that sacreBLEU knows

May import `text`, `metrics`, `resampling` and `results`.
"""
