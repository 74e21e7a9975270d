"""A maker of *drawn* is added in one file, and no file of the core: here one of replicates."""

from dataclasses import dataclass

import numpy as np
import pytest

import evalstats as es
from evalstats.analysis.design import Units
from evalstats.analysis.drawn import Drawn, Maker, frozen
from evalstats.analysis.scores import Scored
from evalstats.metrics.base import MetricSignature

# What a contributor writes: the type of what is kept, a function to `Drawn`, one of options.


@dataclass(frozen=True, eq=False)
class Replicated:
    """Scores of systems, and of their resamples, that somebody else has drawn."""

    made_in = __name__
    systems: tuple[str, ...]
    metrics: tuple[es.Metric, ...]
    scores: np.ndarray  # (S,)
    replicates: np.ndarray  # (B, S)
    n_segments: int
    unit: str = "segment"


def from_replicates(several, aggregate, options):
    return [_drawn(one, metric) for one in several for metric in one.metrics]


def _drawn(one, metric):
    scored = Scored(
        name=metric.name,
        metric_name=metric.name,
        systems=one.systems,
        higher_is_better=metric.higher_is_better,
        signature=MetricSignature.of(metric.signature),
        reference_label=None,
        units=Units(one.n_segments, one.unit),
    )
    differing = np.full((len(one.systems),) * 2, one.n_segments)
    return Drawn(scored, one.scores, frozen(one.replicates), differing=differing)


def decide(one, options, asked):
    if options.method == "bca":
        raise es.InputError("needs segments", argument="method")
    return options


# Where `made_in` says.
MAKER = Maker(Replicated, "replicates", from_replicates, decide)


@pytest.fixture
def judged():
    """Return the scores of two systems, and replicates of them as evalstats has them."""
    rng = np.random.default_rng(5)
    scores = {name: rng.normal(size=80) + shift for name, shift in (("a", 0.0), ("b", 0.4))}
    return es.extract(scores, None, es.Mean("judge"))


@pytest.fixture
def replicated(judged):
    scores = es.estimate(judged, n_resamples=999)
    replicates = np.stack([one.replicates for one in scores], axis=1)
    observed = np.array([one.score for one in scores])
    return Replicated(("a", "b"), (es.Mean("judge"),), observed, replicates, 80)


def test_a_new_maker_serves_estimates_comparisons_and_margins(judged, replicated):
    """Percentile intervals need replicates and nothing else: they are those of the rows."""
    options = {"method": "percentile", "n_resamples": 999}
    scores = es.estimate(replicated, **options), es.estimate(judged, **options)
    for one, other in zip(*scores, strict=True):
        assert (one.score, one.low, one.high) == (other.score, other.low, other.high)
    (one,) = es.compare(replicated, margin=0.1, **options)
    (other,) = es.compare(judged, margin=0.1, **options)
    assert (one.difference, one.low, one.high) == (other.difference, other.low, other.high)
    assert one.margin_test is not None
    assert list(es.compare(replicated).ranking())
    assert [e.metric for e in es.estimate([replicated])] == ["judge", "judge"]


def test_what_a_new_maker_does_not_know_is_said(replicated):
    with pytest.raises(es.InputError, match="method needs segments"):
        es.compare(replicated, method="bca")
    for argument in ("groups", "strata"):
        with pytest.raises(es.InputError, match=f"{argument} must be left out when a Replicated"):
            es.compare(replicated, **{argument: [0] * 80})
    with pytest.raises(es.InputError, match=r"metrics must be left out .* its are judge"):
        es.compare(replicated, metrics="bleu")
    with pytest.raises(es.InputError, match=r"influence needs .* a Replicated keeps rep"):
        es.compare(replicated).influence()
    with pytest.raises(es.InputTypeError, match=r"a gate needs .* a Replicated keeps replicates"):
        es.gate(replicated, baseline="a", margin=1)
