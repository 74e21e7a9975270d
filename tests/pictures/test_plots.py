"""Figures: what they show is what the result says; nothing overlaps or is cut at column width."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import evalstats as es
from docs.draw import _ALONE
from evalstats.pictures import figures
from evalstats.pictures.figures import BLUE, GREY, VERMILLION
from evalstats.pictures.marks import minus
from evalstats.questions.ranking import Rankings
from tests.conftest import first

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from tests.helpers import refuses  # noqa: E402

#: Read as mathematics, the third would be an error.
NAMES = [
    "baseline-transformer-big_wmt17-checkpoint-avg", "NLLB-200-distilled finetuned on news v16",
    "$\\nothing$ & <b> {y} x^2", "online-A", "x" * 60,
    "Lan-Bridge-MT-Contrastive-Primary-Submission",
]  # fmt: skip
METRIC = es.Mean("COMET")
#: Inches: both columns of a paper, and what is around.
MOST = 7.1


def outputs(size):
    rng = np.random.default_rng(3)
    names = NAMES[:size] + [f"participant-{i:02d}-long-name" for i in range(6, size)]
    quality = rng.normal(70, 12, size=200)
    return {name: quality + rng.normal(0.6 * i, 6, size=200) for i, name in enumerate(names)}


@cache
def compared(size, metric=METRIC, n_resamples=199, **options):
    return es.compare(outputs(size), metrics=metric, n_resamples=n_resamples, **options)


@cache
def run(n_checks, lower=False, name="COMET", every=100, scale=1.0):
    """Return a run that improves and then stays where it is."""
    rng = np.random.default_rng(n_checks)
    monitor = es.Monitor(None, es.Mean(name, not lower), n_resamples=50)
    base = rng.normal(40, 12, size=200)
    for j in range(1, n_checks + 1):
        gain = 8 * (1 - np.exp(-4 * j / n_checks)) * (-1 if lower else 1)
        monitor.check(j * every, scale * (base + gain + rng.normal(0, 6, size=200)))
    return monitor


def worse():
    """Return a run whose first step is the best: its label is at the left edge."""
    monitor = es.Monitor(None, METRIC, n_resamples=50)
    for step in range(9):
        monitor.check(1000 * step, np.arange(200.0) - 20 * step)
    return monitor


def suite(n_systems, names="abcdefgh"):
    rng, names = np.random.default_rng(1), names[:n_systems]
    tables = {
        task: es.extract({name: rng.normal(i, 9, n) for i, name in enumerate(names)}, metric=METRIC)
        for task, n in (("law", 40), ("zoo", 60))
    }
    return es.Suite(tables).compare(n_resamples=99)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def influence(n):
    return compared(n).influence("COMET", NAMES[1], NAMES[0])


def looks(n):
    rng = np.random.default_rng(3)
    old, new = (rng.random(400) < share for share in (0.65, 0.72))
    test = es.SequentialTest(of=400, looks=4, metric=es.Mean("success"))
    for k in range(1, n + 1):
        test.look(new[: 100 * k], old[: 100 * k])
    return test


#: What is drawn of how many systems, checks or tasks: always, and in the exhaustive tests.
DRAWN = {
    "scores": (lambda n: compared(n).plot_scores(), (5,), (2, 9, 26)),
    "baseline": (lambda n: compared(n, baseline=NAMES[0]).plot(), (5,), (2, 9, 26)),
    "pairs": (lambda n: compared(n).plot(), (), (2, 9)),
    "one": (lambda n: compared(n).estimates[0].plot(), (2,), ()),
    "curve": (lambda n: run(n).plot(), (20,), (1, 3, 50)),
    "long curve": (lambda n: run(n, every=20_000).plot(), (), (500,)),
    "lower": (lambda n: run(n, True, NAMES[4], 77).plot(), (3,), (50,)),
    "influence": (lambda n: influence(n).plot(), (3,), (9,)),
    "ranks": (lambda n: compared(n).ranking().plot(), (5,), (9,)),
    "power": (lambda n: compared(n).power(1).plot(), (), (2,)),
    # Defect: the title of looks began left of the figure.
    "looks": (lambda n: looks(n).result.plot(), (3,), ()),
    "tasks": (lambda n: suite(n, NAMES).plot(), (2,), (3, 4)),
}
CASES = [
    pytest.param(draw, n, marks=[pytest.mark.thorough] * (n in late), id=f"{name}{n}")
    for name, (draw, early, late) in DRAWN.items()
    for n in (*early, *late)
]


@pytest.mark.parametrize("draw, n", CASES)
def test_nothing_overlaps_or_is_cut(draw, n):
    panels = np.ravel(draw(n))
    figure = panels[0].figure
    figure.canvas.draw()
    # A column of a paper, or both.
    assert figure.get_size_inches()[0] <= MOST
    renderer = figure.canvas.get_renderer()
    # Ticks beyond the limits exist, but are not drawn.
    unseen = set()
    for axis in [axis for panel in panels for axis in (panel.xaxis, panel.yaxis)]:
        limits = axis.get_view_interval()
        each = zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True)
        unseen |= {label for label, at in each if not min(limits) <= at <= max(limits)}
    texts = [
        text
        for panel in panels
        for text in panel.findobj(matplotlib.text.Text)
        if text.get_text().strip() and text.get_visible() and text not in unseen
    ]
    bars = [bar for bar in figure.axes if bar not in panels]
    texts += [text for bar in bars for text in bar.get_xticklabels()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert len(boxes) >= 4
    page = figure.bbox
    for text, box in zip(texts, boxes, strict=True):
        inside = page.x0 <= box.x0 < box.x1 <= page.x1 + 1
        inside &= page.y0 - 1 <= box.y0 < box.y1 <= page.y1 + 1
        assert inside, f"cut: {text.get_text()!r}"
    for i, box in enumerate(boxes):
        for j in range(i):
            across = min(box.x1, boxes[j].x1) - max(box.x0, boxes[j].x0)
            down = min(box.y1, boxes[j].y1) - max(box.y0, boxes[j].y0)
            # Boxes of lines include their leading: a pixel or two may be shared.
            assert across <= 1 or down <= 3, (texts[i].get_text(), texts[j].get_text())


def marks(axes, marker="o"):
    return [line for line in axes.lines if line.get_marker() == marker]


def points(axes):
    return [mark.get_xdata()[0] for mark in marks(axes)]


def segments(axes):
    return [s for c in axes.collections if hasattr(c, "get_segments") for s in c.get_segments()]


def intervals(axes):
    """Return the ends of whiskers; the rules of a table are no collections."""
    return [s[:, 0].tolist() for s in segments(axes)]


@pytest.mark.parametrize("lower", [False, True])
def test_a_forest_is_its_table(lower):
    """Rows, numbers and verdicts stand beside the intervals; sure marks are filled and coloured."""
    metric = es.Mean("m", higher_is_better=not lower)
    result = compared(9, metric, 999, baseline="online-A")
    _, axes = pyplot.subplots()
    assert result.plot_scores(ax=axes) is axes
    ranked = sorted(result.estimates, key=lambda e: e.score if lower else -e.score)
    assert points(axes) == [e.score for e in ranked]
    assert intervals(axes) == [[e.low, e.high] for e in ranked]
    assert axes.yaxis_inverted()
    axes = result.plot()
    found = [result["m", e.system] for e in ranked if e.system != "online-A"]
    assert points(axes) == [d.difference for d in found]
    kinds = []
    for mark, d in zip(marks(axes), found, strict=True):
        sure = result.significant(d)
        assert (mark.get_markerfacecolor() == "white") == (not sure)
        kinds.append(GREY if not sure else BLUE if d.winner == d.system else VERMILLION)
        assert mark.get_color() == kinds[-1]
    assert len(set(kinds)) == 3
    # What the table says stands there, in its columns.
    (table,) = result._brief()
    shown = [text.get_text().replace("\n", " ") for text in axes.texts]
    for row in table.rows:
        for cell in row[1:]:
            assert minus(cell) in shown
    sides = ["◂ better", "worse ▸"] if lower else ["◂ worse", "better ▸"]
    assert [text for text in shown if "◂" in text or "▸" in text] == sides
    # Without a baseline it is differences from the best system, which comes first.
    result = compared(4, metric)
    axes, (table,) = result.plot(), result._brief()
    best = table.rows[0][0]
    pairs = [
        d if d.baseline == best else d.turned() for d in result if best in (d.system, d.baseline)
    ]
    pairs.sort(key=lambda d: d.difference if lower else -d.difference)
    assert points(axes) == [d.difference for d in pairs]
    assert [row[0] for row in table.rows[1:]] == [d.system for d in pairs]
    assert intervals(axes) == [[d.low, d.high] for d in pairs]
    assert {mark.get_color() for mark in marks(axes)} <= {VERMILLION, GREY}
    many = compared(11, metric)
    assert len(points(many.plot())) == 10
    assert len(points(many.plot(system=NAMES[3]))) == 3


def test_a_density_is_that_of_the_resampled_differences():
    result = compared(2)
    (table,) = result._tables()
    ((mark,),) = table.forest.marks
    (d,) = result
    scores = {e.system: e.replicates for e in result.estimates}
    replicates = scores[d.system] - scores[d.baseline]
    better = replicates if d.winner == d.system else -replicates
    assert np.array_equal(mark.replicates(), better)
    places, heights = mark.density
    assert heights.max() == 1
    assert places[heights.argmax()] == pytest.approx(np.median(better), abs=np.std(better))
    (hill,) = [c for c in result.plot().collections if not hasattr(c, "get_segments")]
    assert hill.get_alpha() < 0.5
    # Of identical systems, and of t, nothing was drawn.
    same = es.compare({"a": [1.0, 2, 4], "b": [1.0, 2, 4]}, metrics=METRIC)
    for other in (same, compared(2, method="t")):
        assert all(m.density is None for row in other._tables()[0].forest.marks for m in row)


def test_metrics_of_one_pair_have_a_scale_each_on_which_right_is_better():
    rng = np.random.default_rng(2)
    a, noise = rng.normal(size=200), rng.normal(0, 0.5, 200)
    tables = [
        es.extract({"a": scale * a, "b": scale * (a + sign * (0.3 + noise))}, metric=metric)
        for scale, sign, metric in ((1, 1, es.Mean("m")), (900, -1, es.Mean("e", False)))
    ]
    result = es.compare(tables, n_resamples=199)
    axes = result.plot()
    first, second = intervals(axes)
    assert first == pytest.approx(second, abs=0.05)
    assert first[1] == pytest.approx(1)
    assert all(x > 0 for x in points(axes))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0"]
    assert "95% interval, each on its own scale" in {text.get_text() for text in axes.texts}


def test_a_bar_of_influence_says_which_segment_it_is(sample):
    texts = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    found = es.compare(texts, sample.references, n_resamples=99).influence()
    shown = [label.get_text().replace("\n", " ") for label in found.plot().get_yticklabels()]
    for label, name, (_, output) in zip(shown, found.ids[:10], found.texts, strict=True):
        number, _, beginning = label.partition(": ")
        assert number == name
        assert len(beginning) > 20
        assert " ".join(output.split()).startswith(beginning.rstrip("…").rstrip())
    assert influence(2).plot().get_yticklabels()[0].get_text().isdecimal()


def drawn_name(name):
    result = es.compare({name: [1.0, 2, 4], "b": [2.0, 2, 3]}, metrics=METRIC, n_resamples=9)
    (text,) = [x for x in result.plot_scores().texts if len(x.get_text()) == 2]
    text.figure.canvas.draw()
    return text


def test_a_name_is_drawn_in_a_font_that_has_its_signs():
    # matplotlib's STIXGeneral has the sign, and its usual font has not.
    text = drawn_name("のの")
    assert text.get_text() == "のの"
    assert len(text.get_fontfamily()) == 2
    assert len(drawn_name("aa").get_fontfamily()) == 1


def test_where_no_font_has_them_there_are_boxes_and_one_warning(monkeypatch):
    monkeypatch.setattr(figures, "_installed", list)
    figures._family.cache_clear()
    with pytest.warns(UserWarning, match="no installed font has all characters") as said:
        texts = list(map(drawn_name, ("系统", "统系")))
    assert {text.get_text() for text in texts} == {"□□"}
    assert len({str(one.message) for one in said}) == 1
    figures._family.cache_clear()


CURVES = {
    "1": lambda: run(1), "20": lambda: run(20), "70": lambda: run(70),
    "lower": lambda: run(50, True, NAMES[4], 77), "worse": worse,
    "small": lambda: run(3, scale=1e-3),
}  # fmt: skip


@pytest.mark.parametrize("make", first(3, CURVES.values()), ids=CURVES)
def test_a_curve_is_its_checks_and_its_label_lies_on_nothing(make):
    monitor = make()
    axes, checks = monitor.plot(), monitor.checks
    if len(checks) > 1:
        line = axes.lines[0]
        assert list(line.get_xdata()) == [c.step for c in checks]
        assert list(line.get_ydata()) == [c.score for c in checks]
    drawn = {True: {}, False: {}}
    for m in marks(axes):
        places = zip(*m.get_data(), strict=True)
        drawn[m.get_markerfacecolor() != "white"].update(places)
    for improved, found in drawn.items():
        shown = improved or len(checks) <= 60
        assert found == {c.step: c.score for c in checks if shown and c.improved == improved}
    bounds = {(c.step, value) for c in checks for value in (c.low, c.high)}
    *bars, chosen_bar = [s.tolist() for s in segments(axes)]
    if len(checks) <= 25:
        assert {tuple(end) for bar in bars for end in bar} == bounds
    else:
        assert bars == []
        (band,) = [c for c in axes.collections if not hasattr(c, "get_segments")]
        assert {tuple(corner) for corner in band.get_paths()[0].vertices} == bounds
    chosen = monitor.selected
    assert chosen_bar == [[chosen.step, chosen.low], [chosen.step, chosen.high]]
    (diamond,) = marks(axes, "D")
    assert (diamond.get_xdata()[0], diamond.get_ydata()[0]) == (chosen.step, chosen.corrected)
    (label,) = axes.texts
    places = 5 if chosen.standard_error < 0.01 else 2
    score, corrected = (f"{x:.{places}f}" for x in (chosen.score, chosen.corrected))
    assert label.get_text() == f"step {chosen.step:,}: {score}\ncorrected: {corrected}"
    axes.figure.canvas.draw()
    box = matplotlib.text.Text.get_window_extent(label)
    assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1
    assert axes.bbox.y0 <= box.y0 < box.y1 <= axes.bbox.y1
    ends = [(c.step, value) for c in (*checks, chosen) for value in (c.low, c.high)]
    heights = axes.transData.transform(ends)[:, 1]
    higher = monitor.metric.higher_is_better
    assert heights.max() < box.y0 if higher else heights.min() > box.y1


def test_a_curve_names_its_axes_direction_and_level():
    axes = run(3).plot()
    assert axes.get_ylabel() == "COMET ↑, 95% interval"
    assert axes.get_xlabel().split("\n") == ["step", "filled: real improvement; diamond: corrected"]
    assert axes.get_title(loc="left") == "3 checks, 200 segments"
    assert "↓, 95% interval" in run(3, True).plot().get_ylabel()
    grouped = es.Monitor(None, METRIC, groups=[0, 0, 1, 1, 2], n_resamples=9)
    grouped.check(0, [1.0, 2, 3, 4, 5])
    assert grouped.plot().get_title(loc="left") == "1 check, 3 groups"
    assert list(grouped.plot().get_xticks()) == [0]
    # A curve of equal scores has a height.
    same = es.Monitor(None, METRIC, n_resamples=9)
    same.check(0, np.ones(9))
    same.check(1, np.ones(9))
    axes = same.plot()
    assert axes.get_ylim()[0] < 1 < axes.get_ylim()[1]


def dashed(axes):
    return sorted(
        {float(line.get_xdata()[0]) for line in axes.lines if line.get_linestyle() == "--"}
    )


def test_a_margin_and_a_recovery_are_dashed_lines_with_a_band_and_a_name():
    for lower in (False, True):
        metric = es.Mean("m", higher_is_better=not lower)
        axes = compared(5, metric, baseline=NAMES[0], margin=1.5).plot()
        assert dashed(axes) == [-1.5, 1.5]
        assert {"−1.5", "+1.5"} <= {text.get_text() for text in axes.texts}
        assert dashed(compared(5, metric, baseline=NAMES[0]).plot()) == []
        kept = compared(5, metric, baseline=NAMES[0], recovery=0.9)
        (base,) = {d.baseline_score for d in kept}
        limit = base / 0.9 - base if lower else 0.9 * base - base
        axes = kept.plot()
        assert dashed(axes) == [pytest.approx(limit)]
        assert "0.9 kept" in {text.get_text() for text in axes.texts}
        # A gate asks about a loss alone.
        two = {name: outputs(5)[name] for name in NAMES[:2]}
        gate = es.gate(es.extract(two, metric=metric), NAMES[0], margin=1.5, n_resamples=99)
        axes = gate.plot()
        assert dashed(axes) == [1.5 if lower else -1.5]
        assert points(axes) == [gate.checks[0].difference.difference]
        shown = [text.get_text().replace("\n", " ") for text in axes.texts]
        assert ("+1.5 allowed" if lower else "−1.5 allowed") in shown
        assert gate.verdict in shown


@cache
def both():
    return es.compare(outputs(2), metrics=[METRIC, es.Mean("other")], n_resamples=9)


@pytest.mark.parametrize("call, message", [
    (lambda: suite(3).plot(ax=[None]), "ax must be 3 axes, one per panel, got 1"),
    (lambda: both().plot_scores("x"), "metric must be one of COMET, other; got 'x'"),
    (lambda: compared(11).plot(system="x"), "'x' and None"),
    (lambda: es.estimate({f"s{i}": [1.0, i] for i in range(121)}, metric=METRIC).plot(),
     r"121 rows are too many for a figure \(at most 120\);"),
    (lambda: es.Monitor(None, METRIC).plot(), "there are no checks to plot yet; call check first"),
])  # fmt: skip
def test_bad_input(call, message):
    refuses(message, call)


def test_several_metrics_are_panels():
    panels = both().plot_scores()
    assert len(panels) == 2
    (figure,) = {panel.figure for panel in panels}
    assert len(pyplot.get_fignums()) == 1
    for panel, metric in zip(panels, ("COMET", "other"), strict=True):
        alone = both().plot_scores(metric)
        assert alone.figure is not figure
        assert points(panel) == points(alone)
    figure.canvas.draw()
    alone.figure.canvas.draw()
    # Rows are as high as in a figure of one metric.
    assert panel.bbox.height == pytest.approx(alone.bbox.height, rel=0.3)
    _, mine = pyplot.subplots(2)
    assert list(both().plot_scores(ax=mine)) == list(mine)
    ranking = compared(5).ranking()
    twice = [points(panel) for panel in Rankings((ranking,) * 2).plot()]
    assert twice == [points(ranking.plot())] * 2


def test_a_legend_of_power_lies_below_the_curves():
    axes = compared(2).power().plot()
    assert axes.get_legend() is None
    assert NAMES[1][:10] in axes.get_title(loc="left")
    axes = compared(3).power(1).plot()
    axes.figure.canvas.draw()
    legend = axes.get_legend().get_window_extent()
    assert legend.y1 < axes.bbox.y0
    assert "0.8" in [text.get_text() for text in axes.get_yticklabels()]
    assert all("10" not in t.get_text() or "^" not in t.get_text() for t in axes.get_xticklabels())


def titles(panels):
    return [panel.texts[0].get_text().replace("\n", " ") for panel in np.ravel(panels)]


def test_tasks_have_a_panel_for_each_pair_and_of_many_pairs_the_totals_one():
    result = suite(3)
    panels = result.plot()
    assert [title.rpartition(", ")[2] for title in titles(panels)] == ["b − a", "c − a", "c − b"]
    for panel, (system, baseline) in zip(panels, ("ba", "ca", "cb"), strict=True):
        own = [result[task, "COMET", system, baseline] for task in ("law", "zoo")]
        assert points(panel) == [d.difference for d in own]
        assert len(marks(panel, "D")) == 1
    # All pairs have one axis.
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert points(result.plot(baseline="b")) == points(panels[2])
    # Of many systems each task is drawn, and the totals, best first; of scores the totals alone.
    many = suite(6)
    best = sorted((e.score for e in many.estimates.totals), reverse=True)
    assert [mark.get_xdata()[0] for mark in marks(many.plot_scores(), "D")] == best
    panels = many.plot()
    assert [title.split(":")[0] for title in titles(panels)] == ["law", "zoo", "both tasks"]
    # Defect: each task had an axis of its own.
    assert len({panel.get_xlim() for panel in panels}) == 1
    shown = [mark.get_xdata()[0] for mark in marks(panels[-1], "D")]
    assert shown == pytest.approx([score - best[0] for score in best[1:]])
    rows = replace(many, differences=many.rows, estimates=es.Estimates(many.estimates.rows))
    assert len(rows.plot()) == 15
    refuses("there is nothing to draw in these tables", rows.plot_scores)


def test_names_of_systems_are_whole_beside_signs_and_differ_beside_an_axis():
    """Defects: three systems were "meta-llama/" in a legend, and two "meta-llama/Llam… better"."""
    names = [f"organisation/model-3.1-{size}-Instruct" for size in ("8B", "70B", "405B")]
    axes = suite(3, names).plot_scores()
    said = [text.get_text() for text in axes.texts]
    assert set(names) <= set(said)
    sides = [x.get_text() for x in suite(2, names).plot().texts if "better" in x.get_text()]
    assert len({side.strip("◂▸ ") for side in sides if side[0] == "◂" or side[-1] == "▸"}) == 2


def test_a_rule_stands_before_totals_and_nowhere_else():
    """Defect: of totals alone the last row was set off, as if it were their total."""
    for result, n_rules in ((suite(2), 2), (suite(6), 1)):
        axes = np.ravel(result.plot())[0]
        rules = {round(float(line.get_ydata()[0]), 6) for line in axes.lines
                 if len(line.get_xdata()) == 2 and line.get_ydata()[0] == line.get_ydata()[1]
                 and line.get_linestyle() == "-" and line.get_marker() in ("None", None, "")}  # fmt: skip
        assert len(rules) == n_rules


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    for draw in (compared(2).plot, compared(2).plot_scores, run(1).plot):
        with pytest.raises(es.MissingExtraError, match=r"pip install '\.\[plot\]'"):
            draw()
    with pytest.raises(es.MissingExtraError, match=r"pip install '\.\[pandas\]'"):
        compared(2).to_dataframe()


def test_a_process_that_never_had_matplotlib_is_told_of_the_extra():
    """Defect: rows were measured first, by fonts of matplotlib, and the traceback was its own."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import evalstats as es\n"
        "pair = {'A': [0.1, 0.4, 0.2] * 9, 'B': [0.3, 0.1, 0.2] * 9}\n"
        "for result in (es.compare(pair, metrics=es.Mean('m')), es.estimate(pair, metric=es.Mean('m'))):\n"
        "    try:\n"
        "        result.plot()\n"
        "    except es.MissingExtraError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("plots require matplotlib") == 2


