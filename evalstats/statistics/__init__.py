"""The waist of the hourglass: statistics of S systems on N segments, `(S, N, k)`.

- `segments`: `SegmentStatistics`, its numbers, names of systems and segments, labels of groups
- `extraction`: texts to statistics
- `guards`: checks of the input: rules that refuse mistaken input, and cautions
- `alignment`: whether outputs are aligned with the references of other segments
- `interchange`, `archives`: statistics as files
- `files`: texts from files and pipes, compressed or not, and sacreBLEU's test sets

May import `text`, `metrics`, `resampling` and `results`.
"""
