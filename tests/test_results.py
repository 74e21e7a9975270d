"""Results as text, Markdown, LaTeX, JSON: the same numbers, readable, escaped."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import evalstats as es
from evalstats.results import report
from evalstats.results.report import Table


def comparison(names, baseline=None, **options):
    rng = np.random.default_rng(4)
    scores = {name: rng.random(60) + 0.2 * i for i, name in enumerate(names)}
    return es.compare(
        scores, None, es.Mean("COMET"), baseline=baseline, n_resamples=1999, **options
    )


def test_text_of_a_baseline_comparison():
    result = comparison(["base", "close", "far"], baseline="base")
    lines = str(result).split("\n")
    assert lines[0] == "COMET ↑ (higher is better), 60 segments"
    header = "system score [95 % interval] difference [95 % interval] p p (max-t) verdict"
    assert lines[2].split() == header.split()
    assert lines[4].startswith("base ")
    assert lines[4].endswith("baseline")
    assert lines[5].startswith("far ")
    assert lines[5].endswith("0.0005     0.0005  better")
    # Columns are aligned: every interval of a column closes in the same place.
    assert len({line.index("]") for line in lines[4:7]}) == 1
    assert lines[-1] == result.signatures[0]


def test_latex_has_minus_signs_caption_label_and_digits():
    result = comparison(["NLLB-200", "b"], baseline="b")
    (d,) = result
    assert d.difference < 0
    latex = result.to_latex(caption="50 % & more", label="tab:main", digits=1)
    assert f"$-${-d.difference:.1f} & {{[}}$-${-d.low:.1f}, " in latex
    assert "NLLB-200" in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 1
    assert r"\caption{50 \% \& more}\label{tab:main}" in latex
    assert r"\begin{table}" not in result.to_latex()
    for bad in ({"label": "a"}, {"label": "a b", "caption": "x"}, {"label": "}", "caption": "x"}):
        with pytest.raises(es.InputError, match=r"label must be letters, digits and .*a caption"):
            result.to_latex(**bad)


def test_digits_are_those_asked_for():
    result = comparison(["a", "b"])
    estimate = result["a"]
    for digits in (0, 1, 5):
        for text in (result.to_markdown(digits=digits), result.to_html(digits=digits)):
            assert f"{estimate.score:.{digits}f}" in text
        for one in (estimate, es.Estimates((estimate,))):
            assert f"| {estimate.score:.{digits}f} |" in one.to_markdown(digits=digits)
    with pytest.raises(es.InputError, match="digits must be at most 15, got 16"):
        result.to_markdown(digits=16)
    with pytest.raises(es.InputError, match="digits must be an integer"):
        result.to_latex(digits=1.5)


def test_text_of_all_pairs_as_a_list_and_as_a_matrix():
    listed = str(comparison(["a", "b", "c"]))
    assert "differences, system - baseline" in listed
    assert "better than: p (max-t) <= 0.05" in listed
    names = [f"system-{i}" for i in range(7)]
    result = comparison(names)
    lines = str(result).split("\n")
    ranking = next(line for line in lines if line.startswith("1  system-6"))
    beaten = [d for d in result if d.winner == "system-6" and result.significant(d)]
    assert len(beaten) >= 4
    last = ranking.split("]")[1]
    assert last.strip().endswith("-7")
    assert "difference row - column above the diagonal, p (max-t) below" in "\n".join(lines)
    assert "intervals of the differences: plot(), to_dataframe(), JSON" in str(result)


def test_a_loss_is_a_loss_and_no_evidence_is_not_equality():
    result = comparison(["base", "worse"], baseline="worse")
    assert str(result).count("no evidence") + str(result).count("worse\n") >= 1
    flipped = es.compare(
        {"good": np.arange(30.0), "bad": np.arange(30.0) + 5}, None,
        es.Mean("MQM", higher_is_better=False), baseline="good", n_resamples=199,
    )  # fmt: skip
    text = str(flipped)
    assert "MQM ↓ (lower is better)" in text
    assert text.split("\n")[5].endswith("worse")


def test_the_best_system_comes_first_also_where_lower_is_better():
    scores = {"worst": np.arange(30.0) + 9, "best": np.arange(30.0), "middle": np.arange(30.0) + 5}
    for higher, order in ((False, "best middle worst"), (True, "worst middle best")):
        metric = es.Mean("score", higher_is_better=higher)
        lines = str(es.compare(scores, None, metric, n_resamples=99)).split("\n")
        assert " ".join(line.split()[1] for line in lines[4:7]) == order


def test_estimate_prints_a_row():
    result = es.estimate(np.arange(20.0), None, es.Mean("x"), n_resamples=50)
    assert "std. error" in str(result)
    assert "replicates" not in repr(result)
    assert "Only 20 segments" in str(result)


@pytest.mark.parametrize("result", [
    comparison(["a", "b"]),
    comparison(["a", "b", "c"], baseline="b", test="bootstrap", method="bca"),
    es.estimate(np.arange(20.0), None, es.Mean("x"), n_resamples=50),
    es.estimate({"A": np.arange(20.0)}, None, [es.Mean("x"), es.Mean("y")], method="t"),
])  # fmt: skip
def test_json_is_the_dict_and_plain(result):
    loaded = json.loads(result.to_json())
    assert loaded == result.to_dict()
    assert "NaN" not in result.to_json()
    text = result.to_json(indent=None)
    assert "\n" not in text


def test_json_holds_every_public_number():
    result = comparison(["a", "b"])
    (record,) = result.to_dict()["differences"]
    (difference,) = result
    for field in dataclasses.fields(difference):
        assert record[field.name] == getattr(difference, field.name)
    assert record["significant"] == result.significant(difference)
    assert {e["system"] for e in result.to_dict()["estimates"]} == {"a", "b"}
    assert "replicates" not in result.to_dict()["estimates"][0]


def test_results_are_frozen():
    result = comparison(["a", "b"])
    for target in (result, result.differences[0], result.estimates[0]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            target.metric = "x"


def test_latex_and_markdown_escape_names():
    result = comparison(["a_b & 50% #1 {x} $y ~z ^w \\v", "[p|q]*<i>`"], baseline="[p|q]*<i>`")
    latex = result.to_latex()
    assert r"a\_b \& 50\% \#1 \{x\} \$y \textasciitilde{}z \textasciicircum{}w" in latex
    assert r"{[}p\textbar{}q{]}{*}\textless{}i\textgreater{}" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    markdown = result.to_markdown()
    assert r"\[p\|q\]\*\<i\>\`" in markdown
    rows = [line for line in markdown.split("\n") if line.startswith("| ")]
    assert len({line.replace(r"\|", "").count("|") for line in rows}) == 1


def test_wide_characters_are_aligned_by_their_width():
    table = Table("t", ("a", "b"), (("系统", "1"), ("e\u0301x", "2")), "<>")
    lines = table.text().split("\n")
    assert lines[-2] == "系统  1"
    assert lines[-1] == "e\u0301x    2"


@pytest.mark.parametrize(
    "value, decimals, sign, expected",
    [
        (1.005, 1, False, "1.0"),
        (-0.001, 2, True, "0.00"),
        (0.5, 2, True, "+0.50"),
        (-2, 1, True, "-2.0"),
    ],
)
def test_numbers(value, decimals, sign, expected):
    assert report.number(value, decimals, sign) == expected


def test_p_values_are_never_printed_as_zero():
    assert report.pvalue(0.00001) == "<0.0001"
    assert report.pvalue(0.0001) == "0.0001"
    assert report.pvalue(1.0) == "1.0000"


def test_notes_say_when_monte_carlo_error_straddles_the_level():
    from evalstats.analysis.plan import Plan

    from evalstats.analysis import sampling
    from evalstats.analysis.notes import comparison_notes

    statistics = es.SegmentStatistics(np.ones((1, 500, 2)), ["a"], es.Mean("x"))
    result = comparison(["a", "b", "c"])
    first = result.differences[0]
    for pvalue, adjusted, noted in ((0.02, 0.06, True), (0.046, 0.7, False), (0.049, 0.049, True)):
        changed = dataclasses.replace(
            first, pvalue=pvalue, pvalue_adjusted=adjusted, pvalue_error=0.005, exact=False
        )
        one = dataclasses.replace(result, differences=(changed,))
        (sample,) = sampling.bootstrap([statistics], Plan("t", 0.95, 99, 1, "multinomial", None, 1))
        notes = comparison_notes(one, [sample], 3)
        assert any("too close to 0.05 to call" in note for note in notes) == noted


def test_one_sided_comparisons_of_many_systems_are_listed_not_ranked_in_a_matrix():
    names = [f"system-{i}" for i in range(6)]
    assert "above the diagonal" in str(comparison(names))
    assert "above the diagonal" not in str(comparison(names, alternative="greater"))


def test_the_readmes_table_is_what_the_demo_prints(sample):
    result = es.compare(
        sample.systems, sample.references, ["bleu", "chrf", "ter"], baseline="baseline"
    )
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert str(result).split("\n\n")[0] in readme
