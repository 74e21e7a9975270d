"""Figures: what they show is what the result says; nothing overlaps or is cut at column width."""

import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evalstats as es
from evalstats.pictures.figures import BLUE, GREY, VERMILLION, WIDTH
from evalstats.questions.gates.gate import gated
from evalstats.questions.ranking.rankings import Rankings
from tests.conftest import first

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

#: Read as mathematics, the third would be an error.
NAMES = [
    "baseline-transformer-big_wmt17-checkpoint-avg", "NLLB-200-distilled finetuned on news v16",
    "$\\nothing$ & <b> {y} x^2", "online-A", "x" * 60,
    "Lan-Bridge-MT-Contrastive-Primary-Submission",
]  # fmt: skip
METRIC = es.Mean("COMET")


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


#: What is drawn of how many systems, checks or tasks: always, and in the exhaustive tests.
DRAWN = {
    "scores": (lambda n: compared(n).plot_scores(), (5,), (2, 9, 26)),
    "baseline": (lambda n: compared(n, baseline=NAMES[0]).plot(), (5,), (2, 9, 26)),
    "pairs": (lambda n: compared(n).plot(), (), (2, 9)),
    "pvalues": (lambda n: compared(n).plot_pvalues(), (5,), (2, 9, 26)),
    "one": (lambda n: compared(n).estimates[0].plot(), (2,), ()),
    "curve": (lambda n: run(n).plot(), (20,), (1, 3, 50)),
    "long curve": (lambda n: run(n, every=20_000).plot(), (), (500,)),
    "lower": (lambda n: run(n, True, NAMES[4], 77).plot(), (3,), (50,)),
    "influence": (lambda n: influence(n).plot(), (3,), (9,)),
    "ranks": (lambda n: compared(n).ranking().plot(), (5,), (9,)),
    "power": (lambda n: compared(n).power(1).plot(), (), (2,)),
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
    assert figure.get_size_inches()[0] == WIDTH or len(panels) > 1
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
    result = compared(9, metric, 999, baseline="online-A")
    _, axes = pyplot.subplots()
    assert result.plot_scores(ax=axes) is axes
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
    # Of all pairs the better system comes first.
    result = compared(5, metric)
    axes = result.plot()
    turned = [(d.difference, d.low, d.high) for d in result if d.winner == d.system]
    turned += [(-d.difference, -d.high, -d.low) for d in result if d.winner != d.system]
    turned = sorted(turned, reverse=not lower)
    assert points(axes) == [value for value, *_ in turned]
    assert [s[:, 0].tolist() for s in segments(axes)] == [list(ends) for _, *ends in turned]
    assert {mark.get_color() for mark in marks(axes)} <= {BLUE, GREY}
    # Equal scores have a ratio of 1, where the line stands.
    axes = compared(5, metric, contrast="ratio").plot()
    assert [1.0, 1.0] in [list(line.get_xdata()) for line in axes.lines]
    assert all(x < 1 if lower else x > 1 for x in points(axes))
    assert "ratio of m" in axes.get_xlabel()


def cells(axes):
    (mesh,) = [c for c in axes.collections if c.get_array() is not None]
    return mesh.get_array()


def test_pvalues_stand_below_the_diagonal_in_order_of_rank_and_every_system_is_named_twice():
    result = compared(11)
    names = [e.system for e in sorted(result.estimates, key=lambda e: -e.score)]
    axes = result.plot_pvalues()
    found = cells(axes)
    assert found.shape == (11, 11)
    assert found.count() == 55
    for d in result:
        i, j = sorted(map(names.index, (d.system, d.baseline)))
        assert found[j, i] == d.pvalue_adjusted
    shown = [[label.get_text() for label in axis.get_ticklabels()]
             for axis in (axes.xaxis, axes.yaxis)]  # fmt: skip
    for column, row, name in zip(*shown, names, strict=True):
        plain = name.replace("$", r"\$")
        assert row.replace("\n", "")[:9] == plain[:9]
        assert column.rstrip("…").strip() == plain[: len(column.rstrip("…").strip())]
    assert len(marks(axes, ".")) == sum(map(result.significant, result)) > 0
    # What is not significant is pale: darker than the paper by less than a fifth.
    (mesh,) = [c for c in axes.collections if c.get_array() is not None]
    pale = mesh.to_rgba([0.06, 0.5, 1.0])[:, :3].mean(axis=1)
    assert np.all(pale > 0.8)
    assert mesh.to_rgba([0.0005])[0, :3].mean() < 0.35
    # A one-sided p-value stands in the row of its system, and its difference is not turned.
    result = compared(3, alternative="less", adjustment="none")
    found = cells(result.plot_pvalues())
    names = [e.system for e in sorted(result.estimates, key=lambda e: -e.score)]
    for d in result:
        assert found[names.index(d.system), names.index(d.baseline)] == d.pvalue
    assert sorted(points(result.plot())) == sorted(d.difference for d in result)


CURVES = {
    "1": lambda: run(1),
    "20": lambda: run(20),
    "70": lambda: run(70),
    "lower": lambda: run(50, True, NAMES[4], 77),
    "worse": worse,
    "small": lambda: run(3, scale=1e-3),
}


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
    chosen = monitor.selected
    assert chosen_bar == [[chosen.step, chosen.low], [chosen.step, chosen.high]]
    (diamond,) = marks(axes, "D")
    assert (diamond.get_xdata()[0], diamond.get_ydata()[0]) == (chosen.step, chosen.corrected)
    (label,) = axes.texts
    places = 5 if chosen.standard_error < 0.01 else 2
    assert label.get_text() == (
        f"step {chosen.step:,}: {chosen.score:.{places}f}\ncorrected: {chosen.corrected:.{places}f}"
    )
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
    assert axes.get_ylabel() == "COMET ↑, 95 % interval"
    assert axes.get_xlabel().split("\n") == ["step", "filled: real improvement; diamond: corrected"]
    assert axes.get_title(loc="right") == "3 checks, 200 segments"
    assert "↓, 95 % interval" in run(3, True).plot().get_ylabel()
    grouped = es.Monitor(None, METRIC, groups=[0, 0, 1, 1, 2], n_resamples=9)
    grouped.check(0, [1.0, 2, 3, 4, 5])
    assert grouped.plot().get_title(loc="right") == "1 check, 3 groups"
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


def test_a_margin_and_a_recovery_are_dashed_lines_with_a_band():
    for lower in (False, True):
        metric = es.Mean("m", higher_is_better=not lower)
        axes = compared(5, metric, baseline=NAMES[0], margin=1.5).plot()
        assert dashed(axes) == [-1.5, 1.5]
        assert "dashed: margin ±1.5" in axes.get_xlabel()
        assert dashed(compared(5, metric, baseline=NAMES[0]).plot()) == []
        kept = compared(5, metric, baseline=NAMES[0], recovery=0.9)
        (base,) = {d.baseline_score for d in kept}
        limit = base / 0.9 - base if lower else 0.9 * base - base
        axes = kept.plot()
        assert dashed(axes) == [pytest.approx(limit)]
        assert "dashed: 0.9 of the baseline kept" in axes.get_xlabel()
        of_ratios = compared(5, metric, baseline=NAMES[0], recovery=0.9, contrast="ratio").plot()
        assert dashed(of_ratios) == [pytest.approx(1 / 0.9 if lower else 0.9)]
        # A gate asks about a loss alone.
        two = {name: outputs(5)[name] for name in NAMES[:2]}
        gate = gated({"": [es.extract(two, metric=metric)]}, NAMES[0], margin=1.5, n_resamples=99)
        axes = gate.plot()
        assert dashed(axes) == [1.5 if lower else -1.5]
        assert points(axes) == [gate.checks[0].difference.difference]
        assert axes.get_title(loc="right").replace("\n", " ").endswith(gate.verdict)


@cache
def both():
    return es.compare(outputs(2), metrics=[METRIC, es.Mean("other")], n_resamples=9)


@pytest.mark.parametrize("call, message", [
    (lambda: both().plot(ax=[None]), "ax must be 2 axes, one a panel, got 1"),
    (lambda: both().plot_scores("x"), "metric must be one of COMET, other; got 'x'"),
    (lambda: compared(5, baseline=NAMES[0]).plot_pvalues(),
     "needs all pairs, but this comparison has a"),
    (lambda: compared(11).plot(), "55 differences are too many rows; use plot_pvalues"),
    (lambda: es.Monitor(None, METRIC).plot(), "nothing to draw yet; call check first"),
])  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(es.InputError, match=message):
        call()


@pytest.mark.parametrize("name", first(1, ["plot", "plot_scores", "plot_pvalues"]))
def test_several_metrics_are_panels(name):
    panels = getattr(both(), name)()
    assert len(panels) == 2
    (figure,) = {panel.figure for panel in panels}
    assert len(pyplot.get_fignums()) == 1
    for panel, metric in zip(panels, ("COMET", "other"), strict=True):
        assert f"{metric} ↑" in panel.get_xlabel() + panel.get_title(loc="right")
        alone = getattr(both(), name)(metric)
        assert alone.figure is not figure
        assert sorted(map(abs, points(panel))) == sorted(map(abs, points(alone)))
    # They stand beside one another, with the same rows in the same order, and names once.
    figure.canvas.draw()
    alone.figure.canvas.draw()
    first, second = (panel.get_position() for panel in panels)
    assert (first.y0, first.y1) == pytest.approx((second.y0, second.y1))
    assert first.x1 < second.x0
    assert list(panels[0].get_yticks()) == list(panels[1].get_yticks())
    assert any(label.get_text() for label in panels[0].get_yticklabels())
    assert not any(label.get_text() for label in panels[1].get_yticklabels())
    # Rows are as high as in a figure of one metric.
    assert panel.bbox.height == pytest.approx(alone.bbox.height, rel=0.3)
    _, mine = pyplot.subplots(2)
    assert list(getattr(both(), name)(ax=mine)) == list(mine)
    ranking = compared(5).ranking()
    assert [points(panel) for panel in Rankings((ranking,) * 2).plot()] == [
        points(ranking.plot())
    ] * 2


def test_rows_of_several_metrics_are_those_of_the_first():
    rng = np.random.default_rng(6)
    given = {name: rng.normal(size=(2, 90)) + i / 3 for i, name in enumerate("abcd")}
    tables = [es.extract({n: (-1) ** m * x[m] for n, x in given.items()}, metric=es.Mean(f"m{m}"))
              for m in range(2)]  # fmt: skip
    for baseline in (None, "b"):
        result = es.compare(tables, baseline=baseline, n_resamples=99)
        panels = result.plot()
        names = [label.get_text() for label in panels[0].get_yticklabels()]
        for panel, metric in zip(panels, ("m0", "m1"), strict=True):
            for name, x in zip(names, points(panel), strict=True):
                pair = name.replace("\n", " ").split(" − ") if baseline is None else (name, "b")
                d = result.difference(metric, *pair)
                assert x == pytest.approx(d.difference)
        scores = result.plot_scores()
        order = [label.get_text() for label in scores[0].get_yticklabels()]
        for panel, metric in zip(scores, ("m0", "m1"), strict=True):
            expected = [result.estimates[metric, name].score for name in order]
            assert points(panel) == pytest.approx(expected)
    # Without a metric, rankings of all of them.
    rankings = es.compare(tables, n_resamples=99).ranking()
    assert isinstance(rankings, Rankings)
    assert [ranking.metric for ranking in rankings] == ["m0", "m1"]
    panels = rankings.plot()
    order = [label.get_text() for label in panels[0].get_yticklabels()]
    for panel, ranking in zip(panels, rankings, strict=True):
        (line,) = marks(panel)
        assert list(line.get_xdata()) == [ranking[name].rank for name in order]


def test_a_legend_of_power_lies_below_the_curves():
    axes = compared(2).power().plot()
    assert axes.get_legend() is None
    assert NAMES[1][:10] in axes.get_title(loc="right")
    axes = compared(3).power(1).plot()
    axes.figure.canvas.draw()
    legend = axes.get_legend().get_window_extent()
    assert legend.y1 < axes.bbox.y0
    assert "0.8" in [text.get_text() for text in axes.texts]
    assert all("10" not in t.get_text() or "^" not in t.get_text() for t in axes.get_xticklabels())


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
    # Of more systems than there are colours the totals are drawn, best first.
    many = suite(6)
    assert len(marks(many.plot(), "D")) == len(many.totals) == 15
    assert points(many.plot_scores()) == sorted(
        (e.score for e in many.estimates.totals), reverse=True
    )
    rows = replace(many, differences=many.rows, estimates=es.Estimates(many.estimates.rows))
    for draw, what in ((rows.plot, "15 pairs"), (rows.plot_scores, "6 systems")):
        with pytest.raises(es.InputError, match=f"{what} are too many for a figure of tasks"):
            draw()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    for draw in (compared(2).plot, compared(2).plot_pvalues, run(1).plot):
        with pytest.raises(es.MissingExtraError, match=r"pip install 'evalstats-text\[plot\]'"):
            draw()
    with pytest.raises(es.MissingExtraError, match=r"pip install 'evalstats-text\[pandas\]'"):
        compared(2).to_dataframe()
