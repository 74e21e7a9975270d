"""The audit: the printed p-values are the tools' own, the calibrated one is compare's."""

import numpy as np
import pytest
import sacrebleu.metrics as sacre
from sacrebleu.significance import PairedTest

import evalstats as es
from evalstats import auditing
from tests import naive

BS, AR = "sacreBLEU --paired-bs", "sacreBLEU --paired-ar"
EVALUATIO = "evaluatio bleu_bootstrap_test"
METRICS = {"BLEU": sacre.BLEU, "chrF2": sacre.CHRF, "TER": sacre.TER}
FEW = {"n_bootstrap": 40, "n_randomization": 60}


@pytest.fixture(scope="module")
def texts(sample):
    return {name: texts[:30] for name, texts in sample.systems.items()}, sample.references[:30]


@pytest.fixture(scope="module")
def result(texts):
    return es.audit(*texts, ["bleu", "chrf", "ter"], **FEW)


def records(result, **wanted):
    return [r for r in result if all(getattr(r, k) == v for k, v in wanted.items())]


@pytest.mark.parametrize("seed", [12345, 7])
def test_sacrebleus_numbers_to_the_last_digit(texts, result, monkeypatch, seed):
    """Of all its metrics, and with another seed of the last system as the baseline."""
    systems, references = texts
    metrics = METRICS
    if seed == 7:
        monkeypatch.setenv("SACREBLEU_SEED", "7")
        result = es.audit(*texts, baseline="clearly-better", **FEW)
        systems = {name: systems[name] for name in ("clearly-better", *list(systems)[:-1])}
        metrics = {"BLEU": sacre.BLEU}
    assert result.sacrebleu_seed == seed
    for test, argument, n in ((BS, "bs", 40), (AR, "ar", 60)):
        made = {m: kind(references=naive.streams(references)) for m, kind in metrics.items()}
        _, scores = PairedTest(list(systems.items()), made, None, argument, n)()
        for metric in metrics:
            found = records(result, test=test, metric=metric)
            first, *others = scores[metric]
            assert [r.system for r in found] == scores["System"][1:]
            assert [r.pvalue for r in found] == [r.p_value for r in others]
            assert {r.pvalue_error for r in found} == {0}
            differences = [r.score - first.score for r in others]
            assert [r.difference for r in found] == pytest.approx(differences)


def test_as_many_draws_as_sacrebleu_takes_by_default(texts):
    systems, references = texts
    made = {"BLEU": sacre.BLEU(references=naive.streams(references))}
    tests = [PairedTest(list(systems.items()), made, None, kind) for kind in ("bs", "ar")]
    drawn = [test.n_samples for test in tests]
    assert drawn == [auditing.N_BOOTSTRAP, auditing.N_RANDOMIZATION]


def test_the_calibrated_p_value_is_compares(texts, result):
    comparison = es.compare(*texts, ["bleu", "chrf", "ter"], baseline="baseline")
    assert result.comparison.to_dict() == comparison.to_dict()
    for d in comparison:
        of_pair = records(result, metric=d.metric, system=d.system)
        assert {r.calibrated for r in of_pair} == {d.pvalue}
        assert [r.test for r in of_pair] == [BS, AR] + [EVALUATIO] * (d.metric == "BLEU")


def test_evaluatios_number_is_bleu_bootstrap_test(texts, result):
    systems, references = texts
    for record in records(result, test=EVALUATIO):
        pair = systems["baseline"], systems[record.system]
        p = record.pvalue
        assert p == es.bleu_bootstrap_test(references, *pair, 9999)
        assert record.pvalue_error == pytest.approx(np.sqrt(p * (1 - p) / 9999))


def test_evaluatio_has_one_bleu():
    few = dict.fromkeys(("n_bootstrap", "n_randomization", "n_resamples"), 2)
    for options, has in (
        ({"tokenize": "13a", "smooth_value": 0.3}, True),
        ({"lowercase": True}, False),
        ({"smooth_method": "floor"}, False),
        ({"max_ngram_order": 3}, False),
        ({"tokenize": "intl"}, False),
    ):
        systems = {"A": ["a", "b"], "B": ["a", "c"]}
        result = es.audit(systems, ["a", "b"], es.BLEU(**options), **few)
        assert bool(records(result, test=EVALUATIO)) == has
        assert any("evaluatio draws anew" in note for note in result.notes) == has


def test_identical_systems_and_verdicts(result):
    for record in records(result, system="copy"):
        assert record.calibrated == 1.0
        expected = {BS: 1 / 41, AR: 1 / 61, EVALUATIO: 1.0}[record.test]
        assert record.pvalue == expected
        assert record.verdict == ("neither" if record.test == EVALUATIO else "printed only")
    one = result.tests[0].to_dict()
    del one["verdict"]
    for p, verdict in ((0.06, "calibrated only"), (0.05, "both")):
        assert es.AuditedTest(**{**one, "pvalue": p, "calibrated": 0.05}).verdict == verdict


@pytest.mark.parametrize("seed, said", [("0", "0"), ("none", "None")])
def test_seeds_that_sacrebleu_does_not_hold(texts, monkeypatch, seed, said):
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    result = es.audit(*texts, n_bootstrap=50, n_randomization=50, n_resamples=9)
    assert records(result, test=BS, system="slightly-better")[0].pvalue_error > 0
    assert any(f"SACREBLEU_SEED is {said}: " in note for note in result.notes)


def test_statistics_in_place_of_texts(texts, result):
    again = es.audit(es.extract(*texts, "bleu"), **FEW)
    assert again.tests == tuple(records(result, metric="BLEU"))


def test_forms(result):
    text = str(result)
    assert text.count("against baseline") == 3
    assert all(f"{name} tests: " in text for name in (BS, AR, EVALUATIO))
    assert "compare adjusts them for all 3" in text
    assert "| copy | 0.00 | sacreBLEU --paired-bs |" in result.to_markdown()
    assert len(result) == 3 * (3 + 2 + 2)


def test_what_does_not_fit():
    systems = {"A": ["a", "b"], "B": ["a", "c"]}
    for changes, message in (
        ({"metrics": "wer"}, "sacreBLEU has BLEU, chrF and TER, and no WER"),
        ({"baseline": "x"}, "baseline must be one of .*; got 'x'"),
        ({"n_bootstrap": 1}, "n_bootstrap must be at least 2, got 1"),
        ({"n_randomization": 0}, "n_randomization must be at least 2, got 0"),
    ):
        with pytest.raises(es.InputError, match=message):
            es.audit(systems, ["a", "b"], **changes)
