"""The waist of the hourglass: statistics of S systems on N segments, `(S, N, k)`.

- `segments`: `SegmentStatistics`, its numbers, names of systems and segments, labels of groups
- `extraction`: texts to statistics
- `guards`: what the input is: rules that refuse what is taken for something else, and cautions
- `interchange`, `archives`: statistics as files
- `files`: texts of files and pipes, compressed or not, and the test sets that sacreBLEU knows

May import `text`, `metrics`, `resampling` and `results`.
"""
