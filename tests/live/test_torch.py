"""Accumulators across the ranks of `torch.distributed`."""

import pytest

import evalstats as es
from tests.live.ranks import printed_by_both

pytest.importorskip("torch", reason="needs the extra torch")

RANK = """
from evalstats.integrations.torch import merged

part = es.Accumulator("chrf")
for ids in loader:
    part.update([texts[i] for i in ids], [references[i] for i in ids], ids=ids)
together = merged(part)
found = together.estimate(n_resamples=50)
print(json.dumps([len(part), len(together), together.compute(), found.low, found.high]))
"""


def test_ranks_have_the_estimate_of_the_whole_set(sample, tmp_path):
    texts, references = sample.systems["baseline"][:41], sample.references[:41]
    expected = es.estimate(texts, references, "chrf", n_resamples=50)
    for found in printed_by_both(RANK, tmp_path):
        assert found == [21, 41, expected.score, expected.low, expected.high]
    # Without a process group there is one rank.
    from evalstats.integrations.torch import merged

    part = es.Accumulator("chrf")
    part.update(texts, references)
    assert merged(part).compute() == expected.score
    assert merged(part) is not part
