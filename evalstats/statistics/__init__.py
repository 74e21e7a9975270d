"""The waist of the hourglass: statistics of S systems on N segments, `(S, N, k)`.

- `segments`: `SegmentStatistics`
- `values`: the numbers in it
- `runs`: several runs of a system, side by side
- `names`: names of systems and segments, labels of groups
- `extraction`: texts to statistics
- `interchange`, `archives`: statistics as files
- `opening`: files and pipes as bytes, less compression
- `files`: files of texts, and the test sets that sacreBLEU knows

May import `text`, `metrics`, `resampling` and `results`.
"""
