"""Every public result comes back from its JSON, in Python and by `evalstats show`."""

from dataclasses import is_dataclass

import numpy as np
import pytest

import evalstats as es
from evalstats.results.forms import Result

RNG = np.random.default_rng(4)
ACC = es.Mean("acc")
SCORES = {name: RNG.random(30) + 0.1 * i for i, name in enumerate("abc")}
TRIALS = {name: RNG.integers(0, 2, (20, 3)).tolist() for name in "ab"}


def compared():
    return es.compare(SCORES, metrics=ACC, n_resamples=99)


def looked_at():
    test = es.SequentialTest(of=400, metric=ACC)
    test.look([1, 0, 1, 1] * 50, [1, 0, 0, 1] * 50)
    return test.result


#: A way to make each of them.
RESULTS = {
    "Cases": lambda: es.compare(TRIALS, metrics=es.PassAll(3), baseline="a").cases(),
    "Comparison": compared,
    "Estimate": lambda: es.estimate(SCORES["a"], metric=ACC, n_resamples=99),
    "Estimates": lambda: es.estimate(SCORES, metric=ACC, n_resamples=99),
    "Gate": lambda: es.gate(SCORES["b"], SCORES["a"], metrics=ACC, margin=0.1),
    "Heterogeneity": lambda: compared().by([*"xyz"] * 10).heterogeneity(),
    "Influence": lambda: compared().influence("acc", "c", "a"),
    "JointClaim": lambda: compared().joint("c", "a"),
    "Looks": looked_at,
    "Plan": lambda: es.plan(SCORES, metrics=ACC, n=10),
    "Power": lambda: compared().power(0.1),
    "Ranking": lambda: compared().ranking("acc"),
    "Rankings": lambda: es.compare(SCORES, metrics=[ACC, es.Mean("cost", False)]).ranking(),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_read_back(name, tmp_path, typed):
    result = RESULTS[name]()
    assert type(result) is getattr(es, name)
    assert type(result).from_json(result.to_json()) == result
    path = tmp_path / "result.json"
    path.write_text(result.to_json(), encoding="utf-8")
    assert typed("show", str(path), "-f", "json").rstrip() == result.to_json()


def test_every_public_result_has_a_row():
    """Without `Log`, which is a file's rows and is read from that file."""
    kinds = {name: getattr(es, name) for name in es.__all__}
    assert {"Log", *RESULTS} == {
        name
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, Result) and is_dataclass(kind)
    }
