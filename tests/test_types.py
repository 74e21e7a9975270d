"""What an editor and a type checker know: public results have types, and options have names."""

import importlib.util
import inspect

import pytest

import evalstats as es
from evalstats.analysis import options, settings
from evalstats.integrations.lm_eval import with_uncertainty
from evalstats.questions.ranking import Rankings
from tests.helpers import cases, refuses

#: A program of a user, its last line apart: what `mypy --strict` says of it line by line.
PROGRAM = """
import evalstats as es

texts = ["a b", "c d"]
result = es.compare({"A": texts, "B": texts}, texts)
table = es.extract({"A": texts}, texts)
"""
REVEALED = {
    "result.ranking()": "Ranking | Rankings",
    "result.ranking('BLEU')": "Ranking",
    "result.power()": "Power",
    "result.influence()": "Influence",
    # Of several tables an array of them.
    "result.ranking('BLEU').plot()": "Axes | object_]]",
    "es.estimate(texts, texts)": "Estimate",
    "es.estimate([1, 0, 1], None, es.Mean('m'))": "Estimate",
    "es.estimate(texts, texts, ['bleu', 'chrf'])": "Estimates",
    "es.estimate({'A': texts}, texts)": "Estimates",
    "es.estimate([table])": "Estimates",
    "es.estimate(table)": "Estimate | Estimates",
    "es.Accumulator('bleu').estimate(method='t')": "Estimate",
    "es.compare_logs([], baseline='x')": "Comparison",
    "es.estimate_logs([], method='t')": "Estimates",
    "es.gate('a.json', 'b.json', margin=0.1)": "Gate",
    "es.assert_not_worse(texts, table, texts, groups=[1, 2])": "Gate",
}
REFUSED = {
    "es.compare_logs([], baselime='x')": "baselime",
    "es.estimate_logs([], test='t')": "test",
    "es.Suite({'law': table}).compare(n_resample=3)": "n_resample",
    "es.Suite({'law': table}).estimate(baseline='x')": "baseline",
    "es.Suite({'law': table}).compare(margin='1')": "margin",
    "es.Accumulator('bleu').estimate(level=0.9)": "level",
    "es.estimate(texts, texts, methods='t')": "methods",
    "es.assert_not_worse(texts, texts, texts, margn=1)": "margn",
    "result.ranking().tier": "tier",
}


