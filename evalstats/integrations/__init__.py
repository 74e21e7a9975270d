"""`Monitor` and `Accumulator` for training frameworks: one file per framework, loaded on use.

`transformers` and `lightning` have one callback each, and `loop` has one for your own loops.
`torch` merges accumulators across ranks, `torchmetrics` wraps one as a `torchmetrics.Metric`.
`lm_eval` adds errors to results of lm-evaluation-harness, `inspect_ai` has an interval as a metric
of Inspect, and `evaluate` is a folder that Hugging Face `evaluate` loads. `pytest_plugin` has a
gate for tests, and prints its tables.
"""
