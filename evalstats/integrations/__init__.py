"""`Monitor` and `Accumulator` where training loops are: one file a framework, loaded where used.

`transformers` and `lightning` have a callback each, `loop` has one for loops of one's own,
`torch` merges accumulators across ranks, `torchmetrics` makes a `torchmetrics.Metric` of one.
`lm_eval` has errors for what lm-evaluation-harness returned, `inspect_ai` an interval as a metric
of Inspect, `evaluate` a folder that Hugging Face `evaluate` loads. `pytest_plugin` has a gate for
tests, and prints its tables.
"""
