"""Every public result comes back from its JSON, in Python and by `evalstats show`, in all forms."""

import json
import re
from dataclasses import is_dataclass, replace

import numpy as np
import pytest

import evalstats as es
from evalstats.pictures import markup
from evalstats.pictures.latex import latex_words
from evalstats.results import files
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


#: Others that have something of their own.
UNLIKE = {
    "scores of a suite": lambda: suite().estimate(),
    "claims over tasks": lambda: suite().compare().joint("b", "a", task=["first", "other"]),
    "power of runs": lambda: es.power(
        {name: RNG.normal(size=(3, 40)) for name in "ab"}, metrics=ACC, difference=0.1
    ),
    "odd groups": lambda: es.compare(
        SCORES, metrics=ACC, n_resamples=99, groups=["a\nb"] * 10 + ["\\"] * 20
    ).influence("acc", "c", "a"),
}


def suite():
    tables = {name: es.extract(SCORES, metric=ACC) for name in ("first", "other")}
    return es.Suite(tables)


def check_forms(result):
    """What JSON brings back is the same in every form, and all forms have the same cells."""
    # What a test set finds is asked of the statistics, which files do not keep.
    result = replace(result, source=None) if hasattr(result, "source") else result
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))
    found = type(result).from_json(result.to_json(indent=None))
    assert found == result
    assert repr(found) == repr(result) == str(result)
    forms = ("to_text", "to_markdown", "to_latex", "to_html", "to_csv", "to_json")
    _, markdown, latex, html, *_ = written = [getattr(result, form)() for form in forms]
    again = [getattr(found, form)() for form in forms]
    # Densities are of replicates, which files do not keep.
    of_replicates = r'<svg [^>]*><path class="density"[^>]*/></svg>| class="tall"| tall'
    again[3], written[3] = (re.sub(of_replicates, "", page) for page in (again[3], html))
    assert again == written
    text = result.to_text(verbose=True, findings=False)
    for table in result._brief():
        assert [len(row) for row in table.rows] == [len(table.header)] * len(table.rows)
        for cell in table.rows[-1]:
            assert cell in text
            assert markup.html(cell) in html or markup.html_number(cell) in html
            assert files.markdown(cell) in markdown
    for note in result._below()[0]:
        assert note in result.to_text(findings=False)
    for note in result._below(verbose=True)[0]:
        # What explains a mark stands below the table; all else is a comment.
        assert (latex_words(note) if note.startswith("†") else f"% {note}") in latex


@pytest.mark.parametrize("name", [*RESULTS, *UNLIKE])
def test_a_result_is_read_back_in_every_form(name):
    check_forms({**RESULTS, **UNLIKE}[name]())


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_was_written_is_shown(name, tmp_path, typed):
    result = RESULTS[name]()
    assert type(result) is getattr(es, name)
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


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_with_an_interval_in_a_table_is_drawn(name, tmp_path, typed):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    result = RESULTS[name]()
    (tmp_path / "result.json").write_text(result.to_json(), encoding="utf-8")
    call = "show", str(tmp_path / "result.json"), "-o", str(tmp_path / "figure.svg")
    has_intervals = any(x.startswith("[") for table in result._tables() for x in table.header)
    is_drawn = type(result).plot is not Result.plot or any(t.draw for t in result._tables())
    if is_drawn:
        axes = np.ravel(result.plot())
        assert all(panel.figure is axes[0].figure for panel in axes)
        typed(*call)
        assert "<svg" in (tmp_path / "figure.svg").read_text("utf-8")
    else:
        assert not has_intervals
        with pytest.raises(es.InputError, match="there is nothing to draw in these tables"):
            result.plot()
    pyplot.close("all")
