"""The same where the segments live elsewhere: each place makes its sums, which are merged.

- `shard`: `Shard`, `merge_shards`
- `moments`: `Moments`, sums and products, of which t needs no more
- `moments_query`, `moments_row`: the query of an engine that makes them, and what its answer says
- `resample`: `resample_shard`
- `segment_ids`: ids of segments as 64-bit numbers, sets of them as runs
- `hierarchy`: multinomial rows in two stages, first how many draws fall into each shard
- `keyed`, `philox`: Poisson weights keyed by the names of segments

May import `metrics`, `resampling` and `statistics`.
"""