def test_a_figure_of_several_metrics_is_found_as_that_of_one():
    """The page on reports saves ``result.plot().figure``, of two metrics too."""
    given = {"A": [1.0, 2, 3, 4], "B": [2.0, 3, 1, 5], "C": [2.0, 2, 1, 5]}
    tables = [es.extract(given, metric=es.Mean(name)) for name in ("x", "y")]
    both, one = es.compare(tables, n_resamples=99), es.compare(tables[:1], n_resamples=99)
    assert [len(result.plot().figure.axes) for result in (both, one)] == [2, 1]


def contrast(*colours):
    """Return the contrast ratio of two colours (WCAG 2.1), from 1 to 21."""
    parts = np.array([matplotlib.colors.to_rgb(colour) for colour in colours])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    low, high = np.sort(linear @ [0.2126, 0.7152, 0.0722])
    return (high + 0.05) / (low + 0.05)


def test_words_have_the_contrast_of_aa_in_both_themes():
    assert contrast("#fff", "#000") == pytest.approx(21)
    assert contrast("#777", "#fff") == pytest.approx(4.48, abs=0.005)
    assert min(contrast(colour, "white") for colour in (BLUE, VERMILLION, GREY)) >= 4.5
    # Figures of pages by themselves, when the theme is dark.
    dark = dict(re.findall(r"--(\w+): (#\w+)", _ALONE))
    assert min(contrast(dark[x], dark["paper"]) for x in ("better", "worse", "soft")) >= 4.5
    # Reports: light, dark, and on paper.
    page = Path(figures.__file__).with_name("page.html").read_text("utf-8")
    themes = re.findall(r":root \{([^}]*--page[^}]*)\}", page)
    assert len(themes) == 3
    for theme in themes:
        of = dict(re.findall(r"--(\w+): (#\w+)", theme))
        for ground in ("page", "panel", "fill"):
            words = ("better", "worse", "soft", "ink") if ground != "fill" else ("ink",)
            assert min(contrast(of[x], of[ground]) for x in words) >= 4.5