def members():
    """Yield the public functions, and the methods of the public classes, with their names."""
    for name in es.__all__:
        of = getattr(es, name)
        if inspect.isfunction(of):
            yield name, of
        elif inspect.isclass(of) and not issubclass(of, Exception):
            for method, function in inspect.getmembers(of, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("evalstats"):
                    yield f"{name}.{method}", function


def test_no_public_function_returns_any_or_takes_whatever_is_named():
    untyped, n = [], 0
    for name, function in members():
        signature, n = inspect.signature(function), n + 1
        kinds = {p.annotation for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD}
        if {"Any", inspect.Signature.empty} & {*kinds, signature.return_annotation}:
            untyped.append(name)
    assert n > 150
    assert untyped == []


def test_questions_to_a_comparison_are_answered_by_records():
    # Overloads say of which calls it is one ranking. Records of questions are known to editors, and
    # imported when one is asked.
    answers = {"ranking": "Ranking | Rankings", "power": "Power", "influence": "Influence"}
    answers |= {"joint": "JointClaim", "difference": "Difference"}
    answers |= {"cases": "Cases", "by": "Comparison", "heterogeneity": "Heterogeneity"}
    for name, kind in answers.items():
        assert getattr(es.Comparison, name).__annotations__["return"] == kind
    for kind in (es.Estimate, es.Estimates, es.Comparison, es.Power, Rankings):
        assert kind.plot.__annotations__["return"] == "Panels"


@cases(
    (options.ScoreOptions, es.Suite.estimate),
    (options.EstimateOptions, es.estimate),
    (options.PairOptions, es.Suite.compare),
    (options.TestOptions, es.arena),
)
def test_options_are_those_of_the_functions_that_they_are_named_after(kind, function):
    parameters = inspect.signature(function).parameters
    known = {name: p.annotation for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    asked = {key: hint.__forward_arg__ for key, hint in kind.__annotations__.items()}
    assert asked.items() <= known.items()


def test_whoever_compares_has_the_options_of_compare_in_the_signature():
    known = inspect.signature(es.compare).parameters
    for function in (es.Suite.compare, es.arena, es.wins):
        own = inspect.signature(function).parameters
        assert not any(p.kind is p.VAR_KEYWORD for p in own.values())
        for name in {"method", "alternative", "adjustment", "margin", "recovery"}:
            expected = (known[name].annotation, known[name].default)
            assert (own[name].annotation, own[name].default) == expected


@pytest.mark.parametrize("function", [es.compare, es.estimate, es.Suite.compare, es.arena, es.wins])
def test_defaults_are_those_that_are_promised(function):
    own = inspect.signature(function).parameters
    promised = {"method": "bootstrap", "confidence_level": 0.95, "n_resamples": 9999, "rng": 12345}
    if function is not es.estimate:
        promised |= {"alternative": "two-sided", "adjustment": "max-t", "margin": None}
    assert {name: own[name].default for name in promised} == promised


@pytest.mark.parametrize("function", [es.meta, es.SequentialTest, with_uncertainty])
def test_who_has_defaults_of_its_own_has_those_of_the_schema(function):
    own = inspect.signature(function).parameters
    known = own.keys() & settings.SETTINGS.keys()
    assert {"n_resamples", "rng"} <= known
    for name in known:
        assert own[name].default == settings.SETTINGS[name].default, name


@pytest.mark.thorough
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_a_type_checker_knows_what_comes_back_and_refuses_what_is_misspelled(tmp_path):
    from mypy import api

    lines = [f"reveal_type({line})" for line in REVEALED] + list(REFUSED)
    path = tmp_path / "user.py"
    path.write_text(PROGRAM + "\n".join(lines) + "\n", encoding="utf-8")
    said, errors, code = api.run(
        ["--strict", "--no-error-summary", "--hide-error-context", str(path)]
    )
    assert (errors, code) == ("", 1)
    first = PROGRAM.count("\n") + 1
    of_line = {}
    for line in said.splitlines():
        place, _, text = line.partition(": ")
        of_line.setdefault(int(place.rpartition(":")[2]), []).append(text)
    for number, (line, kind) in enumerate(REVEALED.items(), first):
        (revealed,) = of_line.pop(number)
        names = revealed.partition('"')[2].rstrip('"').split(" | ")
        assert " | ".join(name.rpartition(".")[2] for name in names) == kind, line
    for number, (line, name) in enumerate(REFUSED.items(), first + len(REVEALED)):
        assert any("error: " in text and name in text for text in of_line.pop(number)), line
    assert of_line == {}


def test_every_public_name_has_an_example():
    assert [name for name in es.__all__ if ">>>" not in (getattr(es, name).__doc__ or "")] == []


def test_systems_are_hypotheses_wherever_they_are_given():
    texts = {"A": ["a b", "c d", "e f"], "B": ["a b", "c", "e g"]}
    for function in (es.compare, es.estimate, es.extract, es.power):
        assert next(iter(inspect.signature(function).parameters)) == "hypotheses"
        options = {"metric": "chrf"}
        options |= {"n_resamples": 99} if function in (es.compare, es.estimate) else {}
        found = function(systems=texts, references=["a b", "c d", "e f"], **options)
        assert str(found) == str(function(texts, ["a b", "c d", "e f"], **options))


def test_notebooks_know_the_options_that_others_pass_on():
    known = inspect.signature(es.Suite.compare).parameters
    for function, more in ((es.compare_logs, "adjustment"), (es.gate, "margin")):
        own = inspect.signature(function).parameters
        assert {more, "progress", "executor", "n_resamples", "baseline"} <= set(own)
        assert own["executor"].annotation == known["executor"].annotation
    marks = {"A": [3.0, 4, 5], "B": [3.5, 4.5, 5]}
    options = {"metrics": es.Mean("marks"), "margin": 1.0}
    gates = [es.gate(marks, baseline="A", **options), es.gate(marks["B"], marks["A"], **options)]
    assert gates[0].checks[0].pvalue_passed == gates[1].checks[0].pvalue_passed
    with pytest.raises(es.InputError, match="baseline must be the name of a system in hypotheses"):
        es.gate(marks["B"], baseline="a.json", **options)
    refuses("pass the outputs, statistics or log of the", es.gate, marks["B"], **options)
