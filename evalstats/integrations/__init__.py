"""`Monitor` and `Accumulator` where training loops are: one file a framework, loaded where used.

`transformers` and `lightning` have a callback each, `loop` has one for loops of one's own, and
`torch` merges accumulators across ranks.
"""
