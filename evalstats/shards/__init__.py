"""The same where the segments live elsewhere: each machine resamples its own, totals are merged.

- `shard`: `Shard`, `resample_shard`, `merge_shards`
- `hierarchy`: multinomial rows in two stages, first how many draws fall into each shard
- `keyed`, `philox`: Poisson weights keyed by the names of segments

May import `metrics`, `resampling` and `statistics`.
"""
