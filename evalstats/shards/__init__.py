"""The same where the segments live elsewhere: each machine resamples its own, totals are merged.

- `shard`: `Shard`, `merge_shards`
- `resample`: `resample_shard`
- `segment_ids`: ids of segments as 64-bit numbers, sets of them as runs
- `hierarchy`: multinomial rows in two stages, first how many draws fall into each shard
- `keyed`, `philox`: Poisson weights keyed by the names of segments

May import `metrics`, `resampling` and `statistics`.
"""
