"""Figures: what they show is what the result says; nothing overlaps or is cut at column width."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from evalstats.results.figures import BLUE, GREY, VERMILLION, WIDTH
from evalstats.results.ranking import Rankings

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

#: Read as mathematics, the third would be an error.
NAMES = [
    "baseline-transformer-big_wmt17-checkpoint-avg", "NLLB-200-distilled finetuned on news v16",
    "$\\nothing$ & <b> {y} x^2", "online-A", "x" * 60, "Lan-Bridge-MT-Contrastive-Primary-Submission",
]  # fmt: skip
METRIC = es.Mean("COMET")


def outputs(size):
    rng = np.random.default_rng(3)
    names = NAMES[:size] + [f"participant-{i:02d}-long-name" for i in range(6, size)]
    quality = rng.normal(70, 12, size=200)
    return {name: quality + rng.normal(0.6 * i, 6, size=200) for i, name in enumerate(names)}


RESULTS = {
    size: (
        es.compare(outputs(size), metrics=METRIC, n_resamples=999, adjustment="none"),
        es.compare(outputs(size), metrics=METRIC, n_resamples=999, baseline=NAMES[0]),
    )
    for size in (2, 9, 26)
}
PAIRS, BASE = RESULTS[9]
RANKED = es.compare(outputs(9), metrics=METRIC, n_resamples=999)


def watched(n_checks, lower=False, name="COMET", every=100, scale=1.0):
    """A run that improves and then stays where it is."""
    rng = np.random.default_rng(n_checks)
    monitor = es.Monitor(None, es.Mean(name, not lower), n_resamples=50)
    base = rng.normal(40, 12, size=200)
    for j in range(1, n_checks + 1):
        gain = 8 * (1 - np.exp(-4 * j / n_checks)) * (-1 if lower else 1)
        monitor.check(j * every, scale * (base + gain + rng.normal(0, 6, size=200)))
    return monitor


RUNS = {n: watched(n) for n in (1, 3, 20, 50)}
RUNS[500] = watched(500, every=20_000)
#: The first step is the best: its label is at the left edge.
WORSE = es.Monitor(None, METRIC, n_resamples=50)
for step in range(9):
    WORSE.check(1000 * step, np.arange(200.0) - 20 * step)
LOWER = {n: watched(n, lower=True, name=NAMES[4], every=77) for n in (3, 50)}


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def drawn(draw):
    return [
        pytest.param(lambda size=size, make=make: make(size), id=f"{name}{size}")
        for name, (sizes, make) in draw.items()
        for size in sizes
    ]


@pytest.mark.parametrize("make", drawn({
    "scores": ((2, 9, 26), lambda n: RESULTS[n][0].plot_scores()),
    "baseline": ((2, 9, 26), lambda n: RESULTS[n][1].plot()),
    "pairs": ((2, 9), lambda n: RESULTS[n][0].plot()),
    "pvalues": ((2, 9, 26), lambda n: RESULTS[n][0].plot_pvalues()),
    "replicates": ((2, 9, 26), lambda n: RESULTS[n][0].plot_replicates()),
    "one": ((2,), lambda n: RESULTS[n][0].estimates[0].plot()),
    "curve": (tuple(RUNS), lambda n: RUNS[n].plot()),
    "lower": (tuple(LOWER), lambda n: LOWER[n].plot()),
    "influence": ((9,), lambda n: RESULTS[n][0].influence("COMET", NAMES[1], NAMES[0]).plot()),
    "ranks": ((9,), lambda n: RANKED.ranking().plot()),
    "power": ((2,), lambda n: RESULTS[n][0].power(1).plot()),
    "tasks": ((3, 4), lambda n: suite(n, NAMES).plot()),
}))  # fmt: skip
def test_nothing_overlaps_or_is_cut(make):
    panels = np.ravel(make())
    figure = panels[0].figure
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == WIDTH
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
        inside = page.x0 - 1 <= box.x0 < box.x1 <= page.x1 + 1
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


@pytest.mark.parametrize("lower", [False, True])
def test_a_forest_is_its_records_in_order(lower):
    """Significance is said by shape, direction by colour."""
    metric = es.Mean("m", higher_is_better=not lower)
    result = es.compare(outputs(9), metrics=metric, baseline="online-A", n_resamples=999)
    axes = result.plot_scores()
    ranked = sorted(result.estimates, key=lambda e: e.score if lower else -e.score)
    assert points(axes) == [e.score for e in ranked]
    assert [list(s[:, 0]) for s in segments(axes)] == [[e.low, e.high] for e in ranked]
    assert axes.get_yticklabels()[0].get_text().replace("\n", "") == ranked[0].system
    assert np.all(np.diff(axes.get_yticks()) > 0)
    assert axes.yaxis_inverted()
    axes = result.plot()
    found = sorted(result, key=lambda d: d.difference if lower else -d.difference)
    assert points(axes) == [d.difference for d in found]
    kinds = []
    for mark, d in zip(marks(axes), found, strict=True):
        sure = result.significant(d)
        assert (mark.get_markerfacecolor() == "white") == (not sure)
        kinds.append(GREY if not sure else BLUE if d.winner == d.system else VERMILLION)
        assert mark.get_color() == kinds[-1]
    assert len(set(kinds)) == 3


def cells(axes):
    (mesh,) = [c for c in axes.collections if c.get_array() is not None]
    return mesh.get_array()


def test_pvalues_stand_below_the_diagonal_in_order_of_rank_and_no_row_is_empty():
    names = [e.system for e in sorted(PAIRS.estimates, key=lambda e: -e.score)]
    axes = PAIRS.plot_pvalues()
    found = cells(axes)
    assert found.shape == (8, 8)
    assert found.count() == 36
    for d in PAIRS:
        i, j = sorted(map(names.index, (d.system, d.baseline)))
        assert found[j - 1, i] == d.pvalue_adjusted
    # The best has a column only, whose number is explained.
    numbers = [text.get_text() for text in axes.texts if text.get_text().isdigit()]
    assert numbers == [str(i) for i in range(2, 10)]
    assert f"1: {names[0]}"[:20] in axes.get_xlabel()
    assert len(marks(PAIRS.plot_pvalues(), ".")) == sum(map(PAIRS.significant, PAIRS)) > 0


def test_a_one_sided_pvalue_stands_in_the_row_of_its_system():
    options = {"n_resamples": 99, "alternative": "less", "adjustment": "none"}
    result = es.compare(outputs(3), metrics=METRIC, **options)
    found = cells(result.plot_pvalues())
    names = [e.system for e in sorted(result.estimates, key=lambda e: -e.score)]
    for d in result:
        assert found[names.index(d.system), names.index(d.baseline)] == d.pvalue


@pytest.mark.parametrize("run", [*RUNS.values(), *LOWER.values()], ids=lambda r: len(r.checks))
def test_a_curve_is_its_checks(run):
    axes, checks = run.plot(), run.checks
    if len(checks) > 1:
        line = axes.lines[0]
        assert list(line.get_xdata()) == [c.step for c in checks]
        assert list(line.get_ydata()) == [c.score for c in checks]
    drawn = {True: {}, False: {}}
    for m in marks(axes):
        drawn[m.get_markerfacecolor() != "white"][m.get_xdata()[0]] = m.get_ydata()[0]
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
    chosen = run.selected
    assert chosen_bar == [[chosen.step, chosen.low], [chosen.step, chosen.high]]
    (diamond,) = marks(axes, "D")
    assert (diamond.get_xdata()[0], diamond.get_ydata()[0]) == (chosen.step, chosen.corrected)
    (label,) = axes.texts
    assert label.get_text() == (
        f"step {chosen.step:,}: {chosen.score:.2f}\ncorrected: {chosen.corrected:.2f}"
    )


@pytest.mark.parametrize(
    "run", [*RUNS.values(), *LOWER.values(), WORSE], ids=lambda r: len(r.checks)
)
def test_the_label_of_a_curve_lies_on_nothing(run):
    axes = run.plot()
    axes.figure.canvas.draw()
    (label,) = axes.texts
    box = matplotlib.text.Text.get_window_extent(label)
    assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1
    assert axes.bbox.y0 <= box.y0 < box.y1 <= axes.bbox.y1
    drawn = [(c.step, value) for c in (*run.checks, run.selected) for value in (c.low, c.high)]
    heights = axes.transData.transform(drawn)[:, 1]
    assert heights.max() < box.y0 if run.metric.higher_is_better else heights.min() > box.y1


def test_a_curve_names_its_axes_direction_and_level():
    axes = RUNS[3].plot()
    assert axes.get_ylabel() == "COMET ↑, 95 % interval"
    assert axes.get_xlabel().split("\n") == ["step", "filled: real improvement; diamond: corrected"]
    assert axes.get_title(loc="right") == "3 checks, 200 segments"
    assert "↓, 95 % interval" in LOWER[3].plot().get_ylabel()
    grouped = es.Monitor(None, METRIC, groups=[0, 0, 1, 1, 2], confidence_level=0.9)
    grouped.check(0, [1.0, 2, 3, 4, 5])
    assert grouped.plot().get_title(loc="right") == "1 check, 3 groups"
    assert list(grouped.plot().get_xticks()) == [0]
    # A monitor may go on with another level.
    resumed = es.Monitor(None, METRIC, groups=[0, 0, 1, 1, 2], confidence_level=0.995)
    resumed.load_state_dict(grouped.state_dict())
    resumed.check(1, [1.0, 2, 2, 4, 5])
    assert "90 and 99.5 % interval" in resumed.plot().get_ylabel().replace("\n", " ")
    assert resumed.selected.confidence_level == 0.9


def test_a_curve_of_small_scores_has_decimals_and_one_of_equal_scores_a_height():
    run = watched(3, scale=1e-3)
    assert f"{run.selected.corrected:.5f}" in run.plot().texts[0].get_text()
    run = es.Monitor(None, METRIC, n_resamples=9)
    for step in range(3):
        run.check(step, np.ones(9))
    axes = run.plot()
    axes.figure.canvas.draw()
    assert axes.get_ylim()[0] < 1 < axes.get_ylim()[1]


def test_a_given_axes_is_drawn_into():
    _, axes = pyplot.subplots()
    assert PAIRS.plot(ax=axes) is axes
    assert RUNS[3].plot(ax=axes) is axes
    assert len(pyplot.get_fignums()) == 1


BOTH = es.compare(outputs(2), metrics=[METRIC, es.Mean("other")], n_resamples=9)


@pytest.mark.parametrize("call, message", [
    (lambda: BOTH.plot(ax=[None]), "ax must be 2 axes, one a panel, got 1"),
    (lambda: BOTH.plot_scores("x"), "metric must be one of COMET, other; got 'x'"),
    (lambda: BASE.plot_pvalues(), "plot_pvalues needs all pairs, but this comparison has a"),
    (lambda: RESULTS[26][0].plot(), "325 differences are too many rows; use plot_pvalues"),
    (lambda: es.Comparison.from_json(PAIRS.to_json()).plot_replicates(), "there are no replicates"),
    (lambda: es.Monitor(None, METRIC).plot(), "nothing to draw yet; call check first"),
])  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(es.InputError, match=message):
        call()


@pytest.mark.parametrize("name", ["plot", "plot_scores", "plot_pvalues", "plot_replicates"])
def test_several_metrics_are_panels(name):
    panels = getattr(BOTH, name)()
    assert len(panels) == 2
    (figure,) = {panel.figure for panel in panels}
    assert len(pyplot.get_fignums()) == 1
    figure.canvas.draw()
    for panel, metric in zip(panels, ("COMET", "other"), strict=True):
        assert f"{metric} ↑" in panel.get_xlabel() + panel.get_title(loc="right")
        if name == "plot":
            assert panel.get_xlabel().startswith(f"difference in {metric} ↑, 95 % int")
        alone = getattr(BOTH, name)(metric)
        assert alone.figure is not figure
        assert points(panel) == points(alone)
        alone.figure.canvas.draw()
        # Rows are as high as in a figure of one metric.
        assert panel.bbox.height == pytest.approx(alone.bbox.height, rel=0.25)
    _, mine = pyplot.subplots(2)
    assert list(getattr(BOTH, name)(ax=mine)) == list(mine)


def test_of_all_pairs_the_better_system_comes_first():
    named = dict(zip("abcd", outputs(4).values(), strict=True))
    for lower in (False, True):
        metric = es.Mean("m", higher_is_better=not lower)
        result = es.compare(named, metrics=metric, n_resamples=99)
        axes = result.plot()
        assert len(points(axes)) == 6
        assert all(x < 0 if lower else x > 0 for x in points(axes))
        assert {mark.get_color() for mark in marks(axes)} <= {BLUE, GREY}
        labels = [label.get_text() for label in axes.get_yticklabels()]
        spans = dict(zip(labels, (s[:, 0].tolist() for s in segments(axes)), strict=True))
        assert spans == {
            f"{d.system} − {d.baseline}": [d.low, d.high] for d in result if d.winner == d.system
        } | {
            f"{d.baseline} − {d.system}": [-d.high, -d.low] for d in result if d.winner != d.system
        }
    one_sided = es.compare(named, metrics=METRIC, n_resamples=99, alternative="less")
    assert sorted(points(one_sided.plot())) == sorted(d.difference for d in one_sided)


def suite(n_systems, names="abcdefgh"):
    rng, names = np.random.default_rng(1), names[:n_systems]
    tables = {
        task: es.extract({name: rng.normal(i, 9, n) for i, name in enumerate(names)}, metric=METRIC)
        for task, n in (("law", 40), ("zoo", 60))
    }
    return es.Suite(tables).compare(n_resamples=99)


def test_tasks_have_a_panel_for_each_pair_and_of_many_pairs_the_totals_one():
    result = suite(3)
    panels = result.plot()
    assert [panel.get_title(loc="right") for panel in panels] == [
        f"{s} − {b}, 2 tasks" for s, b in ("ba", "ca", "cb")
    ]
    for panel, (system, baseline) in zip(panels, ("ba", "ca", "cb"), strict=True):
        assert points(panel) == points(result.plot(system=system, baseline=baseline))
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert len(result.plot(baseline="a")) == 2
    many = suite(5)
    assert len(marks(many.plot(), "D")) == len(many.totals) == 10
    # Of more systems than there are colours the totals are drawn, best first.
    more = suite(6)
    assert points(more.plot_scores()) == sorted(
        (e.score for e in more.estimates.totals), reverse=True
    )
    rows = replace(more, differences=more.rows, estimates=es.Estimates(more.estimates.rows))
    for draw, what in ((rows.plot, "15 pairs"), (rows.plot_scores, "6 systems")):
        with pytest.raises(
            es.InputError, match=f"{what} are too many for a figure of tasks without"
        ):
            draw()


def test_several_rankings_are_panels_of_their_own():
    rankings = Rankings((RANKED.ranking(), RANKED.ranking()))
    panels = rankings.plot()
    assert len({panel.figure for panel in panels}) == 1
    alone = rankings.rankings[0].plot()
    assert all(points(panel) == points(alone) for panel in panels)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    for draw in (PAIRS.plot, PAIRS.plot_pvalues, RUNS[3].plot):
        with pytest.raises(es.MissingExtraError, match=r"pip install 'evalstats-text\[plot\]'"):
            draw()
    with pytest.raises(es.MissingExtraError, match=r"pip install 'evalstats-text\[pandas\]'"):
        PAIRS.to_dataframe()
